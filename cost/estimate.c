/* cost/estimate.c: the time of a kernel in closed form, from the numbers of its built tree.
 *
 * Leaves are put together to tiles as lowering does it (codegen/tiles.c): a sum with what uses it
 * up, or one leaf alone; the sizes of their parts are chosen by the same function
 * (codegen/tile/tile_parts.h). A part takes as long as the machine's table says of its register
 * tile; what a level of the caches does not hold between two uses comes from the next.
 * docs/notes/cost.md
 */
#include "cost/estimate_tile_int.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* ---- what no configuration changes: the reads of a stage ------------------------------------- */

static const at_expr *const *reads_unbounded(at_arena *a, const at_expr *const *read, int num) {
    const at_expr **out = AT_NEW_ARRAY(a, const at_expr *, num + 1);
    for (int r = 0; r < num; r++) out[r] = at_index_unbounded(a, read[r]);
    return out;
}

/* Sizes that an index of the read depends on, or one of what that passes on. */
static void find_sizes_through(const est_stage *stages, const at_expr *read, int *sizes, int *num) {
    while (read) {
        for (int d = 0; d < read->nargs; d++)
            at_index_sizes(read->arg[d], MOST_SIZES_THROUGH, sizes, num);
        read = stages[read->ref].passed_on;
    }
}

static void stage_init(at_arena *a, const at_compute *c, const at_target *target, int tensor,
                       est_stage *stages) {
    const at_tensor *t = &c->tensors[tensor];
    est_stage *out = &stages[tensor];
    *out = (est_stage){.read = NULL};
    if (t->role != AT_ROLE_STAGE) return;
    out->read = at_compute_reads(c, tensor, &out->num_reads);
    out->written = out->read;
    out->read = reads_unbounded(a, out->read, out->num_reads);
    out->operations = est_operations(c, target, tensor, &out->own);
    out->passed_on = at_stage_passed_on(a, c, tensor);
    out->by_data = at_axes_by_data(c, t->body);
    out->is_conditional = out->selects = at_expr_has(t->body, AT_X_SELECT);
    for (int r = 0; r < out->num_reads; r++)
        out->is_conditional |= stages[out->read[r]->ref].is_conditional;
    for (int r = 0; r < out->num_reads && r < MAX_READS; r++)
        for (int d = 0; d < out->read[r]->nargs && d < MAX_DIMS; d++) {
            uint32_t axes = 0;
            at_index_look(out->read[r]->arg[d], &axes, &out->divides[r][d]);
            for (int i = 0; i < 32; i++)
                if (axes >> i & 1) out->moved_by[r][i] |= (uint16_t)(1u << d);
            if (out->read[r]->arg[d] != out->written[r]->arg[d]) out->bounded |= axes;
            out->listed[r][d] = at_expr_reads(out->read[r]->arg[d]);
            at_index_sizes(out->read[r]->arg[d], MAX_SIZES, out->sizes[r][d],
                           &out->num_sizes[r][d]);
        }
    for (int r = 0; r < out->num_reads && r < MAX_READS; r++)
        find_sizes_through(stages, out->read[r], out->sizes_through[r], &out->num_sizes_through[r]);
}

/* ---- an estimator ---------------------------------------------------------------------------- */

/* Inputs in the text's order, then outputs. */
static void set_rows(at_estimator *e, const int64_t *row) {
    for (int side = 0, i = 0; side < 2 && row; side++)
        for (int t = 0; t < e->compute->num_tensors; t++) {
            const at_tensor *x = &e->compute->tensors[t];
            const bool is_stage = x->role == AT_ROLE_STAGE;
            if (side ? is_stage && x->is_output : !is_stage) e->row[t] = row[i++];
        }
}

