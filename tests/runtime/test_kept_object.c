/* What gcc made is found again as it was written, and nothing else is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/kept_object.h"

static void test_kept(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_error err;
    char folder[] = "/tmp/at_kept_XXXXXX", *bytes;
    size_t size;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("XDG_CACHE_HOME", folder, 1), 0);
    const char *object = at_format(a, "%s/object", folder), *text = "int f(void) { return 1; }";
    assert_int_equal(at_write_file(object, "machine code", 12, &err), AT_OK);
    const char *path = at_kept_path(a, "reference", "-O3", text);
    assert_string_not_equal(path, at_kept_path(a, "reference", "-O2", text));
    assert_string_not_equal(path, at_kept_path(a, "network", "-O3", text));
    assert_string_not_equal(path, at_kept_path(a, "reference", "-O3", "int f(void);"));
    assert_string_equal(path, at_kept_path(a, "reference", "-O3", text));
    assert_false(at_kept_is_own(path));
    assert_false(at_kept_read(a, path, &bytes, &size));
    at_kept_add(a, path, object);
    assert_true(at_kept_is_own(path));
    assert_true(at_kept_read(a, path, &bytes, &size));
    assert_int_equal(size, 12);
    assert_memory_equal(bytes, "machine code", 12);
    /* Others may write it; it is cut off; a byte of it is another one. */
    assert_int_equal(chmod(path, 0666), 0);
    assert_false(at_kept_read(a, path, &bytes, &size));
    assert_int_equal(chmod(path, 0600), 0);
    assert_true(at_kept_read(a, path, &bytes, &size));
    assert_int_equal(at_read_file(a, path, 1000, &bytes, &size, &err), AT_OK);
    assert_int_equal(at_write_file(path, bytes, size - 1, &err), AT_OK);
    assert_false(at_kept_read(a, path, &bytes, &size));
    bytes[3] ^= 1;
    assert_int_equal(at_write_file(path, bytes, size, &err), AT_OK);
    assert_false(at_kept_read(a, path, &bytes, &size));
    unlink(path);
    unlink(object);
    rmdir(at_format(a, "%s/autotune", folder));
    rmdir(folder);
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
