/* docs/notes/sketches.md: each tree that it shows is one that rules derive today, or a plain one
 * that they begin with; and the history is that of its program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sketch/sketch.h"
#include "tests/any_task.h"

#include <string.h>

/* What the page speaks of. */
static const struct {
    const char *file, *args;
} tasks[] = {
    {"matmul_add", ""},
    {"matmul_add", "N=64,L=65536,M=64"},
    {"batch_matmul", "B=2,N=1024,M=1024,K=1024"},
    {"batch_matmul", "B=2,N=768,M=768,K=6144"},
    {"conv2d", "N=1,H=14,W=14,CI=256,CO=256,K=3,S=1,P=1"},
    {"conv2d_nchw", "N=1,H=56,W=56,CI=128,CO=128,K=3,S=2,P=1"},
    {"conv2d_nchw", "N=1,H=28,W=28,CI=128,CO=128,K=3,S=1,P=1"},
    {"conv2d_transpose", "N=1,H=32,W=32,CI=64,CO=3,K=4,S=2,P=1"},
    {"softmax", "M=1024,N=1024"},
    {"norm", "B=1,M=1024,N=1024"},
    {"embedding_bag", ""},
    {"block_sparse_dense", ""},
    {"transpose", ""},
    {"gated_mlp", ""},
    {"rotary", ""},
    {"separable_blur", ""},
    {"unsharp", ""},
    {"linear_attention", ""},
    {"lstm", ""},
};

static const char *read(at_arena *a, const char *path) {
    char *text;
    size_t length;
    at_error err;
    if (read_whole(a, path, &text, &length, &err) != AT_OK) fail_msg("%s", err.text);
    return text;
}

/* The plain tree and all derived ones, one behind the other. */
static void add_trees(at_arena *a, const char *path, const char *text, const char *args,
                      at_text *out) {
    const at_task *t = task_of_text(a, path, text, args);
    at_tree *plain;
    at_error err;
    if (at_edit_plain(a, at_task_compute(t), &plain, &err) != AT_OK)
        fail_msg("%s %s: %s", path, args, err.text);
    at_tree_print(out, plain);
    for (int i = 0; i < at_task_num_sketches(t); i++)
        at_text_addf(out, "\n%s", at_sketch_of_task(t, i)->s->tree_text);
}

static void trees(void **state) {
    (void)state;
    static const char fence[] = "```tree\n";
    at_arena *a = at_arena_new();
    at_text all = {0};
    int shown = 0;
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        const char *path = at_format(a, "examples/te/%s.te", tasks[i].file);
        add_trees(a, path, read(a, path), tasks[i].args, &all);
    }
    const char *scaled = "tests/te/scaled_rows.te";
    add_trees(a, scaled, read(a, scaled), "N=512,M=512,K=512", &all);
    const char *potentials = "tests/te/potentials.te";
    add_trees(a, potentials, read(a, potentials), "", &all);
    const char *median = "tests/te/median_of_columns.te";
    add_trees(a, median, read(a, median), "", &all);
    const char *doubled = "tests/te/doubled_by_rows.te";
    add_trees(a, doubled, read(a, doubled), "", &all);
    const char *block = "tests/te/channels_first.te";
    add_trees(a, block, read(a, block), "C=64,F=384,H=14,W=14", &all);
    /* What reads a sum calls a function. */
    add_trees(a, "late.te",
              "args N=128, L=64, M=512\nA[N, L] : input\nB[L, M] : weight\nC[N, M] : input\n"
              "mul[i:N, j:M] = sum(k:L) A[i, k] * B[k, j]\n"
              "out[i:N, j:M] = tanh(mul[i, j] + C[i, j])\n",
              "", &all);
    for (const char *p = read(a, "docs/notes/sketches.md"); (p = strstr(p, fence)); shown++) {
        p += strlen(fence);
        const char *tree = at_strndup(a, p, (size_t)(strstr(p, "```\n") - p));
        if (!strstr(at_text_str(&all), tree)) fail_msg("no rule derives today\n%s", tree);
    }
    assert_true(shown > 10);
    at_text_free(&all);
    at_arena_free(a);
}

/* The program that the page tells as edits. */
static void history(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_task *t = any_task(a, "examples/te/matmul_add.te", "N=64,L=64,M=64");
    at_config c;
    at_steps steps;
    at_text all = {0};
    at_error err;
    if (at_task_default_config(a, t, 16, &c, &err) != AT_OK ||
        at_steps_of(a, t, &c, &steps, &err) != AT_OK)
        fail_msg("%s", err.text);
    at_text_add(&all, "```\n");
    at_steps_print(&all, t, &steps);
    at_text_add(&all, "```\n");
    if (!strstr(read(a, "docs/notes/sketches.md"), at_text_str(&all)))
        fail_msg("not there:\n%s", at_text_str(&all));
    at_text_free(&all);
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(trees), cmocka_unit_test(history)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
