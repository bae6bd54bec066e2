/* cli/reproduce.c: a trial once more, and its texts as files. */
#include "cli/reproduce.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/describe.h"
#include "cli/network.h"

/* ---- the command ---------------------------------------------------------------------------- */

static bool is_among(const char *const *names, const char *name) {
    for (int i = 0; names[i]; i++)
        if (!strcmp(names[i], name)) return true;
    return false;
}

/* Options that say which configuration, or how this program talks; those that the template's words
 * and the session say; of the parts of a network those that are the network's. */
static bool is_left_out(const at_options *o, const char *name) {
    static const char *const always[] = {"--log",  "--line",    "--config", "--index", "--sketch",
                                         "--keep", "--json",    "--color",  "--quiet", "--debug",
                                         "--help", "--verbose", "--fuse",   "--cache", NULL};
    static const char *const of_network[] = {"--dim", "--set", "--until", "--max-error", NULL};
    return is_among(always, name) || (at_is_network(o) && is_among(of_network, name));
}

typedef struct wanted {
    const at_session *of;
    int64_t index;
} wanted;

static bool is_wanted(void *ctx, const at_record *r) {
    const wanted *w = ctx;
    const at_task *task = w->of->what.task;
    return r->config.recorded_index == w->index &&
           at_same_task(r->task, r->args, at_task_record_name(task), at_task_args(task)) &&
           !strcmp(r->extra.context_hash, w->of->how.context_hash);
}

/* 0: the log holds none. */
static int64_t last_line(at_session *s, const char *log, int64_t index) {
    wanted w = {s, index};
    at_record *found;
    int n;
    const at_status read =
        at_log_read_wanted(s->scratch, log, is_wanted, &w, NULL, NULL, &found, &n, NULL, NULL);
    return read == AT_OK && n ? found[n - 1].line : 0;
}

static void add_options(at_text *out, const at_options *o, const at_session *s) {
    for (int i = 0; i < at_option_count(); i++) {
        const at_option_row *row = at_option_at(i);
        if (!(row->verbs >> AT_VERB_RUN & 1) || is_left_out(o, row->name)) continue;
        const char *value = at_option_text(o, i);
        if (row->argument && !value) continue;
        if (!row->argument && !o->given[i]) continue;
        at_text_addf(out, " %s", row->name);
        if (row->argument) at_text_add_word(out, value);
    }
    if (s->options.cache != AT_CACHE_HOT)
        at_text_addf(out, " --cache %s", at_cache_name(s->options.cache));
}

void at_text_add_command(at_text *out, const at_options *o, at_session *s, int64_t index,
                         const char *log, int64_t line) {
    at_config config;
    if (at_is_command(s)) {
        if (at_config_at(s->scratch, s->what.space, index, &config, NULL) == AT_OK)
            at_text_add_command_words(out, s, &config);
        return;
    }
    if (!log || !at_template_has_no_file(s->what.row)) line = 0;
    else if (!line) line = last_line(s, log, index);
    at_text_add(out, "autotune run");
    at_template_add_words(out, s->what.row, line);
    add_options(out, o, s);
    if (line) {
        at_text_add(out, " --log");
        at_text_add_word(out, log);
        at_text_addf(out, " --line %lld", (long long)line);
    } else if (!o->request.steps) at_text_addf(out, " --index %lld", (long long)index);
    at_text_add(out, " --keep");
}

/* ---- the folder ----------------------------------------------------------------------------- */

static at_status write_text(at_session *s, const char *folder, const char *name, const char *text,
                            at_error *err) {
    if (!*text) return AT_OK;
    return at_write_file(at_format(s->arena, "%s/%s", folder, name), text, strlen(text), err);
}

