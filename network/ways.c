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
    if (s == AT_OK) at_template_add(*out, NULL, text, false);
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
    const at_net_attribute *a = at_net_attribute_find(n, name, AT_NET_ATTR_INTS);
    for (int i = 0; a && i < a->num; i++)
        if (a->ints[i] != x) return false;
    return a ? a->num > 0 : x == otherwise;
}

static bool channels_lie_last(const at_net_cut *cut, int value) {
    const at_net_value *v = &cut->net->values.data[value];
    const int *order = cut->orders[value];
    return order ? v->rank == 4 : v->rank == 4 && (v->dims[1] == 1 || v->dims[2] * v->dims[3] == 1);
}

bool at_net_suits_winograd(const at_net_cut *cut, const at_net_node *n) {
    const at_net_attribute *pad = at_net_attribute_find(n, "auto_pad", AT_NET_ATTR_STRING);
    if (strcmp(n->op, "Conv") || n->num_inputs < 2) return false;
    const at_net_value *w = &cut->net->values.data[n->inputs[1]];
    if (w->element != AT_F32 || w->rank != 4 || w->dims[2] != 3 || w->dims[3] != 3 ||
        !w->is_constant)
        return false;
    if (at_net_int(n, "group", 1) != 1 || (pad && strcmp(pad->s, "NOTSET") != 0)) return false;
    return all_are(n, "strides", 1, 1) && all_are(n, "dilations", 1, 1) &&
           all_are(n, "pads", 1, 0) && channels_lie_last(cut, n->inputs[0]) &&
           channels_lie_last(cut, n->outputs[0]);
}

/* "+bias+relu", of what follows the convolution; NULL: something else does. */
static const char *named_stages(const at_net_cut *cut, const at_net_part *part) {
    const at_net_node *n = &cut->net->nodes.data[part->nodes[0]];
    bool bias = n->num_inputs > 2 && n->inputs[2] >= 0, relu = false;
    for (int i = 1; i < part->num_nodes; i++) {
        const at_net_node *x = &cut->net->nodes.data[part->nodes[i]];
        if (!strcmp(x->op, "Bias") && !bias && !relu) bias = true;
        else if (!strcmp(x->op, "Relu") && !relu) relu = true;
        else return NULL;
    }
    return bias ? relu ? "+bias+relu" : "+bias" : relu ? "+relu" : "";
}

/* What follows the convolution, as stages of a template; NULL: it is none. own: the part's text. */
static at_status stages_of(at_arena *a, const at_net_cut *cut, const at_net_part *part,
                           const at_request *own, const char **out, at_error *err) {
    at_selection s = {0};
    *out = named_stages(cut, part);
    if (*out) return AT_OK;
    AT_TRY(at_select_task(a, own, &s, err));
    *out = at_net_tail(a, at_task_compute(s.task));
    return AT_OK;
}

/* Of few channels the sums are short, and what m = 4 adds to their errors is most of them: three
 * times the errors of the definition, where m = 4 saves least. */
enum { CHANNELS_OF_FOUR = 48 };

static at_status add_winograd(at_arena *a, const at_net_cut *cut, const at_net_part *part,
                              at_request *ways, int *num, at_error *err) {
    const at_net_node *n = &cut->net->nodes.data[part->nodes[0]];
    const char *stages = NULL;
    const at_template_row *row;
    if (at_net_suits_winograd(cut, n)) AT_TRY(stages_of(a, cut, part, &ways[0], &stages, err));
    if (!stages) return AT_OK;
    const at_net_value *x = &cut->net->values.data[n->inputs[0]];
    const at_net_value *y = &cut->net->values.data[n->outputs[0]];
    const char *name = at_format(a, "conv2d_winograd_nhwc%s", stages);
    if (at_template_find(name, &row, NULL) != AT_OK) return AT_OK; /* a stage too long for a name */
    for (int m = 2; m <= (x->dims[1] < CHANNELS_OF_FOUR ? 2 : 4); m += 2)
        ways[(*num)++] = (at_request){
            .row = row,
            .template_name = row->name,
            .args = at_format(a, "N=%lld,H=%lld,W=%lld,CI=%lld,CO=%lld,m=%d", (long long)x->dims[0],
                              (long long)x->dims[2], (long long)x->dims[3], (long long)x->dims[1],
                              (long long)y->dims[1], m)};
    return AT_OK;
}

at_status at_net_ways_of(at_arena *a, const at_net_cut *cut, const at_net_part *part,
                         at_request *ways, int *num, at_error *err) {
    ways[0] = (at_request){0};
    *num = 1;
    AT_TRY(at_net_row_of(part, &ways[0].row, err));
    ways[0].template_name = ways[0].row->name;
    return add_winograd(a, cut, part, ways, num, err);
}

at_status at_net_find_ways(at_net_program *p, at_error *err) {
    for (int i = 0; i < p->num_kernels; i++) {
        at_net_kernel *k = &p->kernels[i];
        if (k->part->is_whole) continue;
        p->num_tunable++;
        AT_TRY(at_net_ways_of(p->arena, &p->cut, k->part, k->ways, &k->num_ways, err));
    }
    return AT_OK;
}

const char *at_net_isa(const at_net_build *b, const at_task *task) {
    return at_engine_target_for(&b->engine, at_task_compute(task))->name;
}
