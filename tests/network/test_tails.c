/* What a part does behind its sum as a stage of templates, and parts of which there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "network/program.h"
#include "tests/any_task.h"
#include "tests/arena.h"

#define SUM                                                                                        \
    "x0[1, 8, 8, 4] : input\nw0[16, 4] : weight\n%s"                                               \
    "t0[n:1, h:8, w:8, m:16] = sum(c:4) x0[n, h, w, c]*w0[m, c]\n%s"

static void expect(const char *declared, const char *stages, const char *tail) {
    const char *text = at_format(arena, SUM, declared, stages);
    const char *found =
        at_net_tail(arena, at_task_compute(task_of_text(arena, "part", text, NULL)));
    if (!tail) assert_null(found);
    else assert_string_equal(found, tail);
}

static void tails(void **state) {
    (void)state;
    expect("", "", "");
    expect("w1[16] : weight\n",
           "t1[n:1, h:8, w:8, m:16] = t0[n, h, w, m] + w1[m]\n"
           "y0[a:1, b:8, c:8, d:16] = t1[a, b, c, d]*sigmoid(t1[a, b, c, d])\n",
           "+((x+w1[c])*sigmoid(x+w1[c]))");
    /* operands of a sum may change places, so that they come in the order of the declarations */
    expect("w1[16] : weight\nx1[1, 8, 8, 16] : input\n",
           "y0[n:1, h:8, w:8, m:16] = x1[0, h, w, m] + max(t0[n, h, w, m] + w1[m], 0)\n",
           "+(max(x+w1[c],0)+x1)");
    /* in another order, elsewhere, by another axis, a number of an axis, a second sum */
    expect("w1[16] : weight\nx1[1, 8, 8, 16] : input\n",
           "y0[n:1, h:8, w:8, m:16] = t0[n, h, w, m] - x1[n, h, w, m] + w1[m]\n", NULL);
    expect("x1[1, 8, 8, 16] : input\n",
           "y0[n:1, h:8, w:8, m:16] = t0[n, h, w, m] + x1[n, w, h, m]\n", NULL);
    expect("w1[8] : weight\n", "y0[n:1, h:8, w:8, m:16] = t0[n, h, w, m] + w1[h]\n", NULL);
    expect("", "y0[n:1, h:8, w:8, m:16] = t0[n, h, w, m]*h\n", NULL);
    expect("", "y0[n:1, m:16] = sum(h:8, w:8) t0[n, h, w, m]\n", NULL);
    /* the sum's own data: a template would take them twice, and a call has them once */
    const char *same = "x0[1, 8, 8, 16] : input\nw0[16, 16] : weight\n"
                       "t0[n:1, h:8, w:8, m:16] = sum(c:16) x0[n, h, w, c]*w0[m, c]\n"
                       "y0[n:1, h:8, w:8, m:16] = t0[n, h, w, m] + x0[n, h, w, m]\n";
    assert_null(at_net_tail(arena, at_task_compute(task_of_text(arena, "part", same, NULL))));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tails)};
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
