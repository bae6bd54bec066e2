/* Random faulty kernels, one after the other through one worker: each gets the error that is its
 * own, right ones in between stay right, and no process is left. AT_FAULTS=1000 for more. */
#include "rig.h"
#include "tests/setting.h"

#include <stdlib.h>
#include <unistd.h>

typedef struct fault {
    const char *body; /* @: a random number from 1 to 999 */
    at_job_end end;
} fault;

/* Of all words of the workspace, which nobody has written. */
#define KEEP(than)                                                                                 \
    ADD "for (i = 0; i < 64; i++) {"                                                               \
        " float w = ((float *)workspace)[i]; if (w " than " out[@]) out[@] = w; }"
/* Reads an element whose value changes nothing. */
#define READ(element) ADD "if (" element " == 1.25e30f) out[0] = 0;"

static const fault faults[] = {
    {ADD, AT_JOB_RAN},
    /* wrong */
    {"", AT_JOB_WRONG},
    {ADD "out[@] += 1;", AT_JOB_WRONG},
    {ADD "out[@] = 0.0f / (a[8] - a[8]);", AT_JOB_WRONG},
    {"for (i = 0; i < n; i++) if (i != @) out[i] = a[i] + b[i];", AT_JOB_WRONG},
    {"for (i = 0; i < n; i++) out[i] += a[i] + b[i];", AT_JOB_WRONG},
    {"for (i = 0; i < n; i++) out[i] = 0;", AT_JOB_WRONG},
    {ADD "out[@] = ((float *)workspace)[0];", AT_JOB_WRONG},
    {KEEP(">"), AT_JOB_WRONG},
    {KEEP("<"), AT_JOB_WRONG},
    {"static int calls; if (!calls++) {" ADD "}", AT_JOB_WRONG},
    {"static int calls;" ADD "if (calls++) out[@] += 1;", AT_JOB_WRONG},
    /* out of bounds */
    {ADD "out[n] = 1;", AT_JOB_CRASHED},
    {ADD "out[-1] = 1;", AT_JOB_CRASHED},
    {ADD "((float *)workspace)[64] = 1;", AT_JOB_CRASHED},
    {ADD "for (i = 0; i < 10000000; i++) out[i] = 1;", AT_JOB_CRASHED},
    {ADD "for (i = 0; i < 10000000; i++) out[-i] = 1;", AT_JOB_CRASHED},
    {"((float *)a)[@] = 1;", AT_JOB_CRASHED},
    /* reads out of bounds, further than a large page */
    {READ("a[600000 + @]"), AT_JOB_CRASHED},
    {READ("b[-400000 - @]"), AT_JOB_CRASHED},
    {READ("out[600000 + @]"), AT_JOB_CRASHED},
    {READ("((float *)workspace)[-400000 - @]"), AT_JOB_CRASHED},
    /* crashes */
    {"*(volatile int *)@ = 1;", AT_JOB_CRASHED},
    {"buf = (void *)(@L << 40); out[0] = *(float *)buf;", AT_JOB_CRASHED},
    {"((void (*)(void))@)();", AT_JOB_CRASHED},
    {"n = 0; out[0] = (float)(@ / n);", AT_JOB_CRASHED},
    {"asm(\".byte 0x0f, 0x0b\");", AT_JOB_CRASHED},
    {"asm(\".byte 0xcc\");", AT_JOB_CRASHED},
    {"asm(\"xor %esp, %esp\\n push %rax\");", AT_JOB_CRASHED},
    /* ends, or stops, the process */
    {"asm(\"mov $231, %eax\\n xor %edi, %edi\\n syscall\");", AT_JOB_CRASHED},
    {"asm(\"mov $39, %eax\\n syscall\\n mov %eax, %edi\\n mov $9, %esi\\n mov $62, %eax\\n"
     " syscall\");",
     AT_JOB_CRASHED},
    {"return @;", AT_JOB_CRASHED},
    {"asm(\"mov $39, %eax\\n syscall\\n mov %eax, %edi\\n mov $19, %esi\\n mov $62, %eax\\n"
     " syscall\"); for (;;) {}",
     AT_JOB_CRASHED},
    {"for (;;) {}", AT_JOB_TIMEOUT},
    {"asm(\"mov $34, %eax\\n syscall\"); for (;;) {}", AT_JOB_CRASHED},
    /* no program */
    {"out[@] = nothing;", AT_JOB_NOT_COMPILED},
    {"out[@ = 1;", AT_JOB_NOT_COMPILED},
};
/* Those that only guard pages right beside each tensor find. */
static const fault paranoid_faults[] = {
    {READ("a[n + @ - 1]"), AT_JOB_CRASHED},
    {READ("a[-@]"), AT_JOB_CRASHED},
    {READ("b[n + @ - 1]"), AT_JOB_CRASHED},
    {READ("b[-@]"), AT_JOB_CRASHED},
    {READ("out[n + @ - 1]"), AT_JOB_CRASHED},
    {READ("out[-@]"), AT_JOB_CRASHED},
    {READ("((float *)workspace)[63 + @]"), AT_JOB_CRASHED},
    {READ("((float *)workspace)[-@]"), AT_JOB_CRASHED},
    {READ("a[n - @] + b[@ - 1] + out[n - @] + ((float *)workspace)[@ % 64]"), AT_JOB_RAN},
};
enum {
    NUM_FAULTS = sizeof faults / sizeof *faults,
    NUM_PARANOID = sizeof paranoid_faults / sizeof *paranoid_faults
};

