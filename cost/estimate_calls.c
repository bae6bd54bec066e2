/* cost/estimate_calls.c: the calls of a sum's tile: the sizes of its parts, how often each is
 * called, also where an axis ends, and the time of all. */
#include "codegen/tile/tile_parts.h"
#include "cost/estimate_tile_int.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* ---- parts ----------------------------------------------------------------------------------- */

/* Chooses the sizes of the tile's parts. `parts` has their extents. */
static void choose(at_estimator *e, const est_tile *t, at_part *parts) {
    const int lanes = e->o.target->lanes;
    at_part cut[AT_PARTS_MAX];
    int64_t other = t->other * t->together;
    int n = 0;
    for (int i = 0; i < t->num_parts; i++) {
        at_part *p = &parts[i];
        p->size = p->extent;
        if (!(t->uncut >> i & 1)) cut[n++] = *p;
        else other *= p->vector ? (p->extent + lanes - 1) / lanes : p->extent;
    }
    at_tile_parts(e->o.target, cut, n, other, 0);
    for (int i = 0, c = 0; i < t->num_parts; i++)
        if (!(t->uncut >> i & 1)) parts[i].size = cut[c++].size;
}

/* ---- lines of vectors ------------------------------------------------------------------------ */

/* Lines of its vectors that all steps of a sum read, if none is kept. */
static double vector_lines(const est_leaf *x, const est_access *a, int root) {
    double n = 1;
    for (int i = 0; i < x->num_loops; i++) {
        const est_loop *l = &x->loop[i];
        if (i >= root && l->ann == AT_ANN_VEC)
            n *= l->turns * (double)a->step[i] / (double)est_line(a->buffer);
        else if (l->is_dot) continue;
        else if (i < root || l->sums || !est_unrolled(l) || a->step[i]) n *= l->turns;
    }
    return n;
}

/* The same of the whole kernel, each of its turns once. */
static double asked_lines(const est_leaf *x, const est_access *a, int root) {
    int tile = root; /* its first loop that is none over its parts */
    while (tile < x->num_loops && x->loop[tile].is_part) tile++;
    return vector_lines(x, a, root) * est_share_of_turns(x, a, tile);
}

/* The access that a tile reads vectors by, of several the last one, and along a sum the one of most
 * lines; -1: none. */
static int vectors_of(const est_tile *t) {
    const est_leaf *x = t->x;
    int found = -1;
    for (int i = t->root; i < x->num_loops; i++)
        for (int k = 1; k < x->num_accesses && x->loop[i].ann == AT_ANN_VEC; k++)
            if (x->access[k].step[i] == t->lane &&
                (!t->lanes_sum || found < 0 || x->access[k].lines[0] >= x->access[found].lines[0]))
                found = k;
    return found;
}

/* ---- tails ----------------------------------------------------------------------------------- */

typedef struct { /* an axis that the loops around tiles exceed */
    int part;
    int64_t whole, rest; /* extent of the tile's outermost loop over it, and of the last one */
    double whole_share, all_share; /* of all turns: those with a whole one, and those with any */
    double whole_turns;
} tail;

static double tail_share(const tail *t, bool rest) {
    return rest ? t->all_share - t->whole_share : t->whole_share;
}

static int find_tails(const at_program *p, const est_tile *t, tail *tails) {
    int n = 0;
    for (int i = 0; i < t->num_parts && n < 2; i++) {
        const est_leaf *x = t->x;
        const est_loop *l = &x->loop[t->which[i]];
        double inside = (double)l->coef * l->turns, turns = 1;
        bool outermost = true;
        for (int k = 0; k < x->num_loops; k++) {
            if (x->loop[k].axis != l->axis) continue;
            if (k >= t->root) outermost &= x->loop[k].coef <= l->coef;
            else if (x->loop[k].coef >= l->coef) turns *= x->loop[k].turns; /* else between */
        }
        double extent = (double)p->extents[x->node->tensor][l->axis];
        if (!outermost || turns * inside <= extent) continue;
        double whole = floor(extent / inside), rest = extent - whole * inside;
        tails[n++] = (tail){.part = i,
                            .whole = (int64_t)l->turns,
                            .rest = (int64_t)ceil(rest / (double)l->coef),
                            .whole_share = whole / turns,
                            .whole_turns = whole,
                            .all_share = (whole + (rest > 0)) / turns};
    }
    return n;
}

