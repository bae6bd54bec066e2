/* Trees of which somebody wrote a part: what rules make of them, and that it computes what the
 * computation says. */
#include "tests/sketch/interpreted.h"

#define PRODUCT                                                                                    \
    "args N=13, L=20, M=37\nA[N, L] : input\nB[L, M] : weight\nC[N, M] : input\n"                  \
    "mul[i:N, j:M] = sum(k:L) A[i, k] * B[k, j]\nout[i:N, j:M] = mul[i, j] + C[i, j]\n"
#define SOFTMAX                                                                                    \
    "args M=5, N=40\nx[M, N] : input\nmost[i:M] = max(k:N) x[i, k]\n"                              \
    "e[i:M, j:N] = exp(x[i, j] - most[i])\ntotal[i:M] = sum(k:N) e[i, k]\n"                        \
    "out[i:M, j:N] = e[i, j] / total[i]\n"

#define NET                                                                                        \
    "args T=5, H=19\nx[T, H] : input\nu[H, H] : weight\n"                                          \
    "s[t:T, j:H] = sum(k:H) (t > 0 ? u[j, k]*h[t - 1, k] : 0)\n"                                   \
    "h[t:T, j:H] = min(max(x[t, j] + s[t, j], -2), 2)\n"

/* What rules make of a tree that somebody began: the tree of the first sketch, and how many
 * sketches and knobs of the first there are. */
