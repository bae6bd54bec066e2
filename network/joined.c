/* network/joined.c: see joined.h. */
#include "network/joined.h"

#include <string.h>

int at_join_input(at_joined *j, int value, at_role role, at_type type, int rank,
                  const int64_t *dims) {
    static const int64_t one[] = {1};
    if (!rank) rank = 1, dims = one;
    at_joined_axis *axes = AT_NEW_ARRAY(j->arena, at_joined_axis, rank);
    for (int i = 0; i < rank; i++) axes[i].extent = dims[i];
    *at_push(j->arena, &j->tensors) = (at_joined_tensor){
        .value = value, .role = role, .type = type, .num_axes = rank, .axes = axes};
    return j->tensors.len - 1;
}

/* ---- a node's text --------------------------------------------------------------------------- */

static const char *type_name(at_type t) { return t == AT_F32 ? "" : at_type_of(t)->name; }

static void declare(at_text *out, const at_joined *j, int k, int tensor) {
    const at_joined_tensor *t = &j->tensors.data[tensor];
    at_text_addf(out, "x%d[", k);
    for (int i = 0; i < t->num_axes; i++)
        at_text_addf(out, "%s%lld", i ? ", " : "", (long long)t->axes[i].extent);
    at_text_addf(out, "] : %s%s%s\n", t->role == AT_ROLE_INDEX ? "index" : "input",
                 t->type ? " " : "", type_name(t->type));
}

/* tensors: of those of the parsed text. */
static void add_stage(at_joined *j, const at_tensor *t, int64_t *const *extents, const int *tensors,
                      int number) {
    int n = t->num_axes + t->num_reduce;
    at_joined_tensor s = {.value = -1,
                          .role = AT_ROLE_STAGE,
                          .num_axes = t->num_axes,
                          .num_reduce = t->num_reduce,
                          .reduction = t->reduction,
                          .type = t->type,
                          .axes = AT_NEW_ARRAY(j->arena, at_joined_axis, n)};
    for (int i = 0; i < n; i++) {
        at_joined_axis *x = &s.axes[i];
        x->name = t->axes[i].name;
        x->extent = extents[number][i];
        if (!t->axes[i].begin) continue;
        x->begin = at_join_replace(j->arena, t->axes[i].begin, NULL, tensors);
        x->end = at_join_replace(j->arena, t->axes[i].end, NULL, tensors);
    }
    s.body = at_join_replace(j->arena, t->body, NULL, tensors);
    *at_push(j->arena, &j->tensors) = s;
}

static int output_number(const char *name, int num_outputs) {
    int number = 0;
    if (name[0] != 'y' || !name[1]) return -1;
    for (const char *p = name + 1; *p; p++) {
        if (*p < '0' || *p > '9' || number > 9999) return -1;
        number = number * 10 + (*p - '0');
    }
    return number < num_outputs ? number : -1;
}

at_status at_join_text(at_joined *j, const char *text, const char *what, const int *inputs,
                       int num_inputs, int *outputs, int num_outputs, at_error *err) {
    static const at_symbols none = {0};
    at_text whole = {0};
    at_compute *c;
    int64_t **extents;
    AT_VEC(int) of_input = {0};
    for (int k = 0; k < num_inputs; k++) {
        if (inputs[k] < 0) continue;
        declare(&whole, j, k, inputs[k]);
        *at_push(j->arena, &of_input) = inputs[k];
    }
    at_text_add(&whole, text);
    at_status s = at_compute_parse(j->arena, &none, at_text_take(j->arena, &whole), what, &c, err);
    if (s == AT_OK) s = at_compute_extents(j->arena, c, NULL, &extents, err);
    if (s != AT_OK) return s;
    int *tensors = AT_NEW_ARRAY(j->arena, int, c->num_tensors);
    for (int k = 0; k < num_outputs; k++) outputs[k] = -1;
    for (int i = 0, first = j->tensors.len - of_input.len; i < c->num_tensors; i++)
        tensors[i] = i < of_input.len ? of_input.data[i] : first + i;
    for (int i = of_input.len; i < c->num_tensors; i++) {
        int y = output_number(c->tensors[i].name, num_outputs);
        if (y >= 0) outputs[y] = tensors[i];
        add_stage(j, &c->tensors[i], extents, tensors, i);
    }
    return AT_OK;
}

