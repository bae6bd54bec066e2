/* Computations without a schedule as a user has them: tuned, resumed, chosen from a log, written as
 * C, verified, replayed; mistakes in the file are told in one place. */
#include "tests/cli/cli_test.h"
#include "tests/cli/product.h"

#include <math.h>
#include <string.h>

static void commands(void **state) {
    (void)state;
    cli_write("my.te", product);
    cli_expect(0, "./autotune ./my.te --trials 12 --tuner ga --quiet");
    assert_int_equal(cli_count_lines(cli_read("my.log"), "{\"input\""), 13); /* and the default */
    assert_non_null(strstr(cli_read("my.log"), "[[\"sketch\", \"ot\", \"tile_j+pack_B\"], "));
    cli_expect(0, "./autotune ./my.te --trials 14 --tuner ga --quiet"); /* goes on */
    assert_int_equal(cli_count_lines(cli_read("my.log"), "{\"input\""), 15);
    cli_expect(0, "./autotune ./my.te --trials 8 --tuner grid --threads 1 --log other.log "
                  "--args N=7,L=5,M=13 --quiet");
    cli_expect(0, "./autotune run ./my.te --log my.log");
    const cli_result *shown = /* the best of this sketch, whichever is the best of all */
        cli_expect(0, "./autotune show ./my.te --sketch tile_j+pack_B --log my.log");
    assert_non_null(strstr(shown->out, "@B_packed"));
    cli_expect(0, "./autotune pick_best my.log ./my.te -o best.log");
    cli_expect_verified("best.log", "./my.te");
    cli_expect(0, "./autotune space ./my.te --index 0,7");
    cli_expect(0, "./autotune apply ./my.te --log my.log --main -o main.c");
    cli_expect(0, "gcc -O1 -o main main.c -lm && ./main");
    cli_expect(0, "./autotune ./my.te --trials 3 --tuner random --fuse relu --quiet");
    cli_expect(0, "./autotune convert my.log --to space -o my.space");
    cli_expect(0, "./autotune convert my.log ./my.te --to space -o my.space");
    cli_expect(0, "./autotune replay my.space ./my.te --trials 5 --repeats 2");
    cli_expect(0, "./autotune run - --args N=7 < my.te");
    cli_expect(0, "cat my.te | ./autotune run -");
    cli_write("conv.te", "args H=9, C=8, F=16, P=1\n"
                         "data[H, H, C] : input\nweight[3, 3, C, F] : weight\n"
                         "pad[y:H+2*P, x:H+2*P, c:C] = in ? data[y - P, x - P, c] : 0\n"
                         "    where in = P <= y && y < H + P && P <= x && x < H + P\n"
                         "out[h:H, w:H, f:F] = sum(r:3, q:3, c:C)\n"
                         "    pad[h + r, w + q, c] * weight[r, q, c, f]\n");
    cli_expect(0, "./autotune ./conv.te --trials 8 --quiet");
    /* padding cuts its tile into parts, each of which is cut once more for the registers */
    const cli_result *r =
        cli_expect(0, "./autotune run ./conv.te --args H=14,C=16,F=256 --config '{\"entity\": "
                      "[[\"sketch\", \"ot\", \"tile_f+rows_first+pack_weight\"], "
                      "[\"tile_f\", \"sp\", [-1, 8, 24]], [\"tile_h\", \"sp\", [-1, 4]], "
                      "[\"tile_w\", \"sp\", [-1, 14]], [\"tile_c\", \"sp\", [-1, 4]]]}'");
    assert_non_null(strstr(r->out, "equal to the reference"));
    cli_expect(0, "./autotune ./my.te --trials 70 --args N=6,L=4,M=16 --quiet");
}

/* Rows that entries of an index tensor choose, and entries as numbers: what is compared with is not
 * all zeros, and a main fills them, too. */
