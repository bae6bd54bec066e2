/* Wrong kernels must be noticed on the data that kernels are checked with: mutants of lowered
 * tiles, encoded again, and of the statements around them, at small odd sizes, run in a child of
 * this process and compared as the worker compares. What is not noticed must be the same program,
 * bit by bit, on three draws of ordinary and special values; or the same but for rounding, as where
 * terms of a sum change places: these are counted apart, and so is what differs on what is no
 * number alone, which is noticed with --paranoid. Where a bound hides half of all elements, sizes
 * are such that each operation makes a dozen or more. make test looks at some, make mutants at 200
 * of each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#include "engine/engine.h"
#include "engine/measure/kernel_job.h"
#include "runtime/arch.h"
#include "runtime/inside.h"
#include "templates/task.h"
#include "tests/setting.h"
#include "tests/run/text_subject.h"
#include "tests/run/tile_mutant.h"

enum {
    ALL = 200,
    SOME = 30,
    LANES = 8,
    MOST_KERNELS = 512,
    RUNS = 512, /* further ones of which a mutant is noticed in one */
    FEW_RUNS = 64,
    MOST_BUFS = 64,
    ROOM = 1 << 14 /* bytes around each buffer */
};

typedef int entry_fn(void *const buf[], void *workspace, void *par);

typedef struct par { /* as emitted C declares it */
    void (*parallel_for)(void (*body)(long i, int thread, void *context), long n, void *context);
    int threads;
    long turns;
} par;

static void in_turn(void (*body)(long i, int thread, void *context), long n, void *context) {
    for (long i = 0; i < n; i++) body(i, 0, context);
}

typedef struct lowered {
    const at_kernel *kernel;
    int *tensor_of; /* [params] of the computation; -1: packed */
} lowered;

typedef struct subject {
    text_subject text;
    lowered kernels[MOST_KERNELS];
    int num_kernels;
    char *outputs; /* of a run, shared with the child */
    int64_t output_bytes;
} subject;

/* ---- kernels: each sketch's default, for each instruction set -------------------------------- */

static int tensor_of_name(const at_compute *c, const char *name) {
    for (int t = 0; t < c->num_tensors; t++)
        if (!strcmp(c->tensors[t].name, name)) return t;
    return -1;
}

/* Where the data lie otherwise, or no code is made, there is no such kernel. */
static void add_kernel(subject *x, const at_task *task, const at_config *config,
                       const at_target *target) {
    at_arena *a = x->text.arena;
    at_error err;
    at_program *p;
    at_kernel *k;
    at_config own;
    const at_task *of = at_task_of_config(task, config, &own);
    const at_lower_options o = {
        .dialect = AT_DIALECT_TCC, .target = target, .name = "kernel", .verify = true};
    if (x->num_kernels == MOST_KERNELS || at_task_program(a, of, &own, &p, &err) != AT_OK ||
        at_lower(a, p, &o, &k, &err) != AT_OK)
        return;
    lowered *l = &x->kernels[x->num_kernels];
    *l = (lowered){k, AT_NEW_ARRAY(a, int, k->num_params)};
    for (int i = 0; i < k->num_params; i++) {
        l->tensor_of[i] = -1;
        if (k->params[i].role == AT_PARAM_PACKED) continue;
        const int own_tensor = k->params[i].tensor,
                  t = tensor_of_name(x->text.compute, p->compute->tensors[own_tensor].name);
        assert_true(t >= 0);
        l->tensor_of[i] = t;
        for (int k2 = 0; k2 < p->compute->tensors[own_tensor].num_axes; k2++)
            if (p->extents[own_tensor][k2] != x->text.extents[t][k2]) return;
    }
    x->num_kernels++;
}

static void add_kernels(subject *x) {
    const at_task *task = x->text.task;
    const int sketches = at_task_num_sketches(task);
    const at_target *target;
    for (int n = 0; (target = at_target_at(n)); n++)
        for (int i = 0; i < (sketches ? sketches : 1); i++) {
            at_config config;
            at_error err;
            const at_status s =
                sketches ? at_task_sketch_default(x->text.arena, task, i, LANES, &config, &err)
                         : at_task_default_config(x->text.arena, task, LANES, &config, &err);
            if (s == AT_OK && at_target_check(target, NULL) == AT_OK)
                add_kernel(x, task, &config, target);
        }
}

