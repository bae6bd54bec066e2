/* runtime/runtime.h: CPU facts, the shared tensor store, compilers, and the worker that compiles,
 * runs, checks and times kernels.
 *
 * The worker is this same executable started again with the hidden verb `--worker`, or, where this
 * is a library in the program of others, one that was installed with it; it has no
 * thread of ours but its own, is pinned to its core, limits its own memory, and dies with its
 * parent. A job is complete in itself: C text, machine-code tiles, tensor table, sizes, limits; so
 * a test can inject any faulty kernel. The parent watches the time and kills; a lost worker costs
 * one try. Source of the compiling rules: libtcc as measured (own executable arena, -nostdlib
 * -nostdinc -Werror). */
#ifndef AT_RUNTIME_H
#define AT_RUNTIME_H

#include "base/base.h"

/* ---- CPU facts (cpu.c) ---------------------------------------------------------------------- */

typedef struct at_cpu {
    char name[64];      /* brand string, blanks folded */
    char llvm_name[32]; /* LLVM's -mcpu spelling: znver4, ...; x86-64 if unknown */
    char core[32];      /* the core itself, whatever of it is hidden: such a name, too */
    char flags[256];    /* what it can do, as Linux names it: blanks between */
    char machine[128];  /* tells those of one name apart: "6-143-8, 32K/2M/105M, under KVM" */
    int cores;          /* logical CPUs this process may run on */
    int64_t l1d_bytes, l2_bytes, l3_bytes; /* 0 unknown */
    int64_t memory_bytes;                  /* physical, or the cgroup's limit where lower */
} at_cpu;
const at_cpu *at_cpu_facts(void); /* measured once */

/* Vector sets: the instruction sets that kernels are made of, those of the architecture that this
 * program runs on, by number, the plainest first (runtime/x86/spin.c). Their names are those of
 * codegen's targets. */
int at_vector_set(const char *name);     /* -1: this architecture has none of that name */
const char *at_vector_set_name(int set); /* NULL: there is no such number */
bool at_cpu_has_set(int set);            /* and its registers are saved by the system */
int at_cpu_best_set(void);

/* CPUs that kernels run on: one of each core that this process may use, the preferred one and then
 * the last first. Writes at most
 * max of them and returns how many there are, at least 1. */
int at_cpu_cores(int *cpus, int max);
int at_cpu_core_of(int cpu); /* the first of the CPUs that are this core */
/* This thread no longer runs on the cores that kernels of so many threads do, its workers start as
 * before; false: then it would have none left. at_cpu_return ends that. */
bool at_cpu_leave(int threads);
void at_cpu_return(void);
bool at_has_threads(void); /* built with OpenMP: kernels run on several */
/* body(i, thread) for i in 0 .. n, on so many threads at most, each thread below that number. Pins
 * none: for kernels in a program of others. */
void at_par_for(int threads, void (*body)(long i, int thread, void *context), long n,
                void *context);

/* ---- this core, right now (peak.c, latency.c) ------------------------------------------------ */

/* The FMA peak of the caller's core and of others, in about 10 ms. */
double at_peak_gflops(int vector_set, int threads);
/* Of one multiply-add of vectors that waits for the one before; 0: the set has none. */
double at_chain_ns(int vector_set);
/* Of one load that waits for the one before, anywhere in so many bytes; at most 64 MB. */
double at_latency_ns(int64_t bytes);

/* ---- who else uses this core (probe.c) --------------------------------------------------------
 *
 * How often the core does something that waits for nothing in the time of one multiply-add that
 * waits for the one before: neither clock nor unit is in it. Alone a core reaches ports times
 * latency; a thread beside it on the same core takes of the ports, and not of the latency. */

typedef struct at_probe {
    double near, far;     /* loads from the first-level and from the second-level cache */
    double multiply_adds; /* of CPUs without them multiplications */
} at_probe;
/* Of the caller's core, in 5 microseconds; far: that, too, in 7, else it is 0. At most 4 KB are
 * touched. */
