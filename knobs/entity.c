/* knobs/entity.c: entities compared, looked up, and spelled as JSON and as Python does. */
#include "knobs/knobs_int.h"

#include <string.h>

/* ---- comparing
 * --------------------------------------------------------------------------------------- */

static bool same_json(const at_json *x, const at_json *y) {
    if (x->kind != y->kind || x->count != y->count) return false;
    switch (x->kind) {
    case AT_JSON_NULL: return true;
    case AT_JSON_BOOL: return x->boolean == y->boolean;
    case AT_JSON_NUMBER:
        return x->is_int && y->is_int ? x->integer == y->integer : x->number == y->number;
    case AT_JSON_STRING: return !strcmp(x->string, y->string);
    case AT_JSON_ARRAY:
    case AT_JSON_OBJECT: break;
    }
    for (x = x->child, y = y->child; x; x = x->next, y = y->next)
        if ((x->key && strcmp(x->key, y->key)) || !same_json(x, y)) return false;
    return true;
}

static bool same_from(const at_entity *x, const at_entity *y, int first) {
    if (x->kind != y->kind || x->n != y->n || !x->marks != !y->marks) return false;
    if (x->kind == AT_KNOB_OPTION) return same_json(x->option, y->option);
    for (int i = first; i < x->n; i++)
        if (x->marks ? strcmp(x->marks[i], y->marks[i]) : x->sizes[i] != y->sizes[i]) return false;
    return true;
}

bool at_entity_alike(const at_entity *x, const at_entity *y) {
    return same_from(x, y, x->kind == AT_KNOB_SPLIT && x->n > 1);
}

const at_entity *at_knob_view(at_arena *a, const at_knob *k) {
    at_entity *e = AT_NEW_ARRAY(a, at_entity, k->count);
    for (int64_t i = 0; i < k->count; i++) {
        e[i].kind = k->kind;
        e[i].n = k->parts;
        if (k->options) e[i].option = k->options[i];
        else if (k->marks) e[i].marks = k->marks + i * k->parts;
        else e[i].sizes = k->values + i * k->parts;
    }
    return e;
}

/* Candidate lists may differ in the first size alone, so an exact match goes first. */
int64_t at_knob_digit(const at_knob *k, const at_entity *e) {
    for (int64_t i = 0; i < k->count; i++)
        if (same_from(&k->entities[i], e, 0)) return i;
    if (k->kind == AT_KNOB_SPLIT)
        for (int64_t i = 0; i < k->count; i++)
            if (at_entity_alike(&k->entities[i], e)) return i;
    return -1;
}

/* ---- JSON
 * -------------------------------------------------------------------------------------------- */

static void print_sizes(at_text *out, const at_entity *e, char open, char close) {
    at_text_addf(out, "%c", open);
    for (int i = 0; i < e->n; i++) at_text_addf(out, i ? ", %lld" : "%lld", (long long)e->sizes[i]);
    /* A tuple of one is told from parentheses by its comma. */
    at_text_addf(out, open == '(' && e->n == 1 ? ",%c" : "%c", close);
}

static void print_marks(at_text *out, const at_entity *e, void (*add)(at_text *, const char *)) {
    at_text_add(out, "[");
    for (int i = 0; i < e->n; i++) {
        if (i) at_text_add(out, ", ");
        add(out, e->marks[i]);
    }
    at_text_add(out, "]");
}

void at_entity_print_json(at_text *out, const at_entity *e) {
    if (e->kind == AT_KNOB_OPTION) at_json_print(out, e->option);
    else if (e->marks) print_marks(out, e, at_text_add_json_string);
    else print_sizes(out, e, '[', ']');
}

/* ---- Python
 * ------------------------------------------------------------------------------------------ */

static void python_leaf(at_text *out, const at_json *v) {
    if (v->kind == AT_JSON_NULL) at_text_add(out, "None");
    else if (v->kind == AT_JSON_BOOL) at_text_add(out, v->boolean ? "True" : "False");
    else if (v->kind == AT_JSON_STRING) at_text_add_python_string(out, v->string);
    else if (v->is_int) at_text_addf(out, "%lld", (long long)v->integer);
    else at_text_add_double(out, v->number);
}

void at_python_value(at_text *out, const at_json *v) {
    static const at_json_spelling repr = {python_leaf, at_text_add_python_string, "[", "]", "]"};
    if (v->kind == AT_JSON_STRING) at_text_add(out, v->string);
    else at_json_spell(out, v, &repr);
}

void at_entity_print_python(at_text *out, const at_entity *e, bool permutation_as_tuple) {
    const bool tuple = e->kind == AT_KNOB_REORDER && permutation_as_tuple;
    if (e->kind == AT_KNOB_OPTION) at_python_value(out, e->option);
    else if (e->marks) print_marks(out, e, at_text_add_python_string);
    else print_sizes(out, e, tuple ? '(' : '[', tuple ? ')' : ']');
}

void at_names_list(at_text *out, const char *const *names, int n) {
    if (!n) at_text_add(out, "no knobs");
    for (int i = 0; i < n; i++) at_text_addf(out, i ? ", %s" : "%s", names[i]);
}