/* ---- the order of axes ----------------------------------------------------------------------- */

typedef struct permuted {
    at_arena *arena;
    int tensor, num_axes;
    const int *order, *place; /* which axis goes to a place, where an axis goes */
} permuted;

static void permute_read(at_expr *e, void *ctx) {
    const permuted *x = ctx;
    if (!at_expr_is_read(e, &x->tensor)) return;
    at_expr **args = AT_NEW_ARRAY(x->arena, at_expr *, e->nargs);
    for (int i = 0; i < e->nargs; i++) args[i] = e->arg[x->order[i]];
    e->arg = args;
}

static void renumber(at_expr *e, void *ctx) {
    const permuted *x = ctx;
    if (e->op == AT_X_NAME && e->ref < x->num_axes) e->ref = x->place[e->ref];
}

/* All that a stage's text says: its body and the bounds of its sums. */
static void change_stage(at_joined_tensor *t, at_expr_change *f, void *ctx) {
    if (t->role != AT_ROLE_STAGE) return;
    at_expr_each(t->body, f, ctx);
    for (int k = 0; k < t->num_axes + t->num_reduce; k++) {
        if (t->axes[k].begin) at_expr_each(t->axes[k].begin, f, ctx);
        if (t->axes[k].end) at_expr_each(t->axes[k].end, f, ctx);
    }
}

/* Axis k of the stage, reductions among them, is what order[k] was. */
static void permute_axes(at_joined *j, at_joined_tensor *t, const int *order) {
    const int n = t->num_axes + t->num_reduce;
    at_joined_axis *axes = AT_NEW_ARRAY(j->arena, at_joined_axis, n);
    int *place = AT_NEW_ARRAY(j->arena, int, n);
    for (int k = 0; k < n; k++) {
        axes[k] = t->axes[order[k]];
        place[order[k]] = k;
    }
    t->axes = axes;
    permuted x = {.arena = j->arena, .num_axes = n, .place = place};
    change_stage(t, renumber, &x);
}

typedef struct walked {
    const at_joined_tensor *stage;
    int tensor;
    int *order, num; /* its reductions, as the first read that has one goes along them */
} walked;

/* Has an expression a reduction of the stage in hand? */
static bool is_reduced(const at_expr *e, const void *ctx) {
    const walked *x = ctx;
    return e->op == AT_X_NAME && e->ref >= x->stage->num_axes &&
           e->ref < x->stage->num_axes + x->stage->num_reduce;
}

/* Ends where another tensor has a reduction, or one is no index by itself. */
static at_walk walk_read(const at_expr *e, void *ctx) {
    walked *x = ctx;
    if (e->op != AT_X_INDEX || !at_expr_find(e, is_reduced, x)) return AT_WALK_ON;
    if (e->ref != x->tensor) return AT_WALK_END;
    const bool is_first = !x->num;
    for (int i = 0; i < e->nargs; i++) {
        if (!at_expr_find(e->arg[i], is_reduced, x)) continue;
        if (!is_reduced(e->arg[i], x)) return AT_WALK_END;
        if (is_first && x->num < x->stage->num_reduce) x->order[x->num++] = e->arg[i]->ref;
    }
    return AT_WALK_PAST;
}

/* A reduction of one tensor goes along it as its elements lie, where its rows fill vectors. */
static void order_reductions(at_joined *j, at_joined_tensor *t, int tensor) {
    enum { LEAST_ROW = 16 };
    const int n = t->num_axes, all = n + t->num_reduce;
    if (t->role != AT_ROLE_STAGE || t->num_reduce < 2) return;
    int *order = AT_NEW_ARRAY(j->arena, int, all);
    walked x = {.stage = t, .tensor = tensor, .order = order + n};
    if (at_expr_walk(t->body, walk_read, &x) || x.num < t->num_reduce) return;
    if (t->axes[order[all - 1]].extent < LEAST_ROW) return;
    for (int k = 0; k < n; k++) order[k] = k;
    for (int k = n; k < all; k++) {
        if (t->axes[k].begin) return;
        for (int i = n; i < k; i++)
            if (order[i] == order[k]) return;
    }
    permute_axes(j, t, order);
}

