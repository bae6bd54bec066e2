/* cli/cmd_log.c: what is in a log, task by task. */
#include "cli/commands.h"

#include <string.h>

#include "cli/describe.h"
#include "cli/log_view.h"
#include "engine/engine.h"
#include "view/view.h"

/* ---- text ----------------------------------------------------------------------------------- */

static void add_count(at_text *out, int64_t n, const char *what) {
    if (n) at_text_addf(out, ", %lld %s", (long long)n, what);
}

static void add_counted(at_text *out, int64_t n, const char *noun) {
    if (n) at_text_addf(out, ", %lld %s%s", (long long)n, noun, at_plural(n));
}

static void add_head(at_text *out, const char *path, const at_log_summary *s) {
    const at_log_stats *st = &s->stats;
    at_text_add_visible(out, path);
    int64_t anchors = 0;
    for (int i = 0; i < s->num_groups; i++) anchors += s->groups[i].anchors;
    at_text_addf(out, ": %lld record%s", (long long)st->records, at_plural(st->records));
    if (anchors) at_text_addf(out, ", %lld of them trials", (long long)(st->records - anchors));
    add_count(out, st->old_version, "of log version 0.1");
    add_counted(out, st->comments, "comment");
    add_counted(out, st->blank, "blank line");
    add_counted(out, st->bad, "unreadable line");
    if (s->num_groups) {
        at_text_add(out, "; ");
        at_text_add_span(out, s->first_s, s->last_s);
    }
    at_text_add(out, "\n");
}

static void add_failures(at_text *out, const at_log_group *g) {
    for (int e = 0; e < AT_NUM_FAILURES; e++) {
        const at_log_failures *f = &g->failures[e];
        if (!f->count) continue;
        at_text_addf(out, "  %lld %s", (long long)f->count, at_failure_name(e));
        /* Compilers explain at length; the first line is what went wrong. */
        int n = (int)strcspn(f->text, "\r\n");
        if (n) at_text_addf(out, ", first at line %lld: %.*s", (long long)f->line, n, f->text);
        else at_text_addf(out, ", first at line %lld", (long long)f->line);
        at_text_add(out, "\n");
    }
}

/* "block_size_x=16, tile=[2, 4]" */
static void add_parameters(at_text *out, const at_config *c) {
    at_arena *a = at_arena_new();
    at_text text = {0};
    const at_json *entity = NULL;
    at_config_print_entity(&text, c);
    if (at_json_parse(a, at_text_str(&text), text.len, &entity, NULL) == AT_OK) {
        const char *comma = "  with ";
        for (const at_json *knob = entity->child; knob; knob = knob->next, comma = ", ") {
            const at_json *name = at_json_at(knob, 0), *value = at_json_at(knob, 2);
            if (!name || !value || name->kind != AT_JSON_STRING) continue;
            at_text_add(out, comma);
            at_text_add_visible(out, name->string);
            at_text_add(out, "=");
            at_text_add_visible(out, at_json_text(a, value));
        }
        if (entity->child) at_text_add(out, "\n");
    }
    at_text_free(&text);
    at_arena_free(a);
}

/* No task is made of records that do not say their template's version. */
static bool is_changed(const at_log_group *g) {
    if (!g->ours || !*g->context.template_hash) return false;
    at_arena *a = at_arena_new();
    at_task *task;
    const bool changed = at_task_of_record(a, g->task, g->args, &task, NULL) == AT_OK &&
                         at_log_group_is_changed(g, at_task_hash(task));
    at_arena_free(a);
    return changed;
}

