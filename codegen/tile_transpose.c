/* codegen/tile_transpose.c: copies between layouts whose rows are the other's columns.
 *
 * Neither loop of such a copy is a vector for both sides: it is cut into squares of four by four,
 * loaded along one loop, turned round in registers and stored along the other. What is left at the
 * edges is copied element by element. A cell of a square is what a lane holds: an element of 32
 * bits, or, of a loop inside of both, four bytes or two elements of 16 bits that lie side by side.
 * Elements of 16 bits alone are turned in squares of eight by eight.
 */
#include "codegen/tile_make.h"

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
    if (n == copy) return l->target->has_integers && to == from && bytes == 2 ? n : NULL;
    const int sym = copy->loop.sym;
    return l->target->has_integers && to == from && bytes * at_loop_trips(copy) == 4 &&
                   at_aff_coef(n->stmt.at, sym) == 1 && at_aff_coef(n->stmt.val->at, sym) == 1
               ? n
               : NULL;
}

int at_transpose_side(const at_low *l, const at_ir *cell) {
    const bool is_16 =
        cell->kind == AT_IR_STMT && at_type_bytes(l->tensors[cell->stmt.tensor].type) == 2;
    return is_16 ? AT_TILE_SQUARE_16 : AT_TILE_SQUARE;
}

static bool find_square(const at_low *l, const at_ir *n, const at_tile_regs *regs, square *s) {
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
    if (regs->local[copy->stmt.tensor] || regs->local[from->tensor] ||
        copy->stmt.tensor == from->tensor ||
        ((at_aff_opaque_deps(l, copy->stmt.at) | at_aff_opaque_deps(l, from->at)) & loops))
        return false;
    const int side = at_transpose_side(l, cell);
    if (at_loop_trips(n) < side || at_loop_trips(inner) < side) return false;
    bool outer_loads = runs_along(from->at, n, inner, size);
    *s = outer_loads ? (square){n, inner, cell, side} : (square){inner, n, cell, side};
    return runs_along(from->at, s->loaded, s->stored, size) &&
           runs_along(copy->stmt.at, s->stored, s->loaded, size);
}

/* A loop of `trips` around what n has inside, in which n itself counts to `by`. */
static at_ir *blocks_of(at_low *l, at_ir *n, int64_t trips, int64_t by) {
    at_ir *outer = at_ir_copy(l, n);
    outer->loop.ann = AT_ANN_NONE;
    outer->loop.piece = -1;
    outer->loop.sym = at_sym_loop(l, l->syms.data[n->loop.sym].name, trips);
    outer->loop.lo = 0;
    outer->loop.hi = trips;
    const at_aff *base =
        at_aff_shift(l, at_aff_scale(l, at_aff_sym(l, outer->loop.sym), by), n->loop.lo);
    at_ir_subst(l, n->child, n->loop.sym, at_aff_add(l, base, at_aff_sym(l, n->loop.sym)));
    n->loop.lo = 0;
    n->loop.hi = by;
    n->loop.piece = -1;
    return outer;
}

static at_ir *scalar_nest(at_low *l, const at_ir *outer, const at_ir *inner, const at_ir *copy) {
    at_ir *x = at_copy(l->arena, outer, sizeof *outer),
          *y = at_copy(l->arena, inner, sizeof *inner);
    x->next = y->next = NULL;
    x->loop.ann = y->loop.ann = AT_ANN_NONE;
    x->child = y;
    y->child = at_ir_copy(l, copy);
    return x;
}

/* Cells that a square stores along its loop: as many squares beside each other as fill a register
 * are turned round at once. */
static int64_t width_of(const at_low *l, const square *s) {
    const int64_t trips = s->stored->loop.hi - s->stored->loop.lo,
                  whole = (int64_t)l->target->lanes / AT_TILE_SQUARE * s->side;
    return l->target->gnu_insert && trips % whole == 0 ? whole : s->side;
}

/* Stands for the nest: the squares, then what is left of both loops. */
static at_ir *cut_squares(at_low *l, const square *s) {
    const int64_t width = width_of(l, s);
    int64_t rows = (s->loaded->loop.hi - s->loaded->loop.lo) / s->side,
            columns = (s->stored->loop.hi - s->stored->loop.lo) / width;
    at_ir *inner = scalar_nest(l, s->loaded, s->stored, s->copy);
    at_ir *along = inner->child;
    at_ir *columns_loop = blocks_of(l, along, columns, width),
          *rows_loop = blocks_of(l, inner, rows, s->side);
    inner->loop.ann = AT_ANN_UNROLL;
    inner->loop.transposes = true;
    along->loop.ann = AT_ANN_VEC;
    columns_loop->child = inner;
    rows_loop->child = columns_loop;
    at_ir *last = rows_loop;
    if (s->stored->loop.lo + columns * width < s->stored->loop.hi) {
        at_ir *rest = scalar_nest(l, s->loaded, s->stored, s->copy);
        rest->child->loop.lo += columns * width;
        last = last->next = rest;
    }
    if (s->loaded->loop.lo + rows * s->side < s->loaded->loop.hi) {
        at_ir *rest = scalar_nest(l, s->loaded, s->stored, s->copy);
        rest->loop.lo += rows * s->side;
        rest->child->loop.hi = rest->child->loop.lo + columns * width;
        last->next = rest;
    }
    return rows_loop;
}

static bool reads(const at_value *v, int tensor) {
    return (v->op == AT_V_LOAD && v->tensor == tensor) || (v->a && reads(v->a, tensor)) ||
           (v->b && reads(v->b, tensor));
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
        if (list->stmt.tensor != *tensor || reads(list->stmt.val, *tensor)) return false;
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
    if (l->target->lanes < AT_TILE_SQUARE || l->target->is_double) return list;
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
            if (room && find_square(l, n, regs, &s)) n = cut_squares(l, &s);
            else n->child = at_transpose_copies(l, n->child, regs);
        }
        *tail = n;
        while (*tail) tail = &(*tail)->next;
    }
    return head;
}
