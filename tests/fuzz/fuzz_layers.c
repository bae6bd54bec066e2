/* Files of layers: refused with one line that a terminal may show, or layers which, written again,
 * are the same. */
#include "tests/fuzz/fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/engine.h"
#include "tests/fuzz/verb.h"

/* Of one template: the others' tasks may be as large as they like. */
static at_status layers_of(at_arena *a, const char *data, size_t size, at_layers *out) {
    char path[40];
    at_error err;
    const at_request q = {.template_name = "matmul_add"};
    const at_engine_options o = {0};
    int fd = memfd_create("layers", MFD_CLOEXEC);
    AT_ASSERT(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    at_is_layer_file(path);
    at_status s = at_layer_file_read(a, &o, &q, path, out, &err);
    close(fd);
    AT_ASSERT(s == AT_OK || s == AT_E_INPUT);
    if (s != AT_OK) {
        fuzz_check_shown(err.text, "the message");
        AT_ASSERT(!strchr(err.text, '\n'));
    }
    return s;
}

static void run(const uint8_t *data, size_t size) {
    at_arena *a = at_arena_new();
    at_layers first = {0}, again = {0};
    at_text text = {0};
    if (layers_of(a, (const char *)data, size, &first) == AT_OK) {
        for (int i = 0; i < first.len; i++) {
            const at_problem *p = &first.data[i];
            AT_ASSERT(p->count >= 1);
            at_text_addf(&text, "%lld matmul_add %s\n", (long long)(p->count % 1000000 + 1),
                         p->ways[0].args ? p->ways[0].args : "");
        }
        AT_ASSERT(layers_of(a, text.data, text.len, &again) == AT_OK);
        AT_ASSERT(first.len == again.len);
    }
    at_text_free(&text);
    at_arena_free(a);
}

static bool seed(int i, at_text *out) {
    static const char *const texts[] = {
        "# a network\n3 matmul_add N=4,L=4,M=16\n\n1 dense M=1,N=64,K=64\n",
        "2 matmul_add [4, 4, 16, \"float32\"]\n 7\tmatmul_add N=4,L=4,M=16 \r\n1 matmul_add",
        "1 sparse_dense M=2,N=32,K=32 sparsity=0.5 block=16x1\n0 matmul_add\n",
        "1 ./mine.c N=3",
        NULL,
    };
    return fuzz_seed_of(texts, i, out);
}

const fuzz_target fuzz_layers = {"layers", run, seed, 1};
