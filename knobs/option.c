/* knobs/option.c: a knob that is any value of a list. Source: AutoTVM, OtherOptionSpace. */
#include "knobs/knobs_int.h"

#include <string.h>

at_status at_space_option(at_space *s, const char *name, const char *json, at_error *err) {
    const at_json *list;
    at_status st = at_json_parse(s->arena, json, strlen(json), &list, err);
    if (st != AT_OK) {
        if (err) at_fail_at(err, "knob %s: ", name);
        return st;
    }
    if (list->kind != AT_JSON_ARRAY || !list->count)
        return at_fail(err, AT_E_INPUT, "knob %s: %s; a list of values such as [1, 2] is needed",
                       name, json);
    at_knob *k = at_knob_new(s, AT_KNOB_OPTION, name, "", 1);
    const at_json **options = AT_NEW_ARRAY(s->arena, const at_json *, list->count);
    int64_t *values = AT_NEW_ARRAY(s->arena, int64_t, list->count);
    bool whole = true;
    for (const at_json *v = list->child; v; v = v->next) {
        options[k->count] = v;
        whole &= v->kind == AT_JSON_BOOL || (v->kind == AT_JSON_NUMBER && v->is_int);
        values[k->count++] = v->kind == AT_JSON_BOOL ? v->boolean : v->integer;
    }
    k->options = options;
    k->values = whole ? values : NULL;
    return at_space_put(s, k, err);
}
