/* cost/estimate_access.c: how the accesses of a leaf move in its loops, also where it reads a
 * tensor through stages that are computed there. Indices are evaluated at the first, second and
 * last turn of a loop instead of being simplified. */
#include <math.h>
#include <string.h>

#include "cost/estimate_tile_int.h"

/* ---- through stages -------------------------------------------------------------------------- */

static at_chain chain_of(const at_program *p, const est_stage *stages, const at_expr *read) {
    at_chain c = {{read}, 1};
    while (c.num < AT_MOST_CHAIN && p->dissolved[c.read[c.num - 1]->ref]) {
        const at_expr *e = stages[c.read[c.num - 1]->ref].passed_on;
        if (!e) break;
        c.read[c.num++] = e;
    }
    return c;
}

static at_chain chain_to(const at_estimator *e, const at_program *p, const est_leaf *x, int read) {
    const est_stage *s = &e->stages[x->node->tensor];
    return read < 0 ? (at_chain){{NULL}, 1} : chain_of(p, e->stages, s->read[read]);
}

/* The axes of a stage that move a read of another along some of the other's axes. */
static uint32_t axes_that_move(const est_stage *s, int read, uint32_t of) {
    uint32_t axes = 0;
    for (int axis = 0; axis < 32; axis++)
        if (read >= MAX_READS || s->moved_by[read][axis] & of) axes |= 1u << axis;
    return axes;
}

const est_works *est_worked_out(at_estimator *e, const at_program *p, int tensor) {
    est_stage *s = &e->stages[tensor];
    if (s->through_in == p->dissolved) return &s->through;
    s->through_in = p->dissolved;
    s->through = s->own;
    s->bounded_through = s->bounded;
    for (int r = 0; r < s->num_reads; r++) {
        const int read = s->read[r]->ref;
        if (!p->dissolved[read]) continue;
        const est_works *more = est_worked_out(e, p, read);
        for (int i = 0; i < more->num; i++)
            est_works_add(&s->through, axes_that_move(s, r, more->of[i].axes), more->of[i].time);
        s->bounded_through |= axes_that_move(s, r, e->stages[read].bounded_through);
    }
    return &s->through;
}

uint32_t est_bounded(at_estimator *e, const at_program *p, int tensor) {
    est_worked_out(e, p, tensor);
    return e->stages[tensor].bounded_through;
}

double est_turns_alike(const est_leaf *x, int root, bool sums, uint32_t axes, int lanes) {
    double n = 1;
    for (const est_loop *l = x->loop + root; l < x->loop + x->num_loops; l++)
        if (l->sums == sums && !l->is_dot && (l->axis < 0 || !(axes >> l->axis & 1)))
            n *= l->ann == AT_ANN_VEC ? ceil(l->turns / lanes) : l->turns;
    return n;
}

/* How far the access has moved at that turn of a loop. */
static int64_t moved(const at_program *p, const at_chain *c, const est_loop *l, int64_t turn,
                     const int64_t *origin, const int64_t *stride, int dims, int64_t *by) {
    int64_t axis[32] = {0};
    axis[l->axis] = l->coef * turn;
    return at_chain_moved(p, c, axis, origin, stride, dims, by);
}

/* How far each index comes in the turns of a loop, from there on. */
static void reach_of(const at_program *p, const at_chain *c, const est_loop *l, const int64_t *from,
                     int dims, double *out) {
    enum { LOOKED_AT = 16 }; /* turns, and the last one */
    int64_t axis[32], at[MAX_DIMS], least[MAX_DIMS], most[MAX_DIMS];
    const int64_t turns = (int64_t)l->turns;
    memcpy(axis, from, sizeof axis);
    for (int64_t i = 0; i < turns; i = i + 1 < LOOKED_AT || i + 1 == turns ? i + 1 : turns - 1) {
        axis[l->axis] = from[l->axis] + l->coef * i;
        at_chain_index(p, c, axis, dims, at);
        for (int d = 0; d < dims; d++) {
            if (i == 0 || at[d] < least[d]) least[d] = at[d];
            if (i == 0 || at[d] > most[d]) most[d] = at[d];
        }
    }
    for (int d = 0; d < dims; d++) out[d] = (double)(most[d] - least[d]);
}

/* Does a loop go through its turns in another way where one around it is at a later turn? So it is
 * where blocks of one size are read as blocks of another. reach: how far it comes in the mean. */
static bool is_shifted(const at_program *p, const at_chain *c, const est_loop *l, const est_loop *m,
                       const int64_t *stride, int dims, double *reach) {
    enum { LOOKED_AT = 16 }; /* turns */
    const int64_t turns = m->turns < LOOKED_AT ? (int64_t)m->turns : LOOKED_AT;
    int64_t first[MAX_DIMS], last[MAX_DIMS], own = 0;
    bool shifted = false;
    for (int64_t turn = 0; turn < turns && !shifted; turn++) {
        int64_t axis[32] = {0}, sum = 0;
        axis[m->axis] = m->coef * turn;
        at_chain_index(p, c, axis, dims, first);
        axis[l->axis] += l->coef * ((int64_t)l->turns - 1);
        at_chain_index(p, c, axis, dims, last);
        for (int d = 0; d < dims; d++) sum += (last[d] - first[d]) * stride[d];
        if (turn == 0) own = sum;
        shifted = sum != own;
    }
    for (int d = 0; d < dims; d++) reach[d] = 0;
    for (int64_t turn = 0; turn < turns && shifted; turn++) {
        int64_t axis[32] = {0};
        double here[MAX_DIMS];
        axis[m->axis] = m->coef * turn;
        reach_of(p, c, l, axis, dims, here);
        for (int d = 0; d < dims; d++) reach[d] += here[d] / (double)turns;
    }
    return shifted;
}

