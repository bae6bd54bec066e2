/* From a record to a program: what `apply` writes is clean under every compiler there is, keeps no
 * state, asks for no alignment, and computes the right thing, alone and chosen by shape. */
#include "tests/cli/cli_test.h"

#include <stdlib.h>
#include <string.h>

#define GEMM "conv2d_3x3_gemm --args N=1,H=5,W=7,CI=3,CO=17"

static const char *const strict = "-O1 -Wall -Wextra -Werror";

static bool has(const char *program) { return !cli_run("command -v %s", program)->status; }

/* ---- compilers ------------------------------------------------------------------------------- */

static void check_program(const char *compiler) {
    const cli_result *r = cli_expect(0, "%s %s kernel.c -o kernel && ./kernel", compiler, strict);
    assert_string_equal(r->err, "");
    assert_non_null(strstr(r->out, ": right, "));
}

/* No data and no zeroed memory: functions that keep no state. */
static void check_stateless(void) {
    cli_expect(0, "cc -O1 -c kernel.c -o kernel.o");
    if (has("nm"))
        assert_string_equal(cli_expect(0, "nm kernel.o | grep -i ' [bdc] ' || :")->out, "");
}

static void compilers(void **state) {
    (void)state;
    static const char *const tasks[] = {GEMM,
                                        "conv2d_NCHWc --args H=5,W=6,IC=4,OC=8",
                                        "conv2d_nhwc --args H=5,W=6,CI=4,CO=8",
                                        "dense --args M=7,N=24,K=9,bias=1",
                                        "matmul_add --args N=7,M=24,L=9",
                                        "spconv2d_3x3_gemm --args H=5,W=6,CI=4,CO=32",
                                        "sparse_dense --args M=7,N=48,K=9,R=4,C=3"};
    static const char *const pairs[][2] = {{"gnu", "gcc"}, {"gnu", "clang"}, {"tcc", "gcc"},
                                           {"tcc", "tcc"}, {"c", "clang"},   {"c", "tcc"}};
    cli_write("use.cpp", "#include \"kernel.h\"\nint main() { return 0; }\n");
    for (size_t t = 0; t < sizeof tasks / sizeof *tasks; t++)
        for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
            if (!has(pairs[i][1])) continue;
            cli_expect(0, "./autotune apply %s --config default --dialect %s --main -o kernel.c",
                       tasks[t], pairs[i][0]);
            check_program(pairs[i][1]);
            if (i > 0 || !has("g++")) continue;
            check_stateless();
            cli_expect(0, "g++ %s -pedantic -c use.cpp", strict);
        }
}

/* Without -o, and to anything but a .c file, one text that needs no header; a warning tells so of a
 * file. */
static void alone(void **state) {
    (void)state;
    cli_expect(0,
               "./autotune apply " GEMM " --config default >alone.c && "
               "cc %s -Wmissing-prototypes -c alone.c && test ! -e alone.h",
               strict);
    const cli_result *r =
        cli_expect(0, "./autotune apply " GEMM " --config default -o text && cmp alone.c text");
    assert_non_null(strstr(r->err, "text: no header goes beside it, as one does beside a file "
                                   "that ends in .c\n"));
    r = cli_expect(0, "./autotune apply " GEMM
                      " --config default -o /dev/stdout >text && cmp alone.c text");
    assert_string_equal(r->err, "");
    /* The line that the head comment gives is right. */
    cli_expect(0, "mkdir 'a folder' && cd 'a folder' && "
                  "../autotune apply " GEMM
                  " --config default --main --name conv -o \"it's mine.c\" && "
                  "sh -c \"$(sed -n 's/^ [*] compile: //p' it*.c)\" && ls");
    assert_non_null(strstr(cli_read("a folder/it's mine.h"), "#ifndef IT_S_MINE_H\n"));
    assert_non_null(strstr(cli_read("a folder/it's mine.h"),
                           "void conv_pack(const float *weight, void *packed"));
}

/* ---- alignment ------------------------------------------------------------------------------- */

