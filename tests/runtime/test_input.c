/* Weights from files. tests/golden/weights holds what NumPy 1.24 and SciPy 1.10 wrote of one matrix
 * of 8 x 12 in blocks of 4 x 1: five of them, at (0,1) (0,5) (0,11) (1,0) (1,5); in column c,
 * element i of a block is (i + 1)/4 - (c + 1). */
#include "rig.h"
#include "runtime/runtime_int.h"
#include "tests/whole_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#define FOLDER "tests/golden/weights/"

enum { ROWS = 8, COLUMNS = 12, BLOCKS = 5 };
static const int32_t block_rows[BLOCKS] = {0, 0, 0, 1, 1}, block_columns[BLOCKS] = {1, 5, 11, 0, 5};

static float element(int block, int i) {
    return (float)(i + 1) / 4 - (float)(block_columns[block] + 1);
}

static at_arena *arena;
static char copy[] = "/tmp/autotune-weight-XXXXXX.npz";

static int setup(void **state) {
    (void)state;
    arena = at_arena_new();
    int fd = mkstemps(copy, 4);
    return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state) {
    (void)state;
    at_arena_free(arena);
    return unlink(copy);
}

/* ---- what is read ---------------------------------------------------------------------------- */

static void expect_matrix(const at_input *in, bool valued) {
    at_input cut;
    at_error err;
    if (at_input_cut(arena, in, 4, 1, &cut, &err) != AT_OK) fail_msg("%s", err.text);
    assert_true(cut.sparse && cut.num_dims == 2 && cut.dims[0] == ROWS && cut.dims[1] == COLUMNS);
    assert_true(cut.r == 4 && cut.c == 1);
    assert_int_equal(cut.nnz, BLOCKS);
    assert_true(valued == (cut.values != NULL));
    for (int b = 0; b < BLOCKS; b++) {
        assert_int_equal(cut.rows[b], block_rows[b]);
        assert_int_equal(cut.columns[b], block_columns[b]);
        for (int i = 0; valued && i < 4; i++) assert_true(cut.values[4 * b + i] == element(b, i));
    }
}

static void formats(void **state) {
    (void)state;
    static const char *const files[] = {
        "bsr.npz",   "bsr_float64_stored.npz", "csr.npz",  "coo.npz",
        "array.npy", "coordinate.mtx",         "array.mtx"};
    at_input in;
    at_error err;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (at_input_read(arena, at_format(arena, FOLDER "%s", files[i]), &in, &err) != AT_OK)
            fail_msg("%s", err.text);
        expect_matrix(&in, true);
    }
    assert_int_equal(at_input_read(arena, FOLDER "pattern.mtx", &in, &err), AT_OK);
    expect_matrix(&in, false);
}

