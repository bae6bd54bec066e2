/* Edits of loop trees: what each makes of the user's matrix product, that it computes the same, and
 * what each refuses. tests/codegen/test_edits.c has random ones. */
#include "schedule/edit_compute.h"
#include "schedule/epilogue.h"
#include "schedule/edit_phases.h"
#include "tests/schedule/examples.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const char sizes[] = "N=8, M=12, L=6, i0=2, i1=4, j0=3, j1=4, k0=2, k1=3, P=4";
static const char product[] = "A[N, L] : input\n"
                              "B[L, M] : weight\n"
                              "C[N, M] : input\n"
                              "mul[i:N, j:M] = sum(k:L) A[i, k]*B[k, j]\n"
                              "out[i:N, j:M] = mul[i, j] + C[i, j]\n";
static const example matmul_add = {"matmul_add", sizes, product,
                                   "i, j, k => @mul = i, j // k\ni, j => @out = i, j\n"};

/* B is read from its last row on. */
static const example reversed = {"reversed", sizes,
                                 "A[N, L] : input\n"
                                 "B[L, M] : weight\n"
                                 "mul[i:N, j:M] = sum(k:L) A[i, k]*B[L - 1 - k, j]\n",
                                 "i, j, k => @mul = i, j // k\n"};

/* B and D have fewer rows than the sum has steps. */
static const example chosen = {
    "chosen", sizes,
    "A[N, L] : input\n"
    "B[L - P, M] : weight\n"
    "D[P, M] : weight\n"
    "mul[i:N, j:M] = sum(k:L) A[i, k]*((P <= k ? B[k - P, j] : 0) + (k < P ? D[k, j] : 0))\n",
    "i, j, k => @mul = i, j // k\n"};

/* What edits go on from. */
typedef struct state {
    fixture f;
    const at_compute *compute;
    at_tree *tree;
    at_error err;
} edited;

static edited e;

static void begin(const example *x) {
    fixture_open(&e.f, x);
    fixture_fill(&e.f, 3);
    e.compute = e.f.compute;
    e.tree = e.f.tree;
}

static void end(void) { fixture_close(&e.f); }

