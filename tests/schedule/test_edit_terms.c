/* Edits of the terms of a sum: phases, branches, blocks of a search, quotients, and what bounds a
 * stage. */
#include "schedule/edit/edit_phases.h"
#include "tests/schedule/edited.h"

#include <string.h>

static at_status by_phases_of(const char *stage, const char *axis, const char *name,
                              at_phase_inverse by, bool is_whole) {
    return at_edit_phases(e.f.arena, e.tree, stage, axis, name, by, is_whole, &e.compute, &e.tree,
                          &e.err);
}

static at_status by_phases(const char *stage, const char *axis, const char *name, bool is_whole) {
    return by_phases_of(stage, axis, name, (at_phase_inverse){1, 1}, is_whole);
}

/* The terms that count, by the phases of an axis; place and bounds are those of the quotient. */
static void gone_by_phases(void **state) {
    (void)state;
    static const char text[] =
        "x[I] : input\nw[R] : input\n"
        "s[h:I*S] = sum(r:R) -(c ? x[(h + 1 - r)/S] : 0)*w[r]\n"
        "    where c = (h + 1 - r)%S == 0 && 0 <= h + 1 - r && h + 1 - r < I*S\n"
        "u[h:I*S] = sum(r:R) ((h + 1 - r)%S == 0 ? 1 : w[r])\n"
        "out[h:I*S] = s[h] + u[h]\n";
    static const example x = {"text", "I=5, R=3, S=2", text,
                              "h, r =>\n    @s = h // r\nh, r =>\n    @u = h // r\n"
                              "h =>\n    @out = h\n"};
    begin_edits(&x);
    REFUSED("@s is no sum of whose terms a remainder along \"r\" leaves every n-th",
            by_phases("s", "r", "b", false));
    REFUSED("@u is no sum of whose terms a remainder along \"h\" leaves every n-th",
            by_phases("u", "h", "b", false)); /* what is left out is not 0 */
    REFUSED("@x has no leaf of its own in this tree", by_phases("x", "h", "b", false));
    REFUSED("there is a tensor \"w\" already", by_phases("s", "h", "w", false));
    DO(by_phases("s", "h", "t", false));
    expect_stage("s[h:I*S] = t[h%S, h/S]\n");
    expect_same_outputs();
    end_edits();
}

/* Where steps do not divide the axis, the last phase ends where the tensor does. */
static void gone_by_uneven_phases(void **state) {
    (void)state;
    static const char text[] = "x[5] : input\nw[3] : input\n"
                               "s[h:9] = sum(r:3) (c ? x[(h + 1 - r)/2] : 0)*w[r]\n"
                               "    where c = (h + 1 - r)%2 == 0 && 0 <= h + 1 - r\n"
                               "out[h:9] = s[h] + 1\n";
    static const example x = {"text", "I=5", text,
                              "h, r =>\n    @s = h // r\nh =>\n    @out = h\n"};
    begin_edits(&x);
    DO(by_phases("s", "h", "t", false));
    expect_stage("s[h:9] = t[h%2, h/2]\n");
    expect_stage(
        "(1 + h_p)/2 + h - r >= 0 && (1 + h_p)/2 + h - r < 5 ? x[(1 + h_p)/2 + h - r] : 0");
    expect_same_outputs();
    end_edits();
}

