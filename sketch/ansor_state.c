/* sketch/ansor_state.c: steps by their names, one after the other. */
#include <string.h>

#include "sketch/ansor_int.h"

static at_status apply(ansor_state *s, const at_json *steps, const at_json *step) {
    const char *code = step->child->string;
    int64_t id = 0;
    ansor_stage *x = NULL;
    if (!strcmp(code, "CHR")) return ansor_cache_read(s, step);
    AT_TRY(ansor_stage_at(s, step, 1, &id, &x));
    if (!strcmp(code, "SP")) return ansor_split(s, step, x);
    if (!strcmp(code, "FSP")) return ansor_follow_split(s, steps, step, x);
    if (!strcmp(code, "FFSP")) return ansor_follow_fused_split(s, steps, step, x);
    if (!strcmp(code, "RE")) return ansor_reorder(s, step, x);
    if (!strcmp(code, "FU")) return ansor_fuse(s, step, x);
    if (!strcmp(code, "AN")) return ansor_annotate(s, step, x);
    if (!strcmp(code, "PR")) return ansor_pragma(s, step, x);
    if (!strcmp(code, "CA")) return ansor_attach(s, step, x);
    if (!strcmp(code, "CI")) return ansor_inline(s, x);
    if (!strcmp(code, "CR")) return ansor_detach(x), AT_OK;
    if (!strcmp(code, "CHW")) return ansor_cache_write(s, step, id, x);
    if (!strcmp(code, "RF")) return ansor_factor(s, step, id, x);
    if (!strcmp(code, "SA")) {
        at_text_addf(&s->notes, "storage of %s is not aligned as the record says\n", x->name);
        return AT_OK;
    }
    return ANSOR_REFUSE(s, "there are SP, FSP, FFSP, RE, FU, AN, PR, CA, CI, CR, CHW, CHR, RF, SA");
}

at_status ansor_apply(ansor_state *s, const at_json *steps) {
    int i = 0;
    if (steps->count > ANSOR_STEPS) return ANSOR_REFUSE(s, "more than %d steps", ANSOR_STEPS);
    for (const at_json *step = steps->child; step; step = step->next, i++) {
        if (step->kind != AT_JSON_ARRAY || !step->child || step->child->kind != AT_JSON_STRING)
            return ANSOR_REFUSE(s, "step %d is no list that begins with a text", i);
        if (apply(s, steps, step) == AT_OK) continue;
        at_fail_at(s->err, "step %d (%.8s): ", i, step->child->string);
        return AT_E_INPUT;
    }
    return AT_OK;
}
