/* foreign/t1_head.c: the head of a kernel out of a T1 file, which describes a tuning problem to
 * other tuners: parameters, conditions in Python, and the kernel's arguments.
 * Source: KernelTuner/kernel_tuner, kernel_tuner/schema/T1/1.0.0/input-schema.json. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_value.h"
#include "foreign/foreign_int.h"

typedef struct reading {
    at_arena *arena;
    const at_json *params; /* TuningParameters */
    at_text head, left;    /* left: a line for each part that is left out */
    int num_left;
    at_error *err;
} reading;

/* Blanks instead of ends of lines and comments: what follows stands in a comment. */
static const char *one_line(at_arena *a, const char *text) {
    char *line = at_strdup(a, text);
    for (char *c = line; *c; c++)
        if (iscntrl((unsigned char)*c) || (c[0] == '*' && c[1] == '/')) *c = ' ';
    return line;
}

static void leave_out(reading *r, const char *what, const char *text) {
    at_text_addf(&r->left, " * #   %s: %s\n", what, one_line(r->arena, text));
    r->num_left++;
}

static bool is_param(const reading *r, const char *name, size_t length) {
    for (const at_json *p = r->params->child; p; p = p->next) {
        const char *own = at_json_string_in(p, "Name");
        if (own && strlen(own) == length && !strncmp(own, name, length)) return true;
    }
    return false;
}

/* ---- conditions ------------------------------------------------------------------------------ */

typedef struct python {
    const reading *of;
    const char *p;
    at_text out;
} python;

static bool takes_word(const char **p, const char *word) {
    size_t n = strlen(word);
    if (strncmp(*p, word, n) != 0 || at_in_name((*p)[n])) return false;
    *p += n;
    return true;
}

static bool add_text(python *x) {
    char quote = *x->p++;
    const char *begin = x->p;
    while (*x->p && *x->p != quote)
        if (strchr("\"\\", *x->p++)) return false;
    at_text_addf(&x->out, "\"%.*s\"", (int)(x->p - begin), begin);
    return *x->p++ == quote;
}

/* NAME in [a, b] is NAME == a || NAME == b; p stands behind "in". */
static bool add_members(python *x, const char *name, size_t length) {
    x->p += strspn(x->p, " ");
    if (*x->p != '[' && *x->p != '(') return false;
    const char end = *x->p++ == '[' ? ']' : ')', *comma = "(";
    for (;;) {
        x->p += strspn(x->p, " ,");
        if (*x->p == end) break;
        at_text_addf(&x->out, "%s%.*s == ", comma, (int)length, name);
        comma = " || ";
        if (*x->p == '\'' || *x->p == '"') {
            if (!add_text(x)) return false;
            continue;
        }
        size_t n = strspn(x->p, "-+.0123456789");
        if (!n) return false;
        at_text_addn(&x->out, x->p, n);
        x->p += n;
    }
    x->p++;
    at_text_add(&x->out, ")");
    return *comma != '(';
}

static bool add_name(python *x) {
    const char *name = x->p;
    size_t n = 0;
    while (at_in_name(name[n])) n++;
    x->p += n;
    if (!is_param(x->of, name, n) &&
        !(n == 3 && (!strncmp(name, "min", 3) || !strncmp(name, "max", 3))))
        return false;
    const char *behind = x->p + strspn(x->p, " ");
    if (takes_word(&behind, "in")) {
        x->p = behind;
        return add_members(x, name, n);
    }
    at_text_addn(&x->out, name, n);
    return true;
}

/* Python's condition in this program's words; false: it says something that these do not. A
 * quotient of Python's is no whole number, and `not` is of all that follows. */
static bool translate(python *x) {
    static const struct {
        const char *python, *own;
    } words[] = {{"and", "&&"}, {"or", "||"}, {"True", "1"}, {"False", "0"}};
    while (*x->p) {
        bool done = false;
        for (size_t i = 0; i < sizeof words / sizeof *words && !done; i++)
            if (takes_word(&x->p, words[i].python)) at_text_add(&x->out, words[i].own), done = true;
        if (done) continue;
        if (isalpha((unsigned char)*x->p) || *x->p == '_') {
            if (!add_name(x)) return false;
        } else if (*x->p == '\'' || *x->p == '"') {
            if (!add_text(x)) return false;
        } else if (!strncmp(x->p, "//", 2)) {
            at_text_add(&x->out, "/");
            x->p += 2;
        } else if (*x->p == '/' || !strncmp(x->p, "**", 2) ||
                   !strchr(" \t()+-*%<>=!.,0123456789", *x->p))
            return false;
        else at_text_addn(&x->out, x->p++, 1);
    }
    return true;
}

