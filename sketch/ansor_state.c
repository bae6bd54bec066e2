/* sketch/ansor_state.c: what Ansor's steps do to the list of stages and their loops. */
#include <stdlib.h>
#include <string.h>

#include "sketch/ansor_int.h"

#define REFUSE(s, ...) at_fail((s)->err, AT_E_INPUT, __VA_ARGS__)

/* ---- the stages of a computation ------------------------------------------------------------- */

static const char *taken(at_arena *a, at_text *text) {
    const char *copy = at_strdup(a, at_text_str(text));
    at_text_free(text);
    return copy;
}

static void add_definitions(at_text *out, const at_tensor *t) {
    for (int i = 0; i < t->num_defs; i++) {
        const at_def *d = &t->defs[i];
        at_text_add(out, i ? ", " : "");
        at_text_add(out, d->is_digits ? "{" : "");
        for (int k = 0; k < d->num_names; k++) {
            at_text_addf(out, "%s%s", k ? ", " : "", d->names[k]);
            if (!d->is_digits || !d->extents[k]) continue;
            at_text_add(out, ":");
            at_expr_print(out, d->extents[k]);
        }
        at_text_add(out, d->is_digits ? "} = " : " = ");
        at_expr_print(out, d->expr);
    }
}

static at_status add_loop(ansor_state *s, ansor_stage *x, ansor_piece *piece, bool is_reduce) {
    if (x->num_loops == ANSOR_LOOPS)
        return REFUSE(s, "%s has more than %d loops", x->name, ANSOR_LOOPS);
    ansor_loop *l = AT_NEW(s->arena, ansor_loop);
    if (piece) l->piece[l->num_pieces++] = piece;
    l->is_reduce = is_reduce;
    x->loop[x->num_loops++] = l;
    return AT_OK;
}

/* A loop and a piece for each whole axis. */
static at_status plain_loops(ansor_state *s, ansor_stage *x) {
    x->num_pieces = x->num_loops = 0;
    for (int k = 0; k < x->num_axes + x->num_reduce; k++) {
        if (x->axis[k].is_gone) continue;
        ansor_piece *p = AT_NEW(s->arena, ansor_piece);
        p->axis = k;
        x->piece[x->num_pieces++] = p;
        AT_TRY(add_loop(s, x, p, k >= x->num_axes));
    }
    return AT_OK;
}

at_status ansor_start(ansor_state *s, const at_compute *c, const int64_t *values) {
    int64_t **extents;
    AT_TRY(at_compute_extents(s->arena, c, values, &extents, s->err));
    if (c->num_tensors > ANSOR_STAGES / 2) return REFUSE(s, "too many stages");
    for (int t = 0; t < c->num_tensors; t++) {
        const at_tensor *from = &c->tensors[t];
        ansor_stage *x = s->stage[s->num_stages++] = AT_NEW(s->arena, ansor_stage);
        static const char *const roles[] = {"input", "weight", "index"};
        at_text text = {0}, definitions = {0};
        x->name = from->name;
        if (from->role != AT_ROLE_STAGE) {
            at_text_addf(&text, "%s[", x->name);
            for (int k = 0; k < from->num_axes; k++)
                at_text_addf(&text, "%s%lld", k ? ", " : "", (long long)extents[t][k]);
            at_text_addf(&text, "] : %s\n", roles[from->role]);
            x->declared = taken(s->arena, &text);
            continue;
        }
        x->num_axes = from->num_axes;
        x->num_reduce = from->num_reduce;
        if (x->num_axes + x->num_reduce > ANSOR_AXES / 2) return REFUSE(s, "too many axes");
        for (int k = 0; k < x->num_axes + x->num_reduce; k++)
            x->axis[k] = (ansor_axis){from->axes[k].name, extents[t][k], false};
        if (x->num_reduce) x->reduction = at_reduction_name(from->reduction);
        at_expr_print(&text, from->written);
        x->body = taken(s->arena, &text);
        add_definitions(&definitions, from);
        x->definitions = taken(s->arena, &definitions);
        AT_TRY(plain_loops(s, x));
    }
    return AT_OK;
}

/* ---- arguments of steps ---------------------------------------------------------------------- */

static at_status number(ansor_state *s, const at_json *step, int i, int64_t *out) {
    const at_json *v = at_json_at(step, i);
    *out = 0;
    if (!v || v->kind != AT_JSON_NUMBER || !v->is_int)
        return REFUSE(s, "item %d is no whole number", i);
    *out = v->integer;
    return AT_OK;
}

