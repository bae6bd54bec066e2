/* Functions of an element, as every printer makes them: against the C library in double, over
 * chosen floats (all exponents, neighbourhoods of where the code takes another way), or, with
 * AT_FUNCTIONS=all, over all there are. What is printed then stands in docs/notes/functions.md. */
#include <dlfcn.h>
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "codegen/lowered.h"
#include "codegen/tile/tile.h"
#include "tests/codegen/support.h"
#include "tests/setting.h"

enum { CHUNK = 1 << 16 };
#define CHUNK_SIZES "X=65536 xo=4096 xi=16"

static float in[CHUNK], out[CHUNK];

/* ---- kernels --------------------------------------------------------------------------------- */

typedef struct kernel {
    const at_kernel *k;
    void *code; /* of the tile */
    void (*tile)(void *first, void *second);
    void *slot[2];
    int (*entry)(void *const buf[], void *workspace, void *par);
} kernel;

static const at_kernel *kernel_of(at_arena *a, at_function f, at_dialect dialect,
                                  const at_target *target) {
    const char *compute = at_format(a, "x[X] : input\ny[i:X] = %s(x[i])\n", at_function_name(f));
    const program p = {"function", CHUNK_SIZES, compute, "xo, xi:vec =>\n    @y = {xo, xi}/i\n"};
    const at_lower_options o = {
        .dialect = dialect, .target = target, .name = at_format(a, "k%d", (int)f), .verify = true};
    at_kernel *k;
    CALL(at_lower(a, program_of(a, &p), &o, &k, &err));
    assert_int_equal(k->num_notes, 0);
    return k;
}

/* All functions in one object, whose kernels are of that set. */
static void *compile_all(at_arena *a, at_dialect dialect, const at_target *target,
                         const char *compiler) {
    at_text source = {0};
    at_error err;
    static int number;
    const char *path = at_format(a, "%s/f%d", folder, number++);
    for (int f = 0; f < AT_FUNCTION_COUNT; f++) {
        const at_kernel *k = kernel_of(a, (at_function)f, dialect, target);
        at_text_add(&source, f ? k->source + k->common_bytes : k->source);
    }
    assert_int_equal(
        at_write_file(at_format(a, "%s.c", path), at_text_str(&source), source.len, &err), AT_OK);
    at_text_free(&source);
    const char *command =
        at_format(a, "%s -O2 -Wall -Wextra -Werror -shared -fPIC -nostdlib -o %s.so %s.c 2>&1",
                  compiler, path, path);
    assert_int_equal(system(command), 0);
    void *object = dlopen(at_format(a, "%s.so", path), RTLD_NOW);
    if (!object) fail_msg("%s", dlerror());
    return object;
}

static kernel compiled(void *object, at_function f) {
    kernel k = {0};
    char name[20];
    snprintf(name, sizeof name, "k%d_entry", (int)f);
    *(void **)&k.entry = dlsym(object, name);
    assert_non_null(k.entry);
    return k;
}

static kernel encoded(const at_kernel *k) {
    kernel out_kernel = {.k = k};
    assert_int_equal(k->num_tiles, 1);
    size_t bytes = (size_t)k->tiles[0].size_bytes;
    out_kernel.code = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(out_kernel.code != MAP_FAILED);
    memcpy(out_kernel.code, k->tiles[0].bytes, bytes);
    assert_int_equal(mprotect(out_kernel.code, bytes, PROT_READ | PROT_EXEC), 0);
    *(void **)&out_kernel.tile = out_kernel.code;
    const at_tile *t = k->lowered->tiles[0];
    assert_int_equal(t->num_slots, 2);
    for (int i = 0; i < 2; i++) out_kernel.slot[i] = t->slot_written[i] ? out : in;
    return out_kernel;
}

static void run(const kernel *k) {
    void *const buf[] = {in, out};
    if (k->tile) k->tile(k->slot[0], k->slot[1]);
    else k->entry(buf, NULL, NULL);
}

static void done(kernel *k) {
    if (k->code) munmap(k->code, (size_t)k->k->tiles[0].size_bytes);
}

