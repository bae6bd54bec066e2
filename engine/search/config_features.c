/* engine/search/config_features.c: features of a task's configurations: of its knobs, or of its
 * loop tree with the values of the options behind. */
#include "engine/search/config_features.h"

#include <math.h>
#include <stdlib.h>

#include "engine/search/config_cost.h"
#include "engine/measure/machine.h"

static int add_options(const at_config *c, float *out, int n, int max) {
    for (int i = 0; i < c->num_knobs; i++) {
        const at_json *v = c->entities[i].option;
        if (c->entities[i].kind != AT_KNOB_OPTION) continue;
        if (n < max) out[n] = v->kind == AT_JSON_BOOL ? (float)v->boolean : (float)v->number;
        n++;
    }
    return n;
}

/* ---- bounds, by key of the program ----------------------------------------------------------- */

enum { LEAST_ROOM = 1 << 10, MOST_ROOM = 1 << 19 }; /* 32 MB */

static at_bound_row *place_of(const at_feature_maker *m, at_key key) {
    uint64_t mask = (uint64_t)m->room - 1, i = key.lo & mask;
    while (m->bounds[i].is_there && !at_key_equal(m->bounds[i].key, key)) i = (i + 1) & mask;
    return &m->bounds[i];
}

/* Room for one more; a table that may not grow any further begins anew. */
static void make_room(at_feature_maker *m) {
    int old_room = m->room;
    at_bound_row *old = m->bounds;
    if (2 * m->num_bounds < m->room) return;
    bool anew = old_room == MOST_ROOM;
    m->room = anew || !old_room ? LEAST_ROOM : 4 * old_room;
    if (m->room > MOST_ROOM) m->room = MOST_ROOM;
    m->bounds = calloc((size_t)m->room, sizeof *m->bounds);
    AT_NEED(m->bounds);
    if (anew) m->num_bounds = 0;
    for (int i = 0; i < old_room && !anew; i++)
        if (old[i].is_there) *place_of(m, old[i].key) = old[i];
    free(old);
}

/* Each need in cycles, and the bound of all, as powers of two. */
static void work_out(at_feature_maker *m, const at_program *p, at_bound_row *row) {
    const at_lowered *lowered;
    row->can_be_lowered = at_lower_tiles(m->scratch, p, &m->lower, &lowered, NULL) == AT_OK;
    if (!row->can_be_lowered) return;
    const at_bound *b = at_bound_of(m->scratch, lowered, &m->machine);
    for (int i = 0; i < AT_NEED_COUNT; i++) row->feature[i] = (float)log2(1 + b->cycles[i]);
    row->feature[AT_NEED_COUNT] = (float)log2(1 + b->bound_cycles);
}

static int add_bound(at_feature_maker *m, const at_program *p, float *out, int n, int max) {
    at_key key = at_program_key(p);
    make_room(m);
    at_bound_row *row = place_of(m, key);
    if (!row->is_there) {
        m->num_bounds++;
        row->key = key;
        row->is_there = true;
        work_out(m, p, row);
    }
    if (!row->can_be_lowered) return -1;
    for (int i = 0; i <= AT_NEED_COUNT; i++, n++)
        if (n < max) out[n] = row->feature[i];
    return n;
}

/* ---- of all sketches alike ------------------------------------------------------------------- */

/* The terms of the estimate: what they mean does not depend on the sketch. */
static int add_terms(at_feature_maker *m, int64_t index, float *out, int max) {
    enum { TERMS = 10 };
    at_estimate e;
    if (!m->costs) return 0;
    if (!at_cost_point(m->costs, index, &e)) return -1;
    const double term[TERMS] = {e.ns,        e.sums_ns,    e.copies_ns, e.memory_ns, e.calls,
                                e.sum_calls, e.operations, e.bytes[0],  e.bytes[1],  e.bytes[2]};
    for (int i = 0; i < TERMS && i < max; i++) out[i] = (float)log2(1 + term[i]);
    return TERMS;
}

static double ratio(double x, double y) { return log2((1 + x) / (1 + y)); }

static int common_of(void *ctx, int64_t index, float *out, int max) {
    const at_common_maker *m = ctx;
    at_estimate e;
    if (!at_cost_point(m->costs, index, &e) || !(e.ns > 0)) return -1;
    const double number[AT_COMMON_FEATURES] = {e.sums_ns / e.ns,
                                               e.copies_ns / e.ns,
                                               e.memory_ns / e.ns,
                                               ratio(e.operations, e.ns),
                                               ratio(e.operations, e.calls),
                                               ratio(e.operations, e.sum_calls),
                                               ratio(e.sum_calls, e.calls),
                                               ratio(m->flops, e.operations),
                                               ratio(e.bytes[0], e.operations),
                                               ratio(e.bytes[1], e.operations),
                                               ratio(e.bytes[2], e.operations)};
    for (int i = 0; i < AT_COMMON_FEATURES && i < max; i++) out[i] = (float)number[i];
    return AT_COMMON_FEATURES;
}

at_features at_common_features(at_common_maker *m) { return (at_features){common_of, m}; }

/* ---- of a configuration ---------------------------------------------------------------------- */

static int features_of(void *ctx, int64_t index, float *out, int max) {
    at_feature_maker *m = ctx;
    at_config config;
    at_program *program;
    at_arena_reset(m->scratch);
    if (at_config_at(m->scratch, at_task_space(m->task), index, &config, NULL) != AT_OK) return -1;
    if (m->set == AT_FEATURES_KNOB) {
        int n = at_config_features(&config, NULL);
        if (n >= 0 && n <= max) at_config_features(&config, out);
        return n;
    }
    if (at_task_program(m->scratch, m->task, &config, &program, NULL) != AT_OK) return -1;
    int terms = add_terms(m, index, out, max);
    if (terms < 0) return -1;
    int room = max > terms ? max - terms : 0;
    int n = terms +
            at_program_features(m->scratch, program,
                                m->set == AT_FEATURES_CURVE ? AT_FEATURE_CURVE : AT_FEATURE_ITERVAR,
                                out + (max - room), room);
    n = add_options(&config, out, n, max);
    return m->set == AT_FEATURES_BOUND ? add_bound(m, program, out, n, max) : n;
}

at_status at_features_of(at_feature_maker *m, const at_task *task, const at_engine_options *o,
                         at_features *out, at_error *err) {
    *m = (at_feature_maker){.task = task, .scratch = at_arena_new(), .set = o->features};
    *out = (at_features){features_of, m};
    if (at_task_foreign(task)) { /* nothing is known but the values of its knobs */
        *out = at_value_features(at_task_space(task));
        return AT_OK;
    }
    if (at_task_num_sketches(task)) m->costs = at_cost_model_new(task, o);
    if (m->set != AT_FEATURES_BOUND) return AT_OK;
    m->lower = (at_lower_options){.dialect = AT_DIALECT_TCC,
                                  .target = at_engine_target_for(o, at_task_compute(task)),
                                  .pack_inline = o->packing == AT_PACKING_INLINE,
                                  .name = "kernel",
                                  .prefetch_above = at_cpu_facts()->l2_bytes,
                                  .prefetch_apart_above = at_cpu_facts()->l3_bytes};
    return at_machine_here(o->threads ? (int)o->threads : 1, &m->machine, err);
}

void at_features_end(at_feature_maker *m) {
    if (m->scratch) at_arena_free(m->scratch);
    free(m->bounds);
    at_cost_model_free(m->costs);
    m->costs = NULL;
    m->scratch = NULL;
    m->bounds = NULL;
    m->num_bounds = m->room = 0;
}
