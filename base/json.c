/* base/json.c: JSON text to an at_json tree and back; the only user of cJSON.
 *
 * cJSON parses exactly but keeps neither the spelling of numbers (1 or 1.0, digits beyond 2^53) nor
 * a note of what it tolerated. A second cursor therefore walks the text along with the tree: nodes
 * come in the order of the text, so the next number there belongs to the next number node here.
 * Printing is all ours, since cJSON's drops digits. */
#include "base/base.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct cursor {
    at_arena *arena;
    const char *text, *at, *end;
    at_error *err;
} cursor;

static at_status fail_at_place(const cursor *c, const char *place, const char *text) {
    int line = 1, column = 1;
    for (const char *p = c->text; p < place; p++) {
        column++;
        if (*p == '\n') line++, column = 1;
    }
    int shown = 0;
    while (place + shown < c->end && shown < 20 && (unsigned char)place[shown] >= ' ') shown++;
    char where[64];
    if (line > 1) snprintf(where, sizeof where, "line %d, column %d", line, column);
    else snprintf(where, sizeof where, "column %d", column);
    if (!shown) return at_fail(c->err, AT_E_INPUT, "JSON, %s: %s", where, text);
    return at_fail(c->err, AT_E_INPUT, "JSON, %s: %s, at '%.*s'", where, text, shown, place);
}

/* Moves past the next number of the text, *start to its first character. */
static void next_number(cursor *c, const char **start) {
    const char *p = c->at;
    while (p < c->end && *p != '-' && (*p < '0' || *p > '9')) {
        if (*p++ != '"') continue;
        while (p < c->end && *p != '"') p += *p == '\\' ? 2 : 1;
        p++;
    }
    *start = p;
    while (p < c->end && ((*p >= '0' && *p <= '9') || *p == '.' || *p == '-' || *p == '+' ||
                          *p == 'e' || *p == 'E'))
        p++;
    c->at = p;
}

static const char *digits(const char *p, const char *end) {
    while (p < end && *p >= '0' && *p <= '9') p++;
    return p;
}

/* cJSON leaves numbers to strtod, which takes 01, 1. and -.5 as well. */
static bool is_json_number(const char *p, const char *end, bool *whole) {
    *whole = true;
    if (p < end && *p == '-') p++;
    const char *q = digits(p, end);
    if (q == p || (*p == '0' && q > p + 1)) return false;
    p = q;
    if (p < end && *p == '.') {
        *whole = false;
        q = digits(++p, end);
        if (q == p) return false;
        p = q;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        *whole = false;
        if (++p < end && (*p == '+' || *p == '-')) p++;
        q = digits(p, end);
        if (q == p) return false;
        p = q;
    }
    return p == end;
}

static at_status convert_number(cursor *c, at_json *v, double number) {
    const char *start;
    bool whole;
    next_number(c, &start);
    if (!is_json_number(start, c->at, &whole)) return fail_at_place(c, start, "not a JSON number");
    if (!isfinite(number)) return fail_at_place(c, start, "number beyond a double");
    v->kind = AT_JSON_NUMBER;
    v->number = number;
    if (whole && c->at - start < 32) {
        char spelled[32];
        memcpy(spelled, start, (size_t)(c->at - start));
        spelled[c->at - start] = 0;
        errno = 0;
        v->integer = strtoll(spelled, NULL, 10);
        v->is_int = errno == 0;
    }
    if (!v->is_int)
        v->integer = number >= 0x1p63 ? INT64_MAX : number < -0x1p63 ? INT64_MIN : llrint(number);
    return AT_OK;
}

static at_status convert(cursor *c, const cJSON *from, at_json **out) {
    at_json *v = AT_NEW(c->arena, at_json);
    if (from->string) v->key = at_strdup(c->arena, from->string);
    *out = v;
    switch (from->type & 0xff) {
    case cJSON_NULL: v->kind = AT_JSON_NULL; return AT_OK;
    case cJSON_False: v->kind = AT_JSON_BOOL; return AT_OK;
    case cJSON_True:
        v->kind = AT_JSON_BOOL;
        v->boolean = true;
        return AT_OK;
    case cJSON_Number: return convert_number(c, v, from->valuedouble);
    case cJSON_String:
        v->kind = AT_JSON_STRING;
        v->string = at_strdup(c->arena, from->valuestring);
        return AT_OK;
    }
    v->kind = cJSON_IsArray(from) ? AT_JSON_ARRAY : AT_JSON_OBJECT;
    const at_json **link = &v->child;
    for (const cJSON *item = from->child; item; item = item->next) {
        at_json *child;
        AT_TRY(convert(c, item, &child));
        *link = child;
        link = &child->next;
        v->count++;
    }
    return AT_OK;
}

/* cJSON allocates every node and every text by itself, and a record has a hundred of them: half of
 * the time of reading a log. They live in one arena until the tree has been converted. */
static _Thread_local at_arena *nodes;
enum { MOST_KEPT_BYTES = 1 << 20 };

/* A thread that ends gives its arena back. */
static pthread_key_t key_of_nodes;
static void free_at_end(void *arena) { at_arena_free(arena); }
static void make_key(void) { (void)pthread_key_create(&key_of_nodes, free_at_end); }

