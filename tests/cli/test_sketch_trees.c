/* Trees of sketches as a user has them: searched one alone, written as templates, pasted from what
 * show prints, begun by hand. */
#include "tests/cli/cli_test.h"
#include "tests/cli/product.h"

#include <stdlib.h>
#include <string.h>

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
    assert_non_null(
        strstr(r->err, "--sketch none: there is no sketch of that name; there are tile_j+pack_B"));
    r = cli_expect(0, "./autotune derive dense --args M=8,N=8,K=8");
    assert_non_null(strstr(r->out, "as written: "));
}

/* One sketch alone: searched, its default, its best record. */
static void one_sketch(void **state) {
    (void)state;
    static const char *const searches[] = {"ga", "random", "grid", "xgb"};
    cli_write("my.te", product);
    cli_expect(0, "rm -f one.log");
    const size_t count = sizeof searches / sizeof *searches - !cli_has_xgb();
    for (size_t i = 0; i < count; i++)
        cli_expect(0,
                   "./autotune ./my.te --sketch tile_j --tuner %s --seed %zu --trials %zu --log "
                   "one.log --quiet",
                   searches[i], i, 4 + i);
    const char *log = cli_trials("one.log"); /* an anchor is the task's own default */
    assert_in_range(cli_count_lines(log, "{\"input\""), 4, 22);
    for (const char *p = log; *p; p = strchr(p, '\n') + 1) {
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
         "--sketch none: there is no sketch of that name; there are tile_j+pack_B, "},
        {2, "./my.te --sketch none --trials 2",
         "--sketch none: there is no sketch of that name; there are "},
        {2, "run dense --args M=8,N=8,K=8 --sketch tile_j",
         "--sketch tile_j: dense has a tree of its own and no sketches"},
        {2, "run ./my.te --sketch tile_j --index 0",
         "--sketch tile_j goes alone or with --log: --index says which sketch it is"},
        {2, "run ./my.te --sketch tile_j --log one.log --line 1", "--line says which sketch it is"},
        {2, "./my.te --sketch tile_j --range 0-9", "give one of --sketch and --range"},
        {2, "space ./my.te --sketch none",
         "--sketch none: there is no sketch of that name; there are "},
        {2, "space ./my.te --sketch tile_j --index 0",
         "--sketch tile_j goes alone: --index says which sketch it is of"},
        {4, "show ./my.te --sketch tile_j+pack_B --log one.log",
         "--sketch tile_j+pack_B: one.log: holds no record of my among its "},
        {2, "show ./my.te --sketch none --args N=24 --log one.log",
         "--sketch none: there is no sketch of that name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        r = cli_expect(cases[i].code, "./autotune %s", cases[i].command);
        if (!strstr(r->err, cases[i].message))
            fail_msg("\"%s\" lacks \"%s\"", r->err, cases[i].message);
    }
}

/* Sums that are stored with their last axis turned, and are too many to stay near, are turned row
 * by row behind their tiles, with what is made of them, unless that reads more across: all sizes of
 * tiles and blocks make the same. Where axes have other names, and where what one turn sums is too
 * much to stay near, there is no such sketch. */
