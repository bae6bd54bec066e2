/* What models are judged by and what is picked out of many: as golden values have them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tuners/model.h"
#include "tests/whole_file.h"

static const at_json *golden(at_arena *a) {
    const at_json *v = NULL;
    char *text;
    size_t len;
    at_error err;
    if (read_whole(a, "tests/golden/metrics.json", &text, &len, &err) != AT_OK ||
        at_json_parse(a, text, len, &v, &err) != AT_OK)
        fail_msg("%s", err.text);
    return v;
}

static int numbers(const at_json *list, double *out) {
    int n = 0;
    for (const at_json *x = list->child; x; x = x->next) out[n++] = x->number;
    return n;
}

static void recalls(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_json *curves = at_json_get(golden(a), "curves");
    assert_true(curves->count > 0);
    for (const at_json *c = curves->child; c; c = c->next) {
        double preds[32], labels[32], expected[32], sum = 0;
        int n = numbers(at_json_get(c, "preds"), preds);
        numbers(at_json_get(c, "labels"), labels);
        assert_int_equal(numbers(at_json_get(c, "recall_curve"), expected), n);
        for (int i = 0; i < n; i++) {
            sum += expected[i];
            assert_float_equal(at_average_recall(preds, labels, n, i + 1), sum / (i + 1), 1e-12);
        }
        int top = (int)at_json_get(c, "N")->integer;
        assert_float_equal(at_average_recall(preds, labels, n, top),
                           at_json_get(c, "a_recall")->number, 1e-12);
    }
    at_arena_free(a);
}

static void diverse_picks(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_json *cases = at_json_get(golden(a), "submodular_pick");
    assert_true(cases->count > 0);
    for (const at_json *c = cases->child; c; c = c->next) {
        double scores[32];
        int64_t digits[32 * 4];
        int n = numbers(at_json_get(c, "scores"), scores), num_digits = 0, at = 0, picked[32];
        for (const at_json *row = at_json_get(c, "knobs")->child; row; row = row->next) {
            num_digits = row->count;
            for (const at_json *x = row->child; x; x = x->next) digits[at++] = x->integer;
        }
        int num = (int)at_json_get(c, "n_pick")->integer;
        at_pick_diverse(scores, digits, n, num_digits, at_json_get(c, "knob_weight")->number, num,
                        picked);
        const at_json *expected = at_json_get(c, "picked")->child;
        for (int i = 0; i < num; i++, expected = expected->next)
            assert_int_equal(picked[i], expected->integer);
    }
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recalls),
        cmocka_unit_test(diverse_picks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
