/* Tiles in the dialect gnu: compiled by gcc and clang without a warning, run between guard pages,
 * the same bits as the interpreter of the expressions; and what the compilers make of a
 * multiply-add loop. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codegen/tile/tile_make.h"
#include "codegen/tile/tile_text.h"
#include "tests/codegen/support.h"

/* ---- programs -------------------------------------------------------------------------------- */

/* The first has all that can be in a tile, and is what other checks take. */
static const program programs[] = {
    {"epilogue", CONV_SIZES(22, 1, 22),
     CONV_COMPUTE "bias[X]  : input\n"
                  "scale[Y] : input\n"
                  "out[y:Y, x:X] = min(max(acc[y, x]*0.5 + bias[x], 0 - 3), scale[y]) / 2.0\n",
     GEMM_TREE},
    {"co6", CONV_SIZES(6, 2, 3), CONV_COMPUTE PLAIN, GEMM_TREE},
    {"co8", CONV_SIZES(8, 1, 8), CONV_COMPUTE PLAIN, GEMM_TREE},
    {"co17", CONV_SIZES(17, 1, 17), CONV_COMPUTE PLAIN, GEMM_TREE},
    {"co31", CONV_SIZES(31, 1, 31), CONV_COMPUTE PLAIN, GEMM_TREE},
    {"co31_by_13", CONV_SIZES(31, 3, 13), CONV_COMPUTE PLAIN, GEMM_TREE},
    {"matmul", "Y=11 X=29 K=13 yo=3 yi=4 xo=2 xi=16 ko=4 ki=4",
     "a[Y, K] : input\n"
     "b[K, X] : weight\n"
     "c[y:Y, x:X] = sum(k:K) a[y, k] * b[k, x]\n"
     "d[y:Y, x:X] = max(c[y, x], 0.0) - a[y, 0]\n",
     "yo, xo =>\n"
     "    ko, ki:unroll, yi:unroll, xi:vec =>\n"
     "        @c = {yo, yi}/y, {xo, xi}/x // {ko, ki}/k\n"
     "    yi:unroll, xi:vec =>\n"
     "        @d = {yo, yi}/y, {xo, xi}/x\n"},
    {"packed", "Y=5 X=21 K=7",
     "a[Y, K] : input\n"
     "w[K, X] : weight\n"
     "s[K]    : weight\n"
     "u[k:K, x:X] = (w[k, x]*0.5 - w[K - 1 - k, x]/4.0)*s[k] + max(w[k, x], min(w[0, x], 1.5))\n"
     "b[y:Y, x:X] = sum(k:K) a[y, k] * u[k, x]\n",
     "k, x:vec =>\n"
     "    @u = k, x\n"
     "y, k, x:vec =>\n"
     "    @b = y, x // k\n"},
    {"picked", "Y=3 X=21 K=3",
     "a[Y, 2*X + 2] : input\n"
     "b[3*X]        : input\n"
     "d[Y, 4*X]     : input\n"
     "s[y:Y, x:X] = sum(k:K) a[y, 2*x + k] * b[3*x]\n"
     "o[y:Y, x:X] = s[y, x] - d[y, 4*x + 1]\n",
     "y, k, x:vec =>\n"
     "    @s = y, x // k\n"
     "y, x:vec =>\n"
     "    @o = y, x\n"},
    {"stored_apart", "Y=3 X=42 e=2 x=21",
     "a[Y, X] : input\n"
     "s[X/2]  : input\n"
     "o[y:Y, x:X] = x%2 == 0 ? a[y, x] - a[y, x + 1]*s[x/2] : a[y, x] + a[y, x - 1]*s[x/2]\n",
     "y, e:unroll, x:vec =>\n"
     "    @o = y, {x, e}/x\n"},
    {"picked_few", "Y=3 X=5 K=2",
     "a[Y, 2*X + 1] : input\n"
     "b[4*X]        : input\n"
     "s[y:Y, x:X] = sum(k:K) max(a[y, 2*x + k], b[4*x])\n",
     "y, k, x:vec =>\n"
     "    @s = y, x // k\n"},
};
enum { NUM_PROGRAMS = sizeof programs / sizeof *programs };

