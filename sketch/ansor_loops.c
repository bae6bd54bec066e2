/* sketch/ansor_loops.c: steps that change loops of a stage, or where it is computed, and the
 * arguments of all steps: numbers, lists, stages and loops by number. */
#include <stdlib.h>
#include <string.h>

#include "sketch/ansor_int.h"

/* ---- arguments ------------------------------------------------------------------------------- */

at_status ansor_number(ansor_state *s, const at_json *step, int i, int64_t *out) {
    const at_json *v = at_json_at(step, i);
    *out = 0;
    if (!v || v->kind != AT_JSON_NUMBER || !v->is_int)
        return ANSOR_REFUSE(s, "item %d is no whole number", i);
    *out = v->integer;
    return AT_OK;
}

at_status ansor_list(ansor_state *s, const at_json *step, int i, int64_t *out, int most, int *n) {
    const at_json *v = at_json_at(step, i);
    if (!v || v->kind != AT_JSON_ARRAY) return ANSOR_REFUSE(s, "item %d is no list", i);
    if (v->count > most) return ANSOR_REFUSE(s, "item %d has more than %d numbers", i, most);
    *n = 0;
    for (const at_json *x = v->child; x; x = x->next) {
        if (x->kind != AT_JSON_NUMBER || !x->is_int)
            return ANSOR_REFUSE(s, "item %d is no list of whole numbers", i);
        out[(*n)++] = x->integer;
    }
    return AT_OK;
}

at_status ansor_word(ansor_state *s, const at_json *step, int i, const char **out) {
    const at_json *v = at_json_at(step, i);
    *out = "";
    if (!v || v->kind != AT_JSON_STRING) return ANSOR_REFUSE(s, "item %d is no text", i);
    *out = v->string;
    return AT_OK;
}

at_status ansor_stage_at(ansor_state *s, const at_json *step, int i, int64_t *id,
                         ansor_stage **out) {
    AT_TRY(ansor_number(s, step, i, id));
    if (*id < 0 || *id >= s->num_stages)
        return ANSOR_REFUSE(s, "stage %lld: there are %d", (long long)*id, s->num_stages);
    *out = s->stage[*id];
    if ((*out)->declared)
        return ANSOR_REFUSE(s, "stage %lld is the input %s", (long long)*id, (*out)->name);
    return AT_OK;
}

static at_status loop_number(ansor_state *s, const ansor_stage *x, int64_t i) {
    if (i >= 0 && i < x->num_loops) return AT_OK;
    return ANSOR_REFUSE(s, "loop %lld: %s has %d", (long long)i, x->name, x->num_loops);
}

at_status ansor_loop_at(ansor_state *s, const at_json *step, int i, const ansor_stage *x, int *id) {
    int64_t n = 0;
    *id = 0;
    AT_TRY(ansor_number(s, step, i, &n));
    AT_TRY(loop_number(s, x, n));
    *id = (int)n;
    return AT_OK;
}

/* ---- places ---------------------------------------------------------------------------------- */

void ansor_detach(ansor_stage *x) {
    x->at = NULL;
    x->at_loop = NULL;
}

static void move_attached(ansor_state *s, const ansor_loop *from, ansor_loop *to) {
    for (int i = 0; i < s->num_stages; i++)
        if (s->stage[i]->at_loop == from) s->stage[i]->at_loop = to;
}

bool ansor_has_attached(const ansor_state *s, const ansor_stage *x) {
    for (int i = 0; i < s->num_stages; i++)
        if (s->stage[i]->at == x) return true;
    return false;
}

bool ansor_is_place(const ansor_state *s, const ansor_loop *l) {
    for (int i = 0; i < s->num_stages; i++)
        if (s->stage[i]->at_loop == l) return true;
    return false;
}

at_status ansor_attach(ansor_state *s, const at_json *step, ansor_stage *x) {
    int64_t id = 0;
    int loop;
    ansor_stage *target = NULL;
    AT_TRY(ansor_stage_at(s, step, 2, &id, &target));
    AT_TRY(ansor_loop_at(s, step, 3, target, &loop));
    for (const ansor_stage *t = target; t; t = t->at)
        if (t == x) return ANSOR_REFUSE(s, "%s would be computed in loops of its own", x->name);
    if (target->is_inlined) return ANSOR_REFUSE(s, "%s is inlined: it has no loops", target->name);
    x->at = target;
    x->at_loop = target->loop[loop];
    return AT_OK;
}

at_status ansor_inline(ansor_state *s, ansor_stage *x) {
    if (x->num_reduce) return ANSOR_REFUSE(s, "%s is a sum, which cannot be inlined", x->name);
    if (ansor_has_attached(s, x))
        return ANSOR_REFUSE(s, "other stages are computed in loops of %s", x->name);
    ansor_detach(x);
    x->is_inlined = true;
    return AT_OK;
}

