/* network/net_emit_main.c: a main that runs the network on inputs that it makes, compares the
 * outputs with expected ones, and times it. */
#include <math.h>
#include <string.h>

#include "network/net_emit.h"
#include "network/net_truth.h"

enum { MOST_ELEMENTS = 4096 /* of an output that are compared, evenly apart */ };

/* Multiples of 2^-15 from -1 to 1; of others 0 and 1. The same in C: make() below. */
static double next(uint64_t *state, bool is_float) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return is_float ? (double)(*state >> 48) / 32768 - 1 : (double)(*state >> 63);
}

void **at_net_make_inputs(at_arena *a, const at_net *net) {
    uint64_t state = 1;
    void **inputs = AT_NEW_ARRAY(a, void *, net->inputs.len + 1);
    for (int i = 0; i < net->inputs.len; i++) {
        const at_net_value *v = &net->values.data[net->inputs.data[i]];
        inputs[i] = at_alloc(a, (size_t)v->elements * (size_t)at_net_type_bytes(v->type) + 1);
        for (int64_t k = 0; k < v->elements; k++)
            at_net_store(v->type, inputs[i], k, next(&state, at_net_type_is_float(v->type)));
    }
    return inputs;
}

static int64_t distance(const at_net_value *v) {
    return (v->elements + MOST_ELEMENTS - 1) / MOST_ELEMENTS;
}

/* suffix: of the size, or "". */
static void add_expected(at_text *out, const at_net_program *p, const at_net_expected *x, int i,
                         const char *suffix) {
    const at_net_value *v = at_net_port(p, true, i);
    int64_t step = distance(v);
    at_text_addf(out, "static const double expected%s_%d[] = {", suffix, i);
    for (int64_t k = 0, n = 0; k < v->elements; k += step, n++) {
        const double e = x->outputs[i][k];
        at_text_add(out, n % 8 ? " " : "\n    ");
        if (isfinite(e)) at_text_addf(out, "%.9g,", e);
        else at_text_add(out, isnan(e) ? "0 / 0.," : e > 0 ? "1 / 0.," : "-1 / 0.,");
    }
    at_text_add(out, "\n};\n");
}

static void add_tools(at_text *out) {
    at_text_add(out,
                "\nstatic double make(unsigned long long *state, int is_float) {\n"
                "    *state = *state * 6364136223846793005u + 1442695040888963407u;\n"
                "    return is_float ? (double)(*state >> 48) / 32768 - 1 : (double)(*state >> 63);"
                "\n}\n\n"
                "static void *memory_of(unsigned long bytes) {\n"
                "    void *p = malloc(bytes ? bytes : 1);\n"
                "    if (!p) puts(\"no memory\"), exit(1);\n    return p;\n}\n\n"
                "static double root(double x) { /* by Newton's method: no library is needed */\n"
                "    double r = x > 1 ? x : 1, next = (r + x / r) / 2;\n"
                "    while (next < r) r = next, next = (r + x / r) / 2;\n"
                "    return r;\n}\n\n");
}

static void add_reading(at_text *out, const at_net_emit_options *o) {
    if (!o->weights) {
        at_text_addf(out, "    const void *weights = %s_weights();\n", o->name);
        return;
    }
    at_text_addf(out,
                 "    void *weights = memory_of(%s_weights_bytes());\n"
                 "    const char *path = count > 1 ? words[1] : ",
                 o->name);
    at_text_add_c_string(out, o->weights);
    at_text_addf(out,
                 ";\n    FILE *file = fopen(path, \"rb\");\n"
                 "    if (!file || fread(weights, 1, %s_weights_bytes(), file) != "
                 "%s_weights_bytes())\n        "
                 "return printf(\"%%s: the weights cannot be read; the first word of the command "
                 "is their path\\n\", path), 1;\n"
                 "    fclose(file);\n",
                 o->name, o->name);
}

/* A difference less what its type rounds. */
static const char *rounds_of(const at_net_program *p, at_net_type t) {
    if (!at_net_type_is_half(t)) return "";
    const double least = at_net_type_rounds(t, 0);
    return at_format(p->arena, "        if (d > 0) d -= (e < 0 ? -e : e) * %.17g + %.17g;\n",
                     at_net_type_rounds(t, 1) - least, least);
}

