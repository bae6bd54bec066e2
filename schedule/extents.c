/* schedule/extents.c: the numeric extents of a computation for given sizes. */
#include "schedule/schedule_int.h"

int64_t at_tensor_elements(const at_tensor *t, const int64_t *extents) {
    int64_t n = 1;
    for (int i = 0; i < t->num_axes; i++) n *= extents[i];
    return n;
}

static at_status tensor_extents(const at_compute *c, int tensor, const int64_t *values,
                                int64_t *extents, at_error *err) {
    const at_tensor *t = &c->tensors[tensor];
    int64_t elements = 1, least = t->role == AT_ROLE_STAGE ? 1 : 0;
    bool exceeds = false, empty = false;
    for (int i = 0; i < axes_of(t); i++) {
        extents[i] = -1;
        if (t->axes[i].begin) continue;
        const char *name = t->axes[i].name;
        if (at_expr_eval(t->axes[i].extent, values, &extents[i], err) != AT_OK)
            return at_fail_at(err, "%s:%d: extent %d of \"%s\": ", t->what, t->line, i + 1,
                              t->name);
        if (extents[i] < least)
            return at_fail(err, AT_E_INPUT,
                           "%s:%d: extent %d%s%s%s of \"%s\" is %lld; at least %lld is accepted",
                           t->what, t->line, i + 1, name ? " (" : "", name ? name : "",
                           name ? ")" : "", t->name, (long long)extents[i], (long long)least);
        if (i >= t->num_axes) continue;
        empty |= extents[i] == 0;
        exceeds |= !exceeds && !empty && !at_mul64(elements, extents[i], &elements);
    }
    if (exceeds && !empty)
        return at_fail(err, AT_E_INPUT, "%s:%d: \"%s\" exceeds 2^63 elements", t->what, t->line,
                       t->name);
    return AT_OK;
}

static at_status check_divisor(const at_compute *c, const divisor *d, const int64_t *values,
                               at_error *err) {
    const at_tensor *t = &c->tensors[d->tensor];
    int64_t x;
    if (at_expr_eval(d->expr, values, &x, err) != AT_OK)
        return at_fail_at(err, "%s:%d: divisor in \"%s\": ", t->what, t->line, t->name);
    if (x >= 1) return AT_OK;
    at_text text = {0};
    at_expr_print(&text, d->expr);
    at_fail(err, AT_E_INPUT, "%s:%d: \"%s\" divides by %s, which is %lld; at least 1 is accepted",
            t->what, t->line, t->name, at_text_str(&text), (long long)x);
    at_text_free(&text);
    return AT_E_INPUT;
}

/* The factors were checked as divisors: all are at least 1. */
static at_status check_digits(const at_compute *c, const digit_set *d, const int64_t *values,
                              int64_t *const *extents, at_error *err) {
    int64_t product = 1, whole = extents[d->tensor][d->axis];
    for (int i = 0; i < d->num_extents; i++) {
        int64_t x = 1;
        AT_TRY(at_expr_eval(d->extents[i], values, &x, err));
        if (!at_mul64(product, x, &product)) return AT_OK;
    }
    if (product >= whole) return AT_OK;
    const at_tensor *t = &c->tensors[d->tensor];
    return at_fail(err, AT_E_INPUT,
                   "%s:%d: \"%s\": digits with %lld values cannot count axis \"%s\" of extent %lld",
                   t->what, t->line, t->name, (long long)product, t->axes[d->axis].name,
                   (long long)whole);
}

int64_t **extents_room(at_arena *a, const at_compute *c) {
    int total = 0;
    for (int i = 0; i < c->num_tensors; i++) total += axes_of(&c->tensors[i]);
    int64_t **extents = AT_NEW_ARRAY(a, int64_t *, c->num_tensors);
    int64_t *next = AT_NEW_ARRAY(a, int64_t, total);
    for (int i = 0; i < c->num_tensors; i++) {
        extents[i] = next;
        next += axes_of(&c->tensors[i]);
    }
    return extents;
}

at_status fill_extents(const at_compute *c, const int64_t *values, const watched *w,
                       uint64_t changes, int64_t **extents, at_error *err) {
    const compute_info *info = info_of(c);
    for (int i = 0; i < c->num_tensors; i++)
        if (!w || is_changed(w->tensor[i], changes))
            AT_TRY(tensor_extents(c, i, values, extents[i], err));
    for (int i = 0; i < info->divisors.len; i++)
        if (!w || is_changed(w->divisor[i], changes))
            AT_TRY(check_divisor(c, &info->divisors.data[i], values, err));
    for (int i = 0; i < info->digit_sets.len; i++)
        if (!w || is_changed(w->digits[i], changes))
            AT_TRY(check_digits(c, &info->digit_sets.data[i], values, extents, err));
    return AT_OK;
}

at_status at_compute_extents(at_arena *a, const at_compute *c, const int64_t *values,
                             int64_t ***out, at_error *err) {
    int64_t **extents = extents_room(a, c);
    AT_TRY(fill_extents(c, values, NULL, 0, extents, err));
    *out = extents;
    return AT_OK;
}
