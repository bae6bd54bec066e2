/* Data that maxima and minima look at: which elements win, where they stand, and on which side of 0
 * they lie; how far reductions with bounds go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <math.h>

#include "tests/engine/filled_dataset.h"

/* Rows have other largest elements than the rows beside them. */
static void winners_of_rows(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    float before = 0;
    fill_any(a, "args N=20, K=50\nx[N, K] : input\nout[n:N] = max(k:K) x[n, k]\n");
    const float *x = values_of("x");
    for (int n = 0; n < 20; n++) {
        float most = -INFINITY;
        for (int k = 0; k < 50; k++) most = fmaxf(most, x[n * 50 + k]);
        assert_true(most != before);
        before = most;
    }
    at_dataset_free(&d);
    at_arena_free(a);
}

/* Of rows by eight each has, somewhere, an element beyond all of any other: a kernel that takes it
 * for one of the other row is wrong. */
static void rows_by_eight(void **state) {
    (void)state;
    enum { ROWS = 1024, TERMS = 9, BY = 8 };
    at_arena *a = at_arena_new();
    fill_any(a, "args N=1024, K=9\nx[N, K] : input\nout[n:N] = max(k:K) x[n, k]\n");
    const float *x = values_of("x");
    float most[ROWS];
    for (int n = 0; n < ROWS; n++) {
        most[n] = -INFINITY;
        for (int k = 0; k < TERMS; k++) most[n] = fmaxf(most[n], x[n * TERMS + k]);
    }
    for (int own = 0; own < BY; own++)
        for (int other = 0; other < BY; other++) {
            int beyond = 0;
            for (int n = 0; n < ROWS && own != other; n += BY)
                for (int k = 0; k < TERMS; k++)
                    beyond += x[(n + own) * TERMS + k] > most[n + other];
            if (!beyond && own != other) fail_msg("row %d hides all of row %d", other, own);
        }
    at_dataset_free(&d);
    at_arena_free(a);
}

/* Of a few hundred bytes or entries two or three would be the most: rows have one that no other
 * element reaches, another one than the row before, the first and the last place among them. */
static void winners_among_wholes(void **state) {
    (void)state;
    enum { ROWS = 39, PLACES = 300 };
    static const char *const texts[] = {
        "x[N, K] : input u8\nmost[n:N] : s32 = max(k:K) x[n, k]\n",
        "x[N, K] : input s8\nleast[n:N] : s32 = min(k:K) x[n, k]\n",
        "x[N, K] : index\nmost[n:N] : s32 = max(k:K) x[n, k]\n",
        "x[N, K] : index\nleast[n:N] : s32 = min(k:K) x[n, k]\nt[N] : input\n"
        "y[n:N, k:K] = t[min(x[n, k], N - 1)]\n",
    };
    for (int i = 0; i < 4; i++) {
        at_arena *a = at_arena_new();
        fill_any(a, at_format(a, "args N=39, K=300\n%s", texts[i]));
        const void *x = values_of("x");
        bool wins[PLACES] = {false};
        int before = INT_MAX;
        for (int n = 0; n < ROWS; n++) {
            int first = INT_MIN, reached = 0, place = 0;
            for (int k = 0; k < PLACES; k++) {
                const int at = n * PLACES + k, v = i == 0   ? ((const uint8_t *)x)[at]
                                                   : i == 1 ? ((const int8_t *)x)[at]
                                                            : ((const int32_t *)x)[at];
                const int sized = i % 2 ? -v : v;
                reached = sized > first ? 1 : reached + (sized == first);
                if (sized > first) first = sized, place = k;
            }
            if (reached != 1 || first == before) fail_msg("%s: row %d", texts[i], n);
            before = first;
            wins[place] = true;
        }
        assert_true(wins[0] && wins[PLACES - 1]);
        at_dataset_free(&d);
        at_arena_free(a);
    }
}

/* A maximum that begins at 0, and such a minimum, are right only where the terms are not all on one
 * side of it, which they are in the second draw: of rows, of windows and of bins. */
