/* bench/functions.c: functions of an element in a tile, against sleef's of at most 1.0 units in the
 * last place, called vector by vector in a loop that the bench's compiler makes. Data fit the
 * first-level cache. sleef is loaded at run time. */
#include "bench/bench.h"

#include <dlfcn.h>
#include <math.h>
#include <string.h>

enum { OURS, SLEEF, NUM_CONTENDERS, ELEMENTS = 4096 };

static const struct {
    const char *name, *sleef; /* its name without the number of lanes and _u10 */
    double target;            /* 0: for orientation */
} rows[] = {{"exp", "expf", 1}, {"log", "logf", 0}, {"tanh", "tanhf", 0}, {"erf", "erff", 0}};

#if defined(__x86_64__)
#include <immintrin.h>

typedef __m512 function16(__m512);
typedef __m256 function8(__m256);
typedef __m128 function4(__m128);

typedef struct calling {
    int lanes;
    void *function;
    const float *x;
    float *y;
} calling;

__attribute__((target("avx512f"))) static void call16(void *context) {
    const calling *c = context;
    function16 *f;
    memcpy(&f, &c->function, sizeof f);
    for (int i = 0; i < ELEMENTS; i += 16) _mm512_storeu_ps(c->y + i, f(_mm512_loadu_ps(c->x + i)));
}

__attribute__((target("avx2"))) static void call8(void *context) {
    const calling *c = context;
    function8 *f;
    memcpy(&f, &c->function, sizeof f);
    for (int i = 0; i < ELEMENTS; i += 8) _mm256_storeu_ps(c->y + i, f(_mm256_loadu_ps(c->x + i)));
}

static void call4(void *context) {
    const calling *c = context;
    function4 *f;
    memcpy(&f, &c->function, sizeof f);
    for (int i = 0; i < ELEMENTS; i += 4) _mm_storeu_ps(c->y + i, f(_mm_loadu_ps(c->x + i)));
}

/* Names end in the instruction set: sleef's own choice at run time costs a call more. */
static bool find(at_arena *a, const char *name, const at_target *target, calling *out) {
    static void *library;
    const char *parts = target->lanes == 16 ? "avx512f" : target->lanes == 8 ? "avx2" : "sse4";
    if (!library) library = dlopen("libsleef.so.3", RTLD_NOW | RTLD_LOCAL);
    out->lanes = target->lanes;
    if (!library || out->lanes < 4) return false;
    out->function = dlsym(library, at_format(a, "Sleef_%s%d_u10%s", name, target->lanes, parts));
    return out->function != NULL;
}

static at_bench_contender contender(calling *c) {
    return (at_bench_contender){c->lanes == 16  ? call16
                                : c->lanes == 8 ? call8
                                                : call4,
                                c, ELEMENTS};
}
#else
typedef struct calling {
    const float *x;
    float *y;
} calling;

static bool find(at_arena *a, const char *name, const at_target *target, calling *out) {
    (void)a, (void)name, (void)target, (void)out;
    return false;
}
static at_bench_contender contender(calling *c) { return (at_bench_contender){NULL, c, 0}; }
#endif

static at_status open_ours(at_arena *a, const char *name, at_bench_data *data,
                           at_bench_kernel *kernel, at_error *err) {
    const at_bench_size sizes[] = {{"X", ELEMENTS}, {"xo", ELEMENTS / 64}, {"xi", 64}};
    const at_lower_options lo = at_bench_lower_options(at_bench_target());
    at_program *program;
    AT_TRY(at_bench_program(a, at_format(a, "x[X] : input\ny[i:X] = %s(x[i])\n", name),
                            "xo, xi:vec =>\n    @y = {xo, xi}/i\n", sizes, 3, &program, err));
    AT_TRY(at_bench_data_new(a, program->compute, program->values, data, err));
    return at_bench_kernel_open(a, program, &lo, AT_TCC, NULL, data, kernel, err);
}

static at_status run(at_arena *a, int i, at_error *err) {
    at_bench_data data;
    at_bench_kernel kernel;
    at_bench_contender of[NUM_CONTENDERS];
    at_bench_contest c;
    calling peer;
    if (!find(a, rows[i].sleef, at_bench_target(), &peer)) {
        at_bench_report_skip(rows[i].name, "no sleef");
        return AT_OK;
    }
    AT_TRY(open_ours(a, rows[i].name, &data, &kernel, err));
    peer.x = data.tensor[0];
    peer.y = at_bench_alloc(ELEMENTS * 4);
    of[OURS] = at_bench_kernel_contender(&kernel);
    of[SLEEF] = contender(&peer);
    of[SLEEF].run(of[SLEEF].context);
    at_status s = at_bench_check("sleef", peer.y, data.tensor[1], ELEMENTS, 1e-4, err);
    if (s == AT_OK) {
        at_bench_contest_run(&c, of, NUM_CONTENDERS, at_bench_target());
        at_bench_report_row(
            at_format(a, "FUN %s sleef", rows[i].name), at_bench_contest_speed(&c, OURS, SLEEF),
            rows[i].target > 0 ? AT_BENCH_GOAL_LEAST : AT_BENCH_GOAL_NONE, rows[i].target);
    }
    at_bench_kernel_close(&kernel);
    return s;
}

at_status at_bench_functions(at_error *err) {
    at_status s = AT_OK;
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows) && s == AT_OK; i++)
        s = at_bench_row(run, i, rows[i].name, err);
    return s;
}
