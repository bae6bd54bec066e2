/* templates/conv2d_winograd_nhwc.c: convolution by Winograd's F(m x m, k x k), channels last: data
 * [N, H, W, CI], weight [k, k, CI, CO]; and in blocks of channels: data [N, CI/i, H, W, i].
 * (m+k-1)^2 products a channel make m^2 outputs, where the definition takes k^2*m^2. Sources: A.
 * Lavin and S. Gray, arXiv 1509.09308; points c, -c, 1/c, -1/c: S. A. Alam and others, arXiv
 * 2201.10369. */
#include "templates/template.h"

/* clang-format off */
/* u: transformed weights, packed ahead; v: transformed data; p: their products, summed up in parts of
 * K channels, which keeps errors small; y: outputs. Rows and columns are transformed one after the
 * other. A block of tiles goes all the way while it is in the second-level cache. */
static const char compute[] =
    "%s"
    "weight[KH, KW, CI, CO] : weight\n"
    "%s"
    "strip[n:N, d:(TH + S - 1)/S, r:S*m + KH - 1, x:TW*m + KW - 1, c:CI] = inside ? %s : 0\n"
    "    where y = d*S*m + r - pt, inside = 0 <= y && y < H && pl <= x && x < W + pl\n"
    "g[e:A, j:KW, c:CI, o:CO] = %s\n"
    "u[q:CO/Q, e:A, f:A, c:CI, b:Q] = %s where o = q*Q + b\n"
    "row[n:N, s:TH, t:TW, e:A, j:A, c:CI] = sum(i:A) B[e, i]*strip[n, s/S, s%%S*m + i, t*m + j, c]\n"
    "v[n:N, e:A, f:A, s:TH, t:TW, c:CI] = sum(j:A) B[f, j]*row[n, s, t, e, j, c]\n"
    "part[n:N, e:A, f:A, s:TH, t:TW, z:CI/K, o:CO] = sum(c:K)\n"
    "    v[n, e, f, s, t, z*K + c]*u[o/Q, e, f, z*K + c, o%%Q]\n"
    "p[n:N, e:A, f:A, s:TH, t:TW, o:CO] = sum(z:CI/K) part[n, e, f, s, t, z, o]\n"
    "col[n:N, s:TH, t:TW, e:A, l:m, o:CO] = sum(f:A) T[l, f]*p[n, e, f, s, t, o]\n"
    "y[n:N, s:TH, t:TW, k:m, l:m, o:CO] = sum(e:A) T[k, e]*col[n, s, t, e, l, o]\n"
    "%s";

/* What differs with the layout: data and outputs, how they are read and written, and the leaves that
 * do. */
typedef struct layout {
    const char *data, *read, *out, *copy, *store;
} layout;
static const layout channels_last = {
    "data[N, H, W, CI] : input\n",
    "data[n, y, x - pl, c]",
    "out[n:N, h:OH, w:OW, o:CO] = y[n, h/m, w/m, h%m, w%m, o]\n",
    "    r, x, c:vec =>\n"
    "        @strip = n, sb, r, x, c\n",
    "                    @out = n, {sb, si, k}/h, {to, ti, l}/w, {fo, fi}/o\n"};
static const layout blocks = {
    "data[N, CI/I, H, W, I] : input\n",
    "data[n, c/I, y, x - pl, c%I]",
    "out[n:N, O:CO/Q, h:OH, w:OW, b:Q] = y[n, h/m, w/m, h%m, w%m, O*Q + b]\n",
    "    co, r, x, ci:vec =>\n"
    "        @strip = n, sb, r, x, {co, ci}/c\n",
    "                    @out = n, fo, {sb, si, k}/h, {to, ti, l}/w, fi\n"};

/* %s: copy; the loop over parts with the products in it; store. */
static const char tree[] =
    "q, c, e:unroll, f:unroll, b:vec =>\n"
    "    @u = q, e, f, c, b\n"
    "{n, sb}:para =>\n"
    "%s"
    "    si, to, ti, co =>\n"
    "        j, i:unroll, e:unroll, ci:vec =>\n"
    "            @row = n, {sb, si}/s, {to, ti}/t, e, j, {co, ci}/c  // i\n"
    "        e, j:unroll, f:unroll, ci:vec =>\n"
    "            @v = n, e, f, {sb, si}/s, {to, ti}/t, {co, ci}/c  // j\n"
    "    fo =>\n"
    "        e, f, to =>\n"
    "%s"
    "        si, to, ti =>\n"
    "            e, f:unroll, l:unroll, fi:vec =>\n"
    "                @col = n, {sb, si}/s, {to, ti}/t, e, l, {fo, fi}/o  // f\n"
    "            l =>\n"
    "                e:unroll, k:unroll, fi:vec =>\n"
    "                    @y = n, {sb, si}/s, {to, ti}/t, k, l, {fo, fi}/o  // e\n"
    "                k:unroll, fi:vec =>\n"
    "%s";

