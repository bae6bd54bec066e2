/* Winograd's convolution on values that are no integers: what is wrong by one product, by a tile or
 * by a pixel at an edge exceeds the limits of some elements, always; what rounds otherwise does
 * not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/agree.h"
#include "runtime/runtime.h"
#include "templates/task.h"

AT_AGREES

enum { H = 14, W = 12, CI = 48, CO = 8, MUTANTS = 1000 };

typedef struct layer {
    at_arena *arena;
    const at_compute *compute;
    const int64_t *values;
    int64_t **extents;
    at_data *data; /* [tensor] of the interpreter, in double or rounded once */
    float *want, *limit;
    int m;
    at_rng rng;
} layer;

typedef at_status naive_text(at_arena *a, const at_compute *c, const int64_t *values,
                             const char *entry, at_text *out, int64_t *workspace_bytes,
                             at_error *err);
typedef int entry_fn(void *const buf[], void *workspace, void *par);

static int tensor(const layer *l, const char *name) { return at_compute_find(l->compute, name); }

static int64_t elements(const layer *l, int t) {
    int64_t n = 1;
    for (int i = 0; i < l->compute->tensors[t].num_axes; i++) n *= l->extents[t][i];
    return n;
}

static float normal(at_rng *rng) {
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += (double)at_rng_below(rng, 1 << 20) * 0x1p-20 - 0.5;
    return (float)sum;
}

/* The place of an element, by its indices. */
static int64_t at(const layer *l, int t, const int *index) {
    int64_t place = 0;
    for (int i = 0; i < l->compute->tensors[t].num_axes; i++)
        place = place * l->extents[t][i] + index[i];
    return place;
}

static double element(const layer *l, const char *name, const int *index) {
    int t = tensor(l, name);
    return (double)l->data[t].f[at(l, t, index)];
}

/* The definition, in double. */
static double defined(const layer *l, int y, int x, int o) {
    double sum = 0;
    for (int kh = 0; kh < 3; kh++)
        for (int kw = 0; kw < 3; kw++)
            for (int c = 0; c < CI; c++) {
                int h = y + kh - 1, w = x + kw - 1;
                if (h < 0 || h >= H || w < 0 || w >= W) continue;
                sum += element(l, "data", (int[]){0, h, w, c}) *
                       element(l, "weight", (int[]){kh, kw, c, o});
            }
    return sum;
}

static void run_naive(layer *l, naive_text *text) {
    at_text source = {0};
    at_error err = {0};
    int64_t workspace_bytes;
    void *found;
    entry_fn *run;
    if (text(l->arena, l->compute, l->values, "limits", &source, &workspace_bytes, &err) != AT_OK ||
        at_compile_data(at_text_str(&source), NULL, 0, "limits", &found, &err) != AT_OK)
        fail_msg("%s", err.text);
    at_text_free(&source);
    memcpy(&run, &found, sizeof run);
    void *buf[] = {l->data[tensor(l, "data")].f, l->data[tensor(l, "weight")].f, l->want, l->limit};
    assert_int_equal(run(buf, at_alloc(l->arena, (size_t)workspace_bytes), NULL), 0);
}

