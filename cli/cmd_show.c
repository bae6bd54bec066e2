/* cli/cmd_show.c: one configuration as people read it: loop tree, emitted C, any lowering pass. */
#include <string.h>

#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/open.h"
#include "cli/template_file.h"
#include "engine/engine.h"
#include "cli/bound_report.h"
#include "sketch/sketch.h"

static at_status check_pass(const char *pass, at_error *err) {
    at_text list = {0};
    for (int i = 0; at_pass_names[i]; i++) {
        if (!strcmp(at_pass_names[i], pass)) return at_text_free(&list), AT_OK;
        at_text_addf(&list, "%s%s", i ? ", " : "", at_pass_names[i]);
    }
    at_fail(err, AT_E_USAGE, "--dump %s: there are %s", pass, at_text_str(&list));
    at_text_free(&list);
    return AT_E_USAGE;
}

typedef struct shown {
    at_text tree, dump, history;
    const char *code;      /* NULL: not asked for */
    const at_bound *bound; /* NULL: not asked for */
    const at_kernel *kernel;
    bool has_dump;
} shown;

static const at_accuracy *recorded_accuracy(const at_session *s) {
    static const at_accuracy unknown;
    return s->what.chosen.record ? &s->what.chosen.record->extra.accuracy : &unknown;
}

static at_status print_json(const at_session *s, const shown *v, at_error *err) {
    at_out out = at_out_object();
    at_out_task(&out, s);
    at_out_config(&out, &s->what.chosen.config);
    at_out_double(&out, "flops", s->what.flops);
    at_out_accuracy(&out, recorded_accuracy(s));
    at_out_string(&out, "tree", at_text_str(&v->tree));
    at_out_notes(&out, v->kernel);
    if (v->history.len) at_out_string(&out, "history", at_text_str(&v->history));
    if (v->code) at_out_string(&out, "code", v->code);
    if (v->has_dump) at_out_string(&out, "dump", at_text_str(&v->dump));
    if (v->bound) at_out_why(&out, s, v->bound, 0);
    return at_out_print(&out, err);
}

static at_status print_text(const at_session *s, const shown *v, at_error *err) {
    at_text out = {0};
    at_text_add_task(&out, s);
    at_text_addf(&out, "   %.6g %s\n", s->what.work * 1e-6, s->what.in_bytes ? "MB" : "MFLOP");
    at_config_print_json(&out, &s->what.chosen.config);
    at_text_add(&out, "\n");
    at_text_add_accuracy(&out, recorded_accuracy(s));
    at_text_addf(&out, "\n%s", at_text_str(&v->tree));
    at_text_add_notes(&out, v->kernel);
    if (v->has_dump) at_text_addf(&out, "\n%s", at_text_str(&v->dump));
    if (v->code) at_text_addf(&out, "\n%s", v->code);
    if (v->bound) {
        at_text_add(&out, "\n");
        at_text_add_why(&out, s, v->bound, 0);
    }
    return at_print(&out, err);
}

/* Alone, so that it can be a file for --from-steps. */
static at_status add_history(const at_session *s, shown *v, const at_options *o, at_error *err) {
    at_steps h;
    const at_config *c = &s->what.chosen.config;
    if (o->history == AT_HISTORY_TRACE)
        return at_trace_print(s->arena, s->what.task, c, &v->history, err);
    AT_TRY(at_steps_of(s->arena, s->what.task, c, &h, err));
    at_steps_print(&v->history, s->what.task, &h);
    return AT_OK;
}

/* The configuration as a template of its own. */
static at_status write_file(const at_session *s, const at_options *o, at_error *err) {
    const at_schedulable *fixed;
    AT_TRY(at_schedulable_of_config(s->arena, s->what.task, &s->what.chosen.config, &fixed, err));
    const char *help = at_format(s->arena, "a configuration of %s", s->what.row->name);
    return at_write_template(s->arena, o, fixed, help, err);
}

static at_status show(at_session *s, shown *v, const at_options *o, at_error *err) {
    at_candidate c;
    if (o->dump) AT_TRY(check_pass(o->dump, err));
    AT_TRY(at_open_config(o, false, s, err));
    if (o->output && at_task_foreign(s->what.task))
        return at_fail(err, AT_E_USAGE,
                       "--output: %s is a kernel of its own, without a schedule to write as a "
                       "template; autotune apply writes its source with the values of its knobs",
                       s->what.row->name);
    AT_TRY(at_session_context(s, false, err));
    if (o->why) AT_TRY(at_session_machine(s, err));
    at_lower_options lo = at_session_lower_options(s, "kernel");
    lo.dump = o->dump;
    v->has_dump = o->dump != NULL;
    lo.dump_out = &v->dump;
    at_status lowered = at_candidate_lower(s, s->arena, &s->what.chosen.config, &lo, &c, err);
    if (lowered == AT_OK || v->dump.len)
        at_print_program(&v->tree, s->what.task, &s->what.chosen.config, c.program);
    if (lowered != AT_OK && v->dump.len && !o->json) {
        at_error unprinted; /* a pass behind the one that was asked for failed, and is told of */
        print_text(s, v, &unprinted);
    }
    AT_TRY(lowered);
    if (o->history) AT_TRY(add_history(s, v, o, err));
    if (o->code) v->code = c.kernel->source;
    v->bound = c.bound;
    v->kernel = c.kernel;
    if (o->output) AT_TRY(write_file(s, o, err));
    if (o->history && !o->json) return at_print(&v->history, err);
    if (o->output && !o->json && !o->code && !o->dump && !o->why) return AT_OK;
    return o->json ? print_json(s, v, err) : print_text(s, v, err);
}

at_status at_cmd_show(const at_options *o, at_error *err) {
    at_session s = {0};
    shown v = {0};
    at_status status = show(&s, &v, o, err);
    at_text_free(&v.tree);
    at_text_free(&v.dump);
    at_text_free(&v.history);
    at_session_close(&s);
    return status;
}
