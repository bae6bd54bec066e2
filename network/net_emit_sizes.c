/* network/net_emit_sizes.c: the function of a network of several sizes, in C: which size runs, and
 * where rows are apart, how another one runs in pieces. */
#include <string.h>

#include "network/net_emit.h"
#include "network/net_memory.h"

/* ---- ports with rows ------------------------------------------------------------------------- */

static int axis_of(const at_net_sized *s, const at_net_program *p, bool output, int i) {
    return s->rows->axis[output ? p->net->outputs.data[i] : p->net->inputs.data[i]];
}

/* Elements before the axis, and bytes of a row. */
static void rows_of(const at_net_value *v, int axis, int64_t *outer, int64_t *bytes) {
    *outer = 1;
    *bytes = at_net_type_bytes(v->type);
    for (int k = 0; k < v->rank; k++)
        if (k < axis) *outer *= v->dims[k];
        else if (k > axis) *bytes *= v->dims[k];
}

bool at_net_port_rows(const at_net_sized *s, const at_net_program *p, bool output, int i,
                      int64_t *outer, int64_t *bytes) {
    const int axis = axis_of(s, p, output, i);
    if (axis < 0) return false;
    rows_of(at_net_port(p, output, i), axis, outer, bytes);
    return true;
}

int64_t at_net_pieces_bytes(const at_net_sized *s, const at_net_program *largest) {
    int64_t sum = 0;
    for (int side = 0; side < 2 && !s->rows->fault; side++)
        for (int i = 0; i < at_net_num_ports(largest, side); i++) {
            const at_net_value *v = at_net_port(largest, side, i);
            if (axis_of(s, largest, side, i) >= 0)
                sum += at_net_rounded(v->elements * at_net_type_bytes(v->type));
        }
    return sum;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static void add_copies(at_text *out, const at_net_emit_options *o) {
    static const char *const head =
        "(char *to, const char *from, long size, long all, long first,\n"
        "    long rows, long outer, long bytes) {\n"
        "    long k, r, i;\n"
        "    for (k = 0; k < outer; k++)\n";
    at_text_addf(out,
                 "\n/* Rows from `first` on of all; behind the last one it again. */\n"
                 "static void at_%s_take%s",
                 o->name, head);
    at_text_add(out,
                "        for (r = 0; r < size; r++)\n"
                "            for (i = 0; i < bytes; i++)\n"
                "                to[(k * size + r) * bytes + i] =\n"
                "                    from[(k * all + first + (r < rows ? r : rows - 1)) * bytes "
                "+ i];\n}\n\n");
    at_text_addf(out, "static void at_%s_put%s", o->name, head);
    at_text_add(out,
                "        for (r = 0; r < rows; r++)\n"
                "            for (i = 0; i < bytes; i++)\n"
                "                to[(k * all + first + r) * bytes + i] = from[(k * size + r) * "
                "bytes + i];\n}\n\n");
}

/* A call of the network of one size; pieces: where rows lie, of ports that have any. */
static void add_run(at_text *out, const at_net_emit_options *o, const at_net_program *p,
                    const char *size, bool pieces) {
    const at_net_sized *s = o->sized;
    at_text_addf(out, "at_%s_run_%s(weights, ", o->name, size);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < at_net_num_ports(p, side); i++) {
            const at_net_value *v = at_net_port(p, side, i);
            if (pieces && axis_of(s, p, side, i) >= 0)
                at_text_addf(out, "(%s%s *)piece_%s_%d, ", side ? "" : "const ",
                             at_net_c_type(v->type), side ? "out" : "in", i);
            else at_text_addf(out, "%s, ", at_net_port_name(p->arena, p, side, i));
        }
    at_text_add(out, "workspace)");
}

/* What of a piece is copied: inputs before it runs, outputs behind. */
static void add_moves(at_text *out, const at_net_emit_options *o, const at_net_program *p,
                      bool output) {
    for (int i = 0; i < at_net_num_ports(p, output); i++) {
        const char *name = at_net_port_name(p->arena, p, output, i);
        int64_t outer, bytes;
        if (!at_net_port_rows(o->sized, p, output, i, &outer, &bytes)) continue;
        if (output)
            at_text_addf(out, "        at_%s_put((char *)%s, piece_out_%d", o->name, name, i);
        else
            at_text_addf(out, "        at_%s_take(piece_in_%d, (const char *)%s", o->name, i, name);
        at_text_addf(out, ", piece_takes, %s, piece_first, piece_rows, %lldL, %lldL);\n",
                     o->sized->parameter, (long long)outer, (long long)bytes);
    }
}

