/* codegen/tile_loop.c: loops of a tile: unrolled loops and vectors are expanded, others stay
 * counted, and their sums in registers. */
#include "codegen/tile_build.h"

#include <string.h>

#define SHORT_BODY 16 /* statements of a copy that is written out though nobody asked for it */

static void expand(at_builder *b, const at_ir *list);

static int trip_argument(at_builder *b, const at_ir *n) {
    at_low *l = b->l;
    const at_aff *count = at_aff_sub(l, at_ir_hi(l, n), at_ir_lo(l, n));
    count = at_aff_max(
        l, count, at_aff_const(l, 0)); /* what a clipped loop leaves may be less than nothing */
    for (int i = 0; i < b->num_trips; i++)
        if (at_aff_equal(b->trips[i], count)) return i;
    if (b->num_trips == AT_TILE_MAX_TRIPS) {
        b->failed = true;
        return 0;
    }
    b->trips[b->num_trips] = count;
    return b->num_trips++;
}

/* What the statements of a nest do, for deciding whether its sums may stay in registers. */
typedef struct {
    int written;    /* the one tensor all statements add to; -1 none yet, -2 several or no sum */
    bool invariant; /* its addresses do not change in the counted loops */
    bool loaded;
} summary;

static void summarize_value(const at_value *v, summary *s) {
    if (v->op == AT_V_LOAD && v->tensor == s->written) s->loaded = true;
    if (v->a) summarize_value(v->a, s);
    if (v->b) summarize_value(v->b, s);
}

static bool is_counted(const at_ir *n) {
    return !at_loop_is_fixed(n) || (!at_loop_is_unrolled(n) && at_loop_trips(n) > 1);
}

static void summarize(const at_ir *list, at_mask counted, const at_low *l, summary *s) {
    for (; list; list = list->next) {
        if (list->kind == AT_IR_LOOP) {
            summarize(list->child, is_counted(list) ? counted | AT_BIT(list->loop.sym) : counted, l,
                      s);
            continue;
        }
        if (!list->stmt.add || (s->written != -1 && s->written != list->stmt.tensor))
            s->written = -2;
        if (s->written == -2) return;
        s->written = list->stmt.tensor;
        if (at_aff_deps(l, list->stmt.at) & counted) s->invariant = false;
        summarize_value(list->stmt.val, s);
    }
}

/* The tensor whose sums can be held in registers throughout a counted loop; -1 if none. */
static int promotable(const at_builder *b, const at_ir *loop) {
    summary s = {-1, true, false};
    summarize(loop->child, AT_BIT(loop->loop.sym), b->l, &s);
    return s.written >= 0 && s.invariant && !s.loaded ? s.written : -1;
}

/* Operations for n registers before operation `start`: room, filled in by the caller. */
static at_tile_op *insert(at_builder *b, int start, int n) {
    for (int i = 0; i < n; i++) at_build_emit(b, AT_T_CONST);
    at_tile_op *ops = b->ops.data;
    memmove(ops + start + n, ops + start, sizeof *ops * (size_t)(b->ops.len - n - start));
    return ops + start;
}

/* Registers the sums of a nest need: iterations of unrolled and vector loops that index them. */
static int64_t count_sums(const at_builder *b, const at_ir *n, int64_t registers) {
    if (n->kind == AT_IR_STMT) return n->stmt.add ? registers : 0;
    int64_t most = 0, lanes = n->loop.ann == AT_ANN_VEC ? b->l->target->lanes : 1;
    bool counts = at_loop_is_unrolled(n) && !n->loop.is_reduce;
    if (counts) registers *= (at_loop_trips(n) + lanes - 1) / lanes;
    for (const at_ir *c = n->child; c; c = c->next) {
        int64_t m = count_sums(b, c, registers);
        if (m > most) most = m;
    }
    return most;
}

static bool only_sums(const at_ir *n) {
    if (n->kind == AT_IR_STMT) return n->stmt.add;
    for (const at_ir *c = n->child; c; c = c->next)
        if (!only_sums(c)) return false;
    return true;
}

