/* engine/measure/record_verify.h: does what a log says still hold? One record at a time, against
 * this machine. */
#ifndef AT_ENGINE_RECORD_VERIFY_H
#define AT_ENGINE_RECORD_VERIFY_H

#include "engine/task/task_config.h"

typedef enum at_verdict {
    AT_REPRODUCED, /* right, and no slower than recorded */
    AT_UNCLEAR,    /* right, but what it takes now cannot be told: other work disturbed it */
    AT_STALE,      /* right, but slower beyond its interval and a margin */
    AT_WRONG,      /* another output than the reference, or it does not even run */
    AT_OTHER_CPU,  /* right, but recorded on another CPU: times say nothing */
    AT_NOT_RUN,    /* what it needs is not there: template, compiler, ... */
    AT_VERDICT_COUNT
} at_verdict;
const char *at_verdict_name(at_verdict v);

typedef struct at_verified {
    at_verdict verdict;
    const char *note;                       /* why, or what else is to be said; "" */
    double recorded_s;                      /* median */
    double recorded_low_s, recorded_high_s; /* its interval */
    bool in_bytes;                          /* gflops is GB/s, of_peak of the bandwidth */
    bool of_dots;                           /* of_peak is of that of dot products */
    double time_s, gflops, of_peak;         /* as measured now, by the clock; 0: not known */
    bool in_pairs; /* compared by ratios to the first anchor of its log, which is still the same */
    double ratio;  /* time now over time recorded, or ratio over ratio; 0 where nothing was */
} at_verified;

/* now, limit: what was measured and the slowest that is none slower, on one scale; clock: its time
 * over that limit. AT_REPRODUCED, AT_STALE or AT_UNCLEAR: the interval lies about the limit, or the
 * clock contradicts pairs. */
at_verdict at_verdict_of(const at_interval *now, double limit, double clock);

/* Holds the session of one task and context as long as records of it follow each other. */
typedef struct at_verifier at_verifier;
/* margin: how much slower a record may be, as a share. log: what is measured is appended to it;
 * NULL: nowhere. path: the log's. */
at_verifier *at_verifier_new(at_arena *a, const at_engine_options *o, double margin, at_log *log,
                             const char *path);
/* r, of the log `path`, must live as long as the verifier. note lives in the arena.
 * AT_E_INTERRUPTED AT_E_BUG */
at_status at_verify(at_verifier *v, const at_record *r, at_verified *out, at_error *err);
void at_verifier_free(at_verifier *v);

#endif
