/* cli/cmd_convert.c: between our log and the files of other tuners. Templates know what records
 * leave open: the first part of a split, and the index of an entity. */
#include "cli/commands.h"

#include <string.h>

#include "cli/json_out.h"
#include "cli/outputs.h"
#include "cli/template_file.h"
#include "engine/engine.h"
#include "templates/task.h"
#include "view/view.h"
#include "sketch/sketch.h"

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
    if (c->task && at_same_task(c->task, c->args, r->task, r->args)) return c->space;
    at_task *task;
    c->task = r->task;
    c->args = r->args;
    c->space = at_task_of_record(c->arena, r->task, r->args, &task, NULL) == AT_OK
                   ? at_task_space(task)
                   : NULL;
    return c->space;
}

/* Where the template is known: the configuration as a point of its space. */
static bool in_space(conversion *c, const at_record *r, at_config *out) {
    const at_space *space = space_of(c, r);
    return space && at_config_rebind(c->arena, space, &r->config, out, NULL) == AT_OK;
}

static int64_t split_part(void *ctx, const at_record *r, int knob) {
    at_config of_all, config;
    if (!in_space(ctx, r, &of_all)) return -1;
    config = of_all;
    if (at_space_num_parts(of_all.space)) at_config_part(&of_all, &config);
    int k = at_space_find_knob(config.space, r->config.names[knob]);
    if (k < 0 || at_space_knob_kind(config.space, k) != AT_KNOB_SPLIT) return -1;
    return at_split_part(&r->config.entities[knob], at_space_knob_length(config.space, k), 0);
}

/* Where the template is known: its space's index and spelling. */
static void rebind(conversion *c, at_record *r) {
    at_config config;
    if (!in_space(c, r, &config) || config.index < 0) return;
    AT_ASSERT(at_config_at(c->arena, config.space, config.index, &r->config, NULL) == AT_OK);
}

static at_status print_json(const at_options *o, const conversion *c, int n, const char *from,
                            at_error *err) {
    at_out out = at_out_object();
    at_out_string(&out, "from", from);
    at_out_string(&out, "to", o->to);
    at_out_int(&out, "records", n);
    at_out_begin(&out, "lost", '[');
    for (int i = 0; i < c->losses.len; i++)
        at_out_string(&out, NULL, c->losses.data[i] + strlen("lost: "));
    at_out_end(&out, ']');
    at_out_string(&out, "output", o->output);
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
    at_exchange x = {.arena = c->arena,
                     .split_part = split_part,
                     .text_of = at_log_text_of,
                     .take_text = at_log_text_take,
                     .loss = take_loss,
                     .ctx = c};
    const at_file_format *from, *to = at_file_format_find(o->to);
    at_record *records;
    int n;
    x.warn = at_warn;
    AT_TRY(at_exchange_read(&x, o->operands[0], &from, &records, &n, err));
    if (from == to)
        return at_fail(err, AT_E_USAGE, "%s is of that format already: %s", o->operands[0], o->to);
    for (int i = 0; i < n && to == at_file_format_at(0); i++) rebind(c, &records[i]);
    if (at_exchange_print(&x, to, records, n, text, err) != AT_OK)
        return at_fail_at(err, "%s: ", o->operands[0]);
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
    if (at_recorded_print(c->arena, &space, text, err) != AT_OK)
        return at_fail_at(err, "%s: ", o->operands[0]);
    if (o->output) AT_TRY(write_output(o, 0, text, err));
    if (o->json) return print_json(o, c, (int)space.recorded, "log", err);
    return o->output ? AT_OK : at_print(text, err);
}

