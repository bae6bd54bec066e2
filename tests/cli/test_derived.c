/* Computations without a schedule as a user has them: tuned, resumed, chosen from a log, written as
 * C, verified, replayed; mistakes in the file are told in one place. */
#include "tests/cli/cli_test.h"

#include <stdlib.h>
#include <string.h>

static const char product[] = "# product\n"
                              "args N=24, L=20, M=32\n"
                              "A[N, L] : input\n"
                              "B[L, M] : weight\n"
                              "C[N, M] : input\n"
                              "mul[i:N, j:M] = sum(k:L) A[i, k] * B[k, j]\n"
                              "out[i:N, j:M] = mul[i, j] + C[i, j]\n";

static void commands(void **state) {
    (void)state;
    cli_write("my.te", product);
    cli_expect(0, "./autotune ./my.te --trials 12 --tuner ga --quiet");
    assert_int_equal(cli_count_lines(cli_read("my.log"), "{\"input\""), 12);
    assert_non_null(strstr(cli_read("my.log"), "[[\"sketch\", \"ot\", \"tile_j+pack_B\"], "));
    cli_expect(0, "./autotune ./my.te --trials 14 --tuner ga --quiet"); /* goes on */
    assert_int_equal(cli_count_lines(cli_read("my.log"), "{\"input\""), 14);
    cli_expect(0, "./autotune ./my.te --trials 8 --tuner grid --threads 1 --log other.log "
                  "--args N=7,L=5,M=13 --quiet");
    cli_expect(0, "./autotune run ./my.te --log my.log");
    assert_non_null(strstr(cli_run("./autotune show ./my.te --log my.log")->out, "@B_packed"));
    cli_expect(0, "./autotune pick_best my.log ./my.te -o best.log");
    cli_expect(0, "./autotune verify best.log ./my.te --margin 1000");
    cli_expect(0, "./autotune space ./my.te --index 0,7");
    cli_expect(0, "./autotune apply ./my.te --log my.log --main -o main.c");
    cli_expect(0, "gcc -O1 -o main main.c -lm && ./main");
    cli_expect(0, "./autotune ./my.te --trials 3 --tuner random --fuse relu --quiet");
    cli_expect(4, "./autotune convert my.log --to space -o my.space"); /* of what is mine here? */
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
    cli_expect(0, "./autotune ./my.te --trials 70 --tuner xgb --args N=6,L=4,M=16 --quiet");
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
        {2, "--array column.npy", "expected NAME=FILE"},
        {2, "--array column=column.mtx", "the name of a file of integers ends in .npy"},
        {4, "--array column=none.npy", "cannot read none.npy"},
        {4, "--array x=column.npy", "dtype '<i4'; float32 and float64 are read"},
        {4, "--array column=column.npy --array start=beyond.npy", "reads value[e] at index 6"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        r = cli_expect(cases[i].code, "./autotune run ./sparse.te %s", cases[i].options);
        if (!strstr(r->err, cases[i].message))
            fail_msg("\"%s\" lacks \"%s\"", r->err, cases[i].message);
    }
}

