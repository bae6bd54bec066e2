/* A network on the command line: shown, run, and refused in one line with the documented exit code.
 */
#include "tests/cli/cli_test.h"

#include "tests/cli/product.h"
#include "tests/network/onnx_writer.h"

#include <stdlib.h>
#include <string.h>

static at_arena *arena;

/* y = Relu(x) + x, of sizes [N, 2]. */
#define MODEL                                                                                      \
    "printf '\\010\\010\\022\\000\\072\\123\\012\\017\\012\\001\\170\\022\\001\\162\\032\\001"     \
    "\\156\\042\\004\\122\\145\\154\\165\\012\\021\\012\\001\\162\\012\\001\\170\\022\\001\\171"   \
    "\\032\\001\\141\\042\\003\\101\\144\\144\\022\\001\\147\\132\\024\\012\\001\\170\\022\\017"   \
    "\\012\\015\\010\\001\\022\\011\\012\\003\\022\\001\\116\\012\\002\\010\\002\\142\\024\\012"   \
    "\\001\\171\\022\\017\\012\\015\\010\\001\\022\\011\\012\\003\\022\\001\\116\\012\\002\\010"   \
    "\\002\\102\\004\\012\\000\\020\\015' >m.onnx"
/* [[1, -1], [2, -2]] */
#define HEAD(shape)                                                                                \
    "printf '\\223NUMPY\\001\\000\\166\\000%%-117s\\n' \"{'descr': '<f4', 'fortran_order': "       \
    "False, "                                                                                      \
    "'shape': (" shape "), }\"; "
#define ARRAY                                                                                      \
    "{ " HEAD("2, 2") "printf '\\000\\000\\200\\077\\000\\000\\200\\277\\000\\000"                 \
                      "\\000\\100\\000\\000\\000\\300'; } >x.npy"

static void expect_error(int status, const char *command, const char *text) {
    const cli_result *r = cli_expect(status, "%s", command);
    const char *end = strchr(r->err, '\n');
    if (!strstr(r->err, text)) fail_msg("%s: %s", command, r->err);
    assert_true(end && !end[1]); /* one line */
}

static void expect_text(const char *out, const char *text) {
    if (!strstr(out, text)) fail_msg("%s: expected %s", out, text);
}

static void shown(void **state) {
    (void)state;
    const cli_result *r = cli_expect(0, "./autotune show m.onnx --dim N=3 --code");
    expect_text(r->out, "m.onnx: 2 nodes, ");
    expect_text(r->out, "output y: float32[3, 2]\n");
    expect_text(r->out, "r float32[3, 2] = Relu(x)\n"
                        "    x0[3, 2] : input\n"
                        "    y0[a0:3, a1:2] = max(x0[a0, a1], 0)\n"
                        "y float32[3, 2] = Add(r, x)\n"
                        "    x0[3, 2] : input\n"
                        "    x1[3, 2] : input\n"
                        "    y0[a0:3, a1:2] = x0[a0, a1] + x1[a0, a1]\n");
}

/* What is written is read again. */
static void run(void **state) {
    (void)state;
    const cli_result *r = cli_expect(0, "./autotune run m.onnx --input x=x.npy --output y=y.npy");
    expect_text(r->out, "y float32[2, 2]: 2, -1, 4, -2\n"
                        "    largest error over the root mean square: 0\n");
    r = cli_expect(0, "./autotune run m.onnx --input x=y.npy");
    expect_text(r->out, "y float32[2, 2]: 4, -1, 8, -2\n");
}

