/* Entries of index tensors that nobody gives: no read leaves its tensor with any of them, and they
 * are as many as can be. */
#include "tests/schedule/examples.h"

#include <string.h>

static const struct {
    const char *text, *tensor;
    at_index_range range;
} cases[] = {
    {"t[N, C] : weight\nr[M] : index\nb[m:M, c:C] = t[r[m], c]\n", "r", {.lo = 0, .hi = 15}},
    {"t[N, C] : weight\nr[M] : index\nb[m:M, c:C] = t[r[m] - 1, c]\n", "r", {.lo = 1, .hi = 16}},
    {"t[N] : weight\nr[M] : index\nb[m:M, c:C] = t[r[m]*C/4 + c]\n", "r", {.lo = 0, .hi = 4}},
    {"t[N] : weight\nr[M] : index\nb[m:M] = r[m] < N ? t[r[m]] : 0\n", "r", {.lo = 0, .hi = 16}},
    {"t[N] : weight\nr[M] : index\nb[m:M] = t[m] * r[m]\n", "r", {.lo = 0, .hi = 16}},
    {"t[N] : weight\nr[M] : index\nb[m:M] = t[r[m]] + r[m]\n", "r", {.lo = 0, .hi = 15}},
    {"t[3] : weight\nr[M] : index\nb[m:M] = t[r[m]] / r[m]\n", "r", {.lo = 1, .hi = 2}},
    {"t[N] : weight\nr[M] : index\nb[c:C] = max(n:N) n < r[2] ? t[n] : -inf\n",
     "r",
     {.lo = 0, .hi = 16}},
    {"v[N] : weight\nk[N] : index\np[M + 1] : index\nx[C] : input\n"
     "b[m:M] = sum(e : p[m] .. p[m + 1]) v[e] * x[k[e]]\n",
     "p",
     {.lo = 0, .hi = 16, .ascends = true}},
    {"v[N] : weight\nk[N] : index\np[M + 1] : index\nx[C] : input\n"
     "b[m:M] = sum(e : p[m] .. p[m + 1]) v[e] * x[k[e]]\n",
     "k",
     {.lo = 0, .hi = 7}},
    {"t[N] : weight\nr[M] : index\nb[m:M] = t[r[m] + 20]\n", "r", {.lo = 0, .hi = 0}},
    /* Parts of an entry alone, also of a copy: all of 32 bits, or of 31 where a place has the sign.
     */
    {"r[M] : index\nb[m:M] = r[m]%16 + r[m]/268435456%16\n",
     "r",
     {.lo = INT32_MIN, .hi = INT32_MAX}},
    {"r[M] : index\nb[m:M] = (r[m] >> 4 & 15) + (255 & r[m])\n",
     "r",
     {.lo = INT32_MIN, .hi = INT32_MAX}},
    {"r[M] : index\nb[m:M] = (m%2 == 0 ? r[m] : r[m]/16)%16 - 8\n",
     "r",
     {.lo = INT32_MIN, .hi = INT32_MAX}},
    {"t[N] : weight\nr[M] : index\nb[m:M] = t[r[m]/16%N]\n",
     "r",
     {.lo = INT32_MIN, .hi = INT32_MAX}},
    {"t[N] : weight\nr[M] : index\nb[m:M] = t[r[m]/16%16]\n",
     "r",
     {.lo = INT32_MIN, .hi = INT32_MAX}},
    {"t[N] : weight\nr[M] : index\nb[m:M] = t[r[m]/65536]*(r[m]%4)\n",
     "r",
     {.lo = 0, .hi = (1 << 20) - 1}},
    {"r[M] : index\nb[m:M] = (r[m] >> 20)*3\n", "r", {.lo = INT32_MIN, .hi = INT32_MAX}},
    {"r[M] : index\nq[m:M] : s32 = r[m]\nb[m:M] = q[m] >> 28 & 15\n",
     "r",
     {.lo = INT32_MIN, .hi = INT32_MAX}},
    {"r[M] : index\nq[m:N] : s32 = m < M ? r[m] : 0\np[m:N] : s32 = q[m]\n"
     "b[m:N] = p[m] >> 28 & 15\n",
     "r",
     {.lo = INT32_MIN, .hi = INT32_MAX}},
    /* What is no entry alone, or read whole elsewhere, too, stays small. */
    {"r[M] : index\nb[m:M] = (r[m] + m)%16\n", "r", {.lo = 0, .hi = 4}},
    {"r[M] : index\nb[m:M] = r[m]*3 & 15\n", "r", {.lo = 0, .hi = 4}},
    {"r[M] : index\nb[m:M] = r[m]%16 + r[0]\n", "r", {.lo = 0, .hi = 4}},
    {"r[M] : index\nb[m:M] = r[r[m]]%16\n", "r", {.lo = 0, .hi = 3}},
    {"r[M] : index\nq[m:M] : s32 = r[m] + 1\nb[m:M] = q[m] >> 28 & 15\n", "r", {.lo = 0, .hi = 4}},
    {"r[M] : index\nq[m:M] = r[m]\nb[m:M] = q[m] + r[m]%4\n", "r", {.lo = 0, .hi = 4}},
    /* What is read up to a length, whichever of the two is declared first. */
    {"t[N] : weight\nr[M, C] : index\nq[M] : index\n"
     "b[m:M] = sum(c:C) c < q[m] ? t[r[m, c]] : 0\n",
     "r",
     {.lo = 0, .hi = 15}},
    {"t[N] : weight\nr[M, C] : index\nq[M] : index\n"
     "b[m:M] = sum(c:C) c < q[m] ? t[r[m, c]] : 0\n",
     "q",
     {.lo = 0, .hi = 8}},
    {"t[N] : weight\nq[M] : index\nr[M, C] : index\n"
     "b[m:M] = sum(c:C) c < q[m] ? t[r[m, c]] : 0\n",
     "q",
     {.lo = 0, .hi = 8}},
    /* Several that lead to one place: each may be its largest, the others too. */
    {"t[N*C] : weight\nr[M] : index\nq[M] : index\nb[m:M] = t[r[m]*C + q[m]]\n",
     "r",
     {.lo = 0, .hi = 15}},
    {"t[N*C] : weight\nr[M] : index\nq[M] : index\nb[m:M] = t[r[m]*C + q[m]]\n",
     "q",
     {.lo = 0, .hi = 7}},
    {"t[N*C] : weight\nq[M] : index\nr[M] : index\nb[m:M] = t[r[m]*C + q[m]]\n",
     "r",
     {.lo = 0, .hi = 15}},
    {"t[N*C] : weight\nq[M] : index\nr[M] : index\nb[m:M] = t[r[m]*C + q[m]]\n",
     "q",
     {.lo = 0, .hi = 7}},
};

