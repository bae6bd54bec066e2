#include "tests/schedule/examples.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GEMM_HEAD                                                                                  \
    "data[N, H, W, CI] : input\n"                                                                  \
    "weight[X, K]      : weight\n"                                                                 \
    "im2col[y:Y, k:K]  = inside ? data[n, ih, iw, c] : 0\n"                                        \
    "    where {n, h:H, w:W} = y, {kh:3, kw:3, c:CI} = k,\n"                                       \
    "          ih = h + kh - 1, iw = w + kw - 1,\n"                                                \
    "          inside = 0 <= ih && ih < H && 0 <= iw && iw < W\n"
#define GEMM_TAIL                                                                                  \
    "acc[y:Y, x:X]     = sum(k:K) im2col[y, k] * packw[x/B, k, x%B]\n"                             \
    "out[y:Y, x:X]     = acc[y, x]\n"
#define GEMM_SIZES                                                                                 \
    "N=1, H=7, W=5, CI=3, CO=6, Y=N*H*W, X=CO, K=9*CI, "                                           \
    "yt=1, yo=5, yi=7, xt=1, xo=2, xi=3, ko=3, ki=9, B=xi, k9=9, ci=CI"

const example conv_gemm = {"conv_gemm", GEMM_SIZES,
                           GEMM_HEAD "packw[p:X/B, k:K, b:B] = weight[p*B + b, k]\n" GEMM_TAIL,
                           GEMM_TREE};

const example conv_tails = {"conv_tails", GEMM_SIZES,
                            GEMM_HEAD
                            "packw[p:(X + B - 1)/B, k:K, b:B] = x < X ? weight[x, k] : 0\n"
                            "    where x = p*B + b\n" GEMM_TAIL,
                            GEMM_TREE};

const example conv_direct = {
    "conv_direct",
    "N=2, IC=6, IH=9, IW=7, OC=8, KH=3, KW=2, sh=2, sw=1, dh=1, dw=2, pt=1, pb=2, pl=2, pr=0, "
    "OH=(IH+pt+pb-(KH-1)*dh-1)/sh+1, OW=(IW+pl+pr-(KW-1)*dw-1)/sw+1, i=3, o=4, C=IC/i, iic=i, b=o, "
    "ow=1, iw=7",
    "data[N, IC/i, IH, IW, i] : input\n"
    "weight[OC/o, IC/i, KH, KW, i, o] : weight\n"
    "pad[n:N, C:IC/i, y:IH+pt+pb, x:IW+pl+pr, c:i] = inside ? data[n, C, y-pt, x-pl, c] : 0\n"
    "    where inside = pt <= y && y < IH+pt && pl <= x && x < IW+pl\n"
    "acc[n:N, O:OC/o, h:OH, w:OW, b:o] = sum(ic:IC, kh:KH, kw:KW)\n"
    "    pad[n, ic/i, h*sh + kh*dh, w*sw + kw*dw, ic%i] * weight[O, ic/i, kh, kw, ic%i, b]\n"
    "out[n:N, O:OC/o, h:OH, w:OW, b:o] = acc[n, O, h, w, b]\n",
    "{n, O, h}:para, ow =>\n"
    "    C, kh, iic, kw:unroll, iw:unroll, b:vec =>\n"
    "        @acc = n, O, h, {ow, iw}/w, b  // {C, iic}/ic, kh, kw\n"
    "    iw:unroll, b:vec =>\n"
    "        @out = n, O, h, {ow, iw}/w, b\n"};

#define SPARSE_COMPUTE                                                                             \
    "im2col[Y, K]    : input\n"                                                                    \
    "blocks[E, R, C] : weight\n"                                                                   \
    "indptr[X/R + 1] : index\n"                                                                    \
    "indices[E]      : index\n"                                                                    \
    "cc[y:Y, xr:X/R, r:R, c:C] = sum(e : indptr[xr] .. indptr[xr+1])\n"                            \
    "    im2col[y, indices[e]*C + c] * blocks[e, r, c]\n"                                          \
    "out[y:Y, x:X] = sum(c:C) cc[y, x/R, x%R, c]\n"

