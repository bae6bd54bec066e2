/* tests/cli/test_hostile.c: logs whose every text holds everything that a terminal obeys: whatever
 * command reads them, none of it is printed as it is, and no line is forged. */
#include "tests/cli/cli_test.h"

#include <stdlib.h>
#include <string.h>

#define NAME "conv2d_3x3_gemm"
#define FORGED "autotune: all is well"

/* ---- what must not be seen ------------------------------------------------------------------- */

/* Written here once more, apart from the program's own table. */
static bool is_forbidden(unsigned c) {
    return c < ' ' || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

/* The character at p, 0 where there is none; *n bytes. */
static unsigned character(const unsigned char *p, int *n) {
    *n = *p < 0x80             ? 1
         : (*p & 0xe0) == 0xc0 ? 2
         : (*p & 0xf0) == 0xe0 ? 3
         : (*p & 0xf8) == 0xf0 ? 4
                               : 0;
    if (!*n) return 0;
    unsigned c = *n == 1 ? *p : *p & (0xffu >> (*n + 1));
    for (int i = 1; i < *n; i++) {
        if ((p[i] & 0xc0) != 0x80) return 0;
        c = c << 6 | (p[i] & 0x3f);
    }
    return c;
}

static void check_output(const char *command, const char *text) {
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        int n;
        /* Colours of ours: ESC, numbers, m; the logs hold another one. */
        if (p[0] == 033 && p[1] == '[' && strncmp((const char *)p, "\033[45m", 5) != 0) {
            size_t digits = strspn((const char *)p + 2, "0123456789;");
            if (strstr(command, "--color=always") && p[2 + digits] == 'm') {
                p += 3 + digits;
                continue;
            }
        }
        unsigned c = character(p, &n);
        if (!n || !c || (is_forbidden(c) && c != '\n' && c != '\t'))
            fail_msg("%s\nprints 0x%x at byte %td of:\n%s", command, c ? c : *p,
                     (const char *)p - text, at_visible(cli_arena(), text));
        p += n;
    }
    if (strncmp(text, "<!DOCTYPE", 9) && cli_count_lines(text, FORGED))
        fail_msg("%s\nprints a forged line:\n%s", command, text);
}

static int check(const char *command) {
    const cli_result *r = cli_run("%s", command);
    if (r->status >= 128 || r->status == 1)
        fail_msg("%s\nexit status %d: %s", command, r->status, r->err);
    check_output(command, r->out);
    check_output(command, r->err);
    return r->status;
}

/* ---- the logs -------------------------------------------------------------------------------- */

/* Everything as JSON's escapes (0) or in UTF-8 (1), where JSON allows it. */
static void add_hostile(at_text *out, int way) {
    static const unsigned more[] = {0x61c,  0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c,
                                    0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069, 0xfeff};
    at_text_add(out, "h\\n" FORGED "\\r" FORGED "\\n" FORGED
                     "\\u001b[45m\\u001b]0;title\\u0007\\u009b45m");
    for (unsigned c = 1; c < 0xa0; c++) {
        if (!is_forbidden(c)) continue;
        if (way && c >= 0x80) at_text_addf(out, "\xc2%c", (int)c);
        else at_text_addf(out, "\\u%04x", c);
    }
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        unsigned c = more[i];
        if (!way) at_text_addf(out, "\\u%04x", c);
        else if (c < 0x800)
            at_text_addf(out, "%c%c", (int)(0xc0 | c >> 6), (int)(0x80 | (c & 0x3f)));
        else
            at_text_addf(out, "%c%c%c", (int)(0xe0 | c >> 12), (int)(0x80 | (c >> 6 & 0x3f)),
                         (int)(0x80 | (c & 0x3f)));
    }
}

/* A record; where ours, of a task and with an entity that can be run. Texts that choose something
 * are hostile where `all`. */
