/* Choosing the best records: AutoTVM's way and ours. */
#include "tests/records/picks.h"
#include "tests/records/support.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct pick_result {
    at_status status;
    at_error err;
    at_pick *picks;
    int n;
    at_text warnings;
} pick_result;

static pick_result pick(at_arena *a, bool compat, const char *output, const char *x,
                        const char *y) {
    pick_result p = {0};
    const char *inputs[] = {x, y};
    p.status =
        pick_all(a, inputs, y ? 2 : 1, output, false, compat ? AT_PER_COMPAT : AT_PER_CONTEXT,
                 keep_warning, &p.warnings, &p.picks, &p.n, &p.err);
    return p;
}

/* Our way, without a warning, into best.log, which must then be `expected`. */
static void expect_best(at_arena *a, const char *x, const char *y, const char *expected) {
    pick_result p = pick(a, false, "best.log", x, y);
    if (p.status != AT_OK) fail_msg("%s", p.err.text);
    assert_string_equal(at_text_str(&p.warnings), "");
    assert_string_equal(get_file(a, "best.log"), expected);
    at_text_free(&p.warnings);
}

/* ---- AutoTVM's way -------------------------------------------------------------------------- */

static void put_lines(const char *name, const at_json *lines) {
    at_text t = {0};
    for (const at_json *l = lines->child; l; l = l->next) at_text_addf(&t, "%s\n", l->string);
    put_file(name, at_text_str(&t));
    at_text_free(&t);
}

static void golden_compat(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_json *cases = at_json_get(golden(a, "pick_best.json"), "cases");
    assert_true(cases->count > 0);
    for (const at_json *c = cases->child; c; c = c->next) {
        const char *name = at_json_get(c, "name")->string;
        const at_json *existing = at_json_get(c, "existing_out");
        unlink("out.log");
        put_lines("in.log", at_json_get(c, "in"));
        if (existing) put_lines("out.log", existing);
        pick_result p = pick(a, true, "out.log", "in.log", NULL);
        if (at_json_get(c, "error")) {
            assert_int_equal(p.status, AT_E_INPUT);
            assert_null(get_file(a, "out.log"));
            continue;
        }
        if (p.status != AT_OK) fail_msg("%s: %s", name, p.err.text);
        put_lines("expected.log", at_json_get(c, "out"));
        char *out = get_file(a, "out.log"), *expected = get_file(a, "expected.log");
        if (!out || strcmp(out, expected) != 0) fail_msg("%s:\n%s---\n%s", name, out, expected);
        assert_int_equal(p.n, at_json_get(c, "out")->count);
        assert_string_equal(at_text_str(&p.warnings), "");
        /* Again: the winners are in both logs now, and stay the same. */
        p = pick(a, true, "out.log", "in.log", NULL);
        assert_int_equal(p.status, AT_OK);
        assert_string_equal(get_file(a, "out.log"), expected);
    }
    at_arena_free(a);
}

static void compat_details(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const char *foreign = line_of(a, NULL, 1, 0, "0.5", 0, NULL);
    const char *ours = line_of(a, NULL, 1, 1, "0.25", 0, extra_of(a, "Some CPU", "unchecked"));
    /* AutoTVM knows nothing of our member, and drops it. */
    put_file("in.log", join(a, "# comment\n", foreign, ours, NULL));
    pick_result p = pick(a, true, "out.log", "in.log", NULL);
    assert_int_equal(p.status, AT_OK);
    assert_string_equal(get_file(a, "out.log"), line_of(a, NULL, 1, 1, "0.25", 0, NULL));
    assert_int_equal(p.n, 1);
    assert_int_equal(p.picks[0].considered, 2);
    assert_int_equal(p.picks[0].record.line, 3);
    assert_string_equal(p.picks[0].source, "in.log");
    /* It stops where AutoTVM would, and leaves the output alone. */
    put_file("in.log", join(a, foreign, "  # no comment\n", NULL));
    p = pick(a, true, "out.log", "in.log", NULL);
    assert_int_equal(p.status, AT_E_INPUT);
    assert_int_equal(strncmp(p.err.text, "in.log:2: not a record: JSON, ", 30), 0);
    assert_non_null(strstr(p.err.text, "; AutoTVM stops here"));
    assert_string_equal(get_file(a, "out.log"), line_of(a, NULL, 1, 1, "0.25", 0, NULL));
    p = pick(a, true, "out.log", "/dev/null", NULL);
    assert_int_equal(p.status, AT_E_INPUT);
    assert_string_equal(p.err.text, "/dev/null is no plain file: --compat reads its input twice");
    at_arena_free(a);
}

