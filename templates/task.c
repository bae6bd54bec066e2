/* templates/task.c: a task: a template with arguments, and what a configuration makes of it. */
#include "templates/template_int.h"

#include <string.h>

struct at_task {
    at_template def;
    const at_json *args;
    const char *args_text;
    int64_t *values; /* by slot, with entity 0; the constant ones are true for all */
    double flops;
    char hash[33];
};

/* Sizes that do not go with the arguments: known once there are numbers. */
static at_status check_numbers(at_task *t, at_error *err) {
    at_template *d = &t->def;
    int64_t **extents;
    t->values = AT_NEW_ARRAY(d->arena, int64_t, d->values.len);
    for (int i = 0; i < d->values.len; i++) t->values[i] = d->values.data[i].value;
    if (at_compute_extents(d->arena, d->compute, t->values, &extents, err) != AT_OK) {
        if (err) err->status = AT_E_USAGE;
        return AT_E_USAGE;
    }
    t->flops = at_compute_flops(d->compute, t->values, NULL);
    return AT_OK;
}

static at_status define(at_task *t, at_error *err) {
    at_status s = at_template_define(&t->def, err);
    if (s == AT_OK) s = check_numbers(t, err);
    if (s == AT_E_USAGE && err)
        at_fail_at(err, "--args: %s with %s: ", t->def.row->name, t->args_text);
    return s;
}

at_status at_task_new(at_arena *a, const at_template_row *row, const char *args, at_task **out,
                      at_error *err) {
    at_task *t = AT_NEW(a, at_task);
    t->def.arena = a;
    t->def.row = row;
    t->def.space = at_space_new(a);
    at_hash_init(&t->def.hash);
    AT_TRY(at_args_declare(&t->def, err));
    AT_TRY(at_args_read(&t->def, args, err));
    AT_TRY(at_args_json(&t->def, &t->args, err));
    t->args_text = at_args_text(&t->def);
    AT_TRY(define(t, err));
    at_hash_hex(&t->def.hash, t->hash);
    *out = t;
    return AT_OK;
}

const at_template_row *at_task_row(const at_task *t) { return t->def.row; }
const char *at_task_record_name(const at_task *t) {
    return t->def.row->record_name ? t->def.row->record_name : t->def.row->name;
}
const at_json *at_task_args(const at_task *t) { return t->args; }
const char *at_task_args_text(const at_task *t) { return t->args_text; }
at_space *at_task_space(const at_task *t) { return t->def.space; }
const at_compute *at_task_compute(const at_task *t) { return t->def.compute; }
const char *at_task_hash(const at_task *t) { return t->hash; }
double at_task_flops(const at_task *t) { return t->flops; }

int64_t at_task_arg(const at_task *t, const char *name) {
    int slot = at_symbol_find(&t->def.symbols, name);
    return slot >= 0 && slot < t->def.num_args ? t->values[slot] : -1;
}

/* ---- configurations -------------------------------------------------------------------------- */

/* As the entity of a record, so that reading it finds its place in the space. */
at_status at_task_default_config(at_arena *a, const at_task *t, at_config *out, at_error *err) {
    const at_space *space = t->def.space;
    at_text text = {0};
    at_status s = AT_OK;
    at_text_add(&text, "{\"entity\": [");
    for (int k = 0; k < at_space_num_knobs(space) && s == AT_OK; k++) {
        const at_entity *first = at_space_entity(space, k, 0);
        const knob_default *d = &t->def.defaults.data[k];
        const char *name = at_space_knob_name(space, k);
        at_text_add(&text, k ? ", [" : "[");
        at_text_add_json_string(&text, name);
        if (first->kind == AT_KNOB_SPLIT) {
            int64_t sizes[MAX_PARTS];
            s = at_fallback_split(at_space_knob_length(space, k), first->n, d->limits, sizes, name,
                                  err);
            at_text_add(&text, ", \"sp\", [");
            for (int i = 0; i < first->n && s == AT_OK; i++)
                at_text_addf(&text, "%s%lld", i ? ", " : "", (long long)sizes[i]);
            at_text_add(&text, "]]");
        } else {
            at_text_add(&text, ", \"ot\", ");
            at_json_print(&text, at_space_entity(space, k, d->option)->option);
            at_text_add(&text, "]");
        }
    }
    at_text_add(&text, "]}");
    const at_json *json;
    if (s == AT_OK) s = at_json_parse(a, at_text_str(&text), text.len, &json, err);
    if (s == AT_OK) s = at_config_from_json(a, space, json, out, err);
    if (s != AT_OK && err) at_fail_at(err, "default configuration of %s: ", t->def.row->name);
    at_text_free(&text);
    return s;
}

static at_status repeat(const step *s, const at_config *c, int64_t *values, at_error *err) {
    const at_entity *e = s->kind == STEP_SIZE ? NULL : &c->entities[s->knob];
    int64_t length = s->length;
    switch (s->kind) {
    case STEP_SIZE:
        if (at_expr_eval(s->expr, values, &values[s->slots[0]], err) == AT_OK) return AT_OK;
        return err ? at_fail_at(err, "size %s: ", s->name) : AT_E_INPUT;
    case STEP_OPTION:
        if (at_option_value(e, &values[s->slots[0]])) return AT_OK;
        return at_fail(err, AT_E_INPUT, "option %s is given a value that is no whole number",
                       s->name);
    case STEP_SPLIT:
        if (s->expr && at_expr_eval(s->expr, values, &length, err) != AT_OK)
            return err ? at_fail_at(err, "axis of %s: ", s->name) : AT_E_INPUT;
        if (length < 1)
            return at_fail(err, AT_E_INPUT, "axis of %s: %lld cannot be split", s->name,
                           (long long)length);
        values[s->slots[0]] = at_split_part(e, length, 0);
        for (int i = 1; i < s->num_slots; i++) values[s->slots[i]] = e->sizes[i];
        return AT_OK;
    }
    AT_BUG("step of kind %d", s->kind);
}

at_status at_task_values(at_arena *a, const at_task *t, const at_config *c, int64_t **values,
                         at_error *err) {
    const at_template *d = &t->def;
    AT_ASSERT(c->space == d->space);
    int64_t *v = at_copy(a, t->values, sizeof *v * (size_t)d->values.len);
    for (int i = 0; i < d->steps.len; i++) AT_TRY(repeat(&d->steps.data[i], c, v, err));
    *values = v;
    return AT_OK;
}

static at_status choose_tree(const at_template *d, const int64_t *values, const at_tree **out,
                             at_error *err) {
    for (int i = 0; i < d->trees.len; i++) {
        const tree_choice *c = &d->trees.data[i];
        int64_t holds = 1;
        if (c->condition && at_expr_eval(c->condition, values, &holds, err) != AT_OK)
            return err ? at_fail_at(err, "condition of schedule %d: ", i + 1) : AT_E_INPUT;
        if (!holds) continue;
        *out = c->tree;
        return AT_OK;
    }
    return at_fail(err, AT_E_INPUT, "no schedule is for this configuration: no condition holds");
}

at_status at_task_program(at_arena *a, const at_task *t, const at_config *c, at_program **out,
                          at_error *err) {
    int64_t *values;
    const at_tree *tree = NULL;
    at_program *p;
    AT_TRY(at_task_values(a, t, c, &values, err));
    AT_TRY(choose_tree(&t->def, values, &tree, err));
    AT_TRY(at_program_build(a, tree, values, &p, err));
    AT_TRY(at_program_verify(a, p, err));
    *out = p;
    return AT_OK;
}
