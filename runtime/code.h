/* runtime/code.h: code of a job, loaded inside the worker: by tcc.c, by load.c from shared objects,
 * and ahead of its job by ahead.c. */
#ifndef AT_RUNTIME_CODE_H
#define AT_RUNTIME_CODE_H

#include "runtime/runtime_int.h"

typedef struct at_code {
    at_kernel_fn *entry, *pack; /* pack NULL if the job has none */
    void *handle;               /* of a shared object, else NULL */
    int object_fd;              /* its file, open as long as it is loaded */
} at_code;

/* out[r, c] = sum(k:terms) a[r, k]*b[c, k], added up in any order (products.c): texts that TinyCC
 * compiles may call it. */
void at_products(const float *a, const float *b, float *out, int64_t rows, int64_t terms,
                 int64_t columns);

/* Maps the executable arena and compiles a first text; false with a text, else an empty one, where
 * that fails. */
bool at_tcc_init(char *error, size_t error_size);
/* Where code lies: of the job in hand, and of the anchor, which stays. */
typedef enum at_arena_no { AT_ARENA_JOB, AT_ARENA_ANCHOR, AT_ARENA_COUNT } at_arena_no;
/* Compiles the job's text there, over what was compiled before. Returns how that ended, with the
 * compiler's message in error. */
at_job_end at_tcc_load(const at_job *job, at_arena_no number, at_code *code, char *error,
                       size_t error_size);
/* What was compiled last for a job, its tiles aside, as it lies there; and such a copy put back to
 * where it lay, with the tiles of the same job. false: it is to be compiled. */
const void *at_tcc_text(size_t *size_bytes);
bool at_tcc_put(const at_job *job, const void *text, size_t size_bytes);
/* The tile of the current job that holds this address, or -1; for the crash handler. */
int at_tcc_blob_at(uint64_t address, int64_t *offset);
/* Loads the shared object job->object_fd, which it takes. */
at_job_end at_so_load(const at_job *job, at_code *code, char *error, size_t error_size);
void at_so_unload(at_code *code);

/* Compiles and keeps code for the job of that number (ahead.c); takes it out for that job, with the
 * time that it took. false: it is not there. */
void at_ahead_execute(const at_job *job);
bool at_ahead_load(const at_job *job, at_code *code, int64_t *compile_ns);
void at_ahead_forget(void);

#endif
