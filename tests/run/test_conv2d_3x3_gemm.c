/* Random entities of conv2d_3x3_gemm: sides and channels that no vector divides, rows without
 * neighbours, several images. */
#include "tests/run/entities.h"

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    static const entities_of tasks[] = {
        {"conv2d_3x3_gemm", "N=1,H=7,W=5,CI=3,CO=6"},
        {"conv2d_3x3_gemm", "N=2,H=9,W=6,CI=16,CO=32"},
        {"conv2d_3x3_gemm", "N=1,H=14,W=14,CI=16,CO=17"},
        {"conv2d_3x3_gemm", "N=3,H=1,W=10,CI=5,CO=7"},
        {"conv2d_3x3_gemm", "N=1,H=12,W=11,CI=8,CO=48"},
        {"conv2d_3x3_gemm", "N=1,H=1,W=1,CI=12,CO=20"},
        {"conv2d_3x3_gemm", "N=2,H=2,W=13,CI=7,CO=1"},
    };
    return entities_main("run/conv2d_3x3_gemm", tasks, sizeof tasks / sizeof *tasks, 80);
}