void at_join_permute(at_joined *j, int tensor, const int *order) {
    at_joined_tensor *t = &j->tensors.data[tensor];
    const int n = t->num_axes, all = n + t->num_reduce;
    int *whole = AT_NEW_ARRAY(j->arena, int, all);
    for (int k = 0; k < all; k++) whole[k] = k < n ? order[k] : k;
    permute_axes(j, t, whole);
    permuted x = {.arena = j->arena, .tensor = tensor, .order = order};
    for (int i = 0; i < j->tensors.len; i++) {
        at_joined_tensor *reader = &j->tensors.data[i];
        change_stage(reader, permute_read, &x);
        order_reductions(j, reader, tensor);
    }
}

/* ---- dissolving ------------------------------------------------------------------------------ */

/* Does it read elements of one tensor or another, and calculate nothing? */
static bool is_move(const at_expr *e) {
    if (e->op == AT_X_INDEX || at_expr_is_number(e)) return true;
    if (e->op == AT_X_SELECT) return is_move(e->arg[1]) && is_move(e->arg[2]);
    return false;
}

static bool reads_several(const at_expr *e) {
    int n = 0;
    if (e->op == AT_X_INDEX) return false;
    if (e->op != AT_X_SELECT) return false;
    for (int i = 1; i < 3; i++) n += at_expr_reads(e->arg[i]);
    return n > 1 || reads_several(e->arg[1]) || reads_several(e->arg[2]);
}

static bool reads_in_bounds(const at_joined_tensor *s, int tensor) {
    for (int i = 0; i < s->num_axes + s->num_reduce; i++) {
        if (s->axes[i].begin && at_expr_read_of(s->axes[i].begin, tensor)) return true;
        if (s->axes[i].end && at_expr_read_of(s->axes[i].end, tensor)) return true;
    }
    return false;
}

/* Does a stage of the part other than the tensor itself, from number `first` on, read it? */
static bool is_read(const at_joined *j, int tensor, int first) {
    for (int i = first; i < j->tensors.len; i++) {
        const at_joined_tensor *s = &j->tensors.data[i];
        if (i == tensor || s->role != AT_ROLE_STAGE || s->is_gone) continue;
        if (at_expr_read_of(s->body, tensor) || reads_in_bounds(s, tensor)) return true;
    }
    return false;
}

/* A number that is stored as an integer, as indices are, is no longer what it was. */
static bool is_converted(const at_joined *j, const at_joined_tensor *t) {
    return t->type == AT_S32 && t->body->op == AT_X_INDEX &&
           j->tensors.data[t->body->ref].type != AT_S32;
}

/* Moves go anywhere; what is calculated goes into the only element that needs it. */
static bool dissolves(const at_joined *j, int tensor) {
    const at_joined_tensor *t = &j->tensors.data[tensor];
    int reads = 0;
    bool in_sum = false;
    if (t->role != AT_ROLE_STAGE || t->is_output || t->is_gone || t->num_reduce) return false;
    if (at_expr_read_of(t->body, tensor)) return false;
    for (int i = 0; i < j->tensors.len; i++) {
        const at_joined_tensor *s = &j->tensors.data[i];
        if (s->role != AT_ROLE_STAGE || s->is_gone) continue;
        if (reads_in_bounds(s, tensor) || (i < tensor && at_expr_read_of(s->body, tensor)))
            return false;
        int n = at_expr_count_reads(s->body, tensor);
        reads += n;
        in_sum |= n && s->num_reduce;
    }
    /* a stored element is cut */
    if (t->type != AT_F32 && (!is_move(t->body) || is_converted(j, t))) return false;
    if (is_move(t->body)) return !in_sum || !reads_several(t->body);
    return reads == 1 && !in_sum;
}

typedef struct of_stage {
    const at_joined *j;
    const at_joined_tensor *s;
} of_stage;

/* A read of the stage becomes its body at these indices. */
static void inline_read(at_expr *e, void *ctx) {
    const of_stage *x = ctx;
    const int tensor = (int)(x->s - x->j->tensors.data);
    if (at_expr_is_read(e, &tensor)) *e = *at_join_replace(x->j->arena, x->s->body, e->arg, NULL);
}

