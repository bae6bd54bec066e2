/* foreign/kernel_source.c: what a candidate is compiled from: macros for the values of its knobs,
 * the file's text, and an entry that calls the kernel. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "foreign/foreign_int.h"

/* ---- macros ---------------------------------------------------------------------------------- */

/* One macro at a time: its name and its value. */
typedef void add_macro(void *ctx, const char *name, const char *value);

static const char *value_text(at_arena *a, const at_json *v) {
    if (v->kind == AT_JSON_BOOL) return v->boolean ? "1" : "0";
    return v->kind == AT_JSON_STRING ? v->string : at_json_text(a, v);
}

/* NAME_rows; other letters become _. */
static const char *text_macro(at_arena *a, const char *name, const char *text) {
    char *macro = at_format(a, "%s_%s", name, text);
    for (char *c = macro; *c; c++)
        if (!isalnum((unsigned char)*c) || (unsigned char)*c >= 0x80) *c = '_';
    return macro;
}

static void each_macro(at_arena *a, const at_task *t, const at_config *c, add_macro *add,
                       void *ctx) {
    const at_space *s = at_task_space(t);
    int64_t *digits = AT_NEW_ARRAY(a, int64_t, c->num_knobs + 1);
    if (c->index >= 0) at_space_digits(s, c->index, digits);
    for (int k = 0; k < c->num_knobs; k++) {
        const at_entity *e = &c->entities[k];
        const char *name = c->names[k];
        if (c->index >= 0 && !at_space_is_active(s, k, digits)) continue;
        if (e->kind == AT_KNOB_OPTION) {
            bool is_text = e->option->kind == AT_JSON_STRING;
            const char *value = value_text(a, e->option);
            add(ctx, is_text ? text_macro(a, name, value) : name, is_text ? "1" : value);
            continue;
        }
        for (int i = 0; i < e->n; i++) {
            int64_t v = e->kind == AT_KNOB_SPLIT ? at_split_part(e, at_space_knob_length(s, k), i)
                                                 : e->sizes[i];
            add(ctx, at_format(a, "%s_%d", name, i), at_format(a, "%lld", (long long)v));
        }
    }
}

static void add_define(void *ctx, const char *name, const char *value) {
    at_text_addf(ctx, "#define %s %s\n", name, value);
}

/* ---- flags ----------------------------------------------------------------------------------- */

typedef struct filling {
    at_arena *arena;
    const char *word; /* with what has been replaced so far */
} filling;

static void replace(filling *f, const char *name, const char *value) {
    const char *mark = at_format(f->arena, "{%s}", name), *found;
    at_text out = {0};
    for (const char *p = f->word;; p = found + strlen(mark)) {
        found = strstr(p, mark);
        at_text_addn(&out, p, found ? (size_t)(found - p) : strlen(p));
        if (!found) break;
        at_text_add(&out, value);
    }
    f->word = at_text_take(f->arena, &out);
}

static void replace_macro(void *ctx, const char *name, const char *value) {
    replace(ctx, name, value);
}

/* A text's own value stands for the knob's name: {OPT} is -O3; nothing for that of a knob that does
 * not count. NULL: nothing is left of the word. */
static const char *filled(at_arena *a, const at_task *t, const at_config *c, const char *word) {
    const at_space *s = at_task_space(t);
    filling f = {a, word};
    if (!strchr(word, '{')) return word;
    int64_t *digits = AT_NEW_ARRAY(a, int64_t, c->num_knobs + 1);
    if (c->index >= 0) at_space_digits(s, c->index, digits);
    for (int k = 0; k < c->num_knobs; k++) {
        const bool counts = c->index < 0 || at_space_is_active(s, k, digits);
        if (c->entities[k].kind == AT_KNOB_OPTION)
            replace(&f, c->names[k], counts ? value_text(a, c->entities[k].option) : "");
    }
    each_macro(a, t, c, replace_macro, &f);
    return *f.word ? f.word : NULL;
}

/* ---- the entry ------------------------------------------------------------------------------- */

typedef struct entry {
    at_arena *arena;
    const at_task *task;
    const at_head *head;
    const int64_t *values;
    const at_compute *compute;
    bool by_reference; /* Fortran */
    at_text before;    /* what stands before the call: numbers that have an address, */
    at_text types;     /* and before the entry: arrays of arrays in C++ */
    size_t call_at;    /* in the text */
    at_error *err;
} entry;

