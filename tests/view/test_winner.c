/* The winner of a log is the same by everything that tells one, over random logs, and the one that
 * a plain reading of the rules in records.h finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/records/picks.h"
#include "tests/folder.h"
#include "view/view.h"

enum { LOGS = 1000, MOST = 80, MOST_FINALS = 4, CONTEXTS = 2, MOST_ROUNDS = 5 };

typedef struct trial {
    int context; /* CONTEXTS: of another program */
    int entity;
    double mean_s;
    bool valid;
    int line;
} trial;

/* The first final of a log may be one that was written round by round. */
typedef struct final {
    int context;
    bool by_round;
    struct {
        int rounds; /* 0: was not in it */
        double times_s[MOST_ROUNDS];
        bool failed;
    } of[MOST]; /* by entity */
} final;

typedef struct made {
    at_rng rng;
    trial trials[MOST];
    final finals[MOST_FINALS];
    int num_trials, num_finals, num_entities, lines;
    FILE *file;
} made;

static const char *const cpus[CONTEXTS] = {"Zen", "Core"};
static const char path[] = "winner.log", best_path[] = "best.log";
static char hashes[CONTEXTS][33];

static int below(made *m, int n) { return (int)at_rng_below(&m->rng, (uint64_t)n); }

/* ---- a log ---------------------------------------------------------------------------------- */

/* Few different times, so that there are ties. */
static double some_time(made *m) { return (1 + below(m, 40)) / 64.0; }

static void put_trial(made *m, trial *t) {
    t->line = ++m->lines;
    fprintf(
        m->file,
        "{\"input\": [\"c -keys=cpu\", \"test_gemm\", [1, 48], {}], \"config\": {\"index\": %d, "
        "\"code_hash\": null, \"entity\": [[\"tile_m\", \"sp\", [-1, %d]]]}, \"result\": [[%.17g], "
        "%d, 0.75, 1700000000.5], \"version\": 0.2, \"tvm_version\": \"0.12.0\"",
        t->entity, t->entity + 1, t->valid ? t->mean_s : 1e9, t->valid ? 0 : 4);
    if (t->context < CONTEXTS)
        fprintf(m->file, ", \"autotune\": {\"check\": \"exact\", \"context\": {\"cpu\": \"%s\"}}",
                cpus[t->context]);
    fprintf(m->file, "}\n");
}

static void put_head(made *m, const final *f, int entity) {
    m->lines++;
    fprintf(m->file,
            "#final {\"task\": \"test_gemm\", \"args\": [1, 48], \"context_hash\": \"%s\", "
            "\"index\": %d, \"entity\": [[\"tile_m\", \"sp\", [-1, %d]]]",
            hashes[f->context], entity, entity + 1);
}

static void put_round(made *m, const final *f, int entity, int round) {
    put_head(m, f, entity);
    fprintf(m->file, ", \"samples_s\": [%.17g]}\n", f->of[entity].times_s[round]);
}

/* As a run that goes on writes it, and one that is over. */
static void put_rounds(made *m, const final *f, int entity, int rounds, bool failed) {
    put_head(m, f, entity);
    fprintf(m->file, ", \"begun\": %d.5", 1700000000 + (int)(f - m->finals));
    if (failed) fprintf(m->file, ", \"error_no\": 5, \"error\": \"wrong\"");
    fprintf(m->file, ", \"rounds\": %d, \"rounds_s\": [", rounds);
    for (int i = 0; i < rounds; i++)
        fprintf(m->file, "%s[%.17g]", i ? ", " : "", f->of[entity].times_s[i]);
    fprintf(m->file, "], \"peaks_gflops\": [");
    for (int i = 0; i < rounds; i++) fprintf(m->file, "%s64", i ? ", " : "");
    fprintf(m->file, "]}\n");
}

static void put_finalist(made *m, const final *f, int entity) {
    int n = f->of[entity].rounds;
    if (!n) return;
    for (int i = 0; i < n && f->by_round; i++) put_round(m, f, entity, i);
    if (f->by_round) return;
    if (below(m, 4) == 0) put_rounds(m, f, entity, 1 + below(m, n), false); /* was killed then */
    put_rounds(m, f, entity, n, f->of[entity].failed);
    if (below(m, 4) == 0) put_rounds(m, f, entity, 1 + below(m, n), false); /* logs put together */
}

static void make_final(made *m, final *f) {
    *f = (final){.context = below(m, CONTEXTS), .by_round = f == m->finals && below(m, 2)};
    int in = 1 + below(m, 40);
    for (int i = 0; i < in; i++) {
        int e = below(m, m->num_entities);
        f->of[e].rounds = 1 + below(m, MOST_ROUNDS);
        f->of[e].failed = !f->by_round && below(m, 12) == 0;
        for (int k = 0; k < f->of[e].rounds; k++) /* no two are the same, as when measured */
            f->of[e].times_s[k] = some_time(m) + k / 65536.0;
    }
}

