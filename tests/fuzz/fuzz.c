#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#define FUZZ_ROW(name) &fuzz_##name,
const fuzz_target *const fuzz_targets[] = {FUZZ_TARGETS(FUZZ_ROW) NULL};

char *fuzz_text(const uint8_t *data, size_t size) {
    size_t n = size ? strnlen((const char *)data, size) : 0;
    char *text = malloc(n + 1);
    AT_ASSERT(text);
    if (n) memcpy(text, data, n);
    text[n] = 0;
    return text;
}

bool fuzz_seed_of(const char *const *texts, int i, at_text *out) {
    if (!texts[i]) return false;
    at_text_add(out, texts[i]);
    return true;
}

bool fuzz_is_utf8(const char *text) {
    at_text t = {0};
    at_text_add_json_string(&t, text);
    bool good = !strstr(t.data, "\\ufffd");
    at_text_free(&t);
    return good;
}

void fuzz_expect_same(const at_text *first, const at_text *again) {
    if (strcmp(at_text_str(first), at_text_str(again)))
        AT_BUG("printed\n%s\nread and printed again\n%s", at_text_str(first), at_text_str(again));
}

/* ---- libFuzzer ------------------------------------------------------------------------------- */

static const fuzz_target *chosen;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    const char *slash = strrchr((*argv)[0], '/'), *name = slash ? slash + 1 : (*argv)[0];
    for (int t = 0; fuzz_targets[t]; t++)
        if (!strcmp(name + strcspn(name, "_") + 1, fuzz_targets[t]->name)) chosen = fuzz_targets[t];
    if (!chosen) AT_BUG("no target \"%s\"", name);
    for (int i = 1; i < *argc; i++) {
        if ((*argv)[i][0] == '-') continue;
        at_text seed = {0}, path = {0};
        for (int k = 0; chosen->seed(k, &seed); k++) {
            at_error err;
            at_text_clear(&path);
            at_text_addf(&path, "%s/seed%d", (*argv)[i], k);
            if (at_write_file(path.data, at_text_str(&seed), seed.len, &err) != AT_OK) break;
            at_text_clear(&seed);
        }
        at_text_free(&seed);
        at_text_free(&path);
        break;
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    chosen->run(data, size);
    return 0;
}

/* Its own ways, which learn from comparisons, and ours, which know words and lines. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    at_rng rng;
    at_rng_seed(&rng, seed, 1);
    if (at_rng_below(&rng, 2)) return LLVMFuzzerMutate(data, size, most);
    return fuzz_mutate(chosen, &rng, data, size, most);
}
