/* Edits of what a stage reads: operands as stages of their own, copies turned round, places,
 * padding, unpacked entries. */
#include "tests/schedule/edited.h"

#include <string.h>

static at_status operand(const char *stage, const char *tensor, const char *name) {
    return at_edit_operand(e.f.arena, e.tree, stage, tensor, NULL, name, &e.compute, &e.tree,
                           &e.err);
}

static at_status along(const char *stage, const char *tensor, const char *axis, const char *name) {
    return at_edit_operand(e.f.arena, e.tree, stage, tensor, axis, name, &e.compute, &e.tree,
                           &e.err);
}

/* What is calculated of weights alone becomes a stage, as far as it goes; not what an integer
 * division goes on with, and nothing of a list's places. */
static void operands(void **state) {
    (void)state;
    static const char parts[] =
        "A[N, K] : input\nW[M, K] : index\nP[M] : index\nF[K] : weight\n"
        "s[i:N, j:M] = sum(k:K) A[i, k]*(h - F[k])*F[k] + A[i, 0]*h + (W[P[j]%M, k] + W[j, k])/2\n"
        "    where h = (k < 2 ? W[j, k] : W[j, k]/2)%4\n"
        "out[i:N, j:M] = s[i, j] + 1\n";
    static const example x = {"parts", "N=3, M=4, K=5", parts,
                              "i, j, k =>\n    @s = i, j // k\ni, j =>\n    @out = i, j\n"};
    begin_edits(&x);
    DO(operand("s", "W", "d"));
    expect_stage("d[j:M, k:K] = (k < 2 ? W[j, k] : W[j, k]/2)%4 - F[k]\n");
    DO(operand("s", "W", "h"));
    expect_stage("h[j:M, k:K] = (k < 2 ? W[j, k] : W[j, k]/2)%4\n");
    expect_stage("s[i:N, j:M] = sum(k:K) A[i, k]*d[j, k]*F[k] + A[i, 0]*h[j, k] + "
                 "(W[P[j]%M, k] + W[j, k])/2\n");
    expect_tree("j, k =>\n    @d = j, k\nj, k =>\n    @h = j, k\n"
                "i, j, k =>\n    @s = i, j  // k\ni, j =>\n    @out = i, j\n");
    assert_true(e.compute->tensors[at_compute_find(e.compute, "d")].is_packing);
    expect_same_outputs();
    DO(at_edit_dissolve(e.f.arena, e.tree, e.compute, "d", &e.tree, &e.err));
    DO(COPY(AT_COPY_LAYOUT, "d", "s", "d_packed"));
    expect_same_outputs();
    REFUSED("@s calculates nothing of weights alone with \"W\"", operand("s", "W", "more"));
    REFUSED("@s calculates nothing of weights alone with \"A\"", operand("s", "A", "more"));
    REFUSED("@A has no leaf in this tree", operand("A", "W", "more"));
    REFUSED("there is no tensor \"B\"", operand("s", "B", "more"));
    REFUSED("there is a tensor \"d\" already", operand("s", "W", "d"));
    end_edits();
}