static void indices(void **state) {
    (void)state;
    cli_write("rows.te", "args Y=20, X=24, V=90\ntable[V, X] : weight\nrow[Y] : index\n"
                         "out[y:Y, x:X] = table[row[y], x] * (row[y]/2 + 1)\n");
    cli_write("sparse.te",
              "args Y=20, X=30, E=70\nvalue[E] : weight\ncolumn[E] : index\n"
              "start[Y + 1] : index\nx[X] : input\n"
              "out[y:Y] = sum(e : start[y] .. start[y + 1]) value[e] * x[column[e]]\n");
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "sparse" : "rows";
        const cli_result *r =
            cli_expect(0, "./autotune ./%s.te --trials 6 --tuner random --paranoid", name);
        assert_null(strstr(r->err, "zeros"));
        cli_expect(0, "./autotune apply ./%s.te --log %s.log --main -o main.c", name, name);
        cli_expect(0, "gcc -O1 -o main main.c -lm && ./main");
    }
}

/* A weight of integers that are taken apart: packed as the numbers that it means, ahead and inline;
 * mains pack it, too, and a run of plain loops starts from the same file. */
static void packed_entries(void **state) {
    (void)state;
    cli_write("four.te", "args M=6, N=20, K=14\nsizes H = K/2\nx[M, K] : input\n"
                         "w[N, H] : index\nscale[N] : weight\n"
                         "y[m:M, n:N] = sum(k:K) x[m, k] *\n"
                         "    ((k%2 == 0 ? w[n, k/2] : w[n, k/2]/3) % 3 - 1)\n"
                         "out[m:M, n:N] = y[m, n] * scale[n]\n");
    const cli_result *r = cli_expect(0, "./autotune derive ./four.te --verbose");
    assert_non_null(strstr(r->out, "operand w for y as w_value"));
    assert_non_null(strstr(r->out, "copy layout w_value for y as w_value_packed"));
    for (int i = 0; i < 2; i++) {
        const char *pack = i ? "inline" : "ahead";
        cli_expect(0,
                   "./autotune ./four.te --trials 8 --tuner random --paranoid --pack %s --log "
                   "%s.log",
                   pack, pack);
        assert_null(strstr(cli_read(i ? "inline.log" : "ahead.log"), "[1e+10"));
        cli_expect(0, "./autotune apply ./four.te --log %s.log --pack %s --main -o main.c", pack,
                   pack);
        cli_expect(0, "gcc -O1 -Wall -Wextra -Werror -o main main.c -lm && ./main");
    }
    cli_expect(0, "./autotune show ./four.te --log ahead.log --history steps > steps.txt");
    assert_non_null(strstr(cli_read("steps.txt"), "operand w for y as w_value"));
    r = cli_expect(0, "./autotune run ./four.te --from-steps steps.txt");
    assert_non_null(strstr(r->out, "equal to the reference"));
    cli_expect(0, "sed 's/operand w/operand x/' steps.txt > wrong.txt");
    r = cli_expect(4, "./autotune run ./four.te --from-steps wrong.txt");
    assert_non_null(strstr(r->err, "operand x for y as w_value: @y calculates nothing of weights "
                                   "alone with \"x\""));
    cli_expect(0, "sed 's/operand w for/operand w/' steps.txt > wrong.txt");
    r = cli_expect(4, "./autotune run ./four.te --from-steps wrong.txt");
    assert_non_null(strstr(r->err, "expected 'for'"));
}

/* Ends of ranges that no clock could reach: what is worked out of them stays within 64 bits, which
 * make check-ubsan sees. */
static void far_ranges(void **state) {
    (void)state;
    static const struct {
        const char *range;
        int status;
    } cases[] = {{"k:9223372036854775807..i+1", 3},
                 {"k:i..i-9223372036854775807", 0},
                 {"k:-9223372036854775807..i+1", 4},
                 {"k:i*4611686018427387904..N", 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_text te = {0};
        at_text_addf(&te,
                     "args N=16, M=8\nl[N, N] : input\nb[N, M] : input\n"
                     "out[i:N, j:M] = sum(%s) l[i, k] * b[k, j]\n",
                     cases[i].range);
        cli_write("far.te", at_text_str(&te));
        at_text_free(&te);
        cli_expect(cases[i].status, "./autotune run ./far.te");
    }
}

/* Operations of a triangle are counted without a walk over all of its rows. */
static void large_triangle(void **state) {
    (void)state;
    cli_write("triangle.te", "args N=16\nx[N] : input\nout[i:N] = sum(k:0..i+1) x[k] - x[i]\n");
    static const double sizes[] = {16, 1000001, 20000001, 1e12};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const double n = sizes[i], expected = n * (n + 1);
        cli_expect(0, "./autotune show ./triangle.te --args N=%.0f --json", n);
        double flops = cli_number(cli_json(), "flops");
        if (!(fabs(flops - expected) <= 1e-12 * expected))
            fail_msg("%.17g, not %.17g", flops, expected);
    }
    const cli_result *r = cli_expect(2, "./autotune run ./triangle.te --args N=1000000000000");
    assert_non_null(
        strstr(r->err, "autotune: with tensor \"x\" the data need 3725.3 GiB, this machine has "));
}

