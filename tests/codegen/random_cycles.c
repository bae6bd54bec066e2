/* tests/codegen/random_cycles.c: random stages that read each other step by step, and extremes that
 * read themselves. */
#include "tests/codegen/random_make.h"

#include <string.h>

/* The axes of a stage that reads src, each of a class of its own. */
static void own_axes(maker *m, int s, int src, int *classes) {
    for (int d = 0; d < m->tensor[src].rank; d++) {
        classes[d] = class_of_dim(m, s, src, d);
        for (int e = 0; e < d; e++)
            if (classes[e] == classes[d])
                classes[d] = new_class(m, "d", m->tensor[src].extent[d], NULL);
        add_axis(m, s, classes[d], false);
    }
}

/* Those of the other stage of a cycle: the same up to the steps', the others often cut anew. */
static void like_axes(maker *m, int s, int first, const int *of, int rank, int *classes) {
    for (int d = 0; d < rank; d++) {
        classes[d] = d <= first || chance(m, 70) ? of[d] : clone_class(m, of[d]);
        add_axis(m, s, classes[d], false);
    }
}

typedef enum steps { ONE_BEFORE, RANGE, CONDITION } steps;

/* `of` at an earlier step, where there is one: along axis `first` of the stage s, or wherever the
 * reduction goes below that; other: what dimension `over` is read at, or NULL. */
static void read_earlier(maker *m, int s, int of, int first, steps how, int over, const char *other,
                         at_text *out) {
    const rp_tensor *t = &m->tensor[s];
    const int rank = m->tensor[of].rank, by = chance(m, 75) ? 1 : 2;
    char index[RANK][RP_EXPR];
    int classes[RANK];
    for (int d = 0; d < rank; d++) {
        classes[d] = -1;
        if (d == over) snprintf(index[d], RP_EXPR, "%s", other);
        else if (d == first && how == ONE_BEFORE)
            snprintf(index[d], RP_EXPR, "%s - %d", t->axis_name[d], by);
        else if (d > first && chance(m, 15))
            snprintf(index[d], RP_EXPR, "%s - 1 - %s", t->extent[d], t->axis_name[d]);
        else snprintf(index[d], RP_EXPR, "%s", t->axis_name[d]);
    }
    if (how == ONE_BEFORE) at_text_addf(out, "(%s >= %d ? ", t->axis_name[first], by);
    if (how == CONDITION)
        at_text_addf(out, chance(m, 50) ? "(%s < %s ? " : "(!(%s > %s - 1) ? ", other,
                     t->axis_name[first]);
    read_tensor(m, s, of, index, classes, out);
    if (how != RANGE) at_text_addf(out, " : %d)", below(m, 3) - 1);
}

/* What is summed of `of`; it has the reduction as its last axis. */
static void finish_sum(maker *m, int s, int of, int first, const int *classes, steps how) {
    const bool triangle = how == RANGE;
    const int rank = m->tensor[of].rank;
    at_text body = {0};
    char bounds[RP_EXPR];
    const int over = how == ONE_BEFORE ? rank - 1 : first;
    const int k =
        triangle ? dynamic_class(m, "k") : new_class(m, "k", m->tensor[of].extent[over], NULL);
    add_axis(m, s, k, true);
    if (triangle) {
        snprintf(bounds, sizeof bounds, chance(m, 80) ? "0 .. %s" : "0 .. %s - 1",
                 axis_of(m, classes[first]));
        memcpy(m->tensor[s].dyn, axis_of(m, classes[first]), RP_NAME);
    }
    read_earlier(m, s, of, first, how, over, axis_of(m, k), &body);
    if (chance(m, 80)) { /* a dynamic axis has no extent */
        const int some[] = {classes[rank - 1], triangle ? classes[0] : k};
        const int n = some[0] == some[1] ? 1 : 2;
        at_text_add(&body, m->tensor[s].reduction ? " - " : "*");
        read_plain(m, s, add_operand(m, "w", 40, n, some), some, &body);
    }
    finish_stage(m, s, &body, triangle ? bounds : NULL);
}

/* No extreme of nothing, which is infinite. */
static steps choose_steps(maker *m, int s, int first, int rank) {
    if (first != rank - 1 && chance(m, 70)) return ONE_BEFORE;
    return !m->tensor[s].reduction && chance(m, 50) ? RANGE : CONDITION;
}

/* An element of it is the largest or the least of what the step before had. */
static int extreme_of_itself(maker *m, int src, int first) {
    int classes[RANK], s = begin_stage(m, "p");
    own_axes(m, s, src, classes);
    m->tensor[s].reduction = chance(m, 50) ? "max" : "min";
    m->tensor[s].steps = 1u << first;
    m->tensor[s].in_cycle = true;
    finish_sum(m, s, s, first, classes, choose_steps(m, s, first, m->tensor[src].rank));
    return s;
}

/* The largest of what s has at the step at hand and before. */
static void finish_largest(maker *m, int u, int s, int first, const int *classes) {
    const rp_tensor *t = &m->tensor[u];
    at_text body = {0};
    char index[RANK][RP_EXPR];
    int read[RANK];
    const int k = new_class(m, "k", t->extent[first], NULL);
    for (int d = 0; d < m->tensor[s].rank; d++) {
        read[d] = d == first ? -1 : classes[d];
        snprintf(index[d], RP_EXPR, "%s", d == first ? axis_of(m, k) : t->axis_name[d]);
    }
    m->tensor[u].reduction = "max";
    add_axis(m, u, k, true);
    at_text_addf(&body, "(%s <= %s ? ", axis_of(m, k), t->axis_name[first]);
    read_tensor(m, u, s, index, read, &body);
    at_text_add(&body, " : -9)");
    finish_stage(m, u, &body, NULL);
}

int cycle_stage(maker *m, int src) {
    const int rank = m->tensor[src].rank, first = chance(m, 60) ? 0 : below(m, rank);
    int own[RANK], sum_axes[RANK];
    if (chance(m, 25)) return extreme_of_itself(m, src, first);
    const int s = begin_stage(m, "s"), u = chance(m, 25) ? begin_stage(m, "u") : s,
              h = begin_stage(m, "h");
    at_text body = {0};
    own_axes(m, h, src, own);
    like_axes(m, s, first, own, rank, sum_axes);
    if (chance(m, 30)) m->tensor[s].reduction = chance(m, 50) ? "max" : "min";
    const steps how = choose_steps(m, s, first, rank);
    m->tensor[s].steps = m->tensor[h].steps = 1u << first;
    m->tensor[s].in_cycle = m->tensor[h].in_cycle = true;
    m->tensor[s].stands_with = h;
    finish_sum(m, s, h, first, sum_axes, how);
    if (u != s) {
        int largest_axes[RANK];
        like_axes(m, u, first, own, rank, largest_axes);
        m->tensor[u].steps = 1u << first;
        m->tensor[u].in_cycle = true;
        m->tensor[u].stands_with = h;
        finish_largest(m, u, s, first, largest_axes);
    }
    at_text_add(&body, "min(max(");
    read_plain(m, h, src, own, &body);
    at_text_add(&body, chance(m, 50) ? " + " : " - ");
    read_plain(m, h, u, own, &body);
    if (chance(m, 40)) {
        at_text_add(&body, " + ");
        read_earlier(m, h, h, first, ONE_BEFORE, -1, NULL, &body);
    }
    at_text_addf(&body, ", -%d), 4)", 1 + below(m, 4));
    finish_stage(m, h, &body, NULL);
    return h;
}
