/* cli/cmd_report.c: a log as one page for people. */
#include "cli/commands.h"
#include "cli/json_out.h"
#include "cli/outputs.h"
#include "cli/winner_texts.h"
#include "engine/engine.h"
#include "view/view.h"

#include <string.h>

static at_status print_json(const char *output, int num_tasks, const at_text *page, at_error *err) {
    at_out out = {0};
    at_out_begin(&out, NULL, '{');
    at_out_int(&out, "tasks", num_tasks);
    at_out_string(&out, "output", output);
    at_out_string(&out, "html", output ? NULL : at_text_str(page));
    at_out_end(&out, '}');
    return at_out_print(&out, err);
}

/* Layers of one operator, whatever computes them. */
static const char *layer_name(at_arena *a, const at_record *r) {
    const char *layer;
    const at_task *task;
    return at_operator_layer(a, r, &layer, &task) ? layer : NULL;
}

static at_status report(at_arena *a, const at_options *o, at_text *page, at_error *err) {
    int num_tasks;
    const char *log = o->operands[0], *output = o->output;
    /* Records of another version of their template are shown as they are. */
    at_use_counts *uses = at_use_counts_new(a, true);
    const at_report_about about = {.program = "autotune " AT_VERSION,
                                   .layer_of = layer_name,
                                   .texts_of = at_winner_texts_of,
                                   .ctx = &o->engine};
    at_status s =
        at_report_page(a, log, o->only, at_is_usable, uses, &about, page, &num_tasks, err);
    at_use_counts_end(uses, &o->engine);
    AT_TRY(s);
    if (!output) output = at_format(a, "%s.html", log);
    if (!strcmp(output, "-")) output = NULL; /* standard output */
    if (output) {
        at_output_rules rules = at_rules_of_output(o);
        AT_TRY(at_write_output(output, &rules, at_text_str(page), page->len, err));
    }
    if (o->json) return print_json(output, num_tasks, page, err);
    if (!output) return at_print(page, err);
    at_text_clear(page);
    at_text_addf(page, "%d task%s written to ", num_tasks, at_plural(num_tasks));
    at_text_add_visible(page, output);
    at_text_add(page, "\n");
    return at_print(page, err);
}

at_status at_cmd_report(const at_options *o, at_error *err) {
    at_text page = {0};
    at_arena *a = at_arena_new();
    at_status s = report(a, o, &page, err);
    at_text_free(&page);
    at_arena_free(a);
    return s;
}