/* A sketch as a template's file compiles and tunes as it is, and has the same default. */
static void as_template(void **state) {
    (void)state;
    cli_write("my.te", product);
    const cli_result *r = cli_expect(0, "./autotune derive ./my.te");
    assert_non_null(strstr(r->out, "mul          sum          [i:24, j:32] over [k:20]"));
    assert_non_null(strstr(r->out, "@mul = {i0, i1}/i, {j0, j1}/j  // {k0, k1}/k"));
    cli_expect(0, "./autotune derive ./my.te -o own-one.c");
    cli_expect(0, "./autotune derive ./my.te --sketch tile_j+pack_B -o own-one.c");
    cli_expect(0, "./autotune ./own-one.c --trials 5 --quiet --tuner random");
    r = cli_expect(0, "./autotune run ./own-one.c");
    const char *entity = strstr(r->out, "[\"tile_j\"");
    assert_non_null(entity);
    char *kept = strndup(entity, strcspn(entity, "\n"));
    assert_non_null(strstr(cli_expect(0, "./autotune run ./my.te")->out, kept));
    free(kept);
    cli_expect(0, "cp own-one.c copy.c");
    r = cli_expect(4, "./autotune run ./copy.c");
    assert_non_null(strstr(r->err, "a template is const at_template_row at_copy, as its file is"));
    cli_write("other.c", "int x;\n");
    cli_expect(2, "./autotune derive ./my.te -o other.c");
    cli_expect(2, "./autotune derive ./my.te -o other.txt");
    cli_expect(2, "./autotune derive ./my.te -o 'my own.c'"); /* which would be no name */
    cli_expect(0, "sed -i 's/C\\[i, j\\]/2.0*C[i, j]/' own-one.c");
    r = cli_expect(2, "./autotune derive ./my.te -o own-one.c"); /* somebody went on with it */
    assert_non_null(strstr(r->err, "is no template as autotune wrote it"));
    assert_non_null(strstr(cli_read("own-one.c"), "2.0*C[i, j]"));
    cli_expect(0, "./autotune derive ./my.te -o own-one.c --force");
    r = cli_expect(2, "./autotune derive ./my.te --sketch none");
    assert_non_null(strstr(r->err, "--sketch none: there is no such one; there are tile_j+pack_B"));
    r = cli_expect(0, "./autotune derive dense --args M=8,N=8,K=8");
    assert_non_null(strstr(r->out, "as written: "));
}