static const char one_part[] =
    "            kc, si:unroll, ti:unroll, fi:vec =>\n"
    "                @part = n, e, f, {sb, si}/s, {to, ti}/t, 0, {fo, fi}/o  // kc\n"
    "            si:unroll, ti:unroll, fi:vec =>\n"
    "                @p = n, e, f, {sb, si}/s, {to, ti}/t, {fo, fi}/o  // 0\n";

static const char parts[] =
    "            kp =>\n"
    "                kc, si:unroll, ti:unroll, fi:vec =>\n"
    "                    @part = n, e, f, {sb, si}/s, {to, ti}/t, kp, {fo, fi}/o  // kc\n"
    "                si:unroll, ti:unroll, fi:vec =>\n"
    "                    @p = n, e, f, {sb, si}/s, {to, ti}/t, {fo, fi}/o  // kp\n";
/* clang-format on */

enum { MOST_SIDE = 8 };

/* Where the polynomials are evaluated, infinity aside, by `points`, by the side of a tile. The
 * largest errors of m = 4 and 3x3 with 64 and 256 channels, over the root of the mean square of the
 * output: 0.6 and 0.7, 1.1 and 1.4, 1.4 and 4.2, 0.5 and 1.4, each times 1e-5. */
static const double few[] = {0, 1, -1};
static const double of_six[][5] = {
    {0, 0.70710678118654752, -0.70710678118654752, 1.4142135623730951, -1.4142135623730951},
    {0, 1, -1, 0.5, -2},
    {0, 1, -1, 2, -2},
    {0, 0.75, -0.75, 4 / 3.0, -4 / 3.0}};
static const double many[] = {0, 1, -1, 2, -2, 0.5, -0.5};

static const double *points_of(at_template *t, int side) {
    int set = (int)at_evaluate(t, "points");
    return side == 4 ? few : side == 8 ? many : of_six[set < 4 ? set : 0];
}

/* name[e:ROWS, i:COLUMNS] = {...} */
static const char *table(at_template *t, const char *name, int rows, int columns,
                         double (*x)[MOST_SIDE]) {
    const char *text = at_textf(t, "%s[e:%d, i:%d] = {", name, rows, columns);
    for (int i = 0; i < rows * columns; i++)
        text = at_textf(t, "%s%s%.17g", text, i ? ", " : "", x[i / columns][i % columns]);
    return at_textf(t, "%s}\n", text);
}

/* Coefficients of the product of (x - point) over all points but one. */
static void product(const double *points, int count, int but, double *out) {
    int degree = 0;
    out[0] = 1;
    for (int i = 0; i < count; i++) {
        if (i == but) continue;
        out[++degree] = 0;
        for (int k = degree; k > 0; k--) out[k] = out[k - 1] - points[i] * out[k];
        out[0] *= -points[i];
    }
    while (++degree < MOST_SIDE) out[degree] = 0;
}

/* The transforms of data (B), weights (G) and back (T), whose last point is infinity. */
static const char *transforms(at_template *t, int m, int taps) {
    double b[MOST_SIDE][MOST_SIDE], g[MOST_SIDE][MOST_SIDE], back[MOST_SIDE][MOST_SIDE];
    int side = m + taps - 1, count = side - 1;
    const double *points = points_of(t, side);
    for (int e = 0; e < side; e++) {
        double scale = 1;
        product(points, count, e < count ? e : -1, b[e]);
        for (int i = 0; i < count && e < count; i++)
            if (i != e) scale *= points[e] - points[i];
        double power = 1;
        for (int k = 0; k < side; k++) {
            if (k < taps) g[e][k] = e < count ? power / scale : k == taps - 1;
            if (k < m) back[k][e] = e < count ? power : k == m - 1;
            if (e < count) power *= points[e];
        }
    }
    return at_textf(t, "%s%s%s", table(t, "B", side, side, b), table(t, "G", side, taps, g),
                    table(t, "T", m, side, back));
}

/* Of the taps of a kernel: G[e, 0]*weight[0, j, c, o] + ... */
static const char *over_taps(at_template *t, int taps, const char *term) {
    const char *text = "";
    for (int i = 0; i < taps; i++)
        text = at_textf(t, "%s%s%s", text, i ? " + " : "", at_textf(t, term, i, i));
    return text;
}

