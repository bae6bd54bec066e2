/* cost/estimate_cold.c: vectors of a sum that come from beyond the second-level cache, as a
 * network's weights do in every run. */
#include "codegen/weight_blocks.h"
#include "cost/estimate_tile_int.h"

/* What a line takes that is asked for some lines ahead, of what the third level needs to give it:
 * it comes after what is worked out meanwhile, not beside. Weights of a network lie further away.
 */
static const double behind = 1, far_behind = 1.5;
/* Where all turns of the block before ask for lines, this share of their time is left, however much
 * hides it. Parts of a tile ask for the same lines each, which is not better than before. */
static const double beside = 0.6;

/* Does lowering ask for these weights block by block? (codegen/weight_blocks.h) */
static bool is_ahead(const at_estimator *e, const est_leaf *x, const est_access *a) {
    at_weights_loop all[MAX_LOOPS];
    for (int i = 0; i < x->num_loops; i++) {
        const est_loop *l = &x->loop[i];
        all[i] = (at_weights_loop){.extent = (int64_t)l->turns,
                                   .growth = a->step[i],
                                   .is_reduce = l->sums,
                                   .is_written_out = l->ann == AT_ANN_VEC || l->is_dot ||
                                                     (l->ann == AT_ANN_UNROLL && !l->sums)};
    }
    return at_ahead_loop(all, x->num_loops,
                         at_ahead_room(e->o.cache_bytes[1]) / a->buffer->bytes) >= 0;
}

double est_beyond_ns(const at_estimator *e, const est_leaf *x, const est_access *a, double lines,
                     bool is_one, double sums_ns) {
    const double line_ns = (double)e->speeds.stream_ns[2];
    const at_tensor *t = &e->compute->tensors[a->tensor];
    const bool is_weight = t->is_packing || t->role == AT_ROLE_WEIGHT,
               is_cold = is_weight && e->o.cold_weights;
    const double cold = is_cold ? a->lines[0] : 0, again = est_max(0, lines - cold);
    const double all_ns = (far_behind * cold + behind * again) * line_ns;
    if (is_weight && is_one && is_ahead(e, x, a)) return est_max(beside * all_ns, all_ns - sums_ns);
    return all_ns;
}
