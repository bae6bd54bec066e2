/* Computations: what parses, prints back, and what every wrong text is told. */
#include "tests/schedule/examples.h"

#include <string.h>

#include "schedule/interval.h"

static const char names[] = "N=4, M=3, Y=6, X=4, K=8";

static void parse(fixture *f, const char *text, at_status expected) {
    fixture_sizes(f, names);
    assert_int_equal(at_compute_parse(f->arena, &f->symbols, text, "c", &f->compute, &f->err),
                     expected);
}

static void test_print(void **state) {
    (void)state;
    for (int i = 0; i < num_examples; i++) {
        fixture f;
        at_compute *again;
        at_text first = {0}, second = {0};
        fixture_open(&f, examples[i]);
        at_compute_print(&first, f.compute);
        assert_ok(&f, at_compute_parse(f.arena, &f.symbols, first.data, "printed", &again, &f.err));
        at_compute_print(&second, again);
        assert_string_equal(first.data, second.data);
        for (int t = 0; t < again->num_tensors; t++) {
            const at_tensor *x = &f.compute->tensors[t], *y = &again->tensors[t];
            assert_int_equal(x->role, y->role);
            assert_int_equal(x->num_axes, y->num_axes);
            assert_int_equal(x->num_reduce, y->num_reduce);
            if (x->body) assert_true(at_expr_equal(x->body, y->body));
        }
        at_text_free(&first);
        at_text_free(&second);
        fixture_close(&f);
    }
    fixture f;
    at_text out = {0};
    fixture_open(&f, &conv_gemm);
    at_compute_print(&out, f.compute);
    assert_string_equal(out.data, "data[N, H, W, CI] : input\n"
                                  "weight[X, K] : weight\n"
                                  "im2col[y:Y, k:K] = inside ? data[n, ih, iw, c] : 0\n"
                                  "    where {n, h:H, w:W} = y,\n"
                                  "          {kh:3, kw:3, c:CI} = k,\n"
                                  "          ih = h + kh - 1,\n"
                                  "          iw = w + kw - 1,\n"
                                  "          inside = 0 <= ih && ih < H && 0 <= iw && iw < W\n"
                                  "packw[p:X/B, k:K, b:B] = weight[p*B + b, k]\n"
                                  "acc[y:Y, x:X] = sum(k:K) im2col[y, k]*packw[x/B, k, x%B]\n"
                                  "out[y:Y, x:X] = acc[y, x]\n");
    fixture_close(&f);
    at_text_clear(&out);
    fixture_open(&f, &sparse);
    at_compute_print(&out, f.compute);
    assert_non_null(strstr(out.data, "= sum(e: indptr[xr] .. indptr[xr + 1]) im2col["));
    at_text_free(&out);
    fixture_close(&f);
}

/* ": output" stands before the type; what is marked leaves though it is read, and is no packing. */
static void test_marks(void **state) {
    (void)state;
    static const char text[] = "x[N] : input\n"
                               "w[N] : weight\n"
                               "p[i:N] : output = w[i]*2\n"
                               "q[i:N] = w[i]*3\n"
                               "a[i:N] : output s32 = round(x[i])\n"
                               "b[i:N] = a[i]*1.5 + p[i] + q[i]\n";
    static const struct {
        const char *name;
        bool is_output, is_packing;
    } expected[] = {{"p", true, false}, {"q", false, true}, {"a", true, false}, {"b", true, false}};
    fixture f;
    at_text out = {0};
    parse(&f, text, AT_OK);
    at_compute_print(&out, f.compute);
    assert_string_equal(out.data, text);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const at_tensor *t = &f.compute->tensors[at_compute_find(f.compute, expected[i].name)];
        assert_int_equal(t->is_output, expected[i].is_output);
        assert_int_equal(t->is_packing, expected[i].is_packing);
    }
    at_text_free(&out);
    fixture_close(&f);
}

static void print_body(fixture *f, const char *stage, const char *expected) {
    at_text out = {0};
    at_expr_print(&out, f->compute->tensors[at_compute_find(f->compute, stage)].body);
    assert_string_equal(out.data, expected);
    at_text_free(&out);
}

