/* Logs compressed with gzip: whole, in parts, torn, damaged. */
#include "tests/records/picks.h"
#include "tests/records/support.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void shell(const char *command) {
    if (system(command) != 0) fail_msg("%s", command);
}

/* A log of n lines, compressed as conv.log.gz. */
static void put_log(at_arena *a, int n) {
    at_text t = {0};
    for (int i = 0; i < n; i++)
        at_text_add(&t, line_of(a, NULL, 1, i, i % 7 ? "0.5" : "0.25", 0,
                                extra_of(a, "Some CPU", "exact")));
    put_file("conv.log", at_text_str(&t));
    at_text_free(&t);
    shell("gzip -c conv.log > conv.log.gz");
}

static int64_t count_records(const char *path, at_text *warnings, at_error *err) {
    at_log_reader *r;
    *err = (at_error){0};
    at_text_clear(warnings);
    if (at_log_reader_open(path, keep_warning, warnings, &r, err) != AT_OK) return -1;
    int64_t n = 0, line = 0;
    for (at_record record; at_log_reader_next(r, &record); n++) {
        assert_int_equal(record.config.recorded_index, n % 20000);
        assert_true(record.line > line);
        line = record.line;
    }
    at_log_reader_status(r, err);
    at_log_reader_close(r);
    return n;
}

static void whole(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_text warnings = {0};
    at_error err;
    put_log(a, 20000); /* several blocks, in and out */
    assert_int_equal(count_records("conv.log.gz", &warnings, &err), 20000);
    shell("cat conv.log.gz conv.log.gz > twice.gz; head -c 512 /dev/zero >> twice.gz");
    assert_int_equal(count_records("twice.gz", &warnings, &err), 40000);
    assert_string_equal(at_text_str(&warnings), "");
    assert_int_equal(err.status, AT_OK);
    /* Chosen from as from the plain log, in AutoTVM's way too. */
    const char *plain[] = {"conv.log"}, *packed[] = {"conv.log.gz"};
    at_pick *picks;
    int n;
    for (int compat = 0; compat < 2; compat++) {
        assert_int_equal(pick_all(a, plain, 1, "a.log", false,
                                  compat ? AT_PER_COMPAT : AT_PER_CONTEXT, NULL, NULL, &picks, &n,
                                  &err),
                         AT_OK);
        assert_int_equal(pick_all(a, packed, 1, "b.log", false,
                                  compat ? AT_PER_COMPAT : AT_PER_CONTEXT, NULL, NULL, &picks, &n,
                                  &err),
                         AT_OK);
        assert_string_equal(get_file(a, "a.log"), get_file(a, "b.log"));
        unlink("a.log");
        unlink("b.log");
    }
    at_text_free(&warnings);
    at_arena_free(a);
}

/* Cut anywhere, what comes before is read, with a warning. */
static void torn(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_text warnings = {0};
    at_error err;
    put_log(a, 5);
    struct stat st;
    assert_int_equal(stat("conv.log.gz", &st), 0);
    for (off_t size = st.st_size - 1; size > 2; size--) {
        assert_int_equal(truncate("conv.log.gz", size), 0);
        int64_t n = count_records("conv.log.gz", &warnings, &err);
        if (n < 0) { /* not one byte of text */
            assert_string_equal(err.text, "conv.log.gz is empty: a log has one record per line");
            continue;
        }
        assert_true(n <= 5);
        assert_int_equal(err.status, AT_OK);
        assert_non_null(strstr(at_text_str(&warnings),
                               ": the compressed data end here, too early; what comes before is "
                               "read\n"));
    }
    put_log(a, 5);
    assert_int_equal(truncate("conv.log.gz", st.st_size - 1), 0);
    const char *in[] = {"conv.log.gz"};
    at_pick *picks;
    int n;
    assert_int_equal(
        pick_all(a, in, 1, "best.log", false, AT_PER_COMPAT, NULL, NULL, &picks, &n, &err),
        AT_E_INPUT);
    assert_string_equal(err.text, "conv.log.gz: its compressed data end too early");
    at_text_free(&warnings);
    at_arena_free(a);
}

static void damaged(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_text warnings = {0};
    at_error err;
    put_log(a, 100);
    struct stat st;
    assert_int_equal(stat("conv.log.gz", &st), 0);
    FILE *f = fopen("conv.log.gz", "r+");
    fseek(f, st.st_size - 7, SEEK_SET); /* within the checksum */
    fputs("xx", f);
    fclose(f);
    assert_int_equal(count_records("conv.log.gz", &warnings, &err), 100);
    assert_string_equal(err.text, "cannot read conv.log.gz: its compressed data are damaged "
                                  "(incorrect data check)");
    put_file("head.gz", "\x1f\x8bno more than these");
    assert_int_equal(count_records("head.gz", &warnings, &err), -1);
    assert_string_equal(err.text, "cannot read head.gz: its compressed data are damaged (unknown "
                                  "compression method)");
    shell("head -c 5000 /dev/zero | gzip -c > zero.gz");
    assert_int_equal(count_records("zero.gz", &warnings, &err), -1);
    assert_string_equal(err.text, "zero.gz looks like no log: byte 0 is 0x00");
    at_text_free(&warnings);
    at_arena_free(a);
}

static void not_written_to(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_error err;
    put_log(a, 5);
    at_log *l;
    assert_int_equal(at_log_open("conv.log.gz", &l, &err), AT_E_OUTPUT);
    assert_string_equal(err.text,
                        "conv.log.gz is compressed; a log that is written to is plain text");
    const char *in[] = {"conv.log"};
    at_pick *picks;
    int n;
    assert_int_equal(
        pick_all(a, in, 1, "conv.log.gz", false, AT_PER_CONTEXT, NULL, NULL, &picks, &n, &err),
        AT_E_OUTPUT);
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(whole, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(torn, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(damaged, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(not_written_to, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
