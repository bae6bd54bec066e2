/* foreign/kernel_code.c: a candidate as a kernel that a worker runs, and as a file that `apply`
 * writes. */
#include <ctype.h>
#include <string.h>

#include "foreign/foreign_int.h"

static void add_params(at_arena *a, const at_foreign *f, const at_program *p, at_kernel *k) {
    const at_compute *c = p->compute;
    at_param *params = AT_NEW_ARRAY(a, at_param, c->num_tensors);
    for (int outputs = 0; outputs < 2; outputs++)
        for (int t = 0; t < c->num_tensors; t++) {
            const at_tensor *x = &c->tensors[t];
            if (!at_is_foreign_param(x) || x->is_output != (outputs == 1)) continue;
            at_param *q = &params[k->num_params++];
            *q = (at_param){.name = x->name,
                            .role = outputs ? AT_PARAM_OUT : AT_PARAM_IN,
                            .tensor = t,
                            .type = x->type,
                            .elements = at_tensor_elements(x, p->extents[t]),
                            .in_kernel = true};
            q->before = 1 + at_compute_held(c, t);
            q->stays = q->before > 0 && !x->is_updated;
            for (int i = 0; i < f->num_outputs && outputs; i++)
                if (f->outputs[i].before && !strcmp(f->outputs[i].name, x->name))
                    q->before = 1 + at_compute_find(c, f->outputs[i].before);
        }
    k->params = params;
}