/* As many accumulators as fit into registers. */
#define LOOP_COMPUTE                                                                               \
    "a[Y, K]      : input\n"                                                                       \
    "b[X/B, K, B] : weight\n"                                                                      \
    "c[y:Y, x:X]  = sum(k:K) a[y, k] * b[x/B, k, x%B]\n"
#define LOOP_TREE                                                                                  \
    "yo, xo =>\n"                                                                                  \
    "    ko, ki:unroll, yi:unroll, xi:vec =>\n"                                                    \
    "        @c = {yo, yi}/y, {xo, xi}/x // {ko, ki}/k\n"
static const struct {
    program p;
    const char *isa;
    bool all; /* not a register is left over: gcc spills a few, at no cost */
} loops[] = {
    {{"zmm_14x2", "Y=28 X=64 K=64 B=32 yo=2 yi=14 xo=2 xi=32 ko=32 ki=2", LOOP_COMPUTE, LOOP_TREE},
     "avx512",
     false},
    {{"zmm_28x1", "Y=56 X=32 K=64 B=16 yo=2 yi=28 xo=2 xi=16 ko=32 ki=2", LOOP_COMPUTE, LOOP_TREE},
     "avx512",
     false},
    {{"zmm_7x4", "Y=14 X=128 K=64 B=64 yo=2 yi=7 xo=2 xi=64 ko=32 ki=2", LOOP_COMPUTE, LOOP_TREE},
     "avx512",
     true},
    {{"ymm_5x2", "Y=10 X=32 K=64 B=16 yo=2 yi=5 xo=2 xi=16 ko=32 ki=2", LOOP_COMPUTE, LOOP_TREE},
     "avx2",
     false},
};
enum { NUM_LOOPS = sizeof loops / sizeof *loops };

typedef struct built {
    const at_compute *compute;
    at_program *program;
    at_data *data; /* inputs, and what the expressions give */
    at_kernel *kernel;
} built;

/* Text to kernel, and the expected values on small integers. */
static built *build(at_arena *a, const program *p, const at_target *target) {
    built *b = AT_NEW(a, built);
    int64_t **extents;
    b->program = program_of(a, p);
    b->compute = b->program->compute;
    CALL(at_compute_extents(a, b->compute, b->program->values, &extents, &err));
    b->data = AT_NEW_ARRAY(a, at_data, b->compute->num_tensors);
    for (int t = 0; t < b->compute->num_tensors; t++) {
        int64_t n = at_tensor_elements(&b->compute->tensors[t], extents[t]);
        b->data[t].f = AT_NEW_ARRAY(a, float, n);
        for (int64_t i = 0; i < n; i++) b->data[t].f[i] = (float)((i * 7 + t) % 11 - 5);
    }
    CALL(at_compute_interpret(a, b->compute, b->program->values, b->data, &err));
    at_lower_options o = {
        .dialect = AT_DIALECT_GNU, .target = target, .name = p->name, .verify = true};
    CALL(at_lower(a, b->program, &o, &b->kernel, &err));
    return b;
}

/* ---- compilers ------------------------------------------------------------------------------- */

static void skip_without(const char *compiler) {
    char command[100];
    snprintf(command, sizeof command, "command -v %s >/dev/null", compiler);
    if (!system(command)) return;
    print_message("%s is not installed\n", compiler);
    skip();
}

static void write_text(const char *name, const char *text) {
    char path[100];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static at_text read_text(const char *name) {
    char path[100], line[4096];
    at_text text = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) at_text_add(&text, line);
    fclose(f);
    return text;
}

/* In the folder; fails with what the compiler says. */
static void compile(const char *compiler, const char *flags) {
    char command[400];
    snprintf(command, sizeof command, "cd %s && %s -Wall -Wextra -Werror %s >messages 2>&1", folder,
             compiler, flags);
    if (!system(command)) return;
    at_text said = read_text("messages");
    fail_msg("%s %s: %s", compiler, flags, at_text_str(&said));
}

