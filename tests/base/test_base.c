/* tests/base/test_base.c: status table, errors, arena, vector, random numbers, hash, clock, files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/base.h"
#include "base/range.h"
#include "tests/whole_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- errors ---------------------------------------------------------------------------------- */

static void every_status_has_a_text_and_an_exit_code(void **state) {
    (void)state;
    for (int s = 0; s < AT_STATUS_COUNT; s++) {
        assert_true(*at_status_text((at_status)s));
        for (int t = 0; t < s; t++)
            assert_int_not_equal(at_exit_code((at_status)s), at_exit_code((at_status)t));
    }
    assert_int_equal(at_exit_code(AT_OK), 0);
    assert_int_equal(at_exit_code(AT_E_INTERRUPTED), 130);
}

static void errors_gain_places(void **state) {
    (void)state;
    at_error err;
    assert_int_equal(at_fail(&err, AT_E_INPUT, "tile_k = %d", 24), AT_E_INPUT);
    assert_int_equal(at_fail_at(&err, "%s:%d: ", "gemm.json", 12), AT_E_INPUT);
    assert_string_equal(err.text, "gemm.json:12: tile_k = 24");
    assert_int_equal(at_fail(&err, AT_E_OUTPUT, "again: %s", err.text), AT_E_OUTPUT);
    assert_string_equal(err.text, "again: gemm.json:12: tile_k = 24");
    assert_int_equal(at_fail(NULL, AT_E_USAGE, "nobody listens"), AT_E_USAGE);
}

static void long_errors_are_cut(void **state) {
    (void)state;
    at_error err;
    char longer[3000];
    memset(longer, 'x', sizeof longer);
    longer[2999] = 0;
    at_fail(&err, AT_E_INPUT, "%s", longer);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    at_fail_at(&err, "place: ");
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_memory_equal(err.text, "place: xxx", 10);
    at_fail_at(&err, "%s", longer);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
}

/* ---- arena ----------------------------------------------------------------------------------- */

static void arena_memory_is_zeroed_and_aligned(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    for (int round = 0; round < 4; round++) {
        for (size_t n = 0; n < 3000; n += 7) {
            unsigned char *p = at_alloc(a, n);
            assert_int_equal((uintptr_t)p % 16, 0);
            for (size_t i = 0; i < n; i++) assert_int_equal(p[i], 0);
            memset(p, 0xff, n);
        }
        unsigned char *large = at_alloc(a, 1 << 24);
        assert_int_equal(large[(1 << 24) - 1], 0);
        assert_true(at_arena_used(a) > 1 << 24);
        at_arena_reset(a);
        assert_int_equal(at_arena_used(a), 0);
    }
    at_arena_free(a);
    at_arena_free(NULL);
}

static void arena_keeps_its_memory(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    for (int i = 0; i < 1000; i++) at_alloc(a, 1000);
    at_arena_reset(a);
    char *first = at_alloc(a, 1000);
    for (int i = 1; i < 1000; i++) at_alloc(a, 1000);
    at_arena_reset(a);
    assert_ptr_equal(at_alloc(a, 1000), first); /* one block by now */
    at_arena_free(a);
}

static void texts_in_an_arena(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    assert_string_equal(at_strdup(a, "tile"), "tile");
    assert_string_equal(at_strndup(a, "tile_x", 4), "tile");
    assert_string_equal(at_strndup(a, "tile", 40), "tile");
    assert_string_equal(at_format(a, "%s_%d", "tile", 7), "tile_7");
    assert_memory_equal(at_copy(a, "a\0b", 3), "a\0b", 3);
    assert_non_null(at_copy(a, NULL, 0));
    assert_int_equal(strlen(at_format(a, "%5000d", 1)), 5000);
    at_arena_free(a);
}

static void vectors_grow(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    AT_VEC(int) v = {0};
    for (int i = 0; i < 1000; i++) {
        int *early = v.len ? &v.data[0] : NULL;
        *at_push(a, &v) = i;
        if (early) assert_int_equal(*early, 0); /* readable, though perhaps stale */
    }
    assert_int_equal(v.len, 1000);
    for (int i = 0; i < 1000; i++) assert_int_equal(v.data[i], i);
    at_arena_free(a);
}

/* ---- random numbers and hash
 * --------------------------------------------------------------------- */

/* The sequence printed by the generator's own demonstration program, pcg32-demo. */
static void pcg32_is_the_published_sequence(void **state) {
    (void)state;
    static const uint32_t known[] = {0xa15c02b7, 0x7b47f409, 0xba1d3330,
                                     0x83d2f293, 0xbfa4784b, 0xcbed606e};
    at_rng r;
    at_rng_seed(&r, 42, 54);
    for (int i = 0; i < 6; i++) assert_int_equal(at_rng_u32(&r), known[i]);
}

