/* Each of the eleven rules: a tree that breaks it and nothing else, with the exact message; and
 * trees that come close and are legal. */
#include "tests/schedule/examples.h"

static const char sizes[] = "Y=6, X=4, K=8, E=3, y0=2, y1=3, x0=2, x1=2, k0=2, k1=4, z=3, one=1";
static const char sum[] = "x[Y, K] : input\n"
                          "w[X, K] : weight\n"
                          "a[y:Y, k:K] = x[y, k]*2.0\n"
                          "s[y:Y, x:X] = sum(k:K) a[y, k]*w[x, k]\n"
                          "o[y:Y, x:X] = s[y, x]\n";
static const char turned[] = "x[Y] : input\n"
                             "a[y:Y] = x[y]\n"
                             "o[y:Y] = a[y] + a[Y-1-y]\n";
static const char square[] = "x[Y, Y] : input\n"
                             "o[i:Y, j:Y] = x[i, j]\n";
static const char rows[] = "x[E] : input\n"
                           "p[Y + 1] : index\n"
                           "o[y:Y] = sum(e: p[y] .. p[y + 1]) x[e]\n";
static const char halves[] = "x[Y, X] : input\n"
                             "a[p:Y/y1, x:X, b:y1] = x[p*y1 + b, x]\n"
                             "o[y:Y, x:X] = a[y/y1, x, y%y1]\n";
static const char through[] = "x[Y] : input\n"
                              "a[y:Y] = x[y]\n"
                              "d[i:Y] = a[Y-1-i]\n"
                              "o[y:Y] = d[Y-1-y]\n";
static const char window[] = "x[Y + 2] : input\n"
                             "a[y:Y + 2] = x[y]\n"
                             "o[y:Y] = sum(k:3) a[y + k]\n";

/* message NULL: legal. */
static void check(const char *compute, const char *tree, const char *message) {
    fixture f;
    example e = {"t", sizes, compute, tree};
    fixture_open(&f, &e);
    at_status s = fixture_build(&f);
    if (!message) {
        if (s != AT_OK) fail_msg("refused: %s\n%s", f.err.text, tree);
        fixture_fill(&f, 2);
        if (compute == rows)
            for (int i = 0; i < 7; i++) f.data[1].i[i] = (int32_t)(i / 2);
        fixture_compare(&f, tree);
    } else {
        if (s == AT_OK) fail_msg("accepted, but should be: %s\n%s", message, tree);
        assert_string_equal(f.err.text, message);
    }
    fixture_close(&f);
}

static void test_leaf(void **state) {
    (void)state;
    check(sum, "y, x, k =>\n    @s = y, x // k\ny, x =>\n    @o = y, x\n", NULL);
    check(sum, "y, x =>\n    @o = y, x\n",
          "rule 1 (leaf): @s has no leaf, and a sum cannot be dissolved");
    check(sum, "y, x, k =>\n    @s = y, x // k\n",
          "rule 1 (leaf): @o has no leaf, and an output cannot be dissolved");
    check(sum, "y, x, k =>\n    @s = y, x // k\ny, x =>\n    @o = y, x\ny, x =>\n    @o = y, x\n",
          "rule 1 (leaf): @o has two leaves, in lines 4 and 6");
    check(sum,
          "y, x => @s.init = y, x\ny, x =>\n    @s.init = y, x\ny, x, k =>\n    @s = y, x // k\n"
          "y, x =>\n    @o = y, x\n",
          "rule 1 (leaf): @s.init has two leaves, in lines 1 and 3");
}

static void test_axis(void **state) {
    (void)state;
    check(square, "i, j =>\n    @o = i, j\n", NULL);
    check(square, "i =>\n    @o = i, i\n", "rule 2 (axis): loop i of @o is used twice");
    check(square, "y0, y1, one, j =>\n    @o = {one, y0, y1, one}/i, j\n",
          "rule 2 (axis): loop one of @o is used twice");
    /* build refuses this one itself */
    fixture f;
    example e = {"t", sizes, square, "i, j =>\n    @o = i, j\n"};
    fixture_open(&f, &e);
    assert_ok(&f, fixture_build(&f));
    f.program->extents[1][0] = 7;
    assert_int_equal(at_program_verify(f.arena, f.program, &f.err), AT_E_INPUT);
    assert_string_equal(f.err.text, "rule 2 (axis): the loops of axis i of @o reach 6 of 7");
    fixture_close(&f);
}

