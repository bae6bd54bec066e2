/* codegen/tile_cut.c: tiles of a size that the registers and the instruction cache hold.
 *
 * Unrolled and vector loops of a tile are cut along the same piece in every nest of it, the
 * reduction loops repeated for each part, so that its accumulators fit the register file: 49 rows
 * become 25 and 24. A body that would be unrolled beyond AT_TILE_MAX_OPS keeps real loops. */
#include "codegen/tile_make.h"

#define THIN_OPS 16 /* operations of a step of a sum below which several go at once */
#define THIN_STEPS 8
#define FUNCTION_OPS 24 /* of a function of an element, about */
#define MAX_PIECES 4    /* pieces of one tile that may be cut */
#define MAX_SIZES 24    /* sizes tried per piece */
#define MOST_BESIDE 12  /* registers that functions may take beside accumulators */
#define MAX_CALLS 6     /* parts written one after the other; more become a loop */

/* ---- cutting into register-sized parts ------------------------------------------------------- */

typedef struct {
    int piece;
    bool vector;
    int64_t extent;
    int num_sizes;
    int64_t size[MAX_SIZES]; /* candidates, ascending */
    int64_t chosen;
} cut;

static const at_ir *find_piece(const at_ir *list, int piece) {
    for (; list; list = list->next) {
        if (list->kind == AT_IR_LOOP && list->loop.piece == piece) return list;
        const at_ir *found = find_piece(list->child, piece);
        if (found) return found;
    }
    return NULL;
}

/* Does every statement lie below a constant unrolled or vector loop of this piece? */
static bool piece_everywhere(const at_ir *list, int piece, bool below, int64_t *extent) {
    for (; list; list = list->next) {
        bool here = false;
        if (list->kind == AT_IR_LOOP && list->loop.piece == piece) {
            if (!at_loop_is_fixed(list) || !at_loop_is_unrolled(list)) return false;
            here = true;
            if (list->loop.hi > *extent) *extent = list->loop.hi;
        }
        if (list->kind == AT_IR_STMT ? !below
                                     : !piece_everywhere(list->child, piece, below || here, extent))
            return false;
    }
    return true;
}

/* Pieces that may be cut, in order of appearance on the path of the statement that sums. */
static int find_cuts(at_low *l, const at_ir *list, const at_ir *n, at_mask keep, cut *cuts,
                     int num) {
    int lanes = l->target->lanes;
    for (; n; n = n->next) {
        if (n->kind != AT_IR_LOOP) continue;
        bool known = n->loop.piece < 0 || !(keep & AT_BIT(n->loop.sym));
        for (int i = 0; i < num; i++) known |= cuts[i].piece == n->loop.piece;
        int64_t extent = 0;
        if (!known && num < MAX_PIECES && at_loop_is_unrolled(n) &&
            piece_everywhere(list, n->loop.piece, false, &extent)) {
            cut *c = &cuts[num++];
            *c = (cut){
                .piece = n->loop.piece, .vector = n->loop.ann == AT_ANN_VEC, .extent = extent};
            int64_t unit = c->vector ? lanes : 1, units = (extent + unit - 1) / unit, last = 0;
            for (int64_t parts = units; parts >= 1 && c->num_sizes < MAX_SIZES; parts--) {
                int64_t size = (units + parts - 1) / parts;
                if (size == last) continue;
                last = size;
                c->size[c->num_sizes++] = size * unit;
            }
        }
        num = find_cuts(l, list, n->child, keep, cuts, num);
    }
    return num;
}

/* A register tile: rows x vectors accumulators, the vectors loaded beside them, and one broadcast
 * where several vectors share it. One register too many is allowed: the last vector becomes a
 * memory operand. */
typedef struct {
    int64_t rows, vectors;
    bool fits, folded; /* folded: with the last vector as memory operand */
} shape;

static shape shape_of(const at_low *l, int64_t rows, int64_t vectors, int64_t beside) {
    const at_target *target = l->target;
    int64_t need = rows * vectors + vectors + (vectors > 1 || !target->fold_bcast);
    if (need < rows * vectors + beside) need = rows * vectors + beside;
    bool folded = need > target->regs && target->fold_vector && vectors > 2;
    return (shape){rows, vectors, need - folded <= target->regs, folded};
}

