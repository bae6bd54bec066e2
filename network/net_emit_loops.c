/* network/net_emit_loops.c: a network at sizes that have no kernels, in C: a function for each kind
 * of node, whose sizes are arguments, and the line that calls them. */
#include <stdlib.h>
#include <string.h>

#include "network/net_emit.h"
#include "network/net_memory.h"
#include "network/network_int.h"

/* In functions that have ports of the network as parameters variables are called loop_..
 * (emit_ports.c). */
static const long long MOST_WHOLE = 1LL << 53; /* all up to it are doubles */

/* ---- numbers --------------------------------------------------------------------------------- */

/* Is the number a + b*size wherever the network runs? */
static bool is_line(const at_net_loops *l, const int32_t *of, int64_t *a, int64_t *b) {
    const int64_t last = l->largest;
    int64_t other = last;
    for (int64_t s = 1; s < last && other == last; s++)
        if (l->has[s]) other = s;
    *b = other == last ? 0 : ((int64_t)of[last] - of[other]) / (last - other);
    *a = of[last] - *b * last;
    for (int64_t s = 1; s <= last; s++)
        if (l->has[s] && of[s] != *a + *b * s) return false;
    return true;
}

static void add_table(at_text *out, const at_net_loops *l, const char *type, const char *name,
                      const int32_t *of) {
    at_text_addf(out, "static const %s %s[%lld] = {0", type, name, (long long)l->largest + 1);
    for (int64_t s = 1; s <= l->largest; s++) {
        const int x = of ? (l->has[s] ? of[s] : 0) : l->has[s];
        at_text_addf(out, s % 16 ? ", %d" : ",\n    %d", x);
    }
    at_text_add(out, "};\n");
}

/* NAME_loops_have(size), and NAME_loops_numbers(size, n). */
static void add_numbers(at_text *out, const at_net_loops *l, const char *name) {
    int64_t a, b;
    add_table(out, l, "unsigned char", at_format(l->net->arena, "at_%s_loops_sizes", name), NULL);
    for (int i = 0; i < l->numbers.len; i++)
        if (!is_line(l, l->numbers.data[i], &a, &b))
            add_table(out, l, "int", at_format(l->net->arena, "at_%s_loops_number_%d", name, i),
                      l->numbers.data[i]);
    at_text_addf(out,
                 "\nstatic int at_%s_loops_have(long size) {\n"
                 "    return size > 0 && size <= %lld && at_%s_loops_sizes[size];\n}\n\n"
                 "static void at_%s_loops_numbers(long size, long *n) {\n",
                 name, (long long)l->largest, name, name);
    for (int i = 0; i < l->numbers.len; i++) {
        if (!is_line(l, l->numbers.data[i], &a, &b))
            at_text_addf(out, "    n[%d] = at_%s_loops_number_%d[size];\n", i, name, i);
        else if (!b) at_text_addf(out, "    n[%d] = %lld;\n", i, (long long)a);
        else at_text_addf(out, "    n[%d] = %lld + %lld * size;\n", i, (long long)a, (long long)b);
    }
    at_text_add(out, "}\n\n");
}

/* ---- values ---------------------------------------------------------------------------------- */

static const char *value_c(at_arena *a, const at_net_loops *l, int v) {
    return l->known_at[v] >= 0 ? at_format(a, "(void *)(known + %lld)", (long long)l->known_at[v])
                               : at_format(a, "(void *)(memory + %lld)", (long long)l->place[v]);
}

/* Whole numbers that a double does not hold are no input of loops. */
static void add_input(at_text *out, const at_net_loops *l, const at_net_program *p, int i) {
    const int v = l->net->inputs.data[i];
    const at_net_type type = l->net->values.data[v].type;
    const char *name = at_net_port_name(p->arena, p, false, i);
    const bool is_wide = at_net_type_is_int(type) && at_net_type_bytes(type) == 8;
    at_text_addf(out, "    for (place = 0; place < loop_n[%d]; place++) {\n", l->elements[v]);
    if (is_wide) at_text_addf(out, "        if (%s[place] > %lld", name, MOST_WHOLE);
    if (is_wide && type == AT_NET_INT64)
        at_text_addf(out, " || %s[place] < -%lld", name, MOST_WHOLE);
    if (is_wide) at_text_add(out, ") return 2;\n");
    at_text_addf(out,
                 "        ((double *)(void *)(memory + %lld))[place] = (double)%s[place];\n    }\n",
                 (long long)l->place[v], name);
}

static void add_output(at_text *out, const at_net_loops *l, const at_net_program *p, int i) {
    const int v = l->net->outputs.data[i];
    const at_net_value *x = &l->net->values.data[v];
    const bool is_float = x->is_constant && x->type == AT_NET_FLOAT;
    const char *element = at_format(p->arena, "((const %s *)%s)[place]",
                                    is_float ? "float" : "double", value_c(p->arena, l, v));
    at_text_addf(out, "    for (place = 0; place < loop_n[%d]; place++)\n        %s[place] = ",
                 l->elements[v], at_net_port_name(p->arena, p, true, i));
    if (at_net_type_is_int(x->type)) at_net_add_whole_of(out, x->type, element);
    else if (x->type == AT_NET_BOOL) at_text_addf(out, "%s != 0", element);
    else at_text_addf(out, "(%s)%s", at_net_c_type(x->type), element);
    at_text_add(out, ";\n");
}