static void add_group(at_text *out, const at_log_group *g) {
    at_text_add(out, "\n");
    at_text_add_record_task(out, g->task, g->args);
    at_text_add(out, "\n  ");
    at_text_add_visible(out, g->target);
    if (g->ours) {
        at_text_add(out, "; ");
        at_text_add_context(out, &g->context);
    }
    at_text_addf(out, "\n  %lld trial%s, %lld valid", (long long)g->trials, at_plural(g->trials),
                 (long long)g->valid);
    add_count(out, g->anchors, "of the default configuration beside them");
    add_count(out, g->copies, "with the code of another");
    at_text_add(out, "; ");
    at_text_add_span(out, g->first_s, g->last_s);
    at_text_add(out, "; trials took ");
    at_text_add_time(out, g->spent_s);
    at_text_add(out, " together\n");
    if (is_changed(g))
        at_text_add(out,
                    "  of another version of its template: used with --accept-changed alone\n");
    if (g->at_least)
        at_text_addf(out, "  %lld clearly behind, and not timed\n", (long long)g->at_least);
    add_failures(out, g);
    if (!g->best) {
        at_text_addf(out, "  no valid record%s\n",
                     g->valid > g->at_least ? " that is a configuration of its task" : "");
        return;
    }
    const at_record *r = &g->best->record;
    at_text_add(out, "  best: ");
    at_text_add_time(out, at_record_time(r));
    if (at_record_gflops(r) > 0) {
        at_text_add(out, ", ");
        at_text_add_decimals(out, at_record_gflops(r), 2);
        at_text_addf(out, " %s", at_unit_of_speed(r->extra.in_bytes));
    }
    if (at_record_of_peak(r) > 0) {
        at_text_add(out, ", ");
        at_text_add_share(out, at_record_of_peak(r));
        at_text_addf(out, " of the %s", at_name_of_peak(r->extra.in_bytes, r->extra.of_dots));
    }
    if (at_record_final(r)) at_text_add(out, " in its final");
    at_text_add(out, "; ");
    if (r->config.recorded_index >= 0)
        at_text_addf(out, "index %lld, ", (long long)r->config.recorded_index);
    at_text_addf(out, "line %lld", (long long)r->line);
    at_text_addf(out, "; the best so far changed %d time%s\n", g->steps.len,
                 at_plural(g->steps.len));
    add_parameters(out, &r->config);
    if (r->extra.accuracy.is_known) at_text_add(out, "  ");
    at_text_add_accuracy(out, &r->extra.accuracy);
}

