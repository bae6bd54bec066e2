/* Who calls whom, as the compiled files say: no file of a folder calls one that calls it back, a
 * file's name tells by itself which one is meant, and a function that other files see is called by
 * one, or looked at by a test. AUTOTUNE: the program, beside which the compiled files lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/arena.h"

enum { MAX_FILES = 1024, MAX_NAMES = 1 << 16 };

static const char *const folders[] = {"base",      "knobs",  "schedule", "codegen", "cost",
                                      "templates", "sketch", "tuners",   "runtime", "records",
                                      "export",    "engine", "network",  "library", "remote",
                                      "foreign",   "view",   "cli"};
enum { NUM_FOLDERS = sizeof folders / sizeof *folders };

typedef struct symbol {
    const char *name;
    int file;
    bool is_function;
} symbol;

static struct {
    const char *path[MAX_FILES], *object[MAX_FILES]; /* folder by folder */
    int num_files, begin[NUM_FOLDERS + 1];
    symbol defined[MAX_NAMES], used[MAX_NAMES]; /* sorted by name */
    int num_defined, num_used;
} all;

/* ---- reading --------------------------------------------------------------------------------- */

static const char *object_of(const char *path) {
    const char *program = getenv("AUTOTUNE");
    const char *slash = program ? strrchr(program, '/') : NULL;
    const char *build = slash ? at_strndup(arena, program, (size_t)(slash - program)) : "build";
    return at_format(arena, "%s/%.*s.o", build, (int)strlen(path) - 2, path);
}

static void find_files(const char *below) {
    DIR *d = opendir(below);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        const char *path = at_format(arena, "%s/%s", below, e->d_name);
        size_t n = strlen(path);
        if (e->d_type == DT_DIR && e->d_name[0] != '.') find_files(path);
        if (e->d_type != DT_REG || strcmp(path + n - 2, ".c")) continue;
        if (access(object_of(path), R_OK)) continue; /* XGBoost's, without it */
        assert_true(all.num_files < MAX_FILES);
        all.path[all.num_files] = path;
        all.object[all.num_files++] = object_of(path);
    }
    closedir(d);
}

/* "OBJECT: NAME TYPE [VALUE [SIZE]]" per line; U is what it uses of others. */
static void read_symbols(void) {
    char line[1024], object[256], name[512], type;
    at_text command = {0};
    at_text_add(&command, "nm -A -g -P");
    for (int i = 0; i < all.num_files; i++) at_text_addf(&command, " %s", all.object[i]);
    FILE *in = popen(at_text_str(&command), "r");
    assert_non_null(in);
    for (int file = 0; fgets(line, sizeof line, in);) {
        if (sscanf(line, "%255[^:]: %511s %c", object, name, &type) != 3) continue;
        while (strcmp(object, all.object[file])) assert_true(++file < all.num_files);
        bool uses = type == 'U' || type == 'w';
        int *n = uses ? &all.num_used : &all.num_defined;
        assert_true(*n < MAX_NAMES);
        (uses ? all.used : all.defined)[(*n)++] =
            (symbol){at_strdup(arena, name), file, type == 'T'};
    }
    assert_int_equal(pclose(in), 0);
    at_text_free(&command);
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const symbol *)a)->name, ((const symbol *)b)->name);
}

static int setup(void **state) {
    make_arena(state);
    if (access(object_of("base/arena.c"), R_OK) || system("nm --version >/dev/null 2>&1")) return 0;
    for (int i = 0; i < NUM_FOLDERS; i++) {
        all.begin[i] = all.num_files;
        find_files(folders[i]);
    }
    all.begin[NUM_FOLDERS] = all.num_files;
    read_symbols();
    qsort(all.defined, (size_t)all.num_defined, sizeof *all.defined, by_name);
    qsort(all.used, (size_t)all.num_used, sizeof *all.used, by_name);
    return 0;
}