static void add_record(at_text *out, const char *h, bool ours, bool all, double cost_s,
                       int error_no) {
    at_text_addf(out, "{\"input\": [\"%s%s\", ", ours && !all ? "c -keys=cpu " : "", h);
    if (ours) at_text_add(out, "\"" NAME "\", [1, 4, 4, 8, 16, \"float32\"], {}], ");
    else at_text_addf(out, "\"%s\", [\"%s\", [\"%s\"]], {\"%s\": \"%s\"}], ", h, h, h, h, h);
    at_text_addf(
        out, "\"config\": {\"index\": %d, \"code_hash\": \"%s\", \"entity\": ", ours ? 0 : 7, h);
    if (ours)
        at_text_add(out, "[[\"tile_y\", \"sp\", [-1, 4, 1]], [\"tile_x\", \"sp\", [-1, 1, 16]], "
                         "[\"tile_k\", \"sp\", [-1, 1]]]}, ");
    else
        at_text_addf(out,
                     "[[\"%s\", \"an\", [\"%s\"]], [\"o%s\", \"ot\", \"%s\"], [\"s%s\", \"sp\", "
                     "[-1, 2]]]}, ",
                     h, h, h, h, h);
    at_text_addf(
        out, "\"result\": [[%.9g], %d, 0.5, 1.7e9], \"version\": 0.2, \"tvm_version\": \"%s\", ",
        cost_s, error_no, h);
    at_text_addf(out,
                 "\"autotune\": {\"version\": \"%s\", \"tuner\": \"%s\", \"error\": \"%s\", "
                 "\"check\": \"%s\", ",
                 h, h, h, error_no || all ? h : "exact");
    at_text_addf(out, "\"context\": {\"cpu\": \"%s\", \"isa\": \"%s\", \"compiler\": \"%s\", ", h,
                 all ? h : "scalar", all ? h : "tcc");
    at_text_addf(
        out,
        "\"packing\": \"%s\", \"cache\": \"%s\", \"pattern\": \"%s\", \"template\": \"%s\"}}}\n",
        all ? h : "ahead", all ? h : "hot", all ? h : "", h);
}

static void write_logs(int way) {
    at_text h = {0}, log = {0};
    add_hostile(&h, way);
    add_record(&log, at_text_str(&h), false, false, 0.25, 0);
    add_record(&log, at_text_str(&h), false, true, 0.5, 0);
    add_record(&log, at_text_str(&h), false, false, 1e9, 4);
    cli_write("foreign.log", at_text_str(&log));
    at_text_clear(&log);
    add_record(&log, at_text_str(&h), true, false, 1e-6, 0);
    add_record(&log, at_text_str(&h), true, false, 1e9, 4);
    cli_write("ours.log", at_text_str(&log));
    add_record(&log, at_text_str(&h), true, true, 1e-7, 0);
    add_record(&log, at_text_str(&h), false, false, 0.25, 0);
    at_text_addf(&log,
                 "#%s\n# \033[45m \xc2\x9b"
                 "45m \xff\n#final {\"task\": \"" NAME "\", \"%s\": 1}\n",
                 "\033]0;x\007", at_text_str(&h));
    at_text_addf(
        &log,
        "{\"input\": \033[45m\xc2\x9b\xff\xe2\x80\xae\n\"%s\"\n{\"%s\": ]\n{\"a\": \"\xff\033\"}\n",
        at_text_str(&h), at_text_str(&h));
    cli_write("mixed.log", at_text_str(&log));
    at_text_free(&h);
    at_text_free(&log);
}

static const char *const logs[] = {"foreign.log", "ours.log", "mixed.log"};

/* Of the ways to spell texts those from `from` on. */
static void run_all(const char *const *commands, size_t n, int from) {
    char command[512];
    for (int way = from; way < 2; way++) {
        write_logs(way);
        for (size_t l = 0; l < sizeof logs / sizeof *logs; l++)
            for (size_t i = 0; i < n; i++) {
                snprintf(command, sizeof command, commands[i], logs[l], logs[l]);
                check(command);
            }
    }
}

/* ---- the commands ---------------------------------------------------------------------------- */

static void looking(void **state) {
    (void)state;
    static const char *const commands[] = {
        "./autotune log %s",
        "./autotune log %s --csv",
        "./autotune log %s mixed.log --diff",
        "./autotune log %s --json",
        "./autotune log %s --split",
        "./autotune plot %s",
        "./autotune plot %s --knobs",
        "./autotune plot %s --json",
        "./autotune plot %s --color=always",
        "./autotune plot %s --knobs --color=always -v",
        "./autotune plot %s --only \"$(printf '\\033[45m\\n" FORGED "')\"",
        "./autotune pick_best %s",
        "./autotune pick_best %s --per mcpu",
        "./autotune pick_best %s --per key",
        "./autotune pick_best %s --compat -o picked.log",
        "./autotune report %s",
        "./autotune report %s --json",
        "./autotune replay %s --repeats 1 --trials 2 --tuner grid",
        "./autotune replay %s --repeats 1 --trials 2 --csv --color=always",
    };
    run_all(commands, sizeof commands / sizeof *commands, 0);
}