static void test_order(void **state) {
    (void)state;
    check(sum, "y, x, k =>\n    @s = y, x // k\ny, k =>\n    @a = y, k\ny, x =>\n    @o = y, x\n",
          "rule 3 (order): @s stands before @a, which it reads");
    check(through, "y => @o = y\ny => @a = y\n",
          "rule 3 (order): @o stands before @a, which it reads");
}

static void test_completion(void **state) {
    (void)state;
    check(sum, "y, k =>\n    x =>\n        @s = y, x // k\n    x =>\n        @o = y, x\n",
          "rule 4 (completion): reduction loop k of @s encloses its reader @o, which has to "
          "stand behind it");
    /* the converse: a producer under a reduction of its reader */
    check(sum,
          "y, k0 =>\n    k1 =>\n        @a = y, {k0, k1}/k\n    k1, x =>\n"
          "        @s = y, x // {k0, k1}/k\ny, x => @o = y, x\n",
          NULL);
}

static void test_coverage(void **state) {
    (void)state;
    check(sum,
          "y, k0 =>\n    k1 =>\n        @a = y, {k0, k1}/k\n    x, k =>\n"
          "        @s = y, x // k\ny, x => @o = y, x\n",
          "rule 5 (coverage): @s reads more of axis k of @a than loop k0 computes");
    check(turned, "y0 =>\n    y1 =>\n        @a = {y0, y1}/y\n    y1 =>\n        @o = {y0, y1}/y\n",
          "rule 5 (coverage): @o reads more of axis y of @a than loop y0 computes");
    check(turned, "y0 =>\n    y =>\n        @a = y\n    y1 =>\n        @o = {y0, y1}/y\n", NULL);
    /* the same digits, cut in another order than they count */
    check(sum,
          "y1, k =>\n    y0 =>\n        @a = {y0, y1}/y, k\n    y0, x =>\n"
          "        @s = {y0, y1}/y, x // k\ny, x => @o = y, x\n",
          NULL);
    /* one loop against two; two against one */
    check(sum,
          "y0 =>\n    y1, k =>\n        @a = {y0, y1}/y, k\n    y2:3, x, k =>\n"
          "        @s = {y0, y2}/y, x // k\n    y1, x => @o = {y0, y1}/y, x\n",
          NULL);
    /* x/B and x%B of one axis are digits */
    check(halves,
          "y0 =>\n    x, b =>\n        @a = y0, x, b\n    y1, x =>\n"
          "        @o = {y0, y1}/y, x\n",
          NULL);
    check(halves,
          "y0, b =>\n    x =>\n        @a = y0, x, b\n    y1, x =>\n"
          "        @o = {y0, y1}/y, x\n",
          "rule 5 (coverage): @o reads more of axis b of @a than loop b computes");
    /* through a dissolved stage that turns the axis round twice */
    check(through,
          "y0 =>\n    y1 =>\n        @a = {y0, y1}/y\n    y1 =>\n"
          "        @o = {y0, y1}/y\n",
          NULL);
    /* a window reaches into the next iteration */
    check(window,
          "y0 =>\n    h:4 =>\n        @a = {y0, h}/y\n    y1, k =>\n"
          "        @o = {y0, y1}/y // k\n",
          "rule 5 (coverage): @o reads more of axis y of @a than loop y0 computes");
    check(window, "y0 =>\n    y =>\n        @a = y\n    y1, k =>\n        @o = {y0, y1}/y // k\n",
          NULL);
}