/* Blocks of any shape hold all of the matrix, and each holds something. */
static void blocks(void **state) {
    (void)state;
    static const int shapes[][2] = {{1, 1}, {1, 12}, {8, 1}, {2, 3}, {4, 4}, {8, 12}};
    at_input array, csr, in[2], cut;
    at_error err;
    assert_int_equal(at_input_read(arena, FOLDER "array.npy", &array, &err), AT_OK);
    assert_int_equal(at_input_read(arena, FOLDER "csr.npz", &csr, &err), AT_OK);
    in[0] = array, in[1] = csr;
    for (int s = 0; s < 12; s++) {
        int r = shapes[s / 2][0], c = shapes[s / 2][1];
        float whole[ROWS * COLUMNS] = {0};
        assert_int_equal(at_input_cut(arena, &in[s % 2], r, c, &cut, &err), AT_OK);
        for (int64_t b = 0; b < cut.nnz; b++) {
            bool any = false;
            if (b)
                assert_true(cut.rows[b] > cut.rows[b - 1] || (cut.rows[b] == cut.rows[b - 1] &&
                                                              cut.columns[b] > cut.columns[b - 1]));
            for (int i = 0; i < r * c; i++) {
                float v = cut.values[b * r * c + i];
                whole[(cut.rows[b] * r + i / c) * COLUMNS + cut.columns[b] * c + i % c] = v;
                any |= v != 0;
            }
            assert_true(any);
        }
        assert_memory_equal(whole, array.values, sizeof whole);
    }
    assert_int_equal(at_input_read(arena, FOLDER "bsr.npz", &in[0], &err), AT_OK);
    assert_int_equal(at_input_cut(arena, &in[0], 2, 1, &cut, &err), AT_E_USAGE);
    assert_string_equal(err.text, "its blocks are 4x1, not 2x1");
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void expect_refused(at_status s, const at_error *err, const char *text) {
    assert_int_equal(s, AT_E_INPUT);
    if (!strstr(err->text, text)) fail_msg("not \"%s\":\n%s", text, err->text);
}

static void bad_files(void **state) {
    (void)state;
    static const char *const files[][2] = {
        {"csc.npz", "csc.npz: a matrix of format \"csc\"; bsr, csr and coo are read"},
        {"plain.npz", "plain.npz: member format.npy: missing; scipy.sparse.save_npz writes it"},
        {"fortran.npy", "in Fortran order; numpy.ascontiguousarray(x) makes it C order"},
        {"big_endian.npy", "dtype '>f4' is big-endian; x.astype('<f4') makes it little-endian"},
        {"int64.npy", "dtype '<i8'; float16, float32 and float64 are read"},
        {"objects.npy", "dtype '|O' is not read"},
        {"fields.npy", "header \"{'descr': [('a', '<f4'), ('b', '<i4')], 'fortran_order': False, "
                       "'shape': (3,), }\"; expected a descr without fields"},
        {"none.npz", "cannot read " FOLDER "none.npz: No such file"},
        {"none.npy", "cannot read " FOLDER "none.npy: No such file"},
    };
    at_input in;
    at_error err;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        at_status s = at_input_read(arena, at_format(arena, FOLDER "%s", files[i][0]), &in, &err);
        expect_refused(s, &err, files[i][1]);
    }
    assert_int_equal(at_input_read(arena, "w.bin", &in, &err), AT_E_USAGE);
    assert_string_equal(err.text, "w.bin: the name of an array's file ends in .npy, .npz or .mtx");
    assert_int_equal(at_input_read(arena, ".npy", &in, &err), AT_E_USAGE);
}

/* A file of one array by hand. */
static size_t make_npy(char *out, const char *header, const void *data, size_t bytes) {
    size_t n = strlen(header);
    memcpy(out, "\x93NUMPY\x01", 8);
    out[8] = (char)n, out[9] = (char)(n >> 8);
    memcpy(out + 10, header, n);
    if (bytes) memcpy(out + 10 + n, data, bytes);
    return 10 + n + bytes;
}

static void npy(void **state) {
    (void)state;
    static const float two[] = {1.5f, -2};
    static const uint16_t halves[] = {0x3e00, 0xc000}; /* the same two */
    static const double large[] = {1e39, 0};
    static const uint32_t nan[] = {0x7fc00000, 0};
    static const struct {
        const char *header;
        const void *data;
        size_t bytes;
        const char *text; /* NULL: two floats, accepted */
    } cases[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", two, 8, NULL},
        {"{\"shape\":(1, 2),\"descr\":\"<f4\",\"fortran_order\":False}\n", two, 8, NULL},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }", two, 8, NULL},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2L,), }", two, 8, NULL},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", two, 7,
         "x: truncated: 2 elements of '<f4', but 7 bytes"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (), }", two, 8,
         "x: 4 bytes behind the array"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", large, 16,
         "x: element 0 is 1e+39"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", nan, 8,
         "x: element 0 is nan"},
        {"{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }", halves, 4, NULL},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", two, 8, "dtype '<c8'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", two, 8,
         "x: its shape exceeds 2^63 elements"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,), }", two, 8,
         "x: truncated"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", two, 8,
         "x: header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", two, 8, "x: header"},
        {"{'descr': '<f4', 'fortran_order': False}", two, 8, "x: header"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", two, 8, "x: header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}", two, 8, "x: header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", two, 8, "x: header"},
        {"", two, 8, "x: header \"\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char file[512];
        at_input in;
        at_error err;
        size_t n = make_npy(file, cases[i].header, cases[i].data, cases[i].bytes);
        at_status s = at_input_npy(arena, "x", file, n, &in, &err);
        if (cases[i].text) expect_refused(s, &err, cases[i].text);
        else {
            if (s != AT_OK) fail_msg("%s", err.text);
            assert_memory_equal(in.values, two, sizeof two);
        }
        if (i) continue; /* no part of a file is one */
        for (size_t part = 0; part < n; part++)
            assert_int_equal(at_input_npy(arena, "x", file, part, &in, &err), AT_E_INPUT);
        file[6] = 4;
        expect_refused(at_input_npy(arena, "x", file, n, &in, &err), &err,
                       "x: version 4 of the format; 1 to 3 are read");
    }
}

