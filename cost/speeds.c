/* cost/speeds.c: speeds of a machine that was never measured. */
#include "cost/cost.h"

#include <string.h>

static const double usual_ghz = 3;

/* Weights are fitted to kernels on Sapphire Rapids, as those in codegen/tile_parts.c. */
void at_speeds_guess(const at_core *core, const at_target *target, at_speeds *out) {
    bool wide = target->lanes >= AT_WIDE_LANES;
    double per_cycle = core ? core->fma[wide] : wide ? 2 : target->lanes > 4 ? 2 : 1;
    double ns = 1 / per_cycle / usual_ghz;
    memset(out, 0, sizeof *out);
    for (int v = 1; v <= AT_SPEED_VECTORS; v++)
        for (int r = 1; r <= AT_SPEED_ROWS; r++) {
            double sums = r * v, loads = r + v;
            bool folded = r * v + v + 1 > target->regs && v > 2;
            if (folded) loads += r - 1;
            double c = sums > 1.07 * loads ? sums : 1.07 * loads;
            if (c < 8) c = 8;
            if (r * v < 8) c = c < 1.3 * sums + 2 ? c : 1.3 * sums + 2; /* several chains each */
            out->step_ns[v - 1][r - 1] =
                (float)((c + 0.02 * loads + (folded ? 0.06 * sums : 0)) * ns);
            out->call_ns[v - 1][r - 1] = (float)(2 + (20 + 3 * sums) * ns);
        }
    out->line_ns[0] = (float)(0.5 / usual_ghz);
    out->line_ns[1] = (float)(0.6 * ns * target->lanes / 16);
    out->line_ns[2] = 1.5F;
    out->line_ns[3] = 4;
    out->store_ns = (float)(1.3 / usual_ghz);
    out->turn_ns = 1.5F;
    out->cache_bytes[0] = core ? core->l1d_bytes : 32 << 10;
    out->cache_bytes[1] = core ? core->l2_bytes : 512 << 10;
    out->cache_bytes[2] = 16 << 20;
}