/* ---- running --------------------------------------------------------------------------------- */

/* Memory that ends, or begins, at a page that faults. */
typedef struct guarded {
    char *map;
    size_t map_bytes;
    float *data;
} guarded;

static guarded guarded_new(int64_t bytes, bool at_end) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t inner = ((size_t)bytes + page - 1) / page * page;
    guarded g = {.map_bytes = inner + 2 * page};
    g.map = mmap(NULL, g.map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(g.map != MAP_FAILED);
    assert_int_equal(mprotect(g.map + page, inner, PROT_READ | PROT_WRITE), 0);
    memset(g.map + page, 255, inner); /* NaN: what is never written shows */
    g.data = (float *)(g.map + page + (at_end ? inner - (size_t)bytes : 0));
    return g;
}

typedef struct par {
    void (*parallel_for)(void (*body)(long i, int thread, void *context), long n, void *context);
    int threads;
} par;

static void serially(void (*body)(long i, int thread, void *context), long n, void *context) {
    for (long i = 0; i < n; i++) body(i, 0, context);
}

typedef int entry_function(void *const buf[], void *workspace, par *p);

static void call(void *object, const char *name, void *const buf[], void *workspace) {
    par p = {serially, 1};
    entry_function *entry;
    *(void **)&entry = dlsym(object, name);
    assert_non_null(entry);
    assert_int_equal(entry(buf, workspace, &p), 0);
}

static void run_and_compare(const built *b, void *object, const char *what, bool at_end) {
    const at_kernel *k = b->kernel;
    guarded of[16];
    void *buf[16];
    assert_true(k->num_params <= 16);
    for (int i = 0; i < k->num_params; i++) {
        const at_param *q = &k->params[i];
        of[i] = guarded_new(q->elements * 4, at_end);
        buf[i] = of[i].data;
        if (q->role == AT_PARAM_IN)
            memcpy(buf[i], b->data[q->tensor].f, (size_t)q->elements * sizeof(float));
    }
    int64_t bytes = k->workspace_bytes + k->workspace_per_thread_bytes;
    guarded workspace = guarded_new((bytes + 63) / 64 * 64, at_end);
    if (k->pack) call(object, k->pack, buf, workspace.data);
    call(object, k->entry, buf, workspace.data);
    for (int i = 0; i < k->num_params; i++) {
        const at_param *q = &k->params[i];
        if (q->role == AT_PARAM_OUT &&
            memcmp(buf[i], b->data[q->tensor].f, (size_t)q->elements * sizeof(float)))
            fail_msg("%s: %s is wrong", what, q->name);
        munmap(of[i].map, of[i].map_bytes);
    }
    munmap(workspace.map, workspace.map_bytes);
}

/* All programs of one set in one object: a process of the compiler each, but one of the linker. */
static void check(const char *compiler, const at_target *target) {
    skip_without(compiler);
    at_arena *a = at_arena_new();
    built *b[NUM_PROGRAMS];
    at_text flags = {0};
    at_text_addf(&flags, "-O1 -fPIC -shared -o %s_%s.so", compiler, target->name);
    for (int i = 0; i < NUM_PROGRAMS; i++) {
        b[i] = build(a, &programs[i], target);
        write_text(at_format(a, "%s.c", programs[i].name), b[i]->kernel->source);
        at_text_addf(&flags, " %s.c", programs[i].name);
    }
    compile(compiler, at_text_str(&flags));
    at_text_free(&flags);
    bool runs = cpu_has(target);
    if (runs) {
        void *object =
            dlopen(at_format(a, "%s/%s_%s.so", folder, compiler, target->name), RTLD_NOW);
        assert_non_null(object);
        for (int i = 0; i < 2 * NUM_PROGRAMS; i++) {
            const char *what =
                at_format(a, "%s through %s for %s", programs[i / 2].name, compiler, target->name);
            run_and_compare(b[i / 2], object, what, i % 2);
        }
        dlclose(object);
    }
    at_arena_free(a);
    if (runs) return;
    print_message("compiled, but not run: this CPU has no %s\n", target->name);
    skip();
}

