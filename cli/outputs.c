/* cli/outputs.c: what may be written to. The table of options tells which files a verb reads. */
#include "cli/outputs.h"

#include "cli/json_out.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "sketch/schedulable.h"

/* ---- not over an input ----------------------------------------------------------------------- */

const char *at_header_path(at_arena *a, const char *output) {
    static const char *const endings[] = {".c", ".cc", ".cpp", ".cxx"};
    const char *ending = output ? strrchr(output, '.') : NULL;
    if (!ending || ending == output || ending[-1] == '/') return NULL;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (!strcmp(ending, endings[i]))
            return at_format(a, "%.*s.h", (int)(ending - output), output);
    return NULL;
}

typedef struct check {
    const char *outputs[2]; /* NULL: none */
    const char *option;     /* that names the first */
    at_error *err;
} check;

at_status at_check_not_read(const char *option, const char *output, const char *input,
                            at_error *err) {
    if (!input || !at_same_file(output, input)) return AT_OK;
    return at_fail(err, AT_E_USAGE, "%s %s: %s is read, and would be written to; name another file",
                   option, output, input);
}

static at_status take_input(const check *c, const char *input) {
    for (int i = 0; i < 2; i++)
        if (c->outputs[i]) AT_TRY(at_check_not_read(c->option, c->outputs[i], input, c->err));
    return AT_OK;
}

static bool reads_files(at_verb v) {
    const char *operands = at_verb_at(v)->operands;
    return !strncmp(operands, "LOG", 3) || !strncmp(operands, "FILE", 4);
}

static at_status check_inputs(const at_options *o, const check *c) {
    for (int i = 0; reads_files(o->verb) && i < o->num_operands; i++)
        AT_TRY(take_input(c, o->operands[i]));
    for (int i = 0; i < o->num_template_files; i++) AT_TRY(take_input(c, o->template_files[i]));
    for (int i = 0; i < at_option_count(); i++) {
        const at_option_row *row = at_option_at(i);
        if (at_option_takes_file(row) && strcmp(row->name, "--output") != 0 &&
            strcmp(row->name, c->option) != 0)
            AT_TRY(take_input(c, at_option_text(o, i)));
    }
    for (int i = 0; i < o->transfer.num; i++) AT_TRY(take_input(c, o->transfer.items[i]));
    return AT_OK;
}

at_status at_check_outputs(const at_options *o, at_error *err) {
    at_arena *a = at_arena_new();
    check c = {{o->verb == AT_VERB_RUN ? NULL : o->output}, "--output", err};
    if (o->output && o->verb == AT_VERB_APPLY) c.outputs[1] = at_header_path(a, o->output);
    /* A run may go on with the log it learns from. */
    if (o->verb == AT_VERB_VERIFY) c = (check){{o->log}, "--log", err};
    at_status s = c.outputs[0] ? check_inputs(o, &c) : AT_OK;
    for (int i = 0; i < 2 && s == AT_OK; i++)
        if (c.outputs[i] && strcmp(c.outputs[i], "-") != 0) s = at_check_folder(c.outputs[i], err);
    at_arena_free(a);
    return s;
}

/* ---- only over its like ---------------------------------------------------------------------- */

static bool is_c_of_ours(const char *head, size_t len) {
    (void)len;
    return strstr(head, "written by autotune ") != NULL;
}

static bool is_template_of_ours(const char *head, size_t len) {
    (void)len;
    return at_schedulable_is_printed(head);
}

/* A kernel stands behind its head, and is somebody's work. */
static bool is_nothing(const char *head, size_t len) {
    (void)head;
    return !len;
}

static bool is_report(const char *head, size_t len) {
    (void)len;
    return strstr(head, "<title>autotune: ") != NULL;
}

static bool is_of_another_tuner(const char *head, size_t len) {
    return at_file_format_of_head(head, len) != NULL;
}

static bool is_png(const char *head, size_t len) {
    return len >= 8 && !memcmp(head, "\x89PNG\r\n\x1a\n", 8);
}

static bool is_svg(const char *head, size_t len) {
    (void)len;
    return *head == '<' && strstr(head, "<svg");
}

static bool is_pdf(const char *head, size_t len) { return len >= 5 && !memcmp(head, "%PDF-", 5); }

/* word: of convert, what to; of plot, the ending of a picture. */
static const struct {
    at_verb verb;
    const char *word, *kind;
    bool (*is_kind)(const char *head, size_t len);
} kinds[] = {
    {AT_VERB_APPLY, NULL, "C file that apply wrote", is_c_of_ours},
    {AT_VERB_DERIVE, NULL, "template as autotune wrote it", is_template_of_ours},
    {AT_VERB_SHOW, NULL, "template as autotune wrote it", is_template_of_ours},
    {AT_VERB_REPORT, NULL, "page that report wrote", is_report},
    {AT_VERB_CONVERT, "log", "log", at_is_log_head},
    {AT_VERB_CONVERT, "template", "template as autotune wrote it", is_template_of_ours},
    {AT_VERB_CONVERT, "space", "recorded space", at_is_space_head},
    {AT_VERB_CONVERT, "head", "empty file", is_nothing},
    {AT_VERB_PLOT, ".png", "PNG picture", is_png},
    {AT_VERB_PLOT, ".svg", "SVG picture", is_svg},
    {AT_VERB_PLOT, ".pdf", "PDF document", is_pdf},
    {AT_VERB_MACHINE, NULL, "SVG picture", is_svg},
};

