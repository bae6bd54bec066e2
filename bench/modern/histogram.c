/* bench/modern/histogram.c: the counts of histogram.te as one writes them by hand: four copies, so
 * that equal neighbours do not wait for each other. */
#include <stdint.h>
#include <string.h>

enum { COUNT = 65536, BINS = 256, COPIES = 4 };

void histogram(const int32_t *x, float *out);
void histogram(const int32_t *x, float *out) {
    int32_t counts[COPIES][BINS];
    memset(counts, 0, sizeof counts);
    for (int p = 0; p < COUNT; p += COPIES)
        for (int copy = 0; copy < COPIES; copy++) counts[copy][x[p + copy]]++;
    for (int b = 0; b < BINS; b++)
        out[b] = (float)(counts[0][b] + counts[1][b] + counts[2][b] + counts[3][b]);
}
