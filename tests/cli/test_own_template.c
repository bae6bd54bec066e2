/* A template of the user's own that is wrong, or hostile: one clear error, whatever it does. */
#include "tests/cli/cli_test.h"

#include <stdlib.h>
#include <string.h>

/* ./own.c with a computation over X = 64 and C = 8, and a tree. */
static void write_own(const char *compute, const char *tree) {
    char source[2048];
    snprintf(source, sizeof source,
             "#include \"template.h\"\n"
             "static void define(at_template *t) {\n"
             "    at_sizes(t, \"P = 2\");\n"
             "    at_split(t, \"tile_x\", \"X\", \"xo xi\", .policy = AT_FACTORS,\n"
             "             .fallback = {-1, 8});\n"
             "    at_sizes(t, \"D = X/|xi|\");\n"
             "    at_compute(t, \"%s\");\n"
             "    at_schedule(t, \"%s\");\n"
             "}\n"
             "const at_template_row at_own = {.name = \"own\", .args = \"X=64, C=8\",\n"
             "    .record_args = \"[X, C]\", .define = define};\n",
             compute, tree);
    cli_write("own.c", source);
}

/* ---- reads outside of tensors ---------------------------------------------------------------- */

#define ROWS "xo, xi:vec =>\\n    @b = {xo, xi}/x\\n"
#define PLANE "xo, xi, c:vec =>\\n    @b = {xo, xi}/x, c\\n"
#define SUM "xo, xi, k =>\\n    @b = {xo, xi}/x // k\\n"

static const struct {
    const char *compute, *tree, *place, *message;
} outside[] = {
    {"a[X] : input\\nbias[C] : weight\\nb[x:X, c:C] = a[x] + bias[c+1]\\n", PLANE, "3:22",
     "\"b\" reads bias[c + 1] at index 8 where c = 7; the extent is 8, so 0 to 7 are accepted"},
    {"a[X] : input\\nb[x:X] = a[x-P+1]\\n", ROWS, "2:10",
     "\"b\" reads a[x - P + 1] at index -1 where x = 0; the extent is 64, so 0 to 63 are accepted"},
    {"a[X] : input\\nb[x:X] = sum(k:3) in ? a[i] : 0\\n"
     "    where i = x + k - 1, in = 0 <= i && i <= X\\n",
     SUM, "2:24",
     "\"b\" reads a[i] at index 64 where x = 63, k = 2; the extent is 64, so 0 to 63 are accepted"},
    {"a[X] : input\\nb[x:X] = a[x+3]\\n", ROWS, "2:10",
     "\"b\" reads a[x + 3] at index 64 where x = 61; the extent is 64, so 0 to 63 are accepted"},
    {"a[X] : input\\nb[x:X] = sum(k:3) a[x*x + k]\\n", SUM, "2:19",
     "\"b\" reads a[x*x + k] at index 64 where x = 8, k = 0; the extent is 64, so 0 to 63 are "
     "accepted"},
    {"a[X] : input\\nb[x:X] = a[x - 70]\\n", ROWS, "2:10",
     "\"b\" reads a[x - 70] at index -70 where x = 0; the extent is 64, so 0 to 63 are accepted"},
    {"a[X] : input\\nb[x:X] = a[x*4611686018427387904/4611686018427387904]\\n", ROWS, "2:10",
     "\"b\" reads a[x*4611686018427387904/4611686018427387904]: its index exceeds 2^63 where x = "
     "2"},
};

static void reads_outside(void **state) {
    (void)state;
    static const char *const verbs[] = {"run ./own.c", "./own.c --trials 2 --log own.log",
                                        "show ./own.c", "apply ./own.c --index 0 -o k.c"};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        char line[512];
        write_own(outside[i].compute, outside[i].tree);
        snprintf(line, sizeof line, "autotune: computation of own:%s: %s\n", outside[i].place,
                 outside[i].message);
        for (size_t v = 0; v < sizeof verbs / sizeof *verbs; v++) {
            const char *err = cli_expect(4, "./autotune %s", verbs[v])->err;
            if (strncmp(err, line, strlen(line))) fail_msg("said: %sexpected: %s", err, line);
        }
        cli_expect(1, "test -e k.c");
    }
    write_own("a[X] : input\\nb[x:X] = a[min(x+3, X-1)]\\n", ROWS);
    cli_expect(0, "./autotune run ./own.c --number 1 --repeat 1");
}

