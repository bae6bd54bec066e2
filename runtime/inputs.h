/* runtime/inputs.h: tensors in memory that workers share, and files of the user's arrays. */
#ifndef AT_RUNTIME_INPUTS_H
#define AT_RUNTIME_INPUTS_H

#include "base/base.h"

/* ---- the tensor store (tensors.c): one memfd, mapped by parent and workers ---------------------
 *
 * Workers map it read-only: a kernel that writes to its inputs or to expected values crashes and
 * spoils no later trial. The store outlives the workers made with it. */

typedef struct at_store at_store;
at_status at_store_new(at_store **out, at_error *err); /* returns owned */
void at_store_free(at_store *s);
/* Reserves size_bytes (zeroed, 64-byte aligned, 64 bytes of slack behind); returns the offset.
 * AT_E_USAGE when the total would exceed the machine's memory: "needs 412.0 GiB, this machine
 * has 24.0 GiB". */
at_status at_store_reserve(at_store *s, const char *what, int64_t size_bytes, int64_t *offset,
                           at_error *err);
void *at_store_at(at_store *s, int64_t offset); /* valid until the next reserve */

/* ---- weights of the user's (input.c, input_sparse.c, npy.c, npz.c, mtx.c) --------------------
 *
 * Formats: NumPy's arrays, SciPy's sparse matrices (save_npz of bsr, csr, coo), Matrix Market. */

#define AT_INPUT_DIMS 32
typedef struct at_input {
    bool sparse;   /* a matrix of which blocks are stored; else an array */
    bool is_whole; /* elements are integers or truth values */
    int num_dims;
    int64_t dims[AT_INPUT_DIMS]; /* in elements; of a matrix: rows, columns */
    int64_t r, c, nnz;           /* sparse: rows and columns of a block, number of blocks */
    const int32_t *rows;         /* [nnz] which row of blocks; */
    const int32_t *columns;      /* [nnz] by rows, ascending within each: no block twice */
    const float *values;         /* [nnz, r, c], or the array; finite. NULL: only a pattern */
} at_input;
/* AT_E_INPUT: path, and what is wrong with the file; AT_E_USAGE: no name of a format. Lives in a.
 */
at_status at_input_read(at_arena *a, const char *path, at_input *out, at_error *err);
/* An array of integers, .npy; out has its dimensions and no values. Errors as above, is_whole where
 * an integer is the mistake. */
at_status at_input_integers(at_arena *a, const char *path, at_input *out, const int64_t **entries,
                            at_error *err);
/* Appends an array, .npy; descr as NumPy has it: "<f4". */
void at_npy_print(at_text *out, const char *descr, int num_dims, const int64_t *dims,
                  const void *elements, size_t bytes);
/* The same of bytes; what: their name in errors. */
at_status at_input_npy(at_arena *a, const char *what, const char *bytes, size_t len, at_input *out,
                       at_error *err);
at_status at_input_mtx(at_arena *a, const char *what, const char *text, size_t len, at_input *out,
                       at_error *err);
/* A matrix in blocks of r x c, which divide it: a block is stored that holds a stored element, of
 * an array one that is not 0. AT_E_USAGE where it is in other blocks already, or memory is short.
 */
at_status at_input_cut(at_arena *a, const at_input *in, int64_t r, int64_t c, at_input *out,
                       at_error *err);

#endif
