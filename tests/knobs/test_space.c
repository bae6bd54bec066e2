/* tests/knobs/test_space.c: declaring knobs that cannot be, sizes, joint filters, walking. */
#include "golden.h"

#include <string.h>

static at_arena *arena;
static at_error err;

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

static void split_refused(int64_t length, int parts, at_split_options o, const char *message) {
    at_space *s = at_space_new(arena);
    assert_int_equal(at_space_split(s, "t", length, parts, &o, &err), AT_E_INPUT);
    assert_string_equal(err.text, message);
    assert_int_equal(at_space_num_knobs(s), 0);
    assert_int_equal(at_space_range_length(s), 1);
}

static void splits_that_cannot_be(void **state) {
    (void)state;
    split_refused(0, 2, (at_split_options){0}, "knob t: axis of length 0; at least 1 is needed");
    split_refused(8, 1, (at_split_options){0}, "knob t: 1 parts; policy factors takes 2 to 8");
    split_refused(8, 9, (at_split_options){.policy = AT_POWER2},
                  "knob t: 9 parts; policy power2 takes 2 to 8");
    split_refused(8, 2, (at_split_options){.max_factor = -1},
                  "knob t: max_factor -1; at least 1 is needed, or 0 for 2^31");
    split_refused(8, 2, (at_split_options){.filter = "last > 8"},
                  "knob t: no split of 8 into 2 parts passes the filter \"last > 8\"");
    split_refused(8, 2, (at_split_options){.policy = AT_CANDIDATE}, "knob t: no candidates given");
    split_refused(8, 2,
                  (at_split_options){.policy = AT_CANDIDATE,
                                     .candidate = (const int64_t[][8]){{-1, 0}},
                                     .num_candidates = 1},
                  "knob t: candidate 0 has size 0; sizes are at least 1, or -1 for the first");
    split_refused(
        8, 2, (at_split_options){.filter = "lst > 8"},
        "filter of knob t:1:1: a filter reads first, last and size[i], and whole numbers\n"
        "lst > 8\n^");
    split_refused(8, 2, (at_split_options){.filter = "size[2] > 8"},
                  "filter of knob t:1:6: the entity has 2 parts: 0 to 1, or -1 to -2\n"
                  "size[2] > 8\n     ^");
    split_refused(8, 2, (at_split_options){.filter = "last % (last - last) == 0"},
                  "knob t: filter: last%(last - last) divides by zero");
    split_refused(INT64_C(1) << 62, 8, (at_split_options){0},
                  "knob t: more than 4194304 entities; a filter or fewer parts would help");
}

static void expect_split(int64_t length, int parts, const char *listed, const char *wanted) {
    at_space *s = at_space_new(arena);
    at_split_options o = {.policy = AT_LISTED, .listed = listed};
    at_text text = {0};
    if (at_space_split(s, "t", length, parts, &o, &err) != AT_OK) fail_msg("%s", err.text);
    for (int64_t i = 0; i < at_space_knob_len(s, 0); i++) {
        const at_entity *e = at_space_entity(s, 0, i);
        at_text_add(&text, i ? " " : "");
        for (int k = 1; k < parts; k++)
            at_text_addf(&text, "%s%lld", k > 1 ? "," : "", (long long)e->sizes[k]);
        assert_int_equal(e->sizes[0], -1);
    }
    assert_string_equal(at_text_str(&text), wanted);
    at_text_free(&text);
}