/* All memory at odd multiples of 4 bytes, between bytes that must stay; twice the same. */
static const char *const misaligned =
    "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include \"kernel.h\"\n"
    "static char *get(unsigned long bytes) {\n"
    "    void *p;\n"
    "    if (posix_memalign(&p, 64, bytes + 128)) exit(1);\n"
    "    memset(p, 85, bytes + 128);\n"
    "    return (char *)p + 4;\n"
    "}\n"
    "static void check_end(const char *p, unsigned long bytes) {\n"
    "    if (p[-1] != 85 || p[bytes] != 85) printf(\"written beyond\\n\");\n"
    "}\n"
    "int main(void) {\n"
    "    float *data = (float *)get(5 * 7 * 3 * 4), *weight = (float *)get(27 * 17 * 4);\n"
    "    float *packed = (float *)get(conv_packed_bytes()), *out = (float *)get(5 * 7 * 17 * 4);\n"
    "    unsigned long bytes = conv_workspace_bytes(1);\n"
    "    char *workspace = get(bytes) + 1;\n"
    "    for (int i = 0; i < 5 * 7 * 3; i++) data[i] = (float)(i % 7 - 3);\n"
    "    for (int i = 0; i < 27 * 17; i++) weight[i] = (float)(i % 5 - 2);\n"
    "    conv(data, weight, out, workspace);\n"
    "    memset(out, 85, 5 * 7 * 17 * 4), memset(workspace, 85, bytes);\n"
    "    conv_pack(weight, packed);\n"
    "    conv_in_blocks(data, packed, out, workspace);\n"
    "    check_end((char *)out, 5 * 7 * 17 * 4), check_end((char *)packed, conv_packed_bytes());\n"
    "    check_end(workspace, bytes);\n"
    "    int wrong = 0;\n"
    "    for (int y = 0; y < 35; y++)\n"
    "        for (int x = 0; x < 17; x++) {\n"
    "            float want = 0;\n"
    "            for (int k = 0; k < 27; k++) {\n"
    "                int h = y / 7 + k / 9 - 1, w = y % 7 + k / 3 % 3 - 1;\n"
    "                if (h >= 0 && h < 5 && w >= 0 && w < 7)\n"
    "                    want += data[(h * 7 + w) * 3 + k % 3] * weight[x * 27 + k];\n"
    "            }\n"
    "            wrong += out[y * 17 + x] != want;\n"
    "        }\n"
    "    printf(\"%d wrong\\n\", wrong);\n"
    "    return 0;\n"
    "}\n";

static void alignment(void **state) {
    (void)state;
    static const char *const ways[] = {
        "--dialect c",   "--dialect gnu --isa sse2", "--dialect tcc --isa sse2", "--dialect gnu",
        "--dialect tcc",
    };
    cli_write("use.c", misaligned);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        cli_expect(0, "./autotune apply " GEMM " --config default --name conv %s -o kernel.c",
                   ways[i]);
        const cli_result *r = cli_expect(0, "cc %s use.c kernel.c -o use && ./use", strict);
        assert_string_equal(r->out, "0 wrong\n");
    }
}

/* ---- all of a log ---------------------------------------------------------------------------- */

/* A shape that is there, and one that is not. */
static const char *const by_shape =
    "#include <stdio.h>\n#include \"all.h\"\n"
    "int main(void) {\n"
    "    static float buffer[4096], packed[4096], out[4096], workspace[16384];\n"
    "    conv2d_3x3_gemm_shape there = {1, 5, 7, 3, 17}, absent = {1, 5, 7, 3, 18};\n"
    "    printf(\"%d\", conv2d_3x3_gemm(&there, buffer, buffer, out, workspace));\n"
    "    printf(\"%d\", conv2d_3x3_gemm_pack(&there, buffer, packed));\n"
    "    printf(\"%d\", conv2d_3x3_gemm_in_blocks(&there, buffer, packed, out, workspace));\n"
    "    printf(\"%d\", conv2d_3x3_gemm(&absent, 0, 0, 0, 0));\n"
    "    printf(\"%d\", conv2d_3x3_gemm_pack(&absent, 0, 0));\n"
    "    printf(\"%d\", conv2d_3x3_gemm_kernel(&absent) == 0);\n"
    "    printf(\"%ld\", conv2d_3x3_gemm_workspace_bytes(&absent, 1));\n"
    "    printf(\"%ld\", conv2d_3x3_gemm_packed_bytes(&absent));\n"
    "    printf(\" %d\\n\", conv2d_3x3_gemm_packed_bytes(&there) >= 27 * 17 * 4);\n"
    "    return conv2d_3x3_gemm_workspace_bytes(&there, 1) > 16384 * 4;\n"
    "}\n";

