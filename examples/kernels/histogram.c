/* autotune
 * args  N=100000, B=64
 * x[N] : index
 * h[B] : inout
 *
 * data x = 0..63, h = 0..1
 * reference plain
 * operations N
 * knob  COPIES = 1 2 4 8
 * knob  UNROLL = 1 2 4
 * flags -O3 -march=native
 * call  void histogram(const int *x, float *h, int N, int B)
 */
void plain(const int *x, float *h, int N, int B) {
    (void)B;
    for (int i = 0; i < N; i++) h[x[i]] += 1;
}

#ifdef COPIES /* the reference is compiled without the macros of knobs */
void histogram(const int *x, float *h, int N, int B) {
    float own[COPIES][64] = {{0}};
    int i = 0;
    for (; i + COPIES * UNROLL <= N; i += COPIES * UNROLL)
        for (int u = 0; u < UNROLL; u++)
            for (int c = 0; c < COPIES; c++) own[c][x[i + u * COPIES + c]] += 1;
    for (; i < N; i++) own[0][x[i]] += 1;
    for (int c = 0; c < COPIES; c++)
        for (int b = 0; b < B; b++) h[b] += own[c][b];
}
#endif
