/* Trees of which somebody wrote a part: the sketches of some computations without sizes of parts
 * and without some of their leaves, completed by rules and run as in test_sketches. In the
 * environment: AT_SEED, AT_COUNT (times all of them), AT_POINTS and AT_ONLY (one of their files) as
 * there.
 */
#include "tests/codegen/sketch_points.h"
#include "sketch/sketch.h"

#include <stdlib.h>
#include <string.h>

static size_t blanks(const char *line) { return strspn(line, " "); }

/* What is left of the marks of loops: all of them, none for rules to find, or, where no knob of its
 * own has another number, lanes by number. */
static const char *change_marks(at_arena *a, const char *tree, bool has_knobs, at_rng *rng) {
    static const struct {
        const char *from, *to;
    } changes[] = {{"", ""}, {":vec", ""}, {":unroll", ""}, {":vec", ":4 vec"}};
    at_text out = {0};
    uint64_t i = at_rng_below(rng, has_knobs ? 3 : 4);
    size_t length = strlen(changes[i].from);
    for (const char *p = tree; *p;)
        if (length && !strncmp(p, changes[i].from, length)) {
            at_text_add(&out, changes[i].to);
            p += length;
        } else at_text_addn(&out, p++, 1);
    return at_text_take(a, &out);
}

/* The tree without some of its leaves, and without the loops that are empty then. */
static void add_some(at_text *out, const char *tree, at_rng *rng) {
    const char *line[200];
    bool kept[200] = {false};
    int n = 0;
    for (const char *p = tree; *p; p += strcspn(p, "\n") + 1) {
        AT_ASSERT(n < 200);
        line[n++] = p;
    }
    for (int i = n - 1; i >= 0; i--)
        if (line[i][blanks(line[i])] == '@') kept[i] = at_rng_below(rng, 3) > 0;
        else
            for (int k = i + 1; k < n && blanks(line[k]) > blanks(line[i]); k++) kept[i] |= kept[k];
    for (int i = 0; i < n; i++)
        if (kept[i]) at_text_addn(out, line[i], strcspn(line[i], "\n") + 1);
}

/* A computation whose sizes knobs decide keeps those knobs; it is a template in C. */
static const at_template_row *keep_knobs(at_arena *a, const at_sketch *s, const char *tree) {
    const at_schedulable like = {
        .row = {.name = "begun", .args = s->s->row.args, .record_args = s->s->row.record_args},
        .definitions = s->s->definitions,
        .num_definitions = s->s->num_definitions,
        .compute_text = s->s->compute_text,
        .tree_text = tree};
    return &at_schedulable_untried(a, &like)->row;
}

/* Any other is a .te file. */
static const at_template_row *drop_knobs(at_arena *a, const at_task *sketch, const at_sketch *s,
                                         const char *tree) {
    at_text text = {0};
    const at_template_row *row;
    at_error err;
    at_text_addf(&text, "args %s\n", s->s->row.args);
    for (int i = 0; i < at_task_num_definitions(sketch); i++)
        if (at_task_definition(sketch, i)->kind == AT_DEFINE_SIZES)
            at_text_addf(&text, "sizes %s\n", at_task_definition(sketch, i)->text[0]);
    at_text_addf(&text, "%sschedule\n%s", s->s->compute_text, tree);
    if (at_te_parse(a, "begun.te", at_text_str(&text), text.len, &row, &err) != AT_OK)
        fail_msg("%s\n%s", err.text, at_text_str(&text));
    at_text_free(&text);
    return row;
}

/* A task's sketches, each begun by hand, with some of its leaves and without the sizes of parts,
 * and gone on with by rules. */
static void check_begun(batch *b, const char *what, const at_task *task, int points, at_rng *rng) {
    for (int i = 0; i < at_task_num_sketches(task); i++) {
        at_arena *a = at_arena_new();
        const at_task *sketch = at_task_sketch(task, i);
        const at_sketch *s = at_sketch_of_task(task, i);
        at_text tree = {0};
        at_task *begun;
        at_error err;
        bool has_knobs = strstr(s->name, "pack_");
        const char *marked = change_marks(a, s->s->tree_text, has_knobs, rng);
        while (!tree.len) add_some(&tree, marked, rng);
        const at_template_row *row = has_knobs ? keep_knobs(a, s, at_text_str(&tree))
                                               : drop_knobs(a, sketch, s, at_text_str(&tree));
        if (at_task_new(a, row, at_task_args_text(task), &begun, &err) != AT_OK)
            fail_msg("%s: %s: %s\n%s", what, s->name, err.text, at_text_str(&tree));
        if (at_task_num_sketches(begun)) check_plain(b, what, begun, points);
        at_text_free(&tree);
        at_arena_free(a);
    }
}

/* Sketches without sizes of parts and without some of their leaves come back right. */
static void begun_by_hand(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"matmul_add", "N=13,L=7,M=70"},
        {"conv2d_bn_relu", "N=1,H=7,W=6,CI=3,CO=8,K=3,S=2,P=1"},
        {"group_conv2d", "N=1,H=7,W=6,CI=6,CO=12,K=3,S=2,P=1,G=3"},
        {"conv2d_transpose", "N=1,H=4,W=4,CI=4,CO=3,K=4,S=2,P=1"},
        {"depthwise_conv2d", "N=3,H=7,W=9,C=12,K=3,S=2,P=1"},
        {"norm", "B=3,M=7,N=12"},
        {"capsule_conv2d", "N=1,H=5,W=4,CI=3,CO=8,K=3,S=2,P=1,C=2"},
        {"tests/te/cycles", "T=5,B=3,H=19"},
    };
    enum { CASES = sizeof cases / sizeof cases[0] };
    long seed = setting("AT_SEED", 1), count = how_many("AT_COUNT", 1);
    const char *only = getenv("AT_ONLY");
    at_rng rng;
    at_rng_seed(&rng, (uint64_t)seed, 5);
    batch *b = batch_open();
    for (long i = 0; i < count * CASES; i++) {
        const char *const *x = cases[i % CASES];
        at_arena *a = at_arena_new();
        if (!only || !strcmp(only, x[0]))
            check_begun(b, x[0], task_of_file(a, x[0], x[1]), (int)how_many("AT_POINTS", 2), &rng);
        at_arena_free(a);
    }
    batch_close(b, "times a computation's trees", count * CASES);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(begun_by_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