/* The place moves by a factor with the reduction: forwards and back, by numbers and by sizes. */
static void gone_by_dilated_phases(void **state) {
    (void)state;
    static const char text[] =
        "x[7] : input\nw[5] : input\n"
        "s[h:21] = sum(r:5) (c ? x[(h + 1 - 2*r)/3] : 0)*w[r]\n"
        "    where c = (h + 1 - 2*r)%3 == 0 && 0 <= h + 1 - 2*r && h + 1 - 2*r < 21\n"
        "u[h:20] = sum(r:5) (c ? x[(h + r*D)/S] : 0)*w[r]\n"
        "    where c = (h + r*D)%S == 0 && h + r*D < 7*S\n"
        "o[h:20] = sum(r:5) (c ? x[(h - 8*r)/4] : 0)*w[r]\n"
        "    where c = (h - 8*r)%4 == 0 && 0 <= h - 8*r && h - 8*r < 28\n"
        "out[h:20] = s[h + 1] + u[h] + o[h]\n";
    static const example x = {"text", "D=6, S=4", text,
                              "h, r =>\n    @s = h // r\nh, r =>\n    @u = h // r\n"
                              "h, r =>\n    @o = h // r\nh =>\n    @out = h\n"};
    begin_edits(&x);
    REFUSED("inverse 0 and common 1 undo no factor of @s",
            by_phases_of("s", "h", "t", (at_phase_inverse){0, 1}, false));
    DO(by_phases_of("s", "h", "t", at_phase_inverse_of(3, 2), false));
    expect_stage("w[3*r + 2*(1 + h_p)%3]");
    expect_same_outputs();
    DO(by_phases_of("u", "h", "v", at_phase_inverse_of(4, 6), false));
    expect_stage("h_p_0%2 == 0 && ");
    expect_same_outputs();
    DO(by_phases_of("o", "h", "q", at_phase_inverse_of(4, 8), true)); /* each term is its own */
    expect_stage("h:(20 + 4 - 1)/4] = sum(r:5) (h_p_1%4 == 0");
    expect_same_outputs();
    end_edits();
}

/* The place moves with the axis alone: all terms of a phase count, or none. */
static void gone_by_empty_phases(void **state) {
    (void)state;
    static const char text[] =
        "x[9] : input\nw[3] : input\n"
        "s[h:20] = sum(r:3) (c ? x[(h + 1)/S - r] : 0)*w[r]\n"
        "    where c = (h + 1)%S == 0 && 0 <= (h + 1)/S - r && (h + 1)/S - r < 9\n"
        "u[h:20] = sum(r:3) (h%2 == 0 ? x[r] : 0)*w[r]\n"
        "out[h:20] = s[h] + u[h]\n";
    static const example x = {"text", "S=3", text,
                              "h, r =>\n    @s = h // r\nh, r =>\n    @u = h // r\n"
                              "h =>\n    @out = h\n"};
    begin_edits(&x);
    REFUSED("@u is no sum of whose terms a remainder along \"h\" leaves every n-th",
            by_phases("u", "h", "b", false)); /* which element is read does not depend on it */
    DO(by_phases("s", "h", "t", false));
    expect_stage("h:(20 + S - 1)/S] = sum(r:3) ((1 + h_p)%S == 0 && ");
    expect_stage("x[(1 + h_p)/S + h - r]");
    expect_same_outputs();
    end_edits();
}

static void inverses(void **state) {
    (void)state;
    for (int64_t step = 1; step <= 24; step++)
        for (int64_t factor = 1; factor <= 50; factor++) {
            const at_phase_inverse by = at_phase_inverse_of(step, factor);
            int64_t common = step;
            while (step % common || factor % common) common--;
            assert_int_equal(by.common, common);
            assert_true(by.inverse >= 1 && by.inverse <= step);
            assert_int_equal(by.inverse * factor % step, common % step);
        }
}

static at_status by_branches(const char *stage, const char *first, const char *second) {
    return at_edit_branches(e.f.arena, e.tree, stage, (const char *[]){first, second}, &e.compute,
                            &e.tree, &e.err);
}

