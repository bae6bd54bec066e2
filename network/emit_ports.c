/* network/emit_ports.c: inputs and outputs of a network as parameters of a function of C, and how
 * that begins. */
#include <ctype.h>
#include <string.h>

#include "network/net_emit.h"
#include "network/net_memory.h"

int at_net_num_ports(const at_net_program *p, bool output) {
    return output ? p->net->outputs.len : p->net->inputs.len;
}

const at_net_value *at_net_port(const at_net_program *p, bool output, int i) {
    return &p->net->values.data[output ? p->net->outputs.data[i] : p->net->inputs.data[i]];
}

static bool begins(const char *name, const char *with) {
    return !strncmp(name, with, strlen(with));
}

/* As the model has it, where that is a name of C and no other parameter's. */
const char *at_net_port_name(at_arena *a, const at_net_program *p, bool output, int i) {
    const char *name = at_c_name(a, at_net_port(p, output, i)->name);
    static const char *const taken[] = {
        "weights",          "workspace",         "known",
        "memory",           "tensors",           "place",
        "element",          "whole_of",          "float16_of_float",
        "float_of_float16", "bfloat16_of_float", "float_of_bfloat16"};
    bool again = at_c_is_reserved(name) || isdigit((unsigned char)*name);
    again |= begins(name, "piece_") || begins(name, "loop_"); /* variables of several sizes are */
    for (size_t k = 0; k < sizeof taken / sizeof *taken; k++) again |= !strcmp(name, taken[k]);
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < at_net_num_ports(p, side); k++)
            if ((side != output || k != i) &&
                !strcmp(name, at_c_name(a, at_net_port(p, side, k)->name)))
                again = true;
    return again ? at_format(a, "%s_%d_%s", output ? "out" : "in", i, name) : name;
}

static bool is_port(at_arena *a, const at_net_program *p, const char *name) {
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < at_net_num_ports(p, side); i++)
            if (!strcmp(name, at_net_port_name(a, p, side, i))) return true;
    return false;
}

const char *at_net_size_name(at_arena *a, const at_net_program *p, const char *size) {
    const char *name = at_format(a, "%s_size", at_c_name(a, size));
    while (is_port(a, p, name)) name = at_format(a, "%s_", name);
    return name;
}

void at_net_add_parameters(at_text *out, const at_net_program *p, bool types) {
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < at_net_num_ports(p, side); i++) {
            if (types)
                at_text_addf(out, "%s%s *", side ? "" : "const ",
                             at_net_c_type(at_net_port(p, side, i)->type));
            at_text_addf(out, "%s, ", at_net_port_name(p->arena, p, side, i));
        }
}

void at_net_add_signature(at_text *out, const at_net_program *p, const at_net_emit_options *o,
                          const char *suffix) {
    if (*suffix) at_text_addf(out, "int at_%s_run_%s(const void *weights, ", o->name, suffix);
    else at_text_addf(out, "int %s_run(const void *weights, ", o->name);
    if (!*suffix && o->sized) at_text_addf(out, "long %s, ", o->sized->parameter);
    at_net_add_parameters(out, p, true);
    at_text_add(out, "void *workspace)");
}

void at_net_add_head_check(at_text *out, const at_net_emit_options *o) {
    at_text_addf(out, "    if (!at_%s_has_head(weights)) return 1;\n", o->name);
}

void at_net_add_alignment(at_text *out) {
    at_text_addf(out, "    memory += (%d - (unsigned long)memory %% %d) %% %d;\n", AT_NET_ALIGNMENT,
                 AT_NET_ALIGNMENT, AT_NET_ALIGNMENT);
}

/* ---- floats of 16 bits, which are passed as their bits --------------------------------------- */

/* By a step of the network, or by the main. */
static bool is_converted(const at_net_program *p, at_net_type t, bool widens, bool has_main) {
    for (int i = 0; i < p->steps.len; i++) {
        const at_net_step *s = &p->steps.data[i];
        if (s->kind != AT_NET_CONVERT) continue;
        const at_net_type from = p->storages.data[s->args[0]].type,
                          to = p->storages.data[s->args[1]].type;
        if (from != to && (widens ? from : to) == t) return true;
    }
    const int n = at_net_num_ports(p, widens);
    for (int i = 0; has_main && i < n; i++)
        if (at_net_port(p, widens, i)->type == t) return true;
    return false;
}

