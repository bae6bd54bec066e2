/* A log whose order of two configurations turns round by the state of the machine: every command
 * takes the one that --objective names, by trials as by finals, and says where nothing was timed in
 * that state. */
#include "tests/cli/cli_test.h"

#include <string.h>

#include "records/records.h"

#define TASK "conv2d_3x3_gemm --args N=1,H=5,W=7,CI=3,CO=6 "

enum { OF_STATE = 10, SAMPLES = 2 * OF_STATE };
/* Ratios to the first anchor, which takes that long. */
typedef struct speed {
    double alone, company;
} speed;
static const speed first_s = {1e-5, 2e-5};

static char *made;         /* a log of a search */
static at_record right[2]; /* two of its records, of different code */
static at_arena *kept;

static int make_log(void **state) {
    if (cli_setup(state)) return 1;
    cli_expect(0, "./autotune " TASK "--trials 8 --tuner random --seed 5 --objective alone "
                  "--log made.log");
    kept = at_arena_new();
    made = at_strdup(kept, cli_read("made.log"));
    int n = 0;
    for (char *line = at_strdup(kept, made), *end; n < 2 && *line; line = end + 1) {
        end = strchr(line, '\n');
        at_record *r = &right[n];
        if (*line != '{') continue;
        assert_int_equal(at_record_parse(kept, line, (size_t)(end - line), r, NULL), AT_OK);
        n += !r->error_no && r->extra.same_as < 0;
    }
    return n < 2;
}

static int drop_log(void **state) {
    at_arena_free(kept);
    return cli_teardown(state);
}

/* ---- logs ------------------------------------------------------------------------------------ */

static void take_samples(speed s, bool in_company, double *ratios, char *states) {
    for (int i = 0; i < SAMPLES; i++) {
        bool company = in_company && i % 2;
        ratios[i] = company ? s.company : s.alone;
        states[i] = at_state_letter(company ? AT_STATE_COMPANY : AT_STATE_ALONE);
    }
    states[SAMPLES] = 0;
}

static void add_anchor(at_text *out, const at_record *r) {
    at_anchor_line l = {.task = r->task,
                        .args = r->args,
                        .context_hash = r->extra.context_hash,
                        .code_hash = "f",
                        .first = "f",
                        .config = &r->config,
                        .of_first = 1,
                        .first_s = first_s.alone,
                        .by[AT_STATE_ALONE] = {25, 0, 0, 1, first_s.alone},
                        .by[AT_STATE_COMPANY] = {25, 0, 0, 1, first_s.company}};
    at_objective_line o = {.task = r->task,
                           .args = r->args,
                           .context_hash = r->extra.context_hash,
                           .objective = AT_OBJECTIVE_ALONE,
                           .share[AT_STATE_ALONE] = 1};
    at_text_add(out, "#");
    at_objective_line_print(out, &o);
    at_text_add(out, "\n#");
    at_anchor_line_print(out, &l);
    at_text_add(out, "\n");
}

static void add_trial(at_text *out, const at_record *of, speed s, bool in_company) {
    at_record r = *of;
    double ratios[SAMPLES], cost_s = s.alone * first_s.alone;
    char states[SAMPLES + 1];
    take_samples(s, in_company, ratios, states);
    r.costs_s = &cost_s;
    r.num_costs = 1;
    r.extra.samples_s = &cost_s;
    r.extra.num_samples = 1;
    r.extra.sample_kind = AT_SAMPLES_FULL;
    r.extra.check = AT_CHECK_EXACT;
    r.extra.pairs = (at_paired){.of_first = s.alone,
                                .ratio = s.alone,
                                .first = "f",
                                .ratios = ratios,
                                .num_ratios = SAMPLES,
                                .states = states};
    at_record_print(out, &r);
}