static void turned_by_rows(void **state) {
    (void)state;
#define SIZES "args C=29, F=32, H=33, W=64\n"
#define SUMS                                                                                       \
    "x[C, H, W] : input\nw[F, C] : weight\n"                                                       \
    "s[f:F, h:H, v:W] = sum(c:C) x[c, h, v]*w[f, c]\n"
    static const char near[] = "last_f+blocks_v+near_s_last+with_s_last+pack_w",
                      sketch[] = "last_f+blocks_v+with_s_last+pack_w";
    cli_write("rows.te", SIZES SUMS "out[f:F, h:H, v:W] = max(s[f, h, v], 0)\n");
    cli_write("added.te", SIZES "y[F, H, W] : input\n" SUMS
                                "out[f:F, h:H, v:W] = max(s[f, h, v] + y[f, h, v], 0)\n");
    cli_write("named.te", SIZES SUMS "out[f:F, y:H, v:W] = max(s[f, y, v], 0)\n");
#undef SUMS
#undef SIZES
    const cli_result *r = cli_expect(0, "./autotune derive ./added.te --sketch %s", near);
    assert_non_null(strstr(r->out, "h:para =>\n    s_last_v0, s_last_f0 =>"));
    assert_non_null(
        strstr(r->out, "\n    v0, f0 =>\n        f1, v1 =>\n            @s_last_packed"));
    r = cli_expect(0, "./autotune derive ./rows.te --sketch %s", sketch);
    assert_non_null(strstr(r->out, "h:para =>\n    s_last_v0, s_last_f0 =>"));
    assert_non_null(strstr(r->out, "            @out_first = h, {s_last_v0, s_last_v1}/v"));
    assert_non_null(strstr(r->out, "\n    v0, f0, f1, v1 =>\n        @out = {f0, f1}/f"));
    r = cli_expect(0, "./autotune derive ./named.te");
    assert_null(strstr(r->out, "with_s_last"));
    cli_write("batch.te", "args B=2, M=400, N=300, K=9\nx[B, M, K] : input\nw[B, K, N] : input\n"
                          "s[b:B, i:M, j:N] = sum(k:K) x[b, i, k]*w[b, k, j]\n"
                          "out[b:B, j:N, i:M] = max(s[b, i, j], 0)\n");
    r = cli_expect(0, "./autotune derive ./batch.te --args B=9,M=100,N=90");
    assert_non_null(strstr(r->out, "with_s"));
    r = cli_expect(0, "./autotune derive ./batch.te");
    assert_null(strstr(r->out, "with_s"));
    for (int i = 0; i < 2; i++) {
        r = cli_expect(0,
                       "./autotune ./%s.te --sketch %s --tuner random --trials 12 --log %d.log "
                       "--json",
                       i ? "added" : "rows", i ? near : sketch, i);
        assert_non_null(strstr(r->out, "\"failed\": {}"));
    }
}

/* The steps of a short sum whose rows data choose, within bounds, are written out by default, so
 * that sums stay in registers. Rows of a tile that lie in pages of their own are no blocks. */
static void bounded_rows(void **state) {
    (void)state;
    cli_write("bounded.te", "args C=9, H=20, W=33, Q=10, K=4\nx[C, H, W] : input\n"
                            "first[Q] : index\nshare[Q, K] : weight\n"
                            "out[c:C, q:Q, w:W] = sum(k:K) x[c, min(first[q] + k, H - 1), w]"
                            " * share[q, k]\n");
    for (int k = 3; k <= 8; k++) {
        const cli_result *r = cli_expect(0, "./autotune derive ./bounded.te --args K=%d", k);
        assert_null(strstr(r->out, "in memory between steps"));
        cli_expect(0, "./autotune run ./bounded.te --args K=%d", k);
    }
    for (int h = 8; h <= 112; h += 104) { /* blocks of channels inside of a row's columns */
        const cli_result *r =
            cli_expect(0, "./autotune show ./bounded.te --args C=64,H=%d,W=112,Q=4 --isa avx2", h);
        assert_int_equal(strstr(r->out, ", c1:") != NULL, h * 112 < 1024);
    }
}

/* Threads share the first loop of several turns of the rows, but never steps: those of a stage that
 * reads itself stand within. */
