/* tests/cli/test_templates.c: every template from its arguments to measured kernels: random
 * configurations through TinyCC, each checked against the plain reference, none of which may fail;
 * and the default configuration. TEMPLATE_TRIALS: configurations per shape (default 6). */
#include "tests/cli/cli_test.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const conv2d_nchwc[] = {
    "IC=3,OC=16,H=30,W=26,KH=7,KW=7,strides=2,padding=3",
    "IC=16,OC=32,H=14,W=14,KH=1,KW=1,padding=0",
    "IC=8,OC=12,H=13,W=15,KH=1,KW=1,padding=0,strides=2",
    "IC=6,OC=10,H=11,W=9,dilation=2,padding=2",
    "N=2,IC=7,OC=5,H=12,W=9,padding=[1,0,2,3],KH=2,KW=4",
    "IC=16,OC=32,H=14,W=14,ib=8,ob=16",
    "IC=5,OC=6,H=3,W=70,padding=VALID",
};

static const char *const conv2d_nhwc[] = {
    "CI=3,CO=16,H=30,W=26,KH=7,KW=7,strides=2,padding=3",
    "CI=16,CO=32,H=14,W=14,KH=1,KW=1,padding=0",
    "CI=8,CO=12,H=13,W=15,KH=1,KW=1,padding=0,strides=2",
    "CI=6,CO=10,H=11,W=9,dilation=2,padding=2",
    "N=2,CI=7,CO=5,H=12,W=9,padding=[1,0,2,3],KH=2,KW=4",
    "CI=5,CO=6,H=3,W=70,padding=VALID",
    "CI=9,CO=2,H=7,W=11",
};

static const char *const dense[] = {
    "M=37,N=48,K=33",       "M=1,N=100,K=64,bias=1",
    "M=64,N=60,K=100,wb=4", "M=28,N=64,K=40,bias=1,wb=32",
    "M=7,N=1,K=1",          "M=48,N=96,K=1",
    "M=21,N=3,K=33,bias=1",
};

static const char *const matmul_add[] = {
    "N=37,M=48,L=33", "N=1,M=100,L=64", "N=64,M=60,L=100",
    "N=28,M=64,L=40", "N=7,M=1,L=1",    "N=48,M=96,L=1",
};

static const char *const conv2d_3x3_gemm[] = {
    "H=7,W=5,CI=3,CO=6",      "N=2,H=9,W=6,CI=16,CO=32", "H=14,W=14,CI=16,CO=17",
    "N=3,W=10,H=1,CI=5,CO=7", "H=1,W=1,CI=12,CO=20",     "H=12,W=11,CI=8,CO=48",
};

/* Blocks of all shapes, empty block rows, no blocks, all blocks. */
static const char *const spconv2d_3x3_gemm[] = {
    "N=2,H=5,W=7,CI=12,CO=32",          "H=6,W=5,CI=4,CO=6,nnz=30,R=1",
    "H=6,W=6,CI=4,CO=16,nnz=9,R=4,C=4", "H=9,W=3,CI=5,CO=24,nnz=2,R=8",
    "H=7,W=7,CI=3,CO=16,nnz=27",        "H=4,W=4,CI=2,CO=16,nnz=0",
};

static const char *const sparse_dense[] = {
    "M=21,N=48,K=36",         "M=5,N=6,K=31,nnz=50,R=1", "M=12,N=16,K=20,nnz=9,R=4,C=4",
    "M=9,N=24,K=7,nnz=2,R=8", "M=1,N=16,K=3,nnz=3",      "M=4,N=16,K=2,nnz=0",
};

static const struct {
    const char *name;
    const char *const *shapes;
    int num_shapes;
} templates[] = {
#define SHAPES(list) list, sizeof list / sizeof *list
    {"conv2d_3x3_gemm", SHAPES(conv2d_3x3_gemm)}, {"conv2d_NCHWc", SHAPES(conv2d_nchwc)},
    {"conv2d_nhwc", SHAPES(conv2d_nhwc)},         {"dense", SHAPES(dense)},
    {"matmul_add", SHAPES(matmul_add)},           {"spconv2d_3x3_gemm", SHAPES(spconv2d_3x3_gemm)},
    {"sparse_dense", SHAPES(sparse_dense)},
};