static void converting(void **state) {
    (void)state;
    static const char *const commands[] = {
        "./autotune convert %s --to t4",
        "./autotune convert %s --to kernel_tuner",
        "./autotune convert %s --to space",
        "./autotune convert %s --to t4 -o hostile.t4; ./autotune convert hostile.t4 --to log; rm "
        "-f hostile.t4",
        "./autotune convert %s --to kernel_tuner -o hostile.kt; ./autotune convert hostile.kt --to "
        "log; "
        "rm -f hostile.kt",
        "./autotune convert %s --to space -o hostile.space; ./autotune replay hostile.space "
        "--repeats 1 --trials 2; rm -f "
        "hostile.space",
    };
    run_all(commands, sizeof commands / sizeof *commands, 1);
}

static void using(void **state) {
    (void)state;
    static const char *const commands[] = {
        "./autotune show " NAME " --log %s",
        "./autotune show " NAME " --log %s --line 3",
        "./autotune apply " NAME " --log %s",
        "./autotune apply " NAME " --log %s --json",
        "./autotune apply --log %s",
        "./autotune apply " NAME " --log %s --line 3",
        "./autotune verify %s",
        "./autotune run " NAME " --log %s",
    };
    run_all(commands, sizeof commands / sizeof *commands, 1);
}

static void tuning(void **state) {
    (void)state;
    static const char *const commands[] = {
        "./autotune " NAME " --args N=1,H=4,W=4,CI=8,CO=16 --trials 2 --log %s",
        "./autotune " NAME
        " --args N=1,H=4,W=4,CI=8,CO=16 --trials 2 --transfer %s --log own.log --debug",
        "./autotune " NAME " --workload ./%s --trials 1 --log own.log -v",
    };
    run_all(commands, sizeof commands / sizeof *commands, 1);
}

/* Names of files, and what else is said on the command line. */
static void names(void **state) {
    (void)state;
    static const char *const commands[] = {
        "./autotune log \"$X\"",
        "./autotune plot \"$X\"",
        "./autotune show " NAME " --log \"$X\"",
        "./autotune log \"$X.log\"",
        "./autotune plot \"$X.log\" --color=always",
        "./autotune report \"$X.log\"",
        "./autotune apply " NAME " --log \"$X.log\"",
        "./autotune pick_best \"$X.log\" -o \"$X.best\"",
        "./autotune log \"$X.log\" \"$X.log\" --diff",
        "./autotune log \"$X.log\" --split",
        "./autotune verify \"$X.log\"",
        "./autotune \"$X\"",
        "./autotune run \"$X.c\"",
        "./autotune run " NAME " --weight \"$X.npy\"",
        "./autotune run " NAME " --weight \"$X.mtx\"",
        "./autotune run " NAME " --weight \"$X.npz\"",
        "./autotune show " NAME " --args \"$X\"",
        "./autotune show " NAME " --args \"$X=1\"",
        "./autotune show " NAME " --config \"$X\"",
        "./autotune space " NAME " --filter \"$X\"",
        "./autotune \"--$X\"",
        "./autotune " NAME " --tuner \"$X\"",
        "./autotune " NAME " --args N=1,H=4,W=4,CI=8,CO=16 --trials 1 --log \"$X.own\" -v",
        "./autotune run " NAME " --args N=1,H=4,W=4,CI=8,CO=16 --log \"$X.own\"",
    };
    write_logs(1);
    at_text x = {0}, path = {0};
    at_text_add(&x, "x\n" FORGED "\033[45m\xc2\x9b"
                    "45m\xff\x9b\xe2\x80\xae\r\n" FORGED "\n" FORGED);
    setenv("X", at_text_str(&x), 1);
    static const char *const endings[] = {".npy", ".mtx", ".npz", ".c"};
    for (int i = 0; i < 4; i++) {
        at_text_clear(&path);
        at_text_addf(&path, "%s%s", at_text_str(&x), endings[i]);
        cli_write(at_text_str(&path),
                  "%%MatrixMarket \033[45m \xff\xc2\x9b\n#error \xe2\x80\xae\033[45m\n");
    }
    cli_expect(0, "cp ours.log \"$X.log\"");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) check(commands[i]);
    unsetenv("X");
    at_text_free(&x);
    at_text_free(&path);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(looking), cmocka_unit_test(converting),
                                       cmocka_unit_test(using), cmocka_unit_test(tuning),
                                       cmocka_unit_test(names)};
    return cmocka_run_group_tests_name("cli/hostile", tests, cli_setup, cli_teardown);
}
