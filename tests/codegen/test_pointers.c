/* What is read by lists of places ([pointers ...]) is what is read under the condition: on pictures
 * of all small sizes, strides, dilations and paddings, by sums and by a maximum, which padding is
 * no term of, in every form that lowering gives them. AT_SEED chooses others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/codegen/phases.h"
#include "tests/setting.h"

#include <stdlib.h>
#include <string.h>

static const char convolution[] =
    "data[N, H, W, C] : input\n"
    "weight[K, K, C, F] : weight\n"
    "pad[n:N, y:H+2*P, x:W+2*P, c:C] = inside ? data[n, y-P, x-P, c] : 0\n"
    "    where inside = P <= y && y < H+P && P <= x && x < W+P\n"
    "conv[n:N, h:OH, w:OW, f:F] = sum(r:K, q:K, c:C)\n"
    "    pad[n, h*S + r*D, w*S + q*D, c]*weight[r, q, c, f]\n"
    "out[n:N, h:OH, w:OW, f:F] = max(conv[n, h, w, f], 0)\n";
static const char by_pixels[] = "{f0, n, h, w0}:para =>\n"
                                "    r, q, c0, c1:unroll, w1:unroll, f1:vec =>\n"
                                "        @conv[pointers data] = n, h, {w0, w1}/w, {f0, f1}/f "
                                "// r, q, {c0, c1}/c\n"
                                "    w1:unroll, f1:vec =>\n"
                                "        @out = n, h, {w0, w1}/w, {f0, f1}/f\n";
/* Rows and columns of a tile, the sums in memory between steps of the reduction. */
static const char by_blocks[] =
    "n, c0, h0, w0, f0 =>\n"
    "    c1:unroll, r, q, h1:unroll, w1:unroll, f1:vec =>\n"
    "        @conv[pointers data] = n, {h0, h1}/h, {w0, w1}/w, {f0, f1}/f "
    "// r, q, {c0, c1}/c\n"
    "n, h, w, f =>\n"
    "    @out = n, h, w, f\n";

/* The condition is the reader's own, over axes of its reductions; what misses is no term, or 1.5.
 */
static const char pooling[] =
    "data[N, H, W, C] : input\n"
    "weight[K, C] : input\n"
    "most[n:N, h:OH, w:OW, c:C] = max(r:K, q:K) inside ? data[n, h*S+r*D-P, w*S+q*D-P, c] : -inf\n"
    "    where inside = 0 <= h*S+r*D-P && h*S+r*D-P < H && 0 <= w*S+q*D-P && w*S+q*D-P < W\n"
    "out[n:N, h:OH, w:OW, c:C] = sum(q:K) one * weight[q, c]\n"
    "    where inside = h < H && 0 <= w*S+q*D-P && w*S+q*D-P < W,\n"
    "          one = inside ? data[n, h, w*S+q*D-P, c] : 1.5\n"
    "both[n:N, h:OH, w:OW, c:C] = max(most[n, h, w, c], 0 - 100) + out[n, h, w, c]\n";
static const char by_channels[] =
    "n, h, w0, f0, r, q, w1:unroll, f1:vec =>\n"
    "    @most[pointers data] = n, h, {w0, w1}/w, {f0, f1}/c // r, q\n"
    "n, h, w0, f0 =>\n"
    "    q:unroll, w1:unroll, f1:vec =>\n"
    "        @out[pointers data] = n, h, {w0, w1}/w, {f0, f1}/c // q\n"
    "    w1:unroll, f1:vec =>\n"
    "        @both = n, h, {w0, w1}/w, {f0, f1}/c\n";

enum { COUNT = 24 };

static int64_t take(at_rng *r, int64_t lo, int64_t hi) {
    return lo + (int64_t)at_rng_below(r, (uint64_t)(hi - lo + 1));
}

static void add(random_program *p, const char *name, int64_t value) {
    rp_size *s = &p->size[p->num_sizes++];
    *s = (rp_size){.value = value};
    snprintf(s->name, RP_NAME, "%s", name);
}

static int64_t parts(int64_t extent, int64_t of) { return (extent + of - 1) / of; }