static char sources[PATH_MAX]; /* the tests run in a folder of their own */

static const char *trials(void) {
    const char *asked = getenv("TEMPLATE_TRIALS");
    return asked ? asked : "6";
}

static void expect_all_right(const char *name, const char *args) {
    cli_expect(0, "./autotune %s --args '%s' --trials %s --log t.log --json", name, args, trials());
    const at_json *failed = cli_member(cli_json(), "failed");
    if (failed->count)
        fail_msg("%s %s: %s", name, args,
                 cli_run("grep -v '\"error\": \"\"' t.log | head -n 3")->out);
    cli_expect(0, "rm t.log");
    const cli_result *r = cli_expect(0, "./autotune run %s --args '%s'", name, args);
    assert_non_null(strstr(r->out, "equal to the reference"));
}

static void all(void **state) {
    (void)state;
    for (size_t t = 0; t < sizeof templates / sizeof *templates; t++)
        for (int i = 0; i < templates[t].num_shapes; i++)
            expect_all_right(templates[t].name, templates[t].shapes[i]);
}

/* Every layer of a set that fits is a task, and all are in one log. */
static void workload(void **state) {
    (void)state;
    const cli_result *r =
        cli_expect(0, "./autotune spconv2d_3x3_gemm --workload resnet50 --trials 4 --log set.log");
    assert_non_null(strstr(r->err, "[Task 4/4] spconv2d_3x3_gemm"));
    r = cli_expect(0, "./autotune pick_best set.log");
    assert_int_equal(cli_count_lines(r->out, "{\"input\""), 4);
    cli_expect(0,
               "./autotune sparse_dense --workload resnet50 --block 8x1 --trials 1 --log fc.log");
    /* Depthwise layers are those of their templates. */
    static const char *const mobile[][2] = {{"depthwise_conv2d_nhwc", "9"},
                                            {"depthwise_conv2d_NCHWc", "9"},
                                            {"conv2d_nhwc", "10"},
                                            {"dense", "1"}};
    for (size_t i = 0; i < sizeof mobile / sizeof *mobile; i++)
        cli_expect(0,
                   "./autotune %s --workload mobilenet --trials 10 --log m.log --json >m.json && "
                   "test $(grep '\"input\"' m.log | grep -cv '\"part\": \"anchor\"') = 10 && "
                   "test $(./autotune pick_best m.log -o b.log | grep -c ', %s ') = %s && "
                   "rm m.log b.log",
                   mobile[i][0], mobile[i][0], mobile[i][1]);
    /* A log is a set, too. */
    cli_expect(
        0, "./autotune conv2d_3x3_gemm --workload ./set.log --trials 4 --log x.log; test $? = 4");
    cli_expect(0, "./autotune spconv2d_3x3_gemm --workload ./set.log --trials 4 --log again.log");
    r = cli_expect(0, "./autotune log set.log again.log --diff --json");
    assert_int_equal(cli_member(cli_json(), "count.only_a")->integer, 0);
    assert_int_equal(cli_member(cli_json(), "count.only_b")->integer, 0);
    static const char *const refused[][2] = {
        {"dense --workload x",
         "--workload x: a file of layers or a log is given by its path, ./x; there are resnet50, "
         "resnet50-512, mobilenet\n"},
        {"tune --workload x",
         "--workload x: a file of layers or a log is given by its path, ./x; there are "},
        {"tune --workload ./x",
         "tune needs a template: autotune tune TEMPLATE --workload ./x; only a file of layers "
         "names its own: it ends in .workload or begins with a count\n"},
        {"conv2d_3x3_gemm --workload mobilenet",
         "--workload mobilenet: holds no layer for conv2d_3x3_gemm\n"},
        {"dense --workload resnet50-512", "--workload resnet50-512: holds no layer for dense\n"},
        {"sparse_dense --workload resnet50",
         "--workload resnet50: holds no layer for sparse_dense "
         "(--args: sparse_dense with M=1,N=1000,K=2048,nnz=1,"
         "R=16,C=1: R does not divide N; --block gives other blocks "
         "than 16x1, 1x1 always fits)\n"},
        {"dense --workload resnet50 --args M=2", "give one of --workload and --args, not both\n"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        r = cli_expect(2, "./autotune %s", refused[i][0]);
        assert_non_null(strstr(r->err, refused[i][1]));
    }
}

static void sparse_options(void **state) {
    (void)state;
    static const char *const refused[][2] = {
        {"--sparsity 2", "--sparsity 2: not a number from 0 to 1\n"},
        {"--sparsity half", "--sparsity half: not a number from 0 to 1\n"},
        {"--block 16", "--block 16: rows and columns of a block are written 16x1\n"},
        {"--block 3x1", "R does not divide CO; --block gives other blocks than 3x1"},
        {"--block 8x1 --args R=4", "--block 8x1: --args has blocks of 4x1\n"},
        {"--sparsity 0.5 --args nnz=3", "leaves 1152 blocks, --args has nnz = 3\n"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const cli_result *r = cli_expect(2, "./autotune run spconv2d_3x3_gemm %s", refused[i][0]);
        assert_non_null(strstr(r->err, refused[i][1]));
    }
    const cli_result *r = cli_expect(2, "./autotune run dense --block 4x4");
    assert_non_null(strstr(r->err, "--block: dense has no sparse weight\n"));
    /* Another pattern is another context: nothing of the log is answered. */
    const char *same = "./autotune sparse_dense --args M=8,N=32,K=32%s --trials 3 --log p.log";
    cli_expect(0, same, "");
    cli_expect(0, same, " --sparsity 0.8 --json");
    assert_int_equal(cli_member(cli_json(), "from_log")->integer, 3);
    cli_expect(0, same, " --sparsity 0.5 --json");
    assert_int_equal(cli_member(cli_json(), "from_log")->integer, 0);
}

/* Records whose arguments have another form of the task's are records of that task for every verb,
 * and are written as they were read. */
static void forms_of_records(void **state) {
    (void)state;
#define SPARSE "spconv2d_3x3_gemm --args N=1,H=6,W=6,CI=16,CO=32 --sparsity 0.9"
    cli_expect(0, "./autotune " SPARSE " --trials 4 --log ours.log");
    cli_expect(
        0, "sed 's/\\(\\[1, 6, 6, 16, 32, 29, 16, 1\\)\\]/\\1, \"float32\"]/' ours.log > form.log");
    cli_expect(0, "test $(grep -c '29, 16, 1, \"float32\"\\]' form.log) -ge 4");
    cli_expect(0, "cat ours.log form.log > both.log");
    cli_expect(0, "./autotune log both.log --json");
    assert_int_equal(cli_member(cli_json(), "tasks")->count, 1);
    assert_int_equal(cli_member(cli_json(), "tasks")->child->kind, AT_JSON_OBJECT);
    assert_int_equal(at_json_get(cli_member(cli_json(), "tasks")->child, "trials")->integer,
                     8); /* the defaults are no trials */
    cli_expect(0, "./autotune log ours.log form.log --diff --json");
    assert_int_equal(cli_member(cli_json(), "count.only_a")->integer, 0);
    assert_int_equal(cli_member(cli_json(), "count.only_b")->integer, 0);
    const cli_result *r = cli_expect(0, "./autotune pick_best both.log");
    assert_int_equal(cli_count_lines(r->out, "{\"input\""), 1);
    r = cli_expect(0, "./autotune pick_best form.log");
    assert_int_equal(cli_count_lines(r->out, "{\"input\""), 1);
    assert_non_null(strstr(r->out, "[1, 6, 6, 16, 32, 29, 16, 1, \"float32\"]"));
    cli_expect(0, "./autotune " SPARSE " --trials 4 --log form.log --json");
    assert_int_equal(cli_member(cli_json(), "from_log")->integer, 4);
    static const char *const verbs[] = {
        "run spconv2d_3x3_gemm --log form.log --number 1 --repeat 1",
        "show spconv2d_3x3_gemm --log form.log --args N=1,H=6,W=6,CI=16,CO=32,nnz=29",
        "apply --log form.log -o form.c",
        "replay form.log --trials 2 --repeats 1",
        "convert form.log --to t4 -o form.json",
        "plot form.log",
        "report form.log -o form.html"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        cli_expect(0, "./autotune %s", verbs[i]);
}

/* ---- files of the user's own ----------------------------------------------------------------- */

static const struct {
    const char *file, *name, *args;
} files[] = {
    {"conv2d_3x3_gemm", "conv2d_3x3_gemm", "H=6,W=6,CI=4,CO=16"},
    {"conv2d_nchwc", "conv2d_NCHWc", "H=6,W=6,IC=4,OC=16"},
    {"conv2d_nhwc", "conv2d_nhwc", "H=6,W=6,CI=4,CO=16"},
    {"dense", "dense", "M=12,N=16,K=20"}, /* and matmul_add, dense_f16, dense_bf16 */
    {"spconv2d_3x3_gemm", "spconv2d_3x3_gemm", "H=6,W=6,CI=4,CO=16"},
    {"sparse_dense", "sparse_dense", "M=12,N=16,K=20"},
    {"group_conv2d_nhwc", "group_conv2d_nhwc", "H=6,W=6,CI=4,CO=16,G=2"},
    {"depthwise_conv2d_nchwc", "depthwise_conv2d_NCHWc", "H=6,W=6,IC=16"},
    {"depthwise_conv2d_nhwc", "depthwise_conv2d_nhwc", "H=6,W=6,C=16"},
    {"conv2d_transpose_nhwc", "conv2d_transpose_nhwc", "H=6,W=6,CI=4,CO=16"},
    {"conv2d_capsule_nhwijc", "conv2d_capsule_nhwijc", "H=6,W=6,CI=4,CO=16"},
    {"conv1d_nwc", "conv1d_nwc", "W=16,CI=4,CO=16"},
    {"conv3d_ndhwc", "conv3d_ndhwc", "D=2,H=6,W=6,CI=4,CO=16"},
    {"pool2d", "max_pool2d_nhwc", "H=6,W=6,C=16"}, /* and avg_pool2d_nhwc */
    {"layer_norm", "layer_norm", "M=12,N=32"},
    {"softmax", "softmax", "Y=5,X=32"},
    {"conv2d_winograd_nhwc", "conv2d_winograd_nhwc", "H=6,W=6,CI=4,CO=16,m=2"},
    {"indirect_conv2d_nhwc", "indirect_conv2d_nhwc", "H=6,W=6,CI=4,CO=16"},
    {"norm", "norm", "M=12,N=32"},
    {"batch_matmul", "batch_matmul", "M=12,N=16,K=20"},
    {"conv2d_nchwc_int8", "conv2d_NCHWc_int8", "H=6,W=6,IC=8,OC=16"},
    {"dense_int8", "dense_int8", "M=12,N=16,K=20"}, /* and batch_matmul_int8 */
    {"dense_q4_0", "dense_q4_0", "M=12,N=32,K=64"}, /* and dense_q8_0, dense_q4_k */
    {"arm_conv2d_nchw", "conv2d_nchw_spatial_pack", "H=6,W=6,CI=4,CO=16"},
    {"arm_depthwise_nchw", "depthwise_conv2d_nchw", "H=6,W=6,C=16"},
    {"arm_winograd_nchw", "conv2d_nchw_winograd", "H=6,W=6,CI=4,CO=16"},
};
enum { NUM_FILES = sizeof files / sizeof *files };

/* What is built in can be named by its file: the same tree, code and space, and the same context,
 * so that the trials of one are answered from the other's log. */
static void as_own_file(void **state) {
    (void)state;
    static const char *const commands[] = {"./autotune show %s --code", "./autotune space %s"};
    for (int i = 0; i < NUM_FILES; i++) {
        char path[2 * PATH_MAX];
        snprintf(path, sizeof path, "%s/templates/%s.c", sources, files[i].file);
        for (size_t c = 0; c < sizeof commands / sizeof *commands; c++) {
            char *built_in = strdup(cli_expect(0, commands[c], files[i].name)->out);
            assert_string_equal(cli_expect(0, commands[c], path)->out, built_in);
            free(built_in);
        }
        const char *tune = "./autotune %s --args %s --trials 2 --log own.log --json";
        cli_expect(0, tune, files[i].name, files[i].args);
        cli_expect(0, tune, path, files[i].args);
        assert_int_equal(cli_member(cli_json(), "from_log")->integer, 2);
        cli_expect(0, "rm own.log");
    }
    /* None is forgotten: the others hold no template. */
    cli_expect(0, "test $(grep -l '^ *const at_template_row at_' '%s'/templates/*.c | wc -l) = %d",
               sources, NUM_FILES);
}

/* The template that docs/templates.md goes through is a user's file like any other. */
static void own_file(void **state) {
    (void)state;
    cli_expect(0, "cp '%s/templates/conv2d_3x3_gemm.c' .", sources);
    cli_expect(0, "./autotune conv2d_3x3_gemm.c --args H=7,W=7,CI=3,CO=6 --trials 3 --json");
    assert_int_equal(cli_member(cli_json(), "trials")->integer, 3);
    /* Its name is nothing to the compiler. */
    cli_expect(0, "sed 's/at_conv2d_3x3_gemm/at_a_b_n_e_/' conv2d_3x3_gemm.c >'a\"b\\n?e`.c' && "
                  "./autotune show 'a\"b\\n?e`.c' && rm 'a\"b\\n?e`.c'");

    static const char *const wrong[][2] = {
        {"#include \"template.h\"\n\nint f(void) { return y; }\n",
         "./own.c:3: error: 'y' undeclared\n"},
        {"#include \"templates/template.h\"\n",
         "./own.c: defines no 'at_own': a template is const at_template_row at_own, "},
        {"#include \"template.h\"\nconst at_template_row at_own = {.name = \"own\"};\n",
         "./own.c: its at_template_row needs name, args, record_args and define\n"},
    };
    /* Its name makes the names of logs and functions. */
    static const char *const names[][2] = {
        {"../x", "../x"},   {"a/b", "a/b"},     {".hidden", ".hidden"},
        {"-q", "-q"},       {"a b", "a b"},     {"a\\033[1m", "a\\x1b[1m"},
        {"a\\nb", "a\\nb"}, {"\\xff", "\\xff"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char source[300], line[300];
        snprintf(source, sizeof source,
                 "#include \"template.h\"\nstatic void define(at_template *t) {}\n"
                 "const at_template_row at_own = {.name = \"%s\", .args = \"X=64\",\n"
                 "    .record_args = \"[X]\", .define = define};\n",
                 names[i][0]);
        snprintf(
            line, sizeof line,
            "autotune: ./own.c: its name is \"%s\"; a name is a word of letters, digits, _, +, - "
            "and ., which begins with a letter, a digit or _ and has at most 120 characters\n",
            names[i][1]);
        cli_write("own.c", source);
        assert_string_equal(cli_expect(4, "./autotune ./own.c --trials 1")->err, line);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cli_write("own.c", wrong[i][0]);
        assert_non_null(strstr(cli_expect(4, "./autotune ./own.c")->err, wrong[i][1]));
    }
    assert_non_null(strstr(cli_expect(4, "./autotune run ./none.c")->err,
                           "cannot read ./none.c: No such file or directory\n"));

    cli_write("own.c",
              "#include \"template.h\"\n"
              "static void define(at_template *t) { at_sizes(t, \"Y = X\"), at_compute(t, 0); }\n"
              "const at_template_row at_own = {.name = \"own\", .args = \"X=64\",\n"
              "    .record_args = \"[X]\", .define = define};\n");
    assert_non_null(
        strstr(cli_expect(4, "./autotune show ./own.c")->err, "own: at_compute without a text\n"));

    /* A mistake that only shows when the template is used is no fault of ours either. */
    cli_write("own.c", "#include \"template.h\"\n"
                       "static void define(at_template *t) {\n"
                       "    at_split(t, \"tile_x\", \"X\", \"xo xi\", .policy = AT_FACTORS);\n"
                       "    at_compute(t, \"a[X] : input\\nb[x:X] = a[x]\\n\");\n"
                       "    at_schedule(t, at_textf(t, \"%s, xi:vec =>\\n    @b = {xo, xi}/x\\n\", "
                       "\"xo\"));\n"
                       "}\n"
                       "static void defaults(at_template *t, int lanes) {\n"
                       "    long long n = lanes;\n"
                       "    at_default(t, \"tile_y\", &n);\n"
                       "}\n"
                       "const at_template_row at_own = {.name = \"own\", .args = \"X=64\",\n"
                       "    .record_args = \"[X]\", .define = define, .defaults = defaults};\n");
    assert_non_null(strstr(cli_expect(4, "./autotune run ./own.c")->err,
                           "own: a default of \"tile_y\", which is no knob\n"));
    cli_expect(0, "sed s/tile_y/tile_x/ own.c | sed s/at_own/at_my_own/ > my-own.c");
    cli_expect(0, "./autotune run ./my-own.c");
}

/* Code that crashes is the file's fault, in one line and nothing written. */
static void crashing_file(void **state) {
    (void)state;
    static const char *const bodies[][3] = {
        /* define, defaults, what is said */
        {"*(volatile int *)8 = 1;", "", "its define() crashed with X=64: SIGSEGV"},
        {"at_sizes(t, (const char *)8);", "", "its define() crashed with X=64: SIGSEGV"},
        {"volatile int n = 0; at_divisor(1 / n, 1);", "", "its define() crashed with X=64: SIGFPE"},
        {"deeper(1);", "", "its define() crashed with X=64: SIGSEGV"},
        {"", "*(volatile int *)8 = lanes;", "its defaults() crashed with X=64: SIGSEGV"},
    };
    static const char *const verbs[] = {"run ./bad.c", "./bad.c --trials 2 --log bad.log"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char source[1024], line[256];
        snprintf(source, sizeof source,
                 "#include \"template.h\"\n"
                 "static int deeper(int n) { volatile int room[4096]; room[n %% 4096] = n;\n"
                 "    return deeper(n + 1) + room[n %% 4096]; }\n"
                 "static void define(at_template *t) {\n"
                 "    %s\n"
                 "    at_split(t, \"tile_x\", \"X\", \"xo xi\", .policy = AT_FACTORS);\n"
                 "    at_compute(t, \"a[X] : input\\nb[x:X] = a[x]\\n\");\n"
                 "    at_schedule(t, \"xo, xi:vec =>\\n    @b = {xo, xi}/x\\n\");\n"
                 "}\n"
                 "static void defaults(at_template *t, int lanes) { %s }\n"
                 "const at_template_row at_bad = {.name = \"bad\", .args = \"X=64\",\n"
                 "    .record_args = \"[X]\", .define = define, .defaults = defaults};\n",
                 bodies[i][0], bodies[i][1]);
        cli_write("bad.c", source);
        snprintf(line, sizeof line, "autotune: ./bad.c: %s\n", bodies[i][2]);
        for (size_t v = 0; v < 1 + !*bodies[i][1]; v++) {
            assert_string_equal(cli_expect(4, "./autotune %s", verbs[v])->err, line);
            cli_expect(1, "test -e bad.log");
        }
    }
}

static int setup(void **state) { return getcwd(sources, sizeof sources) ? cli_setup(state) : -1; }

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all),
                                       cmocka_unit_test(workload),
                                       cmocka_unit_test(sparse_options),
                                       cmocka_unit_test(forms_of_records),
                                       cmocka_unit_test(as_own_file),
                                       cmocka_unit_test(own_file),
                                       cmocka_unit_test(crashing_file)};
    return cmocka_run_group_tests(tests, setup, cli_teardown);
}
