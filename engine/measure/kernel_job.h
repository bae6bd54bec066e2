/* engine/measure/kernel_job.h: a lowered kernel and where its tensors lie, as a job: the one place
 * where parameters of kernels become buffers. */
#ifndef AT_ENGINE_KERNEL_JOB_H
#define AT_ENGINE_KERNEL_JOB_H

#include "codegen/codegen.h"
#include "engine/data/dataset_cover.h"
#include "runtime/runtime.h"

/* By tensor of the computation: offsets in a store, or whatever else the caller finds them by. */
typedef struct at_places {
    const int64_t *at;       /* inputs and outputs */
    const int64_t *expected; /* outputs as they should be (and limits) */
    int num_others;          /* sets of other data, of which the same */
    const int64_t *other_at[AT_MOST_OTHERS], *other_expected[AT_MOST_OTHERS];
    const at_moved *moved; /* and runs with winners that move, of inputs at cover_at; NULL: none */
    const int64_t *cover_at;
    const int *tensor_of; /* which of those the kernel's tensors are; NULL: they are the same */
} at_places;

/* Its code alone, without buffers. In a; borrows k. */
at_job at_kernel_code(at_arena *a, const at_kernel *k);
/* Code, buffers in the order of the kernel's parameters, and workspace; packed ones have offset -1.
 * How it is compiled, checked and timed is left at zero. In a; borrows k. */
at_job at_kernel_job(at_arena *a, const at_kernel *k, int threads, const at_places *where);

/* at_job.unwritten_sign for kernels of c: of what its reductions keep. */
int at_unwritten_sign(const at_compute *c);

/* Compiles a text that holds a kernel's tiles (export/in_memory.c) into this process: all[i] is
 * what is called named[i], of n; NULL stays NULL. parallel_for: what the text calls threads by. */
at_status at_kernel_load(at_arena *a, const at_kernel *k, const char *source,
                         const char *parallel_for, const char *const *named, int n, void **all,
                         at_resident **out, at_error *err);

#endif
