/* Programs into which other numbers are filled are those that are built anew: their text, with all
 * that the tree says, and the extents of their tensors. */
#include "tests/templates/support.h"

#include <string.h>

enum { POINTS = 40 };

static const char *text_of(const at_program *p) {
    static at_text text[2];
    static int turn;
    at_text *t = &text[turn ^= 1];
    at_text_free(t);
    *t = (at_text){0};
    at_program_print(t, p, true);
    return at_text_str(t);
}

static void expect_same(const at_program *filled, const at_program *anew) {
    assert_string_equal(text_of(filled), text_of(anew));
    for (int n = 0; n < anew->compute->num_tensors; n++) {
        const at_tensor *x = &anew->compute->tensors[n];
        size_t axes = (size_t)(x->num_axes + x->num_reduce);
        assert_memory_equal(filled->extents[n], anew->extents[n], axes * sizeof(int64_t));
    }
}

static void same_as_anew(void **state) {
    at_rng rng;
    at_rng_seed(&rng, 3, 1);
    for (int i = 0; i < at_template_count(); i++) {
        at_arena *a = at_arena_new();
        at_task *t = task_of(a, at_template_at(i), "");
        at_builds *builds = at_builds_new(a, t);
        uint64_t range = (uint64_t)at_space_range_length(at_task_space(t));
        int compared = 0;
        for (int k = 0; k < POINTS; k++) {
            at_config c;
            at_program *anew, *filled;
            if (at_config_at(a, at_task_space(t), (int64_t)at_rng_below(&rng, range), &c, NULL) !=
                AT_OK)
                continue;
            at_status s = at_task_build(a, t, &c, &anew, NULL);
            assert_int_equal(at_builds_program(builds, &c, &filled, NULL), s);
            if (s != AT_OK) continue;
            compared++;
            expect_same(filled, anew);
        }
        assert_true(compared > POINTS / 2);
        at_arena_free(a);
    }
    (void)state;
}

/* One knob after the other gets another value: most of the numbers stay. Those that cannot be built
 * are among them. */
static void one_knob_away(void **state) {
    (void)state;
    for (int i = 0; i < at_template_count(); i++) {
        at_arena *a = at_arena_new();
        at_task *t = task_of(a, at_template_at(i), "");
        const at_space *s = at_task_space(t);
        at_builds *builds = at_builds_new(a, t);
        int64_t *digits = AT_NEW_ARRAY(a, int64_t, at_space_num_knobs(s));
        int compared = 0;
        at_rng rng;
        at_rng_seed(&rng, 4, 1);
        at_space_digits(s, (int64_t)at_rng_below(&rng, (uint64_t)at_space_range_length(s)), digits);
        for (int n = 0; n < 4 * POINTS; n++) {
            int k = n % at_space_num_knobs(s);
            at_config c;
            at_program *anew, *filled;
            digits[k] = (int64_t)at_rng_below(&rng, (uint64_t)at_space_knob_len(s, k));
            if (at_config_at(a, s, at_space_index(s, digits), &c, NULL) != AT_OK) continue;
            at_status status = at_task_build(a, t, &c, &anew, NULL);
            assert_int_equal(at_builds_program(builds, &c, &filled, NULL), status);
            if (status != AT_OK) continue;
            compared++;
            expect_same(filled, anew);
        }
        assert_true(compared > POINTS / 2);
        at_arena_free(a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_anew),
        cmocka_unit_test(one_knob_away),
    };
    return cmocka_run_group_tests_name("templates/builds", tests, NULL, NULL);
}