static void test_init(void **state) {
    (void)state;
    check(sum, "z, y, x, k =>\n    @s = y, x // k\ny, x =>\n    @o = y, x\n", NULL);
    check(sum, "y, x, k, z =>\n    @s = y, x // k\ny, x =>\n    @o = y, x\n",
          "rule 6 (init): loop z is ignored by @s inside its init: the sum would be added 3 times");
    check(sum, "y, x, k, one =>\n    @s = y, x // k\ny, x =>\n    @o = y, x\n", NULL);
    /* written by hand */
    check(sum, "y, x => @s.init = y, x\ny, x, k =>\n    @s = y, x // k\ny, x =>\n    @o = y, x\n",
          NULL);
    check(sum, "y, x, k =>\n    @s = y, x // k\ny, x => @s.init = y, x\ny, x =>\n    @o = y, x\n",
          "rule 6 (init): @s stands before its init");
    check(sum,
          "y, k =>\n    x => @s.init = y, x\n    x =>\n        @s = y, x // k\n"
          "y, x =>\n    @o = y, x\n",
          "rule 6 (init): reduction loop k of @s encloses its init");
    check(sum,
          "y0 =>\n    y, x => @s.init = y, x\n    y1, x, k =>\n"
          "        @s = {y0, y1}/y, x // k\ny, x =>\n    @o = y, x\n",
          "rule 6 (init): the init of @s does not start what @s sums, along axis y");
    check(sum,
          "y, x0 =>\n    x1 => @s.init = y, {x0, x1}/x\n    x, k =>\n"
          "        @s = y, x // k\ny, x =>\n    @o = y, x\n",
          "rule 6 (init): the init of @s does not start what @s sums, along axis x");
}

static void test_dyn(void **state) {
    (void)state;
    check(rows, "y, e:dyn(y) =>\n    @o = y // e\n", NULL);
    check(rows, "y0, e:dyn(y), y1 =>\n    @o = {y0, y1}/y // e\n",
          "rule 7 (dyn): loop e of @o must be inside loop y1, on which its bounds depend");
}

static void test_vec(void **state) {
    (void)state;
    check(sum, "y, x, k:vec =>\n    @s = y, x // k\ny, x =>\n    @o = y, x\n", NULL);
    check(sum, "y, z:vec =>\n    x, k =>\n        @s = y, x // k\ny, x =>\n    @o = y, x\n",
          "rule 8 (vec): loop z must count axes or reductions of @s");
    check(sum, "y, x:vec, k =>\n    @s = y, x // k\ny, x =>\n    @o = y, x\n",
          "rule 8 (vec): loop x of @s has loop k inside, which is not unroll");
    check(sum, "y, x:vec, k:unroll =>\n    @s = y, x // k\ny, x =>\n    @o = y, x\n", NULL);
    check(sum, "y, x:vec =>\n    k =>\n        @s = y, x // k\n    @o = y, x\n",
          "rule 8 (vec): loop x must have one leaf below, it has 3");
    check(sum, "y, k, x0:vec, x1:vec =>\n    @s = y, {x0, x1}/x // k\ny, x =>\n    @o = y, x\n",
          "rule 8 (vec): loop x0 of @s has loop x1 inside, which is not unroll");
    check(sum, "y, k, {x0, x1}:vec =>\n    @s = y, {x0, x1}/x // k\ny, x =>\n    @o = y, x\n",
          NULL);
}

/* The notation cannot write it, an edited program could. */
static void test_constant(void **state) {
    (void)state;
    fixture f;
    example e = {"t", sizes, rows, "y, e:dyn(y) => @o = y // e\n"};
    fixture_open(&f, &e);
    assert_ok(&f, fixture_build(&f));
    at_node *loop = f.program->root->child->next;
    assert_int_equal(loop->extent, -1);
    loop->ann = AT_ANN_UNROLL;
    assert_int_equal(at_program_verify(f.arena, f.program, &f.err), AT_E_INPUT);
    assert_string_equal(f.err.text, "rule 8 (unroll): loop e must have a constant extent");
    fixture_close(&f);
}