/* How far a sum goes over a range is known of its ends where no list says them, and so is the place
 * in it as a number: of a band, of one that is no triangle, of one that is always empty. */
static void places_in_ranges(void **state) {
    (void)state;
    static const char *const sums[] = {"sum(k:i..i+3) x[i, k] * k", "max(k:0..K) x[i, k] * k",
                                       "sum(k:max(0, i - 2)..i+1) x[i, k] * (i == 3 ? k : 2*k)",
                                       "sum(k:0..K - 1) (x[i, k] > 0 ? k + i : 1)",
                                       "sum(k:4..i) x[i, k] * k"};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        for (int n = 1; n < 20; n += 8) {
            at_text te = {0};
            at_text_addf(&te, "args N=%d, K=40\nx[N, K] : input\ny[i:N] = %s\n", n, sums[i]);
            cli_write("places.te", at_text_str(&te));
            at_text_free(&te);
            for (int index = 0; index < 2; index++)
                cli_expect(0, "./autotune run ./places.te --index 0%s",
                           index ? " --isa scalar --pack inline" : "");
        }
}

/* Outputs that nothing reads, sums among them, before the last one. */
static void several_outputs(void **state) {
    (void)state;
    cli_write("two.te", "args Y=7, X=20\nx[Y, X] : input\n"
                        "e[y:Y, k:X] = exp(x[y, k])\n"
                        "total[y:Y] = sum(k:X) e[y, k]\n"
                        "most[y:Y] = max(k:X) x[y, k]\n"
                        "twice[y:Y, k:X] = e[y, k] * 2.0\n");
    cli_expect(0, "./autotune ./two.te --trials 25 --tuner random --quiet");
    cli_expect(0, "./autotune apply ./two.te --log two.log --main -o main.c");
    cli_expect(0, "gcc -O1 -o main main.c -lm && ./main");
}

/* Terms that say where they belong are counted once, by derive as by show. */
static void terms_with_places(void **state) {
    (void)state;
    cli_write("places.te", "args P=64, B=8\nx[P] : index\nh[x[p]:B] += (p:P) 1\n");
    const char *out = cli_expect(0, "./autotune derive ./places.te")->out;
    assert_non_null(strstr(out, "over [p:64]   6.4e-05 MFLOP\n"));
}

/* A vector of int32 as NumPy writes it. */
static void write_indices(const char *name, const char *values, int n) {
    cli_expect(0,
               "printf '\\223NUMPY\\001\\000v\\000' > %s && "
               "printf '%%-117s\\n' \"{'descr': '<i4', 'fortran_order': False, 'shape': (%d,), }\" "
               ">> %s && "
               "for i in %s; do printf \"\\\\$(printf %%03o $i)\\\\000\\\\000\\\\000\" >> %s; done",
               name, n, name, values, name);
}