static void begun(void **state) {
    (void)state;
    static const struct {
        const char *text, *tree;
        int sketches, knobs;
    } cases[] = {
        /* parts without sizes; what reads the sum stands beside it */
        {PRODUCT "schedule\n"
                 "i0:para, j0 =>\n"
                 "    k0, k1, i1:unroll, j1:vec =>\n"
                 "        @mul = {i0, i1}/i, {j0, j1}/j  // {k0, k1}/k\n",
         "k0, k1, j0, j1:vec =>\n"
         "    @B_packed = j0, k0, k1, j1\n"
         "i0:para, j0 =>\n"
         "    k0, k1:ann(k1_mark), i1:unroll, j1:vec =>\n"
         "        @mul = {i0, i1}/i, {j0, j1}/j  // {k0, k1}/k\n"
         "    i1:unroll, j1:vec =>\n"
         "        @out = {i0, i1}/i, {j0, j1}/j\n",
         2, 4},
        /* numbers, those of fused loops, too, stay; lanes with a number are packed for */
        {PRODUCT "schedule\n"
                 "{i0:3, j0:2} para =>\n"
                 "    k0, k1, i1:6 unroll, j1:32 vec =>\n"
                 "        @mul = {i0, i1}/i, {j0, j1}/j  // {k0, k1}/k\n",
         "k0, k1, j0:2, j1:32 =>\n"
         "    @B_packed = j0, k0, k1, j1\n"
         "{i0:3, j0:2} para =>\n"
         "    k0, k1:ann(k1_mark), i1:6 unroll, j1:32 vec =>\n"
         "        @mul = {i0, i1}/i, {j0, j1}/j  // {k0, k1}/k\n"
         "    i1:6 unroll, j1:32 vec =>\n"
         "        @out = {i0, i1}/i, {j0, j1}/j\n",
         2, 2},
        /* knobs for loops of which nothing is said */
        {PRODUCT "schedule\n"
                 "i0:para, j0 =>\n"
                 "    k, i1, j1 =>\n"
                 "        @mul = {i0, i1}/i, {j0, j1}/j  // k\n",
         "k, j0, j1:vec =>\n"
         "    @B_packed = j0, k, j1\n"
         "i0:para, j0 =>\n"
         "    k, i1:ann(i1_mark), j1:ann(j1_mark) =>\n"
         "        @mul = {i0, i1}/i, {j0, j1}/j  // k\n"
         "    i1:ann(i1_mark), j1:ann(j1_mark) =>\n"
         "        @out = {i0, i1}/i, {j0, j1}/j\n",
         2, 4},
        /* only the innermost of a leaf alone can be lanes, none around a reduction is written out
         */
        {PRODUCT "schedule\n"
                 "i0, i1, j0, j1 =>\n"
                 "    k =>\n"
                 "        @mul = {i0, i1}/i, {j0, j1}/j  // k\n"
                 "    @out = {i0, i1}/i, {j0, j1}/j\n",
         "i0, i1, j0, j1 =>\n"
         "    k =>\n"
         "        @mul = {i0, i1}/i, {j0, j1}/j  // k\n"
         "    @out = {i0, i1}/i, {j0, j1}/j\n",
         1, 2},
        /* sizes that are there stay, and those that follow from them are no knobs */
        {PRODUCT "schedule\n"
                 "i0, j0:2, j1 =>\n"
                 "    k, i1:3 =>\n"
                 "        @mul = {i0, i1}/i, {j0, j1}/j  // k\n"
                 "    i1:3 =>\n"
                 "        @out = {i0, i1}/i, {j0, j1}/j\n",
         NULL, 1, 0},
        /* a sum that nobody wrote is tiled, and what was written reads it */
        {PRODUCT "schedule\n"
                 "i:para, j0, j1:vec =>\n"
                 "    @out = i, {j0, j1}/j\n",
         NULL, 2, 4},
        /* a name of its own for a whole axis; no vectors: nothing to pack */
        {PRODUCT "schedule\n"
                 "row, j =>\n"
                 "    k =>\n"
                 "        @mul = {row}/i, j  // k\n",
         "row, j =>\n"
         "    k =>\n"
         "        @mul = row, j  // k\n"
         "    @out = row, j\n",
         1, 0},
        /* between what it reads and what reads it */
        {SOFTMAX "schedule\n"
                 "i =>\n"
                 "    m0, m1:vec =>\n"
                 "        @most = i  // {m0, m1}/k\n"
                 "    k0, k1:vec =>\n"
                 "        @total = i  // {k0, k1}/k\n",
         NULL, 1, 4},
        {SOFTMAX "schedule\n"
                 "i =>\n"
                 "    j0, j1:vec =>\n"
                 "        @e = i, {j0, j1}/j\n",
         NULL, 1, 4},
        /* a stage of a cycle in the loops of the steps of another one, in its place there */
        {NET "schedule\n"
             "t0, t1 =>\n"
             "    j0, k, j1:vec =>\n"
             "        @s = {t0, t1}/t, {j0, j1}/j  // k\n",
         "j0, k, j1 =>\n"
         "    @u_packed = j0, k, j1\n"
         "t0, t1, j0 =>\n"
         "    k, j1:vec =>\n"
         "        @s = {t0, t1}/t, {j0, j1}/j  // k\n"
         "    j1:vec =>\n"
         "        @h = {t0, t1}/t, {j0, j1}/j\n",
         1, 2},
        {NET "schedule\n"
             "step =>\n"
             "    j =>\n"
             "        @h = {step}/t, j\n",
         "j0, k0, k1, j1 =>\n"
         "    @u_packed = j0, k0, k1, j1\n"
         "step =>\n"
         "    j0:para =>\n"
         "        k0, k1:unroll, j1:vec =>\n"
         "            @s_sum = step, {j0, j1}/j  // {k0, k1}/k\n"
         "        j1:vec =>\n"
         "            @s = step, {j0, j1}/j\n"
         "    j =>\n"
         "        @h = step, j\n",
         1, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_arena *a = at_arena_new();
        at_task *t = task_of_text(a, "own.te", cases[i].text, "");
        if (at_task_num_sketches(t) != cases[i].sketches ||
            at_space_num_knobs(at_task_space(at_task_sketch(t, 0))) != cases[i].knobs)
            fail_msg("%s: %d sketches, %d knobs", cases[i].text, at_task_num_sketches(t),
                     at_space_num_knobs(at_task_space(at_task_sketch(t, 0))));
        if (cases[i].tree)
            assert_string_equal(at_sketch_of_task(t, 0)->s->tree_text, cases[i].tree);
        check_task(a, t);
        at_arena_free(a);
    }
}

/* A tree with nothing open is one of its own, without sketches. */
static void whole(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_task *t = task_of_text(a, "own.te",
                              "args N=4\nA[N] : input\nout[i:N] = A[i] + 1\n"
                              "schedule\ni:vec =>\n    @out = i\n",
                              "");
    assert_int_equal(at_task_num_sketches(t), 0);
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(begun), cmocka_unit_test(whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
