/* Conditions over knobs, of one split and joint: refused, or every point of the space has an
 * answer, and the count of the valid ones agrees with it. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

#include "knobs/knobs.h"

static void joint(at_arena *a, const char *condition) {
    at_space *s = at_space_new(a);
    at_error err;
    const at_split_options factors = {.policy = AT_FACTORS};
    const at_reorder_options all = {.policy = "all"};
    if (at_space_split(s, "tile_y", 24, 3, &factors, &err) != AT_OK ||
        at_space_reorder(s, "order", 3, &all, &err) != AT_OK ||
        at_space_option(s, "step", "[-1, 0, 16]", &err) != AT_OK)
        AT_BUG("%s", err.text);
    if (at_space_filter(s, condition, &err) != AT_OK) return;
    int64_t valid = 0, next = -1;
    for (int64_t i = 0; i < at_space_range_length(s); i++) valid += at_space_is_valid(s, i);
    AT_ASSERT(at_space_len(s) == valid);
    while (valid-- && (next = at_space_next(s, next, 1, 0, 0)) >= 0)
        AT_ASSERT(at_space_is_valid(s, next));
    at_rng rng;
    at_rng_seed(&rng, 1, 1);
    if (next >= 0) at_space_random_walk(s, next, &rng);
}

static void run(const uint8_t *data, size_t size) {
    at_arena *a = at_arena_new();
    char *condition = fuzz_text(data, size);
    at_error err;
    const at_split_options o = {.policy = AT_VERBOSE, .filter = condition};
    at_space_split(at_space_new(a), "tile", 36, 3, &o, &err);
    joint(a, condition);
    free(condition);
    at_arena_free(a);
}

static bool seed(int i, at_text *out) {
    static const char *const texts[] = {
        "last <= 64",
        "first % 2 == 0 && size[1] != 3",
        "2 <= tile_y.size[1]*tile_y.size[-1] < 12 || step > 0",
        "order.perm[0] == 1 ? step : 24/tile_y.size[2] >= 3",
        "1/step > 0",
        NULL,
    };
    return fuzz_seed_of(texts, i, out);
}

const fuzz_target fuzz_filter = {"filter", run, seed, 1};