static bool same_name(const entry *x, const char *a, const char *b) {
    return x->by_reference ? !strcasecmp(a, b) : !strcmp(a, b);
}

/* Its place among the inputs, then the outputs; -1: no tensor of that name is one. */
static int buffer_of(const entry *x, const char *name, int *tensor) {
    int n = 0;
    for (int outputs = 0; outputs < 2; outputs++)
        for (int t = 0; t < x->compute->num_tensors; t++) {
            const at_tensor *tensor_at = &x->compute->tensors[t];
            if (!at_is_foreign_param(tensor_at) || tensor_at->is_output != (outputs == 1)) continue;
            *tensor = t;
            if (same_name(x, tensor_at->name, name)) return n;
            n++;
        }
    return -1;
}

static bool find_value(const entry *x, const char *name, int64_t *out) {
    if (at_task_value(x->task, x->values, name, out)) return true;
    for (int i = 0; x->by_reference && i < at_task_num_numbers(x->task); i++) {
        const char *own;
        *out = at_task_number(x->task, i, &own);
        if (!strcasecmp(own, name)) return true;
    }
    return false;
}

/* Does the pointed-to type have the elements' size and kind? */
static bool fits(const at_tensor *t, const char *type) {
    static const struct {
        const char *word;
        at_type type, other;
    } known[] = {{"bool", AT_BOOL, AT_BOOL},        {"_Bool", AT_BOOL, AT_BOOL},
                 {"_Float16", AT_F16, AT_F16},      {"__bf16", AT_BF16, AT_BF16},
                 {"float", AT_F32, AT_F32},         {"uint16_t", AT_F16, AT_BF16},
                 {"int32_t", AT_S32, AT_S32},       {"unsigned short", AT_F16, AT_BF16},
                 {"unsigned char", AT_U8, AT_BOOL}, {"uint8_t", AT_U8, AT_BOOL},
                 {"int8_t", AT_S8, AT_S8},          {"signed char", AT_S8, AT_S8},
                 {"int16_t", AT_S16, AT_S16},       {"short", AT_S16, AT_S16},
                 {"int ", AT_S32, AT_S32}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(type, known[i].word))
            return t->type == known[i].type || t->type == known[i].other;
    return !strstr(type, "double") && !strstr(type, "char") && !strstr(type, "long") &&
           !strstr(type, "int64");
}

/* What C calls elements whose name says it to nobody. */
static const char *types_in_c(at_type t) {
    return t == AT_F16 ? ", uint16_t or _Float16" : t == AT_BF16 ? ", uint16_t or __bf16" : "";
}

static at_status unknown_param(const entry *x, const at_head_param *p) {
    at_text list = {0};
    for (int t = 0; t < x->compute->num_tensors; t++)
        if (at_is_foreign_param(&x->compute->tensors[t]))
            at_text_addf(&list, "%s%s", list.len ? ", " : "", x->compute->tensors[t].name);
    for (int i = 0; i < at_task_num_numbers(x->task); i++) {
        const char *name;
        at_task_number(x->task, i, &name);
        at_text_addf(&list, ", %s", name);
    }
    at_status s =
        at_fail(x->err, AT_E_INPUT,
                "%s:%d: the call's parameter \"%s\" is no tensor, argument or size; there "
                "are %s, workspace",
                x->head->pub.path, x->head->call.line, p->name, at_text_str(&list));
    at_text_free(&list);
    return s;
}

static at_status bad_param(const entry *x, const at_head_param *p, const char *why) {
    return at_fail(x->err, AT_E_INPUT, "%s:%d: the call's parameter \"%s%s%s\": %s",
                   x->head->pub.path, x->head->call.line, p->element ? p->element : p->type,
                   p->name, p->element ? p->bounds : "", why);
}

/* A pointer that C++ takes for one to arrays of this element, whatever their bounds. */
static void add_rows(entry *x, const at_head_param *p) {
    at_text params = {0}, names = {0}, bounds = {0};
    for (int i = 1; i < p->num_bounds; i++) {
        at_text_addf(&params, "%sunsigned long at_%d", i > 1 ? ", " : "", i);
        at_text_addf(&names, "%sat_%d", i > 1 ? ", " : "", i);
        at_text_addf(&bounds, "[at_%d]", i);
    }
    at_text_addf(&x->types,
                 "template <%1$s> using at_row_of_%2$s = %3$s%4$s;\n"
                 "struct at_rows_of_%2$s {\n"
                 "    void *at;\n"
                 "    template <%1$s> operator at_row_of_%2$s<%5$s> *() const {\n"
                 "        return (at_row_of_%2$s<%5$s> *)at;\n"
                 "    }\n"
                 "};\n",
                 at_text_str(&params), p->name, p->element, at_text_str(&bounds),
                 at_text_str(&names));
    at_text_free(&params);
    at_text_free(&names);
    at_text_free(&bounds);
}

