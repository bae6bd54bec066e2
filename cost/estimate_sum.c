/* cost/estimate_sum.c: a sum's tile: its parts, how often each is called, and how long one takes.
 */
#include "codegen/tile_parts.h"
#include "cost/estimate_int.h"

#include <math.h>
#include <string.h>

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

/* Times as long: elements that are put together to a vector one by one. */
static const double gather = 3;
/* In multiply-adds at the peak: what one has to wait for in a loop that is not unrolled. */
static const double add_to_add = 5.5;

static const double address_ns = 2.2; /* of an element that is found by divisions */

/* Loads that are no operand of a multiply-add, in such that are. */
static const double unaligned = 2;
/* Vectors of so few elements, with their rows, are not put together; what loading one element and
 * adding to one takes. */
enum { SINGLE = 16 };
static const double single_load = 1.4, add_to_add_alone = 8;
/* What a vector that was stored by a mask has to wait for, until it can be loaded again. */
static const double masked_ns = 12;

/* What the end of a sum costs that is a loop, of which a core begins another turn; between calls
 * whose factors are both vectors, as in depthwise convolutions, nothing of it is seen. */
static const double end_ns = 2.5;

typedef enum { STEP, FAR, CALL } which_time;

/* Of a register tile; width: elements of its only vector, where they are fewer than a register's.
 */
static double tile_ns(const at_estimator *e, double rows, double vectors, int width,
                      which_time which) {
    const at_speeds *s = e->o.speeds;
    const float(*table)[AT_SPEED_ROWS] = which == CALL  ? s->call_ns
                                         : which == FAR ? s->far_ns
                                                        : s->step_ns;
    int v = (int)vectors, r = (int)rows, times = 1;
    while (v > AT_SPEED_VECTORS) v = (v + 1) / 2, times *= 2;
    while (r > AT_SPEED_ROWS) r = (r + 1) / 2, times *= 2;
    v = v < 1 ? 1 : v, r = r < 1 ? 1 : r;
    if (width >= 0) {
        double near = (double)(which == CALL ? s->narrow_call_ns : s->narrow_ns)[width][r - 1];
        double part = width < AT_SPEED_WIDTHS - 1 ? 1 << width : 3; /* of a whole vector's bytes */
        if (which == FAR)
            near +=
                (double)(s->far_ns[0][r - 1] - s->step_ns[0][r - 1]) * part / e->o.target->lanes;
        return times * near;
    }
    return times * (double)table[v - 1][r - 1];
}

/* ---- operations beside the terms ------------------------------------------------------------- */

/* Copies of a sum's statement in the code of its tile, for each element: reductions that are
 * unrolled, as long as the code is not (at_limit_unrolling). rows x vectors: one part. */
static double copies(const est_leaf *x, int root, double sums) {
    double n = 1;
    int64_t most_of_body = AT_TILE_STRAIGHT_OPS;
    for (int i = root; i < x->num_loops; i++)
        if (!est_unrolled(&x->loop[i]) && x->loop[i].turns > 1) most_of_body = AT_TILE_SUM_OPS;
    for (int i = root; i < x->num_loops; i++) {
        const est_loop *l = &x->loop[i];
        double inside = 2 * sums;
        bool counted = false;
        if (!l->sums || l->turns == 1 || l->is_dynamic) continue;
        for (int k = i + 1; k < x->num_loops; k++) {
            counted |= !est_unrolled(&x->loop[k]);
            if (x->loop[k].sums && est_unrolled(&x->loop[k])) inside *= x->loop[k].turns;
        }
        int64_t turns = (int64_t)l->turns;
        if (!est_unrolled(l) && !counted && inside <= AT_THIN_OPS) {
            int64_t most = turns < AT_THIN_STEPS ? turns : AT_THIN_STEPS, size = most;
            for (int64_t f = most; f > most / 2; f--)
                if (turns % f == 0) {
                    size = f;
                    break;
                }
            return n * (double)size * inside / (2 * sums);
        }
        if (!est_unrolled(l)) continue;
        if (inside * l->turns > (double)most_of_body) {
            int64_t size = 1;
            for (int64_t f = 1; f <= turns && (double)f * inside <= (double)most_of_body; f++)
                if (turns % f == 0) size = f;
            n *= (double)size;
        } else n *= l->turns;
    }
    return n;
}

/* Partial sums of each element, which are added up at the end. */
static double chains(const at_estimator *e, const est_leaf *x, int root, double sums) {
    double n = ceil(AT_TILE_CHAINS / sums), most = copies(x, root, sums);
    while (n > 1 && sums * n > e->o.target->regs - 4) n--;
    return n < most ? n : most;
}