static at_status list(ansor_state *s, const at_json *step, int i, int64_t *out, int most, int *n) {
    const at_json *v = at_json_at(step, i);
    if (!v || v->kind != AT_JSON_ARRAY) return REFUSE(s, "item %d is no list", i);
    if (v->count > most) return REFUSE(s, "item %d has more than %d numbers", i, most);
    *n = 0;
    for (const at_json *x = v->child; x; x = x->next) {
        if (x->kind != AT_JSON_NUMBER || !x->is_int)
            return REFUSE(s, "item %d is no list of whole numbers", i);
        out[(*n)++] = x->integer;
    }
    return AT_OK;
}

static at_status word(ansor_state *s, const at_json *step, int i, const char **out) {
    const at_json *v = at_json_at(step, i);
    *out = "";
    if (!v || v->kind != AT_JSON_STRING) return REFUSE(s, "item %d is no text", i);
    *out = v->string;
    return AT_OK;
}

static at_status stage_at(ansor_state *s, const at_json *step, int i, int64_t *id,
                          ansor_stage **out) {
    AT_TRY(number(s, step, i, id));
    if (*id < 0 || *id >= s->num_stages)
        return REFUSE(s, "stage %lld: there are %d", (long long)*id, s->num_stages);
    *out = s->stage[*id];
    if ((*out)->declared)
        return REFUSE(s, "stage %lld is the input %s", (long long)*id, (*out)->name);
    return AT_OK;
}

static at_status loop_number(ansor_state *s, const ansor_stage *x, int64_t i) {
    if (i >= 0 && i < x->num_loops) return AT_OK;
    return REFUSE(s, "loop %lld: %s has %d", (long long)i, x->name, x->num_loops);
}

static at_status loop_at(ansor_state *s, const at_json *step, int i, const ansor_stage *x,
                         int *id) {
    int64_t n = 0;
    *id = 0;
    AT_TRY(number(s, step, i, &n));
    AT_TRY(loop_number(s, x, n));
    *id = (int)n;
    return AT_OK;
}

/* ---- places ---------------------------------------------------------------------------------- */

static void detach(ansor_stage *x) {
    ansor_loop *l = x->at_loop;
    int n = 0;
    for (int i = 0; l && i < l->num_attached; i++)
        if (l->attached[i] != x) l->attached[n++] = l->attached[i];
    if (l) l->num_attached = n;
    x->at = NULL;
    x->at_loop = NULL;
}

static void move_attached(ansor_loop *from, ansor_loop *to) {
    for (int i = 0; i < from->num_attached && to->num_attached < ANSOR_STAGES; i++) {
        from->attached[i]->at_loop = to;
        to->attached[to->num_attached++] = from->attached[i];
    }
    from->num_attached = 0;
}

static bool has_attached(const ansor_stage *x) {
    for (int i = 0; i < x->num_loops; i++)
        if (x->loop[i]->num_attached) return true;
    return false;
}

static at_status attach(ansor_state *s, const at_json *step, ansor_stage *x) {
    int64_t id = 0;
    int loop;
    ansor_stage *target = NULL;
    AT_TRY(stage_at(s, step, 2, &id, &target));
    AT_TRY(loop_at(s, step, 3, target, &loop));
    for (const ansor_stage *t = target; t; t = t->at)
        if (t == x) return REFUSE(s, "%s would be computed in loops of its own", x->name);
    if (target->is_inlined) return REFUSE(s, "%s is inlined: it has no loops", target->name);
    ansor_loop *l = target->loop[loop];
    detach(x);
    if (l->num_attached == ANSOR_STAGES) return REFUSE(s, "too many stages in one loop");
    x->at = target;
    x->at_loop = l;
    l->attached[l->num_attached++] = x;
    return AT_OK;
}

static at_status make_inline(ansor_state *s, ansor_stage *x) {
    if (x->num_reduce) return REFUSE(s, "%s is a sum, which cannot be inlined", x->name);
    if (has_attached(x)) return REFUSE(s, "other stages are computed in loops of %s", x->name);
    detach(x);
    x->is_inlined = true;
    return AT_OK;
}

/* ---- loops ----------------------------------------------------------------------------------- */