/* Finals stand where a run puts them, or anywhere. */
static void make_log(made *m) {
    int after[MOST_FINALS];
    m->num_trials = 1 + below(m, MOST);
    m->num_entities = 1 + below(m, MOST);
    m->num_finals = below(m, MOST_FINALS + 1);
    for (int i = 0; i < m->num_finals; i++) {
        make_final(m, &m->finals[i]);
        after[i] = below(m, m->num_trials + 1);
    }
    m->file = fopen(path, "w");
    assert_non_null(m->file);
    for (int i = 0; i <= m->num_trials; i++) {
        for (int k = 0; k < m->num_finals; k++)
            for (int e = 0; e < m->num_entities && after[k] == i; e++)
                put_finalist(m, &m->finals[k], e);
        if (i == m->num_trials) break;
        m->trials[i] = (trial){.context = below(m, 4) ? 0 : below(m, CONTEXTS + 1),
                               .entity = below(m, m->num_entities),
                               .mean_s = some_time(m),
                               .valid = below(m, 8) > 0};
        put_trial(m, &m->trials[i]);
    }
    assert_int_equal(fclose(m->file), 0);
}

/* ---- the rules, read plainly ----------------------------------------------------------------- */

static double median(const double *x, int n) {
    double *sorted = at_sorted_copy(x, n), middle = at_sorted_median(sorted, n);
    free(sorted);
    return middle;
}

/* -1: was not in it, or failed in it. */
static double time_in(const final *f, const trial *t) {
    int e = t->entity;
    if (f->context != t->context || !f->of[e].rounds || f->of[e].failed) return -1;
    return median(f->of[e].times_s, f->of[e].rounds);
}

static const final *last_final(const made *m, const trial *t) {
    for (int i = m->num_finals - 1; i >= 0; i--)
        if (m->finals[i].context == t->context && m->finals[i].of[t->entity].rounds)
            return &m->finals[i];
    return NULL;
}

static bool competes(const made *m, const trial *t, int context) {
    const final *last = last_final(m, t);
    return t->valid && t->context == context && !(last && last->of[t->entity].failed);
}

/* Of two in one final, or by their trials alone. */
static bool beats(const final *f, const trial *x, const trial *y) {
    double a = f ? time_in(f, x) : x->mean_s, b = f ? time_in(f, y) : y->mean_s;
    if (a != b) return a < b;
    return f && x->mean_s < y->mean_s;
}

static const trial *winner_of(const made *m, int context) {
    const trial *best = NULL, *winner = NULL;
    for (int i = 0; i < m->num_trials; i++) {
        const trial *t = &m->trials[i];
        if (!competes(m, t, context)) continue;
        if (!best || beats(NULL, t, best) ||
            (t->mean_s == best->mean_s && last_final(m, t) && !last_final(m, best)))
            best = t;
    }
    if (!best || !last_final(m, best)) return best;
    double time_s = 0;
    for (int k = 0; k < m->num_finals; k++) {
        const final *f = &m->finals[k];
        const trial *first = NULL;
        for (int i = 0; i < m->num_trials; i++) {
            const trial *t = &m->trials[i];
            if (competes(m, t, context) && time_in(f, t) > 0 && (!first || beats(f, t, first)))
                first = t;
        }
        if (!first) continue;
        if (winner && time_in(f, winner) < 0 && time_in(f, first) >= time_s) continue;
        winner = first;
        time_s = time_in(f, first);
    }
    return winner ? winner : best;
}

/* ---- who tells it ---------------------------------------------------------------------------- */

/* The lines that win, by context; -1: none. */
typedef int winners[CONTEXTS + 1];

static int context_of(const at_record *r) {
    int c = 0;
    while (c < CONTEXTS && strcmp(r->extra.context_hash, hashes[c]) != 0) c++;
    return c;
}

static void by_summary(at_arena *a, winners out) {
    at_log_summary s;
    assert_int_equal(at_log_summarise(a, path, NULL, NULL, NULL, NULL, &s, NULL), AT_OK);
    for (int i = 0; i < s.num_groups; i++)
        if (s.groups[i].best)
            out[context_of(&s.groups[i].best->record)] = (int)s.groups[i].best->record.line;
}

static void by_pick(at_arena *a, winners out) {
    const char *log = path;
    at_pick *picks;
    int n = 0;
    pick_all(a, &log, 1, NULL, false, AT_PER_CONTEXT, NULL, NULL, &picks, &n, NULL);
    for (int i = 0; i < n; i++) out[context_of(&picks[i].record)] = (int)picks[i].record.line;
}