/* Tables are choices by their axes, an element for each number. */
static void test_table(void **state) {
    (void)state;
    static const double numbers[2][3] = {{1.5, 0, -2}, {0, 0, 3e-2}};
    fixture f;
    parse(&f,
          "T[e:2, i:3] = {1.5, 0, -2, 0, 0, 3e-2}\nx[3] : input\n"
          "o[e:2] = sum(i:3) T[e, i]*x[i]\n",
          AT_OK);
    const at_tensor *t = &f.compute->tensors[0];
    assert_int_equal(t->role, AT_ROLE_STAGE);
    assert_false(t->is_packing || t->is_output);
    f.data = AT_NEW_ARRAY(f.arena, at_data, f.compute->num_tensors);
    for (int i = 0; i < 3; i++) f.data[i].f = AT_NEW_ARRAY(f.arena, float, 6);
    for (int i = 0; i < 3; i++) f.data[1].f[i] = (float)(i + 1);
    assert_ok(&f, at_compute_interpret(f.arena, f.compute, f.values, f.data, &f.err));
    for (int e = 0; e < 2; e++)
        for (int i = 0; i < 3; i++)
            assert_float_equal(f.data[0].f[e * 3 + i], (float)numbers[e][i], 0);
    assert_float_equal(f.data[2].f[0], 1.5 - 6, 0);
    fixture_close(&f);
    /* one number for all; packing reads weights through tables and packing */
    parse(&f,
          "T[e:2] = {1, 1}\nw[2] : weight\np[i:2] = T[i]*w[i]\nq[i:2] = p[1 - i] + w[i]\n"
          "o[i:2] = q[i]",
          AT_OK);
    print_body(&f, "T", "1.0");
    assert_true(f.compute->tensors[2].is_packing && f.compute->tensors[3].is_packing);
    fixture_close(&f);
}

static void test_meaning(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, &conv_gemm);
    const at_compute *c = f.compute;
    assert_int_equal(c->num_tensors, 6);
    assert_int_equal(at_compute_find(c, "packw"), 3);
    assert_int_equal(at_compute_find(c, "pack"), -1);
    const at_tensor *t = c->tensors;
    assert_int_equal(t[0].role, AT_ROLE_INPUT);
    assert_int_equal(t[1].role, AT_ROLE_WEIGHT);
    assert_false(t[2].is_packing);
    assert_true(t[3].is_packing);
    assert_int_equal(t[4].num_reduce, 1);
    assert_false(t[4].is_output);
    assert_true(t[5].is_output);
    assert_int_equal(t[4].line, 8);
    /* definitions are gone; the first digit takes no remainder */
    print_body(&f, "im2col",
               "0 <= y/W%H + k/CI/3 - 1 && y/W%H + k/CI/3 - 1 < H && "
               "0 <= y%W + k/CI%3 - 1 && y%W + k/CI%3 - 1 < W ? "
               "data[y/W/H, y/W%H + k/CI/3 - 1, y%W + k/CI%3 - 1, k%CI] : 0");
    const at_expr *read = t[4].body->arg[1];
    assert_int_equal(read->ref, 3);
    assert_int_equal(read->arg[0]->arg[0]->ref, 1); /* x */
    assert_int_equal(read->arg[1]->ref, 2);         /* k, the reduction */
    assert_int_equal(read->arg[0]->arg[1]->ref, AT_REF_SIZE + at_symbol_find(&f.symbols, "B"));
    fixture_close(&f);
    /* an axis hides the size of its name */
    parse(&f, "x[N] : input\no[N:N, i:M] = x[N]\n", AT_OK);
    assert_int_equal(f.compute->tensors[1].body->arg[0]->ref, 0);
    fixture_close(&f);
}

