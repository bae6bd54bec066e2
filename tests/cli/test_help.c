/* Help, man pages, completions and docs say the same: each is compared with `autotune help VERB`,
 * which is printed from the table that reads the command line. Misspelt words get a proposal. */
#include "tests/cli/cli_test.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

enum { MAX_OPTIONS = 64, MAX_VERBS = 32 };

typedef struct option {
    char name[32], argument[16]; /* "" : a switch */
} option;

static struct {
    char name[16], operands[16];
    option options[MAX_OPTIONS];
    int num_options;
} verbs[MAX_VERBS];
static int num_verbs;
static char sources[4096];
static at_arena *texts; /* what has to outlive the next command */

static const char *keep(const char *text) { return at_strdup(texts, text); }

static bool has(const char *program) { return !cli_run("command -v %s", program)->status; }

/* ---- what there is --------------------------------------------------------------------------- */

static void read_options(int v) {
    const char *help = keep(cli_expect(0, "./autotune help %s", verbs[v].name)->out);
    sscanf(help, "usage: autotune %*[^[A-Z]%15s", verbs[v].operands);
    for (const char *line = help; (line = strstr(line, "\n  --")); line++) {
        option *o = &verbs[v].options[verbs[v].num_options++];
        char form[64];
        snprintf(form, sizeof form, "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
        char *gap = strstr(form, "  ");
        if (gap) *gap = 0;
        sscanf(form, "%31s %15s", o->name, o->argument);
    }
}

static int setup(void **state) {
    texts = at_arena_new();
    if (!getcwd(sources, sizeof sources) || cli_setup(state)) return -1;
    const char *help = keep(cli_run("./autotune --help")->out), *line = strstr(help, "\nCommands");
    for (line = strstr(line, "\n "); line && line[1] == ' '; line = strchr(line + 1, '\n')) {
        if (line[2] == ' ' && isalpha((unsigned char)line[3]))
            sscanf(line, " %15s", verbs[num_verbs++].name);
    }
    for (int v = 0; v < num_verbs; v++) read_options(v);
    return num_verbs < 12 ? -1 : 0;
}

static int teardown(void **state) {
    at_arena_free(texts);
    return cli_teardown(state);
}

static bool takes(int v, const char *name, size_t len) {
    for (int i = 0; i < verbs[v].num_options; i++)
        if (strlen(verbs[v].options[i].name) == len && !memcmp(verbs[v].options[i].name, name, len))
            return true;
    return false;
}

static bool is_option(const char *name, size_t len) {
    for (int v = 0; v < num_verbs; v++)
        if (takes(v, name, len)) return true;
    return false;
}

/* The words that an option takes, as its refusal of another lists them; NULL: it has no list. */
static const char *words_of(int v, const option *o) {
    const cli_result *r = cli_run("./autotune %s %s= --help", verbs[v].name, o->name);
    const char *list = strstr(r->err, ": there are ");
    if (!list) return NULL;
    list += strlen(": there are ");
    return at_strndup(texts, list, strcspn(list, ";\n"));
}

static void check_has(const char *where, const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("%s lacks %s", where, part);
}

/* ---- man pages ------------------------------------------------------------------------------- */

/* Roff without its escapes. */
static const char *plain(const char *roff) {
    char *copy = at_strdup(texts, roff), *to = copy;
    for (const char *s = copy; *s; s++) {
        if (*s != '\\') *to++ = *s;
        else if (*++s == 'f') s++;
        else if (*s == '-') *to++ = '-';
    }
    *to = 0;
    return copy;
}

/* Of clauses for one verb ("tune: ") a verb's help and its completions have its own alone, and that
 * of "else: " where it has none. */
static void help_of_a_verb(void **state) {
    (void)state;
    static const struct {
        const char *verb, *text;
    } logs[] = {{"tune", "log to append to and resume from, default TEMPLATE.log"},
                {"verify", "log to append what is measured to"},
                {"run", "take the best record of this log"}};
    const char *zsh = keep(cli_expect(0, "./autotune help --as zsh")->out);
    const char *fish = keep(cli_expect(0, "./autotune help --as fish")->out);
    for (int i = 0; i < 3; i++) {
        const char *help = cli_expect(0, "./autotune help %s", logs[i].verb)->out;
        check_has(logs[i].verb, help,
                  at_format(texts, "\n  --log FILE            %s\n", logs[i].text));
        check_has("zsh", zsh, at_format(texts, "'--log=[%s]:", logs[i].text));
        check_has("fish", fish,
                  at_format(texts, "'__autotune_verb %s' -l log -r -F -d '%s'\n", logs[i].verb,
                            logs[i].text));
    }
    for (int v = 0; v < num_verbs; v++) {
        const char *help = cli_expect(0, "./autotune help %s", verbs[v].name)->out;
        for (int of = 0; of < num_verbs; of++)
            if (strstr(help, at_format(cli_arena(), "; %s: ", verbs[of].name)))
                fail_msg("help %s speaks of %s", verbs[v].name, verbs[of].name);
        assert_null(strstr(help, " else: "));
        for (int of = 0; of < num_verbs; of++) /* a clause is of one verb */
            if (strstr(help, at_format(cli_arena(), ", %s: ", verbs[of].name)))
                fail_msg("help %s speaks of %s and another", verbs[v].name, verbs[of].name);
    }
}

static void man_pages(void **state) {
    (void)state;
    const char *page = plain(keep(cli_expect(0, "./autotune help --as man")->out));
    int described = 0;
    for (const char *s = page; (s = strstr(s, "\n.TP\n--")); s++) {
        s += strlen("\n.TP\n");
        if (!is_option(s, strcspn(s, " ,\n"))) fail_msg("autotune.1 has %.20s", s);
        described++;
    }
    assert_true(described > 30);
    for (int v = 0; v < num_verbs; v++) {
        check_has("autotune.1", page, at_format(texts, "\n.TP\n%s ", verbs[v].name));
        for (int i = 0; i < verbs[v].num_options; i++) {
            const option *o = &verbs[v].options[i];
            const char *head = at_format(texts, "\n.TP\n%s", o->name);
            const char *entry = strstr(page, head);
            while (entry && entry[strlen(head)] == '-') entry = strstr(entry + 1, head);
            if (!entry) fail_msg("autotune.1 lacks %s", o->name);
            if (*o->argument)
                assert_non_null(strstr(at_strndup(texts, entry, strcspn(entry + 5, "\n") + 5),
                                       at_format(texts, " %s", o->argument)));
        }
    }
    page = plain(keep(cli_expect(0, "./autotune help --as man templates")->out));
    cli_expect(0, "./autotune list --json");
    const at_json *list = cli_json();
    for (const at_json *t = cli_member(list, "templates")->child; t; t = t->next)
        check_has("autotune-templates.7", page,
                  at_format(texts, ".SS %s\n", cli_member(t, "name")->string));
    for (const at_json *t = cli_member(list, "tuners")->child; t; t = t->next)
        check_has("autotune-templates.7", page,
                  at_format(texts, ".TP\n%s\n", cli_member(t, "name")->string));
    for (const char *const *p = (const char *const[]){"autotune.1", "autotune-templates.7",
                                                      "autotune-records.5", NULL};
         *p; p++) {
        cli_expect(0, "here=$PWD; cd %s && tools/manual \"$here\"/autotune %s >\"$here\"/page",
                   sources, *p);
        if (has("groff")) {
            assert_string_equal(cli_expect(0, "groff -man -Tutf8 -ww -z page 2>&1")->out, "");
            cli_expect(0, "test $(groff -man -Tutf8 page | wc -l) -gt 50");
        }
        if (has("lexgrog")) cli_expect(0, "lexgrog page");
    }
}

/* ---- completions ----------------------------------------------------------------------------- */

/* What bash proposes behind these words. */
static const char *bash(const char *words) {
    return cli_expect(
               0,
               "bash -c 'source ./completion; COMP_WORDS=(\"$@\"); "
               "COMP_CWORD=$(($# - 1)); _autotune; echo \" ${COMPREPLY[*]} \"' - autotune %s",
               words)
        ->out;
}

static void bash_completion(void **state) {
    (void)state;
    if (!has("bash")) {
        print_message("bash is missing\n");
        skip();
    }
    cli_expect(0, "./autotune help --as bash >completion && bash -n completion");
    const char *first = keep(bash("''"));
    for (int v = 0; v < num_verbs; v++) {
        check_has("bash", first, at_format(texts, " %s ", verbs[v].name));
        const char *all = keep(bash(at_format(texts, "%s --", verbs[v].name)));
        int n = 0;
        for (const char *s = all; (s = strstr(s, " --")); s++) n++;
        assert_int_equal(n, verbs[v].num_options);
        for (int i = 0; i < verbs[v].num_options; i++)
            check_has("bash", all, at_format(texts, " %s ", verbs[v].options[i].name));
    }
    check_has("bash", bash("ru"), " run ");
    check_has("bash", bash("run conv2d_n"), " conv2d_nhwc ");
    check_has("bash", bash("dense --tuner = g"), " grid ga ");
    check_has("bash", bash("help pick"), " pick_best ");
    cli_write("some thing.log", "");
    check_has("bash", bash("log so"), " some thing.log ");
    check_has("bash", bash("dense --log so"), " some thing.log ");
}

/* Every list of words, in all three. */
static void completed_words(void **state) {
    (void)state;
    const char *text[3];
    static const char *const shells[] = {"bash", "zsh", "fish"};
    int lists = 0;
    for (int s = 0; s < 3; s++)
        text[s] = keep(cli_expect(0, "./autotune help --as %s", shells[s])->out);
    for (int v = 0; v < num_verbs; v++)
        for (int i = 0; i < verbs[v].num_options; i++) {
            const option *o = &verbs[v].options[i];
            const char *words = *o->argument ? words_of(v, o) : NULL;
            if (!words) continue;
            at_text list = {0};
            for (const char *s = words; *s; s++)
                if (*s != ',') at_text_addn(&list, s, 1);
            const char *all = at_text_take(texts, &list);
            lists++;
            check_has(
                "bash", text[0],
                at_format(texts, "%s) mapfile -t COMPREPLY < <(compgen -W '%s'", o->name, all));
            check_has("zsh", text[1], at_format(texts, ":%s:(%s)'", o->argument, all));
            check_has("fish", text[2],
                      at_format(texts, "__autotune_verb %s' -l %s -x -a '%s'", verbs[v].name,
                                o->name + 2, all));
        }
    assert_true(lists > 10);
}

static void zsh_completion(void **state) {
    (void)state;
    if (!has("zsh")) {
        print_message("zsh is missing\n");
        skip();
    }
    cli_expect(0, "./autotune help --as zsh >_autotune && zsh -n _autotune");
    for (int v = 0; v < num_verbs; v++) {
        /* zsh's own functions only say what they are given */
        const char *all =
            keep(cli_expect(0,
                            "zsh -fc 'compdef() { : }; _arguments() { print -l -- \"$@\" }; "
                            "source ./_autotune; words=(autotune %s --); CURRENT=3; _autotune'",
                            verbs[v].name)
                     ->out);
        assert_int_equal(cli_count_lines(all, "--"), verbs[v].num_options);
        for (int i = 0; i < verbs[v].num_options; i++) {
            const option *o = &verbs[v].options[i];
            const char *line = at_format(texts, "%s%s[", o->name, *o->argument ? "=" : "");
            assert_int_equal(cli_count_lines(all, line), 1);
        }
    }
}

static void fish_completion(void **state) {
    (void)state;
    if (!has("fish")) {
        print_message("fish is missing\n");
        skip();
    }
    cli_expect(0, "./autotune help --as fish >c.fish && fish -n c.fish");
    at_text script = {0};
    at_text_add(&script, "source c.fish\n");
    for (int v = 0; v < num_verbs; v++)
        at_text_addf(&script, "complete -C 'autotune %s --'; echo end\n", verbs[v].name);
    at_text_add(&script, "complete -C 'autotune dense --compiler g'; complete -C 'autotune sho'\n");
    cli_write("all.fish", at_text_str(&script));
    at_text_free(&script);
    const char *out = keep(cli_expect(0, "HOME=$PWD fish --no-config all.fish")->out);
    for (int v = 0; v < num_verbs; v++) {
        const char *end = strstr(out, "end\n");
        assert_non_null(end);
        const char *all = at_strndup(texts, out, (size_t)(end - out));
        assert_int_equal(cli_count_lines(all, "--"), verbs[v].num_options);
        for (int i = 0; i < verbs[v].num_options; i++)
            assert_int_equal(
                cli_count_lines(all, at_format(texts, "%s\t", verbs[v].options[i].name)), 1);
        out = end + strlen("end\n");
    }
    assert_int_equal(cli_count_lines(out, "gcc\t"), 1);
    assert_int_equal(cli_count_lines(out, "show\t"), 1);
}

/* ---- docs ------------------------------------------------------------------------------------ */

/* The verb of the command that the place is in: behind "autotune ", on one line, with neither the
 * end of the command nor a backquote between; -1: it is in none. */
static int verb_at(const char *line, const char *place) {
    static const char program[] = "autotune ";
    const char *command = NULL;
    for (const char *s = line; (s = strstr(s, program)) && s < place; s++) command = s;
    if (!command) return -1;
    command += strlen(program);
    if (strcspn(command, "`|;&#)") < (size_t)(place - command)) return -1;
    int tune = -1;
    for (int v = 0; v < num_verbs; v++) {
        size_t n = strlen(verbs[v].name);
        if (!strncmp(command, verbs[v].name, n) && command[n] == ' ') return v;
        if (!strcmp(verbs[v].name, "tune")) tune = v;
    }
    return tune;
}

/* Every --word on a line with the program, or alone in backquotes, is an option; in a command, of
 * its verb. */
static void check_page(const char *path) {
    const char *page = cli_source(texts, path);
    for (const char *line = page; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *text = at_strndup(texts, line, strcspn(line, "\n"));
        bool ours = strstr(text, "autotune ") && !strstr(text, "git ") && !strstr(text, "apt-get");
        for (const char *s = text; (s = strstr(s, "--")); s += 2) {
            size_t n = 2 + strspn(s + 2, "abcdefghijklmnopqrstuvwxyz-");
            if (n == 2 || (s > text && s[-1] == '-')) continue;
            bool quoted = s > text && s[-1] == '`' && strchr("` =", s[n]);
            if ((ours || quoted) && !is_option(s, n) && strncmp(s, "--version", 9) != 0 &&
                strncmp(s, "--worker", 8) != 0)
                fail_msg("%s: %.*s is no option: %s", path, (int)n, s, text);
            int v = verb_at(text, s);
            if (v >= 0 && is_option(s, n) && !takes(v, s, n))
                fail_msg("%s: %s has no %.*s: %s", path, verbs[v].name, (int)n, s, text);
        }
    }
}

static bool is_told(const char *pages, const char *name) {
    size_t n = strlen(name);
    for (const char *s = pages; (s = strstr(s, name)); s += n)
        if (s[n] != '-' && !isalpha((unsigned char)s[n])) return true;
    return false;
}

static void docs(void **state) {
    (void)state;
    if (!cli_has_xgb()) skip(); /* they tell of its options, too */
    const char *list = keep(
        cli_expect(0, "cd %s && ls README.md docs/*.md docs/*/*.md examples/*.md", sources)->out);
    int pages = 0;
    for (const char *s = list; *s; s += strcspn(s, "\n") + 1, pages++) {
        const char *path = at_strndup(texts, s, strcspn(s, "\n"));
        if (!strstr(path, "tophub") && !strstr(path, "history"))
            check_page(path); /* of other days */
    }
    assert_true(pages >= 6);
    const char *all =
        keep(cli_expect(0, "cd %s && cat README.md docs/*.md docs/notes/*.md", sources)->out);
    for (int v = 0; v < num_verbs; v++)
        for (int i = 0; i < verbs[v].num_options; i++)
            if (!is_told(all, verbs[v].options[i].name))
                fail_msg("no page tells of %s", verbs[v].options[i].name);
    const char *page = cli_source(texts, "docs/cli.md");
    for (int v = 0; v < num_verbs; v++)
        if (strcmp(verbs[v].name, "tune") != 0 && strcmp(verbs[v].name, "version") != 0)
            check_has("docs/cli.md", page, at_format(texts, "\n    autotune %s", verbs[v].name));
}

/* ---- what people come with ------------------------------------------------------------------- */

/* The first lines name the doors; options of a verb with many stand in groups, each once. */
static void first_lines(void **state) {
    (void)state;
    const char *help = keep(cli_expect(0, "./autotune --help")->out);
    const char *usage = strstr(help, "usage: ");
    assert_non_null(usage);
    static const char *const doors[] = {".onnx", ".te", "conv2d --args", "./kernel.c",
                                        "verify old.log"};
    for (size_t i = 0; i < sizeof doors / sizeof *doors; i++) {
        const char *at = strstr(help, doors[i]);
        assert_true(at && at < usage);
    }
    assert_true(cli_count_lines(help, "") <= 70); /* two screens */
    help = keep(cli_expect(0, "./autotune help tune")->out);
    assert_null(strstr(help, "%s")); /* a list that nothing was put in */
    const char *last = help;
    static const char *const groups[] = {"\nBasic:\n", "\nNetwork:\n", "\nMeasuring:\n",
                                         "\nSearch:\n", "\nFor experts:\n"};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        const char *at = strstr(help, groups[i]);
        assert_true(at && at >= last);
        last = at;
    }
    for (int v = 0; v < num_verbs; v++)
        for (int i = 0; i < verbs[v].num_options; i++)
            for (int j = 0; j < i; j++)
                assert_string_not_equal(verbs[v].options[i].name, verbs[v].options[j].name);
}