static void listed_sizes(void **state) {
    (void)state;
    expect_split(1024, 2, "8 12 14", "8 12 14");
    assert_int_equal(
        at_split_part(
            &(at_entity){.kind = AT_KNOB_SPLIT, .n = 2, .sizes = (const int64_t[]){-1, 14}}, 1024,
            0),
        74);
    /* what lies beyond what is left is that, once */
    expect_split(13, 2, "8 12 14 16", "8 12 13");
    expect_split(1, 3, "pow2|4 6", "1,1");
    /* 29 pieces of 6, 13 of 14: powers of two up to that */
    expect_split(174, 3, "pow2 | 6 14", "1,6 2,6 4,6 8,6 16,6 1,14 2,14 4,14 8,14");
    expect_split(30, 3, " 2 5 | 7 ", "2,7 5,7");
    static const struct {
        const char *listed, *message;
    } slips[] = {
        {NULL, "knob t: no lists given"},
        {"", "knob t: listed: \"\" has an empty list; "},
        {"4 |", "knob t: listed: \"4 |\" has an empty list; "},
        {"4 | 8 | 2", "knob t: 3 lists for the 2 parts behind the first"},
        {"4", "knob t: 1 lists for the 2 parts behind the first"},
        {"4 | 8 8", "knob t: listed: \"8\" does not ascend; "},
        {"4 | 0", "knob t: listed: \"0\" is no size here; "},
        {"4 | 8x", "knob t: listed: \"8x\" is no size here; "},
        {"4 | pow3", "knob t: listed: \"pow3\" is no size here; "},
        {"4 | 2 pow2", "knob t: listed: \"pow2\" is no size here; "},
        {"4 | 99999999999999999999", "knob t: listed: \"99999999999999999999\" is no size here; "},
    };
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        at_space *s = at_space_new(arena);
        at_split_options o = {.policy = AT_LISTED, .listed = slips[i].listed};
        assert_int_equal(at_space_split(s, "t", 64, 3, &o, &err), AT_E_INPUT);
        if (strncmp(err.text, slips[i].message, strlen(slips[i].message)))
            fail_msg("%s, not %s", err.text, slips[i].message);
    }
}

static void long_axes(void **state) {
    (void)state;
    at_space *s = at_space_new(arena);
    assert_int_equal(at_space_split(s, "a", INT64_C(1) << 62, 2, NULL, &err), AT_OK);
    assert_int_equal(at_space_knob_len(s, 0), 32); /* factors beyond 2^31 are dropped */
    at_split_options all = {.max_factor = INT64_MAX};
    assert_int_equal(at_space_split(s, "a", INT64_C(1) << 62, 2, &all, &err), AT_OK);
    assert_int_equal(at_space_knob_len(s, 0), 63);
    /* 1048573^2 */
    assert_int_equal(at_space_split(s, "a", INT64_C(1099505336329), 2, &all, &err), AT_OK);
    assert_int_equal(at_space_knob_len(s, 0), 3);
    at_split_options verbose = {.policy = AT_VERBOSE};
    assert_int_equal(at_space_split(s, "a", INT64_C(1) << 40, 4, &verbose, &err), AT_OK);
    assert_int_equal(at_space_num_knobs(s), 1);
}

/* The parts of a split in two are all divisors, small to large: as those found by division, and of
 * products of large primes, which division would take minutes for. */
static void factors_are_the_divisors(void **state) {
    (void)state;
    static const struct {
        int64_t length, divisors[6];
    } large[] = {
        {9007199254740881, {1, 9007199254740881}},
        {2147483647 * INT64_C(2147483629), {1, 2147483629, 2147483647, 4611685975477714963}},
        {3037000493 * INT64_C(3037000493), {1, 3037000493, 9223371994482243049}},
        {2097143 * INT64_C(2097143) * 2097143, {1, 2097143, 4398008762449, 9223253290108583207}},
        {INT64_MAX, {1, 7, 49, 73, 127, 337}},
    };
    at_split_options all = {.max_factor = INT64_MAX};
    for (int64_t n = 1; n <= 5000; n++) {
        at_space *s = at_space_new(arena);
        int64_t d = 0, i = 0;
        assert_int_equal(at_space_split(s, "a", n, 2, &all, &err), AT_OK);
        for (; i < at_space_knob_len(s, 0); i++) {
            for (d++; n % d; d++)
                ;
            assert_int_equal(at_space_entity(s, 0, i)->sizes[1], d);
        }
        assert_int_equal(d, n);
    }
    for (size_t c = 0; c < sizeof large / sizeof *large; c++) {
        at_space *s = at_space_new(arena);
        assert_int_equal(at_space_split(s, "a", large[c].length, 2, &all, &err), AT_OK);
        for (int64_t i = 0; i < 6 && large[c].divisors[i]; i++)
            assert_int_equal(at_space_entity(s, 0, i)->sizes[1], large[c].divisors[i]);
    }
}

