/* templates/pattern.h: which blocks of a block-sparse weight are stored. */
#ifndef AT_PATTERN_H
#define AT_PATTERN_H

#include "base/base.h"

typedef struct at_pattern {
    int64_t rows, columns;  /* in blocks */
    int64_t nnz, longest;   /* stored blocks; of the fullest row */
    const int32_t *indptr;  /* [rows + 1] */
    const int32_t *indices; /* [nnz] ascending within a row */
    char hash[33];          /* of all of this and the block's shape */
} at_pattern;

/* Of n sums, largest first: how many stay where a share of them is pruned, 0 to 1. The sum that
 * sparsity * n + 0.5, rounded down, others are below of stays, and so do all that are not smaller:
 * equal ones stay together. Source: make_bsr_sparse, as tests/golden/bsr_prune.json derives it. */
int64_t at_pattern_kept(const double *sums, int64_t n, double sparsity);
/* As magnitude pruning leaves it: random real weights, of which those blocks stay that
 * at_pattern_kept says, by their sums. sparsity below 0: the nnz blocks of the largest sums. Same
 * numbers, same pattern on any machine. AT_E_USAGE where it has more than 2^31 blocks. Lives in a.
 */
at_status at_pattern_random(at_arena *a, int64_t rows, int64_t columns, int64_t r, int64_t c,
                            double sparsity, int64_t nnz, at_pattern *out, at_error *err);
/* Of the nnz stored blocks, each once, by rows and ascending within each. Lives in a. */
void at_pattern_of(at_arena *a, int64_t rows, int64_t columns, int64_t r, int64_t c, int64_t nnz,
                   const int32_t *block_rows, const int32_t *block_columns, at_pattern *out);

#endif