const example sparse = {"sparse", "Y=6, K=12, X=8, R=2, C=3, E=7, r=R, yo=2, yi=3, xo=2, xi=2",
                        SPARSE_COMPUTE,
                        "yo, xo, xi =>\n"
                        "    e:dyn(xr), yi:unroll, r:vec, c:unroll =>\n"
                        "        @cc = {yo, yi}/y, {xo, xi}/xr, r, c  // e\n"
                        "    yi, r, c =>\n"
                        "        @out = {yo, yi}/y, {xo, xi, r}/x  // c\n"};

const example notes_direct = {
    "notes_direct", "N=1, OC=2, H=4, W=6, ow=3, iw=2, IC=2, iic=3, oc=4",
    "data[N, IC, H, W, iic] : input\n"
    "weight[OC, IC, 3, 3, iic, oc] : weight\n"
    "pad[n:N, c:IC, y:H+2, x:W+2, i:iic] = inside ? data[n, c, y-1, x-1, i] : 0.0\n"
    "    where inside = 1 <= y <= H && 1 <= x <= W\n"
    "CC[N:N, OC:OC, H:H, W:W, oc:oc] = sum(ic:IC*iic, kh:3, kw:3)\n"
    "    pad[N, ic/iic, H + kh, W + kw, ic%iic] * weight[OC, ic/iic, kh, kw, ic%iic, oc]\n"
    "CO[N:N, OC:OC, H:H, W:W, oc:oc] = max(CC[N, OC, H, W, oc], 0)\n",
    "{N, OC, H}:para, ow =>\n"
    "    IC, kh, iic, kw:unroll, iw:unroll, oc:vec =>\n"
    "        @CC = N, OC, H, {ow, iw}/W, oc  // {IC, iic}/ic, kh, kw\n"
    "    iw, oc:vec =>\n"
    "        @CO = N, OC, H, {ow, iw}/W, oc\n"};

const example notes_gemm = {"notes_gemm", GEMM_SIZES,
                            GEMM_HEAD "ccache[y:Y, x:X] = sum(k:K) im2col[y, k] * weight[x, k]\n"
                                      "cout[y:Y, x:X]   = ccache[y, x]\n",
                            "yt, xt, yo =>\n"
                            "    yi, k9, ci:vec =>\n"
                            "        @im2col = {yt, yo, yi}/y, {k9, ci}/k\n"
                            "    xo =>\n"
                            "        ko, ki:unroll, yi:unroll, xi:vec =>\n"
                            "            @ccache = {yt, yo, yi}/y, {xt, xo, xi}/x  // {ko, ki}k\n"
                            "        yi:unroll, xi:vec =>\n"
                            "            @cout = {yt, yo, yi}/y, {xt, xo, xi}/x\n"};

const example notes_sparse = {
    "notes_sparse",
    "N=1, H=3, W=4, CI=2, Y=N*H*W, K=9*CI, X=8, E=7, yt=2, yo=2, yi=3, xt=2, xo=2, xi=2, ki=3, "
    "k9=9, ci=CI",
    GEMM_HEAD "blocks[E, xi, ki] : weight\n"
              "indptr[X/xi + 1]  : index\n"
              "indices[E]        : index\n"
              "CC[y:Y, xr:X/xi, r:xi, c:ki] = sum(ko : indptr[xr] .. indptr[xr+1])\n"
              "    im2col[y, indices[ko]*ki + c] * blocks[ko, r, c]\n"
              "C[y:Y, x:X] = sum(c:ki) CC[y, x/xi, x%xi, c]\n",
    "yt, xt, yo =>\n"
    "    yi, k9, ci:vec =>\n"
    "        @im2col = {yt, yo, yi}/y, {k9, ci}/k\n"
    "    xo =>\n"
    "        x1:1, ko:dyn(xr), yi:unroll, xi:vec, ki:unroll =>\n"
    "            @CC = {yt, yo, yi}/y, {xt, xo, x1}/xr, xi, ki  // ko\n"
    "        yi:unroll, xi:vec, ki:unroll =>\n"
    "            @C = {yt, yo, yi}/y, {xt, xo, xi}/x  // ki\n"};

