/* export/params.c: names, types and lists of parameters, as every part of an emitted file spells
 * them. */
#include "export/export_int.h"

#include <string.h>

const char *at_file_type(const at_param *q) { return q->is_int ? "int" : "float"; }

void at_file_name(at_text *out, const char *name) {
    static const char *const reserved[] = {
        "int", "float", "double", "long",      "short", "char",  "unsigned", "signed", "const",
        "for", "if",    "do",     "workspace", "buf",   "shape", "threads",  "par",    "aligned"};
    at_text_add(out, name);
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (!strcmp(name, reserved[i])) at_text_add(out, "_");
}

bool at_file_takes(const at_param *q, bool pack) {
    return pack ? q->in_pack : q->in_kernel || q->role == AT_PARAM_OUT;
}

bool at_file_writes(const at_param *q, bool pack) {
    return q->role == AT_PARAM_OUT || (pack && q->role == AT_PARAM_PACKED);
}

void at_file_parameters(at_text *out, const at_param *const *params, int n, bool pack) {
    const char *comma = "";
    for (int i = 0; i < n; i++) {
        const at_param *q = params[i];
        if (!at_file_takes(q, pack)) continue;
        at_text_addf(out, "%s%s%s *", comma, at_file_writes(q, pack) ? "" : "const ",
                     at_file_type(q));
        at_file_name(out, q->name);
        comma = ", ";
    }
}

void at_file_comment(at_text *out, const char *text) {
    for (const char *s = text; *s;) {
        size_t n = strcspn(s, "\n");
        at_text_add(out, n ? " * " : " *");
        for (size_t j = 0; j < n; j++) /* a comment must not end early */
            at_text_addn(out, s[j] == '*' && s[j + 1] == '/' ? "* " : s + j,
                         s[j] == '*' && s[j + 1] == '/' ? 2 : 1);
        at_text_add(out, "\n");
        s += n + (s[n] == '\n');
    }
}
