/* engine/data/dataset_fill.c: what input data hold. Integers that keep every sum exact, so that
 * every order of summation gives the same bits; where there are none such, reals. */
#include "engine/data/dataset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    AT_ONCE = 1 << 20, /* elements that are filled without a look at stop */
    MOST_WHOLE = 8     /* of integers that no bound says anything of */
};

static bool is_late(const at_dataset *d) { return d->deadline_ns && at_now_ns() >= d->deadline_ns; }

/* Many take long: whether to go on is asked now and then. */
static bool goes_on(const at_dataset *d, int64_t i) {
    return i % AT_ONCE || (!at_is_stopped(d->stop) && !is_late(d));
}

/* never_0: blocks of a sparse weight are told from what is not stored. */
static void fill_values(const at_dataset *d, int t, float *p, int64_t n, bool never_0,
                        at_rng *rng) {
    const double most = MOST_WHOLE * (d->times_whole ? d->times_whole : 1);
    const at_fill whole = {
        .lo = d->sign > 0 ? 1 : -most, .hi = d->sign < 0 ? -1 : most, .unit = 1, .has_0 = true};
    const bool is_exact = d->is_exact || d->is_whole;
    at_fill f = d->is_whole ? whole : d->rule.draw[d->draw].fill[t];
    bool any = false;
    if (!is_exact) f.unit *= d->scale;
    for (int64_t i = 0; i < n && goes_on(d, i); i += AT_ONCE)
        at_fill_draw(&f, is_exact, i, n - i < AT_ONCE ? n - i : AT_ONCE, rng, p + i);
    for (int64_t i = 0; i < n && (never_0 || !any) && goes_on(d, i); i++) {
        if (never_0 && p[i] == 0) p[i] = (float)(f.unit * f.hi);
        any |= p[i] != 0;
    }
    if (!any && n && goes_on(d, 0))
        p[0] = (float)(f.unit * f.hi); /* zeros would hide a kernel that does nothing */
}

/* Floats of 16 bits: what is nearest to the numbers that floats would be. */
static void fill_halves(const at_dataset *d, int t, at_rng *rng,
                        void fill(const at_dataset *d, int t, float *p, int64_t n, at_rng *rng)) {
    const int64_t n = at_dataset_elements(d, t);
    char *to = at_store_at(d->store, d->offset[t]);
    float *numbers = malloc((size_t)(n + 1) * sizeof *numbers);
    AT_NEED(numbers);
    fill(d, t, numbers, n, rng);
    for (int64_t i = 0; i < n; i++) at_type_store(d->compute->tensors[t].type, to, i, numbers[i]);
    free(numbers);
}

static void put_extremes(at_dataset *d) {
    const at_draw *draw = &d->rule.draw[d->draw];
    for (int t = 0; t < d->compute->num_tensors; t++)
        if (d->compute->tensors[t].role != AT_ROLE_STAGE) at_dataset_spare_ends(d, t);
    for (int i = 0; i < draw->extremes.len; i++) {
        const at_placed *w = &draw->extremes.data[i];
        if (!at_is_placed(w, d->round ? d->round : 1)) continue;
        const at_type type = d->compute->tensors[w->tensor].type;
        const bool is_int = at_type_of(type)->is_int;
        const float value = (float)((double)w->value * (d->is_exact || w->stays ? 1 : d->scale));
        void *to = at_store_at(d->store, d->offset[w->tensor]);
        for (int64_t k = 0; k <= w->more; k++)
            if (is_int) at_dataset_put_whole(type, to, w->offset + k * w->step, (int64_t)w->value);
            else at_type_store(type, to, w->offset + k * w->step, value);
    }
}

