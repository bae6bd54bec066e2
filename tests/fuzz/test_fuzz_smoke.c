/* Every target on its seeds, on what fuzzing has kept, and on mutations of seeds, each in a process
 * of its own. AT_COUNT: how many mutations, AT_SEED: others. An input that harms is kept as
 * fuzz-TARGET.input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/fuzz/fuzz.h"
#include "tests/setting.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_BYTES = 8192, SECONDS_PER_INPUT = 10 }; /* of the core's time, not the wall's */

/* The input being tried, where the parent finds it afterwards. */
static struct {
    size_t size;
    uint8_t data[MOST_BYTES];
} * input;

/* ---- running --------------------------------------------------------------------------------- */

static void try_input(const fuzz_target *t) {
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = SECONDS_PER_INPUT}, NULL);
    t->run(input->data, input->size);
    setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
}

static bool take(const fuzz_target *t, bool (*from)(const fuzz_target *t, int i, at_text *out),
                 int i) {
    at_text seed = {0};
    bool any = from(t, i, &seed);
    input->size = seed.len < MOST_BYTES ? seed.len : MOST_BYTES;
    memcpy(input->data, at_text_str(&seed), input->size);
    at_text_free(&seed);
    return any;
}

static bool seed_of(const fuzz_target *t, int i, at_text *out) { return t->seed(i, out); }

static void run_all(const fuzz_target *t, long count, uint64_t seed) {
    at_rng rng;
    int num_seeds = 0;
    at_rng_seed(&rng, seed, 1);
    for (; take(t, seed_of, num_seeds); num_seeds++) try_input(t);
    try_input(t); /* nothing at all */
    for (int i = 0; take(t, fuzz_kept, i); i++) try_input(t);
    for (long i = 0; i < count; i++) {
        take(t, seed_of, (int)at_rng_below(&rng, (uint64_t)num_seeds));
        input->size = fuzz_mutate(t, &rng, input->data, input->size, MOST_BYTES);
        try_input(t);
    }
}

static void child(const fuzz_target *t, long count, uint64_t seed) {
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL}; /* cmocka would go on */
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) signal(deadly[i], SIG_DFL);
    run_all(t, count, seed);
    exit(0);
}

static void survives(void **state) {
    const fuzz_target *t = *state;
    long count = how_many("AT_COUNT", 2000) / t->cost;
    int status;
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) child(t, count, (uint64_t)setting("AT_SEED", 1));
    while (waitpid(pid, &status, 0) < 0) assert_int_equal(errno, EINTR);
    if (!status) return;
    at_text path = {0};
    at_error err;
    at_text_addf(&path, "fuzz-%s.input", t->name);
    if (at_write_file(path.data, (const char *)input->data, input->size, &err) != AT_OK)
        print_error("%s\n", err.text);
    print_error("%s: %s %d; the input is in %s\n", t->name,
                WIFSIGNALED(status) ? "signal" : "exit code",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), path.data);
    at_text_free(&path);
    fail();
}

int main(void) {
    struct CMUnitTest tests[32];
    size_t n = 0;
    input = mmap(NULL, sizeof *input, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    AT_ASSERT(input != MAP_FAILED);
    for (; fuzz_targets[n]; n++)
        tests[n] = (struct CMUnitTest){fuzz_targets[n]->name, survives, NULL, NULL,
                                       (void *)(uintptr_t)fuzz_targets[n]};
    return _cmocka_run_group_tests("fuzz/smoke", tests, n, NULL, NULL);
}