/* One of several reads of a tensor: as a whole, by axes that go as far as it does. */
static void reads_apart(void **state) {
    (void)state;
    static const char gram[] = "A[N, K] : input\nB[N, K] : input\nP[N] : index\n"
                               "h[i:N, k:K] = A[i, k]*2\n"
                               "s[i:N, j:N] = sum(k:K) j <= i ? A[i, k]*A[j, k] : 0\n"
                               "t[i:N, j:N] = sum(k:K) h[i, k]*h[j, k]\n"
                               "u[i:N - 1, j:N] = sum(k:K) B[i, k]*B[j, k]*B[P[i], k]\n"
                               "out[i:N - 1, j:N] = s[i, j] + t[i, j] + u[i, j]\n";
    static const example x = {"gram", "N=4, K=5", gram,
                              "i, k =>\n    @h = i, k\n"
                              "i, j, k =>\n    @s = i, j // k\n"
                              "i, j, k =>\n    @t = i, j // k\n"
                              "i, j, k =>\n    @u = i, j // k\n"
                              "i, j =>\n    @out = i, j\n"};
    begin_edits(&x);
    DO(along("s", "A", "j", "a"));
    expect_stage("a[j:N, k:K] = A[j, k]\n");
    expect_stage("s[i:N, j:N] = sum(k:K) j <= i ? A[i, k]*a[j, k] : 0\n");
    DO(along("t", "h", "i", "g"));
    expect_stage("t[i:N, j:N] = sum(k:K) g[i, k]*h[j, k]\n");
    expect_same_outputs();
    static const char *const made[] = {"a", "g"};
    for (int i = 0; i < 2; i++) /* their other name is copied, though it has no memory */
        DO(at_edit_dissolve(e.f.arena, e.tree, e.compute, made[i], &e.tree, &e.err));
    DO(COPY(AT_COPY_LAYOUT, "a", "s", "a_packed"));
    DO(COPY(AT_COPY_LAYOUT, "g", "t", "g_packed"));
    expect_same_outputs();
    REFUSED("@u reads no \"B\" as it lies along \"i\"", along("u", "B", "i", "b"));
    REFUSED("@u reads no \"B\" as it lies along \"x\"", along("u", "B", "x", "b"));
    REFUSED("@s reads no \"B\" as it lies along \"j\"", along("s", "B", "j", "b"));
    end_edits();
}

/* Of two reads that both move along an axis the one whose last index it is. */
static void reads_along(void **state) {
    (void)state;
    static const example x = {"part", "N=4",
                              "A[N, N] : input\n"
                              "out[i:N, j:N] = A[i, j] + A[j, i]*3\n",
                              "i, j =>\n    @out = i, j\n"};
    begin_edits(&x);
    DO(along("out", "A", "i", "a"));
    expect_stage("a[j:N, i:N] = A[j, i]\n");
    expect_stage("out[i:N, j:N] = A[i, j] + a[j, i]*3\n");
    expect_same_outputs();
    DO(at_edit_dissolve(e.f.arena, e.tree, e.compute, "a", &e.tree, &e.err));
    DO(COPY(AT_COPY_LAYOUT, "a", "out", "a_packed"));
    expect_same_outputs();
    end_edits();
}

static at_status turn(const char *stage, const char *tensor, const char *axis, const char *name) {
    return at_edit_turn(e.f.arena, e.tree, stage, tensor, axis, name, &e.compute, &e.tree, &e.err);
}

