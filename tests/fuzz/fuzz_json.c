/* JSON: what is read prints so that it reads back and prints the same. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void expect_equal(const at_json *x, const at_json *y) {
    AT_ASSERT(x->kind == y->kind && x->count == y->count && x->boolean == y->boolean);
    AT_ASSERT(x->is_int == y->is_int && x->integer == y->integer);
    AT_ASSERT(x->number == y->number);
    AT_ASSERT(!x->key == !y->key && (!x->key || !strcmp(x->key, y->key)));
    AT_ASSERT(x->kind != AT_JSON_STRING || !strcmp(x->string, y->string));
    const at_json *v = y->child;
    for (const at_json *u = x->child; u; u = u->next, v = v->next) expect_equal(u, v);
}

static bool all_utf8(const at_json *v) {
    if ((v->key && !fuzz_is_utf8(v->key)) ||
        (v->kind == AT_JSON_STRING && !fuzz_is_utf8(v->string)))
        return false;
    for (const at_json *u = v->child; u; u = u->next)
        if (!all_utf8(u)) return false;
    return true;
}

static void run(const uint8_t *data, size_t size) {
    at_arena *a = at_arena_new();
    char *text = malloc(size ? size : 1); /* the length counts, not a NUL */
    const at_json *v, *again;
    at_error err;
    at_text out = {0}, twice = {0};
    AT_ASSERT(text);
    if (size) memcpy(text, data, size);
    if (at_json_parse(a, text, size, &v, &err) == AT_OK) {
        at_json_print(&out, v);
        if (at_json_parse(a, out.data, out.len, &again, &err) != AT_OK) AT_BUG("%s", err.text);
        if (all_utf8(v)) expect_equal(v, again);
        at_json_print(&twice, again);
        fuzz_expect_same(&out, &twice);
    }
    at_text_free(&out);
    at_text_free(&twice);
    free(text);
    at_arena_free(a);
}

static bool seed(int i, at_text *out) {
    static const char *const texts[] = {
        "{\"a\": [1, -2.5, 1e-05, 9007199254740993], \"b\": {\"c\": null, \"d\": [true, false]}}",
        "[\"caf\\u00e9 \\\"q\\\" \\ud83d\\ude00\", \"\\n\\t\\\\\", \"\", {}, []]",
        "  123456789012345678901234567890 \n",
        "[1.0, 0.1, 1e22, 5e-324, 1.7976931348623157e308, -0.0]",
        NULL,
    };
    return fuzz_seed_of(texts, i, out);
}

const fuzz_target fuzz_json = {"json", run, seed, 1};