at_probe at_probe_core(bool far);
bool at_arch_probes_fused(void); /* they are multiply-adds */
/* What a core reaches alone: ports times latency. 0: not known. */
typedef struct at_reach {
    double near, multiply_adds;
} at_reach;
/* What is known of a core, and what its probes show where that is clearly more: then too little was
 * known. In a third of a millisecond, on the caller's core. */
at_reach at_reach_seen(const at_reach *known);
/* UNKNOWN where nothing is known; else ALONE where near all of it is reached, or COMPANY. */
at_state at_probe_state(const at_probe *p, const at_reach *reach);
/* Of what lies between two readings: MIXED where they differ. */
at_state at_state_between(at_state before, at_state after);

/* A core as this thread sees it, which is on it meanwhile (core_watch.c). */
typedef struct at_core_seen {
    double share[AT_STATE_COUNT]; /* of the time */
    double here;                  /* of the time: this thread had the core */
    at_probe mean;
    int probes;
} at_core_seen;
/* false: this thread may not be there. */
bool at_core_watch(int cpu, int64_t ns, const at_reach *reach, at_core_seen *out);
/* That of n CPUs of which others take the least, each watched for so long; the first, if it makes
 * no difference. */
int at_quieter_core(const int *cpus, int n, int64_t ns, const at_reach *reach);
/* From now on this core is the first of at_cpu_cores, and the one that workers are on, for this
 * thread. */
void at_cpu_prefer(int cpu);

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

/* ---- weights of the user's (input.c, input_sparse.c, npy.c, npz.c, mtx.c)
 * -------------------------
 *
 * Formats: NumPy's arrays, SciPy's sparse matrices (save_npz of bsr, csr, coo), Matrix Market. */

