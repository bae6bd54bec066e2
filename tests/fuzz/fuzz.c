#include "tests/fuzz/fuzz.h"
#include "tests/whole_file.h"

#include <dirent.h>
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

/* ---- inputs kept ----------------------------------------------------------------------------- */

static void add_line(at_text *out, const uint8_t *data, size_t size) {
    for (size_t i = 0; i < size; i++) {
        uint8_t c = data[i];
        if (c == '\n') at_text_add(out, "\\n");
        else if (c < ' ' || c > '~' || c == '\\') at_text_addf(out, "\\x%02x", c);
        else at_text_addn(out, (const char *)&c, 1);
    }
    at_text_add(out, "\n");
}

static void read_line(at_text *out, const char *line, size_t len) {
    for (size_t i = 0; i < len; i++) {
        char c = line[i];
        if (c == '\\' && i + 1 < len && line[i + 1] == 'n') c = '\n', i++;
        else if (c == '\\' && i + 3 < len) {
            char hex[3] = {line[i + 2], line[i + 3], 0};
            c = (char)strtol(hex, NULL, 16);
            i += 3;
        }
        at_text_addn(out, &c, 1);
    }
}

bool fuzz_kept(const fuzz_target *t, int i, at_text *out) {
    static const fuzz_target *of;
    static at_arena *arena;
    static char *text;
    if (of != t) {
        size_t len;
        if (!arena) arena = at_arena_new();
        const char *path = at_format(arena, "tests/fuzz/corpus/%s.txt", t->name);
        if (read_whole(arena, path, &text, &len, NULL) != AT_OK) text = "";
        of = t;
    }
    const char *line = text;
    for (; i > 0 && *line; i--) line += strcspn(line, "\n") + 1;
    if (!*line) return false;
    read_line(out, line, strcspn(line, "\n"));
    return true;
}

static int compare_names(const void *x, const void *y) {
    return strcmp(*(char *const *)x, *(char *const *)y);
}

static void print_folder(const char *folder) {
    at_arena *a = at_arena_new();
    AT_VEC(char *) names = {0};
    at_text out = {0};
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.' && strncmp(e->d_name, "seed", 4) != 0)
            *at_push(a, &names) = at_format(a, "%s/%s", folder, e->d_name);
    if (d) closedir(d);
    qsort(names.data, (size_t)names.len, sizeof *names.data, compare_names);
    for (int i = 0; i < names.len; i++) {
        char *data;
        size_t len;
        if (read_whole(a, names.data[i], &data, &len, NULL) == AT_OK)
            add_line(&out, (const uint8_t *)data, len);
    }
    fputs(at_text_str(&out), stdout);
    at_text_free(&out);
    at_arena_free(a);
}

/* ---- libFuzzer ------------------------------------------------------------------------------- */

static const fuzz_target *chosen;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    const char *slash = strrchr((*argv)[0], '/'), *name = slash ? slash + 1 : (*argv)[0];
    for (int t = 0; fuzz_targets[t]; t++)
        if (!strcmp(name + strcspn(name, "_") + 1, fuzz_targets[t]->name)) chosen = fuzz_targets[t];
    if (!chosen) AT_BUG("no target \"%s\"", name);
    const char *keep = getenv("AT_FUZZ_KEEP");
    if (keep) {
        print_folder(keep);
        exit(0);
    }
    for (int i = 1; i < *argc; i++) {
        if ((*argv)[i][0] == '-') continue;
        at_text seed = {0}, path = {0};
        int num_seeds = 0;
        while (chosen->seed(num_seeds, &seed)) num_seeds++;
        at_text_clear(&seed);
        for (int k = 0;
             k < num_seeds ? chosen->seed(k, &seed) : fuzz_kept(chosen, k - num_seeds, &seed);
             k++) {
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
