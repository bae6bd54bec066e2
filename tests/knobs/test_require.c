/* Conditions over knobs of all kinds: the points that keep them are those that a look at each point
 * finds, whoever asks; a space too large for that is begun at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "knobs/knobs_int.h"
#include "tests/arena.h"

#include <string.h>

static at_error err;

static const at_constant constants[] = {{"N", 64}};

static at_space *small(void) {
    at_space *s = at_space_new(arena);
    at_split_options o = {.policy = AT_FACTORS};
    assert_int_equal(at_space_option(s, "TILE", "[4, 8, 16, 48]", &err), AT_OK);
    assert_int_equal(at_space_option(s, "FAST", "[false, true]", &err), AT_OK);
    assert_int_equal(at_space_option(s, "SCALE", "[0.5, 1.0, 1.5]", &err), AT_OK);
    assert_int_equal(at_space_option(s, "VARIANT", "[\"rows\", \"blocks\"]", &err), AT_OK);
    assert_int_equal(at_space_split(s, "PART", 24, 3, &o, &err), AT_OK);
    assert_int_equal(at_space_reorder(s, "ORDER", 3, &(at_reorder_options){.policy = "all"}, &err),
                     AT_OK);
    return s;
}

static at_status require(at_space *s, int knob, const char *condition) {
    return at_space_require(s, knob, condition, "mm.c", constants, 1, &err);
}

static int64_t digit(const at_space *s, int64_t index, const char *knob) {
    int64_t digits[8];
    at_space_digits(s, index, digits);
    return digits[at_space_find_knob(s, knob)];
}

/* What the conditions below say, in C. */
static bool is_right(const at_space *s, int64_t index) {
    static const int tiles[] = {4, 8, 16, 48};
    static const double scales[] = {0.5, 1, 1.5};
    const at_entity *part = at_space_entity(s, 4, digit(s, index, "PART"));
    const at_entity *order = at_space_entity(s, 5, digit(s, index, "ORDER"));
    int tile = tiles[digit(s, index, "TILE")];
    double scale = scales[digit(s, index, "SCALE")];
    bool blocks = digit(s, index, "VARIANT") == 1, fast = digit(s, index, "FAST") == 1;
    if (64 % tile != 0 || !(scale * tile <= 12) || order->sizes[0] == 2) return false;
    if (!blocks && fast) return false;
    return part->sizes[1] * part->sizes[2] <= 8 || blocks;
}

static at_space *required(void) {
    at_space *s = small();
    assert_int_equal(require(s, -1, "N % TILE == 0"), AT_OK);
    assert_int_equal(require(s, -1, "SCALE * TILE <= 12 && ORDER_0 != 2"), AT_OK);
    assert_int_equal(require(s, 1, "VARIANT == \"blocks\""), AT_OK); /* FAST if blocks */
    assert_int_equal(require(s, -1, "PART_1*PART_2 <= 8 || VARIANT != \"rows\""), AT_OK);
    return s;
}

static void points_are_those_that_keep_them(void **state) {
    (void)state;
    for (int settled = 0; settled < 2; settled++) {
        at_space *s = required();
        int64_t count = 0, next = -1;
        if (settled) assert_int_equal(at_space_settle(s, &err), AT_OK);
        for (int64_t i = 0; i < at_space_range_length(s); i++) {
            bool right = is_right(s, i);
            assert_int_equal(at_space_is_valid(s, i), right);
            int64_t mended = at_space_mend(s, i);
            assert_true(right ? mended == i : is_right(s, mended));
            if (!right) continue;
            next = at_space_next(s, next, 1, 0, 0);
            assert_int_equal(next, i);
            count++;
        }
        assert_int_equal(at_space_next(s, next, 1, 0, 0), -1);
        assert_true(count > 20);
        assert_int_equal(at_space_len(s), count);
        assert_false(at_space_len_is_estimated(s));
    }
}

static void knobs_that_count(void **state) {
    (void)state;
    at_space *s = required();
    int64_t digits[6] = {0};
    assert_false(at_space_is_active(s, 1, digits)); /* rows */
    digits[3] = 1;
    assert_true(at_space_is_active(s, 1, digits));
    assert_true(at_space_is_active(s, 0, digits));
}

