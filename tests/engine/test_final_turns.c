/* Whose turn it is in a final: everybody has enough samples that count before anybody is left out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "engine/final/final_turns.h"

enum { MOST_SAMPLES = 8 };
static double samples_s[AT_FINALISTS][AT_FINAL_ROUNDS][MOST_SAMPLES];
static at_final final;

static void begin(int count) {
    memset(&final, 0, sizeof final);
    final.count = count;
    for (int i = 0; i < count; i++)
        final.of[i].turns = (at_turns){.among = count,
                                       .objective = AT_OBJECTIVE_ALONE,
                                       .rounds = final.of[i].rounds,
                                       .error = ""};
}

/* A turn of so many pairs in these states, all of this time but for a little more in each. */
static void turn(int i, double time_s, const char *states) {
    at_finalist *f = &final.of[i];
    int round = f->turns.num_rounds++, n = (int)strlen(states);
    for (int k = 0; k < n; k++) samples_s[i][round][k] = time_s * (1 + 1e-4 * k);
    f->rounds[round] = (at_round){
        .samples_s = samples_s[i][round], .num_samples = n, .states = states, .time_s = time_s};
    f->turns.time_s = at_turns_time(&f->turns);
}

/* Fails unless the next round is that of these, a bit each. */
static void expect_open(uint64_t those) {
    bool is_open[AT_FINALISTS];
    at_final_choose_open(&final, is_open);
    for (int i = 0; i < final.count; i++) assert_int_equal(is_open[i], those >> i & 1);
}

/* Those of whom too few samples count have turns, and nobody else, however slow they are. */
static void samples_first(void **state) {
    (void)state;
    begin(6);
    turn(0, 1.00, "aaaaa");
    turn(1, 1.50, "aaccc");
    turn(2, 1.01, "aaaaaaa");
    turn(3, 1.30, "ccccccc");
    turn(4, 1.02, "aaaaa");
    turn(5, 1.03, "mmaaaa");
    expect_open(1 << 1 | 1 << 3 | 1 << 5);
    turn(1, 1.50, "aaa");
    turn(3, 1.30, "cccaa");
    turn(5, 1.03, "a");
    expect_open(1 << 3);
    turn(3, 1.30, "aaa");
    expect_open(1 << 0 | 1 << 2 | 1 << 4 | 1 << 5);
}

/* Then half of them, the better one, each time, until there are four; rounds that went before, for
 * who lacked samples, are no halvings. */
static void halves(void **state) {
    (void)state;
    begin(24);
    for (int i = 0; i < 24; i++) turn(i, 1 + 0.01 * i, "aacc");
    for (int round = 0; round < 2; round++) {
        expect_open((1 << 24) - 1);
        for (int i = 0; i < 24; i++) turn(i, 1 + 0.01 * i, round ? "aacc" : "cccc");
    }
    expect_open((1 << 24) - 1);
    for (int i = 0; i < 24; i++) turn(i, 1 + 0.01 * i, "aa");
    expect_open((1 << 12) - 1);
    expect_open((1 << 6) - 1);
    expect_open((1 << 4) - 1);
    expect_open((1 << 4) - 1);
}

/* Who failed or is behind has no turns, and where the state never comes all samples count. */
static void others(void **state) {
    (void)state;
    begin(9);
    for (int i = 0; i < 9; i++) turn(i, 1 + 0.01 * i, "cccccc");
    final.of[0].turns.error_no = 4;
    final.of[2].is_behind = true;
    expect_open(1 << 1 | 1 << 3 | 1 << 4 | 1 << 5);
    assert_ptr_equal(at_final_leader(&final), &final.of[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(samples_first), cmocka_unit_test(halves),
                                       cmocka_unit_test(others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