static void set_reach(est_access *a, int loop, const double *reach) {
    for (int d = 0; d < a->num_dims; d++) {
        a->reach[loop][d] = reach[d];
        if (reach[d] > 0) a->moved[loop] |= (uint16_t)(1u << d);
    }
}

/* Of the vectors. moves: bits, for each loop. */
static void find_shifted(const at_program *p, const at_chain *c, est_leaf *x, const uint32_t *moves,
                         est_access *a) {
    double reach[MAX_DIMS];
    for (int i = 0; i < x->num_loops; i++) {
        est_loop *l = &x->loop[i];
        if (l->ann != AT_ANN_VEC || l->axis < 0) continue;
        l->is_shifted |= (int64_t)l->turns % l->run != 0;
        for (int k = 0; k < i; k++) {
            if (!(moves[k] & moves[i]) ||
                !is_shifted(p, c, l, &x->loop[k], a->buffer->stride, a->num_dims, reach))
                continue;
            l->is_shifted = true;
            set_reach(a, i, reach);
            break;
        }
    }
}

static void find_way(const at_program *p, const at_chain *c, const est_loop *l,
                     const int64_t *origin, int dims, est_way *out) {
    int64_t by[MAX_DIMS], turns = (int64_t)l->turns;
    out->step = moved(p, c, l, 1, origin, out->stride, dims, by);
    out->moves = 0;
    for (int d = 0; d < dims; d++) out->moves |= by[d] ? 1u << d : 0;
    out->straight =
        moved(p, c, l, turns - 1, origin, out->stride, dims, by) == out->step * (turns - 1);
    out->turned = 0;
    for (int d = 0; d < dims; d++) {
        out->reach[d] = (double)(by[d] < 0 ? -by[d] : by[d]);
        if (by[d] < 0) out->turned |= 1u << d;
    }
    if (!out->straight) reach_of(p, c, l, (const int64_t[32]){0}, dims, out->reach);
    out->run = out->straight ? turns : 0;
}

/* What points of one space ask again and again: how the chain moves in a loop. key: read, num,
 * sizes and stride, as far as they count. */
static est_way *way_of(at_estimator *e, const at_program *p, const at_chain *c, const est_loop *l,
                       est_way *key, int num_sizes, const int64_t *origin, int dims) {
    key->axis = l->axis;
    key->coef = l->coef;
    key->turns = (int64_t)l->turns;
    uint64_t hash = est_mixed(key->hash ^ (uint64_t)l->axis << 56, (uint64_t)l->coef);
    hash = est_mixed(hash ^ hash >> 32, (uint64_t)key->turns);
    est_way *w = &e->ways[hash >> 32 & (WAYS - 1)];
    bool same = num_sizes >= 0 && w->read == key->read && w->num == key->num &&
                w->axis == key->axis && w->coef == key->coef && w->turns == key->turns;
    for (int i = 0; i < num_sizes && same; i++) same = w->sizes[i] == key->sizes[i];
    for (int d = 0; d < dims && same; d++) same = w->stride[d] == key->stride[d];
    if (same) return w;
    *w = *key;
    find_way(p, c, l, origin, dims, w);
    return w;
}

/* Turns of a vector, or of rows of registers, that go on in the same steps. */
static int64_t run_of(const at_program *p, const at_chain *c, const est_loop *l,
                      const int64_t *origin, int dims, est_way *w) {
    int64_t by[MAX_DIMS], k = 2;
    if (w->run) return w->run;
    while (k < w->turns && moved(p, c, l, k, origin, w->stride, dims, by) == k * w->step) k++;
    return w->run = k;
}