/* ---- a run ----------------------------------------------------------------------------------- */

static char *roomy(int64_t bytes, uint32_t pattern) {
    const int64_t all = (bytes + 2 * ROOM + 127) / 64 * 64;
    char *p = aligned_alloc(64, (size_t)all);
    if (!p) _exit(2);
    at_poison(p, all, pattern);
    return p + ROOM;
}

/* What a kernel writes beside a buffer is noticed; of a worker's run, too. */
static bool has_margins(const void *p, int64_t bytes, uint32_t pattern) {
    const int64_t behind = (bytes + 3) / 4 * 4;
    for (int64_t i = 0; i < ROOM; i += 4)
        if (memcmp((const char *)p - ROOM + i, &pattern, 4) ||
            memcmp((const char *)p + behind + i, &pattern, 4))
            return false;
    return true;
}

static char *unwritten(const subject *x, int64_t bytes, int large) {
    char *p = roomy(bytes, AT_POISON_WORK);
    if (large) at_fill_large(p, bytes, at_unwritten_sign(x->text.compute), large);
    return p;
}

/* In the child. */
static _Noreturn void run_here(const subject *x, const lowered *l, const at_dataset *d, int large,
                               entry_fn *entry, entry_fn *pack) {
    const at_kernel *k = l->kernel;
    void *buf[MOST_BUFS];
    char *output = x->outputs;
    par p = {in_turn, 1, 1L << 60};
    for (int i = 0; i < k->num_params; i++) {
        const at_param *q = &k->params[i];
        const int64_t bytes = q->elements * at_type_bytes(q->type);
        if (q->role == AT_PARAM_PACKED) buf[i] = unwritten(x, bytes, large);
        else if (q->role == AT_PARAM_IN) {
            buf[i] = roomy(bytes, AT_POISON_WORK);
            memcpy(buf[i], at_store_at(d->store, d->offset[l->tensor_of[i]]), (size_t)bytes);
        } else {
            const int held = at_compute_held(x->text.compute, l->tensor_of[i]);
            output += ROOM;
            buf[i] = output;
            if (held >= 0) memcpy(output, at_store_at(d->store, d->offset[held]), (size_t)bytes);
            output += (bytes + ROOM + 63) / 64 * 64;
        }
    }
    const int64_t work_bytes = k->workspace_bytes + k->workspace_per_thread_bytes;
    char *workspace = unwritten(x, work_bytes, large);
    if (pack && pack(buf, workspace, &p)) _exit(3);
    at_arch_fill_registers(large ? at_large_word(at_unwritten_sign(x->text.compute), large)
                                 : AT_POISON_WORK);
    if (entry(buf, workspace, &p)) _exit(4);
    bool kept = has_margins(workspace, work_bytes, AT_POISON_WORK);
    for (int i = 0; i < k->num_params; i++) {
        const at_param *q = &k->params[i];
        const int64_t bytes = q->elements * at_type_bytes(q->type);
        const bool is_output = q->role == AT_PARAM_OUT;
        kept &= has_margins(buf[i], bytes, is_output ? AT_POISON_OUT : AT_POISON_WORK);
        if (q->role == AT_PARAM_IN)
            kept &=
                !memcmp(buf[i], at_store_at(d->store, d->offset[l->tensor_of[i]]), (size_t)bytes);
    }
    _exit(kept ? 0 : 5);
}

static int64_t bytes_of(const at_param *q) { return q->elements * at_type_bytes(q->type); }

static int64_t bytes_of_outputs(const lowered *l) {
    int64_t bytes = 0;
    for (int i = 0; i < l->kernel->num_params; i++)
        if (l->kernel->params[i].role == AT_PARAM_OUT)
            bytes += (bytes_of(&l->kernel->params[i]) + 2 * ROOM + 63) / 64 * 64 + 64;
    return bytes;
}

typedef enum end { RAN, CRASHED, NOT_COMPILED } end;

