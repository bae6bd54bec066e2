/* Long sums of floats are added up in blocks: what a tile with one comes to has the error of some
 * dozens of terms, however many there are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/tile/tile_make.h"
#include "tests/codegen/support.h"

enum { ROWS = 4, COLUMNS = 16, MOST_TERMS = 4096 };

/* The only tile of x*w, whose sum has so many terms, in `outer` turns of a loop. */
static const at_tile *product(at_arena *a, const char *isa, int terms, int outer) {
    const program p = {"product",
                       at_format(a, "M=%d N=%d K=%d ko=%d ki=%d mi=%d ni=%d", ROWS, COLUMNS, terms,
                                 outer, terms / outer, ROWS, COLUMNS),
                       "x[M, K] : input\n"
                       "w[K, N] : input\n"
                       "y[m:M, n:N] = sum(k:K) x[m, k]*w[k, n]\n",
                       "ko, ki, mi:unroll, ni:vec =>\n"
                       "    @y = mi, ni  // {ko, ki}/k\n"};
    at_low *l = lowered_for(a, &p, AT_DIALECT_GNU, at_target_find(isa), "tiles");
    assert_int_equal(l->tiles.len, 1);
    return l->tiles.data[0];
}

static float random_number(uint32_t *state) {
    *state = *state * 1664525 + 1013904223;
    return (float)(*state >> 8) / (1 << 23) - 1;
}

/* The root of the mean square of the errors, over that of what they are errors of. */
static double error_of(const at_tile *t, int terms) {
    static float x[ROWS * MOST_TERMS], w[MOST_TERMS * COLUMNS], y[ROWS * COLUMNS];
    float *slots[AT_TILE_MAX_SLOTS] = {NULL};
    double errors = 0, squares = 0;
    uint32_t state = 1;
    for (int i = 0; i < ROWS * terms; i++) x[i] = random_number(&state);
    for (int i = 0; i < terms * COLUMNS; i++) w[i] = random_number(&state);
    for (int i = 0; i < t->num_slots; i++)
        slots[i] = !strcmp(t->slot_name[i], "x") ? x : !strcmp(t->slot_name[i], "w") ? w : y;
    at_tile_interpret(t, slots, NULL);
    for (int m = 0; m < ROWS; m++)
        for (int n = 0; n < COLUMNS; n++) {
            double sum = 0;
            for (int k = 0; k < terms; k++) sum += (double)x[m * terms + k] * w[k * COLUMNS + n];
            errors += (y[m * COLUMNS + n] - sum) * (y[m * COLUMNS + n] - sum);
            squares += sum * sum;
        }
    return sqrt(errors / squares);
}

/* One chain of 4096 terms errs by 1.4e-6. */
static void errors_do_not_grow(void **state) {
    (void)state;
    static const struct {
        int terms, outer;
    } sums[] = {{4096, 1}, {4096, 4096}, {4096, 16}, {4093, 1}, {3072, 3},
                {1021, 1}, {600, 1},     {384, 1},   {147, 7}};
    static const char *const sets[] = {"avx2", "avx512", "neon"};
    for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++)
        for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++) {
            at_arena *a = at_arena_new();
            const at_tile *t = product(a, sets[s], sums[i].terms, sums[i].outer);
            const double error = error_of(t, sums[i].terms);
            if (error > 3e-7)
                fail_msg("%s, %d terms in %d turns: %g", sets[s], sums[i].terms, sums[i].outer,
                         error);
            assert_true(t->num_spilled > 0);
            at_arena_free(a);
        }
}

static void short_sums_stay(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    assert_int_equal(product(a, "avx512", 72, 1)->num_spilled, 0);
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_do_not_grow),
        cmocka_unit_test(short_sums_stay),
    };
    return cmocka_run_group_tests_name("blocks", tests, NULL, NULL);
}
