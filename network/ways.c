/* network/ways.c: ways of computing a part: loop trees derived of its text, and of a convolution
 * that Winograd's algorithm can do, the template of that with the same stages behind it. */
#include <pthread.h>
#include <string.h>

#include "network/program.h"
#include "sketch/sketch.h"

/* Rows are known to the registry for good; any thread may add one. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static at_arena *row_arena(void) {
    static at_arena *arena;
    if (!arena) arena = at_arena_new();
    return arena;
}

static at_status make_row(const at_net_part *part, const at_template_row **out, at_error *err) {
    at_arena *a = row_arena();
    const char *path = at_format(a, "%s.te", part->name), *text = at_strdup(a, part->text);
    at_status s = at_te_parse(a, path, text, strlen(text), out, err);
    if (s == AT_OK) at_template_add(*out, path, text, false);
    return s;
}

at_status at_net_row_of(const at_net_part *part, const at_template_row **out, at_error *err) {
    at_status s = AT_OK;
    pthread_mutex_lock(&lock);
    const bool known = at_template_find(part->name, out, NULL) == AT_OK;
    const char *text = known ? at_template_own_text(*out) : NULL;
    /* A log may have brought another text of that name. */
    if (!text || strcmp(text, part->text) != 0) s = make_row(part, out, err);
    pthread_mutex_unlock(&lock);
    return s;
}

/* ---- Winograd's algorithm -------------------------------------------------------------------- */

/* All numbers of the attribute are x; or it is not there, and x is what stands for that. */
static bool all_are(const at_net_node *n, const char *name, int64_t x, int64_t otherwise) {
    const at_net_attribute *a = at_net_attribute_find(n, name);
    for (int i = 0; a && i < a->num; i++)
        if (a->ints[i] != x) return false;
    return a ? a->num > 0 : x == otherwise;
}

static bool channels_lie_last(const at_net_program *p, int value) {
    const at_net_value *v = &p->cut.net->values.data[value];
    const int *order = p->cut.orders[value];
    return order ? v->rank == 4 : v->rank == 4 && (v->dims[1] == 1 || v->dims[2] * v->dims[3] == 1);
}

/* A 3x3 convolution of stride 1 with a constant weight, whose padding is 1 on all sides. */
static bool suits(const at_net_program *p, const at_net_node *n) {
    const at_net_attribute *group = at_net_attribute_find(n, "group");
    const at_net_attribute *pad = at_net_attribute_find(n, "auto_pad");
    if (strcmp(n->op, "Conv") || n->num_inputs < 2) return false;
    const at_net_value *w = &p->cut.net->values.data[n->inputs[1]];
    if (w->element != AT_F32 || w->rank != 4 || w->dims[2] != 3 || w->dims[3] != 3 ||
        !w->is_constant)
        return false;
    if ((group && group->i != 1) || (pad && strcmp(pad->s, "NOTSET") != 0)) return false;
    return all_are(n, "strides", 1, 1) && all_are(n, "dilations", 1, 1) &&
           all_are(n, "pads", 1, 0) && channels_lie_last(p, n->inputs[0]) &&
           channels_lie_last(p, n->outputs[0]);
}

/* "+bias+relu", of what follows the convolution; NULL: something else does. */
static const char *named_stages(const at_net_program *p, const at_net_part *part) {
    const at_net_node *n = &p->cut.net->nodes.data[part->nodes[0]];
    bool bias = n->num_inputs > 2 && n->inputs[2] >= 0, relu = false;
    for (int i = 1; i < part->num_nodes; i++) {
        const at_net_node *x = &p->cut.net->nodes.data[part->nodes[i]];
        if (!strcmp(x->op, "Bias") && !bias && !relu) bias = true;
        else if (!strcmp(x->op, "Relu") && !relu) relu = true;
        else return NULL;
    }
    return bias ? relu ? "+bias+relu" : "+bias" : relu ? "+relu" : "";
}

/* What follows the convolution, as stages of a template; NULL: it is none. */
static at_status stages_of(at_net_program *p, const at_net_kernel *k, const char **out,
                           at_error *err) {
    at_selection own = {0};
    *out = named_stages(p, k->part);
    if (*out) return AT_OK;
    AT_TRY(at_select_task(p->arena, &k->ways[0], &own, err));
    *out = at_net_tail(p->arena, at_task_compute(own.task));
    return AT_OK;
}

static at_status add_winograd(at_net_program *p, at_net_kernel *k, at_error *err) {
    const at_net_node *n = &p->cut.net->nodes.data[k->part->nodes[0]];
    const char *stages = NULL;
    const at_template_row *row;
    if (suits(p, n)) AT_TRY(stages_of(p, k, &stages, err));
    if (!stages) return AT_OK;
    const at_net_value *x = &p->cut.net->values.data[n->inputs[0]];
    const at_net_value *y = &p->cut.net->values.data[n->outputs[0]];
    const char *name = at_format(p->arena, "conv2d_winograd_nhwc%s", stages);
    if (at_template_find(name, &row, NULL) != AT_OK) return AT_OK; /* a stage too long for a name */
    for (int m = 2; m <= 4; m += 2)
        k->ways[k->num_ways++] = (at_request){
            .row = row,
            .template_name = row->name,
            .args = at_format(p->arena, "N=%lld,H=%lld,W=%lld,CI=%lld,CO=%lld,m=%d",
                              (long long)x->dims[0], (long long)x->dims[2], (long long)x->dims[3],
                              (long long)x->dims[1], (long long)y->dims[1], m)};
    return AT_OK;
}

at_status at_net_find_ways(at_net_program *p, at_error *err) {
    for (int i = 0; i < p->num_kernels; i++) {
        at_net_kernel *k = &p->kernels[i];
        if (k->part->is_whole) continue;
        p->num_tunable++;
        at_request *q = &k->ways[k->num_ways++];
        AT_TRY(at_net_row_of(k->part, &q->row, err));
        q->template_name = q->row->name;
        AT_TRY(add_winograd(p, k, err));
    }
    return AT_OK;
}

const char *at_net_isa(const at_net_build *b, const at_task *task) {
    const at_target *t = at_engine_target(&b->engine);
    return b->engine.isa ? t->name : at_target_of_types(t, at_task_compute(task))->name;
}
