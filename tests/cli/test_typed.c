/* Templates whose types of elements are arguments, stages that requantise, and numbers of a few
 * bits that stay in the entries that they lie in. */
#include "tests/cli/cli_test.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

static char sources[PATH_MAX]; /* the tests run in a folder of their own */

/* The types of the data, the weight and the output as an argument; the rules make the loops, also
 * those that read a padded picture by a list of places. */
static void types_as_arguments(void **state) {
    (void)state;
    static const char *const tasks[][2] = {
        {"dense", "M=13,N=48,K=36,types=u8s8u8"},
        {"dense+(max(x,100))", "M=13,N=48,K=36,bias=1,types=s8s8u8"},
        {"dense", "M=13,N=48,K=37,types=u8s8f32"},
        {"conv2d_nhwc", "H=7,W=6,CI=8,CO=32,types=s8s8s8,strides=2"},
        {"conv2d_nhwc", "H=7,W=6,CI=4,CO=32,KH=1,KW=1,padding=0,types=u8s8s32"},
        {"conv2d_nhwc", "H=7,W=6,CI=8,CO=32,types=f16f16f16"},
        {"conv2d_nhwc --sketch tile_f+pointers_data", "H=7,W=6,CI=8,CO=32,types=bf16bf16f32"},
        {"dense_int8+bias+relu+u8", "M=13,N=32,K=36"},
        {"conv2d_NCHWc_int8+s8", "IC=8,H=7,W=6,OC=32"},
        {"depthwise_conv2d_NCHWc", "IC=16,H=9,W=7,types=u8s8u8"},
        {"depthwise_conv2d_NCHWc", "IC=16,H=9,W=7,M=2,types=s8s8s32,strides=2"}};
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        char task[200];
        snprintf(task, sizeof task, "'%s", tasks[i][0]);
        const size_t n = strcspn(task, " ");
        memmove(task + n + 1, task + n, strlen(task + n) + 1);
        task[n] = '\'';
        const cli_result *r = cli_expect(
            0, "./autotune %s --args %s --trials 4 --tuner random --log t.log", task, tasks[i][1]);
        if (strstr(r->err, "failed")) fail_msg("%s", r->err);
        if (cli_run("command -v gcc")->status || i % 3) continue;
        cli_expect(0, "./autotune apply --log t.log --dialect c --main --force -o k.c");
        cli_expect(0, "gcc -O1 -ffp-contract=off -o k k.c -lm && ./k && rm t.log");
    }
    const cli_result *r = cli_run("./autotune dense --args types=u8s8s16 --trials 1");
    assert_int_equal(r->status, 2);
    assert_non_null(strstr(r->err, "--args: types = \"u8s8s16\"; it is \"\" or \"u8s8s32\" or "));
    r = cli_run("./autotune dense --args types=u8s8s32,wb=16 --trials 1");
    assert_non_null(strstr(r->err, "weights of other types than float32 are not packed: wb is 0"));
}

/* Computations of bytes and of floats of 16 bits, which random points of sketches leave out. */
static void texts_of_types(void **state) {
    (void)state;
    static const char *const texts[] = {"parts_of_bytes.te --args N=37",
                                        "parts_of_bytes.te --args N=203",
                                        "padded_bytes.te",
                                        "looked_up.te",
                                        "looked_up.te --args N=64,M=8",
                                        "placed_bytes.te",
                                        "placed_bytes.te --args N=37,B=300,C=1",
                                        "padded_halves.te",
                                        "turned_halves.te",
                                        "turned_halves.te --args M=64,N=96,C=32",
                                        "turned_halves.te --args M=133,N=75,C=11",
                                        "integer_steps.te",
                                        "integer_steps.te --args T=5,N=37,H=3,W=19",
                                        "integer_cycles.te"};
    static const char *const sets[] = {"", "--isa avx2", "--isa sse2", "--isa scalar"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
            const cli_result *r =
                cli_expect(0,
                           "./autotune %s/tests/te/%s --trials 6 --tuner random --paranoid %s "
                           "--log x%zu%zu.log",
                           sources, texts[i], sets[k], i, k);
            if (strstr(r->err, "failed")) fail_msg("%s %s: %s", texts[i], sets[k], r->err);
        }
}