/* ---- ours ------------------------------------------------------------------------------------ */

/* The default configuration's record may be the best, also of several contexts, and is no trial. */
static void anchors(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const char *anchor =
        "{\"check\": \"exact\", \"part\": \"anchor\", \"context\": {\"cpu\": \"Zen\"}}";
    const char *best = line_of(a, NULL, 1, 0, "0.25", 0, anchor);
    const char *other = line_of(a, NULL, 1, 1, "0.5", 0, extra_of(a, "Zen", "exact"));
    put_file("alone.log", best);
    put_file("a.log", join(a, best, other, NULL));
    for (int n = 0; n < 2; n++)
        for (int k = 0; k < 2; k++) {
            const char *in[] = {n ? "a.log" : "alone.log"};
            pick_result p = {0};
            p.status = pick_all(a, in, 1, NULL, false, k ? AT_PER_TASK : AT_PER_CONTEXT,
                                keep_warning, &p.warnings, &p.picks, &p.n, &p.err);
            assert_int_equal(p.status, AT_OK);
            assert_int_equal(p.n, 1);
            assert_int_equal(p.picks[0].record.config.recorded_index, 0);
            assert_int_equal(p.picks[0].considered, n);
            at_text_free(&p.warnings);
        }
    at_arena_free(a);
}

static void the_best(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const char *zen = extra_of(a, "Zen", "exact");
    const char *slow = line_of(a, NULL, 1, 0, "0.5", 0, zen);
    const char *fast = line_of(a, NULL, 1, 1, "0.25, 0.125", 0, zen);
    const char *equal = line_of(a, NULL, 1, 2, "0.1875", 0, zen);
    put_file("a.log", join(a, slow, fast, equal, slow, NULL));
    pick_result p = pick(a, false, "best.log", "a.log", NULL);
    assert_int_equal(p.status, AT_OK);
    assert_int_equal(p.n, 1);
    assert_int_equal(p.picks[0].record.config.recorded_index, 1); /* a tie keeps the earlier */
    assert_int_equal(p.picks[0].record.line, 2);
    assert_string_equal(p.picks[0].source, "a.log");
    assert_int_equal(p.picks[0].considered, 4);
    /* The file holds the picks as they print. */
    at_text text = {0};
    at_record_print(&text, &p.picks[0].record);
    assert_string_equal(get_file(a, "best.log"), text.data);
    expect_best(a, "a.log", NULL, text.data); /* again */
    /* Measured twice, the line of the better measurement is written, not the first. */
    const char *again = line_of(a, NULL, 1, 1, "0.1", 0, NULL);
    put_file("b.log", join(a, line_of(a, NULL, 1, 1, "0.7", 0, NULL),
                           line_of(a, NULL, 1, 1, "", 6, NULL), again, NULL));
    unlink("best.log");
    expect_best(a, "b.log", NULL, again);
    /* Without an output nothing is written. */
    unlink("best.log");
    p = pick(a, false, NULL, "b.log", NULL);
    assert_int_equal(p.n, 1);
    assert_null(get_file(a, "best.log"));
    at_text_free(&text);
    at_arena_free(a);
}

