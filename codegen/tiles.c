/* codegen/tiles.c: which subtrees become tiles, and how large.
 *
 * A nest can be a tile when nothing in it is conditional, all its addresses are affine in its
 * loops, entries of index lists aside, with numbers for those that are written out, and none of
 * these go from step to step of a cycle.
 * Neighbours that define and use up one tensor (initialisation, sum, epilogue) become one tile, and
 * that tensor lives in registers; where there are too few of them the group is cut (tile_cut.c).
 * What cannot be a tile as a whole is opened: its loops stay C, its inner nests are tried. What is
 * packed and computed has registers of doubles. */
#include "codegen/tile/tile_make.h"

#include <string.h>

/* Statements as they were before tiles were made of them. */
typedef struct {
    const at_ir *list;
    int *accesses; /* [tensor] how often they read or write it; NULL: nobody has asked */
} untiled;

typedef struct {
    at_low *l;
    struct {
        int sym; /* loop, or -1: an if */
        untiled body;
        untiled beside; /* of an if: the branch that is not taken */
    } path[AT_MOST_DEPTH];
    int depth;
    untiled root;
} tiler;

static at_ir *tile_list(tiler *x, at_ir *list);

/* ---- what is worked out in double ------------------------------------------------------------ */

static bool value_computes(const at_value *v) { return v->op != AT_V_LOAD && v->op != AT_V_CONST; }

static bool value_for_double(const at_value *v) {
    bool plain = v->op <= AT_V_MAX || v->op == AT_V_TABLE;
    return plain && (!v->a || value_for_double(v->a)) && (!v->b || value_for_double(v->b));
}

/* What is made of weights alone, once for all calls, is rounded once: unless it is a copy. */
static bool is_for_double(const at_low *l, const at_ir *n) {
    const at_compute *c = l->program->compute;
    if (c->in_steps || c->has_halves) return false; /* rounded at each step; widened to a float */
    if (n->kind == AT_IR_STMT)
        return !n->stmt.integer && n->stmt.tensor < c->num_tensors &&
               c->tensors[n->stmt.tensor].is_packing && value_computes(n->stmt.val) &&
               value_for_double(n->stmt.val);
    if (n->kind != AT_IR_LOOP || !n->child) return false;
    for (const at_ir *child = n->child; child; child = child->next)
        if (!is_for_double(l, child)) return false;
    return true;
}

/* ---- what can be a tile ---------------------------------------------------------------------- */

/* x in a turn of the loops of a nest that are written out. */
static const at_aff *in_a_turn(at_low *l, const at_aff *x, const at_ir *nest) {
    if (nest->kind != AT_IR_LOOP) return x;
    if (nest->loop.ann == AT_ANN_UNROLL && at_loop_is_fixed(nest))
        x = at_aff_subst(l, x, nest->loop.sym, at_aff_const(l, nest->loop.hi - 1));
    for (const at_ir *c = nest->child; c; c = c->next) x = in_a_turn(l, x, c);
    return x;
}

static bool value_fits(at_low *l, const at_value *v, const at_ir *nest, at_mask inner) {
    if (v->op == AT_V_SELECT || (v->op == AT_V_LOAD && !at_aff_indexed(l, v->at, inner) &&
                                 !at_aff_indexed(l, in_a_turn(l, v->at, nest), inner)))
        return false;
    return (!v->a || value_fits(l, v->a, nest, inner)) &&
           (!v->b || value_fits(l, v->b, nest, inner));
}

static bool fits(at_low *l, const at_ir *n, const at_ir *nest, at_mask inner) {
    if (n->kind == AT_IR_STMT)
        return !n->stmt.integer && !(at_aff_opaque_deps(l, n->stmt.at) & inner) &&
               value_fits(l, n->stmt.val, nest, inner);
    if (n->kind != AT_IR_LOOP || n->loop.ann == AT_ANN_PARA || n->loop.is_step) return false;
    if (n->loop.lo_aff && (at_aff_deps(l, n->loop.lo_aff) & inner)) return false;
    if (n->loop.hi_aff && (at_aff_deps(l, n->loop.hi_aff) & inner)) return false;
    for (const at_ir *c = n->child; c; c = c->next)
        if (!fits(l, c, nest, inner)) return false;
    return true;
}

