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

/* The last one of as many lanes that has dot products of bytes, or products of f16. */
static const at_target *best_like(const at_target *t, bool of_bytes) {
    const at_target *x, *best = t;
    for (int i = 0; (x = at_target_at(i)); i++)
        if ((of_bytes ? x->dots : x->multiplies_halves) && x->lanes == t->lanes &&
            x->architecture == t->architecture && at_cpu_has_set(at_vector_set(x->name)))
            best = x;
    return best;
}

const at_target *at_target_of_integers(const at_target *t) { return best_like(t, true); }

const at_target *at_target_of_types(const at_target *t, const at_compute *c) {
    if (c->in_steps) return at_target_of_integers(t);
    return c->has_halves && at_adds_products(c, false) ? best_like(t, false) : t;
}

bool at_adds_products(const at_compute *c, bool of_bytes) {
    bool found = false;
    for (int t = 0; t < c->num_tensors; t++) {
        const at_tensor *x = &c->tensors[t];
        int num;
        if (x->role != AT_ROLE_STAGE || (x->type == AT_S32) != of_bytes || !x->num_reduce ||
            x->reduction != AT_REDUCE_SUM || !at_expr_has(x->body, AT_X_MUL))
            continue;
        bool all = true;
        const at_expr *const *reads = at_compute_reads(c, t, &num);
        for (int i = 0; i < num; i++) {
            const at_type type = c->tensors[reads[i]->ref].type;
            all &= of_bytes ? at_type_bytes(type) == 1 : type == AT_F16;
        }
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