static void ranges(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        fixture_sizes(&f, "N=16, C=8, M=4");
        assert_ok(&f,
                  at_compute_parse(f.arena, &f.symbols, cases[i].text, "c", &f.compute, &f.err));
        at_index_range *r = AT_NEW_ARRAY(f.arena, at_index_range, f.compute->num_tensors);
        assert_ok(&f, at_compute_index_ranges(f.arena, f.compute, f.values, r, NULL, &f.err));
        const at_index_range got = r[at_compute_find(f.compute, cases[i].tensor)];
        const at_index_range *right = &cases[i].range;
        if (got.lo != right->lo || got.hi != right->hi || got.ascends != right->ascends)
            fail_msg("%s%s: %lld to %lld%s", cases[i].text, cases[i].tensor, (long long)got.lo,
                     (long long)got.hi, got.ascends ? ", ascending" : "");
        fixture_close(&f);
    }
}

/* What callers may give: entries behind bounds of sums are read at all places between these. */
static void accepted(void **state) {
    (void)state;
    fixture f;
    at_index_range r[4];
    fixture_sizes(&f, "N=16, M=9, B=4");
    assert_ok(&f, at_compute_parse(f.arena, &f.symbols,
                                   "t[N] : weight\nr[M] : index\ns[B + 1] : index\n"
                                   "b[i:B] = sum(j:s[i]..s[i + 1]) t[r[j]]\n",
                                   "c", &f.compute, &f.err));
    assert_ok(&f, at_compute_entry_ranges(f.arena, f.compute, f.values, r, &f.err));
    assert_true(r[1].lo == 0 && r[1].hi == 15);
    assert_true(r[2].lo == 0 && r[2].hi == 9);
    fixture_close(&f);
    /* Of so many that nobody looks, any: one below 0 may mean the last place. */
    fixture_sizes(&f, "N=16, M=4194305");
    assert_ok(&f, at_compute_parse(f.arena, &f.symbols,
                                   "t[N] : weight\nr[M] : index\n"
                                   "b[i:M] = t[r[i] < 0 ? r[i] + N : r[i]]\n",
                                   "c", &f.compute, &f.err));
    assert_ok(&f, at_compute_entry_ranges(f.arena, f.compute, f.values, r, &f.err));
    assert_true(r[1].is_unknown && r[1].lo == INT32_MIN && r[1].hi == INT32_MAX);
    fixture_close(&f);
}

