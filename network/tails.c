/* network/tails.c: what a part does behind its sum, as a stage that templates of that sum take:
 * t0 = sum(..) ..; y0[n, h, w, c] = (t0[n, h, w, c] + w1[c])*x1[n, h, w, c]  is  (x + w1[c])*x1. */
#include <string.h>

#include "network/program.h"
#include "schedule/epilogue.h"

enum { OPERANDS = 2 /* of the sum: data and weight, which are the first tensors */ };

typedef struct tail {
    at_arena *arena;
    const at_compute *c;
    int sum;           /* tensor */
    AT_VEC(int) named; /* operands in the order in which the text names them first */
    bool is_none;
} tail;

static at_expr *fail(tail *t) {
    t->is_none = true;
    return at_expr_int(t->arena, 0);
}

bool at_net_is_read_there(const at_tensor *stage, const at_expr *read, int first) {
    if (read->nargs != stage->num_axes - first) return false;
    for (int k = 0; k < read->nargs; k++) {
        const at_expr *i = read->arg[k];
        const at_expr *extent = stage->axes[first + k].extent;
        bool one = extent->op == AT_X_INT && extent->integer == 1;
        if (i->op == AT_X_NAME ? i->ref != first + k : !(one && i->op == AT_X_INT)) return false;
    }
    return true;
}

static void note(tail *t, int tensor) {
    for (int i = 0; i < t->named.len; i++)
        if (t->named.data[i] == tensor) return;
    *at_push(t->arena, &t->named) = tensor;
}

static at_expr *value_of(tail *t, const at_tensor *stage, const at_expr *e);

static at_expr *read_of(tail *t, const at_tensor *stage, const at_expr *e) {
    const at_tensor *of = &t->c->tensors[e->ref];
    const bool there = at_net_is_read_there(stage, e, 0);
    if (e->ref == t->sum) return there ? at_expr_name(t->arena, "x") : fail(t);
    if (of->role == AT_ROLE_STAGE) return there ? value_of(t, of, of->body) : fail(t);
    if (e->ref < OPERANDS) return fail(t); /* a template would have it twice, a call once */
    note(t, e->ref);
    if (of->role == AT_ROLE_INPUT && there) return at_expr_name(t->arena, of->name);
    if (of->role != AT_ROLE_WEIGHT || !at_net_is_read_there(stage, e, stage->num_axes - 1))
        return fail(t);
    return at_expr_read(t->arena, of->name, 1, (at_expr *[]){at_expr_name(t->arena, "c")});
}

static bool is_of_sum(const at_expr *e, const void *ctx) {
    const tail *t = ctx;
    const at_tensor *of = e->op == AT_X_INDEX ? &t->c->tensors[e->ref] : NULL;
    return of && (e->ref == t->sum ||
                  (of->role == AT_ROLE_STAGE && at_expr_find_value(of->body, is_of_sum, t)));
}

/* The body of a stage with x for the sum, which comes first where the order does not matter. */
static at_expr *value_of(tail *t, const at_tensor *stage, const at_expr *e) {
    if (e->op == AT_X_INDEX) return read_of(t, stage, e);
    if (e->op == AT_X_NAME) return fail(t); /* an axis as a number */
    at_expr *copy = at_copy(t->arena, e, sizeof *e);
    copy->arg = AT_NEW_ARRAY(t->arena, at_expr *, e->nargs + 1);
    bool turned =
        (e->op == AT_X_ADD || e->op == AT_X_MUL) && !at_expr_find_value(e->arg[0], is_of_sum, t);
    for (int i = 0; i < e->nargs; i++)
        copy->arg[i] = value_of(t, stage, e->arg[turned ? e->nargs - 1 - i : i]);
    return copy;
}

/* The sum of a computation with one sum and one output; -1: it is another. */
static int only_sum(const at_compute *c, int *output) {
    int sum = -1, outputs = 0;
    for (int i = 0; i < c->num_tensors; i++) {
        if (c->tensors[i].num_reduce && sum >= 0) return -1;
        if (c->tensors[i].num_reduce) sum = i;
        if (c->tensors[i].is_output) *output = i, outputs++;
    }
    return outputs == 1 ? sum : -1;
}

const char *at_net_tail(at_arena *a, const at_compute *c) {
    int output = -1;
    tail t = {.arena = a, .c = c, .sum = only_sum(c, &output)};
    const char *text;
    if (t.sum < 0) return NULL;
    if (t.sum == output) return "";
    const at_expr *e = value_of(&t, &c->tensors[output], c->tensors[output].body);
    if (t.is_none) return NULL;
    for (int i = 0; i < c->num_tensors; i++) /* a template would have them in another order */
        if (c->tensors[i].role != AT_ROLE_STAGE && i >= OPERANDS &&
            (i - OPERANDS >= t.named.len || t.named.data[i - OPERANDS] != i))
            return NULL;
    if (at_epilogue_spell(a, e, &text, NULL) != AT_OK) return NULL;
    return at_format(a, "+(%s)", text);
}
