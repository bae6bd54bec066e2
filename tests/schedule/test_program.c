/* The tree computes what the expressions compute: every example, over many ways to split its axes.
 */
#include "tests/schedule/examples.h"

static void test_examples(void **state) {
    (void)state;
    for (int i = 0; i < num_examples; i++) {
        fixture f;
        fixture_open(&f, examples[i]);
        fixture_fill(&f, 7);
        if (fixture_build(&f) != AT_OK) fail_msg("%s: %s", examples[i]->name, f.err.text);
        fixture_compare(&f, examples[i]->name);
        fixture_close(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