static void steps_through(at_estimator *e, const at_program *p, est_leaf *x, const est_stage *s,
                          int read, const at_chain *c, est_access *a) {
    const est_buffer *b = a->buffer;
    const int num_sizes = s->num_sizes_through[read];
    int64_t axis[32] = {0}, origin[MAX_DIMS];
    uint32_t moves[MAX_LOOPS] = {0}; /* dimensions */
    est_way key = {.read = c->read[0], .num = c->num};
    memcpy(key.stride, b->stride, sizeof *b->stride * (size_t)a->num_dims);
    for (int i = 0; i < num_sizes; i++) key.sizes[i] = p->values[s->sizes_through[read][i]];
    key.hash = (uint64_t)(uintptr_t)key.read;
    for (int i = 0; i < num_sizes; i++)
        key.hash = est_mixed(key.hash ^ key.hash >> 32, (uint64_t)key.sizes[i]);
    for (int d = 0; d < a->num_dims; d++)
        key.hash = est_mixed(key.hash ^ key.hash >> 32, (uint64_t)key.stride[d]);
    at_chain_index(p, c, axis, a->num_dims, origin);
    for (int d = 0; d < a->num_dims; d++) a->origin[d] = (double)origin[d];
    for (int i = 0; i < x->num_loops; i++) {
        est_loop *l = &x->loop[i];
        a->moved[i] = 0;
        a->step[i] = 0;
        memset(a->reach[i], 0, sizeof a->reach[i]);
        if (l->axis < 0 || l->node->depth <= b->scope) continue;
        est_way *w = way_of(e, p, c, l, &key, num_sizes, origin, a->num_dims);
        a->step[i] = w->step;
        a->turned |= w->straight ? w->turned : w->moves;
        moves[i] = w->moves;
        set_reach(a, i, w->reach);
        bool registers = l->ann == AT_ANN_VEC || (l->ann == AT_ANN_UNROLL && !l->sums);
        if (!registers || w->straight) continue;
        int64_t run = run_of(p, c, l, origin, a->num_dims, w);
        if (run < l->run) l->run = run;
    }
    find_shifted(p, c, x, moves, a);
}

/* ---- accesses -------------------------------------------------------------------------------- */

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

/* How an index moves in a loop. */
static est_move move_in(at_estimator *e, const at_program *p, const est_stage *s, int read, int d,
                        const est_loop *l) {
    est_move m = {.one = l->coef};
    if (read >= 0 && s->read[read]->arg[d]->op != AT_X_NAME) return move_of(e, p, s, read, d, l);
    m.reach = (double)(m.one < 0 ? -m.one : m.one) * (l->turns - 1);
    return m;
}

/* Is the index a quotient whose bound decides somewhere along the loop, as max((v - 1)/2, 0) does?
 * Its lanes are found one by one. */
static bool is_single(const at_program *p, const est_leaf *x, const est_stage *s, int read, int d,
                      const est_loop *l, const est_move *m) {
    const at_expr *free = s->read[read]->arg[d], *bounded = s->written[read]->arg[d];
    int64_t first[32] = {0}, last[32] = {0};
    if (free == bounded || !s->divides[read][d]) return false;
    if (m->reach == (double)(m->one < 0 ? -m->one : m->one) * (l->turns - 1)) return false;
    last[l->axis] = p->extents[x->node->tensor][l->axis] - 1;
    return at_program_index(p, free, first) != at_program_index(p, bounded, first) ||
           at_program_index(p, free, last) != at_program_index(p, bounded, last);
}

/* The dimension of whose index a remainder is that of the same by the same; -1: there is none. */
static int quotient_of(const at_expr *read, const at_expr *rest) {
    for (int d = 0; d < read->nargs; d++)
        if (read->arg[d]->op == AT_X_DIV && at_expr_equal(read->arg[d]->arg[0], rest->arg[0]) &&
            at_expr_equal(read->arg[d]->arg[1], rest->arg[1]))
            return d;
    return -1;
}

/* Is the index the phase of an element, as of a transposed convolution's sums, which lies elsewhere
 * for each, while the loop's turns are no whole rounds of phases? They are taken one by one. */
static bool is_uneven_phase(const at_program *p, const est_stage *s, int read, int d,
                            const est_loop *l, const est_buffer *b) {
    const at_expr *rest = s->read[read]->arg[d];
    const int64_t reach = l->coef * (int64_t)l->turns, axis[32] = {0};
    if (rest->op != AT_X_MOD) return false;
    const int quotient = quotient_of(s->read[read], rest);
    const int64_t phases = at_program_index(p, rest->arg[1], axis);
    return quotient >= 0 && phases > 1 && reach > phases && reach % phases &&
           b->stride[quotient] != phases * b->stride[d];
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
                if (read >= 0 &&
                    (is_single(p, x, s, read, d, l, &m) || is_uneven_phase(p, s, read, d, l, b)))
                    a->single |= 1u << i;
                if (m.one < 0 || (read >= 0 && s->divides[read][d])) a->turned |= 1u << d;
            }
            if (a->reach[i][d] > 0) a->moved[i] |= (uint16_t)(1u << d);
        }
    }
}

bool est_tensors(at_estimator *e, const at_program *p, est_leaf *x) {
    const est_stage *s = &e->stages[x->node->tensor];
    x->num_accesses = 0;
    for (int r = -1; r < s->num_reads; r++) {
        at_chain c = chain_to(e, p, x, r);
        int tensor = r < 0 ? x->node->tensor : c.read[c.num - 1]->ref;
        if (r >= 0 && at_tensor_has_entries(&p->compute->tensors[tensor])) continue;
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
        a->turned = a->single = 0;
        for (int d = 0; d < a->num_dims; d++) a->origin[d] = 0;
        if (!a->is_through) {
            set_steps(e, p, x, s, a->read, a);
            continue;
        }
        at_chain c = chain_to(e, p, x, a->read);
        steps_through(e, p, x, s, a->read, &c, a);
    }
}