static void draws_stay_in_range_and_are_even(void **state) {
    (void)state;
    at_rng r;
    at_rng_seed(&r, 1, 2);
    int count[6] = {0};
    double sum = 0;
    for (int i = 0; i < 60000; i++) {
        count[at_rng_below(&r, 6)]++;
        double x = at_rng_unit(&r);
        assert_true(x >= 0 && x < 1);
        sum += x;
    }
    /* Five standard deviations: sqrt(60000 * 5) / 6 * 5, sqrt(60000 / 12) * 5. */
    for (int i = 0; i < 6; i++) assert_in_range(count[i], 10000 - 456, 10000 + 456);
    assert_true(sum > 30000 - 354 && sum < 30000 + 354);
    uint64_t wide = UINT64_C(3) << 61;
    int high = 0;
    for (int i = 0; i < 10000; i++) {
        uint64_t x = at_rng_below(&r, wide);
        assert_true(x < wide);
        high += x >= UINT64_C(1) << 62; /* a third */
    }
    assert_in_range(high, 3333 - 240, 3333 + 240);
    for (int i = 0; i < 10; i++) assert_int_equal(at_rng_below(&r, 1), 0);
    at_rng_below(&r, UINT64_MAX);
}

static void hash_is_fnv1a(void **state) {
    (void)state;
    static const char *const known[][2] = {
        {"", "6c62272e07bb014262b821756295c58d"},
        {"a", "d228cb696f1a8caf78912b704e4a8964"},
        {"foobar", "343e1662793c64bf6f0d3597ba446f18"},
    };
    for (int i = 0; i < 3; i++) {
        at_hash h;
        char hex[33];
        at_hash_init(&h);
        at_hash_add(&h, known[i][0], strlen(known[i][0]));
        at_hash_hex(&h, hex);
        assert_string_equal(hex, known[i][1]);
    }
    at_hash x, y;
    at_hash_init(&x);
    at_hash_init(&y);
    at_hash_add_str(&x, "ab"), at_hash_add_str(&x, "c");
    at_hash_add_str(&y, "a"), at_hash_add_str(&y, "bc");
    assert_true(x.lo != y.lo || x.hi != y.hi);
}

static at_hash hash_of_numbers(uint64_t x, uint64_t y) {
    at_hash h;
    at_hash_init(&h);
    at_hash_add_number(&h, x);
    at_hash_add_number(&h, y);
    return h;
}

static int bits_between(at_hash x, at_hash y) {
    return __builtin_popcountll(x.lo ^ y.lo) + __builtin_popcountll(x.hi ^ y.hi);
}

/* Each bit of a number turns about half of the 128 once another number was added; order counts. */
static void hash_of_numbers_mixes(void **state) {
    (void)state;
    at_rng r;
    long bits = 0;
    at_rng_seed(&r, 1, 1);
    for (int bit = 0; bit < 64; bit++)
        for (int i = 0; i < 100; i++) {
            uint64_t x = i % 2 ? at_rng_below(&r, 1000) : at_rng_below(&r, UINT64_MAX);
            int turned =
                bits_between(hash_of_numbers(x, 7), hash_of_numbers(x ^ (uint64_t)1 << bit, 7));
            assert_in_range(turned, 20, 108);
            bits += turned;
        }
    assert_in_range(bits / 6400, 60, 68);
    assert_int_not_equal(bits_between(hash_of_numbers(1, 2), hash_of_numbers(2, 1)), 0);
}

/* ---- clock and files
 * ------------------------------------------------------------------------------ */

static void signals_have_names(void **state) {
    (void)state;
    assert_string_equal(at_signal_name(11), "SIGSEGV");
    assert_string_equal(at_signal_name(1000), "signal 1000");
}

static void clocks_run(void **state) {
    (void)state;
    int64_t t = at_now_ns();
    while (at_now_ns() == t) {
    }
    assert_true(at_now_ns() > t);
    assert_true(at_seconds_since(t) > 0 && at_seconds_since(t - 1000000000) > 1);
    assert_true(at_wall_time_s() > 1.7e9);
}

static char folder[] = "/tmp/at_test_XXXXXX";

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder); /* fails where a temporary file was left behind */
}