/* Index tensors out of files: what is measured with others is another context. */
static void arrays(void **state) {
    (void)state;
    cli_write("sparse.te",
              "args Y=4, X=8, E=6\nvalue[E] : weight\ncolumn[E] : index\n"
              "start[Y + 1] : index\nx[X] : input\n"
              "out[y:Y] = sum(e : start[y] .. start[y + 1]) value[e] * x[column[e]]\n");
    write_indices("column.npy", "0 7 3 3 1 5", 6);
    write_indices("start.npy", "0 2 2 5 6", 5);
    write_indices("beyond.npy", "0 2 2 5 7", 5);
    static const char both[] = "--array column=column.npy --array start=start.npy";
    cli_expect(0, "./autotune run ./sparse.te --paranoid %s", both);
    cli_expect(0, "./autotune ./sparse.te --trials 1 --tuner random --quiet --log own.log %s",
               both);
    assert_non_null(strstr(cli_read("own.log"), "\"pattern\": \""));
    const cli_result *r = cli_expect(
        0, "./autotune ./sparse.te --trials 1 --tuner random --quiet --log own.log %s", both);
    assert_non_null(strstr(r->out, "1 of them from the log"));
    static const struct {
        int code;
        const char *options, *message;
    } cases[] = {
        {2, "--array column=column.npy", "index tensor start needs a file, too"},
        {2, "--array start=column.npy", "start with Y=4,X=8,E=6 is an array of 5"},
        {2, "--array none=column.npy", "sparse has no input \"none\""},
        {2, "--array out=column.npy", "sparse has no input \"out\""},
        {2, "--array column.npy", "NAME=FILE is expected"},
        {2, "--array column=", "no file behind the =; NAME=FILE is expected"},
        {2, "--array =column.npy", "no name before the =; NAME=FILE is expected"},
        {2, "--array column=column.mtx", "the name of a file of integers ends in .npy"},
        {4, "--array column=none.npy", "--array column: cannot read none.npy"},
        {4, "--array x=column.npy", "dtype '<i4'; float16, float32 and float64 are read"},
        {4, "--array column=column.npy --array start=beyond.npy", "reads value[e] at index 6"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        r = cli_expect(cases[i].code, "./autotune run ./sparse.te %s", cases[i].options);
        if (!strstr(r->err, cases[i].message))
            fail_msg("\"%s\" lacks \"%s\"", r->err, cases[i].message);
    }
}

/* Integers whose difference has more than 32 bits. */
static void far_integers(void **state) {
    (void)state;
    static const char *const options[] = {"", "--isa scalar", "--compiler gcc"};
    cli_write("far.te", "args N=64\np[N] : input u8\nq[N] : input u8\n"
                        "x[i:N] : output s32 = p[i] < 128 ? -1500000000 : 1500000000\n"
                        "y[i:N] : output s32 = q[i] < 128 ? -1500000000 : 1500000000\n"
                        "less[i:N] : s32 = x[i] < y[i] ? 1 : 0\n"
                        "most[i:N] : s32 = x[i] <= y[i] ? 1 : 0\n"
                        "same[i:N] : s32 = x[i] == y[i] ? 1 : 0\n");
    for (int i = 0; i < 3; i++) cli_expect(0, "./autotune run ./far.te %s", options[i]);
}

/* An unknown sketch and a torn entity name what there is. */
static void entities(void **state) {
    (void)state;
    cli_write("my.te", product);
    const cli_result *r = cli_expect(2, "./autotune run ./my.te --config '{\"entity\": []}'");
    assert_non_null(strstr(r->err, "knob sketch is missing from the entity; it is one of tile_j"));
    r = cli_expect(2, "./autotune run ./my.te --config "
                      "'{\"entity\": [[\"sketch\", \"ot\", \"x\"]]}'");
    assert_non_null(strstr(r->err, "knob sketch: it has no such value; there are tile_j"));
}

/* What is far too long is refused before it takes long. */
static void lengths(void **state) {
    (void)state;
    at_text text = {0};
    at_text_add(&text, "args N=16\nA[N, N] : input\n");
    for (int i = 0; i < 200; i++)
        at_text_addf(&text, "s%d[i:N, j:N] = sum(k:N) %s%.0d[i, k] * A[k, j]\n", i + 1,
                     i ? "s" : "A", i);
    cli_write("long.te", at_text_str(&text));
    const cli_result *r = cli_expect(4, "./autotune derive ./long.te");
    assert_non_null(strstr(r->err, "long.te: rules place at most 64 stages that need loops, here "
                                   "are 200"));
    at_text_clear(&text);
    at_text_add(&text, "args N=16\nA[N, N] : input\n"); /* each in loops of its own */
    for (int i = 0; i < 64; i++)
        at_text_addf(&text, "s%d[i:N, j:N] = sum(k:N) %s%.0d[i, k] * A[k, j] / 16\n", i + 1,
                     i ? "s" : "A", i);
    cli_write("long.te", at_text_str(&text));
    r = cli_expect(0, "./autotune run ./long.te");
    assert_non_null(strstr(r->out, "errors over the root mean square of the output"));
    at_text_clear(&text);
    at_text_addf(&text, "%sschedule\n", product);
    for (int i = 0; i < 50000; i++) at_text_add(&text, "i, j =>\n    @out = i, j\n");
    cli_write("long.te", at_text_str(&text));
    r = cli_expect(4, "./autotune derive ./long.te");
    assert_non_null(strstr(r->err, ": a tree has at most 4096 loops and leaves"));
    at_text_free(&text);
}

static void mistakes(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"args N=4\nA[N] : input\nout[i:N] = B[i]\n", "bad.te:3:12: unknown tensor \"B\""},
        {"args N=4\n\n\x02\x03", "bad.te: byte 10 is no text"},
        {"", "bad.te:1:1: a computation needs a stage"},
        {"args N=4611686018427387904\nA[N] : input\nout[i:N] = A[i]\n",
         "bad.te:1:8: expected a whole number from 1 to 2^53, got '4611686018427387904'"},
        {"args N=4\nA[N] : input\nout[i:N] = A[i+1]\n", "reads A[i + 1] at index 4 where i = 3"},
        {"args N=4\nA[N] : input\nB[i:N] = C[i]\nC[i:N] = B[i]\n",
         "bad.te:3:10: \"B\" reads \"C\" where it is not computed yet"},
        {"args N=4, M=0 from 0\nA[N] : input\nout[i:N, j:M] = A[i]\n",
         "extent 2 (j) of \"out\" is 0; at least 1 is accepted"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cli_write("bad.te", cases[i].text);
        const cli_result *r = cli_expect(4, "./autotune run ./bad.te");
        if (!strstr(r->err, cases[i].message))
            fail_msg("\"%s\" lacks \"%s\"", r->err, cases[i].message);
    }
    const cli_result *r = cli_expect(4, "./autotune run ./none.te");
    assert_non_null(strstr(r->err, "none.te"));
    cli_write("my.te", product);
    r = cli_expect(2, "./autotune run ./my.te --args N=0");
    assert_non_null(strstr(r->err, "N = 0"));
}