#define DO(call)                                                                                   \
    do {                                                                                           \
        if ((call) != AT_OK) fail_msg("%s\n%s", #call, e.err.text);                                \
    } while (0)
#define REFUSED(message, call)                                                                     \
    do {                                                                                           \
        assert_int_equal((call), AT_E_INPUT);                                                      \
        assert_string_equal(e.err.text, message);                                                  \
    } while (0)
#define NAMES(...) (const char *const[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / 8
#define SPLIT(stage, loop, ...)                                                                    \
    at_edit_split(e.f.arena, e.tree, e.compute, stage, loop, NAMES(__VA_ARGS__), &e.tree, &e.err)
#define ORDER(stage, ...)                                                                          \
    at_edit_order(e.f.arena, e.tree, e.compute, stage, NAMES(__VA_ARGS__), &e.tree, &e.err)
#define FUSE(stage, ...)                                                                           \
    at_edit_fuse(e.f.arena, e.tree, e.compute, stage, NAMES(__VA_ARGS__), &e.tree, &e.err)
#define MARK(stage, loop, ann)                                                                     \
    at_edit_mark(e.f.arena, e.tree, e.compute, stage, loop, ann, &e.tree, &e.err)
#define NEST(stage, beside, loop, before)                                                          \
    at_edit_nest(e.f.arena, e.tree, e.compute, stage, beside, loop, before, &e.tree, &e.err)
#define COPY(kind, tensor, reader, name)                                                           \
    at_edit_copy(e.f.arena, e.tree, kind, tensor, reader, name, &e.compute, &e.tree, &e.err)
#define FACTOR(stage, loop, name, before)                                                          \
    at_edit_factor(e.f.arena, e.tree, stage, loop, name, before, &e.compute, &e.tree, &e.err)

static void expect_tree(const char *wanted) {
    at_text text = {0};
    at_tree_print(&text, e.tree);
    if (strcmp(at_text_str(&text), wanted))
        fail_msg("is\n%swanted\n%s", at_text_str(&text), wanted);
    at_text_free(&text);
}

/* The line of the computation that begins with the tensor's name. */
static void expect_stage(const char *wanted) {
    at_text text = {0};
    at_compute_print(&text, e.compute);
    if (!strstr(at_text_str(&text), wanted))
        fail_msg("is\n%swanted\n%s", at_text_str(&text), wanted);
    at_text_free(&text);
}

/* Every output as the computation before all edits has it, to so many units in the last place. */
static void expect_outputs(float ulps) {
    at_program *p;
    at_data *found = AT_NEW_ARRAY(e.f.arena, at_data, e.compute->num_tensors);
    int64_t **extents;
    DO(at_program_build(e.f.arena, e.tree, e.f.values, &p, &e.err));
    DO(at_program_verify(e.f.arena, p, &e.err));
    DO(at_compute_interpret(e.f.arena, e.f.compute, e.f.values, e.f.data, &e.err));
    DO(at_compute_extents(e.f.arena, e.f.compute, e.f.values, &extents, &e.err));
    for (int t = 0; t < e.compute->num_tensors; t++) {
        int before = at_compute_find(e.f.compute, e.compute->tensors[t].name);
        if (e.compute->tensors[t].role != AT_ROLE_STAGE) found[t] = e.f.data[before];
    }
    DO(at_program_interpret(e.f.arena, p, found, &e.err));
    for (int t = 0; t < e.f.compute->num_tensors; t++) {
        if (!e.f.compute->tensors[t].is_output) continue;
        int after = at_compute_find(e.compute, e.f.compute->tensors[t].name);
        int64_t count = 1;
        for (int k = 0; k < e.f.compute->tensors[t].num_axes; k++) count *= extents[t][k];
        for (int64_t i = 0; i < count; i++) {
            const float x = found[after].f[i], y = e.f.data[t].f[i];
            const bool is_same = ulps > 0 ? x == y || fabsf(x - y) <= ulps * FLT_EPSILON * fabsf(y)
                                          : !memcmp(&x, &y, sizeof x);
            if (!is_same) fail_msg("%s: %.9g, not %.9g", e.f.compute->tensors[t].name, x, y);
        }
    }
}

static void expect_same_outputs(void) { expect_outputs(0); }

static void tile(void) {
    begin(&matmul_add);
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
    end();
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
    end();
}

/* Of lanes through rows what all rows read alike is repeated. */
static void copy_in_lanes(void **state) {
    (void)state;
    static const example biased = {"biased", sizes,
                                   "x[N, M] : input\n"
                                   "b[M] : weight\n"
                                   "out[i:N, j:M] = x[i, j] + b[j]\n",
                                   "i, j => @out = i, j\n"};
    begin(&biased);
    DO(SPLIT("out", "i", "i0", "i1"));
    DO(FUSE("out", "i1", "j"));
    DO(MARK("out", "i1", AT_ANN_VEC));
    DO(COPY(AT_COPY_LANES, "b", "out", "lanes"));
    expect_stage("lanes[i1_i:i1, j:M] = b[j]\n");
    expect_stage("out[i:N, j:M] = x[i, j] + lanes[i%i1, j]\n");
    expect_tree("i1, j =>\n    @lanes = i1, j\n"
                "i0, {i1, j}:vec =>\n    @out = {i0, i1}/i, j\n");
    expect_same_outputs();
    end();
}

/* A layout follows the reader's axes, not the tensor's. */
static void layout_of_a_reversed_axis(void **state) {
    (void)state;
    begin(&reversed);
    DO(SPLIT("mul", "k", "k0", "k1"));
    DO(COPY(AT_COPY_LAYOUT, "B", "mul", "packb"));
    expect_stage("packb[j:M, k0_i:k0, k1_i:k1] = "
                 "k0_i*k1 + k1_i < L ? B[L - 1 - (k0_i*k1 + k1_i), j] : 0\n");
    expect_stage("mul[i:N, j:M] = sum(k:L) A[i, k]*packb[j, k/k1, k%k1]\n");
    expect_same_outputs();
    end();
}

/* What is read by a condition alone is copied within its tensor alone. */
static void layout_of_a_choice(void **state) {
    (void)state;
    begin(&chosen);
    DO(COPY(AT_COPY_LAYOUT, "D", "mul", "packd"));
    DO(SPLIT("mul", "k", "k0", "k1"));
    DO(COPY(AT_COPY_LAYOUT, "B", "mul", "packb"));
    expect_stage("packd[j:M, k:L] = 0 <= k && k < P ? D[k, j] : 0\n");
    expect_stage("packb[j:M, k0_i:k0, k1_i:k1] = k0_i*k1 + k1_i < L && "
                 "0 <= k0_i*k1 + k1_i - P && k0_i*k1 + k1_i - P < L - P ? "
                 "B[k0_i*k1 + k1_i - P, j] : 0\n");
    expect_same_outputs();
    end();
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
    end();
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
    end();
}

/* Stages behind the output: the tree stays. */
static void epilogue(void **state) {
    (void)state;
    const char *const *inputs, *sum;
    begin(&matmul_add);
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
    end();
    /* stages that read each other; places that an index tensor says are no channels */
    static const char net[] = "x[N, L] : input\nu[L, L] : weight\n"
                              "s[t:N, j:L] = sum(k:L) (t > 0 ? u[j, k]*h[t - 1, k] : 0)\n"
                              "h[t:N, j:L] = x[t, j] + s[t, j]\n";
    static const example cycle = {"cycle", sizes, net,
                                  "t =>\n    j, k => @s = t, j // k\n    j => @h = t, j\n"};
    begin(&cycle);
    DO(FUSE_STAGE(AT_EPILOGUE_BIAS));
    expect_stage("bias[L] : weight\nh[t:N, j:L] = x[t, j] + s[t, j] + bias[j]\n");
    end();
    static const char rows[] = "row[N] : index\nw[M, L] : weight\nout[n:N, l:L] = w[row[n], l]\n";
    static const example embedding = {"embedding", sizes, rows, "n, l =>\n    @out = n, l\n"};
    begin(&embedding);
    DO(FUSE_STAGE(AT_EPILOGUE_BIAS));
    expect_stage("bias[L] : weight\nout[n:N, l:L] = w[row[n], l] + bias[l]\n");
    end();
    /* a sum is copied first: behind its reduction, and not inside of a vec loop */
    static const char text[] = "A[N, L] : input\nB[M, L] : weight\n"
                               "out[i:N, j:M] = sum(k:L) A[i, k]*B[j, k]\n";
    static const example inside = {"inside", sizes, text,
                                   "i, j:vec, k:unroll =>\n    @out = i, j // k\n"};
    begin(&inside);
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
    end();
}

/* From the text alone: loops of its own for each stage; a stage may go into its reader. */
static void plain(void **state) {
    (void)state;
    static const char through[] = "A[N] : input\nB[N] : input\ns[i:N] = A[i] + B[i]\n"
                                  "out[i:N, j:P] = s[i]*2.0\n";
    static const example scaled = {"scaled", sizes, through, "i => @s = i\ni, j => @out = i, j\n"};
    begin(&scaled);
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
    end();
}

/* The terms of a short sum become part of what reads it. */
static void inlined_terms(void **state) {
    (void)state;
    static const char short_sum[] =
        "A[N, K] : input\ns[i:N] = max(k:K, r:2) A[i, k]*(k + r)\nout[i:N] = s[i]*2\n";
    static const example whole = {"short sum", "N=3, K=2", short_sum,
                                  "i, k, r =>\n    @s = i // k, r\ni =>\n    @out = i\n"};
    static const char *const names[] = {"r", "k"};
    begin(&whole);
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
    end();
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
    begin(&x);
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
    end();
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
        begin(&chain);
        size_t before = at_arena_used(e.f.arena);
        DO(at_edit_inline(e.f.arena, e.tree, "d", NULL, NULL, 0, &e.compute, &e.tree, &e.err));
        used[more] = at_arena_used(e.f.arena) - before;
        expect_same_outputs();
        end();
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
    begin(&x);
    DO(widen("s", "k"));
    expect_stage("s[i:N] = sum(k:N, r:2) k < i + 1 ? A[i, k]*r : 0\n");
    DO(widen("q", "k"));
    expect_stage("q[i:N] = max(k:N) k >= i ? A[k, i] : -(inf)\n");
    DO(widen("p", "k"));
    DO(widen("t", "k"));
    expect_same_outputs();
    REFUSED("@s has no range \"k\"", widen("s", "k"));
    REFUSED("@s has no range \"i\"", widen("s", "i"));
    REFUSED("@A has no leaf in this tree", widen("A", "k"));
    REFUSED("how far \"k\" of @l goes is not known", widen("l", "k"));
    REFUSED("how far \"k\" of @b goes is not known", widen("b", "k"));
    end();
}

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
    begin(&x);
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
    end();
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
    begin(&x);
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
    end();
}

