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
#include "sketch/sketch.h"

AT_AGREES

enum { CI = 48, CO = 8, MUTANTS = 1000 };

/* Sizes that tiles do not divide, too; images, blocks of channels, kernels, and padding of any
 * side. */
typedef struct shape {
    const char *name, *args;
    int n, h, w, taps, top, left, oh, ow, m;
} shape;

#define NHWC "conv2d_winograd_nhwc"
#define BLOCKS "conv2d_winograd_NCHWc"
#define CHANNELS "CI=48,CO=8,"
static const shape shapes[] = {
    {NHWC, CHANNELS "H=14,W=12,m=4", 1, 14, 12, 3, 1, 1, 14, 12, 4},
    {NHWC, CHANNELS "H=14,W=12,m=6", 1, 14, 12, 3, 1, 1, 14, 12, 6},
    {NHWC, CHANNELS "N=2,H=9,W=13,m=4,padding=[2,0,1,3]", 2, 9, 13, 3, 2, 0, 10, 14, 4},
    {NHWC, CHANNELS "H=11,W=13,KH=5,KW=5,m=2,padding=2", 1, 11, 13, 5, 2, 2, 11, 13, 2},
    {NHWC, CHANNELS "H=11,W=10,KH=5,KW=5,m=4,padding=[2,1,0,2]", 1, 11, 10, 5, 2, 1, 9, 9, 4},
    {BLOCKS, CHANNELS "H=14,W=12,m=4", 1, 14, 12, 3, 1, 1, 14, 12, 4},
    {BLOCKS, CHANNELS "N=2,H=9,W=13,m=6,padding=[2,0,1,3]", 2, 9, 13, 3, 2, 0, 10, 14, 6},
    {BLOCKS, CHANNELS "H=11,W=13,KH=5,KW=5,m=2,padding=2", 1, 11, 13, 5, 2, 2, 11, 13, 2},
};
enum { NUM_SHAPES = sizeof shapes / sizeof *shapes };

typedef struct layer {
    const shape *s;
    at_arena *arena;
    const at_compute *compute;
    const int64_t *values;
    int64_t **extents;
    at_data *data; /* [tensor] of the interpreter, in double or rounded once */
    float *want, *limit;
    at_rng rng;
} layer;

typedef at_status naive_text(at_arena *a, const at_compute *c, const int64_t *values,
                             const char *entry, at_text *out, int64_t *workspace_bytes,
                             at_error *err);
typedef int entry_fn(void *const buf[], void *workspace, void *par);

static int tensor(const layer *l, const char *name) { return at_compute_find(l->compute, name); }

