/* foreign/kernel_row.c: a kernel's file as a template: its head is read, and declared to whoever
 * defines a task. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "foreign/foreign_int.h"

#define WORKSPACE "at_workspace_bytes" /* a size of ours */

enum { MOST_ARGS = 64 };

/* ---- args, sizes and single words ------------------------------------------------------------ */

static at_status args_item(at_head *h, const at_head_item *x, at_error *err) {
    at_lex l;
    AT_TRY(at_head_start(h, x, &l, err));
    while (l.kind != AT_TOK_END) {
        if (l.kind != AT_TOK_NAME) return at_lex_fail(&l, err, "expected an argument's name");
        const char *name = at_strndup(h->arena, l.start, (size_t)l.length);
        AT_TRY(at_lex_next(&l, err));
        AT_TRY(at_lex_expect(&l, "=", err));
        if (l.kind != AT_TOK_INT || l.integer < 1 || l.integer > AT_LARGEST_ARG)
            return at_lex_fail(&l, err, "expected a whole number from 1 to 2^53");
        at_text_addf(&h->args, "%s%s=%lld", h->args.len ? ", " : "", name, (long long)l.integer);
        at_text_addf(&h->names, "%s%s", h->names.len ? ", " : "", name);
        AT_TRY(at_lex_next(&l, err));
        if (at_lex_is(&l, ",")) AT_TRY(at_lex_next(&l, err));
    }
    return AT_OK;
}

/* An expression, of which only the form is looked at now. */
static at_status check_expr(at_head *h, const at_head_item *x, at_error *err) {
    at_lex l;
    at_expr *e;
    AT_TRY(at_head_start(h, x, &l, err));
    AT_TRY(at_expr_parse(h->arena, &l, &e, err));
    if (l.kind != AT_TOK_END)
        return at_lex_fail(&l, err, "expected an operator or the end of the line");
    return AT_OK;
}

static at_status one_word(at_head *h, const at_head_item *x, const char *what, const char **out,
                          at_error *err) {
    const char *p = x->text + strspn(x->text, " \t\r\n");
    size_t n = strcspn(p, " \t\r\n");
    if (!n || p[n + strspn(p + n, " \t\r\n")])
        return at_fail(err, AT_E_INPUT, "%s:%d: expected %s", h->pub.path, x->line, what);
    *out = at_strndup(h->arena, p, n);
    return AT_OK;
}

static at_status limit_item(at_head *h, const at_head_item *x, at_error *err) {
    at_lex l;
    AT_TRY(at_head_start(h, x, &l, err));
    if ((l.kind != AT_TOK_FLOAT && l.kind != AT_TOK_INT) || !(l.number >= 0) || l.number > 1)
        return at_lex_fail(&l, err, "expected a number from 0 to 1: limit 1e-5");
    h->pub.limit = l.number;
    AT_TRY(at_lex_next(&l, err));
    return l.kind == AT_TOK_END ? AT_OK : at_lex_fail(&l, err, "expected the end of the line");
}

static at_status take_item(at_head *h, const at_head_item *x, at_error *err) {
    switch (x->word) {
    case HEAD_ARGS: return args_item(h, x, err);
    case HEAD_KNOB:
    case HEAD_SPLIT:
    case HEAD_ORDER: return at_head_knob_item(h, x, err);
    case HEAD_REQUIRE:
    case HEAD_WORKSPACE:
    case HEAD_OPERATIONS: return check_expr(h, x, err);
    case HEAD_DEFAULT: return at_head_default_item(h, x, err);
    case HEAD_COMPILER:
        return one_word(h, x, "a compiler: gcc, clang, tcc, g++, gfortran, or a path",
                        &h->pub.compiler, err);
    case HEAD_FLAGS: return at_head_flags_item(h, x, err);
    case HEAD_CALL: return at_head_call_item(h, x, err);
    case HEAD_DATA: return at_head_data_item(h, x, err);
    case HEAD_REFERENCE: return one_word(h, x, "a function of this file", &h->pub.reference, err);
    case HEAD_LIMIT: return limit_item(h, x, err);
    case HEAD_UNCHECKED: h->pub.unchecked = true; return AT_OK;
    case HEAD_COMPUTE: return at_head_tensors(h, x, err);
    case HEAD_SIZES:
    case HEAD_WORDS: return AT_OK;
    }
    AT_BUG("word %d of a head", x->word);
}

