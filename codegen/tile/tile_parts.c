/* codegen/tile/tile_parts.c: the sizes of the register-sized parts of a tile, by the estimated time
 * of all of them, and how far its loops are unrolled. What fits the registers as it is stays whole:
 * the sizes that knobs have are those that run. */
#include "codegen/tile/tile_parts.h"

#include <math.h>

#define MAX_SIZES 24 /* tried per piece */

/* A register tile: rows x vectors accumulators, the vectors loaded beside them, and one broadcast
 * where several vectors share it. One register too many is allowed: the last vector becomes a
 * memory operand. */
typedef struct {
    int64_t rows, vectors;
    bool fits, folded; /* folded: with the last vector as memory operand */
} shape;

static shape shape_of(const at_target *target, int64_t rows, int64_t vectors, int64_t beside) {
    int64_t need = rows * vectors + vectors + (vectors > 1 || !target->fold_bcast);
    if (need < rows * vectors + beside) need = rows * vectors + beside;
    bool folded = need > target->regs && target->fold_vector && vectors > 2;
    return (shape){rows, vectors, need - folded <= target->regs, folded};
}

/* Estimated time of a step, in multiply-adds: these or the loads, whichever is more, not below the
 * latency of one; and what a line costs that comes from the second-level cache, where panels of
 * weights lie. Weights are fitted to kernels on Sapphire Rapids: of the peak, 14x2 reach 0.78, 8x2
 * 0.76, 7x2 and 6x4 0.72, 28x1 0.70, 7x4 folded 0.66, 4x4 0.64. */
static double step_cost(const at_target *target, shape s) {
    double fma = (double)(s.rows * s.vectors);
    double loads = (double)(s.rows + s.vectors + (s.folded ? s.rows - 1 : 0));
    double lines = (double)s.vectors * target->lanes / 16;
    double c = fma > 1.07 * loads ? fma : 1.07 * loads;
    if (c < 8) c = 8;
    return c + 0.6 * lines + 0.02 * loads + (s.folded ? 0.06 * fma : 0);
}

/* Sizes to try, ascending: those of parts that differ by less than one vector or row. */
static int sizes_of(const at_target *target, const at_part *p, int64_t *size) {
    int64_t unit = p->vector ? target->lanes : 1, units = (p->extent + unit - 1) / unit, last = 0;
    int n = 0;
    for (int64_t parts = units; parts >= 1 && n < MAX_SIZES; parts--) {
        int64_t s = (units + parts - 1) / parts;
        if (s == last) continue;
        last = s;
        size[n++] = s * unit;
    }
    return n;
}

static bool fits_whole(const at_target *target, at_part *parts, int n, int64_t other_regs,
                       int64_t beside) {
    int64_t rows = other_regs, vectors = 1, lanes = target->lanes;
    for (int i = 0; i < n; i++) {
        int64_t extent = parts[i].extent;
        parts[i].size = extent;
        if (parts[i].vector) vectors *= (extent + lanes - 1) / lanes;
        else rows *= extent;
        if (rows > target->regs || vectors > target->regs) return false;
    }
    return shape_of(target, rows, vectors, beside).fits;
}

void at_tile_parts(const at_target *target, at_part *parts, int n, int64_t other_regs,
                   int64_t beside) {
    if (fits_whole(target, parts, n, other_regs, beside)) return;
    int64_t size[AT_PARTS_MAX][MAX_SIZES];
    int at[AT_PARTS_MAX] = {0}, num[AT_PARTS_MAX], lanes = target->lanes;
    double best = -1;
    for (int i = 0; i < n; i++) num[i] = sizes_of(target, &parts[i], size[i]);
    for (;;) {
        int64_t rows = other_regs, vectors = 1;
        double times = 1;
        for (int i = 0; i < n; i++) {
            int64_t s = size[i][at[i]];
            if (parts[i].vector) vectors *= (s + lanes - 1) / lanes;
            else rows *= s;
            times *= (double)parts[i].extent / (double)s;
        }
        shape s = shape_of(target, rows, vectors, beside);
        double c = step_cost(target, s) * times;
        if (s.fits && (best < 0 || c < best)) {
            best = c;
            for (int i = 0; i < n; i++) parts[i].size = size[i][at[i]];
        }
        int i = 0;
        while (i < n && ++at[i] == num[i]) at[i++] = 0;
        if (i == n) break;
    }
    if (best < 0)
        for (int i = 0; i < n; i++) parts[i].size = size[i][0];
}

bool at_tile_takes_turns(at_ann ann, bool is_reduce, double ops) {
    return ann == AT_ANN_NONE && !is_reduce && ops <= AT_TILE_SUM_OPS;
}

int64_t at_tile_sum_ops(bool is_repeated) {
    return is_repeated ? AT_TILE_SUM_OPS : AT_TILE_STRAIGHT_OPS;
}

int64_t at_tile_thin_steps(int64_t turns) {
    const int64_t most = turns < AT_THIN_STEPS ? turns : AT_THIN_STEPS;
    for (int64_t f = most; f > most / 2; f--)
        if (turns % f == 0) return f;
    return most;
}

int64_t at_tile_unrolled_turns(int64_t turns, int64_t unit, double ops, int64_t most) {
    int64_t best = unit;
    for (int64_t f = unit; f <= turns && (double)(f / unit) * ops <= (double)most; f += unit)
        if (turns % f == 0) best = f;
    return best;
}

int64_t at_tile_chains(const at_target *target, double sums, int busy, int beside) {
    const double room = target->regs - 4 - beside;
    int64_t chains = sums > 0 ? (int64_t)ceil(busy / sums) : 1;
    while (chains > 1 && sums * (double)chains > room) chains--;
    return chains;
}