/* Two sums, each of the terms with one side of a choice, whatever stands around that. */
static void gone_by_branches(void **state) {
    (void)state;
    static const char text[] = "a[N, N] : input\nx[N] : input\n"
                               "s[i:N] = sum(j:N, k:2) -x[j]*(k*(c ? v : a[j, i])) where c = j >= "
                               "i && k < 1, v = a[i, j]\n"
                               "u[i:N] = sum(j:N) (x[j] > 0 ? a[i, j] : a[j, i])\n"
                               "m[i:N] = max(j:N) (j > i ? a[i, j] : a[j, i])\n"
                               "r[i:N] = sum(j:0..i) (j > 1 ? a[i, j] : a[j, i])\n"
                               "q[i:N] = sum(j:N) (j > 1 ? a[i, j] : 0)\n"
                               "out[i:N] = s[i] + u[i] + m[i] + r[i] + q[i]\n";
    static const example x = {"text", "N=5", text,
                              "i, j, k =>\n    @s = i // j, k\ni, j =>\n    @u = i // j\n"
                              "i, j =>\n    @m = i // j\ni, j:dyn(i) =>\n    @r = i // j\n"
                              "i, j =>\n    @q = i // j\ni =>\n    @out = i\n"};
    static const char *const others[] = {"u", "m", "r", "q", "out"};
    begin_edits(&x);
    for (int i = 0; i < 5; i++)
        REFUSED(at_format(e.f.arena, "the terms of @%s choose between no two reads by indices",
                          others[i]),
                by_branches(others[i], "b", "c"));
    REFUSED("@x has no leaf of its own in this tree", by_branches("x", "b", "c"));
    REFUSED("there is a tensor \"a\" already", by_branches("s", "a", "c"));
    DO(by_branches("s", "b", "c"));
    expect_stage("b[i:N] = sum(j:N, k:2) j >= i && k < 1 ? -x[j]*(k*a[i, j]) : 0\n");
    expect_stage("c[i:N] = sum(j:N, k:2) j >= i && k < 1 ? 0 : -x[j]*(k*a[j, i])\n");
    expect_stage("s[i:N] = b[i] + c[i]\n");
    expect_same_outputs();
    end_edits();
}

static at_status searched(const char *stage, const char *part, const char *from, int64_t length) {
    return at_edit_search(e.f.arena, e.tree, stage, (const char *[]){part, from}, length,
                          &e.compute, &e.tree, &e.err);
}

/* First and last places in blocks; what is no place of an extreme's own terms, or may be nearer
 * than all places, is looked for as before; so is what may have been rounded when it was stored. */
