/* base/json_value.h: JSON values that are made one by one, and asked for what they hold. */
#ifndef AT_BASE_JSON_VALUE_H
#define AT_BASE_JSON_VALUE_H

#include "base/json.h"

at_json *at_json_new(at_arena *a, at_json_kind kind);       /* null, false, 0 or empty */
at_json *at_json_new_string(at_arena *a, const char *text); /* borrows text */
at_json *at_json_new_int(at_arena *a, int64_t integer);
/* A copy of v, which shares its children, at the end of an array (key: NULL) or an object. */
void at_json_append(at_arena *a, at_json *list, const char *key, const at_json *v);

/* Is there a value of that kind? */
static inline bool at_json_is(const at_json *v, at_json_kind kind) { return v && v->kind == kind; }
const char *at_json_string_or(const at_json *v, const char *otherwise);
/* A member that is a string, or a number; NULL, or 0: there is none. */
const char *at_json_string_in(const at_json *object, const char *key);
double at_json_number_in(const at_json *object, const char *key);

#endif
