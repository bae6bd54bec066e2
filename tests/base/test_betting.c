/* Decisions that may be looked at at any time: capital as confseq has it (golden), what Ville's
 * inequality promises in simulations, and intervals that hold the truth whenever one looks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/base.h"
#include "tests/whole_file.h"

#include <math.h>
#include <stdlib.h>

static void as_confseq(void **state) {
    (void)state;
    char *text;
    size_t n;
    at_error err;
    const at_json *file;
    at_arena *a = at_arena_new();
    assert_int_equal(read_whole(a, "tests/golden/betting.json", &text, &n, &err), AT_OK);
    assert_int_equal(at_json_parse(a, text, n, &file, &err), AT_OK);
    const at_json *rows = at_json_get(file, "rows");
    assert_true(rows && rows->count >= 20);
    for (const at_json *r = rows->child; r; r = r->next) {
        double got = at_sign_bet(at_json_get(r, "above")->integer, at_json_get(r, "below")->integer,
                                 at_json_get(r, "prior")->number);
        assert_float_equal(got, at_json_get(r, "log_mixture")->number, 1e-8);
    }
    at_arena_free(a);
}

/* The mean over all sequences of n signs is 1 for every n: nobody gains on a fair coin. */
static void the_game_is_fair(void **state) {
    (void)state;
    for (int n = 1; n <= 40; n += 13) {
        double mean = 0, of_them = pow(0.5, n); /* sequences with k above: n over k */
        for (int k = 0; k <= n; k++) {
            mean += of_them * exp(at_sign_evidence(k, n - k));
            of_them = of_them * (n - k) / (k + 1);
        }
        assert_float_equal(mean, 1, 1e-9);
        assert_float_equal(at_sign_evidence(0, n), at_sign_evidence(n, 0), 1e-9);
    }
}

static double normal(at_rng *r) {
    return sqrt(-2 * log(1 - at_rng_unit(r))) * cos(2 * acos(-1) * at_rng_unit(r));
}

/* Looked at after each of 1,000 values: how often one is ever sure that the median is not 0, at
 * level 0.01? kind 1: the width of a value hangs on the one before; 2: the sign of the next is
 * worked out from how the game stands, as far as a fair coin allows. */
static int false_alarms(int kind, int runs) {
    at_rng r;
    int alarms = 0;
    at_rng_seed(&r, 19, (uint64_t)kind);
    for (int run = 0; run < runs; run++) {
        int64_t above = 0, below = 0;
        double last = 1;
        for (int i = 0; i < 1000; i++) {
            double x = normal(&r);
            if (kind == 1) x *= last = 0.1 + fabs(x * last);
            if (kind == 2 && above < below) x = -x;
            if (x > 0) above++;
            else below++;
            if (at_sign_evidence(above, below) < log(1 / 0.01)) continue;
            alarms++;
            break;
        }
    }
    return alarms;
}

/* A right test has at most 1 % of 2,000; 20 + 4 standard deviations are the limit. */
static void false_alarms_are_rare(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        int alarms = false_alarms(kind, 2000);
        print_message("kind %d: %d of 2000 called different\n", kind, alarms);
        assert_true(alarms <= 38);
    }
}

/* A difference of a third of a standard deviation is found, and in how many values. */
static void differences_are_found(void **state) {
    (void)state;
    at_rng r;
    at_rng_seed(&r, 20, 0);
    for (int run = 0; run < 100; run++) {
        int64_t above = 0, below = 0;
        int n = 0;
        while (at_sign_evidence(above, below) < log(1 / 0.01) && n < 2000) {
            if (normal(&r) + 1.0 / 3 > 0) above++;
            else below++;
            n++;
        }
        assert_in_range(n, 8, 1500);
        assert_true(above > below);
    }
}

static void intervals_hold_the_median(void **state) {
    (void)state;
    enum { MOST = 300, RUNS = 1000 };
    at_rng r;
    int missed = 0;
    at_rng_seed(&r, 21, 0);
    for (int run = 0; run < RUNS; run++) {
        double x[MOST];
        bool held = true;
        for (int i = 0; i < MOST; i++) {
            x[i] = exp(normal(&r)) - 1; /* skewed, the median is 0 */
            if (i % 10 != 9) continue;
            at_interval m = at_median_always(x, i + 1, 0.05);
            assert_true(m.low <= m.median && m.median <= m.high);
            held &= m.low <= 0 && m.high >= 0;
        }
        missed += !held;
    }
    print_message("%d of %d intervals ever missed at level 0.05\n", missed, RUNS);
    assert_true(missed <= 50);
}

