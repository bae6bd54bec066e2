/* A machine on which the order of kernels turns round: some are fast alone, others while somebody
 * uses the core as well. Whole searches on it: each objective finds its own winner, and the end and
 * pick_best name the other one, too, as does what the program prints.
 *
 * The worker is this program, with a clock of its own: what a kernel takes is made up, by how many
 * others came before it, for each of two states; which state it is when goes by that clock. Pairs
 * and labels are runtime/pairs.c's. Its probes run, and what they are compared with says that
 * nobody, or somebody, is there. What is true the worker writes to a file, trial by trial. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/commands.h"
#include "cli/tune_report.h"
#include "engine/engine.h"
#include "engine/final/final_states.h"
#include "engine/measure/record_verify.h"
#include "runtime/inside.h"
#include "tests/folder.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEED = 3, TRIALS = 18, KERNELS = TRIALS + 1, LEVELS = 6, SEGMENT_NS = 4000000 };

/* ---- the worker ------------------------------------------------------------------------------ */

typedef struct kernel {
    uint64_t text; /* a hash of it */
    double ns[2];  /* of a run: alone, in company */
} kernel;

static int64_t now_ns;
static at_job job; /* in hand */
static uint64_t noise = 1;

static int64_t wall(void) { return now_ns += 20; }
static const at_clock made_up = {.now_ns = wall, .thread_ns = wall};

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29;
}

static bool is_company(void) { return mix((uint64_t)(now_ns / SEGMENT_NS) + 77) >> 20 & 1; }

/* What probes are compared with from now on: so little that it is reached, or too much. */
static void set_reach(void) {
    double all = is_company() ? 1e9 : 1e-9;
    job.reach = (at_reach){all, all};
}

static int run(void *const buf[], void *workspace, at_par *par) {
    const kernel *k = workspace;
    (void)buf, (void)par;
    noise = mix(noise + 1);
    now_ns += (int64_t)(k->ns[is_company()] * (1 + ((double)(noise % 201) - 100) * 5e-5));
    set_reach();
    return 0;
}

/* How many other texts came before this one, which goes to the end of a file of them. What the
 * texts are, which hangs on the CPU, is of no account. */
static int number_of(uint64_t text) {
    FILE *f = fopen(getenv("AT_TEXTS"), "a+");
    unsigned long long seen;
    bool found = false;
    int n = 0;
    AT_NEED(f);
    rewind(f);
    while (!found && fscanf(f, "%llx", &seen) == 1) found = seen == text, n += !found;
    if (!found) fprintf(f, "%llx\n", (unsigned long long)text);
    fclose(f);
    return n;
}

static kernel kernel_of(const at_job *j) {
    uint64_t h = 1;
    for (const char *c = j->source; *c; c++) h = mix(h ^ (unsigned char)*c);
    for (int i = 0; i < j->num_blobs; i++)
        for (int64_t k = 0; k < j->blobs[i].size_bytes; k++)
            h = mix(h ^ ((const unsigned char *)j->blobs[i].bytes)[k]);
    /* The faster it is alone, the slower in company; up to three kernels are as fast. */
    int alone = 5 * number_of(h) % LEVELS, company = LEVELS - 1 - alone;
    return (kernel){h, {3e5 * (1 + 0.06 * alone), 3e5 * (1.3 + 0.06 * company)}};
}

static at_run run_of(kernel *k) {
    at_run r = {.clock = &made_up, .entry = run, .workspace = k};
    r.par.threads = 1;
    return r;
}

static void write_truth(const kernel *k) {
    FILE *f = fopen(getenv("AT_TRUTH"), "a");
    AT_NEED(f);
    fprintf(f, "%lld %.17g %.17g\n", (long long)((job.pair_seed ^ SEED) >> 20), k->ns[0], k->ns[1]);
    fclose(f);
}

