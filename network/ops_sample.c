/* network/ops_sample.c: elements at places that are worked out from data. A place is one number for
 * each axis of a picture; the elements around it are taps, each with a weight for each axis. */
#include "network/network_int.h"

#include <string.h>

typedef enum padding { ZEROS, BORDER, REFLECTION } padding;

typedef struct sampling {
    net_op *o;
    int axes; /* of the picture: y, x */
    int taps; /* of each axis: 1 the nearest, 2 linear, 4 cubic */
    padding padding;
    bool aligned;      /* -1 and 1 are the centres of the outer elements, not their outer edges */
    const char *of;    /* axes of a stage with one number for each place */
    const char *place; /* the index of such a stage */
} sampling;

/* ---- GridSample ------------------------------------------------------------------------------ */

static int64_t size_of(const sampling *s, int axis) { return op_in(s->o, 0)->dims[2 + axis]; }

/* Where the picture ends, as reflections see it. */
static double first_edge(const sampling *s) { return s->aligned ? 0 : -0.5; }
static double last_edge(const sampling *s, int axis) {
    return (double)size_of(s, axis) - (s->aligned ? 1 : 0.5);
}

/* The stage p<axis>: the place along an axis, brought into the picture as the padding says. */
static void add_place(const sampling *s, int axis) {
    net_op *o = s->o;
    const double n = (double)size_of(s, axis);
    const char *lo = op_number(o, first_edge(s)), *hi = op_number(o, last_edge(s, axis)),
               *g = op_format(o, "(x1[%s, %d] + 1)*%s%s", s->place, s->axes - 1 - axis,
                              op_number(o, (s->aligned ? n - 1 : n) / 2),
                              s->aligned ? "" : " - 0.5");
    if (s->taps == 1) g = op_format(o, "round(%s)", g);
    /* Taps of a cubic place are brought into the picture one by one. */
    if (s->padding == ZEROS || (s->padding == BORDER && s->taps == 4)) {
        op_add(o, "p%d[%s] = %s\n", axis, s->of, g);
        return;
    }
    op_add(o, "g%d[%s] = %s\n", axis, s->of, g);
    g = op_format(o, "g%d[%s]", axis, s->place);
    if (s->padding == BORDER || last_edge(s, axis) == first_edge(s)) {
        op_add(o, "p%d[%s] = %s < %s ? 0 : %s > %s ? %s : %s\n", axis, s->of, g, lo, g, hi,
               op_number(o, n - 1), g);
        return;
    }
    /* d behind an edge, after m whole lengths between the edges and what is left of d: from which
     * edge that counts is a matter of whether m is even. */
    const char *length = op_number(o, last_edge(s, axis) - first_edge(s));
    op_add(o, "d%d[%s] = max(%s - %s, %s - %s)\n", axis, s->of, lo, g, g, hi);
    const char *d = op_format(o, "d%d[%s]", axis, s->place);
    op_add(o, "m%d[%s] = floor(%s/%s)\n", axis, s->of, d, length);
    op_add(o, "l%d[%s] = %s - m%d[%s]*%s\n", axis, s->of, d, axis, s->place, length);
    op_add(o, "h%d[%s] = (m%d[%s] + (%s < %s ? 0 : 1))*0.5\n", axis, s->of, axis, s->place, g, lo);
    op_add(
        o, "p%d[%s] = !(%s > 0) ? %s : h%d[%s] == floor(h%d[%s]) ? %s + l%d[%s] : %s - l%d[%s]\n",
        axis, s->of, d, g, axis, s->place, axis, s->place, lo, axis, s->place, hi, axis, s->place);
}

/* The weight of a tap of a place: by how far it is away. */
static const char *weight_of(const sampling *s, int axis, int tap) {
    const char *p = op_format(s->o, "p%d[%s]", axis, s->place);
    const char *t = op_format(s->o, "(%s - floor(%s))", p, p);
    const char *u = op_format(s->o, "(1 - (%s - floor(%s)))", p, p);
    if (s->taps == 1) return "1";
    if (s->taps == 2) return tap ? t : u;
    if (tap == 0) return op_format(s->o, "-0.75*%s*%s*%s", t, u, u);
    if (tap == 3) return op_format(s->o, "-0.75*%s*%s*%s", u, t, t);
    if (tap == 2) t = u;
    return op_format(s->o, "(1.25*%s - 2.25)*%s*%s + 1", t, t, t);
}

