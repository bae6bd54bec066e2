/* Wrong computations must be noticed on the data that kernels are checked with: mutants of the
 * expressions of all templates, fused stages and examples, at their own extents. What is not
 * noticed must be the same program, bit by bit, on three draws of ordinary and special values; or,
 * where values are not exact, the same function but for rounding, as sums of (x - mean)*x are those
 * of (x - mean)*(x - mean): these are counted apart. make test looks at some, make mutants at 200
 * of each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "sketch/sketch.h"
#include "templates/task.h"
#include "tests/setting.h"
#include "tests/run/text_subject.h"

enum { ALL = 200, SOME = 40 };

typedef AT_VEC(const char *) texts;

static bool holds(const texts *x, const char *text) {
    for (int i = 0; i < x->len; i++)
        if (!strcmp(x->data[i], text)) return true;
    return false;
}

/* Those that nobody notices. */
static int missed_of(const char *name, const char *args, int wanted) {
    text_subject s;
    at_rng rng;
    int noticed = 0, same = 0, rounds = 0, unnoticed = 0, by_points = 0;
    texts known = {0}; /* mutants that are the same program */
    text_subject_open(&s, name, args);
    at_rng_seed(&rng, (uint64_t)setting("AT_SEED", 3), 3);
    for (int tried = 0; noticed < wanted && tried < 4 * wanted; tried++) {
        at_arena *a = at_arena_new();
        text_mutant m;
        if (!text_mutate(a, s.compute, s.extents, &rng, &m)) fail_msg("%s: no mutant", name);
        const bool in_points = text_subject_differs_in_points(&s, &m, &rng),
                   is_known = !in_points && holds(&known, m.text);
        const text_verdict v = in_points  ? TEXT_NOTICED
                               : is_known ? TEXT_SAME
                                          : text_subject_judge(&s, &m);
        by_points += in_points;
        if (v == TEXT_NOTICED) noticed++;
        else if (v == TEXT_SAME) {
            if (!is_known) *at_push(s.arena, &known) = at_format(s.arena, "%s", m.text);
            same++;
        } else if (text_subject_rounds_otherwise(&s, &m, &rng)) rounds++;
        else {
            print_message("%s: not noticed: %s: %s\n", name, m.what, m.text);
            unnoticed++;
        }
        text_restore(&m);
        at_arena_free(a);
    }
    print_message(
        "%s %s: %d of %d noticed (%d by a few elements); %d more are the same program, %d "
        "the same but for rounding\n",
        name, args, noticed, noticed + unnoticed, by_points, same, rounds);
    text_subject_close(&s);
    return unnoticed;
}

static void none_missed(const char *const (*tasks)[2], int n, int wanted) {
    assert_int_equal(mutants_missed_of(tasks, n, wanted, ALL, missed_of), 0);
}

static void some(void **state) {
    (void)state;
    static const char *const tasks[][2] = {
        {"dense+clip", "M=32,N=32,K=256"},
        {"conv2d_3x3_gemm+relu", "N=1,H=28,W=28,CI=64,CO=64"},
        {"softmax", "Y=75,X=75"},
        {"max_pool2d_nhwc", "H=20,W=20,C=16"},
        {"examples/te/attention.te", ""},
        {"examples/te/masked_mean.te", ""},
        {"examples/te/conv2d_u8s8.te", "H=14,W=14,CI=32,CO=32"},
        {"examples/te/dense_s8s8.te", "M=24,N=96,K=64"},
        {"dense_q4_0", "M=3,N=32,K=1024"},
        {"dense_q8_0", "M=3,N=32,K=1024"},
        {"dense_q4_k", "M=3,N=32,K=1024"},
        {"dense_f16", "M=16,N=32,K=64"},
        {"dense_bf16", "M=16,N=32,K=64"},
        {"examples/te/causal_softmax.te", ""},
        {"examples/te/lstm_cell.te", ""},
    };
    none_missed(tasks, sizeof tasks / sizeof *tasks, SOME);
}

static void templates(void **state) {
    (void)state;
    if (!mutants_are_all()) skip();
    int missed = 0;
    for (int i = 0; i < at_template_count(); i++) {
        const char *const task[] = {at_template_at(i)->name, ""};
        missed += mutants_missed_of(&task, 1, 0, ALL, missed_of);
    }
    assert_int_equal(missed, 0);
}

static void fused(void **state) {
    (void)state;
    if (!mutants_are_all()) skip();
    static const char *const tasks[][2] = {
        {"dense+bias", ""},
        {"dense+add", ""},
        {"dense+relu", ""},
        {"dense+clip", ""},
        {"dense+scale", ""},
        {"conv2d_3x3_gemm+bias+relu", ""},
        {"conv2d_nhwc+scale+add+relu", ""},
        {"depthwise_conv2d_nhwc+scale+clip", ""},
    };
    none_missed(tasks, sizeof tasks / sizeof *tasks, 0);
}

static int by_name(const void *x, const void *y) {
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static void examples(void **state) {
    (void)state;
    if (!mutants_are_all()) skip();
    at_arena *a = at_arena_new();
    DIR *d = opendir("examples/te");
    AT_VEC(const char *) names = {0};
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        if (strstr(e->d_name, ".te"))
            *at_push(a, &names) = at_format(a, "examples/te/%s", e->d_name);
    closedir(d);
    qsort(names.data, (size_t)names.len, sizeof *names.data, by_name);
    int missed = 0;
    for (int i = 0; i < names.len; i++) {
        const char *const task[] = {names.data[i], ""};
        missed += mutants_missed_of(&task, 1, 0, ALL, missed_of);
    }
    assert_int_equal(missed, 0);
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(some), cmocka_unit_test(templates),
                                       cmocka_unit_test(fused), cmocka_unit_test(examples)};
    return cmocka_run_group_tests_name("run/text_mutants", tests, NULL, NULL);
}
