/* engine/dataset.c: input data and the reference they are checked against (design: exact integer
 * data, so that every order of summation gives the same bits). */
#include "engine/dataset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_DIMS = 32,         /* of a tensor; schedule/ takes no more */
    range_of_reals = 8,    /* where sums are exact on no integers */
    highest_exponent = 90, /* the exponential of 89 is no float */
    AT_ONCE = 1 << 20      /* elements that are filled without a look at stop */
};

bool at_dataset_keeps(const at_tensor *t) { return t->role != AT_ROLE_STAGE || t->is_output; }

at_status at_dataset_new(at_arena *a, const at_compute *c, const int64_t *values,
                         const int *const *layouts, at_store *shared, at_dataset *out,
                         at_error *err) {
    at_dataset d = {.compute = c, .values = values, .layouts = layouts, .store = shared};
    d.shares_store = shared != NULL;
    d.scale = 1;
    d.plain = AT_NEW_ARRAY(a, void *, c->num_tensors);
    d.plain_expected = AT_NEW_ARRAY(a, void *, c->num_tensors);
    d.plain_limits = AT_NEW_ARRAY(a, void *, c->num_tensors);
    d.given = AT_NEW_ARRAY(a, const float *, c->num_tensors);
    d.indices = AT_NEW_ARRAY(a, const int32_t *, c->num_tensors);
    d.bound = AT_NEW_ARRAY(a, double, c->num_tensors);
    d.factor = AT_NEW_ARRAY(a, double, c->num_tensors);
    d.entries = AT_NEW_ARRAY(a, at_index_range, c->num_tensors);
    AT_TRY(at_compute_extents(a, c, values, &d.extents, err));
    d.size_bytes = AT_NEW_ARRAY(a, int64_t, c->num_tensors);
    d.offset = AT_NEW_ARRAY(a, int64_t, c->num_tensors);
    d.expected = AT_NEW_ARRAY(a, int64_t, c->num_tensors);
    if (!shared) AT_TRY(at_store_new(&d.store, err));
    at_status s = AT_OK;
    for (int t = 0; t < c->num_tensors && s == AT_OK; t++) {
        const at_tensor *tensor = &c->tensors[t];
        d.offset[t] = d.expected[t] = -1;
        d.bound[t] = -1;
        if (!at_dataset_keeps(tensor)) continue;
        int64_t size = 4;
        for (int i = 0; i < tensor->num_axes && s == AT_OK; i++)
            if (!at_mul64(size, d.extents[t][i], &size))
                s = at_fail(err, AT_E_USAGE, "tensor %s exceeds 2^63 bytes", tensor->name);
        d.size_bytes[t] = size;
        if (s == AT_OK) s = at_store_reserve(d.store, tensor->name, size, &d.offset[t], err);
    }
    if (s == AT_OK) *out = d;
    else if (!shared) at_store_free(d.store);
    return s;
}

void at_dataset_free(at_dataset *d) {
    for (int t = 0; t < d->compute->num_tensors; t++)
        free(d->plain[t]), free(d->plain_expected[t]), free(d->plain_limits[t]);
    if (!d->shares_store) at_store_free(d->store);
    d->store = NULL;
}

/* Of an output's expected values, with their limits. */
static int64_t expected_bytes(const at_dataset *d, int tensor) {
    return d->size_bytes[tensor] * (d->is_exact ? 1 : 2);
}

int64_t at_dataset_bytes(const at_dataset *d) {
    int64_t bytes = 0;
    for (int t = 0; t < d->compute->num_tensors; t++) {
        bytes += d->size_bytes[t];
        if (d->compute->tensors[t].is_output) bytes += expected_bytes(d, t);
    }
    return bytes;
}

static double share_of(const at_dataset *d, bool with_not_finite) {
    double most = 0;
    for (int t = 0; t < d->compute->num_tensors; t++) {
        int64_t n = d->size_bytes[t] / 4, count = 0;
        if (!d->compute->tensors[t].is_output || n == 0) continue;
        const float *p = at_store_at(d->store, d->expected[t]);
        for (int64_t i = 0; i < n; i++) count += p[i] == 0 || (with_not_finite && !isfinite(p[i]));
        most = fmax(most, (double)count / (double)n);
    }
    return most;
}

double at_dataset_zeros(const at_dataset *d) { return share_of(d, false); }

double at_dataset_idle(const at_dataset *d) { return share_of(d, true); }