static void whole_log(void **state) {
    (void)state;
    static const char *const runs[] = {
        GEMM, "conv2d_3x3_gemm --args H=3,W=2,CI=4,CO=5 --pack inline", "dense --args M=3,N=16,K=5",
        "dense --args M=3,N=16,K=5,bias=1", "sparse_dense --args M=3,N=16,K=8"};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        cli_expect(0, "./autotune %s --trials 2 --tuner random --log set.log", runs[i]);
    static const char *const ways[][2] = {{"gnu", "gcc"}, {"tcc", "tcc"}, {"c", "clang"}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (!has(ways[i][1])) continue;
        cli_expect(0, "./autotune apply --log set.log --main --dialect %s -o all.c", ways[i][0]);
        const cli_result *r = cli_expect(0, "%s %s all.c -o all && ./all", ways[i][1], strict);
        assert_string_equal(r->err, "");
        assert_int_equal(cli_count_lines(r->out, ""), 5);
        assert_string_equal(cli_expect(0, "grep -c ': right, ' <<E\n%s\nE", r->out)->out, "5\n");
    }
    cli_expect(0, "./autotune apply --log set.log --json -o all.c");
    assert_int_equal(cli_member(cli_json(), "kernels")->count, 5);
    assert_string_equal(cli_member(cli_json(), "header")->string, "all.h");
    cli_write("use.c", by_shape);
    assert_string_equal(cli_expect(0, "cc %s use.c all.c -o use && ./use", strict)->out,
                        "000111-1-1 1\n");
    if (has("g++")) cli_expect(0, "g++ %s -pedantic -x c++ -include all.h -c /dev/null", strict);
}

/* ---- several instruction sets, other shapes -------------------------------------------------- */

/* Shapes that no record has, of forms that some have: plainly computed here once more. */
static const char *const other_shapes =
    "#include <stdio.h>\n#include <stdlib.h>\n#include \"isas.h\"\n"
    "int main(void) {\n"
    "    dense_shape s = {4, 12, 6, 1, 0}, blocked = {4, 12, 6, 0, 4}, none = {0, 12, 6, 0, 0};\n"
    "    float data[24], weight[72], bias[12], out[48], cube[2 * 5 * 7], kernel[3 * 2 * 9];\n"
    "    for (int i = 0; i < 24; i++) data[i] = (float)(i % 5 - 2);\n"
    "    for (int i = 0; i < 72; i++) weight[i] = (float)(i % 7 - 3);\n"
    "    for (int i = 0; i < 12; i++) bias[i] = (float)i;\n"
    "    void *workspace = malloc(dense_workspace_bytes(&s, 1));\n"
    "    void *packed = malloc(dense_packed_bytes(&s));\n"
    "    int wrong = dense(&s, data, weight, bias, out, workspace);\n"
    "    for (int way = 0; way < 2; way++) {\n"
    "        for (int i = 0; i < 48; i++) {\n"
    "            float sum = bias[i % 12];\n"
    "            for (int k = 0; k < 6; k++) sum += data[i / 12 * 6 + k] * weight[i % 12 * 6 + "
    "k];\n"
    "            wrong += sum != out[i], out[i] = 99;\n"
    "        }\n"
    "        wrong += dense_pack(&s, weight, bias, packed);\n"
    "        wrong += dense_in_blocks(&s, data, packed, out, workspace);\n"
    "    }\n"
    "    conv2d_NCHWc_shape c = {1, 2, 5, 7, 3, 3, 3, 2, 1, 1, 1, 1, 1, 1, 1, 0, 0};\n"
    "    float image[3 * 3 * 7];\n"
    "    for (int i = 0; i < 2 * 5 * 7; i++) cube[i] = (float)(i % 11 - 5);\n"
    "    for (int i = 0; i < 3 * 2 * 9; i++) kernel[i] = (float)(i % 3 - 1);\n"
    "    workspace = realloc(workspace, conv2d_NCHWc_workspace_bytes(&c, 1));\n"
    "    wrong += conv2d_NCHWc(&c, cube, kernel, image, workspace);\n"
    "    for (int i = 0; i < 3 * 3 * 7; i++) {\n"
    "        float sum = 0;\n"
    "        for (int k = 0; k < 18; k++) {\n"
    "            int y = i / 7 % 3 * 2 + k / 3 % 3 - 1, x = i % 7 + k % 3 - 1;\n"
    "            if (y < 0 || y >= 5 || x < 0 || x >= 7) continue;\n"
    "            sum += cube[(k / 9 * 5 + y) * 7 + x] * kernel[i / 21 * 18 + k];\n"
    "        }\n"
    "        wrong += sum != image[i];\n"
    "    }\n"
    "    printf(\"%d wrong, %s, %s, \", wrong, dense_kernel(&s), conv2d_NCHWc_kernel(&c));\n"
    "    printf(\"%d %d\\n\", dense_kernel(&blocked) == 0, dense(&none, 0, 0, 0, 0, 0));\n"
    "    dense_shape known = {3, 16, 5, 0, 0};\n"
    "    printf(\"%s\\n\", dense_kernel(&known));\n"
    "    return 0;\n}\n";