/* Steps beyond the ends of the sum's axes. */
static void exceed(const at_program *p, est_tile *t) {
    const est_leaf *x = t->x;
    for (int a = x->stage->num_axes; a < x->node->num_axes; a++)
        t->steps *= est_share_of_axis(p, x, a, t->root);
}

/* Share of the turns around a tile that lie within the axes it has no loop of. */
static double within(const at_program *p, const est_tile *t) {
    const est_leaf *x = t->x;
    double share = 1;
    for (int a = 0; a < x->stage->num_axes; a++) {
        bool inside = false;
        for (int k = t->root; k < x->num_loops; k++) inside |= x->loop[k].axis == a;
        if (!inside) share *= est_share_of_axis(p, x, a, 0);
    }
    return share;
}

/* ---- the sum --------------------------------------------------------------------------------- */

/* Chooses the sizes of the parts. num: of each, the mean over all turns around the tile: where an
 * axis ends, it has fewer. */
static void choose_all(at_estimator *e, est_tile *t, const tail *tails, int n, double *num) {
    choose(e, t, t->part);
    for (int i = 0; i < t->num_parts; i++)
        num[i] = ceil((double)t->part[i].extent / (double)t->part[i].size);
    if (!n) return;
    double sum[AT_PARTS_MAX] = {0}, all[AT_PARTS_MAX] = {0};
    for (int mask = 0; mask < 1 << n; mask++) {
        at_part part[AT_PARTS_MAX];
        double share = 1;
        memcpy(part, t->part, sizeof part);
        for (int i = 0; i < n; i++) {
            share *= tail_share(&tails[i], mask >> i & 1);
            part[tails[i].part].extent = mask >> i & 1 ? tails[i].rest : tails[i].whole;
        }
        if (share <= 0) continue;
        choose(e, t, part);
        for (int i = 0; i < t->num_parts; i++) {
            double by_turn = share; /* by a turn, along the other axis */
            for (int k = 0; k < n; k++)
                if (tails[k].part != i && mask >> k & 1)
                    by_turn *= (double)tails[k].rest / (double)tails[k].whole;
            sum[i] += by_turn * ceil((double)part[i].extent / (double)part[i].size);
            all[i] += by_turn;
        }
    }
    for (int i = 0; i < t->num_parts; i++)
        if (all[i] > 0) num[i] = sum[i] / all[i];
}

/* A copy of a leaf to be cut, but for the lines that it touches. */
static est_leaf *copy_of(at_estimator *e, const est_leaf *x) {
    const size_t n = (size_t)x->num_loops;
    est_leaf *y = &e->cut;
    memcpy(y, x, offsetof(est_leaf, is_new));
    y->loop = e->cut_loop;
    y->access = e->cut_access;
    memcpy(y->loop, x->loop, sizeof *x->loop * n);
    for (int k = 0; k < x->num_accesses; k++) {
        const est_access *from = &x->access[k];
        est_access *to = &y->access[k];
        memcpy(to, from, offsetof(est_access, step) + sizeof *from->step * n);
        memcpy(to->reach, from->reach, sizeof *from->reach * n);
    }
    return y;
}

