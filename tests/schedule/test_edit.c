/* Edits of loop trees: what each makes of the user's matrix product, that it computes the same, and
 * what each refuses. test_edit_reads.c and test_edit_terms.c have edits of computations,
 * tests/codegen/test_edits.c random ones. */
#include "schedule/epilogue.h"
#include "tests/schedule/edited.h"

#include <string.h>

/* B is read from its last row on. */
static const example reversed = {"reversed", EDITED_SIZES,
                                 "A[N, L] : input\n"
                                 "B[L, M] : weight\n"
                                 "mul[i:N, j:M] = sum(k:L) A[i, k]*B[L - 1 - k, j]\n",
                                 "i, j, k => @mul = i, j // k\n"};

/* B and D have fewer rows than the sum has steps. */
static const example chosen = {
    "chosen", EDITED_SIZES,
    "A[N, L] : input\n"
    "B[L - P, M] : weight\n"
    "D[P, M] : weight\n"
    "mul[i:N, j:M] = sum(k:L) A[i, k]*((P <= k ? B[k - P, j] : 0) + (k < P ? D[k, j] : 0))\n",
    "i, j, k => @mul = i, j // k\n"};

static void tile(void) {
    begin_edits(&edited_product);
    DO(SPLIT("mul", "i", "i0", "i1"));
    DO(SPLIT("mul", "j", "j0", "j1"));
    DO(SPLIT("mul", "k", "k0", "k1"));
    DO(ORDER("mul", "i0", "j0", "k0", "k1", "i1", "j1"));
    DO(MARK("mul", "i1", AT_ANN_UNROLL));
    DO(MARK("mul", "j1", AT_ANN_VEC));
    DO(NEST("out", "mul", "j0", false));
}

static void loops(void **state) {
    (void)state;
    tile();
    expect_tree("i0, j0 =>\n"
                "    k0, k1, i1:unroll, j1:vec =>\n"
                "        @mul = {i0, i1}/i, {j0, j1}/j  // {k0, k1}/k\n"
                "    i1:unroll, j1:vec =>\n"
                "        @out = {i0, i1}/i, {j0, j1}/j\n");
    expect_same_outputs();
    DO(FUSE("mul", "i0", "j0"));
    DO(MARK("mul", "j0", AT_ANN_PARA));
    expect_tree("{i0, j0}:para =>\n"
                "    k0, k1, i1:unroll, j1:vec =>\n"
                "        @mul = {i0, i1}/i, {j0, j1}/j  // {k0, k1}/k\n"
                "    i1:unroll, j1:vec =>\n"
                "        @out = {i0, i1}/i, {j0, j1}/j\n");
    expect_same_outputs();
    REFUSED("\"i0\" is fused with other loops: it cannot be split", SPLIT("mul", "i0", "P", "N"));
    end_edits();
}

static void copies(void **state) {
    (void)state;
    tile();
    DO(COPY(AT_COPY_LAYOUT, "B", "mul", "packb"));
    DO(COPY(AT_COPY_READ, "A", "mul", "rows"));
    DO(NEST("rows", "mul", "i0", true));
    DO(COPY(AT_COPY_WRITE, "mul", NULL, "local"));
    expect_stage("packb[j0_i:j0, k0_i:k0, k1_i:k1, j1_i:j1] = "
                 "k0_i*k1 + k1_i < L && j0_i*j1 + j1_i < M ? "
                 "B[k0_i*k1 + k1_i, j0_i*j1 + j1_i] : 0\n");
    expect_stage("local[i:N, j:M] = sum(k:L) rows[i, k]*packb[j/j1, k/k1, k%k1, j%j1]\n"
                 "mul[i:N, j:M] = local[i, j]\n");
    expect_tree("j0, k0, k1, j1 =>\n"
                "    @packb = j0, k0, k1, j1\n"
                "i0 =>\n"
                "    i1:unroll, rows_i1 =>\n"
                "        @rows = {i0, i1}/rows_i0, rows_i1\n"
                "    j0 =>\n"
                "        k0, k1, i1:unroll, j1:vec =>\n"
                "            @local = {i0, i1}/i, {j0, j1}/j  // {k0, k1}/k\n"
                "        i1:unroll, j1:vec =>\n"
                "            @mul = {i0, i1}/i, {j0, j1}/j\n"
                "        i1:unroll, j1:vec =>\n"
                "            @out = {i0, i1}/i, {j0, j1}/j\n");
    expect_same_outputs();
    end_edits();
}