/* Index tensors of no pattern hold what every read allows; where nothing does, it is an error. */
static void data_decide(void **state) {
    (void)state;
    write_own("a[X] : input\\ni[X] : index\\nb[x:X] = a[i[x] - 1] + a[i[x] + 63]\\n", ROWS);
    cli_expect(0, "./autotune show ./own.c");
    const char *err = cli_expect(4, "./autotune run ./own.c")->err;
    assert_non_null(strstr(err,
                           "computation of own:3:10: \"b\" reads a[i[x] - 1] at index -1 where "
                           "x = 0; the extent is 64, so 0 to 63 are accepted\n"));
    write_own("a[X] : input\\ni[X] : index\\nb[x:X] = a[i[x] - 1]\\n", ROWS);
    cli_expect(0, "./autotune run ./own.c --number 1 --repeat 1");
}

/* What only some configurations read outside is their failure, not the template's. */
static void some_configurations(void **state) {
    (void)state;
    write_own("a[X] : input\\nb[x:X] = a[x + D - 8]\\n", ROWS);
    cli_expect(0, "./autotune run ./own.c --number 1 --repeat 1");
    const char *err = cli_expect(3, "./autotune run ./own.c --index 0")->err;
    assert_non_null(strstr(err,
                           "invalid: computation of own:2:10: \"b\" reads a[x + D - 8] at index "
                           "64 where x = 8; the extent is 64"));
    cli_expect(0, "./autotune ./own.c --trials 20 --log own.log --json; rm own.log");
    assert_int_equal(cli_member(cli_json(), "failed.invalid")->integer, 6);
}

/* ---- an edited template ---------------------------------------------------------------------- */

/* What was measured before an edit is not used, which is said, unless --accept-changed. */
static void edited(void **state) {
    (void)state;
    static const struct {
        const char *words;
        int status; /* without the option */
    } verbs[] = {
        {"run ./own.c --log old.log --number 1 --repeat 1", 3},
        {"run ./own.c --log old.log --line " FIRST_RECORD("old.log") " --number 1 --repeat 1", 3},
        {"show ./own.c --log old.log", 3},
        {"apply ./own.c --log old.log -o k.c", 3},
        {"pick_best ./own.c old.log", 3},
        {"verify ./own.c old.log --margin 1000", 7},
    };
    static const char compute[] = "a[X] : input\\nb[x:X] = a[x]\\n";
    write_own(compute, ROWS);
    cli_expect(0, "./autotune ./own.c --tuner grid --trials 4 --log old.log && cp old.log new.log");
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        cli_expect(0, "./autotune %s", verbs[i].words);
    write_own(compute, "xo, xi =>\\n    @b = {xo, xi}/x\\n");
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        const cli_result *r = cli_expect(verbs[i].status, "./autotune %s", verbs[i].words);
        bool said = strstr(r->err, "--accept-changed uses ") ||
                    strstr(r->out, "not_run: the template has changed since; --accept-changed "
                                   "verifies it all the same\n");
        if (!said) fail_msg("%s: %s", verbs[i].words, r->err);
        cli_expect(0, "./autotune %s --accept-changed", verbs[i].words);
    }
    const char *tune = "./autotune ./own.c --tuner grid --trials 4 --log %s --json%s";
    cli_expect(0, tune, "old.log", " --accept-changed");
    assert_int_equal(cli_member(cli_json(), "from_log")->integer, 4);
    const cli_result *r = cli_expect(0, tune, "new.log", "");
    assert_non_null(strstr(r->err,
                           "autotune: warning: new.log: 5 records of another version of own "
                           "are not used; --accept-changed uses them\n"));
    assert_int_equal(cli_member(cli_json(), "from_log")->integer, 0);
    /* Those of now count, and those before are still told of. */
    r = cli_expect(0, "./autotune show ./own.c --log new.log");
    assert_non_null(strstr(r->err, "5 records of another version of own are not used"));
    r = cli_expect(0, "./autotune pick_best ./own.c new.log");
    assert_int_equal(cli_count_lines(r->out, "{\"input\""), 1);
    assert_non_null(strstr(r->err,
                           "new.log: 5 records of another version of their template are not "
                           "used; --accept-changed uses them\n"));
    r = cli_expect(0, "./autotune pick_best ./own.c new.log --accept-changed");
    assert_int_equal(cli_count_lines(r->out, "{\"input\""), 2); /* two contexts */
    cli_expect(0, "rm old.log new.log k.c k.h");
}

/* ---- code that does not behave --------------------------------------------------------------- */

