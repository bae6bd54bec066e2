/* Random trees of one computation. What verify accepts must run without a read of something not yet
 * computed, and give what the expressions give; of what rules 3 to 6 refuse, most must be wrong.
 * SEED and COUNT in the environment choose others. */
#include "tests/schedule/examples.h"

#include <stdlib.h>
#include <string.h>

static const char sizes[] = "Y=5, X=4, K=4, y0=2, y1=3, x0=2, x1=2, k0=2, k1=2";
static const char compute[] = "in[Y, K] : input\n"
                              "w[X, K]  : weight\n"
                              "a[y:Y, k:K] = in[y, k] + 1.0\n"
                              "s[y:Y, x:X] = sum(k:K) a[y, k]*w[x, k]\n"
                              "d[y:Y, x:X] = s[y, x/x1*x1 + x%x1]\n"
                              "u[y:Y]      = sum(x:X) d[y, X-1-x]\n"
                              "o[y:Y, x:X] = d[y, x] + s[y, x/2*2] + u[y]\n";

/* The tree being made: nodes with a name or a leaf's text, children in order. */
typedef struct random_node random_node;
struct random_node {
    char text[80];
    bool is_leaf;
    random_node *parent, *child[16];
    int num_children;
};

typedef struct maker {
    at_rng rng;
    random_node node[200];
    int num_nodes;
} maker;

static int below(maker *m, int n) { return (int)at_rng_below(&m->rng, (uint64_t)n); }

static random_node *insert(maker *m, random_node *parent, const char *text, int at) {
    random_node *n = &m->node[m->num_nodes++];
    memset(n, 0, sizeof *n);
    snprintf(n->text, sizeof n->text, "%s", text);
    n->parent = parent;
    for (int i = parent->num_children; i > at; i--) parent->child[i] = parent->child[i - 1];
    parent->child[at] = n;
    parent->num_children++;
    return n;
}

static bool on_path(const random_node *n, const char *name) {
    size_t length = strlen(name);
    for (; n; n = n->parent)
        if (!strncmp(n->text, name, length) && (!n->text[length] || n->text[length] == ':'))
            return true;
    return false;
}

/* A leaf below a node chosen at random: loops that are there are used, the others are made. */
static void add_stage(maker *m, const char *leaf, const char *const *loops, int num_loops) {
    static const char *const annotations[] = {":vec", ":unroll", ":para", ""};
    random_node *parent = &m->node[0];
    /* Mostly beside or inside what was placed last: elsewhere little is legal. */
    random_node *last = &m->node[m->num_nodes - 1];
    for (int up = below(m, 7); last->parent && (last->is_leaf || up > 0); up--) last = last->parent;
    if (last->num_children < 12 && below(m, 3)) parent = last;
    int order[8], where = below(m, 30) ? parent->num_children : below(m, parent->num_children + 1);
    for (int i = 0; i < num_loops; i++) {
        int k = below(m, i + 1);
        order[i] = order[k];
        order[k] = i;
    }
    for (int i = 0; i < num_loops; i++) {
        char text[20];
        if (on_path(parent, loops[order[i]])) continue;
        snprintf(text, sizeof text, "%s%s", loops[order[i]],
                 annotations[below(m, 12) ? 3 : below(m, 3)]);
        parent = insert(m, parent, text, where);
        where = 0;
    }
    insert(m, parent, leaf, where)->is_leaf = true;
}

static void print(at_text *out, const random_node *n, int depth) {
    for (int i = 0; i < depth; i++) at_text_add(out, "    ");
    at_text_add(out, n->text);
    at_text_add(out, n->is_leaf ? "\n" : " =>\n");
    for (int i = 0; i < n->num_children; i++) print(out, n->child[i], depth + 1);
}

