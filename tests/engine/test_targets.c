/* Targets and this machine: what codegen and the runtime call an instruction set is one name, and a
 * target of another architecture becomes text, but is not run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/engine.h"

#include <string.h>

static at_error err;

static void names_are_those_of_the_runtime(void **state) {
    (void)state;
    const at_target *t;
    const at_architecture *here = at_target_here()->architecture;
    int sets = 0;
    for (int i = 0; (t = at_target_at(i)); i++) {
        assert_ptr_equal(at_target_find(t->name), t); /* no other has its name */
        assert_int_equal(at_vector_set(t->name) >= 0, t->architecture == here);
    }
    for (; at_vector_set_name(sets); sets++)
        assert_string_equal(at_vector_set_name(sets), here->targets[sets].name);
    assert_int_equal(sets, here->num_targets);
    assert_string_equal(at_target_here()->name, at_vector_set_name(at_cpu_best_set()));
    assert_null(at_target_find("mmx"));
}

static void what_the_cpu_lacks_is_not_run(void **state) {
    (void)state;
    const at_target *t;
    for (int i = 0; (t = at_target_at(i)); i++)
        if (at_cpu_has_set(at_vector_set(t->name)))
            assert_int_equal(at_target_check(t, &err), AT_OK);
        else assert_int_equal(at_target_check(t, &err), AT_E_USAGE);
}

static const at_compute *compute_of(at_arena *a, const char *name) {
    const at_template_row *row;
    at_task *task;
    assert_int_equal(at_template_find(name, &row, &err), AT_OK);
    assert_int_equal(at_task_new(a, row, "", &task, &err), AT_OK);
    return at_task_compute(task);
}

/* Of the sets of this CPU, one that converts f16 is taken for f16, and for floats the set itself.
 */
static void conversions_are_taken_where_they_are_needed(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_compute *halves = compute_of(a, "dense_f16"), *floats = compute_of(a, "dense");
    const at_target *t, *x;
    for (int i = 0; (t = at_target_at(i)); i++) {
        if (!at_cpu_has_set(at_vector_set(t->name))) continue;
        const at_target *taken = at_target_of_types(t, halves);
        assert_ptr_equal(at_target_of_types(t, floats), t);
        assert_true(at_cpu_has_set(at_vector_set(taken->name)));
        assert_int_equal(taken->lanes, t->lanes);
        assert_int_equal(t->dots & ~taken->dots, 0);
        for (int k = 0; (x = at_target_at(k)); k++)
            if (x->like && !strcmp(x->like, t->name) && x->converts_halves && x->dots == t->dots &&
                at_cpu_has_set(at_vector_set(x->name)))
                assert_true(taken->converts_halves);
    }
    at_arena_free(a);
}

/* ---- another architecture -------------------------------------------------------------------- */

extern const at_architecture abacus;

static void beads(const at_target *target, at_text *out) {
    at_text_addf(out, "/* vectors of %d beads */\n", target->lanes);
}

static const at_target of_abacus[] = {
    {.name = "fingers",
     .parts = "",
     .lanes = 1,
     .default_lanes = 4,
     .regs = 8,
     .architecture = &abacus},
    {.name = "rods",
     .parts = "",
     .lanes = 4,
     .default_lanes = 4,
     .regs = 20,
     .fused = true,
     .prelude = beads,
     .architecture = &abacus},
};
const at_architecture abacus = {.name = "abacus", .targets = of_abacus, .num_targets = 2};

static void another_architecture_is_written_but_not_run(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_template_row *row;
    at_task *task;
    at_config config;
    at_program *p;
    at_kernel *k;
    assert_int_equal(at_template_find("dense", &row, &err), AT_OK);
    assert_int_equal(at_task_new(a, row, "M=8,N=16,K=4", &task, &err), AT_OK);
    assert_int_equal(at_task_default_config(a, task, of_abacus[1].default_lanes, &config, &err),
                     AT_OK);
    assert_int_equal(at_task_program(a, task, &config, &p, &err), AT_OK);

    at_lower_options o = {.dialect = AT_DIALECT_GNU, .target = &of_abacus[1], .name = "k"};
    assert_int_equal(at_lower(a, p, &o, &k, &err), AT_OK);
    assert_ptr_equal(k->target, &of_abacus[1]);
    assert_non_null(strstr(k->source, "/* vectors of 4 beads */"));
    o.dialect = AT_DIALECT_C;
    assert_int_equal(at_lower(a, p, &o, &k, &err), AT_OK);
    assert_ptr_equal(k->target, &of_abacus[0]);
    o.dialect = AT_DIALECT_TCC;
    assert_int_equal(at_lower(a, p, &o, &k, &err), AT_E_INPUT);
    assert_string_equal(err.text,
                        "tiles for rods have no machine code; dialects gnu and c do without");

    assert_int_equal(at_target_check(&of_abacus[1], &err), AT_E_USAGE);
    assert_string_equal(err.text,
                        at_format(a,
                                  "the code is for abacus and this machine is %s: apply writes it "
                                  "to a file, but it does not run here",
                                  at_target_here()->architecture->name));
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_those_of_the_runtime),
        cmocka_unit_test(what_the_cpu_lacks_is_not_run),
        cmocka_unit_test(conversions_are_taken_where_they_are_needed),
        cmocka_unit_test(another_architecture_is_written_but_not_run)};
    return cmocka_run_group_tests_name("engine/targets", tests, NULL, NULL);
}
