/* The computation of every template has a random projection, however its axes are cut, padded and
 * packed, and its sums are those of the right output. */
#include "tests/any_task.h"
#include "tests/run/entities.h"
#include "sketch/sketch.h"

#include <string.h>

enum { SEED = 7, MEAN_ROW = 3 };

static const entities_of cases[] = {
    {"conv2d_3x3_gemm", "N=2,H=9,W=6,CI=16,CO=32"},
    {"conv2d_NCHWc", "N=1,IC=8,H=13,W=11,OC=16,KH=5,KW=3,strides=[2,1],padding=[2,1,2,0]"},
    {"conv2d_NCHWc", "N=2,IC=16,H=9,W=8,OC=32,KH=1,KW=1,padding=0"},
    {"conv2d_NCHWc", "N=1,IC=16,H=8,W=9,OC=32,ib=8,ob=16"},
    {"conv2d_nhwc", "N=1,H=20,W=17,CI=3,CO=16,KH=7,KW=7,strides=2,padding=3"},
    {"conv2d_nhwc", "N=1,H=11,W=9,CI=6,CO=10,dilation=2,padding=2"},
    {"conv2d_nhwc", "N=1,H=14,W=14,CI=16,CO=32,KH=1,KW=1,padding=0"},
    {"group_conv2d_nhwc", "H=9,W=8,CI=8,CO=16,G=2"},
    {"depthwise_conv2d_NCHWc", "IC=8,H=9,W=8"},
    {"depthwise_conv2d_nhwc", "C=8,H=9,W=8"},
    {"conv2d_transpose_nhwc", "H=5,W=4,CI=8,CO=8"},
    {"conv2d_capsule_nhwijc", "H=6,W=5,CI=4,CO=8,CS=2"},
    {"conv1d_nwc", "W=20,CI=4,CO=8"},
    {"conv2d_nchw_spatial_pack", "H=6,W=8,CI=4,CO=8"},
    {"depthwise_conv2d_nchw", "C=8,H=9,W=8"},
    {"conv3d_ndhwc", "D=3,H=4,W=5,CI=4,CO=8"},
    {"batch_matmul", "B=2,M=6,N=16,K=8"},
    {"max_pool2d_nhwc", "H=6,W=7,C=8"}, /* begins behind the largest values */
    {"indirect_conv2d_nhwc", "H=6,W=5,CI=8,CO=20"},
    {"dense", "M=24,N=40,K=30"},
    {"dense", "M=28,N=64,K=40,bias=1,wb=32"},
    {"matmul_add", "N=20,L=18,M=36"},
    {"spconv2d_3x3_gemm", "H=6,W=8,CI=8,CO=32,nnz=60"},
    {"spconv2d_3x3_gemm", "H=4,W=14,CI=8,CO=16,nnz=30,R=4,C=4"},
    {"spconv2d_3x3_gemm", "H=14,W=14,CI=8,CO=16,nnz=40"}, /* rows of several lines */
    {"spconv2d_nhwc", "H=9,W=7,CI=8,CO=32,KH=5,KW=3,strides=2,nnz=60"},
    {"sparse_dense", "M=24,N=48,K=36,nnz=40"},
    {"sparse_dense", "M=12,N=16,K=20,nnz=9,R=4,C=4"},
    {"sparse_dense", "M=24,N=16,K=20,nnz=9,R=4,C=4"},
};

/* Those whose values are no integers, or whose elements are no floats. */
static const entities_of without[] = {
    {"dense_int8", "M=20,N=32,K=24"},
    {"conv2d_winograd_nhwc", "H=8,W=8,CI=4,CO=8,m=2"},
    {"conv2d_winograd_NCHWc", "H=8,W=8,CI=4,CO=8,m=2"},
    {"conv2d_nchw_winograd", "H=8,W=8,CI=4,CO=8"},
    {"avg_pool2d_nhwc", "H=6,W=7,C=8"},
    {"layer_norm", "M=3,N=24"},
    {"softmax", "Y=5,X=24"},
    {"norm", "B=2,M=6,N=9"},
};

