/* cost/estimate_leaf.c: the leaves of a built tree in numbers. Indices are evaluated at the first,
 * second and last turn of a loop instead of being simplified. */
#include "cost/estimate_int.h"

#include <math.h>
#include <string.h>

/* ---- what no configuration changes ----------------------------------------------------------- */

static bool is_listed(const at_expr *e) {
    if (e->op == AT_X_INDEX) return true;
    for (int i = 0; i < e->nargs; i++)
        if (is_listed(e->arg[i])) return true;
    return false;
}

/* Does an index of the read depend on what an index tensor holds? */
static bool is_listed_inside(const at_expr *e) {
    for (int i = 0; i < e->nargs; i++)
        if (is_listed(e->arg[i])) return true;
    return false;
}

static void find_sizes(const at_expr *e, int *sizes, int *num) {
    for (int i = 0; i < e->nargs; i++) find_sizes(e->arg[i], sizes, num);
    if (e->op != AT_X_NAME || e->ref < AT_REF_SIZE || *num < 0) return;
    int slot = e->ref - AT_REF_SIZE;
    for (int i = 0; i < *num; i++)
        if (sizes[i] == slot) return;
    if (*num == MAX_SIZES) *num = -1;
    else sizes[(*num)++] = slot;
}

static void look_at_index(const at_expr *e, uint32_t *axes, bool *divides) {
    if (e->op == AT_X_NAME && e->ref < AT_REF_SIZE && e->ref < 32) *axes |= 1u << e->ref;
    if (e->op == AT_X_DIV || e->op == AT_X_MOD || e->op == AT_X_SELECT || e->op == AT_X_MIN ||
        e->op == AT_X_MAX)
        *divides = true;
    for (int i = 0; i < e->nargs; i++) look_at_index(e->arg[i], axes, divides);
}

enum { FUNCTION_OPERATIONS = 20 }; /* of an element, about */

/* Operations on floats; is the expression a float itself? */
static bool count(const at_compute *c, const at_expr *e, double *n) {
    bool is_float = e->op == AT_X_FLOAT || e->op == AT_X_CALL ||
                    (e->op == AT_X_INDEX && !c->tensors[e->ref].is_int);
    if (e->op == AT_X_INDEX) return is_float;
    for (int i = e->op == AT_X_SELECT; i < e->nargs; i++) is_float |= count(c, e->arg[i], n);
    if (is_float && e->op != AT_X_FLOAT && e->op != AT_X_SELECT)
        *n += e->op == AT_X_CALL ? FUNCTION_OPERATIONS : 1;
    return is_float;
}

static bool has_select(const at_expr *e) {
    if (e->op == AT_X_SELECT) return true;
    for (int i = 0; i < e->nargs; i++)
        if (has_select(e->arg[i])) return true;
    return false;
}

void est_stage_init(const at_compute *c, int tensor, est_stage *stages) {
    const at_tensor *t = &c->tensors[tensor];
    est_stage *out = &stages[tensor];
    *out = (est_stage){.share = -1};
    if (t->role != AT_ROLE_STAGE) return;
    out->read = at_compute_reads(c, tensor, &out->num_reads);
    count(c, t->body, &out->operations);
    out->is_conditional = has_select(t->body);
    for (int r = 0; r < out->num_reads; r++)
        out->is_conditional |= stages[out->read[r]->ref].is_conditional;
    for (int r = 0; r < out->num_reads && r < MAX_READS; r++)
        for (int d = 0; d < out->read[r]->nargs && d < MAX_DIMS; d++) {
            look_at_index(out->read[r]->arg[d], &out->axes[r][d], &out->divides[r][d]);
            out->listed[r][d] = is_listed(out->read[r]->arg[d]);
            find_sizes(out->read[r]->arg[d], out->sizes[r][d], &out->num_sizes[r][d]);
        }
}

/* ---- loops ----------------------------------------------------------------------------------- */

