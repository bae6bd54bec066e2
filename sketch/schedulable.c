/* sketch/schedulable.c: schedulables made of calls, as templates. */
#include "sketch/schedulable.h"

/* ---- as a template --------------------------------------------------------------------------- */

static void define(at_template *t) {
    const at_schedulable *s = (const at_schedulable *)at_template_row_of(t);
    for (int i = 0; i < s->num_definitions; i++) at_define(t, &s->definitions[i]);
    if (s->compute) at_compute_value(t, s->compute, s->compute_text);
    else at_compute_text(t, s->compute_text);
    if (s->tree) at_schedule_value(t, s->tree, s->tree_text);
    else at_schedule_when(t, "", s->tree_text);
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