/* one_channel: of each pixel one stays, as in the second of paranoid's runs. */
static void open_layer(layer *l, const char *args, int m, bool one_channel) {
    const at_template_row *row;
    at_task *task;
    at_config config;
    at_program *p;
    at_error err = {0};
    *l = (layer){.arena = at_arena_new(), .m = m};
    at_rng_seed(&l->rng, 3, (uint64_t)m);
    if (at_template_find("conv2d_winograd_nhwc", &row, &err) != AT_OK ||
        at_task_new(l->arena, row, args, &task, &err) != AT_OK ||
        at_task_default_config(l->arena, task, 4, &config, &err) != AT_OK ||
        at_task_program(l->arena, task, &config, &p, &err) != AT_OK)
        fail_msg("%s: %s", args, err.text);
    l->compute = p->compute;
    l->values = p->values;
    l->extents = p->extents;
    l->data = AT_NEW_ARRAY(l->arena, at_data, p->compute->num_tensors);
    static const char *const inputs[] = {"data", "weight"};
    for (int i = 0; i < 2; i++) {
        int t = tensor(l, inputs[i]);
        l->data[t].f = AT_NEW_ARRAY(l->arena, float, elements(l, t));
        for (int64_t k = 0; k < elements(l, t); k++) l->data[t].f[k] = normal(&l->rng);
    }
    float *pixels = l->data[tensor(l, "data")].f;
    for (int y = 0; y < H * W && one_channel; y++)
        for (int c = 0, kept = (int)at_rng_below(&l->rng, CI); c < CI; c++)
            if (c != kept) pixels[y * CI + c] = 0;
    if (at_compute_interpret(l->arena, l->compute, l->values, l->data, &err) != AT_OK)
        fail_msg("%s", err.text);
    l->want = AT_NEW_ARRAY(l->arena, float, H *W *CO);
    l->limit = AT_NEW_ARRAY(l->arena, float, H *W *CO);
    run_naive(l, at_compute_limits_c);
}

static bool is_noticed(const layer *l, const float *got) {
    for (int i = 0; i < H * W * CO; i++)
        if (!at_agrees(got[i], l->want[i], l->limit[i])) return true;
    return false;
}

static int below(layer *l, int n) { return (int)at_rng_below(&l->rng, (uint64_t)n); }

/* Adds x times the transform back of product e, f of tile s, t to channel o. */
static void add_product(const layer *l, float *out, const int tile[2], int e, int f, int o,
                        double x) {
    for (int k = 0; k < l->m; k++)
        for (int j = 0; j < l->m; j++) {
            int y = tile[0] * l->m + k, z = tile[1] * l->m + j;
            if (y >= H || z >= W) continue;
            out[(y * W + z) * CO + o] +=
                (float)(element(l, "T", (int[]){k, e}) * element(l, "T", (int[]){j, f}) * x);
        }
}

/* Some products are nearly 0 by themselves: no check of rounded numbers can miss them. */
static bool lose_product(layer *l, float *out) {
    const int side = l->m + 2, q = (int)l->extents[tensor(l, "u")][4];
    int tile[2] = {below(l, H / l->m), below(l, W / l->m)}, e = below(l, side), f = below(l, side);
    int c = below(l, CI), o = below(l, CO);
    double v = element(l, "v", (int[]){0, e, f, tile[0], tile[1], c});
    double u = element(l, "u", (int[]){o / q, e, f, c, o % q});
    double all = 0;
    for (int i = 0; i < CI; i++) {
        double one = element(l, "v", (int[]){0, e, f, tile[0], tile[1], i}) *
                     element(l, "u", (int[]){o / q, e, f, i, o % q});
        all += one * one;
    }
    if (fabs(v * u) < 1e-2 * sqrt(all / CI)) return false;
    add_product(l, out, tile, e, f, o, -v * u);
    return true;
}

static bool swap_tiles(layer *l, float *out) {
    int from[2] = {below(l, H / l->m), below(l, W / l->m)}, to[2] = {from[0], from[1]};
    to[1] = (to[1] + 1) % (W / l->m);
    for (int k = 0; k < l->m; k++)
        for (int j = 0; j < l->m; j++)
            memcpy(out + ((to[0] * l->m + k) * W + to[1] * l->m + j) * CO,
                   l->want + ((from[0] * l->m + k) * W + from[1] * l->m + j) * CO,
                   CO * sizeof *out);
    return true;
}

/* A pixel of an outermost column is left out, of one channel. */
static bool lose_edge(layer *l, float *out) {
    int y = below(l, H), x = below(l, 2) ? W - 1 : 0, c = below(l, CI);
    double pixel = element(l, "data", (int[]){0, y, x, c});
    if (fabs(pixel) < 1e-2) return false;
    for (int kh = 0; kh < 3; kh++)
        for (int kw = 0; kw < 3; kw++) {
            int oy = y + 1 - kh, ox = x + 1 - kw;
            if (oy < 0 || oy >= H || ox < 0 || ox >= W) continue;
            for (int o = 0; o < CO; o++)
                out[(oy * W + ox) * CO + o] -=
                    (float)(pixel * element(l, "weight", (int[]){kh, kw, c, o}));
        }
    return true;
}

