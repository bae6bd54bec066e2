/* runtime/input.c: weights from files, whatever the format: which one it is. */
#include "runtime/runtime_int.h"

#include <string.h>

static at_status read_bytes(at_arena *a, const char *path, char **bytes, size_t *len,
                            at_error *err) {
    size_t most_bytes = (size_t)at_cpu_facts()->memory_bytes / 8;
    return at_read_file(a, path, most_bytes, bytes, len, err);
}

at_status at_input_integers(at_arena *a, const char *path, at_input *out, const int64_t **entries,
                            at_error *err) {
    at_npy x;
    char *bytes;
    size_t len;
    if (!at_ends_in(path, ".npy"))
        return at_fail(err, AT_E_USAGE, "%s: the name of a file of integers ends in .npy", path);
    AT_TRY(read_bytes(a, path, &bytes, &len, err));
    AT_TRY(at_npy_open(path, bytes, len, &x, err));
    *out = (at_input){.num_dims = x.num_dims, .is_whole = strchr("biu", x.descr[1]) != NULL};
    memcpy(out->dims, x.dims, sizeof x.dims);
    return at_npy_integers(a, &x, entries, err);
}

at_status at_input_read(at_arena *a, const char *path, at_input *out, at_error *err) {
    bool npy = at_ends_in(path, ".npy");
    char *bytes;
    size_t len;
    if (at_ends_in(path, ".npz")) return at_input_npz(a, path, out, err);
    if (!npy && !at_ends_in(path, ".mtx"))
        return at_fail(err, AT_E_USAGE,
                       "%s: the name of an array's file ends in .npy, .npz or .mtx", path);
    AT_TRY(read_bytes(a, path, &bytes, &len, err));
    return npy ? at_input_npy(a, path, bytes, len, out, err)
               : at_input_mtx(a, path, bytes, len, out, err);
}