/* As a record of ours is printed, with the hash of its context. */
static const char *printed(at_arena *a, const char *line) {
    at_record r;
    at_text t = {0};
    assert_int_equal(at_record_parse(a, line, strlen(line), &r, NULL), AT_OK);
    at_record_print(&t, &r);
    const char *s = at_strdup(a, t.data);
    at_text_free(&t);
    return s;
}

static void never_unchecked(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const char *good = line_of(a, NULL, 1, 0, "0.5", 0, extra_of(a, "Zen", "tolerance"));
    put_file("a.log", join(a, line_of(a, NULL, 1, 1, "0.1", 0, extra_of(a, "Zen", "unchecked")),
                           line_of(a, NULL, 1, 2, "0.1", 0, extra_of(a, "Zen", "failed")),
                           line_of(a, NULL, 1, 3, "0.1", 0, extra_of(a, "Zen", "")),
                           line_of(a, NULL, 1, 4, "", 5, extra_of(a, "Zen", "exact")), good, NULL));
    expect_best(a, "a.log", NULL, printed(a, good));
    /* Nothing left: an error, and the output stays. */
    put_file("b.log",
             join(a, "# x\n", line_of(a, NULL, 1, 1, "0.1", 0, extra_of(a, "Zen", "failed")),
                  line_of(a, NULL, 1, 1, "", 4, NULL), NULL));
    unlink("best.log");
    pick_result p = pick(a, false, "best.log", "b.log", NULL);
    assert_int_equal(p.status, AT_E_NO_VALID);
    assert_string_equal(p.err.text, "no valid record in b.log: 2 records, 1 failed, 1 unchecked");
    assert_int_equal(p.n, 0);
    assert_null(get_file(a, "best.log"));
    at_arena_free(a);
}

static void contexts_apart(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const char *x = printed(a, line_of(a, NULL, 1, 0, "0.5", 0, extra_of(a, "Zen", "exact")));
    const char *y = printed(a, line_of(a, NULL, 1, 0, "0.4", 0, extra_of(a, "Core", "exact")));
    const char *z = line_of(a, NULL, 1, 0, "0.3", 0, NULL);
    const char *w = line_of(a, "llvm -keys=cpu -mcpu=skylake", 1, 0, "0.2", 0, NULL);
    const char *v = printed(a, line_of(a, NULL, 2, 0, "0.1", 0, extra_of(a, "Zen", "exact")));
    const char *all = join(a, x, y, z, w, v, NULL);
    put_file("a.log", all);
    expect_best(a, "a.log", NULL, all);
    /* The target text is no part of a context of ours; of a foreign one in any of its forms. */
    const char *u =
        printed(a, line_of(a, "c -keys=cpu", 1, 1, "0.45", 0, extra_of(a, "Zen", "exact")));
    put_file(
        "b.log",
        join(a, u, line_of(a, "llvm -mcpu=skylake -link-params=0", 1, 1, "0.15", 0, NULL), NULL));
    unlink("best.log");
    expect_best(a, "a.log", "b.log",
                join(a, u, y, z, line_of(a, "llvm -keys=cpu -mcpu=skylake", 1, 1, "0.15", 0, NULL),
                     v, NULL));
    at_arena_free(a);
}