/* ---- one tile, cut into parts ---------------------------------------------------------------- */

enum { MOST_OVERLAPS = 4 };
typedef struct { /* what the steps of a loop of the sum read, of which the next row reads some */
    int64_t step[MAX_READS];
    double turns;
} overlap;

typedef struct { /* of the tile of a sum */
    est_leaf *x;
    int root; /* its first loop */
    at_part part[AT_PARTS_MAX];
    int which[AT_PARTS_MAX], num_parts;    /* loops */
    int64_t other;                         /* registers along what is not cut */
    double steps, again;                   /* of the sum; of the loops that are no registers */
    double width;                          /* elements of a register */
    double share;                          /* of the steps that count */
    double each, ends;                     /* operations of a step, and behind the sum */
    double slower;                         /* times: of vectors whose elements lie apart */
    double least_ns;                       /* of a step */
    double memory_ns;                      /* of a multiply-add, where sums are kept in memory */
    int64_t step[MAX_READS][AT_PARTS_MAX]; /* elements that an access moves in the part's loop, */
    overlap overlap[MOST_OVERLAPS];        /* loops of the sum that are unrolled, outer first */
    int num_overlaps;
    double end_ns;      /* of a call: where its sum ends */
    double peak_ns;     /* of a multiply-add */
    unsigned grouped;   /* bits: parts whose loop has sums inside it, the rows of a turn of which */
    double group_steps; /* are a group that is summed up by itself, in so many steps */
    bool is_dynamic;    /* it goes over a list */
    bool goes_on;       /* the next call adds to what this one stores */
    bool is_shifted;    /* where a vector's elements lie is worked out for each */
} tile;

/* Is the loop a vector of every access? */
static bool is_vector(const est_leaf *x, int loop) {
    for (int k = 0; k < x->num_accesses; k++)
        if (!x->access[k].written && x->access[k].step[loop] != 0 && x->access[k].step[loop] != 1)
            return false;
    return true;
}

/* Is the term joined by one instruction that makes it, too? */
static bool product(const at_estimator *e, const at_tensor *t) {
    return e->o.target->fused && t->reduction == AT_REDUCE_SUM && t->body->op == AT_X_MUL;
}

static void set_tile(const at_estimator *e, est_leaf *x, const est_leaf *end, int root, tile *t) {
    const int lanes = e->o.target->lanes;
    const est_stage *s = &e->stages[x->node->tensor];
    *t = (tile){.x = x,
                .root = root,
                .other = 1,
                .steps = 1,
                .again = 1,
                .width = lanes,
                .slower = 1,
                .share = s->share,
                .each = s->operations + !product(e, x->stage),
                .goes_on = root > 0 && (end ? end : x)->loop[root - 1].sums,
                .ends = end ? e->stages[end->node->tensor].operations : 0};
    for (int i = root; i < x->num_loops; i++) {
        const est_loop *l = &x->loop[i];
        bool vector = l->ann == AT_ANN_VEC, everywhere = !end;
        if (l->sums) t->steps *= vector && is_vector(x, i) ? ceil(l->turns / lanes) : l->turns;
        else if (!est_unrolled(l)) t->again *= l->turns;
        if (l->sums && est_unrolled(l) && t->num_overlaps < MOST_OVERLAPS) {
            overlap *w = &t->overlap[t->num_overlaps++];
            for (int k = 0; k < x->num_accesses; k++) w->step[k] = x->access[k].step[i];
            w->turns = l->turns;
        }
        if (l->sums && t->num_parts && !t->group_steps) t->grouped = (1u << t->num_parts) - 1;
        if (l->sums && t->grouped) t->group_steps = fmax(1, t->group_steps) * l->turns;
        if (l->sums || !est_unrolled(l)) continue;
        for (int k = 0; end && k < end->num_loops; k++)
            everywhere |= end->loop[k].name == l->name && est_unrolled(&end->loop[k]);
        if (vector && !is_vector(x, i)) t->width = 1, t->slower = gather;
        t->is_shifted |= l->is_shifted;
        int64_t turns = (int64_t)l->turns;
        if (everywhere && t->num_parts < AT_PARTS_MAX) {
            for (int k = 0; k < x->num_accesses; k++)
                t->step[k][t->num_parts] = x->access[k].step[i];
            t->which[t->num_parts] = i;
            t->part[t->num_parts++] = (at_part){.vector = vector, .extent = turns};
        } else t->other *= vector ? (turns + lanes - 1) / lanes : turns;
    }
}

