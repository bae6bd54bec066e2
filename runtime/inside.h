/* runtime/inside.h: the steps of a job inside the worker: load, place, check, run, time. */
#ifndef AT_RUNTIME_INSIDE_H
#define AT_RUNTIME_INSIDE_H

#include "runtime/code.h"
#include "runtime/runtime_int.h"

/* ---- memory of a job (place.c) -------------------------------------------------------------- */

/* Poisons are quiet NaNs: their payload survives additions and products, so the check can tell an
 * output never written from a sum over workspace never written. */
#define AT_POISON_OUT 0x7fd0bad1u
#define AT_POISON_WORK 0x7fd0bad2u
#define AT_LARGE_WORK 0x7e00bad2u /* and its negative */
void at_poison(void *p, int64_t size_bytes, uint32_t pattern);
/* Large numbers of that sign (at_job.unwritten_sign); of both: odd turns have them negated. */
void at_fill_large(void *p, int64_t size_bytes, int sign, int turn);

/* FLUSH_APART: one element behind the start of a page, aligned to elements only whatever the size.
 */
typedef enum at_placing {
    AT_PLACE_PLAIN,
    AT_PLACE_FLUSH_END,
    AT_PLACE_FLUSH_START,
    AT_PLACE_FLUSH_APART
} at_placing;
/* Is any tensor so large that it begins with a whole line where it ends with a page? */
bool at_place_is_aligned(const at_job *job);
/* Fills places[0..num_bufs], the last being the workspace. Inputs lie in the store, mapped
 * read-only; everything else in memory of the worker's own, with guard pages around (PLAIN: around
 * all of it; FLUSH_*: around each, inputs copied). Slack is filled. Or CRASHED with text. */
at_job_end at_place_job(const at_job *job, at_placing how, char *store, int64_t memory_bytes,
                        at_place *places, char *error, size_t error_size);
/* RAN, or CRASHED naming the buffer beside which the kernel wrote. */
at_job_end at_place_check(const at_job *job, const at_place *places, char *error,
                          size_t error_size);
void at_place_release(const at_job *job, at_placing how, const at_place *places);
/* Inputs' elements, but indices, in the opposite order; back: as they were. Not PLAIN. */
void at_place_turn(const at_job *job, const at_place *places, const char *store, bool back);
/* Places that stay while jobs come and go: of the workspace, of what is packed and, where it has
 * its own, of inputs, which are filled. Others are empty. false: no memory. */
bool at_place_anchor(const at_job *job, const char *store, int64_t memory_bytes, at_place *places);

/* ---- checking (check.c) --------------------------------------------------------------------- */

/* Compares one output; expected NULL: only looks for elements never written. Adds to
 * out->max_error; on a difference fills out->end (WRONG) and out->error and returns false. */
bool at_check_output(const at_buf *b, const void *got, const void *expected, const at_job *job,
                     at_outcome *out);

/* ---- running and timing (timer.c), parallel loop (par.c) ------------------------------------ */

/* How long this thread has been waiting for its core while it could have run, and how often it got
 * it; 0 where the system does not tell. */
typedef struct at_queue {
    int64_t waited_ns, times;
} at_queue;

/* What passes: on the wall, and in this thread; and how often other threads got a core that one of
 * this process had. */
typedef struct at_clock {
    int64_t (*now_ns)(void), (*thread_ns)(void);
    at_queue (*queue)(void);
    int64_t (*preempted)(void);
    /* One that goes on by steps, with the timer's interrupts (tick.c), and how far; NULL: none. */
    int64_t (*coarse_ns)(void), (*coarse_step_ns)(void);
} at_clock;
int64_t at_coarse_ns(void);
int64_t at_coarse_step_ns(void);
extern const at_clock at_machine_clock; /* disturb.c */

/* ring.c: copies of packed weights that runs take in turn. */
typedef struct at_ring {
    char *data;
    int64_t size_bytes, turn_bytes, copies, at;
    int num, buf[AT_MAX_BUFS]; /* packed buffers: their numbers, and where they lie in a copy */
    int64_t offset[AT_MAX_BUFS], bytes[AT_MAX_BUFS];
} at_ring;

