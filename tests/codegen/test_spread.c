/* What the end of a tile asks for is asked for while its sums go on: the same lines, each once, row
 * by row between steps of the sum, and pointers are where they were. */
#include "tests/codegen/support.h"

#include <string.h>

#include "codegen/codegen_int.h"
#include "tests/codegen/tile_walk.h"

enum { LINE = 16, MOST = 1 << 12, AHEAD = 4096 };

typedef struct asked {
    walk walk; /* first: the callback gets it */
    int addend, out, weights;
    int lines[MOST], least[MOST],
        num; /* of the addend asked for: element, steps of the sum before */
    int steps, calls, stored;
} asked;

static void follow(walk *w, const at_tile_call *c) {
    asked *x = (asked *)w;
    walk_tile t = walk_begin(w, c);
    x->steps = 0;
    x->calls++;
    for (const at_tile_op *op; (op = walk_next(&t));) {
        const bool moves = op->slot >= 0 && op->slot < c->tile->num_slots;
        const int tensor = moves ? t.tensor[op->slot] : -1;
        const int64_t element = moves ? t.slot[op->slot] + op->off : 0;
        if (op->kind == AT_T_PREFETCH && tensor == x->addend) {
            if (x->num == MOST) fail_msg("more lines than there are");
            x->lines[x->num] = (int)element;
            x->least[x->num++] = x->steps;
        } else if (tensor == x->weights) x->steps++;
        else if (tensor == x->addend && element % LINE == 0) {
            bool found = false; /* this line AHEAD bytes on */
            for (int i = 0; i < x->num; i++) found |= x->lines[i] == element + AHEAD / 4;
            if (!found) fail_msg("element %d: what lies ahead is not asked for", (int)element);
            x->stored++;
        }
    }
}

static const char sum[] = "a[Y, K] : input\n"
                          "w[K, X] : weight\n"
                          "c[Y, X] : input\n"
                          "acc[y:Y, x:X] = sum(k:K) a[y, k] * w[k, x]\n"
                          "out[y:Y, x:X] = acc[y, x] + c[y, x]\n";
#define TREE                                                                                       \
    "yo, xo =>\n"                                                                                  \
    "    k, yi:unroll, xi:vec =>\n"                                                                \
    "        @acc = {yo, yi}/y, {xo, xi}/x // k\n"                                                 \
    "    yi:unroll, xi:vec =>\n"                                                                   \
    "        @out[prefetch c 4096] = {yo, yi}/y, {xo, xi}/x\n"

static const struct {
    program program;
    bool is_spread;
} sums[] = {{{"even", "Y=12 X=64 K=24 yo=2 yi=6 xo=2 xi=32 k=24", sum, TREE}, true},
            {{"rest", "Y=12 X=32 K=27 yo=2 yi=6 xo=1 xi=32 k=27", sum, TREE}, true},
            {{"blocks", "Y=6 X=32 K=1000 yo=1 yi=6 xo=1 xi=32 k=1000", sum, TREE}, true},
            {{"short", "Y=12 X=32 K=5 yo=2 yi=6 xo=1 xi=32 k=5", sum, TREE}, false}};

static void check(size_t number, const at_target *target) {
    const program *p = &sums[number].program;
    at_arena *a = at_arena_new();
    at_low *l;
    const at_lower_options o = {
        .dialect = AT_DIALECT_TCC, .target = target, .name = p->name, .verify = true};
    const at_program *built = program_of(a, p);
    asked *x = AT_NEW(a, asked);
    CALL(at_lower_until(a, built, &o, "tiles", &l, &err));
    x->walk = (walk){.syms = l->syms.data, .call = follow};
    x->addend = at_compute_find(built->compute, "c");
    x->weights = at_compute_find(built->compute, "w");
    walk_list(&x->walk, l->root);
    assert_true(x->stored > 0 && x->num >= x->stored);
    for (int i = 0; i < x->num; i++) /* each once */
        for (int k = 0; k < i; k++)
            if (x->lines[i] == x->lines[k])
                fail_msg("%s for %s: element %d is asked for twice", p->name, target->name,
                         x->lines[i]);
    int first = x->least[0], rows = 0;
    for (int i = 1; i < x->num; i++) rows += x->least[i] > x->least[i - 1];
    if (target->lanes != LINE) {
        at_arena_free(a); /* tiles are cut: lines come as they did, or between steps */
        return;
    }
    if (sums[number].is_spread) assert_true(rows >= 5 && first < x->steps);
    else assert_int_equal(first, x->steps);
    at_arena_free(a);
}

static void spread(void **state) {
    (void)state;
    const at_target *target;
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        for (int t = 0; (target = at_target_at(t)); t++)
            if (target->encode && target->lanes >= 4 && !target->is_double) check(i, target);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(spread)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