/* The dimension that an axis moves along comes last, forwards; other reads stay. */
static void turned(void **state) {
    (void)state;
    static const char text[] =
        "R[I + J, D] : weight\nA[I, J + 3] : input\n"
        "s[i:I, j:J] = sum(d:D) R[j - i + I - 1, d]*R[i, d]\n"
        "t[i:I, j:J] = A[i, h - j] + A[i, h - j + 1]*A[i, 0] where h = J + 1\n"
        "u[i:I, j:J] = A[i, 2*j/2] + A[i, j]*A[j%I, j]\n"
        "v[i:I, j:J] = sum(d:D) R[j + i, d]\n"
        "w[i:I, j:J] = A[i, J - j]*2.0\n"
        "out[i:I, j:J] = s[i, j] + t[i, j] + u[i, j] + v[i, j] + w[i, j]\n";
    static const example x = {"text", "I=3, J=4, D=5", text,
                              "i, j, d =>\n    @s = i, j // d\n"
                              "i, j =>\n    @t = i, j\n"
                              "i, j =>\n    @u = i, j\n"
                              "i, j, d =>\n    @v = i, j // d\n"
                              "i, j =>\n    @w = i, j\n"
                              "i, j =>\n    @out = i, j\n"};
    begin_edits(&x);
    DO(turn("s", "R", "j", "r"));
    expect_stage("r[r_i0:D, r_i1:I + J] = R[r_i1, r_i0]\n");
    expect_stage("s[i:I, j:J] = sum(d:D) r[d, j - i + I - 1]*R[i, d]\n");
    assert_true(e.compute->tensors[at_compute_find(e.compute, "r")].is_packing);
    DO(turn("t", "A", "j", "a"));
    expect_stage("a[a_i0:I, a_i1:J + 3] = A[a_i0, J + 3 - 1 - a_i1]\n");
    expect_same_outputs();
    DO(turn("v", "R", "j", "r")); /* the same copy */
    expect_stage("v[i:I, j:J] = sum(d:D) r[d, j + i]\n");
    expect_same_outputs();
    REFUSED("there is a tensor \"a\" already", turn("w", "A", "j", "a"));
    REFUSED("@u has no reads of \"A\" that go along one dimension by steps of \"j\"",
            turn("u", "A", "j", "b"));
    REFUSED("@t has no reads of \"R\" that go along one dimension by steps of \"j\"",
            turn("t", "R", "j", "b"));
    REFUSED("@t reads \"a\" along \"j\" as it lies", turn("t", "a", "j", "b"));
    REFUSED("@t has no axis \"d\"", turn("t", "A", "d", "b"));
    REFUSED("@A has no leaf in this tree", turn("A", "A", "j", "b"));
    REFUSED("there is no tensor \"B\"", turn("t", "B", "j", "b"));
    REFUSED("there is a tensor \"r\" already", turn("w", "A", "j", "r"));
    end_edits();
}

static at_status across(const char *stage, const char *axis, const char *name) {
    return at_edit_across(e.f.arena, e.tree, stage, axis, name, &e.compute, &e.tree, &e.err);
}

/* An axis of a sum comes last, in its loops' indices too; what had its name is as it was. */
static void gone_across(void **state) {
    (void)state;
    static const char text[] = "A[I, J, D] : input\nv[E] : weight\nstart[J + 1] : index\n"
                               "s[i:I, j:J, l:2] = sum(e:start[j]..start[j + 1], d:D) "
                               "v[e]*A[i, j, d]*(l + 1)\n"
                               "out[j:J, i:I] = s[i, j, 0] + s[i, j, 1]\n";
    static const example x = {"text", "I=3, J=4, D=5, E=7", text,
                              "i, l, j, d, e:dyn(j) =>\n    @s = i, j, l // e, d\n"
                              "j, i =>\n    @out = j, i\n"};
    begin_edits(&x);
    REFUSED("@s has no axis \"l\" before its last one", across("s", "l", "b"));
    REFUSED("@s has no axis \"d\" before its last one", across("s", "d", "b"));
    REFUSED("@A has no leaf in this tree", across("A", "i", "b"));
    REFUSED("there is a tensor \"v\" already", across("s", "i", "v"));
    DO(across("s", "i", "t"));
    expect_stage("t[j:J, l:2, i:I] = sum(e: start[j] .. start[j + 1], d:D) v[e]*A[i, j, d]*(l + "
                 "1)\n");
    expect_stage("s[i:I, j:J, l:2] = t[j, l, i]\n");
    expect_same_outputs();
    DO(across("t", "l", "u"));
    expect_stage("t[j:J, l:2, i:I] = u[j, i, l]\n");
    expect_same_outputs();
    DO(across("out", "j", "w")); /* what sums nothing */
    expect_stage("w[i:I, j:J] = s[i, j, 0] + s[i, j, 1]\n");
    expect_stage("out[j:J, i:I] = w[i, j]\n");
    expect_same_outputs();
    end_edits();
}

static at_status unpack(const char *stage, const char *axis, const char *name) {
    return at_edit_unpack(e.f.arena, e.tree, stage, axis, name, &e.compute, &e.tree, &e.err);
}

