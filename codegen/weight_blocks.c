/* codegen/weight_blocks.c: where weights that come from beyond the caches are asked for.
 *
 * A loop nest goes through a block of weights several times before the next block: the first time
 * it waits for each line, then it has them in the second-level cache. All turns of the block
 * together ask for the next one, a few lines each, so that lines come as evenly as work is done. */
#include "codegen/weight_blocks.h"

int64_t at_ahead_room(int64_t l2_bytes) { return l2_bytes / 4 * 3; } /* the data are there, too */

int64_t at_ahead_turns(const at_weights_loop *all, int n, int b) {
    int64_t turns = 1;
    for (int i = b + 1; i < n; i++)
        if (!all[i].is_written_out) turns *= all[i].extent;
    return turns;
}

int at_ahead_loop(const at_weights_loop *all, int n, int64_t room_elements) {
    for (int b = 0; b < n; b++) {
        int64_t reach = 0, again = 1;
        if (all[b].growth <= 0 || all[b].is_written_out) continue;
        for (int i = b + 1; i < n; i++) {
            reach += all[i].growth * (all[i].extent - 1);
            if (!all[i].growth && !all[i].is_reduce && !all[i].is_written_out)
                again *= all[i].extent;
        }
        if (again > 1 && reach < all[b].growth && 2 * all[b].growth <= room_elements) return b;
    }
    return -1;
}
