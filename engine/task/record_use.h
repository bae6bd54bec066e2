/* engine/task/record_use.h: which records of a log can be used: those of this version of their
 * template whose configuration fits its knobs. Others may be an older program's, another's, or
 * edited. */
#ifndef AT_ENGINE_RECORD_USE_H
#define AT_ENGINE_RECORD_USE_H

#include "engine/options.h"
#include "records/records.h"
#include "templates/task.h"

typedef enum at_use {
    AT_USABLE,
    AT_OF_CHANGED, /* measured with another version of its template */
    AT_UNFIT,      /* no configuration of the task: a knob is missing, unknown or elsewhere, or
                    * its arguments make no task */
} at_use;

/* Tasks are made once, as long as records of few tasks stand side by side. */
typedef struct at_record_uses at_record_uses;
at_record_uses *at_record_uses_new(bool accept_changed);
void at_record_uses_free(at_record_uses *u);
/* Whether its arguments make a task of the template; why: where not. */
bool at_record_has_task(at_record_uses *u, const at_template_row *row, const at_record *r,
                        at_error *why);
/* row: the record's template. why: where it is unfit. */
at_use at_record_use(at_record_uses *u, const at_template_row *row, const at_record *r,
                     at_error *why);

/* "log:5: no configuration of its task, and not used: ..."; of several the first one's line and
 * reason. Lives in a. */
const char *at_unfit_text(at_arena *a, const char *path, int64_t line, int64_t count,
                          const char *why);

/* Which records of logs can be the best, one log after the other, each from its beginning, and as
 * often as wanted. Lives in a until its end, which tells of those that are no configuration of
 * their task. */
typedef struct at_use_counts at_use_counts;
at_use_counts *at_use_counts_new(at_arena *a, bool accept_changed);
bool at_is_usable(void *counts, const char *log, const at_record *r); /* an at_pick_fn */
void at_use_counts_end(at_use_counts *c, const at_engine_options *o);

/* Of those that tell no more than a target, what it says of the CPU. */
bool at_is_of_this_cpu(const at_record *r);
/* Of which CPU it says it is. */
const char *at_record_cpu(const at_record *r);

/* at_pick_best, of the records that can be used; o says which objective counts, whether records of
 * another version do, and who is told of those that are left out; asked, the rest. AT_PER_COMPAT
 * looks at none of that. */
at_status at_pick_usable(at_arena *a, const at_engine_options *o, const at_pick_request *asked,
                         at_pick **picks, int *num_picks, at_error *err);

#endif
