/* cost/estimate_sum.c: a sum's tile: its parts, how often each is called, and what it waits for. */
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

/* Where a loop goes over a list: the wait of a multiply-add for the one before, as a share. */
static const double add_to_add = 5.5 / 8;

/* The end of a sum that is a loop, since a core begins one more turn of it. Calls whose factors are
 * both vectors, as in depthwise convolutions, hide it. */
static const double end_ns = 2.5;

/* ---- one tile, cut into parts ---------------------------------------------------------------- */

/* Is the loop a vector of every access? */
static bool is_vector(const at_estimator *e, const est_leaf *x, int loop) {
    for (int k = 0; k < x->num_accesses; k++) {
        int64_t step = x->access[k].step[loop];
        const bool picks = at_target_picks(e->o.target, x->access[k].buffer->bytes, step);
        if (x->access[k].single >> loop & 1) return false;
        if (!x->access[k].written && step != 0 && step != 1 && !picks) return false;
    }
    return true;
}

/* Elements from one lane to the next of a vector that lies in a row: the terms of a dot product do
 * so themselves. */
static int64_t lane_step(const est_leaf *x) {
    for (int i = x->num_loops - 1; i >= 0; i--)
        if (x->loop[i].is_dot) return (int64_t)x->loop[i].turns;
    return 1;
}

/* Is the loop a piece of fused lanes that run through all of their pieces, as lowering has them
 * where every access goes on in the same steps, is the same for some neighbours, or goes round? */
static bool is_flat(const at_estimator *e, const est_leaf *x, int loop) {
    const est_loop *l = &x->loop[loop], *inner = l + 1;
    if (loop + 1 >= x->num_loops || inner->node != l->node || inner->ann != AT_ANN_VEC ||
        l->node->ann != AT_ANN_VEC || l->sums)
        return false;
    for (int k = 0; k < x->num_accesses; k++) {
        const int64_t far = x->access[k].step[loop], near = x->access[k].step[loop + 1];
        const bool goes_on = near > 0 && far == near * (int64_t)inner->turns,
                   goes_round = near == lane_step(x) && far == 0, spread = near == 0;
        if (!goes_on && !goes_round && !spread) return false;
    }
    return (double)e->o.target->lanes > inner->turns;
}

enum { WORDS = 2 }; /* of 16 bits to a lane */

/* A product of 32-bit integers and its sum, each an instruction or two, in multiply-adds. */
static const double int_term = 3;

/* Four products of bytes as two dot products of pairs of s16, which the bytes are widened to: on
 * Sapphire Rapids with four lanes 1.8 times as long as of words in memory. */
static const double widened_terms = 3.6;

/* What a term takes, of a multiply-add. */
static double per_term(const at_estimator *e, const est_leaf *x) {
    const at_speeds *s = e->o.speeds;
    const bool is_int = at_type_of(x->stage->type)->is_int;
    const double terms = (double)lane_step(x);
    if (terms == 1) return is_int ? int_term : 1;
    if (is_int && terms == AT_DOT_TERMS && !(e->o.target->dots & AT_DOT_BYTES))
        return widened_terms;
    const float gops = is_int ? s->dot_gops * (float)terms / AT_DOT_TERMS : s->bf16_gops;
    const bool is_measured = gops > 0 && s->peak_gflops > 0;
    if (is_int && terms == WORDS && e->o.target->dot_regs) return 1; /* multiplied, then added */
    return is_measured ? terms * (double)(s->peak_gflops / gops) : e->o.target->dot_terms;
}

/* How many products are terms of the sum or difference e? */
static int products(const at_expr *e) {
    if (e->op == AT_X_ADD || e->op == AT_X_SUB) return products(e->arg[0]) + products(e->arg[1]);
    return e->op == AT_X_MUL;
}

/* Products that the instruction that multiplies also adds. */
static int joined(const at_estimator *e, const est_leaf *x) {
    const bool is_fused = x->stage->type == AT_F32 ? e->o.target->fused : lane_step(x) > 1;
    return is_fused && x->stage->reduction == AT_REDUCE_SUM ? products(x->stage->body) : 0;
}

