/* The configuration without tuning, of every template, on shapes from one pixel to the 3x3 layers
 * of ResNet-50: it computes the right output with every instruction set of this CPU, between guard
 * pages, with weights packed ahead and within. */
#include "tests/any_task.h"
#include "tests/run/shape.h"

#include <string.h>

static const struct {
    const char *template_name, *args;
} cases[] = {
    {"conv2d_3x3_gemm", ""},
    {"conv2d_3x3_gemm", "H=28,W=28,CI=128,CO=128"},
    {"conv2d_3x3_gemm", "H=14,W=14,CI=256,CO=256"},
    {"conv2d_3x3_gemm", "H=7,W=7,CI=512,CO=512"},
    {"conv2d_3x3_gemm", "H=14,W=14,CI=32,CO=32"},
    {"conv2d_3x3_gemm", "H=1,W=1,CI=1,CO=1"},
    {"conv2d_3x3_gemm", "H=1,W=1,CI=64,CO=64"},
    {"conv2d_3x3_gemm", "H=7,W=5,CI=3,CO=6"},
    {"conv2d_3x3_gemm", "N=3,H=1,W=9,CI=5,CO=7"},
    {"conv2d_3x3_gemm", "N=2,H=9,W=1,CI=4,CO=33"},
    {"conv2d_3x3_gemm", "H=13,W=13,CI=31,CO=37"},
    {"conv2d_3x3_gemm", "N=4,H=8,W=8,CI=3,CO=64"},
    {"conv2d_3x3_gemm", "H=2,W=2,CI=2,CO=2"},
    {"conv2d_3x3_gemm", "N=5,H=3,W=3,CI=17,CO=15"},
    {"conv2d_3x3_gemm", "H=11,W=23,CI=16,CO=96"},
    {"conv2d_NCHWc", ""},
    {"conv2d_NCHWc", "H=7,W=7,IC=512,OC=512"},
    {"conv2d_NCHWc", "H=14,W=14,IC=256,OC=64,KH=1,KW=1,padding=0"},
    {"conv2d_NCHWc", "H=56,W=56,IC=3,OC=64,KH=7,KW=7,strides=2,padding=3"},
    {"conv2d_NCHWc", "H=5,W=7,IC=3,OC=5"},
    {"conv2d_NCHWc", "H=11,W=9,IC=6,OC=10,dilation=2,padding=2"},
    {"conv2d_NCHWc", "H=13,W=15,IC=8,OC=12,KH=1,KW=1,padding=0,strides=2"},
    {"conv2d_NCHWc", "H=14,W=14,IC=16,OC=32,ib=8,ob=16"},
    {"conv2d_NCHWc", "H=3,W=70,IC=5,OC=6,padding=[1,0,2,3],KH=2,KW=4"},
    {"conv2d_nhwc", "H=14,W=14"},
    {"conv2d_nhwc", "H=11,W=9,CI=6,CO=10,dilation=2,padding=2"},
    {"conv2d_nhwc", "H=3,W=70,CI=5,CO=6,padding=[1,0,2,3],KH=2,KW=4"},
    {"conv2d_nhwc", "H=30,W=31,CI=3,CO=32,KH=7,KW=7,strides=2,padding=3"},
    {"conv2d_nhwc", "H=14,W=14,CI=48,CO=40,KH=1,KW=1,padding=0"},
    {"conv2d_nhwc", "H=5,W=7,CI=3,CO=5"},
    {"conv2d_winograd_nhwc", "H=14,W=14,CI=48,CO=40,m=2"},
    {"conv2d_winograd_nhwc", "H=7,W=11,CI=5,CO=6,m=2"},
    {"conv2d_winograd_nhwc", "H=13,W=13,CI=5,CO=37,m=2"},
    {"conv2d_winograd_NCHWc", "H=14,W=14,CI=48,CO=40,m=2"},
    {"conv2d_winograd_NCHWc", "H=7,W=11,CI=5,CO=6,m=2"},
    {"indirect_conv2d_nhwc", "H=14,W=14,CI=48,CO=40"},
    {"indirect_conv2d_nhwc", "H=5,W=3,CI=3,CO=5,KH=2,strides=2,padding=0"},
    {"indirect_conv2d_nhwc", "H=5,W=7,CI=3,CO=5,copy=1"},
    {"indirect_conv2d_nhwc", "H=9,W=13,CI=3,CO=37"},
    {"dense", "M=56,N=96,K=40"},
    {"dense", "M=1,N=33,K=7,bias=1"},
    {"dense", "M=12,N=64,K=20,wb=16,bias=1"},
    {"matmul_add", "N=56,L=40,M=96"},
    {"matmul_add", "N=7,L=5,M=1"},
    {"spconv2d_3x3_gemm", "H=14,W=14,CI=32,CO=32,nnz=150"},
    {"spconv2d_3x3_gemm", "H=6,W=6,CI=4,CO=16,nnz=9,R=4,C=4"},
    {"spconv2d_3x3_gemm", "H=13,W=11,CI=4,CO=16,nnz=9"},
    {"spconv2d_nhwc", "H=29,W=29,CI=8,CO=32,KH=7,KW=7,strides=2,padding=3,nnz=150"},
    {"spconv2d_nhwc", "H=30,W=30,CI=4,CO=16,KH=5,KW=5,strides=2,padding=2,nnz=9,R=4,C=4"},
    {"spconv2d_3x3_gemm", "H=4,W=4,CI=2,CO=16,nnz=0"},
    {"sparse_dense", "M=24,N=64,K=40,nnz=40"},
    {"spconv2d_3x3_gemm", "H=6,W=5,CI=4,CO=6,nnz=30,R=1"},
    {"group_conv2d_nhwc", "H=14,W=14"},
    {"group_conv2d_nhwc", "H=7,W=13,CI=15,CO=33,G=3,KH=5,KW=2,strides=1,padding=[2,0,1,0]"},
    {"depthwise_conv2d_NCHWc", "H=14,W=14,IC=96"},
    {"depthwise_conv2d_NCHWc", "H=11,W=13,IC=7,M=3,strides=2"},
    {"depthwise_conv2d_nhwc", "H=28,W=28,C=64,strides=2"},
    {"depthwise_conv2d_nhwc", "H=11,W=13,C=7,M=3,KH=5,KW=5,dilation=2,padding=[4,3]"},
    {"conv2d_transpose_nhwc", "H=4,W=4,CI=64,CO=32"},
    {"conv2d_transpose_nhwc", "H=5,W=7,CI=6,CO=11,KH=3,KW=5,strides=[3,2],output_padding=1"},
    {"conv2d_capsule_nhwijc", "H=8,W=8,CI=8,CO=16"},
    {"conv2d_capsule_nhwijc", "H=7,W=5,CI=3,CO=7,CS=3,strides=1"},
    {"conv2d_nchw_spatial_pack", "H=14,W=14,CI=16,CO=64"},
    {"conv2d_nchw_spatial_pack",
     "H=9,W=11,CI=5,CO=14,KH=5,KW=2,strides=[1,2],dilation=2,padding=4"},
    {"depthwise_conv2d_nchw", "H=14,W=14,C=32"},
    {"depthwise_conv2d_nchw", "H=9,W=11,C=14,KH=5,KW=2,strides=[1,2],padding=[2,0,1,0]"},
    {"conv2d_nchw_winograd", "H=8,W=8,CI=16,CO=32"},
    {"conv2d_nchw_winograd", "N=2,H=7,W=9,CI=6,CO=10"},
    {"conv1d_nwc", "W=64,CI=32,CO=64"},
    {"conv1d_nwc", "W=31,CI=7,CO=13,KW=5,dilation=2,padding=[4,3]"},
    {"conv3d_ndhwc", "D=4,H=14,W=14,CI=16,CO=32,KD=3,KH=3,KW=3,padding=1"},
    {"conv3d_ndhwc", "D=5,H=7,W=9,CI=3,CO=17,KD=3,KH=1,KW=3,strides=2,padding=[1,0,1]"},
    {"max_pool2d_nhwc", "H=28,W=28"},
    {"max_pool2d_nhwc", "H=11,W=13,C=7,KH=2,KW=5,strides=[1,2]"},
    {"avg_pool2d_nhwc", "H=28,W=28"},
    {"avg_pool2d_nhwc", "H=7,W=11,C=31,KH=7,KW=11,strides=1,padding=0"},
    {"layer_norm", "M=16"},
    {"layer_norm", "M=5,N=37"},
    {"norm", "B=2,M=64,N=64"},
    {"norm", "B=3,M=7,N=31"},
    {"batch_matmul", "M=64,N=128,K=32"},
    {"batch_matmul", "B=2,M=13,N=37,K=11,ta=1,tb=0"},
    {"batch_matmul", "B=1,M=64,N=96,K=2080,ta=1"},
    {"batch_matmul", "B=3,M=1,N=29,K=64,tb=0"},
    {"spconv2d_3x3_gemm", "H=9,W=3,CI=5,CO=24,nnz=2,R=8"},
    {"sparse_dense", "M=5,N=6,K=31,nnz=50,R=1"},
    {"sparse_dense", "M=12,N=16,K=20,nnz=9,R=4,C=4"},
    {"sparse_dense", "M=9,N=24,K=7,nnz=2,R=8"},
    {"sparse_dense", "M=4,N=16,K=2,nnz=0"},
    {"sparse_dense", "M=20,N=12,K=20,nnz=9,R=4,C=4"},
    {"softmax", "Y=5,X=300"},
    {"softmax", "Y=3,X=1"},
    {"softmax", "Y=2,X=37"},
};
enum { NUM_CASES = sizeof cases / sizeof *cases };

