/* knobs/config_json.c: a configuration read from a record, first for its form, then against a
 * space. The entity is the truth: its index is worked out, the recorded one only kept beside it. */
#include "knobs/knobs_int.h"

#include <string.h>

static at_status refuse(const char *knob, const at_json *value, const char *expected,
                        at_error *err) {
    at_text t = {0};
    at_json_print(&t, value);
    at_status s = at_fail(err, AT_E_INPUT, "knob %s: %s; %s", knob, at_text_str(&t), expected);
    at_text_free(&t);
    return s;
}

/* ---- form
 * -------------------------------------------------------------------------------------------- */

static const char *const kind_names[] = {"sp", "re", "an", "ot"};

static bool all_are(const at_json *array, at_json_kind kind) {
    for (const at_json *v = array->child; v; v = v->next)
        if (v->kind != kind || (kind == AT_JSON_NUMBER && !v->is_int)) return false;
    return true;
}

static at_status read_value(at_arena *a, const char *knob, const at_json *value, at_entity *e,
                            at_error *err) {
    if (e->kind == AT_KNOB_OPTION) {
        e->n = 1;
        e->option = value;
        return AT_OK;
    }
    bool array = value->kind == AT_JSON_ARRAY && value->count;
    bool numbers = array && all_are(value, AT_JSON_NUMBER);
    bool words = array && e->kind == AT_KNOB_ANNOTATE && all_are(value, AT_JSON_STRING);
    if (!numbers && !words)
        return refuse(knob, value,
                      e->kind == AT_KNOB_ANNOTATE
                          ? "a list of marks such as [\"none\", \"vec\"] is needed"
                          : "a list of whole numbers is needed",
                      err);
    int64_t *sizes = words ? NULL : AT_NEW_ARRAY(a, int64_t, value->count);
    const char **marks = words ? AT_NEW_ARRAY(a, const char *, value->count) : NULL;
    for (const at_json *v = value->child; v; v = v->next, e->n++) {
        if (words) marks[e->n] = v->string;
        else sizes[e->n] = v->integer;
    }
    e->sizes = sizes;
    e->marks = marks;
    return AT_OK;
}

/* ["tile_x", "sp", [-1, 8, 2]] */
static at_status read_triple(at_arena *a, const at_json *triple, int number, const char **name,
                             at_entity *e, at_error *err) {
    const at_json *n = at_json_at(triple, 0), *kind = at_json_at(triple, 1);
    if (!kind || triple->count != 3 || n->kind != AT_JSON_STRING || kind->kind != AT_JSON_STRING)
        return at_fail(err, AT_E_INPUT, "entity, item %d: [name, kind, value] is needed", number);
    *name = n->string;
    for (int i = 0; i < 4; i++) {
        if (strcmp(kind->string, kind_names[i])) continue;
        *e = (at_entity){.kind = (at_knob_kind)i};
        return read_value(a, *name, at_json_at(triple, 2), e, err);
    }
    return at_fail(err, AT_E_INPUT, "knob %s: unknown kind \"%s\"; there are sp, re, an, ot", *name,
                   kind->string);
}

enum { AT_MOST_KNOBS = 256 };

static at_status read_form(at_arena *a, const at_json *config, at_config *out, at_error *err) {
    const at_json *list = at_json_get(config, "entity"), *index = at_json_get(config, "index");
    if (!list || list->kind != AT_JSON_ARRAY)
        return at_fail(err, AT_E_INPUT, "config: no list \"entity\"");
    if (index && index->kind != AT_JSON_NULL && !(index->kind == AT_JSON_NUMBER && index->is_int))
        return at_fail(err, AT_E_INPUT, "config: \"index\" is not a whole number");
    if (list->count > AT_MOST_KNOBS)
        return at_fail(err, AT_E_INPUT, "an entity of %d knobs; at most %d are read", list->count,
                       AT_MOST_KNOBS);
    const char **names = AT_NEW_ARRAY(a, const char *, list->count);
    at_entity *e = AT_NEW_ARRAY(a, at_entity, list->count);
    int n = 0;
    for (const at_json *triple = list->child; triple; triple = triple->next, n++) {
        AT_TRY(read_triple(a, triple, n, &names[n], &e[n], err));
        for (int i = 0; i < n; i++)
            if (!strcmp(names[i], names[n]))
                return at_fail(err, AT_E_INPUT, "knob %s occurs twice in the entity", names[n]);
    }
    *out = (at_config){NULL, -1, -1, n, names, e};
    if (index && index->kind == AT_JSON_NUMBER) out->recorded_index = index->integer;
    return AT_OK;
}

/* ---- against the space
 * ------------------------------------------------------------------------------- */

