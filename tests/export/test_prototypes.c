/* One prototype per task: of every template, over many configurations, dialects and instruction
 * sets, headers are the same but for comments; what is emitted compiles without a warning under
 * every compiler there is, and its plain functions compute what the reference does. */
#include "tests/export/kernels.h"

#include <string.h>

static const struct {
    const char *name, *args;
} tasks[] = {
    {"conv2d_3x3_gemm", "N=1,H=4,W=6,CI=4,CO=12"},
    {"spconv2d_3x3_gemm", "N=1,H=28,W=14,CI=4,CO=32,nnz=9,R=16,C=1"},
    {"spconv2d_3x3_gemm", "N=1,H=4,W=14,CI=4,CO=16,nnz=7,R=4,C=4"},
    {"conv2d_NCHWc", "N=2,IC=6,H=5,W=6,OC=8"},
    {"conv2d_NCHWc", "N=1,IC=4,H=6,W=5,OC=8,KH=1,KW=1,padding=0,strides=2"},
    {"conv2d_NCHWc", "N=1,IC=8,H=5,W=6,OC=16,ib=4,ob=8"},
    {"conv2d_nhwc", "N=1,H=5,W=6,CI=4,CO=8"},
    {"dense", "M=7,N=24,K=9,bias=1"},
    {"dense", "M=4,N=24,K=9,wb=8"},
    {"matmul_add", "N=6,M=24,L=9"},
    {"sparse_dense", "M=16,N=24,K=12,nnz=9,R=4,C=3"},
    {"sparse_dense", "M=6,N=32,K=8,nnz=5,R=16,C=2"},
    {"conv2d_winograd_nhwc", "N=1,H=5,W=6,CI=4,CO=8,m=2"},
    {"conv2d_winograd_NCHWc", "N=1,H=5,W=6,CI=4,CO=8,m=2"},
    {"indirect_conv2d_nhwc", "N=1,H=5,W=6,CI=4,CO=8"},
    {"conv2d_nchw_spatial_pack", "N=1,H=5,W=6,CI=4,CO=8"},
    {"depthwise_conv2d_nchw", "C=8,H=5,W=6"},
    {"conv2d_nchw_winograd", "N=1,H=5,W=6,CI=4,CO=8"},
    {"softmax", "Y=5,X=24"},
    {"group_conv2d_nhwc", "H=5,W=6,CI=4,CO=8,G=2"},
    {"depthwise_conv2d_NCHWc", "IC=8,H=5,W=6"},
    {"depthwise_conv2d_nhwc", "C=8,H=5,W=6"},
    {"spconv2d_nhwc", "N=1,H=29,W=28,CI=4,CO=16,KH=5,KW=3,strides=2,nnz=9,R=4,C=4"},
    {"conv2d_transpose_nhwc", "H=3,W=4,CI=4,CO=8"},
    {"conv2d_capsule_nhwijc", "H=4,W=5,CI=4,CO=8,CS=2"},
    {"conv1d_nwc", "W=10,CI=4,CO=8"},
    {"conv3d_ndhwc", "D=3,H=4,W=5,CI=4,CO=8"},
    {"max_pool2d_nhwc", "H=6,W=7,C=8"},
    {"avg_pool2d_nhwc", "H=6,W=7,C=8"},
    {"layer_norm", "M=3,N=24"},
    {"norm", "B=2,M=6,N=9"},
    {"batch_matmul", "B=2,M=6,N=16,K=8"},
    {"conv2d_NCHWc_int8", "IC=8,H=5,W=6,OC=16"},
    {"dense_int8", "M=6,N=16,K=8,bias=1"},
    {"batch_matmul_int8", "B=2,M=6,N=16,K=8"},
    {"dense_q4_0", "M=6,N=32,K=64"},
    {"dense_q8_0", "M=6,N=32,K=64"},
    {"dense_q4_k", "M=6,N=32,K=256"},
    {"dense_f16", "M=6,N=16,K=8"},
    {"dense_bf16", "M=6,N=16,K=8"},
};
enum { NUM_TASKS = sizeof tasks / sizeof *tasks, CONFIGS = 30 };

/* Some configuration of the space; 0 is the default one. */
static void config_of(at_arena *a, const at_task *task, at_rng *rng, int i, at_config *out) {
    at_space *space = at_task_space(task);
    if (i == 0) CALL(at_task_default_config(a, task, 8, out, &err));
    else {
        int64_t index = (int64_t)at_rng_below(rng, (uint64_t)at_space_len(space));
        CALL(at_config_at(a, space, index, out, &err));
    }
}

/* Without comments, which tell shapes and configurations. */
static char *declarations(at_arena *a, const at_text *header) {
    at_text out = {0};
    for (const char *s = at_text_str(header); *s;) {
        if (s[0] == '/' && s[1] == '*') s = strstr(s, "*/") + 2;
        else at_text_addn(&out, s++, 1);
    }
    return at_text_take(a, &out);
}