static void instruction_sets(void **state) {
    (void)state;
    static const char *const runs[] = {
        "dense --args M=3,N=16,K=5", "dense --args M=3,N=16,K=5,bias=1",
        "conv2d_NCHWc --args H=5,W=6,IC=4,OC=8", "sparse_dense --args M=3,N=16,K=8"};
    static const char *const ways[][2] = {{"gnu", "gcc"}, {"tcc", "tcc"}, {"gnu", "clang"}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        cli_expect(0, "./autotune %s --trials 1 --tuner random --log isas.log", runs[i]);
    cli_write("use.c", other_shapes);
    bool wide = !cli_run("grep -q avx512f /proc/cpuinfo")->status;
    if (!wide) print_message("this CPU has no avx512: that of three sets was not run\n");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (!has(ways[i][1])) continue;
        cli_expect(0,
                   "./autotune apply --log isas.log --isas sse2,avx512,avx2 --fallback --main "
                   "--dialect %s -o isas.c",
                   ways[i][0]);
        const cli_result *r = cli_expect(0, "%s %s isas.c -o isas && ./isas", ways[i][1], strict);
        assert_string_equal(r->err, "");
        assert_int_equal(cli_count_lines(r->out, ""), 12);
        assert_int_equal(cli_count_lines(r->out, "dense_3x16x5_sse2: right"), 1);
        if (wide) assert_null(strstr(r->out, "lacks"));
        cli_expect(0,
                   "./autotune apply --log isas.log --isas sse2,avx512,avx2 --fallback "
                   "--dialect %s -o isas.c",
                   ways[i][0]);
        r = cli_expect(0, "%s %s use.c isas.c -o use && ./use", ways[i][1], strict);
        assert_non_null(strstr(r->out, "0 wrong, loops, loops, 1 1\n"));
        if (wide) assert_non_null(strstr(r->out, "dense_3x16x5_avx512\n"));
    }
}

/* Other people's templates, and tasks without a valid record, are named and left out. */
static void left_out(void **state) {
    (void)state;
    cli_expect(
        0,
        "./autotune dense --args M=3,N=16,K=5 --trials 1 --log mine.log && "
        "sed 's/dense_pack.x86/her_own/' mine.log >hers.log && "
        "sed 's/^\\(.*\\), 0, \\([0-9.]*, [0-9.]*\\)\\], \"version\"/\\1, 4, \\2], \"version\"/' "
        "mine.log >failed.log && ! cmp -s mine.log failed.log");
    const cli_result *r = cli_expect(3, "./autotune apply --log hers.log");
    assert_non_null(
        strstr(r->err, "hers.log: task \"her_own\" is of no template of this program; left out. "
                       "With its file: autotune apply FILE --log hers.log\n"));
    r = cli_expect(3, "./autotune apply --log failed.log");
    assert_non_null(strstr(r->err, "records of dense M=3,N=16,K=5,bias=0,wb=0 are failures; "
                                   "autotune log failed.log shows the first of each kind; left "
                                   "out\n"));
    cli_expect(3, "./autotune pick_best failed.log");
    cli_expect(3, "./autotune verify failed.log");
    cli_expect(0, "./autotune log failed.log && ./autotune plot failed.log && "
                  "./autotune report failed.log -o failed.html && grep -q '</html>' failed.html");
    r = cli_expect(0, "cat hers.log >>mine.log && ./autotune apply --log mine.log");
    assert_int_equal(cli_count_lines(r->err, "autotune: warning: mine.log: task \"her_own\""), 1);
    /* A task whose weights, 2^36 times as many, no workspace holds. */
    cli_expect(0, "grep '^{' mine.log | head -n 1 >one.log && "
                  "sed 's/, 5\\]/, 1099511627776]/g; s/, \"autotune\".*/}/' one.log >large.log && "
                  "cat one.log large.log >both.log");
    r = cli_expect(3, "./autotune apply --log large.log -o no.c && test ! -e no.c");
    assert_non_null(strstr(r->err, "large.log: no record of it makes a kernel\n"));
    r = cli_expect(0, "./autotune apply --log both.log -o yes.c && grep -q dense_3x16x5 yes.h");
    assert_non_null(strstr(r->err, "both.log:2: no kernel: buffers: the buffer of @packw exceeds "
                                   "2^40 elements; left out\n"));
    /* One whose configurations are none is told once: as what is left out, or as the error. */
    cli_expect(0, "sed 's/\"sp\", \\[-1, /&9/g' one.log >none_of_its.log && "
                  "sed 's/, 5\\]/, 7]/g' none_of_its.log | cat one.log - >one_of_two.log");
    r = cli_expect(4, "./autotune apply --log none_of_its.log");
    assert_int_equal(cli_count_lines(r->err, ""), 1);
    assert_non_null(strstr(r->err, "autotune: none_of_its.log:1: "));
    r = cli_expect(0, "./autotune apply --log one_of_two.log");
    assert_int_equal(cli_count_lines(r->err, ""), 1);
    assert_non_null(strstr(r->err, "autotune: warning: one_of_two.log:2: "));
    assert_non_null(strstr(r->err, "; left out\n"));
    r = cli_expect(4, "./autotune dense --workload both.log --trials 4 --log none.log");
    assert_non_null(strstr(r->err, "autotune: both.log:2: with tensor \"data\" the data need"));
}

