/* runtime/input_sparse.c: matrices of files as blocks: of single entries, and cut into larger ones.
 */
#include "runtime/runtime_int.h"

#include <stdlib.h>

/* ---- entries --------------------------------------------------------------------------------- */

static int by_place(const void *x, const void *y) {
    const at_entry *a = x, *b = y;
    if (a->row != b->row) return a->row < b->row ? -1 : 1;
    return (a->column > b->column) - (a->column < b->column);
}

at_status at_input_of_entries(at_arena *a, const char *what, at_entry *entries, int64_t n,
                              bool valued, at_input *out, at_error *err) {
    int32_t *rows = AT_NEW_ARRAY(a, int32_t, n), *columns = AT_NEW_ARRAY(a, int32_t, n);
    float *values = AT_NEW_ARRAY(a, float, n);
    if (n) qsort(entries, (size_t)n, sizeof *entries, by_place);
    for (int64_t i = 0; i < n; i++) {
        if (i && !by_place(&entries[i - 1], &entries[i]))
            return at_fail(err, AT_E_INPUT, "%s: two entries for row %d, column %d, counted from 0",
                           what, entries[i].row, entries[i].column);
        rows[i] = entries[i].row;
        columns[i] = entries[i].column;
        values[i] = entries[i].value;
    }
    out->sparse = true;
    out->r = out->c = 1;
    out->nnz = n;
    out->rows = rows;
    out->columns = columns;
    out->values = valued ? values : NULL;
    return AT_OK;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* The blocks that elements lie in, each once, by row and column; places: of those elements. */
static int64_t unique(int64_t *places, int64_t n) {
    int64_t kept = 0;
    if (n) qsort(places, (size_t)n, sizeof *places, at_compare_ints);
    for (int64_t i = 0; i < n; i++)
        if (!i || places[i] != places[kept - 1]) places[kept++] = places[i];
    return kept;
}

typedef struct cutting {
    int64_t r, c, across; /* blocks in a row of blocks */
} cutting;

static int64_t place_of(const cutting *k, int64_t row, int64_t column) {
    return row / k->r * k->across + column / k->c;
}

static void put(const cutting *k, const int64_t *places, int64_t n, float *values, int64_t row,
                int64_t column, float value) {
    int64_t place = place_of(k, row, column);
    const int64_t *at = bsearch(&place, places, (size_t)n, sizeof *places, at_compare_ints);
    values[((at - places) * k->r + row % k->r) * k->c + column % k->c] = value;
}

at_status at_input_cut(at_arena *a, const at_input *in, int64_t r, int64_t c, at_input *out,
                       at_error *err) {
    const cutting k = {r, c, in->dims[1] / c};
    AT_ASSERT(in->num_dims == 2 && in->dims[0] % r == 0 && in->dims[1] % c == 0);
    *out = *in;
    if (in->sparse && in->r == r && in->c == c) return AT_OK;
    if (in->sparse && (in->r > 1 || in->c > 1))
        return at_fail(err, AT_E_USAGE, "its blocks are %lldx%lld, not %lldx%lld", (long long)in->r,
                       (long long)in->c, (long long)r, (long long)c);
    const int64_t columns = in->dims[1], elements = in->dims[0] * columns;
    int64_t n = 0, *places = AT_NEW_ARRAY(a, int64_t, in->sparse ? in->nnz : elements);
    if (in->sparse)
        for (; n < in->nnz; n++) places[n] = place_of(&k, in->rows[n], in->columns[n]);
    else
        for (int64_t i = 0; i < elements; i++)
            if (in->values[i] != 0) places[n++] = place_of(&k, i / columns, i % columns);
    n = unique(places, n);
    if (n > INT32_MAX || (double)n * (double)(r * c) * 4 > (double)at_cpu_facts()->memory_bytes / 4)
        return at_fail(err, AT_E_USAGE, "%lld blocks of %lldx%lld are too much for this machine",
                       (long long)n, (long long)r, (long long)c);

    int32_t *block_rows = AT_NEW_ARRAY(a, int32_t, n), *block_columns = AT_NEW_ARRAY(a, int32_t, n);
    float *values = AT_NEW_ARRAY(a, float, n *r *c);
    for (int64_t e = 0; e < n; e++) {
        block_rows[e] = (int32_t)(places[e] / k.across);
        block_columns[e] = (int32_t)(places[e] % k.across);
    }
    if (in->sparse)
        for (int64_t e = 0; in->values && e < in->nnz; e++)
            put(&k, places, n, values, in->rows[e], in->columns[e], in->values[e]);
    else
        for (int64_t i = 0; i < elements; i++)
            if (in->values[i] != 0)
                put(&k, places, n, values, i / columns, i % columns, in->values[i]);
    *out = (at_input){.sparse = true,
                      .num_dims = 2,
                      .dims = {in->dims[0], columns},
                      .r = r,
                      .c = c,
                      .nnz = n,
                      .rows = block_rows,
                      .columns = block_columns,
                      .values = in->values ? values : NULL};
    return AT_OK;
}