#define BANNER "%%MatrixMarket matrix coordinate real general\n"

static void mtx(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"", "m:1: no Matrix Market file: it does not begin with %%MatrixMarket"},
        {"%MatrixMarket", "m:1: no Matrix Market file"},
        {"%%MatrixMarket vector", "m:1: expected matrix, got \"vector\""},
        {"%%MatrixMarket matrix dense", "m:1: expected coordinate or array, got \"dense\""},
        {"%%MatrixMarket matrix coordinate complex",
         "m:1: expected real, integer or pattern, got \"complex\""},
        {"%%MatrixMarket matrix array pattern", "m:1: expected real or integer, got \"pattern\""},
        {"%%MatrixMarket matrix coordinate real symmetric",
         "m:1: expected general, got \"symmetric\""},
        {BANNER, "m:2: truncated: expected number of rows"},
        {BANNER "0 2 1\n", "m:2: number of rows 0 is not from 1 to 2147483647"},
        {BANNER "% 1\n\n2 2 1.5\n", "m:4: expected number of entries, got \"1.5\""},
        {BANNER "2 2 1000000000\n1 1 1\n",
         "m:2: truncated: 7 bytes cannot hold 1000000000 entries"},
        {BANNER "2 2 2\n1 1 1\n", "m:4: truncated: expected row"},
        {BANNER "2 2 1\n1 3 1\n", "m:3: column 3 is not from 1 to 2"},
        {BANNER "2 2 1\n0 1 1\n", "m:3: row 0 is not from 1 to 2"},
        {BANNER "2 2 1\n1 1 x\n", "m:3: expected a value, got \"x\""},
        {BANNER "2 2 1\n1 1 1e39\n", "m:3: expected a value that float32 holds, got \"1e39\""},
        {BANNER "2 2 1\n1 1 nan\n", "m:3: expected a value that float32 holds, got \"nan\""},
        {BANNER "2 2 1\n1 1 1\n2 2 2\n", "m:4: text behind the last entry"},
        {BANNER "2 2 2\n2 1 1\n2 1 3\n", "m: two entries for row 1, column 0, counted from 0"},
        {"%%MatrixMarket matrix array real general\n2 2\n1 2 3\n",
         "m:4: truncated: expected a value"},
        {"%%MatrixMarket matrix array real general\n2000000000 2000000000\n1 2 3\n",
         "m:2: truncated: 7 bytes cannot hold 4000000000000000000 entries"},
        {BANNER "2 2 1\n1 1 00000000000000000000000000000000000000000000000000000000000000001\n",
         "m:3: expected a value, got 65 characters"},
    };
    at_input in;
    at_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_refused(at_input_mtx(arena, "m", cases[i][0], strlen(cases[i][0]), &in, &err), &err,
                       cases[i][1]);
    /* Case and white space are free, and entries come in any order. */
    static const char good[] = "%%matrixmarket MATRIX Coordinate INTEGER general\r\n% c\r\n"
                               "2 3 3\r\n2 1\t-4\r\n\r\n1 3 7\r\n1 2 5";
    assert_int_equal(at_input_mtx(arena, "m", good, strlen(good), &in, &err), AT_OK);
    assert_true(in.nnz == 3 && in.dims[0] == 2 && in.dims[1] == 3);
    assert_true(in.values[0] == 5 && in.values[1] == 7 && in.values[2] == -4);
}

/* ---- archives -------------------------------------------------------------------------------- */

