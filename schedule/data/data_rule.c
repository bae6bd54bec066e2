/* schedule/data/data_rule.c: see data.h. Inputs and weights are whole numbers around zero, so that
 * sums have both signs, times powers of two such that what meets a bound or a function is about as
 * large as the bound is wide. What a floor looks at has quarters; what a maximum looks at is told
 * apart.
 */
#include "schedule/data/data_int.h"

#include <math.h>

void at_fill_draw(const at_fill *f, bool is_exact, int64_t first, int64_t n, at_rng *rng,
                  float *out) {
    const bool skips_0 = !f->has_0 && f->lo < 0 && f->hi > 0;
    const uint64_t steps = (uint64_t)(f->hi - f->lo + !skips_0);
    const bool moves = steps >= AT_LEAST_MOVING;
    uint64_t step = 0;
    for (int64_t i = 0; i < n; i++) {
        double x = f->lo;
        if (is_exact) {
            step = moves && i ? (step + 1 + at_rng_below(rng, steps - 1)) % steps
                              : at_rng_below(rng, steps);
            x += (double)step, x += skips_0 && x >= 0;
        } else x += (f->hi - f->lo) * ((double)at_rng_below(rng, 1 << 24) + 0.5) * 0x1p-24;
        if (f->has_powers && (first + i) % 4 == 3) x = ldexp(1, ilogb(x));
        if (f->grain > 0 && (first + i) % 2) x = f->grain * rint(x / f->grain);
        if (f->power > 0 && (first + i) % 2) x = f->power;
        out[i] = (float)(f->unit * x + data_away(f, first + i));
    }
}

/* Each other draw has other entries. Where some say how far reductions go, one has the values of
 * the first beside them: what the second has may be saturated, or tied, and hide what is left out.
 */
static void add_entries(const data_ruler *r, at_data_rule *out) {
    for (int i = 1; i < out->num_draws; i++) out->draw[i].entries = 1;
    if (!data_has_ends(r) && !(out->num_draws == 1 && data_has_places(r))) return;
    out->draw[out->num_draws] = out->draw[0];
    out->draw[out->num_draws++].entries = 1;
}

/* The values of the first draw without its winners. */
static void add_runs(const data_ruler *r, at_data_rule *out) {
    out->cover = (at_draw){.fill = out->draw[0].fill};
    data_cover(r, &out->cover);
    if (!out->cover.covers.len) out->again = data_again(r);
}

/* What is alike of integers and floats; runs first, as elements are placed in rounds of them. */
static at_status add_rest(data_ruler *r, at_data_rule *out, at_error *err) {
    add_runs(r, out);
    data_plant_thresholds(r, out);
    AT_TRY(data_draw_levels(r, out, err));
    data_plant_sums(r, out);
    add_entries(r, out);
    return AT_OK;
}

at_status at_data_rule_find(at_arena *a, const at_compute *c, const int64_t *values,
                            const at_data_known *known, at_data_rule *out, at_error *err) {
    data_ruler r;
    *out = (at_data_rule){.num_draws = 1};
    AT_TRY(data_ruler_begin(&r, a, c, values, known, err));
    if (c->in_steps) {
        AT_TRY(data_find_integers(&r, out, err));
        return add_rest(&r, out, err);
    }
    AT_TRY(data_find_floats(&r, err));
    out->is_exact = r.is_exact;
    out->draw[0].fill = r.fill;
    AT_TRY(data_second_draw(&r, out, err));
    data_plant_nearest(&r, &out->draw[0]);
    return add_rest(&r, out, err);
}
