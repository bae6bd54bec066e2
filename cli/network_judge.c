/* cli/network_judge.c: a network's outputs against those in double: told, recorded, and held to
 * --max-error. */
#include <math.h>

#include "cli/interrupt.h"
#include "cli/network.h"
#include "network/net_emit.h"
#include "records/records.h"
#include "templates/task.h"
#include "view/view.h"

/* Smaller errors are those of arithmetic: nothing is asked of them. */
static const double unsuspicious = 1e-5;

double at_network_limit(const at_options *o) {
    return o->engine.max_error > 0 ? o->engine.max_error : AT_NET_MAX_ERROR;
}

static at_net_distance moved_of(const at_net_truth *t, int output) {
    return t->moved ? t->moved[output] : (at_net_distance){0};
}

void at_network_add_error(at_text *out, const at_net_truth *t, int output, at_net_distance error,
                          double limit) {
    const at_net_distance moved = moved_of(t, output);
    at_text_addf(out, "largest error over the root mean square: %.2g", error.most);
    if (t->moved)
        at_text_addf(out, "; one more rounding of every number moves it by %.2g", moved.most);
    switch (at_net_verdict_of(error, moved, limit)) {
    case AT_NET_ILL_CONDITIONED: at_text_add(out, ": ill-conditioned"); break;
    case AT_NET_WRONG: at_text_addf(out, ": WRONG, the limit is %.2g", limit); break;
    default: break;
    }
}

static const char *verdict(const at_net_truth *t, int output, at_net_distance error, double limit) {
    static const char *const verdicts[] = {[AT_NET_RIGHT] = "right",
                                           [AT_NET_ILL_CONDITIONED] = "ill-conditioned",
                                           [AT_NET_WRONG] = "wrong"};
    return verdicts[at_net_verdict_of(error, moved_of(t, output), limit)];
}

void at_out_net_others(at_out *out, const at_net_truth *t, int output, at_net_distance error,
                       double limit) {
    at_out_double(out, "expected_error", error.most);
    at_out_string(out, "expected_verdict",
                  isnan(error.most) ? NULL : verdict(t, output, error, limit));
}

void at_out_net_error(at_out *out, const at_net_truth *t, int output, at_net_distance error,
                      double limit) {
    at_out_double(out, "error", error.most);
    at_out_double(out, "moved", t->moved ? moved_of(t, output).most : NAN);
    at_out_string(out, "verdict", verdict(t, output, error, limit));
}

static at_status ask_moved(at_net_truth *t, const at_net_distance *errors, double limit,
                           at_error *err) {
    bool ask = false;
    for (int i = 0; i < t->net->outputs.len; i++)
        ask |= errors[i].most > unsuspicious || errors[i].most > limit;
    return ask && !t->moved ? at_net_truth_moved(t, err) : AT_OK;
}

static at_status fail_of_infinite(const at_net_truth *t, int output, const char *whose,
                                  at_error *err) {
    const at_net_value *v = &t->net->values.data[t->net->outputs.data[output]];
    return at_fail(err, AT_E_NO_VALID,
                   "%s: output \"%s\"%s is not infinite, or no number, at the same places as the "
                   "network in double%s",
                   t->net->path, v->name, whose,
                   v->type == AT_NET_FLOAT16 ? "; float16 ends at 65504" : "");
}

/* whose: what the errors are of, ahead of "is .. away"; tried: what was in vain. */
static at_status refuse_wrong(const at_options *o, at_net_truth *t, const at_net_distance *errors,
                              const char *whose, const char *tried, at_error *err) {
    const double limit = at_network_limit(o);
    AT_TRY(ask_moved(t, errors, limit, err));
    for (int i = 0; i < t->net->outputs.len; i++) {
        if (isnan(errors[i].most) ||
            at_net_verdict_of(errors[i], moved_of(t, i), limit) != AT_NET_WRONG)
            continue;
        if (isinf(errors[i].most)) return fail_of_infinite(t, i, whose, err);
        return at_fail(
            err, AT_E_NO_VALID,
            "%s: output \"%s\"%s is %.2g of its root mean square away from the network in "
            "double; %s%.2g is accepted",
            t->net->path, t->net->values.data[t->net->outputs.data[i]].name, whose, errors[i].most,
            tried, limit);
    }
    return AT_OK;
}

at_status at_network_judge_others(const at_options *o, at_net_truth *t,
                                  const at_net_distance *errors, at_error *err) {
    return refuse_wrong(o, t, errors, ", the array of --expect,", "", err);
}

at_status at_network_judge(const at_options *o, at_net_program *p, const at_net_build *b,
                           at_net_truth *t, at_net_distance *errors, at_error *err) {
    const double limit = at_network_limit(o);
    int replaced = 0;
    if (b->is_exact) AT_TRY(at_net_make_exact(p, b, t, limit, errors, &replaced, err));
    else AT_TRY(at_net_truth_compare(t, p, errors, NULL, err));
    if (replaced) {
        at_text said = {0};
        at_text_addf(&said, "autotune: --max-error: %d kind%s of parts %s computed in other ways\n",
                     replaced, at_plural(replaced), replaced == 1 ? "is" : "are");
        at_say(&said);
    }
    return refuse_wrong(o, t, errors, "", b->is_exact ? "no other way of a part helps, and " : "",
                        err);
}