static void write_copy(const char *bytes, size_t len) {
    FILE *f = fopen(copy, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

/* The archive bsr.npz with another array in one of its members. */
static void replace(const char *member, const char *header, const void *data, size_t bytes) {
    char file[512], *archive;
    size_t n = make_npy(file, header, data, bytes), len;
    assert_int_equal(read_whole(arena, FOLDER "bsr.npz", &archive, &len, NULL), AT_OK);
    write_copy(archive, len);
    zip_t *z = zip_open(copy, 0, NULL);
    assert_non_null(z);
    zip_source_t *s = zip_source_buffer(z, file, n, 0);
    assert_true(zip_file_add(z, at_format(arena, "%s.npy", member), s, ZIP_FL_OVERWRITE) >= 0);
    assert_int_equal(zip_close(z), 0);
}

static void npz(void **state) {
    (void)state;
    static const struct {
        const char *member;
        int32_t data[5];
        int n;
        const char *text;
    } cases[] = {
        {"indices",
         {1, 5, 11, 5, 0},
         5,
         "member indices: not ascending in row 1: 0 after 5; sum_duplicates() orders them"},
        {"indices", {1, 1, 11, 0, 5}, 5, "not ascending in row 0: 1 after 1"},
        {"indices", {1, 5, 12, 0, 5}, 5, "member indices: 12 in row 0 is not from 0 to 11"},
        {"indices", {-1, 5, 11, 0, 5}, 5, "member indices: -1 in row 0 is not from 0 to 11"},
        {"indices",
         {1, 5, 11, 0},
         4,
         "2 rows of 5 blocks need 3 pointers and 5 indices; there are 3 and 4"},
        {"indptr",
         {0, 5},
         2,
         "2 rows of 5 blocks need 3 pointers and 5 indices; there are 2 and 5"},
        {"indptr", {1, 3, 5}, 3, "member indptr: it does not run from 0 to the number of blocks"},
        {"indptr", {0, 3, 4}, 3, "member indptr: it does not run from 0 to the number of blocks"},
        {"indptr", {0, 6, 5}, 3, "member indptr: row 0 ends before it begins, or behind the last"},
        {"indptr", {0, -1, 5}, 3, "member indptr: row 0 ends before it begins, or behind the last"},
        {"shape", {8, 12, 1}, 3, "member shape: rows and columns are needed"},
        {"shape", {8, 0}, 2, "member shape: rows and columns are needed"},
        {"shape", {9, 12}, 2, "blocks of 4x1 do not divide 9 x 12"},
        {"shape", {12, 12}, 2, "3 rows of 5 blocks need 4 pointers"},
        {"format", {0}, 1, "member format: no text"},
        {"data", {1, 2, 3, 4, 5}, 5, "member data: of three axes is needed"},
    };
    at_input in;
    at_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *header = at_format(
            arena, "{'descr': '<i4', 'fortran_order': False, 'shape': (%d,), }", cases[i].n);
        replace(cases[i].member, header, cases[i].data, 4 * (size_t)cases[i].n);
        expect_refused(at_input_read(arena, copy, &in, &err), &err, cases[i].text);
    }
    replace("indices", "{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }", cases[0].data,
            20);
    expect_refused(at_input_read(arena, copy, &in, &err), &err,
                   "member indices.npy: dtype '<f4'; integers of up to 64 bits are read");
    replace("indices", "{'descr': '<i4', 'fortran_order': False, 'shape': (5,), }", cases[0].data,
            16);
    expect_refused(at_input_read(arena, copy, &in, &err), &err, "member indices.npy: truncated");
}

/* Zeros, which are packed a thousandfold, are not unpacked where the matrix has no room for them.
 */
static void too_much(void **state) {
    (void)state;
    enum { BYTES = 16 << 20 };
    static const char *const members[] = {"format", "shape", "indptr", "data", "indices"};
    char *zeros = calloc(1, BYTES);
    at_input in;
    at_error err;
    assert_non_null(zeros);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        char *archive;
        size_t len;
        assert_int_equal(read_whole(arena, FOLDER "bsr.npz", &archive, &len, NULL), AT_OK);
        write_copy(archive, len);
        zip_t *z = zip_open(copy, 0, NULL);
        assert_non_null(z);
        zip_source_t *s = zip_source_buffer(z, zeros, BYTES, 0);
        assert_true(zip_file_add(z, at_format(arena, "%s.npy", members[i]), s, ZIP_FL_OVERWRITE) >=
                    0);
        assert_int_equal(zip_close(z), 0);
        const size_t before = at_arena_used(arena);
        expect_refused(at_input_read(arena, copy, &in, &err), &err,
                       at_format(arena, "member %s.npy: of 16777216 bytes, though the matrix has ",
                                 members[i]));
        assert_true(at_arena_used(arena) - before < 100000);
    }
    free(zeros);
}