const example transform = {
    "transform", "W=8, CI=5, CO=6, k=2",
    "data[W + 2, CI] : input\n"
    "weight[3, CI, CO] : weight\n"
    "B[e:4, i:4] = {1, 0, -1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, 1, 0, -1}\n"
    "G[e:4, j:3] = {1, 0, 0, 0.5, 0.5, 0.5, 0.5, -0.5, 0.5, 0, 0, 1}\n"
    "T[k:2, e:4] = {1, 1, 1, 0, 0, 1, -1, -1}\n"
    "u[e:4, c:CI, o:CO] = G[e, 0]*weight[0, c, o] + G[e, 1]*weight[1, c, o]\n"
    "    + G[e, 2]*weight[2, c, o]\n"
    "v[e:4, t:W/2, c:CI] = sum(i:4) B[e, i]*data[t*2 + i, c]\n"
    "p[e:4, t:W/2, o:CO] = sum(c:CI) v[e, t, c]*u[e, c, o]\n"
    "y[t:W/2, k:2, o:CO] = sum(e:4) T[k, e]*p[e, t, o]\n"
    "out[w:W, o:CO] = y[w/2, w%2, o]\n",
    "c, e:unroll, o:vec =>\n"
    "    @u = e, c, o\n"
    "t, i:unroll, e:unroll, c:vec =>\n"
    "    @v = e, t, c  // i\n"
    "e, c, t:unroll, o:vec =>\n"
    "    @p = e, t, o  // c\n"
    "t =>\n"
    "    e:unroll, k:unroll, o:vec =>\n"
    "        @y = t, k, o  // e\n"
    "    k:unroll, o:vec =>\n"
    "        @out = {t, k}/w, o\n"};

const example *const examples[] = {&conv_gemm,    &conv_tails, &conv_direct,  &sparse,
                                   &notes_direct, &notes_gemm, &notes_sparse, &transform};
const int num_examples = sizeof examples / sizeof *examples;

/* ---- sizes ----------------------------------------------------------------------------------- */

static void resolve(const fixture *f, at_expr *e) {
    if (e->op == AT_X_NAME) e->ref = at_symbol_find(&f->symbols, e->name);
    for (int i = 0; i < e->nargs; i++) resolve(f, e->arg[i]);
}

void fixture_set(fixture *f, const char *sizes) {
    at_lex l;
    assert_ok(f, at_lex_start(&l, sizes, "sizes", &f->err));
    while (l.kind != AT_TOK_END) {
        char *name = at_strndup(f->arena, l.start, (size_t)l.length);
        int slot = at_symbol_add(f->arena, &f->symbols, name);
        assert_in_range(slot, 0, 63);
        at_expr *e;
        assert_ok(f, at_lex_next(&l, &f->err));
        assert_true(at_lex_is(&l, "="));
        assert_ok(f, at_lex_next(&l, &f->err));
        assert_ok(f, at_expr_parse(f->arena, &l, &e, &f->err));
        resolve(f, e);
        assert_ok(f, at_expr_eval(e, f->values, &f->values[slot], &f->err));
        if (at_lex_is(&l, ",")) assert_ok(f, at_lex_next(&l, &f->err));
    }
}

void fixture_sizes(fixture *f, const char *sizes) {
    memset(f, 0, sizeof *f);
    f->arena = at_arena_new();
    fixture_set(f, sizes);
}

int64_t fixture_value(const fixture *f, const char *name) {
    int slot = at_symbol_find(&f->symbols, name);
    assert_true(slot >= 0);
    return f->values[slot];
}

void fixture_text(fixture *f, const char *sizes, const char *text) {
    fixture_sizes(f, sizes);
    assert_ok(f, at_compute_parse(f->arena, &f->symbols, text, "c", &f->compute, &f->err));
}

void fixture_open(fixture *f, const example *e) {
    fixture_sizes(f, e->sizes);
    assert_ok(f,
              at_compute_parse(f->arena, &f->symbols, e->compute, e->name, &f->compute, &f->err));
    assert_ok(f, at_tree_parse(f->arena, f->compute, e->tree, e->name, &f->tree, &f->err));
}

void fixture_close(fixture *f) {
    if (f->loaded) dlclose(f->loaded);
    at_arena_free(f->arena);
}