/* Too few sums to keep the multiply-add units busy are kept as several partial ones each: the order
 * of summation is open. Those made since operation `start` begin at zero there and are added up
 * now. */
static void start_chains(at_builder *b, const at_ir *n) {
    /* a nest that starts or reads its sums in between needs them whole */
    int64_t sums = only_sums(n) ? count_sums(b, n, 1) : 0, regs = b->l->target->regs;
    int64_t chains = sums ? (AT_TILE_CHAINS + sums - 1) / sums : 1;
    while (chains > 1 && sums * chains > regs - 4) chains--;
    b->max_chains = (int)chains;
}

static void join_chains(at_builder *b, int start) {
    int n = 0;
    for (int i = 0; i < b->keys.len; i++) n += b->keys.data[i].num_chains - 1;
    if (!n) return;
    at_tile_op *zero = insert(b, start, n);
    for (int i = 0; i < b->keys.len; i++)
        for (int j = 1; j < b->keys.data[i].num_chains; j++)
            *zero++ = (at_tile_op){.kind = AT_T_CONST,
                                   .dst = (int16_t)b->keys.data[i].chain[j],
                                   .a = -1,
                                   .b = -1,
                                   .slot = -1,
                                   .trip_arg = -1};
    for (int i = 0; i < b->keys.len; i++) {
        at_tile_key *k = &b->keys.data[i];
        for (int j = 1; j < k->num_chains; j++) {
            at_tile_op *op = at_build_emit(b, AT_T_ADD);
            op->dst = op->a = (int16_t)k->vreg;
            op->b = (int16_t)k->chain[j];
        }
        k->num_chains = 1;
        k->next = 0;
    }
}

/* Loads before operation `start`, stores behind: the registers made since `first_key`. */
static void load_and_store_around(at_builder *b, int start, int first_key) {
    int n = b->keys.len - first_key;
    insert(b, start, n);
    for (int i = 0; i < n; i++) {
        const at_tile_key *k = &b->keys.data[first_key + i];
        at_tile_op op = {.kind = AT_T_LOAD,
                         .lanes = (uint8_t)k->lanes,
                         .dst = (int16_t)k->vreg,
                         .a = -1,
                         .b = -1,
                         .slot = (int16_t)k->slot,
                         .off = k->off,
                         .trip_arg = -1};
        b->ops.data[start + i] = op;
        op.kind = AT_T_STORE;
        op.a = op.dst;
        op.dst = -1;
        *at_push(b->l->arena, &b->ops) = op;
    }
    b->keys.len = first_key;
}

/* Slots used since operation `op` and virtual register `vreg`: moved on with each iteration of loop
 * n, and back behind it. */
static void bump_slots(at_builder *b, const at_ir *n, int first_op, int first_vreg, int trip_arg) {
    bool used[AT_TILE_MAX_SLOTS] = {false};
    for (int i = first_op; i < b->ops.len; i++) {
        const at_tile_op *op = &b->ops.data[i];
        if (op->slot >= 0) used[op->slot] = true;
        if (op->base >= 0) used[op->base] = true;
    }
    for (int v = first_vreg; v < b->vregs.len;
         v++) /* delayed loads name their slot in the register */
        if (b->vregs.data[v].load && b->vregs.data[v].slot >= 0) used[b->vregs.data[v].slot] = true;
    for (int after = 0; after < 2; after++) {
        for (int s = 0; s < b->num_slots; s++) {
            int64_t k = 0;
            for (int j = 0; j < b->slots[s].num_strides; j++)
                if (b->slots[s].stride[j].sym == n->loop.sym) k = b->slots[s].stride[j].k;
            if (!k || !used[s]) continue;
            at_tile_op *op = at_build_emit(b, AT_T_BUMP);
            op->slot = (int16_t)s;
            op->bump = !after ? k : trip_arg >= 0 ? -k : -k * at_loop_trips(n);
            op->trip_arg = (int16_t)(after ? trip_arg : -1);
        }
        if (!after) at_build_emit(b, AT_T_END);
    }
}