/* A tuning problem as the head of a kernel. */
static at_status convert_t1(const at_options *o, conversion *c, at_text *text, at_error *err) {
    enum { MOST_BYTES = 16 << 20 };
    const char *path = o->operands[0];
    char *bytes;
    size_t size;
    const at_json *file;
    int left;
    AT_TRY(at_read_file(c->arena, path, MOST_BYTES, &bytes, &size, err));
    const bool is_json = at_json_parse(c->arena, bytes, size, &file, err) == AT_OK;
    if (!is_json || at_head_of_t1(c->arena, file, path, text, &left, err) != AT_OK) {
        at_fail_at(err, is_json ? "%s: " : "%s: no T1 file: ", path);
        return err->status = AT_E_INPUT;
    }
    if (left)
        take_loss(
            c, at_format(c->arena, "lost: %d conditions or arguments, which the head lists", left));
    if (o->output) AT_TRY(write_output(o, 0, text, err));
    if (o->json) return print_json(o, c, 0, "t1", err);
    return o->output ? AT_OK : at_print(text, err);
}

/* ---- Ansor's --------------------------------------------------------------------------------- */

/* Lines that begin with # or a blank are comments. */
static const char *next_record(const char *line, const char *stop, int64_t *number, size_t *len) {
    for (; line < stop; line += *len + 1, ++*number) {
        const char *end = memchr(line, '\n', (size_t)(stop - line));
        *len = (size_t)((end ? end : stop) - line);
        if (*len && !memchr("# \r", *line, 3)) return line;
    }
    return NULL;
}

/* Of one workload. */
typedef struct ansor_best {
    const char *line;
    size_t length;
    int64_t number;
    double cost_s;
} ansor_best;

typedef struct ansor_file {
    const at_options *o;
    at_key_map workloads;
    AT_VEC(ansor_best) best; /* [workloads] */
    int records, others;     /* lines that are no records */
    int64_t first_other;
    at_error why; /* of that line */
} ansor_file;

static void take_record(ansor_file *f, at_arena *scratch, const char *line, size_t length,
                        int64_t number) {
    at_ansor_head head;
    at_error err;
    if (at_ansor_look(scratch, line, length, &head, &err) != AT_OK) {
        if (!f->others++) f->first_other = number, f->why = err;
        return;
    }
    f->records++;
    if (head.cost_s <= 0) return;
    int known = f->workloads.keys.len, k = at_key_map_add(&f->workloads, head.key);
    if (k == known) *at_push(f->workloads.arena, &f->best) = (ansor_best){0};
    ansor_best *best = &f->best.data[k];
    if (!best->line || head.cost_s < best->cost_s)
        *best = (ansor_best){line, length, number, head.cost_s};
}

static at_status fail_several(const ansor_file *f, at_error *err) {
    enum { SHOWN = 5 };
    at_text list = {0};
    for (int i = 0; i < f->best.len && i < SHOWN; i++)
        at_text_addf(&list, "%s%lld of %.80s", i ? ", " : "", (long long)f->best.data[i].number,
                     f->workloads.keys.data[i]);
    at_status s = at_fail(
        err, AT_E_USAGE, "%s has %d workloads; --line N is one record, the best are %s%s",
        f->o->operands[0], f->best.len, at_text_str(&list), f->best.len > SHOWN ? ", ..." : "");
    at_text_free(&list);
    return s;
}

static at_status best_of(const ansor_file *f, const ansor_best **out, at_error *err) {
    if (f->others && !f->records) {
        *err = f->why;
        at_fail_at(err, "%s:%lld: ", f->o->operands[0], (long long)f->first_other);
        return err->status;
    }
    if (f->others)
        at_warn(NULL, at_format(f->workloads.arena,
                                "%s: %d line%s left out that %s no record of Ansor's, the first "
                                "is line %lld",
                                f->o->operands[0], f->others, at_plural(f->others),
                                f->others > 1 ? "are" : "is", (long long)f->first_other));
    if (!f->best.len)
        return at_fail(err, AT_E_NO_VALID, "%s: holds no valid record", f->o->operands[0]);
    if (f->best.len > 1) return fail_several(f, err);
    *out = &f->best.data[0];
    return AT_OK;
}