static void merging(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const char *m1_new = line_of(a, NULL, 1, 0, "0.5", 0, NULL);
    const char *m1_old = line_of(a, NULL, 1, 1, "0.4", 0, NULL);
    const char *m2_old = line_of(a, NULL, 2, 1, "0.4", 0, NULL);
    const char *m3_new = line_of(a, NULL, 3, 1, "0.4", 0, NULL);
    put_file("a.log", join(a, m1_new, m3_new, NULL));
    put_file("best.log", join(a, m2_old, m1_old, NULL));
    expect_best(a, "a.log", NULL, join(a, m1_old, m3_new, m2_old, NULL));
    expect_best(a, "a.log", NULL, join(a, m1_old, m3_new, m2_old, NULL));
    /* An input is no output, by whatever name; an output may be empty. */
    char *merged = get_file(a, "best.log");
    assert_int_equal(symlink("best.log", "soft.log") | link("best.log", "hard.log"), 0);
    const char *const names[] = {"best.log", "./best.log", "soft.log", "hard.log"};
    pick_result p;
    for (int i = 0; i < 4; i++) {
        p = pick(a, false, names[i], "a.log", "best.log");
        assert_int_equal(p.status, AT_E_USAGE);
        assert_string_equal(
            p.err.text, at_format(a, "%s is both input and output; name another output", names[i]));
        assert_string_equal(get_file(a, "best.log"), merged);
    }
    assert_int_equal(unlink("soft.log") | unlink("hard.log"), 0);
    put_file("best.log", "");
    expect_best(a, "a.log", NULL, join(a, m1_new, m3_new, NULL));
    /* Bad lines are told of and skipped. */
    put_file("a.log", join(a, m1_new, "\n", "{}\n", NULL));
    p = pick(a, false, "best.log", "a.log", NULL);
    assert_int_equal(p.status, AT_OK);
    assert_string_equal(at_text_str(&p.warnings),
                        "a.log:2: blank line; skipped\n"
                        "a.log:3: not a record: no member \"input\"; skipped\n"
                        "a.log: 2 lines skipped, 1 of them blank\n");
    at_text_free(&p.warnings);
    at_arena_free(a);
}

/* Any failure leaves the output as it was, and nothing beside it. */
static void output_kept(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const char *old = line_of(a, NULL, 2, 0, "0.5", 0, NULL);
    put_file("a.log", line_of(a, NULL, 1, 0, "0.5", 0, NULL));
    put_file("best.log", old);
    pick_result p = pick(a, false, "best.log", "a.log", "missing.log");
    assert_int_equal(p.status, AT_E_INPUT);
    assert_string_equal(p.err.text, "cannot read missing.log: No such file or directory");
    assert_string_equal(get_file(a, "best.log"), old);
    /* An output that is no log is not replaced. */
    const char *const others[] = {"\177ELF", "int main(void) {}\n", "# Notes\n\nfor myself\n",
                                  "# Notes\n", at_format(a, "A record:\n\n%sIt is.\n", old)};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        put_file("precious", others[i]);
        p = pick(a, false, "precious", "a.log", NULL);
        assert_int_equal(p.status, AT_E_USAGE);
        assert_string_equal(p.err.text,
                            "precious is there already and is no log; name another file");
        assert_string_equal(get_file(a, "precious"), others[i]);
    }
    at_text_free(&p.warnings);
    const char *in[] = {"a.log"};
    assert_int_equal(pick_all(a, in, 1, "precious", AT_FORCE_YES, AT_PER_CONTEXT, NULL, NULL,
                              &p.picks, &p.n, &p.err),
                     AT_OK);
    assert_string_equal(get_file(a, "precious"), get_file(a, "a.log"));
    /* A run writes it. */
    at_log *l;
    assert_int_equal(at_log_open("best.log", &l, NULL), AT_OK);
    p = pick(a, false, "best.log", "a.log", NULL);
    assert_int_equal(p.status, AT_E_LOCKED);
    assert_string_equal(get_file(a, "best.log"), old);
    assert_int_equal(at_log_close(l, NULL), AT_OK);
    p = pick(a, false, "none/best.log", "a.log", NULL);
    assert_int_equal(p.status, AT_E_OUTPUT);
    if (geteuid() != 0) { /* root may write everywhere */
        assert_int_equal(chmod(".", 0500), 0);
        p = pick(a, false, "best.log", "a.log", NULL);
        assert_int_equal(chmod(".", 0700), 0);
        assert_int_equal(p.status, AT_E_OUTPUT);
        assert_string_equal(get_file(a, "best.log"), old);
    }
    at_arena_free(a);
}

