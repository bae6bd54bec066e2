/* A point has one estimate, whatever was estimated before it: what is kept from one point to the
 * next is asked by all that it depends on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/engine.h"
#include "tests/engine/guessed_cost.h"
#include "sketch/sketch.h"
#include "templates/template.h"

#include <math.h>
#include <stdlib.h>

enum { POINTS = 12, MANY = 300, NEAR = 40 };

static at_cost_model *model_of(const at_task *t) {
    return guessed_cost(t, at_target_find("avx512"), at_core_find("sapphirerapids"));
}

static void compare(const at_template_row *row) {
    at_arena *a = at_arena_new();
    at_task *t;
    at_error err;
    if (at_task_new(a, row, NULL, &t, &err) != AT_OK) fail_msg("%s", err.text);
    at_cost_model *all = model_of(t);
    uint64_t range = (uint64_t)at_space_range_length(at_task_space(t));
    at_rng rng;
    at_rng_seed(&rng, 5, 1);
    int compared = 0;
    for (int i = 0; i < 20 * POINTS && compared < POINTS; i++) {
        const int64_t index = (int64_t)at_rng_below(&rng, range);
        at_cost_model *own = model_of(t);
        at_estimate x, y;
        bool is_known = at_cost_point(all, index, &x);
        assert_int_equal(at_cost_point(own, index, &y), is_known);
        at_cost_model_free(own);
        if (!is_known) continue;
        compared++;
        if (x.ns != y.ns)
            fail_msg("%s, index %lld: %g ns after others, %g by itself", row->name,
                     (long long)index, x.ns, y.ns);
    }
    assert_true(compared > 0);
    at_cost_model_free(all);
    at_arena_free(a);
}

/* A point and those one knob away, which have most of their leaves in common. */
static int add_near(const at_space *s, int64_t index, int64_t *digits, int64_t *out, int n) {
    at_space_digits(s, index, digits);
    for (int k = 0; k < at_space_num_knobs(s) && n < MANY; k++) {
        if (!at_space_digit_counts(s, digits, k) || (at_space_num_parts(s) && k == 0)) continue;
        const int64_t own = digits[k];
        digits[k] = (own + 1) % at_space_knob_len(s, k);
        out[n++] = at_space_index(s, digits);
        digits[k] = own;
    }
    return n;
}

/* A list has the estimates that its points have in any order, one by one. */
static void compare_list(const at_template_row *row) {
    at_arena *a = at_arena_new();
    at_task *t;
    at_error err;
    if (at_task_new(a, row, NULL, &t, &err) != AT_OK) fail_msg("%s", err.text);
    const at_space *s = at_task_space(t);
    at_cost_model *together = model_of(t), *apart = model_of(t);
    int64_t *digits = AT_NEW_ARRAY(a, int64_t, at_space_num_knobs(s)), index[MANY];
    double ns[MANY];
    at_rng rng;
    at_rng_seed(&rng, 6, 1);
    int n = 0;
    while (n < MANY) {
        index[n++] = (int64_t)at_rng_below(&rng, (uint64_t)at_space_range_length(s));
        if (n <= NEAR) n = add_near(s, index[n - 1], digits, index, n);
    }
    at_cost_points(together, index, MANY, ns);
    for (int i = MANY - 1; i >= 0; i--) {
        at_estimate e;
        const double own = at_cost_point(apart, index[i], &e) ? e.ns : INFINITY;
        if (own != ns[i])
            fail_msg("%s, index %lld: %g ns in a list, %g by itself", row->name,
                     (long long)index[i], ns[i], own);
    }
    at_cost_model_free(together);
    at_cost_model_free(apart);
    at_arena_free(a);
}

/* Points come again after so many others that what is kept of leaves has been given up for others
 * in between, or has not; and after points of the template's other trees. */
static void compare_again(const at_template_row *row, const char *args) {
    enum { TIMES = 4 };
    at_arena *a = at_arena_new();
    at_task *t;
    at_error err;
    if (at_task_new(a, row, args, &t, &err) != AT_OK) fail_msg("%s", err.text);
    const at_space *s = at_task_space(t);
    at_cost_model *m = model_of(t);
    int64_t index[MANY], *digits = AT_NEW_ARRAY(a, int64_t, at_space_num_knobs(s));
    at_estimate first[MANY], e;
    bool is_known[MANY];
    at_rng rng;
    at_rng_seed(&rng, 7, 1);
    int n = 0;
    while (n < MANY) {
        index[n++] = (int64_t)at_rng_below(&rng, (uint64_t)at_space_range_length(s));
        n = add_near(s, index[n - 1], digits, index, n);
    }
    for (int i = 0; i < MANY; i++) { /* nothing is kept */
        at_cost_model *own = i % TIMES ? NULL : model_of(t);
        is_known[i] = own && at_cost_point(own, index[i], &first[i]);
        at_cost_model_free(own);
    }
    for (int time = 0; time < TIMES; time++)
        for (int k = 0; k < 2 * MANY; k++) {
            int i = (int)at_rng_below(&rng, time % 2 ? 8 * (uint64_t)(1 + time) : MANY);
            bool known = at_cost_point(m, index[i], &e);
            if (i % TIMES) continue;
            assert_int_equal(known, is_known[i]);
            if (known && (e.ns != first[i].ns || e.memory_ns != first[i].memory_ns ||
                          e.operations != first[i].operations || e.bytes[0] != first[i].bytes[0]))
                fail_msg("%s, index %lld: %.17g ns again, %.17g by itself", row->name,
                         (long long)index[i], e.ns, first[i].ns);
        }
    at_cost_model_free(m);
    at_arena_free(a);
}