/* What a step waits for, and the end of a call. */
static void set_waits(const at_estimator *e, tile *t) {
    const est_leaf *x = t->x;
    const at_speeds *s = e->o.speeds;
    double share = t->width / e->o.target->lanes, apart = 1;
    t->peak_ns = s->peak_gflops > 0 ? 2 * e->o.target->lanes / s->peak_gflops : 0;
    bool inside = false, is_stored = false, is_dynamic = false, is_looped = false,
         is_broadcast = false;
    for (int i = t->root; i < x->num_loops; i++) {
        const est_loop *l = &x->loop[i];
        inside |= l->sums;
        is_dynamic |= l->is_dynamic;
        is_looped |= l->sums && !est_unrolled(l);
        for (int k = 1; k < x->num_accesses && l->ann == AT_ANN_VEC; k++)
            is_broadcast |= x->access[k].step[i] == 0;
        if (l->sums || !inside) continue;
        is_stored |= !est_unrolled(l);
        apart *= l->ann == AT_ANN_VEC ? ceil(l->turns / t->width) : l->turns;
    }
    const double one = (double)s->stored_ns[0], begin = (double)s->stored_ns[1],
                 again = (double)s->stored_ns[2];
    t->is_dynamic = is_dynamic;
    if (is_looped && !is_dynamic && is_broadcast) t->end_ns = end_ns;
    if (is_stored) t->memory_ns = share * fmax(one + begin / apart, again / apart);
    else if (is_dynamic) t->least_ns = share * t->peak_ns * add_to_add;
}

/* Of so many elements there is no load and store but by a mask. */
static bool is_masked(int64_t elements) {
    return elements > 1 && elements != 4 && elements != 8 && elements != 16;
}

/* How much of what an access reads in rows that are `step` apart each term has to load. copied: how
 * many steps of the sum are in the code. */
static double rows_read(const tile *t, int access, int64_t step, double rows, double copied) {
    for (int i = t->num_overlaps - 1; i >= 0; i--) {
        const overlap *w = &t->overlap[i];
        int64_t one = w->step[access];
        if (w->turns > copied) break;
        copied /= w->turns;
        if (one && step % one == 0 && step / one > 0 && (double)(step / one) < w->turns)
            return ((rows - 1) * (double)(step / one) + w->turns) / w->turns;
    }
    return rows;
}

/* Vectors that a step loads, where each multiply-add has some of its own: as many multiply-adds at
 * the peak. Of what unrolled steps of the sum have in common, a step has its share. size: of each
 * part. */
static double loads(const at_estimator *e, const tile *t, const int64_t *size, double copied) {
    const est_leaf *x = t->x;
    const int lanes = e->o.target->lanes;
    double all = 0;
    for (int k = 0; k < x->num_accesses; k++) {
        const est_access *a = &x->access[k];
        double n = 1, odd = 1;
        if (a->written) continue;
        for (int i = 0; i < t->num_parts; i++) {
            if (!t->step[k][i]) continue;
            if (t->part[i].vector) {
                n *= ceil((double)size[i] / lanes);
                if (is_masked(size[i] % lanes)) odd = unaligned;
            } else n *= rows_read(t, k, t->step[k][i], (double)size[i], copied);
        }
        all += n * odd;
    }
    return all;
}

/* Instructions that are under way at once: multiply-adds of groups that follow each other overlap
 * in these. */
static const double window = 350;

/* A step of rows in groups that are summed up one after the other. */
static double grouped_ns(const at_estimator *e, const tile *t, double rows, double groups,
                         double vectors, int width, double together_ns) {
    double in_group = rows / groups;
    double alone_ns = tile_ns(e, in_group, vectors, width, STEP);
    double apart_ns = groups * fmax(alone_ns, t->peak_ns * add_to_add_alone);
    double length = t->group_steps * (in_group * vectors + in_group + vectors) / window;
    double share = length < 1 ? length * sqrt(length) / 2 : 1 - 1 / (2 * length);
    return together_ns + share * fmax(0, apart_ns - together_ns);
}

/* All parts of tiles that are run so often: whole ones and those left over. far: share of the
 * vectors that come from L2. */