static void searched_in_blocks(void **state) {
    (void)state;
    static const char text[] =
        "x[N, K] : input\ny[K] : index\n"
        "m[i:N] = max(k:K) x[i, k]*2\n"
        "f[i:N] = min(k:K) m[i] == x[i, k]*2 ? k : inf\n"
        "l[o:1] : s32 = min(k:K) y[k]\n"
        "p[o:1] : s32 = max(k:K) y[k] == l[0] ? k : -1\n"
        "a[i:N] = min(k:K) x[i, k] == m[i] ? k : inf\n"
        "b[i:N] = min(k:K) x[i, k]*2 == m[i] ? K - k : inf\n"
        "c[i:N] = min(k:K) x[i, k]*2 == m[i] ? k : 3\n"
        "d[i:N] = max(k:K) x[i, k]*2 == m[i] ? k : inf\n"
        "g[i:N] = sum(k:K) x[i, k]*2 == m[i] ? k : 0\n"
        "h[i:N] : f16 = max(k:K) x[i, k]*2\n"
        "r16[i:N] = min(k:K) x[i, k]*2 == h[i] ? k : inf\n"
        "w[o:1] : u8 = max(k:K) y[k]*3\n"
        "r8[o:1] = min(k:K) y[k]*3 == w[o] ? k : inf\n"
        "out[i:N] = f[i] + p[0] + a[i] + b[i] + c[i] + min(d[i], 9) + g[i] + r16[i] + r8[0]\n";
    static const example x = {
        "text", "N=3, K=7", text,
        "i, k =>\n    @m = i // k\ni, k =>\n    @f = i // k\no, k =>\n    @l = o // k\n"
        "o, k =>\n    @p = o // k\ni, k =>\n    @a = i // k\ni, k =>\n    @b = i // k\n"
        "i, k =>\n    @c = i // k\ni, k =>\n    @d = i // k\ni, k =>\n    @g = i // k\n"
        "i, k =>\n    @h = i // k\ni, k =>\n    @r16 = i // k\no, k =>\n    @w = o // k\n"
        "o, k =>\n    @r8 = o // k\ni =>\n    @out = i\n"};
    static const char *const others[] = {"a", "b", "c", "d", "g", "m", "r16", "r8", "out"};
    begin_edits(&x);
    for (int i = 0; i < 9; i++)
        REFUSED(
            at_format(e.f.arena, "@%s looks for no place of a largest or smallest term", others[i]),
            searched(others[i], "q", "r", 3));
    REFUSED("@x has no leaf of its own in this tree", searched("x", "q", "r", 3));
    REFUSED("there is a tensor \"y\" already", searched("f", "y", "r", 3));
    REFUSED("there is a tensor \"y\" already", searched("f", "q", "y", 3));
    DO(searched("f", "q", "r", 3));
    expect_stage("q[i:N, k_b:(K + 2)/3] = max(k:3) x[i, min(k_b*3, K - 3) + k]*2\n");
    expect_stage("m[i:N] = max(k_b:(K + 2)/3) q[i, k_b]\n");
    expect_stage(
        "r[i:N] : s32 = min(k_b:(K + 2)/3) q[i, k_b] == m[i] ? min(k_b*3, K - 3) : K - 3\n");
    expect_stage("f[i:N] = min(k:3) x[i, r[i] + k]*2 == m[i] ? r[i] + k : inf\n");
    expect_same_outputs();
    DO(searched("p", "t", "u", 7));
    expect_stage("t[o:1, k_b_0:(K + 6)/7] : s32 = min(k:7) y[min(k_b_0*7, K - 7) + k]\n");
    expect_stage("u[o:1] : s32 = max(k_b_0:(K + 6)/7) t[0, k_b_0] == l[0] ? "
                 "min(k_b_0*7, K - 7) : 0\n");
    expect_stage("p[o:1] : s32 = max(k:7) y[u[o] + k] == l[0] ? u[o] + k : -1\n");
    expect_same_outputs();
    end_edits();
}

static at_status divided(const char *stage, const char *name) {
    return at_edit_quotient(e.f.arena, e.tree, stage, name, &e.compute, &e.tree, &e.err);
}

/* Terms divided by what all share, wherever among their factors; nothing else is taken out, and no
 * integers are left to be multiplied. */
static void divided_once(void **state) {
    (void)state;
    static const char text[] = "a[N, N] : input\nx[N] : input\nz[N] : input\nn[N] : index\n"
                               "s[i:N] = sum(j:N) -floor(x[j]*8)*(floor(a[i, j]*8)/(z[i] > 0 ? 2 : "
                               "4))/(z[0] < 0 ? 2 : 8)\n"
                               "u[i:N] = sum(j:N) x[j]*(a[i, j]/(2 + abs(z[j])))\n"
                               "m[i:N] = max(j:N) a[i, j]/(2 + abs(z[i]))\n"
                               "q[i:N] = sum(j:N) x[j]/(a[i, j]*(x[j]/z[i]) + 9)\n"
                               "r[i:N] = sum(j:N) (x[j] + a[i, j]/z[i])/3\n"
                               "w[i:N] = sum(j:N) n[j]/(2 + abs(z[i]))*n[j]\n"
                               "out[i:N] = s[i] + u[i] + m[i] + q[i] + r[i] + w[i]\n";
    static const example x = {
        "text", "N=5", text,
        "i, j =>\n    @s = i // j\ni, j =>\n    @u = i // j\n"
        "i, j =>\n    @m = i // j\ni, j =>\n    @q = i // j\n"
        "i, j =>\n    @r = i // j\ni, j =>\n    @w = i // j\ni =>\n    @out = i\n"};
    static const char *const others[] = {"u", "m", "q", "r", "w", "out"};
    begin_edits(&x);
    for (int i = 0; i < 6; i++)
        REFUSED(at_format(e.f.arena, "the terms of @%s are divided by nothing that they share",
                          others[i]),
                divided(others[i], "b"));
    REFUSED("@x has no leaf of its own in this tree", divided("x", "b"));
    REFUSED("there is a tensor \"a\" already", divided("s", "a"));
    DO(divided("s", "b"));
    expect_stage("b[i:N] = sum(j:N) -floor(x[j]*8)*floor(a[i, j]*8)\n");
    expect_stage("s[i:N] = b[i]/((z[0] < 0 ? 2 : 8)*(z[i] > 0 ? 2 : 4))\n");
    expect_same_outputs();
    end_edits();
}

