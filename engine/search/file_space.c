/* engine/search/file_space.c: a space of records alone; see file_space.h. */
#include "engine/search/file_space.h"

#include <stdlib.h>
#include <string.h>

#include "records/records.h"

typedef struct values {
    const char *name;
    at_key_map spelled; /* each value once */
    AT_VEC(at_entity) of;
} values;

struct at_file_space {
    at_arena *arena;
    values *knobs; /* [num_knobs] */
    int num_knobs, num_points;
    AT_VEC(int) numbers; /* [num_points][num_knobs] of values, in order of appearance */
};

at_file_space *at_file_space_new(at_arena *a) {
    at_file_space *f = AT_NEW(a, at_file_space);
    f->arena = a;
    return f;
}

static void begin(at_file_space *f, const at_config *c) {
    f->num_knobs = c->num_knobs;
    f->knobs = AT_NEW_ARRAY(f->arena, values, c->num_knobs);
    for (int k = 0; k < c->num_knobs; k++) {
        f->knobs[k].name = at_strdup(f->arena, c->names[k]);
        f->knobs[k].spelled.arena = f->arena;
    }
}

static bool has_same_knobs(const at_file_space *f, const at_config *c) {
    if (c->num_knobs != f->num_knobs) return false;
    for (int k = 0; k < c->num_knobs; k++)
        if (strcmp(c->names[k], f->knobs[k].name)) return false;
    return true;
}

static at_entity copy(at_arena *a, const at_entity *e) {
    at_entity c = *e;
    if (e->option) c.option = at_json_copy(a, e->option);
    if (e->sizes) c.sizes = at_copy(a, e->sizes, sizeof *e->sizes * (size_t)e->n);
    if (e->marks) {
        const char **marks = AT_NEW_ARRAY(a, const char *, e->n);
        for (int i = 0; i < e->n; i++) marks[i] = at_strdup(a, e->marks[i]);
        c.marks = marks;
    }
    return c;
}

bool at_file_space_add(at_file_space *f, const at_config *c) {
    at_text text = {0};
    if (!f->num_points) begin(f, c);
    if (!has_same_knobs(f, c)) return false;
    for (int k = 0; k < c->num_knobs; k++) {
        values *v = &f->knobs[k];
        at_config one = {.num_knobs = 1, .names = &c->names[k], .entities = &c->entities[k]};
        at_text_clear(&text);
        at_config_print_entity(&text, &one);
        int number = at_key_map_add(&v->spelled, at_text_str(&text));
        if (number == v->of.len) *at_push(f->arena, &v->of) = copy(f->arena, &c->entities[k]);
        *at_push(f->arena, &f->numbers) = number;
    }
    f->num_points++;
    at_text_free(&text);
    return true;
}

/* ---- in order ------------------------------------------------------------------------------- */

typedef struct placed {
    const at_entity *entity;
    int number;
} placed;

/* Below, above or neither, by the first numbers that differ; what is of one form stands together.
 */
static int compare(const at_entity *x, const at_entity *y) {
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->n != y->n) return x->n < y->n ? -1 : 1;
    if (!x->marks != !y->marks) return x->marks ? -1 : 1;
    if (x->kind == AT_KNOB_OPTION) {
        if (x->option->kind != AT_JSON_NUMBER || y->option->kind != AT_JSON_NUMBER)
            return (x->option->kind == AT_JSON_NUMBER) - (y->option->kind == AT_JSON_NUMBER);
        return (x->option->number > y->option->number) - (x->option->number < y->option->number);
    }
    for (int i = 0; x->sizes && i < x->n; i++)
        if (x->sizes[i] != y->sizes[i]) return x->sizes[i] < y->sizes[i] ? -1 : 1;
    return 0;
}

static int by_value(const void *x, const void *y) {
    const placed *a = x, *b = y;
    int c = compare(a->entity, b->entity);
    return c ? c : (a->number > b->number) - (a->number < b->number);
}

