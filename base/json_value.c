/* base/json_value.c: see json_value.h. */
#include "base/json_value.h"

/* ---- made ------------------------------------------------------------------------------------ */

at_json *at_json_new(at_arena *a, at_json_kind kind) {
    at_json *v = AT_NEW(a, at_json);
    v->kind = kind;
    return v;
}

at_json *at_json_new_string(at_arena *a, const char *text) {
    at_json *v = at_json_new(a, AT_JSON_STRING);
    v->string = text;
    return v;
}

at_json *at_json_new_int(at_arena *a, int64_t integer) {
    at_json *v = at_json_new(a, AT_JSON_NUMBER);
    v->is_int = true;
    v->number = (double)(v->integer = integer);
    return v;
}

void at_json_append(at_arena *a, at_json *list, const char *key, const at_json *v) {
    at_json *item = at_copy(a, v, sizeof *v);
    item->key = key;
    item->next = NULL;
    const at_json **link = &list->child;
    while (*link) link = (const at_json **)&((at_json *)*link)->next;
    *link = item;
    list->count++;
}

/* ---- asked ----------------------------------------------------------------------------------- */

const char *at_json_string_or(const at_json *v, const char *otherwise) {
    return at_json_is(v, AT_JSON_STRING) ? v->string : otherwise;
}

const char *at_json_string_in(const at_json *object, const char *key) {
    return at_json_string_or(at_json_get(object, key), NULL);
}

double at_json_number_in(const at_json *object, const char *key) {
    const at_json *v = at_json_get(object, key);
    return at_json_is(v, AT_JSON_NUMBER) ? v->number : 0;
}
