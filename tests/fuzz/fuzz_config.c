/* The config object of a record, alone and against a space: what is accepted reads back the same,
 * and where it has an index, that index means it. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "knobs/knobs.h"
#include "tests/spaces.h"

static at_space *make_space(at_arena *a) {
    at_space *s = at_space_new(a);
    at_error err;
    const at_split_options factors = {.policy = AT_FACTORS},
                           verbose = {.policy = AT_VERBOSE, .filter = "last <= 64"};
    const at_reorder_options all = {.policy = "all"};
    if (at_space_split(s, "tile_y", 24, 3, &factors, &err) != AT_OK ||
        at_space_split(s, "tile_x", 100, 2, &verbose, &err) != AT_OK ||
        at_space_reorder(s, "order", 3, &all, &err) != AT_OK ||
        at_space_annotate(s, "ann", 2, "try_unroll_vec", 0, &err) != AT_OK ||
        at_space_option(s, "flag", "[true, false]", &err) != AT_OK ||
        at_space_option(s, "step", "[0, 16, 512]", &err) != AT_OK ||
        at_space_filter(s, "tile_y.size[2]*tile_x.size[1] <= 512", &err) != AT_OK)
        AT_BUG("%s", err.text);
    return s;
}

static void check(at_arena *a, const at_space *s, const at_json *json) {
    at_config c, again, point;
    at_error err;
    const at_json *printed;
    at_text out = {0}, twice = {0}, other = {0};
    if (at_config_from_json(a, s, json, &c, &err) != AT_OK) return;
    at_config_print_json(&out, &c);
    if (at_json_parse(a, out.data, out.len, &printed, &err) != AT_OK ||
        at_config_from_json(a, s, printed, &again, &err) != AT_OK)
        AT_BUG("%s\n%s", err.text, out.data);
    at_config_print_json(&twice, &again);
    fuzz_expect_same(&out, &twice);
    AT_ASSERT(same_entity(&c, &again) && c.index == again.index);
    if (c.index >= 0) {
        if (at_config_at(a, s, c.index, &point, &err) != AT_OK) AT_BUG("%s", err.text);
        AT_ASSERT(same_entity(&c, &point));
    }
    at_config_print_str(&other, &c);
    if (s) {
        int n = at_config_features(&c, NULL);
        if (n > 0) AT_ASSERT(at_config_features(&c, AT_NEW_ARRAY(a, float, n)) == n);
    }
    at_text_free(&out);
    at_text_free(&twice);
    at_text_free(&other);
}

static void run(const uint8_t *data, size_t size) {
    static at_arena *lasting;
    static at_space *space;
    if (!space) space = make_space(lasting = at_arena_new());
    at_arena *a = at_arena_new();
    char *text = fuzz_text(data, size);
    const at_json *json;
    at_error err;
    if (fuzz_is_utf8(text) && at_json_parse(a, text, strlen(text), &json, &err) == AT_OK) {
        check(a, NULL, json);
        check(a, space, json);
    }
    free(text);
    at_arena_free(a);
}

static bool seed(int i, at_text *out) {
    static const char *const texts[] = {
        "{\"index\": 5, \"code_hash\": null, \"entity\": [[\"tile_y\", \"sp\", [-1, 4, 2]], "
        "[\"tile_x\", \"sp\", [-1, 10]], [\"order\", \"re\", [2, 0, 1]], [\"ann\", \"an\", "
        "[\"none\", \"vec\"]], [\"flag\", \"ot\", true], [\"step\", \"ot\", 16]]}",
        "{\"entity\": [[\"step\", \"ot\", 1500], [\"flag\", \"ot\", false], [\"ann\", \"an\", "
        "[\"unroll\", \"vec\"]], [\"order\", \"re\", [0, 1, 2]], [\"tile_x\", \"sp\", [4, 32]], "
        "[\"tile_y\", \"sp\", [24, 1, 1]]]}",
        "{\"index\": null, \"entity\": [[\"locate\", \"an\", [0, 2]], [\"name\", \"ot\", {\"a\": "
        "[1]}]]}",
        NULL,
    };
    return fuzz_seed_of(texts, i, out);
}

const fuzz_target fuzz_config = {"config", run, seed, 1};