static void replace_loops(ansor_stage *x, int first, int count, ansor_loop *const *by, int n) {
    memmove(x->loop + first + n, x->loop + first + count,
            sizeof *x->loop * (size_t)(x->num_loops - first - count));
    memcpy(x->loop + first, by, sizeof *by * (size_t)n);
    x->num_loops += n - count;
}

static bool is_whole(const ansor_stage *x, const ansor_loop *l, int piece) {
    int n = 0;
    for (int i = 0; i < x->num_pieces; i++) n += x->piece[i]->axis == l->piece[piece]->axis;
    return n == 1;
}

/* Fused reductions that are split become one axis, of which they are the digits. */
static at_status join_axes(ansor_state *s, ansor_stage *x, ansor_loop *l) {
    at_text name = {0}, definition = {0};
    int64_t extent = 1;
    int joined = x->num_axes + x->num_reduce;
    if (!l->is_reduce || joined == ANSOR_AXES)
        return REFUSE(s, "a split of loops that are fused is known of sums only");
    at_text_add(&definition, "{");
    for (int i = 0; i < l->num_pieces; i++) {
        ansor_axis *axis = &x->axis[l->piece[i]->axis];
        if (!is_whole(x, l, i)) return REFUSE(s, "a split of fused parts of axes is not known");
        at_text_addf(&name, "%s%s", i ? "_" : "", axis->name);
        at_text_addf(&definition, i ? ", %s:%lld" : "%s", axis->name, (long long)axis->extent);
        if (!at_mul64(extent, axis->extent, &extent)) return REFUSE(s, "an axis exceeds 2^63");
        axis->is_gone = true;
    }
    at_text_addf(&definition, "} = %s%s%s", at_text_str(&name), *x->definitions ? ", " : "",
                 x->definitions);
    ansor_piece *p = AT_NEW(s->arena, ansor_piece);
    p->axis = joined;
    x->axis[joined] = (ansor_axis){taken(s->arena, &name), extent, false};
    x->definitions = taken(s->arena, &definition);
    x->num_reduce++;
    int n = 0;
    for (int i = 0; i < x->num_pieces; i++)
        if (!x->axis[x->piece[i]->axis].is_gone) x->piece[n++] = x->piece[i];
    x->piece[n++] = p;
    x->num_pieces = n;
    l->piece[0] = p;
    l->num_pieces = 1;
    return AT_OK;
}

/* How long a piece is with its axis at its full length. */
static int64_t full_length(const ansor_stage *x, const ansor_piece *p) {
    int64_t inner = 1;
    if (p->length) return p->length;
    for (int i = 0; i < x->num_pieces; i++)
        if (x->piece[i]->axis == p->axis && x->piece[i]->length)
            if (!at_mul64(inner, x->piece[i]->length, &inner)) return 1;
    return (x->axis[p->axis].extent + inner - 1) / inner;
}

static at_status split(ansor_state *s, ansor_stage *x, int at, const int64_t *lengths, int n,
                       bool inner_to_outer) {
    ansor_loop *l = x->loop[at], *parts[ANSOR_LOOPS];
    if (l->annotation) return REFUSE(s, "loop %d of %s is annotated", at, x->name);
    if (l->num_pieces > 1) AT_TRY(join_axes(s, x, l));
    if (!l->num_pieces) return REFUSE(s, "loop %d of %s has no axis", at, x->name);
    if (x->num_loops + n > ANSOR_LOOPS || x->num_pieces + n > ANSOR_PIECES)
        return REFUSE(s, "%s has more than %d loops", x->name, ANSOR_LOOPS);
    ansor_piece *p = l->piece[0], *made[ANSOR_LOOPS];
    int64_t whole = full_length(x, p), product = 1;
    for (int i = 0; i < n; i++)
        if (lengths[i] < 1 || !at_mul64(product, lengths[i], &product) || product > INT32_MAX)
            return REFUSE(s, "a part of %lld", (long long)lengths[i]);
    int64_t rest = (whole + product - 1) / product;
    for (int i = 0; i <= n; i++) {
        int64_t length = inner_to_outer ? (i ? lengths[i - 1] : rest) : (i < n ? lengths[i] : rest);
        made[i] = AT_NEW(s->arena, ansor_piece);
        *made[i] = (ansor_piece){.axis = p->axis, .length = i || p->length ? length : 0};
        parts[i] = AT_NEW(s->arena, ansor_loop);
        parts[i]->piece[parts[i]->num_pieces++] = made[i];
        parts[i]->is_reduce = l->is_reduce;
    }
    move_attached(l, parts[n]);
    replace_loops(x, at, 1, parts, n + 1);
    int k = 0;
    while (x->piece[k] != p) k++;
    memmove(x->piece + k + n + 1, x->piece + k + 1,
            sizeof *x->piece * (size_t)(x->num_pieces - k - 1));
    memcpy(x->piece + k, made, sizeof *made * (size_t)(n + 1));
    x->num_pieces += n;
    return AT_OK;
}