static void counted_loop(at_builder *b, const at_ir *n) {
    int trip_arg = !at_loop_is_fixed(n) ? trip_argument(b, n) : -1;
    if (b->num_counted == 16) b->failed = true;
    if (b->failed) return;
    int start = b->ops.len, first_vreg = b->vregs.len, first_key = b->keys.len;
    int held = b->regs->promote && b->held < 0 ? promotable(b, n) : -1;
    if (held >= 0 && !b->regs->local[held]) {
        b->held = held;
        start_chains(b, n);
    } else held = -1;
    at_tile_op *op = at_build_emit(b, AT_T_LOOP);
    op->trip_arg = (int16_t)trip_arg;
    op->trip = at_loop_trips(n);
    op->name = b->l->syms.data[n->loop.sym].name;
    b->counted[b->num_counted++] = n;
    b->bound[n->loop.sym] = 0;
    at_build_start_body(b);
    expand(b, n->child);
    b->num_counted--;
    at_build_start_body(b);
    bump_slots(b, n, start, first_vreg, trip_arg);
    if (held >= 0) {
        join_chains(b, start);
        load_and_store_around(b, start, first_key);
        b->held = -1;
    }
}

/* Why a load is no vector along a loop; NULL: it is one, or the same element for all of it. */
static const char *load_is_scalar(at_builder *b, const at_ir *n, const at_value *v, int sym) {
    at_arena *a = b->l->arena;
    const char *name = b->l->tensors[v->tensor].name;
    int64_t k = at_aff_coef(v->at, sym);
    if (at_aff_opaque_deps(b->l, v->at) & AT_BIT(sym))
        return at_format(a, "@%s reads %s at places that do not follow each other", n->stmt.label,
                         name);
    if (b->regs->local[v->tensor] && k) return NULL;
    if (b->regs->local[v->tensor]) {
        b->loses_vectors = true;
        return at_format(a, "@%s reads one element of %s, which stays in registers, in all of it",
                         n->stmt.label, name);
    }
    return k == 0 || k == 1 ? NULL
                            : at_format(a, "@%s reads %s %lld elements apart", n->stmt.label, name,
                                        (long long)k);
}

static const char *statement_is_scalar(at_builder *b, const at_ir *n, int sym) {
    at_arena *a = b->l->arena;
    const at_value *stack[64] = {n->stmt.val};
    int64_t k = at_aff_coef(n->stmt.at, sym);
    if (k == 0)
        return at_format(a, "@%s %s", n->stmt.label,
                         n->stmt.add ? "adds all of it up to one element"
                                     : "writes one element in all of it");
    if (k != 1 && !b->regs->local[n->stmt.tensor])
        return at_format(a, "@%s writes elements %lld apart", n->stmt.label, (long long)k);
    for (int count = 1; count > 0;) {
        const at_value *v = stack[--count];
        const char *why = v->op == AT_V_LOAD ? load_is_scalar(b, n, v, sym) : NULL;
        if (why) return why;
        if (count > 60) return at_format(a, "@%s has too many operands", n->stmt.label);
        if (v->a) stack[count++] = v->a;
        if (v->b) stack[count++] = v->b;
    }
    return NULL;
}

/* Every statement below must treat this loop as a vector: stored with stride 1 or in registers,
 * loaded with stride 1 or the same for all. NULL: all do; else why not. */
static const char *is_scalar(at_builder *b, const at_ir *list, int sym) {
    for (; list; list = list->next) {
        const char *why = NULL;
        if (list->kind == AT_IR_LOOP && !at_loop_is_unrolled(list))
            why = at_format(b->l->arena, "%s, inside of it, is not unrolled",
                            b->l->syms.data[list->loop.sym].name);
        else if (list->kind == AT_IR_LOOP) why = is_scalar(b, list->child, sym);
        else if (list->kind == AT_IR_STMT) why = statement_is_scalar(b, list, sym);
        if (why) return why;
    }
    return NULL;
}