static double parts_ns(at_estimator *e, const tile *t, double calls, double far) {
    double ns = 0;
    for (int mask = 0; mask < 1 << t->num_parts; mask++) {
        double rows = (double)t->other, vectors = 1, times = calls, groups = 1;
        int width = at_speeds_width(e->o.target, 1);
        int64_t sizes[AT_PARTS_MAX];
        bool masked = false;
        double elements = 1; /* of a vector that is gathered */
        for (int i = 0; i < t->num_parts; i++) {
            const at_part *p = &t->part[i];
            int64_t size = p->size < p->extent ? p->size : p->extent;
            int64_t whole = p->extent / size, rest = p->extent % size;
            times *= mask >> i & 1 ? rest > 0 : (double)whole;
            if (mask >> i & 1) size = rest;
            sizes[i] = size;
            if (p->vector && t->width > 1) {
                vectors *= ceil((double)size / t->width);
                width = at_speeds_width(e->o.target, size);
                masked |= is_masked(size % e->o.target->lanes);
            } else {
                rows *= (double)size;
                if (t->grouped >> i & 1) groups *= (double)size;
                if (p->vector) elements = (double)size;
            }
        }
        if (times == 0) continue;
        double sums = rows * vectors, joins = chains(e, t->x, t->root, sums) - 1;
        e->out->calls += times;
        e->out->sum_calls += times;
        e->out->operations +=
            times * sums * t->again * (t->steps * t->share * t->each + t->ends + joins);
        double near = tile_ns(e, rows, vectors, width, STEP);
        if (groups > 1) near = grouped_ns(e, t, rows, groups, vectors, width, near);
        double step = near + far * fmax(0, tile_ns(e, rows, vectors, width, FAR) - near);
        if (t->slower > 1 && rows <= SINGLE) /* an element to a register */
            step = t->peak_ns * fmax(single_load * (rows / elements + elements), add_to_add_alone);
        else step *= t->slower;
        step = fmax(fmax(step, t->least_ns), sums * t->memory_ns);
        double loaded = loads(e, t, sizes, copies(t->x, t->root, sums));
        if (loaded > rows + vectors) step = fmax(step, loaded * t->peak_ns);
        if (t->goes_on && masked) ns += times * t->again * sums * masked_ns;
        ns += times * t->again *
              (t->steps * t->share * step + tile_ns(e, rows, vectors, width, CALL) + t->end_ns);
    }
    return ns;
}

/* Lines of its vectors that all steps of a sum read, if none is kept. */
static double vector_lines(const est_leaf *x, const est_access *a, int root) {
    double n = 1;
    for (int i = 0; i < x->num_loops; i++) {
        const est_loop *l = &x->loop[i];
        if (i >= root && l->ann == AT_ANN_VEC) n *= l->turns / 16;
        else if (i < root || l->sums || !est_unrolled(l) || a->step[i]) n *= l->turns;
    }
    return n;
}

/* ---- tails ----------------------------------------------------------------------------------- */

typedef struct { /* an axis that the loops around tiles exceed */
    int part;
    int64_t whole, rest; /* extent of the tile's outermost loop over it, and of the last one */
    double whole_share, all_share; /* of all turns: those with a whole one, and those with any */
} tail;

static int find_tails(const at_program *p, const tile *t, tail *tails) {
    int n = 0;
    for (int i = 0; i < t->num_parts && n < 2; i++) {
        const est_leaf *x = t->x;
        const est_loop *l = &x->loop[t->which[i]];
        double inside = (double)l->coef * l->turns, turns = 1;
        bool outermost = true;
        for (int k = 0; k < x->num_loops; k++) {
            if (x->loop[k].axis != l->axis) continue;
            if (k < t->root) turns *= x->loop[k].turns;
            else outermost &= x->loop[k].coef <= l->coef;
        }
        double extent = (double)p->extents[x->node->tensor][l->axis];
        if (!outermost || turns * inside <= extent) continue;
        double whole = floor(extent / inside), rest = extent - whole * inside;
        tails[n++] = (tail){.part = i,
                            .whole = (int64_t)l->turns,
                            .rest = (int64_t)ceil(rest / (double)l->coef),
                            .whole_share = whole / turns,
                            .all_share = (whole + (rest > 0)) / turns};
    }
    return n;
}

/* Steps beyond the end of the axes that are summed over. */
static void exceed(const at_program *p, tile *t) {
    const est_leaf *x = t->x;
    for (int a = x->stage->num_axes; a < x->node->num_axes; a++) {
        double extent = (double)p->extents[x->node->tensor][a], turns = 1;
        for (int k = t->root; k < x->num_loops; k++)
            if (x->loop[k].axis == a) turns *= x->loop[k].turns;
        if (extent > 0 && turns > extent) t->steps *= extent / turns;
    }
}