static void test_para(void **state) {
    (void)state;
    check(sum, "{y, x}:para, k =>\n    @s = y, x // k\ny:para, x =>\n    @o = y, x\n", NULL);
    check(sum, "k:para, y, x =>\n    @s = y, x // k\ny, x =>\n    @o = y, x\n",
          "rule 9 (para): loop k is a reduction of @s");
    check(sum, "y:para, x:para, k =>\n    @s = y, x // k\ny, x =>\n    @o = y, x\n",
          "rule 9 (para): loop x must not be inside para loop y");
    check(sum, "y, x, k =>\n    @s = y, x // k\ny:unroll, x:para =>\n    @o = y, x\n",
          "rule 9 (para): loop x must not be inside unroll loop y");
}

static void test_privacy(void **state) {
    (void)state;
    check(
        sum,
        "z:para, y, k =>\n    @a = y, k\ny, x, k =>\n    @s = y, x // k\ny, x =>\n    @o = y, x\n",
        "rule 10 (privacy): @a ignores para loop z and is not private to its iterations");
    check(sum,
          "x0:para =>\n    y, k =>\n        @a = y, k\n    x1, y, k =>\n"
          "        @s = y, {x0, x1}/x // k\n    y, x1 =>\n        @o = y, {x0, x1}/x\n",
          NULL);
    check(square, "z:para, i, j =>\n    @o = i, j\n",
          "rule 10 (privacy): @o ignores para loop z and is not private to its iterations");
    check(square, "{z, i}:para, j =>\n    @o = i, j\n",
          "rule 10 (privacy): @o ignores para loop {z, i} and is not private to its iterations");
    /* its init reaches out of the loop */
    check(sum,
          "y, x => @s.init = y, x\nz:para =>\n    y, x, k =>\n        @s = y, x // k\n"
          "y, x =>\n    @o = y, x\n",
          "rule 6 (init): loop z is ignored by @s inside its init: the sum would be added 3 times");
}

/* Running sums go on from step to step; what reads them, and what they read, as any sum's. */
static void test_running(void **state) {
    (void)state;
    static const char up[] = "x[Y, X] : input\n"
                             "s[y:Y, x:X] = sum(k: 0 .. y + 1) x[k, x]\n"
                             "o[y:Y, x:X] = s[y, x]\n",
                      before[] = "x[X, Y] : input\n"
                                 "a[x:X, y:Y] = 1 + x[x, y]\n"
                                 "s[x:X, y:Y] = prod(k: 0 .. y) a[x, k]\n"
                                 "o[x:X, y:Y] = s[x, y]\n";
    check(up, "y, x =>\n    @s[running] = y, x // 0\ny, x =>\n    @o = y, x\n", NULL);
    check(up, "x:para, y =>\n    @s[running] = y, x // 0\n    @o = y, x\n", NULL);
    check(up,
          "y0, x1, y1:unroll, x0:vec =>\n    @s[running] = {y0, y1}/y, {x1, x0}/x // 0\n"
          "x, y =>\n    @o = y, x\n",
          NULL);
    check(up, "{x, y} =>\n    @s[running] = y, x // 0\ny, x =>\n    @o = y, x\n", NULL);
    check(up, "x, {y0, y1} =>\n    @s[running] = {y0, y1}/y, x // 0\ny, x =>\n    @o = y, x\n",
          NULL);
    check(before, "x, y => @a = x, y\ny, x => @s[running] = x, y // 0\ny, x =>\n    @o = x, y\n",
          NULL);
    check(before,
          "x =>\n    y => @a = x, y\n    y =>\n        @s[running] = x, y // 0\n"
          "        @o = x, y\n",
          NULL);
    check(before, "x, y =>\n    @a = x, y\n    @s[running] = x, y // 0\n    @o = x, y\n",
          "rule 5 (coverage): @s reads more of axis y of @a than loop y computes");
    check(up, "y1, y0, x =>\n    @s[running] = {y0, y1}/y, x // 0\ny, x =>\n    @o = y, x\n",
          "rule 11 (running): @s runs along axis y: loop y1 must go from step to step, inside of "
          "those before it");
    check(
        up, "x, {y1, y0} =>\n    @s[running] = {y0, y1}/y, x // 0\ny, x =>\n    @o = y, x\n",
        "rule 11 (running): @s runs along axis y: loop {y1, y0} must go from step to step, inside "
        "of those before it");
    check(up, "y:para, x =>\n    @s[running] = y, x // 0\ny, x =>\n    @o = y, x\n",
          "rule 11 (running): @s runs along axis y: loop y must go from step to step, inside of "
          "those before it");
    check(up, "x, y:vec =>\n    @s[running] = y, x // 0\ny, x =>\n    @o = y, x\n",
          "rule 11 (running): @s runs along axis y: loop y must go from step to step, inside of "
          "those before it");
    check(up,
          "y, x => @s.init = y, x\ny, x =>\n    @s[running] = y, x // 0\ny, x =>\n    @o = y, x\n",
          "rule 1 (leaf): @s is running: it has no init");
}