static void spaces_beyond_63_bits_are_refused(void **state) {
    (void)state;
    at_space *s = at_space_new(arena);
    for (int i = 0; i < 3; i++)
        assert_int_equal(
            at_space_split(s, at_format(arena, "t%d", i), INT64_C(1) << 30, 6, NULL, &err),
            AT_OK); /* C(35, 5) = 324632 each */
    assert_int_equal(at_space_range_length(s), INT64_C(324632) * 324632 * 324632);
    assert_int_equal(at_space_split(s, "t3", INT64_C(1) << 30, 6, NULL, &err), AT_E_INPUT);
    assert_string_equal(err.text,
                        "the space exceeds 2^63 - 1 points: t0 (324632) x t1 (324632) x t2 "
                        "(324632) x t3 (324632); fewer knobs, a filter or a computation in parts "
                        "would help");
    assert_int_equal(at_space_num_knobs(s), 3);
}

static int64_t digit_of(const at_space *s, int knob, const int64_t *sizes, int n) {
    for (int64_t d = 0; d < at_space_knob_len(s, knob); d++)
        if (!memcmp(at_space_entity(s, knob, d)->sizes + 1, sizes + 1,
                    (size_t)(n - 1) * sizeof *sizes))
            return d;
    return -1;
}

/* What is kept stays where later knobs make the list thinner, and filters see the new list. */
static void entities_are_kept(void **state) {
    (void)state;
    const int64_t kept[] = {-1, 1, 1, 1, 1, 4}, also[] = {-1, 1, 2, 1, 1, 8};
    at_space *s = at_space_new(arena);
    at_space_thin(s, INT64_C(1) << 34);
    assert_int_equal(at_space_split(s, "t0", INT64_C(1) << 30, 6, NULL, &err), AT_OK);
    int64_t all = at_space_knob_len(s, 0);
    at_space_keep(s, 0, kept); /* not thinned yet */
    for (int i = 1; i < 4; i++)
        assert_int_equal(
            at_space_split(s, at_format(arena, "t%d", i), INT64_C(1) << 30, 6, NULL, &err), AT_OK);
    assert_true(at_space_knob_len(s, 0) < all);
    assert_true(digit_of(s, 0, kept, 6) >= 0);
    assert_int_equal(digit_of(s, 1, also, 6), -1);
    assert_int_equal(at_space_filter(s, "t1.size[2] == 2 && t1.size[5] == 8", &err), AT_OK);
    at_space_keep(s, 1, also);
    int64_t index = digit_of(s, 1, also, 6) * at_space_knob_len(s, 0);
    assert_true(index > 0);
    assert_true(at_space_is_valid(s, index));
}