static void gcc_avx512(void **state) { (void)state, check("gcc", at_target_find("avx512")); }
static void gcc_avx2(void **state) { (void)state, check("gcc", at_target_find("avx2")); }
static void gcc_sse2(void **state) { (void)state, check("gcc", at_target_find("sse2")); }
static void gcc_scalar(void **state) { (void)state, check("gcc", at_target_find("scalar")); }
static void clang_avx512(void **state) { (void)state, check("clang", at_target_find("avx512")); }
static void clang_avx2(void **state) { (void)state, check("clang", at_target_find("avx2")); }
static void clang_sse2(void **state) { (void)state, check("clang", at_target_find("sse2")); }
static void clang_scalar(void **state) { (void)state, check("clang", at_target_find("scalar")); }

/* ---- other texts ----------------------------------------------------------------------------- */

/* Tiles are C++ too, and C where a standard is asked for. */
static void other_languages(const char *compiler, const char *cxx) {
    skip_without(compiler);
    at_arena *a = at_arena_new();
    static const char *const with_vectors[] = {"sse2", "avx2", "avx512"};
    for (int i = 0; i < 3; i++) {
        const at_target *target = at_target_find(with_vectors[i]);
        at_low *l;
        at_text text = {0};
        built *b = build(a, &programs[0], target);
        at_lower_options o = {.dialect = AT_DIALECT_GNU, .target = target, .name = "k"};
        CALL(at_lower_until(a, b->program, &o, "tiles", &l, &err));
        l->target->prelude(l->target, &text);
        for (int t = 0; t < l->tiles.len; t++) at_tile_print_gnu(&text, l->tiles.data[t], "k_");
        write_text("tiles.c", at_text_str(&text));
        compile(compiler, "-std=c99 -Wno-unused-function -O1 -c tiles.c");
        if (!system(at_format(a, "command -v %s >/dev/null", cxx)))
            compile(cxx, "-x c++ -Wno-unused-function -O1 -c tiles.c");
        at_text_free(&text);
    }
    at_arena_free(a);
}

static void gcc_languages(void **state) { (void)state, other_languages("gcc", "g++"); }
static void clang_languages(void **state) { (void)state, other_languages("clang", "clang++"); }

/* Multiply-adds of 16 lanes and of 8 in the text of a product with so many columns. */
static void count_fmas(at_arena *a, int columns, const at_target *target, int *whole, int *half) {
    const program p = {"product", at_format(a, "Y=3 K=40 X=%d", columns),
                       "a[Y, K] : input\n"
                       "b[K, X] : input\n"
                       "c[y:Y, x:X] = sum(k:K) a[y, k] * b[k, x]\n",
                       "k, y:unroll, x:vec =>\n"
                       "    @c = y, x // k\n"};
    *whole = *half = 0;
    for (const char *s = build(a, &p, target)->kernel->source; (s = strstr(s, " at_fma")); s++) {
        const bool is_definition = !strncmp(s - strlen("#define"), "#define", strlen("#define"));
        if (!is_definition) ++*(s[strlen(" at_fma")] == '8' ? half : whole);
    }
}

/* In C, too, half a register is worked out where a row ends with no more, as in machine code. */
static void rows_end_in_halves(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    for (int columns = 1; columns <= 40; columns++) {
        const int last = columns % 16;
        int whole, half;
        count_fmas(a, columns, at_target_find("avx512"), &whole, &half);
        if ((half > 0) != (last > 0 && last <= 8) || (whole > 0) != (columns > 8))
            fail_msg("%d columns: %d of 16 lanes, %d of 8", columns, whole, half);
        count_fmas(a, columns, at_target_find("avx2"), &whole, &half);
        assert_int_equal(half, 0);
    }
    at_arena_free(a);
}