static void files_are_written_whole_and_read_back(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_error err;
    char *path = at_format(a, "%s/log", folder), *link = at_format(a, "%s/link", folder), *text;
    size_t len;
    assert_int_equal(at_write_file(path, "one\0two\n", 8, &err), AT_OK);
    assert_int_equal(read_whole(a, path, &text, &len, &err), AT_OK);
    assert_int_equal(len, 8);
    assert_memory_equal(text, "one\0two\n", 9);
    /* The mode stays, and a link stays a link. */
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(at_write_file(link, "", 0, &err), AT_OK);
    struct stat st;
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(read_whole(a, path, &text, &len, &err), AT_OK);
    assert_int_equal(len, 0);
    assert_string_equal(text, "");
    assert_int_equal(at_write_file("/dev/null", "x", 1, &err), AT_OK);
    assert_int_equal(read_whole(a, "/dev/zero", &text, &len, &err), AT_E_INPUT);
    assert_string_equal(err.text, "cannot read /dev/zero: it is a device, and a file is needed");
    unlink(link);
    unlink(path);
    at_arena_free(a);
}

static void unreadable_and_unwritable_files_say_why(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_error err;
    char *text = "untouched";
    size_t len = 7;
    assert_int_equal(read_whole(a, "/nowhere/log", &text, &len, &err), AT_E_INPUT);
    assert_string_equal(err.text, "cannot read /nowhere/log: No such file or directory");
    assert_int_equal(read_whole(a, "/", &text, &len, &err), AT_E_INPUT);
    assert_string_equal(err.text, "cannot read /: Is a directory");
    assert_string_equal(text, "untouched");
    assert_int_equal(len, 7);
    assert_int_equal(at_write_file("/nowhere/log", "", 0, &err), AT_E_OUTPUT);
    assert_string_equal(err.text, "cannot write /nowhere/log: there is no folder /nowhere");
    assert_int_equal(at_write_file("/dev/full", "x", 1, &err), AT_E_OUTPUT);
    assert_string_equal(err.text, "cannot write /dev/full: No space left on device");
    assert_int_equal(at_write_file(folder, "x", 1, &err), AT_E_OUTPUT);
    at_arena_free(a);
}

/* The interval misses the median with a probability that a binomial distribution gives: 2 * F(k -
 * 1; n, 1/2) for the k-th smallest and k-th largest. Tables have k = 1 at 6, 2 at 9, 10 at 30. */
static void median_interval(void **state) {
    (void)state;
    double v[64];
    for (int i = 0; i < 64; i++) v[i] = (double)(i * 37 % 64); /* 0 .. 63 in disorder */
    at_interval m = at_median(v, 64);
    assert_true(m.median == 31.5 && m.low == 23 && m.high == 40);
    for (int i = 0; i < 30; i++) v[i] = (double)(29 - i);
    m = at_median(v, 30);
    assert_true(m.median == 14.5 && m.low == 9 && m.high == 20);
    m = at_median(v, 9); /* 21 .. 29 */
    assert_true(m.median == 25 && m.low == 22 && m.high == 28);
    m = at_median(v, 6);
    assert_true(m.median == 26.5 && m.low == 24 && m.high == 29);
    m = at_median(v, 1);
    assert_true(m.median == 29 && m.low == 29 && m.high == 29);
}

static void sorted_doubles(void **state) {
    (void)state;
    double v[] = {3, INFINITY, -1, 8};
    at_sort_doubles(v, 4);
    assert_true(v[0] == -1 && v[1] == 3 && v[2] == 8 && isinf(v[3]));
    assert_true(at_sorted_median(v, 4) == 5.5 && at_sorted_median(v, 3) == 3);
    assert_true(isinf(at_sorted_median(v + 3, 1))); /* inf - inf would be none */
    assert_true(at_sorted_quantile(v, 3, 0.25) == 1 && at_sorted_quantile(v, 3, 1) == 8);
}

/* Also those whose difference no int64_t holds. */
static void sorted_ints(void **state) {
    (void)state;
    int64_t v[] = {INT64_MAX, 3, INT64_MIN, INT64_C(1) << 33, 3, -1};
    qsort(v, 6, sizeof *v, at_compare_ints);
    assert_true(v[0] == INT64_MIN && v[1] == -1 && v[2] == 3 && v[3] == 3);
    assert_true(v[4] == INT64_C(1) << 33 && v[5] == INT64_MAX);
}