void at_net_add_halves(at_text *out, const at_net_program *programs, int n, bool has_main) {
    static const char *const texts[][2] = {
        {"static unsigned short float16_of_float(float value) {\n"
         "    union { unsigned bits; float value; } x;\n    unsigned sign, bits;\n"
         "    x.value = value;\n    sign = x.bits >> 16 & 0x8000u;\n"
         "    bits = x.bits & 0x7fffffffu;\n"
         "    if (bits > 0x7f800000u) return 0x7e00;\n"
         "    if (bits >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u);\n"
         "    if (bits < 0x38800000u) {\n        x.bits = bits;\n        x.value += 0.5f;\n"
         "        return (unsigned short)(sign | (x.bits - 0x3f000000u));\n    }\n"
         "    bits += 0xfffu + (bits >> 13 & 1) - (112u << 23);\n"
         "    return (unsigned short)(sign | bits >> 13);\n}\n\n",
         "static float float_of_float16(unsigned short h) {\n"
         "    union { unsigned bits; float value; } x;\n"
         "    unsigned rest = (h & 0x7fffu) << 13;\n"
         "    if (rest < 0x00800000u) x.value = (float)(h & 1023) * 5.9604644775390625e-8f;\n"
         "    else x.bits = rest >= 0x0f800000u ? rest | 0x7f800000u : rest + (112u << 23);\n"
         "    x.bits |= (h & 0x8000u) << 16;\n    return x.value;\n}\n\n"},
        {"static unsigned short bfloat16_of_float(float value) {\n"
         "    union { unsigned bits; float value; } x;\n    x.value = value;\n"
         "    if ((x.bits & 0x7fffffffu) > 0x7f800000u) return 0x7fc0;\n"
         "    return (unsigned short)((x.bits + 0x7fffu + (x.bits >> 16 & 1)) >> 16);\n}\n\n",
         "static float float_of_bfloat16(unsigned short h) {\n"
         "    union { unsigned bits; float value; } x;\n"
         "    x.bits = (unsigned)h << 16;\n    return x.value;\n}\n\n"}};
    for (int brain = 0; brain < 2; brain++)
        for (int widens = 0; widens < 2; widens++) {
            bool is_needed = false;
            for (int i = 0; i < n; i++)
                is_needed |= is_converted(&programs[i], brain ? AT_NET_BFLOAT16 : AT_NET_FLOAT16,
                                          widens, has_main);
            if (is_needed) at_text_add(out, texts[brain][widens]);
        }
}

/* ---- whole numbers of floats, as at_net_store has them --------------------------------------- */

static bool makes_whole(const at_net_program *p) {
    for (int i = 0; i < p->steps.len; i++) {
        const at_net_step *s = &p->steps.data[i];
        if (s->kind == AT_NET_CONVERT && at_net_type_is_float(p->storages.data[s->args[0]].type) &&
            at_net_type_is_int(p->storages.data[s->args[1]].type))
            return true;
    }
    return false;
}

static bool is_int(const at_net *net, int v) {
    return v >= 0 && at_net_type_is_int(net->values.data[v].type);
}

/* Loops make whole numbers of what nodes compute, and of outputs. */
static bool has_whole(const at_net *net) {
    for (int i = 0; i < net->outputs.len; i++)
        if (is_int(net, net->outputs.data[i])) return true;
    for (int i = 0; i < net->nodes.len; i++)
        for (int k = 0; k < net->nodes.data[i].num_outputs; k++) {
            const int v = net->nodes.data[i].outputs[k];
            if (is_int(net, v) && !net->values.data[v].is_constant) return true;
        }
    return false;
}

void at_net_add_whole(at_text *out, const at_net_program *programs, int n,
                      const at_net_loops *loops) {
    bool is_needed = loops && has_whole(loops->net);
    for (int i = 0; i < n; i++) is_needed |= makes_whole(&programs[i]);
    if (!is_needed) return;
    at_text_add(out, "static unsigned long long whole_of(double x, int is_unsigned) {\n"
                     "    if (x != x) return 0;\n"
                     "    if (is_unsigned && x >= 0)\n"
                     "        return x < 18446744073709551616.0 ? (unsigned long long)x : -1ULL;\n"
                     "    if (x >= 9223372036854775808.0) return -1ULL >> 1;\n"
                     "    if (x < -9223372036854775808.0) return 1ULL << 63;\n"
                     "    return (unsigned long long)(long long)x;\n}\n\n");
}

void at_net_add_whole_of(at_text *out, at_net_type t, const char *x) {
    at_text_addf(out, "(%s)whole_of(%s, %d)", at_net_c_type(t), x, t == AT_NET_UINT64);
}