/* Of lanes through rows what all rows read alike is repeated. */
static void copy_in_lanes(void **state) {
    (void)state;
    static const example biased = {"biased", EDITED_SIZES,
                                   "x[N, M] : input\n"
                                   "b[M] : weight\n"
                                   "out[i:N, j:M] = x[i, j] + b[j]\n",
                                   "i, j => @out = i, j\n"};
    begin_edits(&biased);
    DO(SPLIT("out", "i", "i0", "i1"));
    DO(FUSE("out", "i1", "j"));
    DO(MARK("out", "i1", AT_ANN_VEC));
    DO(COPY(AT_COPY_LANES, "b", "out", "lanes"));
    expect_stage("lanes[i1_i:i1, j:M] = b[j]\n");
    expect_stage("out[i:N, j:M] = x[i, j] + lanes[i%i1, j]\n");
    expect_tree("i1, j =>\n    @lanes = i1, j\n"
                "i0, {i1, j}:vec =>\n    @out = {i0, i1}/i, j\n");
    expect_same_outputs();
    end_edits();
}

/* A layout follows the reader's axes, not the tensor's. */
static void layout_of_a_reversed_axis(void **state) {
    (void)state;
    begin_edits(&reversed);
    DO(SPLIT("mul", "k", "k0", "k1"));
    DO(COPY(AT_COPY_LAYOUT, "B", "mul", "packb"));
    expect_stage("packb[j:M, k0_i:k0, k1_i:k1] = "
                 "k0_i*k1 + k1_i < L ? B[L - 1 - (k0_i*k1 + k1_i), j] : 0\n");
    expect_stage("mul[i:N, j:M] = sum(k:L) A[i, k]*packb[j, k/k1, k%k1]\n");
    expect_same_outputs();
    end_edits();
}

/* What is read by a condition alone is copied within its tensor alone. */
static void layout_of_a_choice(void **state) {
    (void)state;
    begin_edits(&chosen);
    DO(COPY(AT_COPY_LAYOUT, "D", "mul", "packd"));
    DO(SPLIT("mul", "k", "k0", "k1"));
    DO(COPY(AT_COPY_LAYOUT, "B", "mul", "packb"));
    expect_stage("packd[j:M, k:L] = 0 <= k && k < P ? D[k, j] : 0\n");
    expect_stage("packb[j:M, k0_i:k0, k1_i:k1] = k0_i*k1 + k1_i < L && "
                 "0 <= k0_i*k1 + k1_i - P && k0_i*k1 + k1_i - P < L - P ? "
                 "B[k0_i*k1 + k1_i - P, j] : 0\n");
    expect_same_outputs();
    end_edits();
}

static void factor(void **state) {
    (void)state;
    tile();
    DO(FACTOR("mul", "k1", "rf", NULL));
    expect_stage("rf[i:N, j:M, k1_r:k1] = sum(k0_r:k0) k < L ? A[i, k]*B[k, j] : 0\n"
                 "    where k = k0_r*k1 + k1_r\n"
                 "mul[i:N, j:M] = sum(k1_r:k1) rf[i, j, k1_r]\n");
    expect_tree("i0, j0 =>\n"
                "    k0, k1, i1:unroll, j1:vec =>\n"
                "        @rf = {i0, i1}/i, {j0, j1}/j, k1  // k0\n"
                "    k1, i1:unroll, j1:vec =>\n"
                "        @mul = {i0, i1}/i, {j0, j1}/j  // k1\n"
                "    i1:unroll, j1:vec =>\n"
                "        @out = {i0, i1}/i, {j0, j1}/j\n");
    expect_same_outputs();
    end_edits();
}

