/* .te files: what is read, and what is refused, at its line and column. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sketch/sketch.h"

#include <string.h>

static at_arena *arena;

static int setup(void **state) {
    (void)state;
    arena = at_arena_new();
    return 0;
}

static int teardown(void **state) {
    (void)state;
    at_arena_free(arena);
    return 0;
}

static at_status parse(const char *text, const at_template_row **row, at_error *err) {
    return at_te_parse(arena, "dir/my.te", text, strlen(text), row, err);
}

static void read(void **state) {
    (void)state;
    const at_template_row *row;
    at_task *t;
    at_error err;
    if (parse("# comment\n"
              "args N=4,\n"
              "     M = 0 from 0  # of a row\n"
              "args K=3\n"
              "\n"
              "sizes X = N*K,\n"
              "      Y = X + M\n"
              "A[X, Y] : input # data\n"
              "out[i:X] = sum(k:Y)\n"
              "    A[i, k]\n",
              &row, &err) != AT_OK)
        fail_msg("%s", err.text);
    assert_string_equal(row->name, "my");
    assert_string_equal(row->args, "N=4, M=0 from 0, K=3");
    assert_string_equal(row->record_args, "[N, M, K]");
    assert_int_equal(at_task_new(arena, row, "N=5", &t, &err), AT_OK);
    assert_int_equal(at_task_arg(t, "N"), 5);
    assert_true(at_task_num_sketches(t) > 0);
    assert_true(at_sketch_of_task(t, 0) != NULL);
    assert_int_equal((int)at_task_flops(t), 2 * 15 * 15);
}

/* Comments and blanks are no part of what is hashed, and neither is how an editor writes a text. */
static void hash(void **state) {
    (void)state;
    const at_template_row *x, *y;
    at_task *first, *second;
    at_error err;
    assert_int_equal(parse("args N=4\nA[N] : input\nout[i:N] = A[i] + 1\n", &x, &err), AT_OK);
    assert_int_equal(
        parse("# same\nargs   N=4\n\nA[N] : input\nout[i:N] =   A[i] + 1 # one\n", &y, &err),
        AT_OK);
    assert_int_equal(at_task_new(arena, x, "", &first, &err), AT_OK);
    assert_int_equal(at_task_new(arena, y, "", &second, &err), AT_OK);
    assert_string_equal(at_task_hash(first), at_task_hash(second));
    assert_int_equal(parse("\xef\xbb\xbf"
                           "args N=4\r\nA[N] : input\r\nout[i:N] = A[i] + 1",
                           &y, &err),
                     AT_OK);
    assert_int_equal(at_task_new(arena, y, "", &second, &err), AT_OK);
    assert_string_equal(at_task_hash(first), at_task_hash(second));
}

static void refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"", "dir/my.te:1:1: a computation needs a stage"},
        {"args N\n", "dir/my.te:2:1: expected '='"},
        {"args N=-1\n", "dir/my.te:1:8: expected a whole number"},
        {"  args N=0 # none\n",
         "dir/my.te:1:10: expected a whole number from 1 to 2^53, got '0'\n  args N=0 # none\n"},
        {"args N=0\n", "dir/my.te:1:8: expected a whole number from 1 to 2^53"},
        {"args N=1 M=2\n", "dir/my.te:1:10: expected ','"},
        {"args N=1\nsizes N=2\n", "dir/my.te:2:7: a second \"N\""},
        {"args N=1\nsizes X=\n", "dir/my.te:3:1: expected a value, got the end"},
        {"args N=4\nA[N] : input\nout[i:N] = B[i]\n", "dir/my.te:3:12: unknown tensor \"B\""},
        {"args N=4\nA[N] : input\nout[i:N] = A[out[i]]\n", "dir/my.te:3:14: "},
        {"args N=4\nA[N] : input\nout[i:N] = A[i]\nschedule\n",
         "dir/my.te:5:1: a tree needs a line"},
        {"args N=4\nA[N] : input\nout[i:N] = A[i]\nschedule # on\ni0, i1 =>\n    @ou = {i0, i1}\n",
         "dir/my.te:6:6: unknown stage \"ou\""},
        {"args N=4\nA[N] : input\nout[i:N] = A[i]\nschedule\ni0, i1 =>\n    @out = {i0, i2}\n",
         "dir/my.te:6:17: \"i2\" is no loop around this leaf"},
        {"\x01", "dir/my.te: byte 0 is no text; a .te file is a computation"},
        {"args N=4\nA[N] : input\nB[i:N] = C[i]\nC[i:N] = B[i]\n", "dir/my.te:3:10: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const at_template_row *row;
        at_error err;
        assert_int_equal(parse(cases[i].text, &row, &err), AT_E_INPUT);
        if (strncmp(err.text, cases[i].error, strlen(cases[i].error)) != 0)
            fail_msg("\"%s\", not \"%s\"", err.text, cases[i].error);
    }
}

/* What only numbers tell is told at its line, too. */
static void places(void **state) {
    (void)state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"args N=4\nA[N] : input\nout[i:N - 4] = A[i]\n",
         "dir/my.te:3: extent 1 (i) of \"out\" is 0; at least 1 is accepted"},
        {"args N=4\n\nsizes X = N,\n  Y = N/(N - 4)\nA[N] : input\nout[i:Y] = A[i]\n",
         "--args: my with N=4: dir/my.te:4: size Y: N/(N - 4) divides by zero"},
        {"args N=4\nA[N] : input # one\n\nout[i:N] = A[i + 1]\n",
         "dir/my.te:4:12: \"out\" reads A[i + 1] at index 4 where i = 3;"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const at_template_row *row;
        at_task *t;
        int64_t *values;
        at_error err;
        assert_int_equal(parse(cases[i].text, &row, &err), AT_OK);
        if (at_task_new(arena, row, "", &t, &err) == AT_OK) {
            assert_int_equal(at_task_plain_values(arena, t, &values, &err), AT_OK);
            assert_int_not_equal(
                at_compute_check_reads(at_task_compute(t), values, NULL, NULL, &err), AT_OK);
        }
        if (!strstr(err.text, cases[i].error))
            fail_msg("\"%s\", not \"%s\"", err.text, cases[i].error);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read),
        cmocka_unit_test(hash),
        cmocka_unit_test(refused),
        cmocka_unit_test(places),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
