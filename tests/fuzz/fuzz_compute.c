/* Texts of computations: what is read prints so that it reads back and prints the same; its facts
 * can be asked for, and where it is small it runs. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/schedule.h"

enum { MOST_POINTS = 5000 }; /* of one stage */

static const char *const names[] = {"N", "H", "W", "CI", "CO", "Y", "X", "K", "B", "R", "E"};
static const int64_t values[] = {1, 3, 4, 2, 4, 12, 4, 18, 2, 2, 5};

static void expect_equal(const at_compute *x, const at_compute *y) {
    AT_ASSERT(x->num_tensors == y->num_tensors);
    for (int i = 0; i < x->num_tensors; i++) {
        const at_tensor *t = &x->tensors[i], *u = &y->tensors[i];
        AT_ASSERT(!strcmp(t->name, u->name) && t->role == u->role);
        AT_ASSERT(t->num_axes == u->num_axes && t->num_reduce == u->num_reduce);
        AT_ASSERT(t->is_output == u->is_output && t->is_packing == u->is_packing);
        AT_ASSERT(!t->body == !u->body && (!t->body || at_expr_equal(t->body, u->body)));
    }
}

static bool is_small(const at_compute *c, int64_t *const *extents) {
    for (int t = 0; t < c->num_tensors; t++) {
        int64_t n = 1;
        for (int i = 0; i < c->tensors[t].num_axes + c->tensors[t].num_reduce; i++) {
            if (extents[t][i] < 0 || extents[t][i] > MOST_POINTS) return false;
            if (extents[t][i]) n *= extents[t][i];
            if (n > MOST_POINTS) return false;
        }
    }
    return true;
}

/* Whatever the data: a value, or an error that names the place. */
static void interpret(at_arena *a, const at_compute *c, int64_t *const *extents) {
    at_error err;
    at_data *data = AT_NEW_ARRAY(a, at_data, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) {
        const int64_t n = at_tensor_elements(&c->tensors[t], extents[t]);
        if (c->tensors[t].role == AT_ROLE_STAGE) continue;
        data[t].f = c->tensors[t].role == AT_ROLE_INDEX ? NULL : AT_NEW_ARRAY(a, float, n);
        data[t].i = c->tensors[t].role == AT_ROLE_INDEX ? AT_NEW_ARRAY(a, int32_t, n) : NULL;
        for (int64_t i = 0; i < n && data[t].i; i++) data[t].i[i] = (int32_t)i;
    }
    /* What is accepted is not read outside; conditions over values are not looked at. */
    bool accepted = at_compute_check_reads(c, values, data, NULL, &err) == AT_OK;
    if (at_compute_interpret(a, c, values, data, &err) != AT_OK && accepted)
        AT_BUG("accepted, but: %s", err.text);
}

static void ask(at_arena *a, const at_compute *c) {
    at_error err;
    at_text out = {0};
    int64_t **extents, bytes;
    if (at_compute_extents(a, c, values, &extents, &err) != AT_OK) return;
    at_compute_exact_range(c, values, NULL, 4);
    at_compute_reference_c(a, c, values, "f", &out, &bytes, &err);
    if (is_small(c, extents)) {
        at_compute_flops(c, values, NULL);
        interpret(a, c, extents);
    }
    at_text_free(&out);
}

static void run(const uint8_t *data, size_t size) {
    at_arena *a = at_arena_new();
    char *text = fuzz_text(data, size);
    at_symbols symbols = {0};
    at_compute *c, *again;
    at_error err;
    at_text out = {0}, twice = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) at_symbol_add(a, &symbols, names[i]);
    if (at_compute_parse(a, &symbols, text, "compute", &c, &err) == AT_OK) {
        at_compute_print(&out, c);
        if (at_compute_parse(a, &symbols, out.data, "again", &again, &err) != AT_OK)
            AT_BUG("%s\n%s", err.text, out.data);
        expect_equal(c, again);
        at_compute_print(&twice, again);
        fuzz_expect_same(&out, &twice);
        ask(a, c);
    }
    at_text_free(&out);
    at_text_free(&twice);
    free(text);
    at_arena_free(a);
}

static bool seed(int i, at_text *out) {
    static const char *const texts[] = {
        "data[N, H, W, CI] : input\nweight[X, K] : weight\n"
        "im2col[y:Y, k:K] = inside ? data[n, ih, iw, c] : 0\n"
        "    where {n, h:H, w:W} = y, {kh:3, kw:3, c:CI} = k,\n"
        "          ih = h + kh - 1, iw = w + kw - 1,\n"
        "          inside = 0 <= ih && ih < H && 0 <= iw && iw < W\n"
        "packw[p:X/B, k:K, b:B] = weight[p*B + b, k]\n"
        "acc[y:Y, x:X] = sum(k:K) im2col[y, k] * packw[x/B, k, x%B]\n"
        "out[y:Y, x:X] = max(acc[y, x], 0.5)\n",
        "im2col[Y, K] : input\nblocks[E, R, 3] : weight\nindptr[X/R + 1] : index\n"
        "indices[E] : index\n"
        "cc[y:Y, xr:X/R, r:R, c:3] = sum(e : indptr[xr] .. indptr[xr+1])\n"
        "    im2col[y, indices[e]*3 + c] * blocks[e, r, c]\n"
        "out[y:Y, x:X] = sum(c:3) cc[y, x/R, x%R, c]\n",
        "a[N, H+2*N] : input\nb[i:N, j:H] = -a[i, j + 1]/2.0 + min(1, 2.5)\n"
        "c[i:N] = sum(j:H, k: j .. H) b[i, k]\n",
        NULL,
    };
    return fuzz_seed_of(texts, i, out);
}

const fuzz_target fuzz_compute = {"compute", run, seed, 1};
