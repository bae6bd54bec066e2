/* Every file that a verb writes: a disk that is full leaves the old one as it was, a link leads to
 * no surprise, an input is never an output, and what is of another kind stays. */
#include "tests/cli/cli_test.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define T "conv2d_3x3_gemm"
#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

static void add(at_text *log, int index, const char *cost) {
    at_text_addf(log,
                 "{\"input\": [\"llvm -keys=cpu\", \"" T "\", [1, 4, 4, 8, 8, \"float32\"], {}], "
                 "\"config\": {\"index\": %d, \"code_hash\": null, \"entity\": [[\"tile_y\", "
                 "\"sp\", [-1, 1, %d]], [\"tile_x\", \"sp\", [-1, 1, 8]], [\"tile_k\", \"sp\", "
                 "[-1, 1]]]}, \"result\": [[%s], 0, 0.5, 1700000000.0], \"version\": 0.2, "
                 "\"tvm_version\": \"0.12.0\"}\n",
                 index, 1 << index, cost);
}

static void write_log(const char *path, int n) {
    at_text log = {0};
    for (int i = 0; i < n; i++) add(&log, i % 4, i ? "0.002" : "0.001");
    cli_write(path, at_text_str(&log));
    at_text_free(&log);
}

static bool has_gnuplot(void) { return cli_run("gnuplot --version")->status == 0; }

/* What each verb writes over a log, to be told the output. */
static const struct {
    const char *command, *output;
} verbs[] = {
    {"pick_best a.log", "best.log"},
    {"convert a.log --to t4", "a.json"},
    {"convert a.log --to kernel_tuner", "a.json"},
    {"convert a.log --to space", "a.space"},
    {"convert t4.json --to log", "b.log"},
    {"report a.log", "a.html"},
    {"apply " T " --log a.log", "a.c"},
    {"apply --log a.log", "all.txt"},
    {"plot a.log", "a.svg"},
    {"plot a.log", "a.png"},
    {"plot a.log --knobs", "a.pdf"},
};

static bool can_run(int i) { return strncmp(verbs[i].command, "plot", 4) != 0 || has_gnuplot(); }

static void write_inputs(void) {
    cli_expect(0, "chmod -R u+rwX . && rm -rf ./*.* full link keep && mkdir keep");
    write_log("a.log", 8);
    cli_expect(0, "./autotune convert a.log --to t4 -o t4.json 2>/dev/null");
}

/* ---- a full disk ----------------------------------------------------------------------------- */

/* Nothing is there but what was there before, in the folder of the output. */
static void check_kept(const char *folder, const char *output) {
    cli_expect(0, "cmp %s/%s keep/old", folder, output);
    cli_expect(0, "ls %s | grep -v '\\.h$' | grep '^%s' >.names; [ $(cat .names | wc -l) = 1 ]",
               folder, output);
}

static void file_size_limit(void **state) {
    (void)state;
    for (int i = 0; i < COUNT(verbs); i++) {
        if (!can_run(i)) continue;
        write_inputs();
        cli_expect(0, "./autotune %s -o %s 2>/dev/null", verbs[i].command, verbs[i].output);
        cli_expect(0, "cp %s keep/old", verbs[i].output);
        cli_expect(5,
                   "(ulimit -f 0; ./autotune %s -q -o %s; echo $?) 2>&1 | cat >.limited; "
                   "exit $(tail -n 1 .limited)",
                   verbs[i].command, verbs[i].output);
        check_kept(".", verbs[i].output);
    }
}

static void full_disk(void **state) {
    (void)state;
    cli_expect(0, "mkdir -p full");
    if (cli_run("mount -t tmpfs -o size=256k tmpfs full 2>/dev/null")->status != 0) {
        print_message("no tmpfs can be mounted here: not tested on a full disk\n");
        skip();
    }
    cli_expect(0, "umount full");
    for (int i = 0; i < COUNT(verbs); i++) {
        if (!can_run(i)) continue;
        write_inputs();
        cli_expect(0, "mkdir full && mount -t tmpfs -o size=256k tmpfs full");
        int made = cli_run("./autotune %s -o full/%s 2>/dev/null && cp full/%s keep/old",
                           verbs[i].command, verbs[i].output, verbs[i].output)
                       ->status;
        cli_run("head -c 300k /dev/zero >full/ballast 2>/dev/null");
        int status =
            cli_run("./autotune %s -q -o full/%s", verbs[i].command, verbs[i].output)->status;
        int kept =
            cli_run("cmp full/%s keep/old && [ $(ls full/%s* | grep -v '\\.h$' | wc -l) = 1 ]",
                    verbs[i].output, verbs[i].output)
                ->status;
        cli_expect(0, "umount full");
        assert_int_equal(made, 0);
        if (status != 5 || kept != 0)
            fail_msg("%s: exit code %d, old file %s", verbs[i].command, status,
                     kept ? "damaged" : "kept");
    }
}

