/* tests/knobs/test_golden.c: every recorded point of every recorded space, both ways, and the
 * complete entity lists of single knobs. */
#include "golden.h"
#include "tests/spaces.h"

#include <stdlib.h>
#include <string.h>

static at_arena *arena;

static int make_arena(void **state) {
    (void)state;
    arena = at_arena_new();
    return 0;
}

static int free_arena(void **state) {
    (void)state;
    at_arena_free(arena);
    at_text_free(&at_printed);
    return 0;
}

static int64_t integer(const at_json *object, const char *key) {
    return at_json_get(object, key)->integer;
}

static void check_space(at_space *s, const at_json *g) {
    const at_json *dims = at_json_get(g, "dims");
    assert_int_equal(at_space_num_knobs(s), dims->count);
    for (int i = 0; i < dims->count; i++)
        assert_int_equal(at_space_knob_len(s, i), at_json_at(dims, i)->integer);
    assert_int_equal(at_space_range_length(s), integer(g, "range_length"));
    assert_int_equal(at_space_len(s), integer(g, "len"));
    assert_string_equal(AT_PRINTED(arena, print_space, s), at_json_get(g, "printed")->string);
}

static void check_features(const at_config *c, const at_json *sample) {
    float out[256];
    const at_json *feature = at_json_get(sample, "feature");
    int n = at_config_features(c, NULL);
    if (!feature) {
        assert_int_equal(n, -1);
        return;
    }
    assert_int_equal(n, feature->count);
    assert_true(n <= 256);
    assert_int_equal(at_config_features(c, out), n);
    for (int i = 0; i < n; i++) assert_float_equal(out[i], at_json_at(feature, i)->number, 0);
}

static void check_sample(at_space *s, const at_json *sample) {
    int64_t index = integer(sample, "index"), digits[32];
    const at_json *knob = at_json_get(sample, "knob"), *entity = at_json_get(sample, "entity");
    at_space_digits(s, index, digits);
    for (int i = 0; i < knob->count; i++) assert_int_equal(digits[i], at_json_at(knob, i)->integer);
    assert_int_equal(at_space_index(s, digits), index);

    at_config c, back;
    at_error err;
    const char *text = AT_PRINTED(arena, at_json_print, entity);
    assert_int_equal(at_config_at(arena, s, index, &c, &err), AT_OK);
    assert_string_equal(AT_PRINTED(arena, at_config_print_entity, &c), text);
    assert_string_equal(AT_PRINTED(arena, at_config_print_json, &c),
                        at_format(arena, "{\"index\": %lld, \"code_hash\": null, \"entity\": %s}",
                                  (long long)index, text));
    assert_string_equal(AT_PRINTED(arena, at_config_print_str, &c),
                        at_json_get(sample, "str")->string);
    check_features(&c, sample);

    if (at_config_from_json(arena, s, sample, &back, &err) != AT_OK) fail_msg("%s", err.text);
    assert_int_equal(back.index, index);
    assert_int_equal(back.recorded_index, index);
    assert_true(same_entity(&c, &back));
    check_features(&back, sample);

    assert_int_equal(at_config_from_json(arena, NULL, sample, &back, &err), AT_OK);
    assert_true(same_entity(&back, &c));
    assert_string_equal(AT_PRINTED(arena, at_config_print_entity, &back), text);
    check_features(&back, sample);
}

static void check_file(const char *name, int least) {
    int samples = 0;
    for
        AT_EACH(g, at_json_get(at_golden(arena, name), "spaces")) {
            at_space *s = at_golden_space(arena, at_json_get(g, "knobs"));
            check_space(s, g);
        for
            AT_EACH(sample, at_json_get(g, "samples")) {
                check_sample(s, sample);
                samples++;
            }
        }
    assert_true(samples >= least); /* an empty file proves nothing */
}

static void spaces_of_conv2d_gemm(void **state) {
    (void)state;
    check_file("space_conv2d_3x3_gemm.json", 100);
}
static void spaces_of_spconv(void **state) {
    (void)state;
    check_file("space_spconv2d_3x3_gemm.json", 40);
}
static void spaces_of_conv2d_NCHWc(void **state) {
    (void)state;
    check_file("space_conv2d_NCHWc_x86.json", 200);
}
static void spaces_of_dense(void **state) {
    (void)state;
    check_file("space_dense_x86.json", 60);
}
static void spaces_of_mixed_kinds(void **state) {
    (void)state;
    check_file("space_mixed.json", 60);
}

