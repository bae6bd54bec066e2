/* codegen/target.c: the architectures that code is made for, a row each. */
#include "codegen/target.h"

#include <string.h>

#include "codegen/aarch64/aarch64.h"
#include "codegen/x86/x86.h"

static const at_architecture *const architectures[] = {&at_x86_64, &at_aarch64};
enum { NUM_ARCHITECTURES = sizeof architectures / sizeof *architectures };

const at_target *at_target_at(int i) {
    for (int k = 0; k < NUM_ARCHITECTURES; i -= architectures[k++]->num_targets)
        if (i < architectures[k]->num_targets) return &architectures[k]->targets[i];
    return NULL;
}

const at_target *at_target_plainest(const at_target *t) { return &t->architecture->targets[0]; }

const at_target *at_target_find(const char *name) {
    const at_target *t;
    for (int i = 0; (t = at_target_at(i)); i++)
        if (!strcmp(t->name, name)) return t;
    return NULL;
}