/* Lists of such a space are thinned: what is left is in the list, in its order, spread over it. */
static void spaces_are_thinned(void **state) {
    (void)state;
    const int64_t points = INT64_C(1) << 40;
    at_space *whole = at_space_new(arena), *s = at_space_new(arena);
    at_space_thin(s, points);
    assert_int_equal(at_space_split(whole, "t", INT64_C(1) << 30, 6, NULL, &err), AT_OK);
    assert_int_equal(at_space_option(s, "unroll", "[false, true]", &err), AT_OK);
    assert_int_equal(at_space_split(s, "short", 64, 2, NULL, &err), AT_OK);
    for (int i = 0; i < 4; i++)
        assert_int_equal(
            at_space_split(s, at_format(arena, "t%d", i), INT64_C(1) << 30, 6, NULL, &err), AT_OK);
    assert_int_equal(at_space_knob_len(s, 0), 2);
    assert_int_equal(at_space_knob_len(s, 1), 7);
    assert_true(at_space_range_length(s) <= points);
    for (int i = 2; i < 6; i++) {
        int64_t n = at_space_knob_len(s, i), at = -1, all = at_space_knob_len(whole, 0);
        assert_int_equal(n, at_space_knob_len(s, 2));
        for (int64_t d = 0; d < n; d++) {
            const at_entity *e = at_space_entity(s, i, d);
            while (memcmp(at_space_entity(whole, 0, ++at)->sizes, e->sizes, 6 * sizeof *e->sizes))
                assert_true(at + 1 < all);
            assert_in_range(at, d * all / n, (d + 1) * all / n - 1);
        }
    }
    /* One entity more of each would be too many. */
    int64_t more = at_space_knob_len(s, 2) + 1;
    assert_true((double)more * (double)more * (double)more * (double)more * 14 > (double)points);
    /* What is left out counts as what a list does not name. */
    at_config c;
    const at_json *json;
    const char *text =
        "{\"entity\": [[\"unroll\", \"ot\", true], [\"short\", \"sp\", [-1, 8]], "
        "[\"t0\", \"sp\", [-1, 1, 1, 1, 1, 1]], [\"t1\", \"sp\", [-1, 1, 1, 1, 1, 2]], "
        "[\"t2\", \"sp\", [-1, 1, 1, 1, 1, 4]], [\"t3\", \"sp\", [-1, 1, 1, 1, 2, 1]]]}";
    assert_int_equal(at_json_parse(arena, text, strlen(text), &json, &err), AT_OK);
    assert_int_equal(at_config_from_json(arena, s, json, &c, &err), AT_OK);
    assert_int_equal(c.index, -1);
    /* But one is kept if asked for; neither order nor length change. */
    const int64_t kept[] = {-1, 1, 1, 1, 1, 4}, none[] = {-1, 1, 1, 1, 1, 3};
    int64_t n = at_space_knob_len(s, 4);
    at_space_keep(s, 4, none);
    at_space_keep(s, 4, kept);
    assert_true(digit_of(s, 4, kept, 6) >= 0);
    assert_int_equal(at_space_knob_len(s, 4), n);
    at_text out = {0};
    at_space_print_knob(&out, s, 2);
    assert_non_null(strstr(at_text_str(&out), " of 324632"));
    at_text_free(&out);
    /* Options stay as they are, and may be too many by themselves. */
    at_space *few = at_space_new(arena);
    at_space_thin(few, 3);
    assert_int_equal(at_space_option(few, "a", "[1, 2]", &err), AT_OK);
    assert_int_equal(at_space_option(few, "b", "[1, 2]", &err), AT_OK);
    assert_int_equal(at_space_range_length(few), 4);
}

static void other_knobs_that_cannot_be(void **state) {
    (void)state;
    at_space *s = at_space_new(arena);
#define REFUSED(call, message)                                                                     \
    assert_int_equal(call, AT_E_INPUT);                                                            \
    assert_string_equal(err.text, message)
    at_reorder_options o = {.policy = "any"};
    REFUSED(
        at_space_reorder(s, "r", 3, &o, &err),
        "knob r: unknown reorder policy \"any\"; there are identity, all, interval_all, candidate, "
        "interleave, interleave_cuda");
    o = (at_reorder_options){.policy = "all"};
    REFUSED(at_space_reorder(s, "r", 0, &o, &err),
            "knob r: 0 axes to reorder; at least 1 is needed");
    REFUSED(at_space_reorder(s, "r", 12, &o, &err),
            "knob r: more than 4194304 entities; a filter or fewer parts would help");
    o = (at_reorder_options){.policy = "interval_all", .begin = 1, .end = 4};
    REFUSED(at_space_reorder(s, "r", 3, &o, &err),
            "knob r: interval 1 to 4; it must lie in 0 to 3");
    o = (at_reorder_options){.policy = "candidate",
                             .candidate = (const int[][AT_REORDER_AXES]){{0, 1, 1}},
                             .num_candidates = 1};
    REFUSED(at_space_reorder(s, "r", 3, &o, &err),
            "knob r: position 1 occurs twice; an order names each of 0 to 2 once");
    o = (at_reorder_options){.policy = "candidate",
                             .candidate = (const int[][AT_REORDER_AXES]){{0, 1, 3}},
                             .num_candidates = 1};
    REFUSED(at_space_reorder(s, "r", 3, &o, &err),
            "knob r: position 3 is no axis; an order names each of 0 to 2 once");
    o = (at_reorder_options){
        .policy = "interleave", .spatial = (const int[][8]){{0, 1, -1}}, .num_spatial = 1};
    REFUSED(at_space_reorder(s, "r", 3, &o, &err),
            "knob r: the chains hold 2 positions; 3 axes are to be ordered");
    REFUSED(at_space_annotate(s, "a", 2, "try__vec", 0, &err),
            "knob a: unknown annotate policy \"try__vec\"; it is words of try, none, unroll, vec "
            "joined "
            "by '_', or locate_cache, bind_gpu, bind_gpu_virtual");
    REFUSED(at_space_annotate(s, "a", 2, "vec", 0, &err),
            "knob a: policy \"vec\" leaves nothing for 2 axes, as only one may be vec");
    REFUSED(at_space_annotate(s, "a", 2, "locate_cache", 3, &err),
            "knob a: 3 anchors; 1 to 2 are possible");
    REFUSED(at_space_annotate(s, "a", 1, "bind_gpu", 0, &err),
            "knob a: 1 axes; policy bind_gpu needs at least 2");
    REFUSED(at_space_option(s, "o", "[]", &err),
            "knob o: []; a list of values such as [1, 2] is needed");
    REFUSED(at_space_option(s, "o", "[1,", &err),
            "knob o: JSON, column 3: syntax error or unexpected end, at ','");
    assert_int_equal(at_space_num_knobs(s), 0);
}

