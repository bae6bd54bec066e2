/* cost/speeds.c: speeds that nobody measured: of a whole machine, or between what was measured. */
#include "cost/cost.h"

#include <math.h>
#include <string.h>

static const double usual_ghz = 3;

/* Of sums in memory (stored_ns), in multiply-adds at the peak: of Zen 5 and of Sapphire Rapids. */
static const double stored[] = {4.1, 12, 28};

/* Of waits (waits_ns): the first in multiply-adds at the peak: four cycles, two of which begin in
 * each (cost/x86/cores.c: of eleven kinds eight; on the others five, and 10); the second in ns, on
 * Zen 5; the third as a multiple of what an element takes in a row; the fourth at the peak; the
 * last in ns, on Zen 5. */
static const double behind_another = 8, masked_ns = 12, gathered = 3, single_load = 1.4;

static void complete_waits(at_speeds *s, double peak_ns) {
    if (s->waits_ns[0] <= 0) s->waits_ns[0] = (float)(behind_another * peak_ns);
    if (s->waits_ns[1] <= 0) s->waits_ns[1] = (float)masked_ns;
    if (s->waits_ns[2] <= 0)
        s->waits_ns[2] = (float)gathered * s->narrow_ns[0][AT_SPEED_ROWS - 1] / AT_SPEED_ROWS;
    if (s->waits_ns[3] <= 0) s->waits_ns[3] = (float)(single_load * peak_ns);
}

/* Weights are fitted to kernels on Sapphire Rapids, as those in codegen/tile_parts.c. */
void at_speeds_guess(const at_core *core, const at_target *target, at_speeds *out) {
    bool wide = target->lanes >= AT_WIDE_LANES;
    double ns = 1 / (core ? core->fma[wide] : 2) / usual_ghz;
    if (!target->fused) ns *= 2;
    memset(out, 0, sizeof *out);
    strncpy(out->isa, target->name, sizeof out->isa - 1);
    for (int v = 1; v <= AT_SPEED_VECTORS; v++)
        for (int r = 1; r <= AT_SPEED_ROWS; r++) {
            double sums = r * v, loads = r + v, least = 8;
            bool folded = r * v + v + 1 > target->regs && v > 2;
            if (folded) loads += r - 1;
            if (sums < 8) least = 1.3 * sums + 2; /* several chains each */
            double c = sums > 1.07 * loads ? sums : 1.07 * loads;
            if (c < least) c = least < 8 ? least : 8;
            c = (c + 0.02 * loads + (folded ? 0.06 * sums : 0)) * ns;
            out->step_ns[v - 1][r - 1] = (float)c;
            out->far_ns[v - 1][r - 1] = (float)(c + 0.6 * v * target->lanes / 16 * ns);
            out->call_ns[v - 1][r - 1] = (float)(4 + (20 + 3 * sums) * ns);
        }
    for (int w = 0; w < AT_SPEED_WIDTHS; w++) {
        memcpy(out->narrow_ns[w], out->step_ns[0], sizeof out->narrow_ns[w]);
        memcpy(out->narrow_call_ns[w], out->call_ns[0], sizeof out->narrow_call_ns[w]);
    }
    out->line_ns[0] = (float)(0.5 / usual_ghz);
    out->line_ns[1] = (float)(0.6 * ns * target->lanes / 16);
    out->line_ns[2] = 1.5F;
    out->line_ns[3] = 4;
    out->copy_ns = (float)(1.3 / usual_ghz);
    out->run_ns = 0.75F;
    out->turn_ns = 1.5F;
    for (int i = 0; i < 3; i++) out->stored_ns[i] = (float)(stored[i] * ns);
    complete_waits(out, ns);
}

/* One row of a table, of so many vectors: between what was measured in a straight line, beyond it
 * as the guess goes on. */
static void complete_row(float *row, const float *guess) {
    int last = -1;
    for (int r = 0; r < AT_SPEED_ROWS; r++) {
        if (row[r] <= 0) continue;
        for (int k = last + 1; k < r; k++)
            row[k] = last < 0
                         ? row[r] * guess[k] / guess[r]
                         : row[last] + (row[r] - row[last]) * (float)(k - last) / (float)(r - last);
        last = r;
    }
    for (int k = last + 1; k < AT_SPEED_ROWS && last >= 0; k++)
        row[k] = row[last] * guess[k] / guess[last];
}

static void complete(float row[][AT_SPEED_ROWS], const float guess[][AT_SPEED_ROWS]) {
    float share = 1;
    for (int v = 0; v < AT_SPEED_VECTORS; v++) {
        complete_row(row[v], guess[v]);
        for (int r = 0; r < AT_SPEED_ROWS && row[v][AT_SPEED_ROWS - 1] <= 0; r++)
            row[v][r] = guess[v][r] * share;
        share = row[v][0] / guess[v][0];
    }
}

void at_speeds_complete(at_speeds *s, const at_target *target) {
    at_speeds guess;
    at_speeds_guess(NULL, target, &guess);
    complete(s->step_ns, guess.step_ns);
    complete(s->far_ns, guess.far_ns);
    complete(s->call_ns, guess.call_ns);
    for (int w = 0; w < AT_SPEED_WIDTHS; w++) { /* else as whole vectors */
        complete_row(s->narrow_ns[w], guess.narrow_ns[w]);
        complete_row(s->narrow_call_ns[w], guess.narrow_call_ns[w]);
        for (int r = 0; r < AT_SPEED_ROWS; r++) {
            if (s->narrow_ns[w][r] <= 0) s->narrow_ns[w][r] = s->step_ns[0][r];
            if (s->narrow_call_ns[w][r] <= 0) s->narrow_call_ns[w][r] = s->call_ns[0][r];
        }
    }
    for (int i = 0; i < AT_SPEED_LEVELS; i++)
        if (s->line_ns[i] <= 0) s->line_ns[i] = guess.line_ns[i];
    /* The tile it is measured with may hide all of it, which rows of many pictures do not. */
    s->line_ns[1] = fmaxf(s->line_ns[1], guess.line_ns[1] / 2);
    if (s->copy_ns <= 0) s->copy_ns = guess.copy_ns;
    if (s->run_ns <= 0) s->run_ns = guess.run_ns;
    if (s->turn_ns <= 0) s->turn_ns = guess.turn_ns;
    double ns = s->peak_gflops > 0 ? 2 * target->lanes / (double)s->peak_gflops : 0;
    for (int i = 0; i < 3; i++) /* older tables have none */
        if (s->stored_ns[i] <= 0)
            s->stored_ns[i] = ns > 0 ? (float)(stored[i] * ns) : guess.stored_ns[i];
    complete_waits(s, ns);
}

int at_speeds_width(const at_target *target, int64_t elements) {
    if (elements >= target->lanes) return -1;
    for (int w = 0; w < AT_SPEED_WIDTHS - 1; w++)
        if (elements == 1 << w) return w;
    return AT_SPEED_WIDTHS - 1;
}

const at_speeds *at_speed_table_find(const at_speed_table *t, const char *isa) {
    const at_target *target = at_target_find(isa);
    if (target && target->like) isa = target->like;
    for (int i = 0; i < t->num_sets; i++)
        if (!strcmp(t->sets[i].isa, isa)) return &t->sets[i];
    return NULL;
}