static void add_comparison(at_text *out, const at_net_program *p, const at_net_expected *x, int i,
                           const char *suffix) {
    const at_net_value *v = at_net_port(p, true, i);
    const double ill = AT_NET_OF_MOVED * x->moved[i].most, /* what no kernel can be held to */
        ill_rms = AT_NET_OF_MOVED * x->moved[i].rms;
    /* infinite: one more rounding makes it a number, or none */
    const char *within = isinf(ill) ? "" : at_format(p->arena, "most <= %g && ", ill);
    const bool is_half = at_net_type_is_half(v->type);
    const long long looked_at = (v->elements + distance(v) - 1) / distance(v);
    at_text_addf(out,
                 "    for (i = 0, most = sum = off = 0; i < %lldL; i += %lldL) {\n"
                 "        double e = expected%s_%d[i / %lldL], x = %s%s(out_%d[i]);\n"
                 "        double d = x == e || (x != x && e != e) ? 0 : x > e ? x - e : e - x;\n"
                 "        if (e - e == 0) sum += e * e;\n%s"
                 "        if (!(d <= most) && most == most) most = d;\n"
                 "        if (d > 0 && d - d == 0) off += d * d;\n    }\n"
                 "    sum = sum > 0 ? root(sum / %lld) : 1;\n"
                 "    most /= sum, off = off > 0 ? root(off / %lld) / sum : 0;\n    printf(\"",
                 (long long)v->elements, (long long)distance(v), suffix, i, (long long)distance(v),
                 is_half ? "float_of_" : "", is_half ? at_net_type_name(v->type) : "", i,
                 rounds_of(p, v->type), looked_at, looked_at);
    for (const char *c = v->name; *c; c++)
        if (*c >= ' ' && *c < 127 && !strchr("\"\\%?", *c)) at_text_addf(out, "%c", *c);
    at_text_addf(out,
                 ": largest error over the root mean square %%.2g, %%s\\n\", most,\n"
                 "           most <= %1$g ? \"right\" : %2$soff <= %3$g ? "
                 "\"ill-conditioned\" : \"WRONG\");\n"
                 "    bad |= !(most <= %1$g || (%2$soff <= %3$g));\n",
                 x->max_error, within, ill_rms);
}

static void add_arguments(at_text *out, const at_net_program *p) {
    for (int i = 0; i < p->net->inputs.len; i++) at_text_addf(out, "in_%d, ", i);
    for (int i = 0; i < p->net->outputs.len; i++) at_text_addf(out, "out_%d, ", i);
}

/* Arrays of inputs, which are made, and of outputs. */
static void add_arrays(at_text *out, const at_net_program *p) {
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < at_net_num_ports(p, side); i++) {
            const at_net_value *v = at_net_port(p, side, i);
            const char *type = at_net_c_type(v->type);
            at_text_addf(out, "    %s *%s_%d = (%s *)memory_of(%lldUL * sizeof(%s));\n", type,
                         side ? "out" : "in", i, type, (long long)v->elements, type);
        }
    at_text_add(out, "    (void)state;\n");
    for (int i = 0; i < p->net->inputs.len; i++) {
        const at_net_value *v = at_net_port(p, false, i);
        const char *cast =
            at_net_type_is_half(v->type)
                ? at_format(p->arena, "%s_of_float((float)", at_net_type_name(v->type))
                : at_format(p->arena, "((%s)", at_net_c_type(v->type));
        at_text_addf(out, "    for (i = 0; i < %lldL; i++) in_%d[i] = %smake(&state, %d));\n",
                     (long long)v->elements, i, cast, at_net_type_is_float(v->type));
    }
}

/* Around a run: what is never written shows, and so does a run that makes something else than the
 * first one. */
static void add_again(at_text *out, const at_net_program *p, bool behind) {
    for (int i = 0; i < p->net->outputs.len; i++) {
        const long long n = at_net_port(p, true, i)->elements;
        if (!behind) {
            at_text_addf(out, "        memset(out_%d, 255, %lldUL * sizeof *out_%d);\n", i, n, i);
            continue;
        }
        at_text_addf(
            out,
            "        if (!run) memcpy(first_%1$d, out_%1$d, %2$lldUL * sizeof *out_%1$d);\n"
            "        if (memcmp(first_%1$d, out_%1$d, %2$lldUL * sizeof *out_%1$d))\n"
            "            return printf(\"run %%d makes other outputs than the first "
            "one\\n\", run + 1), 1;\n",
            i, n);
    }
}