/* Share of the turns around a tile that lie within the axes it has no loop of. */
static double within(const at_program *p, const tile *t) {
    const est_leaf *x = t->x;
    double share = 1;
    for (int a = 0; a < x->stage->num_axes; a++) {
        double extent = (double)p->extents[x->node->tensor][a], turns = 1;
        bool inside = false;
        for (int k = 0; k < x->num_loops; k++) {
            if (x->loop[k].axis != a) continue;
            turns *= x->loop[k].turns;
            inside |= k >= t->root;
        }
        if (!inside && turns > extent && extent > 0) share *= extent / turns;
    }
    return share;
}

/* ---- the sum --------------------------------------------------------------------------------- */

/* The loops of a sum become those of its parts: a cut loop stays around as what goes through its
 * parts. false: none is cut. */
static bool cut(est_leaf *x, int root, const at_part *parts, const int *which, int n) {
    const int before = x->num_loops;
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
        x->loop[root].coef *= parts[i].size;
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
    return x->num_loops > before;
}

/* Tiles of one multiply-add each. */
static double elements_ns(at_estimator *e, const tile *t, double calls) {
    const at_speeds *s = e->o.speeds;
    double n = calls * est_turns(t->x, t->root, t->x->num_loops) * t->share;
    e->out->calls += n;
    e->out->sum_calls += n;
    e->out->operations += n * t->each;
    return n * ((double)(s->narrow_ns[0][0] + s->narrow_call_ns[0][0]) + address_ns);
}

/* Share of the time of lines that come while a sum in registers waits, which is not saved. */
static const double meanwhile = 0.1;

/* While a sum waits for itself, lines come. */
static void come_meanwhile(const tile *t, const at_estimate *before, at_estimate *now) {
    double working_ns = (now->operations - before->operations) * t->peak_ns;
    double waiting_ns = fmax(0, now->sums_ns - before->sums_ns - working_ns);
    double hidden_ns = fmin(now->memory_ns - before->memory_ns, waiting_ns);
    now->memory_ns -= (t->memory_ns > 0 ? 1 : 1 - meanwhile) * hidden_ns;
}

/* A turn of a parallel loop calls a function and works out addresses. Behind a list, whose end no
 * core foresees, nothing else runs meanwhile. */
static const double parallel_ns = 5;
static double parallel_turns(const est_leaf *x, int root) {
    int n = root;
    while (n > 0 && x->loop[n - 1].ann != AT_ANN_PARA) n--;
    return n ? est_turns(x, 0, n) : 0;
}

void est_sum(at_estimator *e, const at_program *p, est_leaf *x, const est_leaf *end, int root) {
    tile t;
    tail tails[2];
    set_tile(e, x, end, root, &t);
    set_waits(e, &t);
    exceed(p, &t);
    int n = find_tails(p, &t, tails), vectors = -1;
    double all = est_turns(x, 0, root) * within(p, &t), far_lines = 0, far = 0;
    for (int i = root; i < x->num_loops; i++)
        for (int k = 1; k < x->num_accesses && x->loop[i].ann == AT_ANN_VEC; k++)
            if (x->access[k].step[i] == 1) vectors = k;
    if (t.is_shifted) {
        est_memory(e, x, -1, NULL);
        e->out->sums_ns += elements_ns(e, &t, all);
        return;
    }
    const at_estimate before = *e->out;
    choose(e, t.part, t.num_parts, t.other);
    if (cut(x, root, t.part, t.which, t.num_parts)) est_touch(x);
    est_memory(e, x, vectors, &far_lines);
    if (end) est_memory(e, end, -1, NULL);
    if (far_lines > 0) far = fmin(1, far_lines / vector_lines(x, &x->access[vectors], root));
    for (int mask = 0; mask < 1 << n; mask++) {
        double calls = all;
        for (int i = 0; i < n; i++) {
            bool rest = mask >> i & 1;
            calls *= rest ? tails[i].all_share - tails[i].whole_share : tails[i].whole_share;
            t.part[tails[i].part].extent = rest ? tails[i].rest : tails[i].whole;
        }
        if (calls <= 0) continue;
        if (n) choose(e, t.part, t.num_parts, t.other);
        e->out->sums_ns += parts_ns(e, &t, calls, far);
    }
    if (t.least_ns > 0 || t.memory_ns > 0) come_meanwhile(&t, &before, e->out);
    if (t.is_dynamic) e->out->sums_ns += parallel_ns * parallel_turns(x, root);
}
