/* One small convolution after every pass and in every dialect, as text: what a change to the code
 * generator does to its output shows as a difference. `make golden-update` rewrites the texts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "codegen/tile/tile_make.h"
#include "tests/arena.h"
#include "codegen/x86/asm.h"
#include "tests/codegen/support.h"
#include "tests/whole_file.h"

#define FOLDER "tests/golden/codegen"

/* Small, with all that the passes are about: a border, packing, a tail, a sum in registers. */
static const char sizes[] = "N=1 H=4 W=5 CI=2 Y=20 K=18 k9=9 ci=2 yt=1 yo=4 yi=5 ko=9 ki=2 xt=1 "
                            "X=11 xo=1 xi=11 B=11";
static const char compute_text[] =
    "data[N, H, W, CI] : input\n"
    "weight[X, K]      : weight\n"
    "bias[X]           : input\n"
    "im2col[y:Y, k:K]  = inside ? data[n, ih, iw, c] : 0\n"
    "    where {n, h:H, w:W} = y, {kh:3, kw:3, c:CI} = k,\n"
    "          ih = h + kh - 1, iw = w + kw - 1,\n"
    "          inside = 0 <= ih && ih < H && 0 <= iw && iw < W\n"
    "packw[p:(X + B - 1)/B, k:K, b:B] = x < X ? weight[x, k] : 0\n"
    "    where x = p*B + b\n"
    "acc[y:Y, x:X]     = sum(k:K) im2col[y, k] * packw[x/B, k, x%B]\n"
    "out[y:Y, x:X]     = max(acc[y, x] + bias[x], 0.0)\n";
static const char tree_text[] = "p, b, k =>\n"
                                "    @packw = p, k, b\n"
                                "yt, xt, yo =>\n"
                                "    yi, k9, ci:vec =>\n"
                                "        @im2col = {yt, yo, yi}/y, {k9, ci}/k\n"
                                "    xo =>\n"
                                "        ko, ki:unroll, yi:unroll, xi:vec =>\n"
                                "            @acc = {yt, yo, yi}/y, {xt, xo, xi}/x  // {ko, ki}/k\n"
                                "        yi:unroll, xi:vec =>\n"
                                "            @out = {yt, yo, yi}/y, {xt, xo, xi}/x\n";

static at_program *build(const char *sizes_text, const char *compute_of, const char *tree_of) {
    return program_of(arena, &(program){"golden", sizes_text, compute_of, tree_of});
}

/* Compares with the text kept under this name, or replaces it. */
static void check(const char *name, const char *text) {
    char *kept, *path = at_format(arena, FOLDER "/%s.txt", name);
    size_t len;
    if (getenv("AT_GOLDEN_UPDATE")) {
        if (mkdir(FOLDER, 0777) && errno != EEXIST) fail_msg("%s: %s", FOLDER, strerror(errno));
        CALL(at_write_file(path, text, strlen(text), &err));
        return;
    }
    CALL(read_whole(arena, path, &kept, &len, &err));
    for (int line = 1; *text || *kept; line++) {
        size_t n = strcspn(text, "\n"), k = strcspn(kept, "\n");
        if (n != k || memcmp(text, kept, n) != 0 || text[n] != kept[k])
            fail_msg("%s:%d: \"%.*s\" instead of \"%.*s\"; if that is meant: make golden-update",
                     path, line, (int)n, text, (int)k, kept);
        text += n + (text[n] == '\n');
        kept += k + (kept[k] == '\n');
    }
}

static at_kernel *lower(at_dialect dialect, const char *dump, at_text *out) {
    at_kernel *k;
    at_lower_options o = {.dialect = dialect,
                          .target = at_target_find("avx2"),
                          .name = "conv",
                          .dump = dump,
                          .dump_out = out,
                          .verify = true};
    CALL(at_lower(arena, build(sizes, compute_text, tree_text), &o, &k, &err));
    return k;
}

/* The trees and the tile programs; what depends on the dialect, C and machine code, is below. */
static void passes(void **state) {
    (void)state;
    for (int i = 0; at_pass_names[i]; i++) {
        at_text text = {0};
        if (!strcmp(at_pass_names[i], "emit") || !strcmp(at_pass_names[i], "code")) continue;
        lower(AT_DIALECT_TCC, at_pass_names[i], &text);
        check(at_format(arena, "%d_%s", i + 1, at_pass_names[i]), at_text_str(&text));
        at_text_free(&text);
    }
}

static void dialect_c(void **state) {
    (void)state;
    check("emit_c", lower(AT_DIALECT_C, NULL, NULL)->source);
}

static void dialect_gnu(void **state) {
    (void)state;
    check("emit_gnu_avx2", lower(AT_DIALECT_GNU, NULL, NULL)->source);
}

static void dialect_tcc(void **state) {
    (void)state;
    check("emit_tcc_avx2", lower(AT_DIALECT_TCC, NULL, NULL)->source);
}

/* Up to the return: behind it lie the masks. */
static void machine_code(void **state) {
    (void)state;
    at_text text = {0};
    lower(AT_DIALECT_TCC, "code", &text);
    check("code_avx2", at_text_str(&text));
    at_text_free(&text);
}

