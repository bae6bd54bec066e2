/* schedule/recurrence.c: stages that go on from step to step: running sums, and stages that read
 * themselves, at elements that come before.
 *
 *     h[t:T, c:C] = t > 0 ? a[c]*h[t - 1, c] + x[t, c] : x[0, c]
 *
 * The elements come in the order of the axes as they are written. So, of the indices of such a
 * read, the first that is not the axis itself is the axis less a number. Along that axis loops go
 * from step to step. Where the read leads elsewhere along other axes, too (h[t - 1, c + 1],
 * h[t - 1, idx[c]]), what is one step back is done before anything of the next step; where it goes
 * back along them (h[t - 1, c - 1]), that, or they go from step to step, too. */
#include "schedule/schedule_int.h"

/* ---- running sums -------------------------------------------------------------------------- */

/* The axis x of `x + 1`, or of `x`; -1: it is none. */
static int axis_of_end(const at_expr *e) {
    const at_expr *name = e;
    if (e->op == AT_X_ADD) {
        const bool is_second = e->arg[0]->op == AT_X_INT;
        const at_expr *one = e->arg[!is_second];
        if (one->op != AT_X_INT || one->integer != 1) return -1;
        name = e->arg[is_second];
    }
    return name->op == AT_X_NAME && name->ref < AT_REF_SIZE ? name->ref : -1;
}

int at_running_axis(const at_tensor *t) {
    const at_axis *sum = &t->axes[t->num_axes];
    if (t->role != AT_ROLE_STAGE || t->num_reduce != 1 || !sum->begin) return -1;
    if (sum->begin->op != AT_X_INT || sum->begin->integer) return -1;
    const int axis = axis_of_end(sum->end);
    return axis >= 0 && !at_expr_uses(t->body, axis) ? axis : -1;
}

int at_running_lag(const at_tensor *t) { return t->axes[t->num_axes].end->op == AT_X_NAME; }

/* ---- reads of itself ----------------------------------------------------------------------- */

enum { FAR = INT32_MAX }; /* at least: by an unknown number */

/* The least value of an index, which is 0 or more of every axis; -FAR: it is not known. */
static int64_t least(const at_tensor *t, const at_expr *e) {
    if (e->op == AT_X_INT && e->integer < FAR && e->integer > -FAR) return e->integer;
    if (e->op == AT_X_NAME && e->ref < axes_of(t))
        return t->axes[e->ref].begin ? least(t, t->axes[e->ref].begin) : 0;
    if (e->op != AT_X_ADD) return -FAR;
    const int64_t x = least(t, e->arg[0]), y = least(t, e->arg[1]);
    return x > -FAR && y > -FAR && x + y < FAR && x + y > -FAR ? x + y : -FAR;
}

/* By how many steps of the axis an index is at most further than it. */
static int64_t most_ahead(const at_tensor *t, const at_expr *e, int axis) {
    int64_t x, y;
    switch (e->op) {
    case AT_X_NAME:
        if (e->ref == axis) return 0;
        if (e->ref < t->num_axes || e->ref >= axes_of(t) || !t->axes[e->ref].end) return FAR;
        x = most_ahead(t, t->axes[e->ref].end, axis);
        return x < FAR ? x - 1 : FAR;
    case AT_X_ADD:
    case AT_X_SUB: {
        const bool second = e->op == AT_X_ADD && e->arg[0]->op == AT_X_INT;
        const at_expr *other = e->arg[!second];
        if (e->op == AT_X_ADD && other->op != AT_X_INT) return FAR;
        x = most_ahead(t, e->arg[second], axis), y = least(t, other);
        if (x >= FAR || y <= -FAR) return FAR;
        x = e->op == AT_X_ADD ? x + y : x - y;
        return x < FAR && x > -FAR ? x : FAR;
    }
    case AT_X_MIN:
        x = most_ahead(t, e->arg[0], axis), y = most_ahead(t, e->arg[1], axis);
        return x < y ? x : y;
    case AT_X_MAX:
        x = most_ahead(t, e->arg[0], axis), y = most_ahead(t, e->arg[1], axis);
        return x > y ? x : y;
    default: return FAR;
    }
}

/* Does a condition, or that it does not hold, say that an index is so many steps of the axis
 * further than it, at most? */