at_status at_foreign_kernel(at_arena *a, const at_task *t, const at_program *p, const at_config *c,
                            at_kernel **out, at_foreign_unit *unit, at_error *err) {
    at_kernel *k = AT_NEW(a, at_kernel);
    at_hash hash;
    AT_TRY(at_foreign_unit_of(a, t, c, NULL, "kernel_entry", unit, err));
    k->source = unit->source;
    k->entry = "kernel_entry";
    k->dialect = AT_DIALECT_GNU;
    add_params(a, at_foreign_of(t), p, k);
    at_task_value(t, p->values, "at_workspace_bytes", &k->workspace_bytes);
    if (k->workspace_bytes < 0)
        return at_fail(err, AT_E_INPUT, "a workspace of %lld bytes", (long long)k->workspace_bytes);
    at_hash_init(&hash);
    at_hash_add_str(&hash, unit->source);
    for (int i = 0; i < unit->num_flags; i++) at_hash_add_str(&hash, unit->flags[i]);
    at_hash_add_number(&hash, (uint64_t)k->workspace_bytes);
    at_hash_hex(&hash, k->code_hash);
    *out = k;
    return AT_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

at_status at_foreign_file_kernel(at_arena *a, const at_task *t, const at_program *p,
                                 const at_config *c, const char *name, at_kernel **out,
                                 at_error *err) {
    /* As files of kernels begin, whose common text ends there. */
    static const char common[] =
        "typedef struct at_par {\n"
        "    void (*parallel_for)(void (*body)(long i, int thread, void *context), long n, void "
        "*context);\n"
        "    int threads;\n"
        "} at_par;\n\n";
    const at_foreign *f = at_foreign_of(t);
    at_foreign_unit unit;
    if (f->num_outputs)
        return at_fail(err, AT_E_USAGE, "--main: %s has no computation, which a main compares with",
                       f->path);
    AT_TRY(at_foreign_kernel(a, t, p, c, out, &unit, err));
    at_kernel *k = *out;
    k->entry = at_format(a, "%s_entry", name);
    const char *call = at_format(a, "%s_call", name);
    AT_TRY(at_foreign_unit_of(a, t, c, NULL, call, &unit, err));
    /* What is no C is a file of its own, which has the entry, too, unless that is C. */
    const char *before =
        f->language == AT_LANGUAGE_C ? at_format(a, "%s%s\n%s", unit.macros, f->text, unit.entry)
        : f->language == AT_LANGUAGE_FORTRAN ? unit.entry
                                             : at_format(a, "int %s(" AT_ENTRY_PARAMS ");\n", call);
    k->source = at_format(a,
                          "%s%s\n"
                          "static int %s(void *const buf[], void *memory, at_par *par) {\n"
                          "    return %s(buf, memory, par);\n}\n",
                          common, before, k->entry, call);
    k->common_bytes = sizeof common - 1;
    k->dialect = AT_DIALECT_C;
    k->target = at_target_at(0);
    return AT_OK;
}

static void add_comment(at_text *out, const char *head, const at_foreign *f,
                        const at_foreign_unit *unit) {
    const bool is_fortran = f->language == AT_LANGUAGE_FORTRAN;
    const char *mark = is_fortran ? "!" : " *";
    if (!is_fortran) at_text_add(out, "/*\n");
    for (const char *p = head; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        at_text line = {0};
        at_text_addf(out, "%s ", mark);
        at_text_addn(&line, p, strcspn(p, "\n"));
        at_text_add_c_comment(out, at_text_str(&line));
        at_text_add(out, "\n");
        at_text_free(&line);
    }
    at_text flags = {0};
    for (int i = 0; i < unit->num_flags; i++) at_text_addf(&flags, " %s", unit->flags[i]);
    at_text_addf(out, "%s\n%s compiled with%s", mark, mark, is_fortran ? " -cpp" : "");
    at_text_add_c_comment(out, flags.len || is_fortran ? at_text_str(&flags) : " no flags");
    if (strstr(f->text, "#include \""))
        at_text_add(out, "; what it includes is beside the kernel's own file");
    at_text_add(out, is_fortran ? "\n" : "\n */\n");
    at_text_free(&flags);
}

at_status at_foreign_main_part(at_arena *a, const at_task *t, const at_config *c, const char *head,
                               const char *name, at_text *out, at_error *err) {
    const at_foreign *f = at_foreign_of(t);
    at_foreign_unit unit;
    AT_TRY(at_foreign_unit_of(a, t, c, NULL, at_format(a, "%s_call", name), &unit, err));
    add_comment(out, head, f, &unit);
    at_text_addf(out, "%s%s\n", unit.macros, f->text);
    if (f->language == AT_LANGUAGE_CXX) at_text_add(out, unit.entry);
    return AT_OK;
}

/* [N][M] with the numbers that these are. */
static void add_bounds(at_arena *a, const at_task *t, const int64_t *values, const char *bounds,
                       at_text *out) {
    while (*bounds) {
        size_t n = 0;
        int64_t value;
        while (at_in_name(bounds[n])) n++;
        const char *word = at_strndup(a, bounds, n ? n : 1);
        if (n && at_task_value(t, values, word, &value))
            at_text_addf(out, "%lld", (long long)value);
        else at_text_add(out, word);
        bounds += strlen(word);
    }
}

/* Arrays of arrays are any pointers to C; to C++ they are part of a function's name. */
static void add_prototype(at_arena *a, const at_task *t, const int64_t *values, bool is_c,
                          at_text *out) {
    const at_head *h = at_task_foreign(t);
    const at_head_call *call = &h->call;
    at_text_addf(out, "%s%s(", call->returns, call->function);
    for (int i = 0; i < call->params.len; i++) {
        const at_head_param *p = &call->params.data[i];
        const bool rows = p->element && !is_c;
        at_text_addf(out, "%s%s%s", i ? ", " : "", rows ? p->element : p->type, p->name);
        if (rows) add_bounds(a, t, values, p->bounds, out);
    }
    at_text_add(out, call->params.len ? ");\n" : "void);\n");
}

at_status at_foreign_print_file(at_arena *a, const at_task *t, const at_config *c, const char *head,
                                const char *header_name, at_text *source, at_text *header,
                                at_error *err) {
    const at_head *h = at_task_foreign(t);
    at_foreign_unit unit;
    int64_t *values;
    AT_TRY(at_task_values(a, t, c, &values, err));
    AT_TRY(at_foreign_unit_of(a, t, c, NULL, "kernel_entry", &unit, err));
    add_comment(source, head, &h->pub, &unit);
    at_text_addf(source, "%s%s", unit.macros, h->pub.text);
    if (!header_name || h->pub.language == AT_LANGUAGE_FORTRAN) return AT_OK;
    at_text guard = {0};
    for (const char *s = at_c_name(a, header_name); *s; s++)
        at_text_addf(&guard, "%c", toupper((unsigned char)*s));
    const bool is_c = h->pub.language == AT_LANGUAGE_C || strstr(h->pub.text, "extern \"C\"");
    at_text_addf(header,
                 "/* written by autotune from the kernel's own file */\n#ifndef %s\n#define %s\n\n",
                 at_text_str(&guard), at_text_str(&guard));
    if (is_c) at_text_add(header, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    add_prototype(a, t, values, is_c, header);
    if (is_c) at_text_add(header, "\n#ifdef __cplusplus\n}\n#endif\n");
    at_text_add(header, "\n#endif\n");
    at_text_free(&guard);
    return AT_OK;
}
