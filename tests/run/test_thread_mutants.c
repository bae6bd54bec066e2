/* Mutants of kernels for several threads: threads share their scratch, turns of a parallel loop are
 * done twice, are shifted, or the last one is left out. The worker's check finds each of them,
 * every time, and none of the kernels as they are. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/engine.h"
#include "engine/measure/bench.h"
#include "engine/measure/measure.h"
#include "sketch/sketch.h"
#include "tests/whole_file.h"
#include "tests/run/text_subject.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *of, *instead, *needs; /* needs: the text must have this besides, else it is the same
                                         program */
} changes[] = {{"+ thread * ", "+ 0 * ", "(local + "},
               {"= item + ", "= item / 2 * 2 + ", ""},
               {"= item + ", "= item + 1 + ", ""},
               {" - (0), &context", " - 1, &context", ""}};
enum { CHANGES = sizeof changes / sizeof *changes, THREADS = 2 };

static const struct {
    const char *name, *args;
} tasks[] = {
    {"examples/te/softmax.te", "M=12,N=96"},   {"examples/te/attention.te", "B=4,S=32,T=32,D=16"},
    {"examples/te/linear_attention.te", NULL}, {"examples/te/selective_scan.te", NULL},
    {"examples/te/causal_softmax.te", NULL},   {"examples/te/layer_norm.te", NULL},
    {"examples/te/group_norm.te", NULL},       {"examples/te/histogram.te", NULL},
    {"examples/te/embedding_bag.te", NULL},    {"examples/te/gru_cell.te", NULL}};
enum { TASKS = sizeof tasks / sizeof *tasks, SOME = 5 };

typedef struct tally {
    int mutants, noticed;
} tally;

/* All cores that there are: tests are started on one. */
static bool has_cores(void) {
    int cores[THREADS];
    cpu_set_t all;
    memset(&all, 0xff, sizeof all);
    sched_setaffinity(0, sizeof all, &all);
    return at_has_threads() && at_cpu_cores(cores, THREADS) >= THREADS;
}

/* What became of the kernel with another text. */
static at_err_no verdict(at_session *s, const at_candidate *k, const char *text) {
    at_candidate changed = *k;
    at_record r = {0};
    at_error err = {0};
    changed.job.source = text;
    changed.job.run_only = true;
    if (at_candidate_run(s, s->arena, &changed, &r, &err) != AT_OK) fail_msg("%s", err.text);
    return r.error_no;
}

/* Each place of the text with that change. */
static void try_all(at_session *s, const at_candidate *k, int change, const char *name, tally *t) {
    const char *text = k->job.source, *of = changes[change].of;
    if (!strstr(text, changes[change].needs)) return;
    for (const char *at = strstr(text, of); at; at = strstr(at + 1, of)) {
        const char *changed = at_format(s->arena, "%.*s%s%s", (int)(at - text), text,
                                        changes[change].instead, at + strlen(of));
        t->mutants++;
        if (verdict(s, k, changed)) t->noticed++;
        else
            print_message("%s: not noticed: %s -> %s at %d\n", name, of, changes[change].instead,
                          (int)(at - text));
    }
}

static void try_task(int task, tally *t) {
    const at_engine_options o = {
        .threads = THREADS, .seed = 1, .timeout_s = 600 /* the machine may be busy */};
    at_arena *a = at_arena_new();
    at_request q = {.args = tasks[task].args};
    at_session s;
    char *text;
    size_t length;
    at_candidate k;
    at_config c;
    at_record r = {0};
    at_error err = {0};
    bool ready;
    if (read_whole(a, tasks[task].name, &text, &length, &err) ||
        at_te_parse(a, tasks[task].name, text, length, &q.row, &err))
        fail_msg("%s", err.text);
    if (at_session_open(&o, &q, false, &s, &err) || at_session_context(&s, true, &err) ||
        at_session_reserve(&s, &err) || at_session_start(&s, &err) ||
        at_task_default_config(s.arena, s.what.task, s.how.target->default_lanes, &c, &err))
        fail_msg("%s: %s", tasks[task].name, err.text);
    assert_true(at_candidate_make(&s, s.arena, &c, &k, &r));
    assert_int_equal(at_candidate_compile(&s, s.arena, &k, &r, &ready, &err), AT_OK);
    assert_true(ready && k.job.source);
    assert_int_equal(verdict(&s, &k, k.job.source), AT_ERR_NONE);
    for (int i = 0; i < CHANGES; i++) try_all(&s, &k, i, tasks[task].name, t);
    at_session_close(&s);
    at_arena_free(a);
}

static void noticed(void **state) {
    (void)state;
    tally t = {0};
    if (!has_cores()) {
        print_message("skipped: one core, or built without threads\n");
        skip();
    }
    for (int i = 0; i < TASKS && (i < SOME || mutants_are_all()); i++) try_task(i, &t);
    print_message("%d of %d mutants of threads noticed\n", t.noticed, t.mutants);
    assert_true(t.mutants >= 20);
    assert_int_equal(t.noticed, t.mutants);
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(noticed)};
    return cmocka_run_group_tests_name("run/thread_mutants", tests, NULL, NULL);
}
