/* view/report_page.c: a log as one page for people. */
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
    if (p->args->count) at_html_add(r->out, at_json_text(r->arena, p->args));
    at_text_add(r->out, "</small></h2>\n");
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
    if (r->curves.panels.len > 1) at_report_summary(r);
    for (int i = 0; i < r->curves.panels.len; i++) {
        add_heading(r, r->curves.panels.data[i], i + 1);
        at_report_task(r, r->curves.panels.data[i]);
    }
    at_html_addf(r->out, "\n");
    at_text_add(r->out, "<p class=\"faint\">Written by ");
    at_html_add(r->out, r->about->program);
    at_text_add(r->out, ".</p>\n");
    at_html_end(r->out);
    at_text_free(&text);
}

at_status at_report_page(at_arena *a, const char *log, const char *only, at_pick_fn *use,
                         void *use_ctx, const at_report_about *about, at_text *out, int *num_tasks,
                         at_error *err) {
    at_report r = {.arena = a, .log = log, .about = about, .out = out};
    AT_TRY(at_curves_read(a, &log, 1, only, use, use_ctx, &r.curves, err));
    AT_TRY(at_log_summarise(a, log, use, use_ctx, NULL, NULL, &r.summary, err));
    AT_TRY(at_report_read_finals(a, log, &r.finals, err));
    *num_tasks = r.curves.panels.len;
    add_page(&r);
    return AT_OK;
}
