/* sketch/ansor_stages.c: the stages of a computation, and steps that make new ones. */
#include <string.h>

#include "sketch/ansor_int.h"

/* ---- the stages of a computation ------------------------------------------------------------- */

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

/* A loop and a piece for each whole axis. */
static at_status plain_loops(ansor_state *s, ansor_stage *x) {
    x->num_pieces = x->num_loops = 0;
    for (int k = 0; k < x->num_axes + x->num_reduce; k++) {
        if (x->axis[k].is_gone) continue;
        ansor_piece *p = AT_NEW(s->arena, ansor_piece);
        p->axis = k;
        x->piece[x->num_pieces++] = p;
        AT_TRY(ansor_add_loop(s, x, p, k >= x->num_axes));
    }
    return AT_OK;
}

at_status ansor_start(ansor_state *s, const at_compute *c, const int64_t *values) {
    int64_t **extents;
    AT_TRY(at_compute_extents(s->arena, c, values, &extents, s->err));
    if (c->num_tensors > ANSOR_STAGES / 2) return ANSOR_REFUSE(s, "too many stages");
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
            x->declared = at_text_take(s->arena, &text);
        }
        x->num_axes = from->num_axes;
        x->num_reduce = from->num_reduce;
        if (x->num_axes + x->num_reduce > ANSOR_AXES / 2) return ANSOR_REFUSE(s, "too many axes");
        for (int k = 0; x->declared && k < x->num_axes; k++) /* of copies */
            x->axis[k] = (ansor_axis){at_format(s->arena, "a%d", k), extents[t][k], false};
        if (x->declared) continue;
        for (int k = 0; k < x->num_axes + x->num_reduce; k++)
            x->axis[k] = (ansor_axis){from->axes[k].name, extents[t][k], false};
        if (x->num_reduce) x->reduction = at_reduction_name(from->reduction);
        at_expr_print(&text, from->written);
        x->body = at_text_take(s->arena, &text);
        add_definitions(&definitions, from);
        x->definitions = at_text_take(s->arena, &definitions);
        AT_TRY(plain_loops(s, x));
    }
    return AT_OK;
}

/* ---- new stages ------------------------------------------------------------------------------ */

