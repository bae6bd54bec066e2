/* cli/curve.h: how searches went, read from logs: for each task the trials of every log, context
 * and tuner in order. What plot and report draw. */
#ifndef AT_CLI_CURVE_H
#define AT_CLI_CURVE_H

#include "knobs/knobs.h"
#include "records/records.h"

typedef struct at_point {
    double seconds; /* since the search began, pauses left out */
    double speed;   /* in the unit of its panel; 0: failed */
    double time_s;  /* mean of its costs; 0: failed */
    int error_no;
} at_point;

typedef struct at_series {
    const char *log, *tuner; /* tuner: "" where the log does not say */
    const char *where;       /* "tcc avx512", or the target of a foreign record */
    const char *identity;    /* context_hash or target */
    AT_VEC(at_point) points; /* [trials] */
    int64_t failed;
    int best; /* point; -1: none */
    bool has_pauses;
} at_series;

/* What the trials with one value of a knob reached. */
typedef struct at_knob_value {
    const char *text; /* "[-1, 4, 14]" */
    int64_t trials, failed;
    AT_VEC(double) speeds; /* of valid trials, ascending */
    double median, best;   /* of these; 0: there are none */
} at_knob_value;
typedef struct at_knob_values {
    const char *name;
    AT_VEC(at_knob_value) values; /* best first */
} at_knob_values;

/* One task, the same arguments. */
typedef struct at_panel {
    const char *task;
    const at_json *args;
    const char *title; /* "conv2d_3x3_gemm [1, 56, 56, 64, 64, "float32"]" */
    const char *unit;  /* of speed: "GFLOP/s", or "runs/s" where the operations are not known */
    double flops;      /* 0: not known */
    AT_VEC(at_series *) series;
    AT_VEC(at_knob_values) knobs; /* of all series together */
} at_panel;

typedef struct at_curves {
    AT_VEC(at_panel *) panels; /* in order of appearance */
} at_curves;

/* Reads all logs; only: of tasks whose title holds this text, NULL: of all. AT_E_INPUT; AT_E_USAGE:
 * no task holds it. */
at_status at_curves_read(at_arena *a, const char *const *logs, int num_logs, const char *only,
                         at_curves *out, at_error *err);
int64_t at_panel_trials(const at_panel *p); /* of the longest series */
double at_panel_seconds(const at_panel *p);
double at_panel_speed(const at_panel *p); /* the best; 0: none */
/* "ga.log: ga, tcc avx512" */
void at_text_add_series(at_text *out, const at_series *s);
/* "124.3 GFLOP/s at trial 312 of 500, after 12.3 s of 19.0 s; 3 failed" */
void at_text_add_outcome(at_text *out, const at_panel *p, const at_series *s);

/* The step of an axis from 0 to `to` with about `count` ticks: 1, 2 or 5 times a power of ten. */
double at_nice_step(double to, int count);
double at_axis_end(double to, double step); /* a little beyond `to`; at least one step */

#endif