/* name, its value in sizes; the message of at_compute_extents */
static void test_extents(void **state) {
    (void)state;
    static const struct {
        const char *sizes, *text, *message;
    } wrong[] = {
        {"N=0", "x[4] : input\no[i:N] = x[i]",
         "c:2: extent 1 (i) of \"o\" is 0; at least 1 is accepted"},
        {"N=0-1", "x[N] : input\no[i:2] = x[i]",
         "c:1: extent 1 of \"x\" is -1; at least 0 is accepted"},
        {"N=3037000500", "x[N, N] : input\no[i:2] = x[i, i]", "c:1: \"x\" exceeds 2^63 elements"},
        {"N=3037000500", "x[N*N] : input\no[i:2] = x[i]",
         "c:1: extent 1 of \"x\": N*N exceeds 2^63"},
        {"N=4, B=0", "x[N] : input\no[i:N/B] = x[i]",
         "c:2: extent 1 of \"o\": N/B divides by zero"},
        {"N=4, B=0", "x[N] : input\no[i:N] = x[i/B]",
         "c:2: \"o\" divides by B, which is 0; at least 1 is accepted"},
        {"N=4, B=0-2", "x[N] : input\no[i:N] = x[i%B]",
         "c:2: \"o\" divides by B, which is -2; at least 1 is accepted"},
        {"K=10, CI=1", "x[K] : input\no[k:K] = x[c] where {h:3, w:3, c:CI} = k",
         "c:2: \"o\": digits with 9 values cannot count axis \"k\" of extent 10"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        fixture f;
        int64_t **extents;
        fixture_sizes(&f, wrong[i].sizes);
        assert_ok(&f,
                  at_compute_parse(f.arena, &f.symbols, wrong[i].text, "c", &f.compute, &f.err));
        assert_int_equal(at_compute_extents(f.arena, f.compute, f.values, &extents, &f.err),
                         AT_E_INPUT);
        assert_string_equal(f.err.text, wrong[i].message);
        fixture_close(&f);
    }
    fixture f;
    int64_t **extents;
    fixture_open(&f, &sparse);
    assert_ok(&f, at_compute_extents(f.arena, f.compute, f.values, &extents, &f.err));
    assert_int_equal(extents[2][0], 5);
    assert_int_equal(extents[4][1], 4);
    assert_int_equal(extents[4][4], -1);
    fixture_close(&f);
    /* nothing of an input may be read, but it may be empty */
    fixture_sizes(&f, "N=0");
    assert_ok(&f, at_compute_parse(f.arena, &f.symbols, "x[N] : input\no[i:2] = 1.0", "c",
                                   &f.compute, &f.err));
    assert_ok(&f, at_compute_extents(f.arena, f.compute, f.values, &extents, &f.err));
    fixture_close(&f);
}

static const struct {
    const char *text, *message;
} bad[] = {
    {"", "c:1:1: a computation needs a stage"},
    {"x[N] : input", "c:1:13: a computation needs a stage\nx[N] : input\n            ^"},
    {"x[N : input", "c:1:12: expected ',' or ']', got the end\nx[N : input\n           ^"},
    {"x[N] input", "c:1:6: expected ':', got 'input'\nx[N] input\n     ^"},
    {"x[N] : output",
     "c:1:8: expected input, weight or index, got 'output'\nx[N] : output\n       ^"},
    {"k[2] = {1, 2}\n", "c:1:6: expected ':' and input, weight or index; what is computed or a "
                        "table has names for its "
                        "axes: k[i:5] = .., got '='\nk[2] = {1, 2}\n     ^"},
    {"x[N] : input y[N] : input",
     "c:1:14: expected a type (f32, s32, s16, s8, u8, f16, bf16, bool) or a new line, got "
     "'y'\nx[N] : input y[N] : input\n             ^"},
    {"x[N] : input\nx[M] : input", "c:2:1: \"x\" is defined twice\nx[M] : input\n^"},
    {"x[1.5] : input", "c:1:3: an extent is an integer\nx[1.5] : input\n  ^"},
    {"x[n] : input",
     "c:1:3: unknown name \"n\": neither args nor sizes declare it\nx[n] : input\n  ^"},
    {"x[N, y[M]] : input",
     "c:1:6: an extent cannot be read from a tensor\nx[N, y[M]] : input\n     ^"},
    {"sum[N] : input",
     "c:1:1: \"sum\" is a word of the notation and cannot be a name\nsum[N] : input\n^"},
    {"x[|N|] : input",
     "c:1:3: |...| is not accepted here: give it a name in the sizes\nx[|N|] : input\n  ^"},
    {"x[N] : input\no[i:N] = x[i",
     "c:2:13: expected ',' or ']', got the end\no[i:N] = x[i\n            ^"},
    {"x[N] : input\no[i:N, i:M] = x[i]",
     "c:2:8: axis \"i\" occurs twice\no[i:N, i:M] = x[i]\n       ^"},
    {"x[N] : input\no[i:N, M] = x[i]",
     "c:2:9: expected ':' and the extent of an axis, got ']'\no[i:N, M] = x[i]\n        ^"},
    {"x[N] : input\no[i:N] = x[j]", "c:2:12: unknown name \"j\"\no[i:N] = x[j]\n           ^"},
    {"x[N] : input\no[i:N] = x[i, i]",
     "c:2:10: \"x\" has 1 dimension, not 2\no[i:N] = x[i, i]\n         ^"},
    {"x[N] : input\no[i:N] = x",
     "c:2:10: \"x\" is a tensor: it needs indices\no[i:N] = x\n         ^"},
    {"x[N] : input\no[i:N] = z[i]", "c:2:10: unknown tensor \"z\"\no[i:N] = z[i]\n         ^"},
    {"data[N] : input\no[i:N] = dada[i]",
     "c:2:10: unknown tensor \"dada\"; did you mean \"data\"?\no[i:N] = dada[i]\n         ^"},
    {"x[N] : input\no[i:N] = o[i]",
     "c:2:10: \"o\" reads itself where it is not computed yet: the first index that is not the "
     "axis "
     "itself must be less than the axis, as i - 1\no[i:N] = o[i]\n         ^"},
    {"x[N] : input\no[i:N, j:M] = o[i + 1, j - 1]",
     "c:2:15: \"o\" reads itself where it is not computed yet: the first index that is not the "
     "axis "
     "itself must be less than the axis, as i - 1\no[i:N, j:M] = o[i + 1, j - 1]\n"
     "              ^"},
    {"x[N] : input\no[i:N, j:M] = o[j - 1, i]",
     "c:2:15: \"o\" reads itself where it is not computed yet: the first index that is not the "
     "axis "
     "itself must be less than the axis, as i - 1\no[i:N, j:M] = o[j - 1, i]\n"
     "              ^"},
    {"x[N] : input\no[i:N, j:M] = j > 0 ? o[i, max(j - 1, 0)] : x[i]",
     "c:2:23: \"o\" reads itself where it is not computed yet: the first index that is not the "
     "axis itself must be less than the axis, as j - 1\n"
     "o[i:N, j:M] = j > 0 ? o[i, max(j - 1, 0)] : x[i]\n"
     "                      ^"},
    {"x[N] : input\no[i:N] = sum(k:N) o[k]*x[k]",
     "c:2:19: \"o\" reads \"o\" where it is not computed yet: stages that read each other go from "
     "step to step along their first axes, and the first index that is not the axis itself must be "
     "less than the axis, as i - 1\no[i:N] = sum(k:N) o[k]*x[k]\n                  ^"},
    {"x[N] : input\no[i:N] = sum(k:0..i + 1) o[k]*x[k]",
     "c:2:26: \"o\" reads \"o\" where it is not computed yet: stages that read each other go from "
     "step to step along their first axes, and the first index that is not the axis itself must be "
     "less than the axis, as i - 1\no[i:N] = sum(k:0..i + 1) o[k]*x[k]\n                         "
     "^"},
    {"x[N] : input\no[i:N] = p[i]\np[i:N] = o[i - 1] + x[i]",
     "c:2:10: \"o\" reads \"p\" where it is not computed yet: stages that read each other go from "
     "step to step along their first axes, and the first index that is not the axis itself must be "
     "less than the axis, as i - 1, or \"p\" stand above \"o\"\no[i:N] = p[i]\n         ^"},
    {"x[N, M] : input\no[i:N, j:M] = i > 0 ? p[i - 1, j] : 1\np[i:N, j:M] = o[j, i]*x[i, j]",
     "c:3:15: \"p\" reads \"o\" where it is not computed yet: stages that read each other go from "
     "step to step along their first axes, and the first index that is not the axis itself must be "
     "less than the axis, as i - 1\np[i:N, j:M] = o[j, i]*x[i, j]\n              ^"},
    {"x[N, M] : input\no[i:N] = i > 0 ? p[i - 1, 0] : 1\np[k:N, j:M] = o[k]*x[k, j]",
     "c:3:1: \"p\" and \"o\" read each other step by step: axis 1 of both must be i:N\n"
     "p[k:N, j:M] = o[k]*x[k, j]\n^"},
    {"x[N, M] : input\no[i:N] = i > 0 ? p[i - 1] : 1\np[i:M] = i < N ? o[i] : 0",
     "c:3:1: \"p\" and \"o\" read each other step by step: axis 1 of both must be i:N\n"
     "p[i:M] = i < N ? o[i] : 0\n^"},
    {"x[N] : input\no[i:N] = i > 0 ? p[i - 1] : 1\nq[i:N] = o[i]\np[i:N] = o[i]*x[i]",
     "c:3:10: \"q\" stands between stages that read each other, and reads \"o\": it stands behind "
     "all of them\nq[i:N] = o[i]\n         ^"},
    {"x[N] : input\no[i:N] = sum(k:0..o[i]) x[k]",
     "c:2:19: \"o\" reads itself where bounds are\no[i:N] = sum(k:0..o[i]) x[k]\n"
     "                  ^"},
    {"x[N] : input\no[i:N] = sum(k:N) k <= i ? o[k]*x[k] : 0",
     "c:2:28: \"o\" reads \"o\" where it is not computed yet: stages that read each other go from "
     "step to step along their first axes, and the first index that is not the axis itself must be "
     "less than the axis, as i - 1\no[i:N] = sum(k:N) k <= i ? o[k]*x[k] : 0\n"
     "                           ^"},
    {"x[N] : input\no[i:N] = sum(k:N) k < i || k > 2 ? o[k]*x[k] : 0",
     "c:2:36: \"o\" reads \"o\" where it is not computed yet: stages that read each other go from "
     "step to step along their first axes, and the first index that is not the axis itself must be "
     "less than the axis, as i - 1\no[i:N] = sum(k:N) k < i || k > 2 ? o[k]*x[k] : 0\n"
     "                                   ^"},
    {"x[N] : input\no[i:N] = sum(k:N) (k < i ? o[k]*x[k] : 0) + q where q = o[k]",
     "c:2:57: \"o\" reads \"o\" where it is not computed yet: stages that read each other go from "
     "step to step along their first axes, and the first index that is not the axis itself must be "
     "less than the axis, as i - 1\n"
     "o[i:N] = sum(k:N) (k < i ? o[k]*x[k] : 0) + q where q = o[k]\n"
     "                                                        ^"},
    {"x[N] : input\no[i:N, j:M] = o[i - 1]",
     "c:2:15: \"o\" has 2 dimensions, not 1\no[i:N, j:M] = o[i - 1]\n              ^"},
    {"x[N] : input\no[i:N] = p[i]\np[i:N] = x[i]",
     "c:2:10: \"p\" is below: a stage reads only tensors above it, and stages that read it\n"
     "o[i:N] = p[i]\n         ^"},
    {"o[i:N] = p[i]\np[N] : input",
     "c:1:10: \"p\" is below: a stage reads only tensors above it\no[i:N] = p[i]\n         ^"},
    {"x[N] : input\no[i:N] = x[x[i]]",
     "c:2:12: a value is used as an index; store it in a stage of integers, v[..] : s32 = .., and "
     "write x[v[..]]\no[i:N] = x[x[i]]\n           ^"},
    {"x[N] : input\nv[i:N] = floor(x[i])\no[i:N] = x[v[i]]",
     "c:3:12: a value is used as an index; store it in a stage of integers, v[..] : s32 = .., and "
     "write x[v[..]]\no[i:N] = x[v[i]]\n           ^"},
    {"x[N] : input\nv[i:N] : s32 = floor(x[i])\np[i:N] = x[min(max(v[i], 0), N - 1)]\n"
     "o[i:N] = sum(k:0 .. v[i]) x[k]",
     "c:4:21: \"v\" is computed: bounds read index tensors only\no[i:N] = sum(k:0 .. v[i]) x[k]\n"
     "                    ^"},
    {"x[i:N] : input\no[i:N] = x[i]",
     "c:1:10: the sizes of what is given have no names: x[N, M] : input, got 'input'\n"
     "x[i:N] : input\n         ^"},
    {"x[N] : input\no[i:N] = x[i < 2]",
     "c:2:14: a condition is used as an index\no[i:N] = x[i < 2]\n             ^"},
    {"x[N] : input\no[i:N] = i < 2",
     "c:2:12: a condition is no value: use ? and :\no[i:N] = i < 2\n           ^"},
    {"x[N] : input\no[i:N] = i ? x[i] : 0",
     "c:2:10: expected a condition, such as i < N\no[i:N] = i ? x[i] : 0\n         ^"},
    {"x[N] : input\no[i:N] = i < 2 && i ? x[i] : 0",
     "c:2:19: expected a condition, such as i < N\no[i:N] = i < 2 && i ? x[i] : 0\n                "
     "  ^"},
    {"x[N] : input\no[i:N] = (i < 2) + x[i]",
     "c:2:13: a condition is no number: use ? and :\no[i:N] = (i < 2) + x[i]\n            ^"},
    {"T[i:2] = {1, x}", "c:1:14: expected a number, got 'x'\nT[i:2] = {1, x}\n             ^"},
    {"T[i:2] = {1 2}", "c:1:13: expected ',' or '}', got '2'\nT[i:2] = {1 2}\n            ^"},
    {"T[i:2] = {1, 2, 3}",
     "c:1:10: \"T\" has 2 elements, but 3 numbers stand here\nT[i:2] = {1, 2, 3}\n         ^"},
    {"T[i:N] = {1, 2, 3, 4}",
     "c:1:10: an axis of a table has a number for its extent, such as i:4\n"
     "T[i:N] = {1, 2, 3, 4}\n         ^"},
    {"T[i:99, j:99] = {1}",
     "c:1:17: a table has at most 4096 numbers\nT[i:99, j:99] = {1}\n                ^"},
    {"x[N] : input\no[i:N] = x[i] % 2",
     "c:2:15: only an index has a remainder, a value has none\no[i:N] = x[i] % 2\n              ^"},
    {"x[N] : input\no[i:N] = x[N/i]",
     "c:2:14: indices are divided by sizes only\no[i:N] = x[N/i]\n             ^"},
    {"x[N] : input\no[i:N] = 2*sum(k:N) x[k]",
     "c:2:12: sum(k:...) inside an expression: a reduction is the whole right side of a stage, so "
     "make it a stage and read that\no[i:N] = 2*sum(k:N) x[k]\n           ^"},
    {"x[N] : input\no[i:N] = max(max(k:N) x[k], 0)",
     "c:2:14: max(k:...) inside an expression: a reduction is the whole right side of a stage, so "
     "make it a stage and read that\no[i:N] = max(max(k:N) x[k], 0)\n             ^"},
    {"x[N] : input\no[i:N] = prod(x[i])",
     "c:2:16: expected ':', got '['\no[i:N] = prod(x[i])\n               ^"},
    {"x[N] : input\no[i:N] = max(k:N)",
     "c:2:18: expected a value, got the end\no[i:N] = max(k:N)\n                 ^"},
    {"x[N] : input\no[i:N] = 2*expp(x[i])",
     "c:2:12: unknown function \"expp\"; did you mean \"exp\"?\no[i:N] = 2*expp(x[i])\n"
     "           ^"},
    {"x[N] : input\no[i:N] = exp(x[i], 2)",
     "c:2:10: exp takes one argument, not 2\no[i:N] = exp(x[i], 2)\n         ^"},
    {"x[N] : input\no[i:exp(N)] = x[i]",
     "c:2:5: an extent is an integer: exp is a function of values\no[i:exp(N)] = x[i]\n    ^"},
    {"x[N] : input\no[i:N] = x[sqrt(i)]",
     "c:2:12: a value is used as an index; store it in a stage of integers, v[..] : s32 = .., and "
     "write x[v[..]]\no[i:N] = x[sqrt(i)]\n           ^"},
    {"x[N] : input\no[i:N] = sum(k:N, k:M) x[k]",
     "c:2:19: axis \"k\" occurs twice\no[i:N] = sum(k:N, k:M) x[k]\n                  ^"},
    {"x[N] : input\no[i:N] = sum(k:i) x[k]", "c:2:16: \"i\" is an axis: an extent can use sizes "
                                             "only\no[i:N] = sum(k:i) x[k]\n               ^"},
    {"x[N] : input\no[i:N] = sum(k:0 .. k) x[k]",
     "c:2:21: \"k\" is not known yet: bounds use the axes before them\no[i:N] = sum(k:0 .. k) "
     "x[k]\n                    ^"},
    {"x[N] : input\no[i:N] = sum(k:0 .. x[i]) x[k]",
     "c:2:21: a value is used as an index\no[i:N] = sum(k:0 .. x[i]) x[k]\n                    ^"},
    {"x[N] : input\no[i:N] = sum(k:0 .. i, h:0 .. k) x[h]",
     "c:2:31: \"k\" has bounds itself: bounds use axes whose extents are sizes\n"
     "o[i:N] = sum(k:0 .. i, h:0 .. k) x[h]\n                              ^"},
    {"x[N] : input\np[N] : index\no[i:N] = sum(k:0 .. i, h:0 .. p[k]) x[h]",
     "c:3:33: \"k\" has bounds itself: bounds use axes whose extents are sizes\n"
     "o[i:N] = sum(k:0 .. i, h:0 .. p[k]) x[h]\n                                ^"},
    {"x[N] : input\no[i:N] = sum(k N) x[k]",
     "c:2:16: expected ':', got 'N'\no[i:N] = sum(k N) x[k]\n               ^"},
    {"x[N] : input\no[i:N] = sum(k:N x[k]",
     "c:2:18: expected ',', '..' or ')', got 'x'\no[i:N] = sum(k:N x[k]\n                 ^"},
    {"x[N] : input\no[i:N] = x[a] where i = 2",
     "c:2:21: \"i\" is an axis already\no[i:N] = x[a] where i = 2\n                    ^"},
    {"x[N] : input\no[i:N] = x[a] where a = b, b = i",
     "c:2:25: unknown name \"b\"\no[i:N] = x[a] where a = b, b = i\n                        ^"},
    {"x[N] : input\no[i:N] = x[a] where a = i, a = 0",
     "c:2:28: \"a\" is defined twice\no[i:N] = x[a] where a = i, a = 0\n                           "
     "^"},
    {"x[N] : input\no[i:N] = x[a] where {a, b} = i",
     "c:2:26: expected ':' and an extent: only the first digit may leave it out, got '}'\no[i:N] = "
     "x[a] where {a, b} = i\n                         ^"},
    {"x[N] : input\no[i:N] = x[a] where {a, b:i} = i",
     "c:2:27: \"i\" is an axis: an extent can use sizes only\no[i:N] = x[a] where {a, b:i} = i\n   "
     " "
     "                      ^"},
    {"x[N] : input\no[i:N] = x[a] where {a, b:M} = x[i]",
     "c:2:32: only an index can be taken apart into digits\no[i:N] = x[a] where {a, b:M} = x[i]\n  "
     "                "
     "             ^"},
    {"x[N] : input\no[i:N] = x[a] where {a, b:M = i",
     "c:2:29: expected ',' or '}', got '='\no[i:N] = x[a] where {a, b:M = i\n                      "
     "      ^"},
    {"x[N] : input\no[i:N] = x[a] where = i",
     "c:2:21: expected a name to define, got '='\no[i:N] = x[a] where = i\n                    ^"},
    {"x[N] : input\no[i:N] = x[i] + ?",
     "c:2:17: expected a value, got '?'\no[i:N] = x[i] + ?\n                ^"},
    {"x[N] : input\no[i:N] = x[i] x[i]", "c:2:15: expected an operator, 'where' or a new line, got "
                                         "'x'\no[i:N] = x[i] x[i]\n              ^"},
    {"x[N] : input\no[i:N] = x[i].y[0]", "c:2:14: expected an operator, 'where' or a new line, got "
                                         "'.'\no[i:N] = x[i].y[0]\n             ^"},
    {"x[N] : input\no[where:N] = x[i]",
     "c:2:3: \"where\" is a word of the notation and cannot be a name\no[where:N] = x[i]\n  ^"},
    {"x[N] : input\no[i:N] = x[i] $", "c:2:15: expected an operator, 'where' or a new line, got "
                                      "'$'\no[i:N] = x[i] $\n              ^"},
};

static void test_bad(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fixture f;
        parse(&f, bad[i].text, AT_E_INPUT);
        assert_string_equal(f.err.text, bad[i].message);
        fixture_close(&f);
    }
}

