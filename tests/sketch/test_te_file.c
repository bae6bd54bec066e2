/* .te files: what is read, and what is refused, at its line and column. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sketch/sketch.h"
#include "tests/arena.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static at_status parse(const char *text, const at_template_row **row, at_error *err) {
    return at_te_parse(arena, "dir/my.te", text, strlen(text), row, err);
}

static void parts(void **state) {
    (void)state;
    const at_template_row *row;
    at_task *t;
    at_error err;
    if (parse("# comment\n"
              "args N=4,\n"
              "     M = 0 from 0  # of a row\n"
              "args K=3\n"
              "\n"
              "sizes X = N*K,\n"
              "      Y = X + M\n"
              "A[X, Y] : input # data\n"
              "out[i:X] = sum(k:Y)\n"
              "    A[i, k]\n",
              &row, &err) != AT_OK)
        fail_msg("%s", err.text);
    assert_string_equal(row->name, "my");
    assert_string_equal(row->args, "N=4, M=0 from 0, K=3");
    assert_string_equal(row->record_args, "[N, M, K]");
    assert_int_equal(at_task_new(arena, row, "N=5", &t, &err), AT_OK);
    assert_int_equal(at_task_arg(t, "N"), 5);
    assert_true(at_task_num_sketches(t) > 0);
    assert_true(at_sketch_of_task(t, 0) != NULL);
    assert_int_equal((int)at_task_flops(t), 2 * 15 * 15);
}

/* Comments and blanks are no part of what is hashed, and neither is how an editor writes a text. */
static void hash(void **state) {
    (void)state;
    const at_template_row *x, *y;
    at_task *first, *second;
    at_error err;
    assert_int_equal(parse("args N=4\nA[N] : input\nout[i:N] = A[i] + 1\n", &x, &err), AT_OK);
    assert_int_equal(
        parse("# same\nargs   N=4\n\nA[N] : input\nout[i:N] =   A[i] + 1 # one\n", &y, &err),
        AT_OK);
    assert_int_equal(at_task_new(arena, x, "", &first, &err), AT_OK);
    assert_int_equal(at_task_new(arena, y, "", &second, &err), AT_OK);
    assert_string_equal(at_task_hash(first), at_task_hash(second));
    assert_int_equal(parse("\xef\xbb\xbf"
                           "args N=4\r\nA[N] : input\r\nout[i:N] = A[i] + 1",
                           &y, &err),
                     AT_OK);
    assert_int_equal(at_task_new(arena, y, "", &second, &err), AT_OK);
    assert_string_equal(at_task_hash(first), at_task_hash(second));
}