/* ---- what the compilers make of it ----------------------------------------------------------- */

/* Multiply-adds of the innermost loop of the tile with the most of them. */
static int wanted_fmas(at_arena *a, const built *b, const at_target *target, const char **tile) {
    at_low *l;
    at_lower_options o = {.dialect = AT_DIALECT_GNU, .target = target, .name = "k"};
    CALL(at_lower_until(a, b->program, &o, "tiles", &l, &err));
    int most = 0;
    for (int i = 0; i < l->tiles.len; i++) {
        const at_tile *t = l->tiles.data[i];
        for (int j = 0, n = 0; j < t->num_ops; j++) {
            if (t->ops[j].kind == AT_T_LOOP) n = 0;
            n += at_tile_is_term(&t->ops[j]);
            if (t->ops[j].kind == AT_T_END && n > most) most = n, *tile = t->name;
        }
    }
    return most;
}

static int count(const char *from, const char *to, const char *what) {
    int n = 0;
    for (const char *s = from; (s = strstr(s, what)) && s < to; s++) n++;
    return n;
}

/* The loop with multiply-adds in an assembly text: from its label to the jump back to it. */
static bool find_loop(const char *text, const char **from, const char **to) {
    for (const char *label = strstr(text, "\n.L"); label; label = strstr(label + 1, "\n.L")) {
        char jump[40];
        size_t n = strcspn(label + 1, ":");
        if (n + 2 > sizeof jump) continue;
        snprintf(jump, sizeof jump, "\t%.*s", (int)n, label + 1);
        const char *back = strstr(label + 1, jump);
        const char *next = strstr(label + 1, "\n.L");
        if (!back || (next && next < back) || !count(label, back, "vfmadd")) continue;
        *from = label;
        *to = back;
        return true;
    }
    return false;
}

static void check_loop(const char *compiler, const char *flags) {
    skip_without(compiler);
    at_arena *a = at_arena_new();
    for (int i = 0; i < NUM_LOOPS; i++) {
        const char *tile = NULL, *from = NULL, *to = NULL;
        built *b = build(a, &loops[i].p, at_target_find(loops[i].isa));
        int fmas = wanted_fmas(a, b, at_target_find(loops[i].isa), &tile);
        write_text("loop.c", b->kernel->source);
        compile(compiler, at_format(a, "%s -S -o loop.s loop.c", flags));
        at_text text = read_text("loop.s");
        const char *function =
            strstr(at_text_str(&text), at_format(a, "\n%s_%s:", loops[i].p.name, tile));
        assert_non_null(function);
        if (!find_loop(function, &from, &to)) fail_msg("%s: no loop", loops[i].p.name);
        assert_int_equal(count(from, to, "vfmadd"), fmas);
        if (!loops[i].all || strcmp(compiler, "gcc"))
            assert_int_equal(count(from, to, "%rsp") + count(from, to, "%rbp"), 0);
        at_text_free(&text);
    }
    at_arena_free(a);
}

static void gcc_loop(void **state) {
    (void)state;
    check_loop("gcc", "-O3");
    check_loop("gcc", "-O3 -march=x86-64-v4");
}

static void clang_loop(void **state) {
    (void)state;
    check_loop("clang", "-O3");
    check_loop("clang", "-O3 -march=skylake-avx512");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gcc_avx512),         cmocka_unit_test(gcc_avx2),
        cmocka_unit_test(gcc_sse2),           cmocka_unit_test(gcc_scalar),
        cmocka_unit_test(clang_avx512),       cmocka_unit_test(clang_avx2),
        cmocka_unit_test(clang_sse2),         cmocka_unit_test(clang_scalar),
        cmocka_unit_test(gcc_languages),      cmocka_unit_test(clang_languages),
        cmocka_unit_test(rows_end_in_halves), cmocka_unit_test(gcc_loop),
        cmocka_unit_test(clang_loop),

    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
