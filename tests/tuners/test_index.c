/* grid and random: every valid index of a range once, in an order that depends on the seed alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "tuners/tuners_int.h"
#include "tests/whole_file.h"

/* A space of `length` points (one knob) under a condition, or none. */
static at_space *space_of(at_arena *a, int length, const char *filter) {
    at_error err;
    at_text list = {0};
    at_space *s = at_space_new(a);
    for (int i = 0; i < length; i++) at_text_addf(&list, "%s%d", i ? ", " : "[", i);
    at_text_add(&list, "]");
    if (at_space_option(s, "x", list.data, &err) != AT_OK ||
        (filter && at_space_filter(s, filter, &err) != AT_OK))
        fail_msg("%s", err.text);
    at_text_free(&list);
    return s;
}

static at_tuner *new_tuner(const char *name, at_space *s, at_tuner_options o) {
    at_tuner *t;
    at_error err;
    if (at_tuner_new(name, s, &o, &t, &err) != AT_OK) fail_msg("%s", err.text);
    assert_string_equal(at_tuner_name(t), name);
    return t;
}

/* All proposals, asked for in batches of 1, 2, .. max, 1, 2, ..; how many. */
static int propose_all(const char *name, at_space *s, at_tuner_options o, int max, int64_t *out) {
    at_tuner *t = new_tuner(name, s, o);
    int n = 0;
    for (int batch = 1;; batch = batch % max + 1) {
        int made = at_tuner_next(t, out + n, batch);
        assert_in_range(made, 0, batch);
        for (int i = 0; i < made; i++)
            at_tuner_update(t, &(at_trial){out[n + i], i % 2, i % 2 ? 3.5 : 0, false}, 1);
        n += made;
        if (!made) break;
    }
    assert_int_equal(at_tuner_next(t, out + n, 4), 0); /* and no more */
    at_tuner_free(t);
    return n;
}

/* Each valid index of the range once. */
static void expect_each_once(at_space *s, int64_t begin, int64_t end, const int64_t *got, int n) {
    int valid = 0;
    for (int64_t i = begin; i < end; i++) {
        int times = 0;
        for (int k = 0; k < n; k++) times += got[k] == i;
        assert_int_equal(times, at_space_is_valid(s, i));
        valid += at_space_is_valid(s, i);
    }
    assert_int_equal(n, valid);
}

/* Spaces that are lists: each tuner proposes what is on the list, in its part of the range, and the
 * questions about the space have the answers that a look at every index has. */
static void listed(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_rng rng;
    at_rng_seed(&rng, 5, 1);
    for (int round = 0; round < 40; round++) {
        at_space *s = space_of(a, 60, NULL);
        int64_t list[60], got[80];
        int n = 1 + (int)at_rng_below(&rng, 59);
        for (int i = 0; i < n; i++) list[i] = (int64_t)at_rng_below(&rng, 60);
        at_space_only(s, list, n);
        bool on[60] = {false};
        int64_t places = 0, distinct = 0;
        for (int i = 0; i < n; i++) on[list[i]] = true;
        for (int64_t i = 0; i < 60; i++) distinct += on[i];
        assert_int_equal(at_space_len(s), distinct);
        assert_int_equal(at_space_num_places(s), distinct);
        for (int64_t i = 0; i < 60; i++) {
            assert_int_equal(at_space_is_valid(s, i), on[i]);
            assert_int_equal(at_space_place(s, i), places);
            if (on[i]) assert_int_equal(at_space_at_place(s, places++), i);
            int64_t after = i + 1, before = i - 1;
            while (after < 60 && !on[after]) after++;
            while (before >= 0 && !on[before]) before--;
            assert_int_equal(at_space_next(s, i, 1, 0, 0), after < 60 ? after : -1);
            assert_int_equal(at_space_next(s, i, -1, 0, 0), before);
        }
        int64_t begin = (int64_t)at_rng_below(&rng, 30), end = 31 + begin;
        if (!at_space_subrange_length(s, begin, end)) continue;
        for (int i = 0; i < at_tuner_count(); i++) {
            at_tuner_options o = {.seed = 3, .begin = begin, .end = end};
            expect_each_once(s, begin, end, got, propose_all(at_tuner_row(i)->name, s, o, 3, got));
        }
    }
    at_arena_free(a);
}