static bool set_loops(const at_program *p, const at_node *leaf, double mean_dynamic, est_leaf *x) {
    int n = 0;
    for (const at_node *l = leaf->parent; l; l = l->parent)
        for (int m = l->num_pieces - 1; m >= 0; m--) {
            if (l->piece_extent[m] == 1) continue;
            if (n == MAX_LOOPS) return false;
            x->loop[n++] = (est_loop){
                .node = l,
                .name = l->piece[m],
                .ann = l->ann == AT_ANN_VEC && m < l->num_pieces - 1 ? AT_ANN_UNROLL : l->ann,
                .axis = -1,
                .is_dynamic = l->piece_extent[m] < 0,
                .turns = l->piece_extent[m] < 0 ? mean_dynamic : (double)l->piece_extent[m]};
        }
    for (int i = 0, k = n - 1; i < k; i++, k--) {
        est_loop t = x->loop[i];
        x->loop[i] = x->loop[k];
        x->loop[k] = t;
    }
    x->num_loops = n;
    for (int i = 0; i < n; i++) x->loop[i].run = (int64_t)x->loop[i].turns;
    for (int a = 0; a < leaf->num_axes; a++) {
        const at_digits *d = &leaf->axes[a];
        int64_t inner = 1;
        for (int i = d->n - 1; i >= 0; i--) {
            const at_node *l = d->loop[i];
            int name = l->piece[d->member[i]];
            for (int k = 0; k < n && d->extent[i] != 1; k++)
                if (x->loop[k].node == l && x->loop[k].name == name) {
                    x->loop[k].axis = a;
                    x->loop[k].coef = inner;
                    x->loop[k].extent = (double)p->extents[leaf->tensor][a];
                    x->loop[k].sums = a >= x->stage->num_axes;
                }
            inner *= d->extent[i] > 0 ? d->extent[i] : 1;
        }
    }
    return true;
}

int est_common(const est_leaf *x, const est_leaf *y) {
    int n = 0;
    while (n < x->num_loops && n < y->num_loops && x->loop[n].node == y->loop[n].node &&
           x->loop[n].name == y->loop[n].name)
        n++;
    return n;
}

/* ---- accesses -------------------------------------------------------------------------------- */

/* Depth of the loop that a tensor's buffer lives in, -1: none. Of what is not a buffer: -1. */
static int find_scope(const at_estimator *e, int tensor) {
    const est_stage *stages = e->stages;
    const est_leaf *leaf = e->leaf;
    int owner = e->owner[tensor], depth;
    if (owner < 0 || leaf[owner].stage->is_output || leaf[owner].stage->is_packing) return -1;
    depth = leaf[owner].num_loops;
    for (int i = 0; i < e->num_leaves; i++) {
        const est_stage *s = &stages[leaf[i].node->tensor];
        bool reads = false;
        if (i == owner) continue;
        for (int r = 0; r < s->num_reads; r++) {
            const est_stage *through = &stages[s->read[r]->ref];
            reads |= s->read[r]->ref == tensor;
            for (int k = 0; k < through->num_reads; k++) reads |= through->read[k]->ref == tensor;
        }
        if (!reads) continue;
        int common = est_common(&leaf[i], &leaf[owner]);
        if (common < depth) depth = common;
    }
    return depth ? leaf[owner].loop[depth - 1].node->depth : -1;
}

enum { NOT_YET = -2 };
static int scope_of(at_estimator *e, int tensor) {
    if (e->scope[tensor] == NOT_YET) e->scope[tensor] = find_scope(e, tensor);
    return e->scope[tensor];
}

static void find_owners(at_estimator *e) {
    for (int t = 0; t < e->compute->num_tensors; t++) e->owner[t] = -1, e->scope[t] = NOT_YET;
    for (int i = 0; i < e->num_leaves; i++) e->owner[e->leaf[i].node->tensor] = (int8_t)i;
}

/* The extents of a tensor's buffer. */
static void set_limits(const at_program *p, const est_leaf *owner, int scope, est_access *a) {
    for (int d = 0; d < a->num_dims; d++) a->limit[d] = (double)p->extents[a->tensor][d];
    if (!owner || scope < 0) return;
    for (int d = 0; d < a->num_dims; d++) {
        const at_digits *x = &owner->node->axes[d];
        a->limit[d] = 1;
        for (int i = 0; i < x->n; i++)
            if (x->loop[i]->depth > scope && x->extent[i] > 0) a->limit[d] *= (double)x->extent[i];
    }
}

/* A cache's way of so many bytes is taken in again by steps of as many: those of a power of two
 * reach few of its places. */
enum { WAY_BYTES = 4096 };
static double places_of(int64_t stride) {
    uint64_t step = (uint64_t)stride * 4;
    uint64_t power = step & (~step + 1);
    return power && power < WAY_BYTES ? (double)(WAY_BYTES / power) : 1;
}

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
    return straight ? fmax(line, (double)reach) : (double)reach;
}

