/* base/json.h: JSON values. */
#ifndef AT_BASE_JSON_H
#define AT_BASE_JSON_H

#include "base/text.h"

/* ---- JSON (json.c, the only user of cJSON)
 * --------------------------------------------------------- */

typedef enum at_json_kind {
    AT_JSON_NULL,
    AT_JSON_BOOL,
    AT_JSON_NUMBER,
    AT_JSON_STRING,
    AT_JSON_ARRAY,
    AT_JSON_OBJECT
} at_json_kind;
typedef struct at_json at_json;
struct at_json {
    at_json_kind kind;
    bool boolean;
    bool is_int;     /* the number was written without '.', 'e' and fits integer */
    int64_t integer; /* exact if is_int, else the nearest to number */
    double number;
    const char *string;          /* value of a string */
    const char *key;             /* name within an object, else NULL */
    const at_json *child, *next; /* first child; next sibling */
    int count;                   /* children */
};
/* Parses all of text[0..len); trailing garbage is an error. Owned by arena. Errors: AT_E_INPUT with
 * the position. Members may come in any order; of duplicates the first counts. */
/* At least as many as there are values in a text, without parsing it. */
size_t at_json_most_values(const char *text, size_t len);
at_status at_json_parse(at_arena *a, const char *text, size_t len, const at_json **out,
                        at_error *err);
const at_json *at_json_get(const at_json *object,
                           const char *key);            /* NULL if absent; case counts */
const at_json *at_json_at(const at_json *array, int i); /* NULL if absent */
/* As Python's json.dumps writes it: ", " and ": ", doubles in shortest form. */
void at_json_print(at_text *out, const at_json *v);
char *at_json_text(at_arena *a, const at_json *v); /* the same, owned by arena */
/* The same tree in another spelling. */
typedef struct at_json_spelling {
    void (*leaf)(at_text *out, const at_json *v); /* null, bool, number, string */
    void (*key)(at_text *out, const char *key);
    const char *open, *close; /* of an array */
    const char *close_one;    /* of an array of one */
} at_json_spelling;
void at_json_spell(at_text *out, const at_json *v, const at_json_spelling *s);
/* The value with all below it; it has no key. */
const at_json *at_json_copy(at_arena *a, const at_json *v);

#endif