/* Whatever those are that lead to a place together: all ends of their ranges, and random ones. */
static void together(void **state) {
    (void)state;
    static const char *const texts[] = {
        "x[N] : input\ni[M] : index\nj[M] : index\nk[M] : index\n"
        "b[m:M] = x[i[m] - j[m] + k[m] + 4]\n",
        "x[N*C] : input\ni[M] : index\nj[M] : index\nk[M] : index\n"
        "b[m:M] = x[i[m]*C/2 + j[m]*2 + k[m]]\n",
    };
    for (size_t n = 0; n < sizeof texts / sizeof *texts; n++)
        for (int seed = 0; seed < 200; seed++) {
            fixture f;
            at_rng rng;
            at_data data[5] = {{0}};
            at_index_range r[5];
            int64_t widest = 0;
            fixture_sizes(&f, "N=16, C=8, M=40");
            assert_ok(&f, at_compute_parse(f.arena, &f.symbols, texts[n], "c", &f.compute, &f.err));
            assert_ok(&f, at_compute_index_ranges(f.arena, f.compute, f.values, r, NULL, &f.err));
            at_rng_seed(&rng, (uint64_t)seed, 7);
            for (int t = 1; t < 4; t++) {
                widest = r[t].hi > widest ? r[t].hi : widest;
                data[t].i = AT_NEW_ARRAY(f.arena, int32_t, 40);
                for (int m = 0; m < 40; m++)
                    data[t].i[m] =
                        (int32_t)(seed % 2 ? at_rng_below(&rng, 2) ? r[t].hi : r[t].lo
                                           : (int64_t)at_rng_below(&rng, (uint64_t)r[t].hi + 1));
            }
            assert_true(widest > 1);
            assert_ok(&f, at_compute_check_reads(f.compute, f.values, data, NULL, &f.err));
            fixture_close(&f);
        }
}

/* A search among too many would take too long. */
static void many(void **state) {
    (void)state;
    fixture f;
    at_index_range r[3];
    fixture_sizes(&f, "N=16, M=100000000");
    assert_ok(&f, at_compute_parse(f.arena, &f.symbols,
                                   "t[N] : weight\nr[M] : index\nb[m:M] = t[r[m]]\n", "c",
                                   &f.compute, &f.err));
    assert_ok(&f, at_compute_index_ranges(f.arena, f.compute, f.values, r, NULL, &f.err));
    assert_int_equal(r[1].hi, 0);
    fixture_close(&f);
}