est_leaf *est_cut(at_estimator *e, const est_leaf *whole, int root, const at_part *parts,
                  const double *num, const int *which, int n) {
    est_leaf *x = NULL;
    for (int i = n - 1, inserted = 0; i >= 0; i--) {
        int at = which[i] + inserted;
        double size = (double)parts[i].size, extent = (double)parts[i].extent;
        if (!(num[i] > 1) || (x ? x : whole)->num_loops == MAX_LOOPS) continue;
        if (!x) x = copy_of(e, whole);
        for (int k = x->num_loops; k > root; k--) {
            x->loop[k] = x->loop[k - 1];
            for (int a = 0; a < x->num_accesses; a++) {
                x->access[a].step[k] = x->access[a].step[k - 1];
                x->access[a].moved[k] = x->access[a].moved[k - 1];
                memcpy(x->access[a].reach[k], x->access[a].reach[k - 1],
                       sizeof x->access[a].reach[k]);
            }
        }
        x->num_loops++;
        inserted++;
        at++;
        x->loop[root] = x->loop[at];
        x->loop[root].ann = AT_ANN_NONE;
        x->loop[root].is_part = true;
        x->loop[root].turns = num[i];
        x->loop[root].coef *= parts[i].size;
        x->loop[at].turns = size;
        for (int a = 0; a < x->num_accesses; a++) {
            est_access *c = &x->access[a];
            c->step[root] = c->step[at] * parts[i].size;
            for (int d = 0; d < c->num_dims; d++) {
                double all = c->reach[at][d];
                c->reach[root][d] = extent > 1 ? all * (extent - size) / (extent - 1) : 0;
                c->reach[at][d] = all - c->reach[root][d];
            }
            c->moved[root] = c->moved[at];
        }
    }
    if (x) est_touch(x);
    return x;
}

/* Tiles of one multiply-add each. */
static double elements_ns(at_estimator *e, const est_tile *t, double calls) {
    const at_speeds *s = e->o.speeds;
    double n = calls * est_turns(t->x, t->root, t->x->num_loops) * t->share;
    e->out->calls += n;
    e->out->sum_calls += n;
    e->out->operations += n * t->each;
    return n * ((double)(s->narrow_ns[0][0] + s->narrow_call_ns[0][0]) + est_address_ns +
                est_works_time(&t->works) * est_least_ns(e));
}

/* Share of the time of lines that come while a sum in registers waits, which is not saved. */
static const double meanwhile = 0.1;

/* Share of the time of lines from the second level that multiply-adds do not hide which wait for
 * nothing: their loads begin early. */
static const double beside = 0.5;

/* While a sum waits for itself, lines come. */
static void come_meanwhile(const est_tile *t, at_estimate *sum) {
    double waiting_ns = est_max(0, sum->sums_ns - sum->operations * t->peak_ns);
    double hidden_ns = est_min(sum->memory_ns, waiting_ns);
    sum->memory_ns -= (t->memory_ns > 0 || t->cut_ns > 0 ? 1 : 1 - meanwhile) * hidden_ns;
}

static void come_beside(const at_speeds *s, at_estimate *sum) {
    double lines_ns = sum->bytes[0] / 64 * (double)s->line_ns[1];
    sum->memory_ns -= (1 - beside) * est_min(lines_ns, sum->memory_ns);
}

/* A turn of a parallel loop calls a function and works out addresses, while the sums of the turn
 * before go on. Behind a list, whose end no core foresees, nothing else runs meanwhile. */
static const double parallel_ns = 5;
static double parallel_turns(const est_leaf *x, int root) {
    int n = root;
    while (n > 0 && x->loop[n - 1].ann != AT_ANN_PARA) n--;
    return n ? est_turns(x, 0, n) : 0;
}

/* Does any other leaf than a tile's own stand in a loop around it? */
static bool is_shared(const at_estimator *e, const est_leaf *x, const est_leaf *end, int loop) {
    for (const est_leaf *y = e->leaf; y < e->leaf + e->num_leaves; y++)
        if (y != end && y != x && est_common(e, x, y) > loop) return true;
    return false;
}

/* The tail of the axis that a loop around the tile goes along; -1: the axis has none. */
static int tail_along(const est_tile *t, const est_leaf *x, const tail *tails, int n, int loop) {
    for (int i = 0; i < n; i++)
        if (x->loop[t->which[tails[i].part]].axis == x->loop[loop].axis) return i;
    return -1;
}

/* Turns that a call has, of loops around a tile of few operations (at_tile_takes_turns). mask: bits
 * of the tails that the tile is at. Behind a loop that a tail cuts there are two tiles. */
