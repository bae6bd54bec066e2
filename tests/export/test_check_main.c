/* The main of an emitted file: it asks the CPU first, then says whether the kernel is right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "export/export.h"
#include "templates/task.h"

#include <stdlib.h>
#include <string.h>

static at_file_kernel kernel_of(at_arena *a, at_isa isa) {
    const at_template_row *row;
    at_task *task;
    at_config config;
    at_program *p;
    at_kernel *k;
    at_error err;
    at_lower_options o = {.dialect = AT_DIALECT_GNU, .isa = isa, .name = "gemm"};
    if (at_template_find("conv2d_3x3_gemm", &row, &err) != AT_OK ||
        at_task_new(a, row, "N=1,H=5,W=7,CI=3,CO=17", &task, &err) != AT_OK ||
        at_task_default_config(a, task, isa, &config, &err) != AT_OK ||
        at_task_program(a, task, &config, &p, &err) != AT_OK ||
        at_lower(a, p, &o, &k, &err) != AT_OK)
        fail_msg("%s", err.text);
    return (at_file_kernel){.program = p, .kernel = k, .name = o.name, .head = ""};
}

static bool cpu_has(at_isa isa) {
    switch (isa) {
    case AT_ISA_AVX512: return __builtin_cpu_supports("avx512f");
    case AT_ISA_AVX2: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    default: return true;
    }
}

static void every_isa(void **state) {
    (void)state;
    char folder[] = "/tmp/at-export-XXXXXX";
    if (!mkdtemp(folder)) fail();
    at_arena *a = at_arena_new();
    for (at_isa isa = AT_ISA_SCALAR; isa < AT_ISA_COUNT; isa++) {
        at_file_kernel k = kernel_of(a, isa);
        at_file_options o = {.with_main = true};
        at_text text = {0};
        at_error err;
        char *said;
        size_t n;
        if (at_emit_file(a, &k, 1, &o, &text, NULL, &err) != AT_OK ||
            at_write_file(at_format(a, "%s/main.c", folder), text.data, text.len, &err) != AT_OK)
            fail_msg("%s", err.text);
        assert_int_equal(
            system(at_format(a, "cd %s && cc -O1 -Wall -Wextra -Werror main.c -o main", folder)),
            0);
        int status = system(at_format(a, "cd %s && ./main >messages", folder));
        if (at_read_file(a, at_format(a, "%s/messages", folder), &said, &n, &err) != AT_OK)
            fail_msg("%s", err.text);
        assert_int_equal(status, cpu_has(isa) ? 0 : 1 << 8);
        assert_non_null(strstr(said, cpu_has(isa) ? "gemm: right" : "which this CPU lacks"));
        at_text_free(&text);
    }
    assert_int_equal(system(at_format(a, "rm -r %s", folder)), 0);
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_isa)};
    return cmocka_run_group_tests_name("export/check_main", tests, NULL, NULL);
}
