/* Appending: whole lines, whatever happens to the disk, by one run at a time. */
#include "tests/records/support.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static at_record record_of(at_arena *a, int index) {
    at_record r;
    const char *line = line_of(a, NULL, 1, index, "0.5", 0, NULL);
    assert_int_equal(at_record_parse(a, line, strlen(line), &r, NULL), AT_OK);
    return r;
}

static at_log *open_log(const char *path) {
    at_log *l;
    at_error err;
    if (at_log_open(path, &l, &err) != AT_OK) fail_msg("%s", err.text);
    return l;
}

static void append(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_record r0 = record_of(a, 0), r1 = record_of(a, 1);
    const char *line0 = line_of(a, NULL, 1, 0, "0.5", 0, NULL);
    const char *line1 = line_of(a, NULL, 1, 1, "0.5", 0, NULL);
    at_log *l = open_log("conv.log");
    assert_string_equal(get_file(a, "conv.log"), "");
    assert_int_equal(at_log_append(l, &r0, NULL), AT_OK);
    assert_string_equal(get_file(a, "conv.log"), line0); /* at once */
    assert_int_equal(at_log_comment(l, "final {\"x\":\n1}", NULL), AT_OK);
    assert_int_equal(at_log_close(l, NULL), AT_OK);
    l = open_log("conv.log");
    assert_int_equal(at_log_append(l, &r1, NULL), AT_OK);
    assert_int_equal(at_log_close(l, NULL), AT_OK);
    assert_string_equal(get_file(a, "conv.log"),
                        join(a, line0, "#final {\"x\": 1}\n", line1, NULL));
    assert_int_equal(at_log_close(NULL, NULL), AT_OK);
    at_arena_free(a);
}

/* What a crash left of a line gets its end, and the next record a line of its own. */
static void torn(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_record r = record_of(a, 1);
    const char *line0 = line_of(a, NULL, 1, 0, "0.5", 0, NULL);
    const char *line1 = line_of(a, NULL, 1, 1, "0.5", 0, NULL);
    const char *half = at_strndup(a, line0, strlen(line0) / 2);
    put_file("conv.log", join(a, line0, half, NULL));
    at_log *l = open_log("conv.log");
    assert_string_equal(get_file(a, "conv.log"), join(a, line0, half, NULL));
    assert_int_equal(at_log_append(l, &r, NULL), AT_OK);
    assert_int_equal(at_log_append(l, &r, NULL), AT_OK);
    assert_int_equal(at_log_close(l, NULL), AT_OK);
    assert_string_equal(get_file(a, "conv.log"), join(a, line0, half, "\n", line1, line1, NULL));
    at_record *records;
    int n;
    assert_int_equal(at_log_read_all(a, "conv.log", NULL, NULL, &records, &n, NULL), AT_OK);
    assert_int_equal(n, 3);
    at_arena_free(a);
}

/* What was not there is not there again, unless something was written; what was stays. */
static void empty_ones(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    unlink("new.log");
    assert_int_equal(at_log_close(open_log("new.log"), NULL), AT_OK);
    assert_null(get_file(a, "new.log"));
    put_file("old.log", "");
    assert_int_equal(at_log_close(open_log("old.log"), NULL), AT_OK);
    assert_string_equal(get_file(a, "old.log"), "");
    at_log *l = open_log("new.log");
    assert_int_equal(at_log_comment(l, "x", NULL), AT_OK);
    assert_int_equal(at_log_close(l, NULL), AT_OK);
    assert_string_equal(get_file(a, "new.log"), "#x\n");
    /* One that was replaced meanwhile is another's. */
    unlink("new.log");
    l = open_log("new.log");
    unlink("new.log");
    put_file("new.log", "");
    assert_int_equal(at_log_close(l, NULL), AT_OK);
    assert_string_equal(get_file(a, "new.log"), "");
    at_arena_free(a);
}

/* ---- lock ----------------------------------------------------------------------------------- */