/* Entries become a stage, and the numbers of one terms beside each other. */
static void unpacked(void **state) {
    (void)state;
    static const char text[] =
        "x[K] : input\na[K/4] : input\nw[N, K/2] : index\n"
        "s[i:N] = sum(k:K) x[k]*((k%2 == 0 ? w[i, k/2]%16 : w[i, k/2]/16%16) - 8)*a[k/4]\n"
        "t[i:N] = sum(k:K) x[k]*(w[i, k/2]/N%16)\n"
        "u[i:N] = sum(k:K) x[k]*(k%2 == 0 ? w[i, k/2]%10 : w[i, k/2]/10)\n"
        "m[i:N] = max(k:K) x[k]*w[i, k/2]\n"
        "out[i:N] = s[i] + t[i] + u[i] + m[i]\n";
    static const example x = {"text", "N=3, K=8", text,
                              "i, k =>\n    @s = i // k\ni, k =>\n    @t = i // k\n"
                              "i, k =>\n    @u = i // k\ni, k =>\n    @m = i // k\n"
                              "i =>\n    @out = i\n"};
    begin_edits(&x);
    REFUSED("@m takes nothing out of entries along \"k\"", unpack("m", "k", "e"));
    REFUSED("@s takes nothing out of entries along \"i\"", unpack("s", "i", "e"));
    REFUSED("@t takes other parts than bits out of entries", unpack("t", "k", "e"));
    REFUSED("@u takes other parts than bits out of entries", unpack("u", "k", "e"));
    REFUSED("there is a tensor \"w\" already", unpack("s", "k", "w"));
    DO(unpack("s", "k", "e"));
    expect_stage("e[e_0:N, e_1:K/2] : s32 = w[e_0, e_1]\n");
    expect_stage("s[i:N] = sum(k:K/4, k_1:2) (x[k*4 + k_1*2]*((e[i, k*2 + k_1] & 15) - 8) + "
                 "x[k*4 + k_1*2 + 1]*((e[i, k*2 + k_1] >> 4 & 15) - 8))*a[k]\n");
    expect_same_outputs();
    end_edits();
}

/* Numbers of an entry that several terms have: some of its terms differ, though the first two do
 * not; or none does. */
static void unpacked_for_several(void **state) {
    (void)state;
    static const char text[] = "x[K] : input\nw[N, K/4] : index\n"
                               "s[i:N] = sum(k:K) x[k]*(k%4 < 2 ? w[i, k/4]%16 : w[i, k/4]/16)\n"
                               "t[i:N] = sum(k:K) x[k/4]*(w[i, k/4]%16)\n"
                               "out[i:N] = s[i] + t[i]\n";
    static const example x = {"text", "N=3, K=8", text,
                              "i, k =>\n    @s = i // k\ni, k =>\n    @t = i // k\n"
                              "i =>\n    @out = i\n"};
    begin_edits(&x);
    REFUSED("@t reads an entry along \"k\" for the same term each time", unpack("t", "k", "e"));
    DO(unpack("s", "k", "e"));
    expect_stage("s[i:N] = sum(k:K/4) x[k*4]*(e[i, k] & 15) + x[k*4 + 1]*(e[i, k] & 15) + "
                 "x[k*4 + 2]*(e[i, k] >> 4) + x[k*4 + 3]*(e[i, k] >> 4)\n");
    expect_same_outputs();
    end_edits();
}

static at_status by_place(const char *stage, const char *tensor, const char *name) {
    return at_edit_place(e.f.arena, e.tree, stage, tensor, name, &e.compute, &e.tree, &e.err);
}

