/* Trees: what parses, prints back, and what every wrong text is told. */
#include "tests/schedule/examples.h"

#include <string.h>

static const char sizes[] = "N=4, M=3, Y=6, X=4, K=8, y0=2, y1=3, k0=2, z=5";
static const char compute[] = "x[Y, K] : input\n"
                              "p[Y + 1] : index\n"
                              "a[y:Y, k:K] = x[y, k]\n"
                              "s[y:Y, x:X] = sum(k:K) a[y, k]\n"
                              "d[y:Y] = sum(e: p[y] .. p[y+1]) x[e, 0]\n"
                              "r[y:Y] = sum(k: 0 .. y+1) x[k, 0]\n";

static at_status parse(fixture *f, const char *text) {
    fixture_sizes(f, sizes);
    assert_ok(f, at_compute_parse(f->arena, &f->symbols, compute, "c", &f->compute, &f->err));
    return at_tree_parse(f->arena, f->compute, text, "t", &f->tree, &f->err);
}

static void test_print(void **state) {
    (void)state;
    for (int i = 0; i < num_examples; i++) {
        fixture f;
        at_tree *again;
        at_text first = {0}, second = {0};
        fixture_open(&f, examples[i]);
        at_tree_print(&first, f.tree);
        /* The examples are written as they print, but for the missing slash of one. */
        if (examples[i] != &notes_gemm) assert_string_equal(first.data, examples[i]->tree);
        else assert_non_null(strstr(first.data, "// {ko, ki}/k\n"));
        assert_ok(&f, at_tree_parse(f.arena, f.compute, first.data, "printed", &again, &f.err));
        at_tree_print(&second, again);
        assert_string_equal(first.data, second.data);
        at_text_free(&first);
        at_text_free(&second);
        fixture_close(&f);
    }
}

/* Other spellings of one tree. */
static void test_canonical(void **state) {
    (void)state;
    static const char *const spelled[][2] = {
        {"  y , x,\n k=>@s=y,x//{k}/k", "y, x, k =>\n    @s = y, x  // k\n"},
        {"y:6   unroll, x:5 vec, k:3 =>\n    @s = y, x // k",
         "y:6 unroll, x:5 vec, k:3 =>\n    @s = y, x  // k\n"},
        {"y:6, x, k =>\n    @s = {y}/y,\n x // k\ny=> @d.init = y",
         "y:6, x, k =>\n    @s = y, x  // k\ny =>\n    @d.init = y\n"},
        {"y =>\n    x, k:unroll =>\n        @s = y, x // k\n    k =>\n        @a = y, k\n@a = 0, 0",
         "y =>\n    x, k:unroll =>\n        @s = y, x  // k\n    k =>\n        @a = y, k\n@a = 0, "
         "0\n"},
        {"y, x, k => @s[ prefetch a 4096 ]=y, x // k",
         "y, x, k =>\n    @s[prefetch a 4096] = y, x  // k\n"},
        {"y, k => @a [ pad 4 ][order k y][ prefetch s 64 ] = y, k",
         "y, k =>\n    @a[prefetch s 64][pad 4][order k y] = y, k\n"},
        {"y, k => @a [ dense ][pointers x] = y, k", "y, k =>\n    @a[pointers x][dense] = y, k\n"},
        {"y => @r[ running ] = y // 0", "y =>\n    @r[running] = y  // 0\n"},
        {"y, k => @a[order y k][dense] = y, k", "y, k =>\n    @a[dense][order y k] = y, k\n"},
        {"{y0, y1}:para, e:dyn(y) => @d = {y0, y1}y // e",
         "{y0, y1}:para, e:dyn(y) =>\n    @d = {y0, y1}/y  // e\n"},
    };
    for (size_t i = 0; i < sizeof spelled / sizeof *spelled; i++) {
        fixture f;
        at_text out = {0};
        assert_ok(&f, parse(&f, spelled[i][0]));
        at_tree_print(&out, f.tree);
        assert_string_equal(out.data, spelled[i][1]);
        at_text_free(&out);
        fixture_close(&f);
    }
}