/* The largest size as often as it fits, then the smallest that holds what is left. */
static void add_pieces(at_text *out, const at_net_emit_options *o, const at_net_program *programs,
                       int n) {
    const at_net_sized *s = o->sized;
    const at_net_program *p = &programs[n - 1];
    int64_t at = s->workspace_bytes;
    at_text_addf(out, "    if (%s < 1) return %d;\n", s->parameter, AT_NET_NO_SIZE);
    at_net_add_alignment(out);
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < at_net_num_ports(p, side); i++) {
            const at_net_value *v = at_net_port(p, side, i);
            if (axis_of(s, p, side, i) < 0) continue;
            at_text_addf(out, "    char *piece_%s_%d = memory + %lldL;\n", side ? "out" : "in", i,
                         (long long)at);
            at += at_net_rounded(v->elements * at_net_type_bytes(v->type));
        }
    at_text_addf(out,
                 "    for (piece_first = 0; piece_first < %s; piece_first += piece_rows) {\n"
                 "        piece_rows = %s - piece_first;\n",
                 s->parameter, s->parameter);
    for (int i = 0; i < n; i++)
        at_text_addf(out,
                     i + 1 < n ? "        %sif (piece_rows <= %lld) piece_takes = %lld;\n"
                               : "        %spiece_takes = %lld;\n",
                     i ? "else " : "", (long long)s->sizes->value[i],
                     (long long)s->sizes->value[i]);
    at_text_add(out, "        if (piece_rows > piece_takes) piece_rows = piece_takes;\n");
    add_moves(out, o, p, false);
    for (int i = 0; i < n; i++) {
        at_text_addf(out,
                     i + 1 < n ? "        %sif (piece_takes == %lld) piece_fault = "
                               : "        %spiece_fault = ",
                     i ? "else " : "", (long long)s->sizes->value[i]);
        add_run(out, o, &programs[i], s->suffix[i], true);
        at_text_add(out, ";\n");
    }
    at_text_add(out, "        if (piece_fault) return piece_fault;\n");
    add_moves(out, o, p, true);
    at_text_add(out, "    }\n    return 0;\n}\n");
}

/* What computes a size. */
static void add_way(at_text *out, const at_net_emit_options *o) {
    const at_net_sized *s = o->sized;
    at_text_addf(out, "\nconst char *%s_way(long %s) {\n", o->name, s->parameter);
    for (int i = 0; i < s->sizes->n; i++)
        at_text_addf(out, "    if (%s == %lld) return \"kernels\";\n", s->parameter,
                     (long long)s->sizes->value[i]);
    if (!s->rows->fault)
        at_text_addf(out, "    return %s < 1 ? 0 : \"pieces\";\n}\n", s->parameter);
    else if (s->loops)
        at_text_addf(out, "    return at_%s_loops_have(%s) ? \"loops\" : 0;\n}\n", o->name,
                     s->parameter);
    else at_text_add(out, "    return 0;\n}\n");
}

void at_net_emit_sizes(at_text *out, const at_net_program *programs, int n,
                       const at_net_emit_options *o) {
    const at_net_sized *s = o->sized;
    const bool apart = !s->rows->fault;
    if (apart) add_copies(out, o);
    if (s->loops) at_net_emit_loops(out, &programs[n - 1], o);
    at_net_add_signature(out, programs, o, "");
    at_text_add(out, " {\n");
    if (apart)
        at_text_add(out, "    char *memory = (char *)workspace;\n"
                         "    long piece_first, piece_rows, piece_takes;\n    int piece_fault;\n");
    at_net_add_head_check(out, o);
    for (int i = 0; i < n; i++) {
        at_text_addf(out, "    if (%s == %lld) return ", s->parameter,
                     (long long)s->sizes->value[i]);
        add_run(out, o, &programs[i], s->suffix[i], false);
        at_text_add(out, ";\n");
    }
    if (apart) add_pieces(out, o, programs, n);
    else if (s->loops) at_net_add_loops(out, &programs[n - 1], o);
    else at_text_addf(out, "    return %d;\n}\n", AT_NET_NO_SIZE);
    add_way(out, o);
}

void at_net_add_sizes(at_text *out, const at_net_sized *s) {
    at_text_addf(out, "%s", s->sizes->name);
    for (int i = 0; i < s->sizes->n; i++)
        at_text_addf(out, "%s%lld", i ? i + 1 < s->sizes->n ? ", " : " and " : " ",
                     (long long)s->sizes->value[i]);
    if (s->loops) {
        at_text_add(out, "; of other sizes ");
        at_net_loops_add_sizes(out, s->loops, s->sizes);
        at_text_addf(out, " run in plain loops, which are slow: %s", s->rows->fault);
    } else if (s->rows->fault)
        at_text_addf(out, "; no other size runs: %s; no plain loops: %s", s->rows->fault,
                     s->no_loops);
    else at_text_add(out, "; other sizes run in pieces of these, the last one filled up");
}