/* A whole number comes as it is, or not at all. */
static void whole_numbers(void **state) {
    (void)state;
    static const struct {
        at_net_type type;
        const char *name;
    } types[] = {{AT_NET_INT32, "int32"}, {AT_NET_UINT64, "uint64"}};
    at_error err;
    for (int k = 0; k < 2; k++) {
        onnx_graph g = {0};
        onnx_input(&g, "i", types[k].type, "1,1");
        onnx_node(&g, "Cast", "i", "y", "to=1");
        onnx_output(&g, "y");
        assert_int_equal(onnx_write(&g, 13, "whole.onnx", &err), AT_OK);
        cli_write_array("i.npy", "<i8", 1, 1, "\7\0\0\0\0\0\0\0", 8);
        expect_text(cli_expect(0, "./autotune run whole.onnx --input i=i.npy")->out, "[1, 1]: 7\n");
        cli_write_array("i.npy", "<f4", 1, 1, "\0\0\x60\x40", 4);
        expect_error(4, "./autotune run whole.onnx --input i=i.npy",
                     at_format(arena, "--input i: element 0 is 3.5; numbers of %s are accepted",
                               types[k].name));
    }
    cli_write_array("i.npy", "<i8", 1, 1, "\376\377\377\377\377\377\377\377", 8);
    expect_error(4, "./autotune run whole.onnx --input i=i.npy",
                 "--input i: element 0 is -2; numbers of uint64 are accepted");
    cli_write_array("i.npy", "<u8", 1, 1, "\377\377\377\377\377\377\377\377", 8);
    expect_error(4, "./autotune run whole.onnx --input i=i.npy",
                 "i.npy: element 0 is 18446744073709551615; up to 2^63 - 1 is read");
}

/* An array without axes is a single number, for whatever has one element. */
static void number(void **state) {
    (void)state;
    cli_expect(0, "{ " HEAD("") "printf '\\000\\000\\000\\100'; } >two.npy");
    const cli_result *r = cli_expect(0, "./autotune run m.onnx --dim 'x[1]=1' --input x=two.npy");
    expect_text(r->out, "y float32[1, 1]: 4\n");
    expect_error(4, "./autotune run m.onnx --input x=two.npy", "\"x\" has 1 where x[1] is 2");
    cli_write("one.te", "args N=8\nx[N] : input\na[1] : weight\ny[j:N] = x[j] * a[0]\n");
    cli_expect(0, "./autotune ./one.te --trials 1 --array a=two.npy");
    expect_error(2, "./autotune ./one.te --trials 1 --array x=two.npy",
                 "x with N=8 is an array of 8, the file holds a single number");
}

/* Another program's output is told beside ours: [[1, -1], [2, -2]] is 2 away from [[2, -1], [4,
 * -2]], whose root mean square is 2.5. */
static void expected(void **state) {
    (void)state;
    static const char *const wrong = "m.onnx: output \"y\", the array of --expect, is 0.8 of its "
                                     "root mean square away from the network in double; 0.001 is "
                                     "accepted\n";
    const cli_result *r =
        cli_expect(3, "./autotune run m.onnx --input x=x.npy --expect y=x.npy --output y=own.npy");
    expect_text(r->out, "    the array of --expect: largest error over the root mean square: 0.8; "
                        "one more rounding of every number moves it by ");
    expect_text(r->out, ": WRONG, the limit is 0.001\n");
    expect_text(r->err, wrong);
    r = cli_expect(3, "./autotune run m.onnx --input x=x.npy --expect y=x.npy --json");
    expect_text(r->out, "\"expected_error\": 0.8");
    expect_text(r->out, "\"expected_verdict\": \"wrong\"");
    expect_text(cli_expect(0, "./autotune run m.onnx --input x=x.npy --expect y=own.npy")->out,
                "    the array of --expect: largest error over the root mean square: 0\n");
    expect_text(cli_expect(0, "./autotune run m.onnx --input x=x.npy --json")->out,
                "\"expected_verdict\": null");
    cli_expect(0, "./autotune run m.onnx --input x=x.npy --expect y=x.npy --max-error 1");
    expect_error(2, "./autotune run m.onnx --dim N=2 --expect z=x.npy", "no output \"z\"");
    expect_error(2, "./autotune run m.onnx --dim N=3 --expect y=x.npy",
                 "the array is float32[2, 2], the output is float32[3, 2]");
    expect_error(2, "./autotune tune m.onnx --dim N=2 --expect y=x.npy", "goes with run");
    expect_error(2, "./autotune run m.onnx --dim N=2 --expect y=x.npy --expect y=own.npy",
                 "--expect y is given twice: x.npy and own.npy");
    expect_error(2, "./autotune run m.onnx --input x=x.npy --expect y=own.npy --output y=./own.npy",
                 "--output ./own.npy: own.npy is read, and would be written to");
}

