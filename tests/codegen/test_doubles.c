/* What is made of weights alone is rounded once: on every instruction set, as its tile says
 * (test_tile_code and test_gnu hold code against tiles). What is made of other data is not, so that
 * the property tells something. */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "codegen/tile/tile_make.h"
#include "tests/codegen/support.h"

enum { X = 21, TAPS = 3, ROWS = 6 };

/* Three taps to a sum of six, as a transform does it, whose numbers are no floats. */
#define TRANSFORM(role)                                                                            \
    "w[3, X] : " role "\n"                                                                         \
    "G[e:6, i:3] = {0.1, 0, 0, 0.7, -0.3, 0.9, 0.7, 0.3, 0.9, 0.23, -0.31, 0.43, 0.23, 0.31, "     \
    "0.43, 0, 0, 1}\n"                                                                             \
    "u[e:6, x:X] = G[e, 0]*w[0, x] + G[e, 1]*w[1, x] + G[e, 2]*w[2, x]\n"                          \
    "out[e:6, x:X] = u[e, x]\n"
#define TREE                                                                                       \
    "e:unroll, x:vec =>\n"                                                                         \
    "    @u[dense] = e, x\n"                                                                       \
    "e, x:vec =>\n"                                                                                \
    "    @out = e, x\n"
static const program of_weights = {"of_weights", "X=21", TRANSFORM("weight"), TREE},
                     of_data = {"of_data", "X=21", TRANSFORM("input"), TREE};

static const double g[ROWS][TAPS] = {{0.1, 0, 0},         {0.7, -0.3, 0.9},   {0.7, 0.3, 0.9},
                                     {0.23, -0.31, 0.43}, {0.23, 0.31, 0.43}, {0, 0, 1}};

/* The largest error of an element, in halves of the distance to the next float. */
static double largest_error(const program *p, const at_target *target) {
    at_arena *a = at_arena_new();
    float w[TAPS][X], u[ROWS][X];
    at_rng rng;
    at_rng_seed(&rng, 5, 1);
    for (int i = 0; i < TAPS * X; i++)
        w[i / X][i % X] = (float)((double)at_rng_below(&rng, 1 << 30) / (1 << 28) - 2);
    at_low *l = lowered_for(a, p, AT_DIALECT_TCC, target, "tiles");
    const at_tile *t = NULL;
    for (int i = 0; i < l->tiles.len && !t; i++)
        if (l->tiles.data[i]->num_slots == 2 && l->tiles.data[i]->num_ops > 3 * X / 16)
            t = l->tiles.data[i];
    assert_non_null(t);
    assert_int_equal(t->num_trips, 0);
    float *slots[2];
    for (int i = 0; i < 2; i++) slots[i] = t->slot_written[i] ? u[0] : w[0];
    assert_true(slots[0] != slots[1]);
    at_tile_interpret(t, slots, NULL);
    double most = 0;
    for (int e = 0; e < ROWS; e++)
        for (int x = 0; x < X; x++) {
            double exact = 0;
            for (int i = 0; i < TAPS; i++) exact += g[e][i] * (double)w[i][x];
            float near = (float)exact;
            double half = ((double)nextafterf(fabsf(near), INFINITY) - fabs((double)near)) / 2;
            most = fmax(most, fabs((double)u[e][x] - exact) / half);
        }
    at_arena_free(a);
    return most;
}

static void rounded_once(void **state) {
    (void)state;
    const at_target *target;
    for (int i = 0; (target = at_target_at(i)); i++) {
        double packed = largest_error(&of_weights, target), other = largest_error(&of_data, target);
        if (!(packed <= 1 + 1e-6)) fail_msg("%s: %g halves of a step", target->name, packed);
        if (!(other > 1.1)) fail_msg("%s: %g, though in floats", target->name, other);
    }
}

/* A copy beside it in one loop, of the same weights, is not computed, and changes nothing. */
static void beside_a_copy(void **state) {
    (void)state;
    static const program p = {"beside", "X=21",
                              TRANSFORM("weight") "copy[e:6, y:X] = w[e/2, y]\n"
                                                  "other[e:6, x:X] = copy[e, x]\n",
                              "e =>\n"
                              "    x:vec =>\n"
                              "        @u[dense] = e, x\n"
                              "    y:vec =>\n"
                              "        @copy[dense] = e, y\n"
                              "e, x:vec =>\n"
                              "    @out = e, x\n"
                              "e, x:vec =>\n"
                              "    @other = e, x\n"};
    const at_target *target;
    for (int i = 0; (target = at_target_at(i)); i++) {
        at_arena *a = at_arena_new();
        int num = 0;
        at_low *l = lowered_for(a, &p, AT_DIALECT_TCC, target, "tiles");
        for (int k = 0; k < l->tiles.len; k++) {
            const at_tile *t = l->tiles.data[k];
            for (int slot = 0; slot < t->num_slots; slot++)
                if (t->slot_written[slot] && !strcmp(t->slot_name[slot], "u")) {
                    if (target->in_double && !t->target->is_double) fail_msg("%s", target->name);
                    num++;
                }
        }
        assert_true(num > 0);
        at_arena_free(a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rounded_once),
                                       cmocka_unit_test(beside_a_copy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
