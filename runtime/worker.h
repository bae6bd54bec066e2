/* runtime/worker.h: the worker, seen from the parent, and compilers. */
#ifndef AT_RUNTIME_WORKER_H
#define AT_RUNTIME_WORKER_H

#include "runtime/inputs.h"
#include "runtime/job.h"

/* ---- the worker, seen from the parent (worker.c, worker_process.c; its inside: worker_main.c) */

/* A worker confines itself before it runs the first kernel: nothing is left to it but computing
 * (at_confine). */
typedef enum at_sandbox {
    AT_SANDBOX_AUTO,    /* where the system can */
    AT_SANDBOX_REQUIRE, /* else there is no worker */
    AT_SANDBOX_OFF
} at_sandbox;
bool at_sandbox_from_name(const char *name, at_sandbox *out);

typedef struct at_worker at_worker;
/* program: the path of another program as worker, one of this version whose main() begins with
 * at_worker_main_if_asked; NULL: this same executable. AT_E_BUG: it cannot be started, or is none.
 * Borrows program and store until at_worker_free. cpu: the logical CPU to pin to, -1: the first of
 * at_cpu_cores; AT_E_USAGE if it is not. memory_bytes 0: at_cpu_most_bytes; counts all of the
 * worker's, the store too. AT_E_USAGE: a sandbox is required, and there is none. The calling thread
 * must live as long as the worker, which the system kills with it. */
at_status at_worker_new(const char *program, at_store *store, int cpu, int64_t memory_bytes,
                        at_sandbox sandbox, at_worker **out, at_error *err);
/* Why its kernels are not confined ("--sandbox off"); NULL: they are. */
const char *at_worker_unconfined(const at_worker *w);
void at_worker_free(at_worker *w); /* ends it; never leaves an orphan */
/* Ends its process, so that it takes neither memory nor its core: the next job starts another. */
void at_worker_rest(at_worker *w);
at_status at_worker_wake(at_worker *w, at_error *err); /* now, not at the next job; AT_E_BUG */
/* Whatever kernels may have spoiled in it unseen does not last. */
#define AT_JOBS_PER_WORKER 500
/* Runs one job; restarts the worker after a crash, a kill or AT_JOBS_PER_WORKER jobs. Always fills
 * *out: a failed job is a result. It runs again where the worker was killed from outside or did not
 * run all the time (SIGSTOP, a machine that slept), and a failure is its own only where a kernel
 * that is right runs in its place; else AT_E_BUG, as where no worker can be started.
 * AT_E_INTERRUPTED once *stop (may be NULL) is set: the job is then abandoned. */
at_status at_worker_run(at_worker *w, const at_job *job, const volatile int *stop, at_outcome *out,
                        at_error *err);
/* The two halves of at_worker_run: the job is on its way when begin returns, and borrowed until
 * end, which must follow with the same job. */
at_status at_worker_begin(at_worker *w, const at_job *job, const volatile int *stop, at_error *err);
at_status at_worker_end(at_worker *w, const at_job *job, const volatile int *stop, at_outcome *out,
                        at_error *err);
/* Has the code of a job (TinyCC's) that comes later compiled, and calls it by job->ahead, which the
 * job itself is to have, too; 0: it was not asked. Behind AT_AHEAD others, in another process, and
 * where it does not compile, that job compiles it: nothing else comes of this. No job is under way.
 */
enum { AT_AHEAD = 32 };
void at_worker_ahead(at_worker *w, at_job *job, const volatile int *stop);
/* From now on the worker keeps this kernel beside those of its jobs, which it has loaded, placed
 * and checked like one of them, and does so again whenever its process is another; the object of
 * gcc and clang must be there as long. Its inputs are those of jobs that have them at the same
 * offsets; data_version 0: copies of its own. *out: how that went; a failure leaves the worker
 * without an anchor. Errors as at_worker_run. */
at_status at_worker_anchor(at_worker *w, const at_job *job, const volatile int *stop,
                           at_outcome *out, at_error *err);
/* The FMA peak right now of the cores that so many threads run on, for one vector set, in GFLOP/s
 * (f32), in about 10 ms. AT_E_USAGE if the CPU has not got it. */
at_status at_worker_peak(at_worker *w, int vector_set, int threads, double *gflops, at_error *err);
/* The same of dot products of bytes; 0: the set has none. */
at_status at_worker_dot_peak(at_worker *w, int vector_set, int threads, double *gops,
                             at_error *err);
/* Likewise how many GB/s can be moved, so many bytes read and so many written over and over. */
at_status at_worker_bandwidth(at_worker *w, int64_t read_bytes, int64_t written_bytes, int threads,
                              double *gbytes, at_error *err);
/* main() calls this first: runs the worker and exits if argv asks for one, else returns. */
void at_worker_main_if_asked(int argc, char **argv);

/* ---- C text with data (tcc.c) --------------------------------------------------------------- */

