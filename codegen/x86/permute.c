/* codegen/x86/permute.c: where the lanes of a load or a store are from, as bytes behind the code.
 */
#include "codegen/x86/encode.h"
#include "codegen/tile/tile_pick.h"
#include "codegen/tile/tile_zip.h"

/* Of the lane i, by VPSHUFB: 128 makes it 0. */
static int byte_from(const at_x86_spread *s, const at_tile_op *op, int lanes, int i) {
    int at[AT_TILE_MAX_PICKS], first = 0;
    const int element = at_tile_lane_from(op, i);
    at_tile_pick_parts(op, lanes, at);
    while (i < op->lanes && element >= at[first] + lanes) first++;
    return i < op->lanes && first == s->part ? element - at[first] : 0x80;
}

/* Of the lane i. */
static int from(const at_x86_spread *s, int lanes, int i) {
    const at_tile_op op = {.kind = s->stored ? AT_T_STORE : AT_T_LOAD,
                           .times = s->times,
                           .lanes = (uint8_t)s->lanes,
                           .off = s->plus,
                           .by = s->by,
                           .plus = s->plus,
                           .cyclic = s->cyclic,
                           .grouped = s->grouped};
    if (s->merged) return at_tile_merge_from(s->by, lanes, i) ^ (s->merged > 1 ? lanes : 0);
    if (s->bytes) return byte_from(s, &op, lanes, i);
    if (s->part < 0) return i % (lanes / 4) * 4 + i / (lanes / 4);
    if (s->stored) {
        int lane = at_tile_spread_lane(&op, lanes, s->part, i);
        return lane < 0 ? 0 : lane;
    }
    return s->times ? at_tile_pick_lane(&op, lanes, s->part, i) : at_tile_spread_from(&op, i);
}

static int entry_of(at_x86 *x, const at_x86_spread *s) {
    int i = 0;
    while (i < x->spreads.len && memcmp(&x->spreads.data[i], s, sizeof *s) != 0) i++;
    if (i == x->spreads.len) *at_push(x->code.arena, &x->spreads) = *s;
    return i;
}

int at_x86_spread_entry(at_x86 *x, const at_tile_op *op, int part) {
    bool stored = op->kind == AT_T_STORE;
    int first = stored ? at_tile_spread_before(op) : op->plus;
    const at_x86_spread s = {op->by, first,  op->cyclic,  op->times, op->times ? op->lanes : 0,
                             part,   stored, op->grouped, false,     false};
    return entry_of(x, &s);
}

int at_x86_merge_entry(at_x86 *x, const at_tile_op *op, bool swapped) {
    return entry_of(x, &(at_x86_spread){.by = op->by, .merged = 1 + swapped});
}

int at_x86_bytes_entry(at_x86 *x, const at_tile_op *op, int part) {
    return entry_of(
        x, &(at_x86_spread){.times = op->times, .lanes = op->lanes, .part = part, .bytes = true});
}

int at_x86_quarters_entry(at_x86 *x) {
    enum { COPIES = 4 };
    for (int i = 0; i < x->spreads.len; i++)
        if (x->spreads.data[i].part < 0) return i;
    for (int i = 0; i < COPIES; i++)
        *at_push(x->code.arena, &x->spreads) = (at_x86_spread){.part = -1};
    return x->spreads.len - COPIES;
}

void at_x86_point_spread(at_x86 *x, int entry) {
    *at_push(x->code.arena, &x->spread_patches) =
        (at_x86_patch){x->code.len - 4, x->code.len, entry};
}

void at_x86_spreads(at_x86 *x) {
    int lanes = x->t->lanes, at = x->code.len;
    for (int i = 0; i < x->spreads.len; i++)
        for (int j = 0; j < lanes; j++) {
            uint8_t lane = (uint8_t)from(&x->spreads.data[i], lanes, j);
            at_asm_raw(&x->code, &lane, 1);
        }
    /* Bytes are taken by 16, whatever stands behind the bytes of the lanes. */
    for (int i = 0, last = x->spreads.len - 1; last >= 0 && i < 16 - lanes; i++)
        if (x->spreads.data[last].bytes) at_asm_raw(&x->code, &(uint8_t){0x80}, 1);
    for (int i = 0; i < x->spread_patches.len && !x->code.bad; i++) {
        const at_x86_patch *p = &x->spread_patches.data[i];
        int32_t distance = at + p->entry * lanes - p->end;
        memcpy(x->code.code + p->at, &distance, sizeof distance);
    }
}
