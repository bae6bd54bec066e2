/* codegen/tile/tile_key.c: hashes by which a tile is known again, and a list of nests that is to
 * become one. */
#include "codegen/tile/tile_build.h"
#include "codegen/tile/tile_memo.h"

#include <string.h>

/* ---- tiles ----------------------------------------------------------------------------------- */

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t joined(int64_t a, int64_t b, int64_t c, int64_t d) {
    return (uint64_t)(uint16_t)a | (uint64_t)(uint16_t)b << 16 | (uint64_t)(uint16_t)c << 32 |
           (uint64_t)(uint16_t)d << 48;
}

at_hash at_tile_hash(const at_tile *t) {
    at_hash h;
    at_hash_init(&h);
    at_hash_add_number(&h, (uint64_t)(uintptr_t)t->target);
    at_hash_add_number(&h, joined(t->num_slots, t->num_pointers, t->num_trips, t->lanes));
    at_hash_add_number(&h, (uint64_t)t->num_spilled);
    for (int i = 0; i < at_tile_frame(t); i++)
        if (t->slot_type[i] != AT_F32) /* the same code, but pointers of another type in C */
            at_hash_add_number(&h, (uint64_t)i << 8 | t->slot_type[i]);
    for (int i = 0; i < t->num_ops; i++) {
        const at_tile_op *op = &t->ops[i];
        at_hash_add_number(&h,
                           joined(op->kind, op->mem, op->lanes,
                                  op->may_miss + 2 * op->cyclic + 4 * op->packed + 8 * op->apart +
                                      16 * op->element + 256 * op->halves + 512 * op->upper +
                                      1024 * op->grouped + 2048 * op->no_sign));
        at_hash_add_number(&h, joined(op->dst, op->a, op->b, op->slot));
        at_hash_add_number(&h, joined(op->base, op->trip_arg, op->bits, 0));
        at_hash_add_number(&h, (uint64_t)op->off);
        at_hash_add_number(&h, (uint64_t)op->trip);
        at_hash_add_number(&h, (uint64_t)op->bump);
        if (op->fours) at_hash_add_number(&h, (uint64_t)op->fours);
        at_hash_add_number(&h, (uint64_t)(uint32_t)op->times << 32 | (uint32_t)op->plus);
        at_hash_add_number(&h, (uint64_t)(uint32_t)op->by << 32 | (uint32_t)op->most);
        at_hash_add_number(&h, bits_of(op->number));
    }
    return h;
}

/* ---- lists ----------------------------------------------------------------------------------- */

typedef struct {
    at_low *l;
    const at_tile_regs *regs;
    at_list_key *out;
    at_mask inner;                /* loops of the list */
    uint8_t number[AT_MAX_LOOPS]; /* of these, in the order in which they come; 0: none yet */
    uint8_t last;
    const at_ir *counted[16];
    int num_counted;
} walker;

/* What stands before what in the key, so that no two lists are the same numbers. */
enum { END = 1, LOOP, STATEMENT, VALUE, ADDRESS };

static void add(walker *w, uint64_t x) { at_hash_add_number(&w->out->hash, x); }

static uint64_t number_of(walker *w, int sym) {
    if (!w->number[sym]) w->number[sym] = ++w->last;
    return w->number[sym];
}

/* The place of x in a list, at the end of which it may be put; -1: there is no room. */
static int place_of(const at_aff **list, int *num, int most, const at_aff *x) {
    for (int i = 0; i < *num; i++)
        if (at_aff_equal(list[i], x)) return i;
    if (*num == most) return -1;
    list[*num] = x;
    return (*num)++;
}

static bool add_address(walker *w, int tensor, const at_aff *at) {
    at_low *l = w->l;
    at_list_key *k = w->out;
    const at_aff *rest;
    int64_t off;
    if (at_aff_opaque_deps(l, at) & w->inner) return false;
    const at_aff *in = at_aff_part(l, at, w->inner, &rest);
    rest = at_build_rest(l, in, rest, w->counted, w->num_counted, &off);
    int number = place_of(k->rest, &k->num_rests, AT_TILE_MOST_RESTS, rest);
    add(w, ADDRESS | (uint64_t)(in->n) << 8 | (uint64_t)(uint32_t)number << 32);
    add(w, (uint64_t)tensor << 4 | (uint64_t)l->tensors[tensor].type << 1 | w->regs->local[tensor]);
    add(w, (uint64_t)off);
    for (int i = 0; i < in->n; i++) {
        add(w, number_of(w, in->t[i].sym));
        add(w, (uint64_t)in->t[i].k);
    }
    return number >= 0;
}

