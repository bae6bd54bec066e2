/* Wrong kernels of reductions must fail the check: one memory operand off by a place, one tail of
 * another length, a loop that runs once more or less, a term that is not taken in. Mutants that
 * compute the same bits are equal (a register that nothing reads, a largest element that another
 * lane has, too) and are counted apart; every other one must be found. Machine code is changed
 * operation by operation, encoded again and run in this process, on buffers with room around. */
#include "tests/run/shape.h"

#include <math.h>
#include <string.h>

#include "base/agree.h"
#include "codegen/lowered.h"
#include "engine/data/dataset.h"
#include "codegen/tile/tile_text.h"

AT_AGREES

enum { WANTED = 1000, ROOM = 1 << 16 /* floats */, MAX_BUFS = 12 };

typedef int entry_fn(void *const buf[], void *workspace, void *par);

typedef struct par { /* as emitted C declares it */
    void (*parallel_for)(void (*body)(long i, int thread, void *context), long n, void *context);
    int threads;
} par;

static void in_turn(void (*body)(long i, int thread, void *context), long n, void *context) {
    for (long i = 0; i < n; i++) body(i, 0, context);
}

typedef struct subject {
    at_arena *arena;
    shape s;
    candidate c;
    float *mem[MAX_BUFS], *buf[MAX_BUFS], *want, *limit, *right;
    int num_bufs, out;
    int64_t out_count;
    at_text tried;
} subject;

static float *roomy(at_arena *a, int64_t n, float **mem) {
    float *p = AT_NEW_ARRAY(a, float, n + 2 * ROOM);
    for (int64_t i = 0; i < n + 2 * ROOM; i++) p[i] = 1000;
    *mem = p;
    return p + ROOM;
}

/* ---- inputs and what is right ---------------------------------------------------------------- */

/* Each element of a row is the largest of some row, and far above the others: without it the
 * exponentials overflow. Others lie below 0. */
static void fill_rows(float *p, int64_t n, int64_t row, bool peaks, at_rng *rng) {
    for (int64_t i = 0; i < n; i++)
        p[i] = (float)((double)at_rng_below(rng, 1 << 24) * 0x1p-22 - (peaks ? 4 : 1));
    for (int64_t y = 0; peaks && y * row < n; y++) p[y * row + y % row] = 90;
}

static void compute_right(subject *x) {
    const at_compute *c = x->c.program->compute;
    at_text source = {0};
    at_error err = {0};
    int64_t bytes;
    void *found, *bufs[MAX_BUFS + 1];
    entry_fn *run;
    if (at_compute_limits_c(x->arena, c, x->c.program->values, "right", &source, &bytes, &err) ||
        at_compile_data(at_text_str(&source), NULL, 0, "right", &found, &err))
        fail_msg("%s", err.text);
    memcpy(&run, &found, sizeof run);
    for (int i = 0; i < x->out; i++) bufs[i] = x->buf[i];
    bufs[x->out] = x->want;
    bufs[x->out + 1] = x->limit;
    run(bufs, at_alloc(x->arena, (size_t)bytes + 64), NULL);
    at_text_free(&source);
}

/* ---- one kernel ------------------------------------------------------------------------------ */

/* Into x->buf[x->out]; false: it does not compile. */
static void run_kernel(subject *x, const at_tile_code *codes) {
    const at_kernel *k = x->c.kernel;
    at_error err = {0};
    at_resident *resident;
    void *found;
    at_arena *a = at_arena_new();
    at_blob *blobs = AT_NEW_ARRAY(a, at_blob, k->num_tiles);
    for (int i = 0; i < k->num_tiles; i++)
        blobs[i] = (at_blob){codes[i].symbol, codes[i].bytes, codes[i].size_bytes};
    const at_unit unit = {.source = k->source,
                          .blobs = blobs,
                          .num_blobs = k->num_tiles,
                          .names = &k->entry,
                          .num_names = 1};
    if (at_resident_new(&unit, &found, &resident, &err) != AT_OK) fail_msg("%s", err.text);
    entry_fn *run;
    memcpy(&run, &found, sizeof run);
    float *mem;
    int64_t floats = (k->workspace_bytes + k->workspace_per_thread_bytes) / 4;
    float *workspace = roomy(a, floats + 16, &mem);
    workspace += (64 - (uintptr_t)workspace % 64) % 64 / 4;
    for (int64_t i = 0; i < x->out_count; i++) x->buf[x->out][i] = 1000;
    par p = {in_turn, 1};
    run((void *const *)x->buf, workspace, &p);
    at_resident_free(resident);
    at_arena_free(a);
}

/* ---- mutants --------------------------------------------------------------------------------- */

static bool has_memory(const at_tile_op *op) {
    return op->kind == AT_T_LOAD || op->kind == AT_T_BCAST || op->kind == AT_T_STORE ||
           op->mem == AT_MEM_VECTOR || op->mem == AT_MEM_BCAST;
}

