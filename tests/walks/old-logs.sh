# I have logs of AutoTVM: docs/coming-from.md. A log of ours without our member stands in for one of AutoTVM's.
set -eu
./autotune dense --args M=16,N=48,K=32 --trials 4 --tuner random --log ours.log --quiet >/dev/null
sed -n 's/, "autotune": .*/}/p' ours.log >old.log
test "$(wc -l <old.log)" -ge 4
./autotune verify old.log --log mine.log || test $? = 7 # another CPU, or none told: the times are new
./autotune log mine.log
./autotune apply --log mine.log --main -o kernels.c
cc -O3 kernels.c -o kernels -lm
./kernels