/* Different entries are few: with more than 2^22 of them all are 0. */
static void fill_entries(const at_dataset *d, int t, int32_t *p, int64_t n, at_rng *rng) {
    const at_index_range *r = &d->entries[t];
    const int64_t step = r->lo == r->hi ? AT_ONCE : n;
    for (int64_t i = 0; i < n && goes_on(d, i); i += step)
        at_index_fill(r, d->rule.draw[d->draw].entries, n - i < step ? n - i : step, rng, p + i);
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

static void fill_any_normal(const at_dataset *d, int t, float *p, int64_t n, at_rng *rng) {
    (void)t;
    fill_normal(d, p, n, rng);
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
        else if (at_type_is_half(tensor->type)) fill_halves(d, t, &rng, fill_any_normal);
        else fill_normal(d, at_store_at(d->store, d->offset[t]), at_dataset_elements(d, t), &rng);
        filled = at_is_set(d->stop) || !is_late(d);
    }
    fill_pattern(d);
    return filled;
}

/* Floats beside integers, whose results are rounded to a type. */
static void fill_steps(const at_dataset *d, int t, float *p, int64_t n, at_rng *rng) {
    const at_fill *f = &d->rule.draw[d->draw].fill[t];
    for (int64_t i = 0; i < n && goes_on(d, i); i += AT_ONCE)
        at_fill_draw(f, false, i, n - i < AT_ONCE ? n - i : AT_ONCE, rng, p + i);
}

static void fill_floats(const at_dataset *d, int t, float *p, int64_t n, at_rng *rng) {
    if (d->compute->in_steps) fill_steps(d, t, p, n, rng);
    else fill_values(d, t, p, n, d->pattern && t == d->bsr.blocks, rng);
}

bool at_dataset_fill(at_dataset *d, uint64_t seed) {
    bool filled = true;
    const at_pattern *p = d->pattern;
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
        else if (at_type_is_half(tensor->type)) fill_halves(d, t, &rng, fill_floats);
        else fill_floats(d, t, to, n, &rng);
        filled = at_is_set(d->stop) || !is_late(d);
    }
    if (filled && !at_is_stopped(d->stop) && !d->is_whole && !d->is_bare) put_extremes(d);
    fill_pattern(d);
    return filled;
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
        chooses |= at_dataset_calculates(x->body, AT_X_SELECT);
        multiplies |= at_dataset_calculates(x->body, AT_X_MUL);
        if (d->is_exact && (multiplies || (x->num_reduce && !extreme))) return false;
    }
    return !chooses || !multiplies;
}

/* Where nothing is added up an element that is not a number hides no others: every 16th is not, in
 * each lane in turn. */
static void add_nans(const at_dataset *d, int t, void *to, at_rng *rng) {
    enum { STEP = 16, LANES = 5 };
    const int64_t n = at_dataset_elements(d, t), first = (int64_t)at_rng_below(rng, STEP);
    for (int64_t k = 0; k < n / STEP; k++)
        at_type_store(d->compute->tensors[t].type, to, k * STEP + (first + LANES * k) % STEP, NAN);
}

void at_dataset_add_specials(at_dataset *d, uint64_t seed) {
    static const float specials[] = {NAN, INFINITY, -INFINITY, -0.0f};
    enum { NUM_SPECIALS = sizeof specials / sizeof *specials, LEAST = 64 };
    if (!takes_specials(d)) return;
    d->has_specials = true;
    for (int t = 0; t < d->compute->num_tensors; t++) {
        const at_tensor *x = &d->compute->tensors[t];
        int64_t n = at_dataset_elements(d, t);
        const bool is_int = at_type_of(x->type)->is_int;
        if (x->role != AT_ROLE_INPUT || is_int || d->given[t] || n < LEAST) continue;
        at_rng rng;
        at_rng_seed(&rng, seed, (uint64_t)t + 1);
        void *to = at_store_at(d->store, d->offset[t]);
        if (d->is_exact) add_nans(d, t, to, &rng);
        for (int i = 0; i < NUM_SPECIALS; i++)
            at_type_store(x->type, to, (int64_t)at_rng_below(&rng, (uint64_t)n), specials[i]);
    }
}

void at_dataset_keep_one_channel(at_dataset *d, uint64_t seed) {
    if (d->is_exact || !at_compute_is_transform(d->compute)) return;
    for (int t = 0; t < d->compute->num_tensors; t++) {
        const at_tensor *x = &d->compute->tensors[t];
        if (x->role != AT_ROLE_INPUT || x->type != AT_F32 || d->given[t] || x->num_axes < 2)
            continue;
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
