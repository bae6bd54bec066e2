/* A log as C: what apply writes compiles without a warning, and nothing of the log is a command to
 * the compiler. */
#include "tests/fuzz/verb.h"
#include "tests/whole_file.h"

#include <stdlib.h>

static void compile(const char *words) {
    at_arena *a = at_arena_new();
    char *messages;
    fuzz_output r = fuzz_verb(words);
    fuzz_check_shown(r.err, words);
    if (r.status == 0) {
        int status = system("cc -std=gnu99 -fsyntax-only -Wall -Wextra -Wbidi-chars=any -Werror "
                            "kernel.c 2>messages");
        AT_ASSERT(read_whole(a, "messages", &messages, NULL, NULL) == AT_OK);
        if (status) AT_BUG("%s: %s", words, messages);
        AT_ASSERT(read_whole(a, "kernel.c", &messages, NULL, NULL) == AT_OK);
        fuzz_check_shown(messages, words);
    }
    at_arena_free(a);
}

static void run(const uint8_t *data, size_t size) {
    static const char *const files[] = {"kernel.c", "kernel.h", "messages", NULL};
    fuzz_enter(data, size);
    compile("apply --log input --main -o kernel.c");
    compile("apply conv2d_3x3_gemm --log input --dialect tcc -o kernel.c");
    fuzz_leave(files);
}

const fuzz_target fuzz_apply = {"apply", run, fuzz_seed_log, 50};
