/* What is done with a whole log: summary, and the best records of it, finals and all. What was
 * picked is picked again as it is. */
#include "tests/records/picks.h"
#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include "records/records.h"

static at_status pick(at_arena *a, const void *data, size_t size, at_per per, at_text *out) {
    char path[40];
    const char *input = path;
    at_pick *picks;
    at_error err;
    int n, fd = memfd_create("log", MFD_CLOEXEC);
    AT_ASSERT(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    at_status s = pick_all(a, &input, 1, NULL, false, per, NULL, NULL, &picks, &n, &err);
    for (int i = 0; i < n; i++) at_pick_print(out, &picks[i]);
    if (per == AT_PER_CONTEXT) {
        at_log_summary summary;
        at_log_summarise(a, path, NULL, NULL, NULL, NULL, &summary, &err);
    }
    close(fd);
    return s;
}

static void run(const uint8_t *data, size_t size) {
    at_arena *a = at_arena_new();
    for (int per = AT_PER_CONTEXT; per <= AT_PER_COMPAT; per++) {
        at_text once = {0}, twice = {0};
        at_status s = pick(a, data, size, (at_per)per, &once);
        if (s == AT_OK && per < AT_PER_COMPAT) {
            at_status again = pick(a, once.data, once.len, (at_per)per, &twice);
            AT_ASSERT(again == AT_OK);
            fuzz_expect_same(&once, &twice);
        }
        at_text_free(&once);
        at_text_free(&twice);
    }
    at_arena_free(a);
}

static bool seed(int i, at_text *out) {
#define LINE(index, cost, check)                                                                   \
    "{\"input\": [\"c -keys=cpu,x -mcpu=znver4\", \"conv\", [1], {}], \"config\": "                \
    "{\"index\": " index ", \"code_hash\": null, \"entity\": [[\"a\", \"ot\", " index              \
    "]]}, \"result\": [[" cost "], 0, 2.5, 3.5], \"version\": 0.2" check "}\n"
#define OURS                                                                                       \
    ", \"autotune\": {\"check\": \"exact\", \"samples_s\": [1.0, 2.0, 3.0], \"context_hash\": "    \
    "\"0123456789abcdef0123456789abcdef\"}"
#define FINAL(index, cost)                                                                         \
    "#final {\"task\": \"conv\", \"args\": [1], \"context_hash\": "                                \
    "\"0123456789abcdef0123456789abcdef\", \"index\": " index                                      \
    ", \"entity\": [[\"a\", \"ot\", " index "]], \"samples_s\": [" cost                            \
    "], \"peak_gflops\": 2.0, \"timestamp\": 1.0}\n"
    static const char *const texts[] = {
        LINE("3", "1.0", "") LINE("4", "0.5", "") LINE("3", "0.25", ""),
        LINE("3", "1.0", OURS) LINE("4", "0.5", OURS) FINAL("3", "1.0") FINAL("4", "2.0")
            FINAL("3", "1.5, 2.5"),
        NULL,
    };
    return fuzz_seed_of(texts, i, out);
}

const fuzz_target fuzz_pick = {"pick", run, seed, 1};
