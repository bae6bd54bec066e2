/* network/emit_ports.c: inputs and outputs of a network as parameters of a function of C, and how
 * that begins. */
#include <ctype.h>
#include <string.h>

#include "network/net_emit.h"

const at_net_value *at_net_port(const at_net_program *p, bool output, int i) {
    return &p->net->values.data[output ? p->net->outputs.data[i] : p->net->inputs.data[i]];
}

/* As the model has it, where that is a name of C and no other parameter's. */
const char *at_net_port_name(at_arena *a, const at_net_program *p, bool output, int i) {
    const char *name = at_c_name(a, at_net_port(p, output, i)->name);
    static const char *const taken[] = {"weights", "workspace", "known",  "memory",
                                        "tensors", "place",     "element"};
    bool again = at_c_is_reserved(name) || isdigit((unsigned char)*name);
    for (size_t k = 0; k < sizeof taken / sizeof *taken; k++) again |= !strcmp(name, taken[k]);
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < (side ? p->net->outputs.len : p->net->inputs.len); k++)
            if ((side != output || k != i) &&
                !strcmp(name, at_c_name(a, at_net_port(p, side, k)->name)))
                again = true;
    return again ? at_format(a, "%s_%d_%s", output ? "out" : "in", i, name) : name;
}

void at_net_add_parameters(at_text *out, const at_net_program *p, bool types) {
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < (side ? p->net->outputs.len : p->net->inputs.len); i++) {
            if (types)
                at_text_addf(out, "%s%s *", side ? "" : "const ",
                             at_net_c_type(at_net_port(p, side, i)->type));
            at_text_addf(out, "%s, ", at_net_port_name(p->arena, p, side, i));
        }
}

void at_net_add_signature(at_text *out, const at_net_program *p, const at_net_emit_options *o,
                          const char *suffix) {
    at_text_addf(out, "int %s_run%s%s(const void *weights, ", o->name, *suffix ? "_" : "", suffix);
    if (!*suffix && o->sized) at_text_addf(out, "long %s, ", o->sized->parameter);
    at_net_add_parameters(out, p, true);
    at_text_add(out, "void *workspace)");
}

void at_net_add_version(at_text *out) {
    at_text_addf(
        out,
        "    if (*(const char *)weights != 'a' || ((const char *)weights)[8] != %d) return "
        "1;\n",
        AT_NET_WEIGHTS_VERSION);
}
