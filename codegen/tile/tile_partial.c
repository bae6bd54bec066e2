/* codegen/tile/tile_partial.c: reductions under way in a tile, whose elements stay in registers.
 *
 * From a loop in which a tensor is only added to, to the end of it (or of the loops behind it that
 * do the same, such as a tail) its elements may be partial results: several registers for one
 * element (chains), since the order of the terms is open and one register would wait for itself;
 * and, where a vec loop runs over terms, lanes of a register. Both start from the neutral element
 * and are joined behind. A tensor that is not the tile's own is loaded before and stored behind.
 *
 * Lanes of four elements that lie side by side in memory are joined together, as a square that is
 * turned round: 13 operations and a store instead of 32 and four, of registers of 16 lanes. */
#include "codegen/tile/tile_build.h"

#include <string.h>

#define FUNCTION_REGS 6   /* that a function of an element takes beside, about */
#define FUNCTION_CHAINS 2 /* of terms that are one, and come that much slower */

/* ---- what a nest does with a tensor ---------------------------------------------------------- */

typedef struct {
    bool adds, others; /* is added to; is written or read otherwise */
    bool moves;        /* its address changes with a counted loop */
    bool across;       /* a vector of terms is added to one element */
    int64_t registers; /* of its elements */
} doings;

static void look_value(const at_value *v, int tensor, doings *d) {
    if (v->op == AT_V_LOAD && v->tensor == tensor) d->others = true;
    if (v->a) look_value(v->a, tensor, d);
    if (v->b) look_value(v->b, tensor, d);
}

static void look(at_builder *b, const at_ir *n, int tensor, at_mask counted, int64_t registers,
                 doings *d) {
    if (n->kind == AT_IR_STMT) {
        look_value(n->stmt.val, tensor, d);
        if (n->stmt.tensor != tensor) return;
        if (n->stmt.add) d->adds = true;
        else d->others = true;
        if (at_aff_deps(b->l, n->stmt.at) & counted) d->moves = true;
        if (registers > d->registers) d->registers = registers;
        return;
    }
    int64_t lanes = n->loop.ann == AT_ANN_VEC ? b->l->target->lanes : 1;
    if (at_loop_is_unrolled(n) && !n->loop.is_reduce)
        registers *= (at_loop_trips(n) + lanes - 1) / lanes;
    for (const at_ir *c = n->child; c; c = c->next) look(b, c, tensor, counted, registers, d);
}

/* Does a vec loop in a list run over terms of one element, and can it be a vector? */
static bool has_vector_of_terms(at_builder *b, const at_ir *list, int tensor) {
    for (const at_ir *n = list; n; n = n->next) {
        if (n->kind != AT_IR_LOOP) continue;
        if (has_vector_of_terms(b, n->child, tensor)) return true;
        const at_ir *s = n->child;
        while (s && s->kind == AT_IR_LOOP) s = s->child;
        if (n->loop.ann != AT_ANN_VEC || !s || s->kind != AT_IR_STMT) continue;
        if (at_loop_is_counted(n) && !at_build_has_parts(b, n)) continue;
        if (s->stmt.tensor != tensor || !s->stmt.add || at_aff_coef(s->stmt.at, n->loop.sym))
            continue;
        b->trying = tensor;
        bool vector = !at_build_not_vector(b, n);
        b->trying = -1;
        if (vector) return true;
    }
    return false;
}

static doings doings_of(at_builder *b, const at_ir *n, int tensor) {
    at_ir one = *n;
    one.next = NULL;
    doings d = {0};
    look(b, n, tensor, at_counted_loops(&one), 1, &d);
    if (d.adds && !d.others && b->l->target->lanes > 1)
        d.across = has_vector_of_terms(b, &one, tensor);
    return d;
}

/* ---- beginning ------------------------------------------------------------------------------- */

static bool calls(const at_ir *list) {
    for (; list; list = list->next)
        if (list->kind == AT_IR_STMT ? at_value_calls(list->stmt.val) > 0 : calls(list->child))
            return true;
    return false;
}

/* Too few elements to keep the units busy are kept as several partial results each. */
static int chains_of(const at_builder *b, const at_ir *n, int64_t registers) {
    at_ir one = *n;
    one.next = NULL;
    bool slow = calls(&one);
    if (b->regs->sparing) return 1;
    return (int)at_tile_chains(b->l->target, (double)registers,
                               slow ? FUNCTION_CHAINS : AT_TILE_CHAINS, slow ? FUNCTION_REGS : 0);
}

