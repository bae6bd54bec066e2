/* runtime/load.c: loads a kernel that gcc or clang made into a shared object. */
#include "runtime/runtime_int.h"

#include <dlfcn.h>

static const char *why(void) {
    const char *text = dlerror();
    return text ? text : "no reason given";
}

at_job_end at_so_load(const at_job *job, at_code *code, char *error, size_t error_size) {
    *code = (at_code){0};
    /* All names at once: an undefined one is a failed compile and not a crash in the middle of a
     * run. */
    code->handle = dlopen(job->object, RTLD_NOW | RTLD_LOCAL);
    if (!code->handle) {
        snprintf(error, error_size, "cannot load the object: %s", why());
        return AT_JOB_NOT_COMPILED;
    }
    const char *missing = NULL;
    code->entry = (at_kernel_fn *)dlsym(code->handle, job->entry);
    if (!code->entry) missing = job->entry;
    if (job->pack) {
        code->pack = (at_kernel_fn *)dlsym(code->handle, job->pack);
        if (!code->pack && !missing) missing = job->pack;
    }
    if (!missing) return AT_JOB_RAN;
    at_so_unload(code);
    snprintf(error, error_size, "the code defines no function '%s'", missing);
    return AT_JOB_NOT_COMPILED;
}

void at_so_unload(at_code *code) {
    if (code->handle) dlclose(code->handle);
    *code = (at_code){0};
}
