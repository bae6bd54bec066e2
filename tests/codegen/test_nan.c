/* What is not a number, among the elements of maxima and minima: ignored in every order and size,
 * by elements and by reductions, in every form of a program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/codegen/phases.h"

#include <stdlib.h>
#include <string.h>

#define ROWS                                                                                       \
    "i, t =>\n    @y = i, t\n", "i, t:vec =>\n    @y = i, t\n", "i, t:unroll =>\n    @y = i, t\n"
#define RUNS                                                                                       \
    "i, t =>\n    @y[running] = i, t // 0\n", "t, i:vec =>\n    @y[running] = i, t // 0\n",        \
        "t =>\n    k:dyn(t), i:vec =>\n        @y = i, t // k\n"
#define STORED                                                                                     \
    "i, t =>\n    @s = i, t\ni, t =>\n    @y = i, t\n",                                            \
        "i =>\n    t:vec =>\n        @s = i, t\n    t:vec =>\n        @y = i, t\n",                \
        "i, t:vec =>\n    @s = i, t\ni, t:unroll =>\n    @y = i, t\n"
#define SUMS                                                                                       \
    "i, t =>\n    @y = i // t\n", "i, t:vec =>\n    @y = i // t\n", "t, i:vec =>\n    @y = i // t\n"

static const struct {
    const char *compute;
    const char *trees[3];
} cases[] = {
    {"y[i:M, t:N] = max(0, x[i, t])\n", {ROWS}},
    {"y[i:M, t:N] = max(x[i, t], 0)\n", {ROWS}},
    {"y[i:M, t:N] = max(x[i, t], z[i, t])\n", {ROWS}},
    {"y[i:M, t:N] = min(z[i, t], x[i, t])\n", {ROWS}},
    {"y[i:M, t:N] = min(max(x[i, t], z[i, t]), 2)\n", {ROWS}},
    {"y[i:M, t:N] = max(max(x[i, t], -3), min(z[i, t], x[i, N - 1 - t]))\n", {ROWS}},
    {"y[i:M, t:N] = max(x[i, t] + z[i, t], x[i, t]*2)\n", {ROWS}},
    {"s[i:M, t:N] = max(x[i, t], z[i, t])\ny[i:M, t:N] = s[i, t] + 1\n", {ROWS}},
    {"s[i:M, t:N] = max(x[i, t], z[i, t])\ny[i:M, t:N] = min(x[i, N - 1 - t], s[i, t])\n",
     {STORED}},
    {"s[i:M, t:N] : output = max(x[i, t], z[i, t])\n"
     "y[i:M, t:N] = min(max(z[i, t], x[i, t]), x[i, t] + z[i, t])\n",
     {STORED}},
    {"s[i:M, t:N] = z[i, t]*2\ny[i:M, t:N] = max(x[i, t], s[i, N - 1 - t])\n", {STORED}},
    {"y[i:M, t:N] = max(k:0..t + 1) x[i, k]\n", {RUNS}},
    {"y[i:M, t:N] = min(k:0..t + 1) x[i, k]\n", {RUNS}},
    {"y[i:M, t:N] = max(k:0..t) x[i, k]\n", {RUNS}},
    {"y[i:M] = max(t:N) x[i, t]\n", {SUMS}},
    {"y[i:M] = min(t:N) max(x[i, t], z[i, t])\n", {SUMS}},
};
enum { NUM_CASES = sizeof cases / sizeof *cases };

static void add_size(random_program *p, const char *name, int64_t value) {
    rp_size *s = &p->size[p->num_sizes++];
    snprintf(s->name, sizeof s->name, "%s", name);
    s->value = value;
}

static void make(int i, int tree, int64_t n, random_program *p) {
    memset(p, 0, sizeof *p);
    p->seed = (uint64_t)(i * 3 + tree);
    p->nans = 2 + i % 2;
    snprintf(p->compute, sizeof p->compute, "x[M, N] : input\nz[M, N] : input\n%s",
             cases[i].compute);
    p->tree = cases[i].trees[tree];
    add_size(p, "M", 5);
    add_size(p, "N", n);
}

static void everywhere(void **state) {
    (void)state;
    enum { SIZES = 3, ALL = NUM_CASES * 3 * SIZES };
    static const int64_t sizes[SIZES] = {1, 8, 37};
    random_program *programs = calloc(ALL, sizeof *programs);
    const random_program *list[ALL];
    outcome *out = outcomes_new(ALL);
    int n = 0, wrong = 0;
    assert_non_null(programs);
    for (int i = 0; i < NUM_CASES; i++)
        for (int tree = 0; tree < 3; tree++)
            for (int s = 0; s < SIZES; s++) {
                built b;
                make(i, tree, sizes[s], &programs[n]);
                const use u = build_open(&b, &programs[n]);
                if (u != USE_OK)
                    fail_msg("%s%s: %s", cases[i].compute, programs[n].tree, b.err.text);
                build_close(&b);
                list[n] = &programs[n];
                n++;
            }
    run_phases(list, n, PHASE_TREE, PHASE_COUNT - 1, out);
    for (int i = 0; i < n; i++) {
        if (out[i].verdict == VERDICT_RIGHT) continue;
        wrong++;
        print_error("N=%lld: %s: %.300s\n%s%s", (long long)list[i]->size[1].value,
                    phase_name(out[i].phase), out[i].text, list[i]->compute, list[i]->tree);
    }
    outcomes_free(out, ALL);
    free(programs);
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(everywhere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
