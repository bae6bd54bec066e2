/* engine/data/dataset.c: room for input data and for what they are checked against, and the shapes
 * that the tensors have there. */
#include "engine/data/dataset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIMS = 32 }; /* of a tensor; schedule/ takes no more */

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
        int64_t size = at_type_bytes(tensor->type);
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

int64_t at_dataset_expected_bytes(const at_dataset *d, int tensor) {
    if (d->is_exact) return d->size_bytes[tensor];
    return at_limits_at(d->size_bytes[tensor]) +
           at_dataset_elements(d, tensor) * (int64_t)sizeof(float);
}

int64_t at_dataset_bytes(const at_dataset *d) {
    int64_t bytes = 0;
    for (int t = 0; t < d->compute->num_tensors; t++) {
        bytes += d->size_bytes[t];
        if (d->compute->tensors[t].is_output) bytes += at_dataset_expected_bytes(d, t);
    }
    return bytes;
}

double at_dataset_expected(const at_dataset *d, int tensor, int64_t i) {
    return at_type_value(d->compute->tensors[tensor].type,
                         at_store_at(d->store, d->expected[tensor]), i);
}

double at_dataset_size(const at_dataset *d, int tensor) {
    const int64_t n = at_dataset_elements(d, tensor);
    double squares = 0;
    for (int64_t i = 0; i < n; i++) {
        const double x = at_dataset_expected(d, tensor, i);
        if (isfinite(x)) squares += x * x;
    }
    return n ? sqrt(squares / (double)n) : 0;
}

float *at_dataset_limits(const at_dataset *d, int tensor) {
    return at_store_at(d->store, d->expected[tensor] + at_limits_at(d->size_bytes[tensor]));
}

bool at_dataset_is_idle(const at_dataset *d, double *share) {
    bool is_idle = false;
    *share = 0;
    for (int t = 0; t < d->compute->num_tensors; t++) {
        const at_tensor *tensor = &d->compute->tensors[t];
        const int64_t n = at_dataset_elements(d, t);
        int64_t zeros = 0, others = 0;
        if (!tensor->is_output || n == 0) continue;
        const float *limit = d->is_exact ? NULL : at_dataset_limits(d, t);
        for (int64_t i = 0; i < n; i++) {
            const double x = at_dataset_expected(d, t, i);
            zeros += x == 0;
            others += !isfinite(x) || (limit && isinf(limit[i]));
        }
        *share = fmax(*share, (double)(zeros + others) / (double)n);
        is_idle |= zeros > n / 4 * 3 || others > n / 64;
    }
    return is_idle;
}

at_same at_dataset_same(const at_dataset *d) {
    enum { LOOKED_AT = 4096 };
    at_same most = {.tensor = -1};
    for (int t = 0; t < d->compute->num_tensors; t++) {
        const int64_t n = at_dataset_elements(d, t), step = n / LOOKED_AT + 1;
        const at_tensor *tensor = &d->compute->tensors[t];
        if (!tensor->is_output || n < 2) continue;
        double seen[LOOKED_AT];
        int num = 0;
        for (int64_t i = 0; i < n; i += step) {
            const double x = at_dataset_expected(d, t, i);
            seen[num++] = x == x ? x : INFINITY;
        }
        at_sort_doubles(seen, num);
        for (int i = 0, first = 0; i < num; i++) {
            if (seen[i] != seen[first]) first = i;
            const double share = (i - first + 1.0) / num;
            if (share > most.share) most = (at_same){t, seen[first], share};
        }
    }
    return most;
}

bool at_dataset_shrink(at_dataset *d, double times) {
    bool any = false;
    if (d->is_exact || d->compute->in_steps) return false;
    for (int t = 0; t < d->compute->num_tensors; t++) {
        const at_tensor *x = &d->compute->tensors[t];
        any |= x->role != AT_ROLE_STAGE && x->role != AT_ROLE_INDEX && !d->given[t];
    }
    if (any) d->scale /= times;
    return any;
}

/* Elements are so many bytes, whatever they mean. Goes through the packed tensor row by row and
 * steps through the plain one. */