/* Logs of another computation, whose file lies beside this one's, are learned from; of one without
 * a file, or of a name that leads elsewhere, nothing is. */
static void transfer(void **state) {
    (void)state;
    if (!cli_has_xgb()) skip();
    cli_write("one.te", product);
    cli_write("two.te", "args Y=24, X=40\nA[Y, X] : input\nB[Y, X] : input\n"
                        "s[y:Y] = sum(k:X) A[y, k] * B[y, k]\nout[y:Y] = s[y] * 2.0\n");
    cli_expect(0, "rm -rf beside && mkdir beside && cp one.te two.te beside && rm two.te");
    cli_expect(0, "./autotune beside/two.te --trials 12 --tuner random --quiet --log two.log");
    cli_expect(0, "./autotune beside/one.te --trials 4 --quiet --transfer two.log --log own.log");
    const cli_result *off = cli_expect(0, "./autotune beside/one.te --trials 3 --transfer "
                                          "two.log --draft off --log own3.log");
    assert_non_null(strstr(off->err, "without a draft they are not used"));
    cli_expect(0, "sed 's/\"two\"/\"..\\/beside\\/two\"/' two.log > else.log");
    const char *const logs[] = {"two.log", "else.log"};
    for (int i = 0; i < 2; i++) {
        const cli_result *r =
            cli_expect(4, "./autotune %s --trials 4 --quiet --transfer %s --log own2.log",
                       i ? "beside/one.te" : "./one.te", logs[i]);
        assert_non_null(strstr(r->err, "holds no trial of another task of one"));
    }
}