typedef struct at_run {
    const at_clock *clock; /* at_machine_clock, but in tests */
    at_kernel_fn *entry;
    void **buf;
    void *workspace;
    at_par par;
    uint32_t registers;  /* what vector registers hold before a run; 0: what they happen to */
    int vector_set;      /* see at_job */
    int64_t flush_bytes; /* see at_job */
    const at_job *fresh; /* whose outputs are filled before each run; NULL: of none */
    const char *store;
    at_ring *ring;    /* NULL: packed weights stay where they are */
    int64_t total_ns; /* spent inside the kernel, and in pairs with it, so far */
    int64_t late_ns;  /* by its clock: nothing is repeated that would end later; 0: whatever is */
} at_run;

/* One kernel in one place: nothing but chance can tell the two apart. */
static inline bool at_run_is_same(const at_run *x, const at_run *y) {
    return x->entry == y->entry && x->workspace == y->workspace;
}

typedef struct at_run_time {
    int64_t ns;
    bool disturbed; /* the core was taken away meanwhile, or its clock changed */
} at_run_time;

/* Once, with the next copy of packed weights; what the kernel returns. */
int at_run_next(at_run *r);
/* Copies of what the job has packed, if it asks for them, for all runs from now on. False: there is
 * no memory. A ring that was made before keeps its memory, and its copies where they are the same.
 */
bool at_ring_make(at_ring *g, const at_job *job, at_run *r);

/* Outputs that are also read hold again what was in them before, and caches are flushed if asked
 * for: before each run, but where nothing of either is asked. */
void at_run_freshen(at_run *r);
/* at_run_freshen; then that many calls. Returns 0 or the first other value that the
 * kernel returned. */
int at_run_timed(at_run *r, int number, at_run_time *t);
/* One run, of which only what changes it by much is asked: was the thread away? Where it took
 * longer than behind_ns (0: nobody asks), did the hypervisor take the core, too? */
int at_run_once(at_run *r, double behind_ns, at_run_time *t);
#define AT_BEHIND 3         /* times the best: not worth a second look */
#define AT_LONG_NS 20000000 /* a run so long is hardly ever left alone, and hardly deviates */
/* Would what takes so long end so late that the job's time limit is near? */
bool at_run_is_late(const at_run *r, int64_t ns);
/* stop.c: how long a run of the job may take; 0: as long as it wants. */
int64_t at_run_limit(const at_job *job, double best_ns);
/* The same, which is stopped once it has taken so much of its core's time (0: never), and run once
 * more where it was disturbed then. */
int at_run_limited(at_run *r, int64_t limit_ns, double behind_ns, at_run_time *t, bool *stopped);
/* Whether a few of the kernel's turns show that all of them take longer than the limit. *ns: how
 * long, by them; 0: nothing was run. */
bool at_part_is_behind(at_run *r, int64_t turns, int64_t limit_ns, int64_t *ns, int *failed);
/* Appends samples to *out by the job's rule (see at_job). Returns what the kernel returned. */
int at_time_job(at_run *r, const at_job *job, at_run_time check_run, at_outcome *out);
/* Clearly slower than best_ns? In doubt (the check run was cold, or shared the core) it runs again,
 * at most twice. *ns: its fastest run so far. *failed: what the kernel returned. */
bool at_is_behind(at_run *r, int64_t best_ns, at_run_time check_run, int64_t *ns, int *failed);

typedef struct at_inside { /* the worker process */
    int fd, store_fd, cpu;
    char *store; /* the store, mapped read-only */
    int64_t store_bytes, memory_bytes;
} at_inside;

/* ---- the timer's interrupt (tick.c) ---------------------------------------------------------- */

typedef struct at_tick { /* what is known of it; all 0: nothing */
    int64_t step_ns;
    int64_t least_age_ns; /* by which the coarse clock is late right behind a step */
} at_tick;
/* Waits so long, and keeps the core. */
void at_stay(const at_clock *c, int64_t ns);
/* Waits where the next one would fall into a block of so many nanoseconds that begins now, if at
 * least so many of such blocks fit between two of them. */
void at_tick_avoid(const at_clock *c, at_tick *t, double ns, int fits);

/* ---- the anchor (anchor.c), and pairs with it (pairs.c) -------------------------------------- */

enum { AT_ANCHOR_MEMORY = 31 };
typedef struct at_anchor {
    const at_job *job;
    at_code code;
    at_place places[AT_MAX_BUFS + 1];
    void *buf[AT_MAX_BUFS];
    at_ring ring;
    at_run run;
    at_run beside;                    /* the same for the job in hand */
    double run_ns;                    /* of late */
    double late_ns[AT_ANCHOR_MEMORY]; /* its last runs, round and round */
    int num_late, next_late;
    at_tick tick;
} at_anchor;
/* Loads, places, checks the job of a message, whose data it takes, and keeps it. */
void at_anchor_execute(at_inside *in, at_msg *m, at_outcome *out);
/* NULL: there is none. `beside` runs in memory of its own, but for inputs and outputs that are
 * those of this job in these places. Where the job's kernel is the anchor's, `beside` is r, the
 * job's: one code loaded once, in the same memory, so that only chance can tell the two apart. */
