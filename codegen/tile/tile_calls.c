/* codegen/tile/tile_calls.c: a list of nests becomes calls of tiles, cut to what the registers
 * hold; equal tiles are one, and each has a name. */
#include "codegen/tile/tile_memo.h"

#include <string.h>

/* ---- names ----------------------------------------------------------------------------------- */

typedef struct { /* what the statements of a tile do */
    bool sums, loads, computes;
    int64_t rows, columns;
} shape;

static void shape_of(const at_low *l, const at_ir *list, int64_t rows, int64_t columns, shape *s) {
    for (; list; list = list->next) {
        if (list->kind == AT_IR_LOOP) {
            int64_t n = at_loop_trips(list);
            bool fixed = at_loop_is_fixed(list);
            bool row = fixed && list->loop.ann == AT_ANN_UNROLL,
                 column = fixed && list->loop.ann == AT_ANN_VEC;
            shape_of(l, list->child, row && !list->loop.is_reduce ? rows * n : rows,
                     column ? columns * n : columns, s);
            continue;
        }
        s->sums |= list->stmt.add;
        s->loads |= list->stmt.val->op != AT_V_CONST;
        s->computes |= list->stmt.val->op != AT_V_CONST && list->stmt.val->op != AT_V_LOAD;
        if (rows * columns > s->rows * s->columns) s->rows = rows, s->columns = columns;
    }
}

static void name_tile(at_low *l, at_tile *t, const at_ir *list) {
    shape s = {.rows = 0, .columns = 1};
    shape_of(l, list, 1, 1, &s);
    const char *verb = s.sums ? "tile" : !s.loads ? "zero" : s.computes ? "map" : "copy";
    t->base_name =
        s.rows > 1 || s.sums
            ? at_format(l->arena, "%s_%lldx%lld", verb, (long long)s.rows, (long long)s.columns)
            : at_format(l->arena, "%s_%lld", verb, (long long)s.columns);
    t->name = t->base_name;
}

/* ---- one tile -------------------------------------------------------------------------------- */

typedef struct {
    at_low *l;
    at_tile_regs regs;
    at_mask keep;
} maker;

/* Does it read or write, before its loops or behind them, what may lie outside of a tensor? */
static bool may_reach_outside(at_low *l, const at_tile_call *c) {
    int depth = 0;
    for (int i = 0; i < c->tile->num_ops; i++) {
        const at_tile_op *op = &c->tile->ops[i];
        depth += (op->kind == AT_T_LOOP) - (op->kind == AT_T_END);
        if (depth || (op->kind != AT_T_LOAD && op->kind != AT_T_STORE) ||
            op->slot >= at_tile_frame(c->tile))
            continue;
        int64_t lo, hi;
        at_aff_range(l, at_aff_shift(l, c->slot_at[op->slot], op->off), &lo, &hi);
        if (lo < 0 || hi + op->lanes > l->buffers[c->slot_tensor[op->slot]].elements) return true;
    }
    return false;
}

/* Sums are loaded before a loop and stored behind it. Where conditions cut the loop so that it may
 * never run, it need not be one of elements that there are, and is asked for first. */
static at_ir *where_it_runs(at_low *l, const at_ir *nest, at_ir *call) {
    if (!may_reach_outside(l, call->call)) return call;
    for (; nest && nest->kind == AT_IR_LOOP && !nest->next; nest = nest->child) {
        const at_aff *trips = at_aff_sub(l, at_ir_hi(l, nest), at_ir_lo(l, nest));
        int64_t least, most;
        at_aff_range(l, trips, &least, &most);
        if (least > 0 || at_aff_reads(l, trips)) continue;
        at_ir *runs = at_ir_new(l, AT_IR_IF);
        runs->test = at_aff_shift(l, trips, -1);
        runs->child = call;
        call = runs;
    }
    return call;
}

