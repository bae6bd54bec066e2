/* Texts of loop trees, over three computations: what is read prints so that it reads back and
 * prints the same. What verify accepts runs, gives what the expressions give, and can be lowered.
 */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "codegen/codegen.h"
#include "schedule/schedule.h"

enum { MOST_STEPS = 20000, MOST_SIZES = 32 }; /* statements that a tree may run */

typedef struct setting {
    const char *sizes, *compute;
    at_symbols symbols;
    int64_t values[MOST_SIZES];
    at_compute *parsed;
    at_data *data; /* [tensor]: inputs, and the stages as the expressions give them */
} setting;

static setting settings[] = {
    {.sizes = "Y=6 X=4 K=6 B=2 yt=1 yo=2 yi=3 xt=1 xo=2 xi=2 ko=3 ki=2 p=2 b=2",
     .compute = "in[Y, K] : input\nweight[X, K] : weight\n"
                "pad[y:Y, k:K] = 0 <= y - 1 && k + 1 < K ? in[y - 1, k + 1] : 0\n"
                "packw[p:X/B, k:K, b:B] = weight[p*B + b, k]\n"
                "acc[y:Y, x:X] = sum(k:K) pad[y, k]*packw[x/B, k, x%B]\n"
                "out[y:Y, x:X] = acc[y, x] + 1.0\n"},
    {.sizes = "Y=5 X=7 K=4 y0=2 y1=3 x0=2 x1=4 k0=2 k1=2",
     .compute = "in[Y, K] : input\nw[X, K] : input\n"
                "a[y:Y, k:K] = in[y, k]*2.0\n"
                "s[y:Y, x:X] = sum(k:K) a[y, k]*w[x, k]\n"
                "u[y:Y] = sum(x:X) s[y, X-1-x]\n"
                "o[y:Y, x:X] = s[y, x/2*2] + u[y]\n"},
    {.sizes = "Y=4 K=6 X=6 R=2 C=3 E=5 r=2 c=3 yo=2 yi=2 xo=3 xi=1",
     .compute = "im2col[Y, K] : input\nblocks[E, R, C] : weight\n"
                "indptr[X/R + 1] : index\nindices[E] : index\n"
                "cc[y:Y, xr:X/R, r:R, c:C] = sum(e : indptr[xr] .. indptr[xr+1])\n"
                "    im2col[y, indices[e]*C + c] * blocks[e, r, c]\n"
                "out[y:Y, x:X] = sum(c:C) cc[y, x/R, x%R, c]\n"},
};
enum { NUM_SETTINGS = sizeof settings / sizeof *settings };

/* ---- settings -------------------------------------------------------------------------------- */

static void fill(at_arena *a, setting *s) {
    static const int32_t indptr[] = {0, 0, 3, 5}, indices[] = {1, 0, 1, 1, 0};
    const at_compute *c = s->parsed;
    int64_t **extents;
    at_error err;
    if (at_compute_extents(a, c, s->values, &extents, &err) != AT_OK) AT_BUG("%s", err.text);
    s->data = AT_NEW_ARRAY(a, at_data, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) {
        int64_t n = at_tensor_elements(&c->tensors[t], extents[t]);
        if (c->tensors[t].role == AT_ROLE_STAGE) continue;
        if (c->tensors[t].role == AT_ROLE_INDEX) {
            const int32_t *from = strcmp(c->tensors[t].name, "indptr") ? indices : indptr;
            s->data[t].i = at_copy(a, from, sizeof *from * (size_t)n);
            continue;
        }
        s->data[t].f = AT_NEW_ARRAY(a, float, n);
        for (int64_t i = 0; i < n; i++) s->data[t].f[i] = (float)((i * 7 + t) % 9 - 3);
    }
    if (at_compute_interpret(a, c, s->values, s->data, &err) != AT_OK) AT_BUG("%s", err.text);
}

static void open_setting(at_arena *a, setting *s) {
    at_error err;
    for (const char *p = s->sizes; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
        size_t n = strcspn(p, "=");
        int slot = at_symbol_add(a, &s->symbols, at_strndup(a, p, n));
        AT_ASSERT(slot < MOST_SIZES);
        s->values[slot] = atoi(p + n + 1);
    }
    if (at_compute_parse(a, &s->symbols, s->compute, "compute", &s->parsed, &err) != AT_OK)
        AT_BUG("%s", err.text);
    fill(a, s);
}

/* ---- one tree -------------------------------------------------------------------------------- */

/* Statements that run below a list, at most one more than MOST_STEPS. */
static int64_t count_steps(const at_node *n) {
    int64_t steps = 0;
    for (; n && steps <= MOST_STEPS; n = n->next) {
        int64_t inner = n->is_leaf ? 1 : count_steps(n->child), extent = 1;
        if (!n->is_leaf) extent = n->extent < 0 ? 4 : n->extent;
        if (inner > MOST_STEPS || extent > MOST_STEPS) return MOST_STEPS + 1;
        steps += inner * extent;
    }
    return steps;
}