/* Declares the knob; digits[number] is where a value has come to. */
static at_status declare(at_file_space *f, at_space *space, int k, int64_t *digits, at_error *err) {
    const values *v = &f->knobs[k];
    placed *order = AT_NEW_ARRAY(f->arena, placed, v->of.len);
    at_entity *sorted = AT_NEW_ARRAY(f->arena, at_entity, v->of.len);
    for (int i = 0; i < v->of.len; i++) order[i] = (placed){&v->of.data[i], i};
    qsort(order, (size_t)v->of.len, sizeof *order, by_value);
    for (int i = 0; i < v->of.len; i++) {
        sorted[i] = *order[i].entity;
        digits[order[i].number] = i;
    }
    return at_space_values(space, v->name, sorted, v->of.len, err);
}

at_status at_file_space_end(at_file_space *f, at_space **space, const int64_t **indices,
                            at_error *err) {
    AT_ASSERT(f->num_points);
    int n = f->num_knobs;
    int64_t **digits = AT_NEW_ARRAY(f->arena, int64_t *, n);
    int64_t *point = AT_NEW_ARRAY(f->arena, int64_t, n);
    int64_t *all = AT_NEW_ARRAY(f->arena, int64_t, f->num_points);
    *space = at_space_new(f->arena);
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < k; i++)
            if (!strcmp(f->knobs[i].name, f->knobs[k].name))
                return at_fail(err, AT_E_INPUT, "knob %s occurs twice", f->knobs[k].name);
        digits[k] = AT_NEW_ARRAY(f->arena, int64_t, f->knobs[k].of.len);
        AT_TRY(declare(f, *space, k, digits[k], err));
    }
    for (int i = 0; i < f->num_points; i++) {
        for (int k = 0; k < n; k++) point[k] = digits[k][f->numbers.data[(int64_t)i * n + k]];
        all[i] = at_space_index(*space, point);
    }
    at_space_only(*space, all, f->num_points);
    *indices = all;
    return AT_OK;
}

/* A value of a knob, spelled as in the entities of records. */
static at_status read_value(at_arena *a, const at_json *knob, const at_json *value, at_entity *out,
                            at_error *err) {
    const at_json *config, *kind = at_json_get(knob, "kind");
    const char *name = at_json_get(knob, "name")->string;
    at_text text = {0};
    at_config one;
    at_text_add(&text, "{\"entity\": [[");
    at_text_add_json_string(&text, name);
    at_text_add(&text, ", ");
    at_json_print(&text, kind);
    at_text_add(&text, ", ");
    at_json_print(&text, value);
    at_text_add(&text, "]]}");
    AT_ASSERT(at_json_parse(a, at_strdup(a, at_text_str(&text)), text.len, &config, NULL) == AT_OK);
    at_text_free(&text);
    AT_TRY(at_config_from_json(a, NULL, config, &one, err));
    *out = one.entities[0];
    return AT_OK;
}

at_status at_file_space_of_knobs(at_arena *a, const at_json *knobs, const int64_t *indices,
                                 int64_t n, at_space **space, at_error *err) {
    *space = at_space_new(a);
    for (const at_json *k = knobs->child; k; k = k->next) {
        const at_json *name = at_json_get(k, "name"), *kind = at_json_get(k, "kind"),
                      *list = at_json_get(k, "values");
        if (!name || name->kind != AT_JSON_STRING || !kind || kind->kind != AT_JSON_STRING || !list)
            return at_fail(err, AT_E_INPUT, "a knob has no name, kind and values");
        int64_t i = 0;
        at_entity *entities = AT_NEW_ARRAY(a, at_entity, list->count);
        if (at_space_find_knob(*space, name->string) >= 0)
            return at_fail(err, AT_E_INPUT, "knob %s occurs twice", name->string);
        for (const at_json *v = list->child; v; v = v->next)
            AT_TRY(read_value(a, k, v, &entities[i++], err));
        AT_TRY(at_space_values(*space, name->string, entities, i, err));
    }
    at_space_only(*space, indices, n);
    return AT_OK;
}
