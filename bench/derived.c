/* bench/derived.c: computations without a schedule (examples/te) against the templates that people
 * wrote for them: the best that the tool finds in the space of the derived loop trees, and in the
 * template's. */
#include "bench/bench.h"

enum { DERIVED, WRITTEN, NUM_CONTENDERS };

typedef struct row {
    const char *name, *file, *args, *template_name, *template_args;
} row;

/* clang-format off */
static const row rows[] = {
    {"1024^3", "matmul_add", "N=1024,L=1024,M=1024", "matmul_add", "N=1024,L=1024,M=1024"},
    {"64@56 3x3", "conv2d", "H=56,W=56,CI=64,CO=64,K=3,P=1", "conv2d_nhwc",
     "H=56,W=56,CI=64,CO=64"},
    {"256@14 3x3", "conv2d", "H=14,W=14,CI=256,CO=256,K=3,P=1", "conv2d_nhwc",
     "H=14,W=14,CI=256,CO=256"},
    {"256@56 to 64 1x1", "conv2d", "H=56,W=56,CI=256,CO=64,K=1,P=0", "conv2d_nhwc",
     "H=56,W=56,CI=256,CO=64,KH=1,KW=1,padding=0"},
    {"32@112", "depthwise_conv2d", "H=112,W=112,C=32,K=3,S=1,P=1", "depthwise_conv2d_nhwc",
     "H=112,W=112,C=32,KH=3,KW=3,strides=1,padding=1"},
    {"DEP-2", "depthwise_conv2d", "H=112,W=112,C=64,K=3,S=2,P=1", "depthwise_conv2d_nhwc",
     "H=112,W=112,C=64,strides=2"},
    {"DEP-4", "depthwise_conv2d", "H=7,W=7,C=1024,K=3,S=1,P=1", "depthwise_conv2d_nhwc",
     "H=7,W=7,C=1024"},
    {"GRP-2", "group_conv2d", "H=56,W=56,CI=64,CO=64,K=1,S=1,P=0,G=4", "group_conv2d_nhwc",
     "H=56,W=56,CI=64,CO=64,KH=1,KW=1,strides=1,padding=0,G=4"},
    {"GRP-3", "group_conv2d", "H=14,W=14,CI=256,CO=256,K=3,S=1,P=1,G=4", "group_conv2d_nhwc",
     "H=14,W=14,CI=256,CO=256,strides=1,G=4"},
    {"C1D-1", "conv1d", "L=256,CI=64,CO=128,K=3,S=2,P=1", "conv1d_nwc", "W=256,CI=64,CO=128"},
    {"C3D-4", "conv3d", "Z=16,H=7,W=7,CI=64,CO=64,K=3,S=1,P=1", "conv3d_ndhwc",
     "D=16,H=7,W=7,CI=64,CO=64,KD=3,KH=3,KW=3,padding=1"},
    {"T2D-3", "conv2d_transpose", "H=16,W=16,CI=128,CO=64,K=4,S=2,P=1", "conv2d_transpose_nhwc",
     "H=16,W=16,CI=128,CO=64"},
    {"CAP-4", "capsule_conv2d", "H=8,W=8,CI=16,CO=16,K=3,S=1,P=1", "conv2d_capsule_nhwijc",
     "H=8,W=8,CI=16,CO=16,strides=1"},
    {"GMM-2", "batch_matmul", "B=1,N=512,M=32,K=512", "batch_matmul", "B=1,M=512,N=32,K=512,tb=0"},
    {"256x256", "norm", "B=1,M=256,N=256", "norm", "B=1,M=256,N=256"},
    {"1024x1024", "norm", "B=1,M=1024,N=1024", "norm", "B=1,M=1024,N=1024"},
    {"256x256", "softmax", "M=256,N=256", "softmax", "Y=256,X=256"},
    {"1024x1024", "softmax", "M=1024,N=1024", "softmax", "Y=1024,X=1024"},
    {"512x768", "layer_norm", "M=512,N=768", "layer_norm", "M=512,N=768"},
};
/* clang-format on */

static at_status contest(const row *r, at_bench_kernel *derived, at_bench_kernel *written) {
    at_bench_contender of[NUM_CONTENDERS];
    at_bench_contest c;
    at_arena *a = at_arena_new();
    of[DERIVED] = at_bench_kernel_contender(derived);
    of[WRITTEN] = at_bench_kernel_contender(written);
    at_bench_contest_run(&c, of, NUM_CONTENDERS, at_bench_target());
    at_bench_report_row(at_format(a, "%s.te %s against %s", r->file, r->name, r->template_name),
                        at_bench_contest_speed(&c, DERIVED, WRITTEN), AT_BENCH_GOAL_LEAST, 0.97);
    at_arena_free(a);
    return AT_OK;
}

static at_status run(at_arena *a, int i, at_error *err) {
    const row *r = &rows[i];
    at_bench_search derived = at_bench_te_search(a, "derived", r->file, r->args, 300),
                    written = derived;
    at_program *program;
    at_bench_data data[NUM_CONTENDERS];
    at_bench_kernel kernel[NUM_CONTENDERS];
    written.name = "written";
    written.template_name = r->template_name;
    written.args = r->template_args;
    written.trials = 500;
    AT_TRY(at_bench_best_open(a, &written, &program, &data[WRITTEN], &kernel[WRITTEN], err));
    at_status s = at_bench_best_open(a, &derived, &program, &data[DERIVED], &kernel[DERIVED], err);
    if (s == AT_OK) {
        s = contest(r, &kernel[DERIVED], &kernel[WRITTEN]);
        at_bench_kernel_close(&kernel[DERIVED]);
    }
    at_bench_kernel_close(&kernel[WRITTEN]);
    return s;
}

at_status at_bench_derived(at_error *err) {
    at_status s = AT_OK;
    at_bench_report_section(
        "Derived loop trees, best of 300 trials, against templates, best of 500", "ratio", 2);
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows) && s == AT_OK; i++)
        if (at_bench_is_wanted(rows[i].name) || at_bench_is_wanted(rows[i].file))
            s = at_bench_row(run, i, rows[i].name, err);
    return s == AT_OK ? at_bench_derived_libraries(err) : s;
}