static at_status bounded(const char *stage) {
    const at_expr *needs;
    return at_edit_bound(e.f.arena, e.tree, stage, &needs, &e.compute, &e.tree, &e.err);
}

/* What all reads ask bounds a sum, and where factors are 0 its terms; not what one read alone asks,
 * what data or one axis decide, or what another reduction would take for nothing. */
static void bounded_by_readers(void **state) {
    (void)state;
    static const char text[] =
        "a[N, N] : input\nx[N] : input\n"
        "s[i:N, j:N] = sum(k:N) a[i, k]*a[j, k]\n"
        "t[i:N, j:N] = sum(k:N) a[i, k]*a[k, j]\n"
        "m[i:N, j:N] = max(k:N) a[i, k]*a[k, j]\n"
        "most[i:N] = max(j:N) (j <= i && j > i - 2 && j > 0 ? s[i, j] : -9)\n"
        "e[i:N, j:N] = i < j + 2 && j <= i ? s[i, j] - most[i] + t[i, j] : 0\n"
        "f[i:N, j:N] = j <= i ? s[i, j] + t[i, j] + (x[i] > 0 ? m[i, j] : 0) : 0\n"
        "g[j:N, i:N] = j <= i && x[j] > 0 ? s[i, j] + t[j, i] + m[i, j] : 0\n"
        "y[i:N, d:N] = sum(j:N) e[i, j]*-f[i, d]*a[j, d]\n"
        "z[i:N] = sum(j:N) g[j, i]\n"
        "out[i:N, d:N] = y[i, d] + z[i]\n";
    static const example x = {"text", "N=5", text,
                              "i, j, k =>\n    @s = i, j // k\ni, j, k =>\n    @t = i, j // k\n"
                              "i, j, k =>\n    @m = i, j // k\ni, j =>\n    @most = i // j\n"
                              "i, j =>\n    @e = i, j\ni, j =>\n    @f = i, j\n"
                              "j, i =>\n    @g = j, i\ni, d, j =>\n    @y = i, d // j\n"
                              "i, j =>\n    @z = i // j\ni, d =>\n    @out = i, d\n"};
    static const char *const others[] = {"t", "m", "most", "e", "z"};
    begin_edits(&x);
    for (int i = 0; i < 5; i++)
        REFUSED(at_format(e.f.arena, "nothing bounds where @%s counts", others[i]),
                bounded(others[i]));
    DO(bounded("s"));
    expect_stage("s[i:N, j:N] = sum(k:N) j <= i ? a[i, k]*a[j, k] : 0\n");
    DO(bounded("y"));
    expect_stage("y[i:N, d:N] = sum(j:N) i < j + 2 && j <= i && d <= i ? e[i, j]*-f[i, d]*a[j, d] "
                 ": 0\n");
    REFUSED("nothing bounds where @s counts", bounded("s"));
    expect_same_outputs();
    end_edits();
}

