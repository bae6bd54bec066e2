/* What is in a log: groups, failures, spread; one log per task. */
#include "tests/records/support.h"

#include <string.h>
#include <math.h>
#include <unistd.h>

static const char *failed(at_arena *a, int m, int index, int error_no, const char *text) {
    return line_of(a, NULL, m, index, "", error_no,
                   at_format(a,
                             "{\"check\": \"unchecked\", \"error\": \"%s\", \"context\": "
                             "{\"cpu\": \"Zen\"}}",
                             text));
}

static at_log_summary summarise(at_arena *a, const char *path) {
    at_log_summary s;
    at_error err;
    at_text warnings = {0};
    if (at_log_summarise(a, path, NULL, NULL, keep_warning, &warnings, &s, &err) != AT_OK)
        fail_msg("%s", err.text);
    at_text_free(&warnings);
    return s;
}

static void groups(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const char *zen = extra_of(a, "Zen", "exact");
    put_file("conv.log",
             join(a, line_of(a, NULL, 1, 0, "0.5", 0, zen), failed(a, 1, 1, 2, ""),
                  failed(a, 1, 2, 2, "no such thing\\nand more"), failed(a, 1, 3, 2, "later"),
                  failed(a, 1, 4, 12, "odd"), "\n# c\n", line_of(a, NULL, 1, 5, "0.25", 0, zen),
                  line_of(a, NULL, 1, 6, "0.125", 0, extra_of(a, "Zen", "unchecked")),
                  line_of(a, NULL, 1, 7, "0.375", 0, zen), line_of(a, NULL, 2, 7, "0.5", 0, NULL),
                  failed(a, 3, 1, 7, "slow"), "torn", NULL));
    at_log_summary s = summarise(a, "conv.log");
    assert_int_equal(s.stats.records, 10);
    assert_int_equal(s.stats.comments, 1);
    assert_int_equal(s.stats.blank, 1);
    assert_int_equal(s.stats.bad, 1);
    assert_true(s.first_s == 1700000000.5 && s.last_s == 1700000000.5);
    assert_int_equal(s.num_groups, 3);

    const at_log_group *g = &s.groups[0];
    assert_string_equal(g->task, "test_gemm");
    assert_int_equal(at_json_at(g->args, 0)->integer, 1);
    assert_true(g->ours);
    assert_string_equal(g->context.cpu, "Zen");
    assert_int_equal(g->trials, 8);
    assert_int_equal(g->valid, 3);
    assert_true(g->spent_s == 8 * 0.75);
    assert_int_equal(g->failures[0].count, 1); /* valid, but not checked */
    assert_int_equal(g->failures[0].line, 9);
    assert_int_equal(g->failures[2].count, 3);
    assert_int_equal(g->failures[2].line, 3); /* the first that says something */
    assert_string_equal(g->failures[2].text, "no such thing\nand more");
    assert_int_equal(g->failures[AT_NUM_FAILURES - 1].count, 1);
    assert_int_equal(g->steps.len, 2);
    assert_int_equal(g->steps.data[1].trial, 6);
    assert_int_equal(g->steps.data[1].line, 8);
    assert_true(g->steps.data[1].mean_s == 0.25);
    assert_int_equal(g->best->record.config.recorded_index, 5);
    assert_int_equal(g->best->record.line, 8);

    assert_false(s.groups[1].ours);
    assert_string_equal(s.groups[1].target, "llvm -keys=cpu -mcpu=znver4");
    assert_int_equal(s.groups[1].best->considered, 1);
    assert_null(s.groups[2].best);
    assert_int_equal(s.groups[2].failures[7].count, 1);
    assert_string_equal(s.groups[2].failures[7].text, "slow");
    at_arena_free(a);
}

