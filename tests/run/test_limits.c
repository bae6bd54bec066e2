/* Real values: each element of an output has a limit of its own. No order of summation that kernels
 * use exceeds it, whatever the values are; wrong kernels do. */
#include "tests/run/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/agree.h"

AT_AGREES

static const char *const values_names[] = {"exact", "ordinary", "one huge", "a tiny row"};

/* ---- orders of summation --------------------------------------------------------------------- */

enum { ROWS = 4, COLUMNS = 12, MOST_TERMS = 4608 };

/* Weights that are harder than what shape.h has. */
typedef enum hard {
    NORMAL,
    ONE_HUGE,
    HUGE_AMONG_POSITIVE,
    TINY,
    HALVES,
    CONSTANT,
    EQUAL,     /* so are the data of a row: each term is rounded as the one before */
    ZEROS_TOO, /* or 0 */
    HARD_COUNT
} hard;

typedef struct sums {
    int k;
    float data[ROWS * MOST_TERMS], weight[COLUMNS * MOST_TERMS];
    float want[ROWS * COLUMNS], limit[ROWS * COLUMNS];
    int order[MOST_TERMS];
} sums;

static float uniform(at_rng *rng, double lo, double hi) {
    return (float)(lo + (hi - lo) * ((double)at_rng_below(rng, 1 << 24) + 0.5) * 0x1p-24);
}

static void fill(sums *s, hard kind, at_rng *rng) {
    int n = COLUMNS * s->k, at = (int)at_rng_below(rng, (uint64_t)n), row = at / s->k * s->k;
    for (int i = 0; i < ROWS * s->k; i++) s->data[i] = uniform(rng, -4, 8);
    for (int i = 0; i < n; i++) {
        s->weight[i] = uniform(rng, -1, 1) + uniform(rng, -1, 1);
        if (kind == HUGE_AMONG_POSITIVE) s->weight[i] = uniform(rng, 0, 1);
        if (kind == CONSTANT || kind == EQUAL || kind == ZEROS_TOO) s->weight[i] = 0.1f;
        if (kind == HALVES) s->weight[i] = uniform(rng, 0.5, 1) * (i % s->k < s->k / 2 ? 1 : -1);
    }
    for (int i = 0; i < ROWS * s->k && (kind == EQUAL || kind == ZEROS_TOO); i++)
        s->data[i] = kind == ZEROS_TOO && i % s->k % 3 ? 0 : s->data[i / s->k * s->k];
    if (kind == ONE_HUGE) s->weight[at] = 1e9f;
    if (kind == HUGE_AMONG_POSITIVE) s->weight[at] = 0x1p26f; /* small terms are lost beside it */
    for (int i = 0; kind == TINY && i < s->k; i++) s->weight[row + i] *= 1e-30f;
}

typedef int entry_fn(void *const buf[], void *workspace, void *par);

static const char sums_text[] = "data[4, K] : input\nweight[12, K] : weight\n"
                                "out[y:4, x:12] = sum(k:K) data[y, k]*weight[x, k]\n";

static entry_fn *limits_of(at_arena *a, const char *text, int k) {
    at_symbols symbols = {0};
    at_compute *c;
    at_error err = {0};
    at_text source = {0};
    int64_t values[1], workspace_bytes;
    void *found;
    values[at_symbol_add(a, &symbols, "K")] = k;
    if (at_compute_parse(a, &symbols, text, "sums", &c, &err) != AT_OK ||
        at_compute_limits_c(a, c, values, "limits", &source, &workspace_bytes, &err) != AT_OK ||
        at_compile_data(at_text_str(&source), NULL, 0, "limits", &found, &err) != AT_OK)
        fail_msg("%s", err.text);
    at_text_free(&source);
    entry_fn *run;
    memcpy(&run, &found, sizeof run);
    return run;
}

typedef enum order { FORWARD, BACKWARD, SHUFFLED, CHANNELS_LAST, STRIDED, ORDER_COUNT } order;

static void put_in_order(sums *s, order how, at_rng *rng) {
    int outer = how == CHANNELS_LAST ? s->k / 9 : how == STRIDED ? s->k / 16 : 0, n = 0;
    for (int i = 0; i < s->k; i++) s->order[i] = how == BACKWARD ? s->k - 1 - i : i;
    for (int i = s->k - 1; how == SHUFFLED && i > 0; i--) {
        int j = (int)at_rng_below(rng, (uint64_t)i + 1), x = s->order[i];
        s->order[i] = s->order[j];
        s->order[j] = x;
    }
    if (!outer) return;
    int inner = s->k / outer;
    for (int i = 0; i < inner; i++)
        for (int o = 0; o < outer; o++) s->order[n++] = o * inner + i;
}