/* Element 0 along an axis of extent 1 is told by the reader's own such axis: so it is seen that
 * both go element by element. */
static void name_units(at_expr *e, void *ctx) {
    const at_joined *j = ((const of_stage *)ctx)->j;
    const at_joined_tensor *s = ((const of_stage *)ctx)->s;
    if (e->op != AT_X_INDEX || e->nargs != s->num_axes) return;
    const at_joined_tensor *t = &j->tensors.data[e->ref];
    for (int k = 0; k < e->nargs; k++) {
        bool zero = e->arg[k]->op == AT_X_INT && !e->arg[k]->integer;
        if (!zero || t->axes[k].extent != 1 || s->axes[k].extent != 1) continue;
        e->arg[k] = at_expr_name(j->arena, NULL);
        e->arg[k]->ref = k;
    }
}

void at_join_dissolve(at_joined *j) {
    for (int i = j->tensors.len - 1; i >= 0; i--) {
        at_joined_tensor *t = &j->tensors.data[i];
        if (!t->is_output && !is_read(j, i, 0)) t->is_gone = true;
        if (!dissolves(j, i)) continue;
        for (int k = i + 1; k < j->tensors.len; k++) {
            at_joined_tensor *s = &j->tensors.data[k];
            if (s->role == AT_ROLE_STAGE && !s->is_gone)
                at_expr_each(s->body, inline_read, &(of_stage){j, t});
        }
        t->is_gone = true;
    }
    for (int i = 0; i < j->tensors.len; i++) {
        at_joined_tensor *s = &j->tensors.data[i];
        if (s->role != AT_ROLE_STAGE || s->is_gone) continue;
        s->body = at_join_simplify(j->arena, s->body, s->axes, s->type);
        at_expr_each(s->body, name_units, &(of_stage){j, s});
    }
}

bool at_join_has_stray(const at_joined *j) {
    for (int i = 0; i < j->tensors.len; i++) {
        const at_joined_tensor *t = &j->tensors.data[i];
        if (t->role == AT_ROLE_STAGE && !t->is_gone && !t->is_output && !is_read(j, i, i + 1))
            return true;
    }
    return false;
}

/* ---- axes of extent 1 ------------------------------------------------------------------------ */

typedef struct shorter {
    at_arena *arena;
    int tensor, num_axes, num_gone; /* axes before; how many of the last ones go */
    bool is_needed;                 /* one of them is read by something else than 0 */
} shorter;

static void find_needed(at_expr *e, void *ctx) {
    shorter *x = ctx;
    if (!at_expr_is_read(e, &x->tensor)) return;
    for (int k = x->num_axes - x->num_gone; k < x->num_axes; k++)
        x->is_needed |= e->arg[k]->op != AT_X_INT;
}

static void shorten_read(at_expr *e, void *ctx) {
    const shorter *x = ctx;
    if (at_expr_is_read(e, &x->tensor)) e->nargs -= x->num_gone;
}

static void renumber_without(at_expr *e, void *ctx) {
    const shorter *x = ctx;
    if (e->op != AT_X_NAME || e->ref < x->num_axes - x->num_gone) return;
    if (e->ref >= x->num_axes) e->ref -= x->num_gone;
    else *e = *at_expr_int(x->arena, 0);
}

/* A number of a row is no row of one element, so that it is seen as such. */
static void shorten(at_joined *j, int tensor) {
    at_joined_tensor *t = &j->tensors.data[tensor];
    shorter x = {.arena = j->arena, .tensor = tensor, .num_axes = t->num_axes};
    while (x.num_gone < t->num_axes - 1 && t->axes[t->num_axes - 1 - x.num_gone].extent == 1)
        x.num_gone++;
    if (!x.num_gone) return;
    for (int i = 0; i < j->tensors.len; i++)
        if (!j->tensors.data[i].is_gone) change_stage(&j->tensors.data[i], find_needed, &x);
    if (x.is_needed) return;
    change_stage(t, renumber_without, &x);
    for (int i = 0; i < j->tensors.len; i++) change_stage(&j->tensors.data[i], shorten_read, &x);
    t->num_axes -= x.num_gone;
    memmove(&t->axes[t->num_axes], &t->axes[x.num_axes], sizeof *t->axes * (size_t)t->num_reduce);
}