/* Where entries and axes say together what is read, within a bound; reductions stand first. */
static void made_of_places(void **state) {
    (void)state;
    static const char text[] = "x[H + N, N] : input\nw[K] : input\ni[N] : index\n"
                               "s[n:N] = sum(k:K) x[min(i[n] + k, H - 1), max(i[n] - n, 0)]*w[k]\n"
                               "u[n:N] = x[min(i[n] + 1, H - 1), n] + x[n - i[n] + H, 0]\n"
                               "out[n:N] = s[n] + u[n]\n";
    static const example x = {"text", "H=5, N=4, K=3", text,
                              "n, k =>\n    @s = n // k\nn =>\n    @u = n\nn =>\n    @out = n\n"};
    begin_edits(&x);
    REFUSED("@u reads \"x\" at no place that entries and axes bound together, and at none "
            "that entries guard",
            by_place("u", "x", "p"));
    REFUSED("@s reads \"w\" at no place that entries and axes bound together, and at none "
            "that entries guard",
            by_place("s", "w", "p"));
    REFUSED("@x has no leaf in this tree", by_place("x", "x", "p"));
    REFUSED("there is no tensor \"y\"", by_place("s", "y", "p"));
    REFUSED("there is a tensor \"w\" already", by_place("s", "x", "w"));
    DO(by_place("s", "x", "p"));
    expect_stage("p[k:K, n:N] : s32 = min(i[n] + k, H - 1)\n");
    expect_stage("s[n:N] = sum(k:K) x[p[k, n], max(i[n] - n, 0)]*w[k]\n");
    expect_same_outputs();
    DO(by_place("s", "x", "q"));
    expect_stage("q[n:N] : s32 = max(i[n] - n, 0)\n");
    expect_stage("s[n:N] = sum(k:K) x[p[k, n], q[n]]*w[k]\n");
    expect_same_outputs();
    end_edits();
}

/* Where a condition on entries guards a read, its place is within the tensor whatever the entry is:
 * there alone, and not in conditions or in other tensors' indices. */
static void made_of_guarded(void **state) {
    (void)state;
    static const char text[] = "x[N, H] : input\nz[H] : input\ni[N] : index\n"
                               "u[n:N] = 1 <= i[n] && i[n] <= H && n > 0 ? x[n, i[n] - 1]*"
                               "z[i[n] - 1] : i[n] - 1 > n ? x[n, 0] : 3*i[n] < H ? z[3*i[n]] : 3\n"
                               "v[n:N] = n > 1 ? z[i[n] - i[n]] : 0\n"
                               "out[n:N] = u[n] + v[n]\n";
    static const example x = {"text", "H=5, N=4", text,
                              "n =>\n    @u = n\nn =>\n    @v = n\nn =>\n    @out = n\n"};
    begin_edits(&x);
    DO(by_place("u", "x", "p"));
    expect_stage("p[n:N] : s32 = min(max(i[n] - 1, 0), H - 1)\n");
    expect_stage("u[n:N] = 1 <= i[n] && i[n] <= H && n > 0 ? x[n, p[n]]*z[i[n] - 1] : i[n] - 1 > n "
                 "? x[n, 0] : 3*i[n] < H ? z[3*i[n]] : 3\n");
    expect_same_outputs();
    REFUSED("@u reads \"x\" at no place that entries and axes bound together, and at none that "
            "entries guard",
            by_place("u", "x", "q"));
    REFUSED("@v reads \"z\" at no place that entries and axes bound together, and at none that "
            "entries guard",
            by_place("v", "z", "q"));
    end_edits();
}

static at_status by_padding(const char *stage, const char *tensor, const char *name) {
    return at_edit_pad(e.f.arena, e.tree, stage, tensor, name, &e.compute, &e.tree, &e.err);
}

