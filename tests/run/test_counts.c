/* bench/counts.c: what pieces of comparisons found adds up; a file with anything else is refused by
 * its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bench/counts.c"

#include <unistd.h>

static char path[] = "/tmp/counts.XXXXXX";

static void write_file(const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0 && !fclose(f));
}

static void pieces_add_up(void **state) {
    (void)state;
    at_bench_counts sum;
    assert_int_equal(unlink(path), 0);
    assert_int_equal(at_bench_counts_read(path, &sum, NULL), AT_OK);
    assert_int_equal(sum.comparisons, 0);
    const at_bench_counts first = {25, 2, 1}, second = {7, 0, 0};
    assert_int_equal(at_bench_counts_append(path, &first, NULL), AT_OK);
    assert_int_equal(at_bench_counts_append(path, &second, NULL), AT_OK);
    assert_int_equal(at_bench_counts_read(path, &sum, NULL), AT_OK);
    assert_int_equal(sum.comparisons, 32);
    assert_int_equal(sum.different, 2);
    assert_int_equal(sum.beyond, 1);
    assert_int_equal(at_bench_counts_append("/no/such/folder", &first, NULL), AT_E_OUTPUT);
}

static void others_are_refused(void **state) {
    (void)state;
    static const char *const lines[] = {
        "25 2\n",
        "25 2 1 0\n",
        "25 2 x\n",
        "-1 0 0\n",
        "25 26 0\n",
        "25 1 2\n",
        "25 2147483648 0\n",
        "99999999999999999999 0 0\n",
        "25 2 1",
        "\n",
        "25 +2 1\n",
        "25                                                                       2 1\n"};
    at_bench_counts sum;
    at_error err;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[256];
        snprintf(text, sizeof text, "25 2 1\n%s", lines[i]);
        write_file(text);
        if (at_bench_counts_read(path, &sum, &err) != AT_E_INPUT) fail_msg("read: %s", lines[i]);
        assert_non_null(strstr(err.text, ":2: not three numbers"));
    }
    write_file("2147483647 2147483647 2147483647\n1 1 1\n");
    assert_int_equal(at_bench_counts_read(path, &sum, &err), AT_E_INPUT);
}

static int make_path(void **state) {
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 || close(fd);
}

static int remove_path(void **state) {
    (void)state;
    return unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(pieces_add_up),
                                       cmocka_unit_test(others_are_refused)};
    return cmocka_run_group_tests_name("run/counts", tests, make_path, remove_path);
}
