/* tests/knobs/test_config.c: configurations read from JSON: what is taken, and the exact message
 * for what is not. */
#include "golden.h"
#include "tests/spaces.h"

#include <string.h>

static at_arena *arena;
static at_space *space; /* conv2d_3x3_gemm(10, 256, 256, 64, 64) and one knob of each other kind */

static int make_space(void **state) {
    (void)state;
    at_error err;
    arena = at_arena_new();
    space = at_space_new(arena);
    at_split_options tails = {.policy = AT_POWER2, .filter = "last <= 16"};
    at_reorder_options all = {.policy = "all"};
    assert_int_equal(at_space_split(space, "tile_y", 655360, 3, NULL, &err), AT_OK);
    assert_int_equal(at_space_split(space, "tile_x", 64, 3, NULL, &err), AT_OK);
    assert_int_equal(at_space_split(space, "tile_k", 576, 2, &tails, &err), AT_OK);
    assert_int_equal(at_space_reorder(space, "order", 3, &all, &err), AT_OK);
    assert_int_equal(at_space_annotate(space, "ann", 2, "try_unroll", 0, &err), AT_OK);
    assert_int_equal(at_space_annotate(space, "cache", 3, "locate_cache", 2, &err), AT_OK);
    assert_int_equal(at_space_option(space, "step", "[0, 128, 1500]", &err), AT_OK);
    assert_int_equal(at_space_option(space, "layout", "[\"row\", \"column\"]", &err), AT_OK);
    return 0;
}

static int free_space(void **state) {
    (void)state;
    at_arena_free(arena);
    at_text_free(&at_printed);
    return 0;
}

static at_status read_text(const at_space *s, const char *json, at_config *out, at_error *err) {
    const at_json *v;
    assert_int_equal(at_json_parse(arena, json, strlen(json), &v, err), AT_OK);
    return at_config_from_json(arena, s, v, out, err);
}

enum { TILE_Y, TILE_X, TILE_K, ORDER, ANN, CACHE, STEP, LAYOUT, NUM_KNOBS };

/* A sound entity with one triple, or all of them (knob -1), replaced. */
static const char *entity_with(int knob, const char *triple) {
    static const char *const sound[NUM_KNOBS] = {"[\"tile_y\", \"sp\", [-1, 320, 128]]",
                                                 "[\"tile_x\", \"sp\", [-1, 8, 2]]",
                                                 "[\"tile_k\", \"sp\", [-1, 16]]",
                                                 "[\"order\", \"re\", [0, 2, 1]]",
                                                 "[\"ann\", \"an\", [\"none\", \"unroll\"]]",
                                                 "[\"cache\", \"an\", [0, 2]]",
                                                 "[\"step\", \"ot\", 128]",
                                                 "[\"layout\", \"ot\", \"column\"]"};
    at_text t = {0};
    at_text_add(&t, "{\"index\": 7, \"code_hash\": null, \"entity\": [");
    const char *comma = "";
    for (int i = 0; i < NUM_KNOBS; i++) {
        const char *s = i == knob ? triple : sound[i];
        at_text_addf(&t, "%s%s", *s ? comma : "", s);
        if (*s) comma = ", ";
    }
    at_text_add(&t, "]}");
    return at_text_take(arena, &t);
}

static void refused(int knob, const char *triple, const char *message) {
    at_config c = {.index = 42};
    at_error err;
    assert_int_equal(read_text(space, entity_with(knob, triple), &c, &err), AT_E_INPUT);
    assert_string_equal(err.text, message);
    assert_int_equal(c.index, 42); /* untouched */
}

