/* runtime/products.c: a product of two matrices, in plain C that the compiler of this program made:
 * what references call for large sums (schedule/reference/reference_products.c). */
#include "runtime/code.h"

enum { ROWS = 2, COLUMNS = 4, LANES = 4 };
typedef float lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));

static float sum_of(lanes x) { return (x[0] + x[1]) + (x[2] + x[3]); }

static float one(const float *a, const float *b, int64_t from, int64_t to) {
    float s = 0;
    for (int64_t k = from; k < to; k++) s += a[k] * b[k];
    return s;
}

/* Elements of ROWS rows and COLUMNS columns. */
static void block(const float *a, const float *b, float *out, int64_t terms, int64_t columns) {
    const int64_t whole = terms - terms % LANES;
    lanes s[ROWS][COLUMNS] = {{{0}}};
    for (int64_t k = 0; k < whole; k += LANES) {
        lanes x[ROWS], y[COLUMNS];
        for (int i = 0; i < ROWS; i++) x[i] = *(const lanes *)(a + i * terms + k);
        for (int j = 0; j < COLUMNS; j++) y[j] = *(const lanes *)(b + j * terms + k);
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++) s[i][j] += x[i] * y[j];
    }
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            out[i * columns + j] =
                sum_of(s[i][j]) + one(a + i * terms, b + j * terms, whole, terms);
}

void at_products(const float *a, const float *b, float *out, int64_t rows, int64_t terms,
                 int64_t columns) {
    const int64_t blocks = rows - rows % ROWS, wide = columns - columns % COLUMNS;
    for (int64_t c = 0; c < wide; c += COLUMNS)
        for (int64_t r = 0; r < blocks; r += ROWS)
            block(a + r * terms, b + c * terms, out + r * columns + c, terms, columns);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = r < blocks ? wide : 0; c < columns; c++)
            out[r * columns + c] = one(a + r * terms, b + c * terms, 0, terms);
}
