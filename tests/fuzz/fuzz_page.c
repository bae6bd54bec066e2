/* A log as a page: well formed, and nothing in it but what we put there. */
#include "tests/fuzz/verb.h"

#include <stddef.h>

static void run(const uint8_t *data, size_t size) {
    static const char *const files[] = {NULL};
    fuzz_enter(data, size);
    fuzz_output r = fuzz_verb("report input -o -");
    if (r.status == 0) fuzz_check_html(r.out);
    fuzz_leave(files);
}

const fuzz_target fuzz_page = {"page", run, fuzz_seed_log, 5};