static at_status split_step(ansor_state *s, const at_json *step, ansor_stage *x) {
    int at, n;
    int64_t lengths[16], inner_to_outer = 0;
    AT_TRY(loop_at(s, step, 2, x, &at));
    AT_TRY(list(s, step, 4, lengths, 16, &n));
    AT_TRY(number(s, step, 5, &inner_to_outer));
    return split(s, x, at, lengths, n, inner_to_outer != 0);
}

/* The lengths of an earlier split. */
static at_status lengths_of(ansor_state *s, const at_json *steps, int64_t source, int64_t *out,
                            int most, int *n) {
    const at_json *from =
        source >= 0 && source < steps->count ? at_json_at(steps, (int)source) : NULL;
    const at_json *code = from && from->kind == AT_JSON_ARRAY ? from->child : NULL;
    if (!code || code->kind != AT_JSON_STRING || strcmp(code->string, "SP"))
        return REFUSE(s, "step %lld is no split", (long long)source);
    return list(s, from, 4, out, most, n);
}

static at_status follow_split(ansor_state *s, const at_json *steps, const at_json *step,
                              ansor_stage *x) {
    int at, n;
    int64_t source = 0, parts = 0, lengths[16];
    AT_TRY(loop_at(s, step, 2, x, &at));
    AT_TRY(number(s, step, 3, &source));
    AT_TRY(number(s, step, 4, &parts));
    AT_TRY(lengths_of(s, steps, source, lengths, 16, &n));
    if (parts < 1 || parts > n) return REFUSE(s, "%lld parts of %d", (long long)parts, n);
    for (int i = (int)parts; i < n; i++)
        if (!at_mul64(lengths[parts - 1], lengths[i], &lengths[parts - 1]))
            return REFUSE(s, "a part exceeds 2^63");
    return split(s, x, at, lengths, (int)parts, true);
}

static at_status follow_fused_split(ansor_state *s, const at_json *steps, const at_json *step,
                                    ansor_stage *x) {
    int at, num, n;
    int64_t sources[16], level = 0, lengths[16], factor = 1;
    const at_json *is_factor = at_json_at(step, 5);
    AT_TRY(loop_at(s, step, 2, x, &at));
    AT_TRY(list(s, step, 3, sources, 16, &num));
    AT_TRY(number(s, step, 4, &level));
    for (int i = 0; i < num; i++) {
        AT_TRY(lengths_of(s, steps, sources[i], lengths, 16, &n));
        if (level < 0 || level >= n) return REFUSE(s, "level %lld of %d", (long long)level, n);
        if (!at_mul64(factor, lengths[level], &factor)) return REFUSE(s, "a part exceeds 2^63");
    }
    bool inner = is_factor &&
                 (is_factor->kind == AT_JSON_BOOL ? is_factor->boolean : is_factor->integer != 0);
    return split(s, x, at, &factor, 1, inner);
}

static at_status fuse(ansor_state *s, const at_json *step, ansor_stage *x) {
    int64_t ids[ANSOR_LOOPS];
    int n;
    AT_TRY(list(s, step, 2, ids, ANSOR_LOOPS, &n));
    if (!n) {
        AT_TRY(add_loop(s, x, NULL, false));
        return x->num_loops == 1 ? AT_OK : REFUSE(s, "%s has loops to fuse", x->name);
    }
    ansor_loop *all = AT_NEW(s->arena, ansor_loop);
    AT_TRY(loop_number(s, x, ids[0]));
    all->is_reduce = x->loop[ids[0]]->is_reduce;
    for (int i = 0; i < n; i++) {
        AT_TRY(loop_number(s, x, ids[i]));
        ansor_loop *l = x->loop[ids[i]];
        if (ids[i] != ids[0] + i) return REFUSE(s, "loops to fuse follow each other");
        if (l->is_reduce != all->is_reduce)
            return REFUSE(s, "an axis and a reduction of %s are fused", x->name);
        if (l->annotation) return REFUSE(s, "loop %lld is annotated", (long long)ids[i]);
        if (l->num_attached && i < n - 1)
            return REFUSE(s, "stages are computed in loop %lld", (long long)ids[i]);
        if (all->num_pieces + l->num_pieces > ANSOR_LOOPS) return REFUSE(s, "too many loops");
        for (int k = 0; k < l->num_pieces; k++) all->piece[all->num_pieces++] = l->piece[k];
        move_attached(l, all);
    }
    replace_loops(x, (int)ids[0], n, &all, 1);
    return AT_OK;
}

