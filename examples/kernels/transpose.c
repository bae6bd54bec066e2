/* autotune
 * args  N=1024, M=768
 * a[N, M] : input
 * b[m:M, n:N] = a[n, m]
 *
 * knob  TILE_N = 4 8 16 32 64
 * knob  TILE_M = 4 8 16 32 64
 * knob  WRITES = "rows" "columns"
 * knob  BUFFER = false true
 * require N % TILE_N == 0 && M % TILE_M == 0
 * operations N * M
 * flags -O3 -march=native
 * call  void transpose(const float *a, float *b, int N, int M)
 */
#if WRITES_rows
#define EACH(n, m)                                                                                 \
    for (int m = 0; m < TILE_M; m++)                                                               \
        for (int n = 0; n < TILE_N; n++)
#else
#define EACH(n, m)                                                                                 \
    for (int n = 0; n < TILE_N; n++)                                                               \
        for (int m = 0; m < TILE_M; m++)
#endif

static void tile(const float *restrict a, float *restrict b, int N, int M) {
#if BUFFER /* rows lie a power of two apart, and compete for the same lines of the cache */
    float own[TILE_N][TILE_M + 1];
    for (int n = 0; n < TILE_N; n++)
        for (int m = 0; m < TILE_M; m++) own[n][m] = a[n * M + m];
    EACH(n, m) b[m * N + n] = own[n][m];
#else
    EACH(n, m) b[m * N + n] = a[n * M + m];
#endif
}

void transpose(const float *a, float *b, int N, int M) {
    for (int n = 0; n < N; n += TILE_N)
        for (int m = 0; m < M; m += TILE_M) tile(a + n * M + m, b + m * N + n, N, M);
}