static at_space *three_knobs(void) {
    at_space *s = at_space_new(arena);
    at_reorder_options all = {.policy = "all"};
    assert_int_equal(at_space_split(s, "tile_y", 64, 2, NULL, &err), AT_OK);
    assert_int_equal(at_space_reorder(s, "order", 3, &all, &err), AT_OK);
    assert_int_equal(at_space_option(s, "unroll", "[true, false]", &err), AT_OK);
    return s;
}

static void joint_filters_that_cannot_be(void **state) {
    (void)state;
    at_space *s = three_knobs();
    REFUSED(at_space_filter(s, "tile_z.size[1] < 3", &err),
            "joint filter:1:1: unknown knob \"tile_z\"; this space has tile_y, order, unroll\n"
            "tile_z.size[1] < 3\n^");
    REFUSED(at_space_filter(s, "tile_y < 3", &err),
            "joint filter:1:1: a split is read as NAME.size[i]\ntile_y < 3\n^");
    REFUSED(at_space_filter(s, "order.size[0] < 3", &err),
            "joint filter:1:1: a reorder is read as NAME.perm[i]\norder.size[0] < 3\n^");
    REFUSED(at_space_filter(s, "unroll.size[0] < 3", &err),
            "joint filter:1:1: an option is written as its name alone\nunroll.size[0] < 3\n^");
    REFUSED(at_space_filter(s, "tile_y.size[2] < 3", &err),
            "joint filter:1:13: the entity has 2 parts: 0 to 1, or -1 to -2\n"
            "tile_y.size[2] < 3\n            ^");
    REFUSED(at_space_filter(s, "tile_y.size[1] < 3 &&", &err),
            "joint filter:1:22: expected a value, got the end\n"
            "tile_y.size[1] < 3 &&\n                     ^");
    REFUSED(at_space_filter(s, "tile_y.size[1] % 0 == 1", &err),
            "joint filter at index 0: tile_y.size[1]%0 divides by zero");
    assert_int_equal(at_space_len(s), at_space_range_length(s));
    /* A knob declared again must still suit the condition; if not, all stays as it was. */
    assert_int_equal(
        at_space_filter(s, "tile_y.size[-1] <= 8 && unroll && order.perm[0] == 2", &err), AT_OK);
    assert_int_equal(at_space_len(s), 4 * 2);
    REFUSED(at_space_option(s, "tile_y", "[1, 2]", &err),
            "joint filter:1:1: an option is written as its name alone\n"
            "tile_y.size[-1] <= 8 && unroll && order.perm[0] == 2\n^");
    assert_int_equal(at_space_knob_kind(s, 0), AT_KNOB_SPLIT);
    assert_int_equal(at_space_len(s), 4 * 2);
    assert_int_equal(at_space_option(s, "extra", "[1, 2, 3]", &err), AT_OK);
    assert_int_equal(at_space_len(s), 4 * 2 * 3);
}

