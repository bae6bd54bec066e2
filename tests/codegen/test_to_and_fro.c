/* In every second step of a recurrence the turns of a parallel loop go backwards, where they read
 * more than a cache holds, and what comes out is the recurrence. */
#include "tests/codegen/support.h"

#include <math.h>
#include <string.h>

#include "codegen/codegen.h"
#include "runtime/runtime.h"

enum { T = 5, N = 64, BLOCKS = 4, BLOCK = N / BLOCKS };

static const program recurrence = {"recurrence", "T=5 N=64 n0=4 n1=16",
                                   "x[T, N] : input\n"
                                   "w[N, N] : input\n"
                                   "s[t:T, n:N] = sum(k:N) (t > 0 ? h[t - 1, k]*w[k, n] : 0)\n"
                                   "h[t:T, n:N] = s[t, n] + x[t, n]\n",
                                   "t =>\n"
                                   "    n0:para =>\n"
                                   "        k, n1:vec => @s = t, {n0, n1}/n // k\n"
                                   "        n1:vec => @h = t, {n0, n1}/n\n"};

static float x[T * N], w[N * N], h[T * N];
static int first[T + 1], steps; /* the block that each step made first */

static bool is_made(int t, int block) { return !isnan(h[t * N + block * BLOCK]); }

/* All turns in order, as they are called; the first tells which block it makes. */
static void in_order(void (*body)(long i, int thread, void *context), long n, void *context) {
    for (long i = 0; i < n; i++) {
        body(i, 0, context);
        for (int b = 0; !i && steps < T && b < BLOCKS; b++)
            if (is_made(steps, b)) first[steps] = b;
    }
    steps++;
}

static void fill(void) {
    for (int i = 0; i < T * N; i++) x[i] = (float)(i * 37 % 17 - 8) / 8, h[i] = NAN;
    for (int i = 0; i < N * N; i++) w[i] = (float)(i * 61 % 19 - 9) / 256;
    steps = 0;
}

static void check_values(void) {
    double before[N] = {0};
    for (int t = 0; t < T; t++) {
        double now[N];
        for (int n = 0; n < N; n++) {
            now[n] = (double)x[t * N + n];
            for (int k = 0; t && k < N; k++) now[n] += before[k] * (double)w[k * N + n];
            if (!(fabs((double)h[t * N + n] - now[n]) < 1e-5))
                fail_msg("h[%d, %d] is %g, not %g", t, n, (double)h[t * N + n], now[n]);
        }
        memcpy(before, now, sizeof before);
    }
}

/* above: bytes of w, N*N*4, or fewer. */
static void run(int64_t above) {
    at_arena *a = at_arena_new();
    at_kernel *k;
    at_resident *code;
    void *found;
    const at_lower_options o = {
        .dialect = AT_DIALECT_C, .name = "k", .verify = true, .prefetch_above = above};
    CALL(at_lower(a, program_of(a, &recurrence), &o, &k, &err));
    const at_unit unit = {.source = k->source, .names = &k->entry, .num_names = 1};
    CALL(at_resident_new(&unit, &found, &code, &err));
    at_kernel_fn *entry;
    memcpy(&entry, &found, sizeof entry);
    void *bufs[] = {x, w, h};
    char *memory = at_alloc(a, (size_t)(k->workspace_bytes + k->workspace_per_thread_bytes) + 64);
    memory += (64 - (uintptr_t)memory % 64) % 64;
    at_par par = {.parallel_for = in_order, .threads = 1};
    fill();
    assert_int_equal(entry(bufs, memory, &par), 0);
    assert_int_equal(steps, T);
    check_values();
    at_resident_free(code);
    at_arena_free(a);
}

static void turns(void **state) {
    (void)state;
    run(N * N * 4 - 1);
    for (int t = 0; t < T; t++) assert_int_equal(first[t], t % 2 ? BLOCKS - 1 : 0);
    run(N * N * 4); /* the cache holds it */
    for (int t = 0; t < T; t++) assert_int_equal(first[t], 0);
    run(0);
    for (int t = 0; t < T; t++) assert_int_equal(first[t], 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(turns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
