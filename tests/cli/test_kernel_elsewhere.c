/* Kernels of others on workers elsewhere: they are confined there, and what their files take in
 * travels. */
#include "tests/cli/cli_test.h"

#include <stdio.h>
#include <string.h>

#include "tests/cli/written_kernel.h"

static const char asks[] = "    (void)0;\n}\nextern int creat(const char *, unsigned);\n"
                           "#if TILE == 4\n__attribute__((constructor))\n#endif\n"
                           "void ask(void) { creat(\"made\", 0600);\n";

/* Workers elsewhere are confined like ours, before a constructor runs. */
static void elsewhere(void **state) {
    (void)state;
    write_kernel(" * knob TILE = 2 4\n", asks);
    cli_expect(0, "rm -f mm.log far.log");
    cli_expect(0, "./autotune mm.c --trials 2 --tuner grid");
    if (!cli_run("grep -q 'may do nothing but compute' mm.log")->status) {
        cli_expect(0, "./autotune mm.c --trials 2 --tuner grid --log far.log --on local:1");
        cli_expect(0, "grep -q 'called [a-z]*, and may do nothing but compute' far.log");
    } else print_message("this system confines no process\n");
    cli_expect(1, "test -e made");
}

/* What a kernel takes in from below its folder travels; nothing stays behind. */
static void headers_travel(void **state) {
    (void)state;
    cli_expect(0, "rm -rf mm.log far.log sub tmp; mkdir -p sub/deep tmp");
    cli_write("sub/one.h", "#include \"deep/two.h\"\n");
    cli_write("sub/deep/two.h", "#include \"../three.h\"\n");
    cli_write("sub/three.h", "#define PLUS 0\n");
    cli_write("more.c", "float more(float x) { return x; }\n");
    write_kernel(" * knob TILE = 2 4\n * flags -Isub more.c -DX={TILE}\n",
                 "    extern float more(float); c[0] = more(c[0]) + PLUS;\n");
    cli_expect(0, "sed -i 's/^void matmul/#include \"one.h\"\\nvoid matmul/' mm.c");
    cli_expect(0, "TMPDIR=$PWD/tmp ./autotune mm.c --trials 2 --tuner grid --log far.log --on "
                  "local:1");
    cli_expect(0, "grep -c '\"check\": \"exact\"' far.log | grep -qx 2");
    cli_expect(0, "test -z \"$(ls tmp)\"");
    /* The same task as here, where its folder is another one. */
    cli_expect(0, "./autotune mm.c --trials 2 --tuner grid --log far.log --json");
    assert_int_equal(cli_number(cli_json(), "from_log"), 2);
    cli_expect(0,
               "mkdir -p up/down && mv mm.c more.c up/down && mv sub/one.h up && cp -r sub/* up");
    cli_expect(0, "sed -i 's/-Isub/-I.. -I../' up/down/mm.c");
    expect_error(2, "up/down/mm.c --trials 2 --on local:1", "one.h, which is not below its folder");
    cli_expect(0, "rm -rf up sub");
}

/* So do files of data that its head names; what an agent that was killed left goes with the next.
 */
static void data_travel(void **state) {
    (void)state;
    static float values[64];
    for (int i = 0; i < 64; i++) values[i] = (float)i;
    cli_expect(0, "rm -rf mm.log far.log sub tmp; mkdir -p sub tmp/autotune-agent-killed/sub "
                  "tmp/autotune-agent-young; touch -d '1 hour ago' tmp/autotune-agent-killed; "
                  "chmod 700 tmp/*");
    char header[128];
    int padding = 118 - snprintf(header, sizeof header,
                                 "{'descr': '<f4', 'fortran_order': False, "
                                 "'shape': (8, 8), }");
    FILE *f = fopen("sub/a.npy", "wb");
    assert_non_null(f);
    fprintf(f, "%cNUMPY\1%cv%c%s%*s", 0x93, 0, 0, header, padding, "\n");
    assert_int_equal(fwrite(values, sizeof *values, 64, f), 64);
    assert_int_equal(fclose(f), 0);
    write_kernel(" * knob TILE = 2 4\n * data a = \"sub/a.npy\"\n", "");
    cli_expect(0,
               "TMPDIR=$PWD/tmp ./autotune mm.c --args N=8,M=8,K=8 --trials 2 --tuner grid --log "
               "far.log --on local:1");
    cli_expect(0, "ls tmp | grep -qx autotune-agent-young");
    cli_expect(1, "ls tmp | grep -v young");
    cli_expect(0,
               "./autotune mm.c --args N=8,M=8,K=8 --trials 2 --tuner grid --log far.log --json");
    assert_int_equal(cli_number(cli_json(), "from_log"), 2);
    write_scan("", "");
    expect_error(2, "f.c --trials 1 --on local:1 --expect y=sub/a.npy",
                 "--expect: with --on a file is not sent to the worker");
    cli_expect(0, "rm sub/a.npy");
    expect_error(4, "mm.c --args N=8,M=8,K=8 --trials 1 --on local:1", "mm.c: data a: cannot read");
    expect_error(4, "mm.c --args N=8,M=8,K=8 --trials 1", "mm.c: data a: cannot read");
    cli_expect(0, "rm -rf tmp sub far.log");
}

/* Who cannot compile it says so. */
static void no_compiler_there(void **state) {
    (void)state;
    cli_write("cc", "#!/bin/sh\nexec gcc \"$@\"\n");
    cli_expect(0, "chmod +x cc; rm -f far.log");
    write_kernel(" * knob TILE = 2 4\n * compiler ./cc\n", "");
    cli_expect(0, "./autotune mm.c --trials 2 --tuner grid --log here.log");
    const cli_result *r =
        cli_run("./autotune mm.c --trials 2 --tuner grid --log far.log --on local:1");
    assert_true(r->status != 0);
    assert_non_null(strstr(r->err, "/cc is not found on this machine"));
    cli_expect(1, "test -e far.log && grep -q '^{' far.log");
    /* One that the command line names goes along. */
    cli_expect(0,
               "./autotune mm.c --trials 2 --tuner grid --log far.log --on local:1 --compiler gcc");
    cli_expect(0, "grep -c '\"compiler\": \"gcc\"' far.log | grep -qx 2");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_travel),
        cmocka_unit_test(data_travel),
        cmocka_unit_test(no_compiler_there),
        cmocka_unit_test(elsewhere),
    };
    return cmocka_run_group_tests_name("cli/kernel_elsewhere", tests, cli_setup, cli_teardown);
}
