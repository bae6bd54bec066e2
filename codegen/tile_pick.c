/* codegen/tile_pick.c: a load of every so many floats as loads of whole registers, of which lanes
 * are taken: where these begin, and which lane is from where. */
#include "codegen/tile.h"

int at_tile_pick_parts(const at_tile_op *op, int lanes, int *at) {
    int last = (op->lanes - 1) * op->times, n = 1;
    at[0] = 0;
    while (at[n - 1] + lanes <= last) {
        int next = at[n - 1] + lanes - 1;
        at[n++] = next + lanes <= last + 1 ? next : last + 1 - lanes;
    }
    return n;
}

int at_tile_pick_first(const at_tile_op *op, int lanes) {
    int all = (op->lanes - 1) * op->times + 1;
    return all < lanes ? all : lanes;
}

int at_tile_pick_lane(const at_tile_op *op, int lanes, int part, int i) {
    int at[AT_TILE_MAX_PICKS], n = at_tile_pick_parts(op, lanes, at), element = op->times * i;
    int holds = 0;
    if (i >= op->lanes) return 0;
    while (holds < n - 1 && element >= at[holds] + lanes) holds++;
    if (holds > part) return 0; /* it comes later */
    if (holds == part) return part ? lanes + element - at[holds] : element;
    return part == 1 ? element : i;
}