/* The middle half: whatever lies outside of it, and nearer to the truth than the median is. */
static void middle_of_sorted(void **state) {
    (void)state;
    enum { SAMPLES = 2000, N = 40 };
    double v[] = {-1e9, 1, 2, 3, 5, 9, 10, INFINITY}, x[N], squares[2] = {0, 0};
    assert_true(at_sorted_middle(v, 8) == 4.75);
    assert_true(at_sorted_middle(v, 7) == 3 && at_sorted_middle(v, 2) == (1 - 1e9) / 2);
    at_rng r;
    at_rng_seed(&r, 5, 0);
    for (int k = 0; k < SAMPLES; k++) {
        for (int i = 0; i < N; i++) {
            x[i] = -6;
            for (int m = 0; m < 12; m++) x[i] += at_rng_unit(&r); /* nearly normal */
        }
        at_sort_doubles(x, N);
        const double of[2] = {at_sorted_middle(x, N), at_sorted_median(x, N)};
        for (int i = 0; i < 2; i++) squares[i] += of[i] * of[i];
    }
    const double ratio = sqrt(squares[0] / squares[1]);
    assert_true(ratio > 0.83 && ratio < 0.92);
}

static void ranges(void **state) {
    (void)state;
    static const struct {
        at_range x, y, product;
    } rows[] = {{{1, 2}, {3, 5}, {3, 10}},
                {{-2, 3}, {-5, 7}, {-15, 21}},
                {{-2, -1}, {4, 8}, {-16, -4}},
                {{0, INFINITY}, {0, 3}, {0, INFINITY}},
                {{-INFINITY, INFINITY}, {0, 0}, {0, 0}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const at_range p = at_range_product(rows[i].x, rows[i].y);
        const at_range q = at_range_product(rows[i].y, rows[i].x);
        assert_true(p.lo == rows[i].product.lo && p.hi == rows[i].product.hi);
        assert_true(q.lo == p.lo && q.hi == p.hi);
    }
    const at_range h = at_range_hull((at_range){-1, 4}, (at_range){2, 9});
    assert_true(h.lo == -1 && h.hi == 9);
    static const at_range bits[] = {{-9, -3}, {-8, 5}, {0, 12}, {3, 4}, {-1, 0}, {7, 7}};
    enum { NUM = sizeof bits / sizeof *bits };
    for (int k = 0; k < NUM * NUM; k++) {
        const at_range x = bits[k / NUM], y = bits[k % NUM], both = at_range_and(x, y),
                       either = at_range_or(x, y), less = at_range_shifted(x, 1);
        for (int i = (int)x.lo; i <= x.hi; i++)
            for (int j = (int)y.lo; j <= y.hi; j++)
                assert_true((i & j) >= both.lo && (i & j) <= both.hi && (i | j) >= either.lo &&
                            (i | j) <= either.hi && i >> 1 >= less.lo && i >> 1 <= less.hi);
    }
}

static void stems(void **state) {
    (void)state;
    static const char *const rows[][2] = {{"nets/net.onnx", "net"},
                                          {"net", "net"},
                                          {"a.b/c", "c"},
                                          {".hidden", ".hidden"},
                                          {"a.tar.gz", "a.tar"}};
    at_arena *a = at_arena_new();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(at_base_stem(a, rows[i][0]), rows[i][1]);
    at_arena_free(a);
    assert_true(at_ends_in("nets/net.onnx", ".onnx") && at_ends_in("x.c.c", ".c"));
    assert_false(at_ends_in(".c", ".c") || at_ends_in("net.onnx.gz", ".onnx"));
    assert_false(at_ends_in("", ".c") || at_ends_in("c", ".c"));
}

static void same_texts(void **state) {
    (void)state;
    const char text[] = "abc";
    assert_true(at_same_text(text, "abc") && at_same_text(NULL, NULL) && at_same_text("", ""));
    assert_false(at_same_text(text, "ab") || at_same_text(NULL, "") || at_same_text("", NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorted_doubles),
        cmocka_unit_test(middle_of_sorted),
        cmocka_unit_test(median_interval),
        cmocka_unit_test(every_status_has_a_text_and_an_exit_code),
        cmocka_unit_test(errors_gain_places),
        cmocka_unit_test(long_errors_are_cut),
        cmocka_unit_test(arena_memory_is_zeroed_and_aligned),
        cmocka_unit_test(arena_keeps_its_memory),
        cmocka_unit_test(texts_in_an_arena),
        cmocka_unit_test(vectors_grow),
        cmocka_unit_test(pcg32_is_the_published_sequence),
        cmocka_unit_test(draws_stay_in_range_and_are_even),
        cmocka_unit_test(hash_is_fnv1a),
        cmocka_unit_test(hash_of_numbers_mixes),
        cmocka_unit_test(clocks_run),
        cmocka_unit_test(signals_have_names),
        cmocka_unit_test(files_are_written_whole_and_read_back),
        cmocka_unit_test(unreadable_and_unwritable_files_say_why),
        cmocka_unit_test(ranges),
        cmocka_unit_test(stems),
        cmocka_unit_test(same_texts),
        cmocka_unit_test(sorted_ints),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