/* Fused loops, kinds, the generated init and the numbering of a built tree. */
static void test_structure(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, &conv_direct);
    assert_ok(&f, fixture_build(&f));
    const at_program *p = f.program;
    const at_node *n = p->root;
    assert_int_equal(p->num_loops, 12);
    assert_int_equal(n->num_pieces, 3);
    assert_string_equal(p->piece_names[n->piece[1]], "O");
    assert_int_equal(n->extent, 2 * 2 * 5);
    assert_int_equal(n->ann, AT_ANN_PARA);
    assert_true(p->dissolved[2]);
    const at_node *ow = n->child, *init = ow->child, *sum = init->next;
    assert_int_equal(ow->line_group, n->line_group);
    assert_int_equal(init->ann, AT_ANN_UNROLL); /* iw, b of the init */
    assert_int_equal(init->child->ann, AT_ANN_VEC);
    const at_node *leaf = init->child->child;
    assert_true(leaf->is_leaf && leaf->is_init);
    assert_int_equal(leaf->num_axes, 5);
    assert_ptr_equal(leaf->axes[3].loop[0], ow);
    assert_ptr_equal(leaf->axes[3].loop[1], init);
    assert_true(sum->is_reduce); /* C */
    assert_false(ow->is_reduce);
    for (leaf = sum; !leaf->is_leaf; leaf = leaf->child)
        assert_int_equal(leaf->depth, leaf->parent->depth + 1);
    assert_int_equal(leaf->num_axes, 8);
    assert_int_equal(leaf->axes[0].member[0], 0);
    assert_int_equal(leaf->axes[2].member[0], 2);
    assert_int_equal(leaf->axes[5].extent[1], 3);
    fixture_close(&f);
    fixture_open(&f, &notes_sparse);
    assert_ok(&f, fixture_build(&f));
    n = f.program->root->child->child->child->next->child; /* x1, below yt, xt, yo and xo */
    assert_int_equal(n->extent, 1);
    const at_node *dyn = n->child->next;
    assert_int_equal(dyn->extent, -1);
    assert_string_equal(f.compute->tensors[dyn->dyn_tensor].name, "CC");
    assert_int_equal(dyn->dyn_axis, 4);
    assert_true(dyn->is_reduce);
    fixture_close(&f);
}

static void test_recompute(void **state) {
    (void)state;
    fixture f;
    assert_ok(&f, parse(&f, "z, {y0, y1}, x, k =>\n    @s = {y0, y1}/y, x // k\n"));
    assert_ok(&f, at_program_build(f.arena, f.tree, f.values, &f.program, &f.err));
    const at_node *n = f.program->root;
    while (!n->is_leaf) n = n->child;
    assert_true(n->is_init);
    assert_int_equal(at_leaf_recompute(n), 5);
    n = n->parent->child->next;
    assert_int_equal(at_leaf_recompute(n->child), 5);
    fixture_close(&f);
    assert_ok(&f, parse(&f, "z, {y0, y1}, M, k =>\n    @a = y1, k\n"));
    fixture_set(&f, "Y=3");
    assert_ok(&f, at_program_build(f.arena, f.tree, f.values, &f.program, &f.err));
    for (n = f.program->root; !n->is_leaf;) n = n->child;
    assert_int_equal(at_leaf_recompute(n), 5 * 2 * 3);
    fixture_close(&f);
}