static void permute(char *packed, char *plain, size_t bytes, int n, const int64_t *extents,
                    const int *order, bool unpack) {
    int64_t step[MAX_DIMS] = {0}, index[MAX_DIMS] = {0}, stride = 1, at = 0;
    for (int i = n - 1; i >= 0; i--) {
        step[order[i]] = stride;
        stride *= extents[order[i]];
    }
    const int64_t row = extents[n - 1], row_step = step[n - 1];
    for (int64_t done = 0; done < stride; done += row) {
        for (int64_t i = 0; i < row; i++, packed += bytes) {
            char *one = plain + (int64_t)bytes * (at + i * row_step);
            memcpy(unpack ? one : packed, unpack ? packed : one, bytes);
        }
        for (int axis = n - 2; axis >= 0; axis--) {
            at += step[axis];
            if (++index[axis] < extents[axis]) break;
            at -= step[axis] * extents[axis];
            index[axis] = 0;
        }
    }
}

void at_dataset_give(at_dataset *d, int tensor, const float *values) {
    d->given[tensor] = values;
    d->bound[tensor] = 0;
    for (int64_t i = 0; i < at_dataset_elements(d, tensor); i++) {
        const double x = at_type_value(d->compute->tensors[tensor].type, values, i);
        d->bound[tensor] = fmax(d->bound[tensor], fabs(x));
        d->real |= x != floor(x);
    }
}

void at_dataset_give_indices(at_dataset *d, int tensor, const int32_t *entries) {
    d->indices[tensor] = entries;
}

static at_index_range range_of_given(const at_dataset *d, int tensor) {
    at_index_range r = {0};
    for (int64_t i = 0; i < at_dataset_elements(d, tensor); i++) {
        const int32_t entry = d->indices[tensor][i];
        if (entry > r.hi) r.hi = entry;
        if (entry < r.lo) r.lo = entry;
    }
    return r;
}

/* What index tensors hold that no pattern fills. */
static at_status find_entries(at_dataset *d, at_error *err) {
    at_arena *a = at_arena_new();
    at_status s = at_compute_index_ranges(a, d->compute, d->values, d->entries, d->stop, err);
    for (int t = 0; t < d->compute->num_tensors && s == AT_OK; t++)
        if (d->compute->tensors[t].role == AT_ROLE_INDEX) {
            if (d->indices[t]) d->entries[t] = range_of_given(d, t);
            d->bound[t] = at_index_bound(&d->entries[t]);
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

static bool is_op(const at_expr *e, const void *op) { return e->op == *(const at_op *)op; }

bool at_dataset_calculates(const at_expr *e, at_op op) { return at_expr_find_value(e, is_op, &op); }

/* Does it add up and choose from step to step, so that integers may stay as small as floats hold
 * them, however often they could be doubled? The run will tell. */
static bool grows_by_sums(const at_dataset *d) {
    const at_compute *c = d->compute;
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].role == AT_ROLE_STAGE &&
            at_dataset_calculates(c->tensors[t].body, AT_X_MUL))
            return false;
    return at_compute_has_recurrence(c) && at_compute_is_whole(c, d->values);
}

/* Which data there will be, by what they are to show. */
static at_status find_rule(at_arena *a, at_dataset *d, at_error *err) {
    const int n = d->compute->num_tensors;
    int64_t *num_entries = AT_NEW_ARRAY(a, int64_t, n);
    const int32_t **indices = at_copy(a, d->indices, sizeof *indices * (size_t)n);
    for (int t = 0; t < n; t++) num_entries[t] = at_dataset_elements(d, t);
    if (d->pattern) {
        indices[d->bsr.indices] = d->pattern->indices;
        indices[d->bsr.indptr] = d->pattern->indptr;
    }
    const at_data_known known = {.given = d->given,
                                 .indices = indices,
                                 .entries = d->entries,
                                 .num_entries = num_entries,
                                 .bound = d->bound,
                                 .is_real = d->real,
                                 .longest = longest_reduction(d)};
    return at_data_rule_find(a, d->compute, d->values, &known, &d->rule, err);
}

/* What a limit says of a float says nothing of an integer that is made of it: by the least
 * difference it may be another. */
