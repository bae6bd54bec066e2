/* view/report_page.c: a log as one page for people. */
#include <math.h>
#include <string.h>

#include "view/report.h"

/* "conv3x3 64 to 64 @56", where a template here knows the task; the task as records spell it. */
static void add_heading(at_report *r, const at_panel *p, int number) {
    at_text_addf(r->out, "<h2 id=\"t%d\">", number);
    if (p->label) {
        at_html_add(r->out, p->label);
        at_text_add(r->out, " <small>");
    }
    at_html_add(r->out, p->task);
    at_text_add(r->out, p->label ? " " : " <small>");
    at_html_add(r->out, at_json_text(r->arena, p->args));
    at_text_add(r->out, "</small></h2>\n");
}

/* ---- the summary: a line for each task ------------------------------------------------------- */

typedef struct summary_row {
    const at_panel *panel;
    const at_record *best; /* of all contexts; NULL: none is valid */
    const char *layer;     /* rows of one are ways of computing it; NULL: it stands alone */
    int64_t trials;
} summary_row;

static summary_row row_of(at_report *r, const at_panel *p) {
    summary_row row = {.panel = p};
    for (int k = 0; k < p->series.len; k++) row.trials += at_series_trials(p->series.data[k]);
    for (int i = 0; i < r->summary.num_groups; i++) {
        const at_log_group *g = &r->summary.groups[i];
        if (!g->best || !at_same_task(g->task, g->args, p->task, p->args)) continue;
        const at_record *best = &g->best->record;
        if (!row.best || at_record_time(best) < at_record_time(row.best)) row.best = best;
    }
    if (row.best && r->layer_of) row.layer = r->layer_of(r->arena, row.best);
    return row;
}

/* Its time over that of the fastest way of the same layer; 0: there is no other way. */
static double of_the_best(const summary_row *rows, int n, int i) {
    double least_s = INFINITY;
    int ways = 0;
    if (!rows[i].layer) return 0;
    for (int k = 0; k < n; k++) {
        if (!rows[k].layer || strcmp(rows[k].layer, rows[i].layer) != 0) continue;
        ways++;
        least_s = fmin(least_s, at_record_time(rows[k].best));
    }
    return ways > 1 ? at_record_time(rows[i].best) / least_s : 0;
}

static void add_cell_share(at_report *r, double share) {
    if (share > 0) at_text_addf(r->out, "<td>%.0f %%</td>", 100 * share);
    else at_text_add(r->out, "<td></td>");
}

static void add_summary_row(at_report *r, const summary_row *rows, int n, int i) {
    const summary_row *row = &rows[i];
    const at_panel *p = row->panel;
    const double times = of_the_best(rows, n, i);
    at_text_addf(r->out, "<tr><td class=\"name\"><a href=\"#t%d\">", i + 1);
    at_html_add(r->out, p->label ? p->label : p->title);
    at_text_add(r->out, "</a></td><td class=\"by\">");
    if (p->by) at_html_add(r->out, p->by);
    if (row->best) {
        at_text time = {0};
        at_text_add_time(&time, at_record_time(row->best));
        at_text_addf(r->out, "</td><td>%s</td>", at_text_str(&time));
        at_text_free(&time);
    } else at_text_add(r->out, "</td><td class=\"bad\">none</td>");
    if (row->best && at_panel_winner(p) > 0)
        at_text_addf(r->out, "<td>%.1f %s</td>", at_panel_winner(p), p->unit);
    else at_text_add(r->out, "<td></td>");
    add_cell_share(r, row->best ? at_record_of_peak(row->best) : 0);
    if (times > 0) at_text_addf(r->out, "<td>%.2f</td>", times);
    else at_text_add(r->out, "<td></td>");
    at_text_addf(r->out, "<td>%lld</td></tr>\n", (long long)row->trials);
}

/* Ways of one layer are compared: how many times as long each takes as the fastest. */
static void add_contents(at_report *r) {
    const int n = r->curves.panels.len;
    summary_row *rows = AT_NEW_ARRAY(r->arena, summary_row, n);
    for (int i = 0; i < n; i++) rows[i] = row_of(r, r->curves.panels.data[i]);
    at_text_add(r->out, "<div class=\"scroll\"><table><tr><th>task</th><th class=\"by\">by</th>"
                        "<th>time</th><th>speed</th><th>of peak</th><th>of the best way</th>"
                        "<th>trials</th></tr>\n");
    for (int i = 0; i < n; i++) add_summary_row(r, rows, n, i);
    at_text_add(r->out, "</table></div>\n");
}

static void add_page(at_report *r) {
    at_text text = {0};
    at_text_addf(&text, "autotune: %s", r->log);
    at_html_head(r->out, at_text_str(&text));
    at_text_add(r->out, "<h1>");
    at_html_add(r->out, at_text_str(&text));
    at_text_add(r->out, "</h1>\n");
    at_html_addf(r->out, "%lld records of %d task%s; ", (long long)r->summary.stats.records,
                 r->curves.panels.len, at_plural(r->curves.panels.len));
    at_text_clear(&text);
    at_text_add_span(&text, r->summary.first_s, r->summary.last_s);
    at_html_add(r->out, at_text_str(&text));
    if (r->curves.panels.len > 1) add_contents(r);
    for (int i = 0; i < r->curves.panels.len; i++) {
        add_heading(r, r->curves.panels.data[i], i + 1);
        at_report_task(r, r->curves.panels.data[i]);
    }
    at_html_addf(r->out, "\n");
    at_text_add(r->out, "<p class=\"faint\">Written by ");
    at_html_add(r->out, r->program);
    at_text_add(r->out, ".</p>\n");
    at_html_end(r->out);
    at_text_free(&text);
}

at_status at_report_page(at_arena *a, const char *log, const char *only, at_pick_fn *use,
                         void *use_ctx, at_layer_name_fn *layer_of, const char *program,
                         at_text *out, int *num_tasks, at_error *err) {
    at_report r = {.arena = a, .log = log, .program = program, .layer_of = layer_of, .out = out};
    AT_TRY(at_curves_read(a, &log, 1, only, use, use_ctx, &r.curves, err));
    AT_TRY(at_log_summarise(a, log, use, use_ctx, NULL, NULL, &r.summary, err));
    AT_TRY(at_report_read_finals(a, log, &r.finals, err));
    *num_tasks = r.curves.panels.len;
    add_page(&r);
    return AT_OK;
}