/* The stages i<axis><tap>, which element a tap is, and w<axis><tap>, its weight. */
static void add_tap(const sampling *s, int axis, int tap) {
    net_op *o = s->o;
    const int64_t last = size_of(s, axis) - 1;
    const int from = s->taps == 4 ? tap - 1 : tap;
    const char *at =
        op_format(o, s->taps == 1 ? "round(p%d[%s])" : "floor(p%d[%s])", axis, s->place);
    if (from) at = op_format(o, "(%s %c %d)", at, from < 0 ? '-' : '+', from < 0 ? -from : from);
    const char *in = at, *weight = weight_of(s, axis, tap);
    if (s->taps == 4 && s->padding == REFLECTION)
        in = op_format(o, "min(max(%s, %s - %s), %s - %s)", at, op_number(o, 2 * first_edge(s)), at,
                       op_number(o, 2 * last_edge(s, axis)), at);
    op_add(o, "i%d%d[%s] : s32 = min(max(%s, 0), %lld)\n", axis, tap, s->of, in, (long long)last);
    if (s->padding == ZEROS)
        op_add(o, "w%d%d[%s] = %s >= 0 && %s <= %lld ? %s : 0\n", axis, tap, s->of, at, at,
               (long long)last, weight);
    else if (s->taps > 1) op_add(o, "w%d%d[%s] = %s\n", axis, tap, s->of, weight);
}

/* What the taps of this axis and the later ones come to; index: of the taps before. */
static const char *weighted(const sampling *s, int axis, const char *index) {
    const char *sum = NULL;
    if (axis == s->axes) return op_format(s->o, "x0[%s]", index);
    for (int tap = 0; tap < s->taps; tap++) {
        const char *term =
            weighted(s, axis + 1, op_format(s->o, "%s, i%d%d[%s]", index, axis, tap, s->place));
        if (s->taps > 1 || s->padding == ZEROS)
            term = op_format(s->o, "%s*w%d%d[%s]", term, axis, tap, s->place);
        sum = sum ? op_format(s->o, "%s + %s", sum, term) : term;
    }
    return s->taps > 1 ? op_format(s->o, "(%s)", sum) : sum;
}

static at_status take_words(sampling *s) {
    const char *mode = op_string(s->o, "mode", s->o->node->version < 20 ? "bilinear" : "linear"),
               *pads = op_string(s->o, "padding_mode", "zeros");
    if (!strcmp(mode, "nearest")) s->taps = 1;
    else if (!strcmp(mode, "linear") || !strcmp(mode, "bilinear")) s->taps = 2;
    else if (!strcmp(mode, "cubic") || !strcmp(mode, "bicubic")) s->taps = 4;
    else return op_missing(s->o, "mode %s", mode);
    if (!strcmp(pads, "zeros")) s->padding = ZEROS;
    else if (!strcmp(pads, "border")) s->padding = BORDER;
    else if (!strcmp(pads, "reflection")) s->padding = REFLECTION;
    else return op_missing(s->o, "padding_mode %s", pads);
    if (s->taps == 4 && s->axes > 2) return op_missing(s->o, "mode %s of %d axes", mode, s->axes);
    return AT_OK;
}

