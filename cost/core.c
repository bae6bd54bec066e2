/* cost/core.c: the architectures whose cores there are facts of, a row each; and speeds that were
 * measured on a machine once and are kept with the program, as files that are read when they are
 * first asked for. */
#include <pthread.h>
#include <string.h>

#include "cost/cost_int.h"

static const struct {
    const at_core *cores;
    int num_cores;
} architectures[] = {{at_x86_cores, AT_X86_NUM_CORES}, {at_aarch64_cores, AT_AARCH64_NUM_CORES}};
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

/* ---- kept speeds ----------------------------------------------------------------------------- */

enum { MOST_FILES = 16 };

static struct {
    const char *text; /* of the file, which lies in the program */
    at_speed_table table;
} files[MOST_FILES];
static int num_files;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void read_file(const char *text, at_speed_table *out) {
    at_arena *a = at_arena_new();
    const at_json *json;
    at_error err;
    if (at_json_parse(a, text, strlen(text), &json, &err) != AT_OK ||
        at_speed_table_read(json, out, &err) != AT_OK)
        AT_BUG("speeds that are kept with the program: %s", err.text);
    at_arena_free(a);
}

static const at_speed_table *table_of(const char *text) {
    int i = 0;
    pthread_mutex_lock(&lock);
    while (i < num_files && files[i].text != text) i++;
    if (i == num_files) {
        AT_ASSERT(i < MOST_FILES);
        read_file(text, &files[i].table);
        files[i].text = text;
        num_files++;
    }
    pthread_mutex_unlock(&lock);
    return &files[i].table;
}

static const at_speeds *speeds_of(const at_core *c, const char *isa) {
    if (!c->speeds) return NULL;
    const at_speed_table *t = table_of(c->speeds);
    for (int i = 0; i < t->num_sets; i++)
        if (!strcmp(t->sets[i].isa, isa)) return &t->sets[i];
    return NULL;
}

const at_speeds *at_speeds_built_in(const char *isa, const at_core *core) {
    const at_speeds *s = core ? speeds_of(core, isa) : NULL;
    for (int i = 0; !s && at_core_at(i); i++) s = speeds_of(at_core_at(i), isa);
    return s;
}
