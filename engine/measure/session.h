/* engine/measure/session.h: what a command that handles configurations of one task holds: the task,
 * how kernels are made and compared (the context), the data, and the worker. */
#ifndef AT_ENGINE_SESSION_H
#define AT_ENGINE_SESSION_H

#include "cost/cost.h"
#include "engine/data/dataset.h"
#include "engine/options.h"
#include "engine/task/task_config.h"
#include "export/export.h"

/* Where the time went, in nanoseconds. */
typedef struct at_spent {
    int64_t start_ns; /* on the clock of at_now_ns */
    int64_t search_ns, lower_ns, compile_ns, check_ns, run_ns, final_ns;
    int64_t reference_ns;      /* with what is worked out meanwhile */
    int64_t ahead_ns;          /* of lower and compile: while another was measured */
    int64_t kernel_ns;         /* of check and run: inside the kernels themselves */
    int64_t core_ns;           /* that the worker had its core for */
    int64_t lowered, measured; /* candidates that came so far */
    /* Of the trials alone, without the final: all their time, that inside kernels, and pauses. */
    int64_t trials_ns, trials_kernel_ns, cooldown_ns;
} at_spent;

/* What is computed: the task, its space, and what a run of it amounts to. */
typedef struct at_session_what {
    at_selection chosen;
    const at_template_row *row;
    at_task *task;
    at_space *space;
    double flops;
    double read_bytes, written_bytes; /* inputs and outputs of a run */
    bool in_bytes;                    /* there are no multiply-adds: bytes count */
    int dot_terms; /* that the peak's dot products are of; 0: it is that of multiply-adds */
    double work;   /* of a run: flops, or bytes; speeds and peaks are 10^9 of it per second */
} at_session_what;

/* How kernels are made, compared and recorded: the context. */
typedef struct at_session_how {
    at_compiler compiler;
    const at_target *target; /* of the code */
    at_dialect dialect;
    at_packing packing;
    int threads;               /* of a kernel */
    const at_machine *machine; /* bounds are worked out for it (why.h); NULL: not */
    at_context context;
    char context_hash[33];
    const char *record_target; /* as AutoTVM spells it */
    const char *compiler_version;
    const char *cpu_flags;
    const char *sandbox; /* as in at_extra */
    const char *tuner;   /* of the records; "": they are of no search */
} at_session_how;

/* What it measures with: data, worker, anchors, states; only files of measure/ look inside
 * (bench.h). */
typedef struct at_bench at_bench;

typedef struct at_foreign_session at_foreign_session;
typedef struct at_session {
    at_arena *arena;     /* lives as long as the session */
    at_arena *scratch;   /* one candidate's; reset by whoever begins the next */
    at_tile_memo *tiles; /* of the kernels that trials generate */
    at_engine_options options;
    at_session_what what;
    at_session_how how;
    at_bench *bench;
    at_foreign_session *foreign; /* of a kernel that somebody wrote (foreign_build.h) */
    at_spent spent;
    /* On the clock of at_now_ns: when the time limit of the command ends; 0: there is none. What is
     * made before the trials does not go on beyond it. */
    int64_t deadline_ns;
} at_session;

/* Opens a session of the task that q asks for, and, unless task_only, of its configuration. Ended
 * by at_session_close, on failure too. AT_E_USAGE AT_E_INPUT AT_E_NO_VALID */
at_status at_session_open(const at_engine_options *o, const at_request *q, bool task_only,
                          at_session *s, at_error *err);
/* The same with what was chosen before, borrowed. */
void at_session_open_chosen(const at_engine_options *o, const at_selection *chosen, at_session *s);
/* Sets work, from flops where there are any (session_work.c). */
void at_session_count_work(at_session *s);
/* The same of the data that are there: products that entries of index tensors make 0 do not count.
 */
void at_session_count_by_data(at_session *s);
/* How kernels are made. AT_E_USAGE where the options do not fit each other or this machine;
 * measuring: the kernels will run here. */
at_status at_session_context(at_session *s, bool measuring, at_error *err);
/* From now on candidates are made as --final-dialect says, and compiled by gcc; records and lines
 * stay of the context that trials have. false: as trials are. */
void at_session_deliver(at_session *s, bool delivered);
/* Room for the tensors; they are refused before that where they exceed this machine. */
at_status at_session_reserve(at_session *s, at_error *err);
/* Room for the data of another run, as at_dataset_new and at_dataset_expect say. real: sums of it
 * are not exact. */
at_status at_session_dataset(at_session *s, at_store *shared, bool real, at_dataset *out,
                             at_error *err);
/* Of what it measures with: bytes of the data that are there; its worker gives up its core, and
 * goes on. */
int64_t at_session_data_bytes(const at_session *s);
void at_session_rest(at_session *s);
at_status at_session_wake(at_session *s, at_error *err);
/* What was seen of the machine and of the data so far. */
typedef struct at_seen {
    double peak_gflops; /* FMA peak of the core, as last measured */
    double peak;        /* that speeds are shares of: this one, of dot products, or the bandwidth */
    int64_t disturbed;  /* samples thrown away, or kept where there were no others */
    bool is_exact;      /* outputs are compared bit for bit */
    bool is_projected;  /* the expected outputs are a candidate's: see reference.h */
    at_objective objective;
    double waited_s;    /* for the state that counts; in the other one's time */
    int core, cores;    /* measured on, and of how many it was chosen; 0: it was not */
    int64_t ring_bytes; /* of copies of packed weights that runs take in turn; 0: of none */
} at_seen;
at_seen at_session_seen(const at_session *s);
/* The peak of a session that measures elsewhere. */
void at_session_take_peak(at_session *s, double peak_gflops);
/* Worker, input data, reference, FMA peak. AT_E_NO_VALID where the reference is not there by
 * deadline_ns; AT_E_INTERRUPTED */
at_status at_session_start(at_session *s, at_error *err);
/* The same in two halves. In between the worker makes the reference, and scratch stays as it is;
 * the second must follow where the first gives AT_OK. */
at_status at_session_begin(at_session *s, at_error *err);
at_status at_session_finish(at_session *s, at_error *err);
/* Gives up what measuring takes, until at_session_reserve and at_session_start: worker and data.
 */
void at_session_stop(at_session *s);
at_status at_session_measure_peak(at_session *s, at_error *err);
/* The same where the last time was more than age_s ago. */
at_status at_session_renew_peak(at_session *s, double age_s, at_error *err);
/* The pattern of the sparse weight, for files with a main; NULL: the task has none. */
const at_file_pattern *at_session_file_pattern(const at_session *s);
void at_session_close(at_session *s);

#endif
