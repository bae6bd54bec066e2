/* Reading a log in whatever state it is in. */
#include "tests/records/support.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Reads the file to its end: how many records, and the warnings. */
static at_log_stats read_log(const char *path, at_text *warnings) {
    at_log_reader *r;
    at_error err = {0};
    at_text_clear(warnings);
    if (at_log_reader_open(path, keep_warning, warnings, &r, &err) != AT_OK)
        fail_msg("%s", err.text);
    for (at_record record; at_log_reader_next(r, &record);)
        assert_string_equal(record.task, "test_gemm");
    assert_int_equal(at_log_reader_status(r, &err), AT_OK);
    at_log_stats stats = *at_log_reader_stats(r);
    at_log_reader_close(r);
    return stats;
}

static void tolerance(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_text warnings = {0};
    const char *line = line_of(a, NULL, 1, 0, "0.5", 0, NULL);
    put_file("conv.log", join(a, "# a comment\n", line, "\n", line, "  \t\r\n", " # another\n",
                              "{\"input\": [\n", "nonsense\n", "[]\n", line,
                              "{\"input\": [\"llvm\", \"t\", [], {}]}\n", "#\n", line, NULL));
    at_log_stats s = read_log("conv.log", &warnings);
    at_error torn = {0}, prose = {0}; /* what is wrong with the JSON is told by who reads it */
    const at_json *v;
    at_json_parse(a, "{\"input\": [", 11, &v, &torn);
    at_json_parse(a, "nonsense", 8, &v, &prose);
    assert_string_equal(at_text_str(&warnings),
                        join(a, "conv.log:3: blank line; skipped\n",
                             "conv.log:5: blank line; skipped\n",
                             "conv.log:7: not a record: ", torn.text, "; skipped\n",
                             "conv.log:8: not a record: ", prose.text, "; skipped\n",
                             "conv.log:9: not a record: not a JSON object; skipped\n",
                             "conv.log:11: not a record: no member \"config\"; skipped\n",
                             "conv.log: 6 lines skipped, 2 of them blank\n", NULL));
    assert_int_equal(s.lines, 13);
    assert_int_equal(s.records, 4);
    assert_int_equal(s.comments, 3);
    assert_int_equal(s.blank, 2);
    assert_int_equal(s.bad, 4);
    assert_int_equal(s.old_version, 0);
    at_text_free(&warnings);
    at_arena_free(a);
}

static void clean(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_text warnings = {0};
    const char *line = line_of(a, NULL, 1, 0, "0.5", 0, NULL);
    put_file("conv.log", join(a, "# first\n", line, line, "# last\n", NULL));
    assert_int_equal(read_log("conv.log", &warnings).records, 2);
    assert_string_equal(at_text_str(&warnings), "");
    /* From Windows, with a byte order mark. */
    char *crlf = at_format(a, "\xef\xbb\xbf%s", line);
    crlf[strlen(crlf) - 1] = 0;
    put_file("conv.log", join(a, crlf, "\r\n# x\r\n", crlf + 3, "\r\n", NULL));
    assert_int_equal(read_log("conv.log", &warnings).records, 2);
    assert_string_equal(at_text_str(&warnings), "");
    /* Only comments. */
    put_file("conv.log", "# nothing yet\n");
    assert_int_equal(read_log("conv.log", &warnings).records, 0);
    assert_string_equal(at_text_str(&warnings), "");
    at_text_free(&warnings);
    at_arena_free(a);
}

/* Cut anywhere, a log loses its last line and no other; cut just before '\n', not even that. */
static void torn(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_text warnings = {0};
    const char *line = line_of(a, NULL, 1, 0, "0.5", 0, extra_of(a, "Some CPU", "exact"));
    const char *whole = join(a, line, line, NULL);
    size_t len = strlen(line);
    for (size_t cut = 1; cut <= len; cut++) {
        put_file("conv.log", at_strndup(a, whole, 2 * len - cut));
        at_log_stats s = read_log("conv.log", &warnings);
        assert_int_equal(s.records, cut == 1 ? 2 : 1);
        assert_int_equal(s.bad, cut == 1 || cut == len ? 0 : 1);
        assert_string_equal(at_text_str(&warnings),
                            s.bad ? "conv.log:2: torn last line; skipped\n" : "");
    }
    at_text_free(&warnings);
    at_arena_free(a);
}

