/* tests/engine/filled_dataset.h: the data of a computation, filled by the rules, of one test at a
 * time. */
#ifndef AT_TESTS_FILLED_DATASET_H
#define AT_TESTS_FILLED_DATASET_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/data/dataset.h"
#include "tests/any_task.h"

static at_dataset d;

static inline const float *values_of(const char *name) {
    return at_store_at(d.store, d.offset[at_compute_find(d.compute, name)]);
}

static inline void fill_any(at_arena *a, const char *text) {
    at_error err;
    at_config config;
    int64_t *values;
    const at_task *t = task_of_text(a, "own.te", text, "");
    const at_compute *c = at_task_compute(t);
    const int **layouts = AT_NEW_ARRAY(a, const int *, c->num_tensors);
    if (at_task_default_config(a, t, 8, &config, &err) != AT_OK ||
        at_task_values(a, t, &config, &values, &err) != AT_OK ||
        at_dataset_new(a, c, values, layouts, NULL, &d, &err) != AT_OK ||
        at_dataset_expect(a, &d, &err) != AT_OK)
        fail_msg("%s", err.text);
    assert_true(at_dataset_fill(&d, 1));
}

static inline void fill(at_arena *a, const char *text) {
    fill_any(a, text);
    assert_false(d.is_exact);
}

#endif