/* Axes that conditions and indices add up become one; others, and those of several sums, stay. */
static void made_of_padding(void **state) {
    (void)state;
    static const char text[] =
        "x[C, H] : input\nb[H] : input f16\nw[R] : input\n"
        "s[c:C, h:H] = sum(r:R) (0 <= h*S - r + 1 && h*S < H + r - 1 ? x[c, S*h - r + 1] : "
        "0)*w[r]\n"
        "u[h:H] = sum(r:R) (c > 0 && c <= H ? b[c - 1] : 0) where c = 2*(h + r) - 2\n"
        "v[h:H] = max(r:R) h + r < H || h > 3 ? x[0, max(min(h + r, H - 1), r)] : -inf\n"
        "m[h:H] = sum(r:R) x[0, min(max(1 - h - r, h + r - 1), H - 1)]*b[min(h + r, H - 1)]\n"
        "out[c:C, h:H] = s[c, h] + u[h] + v[h] + m[h]\n";
    static const example x = {"text", "C=3, H=7, R=3, S=2", text,
                              "c, h, r =>\n    @s = c, h // r\nh, r =>\n    @u = h // r\n"
                              "h, r =>\n    @v = h // r\nh, r =>\n    @m = h // r\n"
                              "c, h =>\n    @out = c, h\n"};
    begin_edits(&x);
    REFUSED("@v reads \"x\" under no condition, or bound, on sums of its axes",
            by_padding("v", "x", "p"));
    REFUSED("@s reads \"w\" under no condition, or bound, on sums of its axes",
            by_padding("s", "w", "p"));
    REFUSED("@x has no leaf in this tree", by_padding("x", "x", "p"));
    REFUSED("there is no tensor \"y\"", by_padding("s", "y", "p"));
    REFUSED("there is a tensor \"w\" already", by_padding("s", "x", "w"));
    DO(by_padding("s", "x", "p"));
    expect_stage("p[c:C, p_h:S*H - S + R] = 0 <= p_h - R + 2 && p_h - R - H + 2 < 0 ? "
                 "x[c, p_h - R + 2] : 0\n");
    expect_stage("s[c:C, h:H] = sum(r:R) p[c, S*h - r + R - 1]*w[r]\n");
    DO(by_padding("u", "b", "q"));
    expect_stage("q[q_h:H + R - 1] : f16 = 2*q_h - 2 > 0 && 2*q_h - 2 <= H ? b[2*q_h - 3] : "
                 "0\n");
    expect_stage("u[h:H] = sum(r:R) q[h + r]\n");
    DO(by_padding("m", "x", "k"));
    expect_stage("k[k_h:H + R - 1] = x[0, min(max(-k_h + 1, k_h - 1), H - 1)]\n");
    expect_same_outputs();
    DO(by_padding("m", "b", "l"));
    expect_stage("l[l_h:H + R - 1] : f16 = b[min(l_h, H - 1)]\n");
    expect_stage("m[h:H] = sum(r:R) k[h + r]*l[h + r]\n");
    expect_same_outputs();
    end_edits();
}

/* Of a product or 0 the factor is padded that the condition's sums move; others stay as they are.
 */
static void made_of_padded_factor(void **state) {
    (void)state;
    static const char text[] =
        "x[C, H] : input\nz[H] : input f16\nw[R] : input\n"
        "s[c:C, h:H] = sum(r:R) inside ? w[r]*x[c, 0]*x[c, h + r - 1]*x[0, R%2] : 0 "
        "where inside = 1 <= h + r && h + r <= H\n"
        "u[h:H] = sum(r:R) h*S + r < H ? (x[1, h*S + r] - 2)*w[r] : 0\n"
        "v[h:H] = max(r:R) h + r >= H ? 0 : z[h + r]*w[r]*z[h + r]\n"
        "m[h:H] = sum(r:R) h + r < H ? (z[h + r] - 2)*w[r] : 0\n"
        "o[h:H] = sum(r:R) h + r < H ? x[0, h + r]*w[r] : 1\n"
        "t[h:H] = sum(r:R) r <= h ? x[0, r]*x[0, h] : 0\n"
        "out[c:C, h:H] = s[c, h] + u[h] + v[h] + m[h] + o[h] + t[h]\n";
    static const example x = {
        "text", "C=3, H=7, R=3, S=2", text,
        "c, h, r =>\n    @s = c, h // r\nh, r =>\n    @u = h // r\nh, r =>\n    @v = h // r\n"
        "h, r =>\n    @m = h // r\nh, r =>\n    @o = h // r\nh, r =>\n    @t = h // r\n"
        "c, h =>\n    @out = c, h\n"};
    begin_edits(&x);
    REFUSED("@s reads \"w\" under no condition, or bound, on sums of its axes",
            by_padding("s", "w", "p"));
    REFUSED("@m reads \"z\" under no condition, or bound, on sums of its axes",
            by_padding("m", "z", "p")); /* the difference is of another type */
    REFUSED("@o reads \"x\" under no condition, or bound, on sums of its axes",
            by_padding("o", "x", "p"));
    REFUSED("@t reads \"x\" under no condition, or bound, on sums of its axes",
            by_padding("t", "x", "p"));
    DO(by_padding("s", "x", "p"));
    expect_stage("p[c:C, p_h:H + R - 1] = 1 <= p_h && p_h <= H ? x[c, p_h - 1] : 0\n");
    expect_stage("s[c:C, h:H] = sum(r:R) w[r]*x[c, 0]*p[c, h + r]*x[0, R%2]\n");
    DO(by_padding("u", "x", "q"));
    expect_stage("u[h:H] = sum(r:R) q[S*h + r]*w[r]\n");
    DO(by_padding("v", "z", "k"));
    expect_stage("k[k_h:H + R - 1] : f16 = k_h >= H ? 0 : z[k_h]\n");
    expect_stage("v[h:H] = max(r:R) k[h + r]*w[r]*k[h + r]\n");
    expect_same_outputs();
    end_edits();
}