/* Devices and pipes are written as they are. */
static void devices(void **state) {
    (void)state;
    write_inputs();
    for (int i = 0; i < COUNT(verbs); i++) {
        if (strncmp(verbs[i].command, "plot", 4) == 0) continue;
        cli_expect(5, "./autotune %s -q -o /dev/full", verbs[i].command);
        cli_expect(0, "./autotune %s -q -o /dev/null", verbs[i].command);
        cli_expect(0, "./autotune %s -q -o %s >x", verbs[i].command, "direct");
        cli_expect(0,
                   "./autotune %s -q -o /dev/stdout | grep -v '^task\\|^conv\\|written to' >piped",
                   verbs[i].command);
        if (strncmp(verbs[i].command, "apply", 5) && strncmp(verbs[i].command, "pick", 4))
            cli_expect(0, "cmp piped direct");
        cli_expect(0, "[ -s piped ] && rm -f direct piped && [ -c /dev/null ]");
    }
    /* Behind what was written there, not over it. */
    cli_expect(0, "(echo before; ./autotune report a.log -o /dev/stdout; echo behind) >x; true");
    cli_expect(0, "head -n 1 x | grep -q before && tail -n 1 x | grep -q behind && grep -q html x");
    cli_expect(0, "mkfifo pipe.log; timeout 500 cat pipe.log >x & "
                  "./autotune convert t4.json --to log -q -o pipe.log; wait; [ -p pipe.log ]");
}

/* ---- links and modes ------------------------------------------------------------------------- */

static void links(void **state) {
    (void)state;
    write_inputs();
    /* A link that the user names leads to the file; the file keeps its mode. */
    cli_expect(0, "mkdir -p keep; ./autotune report a.log -o keep/page.html && chmod 640 "
                  "keep/page.html && ln -s keep/page.html link.html");
    cli_expect(0, "./autotune report a.log -o link.html");
    cli_expect(0, "[ -L link.html ] && [ $(stat -c %%a keep/page.html) = 640 ]");
    /* The other names of a file keep what they had. */
    cli_expect(0, "echo '<title>autotune: old' >one.html; ln one.html two.html");
    cli_expect(0, "./autotune report a.log -o one.html && grep -q old two.html");
    const cli_result *r = cli_expect(5, "ln -s nowhere dangling.html; "
                                        "./autotune report a.log -o dangling.html");
    assert_string_equal(r->err, "autotune: cannot write dangling.html: it is a symbolic link to a "
                                "file that is not there\n");
    /* Names that the program makes up are no links. */
    cli_write("victim", "precious\n");
    cli_expect(0, "ln -s victim a.log.000.wkl; ln -s victim a.log.000.wkl.part; ln -s victim k.h");
    r = cli_expect(5, "./autotune log a.log --split");
    assert_string_equal(r->err, "autotune: cannot write a.log.000.wkl: a symbolic link lies there, "
                                "which is not followed\n");
    cli_expect(5, "./autotune log a.log --split --force");
    cli_expect(5, "./autotune apply " T " --log a.log -o k.c && [ ! -e k.c ]");
    assert_string_equal(cli_read("victim"), "precious\n");
    cli_expect(0, "rm a.log.000.wkl && ./autotune log a.log --split");
    assert_string_equal(cli_read("victim"), "precious\n");
    cli_expect(5, "./autotune report a.log -o .");
    cli_expect(5, "mkfifo nobody; ./autotune report a.log -o nobody");
}

/* ---- inputs and what is of another kind ------------------------------------------------------ */

static void expect_refused(const char *command, const char *file) {
    cli_expect(0, "cp %s keep/old", file);
    const cli_result *r = cli_expect(2, "./autotune %s", command);
    if (cli_count_lines(r->err, "autotune: ") != 1) fail_msg("%s: %s", command, r->err);
    cli_expect(0, "cmp %s keep/old", file);
}

