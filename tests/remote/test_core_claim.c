/* Claims of cores: who looks at them takes away what nobody holds, and nothing else, whatever
 * others do between its steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "remote/core_claim.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

static void (*before_lock)(void);
static int lock_error;

/* In place of the C library's: others may come before it, or it may fail. */
int flock(int fd, int operation) {
    void (*others)(void) = before_lock;
    before_lock = NULL;
    if (others) others();
    if (lock_error) {
        errno = lock_error;
        return -1;
    }
    return (int)syscall(SYS_flock, fd, operation);
}

static at_core_claim first, second;

static void claim(at_core_claim *c, const char *text) {
    at_error err;
    if (at_core_claim_take(c, 1, &err) != AT_OK) skip(); /* another's agent has this core */
    at_core_claim_tell(c, text);
}

static bool is_told(const char *text) {
    at_text all = {0};
    at_core_claims_read(&all);
    bool is_there = strstr(at_text_str(&all), text);
    at_text_free(&all);
    return is_there;
}

static void given_and_taken(void) {
    at_core_claim_give(&first);
    claim(&second, "second claim\n");
}

/* A file of another in the folder, which keeps it from going with its last claim. */
static void other_file(char name[64]) {
    snprintf(name, 64, "/tmp/autotune-cores-%u/other", (unsigned)geteuid());
    int fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static void another_claims_between(void **state) {
    (void)state;
    char name[64];
    claim(&first, "first claim\n");
    other_file(name);
    before_lock = given_and_taken;
    at_core_claims_clean();
    assert_null(before_lock);
    assert_true(is_told("second claim"));
    at_core_claim_give(&second);
    assert_false(is_told("second claim"));
    unlink(name);
    at_core_claims_clean();
}

static void no_lock_is_known(void **state) {
    (void)state;
    claim(&first, "held\n");
    lock_error = ENOLCK;
    at_core_claims_clean();
    lock_error = 0;
    assert_true(is_told("held"));
    at_core_claim_give(&first);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_claims_between),
        cmocka_unit_test(no_lock_is_known),
    };
    return cmocka_run_group_tests_name("remote/core_claim", tests, NULL, NULL);
}
