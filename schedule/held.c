/* schedule/held.c: outputs that lie in an input's memory, such as a cache of keys to which a step
 * adds a row:
 *
 *     keys[g:G, t:T, d:D] : in key = t == pos ? new[g, d] : key[g, t, d]
 *
 * The computation is the same as with memory of its own. In the caller's, elements that stay are
 * there already, so a kernel writes the others alone, and a second run finds what the first one
 * left: it changes nothing. Where new elements are made of the old ones at their places, as in
 *
 *     v[n:N] : in w = w[n] - rate*g[n]
 *
 * a second run goes on from the first, so each run that is checked or timed begins with the old
 * elements, and no tree works an element out twice (rule 12). No other stage reads the input. */
#include "schedule/schedule_int.h"

#include <string.h>

int at_compute_held(const at_compute *c, int output) {
    const char *name = c->tensors[output].lies_in;
    return name ? at_compute_find(c, name) : -1;
}

int at_compute_holder(const at_compute *c, int tensor) {
    for (int t = 0; t < c->num_tensors && c->tensors[tensor].is_held; t++)
        if (at_compute_held(c, t) == tensor) return t;
    return tensor;
}

typedef struct check {
    const at_lex *lex;
    const compute_info *c;
    at_error *err;
} check;

static at_status fail(const check *x, const at_tensor *t, const char *why) {
    return at_lex_fail_at(x->lex, t->written->line, t->written->col, x->err,
                          "\"%s\" lies in \"%s\": %s", t->name, t->lies_in, why);
}

/* Is it c ? value : NAME[its own axes], or the other way round, which reads NAME nowhere else? */
static bool keeps_the_rest(const at_tensor *t, int held) {
    const at_expr *body = t->body;
    int kept = 0, others = 0;
    if (body->op != AT_X_SELECT) return false;
    for (int i = 0; i < body->nargs; i++) {
        const at_expr *e = body->arg[i];
        if (i && e->op == AT_X_INDEX && e->ref == held && at_expr_is_in_place(e)) kept++;
        else others += at_expr_count_reads(e, held);
    }
    return kept == 1 && !others;
}

/* A read of the input that is not of the element's own place; NULL: there is none. */
static const at_expr *read_elsewhere(const check *x, int stage, int held) {
    const tensor_info *info = &x->c->info[stage];
    for (int i = 0; i < info->num_reads; i++)
        if (info->reads[i]->ref == held && !at_expr_is_in_place(info->reads[i]))
            return info->reads[i];
    return NULL;
}

static bool same_shape(const at_tensor *x, const at_tensor *y) {
    bool same = x->num_axes == y->num_axes && x->type == y->type;
    for (int k = 0; same && k < x->num_axes; k++)
        same = at_expr_equal(x->axes[k].extent, y->axes[k].extent);
    return same;
}

static at_status check_output(const check *x, int stage, int held) {
    at_tensor *t = &x->c->pub.tensors[stage], *input = &x->c->pub.tensors[held];
    const at_expr *elsewhere = read_elsewhere(x, stage, held);
    if (input->is_held) return fail(x, t, "another output does, too");
    input->is_held = true;
    if (input->is_s64 || input->type == AT_BOOL)
        return fail(x, t, "its elements are checked on their way in");
    if (!same_shape(t, input)) return fail(x, t, "both have to have the same extents");
    if (t->num_reduce || at_tensor_goes_in_steps(t))
        return fail(x, t, "it is no sum, nor worked out step by step: let it read such a stage");
    if (!at_expr_count_reads(t->body, held))
        return fail(x, t, "it reads nothing there: leave \"in\" out");
    if (elsewhere)
        return at_lex_fail_at(x->lex, elsewhere->line, elsewhere->col, x->err,
                              "\"%s\" lies in \"%s\": of this input it reads its own element "
                              "alone, at the indices %s has",
                              t->name, t->lies_in, t->name);
    t->is_updated = !keeps_the_rest(t, held);
    return AT_OK;
}

/* Does anything of a stage but what stays of an output in it read the input? */
static at_status check_reader(const check *x, int stage) {
    const tensor_info *info = &x->c->info[stage];
    const at_tensor *t = &x->c->pub.tensors[stage];
    for (int i = 0; i < info->num_reads; i++) {
        const at_expr *read = info->reads[i];
        const int holder = at_compute_holder(&x->c->pub, read->ref);
        if (holder == read->ref || holder == stage) continue;
        return at_lex_fail_at(x->lex, read->line, read->col, x->err,
                              "\"%s\" reads \"%s\", in which \"%s\" lies: read that", t->name,
                              x->c->pub.tensors[read->ref].name, x->c->pub.tensors[holder].name);
    }
    return AT_OK;
}

at_status compute_check_held(const at_lex *l, compute_info *c, at_error *err) {
    const check x = {l, c, err};
    bool any = false;
    for (int t = 0; t < c->pub.num_tensors; t++) {
        const int held = at_compute_held(&c->pub, t);
        if (held >= 0) AT_TRY(check_output(&x, t, held));
        any |= held >= 0;
    }
    for (int t = 0; t < c->pub.num_tensors && any; t++) AT_TRY(check_reader(&x, t));
    return AT_OK;
}
