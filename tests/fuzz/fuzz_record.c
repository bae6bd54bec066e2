/* One line of a log: what is read prints so that it reads back and prints the same; its keys can be
 * made. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "records/records.h"
#include "tests/spaces.h"

static void run(const uint8_t *data, size_t size) {
    at_arena *a = at_arena_new();
    char *line = malloc(size ? size : 1);
    at_record r, again;
    at_error err;
    at_text out = {0}, twice = {0}, keys = {0};
    AT_ASSERT(line);
    if (size) memcpy(line, data, size);
    if (at_record_parse(a, line, size, &r, &err) == AT_OK) {
        at_record_print(&out, &r);
        if (at_record_parse(a, out.data, out.len - 1, &again, &err) != AT_OK)
            AT_BUG("%s\n%s", err.text, out.data);
        at_record_print(&twice, &again);
        fuzz_expect_same(&out, &twice);
        at_workload_key(&keys, &r);
        at_measurement_key(&keys, &r);
        at_record_is_candidate(&r);
        AT_ASSERT(at_args_equal(r.args, again.args));
        AT_ASSERT(same_entity(&r.config, &again.config));
    }
    at_text_free(&out);
    at_text_free(&twice);
    at_text_free(&keys);
    free(line);
    at_arena_free(a);
}

static bool seed(int i, at_text *out) {
    static const char *const texts[] = {
        "{\"input\": [\"llvm -keys=cpu -link-params=0 -mcpu=znver4\", \"conv\", [1, \"float32\", "
        "[\"TENSOR\", [8, 16], \"float32\"], true, null], {}], \"config\": {\"index\": 12, "
        "\"code_hash\": null, \"entity\": [[\"tile_y\", \"sp\", [-1, 7]], [\"order\", \"re\", [1, "
        "0]], [\"ann\", \"an\", [\"none\", \"vec\"]], [\"flag\", \"ot\", false]]}, \"result\": "
        "[[0.000125, 1e-05], 0, 1.5, 1700000000.25], \"version\": 0.2, \"tvm_version\": \"0.8.0\"}",
        "{\"input\": [\"c -keys=cpu\", \"conv\", [1], {}], \"config\": {\"index\": 3, "
        "\"code_hash\": null, \"entity\": []}, \"result\": [[1000000000.0], 5, 10, 1700000002.0], "
        "\"version\": 0.2, \"tvm_version\": \"0.12.0\", \"autotune\": {\"tuner\": \"grid\", "
        "\"check\": \"failed\", \"error\": \"out[3] is 1.0\\n2.0 expected\", \"seed\": "
        "\"18446744073709551615\", \"samples_s\": [1.0], \"same_as\": 4, \"context\": {\"cpu\": "
        "\"x\", \"threads\": 2}, \"context_hash\": \"0123456789abcdef0123456789abcdef\"}}",
        "{\"i\": [\"llvm\", \"conv\", [1], {}, [\"conv\", 1], {}], \"r\": [[1.0], 0, 1.0, 2.0], "
        "\"v\": 0.1}",
        NULL,
    };
    return fuzz_seed_of(texts, i, out);
}

const fuzz_target fuzz_record = {"record", run, seed, 1};