/* What cannot be filled at random, or takes long to compare with, is told. */
static void large(void **state) {
    (void)state;
    cli_write("picked.te", "args N=6\nT[10] : input\nix[N] : index\n"
                           "out[b:1] = sum(n:N) T[ix[n]]\n");
    const char *told = "ix: all entries are 0, since index tensors of more than 2^22 elements";
    assert_null(strstr(cli_expect(0, "./autotune run picked.te")->err, told));
    assert_non_null(strstr(cli_run("./autotune run picked.te --args N=4194305")->err, told));
    cli_write("slow.te", "args N=400000, K=400000\nA[N] : input\nB[K] : input\n"
                         "out[i:N] = sum(k:K) exp(A[i] * B[k])\n");
    const cli_result *r = cli_expect(3, "./autotune slow.te --time 1s");
    assert_non_null(strstr(r->err, "checked against takes long: plain loops of"));
    assert_non_null(strstr(r->err, "the time ended first"));
}

/* A log brings the text of its computation along: without the file everything works by the name,
 * and lines that are none are passed over. */
static void text_in_the_log(void **state) {
    (void)state;
    cli_write("alone.te", "# \"quoted\"\nargs M=4, N=16, K=8\nA[M, K] : input\nB[K, N] : weight\n"
                          "out[m:M, n:N] = sum(k:K) A[m, k]*B[k, n]\n");
    cli_expect(0, "./autotune ./alone.te --trials 4 --log alone.log");
    cli_expect(0, "./autotune ./alone.te --trials 6 --log alone.log");
    assert_int_equal(cli_count_lines(cli_read("alone.log"), "#te {\"name\": \"alone\""), 1);
    cli_expect(
        0, "rm alone.te && { printf '#te {\"name\": 7}\\n#te {\"name\": \"x\", \"text\": \"a[\"}\\n"
           "#te {\\n'; cat alone.log; } >torn.log && mv torn.log alone.log");
    cli_expect(
        0, "./autotune apply --log alone.log --main -o alone.c && cc -O1 alone.c -o alone -lm && "
           "./alone");
    assert_non_null(strstr(cli_expect(0, "./autotune run alone --log alone.log")->out,
                           "equal to the reference"));
    assert_non_null(strstr(cli_expect(0, "./autotune show alone --log alone.log")->out, "@out"));
    cli_expect_verified("alone.log", "");
    const cli_result *r = cli_expect(0, "./autotune report alone.log -o -");
    assert_non_null(strstr(r->out, "<h3>Its loop tree</h3>\n<div class=\"texts\">\n<div><pre>"));
    cli_expect(0, "./autotune alone --trials 8 --log alone.log --json");
    assert_int_equal(cli_number(cli_json(), "from_log"), 6);
    cli_expect(2, "./autotune run alone");
    /* So do logs that are made of it, and what is picked into one of them. */
    cli_write("beside.te", "args N=19\na[N] : input\nb[n:N] = a[n] + 1\n");
    cli_expect(0, "./autotune ./beside.te --trials 2 --log beside.log && rm beside.te");
    cli_expect(0, "./autotune pick_best alone.log >picked.log && cp picked.log both.log && "
                  "./autotune pick_best beside.log -o both.log");
    cli_expect_verified("picked.log", "");
    cli_expect_verified("both.log", "");
    assert_int_equal(cli_count_lines(cli_read("both.log"), "#te {"), 2);
    cli_expect(0, "cat alone.log beside.log >joined.log && ./autotune log --split joined.log");
    cli_expect_verified("joined.log.000.wkl", "");
    cli_expect_verified("joined.log.001.wkl", "");
    /* However many other texts stand before it. */
    cli_expect(
        0, "{ for i in $(seq 300); do printf '#te {\"name\": \"other%%d\", \"text\": \"args "
           "N=1\"}\\n' "
           "$i; done; cat alone.log; } >far.log && ./autotune apply alone --log far.log -o far.c");
}

/* A computation whose file is called as a template is: its log means the computation, until the log
 * has records of the template, too. A search by the name is of the template. */
