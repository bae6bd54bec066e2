/* engine/task/operator_join.c: see operator_join.h. */
#include "engine/task/operator_join.h"

#include <string.h>

#include "engine/task/operator.h"

/* Ways of one layer, by one or more templates. */
typedef struct layer {
    const char *key;  /* of all ways of it */
    const char *name; /* of the operator, with stages */
    const at_task *layer;
} layer;

typedef struct member {
    int layer; /* -1: it stands alone */
    const char *template_name;
} member;

typedef struct joining {
    at_arena *arena;
    AT_VEC(layer) layers;
} joining;

static bool has_index(const at_task *t) {
    const at_compute *c = at_task_compute(t);
    for (int i = 0; i < c->num_tensors; i++)
        if (c->tensors[i].role == AT_ROLE_INDEX) return true;
    return false;
}

static const char *stages_of(const at_task *t) {
    const at_template_row *row = at_task_row(t);
    return row->name + strlen(at_template_base(row)->name);
}

/* A product that was a convolution of a picture is told as that. */
static void tell_convolution(joining *j, layer *l, const at_task *t) {
    const char *name = at_format(j->arena, "conv2d%s", stages_of(t));
    const at_task *own;
    if (!at_operator_layer_of(j->arena, name, t, &own) ||
        at_task_arg(own, "N") * at_task_arg(own, "H") == 1)
        return;
    l->name = name;
    l->layer = own;
}

static int layer_of(joining *j, const at_task *t) {
    const char *name;
    const at_task *first;
    if (has_index(t) || !at_operator_of_task(j->arena, t, &name, &first)) return -1;
    const char *key = at_format(j->arena, "%s %s", name, at_task_args_text(first));
    int i = 0;
    while (i < j->layers.len && strcmp(j->layers.data[i].key, key) != 0) i++;
    if (i == j->layers.len) *at_push(j->arena, &j->layers) = (layer){key, name, first};
    tell_convolution(j, &j->layers.data[i], t);
    return i;
}

/* Are there layers of l's operator by another template than m's? */
static bool is_joined(const joining *j, const member *all, int n, const member *m) {
    const char *name = j->layers.data[m->layer].name;
    for (int i = 0; i < n; i++)
        if (all[i].layer >= 0 && !strcmp(j->layers.data[all[i].layer].name, name) &&
            strcmp(all[i].template_name, m->template_name) != 0)
            return true;
    return false;
}

/* The tensors of a call: inputs in the order of their declarations, then outputs. Returns how many.
 */
static int tensors_of(at_arena *a, const at_task *t, int **out) {
    const at_compute *c = at_task_compute(t);
    int n = 0;
    *out = AT_NEW_ARRAY(a, int, c->num_tensors);
    for (int i = 0; i < c->num_tensors; i++)
        if (c->tensors[i].role != AT_ROLE_STAGE) (*out)[n++] = i;
    for (int i = 0; i < c->num_tensors; i++)
        if (c->tensors[i].is_output) (*out)[n++] = i;
    return n;
}

/* [tensor] the names that the first template has for them; NULL: it has not as many. */
static const char *const *names_by(at_arena *a, const at_task *task, const at_task *first) {
    int *own, *its;
    int n = tensors_of(a, task, &own);
    if (n != tensors_of(a, first, &its)) return NULL;
    const char **names = AT_NEW_ARRAY(a, const char *, at_task_compute(task)->num_tensors);
    for (int i = 0; i < n; i++) names[own[i]] = at_task_compute(first)->tensors[its[i]].name;
    return names;
}

/* The operator's first template with the stages of the way. */
static at_task *with_stages(at_arena *a, const at_task *plain, const at_task *way) {
    const at_template_row *row;
    at_task *first;
    const char *base = at_template_base(at_task_row(plain))->name;
    if (at_template_find(at_format(a, "%s%s", base, stages_of(way)), &row, NULL) != AT_OK ||
        at_task_new(a, row, at_task_args_text(plain), &first, NULL) != AT_OK)
        return NULL;
    return first;
}

void at_operator_call(at_arena *a, const char *name, const at_task *plain, at_selection *s) {
    const at_task *first = with_stages(a, plain, s->task);
    const char *const *names = first ? names_by(a, s->task, first) : NULL;
    if (!names) return;
    s->operator_name = name;
    s->layer = first;
    s->tensor_names = names;
    s->weight_order = at_operator_weight_order(name, s->task, &s->ordered_weight);
}

static bool is_fastest(const at_selection *list, const member *of, int n, int i) {
    for (int k = 0; k < n; k++)
        if (of[k].layer == of[i].layer &&
            (list[k].time_s < list[i].time_s || (list[k].time_s <= list[i].time_s && k < i)))
            return k == i;
    return true;
}

void at_operators_join(at_arena *a, at_selection *const *lists, int *n, int num_lists) {
    joining j = {.arena = a};
    int total = 0;
    for (int l = 0; l < num_lists; l++) total += n[l];
    member *all = AT_NEW_ARRAY(a, member, total), *of = all;
    for (int l = 0; l < num_lists; l++)
        for (int i = 0; i < n[l]; i++, of++) {
            const at_task *t = lists[l][i].task;
            *of = (member){layer_of(&j, t), at_template_base(at_task_row(t))->name};
        }
    of = all;
    for (int l = 0; l < num_lists; l++) {
        const int before = n[l];
        at_selection *list = at_copy(a, lists[l], sizeof *list * (size_t)before);
        int kept = 0;
        for (int i = 0; i < before; i++) {
            bool joined = of[i].layer >= 0 && is_joined(&j, all, total, &of[i]);
            if (joined && !is_fastest(list, of, before, i)) continue;
            lists[l][kept] = list[i];
            const layer *called = joined ? &j.layers.data[of[i].layer] : NULL;
            if (called) at_operator_call(a, called->name, called->layer, &lists[l][kept]);
            kept++;
        }
        n[l] = kept;
        of += before;
    }
}