static int first_of(const at_record *all, const at_record *r) {
    int i = 0;
    while (!at_record_is_candidate(&all[i]) || context_of(&all[i]) != context_of(r)) i++;
    return i;
}

/* context < 0: of all contexts the fastest, of two as fast the earlier record. */
static const at_record *best_of(at_arena *a, const at_record *all, int n, int context) {
    bool *wins = AT_NEW_ARRAY(a, bool, n);
    const at_record *best = NULL;
    at_mark_winners(path, all, n, NULL, NULL, wins);
    for (int i = 0; i < n; i++) {
        if (!wins[i] || (context >= 0 && context_of(&all[i]) != context)) continue;
        const double ahead = best ? at_record_time(best) - at_record_time(&all[i]) : 1;
        if (ahead > 0 || (ahead == 0 && first_of(all, &all[i]) < first_of(all, best)))
            best = &all[i];
    }
    return best;
}

static void by_curves(const made *m, at_arena *a, winners out, double *speeds) {
    const char *log = path;
    at_curves c;
    assert_int_equal(at_curves_read(a, &log, 1, NULL, NULL, NULL, &c, NULL), AT_OK);
    assert_int_equal(c.panels.len, 1);
    for (int i = 0; i < c.panels.data[0]->series.len; i++) {
        const at_series *s = c.panels.data[0]->series.data[i];
        int context = 0, number = 0;
        while (context < CONTEXTS && strcmp(s->identity, hashes[context]) != 0) context++;
        speeds[context] = s->winner_speed;
        for (int k = 0; k < m->num_trials; k++)
            if (m->trials[k].context == context && number++ == s->winner)
                out[context] = m->trials[k].line;
    }
}

static void expect_winners(const made *m, at_arena *a, int number) {
    enum { TELLERS = 4 };
    winners told[TELLERS];
    double speeds[CONTEXTS + 1];
    at_record *all;
    int n;
    for (int i = 0; i < TELLERS; i++)
        for (int c = 0; c <= CONTEXTS; c++) told[i][c] = -1;
    by_summary(a, told[0]);
    by_pick(a, told[1]);
    by_curves(m, a, told[2], speeds);
    assert_int_equal(at_log_read_all(a, path, NULL, NULL, &all, &n, NULL), AT_OK);
    for (int c = 0; c <= CONTEXTS; c++) {
        const trial *t = winner_of(m, c);
        const at_record *r = best_of(a, all, n, c);
        if (r) told[3][c] = (int)r->line;
        if (r) assert_true(speeds[c] == 1 / at_record_time(r));
        for (int i = 0; i < TELLERS; i++)
            if (told[i][c] != (t ? t->line : -1))
                fail_msg("log %d, context %d: line %d by %d instead of %d", number, c, told[i][c],
                         i, t ? t->line : -1);
    }
}

/* What is picked wins in what is written, too; and of several contexts the same one. */
static void expect_same_of_all(at_arena *a) {
    const char *log = path;
    at_pick *picks, *written;
    at_record *all;
    int n, again;
    assert_int_equal(at_log_read_all(a, path, NULL, NULL, &all, &n, NULL), AT_OK);
    const at_record *r = best_of(a, all, n, -1);
    at_status s = pick_all(a, &log, 1, best_path, false, AT_PER_TASK, NULL, NULL, &picks, &n, NULL);
    assert_int_equal(s == AT_OK, r != NULL);
    if (!r) return;
    assert_int_equal(n, 1);
    assert_int_equal(picks[0].record.line, r->line);
    assert_true(at_record_time(&picks[0].record) == at_record_time(r));
    log = best_path;
    assert_int_equal(
        pick_all(a, &log, 1, NULL, false, AT_PER_TASK, NULL, NULL, &written, &again, NULL), AT_OK);
    assert_int_equal(again, 1);
    assert_int_equal(at_record_final(&written[0].record) != NULL, at_record_final(r) != NULL);
    assert_true(at_record_time(&written[0].record) == at_record_time(r));
    assert_true(at_record_gflops(&written[0].record) == at_record_gflops(r));
    assert_int_equal(unlink(best_path), 0);
}

static void random_logs(void **state) {
    (void)state;
    static made m;
    at_arena *a = at_arena_new();
    at_rng_seed(&m.rng, 14, 9);
    for (int i = 0; i < CONTEXTS; i++)
        at_context_hash(&(at_context){cpus[i], 0, "", "", "", "", "", "", ""}, hashes[i]);
    for (int i = 0; i < LOGS; i++) {
        m.lines = 0;
        make_log(&m);
        expect_winners(&m, a, i);
        expect_same_of_all(a);
        at_arena_reset(a);
    }
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_logs)};
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