/* What reads itself does so by its new name, in the new order of its axes, where its steps still
 * come first. */
static void gone_across_in_steps(void **state) {
    (void)state;
    static const char text[] =
        "x[I, T] : input\n"
        "h[i:I, t:T] = t > 1 ? p - x[i, t] : x[i, 0] where p = h[i, t - 2]\n"
        "d[t:T, i:I, l:2] = t > 0 ? max(d[t - 1, I - 1 - i, l], x[i, t]) : l\n"
        "out[i:I, t:T] = h[i, t] + d[t, i, 0]\n";
    static const example x = {"text", "I=3, T=7", text,
                              "i, t =>\n    @h = i, t\nt, i, l =>\n    @d = t, i, l\n"
                              "i, t =>\n    @out = i, t\n"};
    begin_edits(&x);
    REFUSED("edited computation: \"a\" reads itself where it is not computed yet: the first index "
            "that is not the axis "
            "itself must be less than the axis, as i - 1",
            across("d", "t", "a"));
    REFUSED(
        "@h reads itself: that needs no other tensor",
        at_edit_copy(e.f.arena, e.tree, AT_COPY_READ, "h", "h", "c", &e.compute, &e.tree, &e.err));
    REFUSED("@h is what reads itself, which cannot be inlined",
            at_edit_inline(e.f.arena, e.tree, "h", NULL, NULL, 0, &e.compute, &e.tree, &e.err));
    DO(across("h", "i", "a"));
    expect_stage("a[t:T, i:I] = t > 1 ? p - x[i, t] : x[i, 0]\n    where p = a[t - 2, i]\n");
    expect_stage("h[i:I, t:T] = a[t, i]\n");
    expect_same_outputs();
    DO(across("d", "i", "b"));
    expect_stage("b[t:T, l:2, i:I] = t > 0 ? max(b[t - 1, l, I - 1 - i], x[i, t]) : l\n");
    expect_same_outputs();
    end_edits();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands),
        cmocka_unit_test(reads_apart),
        cmocka_unit_test(reads_along),
        cmocka_unit_test(turned),
        cmocka_unit_test(gone_across),
        cmocka_unit_test(made_of_places),
        cmocka_unit_test(made_of_guarded),
        cmocka_unit_test(made_of_padding),
        cmocka_unit_test(made_of_padded_factor),
        cmocka_unit_test(unpacked),
        cmocka_unit_test(unpacked_for_several),
        cmocka_unit_test(gone_across_in_steps),
    };
    return cmocka_run_group_tests_name("schedule/edit_reads", tests, NULL, NULL);
}
