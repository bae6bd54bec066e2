/* What goes on from step to step: where its storage is one step, and where all of them. What comes
 * out is what the other tests look at. */
#include "codegen/tile/tile_make.h"
#include "tests/codegen/support.h"

static int64_t floats_kept(const char *compute, const char *sizes, const char *tree) {
    at_arena *a = at_arena_new();
    const program p = {"steps", sizes, compute, tree};
    at_low *l = lowered_for(a, &p, AT_DIALECT_GNU, at_target_find("avx2"), "buffers");
    const int64_t bytes = l->workspace_bytes + l->thread_bytes;
    at_arena_free(a);
    return bytes / 4;
}

#define SIZES "T=96 C=32 c0=2 c1=16 t0=12 t1=8"
#define DECAY                                                                                      \
    "x[T, C] : input\n"                                                                            \
    "h[t:T, c:C] = (t > 0 ? h[t - 1, c]*0.5 : 0) + x[t, c]\n"                                      \
    "y[t:T] = sum(c:C) h[t, c]\n"
enum { ROW = 48 /* of 32, apart */, SLACK = 16 /* behind each buffer */ };

static void one_step(void **state) {
    (void)state;
    static const char *const trees[] = {
        "t =>\n    c:vec => @h = t, c\n    c:vec => @y = t // c\n",
        "t0, t1 =>\n    c => @h = {t0, t1}/t, c\n    c => @y = {t0, t1}/t // c\n",
        "{t0, t1} =>\n    c => @h = {t0, t1}/t, c\n    c => @y = {t0, t1}/t // c\n",
    };
    for (int i = 0; i < 3; i++) assert_int_equal(floats_kept(DECAY, SIZES, trees[i]), ROW + SLACK);
    /* of running sums, too; of what is private to a thread, each thread has one */
    assert_int_equal(floats_kept("x[T, C] : input\n"
                                 "s[t:T, c:C] = sum(k:0..t + 1) x[k, c]\n"
                                 "y[t:T, c:C] = s[t, c]*2\n",
                                 SIZES,
                                 "c0:para, t =>\n"
                                 "    c1:vec => @s[running] = t, {c0, c1}/c // 0\n"
                                 "    c1:vec => @y = t, {c0, c1}/c\n"),
                     16 + SLACK);
}

static void all_steps(void **state) {
    (void)state;
    /* read behind the steps; in a part of them only; written out, where tiles have their own order
     */
    static const char *const trees[] = {
        "t =>\n    c:vec => @h = t, c\nt, c:vec => @y = t // c\n",
        "t0 =>\n    t1, c => @h = {t0, t1}/t, c\n    t1, c => @y = {t0, t1}/t // c\n",
        "t0, t1:unroll =>\n    c => @h = {t0, t1}/t, c\n    c => @y = {t0, t1}/t // c\n",
    };
    /* and a row before the first, which no step reads */
    for (int i = 0; i < 3; i++)
        assert_int_equal(floats_kept(DECAY, SIZES, trees[i]), 97 * ROW + SLACK);
    /* made several times, by a loop of parts of the steps */
    assert_int_equal(floats_kept(DECAY, SIZES,
                                 "t0, r:3, t1 =>\n    c => @h = {t0, t1}/t, c\n"
                                 "    c => @y = {t0, t1}/t // c\n"),
                     97 * ROW + SLACK);
    assert_int_equal(
        floats_kept(DECAY, SIZES, "r:3, t =>\n    c => @h = t, c\n    c => @y = t // c\n"),
        ROW + SLACK);
    /* two steps back; of another lane */
    assert_int_equal(floats_kept("x[T, C] : input\n"
                                 "h[t:T, c:C] = (t > 1 ? h[t - 2, c]*0.5 : 0) + x[t, c]\n"
                                 "y[t:T] = sum(c:C) h[t, c]\n",
                                 SIZES, trees[0]),
                     98 * ROW + SLACK);
}

/* As many as a step looks back, and itself, where steps are the outermost loop. */
static void steps_in_turn(void **state) {
    (void)state;
    static const char *const repeated[] = {
        "t, r:3 =>\n    c:vec => @h = t, c\n    c:vec => @y = t // c\n",
        "{t, r:3} =>\n    c => @h = t, c\n    c => @y = t // c\n",
        "t =>\n    r:3, c:vec => @h = t, c\n    c:vec => @y = t // c\n",
    };
    for (int i = 0; i < 3; i++)
        assert_int_equal(floats_kept(DECAY, SIZES, repeated[i]), 2 * ROW + SLACK);
    static const char within[] = "t =>\n    c:vec => @h = t, c\n    c:vec => @y = t // c\n";
    assert_int_equal(
        floats_kept("x[T, C] : input\n"
                    "h[t:T, c:C] = (t > 0 && c > 0 ? h[t - 1, c - 1]*0.5 : 0) + x[t, c]\n"
                    "y[t:T] = sum(c:C) h[t, c]\n",
                    SIZES, within),
        2 * ROW + SLACK);
    /* read behind the steps: the last two of three that are kept; one that is not; the first */
    static const char *const read[] = {"T - 2", "T - 4", "0"};
    static const int kept[] = {3, 98, 98};
    for (int i = 0; i < 3; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "x[T, C] : input\n"
                 "h[t:T, c:C] = (t > 1 ? h[t - 2, c]*0.5 : 0) + x[t, c]\n"
                 "y[c:C] = h[T - 1, c] + h[%s, c]\n",
                 read[i]);
        assert_int_equal(
            floats_kept(text, SIZES, "t =>\n    c:vec => @h = t, c\nc:vec => @y = c\n"),
            kept[i] * ROW + SLACK);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_step), cmocka_unit_test(all_steps),
                                       cmocka_unit_test(steps_in_turn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