static est_move find_move(const at_program *p, const at_expr *at, const est_loop *l, bool divides) {
    int64_t axis[32] = {0}, origin = at_program_index(p, at, axis);
    axis[l->axis] = l->coef;
    est_move m = {.index = at, .axis = l->axis, .coef = l->coef, .turns = (int64_t)l->turns};
    m.one = at_program_index(p, at, axis) - origin;
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
    uint64_t hash = (uint64_t)(uintptr_t)at ^ (uint64_t)l->axis << 56;
    hash = (hash ^ (uint64_t)l->coef) * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio */
    hash = (hash ^ hash >> 32 ^ (uint64_t)l->turns) * UINT64_C(0x9e3779b97f4a7c15);
    est_move *m = &e->moves[hash >> 32 & (MOVES - 1)];
    bool same =
        m->index == at && m->axis == l->axis && m->coef == l->coef && m->turns == (int64_t)l->turns;
    for (int i = 0; i < n && same; i++) same = m->sizes[i] == p->values[s->sizes[read][d][i]];
    if (same) return *m;
    *m = find_move(p, at, l, s->divides[read][d]);
    for (int i = 0; i < n; i++) m->sizes[i] = p->values[s->sizes[read][d][i]];
    return *m;
}

static void set_steps(at_estimator *est, const at_program *p, const est_leaf *x, const est_stage *s,
                      int read, int scope, est_access *a) {
    int64_t stride[MAX_DIMS], row = 1;
    const at_expr *e = read >= 0 ? s->read[read] : NULL;
    for (int d = a->num_dims - 1; d >= 0; d--) {
        int64_t extent = (int64_t)a->limit[d];
        stride[d] = row;
        a->stride[d] = (double)row;
        a->places[d] = places_of(row);
        if (scope >= 0 && d == a->num_dims - 1 && d > 0 && extent >= 16)
            extent = ((extent + 15) / 16 | 1) * 16;
        row *= extent > 0 ? extent : 1;
    }
    for (int i = 0; i < x->num_loops; i++) {
        const est_loop *l = &x->loop[i];
        a->step[i] = 0;
        for (int d = 0; d < a->num_dims; d++) {
            a->reach[i][d] = 0;
            if (l->axis < 0 || l->node->depth <= scope) continue;
            if (!e && d != l->axis) continue;
            if (e && !(s->axes[read][d] >> l->axis & 1)) continue;
            if (e && s->listed[read][d] && l->node->extent < 0) { /* anywhere, a line each time */
                double far = 16 * l->turns;
                a->reach[i][d] = far < a->limit[d] ? far : a->limit[d] - 1;
                a->step[i] += 16 * stride[d];
                continue;
            }
            est_move m = {.one = l->coef, .reach = (double)l->coef * (l->turns - 1)};
            if (e && e->arg[d]->op != AT_X_NAME) m = move_of(est, p, s, read, d, l);
            a->step[i] += m.one * stride[d];
            a->reach[i][d] = m.reach;
        }
    }
}

/* ---- reads through stages that are computed where they are read -------------------------------
 */

enum { MAX_CHAIN = 4 };
typedef struct chain { /* of reads: the leaf's own, then that of what it reads, .. */
    const at_expr *read[MAX_CHAIN];
    int num;
} chain;

/* What a stage reads that is nothing but a read, under a condition or not; NULL: it is more. */
static const at_expr *read_by(const at_program *p, int tensor) {
    const at_expr *e = p->compute->tensors[tensor].body;
    while (e && e->op == AT_X_SELECT) e = e->arg[1];
    return e && e->op == AT_X_INDEX && !is_listed_inside(e) ? e : NULL;
}

static chain chain_of(const at_program *p, const at_expr *read) {
    chain c = {{read}, 1};
    while (c.num < MAX_CHAIN && p->dissolved[c.read[c.num - 1]->ref]) {
        const at_expr *e = read_by(p, c.read[c.num - 1]->ref);
        if (!e) break;
        c.read[c.num++] = e;
    }
    return c;
}

