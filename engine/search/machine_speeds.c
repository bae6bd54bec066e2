/* engine/search/machine_speeds.c: the table that is kept in the user's cache folder. Others may
 * have written what is there, in another version or by mistake: what is no table of this machine is
 * as none. */
#include "engine/search/machine_speeds.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/runtime.h"

enum { MOST_BYTES = 1 << 20 };

static bool same_machine(const at_speed_table *x, const at_speed_table *y) {
    return !strcmp(x->cpu, y->cpu) && !strcmp(x->flags, y->flags) &&
           !strcmp(x->version, y->version);
}

const char *at_speeds_path(at_arena *a) {
    at_speed_table here;
    at_hash h;
    char hex[33];
    const char *in = at_cache_folder(a);
    if (!in) return NULL;
    at_speed_table_of_here(&here);
    at_hash_init(&h);
    at_hash_add(&h, here.cpu, sizeof here.cpu);
    at_hash_add(&h, here.flags, sizeof here.flags);
    at_hash_add(&h, here.version, sizeof here.version);
    at_hash_hex(&h, hex);
    return at_format(a, "%s/machine-%.16s.json", in, hex);
}

static at_status read_kept(at_arena *a, const char *path, at_speed_table *out, at_error *err) {
    at_speed_table here;
    const at_json *json;
    char *text;
    size_t len;
    at_speed_table_of_here(&here);
    AT_TRY(at_read_file(a, path, MOST_BYTES, &text, &len, err));
    AT_TRY(at_json_parse(a, text, len, &json, err));
    AT_TRY(at_speed_table_read(json, out, err));
    if (same_machine(out, &here)) return AT_OK;
    return at_fail(err, AT_E_INPUT, "it is of another CPU or version");
}

bool at_speeds_kept(at_speed_table *out) {
    at_arena *a = at_arena_new();
    const char *path = at_speeds_path(a);
    bool ok = path && read_kept(a, path, out, NULL) == AT_OK;
    at_arena_free(a);
    return ok;
}

const char *at_speeds_refused(at_arena *a) {
    const char *path = at_speeds_path(a);
    at_speed_table table;
    at_error err;
    if (!path || access(path, F_OK) != 0 || read_kept(a, path, &table, &err) == AT_OK) return NULL;
    return at_strdup(a, err.text);
}

at_status at_speeds_keep(const at_speed_table *t, at_error *err) {
    at_arena *a = at_arena_new();
    const char *path = at_speeds_path(a);
    at_text text = {0};
    at_status s = AT_OK;
    at_speed_table_print(&text, t);
    at_text_add(&text, "\n");
    if (!path)
        s = at_fail(err, AT_E_OUTPUT,
                    "no folder to keep the table in: neither XDG_CACHE_HOME nor HOME is the "
                    "absolute path of one");
    else s = at_make_folder(at_strdup(a, path), err);
    if (s == AT_OK)
        s = at_write_output(path, &(at_output_rules){.is_derived = true}, at_text_str(&text),
                            text.len, err);
    at_text_free(&text);
    at_arena_free(a);
    return s == AT_E_LOCKED ? AT_OK : s; /* another process keeps its own at this moment */
}

bool at_speeds_are_worked_out(void) {
    const at_core *core = at_core_find(at_cpu_facts()->core);
    return core && !core->speeds;
}

void at_speeds_known(at_speed_table *out) {
    if (at_speeds_kept(out)) return;
    at_speed_table_of_here(out);
    const at_core *core = at_core_find(at_cpu_facts()->core);
    for (int set = 0; out->num_sets < AT_SPEED_SETS && at_vector_set_name(set); set++) {
        const char *name = at_vector_set_name(set);
        const at_speeds *s = at_speeds_built_in(name, core);
        const at_target *target = at_target_find(name);
        if (s && at_cpu_has_set(set)) out->sets[out->num_sets++] = *s;
        else if (!s && core && !target->like)
            at_speeds_guess(core, target, &out->sets[out->num_sets++]);
    }
}

void at_speeds_of(const at_speed_table *t, const at_target *target, at_speeds *out) {
    const at_speeds *s = at_speed_table_find(t, target->name);
    if (!s) s = at_speeds_built_in(target->name, NULL);
    if (s) {
        *out = *s;
        at_speeds_complete(out, target);
    } else at_speeds_guess(NULL, target, out);
}
