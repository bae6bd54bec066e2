/* templates/call.c: a template's own code is called. What the user's file holds is tried in a child
 * process first, so that what crashes or loops there is reported as the user's mistake. */
#include "templates/template_int.h"

typedef void at_call(at_template *t, int lanes);

/* A limit meant for kernels of a millisecond is none for compiling and calling a function. */
static const double least_s = 0.3;

static _Thread_local double limit_s = 10;

void at_template_limit(double timeout_s) { limit_s = timeout_s < least_s ? least_s : timeout_s; }

at_attempt_end at_template_attempt(void (*f)(void *ctx), void *ctx, bool confined,
                                   int *signal_number) {
    return at_attempt(f, ctx, confined, limit_s, at_halt_now().stop, signal_number);
}

at_status at_template_attempt_fail(at_attempt_end end, int signal_number, at_error *err) {
    return at_attempt_fail(end, signal_number, limit_s, err);
}

static void call_define(at_template *t, int lanes) {
    (void)lanes;
    t->row->define(t);
}

static void call_defaults(at_template *t, int lanes) {
    t->in_defaults = true;
    t->row->defaults(t, lanes);
    t->in_defaults = false;
}

typedef struct attempt {
    at_call *f;
    at_template *t;
    int lanes;
} attempt;

static void run_attempt(void *ctx) {
    const attempt *a = ctx;
    a->f(a->t, a->lanes);
}

static at_status try_call(at_call *f, const char *function, at_template *t, int lanes,
                          at_error *err) {
    const char *file = at_template_code_file(t->row);
    attempt a = {f, t, lanes};
    int signal_number;
    if (!file) return AT_OK;
    at_attempt_end end = at_template_attempt(run_attempt, &a, true, &signal_number);
    if (end == AT_ATTEMPT_CRASHED)
        return at_fail(err, AT_E_INPUT, "%s: its %s() crashed with %s: %s", file, function,
                       at_args_text(t), at_signal_name(signal_number));
    at_error why;
    at_status s = at_template_attempt_fail(end, signal_number, &why);
    if (s != AT_E_INPUT) return s == AT_OK ? s : at_fail(err, s, "%s", why.text);
    return at_fail(err, s, "%s: its %s() with %s %s", file, function, at_args_text(t), why.text);
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