/* One sketch alone: searched, its default, its best record. */
static void one_sketch(void **state) {
    (void)state;
    static const char *const searches[] = {"ga", "random", "grid", "xgb"};
    cli_write("my.te", product);
    cli_expect(0, "rm -f one.log");
    for (size_t i = 0; i < sizeof searches / sizeof *searches; i++)
        cli_expect(0,
                   "./autotune ./my.te --sketch tile_j --tuner %s --seed %zu --trials %zu --log "
                   "one.log --quiet",
                   searches[i], i, 4 + i);
    const char *log = cli_read("one.log");
    assert_in_range(cli_count_lines(log, "{\"input\""), 4, 22);
    for (const char *p = log; *p;
         p = strchr(p, '\n') + 1) { /* an anchor is the task's own default */
        const char *it = strstr(p, "[[\"sketch\", \"ot\", \"tile_j\"], ");
        if (*p == '{') assert_true(it && it < strchr(p, '\n'));
    }
    /* its part of the space is where its points are */
    const at_json *all = (cli_expect(0, "./autotune space ./my.te --json"), cli_json());
    const double length = cli_member(all, "range_length")->number;
    const at_json *own =
        (cli_expect(0, "./autotune space ./my.te --sketch tile_j --json"), cli_json());
    const double begin = cli_member(own, "range_begin")->number;
    assert_true(begin + cli_member(own, "range_length")->number == length);
    assert_string_equal(cli_member(cli_member(own, "knobs")->child, "name")->string, "tile_j");
    const cli_result *both =
        cli_expect(0, "./autotune space ./my.te --index %.0f,%.0f", begin, begin - 1);
    assert_non_null(strstr(both->out, "[\"sketch\", \"ot\", \"tile_j\"]"));
    assert_non_null(strstr(both->out, "[\"sketch\", \"ot\", \"tile_j+pack_B\"]"));
    /* a sketch of fewer points than trials ends with them */
    const cli_result *r = cli_expect(0, "./autotune derive ./my.te --args N=3,L=2,M=5 --sketch "
                                        "tile_j --json");
    const at_json *first = cli_member(cli_json(), "sketches")->child;
    int64_t points = cli_member(first, "points")->integer;
    assert_in_range(points, 1, 60);
    cli_expect(0, "./autotune ./my.te --args N=3,L=2,M=5 --sketch tile_j --tuner grid --log "
                  "few.log --quiet");
    assert_int_equal(cli_count_lines(cli_read("few.log"), "{\"input\""), points);
    r = cli_expect(0, "./autotune show ./my.te --sketch tile_j");
    assert_null(strstr(r->out, "B_packed"));
    assert_non_null(strstr(r->out, "[[\"sketch\", \"ot\", \"tile_j\"], "));
    r = cli_expect(0, "./autotune run ./my.te --sketch tile_j");
    assert_non_null(strstr(r->out, "equal to the reference"));
    cli_expect(0, "./autotune apply ./my.te --sketch tile_j --main -o one-sketch.c");
    cli_expect(0, "gcc -O1 -o one-sketch one-sketch.c -lm && ./one-sketch");
    cli_expect(0, "./autotune ./my.te --trials 9 --tuner random --log both.log --quiet");
    cli_expect(0, "./autotune ./my.te --sketch tile_j+pack_B --trials 3 --tuner random --log "
                  "both.log --quiet");
    r = cli_expect(0, "./autotune show ./my.te --sketch tile_j+pack_B --log both.log");
    assert_non_null(strstr(r->out, "[[\"sketch\", \"ot\", \"tile_j+pack_B\"], "));
    r = cli_expect(0, "./autotune show ./my.te --sketch tile_j --log one.log --history trace");
    assert_non_null(strstr(r->out, "sketch = sample_categorical("));
    static const struct {
        int code;
        const char *command, *message;
    } cases[] = {
        {2, "show ./my.te --sketch none",
         "--sketch none: there is no such one; there are tile_j+pack_B, "},
        {2, "./my.te --sketch none --trials 2", "--sketch none: there is no such one; there are "},
        {2, "run dense --args M=8,N=8,K=8 --sketch tile_j",
         "--sketch tile_j: dense has a tree of its own and no sketches"},
        {2, "run ./my.te --sketch tile_j --index 0",
         "--sketch tile_j goes alone or with --log: --index says which sketch it is"},
        {2, "run ./my.te --sketch tile_j --log one.log --line 1", "--line says which sketch it is"},
        {2, "./my.te --sketch tile_j --range 0-9", "give one of --sketch and --range"},
        {2, "space ./my.te --sketch none", "--sketch none: there is no such one; there are "},
        {2, "space ./my.te --sketch tile_j --index 0",
         "--sketch tile_j goes alone: --index says which sketch it is of"},
        {4, "show ./my.te --sketch tile_j+pack_B --log one.log",
         "--sketch tile_j+pack_B: one.log: holds no record of my among its "},
        {2, "show ./my.te --sketch none --args N=24 --log one.log",
         "--sketch none: there is no such one"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        r = cli_expect(cases[i].code, "./autotune %s", cases[i].command);
        if (!strstr(r->err, cases[i].message))
            fail_msg("\"%s\" lacks \"%s\"", r->err, cases[i].message);
    }
}

/* Of what show printed: the tree. */
static const char *tree_of(const cli_result *r) { return strstr(r->out, "\n\n") + 2; }

/* What show prints is put into files again. */
static void pasted(void **state) {
    (void)state;
    at_text text = {0};
    cli_write("my.te", product);
    const cli_result *r = cli_expect(0, "./autotune show ./my.te --args N=5,M=7 --sketch tile_j");
    at_text_addf(&text, "%sschedule\n%s", product, tree_of(r));
    char *tree = strdup(tree_of(r));
    cli_write("pasted.te", at_text_str(&text));
    r = cli_expect(0, "./autotune show ./pasted.te --args N=5,M=7");
    assert_string_equal(tree_of(r), tree);
    cli_expect(0, "./autotune run ./pasted.te --args N=5,M=7");
    free(tree);
    at_text_free(&text);
    r = cli_expect(0, "./autotune show ./my.te --index 5");
    tree = strdup(tree_of(r));
    cli_expect(0, "./autotune show ./my.te --index 5 -o alone.c");
    r = cli_expect(0, "./autotune show ./alone.c");
    assert_string_equal(tree_of(r), tree);
    free(tree);
    cli_expect(0, "./autotune run ./alone.c");
    cli_expect(0, "./autotune show ./my.te --index 6 -o alone.c"); /* nobody went on with it */
    r = cli_expect(0, "./autotune show ./my.te -o alone.c");
    assert_string_equal(r->out, "");
    r = cli_expect(0, "./autotune show ./my.te --code -o alone.c");
    assert_non_null(strstr(r->out, "int kernel_entry("));
    cli_expect(0, "echo >>alone.c");
    r = cli_expect(2, "./autotune show ./my.te -o alone.c");
    assert_non_null(strstr(r->err, "alone.c"));
}

/* A tree of which a part is written, in a .te file and in C with a knob of its own. */
static void begun(void **state) {
    (void)state;
    static const char tree[] = "i0:para, j0 =>\n"
                               "    k0, k1, i1:unroll, j1:vec =>\n"
                               "        @mul = {i0, i1}/i, {j0, j1}/j  // {k0, k1}/k\n";
    at_text text = {0};
    at_text_addf(&text, "%sschedule\n%s", product, tree);
    cli_write("mine.te", at_text_str(&text));
    at_text_free(&text);
    const cli_result *r = cli_expect(0, "./autotune derive ./mine.te");
    assert_non_null(strstr(r->out, "written+pack_B: "));
    assert_non_null(strstr(r->out, "@out = {i0, i1}/i, {j0, j1}/j"));
    cli_expect(0, "./autotune ./mine.te --trials 8 --tuner random --quiet");
    cli_expect(0, "./autotune ./mine.te --trials 10 --tuner ga --quiet --log mine.log");
    cli_expect(0, "./autotune ./mine.te --trials 3 --tuner random --quiet --fuse relu");
    cli_expect(0, "./autotune apply ./mine.te --log mine.log --main -o main.c");
    cli_expect(0, "gcc -O1 -o main main.c -lm && ./main");
    cli_expect(0, "./autotune show ./mine.te --log mine.log --history trace");
    cli_expect(0, "./autotune show ./mine.te --index 77 --history steps > mine.steps");
    assert_non_null(strstr(cli_read("mine.steps"), "\nnest out behind mul in j0\n"));
    cli_expect(0,
               "./autotune show ./mine.te --from-steps mine.steps --history steps > again.steps");
    cli_expect(0, "cmp mine.steps again.steps");
    cli_expect(0, "./autotune derive ./mine.te --sketch written -o whole.c");
    r = cli_expect(0, "./autotune derive ./whole.c");
    assert_non_null(strstr(r->out, "as written: "));
    cli_write(
        "own.c",
        "#include \"template.h\"\n"
        "static void define(at_template *t) {\n"
        "    at_split(t, \"mine\", \"M\", \"j0 j1\", .policy = AT_FACTORS, .fallback = {-1, 8});\n"
        "    at_compute(t, \"A[M, M] : input\\nB[M, M] : weight\\n\"\n"
        "        \"out[i:M, j:M] = sum(k:M) A[i, k] * B[k, j]\\n\");\n"
        "    at_schedule(t, \"j0:para, i0 =>\\n\"\n"
        "        \"    k, i1:unroll, j1:vec =>\\n\"\n"
        "        \"        @out = {i0, i1}/i, {j0, j1}/j  // k\\n\");\n"
        "}\n"
        "const at_template_row at_own = {.name = \"own\", .help = \"own\", .args = \"M=24\",\n"
        "    .record_args = \"[M]\", .define = define};\n");
    r = cli_expect(0, "./autotune ./own.c --trials 5 --tuner random --quiet");
    assert_non_null(
        strstr(cli_read("own.log"), "[\"sketch\", \"ot\", \"written+pack_B\"], [\"mine\", "));
    /* a tile of which all is said, as show prints it */
    cli_expect(0, "sed 's/i1:unroll, j1:vec/i1:6 unroll, j1:16 vec/' mine.te > fixed.te");
    r = cli_expect(0, "./autotune show ./fixed.te");
    assert_non_null(strstr(r->out, "i1:6 unroll, j1:16 vec =>"));
    cli_expect(0, "./autotune run ./fixed.te");
    cli_expect(0, "sed 's/i1/i/g' mine.te > bad.te");
    r = cli_expect(4, "./autotune run ./bad.te");
    assert_non_null(strstr(r->err, "\"i\" is a part of an axis without a size, and the name of "));
}

/* What is wrong in a tree, whole or begun, is told by every command with the file's line. */
static void lines_of_trees(void **state) {
    (void)state;
    static const struct {
        const char *tree, *message;
    } cases[] = {
        /* line 9 is the first */
        {"i0:para, j0:3 =>\n    k, i1:unroll, j1:16 vec =>\n"
         "        @mul = {i0, i1}/i, {j0, j1}/j  // k\n",
         "autotune: ./bad.te:11: {j0:3, j1:16} has empty outer iterations over axis j of @mul, "},
        {"k =>\n    i, j =>\n        @mul = i, j  // k\n    i, j0, j1 =>\n"
         "        @out = i, {j0, j1}/j\n",
         "autotune: ./bad.te:13: rule 4 (completion): reduction loop k of @mul encloses "},
        {"k =>\n    i, j =>\n        @mul = i, j  // k\n    i, j =>\n        @out = i, j\n",
         "autotune: ./bad.te:13: rule 4 (completion): reduction loop k of @mul encloses "},
        {"i, j:31 =>\n    k =>\n        @mul = i, j  // k\n    @out = i, j\n",
         "autotune: ./bad.te:11: {j:31} does not reach the end of axis j of @mul, "},
        {"i, k =>\n    j:vec =>\n        @mul = i, j  // {k, k1}/k\n",
         "autotune: ./bad.te:11:29: \"k1\" is no loop around this leaf"},
        {"i, j =>\n    i:4 =>\n        k => @mul = i, j  // k\n", "autotune: ./bad.te:10:5: "},
        {"i, j0 =>\n    k, k1, B =>\n        @mul = i, {j0, B}/j  // {k, k1}/k\n",
         "autotune: ./bad.te:10: \"B\" is a part of an axis without a size, "},
    };
    static const char *const verbs[] = {"derive", "show"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_text text = {0};
        at_text_addf(&text, "%sschedule\n%s", product, cases[i].tree);
        cli_write("bad.te", at_text_str(&text));
        at_text_free(&text);
        for (int v = 0; v < 2; v++) {
            const cli_result *r = cli_run("./autotune %s ./bad.te", verbs[v]);
            assert_true(r->status == 3 || r->status == 4);
            if (strncmp(r->err, cases[i].message, strlen(cases[i].message)))
                fail_msg("%s: \"%s\" is not \"%s\"", verbs[v], r->err, cases[i].message);
        }
    }
}

/* How a program comes about, replayed from a file: the same tree. */
static void history(void **state) {
    (void)state;
    cli_write("my.te", product);
    cli_expect(0, "./autotune show ./my.te --history steps > my.steps");
    assert_non_null(strstr(cli_read("my.steps"), "\nsplit mul i into i0:"));
    assert_non_null(strstr(cli_read("my.steps"), "\ncopy layout B for mul as B_packed\n"));
    cli_expect(0, "./autotune show ./my.te --from-steps my.steps --history steps > again.steps");
    cli_expect(0, "cmp my.steps again.steps");
    const cli_result *r = cli_expect(0, "./autotune run ./my.te --from-steps my.steps");
    assert_non_null(strstr(r->out, "equal to the reference"));
    cli_expect(0, "./autotune apply ./my.te --from-steps my.steps --main -o steps.c");
    cli_expect(0, "gcc -O1 -o steps steps.c -lm && ./steps");
    r = cli_expect(0, "./autotune show ./my.te --history trace");
    assert_non_null(strstr(r->out, "sketch = sample_categorical([\"tile_j+pack_B\""));
    assert_non_null(strstr(r->out, "\ntile_k = sample_tile(L, 2) -> ["));
    cli_expect(0, "./autotune show conv2d_3x3_gemm --args N=1,H=8,W=8,CI=8,CO=16 --index 30 "
                  "--history steps > conv.steps");
    assert_non_null(strstr(cli_read("conv.steps"), "\njoin im2col before acc in yo\n"));
    cli_expect(0, "./autotune run conv2d_3x3_gemm --args N=1,H=8,W=8,CI=8,CO=16 "
                  "--from-steps conv.steps");
    static const struct {
        const char *steps, *message;
    } cases[] = {
        {"splat mul", "bad.steps:1:1: expected one of split, order, "},
        {"# one\nmark mul i", "bad.steps:2:11: expected one of plain, para, vec, unroll"},
        {"split mul i into a", "bad.steps:1:19: a lacks its size, as in a:8"},
        {"split mul i into a:3 b:0", "expected a whole number from 1 on"},
        {"split mul i into a:3 b:5", "does not reach the end of axis i of @mul"},
        {"split mul z into a:3", "bad.steps: split mul z into a:3: \"z\" is no loop around @mul"},
        {"split mul i into N:3", "bad.steps: split mul i into N:3: N is 24, not 3"},
        {"mark mul k para", "bad.steps: the default configuration: rule 9 (para): "},
        {"size q:4", "bad.steps: the computation has no size \"q\""},
        {"fuse mul: j k", "\"j\" and \"k\": an axis and a reduction"},
        {"join mul behind mul", "@mul and @mul stand in one loop"},
        {"attribute mul [dens]", "bad.steps: attribute mul [dens]: "},
        {"\x01", "bad.steps:1:1: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cli_write("bad.steps", cases[i].steps);
        r = cli_expect(4, "./autotune run ./my.te --from-steps bad.steps");
        if (!strstr(r->err, cases[i].message))
            fail_msg("\"%s\" lacks \"%s\"", r->err, cases[i].message);
    }
    cli_expect(2, "./autotune run ./my.te --from-steps my.steps --index 0");
    cli_expect(4, "./autotune run ./my.te --from-steps none.steps");
    cli_expect(4, "./autotune run ./my.te --from-steps my.steps --args N=25");
}

/* A record of Ansor's becomes a template, whose kernel is right. */
static void ansor(void **state) {
    (void)state;
    cli_write(
        "ansor.json",
        "# two\n"
        "{\"i\": [[\"[\\\"matmul_add\\\", 16, 16, 32, \\\"float32\\\"]\", \"llvm\"], [[], []]], "
        "\"r\": [[0.003], 0, 0.1, 1], \"v\": \"v0.6\"}\n"
        "{\"i\": [[\"[\\\"matmul_add\\\", 16, 16, 32, \\\"float32\\\"]\", \"llvm\"], [[], "
        "[[\"SP\", 2, 1, 32, [16], 1], [\"RE\", 2, [0, 1, 3, 2]], [\"AN\", 2, 3, 2]]]], "
        "\"r\": [[0.001], 0, 0.1, 1], \"v\": \"v0.6\"}\n");
    cli_expect(0, "./autotune convert ansor.json --from ansor -o best.c");
    assert_non_null(strstr(cli_read("best.c"), "i0_, j0_, k0, j1_:vec =>"));
    const cli_result *r = cli_expect(0, "./autotune run ./best.c");
    assert_non_null(strstr(r->out, "equal to the reference"));
    r = cli_expect(0, "./autotune convert ansor.json --from ansor --line 2");
    assert_non_null(strstr(r->out, "matmul_add of ansor.json:2"));
    cli_expect(2, "./autotune convert ansor.json --from ansor --line 1");
    cli_expect(2, "./autotune convert ansor.json --from ansor --to log");
    cli_expect(2, "./autotune convert ansor.json --from other");
    cli_write("bad.json", "{\"i\": [[\"[\\\"nothing\\\", 3]\", \"llvm\"], [[], []]], "
                          "\"r\": [[0.1], 0, 0.1, 1]}\n");
    r = cli_expect(4, "./autotune convert bad.json --from ansor");
    assert_non_null(strstr(r->err, "bad.json:1: workload \"nothing\" is not known"));
    cli_write("bad.json", "{\"i\": [[\"[\\\"norm_bmn\\\", 3, 4, 5]\", \"llvm\"], [[], "
                          "[[\"RE\", 1, [2, 2, 1]]]]], \"r\": [[0.1], 0, 0.1, 1]}\n");
    r = cli_expect(4, "./autotune convert bad.json --from ansor");
    assert_non_null(strstr(r->err, "bad.json:1: step 0 (RE): loop 2 comes twice"));
    cli_write("bad.json", "{\"i\": [[\"[\\\"matmul_add\\\", 16, 16]\", \"llvm\"], [[], []]], "
                          "\"r\": [[0.1], 0, 0.1, 1]}\n");
    r = cli_expect(4, "./autotune convert bad.json --from ansor");
    assert_non_null(strstr(r->err, "numbers are missing; of N=1, L=1, M=1 the first 3 are needed"));
    cli_expect(0, "sed 's/\"SP\", 2, 1, 32/\"SP\", 2, 1, 33/' ansor.json > bad.json");
    r = cli_expect(4, "./autotune convert bad.json --from ansor");
    assert_non_null(strstr(r->err, "step 0 (SP): loop 1 of matmul has 32 steps, not 33"));
    cli_expect(0, "sed 's/\"SP\", 2, 1, 32/\"SP\", 2, 1, 0/' ansor.json > varied.json");
    cli_expect(0, "./autotune convert varied.json --from ansor");
    /* as a search that was killed leaves it; and of two workloads, whose times say nothing */
    cli_expect(0, "{ cat ansor.json; head -c 90 ansor.json | tail -n 1; } > torn.json");
    r = cli_expect(0, "./autotune convert torn.json --from ansor");
    assert_non_null(strstr(r->err, "torn.json: 1 line left out that is no record of Ansor's"));
    cli_expect(0, "sed '2s/16, 16, 32/16, 8, 32/' ansor.json > two.json");
    r = cli_expect(2, "./autotune convert two.json --from ansor");
    assert_non_null(
        strstr(r->err, "the best are 2 of [\"matmul_add\", 16, 8, 32, \"float32\"], 3 "));
    cli_expect(0, "./autotune convert two.json --from ansor --line 2");
    cli_write("bad.json", "no record\n");
    cli_expect(4, "./autotune convert bad.json --from ansor");
    cli_write("bad.json", "{\"i\": [[\"[]\", \"llvm\"], [[], []]], \"r\": [[1e10], 4, 0.1, 1]}\n");
    cli_expect(3, "./autotune convert bad.json --from ansor");
}

/* An unknown sketch and a torn entity name what there is. */
static void entities(void **state) {
    (void)state;
    cli_write("my.te", product);
    const cli_result *r = cli_expect(2, "./autotune run ./my.te --config '{\"entity\": []}'");
    assert_non_null(strstr(r->err, "knob sketch is missing from the entity; it is one of tile_j"));
    r = cli_expect(2, "./autotune run ./my.te --config "
                      "'{\"entity\": [[\"sketch\", \"ot\", \"x\"]]}'");
    assert_non_null(strstr(r->err, "knob sketch: there is no such one; there are tile_j"));
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
    at_text_add(&text, "args N=16\nA[N, N] : input\n"); /* 2^32 ways to pack */
    for (int i = 0; i < 32; i++)
        at_text_addf(&text, "s%d[i:N, j:N] = sum(k:N) %s%.0d[i, k] * A[k, j]\n", i + 1,
                     i ? "s" : "A", i);
    cli_write("long.te", at_text_str(&text));
    r = cli_expect(4, "./autotune derive ./long.te");
    assert_non_null(strstr(r->err, "the space exceeds 2^63 - 1 points"));
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
         "bad.te:3:10: \"C\" is below: a stage reads only tensors above it"},
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
    if (cli_run("./autotune list | grep -q '^  xgb '")->status) skip();
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
    cli_write("slow.te", "args N=4000, K=40000000\nA[N] : input\nB[K] : input\n"
                         "out[i:N] = sum(k:K) exp(A[i] * B[k])\n");
    const cli_result *r = cli_expect(3, "./autotune slow.te --time 1s");
    assert_non_null(strstr(r->err, "checked against takes long: plain loops of"));
    assert_non_null(strstr(r->err, "the time ended first"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands),        cmocka_unit_test(indices),
        cmocka_unit_test(several_outputs), cmocka_unit_test(as_template),
        cmocka_unit_test(one_sketch),      cmocka_unit_test(begun),
        cmocka_unit_test(pasted),          cmocka_unit_test(lines_of_trees),
        cmocka_unit_test(lengths),         cmocka_unit_test(history),
        cmocka_unit_test(ansor),           cmocka_unit_test(arrays),
        cmocka_unit_test(entities),        cmocka_unit_test(mistakes),
        cmocka_unit_test(transfer),        cmocka_unit_test(large),
    };
    return cmocka_run_group_tests(tests, cli_setup, cli_teardown);
}