static void test_build(void **state) {
    (void)state;
    static const struct {
        const char *sizes, *tree, *message; /* NULL: builds */
    } cases[] = {
        {"y0=2, y1=3", "y0, y1 => @a = {y0, y1}/y, 0",
         "t:1: {} does not reach the end of axis k of @a, which has extent 8"},
        {"y0=2, y1=3, K=1", "y0, y1 => @a = {y0, y1}/y, 0", NULL},
        {"y0=2, y1=2, K=1", "y0, y1 => @a = {y0, y1}/y, 0",
         "t:1: {y0:2, y1:2} does not reach the end of axis y of @a, which has extent 6"},
        {"y0=2, y1=4, K=1", "y0, y1 => @a = {y0, y1}/y, 0", NULL},
        {"y0=3, y1=3, K=1", "y0, y1 => @a = {y0, y1}/y, 0",
         "t:1: {y0:3, y1:3} has empty outer iterations over axis y of @a, which has extent 6"},
        {"y0=1, y1=9, K=1", "y0, y1 => @a = {y0, y1}/y, 0", NULL},
        {"y0=0, y1=9, K=1", "y0, y1 => @a = {y0, y1}/y, 0", "t:1: loop y0 has extent 0"},
        {"y0=4611686018427387904, y1=3, K=1", "{y0, y1} => @a = {y0, y1}/y, 0",
         "t:1: a fused loop exceeds 2^63 iterations"},
        {"y0=4611686018427387904, y1=3, K=1", "y0, y1 => @a = {y0, y1}/y, 0",
         "t:1: {y0:4611686018427387904, y1:3} exceeds by far axis y of @a, which has extent 6"},
        {"K=0", "y, k => @a = y, k", "c:3: extent 2 (k) of \"a\" is 0; at least 1 is accepted"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        assert_ok(&f, parse(&f, cases[i].tree));
        fixture_set(&f, cases[i].sizes);
        at_status s = at_program_build(f.arena, f.tree, f.values, &f.program, &f.err);
        if (cases[i].message) assert_string_equal(f.err.text, cases[i].message);
        assert_int_equal(s, cases[i].message ? AT_E_INPUT : AT_OK);
        fixture_close(&f);
    }
}

static const struct {
    const char *text, *message;
} bad[] = {
    {"", "t:1:1: a tree needs a line"},
    {"y, x, k", "t:1:8: expected ',' or '=>', got the end\ny, x, k\n       ^"},
    {"y, x, k =>",
     "t:1:11: expected a line 4 blanks deeper than the '=>' above it\ny, x, k =>\n          ^"},
    {"y, x, k =>\n@s = y, x // k",
     "t:2:1: expected a line 4 blanks deeper than the '=>' above it\n@s = y, x // k\n^"},
    {"y, x, k =>\n  @s = y, x // k",
     "t:2:3: expected a line 4 blanks deeper than the '=>' above it\n  @s = y, x // k\n  ^"},
    {"y, x, k =>\n        @s = y, x // k",
     "t:2:9: expected 4 blanks before this line, there are 8\n        @s = y, x // k\n        ^"},
    {"y =>\n    x, k =>\n        @s = y, x // k\n  y =>\n    @d = y // y",
     "t:4:3: expected 0 blanks before this line, there are 2\n  y =>\n  ^"},
    {"y, x k =>\n    @s = y, x // k", "t:1:6: expected ',' or '=>', got 'k'\ny, x k =>\n     ^"},
    {"y, x, y =>\n    @s = y, x // k",
     "t:1:7: \"y\" occurs twice on one path\ny, x, y =>\n      ^"},
    {"y, {x, k =>\n    @s = y, x // k",
     "t:1:10: expected ',' or '}', got '=>'\ny, {x, k =>\n         ^"},
    {"y, {x, k}:vec =>\n    @s = y, x // k",
     "t:1:4: this fused loop mixes axes and reductions of @s\ny, {x, k}:vec =>\n   ^"},
    {"y, {x, z}:4 =>\n    @s = y, x // k",
     "t:1:11: expected para, vec or unroll on a fused loop, got '4'\ny, {x, z}:4 =>\n          ^"},
    {"{y:0, x}, k =>\n    @s = y, x // k",
     "t:1:4: an extent is at least 1, got '0'\n{y:0, x}, k =>\n   ^"},
    {"{y:2, x:} para, k =>\n    @s = y, x // k",
     "t:1:9: expected an extent, got '}'\n{y:2, x:} para, k =>\n        ^"},
    {"{y:6, x}:para, k =>\n    @s = y, x // k",
     "t:1:9: expected ',' or '=>', got ':'\n{y:6, x}:para, k =>\n        ^"},
    {"y:fast, x, k =>\n    @s = y, x // k",
     "t:1:3: expected para, vec, unroll, dyn(...) or an extent, got 'fast'\ny:fast, x, k =>\n  ^"},
    {"y:0, x, k =>\n    @s = y, x // k",
     "t:1:3: an extent is at least 1, got '0'\ny:0, x, k =>\n  ^"},
    {"y, x, k => @t = y, x // k",
     "t:1:13: unknown stage \"t\"\ny, x, k => @t = y, x // k\n            ^"},
    {"y, x, k => @x = y, x // k",
     "t:1:13: \"x\" is given: only stages are computed\ny, x, k => @x = y, x // k\n            ^"},
    {"y, x, k => @ss = y, x // k", "t:1:13: unknown stage \"ss\"; did you mean \"s\"?\ny, x, k => "
                                   "@ss = y, x // k\n            ^"},
    {"y, x, k => @s = y // k", "t:1:19: expected ',' and an index for axis \"x\", got '//'\ny, x, "
                               "k => @s = y // k\n                  ^"},
    {"y, x, k => @s = y, x, k", "t:1:21: @s has no more axes: expected '//', got ','\ny, x, k => "
                                "@s = y, x, k\n                    ^"},
    {"y, x, k => @s = y, x", "t:1:21: expected '//' and the reductions of @s, got the end\ny, x, k "
                             "=> @s = y, x\n                    ^"},
    {"y, x, k => @s = y, x // k, k",
     "t:1:26: @s has no more reductions: expected a new line, got ','\ny, x, k => @s = y, x // k, "
     "k\n                         ^"},
    {"y, x, k => @s = y, z // k",
     "t:1:20: \"z\" is no loop around this leaf\ny, x, k => @s = y, z // k\n                   ^"},
    {"y, x, k => @s = {y, x}/x, x // k", "t:1:24: expected axis \"y\", got 'x'\ny, x, k => @s = "
                                         "{y, x}/x, x // k\n                       ^"},
    {"y, x, k => @s = {y, x, x // k", "t:1:26: expected ',' or '}', got '//'\ny, x, k => @s = {y, "
                                      "x, x // k\n                         ^"},
    {"y, x, k => @s = {y0, y1}/ , x // k", "t:1:18: \"y0\" is no loop around this leaf\ny, x, k => "
                                           "@s = {y0, y1}/ , x // k\n                 ^"},
    {"y0, y1, x, k => @s = {y0, y1}/ , x // k",
     "t:1:32: expected the name of an axis, got ','\ny0, y1, x, k => @s = {y0, y1}/ , x // k\n     "
     "                          ^"},
    {"y, k => @a = y, k // k",
     "t:1:19: @a has no reductions, got '//'\ny, k => @a = y, k // k\n                  ^"},
    {"y, k => @a.init = y, k",
     "t:1:12: @a sums nothing: it needs no init\ny, k => @a.init = y, k\n           ^"},
    {"y, x => @s.init = y, x // k", "t:1:24: an init runs no reduction, got '//'\ny, x => @s.init "
                                    "= y, x // k\n                       ^"},
    {"y, x => @s.start = y, x",
     "t:1:12: expected init, got 'start'\ny, x => @s.start = y, x\n           ^"},
    {"y, x, k => @s[fetch a 64] = y, x // k",
     "t:1:15: expected prefetch, pointers, running, scatter, dense, pad or order, got 'fetch'\ny, "
     "x, k => "
     "@s[fetch a 64] = y, x // k\n              ^"},
    {"y, x, k => @s[prefetch nothing 64] = y, x // k",
     "t:1:24: there is no tensor \"nothing\"\ny, x, k => @s[prefetch nothing 64] = y, x // k\n"
     "                       ^"},
    {"y, x, k => @s[prefetch s far] = y, x // k",
     "t:1:26: there is no size \"far\"\ny, x, k => @s[prefetch s far] = y, x // k\n"
     "                         ^"},
    {"y, k => @a[dense][pad 4] = y, k",
     "t:1:19: @a has that twice\ny, k => @a[dense][pad 4] = y, k\n                  ^"},
    {"y, k => @a[pad far] = y, k", "t:1:16: there is no size \"far\"\ny, k => @a[pad far] = y, "
                                   "k\n               ^"},
    {"y, k => @a[order k x] = y, k", "t:1:12: \"x\" is not another axis of @a\ny, k => @a[order k "
                                     "x] = y, k\n           ^"},
    {"y, k => @a[order k k] = y, k", "t:1:12: \"k\" is not another axis of @a\ny, k => @a[order k "
                                     "k] = y, k\n           ^"},
    {"y, k => @a[order k] = y, k", "t:1:12: order has 1 of the 2 axes of @a\ny, k => @a[order k] = "
                                   "y, k\n           ^"},
    {"y, x, k => @s[prefetch a 64][prefetch a 0] = y, x // k",
     "t:1:39: \"a\" is prefetched already\ny, x, k => @s[prefetch a 64][prefetch a 0] = y, x // "
     "k\n                                      ^"},
    {"y, x, k => @s[pointers nothing] = y, x // k",
     "t:1:24: there is no tensor \"nothing\"\ny, x, k => @s[pointers nothing] = y, x // k\n"
     "                       ^"},
    {"y, x, k => @s[pointers a] = y, x // k",
     "t:1:24: pointers: \"a\" is no input\ny, x, k => @s[pointers a] = y, x // k\n"
     "                       ^"},
    {"y, x, k => @s[running] = y, x // k",
     "t:1:15: running: @s is no sum from 0 to x + 1 or x, of an axis x that its terms do not use\n"
     "y, x, k => @s[running] = y, x // k\n              ^"},
    {"y => @r[running][running] = y // 0",
     "t:1:18: running stands here twice\ny => @r[running][running] = y // 0\n"
     "                 ^"},
    {"y, k => @r[running] = y // k",
     "t:1:9: @r is running: \"k\" has no loop, write 0\ny, k => @r[running] = y // k\n"
     "        ^"},
    {"y, k => @a[pointers x][pointers x] = y, k",
     "t:1:33: pointers stand here twice\ny, k => @a[pointers x][pointers x] = y, k\n"
     "                                ^"},
    {"y, x => @s.init[pointers x] = y, x",
     "t:1:26: pointers: an init reads nothing\ny, x => @s.init[pointers x] = y, x\n"
     "                         ^"},
    {"y, x => @s.init[dense] = y, x",
     "t:1:17: dense stands at @s, not at its init\ny, x => @s.init[dense] = y, x\n"
     "                ^"},
    {"y, x, k => @s y, x // k",
     "t:1:15: expected '=', got 'y'\ny, x, k => @s y, x // k\n              ^"},
    {"y, x, k => @s = y, x // k y", "t:1:27: expected a new line, got 'y'\ny, x, k => @s = y, x // "
                                    "k y\n                          ^"},
    {"y, x, k => x", "t:1:12: expected a leaf or a new line, got 'x'\ny, x, k => x\n           ^"},
    {"q, x, k => @s = q, x // k", "t:1:1: \"q\" has no extent: it is neither a size nor a whole "
                                  "axis of a leaf below\nq, x, k => @s = q, x // k\n^"},
    {"y, e => @d = y // e", "t:1:4: this loop runs \"e\" of @d, whose bounds are data: it needs "
                            ":dyn(...)\ny, e => @d = y // e\n   ^"},
    {"y, e:dyn => @d = y // e",
     "t:1:10: expected '(', got '=>'\ny, e:dyn => @d = y // e\n         ^"},
    {"y, e:dyn() => @d = y // e",
     "t:1:10: expected the name of an axis, got ')'\ny, e:dyn() => @d = y // e\n         ^"},
    {"y, e:dyn(x) => @d = y // e",
     "t:1:4: \"x\" is no axis of @d before \"e\"\ny, e:dyn(x) => @d = y // e\n   ^"},
    {"y, x, k:dyn(y) => @s = y, x // k", "t:1:7: \"k\" of @s has an extent: its loop is not "
                                         "dyn\ny, x, k:dyn(y) => @s = y, x // k\n      ^"},
    {"y, k0:dyn(y) => @a = y, k", "t:1:25: \"k\" is no loop around this leaf\ny, k0:dyn(y) => @a = "
                                  "y, k\n                        ^"},
    {"y, k, k0:dyn(y) => @a = y, k", "t:1:7: no leaf below sums over \"k0\" with bounds from "
                                     "data\ny, k, k0:dyn(y) => @a = y, k\n      ^"},
    {"y, e:dyn(y), k0 => @d = y // {e, k0}/e",
     "t:1:20: \"e\" has data-dependent bounds: it takes one loop\ny, e:dyn(y), k0 => @d = y // {e, "
     "k0}/e\n                   ^"},
    {"y, e:dyn(y =>\n    @d = y // e",
     "t:1:12: expected ',' or ')', got '=>'\ny, e:dyn(y =>\n           ^"},
    {"y, x, k => @s = y, x // k\n	k => @s = y",
     "t:2:2: expected 0 blanks before this line, there are 1\n	k => @s = y\n	^"},
    {"y, x, k => = y, x // k",
     "t:1:12: expected a leaf or a new line, got '='\ny, x, k => = y, x // k\n           ^"},
    {"{} => @s = y", "t:1:2: expected the name of a loop, got '}'\n{} => @s = y\n ^"},
    {"y, \"x\" => @s = y",
     "t:1:4: expected the name of a loop, got '\"x\"'\ny, \"x\" => @s = y\n   ^"},
};

static void test_bad(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fixture f;
        if (parse(&f, bad[i].text) == AT_OK) fail_msg("accepted: %s", bad[i].text);
        assert_string_equal(f.err.text, bad[i].message);
        fixture_close(&f);
    }
    fixture f;
    at_text t = {0};
    for (int i = 0; i < 65; i++) at_text_addf(&t, "%sl%d:2", i ? ", " : "", i);
    at_text_add(&t, " =>\n    @a = 0, 0\n");
    assert_int_equal(parse(&f, t.data), AT_E_INPUT);
    assert_non_null(strstr(f.err.text, "more than 64 loops on one path"));
    at_text_free(&t);
    fixture_close(&f);
}