bool at_dataset_shrink(at_dataset *d, double times) {
    bool any = false;
    for (int t = 0; t < d->compute->num_tensors && !d->is_exact; t++) {
        const at_tensor *x = &d->compute->tensors[t];
        any |= x->role != AT_ROLE_STAGE && !x->is_int && !d->given[t];
    }
    if (any) d->scale /= times;
    return any;
}

/* Elements are 4 bytes, whatever they mean. Goes through the packed tensor row by row and steps
 * through the plain one. */
static void permute(uint32_t *packed, uint32_t *plain, int n, const int64_t *extents,
                    const int *order, bool unpack) {
    int64_t step[MAX_DIMS] = {0}, index[MAX_DIMS] = {0}, stride = 1, at = 0;
    for (int i = n - 1; i >= 0; i--) {
        step[order[i]] = stride;
        stride *= extents[order[i]];
    }
    const int64_t row = extents[n - 1], row_step = step[n - 1];
    for (int64_t done = 0; done < stride; done += row, packed += row) {
        if (unpack)
            for (int64_t i = 0; i < row; i++) plain[at + i * row_step] = packed[i];
        else
            for (int64_t i = 0; i < row; i++) packed[i] = plain[at + i * row_step];
        for (int axis = n - 2; axis >= 0; axis--) {
            at += step[axis];
            if (++index[axis] < extents[axis]) break;
            at -= step[axis] * extents[axis];
            index[axis] = 0;
        }
    }
}

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

void at_dataset_give(at_dataset *d, int tensor, const float *values) {
    d->given[tensor] = values;
    d->bound[tensor] = 0;
    for (int64_t i = 0; i < d->size_bytes[tensor] / 4; i++) {
        d->bound[tensor] = fmax(d->bound[tensor], fabs((double)values[i]));
        d->real |= values[i] != floorf(values[i]);
    }
}

void at_dataset_give_indices(at_dataset *d, int tensor, const int32_t *entries) {
    d->indices[tensor] = entries;
}

static at_index_range range_of_given(const at_dataset *d, int tensor) {
    at_index_range r = {0};
    for (int64_t i = 0; i < d->size_bytes[tensor] / 4; i++)
        if (d->indices[tensor][i] > r.hi) r.hi = d->indices[tensor][i];
    return r;
}

/* What index tensors hold that no pattern fills. */
static at_status find_entries(at_dataset *d, at_error *err) {
    at_arena *a = at_arena_new();
    at_status s = at_compute_index_ranges(a, d->compute, d->values, d->entries, err);
    for (int t = 0; t < d->compute->num_tensors && s == AT_OK; t++)
        if (d->compute->tensors[t].is_int) {
            if (d->indices[t]) d->entries[t] = range_of_given(d, t);
            d->bound[t] = (double)d->entries[t].hi;
        }
    at_arena_free(a);
    return s;
}

/* Terms of a reduction whose bounds are data, at most. */
static int64_t longest_reduction(const at_dataset *d) {
    int64_t longest = 0;
    if (d->pattern) return d->pattern->longest;
    for (int t = 0; t < d->compute->num_tensors; t++)
        for (int i = 0; i < d->compute->tensors[t].num_axes; i++)
            if (d->extents[t][i] > longest) longest = d->extents[t][i];
    return longest;
}

at_status at_dataset_expect(at_dataset *d, at_error *err) {
    if (!d->pattern) AT_TRY(find_entries(d, err));
    d->range =
        d->real ? 0 : at_compute_exact_range(d->compute, d->values, d->bound, longest_reduction(d));
    d->is_exact = d->range > 0;
    if (!d->is_exact) d->range = range_of_reals;
    at_dataset_find_factors(d, longest_reduction(d));
    for (int t = 0; t < d->compute->num_tensors; t++) {
        const at_tensor *tensor = &d->compute->tensors[t];
        if (tensor->is_output)
            AT_TRY(at_store_reserve(d->store, tensor->name, expected_bytes(d, t), &d->expected[t],
                                    err));
    }
    return AT_OK;
}

/* Values of the user's, in the layout that the tensor has now. */
static void fill_given(at_dataset *d, int t) {
    uint32_t *to = at_store_at(d->store, d->offset[t]), *from = (uint32_t *)(uintptr_t)d->given[t];
    if (d->layouts[t] && d->size_bytes[t])
        permute(to, from, d->compute->tensors[t].num_axes, d->extents[t], d->layouts[t], false);
    else memcpy(to, from, (size_t)d->size_bytes[t]);
}

/* Is there an exponential of what lies below a maximum? Then inputs are so large that without the
 * maximum it overflows; with it, it is what it would be near 0. */
