/* tests/cli/test_report.c: the page that report writes: what it says, that it needs nothing else,
 * and how it looks in a browser. */
#include "tests/cli/cli_test.h"
#include "tests/cli/png.h"

#include <stdlib.h>
#include <string.h>

#define NAME "conv2d_3x3_gemm"

static void check_contains(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("\"%s\" is not in:\n%s", part, text);
}

/* A real search, and failures of two kinds put in front of it, one with a text that would be
 * markup. */
static void make_log(void) {
    static const struct {
        int error_no;
        const char *text;
    } failures[] = {{7, "ran longer than 10 s"},
                    {4, "<script>alert(1)</script> & \\\"quotes\\\""},
                    {7, "another"}};
    cli_expect(0, "./autotune " NAME
                  " --args N=1,H=7,W=7,CI=8,CO=16 --trials 40 --tuner random --log real.log -q");
    char *line = strdup(cli_run("grep -v '\"part\": \"anchor\"' real.log | grep -m 1 '^{'")->out);
    at_text log = {0};
    for (int i = 0; i < 3; i++) {
        const char *result = strstr(line, "\"result\": "), *version = strstr(line, ", \"version\"");
        const char *error = strstr(line, "\"tuner\": ");
        at_text_addn(&log, line, (size_t)(result - line));
        at_text_addf(&log, "\"result\": [[1000000000.0], %d, 0.25, 1700000000.0]",
                     failures[i].error_no);
        at_text_addn(&log, version, (size_t)(error - version));
        at_text_addf(&log, "\"error\": \"%s\", %s", failures[i].text, error);
    }
    cli_write("failures.log", at_text_str(&log));
    cli_expect(0, "cat failures.log real.log >'a & b.log'");
    at_text_free(&log);
    free(line);
}

/* Ways of one layer stand together in the summary, each with how many times as long it takes. */
static void compares_ways(void **state) {
    (void)state;
    cli_expect(0,
               "./autotune conv2d --args N=1,H=6,W=6,CI=4,CO=16 --trials 12 --tuner random --log "
               "ways.log");
    const char *page = cli_expect(0, "./autotune report ways.log -o -")->out;
    int ways = 0, fastest = 0;
    for (const char *p = page; (p = strstr(p, "<tr><td class=\"name\">")); p++, ways++) {
        const char *end = strstr(p, "</tr>");
        assert_non_null(end);
        const char *row = at_strndup(cli_arena(), p, (size_t)(end - p));
        if (!strstr(row, ">conv3x3 4 to 16 @6")) break; /* bars follow */
        fastest += strstr(row, "<td>1.00</td>") != NULL;
    }
    assert_true(ways >= 3 && fastest == 1);
    check_contains(page, "<p class=\"verdict\">");
    const char *bars = strstr(page, "<h3>The ways of conv3x3 4 to 16 @6</h3>");
    assert_non_null(bars);
    double before = 1;
    for (int i = 0; i < ways; i++) { /* the fastest first */
        bars = strstr(bars, "</a></td><td>");
        assert_non_null(bars);
        bars = strstr(bars, "</td><td>") + strlen("</td><td>"), bars = strstr(bars, "<td>") + 4;
        assert_true(atof(bars) >= before);
        before = atof(bars);
    }
}

static void says(void **state) {
    (void)state;
    cli_expect(0, "./autotune log 'a & b.log' --json");
    const at_json *task = at_json_at(cli_member(cli_json(), "tasks"), 0);
    at_text best = {0};
    at_json_print(&best, cli_member(task, "best.entity"));
    int line = (int)cli_member(task, "best.line")->integer;
    assert_int_equal(cli_member(task, "failed.timeout.count")->integer, 2);

    cli_expect(0, "./autotune report 'a & b.log' -o 'r 1.html'");
    const char *page = cli_read("r 1.html");
    check_contains(page, "<h1>autotune: a &amp; b.log</h1>");
    check_contains(page, "conv3x3 8 to 16 @7 <small>" NAME
                         " [1, 7, 7, 8, 16, &quot;float32&quot;]</small>");
    check_contains(page, "<b>43 trials</b>40 valid, 3 failed");
    check_contains(page, "GFLOP/s</b>the winner");
    check_contains(page, "of the FMA peak beside it, ");
    check_contains(page, "tcc, ");
    check_contains(page, "<td class=\"bad\">timeout</td><td>2</td><td>1</td>"
                         "<td class=\"text\">ran longer than 10 s</td>");
    check_contains(page, "<td class=\"bad\">crash</td><td>1</td><td>2</td><td class=\"text\">"
                         "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;quotes&quot;</td>");
    check_contains(page, "--log 'a &amp; b.log' --line 2 --keep");
    check_contains(page, "yi:"); /* the tree */
    check_contains(page, "<tr><th>tile_k</th>");
    check_contains(page, "<tr><th>index</th><th>median</th>");
    char *quoted = strdup(cli_run("sed -n 's/.*<pre class=\"wrap\">\\(\\[\\[.*\\]\\]\\)<.*/\\1/p' "
                                  "'r 1.html' | sed 's/&quot;/\"/g'")
                              ->out);
    quoted[strcspn(quoted, "\n")] = 0;
    assert_string_equal(quoted, at_text_str(&best));
    /* The command for the winner does what it says. */
    cli_expect(0,
               "sed -n 's/^\\(<[^>]*>\\)*autotune apply/.\\/autotune apply/p' 'r 1.html' | "
               "sed 's/&amp;/\\&/g' >apply.sh && grep -q -- '--line %d' apply.sh && "
               "sh apply.sh && test -s kernel.c",
               line);
    free(quoted);
    at_text_free(&best);
}

