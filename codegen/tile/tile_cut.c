/* codegen/tile/tile_cut.c: tiles of a size that the registers and the instruction cache hold.
 *
 * Unrolled and vector loops of a tile are cut along the same piece in every nest of it, the
 * reduction loops repeated for each part, so that its accumulators fit the register file: 49 rows
 * become 25 and 24. A body that would be unrolled beyond AT_TILE_MAX_OPS keeps real loops. */
#include "codegen/tile/tile_make.h"

#define FUNCTION_OPS 24 /* of a function of an element, about */
#define MOST_BESIDE 12  /* registers that functions may take beside accumulators */
#define MAX_CALLS 6     /* parts written one after the other; more become a loop */

/* ---- cutting into register-sized parts ------------------------------------------------------- */

typedef struct {
    int piece;
    at_part part;
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
static int find_cuts(const at_ir *list, const at_ir *n, at_mask keep, cut *cuts, int num) {
    for (; n; n = n->next) {
        if (n->kind != AT_IR_LOOP) continue;
        bool known = n->loop.piece < 0 || !(keep & AT_BIT(n->loop.sym));
        for (int i = 0; i < num; i++) known |= cuts[i].piece == n->loop.piece;
        int64_t extent = 0;
        if (!known && num < AT_PARTS_MAX && at_loop_is_unrolled(n) &&
            piece_everywhere(list, n->loop.piece, false, &extent)) {
            cuts[num++] =
                (cut){n->loop.piece, {.vector = n->loop.ann == AT_ANN_VEC, .extent = extent}};
        }
        num = find_cuts(list, n->child, keep, cuts, num);
    }
    return num;
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

/* Where one of the piece's loops begins or ends next, behind `from`; `extent`: none does. Up to
 * there all parts are alike. */
static int64_t next_end(const at_ir *list, int piece, int64_t from, int64_t extent) {
    for (; list; list = list->next) {
        if (list->kind == AT_IR_LOOP && list->loop.piece == piece) {
            if (list->loop.lo > from && list->loop.lo < extent) extent = list->loop.lo;
            if (list->loop.hi > from && list->loop.hi < extent) extent = list->loop.hi;
        }
        extent = next_end(list->child, piece, from, extent);
    }
    return extent;
}

static void shift_piece(at_low *l, at_ir *list, int piece, int64_t size, const at_aff *base) {
    for (at_ir *n = list; n; n = n->next) {
        if (n->kind == AT_IR_LOOP && n->loop.piece == piece) {
            n->loop.lo = 0;
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

static at_ir *cut_list(cutter *x, at_ir *list, int i);

/* A loop over `whole` equal parts of piece `i` from `from` on. */
static at_ir *cut_equal(cutter *x, const at_ir *list, int i, int64_t from, int64_t whole) {
    at_low *l = x->l;
    const cut *c = &x->cuts[i];
    const int64_t size = c->part.size;
    const int of = find_piece(list, c->piece)->loop.sym;
    at_ir *body = restrict_piece(at_ir_copy_list(l, list), c->piece, from, from + whole * size);
    if (!body) return NULL; /* no loop of this piece reaches these parts */
    at_ir *loop = at_ir_new(l, AT_IR_LOOP);
    loop->loop.sym =
        at_sym_parts(l, of, size, whole, at_format(l->arena, "%s_part", l->syms.data[of].name));
    loop->loop.hi = whole;
    shift_piece(
        l, body, c->piece, size,
        at_aff_add(l, at_aff_scale(l, at_aff_sym(l, loop->loop.sym), size), at_aff_const(l, from)));
    loop->child = cut_list(x, body, i + 1);
    return loop;
}

/* The list once for every part of piece `i` and the following ones; many equal parts become a loop
 * of calls. */
static at_ir *cut_list(cutter *x, at_ir *list, int i) {
    at_low *l = x->l;
    if (!list) return NULL; /* a part that the loops of this piece do not reach */
    while (i < x->num && x->cuts[i].part.size >= x->cuts[i].part.extent) i++;
    if (i == x->num) {
        at_ir *n = x->ok && list ? x->build(x->context, list) : NULL;
        if (list && !n) x->ok = false;
        return n;
    }
    const cut *c = &x->cuts[i];
    const int64_t size = c->part.size, extent = c->part.extent;
    at_ir *head = NULL, **tail = &head;
    const at_ir *first = find_piece(list, c->piece);
    bool looks_up = at_ir_table_loops(l, list) & AT_BIT(first->loop.sym); /* known in each part */
    for (int64_t from = 0; from < extent && x->ok;) {
        const int64_t whole = (next_end(list, c->piece, from, extent) - from) / size;
        const bool is_loop = whole > MAX_CALLS && !looks_up;
        *tail =
            is_loop
                ? cut_equal(x, list, i, from, whole)
                : cut_list(x, restrict_piece(at_ir_copy_list(l, list), c->piece, from, from + size),
                           i + 1);
        from += is_loop ? whole * size : size;
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

static void add_sums(const at_ir *list, bool *seen, int *n) {
    for (; list; list = list->next) {
        if (list->kind == AT_IR_STMT && list->stmt.add && !seen[list->stmt.tensor])
            seen[list->stmt.tensor] = true, ++*n;
        add_sums(list->child, seen, n);
    }
}

/* How many tensors the terms of one loop are added to: each has such registers. */
static int sums_together(const at_low *l, const at_ir *list) {
    int most = 1;
    for (; list; list = list->next) {
        int n = 0;
        if (list->kind == AT_IR_LOOP && list->loop.is_reduce && at_loop_is_counted(list))
            add_sums(list->child, AT_NEW_ARRAY(l->arena, bool, l->num_tensors), &n);
        else if (list->kind == AT_IR_LOOP) n = sums_together(l, list->child);
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
    cut cuts[AT_PARTS_MAX];
    int num = find_cuts(list, list, keep, cuts, 0);
    int64_t other = other_registers(l, list, keep, cuts, num) * sums_together(l, list);
    int most = calls_in(list) ? MOST_BESIDE : 0;
    for (int beside = 0; beside <= most && at_lower_goes_on(l); beside += 3) {
        const at_low_mark before = at_low_mark_now(l);
        cutter x = {l, cuts, num, build, context, true};
        at_part parts[AT_PARTS_MAX];
        for (int i = 0; i < num; i++) parts[i] = cuts[i].part;
        at_tile_parts(l->target, parts, num, other, beside);
        for (int i = 0; i < num; i++) cuts[i].part = parts[i];
        at_ir *out = cut_list(&x, beside < most ? at_ir_copy_list(l, list) : list, 0);
        if (x.ok) return out;
        at_low_go_back(l, &before);
    }
    return NULL;
}

/* ---- size of the code ------------------------------------------------------------------------ */

/* May the loop's turns be one operation (tile_dot.c)? */
static bool is_dot(const at_low *l, const at_ir *n) {
    if (n->loop.ann != AT_ANN_DOT || n->child->kind != AT_IR_STMT) return false;
    const int terms = at_build_dot_terms(l, n->child->stmt.val);
    return terms && at_loop_trips(n) == terms;
}

int64_t at_expanded_ops(const at_low *l, const at_ir *list) {
    int64_t n = 0;
    for (; list; list = list->next) {
        if (list->kind == AT_IR_STMT) {
            n += 2 + FUNCTION_OPS * at_value_calls(list->stmt.val);
            continue;
        }
        int64_t inner = at_expanded_ops(l, list->child), times = 1;
        if (at_loop_is_unrolled(list) && at_loop_is_fixed(list)) times = at_loop_trips(list);
        if (is_dot(l, list)) times = 1;
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
    int outer = at_sym_parts(l, n->loop.sym, size, whole, l->syms.data[n->loop.sym].name);
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

static bool has_counted(const at_ir *list) {
    for (; list; list = list->next)
        if (list->kind == AT_IR_LOOP && (!unrolled(list) || has_counted(list->child))) return true;
    return false;
}

/* The innermost loop of a sum over few elements goes several steps at a time, so that there is
 * enough to do at once. */
static bool is_thin_sum(const at_low *l, const at_ir *n) {
    return n->loop.is_reduce && n->loop.ann == AT_ANN_NONE && at_loop_is_fixed(n) &&
           !n->loop.is_listed && at_loop_trips(n) > 1 && !has_counted(n->child) &&
           at_expanded_ops(l, n->child) <= AT_THIN_OPS;
}

/* How often loop n writes out what is in it. */
static int64_t vectors_of(const at_low *l, const at_ir *n) {
    if (!unrolled(n)) return 1;
    int lanes = n->loop.ann == AT_ANN_VEC ? l->target->lanes : 1;
    return (at_loop_trips(n) + lanes - 1) / lanes;
}

/* The product, or one more than AT_TILE_MAX_VALUES where it exceeds that. */
static int64_t product(int64_t a, int64_t b) {
    return b && a > AT_TILE_MAX_VALUES / b ? AT_TILE_MAX_VALUES + 1 : a * b;
}

/* Values that a list works out as code without loops, a whole vector at a time; those beyond
 * AT_TILE_MAX_VALUES are not counted. */
static int64_t all_values(const at_low *l, const at_ir *list) {
    int64_t n = 0;
    for (; list && n <= AT_TILE_MAX_VALUES; list = list->next) {
        int64_t times = 1, inner;
        if (list->kind == AT_IR_STMT) inner = at_value_size(list->stmt.val);
        else times = vectors_of(l, list), inner = all_values(l, list->child);
        n += product(times, inner);
    }
    return n;
}

/* most_of_sum: operations of a reduction's body; kept: how often loops of `keep` around the list
 * write it out. */
static void limit_unrolling(at_low *l, at_ir *list, at_mask keep, int64_t most_of_sum,
                            int64_t kept) {
    for (at_ir *n = list; n; n = n->next) {
        if (n->kind != AT_IR_LOOP) continue;
        at_ir one = *n;
        one.next = NULL;
        at_ir *child = n->child;
        if (is_thin_sum(l, n)) {
            const int64_t extent = at_loop_trips(n), size = at_tile_thin_steps(extent);
            n->loop.ann = AT_ANN_UNROLL;
            if (size < extent) {
                at_ir *head = n;
                n = split_loop(l, n, size);
                if (n != head) n->loop.ann = AT_ANN_NONE; /* the few steps left over */
            }
            continue;
        }
        bool stays = keep & AT_BIT(n->loop.sym), is_cut = unrolled(n) && !stays;
        bool too_many =
            is_cut && kept > 1 && product(all_values(l, &one), kept) > AT_TILE_MAX_VALUES;
        int64_t most = n->loop.is_reduce ? most_of_sum : AT_TILE_MAX_OPS;
        if (is_cut && (too_many || at_expanded_ops(l, &one) > most)) {
            int64_t limit = n->loop.is_reduce ? most : AT_TILE_STRAIGHT_OPS,
                    unit = n->loop.ann == AT_ANN_VEC ? l->target->lanes : 1,
                    turns = at_loop_trips(n),
                    size = too_many ? unit
                                    : at_tile_unrolled_turns(
                                          turns, unit, (double)at_expanded_ops(l, child), limit);
            if (size > 1 && size < turns) n = split_loop(l, n, size);
            else if (size == 1) n->loop.ann = AT_ANN_NONE;
        }
        limit_unrolling(l, child, keep, most_of_sum,
                        stays && unrolled(n) ? product(kept, at_loop_trips(n)) : kept);
    }
}

void at_limit_unrolling(at_low *l, at_ir *list, at_mask keep) {
    limit_unrolling(l, list, keep, at_tile_sum_ops(at_counted_loops(list)), 1);
}