/* The reference: any numbers, since nobody computes others. */
static void publish(const at_channel *parent) {
    struct {
        at_output_head head;
        float one;
    } part = {.one = 1};
    for (int i = 0; i < job.num_bufs; i++) {
        const at_buf *b = &job.bufs[i];
        for (int64_t k = 0; b->role == AT_BUF_OUT && k < b->size_bytes; k += 4) {
            part.head = (at_output_head){.buf = i, .begin = k};
            if (at_msg_send(parent, AT_MSG_OUTPUT, &part, sizeof part.head + sizeof part.one))
                _exit(1);
        }
    }
}

static void serve_job(const at_channel *parent, kernel *of_anchor, at_outcome *out) {
    static const at_job any;
    kernel k = kernel_of(&job);
    at_run r = run_of(&k);
    at_run_time first;
    set_reach();
    at_run_timed(&r, 1, &first);
    if (job.run_only) {
        publish(parent);
    } else if (job.pairs && of_anchor) {
        bool same = of_anchor->text == k.text;
        at_anchor a = {
            .job = &any, .beside = run_of(same ? &k : of_anchor), .run_ns = of_anchor->ns[0]};
        a.beside.vector_set = r.vector_set = job.vector_set = 0;
        at_time_pairs(&r, &a, &job, first, out);
        if (job.pairs == 2 || job.pairs == 3) write_truth(&k); /* of a trial */
    } else at_time_job(&r, &job, first, out);
}

static _Noreturn void made_up_worker(int fd) {
    const at_channel parent = {.fd = fd};
    static at_outcome out;
    static kernel anchor;
    at_msg m = {0};
    bool has_anchor = false;
    double peak = 100;
    static const at_ready ready;
    at_msg_send(&parent, AT_MSG_READY, &ready, sizeof ready);
    while (at_msg_receive(&parent, &m) == AT_IO_OK) {
        if (m.type == AT_MSG_PEAK) {
            at_msg_send(&parent, AT_MSG_PEAK, &peak, sizeof peak);
            continue;
        }
        if (!at_decode_job(&m, &job)) _exit(1);
        at_msg_send(&parent, AT_MSG_COMPILED, NULL, 0);
        memset(&out, 0, sizeof out);
        if (m.type == AT_MSG_ANCHOR) anchor = kernel_of(&job), has_anchor = true;
        else serve_job(&parent, has_anchor ? &anchor : NULL, &out);
        at_msg_send(&parent, AT_MSG_OUTCOME, &out, at_outcome_bytes(&out));
    }
    _exit(0);
}

/* ---- searches -------------------------------------------------------------------------------- */

typedef struct truth {
    int64_t index[KERNELS];
    double ns[KERNELS][2];
    int len;
} truth;

static void read_truth(const char *path, truth *t) {
    FILE *f = fopen(path, "r");
    long long index;
    assert_non_null(f);
    t->len = 0;
    while (t->len < KERNELS &&
           fscanf(f, "%lld %lf %lf", &index, &t->ns[t->len][0], &t->ns[t->len][1]) == 3)
        t->index[t->len++] = index;
    fclose(f);
    assert_true(t->len > TRIALS / 2);
}

static double least(const truth *t, int state) {
    double ns = t->ns[0][state];
    for (int i = 0; i < t->len; i++)
        if (t->ns[i][state] < ns) ns = t->ns[i][state];
    return ns;
}

static double time_of(const truth *t, int64_t index, int state) {
    for (int i = 0; i < t->len; i++)
        if (t->index[i] == index) return t->ns[i][state];
    fail_msg("index %lld was not timed", (long long)index);
    return 0;
}