static void test_limits(void **state) {
    (void)state;
    fixture f;
    at_text t = {0};
    at_text_add(&t, "x[N] : input\no[i0:N");
    for (int i = 1; i <= 32; i++) at_text_addf(&t, ", i%d:N", i);
    parse(&f, t.data, AT_E_INPUT);
    assert_non_null(strstr(f.err.text, "more than 32 axes"));
    fixture_close(&f);
    /* each definition doubles the last */
    at_text_clear(&t);
    at_text_add(&t, "x[N] : input\no[i:N] = x[d30] where d0 = i");
    for (int i = 1; i <= 30; i++) at_text_addf(&t, ", d%d = d%d + d%d", i, i - 1, i - 1);
    parse(&f, t.data, AT_E_INPUT);
    assert_non_null(strstr(f.err.text, "the expression exceeds 10000 terms"));
    fixture_close(&f);
    for (int n = 256; n <= 257; n++) {
        at_text_clear(&t);
        at_text_add(&t, "x[N] : input\n");
        for (int i = 1; i < n; i++) at_text_addf(&t, "s%d[i:N] = x[i]\n", i);
        parse(&f, t.data, n == 256 ? AT_OK : AT_E_INPUT);
        if (n > 256) assert_non_null(strstr(f.err.text, "c:257:1: more than 256 tensors"));
        fixture_close(&f);
    }
    at_text_free(&t);
}

