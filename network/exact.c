/* network/exact.c: a network as exact as it is asked to be: it begins with the fastest way of each
 * part; while its outputs are too far from those in double, the part whose replacement takes away
 * the most error for a millisecond is computed in another way. */
#include <math.h>
#include <stdlib.h>

#include "network/net_truth.h"

typedef struct swap {
    int kernel, choice;
    double gain; /* squared error taken away, for a second */
} swap;

typedef AT_VEC(swap) swaps;

typedef struct exact {
    at_net_program *p;
    const at_net_build *build;
    at_net_truth *truth;
    double limit, seconds;
    at_net_distance *errors;
    at_error *err;
} exact;

static bool is_within(const exact *x) {
    for (int i = 0; i < x->truth->net->outputs.len; i++)
        if (!(x->errors[i].most <= x->limit)) return false;
    return true;
}

static at_status compare(exact *x, double *sum) {
    return at_net_truth_compare(x->truth, x->p, x->errors, sum, x->err);
}

/* A time that is not known counts as that of the whole network: kernels whose times are known come
 * before. */
static double time_of(const exact *x, const at_net_kernel *k, int choice) {
    const double time_s = k->choices[choice].time_s;
    return k->count * (time_s > 0 ? time_s : x->seconds);
}

static at_status replace(exact *x, int kernel, int choice, double *sum) {
    AT_TRY(at_net_recompile(x->p, x->build, kernel, choice, x->err));
    AT_TRY(at_net_prepare(x->p, x->err));
    return compare(x, sum);
}

/* How much nearer the outputs are with one kernel replaced. */
static at_status try(exact *x, int kernel, int choice, double sum, swap *out) {
    at_net_kernel *k = &x->p->kernels[kernel];
    double with;
    AT_TRY(replace(x, kernel, choice, &with));
    AT_TRY(at_net_recompile(x->p, x->build, kernel, 0, x->err));
    const double longer = time_of(x, k, choice) - time_of(x, k, 0);
    *out = (swap){kernel, choice, (sum - with) / fmax(longer, 1e-9)};
    return AT_OK;
}

static int by_gain(const void *a, const void *b) {
    const swap *x = a, *y = b;
    if (x->gain != y->gain) return x->gain < y->gain ? 1 : -1;
    return x->kernel != y->kernel ? x->kernel - y->kernel : x->choice - y->choice;
}

/* All replacements that help, the best first. */
static at_status find_swaps(exact *x, double sum, swaps *out) {
    for (int i = 0; i < x->p->num_kernels; i++)
        for (int c = 1; c < x->p->kernels[i].num_choices; c++) {
            swap s;
            AT_TRY(try(x, i, c, sum, &s));
            if (s.gain > 0) *at_push(x->p->arena, out) = s;
        }
    if (out->len) qsort(out->data, (size_t)out->len, sizeof *out->data, by_gain);
    return AT_OK;
}

static double seconds_of(const at_net_program *p) {
    double sum = 0;
    for (int i = 0; i < p->num_kernels; i++)
        sum += p->kernels[i].count * p->kernels[i].choices[0].time_s;
    return fmax(sum, 1e-3);
}

at_status at_net_make_exact(at_net_program *p, const at_net_build *b, at_net_truth *t, double limit,
                            at_net_distance *errors, int *replaced, at_error *err) {
    exact x = {p, b, t, limit, seconds_of(p), errors, err};
    swaps all = {0};
    int *taken = AT_NEW_ARRAY(p->arena, int, p->num_kernels + 1); /* choice of each kernel */
    double sum;
    *replaced = 0;
    AT_TRY(compare(&x, &sum));
    if (is_within(&x)) return AT_OK;
    AT_TRY(find_swaps(&x, sum, &all));
    AT_TRY(at_net_prepare(p, err));
    AT_TRY(compare(&x, &sum));
    for (int i = 0; i < all.len && !is_within(&x); i++) {
        const swap *s = &all.data[i];
        const double before = sum;
        AT_TRY(replace(&x, s->kernel, s->choice, &sum));
        /* Errors of parts may have taken each other away. */
        if (sum >= before) AT_TRY(replace(&x, s->kernel, taken[s->kernel], &sum));
        else taken[s->kernel] = s->choice;
    }
    for (int i = 0; i < p->num_kernels; i++) *replaced += taken[i] > 0;
    return AT_OK;
}
