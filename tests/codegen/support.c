#include "tests/codegen/support.h"

#include <stdio.h>
#include <stdlib.h>

char folder[] = "/tmp/autotune-codegen-XXXXXX";

int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

int remove_folder(void **state) {
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

at_program *program_of(at_arena *a, const program *p) {
    at_symbols *symbols = AT_NEW(a, at_symbols);
    int64_t *values = AT_NEW_ARRAY(a, int64_t, 128);
    at_compute *compute;
    at_tree *tree;
    at_program *built;
    char name[32];
    long value;
    const char *s = p->sizes;
    for (int n; sscanf(s, " %31[^=]=%ld%n", name, &value, &n) == 2; s += n)
        values[at_symbol_add(a, symbols, at_strdup(a, name))] = value;
    CALL(at_compute_parse(a, symbols, p->compute, p->name, &compute, &err));
    CALL(at_tree_parse(a, compute, p->tree, p->name, &tree, &err));
    CALL(at_program_build(a, tree, values, &built, &err));
    CALL(at_program_verify(a, built, &err));
    return built;
}

at_low *lowered_for(at_arena *a, const program *p, at_dialect dialect, const at_target *target,
                    const char *until) {
    const at_lower_options o = {
        .dialect = dialect, .target = target, .name = p->name, .verify = true};
    at_low *l;
    CALL(at_lower_until(a, program_of(a, p), &o, until, &l, &err));
    return l;
}
