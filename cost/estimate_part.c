/* cost/estimate_part.c: how long the parts of a sum's tile take: register tiles, by the machine's
 * table, and what they wait for. */
#include "cost/estimate_tile_int.h"

#include <math.h>
#include <stdlib.h>

/* How many loads that are an operand of a multiply-add a load by itself counts as. */
static const double unaligned = 2;
/* The same of a vector of every second, third, .. element, whose lanes are picked from several. */
static const double picked = 5;
/* Elements that are farther apart are moved each by itself. */
static const double one_by_one = 2;
/* A tile of so few elements loads its elements one by one. */
enum { SINGLE = 16 };

typedef enum { STEP, FAR, CALL } which_time;

/* The time of a step or call of a register tile. width: elements of its only vector, where they are
 * fewer than a register's. */
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
    bool is_repeated = false;
    for (int i = root; i < x->num_loops; i++)
        is_repeated |= !est_unrolled(&x->loop[i]) && x->loop[i].turns > 1;
    const int64_t most_of_body = at_tile_sum_ops(is_repeated);
    for (int i = root; i < x->num_loops; i++) {
        const est_loop *l = &x->loop[i];
        double inside = 2 * sums;
        bool counted = false;
        if (!l->sums || l->turns == 1 || l->is_dynamic || l->is_dot) continue;
        for (int k = i + 1; k < x->num_loops; k++) {
            counted |= !est_unrolled(&x->loop[k]);
            if (x->loop[k].sums && est_unrolled(&x->loop[k]) && !x->loop[k].is_dot)
                inside *= x->loop[k].turns;
        }
        int64_t turns = (int64_t)l->turns;
        if (!est_unrolled(l) && !counted && inside <= AT_THIN_OPS)
            return n * (double)at_tile_thin_steps(turns) * inside / (2 * sums);
        if (!est_unrolled(l)) continue;
        n *= inside * l->turns > (double)most_of_body
                 ? (double)at_tile_unrolled_turns(turns, 1, inside, most_of_body)
                 : l->turns;
    }
    return n;
}

/* Partial sums of each element, which are added up at the end. */
static double chains(const at_estimator *e, const est_leaf *x, int root, double sums) {
    const int64_t n = at_tile_chains(e->o.target, sums, AT_TILE_CHAINS, 0);
    return est_min((double)n, copies(x, root, sums));
}

/* Of so many elements there is no load and store but by a mask. */
static bool is_masked(int64_t elements) {
    return elements > 1 && elements != 4 && elements != 8 && elements != 16;
}

/* The rows that each term loads, of the rows that an access reads, which are `step` apart. copied:
 * how many steps of the sum are in the code. */
static double rows_read(const est_tile *t, int access, int64_t step, double rows, double sums,
                        double copied) {
    bool is_looped = false;
    for (int i = t->num_overlaps - 1; i >= 0; i--) {
        const est_overlap *w = &t->overlap[i];
        int64_t one = w->step[access];
        if (w->is_loop && (is_looped || 2 * sums > AT_THIN_OPS)) return rows;
        is_looped |= w->is_loop;
        if (w->turns > copied) break;
        copied /= w->turns;
        if (one && step % one == 0 && step / one > 0 && (double)(step / one) < w->turns)
            return ((rows - 1) * (double)(step / one) + w->turns) / w->turns;
        if (step && one % step == 0 && one / step > 0 && (double)(one / step) < rows)
            return (rows + (double)(one / step) * (w->turns - 1)) / w->turns;
    }
    return rows;
}

/* Rows that an access moves by: the rows of part i, and of the parts behind it along which the
 * access moves as far, each further row of which reads one row more; 0: an earlier part counts
 * these rows. */
static double rows_along(const est_tile *t, int access, int i, const int64_t *size) {
    const int64_t *step = t->step[access];
    double rows = 1;
    for (int j = 0; j < t->num_parts; j++) {
        if (t->part[j].vector || step[j] != step[i]) continue;
        if (j < i) return 0;
        rows += (double)size[j] - 1;
    }
    return rows;
}

/* Vectors that a step loads, where each multiply-add has some of its own: as many multiply-adds at
 * the peak. Of what unrolled steps of the sum have in common, a step has its share. size: of each
 * part. */
static double loads(const at_estimator *e, const est_tile *t, const int64_t *size, double sums,
                    double copied) {
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
                const int64_t step = llabs(t->step[k][i]);
                n *= ceil((double)size[i] / lanes);
                if (is_masked(size[i] % lanes)) odd = unaligned;
                if (t->slower <= 1 && t->in_lanes >> i & 1 && step > t->lane)
                    odd = step <= AT_TILE_WHOLE_STEP ? picked : one_by_one * lanes;
                continue;
            }
            double rows = rows_along(t, k, i, size);
            if (rows > 0) n *= rows_read(t, k, t->step[k][i], rows, sums, copied);
        }
        all += n * odd;
    }
    return all;
}

