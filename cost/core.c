/* cost/core.c: the architectures whose cores there are facts of, a row each. */
#include <string.h>

#include "cost/x86/cores.h"

static const struct {
    const at_core *cores;
    int num_cores;
} architectures[] = {{at_x86_cores, AT_X86_NUM_CORES}};
enum { NUM_ARCHITECTURES = sizeof architectures / sizeof *architectures };

const at_core *at_core_at(int i) {
    for (int k = 0; k < NUM_ARCHITECTURES; i -= architectures[k++].num_cores)
        if (i < architectures[k].num_cores) return &architectures[k].cores[i];
    return NULL;
}

const at_core *at_core_find(const char *llvm_name) {
    size_t n = strlen(llvm_name);
    const at_core *c;
    for (int i = 0; n && (c = at_core_at(i)); i++)
        for (const char *s = c->names; *s; s += strcspn(s, " "), s += *s == ' ')
            if (strcspn(s, " ") == n && !memcmp(s, llvm_name, n)) return c;
    return NULL;
}

double at_core_flops(const at_core *c, const at_target *t) {
    int wide = t->lanes >= AT_WIDE_LANES;
    return t->fused ? c->fma[wide] * 2 * t->lanes : c->arithmetic[wide] * t->lanes;
}
