/* cost/estimate.c: the time of a kernel in closed form, from the numbers of its built tree.
 *
 * Leaves are put together to tiles as lowering does it (codegen/tiles.c): a sum with what uses it
 * up, or one leaf alone; the sizes of their parts are chosen by the same function
 * (codegen/tile_parts.h). A part takes as long as the machine's table says of its register tile;
 * what a level of the caches does not hold between two uses comes from the next. docs/cost.md */
#include "codegen/tile_parts.h"
#include "cost/estimate_int.h"

#include <math.h>
#include <string.h>

enum { KEPT = 256 };
typedef struct kept { /* sizes chosen before */
    int num;
    int64_t other;
    at_part parts[AT_PARTS_MAX];
} kept;

struct at_estimator {
    const at_compute *compute;
    at_estimate_options o;
    at_speeds speeds;
    est_stage *stages; /* [tensor] */
    kept kept[KEPT];
    est_leaf leaf[MAX_LEAVES];
    int num_leaves;
    at_estimate *out;
};

at_estimator *at_estimator_new(at_arena *a, const at_compute *c, const at_estimate_options *o) {
    at_estimator *e = AT_NEW(a, at_estimator);
    e->compute = c;
    e->o = *o;
    e->speeds = *o->speeds;
    e->o.speeds = &e->speeds;
    e->stages = AT_NEW_ARRAY(a, est_stage, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) est_stage_init(c, t, &e->stages[t]);
    return e;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static void choose(at_estimator *e, at_part *parts, int n, int64_t other) {
    uint64_t h = (uint64_t)other * 31 + (uint64_t)n;
    for (int i = 0; i < n; i++)
        h = h * 0x9E3779B97F4A7C15u + (uint64_t)(2 * parts[i].extent + parts[i].vector);
    kept *k = &e->kept[h >> 32 & (KEPT - 1)];
    bool same = k->num == n && k->other == other;
    for (int i = 0; i < n && same; i++)
        same = k->parts[i].extent == parts[i].extent && k->parts[i].vector == parts[i].vector;
    if (!same) {
        at_tile_parts(e->o.target, parts, n, other, 0);
        k->num = n;
        k->other = other;
        memcpy(k->parts, parts, sizeof *parts * (size_t)n);
    }
    for (int i = 0; i < n; i++) parts[i].size = k->parts[i].size;
}

static double step_ns(const at_estimator *e, double rows, double vectors, bool call) {
    const at_speeds *s = e->o.speeds;
    int v = (int)vectors, r = (int)rows, times = 1;
    while (v > AT_SPEED_VECTORS) v = (v + 1) / 2, times *= 2;
    while (r > AT_SPEED_ROWS) r = (r + 1) / 2, times *= 2;
    v = v < 1 ? 1 : v, r = r < 1 ? 1 : r;
    return times * (double)(call ? s->call_ns : s->step_ns)[v - 1][r - 1];
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Different bytes that loop i of leaf x, all its turns, touches; leaves beside x in it, too. */
static double held(const at_estimator *e, const est_leaf *x, int i) {
    double sum = 0;
    for (int k = 0; k < x->num_accesses; k++) sum += x->access[k].bytes[i];
    for (int m = 0; m < e->num_leaves; m++) {
        const est_leaf *y = &e->leaf[m];
        if (y == x || est_common(x, y) <= i) continue;
        for (int k = 0; k < y->num_accesses; k++) {
            bool counted = false;
            for (int j = 0; j < x->num_accesses; j++)
                counted |= x->access[j].tensor == y->access[k].tensor;
            if (!counted) sum += y->access[k].bytes[i];
        }
    }
    return sum;
}

/* Lines from beyond each level for one leaf, as if the least recently used went first. */
static double memory_ns(at_estimator *e, const est_leaf *x) {
    const at_speeds *s = e->o.speeds;
    double ns = 0;
    int fits = x->num_loops; /* loops from here on leave what they touch in the cache */
    double size = 0;
    for (int level = 0; level < 3; level++) {
        size += (double)s->cache_bytes[level];
        if (!s->cache_bytes[level]) continue;
        while (fits > 0 && held(e, x, fits - 1) <= size) fits--;
        if (fits == 0) break;
        double times = 1, lines = 0;
        for (int i = 0; i < fits; i++) times *= x->loop[i].turns;
        for (int k = 0; k < x->num_accesses; k++) {
            const est_access *a = &x->access[k];
            double t = times;
            /* the loop around moves on: what overlaps is still there */
            double all = a->lines[fits - 1] * times / x->loop[fits - 1].turns;
            t = fmin(a->lines[fits] * t, fmax(all, 0));
            bool moves = x->access[k].step[fits - 1] != 0;
            lines += moves ? t : a->lines[fits] * times;
        }
        e->out->bytes[level] += lines * 64;
        ns += lines * (double)s->line_ns[level + 1];
    }
    return ns;
}

/* ---- tiles ----------------------------------------------------------------------------------- */

/* The loops of a sum become those of its parts: a cut loop stays around as what goes through its
 * parts. */
static void cut(est_leaf *x, int root, const at_part *parts, const int *which, int n) {
    for (int i = n - 1, inserted = 0; i >= 0; i--) {
        int at = which[i] + inserted;
        double size = (double)parts[i].size, extent = (double)parts[i].extent;
        if (parts[i].size >= parts[i].extent || x->num_loops == MAX_LOOPS) continue;
        for (int k = x->num_loops; k > root; k--) {
            x->loop[k] = x->loop[k - 1];
            for (int a = 0; a < x->num_accesses; a++) {
                x->access[a].step[k] = x->access[a].step[k - 1];
                memcpy(x->access[a].reach[k], x->access[a].reach[k - 1],
                       sizeof x->access[a].reach[k]);
            }
        }
        x->num_loops++;
        inserted++;
        at++;
        x->loop[root] = x->loop[at];
        x->loop[root].ann = AT_ANN_NONE;
        x->loop[root].turns = ceil(extent / size);
        x->loop[at].turns = size;
        for (int a = 0; a < x->num_accesses; a++) {
            est_access *c = &x->access[a];
            c->step[root] = c->step[at] * parts[i].size;
            for (int d = 0; d < c->num_dims; d++) {
                double whole = c->reach[at][d];
                c->reach[root][d] = extent > 1 ? whole * (extent - size) / (extent - 1) : 0;
                c->reach[at][d] = whole - c->reach[root][d];
            }
        }
    }
}

/* Is the loop a vector of every access? */
static bool is_vector(const est_leaf *x, int loop) {
    for (int k = 0; k < x->num_accesses; k++)
        if (!x->access[k].written && x->access[k].step[loop] != 0 && x->access[k].step[loop] != 1)
            return false;
    return true;
}

static double turns(const est_leaf *x, int from, int to) {
    double n = 1;
    for (int i = from; i < to; i++) n *= x->loop[i].turns;
    return n;
}

/* A sum, with the leaf that uses it up (or NULL): loops from root on are its tile. */
static double sum_ns(at_estimator *e, est_leaf *x, const est_leaf *end, int root) {
    const int lanes = e->o.target->lanes;
    at_part parts[AT_PARTS_MAX];
    int which[AT_PARTS_MAX], n = 0;
    int64_t other = 1;
    double steps = 1, again = 1, width = lanes;
    est_stage *s = &e->stages[x->node->tensor];
    for (int i = root; i < x->num_loops; i++) {
        const est_loop *l = &x->loop[i];
        bool unrolled = l->ann == AT_ANN_UNROLL || l->ann == AT_ANN_VEC;
        if (l->sums) {
            steps *= l->turns;
            continue;
        }
        if (!unrolled) {
            again *= l->turns;
            continue;
        }
        bool everywhere = !end;
        for (int k = 0; end && k < end->num_loops; k++)
            everywhere |= end->loop[k].name == l->name &&
                          (end->loop[k].ann == AT_ANN_UNROLL || end->loop[k].ann == AT_ANN_VEC);
        if (l->ann == AT_ANN_VEC && !is_vector(x, i)) width = 1;
        if (everywhere && n < AT_PARTS_MAX) {
            which[n] = i;
            parts[n++] = (at_part){.vector = l->ann == AT_ANN_VEC, .extent = (int64_t)l->turns};
        } else
            other *=
                l->ann == AT_ANN_VEC ? ((int64_t)l->turns + lanes - 1) / lanes : (int64_t)l->turns;
    }
    choose(e, parts, n, other);
    double calls = turns(x, 0, root), ns = 0;
    double ends = end ? e->stages[end->node->tensor].operations : 0;
    for (int mask = 0; mask < 1 << n; mask++) { /* whole parts and those left over */
        double rows = (double)other, vectors = 1, times = calls;
        for (int i = 0; i < n; i++) {
            int64_t size = parts[i].size < parts[i].extent ? parts[i].size : parts[i].extent;
            int64_t whole = parts[i].extent / size, rest = parts[i].extent % size;
            times *= mask >> i & 1 ? rest > 0 : (double)whole;
            if (mask >> i & 1) size = rest;
            if (parts[i].vector) vectors *= ceil((double)size / width);
            else rows *= (double)size;
        }
        if (times == 0) continue;
        e->out->calls += times;
        e->out->sum_calls += times;
        double each = rows * vectors * again;
        e->out->operations += times * each * (steps * s->share * fmax(1, s->operations) + ends);
        ns += times * again *
              (steps * s->share * step_ns(e, rows, vectors, false) +
               step_ns(e, rows, vectors, true) + (double)e->o.speeds->turn_ns);
    }
    cut(x, root, parts, which, n);
    est_touch(x);
    return ns + memory_ns(e, x);
}

/* A leaf by itself: a copy, or arithmetic on elements. */
static double copy_ns(at_estimator *e, est_leaf *x, int root) {
    const at_speeds *s = e->o.speeds;
    double calls = turns(x, 0, root), elements = turns(x, 0, x->num_loops), run = 1;
    int i = x->num_loops - 1;
    for (; i >= 0; i--) { /* in a row in all that it touches */
        bool in_a_row = true;
        for (int k = 0; k < x->num_accesses; k++)
            in_a_row &= (double)x->access[k].step[i] == run ||
                        (!x->access[k].written && x->access[k].step[i] == 0);
        if (!in_a_row) break;
        run *= x->loop[i].turns;
    }
    double vectors = elements / run * ceil(run / e->o.target->lanes);
    if (run == 1) vectors = elements;
    est_stage *st = &e->stages[x->node->tensor];
    if (st->is_conditional) calls *= 3;
    e->out->calls += calls;
    e->out->operations += vectors * st->operations;
    return vectors * (double)s->store_ns * (1 + 0.5 * st->operations) +
           elements / run * (double)s->turn_ns * 0.5 + calls * (double)s->turn_ns + memory_ns(e, x);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* The leaf that uses the sum x up within one tile; NULL: there is none. */
static const est_leaf *end_of(const at_estimator *e, const est_leaf *x, int *root) {
    const est_leaf *end = NULL;
    if (x->stage->is_output) return NULL;
    for (int i = 0; i < e->num_leaves; i++)
        for (int k = 1; k < e->leaf[i].num_accesses; k++) {
            if (&e->leaf[i] == x || e->leaf[i].access[k].tensor != x->node->tensor) continue;
            if (end && end != &e->leaf[i]) return NULL;
            end = &e->leaf[i];
        }
    if (!end) return NULL;
    *root = est_common(x, end);
    for (int i = *root; i < x->num_loops; i++)
        if (x->loop[i].axis >= 0 && !x->loop[i].sums && x->loop[i].ann == AT_ANN_NONE) return NULL;
    for (int i = *root; i < end->num_loops; i++)
        if (end->loop[i].ann == AT_ANN_NONE) return NULL;
    return end;
}

/* The first loop that a tile of this leaf alone may begin with. */
static int alone(const at_estimator *e, const est_leaf *x) {
    int root = 0;
    for (int i = 0; i < e->num_leaves; i++) {
        int common = &e->leaf[i] == x ? 0 : est_common(x, &e->leaf[i]);
        if (common > root) root = common;
    }
    for (int i = root; i < x->num_loops; i++)
        if (x->loop[i].ann == AT_ANN_PARA) root = i + 1;
    return root;
}

bool at_estimate_of(at_estimator *e, const at_program *p, at_estimate *out) {
    bool done[MAX_LEAVES] = {false};
    *out = (at_estimate){.ns = 0};
    e->out = out;
    if (!est_leaves(p, e->stages, e->o.pack_inline, e->o.mean_dynamic, e->leaf, &e->num_leaves))
        return false;
    for (int i = 0; i < e->num_leaves; i++) {
        est_leaf *x = &e->leaf[i];
        est_stage *s = &e->stages[x->node->tensor];
        if (s->share < 0)
            s->share = x->stage->num_reduce && s->is_conditional ? est_share(p, x) : 1;
    }
    for (int i = 0; i < e->num_leaves; i++) {
        est_leaf *x = &e->leaf[i];
        int root = 0;
        if (done[i]) continue;
        if (!x->stage->num_reduce) {
            out->ns += copy_ns(e, x, alone(e, x));
            continue;
        }
        const est_leaf *end = end_of(e, x, &root);
        if (end) done[end - e->leaf] = true;
        else root = alone(e, x);
        out->ns += sum_ns(e, x, end, root);
    }
    return true;
}
