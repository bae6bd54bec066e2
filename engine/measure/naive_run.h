/* engine/measure/naive_run.h: plain C of a computation, which knows nothing of schedules, run once
 * by the worker on data of the session's store. */
#ifndef AT_ENGINE_NAIVE_RUN_H
#define AT_ENGINE_NAIVE_RUN_H

#include "engine/data/dataset_cover.h"
#include "engine/measure/measure.h"

#define AT_NAIVE_ENTRY "reference"

typedef struct at_naive_code {
    const char *source;
    int64_t workspace_bytes;
    double points; /* of a sum that it takes as long as */
    const at_buf
        *sums;       /* what it writes instead of the output, of a projection; NULL: the output */
    at_moved *moved; /* runs of it besides, which say how many came; NULL: none */
} at_naive_code;

/* Prints a text of that kind, as schedule.h has them: it becomes *out, in the session's scratch. */
typedef at_status at_naive_print_fn(at_arena *a, const at_compute *c, const int64_t *values,
                                    const char *entry, at_text *out, int64_t *workspace_bytes,
                                    at_error *err);
at_status at_naive_print(at_session *s, const at_dataset *d, at_naive_print_fn *print,
                         double points, at_naive_code *out, at_error *err);

/* Would gcc compile a text of so many points, if it is there? */
bool at_naive_is_long(double points);

/* The worker has begun, and is not waited for. *r is borrowed until at_naive_end, which must follow
 * where this gives AT_OK. AT_E_USAGE: it exceeds this machine. AT_E_INTERRUPTED AT_E_BUG */
typedef struct at_naive_run {
    at_job job;
    at_moved *moved;
} at_naive_run;
at_status at_naive_begin(at_session *s, const at_dataset *d, const at_naive_code *code,
                         at_naive_run *r, at_error *err);
/* What it writes is in the store. AT_E_NO_VALID where it was not by s->deadline_ns;
 * AT_E_INTERRUPTED AT_E_BUG */
at_status at_naive_end(at_session *s, at_naive_run *r, at_error *err);
/* Both. */
at_status at_naive_run_whole(at_session *s, const at_dataset *d, const at_naive_code *code,
                             at_error *err);

#endif
