/* tests/cli/test_tophub.c: the published x86 log, if AT_TOPHUB names it (llvm_v0.04.log): every
 * record is read, runs right, and can be applied. So are those of 64-bit Arm boards in what
 * AT_TOPHUB_ARM names (arm_cpu_v0.08.log). AT_TOPHUB_CHECK: the indices of its entities as
 * AutoTVM v0.12 numbers them (tophub_llvm_v0.04_check.json). Neither file is part of the project.
 */
#include "tests/cli/cli_test.h"
#include "tests/whole_file.h"

#include <stdlib.h>
#include <string.h>

enum { RECORDS = 35, EVERY = 22 };

static const char *log_path(void) {
    const char *path = getenv("AT_TOPHUB");
    if (path && *path) return path;
    print_message("AT_TOPHUB does not name llvm_v0.04.log: not tested\n");
    skip();
    return NULL;
}

static void summary(void **state) {
    (void)state;
    cli_expect(0, "./autotune log '%s' --json", log_path());
    assert_int_equal(cli_member(cli_json(), "records")->integer, RECORDS);
    assert_int_equal(cli_member(cli_json(), "bad")->integer, 0);
    assert_int_equal(cli_member(cli_json(), "tasks")->count, RECORDS);
    cli_expect(0, "./autotune pick_best '%s' --json", log_path());
    assert_int_equal(cli_member(cli_json(), "picked")->count, RECORDS);
}

/* Recorded on another CPU than whatever this is, but right all the same. */
static void all_run_right(void **state) {
    (void)state;
    const char *path = log_path();
    const cli_result *r = cli_run("./autotune verify '%s' --json", path);
    assert_true(r->status == 0 || r->status == 7);
    const at_json *count = cli_member(cli_json(), "count");
    assert_int_equal(cli_member(cli_json(), "records")->count, RECORDS);
    assert_int_equal(cli_member(count, "wrong")->integer, 0);
    assert_int_equal(cli_member(count, "not_run")->integer, 0);
}

/* The C file of each checks itself against a naive reference. */
static void all_apply(void **state) {
    (void)state;
    const char *path = log_path();
    cli_expect(0, "./autotune log '%s' --csv | tail -n +2 | cut -d, -f1 >lines", path);
    assert_int_equal(cli_count_lines(cli_read("lines"), ""), RECORDS);
    cli_expect(0,
               "for line in $(cat lines); do ./autotune apply conv2d_NCHWc --log '%s' --line $line "
               "--main -o k.c && gcc -O2 -o k k.c -lm && ./k | grep -q ': right, ' || exit 1; done",
               path);
}

/* The first indices of 2018 meant other entities than those of v0.12; entities count. */
static void indices(void **state) {
    (void)state;
    const char *path = log_path(), *check = getenv("AT_TOPHUB_CHECK");
    if (!check || !*check) {
        print_message("AT_TOPHUB_CHECK does not name tophub_llvm_v0.04_check.json: not tested\n");
        skip();
    }
    at_arena *a = at_arena_new();
    char *text;
    size_t len;
    const at_json *golden;
    assert_int_equal(read_whole(a, check, &text, &len, NULL), AT_OK);
    assert_int_equal(at_json_parse(a, text, len, &golden, NULL), AT_OK);
    const at_json *row = cli_member(golden, "rows")->child;
    cli_expect(0, "./autotune log '%s' --csv | tail -n +2 | cut -d, -f1 >lines", path);
    char *lines = at_strdup(a, cli_read("lines"));
    int agree = 0, seen = 0;
    for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n"), row = row->next) {
        assert_non_null(row);
        const cli_result *r =
            cli_expect(0, "./autotune show conv2d_NCHWc --log '%s' --line %s --json", path, line);
        bool warned = strstr(r->err, "does not mean this entity") != NULL;
        assert_int_equal(cli_member(cli_json(), "index")->integer,
                         cli_member(row, "index_of_entity_verbose")->integer);
        assert_int_equal(!warned, at_json_get(row, "agrees_v0.12")->boolean);
        agree += !warned;
        seen++;
    }
    assert_int_equal(seen, RECORDS);
    assert_int_equal(agree, at_json_get(golden, "agree_v0.12")->integer);
    at_arena_free(a);
}

/* Of three boards 220 float32 records each: all mean what their indices do, and become C. Each
 * EVERY-th is run; tools/board-records runs all of them as code for the board. */
static void boards(void **state) {
    (void)state;
    static const char *const models[] = {"rk3399", "kirin970", "snapdragon835"};
    const char *path = getenv("AT_TOPHUB_ARM");
    if (!path || !*path) {
        print_message("AT_TOPHUB_ARM does not name arm_cpu_v0.08.log: not tested\n");
        skip();
    }
    for (int i = 0; i < 3; i++) {
        cli_expect(0, "grep -e '-model=%s ' '%s' >board.log", models[i], path);
        assert_int_equal(cli_count_lines(cli_read("board.log"), ""), 220);
        const cli_result *r = cli_expect(0, "./autotune apply --log board.log -o board.c");
        assert_null(strstr(r->err, "does not mean this entity"));
        cli_expect(0, "grep -c '_supported(void);' board.h | grep -qx 220");
        cli_expect(0, "awk 'NR %% %d == %d' board.log >some.log", EVERY, 7 * i);
        r = cli_run("./autotune verify some.log --number 1 --repeat 1 --json");
        assert_true(r->status == 0 || r->status == 7);
        const at_json *count = cli_member(cli_json(), "count");
        assert_int_equal(cli_member(cli_json(), "records")->count, 220 / EVERY);
        assert_int_equal(cli_member(count, "wrong")->integer, 0);
        assert_int_equal(cli_member(count, "not_run")->integer, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summary), cmocka_unit_test(all_run_right), cmocka_unit_test(all_apply),
        cmocka_unit_test(boards),  cmocka_unit_test(indices),
    };
    return cmocka_run_group_tests(tests, cli_setup, cli_teardown);
}
