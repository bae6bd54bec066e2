/* network/ops_signal.c: discrete Fourier transforms of a known length, as sums with a constant
 * table of cosines and sines: an element of the input (place n, part i, 0 the real one) counts in
 * an element of the output (place k, part o) by table[n, i, k, o]. And weights of mel bands. */
#include "network/network_int.h"

#include <math.h>
#include <string.h>

enum { MOST_LENGTH = 1 << 20, MOST_TABLE = 1 << 24 };

typedef struct transform {
    int64_t length, terms, in_parts, places, out_parts; /* the table's sizes but for length */
    bool is_inverse;
    bool mirrors; /* the input is the first half of a spectrum, the other half its mirror image */
} transform;

static double entry(const transform *t, int64_t n, int64_t i, int64_t k, int64_t o) {
    const double angle = OP_TURN * (double)(n * k % t->length) / (double)t->length,
                 by = t->is_inverse ? 1 / (double)t->length : 1,
                 twice = t->mirrors && n > 0 && 2 * n != t->length ? 2 : 1;
    const double sine = (i > o) == t->is_inverse ? -sin(angle) : sin(angle);
    return twice * by * (i == o ? cos(angle) : sine);
}

/* The table as another input of the node: its number. */
static at_status add_table(net_op *o, const transform *t, int *input) {
    const int64_t sizes[] = {t->terms, t->in_parts, t->places, t->out_parts};
    const double entries =
        (double)sizes[0] * (double)sizes[1] * (double)sizes[2] * (double)sizes[3];
    if (entries > MOST_TABLE)
        return op_missing(o, "of %lld to %lld elements", (long long)t->terms, (long long)t->places);
    float *table = AT_NEW_ARRAY(o->arena, float, (int64_t)entries + 1), *at = table;
    for (int64_t n = 0; n < sizes[0]; n++)
        for (int64_t i = 0; i < sizes[1]; i++)
            for (int64_t k = 0; k < sizes[2]; k++)
                for (int64_t part = 0; part < sizes[3]; part++)
                    *at++ = (float)entry(t, n, i, k, part);
    *input = op_add_constant(o, AT_NET_FLOAT, 4, sizes, table);
    return AT_OK;
}

/* A single whole number; *out stays where the input is not given. */
static at_status take_number(net_op *o, int input, int64_t least, int64_t *out) {
    const int64_t *given;
    int n;
    AT_TRY(op_known_ints(o, input, &given, &n));
    if (n > 1 || (n && (given[0] < least || given[0] > MOST_LENGTH)))
        return op_fail(o, "input %d is no number from %lld to %d", input + 1, (long long)least,
                       MOST_LENGTH);
    if (n) *out = given[0];
    return AT_OK;
}

static at_status dft(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const bool is_new = o->node->version >= 20, one_sided = op_int(o, "onesided", 0) != 0;
    transform t = {.is_inverse = op_int(o, "inverse", 0) != 0, .out_parts = 2};
    int64_t along = is_new ? -2 : op_int(o, "axis", 1), dims[AT_NET_MAX_RANK];
    int axis, table;
    if (is_new) AT_TRY(take_number(o, 2, -AT_NET_MAX_RANK, &along));
    AT_TRY(op_axis(o, along, x->rank, &axis));
    t.in_parts = x->rank ? x->dims[x->rank - 1] : 0;
    if (axis == x->rank - 1 || t.in_parts < 1 || t.in_parts > 2)
        return op_fail(o, "\"%s\" has no last axis of 1 or 2 parts behind axis %d", x->name, axis);
    t.mirrors = one_sided && t.is_inverse;
    t.length = t.mirrors ? 2 * (x->dims[axis] - 1) : x->dims[axis];
    AT_TRY(take_number(o, 1, 1, &t.length));
    t.places = one_sided && !t.is_inverse ? t.length / 2 + 1 : t.length;
    t.terms = t.mirrors ? t.length / 2 + 1 : t.length;
    if (t.terms > x->dims[axis]) t.terms = x->dims[axis];
    if (t.mirrors) t.out_parts = 1;
    if (t.terms < 1 || t.length < 1) return op_fail(o, "\"%s\" has no elements", x->name);
    AT_TRY(add_table(o, &t, &table));
    memcpy(dims, x->dims, sizeof *dims * (size_t)x->rank);
    dims[axis] = t.places;
    dims[x->rank - 1] = t.out_parts;
    AT_TRY(op_out(o, 0, x->type, x->rank, dims));
    op_add(o, "y0[%s] = sum(n:%lld, i:%lld) x0[", op_axes(o, "a", x->rank, dims),
           (long long)t.terms, (long long)t.in_parts);
    for (int i = 0; i < x->rank - 1; i++) op_add(o, i == axis ? "n, " : "a%d, ", i);
    op_add(o, "i]*x%d[n, i, a%d, a%d]\n", table, axis, x->rank - 1);
    return AT_OK;
}