/* Estimated time of a step, in multiply-adds: these or the loads, whichever is more, not below the
 * latency of one; and what a line costs that comes from the second-level cache, where panels of
 * weights lie. Weights are fitted to kernels on Sapphire Rapids: of the peak, 14x2 reach 0.78, 8x2
 * 0.76, 7x2 and 6x4 0.72, 28x1 0.70, 7x4 folded 0.66, 4x4 0.64. */
static double step_cost(const at_low *l, shape s) {
    double fma = (double)(s.rows * s.vectors);
    double loads = (double)(s.rows + s.vectors + (s.folded ? s.rows - 1 : 0));
    double lines = (double)s.vectors * l->target->lanes / 16;
    double c = fma > 1.07 * loads ? fma : 1.07 * loads;
    if (c < 8) c = 8;
    return c + 0.6 * lines + 0.02 * loads + (s.folded ? 0.06 * fma : 0);
}

/* beside: registers that functions behind a sum take besides all of its accumulators. */
static void choose_sizes(const at_low *l, cut *cuts, int num, int64_t other_regs, int64_t beside) {
    int at[MAX_PIECES] = {0};
    double best = -1;
    if (other_regs < 1) other_regs = 1;
    for (;;) {
        int64_t rows = other_regs, vectors = 1;
        double parts = 1;
        for (int i = 0; i < num; i++) {
            int64_t size = cuts[i].size[at[i]], lanes = l->target->lanes;
            if (cuts[i].vector) vectors *= (size + lanes - 1) / lanes;
            else rows *= size;
            parts *= (double)cuts[i].extent / (double)size;
        }
        shape s = shape_of(l, rows, vectors, beside);
        double c = step_cost(l, s) * parts;
        if (s.fits && (best < 0 || c < best)) {
            best = c;
            for (int i = 0; i < num; i++) cuts[i].chosen = cuts[i].size[at[i]];
        }
        int i = 0;
        while (i < num && ++at[i] == cuts[i].num_sizes) at[i++] = 0;
        if (i == num) break;
    }
    if (best < 0)
        for (int i = 0; i < num; i++) cuts[i].chosen = cuts[i].size[0];
}

/* Keeps iterations [from, to) of a piece in a list; nests without any go. */
static at_ir *restrict_piece(at_ir *list, int piece, int64_t from, int64_t to) {
    at_ir *head = NULL, **tail = &head;
    for (at_ir *n = list, *next; n; n = next) {
        next = n->next;
        if (n->kind == AT_IR_LOOP) {
            if (n->loop.piece == piece) {
                if (n->loop.lo < from) n->loop.lo = from;
                if (n->loop.hi > to) n->loop.hi = to;
                if (n->loop.lo >= n->loop.hi) continue;
            }
            n->child = restrict_piece(n->child, piece, from, to);
            if (!n->child) continue;
        }
        *tail = n;
        tail = &n->next;
        n->next = NULL;
    }
    return head;
}

/* Every loop of the piece starts at 0 and runs to `extent`: then equal parts can be a loop. */
static bool piece_uniform(const at_ir *list, int piece, int64_t extent) {
    for (; list; list = list->next) {
        if (list->kind == AT_IR_LOOP && list->loop.piece == piece &&
            (list->loop.lo != 0 || list->loop.hi != extent))
            return false;
        if (!piece_uniform(list->child, piece, extent)) return false;
    }
    return true;
}

static void shift_piece(at_low *l, at_ir *list, int piece, int64_t size, const at_aff *base) {
    for (at_ir *n = list; n; n = n->next) {
        if (n->kind == AT_IR_LOOP && n->loop.piece == piece) {
            n->loop.hi = size;
            at_ir_subst(l, n->child, n->loop.sym, at_aff_add(l, base, at_aff_sym(l, n->loop.sym)));
        }
        shift_piece(l, n->child, piece, size, base);
    }
}

typedef struct {
    at_low *l;
    const cut *cuts;
    int num;
    at_cut_build *build;
    void *context;
    bool ok;
} cutter;

/* The list once for every part of piece `i` and the following ones; many equal parts become a loop
 * of calls. */
