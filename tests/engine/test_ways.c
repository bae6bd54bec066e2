/* What stages behind an operator want beside the operator itself, whatever the way that computes
 * it: kernels of all ways are called alike. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "engine/task/operator.h"
#include "sketch/sketch.h"

/* "weight[8] input[240]": elements of what the plain way has not, in order. */
static const char *operands_of(at_arena *a, const at_task *plain, const at_task *fused) {
    const at_compute *c = at_task_compute(fused);
    at_text text = {0};
    for (int t = 0; t < c->num_tensors; t++) {
        int64_t *values, **extents;
        at_error err;
        if (c->tensors[t].role == AT_ROLE_STAGE ||
            at_compute_find(at_task_compute(plain), c->tensors[t].name) >= 0)
            continue;
        if (at_task_plain_values(a, fused, &values, &err) != AT_OK ||
            at_compute_extents(a, c, values, &extents, &err) != AT_OK)
            fail_msg("%s", err.text);
        const int64_t elements = at_tensor_elements(&c->tensors[t], extents[t]);
        at_text_addf(&text, "%s[%lld] ", c->tensors[t].role == AT_ROLE_WEIGHT ? "weight" : "input",
                     (long long)elements);
    }
    const char *out = at_strdup(a, at_text_str(&text));
    at_text_free(&text);
    return out;
}

static at_task *task_of(at_arena *a, const at_request *q) {
    at_task *task;
    at_error err;
    if (at_task_new(a, q->row, q->args, &task, &err) != AT_OK) fail_msg("%s", err.text);
    return task;
}

static int ways_of(at_arena *a, const at_operator *p, const char *args, const char *sparsity,
                   const char *stages, const at_request **ways) {
    const at_engine_options o = {0};
    at_request *q = AT_NEW(a, at_request);
    int n;
    at_error err;
    *q = (at_request){.template_name = at_operator_name(p),
                      .fuse = stages,
                      .all_ways = true,
                      .args = args,
                      .sparsity = sparsity};
    if (at_operator_ways(a, &o, q, p, ways, &n, &err) != AT_OK) fail_msg("%s", err.text);
    return n;
}

static const char *const stages[] = {"bias", "add", "relu", "clip", "scale"};
enum { STAGES = sizeof stages / sizeof *stages };

static void one_prototype(void **state) {
    (void)state;
    static const struct {
        const char *name, *args, *sparsity;
    } cases[] = {
        {"conv2d", "N=1,H=5,W=6,CI=4,CO=16", NULL},
        {"conv2d", "N=1,H=5,W=6,CI=4,CO=16", "0.5"},
        {"conv2d", "N=2,H=4,W=6,CI=8,CO=16,KH=1,KW=1,padding=0", NULL},
        {"dense", "M=6,N=32,K=16", NULL},
        {"dense", "M=6,N=32,K=16", "0.5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const at_operator *p = NULL;
        for (int k = 0; k < at_operator_count(); k++)
            if (!strcmp(at_operator_name(at_operator_at(k)), cases[i].name)) p = at_operator_at(k);
        assert_non_null(p);
        int forms = 0, compared = 0;
        for (int first = 0; first < STAGES; first++)
            for (int second = -1; second < STAGES; second++, forms++) {
                at_arena *a = at_arena_new();
                const at_request *plain, *fused;
                const char *fuse = second < 0
                                       ? stages[first]
                                       : at_format(a, "%s,%s", stages[first], stages[second]);
                const int n = ways_of(a, p, cases[i].args, cases[i].sparsity, NULL, &plain);
                assert_int_equal(ways_of(a, p, cases[i].args, cases[i].sparsity, fuse, &fused), n);
                const char *wanted = NULL;
                for (int w = 0; w < n; w++, compared++) {
                    const char *has = operands_of(a, task_of(a, &plain[w]), task_of(a, &fused[w]));
                    if (!wanted) wanted = has;
                    if (strcmp(has, wanted))
                        fail_msg("%s+%s: %s has %s, %s has %s", cases[i].name, fuse,
                                 plain[0].row->name, wanted, plain[w].row->name, has);
                }
                at_arena_free(a);
            }
        assert_true(compared >= 2 * forms);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_prototype)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
