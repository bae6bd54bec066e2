/* runtime/npz.c: sparse matrices as scipy.sparse.save_npz writes them: a zip archive with one .npy
 * per array, compressed or not. The only user of libzip. */
#include "runtime/runtime_int.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

enum {
    MOST_DEFLATED = 1032, /* bytes that one byte can stand for */
    MOST_HEADER = 4096    /* of a member, before its elements */
};
static const int64_t widest = 8; /* bytes of an element */

typedef struct archive {
    at_arena *arena;
    const char *path;
    uint64_t size_bytes;
    zip_t *zip;
    at_error *err;
} archive;

static at_status fail(const archive *z, const char *member, const char *why) {
    return at_fail(z->err, AT_E_INPUT, "%s: member %s: %s", z->path, member, why);
}

static at_status open_archive(archive *z) {
    int code, fd;
    struct stat st = {0};
    AT_TRY(at_open_file(z->path, &fd, z->err));
    fstat(fd, &st);
    close(fd);
    z->size_bytes = (uint64_t)st.st_size;
    z->zip = zip_open(z->path, ZIP_RDONLY, &code);
    if (z->zip) return AT_OK;
    zip_error_t e;
    zip_error_init_with_code(&e, code);
    at_fail(z->err, AT_E_INPUT, "%s: no .npz file: %s", z->path, zip_error_strerror(&e));
    zip_error_fini(&e);
    return AT_E_INPUT;
}

/* All of it, up to its end, where libzip compares the checksum. */
static at_status read_all(archive *z, const char *member, zip_file_t *f, char *bytes, size_t len) {
    size_t n = 0;
    char more;
    for (zip_int64_t got = 1; got > 0; n += (size_t)got) {
        got = n < len ? zip_fread(f, bytes + n, len - n) : zip_fread(f, &more, 1);
        if (got < 0) return fail(z, member, zip_file_strerror(f));
        if (got > 0 && n == len) return fail(z, member, "longer than it says");
    }
    return n == len ? AT_OK : fail(z, member, "truncated");
}

/* Of at most so many elements: what is longer is refused before any memory is taken for it. */
static at_status read_member(archive *z, const char *name, int64_t most, at_npy *out) {
    int64_t most_bytes = INT64_MAX;
    const char *member = at_format(z->arena, "%s.npy", name);
    const char *what = at_format(z->arena, "%s: member %s", z->path, member);
    zip_stat_t st;
    if (zip_stat(z->zip, member, 0, &st) != 0) {
        if (zip_error_code_zip(zip_get_error(z->zip)) != ZIP_ER_NOENT)
            return fail(z, member, zip_strerror(z->zip));
        return fail(z, member, "missing; scipy.sparse.save_npz writes it");
    }
    if (!(st.valid & ZIP_STAT_SIZE) || st.size / MOST_DEFLATED > z->size_bytes)
        return fail(z, member, "its size is impossible: the archive is too small for it");
    if (at_mul64(most, widest, &most_bytes) && st.size > (uint64_t)most_bytes + MOST_HEADER)
        return fail(z, member,
                    at_format(z->arena, "of %lld bytes, though the matrix has %lld elements there",
                              (long long)st.size, (long long)most));
    if (st.size > (uint64_t)at_cpu_facts()->memory_bytes / 8)
        return fail(z, member, "too large for this machine");
    zip_file_t *f = zip_fopen_index(z->zip, st.index, 0);
    if (!f) return fail(z, member, zip_strerror(z->zip));
    char *bytes = at_alloc(z->arena, (size_t)st.size + 1);
    at_status s = read_all(z, member, f, bytes, (size_t)st.size);
    zip_fclose(f);
    AT_TRY(s);
    return at_npy_open(what, bytes, (size_t)st.size, out, z->err);
}

static at_status read_integers(archive *z, const char *name, int64_t most, int64_t *count,
                               const int64_t **out) {
    at_npy x;
    AT_TRY(read_member(z, name, most, &x));
    if (x.num_dims != 1) return fail(z, name, "of one axis is needed");
    *count = x.count;
    return at_npy_integers(z->arena, &x, out, z->err);
}

/* 'bsr', of bytes or of characters of 4 bytes. */
static at_status read_format(archive *z, char format[8]) {
    at_npy x;
    AT_TRY(read_member(z, "format", 8, &x));
    int64_t width = x.descr[1] == 'U' ? 4 : 1, n = x.item_bytes / width;
    if (x.count != 1 || !strchr("SU", x.descr[1])) return fail(z, "format", "no text");
    for (int64_t i = 0; i < n && i < 7; i++) format[i] = x.data[i * width];
    return AT_OK;
}

static at_status read_shape(archive *z, at_input *out) {
    int64_t n;
    const int64_t *shape;
    AT_TRY(read_integers(z, "shape", 2, &n, &shape));
    if (n != 2 || shape[0] < 1 || shape[1] < 1 || shape[0] > INT32_MAX || shape[1] > INT32_MAX)
        return fail(z, "shape", "rows and columns are needed, from 1 to 2^31-1");
    out->num_dims = 2;
    out->dims[0] = shape[0];
    out->dims[1] = shape[1];
    return AT_OK;
}

