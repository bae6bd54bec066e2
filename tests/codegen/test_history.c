/* Histories: the edits that lead to a program, as text, make the same program of the plain tree: of
 * every template, of every sketch in examples/te, and of random trees. So does the tree that show
 * prints, read again. AT_COUNT: how many programs in all (10,000 in a full run); AT_SEED. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "codegen/codegen.h"
#include "tests/codegen/points.h"
#include "tests/codegen/random_program.h"
#include "sketch/sketch_int.h"

#include <stdlib.h>
#include <string.h>

/* The tree, however its loops are divided into lines; how deep they stand, the key says. */
static const char *printed(at_arena *a, const at_program *p) {
    at_text text = {0}, flat = {0};
    at_program_print(&text, p, true);
    for (const char *c = at_text_str(&text); *c; c++) {
        bool goes_on = !strncmp(c, " =>\n", 4);
        const char *next = c + (goes_on ? 4 : *c == '\n');
        if (next == c) {
            at_text_addn(&flat, c, 1);
            continue;
        }
        next += strspn(next, " ");
        at_text_add(&flat, goes_on && *next != '@' ? ", " : "\n");
        c = next - 1;
    }
    const char *copy = at_strdup(a, at_text_str(&flat));
    at_text_free(&text);
    at_text_free(&flat);
    return copy;
}

static void expect_same(at_arena *a, const at_program *p, const at_program *q, const char *what,
                        const char *steps) {
    const char *wanted = printed(a, p), *found = printed(a, q);
    if (strcmp(wanted, found)) fail_msg("%s:\n%s\nis not\n%s\n%s", what, found, wanted, steps);
    if (!at_key_equal(at_program_key(p), at_program_key(q)))
        fail_msg("%s: another key of %s\n%s", what, wanted, steps);
}

/* The code of a program, tiles included; false: it cannot be lowered. */
static bool code_of(at_arena *a, const at_program *p, const char **source, at_hash *tiles) {
    at_lower_options o = {
        .dialect = AT_DIALECT_TCC, .target = at_target_find("avx512"), .name = "k"};
    at_kernel *k;
    if (at_lower(a, p, &o, &k, NULL) != AT_OK) return false;
    *source = k->source;
    at_hash_init(tiles);
    for (int i = 0; i < k->num_tiles; i++)
        at_hash_add(tiles, k->tiles[i].bytes, (size_t)k->tiles[i].size_bytes);
    return true;
}

static void expect_same_code(at_arena *a, const at_program *p, const at_program *q,
                             const char *what, const char *text) {
    const char *wanted, *found;
    at_hash of_p, of_q;
    bool lowers = code_of(a, p, &wanted, &of_p);
    if (lowers != code_of(a, q, &found, &of_q)) fail_msg("%s: lowered once only:\n%s", what, text);
    if (lowers && (strcmp(wanted, found) || of_p.hi != of_q.hi || of_p.lo != of_q.lo))
        fail_msg("%s: other code of\n%s%s\nis not\n%s", what, text, found, wanted);
}

/* The tree as show prints it, put over the same computation. */
static void paste(at_arena *a, const at_program *p, const char *what) {
    at_text text = {0};
    at_tree *tree;
    at_program *q;
    at_error err;
    at_program_print(&text, p, false);
    const char *shown = at_text_str(&text);
    if (at_tree_parse(a, p->compute, shown, "shown", &tree, &err) != AT_OK ||
        at_program_build(a, tree, p->values, &q, &err) != AT_OK ||
        at_program_verify(a, q, &err) != AT_OK)
        fail_msg("%s: %s\n%s", what, err.text, shown);
    expect_same_code(a, p, q, what, shown);
    at_text_free(&text);
}

/* The template that show writes of a configuration. */
static void write_alone(at_arena *a, const at_task *t, const at_config *c, const at_program *p,
                        const char *what) {
    const at_schedulable *s;
    at_config own;
    at_program *q;
    at_error err;
    if (at_schedulable_of_config(a, t, c, &s, &err) != AT_OK ||
        at_task_default_config(a, s->task, 8, &own, &err) != AT_OK ||
        at_task_program(a, s->task, &own, &q, &err) != AT_OK)
        fail_msg("%s: %s", what, err.text);
    expect_same_code(a, p, q, what, s->tree_text);
}

/* ---- of tasks -------------------------------------------------------------------------------- */