/* The record of the default configuration, which trials are timed against, competes with them. */
static void anchors(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const char *zen = extra_of(a, "Zen", "exact"),
               *anchor =
                   "{\"check\": \"exact\", \"part\": \"anchor\", \"context\": {\"cpu\": \"Zen\"}}";
    put_file("conv.log",
             join(a, line_of(a, NULL, 1, 0, "0.25", 0, anchor),
                  line_of(a, NULL, 1, 1, "0.5", 0, zen), line_of(a, NULL, 1, 2, "0.125", 0, zen),
                  line_of(a, NULL, 2, 0, "0.25", 0, anchor), NULL));
    at_log_summary s = summarise(a, "conv.log");
    assert_int_equal(s.stats.records, 4);
    assert_int_equal(s.num_groups, 2);
    static const int trials[] = {2, 0}, steps[] = {2, 1}, best_lines[] = {3, 4};
    for (int i = 0; i < 2; i++) {
        const at_log_group *g = &s.groups[i];
        assert_int_equal(g->trials, trials[i]);
        assert_int_equal(g->valid, trials[i]);
        assert_int_equal(g->steps.len, steps[i]);
        assert_int_equal(g->steps.data[0].trial, 0);
        assert_int_equal(g->best->considered, trials[i]);
        assert_int_equal(g->best->record.line, best_lines[i]);
    }
    assert_int_equal(s.groups[0].steps.data[1].trial, 2);
    at_arena_free(a);
}

static void nothing(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    put_file("conv.log", "# only this\n");
    at_log_summary s;
    at_error err;
    assert_int_equal(at_log_summarise(a, "conv.log", NULL, NULL, NULL, NULL, &s, &err), AT_E_INPUT);
    assert_string_equal(err.text, "conv.log: holds no record; autotune tune writes them");
    assert_int_equal(at_log_summarise(a, "missing.log", NULL, NULL, NULL, NULL, &s, &err),
                     AT_E_INPUT);
    assert_string_equal(err.text, "cannot read missing.log: No such file or directory");
    at_arena_free(a);
}

static at_spread spread(int num_samples, int num_rounds) {
    static const double costs[] = {9, 7}, samples[] = {5, 1, 4, 2, 3};
    static const at_round rounds[] = {{.time_s = 4}, {.time_s = 1}, {.time_s = 8}, {.time_s = 2}};
    static const at_round first[] = {{.time_s = 1}};
    at_turns final = {.rounds = num_rounds == 1 ? first : rounds, .num_rounds = num_rounds};
    at_record r = {.costs_s = costs,
                   .num_costs = 2,
                   .extra = {.samples_s = samples, .num_samples = num_samples},
                   .finals = &final,
                   .num_finals = num_rounds > 0};
    return at_record_spread(&r);
}

static void spreads(void **state) {
    (void)state;
    at_spread s = spread(0, 0); /* costs */
    assert_true(s.median_s == 8 && s.low_s == 7 && s.high_s == 9 && s.samples == 2);
    s = spread(5, 0); /* samples: quartiles */
    assert_true(s.median_s == 3 && s.low_s == 2 && s.high_s == 4 && s.samples == 5);
    s = spread(3, 0); /* few */
    assert_true(s.median_s == 4 && s.low_s == 1 && s.high_s == 5 && s.samples == 3);
    s = spread(5, 4); /* finals, between samples */
    assert_true(s.median_s == 3 && s.low_s == 1.75 && s.high_s == 5 && s.samples == 4);
    s = spread(5, 1);
    assert_true(s.median_s == 1 && s.low_s == 1 && s.high_s == 1 && s.samples == 1);
}

/* Ratios to the first anchor: of the pairs of a trial in one state, times the links; of a final
 * with the error of the link between both. */