static at_status read_data(archive *z, int axes, int64_t most, at_input *out) {
    at_npy x;
    AT_TRY(read_member(z, "data", most, &x));
    if (x.num_dims != axes)
        return fail(z, "data", axes == 1 ? "of one axis is needed" : "of three axes is needed");
    out->nnz = x.dims[0];
    out->r = axes == 1 ? 1 : x.dims[1];
    out->c = axes == 1 ? 1 : x.dims[2];
    if (out->r < 1 || out->c < 1 || out->dims[0] % out->r || out->dims[1] % out->c)
        return at_fail(z->err, AT_E_INPUT, "%s: blocks of %lldx%lld do not divide %lld x %lld",
                       z->path, (long long)out->r, (long long)out->c, (long long)out->dims[0],
                       (long long)out->dims[1]);
    return at_npy_floats(z->arena, &x, &out->values, z->err);
}

/* Rows by pointers into the list of columns: csr, bsr. How many blocks there are, and of how many
 * elements at most, the pointers say. */
static at_status read_rows(archive *z, bool blocks, at_input *out) {
    const int64_t all = out->dims[0] * out->dims[1]; /* 2^31 each at most */
    int64_t num_pointers, num_indices, rows, last, most;
    const int64_t *indptr, *indices;
    AT_TRY(read_integers(z, "indptr", out->dims[0] + 1, &num_pointers, &indptr));
    most = num_pointers > 0 && indptr[num_pointers - 1] > 0 ? indptr[num_pointers - 1] : 0;
    AT_TRY(read_data(z, blocks ? 3 : 1, blocks || most > all ? all : most, out));
    rows = out->dims[0] / out->r;
    AT_TRY(read_integers(z, "indices", out->nnz, &num_indices, &indices));
    if (num_pointers != rows + 1 || num_indices != out->nnz || out->nnz > INT32_MAX)
        return at_fail(z->err, AT_E_INPUT,
                       "%s: %lld rows of %lld blocks need %lld pointers and %lld indices; there "
                       "are %lld and %lld",
                       z->path, (long long)rows, (long long)out->nnz, (long long)rows + 1,
                       (long long)out->nnz, (long long)num_pointers, (long long)num_indices);
    int32_t *block_rows = AT_NEW_ARRAY(z->arena, int32_t, out->nnz);
    int32_t *block_columns = AT_NEW_ARRAY(z->arena, int32_t, out->nnz);
    if (indptr[0] != 0 || indptr[rows] != out->nnz)
        return fail(z, "indptr", "it does not run from 0 to the number of blocks");
    for (int64_t i = 0; i < rows; i++) {
        if (indptr[i + 1] < indptr[i] || indptr[i + 1] > out->nnz)
            return fail(z, "indptr",
                        at_format(z->arena,
                                  "row %lld ends before it begins, or behind the last "
                                  "block",
                                  (long long)i));
        last = -1;
        for (int64_t e = indptr[i]; e < indptr[i + 1]; last = indices[e], e++) {
            if (indices[e] < 0 || indices[e] >= out->dims[1] / out->c)
                return fail(z, "indices",
                            at_format(z->arena, "%lld in row %lld is not from 0 to %lld",
                                      (long long)indices[e], (long long)i,
                                      (long long)(out->dims[1] / out->c - 1)));
            if (indices[e] <= last)
                return fail(z, "indices",
                            at_format(z->arena,
                                      "not ascending in row %lld: %lld after %lld; "
                                      "sum_duplicates() orders them",
                                      (long long)i, (long long)indices[e], (long long)last));
            block_rows[e] = (int32_t)i;
            block_columns[e] = (int32_t)indices[e];
        }
    }
    out->rows = block_rows;
    out->columns = block_columns;
    return AT_OK;
}

/* Entries in any order: coo. */
static at_status read_entries(archive *z, at_input *out) {
    int64_t num_rows, num_columns, n;
    const int64_t *rows, *columns;
    AT_TRY(read_data(z, 1, out->dims[0] * out->dims[1], out));
    n = out->nnz;
    AT_TRY(read_integers(z, "row", n, &num_rows, &rows));
    AT_TRY(read_integers(z, "col", n, &num_columns, &columns));
    if (num_rows != n || num_columns != n || n > INT32_MAX)
        return fail(z, "row", "row, col and data differ in length");
    at_entry *entries = AT_NEW_ARRAY(z->arena, at_entry, n);
    for (int64_t i = 0; i < n; i++) {
        if (rows[i] < 0 || rows[i] >= out->dims[0] || columns[i] < 0 || columns[i] >= out->dims[1])
            return fail(z, "row",
                        at_format(z->arena, "entry (%lld, %lld) is outside of the matrix",
                                  (long long)rows[i], (long long)columns[i]));
        entries[i] = (at_entry){(int32_t)rows[i], (int32_t)columns[i], out->values[i]};
    }
    return at_input_of_entries(z->arena, z->path, entries, n, true, out, z->err);
}

static at_status read_matrix(archive *z, at_input *out) {
    char format[8] = "";
    *out = (at_input){.sparse = true};
    AT_TRY(read_format(z, format));
    bool bsr = !strcmp(format, "bsr"), coo = !strcmp(format, "coo");
    if (!bsr && !coo && strcmp(format, "csr") != 0)
        return at_fail(z->err, AT_E_INPUT,
                       "%s: a matrix of format \"%s\"; bsr, csr and coo are read", z->path, format);
    AT_TRY(read_shape(z, out));
    return coo ? read_entries(z, out) : read_rows(z, bsr, out);
}

at_status at_input_npz(at_arena *a, const char *path, at_input *out, at_error *err) {
    archive z = {.arena = a, .path = path, .err = err};
    AT_TRY(open_archive(&z));
    at_status s = read_matrix(&z, out);
    zip_discard(z.zip);
    return s;
}
