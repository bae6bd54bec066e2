/* Random entities of the other templates. */
#include "tests/run/entities.h"

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    static const entities_of tasks[] = {
        {"conv2d_nhwc", "N=1,H=9,W=7,CI=5,CO=12"},
        {"conv2d_nhwc", "N=2,H=10,W=12,CI=6,CO=20,KH=5,KW=1,strides=[1,2],padding=[2,0,1,0]"},
        {"dense", "M=24,N=40,K=30"},
        {"dense", "M=9,N=34,K=21,bias=1"},
        {"matmul_add", "N=20,L=18,M=36"},
        {"spconv2d_3x3_gemm", "H=6,W=8,CI=8,CO=32,nnz=60"},
        {"spconv2d_3x3_gemm", "H=5,W=6,CI=4,CO=24,nnz=20,R=4,C=4"},
        {"sparse_dense", "M=24,N=48,K=36,nnz=40"},
        {"sparse_dense", "M=15,N=12,K=20,nnz=31,R=2,C=2"},
    };
    return entities_main("run/templates", tasks, sizeof tasks / sizeof *tasks, 60);
}