/* Readers that name axes otherwise, or the other way round, say the same of these axes. */
static void bounded_by_other_names(void **state) {
    (void)state;
    static const char *const readers[] = {"e[p:N, q:N] = q <= p ? s[p, q] : 0\n",
                                          "e[j:N, i:N] = i <= j ? s[j, i] : 0\n"};
    static const char *const trees[] = {"p, q =>\n    @e = p, q\n", "j, i =>\n    @e = j, i\n"};
    for (int i = 0; i < 2; i++) {
        static char text[512], tree[512];
        snprintf(text, sizeof text,
                 "a[N, N] : input\ns[i:N, j:N] = sum(k:N) a[i, k]*a[j, k]\n%s"
                 "out[g:N, c:N] = sum(h:N) e[g, h]*a[h, c]\n",
                 readers[i]);
        snprintf(tree, sizeof tree,
                 "i, j, k =>\n    @s = i, j // k\n%sg, c, h =>\n    @out = g, c // h\n", trees[i]);
        begin_edits(&(example){"text", "N=5", text, tree});
        DO(bounded("s"));
        expect_stage("s[i:N, j:N] = sum(k:N) j <= i ? a[i, k]*a[j, k] : 0\n");
        DO(bounded("out"));
        expect_stage("out[g:N, c:N] = sum(h:N) h <= g ? e[g, h]*a[h, c] : 0\n");
        expect_same_outputs();
        end_edits();
    }
}

static void begin_masked(const char *masked) {
    static const char tree[] = "i, j, k =>\n    @d = i, j // k\ni, j =>\n    @m = i, j\n"
                               "i, j =>\n    @s = i, j\ni, j =>\n    @most = i // j\n"
                               "i, j =>\n    @e = i, j\ni, j =>\n    @t = i // j\n"
                               "i, c, j =>\n    @y = i, c // j\ni, c =>\n    @out = i, c\n";
    static char text[1024];
    snprintf(text, sizeof text,
             "a[N, N] : input\nd[i:N, j:N] = sum(k:N) a[i, k]*a[j, k]\n"
             "m[i:N, j:N] = j > i ? -inf : 0\ns[i:N, j:N] = %s\n"
             "most[i:N] = max(j:N) s[i, j]\ne[i:N, j:N] = exp((s[i, j] - most[i])*rsqrt(N))\n"
             "t[i:N] = sum(j:N) e[i, j]\ny[i:N, c:N] = sum(j:N) e[i, j]*a[j, c]\n"
             "out[i:N, c:N] = y[i, c]/t[i]\n",
             masked);
    begin_edits(&(example){"text", "N=5, W=2", text, tree});
}

/* Of axes i and j, by their names, and numbers. */
static int64_t value_at(const at_expr *x, int64_t i, int64_t j) {
    int64_t out = x->integer;
    if (x->op == AT_X_NAME) out = *x->name == 'i' ? i : j;
    else if (x->op != AT_X_INT)
        assert_true(
            at_expr_binary(x->op, value_at(x->arg[0], i, j), value_at(x->arg[1], i, j), &out));
    return out;
}

static const char *needs_of(const char *stage) {
    const at_expr *needs;
    assert_true(at_edit_has_bound(e.f.arena, e.compute, at_compute_find(e.compute, stage), &needs));
    return needs ? at_expr_text(e.f.arena, needs) : "";
}

/* Scores that are -inf where a mask says so, however it says it, are not needed there, as long as
 * each row has another one. */
