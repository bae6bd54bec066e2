# I have a fused kernel to write in C: docs/computations.md.
set -eu
cat >scaled.te <<'TE'
args N=24, M=48, K=32
A[N, K] : input
B[K, M] : weight
s[M] : weight
mul[i:N, j:M] = sum(k:K) A[i, k] * B[k, j]
out[i:N, j:M] = max(mul[i, j]*s[j], 0)
TE
./autotune derive ./scaled.te
./autotune ./scaled.te --trials 8 --log scaled.log
rm scaled.te # the log has it
./autotune apply --log scaled.log --main -o scaled.c
cc -O3 -Wall -Wextra scaled.c -o scaled -lm
./scaled