/* In a child: tries to open the log; its exit code, and the text of the error in `said`. */
static int open_in_child(const char *path, char said[1024]) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (!child) {
        at_log *l;
        at_error err = {0};
        at_status s = at_log_open(path, &l, &err);
        ssize_t put = write(ends[1], err.text, strlen(err.text) + 1);
        _exit(put > 0 ? at_exit_code(s) : 99);
    }
    close(ends[1]);
    ssize_t got = read(ends[0], said, 1023);
    said[got > 0 ? got : 0] = 0;
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void locked(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    char said[1024];
    at_log *l = open_log("conv.log");
    at_record r = record_of(a, 0);
    const char *expected = at_format(
        a, "conv.log is being written by another run, process %d; wait for it, or name another log",
        (int)getpid());
    assert_int_equal(open_in_child("conv.log", said), at_exit_code(AT_E_LOCKED));
    assert_string_equal(said, expected);
    /* Reading the log does not give the lock away, and a run may do so. */
    assert_int_equal(at_log_append(l, &r, NULL), AT_OK);
    at_record *records;
    int n;
    assert_int_equal(at_log_read_all(a, "conv.log", NULL, NULL, &records, &n, NULL), AT_OK);
    assert_int_equal(n, 1);
    assert_int_equal(open_in_child("conv.log", said), at_exit_code(AT_E_LOCKED));
    assert_string_equal(said, expected);
    /* Another path to the same file is no way around. */
    assert_int_equal(symlink("conv.log", "other.log"), 0);
    assert_int_equal(open_in_child("other.log", said), at_exit_code(AT_E_LOCKED));
    assert_int_equal(at_log_close(l, NULL), AT_OK);
    assert_int_equal(open_in_child("conv.log", said), 0);
    assert_string_equal(said, "");
    at_arena_free(a);
}

