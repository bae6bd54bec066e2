/* runtime/load.c: loads a kernel that gcc or clang made into a shared object. */
#include "runtime/runtime_int.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A name that no other object has which is loaded now. */
static struct {
    char name[48];
    int fd;
} wanted;

int at_so_answer_open(int call, const char *path) {
    if (call != SYS_openat || !wanted.fd || !path || strcmp(path, wanted.name) != 0) return -1;
    return fcntl(wanted.fd, F_DUPFD_CLOEXEC, 0);
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
    wanted.fd = job->object_fd;
    snprintf(wanted.name, sizeof wanted.name, "/proc/self/fd/%d", wanted.fd);
    /* All names at once: an undefined one is a failed compile and not a crash in the middle of a
     * run. */
    code->handle = dlopen(wanted.name, RTLD_NOW | RTLD_LOCAL);
    wanted.fd = 0;
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
