/* templates/call.c: a template's own code is called. What the user's file holds is tried in a child
 * process first, so that what crashes there is told as the user's mistake, not died of. */
#include "templates/template_int.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* What code does to itself; AT_BUG's SIGABRT is ours, and comes again where it is seen. */
static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
enum { NUM_CRASHES = sizeof crashes / sizeof *crashes };

typedef void at_call(at_template *t, int lanes);

static void call_define(at_template *t, int lanes) {
    (void)lanes;
    t->row->define(t);
}

static void call_defaults(at_template *t, int lanes) { t->row->defaults(t, lanes); }

/* Quietly: no core file, nothing on stderr, no handlers of a sanitizer. */
static _Noreturn void run_in_child(at_call *f, at_template *t, int lanes) {
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (null >= 0) dup2(null, STDERR_FILENO);
    for (int i = 0; i < NUM_CRASHES; i++) signal(crashes[i], SIG_DFL);
    f(t, lanes);
    _exit(0);
}

static at_status try_call(at_call *f, const char *function, at_template *t, int lanes,
                          at_error *err) {
    const char *file = at_template_file(t->row);
    int status = 0;
    if (!file) return AT_OK;
    pid_t child = fork();
    if (child < 0) return at_fail(err, AT_E_BUG, "cannot start a process: %s", strerror(errno));
    if (child == 0) run_in_child(f, t, lanes);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    for (int i = 0; i < NUM_CRASHES; i++)
        if (WIFSIGNALED(status) && WTERMSIG(status) == crashes[i])
            return at_fail(err, AT_E_INPUT, "%s: its %s() crashed with %s: %s", file, function,
                           at_args_text(t), at_signal_name(crashes[i]));
    return AT_OK;
}

static at_status call(at_call *f, const char *function, at_template *t, int lanes, at_error *err) {
    AT_TRY(try_call(f, function, t, lanes, err));
    f(t, lanes);
    return t->err.status == AT_OK ? AT_OK : at_fail_lines(err, t->err.status, "%s", t->err.text);
}

at_status at_call_define(at_template *t, at_error *err) {
    return call(call_define, "define", t, 0, err);
}

at_status at_call_defaults(at_template *t, int lanes, at_error *err) {
    if (!t->row->defaults) return AT_OK;
    return call(call_defaults, "defaults", t, lanes, err);
}
