/* cli/network_run.c: a network, run here: its outputs, how far they are from those in double, and
 * how long it takes. */
#include "cli/network.h"

#include <math.h>
#include <string.h>

#include "cli/interrupt.h"
#include "cli/network_arrays.h"
#include "cli/network_why.h"
#include "view/view.h"

enum { RUNS = 5, SHOWN = 8 };

typedef struct net_run {
    at_arena *arena;
    const at_options *o;
    at_net_arrays arrays;
    at_net *net;
    at_net_program program;
    at_net_truth truth;
    at_net_distance *errors; /* [outputs] over the root mean square */
    at_net_distance *others; /* [outputs] the same of the arrays of --expect; NAN: there is none */
    double least_s;          /* of at_net_seconds */
    double *steps_s;         /* of each step; NULL: they are not timed */
    at_text out;
    at_error *err;
} net_run;

static const at_net_value *output(const net_run *r, int i) {
    return &r->net->values.data[r->net->outputs.data[i]];
}

static at_status time_kernels(net_run *r) {
    const at_net_program *p = &r->program;
    r->least_s = INFINITY;
    for (int i = 0; i < RUNS && !at_interrupted; i++) {
        double begin = at_net_seconds(p);
        AT_TRY(
            at_net_program_run(p, r->arrays.inputs, r->truth.outputs, r->truth.workspace, r->err));
        double took = at_net_seconds(p) - begin;
        if (took < r->least_s) r->least_s = took;
    }
    return AT_OK;
}

static at_status time_steps(net_run *r) {
    const at_net_program *p = &r->program;
    r->steps_s = AT_NEW_ARRAY(r->arena, double, p->steps.len + 1);
    for (int i = 0; i < p->steps.len; i++) r->steps_s[i] = INFINITY;
    for (int i = 0; i < RUNS && !at_interrupted; i++)
        AT_TRY(at_net_program_time(p, r->arrays.inputs, r->truth.outputs, r->truth.workspace,
                                   r->steps_s, r->err));
    return AT_OK;
}

static void describe(net_run *r) {
    for (int i = 0; i < r->net->outputs.len; i++) {
        const at_net_value *v = output(r, i);
        at_text_add_visible(&r->out, v->name);
        at_text_add(&r->out, " ");
        at_net_add_shape(&r->out, v->type, v->rank, v->dims);
        for (int64_t k = 0; k < v->elements && k < SHOWN; k++)
            at_text_addf(&r->out, "%s%.7g", k ? ", " : ": ",
                         at_net_element(v->type, r->truth.outputs[i], k));
        at_text_addf(&r->out, "%s\n    ", v->elements > SHOWN ? ", .." : "");
        at_network_add_error(&r->out, &r->truth, i, r->errors[i], at_network_limit(r->o));
        at_text_add(&r->out, "\n");
        if (isnan(r->others[i].most)) continue;
        at_text_add(&r->out, "    the array of --expect: ");
        at_network_add_error(&r->out, &r->truth, i, r->others[i], at_network_limit(r->o));
        at_text_add(&r->out, "\n");
    }
    at_text_addf(&r->out, "%.3f ms", r->least_s * 1e3);
    if (r->program.threads > 1) at_text_addf(&r->out, " on %d threads", r->program.threads);
    else at_text_add(&r->out, " of processor time");
    at_text_addf(&r->out, ", the least of %d runs; ", RUNS);
    if (r->o->log)
        at_text_addf(&r->out, "%d of %d kinds of parts are in the log\n", r->program.num_tuned,
                     r->program.num_tunable);
    else at_text_add(&r->out, "nothing is tuned: no --log\n");
    if (r->steps_s) at_network_add_why(&r->out, &r->program, r->steps_s);
}

