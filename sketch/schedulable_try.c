/* sketch/schedulable_try.c: schedulables tried when they are made: the trees of their default and
 * of some random configurations keep the rules. */
#include <string.h>

#include "sketch/schedulable.h"
#include "sketch/sketch.h"
#include "sketch/sketch_int.h"

enum {
    ANY_LANES = 8, /* trees keep the rules with all or with none */
    TRIED = 16     /* random configurations, where the tree is right for all of them */
};

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

/* The default one, and so many by chance. */
static at_status try_some(at_arena *a, const at_schedulable *s, int tried, at_error *err) {
    at_space *space = at_task_space(s->task);
    at_config c;
    at_rng rng;
    at_rng_seed(&rng, 1, 1);
    if (at_task_default_config(a, s->task, ANY_LANES, &c, err) == AT_OK)
        AT_TRY(try_config(s, &c, "the default configuration", err));
    for (int i = 0; i < tried; i++) {
        int64_t index = (int64_t)at_rng_below(&rng, (uint64_t)at_space_range_length(space));
        if (!at_space_is_valid(space, index)) continue;
        AT_TRY(at_config_at(a, space, index, &c, err));
        AT_TRY(try_config(s, &c, at_format(a, "configuration %lld", (long long)index), err));
    }
    return AT_OK;
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
static at_status try_it(at_arena *a, at_schedulable *s, int tried, at_error *err) {
    at_config c;
    AT_TRY(at_task_new(a, &s->row, "", &s->task, err));
    AT_TRY(check_whole(a, s, err));
    s->compute = at_task_compute(s->task);
    AT_TRY(at_config_at(a, at_task_space(s->task),
                        at_space_next(at_task_space(s->task), -1, 1, 0, 0), &c, err));
    AT_TRY(at_task_tree(a, s->task, &c, &s->tree, err));
    return try_some(a, s, tried, err);
}

at_status at_schedulable_try_only(at_arena *a, at_schedulable *s, at_error *err) {
    at_config c;
    at_program *p;
    AT_TRY(try_it(a, s, TRIED, err));
    AT_TRY(at_task_default_config(a, s->task, ANY_LANES, &c, err));
    return at_task_program(a, s->task, &c, &p, err);
}

at_status at_schedulable_of_task(at_arena *a, const at_task *t, const at_schedulable **out,
                                 at_error *err) {
    const at_tree *chosen;
    at_config c;
    AT_TRY(at_task_default_config(a, t, ANY_LANES, &c, err));
    AT_TRY(at_task_tree(a, t, &c, &chosen, err));
    const int n = at_task_num_definitions(t);
    at_schedulable *s = at_schedulable_of_numbers(
        a, t,
        (at_schedulable){.definitions = n ? at_task_definition(t, 0) : NULL,
                         .num_definitions = n,
                         .compute = at_task_compute(t),
                         .tree = chosen});
    *out = s;
    return try_it(a, s, 0, err); /* where conditions choose among trees, others have another one */
}

/* ---- a template of one configuration --------------------------------------------------------- */

static bool stays(const at_definition *d) {
    return d->kind == AT_DEFINE_LAYOUT || d->kind == AT_DEFINE_SPARSE ||
           d->kind == AT_DEFINE_FLOPS || d->kind == AT_DEFINE_REQUIRE;
}

at_schedulable *sketch_fixed(at_arena *a, const at_task *t, const char *sizes, const at_compute *c,
                             const at_tree *tree, const char *text) {
    AT_VEC(at_definition) definitions = {0};
    if (*sizes)
        *at_push(a, &definitions) = (at_definition){.kind = AT_DEFINE_SIZES, .text = {sizes}};
    for (int i = 0; i < at_task_num_definitions(t); i++)
        if (stays(at_task_definition(t, i))) *at_push(a, &definitions) = *at_task_definition(t, i);
    return at_schedulable_of_numbers(a, t,
                                     (at_schedulable){.definitions = definitions.data,
                                                      .num_definitions = definitions.len,
                                                      .compute = c,
                                                      .tree = tree,
                                                      .tree_text = text});
}

/* Sizes that the computation, or what is said of it, is made with: numbers of this program. The
 * tree has its own. */
static const char *sizes_of(at_arena *a, const at_task *t, const at_program *p) {
    const at_symbols *names = p->compute->symbols;
    at_text said = {0}, out = {0};
    at_compute_print(&said, p->compute);
    for (int i = 0; i < at_task_num_definitions(t); i++) {
        const at_definition *d = at_task_definition(t, i);
        for (int k = 0; stays(d) && k < 4 && d->text[k]; k++)
            at_text_addf(&said, " %s", d->text[k]);
    }
    for (int i = at_task_num_numbers(t); i < names->names.len; i++)
        if (sketch_has_word(at_text_str(&said), names->names.data[i]))
            at_text_addf(&out, "%s%s = %lld", out.len ? ", " : "", names->names.data[i],
                         (long long)p->values[i]);
    at_text_free(&said);
    return at_text_take(a, &out);
}

at_status at_schedulable_of_config(at_arena *a, const at_task *t, const at_config *c,
                                   const at_schedulable **out, at_error *err) {
    at_config own_config;
    const at_task *own = at_task_of_config(t, c, &own_config);
    at_program *p;
    at_text tree = {0};
    AT_TRY(at_task_program(a, own, &own_config, &p, err));
    at_program_print(&tree, p, false);
    at_schedulable *s =
        sketch_fixed(a, own, sizes_of(a, own, p), p->compute, NULL, at_text_take(a, &tree));
    *out = s;
    return at_schedulable_try_only(a, s, err);
}