static void exhaustive(void **state) {
    (void)state;
    static const struct {
        int length;
        const char *filter;
    } spaces[] = {{1, NULL},          {2, NULL},     {7, NULL},       {60, NULL},
                  {60, "x % 3 == 1"}, {60, "x < 1"}, {60, "x == 59"}, {60, "20 <= x < 22"}};
    at_arena *a = at_arena_new();
    for (size_t k = 0; k < sizeof spaces / sizeof *spaces; k++) {
        at_space *s = space_of(a, spaces[k].length, spaces[k].filter);
        int length = spaces[k].length;
        const int64_t ranges[][2] = {
            {0, 0}, {0, length}, {0, 1}, {length - 1, length}, {length / 3, length - length / 4}};
        for (int i = 0; i < 5; i++) {
            int64_t begin = ranges[i][0], end = ranges[i][1] ? ranges[i][1] : length;
            int64_t got[80], other[80];
            at_tuner_options o = {.seed = 5, .begin = ranges[i][0], .end = ranges[i][1]};
            int n = propose_all("grid", s, o, 3, got);
            expect_each_once(s, begin, end, got, n);
            for (int j = 1; j < n; j++) assert_true(got[j - 1] < got[j]);

            n = propose_all("random", s, o, 1, got);
            expect_each_once(s, begin, end, got, n);
            for (int max = 2; max < 70; max += 11) {
                assert_int_equal(propose_all("random", s, o, max, other), n);
                assert_memory_equal(got, other, (size_t)n * sizeof *got);
            }
        }
    }
    at_arena_free(a);
}

/* A space without knobs has one point. */
static void no_knobs(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_space *s = at_space_new(a);
    for (int i = 0; i < at_tuner_count(); i++) {
        int64_t got[4];
        assert_int_equal(propose_all(at_tuner_row(i)->name, s, (at_tuner_options){0}, 2, got), 1);
        assert_int_equal(got[0], 0);
    }
    at_arena_free(a);
}

static void none_valid(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_space *s = space_of(a, 20, "x > 3");
    for (int i = 0; i < at_tuner_count(); i++) {
        int64_t got[8];
        at_tuner_options o = {.begin = 0, .end = 4};
        assert_int_equal(propose_all(at_tuner_row(i)->name, s, o, 2, got), 0);
    }
    at_arena_free(a);
}

static void seeds(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_space *s = space_of(a, 60, NULL);
    int64_t first[80], second[80];
    int first_of[60] = {0};
    propose_all("random", s, (at_tuner_options){.seed = 0}, 8, first);
    propose_all("random", s, (at_tuner_options){.seed = 1}, 8, second);
    assert_memory_not_equal(first, second, 60 * sizeof *first);
    /* Over many seeds every index comes first about equally often: 6000 seeds, 100 each expected,
     * standard deviation 10. */
    for (uint64_t seed = 0; seed < 6000; seed++) {
        at_tuner *t = new_tuner("random", s, (at_tuner_options){.seed = seed});
        assert_int_equal(at_tuner_next(t, first, 1), 1);
        first_of[first[0]]++;
        at_tuner_free(t);
    }
    for (int i = 0; i < 60; i++) assert_in_range(first_of[i], 50, 150);
    at_arena_free(a);
}

/* The order is an interface: a log is resumed by running the seeded tuner again. */
static void same_everywhere(void **state) {
    (void)state;
    static const int64_t expected[] = {281, 778, 418, 978, 156, 260, 212, 708};
    at_arena *a = at_arena_new();
    at_space *s = space_of(a, 1000, NULL);
    at_tuner *t = new_tuner("random", s, (at_tuner_options){.seed = 42});
    int64_t got[8];
    assert_int_equal(at_tuner_next(t, got, 8), 8);
    for (int i = 0; i < 8; i++) assert_int_equal(got[i], expected[i]);
    at_tuner_free(t);
    at_arena_free(a);
}

