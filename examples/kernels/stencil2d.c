/* autotune
 * args  H=512, W=512
 * sizes HO = H - 2, WO = W - 2
 * u[H, W] : input
 * v[y:HO, x:WO] = 0.5*u[y+1, x+1]
 *     + 0.125*(u[y, x+1] + u[y+2, x+1] + u[y+1, x] + u[y+1, x+2])
 *
 * knob  BLOCK_Y = 1 2 4 8 16
 * knob  BLOCK_X = 32 64 128 256 510
 * knob  ROWS = 1 2 4
 * require BLOCK_Y % ROWS == 0
 * operations 6 * HO * WO
 * flags -O3 -march=native
 * call  void stencil(const float *u, float *v, int H, int W)
 */
#define MIN(a, b) ((a) < (b) ? (a) : (b))

/* Some rows at once: each row of u is read for three of v. */
static void rows(const float *restrict u, float *restrict v, int W, int n, int x0, int x1) {
    for (int x = x0; x < x1; x++)
        for (int y = 0; y < n; y++)
            v[y * (W - 2) + x] = 0.5f * u[(y + 1) * W + x + 1] +
                                 0.125f * (u[y * W + x + 1] + u[(y + 2) * W + x + 1] +
                                           u[(y + 1) * W + x] + u[(y + 1) * W + x + 2]);
}

void stencil(const float *u, float *v, int H, int W) {
    for (int y0 = 0; y0 < H - 2; y0 += BLOCK_Y)
        for (int x0 = 0; x0 < W - 2; x0 += BLOCK_X) {
            const int x1 = MIN(x0 + BLOCK_X, W - 2), y1 = MIN(y0 + BLOCK_Y, H - 2);
            int y = y0;
            for (; y + ROWS <= y1; y += ROWS) rows(u + y * W, v + y * (W - 2), W, ROWS, x0, x1);
            for (; y < y1; y++) rows(u + y * W, v + y * (W - 2), W, 1, x0, x1);
        }
}