/* The rest of the line of the last result behind these words, as a command for a shell. */
static char *command_behind(const char *printed, const char *words) {
    const char *begin = strstr(printed, words);
    if (!begin) fail_msg("%s: expected %s", printed, words);
    begin += strlen(words);
    return at_format(arena, "PATH=.:$PATH; %.*s", (int)strcspn(begin, "\n"), begin);
}

/* What the program says is to be run next, run as it stands: its template's text is in no file. */
static void proposed(void **state) {
    (void)state;
    static const char *const searches[] = {
        "./autotune m.onnx --dim N=64 --max-error 1 --trials 2 --timeout 0.00001 --log 'a "
        "part.log'",
        "./autotune - --trials 2 --timeout 0.00001 --log 'in.log' <product.te"};
    cli_write("product.te", product);
    for (size_t i = 0; i < sizeof searches / sizeof *searches; i++) {
        const char *command = command_behind(cli_expect(3, "%s", searches[i])->err, "once more: ");
        for (int again = 0; again < 2; again++) {
            const cli_result *r = cli_expect(3, "%s", command);
            expect_text(r->err, "autotune: its texts are in ");
            command =
                command_behind(cli_expect(0, "tail -n 1 *-*/result.txt; rm -r *-*/")->out, "");
        }
    }
    static const char *const tunes[] = {"./autotune - --trials 2 --log next.log <product.te",
                                        "./autotune ./product.te --fuse relu --trials 2",
                                        "./autotune m.onnx --dim N=64 --trials 2"};
    for (size_t i = 0; i < sizeof tunes / sizeof *tunes; i++)
        cli_expect(0, "%s", command_behind(cli_expect(0, "%s", tunes[i])->out, "\nNext: "));
    cli_expect(0, "cp m.onnx \"it's.onnx\"");
    const cli_result *r = cli_expect(2, "./autotune show \"it's.onnx\" --dim N=2 --why");
    expect_text(cli_expect(0, "%s", command_behind(r->err, "goes with run: "))->out, "y float32[2");
}

/* Beyond float16: an infinity, where the network in double has a number. */
static void overflow(void **state) {
    (void)state;
    onnx_graph g = {0};
    at_error err;
    onnx_input(&g, "x", AT_NET_FLOAT, "2,2");
    onnx_constant(&g, "k", AT_NET_FLOAT, "", "1e9", false);
    onnx_node(&g, "Mul", "x k", "m", "");
    onnx_node(&g, "Cast", "m", "y", "to=10");
    onnx_output(&g, "y");
    assert_int_equal(onnx_write(&g, 13, "half.onnx", &err), AT_OK);
    expect_error(3, "./autotune run half.onnx --input x=x.npy",
                 "output \"y\" is not infinite, or no number, at the same places as the network in "
                 "double; float16 ends at 65504");
    cli_expect(3, "./autotune half.onnx --trials 1 --log half.log");
    cli_expect(0, "grep '^#network .*\"error\": null' half.log");
}

