/* tests/templates/support.c */
#include "tests/templates/support.h"
#include "tests/whole_file.h"
#include "tests/spaces.h"
#include "sketch/sketch.h"

#include <string.h>

int arena_setup(void **state) {
    *state = at_arena_new();
    return 0;
}

int arena_teardown(void **state) {
    at_arena_free(*state);
    return 0;
}

const at_template_row *row_named(const char *name) {
    const at_template_row *row;
    at_error err = {0};
    if (at_template_find(name, &row, &err) != AT_OK) fail_msg("%s", err.text);
    return row;
}

at_task *task_of(at_arena *a, const at_template_row *row, const char *args) {
    at_task *t;
    at_error err = {0};
    if (at_task_new(a, row, args, &t, &err) != AT_OK) fail_msg("%s", err.text);
    return t;
}

void expect_refused(at_arena *a, const at_template_row *row, const char *args, at_status status,
                    const char *text) {
    at_task *t = NULL;
    at_error err = {0};
    at_status s = at_task_new(a, row, args, &t, &err);
    assert_string_equal(err.text, text);
    assert_int_equal(s, status);
    assert_int_equal(err.status, status);
    assert_null(t);
    assert_int_equal(at_task_new(a, row, args, &t, NULL), status);
}

at_config config_at(at_arena *a, const at_task *t, int64_t index) {
    at_config c;
    at_error err = {0};
    if (at_config_at(a, at_task_space(t), index, &c, &err) != AT_OK) fail_msg("%s", err.text);
    return c;
}

at_config config_of(at_arena *a, const at_task *t, const char *entity) {
    const char *text = at_format(a, "{\"entity\": [%s]}", entity);
    const at_json *json;
    at_config c;
    at_error err = {0};
    if (at_json_parse(a, text, strlen(text), &json, &err) != AT_OK ||
        at_config_from_json(a, at_task_space(t), json, &c, &err) != AT_OK)
        fail_msg("%s", err.text);
    return c;
}

const char *entity_text(at_arena *a, const at_config *c) {
    at_text text = {0};
    at_config_print_entity(&text, c);
    return at_text_take(a, &text);
}

/* The pattern that the task's arguments ask for, by its nnz; none without a sparse weight. */
static void fill_pattern(at_arena *a, const at_task *t, at_pattern *p, at_data *x) {
    at_bsr bsr, *b = &bsr;
    at_error err = {0};
    if (!at_task_bsr(t, b)) return;
    if (at_pattern_random(a, b->rows, b->columns, b->r, b->c, -1, b->nnz, p, &err) != AT_OK)
        fail_msg("%s", err.text);
    x[b->indices].i = at_copy(a, p->indices, sizeof *p->indices * (size_t)(p->nnz + 1));
    x[b->indptr].i = at_copy(a, p->indptr, sizeof *p->indptr * (size_t)(p->rows + 1));
}

/* Inputs shared by both runs, so that each has only its own stages: y's are of the computation that
 * the tree is over. */
static void fill_inputs(at_arena *a, const at_compute *c, const at_compute *over,
                        int64_t *const *extents, int range, at_data *x, at_data *y) {
    at_rng rng;
    at_rng_seed(&rng, 5, 3);
    for (int t = 0; t < c->num_tensors; t++) {
        if (c->tensors[t].role == AT_ROLE_STAGE) continue;
        int64_t n = c->tensors[t].role == AT_ROLE_INDEX
                        ? 0
                        : at_tensor_elements(&c->tensors[t], extents[t]);
        if (n) x[t].f = AT_NEW_ARRAY(a, float, n);
        for (int64_t i = 0; i < n; i++)
            x[t].f[i] = (float)((int)at_rng_below(&rng, (uint64_t)(2 * range + 1)) - range);
        y[at_compute_find(over, c->tensors[t].name)] = x[t];
    }
}

