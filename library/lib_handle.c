/* library/lib_handle.c: the handle: errors, messages, the state of the caller's thread, the
 * worker's path; and what templates there are. */
#include "library/library.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *at_lib_version(void) { return AT_VERSION; }

/* ---- the caller's thread -------------------------------------------------------------------- */

/* The same for all handles, and constant. */
static locale_t plain_locale;

static void set_up(void) {
    plain_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    AT_NEED(plain_locale);
}

static void take_over(void) {
    uselocale(plain_locale);
    fesetenv(FE_DFL_ENV);
}

void at_lib_enter(at_lib *lib, at_lib_state *s) {
    fegetenv(&s->floating);
    s->locale = uselocale((locale_t)0);
    lib->caller = s;
    take_over();
}

void at_lib_leave(at_lib *lib, const at_lib_state *s) {
    lib->caller = NULL;
    at_template_limit(10);
    at_halt_when(&(at_halt){0}); /* the task that it was of may go */
    uselocale(s->locale);
    fesetenv(&s->floating);
}

void at_lib_out(const at_lib *lib) {
    if (!lib->caller) return;
    uselocale(lib->caller->locale);
    fesetenv(&lib->caller->floating);
}

void at_lib_in(const at_lib *lib) {
    if (lib->caller) take_over();
}

/* ---- the handle ------------------------------------------------------------------------------ */

at_lib *at_lib_new(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_up);
    at_lib *lib = calloc(1, sizeof *lib);
    AT_NEED(lib);
    return lib;
}

void at_lib_free(at_lib *lib) {
    if (lib) free(lib->worker);
    free(lib);
}

const char *at_lib_error(const at_lib *lib) { return lib ? lib->error.text : "no handle"; }

int at_lib_error_code(const at_lib *lib) {
    return lib ? at_exit_code(lib->error.status) : AT_LIB_USAGE;
}

int at_lib_code_of(at_lib *lib, at_status s, const at_error *err) {
    if (s == AT_OK) return AT_LIB_OK;
    lib->error = *err;
    lib->error.status = s;
    return at_exit_code(s);
}

int at_lib_misuse(at_lib *lib, const char *fmt, ...) {
    if (!lib) return AT_LIB_USAGE;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(lib->error.text, sizeof lib->error.text, fmt, ap);
    va_end(ap);
    lib->error.status = AT_E_USAGE;
    return AT_LIB_USAGE;
}

void at_lib_on_message(at_lib *lib, void (*message)(void *ctx, const char *text), void *ctx) {
    if (!lib) return;
    lib->message = message;
    lib->ctx = ctx;
}

void at_lib_tell(void *ctx, const char *text) {
    at_lib *lib = ctx;
    if (!lib->message) return;
    at_lib_out(lib);
    lib->message(lib->ctx, text);
    at_lib_in(lib);
}

/* ---- the worker ------------------------------------------------------------------------------ */

int at_lib_set_worker(at_lib *lib, const char *path) {
    if (!lib) return AT_LIB_USAGE;
    struct stat st;
    if (path && (*path != '/' || access(path, X_OK) || stat(path, &st) || !S_ISREG(st.st_mode)))
        return at_lib_misuse(lib, "worker \"%s\": an absolute path of a program is accepted", path);
    free(lib->worker);
    lib->worker = path ? strdup(path) : NULL;
    if (path) AT_NEED(lib->worker);
    return AT_LIB_OK;
}

at_status at_lib_worker(const at_lib *lib, const char **out, at_error *err) {
    const char *named = lib->worker ? NULL : secure_getenv("AUTOTUNE_WORKER");
    *out = lib->worker ? lib->worker : named && *named ? named : AT_LIB_WORKER;
    const char *by = named && *named ? "AUTOTUNE_WORKER=" : "";
    if (**out != '/')
        return at_fail(err, AT_E_USAGE, "no worker: %s%s is no absolute path", by, *out);
    if (!access(*out, X_OK)) return AT_OK;
    return at_fail(err, AT_E_USAGE,
                   "no worker: %s%s: %s; at_lib_set_worker or AUTOTUNE_WORKER name it where it is "
                   "elsewhere, and Debian's package autotune has it",
                   by, *out, strerror(errno));
}

/* ---- templates ------------------------------------------------------------------------------- */

int at_lib_template_count(void) { return at_template_count(); }

int at_lib_template_at(int i, at_lib_template *out) {
    if (i < 0 || i >= at_template_count() || !out) return 0;
    const at_template_row *row = at_template_at(i);
    *out = (at_lib_template){.name = row->name,
                             .record_name = row->record_name ? row->record_name : row->name,
                             .args = row->args,
                             .help = row->help ? row->help : ""};
    return 1;
}