/* ---- errors ---------------------------------------------------------------------------------- */

typedef struct worst {
    double ulps;      /* from the real value */
    int64_t distance; /* from the float next to it */
    float at;
} worst;

/* Floats in order as integers; both zeros are 0. */
static int64_t ordered(float x) {
    int32_t bits = (int32_t)at_bits_of(x);
    return bits < 0 ? -(int64_t)(bits & INT32_MAX) : bits;
}

/* A unit in the last place of a float with this value. */
static double ulp_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1022; /* as frexp's */
    bits = (uint64_t)((exponent < -125 ? -125 : exponent) - FLT_MANT_DIG + 1023) << 52;
    double ulp;
    memcpy(&ulp, &bits, sizeof ulp);
    return ulp;
}

/* Within the limits of the function, or not; *w learns of it. */
static bool is_right(at_function f, double value, float x, float y, worst *w) {
    float nearest = (float)value;
    if (isnan(value) || isnan(y)) return isnan(value) && isnan(y);
    if (nearest == 0 && y == 0) return signbit(nearest) == signbit(y);
    int64_t distance = llabs(ordered(y) - ordered(nearest));
    if (distance > w->distance) w->distance = distance, w->at = x;
    if (isfinite(y) && isfinite(nearest)) {
        double ulps = fabs(y - value) / ulp_of(value);
        if (ulps > w->ulps) w->ulps = ulps;
    }
    return distance <= at_function_ulps(f);
}

typedef struct candidate {
    kernel k;
    const char *what;
    worst w;
} candidate;

static void check_chunk(at_function f, const double *value, candidate *c) {
    run(&c->k);
    for (int i = 0; i < CHUNK; i++)
        if (!is_right(f, value[i], in[i], out[i], &c->w))
            fail_msg("%s: %s(%a) is %a, not %a", c->what, at_function_name(f), (double)in[i],
                     (double)out[i], value[i]);
}

/* ---- what is tried --------------------------------------------------------------------------- */

/* Where the code takes another way, or values of note lie. */
static const float turns[] = {0,
                              0x1p-149f,
                              0x1p-126f,
                              0x1p-25f,
                              0x1p-12f,
                              0.25f,
                              0.5f,
                              0.625f,
                              0x1.6a09e6p-1f,
                              1,
                              0x1.6a09e6p+0f,
                              2,
                              4,
                              8,
                              9.01f,
                              16.6f,
                              17.33f,
                              44.36f,
                              87.34f,
                              88.73f,
                              89,
                              103.97f,
                              104,
                              104.32f,
                              104.5f,
                              0x1p22f,
                              0x1p23f,
                              0x1p24f,
                              FLT_MAX,
                              INFINITY};
enum { AROUND = 1 << 11, NUM_TURNS = sizeof turns / sizeof *turns };

/* Chunk `number` of the chosen floats, or of all; false: there is none. */
static bool fill(int64_t number, bool all) {
    if (all) {
        if (number == (int64_t)1 << 16) return false;
        for (int i = 0; i < CHUNK; i++) in[i] = at_of_bits((uint32_t)(number << 16) + (uint32_t)i);
        return true;
    }
    enum { TURNS = NUM_TURNS * 2 * 2 * AROUND / CHUNK + 1, SPREAD = 8 };
    if (number == TURNS + SPREAD) return false;
    for (int i = 0; i < CHUNK; i++) {
        int64_t n = number * CHUNK + i;
        if (number < TURNS) {
            float turn = turns[n / (4 * AROUND) % NUM_TURNS];
            uint32_t bits = at_bits_of(turn) + (uint32_t)(n % (2 * AROUND)) - AROUND;
            in[i] = at_of_bits(bits ^ (n / (2 * AROUND) % 2 ? 1u << 31 : 0));
        } else { /* every exponent and sign, digits by a constant that is no multiple of 2 */
            in[i] = at_of_bits((uint32_t)(n << 23) ^ ((uint32_t)(n * 2654435761u) >> 9));
        }
    }
    return true;
}

