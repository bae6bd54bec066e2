/* cost/estimate_through.c: how reads move that go through stages which are computed where they are
 * read. */
#include "cost/estimate_access_int.h"

#include <string.h>

static est_chain chain_of(const at_program *p, const est_stage *stages, const at_expr *read) {
    est_chain c = {{read}, 1};
    while (c.num < MAX_CHAIN && p->dissolved[c.read[c.num - 1]->ref]) {
        const at_expr *e = stages[c.read[c.num - 1]->ref].passed_on;
        if (!e) break;
        c.read[c.num++] = e;
    }
    return c;
}

est_chain est_chain_to(const at_estimator *e, const at_program *p, const est_leaf *x, int read) {
    const est_stage *s = &e->stages[x->node->tensor];
    return read < 0 ? (est_chain){{NULL}, 1} : chain_of(p, e->stages, s->read[read]);
}

/* Where the last of the chain reads, at these values of the leaf's axes. */
static void index_of(const at_program *p, const est_chain *c, const int64_t *axis, int64_t *out) {
    int64_t at[2][32]; /* as many as the stage has axes */
    const int last = c->num - 1, dims = c->read[last]->nargs;
    for (int i = 0; i <= last; i++) {
        const at_expr *e = c->read[i];
        int64_t *to = at[i & 1];
        for (int d = 0; d < e->nargs && d < 32; d++)
            to[d] = at_program_index(p, e->arg[d], i ? at[(i - 1) & 1] : axis);
    }
    for (int d = 0; d < MAX_DIMS; d++) out[d] = d < dims ? at[last & 1][d] : 0;
}

/* How far the access has moved at that turn of a loop. */
static int64_t moved(const at_program *p, const est_chain *c, const est_loop *l, int64_t turn,
                     const int64_t *origin, const int64_t *stride, int dims, int64_t *by) {
    int64_t axis[32] = {0}, sum = 0;
    axis[l->axis] = l->coef * turn;
    index_of(p, c, axis, by);
    for (int d = 0; d < dims; d++) {
        by[d] -= origin[d];
        sum += by[d] * stride[d];
    }
    return sum;
}

/* How far each index comes in the turns of a loop, from there on. */
static void reach_of(const at_program *p, const est_chain *c, const est_loop *l,
                     const int64_t *from, int dims, double *out) {
    enum { LOOKED_AT = 16 }; /* turns, and the last one */
    int64_t axis[32], at[MAX_DIMS], least[MAX_DIMS], most[MAX_DIMS];
    const int64_t turns = (int64_t)l->turns;
    memcpy(axis, from, sizeof axis);
    for (int64_t i = 0; i < turns; i = i + 1 < LOOKED_AT || i + 1 == turns ? i + 1 : turns - 1) {
        axis[l->axis] = from[l->axis] + l->coef * i;
        index_of(p, c, axis, at);
        for (int d = 0; d < dims; d++) {
            if (i == 0 || at[d] < least[d]) least[d] = at[d];
            if (i == 0 || at[d] > most[d]) most[d] = at[d];
        }
    }
    for (int d = 0; d < dims; d++) out[d] = (double)(most[d] - least[d]);
}

/* Does a loop go through its turns in another way where one around it is at a later turn? So it is
 * where blocks of one size are read as blocks of another. reach: how far it comes in the mean. */