static void maxima_below_0(void **state) {
    (void)state;
    static const char *const texts[] = {
        "args N=70, M=90\nx[N, M] : input\ny[N, M] : input\n"
        "most[n:N] = max(m:M) x[n, m]\n"
        "low[n:N] = min(m:M) y[n, m]\n",
        "args N=64\nx[N + 6, N + 6] : input\n"
        "p[i:N + 6, j:N + 6] = i < 1 ? x[i + 1, j] : x[i, j]\n"
        "most[i:N, j:N] = max(r:7, s:7) p[i + r, j + s]\n",
        "args P=523, B=13\nx[P] : index\nv[P] : input\nmost[x[p]:B] max= (p:P) v[p]\n",
        /* of both, what is looked at first */
        "args N=64\nx[N + 6, N + 6] : input\n"
        "most[i:N, j:N] = max(r:7, s:7) x[i + r, j + s]\n"
        "low[i:N, j:N] = min(r:7, s:7) x[i + r, j + s]\nout[i:N, j:N] = most[i, j] - low[i, j]\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        at_arena *a = at_arena_new();
        fill_any(a, texts[i]);
        assert_int_equal(d.rule.num_draws, 2);
        d.draw = 1;
        assert_true(at_dataset_fill(&d, 1));
        const at_compute *c = d.compute;
        for (int t = 0; t < c->num_tensors; t++) {
            if (c->tensors[t].role != AT_ROLE_INPUT) continue;
            const float *x = values_of(c->tensors[t].name);
            const float side = c->tensors[t].name[0] == 'y' ? 1.0f : -1.0f;
            for (int64_t k = 0; k < d.size_bytes[t] / 4; k++)
                if (x[k] * side <= 0) fail_msg("text %zu: %s has %g", i, c->tensors[t].name, x[k]);
        }
        at_dataset_free(&d);
        at_arena_free(a);
    }
}

/* How far a reduction goes is the most that is allowed, and another time an odd number less. */
static void lone_bounds(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    fill_any(a, "args N=8, T=64\na[N, T] : input\npos : index\n"
                "s[n:N] = sum(j:0..pos + 1) a[n, j]\n");
    const int *pos = (const int *)(const void *)values_of("pos");
    assert_int_equal(d.rule.num_draws, 2);
    for (uint64_t seed = 1; seed < 100; seed++) {
        for (d.draw = 0; d.draw < 2; d.draw++) {
            assert_true(at_dataset_fill(&d, seed));
            if (!d.draw) assert_int_equal(*pos, 63);
            else assert_int_equal(*pos, 62); /* 63 terms: some in each piece of 32, 16, .. 1 */
        }
    }
    at_dataset_free(&d);
    at_arena_free(a);
}

/* Each of the entries that an axis is compared with is its extent in one of two draws, and less in
 * the other. */
static void ends_of_axes(void **state) {
    (void)state;
    enum { ROWS = 9, MOST = 40 };
    at_arena *a = at_arena_new();
    fill_any(a, "args B=9, S=40, D=70\nx[B, S, D] : input\nlength[B] : index\n"
                "s[b:B, d:D] = sum(s:S) s < length[b] ? x[b, s, d] : 0\n");
    const int *length = (const int *)(const void *)values_of("length");
    assert_int_equal(d.rule.num_draws, 2);
    for (uint64_t seed = 1; seed < 100; seed++) {
        int whole[ROWS] = {0};
        for (d.draw = 0; d.draw < 2; d.draw++) {
            assert_true(at_dataset_fill(&d, seed));
            for (int b = 0; b < ROWS; b++) {
                assert_in_range(length[b], 0, MOST);
                whole[b] += length[b] == MOST;
            }
        }
        for (int b = 0; b < ROWS; b++) assert_int_equal(whole[b], 1);
    }
    at_dataset_free(&d);
    at_arena_free(a);
}