/* How many times as long a vector takes whose elements are loaded one by one. */
static double slower_apart(const at_speeds *s) {
    return est_max(1, (double)s->waits_ns[2] * AT_SPEED_ROWS /
                          (double)s->narrow_ns[0][AT_SPEED_ROWS - 1]);
}

/* Moves and stores of the elements of a vector, where these are written more than so many apart. */
static double moves(const at_estimator *e, const est_leaf *x, int64_t step) {
    bool is_apart = false;
    for (int k = 0; k < x->num_accesses; k++)
        for (int i = 0; i < x->num_loops && x->access[k].written; i++)
            is_apart |= x->loop[i].ann == AT_ANN_VEC && x->access[k].step[i] > step;
    return is_apart ? 2.0 * e->o.target->lanes : 0;
}

/* Moves and stores behind the sums of a register, of which each is stored by itself: far apart, and
 * no rows of the tile lie between. */
static double moves_apart(const at_estimator *e, const est_leaf *end) {
    bool is_filled = false;
    for (int k = 0; k < end->num_accesses; k++)
        for (int i = 0; i < end->num_loops && end->access[k].written; i++)
            is_filled |= est_unrolled(&end->loop[i]) && end->access[k].step[i] == 1;
    return is_filled ? 0 : moves(e, end, e->o.target->most_stored_step);
}

/* Vectors of a leaf's loops from `root` on; of a sum, those that it keeps. */
static double kept(const at_estimator *e, const est_leaf *x, int root) {
    double n = 1;
    for (const est_loop *l = x->loop + root; l < x->loop + x->num_loops; l++)
        if (!l->sums) n *= l->ann == AT_ANN_VEC ? ceil(l->turns / e->o.target->lanes) : l->turns;
    return n;
}

/* What each sum of a tile goes into, such as a row's elements that its maximum is taken from: so
 * much arithmetic, and where these are more vectors than sums, they are read and written. */
static void set_end(at_estimator *e, const at_program *p, const est_leaf *end, int root,
                    est_tile *t) {
    const double each = kept(e, end, root) / kept(e, t->x, root),
                 own = e->stages[end->node->tensor].operations,
                 through = est_works_time(est_worked_out(e, p, end->node->tensor)) - own;
    t->ends = own * est_max(1, each);
    t->apart = moves_apart(e, end) + through * est_max(1, each) + (each > 1 ? 2 * each : 0);
}

/* What the terms take beside the multiply-adds that the table has. It is worked out once for all
 * turns of the tile's loops that nothing in it depends on. */
static void set_works(at_estimator *e, const at_program *p, const est_leaf *x, int root,
                      est_tile *t) {
    if (at_type_of(x->stage->type)->is_int) return;
    t->works = *est_worked_out(e, p, x->node->tensor);
    for (int w = 0; w < t->works.num; w++) {
        const uint32_t axes = t->works.of[w].axes;
        t->works.of[w].time /=
            est_turns_alike(x, root, true, axes, t->lanes_sum ? e->o.target->lanes : 1);
        for (int i = root; i < x->num_loops; i++)
            for (int k = 0; k < t->num_parts && !x->loop[i].sums; k++)
                if (x->loop[t->which[k]].node == x->loop[i].node && x->loop[i].axis >= 0 &&
                    axes >> x->loop[i].axis & 1)
                    t->worked[w] |= 1u << k;
    }
}