void expect_right(at_arena *a, const at_task *t, const at_config *cfg) {
    at_error err = {0};
    at_program *p;
    const char *entity = entity_text(a, cfg);
    if (at_task_program(a, t, cfg, &p, &err) != AT_OK)
        fail_msg("%s %s: %s", at_task_args_text(t), entity, err.text);
    const at_compute *c = at_task_compute(t);
    at_data *expressions = AT_NEW_ARRAY(a, at_data, c->num_tensors);
    at_pattern pattern = {0};
    fill_pattern(a, t, &pattern, expressions);
    int range = at_compute_exact_range(c, p->values, NULL, pattern.longest);
    assert_true(range >= 1);
    int64_t **extents;
    at_data *tree = AT_NEW_ARRAY(a, at_data, p->compute->num_tensors);
    if (at_compute_extents(a, c, p->values, &extents, &err) != AT_OK) fail_msg("%s", err.text);
    fill_inputs(a, c, p->compute, extents, range, expressions, tree);
    if (at_compute_interpret(a, c, p->values, expressions, &err) != AT_OK ||
        at_program_interpret(a, p, tree, &err) != AT_OK)
        fail_msg("%s %s: %s", at_task_args_text(t), entity, err.text);
    for (int i = 0; i < c->num_tensors; i++) {
        if (!c->tensors[i].is_output) continue;
        const float *found = tree[at_compute_find(p->compute, c->tensors[i].name)].f;
        for (int64_t e = 0; e < at_tensor_elements(&c->tensors[i], extents[i]); e++)
            if (found[e] != expressions[i].f[e])
                fail_msg("%s %s: %s[%lld] is %g, expressions give %g", at_task_args_text(t), entity,
                         c->tensors[i].name, (long long)e, (double)found[e],
                         (double)expressions[i].f[e]);
    }
}

void expect_random_right(const at_task *t, int count) {
    at_arena *scratch = at_arena_new();
    at_rng rng;
    at_rng_seed(&rng, 1, 1);
    uint64_t range = (uint64_t)at_space_range_length(at_task_space(t));
    for (int n = 0; n < count; n++) {
        at_config c = config_at(scratch, t, (int64_t)at_rng_below(&rng, range));
        expect_right(scratch, t, &c);
        at_arena_reset(scratch);
    }
    at_arena_free(scratch);
}

const at_json *golden_file(at_arena *a, const char *path) {
    char *text;
    size_t length;
    const at_json *file;
    at_error err = {0};
    if (read_whole(a, path, &text, &length, &err) || at_json_parse(a, text, length, &file, &err))
        fail_msg("%s", err.text);
    return file;
}

const at_json *golden(at_arena *a, const char *path) {
    const at_json *spaces = at_json_get(golden_file(a, path), "spaces");
    assert_true(spaces->count > 0);
    return spaces;
}

void expect_space(at_arena *a, const at_task *t, const at_json *want) {
    at_space *space = at_task_space(t);
    at_text text = {0};
    const at_json *dims = at_json_get(want, "dims");
    assert_int_equal(at_space_num_knobs(space), dims->count);
    for (int k = 0; k < dims->count; k++)
        assert_int_equal(at_space_knob_len(space, k), at_json_at(dims, k)->integer);
    assert_int_equal(at_space_range_length(space), at_json_get(want, "range_length")->integer);
    print_space(&text, space);
    assert_string_equal(text.data, at_json_get(want, "printed")->string);

    const at_json *samples = at_json_get(want, "samples");
    assert_true(samples->count > 0);
    for (const at_json *s = samples->child; s; s = s->next) {
        int64_t index = at_json_get(s, "index")->integer;
        at_config c = config_at(a, t, index);
        at_text_clear(&text);
        at_json_print(&text, at_json_get(s, "entity"));
        assert_string_equal(entity_text(a, &c), text.data);
        const char *inner = at_strndup(a, text.data + 1, text.len - 2);
        assert_int_equal(config_of(a, t, inner).index, index);
    }
    at_text_free(&text);
}

void expect_default(at_arena *a, const at_task *t, int lanes, const char *entity) {
    at_config c;
    at_error err = {0};
    if (at_task_default_config(a, t, lanes, &c, &err) != AT_OK) fail_msg("%s", err.text);
    assert_string_equal(entity_text(a, &c), entity);
    expect_right(a, t, &c);
}