at_anchor *at_anchor_beside(const at_job *job, const at_place *places, const at_run *r);
double at_anchor_run_ns(void); /* of late; 0: there is none */
static inline double at_best_ratio(const at_job *job) {
    return job->best_ratio > 0 ? job->best_ratio : 1;
}
/* *ns is what a run took alone, with the clock's reading, a microsecond on some machines: lowered
 * to what a run of many takes, where it is short. */
int at_run_glance(at_run *r, at_tick *tick, int64_t *ns);
/* Appends pairs and samples to *out. Returns what one of the two kernels returned. */
int at_time_pairs(at_run *r, at_anchor *anchor, const at_job *job, at_run_time check_run,
                  at_outcome *out);

/* ---- what disturbs a sample, and what the caches hold (disturb.c) ---------------------------- */

typedef struct at_watch {
    int vector_set;
    int threads;
    long stolen, preempted;
    int64_t clock_ns, thread_ns;
} at_watch;
void at_watch_init(int cpu); /* in the worker, pinned to cpu */
/* Around a sample; they take some 20 to 40 microseconds together. vector_set: as in at_job. */
void at_watch_begin(at_watch *w, int vector_set, int threads);
bool at_watch_end(const at_watch *w, int64_t ns); /* ns: the sample's; true: disturbed */

/* Has the hypervisor given the core to others since this was asked before? */
bool at_was_stolen(void);

/* The cheap part of it, half a microsecond: was the thread away for more than 1 %, or one of
 * several threads at all? The thread's own clock only tells that it was: what a hypervisor takes is
 * missing from it, and now and then at another moment than it was taken, so that a run can seem to
 * have taken half of what it did. `closely` asks in addition how long the thread waited for its
 * core, which the system knows to some microseconds for each time: what the run took lies between
 * least_ns and most_ns. Where that is all that is missing, and exact to a percent, it is taken off
 * ns, and nothing was disturbed. */
typedef struct at_absence {
    const at_clock *clock;
    int threads;
    bool closely;
    int64_t begin_ns, thread_ns, preempted;
    at_queue queue;
} at_absence;
typedef struct at_passed {
    int64_t ns; /* on the wall; 0 or less: its clock went back, which is disturbed */
    int64_t least_ns, most_ns;
    bool disturbed;
} at_passed;
at_absence at_absence_begin(const at_clock *clock, int threads, bool closely);
at_passed at_absence_end(const at_absence *a);

/* Memory for flushing, kept; false: there is not that much. */
bool at_flush_prepare(int64_t size_bytes);
void at_flush(int64_t size_bytes); /* reads it */

void at_par_init(int cpu); /* before the worker pins itself to cpu */
void at_par_setup(at_par *par, int threads);

/* ---- the rest of the worker's inside -------------------------------------------------------- */

/* Runs one job to its outcome (job.c); announces AT_MSG_COMPILED on the way. */
void at_job_execute(at_inside *in, const at_job *job, at_outcome *out);
/* Its steps (job_steps.c). */
at_job_end at_job_load(const at_job *job, at_arena_no number, at_code *code, at_outcome *out);
/* Outputs get the poison; those that are also read, and stay as a run leaves them, what is in them
 * before. */
void at_job_poison_outputs(const at_inside *in, const at_job *job, const at_place *places);
void at_job_fill_large(const at_job *job, const at_place *p);
uint32_t at_large_word(int sign, int turn);
at_job_end at_job_check_outputs(const at_inside *in, const at_job *job, const at_place *places,
                                at_outcome *out);
/* Packs, and runs the kernel once over poisoned memory, checked; or not to its end, where it is
 * behind best_ns (0: never; at_outcome.is_cut). Leaves r and buf ready for more. */
at_job_end at_job_first_run(const at_inside *in, const at_job *job, const at_code *code,
                            const at_place *places, void **buf, double best_ns, at_run *r,
                            at_run_time *t, at_outcome *out);
/* bandwidth.c; of threads that each have a share of the bytes, 10 ms; 0: no memory for it */
double at_bandwidth_gbytes(int64_t read_bytes, int64_t written_bytes, int threads);

#endif
