/* tests/codegen/phases.c: phases and the processes they run in. */
#include "tests/codegen/phases.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cpu.h"

enum { SECONDS = 20 }; /* of the core, for all phases of one program */

const at_target *phase_target(int i) {
    static const char *const names[NUM_TARGETS] = {"scalar", "sse2", "avx2", "avx512", "neon"};
    return at_target_find(names[i]);
}

const char *phase_name(phase f) {
    static const char *const names[] = {"tree", "buffers", "partition"};
    static char tiles[40];
    if (f < PHASE_TILES) return names[f];
    if (f == PHASE_C) return "C through gcc -O1";
    if (f == PHASE_GNU) return "vector types through gcc -O1";
    if (f == PHASE_TCC) return "machine code";
    snprintf(tiles, sizeof tiles, "tiles for %s", phase_target((int)f - PHASE_TILES)->name);
    return tiles;
}

outcome *outcomes_new(int n) {
    void *p = mmap(NULL, sizeof(outcome) * (size_t)n, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    AT_ASSERT(p != MAP_FAILED);
    return p;
}

void outcomes_free(outcome *out, int n) { munmap(out, sizeof(outcome) * (size_t)n); }

/* ---- one phase ----------------------------------------------------------------------------- */

static const char *interpret_tree(built *b, const at_data *expected) {
    at_data *found = at_copy(b->arena, b->data, sizeof(at_data) * (size_t)b->compute->num_tensors);
    if (at_program_interpret(b->arena, b->program, found, &b->err) != AT_OK) return b->err.text;
    const char *fault = NULL;
    for (int t = 0; t < b->compute->num_tensors && !fault; t++)
        if (b->compute->tensors[t].is_output)
            fault = find_difference(b, b->compute->tensors[t].name, elements_of(&found[t]),
                                    &expected[t], build_elements(b, t));
    return fault;
}

/* The sets of vectors that this CPU has, in turn. */
static const at_target *target_of(const random_program *p) {
    const at_target *has[NUM_TARGETS];
    int n = 0;
    for (int i = 1; i < NUM_TARGETS; i++)
        if (cpu_has(phase_target(i))) has[n++] = phase_target(i);
    return has[p->seed % (uint64_t)n];
}

at_lower_options options_of(const random_program *p, phase f, const char *name) {
    at_lower_options o = {.dialect = AT_DIALECT_C, .name = name, .verify = true};
    o.pack_inline = p->pack_inline;
    o.prefetch_above = p->seed % 4 == 0; /* bytes: all weights, or none */
    o.prefetch_room = p->seed % 8 == 0 ? 1 << 20 : 0;
    o.can_stop = p->seed / 4 % 2;
    if (f > PHASE_TILES && f < PHASE_C) {
        o.dialect = AT_DIALECT_TCC;
        o.target = phase_target((int)f - PHASE_TILES);
    } else if (f > PHASE_C) {
        o.dialect = f == PHASE_GNU ? AT_DIALECT_GNU : AT_DIALECT_TCC;
        o.target = target_of(p);
    }
    return o;
}

static const char *run_passes(built *b, const random_program *p, phase f, const at_data *expected) {
    static const char *const last[] = {NULL, "buffers", "partition", "tiles"};
    at_lower_options o = options_of(p, f, "k");
    at_low *l;
    if (at_lower_until(b->arena, b->program, &o, last[f < PHASE_TILES ? f : PHASE_TILES], &l,
                       &b->err) != AT_OK)
        return b->err.text;
    operands mem;
    operands_open(&mem, b, l->params, l->num_params, l->workspace_bytes, l->thread_bytes, p->seed);
    const char *fault = NULL;
    if (l->pack_root) fault = ir_run(l, true, &mem.memory);
    if (!fault) fault = ir_run(l, false, &mem.memory);
    if (!fault) fault = operands_check(&mem, expected);
    operands_close(&mem);
    return fault;
}

/* ---- many programs ------------------------------------------------------------------------- */

typedef struct job {
    const random_program *const *programs;
    int n;
    phase first, last;
    outcome *out;
    char dir[64];
    const char *object; /* the compiled programs; NULL: phases before, and their C is written */
} job;

void set_fault(outcome *o, const char *fault) {
    o->verdict = fault ? VERDICT_WRONG : VERDICT_RIGHT;
    if (fault) snprintf(o->text, sizeof o->text, "%.*s", (int)sizeof o->text - 1, fault);
}

static void run_one(const job *j, int i, void *object) {
    const random_program *p = j->programs[i];
    outcome *out = &j->out[i];
    built b;
    const char *fault = NULL;
    out->verdict = VERDICT_RUNNING;
    out->phase = j->first;
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = SECONDS}, NULL);
    if (build_open(&b, p) != USE_OK) AT_BUG("a program is not the same twice");
    at_data *expected = at_copy(b.arena, b.data, sizeof(at_data) * (size_t)b.compute->num_tensors);
    if (at_compute_interpret(b.arena, b.compute, b.values, expected, &b.err) != AT_OK)
        fault = b.err.text;
    if (!fault && at_compute_check_reads(b.compute, b.values, expected, NULL, &b.err) != AT_OK)
        fault = b.err.text;
    for (int f = j->first; !fault && f <= (int)j->last; f++) {
        if (object && f < PHASE_C) continue;
        out->phase = (phase)f;
        fault = f == PHASE_TREE ? interpret_tree(&b, expected)
                : f < PHASE_C   ? run_passes(&b, p, (phase)f, expected)
                : object        ? run_compiled(&b, p, (phase)f, i, object, expected)
                                : write_source(&b, p, (phase)f, j->dir, i);
    }
    setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
    set_fault(out, fault);
    build_close(&b);
}