static void add_turns(at_text *out, const at_record *r, speed s, bool in_company) {
    double times_s[SAMPLES];
    char states[SAMPLES + 1];
    take_samples((speed){s.alone * first_s.alone, s.company * first_s.company}, in_company, times_s,
                 states);
    const at_round round = {.samples_s = times_s, .num_samples = SAMPLES, .states = states};
    at_final_line_print(out, &(at_final_line){.task = r->task,
                                              .args = r->args,
                                              .context_hash = r->extra.context_hash,
                                              .index = r->config.recorded_index,
                                              .config = &r->config,
                                              .turns = {.begun_s = 1000,
                                                        .rounds = &round,
                                                        .num_rounds = 1,
                                                        .among = 2,
                                                        .anchor = right[0].config.recorded_index,
                                                        .objective = AT_OBJECTIVE_ALONE,
                                                        .error = ""}});
}

/* Of the two records; finals NULL: there was none. */
static void write_log(const char *path, const speed *trials, const speed *finals, bool in_company) {
    at_text text = {0};
    add_anchor(&text, &right[0]);
    for (int i = 0; i < 2; i++) add_trial(&text, &right[i], trials[i], in_company);
    for (int i = 0; i < 2 && finals; i++) add_turns(&text, &right[i], finals[i], in_company);
    cli_write(path, at_text_str(&text));
    at_text_free(&text);
}

/* ---- what commands take ---------------------------------------------------------------------- */

/* option: "--objective STATE" or "". */
static void expect_taken(const char *log, const char *option, int which) {
    int64_t index = right[which].config.recorded_index;
    cli_expect(0, "./autotune show " TASK "--log %s %s --json", log, option);
    assert_int_equal(cli_member(cli_json(), "index")->integer, index);
    cli_expect(0, "./autotune pick_best %s %s --json", log, option);
    assert_int_equal(cli_member(cli_member(cli_json(), "picked")->child, "index")->integer, index);
    cli_expect(0, "./autotune apply " TASK "--log %s %s --force -o kernel.c", log, option);
    char expected[64];
    snprintf(expected, sizeof expected, "{\"index\": %lld,", (long long)index);
    assert_non_null(strstr(cli_read("kernel.c"), expected));
}

static const speed turning[] = {{0.5, 0.9}, {0.6, 0.7}}, back[] = {{0.6, 0.7}, {0.5, 0.9}};

static void by_trials(void **state) {
    (void)state;
    write_log("t.log", turning, NULL, true);
    expect_taken("t.log", "--objective alone", 0);
    expect_taken("t.log", "--objective company", 1);
    expect_taken("t.log", "", 0);
    cli_expect(0, "./autotune run " TASK "--log t.log --objective company --json");
    assert_int_equal(cli_member(cli_json(), "index")->integer, right[1].config.recorded_index);
}

/* Trials say the opposite, which then does not count. */
static void by_finals(void **state) {
    (void)state;
    write_log("f.log", turning, back, true);
    expect_taken("f.log", "--objective alone", 1);
    expect_taken("f.log", "--objective company", 0);
    expect_taken("f.log", "", 1);
    cli_expect(0, "./autotune pick_best f.log --objective company --json");
    const at_json *picked = cli_member(cli_json(), "picked")->child;
    assert_float_equal(cli_number(picked, "time_ns"), 0.7 * first_s.company * 1e9, 1e-6);
}

/* The best for what the log is for, which both commands say. */
static void where_nothing_was_timed(void **state) {
    (void)state;
    write_log("n.log", turning, back, false);
    expect_taken("n.log", "--objective company", 1);
    const cli_result *r = cli_expect(0, "./autotune apply " TASK
                                        "--log n.log --objective company --force -o kernel.c");
    assert_non_null(strstr(r->err, "n.log: no pair of conv2d_3x3_gemm was timed for --objective "
                                   "company"));
    r = cli_expect(0, "./autotune pick_best n.log --objective company");
    assert_non_null(strstr(r->err, "no pair was timed for --objective company"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_trials),
        cmocka_unit_test(by_finals),
        cmocka_unit_test(where_nothing_was_timed),
    };
    return cmocka_run_group_tests(tests, make_log, drop_log);
}
