/* knobs/config.c: one point of a space: made from its index, asked, flattened, printed.
 * Source: AutoTVM, ConfigEntity. */
#include "knobs/knobs_int.h"

#include <string.h>

void at_config_in_sum(at_arena *a, const at_space *sum, int part, const at_config *c,
                      at_config *out) {
    int n = c->num_knobs + 1;
    at_entity *e = AT_NEW_ARRAY(a, at_entity, n);
    const char **names = AT_NEW_ARRAY(a, const char *, n);
    e[0] = sum->knobs[0]->entities[part];
    names[0] = sum->names[0];
    for (int i = 1; i < n; i++) e[i] = c->entities[i - 1], names[i] = c->names[i - 1];
    int64_t index = c->index < 0 ? -1 : sum->first[part] + c->index;
    *out = (at_config){sum, index, index, n, names, e};
}

int at_config_part(const at_config *c, at_config *of_part) {
    const at_space *s = c->space;
    int part = (int)at_knob_digit(s->knobs[0], &c->entities[0]);
    AT_ASSERT(part >= 0);
    int64_t index = c->index < 0 ? -1 : c->index - s->first[part];
    *of_part =
        (at_config){s->parts[part], index, index, c->num_knobs - 1, c->names + 1, c->entities + 1};
    return part;
}

at_status at_config_at(at_arena *a, const at_space *s, int64_t index, at_config *out,
                       at_error *err) {
    if (index < 0 || index >= s->range)
        return at_fail(err, AT_E_USAGE, "index %lld is beyond the space: 0 to %lld",
                       (long long)index, (long long)s->range - 1);
    if (s->requires.len && !at_space_is_valid(s, index))
        return at_fail(err, AT_E_USAGE,
                       "index %lld is not valid: a condition (\"require\", \"if\") forbids it",
                       (long long)index);
    if (s->only && !at_space_is_valid(s, index))
        return at_fail(err, AT_E_USAGE, "index %lld is no point of the space, which is a list",
                       (long long)index);
    if (!at_space_is_valid(s, index))
        return at_fail(err, AT_E_USAGE, "index %lld is not valid under the joint filter %s",
                       (long long)index, s->joint->condition);
    if (s->parts) {
        at_config own;
        int part = at_space_part_of(s, index);
        AT_TRY(at_config_at(a, s->parts[part], index - s->first[part], &own, err));
        at_config_in_sum(a, s, part, &own, out);
        return AT_OK;
    }
    at_entity *e = AT_NEW_ARRAY(a, at_entity, s->num_knobs);
    *out = (at_config){s, index, index, s->num_knobs, s->names, e};
    for (int i = 0; i < s->num_knobs; i++) {
        int64_t count = s->knobs[i]->count, rest = index / count;
        e[i] = s->knobs[i]->entities[index - rest * count];
        index = rest;
    }
    return AT_OK;
}

const at_entity *at_config_get(const at_config *c, const char *knob) {
    for (int i = 0; i < c->num_knobs; i++)
        if (!strcmp(c->names[i], knob)) return &c->entities[i];
    return NULL;
}

/* ---- features
 * ---------------------------------------------------------------------------------------- */

/* Features of one entity, or -1. out may be NULL. */
static int flatten(const at_entity *e, float *out) {
    if (e->kind == AT_KNOB_OPTION) {
        const at_json *v = e->option;
        if (v->kind != AT_JSON_NUMBER && v->kind != AT_JSON_BOOL) return -1;
        if (out) *out = v->kind == AT_JSON_BOOL ? v->boolean : (float)v->number;
        return 1;
    }
    if (e->kind == AT_KNOB_ANNOTATE) {
        if (!e->marks) return -1;
        for (int i = 0; i < e->n; i++) {
            int hot = at_mark_number(e->marks[i]);
            if (hot < 0) return -1;
            for (int j = 0; out && j < AT_NUM_MARKS; j++) *out++ = j == hot;
        }
        return AT_NUM_MARKS * e->n;
    }
    for (int i = 0; out && i < e->n; i++) out[i] = (float)e->sizes[i];
    return e->n;
}

/* A place for each part, 1 where the point is of it, then the features of every part. */
static int sum_features(const at_config *c, float *out) {
    const at_space *s = c->space;
    at_config own;
    int part = at_config_part(c, &own), total = s->num_parts;
    for (int i = 0; out && i < s->num_parts; i++) out[i] = i == part;
    for (int i = 0; i < s->num_parts; i++) {
        at_arena *scratch = at_arena_new();
        at_config first = own;
        if (i != part && at_config_at(scratch, s->parts[i], at_space_next(s->parts[i], -1, 1, 0, 0),
                                      &first, NULL) != AT_OK)
            AT_BUG("part %d of a sum has no point", i);
        int n = at_config_features(&first, out ? out + total : NULL);
        for (int k = 0; out && i != part && k < n; k++) out[total + k] = 0;
        at_arena_free(scratch);
        if (n < 0) return -1;
        total += n;
    }
    return total;
}

int at_config_features(const at_config *c, float *out) {
    int total = 0;
    if (c->space && c->space->parts) return sum_features(c, out);
    for (int i = 0; i < c->num_knobs; i++) {
        int n = flatten(&c->entities[i], out ? out + total : NULL);
        if (n < 0) return -1;
        total += n;
    }
    return total;
}

/* ---- printing
 * ---------------------------------------------------------------------------------------- */

static bool is_point(const at_config *c) { return c->space && c->index >= 0; }
static long long shown_index(const at_config *c) {
    return (long long)(is_point(c) ? c->index : c->recorded_index);
}

void at_config_print_entity(at_text *out, const at_config *c) {
    static const char *const kinds[] = {"sp", "re", "an", "ot"};
    at_text_add(out, "[");
    for (int i = 0; i < c->num_knobs; i++) {
        at_text_add(out, i ? ", [" : "[");
        at_text_add_json_string(out, c->names[i]);
        at_text_addf(out, ", \"%s\", ", kinds[c->entities[i].kind]);
        at_entity_print_json(out, &c->entities[i]);
        at_text_add(out, "]");
    }
    at_text_add(out, "]");
}

void at_config_print_json(at_text *out, const at_config *c) {
    at_text_addf(out, "{\"index\": %lld, \"code_hash\": null, \"entity\": ", shown_index(c));
    at_config_print_entity(out, c);
    at_text_add(out, "}");
}

/* Python holds a permutation as a tuple in the space and as a list when read from a log. */
void at_config_print_str(at_text *out, const at_config *c) {
    for (int i = 0; i < c->num_knobs; i++) {
        at_text_add(out, i ? ", (" : "[(");
        at_text_add_python_string(out, c->names[i]);
        at_text_add(out, ", ");
        at_entity_print_python(out, &c->entities[i], is_point(c));
        at_text_add(out, ")");
    }
    at_text_addf(out, "%s,None,%lld", c->num_knobs ? "]" : "", shown_index(c));
}