static void set_tile(at_estimator *e, const at_program *p, const est_leaf *x, const est_leaf *end,
                     int root, est_tile *t) {
    const int lanes = e->o.target->lanes;
    const est_stage *s = &e->stages[x->node->tensor];
    *t = (est_tile){.x = x,
                    .root = root,
                    .other = 1,
                    .lane = lane_step(x),
                    .steps = 1,
                    .again = 1,
                    .turns = 1,
                    .width = lanes,
                    .slower = 1,
                    .per_term = per_term(e, x),
                    .share = x->terms->share,
                    .each = s->operations + 1 - joined(e, x),
                    .together = x->together,
                    .is_beside = x->is_beside,
                    .in_blocks = x->in_blocks,
                    .goes_on = root > 0 && (end ? end : x)->loop[root - 1].sums};
    if (end && !x->is_end_of_other) set_end(e, p, end, root, t);
    int64_t flat = 1; /* lanes beside those of a vector's own loop */
    for (int i = root; i < x->num_loops; i++) {
        const est_loop *l = &x->loop[i];
        bool vector = l->ann == AT_ANN_VEC, everywhere = !end;
        if (l->is_dot) continue;
        const bool sums_lanes = l->sums && vector && is_vector(e, x, i);
        const double steps = sums_lanes ? ceil(l->turns / lanes) : l->turns;
        t->lanes_sum |= sums_lanes;
        if (l->sums) t->steps *= steps;
        else if (!est_unrolled(l)) t->again *= l->turns;
        bool is_few = !l->is_dynamic && l->turns <= AT_THIN_STEPS;
        if (l->sums && !est_unrolled(l) && !is_few) t->num_overlaps = 0; /* of loops around it */
        else if (l->sums && t->num_overlaps < MOST_OVERLAPS) {
            est_overlap *w = &t->overlap[t->num_overlaps++];
            w->is_loop = !est_unrolled(l);
            for (int k = 0; k < x->num_accesses; k++) w->step[k] = x->access[k].step[i];
            w->turns = l->turns;
        }
        if (l->sums && t->num_parts && !t->group_steps) t->grouped = (1u << t->num_parts) - 1;
        if (l->sums && t->grouped) t->group_steps = est_max(1, t->group_steps) * steps;
        if (l->sums || !est_unrolled(l)) continue;
        for (int k = 0; end && k < end->num_loops; k++)
            everywhere |= end->loop[k].name == l->name && est_unrolled(&end->loop[k]);
        if (vector && !is_vector(e, x, i)) t->width = 1, t->slower = slower_apart(e->o.speeds);
        t->is_shifted |= l->is_shifted;
        if (is_flat(e, x, i)) {
            flat *= (int64_t)l->turns;
            continue;
        }
        int64_t turns = (int64_t)l->turns * (vector ? flat : 1);
        if (vector) flat = 1;
        if (everywhere && t->num_parts < AT_PARTS_MAX) {
            for (int k = 0; k < x->num_accesses; k++)
                t->step[k][t->num_parts] = x->access[k].step[i];
            t->which[t->num_parts] = i;
            if (vector && (i + 1 == x->num_loops || x->loop[i + 1].node != l->node))
                t->in_lanes |= 1u << t->num_parts;
            if (l->is_run) t->uncut |= 1u << t->num_parts;
            t->part[t->num_parts++] = (at_part){.vector = vector, .extent = turns};
        } else t->other *= vector ? (turns + lanes - 1) / lanes : turns;
    }
    set_works(e, p, x, root, t);
}

/* Share of a tile's vectors that padding cuts in some steps of its sum: their sums are in memory,
 * and what a step stores by one mask the next one loads by another. alone: rows are whole
 * registers, or a line long or longer, so that few reach into what is stored of the row beside. */
static double cut_share(const est_tile *t, int lanes, bool *alone) {
    const est_leaf *x = t->x;
    const est_terms *terms = x->terms;
    double share = 0;
    uint32_t steps = 0; /* axes that the tile sums over */
    *alone = true;
    if (!terms->num_borders) return 0;
    for (int i = t->root; i < x->num_loops; i++)
        if (x->loop[i].sums && x->loop[i].axis >= 0) steps |= 1u << x->loop[i].axis;
    for (int i = t->root; i < x->num_loops; i++)
        for (int k = 0; k < terms->num_borders && x->loop[i].ann == AT_ANN_VEC; k++) {
            const est_border *b = &terms->borders[k];
            double places = 0;
            if (b->axis != x->loop[i].axis || !(b->asked & steps)) continue;
            for (int j = 0; j < EST_FEWER; j++) places += b->fewer[j].number * (double)b->num;
            double ends = est_min(2, places), vectors = ceil(x->loop[i].extent / t->width);
            share = est_max(share, est_min(1, ends / vectors));
            const double row = x->loop[i].extent, line = (double)est_line(x->access[0].buffer);
            *alone &= t->width >= lanes && (fmod(row, lanes) == 0 || row >= line);
        }
    return share;
}

