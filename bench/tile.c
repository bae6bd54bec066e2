/* bench/tile.c: the register tile alone, 14 rows of two vectors with all operands in L1: how much
 * of the FMA peak this machine lets loads and broadcasts keep. What a kernel lacks beyond it is the
 * kernel's; on a core shared with other guests the tile itself falls to 0.9 and below. */
#include "bench/bench.h"

/* clang-format off */
static const char compute_text[] =
    "a[Y, K] : input\n"
    "b[K, X] : weight\n"
    "acc[y:Y, x:X] = sum(k:K) a[y, k] * b[k, x]\n"
    "out[y:Y, x:X] = acc[y, x]\n";

static const char tree_text[] =
    "k, y:unroll, x:vec =>\n"
    "    @acc = y, x  // k\n"
    "y:unroll, x:vec =>\n"
    "    @out = y, x\n";
/* clang-format on */

/* a and b take 23 KB. The odd row of a keeps its columns apart in the cache. */
static const at_bench_size sizes[] = {{"Y", 14}, {"X", 32}, {"K", 129}};

at_status at_bench_tile_open(at_arena *a, at_bench_kernel *out, at_error *err) {
    const at_lower_options lo = {
        .dialect = AT_DIALECT_GNU, .target = at_target_find("avx512"), .name = "tile"};
    at_program *program;
    at_bench_data data;
    AT_TRY(at_bench_program(a, compute_text, tree_text, sizes, sizeof sizes / sizeof *sizes,
                            &program, err));
    AT_TRY(at_bench_data_new(a, program->compute, program->values, &data, err));
    return at_bench_kernel_open(a, program, &lo, AT_GCC, "-O3 -march=native", &data, out, err);
}