static void ratios(void **state) {
    (void)state;
    static const double of[] = {0.9, 1.1, 1.0, 5.0};
    at_paired p = {.of_first = 0.5,
                   .ratio = 1,
                   .first = "abc",
                   .ratios = of,
                   .num_ratios = 4,
                   .states = "aaac"};
    at_record r = {.extra = {.present = true, .pairs = p}};
    at_ratios alone, other;
    assert_true(at_record_ratios(&r, &alone));
    assert_true(alone.objective == AT_OBJECTIVE_ALONE && alone.samples == 3 && !alone.is_interval);
    assert_true(alone.ratio == 0.5 && alone.low == 0.45 && alone.high == 1.1 * 0.5);
    r.extra.pairs.states = "mmmc";
    assert_true(at_record_ratios(&r, &other));
    assert_true(other.objective == AT_OBJECTIVE_COMPANY && other.ratio == 2.5);
    assert_false(at_ratios_comparable(&alone, &other));
    r.extra.pairs.states = "aaaa";
    r.extra.pairs.first = "abd";
    assert_true(at_record_ratios(&r, &other));
    assert_false(at_ratios_comparable(&alone, &other));

    double samples[60];
    char states[61] = "";
    for (int i = 0; i < 60; i++) samples[i] = 1 + i % 3 * 0.01, states[i] = 'a';
    const at_round round = {.samples_s = samples, .num_samples = 60, .states = states, .time_s = 1};
    at_turns t = {.rounds = &round,
                  .num_rounds = 1,
                  .among = 4,
                  .objective = AT_OBJECTIVE_ALONE,
                  .first = "abc",
                  .first_s = 2};
    t.time_s = at_turns_time(&t);
    r.finals = &t;
    r.num_finals = 1;
    assert_true(at_record_ratios(&r, &other)); /* its link has no error: no interval */
    assert_true(!other.is_interval && other.samples == 60 && at_ratios_comparable(&alone, &other));
    assert_float_equal(other.ratio, 1.01 / 2, 1e-12);
    double low = other.low, high = other.high;
    assert_true(low >= 0.5 && high <= 1.02 / 2 && low <= other.ratio && high >= other.ratio);
    t.first_error = log(1.1);
    assert_true(at_record_ratios(&r, &other) && other.is_interval);
    assert_float_equal(other.low, low / 1.1, 1e-12);
    assert_float_equal(other.high, high * 1.1, 1e-12);
    /* Fewer than an interval takes: the trial's. */
    t.rounds = &(at_round){.samples_s = samples, .num_samples = 5, .states = "aaaaa", .time_s = 1};
    assert_true(at_record_ratios(&r, &other) && !strcmp(other.first, "abd") && !other.is_interval);
    /* A trial with as many has an interval, and what is not known of its anchor's links widens it.
     */
    at_paired *q = &r.extra.pairs;
    *q = (at_paired){.of_first = 0.5 * 1.01,
                     .ratio = 1.01,
                     .first = "abc",
                     .ratios = samples,
                     .num_ratios = 60,
                     .states = states};
    assert_true(at_record_ratios(&r, &other) && other.is_interval);
    assert_float_equal(other.ratio, 1.01 / 2, 1e-12);
    assert_float_equal(other.low, low, 1e-12);
    assert_float_equal(other.high, high, 1e-12);
    q->of_first_error = log(1.2);
    assert_true(at_record_ratios(&r, &other) && other.is_interval);
    assert_float_equal(other.low, low / 1.2, 1e-12);
    assert_float_equal(other.high, high * 1.2, 1e-12);
}

