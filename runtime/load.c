/* runtime/load.c: loads a kernel that gcc or clang made into a shared object. */
#include "runtime/inside.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

/* A name that no object has or had: one that is loaded twice has both its names. The number stands
 * in steps that lead nowhere. */
static void name_object(int fd, char *name, size_t size) {
    static unsigned objects;
    char steps[2 * 8 * sizeof objects + 1], *end = steps;
    for (unsigned n = ++objects; n; n >>= 1) end = stpcpy(end, n & 1 ? "/." : "/");
    snprintf(name, size, "/proc/self%s/fd/%d", steps, fd);
}

static const char *why(void) {
    const char *text = dlerror();
    return text ? text : "no reason given";
}

at_job_end at_so_load(const at_job *job, at_code *code, char *error, size_t error_size) {
    *code = (at_code){.object_fd = job->object_fd};
    if (!job->object_fd) {
        snprintf(error, error_size, "cannot load the object: there is no file");
        return AT_JOB_NOT_COMPILED;
    }
    char name[128];
    name_object(job->object_fd, name, sizeof name);
    at_crash_answer_open(job->object_fd);
    /* All names at once: an undefined one is a failed compile and not a crash in the middle of a
     * run. */
    code->handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    at_crash_answer_open(0);
    if (!code->handle) {
        snprintf(error, error_size, "cannot load the object: %s", why());
        at_so_unload(code);
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
    if (code->object_fd) close(code->object_fd);
    *code = (at_code){0};
}