/* Earlier steps of another stage that reads itself, in loops that both stand in. */
static void steps_of_others(void **state) {
    (void)state;
    static const char two[] = "x[Y, X] : input\n"
                              "m[y:Y, x:X] = (y > 0 ? m[y - 1, x] : 0) + x[y, x]\n"
                              "o[y:Y, x:X] = y > 0 ? m[y - 1, x] : x[y, x]\n",
                      backwards[] = "x[Y, X] : input\n"
                                    "m[y:Y, x:X] = (y > 0 ? m[y - 1, x] : 0) + x[y, x]\n"
                                    "o[y:Y, x:X] = y > 0 ? m[y - 1, X - 1 - x] : x[y, x]\n",
                      next[] = "x[Y, X] : input\n"
                               "m[y:Y, x:X] = (y > 0 ? m[y - 1, x] : 0) + x[y, x]\n"
                               "o[y:Y, x:X] = y < Y - 1 ? m[y + 1, x] : x[y, x]\n",
                      plain[] = "x[Y, X] : input\n"
                                "m[y:Y, x:X] = 2*x[y, x]\n"
                                "o[y:Y, x:X] = y > 0 ? m[y - 1, x] : x[y, x]\n";
    check(two, "y, x =>\n    @m = y, x\n    @o = y, x\n", NULL);
    check(two, "x1, y =>\n    x0:vec => @m = y, {x1, x0}/x\n    x0:vec => @o = y, {x1, x0}/x\n",
          NULL);
    check(two, "y0, y1 =>\n    x => @m = {y0, y1}/y, x\n    x => @o = {y0, y1}/y, x\n", NULL);
    check(backwards, "y =>\n    x => @m = y, x\n    x => @o = y, x\n", NULL);
    check(backwards, "y, x =>\n    @m = y, x\n    @o = y, x\n",
          "rule 5 (coverage): @o reads more of axis y of @m than loop x computes");
    check(next, "y =>\n    x => @m = y, x\n    x => @o = y, x\n",
          "rule 5 (coverage): @o reads more of axis y of @m than loop y computes");
    check(plain, "y =>\n    x => @m = y, x\n    x => @o = y, x\n",
          "rule 5 (coverage): @o reads more of axis y of @m than loop y computes");
    check(two, "y0 =>\n    y1, x => @m = {y0, y1}/y, x\n    y1, x => @o = {y0, y1}/y, x\n",
          "rule 5 (coverage): @o reads more of axis y of @m than loop y0 computes");
    check(two, "y:unroll =>\n    x => @m = y, x\n    x => @o = y, x\n",
          "rule 5 (coverage): @o reads more of axis y of @m than loop y computes");
}

/* What reads itself goes from step to step along the axes that it goes back on, and does all of a
 * step before the next where it reads itself across others. */