/* Of two reads that both move along an axis the one whose last index it is. */
static void reads_along(void **state) {
    (void)state;
    static const example x = {"part", "N=4",
                              "A[N, N] : input\n"
                              "out[i:N, j:N] = A[i, j] + A[j, i]*3\n",
                              "i, j =>\n    @out = i, j\n"};
    begin(&x);
    DO(along("out", "A", "i", "a"));
    expect_stage("a[j:N, i:N] = A[j, i]\n");
    expect_stage("out[i:N, j:N] = A[i, j] + a[j, i]*3\n");
    expect_same_outputs();
    DO(at_edit_dissolve(e.f.arena, e.tree, e.compute, "a", &e.tree, &e.err));
    DO(COPY(AT_COPY_LAYOUT, "a", "out", "a_packed"));
    expect_same_outputs();
    end();
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
    begin(&x);
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
    end();
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
    begin(&x);
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
    end();
}

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
    begin(&x);
    REFUSED("@s is no sum of whose terms a remainder along \"r\" leaves every n-th",
            by_phases("s", "r", "b", false));
    REFUSED("@u is no sum of whose terms a remainder along \"h\" leaves every n-th",
            by_phases("u", "h", "b", false)); /* what is left out is not 0 */
    REFUSED("@x has no leaf of its own in this tree", by_phases("x", "h", "b", false));
    REFUSED("there is a tensor \"w\" already", by_phases("s", "h", "w", false));
    DO(by_phases("s", "h", "t", false));
    expect_stage("s[h:I*S] = t[h%S, h/S]\n");
    expect_same_outputs();
    end();
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
    begin(&x);
    DO(by_phases("s", "h", "t", false));
    expect_stage("s[h:9] = t[h%2, h/2]\n");
    expect_stage(
        "(1 + h_p)/2 + h - r >= 0 && (1 + h_p)/2 + h - r < 5 ? x[(1 + h_p)/2 + h - r] : 0");
    expect_same_outputs();
    end();
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
    begin(&x);
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
    end();
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
    begin(&x);
    REFUSED("@u is no sum of whose terms a remainder along \"h\" leaves every n-th",
            by_phases("u", "h", "b", false)); /* which element is read does not depend on it */
    DO(by_phases("s", "h", "t", false));
    expect_stage("h:(20 + S - 1)/S] = sum(r:3) ((1 + h_p)%S == 0 && ");
    expect_stage("x[(1 + h_p)/S + h - r]");
    expect_same_outputs();
    end();
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
    begin(&x);
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
    end();
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
    begin(&x);
    REFUSED("@t reads an entry along \"k\" for the same term each time", unpack("t", "k", "e"));
    DO(unpack("s", "k", "e"));
    expect_stage("s[i:N] = sum(k:K/4) x[k*4]*(e[i, k] & 15) + x[k*4 + 1]*(e[i, k] & 15) + "
                 "x[k*4 + 2]*(e[i, k] >> 4) + x[k*4 + 3]*(e[i, k] >> 4)\n");
    expect_same_outputs();
    end();
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
    begin(&x);
    REFUSED("@u reads \"x\" at no place that entries and axes bound together",
            by_place("u", "x", "p"));
    REFUSED("@s reads \"w\" at no place that entries and axes bound together",
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
    end();
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
    begin(&x);
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
    end();
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
    begin(&x);
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
    end();
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
    begin(&x);
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
    end();
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
    begin(&x);
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
    end();
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
    begin(&x);
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
    end();
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
        begin(&(example){"text", "N=5", text, tree});
        DO(bounded("s"));
        expect_stage("s[i:N, j:N] = sum(k:N) j <= i ? a[i, k]*a[j, k] : 0\n");
        DO(bounded("out"));
        expect_stage("out[g:N, c:N] = sum(h:N) h <= g ? e[g, h]*a[h, c] : 0\n");
        expect_same_outputs();
        end();
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
    begin(&(example){"text", "N=5, W=2", text, tree});
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
        end();
    }
    for (int i = 0; i < 6; i++) {
        begin_masked(others[i]);
        REFUSED("nothing bounds where @e counts", bounded("e"));
        REFUSED("nothing bounds where @y counts", bounded("y"));
        end();
    }
}

