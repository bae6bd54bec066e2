/* view/report_final.c: the finals of a log, turn by turn, from its comment lines. */
#include <stdlib.h>
#include <string.h>

#include "view/report.h"

typedef struct reading {
    at_arena *arena;
    at_report_finals *out;
} reading;

static at_report_finalist *finalist_of(reading *g, const at_final_sample *s) {
    const char *entity = at_json_text(g->arena, s->entity);
    for (int i = 0; i < g->out->of.len; i++) {
        at_report_finalist *f = &g->out->of.data[i];
        if (!strcmp(f->task, s->task) && !strcmp(f->context_hash, s->context_hash) &&
            at_args_equal(f->args, s->args) && !strcmp(f->entity, entity))
            return f;
    }
    at_report_finalist *f = at_push(g->arena, &g->out->of);
    *f = (at_report_finalist){.task = s->task,
                              .context_hash = s->context_hash,
                              .args = s->args,
                              .entity = entity,
                              .index = s->index};
    return f;
}

static void add(void *ctx, const char *comment, int64_t line) {
    reading *g = ctx;
    at_final_sample sample;
    (void)line;
    if (!at_final_sample_read(g->arena, comment, &sample)) return;
    at_report_finalist *f = finalist_of(g, &sample);
    *at_push(g->arena, &f->times_s) = sample.time_s;
    *at_push(g->arena, &f->peaks) = sample.peak_gflops;
}

static double median(const double *values, int n) {
    double *sorted = at_sorted_copy(values, n);
    double m = at_sorted_median(sorted, n);
    free(sorted);
    return m;
}

static void finish(at_report_finalist *f) {
    int n = f->times_s.len;
    if (!n) return;
    f->median_s = median(f->times_s.data, n);
    f->peak = median(f->peaks.data, n);
    f->low_s = f->high_s = f->times_s.data[0];
    for (int i = 1; i < n; i++) {
        if (f->times_s.data[i] < f->low_s) f->low_s = f->times_s.data[i];
        if (f->times_s.data[i] > f->high_s) f->high_s = f->times_s.data[i];
    }
}

static int quickest_first(const void *x, const void *y) {
    const at_report_finalist *a = x, *b = y;
    return (a->median_s > b->median_s) - (a->median_s < b->median_s);
}

at_status at_report_read_finals(at_arena *a, const char *log, at_report_finals *out,
                                at_error *err) {
    at_log_reader *reader;
    reading g = {a, out};
    *out = (at_report_finals){0};
    AT_TRY(at_log_reader_open(log, NULL, NULL, &reader, err));
    at_log_reader_on_comment(reader, add, &g);
    for (at_record r; at_log_reader_next(reader, &r);) {
    }
    at_status s = at_log_reader_status(reader, err);
    at_log_reader_close(reader);
    for (int i = 0; i < out->of.len; i++) finish(&out->of.data[i]);
    if (out->of.len) qsort(out->of.data, (size_t)out->of.len, sizeof *out->of.data, quickest_first);
    return s;
}
