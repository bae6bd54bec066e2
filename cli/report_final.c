/* cli/report_final.c: the finals of a log, sample by sample, from its comment lines. */
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"

typedef struct reading {
    at_arena *arena;
    at_report_finals *out;
} reading;

static at_report_finalist *finalist_of(reading *g, const char *task, const at_json *args,
                                       const char *hash, const at_json *entity, int64_t index) {
    at_text text = {0};
    at_json_print(&text, entity);
    at_report_finalist *found = NULL;
    for (int i = 0; i < g->out->of.len && !found; i++) {
        at_report_finalist *f = &g->out->of.data[i];
        if (!strcmp(f->task, task) && !strcmp(f->context_hash, hash) &&
            at_args_equal(f->args, args) && !strcmp(f->entity, at_text_str(&text)))
            found = f;
    }
    if (!found) {
        found = at_push(g->arena, &g->out->of);
        *found = (at_report_finalist){.task = task,
                                      .context_hash = hash,
                                      .args = args,
                                      .entity = at_strdup(g->arena, at_text_str(&text)),
                                      .index = index};
    }
    at_text_free(&text);
    return found;
}

static void add(void *ctx, const char *comment, int64_t line) {
    static const char head[] = "final ";
    reading *g = ctx;
    const at_json *v;
    (void)line;
    if (strncmp(comment, head, sizeof head - 1) != 0) return;
    comment += sizeof head - 1;
    if (at_json_parse(g->arena, comment, strlen(comment), &v, NULL) != AT_OK) return;
    const at_json *task = at_json_get(v, "task"), *args = at_json_get(v, "args");
    const at_json *hash = at_json_get(v, "context_hash"), *entity = at_json_get(v, "entity");
    const at_json *samples = at_json_get(v, "samples_s"), *index = at_json_get(v, "index");
    const at_json *peak = at_json_get(v, "peak_gflops");
    if (!task || !task->string || !args || !hash || !hash->string || !entity || !samples) return;
    at_report_finalist *f = finalist_of(g, task->string, args, hash->string, entity,
                                        index && index->is_int ? index->integer : -1);
    for (const at_json *s = samples->child; s; s = s->next) {
        if (!(s->number > 0)) continue;
        *at_push(g->arena, &f->times_s) = s->number;
        *at_push(g->arena, &f->peaks) = peak ? peak->number : 0;
    }
}

static double median(const double *values, int n) {
    double *sorted = malloc((size_t)n * sizeof *sorted);
    AT_ASSERT(sorted);
    memcpy(sorted, values, (size_t)n * sizeof *sorted);
    at_sort_doubles(sorted, n);
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