static void refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"", "dir/my.te:1:1: a computation needs a stage"},
        {"args N\n", "dir/my.te:1:7: expected '=', got the end\nargs N\n      ^"},
        {"args N=-1\n", "dir/my.te:1:8: expected a whole number"},
        {"  args N=0 # none\n",
         "dir/my.te:1:10: expected a whole number from 1 to 2^53, got '0'\n  args N=0 # none\n"},
        {"args N=0\n", "dir/my.te:1:8: expected a whole number from 1 to 2^53"},
        {"args N=1 M=2\n", "dir/my.te:1:10: expected ','"},
        {"args N=1\nsizes N=2\n", "dir/my.te:2:7: \"N\" is declared twice\nsizes N=2"},
        {"args N=1\nsizes X=\n",
         "dir/my.te:2:9: expected a value, got the end\nsizes X=\n        ^"},
        {"args N=4\nA[N] : input\nout[i:N] = B[i]\n", "dir/my.te:3:12: unknown tensor \"B\""},
        {"args N=4\nA[N] : input\nout[i:N] = A[out[i]]\n", "dir/my.te:3:14: "},
        {"args N=4\nA[N] : input\nout[i:N] = A[i]\nschedule\n",
         "dir/my.te:5:1: a tree needs a line"},
        {"args N=4\nA[N] : input\nout[i:N] = A[i]\nschedule # on\ni0, i1 =>\n    @ou = {i0, i1}\n",
         "dir/my.te:6:6: unknown stage \"ou\""},
        {"args N=4\nA[N] : input\nout[i:N] = A[i]\nschedule\ni0, i1 =>\n    @out = {i0, i2}\n",
         "dir/my.te:6:17: \"i2\" is no loop around this leaf"},
        {"\x01", "dir/my.te: byte 0 is no text; a .te file is a computation"},
        {"args N=4\nA[N] : input\nB[i:N] = C[i]\nC[i:N] = B[i]\n", "dir/my.te:3:10: "},
        {"args N=4\nA[N] : input\ndef f(v) = v*N\nB[i:N] = f(A[i])\n",
         "dir/my.te:3:14: \"N\" is no parameter of f, and a function has nothing else"},
        {"args N=4\nA[N] : input\ndef f(v) = A[v]\nB[i:N] = f(i)\n",
         "dir/my.te:3:12: \"A\" is no parameter of f"},
        {"def f(v) = f(v)\n", "dir/my.te:1:12: unknown function \"f\""},
        {"def f(v) = v\ndef f(v) = v\n", "dir/my.te:2:5: function \"f\" is defined twice"},
        {"def f(v, v) = v\n", "dir/my.te:1:8: parameter \"v\" occurs twice"},
        {"def exp(v) = v\n", "dir/my.te:1:5: \"exp\" is a word of the notation"},
        {"def f() = 1\n", "dir/my.te:1:7: expected a parameter, got ')'"},
        {"def f(v) = v w\n", "dir/my.te:1:14: expected an operator or a new line, got 'w'"},
        {"args N=4\nA[N] : input\ndef f(u, v) = u*v\nB[i:N] = f(A[i])\n",
         "dir/my.te:4:10: f takes 2 arguments, not 1"},
        {"args N=4\nA[N] : input\ndef f(u, v) = u*v\nB[i:N] = f()\n",
         "dir/my.te:4:10: f takes 2 arguments, not 0"},
        {"args N=4\nA[N] : input\ndef twice(v) = v + v\nB[i:N] = twise(A[i])\n",
         "dir/my.te:4:10: unknown function \"twise\"; did you mean \"twice\"?"},
        {"args N=4\nA[N] : input\ndef a(v) = v + v + v + v\ndef b(v) = a(a(a(v)))\n"
         "def c(v) = b(b(v))\nB[i:N] = c(c(A[i]))\n",
         "dir/my.te:6:12: the expression exceeds 10000 terms"},
        {"args N=4\ndef a(v) = v + v + v + v\ndef b(v) = a(a(a(v)))\ndef c(v) = b(b(v))\n"
         "B[i:N] = c(1) +\n    c(2) + c(3)\n",
         "dir/my.te:6:12: the expression exceeds 20000 terms"},
        {"args N=4\npos : index\npos : input\nB[i:N] = i\n",
         "dir/my.te:3:1: \"pos\" is defined twice"},
        {"pos : 4\n", "dir/my.te:1:7: expected input, weight or index, got '4'"},
        {"args N=4\nA[N] : input\nB[i:N] = A\n",
         "dir/my.te:3:10: \"A\" is a tensor: it needs indices"},
        {"args N=4\nA[N] : weight\nB[i:N] : in A = i > 0 ? A[i] : 1\n",
         "dir/my.te:3:13: \"A\" is no input above"},
        {"args N=4\nA[N] : input\nB[i:N] : in A = A[N - 1 - i] + 1\n",
         "dir/my.te:3:17: \"B\" lies in \"A\": of this input it reads its own element alone, at "
         "the indices B has"},
        {"args N=4\nA[N] : input\nB[i:N] : in A = i\n",
         "dir/my.te:3:17: \"B\" lies in \"A\": it reads nothing there: leave \"in\" out"},
        {"args N=4\nA[N] : input\nB[i:N] : in A = i > 0 ? B[i - 1] + A[i] : 1\n",
         "dir/my.te:3:23: \"B\" lies in \"A\": it is no sum, nor worked out step by step"},
        {"args N=4\nA[N] : input\nB[i:N] : in A = i > 0 ? v : A[i] where v = A[N - 1 - i]\n",
         "dir/my.te:3:44: \"B\" lies in \"A\": of this input it reads its own element alone"},
        {"args N=4\nA[N] : input\nB[i:N - 1] : in A = i > 0 ? A[i] : 1\n",
         "dir/my.te:3:27: \"B\" lies in \"A\": both have to have the same extents"},
        {"args N=4\nA[N] : input\nB[i:N] : in A = i > 0 ? A[i] : 1\n"
         "C[i:N] : in A = i > 0 ? A[i] : 1\n",
         "dir/my.te:4:23: \"C\" lies in \"A\": another output does, too"},
        {"args N=4\nA[N] : input\nB[i:N] : in A = i > 0 ? A[i] : 1\nC[i:N] = A[i]\n",
         "dir/my.te:4:10: \"C\" reads \"A\", in which \"B\" lies: read that"},
        {"args N=4\nA[N] : input bool\nB[i:N] : in A = i > 0 ? A[i] : 1\n",
         "dir/my.te:3:23: \"B\" lies in \"A\": its elements are checked on their way in"},
        {"args N=4\nA[N] : input\ninclude \"a.te\"\nB[i:N] = A[i]\n",
         "dir/my.te:3:1: only a file of its own (FILE.te) includes others"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const at_template_row *row;
        at_error err;
        assert_int_equal(parse(cases[i].text, &row, &err), AT_E_INPUT);
        if (strncmp(err.text, cases[i].error, strlen(cases[i].error)) != 0)
            fail_msg("\"%s\", not \"%s\"", err.text, cases[i].error);
    }
}

