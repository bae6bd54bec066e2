/* tuners/value_features.c: features of a point where nothing is known but the values of its knobs:
 * the numbers, and of each the power of two in it and the rest, since 64 and 128 are alike on
 * hardware whose widths are powers of two, and 72 and 96 are not like them. */
#include "tuners/model.h"

#include <math.h>
#include <stdlib.h>

enum { FACTORS = 2, LARGEST = 1 << 24 /* that a float has exactly */ };

/* Where values are no numbers. */
static int digits_of(const at_space *space, int64_t index, float *out, int max) {
    int n = at_space_num_knobs(space);
    int64_t *digits = malloc(sizeof *digits * (size_t)(n + 1));
    AT_NEED(digits);
    at_space_digits(space, index, digits);
    for (int k = 0; k < n && k < max; k++) out[k] = (float)digits[k];
    free(digits);
    return n;
}

static void add_factors(float x, float *out) {
    bool whole = x >= 1 && x <= (float)LARGEST && x == floorf(x);
    int number = whole ? (int)x : 0, power = number & -number;
    out[0] = whole ? (float)power : 0;
    out[1] = whole ? (float)(number / power) : 0;
}

static int features_of(void *ctx, int64_t index, float *out, int max) {
    const at_space *space = ctx;
    at_arena *a = at_arena_new();
    at_config config;
    int n = -1;
    if (at_config_at(a, space, index, &config, NULL) == AT_OK) {
        n = at_config_features(&config, NULL);
        if (n >= 0 && n <= max) at_config_features(&config, out);
        if (n < 0) n = digits_of(space, index, out, max);
        if (n * (1 + FACTORS) <= max)
            for (int i = 0; i < n; i++) add_factors(out[i], out + n + FACTORS * i);
        n *= 1 + FACTORS;
    }
    at_arena_free(a);
    return n;
}

at_features at_value_features(at_space *space) { return (at_features){features_of, space}; }