/* Chains of partial sums; those of a block are added to what the blocks before gave. */
static float sum(const sums *s, int y, int x, int chains, int block, bool fused) {
    const float *data = s->data + y * s->k, *weight = s->weight + x * s->k;
    float total = 0;
    for (int from = 0; from < s->k; from += block) {
        float part[16] = {0};
        int end = from + block < s->k ? from + block : s->k;
        for (int i = from; i < end; i++) {
            float *p = &part[i % chains], w = weight[s->order[i]], d = data[s->order[i]];
            volatile float product = d * w;
            *p = fused ? fmaf(d, w, *p) : *p + product;
        }
        for (int step = chains / 2; step > 0; step /= 2)
            for (int i = 0; i < step; i++) part[i] += part[i + step];
        total += part[0];
    }
    return total;
}

static void check_order(const sums *s, hard kind, order how, uint64_t seed) {
    static const int chains[] = {1, 4, 16};
    for (int variant = 0; variant < 12; variant++) {
        int c = chains[variant % 3], block = variant / 3 % 2 ? 48 : s->k;
        bool fused = variant / 6;
        for (int y = 0; y < ROWS; y++)
            for (int x = 0; x < COLUMNS; x++) {
                int i = y * COLUMNS + x;
                float got = sum(s, y, x, c, block, fused);
                if (at_agrees(got, s->want[i], s->limit[i])) continue;
                fail_msg("%d terms, weights %d, order %d, %d chains, blocks of %d, fused %d, seed "
                         "%d: %.9g, not %.9g +- %.3g",
                         s->k, kind, how, c, block, fused, (int)seed, (double)got,
                         (double)s->want[i], (double)s->limit[i]);
            }
    }
}

static void orders(void **state) {
    (void)state;
    static const int terms[] = {1, 2, 27, 576, MOST_TERMS};
    const char *asked = getenv("AT_SEEDS");
    const uint64_t seeds = asked ? strtoull(asked, NULL, 10) : 0;
    at_arena *a = at_arena_new();
    sums *s = AT_NEW(a, sums);
    for (size_t t = 0; t < sizeof terms / sizeof *terms; t++) {
        s->k = terms[t];
        entry_fn *limits = limits_of(a, sums_text, s->k);
        uint64_t n = seeds ? seeds : s->k > 576 ? 1 : 8;
        for (uint64_t seed = 0; seed < n; seed++)
            for (hard kind = NORMAL; kind < HARD_COUNT; kind++) {
                at_rng rng;
                void *buf[] = {s->data, s->weight, s->want, s->limit};
                at_rng_seed(&rng, seed, (uint64_t)kind);
                fill(s, kind, &rng);
                assert_int_equal(limits(buf, NULL, NULL), 0);
                for (order how = FORWARD; how < ORDER_COUNT; how++) {
                    put_in_order(s, how, &rng);
                    check_order(s, kind, how, seed);
                }
            }
    }
    at_arena_free(a);
}

/* ---- beyond floats --------------------------------------------------------------------------- */

/* What is finite in double and beyond a float may be infinite or no number in a kernel, and nothing
 * else; what is infinite in double is just that. */
static void beyond_floats(void **state) {
    (void)state;
    enum { N = 3 };
    at_arena *a = at_arena_new();
    entry_fn *run = limits_of(a,
                              "x[K] : input\nsquare[i:K] = x[i]*x[i]\n"
                              "out[i:K] = square[i] - x[i]*1e20\n",
                              N);
    static double workspace[64];
    float x[N] = {1e25f, INFINITY, 3}, out[N], limit[N];
    assert_int_equal(run((void *[]){x, out, limit}, workspace, NULL), 0);
    assert_true(at_agrees(INFINITY, out[0], limit[0]) && at_agrees(NAN, out[0], limit[0]));
    assert_true(at_agrees(-INFINITY, out[0], limit[0]) && !at_agrees(1e38f, out[0], limit[0]));
    assert_true(at_agrees(NAN, out[1], limit[1]) && !at_agrees(INFINITY, out[1], limit[1]));
    assert_true(at_agrees(-3e20f, out[2], limit[2]) && !at_agrees(NAN, out[2], limit[2]));
    at_arena_free(a);
}

/* ---- kernels of every template --------------------------------------------------------------- */

