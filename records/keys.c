/* records/keys.c: the texts by which AutoTVM tells measurements and workloads apart, in Python's
 * spelling.
 * Source of behaviour: TVM v0.12, python/tvm/autotvm/record.py (measure_str_key). */
#include "records/records_int.h"

#include <math.h>
#include <string.h>

/* ---- Python's repr -------------------------------------------------------------------------- */

/* by_value: numbers that compare equal are spelled alike. */
static void add_number(at_text *out, const at_json *v, bool by_value) {
    bool whole =
        v->is_int || (by_value && fabs(v->number) < 0x1p53 && v->number == (double)v->integer);
    if (whole) at_text_add_int(out, v->integer);
    else at_text_add_double(out, v->number);
}

static void add_leaf(at_text *out, const at_json *v, bool by_value) {
    if (v->kind == AT_JSON_NULL) at_text_add(out, "None");
    /* A program's True has become 1 once it has been through a log. */
    else if (v->kind == AT_JSON_BOOL) at_text_add(out, v->boolean ? "1" : "0");
    else if (v->kind == AT_JSON_NUMBER) add_number(out, v, by_value);
    else at_text_add_python_string(out, v->string);
}

static void leaf_as_written(at_text *out, const at_json *v) { add_leaf(out, v, false); }
static void leaf_by_value(at_text *out, const at_json *v) { add_leaf(out, v, true); }

static void add_value(at_text *out, const at_json *v, bool by_value) {
    static const at_json_spelling as_written = {leaf_as_written, at_text_add_python_string, "(",
                                                ")", ",)"},
                                  of_value = {leaf_by_value, at_text_add_python_string, "(", ")",
                                              ",)"};
    at_json_spell(out, v, by_value ? &of_value : &as_written);
}

/* ---- keys ----------------------------------------------------------------------------------- */

void at_workload_key(at_text *out, const at_record *r) {
    at_tvm_target_canonical(out, r->target);
    at_text_add(out, r->task);
    add_value(out, r->args_written ? r->args_written : r->args, false);
    at_text_add(out, "{}");
}

void at_measurement_key(at_text *out, const at_record *r) {
    at_workload_key(out, r);
    at_config_print_str(out, &r->config);
    /* A configuration knows neither the code hash of its record nor, perhaps, the index it was
     * recorded under: "...,None,7" gets the record's own. */
    for (int commas = 2; commas && out->len;)
        if (out->data[--out->len] == ',') commas--;
    at_text_addf(out, ",%s,%lld", r->code_hash ? r->code_hash : "None",
                 (long long)at_record_index(r));
}

void at_workload_identity(at_text *out, const at_record *r) {
    at_text_add(out, r->task);
    add_value(out, r->args, true);
}

static bool is_number(const at_json *v) {
    return v->kind == AT_JSON_NUMBER || v->kind == AT_JSON_BOOL;
}

static bool same_number(const at_json *x, const at_json *y) {
    bool x_int = x->kind == AT_JSON_BOOL || x->is_int, y_int = y->kind == AT_JSON_BOOL || y->is_int;
    int64_t xi = x->kind == AT_JSON_BOOL ? x->boolean : x->integer;
    int64_t yi = y->kind == AT_JSON_BOOL ? y->boolean : y->integer;
    if (x_int && y_int) return xi == yi;
    return (x_int ? (double)xi : x->number) == (y_int ? (double)yi : y->number);
}

bool at_args_equal(const at_json *x, const at_json *y) {
    if (is_number(x) && is_number(y)) return same_number(x, y);
    if (x->kind != y->kind || x->count != y->count) return false;
    if (x->kind == AT_JSON_STRING) return !strcmp(x->string, y->string);
    const at_json *j = y->child;
    for (const at_json *i = x->child; i; i = i->next, j = j->next) {
        const at_json *mine = i, *other = j;
        if (x->kind == AT_JSON_OBJECT) { /* of members with one name the first counts */
            if (!at_json_get(x, j->key)) return false;
            mine = at_json_get(x, i->key);
            other = at_json_get(y, i->key);
        }
        if (!other || !at_args_equal(mine, other)) return false;
    }
    return true;
}

bool at_same_task(const char *name, const at_json *args, const char *other,
                  const at_json *other_args) {
    return !strcmp(name, other) && at_args_equal(args, other_args);
}

/* ---- numbering keys ------------------------------------------------------------------------- */

static uint64_t hash_of(const char *key) {
    at_hash h;
    at_hash_init(&h);
    at_hash_add(&h, key, strlen(key));
    return h.lo ^ h.hi;
}

/* The slot that holds key, or the free one where it belongs. */
static int slot_of(const at_key_map *m, const char *key) {
    int mask = m->cap - 1, i = (int)(hash_of(key) & (uint64_t)mask);
    while (m->slots[i] && strcmp(m->keys.data[m->slots[i] - 1], key) != 0) i = (i + 1) & mask;
    return i;
}

int at_key_map_find(const at_key_map *m, const char *key) {
    return m->cap ? m->slots[slot_of(m, key)] - 1 : -1;
}

int at_key_map_add(at_key_map *m, const char *key) {
    if (2 * m->keys.len >= m->cap) {
        m->cap = m->cap ? 2 * m->cap : 64;
        m->slots = AT_NEW_ARRAY(m->arena, int, m->cap);
        for (int i = 0; i < m->keys.len; i++) m->slots[slot_of(m, m->keys.data[i])] = i + 1;
    }
    int slot = slot_of(m, key);
    if (!m->slots[slot]) {
        *at_push(m->arena, &m->keys) = at_strdup(m->arena, key);
        m->slots[slot] = m->keys.len;
    }
    return m->slots[slot] - 1;
}
