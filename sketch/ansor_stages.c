/* sketch/ansor_stages.c: the stages of a computation, the computation that stages are, and steps
 * that make new ones. */
#include <string.h>

#include "sketch/ansor_int.h"

/* ---- the stages of a computation ------------------------------------------------------------- */

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
        x->name = from->name;
        if (from->role != AT_ROLE_STAGE) x->declared = from;
        x->num_axes = from->num_axes;
        x->num_reduce = from->num_reduce;
        if (x->num_axes + x->num_reduce > ANSOR_AXES / 2) return ANSOR_REFUSE(s, "too many axes");
        for (int k = 0; x->declared && k < x->num_axes; k++) /* of copies */
            x->axis[k] = (ansor_axis){at_format(s->arena, "a%d", k), extents[t][k], false};
        if (x->declared) continue;
        for (int k = 0; k < x->num_axes + x->num_reduce; k++)
            x->axis[k] = (ansor_axis){from->axes[k].name, extents[t][k], false};
        x->text = at_tensor_copy(s->arena, from);
        x->text.num_axes = x->text.num_reduce = 0;
        AT_TRY(plain_loops(s, x));
    }
    return AT_OK;
}

/* Copies, since computations take what they are made of. */
at_status ansor_compute(const ansor_state *s, const at_symbols *symbols, at_compute **out) {
    at_tensor *all = AT_NEW_ARRAY(s->arena, at_tensor, s->num_stages);
    for (int i = 0; i < s->num_stages; i++) {
        const ansor_stage *x = s->stage[i];
        at_tensor *t = &all[i];
        *t = x->declared ? (at_tensor){.role = x->declared->role, .type = x->declared->type}
                         : at_tensor_copy(s->arena, &x->text);
        t->name = x->name;
        t->axes = AT_NEW_ARRAY(s->arena, at_axis, x->num_axes + x->num_reduce);
        for (int k = 0; k < x->num_axes + x->num_reduce; k++) {
            if (x->axis[k].is_gone) continue;
            at_axis *axis = &t->axes[t->num_axes + t->num_reduce];
            axis->name = x->declared ? NULL : x->axis[k].name;
            axis->extent = at_expr_int(s->arena, x->axis[k].extent);
            k < x->num_axes ? t->num_axes++ : t->num_reduce++;
        }
    }
    return at_compute_make(s->arena, symbols, all, s->num_stages, "rewritten computation", out,
                           s->err);
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
static at_expr *own_element(ansor_state *s, const ansor_stage *x, const char *name) {
    at_expr *index[ANSOR_AXES];
    for (int k = 0; k < x->num_axes; k++) index[k] = at_expr_name(s->arena, x->axis[k].name);
    return at_expr_read(s->arena, name, x->num_axes, index);
}

/* The text of a stage that copies an element. */
static at_tensor copy_of(at_expr *element) {
    return (at_tensor){.role = AT_ROLE_STAGE, .written = element};
}

static at_status is_plain(ansor_state *s, const ansor_stage *x, const char *what) {
    bool plain = !x->at && !x->is_inlined && !ansor_has_attached(s, x);
    for (int i = 0; i < x->num_loops; i++)
        plain &= !x->loop[i]->ann && x->loop[i]->of.n == 1 && ansor_is_whole(x, x->loop[i], 0);
    return plain ? AT_OK : ANSOR_REFUSE(s, "%s of %s after other steps", what, x->name);
}

at_status ansor_cache_write(ansor_state *s, const at_json *step, int64_t id, ansor_stage *x) {
    ansor_stage *local = AT_NEW(s->arena, ansor_stage);
    AT_TRY(is_plain(s, x, "a copy"));
    *local = *x;
    AT_TRY(scoped(s, step, x->name, &local->name));
    x->num_reduce = 0;
    x->text = copy_of(own_element(s, x, local->name));
    AT_TRY(plain_loops(s, local));
    AT_TRY(plain_loops(s, x));
    return insert(s, id, local);
}

static void rename_read(at_expr *read, void *name) { read->name = *(const char **)name; }

at_status ansor_cache_read(ansor_state *s, const at_json *step) {
    int64_t id = 0, readers[ANSOR_STAGES];
    int n;
    AT_TRY(ansor_number(s, step, 1, &id));
    if (id < 0 || id >= s->num_stages)
        return ANSOR_REFUSE(s, "stage %lld: there are %d", (long long)id, s->num_stages);
    ansor_stage *x = s->stage[id], *copy = AT_NEW(s->arena, ansor_stage);
    copy->num_axes = x->num_axes;
    memcpy(copy->axis, x->axis, sizeof *x->axis * (size_t)x->num_axes);
    copy->text = copy_of(own_element(s, x, x->name));
    AT_TRY(scoped(s, step, x->name, &copy->name));
    AT_TRY(plain_loops(s, copy));
    AT_TRY(ansor_list(s, step, 3, readers, ANSOR_STAGES, &n));
    if (!n) return ANSOR_REFUSE(s, "a copy of %s that nobody reads", x->name);
    for (int i = 0; i < n; i++) {
        if (readers[i] <= id || readers[i] >= s->num_stages || s->stage[readers[i]]->declared)
            return ANSOR_REFUSE(s, "stage %lld reads no %s", (long long)readers[i], x->name);
        if (!at_tensor_change_reads(&s->stage[readers[i]]->text, x->name, rename_read, &copy->name))
            return ANSOR_REFUSE(s, "stage %lld reads no %s", (long long)readers[i], x->name);
    }
    return insert(s, id + 1, copy);
}

/* The piece that is to be an axis, and the other one of its split. */
static at_status factored_pieces(ansor_state *s, const ansor_stage *x, int at, ansor_piece **piece,
                                 ansor_piece **other, bool *is_outer) {
    ansor_loop *l = x->loop[at];
    *other = NULL;
    if (!l->is_reduce || l->of.n != 1) return ANSOR_REFUSE(s, "loop %d is no reduction", at);
    *piece = l->of.piece[0];
    int n = 0;
    for (int i = 0; i < x->num_pieces; i++) {
        if (x->piece[i]->axis != (*piece)->axis) continue;
        if (x->piece[i] != *piece) *other = x->piece[i];
        n++;
    }
    *is_outer = !(*piece)->length;
    if (n != 2) return ANSOR_REFUSE(s, "loop %d is no part of a split in two", at);
    for (int i = 0; i < x->num_loops; i++)
        if (ansor_is_place(s, x->loop[i]) || x->loop[i]->ann || x->loop[i]->of.n != 1 ||
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
    rf->text = x->text;
    at_expr *whole = at_expr_pair(s->arena, AT_X_MUL, at_expr_name(s->arena, outer),
                                  at_expr_int(s->arena, is_outer ? others : mine));
    whole = at_expr_pair(s->arena, AT_X_ADD, whole, at_expr_name(s->arena, inner));
    ansor_define(s, rf, 1, &sum->name, NULL, whole);
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
    x->text = copy_of(own_element(s, rf, rf->name));
    x->text.reduction = rf->text.reduction;
    x->axis[x->num_axes] = rf->axis[place];
    x->num_reduce = 1;
    AT_TRY(plain_loops(s, x));
    return insert(s, id, rf);
}
