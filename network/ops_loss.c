/* network/ops_loss.c: what a network is trained by: how far the scores of classes are from the
 * class that is right. */
#include "network/network_int.h"

#include <string.h>

/* "c" is the class; of a target's element letter<i> are the axes. */
typedef struct losses {
    net_op *o;
    int64_t classes;
    const char *of, *at; /* axes and index of a target */
    const char *counts;  /* "is not ignored", as a condition; NULL: all count */
} losses;

static at_status take_targets(losses *l) {
    net_op *o = l->o;
    const at_net_value *x = op_in(o, 0), *target = op_in(o, 1), *weight = op_in(o, 2);
    bool fits = x->rank >= 2 && target->rank == x->rank - 1;
    for (int i = 0; fits && i < target->rank; i++) fits = target->dims[i] == x->dims[i ? i + 1 : 0];
    if (!fits)
        return op_fail(o, "\"%s\" has other sizes than \"%s\" without its classes", target->name,
                       x->name);
    l->classes = x->dims[1];
    if (weight && weight->elements != l->classes)
        return op_fail(o, "\"%s\" has %lld elements for %lld classes", weight->name,
                       (long long)weight->elements, (long long)l->classes);
    l->of = op_axes(o, "a", target->rank, target->dims);
    l->at = op_index(o, "a", target->rank);
    if (op_has(o, "ignore_index", AT_NET_ATTR_INT))
        l->counts =
            op_format(o, "x1[%s] != %s", l->at, op_number(o, (double)op_int(o, "ignore_index", 0)));
    return AT_OK;
}

/* `value` of the class that is right; 0 where the target is ignored. */
static void add_right(const losses *l, const char *stage, const char *value) {
    op_add(l->o, "%s[%s] = sum(c:%lld) x1[%s] == c%s%s ? %s : 0\n", stage, l->of,
           (long long)l->classes, l->at, l->counts ? " && " : "", l->counts ? l->counts : "",
           value);
}

/* All of a stage of targets. */
static void add_total(const losses *l, const char *stage, const char *of) {
    const at_net_value *target = op_in(l->o, 1);
    op_add(l->o, "%s[t:1] = sum(%s) %s[%s]\n", stage,
           op_axes(l->o, "r", target->rank, target->dims), of, op_index(l->o, "r", target->rank));
}

/* scores: the stage of logarithms of probabilities, or the input that has them. */
static at_status add_losses(losses *l, const char *scores) {
    net_op *o = l->o;
    const at_net_value *target = op_in(o, 1);
    const char *reduction = op_string(o, "reduction", "mean");
    const bool is_mean = !strcmp(reduction, "mean"), is_none = !strcmp(reduction, "none");
    if (!is_mean && !is_none && strcmp(reduction, "sum") != 0)
        return op_fail(o, "reduction \"%s\"; none, sum and mean are accepted", reduction);
    AT_TRY(op_out(o, 0, op_in(o, 0)->type, is_none ? target->rank : 0, target->dims));
    const char *behind = strchr(l->at, ',');
    add_right(
        l, is_none ? "y0" : "loss",
        op_format(o, "-%s[a0, c%s]%s", scores, behind ? behind : "", op_in(o, 2) ? "*x2[c]" : ""));
    if (is_none) return AT_OK;
    add_total(l, is_mean ? "total" : "y0", "loss");
    if (!is_mean) return AT_OK;
    if (op_in(o, 2)) add_right(l, "share", "x2[c]");
    else
        op_add(o, "share[%s] = %s\n", l->of,
               l->counts ? op_format(o, "%s ? 1 : 0", l->counts) : "1");
    add_total(l, "shares", "share");
    op_add(o, "y0[t:1] = total[t]/shares[t]\n");
    return AT_OK;
}

static at_status negative_log_likelihood(net_op *o) {
    losses l = {.o = o};
    AT_TRY(take_targets(&l));
    return add_losses(&l, "x0");
}

static at_status softmax_cross_entropy(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    losses l = {.o = o};
    AT_TRY(take_targets(&l));
    const op_reduction r = op_reduce(x, 1u << 1);
    const char *rows = op_axes(o, "a", x->rank, r.kept), *all = op_axes(o, "a", x->rank, x->dims),
               *in = op_index(o, "a", x->rank), *of = op_term(o, &r, NULL),
               *term = op_term(o, &r, "r"), *terms = op_terms(o, &r);
    op_add(o, "most[%s] = max(%s) x0[%s]\n", rows, terms, term);
    op_add(o, "sums[%s] = sum(%s) " OP_SHARE_OF_D " where d = x0[%s] - most[%s]\n", rows, terms,
           term, of);
    op_add(o, "scores[%s] = x0[%s] - most[%s] - log(sums[%s])\n", all, in, of, of);
    AT_TRY(op_out_like(o, 1, x));
    if (op_has_out(o, 1)) op_add(o, "y1[%s] = scores[%s]\n", all, in);
    return add_losses(&l, "scores");
}

const at_net_row net_rows_loss[] = {
    {"NegativeLogLikelihoodLoss", "", 12, AT_NET_OTHER, 2, 3, 1, negative_log_likelihood},
    {"SoftmaxCrossEntropyLoss", "", 12, AT_NET_OTHER, 2, 3, 2, softmax_cross_entropy},
    NET_ROWS_END,
};