static void need_files(void) {
    if (all.num_files > 100) return;
    print_message("skipped: no compiled files, or no nm that reads them\n");
    skip();
}

/* ---- circles --------------------------------------------------------------------------------- */

typedef struct folder_calls {
    int begin, n;               /* files */
    const char *name[128][128]; /* by which one calls the other; NULL: it does not */
} folder_calls;

static void find_calls(folder_calls *f) {
    assert_true(f->n <= 128);
    for (int i = 0; i < all.num_used; i++) {
        const symbol *u = &all.used[i], *d = bsearch(u, all.defined, (size_t)all.num_defined,
                                                     sizeof *all.defined, by_name);
        int from = u->file - f->begin, to = d ? d->file - f->begin : -1;
        if (from >= 0 && from < f->n && to >= 0 && to < f->n) f->name[from][to] = u->name;
    }
}

static bool reaches(const folder_calls *f, int from, int to, bool *seen) {
    if (from == to) return true;
    seen[from] = true;
    for (int i = 0; i < f->n; i++)
        if (f->name[from][i] && !seen[i] && reaches(f, i, to, seen)) return true;
    return false;
}

static int count_circles(const folder_calls *f) {
    int n = 0;
    for (int i = 0; i < f->n; i++)
        for (int j = 0; j < f->n; j++) {
            bool seen[128] = {false};
            if (!f->name[i][j] || !reaches(f, j, i, seen)) continue;
            print_message("%s uses %s of %s, which uses the former\n", all.path[f->begin + i],
                          f->name[i][j], all.path[f->begin + j]);
            n++;
        }
    return n;
}

static void circles(void **state) {
    (void)state;
    int n = 0;
    need_files();
    for (int i = 0; i < NUM_FOLDERS; i++) {
        folder_calls *f = AT_NEW(arena, folder_calls);
        f->begin = all.begin[i];
        f->n = all.begin[i + 1] - all.begin[i];
        find_calls(f);
        n += count_circles(f);
    }
    assert_int_equal(n, 0);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Of files in different folders. A registry.c lists what its folder is made of. */
static void file_names(void **state) {
    (void)state;
    need_files();
    for (int i = 0, folder = 0; i < all.num_files; i++) {
        while (all.begin[folder + 1] <= i) folder++;
        for (int j = 0; j < all.begin[folder]; j++) {
            const char *mine = strrchr(all.path[i], '/'), *other = strrchr(all.path[j], '/');
            if (!strcmp(mine, other) && strcmp(mine, "/registry.c"))
                fail_msg("%s and %s have one name", all.path[i], all.path[j]);
        }
    }
}

static bool is_called(const symbol *d) {
    return bsearch(d, all.used, (size_t)all.num_used, sizeof *all.used, by_name) != NULL;
}

static bool holds_word(const char *word, const char *where) {
    return !system(at_format(arena, "grep -rqw --include='*.[ch]' %s %s", word, where));
}

/* What nobody else calls is static, and what tests alone call is theirs; the interpreters are what
 * tests compare with. */
static void public_functions(void **state) {
    (void)state;
    int n = 0;
    need_files();
    for (int i = 0; i < all.num_defined; i++) {
        const symbol *d = &all.defined[i];
        const char *path = all.path[d->file];
        if (!d->is_function || is_called(d) || !strcmp(d->name, "main") ||
            !strncmp(d->name, "at_lib_", 7) || strstr(path, "_interp.c"))
            continue;
        const char *calls = at_format(arena, "-e '^ .*\\b%s(.*' %s", d->name, path);
        if (holds_word(d->name, "tests bench") && !system(at_format(arena, "grep -q %s", calls)))
            continue;
        print_message("%s: no other file uses %s\n", path, d->name);
        n++;
    }
    assert_int_equal(n, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(circles), cmocka_unit_test(file_names),
                                       cmocka_unit_test(public_functions)};
    return cmocka_run_group_tests_name("run/calls", tests, setup, free_arena);
}
