/* cost/estimate_access.c: how the accesses of a leaf move in its loops. Indices are evaluated at
 * the first, second and last turn of a loop instead of being simplified. */
#include "cost/estimate_access_int.h"

#include <math.h>
#include <string.h>

/* How far an index that divides goes in a loop: as in a straight line where it does so in the first
 * turns; else it comes back, and is where these and the last one are. */
static double reach_of_digit(const at_program *p, const at_expr *at, const est_loop *l, int64_t one,
                             int64_t origin, int64_t *axis) {
    enum { LOOKED_AT = 10 }; /* turns */
    int64_t last = (int64_t)l->turns - 1, reach = 0;
    bool straight = true;
    for (int64_t i = 1; i <= last; i = i + 1 < LOOKED_AT || i == last ? i + 1 : last) {
        axis[l->axis] = l->coef * i;
        int64_t now = at_program_index(p, at, axis) - origin;
        straight &= now == one * i || i == last;
        if (now < 0) now = -now;
        if (now > reach) reach = now;
    }
    double line = (double)(one < 0 ? -one : one) * (l->turns - 1);
    return straight ? est_max(line, (double)reach) : (double)reach;
}

/* From one turn to the next, in most of them: an index that wraps around may do so in the first. */
static int64_t usual_step(const at_program *p, const at_expr *at, const est_loop *l,
                          int64_t first_step, int64_t *axis) {
    int64_t index[3];
    if (l->turns < 4) return first_step;
    for (int i = 0; i < 3; i++) {
        axis[l->axis] = l->coef * (i + 1);
        index[i] = at_program_index(p, at, axis);
    }
    return index[2] - index[1] == index[1] - index[0] ? index[1] - index[0] : first_step;
}

static est_move find_move(const at_program *p, const at_expr *at, const est_loop *l, bool divides) {
    int64_t axis[32] = {0}, origin = at_program_index(p, at, axis);
    axis[l->axis] = l->coef;
    est_move m = {.index = at,
                  .axis = l->axis,
                  .coef = l->coef,
                  .turns = (int64_t)l->turns,
                  .origin = origin};
    m.one = at_program_index(p, at, axis) - origin;
    if (divides) m.one = usual_step(p, at, l, m.one, axis);
    m.reach = (double)(m.one < 0 ? -m.one : m.one) * (l->turns - 1);
    if (divides) m.reach = reach_of_digit(p, at, l, m.one, origin, axis);
    return m;
}

/* Points of one space ask the same again and again. */
static est_move move_of(at_estimator *e, const at_program *p, const est_stage *s, int read, int d,
                        const est_loop *l) {
    const at_expr *at = s->read[read]->arg[d];
    const int n = s->num_sizes[read][d];
    if (n < 0 || l->turns != floor(l->turns)) return find_move(p, at, l, s->divides[read][d]);
    uint64_t hash = est_mixed((uint64_t)(uintptr_t)at ^ (uint64_t)l->axis << 56, (uint64_t)l->coef);
    for (int i = 0; i < n; i++)
        hash = est_mixed(hash ^ hash >> 32, (uint64_t)p->values[s->sizes[read][d][i]]);
    hash = est_mixed(hash ^ hash >> 32, (uint64_t)l->turns);
    est_move *m = &e->moves[hash >> 32 & (MOVES - 1)];
    bool same =
        m->index == at && m->axis == l->axis && m->coef == l->coef && m->turns == (int64_t)l->turns;
    for (int i = 0; i < n && same; i++) same = m->sizes[i] == p->values[s->sizes[read][d][i]];
    if (same) return *m;
    *m = find_move(p, at, l, s->divides[read][d]);
    for (int i = 0; i < n; i++) m->sizes[i] = p->values[s->sizes[read][d][i]];
    return *m;
}

