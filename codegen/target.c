/* codegen/target.c: the architectures that code is made for, a row each. */
#include "codegen/target.h"

#include <string.h>

#include "codegen/codegen.h"
#include "codegen/x86/x86.h"

static const at_architecture *const architectures[] = {&at_x86_64};
enum { NUM_ARCHITECTURES = sizeof architectures / sizeof *architectures };

const at_target *at_target_at(int i) {
    for (int k = 0; k < NUM_ARCHITECTURES; i -= architectures[k++]->num_targets)
        if (i < architectures[k]->num_targets) return &architectures[k]->targets[i];
    return NULL;
}

const at_target *at_target_find(const char *name) {
    const at_target *t;
    for (int i = 0; (t = at_target_at(i)); i++)
        if (!strcmp(t->name, name)) return t;
    return NULL;
}

const at_core *at_core_at(int i) {
    for (int k = 0; k < NUM_ARCHITECTURES; i -= architectures[k++]->num_cores)
        if (i < architectures[k]->num_cores) return &architectures[k]->cores[i];
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