/* What only numbers tell is told at its line, too. */
static void places(void **state) {
    (void)state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"args N=4\nA[N] : input\nout[i:N - 4] = A[i]\n",
         "dir/my.te:3: extent 1 (i) of \"out\" is 0; at least 1 is accepted"},
        {"args N=4\n\nsizes X = N,\n  Y = N/(N - 4)\nA[N] : input\nout[i:Y] = A[i]\n",
         "--args: my with N=4: dir/my.te:4: size Y: N/(N - 4) divides by zero"},
        {"args N=4\nA[N] : input # one\n\nout[i:N] = A[i + 1]\n",
         "dir/my.te:4:12: \"out\" reads A[i + 1] at index 4 where i = 3;"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const at_template_row *row;
        at_task *t;
        int64_t *values;
        at_error err;
        assert_int_equal(parse(cases[i].text, &row, &err), AT_OK);
        if (at_task_new(arena, row, "", &t, &err) == AT_OK) {
            assert_int_equal(at_task_plain_values(arena, t, &values, &err), AT_OK);
            assert_int_not_equal(
                at_compute_check_reads(at_task_compute(t), values, NULL, NULL, &err), AT_OK);
        }
        if (!strstr(err.text, cases[i].error))
            fail_msg("\"%s\", not \"%s\"", err.text, cases[i].error);
    }
}

/* ---- included files ---------------------------------------------------------------------------
 */

static char folder[] = "/tmp/autotune-include-XXXXXX";

static const char *in_folder(const char *name) { return at_format(arena, "%s/%s", folder, name); }

