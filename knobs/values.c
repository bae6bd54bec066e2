/* knobs/values.c: a knob of which nothing is known but its values: that of a file of another tuner.
 */
#include "knobs/knobs_int.h"

static bool is_same_form(const at_entity *x, const at_entity *y) {
    return x->kind == y->kind && x->n == y->n && !x->marks == !y->marks;
}

at_status at_space_values(at_space *s, const char *name, const at_entity *values, int64_t n,
                          at_error *err) {
    if (n > AT_MAX_ENTITIES) return at_knob_too_many(name, err);
    int parts = values->kind == AT_KNOB_OPTION ? 1 : values->n;
    at_knob *k = at_knob_new(s, values->kind, name, "", parts);
    at_json const **options = AT_NEW_ARRAY(s->arena, const at_json *, n);
    const char **marks = AT_NEW_ARRAY(s->arena, const char *, n *parts);
    int64_t *sizes = AT_NEW_ARRAY(s->arena, int64_t, n * parts);
    for (int64_t i = 0; i < n; i++) {
        const at_entity *e = &values[i];
        if (!is_same_form(e, values))
            return at_fail(err, AT_E_INPUT,
                           "knob %s: value %lld is of another kind or has other parts than the "
                           "first; all of a knob are alike",
                           name, (long long)i + 1);
        options[i] = e->option;
        for (int part = 0; part < parts && e->kind != AT_KNOB_OPTION; part++)
            if (e->marks) marks[i * parts + part] = e->marks[part];
            else sizes[i * parts + part] = e->sizes[part];
    }
    k->count = n;
    k->listed = true;
    if (k->kind == AT_KNOB_OPTION) k->options = options;
    else if (values->marks) k->marks = marks;
    else k->values = sizes;
    return at_space_put(s, k, err);
}