static const char *source_of(const fault *f, at_rng *rng) {
    static char text[4000];
    char body[2000];
    int element = 1 + (int)at_rng_below(rng, RIG_N - 1), n = 0;
    for (const char *p = f->body; *p; p++)
        n += *p == '@' ? sprintf(body + n, "%d", element) : (body[n] = *p, 1);
    body[n] = 0;
    snprintf(text, sizeof text, "%s%s\n  return 0;\n}\n",
             "typedef struct { void (*parallel_for)(void (*)(long, int, void *), long, void *);"
             " int threads; } at_par;\n"
             "int k_entry(void *const buf[], void *workspace, at_par *par) {\n"
             "  const float *a = buf[0], *b = buf[1]; float *out = buf[2]; long i, n = 1000;\n",
             body);
    return text;
}

/* Each of them once, then at random. */
static void run_faults(void **state, const fault *of, int n, bool paranoid, int jobs) {
    rig *r = *state;
    int valid = 0;
    at_rng rng;
    at_rng_seed(&rng, 8, 1);
    for (int i = 0; i < jobs; i++) {
        const fault *f = &of[i < n ? i : (int)at_rng_below(&rng, (uint64_t)n)];
        rig_reset(state);
        r->job.number = r->job.repeat = 2;
        r->job.paranoid = paranoid;
        if (f->end == AT_JOB_TIMEOUT) r->job.run_timeout_s = 0.05;
        if (rig_run(r, source_of(f, &rng)) != (int)f->end)
            fail_msg("job %d: error %d \"%s\", expected %d:\n%s", i, r->outcome.end,
                     r->outcome.error, f->end, f->body);
        /* What failed says why. */
        assert_true(!f->end == !*r->outcome.error);
        valid += !f->end;
    }
    assert_true(valid > 0);
}

static void in_any_order(void **state) {
    rig *r = *state;
    int jobs = (int)setting("AT_FAULTS", 120);
    run_faults(state, faults, NUM_FAULTS, false, jobs);
    run_faults(state, paranoid_faults, NUM_PARANOID, true, jobs / 3);
    at_worker_free(r->worker);
    r->worker = NULL;
    assert_int_equal(rig_child_of(getpid()), 0);
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(in_any_order, rig_reset)};
    return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
