/* schedule/given_range.c: what callers may give for inputs that are narrower in a kernel than where
 * they come from: each element is checked on the way in. */
#include "schedule/schedule_int.h"

typedef struct asker {
    const at_compute *c;
    const int64_t *values;
    const at_index_range *found; /* of index tensors, which all reads allow */
    const at_data *data;
    const int64_t *elements;
} asker;

static void fill(const asker *x, int t, int64_t entry) {
    for (int64_t i = 0; i < x->elements[t]; i++) x->data[t].i[i] = (int32_t)entry;
}

/* Bounds of reductions, between which every place is read. */
static void fill_ascending(const asker *x, int t) {
    const at_index_range *r = &x->found[t];
    const int64_t n = x->elements[t];
    for (int64_t i = 0; i < n; i++)
        x->data[t].i[i] = (int32_t)(r->lo + (n > 1 ? (r->hi - r->lo) * i / (n - 1) : 0));
}

/* Do all reads stay within their tensors where the entries of t are this, and those of the others
 * the least, or the largest, that are allowed, or ascend from that to this? */
static bool allows(const asker *x, int t, int64_t entry) {
    bool ok = true;
    for (int largest = 0; largest < 2 && ok; largest++) {
        for (int k = 0; k < x->c->num_tensors; k++)
            if (k == t) fill(x, k, entry);
            else if (x->found[k].ascends) fill_ascending(x, k);
            else if (x->c->tensors[k].role == AT_ROLE_INDEX)
                fill(x, k, largest ? x->found[k].hi : x->found[k].lo);
        ok = at_compute_check_reads(x->c, x->values, x->data, NULL, NULL) == AT_OK;
    }
    return ok;
}

/* The last of those that are allowed, from one that is on towards `end`. */
static int64_t last_allowed(const asker *x, int t, int64_t from, int64_t end) {
    const int64_t step = end < from ? -1 : 1;
    if (from == end || !allows(x, t, from + step)) return from;
    if (allows(x, t, end)) return end;
    while (from + step != end) {
        const int64_t middle = from + (end - from) / 2;
        if (allows(x, t, middle)) from = middle;
        else end = middle;
    }
    return from;
}

at_status at_compute_entry_ranges(at_arena *a, const at_compute *c, const int64_t *values,
                                  at_index_range *out, at_error *err) {
    const int n = c->num_tensors;
    at_index_range *found = AT_NEW_ARRAY(a, at_index_range, n);
    at_data *data = AT_NEW_ARRAY(a, at_data, n);
    int64_t *elements = AT_NEW_ARRAY(a, int64_t, n), **extents;
    AT_TRY(at_compute_extents(a, c, values, &extents, err));
    AT_TRY(at_compute_index_ranges(a, c, values, found, NULL, err));
    const asker x = {c, values, found, data, elements};
    for (int t = 0; t < n; t++) {
        out[t] = found[t];
        if (c->tensors[t].role != AT_ROLE_INDEX || found[t].is_unknown) continue;
        elements[t] = at_tensor_elements(&c->tensors[t], extents[t]);
        data[t].i = AT_NEW_ARRAY(a, int32_t, elements[t]);
    }
    for (int t = 0; t < n; t++) {
        if (c->tensors[t].role != AT_ROLE_INDEX) continue;
        if (found[t].is_unknown)
            out[t] = (at_index_range){.lo = INT32_MIN, .hi = INT32_MAX, .is_unknown = true};
        else if (!found[t].ascends && allows(&x, t, found[t].hi)) {
            out[t].hi = last_allowed(&x, t, found[t].hi, INT32_MAX);
            out[t].lo = allows(&x, t, found[t].lo) ? last_allowed(&x, t, found[t].lo, INT32_MIN)
                                                   : found[t].lo;
        }
    }
    return AT_OK;
}

bool at_tensor_is_checked(const at_tensor *t) {
    return t->role != AT_ROLE_STAGE && (t->is_s64 || t->type == AT_BOOL);
}

at_status at_compute_given_ranges(at_arena *a, const at_compute *c, const int64_t *values,
                                  at_index_range *out, at_error *err) {
    bool any = false;
    for (int t = 0; t < c->num_tensors; t++) any |= c->tensors[t].role == AT_ROLE_INDEX;
    if (any) AT_TRY(at_compute_entry_ranges(a, c, values, out, err));
    for (int t = 0; t < c->num_tensors; t++) {
        if (c->tensors[t].role == AT_ROLE_INDEX) continue;
        if (c->tensors[t].type == AT_BOOL) out[t] = (at_index_range){.hi = 1};
        else if (c->tensors[t].is_s64)
            out[t] = (at_index_range){.lo = -(int64_t)AT_MOST_GIVEN, .hi = (int64_t)AT_MOST_GIVEN};
    }
    return AT_OK;
}