/* ./bad.c with something before its functions, in define() and in defaults(). */
static void write_bad(const char *before, const char *define, const char *defaults) {
    char source[2048];
    snprintf(source, sizeof source,
             "#include \"template.h\"\n"
             "%s\n"
             "static void define(at_template *t) {\n"
             "    at_split(t, \"tile_x\", \"X\", \"xo xi\", .policy = AT_FACTORS);\n"
             "    at_option(t, \"way\", \"[1, 2]\", 0);\n"
             "    at_compute(t, \"a[X] : input\\nb[x:X] = a[x]\\n\");\n"
             "    at_schedule(t, \"xo, xi:vec =>\\n    @b = {xo, xi}/x\\n\");\n"
             "    %s\n"
             "}\n"
             "static void defaults(at_template *t, int lanes) { %s }\n"
             "const at_template_row at_bad = {.name = \"bad\", .args = \"X=64\",\n"
             "    .record_args = \"[X]\", .define = define, .defaults = defaults};\n",
             before, define, defaults);
    cli_write("bad.c", source);
}

#define LOOP "for (volatile int i = 0;; i++) {}"

static const struct {
    const char *before, *define, *defaults, *message;
} hostile[] = {
    {"", LOOP, "", "./bad.c: its define() with X=64 did not end within %s; --timeout gives more"},
    {"", "", LOOP, "./bad.c: its defaults() with X=64 did not end within %s; --timeout gives more"},
    {"", "at_textf(t, \"%1100000000d\", 1);", "",
     "./bad.c: its define() with X=64 takes more than 1024 MiB of memory"},
    {"", "at_divisor(9223372036854775807ll, 9223372036854775806ll);", "",
     "./bad.c: its define() with X=64 did not end within %s; --timeout gives more"},
    {"", "", "long long n = 0; at_default(t, \"tile_x\", &n);",
     "bad: a default of \"tile_x\" with 0 for part 2; at least 1 is accepted"},
    {"", "", "long long n = -4; at_default(t, \"tile_x\", &n);",
     "bad: a default of \"tile_x\" with -4 for part 2; at least 1 is accepted"},
    {"", "long long n = 0; at_default(t, \"tile_x\", &n);", "",
     "bad: a default of \"tile_x\" with 0 for part 2; at least 1 is accepted"},
    {"", "", "at_default(t, \"tile_x\", 0);", "bad: at_default without values"},
    {"", "", "at_default(t, 0, 0);", "bad: at_default without a knob"},
    {"", "", "at_split(t, \"y\", \"X\", \"p q\", .policy = AT_FACTORS);",
     "bad: at_split in defaults(), which sets values of knobs; it belongs in define()"},
    {"", "", "at_option(t, \"y\", \"[1]\", 0);",
     "bad: at_option in defaults(), which sets values of knobs; it belongs in define()"},
    {"", "", "at_sizes(t, \"Y = X\");",
     "bad: at_sizes in defaults(), which sets values of knobs; it belongs in define()"},
    {"", "", "at_flops(t, \"X\");",
     "bad: at_flops in defaults(), which sets values of knobs; it belongs in define()"},
    {"", "", "at_schedule(t, \"x\");",
     "bad: at_schedule in defaults(), which sets values of knobs; it belongs in define()"},
    {"", "", "at_joint_filter(t, \"1 < 2\");",
     "bad: at_joint_filter in defaults(), which sets values of knobs; it belongs in define()"},
};

/* One line, exit 4, nothing written, by each verb; %s in the message: the limit. false: the limit
 * was so short that something else did not end. */
static bool is_refused(double limit_s, const char *message) {
    static const char *const verbs[] = {"run ./bad.c", "tune ./bad.c", "show ./bad.c",
                                        "apply ./bad.c --config default -o k.c"};
    /* What takes much memory is done once. */
    size_t n = strstr(message, "of memory") ? 1 : sizeof verbs / sizeof *verbs;
    char limit[32];
    snprintf(limit, sizeof limit, "%g s", limit_s);
    const char *line = at_format(cli_arena(), "autotune: %s\n", message);
    const char *hole = strstr(line, "%s");
    if (hole) line = at_format(cli_arena(), "%.*s%s%s", (int)(hole - line), line, limit, hole + 2);
    char *expected = strdup(line);
    bool same = true;
    for (size_t v = 0; v < n && same; v++) {
        const char *err = cli_expect(4, "./autotune %s --timeout %gs", verbs[v], limit_s)->err;
        same = !strcmp(err, expected);
        if (!same && !strstr(err, limit))
            fail_msg("%s said: %sexpected: %s", verbs[v], err, expected);
    }
    free(expected);
    cli_expect(1, "test -e k.c || test -e bad.log");
    return same;
}

/* With a limit that is long enough for this machine now; long from the start where nothing waits
 * for its end. */
static void expect_refused(const char *message) {
    double limit_s = strstr(message, "%s") ? 0.3 : 100;
    while (limit_s < 200 && !is_refused(limit_s, message)) limit_s *= 6;
    assert_true(limit_s < 200);
}

/* Address sanitizers need address space of their own: no limit is set below them. */
#ifdef __SANITIZE_ADDRESS__
#define LIMITS_MEMORY false
#else
#define LIMITS_MEMORY true
#endif

