/* cost/estimate_sum.c: a sum's tile: its loops and operations, and what it waits for. */
#include "cost/estimate_tile_int.h"

#include <math.h>

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

/* Blocks of terms along which the border's conditions are asked, where a loop goes from one to the
 * next; 0: there are none. */
static double block_along(const est_tile *t, const est_border *b) {
    const est_leaf *x = t->x;
    double block = 0;
    int loops = 0;
    for (int i = t->root; i < x->num_loops; i++) {
        const est_loop *l = &x->loop[i];
        if (!l->sums || l->axis < 0 || !(b->asked >> l->axis & 1)) continue;
        if (l->coef == 1) block = l->turns;
        loops++;
    }
    return loops > 1 ? block : 0;
}

/* Rows of a tile between whose ends a diagonal goes, in a loop over its terms. */
static void set_diagonal(est_tile *t) {
    const est_leaf *x = t->x;
    const est_terms *s = x->terms;
    bool is_looped = false;
    for (int i = t->root; i < x->num_loops; i++)
        is_looped |= x->loop[i].sums && !est_unrolled(&x->loop[i]);
    for (int i = 0; i < t->num_parts && is_looped; i++)
        for (const est_border *b = s->borders; b < s->borders + s->num_borders; b++) {
            if (t->part[i].vector || x->loop[t->which[i]].axis != b->axis || !est_is_diagonal(x, b))
                continue;
            t->diagonal = b;
            t->diagonal_part = i;
            t->diagonal_block = block_along(t, b);
        }
}

/* A loop of the sum. */
static void add_steps(const at_estimator *e, est_tile *t, int loop) {
    const est_leaf *x = t->x;
    const est_loop *l = &x->loop[loop];
    const bool is_few = !l->is_dynamic && l->turns <= AT_THIN_STEPS,
               sums_lanes = l->ann == AT_ANN_VEC && is_vector(e, x, loop);
    const double steps = sums_lanes ? ceil(l->turns / e->o.target->lanes) : l->turns;
    t->lanes_sum |= sums_lanes;
    t->steps *= steps;
    if (!est_unrolled(l) && !is_few) t->num_overlaps = 0; /* of loops around it */
    else if (t->num_overlaps < MOST_OVERLAPS) {
        est_overlap *w = &t->overlap[t->num_overlaps++];
        w->is_loop = !est_unrolled(l);
        for (int k = 0; k < x->num_accesses; k++) w->step[k] = x->access[k].step[loop];
        w->turns = l->turns;
    }
    if (t->num_parts && !t->group_steps) t->grouped = (1u << t->num_parts) - 1;
    if (t->grouped) t->group_steps = est_max(1, t->group_steps) * steps;
}

/* A loop of registers, written out. flat: lanes beside those of a vector's own loop. */
static void add_registers(const at_estimator *e, const est_leaf *end, est_tile *t, int loop,
                          int64_t *flat) {
    const int lanes = e->o.target->lanes;
    const est_leaf *x = t->x;
    const est_loop *l = &x->loop[loop];
    const bool vector = l->ann == AT_ANN_VEC;
    bool everywhere = !end;
    for (int k = 0; end && k < end->num_loops; k++)
        everywhere |= end->loop[k].name == l->name && est_unrolled(&end->loop[k]);
    if (vector && !is_vector(e, x, loop)) t->width = 1, t->slower = slower_apart(e->o.speeds);
    t->is_shifted |= l->is_shifted;
    if (is_flat(e, x, loop)) {
        *flat *= (int64_t)l->turns;
        return;
    }
    const int64_t turns = (int64_t)l->turns * (vector ? *flat : 1);
    if (vector) *flat = 1;
    if (!everywhere || t->num_parts == AT_PARTS_MAX) {
        t->other *= vector ? (turns + lanes - 1) / lanes : turns;
        return;
    }
    for (int k = 0; k < x->num_accesses; k++) t->step[k][t->num_parts] = x->access[k].step[loop];
    t->which[t->num_parts] = loop;
    if (vector && (loop + 1 == x->num_loops || x->loop[loop + 1].node != l->node))
        t->in_lanes |= 1u << t->num_parts;
    if (l->is_run) t->uncut |= 1u << t->num_parts;
    t->part[t->num_parts++] = (at_part){.vector = vector, .extent = turns};
}

static void set_tile(at_estimator *e, const at_program *p, const est_leaf *x, const est_leaf *end,
                     int root, est_tile *t) {
    const est_stage *s = &e->stages[x->node->tensor];
    *t = (est_tile){.x = x,
                    .root = root,
                    .other = 1,
                    .lane = lane_step(x),
                    .steps = 1,
                    .again = 1,
                    .turns = 1,
                    .width = e->o.target->lanes,
                    .slower = 1,
                    .per_term = per_term(e, x),
                    .share = x->terms->share,
                    .each = s->operations + 1 - joined(e, x),
                    .together = x->together,
                    .is_beside = x->is_beside,
                    .in_blocks = x->in_blocks,
                    .goes_on = root > 0 && (end ? end : x)->loop[root - 1].sums};
    if (end && !x->is_end_of_other) set_end(e, p, end, root, t);
    int64_t flat = 1;
    for (int i = root; i < x->num_loops; i++) {
        const est_loop *l = &x->loop[i];
        if (l->is_dot) continue;
        if (l->sums) add_steps(e, t, i);
        else if (est_unrolled(l)) add_registers(e, end, t, i, &flat);
        else t->again *= l->turns;
    }
    set_works(e, p, x, root, t);
    set_diagonal(t);
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

void est_tile_of(at_estimator *e, const at_program *p, const est_leaf *x, const est_leaf *end,
                 int root, est_tile *out) {
    set_tile(e, p, x, end, root, out);
    set_waits(e, p, out);
}