/* Share of the tiles in which a bound of an index decides within a vector: each term is loaded in
 * pieces of its own, and its sum is in memory. */
static double bounded_share(at_estimator *e, const at_program *p, const est_tile *t) {
    const est_leaf *x = t->x;
    const uint32_t bounded = est_bounded(e, p, x->node->tensor);
    double share = 0;
    for (int i = t->root; i < x->num_loops; i++) {
        const est_loop *l = &x->loop[i];
        if (l->ann == AT_ANN_VEC && l->axis >= 0 && !l->sums && bounded >> l->axis & 1)
            share = est_max(share, est_min(1, 2 * (double)l->coef * l->turns / l->extent));
    }
    return share;
}

/* Rows of a tile of which data decide by themselves which terms count; 1: none, or one at a time.
 */
static double rows_by_data(const at_estimator *e, const est_tile *t) {
    const est_leaf *x = t->x;
    double rows = 1;
    for (const est_loop *l = x->loop + t->root; l < x->loop + x->num_loops; l++)
        if (est_unrolled(l) && l->ann != AT_ANN_VEC && !l->sums && l->axis >= 0 &&
            e->stages[x->node->tensor].by_data >> l->axis & 1)
            rows *= l->turns;
    return rows;
}

/* What a step waits for, and the end of a call. */
static void set_waits(at_estimator *e, const at_program *p, est_tile *t) {
    const est_leaf *x = t->x;
    const at_speeds *s = e->o.speeds;
    const int64_t lane = lane_step(x);
    double share = t->width / e->o.target->lanes, apart = 1;
    t->peak_ns =
        s->peak_gflops > 0 ? t->per_term * 2 * e->o.target->lanes / (double)s->peak_gflops : 0;
    bool inside = false, is_stored = false, is_dynamic = false, is_looped = false,
         is_broadcast = false, is_vector_of_both = false;
    for (int i = t->root; i < x->num_loops; i++) {
        const est_loop *l = &x->loop[i];
        inside |= l->sums;
        is_dynamic |= l->is_dynamic;
        is_looped |= l->sums && !est_unrolled(l);
        int moved = 0;
        for (int k = 1; k < x->num_accesses && l->ann == AT_ANN_VEC; k++) {
            is_broadcast |= x->access[k].step[i] == 0;
            moved += x->access[k].step[i] == lane;
        }
        is_vector_of_both |= moved > 1;
        if (l->sums || !inside) continue;
        is_stored |= !est_unrolled(l);
        apart *= l->ann == AT_ANN_VEC ? ceil(l->turns / t->width) : l->turns;
    }
    const double one = (double)s->stored_ns[0], begin = (double)s->stored_ns[1],
                 again = (double)s->stored_ns[2];
    t->is_dynamic = is_dynamic;
    t->is_paired = is_vector_of_both && !is_broadcast;
    if (is_looped && !is_dynamic && is_broadcast) t->end_ns = end_ns;
    if (is_stored) t->memory_ns = share * est_max(one + begin / apart, again / apart);
    else if (is_dynamic) t->least_ns = share * (double)s->waits_ns[0] * add_to_add;
    bool alone;
    const double cut_ns = cut_share(t, e->o.target->lanes, &alone) * (double)s->waits_ns[1];
    if (cut_ns > 0) t->memory_ns = est_max(t->memory_ns, share * one);
    const double bounded = bounded_share(e, p, t);
    t->memory_ns = est_max(t->memory_ns, bounded * (one + moves(e, x, 1) * est_least_ns(e)));
    if (alone) t->cut_ns = cut_ns; /* other sums go on meanwhile */
    else t->memory_ns = est_max(t->memory_ns, cut_ns);
    t->cut_ns += bounded * (double)s->waits_ns[1];
    const double rows = rows_by_data(e, t);
    if (rows > 1) { /* each is a tile of its own in each step */
        t->memory_ns = est_max(t->memory_ns, share * one);
        t->cut_ns += rows * (double)s->turn_ns;
    }
}

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