/* Stages without a leaf are computed where they are read: 2^12 reads are let through, 2^13 not. */
static void test_many_reads(void **state) {
    (void)state;
    static const struct {
        const char *last, *tree, *message;
    } cases[] = {
        {"b11", "i => @out = i", NULL},
        {"b12", "i => @out = i",
         "t:1:6: @out reads 8192 elements or more through stages without a leaf; one of them "
         "needs a leaf\ni => @out = i\n     ^"},
        {"b12", "i => @b3 = i\ni => @out = i", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        at_text t = {0};
        fixture_sizes(&f, "N=4");
        at_text_add(&t, "b0[N] : input\n");
        for (int k = 1; k < 13; k++)
            at_text_addf(&t, "b%d[i:N] = b%d[i] + b%d[i]\n", k, k - 1, k - 1);
        at_text_addf(&t, "out[i:N] = %s[i] + %s[i]\n", cases[i].last, cases[i].last);
        assert_ok(&f,
                  at_compute_parse(f.arena, &f.symbols, at_text_str(&t), "c", &f.compute, &f.err));
        at_status s = at_tree_parse(f.arena, f.compute, cases[i].tree, "t", &f.tree, &f.err);
        if (cases[i].message) assert_string_equal(f.err.text, cases[i].message);
        assert_int_equal(s, cases[i].message ? AT_E_INPUT : AT_OK);
        at_text_free(&t);
        fixture_close(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_print),      cmocka_unit_test(test_canonical),
        cmocka_unit_test(test_structure),  cmocka_unit_test(test_recompute),
        cmocka_unit_test(test_build),      cmocka_unit_test(test_bad),
        cmocka_unit_test(test_many_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
