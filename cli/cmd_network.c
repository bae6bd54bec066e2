/* cli/cmd_network.c: commands whose operand is a network, and show. */
#include "cli/network.h"

#include "view/view.h"

/* ---- show ------------------------------------------------------------------------------------ */

static void add_text(at_text *out, const at_net_kernel *k) {
    at_text_addf(out, "\n# %s.te\n# %s, %d time%s\n%s", k->part->name, k->part->title, k->count,
                 at_plural(k->count), k->part->text);
}

/* Kinds of parts, the one with the most work first. */
static void add_parts(at_text *out, const at_net_program *p, double total) {
    bool *done = AT_NEW_ARRAY(p->arena, bool, p->num_kernels);
    at_text_add(out, "\n   times    MFLOP   share  part\n");
    for (int n = 0; n < p->num_kernels; n++) {
        int most = -1;
        for (int i = 0; i < p->num_kernels; i++)
            if (!done[i] && (most < 0 || at_net_kernel_flops(&p->kernels[i]) >
                                             at_net_kernel_flops(&p->kernels[most])))
                most = i;
        const at_net_kernel *k = &p->kernels[most];
        done[most] = true;
        at_text_addf(out, "%8d %8.1f %5.1f %%  %s\n", k->count, at_net_kernel_flops(k) / 1e6,
                     total > 0 ? 100 * at_net_kernel_flops(k) / total : 0, k->part->title);
    }
}

static void describe(at_text *out, const at_net_program *p, const at_options *o) {
    const at_net *net = p->net;
    double total = 0;
    for (int i = 0; i < p->num_kernels; i++) total += at_net_kernel_flops(&p->kernels[i]);
    at_text_addf(out, "%s: %d nodes, %d parts of %d kinds, %.3g GFLOP\n", net->path, net->nodes.len,
                 p->cut.num_parts, p->num_kernels, total / 1e9);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < (side ? net->outputs.len : net->inputs.len); i++) {
            const at_net_value *v =
                &net->values.data[side ? net->outputs.data[i] : net->inputs.data[i]];
            at_text_add(out, side ? "output " : "input  ");
            at_text_add_visible(out, v->name);
            at_text_add(out, ": ");
            at_net_add_shape(out, v->type, v->rank, v->dims);
            at_text_add(out, "\n");
        }
    at_text_addf(out, "workspace %.2f MB, of which %.2f are needed at once; weights %.2f MB\n",
                 (double)p->workspace_bytes / 1e6, (double)p->least_bytes / 1e6,
                 (double)p->weights_bytes / 1e6);
    add_parts(out, p, total);
    for (int i = 0; i < p->num_kernels && o->code; i++) add_text(out, &p->kernels[i]);
    if (o->code) at_text_add(out, "\n"), at_net_print(out, net, true);
}

static void add_part(at_out *out, const at_net_kernel *k, const at_options *o) {
    at_out_begin(out, NULL, '{');
    at_out_net_part(out, k);
    at_out_double(out, "flops", at_net_kernel_flops(k));
    if (o->code) at_out_string(out, "text", k->part->text);
    at_out_end(out, '}');
}

static void members(at_out *out, const at_net_program *p, const at_options *o) {
    const at_net *net = p->net;
    for (int side = 0; side < 2; side++) {
        at_out_begin(out, side ? "outputs" : "inputs", '[');
        for (int i = 0; i < (side ? net->outputs.len : net->inputs.len); i++) {
            at_out_begin(out, NULL, '{');
            at_out_net_value(out,
                             &net->values.data[side ? net->outputs.data[i] : net->inputs.data[i]]);
            at_out_end(out, '}');
        }
        at_out_end(out, ']');
    }
    at_out_int(out, "nodes", net->nodes.len);
    at_out_int(out, "num_parts", p->cut.num_parts);
    at_out_int(out, "workspace_bytes", p->workspace_bytes);
    at_out_int(out, "least_bytes", p->least_bytes);
    at_out_int(out, "weights_bytes", p->weights_bytes);
    at_out_begin(out, "parts", '[');
    for (int i = 0; i < p->num_kernels; i++) add_part(out, &p->kernels[i], o);
    at_out_end(out, ']');
    if (!o->code) return;
    at_text graph = {0};
    at_net_print(&graph, net, true);
    at_out_string(out, "graph", at_text_str(&graph));
    at_text_free(&graph);
}

static at_status show(const at_options *o, at_error *err) {
    return at_network_look(o, describe, members, err);
}

at_status at_cmd_network(const at_options *o, at_error *err) {
    static at_status (*const commands[AT_VERB_COUNT])(const at_options *o, at_error *err) = {
        [AT_VERB_SHOW] = show,
        [AT_VERB_RUN] = at_network_run,
        [AT_VERB_APPLY] = at_network_apply,
        [AT_VERB_REPORT] = at_network_report};
    if (commands[o->verb]) return commands[o->verb](o, err);
    return at_fail(err, AT_E_USAGE,
                   "%s %s: a network is tuned, shown, run, reported and applied; %s takes kernels",
                   at_verb_at(o->verb)->name, o->operands[0], at_verb_at(o->verb)->name);
}