/* 10^9 points, one in some ten thousand valid: nobody may look at all of them. */
static at_space *large(void) {
    at_space *s = at_space_new(arena);
    char name[2] = "A";
    for (; *name <= 'I'; ++*name)
        assert_int_equal(at_space_option(s, name, "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]", &err), AT_OK);
    assert_int_equal(require(s, -1, "A*B*C == 60 && D*E*F == 72"), AT_OK);
    assert_int_equal(require(s, -1, "G + H + I == A + D + 3"), AT_OK);
    return s;
}

static void large_spaces(void **state) {
    (void)state;
    int64_t begin_ns = at_now_ns(), seen = 0;
    at_space *s = large();
    assert_int_equal(at_space_range_length(s), 1000000000);

    assert_int_equal(at_space_settle(s, &err), AT_OK);
    print_message("%.3f s until the first\n", at_seconds_since(begin_ns));
    at_rng rng;
    at_rng_seed(&rng, 1, 1);
    for (int i = 0; i < 1000; i++) {
        int64_t place = (int64_t)at_rng_below(&rng, (uint64_t)at_space_num_places(s));
        int64_t index = at_space_at_place(s, place), d[9];
        at_space_digits(s, index, d);
        assert_int_equal((d[0] + 1) * (d[1] + 1) * (d[2] + 1), 60);
        assert_int_equal((d[3] + 1) * (d[4] + 1) * (d[5] + 1), 72);
        assert_int_equal(d[6] + d[7] + d[8] + 3, d[0] + d[3] + 5);
        int64_t other = at_space_random_walk(s, index, &rng);
        assert_true(at_space_is_valid(s, other));
        seen += other != index;
    }
    assert_true(seen > 900);
    assert_true(at_space_len(s) > 1000 && at_space_len(s) < 1000000);
    print_message("%.3f s\n", at_seconds_since(begin_ns));
}

/* Too many for a list: draws are valid all the same, and their number is about right. */
static void many_points(void **state) {
    (void)state;
    at_space *s = at_space_new(arena);
    char name[2] = "A";
    for (; *name <= 'H'; ++*name)
        assert_int_equal(at_space_option(s, name, "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]", &err), AT_OK);
    assert_int_equal(require(s, -1, "A + B + C + D + E + F + G + H >= 45"), AT_OK);
    assert_int_equal(at_space_settle(s, &err), AT_OK);
    assert_true(at_space_mends(s));
    assert_int_equal(at_space_num_places(s), 100000000);
    for (int64_t place = 0; place < 100000000; place += 1234567)
        assert_true(at_space_is_valid(s, at_space_at_place(s, place)));
    assert_true(at_space_len_is_estimated(s));
    assert_true(at_space_len(s) > 40000000 && at_space_len(s) < 65000000); /* 44 is the mean */
}

/* A condition by chance, over four knobs: also none that can be worked out everywhere. */
static void write_condition(at_text *out, at_rng *rng, int depth) {
    static const char *const infix[] = {"+",  "-",  "*",  "/",  "%",  "<", "<=", ">",
                                        ">=", "==", "!=", "&&", "||", "&", "|",  ">>"};
    static const char *const leaves[] = {"A",      "B",      "C",          "D",  "A", "C",
                                         "PART_0", "PART_1", "V == \"x\"", "N",  "0", "3",
                                         "0.5",    "2",      "ORDER_1",    "17", "B", "PART_2"};
    uint64_t kind = depth ? at_rng_below(rng, 24) : 23;
    if (kind < 16 || kind == 18 || kind == 19) {
        at_text_add(out, kind < 16 ? "(" : kind == 18 ? "min(" : "max(");
        write_condition(out, rng, depth - 1);
        at_text_addf(out, " %s ", kind < 16 ? infix[kind] : ",");
        write_condition(out, rng, depth - 1);
        at_text_add(out, ")");
    } else if (kind == 16) {
        at_text_add(out, "(");
        write_condition(out, rng, depth - 1);
        at_text_add(out, " ? ");
        write_condition(out, rng, depth - 1);
        at_text_add(out, " : ");
        write_condition(out, rng, depth - 1);
        at_text_add(out, ")");
    } else if (kind == 17 || kind == 20) {
        at_text_add(out, kind == 17 ? "-(" : "!(");
        write_condition(out, rng, depth - 1);
        at_text_add(out, ")");
    } else {
        const uint64_t num = sizeof leaves / sizeof *leaves;
        at_text_addf(out, "(%s)", leaves[at_rng_below(rng, num)]);
    }
}