static void over_an_input(void **state) {
    (void)state;
    write_inputs();
    cli_expect(0, "ln a.log hard.log && ln -s a.log soft.log");
    static const char *const names[] = {"a.log", "./a.log", "hard.log", "soft.log"};
    static const char *const commands[] = {
        "pick_best a.log -o %s",
        "pick_best t.log a.log -o %s --force",
        "convert a.log --to t4 -o %s",
        "convert a.log --to space -o %s --force",
        "report a.log -o %s",
        "report a.log -o %s --force",
        "apply " T " --log a.log -o %s",
        "apply --log a.log -o %s --force",
        "verify a.log --log %s",
    };
    write_log("t.log", 1);
    for (int i = 0; i < COUNT(commands); i++)
        for (int k = 0; k < COUNT(names); k++) {
            char command[200];
            snprintf(command, sizeof command, commands[i], names[k]);
            expect_refused(command, "a.log");
        }
    cli_expect(0, "cp a.log a.svg");
    expect_refused("plot a.svg -o a.svg", "a.svg");
    /* A template's source, and what a header would lie over. */
    cli_write("mine.c", "#include \"templates/template.h\"\n"
                        "static void define(at_template *t) {\n"
                        "    at_sizes(t, \"A = N\");\n"
                        "    at_compute(t, \"x[N] : input\\ny[i:N] = x[i] + x[i]\\n\");\n"
                        "    at_schedule(t, \"i => @y = i\\n\");\n"
                        "}\n"
                        "const at_template_row at_mine = {.name = \"mine\", .help = \"twice\",\n"
                        "    .args = \"N=8\", .record_args = \"N\", .define = define};\n");
    const cli_result *r = cli_expect(2, "./autotune apply mine.c --config default -o mine.c");
    assert_string_equal(r->err, "autotune: --output mine.c: mine.c is read, and would be written "
                                "to; name another file\n");
    cli_expect(0, "cp a.log w.h");
    expect_refused("apply " T " --log w.h -o w.c", "w.h");
}

static void of_another_kind(void **state) {
    (void)state;
    write_inputs();
    static const char notes[] = "Notes\n\nThis is mine.\n";
    for (int i = 0; i < COUNT(verbs); i++) {
        if (!can_run(i)) continue;
        cli_write(verbs[i].output, notes);
        char command[200];
        snprintf(command, sizeof command, "%s -q -o %s", verbs[i].command, verbs[i].output);
        expect_refused(command, verbs[i].output);
        const cli_result *r = cli_expect(2, "./autotune %s", command);
        assert_non_null(strstr(r->err, "; name another file, or --force replaces it\n"));
        cli_expect(0, "./autotune %s --force", command);
        cli_expect(1, "cmp -s %s keep/old", verbs[i].output);
        cli_expect(0, "./autotune %s", command); /* its own, again */
        cli_expect(0, ": >%s && ./autotune %s", verbs[i].output, command);
        cli_expect(0, "rm %s", verbs[i].output);
    }
    /* A header that is not ours beside a new .c file: neither is written. */
    cli_write("mine.h", "#define MINE\n");
    expect_refused("apply " T " --log a.log -q -o mine.c", "mine.h");
    assert_int_not_equal(access("mine.c", F_OK), 0);
    /* Parts of a log, and logs that would become smaller. */
    cli_write("a.log.000.wkl", notes);
    expect_refused("log a.log --split", "a.log.000.wkl");
    cli_expect(0, "./autotune log a.log --split --force");
    cli_expect(0, "./autotune log a.log --split && cat a.log >>a.log.000.wkl");
    expect_refused("log a.log --split", "a.log.000.wkl");
    cli_expect(0, "cat a.log a.log >tuned.log");
    expect_refused("pick_best a.log -o tuned.log", "tuned.log");
    expect_refused("pick_best a.log -o tuned.log --force", "tuned.log");
    expect_refused("convert t4.json --to log -q -o tuned.log", "tuned.log");
    cli_expect(0, "./autotune convert t4.json --to log -q -o tuned.log --force");
}

