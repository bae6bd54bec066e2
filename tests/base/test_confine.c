/* Folders outside of those that are named stay as they are, whatever the process does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

enum { MADE = 1, WRITTEN = 2, REMOVED = 4, NOT_LIMITED = 64 };

/* What can be done in a folder that holds the file "old". */
static int try_all(const char *folder) {
    char name[300];
    int done = 0, fd;
    snprintf(name, sizeof name, "%s/new", folder);
    if (!mkdir(name, 0700)) done |= MADE;
    snprintf(name, sizeof name, "%s/old", folder);
    fd = open(name, O_WRONLY);
    if (fd >= 0) done |= WRITTEN, close(fd);
    if (!unlink(name)) done |= REMOVED;
    return done;
}

static void make_old(const char *folder) {
    char name[300];
    snprintf(name, sizeof name, "%s/old", folder);
    int fd = open(name, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static void remove_all(const char *folder) {
    char name[300];
    snprintf(name, sizeof name, "%s/old", folder);
    unlink(name);
    snprintf(name, sizeof name, "%s/new", folder);
    rmdir(name);
    rmdir(folder);
}

/* In a child, which tells by its exit code. */
static int limited_to(const char *folder, const char *tried) {
    int status;
    pid_t pid = fork();
    if (!pid) _exit(at_limit_writes(&folder, 1) ? try_all(tried) : NOT_LIMITED);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void writes_are_limited(void **state) {
    (void)state;
    char in[] = "/tmp/at-test-in-XXXXXX", out[] = "/tmp/at-test-out-XXXXXX";
    assert_non_null(mkdtemp(in));
    assert_non_null(mkdtemp(out));
    make_old(in);
    make_old(out);
    int inside = limited_to(in, in), outside = limited_to(in, out);
    remove_all(in);
    remove_all(out);
    if (inside == NOT_LIMITED) skip();
    assert_int_equal(inside, MADE | WRITTEN | REMOVED);
    assert_int_equal(outside, 0);
}

static void forbidden(void *ctx) { (void)!chdir(ctx); }
static void allowed(void *ctx) {
    float *p = realloc(malloc(1 << 20), 4 << 20);
    *(volatile float *)p = *(const float *)ctx;
}

/* Confined code is told by the name of what it asked for; unconfined code may ask. */
static void attempts_are_confined(void **state) {
    (void)state;
    int number;
    float x = 1;
    at_error err;
    char root[] = "/";
    assert_int_equal(at_attempt(allowed, &x, true, 10, NULL, &number), AT_ATTEMPT_DONE);
    assert_int_equal(at_attempt(forbidden, root, false, 10, NULL, &number), AT_ATTEMPT_DONE);
    at_attempt_end end = at_attempt(forbidden, root, true, 10, NULL, &number);
    if (end == AT_ATTEMPT_DONE) skip();
    assert_int_equal(end, AT_ATTEMPT_REFUSED);
    assert_int_equal(at_attempt_fail(end, number, 10, &err), AT_E_INPUT);
    assert_string_equal(err.text, "called chdir, and may do nothing but compute");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(writes_are_limited),
                                       cmocka_unit_test(attempts_are_confined)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
