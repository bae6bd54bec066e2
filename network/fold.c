/* network/fold.c: nodes whose inputs are known, worked out by their texts in double. */
#include "network/network_int.h"

#include <string.h>

typedef struct folding {
    net_op *o;
    const at_compute *compute;
    double **data; /* [tensor] */
} folding;

int net_number(const char *name, char letter) {
    if (name[0] != letter || name[1] < '0' || name[1] > '9') return -1;
    int k = 0;
    for (const char *p = name + 1; *p; p++) k = 10 * k + (*p - '0');
    return k;
}

static void load(folding *f, int tensor) {
    const at_net_value *v = op_in(f->o, net_number(f->compute->tensors[tensor].name, 'x'));
    double *x = f->data[tensor] = AT_NEW_ARRAY(f->o->arena, double, v->elements + 1);
    for (int64_t i = 0; i < v->elements; i++) x[i] = at_net_element(v->type, v->data, i);
}

static at_status store(folding *f, int tensor) {
    const int k = net_number(f->compute->tensors[tensor].name, 'y');
    if (k < 0 || !op_has_out(f->o, k)) return AT_OK;
    int64_t n = 1;
    void *data;
    for (int i = 0; i < f->o->out[k].rank; i++) n *= f->o->out[k].dims[i];
    AT_TRY(op_constant(f->o, k, &data));
    for (int64_t i = 0; i < n; i++) at_net_store(f->o->out[k].type, data, i, f->data[tensor][i]);
    return AT_OK;
}

/* What takes so long that it is better left to who computes the network. */
static bool is_long(const at_compute *c, int64_t *const *extents) {
    const double most_points = 3e7;
    double points = 0;
    for (int t = 0; t < c->num_tensors; t++) {
        double n = 1;
        for (int i = 0; i < c->tensors[t].num_axes + c->tensors[t].num_reduce; i++)
            n *= extents[t][i] < 0 ? 1e3 : (double)extents[t][i];
        points += n;
    }
    return points > most_points;
}

at_status net_fold(net_op *o) {
    at_error why;
    folding f = {.o = o};
    at_compute *c;
    int64_t **extents;
    if (at_net_computation(o->arena, o->net, o->node, &c, &why) != AT_OK ||
        at_compute_extents(o->arena, c, NULL, &extents, &why) != AT_OK)
        return op_fail(o, "%s", why.text);
    if (is_long(c, extents)) return AT_OK;
    f.compute = c;
    f.data = AT_NEW_ARRAY(o->arena, double *, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].role != AT_ROLE_STAGE) load(&f, t);
    if (at_compute_interpret_double(o->arena, c, NULL, f.data, &why) != AT_OK)
        return op_fail(o, "%s", why.text);
    for (int t = 0; t < c->num_tensors; t++) AT_TRY(store(&f, t));
    return AT_OK;
}
