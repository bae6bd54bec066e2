/* view/report_summary.c: a line for each task of a report, and the ways of each layer beside each
 * other. */
#include <math.h>
#include <string.h>

#include "view/report.h"

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
    if (row.best && r->about->layer_of) row.layer = r->about->layer_of(r->arena, row.best);
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

/* Columns that some row has something in. */
typedef struct summary_columns {
    bool by, ways;
} summary_columns;

static void add_summary_row(at_report *r, const summary_columns *shown, const summary_row *rows,
                            int n, int i) {
    const summary_row *row = &rows[i];
    const at_panel *p = row->panel;
    at_text_addf(r->out, "<tr><td class=\"name\"><a href=\"#t%d\">", i + 1);
    at_html_add(r->out, p->label ? p->label : p->name);
    at_text_add(r->out, "</a></td>");
    if (shown->by) {
        at_text_add(r->out, "<td class=\"by\">");
        if (p->by) at_html_add(r->out, p->by);
        at_text_add(r->out, "</td>");
    }
    if (row->best) {
        at_text time = {0};
        at_text_add_time(&time, at_record_time(row->best));
        at_text_addf(r->out, "<td>%s</td>", at_text_str(&time));
        at_text_free(&time);
    } else at_text_add(r->out, "<td class=\"bad\">none</td>");
    if (row->best && at_panel_winner(p) > 0)
        at_text_addf(r->out, "<td>%.1f %s</td>", at_panel_winner(p), p->unit);
    else at_text_add(r->out, "<td></td>");
    add_cell_share(r, row->best ? at_record_of_peak(row->best) : 0);
    const double times = of_the_best(rows, n, i);
    if (times > 0) at_text_addf(r->out, "<td>%.2f</td>", times);
    else if (shown->ways) at_text_add(r->out, "<td></td>");
    at_text_addf(r->out, "<td>%lld</td></tr>\n", (long long)row->trials);
}

/* ---- ways of a layer ------------------------------------------------------------------------- */

/* "conv2d_winograd_nhwc, m 2": what the way's label has beyond that of the layer. */
static const char *way_name(at_report *r, const at_panel *p, const char *layer) {
    const char *by = p->by ? p->by : p->task;
    const size_t n = strlen(layer);
    if (!p->label || strncmp(p->label, layer, n) != 0 || !p->label[n]) return by;
    return at_format(r->arena, "%s%s", by, p->label + n);
}

static void add_way(at_report *r, const summary_row *rows, int n, int i, const char *layer) {
    const double times = of_the_best(rows, n, i);
    at_text time = {0};
    at_text_add_time(&time, at_record_time(rows[i].best));
    at_text_addf(r->out, "<tr><td class=\"name\"><a href=\"#t%d\">", i + 1);
    at_html_add(r->out, way_name(r, rows[i].panel, layer));
    at_text_addf(r->out,
                 "</a></td><td>%s</td><td>%.2f</td><td class=\"bar\"><i style=\"width:%.1f%%\">"
                 "<i></i></i></td></tr>\n",
                 at_text_str(&time), times, 100 / times);
    at_text_free(&time);
}

/* Those of row `first`'s layer, the fastest first, under the shortest of their labels. */
static void add_layer(at_report *r, const summary_row *rows, int n, int first) {
    int *order = AT_NEW_ARRAY(r->arena, int, n), ways = 0;
    const char *layer = NULL;
    for (int i = 0; i < n; i++) {
        if (!rows[i].layer || strcmp(rows[i].layer, rows[first].layer) != 0) continue;
        const at_panel *p = rows[i].panel;
        const char *name = p->label ? p->label : p->title;
        if (!layer || strlen(name) < strlen(layer)) layer = name;
        int at = ways++;
        for (; at && at_record_time(rows[i].best) < at_record_time(rows[order[at - 1]].best); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    at_text_add(r->out, "<h3>The ways of ");
    at_html_add(r->out, layer);
    at_text_add(r->out, "</h3>\n<div class=\"scroll\"><table class=\"knob\"><tr><th>way</th>"
                        "<th>time</th><th>of the best</th><th></th></tr>\n");
    for (int i = 0; i < ways; i++) add_way(r, rows, n, order[i], layer);
    at_text_add(r->out, "</table></div>\n");
}

static void add_layers(at_report *r, const summary_row *rows, int n) {
    for (int i = 0; i < n; i++) {
        bool begun = false; /* by a row before */
        for (int k = 0; k < i && rows[i].layer; k++)
            begun |= rows[k].layer && !strcmp(rows[k].layer, rows[i].layer);
        if (!begun && of_the_best(rows, n, i) > 0) add_layer(r, rows, n, i);
    }
}

void at_report_summary(at_report *r) {
    const int n = r->curves.panels.len;
    summary_row *rows = AT_NEW_ARRAY(r->arena, summary_row, n);
    summary_columns shown = {0};
    for (int i = 0; i < n; i++) rows[i] = row_of(r, r->curves.panels.data[i]);
    for (int i = 0; i < n; i++) {
        shown.by |= rows[i].panel->by != NULL;
        shown.ways |= of_the_best(rows, n, i) > 0;
    }
    at_text_addf(r->out,
                 "<div class=\"scroll\"><table><tr><th>task</th>%s<th>time</th><th>speed</th>"
                 "<th>of peak</th>%s<th>trials</th></tr>\n",
                 shown.by ? "<th class=\"by\">by</th>" : "",
                 shown.ways ? "<th>of the best way</th>" : "");
    for (int i = 0; i < n; i++) add_summary_row(r, &shown, rows, n, i);
    at_text_add(r->out, "</table></div>\n");
    add_layers(r, rows, n);
}