/* The one tensor all statements of a nest write; -1 if there are several. */
static int target(const at_ir *n) {
    if (n->kind == AT_IR_STMT) return n->stmt.tensor;
    int t = -2;
    for (const at_ir *c = n->child; c; c = c->next) {
        int u = target(c);
        if (t == -2) t = u;
        if (u != t) return -1;
    }
    return t;
}

static bool reads(const at_ir *n, int tensor) {
    bool any = n->kind == AT_IR_STMT && at_value_reads(n->stmt.val, tensor);
    for (const at_ir *c = n->child; c && !any; c = c->next) any = reads(c, tensor);
    return any;
}

/* Do neighbours all read one tensor, all of them for double or none? The one tensor that a
 * neighbour writes is written by no other and read by none; a neighbour that writes several is not
 * asked which these are. What they have in common is worked out once, if they are one tile. */
static bool read_alike(const at_low *l, const at_ir *list) {
    for (const at_ir *c = list; c; c = c->next)
        if (is_for_double(l, c) != is_for_double(l, list)) return false;
    bool any = false;
    for (int t = 0; t < l->num_tensors; t++) {
        int num = 0, readers = 0, writers = 0;
        for (const at_ir *c = list; c; c = c->next) {
            num++;
            readers += reads(c, t);
            writers += target(c) == t;
        }
        if (writers > 1 || (writers && readers)) return false;
        any |= readers == num;
    }
    return any;
}

/* Leaves of several tensors in counted loops, written out in the innermost, over terms (an
 * exponential and the sum of it, two sums of the same data) or over elements that are made of the
 * same ones (the least and the largest of three rows). */
static bool is_joint(const at_low *l, const at_ir *n) {
    if (n->kind != AT_IR_LOOP || n->loop.ann != AT_ANN_NONE || target(n) >= 0) return false;
    if (at_counted_loops(n->child)) return !n->child->next && is_joint(l, n->child);
    return n->loop.is_reduce || read_alike(l, n->child);
}

static bool can_be_tile(at_low *l, const at_ir *n) {
    return fits(l, n, n, at_ir_loops_of(n)) && (target(n) >= 0 || is_joint(l, n));
}

/* How often statements of a list read or write each tensor. */
static void count_value(const at_value *v, int *accesses) {
    if (v->op == AT_V_LOAD) accesses[v->tensor]++;
    if (v->a) count_value(v->a, accesses);
    if (v->b) count_value(v->b, accesses);
}

static void count_accesses(const at_ir *list, int *accesses) {
    for (; list; list = list->next) {
        count_accesses(list->child, accesses);
        count_accesses(list->other, accesses);
        if (list->kind != AT_IR_STMT) continue;
        accesses[list->stmt.tensor]++;
        count_value(list->stmt.val, accesses);
    }
}

static int accesses_before(const tiler *x, untiled *of, int tensor) {
    if (!of->accesses) {
        of->accesses = AT_NEW_ARRAY(x->l->arena, int, x->l->num_tensors);
        count_accesses(of->list, of->accesses);
    }
    return of->accesses[tensor];
}

/* ---- tensors in registers -------------------------------------------------------------------- */

typedef struct { /* all accesses to a tensor in a list: do they name registers? */
    const at_aff *rest;
    bool is_asked, is_other;
} fixed_tensor;

typedef struct {
    at_low *l;
    at_mask counted, inner;
    fixed_tensor *of; /* [tensor] */
} fixed_query;

static void fixed_address(fixed_query *q, int tensor, const at_aff *at) {
    fixed_tensor *t = &q->of[tensor];
    const at_aff *rest;
    if (!t->is_asked || t->is_other) return;
    at_aff_part(q->l, at, q->inner, &rest);
    rest = at_aff_shift(q->l, rest, -rest->c);
    t->is_other = (at_aff_deps(q->l, at) & q->counted) || (t->rest && !at_aff_equal(t->rest, rest));
    t->rest = rest;
}

static void fixed_value(fixed_query *q, const at_value *v) {
    if (v->op == AT_V_LOAD) fixed_address(q, v->tensor, v->at);
    if (v->a) fixed_value(q, v->a);
    if (v->b) fixed_value(q, v->b);
}

