# I have the layers of a network: docs/workloads.md.
set -eu
printf '2 conv2d N=1,H=6,W=6,CI=4,CO=16\n1 dense M=1,N=16,K=32\n' >net.workload
./autotune tune --workload ./net.workload --trials 24 --tuner random
./autotune report net.log
./autotune apply --log net.log --main -o kernels.c
cc -O3 kernels.c -o kernels -lm
./kernels