static at_status add_tensor(entry *x, const at_head_param *p, int buffer, int tensor,
                            at_text *call) {
    const at_tensor *t = &x->compute->tensors[tensor];
    if (!p->is_pointer) return bad_param(x, p, "it is a tensor, and the parameter no pointer");
    if (t->is_s64)
        return bad_param(x, p, "its elements are s64, which are taken by texts alone; take s32");
    if (!fits(t, p->element ? p->element : p->type))
        return bad_param(x, p,
                         at_format(x->arena, "the tensor's elements are %s%s",
                                   at_type_of(t->type)->name, types_in_c(t->type)));
    if (t->is_output && p->is_const)
        return bad_param(x, p, "it is an output, and the parameter const");
    if (p->element && x->head->pub.language == AT_LANGUAGE_CXX) {
        add_rows(x, p);
        at_text_addf(call, "at_rows_of_%s{at_buf[%d]}", p->name, buffer);
    } else at_text_addf(call, "(%s)at_buf[%d]", p->type, buffer);
    return AT_OK;
}

static at_status add_param(entry *x, const at_head_param *p, at_text *call) {
    int tensor, buffer = buffer_of(x, p->name, &tensor);
    int64_t value;
    if (buffer >= 0) return add_tensor(x, p, buffer, tensor, call);
    if (same_name(x, p->name, "workspace")) {
        if (!p->is_pointer) return bad_param(x, p, "the workspace is a pointer");
        if (!at_task_value(x->task, x->values, "at_workspace_bytes", &value))
            return bad_param(x, p, "its bytes are not told: the head needs a line \"workspace\"");
        at_text_addf(call, "(%s)at_workspace", p->type);
        return AT_OK;
    }
    if (!find_value(x, p->name, &value)) return unknown_param(x, p);
    if (!x->by_reference) {
        if (p->is_pointer) return bad_param(x, p, "it is a number, and the parameter a pointer");
        at_text_addf(call, "(%s)%lld", p->type, (long long)value);
        return AT_OK;
    }
    const char *type = p->type + strspn(p->type, " ");
    char *plain = at_strndup(x->arena, type, strcspn(type, "*"));
    if (p->is_const) plain = at_strdup(x->arena, strstr(plain, "const") + 5);
    at_text_addf(&x->before, "    %sat_%s = (%s)%lld;\n", plain, p->name, plain, (long long)value);
    at_text_addf(call, "&at_%s", p->name);
    return AT_OK;
}

/* As compilers spell a subroutine that binds to no C. */
static const char *fortran_symbol(const entry *x, const char *function) {
    char *lower = at_strdup(x->arena, function);
    const char *text = x->head->pub.text;
    for (char *c = lower; *c; c++) *c = (char)tolower((unsigned char)*c);
    for (const char *p = text; *p; p++)
        if (!strncasecmp(p, "bind(c", 6) || !strncasecmp(p, "bind (c", 7)) return lower;
    return at_format(x->arena, "%s_", lower);
}

static const char *types_of_params(const entry *x) {
    const at_head_call *call = &x->head->call;
    at_text out = {0};
    for (int i = 0; i < call->params.len; i++) {
        const at_head_param *p = &call->params.data[i];
        at_text_addf(&out, "%s%s%s", i ? ", " : "", p->type,
                     p->is_pointer || !x->by_reference ? "" : "*");
    }
    if (!call->params.len) at_text_add(&out, "void");
    return at_text_take(x->arena, &out);
}

/* What is called: in C a function that was declared without the types of its parameters has those
 * of the head, else numbers would be passed as they are promoted. */
static const char *callee(const entry *x, const char *function) {
    const char *returns = x->head->call.returns;
    if (x->head->pub.language != AT_LANGUAGE_C) return function;
    return at_format(x->arena,
                     "__builtin_choose_expr(__builtin_types_compatible_p(__typeof__(%1$s), "
                     "%2$s(struct at_none)), (%2$s(*)(%3$s))(void (*)(void))%1$s, %1$s)",
                     function, returns, types_of_params(x));
}