/* ---- loops ----------------------------------------------------------------------------------- */

at_status ansor_add_loop(ansor_state *s, ansor_stage *x, ansor_piece *piece, bool is_reduce) {
    if (x->num_loops == ANSOR_LOOPS)
        return ANSOR_REFUSE(s, "%s has more than %d loops", x->name, ANSOR_LOOPS);
    ansor_loop *l = AT_NEW(s->arena, ansor_loop);
    if (piece) l->of.piece[l->of.n++] = piece;
    l->is_reduce = is_reduce;
    x->loop[x->num_loops++] = l;
    return AT_OK;
}

static void replace_loops(ansor_stage *x, int first, int count, ansor_loop *const *by, int n) {
    memmove(x->loop + first + n, x->loop + first + count,
            sizeof *x->loop * (size_t)(x->num_loops - first - count));
    memcpy(x->loop + first, by, sizeof *by * (size_t)n);
    x->num_loops += n - count;
}

bool ansor_is_whole(const ansor_stage *x, const ansor_loop *l, int piece) {
    int n = 0;
    for (int i = 0; i < x->num_pieces; i++) n += x->piece[i]->axis == l->of.piece[piece]->axis;
    return n == 1;
}

void ansor_define(ansor_state *s, ansor_stage *x, int n, const char *const *names,
                  at_expr *const *extents, at_expr *value) {
    at_tensor *t = &x->text;
    at_def *all = AT_NEW_ARRAY(s->arena, at_def, t->num_defs + 1);
    memcpy(all + 1, t->defs, sizeof *all * (size_t)t->num_defs);
    all[0] = (at_def){.num_names = n, .is_digits = extents, .expr = value};
    all[0].names = at_copy(s->arena, names, sizeof *names * (size_t)n);
    if (extents) all[0].extents = at_copy(s->arena, extents, sizeof *extents * (size_t)n);
    t->defs = all;
    t->num_defs++;
}

/* Fused reductions that are split become one axis, of which they are the digits. */
static at_status join_axes(ansor_state *s, ansor_stage *x, ansor_loop *l) {
    at_text name = {0};
    const char *names[ANSOR_LOOPS];
    at_expr *extents[ANSOR_LOOPS] = {0};
    int64_t extent = 1;
    int joined = x->num_axes + x->num_reduce;
    if (!l->is_reduce || joined == ANSOR_AXES)
        return ANSOR_REFUSE(s, "a split of loops that are fused is known of sums only");
    for (int i = 0; i < l->of.n; i++) {
        ansor_axis *axis = &x->axis[l->of.piece[i]->axis];
        if (!ansor_is_whole(x, l, i))
            return ANSOR_REFUSE(s, "a split of fused parts of axes is not known");
        at_text_addf(&name, "%s%s", i ? "_" : "", axis->name);
        names[i] = axis->name;
        if (i) extents[i] = at_expr_int(s->arena, axis->extent);
        if (!at_mul64(extent, axis->extent, &extent))
            return ANSOR_REFUSE(s, "an axis exceeds 2^63");
        axis->is_gone = true;
    }
    ansor_piece *p = AT_NEW(s->arena, ansor_piece);
    p->axis = joined;
    x->axis[joined] = (ansor_axis){at_text_take(s->arena, &name), extent, false};
    ansor_define(s, x, l->of.n, names, extents, at_expr_name(s->arena, x->axis[joined].name));
    x->num_reduce++;
    int n = 0;
    for (int i = 0; i < x->num_pieces; i++)
        if (!x->axis[x->piece[i]->axis].is_gone) x->piece[n++] = x->piece[i];
    x->piece[n++] = p;
    x->num_pieces = n;
    l->of.piece[0] = p;
    l->of.n = 1;
    return AT_OK;
}