static bool takes_in(const at_tile_op *op) {
    return (op->kind == AT_T_ADD || op->kind == AT_T_MAX || op->kind == AT_T_MIN) &&
           (op->dst == op->a || op->dst == op->b);
}

/* Makes one change; NULL: this operation offers none. */
static const char *mutate(at_tile *t, int i, at_rng *rng) {
    at_tile_op *op = &t->ops[i];
    int by = at_rng_below(rng, 2) ? 1 : -1;
    if (op->kind == AT_T_LOOP && op->trip_arg < 0 && op->trip + by > 0) {
        op->trip += by;
        return "another number of trips";
    }
    if (op->kind == AT_T_FIRST ||
        (op->kind == AT_T_LOAD && op->lanes > 1 && op->lanes < t->lanes)) {
        if (op->lanes + by < 1 || op->lanes + by > t->lanes) by = -by;
        if (op->lanes + by < 1) return NULL;
        op->lanes = (uint8_t)(op->lanes + by);
        return "a tail of another length";
    }
    if (op->kind == AT_T_BUMP && op->trip_arg < 0 && op->bump > 0) {
        op->bump += by;
        return "a pointer that moves too far or not enough";
    }
    if (takes_in(op) && at_rng_below(rng, 2)) {
        *op = (at_tile_op){.kind = AT_T_MOV,
                           .dst = op->dst,
                           .a = op->dst,
                           .b = -1,
                           .slot = -1,
                           .base = -1,
                           .trip_arg = -1};
        return "a term that is not taken in";
    }
    if (op->kind == AT_T_SWAP) {
        op->by = op->by == 1 ? 2 : op->by / 2;
        return op->by < t->lanes ? "other lanes joined" : NULL;
    }
    if (!has_memory(op)) return NULL;
    op->off += by;
    return "an operand off by one";
}

typedef enum result { FOUND, EQUAL, MISSED } result;

static result judge(const subject *x) {
    const float *got = x->buf[x->out];
    if (!memcmp(got, x->right, sizeof *got * (size_t)x->out_count)) return EQUAL;
    for (int64_t i = 0; i < x->out_count; i++)
        if (!at_agrees(got[i], x->want[i], x->limit[i])) return FOUND;
    return MISSED;
}

static void open_subject(subject *x, const char *name, const char *args, int set, bool peaks) {
    at_config config;
    at_error err = {0};
    at_rng rng;
    memset(x, 0, sizeof *x);
    shape_open(&x->s, name, args);
    x->arena = x->s.arena;
    if (at_task_default_config(x->arena, x->s.task,
                               at_target_find(at_vector_set_name(set))->default_lanes, &config,
                               &err) != AT_OK)
        fail_msg("%s", err.text);
    const char *fault = shape_lower(&x->s, x->arena, &config,
                                    &(way){.compiler = AT_TCC, .set = set}, "kernel", &x->c);
    if (fault) fail_msg("%s", fault);
    const at_kernel *k = x->c.kernel;
    assert_null(k->pack);
    at_rng_seed(&rng, 5, 5);
    for (int i = 0; i < k->num_params; i++) {
        const at_param *p = &k->params[i];
        const at_tensor *t = &x->c.program->compute->tensors[p->tensor];
        x->buf[i] = roomy(x->arena, p->elements, &x->mem[i]);
        if (p->role == AT_PARAM_OUT) x->out = i, x->out_count = p->elements;
        else
            fill_rows(x->buf[i], p->elements, x->c.program->extents[p->tensor][t->num_axes - 1],
                      peaks, &rng);
    }
    assert_int_equal(x->out, k->num_params - 1);
    x->want = AT_NEW_ARRAY(x->arena, float, x->out_count);
    x->limit = AT_NEW_ARRAY(x->arena, float, x->out_count);
    x->right = AT_NEW_ARRAY(x->arena, float, x->out_count);
    compute_right(x);
    run_kernel(x, k->tiles);
    memcpy(x->right, x->buf[x->out], sizeof *x->right * (size_t)x->out_count);
    for (int64_t i = 0; i < x->out_count; i++)
        if (!at_agrees(x->right[i], x->want[i], x->limit[i]))
            fail_msg("%s %s: %g, not %g +- %g", name, args, (double)x->right[i], (double)x->want[i],
                     (double)x->limit[i]);
}