static void shared_rows(void **state) {
    (void)state;
    cli_write("steps.te",
              "args B=1, G=1, T=9, C=40\nx[B, G, T, C] : input\n"
              "h[b:B, g:G, t:T, c:C] = (t > 0 ? 0.5*h[b, g, t - 1, c] : 0) + x[b, g, t, c]\n"
              "m[b:B, g:G, t:T] = max(c:C) h[b, g, t, c]\n"
              "out[b:B, g:G, t:T, c:C] = h[b, g, t, c] - m[b, g, t]\n");
    static const struct {
        const char *args, *loops;
    } of[] = {
        {"B=1", "b:para, g, t0 =>"}, {"G=5", "b, g:para, t0 =>"}, {"B=3,G=5", "b:para, g, t0 =>"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const cli_result *r =
            cli_expect(0, "./autotune derive ./steps.te --args %s --sketch rows", of[i].args);
        if (!strstr(r->out, of[i].loops)) fail_msg("%s:\n%s", of[i].args, r->out);
        cli_expect(0, "./autotune run ./steps.te --args %s --sketch rows", of[i].args);
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

/* In a block of rows a long row is added up as it is made, of short ones all are made before. */
static void rows_made_first(void **state) {
    (void)state;
    static const char derive[] =
        "./autotune derive attention.te --args T=%d --sketch through_i+pack_key";
    cli_write("attention.te",
              "args B=2, S=128, T=48, D=64\n"
              "query[B, S, D] : input\nkey[B, T, D] : input\nvalue[B, T, D] : input\n"
              "score[b:B, i:S, j:T] = sum(k:D) query[b, i, k] * key[b, j, k]\n"
              "most[b:B, i:S] = max(j:T) score[b, i, j]\n"
              "e[b:B, i:S, j:T] = exp(score[b, i, j] - most[b, i])\n"
              "total[b:B, i:S] = sum(j:T) e[b, i, j]\n"
              "mixed[b:B, i:S, d:D] = sum(j:T) e[b, i, j] * value[b, j, d]\n"
              "out[b:B, i:S, d:D] = mixed[b, i, d] / total[b, i]\n");
    const cli_result *r = cli_expect(0, derive, 300);
    assert_non_null(strstr(r->out, "total_j1:vec =>\n            @e = "));
    r = cli_expect(0, derive, 48);
    assert_non_null(strstr(r->out, "i1, i2, e_j0, e_j1:vec =>\n        @e = "));
    assert_non_null(strstr(r->out, "i1, i2, total_j0, total_j1:vec =>\n        @total = "));
    cli_expect(0,
               "./autotune tune attention.te --args B=1,S=21,T=48,D=9 --sketch through_i+pack_key "
               "--tuner random --trials 4 --log rows.log --quiet");
}

/* What is padded for channels that have nothing in common is made channel by channel. */
static void strip_by_channels(void **state) {
    (void)state;
    cli_write("depthwise.te",
              "args C=6, H=20, W=40\n"
              "x[C, H, W] : input\nw[C, 5, 5] : weight\n"
              "pad[c:C, y:H+4, z:W+4] = 2 <= y && y < H + 2 && 2 <= z && z < W + 2"
              " ? x[c, y - 2, z - 2] : 0\n"
              "out[c:C, h:H/2, v:W/2] = sum(r:5, q:5) pad[c, 2*h + r, 2*v + q] * w[c, r, q]\n");
    static const char sketch[] = "--sketch strip_pad+tile_v+unroll+rows_first+with_pad";
    const cli_result *r = cli_expect(0, "./autotune derive depthwise.te %s", sketch);
    assert_non_null(strstr(r->out,
                           "c:para =>\n    y, z0, z1:vec =>\n        @pad = c, y, {z0, z1}/z\n"
                           "    h0, v0 =>\n"));
    cli_expect(0,
               "./autotune tune depthwise.te %s --tuner random --trials 6 --log strip.log --quiet",
               sketch);
    r = cli_expect(0, "./autotune derive depthwise.te --args C=1");
    assert_null(strstr(r->out, "with_pad"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_template),     cmocka_unit_test(one_sketch),
        cmocka_unit_test(pasted),          cmocka_unit_test(begun),
        cmocka_unit_test(lines_of_trees),  cmocka_unit_test(turned_by_rows),
        cmocka_unit_test(bounded_rows),    cmocka_unit_test(shared_rows),
        cmocka_unit_test(rows_made_first), cmocka_unit_test(strip_by_channels),
    };
    return cmocka_run_group_tests(tests, cli_setup, cli_teardown);
}