static at_ir *cut_list(cutter *x, at_ir *list, int i) {
    at_low *l = x->l;
    if (!list) return NULL; /* a part that the loops of this piece do not reach */
    while (i < x->num && x->cuts[i].chosen >= x->cuts[i].extent) i++;
    if (i == x->num) {
        at_ir *n = x->ok && list ? x->build(x->context, list) : NULL;
        if (list && !n) x->ok = false;
        return n;
    }
    const cut *c = &x->cuts[i];
    at_ir *head = NULL, **tail = &head;
    int64_t from = 0, whole = c->extent / c->chosen;
    if (whole > MAX_CALLS && piece_uniform(list, c->piece, c->extent)) {
        at_ir *loop = at_ir_new(l, AT_IR_LOOP);
        const at_ir *first = find_piece(list, c->piece);
        loop->loop.sym = at_sym_loop(
            l, at_format(l->arena, "%s_part", l->syms.data[first->loop.sym].name), whole);
        loop->loop.hi = whole;
        at_ir *body = at_ir_copy_list(l, list);
        shift_piece(l, body, c->piece, c->chosen,
                    at_aff_scale(l, at_aff_sym(l, loop->loop.sym), c->chosen));
        loop->child = cut_list(x, body, i + 1);
        *tail = loop;
        tail = &loop->next;
        from = whole * c->chosen;
    }
    for (; from < c->extent && x->ok; from += c->chosen) {
        *tail = cut_list(
            x, restrict_piece(at_ir_copy_list(l, list), c->piece, from, from + c->chosen), i + 1);
        while (*tail) tail = &(*tail)->next;
    }
    return head;
}

/* Registers beside the cut pieces: what other unrolled and vector loops index of the tensors held.
 */
static int64_t other_registers(const at_low *l, const at_ir *list, at_mask keep, const cut *cuts,
                               int num) {
    int64_t most = 1;
    for (; list; list = list->next) {
        if (list->kind != AT_IR_LOOP) continue;
        int64_t n = other_registers(l, list->child, keep, cuts, num), lanes = l->target->lanes;
        bool is_cut = !(keep & AT_BIT(list->loop.sym));
        for (int i = 0; i < num; i++) is_cut |= cuts[i].piece == list->loop.piece;
        if (!is_cut)
            n *= list->loop.ann == AT_ANN_VEC ? (list->loop.hi + lanes - 1) / lanes
                                              : at_loop_trips(list);
        if (n > most) most = n;
    }
    return most;
}

static int calls_in(const at_ir *list) {
    int n = 0;
    for (; list; list = list->next)
        n += list->kind == AT_IR_STMT ? at_value_calls(list->stmt.val) : calls_in(list->child);
    return n;
}

/* What functions take is known when registers are given out; where that fails, smaller parts leave
 * them more. */
at_ir *at_cut_to_registers(at_low *l, at_ir *list, at_mask keep, at_cut_build *build,
                           void *context) {
    cut cuts[MAX_PIECES];
    int num = find_cuts(l, list, list, keep, cuts, 0), made = l->tiles.len;
    int64_t other = other_registers(l, list, keep, cuts, num);
    int most = calls_in(list) ? MOST_BESIDE : 0;
    for (int beside = 0; beside <= most; beside += 3) {
        cutter x = {l, cuts, num, build, context, true};
        choose_sizes(l, cuts, num, other, beside);
        at_ir *out = cut_list(&x, beside < most ? at_ir_copy_list(l, list) : list, 0);
        if (x.ok) return out;
        l->tiles.len = made;
    }
    return NULL;
}

/* ---- size of the code ------------------------------------------------------------------------ */

static int64_t expanded(const at_low *l, const at_ir *list) {
    int64_t n = 0;
    for (; list; list = list->next) {
        if (list->kind == AT_IR_STMT) {
            n += 2 + FUNCTION_OPS * at_value_calls(list->stmt.val);
            continue;
        }
        int64_t inner = expanded(l, list->child), times = 1;
        if (at_loop_is_unrolled(list) && at_loop_is_fixed(list)) times = at_loop_trips(list);
        if (list->loop.ann == AT_ANN_VEC) {
            int lanes = l->target->lanes;
            times = (times + lanes - 1) / lanes;
        }
        if (times > 4 * AT_TILE_MAX_OPS || inner > 4 * AT_TILE_MAX_OPS) return 16 * AT_TILE_MAX_OPS;
        n += inner * times;
    }
    return n;
}