/* What a pass makes of a program, as text. */
static void dump_of(const at_program *p, at_dialect dialect, const char *isa, const char *pass,
                    at_text *out) {
    at_kernel *k;
    at_lower_options o = {.dialect = dialect,
                          .target = at_target_find(isa),
                          .name = "k",
                          .dump = pass,
                          .dump_out = out};
    CALL(at_lower(arena, p, &o, &k, &err));
}

/* The third run of v1 is a tail that has nothing to read, but its tile asks for the pointer. */
static void index_reads_stay_inside(void **state) {
    (void)state;
    at_text out = {0};
    const at_program *p = build("N=2 Y=1 V=2 v0=1 v1=3",
                                "a[N] : input\n"
                                "rows[Y] : index\n"
                                "pick[y:Y] = a[rows[y]]\n"
                                "s[v:V] = pick[v/2]\n",
                                "v0, v1 =>\n"
                                "    @s = {v0, v1}/v\n");
    dump_of(p, AT_DIALECT_C, "scalar", "tiles", &out);
    if (!strstr(out.data, "a + rows[0]")) fail_msg("%s", out.data);
    at_text_free(&out);
}

/* The register of four elements side by side is not that of every second one. */
static void other_strides_are_other_elements(void **state) {
    (void)state;
    at_text out = {0};
    const at_program *p = build("N=7 V=4",
                                "a[N] : input\n"
                                "m[u:N] = a[u]\n"
                                "s[v:V] = m[v*2]\n",
                                "u:vec =>\n"
                                "    @m = u\n"
                                "v:vec =>\n"
                                "    @s = v\n");
    dump_of(p, AT_DIALECT_C, "sse2", "tile", &out);
    if (!strstr(out.data, "[a.0+6]")) fail_msg("%s", out.data);
    at_text_free(&out);
}

/* Six dot products of two and a half vectors: nothing of them meets in memory, and what lies behind
 * the half vector adds nothing. */
static void tails_of_terms_are_in_the_tile(void **state) {
    (void)state;
    at_text out = {0};
    const at_program *p = build("M=2 N=3 K=20 m0=1 m1=2 n0=1 n1=3 k0=3 k1=8",
                                "a[M, K] : input\n"
                                "b[N, K] : input\n"
                                "s[m:M, n:N] = sum(k:K) a[m, k]*b[n, k]\n",
                                "m0, n0, k0, m1:unroll, n1:unroll, k1:vec =>\n"
                                "    @s = {m0, m1}/m, {n0, n1}/n // {k0, k1}/k\n");
    dump_of(p, AT_DIALECT_TCC, "avx2", "tile", &out);
    if (strstr(out.data, ", [s.") || strstr(out.data, "first ") || !strstr(out.data, "lanes 4"))
        fail_msg("%s", out.data);
    at_text_free(&out);
}

static const char sparse_text[] = "a[Y, D, M] : input\n"
                                  "w[E]       : weight\n"
                                  "list[E]    : index\n"
                                  "ptr[X + 1] : index\n"
                                  "pad[y:Y, d:D, m:M] = a[y, d, m] + 1.0\n"
                                  "s[y:Y, x:X] = sum(e : ptr[x] .. ptr[x + 1])\n"
                                  "    pad[y, k/M, k % M] * w[e]\n"
                                  "    where k = list[e]\n";
static const char sparse_tree[] = "y, d, m =>\n"
                                  "    @pad = y, d, m\n"
                                  "x, e:dyn(x), y:unroll =>\n"
                                  "    @s = y, x // e\n";

/* The rows of pad lie 32 + 16 apart, so that the entry's digits are not the entry. */
static void digits_of_entries_are_looked_up(void **state) {
    (void)state;
    for (int inside = 0; inside < 2; inside++) {
        at_text out = {0};
        at_kernel *k;
        at_lower_options o = {.dialect = AT_DIALECT_TCC,
                              .target = at_target_find("avx2"),
                              .name = "k",
                              .pack_inline = inside,
                              .dump = "tables",
                              .dump_out = &out};
        const at_program *p = build("Y=3 D=2 M=32 E=5 X=2", sparse_text, sparse_tree);
        CALL(at_lower(arena, p, &o, &k, &err));
        at_text_add(&out, k->source);
        check(inside ? "tables_inline" : "tables_ahead", out.data);
        at_text_free(&out);
    }
}

/* Five rows of im2col at once: one vector wide, an element for each multiply-add; or two wide. */
static void rows_of_columns_miss_each_others_banks(void **state) {
    (void)state;
    for (int wide = 0; wide <= 1; wide++) {
        at_text out = {0};
        dump_of(build(sizes, compute_text, tree_text), AT_DIALECT_TCC, wide ? "avx512" : "avx2",
                "buffers", &out);
        const char *stride = wide ? "im2col[2*ko + ki + 20*yi]" : "im2col[2*ko + ki + 48*yi]";
        if (!strstr(out.data, stride)) fail_msg("no %s in\n%s", stride, out.data);
        at_text_free(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_of_entries_are_looked_up),
        cmocka_unit_test(rows_of_columns_miss_each_others_banks),
        cmocka_unit_test(index_reads_stay_inside),
        cmocka_unit_test(other_strides_are_other_elements),
        cmocka_unit_test(tails_of_terms_are_in_the_tile),
        cmocka_unit_test(passes),
        cmocka_unit_test(dialect_c),
        cmocka_unit_test(dialect_gnu),
        cmocka_unit_test(dialect_tcc),
        cmocka_unit_test(machine_code),
    };
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
