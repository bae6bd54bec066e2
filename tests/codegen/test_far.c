/* Rows further apart than instructions reach: of more than 2 GB, of which few pages are touched. */
#include "tests/codegen/support.h"

#include <sys/mman.h>

#include "codegen/codegen_int.h"
#include "tests/codegen/ir_run.h"

enum { APART = 200000000, ROWS = 4, COLUMNS = 37 };

static const program copies[] = {
    {"columns", "S=200000000 J=37", "x[3*S + J] : input\no[j:J, i:4] = x[i*S + j]\n",
     "j, i:vec =>\n    @o = j, i\n"},
    {"rows", "S=200000000 J=37", "x[3*S + J] : input\no[j:J, i:4] = x[i*S + j]\n",
     "i:unroll, j:vec =>\n    @o = j, i\n"},
    {"counted", "S=200000000 J=37", "x[3*S + J] : input\no[j:J, i:4] = x[i*S + j]*0.5\n",
     "i, j =>\n    @o = j, i\n"},
};

static void check(const program *p, const at_target *target, const float *x) {
    at_arena *a = at_arena_new();
    float o[COLUMNS * ROWS] = {0};
    at_low *l = lowered_for(a, p, AT_DIALECT_TCC, target, "emit");
    for (int i = 0; i < l->tiles.len; i++)
        if (!target->encode(a, l->tiles.data[i]))
            fail_msg("%s for %s: tile %s is not encoded", p->name, target->name,
                     l->tiles.data[i]->name);
    void *const buf[] = {(void *)(uintptr_t)x, o};
    const char *fault = ir_run(l, false, &(ir_memory){.buf = buf, .threads = 1});
    if (fault) fail_msg("%s for %s: %s", p->name, target->name, fault);
    const float times = strcmp(p->name, "counted") ? 1 : 0.5f;
    for (int j = 0; j < COLUMNS; j++)
        for (int i = 0; i < ROWS; i++)
            if (o[j * ROWS + i] != times * (float)(100 * i + j))
                fail_msg("%s for %s: column %d of row %d", p->name, target->name, j, i);
    at_arena_free(a);
}

static void far_rows(void **state) {
    (void)state;
    const size_t bytes = (size_t)(3 * (int64_t)APART + COLUMNS) * sizeof(float);
    float *x = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    const at_target *target;
    if (x == MAP_FAILED) skip();
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) x[(int64_t)i * APART + j] = (float)(100 * i + j);
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
        for (int t = 0; (target = at_target_at(t)); t++)
            if (target->encode) check(&copies[i], target, x);
    munmap(x, bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(far_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
