/* tests/sketch/interpreted.c: see interpreted.h. */
#include "tests/sketch/interpreted.h"

#include <math.h>
#include <string.h>

/* Points of each sketch: fewer of tasks that take long to interpret, which stand here for the
 * sketches that only long axes have. */
enum { MOST_POINTS = 12, LEAST_POINTS = 3 };
static const double operations = 6e5; /* of all points of a sketch, about */

/* Inputs of small integers by name; NULL for the rest. Index tensors: by their ranges. */
static at_data *data_for(at_arena *a, const at_compute *c, int64_t *const *extents,
                         const at_compute *whole, const at_index_range *ranges) {
    at_data *d = AT_NEW_ARRAY(a, at_data, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) {
        const at_tensor *x = &c->tensors[t];
        int64_t n = at_tensor_elements(x, extents[t]);
        if (x->role == AT_ROLE_STAGE) continue;
        at_rng rng;
        at_rng_seed(&rng, strlen(x->name), (uint64_t)x->name[0]);
        if (x->role == AT_ROLE_INDEX) {
            d[t].i = AT_NEW_ARRAY(a, int32_t, n);
            at_index_fill(&ranges[at_compute_find(whole, x->name)], 0, n, &rng, d[t].i);
            continue;
        }
        d[t].f = AT_NEW_ARRAY(a, float, n);
        for (int64_t i = 0; i < n; i++) d[t].f[i] = (float)at_rng_below(&rng, 7) - 2;
    }
    return d;
}

typedef struct expected {
    at_task *task;
    int64_t *values, **extents;
    at_data *data;
    at_index_range *ranges;
} expected;

static void interpret(at_arena *a, expected *x) {
    const at_compute *c = at_task_compute(x->task);
    at_config config;
    at_error err;
    if (at_task_default_config(a, x->task, 8, &config, &err) != AT_OK ||
        at_task_values(a, x->task, &config, &x->values, &err) != AT_OK ||
        at_compute_extents(a, c, x->values, &x->extents, &err) != AT_OK)
        fail_msg("%s", err.text);
    x->ranges = AT_NEW_ARRAY(a, at_index_range, c->num_tensors);
    if (at_compute_index_ranges(a, c, x->values, x->ranges, NULL, &err) != AT_OK)
        fail_msg("%s", err.text);
    x->data = data_for(a, c, x->extents, c, x->ranges);
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].is_output)
            x->data[t].f =
                AT_NEW_ARRAY(a, float, at_tensor_elements(&c->tensors[t], x->extents[t]));
    if (at_compute_interpret(a, c, x->values, x->data, &err) != AT_OK) fail_msg("%s", err.text);
}

static void compare(const expected *x, const at_program *p, const at_data *got, const char *what) {
    const at_compute *c = at_task_compute(x->task);
    for (int t = 0; t < c->num_tensors; t++) {
        if (!c->tensors[t].is_output) continue;
        const float *out = got[at_compute_find(p->compute, c->tensors[t].name)].f;
        int64_t n = at_tensor_elements(&c->tensors[t], x->extents[t]);
        for (int64_t i = 0; i < n; i++) {
            double limit = 1e-5 * (1 + fabs((double)x->data[t].f[i]));
            if (!(fabs((double)out[i] - (double)x->data[t].f[i]) <= limit))
                fail_msg("%s: %s[%lld] is %g, not %g", what, c->tensors[t].name, (long long)i,
                         (double)out[i], (double)x->data[t].f[i]);
        }
    }
}

static void try_config(const expected *x, const at_config *c) {
    at_arena *a = at_arena_new();
    at_text what = {0};
    at_program *p;
    at_error err;
    at_text_addf(&what, "%s %s ", at_task_row(x->task)->name, at_task_args_text(x->task));
    at_config_print_entity(&what, c);
    if (at_task_program(a, x->task, c, &p, &err) != AT_OK)
        fail_msg("%s: %s", at_text_str(&what), err.text);
    at_data *d = data_for(a, p->compute, p->extents, at_task_compute(x->task), x->ranges);
    for (int t = 0; t < p->compute->num_tensors; t++)
        if (p->compute->tensors[t].role == AT_ROLE_STAGE)
            d[t].f =
                AT_NEW_ARRAY(a, float, at_tensor_elements(&p->compute->tensors[t], p->extents[t]));
    if (at_program_interpret(a, p, d, &err) != AT_OK)
        fail_msg("%s: %s", at_text_str(&what), err.text);
    compare(x, p, d, at_text_str(&what));
    at_text_free(&what);
    at_arena_free(a);
}

static int points_of(const at_task *t) {
    double n = operations / fmax(at_task_flops(t), 1);
    return n > MOST_POINTS ? MOST_POINTS : n < LEAST_POINTS ? LEAST_POINTS : (int)n;
}

void check_task(at_arena *a, at_task *task) {
    expected x = {.task = task};
    at_space *space = at_task_space(x.task);
    at_rng rng;
    at_error err;
    interpret(a, &x);
    at_rng_seed(&rng, 3, 3);
    for (int lanes = 4; lanes <= 16; lanes *= 2)
        for (int i = 0; i < at_task_num_sketches(x.task); i++) {
            at_config own, c;
            assert_int_equal(
                at_task_default_config(a, at_task_sketch(x.task, i), lanes, &own, &err), AT_OK);
            at_config_in_sum(a, space, i, &own, &c);
            try_config(&x, &c);
        }
    for (int i = 0; i < points_of(x.task) * at_task_num_sketches(x.task); i++) {
        at_config c;
        int64_t index = (int64_t)at_rng_below(&rng, (uint64_t)at_space_range_length(space));
        assert_int_equal(at_config_at(a, space, index, &c, &err), AT_OK);
        try_config(&x, &c);
    }
}