static void write_to(const char *name, const char *text) {
    FILE *f = fopen(in_folder(name), "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    fclose(f);
}

static at_status read_file(const char *name, const at_template_row **row, at_error *err) {
    char *text;
    size_t length;
    const char *path = in_folder(name);
    AT_TRY(at_read_file(arena, path, 1 << 16, &text, &length, err));
    AT_TRY(at_te_include(arena, path, &text, &length, 1 << 16, err));
    assert_null(strstr(text, "include"));
    assert_null(strstr(text, folder)); /* the log has this text, wherever the file was */
    return at_te_parse(arena, path, text, length, row, err);
}

#define PART                                                                                       \
    "args M=2, N=3\nsizes Q = M*N\nx[M, N] : input\ndef square(v) = v*v\n"                         \
    "y[m:M, n:N] = square(x[m, n]) + Q\n"

/* The same as if all of it stood in one file; what a part declares is what the file has computed.
 */
static void included(void **state) {
    (void)state;
    const at_template_row *row, *whole;
    at_task *t, *same;
    at_error err;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(mkdir(in_folder("parts"), 0700), 0);
    write_to("parts/square.te", PART);
    write_to("parts/both.te",
             "include \"square.te\" # beside it\nz[m:M, n:N] = y[m, n] + square(n)\n");
    write_to("main.te", "args M=8, N=16\na[M, N] : input\nscale : input\n"
                        "x[m:M, n:N] = a[m, n]*scale\n  include \"parts/both.te\"\n"
                        "o[m:M] = z[m, 0]\nschedule\nm =>\n    @o = m\n");
    if (read_file("main.te", &row, &err) != AT_OK) fail_msg("%s", err.text);
    assert_string_equal(row->args, "M=8, N=16");
    if (parse("args M=8, N=16\nsizes Q = M*N\na[M, N] : input\nscale[1] : input\n"
              "x[m:M, n:N] = a[m, n]*scale[0]\ny[m:M, n:N] = x[m, n]*x[m, n] + Q\n"
              "z[m:M, n:N] = y[m, n] + n*n\no[m:M] = z[m, 0]\nschedule\nm =>\n    @o = m\n",
              &whole, &err) != AT_OK)
        fail_msg("%s", err.text);
    assert_int_equal(at_task_new(arena, row, "", &t, &err), AT_OK);
    assert_int_equal(at_task_new(arena, whole, "", &same, &err), AT_OK);
    const at_compute *c = at_task_compute(t), *d = at_task_compute(same);
    assert_int_equal(c->num_tensors, d->num_tensors);
    for (int i = 0; i < c->num_tensors; i++) {
        assert_string_equal(c->tensors[i].name, d->tensors[i].name);
        if (c->tensors[i].body) assert_true(at_expr_equal(c->tensors[i].body, d->tensors[i].body));
    }
    if (read_file("parts/square.te", &row, &err) != AT_OK) fail_msg("%s", err.text);
    write_to("marked.te", "\xef\xbb\xbfinclude \"parts/square.te\"\n");
    if (read_file("marked.te", &row, &err) != AT_OK) fail_msg("%s", err.text);
}

static void refused_includes(void **state) {
    (void)state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"include \"../a.te\"\n",
         "main.te:1: include \"../a.te\": a file in this one's folder or below"},
        {"\ninclude \"/etc/passwd\"\n", "main.te:2: include \"/etc/passwd\": a file in this one's"},
        {"include \"parts/../main.te\"\n", "main.te:1: include \"parts/../main.te\": a file in"},
        {"include \"none.te\"\n", "main.te:1: cannot read \"none.te\": No such file"},
        {"include \"parts\"\n", "main.te:1: \"parts\" is no file"},
        {"\n\ninclude \"parts/large.te\"\n",
         "main.te:3: cannot read parts/large.te: 1073741824 bytes; at most"},
        {"include \"link.te\"\n", "main.te:1: cannot read \"link.te\": it is a link"},
        {"include \"linked/square.te\"\n",
         "main.te:1: cannot read \"linked/square.te\": it is a link"},
        {"include \"main.te\"\n",
         "main.te:1: include \"main.te\": files include each other more than 8"},
        {"include \"parts/square.te\" x\n", "main.te:1: include \"parts/square.te\": a new line"},
        {"include \"parts/tree.te\"\n", "parts/tree.te:2: \"parts/tree.te\" has a schedule"},
        {"args M=4\nx[M] : input\ninclude \"parts/square.te\"\n",
         "parts/square.te:3:1: \"x\" has another shape or type above, at line 2 of"},
        {"args M=4\nsizes Q = M\ninclude \"parts/square.te\"\n",
         "parts/square.te:2:7: \"Q\" is another above"},
        {"args N=4\ny[n:N] = n\ninclude \"parts/square.te\"\n",
         "parts/square.te:5:1: \"y\" is defined twice"},
        {"include \"parts/wrong.te\"\n", "parts/wrong.te:3:10: unknown tensor \"z\""},
        {"args N=4\na[N] : input\ninclude \"parts/square.te\"\nb[n:N] = c[n]\n",
         "main.te:4:10: unknown tensor \"c\""},
    };
    write_to("parts/large.te", "");
    assert_int_equal(truncate(in_folder("parts/large.te"), 1 << 30), 0);
    write_to("parts/tree.te", "o[m:2] = m\nschedule\nm =>\n    @o = m\n");
    write_to("parts/wrong.te", "args K=2\n# one\ny[k:K] = z[k]\n");
    assert_int_equal(symlink("parts/square.te", in_folder("link.te")), 0);
    assert_int_equal(symlink("parts", in_folder("linked")), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const at_template_row *row;
        at_error err;
        write_to("main.te", cases[i].text);
        assert_int_equal(read_file("main.te", &row, &err), AT_E_INPUT);
        const char *wanted = in_folder(cases[i].error);
        if (strncmp(err.text, wanted, strlen(wanted)) != 0)
            fail_msg("\"%s\", not \"%s\"", err.text, wanted);
    }
    const char *no_name = at_format(arena, "parts/%0300d.te", 0);
    const at_template_row *none;
    at_error too_long;
    write_to("main.te", at_format(arena, "include \"%s\"\n", no_name));
    assert_int_equal(read_file("main.te", &none, &too_long), AT_E_INPUT);
    assert_non_null(strstr(too_long.text, "0.te\": File name too long"));
    /* What only numbers tell stands in the file that says it. */
    const at_template_row *row;
    at_task *t;
    at_error err;
    write_to("parts/wrong.te", "args K=2\ny[k:K - 2] = k\n");
    write_to("main.te", "# one\n# two\ninclude \"parts/wrong.te\"\n");
    assert_int_equal(read_file("main.te", &row, &err), AT_OK);
    assert_int_not_equal(at_task_new(arena, row, "", &t, &err), AT_OK);
    if (!strstr(err.text, "parts/wrong.te:2: extent 1 (k) of \"y\" is 0")) fail_msg("%s", err.text);
    if (system(at_format(arena, "rm -r %s", folder))) fail_msg("%s stays", folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts),  cmocka_unit_test(hash),     cmocka_unit_test(refused),
        cmocka_unit_test(places), cmocka_unit_test(included), cmocka_unit_test(refused_includes),
    };
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