static void round_trip(at_arena *a, const at_task *t, const at_config *c, const at_program *p,
                       const char *what) {
    at_config own;
    at_program *q;
    at_steps h, read;
    const at_template_row *row;
    at_task *again;
    at_text text = {0};
    at_error err;
    if (at_steps_of(a, t, c, &h, &err) != AT_OK) fail_msg("%s: %s", what, err.text);
    at_steps_print(&text, t, &h);
    if (at_steps_parse(a, "steps", at_text_str(&text), &read, &err) != AT_OK ||
        at_steps_row(a, t, "steps", &read, &row, &err) != AT_OK ||
        at_task_new(a, row, "", &again, &err) != AT_OK ||
        at_task_default_config(a, again, 8, &own, &err) != AT_OK ||
        at_task_program(a, again, &own, &q, &err) != AT_OK)
        fail_msg("%s: %s\n%s", what, err.text, at_text_str(&text));
    expect_same(a, p, q, what, at_text_str(&text));
    paste(a, p, what);
    write_alone(a, t, c, p, what);
    at_text_free(&text);
}

/* Of each template, and of each sketch. */
static long points_asked(void) {
    const long points = how_many("AT_COUNT", 180) / 60;
    return points > 0 ? points : 1;
}

static void templates(void **state) {
    (void)state;
    print_message("%ld programs of templates\n", points_of_templates(points_asked(), round_trip));
}

static void sketches(void **state) {
    (void)state;
    const long each = points_asked();
    static const char *const of_rules[] = {"pointers_", "near_", "panels_", "im2col_", "late",
                                           "strip_",    "rows",  "factor_", "pack_",   "copy_",
                                           "block_",    "lanes", "dots_",   "unroll_", "written",
                                           "blocks_",   "whole_"};
    at_text names = {0};
    long done = points_of_examples(each, round_trip, &names);
    done += points_of_sketches("examples/te/batch_matmul.te", "B=1,N=768,M=768,K=6144", each,
                               round_trip, &names);
    done += points_of_sketches("examples/te/conv2d_transpose.te", "CO=3", each, round_trip, &names);
    const bool all = setting("AT_FEWER", 1) == 1;
    for (size_t i = 0; all && i < sizeof of_rules / sizeof *of_rules; i++)
        if (!strstr(at_text_str(&names), of_rules[i])) fail_msg("no sketch of %s", of_rules[i]);
    at_text_free(&names);
    print_message("%ld programs of sketches\n", done);
}

/* ---- of random trees ------------------------------------------------------------------------- */

/* The steps as text, read again and applied to the plain tree. */
static void apply_all(built *b, const at_edits *steps, const char *what) {
    at_text text = {0};
    at_steps h;
    const at_compute *c = b->compute;
    at_tree *tree;
    at_program *q;
    int known = b->symbols.names.len;
    int64_t values[2 * RP_SIZES];
    memcpy(values, b->values, sizeof b->values);
    for (int i = 0; i < steps->len; i++) {
        at_edit_print(&text, &steps->data[i]);
        at_text_add(&text, "\n");
    }
    const char *lines = at_text_str(&text);
    if (at_steps_parse(b->arena, "steps", lines, &h, &b->err) != AT_OK ||
        at_edit_plain(b->arena, c, &tree, &b->err) != AT_OK)
        fail_msg("%s: %s\n%s", what, b->err.text, lines);
    for (int i = 0; i < h.num_steps; i++) {
        at_definition sizes;
        if (at_edit_make(b->arena, &b->symbols, c, tree, &h.steps[i], &c, &tree, &sizes, &b->err) !=
            AT_OK)
            fail_msg("%s: step %d: %s\n%s", what, i + 1, b->err.text, lines);
        for (; known < b->symbols.names.len; known++)
            for (int k = 0; k < at_edit_num_names(&h.steps[i]); k++)
                if (!strcmp(h.steps[i].names[k], b->symbols.names.data[known]))
                    values[known] = h.steps[i].sizes[k];
    }
    if (at_program_build(b->arena, tree, values, &q, &b->err) != AT_OK)
        fail_msg("%s: %s\n%s", what, b->err.text, lines);
    expect_same(b->arena, b->program, q, what, lines);
    at_text_free(&text);
}

static void random_trees(void **state) {
    (void)state;
    long count = how_many("AT_COUNT", 300), seed = setting("AT_SEED", 1), done = 0;
    random_program *p = calloc(1, sizeof *p);
    assert_non_null(p);
    for (; done < count; seed++) {
        built b;
        random_program_make((uint64_t)seed, p);
        if (build_open(&b, p) != USE_REFUSED && b.program) {
            at_edits steps = {0};
            const char *what = at_format(b.arena, "seed %ld", seed);
            if (at_tree_steps(b.arena, b.program, b.tree, &steps, &b.err) != AT_OK)
                fail_msg("%s: %s", what, b.err.text);
            apply_all(&b, &steps, what);
            paste(b.arena, b.program, what);
            done++;
        }
        build_close(&b);
    }
    print_message("%ld random trees\n", done);
    free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(templates), cmocka_unit_test(sketches),
                                       cmocka_unit_test(random_trees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