/* Of the page's first folded text of that name; the caller frees it. */
static char *folded(const char *page, const char *name) {
    static const struct {
        const char *entity;
        char c;
    } of[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}};
    char head[64];
    snprintf(head, sizeof head, "<details><summary>%s</summary><pre>", name);
    const char *from = strstr(page, head);
    if (!from) fail_msg("nothing folded is called %s", name);
    from += strlen(head);
    const char *end = strstr(from, "</pre>");
    char *text = calloc(1, (size_t)(end - from) + 1);
    for (size_t n = 0; from < end; n++) {
        size_t i = 0;
        while (i < 4 && strncmp(from, of[i].entity, strlen(of[i].entity)) != 0) i++;
        text[n] = i < 4 ? of[i].c : *from;
        from += i < 4 ? strlen(of[i].entity) : 1;
    }
    return text;
}

/* C and assembly beside the winner's tree are what show prints of the same record. */
static void shows_code(void **state) {
    (void)state;
    const char *show = "./autotune show " NAME " --args N=1,H=7,W=7,CI=8,CO=16 --log real.log ";
    const char *page = cli_expect(0, "./autotune report real.log -o -")->out;
    check_contains(page, "<p class=\"verdict\">");
    char *source = folded(page, "C"), *code = folded(page, "Assembly");
    check_contains(source, "kernel_entry(");
    check_contains(code, "  ret\n");
    check_contains(cli_expect(0, "%s --code", show)->out, source);
    check_contains(cli_expect(0, "%s --dump code", show)->out, code);
    free(source);
    free(code);
}

/* Of a kernel that somebody wrote there are macros and the file. */
static void own_kernel(void **state) {
    (void)state;
    cli_write("own.c",
              "/* autotune\n * args N=64\n * x[N] : input\n * y[n:N] = x[n] + 1\n *\n"
              " * knob STEP = 1 2\n * call void own(const float *x, float *y, int N)\n */\n"
              "void own(const float *x, float *y, int N) {\n"
              "    for (int n = 0; n < N; n += STEP)\n"
              "        for (int i = 0; i < STEP; i++) y[n + i] = x[n + i] + 1;\n}\n");
    cli_expect(0, "./autotune ./own.c --trials 2 --log own.log -q");
    const char *page = cli_expect(0, "./autotune report own.log ./own.c -o -")->out;
    check_contains(page, "<h3>Its macros</h3>");
    check_contains(page, "<pre>STEP=");
    assert_null(strstr(page, "Assembly</summary>"));
    char *file = folded(page, "The file");
    assert_string_equal(file, cli_read("own.c"));
    free(file);
}

/* Every tag that is opened is closed in turn; nothing is loaded from anywhere, nothing runs. */
static void well_formed(void **state) {
    (void)state;
    static const char *const single[] = {"meta", "path", "!DOCTYPE"};
    static const char *const banned[] = {"<script", "http:", "https:", "src=", "@import", "url("};
    char open[64][16];
    int depth = 0;
    const char *page = cli_expect(0, "./autotune report 'a & b.log' -o -")->out;
    for (size_t i = 0; i < sizeof banned / sizeof *banned; i++)
        if (strstr(page, banned[i])) fail_msg("%s is in the page", banned[i]);
    for (const char *p = page; (p = strchr(p, '<')); p++) {
        char name[16];
        const char *end = strchr(p, '>');
        assert_non_null(end);
        assert_int_equal(sscanf(p + 1, "%15[^ >]", name), 1);
        if (name[0] == '/') {
            if (!depth || strcmp(open[depth - 1], name + 1)) fail_msg("<%s> closes nothing", name);
            depth--;
            continue;
        }
        bool closed = end[-1] == '/';
        for (size_t i = 0; i < sizeof single / sizeof *single; i++)
            closed |= !strcmp(single[i], name);
        if (!closed) strcpy(open[depth++], name);
        assert_true(depth < 64);
    }
    assert_int_equal(depth, 0);
    check_contains(page, "@media (prefers-color-scheme:dark)");
    check_contains(page, "@media print");
}