/* What overflows is saturated: the tails of reductions are walked with the first values, too. */
static void bounds_beside_overflow(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    fill_any(a, "args N=4, T=64\ns[N, T] : input\npos : index\n"
                "m[n:N] = max(j:0..pos + 1) s[n, j]\n"
                "e[n:N, j:T] = j <= pos ? exp(s[n, j] - m[n]) : 0\n"
                "t[n:N] = sum(j:0..pos + 1) e[n, j]\n");
    const int *pos = (const int *)(const void *)values_of("pos");
    assert_int_equal(d.rule.num_draws, 3);
    assert_ptr_equal(d.rule.draw[2].fill, d.rule.draw[0].fill);
    for (d.draw = 0; d.draw < 3; d.draw++) {
        assert_true(at_dataset_fill(&d, 1));
        assert_int_equal(*pos, d.draw ? 62 : 63);
    }
    at_dataset_free(&d);
    at_arena_free(a);
}

/* Sums of products that a maximum looks at have a winner at the first place that counts, the last,
 * and where pieces of a ragged loop begin, so far above the others that without it they overflow.
 */
static void winners_of_products(void **state) {
    (void)state;
    enum { G = 6, T = 64, D = 8, LAST = 62 };
    at_arena *a = at_arena_new();
    fill(a, "args G=6, T=64, D=8\nq[G, D] : input\nkey[G, T, D] : input\nslope[G] : weight\n"
            "pos : index\ns[g:G, j:T] = sum(d:D) q[g, d]*key[g, j, d]\n"
            "b[g:G, j:T] = s[g, j] + slope[g]\n"
            "m[g:G] = max(j:0..pos + 1) b[g, j]\n"
            "e[g:G, j:T] = j <= pos ? exp(b[g, j] - m[g]) : 0\n"
            "t[g:G] = sum(j:0..pos + 1) e[g, j]\n");
    bool wins[T] = {false};
    d.draw = 1;
    assert_true(at_dataset_fill(&d, 1));
    const float *q = values_of("q"), *key = values_of("key");
    for (int g = 0; g < G; g++) {
        double first = -INFINITY, second = -INFINITY;
        int place = 0;
        for (int j = 0; j <= LAST; j++) {
            double s = 0;
            for (int k = 0; k < D; k++) s += (double)q[g * D + k] * key[(g * T + j) * D + k];
            if (s > first) second = first, first = s, place = j;
            else if (s > second) second = s;
        }
        wins[place] = true;
        if (!(first - second > 89)) fail_msg("row %d: %g and %g", g, first, second);
    }
    static const int places[] = {0, LAST, LAST - 2, LAST - 6, LAST - 14, LAST - 30};
    for (int i = 0; i < G; i++)
        if (!wins[places[i]]) fail_msg("no row has its winner at %d", places[i]);
    at_dataset_free(&d);
    at_arena_free(a);
}

/* Of sums of products, however long, a maximum has rows in which all lie far below 0 and others in
 * which the largest lies far above; the last place wins, and another one. Exact ones, too. */
static void products_on_both_sides(void **state) {
    (void)state;
    enum { S = 8, T = 40 };
    for (int exact = 0; exact < 2; exact++)
        for (int terms = 8; terms <= 4096; terms *= 8) {
            at_arena *a = at_arena_new();
            bool wins[T] = {false};
            int below = 0, above = 0;
            const char *text = at_format(
                a,
                "args S=8, T=40, D=%d\nq[S, D] : input\nkey[T, D] : input\n"
                "s[i:S, j:T] = sum(d:D) q[i, d]*key[j, d]\nm[i:S] = max(j:T) s[i, j]\n%s",
                terms, exact ? "o[i:S] = m[i] + 1\n" : "e[i:S, j:T] = exp(s[i, j] - m[i])\n");
            fill_any(a, text);
            if (d.is_exact != exact && exact && terms > 512) {
                at_dataset_free(&d);
                at_arena_free(a);
                continue;
            }
            d.draw = 1;
            assert_int_equal(d.is_exact, exact);
            assert_int_equal(d.rule.num_draws, 2);
            assert_true(at_dataset_fill(&d, 1));
            const float *q = values_of("q"), *key = values_of("key");
            for (int i = 0; i < S; i++) {
                double most = -INFINITY;
                int place = 0;
                for (int j = 0; j < T; j++) {
                    double s = 0;
                    for (int k = 0; k < terms; k++)
                        s += (double)q[i * terms + k] * key[j * terms + k];
                    if (s > most) most = s, place = j;
                }
                wins[place] = true;
                below += most<(exact ? -1 : -104), above += most>(exact ? 1 : 104);
            }
            if (!below || !above || !wins[0] || !wins[T - 1])
                fail_msg("%s: %d rows below 0, %d above, %d, %d", text, below, above, wins[0],
                         wins[T - 1]);
            at_dataset_free(&d);
            at_arena_free(a);
        }
}