static bool add_value(walker *w, const at_value *v) {
    add(w, VALUE | (uint64_t)v->op << 8 | (uint64_t)v->function << 16 |
               (uint64_t)(v->a != NULL) << 32 | (uint64_t)(v->b != NULL) << 33);
    switch (v->op) {
    case AT_V_CONST: add(w, bits_of(v->number)); break;
    case AT_V_LOAD:
        if (v->may_miss || !add_address(w, v->tensor, v->at)) return false;
        add(w, (uint64_t)at_build_group(w->l, v));
        break;
    case AT_V_SELECT:
    case AT_V_TABLE:
    case AT_V_INDEX: return false;
    default: break;
    }
    return (!v->a || add_value(w, v->a)) && (!v->b || add_value(w, v->b));
}

static bool add_statement(walker *w, const at_ir *n) {
    const at_compute *c = w->l->program->compute;
    const at_stmt *s = &n->stmt;
    bool reduces = s->tensor < c->num_tensors && c->tensors[s->tensor].num_reduce;
    at_reduction of_tensor = reduces ? c->tensors[s->tensor].reduction : AT_REDUCE_SUM;
    if (s->integer || s->guard) return false;
    add(w, STATEMENT | (uint64_t)s->add << 8 | (uint64_t)s->reduction << 16 |
               (uint64_t)reduces << 24 | (uint64_t)(s->num_places > 0) << 25 |
               (uint64_t)of_tensor << 32 | (uint64_t)(uint32_t)s->num_prefetch << 40);
    if (s->num_places) {
        add(w, (uint64_t)s->num_places);
        add(w, (uint64_t)s->place_stride);
    }
    for (int i = 0; i < s->num_prefetch; i++) {
        add(w, (uint64_t)s->prefetch[i].tensor);
        add(w, (uint64_t)s->prefetch[i].bytes);
    }
    add(w, (uint64_t)s->ahead_lines | (uint64_t)s->lines_apart << 32);
    if (s->ahead && !add_address(w, s->prefetch[0].tensor, s->ahead)) return false;
    return add_address(w, s->tensor, s->at) && add_value(w, s->val);
}

static bool add_list(walker *w, const at_ir *list);

static bool add_loop(walker *w, const at_ir *n) {
    const at_loop *x = &n->loop;
    at_list_key *k = w->out;
    bool counted = !x->transposes && at_build_is_counted(n);
    int trip = -1;
    if (x->lo_aff && (at_aff_deps(w->l, x->lo_aff) & w->inner)) return false;
    /* Where there are too many there is no tile, whichever of them are equal. */
    if (counted && !at_loop_is_fixed(n))
        trip = place_of(k->trip, &k->num_trips, AT_TILE_MAX_TRIPS, at_build_trips(w->l, n));
    add(w, LOOP | (uint64_t)x->ann << 8 | (uint64_t)x->is_reduce << 16 |
               (uint64_t)x->transposes << 17 | (uint64_t)at_loop_is_fixed(n) << 18 |
               (uint64_t)x->is_listed << 19 | (uint64_t)x->is_late << 20 |
               (uint64_t)(uint8_t)trip << 24 | number_of(w, x->sym) << 32);
    add(w, (uint64_t)x->lo);
    add(w, (uint64_t)x->hi);
    at_hash_add_str(&k->hash, w->l->syms.data[x->sym].name);
    if (counted && w->num_counted == (int)(sizeof w->counted / sizeof *w->counted)) return false;
    if (counted) w->counted[w->num_counted++] = n;
    bool ok = add_list(w, n->child);
    w->num_counted -= counted;
    return ok;
}

static bool add_list(walker *w, const at_ir *list) {
    for (; list; list = list->next) {
        if (list->kind != AT_IR_LOOP && list->kind != AT_IR_STMT) return false;
        if (list->kind == AT_IR_LOOP ? !add_loop(w, list) : !add_statement(w, list)) return false;
    }
    add(w, END);
    return true;
}

bool at_list_key_of(at_low *l, const at_ir *list, const at_tile_regs *regs, at_list_key *out) {
    walker w = {.l = l, .regs = regs, .out = out, .inner = at_ir_loops(list)};
    out->num_rests = out->num_trips = 0;
    at_hash_init(&out->hash);
    add(&w, (uint64_t)(uintptr_t)l->target);
    add(&w, (uint64_t)regs->promote | (uint64_t)regs->spills << 1);
    at_hash_add_str(&out->hash, l->options->name);
    return add_list(&w, list);
}
