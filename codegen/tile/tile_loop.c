/* codegen/tile/tile_loop.c: loops of a tile: unrolled loops and vectors are expanded, others stay
 * counted, and their sums in registers. */
#include "codegen/tile/tile_build.h"

#include <string.h>

#define SHORT_BODY 16   /* statements of a copy that is written out though nobody asked for it */
#define SHORT_VALUE 128 /* values of one of them */

static void expand(at_builder *b, const at_ir *list);

/* What a clipped loop leaves may be less than nothing. */
const at_aff *at_build_trips(at_low *l, const at_ir *n) {
    return at_aff_max(l, at_aff_sub(l, at_ir_hi(l, n), at_ir_lo(l, n)), at_aff_const(l, 0));
}

static int trip_argument(at_builder *b, const at_ir *n) {
    const at_aff *count = at_build_trips(b->l, n);
    for (int i = 0; i < b->num_trips; i++)
        if (at_aff_equal(b->trips[i], count)) return i;
    if (b->num_trips == AT_TILE_MAX_TRIPS) {
        b->failed = true;
        return 0;
    }
    b->trips[b->num_trips] = count;
    return b->num_trips++;
}

/* Slots used since operation `op` and virtual register `vreg`. */
static void find_used(const at_builder *b, int first_op, int first_vreg, bool *used) {
    for (int i = first_op; i < b->ops.len; i++) {
        const at_tile_op *op = &b->ops.data[i];
        if (op->slot >= 0) used[op->slot] = true;
        if (op->base >= 0) used[op->base] = true;
    }
    for (int v = first_vreg; v < b->vregs.len;
         v++) /* delayed loads name their slot in the register */
        if (b->vregs.data[v].load && b->vregs.data[v].slot >= 0) used[b->vregs.data[v].slot] = true;
}

/* Moves slots that are used on by so many iterations of loop n, or by that times its trip count. */
static void bump_slots(at_builder *b, const at_ir *n, const bool *used, int64_t by, int trip_arg) {
    for (int s = 0; s < b->num_slots; s++) {
        int64_t k = 0;
        for (int j = 0; j < b->slots[s].num_strides; j++)
            if (b->slots[s].stride[j].sym == n->loop.sym) k = b->slots[s].stride[j].k;
        if (!k || !used[s]) continue;
        at_tile_op *op = at_build_emit(b, AT_T_BUMP);
        op->slot = (int16_t)s;
        op->bump = k * by;
        op->trip_arg = (int16_t)trip_arg;
    }
}

/* The body of loop n begins, or what is behind it does. */
static void start_body(at_builder *b) {
    memset(b->forms, 0, sizeof b->forms);
    at_build_start_body(b);
}

static at_tile_op *begin_loop(at_builder *b, const at_ir *n, int trip_arg) {
    at_tile_op *op = at_build_emit(b, AT_T_LOOP);
    op->trip_arg = (int16_t)trip_arg;
    op->trip = at_loop_trips(n);
    op->name = b->l->syms.data[n->loop.sym].name;
    b->counted[b->num_counted++] = n;
    start_body(b);
    return op;
}

/* step: iterations of n that a turn has. used: slots that are, besides those that are so already.
 */
static void end_loop(at_builder *b, const at_ir *n, int start, int first_vreg, int64_t step,
                     bool *used) {
    b->num_counted--;
    start_body(b);
    find_used(b, start, first_vreg, used);
    bump_slots(b, n, used, step, -1);
    at_build_emit(b, AT_T_END);
}

/* How many copies of elements that entries of one list say a turn has, where there are pointers for
 * as many. */
