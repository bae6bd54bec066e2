/* bench/passes.c: lowering once more, stopped before and behind the tiles. */
#include "bench/passes.h"

#include "codegen/codegen_int.h"

static at_status until(at_arena *a, const at_program *p, const at_lower_options *o,
                       const char *last, double *ms, at_error *err) {
    at_low *unused;
    int64_t start_ns = at_now_ns();
    at_status s = at_lower_until(a, p, o, last, &unused, err);
    *ms = (double)(at_now_ns() - start_ns) * 1e-6;
    return s;
}

at_status at_bench_passes(at_arena *a, const at_program *p, const at_lower_options *o,
                          at_bench_passes_ms *out, at_error *err) {
    AT_TRY(until(a, p, o, "partition", &out->before_tiles, err));
    AT_TRY(until(a, p, o, "tiles", &out->tiles, err));
    out->tiles -= out->before_tiles;
    return AT_OK;
}
