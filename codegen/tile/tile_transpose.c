/* codegen/tile/tile_transpose.c: copies between layouts whose rows are the other's columns.
 *
 * Neither loop of such a copy is a vector for both sides: it is cut into squares of four by four,
 * loaded along one loop, turned round in registers and stored along the other. What is left at the
 * edges are squares that begin earlier, so that some elements are copied twice. A cell of a square
 * is what a lane holds: an element of 32 bits, or, of a loop inside of both, four bytes or two
 * elements of 16 bits that lie side by side. Elements of 16 bits alone are turned in squares of
 * eight by eight, bytes in squares of 16 by 16.
 */
#include "codegen/tile/tile_make.h"

#define LOOPS_NEEDED 2

/* What is copied by loop n and the one inside it: loads run along `loaded`, stores along `stored`.
 */
typedef struct {
    const at_ir *loaded, *stored, *copy;
    int side; /* cells each way */
} square;

static bool is_plain(const at_ir *n) {
    return n && !n->next && n->kind == AT_IR_LOOP && at_loop_is_fixed(n) && !n->loop.is_reduce;
}

static bool runs_along(const at_aff *at, const at_ir *n, const at_ir *other, int64_t cell) {
    int64_t k = at_aff_coef(at, other->loop.sym);
    return at_aff_coef(at, n->loop.sym) == cell && k != 0 && k != cell;
}

/* A statement, or a loop over as many elements as a lane holds. */
static const at_ir *statement_of(const at_low *l, const at_ir *copy) {
    const at_ir *n = copy;
    if (copy->kind == AT_IR_LOOP) {
        if (copy->next || !at_loop_is_fixed(copy) || copy->loop.is_reduce || copy->loop.lo)
            return NULL;
        n = copy->child;
    }
    if (!n || n->kind != AT_IR_STMT || n->next || n->stmt.add || n->stmt.val->op != AT_V_LOAD ||
        n->stmt.val->may_miss)
        return NULL;
    const at_type to = l->tensors[n->stmt.tensor].type, from = l->tensors[n->stmt.val->tensor].type;
    const int bytes = (int)at_type_bytes(to);
    if (n == copy && bytes == 4) return at_type_bytes(from) == 4 ? n : NULL;
    if (n == copy) return l->target->has_integers && to == from && bytes < 4 ? n : NULL;
    const int sym = copy->loop.sym;
    return l->target->has_integers && to == from && bytes * at_loop_trips(copy) == 4 &&
                   at_aff_coef(n->stmt.at, sym) == 1 && at_aff_coef(n->stmt.val->at, sym) == 1
               ? n
               : NULL;
}

int at_transpose_side(const at_low *l, const at_ir *cell) {
    if (cell->kind != AT_IR_STMT) return AT_TILE_SQUARE;
    return AT_TILE_SQUARE * at_type_per_lane(l->tensors[cell->stmt.tensor].type);
}

/* A copy by loop n and the one inside it, however often they run. */
static bool find_copy(const at_low *l, const at_ir *n, square *s) {
    at_ir one = *n;
    one.next = NULL;
    const at_ir *inner = n->kind == AT_IR_LOOP ? n->child : NULL;
    if (!is_plain(&one) || !is_plain(inner)) return false;
    const at_ir *cell = inner->child, *copy = statement_of(l, cell);
    if (!copy) return false;
    const at_value *from = copy->stmt.val;
    const int64_t size = cell == copy ? 1 : at_loop_trips(cell);
    at_mask loops = AT_BIT(n->loop.sym) | AT_BIT(inner->loop.sym);
    if (cell != copy) loops |= AT_BIT(cell->loop.sym);
    if (copy->stmt.tensor == from->tensor ||
        ((at_aff_opaque_deps(l, copy->stmt.at) | at_aff_opaque_deps(l, from->at)) & loops))
        return false;
    const bool outer_loads = runs_along(from->at, n, inner, size);
    const int side = at_transpose_side(l, cell);
    *s = outer_loads ? (square){n, inner, cell, side} : (square){inner, n, cell, side};
    return runs_along(from->at, s->loaded, s->stored, size) &&
           runs_along(copy->stmt.at, s->stored, s->loaded, size);
}

static bool can_turn(const at_low *l) {
    return l->target->lanes >= AT_TILE_SQUARE && !l->target->is_double;
}

void at_find_turned_copies(at_low *l, at_ir *list) {
    for (at_ir *n = can_turn(l) ? list : NULL; n; n = n->next) {
        square s;
        if (find_copy(l, n, &s)) n->loop.is_turned = n->child->loop.is_turned = true;
        else at_find_turned_copies(l, n->child);
    }
}

static bool find_square(const at_low *l, const at_ir *n, const at_tile_regs *regs, square *s) {
    if (!find_copy(l, n, s)) return false;
    const at_ir *cell = s->copy, *copy = cell->kind == AT_IR_LOOP ? cell->child : cell;
    return !regs->local[copy->stmt.tensor] && !regs->local[copy->stmt.val->tensor] &&
           at_loop_trips(s->loaded) >= s->side && at_loop_trips(s->stored) >= s->side;
}

