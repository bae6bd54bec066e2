/* engine/task/user_template.c: a C file against templates/template.h, through TinyCC. The header is
 * part of this program, so that no source of ours need be there. */
#include "engine/task/user_template.h"

#include <ctype.h>
#include <string.h>

#include "foreign/foreign.h"
#include "runtime/runtime.h"
#include "sketch/sketch.h"

/* Paths are as seen from where the compiler runs, the root of the source tree. */
extern const char at_policy_header_text[], at_template_header_text[];
__asm__(".pushsection .rodata\n"
        ".globl at_policy_header_text\n"
        ".hidden at_policy_header_text\n"
        "at_policy_header_text: .incbin \"knobs/policy.h\"\n"
        ".byte 0\n"
        ".globl at_template_header_text\n"
        ".hidden at_template_header_text\n"
        "at_template_header_text: .incbin \"templates/template.h\"\n"
        ".byte 0\n"
        ".popsection\n");

#define FN(f)                                                                                      \
    { #f, (at_any_fn *)(f) }
static const at_symbol_fn functions[] = {
    FN(at_reorder),      FN(at_annotate),      FN(at_sizes),        FN(at_split_),
    FN(at_option),       FN(at_default),       FN(at_divisor),      FN(at_vectors),
    FN(at_most_rows),    FN(at_evaluate),      FN(at_textf),        FN(at_require),
    FN(at_joint_filter), FN(at_compute_text),  FN(at_layout),       FN(at_schedule_when),
    FN(at_sparse),       FN(at_flops),         FN(at_fitting_rows), FN(at_by_element),
    FN(at_is_typed),     FN(at_argument_type), FN(at_sum_type),     FN(at_typed_output),
};

enum { MOST_FILE_BYTES = 4 << 20 }; /* of a source */
enum { MOST_NAME = 120 };           /* a log's name has an ending besides */

static bool is_computation_file(const char *word) {
    return at_ends_in(word, ".te") || !strcmp(word, "-");
}

bool at_is_template_file(const char *word) {
    return at_ends_in(word, ".c") || at_is_foreign_ending(word) || is_computation_file(word);
}

/* Lines that include our headers become empty, so that line numbers stay. */
static void add_source(at_text *out, const char *text) {
    static const char *const ours[] = {"\"templates/template.h\"", "\"template.h\"",
                                       "\"knobs/policy.h\""};
    while (*text) {
        size_t n = strcspn(text, "\n");
        bool skip = false;
        for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
            const char *found = strstr(text, ours[i]);
            skip |= *text == '#' && found && found < text + n;
        }
        if (!skip) at_text_addn(out, text, n);
        at_text_add(out, "\n");
        text += n + (text[n] == '\n');
    }
}

static const char *symbol_of(at_arena *a, const char *path) {
    char *symbol = at_format(a, "at_%s", at_base_name(path));
    symbol[strlen(symbol) - 2] = 0; /* ".c" */
    for (char *p = symbol; *p; p++)
        if (!isalnum((unsigned char)*p)) *p = '_';
    return symbol;
}

typedef struct unit {
    const char *path, *source, *symbol;
    const at_template_row *row;
} unit;

bool at_is_template_name(const char *name) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-.";
    return !strchr("+-.", *name) && !name[strspn(name, letters)] && strlen(name) <= MOST_NAME;
}

static at_status check_name(const char *path, const char *name, at_error *err) {
    if (at_is_template_name(name)) return AT_OK;
    return at_fail(err, AT_E_INPUT, "%s: its name is \"%.200s\"; %s", path, name,
                   AT_TEMPLATE_NAME_RULE);
}

static at_status check_row(const char *path, const at_template_row *row, at_error *err) {
    if (!row->name || !*row->name || !row->args || !row->record_args || !row->define)
        return at_fail(err, AT_E_INPUT,
                       "%s: its at_template_row needs name, args, record_args and define", path);
    return check_name(path, row->name, err);
}

static at_status compile(unit *u, at_error *err) {
    void *found = NULL;
    if (at_compile_data(u->source, functions, sizeof functions / sizeof *functions, u->symbol,
                        &found, err) != AT_OK) {
        if (err && strstr(err->text, "defines no '"))
            at_fail(err, AT_E_INPUT,
                    "%s: defines no '%s': a template is const at_template_row %s, as its file is "
                    "called",
                    u->path, u->symbol, u->symbol);
        else if (err && strncmp(err->text, u->path, strlen(u->path)) != 0)
            at_fail_at(err, "%s: ", u->path);
        return AT_E_INPUT;
    }
    u->row = found;
    return check_row(u->path, u->row, err);
}

/* With all texts of the row read to their ends. */
static void compile_in_child(void *ctx) {
    unit *u = ctx;
    at_error why = {0};
    volatile size_t length = 0;
    if (compile(u, &why) != AT_OK) {
        /* TinyCC's words. Without a limit it would go on, and take all there is. */
        if (strstr(why.text, "memory full")) at_out_of_memory(0);
        return;
    }
    const char *texts[] = {u->row->record_name, u->row->help, u->row->name, u->row->args,
                           u->row->record_args};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i]) length += strlen(texts[i]);
}

