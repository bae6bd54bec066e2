/* What an agent says to a search, or a search to an agent: bytes of a machine that may be
 * anybody's. What is accepted is written again as it was. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "remote/result.h"

/* What is taken for a result can be written to a log, and read again. */
static void try_result(at_arena *a, const at_frame *f) {
    static const char line[] =
        "{\"input\": [\"c\", \"conv\", [1], {}], \"config\": {\"index\": 3, \"code_hash\": null, "
        "\"entity\": []}, \"result\": [[1.0], 0, 2.5, 3.5], \"version\": 0.2}";
    at_record ready, r, again;
    at_trial_id id;
    at_error err;
    at_text text = {0};
    AT_ASSERT(at_record_parse(a, line, strlen(line), &ready, &err) == AT_OK);
    ready.extra.present = true;
    if (f->type != AT_FRAME_RESULT || !at_result_read(f, &ready, &r, &id)) return;
    at_record_print(&text, &r);
    if (at_record_parse(a, text.data, text.len - 1, &again, &err) != AT_OK) AT_BUG("%s", err.text);
    AT_ASSERT(at_record_mean(&again) == at_record_mean(&r));
    at_text_free(&text);
}

static void run(const uint8_t *bytes, size_t size) {
    const char *data = (const char *)bytes;
    at_arena *a = at_arena_new();
    size_t at = 0, taken;
    at_frame f;
    at_error err;
    if (at_frame_greeting(data, size, &taken, &err) == AT_OK) at = taken;
    while (at_frame_get(a, data + at, size - at, &taken, &f, &err) == AT_OK && taken) {
        at_text again = {0};
        AT_ASSERT(at_frame_put(&again, &f, &err) == AT_OK);
        AT_ASSERT(again.len == taken && !memcmp(again.data, data + at, taken));
        at_text_free(&again);
        try_result(a, &f);
        at += taken;
    }
    at_arena_free(a);
}

static const double seconds[] = {0.5, 1.5};

static const at_frame seeds[] = {
    {.type = AT_FRAME_HELLO, .version = "0.1.0", .node = "n0", .cpu = "a CPU", .pid = 7},
    {.type = AT_FRAME_READY, .records = "{}", .anchor = "anchor {}"},
    {.type = AT_FRAME_RESULT,
     .search = 1,
     .epoch = 2,
     .number = 3,
     .attempt = 1,
     .result = {.costs_s = seconds,
                .num_costs = 1,
                .extra = {.samples_s = seconds,
                          .num_samples = 2,
                          .number = 1,
                          .pairs = {.of_first = 1.5,
                                    .of_first_error = 0.01,
                                    .ratio = 1.5,
                                    .ratios = seconds,
                                    .num_ratios = 2,
                                    .first = "0123456789abcdef0123456789abcdef"},
                          .gflops = 2,
                          .check = AT_CHECK_EXACT,
                          .same_as = -1}}},
    {.type = AT_FRAME_TRIAL, .search = 1, .epoch = 2, .number = 3, .entity = "{}", .best_s = 1e-3},
    {.type = AT_FRAME_TASK, .template_name = "dense", .args = "M=1", .second = "{}", .lease_s = 90},
    {.type = AT_FRAME_TURNS, .text = "#final {}\n"},
    {.type = AT_FRAME_ALIVE},
};

/* Each alone, all in a row, and behind a greeting. */
static bool seed(int i, at_text *out) {
    enum { NUM = sizeof seeds / sizeof *seeds };
    if (i > NUM + 1) return false;
    if (i == NUM + 1) at_text_add(out, "Welcome!\n" AT_FRAME_MAGIC "\n");
    for (int k = 0; k < NUM; k++)
        if (i >= NUM || k == i) AT_ASSERT(at_frame_put(out, &seeds[k], NULL) == AT_OK);
    return true;
}

const fuzz_target fuzz_frame = {"frame", run, seed, 1};