/* A loop `sym` of `trips` around what n has inside, in which n itself counts to `by`. */
static at_ir *blocks_of(at_low *l, at_ir *n, int sym, int64_t trips, int64_t by) {
    at_ir *outer = at_ir_copy(l, n);
    outer->loop.ann = AT_ANN_NONE;
    outer->loop.piece = -1;
    outer->loop.sym = sym;
    outer->loop.lo = 0;
    outer->loop.hi = trips;
    const at_aff *base = at_aff_shift(l, at_aff_scale(l, at_aff_sym(l, sym), by), n->loop.lo);
    at_ir_subst(l, n->child, n->loop.sym, at_aff_add(l, base, at_aff_sym(l, n->loop.sym)));
    n->loop.lo = 0;
    n->loop.hi = by;
    n->loop.piece = -1;
    return outer;
}

static at_ir *nest_of(at_low *l, const square *s) {
    at_ir *x = at_copy(l->arena, s->loaded, sizeof *x),
          *y = at_copy(l->arena, s->stored, sizeof *y);
    x->next = y->next = NULL;
    x->child = y;
    y->child = at_ir_copy(l, s->copy);
    return x;
}

/* What is left of n behind so many turns, and so many before it as make a square of that. */
static at_ir last_of(const at_ir *n, int64_t turns, int side) {
    at_ir last = *n;
    last.loop.lo += turns;
    if (at_loop_trips(&last) < side) last.loop.lo = last.loop.hi - side;
    return last;
}

/* Stands for the nest: the squares, then what is left of both loops. rows, columns: loops over
 * squares. */
static at_ir *cut_squares(at_low *l, const square *s, int rows, int columns) {
    const int64_t width = at_tile_squares_width(l->target, s->side, at_loop_trips(s->stored)),
                  height = s->side, across = at_loop_trips(s->stored) / width * width,
                  down = at_loop_trips(s->loaded) / height * height;
    at_ir *inner = nest_of(l, s);
    at_ir *columns_loop = blocks_of(l, inner->child, columns, across / width, width),
          *rows_loop = blocks_of(l, inner, rows, down / height, height);
    inner->loop.ann = AT_ANN_UNROLL;
    inner->child->loop.ann = AT_ANN_VEC;
    inner->loop.transposes = true;
    columns_loop->child = inner;
    rows_loop->child = columns_loop;
    at_ir *head = NULL, **tail = &head;
    at_ir_append(&tail, rows_loop);
    if (across < at_loop_trips(s->stored)) {
        const at_ir right = last_of(s->stored, across, s->side);
        const square rest = {s->loaded, &right, s->copy, s->side};
        at_ir_append(&tail, cut_squares(l, &rest, rows, columns));
    }
    if (down < at_loop_trips(s->loaded)) {
        const at_ir below = last_of(s->loaded, down, s->side);
        at_ir left = *s->stored;
        left.loop.hi = left.loop.lo + across;
        const square rest = {&below, &left, s->copy, s->side};
        at_ir_append(&tail, cut_squares(l, &rest, rows, columns));
    }
    return head;
}

static at_ir *squares_of(at_low *l, const square *s) {
    const int rows =
                  at_sym_loop(l, l->syms.data[s->loaded->loop.sym].name, at_loop_trips(s->loaded)),
              columns =
                  at_sym_loop(l, l->syms.data[s->stored->loop.sym].name, at_loop_trips(s->stored));
    return cut_squares(l, s, rows, columns);
}

/* Copies to one tensor only, which may be done in any order: none reads what another writes. */
static bool only_copies(const at_ir *list, int *tensor) {
    for (; list; list = list->next) {
        if (list->kind == AT_IR_LOOP) {
            if (!only_copies(list->child, tensor)) return false;
            continue;
        }
        if (list->kind != AT_IR_STMT || list->stmt.add) return false;
        if (*tensor < 0) *tensor = list->stmt.tensor;
        if (list->stmt.tensor != *tensor || at_value_reads(list->stmt.val, *tensor)) return false;
    }
    return true;
}

/* Loop n once for each nest inside (a run of zeros, a run of data), if one of those is to be
 * turned.
 */
static at_ir *distribute(at_low *l, at_ir *n, const at_tile_regs *regs) {
    int tensor = -1;
    bool any = false;
    if (!n->child->next || !only_copies(n->child, &tensor)) return n;
    at_ir *head = NULL, **tail = &head;
    for (at_ir *c = n->child, *next; c; c = next) {
        square s;
        next = c->next;
        at_ir *loop = at_copy(l->arena, n, sizeof *n);
        loop->next = NULL;
        loop->child = at_ir_copy(l, c);
        any |= find_square(l, loop, regs, &s);
        *tail = loop;
        tail = &loop->next;
    }
    return any ? head : n;
}

at_ir *at_transpose_copies(at_low *l, at_ir *list, const at_tile_regs *regs) {
    if (!can_turn(l)) return list;
    at_ir *head = NULL, **tail = &head;
    for (at_ir *n = list, *next; n; n = next) {
        square s;
        next = n->next;
        n->next = NULL;
        if (n->kind == AT_IR_LOOP) {
            at_ir *first = n = distribute(l, n, regs), *last = n;
            if (first->next) {
                while (last->next) last = last->next;
                last->next = next;
                next = first;
                continue;
            }
            bool room = l->num_loops + LOOPS_NEEDED <= AT_MAX_LOOPS;
            if (room && find_square(l, n, regs, &s)) n = squares_of(l, &s);
            else n->child = at_transpose_copies(l, n->child, regs);
        }
        *tail = n;
        while (*tail) tail = &(*tail)->next;
    }
    return head;
}