/* Into x->outputs. */
static end run(subject *x, const lowered *l, const at_dataset *d, int large, const tile_mutant *m) {
    const at_kernel *k = l->kernel;
    const char *names[] = {k->entry, k->pack};
    at_arena *a = at_arena_new();
    at_blob *blobs = AT_NEW_ARRAY(a, at_blob, k->num_tiles);
    const at_tile_code *codes = m ? m->codes : k->tiles;
    for (int i = 0; i < k->num_tiles; i++)
        blobs[i] = (at_blob){codes[i].symbol, codes[i].bytes, codes[i].size_bytes};
    const at_unit unit = {.source = m ? m->source : k->source,
                          .blobs = blobs,
                          .num_blobs = k->num_tiles,
                          .names = names,
                          .num_names = k->pack ? 2 : 1,
                          .is_written = true};
    at_resident *resident;
    void *found[2];
    entry_fn *functions[2] = {NULL, NULL};
    at_error err;
    const bool compiled = at_resident_new(&unit, found, &resident, &err) == AT_OK;
    at_arena_free(a);
    if (!compiled) return NOT_COMPILED;
    memcpy(functions, found, sizeof *found * (size_t)unit.num_names);
    at_poison(x->outputs, x->output_bytes, AT_POISON_OUT);
    fflush(NULL);
    int status;
    const pid_t child = fork();
    if (!child) {
        static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGXCPU, SIGABRT};
        for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) signal(crashes[i], SIG_DFL);
        setrlimit(RLIMIT_CPU, &(struct rlimit){5, 5}); /* a loop without end */
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        run_here(x, l, d, large, functions[0], functions[1]);
    }
    const bool ran = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
                     !WEXITSTATUS(status);
    at_resident_free(resident);
    return ran ? RAN : CRASHED;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static bool is_poison(float x) {
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return bits == AT_POISON_OUT || bits == AT_POISON_WORK;
}

/* Its outputs one by one: are they what they should be? */
static bool differs(const subject *x, const lowered *l, const at_dataset *d) {
    const char *at = x->outputs;
    for (int i = 0; i < l->kernel->num_params; i++) {
        const at_param *q = &l->kernel->params[i];
        if (q->role != AT_PARAM_OUT) continue;
        const int t = l->tensor_of[i];
        const bool is_int = at_type_of(q->type)->is_int;
        const float *got = (const float *)(const void *)(at + ROOM);
        if (is_int &&
            memcmp(at + ROOM, at_store_at(d->store, d->expected[t]), (size_t)bytes_of(q)) != 0)
            return true;
        for (int64_t e = 0; e < q->elements && !is_int; e++)
            if (is_poison(got[e]) || !text_subject_agrees(d, t, e, got[e])) return true;
        at += ROOM + (bytes_of(q) + ROOM + 63) / 64 * 64;
    }
    return false;
}

/* As the worker looks: each draw, and once more as it does behind the timing. */
static bool is_noticed(subject *x, const lowered *l, const tile_mutant *m, bool *compiled) {
    const int draws = x->text.num_draws;
    for (int i = 0; i <= draws; i++) {
        const int draw = i % draws;
        const end e = run(x, l, &x->text.draw[draw], i < draws ? i : 2 * draws, m);
        *compiled = e != NOT_COMPILED;
        if (e == NOT_COMPILED) return false;
        if (e == CRASHED || differs(x, l, &x->text.draw[draw])) return true;
    }
    return false;
}

/* Where draws are made again, or winners go from place to place: in the first of these runs? */
static bool is_noticed_again(subject *x, const lowered *l, int64_t runs, const tile_mutant *m) {
    for (int64_t i = 0; i < runs && text_subject_take_run(&x->text, i); i++)
        if (run(x, l, &x->text.cover, (int)i, m) != RAN || differs(x, l, &x->text.cover))
            return true;
    return false;
}

/* With --paranoid, where it differs in what is made of numbers that are none? */
static bool is_noticed_among_specials(subject *x, const lowered *l, const tile_mutant *m) {
    const bool any = text_subject_add_specials(&x->text, true);
    const at_dataset *d = &x->text.draw[x->text.num_draws - 1];
    if (any && (run(x, l, d, 0, NULL) != RAN || differs(x, l, d)))
        fail_msg("%s: a right kernel is wrong with --paranoid:\n%s", x->text.name,
                 l->kernel->source);
    const bool noticed = any && (run(x, l, d, 0, m) != RAN || differs(x, l, d));
    text_subject_add_specials(&x->text, false);
    return noticed;
}