/* Instructions that a core has under way at once: groups of multiply-adds, or calls, that follow
 * each other overlap within so many. */
static const double window = 350;

/* The share of a group's waiting time that counts, where groups of so many instructions follow each
 * other and no group needs a result of the group before. */
static double left_to_wait(double instructions) {
    double length = instructions / window;
    return length < 1 ? length * sqrt(length) / 2 : 1 - 1 / (2 * length);
}

/* The operations on each sum at the end of a call take the time of as many multiply-adds. */
static double used_up_ns(const at_estimator *e, const est_tile *t, double sums) {
    return sums * (t->ends + t->apart) * est_least_ns(e);
}

/* A step of rows in groups that are summed up one after the other. */
static double grouped_ns(const at_estimator *e, const est_tile *t, double rows, double groups,
                         double vectors, int width, double together_ns) {
    double in_group = rows / groups;
    double alone_ns = tile_ns(e, in_group, vectors, width, STEP);
    double apart_ns = groups * est_max(alone_ns, (double)e->speeds.waits_ns[0]);
    double share = left_to_wait(t->group_steps * (in_group * vectors + in_group + vectors));
    return together_ns + share * est_max(0, apart_ns - together_ns);
}

/* Loads alone count where there are so many times the sums that a multiply-add waits for. */
static const double ahead = 1.5;

/* A step that has operands in common with other unrolled steps, which are loaded once for all of
 * these steps: of the time of its loads beside multiply-adds the share of its own loads is left.
 * partial: sums of each element. */
static double shared_ns(const at_estimator *e, const est_tile *t, double rows, double vectors,
                        double loaded, double partial, double alone_ns) {
    const double sums = rows * vectors, all = rows + vectors, least_ns = sums * t->peak_ns;
    if (loaded >= all || all <= sums || alone_ns <= least_ns) return alone_ns;
    if (partial * least_ns < ahead * (double)e->speeds.waits_ns[0]) return alone_ns;
    return least_ns + (alone_ns - least_ns) * est_max(0, loaded - sums) / (all - sums);
}

/* One way to combine whole parts of a tile with those left over. */
typedef struct part_choice {
    double rows, vectors, times, groups; /* times: how often the choice runs */
    double elements;                     /* of a vector that is gathered */
    int width;
    int64_t sizes[AT_PARTS_MAX];
    bool masked;
} part_choice;

/* mask: bits of the parts that are left over. */
static part_choice part_choice_of(const at_estimator *e, const est_tile *t, int mask) {
    part_choice c = {.rows = (double)t->other,
                     .vectors = 1,
                     .times = 1,
                     .groups = 1,
                     .elements = 1,
                     .width = at_speeds_width(e->o.target, t->lanes_sum ? e->o.target->lanes : 1)};
    for (int i = 0; i < t->num_parts; i++) {
        const at_part *p = &t->part[i];
        int64_t size = p->size < p->extent ? p->size : p->extent;
        int64_t whole = p->extent / size, rest = p->extent % size;
        c.times *= mask >> i & 1 ? rest > 0 : (double)whole;
        if (mask >> i & 1) size = rest;
        c.sizes[i] = size;
        if (p->vector && t->width > 1) {
            c.vectors *= ceil((double)size / t->width);
            c.width = at_speeds_width(e->o.target, size);
            c.masked |= is_masked(size % e->o.target->lanes);
        } else {
            c.rows *= (double)size;
            if (t->grouped >> i & 1) c.groups *= (double)size;
            if (p->vector) c.elements = (double)size;
        }
    }
    return c;
}

/* How much longer a step's vectors take where they come from L2. Where lanes lie along the sum,
 * each row has a vector of its own. */
static double further_ns(const at_estimator *e, const est_tile *t, const part_choice *c,
                         double vectors, double near_ns) {
    double own = 1;
    if (!t->lanes_sum || t->vectors < 0)
        return est_max(0, tile_ns(e, c->rows, vectors, c->width, FAR) - near_ns);
    for (int i = 0; i < t->num_parts; i++)
        if (t->step[t->vectors][i]) own *= (double)c->sizes[i];
    return own * est_max(0, tile_ns(e, 1, 1, -1, FAR) - tile_ns(e, 1, 1, -1, STEP));
}