static at_ir *make_call(void *context, at_ir *list) {
    maker *m = context;
    at_low *l = m->l;
    at_widen_copies(l, list, &m->regs);
    list = at_transpose_copies(l, list, &m->regs);
    at_limit_unrolling(l, list, m->keep | at_ir_table_loops(l, list));
    at_tile_call *call = at_tile_build_once(l, list, &m->regs);
    if (!call) return NULL;
    at_ir *n = at_ir_new(l, AT_IR_TILE);
    n->call = call;
    name_tile(l, call->tile, list);
    int same = 0;
    for (int i = 0; i < l->tiles.len; i++) {
        if (!memcmp(&l->tiles.data[i]->hash, &call->tile->hash, sizeof(at_hash))) {
            call->tile = l->tiles.data[i]; /* identical tiles are printed once */
            return where_it_runs(l, list, n);
        }
        same += !strcmp(l->tiles.data[i]->base_name, call->tile->base_name);
    }
    if (same) call->tile->name = at_format(l->arena, "%s_%d", call->tile->base_name, same + 1);
    *at_push(l->arena, &l->tiles) = call->tile;
    return where_it_runs(l, list, n);
}

/* By which a value is read of tensors in registers. */
static at_mask value_loops(const at_low *l, const at_value *v, const bool *held) {
    return (v->op == AT_V_LOAD && held[v->tensor] ? at_aff_deps(l, v->at) : 0) |
           (v->a ? value_loops(l, v->a, held) : 0) | (v->b ? value_loops(l, v->b, held) : 0);
}

/* Loops that index a tensor which is to stay in registers. */
static at_mask index_loops(const at_low *l, const at_ir *list, const bool *held, bool sums) {
    at_mask m = 0;
    for (; list; list = list->next) {
        if (list->kind == AT_IR_STMT && (held[list->stmt.tensor] || (sums && list->stmt.add)))
            m |= at_aff_deps(l, list->stmt.at);
        if (list->kind == AT_IR_STMT) m |= value_loops(l, list->stmt.val, held);
        m |= index_loops(l, list->child, held, sums);
    }
    return m;
}

/* Loops by which entries of lists are read. */
static at_mask listed_loops(const at_low *l, const at_value *v) {
    at_mask m = 0;
    for (int i = 0; v->op == AT_V_LOAD && i < v->at->n; i++) {
        const at_sym *s = &l->syms.data[v->at->t[i].sym];
        if (s->kind == AT_SYM_LOAD ||
            (s->kind != AT_SYM_LOOP && (at_aff_reads(l, s->of) || at_aff_reads(l, s->of2))))
            m |= s->deps;
    }
    return m | (v->a ? listed_loops(l, v->a) : 0) | (v->b ? listed_loops(l, v->b) : 0);
}

/* Loops around statements that read so are counted, but for those in keep: a pointer for each of
 * their turns may be more than there are. How many of them were not. */
static int count_listed(const at_low *l, at_ir *list, at_mask keep, at_mask *listed) {
    int n = 0;
    for (; list; list = list->next) {
        at_mask here = 0;
        if (list->kind == AT_IR_STMT) *listed |= listed_loops(l, list->stmt.val);
        if (list->kind != AT_IR_LOOP) continue;
        n += count_listed(l, list->child, keep, &here);
        if ((here & ~keep & AT_BIT(list->loop.sym)) && at_loop_is_fixed(list)) {
            list->loop.ann = AT_ANN_NONE;
            list->loop.is_listed = true;
            n++;
        }
        *listed |= here;
    }
    return n;
}

at_ir *at_tile_calls(at_low *l, const at_ir *list, const at_tile_regs *regs) {
    const at_low_mark before = at_low_mark_now(l);
    maker m = {l, *regs, 0};
    at_ir *out = NULL;
    for (int counts = 0; counts < 2 && !out; counts++) {
        at_mask listed = 0;
        at_ir *copy = at_ir_copy_list(l, list);
        /* what no tensor in registers is indexed by needs no cutting */
        m.keep = index_loops(l, copy, regs->local, regs->promote) & ~at_counted_loops(copy);
        if (counts && !count_listed(l, copy, m.keep, &listed)) break;
        out = at_cut_to_registers(l, copy, m.keep, make_call, &m);
        if (!out) at_low_go_back(l, &before); /* some parts may have fitted */
    }
    return out;
}
