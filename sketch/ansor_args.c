/* sketch/ansor_args.c: arguments of steps: numbers, lists, stages and loops by number. */
#include "sketch/ansor_int.h"

at_status ansor_number(ansor_state *s, const at_json *step, int i, int64_t *out) {
    const at_json *v = at_json_at(step, i);
    *out = 0;
    if (!v || v->kind != AT_JSON_NUMBER || !v->is_int)
        return ANSOR_REFUSE(s, "item %d is no whole number", i);
    *out = v->integer;
    return AT_OK;
}

at_status ansor_list(ansor_state *s, const at_json *step, int i, int64_t *out, int most, int *n) {
    const at_json *v = at_json_at(step, i);
    if (!v || v->kind != AT_JSON_ARRAY) return ANSOR_REFUSE(s, "item %d is no list", i);
    if (v->count > most) return ANSOR_REFUSE(s, "item %d has more than %d numbers", i, most);
    *n = 0;
    for (const at_json *x = v->child; x; x = x->next) {
        if (x->kind != AT_JSON_NUMBER || !x->is_int)
            return ANSOR_REFUSE(s, "item %d is no list of whole numbers", i);
        out[(*n)++] = x->integer;
    }
    return AT_OK;
}

at_status ansor_word(ansor_state *s, const at_json *step, int i, const char **out) {
    const at_json *v = at_json_at(step, i);
    *out = "";
    if (!v || v->kind != AT_JSON_STRING) return ANSOR_REFUSE(s, "item %d is no text", i);
    *out = v->string;
    return AT_OK;
}

at_status ansor_stage_at(ansor_state *s, const at_json *step, int i, int64_t *id,
                         ansor_stage **out) {
    AT_TRY(ansor_number(s, step, i, id));
    if (*id < 0 || *id >= s->num_stages)
        return ANSOR_REFUSE(s, "stage %lld: there are %d", (long long)*id, s->num_stages);
    *out = s->stage[*id];
    if ((*out)->declared)
        return ANSOR_REFUSE(s, "stage %lld is the input %s", (long long)*id, (*out)->name);
    return AT_OK;
}

at_status ansor_loop_number(ansor_state *s, const ansor_stage *x, int64_t i) {
    if (i >= 0 && i < x->num_loops) return AT_OK;
    return ANSOR_REFUSE(s, "loop %lld: %s has %d", (long long)i, x->name, x->num_loops);
}

at_status ansor_loop_at(ansor_state *s, const at_json *step, int i, const ansor_stage *x, int *id) {
    int64_t n = 0;
    *id = 0;
    AT_TRY(ansor_number(s, step, i, &n));
    AT_TRY(ansor_loop_number(s, x, n));
    *id = (int)n;
    return AT_OK;
}
