/* tuners/likeness.c: what trials say of other points: logarithms of speeds are taken for a Gaussian
 * process (C. E. Rasmussen, C. K. I. Williams, Gaussian Processes for Machine Learning, 2006,
 * algorithm 2.1). Points are alike as far as their numbers are, each number with a scale of its
 * own, which is found from the trials. */
#include "tuners/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How far two values of a knob are alike, as a share of all its values; how much of the differences
 * is noise; how much of them is the sum of what each number tells by itself. */
static const double scales[AT_NUM_SCALES] = {0.15, 0.3, 0.6, 1.2, 2.5, 5, 12},
                    noises[] = {0.003, 0.03, 0.15}, shares[] = {0, 0.5, 0.9};
enum { NUM_NOISES = sizeof noises / sizeof *noises, NUM_SHARES = sizeof shares / sizeof *shares };
/* Views are drawn in this proportion. */
static const int chances[AT_NUM_SCALES] = {1, 3, 6, 8, 6, 3, 1}, all_chances = 28;
/* Of squares of differences, as if so many had been seen before: powers of two, squared. */
static const double seen_before = 4, square_before = 0.25;
static const double least_variance = 1e-9;

static int ascending(const void *x, const void *y) {
    const float a = *(const float *)x, b = *(const float *)y;
    return (a > b) - (a < b);
}