typedef void at_any_fn(void);
typedef struct at_symbol_fn {
    const char *name;
    at_any_fn *fn;
} at_symbol_fn;
/* C text without headers, compiled through TinyCC in this process. */
typedef struct at_unit {
    const char *source;
    const at_symbol_fn *functions; /* of this program, that it may call */
    int num_functions;
    const at_blob *blobs; /* machine code, that it may call */
    int num_blobs;
    const char *const *names; /* what is looked for in it */
    int num_names;
    bool is_written; /* its data is not constant: stays writable */
} at_unit;
typedef struct at_resident at_resident;
/* Fills found[num_names], whose targets live until at_resident_free, any number of units beside
 * each other and in any thread; one compiles at a time. AT_E_INPUT: the compiler's first message,
 * or the system grants no memory that code may run in. */
at_status at_resident_new(const at_unit *u, void **found, at_resident **out, at_error *err);
void at_resident_free(at_resident *r); /* NULL is fine */
/* Compiles C text without headers through TinyCC, in this process and to stay: *out is the object
 * `name` of it, functions are what it may call. AT_E_INPUT: the compiler's first message. */
at_status at_compile_data(const char *source, const at_symbol_fn *functions, int num_functions,
                          const char *name, void **out, at_error *err);

/* ---- system compilers (object.c) ------------------------------------------------------------ */

typedef struct at_object {
    at_arena *arena;  /* owns path */
    char *path;       /* of a file in memory, which lasts until at_object_remove; NULL: see end */
    at_job_end end;   /* RAN: it is a kernel; else why not (NOT_COMPILED, COMPILE_TIMEOUT) */
    char error[1024]; /* for the record: the compiler's first error */
    int64_t compile_ns;
} at_object;
/* Compiles C text to a shared object, with temporary files below TMPDIR, of which none is left.
 * flags: separated by blanks, behind -shared -fPIC. timeout_s 0: 10 s, while this process is
 * stopped not counted. Not for AT_TCC. AT_OK: the text's own result, failures included: those are
 * the text's only where a kernel that is right compiles. Else this machine is to blame: AT_E_OUTPUT
 * (the temporary folder cannot be written, or is full), AT_E_BUG (no processes, descriptors,
 * memory; the compiler does not run); AT_E_INTERRUPTED once *stop (may be NULL) is set. */
at_status at_build_object(at_arena *a, at_compiler c, const char *source, const char *flags,
                          double timeout_s, const volatile int *stop, at_object *out,
                          at_error *err);
/* Compiles what somebody wrote, by a compiler of theirs. */
typedef struct at_build {
    const char *program; /* gcc, or a path; found in PATH */
    const char *const
        *words; /* [num_words] its arguments, which name kernel.c, entry.c, kernel.so */
    int num_words;
    const char *source, *entry; /* texts of kernel.c and entry.c; entry may be NULL */
    double timeout_s;           /* 0: 10 s */
    const volatile int *stop;
} at_build;
/* As at_build_object; whether the text or the flags are to blame, the caller finds out:
 * AT_E_OUTPUT, AT_E_BUG where the compiler makes nothing of a kernel that is right without any
 * flags. */
at_status at_build_run(at_arena *a, const at_build *b, at_object *out, at_error *err);
bool at_program_is_there(const char *program); /* in PATH, or a path */
/* What it says of itself, "gcc version 12.2.0 (Debian 12.2.0-14)"; "" where it does not. */
at_status at_program_version(at_arena *a, const char *program, double timeout_s,
                             const volatile int *stop, const char **out, at_error *err);
/* The bytes of such a file, malloc'd, NULL where it cannot be read; and a file of such bytes. */
void *at_object_bytes(const char *path, size_t *n);
at_status at_object_of_bytes(at_arena *a, const void *bytes, size_t n, char **path, at_error *err);

/* Builds beside each other (build_queue.c), on so many threads. */
typedef struct at_build_queue at_build_queue;
at_build_queue *at_build_queue_new(int threads);
void at_build_queue_free(at_build_queue *q); /* whose builds end first; NULL is fine */
int64_t at_build_queue_add(at_build_queue *q, const at_build *b); /* its number; b is copied */
/* What became of it, as at_build_run, when all that were added have ended: what is measured behind
 * this is measured alone. Each is taken once. */
at_status at_build_queue_take(at_build_queue *q, int64_t number, at_arena *a, at_object *out,
                              at_error *err);
void at_object_remove(const char *path); /* may be NULL */
bool at_compiler_available(at_compiler c);
/* "12.2.0", as the compiler itself says; "" if it does not. AT_E_BUG beyond timeout_s,
 * AT_E_INTERRUPTED once *stop (may be NULL) is set. */
at_status at_compiler_version(at_arena *a, at_compiler c, double timeout_s,
                              const volatile int *stop, const char **out, at_error *err);

#endif
