/* export/params.c: names, types and lists of parameters, as every part of an emitted file spells
 * them. */
#include "export/export_int.h"

#include <string.h>

const char *at_file_type(const at_param *q) { return q->is_int ? "int" : "float"; }

void at_file_name(at_text *out, const char *name) {
    static const char *const own[] = {"workspace", "buf", "shape", "threads", "par", "aligned"};
    bool taken = at_c_is_reserved(name);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) taken |= !strcmp(name, own[i]);
    at_text_addf(out, "%s%s%s", *name == '_' ? "k" : "", name, taken ? "_" : "");
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
    at_text safe = {0};
    at_text_add_c_comment(&safe, text);
    for (const char *s = at_text_str(&safe); *s;) {
        size_t n = strcspn(s, "\n");
        at_text_addf(out, n ? " * %.*s\n" : " *\n", (int)n, s);
        s += n + (s[n] == '\n');
    }
    at_text_free(&safe);
}