/* How two runs differ: 0 not at all, 1 by what roundings may do, 2 otherwise. */
static int distance(const float *x, const float *y, int64_t n) {
    int most = 0;
    double size = 0;
    for (int64_t i = 0; i < n; i++)
        if (isfinite(x[i])) size = fmax(size, fabs((double)x[i]));
    for (int64_t i = 0; i < n && most < 2; i++) {
        if (!memcmp(&x[i], &y[i], 4) || (isnan(x[i]) && isnan(y[i]))) continue;
        const bool rounds =
            fabs((double)x[i] - (double)y[i]) <= 1e-5 * fabs((double)x[i]) + 1e-6 * size;
        most = rounds ? 1 : 2;
    }
    return most;
}

/* On three draws of ordinary and special values. */
static int distance_from_original(subject *x, const lowered *l, const tile_mutant *m) {
    at_dataset *d = &x->text.draw[0];
    float *first = malloc((size_t)x->output_bytes);
    int most = 0;
    for (uint64_t seed = 1; seed <= 3 && most < 2; seed++) {
        text_subject_fill_otherwise(&x->text, seed);
        const bool ran = run(x, l, d, 0, NULL) == RAN;
        memcpy(first, x->outputs, (size_t)x->output_bytes);
        if (!ran || run(x, l, d, 0, m) != RAN) most = 2;
        const int far =
            distance(first, (const float *)(const void *)x->outputs, x->output_bytes / 4);
        if (far > most) most = far;
    }
    text_subject_fill_otherwise(&x->text, 0);
    free(first);
    return most;
}

/* ---- the score ------------------------------------------------------------------------------- */