static const struct {
    const char *name, *args;
} templates[] = {
    {"conv2d_3x3_gemm", "N=2,H=9,W=7,CI=12,CO=24"},
    {"conv2d_NCHWc", "N=1,IC=12,H=13,W=11,OC=16,KH=5,KW=3,strides=[2,1],padding=[2,1,2,0]"},
    {"conv2d_nhwc", "N=1,H=11,W=9,CI=6,CO=10,dilation=2,padding=2"},
    {"conv2d_winograd_nhwc", "N=1,H=10,W=13,CI=6,CO=20,m=4"},
    {"conv2d_winograd_nhwc+bias+relu", "N=1,H=9,W=13,CI=6,CO=20,m=4,padding=[2,0,1,3]"},
    {"conv2d_winograd_nhwc", "N=2,H=13,W=8,CI=6,CO=20,m=6,padding=[0,1,2,0]"},
    {"conv2d_winograd_nhwc", "N=1,H=9,W=7,CI=6,CO=20,KH=5,KW=5,m=2,padding=[2,1,3,2]"},
    {"conv2d_winograd_NCHWc", "N=1,H=10,W=7,CI=8,CO=20,m=4"},
    {"conv2d_winograd_NCHWc+bias+add+relu", "N=2,H=5,W=7,CI=8,CO=20,m=4,padding=[2,0,1,3]"},
    {"dense", "M=28,N=64,K=200,bias=1,wb=32"},
    {"matmul_add", "N=20,L=180,M=36"},
    {"spconv2d_3x3_gemm", "H=6,W=8,CI=8,CO=32,nnz=60"},
    {"sparse_dense", "M=24,N=48,K=36,nnz=70"},
};

/* Some entities of each, in each way, on each kind of values. */
static void kernels_of(const char *name, const char *args, const way *w, int count, uint64_t seed) {
    shape s;
    at_rng rng;
    at_arena *a = at_arena_new();
    shape_open(&s, name, args);
    at_space *space = at_task_space(s.task);
    at_rng_seed(&rng, seed, 1);
    for (int n = 0; n < count; n++) {
        at_config config;
        candidate c;
        at_error err = {0};
        int64_t index;
        do index = (int64_t)at_rng_below(&rng, (uint64_t)at_space_range_length(space));
        while (!at_space_is_valid(space, index));
        if (at_config_at(a, space, index, &config, &err) != AT_OK) fail_msg("%s", err.text);
        const char *wrong = shape_lower(&s, a, &config, w, "kernel", &c);
        at_object object = {0};
        if (!wrong && w->compiler != AT_TCC) {
            if (at_build_object(a, w->compiler, c.kernel->source, "-O3", 60, NULL, &object, &err) !=
                AT_OK)
                fail_msg("%s", err.text);
            if (object.end) wrong = object.error;
        }
        for (shape_values v = SHAPE_ORDINARY; v < SHAPE_VALUES_COUNT && !wrong; v++) {
            shape_set_values(&s, v, seed + (uint64_t)n);
            wrong = shape_check(&s, a, &c, w, object.path);
            if (wrong) wrong = at_format(a, "values with %s: %s", values_names[v], wrong);
        }
        at_object_remove(object.path);
        if (wrong)
            fail_msg("%s %s, %s, %s, index %lld: %s", name, args, at_compiler_name(w->compiler),
                     at_vector_set_name(w->set), (long long)index, wrong);
    }
    shape_close(&s);
    at_arena_free(a);
}

/* gcc and clang take long: four of the templates, each in the next set. */
static void kernels(at_compiler compiler, int count) {
    const char *name;
    for (int set = 0; (name = at_vector_set_name(set)); set++) {
        way w = {.compiler = compiler, .set = set};
        if (!at_cpu_has_set(set)) {
            print_message("this CPU has no %s: left out\n", name);
            continue;
        }
        size_t n = sizeof templates / sizeof *templates, only = (size_t)set;
        if (compiler == AT_CLANG) only = n - 1 - only;
        for (size_t i = 0; i < n; i++)
            if (compiler == AT_TCC || i == only)
                kernels_of(templates[i].name, templates[i].args, &w, count, 1 + (uint64_t)set);
    }
}

static void kernels_tcc(void **state) {
    (void)state;
    kernels(AT_TCC, 2);
}

static void kernels_gcc(void **state) {
    (void)state;
    if (!at_compiler_available(AT_GCC)) skip();
    kernels(AT_GCC, 1);
}

static void kernels_clang(void **state) {
    (void)state;
    if (!at_compiler_available(AT_CLANG)) skip();
    kernels(AT_CLANG, 1);
}

/* ---- wrong kernels --------------------------------------------------------------------------- */

