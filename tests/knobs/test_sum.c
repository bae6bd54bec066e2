/* Sums of spaces: one index over several, entities that name their part, digits, walks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "knobs/knobs.h"
#include "tests/arena.h"
#include "tests/spaces.h"

#include <string.h>

static at_space *sum, *parts[3];
static const char *const names[] = {"a", "b+c", "none"};

static int setup(void **state) {
    (void)state;
    at_error err;
    arena = at_arena_new();
    for (int i = 0; i < 3; i++) parts[i] = at_space_new(arena);
    at_split_options o = {.policy = AT_FACTORS};
    assert_int_equal(at_space_split(parts[0], "tile_x", 12, 2, &o, &err), AT_OK);
    assert_int_equal(at_space_option(parts[0], "flag", "[true, false]", &err), AT_OK);
    assert_int_equal(at_space_split(parts[1], "tile_x", 12, 2, &o, &err), AT_OK);
    assert_int_equal(at_space_split(parts[1], "tile_y", 8, 3, &o, &err), AT_OK);
    assert_int_equal(at_space_filter(parts[1], "tile_x.size[1] <= 4", &err), AT_OK);
    sum = at_space_new(arena);
    assert_int_equal(at_space_sum(sum, "sketch", names, parts, 3, &err), AT_OK);
    return 0;
}

static void indices(void **state) {
    (void)state;
    int64_t digits[16], all = 0, valid = 0;
    for (int i = 0; i < 3; i++) {
        all += at_space_range_length(parts[i]);
        valid += at_space_len(parts[i]);
    }
    assert_int_equal(at_space_range_length(sum), all);
    assert_int_equal(at_space_part_begin(sum, 0), 0);
    assert_int_equal(at_space_part_begin(sum, 1), at_space_range_length(parts[0]));
    assert_int_equal(at_space_part_begin(sum, 3), all);
    /* of any range, the points that there are */
    for (int64_t begin = 0; begin <= all; begin += 3)
        for (int64_t end = begin; end <= all; end += 5) {
            int64_t there = 0;
            for (int64_t i = begin; i < end; i++) there += at_space_is_valid(sum, i);
            assert_int_equal(at_space_subrange_length(sum, begin, end), there);
        }
    assert_int_equal(at_space_len(sum), valid);
    assert_int_equal(at_space_subrange_length(sum, 0, all), valid);
    assert_int_equal(at_space_num_knobs(sum), 5);
    assert_string_equal(at_space_knob_name(sum, 3), "b+c.tile_x");
    for (int64_t i = 0; i < all; i++) {
        at_space_digits(sum, i, digits);
        assert_int_equal(at_space_index(sum, digits), i);
    }
    int64_t seen = 0;
    for (int64_t i = at_space_next(sum, -1, 1, 0, 0); i >= 0; i = at_space_next(sum, i, 1, 0, 0))
        seen += at_space_is_valid(sum, i);
    assert_int_equal(seen, valid);
    assert_false(at_space_is_valid(sum, all));
}

/* Of every valid point: as JSON and back; its part's own point. */
static void points(void **state) {
    (void)state;
    for (int64_t i = 0; i < at_space_range_length(sum); i++) {
        at_config c, again, own;
        at_text text = {0};
        const at_json *json;
        at_error err;
        if (!at_space_is_valid(sum, i)) continue;
        assert_int_equal(at_config_at(arena, sum, i, &c, &err), AT_OK);
        assert_string_equal(c.names[0], "sketch");
        int part = at_config_part(&c, &own);
        assert_string_equal(c.entities[0].option->string, names[part]);
        assert_int_equal(own.num_knobs, at_space_num_knobs(parts[part]));
        assert_true(own.space == parts[part]);
        at_config_print_json(&text, &c);
        assert_int_equal(at_json_parse(arena, at_text_str(&text), text.len, &json, &err), AT_OK);
        assert_int_equal(at_config_from_json(arena, sum, json, &again, &err), AT_OK);
        assert_int_equal(again.index, i);
        assert_int_equal(again.recorded_index, i);
        assert_true(same_entity(&c, &again));
        at_text_free(&text);
        float row[64];
        assert_int_equal(at_config_features(&c, NULL), 3 + 3 + 5);
        assert_int_equal(at_config_features(&c, row), 11);
        for (int k = 0; k < 3; k++) assert_true(row[k] == (k == part));
    }
}

static void refused(void **state) {
    (void)state;
    static const struct {
        const char *json, *error;
    } cases[] = {
        {"{\"entity\": [[\"tile_x\", \"sp\", [-1, 2]]]}",
         "knob sketch is missing from the entity; it is one of a, b+c, none"},
        {"{\"entity\": [[\"sketch\", \"ot\", \"d\"]]}",
         "knob sketch: it has no such value; there are a, b+c, none"},
        {"{\"entity\": [[\"sketch\", \"ot\", 1]]}",
         "knob sketch: it has no such value; there are a, b+c, none"},
        {"{\"entity\": [[\"sketch\", \"ot\", \"none\"], [\"flag\", \"ot\", true]]}",
         "unknown knob \"flag\"; this space has no knobs"},
        {"{\"entity\": [[\"sketch\", \"ot\", \"a\"], [\"flag\", \"ot\", true]]}",
         "knob tile_x is missing from the entity"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const at_json *json;
        at_config c;
        at_error err;
        assert_int_equal(at_json_parse(arena, cases[i].json, strlen(cases[i].json), &json, &err),
                         AT_OK);
        assert_int_equal(at_config_from_json(arena, sum, json, &c, &err), AT_E_INPUT);
        assert_string_equal(err.text, cases[i].error);
    }
}

/* Another part keeps the values of knobs of one name, and nothing stays of the old one. */
static void another_part(void **state) {
    (void)state;
    int64_t digits[16];
    at_config c, own;
    at_error err;
    at_space_digits(sum, 3 + 6, digits); /* of a: tile_x entity 3, flag false */
    assert_true(at_space_digit_counts(sum, digits, 1));
    assert_false(at_space_digit_counts(sum, digits, 3));
    at_space_set_digit(sum, digits, 0, 1);
    assert_int_equal(digits[1] + digits[2], 0);
    assert_int_equal(at_config_at(arena, sum, at_space_index(sum, digits), &c, &err), AT_OK);
    assert_int_equal(at_config_part(&c, &own), 1);
    assert_int_equal(own.entities[0].sizes[1], at_space_entity(parts[0], 0, 3)->sizes[1]);
    at_rng rng;
    at_rng_seed(&rng, 5, 5);
    int64_t at = 0, reached[3] = {0};
    for (int i = 0; i < 500; i++) {
        at = at_space_random_walk(sum, at, &rng);
        assert_true(at_space_is_valid(sum, at));
        at_space_digits(sum, at, digits);
        reached[digits[0]]++;
    }
    for (int i = 0; i < 3; i++) assert_true(reached[i] > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indices),
        cmocka_unit_test(points),
        cmocka_unit_test(refused),
        cmocka_unit_test(another_part),
    };
    return cmocka_run_group_tests(tests, setup, free_arena);
}