static at_status reorder(ansor_state *s, const at_json *step, ansor_stage *x) {
    int64_t ids[ANSOR_LOOPS];
    ansor_loop *old[ANSOR_LOOPS];
    bool seen[ANSOR_LOOPS] = {0};
    int n;
    AT_TRY(list(s, step, 2, ids, ANSOR_LOOPS, &n));
    if (n != x->num_loops) return REFUSE(s, "an order of %d of %d loops", n, x->num_loops);
    memcpy(old, x->loop, sizeof *old * (size_t)n);
    for (int i = 0; i < n; i++) {
        AT_TRY(loop_number(s, x, ids[i]));
        if (seen[ids[i]]) return REFUSE(s, "loop %lld comes twice", (long long)ids[i]);
        seen[ids[i]] = true;
        x->loop[i] = old[ids[i]];
    }
    return AT_OK;
}

static at_status annotate(ansor_state *s, const at_json *step, ansor_stage *x) {
    int at;
    int64_t what = 0;
    AT_TRY(loop_at(s, step, 2, x, &at));
    AT_TRY(number(s, step, 3, &what));
    if (what < 0 || what > 3)
        return REFUSE(s, "annotation %lld: 1 unroll, 2 vectorize and 3 parallel are for CPUs",
                      (long long)what);
    if (x->loop[at]->annotation) return REFUSE(s, "loop %d is annotated already", at);
    x->loop[at]->annotation = (int)what;
    return AT_OK;
}

static at_status pragma(ansor_state *s, const at_json *step, ansor_stage *x) {
    static const char unroll[] = "auto_unroll_max_step$";
    const char *text = "";
    AT_TRY(word(s, step, 3, &text));
    if (!strcmp(text, "debug_skip_region")) return detach(x), AT_OK;
    if (strncmp(text, unroll, sizeof unroll - 1))
        return REFUSE(s, "pragma %.60s: auto_unroll_max_step$N is known", text);
    long most = strtol(text + sizeof unroll - 1, NULL, 10);
    x->unroll_max = most < 0 ? 0 : most > 4096 ? 4096 : (int)most;
    return AT_OK;
}

/* ---- new stages ------------------------------------------------------------------------------ */

static at_status insert(ansor_state *s, int64_t id, ansor_stage *x) {
    if (s->num_stages == ANSOR_STAGES) return REFUSE(s, "more than %d stages", ANSOR_STAGES);
    memmove(s->stage + id + 1, s->stage + id, sizeof *s->stage * (size_t)(s->num_stages - id));
    s->stage[id] = x;
    s->num_stages++;
    return AT_OK;
}

static const char *fresh(ansor_state *s, const char *like) {
    for (int i = 0; i < s->num_stages; i++)
        if (!strcmp(s->stage[i]->name, like)) {
            like = at_format(s->arena, "%s_", like);
            i = -1;
        }
    return like;
}

