/* Keys of the programs of all templates: configurations of equal keys have the same code, as its
 * hash in a log says. Shapes are small and have axes of one element, so that there are such pairs;
 * configurations lie close together, since those that differ in little are the ones to mix up. In
 * the environment: AT_SEED and AT_COUNT (configurations per task) choose others and more. */
#include "codegen/codegen.h"
#include "tests/setting.h"
#include "tests/templates/support.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 4000 };

static const char *const tasks[][2] = {
    {"conv2d_3x3_gemm", "N=1,H=4,W=6,CI=4,CO=8"},
    {"conv2d_3x3_gemm", "N=1,H=1,W=8,CI=1,CO=16"},
    {"conv2d_NCHWc", "IC=8,H=6,W=6,OC=16"},
    {"conv2d_NCHWc", "IC=8,H=4,W=4,OC=8,KH=1,KW=1,padding=0"},
    {"conv2d_nhwc", "N=1,H=9,W=7,CI=5,CO=12"},
    {"conv2d_nhwc", "N=1,H=4,W=4,CI=4,CO=8,KH=1,KW=1,padding=0"},
    {"conv2d_winograd_nhwc", "H=8,W=8,CI=4,CO=8,m=2"},
    {"dense", "M=8,N=16,K=12,bias=1"},
    {"dense", "M=1,N=16,K=8"},
    {"matmul_add", "N=8,L=12,M=16"},
    {"spconv2d_3x3_gemm", "H=4,W=6,CI=4,CO=16,nnz=12"},
    {"sparse_dense", "M=8,N=16,K=12,nnz=11,R=4,C=1"},
    {"sparse_dense", "M=1,N=16,K=8,nnz=9,R=2,C=1"},
};

typedef struct lowered {
    int64_t index;
    at_key key;
    char code[33]; /* "": it cannot be lowered */
} lowered;

/* In turn all there are. */
static const at_target *target_of(uint64_t i) {
    int n = 0;
    while (at_target_at(n)) n++;
    return at_target_at((int)(i % (uint64_t)n));
}

static bool lower(at_arena *a, const at_task *t, const at_lower_options *o, int64_t index,
                  lowered *out) {
    at_config config = config_at(a, t, index);
    at_program *p;
    at_kernel *k;
    if (at_task_program(a, t, &config, &p, NULL) != AT_OK) return false;
    *out = (lowered){.index = index, .key = at_program_key(p)};
    if (at_lower(a, p, o, &k, NULL) == AT_OK) strcpy(out->code, k->code_hash);
    return true;
}

typedef struct pairs {
    long equal_keys, equal_codes, all;
} pairs;

static void compare_all(const char *what, const lowered *list, int n, pairs *count) {
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++) {
            if (list[i].index == list[k].index) continue;
            bool same_key = at_key_equal(list[i].key, list[k].key);
            bool same_code = !strcmp(list[i].code, list[k].code);
            if (same_key && !same_code)
                fail_msg("%s: %lld and %lld have one key and two codes", what,
                         (long long)list[i].index, (long long)list[k].index);
            count->all++;
            count->equal_keys += same_key;
            count->equal_codes += same_code && *list[i].code;
        }
}

static void equal_keys_equal_code(void **state) {
    (void)state;
    long count = how_many("AT_COUNT", 50);
    at_arena *a = at_arena_new(), *scratch = at_arena_new();
    lowered *list = AT_NEW_ARRAY(a, lowered, MOST);
    pairs total = {0};
    at_rng rng;
    at_rng_seed(&rng, (uint64_t)setting("AT_SEED", 1), 1);
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        at_task *t = task_of(a, row_named(tasks[i][0]), tasks[i][1]);
        at_space *space = at_task_space(t);
        const at_lower_options o = {.dialect = AT_DIALECT_TCC,
                                    .target = target_of(i),
                                    .pack_inline = i % 3 == 0,
                                    .name = "kernel"};
        pairs of_task = {0};
        int64_t index = at_space_next(space, -1, 1, 0, 0);
        int n = 0;
        for (long k = 0; k < count && n < MOST; k++) {
            index = at_space_random_walk(space, index, &rng);
            at_arena_reset(scratch);
            n += lower(scratch, t, &o, index, &list[n]);
        }
        compare_all(tasks[i][1], list, n, &of_task);
        if (getenv("AT_COUNT"))
            print_message("%s %s: %d programs, %ld pairs: %ld of equal keys, %ld of equal code\n",
                          tasks[i][0], tasks[i][1], n, of_task.all, of_task.equal_keys,
                          of_task.equal_codes);
        total.all += of_task.all;
        total.equal_keys += of_task.equal_keys;
        total.equal_codes += of_task.equal_codes;
    }
    assert_true(total.equal_keys > 0);
    assert_true(total.equal_keys < total.all / 2);
    at_arena_free(scratch);
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(equal_keys_equal_code)};
    return cmocka_run_group_tests_name("templates/program_key", tests, NULL, NULL);
}