/* "knob tile_x: [-1, 5, 2] PROBLEM". */
static at_status wrong(const at_knob *k, const at_entity *e, at_error *err, const char *problem) {
    at_text t = {0};
    at_entity_print_json(&t, e);
    at_status s = at_fail(err, AT_E_INPUT, "knob %s: %s %s", k->name, at_text_str(&t), problem);
    at_text_free(&t);
    return s;
}

static at_status does_not_divide(const at_knob *k, const at_entity *e, at_error *err) {
    enum { MOST_SHOWN = 24 };
    at_arena *scratch = at_arena_new();
    at_text t = {0};
    at_factors f = at_factor_list(scratch, k->length, AT_FACTORS);
    at_text_addf(&t, "does not divide %lld; the parts' product must be a factor of it:",
                 (long long)k->length);
    for (int i = 0; i < f.len && i < MOST_SHOWN; i++)
        at_text_addf(&t, " %lld", (long long)f.data[i]);
    if (f.len > MOST_SHOWN) at_text_addf(&t, " ... %lld", (long long)f.data[f.len - 1]);
    at_status s = wrong(k, e, err, at_text_str(&t));
    at_text_free(&t);
    at_arena_free(scratch);
    return s;
}

/* Does a part exceed what those behind it leave of the axis? */
static bool too_large(const at_knob *k, const at_entity *e) {
    int64_t left = k->length;
    for (int i = e->n - 1; i > 0; i--) {
        if (e->sizes[i] > left) return true;
        left = left / e->sizes[i] + (left % e->sizes[i] != 0);
    }
    return false;
}

static at_status check_split(const at_knob *k, const at_entity *e, at_error *err) {
    char text[96];
    int64_t product = 1;
    for (int i = 0; i < e->n; i++)
        if (e->sizes[i] < 1 && !(i == 0 && e->sizes[i] == -1))
            return wrong(k, e, err,
                         "has a part below 1; only the first may be -1, for what remains");
    for (int i = 1; i < e->n; i++)
        if (!at_mul64(product, e->sizes[i], &product)) product = INT64_MAX;
    if (k->listed) return AT_OK;
    if (k->no_tail && k->length % product) return does_not_divide(k, e, err);
    if (k->rounds_up ? too_large(k, e) : product > k->length) {
        snprintf(text, sizeof text, "exceeds %lld; the parts' product must be at most that",
                 (long long)k->length);
        return wrong(k, e, err, text);
    }
    return AT_OK;
}

/* Each position at most once: a permutation, or a choice of axes. */
static at_status check_positions(const at_knob *k, const at_entity *e, at_error *err) {
    for (int i = 0; i < e->n; i++) {
        bool good = e->sizes[i] >= 0 && e->sizes[i] < k->axes;
        for (int j = 0; j < i; j++) good &= e->sizes[j] != e->sizes[i];
        if (good) continue;
        char text[96];
        snprintf(text, sizeof text, "does not name different axes of 0 to %d", k->axes - 1);
        return wrong(k, e, err, text);
    }
    return AT_OK;
}

static at_status check_marks(const at_knob *k, const at_entity *e, at_error *err) {
    for (int i = 0; i < e->n; i++)
        if (at_mark_number(e->marks[i]) < 0)
            return wrong(k, e, err,
                         "has an unknown mark; there are none, vec, unroll, those of GPU "
                         "threads and blocks, and fuse");
    return AT_OK;
}

/* A number may leave its list, as AutoTVM's defaults do; anything else is one of the list. */
static at_status check_option(const at_knob *k, const at_entity *e, at_error *err) {
    bool numbers = e->option->kind == AT_JSON_NUMBER;
    for (int64_t i = 0; i < k->count; i++) numbers &= k->options[i]->kind == AT_JSON_NUMBER;
    if (numbers || at_knob_digit(k, e) >= 0) return AT_OK;
    at_text t = {0};
    at_text_add(&t, "is not one of");
    for (int64_t i = 0; i < k->count; i++) {
        at_text_add(&t, i ? ", " : " ");
        at_json_print(&t, k->options[i]);
    }
    at_status s = wrong(k, e, err, at_text_str(&t));
    at_text_free(&t);
    return s;
}

static at_status check_entity(const at_knob *k, const at_entity *e, at_error *err) {
    char text[96];
    if (e->kind != k->kind) {
        snprintf(text, sizeof text, "is of kind \"%s\"; this knob is of kind \"%s\"",
                 kind_names[e->kind], kind_names[k->kind]);
        return wrong(k, e, err, text);
    }
    if (e->kind == AT_KNOB_OPTION) return check_option(k, e, err);
    if (!e->marks != !k->marks)
        return wrong(k, e, err,
                     k->marks ? "holds positions; this knob takes marks"
                              : "holds marks; this knob takes positions");
    if (e->n != k->parts) {
        snprintf(text, sizeof text, "has %d parts; this knob takes %d", e->n, k->parts);
        return wrong(k, e, err, text);
    }
    if (e->kind == AT_KNOB_SPLIT) return check_split(k, e, err);
    return e->marks ? check_marks(k, e, err) : check_positions(k, e, err);
}