/* Sums that become floats of 16 bits stay finite there, however many terms they have. */
static void products_in_halves(void **state) {
    (void)state;
    enum { S = 7, T = 20, DEPTH = 2048 };
    at_arena *a = at_arena_new();
    double most = 0;
    fill(a, "args S=7, T=20, D=2048\nq[S, D] : input\nkey[T, D] : input\n"
            "s[i:S, j:T] = sum(d:D) q[i, d]*key[j, d]\nh[i:S, j:T] : f16 = s[i, j]\n"
            "m[i:S] = max(j:T) h[i, j]\ne[i:S, j:T] = exp((h[i, j] - m[i])*0.02)\n");
    d.draw = 1;
    assert_true(at_dataset_fill(&d, 1));
    for (int i = 0; i < S; i++)
        for (int j = 0; j < T; j++) {
            double s = 0;
            for (int k = 0; k < DEPTH; k++)
                s += (double)values_of("q")[i * DEPTH + k] * values_of("key")[j * DEPTH + k];
            most = fmax(most, fabs(s));
        }
    if (!(most > 10000 && most < 65504)) fail_msg("sums of up to %g", most);
    at_dataset_free(&d);
    at_arena_free(a);
}

/* An input may have no elements, as what is kept of earlier steps before the first one: it has no
 * place for a winner, and no row to lie far from 0. */
static void inputs_without_elements(void **state) {
    (void)state;
    static const char *const texts[] = {
        "args G=2, T=64, P=1, D=8\nq[G, D] : input\npast[G, P - 1, D] : input\n"
        "now[G, T, D] : input\nkey[g:G, j:T, d:D] = j >= P - 1 ? now[g, j, d] : past[g, j, d]\n"
        "s[g:G, j:T] = sum(d:D) q[g, d]*key[g, j, d]\nm[g:G] = max(j:T) s[g, j]\n"
        "e[g:G, j:T] = exp(s[g, j] - m[g])\n",
        "args T=64, P=1\npast[P - 1] : input\nnow[T] : input\n"
        "mean[i:1] = sum(j:T) j < P - 1 ? past[j] : now[j]\n"
        "e[j:T] = j < P - 1 ? exp(past[j] - mean[0]) : exp(now[j])\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        at_arena *a = at_arena_new();
        fill(a, texts[i]);
        const int past = at_compute_find(d.compute, "past");
        assert_int_equal(d.size_bytes[past], 0);
        assert_int_equal(d.rule.num_draws, 2);
        for (int k = 0; k < d.rule.draw[1].extremes.len; k++)
            assert_int_not_equal(d.rule.draw[1].extremes.data[k].tensor, past);
        d.draw = 1;
        assert_true(at_dataset_fill(&d, 1));
        at_dataset_free(&d);
        at_arena_free(a);
    }
}

/* Which of several equal ones is the place of the largest is seen in the second draw alone, beside
 * integers as well; there all lie below 0. */
static void equal_winners(void **state) {
    (void)state;
    enum { ROWS = 20, TERMS = 90 };
    static const char *const places[][2] = {{"", "? k : inf"}, {" : s32", "? k : M"}};
    for (int i = 0; i < 2; i++) {
        at_arena *a = at_arena_new();
        int several[2] = {0}, with_last[2] = {0};
        fill_any(a, at_format(a,
                              "args N=20, M=90\nx[N, M] : input\nmost[n:N] = max(m:M) x[n, m]\n"
                              "place[n:N]%s = min(k:M) x[n, k] == most[n] %s\n",
                              places[i][0], places[i][1]));
        assert_int_equal(d.rule.num_draws, 2);
        for (d.draw = 0; d.draw < 2; d.draw++) {
            assert_true(at_dataset_fill(&d, 1));
            const float *x = values_of("x");
            for (int row = 0; row < ROWS; row++) {
                float most = x[row * TERMS];
                int times = 0;
                for (int k = 0; k < TERMS; k++) most = fmaxf(most, x[row * TERMS + k]);
                for (int k = 0; k < TERMS; k++) times += x[row * TERMS + k] == most;
                several[d.draw] += times > 1;
                with_last[row % 2] += times > 1 && x[row * TERMS + TERMS - 1] == most;
                if (d.draw) assert_true(most < 0);
            }
        }
        assert_int_equal(several[0], 0);
        assert_true(several[1] > ROWS / 4 && several[1] < ROWS);
        assert_true(with_last[0] && with_last[1]);
        at_dataset_free(&d);
        at_arena_free(a);
    }
}