static void runs_right(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    for (int i = 0; i < NUM_CASES; i++) {
        shape s;
        at_config c;
        at_error err = {0};
        shape_open(&s, cases[i].template_name, cases[i].args);
        const char *set;
        for (int n = 0; (set = at_vector_set_name(n / 2)); n++) {
            way w = {AT_TCC, n / 2, .pack_inline = n % 2, .paranoid = true};
            if (!at_cpu_has_set(w.set)) continue;
            if (at_task_default_config(a, s.task, at_target_find(set)->default_lanes, &c, &err) !=
                AT_OK)
                fail_msg("%s", err.text);
            candidate made;
            const char *fault = shape_lower(&s, a, &c, &w, "kernel", &made);
            if (!fault) fault = shape_check(&s, a, &made, &w, NULL);
            if (fault)
                fail_msg("%s %s, %s, packing %s: %s", cases[i].template_name,
                         at_task_args_text(s.task), set, w.pack_inline ? "inline" : "ahead", fault);
        }
        shape_close(&s);
        at_arena_reset(a);
    }
    at_arena_free(a);
}

static void every_template(void **state) {
    (void)state;
    for (int t = 0; t < at_template_count(); t++) {
        bool any = false;
        for (int i = 0; i < NUM_CASES; i++)
            any |= !strcmp(cases[i].template_name, at_template_at(t)->name);
        if (!any && !any_has_other_types(at_template_at(t)))
            fail_msg("no case of %s", at_template_at(t)->name);
    }
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs_right),
                                       cmocka_unit_test(every_template)};
    return cmocka_run_group_tests_name("run/default_configs", tests, NULL, NULL);
}
