/* codegen/x86/permute.c: where the lanes of a load are from, as bytes behind the code. */
#include "codegen/x86/encode.h"

int at_x86_picked_from(const at_tile_op *op, int lanes, int *at) {
    int last = (op->lanes - 1) * op->times, n = 1;
    at[0] = 0;
    while (at[n - 1] + lanes <= last) {
        int next = at[n - 1] + lanes - 1;
        at[n++] = next + lanes <= last + 1 ? next : last + 1 - lanes;
    }
    return n;
}

/* The lane of two registers, the second one behind the first, that lane i is from. */
static int picked_from(const at_x86_spread *s, int lanes, int i) {
    const at_tile_op op = {.times = s->times, .lanes = (uint8_t)s->lanes};
    int at[4], n = at_x86_picked_from(&op, lanes, at), element = s->times * i, holds = 0;
    if (i >= s->lanes) return 0;
    while (holds < n - 1 && element >= at[holds] + lanes) holds++;
    if (holds > s->part) return 0; /* it comes later */
    if (holds == s->part) return s->part ? lanes + element - at[holds] : element;
    return s->part == 1 ? element : i;
}

int at_x86_spread_entry(at_x86 *x, const at_tile_op *op, int part) {
    const at_x86_spread s = {op->by, op->plus, op->times, op->times ? op->lanes : 0, part};
    int i = 0;
    while (i < x->spreads.len && memcmp(&x->spreads.data[i], &s, sizeof s) != 0) i++;
    if (i == x->spreads.len) *at_push(x->code.arena, &x->spreads) = s;
    return i;
}

void at_x86_point_spread(at_x86 *x, int entry) {
    *at_push(x->code.arena, &x->spread_patches) =
        (at_x86_patch){x->code.len - 4, x->code.len, entry};
}

void at_x86_spreads(at_x86 *x) {
    int lanes = x->t->lanes, at = x->code.len;
    for (int i = 0; i < x->spreads.len; i++)
        for (int j = 0; j < lanes; j++) {
            const at_x86_spread *s = &x->spreads.data[i];
            uint8_t from = (uint8_t)(s->times ? picked_from(s, lanes, j) : (j + s->plus) / s->by);
            at_asm_raw(&x->code, &from, 1);
        }
    for (int i = 0; i < x->spread_patches.len && !x->code.bad; i++) {
        const at_x86_patch *p = &x->spread_patches.data[i];
        int32_t distance = at + p->entry * lanes - p->end;
        memcpy(x->code.code + p->at, &distance, sizeof distance);
    }
}