/* The new axis before one of the sum's. */
static void factor_before(void **state) {
    (void)state;
    tile();
    REFUSED("\"k0\" is no axis of @mul", FACTOR("mul", "k1", "rf", "k0"));
    DO(FACTOR("mul", "k1", "rf", "j"));
    expect_stage("rf[i:N, k1_r:k1, j:M] = sum(k0_r:k0) k < L ? A[i, k]*B[k, j] : 0\n"
                 "    where k = k0_r*k1 + k1_r\n"
                 "mul[i:N, j:M] = sum(k1_r:k1) rf[i, k1_r, j]\n");
    expect_tree("i0, j0 =>\n"
                "    k0, k1, i1:unroll, j1:vec =>\n"
                "        @rf = {i0, i1}/i, k1, {j0, j1}/j  // k0\n"
                "    k1, i1:unroll, j1:vec =>\n"
                "        @mul = {i0, i1}/i, {j0, j1}/j  // k1\n"
                "    i1:unroll, j1:vec =>\n"
                "        @out = {i0, i1}/i, {j0, j1}/j\n");
    expect_same_outputs();
    end_edits();
}

/* Stages behind the output: the tree stays. */
static void epilogue(void **state) {
    (void)state;
    const char *const *inputs, *sum;
    begin_edits(&edited_product);
    at_tree *tree = e.tree;
#define FUSE_STAGE(stage)                                                                          \
    at_edit_epilogue(e.f.arena, e.compute, NULL, at_epilogue_text(stage), at_epilogue_type(stage), \
                     &e.compute, &inputs, &e.err)
    DO(FUSE_STAGE(AT_EPILOGUE_BIAS));
    assert_null(*inputs);
    DO(FUSE_STAGE(AT_EPILOGUE_ADD));
    assert_string_equal(inputs[0], "addend");
    DO(FUSE_STAGE(AT_EPILOGUE_SCALE));
    DO(FUSE_STAGE(AT_EPILOGUE_CLIP));
    expect_stage("bias[M] : weight\naddend[N, M] : input\nscale[M] : weight\nshift[M] : weight\n"
                 "out[i:N, j:M] = min(max((mul[i, j] + C[i, j] + bias[j] + "
                 "addend[i, j])*scale[j] + shift[j], 0), 6)\n");
    assert_ptr_equal(tree, e.tree);
    end_edits();
    /* stages that read each other; places that an index tensor says are no channels */
    static const char net[] = "x[N, L] : input\nu[L, L] : weight\n"
                              "s[t:N, j:L] = sum(k:L) (t > 0 ? u[j, k]*h[t - 1, k] : 0)\n"
                              "h[t:N, j:L] = x[t, j] + s[t, j]\n";
    static const example cycle = {"cycle", EDITED_SIZES, net,
                                  "t =>\n    j, k => @s = t, j // k\n    j => @h = t, j\n"};
    begin_edits(&cycle);
    DO(FUSE_STAGE(AT_EPILOGUE_BIAS));
    expect_stage("bias[L] : weight\nh[t:N, j:L] = x[t, j] + s[t, j] + bias[j]\n");
    end_edits();
    static const char rows[] = "row[N] : index\nw[M, L] : weight\nout[n:N, l:L] = w[row[n], l]\n";
    static const example embedding = {"embedding", EDITED_SIZES, rows,
                                      "n, l =>\n    @out = n, l\n"};
    begin_edits(&embedding);
    DO(FUSE_STAGE(AT_EPILOGUE_BIAS));
    expect_stage("bias[L] : weight\nout[n:N, l:L] = w[row[n], l] + bias[l]\n");
    end_edits();
    /* a sum is copied first: behind its reduction, and not inside of a vec loop */
    static const char text[] = "A[N, L] : input\nB[M, L] : weight\n"
                               "out[i:N, j:M] = sum(k:L) A[i, k]*B[j, k]\n";
    static const example inside = {"inside", EDITED_SIZES, text,
                                   "i, j:vec, k:unroll =>\n    @out = i, j // k\n"};
    begin_edits(&inside);
    DO(at_edit_output_sum(e.compute, &sum, &e.err));
    assert_string_equal(sum, "out");
    REFUSED("\"out\" is a sum: its writing needs a copy first", FUSE_STAGE(AT_EPILOGUE_RELU));
    DO(COPY(AT_COPY_WRITE, "out", NULL, "local"));
    expect_tree("i =>\n"
                "    j:vec, k:unroll =>\n"
                "        @local = i, j  // k\n"
                "    j:vec =>\n"
                "        @out = i, j\n");
    expect_same_outputs();
    DO(at_edit_output_sum(e.compute, &sum, &e.err));
    assert_null(sum);
    DO(FUSE_STAGE(AT_EPILOGUE_RELU));
    expect_stage("out[i:N, j:M] = max(local[i, j], 0)\n");
    end_edits();
}