static void split(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_error err;
    const char *zen = extra_of(a, "Zen", "exact");
    const char *x = line_of(a, NULL, 1, 0, "0.5", 0, zen),
               *y = line_of(a, NULL, 2, 0, "0.5", 0, zen);
    const char *z = line_of(a, "c -keys=cpu", 1, 0, "0.5", 0, NULL);
    const char *final = "#final {\"task\": \"test_gemm\", \"args\": [2, 48, \"float32\"], "
                        "\"context_hash\": \"0\", \"entity\": [], \"samples_s\": [0.5]}\n";
    /* Before the records that they are about; z is of x's task, with another target. */
    const char *anchor = "#anchor {\"task\": \"test_gemm\", \"args\": [2, 48, \"float32\"], "
                         "\"context_hash\": \"0\", \"number\": 0}\n";
    const char *objective = "#objective {\"task\": \"test_gemm\", \"args\": [1, 48, \"float32\"], "
                            "\"context_hash\": \"0\", \"objective\": \"alone\"}\n";
    put_file("conv.log", join(a, "# head\n", objective, anchor, x, y, x, z, final,
                              "#final {}\n#final [\n#anchor {}\n", y, NULL));
    at_log_part *parts;
    int n;
    assert_int_equal(at_log_split(a, "conv.log", false, NULL, NULL, &parts, &n, &err), AT_OK);
    assert_int_equal(n, 3);
    assert_string_equal(parts[0].path, "conv.log.000.wkl");
    assert_string_equal(parts[0].workload,
                        "llvm -keys=cpu -mcpu=znver4test_gemm(1, 48, 'float32'){}");
    assert_int_equal(parts[0].records, 2);
    at_record parsed;
    const char *lines[] = {x, y, z};
    for (int i = 0; i < 3; i++) { /* re-encoded */
        at_text t = {0};
        assert_int_equal(at_record_parse(a, lines[i], strlen(lines[i]), &parsed, NULL), AT_OK);
        at_record_print(&t, &parsed);
        lines[i] = at_text_take(a, &t);
    }
    assert_string_equal(get_file(a, "conv.log.000.wkl"),
                        join(a, objective, lines[0], lines[0], NULL));
    assert_string_equal(get_file(a, "conv.log.001.wkl"),
                        join(a, anchor, lines[1], final, lines[1], NULL));
    assert_string_equal(get_file(a, "conv.log.002.wkl"), join(a, objective, lines[2], NULL));
    assert_null(get_file(a, "conv.log.003.wkl"));
    assert_null(get_file(a, "conv.log.000.wkl.part"));
    at_arena_free(a);
}

/* More than is held in memory, of more tasks than there are descriptors. */
static void split_large(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_error err;
    FILE *f = fopen("conv.log", "w");
    for (int i = 0; i < 20000; i++) fputs(line_of(a, NULL, i % 2, i, "0.5", 0, NULL), f);
    for (int i = 2; i < 1500; i++) fputs(line_of(a, NULL, i, i, "0.5", 0, NULL), f);
    assert_int_equal(fclose(f), 0);
    at_log_part *parts;
    int n;
    if (at_log_split(a, "conv.log", false, NULL, NULL, &parts, &n, &err) != AT_OK)
        fail_msg("%s", err.text);
    assert_int_equal(n, 1500);
    at_record *records;
    int count;
    assert_int_equal(at_log_read_all(a, parts[1].path, NULL, NULL, &records, &count, &err), AT_OK);
    assert_int_equal(count, 10000);
    for (int i = 0; i < count; i++) assert_int_equal(records[i].config.recorded_index, 2 * i + 1);
    at_arena_free(a);
}

static void split_failures(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_error err;
    at_log_part *parts;
    int n;
    assert_int_equal(at_log_split(a, "missing.log", false, NULL, NULL, &parts, &n, &err),
                     AT_E_INPUT);
    put_file("conv.log", line_of(a, NULL, 1, 0, "0.5", 0, NULL));
    assert_int_equal(symlink("victim", "conv.log.000.wkl"), 0);
    assert_int_equal(at_log_split(a, "conv.log", true, NULL, NULL, &parts, &n, &err), AT_E_OUTPUT);
    assert_string_equal(err.text,
                        "cannot write conv.log.000.wkl: a symbolic link lies there, which "
                        "is not followed");
    assert_int_equal(n, 0);
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(groups, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(anchors, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(nothing, scratch_setup, scratch_teardown),
        cmocka_unit_test(spreads),
        cmocka_unit_test(ratios),
        cmocka_unit_test_setup_teardown(split, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(split_large, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(split_failures, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
