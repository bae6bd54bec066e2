/* tests/whole_file.h: a file of the tests' own, which may be of any size. */
#ifndef AT_TESTS_WHOLE_FILE_H
#define AT_TESTS_WHOLE_FILE_H

#include "base/base.h"

/* As at_read_file. */
static inline at_status read_whole(at_arena *a, const char *path, char **text, size_t *len,
                                   at_error *err) {
    return at_read_file(a, path, PTRDIFF_MAX / 4, text, len, err);
}

#endif
