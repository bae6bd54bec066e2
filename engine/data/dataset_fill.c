/* engine/data/dataset_fill.c: what input data hold. Integers that keep every sum exact, so that
 * every order of summation gives the same bits; where there are none such, reals. */
#include "engine/data/dataset.h"

#include <math.h>
#include <string.h>

enum { AT_ONCE = 1 << 20 }; /* elements that are filled without a look at stop */

static bool is_late(const at_dataset *d) { return d->deadline_ns && at_now_ns() >= d->deadline_ns; }

/* Many take long: whether to go on is asked now and then. */
static bool goes_on(const at_dataset *d, int64_t i) {
    return i % AT_ONCE || (!at_is_set(d->stop) && !is_late(d));
}

static void fill_integers(const at_dataset *d, float *p, int64_t n, int64_t lo, int64_t hi,
                          bool never_0, at_rng *rng) {
    bool any = false;
    for (int64_t i = 0; i < n && goes_on(d, i); i++) {
        int64_t v = lo + (int64_t)at_rng_below(rng, (uint64_t)(hi - lo + 1));
        p[i] = (float)(never_0 && !v ? hi : v);
        any |= v != 0;
    }
    if (!any && n) p[0] = (float)hi; /* zeros would hide a kernel that does nothing */
}

/* Not integers: of few different values the rounding errors of sums are few, too, and do not
 * cancel.
 */
static void fill_reals(const at_dataset *d, float *p, int64_t n, double lo, double hi,
                       at_rng *rng) {
    for (int64_t i = 0; i < n && goes_on(d, i); i++) {
        double x = ((double)at_rng_below(rng, 1 << 24) + 0.5) * 0x1p-24;
        p[i] = (float)(lo + (hi - lo) * x);
    }
}

/* Different entries are few: with more than 2^22 of them all are 0. */
static void fill_entries(const at_dataset *d, int t, int32_t *p, int64_t n, at_rng *rng) {
    const at_index_range *r = &d->entries[t];
    const int64_t step = r->lo == r->hi ? AT_ONCE : n;
    for (int64_t i = 0; i < n && goes_on(d, i); i += step)
        at_index_fill(r, n - i < step ? n - i : step, rng, p + i);
}

/* The polar method, G. Marsaglia and T. A. Bray, 1964. */
static void fill_normal(const at_dataset *d, float *p, int64_t n, at_rng *rng) {
    for (int64_t i = 0; i < n && goes_on(d, i);) {
        double x = (double)at_rng_below(rng, 1 << 24) * 0x1p-23 - 1;
        double y = (double)at_rng_below(rng, 1 << 24) * 0x1p-23 - 1, s = x * x + y * y;
        if (!(s > 0 && s < 1)) continue;
        double scale = sqrt(-2 * log(s) / s);
        p[i++] = (float)(x * scale);
        if (i < n) p[i++] = (float)(y * scale);
    }
}

static void fill_pattern(at_dataset *d) {
    const at_pattern *p = d->pattern;
    if (!p) return;
    memcpy(at_store_at(d->store, d->offset[d->bsr.indices]), p->indices,
           sizeof *p->indices * (size_t)p->nnz);
    memcpy(at_store_at(d->store, d->offset[d->bsr.indptr]), p->indptr,
           sizeof *p->indptr * (size_t)(p->rows + 1));
}

/* The given ones, or some that all reads allow. */
static void fill_indices(at_dataset *d, int t, at_rng *rng) {
    int32_t *to = at_store_at(d->store, d->offset[t]);
    if (d->indices[t]) memcpy(to, d->indices[t], (size_t)d->size_bytes[t]);
    else fill_entries(d, t, to, at_dataset_elements(d, t), rng);
}

bool at_dataset_fill_normal(at_dataset *d, uint64_t seed) {
    bool filled = true;
    d->version++;
    for (int t = 0; t < d->compute->num_tensors && filled; t++) {
        const at_tensor *tensor = &d->compute->tensors[t];
        at_rng rng;
        if (tensor->role == AT_ROLE_STAGE || (tensor->role == AT_ROLE_INDEX && d->pattern))
            continue;
        at_rng_seed(&rng, seed, (uint64_t)t + 1);
        if (tensor->role == AT_ROLE_INDEX) fill_indices(d, t, &rng);
        else if (d->given[t]) at_dataset_lay_given(d, t);
        else if (at_type_of(tensor->type)->is_int) at_dataset_fill_whole(d, t, &rng);
        else fill_normal(d, at_store_at(d->store, d->offset[t]), at_dataset_elements(d, t), &rng);
        filled = at_is_set(d->stop) || !is_late(d);
    }
    fill_pattern(d);
    return filled;
}