static bool says(const at_tensor *t, const at_expr *c, bool holds, const at_expr *index, int axis,
                 int64_t most) {
    if (c->op == AT_X_NOT) return says(t, c->arg[0], !holds, index, axis, most);
    if (c->op == (holds ? AT_X_AND : AT_X_OR))
        return says(t, c->arg[0], holds, index, axis, most) ||
               says(t, c->arg[1], holds, index, axis, most);
    if (c->op == (holds ? AT_X_EQ : AT_X_NE))
        return (at_expr_equal(c->arg[0], index) && most_ahead(t, c->arg[1], axis) <= most) ||
               (at_expr_equal(c->arg[1], index) && most_ahead(t, c->arg[0], axis) <= most);
    const bool less = c->op == AT_X_LT || c->op == AT_X_LE,
               more = c->op == AT_X_GT || c->op == AT_X_GE;
    if (!less && !more) return false;
    const bool or_same = (c->op == AT_X_LE || c->op == AT_X_GE) == holds;
    const at_expr *smaller = c->arg[less != holds], *larger = c->arg[less == holds];
    return at_expr_equal(smaller, index) && most_ahead(t, larger, axis) <= most + !or_same;
}

/* Does the read stand only where conditions in e say so of its index i and that axis? */
static bool is_kept(const at_tensor *t, const at_expr *e, const at_expr *read, int i,
                    int64_t most) {
    if (e == read) return false;
    for (int k = 0; k < e->nargs; k++) {
        const bool decides =
                       k > 0 && (e->op == AT_X_SELECT || e->op == AT_X_AND || e->op == AT_X_OR),
                   holds = e->op == AT_X_SELECT ? k == 1 : e->op == AT_X_AND;
        if (decides && says(t, e->arg[0], holds, read->arg[i], i, most)) continue;
        if (!is_kept(t, e->arg[k], read, i, most)) return false;
    }
    return true;
}

where index_leads(const at_tensor *t, const at_expr *read, int i) {
    const at_expr *e = read->arg[i];
    if (at_expr_is_name(e, i)) return SAME;
    if (e->op == AT_X_SUB && e->arg[1]->op == AT_X_INT && !e->arg[1]->integer &&
        at_expr_is_name(e->arg[0], i))
        return SAME;
    const int64_t ahead = most_ahead(t, e, i);
    if (ahead < 0 || is_kept(t, t->body, read, i, -1)) return BEFORE;
    return ahead == 0 || is_kept(t, t->body, read, i, 0) ? UP_TO : ELSEWHERE;
}

int recurrence_first(const at_tensor *t, const at_expr *read) {
    for (int i = 0; i < read->nargs; i++) {
        const where w = index_leads(t, read, i);
        if (w != SAME) return w == BEFORE ? i : -1;
    }
    return -1;
}

const char *recurrence_axis(const at_tensor *t, const at_expr *read) {
    for (int i = 0; i < read->nargs && i < t->num_axes; i++)
        if (index_leads(t, read, i) != SAME) return t->axes[i].name;
    return t->num_axes ? t->axes[0].name : "t";
}

typedef struct own_reads {
    const at_compute *c;
    int stage;
    at_recurrence lead;
} own_reads;

/* Takes in where a read leads. */
static at_walk look(const at_expr *e, void *ctx) {
    own_reads *x = ctx;
    const at_tensor *t = &x->c->tensors[x->stage];
    if (!at_expr_is_read(e, &x->stage)) return AT_WALK_ON;
    const int first = recurrence_first(t, e);
    x->lead.steps |= 1u << first;
    for (int i = first + 1; i < e->nargs; i++) {
        const where w = index_leads(t, e, i);
        if (w == BEFORE) x->lead.back[first] |= 1u << i;
        if (w == UP_TO || w == ELSEWHERE) x->lead.across[first] |= 1u << i;
    }
    return AT_WALK_ON;
}

at_recurrence at_recurrence_of(const at_compute *c, int stage) {
    own_reads x = {.c = c, .stage = stage};
    at_recurrence *r = &x.lead;
    const at_tensor *t = &c->tensors[stage];
    if (t->is_recurrence) at_expr_walk(t->body, look, &x);
    for (int i = 0; i < t->num_axes; i++) r->beyond |= r->back[i] | r->across[i];
    r->beyond &= ~r->steps;
    return *r;
}

uint32_t at_stage_steps(const at_compute *c, int stage) {
    const int running = at_running_axis(&c->tensors[stage]);
    return running >= 0 ? 1u << running : at_recurrence_of(c, stage).steps;
}

bool at_compute_has_recurrence(const at_compute *c) {
    bool any = c->num_cycles > 0;
    for (int t = 0; t < c->num_tensors; t++) any |= c->tensors[t].is_recurrence;
    return any;
}
