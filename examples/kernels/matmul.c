/* autotune
 * args  N=512, M=512, K=512
 * a[N, K] : input
 * b[K, M] : input
 * c[n:N, m:M] = sum(k:K) a[n, k] * b[k, m]
 *
 * knob  TILE_N = 2 4 8 16
 * knob  TILE_M = 32 64 128 256
 * knob  TILE_K = 32 64 128 256
 * knob  ORDER  = "nmk" "mnk" "kmn"
 * knob  RESTRICT = false true
 * require TILE_M * TILE_K * 4 <= 262144
 * require N % TILE_N == 0 && M % TILE_M == 0 && K % TILE_K == 0
 * default TILE_N=4, TILE_M=64, TILE_K=64
 * flags -O3 -march=native -ffast-math
 * call  void matmul(const float *a, const float *b, float *c, int N, int M, int K)
 */
#include <string.h>

#if RESTRICT
#define ONLY restrict
#else
#define ONLY
#endif

static void block(const float *ONLY a, const float *ONLY b, float *ONLY c, int M, int K) {
    for (int n = 0; n < TILE_N; n++)
        for (int k = 0; k < TILE_K; k++)
            for (int m = 0; m < TILE_M; m++) c[n * M + m] += a[n * K + k] * b[k * M + m];
}

void matmul(const float *a, const float *b, float *c, int N, int M, int K) {
    memset(c, 0, sizeof *c * (size_t)N * (size_t)M);
#if ORDER_nmk
    for (int n = 0; n < N; n += TILE_N)
        for (int m = 0; m < M; m += TILE_M)
            for (int k = 0; k < K; k += TILE_K)
#elif ORDER_mnk
    for (int m = 0; m < M; m += TILE_M)
        for (int n = 0; n < N; n += TILE_N)
            for (int k = 0; k < K; k += TILE_K)
#else
    for (int k = 0; k < K; k += TILE_K)
        for (int m = 0; m < M; m += TILE_M)
            for (int n = 0; n < N; n += TILE_N)
#endif
                block(a + n * K + k, b + k * M + m, c + n * M + m, M, K);
}