/* What the program prints of it. */
static char *report_of(at_arena *a, at_tuning *t, bool json) {
    const char *path = at_format(a, "%s/report", folder);
    const at_options o = {.json = json, .stats = true};
    at_error err;
    fflush(stdout);
    int out = dup(STDOUT_FILENO), file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(out >= 0 && file >= 0 && dup2(file, STDOUT_FILENO) == STDOUT_FILENO);
    at_status s = at_tune_report(t, &o, &err);
    fflush(stdout);
    assert_int_equal(dup2(out, STDOUT_FILENO), STDOUT_FILENO);
    if (s != AT_OK) fail_msg("%s", err.text);
    int64_t size = lseek(file, 0, SEEK_END);
    char *text = at_alloc(a, (size_t)size + 1);
    assert_int_equal(pread(file, text, (size_t)size, 0), size);
    close(out);
    close(file);
    return text;
}

static void contains(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("%s\nlacks:\n%s", text, part);
}

/* The other winner, as a text and in JSON. */
static void check_reports(at_arena *a, at_tuning *t, int own, const at_other_winner *w) {
    static const char *const names[] = {"alone", "company"};
    const long long index = (long long)w->who->result->config.index;
    const char *in = own ? "" : "in ", *other = names[!own], *text = report_of(a, t, false);
    contains(text, at_format(a, "\nobjective %s; of the time ", names[own]));
    contains(text, " % alone, ");
    contains(text, " % in company, ");
    contains(text, at_format(a,
                             "\n%s%s another one is faster, by %.1f %%: index %lld (apply "
                             "--objective %s)\n",
                             in, other, 100 * (w->ratio - 1), index, other));
    const at_json *json, *named;
    at_error err;
    text = report_of(a, t, true);
    if (at_json_parse(a, text, strlen(text), &json, &err) != AT_OK) fail_msg("%s", err.text);
    assert_string_equal(at_json_get(json, "objective")->string, names[own]);
    named = at_json_get(json, "other_winners");
    assert_non_null(named->child);
    assert_null(named->child->next);
    named = named->child;
    assert_string_equal(at_json_get(named, "objective")->string, other);
    assert_int_equal(at_json_get(named, "index")->integer, index);
    assert_float_equal(at_json_get(named, "ratio")->number, w->ratio, 1e-9);
}

/* In the state that counted it takes as long today. */
static void verify(at_arena *a, const at_record *r) {
    const at_engine_options o = {.seed = SEED};
    at_verifier *v = at_verifier_new(a, &o, 0.05, NULL, NULL);
    at_verified x;
    at_error err;
    if (at_verify(v, r, &x, &err) != AT_OK) fail_msg("%s", err.text);
    if (x.verdict != AT_REPRODUCED) fail_msg("%s: %s", at_verdict_name(x.verdict), x.note);
    assert_true(x.in_pairs);
    assert_float_equal(x.ratio, 1, 0.01);
    at_verifier_free(v);
}