/* Elements that a list says one by one go four to a turn, and pointers count elements of the size
 * that their tensor has, whatever the one before had. */
static void looked_up(void **state) {
    (void)state;
    cli_write("looked_up.te", "args N=64\n"
                              "w[256] : input s16\n"
                              "b[256] : input u8\n"
                              "x[N] : index\n"
                              "shorts[n:N] : output s16 = w[x[n]]\n"
                              "bytes[n:N] : output u8 = b[x[n]]\n");
    const cli_result *r = cli_expect(0, "./autotune show ./looked_up.te --isa avx2 --dump tile");
    for (const char *at = r->out, *of[] = {"w", "b"}, **k = of; k < of + 2; k++)
        for (int i = 0; i < 4; i++) {
            char want[40];
            snprintf(want, sizeof want, "= %s.1 + 1 * [x.2+%d]", *k, i);
            if (!(at = strstr(at, want))) fail_msg("%s: %s", want, r->out);
        }
    assert_null(strstr(r->out, "[x.2+4]"));
    cli_expect(0, "./autotune run ./looked_up.te --config default --isa avx2");
}

/* Numbers of a few bits stay in the entries that they lie in, where few rows need them. */
static void entries_unpacked(void **state) {
    (void)state;
    static const char *const tasks[][2] = {{"int4_dense", "M=1,N=70,K=96"},
                                           {"int4_dense", "M=3,N=37,K=64"},
                                           {"packed_dense", "M=2,N=40,K=36"}};
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        const cli_result *r = cli_expect(0, "./autotune derive %s/examples/te/%s.te --args %s",
                                         sources, tasks[i][0], tasks[i][1]);
        assert_non_null(strstr(r->out, "@w_entries_packed"));
        r = cli_expect(0,
                       "./autotune %s/examples/te/%s.te --args %s --trials 4 --tuner random "
                       "--isa avx2 --log n.log",
                       sources, tasks[i][0], tasks[i][1]);
        if (strstr(r->err, "failed")) fail_msg("%s", r->err);
        for (int gnu = 0; gnu < (i ? 0 : 2) && !cli_run("command -v gcc")->status; gnu++) {
            cli_expect(0, "./autotune apply --log n.log --dialect %s --main --force -o k.c",
                       gnu ? "gnu" : "c");
            cli_expect(0, "gcc -O1 -o k k.c -lm && ./k");
            if (i) continue;
            /* Each number of an entry counts: one that is taken from its neighbour's place. */
            for (int at = 4; at < 32; at += 12) {
                r = cli_expect(1, "sed 's/>> %d)/>> %d)/' k.c > w.c && gcc -o w w.c -lm && ./w", at,
                               at < 28 ? at + 4 : 24);
                assert_non_null(strstr(r->out, "elements are wrong"));
            }
        }
        cli_run("rm n.log");
    }
}

/* C of a computation is called by a main that has other data than a search, and says whether
 * results are right. */
static void called(const char *text, const char *caller) {
    static const char *const sets[] = {"", "--isa sse2"}; /* "": that of this CPU */
    if (cli_run("command -v gcc")->status) skip();
    cli_write("large.te", text);
    cli_write("caller.c", caller);
    for (int set = 0; set < 2; set++) {
        const cli_result *r = cli_expect(
            0, "./autotune ./large.te --trials 2 --tuner random %s --log l.log", sets[set]);
        if (strstr(r->err, "failed")) fail_msg("%s", r->err);
        for (int gnu = 0; gnu < 2; gnu++) {
            cli_expect(0, "./autotune apply --log l.log --dialect %s --force -o l.c",
                       gnu ? "gnu" : "c");
            cli_expect(0, "cat caller.c >> l.c && gcc -O1 -o l l.c -lm && ./l");
        }
        cli_run("rm l.log");
    }
}

#define QUOTIENT "static long quotient(long x, long y) { return (x - ((x % y) + y) % y)/y; }\n"

/* Index arithmetic that is stored as integers, or of which a rest is taken, with entries that no
 * float is. The data of the search have small ones. */