static at_status add_entry(entry *x, const char *function, const char *symbol, at_text *out) {
    const at_head_call *call = &x->head->call;
    at_text args = {0};
    at_status s = AT_OK;
    const char *called = x->by_reference ? fortran_symbol(x, function) : function;
    for (int i = 0; i < call->params.len && s == AT_OK; i++) {
        if (i) at_text_add(&args, ", ");
        s = add_param(x, &call->params.data[i], &args);
    }
    if (s == AT_OK && x->by_reference)
        at_text_addf(out, "extern %s%s(%s);\n", call->returns, called, types_of_params(x));
    if (x->head->pub.language == AT_LANGUAGE_C) at_text_add(out, "struct at_none;\n");
    at_text_add(out, at_text_str(&x->types));
    bool returns = !strcmp(call->returns, "int ");
    const char *linkage = x->head->pub.language == AT_LANGUAGE_CXX ? "extern \"C\" " : "";
    at_text_addf(out,
                 "%s__attribute__((visibility(\"default\"))) int %s(" AT_ENTRY_PARAMS ");\n"
                 "%sint %s(" AT_ENTRY_PARAMS ") {\n"
                 "    (void)at_buf, (void)at_workspace, (void)at_par;\n%s",
                 linkage, symbol, linkage, symbol, at_text_str(&x->before));
    x->call_at = out->len;
    at_text_addf(out, "    %s%s(%s);\n%s}\n", returns ? "return " : "", callee(x, called),
                 at_text_str(&args), returns ? "" : "    return 0;\n");
    at_text_free(&args);
    at_text_free(&x->before);
    at_text_free(&x->types);
    return s;
}

/* The entry behind the file, its call where the head has it: there compilers say what does not fit.
 * C would let numbers pass for pointers, and pointers for others. */
static void add_entry_text(const entry *x, const char *made, at_text *out) {
    if (x->head->pub.language == AT_LANGUAGE_C)
        at_text_add(out, "#pragma GCC diagnostic error \"-Wint-conversion\"\n"
                         "#pragma GCC diagnostic error \"-Wincompatible-pointer-types\"\n");
    at_text_add(out, "#line 1 \"autotune\"\n");
    at_text_addn(out, made, x->call_at);
    at_text_addf(out, "#line %d ", x->head->call.line);
    at_text_add_c_string(out, x->head->pub.path);
    at_text_addf(out, "\n%s", made + x->call_at);
}

/* ---- all of it ------------------------------------------------------------------------------- */

at_status at_foreign_unit_of(at_arena *a, const at_task *t, const at_config *c,
                             const char *function, const char *symbol, at_foreign_unit *out,
                             at_error *err) {
    const at_head *h = at_task_foreign(t);
    at_text macros = {0}, source = {0}, made = {0};
    int64_t *values;
    AT_TRY(at_task_values(a, t, c, &values, err));
    entry x = {.arena = a,
               .task = t,
               .head = h,
               .values = values,
               .compute = at_task_compute(t),
               .by_reference = h->pub.language == AT_LANGUAGE_FORTRAN,
               .err = err};
    if (!function) each_macro(a, t, c, add_define, &macros);
    at_status s = add_entry(&x, function ? function : h->call.function, symbol, &made);
    at_text_add(&source, at_text_str(&macros));
    at_text_add(&source, "#line 1 ");
    at_text_add_c_string(&source, h->pub.path);
    at_text_addf(&source, "\n%s\n", h->pub.text);
    if (!x.by_reference) add_entry_text(&x, at_text_str(&made), &source);
    out->macros = at_text_take(a, &macros);
    out->source = at_text_take(a, &source);
    out->entry = at_text_take(a, &made);
    out->wrapper = x.by_reference ? out->entry : NULL;
    const char **flags = AT_NEW_ARRAY(a, const char *, h->pub.num_flags + 1);
    out->num_flags = 0;
    for (int i = 0; i < h->pub.num_flags; i++) {
        const char *word = filled(a, t, c, h->pub.flags[i]);
        if (word) flags[out->num_flags++] = word;
    }
    out->flags = flags;
    return s;
}

static void print_macro(void *ctx, const char *name, const char *value) {
    at_text *out = ctx;
    at_text_addf(out, "%s=%s\n", name, value);
}

void at_print_program(at_text *out, const at_task *t, const at_config *c, const at_program *p) {
    if (!at_task_foreign(t)) {
        at_program_print(out, p, false);
        return;
    }
    at_arena *a = at_arena_new();
    each_macro(a, t, c, print_macro, out);
    at_arena_free(a);
}
