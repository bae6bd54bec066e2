/* templates/pattern.c: block-sparse patterns made by pruning random weights. */
#include "templates/pattern.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One seed for all: runs with different search seeds are runs on the same weights. */
enum { SEED = 1, STREAM = 77 };

static int descending(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a < b) - (a > b);
}

int64_t at_pattern_kept(const double *sums, int64_t n, double sparsity) {
    int64_t below = (int64_t)(sparsity * (double)n + 0.5), kept = n - below;
    if (kept < 1) return 0;
    while (kept < n && sums[kept] == sums[kept - 1]) kept++;
    return kept;
}

static void finish(at_pattern *p, int64_t r, int64_t c) {
    const int64_t sizes[] = {p->rows, p->columns, r, c, p->nnz};
    at_hash h;
    at_hash_init(&h);
    at_hash_add(&h, sizes, sizeof sizes);
    at_hash_add(&h, p->indptr, sizeof *p->indptr * (size_t)(p->rows + 1));
    at_hash_add(&h, p->indices, sizeof *p->indices * (size_t)p->nnz);
    at_hash_hex(&h, p->hash);
    for (int64_t i = 0; i < p->rows; i++)
        if (p->indptr[i + 1] - p->indptr[i] > p->longest)
            p->longest = p->indptr[i + 1] - p->indptr[i];
}

void at_pattern_of(at_arena *a, int64_t rows, int64_t columns, int64_t r, int64_t c, int64_t nnz,
                   const int32_t *block_rows, const int32_t *block_columns, at_pattern *out) {
    int32_t *indptr = AT_NEW_ARRAY(a, int32_t, rows + 1);
    for (int64_t e = 0; e < nnz; e++) indptr[block_rows[e] + 1]++;
    for (int64_t i = 0; i < rows; i++) indptr[i + 1] += indptr[i];
    *out = (at_pattern){.rows = rows,
                        .columns = columns,
                        .nnz = nnz,
                        .indptr = indptr,
                        .indices = at_copy(a, block_columns, sizeof *block_columns * (size_t)nnz)};
    finish(out, r, c);
}

at_status at_pattern_random(at_arena *a, int64_t rows, int64_t columns, int64_t r, int64_t c,
                            double sparsity, int64_t nnz, at_pattern *out, at_error *err) {
    int64_t n;
    if (!at_mul64(rows, columns, &n) || n >= INT32_MAX)
        return at_fail(err, AT_E_USAGE, "%lld x %lld blocks are more than 2^31", (long long)rows,
                       (long long)columns);
    at_rng rng;
    at_rng_seed(&rng, SEED, STREAM);
    double *sums = malloc(sizeof *sums * (size_t)n), *sorted = malloc(sizeof *sorted * (size_t)n);
    if (!sums || !sorted) {
        free(sums), free(sorted);
        return at_fail(err, AT_E_USAGE, "no memory for a pattern of %lld blocks", (long long)n);
    }
    for (int64_t i = 0; i < n; i++) {
        sums[i] = 0;
        for (int64_t e = 0; e < r * c; e++) sums[i] += at_rng_unit(&rng);
    }
    memcpy(sorted, sums, sizeof *sums * (size_t)n);
    qsort(sorted, (size_t)n, sizeof *sorted, descending);

    *out = (at_pattern){.rows = rows, .columns = columns};
    out->nnz = sparsity < 0 ? nnz : at_pattern_kept(sorted, n, sparsity);
    if (out->nnz > n) out->nnz = n;
    double limit = out->nnz ? sorted[out->nnz - 1] : INFINITY;
    int32_t *indptr = AT_NEW_ARRAY(a, int32_t, rows + 1);
    int32_t *indices = AT_NEW_ARRAY(a, int32_t, out->nnz + 1);
    int32_t stored = 0;
    for (int64_t i = 0; i < n; i++) {
        if (sums[i] >= limit && stored < out->nnz) indices[stored++] = (int32_t)(i % columns);
        if ((i + 1) % columns == 0) indptr[i / columns + 1] = stored;
    }
    free(sums), free(sorted);
    out->indptr = indptr;
    out->indices = indices;
    finish(out, r, c);
    return AT_OK;
}
