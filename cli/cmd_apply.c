/* cli/cmd_apply.c: one configuration as C that anyone can compile: a .c file and beside it its
 * header; or the best of every task of a log (apply_set.c). */
#include <string.h>
#include <sys/stat.h>

#include "cli/apply_kernel.h"
#include "cli/commands.h"
#include "cli/describe.h"
#include "cli/open.h"

/* A device or a pipe has no name that tells what it is, and no header beside it. */
static bool is_device(const char *path) {
    struct stat st;
    return !strncmp(path, "/dev/", 5) || (stat(path, &st) == 0 && !S_ISREG(st.st_mode));
}

static void warn_of_no_header(const char *path) {
    at_text text = {0};
    at_text_addf(&text, "%s: no header goes beside it, as one does beside a file that ends in .c",
                 path);
    at_warn(NULL, at_text_str(&text));
    at_text_free(&text);
}

/* The source includes its header by this name. */
static at_status check_output(const char *path, at_error *err) {
    const char *name = at_base_name(path);
    if (at_ends_in(path, ".h"))
        return at_fail(err, AT_E_USAGE, "-o %s: name the .c file; its header is written beside it",
                       path);
    if (!at_ends_in(path, ".c") && !at_is_foreign_ending(path) && !is_device(path))
        warn_of_no_header(path);
    bool bad = strpbrk(name, "\"\\") || strstr(name, "??");
    for (const char *s = name; *s; s++) bad |= (unsigned char)*s < ' ' || *s == 127;
    if (!bad || !at_ends_in(path, ".c")) return AT_OK;
    return at_fail(err, AT_E_USAGE,
                   "-o %s: a header cannot be included by this name; leave out \", \\, ?? and "
                   "control characters",
                   path);
}

/* A kernel that somebody wrote, as it is. */
static at_status apply_foreign(at_session *s, at_text *source, const at_options *o, at_error *err) {
    const char *path = at_header_path(s->arena, o->output);
    at_text header = {0};
    AT_TRY(at_foreign_check_output(at_foreign_of(s->what.task), o->output, err));
    AT_TRY(at_session_context(s, false, err));
    at_status status = at_foreign_print_file(
        s->arena, s->what.task, &s->what.chosen.config, at_apply_head(s, s->what.chosen.from),
        path ? at_base_name(path) : NULL, source, &header, err);
    if (status == AT_OK) status = at_apply_write(s->arena, o, source, &header, err);
    at_text_free(&header);
    return status;
}

/* Of a main whose kernel is C++ or Fortran: the kernel, beside it. */
static at_status write_main_part(at_session *s, const at_options *o, const char *name,
                                 at_error *err) {
    const at_foreign *f = at_foreign_of(s->what.task);
    if (!f || f->language == AT_LANGUAGE_C) return AT_OK;
    const char *path = at_format(s->arena, "%.*s_kernel%s", (int)strlen(o->output) - 2, o->output,
                                 at_foreign_ending(f));
    at_output_rules rules = at_rules_of_output(o);
    at_text text = {0};
    at_output *file = NULL;
    at_status status =
        at_foreign_main_part(s->arena, s->what.task, &s->what.chosen.config,
                             at_apply_head(s, s->what.chosen.from), name, &text, err);
    if (status == AT_OK) status = at_output_open(path, &rules, &file, err);
    if (status == AT_OK) status = at_output_add(file, at_text_str(&text), text.len, err);
    if (status == AT_OK) status = at_output_commit(&file, 1, err);
    at_output_close(file);
    at_text_free(&text);
    return status;
}

/* A main is C; a kernel that is not gets a file of its own. */
static at_status check_main_output(const at_session *s, const at_options *o, at_error *err) {
    const at_foreign *f = at_foreign_of(s->what.task);
    if (!f || f->language == AT_LANGUAGE_C || (o->output && at_ends_in(o->output, ".c")))
        return AT_OK;
    return at_fail(err, AT_E_USAGE,
                   "--main: a main is C, and %s is not: name a file that ends in .c, as in -o "
                   "check.c; the kernel goes beside it, into check_kernel%s",
                   f->path, at_foreign_ending(f));
}

static at_status apply_one(at_session *s, at_text *source, const at_options *o, at_error *err) {
    at_file_kernel kernel = {0};
    AT_TRY(at_open_config(o, true, s, err));
    const bool as_it_is = at_task_foreign(s->what.task) && !o->with_main;
    if (as_it_is) AT_TRY(apply_foreign(s, source, o, err));
    if (as_it_is && !o->json) return AT_OK;
    if (!as_it_is) {
        AT_TRY(check_main_output(s, o, err));
        AT_TRY(at_apply_make(s, o->name, &kernel, err));
        AT_TRY(at_apply_emit(s->arena, o, &kernel, 1, NULL, source, err));
        AT_TRY(write_main_part(s, o, kernel.name, err));
    }
    if (!o->json) return AT_OK;

    at_out out = at_out_object();
    at_out_task(&out, s);
    at_out_config(&out, &s->what.chosen.config);
    at_out_string(&out, "name", as_it_is ? s->what.row->name : kernel.name);
    at_apply_out_files(s->arena, &out, o, source);
    return at_out_print(&out, err);
}

static at_status check_of_all(const at_options *o, at_error *err) {
    static const char *const of_all[] = {"--fallback", "--isas"};
    for (size_t i = 0; i < sizeof of_all / sizeof *of_all; i++)
        if (o->num_operands && at_given(o, of_all[i]))
            return at_fail(err, AT_E_USAGE,
                           "%s is for all kernels of a log: autotune apply --log LOG %s ...",
                           of_all[i], of_all[i]);
    return AT_OK;
}

at_status at_cmd_apply(const at_options *o, at_error *err) {
    at_text source = {0};
    at_status status = at_check_name(o, err);
    if (status == AT_OK && o->output) status = check_output(o->output, err);
    if (status == AT_OK) status = check_of_all(o, err);
    if (status != AT_OK) return status;
    if (o->num_operands) {
        at_session s = {0};
        status = apply_one(&s, &source, o, err);
        at_session_close(&s);
    } else status = at_apply_set(&source, o, err);
    at_text_free(&source);
    return status;
}