/* ---- behind a search ------------------------------------------------------------------------- */

/* null: no number, or an infinite one, which JSON lacks. */
static void add_number(at_text *out, const char *key, double x) {
    if (isfinite(x)) at_text_addf(out, ", \"%s\": %.3g", key, x);
    else at_text_addf(out, ", \"%s\": null", key);
}

static at_status record(const at_net_truth *t, const at_net_distance *errors, const char *log,
                        at_error *err) {
    at_text line = {0};
    at_log *l;
    at_text_add(&line, "network {\"outputs\": [");
    for (int i = 0; i < t->net->outputs.len; i++) {
        at_text_add(&line, i ? ", {\"name\": " : "{\"name\": ");
        at_text_add_json_string(&line, t->net->values.data[t->net->outputs.data[i]].name);
        add_number(&line, "error", errors[i].most);
        if (t->moved) add_number(&line, "moved", t->moved[i].most);
        at_text_add(&line, "}");
    }
    at_text_add(&line, "]}");
    at_status s = at_log_open(log, &l, err);
    if (s == AT_OK) {
        at_error late;
        s = at_log_comment(l, at_text_str(&line), err);
        const at_status closed = at_log_close(l, s == AT_OK ? err : &late);
        if (s == AT_OK) s = closed;
    }
    at_text_free(&line);
    return s;
}

static at_status tell(const at_options *o, const at_net_truth *t, const at_net_distance *errors,
                      at_error *err) {
    at_text out = {0};
    for (int i = 0; i < t->net->outputs.len; i++) {
        at_text_add(&out, "output ");
        at_text_add_visible(&out, t->net->values.data[t->net->outputs.data[i]].name);
        at_text_add(&out, ": ");
        at_network_add_error(&out, t, i, errors[i], at_network_limit(o));
        at_text_add(&out, "\n");
    }
    return at_print(&out, err);
}

static void add_json(const at_options *o, const at_net_truth *t, const at_net_distance *errors,
                     at_out *json) {
    at_out_begin(json, "outputs", '[');
    for (int i = 0; i < t->net->outputs.len; i++) {
        at_out_begin(json, NULL, '{');
        at_out_net_value(json, &t->net->values.data[t->net->outputs.data[i]]);
        at_out_net_error(json, t, i, errors[i], at_network_limit(o));
        at_out_end(json, '}');
    }
    at_out_end(json, ']');
}

/* The best of each part inside the network, in a share of the search's time. */
static at_status try_inside(const at_options *o, at_net_program *p, const at_net_build *b,
                            at_net_truth *t, at_error *err) {
    static const double share = 0.1, without_limit_s = 5;
    const double most_s = o->engine.time_s > 0 ? share * o->engine.time_s : without_limit_s;
    int changed;
    AT_TRY(at_net_contest(p, b, t, most_s, &changed, err));
    if (!changed || o->json) return AT_OK;
    at_text out = {0};
    at_text_addf(&out, "inside the network %d kind%s of parts %s faster in another way\n", changed,
                 at_plural(changed), changed == 1 ? "is" : "are");
    return at_print(&out, err);
}

static at_status check(const at_options *o, at_arena *a, const at_net *net, const char *log,
                       at_net_program *p, at_net_truth *t, at_out *json, at_error *err) {
    at_net_build b = at_network_build(o);
    void **inputs = at_net_make_inputs(a, net);
    at_net_distance *errors = AT_NEW_ARRAY(a, at_net_distance, net->outputs.len + 1);
    b.log = log;
    /* The search has ended, in whose time its parts were made. */
    at_halt_when(&(at_halt){.stop = &at_interrupted});
    AT_TRY(at_net_program_new(net, &b, p, err));
    AT_TRY(at_net_truth_new(net, (const void *const *)inputs, &at_interrupted, t, err));
    AT_TRY(try_inside(o, p, &b, t, err));
    at_error late;
    const at_status judged = at_network_judge(o, p, &b, t, errors, err);
    if (judged != AT_OK && judged != AT_E_NO_VALID) return judged;
    at_status s = AT_OK;
    if (o->json) add_json(o, t, errors, json);
    else s = tell(o, t, errors, judged == AT_OK ? err : &late);
    if (s == AT_OK) s = record(t, errors, log, judged == AT_OK ? err : &late);
    return judged == AT_OK ? s : judged;
}

at_status at_network_check_log(const at_options *o, const at_net *net, const char *log,
                               at_out *json, at_error *err) {
    at_arena *a = at_arena_new();
    at_net_program p = {0};
    at_net_truth t = {0};
    const at_status s = check(o, a, net, log, &p, &t, json, err);
    at_net_truth_free(&t);
    at_net_program_free(&p);
    at_arena_free(a);
    return s;
}
