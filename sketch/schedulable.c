/* sketch/schedulable.c: schedulables made of calls, of tasks and by edits. */
#include "sketch/schedulable.h"

enum { TRIED = 16 };    /* random configurations that must keep the rules */
enum { ANY_LANES = 8 }; /* trees keep the rules with all or with none */

/* ---- as a template --------------------------------------------------------------------------- */

static void define(at_template *t) {
    const at_schedulable *s = (const at_schedulable *)at_template_row_of(t);
    for (int i = 0; i < s->num_definitions; i++) at_define(t, &s->definitions[i]);
    at_compute_text(t, s->compute_text);
    at_schedule_when(t, "", s->tree_text);
    if (s->written) at_template_tree_stands(t, s->written);
}

static bool is_wide(int lanes) { return lanes >= 16; }

static void defaults(at_template *t, int lanes) {
    const at_schedulable *s = (const at_schedulable *)at_template_row_of(t);
    for (int i = 0; i < s->num_limits; i++) {
        const at_split_limits *l = &s->limits[i];
        long long left = at_evaluate(t, l->axis), sizes[8];
        for (int k = l->num_parts - 1; k > 0; k--) {
            const at_part_limit *p = &l->part[k];
            int limit = is_wide(lanes) ? p->wide : p->narrow;
            if (p->vectors) limit = p->vectors * lanes;
            long long most = limit && limit < left ? limit : left;
            sizes[k - 1] = at_divisor(left, most);
            if (l->tails && 2 * sizes[k - 1] <= most) sizes[k - 1] = most;
            left = (left + sizes[k - 1] - 1) / sizes[k - 1];
        }
        at_default(t, l->knob, sizes);
    }
}

/* Numbers for which there is no program at all are that configuration's failure, not the tree's. */
static at_status try_config(const at_schedulable *s, const at_config *c, const char *which,
                            at_error *err) {
    at_arena *a = at_arena_new();
    at_program *p;
    int64_t *values;
    at_status status = at_task_values(a, s->task, c, &values, err);
    if (status == AT_OK) status = at_program_build(a, s->tree, values, &p, err);
    if (status != AT_OK) status = AT_OK;
    else if (at_program_verify(a, p, err) != AT_OK) status = at_fail_at(err, "%s: ", which);
    at_arena_free(a);
    return status;
}

static at_status try_some(at_arena *a, const at_schedulable *s, at_error *err) {
    at_space *space = at_task_space(s->task);
    at_config c;
    at_rng rng;
    at_rng_seed(&rng, 1, 1);
    if (at_task_default_config(a, s->task, ANY_LANES, &c, err) == AT_OK)
        AT_TRY(try_config(s, &c, "the default configuration", err));
    for (int i = 0; i < TRIED; i++) {
        int64_t index = (int64_t)at_rng_below(&rng, (uint64_t)at_space_range_length(space));
        if (!at_space_is_valid(space, index)) continue;
        AT_TRY(at_config_at(a, space, index, &c, err));
        AT_TRY(try_config(s, &c, at_format(a, "configuration %lld", (long long)index), err));
    }
    return AT_OK;
}

static const char *copy_text(at_arena *a, const char *text) {
    return text ? at_strdup(a, text) : NULL;
}

static const at_definition *copy_definitions(at_arena *a, const at_definition *d, int n) {
    at_definition *copy = at_copy(a, d, sizeof *d * (size_t)n);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 4; k++) copy[i].text[k] = copy_text(a, d[i].text[k]);
        copy[i].spec.filter = copy_text(a, d[i].spec.filter);
        copy[i].spec.listed = copy_text(a, d[i].spec.listed);
    }
    return copy;
}

static const at_split_limits *copy_limits(at_arena *a, const at_split_limits *l, int n) {
    at_split_limits *copy = at_copy(a, l, sizeof *l * (size_t)n);
    for (int i = 0; i < n; i++) {
        copy[i].knob = at_strdup(a, l[i].knob);
        copy[i].axis = at_strdup(a, l[i].axis);
    }
    return copy;
}