/* From the text alone: loops of its own for each stage; a stage may go into its reader. */
static void plain(void **state) {
    (void)state;
    static const char through[] = "A[N] : input\nB[N] : input\ns[i:N] = A[i] + B[i]\n"
                                  "out[i:N, j:P] = s[i]*2.0\n";
    static const example scaled = {"scaled", EDITED_SIZES, through,
                                   "i => @s = i\ni, j => @out = i, j\n"};
    begin_edits(&scaled);
    DO(at_edit_plain(e.f.arena, e.compute, &e.tree, &e.err));
    expect_tree("i =>\n    @s = i\ni, j =>\n    @out = i, j\n");
    DO(NEST("s", "out", "i", true));
    expect_tree("i =>\n    @s = i\n    j =>\n        @out = i, j\n");
    expect_same_outputs();
    DO(at_edit_dissolve(e.f.arena, e.tree, e.compute, "s", &e.tree, &e.err));
    expect_tree("i, j =>\n    @out = i, j\n");
    expect_same_outputs();
    REFUSED("rule 1 (leaf): @out is an output, which cannot be dissolved",
            at_edit_dissolve(e.f.arena, e.tree, e.compute, "out", &e.tree, &e.err));
    DO(at_edit_inline(e.f.arena, e.tree, "s", NULL, NULL, 0, &e.compute, &e.tree, &e.err));
    expect_tree("i, j =>\n    @out = i, j\n");
    assert_int_equal(at_compute_find(e.compute, "s"), -1);
    expect_same_outputs();
    REFUSED("@out is an output, which cannot be inlined",
            at_edit_inline(e.f.arena, e.tree, "out", NULL, NULL, 0, &e.compute, &e.tree, &e.err));
    REFUSED("there is no stage \"A\"",
            at_edit_inline(e.f.arena, e.tree, "A", NULL, NULL, 0, &e.compute, &e.tree, &e.err));
    end_edits();
}

/* The terms of a short sum become part of what reads it. */
static void inlined_terms(void **state) {
    (void)state;
    static const char short_sum[] =
        "A[N, K] : input\ns[i:N] = max(k:K, r:2) A[i, k]*(k + r)\nout[i:N] = s[i]*2\n";
    static const example whole = {"short sum", "N=3, K=2", short_sum,
                                  "i, k, r =>\n    @s = i // k, r\ni =>\n    @out = i\n"};
    static const char *const names[] = {"r", "k"};
    begin_edits(&whole);
    REFUSED("@s is inlined with the lengths of its reductions, of at most 64 terms",
            at_edit_inline(e.f.arena, e.tree, "s", names, (int64_t[]){2}, 1, &e.compute, &e.tree,
                           &e.err));
    REFUSED("@s is inlined with the lengths of its reductions, of at most 64 terms",
            at_edit_inline(e.f.arena, e.tree, "s", names, (int64_t[]){2, 33}, 2, &e.compute,
                           &e.tree, &e.err));
    REFUSED("@out is an output, which cannot be inlined",
            at_edit_inline(e.f.arena, e.tree, "out", names, (int64_t[]){2}, 1, &e.compute, &e.tree,
                           &e.err));
    DO(at_edit_inline(e.f.arena, e.tree, "s", names, (int64_t[]){2, 2}, 2, &e.compute, &e.tree,
                      &e.err));
    expect_tree("i =>\n    @out = i\n");
    expect_same_outputs();
    end_edits();
}

static at_status rename_stage(const char *stage, const char *const *names, int n) {
    return at_edit_rename(e.f.arena, e.tree, stage, names, n, &e.compute, &e.tree, &e.err);
}

static at_status widen(const char *stage, const char *loop) {
    return at_edit_widen(e.f.arena, e.tree, stage, loop, &e.compute, &e.tree, &e.err);
}