/* A damaged archive is refused, or the damage is where nothing of the matrix is. */
static void damaged(void **state) {
    (void)state;
    char *archive;
    size_t len, right = 0;
    at_input in;
    at_error err;
    assert_int_equal(read_whole(arena, FOLDER "bsr.npz", &archive, &len, NULL), AT_OK);
    for (size_t i = 0; i < len; i++) {
        archive[i] ^= 0x55;
        write_copy(archive, len);
        if (at_input_read(arena, copy, &in, &err) == AT_OK) expect_matrix(&in, true), right++;
        else assert_int_equal(err.status, AT_E_INPUT);
        archive[i] ^= 0x55;
    }
    assert_true(right < len / 2); /* dates, versions, attributes */
    for (size_t part = 0; part < len; part += 7) {
        write_copy(archive, part);
        assert_int_equal(at_input_read(arena, copy, &in, &err), AT_E_INPUT);
    }
    write_copy("PK", 2);
    expect_refused(at_input_read(arena, copy, &in, &err), &err, "no .npz file: Not a zip archive");
}

/* Integers of every width, which at_npy_print writes. */
static void integers(void **state) {
    (void)state;
    static const struct {
        const char *descr;
        uint8_t bytes[16];
        int64_t first, second;
        const char *refused;
    } cases[] = {
        {"|u1", {200, 255}, 200, 255, NULL},
        {"|i1", {200, 127}, -56, 127, NULL},
        {"|b1", {1, 0}, 1, 0, NULL},
        {"<i2", {0xff, 0xff, 1, 2}, -1, 513, NULL},
        {"<u2", {0xff, 0xff, 1, 2}, 65535, 513, NULL},
        {"<i4", {0xfe, 0xff, 0xff, 0xff, 1}, -2, 1, NULL},
        {"<u4", {0xfe, 0xff, 0xff, 0xff, 1}, 4294967294, 1, NULL},
        {"<i8", {1, 0, 0, 0, 0, 0, 0, 0x80, 9}, INT64_MIN + 1, 9, NULL},
        {"<u8", {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 9}, INT64_MAX, 9, NULL},
        {"<u8",
         {9, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x80},
         0,
         0,
         "element 1 is 9223372036854775809; up to 2^63 - 1 is read"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = at_format(arena, "%s.npy", copy);
        const int64_t dims[] = {2}, *entries;
        at_text file = {0};
        at_input in;
        at_error err;
        at_npy_print(&file, cases[i].descr, 1, dims, cases[i].bytes,
                     2 * (size_t)(cases[i].descr[2] - '0'));
        assert_int_equal(at_write_file(path, at_text_str(&file), file.len, &err), AT_OK);
        at_text_free(&file);
        const at_status s = at_input_integers(arena, path, &in, &entries, &err);
        if (cases[i].refused) {
            unlink(path);
            expect_refused(s, &err, cases[i].refused);
            continue;
        }
        if (s != AT_OK) fail_msg("%s", err.text);
        assert_int_equal(in.dims[0], 2);
        assert_true(entries[0] == cases[i].first && entries[1] == cases[i].second);
        unlink(path);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats),  cmocka_unit_test(blocks),  cmocka_unit_test(bad_files),
        cmocka_unit_test(npy),      cmocka_unit_test(mtx),     cmocka_unit_test(npz),
        cmocka_unit_test(too_much), cmocka_unit_test(damaged), cmocka_unit_test(integers),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
