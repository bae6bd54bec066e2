/* schedule/steady.c: where integers and floats meet, and floats are rounded at each operation:
 * which stages are the same bits in every kernel. */
#include "schedule/schedule_int.h"

static bool is_unsteady(const at_expr *e, const void *unsteady) {
    return (e->op == AT_X_CALL && at_function_ulps((at_function)e->integer)) ||
           (e->op == AT_X_INDEX && ((const bool *)unsteady)[e->ref]);
}

static bool is_steady_stage(const at_tensor *t, const bool *unsteady) {
    const bool adds = t->num_reduce && !at_reduction_is_extreme(t->reduction);
    return (!adds || at_type_of(t->type)->is_int) && !at_expr_find(t->body, is_unsteady, unsteady);
}

/* [tensor] */
static bool *find_unsteady(at_arena *a, const at_compute *c) {
    bool *unsteady = AT_NEW_ARRAY(a, bool, c->num_tensors), changes = true;
    while (changes) { /* once more for cycles, whose stages read what is below */
        changes = false;
        for (int t = 0; t < c->num_tensors; t++) {
            if (c->tensors[t].role != AT_ROLE_STAGE || unsteady[t]) continue;
            unsteady[t] = !is_steady_stage(&c->tensors[t], unsteady);
            changes |= unsteady[t];
        }
    }
    return unsteady;
}

/* Integers that have to be the same bits. Of what is read at a place that may be another no limit
 * is known, and it is not compared. */
static bool is_compared(const at_tensor *t) {
    return at_type_of(t->type)->is_int && (t->is_output || !t->is_places);
}

static int first_unsteady(const at_compute *c, bool of_integers) {
    at_arena *a = at_arena_new();
    const bool *unsteady = find_unsteady(a, c);
    int found = -1;
    for (int t = c->num_tensors; t-- > 0;)
        if (unsteady[t] && (!of_integers || is_compared(&c->tensors[t]))) found = t;
    at_arena_free(a);
    return found;
}

bool at_compute_is_steady(const at_compute *c) { return first_unsteady(c, false) < 0; }

int at_compute_unsteady_integers(const at_compute *c) { return first_unsteady(c, true); }
