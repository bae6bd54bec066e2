/* codegen/tile/tile_encode.c: what encoders of every architecture ask of a tile program: how deep
 * its loops are, the numbers behind the pointers that it makes, and which register holds which of
 * very many. */
#include <string.h>

#include "codegen/tile/reloads.h"
#include "codegen/tile/tile.h"

int at_tile_nest_depth(const at_tile *t) {
    int depth = 0, most = 0;
    for (int i = 0; i < t->num_ops; i++) {
        depth += (t->ops[i].kind == AT_T_LOOP) - (t->ops[i].kind == AT_T_END);
        if (depth > most) most = depth;
    }
    return most;
}

bool at_tile_is_innermost(const at_tile *t, int i) {
    while (t->ops[++i].kind != AT_T_END)
        if (t->ops[i].kind == AT_T_LOOP) return false;
    return true;
}

bool at_tile_has_digits(const at_tile *t) {
    for (int i = 0; i < t->num_ops; i++)
        if (t->ops[i].kind == AT_T_INDEX && t->ops[i].base == t->ops[i].dst) return true;
    return false;
}

at_tile_quotient at_tile_divide(int32_t by, int32_t most) {
    at_tile_quotient q = {.power = 0};
    while (by % 2 == 0) by /= 2, most /= 2, q.power++;
    if (by == 1) return q;
    int64_t over;
    do {
        q.factor = (((int64_t)1 << ++q.shift) + by - 1) / by;
        over = q.factor * by - ((int64_t)1 << q.shift);
    } while (over * most >= (int64_t)1 << q.shift);
    return q;
}

bool at_tile_goes_on(const at_tile *t, const at_tile_op *op) {
    const at_tile_op *last = op - 1;
    return op > t->ops && last->kind == AT_T_INDEX && last->dst == op->dst &&
           last->dst == op->base && last->slot == op->slot && last->off == op->off &&
           last->times == op->times && last->plus == op->plus && op->by % last->by == 0;
}

/* Its elements, as many as are 32 bits. */
uint32_t at_tile_missed(const at_tile *t, const at_tile_op *op) {
    const at_type type = (at_type)t->slot_type[op->base];
    const int bytes = (int)at_type_bytes(type);
    const int32_t whole = (int32_t)op->number;
    char elements[4];
    uint32_t bits = at_tile_bits(op);
    for (int i = 0; i < 4 / bytes; i++)
        if (at_type_of(type)->is_int) memcpy(elements + i * bytes, &whole, (size_t)bytes);
        else at_type_store(type, elements, i, at_of_bits(bits));
    if (bytes < 4) memcpy(&bits, elements, sizeof bits);
    return bits;
}

bool at_tile_scatter_all(const at_tile *t, const at_tile_op *op) {
    const at_type_facts *type = op->a < 0 ? at_type_of(t->slot_type[op->base]) : NULL;
    return type && type->least >= 0 && type->most <= op->most;
}

bool at_tile_has_scatters(const at_tile *t) {
    bool any = false;
    for (int i = 0; i < t->num_ops; i++) any |= t->ops[i].kind == AT_T_SCATTER;
    return any;
}

/* ---- pointers that lie in memory ------------------------------------------------------------- */

void at_reloads_forget(at_reloads *r) {
    for (int i = 0; i < AT_RELOADS; i++) r->of[i].slot = -1;
}

int at_reloads_for(at_reloads *r, int slot, bool *is_there) {
    int at = 0;
    for (int i = 1; i < AT_RELOADS; i++)
        if (r->of[i].asked < r->of[at].asked) at = i;
    for (int i = 0; i < AT_RELOADS; i++)
        if (r->of[i].slot == slot) at = i;
    *is_there = r->of[at].slot == slot;
    r->of[at].slot = slot;
    r->of[at].asked = ++r->asked;
    return r->of[at].reg;
}