/* Axes, definitions and loops by other names: nothing else changes. */
static void renamed(void **state) {
    (void)state;
    static const char shifted[] = "A[N, K] : input\nB[N, K] : input\n"
                                  "s[i:N] = sum(k:K, r:2) A[i, m]*r where m = (k + i)%K\n"
                                  "q[j:N] = sum(l:K) B[j, l]\n"
                                  "out[i:N] = s[i] + q[i]\n";
    static const example x = {"shifted", "N=3, K=4, P=2", shifted,
                              "i, k, r =>\n    @s = i // k, r\nj, l =>\n    @q = j // l\n"
                              "i =>\n    @out = i\n"};
    begin_edits(&x);
    DO(rename_stage("s", (const char *[]){"k", "i", "b"}, 3));
    expect_tree("k, i, b =>\n    @s = k  // i, b\nj, l =>\n    @q = j  // l\ni =>\n    @out = i\n");
    expect_stage("s[k:N] = sum(i:K, b:2) A[k, m]*b\n    where m = (i + k)%K\n");
    expect_same_outputs();
    REFUSED("@s has 3 axes, and here are 1 names", rename_stage("s", (const char *[]){"x"}, 1));
    REFUSED("\"m\" is a name in @s already", rename_stage("s", (const char *[]){"x", "m", "y"}, 3));
    REFUSED("\"x\" is a name in @s already", rename_stage("s", (const char *[]){"x", "y", "x"}, 3));
    REFUSED("\"P\" is a name in @q already", rename_stage("q", (const char *[]){"x", "P"}, 2));
    REFUSED("@A has no leaf in this tree", rename_stage("A", (const char *[]){"x", "y"}, 2));
    DO(at_edit_nest(e.f.arena, e.tree, e.compute, "q", "out", "i", true, &e.tree, &e.err));
    REFUSED("the tree branches below \"i\"", rename_stage("out", (const char *[]){"x"}, 1));
    end_edits();
}

/* A long expression that becomes part of another takes room by its length, not by its square. */
static void inlined_chain(void **state) {
    (void)state;
    size_t used[2];
    for (int more = 0; more < 2; more++) {
        at_text text = {0};
        at_text_add(&text, "x[N] : input\nd[i:N] = x[i]");
        for (int k = 0; k < 400 << more; k++) at_text_add(&text, " + 1");
        at_text_add(&text, "\nout[i:N] = d[i]*2\n");
        const example chain = {"chain", "N=3", at_text_str(&text),
                               "i =>\n    @d = i\ni =>\n    @out = i\n"};
        begin_edits(&chain);
        size_t before = at_arena_used(e.f.arena);
        DO(at_edit_inline(e.f.arena, e.tree, "d", NULL, NULL, 0, &e.compute, &e.tree, &e.err));
        used[more] = at_arena_used(e.f.arena) - before;
        expect_same_outputs();
        end_edits();
        at_text_free(&text);
    }
    if (used[1] > 3 * used[0]) fail_msg("%zu and %zu bytes", used[0], used[1]);
}

/* Triangles by conditions over all that they may reach, whichever the reduction. */
static void widened(void **state) {
    (void)state;
    static const char ranges[] = "A[N, N] : input\nP[N+1] : index\n"
                                 "s[i:N] = sum(k:0..i+1, r:2) A[i, k]*r\n"
                                 "q[i:N] = max(k:i..N) A[k, i]\n"
                                 "p[i:N] = min(k:max(i-1, 0)..i+2*N-N) A[i, k%N]\n"
                                 "t[i:N, j:N] = prod(k:0..min(i, j+1)+1) A[i, k%N]\n"
                                 "l[i:N] = sum(k:P[i]..P[i+1]) A[i, k%N]\n"
                                 "b[i:N] = sum(k:i-1..i+1) (k >= 0 ? A[i, k] : 0)\n"
                                 "out[i:N] = s[i] + q[i] + p[i] + t[i, 2] + l[i] + b[i]\n";
    static const example x = {"ranges", "N=5", ranges,
                              "i, k:dyn(i), r =>\n    @s = i // k, r\n"
                              "i, k:dyn(i) =>\n    @q = i // k\n"
                              "i, k:dyn(i) =>\n    @p = i // k\n"
                              "i, j, k:dyn(i, j) =>\n    @t = i, j // k\n"
                              "i, k:dyn(i) =>\n    @l = i // k\n"
                              "i, k:dyn(i) =>\n    @b = i // k\n"
                              "i =>\n    @out = i\n"};
    begin_edits(&x);
    DO(widen("s", "k"));
    expect_stage("s[i:N] = sum(k:N, r:2) k < i + 1 ? A[i, k]*r : 0\n");
    DO(widen("q", "k"));
    expect_stage("q[i:N] = max(k:N) k >= i ? A[k, i] : -(inf)\n");
    DO(widen("p", "k"));
    DO(widen("t", "k"));
    expect_stage("t[i:N, j:N] = prod(k:N) k < i + 1 && k < j + 2 ? A[i, k%N] : 1\n");
    expect_same_outputs();
    REFUSED("@s has no range \"k\"", widen("s", "k"));
    REFUSED("@s has no range \"i\"", widen("s", "i"));
    REFUSED("@A has no leaf in this tree", widen("A", "k"));
    REFUSED("how far \"k\" of @l goes is not known", widen("l", "k"));
    REFUSED("how far \"k\" of @b goes is not known", widen("b", "k"));
    end_edits();
}

