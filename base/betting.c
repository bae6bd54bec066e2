/* base/betting.c: is a median 0? A bet on each sign, fair if it is: the capital that betting on one
 * side would have won says how sure one is, and a fair game lets it grow to 1/level with a
 * probability of at most level, whenever one looks, also where values depend on those before.
 * Sources: J. Ville, Etude critique de la notion de collectif (1939); H. Robbins, Statistical
 * methods related to the law of the iterated logarithm (1970); S. R. Howard, A. Ramdas, Sequential
 * estimation of quantiles (2022). */
#include "base/base.h"

#include <math.h>
#include <stdlib.h>

/* Who knew the share of positive signs would bet by it; here the bets are a mean over all shares,
 * with the weights of a beta distribution of these two equal parameters. One for large differences,
 * which show in a dozen of signs, one for small ones, which take hundreds. */
static const double wide = 0.5, narrow = 8;

static double log_beta(double x, double y) {
    int sign; /* all gammas here are positive; lgamma itself writes to a global */
    return lgamma_r(x, &sign) + lgamma_r(y, &sign) - lgamma_r(x + y, &sign);
}

double at_sign_bet(int64_t above, int64_t below, double prior) {
    return (double)(above + below) * log(2) +
           log_beta((double)above + prior, (double)below + prior) - log_beta(prior, prior);
}

double at_sign_evidence(int64_t above, int64_t below) {
    double x = at_sign_bet(above, below, wide), y = at_sign_bet(above, below, narrow);
    double most = fmax(x, y);
    return most + log((exp(x - most) + exp(y - most)) / 2);
}

/* A value below the k + 1 smallest would have at most k values below it, and all others above: so
 * many are too few. -1: even none is not. */
static int64_t too_few(int64_t n, double level) {
    double enough = -log(level);
    int64_t low = -1, high = n / 2; /* the evidence falls until both sides are as many */
    while (low < high) {
        int64_t k = (low + high + 1) / 2;
        if (at_sign_evidence(k, n - k) >= enough) low = k;
        else high = k - 1;
    }
    return low;
}

at_interval at_median_always(const double *values, int n, double level) {
    at_interval all = {0, -INFINITY, INFINITY};
    if (n <= 0) return all;
    double *sorted = at_sorted_copy(values, n);
    int64_t k = too_few(n, level);
    all.median = at_sorted_median(sorted, n);
    if (k >= 0 && 2 * (k + 1) > n) k = (n - 1) / 2;
    if (k >= 0) all.low = sorted[k], all.high = sorted[n - 1 - k];
    free(sorted);
    return all;
}
