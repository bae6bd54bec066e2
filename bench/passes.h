/* bench/passes.h: how lowering's time is divided among its passes. Apart from bench.h because names
 * inside codegen/ and those of templates/ do not go together. */
#ifndef AT_BENCH_PASSES_H
#define AT_BENCH_PASSES_H

#include "codegen/codegen.h"

typedef struct at_bench_passes_ms {
    double before_tiles, tiles;
} at_bench_passes_ms;
/* Runs the passes again: those before `tiles`, and those with it. */
at_status at_bench_passes(at_arena *a, const at_program *p, const at_lower_options *o,
                          at_bench_passes_ms *out, at_error *err);

#endif