static double turns_of_call(const at_estimator *e, const est_tile *t, const est_leaf *x,
                            const est_leaf *end, const tail *tails, int n, int mask) {
    double turns = 1, sums = (double)t->other;
    if (!end || t->together > 1 || t->again > 1 || t->share < 1 || t->width < e->o.target->lanes)
        return 1;
    for (int i = 0; i < t->num_parts; i++) {
        const at_part *part = &t->part[i];
        const int64_t run = part->vector && t->uncut >> i & 1 ? x->loop[t->which[i]].run : 0;
        if (part->size < part->extent || run % e->o.target->lanes) return 1;
        sums *=
            part->vector ? ceil((double)part->extent / e->o.target->lanes) : (double)part->extent;
    }
    for (int i = t->root; i < x->num_loops; i++)
        if (!est_unrolled(&x->loop[i]) && !x->loop[i].is_dot) return 1;
    const double ops = 2 * sums * (2 + t->steps);
    for (int i = t->root - 1; i >= 0; i--) {
        const est_loop *l = &x->loop[i];
        const int cut = tail_along(t, x, tails, n, i);
        if (!at_tile_takes_turns(l->ann, l->sums, ops) || is_shared(e, x, end, i)) break;
        if (cut >= 0)
            return mask >> cut & 1 ? turns : turns * est_min(l->turns, tails[cut].whole_turns);
        turns *= l->turns;
    }
    return turns;
}

/* Is each of its vectors used by one row alone? Nothing else is worked out while it comes. */
static bool is_row(const est_tile *t) {
    for (int i = 0; i < t->num_parts; i++)
        if (!t->part[i].vector && t->part[i].extent > 1) return false;
    return t->other == 1 && t->together == 1;
}

void est_sum(at_estimator *e, const at_program *p, const est_leaf *x, const est_leaf *end,
             int root) {
    est_tile t;
    tail tails[2];
    est_tile_of(e, p, x, end, root, &t);
    exceed(p, &t);
    int n = find_tails(p, &t, tails);
    double all = est_turns(x, 0, root) * within(p, &t), far_lines[2] = {0}, far = 0;
    const est_leaf *const whole = x;
    const double before_ns = e->out->sums_ns, turns_ns = parallel_ns * parallel_turns(x, root);
    const int vectors = t.vectors = vectors_of(&t);
    const est_lines come = t.is_paired ? EST_BETWEEN : is_row(&t) ? EST_ALONE : EST_BESIDE;
    if (t.is_shifted) {
        est_memory(e, x, come, -1, NULL);
        if (end) est_memory(e, end, come, -1, NULL);
        e->out->sums_ns += elements_ns(e, &t, all);
        return;
    }
    double num[AT_PARTS_MAX];
    choose_all(e, &t, tails, n, num);
    const est_leaf *parts = est_cut(e, x, root, t.part, num, t.which, t.num_parts);
    if (parts) t.x = x = parts;
    est_memory(e, x, come, vectors, far_lines);
    if (end && !x->is_end_of_other) est_memory(e, end, come, -1, NULL);
    if (far_lines[0] > 0)
        far = est_min(1, far_lines[0] / vector_lines(x, &x->access[vectors], root));
    for (int mask = 0; mask < 1 << n; mask++) {
        double calls = all;
        for (int i = 0; i < n; i++) {
            bool rest = mask >> i & 1;
            calls *= tail_share(&tails[i], rest);
            t.part[tails[i].part].extent = rest ? tails[i].rest : tails[i].whole;
        }
        if (calls <= 0) continue;
        if (n) choose(e, &t, t.part);
        t.turns = turns_of_call(e, &t, whole, end, tails, n, mask);
        e->out->sums_ns += est_parts_ns(e, &t, calls, far);
    }
    if (t.least_ns > 0 || t.memory_ns > 0 || t.cut_ns > 0) come_meanwhile(&t, e->out);
    else come_beside(e->o.speeds, e->out);
    if (vectors >= 0) {
        const double asked = asked_lines(x, &x->access[vectors], root);
        e->out->memory_ns += est_beyond_ns(e, whole, &whole->access[vectors], far_lines[1], asked,
                                           x == whole, e->out->sums_ns - before_ns);
    }
    if (t.is_dynamic) e->out->sums_ns += turns_ns;
    else e->out->sums_ns = est_max(e->out->sums_ns, before_ns + turns_ns);
}