/* What a search has left is more than its best: it is kept, with --force, too. */
static void tuning_logs(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const char *zen = extra_of(a, "Zen", "exact"), *arm = extra_of(a, "Arm", "exact");
    const char *x = printed(a, line_of(a, NULL, 1, 0, "0.5", 0, zen));
    const char *failed = line_of(a, NULL, 1, 1, "1000000000.0", 4, zen);
    put_file("a.log", line_of(a, NULL, 1, 2, "0.1", 0, zen));
    const char *in[] = {"a.log"};
    const char *const logs[] = {join(a, x, failed, NULL), join(a, failed, failed, NULL),
                                join(a, x, line_of(a, NULL, 2, 0, "0.5", 0, zen), x, NULL)};
    pick_result p = {0};
    for (int i = 0; i < 3; i++)
        for (int per = AT_PER_CONTEXT; per <= AT_PER_COMPAT; per++)
            for (int force = 0; force < 2; force++) {
                put_file("tuned.log", logs[i]);
                assert_int_equal(pick_all(a, in, 1, "tuned.log", force, (at_per)per, NULL, NULL,
                                          &p.picks, &p.n, &p.err),
                                 AT_E_USAGE);
                assert_string_equal(get_file(a, "tuned.log"), logs[i]);
            }
    assert_string_equal(p.err.text, "tuned.log is a tuning log of 3 records, and is not cut down "
                                    "to the best of them; name another file");
    /* A record per context is what pick_best writes. */
    const char *best = join(a, x, printed(a, line_of(a, NULL, 1, 3, "0.7", 0, arm)), NULL);
    put_file("best.log", best);
    p = pick(a, false, "best.log", "a.log", NULL);
    assert_int_equal(p.status, AT_OK);
    assert_int_equal(p.n, 2);
    at_arena_free(a);
}

static const char *final_of(at_arena *a, const char *context_hash, int index, const char *samples) {
    return at_format(a,
                     "#final {\"task\": \"test_gemm\", \"args\": [1, 48, \"float32\"], "
                     "\"context_hash\": \"%s\", \"index\": %d, \"entity\": [[\"tile_m\", \"sp\", "
                     "[-1, %d]], [\"pack\", \"ot\", true]], \"samples_s\": [%s]%s}\n",
                     context_hash, index, index + 1, samples,
                     index == 1 ? ", \"peak_gflops\": 100.0" : "");
}

/* Among finalists the median of their samples in finals decides. */
static void finals(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const char *zen = extra_of(a, "Zen", "exact");
    const char *x = printed(a, line_of(a, NULL, 1, 0, "0.4", 0, zen)); /* lucky once */
    const char *y = printed(a, line_of(a, NULL, 1, 1, "0.41", 0, zen));
    const char *copy =
        line_of(a, NULL, 1, 9, "0.4", 0,
                "{\"check\": \"exact\", \"context\": {\"cpu\": \"Zen\"}, \"same_as\": 0}");
    at_record r;
    assert_int_equal(at_record_parse(a, x, strlen(x), &r, NULL), AT_OK);
    const char *hash = r.extra.context_hash;
    const char *samples =
        join(a, final_of(a, hash, 0, "0.6"), final_of(a, hash, 1, "0.45, 0.55"),
             final_of(a, hash, 0, "0.55"), final_of(a, hash, 1, "0.7"), final_of(a, hash, 0, "0.2"),
             final_of(a, hash, 1, "0.51"), final_of(a, "0", 2, "0.1"), "#final {\n#final []\n",
             "#final {\"samples_s\": []}\n", NULL);
    const char *copies = join(a, copy, copy, copy, copy, copy, copy, copy, copy, copy, NULL);
    put_file("a.log", join(a, x, copies, y, samples, NULL));
    /* Medians 0.55 and 0.51. The winner's samples go with it. */
    const char *winner = join(a, y, final_of(a, hash, 1, "0.45, 0.55"), final_of(a, hash, 1, "0.7"),
                              final_of(a, hash, 1, "0.51"), NULL);
    expect_best(a, "a.log", NULL, winner);
    expect_best(a, "a.log", NULL, winner); /* no sample counts twice */
    at_record *records;
    int n;
    assert_int_equal(at_log_read_all(a, "a.log", NULL, NULL, &records, &n, NULL), AT_OK);
    assert_int_equal(n, 11);
    assert_true(at_record_time(&records[0]) == 0.55 && at_record_time(&records[10]) == 0.51);
    assert_true(at_record_peak(&records[0]) == 0 && at_record_peak(&records[10]) == 100);
    assert_null(at_record_final(&records[1]));
    bool wins[11];
    at_mark_winners("a.log", records, 11, NULL, NULL, wins);
    for (int i = 0; i < 11; i++) assert_int_equal(wins[i], i == 10);
    at_mark_winners("a.log", records, 10, NULL, NULL, wins);
    assert_true(wins[0]);
    /* What was found since the final has only its mean. */
    const char *z = printed(a, line_of(a, NULL, 1, 2, "0.39", 0, zen));
    put_file("b.log", z);
    unlink("best.log");
    expect_best(a, "a.log", "b.log", z);
    at_arena_free(a);
}

