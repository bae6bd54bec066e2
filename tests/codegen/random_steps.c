/* tests/codegen/random_steps.c: random stages that read themselves at elements that come before. */
#include "tests/codegen/random_make.h"

#include <string.h>

/* Of dimension d, somewhere that may lie elsewhere; what keeps it within the tensor goes to
 * `guard`. */
static void elsewhere(maker *m, int s, int d, char index[RP_EXPR], at_text *guard) {
    const rp_tensor *t = &m->tensor[s];
    const char *axis = t->axis_name[d], *extent = t->extent[d];
    const int by = 1 + below(m, 2);
    switch (below(m, 6)) {
    case 0:
    case 1:
        at_text_addf(guard, " && %s >= %d", axis, by);
        snprintf(index, RP_EXPR, "%s - %d", axis, by);
        return;
    case 2:
        at_text_addf(guard, " && %s + %d < %s", axis, by, extent);
        snprintf(index, RP_EXPR, "%s + %d", axis, by);
        return;
    case 3: snprintf(index, RP_EXPR, "%s - 1 - %s", extent, axis); return;
    case 4: snprintf(index, RP_EXPR, "%s/2", axis); return;
    default: snprintf(index, RP_EXPR, "min(%s + 1, %s - 1)", axis, extent); return;
    }
}

/* The stage's element some steps before along axis `first`, or something else. */
static void earlier(maker *m, int s, int first, at_text *out) {
    rp_tensor *t = &m->tensor[s];
    const int by = chance(m, 70) ? 1 : 2;
    const bool straight = chance(m, 50);
    char index[RANK][RP_EXPR];
    at_text guard = {0};
    at_text_addf(&guard, "%s >= %d", t->axis_name[first], by);
    for (int d = 0; d < t->rank; d++) {
        if (d == first) snprintf(index[d], RP_EXPR, "%s - %d", t->axis_name[d], by);
        else if (d < first || straight || chance(m, 50))
            snprintf(index[d], RP_EXPR, "%s", t->axis_name[d]);
        else elsewhere(m, s, d, index[d], &guard);
    }
    t->steps |= 1u << first;
    at_text_addf(out, "(%s ? %s[", at_text_str(&guard), t->name);
    for (int d = 0; d < t->rank; d++) at_text_addf(out, "%s%s", d ? ", " : "", index[d]);
    at_text_addf(out, "] : %d)", below(m, 3) - 1);
    at_text_free(&guard);
}

/* Elements stay so small that each step is exact. */
int steps_stage(maker *m, int src) {
    at_text body = {0}, x = {0}, h = {0}, g = {0};
    int s = begin_stage(m, "h"), rank = m->tensor[src].rank, classes[RANK];
    for (int d = 0; d < rank; d++) {
        classes[d] = class_of_dim(m, s, src, d);
        for (int e = 0; e < d; e++) /* one class cannot run over two axes */
            if (classes[e] == classes[d])
                classes[d] = new_class(m, "d", m->tensor[src].extent[d], NULL);
        add_axis(m, s, classes[d], false);
    }
    int first = below(m, rank);
    read_plain(m, s, src, classes, &x);
    earlier(m, s, first, &h);
    earlier(m, s, chance(m, 60) ? first : below(m, rank), &g);
    switch (below(m, 6)) {
    case 0: at_text_addf(&body, "%s + %s", h.data, x.data); break;
    case 1: at_text_addf(&body, "max(%s, %s) + %s", h.data, g.data, x.data); break;
    case 2: at_text_addf(&body, "max(%s, %s) - min(%s, 1)", x.data, h.data, g.data); break;
    case 3: at_text_addf(&body, "%s - %s", x.data, h.data); break;
    case 4: at_text_addf(&body, "min(max(%s + %s, -9), 9) - %s", h.data, x.data, x.data); break;
    default:
        condition(m, s, &body);
        at_text_addf(&body, " ? %s + %s : %s", x.data, h.data, g.data);
        break;
    }
    at_text_free(&x);
    at_text_free(&h);
    at_text_free(&g);
    finish_stage(m, s, &body, NULL);
    return s;
}
