/* knobs/sum.c: sums of spaces: one index runs over the points of several, one after the other. */
#include "knobs/knobs_int.h"

#include <string.h>

/* ["a", "b"] as the knob that says which. */
static at_status add_chooser(at_space *s, const char *knob, const char *const *names, int n,
                             at_error *err) {
    at_space chooser = {.arena = s->arena, .range = 1, .len = 1};
    at_text list = {0};
    for (int i = 0; i < n; i++) {
        at_text_add(&list, i ? ", " : "[");
        at_text_add_json_string(&list, names[i]);
    }
    at_text_add(&list, "]");
    at_status status = at_space_option(&chooser, knob, at_text_str(&list), err);
    at_text_free(&list);
    AT_TRY(status);
    s->knobs[0] = chooser.knobs[0];
    s->names[0] = chooser.names[0];
    return AT_OK;
}

at_status at_space_sum(at_space *s, const char *knob, const char *const *names,
                       at_space *const *parts, int num_parts, at_error *err) {
    at_arena *a = s->arena;
    int knobs = 1;
    AT_ASSERT(num_parts > 0 && !s->num_knobs);
    for (int i = 0; i < num_parts; i++) knobs += parts[i]->num_knobs;
    s->num_parts = num_parts;
    s->parts = at_copy(a, parts, sizeof *parts * (size_t)num_parts);
    s->first = AT_NEW_ARRAY(a, int64_t, num_parts + 1);
    s->offset = AT_NEW_ARRAY(a, int, num_parts + 1);
    s->knobs = AT_NEW_ARRAY(a, const at_knob *, knobs);
    s->names = AT_NEW_ARRAY(a, const char *, knobs);
    AT_TRY(add_chooser(s, knob, names, num_parts, err));
    int n = 1;
    for (int i = 0; i < num_parts; i++) {
        s->offset[i] = n;
        if (__builtin_add_overflow(s->first[i], parts[i]->range, &s->first[i + 1]) ||
            s->first[i + 1] == INT64_MAX)
            return at_fail(err, AT_E_INPUT, "the sum of %d spaces exceeds 2^63 - 1 points",
                           num_parts);
        for (int k = 0; k < parts[i]->num_knobs; k++, n++) {
            s->knobs[n] = parts[i]->knobs[k];
            s->names[n] = at_format(a, "%s.%s", names[i], parts[i]->names[k]);
        }
    }
    s->offset[num_parts] = n;
    s->num_knobs = n;
    s->range = s->first[num_parts];
    s->len = -1;
    return AT_OK;
}

int at_space_num_parts(const at_space *s) { return s ? s->num_parts : 0; }

const char *at_space_part_name(const at_space *s, int part) {
    return s->knobs[0]->options[part]->string;
}

int at_sum_part(const at_space *s, int64_t index) {
    int part = 0;
    while (index >= s->first[part + 1]) part++;
    return part;
}

/* ---- points ---------------------------------------------------------------------------------- */

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
    *of_part = (at_config){s->parts[part], index,           index, c->num_knobs - 1,
                           c->names + 1,   c->entities + 1};
    return part;
}

at_status at_sum_config_at(at_arena *a, const at_space *s, int64_t index, at_config *out,
                           at_error *err) {
    int part = at_sum_part(s, index);
    at_config c;
    AT_TRY(at_config_at(a, s->parts[part], index - s->first[part], &c, err));
    at_config_in_sum(a, s, part, &c, out);
    return AT_OK;
}

at_status at_sum_config_read(at_arena *a, const at_space *s, const at_config *read, at_config *out,
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
        at_status status = at_fail(
            err, AT_E_INPUT, which ? "knob %s: there is no such one; there are %s"
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
    AT_TRY(at_config_of_read(a, s->parts[part], &rest, &c, err));
    at_config_in_sum(a, s, part, &c, out);
    return AT_OK;
}

/* A place for each part, 1 where the point is of it, then the features of every part. */
int at_sum_features(const at_config *c, float *out) {
    const at_space *s = c->space;
    at_config own;
    int part = at_config_part(c, &own), total = s->num_parts;
    for (int i = 0; out && i < s->num_parts; i++) out[i] = i == part;
    for (int i = 0; i < s->num_parts; i++) {
        at_arena *scratch = at_arena_new();
        at_config first = own;
        if (i != part && at_config_at(scratch, s->parts[i],
                                      at_space_next(s->parts[i], -1, 1, 0, 0), &first,
                                      NULL) != AT_OK)
            AT_BUG("part %d of a sum has no point", i);
        int n = at_config_features(&first, out ? out + total : NULL);
        for (int k = 0; out && i != part && k < n; k++) out[total + k] = 0;
        at_arena_free(scratch);
        if (n < 0) return -1;
        total += n;
    }
    return total;
}

/* ---- digits ---------------------------------------------------------------------------------- */

static bool is_of_part(const at_space *s, int part, int knob) {
    return knob == 0 || (knob >= s->offset[part] && knob < s->offset[part + 1]);
}

bool at_space_digit_counts(const at_space *s, const int64_t *digits, int knob) {
    return !s->parts || is_of_part(s, (int)digits[0], knob);
}

void at_space_set_digit(const at_space *s, int64_t *digits, int knob, int64_t value) {
    if (!s->parts || knob != 0) {
        digits[knob] = value;
        return;
    }
    int old = (int)digits[0], now = (int)value;
    const at_space *from = s->parts[old], *to = s->parts[now];
    if (old == now) return;
    for (int k = 0; k < to->num_knobs; k++) {
        int like = at_space_find_knob(from, to->names[k]);
        if (like < 0) continue;
        const at_entity *e = &from->knobs[like]->entities[digits[s->offset[old] + like]];
        int64_t digit = e->kind == to->knobs[k]->kind ? at_knob_digit(to->knobs[k], e) : -1;
        if (digit >= 0) digits[s->offset[now] + k] = digit;
    }
    for (int k = s->offset[old]; k < s->offset[old + 1]; k++) digits[k] = 0;
    digits[0] = now;
}

int64_t at_sum_random_step(const at_space *s, int64_t index, at_rng *rng) {
    at_arena *scratch = at_arena_new();
    int64_t *digits = AT_NEW_ARRAY(scratch, int64_t, s->num_knobs);
    int part = at_sum_part(s, index);
    at_space_digits(s, index, digits);
    int knob = (int)at_rng_below(rng, (uint64_t)s->parts[part]->num_knobs + 1);
    if (knob) knob += s->offset[part] - 1;
    int64_t value = (int64_t)at_rng_below(rng, (uint64_t)s->knobs[knob]->count);
    at_space_set_digit(s, digits, knob, value);
    int64_t at = at_space_index(s, digits);
    at_arena_free(scratch);
    return at;
}