static at_status print_text(const char *path, const at_log_summary *s, at_error *err) {
    at_text out = {0};
    add_head(&out, path, s);
    for (int i = 0; i < s->num_groups; i++) add_group(&out, &s->groups[i]);
    return at_print(&out, err);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void out_context(at_out *out, const at_context *c) {
    at_out_begin(out, "context", '{');
    at_out_string(out, "cpu", c->cpu);
    at_out_string(out, "machine", c->machine);
    at_out_string(out, "isa", c->isa);
    at_out_string(out, "compiler", c->compiler);
    at_out_string(out, "packing", c->packing);
    at_out_string(out, "cache", c->cache);
    at_out_string(out, "pattern", c->pattern);
    at_out_string(out, "template", c->template_hash);
    at_out_int(out, "threads", c->threads);
    at_out_end(out, '}');
}

static void out_failures(at_out *out, const at_log_group *g) {
    at_out_begin(out, "failed", '{');
    for (int e = 0; e < AT_NUM_FAILURES; e++) {
        const at_log_failures *f = &g->failures[e];
        if (!f->count) continue;
        at_out_begin(out, at_failure_name(e), '{');
        at_out_int(out, "count", f->count);
        at_out_int(out, "line", f->line);
        at_out_string(out, "text", f->text);
        at_out_end(out, '}');
    }
    at_out_end(out, '}');
}

static void out_best(at_out *out, const at_log_group *g) {
    if (!g->best) {
        at_out_string(out, "best", NULL);
        return;
    }
    const at_record *r = &g->best->record;
    at_out_begin(out, "best", '{');
    at_out_int(out, "index", r->config.recorded_index);
    at_out_entity(out, "entity", &r->config);
    at_out_double(out, "time_ns", at_record_time(r) * 1e9);
    at_out_speed(out, at_record_gflops(r), r->extra.in_bytes);
    if (at_record_of_peak(r) > 0) at_out_double(out, "of_peak", at_record_of_peak(r));
    else at_out_string(out, "of_peak", NULL);
    at_out_string(out, "measured", at_record_final(r) ? "final" : "trial");
    at_out_int(out, "line", r->line);
    at_out_accuracy(out, &r->extra.accuracy);
    at_out_end(out, '}');
}

static void out_group(at_out *out, const at_log_group *g) {
    at_out_begin(out, NULL, '{');
    at_out_string(out, "task", g->task);
    at_out_json(out, "args", g->args);
    at_out_string(out, "target", g->target);
    at_out_string(out, "context_hash", g->ours ? g->context_hash : NULL);
    if (g->ours) out_context(out, &g->context);
    else at_out_string(out, "context", NULL);
    at_out_int(out, "trials", g->trials);
    at_out_int(out, "valid", g->valid);
    at_out_int(out, "anchors", g->anchors);
    at_out_int(out, "copies", g->copies);
    at_out_int(out, "at_least", g->at_least);
    out_failures(out, g);
    at_out_double(out, "first", g->first_s);
    at_out_double(out, "last", g->last_s);
    at_out_double(out, "seconds", g->spent_s);
    out_best(out, g);
    at_out_begin(out, "best_so_far", '[');
    for (int i = 0; i < g->steps.len; i++) {
        at_out_begin(out, NULL, '{');
        at_out_int(out, "trial", g->steps.data[i].trial);
        at_out_int(out, "line", g->steps.data[i].line);
        at_out_double(out, "time_ns", g->steps.data[i].mean_s * 1e9);
        at_out_end(out, '}');
    }
    at_out_end(out, ']');
    at_out_end(out, '}');
}

static at_status print_json(const at_log_summary *s, at_error *err) {
    at_out out = at_out_object();
    at_out_int(&out, "lines", s->stats.lines);
    at_out_int(&out, "records", s->stats.records);
    at_out_int(&out, "old_version", s->stats.old_version);
    at_out_int(&out, "comments", s->stats.comments);
    at_out_int(&out, "blank", s->stats.blank);
    at_out_int(&out, "bad", s->stats.bad);
    if (s->num_groups) {
        at_out_double(&out, "first", s->first_s);
        at_out_double(&out, "last", s->last_s);
    } else {
        at_out_string(&out, "first", NULL);
        at_out_string(&out, "last", NULL);
    }
    at_out_begin(&out, "tasks", '[');
    for (int i = 0; i < s->num_groups; i++) out_group(&out, &s->groups[i]);
    at_out_end(&out, ']');
    return at_out_print(&out, err);
}

/* ---- the verb ------------------------------------------------------------------------------- */

static at_status summarise(const at_options *o, at_arena *a, at_error *err) {
    at_log_summary s;
    /* Records of another version of their template are shown as they are. */
    at_use_counts *uses = at_use_counts_new(a, true);
    at_status status =
        at_log_summarise(a, o->operands[0], at_is_usable, uses, at_warn, NULL, &s, err);
    at_use_counts_end(uses, &o->engine);
    AT_TRY(status);
    return o->json ? print_json(&s, err) : print_text(o->operands[0], &s, err);
}

static at_status split(const at_options *o, at_arena *a, at_error *err) {
    at_log_part *parts;
    int n;
    AT_TRY(at_log_split(a, o->operands[0], o->force, at_warn, NULL, &parts, &n, err));
    if (o->json) {
        at_out out = at_out_object();
        at_out_begin(&out, "parts", '[');
        for (int i = 0; i < n; i++) {
            at_out_begin(&out, NULL, '{');
            at_out_string(&out, "path", parts[i].path);
            at_out_string(&out, "workload", parts[i].workload);
            at_out_int(&out, "records", parts[i].records);
            at_out_end(&out, '}');
        }
        at_out_end(&out, ']');
        return at_out_print(&out, err);
    }
    at_text out = {0};
    for (int i = 0; i < n; i++) {
        at_text_addf(&out, "%s: %lld record%s of ", at_visible(a, parts[i].path),
                     (long long)parts[i].records, at_plural(parts[i].records));
        at_text_add_record_task(&out, parts[i].task, parts[i].args);
        at_text_addf(&out, ", %s\n", at_visible(a, parts[i].target));
    }
    return at_print(&out, err);
}

static at_status check(const at_options *o, at_error *err) {
    if (o->csv + o->split + o->diff > 1)
        return at_fail(err, AT_E_USAGE, "--csv, --split and --diff exclude each other");
    if (o->csv && o->json) return at_fail(err, AT_E_USAGE, "--csv and --json exclude each other");
    if (o->diff && o->num_operands != 2)
        return at_fail(err, AT_E_USAGE, "--diff needs two logs: autotune log A B --diff");
    if (!o->diff && o->num_operands != 1)
        return at_fail(err, AT_E_USAGE, "two logs are compared with --diff");
    return AT_OK;
}

at_status at_cmd_log(const at_options *o, at_error *err) {
    AT_TRY(check(o, err));
    if (o->csv) return at_log_print_csv(o->operands[0], err);
    if (o->diff) return at_log_print_diff(o, err);
    at_arena *a = at_arena_new();
    at_status s = o->split ? split(o, a, err) : summarise(o, a, err);
    at_arena_free(a);
    return s;
}
