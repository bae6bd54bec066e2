/* view/report_page.c: a log as one page for people. */
#include "view/report.h"

/* "conv2d_3x3_gemm", and the arguments by name where a template here knows them. */
static void add_heading(at_report *r, const at_panel *p, int number) {
    at_text_addf(r->out, "<h2 id=\"t%d\">", number);
    at_html_add(r->out, p->task);
    at_text_add(r->out, " <small>");
    at_html_add(r->out, at_json_text(r->arena, p->args));
    at_text_add(r->out, "</small></h2>\n");
}

static void add_contents(at_report *r) {
    at_text_add(r->out, "<div class=\"scroll\"><table><tr><th>task</th><th>best</th><th></th>"
                        "<th>trials</th></tr>\n");
    for (int i = 0; i < r->curves.panels.len; i++) {
        const at_panel *p = r->curves.panels.data[i];
        int64_t trials = 0;
        for (int k = 0; k < p->series.len; k++) trials += p->series.data[k]->points.len;
        at_text_addf(r->out, "<tr><td><a href=\"#t%d\">", i + 1);
        at_html_add(r->out, p->title);
        if (at_panel_winner(p) > 0)
            at_text_addf(r->out, "</a></td><td>%.1f</td><td>%s</td>", at_panel_winner(p), p->unit);
        else at_text_add(r->out, "</a></td><td class=\"bad\">none</td><td></td>");
        at_text_addf(r->out, "<td>%lld</td></tr>\n", (long long)trials);
    }
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
                         void *use_ctx, const char *program, at_text *out, int *num_tasks,
                         at_error *err) {
    at_report r = {.arena = a, .log = log, .program = program, .out = out};
    AT_TRY(at_curves_read(a, &log, 1, only, use, use_ctx, &r.curves, err));
    AT_TRY(at_log_summarise(a, log, use, use_ctx, NULL, NULL, &r.summary, err));
    AT_TRY(at_report_read_finals(a, log, &r.finals, err));
    *num_tasks = r.curves.panels.len;
    add_page(&r);
    return AT_OK;
}
