/* docs/notes/architecture.md is true: the program after each pass is what the passes print, the
 * files it names are there, and folders include only what its table allows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "codegen/codegen.h"
#include "sketch/sketch.h"
#include "tests/arena.h"
#include "tests/whole_file.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARGS "N=1,H=4,W=4,CI=8,CO=16"
#define ENTITY                                                                                     \
    "{\"entity\": [[\"tile_y\", \"sp\", [-1, 4, 4]], [\"tile_x\", \"sp\", [-1, 1, 16]], "          \
    "[\"tile_k\", \"sp\", [-1, 2]]]}"

static const char *page;

static int setup(void **state) {
    (void)state;
    char *text;
    size_t n;
    at_error err;
    arena = at_arena_new();
    if (read_whole(arena, "docs/notes/architecture.md", &text, &n, &err) != AT_OK) return -1;
    page = text;
    return 0;
}

/* ---- the program after each pass ------------------------------------------------------------- */

static void print_pass(const at_program *p, const char *pass, at_text *out) {
    at_lower_options o = {.dialect = AT_DIALECT_TCC,
                          .target = at_target_find("avx2"),
                          .name = "kernel",
                          .dump = pass,
                          .dump_out = out};
    at_kernel *k;
    at_error err;
    if (!strcmp(pass, "tree")) at_program_print(out, p, false);
    else if (at_lower(arena, p, &o, &k, &err) != AT_OK) fail_msg("%s", err.text);
}

/* A block is the output, or runs of its lines in order with "..." between them. */
static void check_block(const char *pass, const char *block, const char *output) {
    const char *rest = output;
    while (*block) {
        const char *gap = strstr(block, "...\n");
        size_t n = gap ? (size_t)(gap - block) : strlen(block);
        const char *lines = at_strndup(arena, block, n), *found = strstr(rest, lines);
        if (!found || (found > output && found[-1] != '\n')) {
            /* longer than cmocka's messages may be */
            fprintf(stderr, "after %s, the page shows\n%sof what is now\n%s", pass, lines, output);
            fail();
        }
        rest = found + n;
        block += n + (gap ? strlen("...\n") : 0);
    }
}

static at_program *make_program(void) {
    const at_template_row *row;
    const at_json *json;
    at_task *task;
    at_config c;
    at_program *p;
    at_error err;
    if (at_template_find("conv2d_3x3_gemm", &row, &err) != AT_OK ||
        at_task_new(arena, row, ARGS, &task, &err) != AT_OK ||
        at_json_parse(arena, ENTITY, strlen(ENTITY), &json, &err) != AT_OK ||
        at_config_from_json(arena, at_task_space(task), json, &c, &err) != AT_OK ||
        at_task_program(arena, task, &c, &p, &err) != AT_OK)
        fail_msg("%s", err.text);
    return p;
}

static void passes(void **state) {
    (void)state;
    static const char fence[] = "\n```";
    const at_program *p = make_program();
    bool shown[16] = {false};
    assert_non_null(strstr(page, "--args " ARGS " --isa avx2"));
    assert_non_null(strstr(page, ENTITY));
    for (const char *at = page; (at = strstr(at, fence));) {
        at += strlen(fence);
        const char *pass = at_strndup(arena, at, strcspn(at, "\n"));
        const char *end = strstr(at, fence);
        at += strcspn(at, "\n") + 1;
        assert_non_null(end);
        at_text out = {0};
        print_pass(p, pass, &out);
        if (!out.len) fail_msg("no pass \"%s\"", pass);
        check_block(pass, at_strndup(arena, at, (size_t)(end + 1 - at)), out.data);
        at_text_free(&out);
        for (int i = 0; at_pass_names[i]; i++) shown[i] |= !strcmp(pass, at_pass_names[i]);
        at = end + strlen(fence);
    }
    for (int i = 0; at_pass_names[i]; i++)
        if (!shown[i]) fail_msg("pass %s is not shown", at_pass_names[i]);
}