static void each_refusal_has_its_message(void **state) {
    (void)state;
    refused(
        TILE_X, "[\"tile_x\", \"sp\", [-1, 5, 2]]",
        "knob tile_x: [-1, 5, 2] does not divide 64; the parts' product must be a factor of it: "
        "1 2 4 8 16 32 64");
    refused(TILE_X, "[\"tile_x\", \"sp\", [-1, 4611686018427387904, 4]]",
            "knob tile_x: [-1, 4611686018427387904, 4] does not divide 64; the parts' product must "
            "be a "
            "factor of it: 1 2 4 8 16 32 64");
    refused(
        TILE_X, "[\"tile_x\", \"sp\", [-1, 0, 2]]",
        "knob tile_x: [-1, 0, 2] has a part below 1; only the first may be -1, for what remains");
    refused(
        TILE_X, "[\"tile_x\", \"sp\", [8, -1, 2]]",
        "knob tile_x: [8, -1, 2] has a part below 1; only the first may be -1, for what remains");
    refused(TILE_X, "[\"tile_x\", \"sp\", [-1, 8]]",
            "knob tile_x: [-1, 8] has 2 parts; this knob takes 3");
    refused(TILE_X, "[\"tile_x\", \"sp\", []]",
            "knob tile_x: []; a list of whole numbers is needed");
    refused(TILE_X, "[\"tile_x\", \"sp\", [-1, 8.0, 2]]",
            "knob tile_x: [-1, 8.0, 2]; a list of whole numbers is needed");
    refused(TILE_X, "[\"tile_x\", \"ot\", 8]",
            "knob tile_x: 8 is of kind \"ot\"; this knob is of kind \"sp\"");
    refused(TILE_X, "[\"tile_x\", \"xx\", 8]",
            "knob tile_x: unknown kind \"xx\"; there are sp, re, an, ot");
    refused(
        TILE_X, "[\"tile_z\", \"sp\", [-1, 8, 2]]",
        "unknown knob \"tile_z\", perhaps tile_y; this space has tile_y, tile_x, tile_k, order, "
        "ann, cache, step, layout");
    refused(TILE_X, "[\"tile_y\", \"sp\", [-1, 8, 2]]", "knob tile_y occurs twice in the entity");
    refused(TILE_X, "", "knob tile_x is missing from the entity");
    refused(TILE_X, "[\"tile_x\", \"sp\"]", "entity, item 1: [name, kind, value] is needed");
    refused(TILE_X, "7", "entity, item 1: [name, kind, value] is needed");
    refused(TILE_K, "[\"tile_k\", \"sp\", [-1, 577]]",
            "knob tile_k: [-1, 577] exceeds 576; the parts' product must be at most that");
    refused(ORDER, "[\"order\", \"re\", [0, 2, 2]]",
            "knob order: [0, 2, 2] does not name different axes of 0 to 2");
    refused(ORDER, "[\"order\", \"re\", [0, 2, 3]]",
            "knob order: [0, 2, 3] does not name different axes of 0 to 2");
    refused(ANN, "[\"ann\", \"an\", [\"none\", \"unrol\"]]",
            "knob ann: [\"none\", \"unrol\"] has an unknown mark; there are none, vec, unroll, "
            "those of "
            "GPU threads and blocks, and fuse");
    refused(ANN, "[\"ann\", \"an\", [0, 1]]",
            "knob ann: [0, 1] holds positions; this knob takes marks");
    refused(ANN, "[\"ann\", \"an\", \"none\"]",
            "knob ann: \"none\"; a list of marks such as [\"none\", \"vec\"] is needed");
    refused(CACHE, "[\"cache\", \"an\", [0, 3]]",
            "knob cache: [0, 3] does not name different axes of 0 to 2");
    refused(STEP, "[\"step\", \"ot\", \"many\"]", "knob step: \"many\" is not one of 0, 128, 1500");
    refused(LAYOUT, "[\"layout\", \"ot\", \"diagonal\"]",
            "knob layout: \"diagonal\" is not one of \"row\", \"column\"");
}

