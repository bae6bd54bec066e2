/* Arithmetic of indices, of entries at the edges of 32 bits and intermediate results up to 62:
 * random expressions lead to the same places in every form of a program. In the environment:
 * AT_SEED and AT_COUNT choose others and more, AT_CFLAGS: more options for the compiler. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/codegen/phases.h"
#include "tests/setting.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 40 };
#define MOST ((double)((int64_t)1 << 62)) /* of what is worked out on the way, exactly */

/* An expression, and what its value cannot exceed. */
typedef struct term {
    char text[RP_EXPR * 4];
    double most;
} term;

static const int64_t constants[] = {0,     1,     2,          3,           5,          7,
                                    37,    100,   1009,       40503,       65536,      2147483647,
                                    97531, 46341, 2147483648, 68719476736, 6700417001, 1000000007};
enum { NUM_CONSTANTS = sizeof constants / sizeof *constants };

static term leaf(at_rng *rng) {
    static const term names[] = {
        {"r[n]", 1LL << 31}, {"r[n]", 1LL << 31}, {"s[d]", 1LL << 31}, {"n", 18}, {"d", 32}};
    const int at = (int)at_rng_below(rng, 7);
    if (at < 5) return names[at];
    const int64_t c = constants[at_rng_below(rng, NUM_CONSTANTS)];
    term t = {.most = (double)c};
    snprintf(t.text, sizeof t.text, "%lld", (long long)c);
    return t;
}

static term expression(at_rng *rng, int depth) {
    const int kind = depth ? (int)at_rng_below(rng, 8) : 0;
    if (!kind) return leaf(rng);
    const term x = expression(rng, depth - 1);
    term y = expression(rng, depth - 1), t = {.most = x.most};
    if (kind == 6 || kind == 7) { /* divisors are constants above 0 */
        const int64_t c = constants[1 + at_rng_below(rng, NUM_CONSTANTS - 1)];
        snprintf(y.text, sizeof y.text, "%lld", (long long)c);
        if (kind == 7) t.most = (double)c;
    } else if (kind == 3) t.most = x.most * y.most;
    else t.most = x.most + y.most;
    static const char *const forms[] = {NULL,          "(%s + %s)",    "(%s - %s)", "(%s*%s)",
                                        "min(%s, %s)", "max(%s, -%s)", "((%s)/%s)", "((%s)%%%s)"};
    const size_t length = strlen(x.text) + strlen(y.text) + 20;
    if (t.most > MOST || length > sizeof t.text) return x;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(t.text, sizeof t.text, forms[kind], x.text, y.text);
#pragma GCC diagnostic pop
    return t;
}

static void make(uint64_t seed, random_program *p) {
    static const char *const stages[] = {
        "o[n:N, d:D] = x[%s]\n",
        "o[n:N, d:D] = x[%s]*2 + x[%s]\n",
        "o[n:N, d:D] = (%s) < (%s) ? x[d] : x[n]\n",
        "o[n:N, d:D] = (%s)%%7 == 3 ? x[n] : 1\n",
        "o[d:D] = sum(n:N) x[%s]\n",
        "q[n:N, d:D] = x[%s] + 1\no[n:N, d:D] = q[n, d]*x[%s]\n",
    };
    static const char *const trees[] = {
        "n, d =>\n    @o = n, d\n", "n, d:vec =>\n    @o = n, d\n", "d, n:vec =>\n    @o = n, d\n",
        "n, d:unroll =>\n    @o = n, d\n", "{n, d}:vec =>\n    @o = n, d\n"};
    static const char *const sums[] = {"n, d:vec =>\n    @o = d // n\n",
                                       "d, n =>\n    @o = d // n\n",
                                       "d:vec, n:unroll =>\n    @o = d // n\n"};
    at_rng rng;
    at_rng_seed(&rng, seed, 49);
    memset(p, 0, sizeof *p);
    p->seed = seed;
    term part[2];
    const int stage = (int)at_rng_below(&rng, 6), m = at_rng_below(&rng, 2) ? 37 : 64;
    for (int i = 0; i < 2; i++) {
        const term e = expression(&rng, 4);
        part[i].most = 0;
        snprintf(part[i].text, sizeof part[i].text,
                 stage == 2 || stage == 3     ? "%.470s"
                 : at_rng_below(&rng, 3) == 0 ? "min(max(%.450s, 0), M - 1)"
                                              : "(%.460s)%%M",
                 e.text);
    }
    const int n =
        snprintf(p->compute, sizeof p->compute, "r[N] : index\ns[D] : index\nx[M] : input\n");
    snprintf(p->compute + n, sizeof p->compute - (size_t)n, stages[stage], part[0].text,
             part[1].text);
    p->tree = stage == 4 ? sums[at_rng_below(&rng, 3)] : trees[at_rng_below(&rng, 5)];
    p->size[0] = (rp_size){.name = "N", .value = 18};
    p->size[1] = (rp_size){.name = "D", .value = 32};
    p->size[2] = (rp_size){.name = "M", .value = m};
    p->num_sizes = 3;
    p->index[0] = (rp_index){.tensor = "r", .edges = true, .limit = "9"};
    p->index[1] = (rp_index){.tensor = "s", .edges = true, .limit = "400000"};
    p->num_indices = 2;
}

static void everywhere(void **state) {
    (void)state;
    const long seed = setting("AT_SEED", 1), count = how_many("AT_COUNT", 160);
    random_program *programs = calloc(BATCH, sizeof *programs);
    const random_program *list[BATCH];
    outcome *out = outcomes_new(BATCH);
    long wrong = 0, used = 0;
    assert_non_null(programs);
    for (long done = 0; done < count;) {
        int n = 0;
        for (; done < count && n < BATCH; done++) {
            built b;
            make((uint64_t)(seed + done), &programs[n]);
            const use u = build_open(&b, &programs[n]);
            build_close(&b);
            if (u != USE_OK) continue;
            list[n] = &programs[n];
            n++;
        }
        run_phases(list, n, PHASE_TREE, PHASE_COUNT - 1, out);
        used += n;
        for (int i = 0; i < n; i++) {
            if (out[i].verdict == VERDICT_RIGHT) continue;
            wrong++;
            fprintf(stderr, "seed %llu: %s: %.300s\n%s%s\n", (unsigned long long)list[i]->seed,
                    phase_name(out[i].phase), out[i].text, list[i]->compute, list[i]->tree);
        }
    }
    outcomes_free(out, BATCH);
    free(programs);
    print_message("%ld programs, %ld wrong\n", used, wrong);
    assert_true(used > count / 2);
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(everywhere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