/* What an integer holds of -inf is a number. */
static void not_bounded_by_integers(void **state) {
    (void)state;
    static const char text[] =
        "a[N, N] : input\nm[i:N, j:N] : s8 = j > i ? -inf : 0\n"
        "e[i:N, j:N] = exp(a[i, j] + m[i, j])\nf[i:N, j:N] = exp(a[i, j])*min(m[i, j], 0)\n"
        "out[i:N, c:N] = sum(j:N) (e[i, j] + f[i, j])*a[j, c]\n";
    begin(&(example){"text", "N=5", text,
                     "i, j =>\n    @m = i, j\ni, j =>\n    @e = i, j\ni, j =>\n    @f = i, j\n"
                     "i, c, j =>\n    @out = i, c // j\n"});
    REFUSED("nothing bounds where @e counts", bounded("e"));
    DO(bounded("f")); /* a 0 is one */
    expect_stage("f[i:N, j:N] = j > i ? exp(a[i, j])*min(m[i, j], 0) : 0\n");
    expect_outputs(8) /* functions */;
    end();
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
    end();
    begin_masked("j <= i + W - N ? d[i, j] : -inf");
    assert_string_equal(needs_of("y"), "W - N >= 0");
    end();
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
    begin(&x);
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
    end();
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
    begin(&x);
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
    end();
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
    begin(&x);
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
    end();
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
    end();
    begin(&matmul_add);
    REFUSED("\"k\" is all that @mul sums over: split it first", FACTOR("mul", "k", "x", NULL));
    REFUSED("rule 1 (leaf): @mul is a sum, which cannot be dissolved",
            at_edit_dissolve(e.f.arena, e.tree, e.compute, "mul", &e.tree, &e.err));
    end();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(loops),
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
                                       cmocka_unit_test(operands),
                                       cmocka_unit_test(reads_apart),
                                       cmocka_unit_test(reads_along),
                                       cmocka_unit_test(turned),
                                       cmocka_unit_test(gone_across),
                                       cmocka_unit_test(gone_by_phases),
                                       cmocka_unit_test(gone_by_uneven_phases),
                                       cmocka_unit_test(gone_by_dilated_phases),
                                       cmocka_unit_test(gone_by_empty_phases),
                                       cmocka_unit_test(inverses),
                                       cmocka_unit_test(made_of_places),
                                       cmocka_unit_test(searched_in_blocks),
                                       cmocka_unit_test(made_of_padding),
                                       cmocka_unit_test(gone_by_branches),
                                       cmocka_unit_test(bounded_by_readers),
                                       cmocka_unit_test(bounded_by_other_names),
                                       cmocka_unit_test(bounded_by_masks),
                                       cmocka_unit_test(bounded_by_sizes),
                                       cmocka_unit_test(not_bounded_by_integers),
                                       cmocka_unit_test(divided_once),
                                       cmocka_unit_test(unpacked),
                                       cmocka_unit_test(unpacked_for_several),
                                       cmocka_unit_test(gone_across_in_steps),
                                       cmocka_unit_test(run_on),
                                       cmocka_unit_test(fission),
                                       cmocka_unit_test(plain_cycles),
                                       cmocka_unit_test(refused)};
    return cmocka_run_group_tests_name("schedule/edit", tests, NULL, NULL);
}
