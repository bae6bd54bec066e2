/* Where a kernel can be cut short: at the loops of its largest nest, but at none that makes numbers
 * at which what stands behind it reads, since memory would have others there. */
#include "tests/codegen/support.h"

/* A longer nest, whose results are floats or places, before a shorter one that reads them. */
#define TENSORS                                                                                    \
    "r[N] : index\n"                                                                               \
    "x[W] : input\n"
#define TREE                                                                                       \
    "n, w =>\n"                                                                                    \
    "    @made = n, w\n"                                                                           \
    "n, w:vec =>\n"                                                                                \
    "    @out = n, w\n"
static const program of_floats = {"floats", "N=70 W=32",
                                  TENSORS "made[n:N, w:W] = x[min(r[n] + w, W - 1)]*2\n"
                                          "out[n:N, w:W] = made[n, w] + 1\n",
                                  TREE},
                     of_places = {"places", "N=70 W=32",
                                  TENSORS "made[n:N, w:W] : s32 = min(r[n] + w, W - 1)\n"
                                          "out[n:N, w:W] = x[made[n, w]]\n",
                                  TREE};

static int64_t turns_of(const program *p, const at_target *target) {
    at_arena *a = at_arena_new();
    const at_lower_options o = {.dialect = AT_DIALECT_TCC,
                                .target = target,
                                .name = p->name,
                                .verify = true,
                                .can_stop = true};
    at_kernel *k;
    CALL(at_lower(a, program_of(a, p), &o, &k, &err));
    const int64_t turns = k->turns;
    at_arena_free(a);
    return turns;
}

static void places_are_made(void **state) {
    (void)state;
    const at_target *target;
    for (int i = 0; (target = at_target_at(i)); i++) {
        if (turns_of(&of_floats, target) < 2) fail_msg("%s: floats", target->name);
        if (turns_of(&of_places, target) != 0) fail_msg("%s: places", target->name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(places_are_made)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