static void test_steps(void **state) {
    (void)state;
    static const char along[] = "x[Y, X] : input\n"
                                "h[y:Y, x:X] = (y > 0 ? h[y - 1, x] : 0) + x[y, x]\n"
                                "o[y:Y, x:X] = h[y, x]\n",
                      across[] = "x[Y, X] : input\n"
                                 "h[y:Y, x:X] = (y > 0 ? h[y - 1, X - 1 - x] : 0) + x[y, x]\n"
                                 "o[y:Y, x:X] = h[y, x]\n",
                      both[] = "x[Y, X] : input\n"
                               "h[y:Y, x:X] = (y > 0 && x > 0 ? h[y - 1, x - 1] : 0) + x[y, x]\n"
                               "o[y:Y, x:X] = h[y, x]\n";
    check(along, "y, x =>\n    @h = y, x\ny, x =>\n    @o = y, x\n", NULL);
    check(along, "x:para, y =>\n    @h = y, x\n    @o = y, x\n", NULL);
    check(along, "x1, y0, y1:unroll, x0:vec => @h = {y0, y1}/y, {x1, x0}/x\ny, x => @o = y, x\n",
          NULL);
    check(along, "y1, y0, x => @h = {y0, y1}/y, x\ny, x => @o = y, x\n",
          "rule 11 (running): @h runs along axis y: loop y1 must go from step to step, inside of "
          "those before it");
    check(along, "x, y:vec => @h = y, x\ny, x => @o = y, x\n",
          "rule 11 (running): @h runs along axis y: loop y must go from step to step, inside of "
          "those before it");
    check(along, "y, x => @o = y, x\n",
          "rule 1 (leaf): @h has no leaf, and what reads itself cannot be dissolved");
    check(across, "y, x:vec => @h = y, x\ny, x => @o = y, x\n", NULL);
    check(across, "y0, y1, x1, x0:vec => @h = {y0, y1}/y, {x1, x0}/x\ny, x => @o = y, x\n", NULL);
    check(across, "x, y => @h = y, x\ny, x => @o = y, x\n",
          "rule 11 (running): @h reads itself across axis x: loop y of axis y must be outside of "
          "loop x, and not unroll");
    check(across, "y0, y1:unroll, x:unroll => @h = {y0, y1}/y, x\ny, x => @o = y, x\n",
          "rule 11 (running): @h reads itself across axis x: loop y1 of axis y must be outside of "
          "loop x, and not unroll");
    check(across, "{x, y} => @h = y, x\ny, x => @o = y, x\n",
          "rule 11 (running): @h reads itself across axis x: loop {x, y} of axis y must be outside "
          "of loop {x, y}, and not unroll");
    check(both, "y, x:vec => @h = y, x\ny, x => @o = y, x\n", NULL);
    check(both, "x1, y, x0:unroll => @h = y, {x1, x0}/x\ny, x => @o = y, x\n", NULL);
    check(both, "x, y => @h = y, x\ny, x => @o = y, x\n", NULL);
    check(both, "x1, y, x0:vec => @h = y, {x1, x0}/x\ny, x => @o = y, x\n",
          "rule 11 (running): @h reads itself across axis x: loop y of axis y must be outside of "
          "loop x1, and not unroll");
}

/* Stages that read each other stand in the same loops of their steps, in which all of an earlier
 * step that is read is done. */