bool at_dataset_fill(at_dataset *d, uint64_t seed) {
    bool filled = true;
    const bool high = at_dataset_is_high(d);
    const at_pattern *p = d->pattern;
    const int b = d->range;
    d->version++;
    for (int t = 0; t < d->compute->num_tensors && filled; t++) {
        const at_tensor *tensor = &d->compute->tensors[t];
        if (tensor->role == AT_ROLE_STAGE || (tensor->role == AT_ROLE_INDEX && p)) continue;
        at_rng rng;
        at_rng_seed(&rng, seed, (uint64_t)t + 1);
        float *to = at_store_at(d->store, d->offset[t]);
        int64_t n = at_dataset_elements(d, t);
        if (tensor->role == AT_ROLE_INDEX) fill_indices(d, t, &rng);
        else if (d->given[t]) at_dataset_lay_given(d, t);
        else if (at_type_of(tensor->type)->is_int) at_dataset_fill_whole(d, t, &rng);
        else if (d->compute->in_steps) {
            double lo, hi;
            at_dataset_step_range(d, t, &lo, &hi);
            fill_reals(d, to, n, lo, hi, &rng);
        } else if (d->is_exact || d->is_whole)
            fill_integers(d, to, n,
                          d->sign > 0   ? 1
                          : d->sign < 0 ? -b
                                        : -(b / 2),
                          d->sign < 0 ? -1 : b, p && t == d->bsr.blocks, &rng);
        else {
            double lo, hi;
            at_dataset_range(d, t, high, &lo, &hi);
            fill_reals(d, to, n, lo, hi, &rng);
        }
        filled = at_is_set(d->stop) || !is_late(d);
    }
    fill_pattern(d);
    return filled;
}

static bool has(const at_expr *e, at_op op) {
    if (e->op == op) return true;
    for (int i = 0; i < e->nargs; i++)
        if (e->op != AT_X_INDEX && has(e->arg[i], op)) return true;
    return false;
}

/* What a condition makes 0 need not be multiplied by what is not a number, and a projection knows
 * integers only: where that may be, inputs stay as they are. */
static bool takes_specials(const at_dataset *d) {
    bool chooses = false, multiplies = false;
    if (d->compute->in_steps) return false;
    for (int t = 0; t < d->compute->num_tensors; t++) {
        const at_tensor *x = &d->compute->tensors[t];
        if (x->role != AT_ROLE_STAGE) continue;
        bool extreme = at_reduction_is_extreme(x->reduction);
        chooses |= has(x->body, AT_X_SELECT);
        multiplies |= has(x->body, AT_X_MUL);
        if (d->is_exact && (multiplies || (x->num_reduce && !extreme))) return false;
    }
    return !chooses || !multiplies;
}

void at_dataset_add_specials(at_dataset *d, uint64_t seed) {
    static const float specials[] = {NAN, INFINITY, -INFINITY, -0.0f};
    enum { NUM_SPECIALS = sizeof specials / sizeof *specials, LEAST = 64 };
    if (!takes_specials(d)) return;
    d->has_specials = true;
    for (int t = 0; t < d->compute->num_tensors; t++) {
        const at_tensor *x = &d->compute->tensors[t];
        int64_t n = at_dataset_elements(d, t);
        if (x->role != AT_ROLE_INPUT || d->given[t] || n < LEAST) continue;
        at_rng rng;
        at_rng_seed(&rng, seed, (uint64_t)t + 1);
        float *to = at_store_at(d->store, d->offset[t]);
        for (int i = 0; i < NUM_SPECIALS; i++) to[at_rng_below(&rng, (uint64_t)n)] = specials[i];
    }
}

void at_dataset_keep_one_channel(at_dataset *d, uint64_t seed) {
    if (d->is_exact || !at_compute_is_transform(d->compute)) return;
    for (int t = 0; t < d->compute->num_tensors; t++) {
        const at_tensor *x = &d->compute->tensors[t];
        if (x->role != AT_ROLE_INPUT || d->given[t] || x->num_axes < 2) continue;
        at_rng rng;
        at_rng_seed(&rng, seed, (uint64_t)t + 1);
        float *to = at_store_at(d->store, d->offset[t]);
        int64_t row = d->extents[t][x->num_axes - 1], n = at_dataset_elements(d, t);
        for (int64_t i = 0, rows = 0; i < n && goes_on(d, rows); i += row, rows++) {
            int64_t kept = (int64_t)at_rng_below(&rng, (uint64_t)row);
            for (int64_t k = 0; k < row; k++)
                if (k != kept) to[i + k] = 0;
        }
    }
}