/* check, or check_SUFFIX: outputs of inputs that are made. */
static void add_check(at_text *out, const at_net_program *p, const at_net_emit_options *o,
                      int64_t size, const at_net_expected *x) {
    const char *suffix = o->sized ? at_format(p->arena, "_%lld", (long long)size) : "";
    for (int i = 0; i < p->net->outputs.len; i++) add_expected(out, p, x, i, suffix);
    at_text_addf(out,
                 "static int check%s(const void *weights, void *workspace) {\n"
                 "    unsigned long long state = 1;\n    double most, sum, off, least = 1e30;\n"
                 "    long i;\n    int bad = 0, run;\n",
                 suffix);
    add_arrays(out, p);
    for (int i = 0; i < p->net->outputs.len; i++)
        at_text_addf(out, "    void *first_%1$d = memory_of(%2$lldUL * sizeof *out_%1$d);\n", i,
                     (long long)at_net_port(p, true, i)->elements);
    at_text_add(out, "    for (run = 0; run < 10; run++) {\n        clock_t begin;\n"
                     "        double took;\n        int fault;\n");
    add_again(out, p, false);
    at_text_addf(out, "        begin = clock();\n        fault = %s_run(weights, ", o->name);
    if (o->sized) at_text_addf(out, "%lld, ", (long long)size);
    add_arguments(out, p);
    at_text_add(out, "workspace);\n"
                     "        took = (double)(clock() - begin) / CLOCKS_PER_SEC;\n"
                     "        if (fault) return printf(\"it returned %d\\n\", fault), 1;\n"
                     "        if (took < least) least = took;\n");
    add_again(out, p, true);
    at_text_add(out, "    }\n");
    if (o->sized)
        at_text_addf(out, "    printf(\"%s %lld, %%s:\\n\", %s_way(%lld));\n", o->sized->parameter,
                     (long long)size, o->name, (long long)size);
    for (int i = 0; i < p->net->outputs.len; i++) add_comparison(out, p, x, i, suffix);
    at_text_add(out,
                "    printf(\"%.3f ms of processor time, the least of 10 runs\\n\", least * 1e3);\n"
                "    return bad;\n}\n\n");
}

/* ---- pieces ---------------------------------------------------------------------------------- */

typedef struct pieces { /* of a main that is written */
    at_text *out;
    const at_net_program *p; /* of the largest size */
    const at_net_emit_options *o;
    long long last, all; /* the largest size, and one more */
} pieces;

/* what: "take(TO, FROM, size, all, first, rows" */
static void add_copy(const pieces *x, const char *what, int64_t outer, int64_t bytes) {
    at_text_addf(x->out, "    at_%s_%s, %lldL, %lldL);\n", x->o->name, what, (long long)outer,
                 (long long)bytes);
}

/* Arrays with one row more than those of the largest size, inputs with the last one twice. */
static void add_longer(const pieces *x) {
    at_arena *a = x->p->arena;
    int64_t outer, bytes;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < at_net_num_ports(x->p, side); i++) {
            if (!at_net_port_rows(x->o->sized, x->p, side, i, &outer, &bytes)) continue;
            const char *type = at_net_c_type(at_net_port(x->p, side, i)->type);
            at_text_addf(x->out, "    %s *all_%s_%d = (%s *)memory_of(%lldUL);\n", type,
                         side ? "out" : "in", i, type, (long long)(x->all * outer * bytes));
            if (!side) continue;
            at_text_addf(x->out, "    char *last_%d = (char *)memory_of(%lldUL);\n", i,
                         (long long)(outer * bytes));
        }
    add_arrays(x->out, x->p);
    for (int i = 0; i < at_net_num_ports(x->p, false); i++)
        if (at_net_port_rows(x->o->sized, x->p, false, i, &outer, &bytes))
            add_copy(x,
                     at_format(a,
                               "take((char *)all_in_%d, (const char *)in_%d, %lld, %lld, 0, %lld",
                               i, i, x->all, x->last, x->last),
                     outer, bytes);
}