/* ---- names and texts of others --------------------------------------------------------------- */

/* Every name is one that C or C++ takes for itself, or that a function here has. */
static const char *const awkward =
    "#include \"template.h\"\n"
    "static void define(at_template *t) {\n"
    "    at_sizes(t, \"unix = M, class = N\");\n"
    "    at_split(t, \"new\", \"unix\", \"int workspace\", .policy = AT_FACTORS);\n"
    "    at_split(t, \"this\", \"class\", \"EOF k_tile_1x4\", .policy = AT_FACTORS);\n"
    "    at_compute(t, \"buf[unix, for] : input\\nlinux[class, for] : weight\\n\"\n"
    "        \"double[template:class, __x:for] = linux[template, __x]\\n\"\n"
    "        \"main[i:unix, delete:class] = sum(NULL:for) buf[i, NULL] * double[delete, "
    "NULL]\\n\"\n"
    "        \"operator[i:unix, delete:class] = main[i, delete]\\n\");\n"
    "    at_schedule(t, \"template, __x =>\\n    @double = template, __x\\n\"\n"
    "        \"int, EOF =>\\n    NULL, workspace:unroll, k_tile_1x4:vec =>\\n\"\n"
    "        \"        @main = {int, workspace}/i, {EOF, k_tile_1x4}/delete // NULL\\n\"\n"
    "        \"    workspace:unroll, k_tile_1x4:vec =>\\n\"\n"
    "        \"        @operator = {int, workspace}/i, {EOF, k_tile_1x4}/delete\\n\");\n"
    "}\n"
    "const at_template_row at_awkward = {.name = \"%s\", .help = \"h\",\n"
    "    .args = \"M=5, N=12, for=7\", .record_args = \"[M, N, for]\", .define = define};\n";

static void names(void **state) {
    (void)state;
    static const char *const templates[] = {"3d", "int", "main", "printf", "class", "at_par"};
    static const char *const ways[][2] = {
        {"gnu", "gcc"}, {"gnu", "clang"}, {"tcc", "tcc"}, {"c", "gcc"}};
    for (size_t t = 0; t < sizeof templates / sizeof *templates; t++) {
        char text[4000];
        snprintf(text, sizeof text, awkward, templates[t]);
        cli_write("awkward.c", text);
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            if (!has(ways[i][1]) || (t && i)) continue;
            cli_expect(0,
                       "./autotune apply awkward.c --config default --dialect %s --main "
                       "--name k -o kernel.c",
                       ways[i][0]);
            check_program(ways[i][1]);
            cli_expect(0,
                       "./autotune apply awkward.c --config default --dialect %s --main -o "
                       "kernel.c",
                       ways[i][0]);
            check_program(ways[i][1]);
            if (has("g++")) cli_expect(0, "g++ %s -pedantic -c use.cpp", strict);
        }
        cli_expect(0, "rm -f awkward.log && ./autotune awkward.c --trials 1 --log awkward.log && "
                      "./autotune apply awkward.c --log awkward.log --main -o kernel.c");
        check_program("cc");
    }
}

/* A record whose texts would end the comment, join lines or turn the direction of writing. */
static void texts(void **state) {
    (void)state;
    cli_write("hostile.sed", "s,\"cpu\": \"[^\"]*\",\"cpu\": \"x */ int y; /* \?\?/ "
                             "\\\\\\\\\\\\n\\\\u202e z\\\\\\\\\",\n");
    cli_expect(0, "./autotune dense --args M=3,N=16,K=5 --trials 1 --log texts.log && "
                  "sed -f hostile.sed texts.log >hostile.log && ! cmp -s texts.log hostile.log && "
                  "./autotune apply dense --args M=3,N=16,K=5 --line " FIRST_RECORD(
                      "hostile.log") " --log hostile.log --main -o kernel.c");
    assert_non_null(strstr(cli_read("kernel.c"), "x * / int y; / * ? ?/ \\\\n\\u202e z\\"));
    check_program("cc -trigraphs");
    /* A log's name is one line of the comment. */
    static const char *const uses[] = {"apply dense --args M=3,N=16,K=5 --log", "apply --log"};
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        cli_expect(0,
                   "n=$(printf 'two\nlines.log'); cp texts.log \"$n\" && "
                   "./autotune %s \"$n\" --main -o kernel.c && rm \"$n\"",
                   uses[i]);
        assert_non_null(strstr(cli_read("kernel.c"), "two\\nlines.log"));
        check_program("cc");
    }
}

