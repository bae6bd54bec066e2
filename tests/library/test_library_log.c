/* The library's spaces and logs: a task's configurations, and what a log of its search holds,
 * picked and edited. */
#include "tests/library/library_task.h"

/* ---- spaces ---------------------------------------------------------------------------------- */

static void spaces(void **state) {
    (void)state;
    at_lib *lib = at_lib_new();
    at_lib_template row;
    int n = at_lib_template_count(), known = 0;
    for (int i = 0; i < n; i++) {
        assert_true(at_lib_template_at(i, &row));
        known += !strcmp(row.name, "dense") && !strcmp(row.record_name, "dense_pack.x86");
    }
    assert_int_equal(known, 1);
    assert_false(at_lib_template_at(n, &row));
    assert_false(at_lib_template_at(-1, &row));

    at_lib_task *t = at_lib_task_new(lib, "dense", dense_args);
    assert_string_equal(at_lib_task_name(t), "dense");
    assert_memory_equal(at_lib_task_args(t), dense_args, strlen(dense_args));
    assert_true(at_lib_task_flops(t) == 2.0 * M * N * K);
    int64_t product = 1, length = at_lib_space_length(t);
    at_lib_knob knob;
    for (int i = 0; i < at_lib_knob_count(t); i++) {
        assert_int_equal(at_lib_knob_at(t, i, &knob), 0);
        assert_non_null(strstr(knob.text, "len="));
        product *= knob.length;
    }
    assert_int_equal(product, length);
    for (int64_t i = 0; i < length; i += 7)
        assert_int_equal(at_lib_index(t, at_lib_entity(t, i)), i);
    assert_null(at_lib_entity(t, length));
    assert_int_equal(at_lib_error_code(lib), AT_LIB_USAGE);
    assert_int_equal(at_lib_index(t, "{\"entity\": []}"), -1);
    at_lib_task_free(t);
    at_lib_free(lib);
}

/* ---- logs ------------------------------------------------------------------------------------ */

static void edit(const char *from, const char *to, const char *script) {
    char command[512];
    snprintf(command, sizeof command, "sed '%s' %s >%s", script, from, to);
    assert_int_equal(system(command), 0);
}

static void logs(void **state) {
    (void)state;
    path log = in_folder("logs.log"), copy = in_folder("copy.log"), best = in_folder("best.log"),
         foreign = in_folder("foreign.log");
    at_lib *lib = new_lib();
    at_lib_task *t = new_task(lib, "dense", dense_args, "6");
    at_lib_record r, s;
    tune(lib, t, log.text);
    at_lib_log *l = at_lib_log_read(lib, log.text);
    for (int i = 0; i < at_lib_log_count(l); i++)
        if (at_lib_log_append(l, i, copy.text)) fail_msg("%s", at_lib_error(lib));
    at_lib_log *c = at_lib_log_read(lib, copy.text);
    assert_int_equal(at_lib_log_count(c), at_lib_log_count(l));
    for (int i = 0; i < at_lib_log_count(l); i++) {
        assert_int_equal(at_lib_log_at(l, i, &r), 0);
        assert_int_equal(at_lib_log_at(c, i, &s), 0);
        assert_string_equal(r.entity, s.entity);
        assert_true(r.time_s == s.time_s && r.of_peak == s.of_peak && r.is_best == s.is_best);
    }
    at_lib_log_free(c);
    at_lib_log_free(l);

    const char *both[] = {log.text, copy.text};
    assert_int_equal(at_lib_pick_best(lib, both, 2, best.text), AT_LIB_OK);
    assert_int_equal(at_lib_best(t, log.text, &r), 0);
    /* A program has no --force to give. */
    path notes = in_folder("notes");
    FILE *f = fopen(notes.text, "w");
    assert_true(f && fputs("for myself\n", f) >= 0 && fclose(f) == 0);
    assert_int_equal(at_lib_pick_best(lib, both, 2, notes.text), AT_LIB_USAGE);
    assert_non_null(strstr(at_lib_error(lib), " is no log; name another file"));
    assert_null(strstr(at_lib_error(lib), "--"));
    char entity[1024];
    double time_s = r.time_s;
    snprintf(entity, sizeof entity, "%s", r.entity);
    assert_int_equal(at_lib_best(t, best.text, &r), 0);
    assert_string_equal(entity, r.entity);
    assert_true(r.time_s == time_s);

    /* A record that is no configuration of its task is not picked. */
    path unfit = in_folder("unfit.log"), none = in_folder("none.log");
    const char *from = unfit.text;
    edit(best.text, unfit.text, "s/\"tile_y\"/\"tile_q\"/");
    assert_int_equal(at_lib_pick_best(lib, &from, 1, none.text), AT_LIB_INPUT);

    /* Records of instructions that this CPU has not are not run, those beside them are. */
    edit(best.text, foreign.text,
         "s/\"isa\": \"scalar\"/\"isa\": \"avx9000\"/; s/\"context_hash\": "
         "\"..../\"context_hash\": \"0000/");
    at_lib_task *any = at_lib_task_new(lib, "dense", dense_args);
    assert_null(at_lib_load_log(any, foreign.text));
    assert_int_equal(at_lib_error_code(lib), AT_LIB_USAGE);
    assert_non_null(strstr(at_lib_error(lib), "avx9000"));
    char command[400];
    snprintf(command, sizeof command,
             "sed 's/, \"all_cost/&/; s/0[.][0-9]*\\(e-[0-9]*\\)*/9.5/' %s >>%s", best.text,
             foreign.text);
    assert_int_equal(system(command), 0);
    at_lib_kernel *k = at_lib_load_log(any, foreign.text);
    if (!k) fail_msg("%s", at_lib_error(lib));
    assert_string_equal(at_lib_isa(k), "scalar");
    at_lib_kernel_free(k);
    at_lib_task_free(any);
    at_lib_task_free(t);
    at_lib_free(lib);
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    const struct CMUnitTest tests[] = {cmocka_unit_test(spaces), cmocka_unit_test(logs)};
    return cmocka_run_group_tests_name("library/library_log", tests, make_folder, remove_folder);
}
