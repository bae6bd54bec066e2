/* autotune
 * args  Z=64, Y=64, X=64
 * sizes ZO = Z - 2, YO = Y - 2, XO = X - 2
 * u[Z, Y, X] : input
 * v[z:ZO, y:YO, x:XO] = u[z+1, y+1, x+1]
 *     - 0.125*(u[z, y+1, x+1] + u[z+2, y+1, x+1] + u[z+1, y, x+1] + u[z+1, y+2, x+1]
 *              + u[z+1, y+1, x] + u[z+1, y+1, x+2])
 *
 * knob  BLOCK_Z = 1 2 4 8 16 32 62
 * knob  BLOCK_Y = 1 2 4 8 16 32 62
 * knob  SIMD = false true
 * knob  WIDTH = 8 16 if SIMD
 * operations 8 * ZO * YO * XO
 * flags -O3 -march=native -fopenmp-simd
 * call  void stencil(const float *u, float *v, int Z, int Y, int X)
 */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define PRAGMA(x) _Pragma(#x)
#if SIMD
#define LOOP(width) PRAGMA(omp simd simdlen(width))
#else
#define LOOP(width)
#define WIDTH 0
#endif

void stencil(const float *u, float *v, int Z, int Y, int X) {
    const int row = X, plane = X * Y;
    for (int z0 = 1; z0 < Z - 1; z0 += BLOCK_Z)
        for (int y0 = 1; y0 < Y - 1; y0 += BLOCK_Y)
            for (int z = z0; z < MIN(z0 + BLOCK_Z, Z - 1); z++)
                for (int y = y0; y < MIN(y0 + BLOCK_Y, Y - 1); y++) {
                    const float *from = u + z * plane + y * row;
                    float *to = v + ((z - 1) * (Y - 2) + y - 1) * (X - 2) - 1;
                    LOOP(WIDTH)
                    for (int x = 1; x < X - 1; x++)
                        to[x] = from[x] - 0.125f * (from[x - plane] + from[x + plane] +
                                                    from[x - row] + from[x + row] + from[x - 1] +
                                                    from[x + 1]);
                }
}
