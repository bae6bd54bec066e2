/* What an agent says to a search, or a search to an agent: bytes of a machine that may be
 * anybody's. What is accepted is written again as it was. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "remote/delta.h"
#include "remote/frame.h"

/* Whatever two texts are, the second comes back. */
static void try_delta(at_arena *a, const char *data, size_t size) {
    char *base = at_strndup(a, data, size / 2),
         *text = at_strndup(a, data + size / 2, size - size / 2);
    at_text delta = {0}, again = {0};
    at_delta_get(&again, base, text, 1 << 16);
    at_text_clear(&again);
    for (char *p = text; *p; p++)
        if (*p == 1) *p = '~';
    at_delta_put(&delta, base, text);
    AT_ASSERT(at_delta_get(&again, base, at_text_str(&delta), 1 << 16));
    AT_ASSERT(!strcmp(at_text_str(&again), text));
    at_text_free(&delta);
    at_text_free(&again);
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
        at += taken;
    }
    if (size < 1 << 15) try_delta(a, data, size);
    at_arena_free(a);
}

static const at_frame seeds[] = {
    {.type = AT_FRAME_HELLO, .version = "0.1.0", .node = "n0", .cpu = "a CPU", .pid = 7},
    {.type = AT_FRAME_READY, .records = "{}"},
    {.type = AT_FRAME_RESULT, .search = 1, .epoch = 2, .number = 3, .attempt = 1, .records = "{}"},
    {.type = AT_FRAME_TRIAL, .search = 1, .epoch = 2, .number = 3, .entity = "{}", .best_s = 1e-3},
    {.type = AT_FRAME_TASK, .template_name = "dense", .args = "M=1", .lease_s = 90},
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