/* Whole numbers wrap at the bits of their type. */
static void add_wrap(at_text *out, const at_net_loops *l, int v) {
    const at_net_value *x = &l->net->values.data[v];
    if (!at_net_type_is_int(x->type)) return;
    at_text_addf(out,
                 "    for (place = 0; place < loop_n[%d]; place++)\n"
                 "        loop_at = (double *)(void *)(memory + %lld) + place,\n"
                 "        *loop_at = (double)",
                 l->elements[v], (long long)l->place[v]);
    at_net_add_whole_of(out, x->type, "*loop_at");
    at_text_add(out, ";\n");
}

static void add_check(at_text *out, at_arena *a, const at_net_loops *l,
                      const at_net_loop_check *c) {
    const char *step = c->depth > 1 ? at_format(a, "place += %d", c->depth) : "place++";
    at_text_addf(out,
                 "    for (place = %d; place < loop_n[%d]; %s) {\n"
                 "        loop_at = (double *)(void *)(memory + %lld) + place;\n"
                 "        if (!(*loop_at >= (double)loop_n[%d] && *loop_at <= (double)loop_n[%d])) "
                 "return 2;\n    }\n",
                 c->at, l->elements[c->value], step, (long long)l->place[c->value], c->lo, c->hi);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void add_node(at_text *out, at_arena *a, const at_net_loops *l, int node, const char *name) {
    const at_net_node *n = &l->net->nodes.data[node];
    const at_net_loop_node *x = &l->nodes[node];
    const at_general *g = &l->units.data[x->unit].general;
    const at_compute *c = g->compute;
    int num = 0;
    at_text_add(out, "    /* ");
    at_text_add_c_comment(out, n->op);
    at_text_add(out, " */\n");
    for (int i = 0; i < x->checks.len; i++) add_check(out, a, l, &x->checks.data[i]);
    for (int i = 0; i < g->num_args; i++)
        at_text_addf(out, "    loop_args[%d] = loop_n[%d];\n", i, x->args[i]);
    for (int side = 0; side < 2; side++)
        for (int t = 0; t < c->num_tensors; t++) {
            const at_tensor *tensor = &c->tensors[t];
            if (side ? !tensor->is_output : tensor->role == AT_ROLE_STAGE) continue;
            const int v = side ? n->outputs[net_number(tensor->name, 'y')]
                               : n->inputs[net_number(tensor->name, 'x')];
            at_text_addf(out, "    loop_buf[%d] = %s;\n", num++, value_c(a, l, v));
        }
    at_text_addf(out, "    at_%s_loops_%d(loop_args, loop_buf, memory + %lld);\n", name, x->unit,
                 (long long)l->scratch_at);
    for (int k = 0; k < n->num_outputs; k++)
        if (n->outputs[k] >= 0 && !l->net->values.data[n->outputs[k]].is_constant)
            add_wrap(out, l, n->outputs[k]);
}

static void most_of(const at_net_loops *l, int *args, int *buffers) {
    *args = *buffers = 1;
    for (int i = 0; i < l->units.len; i++) {
        const at_general *g = &l->units.data[i].general;
        if (g->num_args > *args) *args = g->num_args;
        if (g->compute->num_tensors > *buffers) *buffers = g->compute->num_tensors;
    }
}

void at_net_keep_loops(at_net_program *programs, int n, const at_net_loops *l, at_net_sized *s) {
    at_net_program *last = &programs[n - 1];
    char *known = at_net_room(last->weights_bytes + l->known_bytes);
    s->loops = l;
    s->loops_at = AT_NET_WEIGHTS_HEAD + at_net_known_bytes(programs, n);
    if (last->weights_bytes) memcpy(known, last->weights, (size_t)last->weights_bytes);
    at_net_loops_known(l, known + last->weights_bytes);
    free(last->weights);
    last->weights = known;
    last->weights_bytes += l->known_bytes;
}

void at_net_emit_loops(at_text *out, const at_net_program *p, const at_net_emit_options *o) {
    const at_net_loops *l = o->sized->loops;
    at_text_add(out, "\n/* ---- plain loops, for sizes without kernels ---- */\n\n");
    for (int i = 0; i < l->units.len; i++)
        at_general_c(p->arena, &l->units.data[i].general,
                     at_format(p->arena, "at_%s_loops_%d", o->name, i), out);
    add_numbers(out, l, o->name);
}

void at_net_add_loops(at_text *out, const at_net_program *p, const at_net_emit_options *o) {
    const at_net_loops *l = o->sized->loops;
    int args, buffers;
    most_of(l, &args, &buffers);
    at_text_addf(out,
                 "    if (!at_%s_loops_have(%s)) return %d;\n"
                 "    const char *known = (const char *)weights + %lld;\n"
                 "    char *memory = (char *)workspace;\n"
                 "    void *loop_buf[%d];\n    double *loop_at;\n"
                 "    long loop_n[%d], loop_args[%d], place;\n"
                 "    at_%s_loops_numbers(%s, loop_n);\n"
                 "    (void)known, (void)loop_args, (void)loop_at, (void)loop_buf;\n",
                 o->name, o->sized->parameter, AT_NET_NO_SIZE, (long long)o->sized->loops_at,
                 buffers, l->numbers.len + 1, args, o->name, o->sized->parameter);
    at_net_add_alignment(out);
    for (int i = 0; i < l->net->inputs.len; i++) add_input(out, l, p, i);
    for (int i = 0; i < l->net->nodes.len; i++) add_node(out, p->arena, l, i, o->name);
    for (int i = 0; i < l->net->outputs.len; i++) add_output(out, l, p, i);
    at_text_add(out, "    return 0;\n}\n");
}