static at_space *of_chance(at_rng *rng) {
    at_space *s = at_space_new(arena);
    at_split_options o = {.policy = AT_FACTORS};
    at_text b = {0};
    for (int i = 0; i < 70; i++) at_text_addf(&b, "%s%d", i ? ", " : "[", i - 3);
    at_text_add(&b, "]"); /* more than AT_LANES */
    assert_int_equal(at_space_option(s, "A", "[0, 1, 2, 5]", &err), AT_OK);
    assert_int_equal(at_space_option(s, "B", at_text_str(&b), &err), AT_OK);
    assert_int_equal(at_space_option(s, "C", "[0.5, 1.0, -2.0]", &err), AT_OK);
    assert_int_equal(at_space_option(s, "D", "[false, true]", &err), AT_OK);
    assert_int_equal(at_space_option(s, "V", "[\"x\", \"y\"]", &err), AT_OK);
    assert_int_equal(at_space_split(s, "PART", 4, 3, &o, &err), AT_OK);
    assert_int_equal(at_space_reorder(s, "ORDER", 2, &(at_reorder_options){.policy = "all"}, &err),
                     AT_OK);
    for (int n = 0; n < 3;) {
        at_text t = {0};
        write_condition(&t, rng, 3);
        n += require(s, at_rng_below(rng, 4) ? -1 : 3, at_text_str(&t)) == AT_OK; /* D, if ... */
        at_text_free(&t);
    }
    at_text_free(&b);
    return s;
}

/* Intervals of one point each say of every point what lanes say; and lists, counts and steps have
 * just these points. */
static void conditions_of_chance(void **state) {
    (void)state;
    at_rng rng;
    int some = 0;
    at_rng_seed(&rng, 7, 1);
    for (int round = 0; round < 60; round++) {
        at_space *s = of_chance(&rng);
        int64_t count = 0, next = -1, digits[7];
        const int64_t range = at_space_range_length(s);
        bool *right = AT_NEW_ARRAY(arena, bool, range);
        for (int64_t i = 0; i < range; i++) {
            at_space_digits(s, i, digits);
            right[i] = true;
            for (int c = 0; c < s->requires.len; c++)
                right[i] &= at_requirement_can_hold(&s->requires.data[c], digits);
            assert_int_equal(at_space_is_valid(s, i), right[i]);
            count += right[i];
        }
        if (count) assert_int_equal(at_space_len(s), count);
        for (int64_t left = count < 200 ? count : 200; left; left--) {
            int64_t after = next + 1;
            while (!right[after]) after++;
            assert_int_equal(next = at_space_next(s, next, 1, 0, 0), after);
        }
        assert_int_equal(at_space_settle(s, &err), count ? AT_OK : AT_E_INPUT);
        for (int64_t i = 0; i < range && count; i++)
            assert_int_equal(at_space_is_valid(s, i), right[i]);
        some += count > 0 && count < range;
    }
    print_message("%d of 60 have some valid points\n", some);
    assert_true(some > 20);
}

/* Conditions that say nothing before all but one of their knobs have values: too many points to be
 * looked at, too many values to be listed. */
static void conditions_that_tell_late(void **state) {
    (void)state;
    at_space *s = at_space_new(arena);
    at_text values = {0};
    for (int i = 1; i <= 1000; i++) at_text_addf(&values, "%s%d", i > 1 ? ", " : "[", i);
    at_text_add(&values, "]");
    for (char name[2] = "A"; *name <= 'C'; ++*name)
        assert_int_equal(at_space_option(s, name, at_text_str(&values), &err), AT_OK);
    assert_int_equal(require(s, -1, "(A*31 + B*17 + C*13) % 10007 == 5"), AT_OK);
    assert_int_equal(at_space_settle(s, &err), AT_OK);
    assert_true(at_space_len_is_estimated(s));
    assert_in_range(at_space_len(s), 50000, 200000); /* 10^9/10007 */
    at_rng rng;
    at_rng_seed(&rng, 1, 1);
    for (int i = 0; i < 100; i++) {
        int64_t index = at_space_at_place(s, (int64_t)at_rng_below(&rng, 1000000000)), d[3];
        at_space_digits(s, index, d);
        assert_int_equal(((d[0] + 1) * 31 + (d[1] + 1) * 17 + (d[2] + 1) * 13) % 10007, 5);
    }
    at_text_free(&values);
}