/* Where the last of the chain reads, at these values of the leaf's axes. */
static void index_of(const at_program *p, const chain *c, const int64_t *axis, int64_t *out) {
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
static int64_t moved(const at_program *p, const chain *c, const est_loop *l, int64_t turn,
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

/* Does a loop go through its turns in another way where one around it is at a later turn? So it is
 * where blocks of one size are read as blocks of another. */
static bool is_shifted(const at_program *p, const chain *c, const est_leaf *x, int loop, int around,
                       const int64_t *stride, int dims) {
    enum { LOOKED_AT = 16 }; /* turns */
    const est_loop *l = &x->loop[loop], *m = &x->loop[around];
    int64_t first[MAX_DIMS], last[MAX_DIMS], own = 0;
    for (int64_t turn = 0; turn < (int64_t)m->turns && turn < LOOKED_AT; turn++) {
        int64_t axis[32] = {0}, sum = 0;
        axis[m->axis] = m->coef * turn;
        index_of(p, c, axis, first);
        axis[l->axis] += l->coef * ((int64_t)l->turns - 1);
        index_of(p, c, axis, last);
        for (int d = 0; d < dims; d++) sum += (last[d] - first[d]) * stride[d];
        if (turn == 0) own = sum;
        else if (sum != own) return true;
    }
    return false;
}

/* Of the vectors. moves: bits, for each loop. */
static void find_shifted(const at_program *p, const chain *c, est_leaf *x, const uint32_t *moves,
                         const int64_t *stride, int dims) {
    for (int i = 0; i < x->num_loops; i++) {
        est_loop *l = &x->loop[i];
        if (l->ann != AT_ANN_VEC || l->axis < 0) continue;
        l->is_shifted |= (int64_t)l->turns % l->run != 0;
        for (int k = 0; k < i && !l->is_shifted; k++)
            if (moves[k] & moves[i]) l->is_shifted = is_shifted(p, c, x, i, k, stride, dims);
    }
}

/* As set_steps, for what the chain reads in the end. */
static void set_steps_through(const at_program *p, est_leaf *x, const chain *c, int scope,
                              est_access *a) {
    int64_t axis[32] = {0}, origin[MAX_DIMS], stride[MAX_DIMS], by[MAX_DIMS], row = 1;
    uint32_t moves[MAX_LOOPS] = {0}; /* dimensions */
    for (int d = a->num_dims - 1; d >= 0; d--) {
        stride[d] = row;
        a->stride[d] = (double)row;
        a->places[d] = places_of(row);
        row *= (int64_t)a->limit[d];
    }
    index_of(p, c, axis, origin);
    for (int i = 0; i < x->num_loops; i++) {
        est_loop *l = &x->loop[i];
        memset(a->reach[i], 0, sizeof a->reach[i]);
        a->step[i] = 0;
        if (l->axis < 0 || l->node->depth <= scope) continue;
        int64_t turns = (int64_t)l->turns;
        a->step[i] = moved(p, c, l, 1, origin, stride, a->num_dims, by);
        for (int d = 0; d < a->num_dims; d++) moves[i] |= by[d] ? 1u << d : 0;
        int64_t all = moved(p, c, l, turns - 1, origin, stride, a->num_dims, by);
        for (int d = 0; d < a->num_dims; d++) a->reach[i][d] = (double)(by[d] < 0 ? -by[d] : by[d]);
        bool registers = l->ann == AT_ANN_VEC || (l->ann == AT_ANN_UNROLL && !l->sums);
        if (!registers || all == a->step[i] * (turns - 1)) continue;
        for (int64_t k = 2; k < l->run; k++)
            if (moved(p, c, l, k, origin, stride, a->num_dims, by) != k * a->step[i]) l->run = k;
    }
    find_shifted(p, c, x, moves, stride, a->num_dims);
}

static bool set_accesses(at_estimator *e, const at_program *p, est_leaf *x) {
    const est_stage *stages = e->stages, *s = &stages[x->node->tensor];
    x->num_accesses = 0;
    for (int r = -1; r < s->num_reads; r++) {
        chain c = {{NULL}, 1};
        if (r >= 0) c = chain_of(p, s->read[r]);
        int tensor = r < 0 ? x->node->tensor : c.read[c.num - 1]->ref;
        const at_tensor *t = &p->compute->tensors[tensor];
        if (t->is_int) continue;
        if (x->num_accesses == MAX_READS || t->num_axes > MAX_DIMS) return false;
        est_access *a = &x->access[x->num_accesses++];
        a->tensor = tensor;
        a->written = r < 0;
        a->in_registers = false;
        a->num_dims = t->num_axes;
        const est_leaf *owner = e->owner[tensor] < 0 ? NULL : &e->leaf[e->owner[tensor]];
        int scope = owner ? scope_of(e, tensor) : -1;
        set_limits(p, owner, scope, a);
        if (c.num > 1) set_steps_through(p, x, &c, scope, a);
        else set_steps(e, p, x, s, r, scope, a);
    }
    return true;
}

/* A vector of parts that each go on in the same steps becomes a loop over parts and one over a
 * part's elements, as lowering makes two of it; so do rows of registers. Did any? */
static bool split_runs(est_leaf *x) {
    bool any = false;
    for (int i = x->num_loops - 1; i >= 0; i--) {
        est_loop *l = &x->loop[i];
        int64_t run = l->run, turns = (int64_t)l->turns;
        bool registers = l->ann == AT_ANN_VEC || (l->ann == AT_ANN_UNROLL && turns % run == 0);
        if (!registers || run >= turns || l->is_shifted || x->num_loops == MAX_LOOPS) continue;
        memmove(l + 1, l, sizeof *l * (size_t)(x->num_loops - i));
        x->num_loops++;
        l[0].ann = AT_ANN_UNROLL;
        l[0].turns = (double)(l[0].run = turns / run);
        l[0].coef *= run;
        l[1].turns = (double)run;
        any = true;
    }
    return any;
}

enum { LINE = 16 }; /* elements */

/* Lines of so many elements along each dimension, in the mean of where they may begin. steps: all
 * bits of the steps that the access takes around. */
static double lines_of(const est_access *a, const double *extent, uint64_t steps) {
    double rows = 1, row = 1;
    for (int d = a->num_dims - 1; d >= 0; d--) {
        double n = extent[d] < a->limit[d] ? extent[d] : a->limit[d];
        if (n <= 1) continue;
        if (rows == 1 && a->stride[d] <= fmax(row, LINE)) row += (n - 1) * a->stride[d];
        else {
            rows *= n;
            steps |= (uint64_t)a->stride[d];
        }
    }
    uint64_t begins = (steps | LINE) & (~(steps | LINE) + 1); /* at multiples of this */
    double whole = ceil(row / (double)begins) * (double)begins;
    return rows * ((whole - (double)begins) / LINE + 1);
}

/* What loops from i on touch of so much along each dimension. */
static void touch_from(est_access *a, int i, const double *extent, uint64_t steps) {
    double elements = 1, run = 1, places = 1;
    bool whole = true;
    for (int d = a->num_dims - 1; d >= 0; d--) {
        double n = extent[d] < a->limit[d] ? extent[d] : a->limit[d];
        elements *= n;
        if (whole) run *= n;
        else places *= n < a->places[d] ? n : a->places[d];
        whole &= n >= a->limit[d];
    }
    a->bytes[i] = elements * 4;
    a->lines[i] = lines_of(a, extent, steps);
    a->crowd[i] = a->bytes[i];
    if (places * run * 4 >= WAY_BYTES || places * run >= elements) return; /* nor with lines */
    double row = run > 16 ? run * 4 : 64, rows = elements / run;
    if (places < rows && places * row < WAY_BYTES) a->crowd[i] = rows / places * WAY_BYTES;
    a->piles_up |= a->crowd[i] > a->bytes[i];
}

void est_touch(est_leaf *x) {
    for (int k = 0; k < x->num_accesses; k++) {
        est_access *a = &x->access[k];
        double extent[MAX_DIMS], count[MAX_DIMS], touched[MAX_DIMS];
        uint64_t steps[MAX_LOOPS + 1] = {0};
        int n = x->num_loops;
        a->moves = 0;
        a->piles_up = false;
        for (int i = 0; i < n; i++) {
            steps[i + 1] = steps[i] | (uint64_t)a->step[i];
            for (int d = 0; d < a->num_dims; d++)
                if (a->reach[i][d] > 0) a->moves |= 1u << i;
        }
        for (int d = 0; d < a->num_dims; d++) extent[d] = count[d] = touched[d] = 1;
        touch_from(a, n, touched, steps[n]);
        for (int i = n - 1; i >= 0; i--) {
            if (!(a->moves >> i & 1) && steps[i] == steps[i + 1]) { /* the same again */
                a->bytes[i] = a->bytes[i + 1];
                a->lines[i] = a->lines[i + 1];
                a->crowd[i] = a->crowd[i + 1];
                continue;
            }
            for (int d = 0; d < a->num_dims; d++) { /* rows that are left out are not touched */
                if (a->reach[i][d] > 0) count[d] *= x->loop[i].turns;
                extent[d] += a->reach[i][d];
                bool apart = a->stride[d] >= LINE && count[d] < extent[d];
                touched[d] = apart ? count[d] : extent[d];
            }
            touch_from(a, i, touched, steps[i]);
        }
    }
}

/* ---- leaves ---------------------------------------------------------------------------------- */

static bool collect(const at_program *p, const at_node *n, bool pack_inline, double mean_dynamic,
                    est_leaf *leaf, int *num) {
    for (; n; n = n->next) {
        if (!n->is_leaf) {
            if (!collect(p, n->child, pack_inline, mean_dynamic, leaf, num)) return false;
            continue;
        }
        const at_tensor *t = &p->compute->tensors[n->tensor];
        if (n->is_init || (t->is_packing && !pack_inline)) continue;
        if (*num == MAX_LEAVES) return false;
        est_leaf *x = &leaf[(*num)++];
        x->node = n;
        x->stage = t;
        if (!set_loops(p, n, mean_dynamic, x)) return false;
    }
    return true;
}

bool est_leaves(at_estimator *e, const at_program *p) {
    e->num_leaves = 0;
    if (!collect(p, p->root, e->o.pack_inline, e->o.mean_dynamic, e->leaf, &e->num_leaves))
        return false;
    find_owners(e);
    for (int i = 0; i < e->num_leaves; i++) {
        if (!set_accesses(e, p, &e->leaf[i])) return false;
        if (split_runs(&e->leaf[i]) && !set_accesses(e, p, &e->leaf[i])) return false;
        est_touch(&e->leaf[i]);
    }
    return true;
}

/* ---- conditions ------------------------------------------------------------------------------ */

/* Does every condition that this read hangs on hold? Reads of dissolved stages are followed.
 * left: expressions that may still be looked at. */
static bool holds(const at_program *p, const at_expr *e, const int64_t *axis, int *left) {
    if (--*left < 0) return true;
    if (e->op == AT_X_SELECT)
        return at_program_index(p, e->arg[0], axis)
                   ? holds(p, e->arg[1], axis, left)
                   : e->arg[2]->op != AT_X_INT && e->arg[2]->op != AT_X_FLOAT;
    if (e->op == AT_X_INDEX && p->dissolved[e->ref]) {
        int64_t inner[32] = {0};
        for (int i = 0; i < e->nargs && i < 32; i++)
            inner[i] = at_program_index(p, e->arg[i], axis);
        return holds(p, p->compute->tensors[e->ref].body, inner, left);
    }
    if (e->op == AT_X_MUL || e->op == AT_X_NEG)
        for (int i = 0; i < e->nargs; i++)
            if (!holds(p, e->arg[i], axis, left)) return false;
    return true;
}

/* Axes that a condition depends on. */
static uint32_t asked(const at_program *p, const at_expr *e) {
    uint32_t axes = 0, ignored = 0;
    bool divides;
    if (e->op == AT_X_SELECT) look_at_index(e->arg[0], &axes, &divides);
    if (e->op == AT_X_INDEX && p->dissolved[e->ref]) {
        uint32_t inner = asked(p, p->compute->tensors[e->ref].body);
        for (int i = 0; i < e->nargs; i++)
            look_at_index(e->arg[i], inner >> i & 1 ? &axes : &ignored, &divides);
        return axes;
    }
    if (e->op == AT_X_INDEX) return 0;
    for (int i = e->op == AT_X_SELECT; i < e->nargs; i++) axes |= asked(p, e->arg[i]);
    return axes;
}

double est_share(const at_program *p, const est_leaf *x) {
    enum { MOST = 1 << 20, MOST_STEPS = 1 << 24 };
    int left = MOST_STEPS;
    uint32_t axes = asked(p, x->stage->body);
    int64_t axis[32] = {0}, all = 0, good = 0;
    int n = x->stage->num_axes + x->stage->num_reduce;
    const int64_t *extent = p->extents[x->node->tensor];
    double points = 1;
    for (int i = 0; i < n; i++) {
        if (axes >> i & 1) points *= (double)extent[i];
        if ((axes >> i & 1) && extent[i] < 1) return 1;
    }
    if (points > MOST) return 1;
    while (left >= 0) {
        all++;
        good += holds(p, x->stage->body, axis, &left);
        int i = 0;
        for (; i < n; i++) {
            if (!(axes >> i & 1)) continue;
            if (++axis[i] < extent[i]) break;
            axis[i] = 0;
        }
        if (i == n) return (double)good / (double)all;
    }
    return 1;
}