static void open_subject(subject *x, const char *name, const char *args) {
    x->num_kernels = 0;
    text_subject_open(&x->text, name, args);
    add_kernels(x);
    if (!x->num_kernels) fail_msg("%s %s: no kernel", name, args);
    x->output_bytes = 0;
    for (int i = 0; i < x->num_kernels; i++) {
        const int64_t bytes = bytes_of_outputs(&x->kernels[i]);
        if (bytes > x->output_bytes) x->output_bytes = bytes;
    }
    x->outputs = mmap(NULL, (size_t)x->output_bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (x->outputs == MAP_FAILED) fail_msg("no memory");
    for (int i = 0; i < x->num_kernels; i++) {
        bool compiled;
        if (is_noticed(x, &x->kernels[i], NULL, &compiled) ||
            (!i && is_noticed_again(x, &x->kernels[i], FEW_RUNS, NULL)))
            fail_msg("%s %s: a right kernel of %s is wrong:\n%s", name, args,
                     x->kernels[i].kernel->target->name, x->kernels[i].kernel->source);
    }
}

/* Those that nobody notices, and one where there are too few others. */
static int missed_of(const char *name, const char *args, int wanted) {
    subject x;
    at_rng rng;
    int noticed = 0, same = 0, rounds = 0, paranoid = 0, unnoticed = 0;
    open_subject(&x, name, args);
    at_rng_seed(&rng, (uint64_t)setting("AT_SEED", 4), 4);
    for (int tried = 0; noticed < wanted && tried < 40 * wanted; tried++) {
        at_arena *a = at_arena_new();
        const lowered *l = &x.kernels[at_rng_below(&rng, (uint64_t)x.num_kernels)];
        tile_mutant m;
        bool compiled = false;
        if (tile_mutate(a, l->kernel, &rng, &m)) {
            const bool is = is_noticed(&x, l, &m, &compiled);
            const int far = is || !compiled ? 0 : distance_from_original(&x, l, &m);
            if (is) noticed++;
            else if (compiled && !far) same++;
            else if (compiled && far == 1) rounds++;
            else if (compiled && is_noticed_again(&x, l, RUNS, &m)) noticed++;
            else if (compiled && is_noticed_among_specials(&x, l, &m)) paranoid++;
            else if (compiled) {
                /* longer than what cmocka prints at once */
                fprintf(stderr, "%s, %s: not noticed: %s: %s\n", name, l->kernel->target->name,
                        m.what, m.where);
                unnoticed++;
            }
        }
        at_arena_free(a);
    }
    print_message("%s %s: %d of %d noticed, in %d kernels; %d more are the same program, %d the "
                  "same but for rounding, %d are noticed with --paranoid alone\n",
                  name, args, noticed, noticed + unnoticed, x.num_kernels, same, rounds, paranoid);
    munmap(x.outputs, (size_t)x.output_bytes);
    text_subject_close(&x.text);
    return unnoticed + (noticed < wanted);
}

static void none_missed(const char *const (*tasks)[2], int n, int wanted) {
    assert_int_equal(mutants_missed_of(tasks, n, wanted, ALL, missed_of), 0);
}

#define CONV "N=1,H=5,W=7,CI=5,CO=12"
#define TE "examples/te/"
/* Worked out in lanes of 8 and of 16 bits. */
#define BYTES                                                                                      \
    "args H=3, W=301\nx[H, W] : input u8\ny[H, W] : input u8\n"                                    \
    "total[h:H, w:W] : output u8 = min(x[h, w] + y[h, w], 255)\n"                                  \
    "over[h:H, w:W] : output u8 = x[h, w] > 100 ? 255 : y[h, w]\n"                                 \
    "apart[h:H, w:W] : output u8 = max(x[h, w], y[h, w]) - min(x[h, w], y[h, w])\n"                \
    "mixed[h:H, w:W] : output u8 = (x[h, w]*77 + y[h, w]*179 + 128) >> 8\n"

static void some(void **state) {
    (void)state;
    static const char *const tasks[][2] = {
        {"dense+clip", "M=55,N=69,K=19"},
        {"conv2d_nhwc+relu", CONV},
        {"softmax", "Y=29,X=37"},
        {"max_pool2d_nhwc", "H=19,W=21,C=37"},
        {"sparse_dense", "M=5,N=6,K=31,nnz=50,R=1"},
        {TE "attention.te", "B=3,S=23,T=13,D=11"},
        {TE "masked_mean.te", "B=3,S=11,D=13"},
        {TE "lstm_cell.te", "N=9,X=7,H=45"},
        {TE "conv2d_bn_relu.te", "H=33,W=45,CI=5,CO=23"},
    };
    none_missed(tasks, sizeof tasks / sizeof *tasks, SOME);
}

static const char *const of_templates[][2] = {
    {"conv2d_3x3_gemm", CONV},
    {"conv2d_NCHWc", "N=1,IC=6,H=5,W=7,OC=12"},
    {"conv2d_nhwc", CONV},
    {"conv2d_winograd_nhwc", "N=1,H=5,W=7,CI=5,CO=12,m=2"},
    {"conv2d_winograd_NCHWc", "N=1,H=5,W=7,CI=6,CO=12,m=2"},
    {"indirect_conv2d_nhwc", CONV},
    {"group_conv2d_nhwc", "H=9,W=7,CI=6,CO=10,G=2,strides=1"},
    {"depthwise_conv2d_NCHWc", "H=9,W=7,IC=6"},
    {"depthwise_conv2d_nhwc", "H=7,W=9,C=13,M=2"},
    {"conv2d_transpose_nhwc", "CI=6,CO=11"},
    {"conv2d_capsule_nhwijc", "H=6,W=7,CI=3,CO=7"},
    {"conv1d_nwc", "W=37,CI=5,CO=13"},
    {"conv3d_ndhwc", "D=3,H=5,W=5,CI=4,CO=11,KD=3,padding=1"},
    {"max_pool2d_nhwc", "H=19,W=21,C=37"},
    {"avg_pool2d_nhwc", "H=7,W=9,C=19"},
    {"layer_norm", "M=5,N=43"},
    {"softmax", "Y=29,X=37"},
    {"norm", "B=3,M=7,N=11"},
    {"dense", "M=11,N=37,K=19,bias=1"},
    {"matmul_add", "N=5,L=19,M=37"},
    {"batch_matmul", "B=3,M=5,N=19,K=7"},
    {"spconv2d_3x3_gemm", "H=5,W=6,CI=4,CO=24,nnz=20,R=4,C=4"},
    {"spconv2d_nhwc", "H=9,W=7,CI=5,CO=32,nnz=30"},
    {"conv2d_nchw_spatial_pack", "CI=5,H=7,W=11,CO=12"},
    {"depthwise_conv2d_nchw", "C=6,H=9,W=7"},
    {"conv2d_nchw_winograd", "CI=5,H=5,W=7,CO=12"},
    {"sparse_dense", "M=5,N=6,K=31,nnz=50,R=1"},
    {"conv2d_NCHWc_int8", "IC=8,H=5,W=7,OC=16"},
    {"dense_int8", "M=11,N=32,K=20"},
    {"dense_q4_0", "M=29,N=32,K=96"},
    {"dense_q8_0", "M=29,N=48,K=96"},
    {"dense_q4_k", "M=19,N=32,K=512"},
    {"dense_f16", "M=11,N=37,K=19"},
    {"dense_bf16", "M=11,N=37,K=19"},
    {"batch_matmul_int8", "B=3,M=5,N=16,K=8"},
    {"dense_int8+u8", "M=55,N=80,K=20"},
    {"dense", "M=55,N=80,K=20,types=u8s8u8"},
    {"dense", "M=55,N=80,K=20,types=s8s8s8"},
    {"conv2d_nhwc", "H=13,W=15,CI=8,CO=16,types=u8s8u8"},
};

static void templates(void **state) {
    (void)state;
    if (!mutants_are_all()) skip();
    none_missed(of_templates, sizeof of_templates / sizeof *of_templates, 0);
}

static void fused(void **state) {
    (void)state;
    if (!mutants_are_all()) skip();
    static const char *const tasks[][2] = {
        {"dense+bias", "M=11,N=37,K=19"},
        {"dense+add", "M=11,N=37,K=19"},
        {"dense+relu", "M=55,N=69,K=19"},
        {"dense+clip", "M=55,N=69,K=19"},
        {"dense+scale", "M=11,N=37,K=19"},
        {"conv2d_3x3_gemm+bias+relu", CONV},
        {"conv2d_nhwc+scale+add+relu", CONV},
        {"depthwise_conv2d_nhwc+scale+clip", "H=45,W=33,C=180"},
    };
    none_missed(tasks, sizeof tasks / sizeof *tasks, 0);
}

static const char *const of_examples[][2] = {
    {TE "attention.te", "B=3,S=23,T=13,D=11"},
    {TE "batch_matmul.te", "B=3,N=5,M=19,K=7"},
    {TE "block_sparse_dense.te", "M=5,R=7,Q=9,E=23,B=4,C=3"},
    {TE "capsule_conv2d.te", "N=1,H=5,W=7,CI=3,CO=5,C=3"},
    {TE "causal_conv1d.te", "N=2,T=13,CI=5,CO=11"},
    {TE "causal_scores.te", "H=2,S=19,D=11"},
    {TE "causal_softmax.te", "H=13,S=19"},
    {TE "channels_last.te", "C=11,H=5,W=7"},
    {TE "complex_matmul.te", "M=5,N=19,K=7"},
    {TE "conv1d.te", "L=19,CI=5,CO=11"},
    {TE "conv2d.te", "H=5,W=7,CI=5,CO=11"},
    {TE "conv2d_bn_relu.te", "H=33,W=45,CI=5,CO=23"},
    {TE "conv2d_by_rows.te", "H=5,W=7,CI=5,CO=11"},
    {TE "conv2d_data_gradient.te", "H=5,W=7,CI=5,CO=11"},
    {TE "conv2d_nchw.te", "H=5,W=11,CI=5,CO=7"},
    {TE "conv2d_transpose.te", "H=3,W=4,CI=5,CO=11"},
    {TE "conv2d_weight_gradient.te", "H=5,W=7,CI=5,CO=11"},
    {TE "conv3d.te", "Z=3,H=5,W=5,CI=5,CO=11"},
    {TE "correlation.te", "C=5,H=7,W=9,D=2"},
    {TE "conv2d_u8s8.te", "H=11,W=13,CI=8,CO=48"},
    {TE "cross_entropy.te", "M=29,N=37"},
    {TE "dense.te", "M=11,N=37,K=19"},
    {TE "dense_s8s8.te", "M=55,N=80,K=20"},
    {TE "dense_u8s8.te", "M=55,N=80,K=20"},
    {TE "depthwise_conv2d.te", "H=7,W=9,C=13"},
    {TE "dft.te", "B=5,N=23"},
    {TE "distances.te", "N=5,M=19,D=7"},
    {TE "embedding.te", "S=7,V=23,D=19"},
    {TE "embedding_bag.te", "B=29,E=61,V=11,D=19"},
    {TE "embedding_gradient.te", "N=29,V=11,C=21"},
    {TE "gated_mlp.te", "M=5,K=7,F=19"},
    {TE "graph_sums.te", "V=55,E=97,D=5,F=69"},
    {TE "group_conv2d.te", "H=7,W=9,CI=6,CO=10,G=2"},
    {TE "group_norm.te", "N=3,H=5,W=7,C=12,G=4"},
    {TE "cached_attention.te", "G=33,T=23,D=19"},
    {TE "grouped_attention.te", "G=2,R=3,S=5,T=11,D=7"},
    {TE "gru_cell.te", "N=9,X=7,H=45"},
    {TE "histogram.te", "P=523,B=13"},
    {TE "integral_image.te", "H=11,W=19"},
    {TE "layer_norm.te", "M=5,N=43"},
    {TE "linear_attention.te", "H=2,T=11,D=5,E=7"},
    {"tests/te/last_step.te", "T=11,H=9,W=37"},
    {"tests/te/long_rows_of_steps.te", "T=113,C=147"},
    {"tests/te/short_rows.te", "B=2,M=400,N=6"},
    {"tests/te/sums_along_rows.te", "B=2,M=21,N=67"},
    {"tests/te/few_outputs.te", "M=19,N=5,K=300"},
    {"tests/te/few_queries.te", "G=2,R=5,T=21,D=72"},
    {"tests/te/turned_reads.te", "C=3,H=5,W=29"},
    {"tests/te/chosen_rows.te", "M=128,T=3,D=5,C=9"},
    {"tests/te/places.te", "N=384,H=5,W=4,C=3"},
    {"tests/te/steps_along_rows.te", "M=37,N=53"},
    {"tests/te/steps_beside.te", "C=7,P=96"},
    {"tests/te/chain_of_rows.te", "B=5,S=37,T=23,D=9"},
    {"tests/te/chain_of_windows.te", "B=21,S=45,D=5,W=13"},
    {"tests/te/chain_of_steps.te", "B=9,S=37,C=3,J=17,D=19"},
    {"tests/te/centred_product.te", "M=37,N=21,K=5"},
    {"tests/te/rows_reduced.te", "P=512,K=12,C=9"},
    {"tests/te/rows_that_lead.te", "C=5,H=21,W=35,Q=7,K=5"},
    {"tests/te/flat_rows.te", "C=5,F=75,H=6,W=7"},
    {"tests/te/flat_rows.te", "C=5,F=23,H=6,W=20"},
    {"tests/te/found_in_blocks.te", "M=704,V=119,D=5"},
    {"tests/te/columns_of_rows.te", "I=5,J=21,K=3"},
    {"tests/te/bound_by_entries.te", "G=2,T=33,D=11"},
    {"tests/te/triangle.te", "N=7,C=37"},
    {"tests/te/lower_triangle.te", "N=31,M=3"},
    {"tests/te/upper_triangle.te", "N=37,M=219"},
    {"tests/te/triangular_product.te", "N=29,M=37"},
    {"tests/te/symmetric_part.te", ""},
    {"tests/te/turned_points.te", ""},
    {"tests/te/rows_and_columns.te", "B=1,N=24,M=53"},
    {"tests/te/points.te", "N=49,D=3"},
    {"tests/te/small_matrices.te", "N=37,R=3"},
    {"tests/te/spread_entries.te", "N=40,K=16"},
    {"tests/te/places_of_points.te", "M=4096,N=9"},
    {"tests/te/median_of_columns.te", "H=130,W=258"},
    {"tests/te/padded_points.te", "H=3,W=37"},
    {"tests/te/opening.te", "C=2,H=69,W=165"},
    {"tests/te/windows_in_common.te", "H=66,W=130"},
    {"tests/te/windows_down.te", "H=11,W=37"},
    {"tests/te/padded_bytes.te", "C=8,O=17,H=5,W=7"},
    {"tests/te/parts_of_bytes.te", "N=37"},
    {BYTES, ""},
    {"tests/te/one_hot.te", "M=37,V=53"},
    {"tests/te/chosen_by_values.te", "Y=7,X=37"},
    {"tests/te/entries_beside_lanes.te", "C=3,H=11,W=37,M=5"},
    {"tests/te/moved_places.te", ""},
    {"tests/te/short_sums.te", "M=101,N=13"},
    {"tests/te/blocks_to_rows.te", ""},
    {"tests/te/colours.te", "H=5,W=37"},
    {"tests/te/max_pool_first.te", "C=3,H=9,W=21"},
    {"tests/te/moments_first.te", "N=3,C=5,H=6,W=7"},
    {"tests/te/softmax_first.te", "N=2,C=5,P=40"},
    {"tests/te/padded_halves.te", ""},
    {"tests/te/doubled_by_rows.te", "C=2,H=9,W=37"},
    {TE "group_conv2d.te", "H=7,W=9,CI=15,CO=20,G=5"},
    {TE "lstm.te", "T=5,B=3,D=7,H=11"},
    {TE "lstm_cell.te", "N=9,X=7,H=45"},
    {TE "masked_mean.te", "B=3,S=11,D=13"},
    {TE "matmul_add.te", "N=5,L=7,M=37"},
    {TE "mlp.te", "B=55,I=7,H=69,O=15"},
    {TE "norm.te", "B=3,M=7,N=11"},
    {TE "packed_dense.te", "M=9,N=37,K=18"},
    {TE "int4_dense.te", "M=2,N=37,K=96"},
    {TE "packed_triangle.te", "N=19"},
    {TE "quantised_dense.te", "M=5,N=19,K=24,G=3"},
    {TE "ring_contraction.te", "O=3,V=5"},
    {TE "rms_norm.te", "M=5,N=43"},
    {TE "rotary.te", "B=2,T=5,H=3,D=14"},
    {TE "selective_scan.te", "T=11,D=7,N=5"},
    {TE "separable_blur.te", "H=9,W=19"},
    {TE "separable_conv2d.te", "N=13,H=7,W=9,CI=5,CO=13"},
    {TE "softmax.te", "M=29,N=37"},
    {TE "sparse_dense.te", "M=29,N=41,K=19,E=203"},
    {TE "stencil.te", "Z=5,Y=7,X=19"},
    {TE "transformer.te", "S=7,D=12,H=2,F=19"},
    {TE "transpose.te", "N=19,M=13"},
    {TE "transpose_batch_matmul.te", "S=7,H=3,D=11"},
    {TE "unsharp.te", "H=9,W=19"},
};

static void examples(void **state) {
    (void)state;
    if (!mutants_are_all()) skip();
    none_missed(of_examples, sizeof of_examples / sizeof *of_examples, 0);
}

static bool is_listed(const char *const (*tasks)[2], int n, const char *name) {
    for (int i = 0; i < n; i++)
        if (!strcmp(tasks[i][0], name)) return true;
    return false;
}

/* Of the whole that is counted none is forgotten. */
static void all_are_listed(void **state) {
    (void)state;
    DIR *d = opendir(TE);
    assert_non_null(d);
    for (int i = 0; i < at_template_count(); i++)
        if (!is_listed(of_templates, sizeof of_templates / sizeof *of_templates,
                       at_template_at(i)->name))
            fail_msg("%s has no size to be counted at", at_template_at(i)->name);
    for (struct dirent *e; (e = readdir(d));) {
        char name[300];
        snprintf(name, sizeof name, TE "%s", e->d_name);
        if (strstr(name, ".te") &&
            !is_listed(of_examples, sizeof of_examples / sizeof *of_examples, name))
            fail_msg("%s has no size to be counted at", name);
    }
    closedir(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_are_listed), cmocka_unit_test(some),
                                       cmocka_unit_test(templates), cmocka_unit_test(fused),
                                       cmocka_unit_test(examples)};
    return cmocka_run_group_tests_name("run/tile_mutants", tests, NULL, NULL);
}
