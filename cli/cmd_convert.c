/* cli/cmd_convert.c: between our log and the files of other tuners. Templates know what records
 * leave open: the first part of a split, and the index of an entity. */
#include "cli/commands.h"

#include <string.h>

#include "cli/json_out.h"
#include "cli/outputs.h"
#include "engine/engine.h"
#include "templates/task.h"
#include "view/view.h"

typedef struct conversion {
    at_arena *arena;
    const at_space *space; /* of the task last asked for; NULL: no template, or its arguments are no
                              task of it */
    const char *task;
    const at_json *args;
    AT_VEC(const char *) losses;
    bool quiet; /* losses go into the JSON */
} conversion;

static void take_loss(void *ctx, const char *text) {
    conversion *c = ctx;
    *at_push(c->arena, &c->losses) = at_strdup(c->arena, text);
    if (!c->quiet) at_warn(NULL, text);
}

static const at_space *space_of(conversion *c, const at_record *r) {
    if (c->task && !strcmp(c->task, r->task) && at_args_equal(c->args, r->args)) return c->space;
    at_task *task;
    c->task = r->task;
    c->args = r->args;
    c->space = at_task_of_record(c->arena, r->task, r->args, &task, NULL) == AT_OK
                   ? at_task_space(task)
                   : NULL;
    return c->space;
}

static int64_t split_part(void *ctx, const at_record *r, int knob) {
    const at_space *space = space_of(ctx, r);
    int k = space ? at_space_find_knob(space, r->config.names[knob]) : -1;
    if (k < 0 || at_space_knob_kind(space, k) != AT_KNOB_SPLIT) return -1;
    return at_split_part(&r->config.entities[knob], at_space_knob_length(space, k), 0);
}

/* Where the template is known: its space's index and spelling. */
static void rebind(conversion *c, at_record *r) {
    const at_space *space = space_of(c, r);
    at_config config;
    if (!space || at_config_rebind(c->arena, space, &r->config, &config, NULL) != AT_OK ||
        config.index < 0)
        return;
    AT_ASSERT(at_config_at(c->arena, space, config.index, &r->config, NULL) == AT_OK);
}

static at_status print_json(const at_options *o, const conversion *c, int n, const char *from,
                            at_error *err) {
    at_out out = {0};
    at_out_begin(&out, NULL, '{');
    at_out_string(&out, "from", from);
    at_out_string(&out, "to", o->to);
    at_out_int(&out, "records", n);
    at_out_begin(&out, "lost", '[');
    for (int i = 0; i < c->losses.len; i++)
        at_out_string(&out, NULL, c->losses.data[i] + strlen("lost: "));
    at_out_end(&out, ']');
    at_out_string(&out, "output", o->output);
    at_out_end(&out, '}');
    return at_out_print(&out, err);
}

/* records: in the text, if it is a log. */
static at_status write_output(const at_options *o, int records, const at_text *text,
                              at_error *err) {
    at_output_rules rules = at_rules_of_output(o);
    at_output *out;
    AT_TRY(at_output_open(o->output, &rules, &out, err));
    at_status s = rules.is_kind == at_is_log_head && !o->force
                      ? at_refuse_larger_log(o->output, records, err)
                      : AT_OK;
    if (s == AT_OK) s = at_output_add(out, at_text_str(text), text->len, err);
    if (s == AT_OK) s = at_output_commit(&out, 1, err);
    at_output_close(out);
    return s;
}

static at_status convert(const at_options *o, conversion *c, at_text *text, at_error *err) {
    at_exchange x = {.arena = c->arena, .split_part = split_part, .loss = take_loss, .ctx = c};
    const at_file_format *from, *to = at_file_format_find(o->to);
    at_record *records;
    int n;
    x.warn = at_warn;
    AT_TRY(at_exchange_read(&x, o->operands[0], &from, &records, &n, err));
    if (from == to)
        return at_fail(err, AT_E_USAGE, "%s is of that format already: %s", o->operands[0], o->to);
    for (int i = 0; i < n && to == at_file_format_at(0); i++) rebind(c, &records[i]);
    AT_TRY(at_exchange_print(&x, to, records, n, text, err));
    if (o->output) AT_TRY(write_output(o, n, text, err));
    if (o->json) return print_json(o, c, n, from->name, err);
    return o->output ? AT_OK : at_print(text, err);
}

/* A log as a recorded space. */
static at_status convert_space(const at_options *o, conversion *c, at_text *text, at_error *err) {
    at_recorded space;
    if (at_is_space_file(o->operands[0]))
        return at_fail(err, AT_E_USAGE, "%s is of that format already: %s", o->operands[0], o->to);
    AT_TRY(at_recorded_read(c->arena, o->operands[0], at_warn, NULL, &space, err));
    if (!space.task)
        return at_fail(err, AT_E_INPUT,
                       "%s: there is no template \"%s\" here, without which indices mean nothing; "
                       "replay takes the file as it is",
                       o->operands[0], space.name);
    at_recorded_print(c->arena, &space, text);
    if (o->output) AT_TRY(write_output(o, 0, text, err));
    if (o->json) return print_json(o, c, (int)space.recorded, "log", err);
    return o->output ? AT_OK : at_print(text, err);
}

static at_status fail_no_format(at_error *err) {
    at_text names = {0};
    for (int i = 0; at_file_format_at(i); i++)
        at_text_addf(&names, "%s, ", at_file_format_at(i)->name);
    at_fail(err, AT_E_USAGE, "convert needs --to FORMAT: %sspace", at_text_str(&names));
    at_text_free(&names);
    return AT_E_USAGE;
}

at_status at_cmd_convert(const at_options *o, at_error *err) {
    if (!o->to) return fail_no_format(err);
    if (o->json && !o->output)
        return at_fail(err, AT_E_USAGE, "convert --json needs --output FILE");
    at_arena *a = at_arena_new();
    conversion c = {.arena = a, .quiet = o->json};
    at_text text = {0};
    bool space = !strcmp(o->to, "space");
    at_status s = space ? convert_space(o, &c, &text, err) : convert(o, &c, &text, err);
    at_text_free(&text);
    at_arena_free(a);
    return s;
}