static void other_logs(void **state) {
    (void)state;
    /* Failures only; a task that no template here computes; several tasks. */
    const char *page = cli_expect(0, "./autotune report failures.log -o -")->out;
    check_contains(page, "None of 3 trials was valid.");
    cli_expect(0, "sed 's/\"" NAME "\"/\"of_somebody\"/' real.log >other.log");
    page = cli_expect(0, "./autotune report other.log -o -")->out;
    check_contains(page, "No template of this program computes the task");
    cli_expect(0, "cat real.log other.log >two.log");
    page = cli_expect(0, "./autotune report two.log -o -")->out;
    check_contains(page, "<a href=\"#t2\">of_somebody [1, ");
    check_contains(page, "<h2 id=\"t2\">of_somebody");
    assert_null(strstr(cli_expect(0, "./autotune report two.log --only of_some -o -")->out, "t2"));
    cli_expect(0, "./autotune report two.log -o - --json");
    assert_int_equal(cli_member(cli_json(), "tasks")->integer, 2);
    check_contains(cli_member(cli_json(), "html")->string, "</html>\n");
    cli_expect(4, "./autotune report absent.log");
    cli_expect(5, "./autotune report two.log -o absent/r.html");
}

static png_facts screenshot(const char *browser, const char *options, const char *page) {
    png_facts facts;
    cli_expect(0,
               "HOME=$PWD %s --headless --no-sandbox --disable-gpu --hide-scrollbars "
               "--no-first-run --user-data-dir=$PWD/profile %s --screenshot=$PWD/shot.png "
               "file://$PWD/%s && test -s shot.png",
               browser, options, page);
    char size[32];
    snprintf(size, sizeof size, "%s", cli_run("stat -c %%s shot.png")->out);
    size_t n = (size_t)atol(size);
    const unsigned char *file = (const unsigned char *)cli_read("shot.png");
    assert_true(png_look(file, n, &facts));
    return facts;
}

/* In both schemes, as wide as a desk and as a telephone. A page that would have to be scrolled
 * sideways there removes itself. */
static void looks(void **state) {
    (void)state;
    const char *browser = cli_run("command -v chromium || command -v chromium-browser || "
                                  "command -v google-chrome")
                              ->out;
    char program[256];
    snprintf(program, sizeof program, "%.*s", (int)strcspn(browser, "\n"), browser);
    if (!*program) {
        print_message(
            "no chromium: how the report looks is not tested; apt-get install chromium\n");
        skip();
    }
    cli_expect(0, "./autotune report 'a & b.log' -o r.html && cp r.html phone.html && echo "
                  "'<script>if(document.documentElement.scrollWidth>innerWidth)"
                  "document.body.innerHTML=\"\"</script>' >>phone.html");
    png_facts light = screenshot(program, "--window-size=1100,2200", "r.html");
    png_facts dark = screenshot(
        program, "--window-size=390,2600 --blink-settings=preferredColorScheme=0", "phone.html");
    assert_int_equal(light.width, 1100);
    assert_int_equal(dark.width, 390);
    assert_true(light.brightness > 0.8);
    assert_true(dark.brightness < 0.3);
    assert_true(light.drawn > 0.03 && light.drawn < 0.5);
    assert_true(dark.drawn > 0.03 && dark.drawn < 0.7);
    assert_true(light.colored > 0.001 && dark.colored > 0.001);
}

static int setup(void **state) {
    int failed = cli_setup(state);
    if (!failed) make_log();
    return failed;
}

/* A template of the user's own is named by its file in the commands, which do what they say. */
static void own_template(void **state) {
    (void)state;
    cli_write("scaled.te", "args N=64\nx[N] : input\nout[n:N] = x[n]*3\n");
    cli_expect(0, "./autotune ./scaled.te --fuse relu --trials 3 --log scaled.log -q");
    check_contains(cli_expect(0, "./autotune report scaled.log ./scaled.te -o -")->out,
                   "autotune run ./scaled.te --fuse relu --args N=64 --log scaled.log --line ");
    cli_expect(0, "./autotune report scaled.log ./scaled.te -o - | sed -n "
                  "'s/^\\(<[^>]*>\\)*autotune run/.\\/autotune run/p' | head -n 1 >run.sh && "
                  "grep -q . run.sh && sed 's/&lt;.*//' run.sh | sh");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_template), cmocka_unit_test(shows_code),
        cmocka_unit_test(own_kernel),   cmocka_unit_test(compares_ways),
        cmocka_unit_test(says),         cmocka_unit_test(well_formed),
        cmocka_unit_test(other_logs),   cmocka_unit_test(looks),
    };
    return cmocka_run_group_tests_name("cli/report", tests, setup, cli_teardown);
}