static void none_is_valid(void **state) {
    (void)state;
    at_space *s = small();
    assert_int_equal(require(s, -1, "TILE * 3 == 7"), AT_OK);
    assert_int_equal(at_space_settle(s, &err), AT_E_INPUT);
    assert_string_equal(err.text, "no point of the space keeps all conditions (\"require\"): of "
                                  "8640 none is valid");
    s = small();
    assert_int_equal(require(s, -1, "N % (TILE - TILE) == 0"), AT_OK); /* divides by zero */
    assert_int_equal(at_space_settle(s, &err), AT_E_INPUT);
    s = small();
    assert_int_equal(require(s, -1, "N < 64"), AT_OK); /* reads no knob */
    assert_int_equal(at_space_settle(s, &err), AT_E_INPUT);
}

static void mistakes(void **state) {
    (void)state;
    static const struct {
        const char *condition, *message;
    } bad[] = {
        {"TILES <= 4", "mm.c:1:1: \"TILES\" is no knob and no size; did you mean \"TILE\"?"},
        {"VARIANT == \"block\"",
         "mm.c:1:12: VARIANT has no value \"block\"; its values are \"rows\", "
         "\"blocks\""},
        {"TILE == \"rows\"", "mm.c:1:9: a text is compared with a knob whose values are texts"},
        {"VARIANT + 1 > 2", "mm.c:1:1: its values are texts, which are compared with == or !="},
        {"PART > 2", "mm.c:1:1: PART has 3 parts: PART_0 to PART_2 are numbers"},
        {"PART_3 > 2", "mm.c:1:1: \"PART_3\" is no knob and no size; did you mean \"PART\"?"},
        {"TILE <= ", "mm.c:1:8: expected a value, got the end"},
        {"TILE <= 4)", "mm.c:1:10: expected an operator or the end"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        at_space *s = small();
        assert_int_equal(require(s, -1, bad[i].condition), AT_E_INPUT);
        if (strncmp(err.text, bad[i].message, strlen(bad[i].message)))
            fail_msg("said %s, expected %s", err.text, bad[i].message);
    }
}

static void a_long_condition(void **state) {
    (void)state;
    at_text t = {0};
    for (int i = 0; i < 900; i++) at_text_add(&t, "TILE + ");
    at_text_add(&t, "0 > 3600");
    at_space *s = small();
    assert_int_equal(require(s, -1, at_text_str(&t)), AT_OK);
    assert_int_equal(at_space_settle(s, &err), AT_OK);
    assert_int_equal(at_space_len(s), 8640 / 4 * 3);
    for (int i = 0; i < 200; i++) at_text_add(&t, " + 1");
    assert_int_equal(require(s, -1, at_text_str(&t)), AT_OK);
    for (int i = 0; i < 5000; i++) at_text_add(&t, " + 1");
    assert_int_equal(require(s, -1, at_text_str(&t)), AT_E_INPUT);
    assert_non_null(strstr(err.text, "a condition has at most 1,000 operators in a row"));
    for (int i = 0; i < 30000; i++) at_text_add(&t, " + 1");
    assert_int_equal(require(s, -1, at_text_str(&t)), AT_E_INPUT);
    assert_non_null(strstr(err.text, "20000 terms"));
    at_text_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_those_that_keep_them),
        cmocka_unit_test(knobs_that_count),
        cmocka_unit_test(large_spaces),
        cmocka_unit_test(many_points),
        cmocka_unit_test(conditions_of_chance),
        cmocka_unit_test(conditions_that_tell_late),
        cmocka_unit_test(none_is_valid),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(a_long_condition),
    };
    return cmocka_run_group_tests_name("knobs/require", tests, make_arena, free_arena);
}