/* Loop n over [lo, hi) becomes a counted loop around copies of `size` iterations of the old kind;
 * what does not divide follows behind. Returns the last node that stands for n. */
static at_ir *split_loop(at_low *l, at_ir *n, int64_t size) {
    int64_t whole = at_loop_trips(n) / size;
    at_ir *last = n;
    if (at_loop_trips(n) % size) {
        last = at_ir_copy(l, n);
        last->loop.lo = n->loop.lo + whole * size;
        last->next = n->next;
        n->next = last;
    }
    at_ir *inner = at_copy(l->arena, n, sizeof *n);
    inner->next = NULL;
    inner->loop.piece = -1;
    inner->loop.lo = 0;
    inner->loop.hi = size;
    int outer = at_sym_loop(l, l->syms.data[n->loop.sym].name, whole);
    const at_aff *base = at_aff_shift(l, at_aff_scale(l, at_aff_sym(l, outer), size), n->loop.lo);
    at_ir_subst(l, inner->child, n->loop.sym, at_aff_add(l, at_aff_sym(l, n->loop.sym), base));
    n->loop.sym = outer;
    n->loop.ann = AT_ANN_NONE;
    n->loop.lo = 0;
    n->loop.hi = whole;
    n->child = inner;
    return last;
}

static bool unrolled(const at_ir *n) { return at_loop_is_unrolled(n) && at_loop_is_fixed(n); }

static int64_t limit_of(const at_ir *n) {
    return n->loop.is_reduce ? AT_TILE_SUM_OPS : AT_TILE_MAX_OPS / 3;
}

/* Iterations of a loop to keep unrolled, each `inner` operations: the largest divisor within the
 * limit; whole vectors for a vector loop. */
static int64_t unroll_by(const at_low *l, const at_ir *n, int64_t inner) {
    int64_t unit = n->loop.ann == AT_ANN_VEC ? l->target->lanes : 1;
    int64_t extent = at_loop_trips(n), best = unit;
    for (int64_t f = unit; f <= extent && f / unit * inner <= limit_of(n); f += unit)
        if (extent % f == 0) best = f;
    return best;
}

static bool has_counted(const at_ir *list) {
    for (; list; list = list->next)
        if (list->kind == AT_IR_LOOP && (!unrolled(list) || has_counted(list->child))) return true;
    return false;
}

/* The innermost loop of a sum over few elements goes several steps at a time, so that there is
 * enough to do at once. */
static bool is_thin_sum(const at_low *l, const at_ir *n) {
    return n->loop.is_reduce && n->loop.ann == AT_ANN_NONE && at_loop_is_fixed(n) &&
           at_loop_trips(n) > 1 && !has_counted(n->child) && expanded(l, n->child) <= THIN_OPS;
}

void at_limit_unrolling(at_low *l, at_ir *list, at_mask keep) {
    for (at_ir *n = list; n; n = n->next) {
        if (n->kind != AT_IR_LOOP) continue;
        at_ir one = *n;
        one.next = NULL;
        at_ir *child = n->child;
        if (is_thin_sum(l, n)) {
            int64_t extent = at_loop_trips(n), size = extent < THIN_STEPS ? extent : THIN_STEPS;
            for (int64_t f = size; f > size / 2; f--)
                if (extent % f == 0) {
                    size = f;
                    break;
                }
            n->loop.ann = AT_ANN_UNROLL;
            if (size < extent) {
                at_ir *head = n;
                n = split_loop(l, n, size);
                if (n != head) n->loop.ann = AT_ANN_NONE; /* the few steps left over */
            }
            continue;
        }
        bool too_long = unrolled(n) && !(keep & AT_BIT(n->loop.sym)) &&
                        expanded(l, &one) > (n->loop.is_reduce ? AT_TILE_SUM_OPS : AT_TILE_MAX_OPS);
        if (too_long) {
            int64_t size = unroll_by(l, n, expanded(l, child));
            if (size > 1 && size < at_loop_trips(n)) n = split_loop(l, n, size);
            else if (size == 1) n->loop.ann = AT_ANN_NONE;
        }
        at_limit_unrolling(l, child, keep);
    }
}