static void hostile_code(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        if (!LIMITS_MEMORY && strstr(hostile[i].message, "of memory")) continue;
        write_bad(hostile[i].before, hostile[i].define, hostile[i].defaults);
        expect_refused(hostile[i].message);
    }
    write_bad("", "", "");
    cli_expect(0, "./autotune run ./bad.c --number 1 --repeat 1");
}

/* Sources at which the compiler loops or crashes, and a row that cannot be read. */
static void hostile_sources(void **state) {
    (void)state;
    static const char *const said[][2] = {
        {"deep", "./deep.c: loading it crashed: SIGSEGV\n"},
        {"never", "./never.c: loading it did not end within 0.3 s; --timeout gives more\n"},
        {"zero", "./zero.c: /dev/zero:0: error: unrecognized character \\x00\n"},
    };
    at_text deep = {0}, macros = {0};
    at_text_add(&deep, "/* at_template_row */ int x = ");
    for (int i = 0; i < 1000000; i++) at_text_add(&deep, "(((");
    at_text_add(&macros, "#define A0 1+1 /* at_template_row */\n");
    for (int i = 1; i <= 30; i++)
        at_text_addf(&macros, "#define A%d A%d+A%d+A%d\n", i, i - 1, i - 1, i - 1);
    at_text_add(&macros, "int x = A30;\n");
    cli_write("deep.c", deep.data);
    cli_write("mac.c", macros.data);
    at_text_free(&deep);
    at_text_free(&macros);
    cli_write("zero.c", "#include \"/dev/zero\" /* at_template_row */\n");
    cli_expect(0, "mkfifo never.h"); /* nobody writes into it */
    cli_write("never.c", "#include \"never.h\" /* at_template_row */\n");
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        const char *err = cli_expect(4, "./autotune show ./%s.c --timeout %s", said[i][0],
                                     strstr(said[i][1], "did not") ? "0.3s" : "100s")
                              ->err;
        assert_string_equal(err + strlen("autotune: "), said[i][1]);
    }
    /* What the compiler has no memory for in the child is not tried again without a limit. */
    if (LIMITS_MEMORY)
        assert_string_equal(cli_expect(4, "./autotune show ./mac.c --timeout 100s")->err,
                            "autotune: ./mac.c: loading it takes more than 1024 MiB of memory\n");
    cli_write("row.c", "#include \"template.h\"\n"
                       "static void define(at_template *t) {}\n"
                       "const at_template_row at_row = {.name = (const char *)8, .args = \"X=1\",\n"
                       "    .record_args = \"[X]\", .define = define};\n");
    assert_string_equal(cli_expect(4, "./autotune show ./row.c")->err,
                        "autotune: ./row.c: loading it crashed: SIGSEGV\n");
}

/* define() and defaults() are there to compute. */
static void asks_the_system(void **state) {
    (void)state;
    if (strstr(cli_expect(0, "./autotune run dense --args M=8,N=8,K=8 --config default")->err,
               "confines no process"))
        skip();
    write_bad("", "asm(\"mov $57, %eax\\n syscall\");", "");
    const char *err = cli_expect(4, "./autotune show ./bad.c")->err;
    if (!strstr(err, "its define() with X=64 called fork, and may do nothing but compute\n"))
        fail_msg("%s", err);
}

/* Ctrl-C ends a define() that does not end, also where only the program gets it; where the program
 * is killed, its child goes with it. */
static void ends_with_the_program(void **state) {
    (void)state;
    static const char start[] =
        CLI_CHILD_OF "./autotune tune ./bad.c --timeout 100s 2>said & P=$!; "
                     "until C=$(child_of $P) && [ \"$C\" ] && grep -q '^State:.R' /proc/$C/status; "
                     "do sleep 0.01; done; ";
    write_bad("", LOOP, "");
    cli_expect(130, "%s kill -INT $P; wait $P", start);
    assert_string_equal(cli_read("said"), "autotune: interrupted\n");
    assert_int_equal(cli_processes(), 0);
    cli_expect(0,
               "%s kill -KILL $P; wait $P; while grep -q '^State:.R' /proc/$C/status; "
               "do sleep 0.01; done 2>/dev/null",
               start);
    assert_int_equal(cli_processes(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_outside),         cmocka_unit_test(data_decide),
        cmocka_unit_test(some_configurations),   cmocka_unit_test(edited),
        cmocka_unit_test(hostile_code),          cmocka_unit_test(hostile_sources),
        cmocka_unit_test(ends_with_the_program), cmocka_unit_test(asks_the_system)};
    return cmocka_run_group_tests(tests, cli_setup, cli_teardown);
}
