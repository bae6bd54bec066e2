/* codegen/note.c: what lowering says about a program: notes, where the code is not as the tree is
 * written, and the first failure. */
#include "codegen/codegen_int.h"

#include <string.h>

void at_lower_note(at_low *l, const char *text) {
    for (int i = 0; i < l->notes.len; i++)
        if (!strcmp(l->notes.data[i], text)) return;
    *at_push(l->arena, &l->notes) = text;
}

const char *at_note_no_vector(const at_low *l, const at_ir *loop, const char *why) {
    return at_format(l->arena, "line %d: %s:vec makes no vectors: %s", loop->line,
                     l->syms.data[loop->loop.sym].name, why);
}

const char *at_note_no_dot(const at_low *l, const at_ir *loop, const char *why) {
    return at_format(l->arena, "line %d: %s:dot makes no dot products: %s", loop->line,
                     l->syms.data[loop->loop.sym].name, why);
}

void at_lower_fail(at_low *l, const char *fmt, ...) {
    if (l->err->status != AT_OK) return; /* the first one counts */
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(l->err->text, sizeof l->err->text, fmt, ap);
    va_end(ap);
    l->err->status = AT_E_INPUT;
}

bool at_lower_goes_on(at_low *l) {
    if (l->err->status == AT_OK && at_halts()) (void)at_fail_stopped(l->err);
    return l->err->status == AT_OK;
}