static bool is_below_maximum(const at_dataset *d, const at_expr *e, bool in_exp) {
    in_exp |= e->op == AT_X_CALL && e->integer == AT_FUNCTION_EXP;
    if (in_exp && e->op == AT_X_SUB && e->arg[1]->op == AT_X_INDEX) {
        const at_tensor *t = &d->compute->tensors[e->arg[1]->ref];
        if (t->num_reduce && t->reduction == AT_REDUCE_MAX) return true;
    }
    for (int i = 0; i < e->nargs && e->op != AT_X_INDEX; i++)
        if (is_below_maximum(d, e->arg[i], in_exp)) return true;
    return false;
}

static bool takes_high_inputs(const at_dataset *d) {
    for (int t = 0; t < d->compute->num_tensors && !d->is_exact; t++)
        if (d->compute->tensors[t].role == AT_ROLE_STAGE &&
            is_below_maximum(d, d->compute->tensors[t].body, false))
            return true;
    return false;
}

/* The polar method, G. Marsaglia and T. A. Bray, 1964. */
static void fill_normal(float *p, int64_t n, at_rng *rng) {
    for (int64_t i = 0; i < n;) {
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

void at_dataset_fill_normal(at_dataset *d, uint64_t seed) {
    d->version++;
    for (int t = 0; t < d->compute->num_tensors; t++) {
        const at_tensor *tensor = &d->compute->tensors[t];
        at_rng rng;
        if (tensor->role == AT_ROLE_STAGE || tensor->is_int) continue;
        at_rng_seed(&rng, seed, (uint64_t)t + 1);
        if (d->given[t]) fill_given(d, t);
        else fill_normal(at_store_at(d->store, d->offset[t]), d->size_bytes[t] / 4, &rng);
    }
    fill_pattern(d);
}

bool at_dataset_fill(at_dataset *d, uint64_t seed) {
    bool filled = true;
    const bool high = takes_high_inputs(d);
    const at_pattern *p = d->pattern;
    const int b = d->range;
    d->version++;
    for (int t = 0; t < d->compute->num_tensors && filled; t++) {
        const at_tensor *tensor = &d->compute->tensors[t];
        if (tensor->role == AT_ROLE_STAGE || (tensor->is_int && p)) continue;
        at_rng rng;
        at_rng_seed(&rng, seed, (uint64_t)t + 1);
        float *to = at_store_at(d->store, d->offset[t]);
        int64_t n = d->size_bytes[t] / 4;
        const double scale = d->scale * d->factor[t];
        if (d->indices[t]) memcpy(to, d->indices[t], (size_t)d->size_bytes[t]);
        else if (tensor->is_int)
            at_index_fill(&d->entries[t], n, &rng, at_store_at(d->store, d->offset[t]));
        else if (d->given[t]) fill_given(d, t);
        else if (d->is_exact) fill_integers(d, to, n, -(b / 2), b, p && t == d->bsr.blocks, &rng);
        else if (high && tensor->role == AT_ROLE_INPUT)
            fill_reals(d, to, n, scale * (highest_exponent - b - b / 2), scale * highest_exponent,
                       &rng);
        else fill_reals(d, to, n, -scale * (b / 2), scale * b, &rng);
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
    for (int t = 0; t < d->compute->num_tensors; t++) {
        const at_tensor *x = &d->compute->tensors[t];
        if (x->role != AT_ROLE_STAGE) continue;
        bool extreme = x->reduction == AT_REDUCE_MAX || x->reduction == AT_REDUCE_MIN;
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
        int64_t n = d->size_bytes[t] / 4;
        if (x->role != AT_ROLE_INPUT || d->given[t] || n < LEAST) continue;
        at_rng rng;
        at_rng_seed(&rng, seed, (uint64_t)t + 1);
        float *to = at_store_at(d->store, d->offset[t]);
        for (int i = 0; i < NUM_SPECIALS; i++) to[at_rng_below(&rng, (uint64_t)n)] = specials[i];
    }
}

void at_dataset_keep_one_channel(at_dataset *d, uint64_t seed) {
    if (d->is_exact || !at_compute_has_tables(d->compute)) return;
    for (int t = 0; t < d->compute->num_tensors; t++) {
        const at_tensor *x = &d->compute->tensors[t];
        if (x->role != AT_ROLE_INPUT || x->is_int || d->given[t] || x->num_axes < 2) continue;
        at_rng rng;
        at_rng_seed(&rng, seed, (uint64_t)t + 1);
        float *to = at_store_at(d->store, d->offset[t]);
        int64_t row = d->extents[t][x->num_axes - 1], n = d->size_bytes[t] / 4;
        for (int64_t i = 0; i < n; i += row) {
            int64_t kept = (int64_t)at_rng_below(&rng, (uint64_t)row);
            for (int64_t k = 0; k < row; k++)
                if (k != kept) to[i + k] = 0;
        }
    }
}

/* ---- shapes that depend on the configuration ------------------------------------------------- */

static int64_t elements(const at_tensor *t, const int64_t *extents) {
    int64_t n = 1;
    for (int i = 0; i < t->num_axes; i++) n *= extents[i];
    return n;
}

static bool same_shape(const at_tensor *t, const int64_t *x, const int64_t *y) {
    return !memcmp(x, y, sizeof *x * (size_t)t->num_axes);
}

const char *at_dataset_misfit(const at_dataset *d, int64_t *const *extents) {
    for (int t = 0; t < d->compute->num_tensors; t++) {
        const at_tensor *tensor = &d->compute->tensors[t];
        if (!at_dataset_keeps(tensor) || same_shape(tensor, extents[t], d->extents[t])) continue;
        if (!d->layouts[t] || elements(tensor, extents[t]) * 4 != d->size_bytes[t])
            return tensor->name;
    }
    return NULL;
}

/* Lays one tensor of the store out anew. */
static bool reshape(at_dataset *d, int t, int64_t offset, void **plain, const int64_t *extents) {
    int n = d->compute->tensors[t].num_axes;
    uint32_t *packed = at_store_at(d->store, offset);
    if (!d->size_bytes[t]) return true;
    if (!*plain) {
        if (!(*plain = malloc((size_t)d->size_bytes[t]))) return false;
        permute(packed, *plain, n, d->extents[t], d->layouts[t], true);
    }
    permute(packed, *plain, n, extents, d->layouts[t], false);
    return true;
}

at_status at_dataset_shape(at_dataset *d, int64_t *const *extents, at_error *err) {
    for (int t = 0; t < d->compute->num_tensors; t++) {
        const at_tensor *tensor = &d->compute->tensors[t];
        if (!at_dataset_keeps(tensor) || same_shape(tensor, extents[t], d->extents[t])) continue;
        int64_t expected = d->expected[t];
        if (!reshape(d, t, d->offset[t], &d->plain[t], extents[t]) ||
            (tensor->is_output && !reshape(d, t, expected, &d->plain_expected[t], extents[t])) ||
            (tensor->is_output && !d->is_exact &&
             !reshape(d, t, expected + d->size_bytes[t], &d->plain_limits[t], extents[t])))
            return at_fail(err, AT_E_USAGE, "%s: no memory for another layout", tensor->name);
        memcpy(d->extents[t], extents[t], sizeof *extents[t] * (size_t)tensor->num_axes);
        d->version++;
    }
    return AT_OK;
}

static at_status copy_in_store(at_store *store, const char *name, int64_t from, int64_t bytes,
                               int64_t *to, at_error *err) {
    if (from < 0) return *to = -1, AT_OK;
    AT_TRY(at_store_reserve(store, name, bytes, to, err));
    memcpy(at_store_at(store, *to), at_store_at(store, from), (size_t)bytes);
    return AT_OK;
}

at_status at_dataset_twin(at_arena *a, const at_dataset *d, at_dataset *out, at_error *err) {
    int n = d->compute->num_tensors;
    at_dataset twin = *d;
    twin.shares_store = true;
    twin.plain = AT_NEW_ARRAY(a, void *, n);
    twin.plain_expected = AT_NEW_ARRAY(a, void *, n);
    twin.plain_limits = AT_NEW_ARRAY(a, void *, n);
    twin.offset = AT_NEW_ARRAY(a, int64_t, n);
    twin.expected = AT_NEW_ARRAY(a, int64_t, n);
    twin.extents = AT_NEW_ARRAY(a, int64_t *, n);
    for (int t = 0; t < n; t++) {
        const at_tensor *tensor = &d->compute->tensors[t];
        twin.extents[t] =
            at_copy(a, d->extents[t], sizeof *d->extents[t] * (size_t)tensor->num_axes);
        AT_TRY(copy_in_store(d->store, tensor->name, d->offset[t], d->size_bytes[t],
                             &twin.offset[t], err));
        AT_TRY(copy_in_store(d->store, tensor->name, d->expected[t], expected_bytes(d, t),
                             &twin.expected[t], err));
    }
    *out = twin;
    return AT_OK;
}