void at_join_shorten(at_joined *j) {
    for (int i = j->tensors.len - 1; i >= 0; i--) {
        const at_joined_tensor *t = &j->tensors.data[i];
        if (t->role == AT_ROLE_STAGE && !t->is_output && !t->is_gone) shorten(j, i);
    }
}

/* ---- as a text ------------------------------------------------------------------------------- */

void at_join_name(at_joined *j) {
    int counts[3] = {0}, outputs = 0, stages = 0;
    static const char letters[] = {
        [AT_ROLE_INPUT] = 'x', [AT_ROLE_WEIGHT] = 'w', [AT_ROLE_INDEX] = 'i'};
    for (int i = 0; i < j->tensors.len; i++) {
        at_joined_tensor *t = &j->tensors.data[i];
        if (t->is_gone) continue;
        if (t->role != AT_ROLE_STAGE)
            t->name = at_format(j->arena, "%c%d", letters[t->role], counts[t->role]++);
        else if (t->is_output) t->name = at_format(j->arena, "y%d", outputs++);
        else t->name = at_format(j->arena, "t%d", stages++);
    }
}

static void set_name(at_expr *e, void *ctx) {
    const of_stage *x = ctx;
    if (e->op == AT_X_NAME) e->name = x->s->axes[e->ref].name;
    if (e->op == AT_X_INDEX) e->name = x->j->tensors.data[e->ref].name;
}

static void print_expr(at_text *out, const at_joined *j, const at_joined_tensor *t, at_expr *e) {
    at_expr_each(e, set_name, &(of_stage){j, t});
    at_expr_print(out, e);
}

static void print_stage(at_text *out, const at_joined *j, const at_joined_tensor *t) {
    for (int i = 0; i < t->num_axes; i++)
        at_text_addf(out, "%s%s:%lld", i ? ", " : "", t->axes[i].name,
                     (long long)t->axes[i].extent);
    const bool is_marked = t->is_output && is_read(j, (int)(t - j->tensors.data), 0);
    at_text_addf(out, "]%s%s%s%s = ", is_marked || t->type ? " :" : "", is_marked ? " output" : "",
                 t->type ? " " : "", type_name(t->type));
    if (t->num_reduce) at_text_addf(out, "%s(", at_reduction_name(t->reduction));
    for (int i = t->num_axes; i < t->num_axes + t->num_reduce; i++) {
        const at_joined_axis *x = &t->axes[i];
        at_text_addf(out, "%s%s:", i > t->num_axes ? ", " : "", x->name);
        if (x->begin) {
            at_text_add(out, " ");
            print_expr(out, j, t, x->begin);
            at_text_add(out, " .. ");
            print_expr(out, j, t, x->end);
        } else at_text_add_int(out, x->extent);
    }
    if (t->num_reduce) at_text_add(out, ") ");
    print_expr(out, j, t, t->body);
    at_text_add(out, "\n");
}

void at_join_print(at_text *out, const at_joined *j) {
    static const char *const roles[] = {"input", "weight", "index"};
    for (int i = 0; i < j->tensors.len; i++) {
        const at_joined_tensor *t = &j->tensors.data[i];
        if (t->is_gone || t->role == AT_ROLE_STAGE) continue;
        at_text_addf(out, "%s[", t->name);
        for (int k = 0; k < t->num_axes; k++)
            at_text_addf(out, "%s%lld", k ? ", " : "", (long long)t->axes[k].extent);
        at_text_addf(out, "] : %s%s%s\n", roles[t->role], t->type ? " " : "", type_name(t->type));
    }
    for (int i = 0; i < j->tensors.len; i++) {
        const at_joined_tensor *t = &j->tensors.data[i];
        if (t->is_gone || t->role != AT_ROLE_STAGE) continue;
        at_text_addf(out, "%s[", t->name);
        print_stage(out, j, t);
    }
}

int at_join_parameters(const at_joined *j, int *out) {
    int n = 0;
    for (int i = 0; i < j->tensors.len; i++)
        if (!j->tensors.data[i].is_gone && j->tensors.data[i].role != AT_ROLE_STAGE) out[n++] = i;
    for (int i = 0; i < j->tensors.len; i++)
        if (j->tensors.data[i].is_output) out[n++] = i;
    return n;
}
