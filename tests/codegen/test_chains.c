/* Lowering of long chains: what is tried and does not fit leaves nothing behind. */
#include "tests/codegen/support.h"

#include "codegen/codegen.h"
#include "tests/any_task.h"

/* 60 stages took 0.5 and 1 GB, since each cut of a tile stayed in memory. */
static void memory(void **state) {
    (void)state;
    static const char *const stages[] = {
        "s%1$d[i:M] = s%2$d[max(i - 1, 0)]*0.5 + s%2$d[min(i + 1, M - 1)]*0.25\n",
        "s%1$d[i:M] = s%2$d[i]*0.5 + s%3$d[i]*0.25\n"};
    for (int k = 0; k < 2; k++) {
        at_arena *a = at_arena_new(), *lowering = at_arena_new();
        at_text t = {0};
        at_config c;
        at_program *p;
        at_kernel *kernel;
        at_text_addf(&t, "args M=64\ns0[M] : input\n");
        for (int i = 1; i <= 60; i++) at_text_addf(&t, stages[k], i, i - 1, i > 1 ? i - 2 : 0);
        at_task *task = task_of_text(a, "own.te", at_text_str(&t), "");
        CALL(at_task_default_config(a, task, 16, &c, &err));
        CALL(at_task_program(a, task, &c, &p, &err));
        at_lower_options o = {.name = "chain", .target = at_target_find("avx512")};
        CALL(at_lower(lowering, p, &o, &kernel, &err));
        assert_in_range(at_arena_used(lowering), 1, 1 << 28);
        at_text_free(&t);
        at_arena_free(lowering);
        at_arena_free(a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory)};
    return cmocka_run_group_tests_name("codegen/chains", tests, NULL, NULL);
}