static void entries(void **state) {
    (void)state;
    enum { N = 1000 };
    int32_t x[N];
    bool seen[8] = {false};
    at_rng rng;
    at_rng_seed(&rng, 1, 1);
    at_index_fill(&(at_index_range){.lo = 3, .hi = 7}, 0, N, &rng, x);
    for (int i = 0; i < N; i++) {
        assert_in_range(x[i], 3, 7);
        seen[x[i]] = true;
    }
    for (int i = 3; i < 8; i++) assert_true(seen[i]);
    at_index_fill(&(at_index_range){.lo = 0, .hi = 300, .ascends = true}, 0, N, &rng, x);
    assert_int_equal(x[0], 0);
    assert_int_equal(x[N - 1], 300);
    for (int i = 1; i < N; i++) assert_true(x[i] >= x[i - 1]);
    at_index_fill(&(at_index_range){.lo = 0, .hi = 0, .ascends = true}, 0, 0, &rng, x);
}

/* The least and the greatest are some; as many different ones as there can be, on two draws all,
 * and one comes twice. With enough of them the second draw leaves some out, and has one often. */
static void spread_entries(void **state) {
    (void)state;
    static const struct {
        int64_t n, lo, hi;
    } spreads[] = {{4, 0, 31}, {24, -3, 40}, {100, 0, 100}, {4096, 0, 7000}, {4096, 5, 900}};
    for (size_t k = 0; k < sizeof spreads / sizeof *spreads; k++) {
        enum { MOST = 8192 };
        static int32_t x[MOST];
        static int seen[2][MOST];
        const at_index_range r = {.lo = spreads[k].lo, .hi = spreads[k].hi};
        const int64_t n = spreads[k].n, range = r.hi - r.lo + 1;
        int64_t different[2] = {0}, all = 0, most = 0;
        memset(seen, 0, sizeof seen);
        for (int draw = 0; draw < 2; draw++) {
            at_rng rng;
            at_rng_seed(&rng, (uint64_t)draw, 1);
            at_index_fill(&r, draw, n, &rng, x);
            for (int64_t i = 0; i < n; i++) {
                assert_in_range(x[i] - r.lo, 0, range - 1);
                seen[draw][x[i] - r.lo]++;
            }
            assert_true(seen[draw][0] && seen[draw][range - 1]);
        }
        for (int64_t v = 0; v < range; v++) {
            for (int draw = 0; draw < 2; draw++) different[draw] += seen[draw][v] > 0;
            all += seen[0][v] || seen[1][v];
            most = seen[1][v] > most ? seen[1][v] : most;
        }
        assert_true(different[0] >= (range < n / 8 * 7 ? range : n / 8 * 7));
        assert_true(all >= (range < n / 8 * 14 ? range : n / 8 * 14));
        assert_true(different[0] < n || n < 16);
        if (range > n / 8 * 7) continue;
        assert_true(different[1] <= range / 2 + 3);
        assert_true(most >= (n - range) / 4);
    }
}

/* Of many bits some entries are multiples of each power of two, and some are one less. */
static void even_entries(void **state) {
    (void)state;
    enum { N = 4096, MOST = 28 };
    static int32_t x[N];
    at_rng rng;
    at_rng_seed(&rng, 1, 1);
    at_index_fill(&(at_index_range){.lo = INT32_MIN, .hi = INT32_MAX}, 0, N, &rng, x);
    for (int bits = 8; bits <= MOST; bits++) {
        const int64_t divisor = INT64_C(1) << bits;
        int multiples = 0, less = 0;
        for (int i = 0; i < N; i++) {
            multiples += x[i] > 0 && x[i] % divisor == 0;
            less += x[i] > 0 && x[i] % divisor == divisor - 1 && x[i] != INT32_MAX;
        }
        assert_true(multiples > 0 && less > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges),      cmocka_unit_test(accepted), cmocka_unit_test(together),
        cmocka_unit_test(many),        cmocka_unit_test(entries),  cmocka_unit_test(spread_entries),
        cmocka_unit_test(even_entries)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