/* A name is one line, whatever is in it, and no escape. */
static void named(void **state) {
    (void)state;
    onnx_graph g = {0};
    at_error err;
    onnx_input(&g, "x\n", AT_NET_FLOAT, "2,2");
    onnx_node(&g, "Relu", "x\n", "y\033\nz:", "");
    onnx_output(&g, "y\033\nz:");
    at_text bytes = onnx_model(&g, 13);
    assert_int_equal(at_write_file("lines.onnx", at_text_str(&bytes), bytes.len, &err), AT_OK);
    at_text_free(&bytes);
    const char *out = cli_expect(0, "./autotune show lines.onnx")->out;
    expect_text(out, "\ninput  x\\n: float32[2, 2]\noutput y\\x1b\\nz:: float32[2, 2]\n");
    expect_text(cli_expect(0, "./autotune run lines.onnx")->out, "y\\x1b\\nz: float32[2, 2]: ");
    out =
        cli_expect(0, "./autotune lines.onnx --until \"$(printf 'y\\033\\nz:')\" --trials 1")->out;
    expect_text(out, "\nNext: autotune apply lines.onnx --until 'y\\x1b\\nz:' --log ");
}

/* Before anything is computed: with a fault in it, the run would be told of instead. */
static void outputs_refused(void **state) {
    (void)state;
    onnx_graph g = {0};
    at_error err;
    onnx_input(&g, "x", AT_NET_FLOAT, "2,2");
    onnx_input(&g, "i", AT_NET_INT64, "1");
    onnx_input(&g, "j", AT_NET_INT64, "1,1");
    onnx_node(&g, "Gather", "x i", "y", "axis=0");
    onnx_node(&g, "Gather", "y j", "z", "axis=1");
    onnx_output(&g, "y");
    onnx_output(&g, "z");
    assert_int_equal(onnx_write(&g, 13, "two.onnx", &err), AT_OK);
    cli_expect(0, "{ " HEAD("1") "printf '\\000\\000\\240\\100'; } >five.npy");
    cli_expect(0, "{ " HEAD("1, 1") "printf '\\000\\000\\240\\100'; } >line.npy");
#define FAULTY "./autotune run two.onnx --input i=five.npy "
    expect_text(cli_expect(4, FAULTY)->err,
                "autotune: two.onnx: node \"Gather\" (Gather): i[0] is 5; -2 to 1 are accepted\n");
    expect_text(
        cli_expect(4, "./autotune run two.onnx --input j=line.npy")->err,
        "autotune: two.onnx: node \"Gather\" (Gather): j[0, 0] is 5; -2 to 1 are accepted\n");
    expect_error(2, FAULTY "--output y=two.onnx", "--output two.onnx: two.onnx is read, and would");
    expect_error(2, FAULTY "--output y=o.npy --output z=./o.npy",
                 "--output y=o.npy and --output z=./o.npy are one file; name another");
    expect_error(2, FAULTY "--output y=o.txt",
                 "--output o.txt: a NumPy array is written: name a FILE.npy");
    expect_error(2, FAULTY "--output w=o.npy", "no output \"w\"; there are y, z");
    cli_expect(0, "./autotune two.onnx --trials 2 --log two.log && cp two.log kept.log && "
                  "ln -s two.log log.npy && ln -s o.npy link.npy");
    expect_error(2, "./autotune run two.onnx --log two.log --output y=log.npy --force",
                 "--output log.npy: two.log is read, and would be written to");
    expect_error(5, FAULTY "--output y=o.npy --output z=link.npy",
                 "link.npy: it is a symbolic link to a file that is not there");
    expect_error(2, FAULTY "--output y=two.log", "two.log is there already and is no NumPy array");
    cli_expect(0, "test ! -e o.npy && cmp two.log kept.log");
    expect_error(2, "./autotune show two.onnx --code -o two.onnx",
                 "--output: show writes a config");
}

/* The log that a search would go on with tells of its parts. */
static void estimated(void **state) {
    (void)state;
#define ESTIMATE "./autotune m.onnx --dim N=3 --trials 0"
    expect_text(cli_expect(0, "rm -f m.log; " ESTIMATE)->out,
                "\n0 of 1 kinds of parts are in a log");
    cli_expect(0, "./autotune m.onnx --dim N=3 --trials 2");
    char *out = strdup(cli_expect(0, ESTIMATE)->out);
    expect_text(out, "\n1 of 1 kinds of parts are in a log");
    expect_text(out, "autotune apply m.onnx --dim N=3 --log m.log -o net.c");
    assert_string_equal(cli_expect(0, ESTIMATE " --log m.log")->out, out);
    free(out);
}