/* What counts is state `own`; its best wins, and a better one for the other state is named. */
static void search(int own) {
    static const at_objective objectives[] = {AT_OBJECTIVE_ALONE, AT_OBJECTIVE_COMPANY};
    const int other = !own;
    at_arena *a = at_arena_new();
    const char *log = at_format(a, "%s/%d.log", folder, own);
    const char *truth_path = at_format(a, "%s/%d.truth", folder, own);
    /* At most three kernels are the fastest, and the last of four finalists is another one, which
     * has enough turns to be told from them in the other state. */
    const at_engine_options o = {.tuner = "random",
                                 .trials = own ? TRIALS - 2 : TRIALS,
                                 .seed = SEED,
                                 .objective = objectives[own]};
    at_request q = {.template_name = "conv2d_3x3_gemm", .args = "N=1,H=5,W=7,CI=3,CO=6"};
    at_tuning t;
    at_error err;
    truth is;
    setenv("AT_TRUTH", truth_path, 1);
    setenv("AT_TEXTS", at_format(a, "%s/%d.texts", folder, own), 1);
    at_status s = at_tuning_open(&o, &q, log, &t, &err);
    if (s == AT_OK) s = at_tuning_run(&t, &(at_tune_events){0}, &err);
    if (s != AT_OK) fail_msg("%s", err.text);
    read_truth(truth_path, &is);
    assert_non_null(t.final.winner);
    int64_t winner = t.final.winner->result->config.index;
    assert_true(time_of(&is, winner, own) == least(&is, own));
    at_other_winner w;
    assert_true(at_final_other_winner(&t.final, objectives[other], &w));
    int64_t named = w.who->result->config.index;
    /* The order does turn round. */
    double faster = time_of(&is, winner, other) / time_of(&is, named, other);
    assert_true(faster > 1.05 && time_of(&is, winner, own) < time_of(&is, named, own));
    assert_float_equal(w.ratio, faster, 0.02);
    check_reports(a, &t, own, &w);
    assert_int_equal(at_tuning_close(&t, &err), AT_OK);

    for (int state = 0; state < 2; state++) {
        at_pick *picks;
        int n;
        const at_pick_request per_state = {
            .logs = &log, .num_logs = 1, .objective = objectives[state]};
        s = at_pick_best(a, &per_state, &picks, &n, &err);
        if (s != AT_OK) fail_msg("%s", err.text);
        assert_int_equal(n, 1);
        int64_t picked = picks[0].record.config.recorded_index;
        if (state == own) assert_int_equal(picked, winner);
        else assert_true(time_of(&is, picked, other) <= time_of(&is, named, other));
        if (state == own) verify(a, &picks[0].record);
    }
    at_arena_free(a);
}

/* Makes company of the states of every other trial in a log; returns how many were not alone. */
static int make_company(const char *path) {
    static const char key[] = "\"states\": \"";
    static char line[1 << 20];
    FILE *f = fopen(path, "r+");
    int trials = 0, company = 0;
    assert_non_null(f);
    for (long at = 0; fgets(line, sizeof line, f); at = ftell(f)) {
        char *states = strstr(line, key);
        if (*line != '{' || !states || strstr(line, "\"same_as\"") ||
            strstr(line, "\"part\": \"anchor\""))
            continue;
        states += strlen(key);
        const size_t pairs = strcspn(states, "\"");
        if (trials++ % 2) {
            company += !memchr(states, 'a', pairs);
            continue;
        }
        memset(states, 'c', pairs);
        assert_int_equal(fseek(f, at, SEEK_SET), 0);
        assert_true(fputs(line, f) >= 0);
        assert_int_equal(fseek(f, 0, SEEK_CUR), 0);
        company++;
    }
    fclose(f);
    return company;
}

/* Answers of a log are learned as the trials were: by the objective of the log. */
static void answers_keep_the_objective(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const char *log = at_format(a, "%s/0.log", folder);
    const at_engine_options o = {.tuner = "random", .trials = TRIALS, .seed = SEED};
    at_request q = {.template_name = "conv2d_3x3_gemm", .args = "N=1,H=5,W=7,CI=3,CO=6"};
    at_tuning t;
    at_error err;
    const int company = make_company(log);
    assert_true(company < TRIALS);
    at_status s = at_tuning_open(&o, &q, log, &t, &err);
    if (s == AT_OK) s = at_tuning_run(&t, &(at_tune_events){0}, &err);
    if (s != AT_OK) fail_msg("%s", err.text);
    assert_int_equal(t.tally.answered, TRIALS);
    assert_int_equal(t.shift.others.len, company);
    assert_true(t.shift.counting.len > TRIALS / 8);
    assert_int_equal(at_tuning_close(&t, &err), AT_OK);
    at_arena_free(a);
}

static void alone(void **state) {
    (void)state;
    search(0);
}

static void company(void **state) {
    (void)state;
    search(1);
}

int main(int argc, char **argv) {
    if (argc > 2 && !strcmp(argv[1], "--worker")) made_up_worker(atoi(argv[2]));
    const struct CMUnitTest tests[] = {cmocka_unit_test(alone), cmocka_unit_test(company),
                                       cmocka_unit_test(answers_keep_the_objective)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
