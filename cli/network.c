/* cli/network.c: see network.h. */
#include "cli/network.h"

#include "cli/network_arrays.h"

bool at_is_network(const at_options *o) {
    return o->num_operands == 1 && at_net_is_model(o->operands[0]);
}

at_status at_check_no_network(const at_options *o, at_error *err) {
    if (at_given(o, "--trials") && !o->engine.trials)
        return at_fail(err, AT_E_USAGE,
                       "--trials 0: a search takes 1 or more; 0 is of a network, FILE.onnx, whose "
                       "parts take what estimates put first");
    const char *given = o->dims                                               ? "--dim"
                        : o->sets                                             ? "--set"
                        : o->until                                            ? "--until"
                        : o->net_inputs.num                                   ? "--input"
                        : o->weights                                          ? "--weights"
                        : o->verb == AT_VERB_RUN && o->output                 ? "--output"
                        : o->verb == AT_VERB_REPORT && o->log                 ? "--log"
                        : o->verb == AT_VERB_APPLY && o->engine.max_error > 0 ? "--max-error"
                                                                              : NULL;
    if (!given) return AT_OK;
    return at_fail(err, AT_E_USAGE, "%s goes with a network, FILE.onnx%s%s", given,
                   o->num_operands ? "; it is none: " : "", o->num_operands ? o->operands[0] : "");
}

static at_status fail_of_run(const at_options *o, const char *option, const char *value,
                             at_error *err) {
    at_text command = {0};
    at_network_add_words(&command, o);
    at_fail(err, AT_E_USAGE, "%s: of a network it goes with run: autotune run%s %s%s", option,
            at_text_str(&command), option, value);
    at_text_free(&command);
    return AT_E_USAGE;
}

at_status at_check_network(const at_options *o, at_error *err) {
    static const char *const of_kernels[] = {
        "--args",     "--fuse", "--sparsity",   "--block",    "--weight",  "--array",   "--config",
        "--index",    "--line", "--from-steps", "--sketch",   "--dump",    "--history", "--keep",
        "--fallback", "--abi",  "--range",      "--workload", "--per-task"};
    for (size_t i = 0; i < sizeof of_kernels / sizeof *of_kernels; i++)
        if (at_given(o, of_kernels[i]))
            return at_fail(err, AT_E_USAGE, "%s is not for networks: %s is one", of_kernels[i],
                           o->operands[0]);
    if (o->verb == AT_VERB_RUN) return AT_OK;
    if (o->verb == AT_VERB_SHOW && o->output)
        return at_fail(err, AT_E_USAGE,
                       "--output: show writes a configuration as a template, and %s is a network; "
                       "apply writes it as C",
                       o->operands[0]);
    if (o->why) return fail_of_run(o, "--why", "", err);
    if (o->request.num_expects) return fail_of_run(o, "--expect", " NAME=FILE.npy", err);
    return AT_OK;
}

at_net_options at_network_options(const at_options *o) {
    return (at_net_options){.dims = o->dims, .sets = o->sets, .until = o->until};
}

at_status at_network_open(const at_options *o, at_net **out, at_error *err) {
    const at_net_options n = at_network_options(o);
    return at_net_open(o->operands[0], &n, out, err);
}

void at_network_add_words(at_text *out, const at_options *o) {
    at_text_add_word(out, o->operands[0]);
    if (o->dims) at_text_add(out, " --dim"), at_text_add_word(out, o->dims);
    if (o->sets) at_text_add(out, " --set"), at_text_add_word(out, o->sets);
    if (o->until) at_text_add(out, " --until"), at_text_add_word(out, o->until);
    if (at_given(o, "--threads"))
        at_text_addf(out, " --threads %lld", (long long)o->engine.threads);
    if (o->engine.isa) at_text_addf(out, " --isa %s", o->engine.isa);
}

at_net_build at_network_build(const at_options *o) {
    at_net_build b = {.engine = o->engine, .log = o->log, .is_exact = o->engine.max_error > 0};
    b.engine.max_error = 0; /* which is about the outputs of the whole network */
    return b;
}

void at_network_check_own(const at_options *o, const at_net_program *programs, int n) {
    bool any = !o->log;
    for (int i = 0; i < n; i++) any |= programs[i].num_tuned > 0 || !programs[i].num_tunable;
    if (any) return;
    at_arena *a = at_arena_new();
    at_engine_warn(&o->engine,
                   at_format(a,
                             "%s: holds no part of %s: it is of another network, or of other sizes "
                             "or instructions; estimates choose",
                             o->log, o->operands[0]));
    at_arena_free(a);
}

at_status at_network_look(const at_options *o, at_network_describe *describe,
                          at_network_members *members, at_error *err) {
    at_net *net;
    at_net_program p = {0};
    at_net_build b = at_network_build(o);
    b.without_weights = true;
    AT_TRY(at_network_open(o, &net, err));
    at_status s = at_net_program_new(net, &b, &p, err);
    if (s == AT_OK && o->json) {
        at_out json = at_out_object();
        at_out_string(&json, "network", net->path);
        members(&json, &p, o);
        s = at_out_print(&json, err);
    } else if (s == AT_OK) {
        at_text text = {0};
        describe(&text, &p, o);
        s = at_print(&text, err);
    }
    at_net_program_free(&p);
    at_net_close(net);
    return s;
}