static void objects_without_an_entity_are_refused(void **state) {
    (void)state;
    static const char *const bad[][2] = {
        {"[]", "config: no list \"entity\""},
        {"{\"index\": 3}", "config: no list \"entity\""},
        {"{\"index\": 3, \"entity\": {}}", "config: no list \"entity\""},
        {"{\"index\": 0.5, \"entity\": []}", "config: \"index\" is not a whole number"},
        {"{\"index\": \"5\", \"entity\": []}", "config: \"index\" is not a whole number"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        at_config c;
        at_error err;
        assert_int_equal(read_text(NULL, bad[i][0], &c, &err), AT_E_INPUT);
        assert_string_equal(err.text, bad[i][1]);
    }
}

static at_config accepted(int knob, const char *triple) {
    at_config c;
    at_error err;
    if (read_text(space, entity_with(knob, triple), &c, &err) != AT_OK) fail_msg("%s", err.text);
    assert_int_equal(c.recorded_index, 7);
    assert_int_equal(c.num_knobs, NUM_KNOBS);
    return c;
}

static void values_the_space_does_not_list_have_no_index(void **state) {
    (void)state;
    assert_true(accepted(-1, "").index >= 0);
    assert_int_equal(accepted(TILE_K, "[\"tile_k\", \"sp\", [-1, 32]]").index, -1); /* filtered */
    assert_int_equal(accepted(TILE_K, "[\"tile_k\", \"sp\", [-1, 7]]").index, -1);  /* a tail */
    assert_int_equal(accepted(ANN, "[\"ann\", \"an\", [\"none\", \"vec\"]]").index, -1);
    assert_int_equal(accepted(STEP, "[\"step\", \"ot\", 64]").index, -1);
    at_config c = accepted(STEP, "[\"step\", \"ot\", 64]");
    assert_int_equal(at_config_get(&c, "step")->option->integer, 64);
    assert_null(at_config_get(&c, "stop"));
}

static void first_size_may_be_a_number(void **state) {
    (void)state;
    at_config remains = accepted(-1, ""), c = accepted(TILE_X, "[\"tile_x\", \"sp\", [4, 8, 2]]");
    assert_int_equal(c.index, remains.index);
    assert_true(same_entity(&c, &remains));
    c = accepted(TILE_X, "[\"tile_x\", \"sp\", [4, 2, 8]]");
    assert_false(same_entity(&c, &remains));
}

static void knobs_may_come_in_any_order(void **state) {
    (void)state;
    at_space *s = at_space_new(arena);
    at_error err;
    at_config c;
    assert_int_equal(at_space_option(s, "a", "[1, 2, 3]", &err), AT_OK);
    assert_int_equal(at_space_option(s, "b", "[true, false]", &err), AT_OK);
    assert_int_equal(
        read_text(s, "{\"entity\": [[\"b\", \"ot\", false], [\"a\", \"ot\", 3]]}", &c, &err),
        AT_OK);
    assert_int_equal(c.index, 5);
    assert_int_equal(c.recorded_index, 5);
    assert_string_equal(AT_PRINTED(arena, at_config_print_str, &c),
                        "[('a', 3), ('b', False)],None,5");
    /* 1 and true are one value in Python; here they are two. */
    assert_int_equal(
        read_text(s, "{\"entity\": [[\"b\", \"ot\", 1], [\"a\", \"ot\", 3]]}", &c, &err),
        AT_E_INPUT);
    assert_string_equal(err.text, "knob b: 1 is not one of true, false");
}

static void the_entity_is_the_truth(void **state) {
    (void)state;
    const at_json *g = at_golden(arena, "index_77156.json");
    int64_t recorded = at_json_get(g, "recorded_index")->integer;
    const char *text =
        at_format(arena, "{\"index\": %lld, \"entity\": %s}", (long long)recorded,
                  AT_PRINTED(arena, at_json_print, at_json_get(g, "recorded_entity")));
    at_space *s = at_space_new(arena);
    at_error err;
    at_config c, at_recorded;
    assert_int_equal(at_space_split(s, "tile_y", 655360, 3, NULL, &err), AT_OK);
    assert_int_equal(at_space_split(s, "tile_x", 64, 3, NULL, &err), AT_OK);
    assert_int_equal(at_space_split(s, "tile_k", 576, 2, NULL, &err), AT_OK);
    assert_int_equal(read_text(s, text, &c, &err), AT_OK);
    assert_int_equal(c.index, at_json_get(g, "recorded_entity_index")->integer);
    assert_int_equal(c.recorded_index, recorded);
    assert_string_equal(AT_PRINTED(arena, at_config_print_str, &c),
                        at_json_get(at_json_get(g, "index_5435"), "str")->string);
    assert_int_equal(at_config_at(arena, s, recorded, &at_recorded, &err), AT_OK);
    assert_string_equal(AT_PRINTED(arena, at_config_print_str, &at_recorded),
                        at_json_get(at_json_get(g, "index_77156"), "str")->string);
    assert_false(same_entity(&c, &at_recorded));
}

static void without_a_space_only_form_is_checked(void **state) {
    (void)state;
    at_config c;
    at_error err;
    const char *text =
        "{\"index\": 9, \"code_hash\": \"1a2b3c4d\", \"entity\": [[\"o\", \"re\", [0, 2, 1]], "
        "[\"a\", \"an\", [\"magic\"]], [\"s\", \"ot\", \"it's\"], [\"l\", \"ot\", [1.5, "
        "null, \"it's\"]]]}";
    assert_int_equal(read_text(NULL, text, &c, &err), AT_OK);
    assert_null(c.space);
    assert_int_equal(c.index, -1);
    assert_int_equal(c.recorded_index, 9);
    assert_string_equal(AT_PRINTED(arena, at_config_print_str, &c),
                        "[('o', [0, 2, 1]), ('a', ['magic']), ('s', it's), "
                        "('l', [1.5, None, \"it's\"])],None,9");
    assert_int_equal(at_config_features(&c, NULL), -1);
    assert_int_equal(read_text(NULL, "{\"index\": 0, \"entity\": []}", &c, &err), AT_OK);
    assert_string_equal(AT_PRINTED(arena, at_config_print_str, &c), ",None,0");
    assert_int_equal(at_config_features(&c, NULL), 0);
}

static void indices_outside_are_refused(void **state) {
    (void)state;
    at_space *s = at_space_new(arena);
    at_config c;
    at_error err;
    assert_int_equal(at_space_option(s, "a", "[1, 2, 3]", &err), AT_OK);
    assert_int_equal(at_space_option(s, "b", "[1, 2, 3]", &err), AT_OK);
    assert_int_equal(at_config_at(arena, s, 9, &c, &err), AT_E_USAGE);
    assert_string_equal(err.text, "index 9 is beyond the space: 0 to 8");
    assert_int_equal(at_config_at(arena, s, -1, &c, &err), AT_E_USAGE);
    assert_int_equal(at_space_filter(s, "a < b", &err), AT_OK);
    assert_int_equal(at_config_at(arena, s, 4, &c, &err), AT_E_USAGE);
    assert_string_equal(err.text, "index 4 is not valid under the joint filter a < b");
    assert_int_equal(at_config_at(arena, s, 3, &c, &err), AT_OK);
    assert_int_equal(
        read_text(s, "{\"entity\": [[\"a\", \"ot\", 2], [\"b\", \"ot\", 2]]}", &c, &err), AT_OK);
    assert_int_equal(c.index, -1);
}

static void first_part_is_what_remains(void **state) {
    (void)state;
    const at_entity e = {.kind = AT_KNOB_SPLIT, .n = 3, .sizes = (const int64_t[]){-1, 3, 4}};
    assert_int_equal(at_split_part(&e, 120, 0), 10);
    assert_int_equal(at_split_part(&e, 121, 0), 11);
    assert_int_equal(at_split_part(&e, 120, 1), 3);
    assert_int_equal(at_split_part(&e, 120, 2), 4);
    const at_entity huge = {
        .kind = AT_KNOB_SPLIT, .n = 3, .sizes = (const int64_t[]){-1, INT64_MAX, INT64_MAX}};
    assert_int_equal(at_split_part(&huge, 120, 0), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_refusal_has_its_message),
        cmocka_unit_test(objects_without_an_entity_are_refused),
        cmocka_unit_test(values_the_space_does_not_list_have_no_index),
        cmocka_unit_test(first_size_may_be_a_number),
        cmocka_unit_test(knobs_may_come_in_any_order),
        cmocka_unit_test(the_entity_is_the_truth),
        cmocka_unit_test(without_a_space_only_form_is_checked),
        cmocka_unit_test(indices_outside_are_refused),
        cmocka_unit_test(first_part_is_what_remains),
    };
    return cmocka_run_group_tests(tests, make_space, free_space);
}
