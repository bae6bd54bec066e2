/* runtime/job.h: what a worker does with a kernel, and what came of it. */
#ifndef AT_RUNTIME_JOB_H
#define AT_RUNTIME_JOB_H

#include "runtime/cpu.h"

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
enum { AT_MOST_OTHERS = 4 };
typedef struct at_buf {
    const char *name;
    at_buf_role role;
    at_type type;   /* of its elements */
    int64_t offset; /* in the store; for PACKED -1: the worker allocates it itself */
    int64_t size_bytes;
    /* Sets of other data, of an output its expected values (and limits): of further check runs, and
     * the first of the second of paranoid's. 0: the same, and where all have it no such run. */
    int64_t other_offset[AT_MOST_OTHERS];
    /* Of an output that is also read: what is put into it before each run, which is timed alone
     * then (is_fresh), or before checks alone, where a run leaves what the next one needs (stays).
     */
    int64_t before_offset, other_before_offset[AT_MOST_OTHERS];
    bool is_fresh, stays;
    /* Of the runs of at_job.cover_runs: where an input lies that all have, of which each run
     * changes num_moves elements (at_move); where an output's expected values (and limits) of the
     * first run lie, or the numbers there of an input that has others in each run, and how many
     * bytes further on the next run's lie (cover_step; 0 of an input that all runs have). */
    int64_t cover_offset, moves_offset, cover_step;
    int num_moves;
} at_buf;
/* In the store: an element becomes another one, for a run. */
typedef struct at_move {
    int64_t at; /* of its bytes */
    uint32_t bits;
} at_move;

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
    /* The sign of the large numbers that the workspace holds before runs with other data and before
     * timing: 1, which a maximum would keep; -1, which a minimum would; 0: both, mixed. */
    int unwritten_sign;
    int data_set;    /* inside the worker: 0, or which other data the job is for, from 1 on */
    bool is_foreign; /* the kernel is somebody's own C: it may keep what it sees between calls */
    int threads;
    int vector_set; /* of the kernel: the clock beside a sample is watched with its instructions */
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
    /* Further check runs, of data in which a few elements are others each time: as many as a few
     * milliseconds allow, or, of what is not timed in pairs, some tenths of a second; the first
     * ones always, others from one on that pair_seed draws. With expected_offset NULL, in order:
     * their outputs become the expected ones, and at_outcome.cover_runs says how many came. 0:
     * none. */
    int64_t cover_runs;
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
    /* 0: 10 s. run: packing and the first check run; each further one; the timing. */
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
    int number;         /* runs that the last of them is the mean of */
    bool at_least;      /* the check run was so slow that nothing else was timed */
    int64_t cover_runs; /* see at_job */
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

#endif
