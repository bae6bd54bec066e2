/* cli/network_apply.c: a network as C: net.c, net.h and net.bin. */
#include <string.h>

#include "cli/interrupt.h"
#include "cli/network.h"
#include "cli/outputs.h"
#include "network/net_emit.h"
#include "network/net_memory.h"
#include "view/view.h"

static bool is_weights(const char *head, size_t len) {
    return len >= 8 && !memcmp(head, "autotune", 8);
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

typedef struct written {
    at_text source, header;
    const char *name;         /* of the functions */
    const char *weights_path; /* NULL: they stand in the source */
} written;

static at_status check_options(const at_options *o, at_error *err) {
    size_t n = o->output ? strlen(o->output) : 0;
    if (n < 3 || strcmp(o->output + n - 2, ".c"))
        return at_fail(err, AT_E_USAGE,
                       "apply %s: give the C file that is to be written: -o net.c; net.h and "
                       "net.bin are written beside it",
                       o->operands[0]);
    if (o->weights && strcmp(o->weights, "source") && strcmp(o->weights, "file"))
        return at_fail(err, AT_E_USAGE, "--weights %s: there are file and source", o->weights);
    const char *fault = o->name ? at_c_name_fault(o->name) : NULL;
    return fault ? at_fail(err, AT_E_USAGE, "--name %s: %s", o->name, fault) : AT_OK;
}

/* External data may lie beside the model under the name of a file of ours. */
static at_status check_written(at_arena *a, const at_net *net, const at_options *o,
                               const written *w, at_error *err) {
    const char *const files[] = {o->output, at_header_path(a, o->output), w->weights_path}, *read;
    for (int k = 0; k < 3 && files[k]; k++)
        for (int i = 0; (read = at_net_file_at(net, i)); i++)
            AT_TRY(at_check_not_read("--output", files[k], read, err));
    return AT_OK;
}

/* net.c, net.h and net.bin: all or none. */
static at_status write_files(at_arena *a, const at_net_program *p, const at_options *o,
                             const written *w, at_error *err) {
    char head[AT_NET_WEIGHTS_HEAD];
    at_output_rules rules = at_rules_of_output(o), own = rules;
    const at_output_rules bin = {"file of weights that apply wrote", is_weights, at_force_of(o),
                                 true, false};
    at_output *files[3] = {0};
    own.is_derived = true;
    at_net_weights_head(p, head);
    at_status s = at_output_open(o->output, &rules, &files[0], err);
    if (s == AT_OK) s = at_output_add(files[0], at_text_str(&w->source), w->source.len, err);
    if (s == AT_OK) s = at_output_open(at_header_path(a, o->output), &own, &files[1], err);
    if (s == AT_OK) s = at_output_add(files[1], at_text_str(&w->header), w->header.len, err);
    if (s == AT_OK && w->weights_path) {
        s = at_output_open(w->weights_path, &bin, &files[2], err);
        if (s == AT_OK) s = at_output_add(files[2], head, sizeof head, err);
        if (s == AT_OK) s = at_output_add(files[2], p->weights, (size_t)p->weights_bytes, err);
    }
    if (s == AT_OK) s = at_output_commit(files, w->weights_path ? 3 : 2, err);
    for (int i = 0; i < 3; i++) at_output_close(files[i]);
    return s;
}

/* What the outputs should be, for --main and --max-error. */
static at_status judge(at_arena *a, at_net_program *p, const at_net_build *b, const at_options *o,
                       at_net_truth *truth, at_error *err) {
    void **inputs = at_net_make_inputs(a, p->net);
    double *errors = AT_NEW_ARRAY(a, double, p->net->outputs.len + 1);
    AT_TRY(at_net_truth_new(p->net, (const void *const *)inputs, &at_interrupted, truth, err));
    if (b->is_exact) AT_TRY(at_network_judge(o, p, b, truth, errors, err));
    return o->with_main && !truth->moved ? at_net_truth_moved(truth, err) : AT_OK;
}

static at_status emit(at_arena *a, at_net_program *p, const at_net_build *b, const at_options *o,
                      at_net_truth *truth, written *w, at_error *err) {
    const char *path = at_strndup(a, o->output, strlen(o->output) - 2);
    w->weights_path =
        o->weights && !strcmp(o->weights, "source") ? NULL : at_format(a, "%s.bin", path);
    w->name = o->name ? o->name : at_c_name(a, base_name(path));
    at_net_emit_options e = {.name = w->name,
                             .header = base_name(at_header_path(a, o->output)),
                             .weights = w->weights_path ? base_name(w->weights_path) : NULL};
    if (o->with_main || b->is_exact) AT_TRY(judge(a, p, b, o, truth, err));
    const at_net_expected expected = {truth->expected, truth->moved, at_network_limit(o)};
    if (o->with_main) e.expected = &expected;
    return at_net_emit(p, b, &e, &w->source, &w->header, err);
}

static at_status say_written(const at_net_program *p, const at_options *o, const written *w,
                             at_error *err) {
    at_text out = {0};
    at_text_add(&out, "written: ");
    at_text_add_visible(&out, o->output);
    at_text_add(&out, " and its header");
    if (w->weights_path) at_text_add(&out, ", "), at_text_add_visible(&out, w->weights_path);
    at_text_addf(&out, "; %d of %d kinds of parts are tuned", p->num_tuned, p->num_tunable);
    if (o->log) at_text_add(&out, ", by "), at_text_add_visible(&out, o->log);
    if (!o->with_main && !(o->engine.max_error > 0))
        at_text_add(&out, "; not compared with the network in double: --main does so");
    at_text_add(&out, "\n");
    at_status s = at_print(&out, err);
    at_text_free(&out);
    return s;
}

static at_status print_json(at_arena *a, const at_net_program *p, const at_options *o,
                            const written *w, at_error *err) {
    at_out json = {0};
    at_out_begin(&json, NULL, '{');
    at_out_string(&json, "network", p->net->path);
    at_out_net_kinds(&json, p);
    at_out_string(&json, "log", o->log);
    at_out_string(&json, "name", w->name);
    at_out_string(&json, "output", o->output);
    at_out_string(&json, "header", at_header_path(a, o->output));
    at_out_string(&json, "weights", w->weights_path);
    at_out_bool(&json, "compared", o->with_main || o->engine.max_error > 0);
    at_out_end(&json, '}');
    return at_out_print(&json, err);
}

static at_status apply(at_arena *a, const at_net *net, const at_options *o, at_error *err) {
    at_net_program p = {0};
    at_net_truth truth = {0};
    written w = {0};
    at_net_build b = at_network_build(o);
    at_status s = at_net_program_new(net, &b, &p, err);
    if (s == AT_OK) s = emit(a, &p, &b, o, &truth, &w, err);
    if (s == AT_OK) s = check_written(a, net, o, &w, err);
    if (s == AT_OK) s = write_files(a, &p, o, &w, err);
    if (s == AT_OK) s = o->json ? print_json(a, &p, o, &w, err) : say_written(&p, o, &w, err);
    at_text_free(&w.source);
    at_text_free(&w.header);
    at_net_truth_free(&truth);
    at_net_program_free(&p);
    return s;
}

at_status at_network_apply(const at_options *o, at_error *err) {
    at_net *net;
    AT_TRY(check_options(o, err));
    AT_TRY(at_network_open(o, &net, err));
    at_arena *a = at_arena_new();
    at_status s = apply(a, net, o, err);
    at_arena_free(a);
    at_net_close(net);
    return s;
}
