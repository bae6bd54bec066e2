/* bench/workload.c: the whole of TVM's te_workload set (examples/te), each computation as the tool
 * finds it without a template, as a share of the FMA peak, and against the kernels of MetaSchedule
 * and Ansor that tools/tvm-search left in build/bench/peers. ROWS in the environment names those
 * that count, or their sets: "C2D GMM-4".
 *
 * Peers do not pack weights ahead of the timed part; against them stands what the tool finds with
 * --pack inline, where there are weights. */
#include "bench/peers.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { OURS, INLINE, PEERS, NUM_PEERS = 2, NUM_CONTENDERS = PEERS + NUM_PEERS, TRIALS = 100 };
static const char *const peers[NUM_PEERS] = {"metaschedule", "ansor"};

typedef at_bench_te_row row;

/* clang-format off */
static const row rows[] = {
    {"C1D-1", "conv1d", "N=1,L=256,CI=64,CO=128,K=3,S=2,P=1"},
    {"C1D-2", "conv1d", "N=1,L=128,CI=128,CO=256,K=1,S=2,P=0"},
    {"C1D-3", "conv1d", "N=1,L=64,CI=256,CO=256,K=5,S=1,P=2"},
    {"C1D-4", "conv1d", "N=1,L=32,CI=512,CO=512,K=3,S=1,P=1"},
    {"C2D-1", "conv2d", "N=1,H=224,W=224,CI=3,CO=64,K=7,S=2,P=3"},
    {"C2D-2", "conv2d", "N=1,H=56,W=56,CI=64,CO=64,K=1,S=1,P=0"},
    {"C2D-3", "conv2d", "N=1,H=14,W=14,CI=256,CO=256,K=3,S=1,P=1"},
    {"C2D-4", "conv2d", "N=1,H=7,W=7,CI=512,CO=512,K=3,S=1,P=1"},
    {"C3D-1", "conv3d", "N=1,Z=16,H=224,W=224,CI=3,CO=64,K=7,S=2,P=3"},
    {"C3D-2", "conv3d", "N=1,Z=16,H=56,W=56,CI=64,CO=64,K=1,S=1,P=0"},
    {"C3D-3", "conv3d", "N=1,Z=16,H=14,W=14,CI=256,CO=256,K=3,S=1,P=1"},
    {"C3D-4", "conv3d", "N=1,Z=16,H=7,W=7,CI=512,CO=512,K=3,S=1,P=1"},
    {"GMM-1", "batch_matmul", "B=1,N=128,M=128,K=128"},
    {"GMM-2", "batch_matmul", "B=1,N=512,M=32,K=512"},
    {"GMM-3", "batch_matmul", "B=1,N=512,M=512,K=512"},
    {"GMM-4", "batch_matmul", "B=1,N=1024,M=1024,K=1024"},
    {"GRP-1", "group_conv2d", "N=1,H=56,W=56,CI=64,CO=128,K=3,S=2,P=1,G=4"},
    {"GRP-2", "group_conv2d", "N=1,H=56,W=56,CI=64,CO=64,K=1,S=1,P=0,G=4"},
    {"GRP-3", "group_conv2d", "N=1,H=14,W=14,CI=256,CO=256,K=3,S=1,P=1,G=4"},
    {"GRP-4", "group_conv2d", "N=1,H=7,W=7,CI=512,CO=512,K=3,S=1,P=1,G=4"},
    {"DIL-1", "conv2d", "N=1,H=224,W=224,CI=3,CO=64,K=7,S=2,P=3,D=2"},
    {"DIL-2", "conv2d", "N=1,H=56,W=56,CI=64,CO=64,K=1,S=1,P=0,D=2"},
    {"DIL-3", "conv2d", "N=1,H=14,W=14,CI=256,CO=256,K=3,S=1,P=1,D=2"},
    {"DIL-4", "conv2d", "N=1,H=7,W=7,CI=512,CO=512,K=3,S=1,P=1,D=2"},
    {"DEP-1", "depthwise_conv2d", "N=1,H=112,W=112,C=32,K=3,S=1,P=1"},
    {"DEP-2", "depthwise_conv2d", "N=1,H=112,W=112,C=64,K=3,S=2,P=1"},
    {"DEP-3", "depthwise_conv2d", "N=1,H=14,W=14,C=512,K=3,S=2,P=1"},
    {"DEP-4", "depthwise_conv2d", "N=1,H=7,W=7,C=1024,K=3,S=1,P=1"},
    {"T2D-1", "conv2d_transpose", "N=1,H=4,W=4,CI=512,CO=256,K=4,S=2,P=1"},
    {"T2D-2", "conv2d_transpose", "N=1,H=8,W=8,CI=256,CO=128,K=4,S=2,P=1"},
    {"T2D-3", "conv2d_transpose", "N=1,H=16,W=16,CI=128,CO=64,K=4,S=2,P=1"},
    {"T2D-4", "conv2d_transpose", "N=1,H=32,W=32,CI=64,CO=3,K=4,S=2,P=1"},
    {"CAP-1", "capsule_conv2d", "N=1,H=16,W=16,CI=32,CO=32,K=3,S=2,P=1"},
    {"CAP-2", "capsule_conv2d", "N=1,H=8,W=8,CI=32,CO=32,K=3,S=1,P=1"},
    {"CAP-3", "capsule_conv2d", "N=1,H=16,W=16,CI=8,CO=16,K=3,S=2,P=1"},
    {"CAP-4", "capsule_conv2d", "N=1,H=8,W=8,CI=16,CO=16,K=3,S=1,P=1"},
    {"NRM-1", "norm", "B=1,M=256,N=256"},
    {"NRM-2", "norm", "B=1,M=512,N=512"},
    {"NRM-3", "norm", "B=1,M=1024,N=1024"},
    {"NRM-4", "norm", "B=1,M=4096,N=1024"},
    {"SFM-1", "softmax", "M=256,N=256"},
    {"SFM-2", "softmax", "M=512,N=512"},
    {"SFM-3", "softmax", "M=1024,N=1024"},
    {"SFM-4", "softmax", "M=2048,N=2048"},
    {"CBR-1", "conv2d_bn_relu", "N=1,H=224,W=224,CI=3,CO=64,K=7,S=2,P=3"},
    {"CBR-2", "conv2d_bn_relu", "N=1,H=56,W=56,CI=64,CO=128,K=3,S=2,P=1"},
    {"CBR-3", "conv2d_bn_relu", "N=1,H=28,W=28,CI=128,CO=256,K=1,S=2,P=0"},
    {"CBR-4", "conv2d_bn_relu", "N=1,H=7,W=7,CI=512,CO=512,K=3,S=1,P=1"},
    {"TBG-1", "transpose_batch_matmul", "B=1,S=128,H=12,D=64"},
    {"TBG-2", "transpose_batch_matmul", "B=1,S=128,H=16,D=64"},
    {"TBG-3", "transpose_batch_matmul", "B=1,S=64,H=12,D=128"},
    {"TBG-4", "transpose_batch_matmul", "B=1,S=128,H=12,D=128"},
};
/* clang-format on */
enum { NUM_ROWS = (int)(sizeof rows / sizeof *rows) };