/* The count steps through the knobs read alone; here against every index. */
static void counting_agrees_with_testing_each(void **state) {
    (void)state;
    static const char *const conditions[] = {"tile_y.size[1] <= 8",
                                             "unroll",
                                             "order.perm[0] < order.perm[1] || !unroll",
                                             "1 == 2",
                                             "1",
                                             "tile_y.size[1] / (8 - tile_y.size[1]) >= 0"};
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        at_space *s = three_knobs();
        int64_t count = 0;
        assert_int_equal(at_space_filter(s, conditions[i], &err), AT_OK);
        for (int64_t j = 0; j < at_space_range_length(s); j++) count += at_space_is_valid(s, j);
        assert_int_equal(at_space_len(s), count);
        assert_int_equal(at_space_subrange_length(s, 0, at_space_range_length(s)), count);
        assert_int_equal(at_space_subrange_length(s, 1, 60) + at_space_is_valid(s, 0) +
                             at_space_subrange_length(s, 60, 1000),
                         count);
    }
}

static void asking(void **state) {
    (void)state;
    at_space *s = three_knobs();
    assert_int_equal(at_space_find_knob(s, "order"), 1);
    assert_int_equal(at_space_find_knob(s, "ordner"), -1);
    assert_string_equal(at_space_knob_name(s, 0), "tile_y");
    assert_string_equal(at_space_knob_policy(s, 0), "factors");
    assert_string_equal(at_space_knob_policy(s, 2), "");
    assert_int_equal(at_space_knob_length(s, 0), 64);
    assert_int_equal(at_space_knob_length(s, 1), 0);
    assert_int_equal(at_space_entity(s, 1, 5)->sizes[0], 2);
    assert_int_equal(at_space_next(s, 83, 1, 0, 0), -1);
    assert_int_equal(at_space_next(s, 0, INT64_MIN, 0, 0), -1);
    assert_int_equal(at_space_next(s, 83, INT64_MAX, 0, 0), -1);
    assert_int_equal(at_space_len(at_space_new(arena)), 1); /* no knobs: one point */
    at_config c;
    assert_int_equal(at_config_at(arena, at_space_new(arena), 0, &c, &err), AT_OK);
    assert_int_equal(c.num_knobs, 0);
}

static void digits_and_index_agree(void **state) {
    (void)state;
    at_space *s = three_knobs();
    for (int64_t i = 0; i < at_space_range_length(s); i++) {
        int64_t digits[3];
        at_space_digits(s, i, digits);
        assert_int_equal(at_space_index(s, digits), i);
        assert_int_equal(digits[0] + 7 * (digits[1] + 6 * digits[2]), i);
    }
}

static void random_walks(void **state) {
    (void)state;
    at_space *s = three_knobs();
    at_rng rng, same;
    at_rng_seed(&rng, 1, 2);
    same = rng;
    bool seen[84] = {false};
    int64_t at = 0, num_seen = 0;
    assert_int_equal(at_space_filter(s, "tile_y.size[1] != 4", &err), AT_OK);
    for (int i = 0; i < 3000; i++) {
        int64_t next = at_space_random_walk(s, at, &rng);
        assert_true(next != at && at_space_is_valid(s, next));
        assert_int_equal(at_space_random_walk(s, at, &same), next);
        at = next;
        num_seen += !seen[at];
        seen[at] = true;
    }
    assert_int_equal(num_seen, at_space_len(s));
    /* Where there is nowhere to go it stays. */
    assert_int_equal(at_space_filter(s,
                                     "tile_y.size[1] == 4 && unroll && order.perm[0] == 2 && "
                                     "order.perm[1] == 1",
                                     &err),
                     AT_OK);
    at = at_space_next(s, -1, 1, 0, 0);
    assert_int_equal(at_space_len(s), 1);
    assert_int_equal(at_space_random_walk(s, at, &rng), at);
    assert_int_equal(at_space_random_walk(at_space_new(arena), 0, &rng), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_that_cannot_be),
        cmocka_unit_test(listed_sizes),
        cmocka_unit_test(long_axes),
        cmocka_unit_test(factors_are_the_divisors),
        cmocka_unit_test(spaces_beyond_63_bits_are_refused),
        cmocka_unit_test(entities_are_kept),
        cmocka_unit_test(spaces_are_thinned),
        cmocka_unit_test(other_knobs_that_cannot_be),
        cmocka_unit_test(joint_filters_that_cannot_be),
        cmocka_unit_test(counting_agrees_with_testing_each),
        cmocka_unit_test(asking),
        cmocka_unit_test(digits_and_index_agree),
        cmocka_unit_test(random_walks),
    };
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
