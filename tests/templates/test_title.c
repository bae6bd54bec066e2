/* What a task is in few signs: names of kernels and titles of tables. */
#include "tests/templates/support.h"
#include "sketch/sketch.h"

#include <string.h>

static void expect(at_arena *a, const char *name, const char *args, const char *sizes,
                   const char *title) {
    at_task *t;
    at_error err;
    if (at_task_new(a, row_named(name), args, &t, &err) != AT_OK) fail_msg("%s", err.text);
    assert_string_equal(at_task_short_args(a, t), sizes);
    assert_string_equal(at_task_title(a, t), title);
}

static void texts(void **state) {
    at_arena *a = *state;
    expect(a, "conv2d_nhwc", "", "1x56x56x64_64_3x3", "conv3x3 64 to 64 @56");
    expect(a, "conv2d_nhwc", "H=28,W=14,strides=2", "1x28x14x64_64_3x3_strides2",
           "conv3x3 64 to 64 @28x14, strides 2");
    expect(a, "conv2d_nhwc", "KH=1,KW=1,padding=0", "1x56x56x64_64_1x1_padding0",
           "conv1x1 64 to 64 @56");
    expect(a, "conv2d_nhwc", "padding=[0, 2],strides=[2, 1]",
           "1x56x56x64_64_3x3_strides2x1_padding0x2",
           "conv3x3 64 to 64 @56, strides 2x1, padding 0x2");
    expect(a, "conv2d_nhwc", "padding=\"SAME\"", "1x56x56x64_64_3x3", "conv3x3 64 to 64 @56");
    expect(a, "conv2d_winograd_nhwc", "m=2", "1x56x56x64_64_3x3_m2", "conv3x3 64 to 64 @56, m 2");
    expect(a, "dense", "M=1,bias=1", "1x1024x1024_bias1", "product 1 of 1024 to 1024, bias 1");
    expect(a, "softmax", "", "128x1024", "softmax 128 of 1024");
}

/* No two of a template's tasks have one name. */
static void no_two_alike(void **state) {
    at_arena *a = *state;
    static const char *const args[] = {"",
                                       "padding=0",
                                       "strides=2",
                                       "strides=[2, 1]",
                                       "strides=2,padding=0",
                                       "padding=[0, 1]",
                                       "padding=[0, 1, 1, 0]",
                                       "dilation=2",
                                       "KH=1",
                                       "KW=1",
                                       "N=2",
                                       "H=57",
                                       "CI=63",
                                       "CO=65"};
    enum { NUM = sizeof args / sizeof *args };
    const char *seen[NUM];
    at_error err;
    for (int i = 0; i < NUM; i++) {
        at_task *t;
        if (at_task_new(a, row_named("conv2d_nhwc"), args[i], &t, &err) != AT_OK)
            fail_msg("%s", err.text);
        seen[i] = at_task_short_args(a, t);
        for (int j = 0; j < i; j++) assert_string_not_equal(seen[i], seen[j]);
    }
}

/* Every template says what matters. */
static void all_have_one(void **state) {
    (void)state;
    for (int i = 0; i < at_template_count(); i++)
        if (!at_template_at(i)->sizes || !at_template_at(i)->title)
            fail_msg("%s", at_template_at(i)->name);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, arena_setup, arena_teardown)
    const struct CMUnitTest tests[] = {TEST(texts), TEST(no_two_alike), TEST(all_have_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