static void large_entries(void **state) {
    (void)state;
    static const char text[] = "args N=37\nv[N] : index\nw[N] : index\n"
                               "a[n:N] : s32 = v[n] + 1\n"
                               "b[n:N] : s32 = w[n] - 3*n\n"
                               "c[n:N] : s32 = (v[n] + n)/7\n"
                               "d[n:N] : s32 = (n - w[n])%1000\n"
                               "e[n:N] : s32 = n%2 == 0 ? v[n] - 1 : max(-w[n], v[n] + 3)\n"
                               "f[n:N] = (v[n] + n)%16\n";
    static const char caller[] = QUOTIENT
        "int main(void) {\n"
        "    int v[37], w[37], a[37], b[37], c[37], d[37], e[37], wrong = 0;\n"
        "    static float f[37], workspace[1 << 18];\n"
        "    for (int n = 0; n < 37; n++)\n"
        "        v[n] = (n % 3 - 1)*((1 << 30) - 5 - n*n), w[n] = (n % 2*2 - 1)*((1 << 24) + 977*n "
        "+ 1);\n"
        "    large_37(v, w, a, b, c, d, e, f, workspace);\n"
        "    for (int n = 0; n < 37; n++)\n"
        "        wrong += a[n] != v[n] + 1 || b[n] != w[n] - 3*n || c[n] != quotient(v[n] + n, 7) "
        "||\n"
        "                 d[n] != n - w[n] - 1000*quotient(n - w[n], 1000) ||\n"
        "                 e[n] != (n % 2 == 0 ? v[n] - 1 : -w[n] > v[n] + 3 ? -w[n] : v[n] + 3) "
        "||\n"
        "                 f[n] != v[n] + n - 16*quotient(v[n] + n, 16);\n"
        "    return wrong > 0;\n"
        "}\n";
    called(text, caller);
}

/* Divisors near 2^24 and beyond, of entries on either side of their multiples; products of axes and
 * numbers that no float is. */
static void large_quotients(void **state) {
    (void)state;
    static const char text[] = "args N=64\nv[N] : index\n"
                               "a[n:N] : s32 = (v[n] + n)/16777216\n"
                               "b[n:N] : s32 = (v[n] + n)%16777259\n"
                               "c[n:N] : s32 = (v[n] - n)/268435456\n"
                               "d[n:N] : s32 = (v[n] - n)%1073741824\n"
                               "e[n:N] : s32 = (n*n + 25000000)/7\n"
                               "f[n:N] : s32 = (n + 5000)*(n + 6000)%1000\n"
                               "g[n:N] : s32 = min(v[n] + n, 16777217) - n*n\n"
                               "h[n:N] : s32 = max(v[n], 3) - (v[n]/3 + n)%5\n";
    static const char caller[] = QUOTIENT
        "#define REST(x, y) ((x) - (y)*quotient(x, y))\n"
        "int main(void) {\n"
        "    static const int of[] = {16777216, 16777259, 268435456, 1073741824};\n"
        "    int v[64], a[64], b[64], c[64], d[64], e[64], f[64], g[64], h[64], wrong = 0;\n"
        "    static float workspace[1 << 18];\n"
        "    for (int k = 0; k < 4; k++)\n"
        "        for (int times = -(1 << 30)/of[k]; times <= (1 << 30)/of[k]; times++) {\n"
        "            for (int n = 0; n < 64; n++)\n"
        "                v[n] = times*of[k] + (times > 0 ? -1 : 1)*(n/2) + (n % 2 ? n : -n);\n"
        "            large_64(v, a, b, c, d, e, f, g, h, workspace);\n"
        "            for (int n = 0; n < 64; n++)\n"
        "                wrong += a[n] != quotient(v[n] + n, 16777216) ||\n"
        "                         b[n] != REST(v[n] + n, 16777259) ||\n"
        "                         c[n] != quotient(v[n] - n, 268435456) ||\n"
        "                         d[n] != REST((long)v[n] - n, 1073741824) ||\n"
        "                         e[n] != (n*n + 25000000)/7 ||\n"
        "                         f[n] != (n + 5000)*(n + 6000)%1000 ||\n"
        "                         g[n] != (v[n] + n < 16777217 ? v[n] + n : 16777217) - n*n ||\n"
        "                         h[n] != (v[n] > 3 ? v[n] : 3) - REST(quotient(v[n], 3) + n, 5);\n"
        "        }\n"
        "    return wrong > 0;\n"
        "}\n";
    called(text, caller);
}

/* Words of packed numbers use all of their bits, so that the user's may be negative; the numbers of
 * these are 0 to 7, eight less being meant. Entries that are read as they lie begin with 0. */