static at_status stft(net_op *o) {
    const at_net_value *x = op_in(o, 0), *window = op_in(o, 2);
    transform t = {.length = window && window->rank == 1 ? window->dims[0] : 0, .out_parts = 2};
    int64_t step = 0;
    int table;
    AT_TRY(take_number(o, 1, 1, &step));
    AT_TRY(take_number(o, 3, 1, &t.length));
    if (x->rank != 2 && x->rank != 3)
        return op_fail(o, "\"%s\" has %d dimensions; 2 or 3 are accepted", x->name, x->rank);
    t.in_parts = x->rank == 3 ? x->dims[2] : 1;
    if (!step || t.length < 1 || t.length > x->dims[1] || t.in_parts < 1 || t.in_parts > 2 ||
        (window && (window->rank != 1 || window->dims[0] != t.length)))
        return op_fail(o, "frames of %lld elements in steps of %lld do not fit \"%s\" or a window",
                       (long long)t.length, (long long)step, x->name);
    t.terms = t.length;
    t.places = op_int(o, "onesided", 1) ? t.length / 2 + 1 : t.length;
    AT_TRY(add_table(o, &t, &table));
    const int64_t dims[] = {x->dims[0], (x->dims[1] - t.length) / step + 1, t.places, 2};
    AT_TRY(op_out(o, 0, x->type, 4, dims));
    const char *by = op_format(o, "x%d", table);
    if (window) {
        op_add(o, "w[n:%lld, i:%lld, a2:%lld, a3:2] = x%d[n, i, a2, a3]*x2[n]\n",
               (long long)t.terms, (long long)t.in_parts, (long long)t.places, table);
        by = "w";
    }
    op_add(o, "y0[%s] = sum(n:%lld, i:%lld) x0[a0, a1*%lld + n%s]*%s[n, i, a2, a3]\n",
           op_axes(o, "a", 4, dims), (long long)t.terms, (long long)t.in_parts, (long long)step,
           x->rank == 3 ? ", i" : "", by);
    return AT_OK;
}

/* ---- mel ------------------------------------------------------------------------------------- */

static double mel_of(double hertz) { return 2595 * log10(1 + hertz / 700); }
static double hertz_of(double mel) { return 700 * (pow(10, mel / 2595) - 1); }

/* How much of a band a bin of a spectrum counts: up to the band's middle and down again. */
static double mel_weight(const int64_t *edges, int64_t bin) {
    if (bin >= edges[1] && bin < edges[2])
        return (double)(edges[2] - bin) / (double)(edges[2] - edges[1]);
    if (bin == edges[1]) return 1;
    return bin < edges[0] || bin > edges[1]
               ? 0
               : (double)(bin - edges[0]) / (double)(edges[1] - edges[0]);
}

static at_status mel_weights(net_op *o) {
    const at_net_type type = (at_net_type)op_int(o, "output_datatype", AT_NET_FLOAT);
    const int64_t *sizes[3];
    const double *ends[2];
    int n;
    for (int k = 0; k < 5; k++) {
        AT_TRY(k < 3 ? op_known_ints(o, k, &sizes[k], &n)
                     : op_known_floats(o, k, &ends[k - 3], &n));
        if (n != 1) return op_fail(o, "\"%s\" is no single number", op_in(o, k)->name);
    }
    const int64_t bands = *sizes[0], length = *sizes[1], dims[] = {length / 2 + 1, bands};
    const double low = *ends[0], high = *ends[1];
    if (!at_net_type_is_float(type)) return op_missing(o, "of element type %d", (int)type);
    if (bands < 1 || bands > MOST_LENGTH || length < 1 || length > MOST_LENGTH || *sizes[2] < 1 ||
        !(low >= 0) || !(high >= low) || !(high * 2 <= (double)*sizes[2]))
        return op_fail(o,
                       "1 to %d bands and bins are accepted, and two edges from 0 up to half of "
                       "the sample rate",
                       MOST_LENGTH);
    AT_TRY(op_out(o, 0, type, 2, dims));
    void *data;
    AT_TRY(op_constant(o, 0, &data));
    int64_t *edges = AT_NEW_ARRAY(o->arena, int64_t, bands + 2);
    const double step = (mel_of(high) - mel_of(low)) / (double)(bands + 2);
    for (int64_t i = 0; i < bands + 2; i++)
        edges[i] = (int64_t)floor((double)(length + 1) * hertz_of(mel_of(low) + step * (double)i) /
                                  (double)*sizes[2]);
    for (int64_t i = 0; i < dims[0] * bands; i++)
        at_net_store(type, data, i, mel_weight(&edges[i % bands], i / bands));
    return AT_OK;
}

const at_net_row net_rows_signal[] = {
    {"MelWeightMatrix", "", 17, AT_NET_OTHER, 5, 5, 1, mel_weights},
    {"DFT", "", 17, AT_NET_OTHER, 1, 3, 1, dft},
    {"STFT", "", 17, AT_NET_OTHER, 2, 4, 1, stft},
    NET_ROWS_END,
};