const at_bench_te_row *at_bench_te_rows(int *n) {
    *n = NUM_ROWS;
    return rows;
}

/* Of all rows that had a peer. */
static double log_sum;
static int num_met;

typedef struct entrants {
    at_bench_data data[2];
    at_bench_kernel kernel[2];
    at_tvm *tvm[NUM_PEERS];
    double search_s;
} entrants;

static bool has_weight(const at_compute *c) {
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].role == AT_ROLE_WEIGHT) return true;
    return false;
}

static at_status open_ours(at_arena *a, const row *r, entrants *e, int *num, at_error *err) {
    at_bench_search s = at_bench_te_search(a, r->name, r->file, r->args, TRIALS);
    at_program *p;
    AT_TRY(at_bench_best_open(a, &s, &p, &e->data[OURS], &e->kernel[OURS], err));
    *num = 1;
    e->search_s = at_bench_tune(&s)->total_s;
    if (!has_weight(p->compute)) return AT_OK;
    s.name = at_format(a, "%s-inline", r->name);
    s.options = at_bench_pack_inline;
    AT_TRY(at_bench_best_open(a, &s, &p, &e->data[INLINE], &e->kernel[INLINE], err));
    *num = 2;
    return AT_OK;
}

/* Those whose kernels are there. */
static void open_peers(at_arena *a, const row *r, entrants *e) {
    for (int i = 0; i < NUM_PEERS; i++) {
        const char *path = at_format(a, "%s/peers/%s.%s", at_bench_folder(a), r->name, peers[i]);
        at_error err;
        if (access(at_format(a, "%s.so", path), R_OK)) continue;
        if (at_tvm_open(a, path, &e->data[OURS], &e->tvm[i], &err) == AT_OK) continue;
        at_bench_report_skip(at_format(a, "%s %s", r->name, peers[i]), err.text);
        at_tvm_close(e->tvm[i]);
        e->tvm[i] = NULL;
    }
}