static at_status load(unit *u, at_error *err) {
    int signal_number;
    at_attempt_end end = at_template_attempt(compile_in_child, u, false, &signal_number);
    if (at_template_attempt_fail(end, signal_number, err) != AT_OK) {
        if (err && err->status == AT_E_INPUT) at_fail_at(err, "%s: loading it ", u->path);
        return err ? err->status : AT_E_INPUT;
    }
    return compile(u, err);
}

/* Memory of rows that stay, each in an arena of its own. */
typedef struct kept_row {
    at_arena *arena;
    const struct kept_row *before;
} kept_row;
static const kept_row *kept_rows;

static void keep(at_arena *a) {
    const kept_row row = {a, kept_rows};
    kept_rows = at_copy(a, &row, sizeof row);
}

typedef at_status parse_fn(at_arena *a, const char *path, const char *text, size_t length,
                           const at_template_row **out, at_error *err);

/* The row stays, and what it was read from. */
static at_status load_text(const char *path, parse_fn *parse, const at_template_row **out,
                           at_error *err) {
    at_arena *a = at_arena_new();
    const at_template_row *row = NULL;
    char *text;
    size_t length;
    at_status s = strcmp(path, "-") ? at_read_file(a, path, MOST_FILE_BYTES, &text, &length, err)
                                    : at_read_stdin(a, MOST_FILE_BYTES, &text, &length, err);
    if (s == AT_OK && parse == at_te_parse)
        s = at_te_include(a, path, &text, &length, MOST_FILE_BYTES, err);
    if (s == AT_OK) s = parse(a, path, text, length, &row, err);
    if (s == AT_OK) s = check_name(path, row->name, err);
    const char *own = parse == at_te_parse ? text : NULL; /* a program's text goes nowhere */
    if (s == AT_OK) keep(a), at_template_add(*out = row, path, own, false);
    else at_arena_free(a);
    return s;
}

at_status at_user_computation_add(const char *name, const char *text, at_error *err) {
    at_arena *a = at_arena_new();
    const at_template_row *row = NULL;
    const char *own = at_strdup(a, text);
    at_status s = at_te_parse(a, at_format(a, "%s.te", name), own, strlen(own), &row, err);
    if (s == AT_OK && strcmp(row->name, name) != 0)
        s = at_fail(err, AT_E_INPUT, "%s: no name of a computation", name);
    if (s == AT_OK) keep(a), at_template_add(row, NULL, own, false);
    else at_arena_free(a);
    return s;
}

at_status at_user_command_add(const at_bench_command *c, const at_template_row **out,
                              at_error *err) {
    at_arena *a = at_arena_new();
    at_status s = at_command_parse(a, c, out, err);
    if (s == AT_OK) keep(a), at_template_add(*out, NULL, NULL, false);
    else at_arena_free(a);
    return s;
}

/* What a file of C is; what is neither, whoever wrote it should know. */
static at_status tell_apart(const char *path, const char *text, size_t length, bool *is_kernel,
                            at_error *err) {
    const bool is_template = strstr(text, "at_template_row") || strstr(text, "template.h");
    *is_kernel = at_is_foreign(text, length);
    if (*is_kernel || (!at_is_foreign_ending(path) && is_template)) return AT_OK;
    return at_fail(err, AT_E_INPUT,
                   "%s: neither a kernel, whose first comment begins with the word autotune and "
                   "says what it computes, nor a template (at_template_row); docs/kernels.md and "
                   "docs/templates.md tell of both",
                   path);
}

at_status at_user_template_load(const char *path, const at_template_row **out, at_error *err) {
    if (is_computation_file(path)) return load_text(path, at_te_parse, out, err);
    at_arena *a = at_arena_new();
    char *text;
    size_t length;
    at_text source = {0};
    bool is_kernel = false;
    at_status s = at_read_file(a, path, MOST_FILE_BYTES, &text, &length, err);
    if (s == AT_OK) s = tell_apart(path, text, length, &is_kernel, err);
    if (s == AT_OK && is_kernel) s = load_text(path, at_foreign_parse, out, err);
    else if (s == AT_OK) {
        unit u = {.path = path, .symbol = symbol_of(a, path)};
        add_source(&source, at_policy_header_text);
        add_source(&source, at_template_header_text);
        at_text_add(&source, "#line 1 ");
        at_text_add_c_string(&source, path);
        at_text_add(&source, "\n");
        add_source(&source, text);
        u.source = at_text_str(&source);
        s = load(&u, err);
        if (s == AT_OK) at_template_add(*out = u.row, path, NULL, true);
    }
    at_text_free(&source);
    at_arena_free(a);
    return s;
}