static void fixed_list(fixed_query *q, const at_ir *list) {
    for (; list; list = list->next) {
        if (list->kind == AT_IR_STMT) {
            if (list->stmt.num_places) q->of[list->stmt.tensor].is_other = true;
            fixed_address(q, list->stmt.tensor, list->stmt.at);
            fixed_value(q, list->stmt.val);
        }
        fixed_list(q, list->child);
    }
}

/* Is everything that touches this tensor inside a list, which does so `mine` times? */
static bool is_inside(tiler *x, int mine, int tensor) {
    const at_low *l = x->l;
    const at_buffer *b = &l->buffers[tensor];
    if (!mine || (b->place != AT_PLACE_WORKSPACE && b->place != AT_PLACE_THREAD)) return false;
    int first = 0;
    untiled *scope =
        b->line_sym < 0 ? &x->root : NULL; /* where one life of the storage begins and ends */
    for (int i = 0; i < x->depth; i++)
        if (x->path[i].sym == b->line_sym && b->line_sym >= 0) scope = &x->path[i].body, first = i;
    if (!scope) return false;
    for (int i = first; i < x->depth; i++) mine += accesses_before(x, &x->path[i].beside, tensor);
    return accesses_before(x, scope, tensor) == mine;
}

/* Has a tensor memory of its own, whose elements are no places? */
static bool may_be_registers(const at_low *l, int tensor) {
    const at_place place = l->buffers[tensor].place;
    return (place == AT_PLACE_WORKSPACE || place == AT_PLACE_THREAD) &&
           !at_low_holds_places(l, tensor);
}

/* ---- grouping -------------------------------------------------------------------------------- */

/* Elements that are indices are read in memory. */
static bool makes_places(const at_low *l, const at_ir *from, const at_ir *end) {
    bool any = false;
    for (; from != end && !any; from = from->next) {
        const int t = target(from);
        any = t >= 0 && at_low_holds_places(l, t);
    }
    return any;
}

static bool sums(const at_ir *n) { return n->kind == AT_IR_STMT ? n->stmt.add : sums(n->child); }

/* Neighbours that may be one tile: up to `end`, not included. */
typedef struct {
    at_ir *end;
    bool *local; /* [tensor] lives in registers */
} group;

#define MAX_GROUPS 8 /* of one beginning */

/* What neighbours say of each tensor, put together as they are looked at. */
typedef struct {
    fixed_query query;
    int *accesses;        /* [tensor] */
    bool *local, *writes; /* [tensor] it can live in registers; the group so far writes it */
} neighbours;

static void mark_written(const at_ir *n, bool *written) {
    if (n->kind == AT_IR_STMT) written[n->stmt.tensor] = true;
    for (const at_ir *c = n->child; c; c = c->next) mark_written(c, written);
}

/* Has [n, end) now all accesses to a tensor that the group writes? *more: there is one that others
 * behind it may complete. */
static bool look_at(tiler *x, neighbours *all, const at_ir *n, bool *more) {
    at_ir one = *n;
    bool gains = false;
    one.next = NULL;
    all->query.counted |= at_counted_loops(&one);
    all->query.inner |= at_ir_loops(&one);
    count_accesses(&one, all->accesses);
    fixed_list(&all->query, &one);
    *more = false;
    for (int t = 0; t < x->l->num_tensors; t++) {
        const fixed_tensor *f = &all->query.of[t];
        if (all->local[t] || f->is_other || !f->is_asked) continue;
        all->local[t] = is_inside(x, all->accesses[t], t);
        gains |= all->local[t] && all->writes[t];
        *more |= !all->local[t] && all->writes[t];
    }
    return gains;
}

static neighbours no_neighbours(at_low *l) {
    const int num = l->num_tensors;
    const neighbours all = {.query = {l, 0, 0, AT_NEW_ARRAY(l->arena, fixed_tensor, num)},
                            .accesses = AT_NEW_ARRAY(l->arena, int, num),
                            .local = AT_NEW_ARRAY(l->arena, bool, num),
                            .writes = AT_NEW_ARRAY(l->arena, bool, num)};
    for (int t = 0; t < num; t++) all.query.of[t].is_asked = may_be_registers(l, t);
    return all;
}