static at_status insert(ansor_state *s, int64_t id, ansor_stage *x) {
    if (s->num_stages == ANSOR_STAGES) return ANSOR_REFUSE(s, "more than %d stages", ANSOR_STAGES);
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
    AT_TRY(ansor_word(s, step, 2, &scope));
    size_t n = strspn(scope, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (!n || scope[n] || n > 40) return ANSOR_REFUSE(s, "scope \"%.40s\"", scope);
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
    return at_text_take(s->arena, &text);
}

static at_status is_plain(ansor_state *s, const ansor_stage *x, const char *what) {
    bool plain = !x->at && !x->is_inlined && !ansor_has_attached(x);
    for (int i = 0; i < x->num_loops; i++)
        plain &= !x->loop[i]->annotation && x->loop[i]->num_pieces == 1 &&
                 ansor_is_whole(x, x->loop[i], 0);
    return plain ? AT_OK : ANSOR_REFUSE(s, "%s of %s after other steps", what, x->name);
}

at_status ansor_cache_write(ansor_state *s, const at_json *step, int64_t id, ansor_stage *x) {
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

/* Where the text first has NAME[, or its end. */
static const char *find_read(const char *text, const char *name) {
    static const char inside[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    size_t n = strlen(name);
    const char *p = text;
    for (; *p; p++)
        if ((p == text || !strchr(inside, p[-1])) && !strncmp(p, name, n) && p[n] == '[') break;
    return p;
}

const char *ansor_replace_reads(at_arena *a, const char *text, const char *name, const char *by,
                                bool whole) {
    at_text out = {0};
    for (const char *p = text, *at; *p; p = at) {
        at = find_read(p, name);
        at_text_addn(&out, p, (size_t)(at - p));
        if (!*at) break;
        at_text_add(&out, by);
        at += strlen(name);
        int depth = 0;
        if (whole) do
                depth += (*at == '[') - (*at == ']');
            while (*at++ && depth);
    }
    return at_text_take(a, &out);
}

at_status ansor_cache_read(ansor_state *s, const at_json *step) {
    int64_t id = 0, readers[ANSOR_STAGES];
    int n;
    AT_TRY(ansor_number(s, step, 1, &id));
    if (id < 0 || id >= s->num_stages)
        return ANSOR_REFUSE(s, "stage %lld: there are %d", (long long)id, s->num_stages);
    ansor_stage *x = s->stage[id], *copy = AT_NEW(s->arena, ansor_stage);
    copy->num_axes = x->num_axes;
    memcpy(copy->axis, x->axis, sizeof *x->axis * (size_t)x->num_axes);
    copy->definitions = "";
    copy->body = own_element(s, x, x->name);
    AT_TRY(scoped(s, step, x->name, &copy->name));
    AT_TRY(plain_loops(s, copy));
    AT_TRY(ansor_list(s, step, 3, readers, ANSOR_STAGES, &n));
    if (!n) return ANSOR_REFUSE(s, "a copy of %s that nobody reads", x->name);
    for (int i = 0; i < n; i++) {
        if (readers[i] <= id || readers[i] >= s->num_stages || s->stage[readers[i]]->declared)
            return ANSOR_REFUSE(s, "stage %lld reads no %s", (long long)readers[i], x->name);
        ansor_stage *r = s->stage[readers[i]];
        const char *body = ansor_replace_reads(s->arena, r->body, x->name, copy->name, false),
                   *definitions =
                       ansor_replace_reads(s->arena, r->definitions, x->name, copy->name, false);
        if (!strcmp(body, r->body) && !strcmp(definitions, r->definitions))
            return ANSOR_REFUSE(s, "stage %lld reads no %s", (long long)readers[i], x->name);
        r->body = body;
        r->definitions = definitions;
    }
    return insert(s, id + 1, copy);
}

/* The piece that is to be an axis, and the other one of its split. */
static at_status factored_pieces(ansor_state *s, const ansor_stage *x, int at, ansor_piece **piece,
                                 ansor_piece **other, bool *is_outer) {
    ansor_loop *l = x->loop[at];
    *other = NULL;
    if (!l->is_reduce || l->num_pieces != 1) return ANSOR_REFUSE(s, "loop %d is no reduction", at);
    *piece = l->piece[0];
    int n = 0;
    for (int i = 0; i < x->num_pieces; i++) {
        if (x->piece[i]->axis != (*piece)->axis) continue;
        if (x->piece[i] != *piece) *other = x->piece[i];
        n++;
    }
    *is_outer = !(*piece)->length;
    if (n != 2) return ANSOR_REFUSE(s, "loop %d is no part of a split in two", at);
    for (int i = 0; i < x->num_loops; i++)
        if (x->loop[i]->num_attached || x->loop[i]->annotation || x->loop[i]->num_pieces != 1 ||
            (!x->loop[i]->is_reduce && !ansor_is_whole(x, x->loop[i], 0)))
            return ANSOR_REFUSE(s, "a sum in two steps of %s after other steps", x->name);
    return AT_OK;
}

at_status ansor_factor(ansor_state *s, const at_json *step, int64_t id, ansor_stage *x) {
    int at;
    int64_t place = 0;
    bool is_outer = false;
    ansor_piece *piece = NULL, *other = NULL;
    ansor_stage *rf = AT_NEW(s->arena, ansor_stage);
    AT_TRY(ansor_loop_at(s, step, 2, x, &at));
    AT_TRY(ansor_number(s, step, 3, &place));
    AT_TRY(factored_pieces(s, x, at, &piece, &other, &is_outer));
    if (place < 0 || place > x->num_axes) return ANSOR_REFUSE(s, "place %lld", (long long)place);
    const ansor_axis *sum = &x->axis[piece->axis];
    int64_t mine = ansor_full_length(x, piece), others = ansor_full_length(x, other);
    if (mine * others != sum->extent)
        return ANSOR_REFUSE(s, "%lld does not divide %lld", (long long)mine,
                            (long long)sum->extent);
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
