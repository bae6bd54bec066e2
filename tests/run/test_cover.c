/* Maxima, minima and their places of few long rows: a kernel that leaves out one vector of a row,
 * or its last element, gives something else in one of the runs whose winners go from place to
 * place. Each wrong text leaves some terms out; and a right one that looks at them in another way
 * is right.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "tests/run/text_subject.h"

enum { MOST_TEXT = 2000 };

/* In place of the only @ of a text: the right one, and others that leave terms out. */
typedef struct way {
    const char *shape, *type;
    const char *left_out[4]; /* when a term is not looked at */
} way;

static const way ways[] = {
    {"N=1, K=32000", "f32", {"k == K - 1", "k == 31997", "k > 15999 && k < 16016", "k > 31967"}},
    {"N=1, K=32000", "f16", {"k == K - 1", "k > 159 && k < 176", "k > 20799 && k < 20816"}},
    {"N=2, K=32000", "s8", {"n == 1 && k == K - 1", "n == 1 && k > 159 && k < 192"}},
    {"N=2, K=4099", "f32", {"n == 0 && k > 4095", "n == 1 && k == 4096", "n == 1 && k/8 == 77"}},
    {"N=5, K=4099", "f32", {"n == 3 && k == 4097", "n == 4 && k/8 == 300", "n == 2 && k/4 == 7"}},
    {"N=5, K=4099", "u8", {"n == 3 && k == 4098", "n == 2 && k/16 == 200"}},
};

static void print(char out[MOST_TEXT], const way *w, const char *text, const char *term,
                  const char *left_out, const char *otherwise) {
    const char *at = strchr(text, '@');
    char chosen[200];
    if (left_out) snprintf(chosen, sizeof chosen, "(%s ? %s : %s)", left_out, otherwise, term);
    else snprintf(chosen, sizeof chosen, "%s", term);
    snprintf(out, MOST_TEXT, "args %s\nx[N, K] : input %s\nz[N, K] : input\n%.*s%s%s", w->shape,
             w->type, (int)(at - text), text, chosen, at + 1);
}

static int missed_of(const way *w, const char *text, const char *term, const char *otherwise) {
    char right[MOST_TEXT], wrong[MOST_TEXT];
    text_subject s;
    int missed = 0;
    print(right, w, text, term, NULL, NULL);
    text_subject_open(&s, right, "");
    if (!s.cover.store) fail_msg("no winners move in:\n%s", right);
    for (int i = 0; i < 4 && w->left_out[i]; i++) {
        print(wrong, w, text, term, w->left_out[i], otherwise);
        if (text_subject_tells_from(&s, wrong)) continue;
        print_message("right is:\n%s", wrong);
        missed++;
    }
    print(wrong, w, text, term, "k < 0", otherwise);
    if (text_subject_tells_from(&s, wrong)) fail_msg("wrong is:\n%s", wrong);
    text_subject_close(&s);
    return missed;
}

static void expect_some(const way *of, int n, const char *text, const char *term,
                        const char *otherwise) {
    int missed = 0;
    for (int i = 0; i < n; i++) missed += missed_of(&of[i], text, term, otherwise);
    assert_int_equal(missed, 0);
}

static void expect_all(const char *text, const char *term, const char *otherwise) {
    expect_some(ways, sizeof ways / sizeof *ways, text, term, otherwise);
}

static void maximum(void **state) {
    (void)state;
    expect_all("y[n:N] = max(k:K) @\nv[n:N] : output = z[n, 0]\n", "x[n, k]", "-inf");
}

static void minimum(void **state) {
    (void)state;
    expect_all("y[n:N] = min(k:K) @\nv[n:N] : output = z[n, 0]\n", "x[n, k]", "inf");
}

/* Of small tensors no place of any row may be left out. */
static void one_by_one(void **state) {
    (void)state;
    static const way all[] = {
        {"N=5, K=200", "f32", {"n == 3 && k == 101", "n == 0 && k == 98", "n == 4 && k == 71"}},
        {"N=2, K=150", "f32", {"n == 1 && k == 63", "n == 0 && k == 64", "n == 1 && k == 77"}},
    };
    expect_some(all, sizeof all / sizeof *all, "y[n:N] = max(k:K) @\nv[n:N] : output = z[n, 0]\n",
                "x[n, k]", "-inf");
}

/* Short rows: the texts take longer. */
static void made_of_it(void **state) {
    (void)state;
    const way *short_one = &ways[3];
    expect_some(short_one, 1,
                "m[n:N] = max(k:K) x[n, k]\ny[n:N] : s32 = min(k:K) @\n"
                "v[n:N] : output = z[n, 0]\n",
                "(x[n, k] == m[n] ? k : K)", "K");
    expect_some(short_one, 1, "y[n:N] = max(k:K) @\nv[n:N] : output = z[n, 0]\n", "abs(x[n, k])",
                "-inf");
    expect_some(short_one, 1, "y[n:N] = max(k:K) @\n", "x[n, k]*z[n, k]", "-inf");
}

/* Rows that look at the same elements beside others of their own: each row's winner goes there. */
static void shared(void **state) {
    (void)state;
    static const char text[] = "args B=5, S=37, T=23, D=9\n"
                               "x[B, S, D] : input\ny[B, T, D] : input\nz[B, T] : input\n"
                               "s[b:B, i:S, j:T] = sum(k:D) x[b, i, k] * y[b, j, k]\n"
                               "v[b:B, i:S] = max(j:T) (%s ? -inf : s[b, i, j] + z[b, j])\n";
    static const char *const left_out[] = {"b == 3 && i == 20 && j == 7",
                                           "b == 1 && i == 36 && j == 22",
                                           "b == 4 && i == 0 && j == 11"};
    char right[MOST_TEXT], wrong[MOST_TEXT];
    text_subject s;
    snprintf(right, sizeof right, text, "j < 0");
    text_subject_open(&s, right, "");
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++) {
        snprintf(wrong, sizeof wrong, text, left_out[i]);
        if (!text_subject_tells_from(&s, wrong)) fail_msg("right is:\n%s", wrong);
    }
    text_subject_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(maximum), cmocka_unit_test(minimum),
                                       cmocka_unit_test(one_by_one), cmocka_unit_test(made_of_it),
                                       cmocka_unit_test(shared)};
    return cmocka_run_group_tests_name("run/cover", tests, NULL, NULL);
}