static int copies_in_turn(const at_builder *b, const at_ir *n) {
    enum { TOGETHER = 4, TENSORS = 3 };
    const at_ir *copy = n->child;
    if (!n->loop.is_listed || n->loop.is_reduce || at_loop_trips(n) % TOGETHER) return 1;
    if (copy->next || copy->kind != AT_IR_STMT || copy->stmt.add || copy->stmt.val->op != AT_V_LOAD)
        return 1;
    int entries = 0;
    for (int i = 0; i < copy->stmt.val->at->n; i++)
        entries += b->l->syms.data[copy->stmt.val->at->t[i].sym].kind != AT_SYM_LOOP;
    return entries == 1 && b->num_slots + TENSORS + TOGETHER <= AT_TILE_MAX_SLOTS ? TOGETHER : 1;
}

static void counted_loop(at_builder *b, const at_ir *n) {
    int trip_arg = !at_loop_is_fixed(n) ? trip_argument(b, n) : -1;
    bool *used = AT_NEW_ARRAY(b->l->arena, bool, b->most_slots);
    if (b->num_counted == 16) b->failed = true;
    if (b->failed) return;
    int start = b->ops.len, first_vreg = b->vregs.len;
    const int together = copies_in_turn(b, n);
    b->late = n->loop.is_late;
    begin_loop(b, n, trip_arg)->trip /= together;
    for (int i = 0; i < together; i++) {
        b->bound[n->loop.sym] = i;
        expand(b, n->child);
    }
    b->late = false;
    end_loop(b, n, start, first_vreg, together, used);
    bump_slots(b, n, used, trip_arg >= 0 ? -1 : -at_loop_trips(n), trip_arg);
}

/* The part after one of this size; 0: none. */
static int next_part(int size, int lanes) {
    enum { LEAST_PART = 4 };
    return size > lanes ? lanes : size > LEAST_PART ? size / 2 : size > 1 ? 1 : 0;
}

/* Terms of a sum whose number is data, or elements of a copy, in vectors: several in a turn, then
 * single ones, then parts of one that are half as long each, then the last few one by one. Pointers
 * go on from one of these loops to the next. */
static void loop_in_parts(at_builder *b, const at_ir *n) {
    enum { TOGETHER = 4 };
    const int lanes = b->l->target->lanes, trip_arg = trip_argument(b, n);
    bool *used = AT_NEW_ARRAY(b->l->arena, bool, b->most_slots);
    if (b->num_counted == 16) b->failed = true;
    int size = b->regs->sparing ? lanes : TOGETHER * lanes, before = 0;
    while (!n->loop.is_reduce && size > at_loop_trips(n)) size = next_part(size, lanes);
    while (size && !b->failed) {
        const int start = b->ops.len, first_vreg = b->vregs.len, part = size < lanes ? size : lanes;
        at_tile_op *op = begin_loop(b, n, trip_arg);
        op->by = size;
        op->most = before / size;
        for (int i = 0; i < b->keys.len; i++) b->keys.data[i].next = 0;
        for (int i = 0; i < size && !b->failed; i += part) {
            b->bound[n->loop.sym] = i;
            b->vec_sym = n->loop.sym;
            b->vec_lanes = part;
            expand(b, n->child);
            b->vec_sym = -1;
        }
        end_loop(b, n, start, first_vreg, size, used);
        before = size;
        size = next_part(size, lanes);
    }
    bump_slots(b, n, used, -1, trip_arg);
}

/* Notes why a loop that was to be a vector is none. */
static void note_scalar(at_builder *b, const at_ir *n, const char *why) {
    if (at_loop_trips(n) == 1) return;
    *at_push(b->l->arena, &b->notes) = at_note_no_vector(b->l, n, why);
}

/* Statements of a nest when all of it is expanded; -1 where a sum, a long value or an unknown trip
 * count forbids that. */
static int64_t straight(const at_ir *list) {
    int64_t n = 0;
    for (; list; list = list->next) {
        int64_t inner = 1;
        if (list->kind == AT_IR_STMT &&
            (list->stmt.add || at_value_size(list->stmt.val) > SHORT_VALUE))
            return -1;
        if (list->kind == AT_IR_LOOP) {
            inner = straight(list->child);
            if (inner < 0 || !at_loop_is_fixed(list)) return -1;
            int64_t trips = at_loop_trips(list);
            inner *= list->loop.ann == AT_ANN_VEC ? (trips + 15) / 16 : trips;
        }
        if (inner > SHORT_BODY) return -1;
        n += inner;
    }
    return n;
}