/* Adds to the counts; a mutant that is not found ends the test. */
static void mutants_of(const char *name, const char *args, int set, bool peaks, int wanted,
                       int count[3]) {
    subject x;
    at_rng rng;
    open_subject(&x, name, args, set, peaks);
    const at_kernel *k = x.c.kernel;
    at_rng_seed(&rng, 9, (uint64_t)set);
    for (int tried = 0, found = 0; found < wanted && tried < 20 * wanted;) {
        at_arena *a = at_arena_new();
        int which = (int)at_rng_below(&rng, (uint64_t)k->num_tiles);
        at_tile t = *k->lowered->tiles[which];
        t.ops = at_copy(a, t.ops, sizeof *t.ops * (size_t)t.num_ops);
        int i = (int)at_rng_below(&rng, (uint64_t)t.num_ops);
        const char *what = mutate(&t, i, &rng);
        at_tile_code *codes = at_copy(a, k->tiles, sizeof *codes * (size_t)k->num_tiles);
        if (what && k->target->encode(a, &t)) {
            codes[which].bytes = t.code;
            codes[which].size_bytes = t.code_bytes;
            run_kernel(&x, codes);
            result r = judge(&x);
            count[r]++;
            tried++;
            found += r == FOUND;
            if (r == MISSED) {
                at_text text = {0};
                at_tile_print(&text, &t);
                fail_msg("%s %s, %s: operation %d, %s, is not found:\n%s", name, args,
                         at_vector_set_name(set), i, what, at_text_str(&text));
            }
        }
        at_arena_free(a);
    }
    shape_close(&x.s);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void mutants(const char *name, const char *args, bool peaks) {
    int count[3] = {0}, sets = 0;
    for (int set = 0; at_vector_set_name(set); set++) sets += at_cpu_has_set(set) != 0;
    for (int set = 0; at_vector_set_name(set); set++)
        if (at_cpu_has_set(set))
            mutants_of(name, args, set, peaks, (WANTED + sets - 1) / sets, count);
    print_message("%s: %d mutants found of %d; %d more compute the same bits\n", name, count[FOUND],
                  count[FOUND] + count[MISSED], count[EQUAL]);
    assert_true(count[FOUND] >= WANTED);
}

static void softmax(void **state) {
    (void)state;
    mutants("softmax", "Y=75,X=75", true);
}

static void layer_norm(void **state) {
    (void)state;
    mutants("layer_norm", "M=20,N=75", false);
}

static void norm(void **state) {
    (void)state;
    mutants("norm", "B=20,M=15,N=15", false);
}

static void pooling(void **state) {
    (void)state;
    mutants("max_pool2d_nhwc", "H=9,W=9,C=19,KH=3,KW=3", false);
}

/* 3 rows of 40, and room for the data of a run, which is not filled yet. */
static void open_softmax(subject *x, at_dataset *d) {
    at_error err = {0};
    open_subject(x, "softmax", "Y=3,X=40", 0, true);
    const int **layouts = AT_NEW_ARRAY(x->arena, const int *, x->c.program->compute->num_tensors);
    if (at_dataset_new(x->arena, x->c.program->compute, x->c.program->values, layouts, NULL, d,
                       &err) ||
        at_dataset_expect(x->arena, d, &err))
        fail_msg("%s", err.text);
}

/* The second data of a run are such that a kernel without the maximum overflows in most rows, or
 * divides nothing by nothing. */
static void inputs_overflow(void **state) {
    (void)state;
    subject x;
    at_dataset d;
    open_softmax(&x, &d);
    assert_int_equal(d.rule.num_draws, 2);
    d.draw = 1;
    at_dataset_fill(&d, 1);
    const float *in = at_store_at(d.store, d.offset[0]);
    int broken = 0;
    for (int y = 0; y < 3; y++) {
        double sum = 0;
        for (int k = 0; k < 40; k++) sum += exp((double)in[y * 40 + k]);
        broken += sum > 0x1p128 || sum < 0x1p-149;
    }
    assert_true(2 * broken > 3);
    at_dataset_free(&d);
    shape_close(&x.s);
}

/* Data of gigabytes take long: who asked for an end, or for one in time, is not kept waiting. */
static void filling_ends(void **state) {
    (void)state;
    subject x;
    at_dataset d;
    const volatile int stop = 1;
    open_softmax(&x, &d);
    const float *in = at_store_at(d.store, d.offset[0]);
    d.stop = &stop;
    at_dataset_fill(&d, 1);
    for (int i = 0; i < 120; i++) assert_true(in[i] == 0);
    d.stop = NULL;
    d.deadline_ns = 1;
    assert_false(at_dataset_fill(&d, 1));
    for (int i = 0; i < 120; i++) assert_true(in[i] == 0);
    d.deadline_ns = 0;
    at_dataset_fill(&d, 1);
    for (int i = 0; i < 120; i++) assert_true(in[i] != 0);
    at_dataset_free(&d);
    shape_close(&x.s);
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax),      cmocka_unit_test(inputs_overflow),
        cmocka_unit_test(filling_ends), cmocka_unit_test(layer_norm),
        cmocka_unit_test(norm),         cmocka_unit_test(pooling)};
    return cmocka_run_group_tests_name("run/mutants", tests, NULL, NULL);
}