static void again(void **state) {
    (void)state;
    for (int i = 0; i < at_template_count(); i++) compare_again(at_template_at(i), NULL);
    const at_template_row *winograd;
    at_error err;
    assert_int_equal(at_template_find("conv2d_winograd_nhwc", &winograd, &err), AT_OK);
    compare_again(winograd, "H=14,W=14,CI=32,CO=32,m=2");
    compare_again(winograd, "H=17,W=23,CI=48,CO=80,m=2");
}

static void lists(void **state) {
    (void)state;
    for (int i = 0; i < at_template_count(); i++) compare_list(at_template_at(i));
}

static void templates(void **state) {
    (void)state;
    for (int i = 0; i < at_template_count(); i++) compare(at_template_at(i));
}

/* What hangs on a knob: is the padding read where it is used? How many rows are in a block? */
static void define(at_template *t) {
    at_option(t, "copied", "[0, 1]", 0);
    at_split(t, "tile_h", "H", "ho hi", .policy = AT_FACTORS);
    at_split(t, "tile_c", "C", "co ci", .policy = AT_FACTORS, .fallback = {-1, 16});
    at_sizes(t, "B = |hi|");
    at_compute(t, "data[N, H, W, C] : input\n"
                  "weight[3, 3, C] : weight\n"
                  "pad[n:N, y:H+2, x:W+2, c:C] = inside ? data[n, y - 1, x - 1, c] : 0\n"
                  "    where inside = 1 <= y && y < H + 1 && 1 <= x && x < W + 1\n"
                  "acc[n:N, Y:H/B, y:B, w:W, c:C] = sum(kh:3, kw:3)\n"
                  "    pad[n, Y*B + y + kh, w + kw, c] * weight[kh, kw, c]\n"
                  "out[n:N, Y:H/B, y:B, w:W, c:C] = acc[n, Y, y, w, c]\n");
    at_schedule_when(t, "copied",
                     "n, y, x, c:vec =>\n"
                     "    @pad = n, y, x, c\n"
                     "n, Y, y, w, co =>\n"
                     "    kh, kw, ci:vec =>\n"
                     "        @acc = n, Y, y, w, {co, ci}/c  // kh, kw\n"
                     "    ci:vec =>\n"
                     "        @out = n, Y, y, w, {co, ci}/c\n");
    at_schedule(t, "n, Y, y, w, co =>\n"
                   "    kh, kw, ci:vec =>\n"
                   "        @acc = n, Y, y, w, {co, ci}/c  // kh, kw\n"
                   "    ci:vec =>\n"
                   "        @out = n, Y, y, w, {co, ci}/c\n");
    at_layout(t, "out[n, Y, y, w, c] = n, Y, y, w, c");
}

static void trees_and_sizes_by_knobs(void **state) {
    (void)state;
    const at_template_row row = {.name = "blocks",
                                 .help = "a convolution in blocks of rows",
                                 .args = "N=1, H=12, W=10, C=32",
                                 .record_args = "[N, H, W, C, \"float32\"]",
                                 .define = define};
    compare(&row);
    compare_list(&row);
    compare_again(&row, NULL);
}

/* No loop and no tensor hangs on a size, which an index multiplies by; on one, and on more than are
 * kept of a leaf. */
static void define_steps(at_template *t, int sizes) {
    at_text text = {0};
    at_option(t, "S", "[1, 2, 3, 16]", 0);
    at_split(t, "tile_n", "N", "no ni", .policy = AT_FACTORS);
    for (int i = 0; i < sizes; i++) at_text_addf(&text, "%ss%d = S + %d", i ? ", " : "", i, i);
    at_sizes(t, at_text_str(&text));
    at_text_free(&text);
    at_text_add(&text, "data[99*N + K] : input\n"
                       "weight[K] : weight\n"
                       "out[n:N] = sum(k:K) data[n*s0");
    for (int i = 1; i < sizes; i++) at_text_addf(&text, " + s%d", i);
    at_text_add(&text, " + k] * weight[k]\n");
    at_compute(t, at_text_str(&text));
    at_text_free(&text);
    at_schedule(t, "no =>\n"
                   "    k =>\n"
                   "        ni:vec =>\n"
                   "            @out = {no, ni}/n  // k\n");
    at_layout(t, "out[n] = n");
}

static void one_size(at_template *t) { define_steps(t, 1); }
static void many_sizes(at_template *t) { define_steps(t, 40); }

static void sizes_that_only_indices_have(void **state) {
    (void)state;
    at_template_row row = {.name = "steps",
                           .help = "rows so many apart",
                           .args = "N=64, K=48",
                           .record_args = "[N, K, \"float32\"]",
                           .define = one_size};
    compare(&row);
    compare_again(&row, NULL);
    row.define = many_sizes;
    compare(&row);
    compare_again(&row, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(templates),
        cmocka_unit_test(lists),
        cmocka_unit_test(again),
        cmocka_unit_test(trees_and_sizes_by_knobs),
        cmocka_unit_test(sizes_that_only_indices_have),
    };
    setenv("XDG_CACHE_HOME", "/dev/null", 1); /* whatever the user has in his own */
    return cmocka_run_group_tests_name("engine/estimate_order", tests, NULL, NULL);
}