static void check_policy(const at_json *g) {
    at_space *s = at_space_new(arena);
    at_error err = {0};
    const at_json *knob = at_json_get(g, "knob"), *entities = at_json_get(g, "entities");
    at_status st = at_golden_declare(arena, s, knob, &err);
    if (at_json_get(g, "error")) {
        assert_int_equal(st, AT_E_INPUT);
        assert_non_null(strstr(err.text, at_json_get(knob, "name")->string));
        assert_int_equal(at_space_num_knobs(s), 0);
        return;
    }
    if (st != AT_OK) fail_msg("%s", err.text);
    assert_int_equal(at_space_knob_len(s, 0), entities->count);
    assert_string_equal(AT_PRINTED(arena, at_space_print_knob, s, 0),
                        at_json_get(g, "printed")->string);
    int i = 0;
    for
        AT_EACH(entity, entities) {
            at_config c, back;
            const at_json *triple;
            assert_int_equal(at_config_at(arena, s, i, &c, &err), AT_OK);
            const char *text = AT_PRINTED(arena, at_config_print_entity, &c);
            assert_int_equal(at_json_parse(arena, text, strlen(text), &triple, &err), AT_OK);
            assert_string_equal(
                AT_PRINTED(arena, at_json_print, at_json_at(at_json_at(triple, 0), 2)),
                AT_PRINTED(arena, at_json_print, entity));
            const char *config = at_format(arena, "{\"entity\": %s}", text);
            assert_int_equal(at_json_parse(arena, config, strlen(config), &triple, &err), AT_OK);
            if (at_config_from_json(arena, s, triple, &back, &err) != AT_OK)
                fail_msg("%s", err.text);
            assert_int_equal(back.index, i);
            /* What flattening refuses in AutoTVM it refuses here. */
            assert_int_equal(at_config_features(&c, NULL) < 0,
                             at_json_get(g, "feature_error") != NULL);
            i++;
        }
}

static void entity_lists_of_all_policies(void **state) {
    (void)state;
    for
        AT_EACH(g, at_json_get(at_golden(arena, "policies.json"), "cases")) check_policy(g);
}

static void order_of_verbose_factors(void **state) {
    (void)state;
    int checked = 0;
    for
        AT_EACH(order, at_json_get(at_golden(arena, "verbose_order.json"), "order")) {
            at_space *s = at_space_new(arena);
            at_error err;
            /* In two parts with tails, every factor is one entity. */
            at_split_options o = {.policy = AT_VERBOSE};
            int64_t n = strtoll(order->key, NULL, 10);
            assert_int_equal(at_space_split(s, "s", n, 2, &o, &err), AT_OK);
            assert_int_equal(at_space_knob_len(s, 0), order->count);
            for (int i = 0; i < order->count; i++)
                assert_int_equal(at_space_entity(s, 0, i)->sizes[1], at_json_at(order, i)->integer);
            checked++;
        }
    assert_true(checked > 50);
}

static void default_sizes_under_limits(void **state) {
    (void)state;
    for
        AT_EACH(g, at_json_get(at_golden(arena, "fallback_split.json"), "cases")) {
            int64_t limits[8], sizes[8];
            at_error err = {0};
            const at_json *given = at_json_get(g, "constraints"), *size = at_json_get(g, "size");
            int n = (int)integer(g, "num_outputs");
            for (int i = 0; i < n; i++) limits[i] = at_json_at(given, i)->integer;
            at_status s = at_fallback_split(integer(g, "product"), n, limits, sizes, "t", &err);
            assert_int_equal(s, at_json_get(g, "error") ? AT_E_INPUT : AT_OK);
            if (s != AT_OK) {
                assert_string_equal(
                    err.text,
                    "knob t: part 2 is limited to 0; a limit is at least 1, or -1 for none");
                continue;
            }
            for (int i = 0; i < n; i++) assert_int_equal(sizes[i], at_json_at(size, i)->integer);
        }
}

static int64_t or_zero(const at_json *v) { return v->kind == AT_JSON_NULL ? 0 : v->integer; }

static void check_joint(const at_json *g) {
    at_space *s = at_golden_space(arena, at_json_get(g, "knobs"));
    check_space(s, g);
    const at_json *valid = at_json_get(g, "valid_indices")->child;
    for (int64_t i = -2; i < at_space_range_length(s) + 2; i++) {
        bool expected = valid && valid->integer == i;
        assert_int_equal(at_space_is_valid(s, i), expected);
        if (expected) valid = valid->next;
    }
    assert_null(valid);
    for
        AT_EACH(step, at_json_get(g, "get_next_index")) {
            const at_json *result = at_json_get(step, "result");
            assert_int_equal(at_space_next(s, integer(step, "index"), integer(step, "n"),
                                           or_zero(at_json_get(step, "start")),
                                           or_zero(at_json_get(step, "end"))),
                             result->kind == AT_JSON_NULL ? -1 : result->integer);
        }
    for
        AT_EACH(range, at_json_get(g, "subrange_length"))
    assert_int_equal(at_space_subrange_length(s, integer(range, "start"), integer(range, "end")),
                     integer(range, "count"));
}

static void joint_filters(void **state) {
    (void)state;
    for
        AT_EACH(g, at_json_get(at_golden(arena, "multi_filter.json"), "cases")) check_joint(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spaces_of_conv2d_gemm),
        cmocka_unit_test(spaces_of_spconv),
        cmocka_unit_test(spaces_of_conv2d_NCHWc),
        cmocka_unit_test(spaces_of_dense),
        cmocka_unit_test(spaces_of_mixed_kinds),
        cmocka_unit_test(entity_lists_of_all_policies),
        cmocka_unit_test(order_of_verbose_factors),
        cmocka_unit_test(default_sizes_under_limits),
        cmocka_unit_test(joint_filters),
    };
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
