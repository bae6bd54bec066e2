/* Products with weights in ggml's blocks: what the template's text makes of random blocks is what
 * they are when they are taken apart here, byte by byte. */
#include "tests/templates/support.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = 3, OUTPUTS = 32, TERMS = 512 };

static double half_of(const int32_t *bytes) {
    const int bits = (bytes[0] & 255) | (bytes[1] & 255) << 8;
    assert_in_range(bits >> 10 & 31, 1, 30);
    return ldexp((bits >> 15 ? -1.0 : 1.0) * (1 + (bits & 1023) / 1024.0), (bits >> 10 & 31) - 15);
}

/* The weight of number k within its block. */
static double of_q4_0(const int32_t *block, int k) {
    const int byte = block[2 + k % 16];
    return half_of(block) * ((k < 16 ? byte % 16 : byte / 16) - 8);
}

static double of_q8_0(const int32_t *block, int k) { return half_of(block) * block[2 + k]; }

static double of_q4_k(const int32_t *block, int k) {
    const int part = k / 32, byte = block[16 + k / 64 * 32 + k % 32];
    const int32_t *six = block + 4; /* 8 scales and 8 minima of 6 bits */
    const int scale = part < 4 ? six[part] % 64 : six[part + 4] % 16 + six[part - 4] / 64 * 16;
    const int least = part < 4 ? six[part + 4] % 64 : six[part + 4] / 16 + six[part] / 64 * 16;
    const int number = part % 2 ? byte / 16 : byte % 16;
    return half_of(block) * scale * number - half_of(block + 2) * least;
}

typedef struct format {
    const char *name;
    int terms, bytes, halves; /* of a block; floats of 16 bits that it begins with */
    bool is_signed;
    double (*weight)(const int32_t *block, int k);
} format;

/* Integers, the largest of which in each block is 127: as bytes they are the same. */
static void fill_data(at_rng *rng, float *x) {
    for (int i = 0; i < ROWS * TERMS; i++)
        x[i] = i % 32 == 5 ? 127 : (float)((int)at_rng_below(rng, 255) - 127);
}

static void fill_weight(at_rng *rng, const format *f, int32_t *w) {
    for (int i = 0; i < OUTPUTS * TERMS / f->terms * f->bytes; i++) {
        const int at = i % f->bytes;
        w[i] = (int32_t)at_rng_below(rng, 256) - (f->is_signed ? 128 : 0);
        if (at < 2 * f->halves && at % 2) w[i] = 0x28 + (int32_t)at_rng_below(rng, 16);
    }
}

static void check(void **state, const format *f) {
    char args[64];
    snprintf(args, sizeof args, "M=%d,N=%d,K=%d", ROWS, OUTPUTS, TERMS);
    at_task *t = task_of(*state, row_named(f->name), args);
    const at_compute *c = at_task_compute(t);
    at_data *x = AT_NEW_ARRAY(*state, at_data, c->num_tensors);
    at_config config = config_at(*state, t, at_space_range_length(at_task_space(t)) - 1);
    at_program *p;
    at_error err = {0};
    at_rng rng;
    at_rng_seed(&rng, 53, 1);
    float *data = AT_NEW_ARRAY(*state, float, ROWS *TERMS);
    int32_t *w = AT_NEW_ARRAY(*state, int32_t, OUTPUTS * TERMS / f->terms * f->bytes);
    fill_data(&rng, data);
    fill_weight(&rng, f, w);
    if (at_task_program(*state, t, &config, &p, &err) != AT_OK) fail_msg("%s", err.text);
    x[at_compute_find(c, "data")].f = data;
    x[at_compute_find(c, "weight")].i = w;
    if (at_program_interpret(*state, p, x, &err) != AT_OK) fail_msg("%s", err.text);
    const float *out = x[at_compute_find(c, "out")].f;
    for (int m = 0; m < ROWS; m++)
        for (int n = 0; n < OUTPUTS; n++) {
            double sum = 0, size = 0;
            for (int k = 0; k < TERMS; k++) {
                const int32_t *block = w + (n * TERMS + k) / f->terms * f->bytes;
                const double term = (double)data[m * TERMS + k] * f->weight(block, k % f->terms);
                sum += term, size += fabs(term);
            }
            const double got = (double)out[m * OUTPUTS + n];
            if (!(fabs(got - sum) <= 1e-6 * size))
                fail_msg("%s[%d, %d]: %g, not %g", f->name, m, n, got, sum);
        }
}

static void blocks(void **state) {
    static const format formats[] = {{"dense_q4_0", 32, 18, 1, false, of_q4_0},
                                     {"dense_q8_0", 32, 34, 1, true, of_q8_0},
                                     {"dense_q4_k", 256, 144, 2, false, of_q4_k}};
    for (int i = 0; i < 3; i++) check(state, &formats[i]);
}

static void sizes(void **state) {
    expect_refused(
        *state, row_named("dense_q4_0"), "K=40", AT_E_USAGE,
        "--args: dense_q4_0 with M=1,N=4096,K=40: K is a multiple of 32 and N one of 16");
    expect_refused(
        *state, row_named("dense_q4_k"), "K=128", AT_E_USAGE,
        "--args: dense_q4_k with M=1,N=4096,K=128: K is a multiple of 256 and N one of 16");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(blocks, arena_setup, arena_teardown),
        cmocka_unit_test_setup_teardown(sizes, arena_setup, arena_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