static bool is_no_old_one(void *ctx, const char *path, const at_record *r) {
    (void)ctx;
    assert_string_equal(path, "a.log");
    return strcmp(r->extra.context.cpu, "old") != 0;
}

/* What a final speaks of is looked for once more where many others were better; what is not of use
 * is not found. */
static void refused_finalist(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_text log = {0};
    at_record r;
    at_pick *picks;
    int n;
    const char *old = line_of(a, NULL, 1, 1, "0.9", 0, extra_of(a, "old", "exact"));
    assert_int_equal(at_record_parse(a, old, strlen(old), &r, NULL), AT_OK);
    at_text_add(&log, join(a, old, final_of(a, r.extra.context_hash, 1, "0.1"), NULL));
    for (int i = 0; i < 200; i++)
        at_text_add(&log, line_of(a, NULL, 1, i, "0.5", 0, extra_of(a, "new", "exact")));
    put_file("a.log", at_text_str(&log));
    at_text_free(&log);
    const char *path = "a.log";
    const at_pick_request q = {.logs = &path, .num_logs = 1, .use = is_no_old_one};
    assert_int_equal(at_pick_best(a, &q, &picks, &n, NULL), AT_OK);
    assert_int_equal(n, 1);
    assert_string_equal(picks[0].record.extra.context.cpu, "new");
    at_arena_free(a);
}

/* The places kept for finals are filled in any order. */
static void many(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_rng rng;
    at_rng_seed(&rng, 7, 1);
    for (int round = 0; round < 50; round++) {
        at_text t = {0};
        uint64_t least = UINT64_MAX;
        int n = 1 + (int)at_rng_below(&rng, 30), best = 0;
        for (int i = 0; i < n; i++) {
            uint64_t cost = 1 + at_rng_below(&rng, 20);
            if (cost < least) least = cost, best = i;
            at_text_add(&t, line_of(a, NULL, 1, i, at_format(a, "%d.0", (int)cost), 0, NULL));
        }
        put_file("a.log", t.data);
        pick_result p = pick(a, false, NULL, "a.log", NULL);
        assert_int_equal(p.n, 1);
        assert_int_equal(p.picks[0].record.line, best + 1);
        assert_int_equal(p.picks[0].considered, n);
        at_text_free(&t);
        at_arena_reset(a);
    }
    at_arena_free(a);
}