static void report(at_arena *a, const row *r, const entrants *e, const at_bench_contest *c,
                   const int *place) {
    int met = place[INLINE] >= 0 ? place[INLINE] : place[OURS], better = -1;
    at_bench_report_row(at_format(a, "%s of the FMA peak", r->name),
                        at_bench_contest_of_peak(c, place[OURS]), AT_BENCH_GOAL_NONE, 0);
    if (met != place[OURS])
        at_bench_report_row(at_format(a, "%s, packed inline, against ahead", r->name),
                            at_bench_contest_speed(c, met, place[OURS]), AT_BENCH_GOAL_NONE, 0);
    for (int i = 0; i < NUM_PEERS; i++) {
        if (!e->tvm[i]) continue;
        int p = place[PEERS + i];
        at_bench_report_row(at_format(a, "%s against %s, %d trials in %.0f s (ours %.0f s)",
                                      r->name, peers[i], at_tvm_trials(e->tvm[i]),
                                      at_tvm_search_s(e->tvm[i]), e->search_s),
                            at_bench_contest_speed(c, met, p), AT_BENCH_GOAL_LEAST, 1);
        if (better < 0 || at_bench_contest_speed(c, p, better).median > 1) better = p;
    }
    if (better < 0) return;
    log_sum += log(at_bench_contest_speed(c, met, better).median);
    num_met++;
}

static void contest(at_arena *a, const row *r, entrants *e, int num_ours) {
    at_bench_contender of[NUM_CONTENDERS];
    at_bench_contest c;
    int n = 0, place[NUM_CONTENDERS] = {-1, -1, -1, -1};
    for (int i = 0; i < num_ours; i++) {
        place[i] = n;
        of[n++] = at_bench_kernel_contender(&e->kernel[i]);
    }
    for (int i = 0; i < NUM_PEERS; i++) {
        if (!e->tvm[i]) continue;
        place[PEERS + i] = n;
        of[n++] = at_tvm_contender(e->tvm[i]);
    }
    at_bench_contest_run(&c, of, n, at_bench_target());
    report(a, r, e, &c, place);
}

static at_status run(at_arena *a, int i, at_error *err) {
    entrants e = {0};
    int num_ours = 0;
    at_status s = open_ours(a, &rows[i], &e, &num_ours, err);
    if (s == AT_OK) {
        open_peers(a, &rows[i], &e);
        contest(a, &rows[i], &e, num_ours);
    }
    for (int k = 0; k < NUM_PEERS; k++) at_tvm_close(e.tvm[k]);
    for (int k = 0; k < num_ours; k++) at_bench_kernel_close(&e.kernel[k]);
    return s;
}

/* By its own name or that of its set. */
static bool is_wanted(at_arena *a, const char *name) {
    return at_bench_is_wanted(name) || at_bench_is_wanted(at_strndup(a, name, strcspn(name, "-")));
}

at_status at_bench_workload(at_error *err) {
    at_arena *names = at_arena_new();
    at_status s = AT_OK;
    at_bench_report_section("te_workload without templates, best of 100 trials", "ratio", 2);
    log_sum = num_met = 0;
    for (int i = 0; i < NUM_ROWS && s == AT_OK; i++)
        if (is_wanted(names, rows[i].name)) s = at_bench_row(run, i, rows[i].name, err);
    at_arena_free(names);
    if (num_met)
        at_bench_report_note("geometric mean of %d, against the better of the two: %.2f", num_met,
                             exp(log_sum / num_met));
    return s;
}