/* The picture is what the script draws of the passes there are. */
static void picture(void **state) {
    (void)state;
    char *kept;
    size_t n;
    at_error err;
    at_text drawn = {0};
    char part[4096];
    if (!getenv("AUTOTUNE")) setenv("AUTOTUNE", "build/autotune", 1);
    assert_int_equal(read_whole(arena, "docs/pictures/pipeline.svg", &kept, &n, &err), AT_OK);
    FILE *p = popen("tools/pipeline-picture", "r");
    assert_non_null(p);
    while ((n = fread(part, 1, sizeof part, p))) at_text_addn(&drawn, part, n);
    assert_int_equal(pclose(p), 0);
    for (int i = 0; at_pass_names[i]; i++)
        if (!strstr(drawn.data, at_format(arena, ">%s<", at_pass_names[i])) &&
            !strstr(drawn.data, at_format(arena, ">%s programs:<", at_pass_names[i])))
            fail_msg("pass %s is not drawn", at_pass_names[i]);
    if (strcmp(at_text_str(&drawn), kept))
        fail_msg("docs/pictures/pipeline.svg is old: tools/pipeline-picture "
                 ">docs/pictures/pipeline.svg");
    at_text_free(&drawn);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Everything in backquotes that looks like a path. */
static void files(void **state) {
    (void)state;
    int count = 0;
    for (const char *at = page; (at = strchr(at, '`')); at++) {
        size_t n = strcspn(at + 1, "`\n ");
        const char *path = at_strndup(arena, at + 1, n);
        bool plain = at[n + 1] == '`' && strchr(path, '/') && !strchr(path, '<');
        if (!plain || !isalpha((unsigned char)*path)) continue;
        if (access(path, R_OK)) fail_msg("%s is not there", path);
        count++;
        at += n + 1;
    }
    assert_true(count > 30);
}

/* ---- arrows ---------------------------------------------------------------------------------- */

/* The folder that a line includes from, or NULL. */
static const char *included(const char *line) {
    static const char include[] = "#include \"";
    size_t n;
    if (strncmp(line, include, strlen(include))) return NULL;
    line += strlen(include);
    n = strcspn(line, "/\"\n");
    return line[n] == '/' ? at_strndup(arena, line, n) : NULL;
}

static bool allows(const char *list, const char *folder) {
    size_t n = strlen(folder);
    for (const char *p = list; (p = strstr(p, folder)); p += n)
        if ((p == list || !isalpha((unsigned char)p[-1])) && !isalpha((unsigned char)p[n]))
            return true;
    return !strcmp(list, "all");
}

/* Texts of files reach the terminal through view/terminal.c only; the others here print figures and
 * what is visible already. */
static void check_output(const char *path, const char *line) {
    static const char *const may[] = {"view/terminal.c", "base/error.c", "base/memory.c",
                                      "cli/interrupt.c", "cli/main.c",   "runtime/tensors.c"};
    static const char *const whole[] = {"printf(", "puts(", "putchar(", "perror("};
    static const char *const parts[] = {"fprintf(std", ", stdout)", ", stderr)", "STDOUT_FILENO, ",
                                        "STDERR_FILENO, "};
    size_t n = strcspn(line, "\n");
    const char *text = at_strndup(arena, line, n), *first = text + strspn(text, " ");
    bool writes = false;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        writes |= !strncmp(first, whole[i], strlen(whole[i]));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        writes |= strstr(text, parts[i]) != NULL;
    for (size_t i = 0; i < sizeof may / sizeof *may; i++) writes &= strcmp(path, may[i]) != 0;
    if (writes) fail_msg("%s writes to the terminal itself: %s", path, text);
}

/* What codegen/ shows to others; those besides its own name tell what a target and a lowered
 * program are. */
static bool shows_codegen(const char *line) {
    static const char *const shown[] = {"codegen.h\"",          "target.h\"",
                                        "lowered.h\"",          "tile/tile_parts.h\"",
                                        "tile/tile_wanted.h\"", "weight_blocks.h\""};
    const char *name = strchr(line, '/') + 1;
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (!strncmp(name, shown[i], strlen(shown[i]))) return true;
    return false;
}

/* The folders of architectures, beside each other in codegen/, cost/ and runtime/, and the words
 * that stand in them alone: elsewhere an instruction set is a record or a name in a text of the
 * user's. */
static const struct {
    const char *folder, *words[9];
} architectures[] = {
    {"/x86/", {"sse2", "avx2", "avx512", "zmm", "ymm", "__x86_64__"}},
    {"/aarch64/", {"neon", "asimd", "a64_", "fmla", "__aarch64__", "dotprod", "fp16fml", "hwcap"}},
};
enum { NUM_ARCHITECTURES = sizeof architectures / sizeof *architectures };

static void check_words(const char *path, const char *text) {
    for (int k = 0; k < NUM_ARCHITECTURES; k++) {
        if (strstr(path, architectures[k].folder)) continue;
        for (int i = 0; architectures[k].words[i]; i++) {
            const char *word = architectures[k].words[i];
            for (const char *at = text; (at = strcasestr(at, word)); at++) {
                if (strncasecmp(at, "ymmetr", 6) != 0) fail_msg("%s knows of %s", path, word);
            }
        }
    }
}

/* Does a file include from the folder of an architecture? Those that list the architectures may. */
static void check_architecture(const char *path, const char *line) {
    const char *name = strchr(line, '/');
    bool knows = !strcmp(path, "codegen/target.c") || !strcmp(path, "cost/core.c");
    for (int k = 0; k < NUM_ARCHITECTURES && !knows; k++) {
        const char *folder = architectures[k].folder;
        if (!strncmp(name, folder, strlen(folder)) && !strstr(path, folder))
            fail_msg("%s knows of an architecture", path);
    }
}

/* A function that a higher folder puts into a variable of a lower one is an arrow that no #include
 * shows: who calls it is told by an argument. Variables of files that hold a function, and rows of
 * a table that can be changed. */
static void check_hook(const char *path, const char *line) {
    const char *text = at_strndup(arena, line, strcspn(line, ";\n"));
    const char *paren = strchr(text, '('), *fn = strstr(text, "_fn *");
    bool ends = line[strlen(text)] == ';', is_type = !strncmp(text, "typedef ", 8);
    bool points = paren && !strncmp(paren, "(*", 2) && strncmp(paren, "(*const ", 8) != 0;
    if (!isalpha((unsigned char)*text) || is_type || !ends) return;
    if (points || (fn && !strchr(fn, '('))) fail_msg("%s keeps a function: %s", path, text);
}

/* A header has one subject. */
static void check_length(const char *path, const char *text) {
    enum { MOST_LINES = 300 };
    int lines = 0;
    for (const char *p = text; (p = strchr(p, '\n')); p++) lines++;
    if (strcmp(path + strlen(path) - 2, ".h") == 0 && lines > MOST_LINES)
        fail_msg("%s has %d lines; a header has at most %d", path, lines, MOST_LINES);
}

static void check_file(const char *folder, const char *path, const char *allowed) {
    char *text;
    size_t n = strlen(path);
    at_error err;
    if (strcmp(path + n - 2, ".c") && strcmp(path + n - 2, ".h")) return;
    if (read_whole(arena, path, &text, &n, &err) != AT_OK) fail_msg("%s", err.text);
    check_length(path, text);
    check_words(path, text);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *from = included(line);
        check_output(path, line);
        check_hook(path, line);
        if (from) check_architecture(path, line);
        if (from && strcmp(from, folder) && !strcmp(from, "codegen") && !shows_codegen(line))
            fail_msg("%s includes what codegen/ keeps to itself", path);
        if (from && strcmp(from, folder) && !strcmp(from, "engine") &&
            strncmp(line, "#include \"engine/engine.h\"", 26))
            fail_msg("%s includes more of engine/ than engine/engine.h", path);
        if (!strncmp(line, "#include \"engine/measure/bench.h\"", 33) &&
            strncmp(path, "engine/measure/", 15) != 0)
            fail_msg("%s looks at what engine/measure/ keeps to itself", path);
        if (from && strcmp(from, folder) && !allows(allowed, from))
            fail_msg("%s includes from %s/; %s/ may use: %s", path, from, folder, allowed);
    }
}