static at_status keep_result(at_session *s, const at_options *o, const char *folder,
                             const at_record *r, at_error *err) {
    at_text text = {0};
    at_text_add_task(&text, s);
    at_text_add(&text, "\n");
    at_text_add_context(&text, &s->how.context);
    at_text_add(&text, "\n");
    at_config_print_json(&text, &s->what.chosen.config);
    at_text_add(&text, "\n\n");
    if (r->error_no) at_text_addf(&text, "%s: %s\n", at_err_no_name(r->error_no), r->extra.error);
    else
        at_text_addf(&text, "valid: %.2f %s\n", r->extra.gflops,
                     at_unit_of_speed(s->what.in_bytes));
    if (s->what.chosen.config.index >= 0) {
        at_text_add(&text, "\n");
        at_text_add_command(&text, o, s, s->what.chosen.config.index, o->request.log,
                            s->what.chosen.record ? s->what.chosen.record->line : 0);
        at_text_add(&text, "\n");
    }
    at_status status = write_text(s, folder, "result.txt", at_text_str(&text), err);
    if (status == AT_OK) {
        at_text_clear(&text);
        at_config_print_json(&text, &s->what.chosen.config);
        at_text_add(&text, "\n");
        status = write_text(s, folder, "config.json", at_text_str(&text), err);
    }
    at_text_free(&text);
    return status;
}

/* As far as lowering comes. */
static at_status keep_passes(at_session *s, const char *folder, at_error *err) {
    at_status status = AT_OK;
    for (int i = 0; at_pass_names[i] && status == AT_OK; i++) {
        at_candidate c;
        at_error why;
        at_text dump = {0};
        at_lower_options lo = at_session_lower_options(s, "kernel");
        lo.dump = at_pass_names[i];
        lo.dump_out = &dump;
        (void)at_candidate_lower(s, s->arena, &s->what.chosen.config, &lo, &c, &why);
        status = write_text(s, folder, at_format(s->arena, "%d-%s.txt", i + 1, at_pass_names[i]),
                            at_text_str(&dump), err);
        at_text_free(&dump);
    }
    return status;
}

static at_status keep_code(at_session *s, const char *folder, at_error *err) {
    at_candidate c;
    at_error why;
    at_text text = {0};
    at_program *written = NULL;
    at_lower_options lo = at_session_lower_options(s, "kernel");
    at_status lowered = at_candidate_lower(s, s->arena, &s->what.chosen.config, &lo, &c, &why);
    if (c.program) {
        at_print_program(&text, s->what.task, &s->what.chosen.config, c.program);
        AT_TRY(write_text(s, folder, "tree.txt", at_text_str(&text), err));
        at_text_clear(&text);
    }
    at_status status = AT_OK;
    if (lowered == AT_OK)
        lowered = at_task_written(s->arena, s->what.task, c.program->compute, &written, &why);
    if (lowered == AT_OK) {
        at_file_kernel k = {.program = c.program,
                            .written = written,
                            .kernel = c.kernel,
                            .name = lo.name,
                            .head = "as it was measured",
                            .flops = s->what.flops,
                            .pattern = at_session_file_pattern(s)};
        at_file_options fo = {.with_main = true, .abi = AT_ABI_BLOCKED};
        status = write_text(s, folder, "kernel.c", c.kernel->source, err);
        if (status == AT_OK && at_emit_file(s->arena, &k, 1, &fo, &text, NULL, &why) == AT_OK)
            status = write_text(s, folder, "program.c", at_text_str(&text), err);
    }
    at_text_free(&text);
    return status;
}

at_status at_keep(at_session *s, const at_options *o, const at_record *r, const char **folder,
                  at_error *err) {
    int64_t index = s->what.chosen.config.index;
    *folder = index >= 0 ? at_format(s->arena, "%s-%lld", s->what.row->name, (long long)index)
                         : at_format(s->arena, "%s-config", s->what.row->name);
    if (mkdir(*folder, 0777) && errno != EEXIST)
        return at_fail(err, AT_E_OUTPUT, "--keep: cannot make %s: %s", *folder, strerror(errno));
    AT_TRY(keep_result(s, o, *folder, r, err));
    AT_TRY(keep_passes(s, *folder, err));
    return keep_code(s, *folder, err);
}