static void child(const job *j, int from, int log) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL}; /* cmocka would go on */
    for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++) signal(deadly[i], SIG_DFL);
    dup2(log, STDERR_FILENO);
    void *object = j->object ? dlopen(j->object, RTLD_NOW) : NULL;
    if (j->object && !object) AT_BUG("%s", dlerror());
    for (int i = from; i < j->n; i++)
        if (j->out[i].verdict == VERDICT_OPEN) run_one(j, i, object);
    _exit(0);
}

static void died(outcome *o, int status, int log) {
    char text[400] = "";
    ssize_t n = pread(log, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    o->verdict = VERDICT_WRONG;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF)
        snprintf(o->text, sizeof o->text, "takes more than %d s", SECONDS);
    else if (WIFSIGNALED(status))
        snprintf(o->text, sizeof o->text, "dies of signal %d %s", WTERMSIG(status), text);
    else snprintf(o->text, sizeof o->text, "exits with %d %s", WEXITSTATUS(status), text);
}

/* Goes on behind a program that took its process with it. */
static void run_children(const job *j) {
    for (int from = 0; from < j->n;) {
        int log = memfd_create("stderr", 0), status;
        fflush(NULL);
        pid_t pid = fork();
        AT_ASSERT(pid >= 0);
        if (!pid) child(j, from, log);
        while (waitpid(pid, &status, 0) < 0) AT_ASSERT(errno == EINTR);
        int i = from;
        while (i < j->n && j->out[i].verdict != VERDICT_RUNNING) i++;
        if (i < j->n) died(&j->out[i], status, log);
        else if (status) AT_BUG("a child died between programs");
        from = i + 1;
        close(log);
    }
}

void run_phases(const random_program *const *p, int n, phase first, phase last, outcome *out) {
    const char *tmp = getenv("TMPDIR");
    job j = {.programs = p, .n = n, .first = first, .last = last, .out = out};
    snprintf(j.dir, sizeof j.dir, "%s/at-codegen-XXXXXX", tmp && strlen(tmp) < 40 ? tmp : "/tmp");
    AT_ASSERT(mkdtemp(j.dir));
    memset(out, 0, sizeof *out * (size_t)n);
    run_children(&j);
    if (last >= PHASE_C && compile_all(p, n, first, last, j.dir, out)) {
        char object[100];
        snprintf(object, sizeof object, "%s/all.so", j.dir);
        j.object = object;
        for (int i = 0; i < n; i++)
            if (out[i].verdict == VERDICT_RIGHT) out[i].verdict = VERDICT_OPEN;
        run_children(&j);
    }
    char remove[100];
    snprintf(remove, sizeof remove, "rm -rf %s", j.dir);
    AT_ASSERT(!system(remove));
}