bool at_build_is_counted(const at_ir *n) {
    at_ir one = *n;
    one.next = NULL;
    return at_loop_is_counted(n) && (n->loop.is_listed || straight(&one) < 0);
}

/* Do several elements lie in a lane? */
static bool is_packed(const at_builder *b, const at_ir *cell) {
    return cell->kind == AT_IR_LOOP || at_transpose_side(b->l, cell) != AT_TILE_SQUARE;
}

/* The cells of row i of a square whose rows lie along loop n, or of as many squares beside each
 * other as fill a register. */
static int load_cells(at_builder *b, const at_ir *n, const at_value *from, int row) {
    const at_ir *inner = n->child;
    const int side = at_transpose_side(b->l, inner->child),
              fours = (int)at_loop_trips(inner) / side;
    const bool packed = is_packed(b, inner->child);
    b->bound[inner->loop.sym] = row;
    if (fours == 1) return packed ? at_build_packed(b, from) : at_build_value(b, from);
    const at_tile_place first = at_build_locate_load(b, from);
    b->bound[inner->loop.sym] = row + side;
    const at_tile_place next = at_build_locate_load(b, from);
    if (first.by || first.num_digits) b->failed = true;
    return at_build_load(b, (at_tile_vreg){.load = AT_T_LOAD,
                                           .lanes = (uint8_t)(fours * AT_TILE_SQUARE),
                                           .packed = packed,
                                           .slot = (int16_t)at_build_slot_of(b, &first),
                                           .off = first.off,
                                           .fours = next.off - first.off});
}

/* The rows of a square become its columns: each step interleaves every two groups of registers, of
 * elements twice as wide as the one before. */
static void turn_round(at_builder *b, int *v, int side, int lanes) {
    static const uint8_t zips[] = {AT_T_ZIP_LOW2, AT_T_ZIP_LOW, AT_T_ZIP_LOW16, AT_T_ZIP_LOW8};
    for (int group = 1; group < side; group *= 2) {
        const uint8_t *zip = zips;
        int next[AT_TILE_MOST_SQUARE];
        for (int left = side / group; left > 2; left /= 2) zip++;
        for (int i = 0; i < side; i++) {
            const int from = i - i % (2 * group) + i % (2 * group) / 2;
            at_tile_op *op = at_build_emit(b, *zip + i % 2);
            op->a = (int16_t)v[from];
            op->b = (int16_t)v[from + group];
            op->lanes = (uint8_t)lanes;
            next[i] = op->dst = (int16_t)at_build_vreg(b, (at_tile_vreg){0});
        }
        memcpy(v, next, sizeof *v * (size_t)side);
    }
}

/* Asks for what lies ahead of a row of cells, or of each four of lanes of it, as the copy says. */
static void ask_ahead_of(at_builder *b, const at_ir *copy, int tensor, const at_tile_op *row) {
    b->current = copy;
    for (int lane = 0; lane < (row->fours ? row->lanes : 1); lane += AT_TILE_SQUARE)
        at_build_prefetch(b, tensor, row->slot, row->off + lane / AT_TILE_SQUARE * row->fours);
    b->current = NULL;
}

/* Vectors along loop n become as many along the loop inside it, or as many squares beside each
 * other as that one counts. */
