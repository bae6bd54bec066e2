/* Axes of a tensor of a part in another order, and what reads it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "network/joined.h"
#include "tests/arena.h"

/* The stages of a text whose input x0 of three axes lies with the last two in turn, as a text. */
static const char *turned(const int64_t *dims, const char *text) {
    static const int order[] = {0, 2, 1};
    at_joined j = {.arena = arena};
    at_error err;
    at_text out = {0};
    int y;
    const int x = at_join_input(&j, 0, AT_ROLE_INPUT, AT_F32, 3, dims);
    if (at_join_text(&j, text, "text", &x, 1, &y, 1, &err) != AT_OK) fail_msg("%s", err.text);
    j.tensors.data[y].is_output = true;
    at_join_permute(&j, x, order);
    at_join_name(&j);
    at_join_print(&out, &j);
    return at_text_take(arena, &out);
}

/* A reduction of the tensor alone goes along its rows as they lie, where these fill vectors; of
 * several reads the first one decides. */
static void reductions_follow_rows(void **state) {
    static const int64_t wide[] = {2, 32, 50}, narrow[] = {2, 4, 50};
    (void)state;
    assert_string_equal(turned(wide, "y0[i:2] = max(r1:32, r2:50) x0[i, r1, r2]\n"),
                        "x0[2, 50, 32] : input\n"
                        "y0[i:2] = max(r2:50, r1:32) x0[i, r2, r1]\n");
    assert_string_equal(turned(wide, "y0[i:2] = sum(r1:32, r2:50) x0[i, r1, r2]*(r1 + 2*r2)\n"),
                        "x0[2, 50, 32] : input\n"
                        "y0[i:2] = sum(r2:50, r1:32) x0[i, r2, r1]*(r1 + 2*r2)\n");
    assert_string_equal(turned(wide, "y0[i:2] = sum(r1:32, r2:32) x0[i, r1, r2]*x0[i, r2, r1]\n"),
                        "x0[2, 50, 32] : input\n"
                        "y0[i:2] = sum(r2:32, r1:32) x0[i, r2, r1]*x0[i, r1, r2]\n");
    assert_string_equal(turned(narrow, "y0[i:2] = max(r1:4, r2:50) x0[i, r1, r2]\n"),
                        "x0[2, 50, 4] : input\n"
                        "y0[i:2] = max(r1:4, r2:50) x0[i, r2, r1]\n");
}

/* Windows, and places beside a reduction's, stay as they are written. */
static void others_stay(void **state) {
    static const int64_t dims[] = {2, 32, 50};
    (void)state;
    assert_string_equal(turned(dims, "y0[i:2, a:31, b:49] = max(r:2, s:2) x0[i, a + r, b + s]\n"),
                        "x0[2, 50, 32] : input\n"
                        "y0[i:2, a:31, b:49] = max(r:2, s:2) x0[i, b + s, a + r]\n");
    assert_string_equal(turned(dims, "y0[i:2] = sum(r1:32, r2:49) x0[i, r1, r2 + 1]\n"),
                        "x0[2, 50, 32] : input\n"
                        "y0[i:2] = sum(r1:32, r2:49) x0[i, r2 + 1, r1]\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reductions_follow_rows),
                                       cmocka_unit_test(others_stay)};
    return cmocka_run_group_tests_name("network/joined", tests, make_arena, free_arena);
}