/* What a step of terms takes beside multiply-adds. */
static double worked_ns(const at_estimator *e, const est_tile *t, const part_choice *c) {
    double sum = 0;
    for (int w = 0; w < t->works.num; w++) {
        double vectors = (double)t->other;
        for (int i = 0; i < t->num_parts; i++) {
            const double size = (double)c->sizes[i];
            if (!(t->worked[w] >> i & 1)) continue;
            vectors *= t->part[i].vector ? ceil(size / e->o.target->lanes) : size;
        }
        sum += vectors * t->works.of[w].time;
    }
    return sum * est_least_ns(e);
}

/* Rows of a tile, and terms of a block, of which lowering writes a triangle out. */
static const double most_written_out = 8;

/* Steps of a call that are terms of some of its rows only, by a diagonal: rows of such a step are a
 * tile by themselves, whose sums are in memory. Not where the diagonal goes from corner to corner
 * of blocks, so that all of them have the same terms. */
static double steps_apart(const est_tile *t, const part_choice *c) {
    const double rows = t->diagonal ? (double)c->sizes[t->diagonal_part] : 1,
                 all = (double)t->part[t->diagonal_part].extent;
    if (rows < 2 || (all == t->diagonal_block && all <= most_written_out)) return 0;
    return t->steps * est_min(2 * t->share, t->diagonal->apart * (rows - 1));
}

/* Half of the rows have a step's term, in the mean. Of three rows and more, neighbouring steps add
 * to the same row. */
static double step_apart_ns(const at_estimator *e, const est_tile *t, const part_choice *c,
                            double sums) {
    const at_speeds *s = e->o.speeds;
    const double one_ns = sums / 2 * (double)s->stored_ns[0] + (double)s->stored_ns[1];
    return est_address_ns +
           (c->sizes[t->diagonal_part] > 2 ? est_max(one_ns, (double)s->stored_ns[2]) : one_ns);
}

double est_parts_ns(at_estimator *e, const est_tile *t, double calls, double far) {
    double ns = 0;
    for (int mask = 0; mask < 1 << t->num_parts; mask++) {
        const part_choice c = part_choice_of(e, t, mask);
        const double rows = c.rows, times = calls * c.times;
        double vectors = c.vectors;
        if (times == 0) continue;
        double own = rows * vectors, sums = own * t->together;
        double joins = chains(e, t->x, t->root, sums) - 1;
        e->out->operations +=
            times * own * t->again * (t->steps * t->share * t->each + t->ends + joins);
        ns += times * t->again * t->steps * t->share * worked_ns(e, t, &c);
        if (t->is_beside) continue;
        e->out->calls += times / t->turns;
        e->out->sum_calls += times / t->turns;
        vectors *= t->together; /* what they share are rows */
        double near = t->per_term * tile_ns(e, rows, vectors, c.width, STEP);
        if (c.groups > 1) near = grouped_ns(e, t, rows, c.groups, vectors, c.width, near);
        double further = far * further_ns(e, t, &c, vectors, near);
        double loaded = loads(e, t, c.sizes, sums, copies(t->x, t->root, sums));
        if (!t->is_paired && t->slower <= 1 && !t->is_dynamic)
            near = shared_ns(e, t, rows, vectors, loaded, joins + 1, near);
        double step = near + further;
        if (t->slower > 1 && rows <= SINGLE) /* an element to a register */
            step = est_max((double)e->speeds.waits_ns[3] * (rows / c.elements + c.elements),
                           (double)e->speeds.waits_ns[0]);
        else step *= t->slower;
        step = est_max(est_max(step, t->least_ns), sums * t->memory_ns) + t->cut_ns;
        if (loaded > rows + vectors) step = est_max(step, loaded * t->peak_ns);
        double call = tile_ns(e, rows, vectors, c.width, CALL) + t->end_ns;
        /* Of a few steps each: turns of one loop, which load the sums and store them. */
        if (t->in_blocks && t->steps <= AT_THIN_STEPS) call = sums * (double)e->speeds.copy_ns;
        if (t->turns > 1) call = call / t->turns + sums * (double)e->speeds.copy_ns;
        if (t->is_paired) { /* calls are short, and one goes on while the next begins */
            double share = left_to_wait(t->steps * t->share * (sums + loaded));
            double least = t->peak_ns * est_max(sums, loaded);
            step -= (1 - share) * est_max(0, step - least);
            call *= share;
        }
        if (t->goes_on && c.masked) ns += times * t->again * sums * (double)e->speeds.waits_ns[1];
        const double apart = steps_apart(t, &c);
        if (apart > 0) call += apart * step_apart_ns(e, t, &c, sums);
        const double steps = t->steps * t->share - apart / 2;
        ns += times * t->again * (steps * step + call + used_up_ns(e, t, own));
    }
    return ns;
}