static void many_bad_lines(void **state) {
    (void)state;
    at_text warnings = {0}, text = {0};
    for (int i = 0; i < 1000; i++) at_text_add(&text, "This is prose.\n");
    put_file("conv.log", text.data);
    at_log_stats s = read_log("conv.log", &warnings);
    assert_int_equal(s.bad, 1000);
    int lines = 0;
    for (const char *p = warnings.data; *p; p++) lines += *p == '\n';
    assert_int_equal(lines, 21);
    assert_non_null(strstr(warnings.data, "conv.log: 1000 lines skipped, 0 of them blank\n"));
    at_text_free(&text);
    at_text_free(&warnings);
}

/* Lines longer than the block that is read at once, and one too long to be looked at. */
static void long_lines(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_text warnings = {0}, text = {0};
    const char *line = line_of(a, NULL, 1, 0, "0.5", 0, NULL);
    char *blanks = at_alloc(a, 600001);
    memset(blanks, ' ', 600000);
    for (int i = 0; i < 5; i++) {
        at_text_addn(&text, blanks, 600000 - (size_t)i * 100000);
        at_text_add(&text, line);
    }
    for (int i = 0; i < 40; i++) at_text_addn(&text, blanks, 600000);
    at_text_add(&text, line);
    at_text_add(&text, line);
    put_file("conv.log", text.data);
    at_log_stats s = read_log("conv.log", &warnings);
    assert_string_equal(at_text_str(&warnings),
                        "conv.log:6: not a record: longer than 1 MiB; skipped\n");
    assert_int_equal(s.records, 6);
    /* The same as the torn end of a file. */
    text.len -= 2 * strlen(line);
    text.data[text.len] = 0;
    put_file("conv.log", text.data);
    s = read_log("conv.log", &warnings);
    assert_string_equal(at_text_str(&warnings), "conv.log:6: torn last line; skipped\n");
    assert_int_equal(s.records, 5);
    at_text_free(&text);
    at_text_free(&warnings);
    at_arena_free(a);
}

static void unreadable(void **state) {
    (void)state;
    at_log_reader *r;
    at_error err;
    assert_int_equal(at_log_reader_open("missing.log", NULL, NULL, &r, &err), AT_E_INPUT);
    assert_string_equal(err.text, "cannot read missing.log: No such file or directory");
    assert_int_equal(at_log_reader_open(".", NULL, NULL, &r, &err), AT_E_INPUT);
    assert_string_equal(err.text, "cannot read .: Is a directory");
    put_file("empty.log", "");
    assert_int_equal(at_log_reader_open("empty.log", NULL, NULL, &r, &err), AT_E_INPUT);
    assert_string_equal(err.text, "empty.log is empty: a log has one record per line");
    put_file("elf", "\x7f"
                    "ELF");
    assert_int_equal(at_log_reader_open("elf", NULL, NULL, &r, &err), AT_E_INPUT);
    assert_string_equal(err.text, "elf looks like no log: byte 0 is 0x7f");
    FILE *f = fopen("zero", "w");
    fwrite("# log\n{\0", 1, 8, f);
    fclose(f);
    assert_int_equal(at_log_reader_open("zero", NULL, NULL, &r, &err), AT_E_INPUT);
    assert_string_equal(err.text, "zero looks like no log: byte 7 is 0x00");
    if (geteuid() != 0) {
        put_file("mine.log", "# x\n");
        assert_int_equal(chmod("mine.log", 0), 0);
        assert_int_equal(at_log_reader_open("mine.log", NULL, NULL, &r, &err), AT_E_INPUT);
        assert_string_equal(err.text, "cannot read mine.log: Permission denied");
    }
}