/* A random shape; false: the kernel exceeds the padded picture. */
static bool make(at_rng *r, uint64_t seed, random_program *p) {
    int64_t h = take(r, 1, 5), w = take(r, 1, 7), k = take(r, 1, 4), s = take(r, 1, 3),
            d = take(r, 1, 2), pad = take(r, 0, 3), c = take(r, 1, 9), f = take(r, 1, 20);
    int64_t oh = h + 2 * pad - d * (k - 1) - 1, ow = w + 2 * pad - d * (k - 1) - 1;
    if (oh < 0 || ow < 0) return false;
    oh = oh / s + 1, ow = ow / s + 1;
    memset(p, 0, sizeof *p);
    p->seed = seed;
    p->pack_inline = seed % 3 == 0;
    const char *const names[] = {"N", "H", "W", "C", "F", "K", "S", "D", "P", "OH", "OW"};
    const int64_t value[] = {take(r, 1, 3), h, w, c, f, k, s, d, pad, oh, ow};
    for (size_t i = 0; i < sizeof value / sizeof *value; i++) add(p, names[i], value[i]);
    int which = (int)(seed % 3);
    int64_t f1 = take(r, 1, 20), w1 = take(r, 1, 4), h1 = take(r, 1, 2), c1 = take(r, 1, 4);
    add(p, "f1", f1), add(p, "f0", parts(which == 2 ? c : f, f1));
    add(p, "w1", w1), add(p, "w0", parts(ow, w1));
    add(p, "h1", h1), add(p, "h0", parts(oh, h1));
    while (c % c1) c1--;
    add(p, "c1", c1), add(p, "c0", c / c1);
    strcpy(p->compute, which == 2 ? pooling : convolution);
    p->tree = which == 2 ? by_channels : which ? by_blocks : by_pixels;
    return true;
}

static void every_form(void **state) {
    (void)state;
    random_program *p = calloc(COUNT, sizeof *p);
    const random_program *list[COUNT];
    outcome *out = outcomes_new(COUNT);
    at_rng r;
    assert_non_null(p);
    at_rng_seed(&r, (uint64_t)setting("AT_SEED", 5), 5);
    for (int n = 0; n < COUNT;) {
        built b;
        if (!make(&r, (uint64_t)n, &p[n])) continue;
        use u = build_open(&b, &p[n]);
        if (u == USE_REFUSED) fail_msg("%s", b.err.text);
        build_close(&b);
        if (u == USE_OK) list[n] = &p[n], n++;
    }
    run_phases(list, COUNT, PHASE_TREE, PHASE_TCC, out);
    for (int i = 0; i < COUNT; i++) {
        at_text sizes = {0};
        random_program_sizes(&p[i], &sizes);
        if (out[i].verdict != VERDICT_RIGHT)
            fail_msg("%s, %s: %s\n%s", phase_name(out[i].phase), at_text_str(&sizes), out[i].text,
                     p[i].tree);
        at_text_free(&sizes);
    }
    outcomes_free(out, COUNT);
    free(p);
}

/* Two lists of which only one has places outside: their tiles differ in nothing else. */
static void with_and_without_places_outside(void **state) {
    (void)state;
    random_program *p = calloc(1, sizeof *p);
    const random_program *list[] = {p};
    outcome *out = outcomes_new(1);
    built b;
    assert_non_null(p);
    add(p, "H", 6), add(p, "C", 16), add(p, "P", 1), add(p, "O", 0);
    strcpy(p->compute, "a[H + 2, C] : input\n"
                       "b[H, C] : input\n"
                       "all[y:H+2, c:C] = O <= y && y < H + 2 + O ? a[y-O, c] : 0\n"
                       "some[y:H+2, c:C] = P <= y && y < H + P ? b[y-P, c] : 0\n"
                       "first[h:H, f:C] = sum(r:3) all[h + r, f]\n"
                       "second[h:H, f:C] = sum(r:3) some[h + r, f]\n"
                       "out[h:H, f:C] = first[h, f] + second[h, f]\n");
    p->tree = "h, r, f:vec =>\n"
              "    @first[pointers a] = h, f // r\n"
              "h, r, f:vec =>\n"
              "    @second[pointers b] = h, f // r\n"
              "h, f:vec =>\n"
              "    @out = h, f\n";
    if (build_open(&b, p) != USE_OK) fail_msg("%s", b.err.text);
    build_close(&b);
    run_phases(list, 1, PHASE_TREE, PHASE_TCC, out);
    if (out->verdict != VERDICT_RIGHT) fail_msg("%s: %s", phase_name(out->phase), out->text);
    outcomes_free(out, 1);
    free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_form),
                                       cmocka_unit_test(with_and_without_places_outside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