static void negative_words(void **state) {
    (void)state;
    const int32_t word = (int32_t)0xFEDCBA98u;
    const float one = 1, half = 0.5f;
    cli_write_array("w.npy", "<i4", 8, 8, (const char *)&word, 4);
    cli_write_array("scale.npy", "<f4", 8, 2, (const char *)&half, 4);
    cli_write_array("x.npy", "<f4", 1, 64, (const char *)&one, 4);
    static const char arrays[] = "--array w=w.npy --array x=x.npy --array scale=scale.npy";
    const cli_result *r = cli_expect(
        0, "./autotune %s/examples/te/int4_dense.te --args N=8,K=64 --trials 2 --log n.log %s",
        sources, arrays);
    if (strstr(r->err, "failed")) fail_msg("%s", r->err);
    cli_expect(0, "./autotune run %s/examples/te/int4_dense.te --args N=8,K=64 --log n.log %s",
               sources, arrays);
    cli_write("rows.te", "args N=8\nt[9, 4] : input\nw[N, 8] : index\n"
                         "o[n:N, k:4] = t[max(w[n, 0], 0), k]\n");
    r = cli_expect(4, "./autotune ./rows.te --trials 1 --array w=w.npy");
    assert_non_null(strstr(r->err, "element 0 is -19088744; entries are from 0 to 2^31 - 1"));
}

/* Kernels in one file of which the first has floats alone, and of one shape with other types. */
static void types_in_one_file(void **state) {
    (void)state;
    static const char *const args[] = {"M=4,N=32,K=16", "M=8,N=32,K=16,types=u8s8u8",
                                       "M=4,N=32,K=16,types=u8s8s32",
                                       "M=8,N=32,K=16,types=f16f16f16"};
    if (cli_run("command -v gcc")->status) skip();
    for (int i = 0; i < 4; i++)
        cli_expect(0, "./autotune dense --args %s --trials 2 --tuner random --isa sse2 --log f.log",
                   args[i]);
    for (int turned = 0; turned < 2; turned++) {
        const cli_result *r =
            cli_expect(0, "./autotune apply --log f.log --dialect gnu --main --force -o f.c");
        assert_null(strstr(r->err, "left out"));
        r = cli_expect(0, "gcc -O1 -Werror -o f f.c -lm && ./f");
        int right = 0;
        for (const char *at = r->out; (at = strstr(at, ": right")); at++) right++;
        assert_int_equal(right, 4);
        cli_run("tac f.log > g.log && mv g.log f.log");
    }
    cli_run("rm f.log");
}

/* Vectors of bytes side by side are cut together. What is no number, or infinite, is cut as
 * well; only the lower bounds of the types need no operation. */
static void cut_together(void **state) {
    (void)state;
    static const char *const sets[][2] = {
        {"sse2", "sse2"}, {"avx2", "fma"}, {"avx512vnni", "avx512_vnni"}};
    const bool gcc = !cli_run("command -v gcc")->status;
    cli_write("c.te", "args M=3, N=64\nx[M, N] : input u8\na[M, N] : input s32\n"
                      "p[y:M, n:N] : u8 = round((x[y, n] - 128)*9e37 - (x[y, n] - 128)*8e37)\n"
                      "q[y:M, n:N] : s8 = round((x[y, n] - 128)*9e37 - (x[y, n] - 128)*8e37)\n"
                      "r[y:M, n:N] : u8 = a[y, n]\n"
                      "s[y:M, n:N] : s8 = a[y, n]\n"
                      "t[y:M, n:N] : bool = a[y, n]\n"
                      "u[y:M, n:N] : bool = round((x[y, n] - 128)*9e37 - (x[y, n] - 128)*8e37)\n");
    for (int k = 0; k < 3; k++) {
        const cli_result *r =
            cli_expect(0, "./autotune show ./c.te --isa %s --dump=tile", sets[k][0]);
        assert_int_equal(strstr(r->out, " cut ") != NULL, k > 0);
        assert_int_equal(strstr(r->out, "max r") != NULL, !k);
        if (cli_run("grep -qw %s /proc/cpuinfo", sets[k][1])->status) continue;
        for (int n = 64; n <= 112; n += 24) {
            cli_expect(0, "./autotune run ./c.te --args N=%d --isa %s", n, sets[k][0]);
            if (gcc)
                cli_expect(0, "./autotune run ./c.te --args N=%d --isa %s --compiler gcc", n,
                           sets[k][0]);
        }
    }
}

