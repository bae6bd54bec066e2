/* Random entities of conv2d_NCHWc: kernels of several sizes, strides, dilation, padding on some
 * sides only, and none. */
#include "tests/run/entities.h"

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    static const entities_of tasks[] = {
        {"conv2d_NCHWc", "N=1,IC=6,H=7,W=9,OC=10,KH=3,KW=3"},
        {"conv2d_NCHWc", "N=2,IC=16,H=9,W=8,OC=32,KH=1,KW=1,padding=0"},
        {"conv2d_NCHWc", "N=1,IC=8,H=13,W=11,OC=16,KH=5,KW=3,strides=[2,1],padding=[2,1,2,0]"},
        {"conv2d_NCHWc", "N=1,IC=12,H=10,W=14,OC=24,KH=3,KW=3,dilation=2,padding=2"},
        {"conv2d_NCHWc", "N=2,IC=4,H=6,W=20,OC=18,KH=2,KW=4,padding=0"},
        {"conv2d_NCHWc", "N=1,IC=3,H=19,W=17,OC=16,KH=7,KW=7,strides=2,padding=3"},
        {"conv2d_NCHWc", "N=1,IC=8,H=13,W=15,OC=12,KH=1,KW=1,strides=2,padding=0"},
        {"conv2d_NCHWc", "N=1,IC=16,H=8,W=9,OC=32,ib=8,ob=16"},
        {"conv2d_NCHWc", "N=2,IC=7,H=12,W=9,OC=5,KH=2,KW=4,padding=[1,0,2,3],dilation=[1,2]"},
        {"conv2d_NCHWc", "N=1,IC=5,H=3,W=70,OC=6,padding=SAME,strides=[1,3]"},
    };
    return entities_main("run/conv2d_nchwc", tasks, sizeof tasks / sizeof *tasks, 30);
}