/* What an index that divides by nothing multiplies each axis by. */
static const est_straight *straight_of(const at_program *p, const est_stage *s, int read, int d) {
    est_straight *m = &s->straight[read][d];
    const int n = s->num_sizes[read][d], *size = s->sizes[read][d];
    bool same = m->is_known;
    for (int i = 0; i < n && same; i++) same = m->sizes[i] == p->values[size[i]];
    if (same) return m;
    const at_expr *at = s->read[read]->arg[d];
    int64_t axis[32] = {0};
    m->is_known = true;
    m->origin = at_program_index(p, at, axis);
    for (int i = 0; i < n; i++) m->sizes[i] = p->values[size[i]];
    for (int i = 0; i < 32; i++) {
        if (!(s->moved_by[read][i] >> d & 1)) continue;
        axis[i] = 1;
        m->one[i] = at_program_index(p, at, axis) - m->origin;
        axis[i] = 0;
    }
    return m;
}

/* How an index moves in a loop. */
static est_move move_in(at_estimator *e, const at_program *p, const est_stage *s, int read, int d,
                        const est_loop *l) {
    est_move m = {.one = l->coef};
    if (read >= 0 && s->straight[read] && s->straight[read][d].one) {
        const est_straight *one = straight_of(p, s, read, d);
        if (__builtin_mul_overflow(one->one[l->axis], l->coef, &m.one)) m.one = 0;
        m.origin = one->origin;
    } else if (read >= 0 && s->read[read]->arg[d]->op != AT_X_NAME)
        return move_of(e, p, s, read, d, l);
    m.reach = (double)(m.one < 0 ? -m.one : m.one) * (l->turns - 1);
    return m;
}

static void set_steps(at_estimator *est, const at_program *p, const est_leaf *x, const est_stage *s,
                      int read, est_access *a) {
    const est_buffer *b = a->buffer;
    for (int i = 0; i < x->num_loops; i++) {
        const est_loop *l = &x->loop[i];
        a->moved[i] = 0;
        a->step[i] = 0;
        memset(a->reach[i], 0, sizeof a->reach[i]);
        if (l->axis < 0 || l->node->depth <= b->scope) continue;
        unsigned moved = read >= 0 ? s->moved_by[read][l->axis & 31] : 1u << l->axis;
        for (moved &= (1u << a->num_dims) - 1; moved; moved &= moved - 1) {
            const int d = __builtin_ctz(moved);
            if (read >= 0 && s->listed[read][d] && l->node->extent < 0) {
                double far = 16 * l->turns; /* anywhere, a line each time */
                a->reach[i][d] = far < b->limit[d] ? far : b->limit[d] - 1;
                a->step[i] += 16 * b->stride[d];
            } else {
                est_move m = move_in(est, p, s, read, d, l);
                a->step[i] += m.one * b->stride[d];
                a->reach[i][d] = m.reach;
                a->origin[d] = (double)m.origin;
                if (m.one < 0 || (read >= 0 && s->divides[read][d])) a->turned |= 1u << d;
            }
            if (a->reach[i][d] > 0) a->moved[i] |= (uint8_t)(1u << d);
        }
    }
}

bool est_tensors(at_estimator *e, const at_program *p, est_leaf *x) {
    const est_stage *s = &e->stages[x->node->tensor];
    x->num_accesses = 0;
    for (int r = -1; r < s->num_reads; r++) {
        est_chain c = est_chain_to(e, p, x, r);
        int tensor = r < 0 ? x->node->tensor : c.read[c.num - 1]->ref;
        if (p->compute->tensors[tensor].role == AT_ROLE_INDEX) continue;
        /* Reads of lists are no accesses, but have their places in the stage's tables. */
        if (x->num_accesses == MAX_READS || r >= MAX_READS) return false;
        est_access *a = &x->access[x->num_accesses++];
        a->tensor = tensor;
        a->written = r < 0;
        a->read = r;
        a->is_through = c.num > 1;
        a->buffer = &e->buffer[tensor];
        if (!a->buffer->is_known) return false;
        a->num_dims = a->buffer->num_dims;
    }
    return true;
}

void est_accesses(at_estimator *e, const at_program *p, est_leaf *x) {
    const est_stage *s = &e->stages[x->node->tensor];
    for (est_access *a = x->access; a < x->access + x->num_accesses; a++) {
        a->turned = 0;
        for (int d = 0; d < a->num_dims; d++) a->origin[d] = 0;
        if (!a->is_through) {
            set_steps(e, p, x, s, a->read, a);
            continue;
        }
        est_chain c = est_chain_to(e, p, x, a->read);
        est_steps_through(e, p, x, s, a->read, &c, a);
    }
}