static void define_in(at_template *t, const layout *l) {
    int m = (int)at_evaluate(t, "m"), taps = (int)at_evaluate(t, "KH"), side = m + taps - 1;
    int is_known = side == 4 || side == 6 || side == 8;
    at_require(t, "KH == KW && KH >= 2", "the kernel is square, 2x2 or more");
    at_require(t, "m + KH - 1 == 4 || m + KH - 1 == 6 || m + KH - 1 == 8",
               "m and the kernel make tiles of 4, 6 or 8: m is 2, 4 or 6 for 3x3, 2 or 4 for 5x5");
    at_require(t, "m + KH - 1 == 6 ? points < 4 : points == 0",
               "points is 0, or up to 3 where tiles are of 6 (m = 4 for 3x3, 2 for 5x5)");
    at_sizes(t, AT_WINDOW("OH", "H", "KH", "1", "1", "top", "bottom", "pt", "pb"));
    at_sizes(t, AT_WINDOW("OW", "W", "KW", "1", "1", "left", "right", "pl", "pr"));
    at_require(t, "OH >= 1 && OW >= 1", "the kernel exceeds the padded image");
    if (!is_known || m < 2 || taps < 2) m = 2, taps = 3;
    at_sizes(t, "A = m + KH - 1, TH = (OH + m - 1)/m, TW = (OW + m - 1)/m");
    at_split(t, "tile_s", "TH", "sb si", .policy = AT_VERBOSE, .max_factor = 14);
    at_split(t, "tile_t", "TW", "to ti", .policy = AT_FACTORS);
    at_split(t, "tile_co", "CO", "fo fi", .policy = AT_FACTORS);
    at_split(t, "tile_ci", "CI", "co ci", .policy = AT_FACTORS);
    at_split(t, "tile_k", "CI", "kp kc", .policy = AT_FACTORS);
    at_sizes(t, "I = |ci|, Q = |fi|, S = |si|, K = |kc|, k = m, l = m");
    at_compute(t, at_textf(t, compute, l->data, transforms(t, m, taps), l->read,
                           over_taps(t, taps, "G[e, %d]*weight[%d, j, c, o]"),
                           over_taps(t, taps, "G[f, %d]*g[e, %d, c, o]"), l->out));
    at_schedule_when(t, "K == CI", at_textf(t, tree, l->copy, one_part, l->store));
    at_schedule(t, at_textf(t, tree, l->copy, parts, l->store));
    at_flops(t, "2*KH*KW*N*OH*OW*CI*CO");
}

static void define(at_template *t) { define_in(t, &channels_last); }

static void define_blocked(at_template *t) {
    define_in(t, &blocks);
    at_layout(t, "data[n, C, y, x, c] = n, C, c, y, x");
    at_layout(t, "out[n, O, h, w, o] = n, O, o, h, w");
}

/* Two vectors of output channels, and as many tiles as then fit the registers. */
static void defaults(at_template *t, int lanes) {
    long long fi = at_vectors(at_evaluate(t, "CO"), lanes, 2), rows = at_most_rows(fi, lanes);
    long long ci = at_vectors(at_evaluate(t, "CI"), lanes, 4);
    long long ti = at_vectors(at_evaluate(t, "TW"), (int)rows, 1);
    long long si = at_divisor(at_evaluate(t, "TH"), rows / ti);
    at_default(t, "tile_s", &si);
    at_default(t, "tile_t", &ti);
    at_default(t, "tile_co", &fi);
    long long kc = at_divisor(at_evaluate(t, "CI"), 128);
    at_default(t, "tile_ci", &ci);
    at_default(t, "tile_k", &kc);
}

const at_template_row at_conv2d_winograd_nhwc = {
    .name = "conv2d_winograd_nhwc",
    .help = "convolution of stride 1 by Winograd's F(m, k), channels last; 3x3, 5x5",
    .args = "N=1, H=56, W=56, CI=64, CO=64, KH=3, KW=3, padding(top, left, bottom, right)=1 from "
            "0, m=4, "
            "points=0 from 0",
    .sizes = "{N}x{H}x{W}x{CI}_{CO}_{KH}x{KW}",
    .title = "conv{KH}x{KW} {CI} to {CO} @{H}x{W}",
    .record_args =
        "[[\"TENSOR\", [N, H, W, CI], \"float32\"], "
        "[\"TENSOR\", [KH, KW, CI, CO], \"float32\"], 1, padding, 1, \"float32\", m, points]",
    .define = define,
    .defaults = defaults,
};

const at_template_row at_conv2d_winograd_nchwc = {
    .name = "conv2d_winograd_NCHWc",
    .help = "convolution of stride 1 by Winograd's F(m, k), in blocks of channels; 3x3, 5x5",
    .args = "N=1, H=56, W=56, CI=64, CO=64, KH=3, KW=3, padding(top, left, bottom, right)=1 from "
            "0, m=4, "
            "points=0 from 0",
    .sizes = "{N}x{H}x{W}x{CI}_{CO}_{KH}x{KW}",
    .title = "conv{KH}x{KW} {CI} to {CO} @{H}x{W}",
    .record_args =
        "[[\"TENSOR\", [N, CI, H, W], \"float32\"], "
        "[\"TENSOR\", [KH, KW, CI, CO], \"float32\"], 1, padding, 1, \"float32\", m, points]",
    .define = define_blocked,
    .defaults = defaults,
};
