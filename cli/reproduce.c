/* cli/reproduce.c: a trial once more, and its texts as files. */
#include "cli/reproduce.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/describe.h"

/* ---- the command ---------------------------------------------------------------------------- */

/* Options that say which configuration, or how this program talks. */
static bool is_left_out(const char *name) {
    static const char *const names[] = {"--log",  "--line",    "--config", "--index", "--sketch",
                                        "--keep", "--json",    "--color",  "--quiet", "--debug",
                                        "--help", "--verbose", NULL};
    for (int i = 0; names[i]; i++)
        if (!strcmp(names[i], name)) return true;
    return false;
}

void at_text_add_command(at_text *out, const at_options *o, at_session *s, int64_t index) {
    at_config config;
    if (at_is_command(s)) {
        if (at_config_at(s->scratch, s->what.space, index, &config, NULL) == AT_OK)
            at_text_add_command_words(out, s, &config);
        return;
    }
    at_text_add(out, "autotune run");
    at_text_add_word(out, o->template_file ? o->template_file : s->what.row->name);
    for (int i = 0; i < at_option_count(); i++) {
        const at_option_row *row = at_option_at(i);
        if (!(row->verbs >> AT_VERB_RUN & 1) || is_left_out(row->name)) continue;
        if (!strcmp(row->name, "--fuse") && !o->template_file) continue; /* the name says so */
        const char *value = at_option_text(o, i);
        if (row->argument && !value) continue;
        if (!row->argument && !o->given[i]) continue;
        at_text_addf(out, " %s", row->name);
        if (row->argument) at_text_add_word(out, value);
    }
    if (!o->request.steps) at_text_addf(out, " --index %lld", (long long)index);
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
        at_text_add_command(&text, o, s, s->what.chosen.config.index);
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
    if (lowered == AT_OK && c.program->compute != at_task_compute(s->what.task))
        lowered = at_task_written(s->arena, s->what.task, &written, &why);
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