int64_t ansor_full_length(const ansor_stage *x, const ansor_piece *p) {
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
    if (l->ann) return ANSOR_REFUSE(s, "loop %d of %s is annotated", at, x->name);
    if (l->of.n > 1) AT_TRY(join_axes(s, x, l));
    if (!l->of.n) return ANSOR_REFUSE(s, "loop %d of %s has no axis", at, x->name);
    if (x->num_loops + n > ANSOR_LOOPS || x->num_pieces + n > ANSOR_PIECES)
        return ANSOR_REFUSE(s, "%s has more than %d loops", x->name, ANSOR_LOOPS);
    ansor_piece *p = l->of.piece[0], *made[ANSOR_LOOPS];
    int64_t whole = ansor_full_length(x, p), product = 1;
    for (int i = 0; i < n; i++)
        if (lengths[i] < 1 || !at_mul64(product, lengths[i], &product) || product > INT32_MAX)
            return ANSOR_REFUSE(s, "a part of %lld; parts are from 1 on, and at most 2^31 together",
                                (long long)lengths[i]);
    int64_t rest = (whole + product - 1) / product;
    for (int i = 0; i <= n; i++) {
        int64_t length = inner_to_outer ? (i ? lengths[i - 1] : rest) : (i < n ? lengths[i] : rest);
        made[i] = AT_NEW(s->arena, ansor_piece);
        *made[i] = (ansor_piece){.axis = p->axis, .length = i || p->length ? length : 0};
        parts[i] = AT_NEW(s->arena, ansor_loop);
        parts[i]->of.piece[parts[i]->of.n++] = made[i];
        parts[i]->is_reduce = l->is_reduce;
    }
    move_attached(s, l, parts[n]);
    replace_loops(x, at, 1, parts, n + 1);
    int k = 0;
    while (x->piece[k] != p) k++;
    memmove(x->piece + k + n + 1, x->piece + k + 1,
            sizeof *x->piece * (size_t)(x->num_pieces - k - 1));
    memcpy(x->piece + k, made, sizeof *made * (size_t)(n + 1));
    x->num_pieces += n;
    return AT_OK;
}

at_status ansor_split_loop(ansor_state *s, ansor_stage *x, int at, int64_t inner) {
    return split(s, x, at, &inner, 1, true);
}

/* A record says how long a loop was, unless its stage was computed in another's; 0: it varied. */
static at_status check_length(ansor_state *s, const at_json *step, const ansor_stage *x, int at) {
    const at_json *said = at_json_at(step, 3);
    const ansor_loop *l = x->loop[at];
    int64_t length = 1;
    if (!said || said->kind != AT_JSON_NUMBER || !said->is_int || x->at) return AT_OK;
    for (int i = 0; i < l->of.n; i++)
        if (!at_mul64(length, ansor_full_length(x, l->of.piece[i]), &length)) return AT_OK;
    if (said->integer == length || !said->integer) return AT_OK;
    return ANSOR_REFUSE(s, "loop %d of %s has %lld steps, not %lld", at, x->name, (long long)length,
                        (long long)said->integer);
}

at_status ansor_split(ansor_state *s, const at_json *step, ansor_stage *x) {
    int at, n;
    int64_t lengths[16], inner_to_outer = 0;
    AT_TRY(ansor_loop_at(s, step, 2, x, &at));
    AT_TRY(check_length(s, step, x, at));
    AT_TRY(ansor_list(s, step, 4, lengths, 16, &n));
    AT_TRY(ansor_number(s, step, 5, &inner_to_outer));
    return split(s, x, at, lengths, n, inner_to_outer != 0);
}

/* The lengths of an earlier split. */
static at_status lengths_of(ansor_state *s, const at_json *steps, int64_t source, int64_t *out,
                            int most, int *n) {
    const at_json *from =
        source >= 0 && source < steps->count ? at_json_at(steps, (int)source) : NULL;
    const at_json *code = from && from->kind == AT_JSON_ARRAY ? from->child : NULL;
    if (!code || code->kind != AT_JSON_STRING || strcmp(code->string, "SP"))
        return ANSOR_REFUSE(s, "step %lld is no split", (long long)source);
    return ansor_list(s, from, 4, out, most, n);
}

at_status ansor_follow_split(ansor_state *s, const at_json *steps, const at_json *step,
                             ansor_stage *x) {
    int at, n;
    int64_t source = 0, parts = 0, lengths[16];
    AT_TRY(ansor_loop_at(s, step, 2, x, &at));
    AT_TRY(ansor_number(s, step, 3, &source));
    AT_TRY(ansor_number(s, step, 4, &parts));
    AT_TRY(lengths_of(s, steps, source, lengths, 16, &n));
    if (parts < 1 || parts > n) return ANSOR_REFUSE(s, "%lld parts of %d", (long long)parts, n);
    for (int i = (int)parts; i < n; i++)
        if (!at_mul64(lengths[parts - 1], lengths[i], &lengths[parts - 1]))
            return ANSOR_REFUSE(s, "a part exceeds 2^63");
    return split(s, x, at, lengths, (int)parts, true);
}