static void add_run_of_all(const pieces *x) {
    int64_t outer, bytes;
    at_text_addf(x->out, "    fault = %s_run(weights, %lld, ", x->o->name, x->all);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < at_net_num_ports(x->p, side); i++)
            at_text_addf(x->out, "%s%s_%d, ",
                         at_net_port_rows(x->o->sized, x->p, side, i, &outer, &bytes) ? "all_" : "",
                         side ? "out" : "in", i);
    at_text_add(x->out, "workspace);\n"
                        "    if (fault) return printf(\"it returned %d\\n\", fault), 1;\n");
}

/* The rows that the largest size has; then, in place of the last of these, the one behind it. */
static void add_rows_of_all(const pieces *x, int output, bool behind) {
    at_arena *a = x->p->arena;
    int64_t outer, bytes;
    if (!at_net_port_rows(x->o->sized, x->p, true, output, &outer, &bytes)) return;
    if (!behind) {
        add_copy(x,
                 at_format(a, "take((char *)out_%d, (const char *)all_out_%d, %lld, %lld, 0, %lld",
                           output, output, x->last, x->all, x->last),
                 outer, bytes);
        return;
    }
    add_copy(x,
             at_format(a, "take(last_%d, (const char *)all_out_%d, 1, %lld, %lld, 1", output,
                       output, x->all, x->last),
             outer, bytes);
    add_copy(x,
             at_format(a, "put((char *)out_%d, last_%d, 1, %lld, %lld, 1", output, output, x->last,
                       x->last - 1),
             outer, bytes);
}

/* check_pieces: a size that is not listed, so that one piece is full and another is filled up. */
static void add_pieces_check(at_text *out, const at_net_program *p, const at_net_emit_options *o,
                             int of) {
    const long long last = o->sized->sizes->value[of];
    const pieces x = {out, p, o, last, last + 1};
    at_text_add(out, "static int check_pieces(const void *weights, void *workspace) {\n"
                     "    unsigned long long state = 1;\n    double most, sum, off;\n"
                     "    long i;\n    int bad = 0, fault;\n");
    add_longer(&x);
    add_run_of_all(&x);
    for (int behind = 0; behind < 2; behind++) {
        at_text_addf(out, "    puts(\"%s %lld, in pieces%s:\");\n", o->sized->parameter, x.all,
                     behind ? ", its last row" : "");
        for (int i = 0; i < p->net->outputs.len; i++) {
            add_rows_of_all(&x, i, behind);
            add_comparison(out, p, &o->expected[of], i,
                           at_format(p->arena, "_%s", o->sized->suffix[of]));
        }
    }
    at_text_add(out, "    return bad;\n}\n\n");
}

void at_net_emit_main(const at_net_program *programs, int n, const at_net_emit_options *o,
                      at_text *out) {
    add_tools(out);
    const bool has_pieces = o->sized && !o->sized->rows->fault;
    const bool has_loops = o->sized && o->sized->loops;
    for (int i = 0; i < n; i++)
        add_check(out, &programs[i], o, o->sized ? o->sized->sizes->value[i] : 0, &o->expected[i]);
    if (has_loops) { /* a size that is not listed */
        const at_net_program other = {.arena = programs->arena, .net = o->sized->other};
        add_check(out, &other, o, o->sized->other_size, &o->expected[n]);
    }
    if (has_pieces) add_pieces_check(out, &programs[n - 1], o, n - 1);
    at_text_addf(out,
                 "int main(int count, char **words) {\n    int bad = 0;\n"
                 "    void *workspace = memory_of(%s_workspace_bytes());\n",
                 o->name);
    add_reading(out, o);
    at_text_add(out, "    (void)count, (void)words;\n");
    at_text_addf(out,
                 "    if (%s_weights_fault(weights, %s_weights_bytes()))\n        return "
                 "puts(\"these weights are not this network's\"), 1;\n",
                 o->name, o->name);
    at_text_add(out, "    bad |= check_kernels();\n");
    for (int i = 0; i < n; i++)
        at_text_addf(out, "    bad |= check%s%s(weights, workspace);\n", o->sized ? "_" : "",
                     o->sized ? o->sized->suffix[i] : "");
    if (has_pieces) at_text_add(out, "    bad |= check_pieces(weights, workspace);\n");
    if (has_loops)
        at_text_addf(out, "    bad |= check_%lld(weights, workspace);\n",
                     (long long)o->sized->other_size);
    at_text_add(out, "    return bad;\n}\n");
}