/* The groups that begin with n, each longer than the one before: up to where a tensor written by n
 * is used up, so that it lives in registers; then up to where another that the group writes is. */
static int find_groups(tiler *x, at_ir *n, const at_ir *run_end, group *groups) {
    at_low *l = x->l;
    neighbours all = no_neighbours(l);
    bool more;
    int count = 0;
    mark_written(n, all.writes);
    bool gains = look_at(x, &all, n, &more);
    for (at_ir *m = n->next; m != run_end && (more || gains) && count < MAX_GROUPS; m = m->next) {
        if (makes_places(l, n, m)) break; /* which m may read */
        gains |= look_at(x, &all, m, &more);
        if (!gains) continue;
        groups[count++] = (group){
            m->next, at_copy(l->arena, all.local, sizeof *all.local * (size_t)l->num_tensors)};
        at_ir *from = count > 1 ? groups[count - 2].end : n->next;
        for (; from != m->next; from = from->next) mark_written(from, all.writes);
        more = true;
        gains = false;
    }
    return count;
}

/* Counted loops around leaves that are few operations, written out: a call for each of their turns
 * would take as long as these. */
static bool has_short_turns(at_low *l, const at_ir *n) {
    if (n->kind != AT_IR_LOOP) return false;
    const bool has_more = at_counted_loops(n->child);
    if (has_more && (n->child->next || !has_short_turns(l, n->child))) return false;
    const double ops = has_more ? 0 : (double)at_expanded_ops(l, n->child);
    return at_tile_takes_turns(n->loop.ann, n->loop.is_reduce, ops);
}

/* Such loops as one tile, if of the tensors that the leaves write all but one live in registers in
 * each turn; NULL: they do not, or there are too few registers. */
static at_ir *tile_of_turns(tiler *x, at_ir *n) {
    at_low *l = x->l;
    if (!has_short_turns(l, n) || !fits(l, n, n, at_ir_loops_of(n))) return NULL;
    neighbours all = no_neighbours(l);
    bool more;
    int others = 0;
    mark_written(n, all.writes);
    look_at(x, &all, n, &more);
    for (int t = 0; t < l->num_tensors; t++) {
        const fixed_tensor *f = &all.query.of[t];
        const int line = l->buffers[t].line_sym; /* a turn of its loop is all of a tensor's life */
        all.local[t] |= all.writes[t] && f->is_asked && !f->is_other && line >= 0 &&
                        (all.query.inner & AT_BIT(line));
        others += all.writes[t] && !all.local[t];
    }
    if (others != 1) return NULL;
    at_ir one = *n;
    one.next = NULL;
    const at_low_mark before = at_low_mark_now(l);
    const at_tile_regs regs = {.local = all.local, .promote = true};
    at_ir *out = at_tile_calls(l, &one, &regs);
    if (!out || (out->kind != AT_IR_LOOP && !out->next)) return out;
    at_low_go_back(l, &before);
    return NULL;
}

/* Does a scatter stand in it, which finds its places in memory? */
static bool scatters(const at_ir *n) {
    if (n->kind == AT_IR_STMT) return n->stmt.num_places > 0;
    for (const at_ir *c = n->child; c; c = c->next)
        if (scatters(c)) return true;
    return false;
}

/* The end of neighbours from `end` on that write the same tensor as n, and sum or do not. */
static at_ir *alike_end(const at_ir *n, at_ir *end, const at_ir *run_end, bool sum) {
    while (end != run_end && target(end) == target(n) && sums(end) == sum && !scatters(end))
        end = end->next;
    return end;
}

/* Neighbours that write the same tensor as n, as groups, each longer than the one before: a run of
 * zeros, a run of data; or what a sum begins with, the sum and its tails, which then need not meet
 * in memory. */