static void add_output(net_run *r, at_out *json, int i) {
    const at_net_value *v = output(r, i);
    at_out_begin(json, NULL, '{');
    at_out_net_value(json, v);
    at_out_begin(json, "first", '[');
    for (int64_t k = 0; k < v->elements && k < SHOWN; k++)
        at_out_double(json, NULL, at_net_element(v->type, r->truth.outputs[i], k));
    at_out_end(json, ']');
    at_out_net_error(json, &r->truth, i, r->errors[i], at_network_limit(r->o));
    at_out_net_others(json, &r->truth, i, r->others[i], at_network_limit(r->o));
    at_out_end(json, '}');
}

static at_status print_json(net_run *r, at_error *err) {
    at_out json = at_out_object();
    at_out_string(&json, "network", r->net->path);
    at_out_net_kinds(&json, &r->program);
    at_out_begin(&json, "outputs", '[');
    for (int i = 0; i < r->net->outputs.len; i++) add_output(r, &json, i);
    at_out_end(&json, ']');
    at_out_double(&json, "time_ns", r->least_s * 1e9);
    at_out_int(&json, "runs", RUNS);
    if (r->steps_s) at_out_net_why(&json, &r->program, r->steps_s);
    return at_out_print(&json, err);
}

static at_status print(net_run *r, at_error *err) {
    if (r->o->json) return print_json(r, err);
    describe(r);
    return at_print(&r->out, err);
}

/* Another program's outputs beside those in double. */
static void compare_others(net_run *r) {
    const int n = r->net->outputs.len;
    r->others = AT_NEW_ARRAY(r->arena, at_net_distance, n + 1);
    for (int i = 0; i < n; i++) {
        const at_net_distance far = at_net_arrays_distance(&r->arrays, i, r->truth.expected[i]);
        r->others[i] = at_net_over_rms(&r->truth, i, far);
    }
}

static at_status keep_outputs(net_run *r, at_error *err) {
    return at_net_arrays_write(&r->arrays, (const void *const *)r->truth.outputs, err);
}

static at_status run(net_run *r) {
    at_net_build b = at_network_build(r->o);
    b.with_bounds = r->o->why;
    if (r->o->output && !strchr(r->o->output, '='))
        return at_fail(
            r->err, AT_E_USAGE,
            "--output %s: of a network NAME=FILE is expected, an output and its file.npy",
            r->o->output);
    AT_TRY(at_net_arrays_open(r->arena, r->o, &r->arrays, &r->net, r->err));
    AT_TRY(at_net_program_new(r->net, &b, &r->program, r->err));
    at_network_check_own(r->o, &r->program, 1);
    AT_TRY(at_net_truth_new(r->net, r->arrays.inputs, &at_interrupted, &r->truth, r->err));
    compare_others(r);
    r->errors = AT_NEW_ARRAY(r->arena, at_net_distance, r->net->outputs.len + 1);
    const at_status judged = at_network_judge(r->o, &r->program, &b, &r->truth, r->errors, r->err);
    if (judged != AT_OK && judged != AT_E_NO_VALID) return judged;
    at_error late;
    const at_status others =
        at_network_judge_others(r->o, &r->truth, r->others, judged == AT_OK ? r->err : &late);
    if (others != AT_OK && others != AT_E_NO_VALID) return others;
    AT_TRY(time_kernels(r));
    if (r->o->why) AT_TRY(time_steps(r));
    const bool fine = judged == AT_OK && others == AT_OK;
    const at_status printed = print(r, fine ? r->err : &late);
    if (judged != AT_OK) return judged;
    const at_status kept = printed == AT_OK ? keep_outputs(r, fine ? r->err : &late) : printed;
    return fine ? kept : others;
}

at_status at_network_run(const at_options *o, at_error *err) {
    net_run r = {.arena = at_arena_new(), .o = o, .err = err};
    at_catch_interrupts();
    at_status s = run(&r);
    at_net_truth_free(&r.truth);
    at_net_program_free(&r.program);
    at_net_close(r.net);
    at_text_free(&r.out);
    at_arena_free(r.arena);
    return s;
}