static void make(maker *m, at_text *out) {
    static const struct {
        const char *leaf, *loops[6];
    } stages[] = {
        {"@a = {y0, y1}/y, {k0, k1}/k", {"y0", "y1", "k0", "k1"}},
        {"@s = {y0, y1}/y, {x0, x1}/x // {k0, k1}/k", {"y0", "y1", "x0", "x1", "k0", "k1"}},
        {"@d = {y0, y1}/y, {x0, x1}/x", {"y0", "y1", "x0", "x1"}},
        {"@u = {y0, y1}/y // {x0, x1}/x", {"y0", "y1", "x0", "x1"}},
        {"@o = {y0, y1}/y, {x0, x1}/x", {"y0", "y1", "x0", "x1"}},
        {"@s.init = {y0, y1}/y, {x0, x1}/x", {"y0", "y1", "x0", "x1"}},
    };
    memset(&m->node[0], 0, sizeof m->node[0]);
    m->num_nodes = 1;
    bool dissolve_a = !below(m, 4), dissolve_d = !below(m, 4), init = !below(m, 4);
    for (int i = 0; i < 5; i++) {
        int n = 0;
        if ((i == 0 && dissolve_a) || (i == 2 && dissolve_d)) continue;
        if (i == 1 && init) add_stage(m, stages[5].leaf, stages[5].loops, 4);
        while (n < 6 && stages[i].loops[n]) n++;
        add_stage(m, stages[i].leaf, stages[i].loops, n);
    }
    at_text_clear(out);
    for (int i = 0; i < m->node[0].num_children; i++) print(out, m->node[0].child[i], 0);
}

static bool runs_right(fixture *f) {
    at_error err;
    int o = at_compute_find(f->compute, "o");
    if (at_program_interpret(f->arena, f->program, f->found, &err) != AT_OK) return false;
    return !memcmp(f->found[o].f, f->data[o].f, sizeof(float) * 20);
}

static void test_random(void **state) {
    (void)state;
    const char *seed = getenv("SEED"), *count = getenv("COUNT");
    int n = count ? atoi(count) : 4000, accepted = 0, wrong = 0, strict = 0;
    maker m;
    at_text text = {0}, again = {0};
    at_rng_seed(&m.rng, seed ? strtoull(seed, NULL, 10) : 1, 9);
    for (int i = 0; i < n; i++) {
        fixture f;
        make(&m, &text);
        fixture_sizes(&f, sizes);
        if (below(&m, 2)) fixture_set(&f, "y0=5, y1=1, x0=1, x1=4, k0=4, k1=1");
        assert_ok(&f, at_compute_parse(f.arena, &f.symbols, compute, "c", &f.compute, &f.err));
        if (at_tree_parse(f.arena, f.compute, text.data, "t", &f.tree, &f.err) != AT_OK)
            fail_msg("%s\n%s", f.err.text, text.data);
        at_text_clear(&again);
        at_tree_print(&again, f.tree);
        fixture_fill(&f, (uint64_t)i);
        assert_ok(&f, at_compute_interpret(f.arena, f.compute, f.values, f.data, &f.err));
        if (fixture_build(&f) == AT_OK) {
            accepted++;
            if (at_program_interpret(f.arena, f.program, f.found, &f.err) != AT_OK)
                fail_msg("%s\n%s", f.err.text, text.data);
            if (!runs_right(&f)) fail_msg("wrong result\n%s", text.data);
        } else if (strncmp(f.err.text, "rule 5", 6) >= 0 && strncmp(f.err.text, "rule 7", 6) < 0) {
            if (runs_right(&f)) {
                strict++;
                if (getenv("STRICT")) print_message("%s\n%s\n", f.err.text, text.data);
            } else {
                wrong++;
            }
        }
        fixture_close(&f);
    }
    print_message("%d trees: %d accepted, %d wrong, %d refused though right\n", n, accepted, wrong,
                  strict);
    assert_true(accepted > n / 50);
    assert_true(strict < wrong / 4);
    at_text_free(&text);
    at_text_free(&again);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
