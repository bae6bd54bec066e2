/* Random entities of the other templates. */
#include "tests/run/entities.h"

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    static const entities_of tasks[] = {
        {"conv2d_nhwc", "N=1,H=9,W=7,CI=5,CO=12"},
        {"conv2d_nhwc", "N=2,H=10,W=12,CI=6,CO=20,KH=5,KW=1,strides=[1,2],padding=[2,0,1,0]"},
        {"conv2d_nhwc", "N=1,H=20,W=17,CI=3,CO=16,KH=7,KW=7,strides=2,padding=3"},
        {"conv2d_nhwc", "N=1,H=14,W=14,CI=16,CO=32,KH=1,KW=1,padding=0"},
        {"conv2d_nhwc", "N=1,H=13,W=15,CI=8,CO=12,KH=1,KW=1,padding=0,strides=2"},
        {"conv2d_nhwc", "N=1,H=11,W=9,CI=6,CO=10,dilation=2,padding=2"},
        {"conv2d_nhwc", "N=1,H=3,W=70,CI=5,CO=6,padding=VALID"},
        {"conv2d_winograd_nhwc", "N=2,H=9,W=7,CI=6,CO=20,m=2"},
        {"conv2d_winograd_nhwc", "H=14,W=5,CI=16,CO=32,m=2,padding=[0,1,2,0]"},
        {"conv2d_winograd_nhwc+bias+relu", "H=6,W=5,CI=64,CO=16,m=2,padding=[3,0,0,2]"},
        {"conv2d_winograd_NCHWc", "N=2,H=9,W=7,CI=6,CO=20,m=2"},
        {"conv2d_winograd_NCHWc", "H=14,W=5,CI=16,CO=32,m=2,padding=[0,1,2,0]"},
        {"conv2d_winograd_NCHWc+bias+add+relu", "H=6,W=5,CI=64,CO=16,m=2,padding=[3,0,0,2]"},
        {"conv2d_winograd_nhwc+add+relu", "N=10,H=5,W=7,CI=16,CO=32,m=2"},
        {"conv2d_winograd_nhwc", "H=6,W=5,CI=8,CO=16,KH=2,KW=2,m=3,padding=SAME"},
        {"indirect_conv2d_nhwc", "N=2,H=9,W=7,CI=6,CO=20,padding=[2,0,1,3],copy=1"},
        {"indirect_conv2d_nhwc", "N=2,H=9,W=7,CI=6,CO=20,dilation=2"},
        {"indirect_conv2d_nhwc", "H=5,W=4,CI=16,CO=32,KH=1,KW=1,strides=2,padding=0"},
        {"dense", "M=24,N=40,K=30"},
        {"dense", "M=9,N=34,K=21,bias=1"},
        {"dense", "M=1,N=100,K=64"},
        {"dense", "M=32,N=60,K=50,wb=4"},
        {"dense", "M=28,N=64,K=40,bias=1,wb=32"},
        {"dense", "M=7,N=1,K=1"},
        {"matmul_add", "N=20,L=18,M=36"},
        {"matmul_add", "N=37,L=33,M=48"},
        {"matmul_add", "N=1,L=64,M=100"},
        {"matmul_add", "N=48,L=1,M=96"},
        {"matmul_add", "N=28,L=40,M=64"},
        {"matmul_add", "N=7,L=1,M=1"},
        {"spconv2d_3x3_gemm", "H=6,W=8,CI=8,CO=32,nnz=60"},
        {"spconv2d_3x3_gemm", "H=5,W=6,CI=4,CO=24,nnz=20,R=4,C=4"},
        {"spconv2d_3x3_gemm", "N=2,H=6,W=5,CI=4,CO=6,nnz=30,R=1"},
        {"spconv2d_3x3_gemm", "H=9,W=3,CI=5,CO=24,nnz=2,R=8"}, /* an empty block row */
        {"spconv2d_3x3_gemm", "H=7,W=7,CI=3,CO=16,nnz=27"},    /* all blocks */
        {"spconv2d_3x3_gemm", "H=4,W=4,CI=2,CO=16,nnz=0"},
        {"spconv2d_3x3_gemm", "N=2,H=6,W=18,CI=6,CO=32,nnz=60"}, /* strips */
        {"spconv2d_3x3_gemm", "H=4,W=14,CI=8,CO=16,nnz=30,R=4,C=4"},
        {"spconv2d_3x3_gemm", "H=4,W=15,CI=4,CO=9,nnz=110,R=1"},
        {"spconv2d_3x3_gemm", "N=2,H=3,W=14,CI=4,CO=18,nnz=15,R=6,C=6"},
        {"sparse_dense", "M=24,N=48,K=36,nnz=40"},
        {"sparse_dense", "M=15,N=12,K=20,nnz=31,R=2,C=2"},
        {"sparse_dense", "M=5,N=6,K=31,nnz=50,R=1"},
        {"sparse_dense", "M=12,N=16,K=20,nnz=9,R=4,C=4"},
        {"sparse_dense", "M=9,N=24,K=7,nnz=2,R=8"},
        {"sparse_dense", "M=4,N=16,K=2,nnz=0"},
        {"sparse_dense", "M=36,N=24,K=20,nnz=31,R=2,C=2"},
        {"sparse_dense", "M=33,N=7,K=31,nnz=50,R=1"},
        {"sparse_dense", "M=16,N=16,K=6,nnz=0,R=8"},
    };
    return entities_main("run/templates", tasks, sizeof tasks / sizeof *tasks, 20);
}