static void test_cycles(void **state) {
    (void)state;
    static const char net[] = "x[Y, X] : input\n"
                              "s[y:Y, x:X] = sum(k:X) (y > 0 ? h[y - 1, k] : 0)\n"
                              "h[y:Y, x:X] = s[y, x] + x[y, x]\n",
                      system[] = "a[Y, Y] : input\n"
                                 "s[y:Y, x:X] = sum(k:0..y) a[y, k]*h[k, x]\n"
                                 "h[y:Y, x:X] = 1 - s[y, x]\n",
                      itself[] = "s[y:Y, x:X] = max(k:X) (y > 0 ? s[y - 1, k] + x : k)\n",
                      gates[] = "x[Y, X] : input\n"
                                "s[y:Y, x:X] = sum(k:X) (y > 0 ? h[y - 1, k] : 0)\n"
                                "g[y:Y, x:X] = max(s[y, x], 0)\n"
                                "h[y:Y, x:X] = g[y, x] + x[y, x]\n"
                                "o[y:Y] = sum(x:X) h[y, x]\n";
    check(net, "y =>\n    x, k => @s = y, x // k\n    x => @h = y, x\n", NULL);
    check(net,
          "y, x1 =>\n    k, x0:vec => @s = y, {x1, x0}/x // k\n"
          "    x0:vec => @h = y, {x1, x0}/x\n",
          NULL);
    check(net, "y0, y1 =>\n    x, k => @s = {y0, y1}/y, x // k\n    x => @h = {y0, y1}/y, x\n",
          NULL);
    check(net, "y, x, k => @s = y, x // k\ny, x => @h = y, x\n",
          "rule 11 (running): @s reads an earlier step of @h along axis y: both must stand in the "
          "same loops of it");
    check(net, "y1, y0 =>\n    x, k => @s = {y0, y1}/y, x // k\n    x => @h = {y0, y1}/y, x\n",
          "rule 11 (running): @s reads an earlier step of @h along axis y: loop y1 must go from "
          "step to step, inside of those before it, and not unroll");
    check(net, "y:unroll =>\n    x, k => @s = y, x // k\n    x => @h = y, x\n",
          "rule 11 (running): @s reads an earlier step of @h along axis y: loop y must go from "
          "step to step, inside of those before it, and not unroll");
    check(net, "y:para =>\n    x, k => @s = y, x // k\n    x => @h = y, x\n",
          "rule 11 (running): @s reads an earlier step of @h along axis y: loop y must go from "
          "step to step, inside of those before it, and not unroll");
    check(net, "x1, y =>\n    x0, k => @s = y, {x1, x0}/x // k\n    x0 => @h = y, {x1, x0}/x\n",
          "rule 11 (running): @s reads more of axis x of an earlier step of @h than the loops "
          "around loop y have computed");
    check(net,
          "y0, x1, y1 =>\n    x0, k => @s = {y0, y1}/y, {x1, x0}/x // k\n"
          "    x0 => @h = {y0, y1}/y, {x1, x0}/x\n",
          "rule 11 (running): @s reads more of axis x of an earlier step of @h than the loops "
          "around loop y1 have computed");
    check(net, "y =>\n    x => @h = y, x\n    x, k => @s = y, x // k\n",
          "rule 3 (order): @h stands before @s, which it reads");
    check(system, "y =>\n    x, k:dyn(y) => @s = y, x // k\n    x => @h = y, x\n", NULL);
    check(system,
          "x1:para, y =>\n    x0:vec => @s.init = y, {x1, x0}/x\n"
          "    k:dyn(y), x0:vec => @s = y, {x1, x0}/x // k\n"
          "    x0:vec => @h = y, {x1, x0}/x\n",
          NULL);
    check(itself, "y, x, k => @s = y, x // k\n", NULL);
    check(itself, "y, x => @s.init = y, x\ny, k, x:vec => @s = y, x // k\n", NULL);
    check(
        itself, "y, x => @s.init = y, x\nk, y, x => @s = y, x // k\n",
        "rule 11 (running): reduction loop k of @s stands outside of loop y, in which @s reads an "
        "earlier step of it");
    check(itself, "x, y, k => @s = y, x // k\n",
          "rule 11 (running): @s reads more of axis x of an earlier step of @s than the loops "
          "around loop y have computed");
    check(gates, "y =>\n    x, k => @s = y, x // k\n    x => @h = y, x\n    x => @o = y // x\n",
          NULL);
    check(gates,
          "y =>\n    x, k => @s = y, x // k\n    x => @g = y, x\n    x => @h = y, x\n"
          "y, x => @o = y // x\n",
          NULL);
    check(gates, "y, x, k => @s = y, x // k\ny, x => @o = y // x\n",
          "rule 1 (leaf): @h has no leaf, and what is read at a later step cannot be dissolved");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leaf),       cmocka_unit_test(test_axis),
        cmocka_unit_test(test_order),      cmocka_unit_test(test_completion),
        cmocka_unit_test(test_coverage),   cmocka_unit_test(test_init),
        cmocka_unit_test(test_dyn),        cmocka_unit_test(test_vec),
        cmocka_unit_test(test_constant),   cmocka_unit_test(test_para),
        cmocka_unit_test(test_privacy),    cmocka_unit_test(test_running),
        cmocka_unit_test(test_steps),      cmocka_unit_test(test_cycles),
        cmocka_unit_test(steps_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