/* The sums that the naive text gives; it lies in the store. */
static const uint64_t *run_projected(shape *s, at_arena *a, const at_program *p,
                                     const at_projection *projection, int64_t num_sums) {
    const at_compute *c = p->compute;
    at_text source = {0};
    at_error err = {0};
    at_outcome out;
    at_buf *bufs = AT_NEW_ARRAY(a, at_buf, c->num_tensors);
    at_job job = {.entry = "projected", .bufs = bufs, .threads = 1, .run_only = true};
    job.compile_timeout_s = job.run_timeout_s = 60;
    int64_t sums;
    if (at_compute_projected_c(a, c, p->values, projection, SEED, job.entry, &source,
                               &job.workspace_bytes, &err) != AT_OK ||
        at_store_reserve(s->store, "sums", 8 * num_sums, &sums, &err) != AT_OK)
        fail_msg("%s", err.text);
    job.source = at_text_str(&source);
    for (int t = 0; t < c->num_tensors; t++) {
        const at_tensor *x = &c->tensors[t];
        if (x->role == AT_ROLE_STAGE) continue;
        const int64_t size = 4 * at_tensor_elements(x, p->extents[t]);
        bufs[job.num_bufs++] = (at_buf){.name = x->name,
                                        .role = AT_BUF_IN,
                                        .type = x->type,
                                        .offset = s->offset[t],
                                        .size_bytes = size};
    }
    bufs[job.num_bufs++] =
        (at_buf){"sums", AT_BUF_OUT, .type = AT_S32, .offset = sums, .size_bytes = 8 * num_sums};
    if (at_worker_run(s->worker, &job, NULL, &out, &err) != AT_OK) fail_msg("%s", err.text);
    if (out.end) fail_msg("projected: %s", out.error);
    at_text_free(&source);
    return at_store_at(s->store, sums);
}

static void check(const entities_of *of) {
    shape s;
    at_arena *a = at_arena_new();
    at_config config;
    at_program *p;
    at_projection projection;
    at_error err = {0};
    shape_open(&s, of->template_name, of->args);
    if (at_task_default_config(a, s.task, 4, &config, &err) != AT_OK ||
        at_task_program(a, s.task, &config, &p, &err) != AT_OK)
        fail_msg("%s", err.text);
    if (!at_compute_project(a, p->compute, p->values, MEAN_ROW, &projection))
        fail_msg("%s %s: no projection", of->template_name, of->args);
    int64_t n = at_projection_sums(&projection, p->compute, p->extents);
    const uint64_t *expected = run_projected(&s, a, p, &projection, n);
    uint64_t *found = AT_NEW_ARRAY(a, uint64_t, n);
    const float *out = at_store_at(s.store, s.expected[projection.output]);
    assert_int_equal(at_projection_apply(&projection, p->compute, p->extents, SEED, out, found),
                     -1);
    if (memcmp(found, expected, sizeof *found * (size_t)n))
        fail_msg("%s %s: sums differ", of->template_name, of->args);
    shape_close(&s);
    at_arena_free(a);
}

static void sums_of_templates(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check(&cases[i]);
}

static void expect_none(const entities_of *of) {
    at_arena *a = at_arena_new();
    const at_template_row *row;
    at_task *task;
    at_config config;
    at_program *p;
    at_projection projection;
    at_error err = {0};
    if (at_template_find(of->template_name, &row, &err) != AT_OK ||
        at_task_new(a, row, of->args, &task, &err) != AT_OK ||
        at_task_default_config(a, task, 4, &config, &err) != AT_OK ||
        at_task_program(a, task, &config, &p, &err) != AT_OK)
        fail_msg("%s", err.text);
    if (at_compute_project(a, p->compute, p->values, MEAN_ROW, &projection))
        fail_msg("%s %s: a projection", of->template_name, of->args);
    at_arena_free(a);
}

static void every_template(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) expect_none(&without[i]);
    for (int t = 0; t < at_template_count(); t++) {
        bool any = false;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            any |= !strcmp(cases[i].template_name, at_template_at(t)->name);
        for (size_t i = 0; i < sizeof without / sizeof *without; i++)
            any |= !strcmp(without[i].template_name, at_template_at(t)->name);
        if (!any && !any_has_other_types(at_template_at(t)))
            fail_msg("no case of %s", at_template_at(t)->name);
    }
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_of_templates),
                                       cmocka_unit_test(every_template)};
    return cmocka_run_group_tests_name("run/projection", tests, NULL, NULL);
}
