/* bench/dialects.c: the best configurations as other compilers and instruction sets have them: the
 * gnu dialect through gcc and clang against tcc's machine code, and AVX2 with a search of its own
 * against the AVX2 peak. */
#include "bench/bench.h"

/* Clang would stay at 256 bits. */
static const struct {
    at_compiler compiler;
    const char *flags;
} compilers[] = {{AT_GCC, "-O3 -march=native"},
                 {AT_CLANG, "-O3 -march=native -mprefer-vector-width=512"}};
#define NUM_COMPILERS (int)(sizeof compilers / sizeof *compilers)

static at_status layer_by_compilers(at_arena *a, int layer, at_error *err) {
    const at_bench_layer *l = &at_bench_layers[layer];
    at_lower_options lo = at_bench_lower_options(at_bench_target());
    at_program *program;
    at_bench_data data;
    at_bench_kernel kernel[1 + NUM_COMPILERS] = {0};
    at_bench_contender of[AT_BENCH_CONTENDERS];
    at_bench_contest contest;
    int which[1 + NUM_COMPILERS], n = 1;
    const at_bench_search search = at_bench_layer_search(a, l, at_bench_target());
    AT_TRY(at_bench_best(a, &search, &program, err));
    AT_TRY(at_bench_data_new(a, program->compute, program->values, &data, err));
    at_status s = at_bench_kernel_open(a, program, &lo, AT_TCC, NULL, &data, &kernel[0], err);
    lo.dialect = AT_DIALECT_GNU;
    for (int i = 0; i < NUM_COMPILERS && s == AT_OK; i++) {
        if (!at_compiler_available(compilers[i].compiler)) continue;
        which[n] = i;
        s = at_bench_kernel_open(a, program, &lo, compilers[i].compiler, compilers[i].flags, &data,
                                 &kernel[n], err);
        n += s == AT_OK;
    }
    for (int i = 0; i < n; i++) of[i] = at_bench_kernel_contender(&kernel[i]);
    if (s == AT_OK) at_bench_contest_run(&contest, of, n, at_bench_target());
    for (int i = 1; i < n && s == AT_OK; i++)
        at_bench_report_row(at_format(a, "%s gnu through %s -O3 against tcc", l->name,
                                      at_compiler_name(compilers[which[i]].compiler)),
                            at_bench_contest_speed(&contest, i, 0), AT_BENCH_GOAL_LEAST, 0.92);
    for (int i = 0; i < n; i++) at_bench_kernel_close(&kernel[i]);
    return s;
}

at_status at_bench_dialects(at_error *err) {
    at_bench_report_section("Dialect gnu on the best configuration", "ratio", 2);
    for (int i = 0; i < NUM_COMPILERS; i++)
        if (!at_compiler_available(compilers[i].compiler))
            at_bench_report_skip(at_compiler_name(compilers[i].compiler), "not on this machine");
    return at_bench_each_layer(layer_by_compilers, err);
}

static at_status run_avx2(at_arena *a, int layer, at_error *err) {
    const at_bench_layer *l = &at_bench_layers[layer];
    at_program *program;
    at_bench_data data;
    at_bench_kernel kernel;
    at_bench_contest contest;
    const at_bench_search search = at_bench_layer_search(a, l, at_target_find("avx2"));
    AT_TRY(at_bench_best_open(a, &search, &program, &data, &kernel, err));
    at_bench_contender of = at_bench_kernel_contender(&kernel);
    at_bench_contest_run(&contest, &of, 1, search.target);
    at_bench_report_row(at_format(a, "%s of the avx2 peak", l->name),
                        at_bench_contest_of_peak(&contest, 0), AT_BENCH_GOAL_LEAST, 0.85);
    at_bench_kernel_close(&kernel);
    return AT_OK;
}

at_status at_bench_avx2(at_error *err) {
    const char *name = at_bench_layers[0].name;
    at_bench_report_section("AVX2, best of the tool's random trials with --isa avx2", "ratio", 2);
    if (at_cpu_has_set(at_vector_set("avx2"))) return at_bench_row(run_avx2, 0, name, err);
    at_bench_report_skip(name, "this CPU has no AVX2");
    return AT_OK;
}
