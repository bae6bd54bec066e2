/* What is derived stays as it was: names, knobs, trees, defaults and edits of the templates, of the
 * computations in examples/te and tests/te and of random ones, as one hash each in
 * tests/golden/derivations.txt. `make golden-update` writes them anew; AT_DERIVATION=WHAT prints
 * the text behind one hash, to be compared with that of an earlier version. */
#include "tests/codegen/sketch_points.h"
#include "sketch/sketch.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define GOLDEN "tests/golden/derivations.txt"
enum { RANDOM = 500 };

/* ---- the text of a task ---------------------------------------------------------------------- */

static void add_space(at_text *out, const at_space *space) {
    at_text_addf(out, "%lld points\n", (long long)at_space_range_length(space));
    for (int k = 0; k < at_space_num_knobs(space); k++) {
        at_text_addf(out, "%s ", at_space_knob_name(space, k));
        at_space_print_knob(out, space, k);
        at_text_add(out, "\n");
    }
}

static void add_defaults(at_arena *a, at_text *out, const at_task *t, int sketch) {
    static const int lanes[] = {1, 4, 8, 16};
    for (int i = 0; i < 4; i++) {
        at_config c;
        at_error err;
        at_status s = sketch < 0 ? at_task_default_config(a, t, lanes[i], &c, &err)
                                 : at_task_sketch_default(a, t, sketch, lanes[i], &c, &err);
        at_text_addf(out, "%d lanes: ", lanes[i]);
        if (s == AT_OK) at_config_print_json(out, &c);
        else at_text_add(out, err.text);
        at_text_add(out, "\n");
    }
}

/* The tree of a template that was written, with its default's numbers. */
static void add_program(at_arena *a, at_text *out, const at_task *t) {
    at_config c;
    at_program *p;
    at_error err;
    if (at_task_default_config(a, t, 16, &c, &err) == AT_OK &&
        at_task_program(a, t, &c, &p, &err) == AT_OK)
        at_program_print(out, p, false);
    else at_text_add(out, err.text);
}

static void add_task(at_arena *a, at_text *out, const at_task *t) {
    at_text_addf(out, "%s %s\n%s\n", at_task_record_name(t), at_task_args_text(t), at_task_hash(t));
    add_space(out, at_task_space(t));
    add_defaults(a, out, t, -1);
    at_compute_print(out, at_task_compute(t));
    for (int i = 0; i < at_task_num_sketches(t); i++) {
        const at_sketch *s = at_sketch_of_task(t, i);
        at_text_addf(out, "\n%s%s\n", at_task_sketch_name(t, i),
                     i == at_task_default_sketch(t, 8) ? ", the default" : "");
        add_space(out, at_task_space(at_task_sketch(t, i)));
        add_defaults(a, out, t, i);
        if (!s) continue;
        for (int k = 0; k < s->num_steps; k++) {
            at_edit_print(out, &s->steps[k]);
            at_text_add(out, "\n");
        }
        at_text_addf(out, "%s\n%s\n", s->s->compute_text, s->s->tree_text);
    }
    if (!at_task_num_sketches(t)) add_program(a, out, t);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void add_line(at_text *out, const char *what, const char *text) {
    const char *shown = getenv("AT_DERIVATION");
    at_hash h;
    char hex[33];
    at_hash_init(&h);
    at_hash_add_str(&h, text);
    at_hash_hex(&h, hex);
    at_text_addf(out, "%.16s %s\n", hex, what);
    if (shown && !strcmp(shown, what)) fputs(text, stdout);
}

static void add_row(at_text *out, const char *what, const at_template_row *row, const char *args) {
    at_arena *a = at_arena_new();
    at_text text = {0};
    at_task *t;
    at_error err;
    if (at_task_new(a, row, args, &t, &err) == AT_OK) add_task(a, &text, t);
    else at_text_add(&text, err.text);
    add_line(out, what, at_text_str(&text));
    at_text_free(&text);
    at_arena_free(a);
}

/* Each number as the template has it, about half of it, and an odd one above it. */
static const char *other_args(at_arena *a, const at_template_row *row, int which) {
    at_text args = {0};
    at_task *t;
    at_error err;
    if (!which || at_task_new(a, row, "", &t, &err) != AT_OK) return "";
    for (int i = 0; i < at_task_num_numbers(t); i++) {
        const char *name;
        int64_t n = at_task_number(t, i, &name);
        if (which == 1) n = n > 3 ? n / 2 + 1 : n;
        else if (n > 3) n = n + 1 + n % 2;
        at_text_addf(&args, "%s%s=%lld", i ? "," : "", name, (long long)n);
    }
    return at_text_take(a, &args);
}

static void add_rows(at_arena *a, at_text *out, const at_template_row *row, const char *name) {
    for (int i = 0; i < 3; i++) {
        const char *args = other_args(a, row, i);
        if (!i || *args) add_row(out, at_format(a, "%s %s", name, args), row, args);
    }
}

static int by_name(const struct dirent **x, const struct dirent **y) {
    return strcmp((*x)->d_name, (*y)->d_name);
}

static void add_folder(at_arena *a, at_text *out, const char *folder) {
    struct dirent **files;
    int n = scandir(folder, &files, NULL, by_name);
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        const char *path = at_format(a, "%s/%s", folder, files[i]->d_name);
        const at_template_row *row;
        char *text;
        size_t length;
        at_error err;
        if (strstr(path, ".te")) {
            assert_int_equal(read_whole(a, path, &text, &length, &err), AT_OK);
            if (at_te_parse(a, path, text, length, &row, &err) == AT_OK)
                add_rows(a, out, row, path);
            else add_line(out, path, err.text);
        }
        free(files[i]);
    }
    free(files);
}

static void add_random(at_text *out) {
    random_program *p = calloc(1, sizeof *p);
    assert_non_null(p);
    for (int seed = 1, done = 0; done < RANDOM; seed++) {
        char what[40];
        built b;
        random_program_make((uint64_t)seed, p);
        if (build_open(&b, p) == USE_OK) {
            at_text text = {0};
            add_task(b.arena, &text, task_of_random(b.arena, p));
            snprintf(what, sizeof what, "seed %d", seed);
            add_line(out, what, at_text_str(&text));
            at_text_free(&text);
            done++;
        }
        build_close(&b);
    }
    free(p);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Every line that was kept must be there; files that are new since then have none. */
static void compare(const char *text, const char *kept) {
    at_text other = {0};
    int n = 0;
    for (; *kept; kept += strcspn(kept, "\n") + 1) {
        char line[200];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(kept, "\n") + 1, kept);
        if (strstr(text, line)) continue;
        if (n++ < 20) at_text_addf(&other, "  %s", line + 17);
    }
    if (n) fprintf(stderr, "%d derived otherwise:\n%s", n, at_text_str(&other)); /* long */
    at_text_free(&other);
    assert_int_equal(n, 0);
}

static void derivations(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_text out = {0};
    char *kept;
    size_t length;
    at_error err;
    for (int i = 0; i < at_template_count(); i++)
        add_rows(a, &out, at_template_at(i), at_template_at(i)->name);
    add_folder(a, &out, "examples/te");
    add_folder(a, &out, "tests/te");
    add_random(&out);
    if (getenv("AT_GOLDEN_UPDATE"))
        assert_int_equal(at_write_file(GOLDEN, out.data, out.len, &err), AT_OK);
    assert_int_equal(read_whole(a, GOLDEN, &kept, &length, &err), AT_OK);
    compare(at_text_str(&out), kept);
    at_text_free(&out);
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(derivations)};
    return cmocka_run_group_tests_name("codegen/derivations", tests, NULL, NULL);
}