static bool ends_in(const char *path, const char *ending) {
    size_t n = strlen(path), m = strlen(ending);
    return n >= m && !strcasecmp(path + n - m, ending);
}

at_status at_check_name(const at_options *o, at_error *err) {
    const char *fault = o->name ? at_c_name_fault(o->name) : NULL;
    if (!fault) return AT_OK;
    return at_fail(err, AT_E_USAGE, "--name %s: %s", *o->name ? o->name : "\"\"", fault);
}

at_force at_force_of(const at_options *o) { return o->force ? AT_FORCE_YES : AT_FORCE_OFFERED; }

at_output_rules at_rules_of_output(const at_options *o) {
    const at_file_format *format = o->verb == AT_VERB_CONVERT ? at_file_format_find(o->to) : NULL;
    if (format && format->is)
        return (at_output_rules){.kind = "file of another tuner",
                                 .is_kind = is_of_another_tuner,
                                 .force = at_force_of(o)};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].verb != o->verb) continue;
        if (o->verb == AT_VERB_CONVERT && strcmp(kinds[i].word, o->to) != 0) continue;
        if (o->verb == AT_VERB_PLOT && !ends_in(o->output, kinds[i].word)) continue;
        return (at_output_rules){
            .kind = kinds[i].kind, .is_kind = kinds[i].is_kind, .force = at_force_of(o)};
    }
    AT_BUG("%s writes no file", at_verb_at(o->verb)->name);
}

/* ---- nowhere else ---------------------------------------------------------------------------- */

enum { MOST_FOLDERS = 8 };

/* Where the file lies that the name leads to. */
static const char *folder_of(at_arena *a, const char *path) {
    char real[PATH_MAX];
    const char *file = realpath(path, real) ? real : path, *slash = strrchr(file, '/');
    if (!slash) return ".";
    return slash == file ? "/" : at_strndup(a, file, (size_t)(slash - file));
}

/* It must be there to be allowed: verbs that measure keep the machine's speeds in it. */
static const char *made_cache_folder(at_arena *a, at_verb v) {
    const char *folder = at_cache_folder(a);
    const bool measures =
        v == AT_VERB_TUNE || v == AT_VERB_RUN || v == AT_VERB_VERIFY || v == AT_VERB_MACHINE;
    if (folder && measures) at_make_folder(at_format(a, "%s/", folder), NULL);
    return folder;
}

void at_limit_outputs(const at_options *o) {
    const char *folders[MOST_FOLDERS] = {".", "/dev", "/proc"};
    int n = 3;
    if (o->on.num || o->verb == AT_VERB_AGENT || o->verb == AT_VERB_WORK ||
        o->verb == AT_VERB_WORKERS)
        return;
    at_arena *a = at_arena_new();
    const char *tmp = getenv("TMPDIR"), *cache = made_cache_folder(a, o->verb);
    folders[n++] = tmp && *tmp ? tmp : "/tmp";
    if (cache) folders[n++] = cache;
    if (o->output) folders[n++] = folder_of(a, o->output);
    if (o->log) folders[n++] = folder_of(a, o->log);
    if (o->verb == AT_VERB_LOG && o->num_operands) folders[n++] = folder_of(a, o->operands[0]);
    at_limit_writes(folders, n);
    at_arena_free(a);
}

/* ---- a page of report ------------------------------------------------------------------------ */

static at_status print_page_json(const char *output, int num_tasks, const at_text *page,
                                 at_error *err) {
    at_out out = at_out_object();
    at_out_int(&out, "tasks", num_tasks);
    at_out_string(&out, "output", output);
    at_out_string(&out, "html", output ? NULL : at_text_str(page));
    return at_out_print(&out, err);
}

static at_status write_page(const at_options *o, int num, const char *of, const char *output,
                            at_text *page, at_error *err) {
    at_text told = {0};
    if (!strcmp(output, "-")) output = NULL; /* standard output */
    if (output) {
        at_output_rules rules = at_rules_of_output(o);
        AT_TRY(at_write_output(output, &rules, at_text_str(page), page->len, err));
    }
    if (o->json) return print_page_json(output, num, page, err);
    if (!output) return at_print(page, err);
    at_text_addf(&told, "%d %s%s written to ", num, of, at_plural(num));
    at_text_add_visible(&told, output);
    at_text_add(&told, "\n");
    return at_print(&told, err);
}

at_status at_report_write(const at_options *o, int num, const char *of, const char *reported,
                          at_text *page, at_error *err) {
    at_arena *a = at_arena_new();
    const char *output = o->output ? o->output : at_format(a, "%s.html", at_base_name(reported));
    const at_status s = write_page(o, num, of, output, page, err);
    at_arena_free(a);
    return s;
}
