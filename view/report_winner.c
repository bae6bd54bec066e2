/* view/report_winner.c: the winner of one context in a report: figures, what bounds it, its tree
 * beside C and assembly, and the commands to use it. */
#include <string.h>

#include "foreign/foreign.h"
#include "view/report.h"
#include "sketch/sketch.h"

/* ---- the winner ----------------------------------------------------------------------------- */

static void add_fact(at_text *out, const char *figure, const char *what) {
    at_text_add(out, "<div><b>");
    at_html_add(out, figure);
    at_text_add(out, "</b>");
    at_html_add(out, what);
    at_text_add(out, "</div>\n");
}

static void add_facts(at_report *r, const at_panel *p, const at_log_group *g) {
    const at_record *best = &g->best->record;
    double time_s = at_record_time(best), peak = at_record_peak(best);
    double speed = p->flops > 0 ? p->flops / time_s * 1e-9 : 0;
    at_text text = {0};
    at_text_add(r->out, "<div class=\"facts\">\n");
    if (speed > 0)
        add_fact(r->out, at_format(r->arena, "%.1f %s", speed, at_unit_of_speed(p->in_bytes)),
                 "the winner");
    at_text_add_time(&text, time_s);
    add_fact(r->out, at_text_str(&text),
             at_record_final(best) ? "median of its final" : "mean of its trial");
    if (peak > 0 && speed > 0) {
        at_text_clear(&text);
        double share = at_record_of_peak(best);
        at_text_add_share(&text, share > 0 ? share : speed / peak);
        add_fact(r->out, at_text_str(&text),
                 at_format(r->arena, "of the %s beside it, %.1f %s",
                           at_name_of_peak(p->in_bytes, p->of_dots), peak,
                           at_unit_of_speed(p->in_bytes)));
    }
    add_fact(r->out, at_format(r->arena, "%lld trials", (long long)g->trials),
             at_format(r->arena, "%lld valid, %lld failed", (long long)g->valid,
                       (long long)(g->trials - g->valid)));
    at_text_clear(&text);
    at_text_add_time(&text, g->spent_s);
    add_fact(r->out, at_text_str(&text), "spent measuring");
    at_text_add(r->out, "</div>\n");
    at_text_free(&text);
}

/* How near it is to what the core can do, in a sentence. */
static void add_share(at_report *r, const at_panel *p, const at_task *task, const at_record *best) {
    static const double at_the_limit = 0.9, near = 0.7;
    const double share = at_record_of_peak(best);
    const char *peak = at_name_of_peak(p->in_bytes, p->of_dots);
    if (share > 1)
        at_html_addf(
            r->out,
            "It does more than the %s allows, %.0f %%: operations are counted that it does "
            "not do, as those with padding or, by Winograd's algorithm, most of all.",
            peak, 100 * share);
    else if (share >= at_the_limit)
        at_html_addf(r->out, "%s bounds it: %.0f %% of the %s, %.0f %% are left.",
                     p->in_bytes ? "Memory" : "The number of multiply-adds", 100 * share, peak,
                     100 * (1 - share));
    else if (share > 0)
        at_html_addf(r->out, "It is %s the limit: %.0f %% of the %s.%s",
                     share >= near ? "near" : "far from", 100 * share, peak,
                     task && !at_foreign_of(task) ? " autotune run --why says what holds it back."
                                                  : "");
}

/* bound: what bounds it; NULL: that is not known. */
static void add_verdict(at_report *r, const at_panel *p, const at_task *task, const at_record *best,
                        const char *bound) {
    if (!bound && !(at_record_of_peak(best) > 0)) return;
    at_text_add(r->out, "<p class=\"verdict\">");
    if (bound) at_html_add(r->out, bound);
    else add_share(r, p, task, best);
    at_text_add(r->out, "</p>\n");
}

/* ---- its texts ------------------------------------------------------------------------------ */

static void add_note(at_report *r, const char *text) {
    at_text_add(r->out, "<p class=\"faint\">");
    at_html_add(r->out, text);
    at_text_add(r->out, "</p>\n");
}