static void large_space(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_error err;
    at_space *s = at_space_new(a);
    for (int i = 0; i < 8; i++) {
        char name[2] = {(char)('a' + i), 0};
        assert_int_equal(
            at_space_split(s, name, 1 << 10, 3, &(at_split_options){.policy = AT_POWER2}, &err),
            AT_OK);
    }
    assert_true(at_space_range_length(s) > INT64_C(1) << 40);
    enum { PICKS = 20000 };
    int64_t *got = calloc(PICKS, sizeof *got);
    at_tuner *t = new_tuner("random", s, (at_tuner_options){.seed = 3});
    assert_int_equal(at_tuner_next(t, got, PICKS), PICKS);
    for (int i = 0; i < PICKS; i++) assert_in_range(got[i], 0, at_space_range_length(s) - 1);
    at_tuner_free(t);
    t = new_tuner("grid", s,
                  (at_tuner_options){.begin = INT64_C(1) << 40, .end = (INT64_C(1) << 40) + 3});
    assert_int_equal(at_tuner_next(t, got, PICKS), 3);
    assert_true(got[2] == (INT64_C(1) << 40) + 2);
    at_tuner_free(t);
    free(got);
    at_arena_free(a);
}

/* ---- the shuffle ----------------------------------------------------------------------------- */

static const at_json *read_golden(at_arena *a, const char *path) {
    const at_json *v = NULL;
    char *text;
    size_t len;
    at_error err;
    if (read_whole(a, path, &text, &len, &err) != AT_OK ||
        at_json_parse(a, text, len, &v, &err) != AT_OK)
        fail_msg("%s", err.text);
    return v;
}

static void scripted_draws(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_json *cases =
        at_json_get(read_golden(a, "tests/golden/random_tuner_v0.10.json"), "cases");
    assert_true(cases->count > 0);
    for (const at_json *c = cases->child; c; c = c->next) {
        at_shuffle s;
        int64_t offset = at_json_get(c, "offset")->integer;
        at_shuffle_init(&s, at_json_get(c, "range_length")->integer);
        const at_json *draw = at_json_get(c, "draws")->child,
                      *index = at_json_get(c, "indices")->child;
        for (; draw; draw = draw->next, index = index->next)
            assert_int_equal(at_shuffle_take(&s, draw->integer) + offset, index->integer);
        at_shuffle_free(&s);
    }
    at_arena_free(a);
}

/* Against a plain array, over all draws of small sizes and random ones of larger. */
static void like_an_array(void **state) {
    (void)state;
    at_rng rng;
    at_rng_seed(&rng, 1, 1);
    for (int round = 0; round < 300; round++) {
        int n = 1 + (int)at_rng_below(&rng, round < 250 ? 12 : 4000);
        int *plain = malloc((size_t)n * sizeof *plain);
        for (int i = 0; i < n; i++) plain[i] = i;
        at_shuffle s;
        at_shuffle_init(&s, n);
        for (int left = n; left; left--) {
            int draw = (int)at_rng_below(&rng, (uint64_t)left);
            assert_int_equal(at_shuffle_take(&s, draw), plain[draw]);
            plain[draw] = plain[left - 1];
        }
        assert_int_equal(s.remaining, 0);
        at_shuffle_free(&s);
        free(plain);
    }
}

/* Memory follows the picks, not the range. */
static void little_memory(void **state) {
    (void)state;
    at_shuffle s;
    at_shuffle_init(&s, INT64_MAX);
    for (int64_t i = 0; i < 1000; i++) at_shuffle_take(&s, s.remaining / (i + 1) * i);
    assert_true(s.cap <= 4096);
    at_shuffle_free(&s);
}

/* ---- registry
 * ------------------------------------------------------------------------------------ */

static void registry(void **state) {
    (void)state;
    assert_true(at_tuner_count() >= 2);
    for (int i = 0; i < at_tuner_count(); i++) {
        const at_tuner_class *row = at_tuner_row(i);
        assert_true(*row->name && *row->help);
        assert_true(row->create && row->next && row->destroy);
    }
    assert_null(at_tuner_row(-1));
    assert_null(at_tuner_row(at_tuner_count()));
    at_tuner_free(NULL);
}