static void add_condition(reading *r, const char *python_text) {
    python x = {.of = r, .p = one_line(r->arena, python_text)};
    at_lex l;
    at_expr *e;
    bool is_said = translate(&x);
    if (is_said && at_lex_start(&l, at_text_str(&x.out), "", NULL) == AT_OK) {
        l.takes_texts = true;
        is_said = at_expr_parse(r->arena, &l, &e, NULL) == AT_OK && l.kind == AT_TOK_END;
    } else is_said = false;
    if (is_said) at_text_addf(&r->head, " * require %s\n", at_text_str(&x.out));
    else leave_out(r, "condition", python_text);
    at_text_free(&x.out);
}

/* ---- parameters ------------------------------------------------------------------------------ */

/* "[1, 2]", "['a', 'b']", "range(1, 9, 2)" or "list(range(9))", as Python has them. */
static const at_json *list_of(at_arena *a, const char *text) {
    long long from = 0, to, step = 1;
    const at_json *list = NULL;
    int n = 0;
    text += strspn(text, " ");
    if (!strncmp(text, "list(", 5)) text += 5;
    if (!strncmp(text, "range(", 6)) {
        int got = sscanf(text + 6, "%lld , %lld , %lld", &from, &to, &step);
        if (got == 1) to = from, from = 0;
        if (got < 1 || step < 1 || to - from > (1 << 16)) return NULL;
        at_text out = {0};
        for (; from < to; from += step) at_text_addf(&out, "%s%lld", n++ ? ", " : "[", from);
        at_text_add(&out, "]");
        at_json_parse(a, at_strdup(a, at_text_str(&out)), out.len, &list, NULL);
        at_text_free(&out);
        return list;
    }
    at_text out = {0};
    for (const char *p = text; *p;) {
        if (takes_word(&p, "True")) at_text_add(&out, "true");
        else if (takes_word(&p, "False")) at_text_add(&out, "false");
        else at_text_addn(&out, *p == '\'' ? "\"" : *p == '(' ? "[" : *p == ')' ? "]" : p, 1), p++;
    }
    if (at_json_parse(a, at_strdup(a, at_text_str(&out)), out.len, &list, NULL) != AT_OK)
        list = NULL;
    at_text_free(&out);
    return list;
}

static bool add_value(at_text *out, const at_json *v) {
    if (v->kind == AT_JSON_STRING) {
        for (const char *c = v->string; *c; c++)
            if (iscntrl((unsigned char)*c) || strchr("\"\\", *c) || !strncmp(c, "*/", 2))
                return false;
        at_text_addf(out, "\"%s\"", v->string);
        return true;
    }
    if (v->kind != AT_JSON_NUMBER && v->kind != AT_JSON_BOOL) return false;
    at_json_print(out, v);
    return true;
}

static at_status add_param(reading *r, const at_json *p) {
    const char *name = at_json_string_in(p, "Name"), *text = at_json_string_in(p, "Values");
    const char *fault = name ? at_c_name_fault(name) : "missing";
    if (fault)
        return at_fail(r->err, AT_E_INPUT, "parameter \"%s\": its name is %s", name ? name : "",
                       fault);
    const at_json *values = text ? list_of(r->arena, text) : at_json_get(p, "Values");
    if (!values || values->kind != AT_JSON_ARRAY || !values->count)
        return at_fail(r->err, AT_E_INPUT, "parameter %s: its values are no list: %s", name,
                       text ? one_line(r->arena, text) : "");
    at_text_addf(&r->head, " * knob  %s =", name);
    for (const at_json *v = values->child; v; v = v->next) {
        at_text_add(&r->head, " ");
        if (!add_value(&r->head, v))
            return at_fail(r->err, AT_E_INPUT, "parameter %s: a value is no number, truth or text",
                           name);
    }
    at_text_add(&r->head, "\n");
    return AT_OK;
}

static void add_defaults(reading *r) {
    const char *before = " * default ";
    for (const at_json *p = r->params->child; p; p = p->next, before = ", ") {
        const at_json *v = at_json_get(p, "Default");
        if (!v || (v->kind != AT_JSON_NUMBER && v->kind != AT_JSON_BOOL)) continue;
        at_text_addf(&r->head, "%s%s=", before, at_json_string_in(p, "Name"));
        add_value(&r->head, v);
    }
    if (*before == ',') at_text_add(&r->head, "\n");
}

/* ---- arguments ------------------------------------------------------------------------------- */

static const struct {
    const char *t1, *c, *own; /* own: as a tensor's type; "": floats */
} types[] = {{"float", "float", ""},
             {"int32", "int", " s32"},
             {"int16", "short", " s16"},
             {"int8", "signed char", " s8"},
             {"uint8", "unsigned char", " u8"}};
enum { NUM_TYPES = sizeof types / sizeof *types };