at_estimator *at_estimator_new(at_arena *a, const at_compute *c, const at_estimate_options *o) {
    at_estimator *e = AT_NEW(a, at_estimator);
    e->arena = a;
    e->compute = c;
    e->o = *o;
    e->speeds = *o->speeds;
    e->o.speeds = &e->speeds;
    e->stages = AT_NEW_ARRAY(a, est_stage, c->num_tensors);
    e->shared_by = AT_NEW_ARRAY(a, int8_t, c->num_tensors);
    e->largest = AT_NEW_ARRAY(a, double, c->num_tensors);
    e->row = AT_NEW_ARRAY(a, int64_t, c->num_tensors);
    set_rows(e, o->row);
    for (int t = 0; t < c->num_tensors; t++) {
        stage_init(a, c, o->target, t, e->stages);
        e->room += c->tensors[t].role == AT_ROLE_STAGE && e->room < MAX_LEAVES;
    }
    e->cut.loop = e->cut_loop;
    e->cut.access = e->cut_access;
    return e;
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* From one element of a vector to the next of what is read: turned round, or every so many elements
 * of whole registers; else 1. */
static int64_t picked(const at_estimator *e, const est_leaf *x, const est_access *a) {
    const int last = x->num_loops - 1;
    const int64_t step = a->step[last];
    const bool whole = x->loop[last].ann == AT_ANN_VEC && step > 1 && step <= AT_TILE_WHOLE_STEP;
    return !a->written && (step == -1 || whole) &&
                   at_target_picks(e->o.target, a->buffer->bytes, step)
               ? step
               : 1;
}

/* Instructions for an element whose vector is stored to every second, third or fourth place, where
 * other vectors fill the places between: registers are put together, and stored whole. */
static const double grouped = 0.5;
/* The same of a vector that is shorter than a register, at least: lanes are picked, put to their
 * places, and the first of a register are stored. */
static const double picked_vector = 3;

/* Is the leaf's last loop such a vector, and an unrolled loop over what fills the places beside it?
 * What it reads lies in a row, or every so many elements of whole registers
 * (codegen/tile/tile_group.c, tile_pick.c). */
static bool is_grouped(const at_estimator *e, const est_leaf *x) {
    const int last = x->num_loops - 1;
    int64_t apart = 0;
    bool is_filled = false;
    if (last < 1 || x->loop[last].ann != AT_ANN_VEC) return false;
    for (int k = 0; k < x->num_accesses; k++) {
        const est_access *a = &x->access[k];
        if (!a->written && a->step[last] != 0 && a->step[last] != picked(e, x, a)) return false;
        if (a->written) apart = a->step[last];
        for (int i = 0; a->written && i < last; i++)
            is_filled |=
                est_unrolled(&x->loop[i]) && a->step[i] == 1 && x->loop[i].turns == (double)apart;
    }
    return is_filled && apart >= 2 && apart <= 4;
}

/* Bits: axes in conditions of the expression, which no data decide, that the last elements miss. */
static uint32_t cut_axes(const at_program *p, const at_expr *e, bool in_condition,
                         const int64_t *last) {
    uint32_t axes = 0;
    bool unused = false;
    if (in_condition && e->op != AT_X_AND) {
        if (!at_program_index(p, e, last)) at_index_look(e, &axes, &unused);
        return axes;
    }
    for (int i = 0; i < e->nargs; i++) {
        const bool is_condition = e->op == AT_X_SELECT && i == 0;
        if (is_condition && at_expr_reads(e->arg[0])) continue;
        axes |= cut_axes(p, e->arg[i], in_condition || is_condition, last);
    }
    return axes;
}

/* Does the leaf fill up the last block of what it packs, and is the block's filled part known only
 * at run time? It is where several loops decide, or one loop that no sum stands in: a loop with a
 * sum is divided at the last block. */
static bool fills_up(const at_estimator *e, const at_program *p, const est_leaf *x) {
    int64_t last[32] = {0};
    int outside = 0, blocks = 0, shared = 0;
    if (!e->stages[x->node->tensor].selects) return false;
    for (int a = 0; a < x->node->num_axes; a++) last[a] = p->extents[x->node->tensor][a] - 1;
    const uint32_t axes = cut_axes(p, x->stage->body, false, last);
    for (int i = 0; i < x->num_loops - 2; i++)
        if (x->loop[i].axis >= 0 && axes >> x->loop[i].axis & 1) outside = i + 1, blocks++;
    for (const est_leaf *y = e->leaf; y < e->leaf + e->num_leaves; y++)
        if (y != x && y->stage->num_reduce)
            shared = est_common(e, x, y) > shared ? est_common(e, x, y) : shared;
    return axes && (blocks != 1 || shared < outside);
}

/* The side of the squares that registers hold of a leaf that only turns round what it reads, which
 * lies along one of its last two loops, along[0], while what it writes lies along the other
 * (codegen/tile/tile_transpose.c). 0: the leaf does not. */
static int turned_side(const at_estimator *e, const est_leaf *x, int *along) {
    const int last = x->num_loops - 1, bytes = (int)x->access[0].buffer->bytes,
              side = bytes <= 4 ? AT_TILE_SQUARE * 4 / bytes : 0;
    const est_stage *st = &e->stages[x->node->tensor];
    along[0] = along[1] = -1;
    if (last < 1 || x->num_accesses != 2 || st->operations > 0) return 0;
    if (x->loop[last - 1].ann == AT_ANN_PARA) return 0; /* each of its turns is a thread's */
    for (int k = 0; k < 2; k++)
        for (int i = last - 1; i <= last; i++)
            if (x->access[k].step[i] == 1 && x->access[k].buffer->bytes == bytes)
                along[x->access[k].written] = i;
    return along[0] >= 0 && along[1] >= 0 && along[0] != along[1] &&
                   est_min(x->loop[last - 1].turns, x->loop[last].turns) >= side
               ? side
               : 0;
}

/* The loops over squares, or over squares beside each other along what is written: every line of
 * either is touched once. */
static const est_leaf *over_squares(at_estimator *e, const est_leaf *x, const int *along,
                                    int side) {
    at_part part[2];
    double num[2];
    for (int i = 0; i < 2; i++) {
        const int64_t turns = (int64_t)x->loop[along[i]].turns;
        part[i] = (at_part){.extent = turns,
                            .size = i ? at_tile_squares_width(e->o.target, side, turns) : side};
        num[i] = (double)turns / (double)part[i].size;
    }
    est_leaf *squares = est_cut(e, x, x->num_loops - 2, part, num, along, 2);
    if (!squares) squares = memcpy(&e->cut, x, offsetof(est_leaf, is_new));
    squares->num_loops -= 2;
    return squares;
}

/* Elements that lie in a row in all that the leaf touches, or the same way round, or every so many,
 * in what it reads; single: those of the last loop, or rows in turns that a bound decides on, are
 * found one by one. */
static double row_of(at_estimator *e, const at_program *p, const est_leaf *x, bool *single) {
    const uint32_t bounded = est_bounded(e, p, x->node->tensor);
    double run = 1;
    *single = false;
    for (int i = x->num_loops - 1; i >= 0; i--) {
        bool in_a_row = true;
        const est_loop *l = &x->loop[i];
        if (l->ann != AT_ANN_VEC && l->axis >= 0 && bounded >> l->axis & 1) {
            *single = true;
            break;
        }
        for (int k = 0; k < x->num_accesses; k++) {
            const est_access *a = &x->access[k];
            *single |= a->single >> i & 1 && i == x->num_loops - 1;
            const double along = run * (double)picked(e, x, a), step = (double)a->step[i];
            in_a_row &= !*single && (step == along || (!a->written && step == 0));
        }
        if (!in_a_row) break;
        run *= l->turns;
    }
    return run;
}

/* Elements that the leaf's vectors go through together, of so many in a row: where its last loop is
 * a vector, those of that loop and of others of the same loop of the tree. */
static double together(const est_leaf *x, double run) {
    const est_loop *l = x->loop + x->num_loops - 1;
    double n = 1;
    for (; l >= x->loop && l->ann == AT_ANN_VEC; l--) {
        n *= l->turns;
        if (l == x->loop || l[-1].node != l->node) break;
    }
    return n > 1 ? est_min(n, run) : run;
}

/* The most places along a vector's axis that conditions are asked at. */
enum { PLACES = 16 };

/* How often a condition of the expression changes from one place to the next of so many, which the
 * steps of a loop are apart. */
static int changes(const at_program *p, const at_expr *e, const est_loop *l, int places) {
    int n = 0;
    for (int i = 0; i < e->nargs; i++) {
        const int in = changes(p, e->arg[i], l, places);
        if (in > n) n = in;
    }
    if (e->op != AT_X_SELECT || at_expr_reads(e->arg[0])) return n;
    int64_t axis[32] = {0}, before = 0;
    int own = 0;
    for (int i = 0; i < places; i++, axis[l->axis] += l->coef) {
        const int64_t holds = at_program_index(p, e->arg[0], axis);
        own += i > 0 && holds != before;
        before = holds;
    }
    return own > n ? own : n;
}

/* Vectors of an element, at least: where a condition turns along a vector, as that of every second
 * element does, each stretch is by itself. Where it turns once, as at a border, that is rare. */
static double cut_by_conditions(const at_estimator *e, const at_program *p, const est_leaf *x) {
    if (!x->num_loops) return 0;
    const est_loop *l = &x->loop[x->num_loops - 1];
    if (l->ann != AT_ANN_VEC || l->axis < 0) return 0;
    if (!e->stages[x->node->tensor].selects) return 0;
    const int places = (int)est_min(PLACES, l->extent / (double)l->coef);
    const int n = changes(p, x->stage->body, l, places);
    return n > 1 ? (double)(n + 1) / places : 0;
}

/* What an element takes, of which each is worked out once for all turns of the tile's loops that
 * nothing in it depends on. */
static double work_of(at_estimator *e, const at_program *p, const est_leaf *x, int root) {
    const est_works *all = est_worked_out(e, p, x->node->tensor);
    double sum = 0;
    for (int w = 0; w < all->num; w++)
        sum +=
            all->of[w].time / est_turns_alike(x, root, false, all->of[w].axes, e->o.target->lanes);
    return sum;
}

/* The share of a leaf's turns that its elements have, where parts of axes but the innermost loop's
 * go beyond them. */
static double within_axes(const at_program *p, const est_leaf *x) {
    const int tensor = x->node->tensor, last = x->loop[x->num_loops - 1].axis;
    double share = 1;
    for (int k = 0; k < p->compute->tensors[tensor].num_axes; k++)
        if (k != last) share *= est_share_of_axis(p, x, k, 0);
    return share;
}

/* A leaf by itself: a copy, or arithmetic on elements. */
static void copy(at_estimator *e, const at_program *p, const est_leaf *x, int root) {
    const at_speeds *s = e->o.speeds;
    bool single;
    double calls = est_turns(x, 0, root), run = row_of(e, p, x, &single);
    const double elements = est_turns(x, 0, x->num_loops) * within_axes(p, x);
    const double block = together(x, run);
    double vectors = elements / block * ceil(block / e->o.target->lanes);
    if (run == 1) vectors = elements;
    vectors = est_max(vectors, elements * cut_by_conditions(e, p, x));
    double moves = vectors; /* of whole vectors, that take as long as loads and stores do */
    if (is_grouped(e, x)) {
        const double lanes = e->o.target->lanes, filled = x->loop[x->num_loops - 1].turns;
        vectors = elements / est_min(filled, lanes);
        moves = est_max(elements * grouped, filled < lanes ? vectors * picked_vector : 0);
        run = est_turns(x, est_tail(x), x->num_loops);
    }
    int along[2];
    const est_leaf *touching = x;
    const int side = single || fills_up(e, p, x) ? 0 : turned_side(e, x, along);
    if (side) {
        touching = over_squares(e, x, along, side);
        run = x->loop[x->num_loops - 2].turns * x->loop[x->num_loops - 1].turns;
        moves = vectors = elements / side;
    }
    const est_stage *st = &e->stages[x->node->tensor];
    if (st->is_conditional) calls *= 3;
    if (single) e->out->copies_ns += elements / run * est_address_ns;
    e->out->calls += calls;
    e->out->operations += vectors * st->operations;
    e->out->copies_ns += (moves + 0.5 * work_of(e, p, x, root) * vectors) * (double)s->copy_ns +
                         elements / run * (double)s->run_ns + calls * (double)s->turn_ns;
    est_memory(e, touching, run > 1 ? EST_BESIDE : EST_ALONE, -1, NULL);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* The leaf that uses the sum x up within one tile; NULL: there is none. */
static const est_leaf *end_of(const at_estimator *e, const est_leaf *x, int *root) {
    const int taker = e->taker[x->node->tensor];
    if (x->stage->is_output || taker < 0) return NULL;
    const est_leaf *end = &e->leaf[taker];
    *root = est_common(e, x, end);
    for (int i = *root; i < x->num_loops; i++)
        if (x->loop[i].axis >= 0 && !x->loop[i].sums && x->loop[i].ann == AT_ANN_NONE) return NULL;
    for (int i = *root; i < end->num_loops; i++)
        if (end->loop[i].ann == AT_ANN_NONE) return NULL;
    return end;
}

/* Whether two sums are one tile, whose terms stand in the last of `common` loops, at least one. */
static bool are_joint(const est_leaf *x, const est_leaf *y, int common) {
    return x->tail <= common && y->tail <= common && x->loop[common - 1].sums &&
           y->loop[common - 1].sums;
}

/* The first loop of a sum's tile among those from `root` on: where one of its reductions stands
 * outside of loops over tiles, as blocks do, what goes on in registers is the rest of the sum. */
static int inside_blocks(const est_leaf *x, int root) {
    bool in_block = false;
    int last = root, begin = root;
    for (int i = root; i < x->num_loops; i++)
        if (x->loop[i].sums) last = i;
    for (int i = root; i < last; i++) {
        in_block |= x->loop[i].sums;
        if (in_block && !x->loop[i].sums && !est_unrolled(&x->loop[i])) begin = i + 1;
    }
    return begin;
}

/* The first loop that a tile of this leaf, alone or with other sums, may begin with. */
static int alone(const at_estimator *e, const est_leaf *x) {
    const bool is_sum = x->stage->num_reduce > 0;
    int root = 0;
    for (int i = 0; i < e->num_leaves; i++) {
        int common = i == x->place ? 0 : est_common(e, x, &e->leaf[i]);
        if (common && is_sum && are_joint(x, &e->leaf[i], common))
            while (common && x->loop[common - 1].sums) common--;
        if (common > root) root = common;
    }
    for (int i = root; i < x->num_loops; i++)
        if (x->loop[i].ann == AT_ANN_PARA) root = i + 1;
    return root;
}

/* Which sums stand in one tile with this one. */
static void find_others(const at_estimator *e, est_leaf *x) {
    x->together = 1;
    x->is_beside = x->is_end_of_other = false;
    if (!x->stage->num_reduce) return;
    for (const est_leaf *y = e->leaf; y < e->leaf + e->num_leaves; y++) {
        const int common = est_common(e, x, y);
        if (y == x || !common || !are_joint(x, y, common) || !y->stage->num_reduce) continue;
        x->together++;
        x->is_beside |= y < x;
        x->is_end_of_other |= y < x && y->end && y->end == x->end;
    }
}

/* What is written and what `end` alone reads. */
static void keep_in_registers(at_estimator *e, int tensor, const est_leaf *end) {
    for (est_leaf *x = e->leaf; x < e->leaf + e->num_leaves; x++) {
        if (x != end && x->node->tensor != tensor) continue;
        for (int k = 0; k < x->num_accesses; k++) {
            if (x->access[k].tensor != tensor) continue;
            x->access[k].in_registers = true;
            x->form->registers |= 1u << k;
        }
    }
}

/* Where rows of registers go from one border to the other, terms that count in some of them only
 * are each lowered by itself. */
static void find_peeled(const est_terms *s, est_leaf *x) {
    for (est_border *b = s->borders; b < s->borders + s->num_borders; b++) {
        bool is_whole = false;
        for (int i = x->root; i < x->num_loops && b->fewer[0].number > 0; i++)
            is_whole |= x->loop[i].axis == b->axis && x->loop[i].ann == AT_ANN_UNROLL &&
                        x->loop[i].turns >= (double)b->num;
        for (int i = x->root; i < x->num_loops && is_whole; i++)
            x->loop[i].is_peeled |= x->loop[i].sums && b->asked >> x->loop[i].axis & 1;
        x->form->is_peeled |= is_whole;
    }
    if (x->form->is_peeled) x->tail = est_tail(x);
}

/* What each sum ends in and how its tile begins. */
static void find_tiles(at_estimator *e) {
    for (est_leaf *x = e->leaf; x < e->leaf + e->num_leaves; x++) {
        est_form *f = x->form;
        for (int i = 0; i < x->num_loops && f->is_peeled; i++) x->loop[i].is_peeled = false;
        for (int k = 0; k < x->num_accesses && f->registers; k++) x->access[k].in_registers = false;
        f->is_peeled = false;
        f->registers = 0;
        x->tail = f->tail;
    }
    for (est_leaf *x = e->leaf; x < e->leaf + e->num_leaves; x++) {
        x->end = x->stage->num_reduce ? end_of(e, x, &x->root) : NULL;
        if (x->end) keep_in_registers(e, x->node->tensor, x->end);
        else x->root = alone(e, x);
        const int outside = x->root;
        if (!x->end && x->stage->num_reduce) x->root = inside_blocks(x, outside);
        x->in_blocks = x->root > outside;
        if (x->stage->num_reduce) find_peeled(x->terms, x);
    }
    for (est_leaf *x = e->leaf; x < e->leaf + e->num_leaves; x++) find_others(e, x);
}

/* Where lines take longer than what is worked out meanwhile, this share of what they take longer is
 * as if they came beside: so the shorter work counts, too. */
static const double seen = 0.1;

/* Lines from L3 and from memory come no faster than these caches give them, whatever is worked out
 * meanwhile, and those of L2 no faster than a tile of one vector takes them; the leaf takes
 * written_ns at least. */
static void wait_for_lines(const at_estimator *e, double written_ns, at_estimate *x) {
    const at_speeds *s = e->o.speeds;
    const double vectors = EST_LINE_BYTES / (4.0 * e->o.target->lanes); /* of a line */
    double lines_ns = est_max(0, x->bytes[0] - x->bytes[1]) * vectors * (double)s->far_ns[0][0];
    for (int level = 1; level < 3; level++)
        lines_ns += x->bytes[level] * (double)s->stream_ns[level + 1];
    lines_ns = est_max(lines_ns / EST_LINE_BYTES, written_ns);
    x->memory_ns += (1 - seen) * est_max(0, lines_ns - (x->sums_ns + x->copies_ns + x->memory_ns));
}

/* share: of the times, that one thread takes. */
static void add(const at_estimate *x, double share, at_estimate *sum) {
    sum->sums_ns += share * x->sums_ns;
    sum->copies_ns += share * x->copies_ns;
    sum->memory_ns += share * x->memory_ns;
    sum->alone_ns += x->sums_ns + x->copies_ns + x->memory_ns;
    sum->calls += x->calls;
    sum->sum_calls += x->sum_calls;
    sum->operations += x->operations;
    for (int i = 0; i < 3; i++) sum->bytes[i] += x->bytes[i];
}

/* Is the sum in registers for few of its terms only, and in memory between them? */
static bool waits(const est_leaf *x) {
    enum { FEW = 64 };
    double terms = 1;
    for (int i = x->root; i < x->num_loops; i++)
        if (x->loop[i].sums) terms *= x->loop[i].turns;
    return x->stage->num_reduce && x->in_blocks && terms < FEW;
}

bool at_estimate_of(at_estimator *e, const at_program *p, at_estimate *out) {
    bool done[MAX_LEAVES] = {false};
    e->num_new = 0;
    *out = (at_estimate){.ns = 0};
    if (!est_leaves(e, p)) return false;
    find_tiles(e);
    est_touched_by_all(e);
    for (est_leaf *x = e->leaf; x < e->leaf + e->num_leaves; x++) {
        if (done[x->place]) continue;
        if (x->stage->lies_in && !x->stage->is_updated) continue; /* of which little is written */
        if (x->end) done[x->end->place] = true;
        if (!est_is_known(e, x)) {
            x->form->own = (at_estimate){.ns = 0};
            e->num_new++;
            e->out = &x->form->own;
            if (x->stage->num_reduce) est_sum(e, p, x, x->end, x->root);
            else copy(e, p, x, x->root);
            wait_for_lines(e, est_written_ns(e, x->end ? x->end : x), e->out);
        }
        add(&x->form->own, est_share(e, x), out);
        out->waits |= waits(x);
    }
    est_add_apart(e, out);
    out->ns = out->sums_ns + out->copies_ns + out->memory_ns;
    return true;
}

int at_estimate_new_leaves(const at_estimator *e) { return e->num_new; }