static void check_folder(const char *folder, const char *below, const char *allowed) {
    DIR *d = opendir(below);
    if (!d) fail_msg("no folder %s", below);
    for (struct dirent *e; (e = readdir(d));) {
        const char *path = at_format(arena, "%s/%s", below, e->d_name);
        if (e->d_type == DT_DIR && e->d_name[0] != '.') check_folder(folder, path, allowed);
        else if (e->d_type == DT_REG) check_file(folder, path, allowed);
    }
    closedir(d);
}

/* Rows "| `folder/` | may use | holds |", also of a folder's rooms. Calls f of each; how many? */
static int each_row(bool rooms, void (*f)(const char *path, const char *allowed)) {
    int count = 0;
    for (const char *row = page; (row = strstr(row, "\n| `"));) {
        row += strlen("\n| `");
        const char *path = at_strndup(arena, row, strcspn(row, "`"));
        const char *cell = strstr(row, "| ") + 2, *slash = strchr(path, '/');
        char *allowed = at_strndup(arena, cell, strcspn(cell, "|"));
        if (!slash || (slash[1] != 0) != rooms) continue;
        if (*allowed) allowed[strlen(allowed) - 1] = 0; /* its space */
        f(at_strndup(arena, path, strlen(path) - 1), allowed);
        count++;
    }
    return count;
}

