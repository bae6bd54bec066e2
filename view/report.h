/* view/report.h: what the verb report knows of a log beyond curves and summary. */
#ifndef AT_VIEW_REPORT_H
#define AT_VIEW_REPORT_H

#include "view/html.h"
#include "view/curve.h"
#include "templates/task.h"

/* One of the best few, in one of the finals it was timed again in. */
typedef struct at_report_finalist {
    at_final_line who;
    double begun_s;        /* of that final */
    const double *times_s; /* [rounds] in measured order */
    int rounds;
    double median_s, low_s, high_s, peak; /* peak: GFLOP/s; 0: not known */
} at_report_finalist;
typedef struct at_report_finals {
    AT_VEC(at_report_finalist) of;
} at_report_finals;
/* All finals of a log, quickest first within what belongs together. AT_E_INPUT */
at_status at_report_read_finals(at_arena *a, const char *log, at_report_finals *out, at_error *err);

typedef struct at_report {
    at_arena *arena;
    const char *log;
    const at_report_about *about;
    at_curves curves;
    at_log_summary summary;
    at_report_finals finals;
    at_text *out;
    bool is_changed; /* the group at hand is of another version of its template */
} at_report;
/* The section of one task, after <h2>: everything about it. */
void at_report_task(at_report *r, const at_panel *p);
/* Of a group with a winner. task NULL: no template here computes it. */
void at_report_winner(at_report *r, const at_panel *p, const at_task *task, const at_log_group *g);
/* "autotune VERB TEMPLATE --args ... --log LOG", then rest, a line. */
void at_report_command(at_report *r, const at_task *task, const char *verb, const char *rest);
/* Before the sections: a row for each task, and ways of one layer beside each other. */
void at_report_summary(at_report *r);

#endif