/* A number that goes a part of its way stays between the ends of the way, which may be such numbers
 * again: 48 of them inside each other. Who looks at an end twice looks 2^48 times at the innermost.
 */
static void ways_within_ways(void **state) {
    (void)state;
    enum { DEEP = 48 };
    static const char *const begin[] = {"y[t] + ((", "y[t] - (y[t] - ("}, *const end[] = {
                                                                              " - y[t]) >> 1)",
                                                                              ") >> 1)"};
    for (int kind = 0; kind < 3; kind++) { /* of either form, and both in turn */
        fixture f;
        at_text text = {0};
        int64_t **extents;
        at_text_add(&text, "x[N] : input u8\ny[N] : input u8\no[t:N] : s32 = ");
        for (int i = 0; i < DEEP; i++) at_text_add(&text, begin[kind < 2 ? kind : i % 2]);
        at_text_add(&text, "x[t]");
        for (int i = DEEP; i-- > 0;) at_text_add(&text, end[kind < 2 ? kind : i % 2]);
        fixture_sizes(&f, names);
        assert_ok(
            &f, at_compute_parse(f.arena, &f.symbols, at_text_str(&text), "c", &f.compute, &f.err));
        assert_ok(&f, at_compute_extents(f.arena, f.compute, f.values, &extents, &f.err));
        interval *of = AT_NEW_ARRAY(f.arena, interval, f.compute->num_tensors);
        at_whole_ranges(f.arena, f.compute, f.values, extents, of);
        const interval o = of[at_compute_find(f.compute, "o")];
        assert_int_equal(o.lo, 0);
        assert_int_equal(o.hi, 255);
        at_text_free(&text);
        fixture_close(&f);
    }
}

