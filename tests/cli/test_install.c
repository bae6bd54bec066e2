/* make install and uninstall: all that is needed is there, works from a path with blanks, and goes
 * again; the version is one everywhere. */
#include "tests/cli/cli_test.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char sources[PATH_MAX], build[PATH_MAX];

static int setup(void **state) {
    const char *program = getenv("AUTOTUNE");
    snprintf(build, sizeof build, "%s", program ? program : "build/autotune");
    char *slash = strrchr(build, '/');
    if (!slash || !getcwd(sources, sizeof sources)) return -1;
    *slash = 0;
    return cli_setup(state);
}

static const cli_result *make(const char *target) {
    return cli_expect(
        0,
        "here=$PWD; env -u MAKEFLAGS -u MAKELEVEL make -s -C %s %s B=%s PREFIX=/usr/local "
        "DESTDIR=\"$here/a place\"",
        sources, target, build);
}

/* Objects of an older build, made with other flags, are made again. */
static void other_flags(void **state) {
    (void)state;
#define MAKE                                                                                       \
    "cd '%s' && env -u MAKEFLAGS -u MAKELEVEL make -s B=\"$here/b\" \"$here/b/base/hash.o\" "
    cli_expect(0, "here=$PWD; " MAKE "&& " MAKE "-q", sources, sources);
    assert_int_equal(cli_run("here=$PWD; " MAKE "-q PIC=-fno-pic", sources)->status, 1);
    cli_expect(0, "here=$PWD; " MAKE "PIC=-fno-pic && " MAKE "-q PIC=-fno-pic", sources, sources);
    assert_int_equal(cli_run("here=$PWD; " MAKE "-q", sources)->status, 1);
    cli_expect(0, "rm -r b");
}

static bool has(const char *program) { return !cli_run("command -v %s", program)->status; }

/* The shell's variable D is where it was installed. */
#define IN "D=\"$PWD/a place/usr/local\"; "

static void versions(void) {
    char version[64];
    const char *said = cli_expect(0, IN "\"$D/bin/autotune\" --version")->out;
    assert_int_equal(sscanf(said, "autotune %63s", version), 1);
    cli_expect(0, IN "grep -q '^Version: %s$' \"$D/lib/pkgconfig/autotune.pc\"", version);
    for (const char *const *p =
             (const char *const[]){"man1/autotune.1", "man7/autotune-templates.7",
                                   "man5/autotune-records.5", NULL};
         *p; p++)
        cli_expect(0, IN "grep -q '^.TH .*\"autotune %s\"' \"$D/share/man/%s\"", version, *p);
    cli_expect(0,
               "sed -n 's/^## //p' %s/NEWS.md | grep -vx Unreleased | head -n 1 | grep -q '^%s '",
               sources, version);
}

static void install(void **state) {
    (void)state;
    make("install");
    versions();
    cli_expect(0, IN "for f in share/bash-completion/completions/autotune "
                     "share/zsh/site-functions/_autotune "
                     "share/fish/vendor_completions.d/autotune.fish share/doc/autotune/README.md; "
                     "do test -s \"$D/$f\" || exit 1; done");
    /* Neither the sources nor a home is needed, and numbers keep their points. */
    cli_expect(0, IN "mkdir 'work here' && cd 'work here' && HOME=/proc LC_ALL=de_DE.UTF-8 "
                     "\"$D/bin/autotune\" dense --args M=3,N=16,K=5 --trials 2 --tuner random && "
                     "grep -q '\"result\": \\[\\[[0-9]*[.][0-9e-]*' dense.log");
    if (has("gcc"))
        cli_expect(0, IN "cd 'work here' && HOME=/proc \"$D/bin/autotune\" run dense --args "
                         "M=3,N=16,K=5 --compiler gcc");
}

/* A template of the author's own, against the installed header. */
static void authors(void **state) {
    (void)state;
    if (!has("pkg-config")) {
        print_message("pkg-config is missing\n");
        skip();
    }
    cli_expect(0, IN "cp \"$D/share/doc/autotune/templates/dense.c\" mine.c && "
                     "sed -i 's/\"templates\\/template.h\"/\"template.h\"/' mine.c && "
                     "export PKG_CONFIG_PATH=\"$D/lib/pkgconfig\" && "
                     "eval \"cc -std=c99 -Wall -Wextra -Werror -fsyntax-only mine.c "
                     "$(pkg-config --cflags --define-variable=prefix=\"$D\" autotune)\"");
}