/* A matrix product in chunks of 24 terms, and what can go wrong with it. */
#define PRODUCT(chunks, start, a, b, row)                                                          \
    "int product(void *const buf[], void *workspace, void *par) {\n"                               \
    "  const float *d = buf[0], *w = buf[1]; float *o = buf[2]; (void)workspace, (void)par;\n"     \
    "  for (int y = 0; y < 13; y++) for (int x = 0; x < 64; x++) {\n"                              \
    "    float s = 0;\n"                                                                           \
    "    for (int c = 0; c < " chunks "; c++) for (int k = c * 24 " start "; k < c * 24 + 24; "    \
    "k++)\n"                                                                                       \
    "      s += d[" a "] * w[" b "];\n"                                                            \
    "    o[(" row ") * 64 + x] = s;\n"                                                             \
    "  }\n  return 0;\n}\n"
#define A "y * 576 + k"
#define B "x * 576 + k"

static const struct {
    const char *what, *source;
    int spoilt; /* of the 832 elements */
} mutants[] = {
    {"nothing", PRODUCT("24", "", A, B, "y"), 0},
    {"one term missing of each", PRODUCT("24", "+ (c == 11)", A, B, "y"), 832},
    {"one term missing of one", PRODUCT("24", "+ (c == 11 && y == 3 && x == 60)", A, B, "y"), 1},
    {"weight off by one", PRODUCT("24", "", A, "x * 576 + (k + 1) % 576", "y"), 832},
    {"data off by one", PRODUCT("24", "", "y * 576 + (k + 1) % 576", B, "y"), 832},
    {"data off by one once", PRODUCT("24", "", A " + (k == 100)", B, "y"), 832},
    {"a tail from its neighbour", PRODUCT("24", "", A, "(x - (x > 61)) * 576 + k", "y"), 26},
    {"swapped rows", PRODUCT("24", "", A, B, "y == 2 ? 4 : y == 4 ? 2 : y"), 128},
    {"a reduction step missing", PRODUCT("23", "", A, B, "y"), 832},
    {"a reduction step twice", PRODUCT("25", "", "y * 576 + k % 576", "x * 576 + k % 576", "y"),
     832},
};

/* How many elements the check finds wrong. */
static int find(shape *s, at_arena *a, const candidate *c, const char *source) {
    at_kernel mutant = *c->kernel;
    at_param *params = AT_NEW_ARRAY(a, at_param, mutant.num_params);
    int n = 0;
    for (int i = 0; i < mutant.num_params; i++)
        if (mutant.params[i].role != AT_PARAM_PACKED) params[n++] = mutant.params[i];
    mutant.params = params;
    mutant.num_params = n;
    mutant.num_tiles = 0;
    mutant.pack = NULL;
    mutant.source = source;
    mutant.entry = "product";
    candidate with_it = {c->program, &mutant};
    const char *text = shape_check(s, a, &with_it, &(way){.compiler = AT_TCC, .set = 0}, NULL);
    const char *count = text ? strstr(text, "; ") : NULL;
    if (text && (!count || !strstr(count, " of 832 elements differ"))) fail_msg("%s", text);
    return count ? atoi(count + 2) : 0;
}

/* Of the huge weight's column, 13 elements, what is spoilt may be less than what is lost beside it
 * in any order; and here and there a term happens to be next to nothing. */
static void wrong_kernels(void **state) {
    (void)state;
    shape s;
    at_config config;
    candidate c;
    at_error err = {0};
    shape_open(&s, "dense", "M=13,N=64,K=576");
    if (at_task_default_config(s.arena, s.task, 4, &config, &err) != AT_OK)
        fail_msg("%s", err.text);
    const char *bad =
        shape_lower(&s, s.arena, &config, &(way){.compiler = AT_TCC, .set = 0}, "kernel", &c);
    if (bad) fail_msg("%s", bad);
    for (shape_values v = SHAPE_ORDINARY; v < SHAPE_VALUES_COUNT; v++) {
        shape_set_values(&s, v, 3);
        for (size_t i = 0; i < sizeof mutants / sizeof *mutants; i++) {
            int found = find(&s, s.arena, &c, mutants[i].source), all = mutants[i].spoilt;
            int hidden = all < 832 ? 0 : v == SHAPE_ONE_HUGE ? 13 + 8 : 8;
            if (found <= all && found >= all - hidden) continue;
            fail_msg("values with %s, %s: %d of %d wrong elements found", values_names[v],
                     mutants[i].what, found, all);
        }
    }
    shape_close(&s);
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beyond_floats), cmocka_unit_test(orders),
        cmocka_unit_test(kernels_tcc),   cmocka_unit_test(kernels_gcc),
        cmocka_unit_test(kernels_clang), cmocka_unit_test(wrong_kernels),
    };
    return cmocka_run_group_tests_name("run/limits", tests, NULL, NULL);
}
