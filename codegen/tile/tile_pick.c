/* codegen/tile/tile_pick.c: a load of every so many floats as loads of whole registers, of which
 * lanes are taken: where these begin, and which lane is from where. A store to every so many as
 * stores of lanes of registers that lie behind each other. */
#include "codegen/tile/tile.h"
#include "codegen/tile/tile_pick.h"

int at_tile_pick_parts(const at_tile_op *op, int lanes, int *at) {
    int last = (int)at_tile_span(op) - 1, n = 1;
    at[0] = 0;
    while (at[n - 1] + lanes <= last) {
        int next = at[n - 1] + lanes - !op->grouped;
        at[n++] = next + lanes <= last + 1 ? next : last + 1 - lanes;
    }
    return n;
}

int at_tile_pick_first(const at_tile_op *op, int lanes) {
    const int all = (int)at_tile_span(op);
    return all < lanes ? all : lanes;
}

int at_tile_pick_lane(const at_tile_op *op, int lanes, int part, int i) {
    int at[AT_TILE_MAX_PICKS], n = at_tile_pick_parts(op, lanes, at),
                               element = at_tile_lane_from(op, i);
    int holds = 0;
    if (i >= op->lanes) return 0;
    while (holds < n - 1 && element >= at[holds] + lanes) holds++;
    if (holds > part) return 0; /* it comes later */
    if (holds == part) return part ? lanes + element - at[holds] : element;
    return part == 1 ? element : i;
}

bool at_tile_pick_four(const at_tile_op *op, int lane, int at[2], int from[4]) {
    const int last = (int)at_tile_span(op) - 4;
    if (lane + 4 > op->lanes || last < 0) return false;
    for (int i = 0; i < 4; i++) {
        const int element = at_tile_lane_from(op, lane + i),
                  least = op->times < 0 ? at_tile_lane_from(op, lane + 3) : element;
        if (i % 2 == 0) at[i / 2] = least < last ? least : last;
        from[i] = element - at[i / 2] + i / 2 * 4;
        if (element > at[i / 2] + 3) return false;
    }
    return true;
}

bool at_tile_picks_second(const at_tile_op *op) {
    for (int i = 0; i < op->lanes; i++)
        if (at_tile_lane_from(op, i) != 2 * i) return false;
    return op->lanes == 8;
}

int64_t at_tile_span(const at_tile_op *op) {
    bool moves = op->kind == AT_T_LOAD || op->kind == AT_T_STORE;
    if (op->grouped) return (int64_t)op->lanes * op->times;
    return moves && op->times > 0 ? at_tile_lane_from(op, op->lanes - 1) + 1 : op->lanes;
}

int at_tile_spread_before(const at_tile_op *op) {
    return (int)((op->off % op->times + op->times) % op->times);
}

int at_tile_spread_parts(const at_tile_op *op, int lanes) {
    return (int)(at_tile_spread_before(op) + at_tile_span(op) + lanes - 1) / lanes;
}

int at_tile_spread_lane(const at_tile_op *op, int lanes, int part, int i) {
    int element = part * lanes + i - at_tile_spread_before(op);
    bool is_one = element >= 0 && element % op->times == 0 && element / op->times < op->lanes;
    return is_one ? element / op->times : -1;
}

int64_t at_tile_spread_at(const at_tile_op *op, int lanes, int part) {
    return op->off - at_tile_spread_before(op) + (int64_t)part * lanes;
}

uint32_t at_tile_spread_mask(const at_tile_op *op, int lanes, int part) {
    uint32_t mask = 0;
    for (int i = 0; i < lanes; i++)
        if (at_tile_spread_lane(op, lanes, part, i) >= 0) mask |= 1u << i;
    return mask;
}