static bool everything(void) {
    const char *s = getenv("AT_FUNCTIONS");
    return s && !strcmp(s, "all");
}

static bool wanted(const char *variable, const char *name) {
    const char *s = getenv(variable);
    return !s || strstr(s, name);
}

/* Where the result is 0, or 1, no product may underflow on the way to it: a core takes a hundred
 * times as long for that. */
static void check_underflow(at_function f, const candidate *of) {
    if (f != AT_FUNCTION_EXP && f != AT_FUNCTION_SIGMOID && f != AT_FUNCTION_TANH &&
        f != AT_FUNCTION_ERF)
        return;
    for (int sign = -1; sign <= 1; sign += 2) {
        const uint32_t least = at_bits_of(104.5f), most = at_bits_of(INFINITY);
        for (int i = 0; i < CHUNK; i++)
            in[i] =
                (float)sign * at_of_bits(least + (uint32_t)((most - least) / (CHUNK - 1.0) * i));
        feclearexcept(FE_ALL_EXCEPT);
        run(&of->k);
        if (fetestexcept(FE_UNDERFLOW))
            fail_msg("%s: %s underflows between %a and %a", of->what, at_function_name(f),
                     (double)in[0], (double)in[CHUNK - 1]);
    }
}

/* What the library makes of a float is worked out once for all of them. */
static void check(at_function f, candidate *of, int n) {
    static double value[CHUNK];
    bool all = everything();
    for (int64_t number = 0; fill(number, all); number++) {
        for (int i = 0; i < CHUNK; i++) value[i] = at_function_value(f, in[i]);
        for (int i = 0; i < n; i++) check_chunk(f, value, &of[i]);
    }
    for (int i = 0; i < n; i++) {
        check_underflow(f, &of[i]);
        const worst *w = &of[i].w;
        if (all)
            printf("%-8s %-7s %.3f ulp, at most %lld from the nearest float (%a)\n",
                   at_function_name(f), of[i].what, w->ulps, (long long)w->distance, (double)w->at);
        done(&of[i].k);
    }
    fflush(stdout);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void test_machine_code(void **state) {
    (void)state;
    enum { MOST = 16 };
    const at_target *target[MOST];
    int n = 0;
    for (int i = 0; (target[n] = at_target_at(i)); i++) {
        if (!cpu_has(target[n])) print_message("this CPU has no %s\n", target[n]->name);
        else if (wanted("AT_FUNCTIONS_ISA", target[n]->name)) n++;
        assert_true(n < MOST);
    }
    for (int f = 0; f < AT_FUNCTION_COUNT; f++) {
        if (!wanted("AT_FUNCTIONS_OF", at_function_name((at_function)f))) continue;
        at_arena *a = at_arena_new();
        candidate of[MOST];
        for (int i = 0; i < n; i++)
            of[i] =
                (candidate){.k = encoded(kernel_of(a, (at_function)f, AT_DIALECT_TCC, target[i])),
                            .what = target[i]->name};
        check((at_function)f, of, n);
        at_arena_free(a);
    }
}

static void check_compiled(at_dialect dialect, const at_target *target, const char *compiler) {
    at_arena *a = at_arena_new();
    void *object = compile_all(a, dialect, target, compiler);
    for (int f = 0; f < AT_FUNCTION_COUNT; f++)
        check((at_function)f, &(candidate){.k = compiled(object, (at_function)f), .what = compiler},
              1);
    dlclose(object);
    at_arena_free(a);
}

static void test_vector_types(void **state) {
    (void)state;
    static const char *const compilers[] = {"gcc", "clang"};
    if (everything()) skip();
    for (int c = 0; c < 2; c++) {
        char command[60];
        const at_target *target;
        snprintf(command, sizeof command, "%s --version >/dev/null 2>&1", compilers[c]);
        bool found = !system(command);
        if (!found) print_message("there is no %s\n", compilers[c]);
        for (int i = 0; found && (target = at_target_at(i)); i++)
            if (cpu_has(target)) check_compiled(AT_DIALECT_GNU, target, compilers[c]);
    }
}

/* Needs no library: -nostdlib, and no symbol that is missing. */
static void test_plain_c(void **state) {
    (void)state;
    if (everything()) skip();
    check_compiled(AT_DIALECT_C, NULL, "gcc -std=c99");
}

/* A function of a sum is part of the sum's tile, however many rows there are: its registers are
 * found by cutting the tile smaller, never by going through memory. */
static void test_epilogues(void **state) {
    (void)state;
    static const char *const bodies[] = {"tanh(c[y, x] + bias[x])", "log(c[y, x]) * erf(bias[x])",
                                         "c[y, x] * sigmoid(c[y, x])", "exp(exp(abs(c[y, x])))"};
    const at_target *target;
    for (int i = 0; (target = at_target_at(i)); i++)
        for (size_t j = 0; j < sizeof bodies / sizeof *bodies; j++)
            for (int rows = 1; rows <= 28; rows += (int)setting("AT_FEWER", 1)) {
                at_arena *a = at_arena_new();
                const program p = {"epilogue",
                                   at_format(a, "Y=%d X=64 K=8 yi=%d xo=2 xi=32", rows, rows),
                                   at_format(a,
                                             "a[Y, K] : input\nb[K, X] : weight\nbias[X] : input\n"
                                             "c[y:Y, x:X] = sum(k:K) a[y, k] * b[k, x]\n"
                                             "d[y:Y, x:X] = %s\n",
                                             bodies[j]),
                                   "xo =>\n"
                                   "    k, yi:unroll, xi:vec =>\n"
                                   "        @c = {yi}/y, {xo, xi}/x // k\n"
                                   "    yi:unroll, xi:vec =>\n"
                                   "        @d = {yi}/y, {xo, xi}/x\n"};
                const at_lower_options o = {
                    .dialect = AT_DIALECT_TCC, .target = target, .name = "k", .verify = true};
                at_kernel *k;
                CALL(at_lower(a, program_of(a, &p), &o, &k, &err));
                bool stored = false;
                for (int t = 0; t < k->lowered->num_tiles; t++)
                    for (int v = 0; v < k->lowered->tiles[t]->num_slots; v++)
                        stored |= !strcmp(k->lowered->tiles[t]->slot_name[v], "c");
                if (k->num_notes || stored)
                    fail_msg("%s, %d rows, %s: %s", target->name, rows, bodies[j],
                             k->num_notes ? k->notes[0] : "c is in memory");
                at_arena_free(a);
            }
}

/* A function of numbers alone is a number. */
static void test_numbers(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const program p = {"numbers", "X=64 xo=4 xi=16",
                       "x[X] : input\ny[i:X] = x[i] * rsqrt(X + 80) + log(1.0)\n",
                       "xo, xi:vec =>\n    @y = {xo, xi}/i\n"};
    const at_lower_options o = {
        .dialect = AT_DIALECT_TCC, .target = at_target_find("avx512"), .name = "k", .verify = true};
    at_kernel *k;
    CALL(at_lower(a, program_of(a, &p), &o, &k, &err));
    assert_int_equal(k->lowered->num_tiles, 1);
    const at_tile *t = k->lowered->tiles[0];
    float in_slot[64], out_slot[64], *slots[2];
    for (int i = 0; i < t->num_ops; i++) {
        const int kind = t->ops[i].kind;
        assert_true(kind <= AT_T_STORE || kind == AT_T_MUL);
    }
    for (int i = 0; i < 64; i++) in_slot[i] = (float)i;
    for (int i = 0; i < 2; i++) slots[i] = t->slot_written[i] ? out_slot : in_slot;
    at_tile_interpret(t, slots, NULL);
    for (int i = 0; i < 64; i++) assert_true(out_slot[i] == (float)i * (1 / 12.0f));
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machine_code), cmocka_unit_test(test_vector_types),
        cmocka_unit_test(test_plain_c),      cmocka_unit_test(test_epilogues),
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
