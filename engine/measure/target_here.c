/* engine/measure/target_here.c: where codegen's targets and the runtime's vector sets meet: by
 * name. */
#include "engine/measure/target_here.h"

#include "runtime/runtime.h"
#include "schedule/program.h"

static const at_target *target_of_set(int set) {
    const at_target *t = at_target_find(at_vector_set_name(set));
    if (!t) AT_BUG("there is no target %s", at_vector_set_name(set));
    return t;
}

const at_target *at_target_here(void) { return target_of_set(at_cpu_best_set()); }

/* Can it stand for t here: as many lanes, and instructions that this CPU has? */
static bool is_for(const at_target *x, const at_target *t) {
    return x->lanes == t->lanes && x->architecture == t->architecture &&
           at_cpu_has_fast_set(at_vector_set(x->name));
}

/* Has x more of these kinds than t, or as many and sooner? */
static bool is_better(const at_target *x, const at_target *t, int kinds) {
    const int more = x->dots & kinds & ~t->dots, fewer = t->dots & kinds & ~x->dots;
    return !fewer && (more || ((x->dots & kinds) && x->dot_terms < t->dot_terms));
}

const at_target *at_target_with_dots(const at_target *t, int kinds) {
    const at_target *x, *best = t;
    for (int i = 0; (x = at_target_at(i)); i++)
        if (is_for(x, t) && is_better(x, best, kinds)) best = x;
    return best;
}

/* The last one of as many lanes that has products of f16. */
static const at_target *with_halves(const at_target *t) {
    const at_target *x, *best = t;
    for (int i = 0; (x = at_target_at(i)); i++)
        if (x->multiplies_halves && is_for(x, t)) best = x;
    return best;
}

/* One that converts f16 by an instruction, and is as good in all else. */
static const at_target *with_conversion(const at_target *t) {
    const at_target *x;
    for (int i = 0; !t->converts_halves && (x = at_target_at(i)); i++)
        if (x->converts_halves && is_for(x, t) && !is_better(t, x, t->dots)) return x;
    return t;
}

static const int integers = AT_DOT_BYTES | AT_DOT_S16;

int at_targets_of_types(const at_target *t, const at_target *out[AT_TARGETS_OF_TYPES]) {
    const at_target *all[AT_TARGETS_OF_TYPES] = {t, at_target_with_dots(t, integers),
                                                 at_target_with_dots(t, AT_DOT_BF16),
                                                 with_halves(t), with_conversion(t)};
    int n = 0;
    for (int i = 0; i < AT_TARGETS_OF_TYPES; i++) {
        bool is_there = false;
        for (int k = 0; k < n; k++) is_there |= out[k] == all[i];
        if (!is_there) out[n++] = all[i];
    }
    return n;
}

static bool has_f16(const at_compute *c) {
    bool found = false;
    for (int t = 0; t < c->num_tensors; t++) found |= c->tensors[t].type == AT_F16;
    return found;
}

const at_target *at_target_of_types(const at_target *t, const at_compute *c) {
    int kinds = c->in_steps ? integers : 0;
    if (!kinds && c->has_halves && at_adds_products(c, AT_F16))
        return with_conversion(with_halves(t));
    if (c->has_halves && at_adds_products(c, AT_BF16)) kinds |= AT_DOT_BF16;
    const at_target *best = at_target_with_dots(t, kinds);
    return has_f16(c) ? with_conversion(best) : best;
}

static bool is_alike(at_type x, at_type of) {
    return x == of || (at_type_bytes(of) == 1 && at_type_bytes(x) == 1);
}

bool at_adds_products(const at_compute *c, at_type of) {
    const at_type sum = at_type_of(of)->is_int ? AT_S32 : AT_F32;
    bool found = false;
    for (int t = 0; t < c->num_tensors; t++) {
        const at_tensor *x = &c->tensors[t];
        int num;
        if (x->role != AT_ROLE_STAGE || x->type != sum || !x->num_reduce ||
            x->reduction != AT_REDUCE_SUM || !at_expr_has(x->body, AT_X_MUL))
            continue;
        bool all = true;
        const at_expr *const *reads = at_compute_reads(c, t, &num);
        for (int i = 0; i < num; i++) all &= is_alike(c->tensors[reads[i]->ref].type, of);
        found |= all;
    }
    return found;
}

at_status at_target_check(const at_target *t, at_error *err) {
    const at_architecture *ours = at_target_here()->architecture;
    if (t->architecture != ours)
        return at_fail(err, AT_E_USAGE,
                       "the code is for %s and this machine is %s: apply writes it to a file, but "
                       "it does not run here",
                       t->architecture->name, ours->name);
    if (!at_cpu_has_set(at_vector_set(t->name)))
        return at_fail(err, AT_E_USAGE, "this CPU (%s) has no %s", at_cpu_facts()->name, t->name);
    return AT_OK;
}