/* What competes: each task alone, within a -mcpu, within a key. */
static void per(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    static const char zen[] = "c -keys=cpu -mcpu=znver4", other[] = "c -keys=cpu -mcpu=haswell",
                      device[] = "llvm -keys=arm_cpu,cpu -device=arm_cpu";
    put_file("a.log", join(a, line_of(a, zen, 1, 1, "0.5", 0, extra_of(a, "Zen", "exact")),
                           line_of(a, zen, 1, 2, "0.25", 0, NULL),
                           line_of(a, other, 1, 3, "0.125", 0, extra_of(a, "Other", "exact")),
                           line_of(a, device, 1, 4, "0.0625", 0, NULL),
                           line_of(a, "plain", 1, 5, "1.0", 0, NULL),
                           line_of(a, zen, 2, 6, "1.0", 0, NULL), NULL));
    const struct {
        at_per per;
        int n, index[6], considered[6];
    } rows[] = {
        {AT_PER_CONTEXT, 6, {1, 2, 3, 4, 5, 6}, {1, 1, 1, 1, 1, 1}},
        {AT_PER_TASK, 2, {4, 6}, {5, 1}},
        {AT_PER_MCPU, 4, {2, 3, 4, 6}, {2, 1, 2, 1}}, /* those that name none are one group */
        /* The best of cpu is the best of arm_cpu, too, and is written once. */
        {AT_PER_KEY, 3, {4, 5, 6}, {4, 1, 1}},
    };
    const char *in[] = {"a.log"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        at_pick *picks;
        int n;
        at_error err;
        assert_int_equal(pick_all(a, in, 1, NULL, false, rows[i].per, NULL, NULL, &picks, &n, &err),
                         AT_OK);
        assert_int_equal(n, rows[i].n);
        for (int k = 0; k < n; k++) {
            assert_int_equal(picks[k].record.config.recorded_index, rows[i].index[k]);
            assert_int_equal(picks[k].considered, rows[i].considered[k]);
        }
    }
    at_arena_free(a);
}

/* Finals are compared within a context, times beyond it: what was chosen is chosen again, whatever
 * else was chosen with it. */
static void per_again(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    static const char two_keys[] = "llvm -keys=x,cpu", other_key[] = "llvm -keys=x";
    const char *zen = extra_of(a, "Zen", "exact");
    const char *first = printed(a, line_of(a, NULL, 1, 0, "0.1", 0, zen));
    const char *second = printed(a, line_of(a, NULL, 1, 1, "0.2", 0, zen));
    const char *foreign = line_of(a, two_keys, 1, 2, "0.15", 0, NULL);
    const char *slow = line_of(a, other_key, 1, 3, "0.16", 0, NULL);
    at_record r;
    assert_int_equal(at_record_parse(a, first, strlen(first), &r, NULL), AT_OK);
    const char *hash = r.extra.context_hash;
    const char *finals[] = {final_of(a, hash, 0, "0.3"), final_of(a, hash, 1, "0.2"),
                            final_of(a, hash, 1, "0.14")};
    const char *logs[] = {/* cpu: 0.2 in the final against 0.15; the best of x is the same */
                          join(a, first, second, foreign, slow, finals[0], finals[1], NULL),
                          foreign,
                          /* cpu: 0.14; x: 0.15 */
                          join(a, slow, first, second, foreign, finals[0], finals[2], NULL),
                          join(a, second, finals[2], foreign, NULL)};
    for (int i = 0; i < 4; i += 2) {
        const char *in[] = {"a.log"};
        at_pick *picks;
        int n;
        at_error err;
        put_file("a.log", logs[i]);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(
                pick_all(a, in, 1, "best.log", false, AT_PER_KEY, NULL, NULL, &picks, &n, &err),
                AT_OK);
            assert_string_equal(get_file(a, "best.log"), logs[i + 1]);
            put_file("a.log", logs[i + 1]);
            unlink("best.log");
        }
    }
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(golden_compat, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(compat_details, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(anchors, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(the_best, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(never_unchecked, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(contexts_apart, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(merging, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(output_kept, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(tuning_logs, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(finals, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(refused_finalist, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(many, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(per, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(per_again, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
