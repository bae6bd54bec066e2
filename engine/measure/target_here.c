/* engine/measure/target_here.c: where codegen's targets and the runtime's vector sets meet: by
 * name. */
#include "engine/measure/target_here.h"

#include "runtime/runtime.h"

static const at_target *target_of_set(int set) {
    const at_target *t = at_target_find(at_vector_set_name(set));
    if (!t) AT_BUG("there is no target %s", at_vector_set_name(set));
    return t;
}

const at_target *at_target_here(void) { return target_of_set(at_cpu_best_set()); }

const at_target *at_target_of_integers(const at_target *t) {
    const at_target *x, *best = t;
    for (int i = 0; (x = at_target_at(i)); i++)
        if (x->dots && x->lanes == t->lanes && x->architecture == t->architecture &&
            at_cpu_has_set(at_vector_set(x->name)))
            best = x;
    return best;
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