static at_status scoped(ansor_state *s, const at_json *step, const char *name, const char **out) {
    const char *scope = "";
    AT_TRY(word(s, step, 2, &scope));
    size_t n = strspn(scope, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (!n || scope[n] || n > 40) return REFUSE(s, "scope \"%.40s\"", scope);
    *out = fresh(s, at_format(s->arena, "%s_%s", name, scope));
    return AT_OK;
}

/* Its element at its own axes. */
static const char *own_element(ansor_state *s, const ansor_stage *x, const char *name) {
    at_text text = {0};
    at_text_addf(&text, "%s[", name);
    for (int k = 0; k < x->num_axes; k++)
        at_text_addf(&text, "%s%s", k ? ", " : "", x->axis[k].name);
    at_text_add(&text, "]");
    return taken(s->arena, &text);
}

static at_status is_plain(ansor_state *s, const ansor_stage *x, const char *what) {
    bool plain = !x->at && !x->is_inlined && !has_attached(x);
    for (int i = 0; i < x->num_loops; i++)
        plain &=
            !x->loop[i]->annotation && x->loop[i]->num_pieces == 1 && is_whole(x, x->loop[i], 0);
    return plain ? AT_OK : REFUSE(s, "%s of %s after other steps", what, x->name);
}

static at_status cache_write(ansor_state *s, const at_json *step, int64_t id, ansor_stage *x) {
    ansor_stage *local = AT_NEW(s->arena, ansor_stage);
    AT_TRY(is_plain(s, x, "a copy"));
    *local = *x;
    AT_TRY(scoped(s, step, x->name, &local->name));
    x->num_reduce = 0;
    x->reduction = NULL;
    x->definitions = "";
    x->body = own_element(s, x, local->name);
    AT_TRY(plain_loops(s, local));
    AT_TRY(plain_loops(s, x));
    return insert(s, id, local);
}

/* NAME[ becomes TO[. */
static const char *rename_reads(ansor_state *s, const char *body, const char *name,
                                const char *to) {
    at_text out = {0};
    size_t n = strlen(name);
    for (const char *p = body; *p;) {
        bool begins = p == body || !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                                           "0123456789",
                                           p[-1]);
        if (begins && !strncmp(p, name, n) && p[n] == '[') {
            at_text_add(&out, to);
            p += n;
        } else at_text_addn(&out, p++, 1);
    }
    return taken(s->arena, &out);
}

static at_status cache_read(ansor_state *s, const at_json *step) {
    int64_t id = 0, readers[ANSOR_STAGES];
    int n;
    AT_TRY(number(s, step, 1, &id));
    if (id < 0 || id >= s->num_stages)
        return REFUSE(s, "stage %lld: there are %d", (long long)id, s->num_stages);
    ansor_stage *x = s->stage[id], *copy = AT_NEW(s->arena, ansor_stage);
    if (x->declared) return REFUSE(s, "a copy of the input %s is not known", x->name);
    copy->num_axes = x->num_axes;
    memcpy(copy->axis, x->axis, sizeof *x->axis * (size_t)x->num_axes);
    copy->definitions = "";
    copy->body = own_element(s, x, x->name);
    AT_TRY(scoped(s, step, x->name, &copy->name));
    AT_TRY(plain_loops(s, copy));
    AT_TRY(list(s, step, 3, readers, ANSOR_STAGES, &n));
    for (int i = 0; i < n; i++) {
        if (readers[i] <= id || readers[i] >= s->num_stages || s->stage[readers[i]]->declared)
            return REFUSE(s, "stage %lld reads no %s", (long long)readers[i], x->name);
        ansor_stage *r = s->stage[readers[i]];
        r->body = rename_reads(s, r->body, x->name, copy->name);
        r->definitions = rename_reads(s, r->definitions, x->name, copy->name);
    }
    return insert(s, id + 1, copy);
}

/* The piece that is to be an axis, and the other one of its split. */
static at_status factored_pieces(ansor_state *s, const ansor_stage *x, int at, ansor_piece **piece,
                                 ansor_piece **other, bool *is_outer) {
    ansor_loop *l = x->loop[at];
    *other = NULL;
    if (!l->is_reduce || l->num_pieces != 1) return REFUSE(s, "loop %d is no reduction", at);
    *piece = l->piece[0];
    int n = 0;
    for (int i = 0; i < x->num_pieces; i++) {
        if (x->piece[i]->axis != (*piece)->axis) continue;
        if (x->piece[i] != *piece) *other = x->piece[i];
        n++;
    }
    *is_outer = !(*piece)->length;
    if (n != 2) return REFUSE(s, "loop %d is no part of a split in two", at);
    for (int i = 0; i < x->num_loops; i++)
        if (x->loop[i]->num_attached || x->loop[i]->annotation || x->loop[i]->num_pieces != 1 ||
            (!x->loop[i]->is_reduce && !is_whole(x, x->loop[i], 0)))
            return REFUSE(s, "a sum in two steps of %s after other steps", x->name);
    return AT_OK;
}