static void refused(void **state) {
    (void)state;
    static const char *const lines[][2] = {
        {"", "apply needs a template, or --log FILE for all kernels of a log\n"},
        {"--log x.log --line 3", "--line is for one kernel: autotune apply TEMPLATE --line ...\n"},
        {GEMM " --config default --name 3x", "--name 3x: not a name in C; write letters, digits "
                                             "and _, a letter first\n"},
        {GEMM " --config default --isa avx512,avx2",
         "; one of them is accepted, several by --isas of apply\n"},
        {GEMM " --config default --compiler tcc,gcc", "gcc, clang; one of them is accepted\n"},
        {GEMM " --config default --name ''", "--name \"\": NAME is expected (the kernel's name "},
        {GEMM " --config default --name int", "--name int: C, C++ or the file's own parts use this "
                                              "name; write another\n"},
        {GEMM " --config default --name static", "--name static: C, C++"},
        {GEMM " --config default --name main --main", "--name main: the C library uses this name"},
        {GEMM " --config default --name malloc", "--name malloc: the C library uses this name; "
                                                 "write another\n"},
        {GEMM " --config default -o 'a\"b.c'",
         "-o a\"b.c: a header cannot be included by this "
         "name; leave out \", \\, ?? and control characters\n"},
        {GEMM " --config default --isas avx2",
         "--isas is for all kernels of a log: autotune apply --log LOG --isas ...\n"},
        {GEMM " --config default --fallback", "--fallback is for all kernels of a log"},
        {"--log set.log --isas avx2,mmx", "--isas avx2,mmx: names of instruction sets with commas "
                                          "between them: scalar, sse2, avx2, avx2_f16c, avx2_vnni, "
                                          "avx512, avx512vnni, avx512bf16, a64, "
                                          "neon, neon_dotprod, neon_i8mm, neon_fp16fml\n"},
        {"--log set.log --isas avx2,avx2", "--isas avx2,avx2: avx2 is given twice\n"},
        {"--log set.log --isas avx2 --dialect c",
         "--isas avx2 --dialect c: plain C is the same for "
         "every instruction set; leave --isas out\n"},
        {GEMM " --config default -o kernel.h",
         "-o kernel.h: name the .c file; its header is written beside it\n"},
        {GEMM " --config default -o kernel.cpp",
         "-o kernel.cpp: what is written is C; name a file that ends in .c\n"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_non_null(
            strstr(cli_expect(2, "./autotune apply %s", lines[i][0])->err, lines[i][1]));
    cli_expect(4, "./autotune apply --log x.log");
    /* blocks of the configuration's choice, and no word on how they lie in memory */
    cli_write("blocks.c",
              "#include \"template.h\"\n"
              "static void define(at_template *t) {\n"
              "    at_split(t, \"tile\", \"N\", \"no ni\", .policy = AT_FACTORS);\n"
              "    at_sizes(t, \"o = |no|, i = |ni|\");\n"
              "    at_compute(t, \"data[i, o] : input\\nout[x:i, y:o] = data[x, y]\\n\");\n"
              "    at_schedule(t, \"x, y =>\\n    @out = x, y\\n\");\n}\n"
              "const at_template_row at_blocks = {.name = \"blocks\", .help = \"h\",\n"
              "    .args = \"N=8\", .record_args = \"[N]\", .define = define};\n");
    assert_non_null(strstr(
        cli_expect(4, "./autotune apply blocks.c --index 1")->err,
        "the shape of data depends on the configuration, and no at_layout says how it lies in "
        "memory; take --abi blocked for this configuration's own layout\n"));
    cli_expect(0, "./autotune apply blocks.c --index 1 --abi blocked --main -o kernel.c");
    check_program("cc");
}

/* ---- sums that are exact on no integers ------------------------------------------------------ */

/* What a main compares with is made by gcc as for the tuner: for the kernel's own instructions, and
 * no product becomes a part of a multiply-add. */
static void main_as_tuned(void **state) {
    static const char *const sets[][2] = {{"avx2", "#pragma GCC target(\"avx2,fma\")\n"},
                                          {"sse2", "#pragma GCC target(\"sse2\")\n"}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        cli_expect(0,
                   "./autotune apply dense --args M=4,N=16,K=8 --config default --isa %s --main "
                   "-o tuned.c --force",
                   sets[i][0]);
        const char *c = cli_read("tuned.c"), *begin = strstr(c, "#pragma GCC push_options\n"),
                   *end = begin ? strstr(begin, "#pragma GCC pop_options\n") : NULL;
        assert_non_null(end);
        const char *target = strstr(begin, sets[i][1]), *flag = strstr(begin, "fp-contract=off"),
                   *reference = strstr(begin, "_reference(void *const buf[]");
        assert_true(target && target < reference && flag && flag < reference && reference < end);
        assert_true(strstr(end, "int main(void)") != NULL);
    }
}

/* A main has run's rule: a kernel that run calls right is right, whatever the compiler makes of it;
 * one with a constant a little off is not. */
static void inexact(void **state) {
    (void)state;
    static const char *const pairs[][2] = {{"gnu", "gcc -O3 -march=native"},
                                           {"gnu", "clang -O2"},
                                           {"c", "gcc -O1"},
                                           {"c", "clang -O3 -march=native"},
                                           {"c", "tcc"}};
    static const char *const off = "sed -i s/0x1.99999ap-4f/0x1.999cp-4f/ kernel.c";
    cli_write(
        "inexact.c",
        "#include \"template.h\"\n"
        "static const char compute[] =\n"
        "    \"data[Y, K] : input\\n\"\n"
        "    \"weight[X, K] : weight\\n\"\n"
        "    \"bias[X] : input\\n\"\n"
        "    \"acc[y:Y, x:X] = sum(k:K) data[y, k]*weight[x, k]*0.1\\n\"\n"
        "    \"moved[y:Y, x:X] = acc[y, x] + bias[x]/3\\n\"\n"
        "    \"out[y:Y, x:X] = max(moved[y, x], 0)/(bias[x]*bias[x] + 1)\\n\";\n"
        "static const char schedule[] =\n"
        "    \"y, xo =>\\n\"\n"
        "    \"    ko, ki:unroll, xi:vec =>\\n\"\n"
        "    \"        @acc = y, {xo, xi}/x // {ko, ki}/k\\n\"\n"
        "    \"    xi:vec =>\\n\"\n"
        "    \"        @out = y, {xo, xi}/x\\n\";\n"
        "static void define(at_template *t) {\n"
        "    at_split(t, \"tile_x\", \"X\", \"xo xi\", .policy = AT_FACTORS);\n"
        "    at_split(t, \"tile_k\", \"K\", \"ko ki\", .policy = AT_FACTORS);\n"
        "    at_compute(t, compute);\n"
        "    at_schedule(t, schedule);\n"
        "}\n"
        "const at_template_row at_inexact = {.name = \"inexact\", .help = \"scaled\",\n"
        "    .args = \"Y=9, X=32, K=200\", .record_args = \"[Y, X, K]\", .define = define};\n");
    cli_expect(0, "./autotune inexact.c --trials 6 --log inexact.log");
    for (int i = 0; i < 2; i++) {
        cli_expect(0, "./autotune run inexact.c --log inexact.log --json%s",
                   i ? " --isa sse2 --paranoid" : "");
        assert_in_range(1e6 * cli_member(cli_json(), "of_limit")->number, 1, 1000000);
    }
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (cli_run("command -v %s", pairs[i][1])->status) continue;
        cli_expect(0,
                   "./autotune apply inexact.c --log inexact.log --dialect %s --main -o kernel.c",
                   pairs[i][0]);
        const cli_result *r =
            cli_expect(0, "%s -Wall -Wextra -Werror kernel.c -o kernel && ./kernel", pairs[i][1]);
        assert_non_null(strstr(r->out, ": right, "));
        r = cli_expect(1, "%s && %s kernel.c -o kernel && ./kernel", off, pairs[i][1]);
        assert_non_null(strstr(r->out, " elements are wrong\n"));
    }
}

/* Where a function of a long sum is taken, its data are as small as those of a search: of sums of
 * ordinary data every tanh would be 1, and no wrong term would be seen. */
static void moderate_data(void **state) {
    (void)state;
    cli_write("my.te", "args N=40, K=300\nx[N, K] : input\nw[K] : weight\nb[N] : input\n"
                       "s[n:N] = sum(k:K) x[n, k]*w[k]\n"
                       "y[n:N] = tanh(s[n] + 0.1*b[n])\n");
    cli_expect(0, "./autotune apply ./my.te --config default --dialect gnu --main -o kernel.c");
    /* w, as a search has it: a sum of 300 products has a standard deviation of 1.6 */
    cli_expect(0, "grep -q 'at_make_real(b1, 300L, -0.0350[0-9]*, 0.0350[0-9]*, &state)' kernel.c");
    if (has("gcc")) check_program("gcc");
}

/* The main of what reads itself: errors that go from step to step, also with steps beyond what a
 * float holds, and where it is kept for one step. */
static void steps(void **state) {
    (void)state;
    static const char *const texts[] = {
        "args C=5, T=200\nx[C, T] : input\n"
        "y[c:C, t:T] = x[c, t]*0.3 + (t > 0 ? 1.9*y[c, t - 1] : 0) - (t > 1 ? y[c, t - 2] : 0)\n",
        "args T=40, C=37\nx[T, C] : input\na[C] : weight\n"
        "h[t:T, c:C] = (t > 0 ? exp(a[c])*h[t - 1, c] : 0) + x[t, c]\n"
        "y[t:T] = sum(c:C) h[t, c]*x[t, c]\n",
        "args T=30, C=19\nx[C] : input\n"
        "h[t:T, c:C] = t > 0 ? max(0.5*h[t - 1, max(c - 1, 0)], h[t - 1, c] - 1) : x[c]\n"};
    static const char *const ways[][2] = {{"gnu", "gcc"}, {"tcc", "tcc"}, {"c", "gcc"}};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        cli_write("my.te", texts[t]);
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            if (!has(ways[i][1])) continue;
            cli_expect(0,
                       "./autotune apply ./my.te --config default --dialect %s --main -o kernel.c",
                       ways[i][0]);
            check_program(ways[i][1]);
        }
    }
}

