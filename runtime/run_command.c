/* runtime/run_command.c: a command of the user's, run to its end; see run_command.h. */
#include "runtime/run_command.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/runtime_int.h"

enum { MOST_TRIES = 2 };

/* The last line that is not empty: programs end with what went wrong. */
static void add_last_line(at_text *out, const char *text) {
    const char *last = "";
    size_t length = 0;
    for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        size_t n = strcspn(p, "\n");
        if (strspn(p, " \t\r") < n) last = p, length = n;
    }
    if (!length) return;
    at_text_add(out, ": ");
    at_text_addn(out, last, length < 200 ? length : 200);
}

/* The texts do not name the command: they stand in a log. */
static void judge(at_arena *a, double timeout_s, const at_compiled *c, at_command_end *out) {
    at_text why = {0};
    if (c->io == AT_IO_TIMEOUT) {
        out->end = AT_JOB_TIMEOUT;
        at_text_addf(&why, "the command exceeded %g s", timeout_s);
    } else if (WIFSIGNALED(c->status)) {
        out->end = AT_JOB_CRASHED;
        at_text_addf(&why, "the command was ended by signal %d (%s)", WTERMSIG(c->status),
                     strsignal(WTERMSIG(c->status)));
    } else if (WEXITSTATUS(c->status)) {
        out->end = AT_JOB_CRASHED;
        at_text_addf(&why, "the command ended with exit code %d", WEXITSTATUS(c->status));
    }
    if (why.len && c->io != AT_IO_TIMEOUT) add_last_line(&why, at_text_str(&c->text));
    out->error = why.len ? at_strdup(a, at_text_str(&why)) : "";
    out->said = at_strdup(a, at_text_str(&c->text));
    at_text_free(&why);
}

at_status at_command_run(at_arena *a, const char *const *words, int num_words, double timeout_s,
                         const volatile int *stop, at_command_end *out, at_error *err) {
    char **argv = AT_NEW_ARRAY(a, char *, num_words + 1);
    const char *name = at_base_name(words[0]);
    at_compiled done = {.io = AT_IO_CLOSED};
    for (int i = 0; i < num_words; i++) argv[i] = at_strdup(a, words[i]);
    *out = (at_command_end){.error = "", .said = ""};
    for (int i = 0; i < MOST_TRIES && done.io == AT_IO_CLOSED; i++) {
        const at_compilation c = {
            .argv = argv, .env = environ, .timeout_s = timeout_s, .stop = stop};
        at_status s = at_compiler_run(&c, &done, err);
        if (s == AT_OK && (done.io == AT_IO_OK || done.io == AT_IO_TIMEOUT))
            judge(a, timeout_s, &done, out);
        at_text_free(&done.text);
        AT_TRY(s);
    }
    if (done.io == AT_IO_STOPPED) return at_fail_stopped(err);
    if (done.io == AT_IO_CLOSED)
        return at_fail(err, AT_E_BUG, "%s: the process that started it was killed", name);
    return AT_OK;
}