/* A run that is killed leaves neither a lock nor a file behind. */
static void killed(void **state) {
    (void)state;
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (!child) {
        at_log *l;
        if (at_log_open("conv.log", &l, NULL) != AT_OK || write(ends[1], "x", 1) != 1) _exit(1);
        for (;;) pause();
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    at_log *l;
    at_error err;
    assert_int_equal(at_log_open("conv.log", &l, &err), AT_E_LOCKED);
    char expected[100];
    snprintf(
        expected, sizeof expected,
        "conv.log is being written by another run, process %d; wait for it, or name another log",
        (int)child);
    assert_string_equal(err.text, expected);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(at_log_open("conv.log", &l, &err), AT_OK);
    assert_int_equal(at_log_close(l, NULL), AT_OK);
    close(ends[0]);
    close(ends[1]);
}

/* ---- no room -------------------------------------------------------------------------------- */

/* Appends until it fails with this reason: the log then holds exactly what was reported as written,
 * and goes on once `make_room` has been called. */
static void fill_up(const char *path, const char *reason, void (*make_room)(void)) {
    at_arena *a = at_arena_new();
    at_log *l = open_log(path);
    at_error err;
    at_status s = AT_OK;
    int written = 0;
    while (written < 100000) {
        at_record r = record_of(a, written);
        if ((s = at_log_append(l, &r, &err)) != AT_OK) break;
        written++;
    }
    assert_int_equal(s, AT_E_OUTPUT);
    assert_string_equal(err.text, at_format(a, "cannot write %s: %s", path, reason));
    assert_true(written > 10);
    at_text expected = {0};
    for (int i = 0; i < written; i++)
        at_text_add(&expected, line_of(a, NULL, 1, i, "0.5", 0, NULL));
    assert_string_equal(get_file(a, path), expected.data);
    make_room();
    at_record r = record_of(a, written);
    assert_int_equal(at_log_append(l, &r, &err), AT_OK);
    at_text_add(&expected, line_of(a, NULL, 1, written, "0.5", 0, NULL));
    assert_int_equal(at_log_close(l, NULL), AT_OK);
    assert_string_equal(get_file(a, path), expected.data);
    at_text_free(&expected);
    at_arena_free(a);
}

static void raise_limit(void) {
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void file_too_large(void **state) {
    (void)state;
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = 10007; /* in the middle of a record */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    fill_up("conv.log", "File too large", raise_limit);
    signal(SIGXFSZ, SIG_DFL);
}

static void remove_ballast(void) { assert_int_equal(unlink("full/ballast"), 0); }

static void disk_full(void **state) {
    (void)state;
    assert_int_equal(mkdir("full", 0700), 0);
    if (mount("tmpfs", "full", "tmpfs", 0, "size=64k") != 0) {
        rmdir("full");
        skip();
    }
    char block[8192] = {0};
    int fd = open("full/ballast", O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(fd, block, sizeof block), sizeof block);
    close(fd);
    fill_up("full/conv.log", "No space left on device", remove_ballast);
    assert_int_equal(umount("full"), 0);
    assert_int_equal(rmdir("full"), 0);
}

static void devices(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_record r = record_of(a, 0);
    at_error err;
    at_log *first = open_log("/dev/null"), *second = open_log("/dev/null"); /* no lock */
    assert_int_equal(at_log_append(first, &r, NULL), AT_OK);
    assert_int_equal(at_log_append(second, &r, NULL), AT_OK);
    assert_int_equal(at_log_close(first, NULL), AT_OK);
    assert_int_equal(at_log_close(second, NULL), AT_OK);
    if (access("/dev/full", W_OK) == 0) {
        first = open_log("/dev/full");
        assert_int_equal(at_log_append(first, &r, &err), AT_E_OUTPUT);
        assert_string_equal(err.text, "cannot write /dev/full: No space left on device");
        assert_int_equal(at_log_close(first, NULL), AT_OK);
    }
    at_arena_free(a);
}

static void not_writable(void **state) {
    (void)state;
    at_log *l;
    at_error err;
    assert_int_equal(at_log_open("none/conv.log", &l, &err), AT_E_OUTPUT);
    assert_string_equal(err.text, "cannot write none/conv.log: there is no folder none");
    assert_int_equal(mkfifo("pipe.log", 0600), 0);
    assert_int_equal(at_log_open("pipe.log", &l, &err), AT_E_OUTPUT);
    assert_string_equal(err.text, "cannot write pipe.log: nobody reads this pipe");
    assert_int_equal(unlink("pipe.log"), 0);
    assert_int_equal(at_log_open(".", &l, &err), AT_E_OUTPUT);
    assert_string_equal(err.text, "cannot write .: Is a directory");
    if (geteuid() != 0) {
        put_file("conv.log", "");
        assert_int_equal(chmod("conv.log", 0444), 0);
        assert_int_equal(at_log_open("conv.log", &l, &err), AT_E_OUTPUT);
        assert_string_equal(err.text, "cannot write conv.log: Permission denied");
    }
}

/* ---- the tail that is written again ---------------------------------------------------------- */

static at_text tail_of(int state, int lines) {
    at_text t = {0};
    for (int i = 0; i < lines; i++) {
        at_text_addf(&t, "#%d %d ", i, state);
        for (int k = 0; k < 40 * state; k++) at_text_add(&t, "x");
        at_text_add(&t, " end\n");
    }
    return t;
}

static void put_tail(at_log *l, int state, int lines, bool is_last) {
    at_text t = tail_of(state, lines);
    assert_int_equal(at_log_put_tail(l, &t, is_last, NULL), AT_OK);
    at_text_free(&t);
}

static void tail(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_record r = record_of(a, 1);
    const char *line = line_of(a, NULL, 1, 1, "0.5", 0, NULL);
    put_file("conv.log", "{\"input");
    at_log *l = open_log("conv.log");
    at_text small = tail_of(1, 2), large = tail_of(3, 4);
    put_tail(l, 1, 2, false);
    assert_string_equal(get_file(a, "conv.log"), join(a, "{\"input\n", small.data, NULL));
    put_tail(l, 3, 4, false);
    assert_string_equal(get_file(a, "conv.log"), join(a, "{\"input\n", large.data, NULL));
    put_tail(l, 1, 2, false); /* shorter, too */
    assert_string_equal(get_file(a, "conv.log"), join(a, "{\"input\n", small.data, NULL));
    assert_int_equal(at_log_append(l, &r, NULL), AT_OK);
    put_tail(l, 3, 4, true); /* what was appended ends the one before */
    assert_string_equal(get_file(a, "conv.log"),
                        join(a, "{\"input\n", small.data, line, large.data, NULL));
    put_tail(l, 1, 2, false); /* of the next task: the last one of this stays */
    put_tail(l, 1, 2, true);
    assert_int_equal(at_log_append(l, &r, NULL), AT_OK); /* appends as before */
    assert_string_equal(get_file(a, "conv.log"), join(a, "{\"input\n", small.data, line, large.data,
                                                      small.data, line, NULL));
    assert_int_equal(at_log_close(l, NULL), AT_OK);
    /* What cannot be written over gets the last one only. */
    int pipe_fds[2];
    char got[256] = "";
    assert_int_equal(pipe(pipe_fds), 0);
    l = open_log(at_format(a, "/proc/self/fd/%d", pipe_fds[1]));
    put_tail(l, 3, 4, false);
    put_tail(l, 1, 2, true);
    assert_int_equal(at_log_close(l, NULL), AT_OK);
    assert_int_equal(read(pipe_fds[0], got, sizeof got - 1), (int)small.len);
    assert_string_equal(got, small.data);
    close(pipe_fds[0]), close(pipe_fds[1]);
    at_text_free(&small);
    at_text_free(&large);
    at_arena_free(a);
}

/* Killed at any moment, of each line the last state that was written is there, or the one that was
 * being written. */
static void tail_killed(void **state) {
    (void)state;
    static const char HEAD[] = "#te {}\n";
    enum { LINES = 30, KILLS = 60 };
    at_arena *a = at_arena_new();
    int pipe_fds[2];
    for (int k = 0; k < KILLS; k++) {
        put_file("conv.log", HEAD);
        assert_int_equal(pipe(pipe_fds), 0);
        pid_t child = fork();
        if (!child) {
            at_log *l = open_log("conv.log");
            for (int n = 1; n < 200; n++) {
                put_tail(l, n, LINES, false);
                if (write(pipe_fds[1], "", 1) != 1) _exit(1);
            }
            _exit(0);
        }
        close(pipe_fds[1]);
        char byte;
        assert_int_equal(read(pipe_fds[0], &byte, 1), 1);
        usleep((useconds_t)(97 * k));
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        int done = 1, newest[LINES] = {0};
        while (read(pipe_fds[0], &byte, 1) == 1) done++;
        close(pipe_fds[0]);
        char *text = get_file(a, "conv.log"), *next;
        assert_memory_equal(text, HEAD, strlen(HEAD));
        for (char *line = text + strlen(HEAD); *line; line = next) {
            int i, n, begin = 0;
            next = strchr(line, '\n');
            next = next ? next + 1 : line + strlen(line);
            if (sscanf(line, "#%d %d %n", &i, &n, &begin) != 2 || i < 0 || i >= LINES) continue;
            if (next - line == begin + 40 * n + 5 && n > newest[i]) newest[i] = n;
        }
        for (int i = 0; i < LINES; i++)
            if (newest[i] < done)
                fail_msg("kill %d: line %d is of %d, not %d", k, i, newest[i], done);
        at_arena_reset(a);
    }
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(append, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(torn, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(empty_ones, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(locked, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(killed, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(file_too_large, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(disk_full, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(devices, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(not_writable, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(tail, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(tail_killed, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