/* Nothing is appended to what is no log. */
static void no_log(void **state) {
    (void)state;
    write_inputs();
    cli_write("notes.md", "# Notes\n\nThis is mine.\n");
    cli_write("headings.md", "# Notes\n\n# More\n");
    cli_write("macros.h", "#pragma once\n#define TWICE(a) (2.0f * (a))\n");
    cli_write("page.md", "A record of a log:\n\n{\"input\": []}\n\nIs it?\n");
    cli_expect(
        0,
        "printf 'a quoted one\\n\\n' >quote.md; head -n 1 a.log >>quote.md; echo it is >>quote.md");
#define SMALL T " --args N=1,H=4,W=4,CI=8,CO=8 --trials 1 --tuner random "
    expect_refused(SMALL "--log notes.md", "notes.md");
    expect_refused(SMALL "--log headings.md", "headings.md");
    expect_refused(SMALL "--log macros.h", "macros.h");
    expect_refused(SMALL "--log page.md", "page.md");
    expect_refused(SMALL "--log quote.md", "quote.md");
    expect_refused("verify a.log --log notes.md", "notes.md");
    /* A log in any state is one. */
    cli_expect(0, "{ echo '# mine'; echo; cat a.log; printf '{\"input\": [\"ll'; } >torn.log");
    cli_expect(0, "./autotune " SMALL "--log torn.log -q");
    cli_expect(0, "printf '{\"input\": [\"ll' >first.log; ./autotune " SMALL "--log first.log -q");
}

/* A log that a run is writing is not replaced, whatever for. */
static void locked(void **state) {
    (void)state;
    write_inputs();
    if (cli_run("command -v flock")->status != 0) skip();
    write_log("busy.log", 2);
    static const char *const commands[] = {
        "pick_best a.log -o busy.log", "convert t4.json --to log -o busy.log --force",
        "report a.log -o busy.log --force", "apply --log a.log -o busy.log --force"};
    for (int i = 0; i < COUNT(commands); i++) {
        const cli_result *r = cli_expect(6, "flock -x busy.log -c './autotune %s -q'", commands[i]);
        assert_int_equal(cli_count_lines(r->err, "autotune: busy.log is being written by"), 1);
    }
    write_log("same.log", 2);
    cli_expect(0, "cmp busy.log same.log");
}

/* What agents and networks left is counted and removed; the tables of the machine stay. */
static void cache_folder(void **state) {
    (void)state;
    cli_expect(
        0,
        "mkdir -p .cache/autotune && cd .cache/autotune && head -c 2500000 /dev/zero >agent-0a && "
        "echo x >network-0b.so && echo {} >machine-0c.json && ln -s agent-0a agent-link");
    const cli_result *r = cli_expect(0, "./autotune workers");
    assert_non_null(strstr(r->out, "/.cache/autotune: 2 files, 2.5 MB; --clean removes them\n"));
    cli_expect(0, "./autotune workers --json");
    assert_int_equal(cli_number(cli_json(), "cache.files"), 2);
    assert_int_equal(cli_number(cli_json(), "cache.bytes"), 2500002);
    r = cli_expect(0, "./autotune workers --clean");
    assert_non_null(strstr(r->out, "removed from cache "));
    assert_string_equal(cli_expect(0, "ls .cache/autotune")->out, "agent-link\nmachine-0c.json\n");
    r = cli_expect(0, "./autotune workers");
    assert_non_null(strstr(r->out, "/.cache/autotune: 0 files, 0.0 MB\n"));
    cli_expect(0, "rm -r .cache");
}

/* "-" is standard output, and no file of that name. */
static void dash(void **state) {
    (void)state;
    cli_expect(0, "./autotune apply dense --args M=4,N=4,K=4 --config default >plain.c");
    cli_expect(0, "./autotune apply dense --args M=4,N=4,K=4 --config default -o - >dash.c");
    cli_expect(0, "cmp plain.c dash.c && test -s dash.c && ! test -e ./-");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cache_folder),  cmocka_unit_test(file_size_limit),
        cmocka_unit_test(full_disk),     cmocka_unit_test(devices),
        cmocka_unit_test(dash),          cmocka_unit_test(links),
        cmocka_unit_test(over_an_input), cmocka_unit_test(of_another_kind),
        cmocka_unit_test(no_log),        cmocka_unit_test(locked),
    };
    return cmocka_run_group_tests_name("cli/outputs", tests, cli_setup, cli_teardown);
}