/* A file of another kind says what it is and what takes it. */
static void other_files(void **state) {
    (void)state;
    static const char *const files[][2] = {
        {"old.log", "./old.log is a log, and no template"},
        {"w.npy", "--weight and --array take it"},
        {"model.pt", "torch.onnx.export makes MODEL.onnx of it"},
        {"cache.json", "autotune replay takes a cache of Kernel Tuner"},
        {"net.workload", "autotune tune --workload takes it"},
        {"kernel.cu", "kernels here run on CPUs"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        cli_write(files[i][0], "");
        const cli_result *r = cli_expect(2, "./autotune ./%s", files[i][0]);
        if (!strstr(r->err, files[i][1])) fail_msg("%s", r->err);
        assert_int_equal(cli_count_lines(r->err, ""), 1);
        cli_expect(2, "./autotune %s", files[i][0]);
        cli_expect(2, "./autotune tune ./%s", files[i][0]);
    }
}

/* ---- misspelt -------------------------------------------------------------------------------- */

static void proposals(void **state) {
    (void)state;
    static const char *const lines[][2] = {
        {"rnu", "did you mean run?"},
        {"conv2d_3x3_gem", "did you mean conv2d_3x3_gemm?"},
        {"help tnue", "did you mean autotune help tune?"},
        {"run desne", "did you mean dense?"},
        {"dense --tirals 3", "did you mean --trials?"},
        {"dense --tuner gaa", "did you mean ga?"},
        {"dense --compiler clan", "did you mean clang?"},
        {"dense --workload resnet51", "did you mean resnet50?"},
        {"run dense --args MM=3", "did you mean M?"},
        {"run dense --config '{\"entity\": [[\"tile_yy\", \"sp\", [-1, 1]]]}'", "perhaps tile_y"},
        {"help nothing_like_it", "autotune --help lists them"},
        {"help --as man x", "there are autotune, templates, records"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const cli_result *r = cli_expect(2, "./autotune %s", lines[i][0]);
        if (!strstr(r->err, lines[i][1])) fail_msg("%s: %s", lines[i][0], r->err);
        assert_string_equal(r->out, "");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_of_a_verb),
        cmocka_unit_test(man_pages),
        cmocka_unit_test(bash_completion),
        cmocka_unit_test(completed_words),
        cmocka_unit_test(zsh_completion),
        cmocka_unit_test(fish_completion),
        cmocka_unit_test(docs),
        cmocka_unit_test(first_lines),
        cmocka_unit_test(other_files),
        cmocka_unit_test(proposals),
    };
    return cmocka_run_group_tests_name("cli/help", tests, setup, teardown);
}