static void note(void *text, const char *comment, int64_t line) {
    at_text_addf(text, "%d:%s|", (int)line, comment);
}

static void all_records(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const char *line = line_of(a, NULL, 1, 7, "0.5", 0, NULL);
    put_file("conv.log", join(a, "# c\n", line, "#final {\"x\": 1}\n",
                              line_of(a, NULL, 2, 8, "0.25", 0, NULL), "bad\n", NULL));
    at_text text = {0};
    at_record *records;
    int n;
    assert_int_equal(at_log_read_all(a, "conv.log", keep_warning, &text, &records, &n, NULL),
                     AT_OK);
    assert_int_equal(n, 2);
    assert_int_equal(records[0].line, 2);
    assert_int_equal(records[0].config.recorded_index, 7);
    assert_int_equal(records[1].line, 4);
    assert_int_equal(records[1].args->child->integer, 2);
    assert_non_null(strstr(at_text_str(&text), "conv.log:5: not a record: JSON, "));
    at_text_clear(&text);
    at_log_reader *r;
    assert_int_equal(at_log_reader_open("conv.log", NULL, NULL, &r, NULL), AT_OK);
    at_log_reader_on_comment(r, note, &text);
    for (at_record record; at_log_reader_next(r, &record);) {
    }
    at_log_reader_close(r);
    assert_string_equal(at_text_str(&text), "1: c|3:final {\"x\": 1}|");
    at_text_free(&text);
    at_arena_free(a);
}

/* Memory does not grow with the log. */
static void constant_memory(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const char *line = line_of(a, NULL, 1, 7, "0.5", 0, extra_of(a, "Some CPU", "exact"));
    FILE *f = fopen("conv.log", "w");
    for (int i = 0; i < 100000; i++) fputs(line, f);
    assert_int_equal(fclose(f), 0);
    at_log_reader *r;
    at_record record;
    assert_int_equal(at_log_reader_open("conv.log", NULL, NULL, &r, NULL), AT_OK);
    const at_json *args = NULL;
    int n = 0;
    /* The arena of the reader starts over with every record: the same few places are used. */
    for (; at_log_reader_next(r, &record); n++) {
        if (n > 1) assert_ptr_equal(record.args, args);
        args = record.args;
    }
    assert_int_equal(n, 100000);
    at_log_reader_close(r);
    at_arena_free(a);
}

/* The most memory that a process took to read so many lines. */
static long memory_kib(const char *line, int lines) {
    FILE *f = fopen("conv.log", "w");
    for (int i = 0; i < lines; i++) fputs(line, f);
    assert_int_equal(fclose(f), 0);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        at_log_reader *r;
        at_record record;
        int n = 0;
        if (at_log_reader_open("conv.log", NULL, NULL, &r, NULL) != AT_OK) _exit(1);
        while (at_log_reader_next(r, &record)) n++;
        at_log_reader_close(r);
        _exit(n == lines ? 0 : 2);
    }
    int status;
    struct rusage used;
    assert_int_equal(wait4(pid, &status, 0, &used), pid);
    assert_int_equal(status, 0);
    return used.ru_maxrss;
}

/* Sixty times the log in the same memory, and it is not the file that is in it. */
static void same_memory(void **state) {
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* which keeps what is freed */
#endif
    at_arena *a = at_arena_new();
    const char *line = line_of(a, NULL, 1, 7, "0.5", 0, extra_of(a, "Some CPU", "exact"));
    long few = memory_kib(line, 1000), many = memory_kib(line, 60000);
    if (many > few + 1024) fail_msg("%ld KiB for 1,000 lines, %ld for 60,000", few, many);
    assert_true((double)strlen(line) * 60000 / 1024 > 15 * 1024);
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(tolerance, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(clean, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(torn, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(many_bad_lines, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(long_lines, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(unreadable, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(all_records, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(constant_memory, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(same_memory, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