static void one_prototype(void **state) {
    (void)state;
    bool seen[64] = {false};
    for (int t = 0; t < NUM_TASKS; t++) {
        at_arena *a = at_arena_new(), *scratch = at_arena_new();
        at_task *task = task_of(a, tasks[t].name, tasks[t].args);
        const char *first = NULL;
        at_rng rng;
        int made = 0;
        at_rng_seed(&rng, 7, (uint64_t)t);
        for (int i = 0; i < CONFIGS; i++) {
            at_config c;
            at_file_kernel k;
            at_file_options o = {.source = "k.c", .header = "k.h"};
            at_text source = {0}, header = {0};
            config_of(scratch, task, &rng, i, &c);
            at_dialect dialect = (at_dialect)(i % AT_DIALECT_COUNT);
            const at_target *target = at_target_at(i / AT_DIALECT_COUNT % 4);
            if (!kernel_of(scratch, task, &c, dialect, target, "k", &k)) continue;
            CALL(at_emit_file(scratch, &k, 1, &o, &source, &header, &err));
            char *text = declarations(scratch, &header);
            if (!first) first = at_strdup(a, text);
            assert_string_equal(text, first);
            at_text_free(&source);
            at_text_free(&header);
            at_arena_reset(scratch);
            made++;
        }
        if (made < CONFIGS / (at_task_compute(task)->in_steps ? 3 : 2))
            fail_msg("%s: %d configurations only", tasks[t].name, made);
        for (int i = 0; i < at_template_count(); i++)
            seen[i] |= !strcmp(at_template_at(i)->name, tasks[t].name);
        at_arena_free(scratch);
        at_arena_free(a);
    }
    for (int i = 0; i < at_template_count(); i++)
        if (!seen[i]) fail_msg("no task of template %s", at_template_at(i)->name);
}

/* The order is that of the declarations, for each task said once by hand. */
static void as_declared(void **state) {
    (void)state;
    static const char *const wanted[NUM_TASKS] = {
        [0] = "void k(const float *data, const float *weight, float *out, void *workspace);",
        [1] =
            "void k(const float *data, const float *blocks, const int *indices, const int *indptr, "
            "float *out, void *workspace);",
        [3] = "void k_pack_data(const float *from, float *to);",
        [5] =
            "void k_in_blocks(const float *data, const void *packed, float *out, void *workspace);",
        [7] = "void k(const float *data, const float *weight, const float *bias_row, float *out, "
              "void *workspace);",
        [9] =
            "void k(const float *data, const float *weight, const float *addend, float *out, void "
            "*workspace);",
        [10] = "void k_pack(const float *blocks, const int *indices, const int *indptr, void "
               "*packed);"};
    for (int t = 0; t < NUM_TASKS; t++) {
        at_arena *a = at_arena_new();
        at_task *task = task_of(a, tasks[t].name, tasks[t].args);
        at_config c;
        at_file_kernel k;
        at_file_options o = {.source = "k.c", .header = "k.h"};
        at_text source = {0}, header = {0};
        CALL(at_task_default_config(a, task, 8, &c, &err));
        assert_true(kernel_of(a, task, &c, AT_DIALECT_C, NULL, "k", &k));
        CALL(at_emit_file(a, &k, 1, &o, &source, &header, &err));
        if (wanted[t] && !strstr(header.data, wanted[t]))
            fail_msg("%s: no %s in\n%s", tasks[t].name, wanted[t], header.data);
        /* blocks that arguments ask for are the task's own */
        bool in_blocks = strstr(tasks[t].name, "NCHWc") && !strstr(tasks[t].args, "ib=");
        assert_int_equal(!!strstr(header.data, "k_pack_data"), in_blocks);
        at_text_free(&source);
        at_text_free(&header);
        at_arena_free(a);
    }
}

/* ---- compiled -------------------------------------------------------------------------------- */

static const struct {
    at_dialect dialect;
    const char *compiler;
} ways[] = {{AT_DIALECT_GNU, "gcc"},   {AT_DIALECT_TCC, "tcc"}, {AT_DIALECT_C, "tcc"},
            {AT_DIALECT_GNU, "clang"}, {AT_DIALECT_TCC, "gcc"}, {AT_DIALECT_C, "gcc"},
            {AT_DIALECT_TCC, "clang"}, {AT_DIALECT_C, "clang"}};
enum { WAYS = sizeof ways / sizeof *ways, TOGETHER = 3 };

/* Three configurations in a file, whose main runs plain and fast functions against the reference.
 */
static void check_file(int t, int way, const at_target *target, at_abi abi) {
    at_arena *a = at_arena_new();
    at_task *task = task_of(a, tasks[t].name, tasks[t].args);
    at_file_kernel kernels[TOGETHER];
    at_rng rng;
    int n = 0;
    at_rng_seed(&rng, 8, (uint64_t)(t * WAYS + way));
    for (int i = 0; n < TOGETHER; i++) {
        at_config c;
        config_of(a, task, &rng, i, &c);
        n += kernel_of(a, task, &c, ways[way].dialect, target, at_format(a, "k%d", n), &kernels[n]);
    }
    at_text source = {0}, header = {0};
    at_file_options o = {.source = "k.c", .header = "k.h", .with_main = true, .abi = abi};
    CALL(at_emit_file(a, kernels, n, &o, &source, &header, &err));
    write_text("k.c", at_text_str(&source));
    write_text("k.h", at_text_str(&header));
    run("%s -Wall -Wextra -Werror k.c -o k -lm && ./k >said && test $(grep -c right said) = %d",
        ways[way].compiler, TOGETHER);
    if (way == t % WAYS && has_compiler("g++"))
        run("g++ -Wall -Wextra -Werror -pedantic -x c++ -include k.h -c /dev/null -o k.o");
    at_text_free(&source);
    at_text_free(&header);
    at_arena_free(a);
}

static void compiled(void **state) {
    (void)state;
    for (int i = 0; i < NUM_TASKS * 3; i++) {
        int t = i % NUM_TASKS, way = (i + i / NUM_TASKS * 3) % WAYS;
        int set = (i + i / NUM_TASKS) % 4;
        while (!cpu_has(at_target_at(set))) set--;
        if (has_compiler(ways[way].compiler))
            check_file(t, way, at_target_at(set), i % 5 == 4 ? AT_ABI_BLOCKED : AT_ABI_PLAIN);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_prototype),
                                       cmocka_unit_test(as_declared), cmocka_unit_test(compiled)};
    return cmocka_run_group_tests_name("export/prototypes", tests, make_folder, remove_folder);
}
