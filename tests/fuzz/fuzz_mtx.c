/* Matrix Market files: refused, or a matrix whose entries lie inside, in order, each once; cut into
 * blocks it keeps its elements. */
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/runtime.h"

enum { MOST_CELLS = 1 << 16 };

static double sum(const at_input *in, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; in->values && i < n; i++) sum += fabs((double)in->values[i]);
    return sum;
}

static void check(at_arena *a, const at_input *in) {
    at_input cut;
    at_error err;
    const int64_t rows = in->dims[0], columns = in->dims[1];
    AT_ASSERT(in->num_dims == 2 && rows >= 1 && columns >= 1);
    for (int64_t e = 0; in->sparse && e < in->nnz; e++) {
        AT_ASSERT(in->rows[e] >= 0 && in->rows[e] < rows);
        AT_ASSERT(in->columns[e] >= 0 && in->columns[e] < columns);
        AT_ASSERT(!in->values || isfinite(in->values[e]));
        AT_ASSERT(!e || in->rows[e] > in->rows[e - 1] ||
                  (in->rows[e] == in->rows[e - 1] && in->columns[e] > in->columns[e - 1]));
    }
    int64_t cells, r = rows % 2 ? 1 : 2, c = columns % 3 ? 1 : 3;
    if (!at_mul64(rows, columns, &cells) || cells > MOST_CELLS) return;
    AT_ASSERT(at_input_cut(a, in, r, c, &cut, &err) == AT_OK);
    AT_ASSERT(fabs(sum(&cut, cut.nnz * r * c) - sum(in, in->sparse ? in->nnz : cells)) <=
              1e-9 * sum(in, in->sparse ? in->nnz : cells));
}

static void run(const uint8_t *data, size_t size) {
    at_arena *a = at_arena_new();
    at_input in;
    at_error err;
    char *text = fuzz_text(data, size);
    if (at_input_mtx(a, "x", text, strlen(text), &in, &err) == AT_OK) check(a, &in);
    else AT_ASSERT(err.status == AT_E_INPUT);
    free(text);
    at_arena_free(a);
}

static bool seed(int i, at_text *out) {
    static const char *const texts[] = {
        "%%MatrixMarket matrix coordinate real general\n% c\n4 6 3\n2 1 -4\n1 3 7.5e3\n1 2 5\n",
        "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 1\n3 3\n",
        "%%MatrixMarket matrix array integer general\n2 3\n1\n2\n3\n4\n5\n6\n",
        NULL,
    };
    return fuzz_seed_of(texts, i, out);
}

const fuzz_target fuzz_mtx = {"mtx", run, seed, 1};