#define AT_INPUT_DIMS 32
typedef struct at_input {
    bool sparse; /* a matrix of which blocks are stored; else an array */
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
/* An array of integers, .npy; in has its dimensions and no values. Errors as above. */
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

/* ---- jobs ----------------------------------------------------------------------------------- */

/* The face of an emitted kernel and of its pack function: 0 = fine, else its own error number. */
typedef struct at_par {
    void (*parallel_for)(void (*body)(long i, int thread, void *context), long n, void *context);
    int threads;
    /* Turns that kernels which can be cut short (at_job.turns) may still take, counted down; 0:
     * stop. */
    volatile long turns;
} at_par;
typedef int at_kernel_fn(void *const buf[], void *workspace, at_par *par);

typedef enum at_compiler { AT_TCC, AT_GCC, AT_CLANG, AT_COMPILER_COUNT } at_compiler;
const char *at_compiler_name(at_compiler c);
bool at_compiler_from_name(const char *name, at_compiler *out);

/* A machine-code tile: an ordinary System V function of this name, position independent. */
typedef struct at_blob {
    const char *symbol;
    const uint8_t *bytes;
    int size_bytes;
} at_blob;

typedef enum at_buf_role { AT_BUF_IN, AT_BUF_OUT, AT_BUF_PACKED } at_buf_role;
typedef struct at_buf {
    const char *name;
    at_buf_role role;
    at_type type;   /* of its elements */
    int64_t offset; /* in the store; for PACKED -1: the worker allocates it itself */
    int64_t size_bytes;
    /* Other data, of an output its expected values (and limits): of a further check run, or of the
     * second of paranoid's. 0: the same, and where all have it no such run. */
    int64_t other_offset;
    /* Of an output that is also read: what is put into it before each run, which is timed alone
     * then. 0: nothing. */
    int64_t before_offset;
} at_buf;

/* A computation has at most 256 tensors, and a reference two buffers for each output. */
#define AT_MAX_BUFS 512
static inline int64_t at_buf_elements(const at_buf *b) {
    return b->size_bytes / at_type_bytes(b->type);
}
/* Where limits lie behind so many bytes of expected values. */
static inline int64_t at_limits_at(int64_t size_bytes) { return (size_bytes + 3) / 4 * 4; }
typedef struct at_job {
    at_compiler compiler;
    const char *source;   /* C text (tcc), else NULL */
    const char *object;   /* the path of what at_build_object has built (gcc, clang), else NULL */
    int object_fd;        /* inside the worker: that file, open */
    const at_blob *blobs; /* tiles bound to the C text (tcc only) */
    int num_blobs;
    const char *entry;  /* symbol of at_kernel_fn */
    const char *pack;   /* symbol of the pack function (same face), run once untimed, or NULL */
    int64_t ahead;      /* what at_worker_ahead calls this code; 0: it was not asked */
    const at_buf *bufs; /* in the order of buf[]; at most AT_MAX_BUFS */
    int num_bufs;
    /* Changes when what the inputs hold changes: until then a worker keeps its copies of them. 0:
     * not known, copied every time. */
    int64_t data_version;
    int64_t workspace_bytes; /* the worker's: 64-byte aligned, poisoned before the check run */
    int threads;
    int vector_set; /* its own: the clock that is watched beside a sample is the one it has */
    /* Checking: outputs lie in memory of the worker's own, filled with NaN before the first run,
     * and are afterwards compared with the expected values at expected_offset[] in the store (one
     * per OUT buffer, in order): equal bit by bit but for -0 == 0; has_limits: each within a limit
     * of its own, floats that lie right behind that buffer's expected values (base/agree.h).
     * Integers are always equal or not. NULL: only elements never written are an error, and the
     * outputs of the first run are copied to their place in the store. */
    const int64_t *expected_offset;
    bool has_limits;
    bool paranoid; /* buffers and workspace between guard pages, at both ends in turn (two runs; the
                    * second with the other data) */
    bool run_only; /* not timed; with expected_offset NULL: how a reference fills expected values */
    /* Timing, AutoTVM's meaning: 1 + number*repeat calls, number raised until a repeat lasts
     * min_repeat_ms; at most AT_MAX_SAMPLES repeats. number 0: chosen so that a repeat lasts
     * min_repeat_ms, or 0.2 ms if that is 0 too; then repeat 0: 5, fewer once 20 ms are spent, at
     * least 2; a disturbed repeat is measured again (at_outcome.disturbed). And with best_ns > 0,
     * the best so far: of a check run of 3 times that no more is asked (at_outcome.at_least). */
    int number, repeat;
    double min_repeat_ms;
    int64_t best_ns;
    /* Above 0: so many pairs that count (wanted), each a run (of short kernels a block of runs)
     * beside one of the worker's anchor (at_worker_anchor); which of the two comes first is drawn
     * from the seed. The rules above do not count then, but: a check run of 3 times the best's
     * ends it (at_least), and so does a ratio above 1.5 of the best's after one pair, and two that
     * agree within 7 %; where the median is below 0.75 of the best's there are 11. to_the_end: none
     * of these, and a block waits for the timer's interrupt if one like it fits between two of
     * them; else two must fit. The best so far takes best_ratio times as long as the anchor; 0: as
     * long. */
    int pairs;
    bool to_the_end;
    double best_ratio;
    /* Above 0: it is enough, from 11 pairs that count on, to know at this level on which side of
     * the border the median is. */
    double border_level, border;
    at_reach reach; /* by which pairs are labelled; 0: they are not, all are UNKNOWN */
    /* ALONE or COMPANY: only such count as pairs; else all but MIXED do; of at most 3 times as many
     */
    at_state wanted;
    /* Above 0: the wanted state, ALONE or COMPANY, is waited for before a pair, so long at most
     * before all of them; once that is over there are no more pairs than are asked for. */
    int64_t wait_ns;
    /* Above 0: the kernel's outermost loops have so many turns, and no more than at_par.turns
     * says. It is stopped once its run has taken 3 times the best (at least 20 ms);
     * where the best takes that long itself, a few turns are run before the whole, and the whole is
     * not if they show that it takes as long. Either is told as at_least, unless to_the_end. */
    int64_t turns;
    uint64_t pair_seed;
    /* Above 0: before each sample that much memory is read, so that what the caches held is gone;
     * then number is 1 and repeat 3 unless given. */
    int64_t flush_bytes;
    /* Above 0: timed runs take packed weights from copies in turn, which together are as large. */
    int64_t ring_bytes;
    /* 0: 10 s. run: packing, checking and timing together. */
    double compile_timeout_s, run_timeout_s;
} at_job;

/* What became of a job. */
typedef enum at_job_end {
    AT_JOB_RAN,          /* and its outputs are right, where they were checked */
    AT_JOB_NOT_COMPILED, /* or not loaded */
    AT_JOB_COMPILE_TIMEOUT,
    AT_JOB_CRASHED, /* or went out of bounds, or out of memory */
    AT_JOB_TIMEOUT,
    AT_JOB_WRONG, /* outputs */
    AT_JOB_LOST,  /* interrupted, or there was no worker: it tells nothing about the kernel */
    AT_JOB_END_COUNT
} at_job_end;

#define AT_MAX_SAMPLES 64
#define AT_MAX_PAIRS 600
/* Seconds per run, of the kernel and of the anchor beside it. Of a pair that somebody disturbed
 * anchor_s is the shortest that the anchor can have taken, which ratios are to, and anchor_most_s
 * the longest, which times are made with: neither makes a kernel seem faster than it is. */
typedef struct at_pair {
    double time_s, anchor_s, anchor_most_s;
    at_state state; /* by what was seen before and after it */
} at_pair;
typedef struct at_outcome {
    at_job_end end;
    char error[1024]; /* text; of a wrong answer: first differing element, both values, how many */
    double costs_s[AT_MAX_SAMPLES]; /* seconds per run, one per repeat, in measured order */
    int num_costs;
    int number;    /* runs that the last of them is the mean of */
    bool at_least; /* the check run was so slow that nothing else was timed */
    bool is_cut; /* at_least, and not even run to its end: its outputs are not known to be right */
    int num_pairs;
    bool is_bracketed; /* so much slower than the anchor that each run stands between blocks of its
                        */
    /* Repeats during which the core was taken away, stolen by the hypervisor, or changed its clock;
     * and how many of them stand in costs_s, because too few others came. Not looked at where
     * number is given. */
    int disturbed, disturbed_kept;
    /* Largest |x - e| of the check, and the largest as a share of its element's limit: above 1 it
     * is wrong. What is not a number does not count. */
    double max_error, of_limit;
    /* Where the worker's time went: compiling or loading; packing, first run and check; timing.
     * After a crash or a kill only what had ended by then. */
    int64_t compile_ns, check_ns, run_ns;
    int64_t ahead_ns;  /* of compile_ns: before the job came (at_worker_ahead) */
    int64_t kernel_ns; /* of check_ns and run_ns: inside the kernel itself, and in pairs with it */
    int64_t waited_ns; /* of run_ns: for the wanted state */
    int64_t core_ns;   /* that the worker's thread had its core for, of all of it */
    int64_t total_ns;  /* as the parent saw it */
    /* In measured order; costs_s holds the times of the first of them. Last, so that only those
     * that there are need be touched. */
    at_pair pairs[AT_MAX_PAIRS];
} at_outcome;
void at_outcome_clear(at_outcome *o); /* nothing happened */

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
 * at_cpu_cores; AT_E_USAGE if it is not. memory_bytes 0: three quarters of the machine's; counts
 * all of the worker's, the store too. AT_E_USAGE: a sandbox is required, and there is none. The
 * calling thread must live as long as the worker, which the system kills with it. */
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
