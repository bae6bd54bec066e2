/* view/report_final.c: the finals of a log, round by round, from its comment lines. */
#include <stdlib.h>

#include "view/report.h"

static double median(const double *values, int n) {
    double *sorted = at_sorted_copy(values, n);
    double m = at_sorted_median(sorted, n);
    free(sorted);
    return m;
}

/* What failed when it was timed again has no time. */
static void add(at_arena *a, at_report_finals *out, const at_final_line *who, const at_turns *t) {
    int n = t->num_rounds;
    if (!n || t->error_no) return;
    double *times = AT_NEW_ARRAY(a, double, n), *peaks = AT_NEW_ARRAY(a, double, n);
    at_report_finalist f = {
        .who = *who, .begun_s = t->begun_s, .times_s = times, .rounds = n, .median_s = t->time_s};
    f.low_s = f.high_s = t->rounds[0].time_s;
    for (int i = 0; i < n; i++) {
        times[i] = t->rounds[i].time_s;
        peaks[i] = t->rounds[i].peak_gflops;
        if (times[i] < f.low_s) f.low_s = times[i];
        if (times[i] > f.high_s) f.high_s = times[i];
    }
    f.peak = median(peaks, n);
    *at_push(a, &out->of) = f;
}

static int quickest_first(const void *x, const void *y) {
    const at_report_finalist *a = x, *b = y;
    return (a->median_s > b->median_s) - (a->median_s < b->median_s);
}

at_status at_report_read_finals(at_arena *a, const char *log, at_report_finals *out,
                                at_error *err) {
    at_log_reader *reader;
    at_finals finals;
    at_final_line who;
    int n;
    *out = (at_report_finals){0};
    at_finals_init(&finals, a);
    AT_TRY(at_log_reader_open(log, NULL, NULL, &reader, err));
    at_log_reader_on_comment(reader, at_finals_add, &finals);
    for (at_record r; at_log_reader_next(reader, &r);) {
    }
    at_status s = at_log_reader_status(reader, err);
    at_log_reader_close(reader);
    for (int i = 0; i < finals.of.len; i++) {
        const at_turns *turns = at_finals_get(&finals, i, &who, &n);
        for (int k = 0; k < n; k++) add(a, out, &who, &turns[k]);
    }
    if (out->of.len) qsort(out->of.data, (size_t)out->of.len, sizeof *out->of.data, quickest_first);
    return s;
}
