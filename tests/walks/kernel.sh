# I have a kernel in C, with macros: docs/kernels.md. SOURCES: the tree.
set -eu
cat >mm.c <<'C'
/* autotune
 * args  N=24, M=32, K=16
 * a[N, K] : input
 * b[K, M] : input
 * c[n:N, m:M] = sum(k:K) a[n, k] * b[k, m]
 * knob  TILE = 4 8
 * knob  ORDER = "nk" "kn"
 * require N % TILE == 0
 * flags -O2
 * call  void matmul(const float *a, const float *b, float *c, int N, int M, int K)
 */
#include <string.h>
void matmul(const float *a, const float *b, float *c, int N, int M, int K) {
    memset(c, 0, sizeof *c * (size_t)(N * M));
    for (int t = 0; t < N; t += TILE)
#if ORDER_nk
        for (int n = t; n < t + TILE; n++)
            for (int k = 0; k < K; k++)
#else
        for (int k = 0; k < K; k++)
            for (int n = t; n < t + TILE; n++)
#endif
                for (int m = 0; m < M; m++) c[n * M + m] += a[n * K + k] * b[k * M + m];
}
C
./autotune space mm.c | grep TILE
./autotune mm.c --trials 4
./autotune run mm.c --log mm.log
./autotune log mm.log | grep TILE
./autotune report mm.log mm.c
./autotune apply mm.c --log mm.log -o best.c
cc -O2 -Wall -Wextra -c best.c
./autotune apply mm.c --log mm.log --main -o check.c
cc -O3 -Wall -Wextra check.c -o check -lm
./check
# What is built and run by programs of its own.
./autotune tune --command "sh -c 'expr {TILE} \* {TILE} + {STEP}'" --knob TILE=2,3 --knob STEP=0,1 --metric '([0-9.]+)'
./autotune log command.log | grep TILE
# The examples are such files, too.
./autotune "$SOURCES/examples/kernels/matmul.c" --args N=64,M=64,K=64 --trials 2 --log example.log
