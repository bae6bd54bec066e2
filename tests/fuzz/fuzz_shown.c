/* A log, or a file of another tuner, on the terminal and as CSV: nothing that a terminal obeys. */
#include "tests/fuzz/verb.h"

#include <stddef.h>

static void run(const uint8_t *data, size_t size) {
    static const char *const files[] = {NULL};
    static const char *const commands[] = {
        "log input",
        "log input input --diff",
        "plot input",
        "plot --knobs input",
        "pick_best input",
        "convert input --to kernel_tuner",
        "convert input --to t4",
        "convert input --to log",
        "show conv2d_3x3_gemm --log input",
        "replay input --tuner grid --repeats 1 --trials 2",
    };
    fuzz_enter(data, size);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        fuzz_output r = fuzz_verb(commands[i]);
        fuzz_check_shown(r.out, commands[i]);
        fuzz_check_shown(r.err, commands[i]);
    }
    fuzz_output r = fuzz_verb("log input --csv");
    fuzz_check_shown(r.out, "log --csv");
    if (r.status == 0) fuzz_check_csv(r.out);
    fuzz_leave(files);
}

const fuzz_target fuzz_shown = {"shown", run, fuzz_seed_log, 20};