static void transpose(at_builder *b, const at_ir *n) {
    const at_ir *inner = n->child, *cell = inner->child,
                *copy = cell->kind == AT_IR_LOOP ? cell->child : cell;
    const int side = at_transpose_side(b->l, cell),
              lanes = (int)at_loop_trips(inner) / side * AT_TILE_SQUARE;
    int v[AT_TILE_MOST_SQUARE];
    if (b->vec_sym >= 0) b->failed = true;
    if (b->failed) return;
    b->current = NULL;
    b->turns_many |= side >= b->l->target->regs;
    b->vec_lanes = AT_TILE_SQUARE;
    b->vec_sym = n->loop.sym;
    b->bound[n->loop.sym] = 0;
    if (cell != copy) b->bound[cell->loop.sym] = 0;
    for (int i = 0; i < side; i++) {
        v[i] = load_cells(b, n, copy->stmt.val, i);
        const at_tile_op load = at_tile_load_of(&b->vregs.data[v[i]], v[i]);
        ask_ahead_of(b, copy, copy->stmt.val->tensor, &load);
    }
    turn_round(b, v, side, lanes);
    b->vec_sym = inner->loop.sym;
    b->bound[inner->loop.sym] = 0;
    for (int i = 0; i < side; i++) {
        b->bound[n->loop.sym] = i;
        at_tile_place p = at_build_locate(b, copy->stmt.tensor, copy->stmt.at);
        int s = at_build_find_slot(b, &p, true);
        at_tile_op *op = at_build_emit(b, AT_T_STORE);
        op->slot = (int16_t)s;
        op->off = p.off;
        op->a = (int16_t)v[i];
        op->lanes = (uint8_t)lanes;
        op->packed = is_packed(b, cell);
        const at_tile_op store = *op;
        ask_ahead_of(b, copy, copy->stmt.tensor, &store);
    }
    b->vec_sym = -1;
    b->num_stored = 0;
    b->first_load = b->vregs.len;
}

/* Terms that one operation takes. */
static void dot_loop(at_builder *b, const at_ir *n) {
    b->dot = n;
    b->bound[n->loop.sym] = n->loop.lo;
    at_build_statement(b, n->child);
    b->dot = NULL;
}

static void expand_loop(at_builder *b, const at_ir *n) {
    if (n->loop.transposes) {
        transpose(b, n);
        return;
    }
    if (n->loop.ann == AT_ANN_DOT) {
        const char *not_at_all = at_build_not_dot(b, n, b->vec_sym),
                   *why_not = not_at_all ? not_at_all : at_build_not_one_dot(b, n);
        if (why_not) *at_push(b->l->arena, &b->notes) = at_note_no_dot(b->l, n, why_not);
        if (!not_at_all) {
            dot_loop(b, n);
            return;
        }
    }
    int lanes = b->l->target->lanes;
    bool asked = n->loop.ann == AT_ANN_VEC && lanes > 1;
    if (at_build_is_counted(n)) {
        const char *why = !at_build_has_parts(b, n) ? "how often it runs is known at run time only"
                                                    : at_build_not_vector(b, n);
        if (!why) {
            loop_in_parts(b, n);
            return;
        }
        if (asked) note_scalar(b, n, why);
        counted_loop(b, n);
        return;
    }
    const char *why = !asked            ? "nobody asked"
                      : b->vec_sym >= 0 ? "it stands inside of another vec loop"
                                        : at_build_not_vector(b, n);
    bool vector = !why;
    if (asked && why) note_scalar(b, n, why);
    for (int64_t i = n->loop.lo; i < n->loop.hi && !b->failed; i += vector ? lanes : 1) {
        b->bound[n->loop.sym] = i;
        if (vector) {
            b->vec_sym = n->loop.sym;
            b->vec_lanes = (int)(n->loop.hi - i < lanes ? n->loop.hi - i : lanes);
        }
        expand(b, n->child);
        if (vector) b->vec_sym = -1;
    }
}

static void expand(at_builder *b, const at_ir *list) {
    for (; list && !b->failed; list = list->next) {
        at_open_reductions(b, list);
        if (list->kind == AT_IR_STMT) at_build_statement(b, list);
        else expand_loop(b, list);
        at_close_reductions(b, list);
    }
}

void at_build_list(at_builder *b, const at_ir *list) { expand(b, list); }