static at_status grid_sample(net_op *o) {
    const at_net_value *x = op_in(o, 0), *grid = op_in(o, 1);
    sampling s = {.o = o, .axes = x->rank - 2, .aligned = op_int(o, "align_corners", 0) != 0};
    int64_t dims[AT_NET_MAX_RANK];
    if (x->rank < 3 || grid->rank != x->rank || grid->dims[grid->rank - 1] != s.axes ||
        grid->dims[0] != x->dims[0])
        return op_fail(o,
                       "\"%s\" is no grid for \"%s\"; one of %d numbers for each place and as "
                       "many pictures is accepted",
                       grid->name, x->name, x->rank - 2);
    AT_TRY(take_words(&s));
    memcpy(dims, x->dims, sizeof *dims * 2);
    memcpy(dims + 2, grid->dims + 1, sizeof *dims * (size_t)s.axes);
    AT_TRY(op_out(o, 0, x->type, x->rank, dims));
    at_text of = {0}, place = {0};
    at_text_addf(&of, "a0:%lld", (long long)dims[0]);
    at_text_add(&place, "a0");
    for (int i = 2; i < x->rank; i++) {
        if (!x->dims[i]) return op_fail(o, "\"%s\" has no elements", x->name);
        at_text_addf(&of, ", a%d:%lld", i, (long long)dims[i]);
        at_text_addf(&place, ", a%d", i);
    }
    s.of = at_text_take(o->arena, &of);
    s.place = at_text_take(o->arena, &place);
    for (int i = 0; i < s.axes; i++) {
        add_place(&s, i);
        for (int tap = 0; tap < s.taps; tap++) add_tap(&s, i, tap);
    }
    op_add(o, "y0[%s] = %s\n", op_axes(o, "a", x->rank, dims), weighted(&s, 0, "a0, a1"));
    return AT_OK;
}

/* ---- AffineGrid ------------------------------------------------------------------------------ */

static at_status affine_grid(net_op *o) {
    const at_net_value *theta = op_in(o, 0);
    const bool aligned = op_int(o, "align_corners", 0) != 0;
    const int64_t *sizes;
    int n;
    AT_TRY(op_known_ints(o, 1, &sizes, &n));
    const int axes = n - 2;
    if ((axes != 2 && axes != 3) || theta->rank != 3 || theta->dims[0] != sizes[0] ||
        theta->dims[1] != axes || theta->dims[2] != axes + 1)
        return op_fail(o,
                       "\"%s\" is no theta for %d sizes; N x 2 x 3 for 4 of them or N x 3 x 4 "
                       "for 5 are accepted",
                       theta->name, n);
    int64_t dims[AT_NET_MAX_RANK] = {sizes[0]};
    for (int i = 0; i < axes; i++) dims[1 + i] = sizes[2 + i];
    dims[1 + axes] = axes;
    AT_TRY(op_out(o, 0, theta->type, axes + 2, dims));
    op_add(o, "y0[%s] = x0[a0, a%d, %d]", op_axes(o, "a", axes + 2, dims), axes + 1, axes);
    for (int i = 0; i < axes; i++) {
        const double size = (double)dims[axes - i], steps = aligned ? size - 1 : size;
        op_add(o, " + x0[a0, a%d, %d]*(a%d*%s%s)", axes + 1, i, axes - i,
               op_number(o, steps > 0 ? 2 / steps : 0),
               !aligned    ? op_format(o, " + %s", op_number(o, 1 / size - 1))
               : steps > 0 ? " - 1"
                           : ""); /* one element is in the middle, as in PyTorch */
    }
    op_add(o, "\n");
    return AT_OK;
}

/* ---- DeformConv ------------------------------------------------------------------------------ */

typedef struct deformed {
    int64_t kernel[2], out[2], strides[2], dilations[2], pads[4];
    int64_t groups, offset_groups;
} deformed;

static at_status take_deformed(net_op *o, deformed *d) {
    const at_net_value *x = op_in(o, 0), *w = op_in(o, 1), *offset = op_in(o, 2),
                       *mask = op_in(o, 4);
    d->groups = op_int(o, "group", 1);
    d->offset_groups = op_int(o, "offset_group", 1);
    if (x->rank != 4) return op_missing(o, "of %d dimensions", x->rank);
    AT_TRY(op_numbers(o, "strides", 2, 1, d->strides));
    AT_TRY(op_numbers(o, "dilations", 2, 1, d->dilations));
    AT_TRY(op_numbers(o, "pads", 4, 0, d->pads));
    if (w->rank != 4 || offset->rank != 4)
        return op_fail(o, "a weight and offsets of 4 dimensions are needed");
    for (int i = 0; i < 2; i++) d->kernel[i] = w->dims[2 + i], d->out[i] = offset->dims[2 + i];
    const int64_t taps = d->kernel[0] * d->kernel[1], m = w->dims[0], c = x->dims[1];
    if (d->groups < 1 || d->offset_groups < 1 || m % d->groups || c != w->dims[1] * d->groups ||
        c % d->offset_groups || offset->dims[1] != d->offset_groups * taps * 2 ||
        offset->dims[0] != x->dims[0] || !x->dims[2] || !x->dims[3])
        return op_fail(o, "sizes of data, weight and offsets do not fit each other");
    if (mask &&
        (mask->rank != 4 || mask->dims[1] != d->offset_groups * taps ||
         mask->dims[0] != x->dims[0] || mask->dims[2] != d->out[0] || mask->dims[3] != d->out[1]))
        return op_fail(o, "sizes of mask and offsets do not fit each other");
    if (op_in(o, 3) && op_in(o, 3)->elements != m)
        return op_fail(o, "\"%s\" has no element for each of %lld channels", op_in(o, 3)->name,
                       (long long)m);
    return AT_OK;
}

