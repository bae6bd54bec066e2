/* Records of Ansor's: refused with a text that a terminal may show, or a template that prints. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "sketch/sketch.h"
#include "tests/fuzz/verb.h"

static void run(const uint8_t *data, size_t size) {
    at_arena *a = at_arena_new();
    char *text = fuzz_text(data, size);
    at_ansor x;
    at_error err;
    at_ansor_head head;
    if (at_ansor_look(a, text, strlen(text), &head, &err) != AT_OK)
        fuzz_check_shown(err.text, "the message");
    if (at_ansor_read(a, text, strlen(text), &x, &err) != AT_OK)
        fuzz_check_shown(err.text, "the message");
    else {
        at_text out = {0};
        at_schedulable_print(&out, x.program);
        AT_ASSERT(out.len);
        at_text_free(&out);
    }
    free(text);
    at_arena_free(a);
}

#define RECORD(key, steps)                                                                         \
    "{\"i\": [[\"" key "\", \"llvm\", [2, 64, 64, 0, 0, 0, 0, 0], \"\", 1, []], [[], [" steps      \
    "]]], \"r\": [[0.001], 0, 0.1, 1700000000], \"v\": \"v0.6\"}"

static bool seed(int i, at_text *out) {
    static const char *const texts[] = {
        RECORD("[\\\"matmul_add\\\", 16, 16, 32, \\\"float32\\\"]",
               "[\"SP\", 2, 0, 16, [2, 2, 2], 1], [\"SP\", 2, 4, 32, [2, 1, 8], 1],"
               "[\"SP\", 2, 8, 16, [4], 1], [\"RE\", 2, [0, 4, 1, 5, 8, 2, 6, 9, 3, 7]],"
               "[\"FSP\", 4, 0, 0, 2], [\"FSP\", 4, 3, 1, 2], [\"RE\", 4, [0, 3, 1, 4, 2, 5]],"
               "[\"CA\", 2, 4, 3], [\"FU\", 4, [0, 1, 2, 3]], [\"AN\", 4, 0, 3],"
               "[\"PR\", 2, 0, \"auto_unroll_max_step$64\"], [\"AN\", 2, 9, 2]"),
        RECORD(
            "[\\\"norm_bmn\\\", 2, 6, 4]",
            "[\"FU\", 1, [1, 2]], [\"SP\", 1, 1, 24, [8], 1], [\"RF\", 1, 2, 1],"
            "[\"RE\", 1, [0, 2, 1]], [\"CA\", 1, 2, 0], [\"AN\", 1, 2, 2], [\"SA\", 2, 0, 1, 1]"),
        RECORD("[\\\"transpose_batch_matmul\\\", 1, 6, 2, 4]",
               "[\"CHR\", 1, \"shared\", [4]], [\"CI\", 1], [\"CA\", 2, 5, 1], [\"CR\", 4]"),
        RECORD("[\\\"conv2d_nhwc\\\", 1, 6, 6, 2, 4, 3, 1, 1]",
               "[\"CHW\", 3, \"local\"], [\"SP\", 3, 0, 1, [1, 1, 1], 1], [\"CA\", 1, 3, 4]"),
        RECORD("[\\\"batch_matmul_nkkm\\\", 1, 32, 24, 8]",
               "[\"SP\", 2, 1, 32, [2, 4], 0], [\"FFSP\", 2, 4, [0], 0, true]"),
        NULL,
    };
    return fuzz_seed_of(texts, i, out);
}

const fuzz_target fuzz_ansor = {"ansor", run, seed, 20};
