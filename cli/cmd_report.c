/* cli/cmd_report.c: a log as one page for people. */
#include "cli/commands.h"
#include "cli/outputs.h"
#include "cli/winner_texts.h"
#include "engine/engine.h"
#include "view/view.h"

#include <string.h>

/* Layers of one operator, whatever computes them. */
static const char *layer_name(at_arena *a, const at_record *r) {
    const char *layer;
    const at_task *task;
    return at_operator_layer(a, r, &layer, &task) ? layer : NULL;
}

static at_status report(at_arena *a, const at_options *o, at_text *page, at_error *err) {
    int num_tasks;
    const char *log = o->operands[0];
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
    return at_report_write(o, num_tasks, "task", log, page, err);
}

at_status at_cmd_report(const at_options *o, at_error *err) {
    at_text page = {0};
    at_arena *a = at_arena_new();
    at_status s = report(a, o, &page, err);
    at_text_free(&page);
    at_arena_free(a);
    return s;
}