/* ---- what is done with an element before it is compared -------------------------------------- */

enum { WINDOW_ROWS = 40, WINDOW_TERMS = 150 };

static float plus(int n, int k) { return values_of("x")[n * WINDOW_TERMS + k] + values_of("b")[k]; }
static float minus(int n, int k) {
    return values_of("b")[k] - values_of("x")[n * WINDOW_TERMS + k];
}
static float distance(int n, int k) {
    return fabsf(values_of("b")[n] - values_of("x")[n * WINDOW_TERMS + k]);
}
static float scaled(int n, int k) {
    return values_of("x")[n * WINDOW_TERMS + k] * values_of("b")[k];
}
static float above(int n, int k) { return fmaxf(values_of("x")[n * WINDOW_TERMS + k], 0); }

/* Rows have their best term at the first place and at the last on one draw or the other, by the
 * numbers of the element alone or beside others. */
static void winners_behind_operations(void **state) {
    (void)state;
    static const struct {
        const char *sizes, *stages;
        float (*term)(int n, int k);
        bool is_min, has_all;
    } cases[] = {
        {"b[K] : weight", "out[n:N] = max(k:K) x[n, k] + b[k]", plus, false, false},
        {"b[K] : weight", "out[n:N] = max(k:K) (b[k] - x[n, k])", minus, false, false},
        {"b[N] : weight", "out[n:N] = max(k:K) abs(b[n] - x[n, k])", distance, false, true},
        {"b[K] : weight", "out[n:N] = max(k:K) x[n, k]*b[k]", scaled, false, false},
        {"b[K] : weight", "out[n:N] = min(k:K) x[n, k]*b[k]", scaled, true, false},
        {"b[K] : weight", "r[n:N, k:K] = max(x[n, k], 0)\nout[n:N] = max(k:K) r[n, k] + b[0]*0",
         above, false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_arena *a = at_arena_new();
        int at_first = 0, at_last = 0;
        fill_any(a, at_format(a, "args N=40, K=150\nx[N, K] : input\n%s\n%s\n", cases[i].sizes,
                              cases[i].stages));
        for (d.draw = 0; d.draw < d.rule.num_draws; d.draw++) {
            assert_true(at_dataset_fill(&d, 1));
            for (int n = 0; n < WINDOW_ROWS; n++) {
                const float sign = cases[i].is_min ? -1 : 1;
                float most = -INFINITY;
                for (int k = 0; k < WINDOW_TERMS; k++)
                    most = fmaxf(most, sign * cases[i].term(n, k));
                at_first += sign * cases[i].term(n, 0) == most;
                at_last += sign * cases[i].term(n, WINDOW_TERMS - 1) == most;
            }
        }
        if (!at_first || !at_last || (cases[i].has_all && at_first + at_last < 4))
            fail_msg("%s: %d, %d", cases[i].stages, at_first, at_last);
        at_dataset_free(&d);
        at_arena_free(a);
    }
}

/* A maximum, of windows too, that a number is added to is below 0 on the second draw: one that
 * begins at 0 is wrong there. A minimum is above 0. */
static void sums_of_windows_below_0(void **state) {
    (void)state;
    static const char *const texts[] = {
        "out[y:Y] = max(k:K) y + k >= 1 && y + k < Y + 1 ? x[y + k - 1] + b[k] : -inf",
        "out[y:Y] = max(k:K) y + k >= 1 && y + k < Y + 1 ? x[y + k - 1]*0.3 - b[k] : -inf",
        "out[y:Y] = min(k:K) y + k >= 1 && y + k < Y + 1 ? x[y + k - 1] - b[k] : inf",
    };
    for (int i = 0; i < 3; i++) {
        at_arena *a = at_arena_new();
        fill_any(a, at_format(a, "args Y=200, K=3\nx[Y] : input\nb[K] : weight\n%s\n", texts[i]));
        assert_int_equal(d.rule.num_draws, 2);
        d.draw = 1;
        assert_true(at_dataset_fill(&d, 1));
        const double sign = i < 2 ? -1 : 1, of_b = i ? -sign : sign;
        for (int y = 0; y < 200; y++) assert_true(sign * (double)values_of("x")[y] > 0);
        for (int k = 0; k < 3; k++) assert_true(of_b * (double)values_of("b")[k] > 0);
        at_dataset_free(&d);
        at_arena_free(a);
    }
}

/* Of a maximum of all so far each step may be the largest until then: of random numbers some seven
 * of a thousand are. A minimum is the other way round; and on the other draw the first steps stay.
 */
static void running_extremes(void **state) {
    (void)state;
    enum { STEPS = 1500 };
    static const char *const texts[] = {
        "out[i:2, t:T] = max(k:0..t + 1) x[i, k]",
        "out[i:2, t:T] = min(k:0..t + 1) x[i, k]",
        "out[i:2, t:T] = t > 0 ? max(out[i, t - 1], x[i, t]) : x[i, 0]",
    };
    for (int i = 0; i < 3; i++) {
        at_arena *a = at_arena_new();
        fill_any(a, at_format(a, "args T=1500\nx[2, T] : input\n%s\n", texts[i]));
        assert_int_equal(d.rule.num_draws, 2);
        for (d.draw = 0; d.draw < 2; d.draw++) {
            int changes = 0;
            assert_true(at_dataset_fill(&d, 1));
            const float *x = values_of("x"), sign = i == 1 ? -1 : 1;
            float most = -INFINITY;
            for (int t = 0; t < STEPS; t++) {
                changes += sign * x[t] > most;
                most = fmaxf(most, sign * x[t]);
            }
            if (d.draw ? changes > 20 : changes < STEPS / 16)
                fail_msg("%s: %d changes", texts[i], changes);
        }
        at_dataset_free(&d);
        at_arena_free(a);
    }
}

/* Stages that each read the one before twice are looked through once: 2^40 ways lead to x. */
static void maxima_of_chosen(void **state) {
    (void)state;
    enum { STAGES = 40 };
    at_arena *a = at_arena_new();
    at_text text = {0};
    const char *of = "x";
    at_text_addf(&text, "args N=4\nx[N, %d] : input\n", STAGES + 2);
    for (int i = 0; i < STAGES; i++) {
        at_text_addf(&text, "s%d[n:N, m:%d] = m < 1 ? %s[n, m] : %s[n, m + 1]\n", i, STAGES + 1 - i,
                     of, of);
        of = at_format(a, "s%d", i);
    }
    at_text_addf(&text, "out[n:N] = max(m:2) %s[n, m]\n", of);
    fill_any(a, at_text_str(&text));
    assert_int_equal(d.rule.num_draws, 2);
    at_text_free(&text);
    at_dataset_free(&d);
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(winners_of_rows),
        cmocka_unit_test(rows_by_eight),
        cmocka_unit_test(winners_among_wholes),
        cmocka_unit_test(maxima_below_0),
        cmocka_unit_test(maxima_of_chosen),
        cmocka_unit_test(winners_behind_operations),
        cmocka_unit_test(sums_of_windows_below_0),
        cmocka_unit_test(running_extremes),
        cmocka_unit_test(equal_winners),
        cmocka_unit_test(lone_bounds),
        cmocka_unit_test(ends_of_axes),
        cmocka_unit_test(bounds_beside_overflow),
        cmocka_unit_test(winners_of_products),
        cmocka_unit_test(products_on_both_sides),
        cmocka_unit_test(products_in_halves),
        cmocka_unit_test(inputs_without_elements),
    };
    return cmocka_run_group_tests_name("engine/dataset_winners", tests, NULL, NULL);
}