at_schedulable *at_schedulable_untried(at_arena *a, const char *name, const char *args,
                                       const char *record_args, const at_definition *definitions,
                                       int num_definitions, const at_split_limits *limits,
                                       int num_limits, const char *compute, const char *tree) {
    at_schedulable *s = AT_NEW(a, at_schedulable);
    *s = (at_schedulable){.row = {.name = at_strdup(a, name),
                                  .help = "made of calls",
                                  .args = at_strdup(a, args),
                                  .record_args = at_strdup(a, record_args),
                                  .define = define,
                                  .defaults = num_limits ? defaults : NULL},
                          .definitions = copy_definitions(a, definitions, num_definitions),
                          .num_definitions = num_definitions,
                          .limits = copy_limits(a, limits, num_limits),
                          .num_limits = num_limits,
                          .compute_text = at_strdup(a, compute),
                          .tree_text = at_strdup(a, tree)};
    return s;
}

/* Nothing is left to rules here. */
static at_status check_whole(at_arena *a, const at_schedulable *s, at_error *err) {
    const at_compute *c = at_task_compute(s->task);
    at_tree *tree;
    if (!at_task_num_sketches(s->task)) return AT_OK;
    AT_TRY(at_tree_parse(a, c, s->tree_text, "tree", &tree, err));
    for (int i = 0; i < c->num_tensors; i++)
        if (at_stage_needs_leaf(&c->tensors[i]) && !at_tree_has_leaf(tree, i))
            return at_fail(err, AT_E_INPUT, "rule 1 (leaf): @%s has no leaf", c->tensors[i].name);
    AT_BUG("a tree that leaves nothing open is derived from");
}

/* Tries it, and fills in the rest. */
static at_status try_it(at_arena *a, at_schedulable *s, at_error *err) {
    at_config c;
    AT_TRY(at_task_new(a, &s->row, "", &s->task, err));
    AT_TRY(check_whole(a, s, err));
    s->compute = at_task_compute(s->task);
    AT_TRY(at_config_at(a, at_task_space(s->task),
                        at_space_next(at_task_space(s->task), -1, 1, 0, 0), &c, err));
    AT_TRY(at_task_tree(a, s->task, &c, &s->tree, err));
    return try_some(a, s, err);
}

at_status at_schedulable_new(at_arena *a, const char *name, const char *args,
                             const char *record_args, const at_definition *definitions,
                             int num_definitions, const char *compute, const char *tree,
                             const at_schedulable **out, at_error *err) {
    at_schedulable *s = at_schedulable_untried(a, name, args, record_args, definitions,
                                               num_definitions, NULL, 0, compute, tree);
    AT_TRY(try_it(a, s, err));
    *out = s;
    return AT_OK;
}

void at_schedulable_args(const at_task *t, at_text *args, at_text *record_args) {
    at_text_add(record_args, "[");
    for (int i = 0; i < at_task_num_numbers(t); i++) {
        const char *name;
        int64_t value = at_task_number(t, i, &name);
        at_text_addf(args, "%s%s=%lld%s", i ? ", " : "", name, (long long)value,
                     value < 0   ? " from -1"
                     : value < 1 ? " from 0"
                                 : "");
        at_text_addf(record_args, "%s%s", i ? ", " : "", name);
    }
    at_text_add(record_args, "]");
}

at_status at_schedulable_try_only(at_arena *a, at_schedulable *s, at_error *err) {
    at_config c;
    at_program *p;
    AT_TRY(try_it(a, s, err));
    AT_TRY(at_task_default_config(a, s->task, ANY_LANES, &c, err));
    return at_task_program(a, s->task, &c, &p, err);
}

at_status at_schedulable_of_task(at_arena *a, const at_task *t, const at_schedulable **out,
                                 at_error *err) {
    at_text args = {0}, record_args = {0}, compute = {0}, tree = {0};
    const at_tree *chosen;
    at_config c;
    AT_TRY(at_task_default_config(a, t, ANY_LANES, &c, err));
    AT_TRY(at_task_tree(a, t, &c, &chosen, err));
    at_schedulable_args(t, &args, &record_args);
    at_compute_print(&compute, at_task_compute(t));
    at_tree_print(&tree, chosen);
    int n = at_task_num_definitions(t);
    at_status s = at_schedulable_new(a, at_task_row(t)->name, at_text_str(&args),
                                     at_text_str(&record_args), n ? at_task_definition(t, 0) : NULL,
                                     n, at_text_str(&compute), at_text_str(&tree), out, err);
    at_text_free(&args);
    at_text_free(&record_args);
    at_text_free(&compute);
    at_text_free(&tree);
    return s;
}