static void expect_right(at_arena *a, const setting *s, const at_program *p) {
    const at_compute *c = s->parsed;
    at_data *found = AT_NEW_ARRAY(a, at_data, c->num_tensors);
    at_error err;
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].role != AT_ROLE_STAGE) found[t] = s->data[t];
    if (at_program_interpret(a, p, found, &err) != AT_OK) AT_BUG("%s", err.text);
    for (int t = 0; t < c->num_tensors; t++) {
        if (!c->tensors[t].is_output) continue;
        for (int64_t i = 0; i < at_tensor_elements(&c->tensors[t], p->extents[t]); i++)
            if (!(found[t].f[i] == s->data[t].f[i]))
                AT_BUG("%s[%lld] is %g, expected %g", c->tensors[t].name, (long long)i,
                       (double)found[t].f[i], (double)s->data[t].f[i]);
    }
}

static void lower(at_arena *a, const at_program *p) {
    static const struct {
        at_dialect dialect;
        const char *target;
    } forms[] = {{AT_DIALECT_C, "scalar"}, {AT_DIALECT_TCC, "avx2"}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        at_lower_options o = {.dialect = forms[i].dialect,
                              .target = at_target_find(forms[i].target),
                              .name = "k",
                              .verify = true};
        at_kernel *k;
        at_error err;
        at_lower(a, p, &o, &k, &err);
    }
}

static void check(const setting *s, const char *text) {
    at_arena *a = at_arena_new();
    at_tree *t, *again;
    at_program *p;
    at_error err;
    at_text out = {0}, twice = {0}, printed = {0};
    if (at_tree_parse(a, s->parsed, text, "tree", &t, &err) == AT_OK) {
        at_tree_print(&out, t);
        if (at_tree_parse(a, s->parsed, out.data, "again", &again, &err) != AT_OK)
            AT_BUG("%s\n%s", err.text, out.data);
        at_tree_print(&twice, again);
        fuzz_expect_same(&out, &twice);
        if (at_program_build(a, t, s->values, &p, &err) == AT_OK &&
            at_program_verify(a, p, &err) == AT_OK) {
            at_program_print(&printed, p, true);
            if (count_steps(p->root) <= MOST_STEPS) {
                expect_right(a, s, p);
                lower(a, p);
            }
        }
    }
    at_text_free(&out);
    at_text_free(&twice);
    at_text_free(&printed);
    at_arena_free(a);
}

static void run(const uint8_t *data, size_t size) {
    static at_arena *lasting;
    if (!lasting) {
        lasting = at_arena_new();
        for (int i = 0; i < NUM_SETTINGS; i++) open_setting(lasting, &settings[i]);
    }
    char *text = fuzz_text(data, size);
    for (int i = 0; i < NUM_SETTINGS; i++) check(&settings[i], text);
    free(text);
}

static bool seed(int i, at_text *out) {
    static const char *const texts[] = {
        "p, b, k =>\n    @packw = p, k, b\n"
        "yt, xt, yo =>\n    yi, k:vec =>\n        @pad = {yt, yo, yi}/y, k\n"
        "    xo =>\n        ko, ki:unroll, yi:unroll, xi:vec =>\n"
        "            @acc = {yt, yo, yi}/y, {xt, xo, xi}/x  // {ko, ki}/k\n"
        "        yi:unroll, xi:vec =>\n            @out = {yt, yo, yi}/y, {xt, xo, xi}/x\n",
        "{yo, yi}:para, x =>\n    @acc.init = {yo, yi}y, x\n    k =>\n"
        "        @acc = {yo, yi}, x // k\n    @out = {yo, yi}/y, x\n",
        "p, b, k => @packw[dense] = p, k, b\n{yo, yi}:para, x, ko, ki:unroll =>\n"
        "    @acc[pointers in][prefetch packw 64] = {yo, yi}/y, x // {ko, ki}/k\n"
        "y, x => @out = y, x\n",
        "y0, y1 =>\n    x0, x1:vec => @s.init = {y0, y1}/y, {x0, x1}/x\n    k0, k1:2, x0, x1 =>\n"
        "        @s = {y0, y1}/y, {x0, x1}/x // {k0, k1}/k\n    x => @u = {y0, y1}/y // x\n"
        "    x0, x1:unroll => @o = {y0, y1}/y, {x0, x1}/x\n",
        "yo, xo, xi =>\n    e:dyn(xr), yi:unroll, r:vec, c:unroll =>\n"
        "        @cc = {yo, yi}/y, {xo, xi}/xr, r, c  // e\n"
        "    yi, r, c =>\n        @out = {yo, yi}/y, {xo, xi, r}/x  // c\n",
        NULL,
    };
    return fuzz_seed_of(texts, i, out);
}

const fuzz_target fuzz_tree = {"tree", run, seed, 1};