/* A program with the installed library, shared and static, and the installed worker. */
static void programs(void **state) {
    (void)state;
    if (!has("pkg-config")) {
        print_message("pkg-config is missing\n");
        skip();
    }
    if (!cli_run(IN "nm -D \"$D/lib/libautotune.so\" | grep -q '__[a-z]*san_'")->status) {
        print_message("the library is built with a sanitizer\n");
        skip();
    }
    cli_expect(0, IN "test -L \"$D/lib/libautotune.so\" && "
                     "readelf -d \"$D/lib/libautotune.so\" | grep -q 'SONAME.*libautotune.so.1'");
    static const char ask[] = "export PKG_CONFIG_PATH=\"$D/lib/pkgconfig\"; ask() { pkg-config "
                              "--define-variable=prefix=\"$D\" \"$@\" autotune; }; ";
    cli_expect(0,
               IN "%s eval \"cc -O2 -Wall -Wextra -Werror '%s/examples/library.c' $(ask --cflags "
                  "--libs) -o shared\"",
               ask, sources);
    cli_expect(0,
               IN "%s eval \"cc -O2 '%s/examples/library.c' $(ask --cflags) -l:libautotune.a "
                  "$(ask --static --libs) -o static\"",
               ask, sources);
    cli_expect(0, IN "! ldd ./static | grep -q libautotune");
    cli_expect(0,
               IN "%s LD_LIBRARY_PATH=\"$D/lib\" AUTOTUNE_WORKER=\"$(ask --variable=worker)\" "
                  "./shared new.log 2>/dev/null | grep -q ' 0 of 8192 elements wrong'",
               ask);
    cli_expect(0, "./static new.log | grep -q ' 0 of 8192 elements wrong'");
}

/* The archive of the sources: twice the same bytes, and all of them. */
static void dist(void **state) {
    (void)state;
    if (cli_run("git -C %s rev-parse HEAD", sources)->status) {
        print_message("the sources are in no repository\n");
        skip();
    }
    cli_expect(0,
               "here=$PWD; cd %s && for i in 1 2; do tools/dist \"$here/dist$i\" || exit 1; done",
               sources);
    cli_expect(0, "cmp dist1/*.tar.gz dist2/*.tar.gz && tar -tzf dist1/autotune-*.tar.gz >names");
    const char *names = cli_read("names");
    assert_non_null(strstr(names, "/Makefile\n"));
    assert_non_null(strstr(names, "/docs/README.md\n"));
    assert_non_null(strstr(names, "/python/autotune/__init__.py\n"));
}

static void uninstall(void **state) {
    (void)state;
    make("install");
    cli_expect(0, IN "echo mine >\"$D/share/doc/autotune/note\"");
    make("uninstall");
    assert_string_equal(cli_expect(0, "find 'a place' -type f")->out,
                        "a place/usr/local/share/doc/autotune/note\n");
    cli_expect(0, IN "rm \"$D/share/doc/autotune/note\"");
    make("uninstall"); /* a second time: there is nothing to do */
    cli_expect(0, IN "test ! -e \"$D/share/doc/autotune\" && test ! -e \"$D/include/autotune\" && "
                     "test ! -e \"$D/libexec/autotune\"");
    cli_expect(0, "test -z \"$(find 'a place/usr/local' -mindepth 1)\"");
}

/* The library finds its worker by it, and takes no relative path. An empty one, as of a variable
 * that is not set, was the system's root. */
static void relative_prefix(void **state) {
    (void)state;
    static const char *const goals[] = {"install", "uninstall"}, *const prefixes[] = {"rel/pre",
                                                                                      ""};
    for (int i = 0; i < 4; i++) {
        const char *prefix = prefixes[i % 2];
        const cli_result *r =
            cli_run("env -u MAKEFLAGS -u MAKELEVEL make -s -C '%s' -n %s B=%s PREFIX=%s", sources,
                    goals[i / 2], build, prefix);
        char wanted[80];
        snprintf(wanted, sizeof wanted, "PREFIX=%s: an absolute path is accepted, such as /",
                 prefix);
        assert_int_equal(r->status, 2);
        assert_non_null(strstr(r->err, wanted));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_flags),    cmocka_unit_test(install), cmocka_unit_test(authors),
        cmocka_unit_test(programs),       cmocka_unit_test(dist),    cmocka_unit_test(uninstall),
        cmocka_unit_test(relative_prefix)};
    return cmocka_run_group_tests_name("cli/install", tests, setup, cli_teardown);
}
