/* autotune
 * args  N=4096, K=16, M=2048
 * value[N, K] : input
 * column[N, K] : index
 * x[M] : input
 * y[n:N] = sum(k:K) value[n, k] * x[column[n, k]]
 *
 * data  column = 0..2047
 * knob  ROWS = 1 2 4 8
 * knob  UNROLL = 1 2 4 8
 * knob  ORDER = "rows" "columns"
 * require N % ROWS == 0 && K % UNROLL == 0
 * flags -O3 -march=native -ffast-math
 * call  void product(const float *value, const int *column, const float *x, float *y, int N, int K)
 */
/* A sparse matrix with as many entries in each row, times a vector. */
void product(const float *value, const int *column, const float *x, float *y, int N, int K) {
    for (int n = 0; n < N; n += ROWS) {
        float sum[ROWS][UNROLL] = {{0}};
#if ORDER_rows
        for (int r = 0; r < ROWS; r++)
            for (int k = 0; k < K; k += UNROLL)
#else
        for (int k = 0; k < K; k += UNROLL)
            for (int r = 0; r < ROWS; r++)
#endif
                for (int u = 0; u < UNROLL; u++) {
                    const int i = (n + r) * K + k + u;
                    sum[r][u] += value[i] * x[column[i]];
                }
        for (int r = 0; r < ROWS; r++) {
            float all = 0;
            for (int u = 0; u < UNROLL; u++) all += sum[r][u];
            y[n + r] = all;
        }
    }
}