/* Places that a stage says lie within its bounds; of a value that is rounded any may come. */
static void places_of_values(void **state) {
    (void)state;
    static const struct {
        const char *body;
        int64_t lo, hi;
    } places[] = {{"min(max(floor(g[q]*3), 0), N - 1)", 0, 3},
                  {"max(ceil(g[q]), 2)", 2, INT32_MAX},
                  {"min(round(g[q]), 3) - 1", INT32_MIN, 2},
                  {"g[q] > 0 ? 3 : 1", 1, 3}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        fixture f;
        int64_t **extents, lo, hi;
        fixture_sizes(&f, names);
        const char *text = at_format(f.arena,
                                     "x[N] : input\ng[N] : input\nnear[q:N] : s32 = %s\n"
                                     "o[q:N] = x[max(min(near[q], N - 1), 0)]\n",
                                     places[i].body);
        assert_ok(&f, at_compute_parse(f.arena, &f.symbols, text, "c", &f.compute, &f.err));
        assert_ok(&f, at_compute_extents(f.arena, f.compute, f.values, &extents, &f.err));
        at_compute_place_range(f.compute, f.values, extents, at_compute_find(f.compute, "near"),
                               &lo, &hi);
        if (lo != places[i].lo || hi != places[i].hi)
            fail_msg("%s: %lld to %lld", places[i].body, (long long)lo, (long long)hi);
        fixture_close(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_print),       cmocka_unit_test(test_marks),
        cmocka_unit_test(test_table),       cmocka_unit_test(test_meaning),
        cmocka_unit_test(test_extents),     cmocka_unit_test(test_bad),
        cmocka_unit_test(test_limits),      cmocka_unit_test(ways_within_ways),
        cmocka_unit_test(places_of_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
