/* export/params.c: names, comments and lists of parameters, as every part of an emitted file spells
 * them. */
#include "export/export_int.h"

#include <string.h>

const char *at_file_name(at_arena *a, const char *name) {
    static const char *const own[] = {"workspace", "buf",     "shape", "threads", "par",
                                      "packed",    "aligned", "form",  "at"};
    bool taken = at_c_is_reserved(name);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) taken |= !strcmp(name, own[i]);
    return at_format(a, "%s%s%s", *name == '_' ? "k" : "", name, taken ? "_" : "");
}

void at_file_comment(at_text *out, const char *text) {
    at_text safe = {0};
    at_text_add_c_comment(&safe, text);
    for (const char *s = at_text_str(&safe); *s;) {
        size_t n = strcspn(s, "\n");
        at_text_addf(out, n ? " * %.*s\n" : " *\n", (int)n, s);
        s += n + (s[n] == '\n');
    }
    at_text_free(&safe);
}

bool at_call_takes(at_role_of_call call, const at_face_tensor *t) {
    return !t->is_held && (call == AT_CALL_PLAIN || t->ahead == (call == AT_CALL_PACK));
}

/* A tensor in blocks was checked when it came there. */
bool at_call_checks(at_role_of_call call, const at_face_tensor *t) {
    return t->is_checked && at_call_takes(call, t) && !(call == AT_CALL_FAST && t->laid_out);
}

bool at_call_checks_any(at_role_of_call call, const at_face_tensor *tensors, int n) {
    bool any = false;
    for (int i = 0; i < n; i++) any |= at_call_checks(call, &tensors[i]);
    return any;
}

const char *at_face_c_type(const at_face_tensor *t) {
    return t->is_s64 ? "long long" : at_type_of(t->type)->c;
}

static void add(at_text *out, const char **comma, const char *type, const char *name) {
    at_text_addf(out, "%s%s%s", *comma, type, name);
    *comma = ", ";
}

static void add_tensor(at_text *out, const char **comma, at_role_of_call call,
                       const at_face_tensor *t, bool types) {
    const bool in_blocks = call == AT_CALL_FAST && t->laid_out;
    at_text_add(out, *comma);
    if (types)
        at_text_addf(out, "%s%s *", t->is_output ? "" : "const ",
                     in_blocks ? at_type_of(t->type)->c : at_face_c_type(t));
    at_text_add(out, t->name);
    *comma = ", ";
}

void at_call_list(at_text *out, at_role_of_call call, const at_face_tensor *tensors, int n,
                  bool types, bool with_packed) {
    const char *comma = "";
    bool packed = call == AT_CALL_FAST && with_packed;
    for (int i = 0; i < n; i++) {
        const at_face_tensor *t = &tensors[i];
        if (t->is_output && packed) {
            add(out, &comma, types ? "const void *" : "", "packed");
            packed = false;
        }
        if (!at_call_takes(call, t)) continue;
        add_tensor(out, &comma, call, t, types);
    }
    if (call == AT_CALL_PACK) add(out, &comma, types ? "void *" : "", "packed");
    else add(out, &comma, types ? "void *" : "", "workspace");
}
