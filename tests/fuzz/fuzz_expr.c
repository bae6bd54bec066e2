/* Expressions: what is read prints so that it reads back equal; evaluating ends. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

static void bind(at_expr *e, int *next) {
    bool reads =
        e->op == AT_X_NAME || e->op == AT_X_INDEX || e->op == AT_X_FIELD || e->op == AT_X_EXTENT;
    if (reads) e->ref = (*next)++ % 4;
    for (int i = 0; i < e->nargs; i++) bind(e->arg[i], next);
}

static void run(const uint8_t *data, size_t size) {
    static const int64_t values[] = {3, -1, 0, INT64_MAX};
    at_arena *a = at_arena_new();
    char *text = fuzz_text(data, size);
    at_expr *e, *again;
    at_error err;
    at_text out = {0};
    if (at_expr_parse_text(a, text, "expression", &e, &err) == AT_OK) {
        at_expr_print(&out, e);
        if (at_expr_parse_text(a, at_text_str(&out), "again", &again, &err) != AT_OK)
            AT_BUG("%s", err.text);
        if (!at_expr_equal(e, again)) AT_BUG("%s\nreads as another expression", at_text_str(&out));
        int next = 0;
        int64_t value;
        bind(e, &next);
        at_expr_eval(e, values, &value, &err);
    }
    at_text_free(&out);
    free(text);
    at_arena_free(a);
}

static bool seed(int i, at_text *out) {
    static const char *const texts[] = {
        "N*H*W + (a - 1)/b % 9",
        "0 <= ih && ih < H && 0 <= iw < W || !(a == b)",
        "inside ? data[n, ih, iw, c] : 0",
        "min(a, max(b, -3), |xi|)*1.5e-3",
        "tile_x.size[-1]*tile_y.size[1] <= 512",
        "-(-(1)) - -2 - (a ? b ? 1 : 2 : c != d)",
        "(a < b) == (c >= d) ? -x : -(5)",
        NULL,
    };
    return fuzz_seed_of(texts, i, out);
}

const fuzz_target fuzz_expr = {"expr", run, seed, 1};