static void ends_come_with_enough_values(void **state) {
    (void)state;
    double x[40];
    for (int i = 0; i < 40; i++) x[i] = 1 + i * 1e-3;
    at_interval m = at_median_always(x, 2, 0.05);
    assert_true(isinf(m.low) && isinf(m.high) && m.median == 1.0005);
    assert_true(isinf(at_median_always(x, 0, 0.05).high));
    m = at_median_always(x, 40, 0.05);
    assert_true(m.low > 1 && m.high < x[39]);
    /* a stricter level is wider, and evidence at an end is what the level asks for */
    assert_true(at_median_always(x, 40, 0.001).low < m.low);
    for (int n = 1; n < 40; n++) {
        m = at_median_always(x, n, 0.05);
        assert_true((isinf(m.low) != 0) == (at_sign_evidence(0, n) < log(20)));
    }
}

/* The interval of the least median of 64, each at a 64th of the level: holds what it is of, in at
 * least 94 % of all finals, though it was chosen for being lucky. */
static void the_winner_is_lucky(void **state) {
    (void)state;
    enum { FINALISTS = 64, PAIRS = 60, FINALS = 400 };
    static const double step[] = {0, 0.001};
    at_rng r;
    at_rng_seed(&r, 22, 0);
    for (int kind = 0; kind < 2; kind++) {
        int held = 0, held_alone = 0;
        for (int final = 0; final < FINALS; final++) {
            double best = INFINITY, truth = 0, values[FINALISTS][PAIRS];
            int winner = 0;
            for (int f = 0; f < FINALISTS; f++) {
                for (int i = 0; i < PAIRS; i++) values[f][i] = f * step[kind] + 0.02 * normal(&r);
                double *sorted = at_sorted_copy(values[f], PAIRS);
                double m = at_sorted_median(sorted, PAIRS);
                if (m < best) best = m, winner = f, truth = f * step[kind];
                free(sorted);
            }
            at_interval m = at_median_always(values[winner], PAIRS, 0.05 / FINALISTS);
            held += m.low <= truth && truth <= m.high;
            m = at_median(values[winner], PAIRS);
            held_alone += m.low <= truth && truth <= m.high;
        }
        print_message("%d finalists %g apart: %d of %d held, %d as if it had not been chosen\n",
                      FINALISTS, step[kind], held, FINALS, held_alone);
        assert_true(held >= 0.94 * FINALS);
        assert_true(kind || held_alone < 0.94 * FINALS); /* the correction is needed */
    }
}

/* A final that ends as soon as nobody can be more than a tie better than the best so far: whoever
 * wins is that close to the best, and in its interval, as often as when all pairs are waited for.
 */
static void races_may_end_early(void **state) {
    (void)state;
    enum { FINALISTS = 8, TURN = 8, PAIRS = 20 * TURN, FINALS = 200 };
    static const double step[] = {0, 0.001, 0.004};
    at_rng r;
    at_rng_seed(&r, 23, 0);
    for (int kind = 0; kind < 3; kind++) {
        int held = 0, close = 0, pairs = 0;
        for (int final = 0; final < FINALS; final++) {
            double values[FINALISTS][PAIRS];
            at_interval m[FINALISTS];
            int winner = 0, n = 0;
            for (bool open = true; open && n < PAIRS;) {
                for (int f = 0; f < FINALISTS; f++) {
                    for (int i = n; i < n + TURN; i++)
                        values[f][i] = 1 + f * step[kind] + 0.004 * normal(&r);
                    m[f] = at_median_always(values[f], n + TURN, 0.05 / FINALISTS);
                }
                n += TURN;
                winner = 0;
                for (int f = 1; f < FINALISTS; f++)
                    if (m[f].median < m[winner].median) winner = f;
                open = false;
                for (int f = 0; f < FINALISTS; f++)
                    open |= f != winner && !(m[f].low * (1 + AT_TIE) >= m[winner].high);
            }
            double truth = 1 + winner * step[kind];
            held += m[winner].low <= truth && truth <= m[winner].high;
            close += truth <= 1 + AT_TIE;
            pairs += n;
        }
        print_message("8 finalists %g apart: %d and %d of %d held, after %d of %d pairs\n",
                      step[kind], held, close, FINALS, pairs / FINALS, PAIRS);
        assert_true(held >= 0.94 * FINALS && close >= 0.94 * FINALS);
        assert_true(pairs < FINALS * PAIRS);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_confseq),
        cmocka_unit_test(the_game_is_fair),
        cmocka_unit_test(false_alarms_are_rare),
        cmocka_unit_test(differences_are_found),
        cmocka_unit_test(intervals_hold_the_median),
        cmocka_unit_test(ends_come_with_enough_values),
        cmocka_unit_test(the_winner_is_lucky),
        cmocka_unit_test(races_may_end_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
