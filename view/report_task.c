/* view/report_task.c: one task of a report: each context with its winner (report_winner.c), final
 * and failures; then curves and knobs of all. */
#include <string.h>

#include "view/report.h"
#include "sketch/sketch.h"

enum { FINALISTS = 5 };

/* The template here that computes the panel's task. */
static at_task *task_of(at_report *r, const at_panel *p) {
    at_task *task;
    return at_task_of_record(r->arena, p->task, p->args, &task, NULL) == AT_OK ? task : NULL;
}

static bool is_of_group(const at_report_finalist *f, const at_log_group *g) {
    return at_same_task(f->who.task, f->who.args, g->task, g->args) &&
           !strcmp(f->who.context_hash, g->context_hash);
}

/* ---- final and failures --------------------------------------------------------------------- */

static void add_final_row(at_report *r, const at_panel *p, const at_report_finalist *f) {
    at_text time = {0};
    at_text_add_time(&time, f->median_s);
    at_text_addf(r->out, "<tr><td>%lld</td><td>", (long long)f->who.index);
    at_html_add(r->out, at_text_str(&time));
    at_text_add(r->out, "</td><td>");
    double speed = p->flops > 0 ? p->flops / f->median_s * 1e-9 : 0;
    if (speed > 0) at_text_addf(r->out, "%.1f", speed);
    at_text_add(r->out, "</td><td>");
    if (speed > 0 && f->peak > 0) at_text_addf(r->out, "%.1f %%", 100 * speed / f->peak);
    at_text_addf(r->out, "</td><td>%.1f %%</td><td>%d</td></tr>\n",
                 100 * (f->high_s - f->low_s) / f->median_s, f->rounds);
    at_text_free(&time);
}

static void add_final(at_report *r, const at_panel *p, const at_log_group *g) {
    at_sample_row rows[FINALISTS];
    const at_report_finalist *of[FINALISTS];
    const at_turns *final = g->best ? at_record_final(&g->best->record) : NULL;
    int n = 0;
    for (int i = 0; final && i < r->finals.of.len && n < FINALISTS; i++) {
        const at_report_finalist *f = &r->finals.of.data[i];
        if (!is_of_group(f, g) || f->begun_s != final->begun_s) continue;
        rows[n] = (at_sample_row){at_format(r->arena, "index %lld", (long long)f->who.index),
                                  f->times_s, f->rounds, f->median_s};
        of[n++] = f;
    }
    if (!n) return;
    at_text_add(r->out, "<h3>The final</h3>\n<p>The best few, timed again in turn; each dot is a "
                        "round, the mark its median.</p>\n<div class=\"pair\">");
    at_svg_samples(r->out, rows, n);
    at_text_addf(r->out,
                 "<div class=\"scroll\"><table><tr><th>index</th><th>median</th><th>%s</th>",
                 at_unit_of_speed(p->in_bytes));
    at_text_add(r->out, "<th>of peak</th><th>spread</th><th>rounds</th></tr>\n");
    for (int i = 0; i < n; i++) add_final_row(r, p, of[i]);
    at_text_add(r->out, "</table></div></div>\n");
}

static void add_failures(at_report *r, const at_task *task, const at_log_group *g) {
    if (g->trials == g->valid) {
        at_text_add(r->out, "<h3>Failures</h3>\n<p>None.</p>\n");
        return;
    }
    at_text_add(r->out, "<h3>Failures</h3>\n<div class=\"scroll\"><table><tr><th>kind</th><th>count"
                        "</th><th>line</th><th class=\"text\">the first that says something</th>"
                        "</tr>\n");
    int64_t line = 0;
    for (int e = 0; e < AT_NUM_FAILURES; e++) {
        const at_log_failures *f = &g->failures[e];
        if (!f->count) continue;
        if (!line) line = f->line;
        at_text_addf(r->out,
                     "<tr><td class=\"bad\">%s</td><td>%lld</td><td>%lld</td>"
                     "<td class=\"text\">",
                     at_failure_name(e), (long long)f->count, (long long)f->line);
        at_html_add(r->out, f->text);
        at_text_add(r->out, "</td></tr>\n");
    }
    at_text_add(r->out, "</table></div>\n");
    if (!task) return;
    at_text_add(r->out, "<p class=\"faint\">To look at one:</p><pre class=\"wrap\">");
    at_report_command(r, task, "run", at_format(r->arena, " --line %lld --keep", (long long)line));
    at_text_add(r->out, "</pre>\n");
}

/* ---- what all contexts share ---------------------------------------------------------------- */

static void add_key(at_report *r, const at_panel *p) {
    at_text text = {0};
    at_text_add(r->out, "<ul class=\"key\">\n");
    for (int i = 0; i < p->series.len; i++) {
        const at_series *s = p->series.data[i];
        at_text_addf(r->out,
                     "<li><svg viewBox=\"0 0 26 11\"><path class=\"best c%d\" "
                     "d=\"M0 6H26\"/></svg>",
                     i % 6);
        at_html_addf(r->out, "%s%s%s: ", s->tuner, *s->tuner ? ", " : "", s->where);
        at_text_clear(&text);
        at_text_add_outcome(&text, p, s);
        at_html_add(r->out, at_text_str(&text));
        at_text_add(r->out, "</li>\n");
    }
    at_text_add(r->out, "</ul>\n");
    at_text_free(&text);
}

