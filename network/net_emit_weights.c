/* network/net_emit_weights.c: what a network knows, as bytes of a file or as C, and the function
 * that says whether bytes are those. */
#include "network/net_emit.h"

#include <string.h>

int64_t at_net_known_bytes(const at_net_program *programs, int n) {
    int64_t bytes = 0;
    for (int i = 0; i < n; i++) bytes += programs[i].weights_bytes;
    return bytes;
}

/* The same in C: add_fault below. */
static uint64_t weights_hash(const at_net_program *programs, int n) {
    uint64_t h = 0xcbf29ce484222325u;
    for (const at_net_program *p = programs; p < programs + n; p++)
        for (int64_t i = 0; i + 8 <= p->weights_bytes; i += 8) {
            uint64_t word;
            memcpy(&word, p->weights + i, sizeof word);
            h = (h ^ word) * 0x9e3779b97f4a7c15u;
            h ^= h >> 29;
        }
    return h;
}

void at_net_weights_head(const at_net_program *programs, int n, char head[AT_NET_WEIGHTS_HEAD]) {
    uint64_t words[] = {AT_NET_WEIGHTS_VERSION, weights_hash(programs, n),
                        (uint64_t)at_net_known_bytes(programs, n)};
    memset(head, 0, AT_NET_WEIGHTS_HEAD);
    memcpy(head, "autotune", 8);
    memcpy(head + 8, words, sizeof words);
}

static void add_words(at_text *out, const char *bytes, int64_t n) {
    for (int64_t i = 0; i < n / 8; i++) {
        uint64_t word;
        memcpy(&word, bytes + i * 8, sizeof word);
        at_text_addf(out, "%s0x%llxu,", i % 4 ? " " : "\n    ", (unsigned long long)word);
    }
}

static void add_embedded(at_text *out, const at_net_program *programs, int n, const char *head,
                         const at_net_emit_options *o) {
    at_text_addf(out, "\n/* what it knows */\nstatic const unsigned long long %s_known[%lld] = {",
                 o->name, (long long)(AT_NET_WEIGHTS_HEAD + at_net_known_bytes(programs, n)) / 8);
    add_words(out, head, AT_NET_WEIGHTS_HEAD);
    for (int i = 0; i < n; i++) add_words(out, programs[i].weights, programs[i].weights_bytes);
    at_text_addf(out, "\n};\n\nconst void *%s_weights(void) { return %s_known; }\n", o->name,
                 o->name);
}

void at_net_emit_head(at_text *out, const char *head, const at_net_emit_options *o) {
    enum { SAID = 32 }; /* bytes of the head that are not 0 */
    at_text_addf(out,
                 "\nstatic int at_%s_has_head(const void *weights) {\n"
                 "    static const unsigned char head[%d] = {",
                 o->name, SAID);
    for (int i = 0; i < SAID; i++)
        at_text_addf(out, "%s%d,", i % 16 ? " " : "\n        ", (unsigned char)head[i]);
    at_text_addf(out,
                 "\n    };\n    int i = 0;\n"
                 "    while (i < %d && ((const unsigned char *)weights)[i] == head[i]) i++;\n"
                 "    return i == %d;\n}\n",
                 SAID, SAID);
}

static void add_fault(at_text *out, const char *head, const at_net_emit_options *o) {
    uint64_t words[3]; /* as at_net_weights_head puts them */
    memcpy(words, head + 8, sizeof words);
    const int64_t bytes = AT_NET_WEIGHTS_HEAD + (int64_t)words[2];
    at_text_addf(
        out,
        "\nunsigned long %s_weights_bytes(void) { return %lldUL; }\n\n"
        "int %s_weights_fault(const void *weights, unsigned long bytes) {\n"
        "    const unsigned char *at = (const unsigned char *)weights;\n"
        "    unsigned long long hash = 0xcbf29ce484222325u, word;\n"
        "    unsigned long i;\n    int k;\n"
        "    if (bytes != %lldUL || !at_%s_has_head(weights)) return 1;\n"
        "    for (i = %d; i < bytes; i += 8) {\n"
        "        for (word = 0, k = 7; k >= 0; k--) word = word << 8 | at[i + (unsigned long)k];\n"
        "        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;\n"
        "        hash ^= hash >> 29;\n    }\n"
        "    return hash != 0x%llxu;\n}\n",
        o->name, (long long)bytes, o->name, (long long)bytes, o->name, AT_NET_WEIGHTS_HEAD,
        (unsigned long long)words[1]);
}

void at_net_emit_weights(at_text *out, const at_net_program *programs, int n, const char *head,
                         const at_net_emit_options *o) {
    if (!o->weights) add_embedded(out, programs, n, head, o);
    add_fault(out, head, o);
}