/* ---- what must be there ---------------------------------------------------------------------- */

static const at_head_item *item(const at_head *h, at_head_word word) {
    for (int i = 0; i < h->items.len; i++)
        if (h->items.data[i].word == word) return &h->items.data[i];
    return NULL;
}

static at_status check_head(const at_head *h, at_error *err) {
    const at_foreign *f = &h->pub;
    static const at_head_word once[] = {HEAD_COMPILER, HEAD_WORKSPACE, HEAD_OPERATIONS,
                                        HEAD_REFERENCE, HEAD_LIMIT};
    for (size_t w = 0; w < sizeof once / sizeof *once; w++)
        for (int i = 0, n = 0; i < h->items.len; i++)
            if (h->items.data[i].word == once[w] && n++)
                return at_fail(err, AT_E_INPUT, "%s:%d: said a second time", f->path,
                               h->items.data[i].line);
    if (!h->call.function)
        return at_fail(err, AT_E_INPUT,
                       "%s: its head has no line \"call\", which says how the kernel is called: "
                       "call void matmul(const float *a, float *c, int N)",
                       f->path);
    AT_TRY(at_head_check_fortran(h, err));
    if (!h->outputs.len) {
        if (!f->reference && !f->unchecked) return AT_OK;
        return at_fail(err, AT_E_INPUT, "%s: \"%s\" beside a computation, which says what is right",
                       f->path, f->reference ? "reference" : "unchecked");
    }
    if (!item(h, HEAD_OPERATIONS))
        return at_fail(err, AT_E_INPUT,
                       "%s: without a computation its head has a line \"operations\", what a run "
                       "does: operations 2*N*M",
                       f->path);
    return AT_OK;
}

/* ---- the row --------------------------------------------------------------------------------- */

static void declare_knob(at_template *t, const at_head *h, const at_head_knob *k) {
    at_arena *a = h->arena;
    at_text parts = {0};
    switch (k->kind) {
    case HEAD_OPTION: at_option(t, k->name, k->values, k->fallback); break;
    case HEAD_PARTS:
        for (int i = 0; i < k->parts; i++)
            at_text_addf(&parts, "%s%s_%d", i ? " " : "", k->name, i);
        at_split(t, k->name, k->axis, at_text_take(a, &parts), .policy = AT_FACTORS);
        break;
    case HEAD_PERMUTATION:
        at_reorder(t, k->name, at_format(a, "%s_order", k->name), k->parts, "all");
        break;
    }
    at_template_stands_at(t, h->pub.path, k->line);
}

static void define(at_template *t) {
    const at_head *h = (const at_head *)at_template_row_of(t);
    at_template_foreign(t, h);
    at_template_add_hash(t, h->pub.hash);
    for (int i = 0; i < h->items.len; i++) {
        const at_head_item *x = &h->items.data[i];
        if (x->word == HEAD_SIZES) at_sizes(t, x->text);
        at_template_stands_at(t, h->pub.path, x->line);
    }
    for (int i = 0; i < h->knobs.len; i++) declare_knob(t, h, &h->knobs.data[i]);
    for (int i = 0; i < h->items.len; i++) {
        const at_head_item *x = &h->items.data[i];
        if (x->word == HEAD_WORKSPACE) at_sizes(t, at_format(h->arena, WORKSPACE " = %s", x->text));
        if (x->word == HEAD_OPERATIONS) at_flops(t, x->text);
        if (x->word == HEAD_REQUIRE) at_knob_require(t, NULL, x->text, h->pub.path);
        at_template_stands_at(t, h->pub.path, x->line);
    }
    for (int i = 0; i < h->knobs.len; i++)
        if (h->knobs.data[i].condition)
            at_knob_require(t, h->knobs.data[i].name, h->knobs.data[i].condition, h->pub.path);
    at_compute_text(t, h->compute);
    if (h->compute_source) at_template_compute_stands(t, h->pub.path, h->compute_source);
}

static void defaults(at_template *t, int lanes) {
    const at_head *h = (const at_head *)at_template_row_of(t);
    (void)lanes;
    for (int i = 0; i < h->knobs.len; i++)
        if (h->knobs.data[i].has_default)
            at_default(t, h->knobs.data[i].name, h->knobs.data[i].default_);
}