/* Opens what loop n, or the neighbours behind it that do alike, only adds to. */
void at_open_reductions(at_builder *b, const at_ir *n) {
    if (n->kind != AT_IR_LOOP) return;
    int64_t registers = 0;
    const at_compute *c = b->l->program->compute;
    for (int t = 0; t < c->num_tensors; t++) {
        at_tile_open *o = &b->open[t];
        if (o->until || !c->tensors[t].num_reduce) continue;
        doings d = doings_of(b, n, t);
        bool local = b->regs->local[t];
        if (!d.adds || d.others) continue;
        if (!local && (!b->regs->promote || d.moves || !(at_loop_is_counted(n) || d.across)))
            continue;
        *o = (at_tile_open){
            .until = n, .start = b->ops.len, .held = !local, .across = d.across, .chains = -1};
        registers += d.registers;
        for (const at_ir *m = n->next; m && m->kind == AT_IR_LOOP; m = m->next) {
            d = doings_of(b, m, t);
            if (!d.adds || d.others || (!local && d.moves)) break;
            o->until = m;
            o->across |= d.across;
        }
    }
    for (int t = 0; t < c->num_tensors; t++)
        if (b->open[t].until && b->open[t].chains < 0) {
            b->open[t].chains = chains_of(b, n, registers);
            b->spends |= b->open[t].chains > 1;
        }
}

/* ---- terms ----------------------------------------------------------------------------------- */

/* The maximum ignores what is not a number, which the second operand never is. */
void at_build_join(at_builder *b, int tensor, int into, int partial, int term) {
    static const uint8_t kinds[] = {[AT_REDUCE_SUM] = AT_T_ADD,
                                    [AT_REDUCE_MAX] = AT_T_MAX,
                                    [AT_REDUCE_MIN] = AT_T_MIN,
                                    [AT_REDUCE_PROD] = AT_T_MUL},
                         of_integers[] = {[AT_REDUCE_SUM] = AT_T_INT_ADD,
                                          [AT_REDUCE_MAX] = AT_T_INT_MAX,
                                          [AT_REDUCE_MIN] = AT_T_INT_MIN,
                                          [AT_REDUCE_PROD] = AT_T_INT_MUL};
    const at_reduction r = b->l->program->compute->tensors[tensor].reduction;
    const bool is_int = at_type_of(b->l->tensors[tensor].type)->is_int;
    const bool second = at_reduction_is_extreme(r);
    at_tile_op *op = at_build_emit(b, is_int ? of_integers[r] : kinds[r]);
    op->dst = (int16_t)into;
    op->a = (int16_t)(second ? term : partial);
    op->b = (int16_t)(second ? partial : term);
}

/* What a register of a tensor begins with. */
static float neutral_of(const at_builder *b, int tensor) {
    const at_reduction r = b->l->program->compute->tensors[tensor].reduction;
    const at_type type = b->l->tensors[tensor].type;
    const at_value v = {.op = AT_V_CONST,
                        .whole = at_type_of(type)->is_int,
                        .number = at_reduction_neutral_of(r, type)};
    return (float)at_build_bits(&v);
}

