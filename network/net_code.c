/* network/net_code.c: C text of a network's nodes as functions in this process: by gcc where that
 * pays and is there, kept in the user's cache folder; else by TinyCC. */
#include "network/net_code.h"

#include <dlfcn.h>

#include "runtime/kept_object.h"
#include "runtime/runtime.h"

struct net_code {
    void *handle;
    at_resident *resident;
};

static const double compile_timeout_s = 300;
static const char flags[] = "-O2";

static bool find_all(void *handle, const char *const *names, int n, void **found) {
    for (int i = 0; i < n; i++)
        if (!(found[i] = dlsym(handle, names[i]))) return false;
    return true;
}

static bool load(const char *path, const char *const *names, int n, void **found, net_code *out) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle && find_all(handle, names, n, found)) return out->handle = handle, true;
    if (handle) dlclose(handle);
    return false;
}

/* An object that was made has a name that an earlier one may have, too: dlopen would give that. */
static bool is_loaded(const char *path) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (handle) dlclose(handle);
    return handle != NULL;
}

/* False: gcc is not there, or does not serve. */
static bool by_gcc(at_arena *a, const char *source, const char *const *names, int n, void **found,
                   const volatile int *stop, net_code *out) {
    at_object made;
    const char *path = at_kept_path(a, "network", flags, source);
    if (path && at_kept_is_own(path) && load(path, names, n, found, out)) return true;
    if (!at_compiler_available(AT_GCC) ||
        at_build_object(a, AT_GCC, source, flags, compile_timeout_s, stop, &made, NULL) != AT_OK ||
        made.end)
        return false;
    at_kept_add(a, path, made.path);
    const bool is_kept = path && at_kept_is_own(path) && load(path, names, n, found, out);
    const bool loaded = is_kept || (!is_loaded(made.path) && load(made.path, names, n, found, out));
    at_object_remove(made.path);
    return loaded;
}

at_status net_code_new(at_arena *a, const char *source, bool is_long, const char *const *names,
                       int n, void **found, const volatile int *stop, net_code **out,
                       at_error *err) {
    net_code *c = *out = AT_NEW(a, net_code);
    if (is_long && by_gcc(a, source, names, n, found, stop, c)) return AT_OK;
    if (at_is_stopped(stop)) return at_fail_stopped(err);
    const at_unit unit = {.source = source, .names = names, .num_names = n};
    return at_resident_new(&unit, found, &c->resident, err);
}

void net_code_free(net_code *c) {
    if (!c) return;
    if (c->handle) dlclose(c->handle);
    at_resident_free(c->resident);
}