static const struct {
    const char *ending;
    at_language language;
} endings[] = {{".c", AT_LANGUAGE_C},         {".cc", AT_LANGUAGE_CXX},
               {".cpp", AT_LANGUAGE_CXX},     {".cxx", AT_LANGUAGE_CXX},
               {".f90", AT_LANGUAGE_FORTRAN}, {".F90", AT_LANGUAGE_FORTRAN},
               {".f95", AT_LANGUAGE_FORTRAN}, {".f03", AT_LANGUAGE_FORTRAN}};
enum { NUM_ENDINGS = sizeof endings / sizeof *endings };

static int ending_of(const char *path) {
    for (int i = 0; i < NUM_ENDINGS; i++)
        if (at_ends_in(path, endings[i].ending)) return i;
    return -1;
}

bool at_is_foreign_ending(const char *path) { return ending_of(path) > 0; }

const char *at_foreign_ending(const at_foreign *f) {
    int ending = ending_of(f->path);
    return endings[ending < 0 ? 0 : ending].ending;
}

at_status at_foreign_check_output(const at_foreign *f, const char *output, at_error *err) {
    static const char *const languages[] = {"C", "C++", "Fortran"};
    int ending = output ? ending_of(output) : -1;
    if (ending < 0 || endings[ending].language == f->language) return AT_OK;
    return at_fail(err, AT_E_USAGE, "--output %s: %s is %s; name a file that ends in %s", output,
                   f->path, languages[f->language], at_foreign_ending(f));
}

static void name_row(at_head *h) {
    const char *name = at_base_name(h->pub.path);
    int ending = ending_of(name);
    size_t n = strlen(name) - (ending < 0 ? 0 : strlen(endings[ending].ending));
    h->pub.language = ending < 0 ? AT_LANGUAGE_C : endings[ending].language;
    h->row = (at_template_row){.name = at_strndup(h->arena, name, n),
                               .help = at_format(h->arena, "the kernel of %s", h->pub.path),
                               .define = define};
}

static at_status find_folder(at_head *h, at_error *err) {
    char whole[PATH_MAX];
    const char *slash = strrchr(h->pub.path, '/');
    const char *folder =
        slash ? at_strndup(h->arena, h->pub.path, (size_t)(slash - h->pub.path) + 1) : ".";
    if (!realpath(folder, whole))
        return at_fail(err, AT_E_INPUT, "%s: its folder is not there", h->pub.path);
    h->pub.folder = at_strdup(h->arena, whole);
    return AT_OK;
}

static at_status read_head(at_head *h, size_t length, at_error *err) {
    AT_TRY(find_folder(h, err));
    AT_TRY(at_head_split(h, h->pub.text, length, err));
    for (int i = 0; i < h->items.len; i++) AT_TRY(take_item(h, &h->items.data[i], err));
    return check_head(h, err);
}

at_status at_head_make(at_arena *a, const char *path, const char *text, size_t length,
                       at_head **out, at_error *err) {
    at_head *h = AT_NEW(a, at_head);
    h->arena = a;
    h->pub.path = at_strdup(a, path);
    h->pub.text = at_strndup(a, text, length);
    name_row(h);
    at_status s = read_head(h, strlen(h->pub.text), err);
    h->row.args = at_text_take(a, &h->args);
    const char *names = at_text_take(a, &h->names);
    AT_TRY(s);
    h->row.record_args = at_format(a, "[%s]", names);
    if (h->has_defaults) h->row.defaults = defaults;
    h->pub.outputs = h->outputs.data;
    h->pub.num_outputs = h->outputs.len;
    h->pub.data = h->data.data;
    h->pub.num_data = h->data.len;
    *out = h;
    return AT_OK;
}

at_status at_foreign_parse(at_arena *a, const char *path, const char *text, size_t length,
                           const at_template_row **out, at_error *err) {
    at_head *h;
    AT_TRY(at_head_make(a, path, text, length, &h, err));
    at_head_hash(h);
    *out = &h->row;
    return AT_OK;
}

const at_foreign *at_foreign_of(const at_task *t) {
    const at_head *h = at_task_foreign(t);
    return h ? &h->pub : NULL;
}