/* The record on a line, or the best one. */
static at_status choose_record(ansor_file *f, const char *text, size_t size, const ansor_best **out,
                               at_error *err) {
    at_arena *a = f->workloads.arena, *scratch = at_arena_new();
    int64_t number = 1, wanted = f->o->request.line;
    size_t len = 0;
    *out = NULL;
    for (const char *line = text; (line = next_record(line, text + size, &number, &len));
         line += len + 1, number++) {
        if (wanted) f->records++;
        else take_record(f, scratch, line, len, number);
        if (wanted == number)
            *out = at_copy(a, &(ansor_best){line, len, number, 0}, sizeof(ansor_best));
        at_arena_reset(scratch);
    }
    at_arena_free(scratch);
    if (*out) return AT_OK;
    if (wanted)
        return at_fail(err, AT_E_USAGE, "--line %lld: %s has no record there", (long long)wanted,
                       f->o->operands[0]);
    return best_of(f, out, err);
}

static void tell_notes(conversion *c, const char *notes) {
    while (*notes) {
        size_t n = strcspn(notes, "\n");
        take_loss(c, at_format(c->arena, "lost: %.*s", (int)n, notes));
        notes += n + (notes[n] == '\n');
    }
}

static at_status convert_ansor(const at_options *o, conversion *c, at_text *text, at_error *err) {
    enum { MOST_BYTES = 64 << 20 };
    char *file;
    size_t size;
    ansor_file f = {.o = o, .workloads.arena = c->arena};
    const ansor_best *best;
    at_ansor x;
    if (strcmp(o->from, "ansor") != 0)
        return at_fail(err, AT_E_USAGE, "--from %s: ansor is known; other files say what they are",
                       o->from);
    if (o->to && strcmp(o->to, "template") != 0)
        return at_fail(err, AT_E_USAGE, "--from ansor makes a template's file, not a %s", o->to);
    AT_TRY(at_read_file(c->arena, o->operands[0], MOST_BYTES, &file, &size, err));
    AT_TRY(choose_record(&f, file, size, &best, err));
    if (at_ansor_read(c->arena, best->line, best->length, &x, err) != AT_OK) {
        at_fail_at(err, "%s:%lld: ", o->operands[0], (long long)best->number);
        return err->status = AT_E_INPUT;
    }
    tell_notes(c, x.notes);
    at_options own = *o;
    own.to = "template";
    const char *help =
        at_format(c->arena, "%s of %s:%lld", x.workload, o->operands[0], (long long)best->number);
    if (o->output) AT_TRY(at_write_template(c->arena, &own, x.program, help, err));
    if (o->json) return print_json(&own, c, f.records, "ansor", err);
    if (o->output) return AT_OK;
    x.program->row.help = help;
    at_schedulable_print(text, x.program);
    return at_print(text, err);
}

static at_status fail_no_format(at_error *err) {
    at_text names = {0};
    for (int i = 0; at_file_format_at(i); i++)
        at_text_addf(&names, "%s, ", at_file_format_at(i)->name);
    at_fail(err, AT_E_USAGE, "convert needs --to FORMAT: %sspace, head", at_text_str(&names));
    at_text_free(&names);
    return AT_E_USAGE;
}

at_status at_cmd_convert(const at_options *o, at_error *err) {
    if (!o->to && !o->from) return fail_no_format(err);
    if (o->json && !o->output)
        return at_fail(err, AT_E_USAGE, "convert --json needs --output FILE");
    at_arena *a = at_arena_new();
    conversion c = {.arena = a, .quiet = o->json};
    at_text text = {0};
    at_status s = o->from                   ? convert_ansor(o, &c, &text, err)
                  : !strcmp(o->to, "space") ? convert_space(o, &c, &text, err)
                  : !strcmp(o->to, "head")  ? convert_t1(o, &c, &text, err)
                                            : convert(o, &c, &text, err);
    at_text_free(&text);
    at_arena_free(a);
    return s;
}
