/* autotune
 * args  N=192, M=256, K=256
 * a[N, K] : input
 * b[K, M] : input
 * c[n:N, m:M] = sum(k:K) a[n, k] * b[k, m]
 *
 * knob  ROWS = 1 2 3 4 6 8 12
 * knob  VECTORS = 1 2 4
 * require ROWS * VECTORS <= 24 && M % (8 * VECTORS) == 0
 * flags -O2 -mavx2 -mfma
 * call  void matmul(const float *a, const float *b, float *c, int N, int M, int K)
 */
#include <immintrin.h>

void matmul(const float *a, const float *b, float *c, int N, int M, int K) {
    for (int n = 0; n < N; n += ROWS)
        for (int m = 0; m < M; m += 8 * VECTORS) {
            __m256 sum[ROWS][VECTORS];
            for (int i = 0; i < ROWS; i++)
                for (int j = 0; j < VECTORS; j++) sum[i][j] = _mm256_setzero_ps();
            for (int k = 0; k < K; k++)
                for (int i = 0; i < ROWS; i++)
                    for (int j = 0; j < VECTORS; j++)
                        sum[i][j] = _mm256_fmadd_ps(_mm256_set1_ps(a[(n + i) * K + k]),
                                                    _mm256_loadu_ps(b + k * M + m + 8 * j),
                                                    sum[i][j]);
            for (int i = 0; i < ROWS; i++)
                for (int j = 0; j < VECTORS; j++)
                    _mm256_storeu_ps(c + (n + i) * M + m + 8 * j, sum[i][j]);
        }
}