/* A compiler takes what is the same for a row, as its logarithm is, out of the loop: a main that
 * judges the time by each of them as the kernel has them calls a right kernel wrong. */
static void judged_by_its_task(void **state) {
    (void)state;
    static const char judged[] = " / best > ", told[] = " GFLOP/s\", ";
    cli_write("rows.te", "args N=17, K=101\nx[N, K] : input\nm[i:N] = max(k:K) x[i, k]\n"
                         "s[i:N] = sum(k:K) exp(x[i, k] - m[i])\n"
                         "out[i:N, k:K] = x[i, k] - m[i] - log(s[i])\n");
    const char *text =
        cli_expect(0, "./autotune apply ./rows.te --config default --isa avx2 --main")->out;
    const char *at = strstr(text, judged), *task = strstr(text, told);
    assert_true(at && task);
    while (at[-1] != '(') at--;
    assert_true(strtod(at, NULL) <= strtod(task + strlen(told), NULL));
}

/* A table of places hangs on no input: it is no part of the workspace, which a call would fill
 * again, and right at the first call and at later ones. */
static void tables_are_made_once(void **state) {
    (void)state;
    if (cli_run("command -v gcc")->status != 0) skip();
    cli_write("argmin.te", "args N=4096\nx[N] : input\nleast[o:1] = min(k:N) x[k]\n"
                           "first[o:1] = min(k:N) x[k] == least[0] ? k : inf\n");
    cli_write("twice.c", "#include \"am.h\"\n"
                         "int main(void) {\n"
                         "    static float x[4096], first, space[65536];\n"
                         "    if (am_workspace_bytes(1) >= sizeof x) return 1;\n"
                         "    for (int i = 0; i < 4096; i += 585) {\n"
                         "        x[i] = -1 - i;\n"
                         "        am(x, &first, space);\n"
                         "        if (first != i) return 2;\n"
                         "    }\n"
                         "    return 0;\n"
                         "}\n");
    static const char *const dialects[] = {"gnu", "c"};
    for (int i = 0; i < 2; i++)
        cli_expect(0,
                   "./autotune apply ./argmin.te --config default --dialect %s --name am -o am.c "
                   "--force && gcc -O2 am.c twice.c -o twice -lm && ./twice",
                   dialects[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_made_once),
        cmocka_unit_test(judged_by_its_task),
        cmocka_unit_test(compilers),
        cmocka_unit_test(main_as_tuned),
        cmocka_unit_test(inexact),
        cmocka_unit_test(alone),
        cmocka_unit_test(steps),
        cmocka_unit_test(alignment),
        cmocka_unit_test(whole_log),
        cmocka_unit_test(left_out),
        cmocka_unit_test(instruction_sets),
        cmocka_unit_test(names),
        cmocka_unit_test(texts),
        cmocka_unit_test(moderate_data),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests_name("cli/apply", tests, cli_setup, cli_teardown);
}