static int groups_of_target(const at_low *l, at_ir *n, at_ir *run_end, group *groups) {
    at_ir *next = n->next, one = *n, *ends[2] = {next, next};
    int count = 0;
    one.next = NULL;
    if (target(n) < 0 || scatters(n) || sums(n)) return 0;
    ends[1] = alike_end(n, next, run_end, false);
    if (ends[1] == next && !at_counted_loops(&one)) {
        ends[1] = alike_end(n, next, run_end, true);
        if (ends[1] != next) ends[0] = next->next;
    }
    for (int i = 0; i < 2; i++)
        if (ends[i] != (i ? ends[0] : next))
            groups[count++] = (group){ends[i], AT_NEW_ARRAY(l->arena, bool, l->num_tensors)};
    return count;
}

/* ---- what is not as it was written ----------------------------------------------------------- */

/* Of a tensor that the statements of a list write. */
static const char *label_of(const at_ir *n) {
    while (n && n->kind != AT_IR_STMT) n = n->child ? n->child : n->other;
    return n ? n->stmt.label : "";
}

/* Why a nest whose parts may be tiles is none itself. */
static const char *not_a_tile(at_low *l, const at_ir *n) {
    if (can_be_tile(l, n)) return "its statements have too many operands for one tile";
    if (fits(l, n, n, at_ir_loops_of(n)))
        return at_counted_loops(n->child) ? "leaves of several tensors stand in it, and loops"
                                          : "leaves of several tensors stand in it";
    return "it holds a condition, a parallel loop, a loop of steps, or addresses and bounds that "
           "are no sums of loops";
}

/* A loop that stays C. */
static void note_opened(at_low *l, const at_ir *n) {
    if (n->loop.is_reduce && is_joint(l, n))
        at_lower_note(l, at_format(l->arena,
                                   "line %d: the leaves in loop %s are no one tile, and what they "
                                   "add up goes through memory: %s",
                                   n->line, l->syms.data[n->loop.sym].name, not_a_tile(l, n)));
    if (n->kind == AT_IR_LOOP && n->loop.ann == AT_ANN_VEC && l->target->lanes > 1 &&
        at_loop_trips(n) > 1)
        at_lower_note(l, at_note_no_vector(l, n, not_a_tile(l, n)));
}

/* Leaves that would have been one tile, sums in registers, but for its size. */
static void note_apart(at_low *l, const at_ir *from, const at_ir *end) {
    const at_ir *last = from;
    while (last->next != end) last = last->next;
    if (!strcmp(label_of(from), label_of(last))) return;
    at_lower_note(l, at_format(l->arena,
                               "line %d: @%s and @%s are no one tile: it would take more registers "
                               "or pointers than there are; what is between them goes through "
                               "memory",
                               from->line, label_of(from), label_of(last)));
}

static void note_calls(at_low *l, const at_ir *list) {
    for (; list; list = list->next) {
        for (int i = 0; list->kind == AT_IR_TILE && i < list->call->num_notes; i++)
            at_lower_note(l, list->call->notes[i]);
        note_calls(l, list->child);
        note_calls(l, list->other);
    }
}

/* ---- the walk -------------------------------------------------------------------------------- */

static at_ir *tile_inside(tiler *x, at_ir *n) {
    if (x->depth == AT_MOST_DEPTH) {
        at_lower_fail(x->l, "loops and conditions stand in each other more than %d deep",
                      AT_MOST_DEPTH);
        return n;
    }
    note_opened(x->l, n);
    int here = x->depth++;
    const untiled body = {.list = at_ir_copy_list(x->l, n->child)},
                  other = {.list = at_ir_copy_list(x->l, n->other)};
    x->path[here].sym = n->kind == AT_IR_LOOP ? n->loop.sym : -1;
    x->path[here].body = body;
    x->path[here].beside = other;
    n->next = NULL;
    n->child = tile_list(x, n->child);
    x->path[here].body = other;
    x->path[here].beside = body;
    n->other = tile_list(x, n->other);
    x->depth--;
    return n;
}

static int loads_in(const at_value *v) {
    return (v->op == AT_V_LOAD) + (v->a ? loads_in(v->a) : 0) + (v->b ? loads_in(v->b) : 0);
}

/* One nest by itself: sums in registers if they fit, else in memory; NULL: neither. */
static at_ir *calls_with(at_low *l, const at_ir *n, int spills) {
    at_tile_regs regs = {
        .local = AT_NEW_ARRAY(l->arena, bool, l->num_tensors), .promote = true, .spills = spills};
    at_ir *out = at_tile_calls(l, n, &regs);
    regs.promote = false;
    return out ? out : at_tile_calls(l, n, &regs);
}