/* A number of the kernel's, or a tensor that it reads or writes; false: neither can be said. */
static bool add_argument(reading *r, const at_json *x, at_text *args, at_text *call) {
    const char *name = at_json_string_in(x, "Name"), *type = at_json_string_in(x, "Type");
    const char *memory = at_json_string_in(x, "MemoryType"),
               *access = at_json_string_in(x, "AccessType");
    const at_json *size = at_json_get(x, "Size"), *fill = at_json_get(x, "FillValue");
    int t = 0;
    while (t < NUM_TYPES && type && strcmp(types[t].t1, type) != 0) t++;
    if (!name || at_c_name_fault(name) || !type || !memory || t == NUM_TYPES) return false;
    const char *comma = call->len ? ", " : "";
    if (!strcmp(memory, "Scalar")) {
        if (t == 0 || !fill || !fill->is_int || fill->integer < 1) return false;
        at_text_addf(args, "%s%s=%lld", args->len ? ", " : " * args  ", name,
                     (long long)fill->integer);
        at_text_addf(call, "%s%s %s", comma, types[t].c, name);
        return true;
    }
    if (strcmp(memory, "Vector") != 0 || !size || !size->is_int || size->integer < 1) return false;
    const bool reads = access && !strcmp(access, "ReadOnly");
    at_text_addf(&r->head, " * %s[%lld] : %s%s\n", name, (long long)size->integer,
                 reads                                    ? "input"
                 : access && !strcmp(access, "WriteOnly") ? "output"
                                                          : "inout",
                 types[t].own);
    at_text_addf(call, "%s%s%s *%s", comma, reads ? "const " : "", types[t].c, name);
    return true;
}

static void add_arguments(reading *r, const at_json *kernel) {
    const at_json *list = at_json_get(kernel, "Arguments");
    const char *name = at_json_string_in(kernel, "KernelName");
    at_text args = {0}, call = {0}, rest = r->head;
    r->head = (at_text){0};
    for (const at_json *x = list && list->kind == AT_JSON_ARRAY ? list->child : NULL; x;
         x = x->next)
        if (!add_argument(r, x, &args, &call)) {
            const char *own = at_json_string_in(x, "Name"), *type = at_json_string_in(x, "Type");
            leave_out(r, "argument",
                      at_format(r->arena, "%s %s", type ? type : "?", own ? own : "?"));
        }
    if (!r->head.len) { /* a kernel has something to write */
        at_text_add(&r->head, " * out[1] : output\n");
        at_text_addf(&call, "%sfloat *out", call.len ? ", " : "");
    }
    at_text tensors = r->head;
    r->head = (at_text){0};
    at_text_add(&r->head, at_text_str(&args));
    at_text_addf(&r->head, "%s%s%s", args.len ? "\n" : "", at_text_str(&tensors),
                 at_text_str(&rest));
    at_text_addf(&r->head, " * operations 1\n * unchecked\n * call  void %s(%s)\n",
                 name && !at_c_name_fault(name) ? name : "kernel", at_text_str(&call));
    at_text_free(&args);
    at_text_free(&call);
    at_text_free(&tensors);
    at_text_free(&rest);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static at_status read_space(reading *r, const at_json *space) {
    const at_json *conditions = at_json_get(space, "Conditions");
    for (const at_json *p = r->params->child; p; p = p->next) AT_TRY(add_param(r, p));
    for (const at_json *c = conditions && conditions->kind == AT_JSON_ARRAY ? conditions->child
                                                                            : NULL;
         c; c = c->next) {
        const char *text = at_json_string_or(c, at_json_string_in(c, "Expression"));
        if (text) add_condition(r, text);
    }
    add_defaults(r);
    return AT_OK;
}

at_status at_head_of_t1(at_arena *a, const at_json *file, const char *name, at_text *out,
                        int *num_left, at_error *err) {
    const at_json *space = at_json_get(file, "ConfigurationSpace");
    const at_json *params = at_json_get(space, "TuningParameters");
    if (!params || params->kind != AT_JSON_ARRAY || !params->count)
        return at_fail(err, AT_E_INPUT,
                       "no T1 file: it has no ConfigurationSpace with TuningParameters");
    reading r = {.arena = a, .params = params, .err = err};
    at_status s = read_space(&r, space);
    if (s == AT_OK) {
        add_arguments(&r, at_json_get(file, "KernelSpecification"));
        at_text_addf(out,
                     "/* autotune\n * # Of %s. Behind this comment stands the kernel; what it "
                     "computes says more\n * # than \"unchecked\", and its operations than 1.\n",
                     one_line(a, name));
        if (r.num_left) at_text_addf(out, " * # Left out:\n%s", at_text_str(&r.left));
        at_text_addf(out, "%s */\n", at_text_str(&r.head));
    }
    *num_left = r.num_left;
    at_text_free(&r.head);
    at_text_free(&r.left);
    return s;
}