static bool is_shifted(const at_program *p, const est_chain *c, const est_loop *l,
                       const est_loop *m, const int64_t *stride, int dims, double *reach) {
    enum { LOOKED_AT = 16 }; /* turns */
    const int64_t turns = m->turns < LOOKED_AT ? (int64_t)m->turns : LOOKED_AT;
    int64_t first[MAX_DIMS], last[MAX_DIMS], own = 0;
    bool shifted = false;
    for (int64_t turn = 0; turn < turns && !shifted; turn++) {
        int64_t axis[32] = {0}, sum = 0;
        axis[m->axis] = m->coef * turn;
        index_of(p, c, axis, first);
        axis[l->axis] += l->coef * ((int64_t)l->turns - 1);
        index_of(p, c, axis, last);
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

static bool same_loop(const est_shift *s, int i, const est_loop *l) {
    return s->axis[i] == l->axis && s->coef[i] == l->coef && s->turns[i] == (int64_t)l->turns;
}

/* The same, as worked out before. w: read, num, sizes and stride. */
static const est_shift *shift_by(at_estimator *e, const at_program *p, const est_chain *c,
                                 const est_way *w, int num_sizes, const est_loop *l,
                                 const est_loop *m, int dims) {
    const est_loop *loops[] = {l, m};
    uint64_t hash = w->hash;
    for (int i = 0; i < 2; i++) {
        hash ^= (uint64_t)loops[i]->axis << 56 ^ (uint64_t)loops[i]->coef << 24;
        hash = est_mixed(hash, (uint64_t)loops[i]->turns);
    }
    est_shift *s = &e->shifts[hash >> 32 & (SHIFTS - 1)];
    bool same = num_sizes >= 0 && s->read == w->read && s->num == w->num && same_loop(s, 0, l) &&
                same_loop(s, 1, m);
    for (int i = 0; i < num_sizes && same; i++) same = s->sizes[i] == w->sizes[i];
    for (int d = 0; d < dims && same; d++) same = s->stride[d] == w->stride[d];
    if (same) return s;
    *s = (est_shift){.read = w->read, .num = w->num};
    s->is_shifted = is_shifted(p, c, l, m, w->stride, dims, s->reach);
    for (int i = 0; i < 2; i++) {
        s->axis[i] = loops[i]->axis;
        s->coef[i] = loops[i]->coef;
        s->turns[i] = (int64_t)loops[i]->turns;
    }
    memcpy(s->sizes, w->sizes, sizeof s->sizes);
    memcpy(s->stride, w->stride, sizeof s->stride);
    return s;
}

static void set_reach(est_access *a, int loop, const double *reach) {
    for (int d = 0; d < a->num_dims; d++) {
        a->reach[loop][d] = reach[d];
        if (reach[d] > 0) a->moved[loop] |= (uint8_t)(1u << d);
    }
}

/* Of the vectors. moves: bits, for each loop. key: as shift_by's w. */
static void find_shifted(at_estimator *e, const at_program *p, const est_chain *c, est_leaf *x,
                         const uint32_t *moves, const est_way *key, int num_sizes, est_access *a) {
    for (int i = 0; i < x->num_loops; i++) {
        est_loop *l = &x->loop[i];
        if (l->ann != AT_ANN_VEC || l->axis < 0) continue;
        l->is_shifted |= (int64_t)l->turns % l->run != 0;
        for (int k = 0; k < i; k++) {
            if (!(moves[k] & moves[i])) continue;
            const est_shift *s = shift_by(e, p, c, key, num_sizes, l, &x->loop[k], a->num_dims);
            if (!s->is_shifted) continue;
            l->is_shifted = true;
            set_reach(a, i, s->reach);
            break;
        }
    }
}

static void find_way(const at_program *p, const est_chain *c, const est_loop *l,
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
static est_way *way_of(at_estimator *e, const at_program *p, const est_chain *c, const est_loop *l,
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
static int64_t run_of(const at_program *p, const est_chain *c, const est_loop *l,
                      const int64_t *origin, int dims, est_way *w) {
    int64_t by[MAX_DIMS], k = 2;
    if (w->run) return w->run;
    while (k < w->turns && moved(p, c, l, k, origin, w->stride, dims, by) == k * w->step) k++;
    return w->run = k;
}

void est_steps_through(at_estimator *e, const at_program *p, est_leaf *x, const est_stage *s,
                       int read, const est_chain *c, est_access *a) {
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
    index_of(p, c, axis, origin);
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
    find_shifted(e, p, c, x, moves, &key, num_sizes, a);
}