/* Divisors that no integer of 32 bits is, of entries of all 32 bits and of small ones. */
static void larger_divisors(void **state) {
    (void)state;
    static const char text[] = "args N=64\nv[N] : index\nw[N] : index\n"
                               "a[n:N] : s32 = (n%2 == 0 ? v[n] : v[n]/16)/2147483648\n"
                               "b[n:N] : s32 = (n%2 == 0 ? v[n] : v[n]/16)/4294967296\n"
                               "c[n:N] : s32 = (v[n]/16 - n)/3000000000\n"
                               "d[n:N] : s32 = (w[n] - n)%2147483648\n"
                               "e[n:N] = (w[n] - n)%4294967296\n";
    static const char caller[] = QUOTIENT
        "int main(void) {\n"
        "    int v[64], w[64], a[64], b[64], c[64], d[64], wrong = 0;\n"
        "    static float e[64], workspace[1 << 18];\n"
        "    for (int n = 0; n < 64; n++)\n"
        "        v[n] = n % 4 < 2 ? 2147483647 - n : n - 2147483647, w[n] = 7*n;\n"
        "    w[0] = 1 << 30, w[1] = 1 - (1 << 30);\n"
        "    large_64(v, w, a, b, c, d, e, workspace);\n"
        "    for (int n = 0; n < 64; n++) {\n"
        "        const long x = n % 2 ? quotient(v[n], 16) : v[n], y = w[n] - n;\n"
        "        wrong += a[n] != quotient(x, 2147483648) || b[n] != quotient(x, 4294967296) ||\n"
        "                 c[n] != quotient(quotient(v[n], 16) - n, 3000000000) ||\n"
        "                 d[n] != (y < 0 ? y + 2147483648 : y) ||\n"
        "                 e[n] != (float)(y < 0 ? y + 4294967296 : y);\n"
        "    }\n"
        "    return wrong > 0;\n"
        "}\n";
    called(text, caller);
}

/* The rest that such a divisor leaves of a number near its negative is small, and exact. */
static void small_rests(void **state) {
    (void)state;
    static const char text[] = "args N=16\nw[N] : index\n"
                               "a[n:N] = (w[n] - n)%2147483656\n"
                               "b[n:N] = (w[n] - n)%2147483904\n"
                               "c[n:N] = (w[n] - n)%2147483648\n"
                               "d[n:N] = (w[n] - n)%6700417001\n";
    static const char caller[] =
        "static float rest(long x, long by) { return (float)(x < 0 ? x + by : x); }\n"
        "int main(void) {\n"
        "    int w[16], wrong = 0;\n"
        "    static float a[16], b[16], c[16], d[16], workspace[1 << 18];\n"
        "    for (int n = 0; n < 16; n++) w[n] = n < 8 ? 3 * n - 2147483600 : n % 3 * 16 * n;\n"
        "    large_16(w, a, b, c, d, workspace);\n"
        "    for (int n = 0; n < 16; n++) {\n"
        "        const long x = (long)w[n] - n;\n"
        "        const float e = d[n] - rest(x, 6700417001);\n"
        "        wrong += a[n] != rest(x, 2147483656) || b[n] != rest(x, 2147483904) ||\n"
        "                 c[n] != rest(x, 2147483648) || e > 512 || e < -512;\n"
        "    }\n"
        "    return wrong > 0;\n"
        "}\n";
    called(text, caller);
}

int main(void) {
    assert_non_null(getcwd(sources, sizeof sources));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_as_arguments), cmocka_unit_test(entries_unpacked),
        cmocka_unit_test(large_entries),      cmocka_unit_test(large_quotients),
        cmocka_unit_test(larger_divisors),    cmocka_unit_test(small_rests),
        cmocka_unit_test(negative_words),     cmocka_unit_test(types_in_one_file),
        cmocka_unit_test(cut_together),       cmocka_unit_test(looked_up),
        cmocka_unit_test(texts_of_types)};
    return cmocka_run_group_tests_name("cli/typed", tests, cli_setup, cli_teardown);
}