static at_status factor(ansor_state *s, const at_json *step, int64_t id, ansor_stage *x) {
    int at;
    int64_t place = 0;
    bool is_outer = false;
    ansor_piece *piece = NULL, *other = NULL;
    ansor_stage *rf = AT_NEW(s->arena, ansor_stage);
    AT_TRY(loop_at(s, step, 2, x, &at));
    AT_TRY(number(s, step, 3, &place));
    AT_TRY(factored_pieces(s, x, at, &piece, &other, &is_outer));
    if (place < 0 || place > x->num_axes) return REFUSE(s, "place %lld", (long long)place);
    const ansor_axis *sum = &x->axis[piece->axis];
    int64_t mine = full_length(x, piece), others = full_length(x, other);
    if (mine * others != sum->extent)
        return REFUSE(s, "%lld does not divide %lld", (long long)mine, (long long)sum->extent);
    const char *outer = at_format(s->arena, "%s_o", sum->name),
               *inner = at_format(s->arena, "%s_i", sum->name);
    rf->name = fresh(s, at_format(s->arena, "%s_rf", x->name));
    rf->reduction = x->reduction;
    rf->body = x->body;
    rf->definitions = at_format(s->arena, "%s = %s*%lld + %s%s%s", sum->name, outer,
                                (long long)(is_outer ? others : mine), inner,
                                *x->definitions ? ", " : "", x->definitions);
    int n = 0;
    for (int k = 0; k <= x->num_axes; k++) {
        if (k == place) rf->axis[n++] = (ansor_axis){is_outer ? outer : inner, mine, false};
        if (k < x->num_axes) rf->axis[n++] = x->axis[k];
    }
    rf->num_axes = n;
    for (int k = x->num_axes; k < x->num_axes + x->num_reduce; k++)
        if (&x->axis[k] != sum && !x->axis[k].is_gone) rf->axis[n++] = x->axis[k];
    rf->axis[n++] = (ansor_axis){is_outer ? inner : outer, others, false};
    rf->num_reduce = n - rf->num_axes;
    AT_TRY(plain_loops(s, rf));
    x->body = own_element(s, rf, rf->name);
    x->definitions = "";
    x->axis[x->num_axes] = rf->axis[place];
    x->num_reduce = 1;
    AT_TRY(plain_loops(s, x));
    return insert(s, id, rf);
}

/* ---- all ------------------------------------------------------------------------------------- */

static at_status apply(ansor_state *s, const at_json *steps, const at_json *step) {
    const char *code = step->child->string;
    int64_t id = 0;
    ansor_stage *x = NULL;
    if (!strcmp(code, "CHR")) return cache_read(s, step);
    AT_TRY(stage_at(s, step, 1, &id, &x));
    if (!strcmp(code, "SP")) return split_step(s, step, x);
    if (!strcmp(code, "FSP")) return follow_split(s, steps, step, x);
    if (!strcmp(code, "FFSP")) return follow_fused_split(s, steps, step, x);
    if (!strcmp(code, "RE")) return reorder(s, step, x);
    if (!strcmp(code, "FU")) return fuse(s, step, x);
    if (!strcmp(code, "AN")) return annotate(s, step, x);
    if (!strcmp(code, "PR")) return pragma(s, step, x);
    if (!strcmp(code, "CA")) return attach(s, step, x);
    if (!strcmp(code, "CI")) return make_inline(s, x);
    if (!strcmp(code, "CR")) return detach(x), AT_OK;
    if (!strcmp(code, "CHW")) return cache_write(s, step, id, x);
    if (!strcmp(code, "RF")) return factor(s, step, id, x);
    if (!strcmp(code, "SA")) {
        at_text_addf(&s->notes, "storage of %s is not aligned as the record says\n", x->name);
        return AT_OK;
    }
    return REFUSE(s, "there are SP, FSP, FFSP, RE, FU, AN, PR, CA, CI, CR, CHW, CHR, RF, SA");
}

at_status ansor_apply(ansor_state *s, const at_json *steps) {
    int i = 0;
    if (steps->count > ANSOR_STEPS) return REFUSE(s, "more than %d steps", ANSOR_STEPS);
    for (const at_json *step = steps->child; step; step = step->next, i++) {
        if (step->kind != AT_JSON_ARRAY || !step->child || step->child->kind != AT_JSON_STRING)
            return REFUSE(s, "step %d is no list that begins with a text", i);
        if (apply(s, steps, step) == AT_OK) continue;
        at_fail_at(s->err, "step %d (%.8s): ", i, step->child->string);
        return AT_E_INPUT;
    }
    return AT_OK;
}