naive_entry *fixture_compile(fixture *f, const char *source) {
    char dir[] = "/tmp/at_reference_XXXXXX";
    assert_non_null(mkdtemp(dir));
    char *c_file = at_format(f->arena, "%s/r.c", dir),
         *library = at_format(f->arena, "%s/r.so", dir);
    assert_ok(f, at_write_file(c_file, source, strlen(source), &f->err));
    if (system(at_format(f->arena,
                         "${CC:-cc} -std=c99 -O1 -Wall -Wextra -Werror -ffreestanding "
                         "-Wno-missing-prototypes -shared -fPIC -o %s %s",
                         library, c_file)))
        fail_msg("does not compile:\n%s", source);
    if (f->loaded) dlclose(f->loaded);
    f->loaded = dlopen(library, RTLD_NOW);
    assert_non_null(f->loaded);
    naive_entry *run;
    *(void **)&run = dlsym(f->loaded, "reference");
    assert_non_null(run);
    unlink(c_file);
    unlink(library);
    rmdir(dir);
    return run;
}

/* ---- data ------------------------------------------------------------------------------------ */

/* Row starts that reach E, one row empty; block columns below K/C. */
static void fill_index(fixture *f, const at_tensor *t, int32_t *x, int64_t n, at_rng *rng) {
    bool pointers = !strcmp(t->name, "indptr");
    if (at_symbol_find(&f->symbols, "E") < 0 || strncmp(t->name, "ind", 3)) return;
    int64_t stored = fixture_value(f, "E");
    int width = at_symbol_find(&f->symbols, "C");
    int64_t columns =
        fixture_value(f, "K") / (width >= 0 ? f->values[width] : fixture_value(f, "ki"));
    for (int64_t i = 0; i < n; i++)
        x[i] = pointers ? (int32_t)(i == 0 || i == 1 ? 0
                                    : i == n - 1     ? stored
                                                     : stored * i / n)
                        : (int32_t)at_rng_below(rng, (uint64_t)columns);
}

void fixture_fill(fixture *f, uint64_t seed) {
    const at_compute *c = f->compute;
    at_rng rng;
    int64_t **extents;
    at_rng_seed(&rng, seed, 1);
    assert_ok(f, at_compute_extents(f->arena, c, f->values, &extents, &f->err));
    f->data = AT_NEW_ARRAY(f->arena, at_data, c->num_tensors);
    f->found = AT_NEW_ARRAY(f->arena, at_data, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) {
        const at_tensor *x = &c->tensors[t];
        int64_t n = at_tensor_elements(x, extents[t]);
        if (x->role == AT_ROLE_STAGE) continue;
        if (x->role == AT_ROLE_INDEX) {
            f->data[t].i = AT_NEW_ARRAY(f->arena, int32_t, n);
            fill_index(f, x, f->data[t].i, n, &rng);
        } else {
            f->data[t].f = AT_NEW_ARRAY(f->arena, float, n);
            for (int64_t i = 0; i < n; i++)
                f->data[t].f[i] = (float)((int)at_rng_below(&rng, 12) - 4);
        }
        f->found[t] = f->data[t];
    }
}

/* ---- running --------------------------------------------------------------------------------- */

at_status fixture_build(fixture *f) {
    AT_TRY(at_program_build(f->arena, f->tree, f->values, &f->program, &f->err));
    return at_program_verify(f->arena, f->program, &f->err);
}

void fixture_compare(fixture *f, const char *what) {
    const at_compute *c = f->compute;
    if (at_compute_interpret(f->arena, c, f->values, f->data, &f->err) != AT_OK)
        fail_msg("%s: expressions: %s", what, f->err.text);
    if (at_program_interpret(f->arena, f->program, f->found, &f->err) != AT_OK)
        fail_msg("%s: tree: %s", what, f->err.text);
    for (int t = 0; t < c->num_tensors; t++) {
        if (!c->tensors[t].is_output) continue;
        int64_t n = at_tensor_elements(&c->tensors[t], f->program->extents[t]);
        for (int64_t i = 0; i < n; i++)
            if (!(f->found[t].f[i] == f->data[t].f[i]))
                fail_msg("%s: %s[%lld] is %g, expected %g", what, c->tensors[t].name, (long long)i,
                         (double)f->found[t].f[i], (double)f->data[t].f[i]);
    }
}