static void mutate(layer *l, bool (*change)(layer *l, float *out), const char *what) {
    float *out = AT_NEW_ARRAY(l->arena, float, H *W *CO);
    for (int made = 0; made < MUTANTS;) {
        memcpy(out, l->want, sizeof *out * H * W * CO);
        if (!change(l, out)) continue;
        if (!is_noticed(l, out)) fail_msg("m=%d: %s, number %d, is not noticed", l->m, what, made);
        made++;
    }
}

/* In double the transforms give what the definition does, whatever their numbers are: both floats
 * of each output together, to what two of them hold. */
static void in_double(void **state) {
    (void)state;
    static const char *const args[] = {"H=14,W=12,CI=48,CO=8,m=2", "H=14,W=12,CI=48,CO=8,m=4",
                                       "H=14,W=12,CI=48,CO=8,m=6"};
    for (int i = 0; i < 3; i++) {
        layer l;
        open_layer(&l, args[i], 2 * i + 2, false);
        run_naive(&l, at_compute_double_c);
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                for (int o = 0; o < CO; o++) {
                    int at = (y * W + x) * CO + o;
                    double got = (double)l.want[at] + (double)l.limit[at];
                    double want = defined(&l, y, x, o);
                    if (fabs(got - want) > 1e-11 * (1 + fabs(want)))
                        fail_msg("%s: out[%d]: %.17g, expected %.17g", args[i], at, got, want);
                }
        at_arena_free(l.arena);
    }
}

static at_key sums_of(at_arena *a, const char *name, const char *args, int64_t index) {
    const at_template_row *row;
    at_task *task;
    at_config config;
    at_program *p;
    at_error err = {0};
    if (at_template_find(name, &row, &err) != AT_OK ||
        at_task_new(a, row, args, &task, &err) != AT_OK ||
        at_config_at(a, at_task_space(task), index, &config, &err) != AT_OK ||
        at_task_build(a, task, &config, &p, &err) != AT_OK)
        fail_msg("%s: %s", name, err.text);
    return at_program_sums_key(p);
}

/* How the picture and the outputs are cut changes no sum; how the channels are does. */
static void sums(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const char *args = "H=8,W=8,CI=32,CO=16";
    at_key first = sums_of(a, "conv2d_winograd_nhwc", args, 0);
    for (int64_t i = 1; i < 40; i++)
        assert_true(at_key_equal(first, sums_of(a, "conv2d_winograd_nhwc", args, i)));
    int different = 0;
    for (int64_t i = 1; i < 400; i++)
        different +=
            !at_key_equal(sums_of(a, "conv2d_nhwc", args, i), sums_of(a, "conv2d_nhwc", args, 0));
    assert_true(different > 0 && different < 399);
    at_arena_free(a);
}

static void mutants(void **state) {
    (void)state;
    static const int sizes[] = {4, 6};
    for (int i = 0; i < 4; i++) {
        layer l;
        int m = sizes[i % 2];
        open_layer(&l, m == 4 ? "H=14,W=12,CI=48,CO=8,m=4" : "H=14,W=12,CI=48,CO=8,m=6", m, i > 1);
        /* The interpreter's own output, whose sums are in double and whose stages are rounded. */
        assert_false(is_noticed(&l, l.data[tensor(&l, "out")].f));
        mutate(&l, lose_product, "a lost product");
        mutate(&l, swap_tiles, "a tile for its neighbour");
        mutate(&l, lose_edge, "a lost pixel");
        at_arena_free(l.arena);
    }
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_double), cmocka_unit_test(sums),
                                       cmocka_unit_test(mutants)};
    return cmocka_run_group_tests_name("run/winograd", tests, NULL, NULL);
}