/* Do all steps of the sum read lines of their own, of so many in all? Else some come in bursts, and
 * other steps find them nearer. */
static bool comes_evenly(const est_leaf *x, const est_access *a, int root, double lines) {
    int tile = root; /* its first loop that is none over its parts */
    while (tile < x->num_loops && x->loop[tile].is_part) tile++;
    return vector_lines(x, a, root) * est_share_of_turns(x, a, tile) <= 1.01 * lines;
}

/* The access that a tile reads vectors by, of several the last one, and along a sum the one of most
 * lines; -1: none. */
static int vectors_of(const est_leaf *x, int root, bool lanes_sum) {
    int found = -1;
    for (int i = root; i < x->num_loops; i++)
        for (int k = 1; k < x->num_accesses && x->loop[i].ann == AT_ANN_VEC; k++)
            if (x->access[k].step[i] == lane_step(x) &&
                (!lanes_sum || found < 0 || x->access[k].lines[0] >= x->access[found].lines[0]))
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
    for (int a = x->stage->num_axes; a < x->node->num_axes; a++) {
        double extent = (double)p->extents[x->node->tensor][a], turns = 1;
        for (int k = t->root; k < x->num_loops; k++)
            if (x->loop[k].axis == a) turns *= x->loop[k].turns;
        if (extent > 0 && turns > extent) t->steps *= extent / turns;
    }
}

/* Share of the turns around a tile that lie within the axes it has no loop of. */
static double within(const at_program *p, const est_tile *t) {
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

/* The tail of the axis that a loop around the tile goes along; NULL: it has none. */
static const tail *tail_along(const est_tile *t, const est_leaf *x, const tail *tails, int n,
                              int loop, bool *rest, int mask) {
    for (int i = 0; i < n; i++) {
        *rest = mask >> i & 1;
        if (x->loop[t->which[tails[i].part]].axis == x->loop[loop].axis) return &tails[i];
    }
    return NULL;
}

/* Turns that a call has, of loops around a tile of few operations (tile_of_turns). mask: bits of
 * the tails that the tile is at. Behind a loop that a tail cuts there are two tiles. */
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
    if (2 * sums * (2 + t->steps) > AT_TILE_SUM_OPS) return 1;
    for (int i = t->root - 1; i >= 0; i--) {
        const est_loop *l = &x->loop[i];
        bool rest = false;
        const tail *cut = tail_along(t, x, tails, n, i, &rest, mask);
        if (l->ann != AT_ANN_NONE || l->sums || is_shared(e, x, end, i)) break;
        if (!cut) turns *= l->turns;
        else return rest ? turns : turns * est_min(l->turns, cut->whole_turns);
    }
    return turns;
}

void est_sum(at_estimator *e, const at_program *p, const est_leaf *x, const est_leaf *end,
             int root) {
    est_tile t;
    tail tails[2];
    set_tile(e, p, x, end, root, &t);
    set_waits(e, p, &t);
    exceed(p, &t);
    int n = find_tails(p, &t, tails);
    double all = est_turns(x, 0, root) * within(p, &t), far_lines[2] = {0}, far = 0;
    const est_leaf *const whole = x;
    const double before_ns = e->out->sums_ns, turns_ns = parallel_ns * parallel_turns(x, root);
    const int vectors = t.vectors = vectors_of(x, root, t.lanes_sum);
    const est_lines come = t.is_paired ? EST_BETWEEN : EST_BESIDE;
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
        const bool is_even = comes_evenly(x, &x->access[vectors], root, far_lines[1]);
        e->out->memory_ns += est_beyond_ns(e, whole, &whole->access[vectors], far_lines[1],
                                           x == whole, is_even, e->out->sums_ns - before_ns);
    }
    if (t.is_dynamic) e->out->sums_ns += turns_ns;
    else e->out->sums_ns = est_max(e->out->sums_ns, before_ns + turns_ns);
}