/* What tuners declare is complete, and every default is accepted where it is written out. */
static void declared_options(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    int count = 0;
    for (int t = 0; t < at_tuner_count(); t++) {
        const at_tuner_class *row = at_tuner_row(t), *found;
        for (int i = 0; i < row->num_options; i++, count++) {
            const at_tuner_option *o = &row->options[i];
            at_tuner_options values = {0};
            at_error err;
            const char *value =
                o->words ? o->words[o->autotvm] : at_format(a, "%lld", (long long)o->autotvm);
            assert_int_equal(at_tuner_value(&values, o), o->initial);
            const char *text = at_format(a, "%s:%s=%s", row->name, o->name, value);
            if (at_tuner_parse(text, &values, &found, &err) != AT_OK) fail_msg("%s", err.text);
            assert_ptr_equal(found, row);
            assert_int_equal(at_tuner_value(&values, o), o->autotvm);
            assert_true(*o->help && *o->argument);
            for (int u = 0; u < t; u++)
                for (int k = 0; k < at_tuner_row(u)->num_options; k++)
                    assert_string_not_equal(at_tuner_row(u)->options[k].name, o->name);
        }
    }
    assert_true(count >= 1);
    at_arena_free(a);
}

static void bad_options(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"ga:population=1", "ga:population 1: must be from 2 to 10000"},
        {"ga:population=x", "ga:population x: not an integer from 2 to 10000"},
        {"ga:population=4,population", "ga: \"population\": write OPTION=VALUE, commas between"},
        {"ga:", "ga: \"\": write OPTION=VALUE, commas between"},
        {"ga:size=4", "ga has no option \"size\"; its options: population"},
        {"grid:size=4", "grid has no option \"size\": it takes none"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_tuner_options o = {0};
        const at_tuner_class *row;
        at_error err;
        assert_int_equal(at_tuner_parse(cases[i][0], &o, &row, &err), AT_E_USAGE);
        assert_string_equal(err.text, cases[i][1]);
    }
}

/* "unknown tuner "x"; there are ...", whatever this build has. */
/* A name near to "grid", or none. */
static const char *unknown(at_arena *a, const char *name) {
    const char *text = at_format(a, "unknown tuner \"%s\"; there are ", name);
    for (int i = 0; i < at_tuner_count(); i++)
        text = at_format(a, "%s%s%s", text, i ? ", " : "", at_tuner_row(i)->name);
    return *name ? at_format(a, "%s; did you mean grid?", text) : text;
}

static void refusals(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int64_t begin, end;
        const char *text;
    } cases[] = {
        {"gird", 0, 0, NULL},
        {"", 0, 0, NULL},
        {"grid", 3, 3, "--range 3-2: not within the space, 0 to 9"},
        {"grid", 0, 11, "--range 0-10: not within the space, 0 to 9"},
        {"random", -1, 5, "--range -1-4: not within the space, 0 to 9"},
        {"random", 10, 11, "--range 10-10: not within the space, 0 to 9"},
    };
    at_arena *a = at_arena_new();
    at_space *s = space_of(a, 10, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_tuner *t;
        at_error err;
        at_tuner_options o = {.begin = cases[i].begin, .end = cases[i].end};
        assert_int_equal(at_tuner_new(cases[i].name, s, &o, &t, &err), AT_E_USAGE);
        assert_string_equal(err.text, cases[i].text ? cases[i].text : unknown(a, cases[i].name));
    }
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(declared_options),
        cmocka_unit_test(bad_options),
        cmocka_unit_test(listed),
        cmocka_unit_test(exhaustive),
        cmocka_unit_test(no_knobs),
        cmocka_unit_test(none_valid),
        cmocka_unit_test(seeds),
        cmocka_unit_test(same_everywhere),
        cmocka_unit_test(large_space),
        cmocka_unit_test(scripted_draws),
        cmocka_unit_test(like_an_array),
        cmocka_unit_test(little_memory),
        cmocka_unit_test(registry),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
