/* What others, or a mistake, may put into a shared directory: links, pipes, files of others, too
 * long ones. Nothing of it is read, followed, waited for or removed beyond the directory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "remote/drop_box.h"
#include "remote/own_folder.h"

enum { NOBODY = 65534 };
static char folder[64];
static int top;

static int setup(void **state) {
    (void)state;
    strcpy(folder, "/tmp/autotune-own-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    top = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return top < 0;
}

static int teardown(void **state) {
    (void)state;
    close(top);
    at_own_folder_remove(AT_FDCWD, folder);
    return access(folder, F_OK) == 0;
}

static mode_t mode_of(const char *name) {
    struct stat st;
    assert_int_equal(fstatat(top, name, &st, AT_SYMLINK_NOFOLLOW), 0);
    return st.st_mode & 07777;
}

static void write_file(const char *name, const char *text) {
    int fd = openat(top, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static void expect_refused(const char *name, const char *says) {
    at_error err;
    int fd;
    assert_int_equal(at_own_folder(top, name, true, &fd, &err), AT_E_INPUT);
    assert_int_equal(fd, -1);
    assert_non_null(strstr(err.text, says));
}

static void made_closed(void **state) {
    (void)state;
    static const mode_t masks[] = {0, 022, 0777};
    for (int i = 0; i < 3; i++) {
        char name[16];
        at_error err;
        int fd;
        snprintf(name, sizeof name, "made%d", i);
        mode_t before = umask(masks[i]);
        assert_int_equal(at_own_folder(top, name, true, &fd, &err), AT_OK);
        assert_true(at_own_file_put(fd, "file", "x", 1));
        umask(before);
        assert_int_equal(mode_of(name), 0700);
        struct stat st;
        assert_int_equal(fstatat(fd, "file", &st, 0), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
        close(fd);
    }
}

static void folders_refused(void **state) {
    (void)state;
    mkdirat(top, "real", 0700);
    symlinkat("real", top, "link");
    mkdirat(top, "wide", 0700);
    fchmodat(top, "wide", 0750, 0);
    write_file("plain", "");
    expect_refused("link", "it is a link");
    expect_refused("plain", "it is a link, or no folder");
    expect_refused("wide", "open to others");
    if (geteuid() != 0) return; /* only root can give a folder away */
    mkdirat(top, "others", 0700);
    assert_int_equal(fchownat(top, "others", NOBODY, NOBODY, 0), 0);
    expect_refused("others", "another user's");
}

/* The drop box whose next message is the file "1". */
static at_drop *new_box(const char *name, int *in) {
    at_error err;
    at_drop *d;
    int fd;
    assert_int_equal(at_own_folder(top, name, true, &fd, &err), AT_OK);
    assert_int_equal(at_drop_open(fd, "in", "out", &d, &err), AT_OK);
    *in = openat(fd, "in", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(*in >= 0);
    close(fd);
    return d;
}

static void expect_nothing(at_drop *d) {
    at_text got = {0};
    assert_true(at_drop_read(d, &got));
    assert_int_equal(got.len, 0);
    at_text_free(&got);
}

/* None is taken for a message, or waited for; the message that takes its place is. */
static void no_messages(void **state) {
    (void)state;
    int in;
    at_drop *d = new_box("messages", &in);
    write_file("secret", "not for the peer");
    symlinkat("../../secret", in, "1");
    expect_nothing(d);
    unlinkat(in, "1", 0);
    assert_int_equal(mkfifoat(in, "1", 0600), 0);
    expect_nothing(d);
    unlinkat(in, "1", 0);
    mkdirat(in, "1", 0700);
    expect_nothing(d);
    unlinkat(in, "1", AT_REMOVEDIR);
    int fd = openat(in, "1", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(ftruncate(fd, INT64_C(1) << 40), 0); /* without a block of it */
    close(fd);
    expect_nothing(d);
    unlinkat(in, "1", 0);
    if (geteuid() == 0) {
        assert_true(at_own_file_put(in, "1", "theirs", 6));
        assert_int_equal(fchownat(in, "1", NOBODY, NOBODY, 0), 0);
        expect_nothing(d);
    }
    at_text got = {0};
    assert_true(at_own_file_put(in, "1", "ours", 4));
    assert_true(at_drop_read(d, &got));
    assert_string_equal(at_text_str(&got), "ours");
    at_text_free(&got);
    close(in);
    at_drop_free(d);
}

/* In order, each once; and when the box is gone that is seen. */
static void messages(void **state) {
    (void)state;
    at_error err;
    at_drop *here, *there;
    int fd;
    at_text got = {0};
    assert_int_equal(at_own_folder(top, "box", true, &fd, &err), AT_OK);
    assert_int_equal(at_drop_open(fd, "a", "b", &here, &err), AT_OK);
    assert_int_equal(at_drop_open(fd, "b", "a", &there, &err), AT_OK);
    for (int i = 0; i < 12; i++) {
        char text[2] = {(char)('a' + i), 0};
        assert_true(at_drop_write(there, text, 1));
        if (i % 5 == 4) assert_true(at_drop_read(here, &got));
    }
    assert_true(at_drop_read(here, &got));
    assert_string_equal(at_text_str(&got), "abcdefghijkl");
    /* Whether the file system tells is seen from what it did. */
    assert_true(at_drop_write(there, "m", 1));
    struct pollfd p = {.fd = at_drop_fd(here), .events = POLLIN};
    bool tells = poll(&p, 1, 1000) > 0;
    assert_true(at_drop_read(here, &got));
    assert_int_equal(at_drop_is_told(here), tells);
    close(fd);
    at_own_folder_remove(top, "box");
    assert_false(at_drop_read(here, &got));
    assert_false(at_drop_write(there, "n", 1));
    at_text_free(&got);
    at_drop_free(here);
    at_drop_free(there);
}

/* A link is removed, and nothing behind it. */
static void removed(void **state) {
    (void)state;
    write_file("kept", "kept");
    mkdirat(top, "outside", 0700);
    int out = openat(top, "outside", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(at_own_file_put(out, "file", "x", 1));
    mkdirat(top, "gone", 0700);
    int gone = openat(top, "gone", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    mkdirat(gone, "inner", 0700);
    symlinkat("../outside", gone, "link");
    symlinkat("../kept", gone, "link2");
    close(gone);
    at_own_folder_remove(top, "gone");
    assert_int_not_equal(faccessat(top, "gone", F_OK, 0), 0);
    assert_int_equal(faccessat(top, "kept", F_OK, 0), 0);
    assert_int_equal(faccessat(out, "file", F_OK, 0), 0);
    close(out);
    symlinkat("outside", top, "alone"); /* the folder itself */
    at_own_folder_remove(top, "alone");
    assert_int_equal(faccessat(top, "outside/file", F_OK, 0), 0);
    assert_int_not_equal(faccessat(top, "alone", F_OK, AT_SYMLINK_NOFOLLOW), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_closed), cmocka_unit_test(folders_refused),
        cmocka_unit_test(no_messages), cmocka_unit_test(messages), cmocka_unit_test(removed)};
    return cmocka_run_group_tests_name("remote/own_folder", tests, setup, teardown);
}