/* What it is for stands there. */
static void check_paragraph(const char *folder) {
    if (!strstr(page, at_format(arena, "**`%s/`**", folder)))
        fail_msg("no paragraph of %s/", folder);
}

static void check_row(const char *folder, const char *allowed) {
    check_paragraph(folder);
    check_folder(folder, folder, allowed);
}

static void arrows(void **state) {
    (void)state;
    assert_int_equal(each_row(false, check_row), 18);
}

/* ---- rooms ----------------------------------------------------------------------------------- */

/* What lies in engine/ itself stands above its rooms, but for this. */
static bool is_for_all_rooms(const char *name) {
    static const char *const shown[] = {"options.h\"", "version.h\""};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (!strncmp(name, shown[i], strlen(shown[i]))) return true;
    return false;
}

/* Does a room with this list of others include this file of its folder? */
static bool may_include(const char *folder, const char *room, const char *allowed,
                        const char *name) {
    size_t n = strcspn(name, "/\"");
    const char *other = at_strndup(arena, name, n);
    if (name[n] != '/') return strcmp(folder, "engine") != 0 || is_for_all_rooms(name);
    return !strcmp(other, room) || allows(allowed, other);
}

static void check_room(const char *path, const char *allowed) {
    DIR *d = opendir(path);
    const char *room = strrchr(path, '/') + 1;
    const char *folder = at_strndup(arena, path, (size_t)(room - path) - 1);
    const char *start = at_format(arena, "#include \"%s/", folder);
    check_paragraph(path);
    if (!d) fail_msg("no folder %s", path);
    for (struct dirent *e; (e = readdir(d));) {
        const char *file = at_format(arena, "%s/%s", path, e->d_name);
        char *text;
        size_t n;
        at_error err;
        if (e->d_type != DT_REG) continue;
        if (read_whole(arena, file, &text, &n, &err) != AT_OK) fail_msg("%s", err.text);
        for (const char *line = text; (line = strstr(line, start)); line++) {
            const char *name = line + strlen(start);
            if (!may_include(folder, room, allowed, name))
                fail_msg("%s includes %s/%.*s; of its folder it may use: %s", file, folder,
                         (int)strcspn(name, "\""), name, allowed);
        }
    }
    closedir(d);
}

static void rooms(void **state) {
    (void)state;
    assert_int_equal(each_row(true, check_room), 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(passes), cmocka_unit_test(picture),
                                       cmocka_unit_test(files), cmocka_unit_test(arrows),
                                       cmocka_unit_test(rooms)};
    return cmocka_run_group_tests_name("run/architecture", tests, setup, free_arena);
}