at_status ansor_follow_fused_split(ansor_state *s, const at_json *steps, const at_json *step,
                                   ansor_stage *x) {
    int at, num, n;
    int64_t sources[16], level = 0, lengths[16], factor = 1;
    const at_json *is_factor = at_json_at(step, 5);
    AT_TRY(ansor_loop_at(s, step, 2, x, &at));
    AT_TRY(ansor_list(s, step, 3, sources, 16, &num));
    AT_TRY(ansor_number(s, step, 4, &level));
    for (int i = 0; i < num; i++) {
        AT_TRY(lengths_of(s, steps, sources[i], lengths, 16, &n));
        if (level < 0 || level >= n)
            return ANSOR_REFUSE(s, "level %lld of %d", (long long)level, n);
        if (!at_mul64(factor, lengths[level], &factor))
            return ANSOR_REFUSE(s, "a part exceeds 2^63");
    }
    bool inner = is_factor &&
                 (is_factor->kind == AT_JSON_BOOL ? is_factor->boolean : is_factor->integer != 0);
    return split(s, x, at, &factor, 1, inner);
}

at_status ansor_fuse(ansor_state *s, const at_json *step, ansor_stage *x) {
    int64_t ids[ANSOR_LOOPS];
    int n;
    AT_TRY(ansor_list(s, step, 2, ids, ANSOR_LOOPS, &n));
    if (!n) {
        AT_TRY(ansor_add_loop(s, x, NULL, false));
        return x->num_loops == 1 ? AT_OK : ANSOR_REFUSE(s, "%s has loops to fuse", x->name);
    }
    ansor_loop *all = AT_NEW(s->arena, ansor_loop);
    AT_TRY(loop_number(s, x, ids[0]));
    all->is_reduce = x->loop[ids[0]]->is_reduce;
    for (int i = 0; i < n; i++) {
        AT_TRY(loop_number(s, x, ids[i]));
        ansor_loop *l = x->loop[ids[i]];
        if (ids[i] != ids[0] + i) return ANSOR_REFUSE(s, "loops to fuse follow each other");
        if (l->is_reduce != all->is_reduce)
            return ANSOR_REFUSE(s, "an axis and a reduction of %s are fused", x->name);
        if (l->ann) return ANSOR_REFUSE(s, "loop %lld is annotated", (long long)ids[i]);
        if (i < n - 1 && ansor_is_place(s, l))
            return ANSOR_REFUSE(s, "stages are computed in loop %lld", (long long)ids[i]);
        if (all->of.n + l->of.n > ANSOR_LOOPS) return ANSOR_REFUSE(s, "too many loops");
        for (int k = 0; k < l->of.n; k++) all->of.piece[all->of.n++] = l->of.piece[k];
        move_attached(s, l, all);
    }
    replace_loops(x, (int)ids[0], n, &all, 1);
    return AT_OK;
}

at_status ansor_reorder(ansor_state *s, const at_json *step, ansor_stage *x) {
    int64_t ids[ANSOR_LOOPS];
    ansor_loop *old[ANSOR_LOOPS];
    bool seen[ANSOR_LOOPS] = {0};
    int n;
    AT_TRY(ansor_list(s, step, 2, ids, ANSOR_LOOPS, &n));
    if (n != x->num_loops) return ANSOR_REFUSE(s, "an order of %d of %d loops", n, x->num_loops);
    memcpy(old, x->loop, sizeof *old * (size_t)n);
    for (int i = 0; i < n; i++) {
        AT_TRY(loop_number(s, x, ids[i]));
        if (seen[ids[i]]) return ANSOR_REFUSE(s, "loop %lld comes twice", (long long)ids[i]);
        seen[ids[i]] = true;
        x->loop[i] = old[ids[i]];
    }
    return AT_OK;
}

at_status ansor_annotate(ansor_state *s, const at_json *step, ansor_stage *x) {
    static const at_ann anns[] = {AT_ANN_NONE, AT_ANN_UNROLL, AT_ANN_VEC, AT_ANN_PARA};
    int at;
    int64_t what = 0;
    AT_TRY(ansor_loop_at(s, step, 2, x, &at));
    AT_TRY(ansor_number(s, step, 3, &what));
    if (what < 0 || what > 3)
        return ANSOR_REFUSE(s, "annotation %lld: 1 unroll, 2 vectorize and 3 parallel are for CPUs",
                            (long long)what);
    if (x->loop[at]->ann) return ANSOR_REFUSE(s, "loop %d is annotated already", at);
    x->loop[at]->ann = anns[what];
    return AT_OK;
}

at_status ansor_pragma(ansor_state *s, const at_json *step, ansor_stage *x) {
    static const char unroll[] = "auto_unroll_max_step$";
    const char *text = "";
    AT_TRY(ansor_word(s, step, 3, &text));
    if (!strcmp(text, "debug_skip_region")) return ansor_detach(x), AT_OK;
    if (strncmp(text, unroll, sizeof unroll - 1))
        return ANSOR_REFUSE(s, "pragma %.60s: auto_unroll_max_step$N is known", text);
    long most = strtol(text + sizeof unroll - 1, NULL, 10);
    x->unroll_max = most < 0 ? 0 : most > 4096 ? 4096 : (int)most;
    return AT_OK;
}