/* The loop of a running sum's terms goes away. */
static void run_on(void **state) {
    (void)state;
    static const char text[] = "A[I, J] : input\n"
                               "s[i:I, j:J] = sum(k:0..i + 1) A[k, j]*A[0, j]\n"
                               "t[i:I, j:J] = max(k:0..j) s[i, k]\n"
                               "u[i:I] = sum(k:0..i + 1) A[i, k % J]\n"
                               "out[i:I, j:J] = s[i, j] + (j > 0 ? t[i, j] : u[i])\n";
    static const example x = {"text", "I=5, J=4", text,
                              "i, j, k:dyn(i) =>\n    @s = i, j // k\n"
                              "j, i, l:dyn(j) =>\n    @t = i, j // l\n"
                              "i, k:dyn(i) =>\n    @u = i // k\n"
                              "i, j =>\n    @out = i, j\n"};
    begin_edits(&x);
    REFUSED("@u is no running sum",
            at_edit_running(e.f.arena, e.tree, e.compute, "u", &e.tree, &e.err));
    REFUSED("@out is no running sum",
            at_edit_running(e.f.arena, e.tree, e.compute, "out", &e.tree, &e.err));
    DO(at_edit_running(e.f.arena, e.tree, e.compute, "s", &e.tree, &e.err));
    expect_same_outputs();
    DO(at_edit_running(e.f.arena, e.tree, e.compute, "t", &e.tree, &e.err));
    expect_same_outputs();
    REFUSED("@t has an init, or runs already",
            at_edit_running(e.f.arena, e.tree, e.compute, "t", &e.tree, &e.err));
    end_edits();
}

/* Stages that read each other stand in loops of steps, inside of which those do that still read
 * each other there; what stands between comes before. */
static void plain_cycles(void **state) {
    (void)state;
    static const char text[] =
        "A[I, J] : input\n"
        "e[i:I, j:J] = j > 0 ? max(h[i, j - 1] - 3, e[i, j - 1] - 1) : -9\n"
        "b[j:J] = A[0, j]*2\n"
        "f[i:I, j:J] = i > 0 ? max(h[i - 1, j] - b[j], f[i - 1, j] - 1) : -9\n"
        "h[i:I, j:J] = max(max(e[i, j], f[i, j]), A[i, j])\n"
        "out[i:I] = sum(k:J) h[i, k]\n";
    fixture f;
    at_tree *plain;
    at_text printed = {0};
    fixture_sizes(&f, "I=5, J=4");
    assert_ok(&f, at_compute_parse(f.arena, &f.symbols, text, "c", &f.compute, &f.err));
    assert_ok(&f, at_edit_plain(f.arena, f.compute, &plain, &f.err));
    at_tree_print(&printed, plain);
    assert_string_equal(at_text_str(&printed), "j =>\n    @b = j\n"
                                               "i =>\n"
                                               "    j =>\n        @f = i, j\n"
                                               "    j =>\n        @e = i, j\n"
                                               "        @h = i, j\n"
                                               "i, k =>\n    @out = i  // k\n");
    at_text_free(&printed);
    fixture_close(&f);
}

