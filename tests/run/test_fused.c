/* Random entities of templates with stages behind their output. */
#include "tests/run/entities.h"

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    static const entities_of tasks[] = {
        {"conv2d_3x3_gemm+bias+relu", "H=5,W=6,CI=5,CO=24"},
        {"conv2d_3x3_gemm+add", "H=7,W=4,CI=8,CO=16"},
        {"conv2d_3x3_gemm+scale+clip", "N=2,H=4,W=3,CI=3,CO=20"},
        {"conv2d_NCHWc+bias+relu", "IC=8,H=9,W=7,OC=12"},
        {"conv2d_NCHWc+bias+add+relu", "N=2,IC=6,H=6,W=10,OC=24,strides=2"},
        {"conv2d_NCHWc+scale+relu", "IC=16,H=5,W=31,OC=16,KH=1,KW=1,padding=0"},
        {"conv2d_NCHWc+add+clip", "IC=8,H=6,W=7,OC=16,ib=4,ob=8"},
        {"conv2d_nhwc+bias+relu", "H=9,W=7,CI=5,CO=12"},
        {"conv2d_nhwc+scale+add+relu", "N=2,H=10,W=12,CI=6,CO=20,KH=5,KW=1,padding=[2,0,1,0]"},
        {"conv2d_nhwc+clip", "H=3,W=31,CI=5,CO=18"},
        {"dense+relu", "M=9,N=34,K=21,bias=1"},
        {"dense+bias+add", "M=24,N=40,K=30"},
        {"dense+scale", "M=28,N=64,K=40,wb=32"},
        {"matmul_add+bias+clip", "N=37,L=33,M=48"},
        {"matmul_add+relu", "N=28,L=40,M=64"},
        {"spconv2d_3x3_gemm+bias+relu", "H=6,W=8,CI=8,CO=32,nnz=60"},
        {"spconv2d_3x3_gemm+add", "H=4,W=14,CI=8,CO=16,nnz=30,R=4,C=4"},
        {"spconv2d_3x3_gemm+scale+clip", "N=2,H=6,W=18,CI=6,CO=32,nnz=40,R=16,C=2"},
        {"sparse_dense+bias+relu", "M=24,N=48,K=36,nnz=40"},
        {"conv2d_nhwc+bias+silu", "H=9,W=7,CI=5,CO=12"},
        {"conv2d_nhwc+bias+gelu", "H=5,W=6,CI=7,CO=18"},
        {"conv2d_NCHWc+hardswish", "IC=8,H=9,W=7,OC=12"},
        {"conv2d_NCHWc+mul+tanh", "IC=8,H=6,W=7,OC=16,ib=4,ob=8"},
        {"conv2d_3x3_gemm+leaky+hardsigmoid", "H=5,W=6,CI=5,CO=24"},
        {"conv2d_winograd_nhwc+silu", "H=7,W=6,CI=5,CO=8"},
        {"dense+sigmoid+mul", "M=9,N=34,K=21,bias=1"},
        {"dense+(x>0?x:exp(x)-1)", "M=24,N=40,K=30"},
        {"spconv2d_3x3_gemm+(x*g+b[c])", "H=6,W=8,CI=8,CO=32,nnz=60"},
        {"sparse_dense+add", "M=36,N=24,K=20,nnz=31,R=2,C=2"},
    };
    return entities_main("run/fused", tasks, sizeof tasks / sizeof *tasks, 8);
}