/* A loop that is to be a vector and is not. */
static void note_scalar(at_builder *b, const at_ir *n, const char *why) {
    if (at_loop_trips(n) == 1) return;
    *at_push(b->l->arena, &b->notes) = at_note_no_vector(b->l, n, why);
}

/* Statements of a nest when all of it is expanded; -1 where a sum or an unknown trip count forbids
 * that. */
static int64_t straight(const at_ir *list) {
    int64_t n = 0;
    for (; list; list = list->next) {
        int64_t inner = 1;
        if (list->kind == AT_IR_STMT && list->stmt.add) return -1;
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

/* Four vectors along loop n become four along the loop inside it. */
static void transpose(at_builder *b, const at_ir *n) {
    enum { SIDE = AT_TILE_SQUARE };
    static const uint8_t zips[] = {AT_T_ZIP_LOW, AT_T_ZIP_HIGH, AT_T_ZIP_LOW2, AT_T_ZIP_HIGH2};
    const at_ir *inner = n->child, *copy = inner->child;
    int v[SIDE], pairs[SIDE];
    if (b->vec_sym >= 0) b->failed = true;
    if (b->failed) return;
    b->current = NULL;
    b->vec_lanes = SIDE;
    b->vec_sym = n->loop.sym;
    b->bound[n->loop.sym] = 0;
    for (int i = 0; i < SIDE; i++) {
        b->bound[inner->loop.sym] = i;
        v[i] = at_build_value(b, copy->stmt.val);
    }
    for (int step = 0; step < 2; step++)
        for (int i = 0; i < SIDE; i++) {
            at_tile_op *op = at_build_emit(b, zips[2 * step + i % 2]);
            int *out = step ? v : pairs;
            op->a = (int16_t)(step ? pairs[i / 2] : v[i / 2 * 2]);
            op->b = (int16_t)(step ? pairs[i / 2 + 2] : v[i / 2 * 2 + 1]);
            op->lanes = SIDE;
            out[i] = op->dst = (int16_t)at_build_vreg(b, (at_tile_vreg){0});
        }
    b->vec_sym = inner->loop.sym;
    b->bound[inner->loop.sym] = 0;
    for (int i = 0; i < SIDE; i++) {
        b->bound[n->loop.sym] = i;
        at_tile_place p = at_build_locate(b, copy->stmt.tensor, copy->stmt.at);
        int s = at_build_find_slot(b, &p, true);
        at_tile_op *op = at_build_emit(b, AT_T_STORE);
        op->slot = (int16_t)s;
        op->off = p.off;
        op->a = (int16_t)v[i];
        op->lanes = SIDE;
    }
    b->vec_sym = -1;
    b->first_load = b->vregs.len;
}

static void expand_loop(at_builder *b, const at_ir *n) {
    if (n->loop.transposes) {
        transpose(b, n);
        return;
    }
    at_ir one = *n;
    one.next = NULL;
    int lanes = b->l->target->lanes;
    bool asked = n->loop.ann == AT_ANN_VEC && lanes > 1;
    if (is_counted(n) && straight(&one) < 0) {
        if (asked) note_scalar(b, n, "how often it runs is known at run time only");
        counted_loop(b, n);
        return;
    }
    const char *why = !asked            ? "nobody asked"
                      : b->vec_sym >= 0 ? "it stands inside of another vec loop"
                                        : is_scalar(b, n->child, n->loop.sym);
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
        if (list->kind == AT_IR_STMT) at_build_statement(b, list);
        else expand_loop(b, list);
    }
}

void at_build_nest(at_builder *b, const at_ir *n) {
    at_ir one = *n;
    one.next = NULL;
    int start = b->ops.len;
    start_chains(b, n);
    expand(b, &one);
    join_chains(b, start);
}