/* The partial result of a key that takes the next term. */
int at_build_partial(at_builder *b, at_tile_key *k) {
    const at_tile_open *o = &b->open[k->tensor];
    int chains = o->until ? o->chains : 1;
    if (o->until && o->across && !k->spread) {
        k->spread = true;
        k->mixed = !k->neutral;
    }
    k->neutral = false;
    if (b->late && k->spread) {
        if (!k->has_late) k->late = at_build_vreg(b, (at_tile_vreg){.acc = true, .same = true});
        k->has_late = true;
        return k->late;
    }
    if (k->next == k->num_chains && k->num_chains < chains)
        k->chain[k->num_chains++] = at_build_vreg(b, (at_tile_vreg){.acc = true, .same = true});
    if (k->next >= k->num_chains) k->next = 0;
    int i = k->next++;
    return i ? k->chain[i] : k->vreg;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Operations before operation `start`: room, filled in by the caller. */
static at_tile_op *insert(at_builder *b, int start, int n) {
    for (int i = 0; i < n; i++) at_build_emit(b, AT_T_CONST);
    at_tile_op *ops = b->ops.data;
    memmove(ops + start + n, ops + start, sizeof *ops * (size_t)(b->ops.len - n - start));
    for (int t = 0; t < b->l->program->compute->num_tensors; t++)
        if (b->open[t].until && b->open[t].start > start) b->open[t].start += n;
    return ops + start;
}

static at_tile_op constant(int dst, float number) {
    at_tile_op op = at_tile_on_registers(AT_T_CONST, dst, -1);
    op.number = number;
    return op;
}

/* Before: the chains' neutral elements, and the lanes beside a single element that lanes are to
 * join. */
static void begin_partials(at_builder *b, int tensor, int start) {
    float neutral = neutral_of(b, tensor);
    int n = 0;
    for (int i = 0; i < b->keys.len; i++) {
        const at_tile_key *k = &b->keys.data[i];
        if (k->tensor == tensor)
            n += k->num_chains - 1 + (k->spread && k->mixed ? 3 : 0) + k->has_late;
    }
    if (!n) return;
    at_tile_op *op = insert(b, start, n);
    for (int i = 0; i < b->keys.len; i++) {
        const at_tile_key *k = &b->keys.data[i];
        if (k->tensor != tensor) continue;
        if (k->spread && k->mixed) {
            int whole = at_build_vreg(b, (at_tile_vreg){0});
            *op++ = constant(whole, neutral);
            *op = at_tile_on_registers(AT_T_FIRST, whole, k->vreg);
            op++->lanes = 1;
            *op++ = at_tile_on_registers(AT_T_MOV, k->vreg, whole);
        }
        for (int j = 1; j < k->num_chains; j++) *op++ = constant(k->chain[j], neutral);
        if (k->has_late) *op++ = constant(k->late, neutral);
    }
}

/* Lane by lane with the one at a distance, down to `least`: in the end all that lie so far apart
 * hold the same. */
static void join_lanes(at_builder *b, int tensor, int v, int least) {
    for (int by = b->l->target->lanes / 2; by >= least; by /= 2) {
        int other = at_build_vreg(b, (at_tile_vreg){0});
        at_tile_op *op = at_build_emit(b, AT_T_SWAP);
        op->dst = (int16_t)other;
        op->a = (int16_t)v;
        op->by = by;
        at_build_join(b, tensor, v, v, other);
    }
}

static void join_partial(at_builder *b, const at_tile_key *k, int partial) {
    at_build_join(b, k->tensor, k->vreg, k->vreg, partial);
    if (!b->vregs.data[partial].same) b->vregs.data[k->vreg].same = false;
}

static void join_partials(at_builder *b, int tensor) {
    for (int i = 0; i < b->keys.len; i++) {
        at_tile_key *k = &b->keys.data[i];
        if (k->tensor != tensor) continue;
        for (int j = 1; j < k->num_chains; j++) join_partial(b, k, k->chain[j]);
        k->num_chains = 1;
        k->next = 0;
        if (k->spread && !k->in_four) {
            join_lanes(b, tensor, k->vreg, 1);
            b->vregs.data[k->vreg].same = true;
        }
        if (k->has_late) join_partial(b, k, k->late);
        k->spread = k->mixed = k->has_late = false;
    }
}

static bool is_held_key(const at_tile_key *k, int tensor) {
    return k->tensor == tensor && k->slot >= 0;
}

/* The store of the neutral element to a key's place that stands right before operation `start`, or
 * before others such; -1: none. */
static int neutral_store(const at_builder *b, const at_tile_key *k, int start) {
    const float neutral = neutral_of(b, k->tensor);
    for (int i = start - 1; i >= 0; i--) {
        const at_tile_op *op = &b->ops.data[i];
        if (op->kind != AT_T_STORE || b->slots[op->slot].tensor != k->tensor || op->times)
            return -1;
        const at_tile_vreg *v = &b->vregs.data[op->a];
        if (op->slot != k->slot || op->off != k->off || op->lanes != k->lanes) continue;
        return v->load == AT_T_CONST && (float)v->number == neutral ? i : -1;
    }
    return -1;
}

static void remove_op(at_builder *b, int at) {
    at_tile_op *ops = b->ops.data;
    memmove(ops + at, ops + at + 1, sizeof *ops * (size_t)(b->ops.len - at - 1));
    b->ops.len--;
    for (int t = 0; t < b->l->program->compute->num_tensors; t++)
        if (b->open[t].until && b->open[t].start > at) b->open[t].start--;
}

/* What was just stored as the beginning of a sum needs not be loaded again: it is stored behind. */
static void find_neutral(at_builder *b, int tensor) {
    for (int i = 0; i < b->keys.len; i++) {
        at_tile_key *k = &b->keys.data[i];
        if (k->tensor != tensor || k->slot < 0) continue;
        const int at = neutral_store(b, k, b->open[tensor].start);
        if (at < 0) continue;
        remove_op(b, at);
        k->begins_neutral = true;
        k->mixed = false;
    }
}

/* ---- four elements at once ------------------------------------------------------------------- */

typedef struct four {
    int vreg[4], slot;
    int64_t off;
    bool adds; /* to what lies there */
} four;
typedef AT_VEC(four) four_list;

/* The key of an element that lies so many behind another one, whose lanes are partial results, too;
 * NULL: there is none. */
static at_tile_key *key_behind(at_builder *b, const at_tile_key *of, int behind) {
    for (int i = 0; i < b->keys.len; i++) {
        at_tile_key *k = &b->keys.data[i];
        if (is_held_key(k, of->tensor) && k->spread && !k->in_four && !k->has_late &&
            k->lanes == 1 && k->slot == of->slot && k->off == of->off + behind &&
            k->begins_neutral == of->begins_neutral)
            return k;
    }
    return NULL;
}

/* Of a tensor that is not the tile's own. Their registers begin with the neutral element. */
static void find_fours(at_builder *b, int tensor, four_list *fours) {
    const at_target *target = b->l->target;
    if (target->lanes < 4 || target->is_double || at_type_bytes(b->l->tensors[tensor].type) != 4)
        return;
    for (int i = 0; i < b->keys.len; i++) {
        const at_tile_key *first = &b->keys.data[i];
        at_tile_key *k[4];
        int n = 0;
        while (first->tensor == tensor && n < 4 && (k[n] = key_behind(b, first, n))) n++;
        if (n < 4) continue;
        four f = {.slot = first->slot, .off = first->off, .adds = !first->begins_neutral};
        for (int j = 0; j < 4; j++) {
            f.vreg[j] = k[j]->vreg;
            k[j]->in_four = k[j]->begins_neutral = true;
            k[j]->mixed = false;
        }
        *at_push(b->l->arena, fours) = f;
    }
}

static int joined(at_builder *b, int tensor, int x, int y) {
    const int into = at_build_vreg(b, (at_tile_vreg){0});
    at_build_join(b, tensor, into, x, y);
    return into;
}

static at_tile_op *move_four(at_builder *b, at_tile_kind kind, const four *f) {
    at_tile_op *op = at_build_emit(b, kind);
    op->lanes = 4;
    op->slot = (int16_t)f->slot;
    op->off = f->off;
    return op;
}

/* In every four lanes the first two of x and y in turn, joined with the others. */
static int zipped(at_builder *b, int tensor, int x, int y) {
    int half[2];
    for (int i = 0; i < 2; i++) {
        half[i] = at_build_operation(b, i ? AT_T_ZIP_HIGH : AT_T_ZIP_LOW, -1, x, y);
        b->ops.data[b->ops.len - 1].lanes = (uint8_t)b->l->target->lanes;
    }
    return joined(b, tensor, half[0], half[1]);
}

static void store_four(at_builder *b, int tensor, const four *f) {
    const int even = zipped(b, tensor, f->vreg[0], f->vreg[2]),
              odd = zipped(b, tensor, f->vreg[1], f->vreg[3]);
    int all = zipped(b, tensor, even, odd);
    join_lanes(b, tensor, all, 4);
    if (f->adds) {
        const int before = at_build_vreg(b, (at_tile_vreg){0});
        move_four(b, AT_T_LOAD, f)->dst = (int16_t)before;
        all = joined(b, tensor, before, all);
    }
    move_four(b, AT_T_STORE, f)->a = (int16_t)all;
}

/* A tensor that is not the tile's own: its registers are loaded before and stored now. */
static void load_and_store(at_builder *b, int tensor, int start) {
    int n = 0, kept = 0;
    for (int i = 0; i < b->keys.len; i++) n += is_held_key(&b->keys.data[i], tensor);
    at_tile_op *load = insert(b, start, n);
    for (int i = 0; i < b->keys.len; i++) {
        const at_tile_key *k = &b->keys.data[i];
        if (!is_held_key(k, tensor)) continue;
        if (k->begins_neutral) {
            *load++ = constant(k->vreg, neutral_of(b, tensor));
            continue;
        }
        *load = at_tile_on_registers(AT_T_LOAD, k->vreg, -1);
        load->lanes = (uint8_t)k->lanes;
        load->slot = (int16_t)k->slot;
        load++->off = k->off;
    }
    for (int i = 0; i < b->keys.len; i++) {
        const at_tile_key k = b->keys.data[i];
        if (!is_held_key(&k, tensor)) {
            b->keys.data[kept++] = k;
            continue;
        }
        if (k.in_four) continue;
        at_tile_op *store = at_build_emit(b, AT_T_STORE);
        store->lanes = (uint8_t)k.lanes;
        store->a = (int16_t)k.vreg;
        store->slot = (int16_t)k.slot;
        store->off = k.off;
    }
    b->keys.len = kept;
    b->num_stored = 0;
    b->first_load = b->vregs.len; /* what was loaded before may have been overwritten */
}

void at_close_reductions(at_builder *b, const at_ir *n) {
    for (int t = 0; t < b->l->program->compute->num_tensors && !b->failed; t++) {
        at_tile_open *o = &b->open[t];
        if (o->until != n) continue;
        four_list fours = {0};
        if (o->held) find_neutral(b, t);
        if (o->held) find_fours(b, t, &fours);
        begin_partials(b, t, o->start);
        join_partials(b, t);
        for (int i = 0; i < fours.len; i++) store_four(b, t, &fours.data[i]);
        if (o->held) load_and_store(b, t, o->start);
        o->until = NULL;
        o->held = false;
    }
}
