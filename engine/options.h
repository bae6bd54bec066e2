/* engine/options.h: what a caller asks of the engine. All zero are the defaults; texts are borrowed
 * as long as what was made with them lives. */
#ifndef AT_ENGINE_OPTIONS_H
#define AT_ENGINE_OPTIONS_H

#include "base/base.h"
#include "codegen/codegen.h"
#include "records/records.h"
#include "runtime/runtime.h"
#include "tuners/tuners.h"

/* What the cost model learns from. */
typedef enum at_feature_set {
    AT_FEATURES_ITERVAR,
    AT_FEATURES_KNOB,
    AT_FEATURES_CURVE,
    AT_FEATURES_BOUND
} at_feature_set;

/* at_engine_options.set: members that count whatever a record says. */
enum { AT_SET_COMPILER = 1, AT_SET_PACKING = 2, AT_SET_THREADS = 4 };

/* For configurations of which only what all have in common is asked. */
enum { AT_ANY_LANES = 4 };

typedef struct at_engine_options {
    /* How kernels are made. Those of a record are made as it says, but for what is in `set`. */
    unsigned set;
    const char *isa; /* name of a target; NULL: the record's, else this CPU's best */
    at_compiler compiler;
    const char
        *program; /* that compiles kernels which somebody wrote; NULL: what their heads say */
    at_packing packing;
    int64_t threads;     /* 0: 1 */
    const int64_t *row;  /* of kernels that are not measured: as in at_lower_options */
    bool for_dialect;    /* they are written to a file in this dialect, and not run */
    at_dialect dialect;  /* else it is the compiler's */
    bool final_delivers; /* finals time what is delivered in final_dialect, through gcc */
    at_dialect final_dialect;
    /* How they are measured: as in at_job. */
    uint64_t seed; /* of the data and of the search */
    at_cache cache;
    /* Cold weights: how many bytes of them one pass of the network reads that the kernel is a part
     * of; 0: unknown. */
    int64_t weights_bytes;
    int64_t number, repeat; /* 0: chosen by the timer */
    double min_repeat_ms;
    double timeout_s;  /* of compiling, and of running; 0: 10 */
    double cooldown_s; /* between two that were measured */
    bool paranoid;
    at_sandbox sandbox; /* of what runs them */
    /* Which state of the machine counts; NONE: the log's, or what the probes say when it begins.
     */
    at_objective objective;
    double max_error;   /* see accuracy.h; 0: 1e-5 of algorithms with tables of numbers */
    const char *worker; /* path of the program that runs kernels; NULL: this same executable */
    /* The search. */
    const char *tuner;              /* "ga", "ga:population=32"; NULL: the default one */
    at_tuner_options tuner_options; /* without seed, features and history */
    at_feature_set features;
    const char *const *transfer; /* logs of other tasks of the template, for features */
    int num_transfer;
    int64_t trials;           /* 0: 500 */
    double time_s;            /* of the whole run, final included; 0: no limit */
    int64_t early_stopping;   /* trials without a better one; 0: never */
    double prune;             /* not measured: what must take so many times the best; 0: all are */
    int64_t jobs;             /* 2: the next candidate is made while one is measured */
    bool accept_changed;      /* records of another version of their template are used, too */
    const struct at_far *far; /* who measures elsewhere (far.h); NULL: it is measured here */
    bool baseline;            /* plain loops are timed beside the winner */
    bool same_context;        /* of workers elsewhere, those of another context are an error */
    /* Whom the engine tells what; each may be NULL. */
    at_warn_fn *warn;
    at_warn_fn *note;         /* what is being done, where it takes a while */
    void *ctx;                /* of both */
    const volatile int *stop; /* not 0: the engine comes to an end; NULL: never */
} at_engine_options;

/* AT_E_USAGE names the first one that is not within its range. */
at_status at_engine_check(const at_engine_options *o, at_error *err);
/* The one that is named, or this CPU's best. */
const at_target *at_engine_target(const at_engine_options *o);
/* The same, where none is named, with what a computation's types of elements have use for. */
const at_target *at_engine_target_for(const at_engine_options *o, const at_compute *c);
/* Errors above it are a failure (data/accuracy.h): what the options say, or 1e-5, which holds for
 * algorithms with tables of numbers alone. */
double at_accuracy_limit(const at_engine_options *o);
void at_engine_warn(const at_engine_options *o, const char *text);
void at_engine_note(const at_engine_options *o, const char *text);
bool at_engine_stopped(const at_engine_options *o);

#endif