static void add_curves(at_report *r, const at_panel *p) {
    at_text_add(r->out, "<h3>The search</h3>\n<p>Best so far, and every trial as a point");
    bool failed = false;
    for (int i = 0; i < p->series.len; i++) failed |= p->series.data[i]->failed > 0;
    at_text_add(r->out, failed ? "; failures are the crosses.</p>\n" : ".</p>\n");
    at_text_add(r->out, "<div class=\"pair\">\n");
    at_svg_curve(r->out, p, false);
    at_svg_curve(r->out, p, true);
    at_text_add(r->out, "</div>\n");
    add_key(r, p);
}

static void add_speed(at_text *out, double speed) {
    if (speed > 0) at_text_addf(out, "<td>%.*f</td>", speed < 10 ? 2 : 1, speed);
    else at_text_add(out, "<td>-</td>");
}

static void add_knob(at_report *r, const at_panel *p, const at_knob_values *k) {
    double most = at_panel_speed(p);
    int n = k->values.len < AT_KNOB_VALUES ? k->values.len : AT_KNOB_VALUES;
    at_text_add(r->out, "<div class=\"scroll\"><table class=\"knob\"><tr><th>");
    at_html_add(r->out, k->name);
    at_text_add(r->out, "</th><th>best</th><th>median</th><th>trials</th><th>failed</th><th></th>"
                        "</tr>\n");
    for (int i = 0; i < n; i++) {
        const at_knob_value *v = &k->values.data[i];
        at_text_add(r->out, "<tr><td>");
        at_html_add(r->out, v->text);
        at_text_add(r->out, "</td>");
        add_speed(r->out, v->best);
        add_speed(r->out, v->median);
        at_text_addf(r->out, "<td>%lld</td><td>%lld</td><td class=\"bar\">", (long long)v->trials,
                     (long long)v->failed);
        if (v->best > 0)
            at_text_addf(r->out, "<i style=\"width:%.1f%%\"><i style=\"width:%.1f%%\"></i></i>",
                         100 * v->best / most, 100 * v->median / v->best);
        at_text_add(r->out, "</td></tr>\n");
    }
    at_text_add(r->out, "</table>\n");
    if (k->values.len > n)
        at_text_addf(r->out, "<p class=\"faint\">and %d more values</p>\n", k->values.len - n);
    at_text_add(r->out, "</div>\n");
}

static void add_knobs(at_report *r, const at_panel *p) {
    at_text_addf(r->out,
                 "<h3>The knobs</h3>\n<p>Best and median of the valid trials with each "
                 "value, in %s; the bar is full up to the median.</p>\n",
                 p->unit);
    at_text_add(r->out, "<div class=\"pair knobs\">\n");
    for (int k = 0; k < p->knobs.len; k++) add_knob(r, p, &p->knobs.data[k]);
    at_text_add(r->out, "</div>\n");
}

/* ---- the section ---------------------------------------------------------------------------- */

static void add_where(at_report *r, const at_log_group *g) {
    at_text text = {0};
    at_text_add(r->out, "<p class=\"where\">");
    if (g->ours) {
        at_text_add_context(&text, &g->context);
        at_text_add(&text, "; ");
    }
    at_text_addf(&text, "target %s; ", g->target);
    at_text_add_span(&text, g->first_s, g->last_s);
    at_html_add(r->out, at_text_str(&text));
    at_text_add(r->out, "</p>\n");
    at_text_free(&text);
}

static void add_group(at_report *r, const at_panel *p, const at_task *task, const at_log_group *g) {
    add_where(r, g);
    r->is_changed = task && at_log_group_is_changed(g, at_task_hash(task));
    if (r->is_changed)
        at_text_add(
            r->out,
            "<p class=\"faint\">Measured with another version of what computes the task: used "
            "with --accept-changed alone.</p>\n");
    if (g->best) {
        at_report_winner(r, p, task, g);
        add_final(r, p, g);
    } else
        at_text_addf(r->out, "<p class=\"bad\">None of %lld trials was valid%s.</p>\n",
                     (long long)g->trials,
                     g->valid > g->at_least ? " and a configuration of the task" : "");
    add_failures(r, task, g);
}

void at_report_task(at_report *r, const at_panel *p) {
    at_task *task = task_of(r, p);
    for (int i = 0; i < r->summary.num_groups; i++) {
        const at_log_group *g = &r->summary.groups[i];
        if (at_same_task(g->task, g->args, p->task, p->args)) add_group(r, p, task, g);
    }
    if (at_panel_speed(p) > 0) {
        add_curves(r, p);
        add_knobs(r, p);
    }
}