static void take_nodes(at_arena *a) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_key);
    (void)pthread_setspecific(key_of_nodes, a);
    nodes = a;
}

/* cJSON has these for the whole process, in which others may parse, too. */
static _Thread_local bool is_parsing;
static void *alloc_node(size_t size_bytes) {
    return is_parsing ? at_alloc(nodes, size_bytes) : malloc(size_bytes);
}
static void free_node(void *p) {
    if (!is_parsing) free(p);
}

static void free_nodes(void) {
    if (at_arena_used(nodes) <= MOST_KEPT_BYTES) {
        at_arena_reset(nodes);
        return;
    }
    at_arena_free(nodes);
    take_nodes(NULL);
}

static at_status parse(cursor *c, at_json **out) {
    const char *stop = c->text;
    /* Without a NUL asked for, so that what follows the value can be looked at here. */
    cJSON *tree = cJSON_ParseWithLengthOpts(c->text, (size_t)(c->end - c->text), &stop, false);
    if (!tree) {
        /* cJSON names the last character when it ran out of text. */
        if (stop + 1 >= c->end) return fail_at_place(c, stop, "syntax error or unexpected end");
        return fail_at_place(c, stop, "syntax error");
    }
    AT_TRY(convert(c, tree, out));
    while (stop < c->end && *stop && strchr(" \t\r\n", *stop)) stop++;
    return stop < c->end ? fail_at_place(c, stop, "more text behind the value") : AT_OK;
}

size_t at_json_most_values(const char *text, size_t len) {
    size_t n = 1;
    for (const char *p = text, *end = text + len; p < end; p++)
        n += *p == ',' || *p == '[' || *p == '{';
    return n;
}

at_status at_json_parse(at_arena *a, const char *text, size_t len, const at_json **out,
                        at_error *err) {
    cursor c = {.arena = a, .text = text, .at = text, .end = text + len, .err = err};
    at_json *v = NULL;
    if (!nodes) take_nodes(at_arena_new());
    cJSON_InitHooks(&(cJSON_Hooks){alloc_node, free_node});
    is_parsing = true;
    at_status s = parse(&c, &v);
    is_parsing = false;
    free_nodes();
    if (s == AT_OK) *out = v;
    return s;
}

const at_json *at_json_get(const at_json *object, const char *key) {
    if (!object || object->kind != AT_JSON_OBJECT) return NULL;
    for (const at_json *v = object->child; v; v = v->next)
        if (!strcmp(v->key, key)) return v;
    return NULL;
}

const at_json *at_json_at(const at_json *array, int i) {
    if (!array || array->kind != AT_JSON_ARRAY || i < 0 || i >= array->count) return NULL;
    const at_json *v = array->child;
    while (i--) v = v->next;
    return v;
}

static void print_number(at_text *out, const at_json *v) {
    if (v->is_int) at_text_addf(out, "%lld", (long long)v->integer);
    else if (isnan(v->number)) at_text_add(out, "NaN");
    else if (isinf(v->number)) at_text_add(out, v->number < 0 ? "-Infinity" : "Infinity");
    else at_text_add_double(out, v->number);
}

void at_json_spell(at_text *out, const at_json *v, const at_json_spelling *s) {
    bool object = v->kind == AT_JSON_OBJECT;
    if (!object && v->kind != AT_JSON_ARRAY) {
        s->leaf(out, v);
        return;
    }
    at_text_add(out, object ? "{" : s->open);
    for (const at_json *item = v->child; item; item = item->next) {
        if (item != v->child) at_text_add(out, ", ");
        if (object) {
            s->key(out, item->key);
            at_text_add(out, ": ");
        }
        at_json_spell(out, item, s);
    }
    at_text_add(out, object ? "}" : v->count == 1 ? s->close_one : s->close);
}

static void print_leaf(at_text *out, const at_json *v) {
    if (v->kind == AT_JSON_NULL) at_text_add(out, "null");
    else if (v->kind == AT_JSON_BOOL) at_text_add(out, v->boolean ? "true" : "false");
    else if (v->kind == AT_JSON_NUMBER) print_number(out, v);
    else at_text_add_json_string(out, v->string);
}

void at_json_print(at_text *out, const at_json *v) {
    static const at_json_spelling json = {print_leaf, at_text_add_json_string, "[", "]", "]"};
    at_json_spell(out, v, &json);
}

char *at_json_text(at_arena *a, const at_json *v) {
    at_text text = {0};
    at_json_print(&text, v);
    return at_text_take(a, &text);
}

const at_json *at_json_copy(at_arena *a, const at_json *v) {
    at_json *copy = at_copy(a, v, sizeof *v);
    copy->key = NULL;
    copy->next = copy->child = NULL;
    if (v->string) copy->string = at_strdup(a, v->string);
    const at_json **link = &copy->child;
    for (const at_json *item = v->child; item; item = item->next) {
        at_json *child = (at_json *)at_json_copy(a, item);
        if (item->key) child->key = at_strdup(a, item->key);
        *link = child;
        link = &child->next;
    }
    return copy;
}