static void text_named_as_a_template(void **state) {
    (void)state;
    cli_write("dense.te", "args M=4, N=16, K=8\nA[M, K] : input\nB[K, N] : weight\n"
                          "out[m:M, n:N] = sum(k:K) A[m, k]*B[k, n]\n");
    cli_expect(0, "./autotune ./dense.te --trials 4 --log named.log && mv dense.te away.te");
    cli_expect(0, "./autotune apply --log named.log --main -o named.c && "
                  "cc -O1 named.c -o named -lm && ./named");
    cli_expect(0, "grep -q 'const float \\*A, const float \\*B' named.h");
    assert_non_null(
        strstr(cli_expect(0, "./autotune run dense --log named.log")->out, "dense M=4,N=16,K=8\n"));
    cli_expect_verified("named.log", "");
    const cli_result *r = cli_expect(0, "./autotune pick_best named.log -o picked_named.log");
    assert_non_null(strstr(r->out, "\ndense 4x16x8  ")); /* its name once */
    assert_int_equal(cli_count_lines(cli_read("picked_named.log"), "{\"input\""), 1);
    assert_null(strstr(cli_expect(0, "./autotune log named.log")->out, "no configuration"));
    /* A file of another tuner's keeps the text, too. */
    r = cli_expect(0, "./autotune convert named.log --to t4 -o named.json && "
                      "./autotune convert named.json --to log -o back.log");
    assert_null(strstr(r->err, "first part of a split"));
    const char *log = cli_read("named.log");
    char expected[96];
    snprintf(expected, sizeof expected, "lost: comments, finals among them (%d lines)\n",
             cli_count_lines(log, "#") - cli_count_lines(log, "#te {"));
    assert_non_null(strstr(r->err, expected));
    assert_null(strstr(r->err, "the text of"));
    r = cli_expect(0, "./autotune convert named.log --to kernel_tuner -o kt.json");
    assert_non_null(strstr(r->err, "lost: the text of the computation ("));
    cli_expect(1, "grep -q '\\.0\": -1' named.json");
    assert_int_equal(cli_count_lines(cli_read("back.log"), "#te {\"name\": \"dense\""), 1);
    cli_expect(0, "./autotune apply --log back.log -o back.c");
    cli_expect(0, "grep -q 'const float \\*A, const float \\*B' back.h");
    cli_expect_verified("back.log", "");
    cli_expect(0, "./autotune dense --args M=2,N=16,K=8 --trials 2 --log named.log");
    assert_non_null(strstr(cli_expect(0, "./autotune run dense --log named.log")->out,
                           "dense M=2,N=16,K=8,bias=0,wb=0\n"));
    r = cli_expect(0, "./autotune apply --log named.log -o both_named.c");
    assert_non_null(strstr(r->err, "no configuration of its task"));
    cli_expect(0,
               "mv away.te dense.te && ./autotune apply ./dense.te --log named.log -o of_file.c");
}

/* A file that changed between two searches: the last text is the log's, after any number. */
static void changed_text_in_the_log(void **state) {
    (void)state;
    cli_write("sums.te", "args N=19\na[N] : input\nb[n:N] = a[n] + 1\n");
    cli_expect(0, "./autotune ./sums.te --trials 2 --log sums.log");
    cli_expect(0, "grep '^#te' sums.log >text && yes \"$(cat text)\" | head -n 299 >>sums.log");
    cli_write("sums.te", "args N=19\na[N] : input\nb[n:N] = a[n] - 1\n");
    cli_expect(0, "./autotune ./sums.te --trials 2 --log sums.log && rm sums.te");
    assert_int_equal(cli_count_lines(cli_read("sums.log"), "#te {"), 301);
    cli_expect(0, "./autotune pick_best sums.log -o last.log");
    assert_non_null(strstr(cli_read("last.log"), "a[n] - 1"));
    assert_null(strstr(cli_read("last.log"), "a[n] + 1"));
    cli_expect_verified("last.log", "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_in_the_log),
        cmocka_unit_test(text_named_as_a_template),
        cmocka_unit_test(changed_text_in_the_log),
        cmocka_unit_test(commands),
        cmocka_unit_test(indices),
        cmocka_unit_test(places_in_ranges),
        cmocka_unit_test(far_ranges),
        cmocka_unit_test(large_triangle),
        cmocka_unit_test(several_outputs),
        cmocka_unit_test(packed_entries),
        cmocka_unit_test(terms_with_places),
        cmocka_unit_test(arrays),
        cmocka_unit_test(far_integers),
        cmocka_unit_test(entities),
        cmocka_unit_test(lengths),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(transfer),
        cmocka_unit_test(large),
    };
    return cmocka_run_group_tests(tests, cli_setup, cli_teardown);
}