static int64_t elements(const layer *l, int t) {
    return at_tensor_elements(&l->compute->tensors[t], l->extents[t]);
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

/* Of data and outputs, with their channels last or in blocks. */
static int64_t channel_at(const layer *l, const char *name, int n, int y, int x, int c) {
    int t = tensor(l, name);
    if (l->compute->tensors[t].num_axes == 4) return at(l, t, (int[]){n, y, x, c});
    int block = (int)l->extents[t][4];
    return at(l, t, (int[]){n, c / block, y, x, c % block});
}

static double pixel(const layer *l, int n, int y, int x, int c) {
    if (y < 0 || y >= l->s->h || x < 0 || x >= l->s->w) return 0;
    return (double)l->data[tensor(l, "data")].f[channel_at(l, "data", n, y, x, c)];
}

static int64_t num_outputs(const layer *l) { return (int64_t)l->s->n * l->s->oh * l->s->ow * CO; }

/* The definition, in double. */
static double defined(const layer *l, int n, int y, int x, int o) {
    const shape *s = l->s;
    double sum = 0;
    for (int kh = 0; kh < s->taps; kh++)
        for (int kw = 0; kw < s->taps; kw++)
            for (int c = 0; c < CI; c++)
                sum += pixel(l, n, y + kh - s->top, x + kw - s->left, c) *
                       element(l, "weight", (int[]){kh, kw, c, o});
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
static void open_layer(layer *l, const shape *s, bool one_channel) {
    const at_template_row *row;
    at_task *task;
    at_config config;
    at_program *p;
    at_error err = {0};
    *l = (layer){.arena = at_arena_new(), .s = s};
    at_rng_seed(&l->rng, 3, (uint64_t)s->m);
    if (at_template_find(s->name, &row, &err) != AT_OK ||
        at_task_new(l->arena, row, s->args, &task, &err) != AT_OK ||
        at_task_default_config(l->arena, task, 4, &config, &err) != AT_OK ||
        at_task_program(l->arena, task, &config, &p, &err) != AT_OK)
        fail_msg("%s: %s", s->args, err.text);
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
    for (int i = 0; i < s->n * s->h * s->w && one_channel; i++)
        for (int c = 0, kept = (int)at_rng_below(&l->rng, CI); c < CI; c++)
            if (c != kept)
                pixels[channel_at(l, "data", i / s->w / s->h, i / s->w % s->h, i % s->w, c)] = 0;
    if (at_compute_interpret(l->arena, l->compute, l->values, l->data, &err) != AT_OK)
        fail_msg("%s", err.text);
    assert_int_equal(elements(l, tensor(l, "out")), num_outputs(l));
    l->want = AT_NEW_ARRAY(l->arena, float, num_outputs(l));
    l->limit = AT_NEW_ARRAY(l->arena, float, num_outputs(l));
    run_naive(l, at_compute_limits_c);
}

static bool is_noticed(const layer *l, const float *got) {
    for (int64_t i = 0; i < num_outputs(l); i++)
        if (!at_agrees(got[i], l->want[i], l->limit[i])) return true;
    return false;
}

static int below(layer *l, int n) { return (int)at_rng_below(&l->rng, (uint64_t)n); }

static int num_tiles(int outputs, int m) { return (outputs + m - 1) / m; }

/* Adds x times the transform back of product e, f of a tile to channel o. */
static void add_product(const layer *l, float *out, const int tile[3], int e, int f, int o,
                        double x) {
    int m = l->s->m;
    for (int k = 0; k < m; k++)
        for (int j = 0; j < m; j++) {
            int y = tile[1] * m + k, z = tile[2] * m + j;
            if (y >= l->s->oh || z >= l->s->ow) continue;
            out[channel_at(l, "out", tile[0], y, z, o)] +=
                (float)(element(l, "T", (int[]){k, e}) * element(l, "T", (int[]){j, f}) * x);
        }
}

/* An image's, a row's and a column's number. */
static void draw_tile(layer *l, int tile[3]) {
    tile[0] = below(l, l->s->n);
    tile[1] = below(l, num_tiles(l->s->oh, l->s->m));
    tile[2] = below(l, num_tiles(l->s->ow, l->s->m));
}

/* Some products are nearly 0 by themselves, and of a tile that lies over the edge some have no
 * part in an output: no check of rounded numbers can miss them. */
static bool lose_product(layer *l, float *out) {
    const int side = l->s->m + l->s->taps - 1, q = (int)l->extents[tensor(l, "u")][4];
    int tile[3], e = below(l, side), f = below(l, side), c = below(l, CI), o = below(l, CO);
    draw_tile(l, tile);
    double v = element(l, "v", (int[]){tile[0], e, f, tile[1], tile[2], c});
    double u = element(l, "u", (int[]){o / q, e, f, c, o % q});
    double all = 0;
    for (int i = 0; i < CI; i++) {
        double one = element(l, "v", (int[]){tile[0], e, f, tile[1], tile[2], i}) *
                     element(l, "u", (int[]){o / q, e, f, i, o % q});
        all += one * one;
    }
    bool whole = (tile[1] + 1) * l->s->m <= l->s->oh && (tile[2] + 1) * l->s->m <= l->s->ow;
    if (!whole || fabs(v * u) < 1e-2 * sqrt(all / CI)) return false;
    add_product(l, out, tile, e, f, o, -v * u);
    return true;
}

/* As far as both lie within the output. */
static bool swap_tiles(layer *l, float *out) {
    int from[3], m = l->s->m, across = num_tiles(l->s->ow, m);
    draw_tile(l, from);
    int to = (from[2] + 1) % across;
    for (int k = 0; k < m; k++)
        for (int j = 0; j < m; j++) {
            int y = from[1] * m + k, x = from[2] * m + j, z = to * m + j;
            if (y >= l->s->oh || x >= l->s->ow || z >= l->s->ow) continue;
            for (int o = 0; o < CO; o++)
                out[channel_at(l, "out", from[0], y, z, o)] =
                    l->want[channel_at(l, "out", from[0], y, x, o)];
        }
    return true;
}

/* A pixel of an outermost column is left out, of one channel. */
static bool lose_edge(layer *l, float *out) {
    const shape *s = l->s;
    int n = below(l, s->n), y = below(l, s->h), x = below(l, 2) ? s->w - 1 : 0, c = below(l, CI);
    double value = pixel(l, n, y, x, c);
    if (fabs(value) < 1e-2) return false;
    bool any = false;
    for (int kh = 0; kh < s->taps; kh++)
        for (int kw = 0; kw < s->taps; kw++) {
            int oy = y + s->top - kh, ox = x + s->left - kw;
            if (oy < 0 || oy >= s->oh || ox < 0 || ox >= s->ow) continue;
            any = true;
            for (int o = 0; o < CO; o++)
                out[channel_at(l, "out", n, oy, ox, o)] -=
                    (float)(value * element(l, "weight", (int[]){kh, kw, c, o}));
        }
    return any;
}

static void mutate(layer *l, bool (*change)(layer *l, float *out), const char *what) {
    float *out = AT_NEW_ARRAY(l->arena, float, num_outputs(l));
    for (int made = 0; made < MUTANTS;) {
        memcpy(out, l->want, sizeof *out * (size_t)num_outputs(l));
        if (!change(l, out)) continue;
        if (!is_noticed(l, out))
            fail_msg("%s %s: %s, number %d, is not noticed", l->s->name, l->s->args, what, made);
        made++;
    }
}

/* In double the transforms give what the definition does, whatever their numbers are: both floats
 * of each output together, to what two of them hold. */
static void in_double(void **state) {
    (void)state;
    static const shape exact[] = {
        {NHWC, CHANNELS "H=14,W=12,m=2", 1, 14, 12, 3, 1, 1, 14, 12, 2},
        {BLOCKS, CHANNELS "N=2,H=7,W=12,m=2,padding=[0,1,2,0]", 2, 7, 12, 3, 0, 1, 7, 11, 2}};
    for (int i = 0; i < 2 + NUM_SHAPES; i++) {
        const shape *s = i < 2 ? &exact[i] : &shapes[i - 2];
        layer l;
        open_layer(&l, s, false);
        run_naive(&l, at_compute_double_c);
        for (int k = 0; k < num_outputs(&l); k++) {
            int o = k % CO, x = k / CO % s->ow, y = k / CO / s->ow % s->oh;
            int n = k / CO / s->ow / s->oh;
            int64_t at = channel_at(&l, "out", n, y, x, o);
            double got = (double)l.want[at] + (double)l.limit[at];
            double want = defined(&l, n, y, x, o);
            if (fabs(got - want) > 1e-11 * (1 + fabs(want)))
                fail_msg("%s: out[%lld]: %.17g, expected %.17g", s->args, (long long)at, got, want);
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
    for (int i = 0; i < NUM_SHAPES; i++)
        for (int one_channel = 0; one_channel < 2; one_channel++) {
            layer l;
            open_layer(&l, &shapes[i], one_channel);
            /* The interpreter's own output, whose sums are in double and whose stages are rounded.
             */
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
