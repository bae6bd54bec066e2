/* engine/search/recorded_space.h: a space whose points a log, a file of a recorded space or a file
 * of another tuner holds, searched instead of the machine. */
#ifndef AT_ENGINE_RECORDED_SPACE_H
#define AT_ENGINE_RECORDED_SPACE_H

#include "engine/search/config_features.h"
#include "records/records.h"

typedef struct at_recorded {
    at_task *task;                /* NULL: of no template here; the space is what the file holds */
    const char *name, *args_text; /* of the task, as the file has them */
    const at_json *args;
    at_space *space;
    int64_t points;   /* valid ones of the space */
    int64_t recorded; /* of those, held by the log; the others count as failures */
    double best_s;    /* of the quickest point */
    int64_t winner;   /* index: as at_winner says of a log of a template, else the quickest; -1: a
                         log that cannot be read twice */
    double *time_s;   /* by place (knobs.h); 0: not recorded; -n: failed with AutoTVM's error n */
    double *shares;   /* [points] best_s / time, 0 for failures; descending */
    at_extra extra;   /* version and context */
    double first_s, last_s; /* timestamps */
    /* Of the machine that recorded it, where the file has one; of a log, where it is this one and
     * was measured; else NULL. */
    const at_speed_table *machine;
} at_recorded;

/* The first record says which task and context; records of others are warned about and
 * skipped. AT_E_INPUT: nothing to search in it, or knobs that are not the template's any more. */
at_status at_recorded_read(at_arena *a, const char *path, at_warn_fn *warn, void *ctx,
                           at_recorded *out, at_error *err);
/* As a file of a recorded space (records.h). AT_E_INPUT: it has too many points. */
at_status at_recorded_print(at_arena *a, const at_recorded *r, at_text *out, at_error *err);
/* Expected share of the optimum after this many random trials without repetition, and expected
 * number of trials until a share is reached; computed. */
double at_recorded_expected_share(const at_recorded *r, int64_t trials);
double at_recorded_expected_trials(const at_recorded *r, double share);

/* One tuner's searches. */
enum { AT_NUM_GOALS = 3 };
extern const double at_goals[AT_NUM_GOALS]; /* 0.9, 0.95, 0.99 */
typedef struct at_step {
    int64_t index;    /* -1: the space was exhausted */
    const char *part; /* as at_tuner_part */
} at_step;
typedef struct at_searches {
    const char *tuner;
    int repeats, trials;     /* trials: those asked for, at most the points */
    float *best;             /* [trials][repeats] share of the optimum found so far; ascending */
    double to[AT_NUM_GOALS]; /* median of the trials until a goal; INFINITY: not reached */
    double seconds;          /* of one search */
    at_step *steps;          /* [repeats][trials]; NULL: not asked for */
} at_searches;
/* Seeds are o.seed, o.seed + 1, ... */
at_status at_recorded_search(at_arena *a, const at_recorded *r, const char *tuner,
                             at_tuner_options o, int trials, int repeats, bool steps,
                             at_searches *out, at_error *err);
/* Quantile of the share after so many trials: 0.5 is the median. */
double at_searches_share(const at_searches *s, int64_t trials, double quantile);

#endif