static void add_tree(at_report *r, const at_task *task, const at_record *best) {
    at_config config;
    at_program *program;
    at_text tree = {0};
    at_error err;
    at_status s = at_config_rebind(r->arena, at_task_space(task), &best->config, &config, &err);
    if (s == AT_OK) s = at_task_program(r->arena, task, &config, &program, &err);
    if (s == AT_OK) {
        at_print_program(&tree, task, &config, program);
        at_text_add(r->out, "<pre>");
        at_html_add(r->out, at_text_str(&tree));
        at_text_add(r->out, "</pre>\n");
    } else
        add_note(r, at_format(r->arena, "What computes the task has changed since: %s", err.text));
    at_text_free(&tree);
}

static void add_folded(at_report *r, const char *name, const char *text) {
    if (!text || !*text) return;
    at_text_addf(r->out, "<details><summary>%s</summary><pre>", name);
    at_html_add(r->out, text);
    at_text_add(r->out, "</pre></details>\n");
}

/* Tree, C and assembly side by side; of a kernel that somebody wrote, macros and file. */
static void add_texts(at_report *r, const at_task *task, const at_record *best,
                      const at_winner_texts *texts) {
    const bool is_kernel = task && at_foreign_of(task);
    at_text_addf(r->out, "<h3>Its %s</h3>\n", is_kernel ? "macros" : "loop tree");
    if (!task) {
        add_note(r, "No template of this program computes the task, so that its tree is not known. "
                    "A file that does is given behind the log: autotune report LOG FILE.");
        return;
    }
    at_text_add(r->out, "<div class=\"texts\">\n<div>");
    add_tree(r, task, best);
    at_text_add(r->out, "</div>\n");
    add_folded(r, is_kernel ? "The file" : "C", texts->source);
    add_folded(r, "Assembly", texts->code);
    at_text_add(r->out, "</div>\n");
}

static void add_config(at_report *r, const at_record *best) {
    at_text text = {0};
    at_config_print_entity(&text, &best->config);
    at_html_addf(r->out,
                 "Index %lld, line %lld of the log: ", (long long)best->config.recorded_index,
                 (long long)best->line);
    at_text_add(r->out, "<pre class=\"wrap\">");
    at_html_add(r->out, at_text_str(&text));
    at_text_add(r->out, "</pre>\n");
    at_text_free(&text);
}

/* ---- commands ------------------------------------------------------------------------------- */

void at_report_command(at_report *r, const at_task *task, const char *verb, const char *rest) {
    at_text text = {0};
    at_text_addf(&text, "autotune %s", verb);
    at_template_add_words(&text, at_task_row(task), true);
    at_text_add(&text, " --args");
    at_text_add_word(&text, at_task_args_text(task));
    at_text_add(&text, " --log");
    at_text_add_word(&text, r->log);
    at_text_addf(&text, "%s%s\n", r->is_changed ? " --accept-changed" : "", rest);
    at_html_add(r->out, at_text_str(&text));
    at_text_free(&text);
}

static void add_how_to_apply(at_report *r, const at_task *task, const at_record *best) {
    if (!task) return;
    at_text_add(r->out, "<h3>How to use it</h3>\n<pre class=\"wrap\">");
    const char *line = at_format(r->arena, " --line %lld", (long long)best->line);
    at_report_command(r, task, "run", line);
    const at_foreign *kernel = at_foreign_of(task);
    const char *ending = kernel ? at_foreign_ending(kernel) : ".c";
    at_report_command(r, task, "apply", at_format(r->arena, "%s -o kernel%s", line, ending));
    if (!kernel) at_text_add(r->out, "gcc -O3 -c kernel.c");
    at_text_add(r->out, "</pre>\n<p class=\"faint\">The first command checks and "
                        "times it again, the second writes it out. The file's first lines say how "
                        "it is called.</p>\n");
}

void at_report_winner(at_report *r, const at_panel *p, const at_task *task, const at_log_group *g) {
    const at_record *best = &g->best->record;
    at_winner_texts texts = {0};
    if (task && r->about->texts_of) r->about->texts_of(r->about->ctx, r->arena, best, &texts);
    add_facts(r, p, g);
    add_verdict(r, p, task, best, texts.verdict);
    add_config(r, best);
    add_texts(r, task, best, &texts);
    add_how_to_apply(r, task, best);
}