static int level_of(const at_column *c, float value) {
    int low = 0, high = c->num - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (c->levels[middle] < value) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Matern's function with 5/2: twice differentiable. */
static float alike(double distance, double scale) {
    const double r = sqrt(5) * distance / scale;
    return (float)((1 + r + r * r / 3) * exp(-r));
}

static void make_column(at_column *c, const float *values, int n) {
    c->levels = malloc(sizeof *c->levels * ((size_t)n + 1));
    AT_NEED(c->levels);
    memcpy(c->levels, values, sizeof *values * (size_t)n);
    qsort(c->levels, (size_t)n, sizeof *c->levels, ascending);
    for (int i = 0; i < n; i++)
        if (!c->num || c->levels[i] != c->levels[c->num - 1]) c->levels[c->num++] = c->levels[i];
    for (int s = 0; s < AT_NUM_SCALES; s++) {
        c->alike[s] = malloc(sizeof *c->alike[s] * ((size_t)c->num + 1));
        AT_NEED(c->alike[s]);
        for (int d = 0; d < c->num; d++)
            c->alike[s][d] =
                alike(c->is_text ? d > 0 : (double)d / (c->num > 1 ? c->num - 1 : 1), scales[s]);
    }
}

/* Does a column tell what another one does? */
static bool tells_same(const at_column *c, const at_column *other, const float *const *rows, int n,
                       int at, int other_at) {
    if (c->num != other->num || c->is_text != other->is_text) return false;
    for (int i = 0; i < n; i++)
        if (level_of(c, rows[i][at]) != level_of(other, rows[i][other_at])) return false;
    return true;
}

/* What tells the same as a column before it tells nothing. */
static void drop_copies(at_likeness *p, const float *const *rows, int n) {
    for (int c = 1; c < p->width; c++)
        for (int before = 0; before < c; before++)
            if (tells_same(&p->columns[c], &p->columns[before], rows, n, c, before))
                p->columns[c].num = p->columns[c].num > 0;
}

void at_likeness_init(at_likeness *p, const float *const *rows, int n, const bool *is_text,
                      int width) {
    float *values = malloc(sizeof *values * ((size_t)n + 1));
    *p = (at_likeness){.width = width};
    p->columns = calloc((size_t)width + 1, sizeof *p->columns);
    AT_NEED(values && p->columns);
    for (int i = 0; i < AT_VIEWS; i++) {
        p->views[i].scale = malloc((size_t)width + 1);
        AT_NEED(p->views[i].scale);
    }
    for (int c = 0; c < width; c++) {
        for (int i = 0; i < n; i++) values[i] = rows[i][c];
        p->columns[c].is_text = is_text[c];
        make_column(&p->columns[c], values, n);
    }
    drop_copies(p, rows, n);
    free(values);
}

void at_likeness_free(at_likeness *p) {
    for (int c = 0; c < p->width; c++) {
        free(p->columns[c].levels);
        for (int s = 0; s < AT_NUM_SCALES; s++) free(p->columns[c].alike[s]);
    }
    for (int i = 0; i < AT_VIEWS; i++) free(p->views[i].scale);
    free(p->columns);
}

void at_likeness_levels(const at_likeness *p, const float *row, uint16_t *out) {
    for (int c = 0; c < p->width; c++) out[c] = (uint16_t)level_of(&p->columns[c], row[c]);
}

static double covariance(const at_likeness *p, const at_view *view, const uint16_t *x,
                         const uint16_t *y) {
    double product = 1, sum = 0;
    for (int c = 0; c < p->width; c++) {
        const double one = (double)p->columns[c].alike[view->scale[c]][abs(x[c] - y[c])];
        product *= one;
        sum += one;
    }
    const double share = shares[view->share];
    return share * sum / p->width + (1 - share) * product;
}

/* ---- what trials say of others --------------------------------------------------------------- */

at_factor at_factor_new(const at_likeness *p, const at_view *view, int most,
                        const uint16_t *candidates, int n) {
    at_factor f = {
        .of = p, .view = view, .most = most, .num_candidates = n, .candidates = candidates};
    f.points = malloc(sizeof *f.points * (size_t)(most + 1));
    f.l = malloc(sizeof *f.l * ((size_t)most * (size_t)most + 1));
    f.v = malloc(sizeof *f.v * ((size_t)most * (size_t)n + 1));
    f.variance = malloc(sizeof *f.variance * (size_t)(n + 1));
    AT_NEED(f.points && f.l && f.v && f.variance);
    for (int i = 0; i < n; i++) f.variance[i] = 1;
    return f;
}

void at_factor_free(at_factor *f) {
    free(f->points);
    free(f->l);
    free(f->v);
    free(f->variance);
}

static void narrow_candidates(at_factor *f, const uint16_t *point) {
    const int n = f->n, m = f->num_candidates;
    const double *l = f->l + (size_t)n * (size_t)f->most;
    double *v = f->v + (size_t)n * (size_t)m;
    for (int c = 0; c < m; c++)
        v[c] = covariance(f->of, f->view, point, f->candidates + c * f->of->width);
    for (int j = 0; j < n; j++) {
        const double *other = f->v + (size_t)j * (size_t)m;
        for (int c = 0; c < m; c++) v[c] -= l[j] * other[c];
    }
    for (int c = 0; c < m; c++) {
        v[c] /= l[n];
        f->variance[c] = fmax(f->variance[c] - v[c] * v[c], least_variance);
    }
}

void at_factor_add(at_factor *f, const uint16_t *point) {
    const size_t most = (size_t)f->most;
    double *l = f->l + (size_t)f->n * most, left = 1 + noises[f->view->noise] + 1e-6;
    for (int j = 0; j < f->n; j++) {
        const double *other = f->l + (size_t)j * most;
        double sum = covariance(f->of, f->view, point, f->points[j]);
        for (int k = 0; k < j; k++) sum -= l[k] * other[k];
        l[j] = sum / other[j];
        left -= l[j] * l[j];
    }
    l[f->n] = sqrt(fmax(left, least_variance));
    narrow_candidates(f, point);
    f->points[f->n++] = point;
}

/* z = y without what the points before tell of each. */
void at_factor_whiten(const at_factor *f, const double *y, double *z) {
    for (int i = 0; i < f->n; i++) {
        const double *l = f->l + (size_t)i * (size_t)f->most;
        double sum = y[i];
        for (int k = 0; k < i; k++) sum -= l[k] * z[k];
        z[i] = sum / l[i];
    }
}

double at_spread(const double *z, int n) {
    double sum = seen_before * square_before;
    for (int i = 0; i < n; i++) sum += z[i] * z[i];
    return sum / (seen_before + n);
}

/* ---- views ----------------------------------------------------------------------------------- */

static int drawn_scale(at_rng *rng) {
    int left = (int)at_rng_below(rng, (uint64_t)all_chances), at = 0;
    while (left >= chances[at]) left -= chances[at++];
    return at;
}

static void draw(const at_likeness *p, at_view *view, at_rng *rng) {
    for (int c = 0; c < p->width; c++) view->scale[c] = (uint8_t)drawn_scale(rng);
    view->noise = (uint8_t)at_rng_below(rng, NUM_NOISES);
    view->share = (uint8_t)at_rng_below(rng, NUM_SHARES);
}

/* How likely the trials are by a view, as a logarithm. */
static double likelihood(const at_likeness *p, const at_view *view, const uint16_t *levels,
                         const double *y, int n) {
    at_factor f = at_factor_new(p, view, n, NULL, 0);
    double *z = malloc(sizeof *z * ((size_t)n + 1));
    AT_NEED(z);
    for (int i = 0; i < n; i++) at_factor_add(&f, levels + i * p->width);
    at_factor_whiten(&f, y, z);
    double out = -0.5 * (n + seen_before) * log(at_spread(z, n));
    for (int i = 0; i < n; i++) out -= log(f.l[(size_t)i * (size_t)(n + 1)]);
    free(z);
    at_factor_free(&f);
    return out;
}

void at_likeness_fit(at_likeness *p, const uint16_t *levels, const double *y, int n, at_rng *rng) {
    double all = 0, best = 0;
    for (int i = p->num_kept; i < AT_VIEWS; i++) draw(p, &p->views[i], rng);
    for (int i = 0; i < AT_VIEWS; i++)
        p->views[i].weight = likelihood(p, &p->views[i], levels, y, n);
    p->num_kept = AT_KEPT_VIEWS;
    for (int i = 0; i < p->num_kept; i++)
        for (int k = i + 1; k < AT_VIEWS; k++)
            if (p->views[k].weight > p->views[i].weight) {
                const at_view other = p->views[i];
                p->views[i] = p->views[k];
                p->views[k] = other;
            }
    best = p->views[0].weight;
    for (int i = 0; i < p->num_kept; i++) all += exp(p->views[i].weight - best);
    for (int i = 0; i < p->num_kept; i++) p->views[i].weight = exp(p->views[i].weight - best) / all;
}