static at_status unknown(const at_space *s, const char *name, at_error *err) {
    const char *nearest = at_nearest(name, s->names, s->num_knobs);
    at_text t = {0};
    at_names_list(&t, s->names, s->num_knobs);
    at_status st =
        nearest ? at_fail(err, AT_E_INPUT, "unknown knob \"%s\", perhaps %s; this space has %s",
                          name, nearest, at_text_str(&t))
                : at_fail(err, AT_E_INPUT, "unknown knob \"%s\"; this space has %s", name,
                          at_text_str(&t));
    at_text_free(&t);
    return st;
}

static at_status of_read(at_arena *a, const at_space *s, const at_config *read, at_config *out,
                         at_error *err) {
    for (int i = 0; i < read->num_knobs; i++)
        if (at_space_find_knob(s, read->names[i]) < 0) return unknown(s, read->names[i], err);
    at_entity *e = AT_NEW_ARRAY(a, at_entity, s->num_knobs);
    int64_t index = 0;
    for (int i = 0; i < s->num_knobs; i++) {
        const at_entity *given = at_config_get(read, s->names[i]);
        if (!given)
            return at_fail(err, AT_E_INPUT, "knob %s is missing from the entity", s->names[i]);
        AT_TRY(check_entity(s->knobs[i], given, err));
        e[i] = *given;
        int64_t digit = at_knob_digit(s->knobs[i], given);
        index = digit < 0 || index < 0 ? -1 : index + digit * s->strides[i];
    }
    if (index >= 0 && !at_space_is_valid(s, index)) index = -1;
    *out = (at_config){s, index, index, s->num_knobs, s->names, e};
    return AT_OK;
}

static at_status sum_of_read(at_arena *a, const at_space *s, const at_config *read, at_config *out,
                             at_error *err) {
    const at_entity *which = at_config_get(read, s->names[0]);
    at_config rest = *read, c;
    const char **names = AT_NEW_ARRAY(a, const char *, read->num_knobs);
    at_entity *e = AT_NEW_ARRAY(a, at_entity, read->num_knobs);
    int n = 0;
    int part = -1;
    for (int i = 0; which && i < s->num_parts; i++)
        if (which->kind == AT_KNOB_OPTION && which->option->kind == AT_JSON_STRING &&
            !strcmp(which->option->string, at_space_part_name(s, i)))
            part = i;
    if (part < 0) {
        at_text list = {0};
        for (int i = 0; i < s->num_parts; i++)
            at_text_addf(&list, "%s%s", i ? ", " : "", at_space_part_name(s, i));
        at_status status = at_fail(err, AT_E_INPUT,
                                   which ? "knob %s: it has no such value; there are %s"
                                         : "knob %s is missing from the entity; it is one of %s",
                                   s->names[0], at_text_str(&list));
        at_text_free(&list);
        return status;
    }
    for (int i = 0; i < read->num_knobs; i++)
        if (&read->entities[i] != which) names[n] = read->names[i], e[n++] = read->entities[i];
    rest.num_knobs = n;
    rest.names = names;
    rest.entities = e;
    AT_TRY(of_read(a, s->parts[part], &rest, &c, err));
    at_config_in_sum(a, s, part, &c, out);
    return AT_OK;
}

static at_status place(at_arena *a, const at_space *s, const at_config *read, at_config *out,
                       at_error *err) {
    return s->parts ? sum_of_read(a, s, read, out, err) : of_read(a, s, read, out, err);
}

at_status at_config_from_json(at_arena *a, const at_space *s, const at_json *config, at_config *out,
                              at_error *err) {
    at_config read;
    AT_TRY(read_form(a, config, &read, err));
    if (!s) {
        *out = read;
        return AT_OK;
    }
    const at_json *recorded = at_json_get(config, "index");
    bool has_index = recorded && recorded->kind == AT_JSON_NUMBER;
    AT_TRY(place(a, s, &read, out, err));
    out->recorded_index = has_index ? read.recorded_index : out->index;
    return AT_OK;
}

at_status at_config_fits(at_arena *a, const at_space *s, const at_config *read, at_error *err) {
    at_config out;
    return place(a, s, read, &out, err);
}

at_status at_config_rebind(at_arena *a, const at_space *space, const at_config *read,
                           at_config *out, at_error *err) {
    at_text json = {0};
    const at_json *value;
    at_config_print_json(&json, read);
    at_status s = at_json_parse(a, at_text_str(&json), json.len, &value, err);
    at_text_free(&json);
    AT_TRY(s);
    AT_TRY(at_config_from_json(a, space, value, out, err));
    out->recorded_index = read->recorded_index;
    return AT_OK;
}