static void bounded_by_masks(void **state) {
    (void)state;
    static const char *const causal[] = {"d[i, j]*0.5 + m[i, j]", "j < i + 1 ? d[i, j] : -inf",
                                         "i - j >= 0 ? d[i, j] : -inf", "!(i < j) ? d[i, j] : -inf",
                                         "j > i ? -inf : d[i, j]*4"};
    static const char *const others[] = {
        "j < i ? d[i, j] : -inf",        "a[i, j] > 0 ? d[i, j] : -inf",
        "j <= i ? d[i, j] : -1000",      "j <= i ? d[i, j] : inf",
        "min(d[i, j], m[i, j])*a[i, j]", "(j <= i ? d[i, j] : -inf)*((i + 1)/2)"};
    static const char *const stages[] = {"most", "e", "y", "d"};
    for (int i = 0; i < 5; i++) {
        begin_masked(causal[i]);
        for (int k = 0; k < 4; k++) {
            assert_string_equal(needs_of(stages[k]), "");
            DO(bounded(stages[k]));
            const at_expr *body = e.compute->tensors[at_compute_find(e.compute, stages[k])].body;
            assert_int_equal(body->op, AT_X_SELECT);
            for (int at = 0; at < 25; at++) /* what the condition says of each place */
                assert_int_equal(value_at(body->arg[0], at / 5, at % 5), at % 5 <= at / 5);
        }
        expect_outputs(8) /* functions */;
        end_edits();
    }
    for (int i = 0; i < 6; i++) {
        begin_masked(others[i]);
        REFUSED("nothing bounds where @e counts", bounded("e"));
        REFUSED("nothing bounds where @y counts", bounded("y"));
        end_edits();
    }
}

/* What an integer holds of -inf is a number. */
static void not_bounded_by_integers(void **state) {
    (void)state;
    static const char text[] =
        "a[N, N] : input\nm[i:N, j:N] : s8 = j > i ? -inf : 0\n"
        "e[i:N, j:N] = exp(a[i, j] + m[i, j])\nf[i:N, j:N] = exp(a[i, j])*min(m[i, j], 0)\n"
        "out[i:N, c:N] = sum(j:N) (e[i, j] + f[i, j])*a[j, c]\n";
    begin_edits(
        &(example){"text", "N=5", text,
                   "i, j =>\n    @m = i, j\ni, j =>\n    @e = i, j\ni, j =>\n    @f = i, j\n"
                   "i, c, j =>\n    @out = i, c // j\n"});
    REFUSED("nothing bounds where @e counts", bounded("e"));
    DO(bounded("f")); /* a 0 is one */
    expect_stage("f[i:N, j:N] = j > i ? exp(a[i, j])*min(m[i, j], 0) : 0\n");
    expect_outputs(8) /* functions */;
    end_edits();
}

/* Within a window, or beside keys of which there are more, sizes say whether rows are empty. */
static void bounded_by_sizes(void **state) {
    (void)state;
    begin_masked("(i - j < W ? d[i, j] : -inf) + m[i, j]");
    assert_string_equal(needs_of("e"), "W - N >= 0 || W - 1 >= 0");
    DO(bounded("s"));
    expect_stage("s[i:N, j:N] = i - j < W && j <= i ? d[i, j] + m[i, j] : -inf\n");
    DO(bounded("e"));
    expect_stage("e[i:N, j:N] = i - j < W && j <= i ? exp((s[i, j] - most[i])*rsqrt(N)) : 0\n");
    DO(bounded("d"));
    expect_stage("d[i:N, j:N] = sum(k:N) i - j < W && j <= i ? a[i, k]*a[j, k] : 0\n");
    expect_outputs(8) /* functions */;
    end_edits();
    begin_masked("j <= i + W - N ? d[i, j] : -inf");
    assert_string_equal(needs_of("y"), "W - N >= 0");
    end_edits();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gone_by_phases),
        cmocka_unit_test(gone_by_uneven_phases),
        cmocka_unit_test(gone_by_dilated_phases),
        cmocka_unit_test(gone_by_empty_phases),
        cmocka_unit_test(inverses),
        cmocka_unit_test(searched_in_blocks),
        cmocka_unit_test(gone_by_branches),
        cmocka_unit_test(bounded_by_readers),
        cmocka_unit_test(bounded_by_other_names),
        cmocka_unit_test(bounded_by_masks),
        cmocka_unit_test(bounded_by_sizes),
        cmocka_unit_test(not_bounded_by_integers),
        cmocka_unit_test(divided_once),
    };
    return cmocka_run_group_tests_name("schedule/edit_terms", tests, NULL, NULL);
}