static at_status check_steps(const at_compute *c, at_error *err) {
    const int unsteady = at_compute_unsteady_integers(c);
    if (unsteady >= 0)
        return at_fail(
            err, AT_E_INPUT,
            "%s: \"%s\" are integers made of a sum of floats, or of a function that "
            "rounds, whose last bits differ from kernel to kernel; what is checked within "
            "limits has f32 behind it",
            c->what, c->tensors[unsteady].name);
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].is_output && at_type_of(c->tensors[t].type)->is_int)
            return at_fail(err, AT_E_INPUT,
                           "%s: \"%s\" are integers beside outputs that are checked within limits: "
                           "make it a computation of its own",
                           c->what, c->tensors[t].name);
    return AT_OK;
}

at_status at_dataset_expect(at_arena *a, at_dataset *d, at_error *err) {
    if (!d->pattern) AT_TRY(find_entries(d, err));
    if (!d->rule.num_draws) AT_TRY(find_rule(a, d, err));
    d->is_exact = d->rule.is_exact;
    if (!d->is_exact && d->compute->in_steps) AT_TRY(check_steps(d->compute, err));
    d->is_whole = !d->is_exact && !d->real && grows_by_sums(d);
    for (int t = 0; t < d->compute->num_tensors; t++) {
        const at_tensor *tensor = &d->compute->tensors[t];
        if (tensor->is_output)
            AT_TRY(at_store_reserve(d->store, tensor->name, at_dataset_expected_bytes(d, t),
                                    &d->expected[t], err));
    }
    return AT_OK;
}

void at_dataset_lay_given(at_dataset *d, int t) {
    const at_tensor *tensor = &d->compute->tensors[t];
    char *to = at_store_at(d->store, d->offset[t]), *from = (char *)(uintptr_t)d->given[t];
    if (d->layouts[t] && d->size_bytes[t])
        permute(to, from, (size_t)at_type_bytes(tensor->type), tensor->num_axes, d->extents[t],
                d->layouts[t], false);
    else memcpy(to, from, (size_t)d->size_bytes[t]);
}

/* ---- shapes that depend on the configuration ------------------------------------------------- */

static bool same_shape(const at_tensor *t, const int64_t *x, const int64_t *y) {
    return !memcmp(x, y, sizeof *x * (size_t)t->num_axes);
}

const char *at_dataset_misfit(const at_dataset *d, int64_t *const *extents) {
    for (int t = 0; t < d->compute->num_tensors; t++) {
        const at_tensor *tensor = &d->compute->tensors[t];
        if (!at_dataset_keeps(tensor) || same_shape(tensor, extents[t], d->extents[t])) continue;
        if (!d->layouts[t] || at_tensor_elements(tensor, extents[t]) != at_dataset_elements(d, t))
            return tensor->name;
    }
    return NULL;
}

/* Lays one tensor of the store out anew. */
static bool reshape(at_dataset *d, int t, int64_t offset, at_type type, void **plain,
                    const int64_t *extents) {
    const int n = d->compute->tensors[t].num_axes;
    const size_t bytes = (size_t)at_type_bytes(type);
    char *packed = at_store_at(d->store, offset);
    if (!d->size_bytes[t]) return true;
    if (!*plain) {
        if (!(*plain = malloc((size_t)at_dataset_elements(d, t) * bytes))) return false;
        permute(packed, *plain, bytes, n, d->extents[t], d->layouts[t], true);
    }
    permute(packed, *plain, bytes, n, extents, d->layouts[t], false);
    return true;
}

at_status at_dataset_shape(at_dataset *d, int64_t *const *extents, at_error *err) {
    for (int t = 0; t < d->compute->num_tensors; t++) {
        const at_tensor *tensor = &d->compute->tensors[t];
        if (!at_dataset_keeps(tensor) || same_shape(tensor, extents[t], d->extents[t])) continue;
        int64_t expected = d->expected[t];
        const int64_t limits = expected + at_limits_at(d->size_bytes[t]);
        if (!reshape(d, t, d->offset[t], tensor->type, &d->plain[t], extents[t]) ||
            (tensor->is_output &&
             !reshape(d, t, expected, tensor->type, &d->plain_expected[t], extents[t])) ||
            (tensor->is_output && !d->is_exact &&
             !reshape(d, t, limits, AT_F32, &d->plain_limits[t], extents[t])))
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
        AT_TRY(copy_in_store(d->store, tensor->name, d->expected[t],
                             at_dataset_expected_bytes(d, t), &twin.expected[t], err));
    }
    *out = twin;
    return AT_OK;
}