/* A stage leaves the loops that it shares with others, at either end of them. */
static void fission(void **state) {
    (void)state;
    static const char text[] = "A[I, J] : input\n"
                               "s[i:I, j:J] = A[i, j]*2\n"
                               "t[i:I] = sum(k:J) s[i, k]\n"
                               "out[i:I, j:J] = s[i, j] + t[i]\n";
    static const example x = {"text", "I=5, J=4", text,
                              "i =>\n    j =>\n        @s = i, j\n    k =>\n        @t = i // k\n"
                              "    j =>\n        @out = i, j\n"};
    begin_edits(&x);
    REFUSED("@t is neither the first nor the last in its loops",
            at_edit_fission(e.f.arena, e.tree, e.compute, "t", &e.tree, &e.err));
    REFUSED("@u has no leaf in this tree",
            at_edit_fission(e.f.arena, e.tree, e.compute, "u", &e.tree, &e.err));
    DO(at_edit_fission(e.f.arena, e.tree, e.compute, "s", &e.tree, &e.err));
    expect_tree("i, j =>\n    @s = i, j\n"
                "i =>\n    k =>\n        @t = i  // k\n    j =>\n        @out = i, j\n");
    expect_same_outputs();
    REFUSED("@s stands alone in its loops",
            at_edit_fission(e.f.arena, e.tree, e.compute, "s", &e.tree, &e.err));
    DO(at_edit_fission(e.f.arena, e.tree, e.compute, "out", &e.tree, &e.err));
    expect_tree("i, j =>\n    @s = i, j\ni, k =>\n    @t = i  // k\n"
                "i, j =>\n    @out = i, j\n");
    expect_same_outputs();
    end_edits();
}

static void refused(void **state) {
    (void)state;
    tile();
    REFUSED("@mull has no leaf in this tree", MARK("mull", "i0", AT_ANN_PARA));
    REFUSED("\"i\" is no loop around @mul", MARK("mul", "i", AT_ANN_PARA));
    REFUSED("the tree branches below \"j0\"", ORDER("mul", "k0", "j0"));
    REFUSED("\"k1\" stands between these loops", FUSE("mul", "k0", "i1"));
    REFUSED("\"i0\" and \"i0\" are the same loop", ORDER("mul", "i0", "i0"));
    REFUSED("\"k1\" does not stand in this place", FUSE("mul", "k1", "k0"));
    REFUSED("\"k1\" and \"i1\": an axis and a reduction", FUSE("mul", "k1", "i1"));
    REFUSED("@out stands inside \"j0\" already", NEST("out", "mul", "j0", false));
    REFUSED("edited tree: \"j1\" occurs twice on one path", SPLIT("mul", "i1", "P", "j1"));
    REFUSED("there is a tensor \"A\" already", COPY(AT_COPY_READ, "B", "mul", "A"));
    REFUSED("there is no tensor \"D\"", COPY(AT_COPY_READ, "D", "mul", "x"));
    REFUSED("\"A\" is no sum: its writing needs no copy", COPY(AT_COPY_WRITE, "A", NULL, "x"));
    REFUSED("@out does not read \"A\"", COPY(AT_COPY_LAYOUT, "A", "out", "x"));
    REFUSED("\"i1\" is no reduction of @mul", FACTOR("mul", "i1", "x", NULL));
    end_edits();
    begin_edits(&edited_product);
    REFUSED("\"k\" is all that @mul sums over: split it first", FACTOR("mul", "k", "x", NULL));
    REFUSED("rule 1 (leaf): @mul is a sum, which cannot be dissolved",
            at_edit_dissolve(e.f.arena, e.tree, e.compute, "mul", &e.tree, &e.err));
    end_edits();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops),
        cmocka_unit_test(copies),
        cmocka_unit_test(copy_in_lanes),
        cmocka_unit_test(layout_of_a_reversed_axis),
        cmocka_unit_test(layout_of_a_choice),
        cmocka_unit_test(factor),
        cmocka_unit_test(factor_before),
        cmocka_unit_test(epilogue),
        cmocka_unit_test(plain),
        cmocka_unit_test(inlined_terms),
        cmocka_unit_test(inlined_chain),
        cmocka_unit_test(renamed),
        cmocka_unit_test(widened),
        cmocka_unit_test(run_on),
        cmocka_unit_test(fission),
        cmocka_unit_test(plain_cycles),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests_name("schedule/edit", tests, NULL, NULL);
}