static void refused(void **state) {
    (void)state;
    expect_error(2, "./autotune show m.onnx --dim M=2",
                 "--dim M: INPUT[AXIS] and the names of sizes are accepted: N, x[1]; size of "
                 "inputs is not given: N");
    expect_error(2, "./autotune work ''", "work \"\": PATH names a directory");
    expect_error(2, "./autotune show m.onnx", "size of inputs is not given: N; as in --dim N=1");
    expect_error(2, "./autotune show m.onnx --dim M=2", "not given: N");
    expect_error(2, "./autotune show m.onnx --dim N=2,M=2", "--dim M");
    expect_error(2, "./autotune show m.onnx N=2", "unexpected word \"N=2\": write --dim N=2\n");
    expect_error(2, "./autotune show m.onnx --dim N=2,M=2", "names of sizes are accepted: N, x[1]");
    expect_error(2, "./autotune show m.onnx --dim N=x", "a number from 1");
    expect_error(2, "./autotune show m.onnx --dim N=2,N=3", "--dim N=2,N=3: \"N\" is given twice");
    expect_error(2, "./autotune run m.onnx --input x=x.npy --input x=y.npy",
                 "--input x is given twice: x.npy and y.npy");
    expect_error(2, "./autotune show m.onnx --dim N=1,4 --dim 'x[1]=2'",
                 "--dim is given twice; write --dim N=1,4,x[1]=2");
    expect_error(2, "./autotune run m.onnx --input x=m.onnx",
                 "--input x: m.onnx: the name of an array's file ends in .npy, .npz or .mtx");
    expect_error(4, "./autotune run m.onnx --input x=none.npy", "--input x: cannot read none.npy");
    expect_error(4, "./autotune show m.onnx --dim N=1099511627776", "more than 2^32 elements");
    expect_error(4, "./autotune show none.onnx", "none.onnx: No such file");
    expect_error(4, "head -c 60 m.onnx >cut.onnx; ./autotune show cut.onnx", "was cut off");
    expect_error(4, ": >empty.onnx; ./autotune show empty.onnx", "is empty");
    expect_error(4, "mkdir -p f.onnx; ./autotune show f.onnx", "f.onnx");
    expect_error(4, "tr R Q <m.onnx >q.onnx; ./autotune show q.onnx --dim N=1",
                 "needs what is not there yet: Qelu (node \"n\")");
    expect_error(4, "./autotune run m.onnx --dim N=3 --input x=x.npy", "\"x\" has 2 where N is 3");
    expect_error(2, "./autotune run m.onnx --input x=x.npy --output z=z.npy", "no output \"z\"");
    expect_error(2, "./autotune run m.onnx --input x=x.npy --output z.npy",
                 "--output z.npy: of a network NAME=FILE is expected");
    expect_error(2, "echo text >t.npy; ./autotune run m.onnx --input x=x.npy --output y=t.npy",
                 "t.npy");
    expect_error(2, "./autotune show dense --dim N=2", "--dim goes with a network");
    expect_error(2, "./autotune run dense --config default --input x=x.npy",
                 "--input goes with a network");
}

static int setup(void **state) {
    arena = at_arena_new();
    if (cli_setup(state)) return -1;
    cli_expect(0, MODEL);
    cli_expect(0, ARRAY);
    return 0;
}

static int teardown(void **state) {
    at_arena_free(arena);
    return cli_teardown(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shown),           cmocka_unit_test(run),
        cmocka_unit_test(number),          cmocka_unit_test(expected),
        cmocka_unit_test(proposed),        cmocka_unit_test(overflow),
        cmocka_unit_test(outputs_refused), cmocka_unit_test(estimated),
        cmocka_unit_test(refused),         cmocka_unit_test(named),
        cmocka_unit_test(whole_numbers)};
    return cmocka_run_group_tests_name("cli/network", tests, setup, teardown);
}
