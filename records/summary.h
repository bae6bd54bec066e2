/* records/summary.h: what a log tells somebody who looks at it: how sure a time is, a search in
 * figures, and the log in parts. */
#ifndef AT_RECORDS_SUMMARY_H
#define AT_RECORDS_SUMMARY_H

#include "records/best.h"

/* The middle half of the samples, all of them if they are fewer than four: those of finals, else
 * the raw ones, else the costs. Two results differ where these do not overlap. */
typedef struct at_spread {
    double median_s, low_s, high_s;
    int samples;
} at_spread;
at_spread at_record_spread(const at_record *r);
/* How long it takes beside the first anchor of its log: of its last final, or of its trial's pairs.
 */
typedef struct at_ratios {
    const char *first;      /* code hash of that anchor */
    at_objective objective; /* of which state these pairs are */
    int samples;
    double ratio, low, high;
    bool is_interval; /* low to high holds the truth with 95 %; else they are as far apart as pairs
                         are */
} at_ratios;
bool at_record_ratios(const at_record *r, at_ratios *out); /* false: it was timed alone */
/* Of pairs in that state, or of all where none is, beside the first anchor: an interval that misses
 * the median with at most that level, however often one looks, wider by what is not known of the
 * anchor's links. */
at_interval at_ratio_interval(const at_paired *p, at_objective o, double level);
bool at_ratios_comparable(const at_ratios *x, const at_ratios *y); /* one anchor, one state */

enum { AT_NUM_FAILURES = AT_ERR_UNKNOWN + 2 };
typedef struct at_log_failures {
    int64_t count, line; /* line: of the text */
    const char *text;    /* the first that says something; "" */
} at_log_failures;
/* A trial that was better than all before it. */
typedef struct at_log_step {
    int64_t trial; /* from 1; 0: the default configuration, which trials are timed against */
    int64_t line;  /* from 1 */
    double mean_s;
} at_log_step;
/* The records of one task and context; foreign ones: of one task and target. */
typedef struct at_log_group {
    const char *task, *target;
    const at_json *args;
    bool ours;
    at_context context; /* of ours */
    char context_hash[33];
    int64_t trials, valid;
    int64_t anchors;  /* records that are no trials: of the default configuration beside them */
    int64_t copies;   /* not measured: same code as another */
    int64_t at_least; /* valid, and so slow that they have no time */
    at_log_failures failures[AT_NUM_FAILURES]; /* by error number; [0]: valid but not checked; the
                                                  last: any other number */
    double first_s, last_s;                    /* timestamps */
    double spent_s;                            /* sum of all_cost_s */
    AT_VEC(at_log_step) steps;
    at_pick *best; /* NULL: none */
} at_log_group;
/* Was it measured with another version of its template than that of this hash? */
bool at_log_group_is_changed(const at_log_group *g, const char *template_hash);
typedef struct at_log_summary {
    at_log_group *groups; /* in order of appearance */
    int num_groups;
    at_log_stats stats;
    double first_s, last_s;
} at_log_summary;
/* use: which records can be the best, as for at_pick_best; NULL: all. */
at_status at_log_summarise(at_arena *a, const char *path, at_pick_fn *use, void *use_ctx,
                           at_warn_fn *warn, void *ctx, at_log_summary *out, at_error *err);

/* One log per target, task and arguments, as AutoTVM's split: path.000.wkl, path.001.wkl, ...
 * Comments of no task are dropped. Without force no other file is replaced, nor a log by a smaller
 * one. AT_E_USAGE, AT_E_OUTPUT */
typedef struct at_log_part {
    const char *path, *workload; /* workload: its key */
    const char *task, *target;
    const at_json *args;
    int64_t records;
} at_log_part;
at_status at_log_split(at_arena *a, const char *path, bool force, at_warn_fn *warn, void *ctx,
                       at_log_part **parts, int *num_parts, at_error *err);

#endif