/* Of the statements in [n, end) that are too much for the registers, whatever loops they stand in:
 * as many pointers as each may have, an entry of a list and what it is added to counted; 0: there
 * are none. */
static int spills_of(at_low *l, const at_ir *n, const at_ir *end) {
    int most = 0;
    for (; n != end; n = n->next) {
        int here = 0;
        at_ir one = *n;
        one.next = NULL;
        const at_low_mark before = at_low_mark_now(l);
        if (n->kind == AT_IR_LOOP) here = spills_of(l, n->child, NULL);
        else if (!calls_with(l, &one, 0)) here = AT_TILE_MAX_SLOTS + 3 * loads_in(n->stmt.val);
        at_low_go_back(l, &before);
        if (here > most) most = here;
    }
    return most;
}

static at_ir *calls_of_nest(at_low *l, const at_ir *n) {
    at_ir *out = calls_with(l, n, 0);
    if (out) return out;
    const int spills = spills_of(l, n, n->next);
    return spills ? calls_with(l, n, spills) : NULL;
}

bool at_becomes_tile(at_low *l, const at_ir *n) {
    const at_low_mark before = at_low_mark_now(l);
    const bool becomes = can_be_tile(l, n) && calls_of_nest(l, at_ir_copy(l, n));
    at_low_go_back(l, &before);
    return becomes;
}

/* One nest by itself; opened where it is no tile. */
static at_ir *tile_single(tiler *x, at_ir *n) {
    at_low *l = x->l;
    n->next = NULL;
    at_ir *out = calls_of_nest(l, n);
    if (out) return out;
    if (n->kind == AT_IR_LOOP) return tile_inside(x, n);
    at_lower_fail(l, "a statement of @%s takes more registers than there are", n->stmt.label);
    return n;
}

/* Leaves as one tile; NULL: they do not fit. */
static at_ir *tile_group(tiler *x, at_ir *from, at_ir *end, const bool *local) {
    at_ir *last = from;
    while (last->next != end) last = last->next;
    last->next = NULL;
    at_tile_regs regs = {.local = local, .promote = true};
    at_ir *tiles = at_tile_calls(x->l, from, &regs);
    if (!tiles) {
        regs.spills = spills_of(x->l, from, NULL);
        if (regs.spills) tiles = at_tile_calls(x->l, from, &regs);
    }
    last->next = end;
    if (!tiles) note_apart(x->l, from, end);
    return tiles;
}

static at_ir *tile_list(tiler *x, at_ir *list) {
    at_low *l = x->l;
    const at_target *target = l->target;
    at_ir *head = NULL, **tail = &head;
    for (at_ir *n = list, *next; n && at_lower_goes_on(l); n = next) {
        at_ir *run_end = n;
        bool in_double = is_for_double(l, n);
        while (run_end && can_be_tile(l, run_end) && is_for_double(l, run_end) == in_double)
            run_end = run_end->next;
        next = n->next;
        if (run_end == n) {
            at_ir *turns = tile_of_turns(x, n);
            at_ir_append(&tail, turns ? turns : tile_inside(x, n));
            continue;
        }
        if (in_double && target->in_double) l->target = target->in_double;
        group groups[MAX_GROUPS];
        int count = find_groups(x, n, run_end, groups);
        at_ir *one = NULL;
        if (!count) count = groups_of_target(l, n, run_end, groups);
        while (!one && count--)
            if ((one = tile_group(x, n, groups[count].end, groups[count].local)))
                next = groups[count].end;
        at_ir_append(&tail, one ? one : tile_single(x, n));
        l->target = target;
    }
    return head;
}

bool at_pass_tiles(at_low *l) {
    at_take_last_terms(l, l->root);
    tiler x = {.l = l, .root = {.list = at_ir_copy_list(l, l->root)}};
    l->root = tile_list(&x, l->root);
    x.root = (untiled){.list = at_ir_copy_list(l, l->pack_root)};
    l->pack_root = tile_list(&x, l->pack_root);
    note_calls(l, l->root);
    note_calls(l, l->pack_root);
    return l->err->status == AT_OK;
}