/* The stage v: what each element of the kernel sees of each channel. */
static void add_seen(net_op *o, const deformed *d) {
    const at_net_value *x = op_in(o, 0);
    const int64_t per = x->dims[1] / d->offset_groups, taps = d->kernel[0] * d->kernel[1];
    sampling s = {.o = o, .axes = 2, .taps = 2, .padding = ZEROS, .place = "a0, g, k0, k1, a2, a3"};
    const char *rest =
        op_format(o, "k0:%lld, k1:%lld, a2:%lld, a3:%lld", (long long)d->kernel[0],
                  (long long)d->kernel[1], (long long)d->out[0], (long long)d->out[1]);
    s.of = op_format(o, "a0:%lld, g:%lld, %s", (long long)x->dims[0], (long long)d->offset_groups,
                     rest);
    for (int i = 0; i < 2; i++) {
        op_add(o,
               "p%d[%s] = x2[a0, (g*%lld + k0*%lld + k1)*2 + %d, a2, a3] + (a%d*%lld + k%d*%lld - "
               "%lld)\n",
               i, s.of, (long long)taps, (long long)d->kernel[1], i, 2 + i,
               (long long)d->strides[i], i, (long long)d->dilations[i], (long long)d->pads[i]);
        for (int tap = 0; tap < 2; tap++) add_tap(&s, i, tap);
    }
    s.place = op_format(o, "a0, c/%lld, k0, k1, a2, a3", (long long)per);
    op_add(o, "v[a0:%lld, c:%lld, %s] = %s", (long long)x->dims[0], (long long)x->dims[1], rest,
           weighted(&s, 0, "a0, c"));
    if (op_in(o, 4))
        op_add(o, "*x4[a0, c/%lld*%lld + k0*%lld + k1, a2, a3]", (long long)per, (long long)taps,
               (long long)d->kernel[1]);
    op_add(o, "\n");
}

static at_status deform_conv(net_op *o) {
    const at_net_value *x = op_in(o, 0), *w = op_in(o, 1);
    deformed d;
    AT_TRY(take_deformed(o, &d));
    const int64_t dims[] = {x->dims[0], w->dims[0], d.out[0], d.out[1]}, own = w->dims[1];
    AT_TRY(op_out(o, 0, x->type, 4, dims));
    add_seen(o, &d);
    const char *of = op_axes(o, "a", 4, dims), *channel = "c";
    if (d.groups > 1)
        channel = op_format(o, "a1/%lld*%lld + c", (long long)(dims[1] / d.groups), (long long)own);
    op_add(o,
           "%s[%s] = sum(c:%lld, k0:%lld, k1:%lld) v[a0, %s, k0, k1, a2, a3]*x1[a1, c, k0, k1]\n",
           op_in(o, 3) ? "s" : "y0", of, (long long)own, (long long)d.kernel[0],
           (long long)d.kernel[1], channel);
    if (op_in(o, 3)) op_add(o, "y0[%s] = s[a0, a1, a2, a3] + x3[a1]\n", of);
    return AT_OK;
}

const at_net_row net_rows_sample[] = {
    {"DeformConv", "", 19, AT_NET_OTHER, 3, 5, 1, deform_conv},
    {"AffineGrid", "", 20, AT_NET_OTHER, 2, 2, 1, affine_grid},
    {"GridSample", "", 16, AT_NET_OTHER, 2, 2, 1, grid_sample},
    NET_ROWS_END,
};
