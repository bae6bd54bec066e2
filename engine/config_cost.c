/* engine/config_cost.c: from an index to numbers of the tree to its estimate. */
#include "engine/config_cost.h"

#include <math.h>
#include <string.h>

#include "engine/machine_speeds.h"

struct at_cost_model {
    const at_task *task;
    at_arena *arena, *scratch;
    at_builds *builds;
    const at_engine_options *options; /* of one whose table may still be told */
    at_estimator **estimators;        /* [sketches of the task; else 1]; NULL: not told yet */
};

static at_cost_model *new_model(const at_task *task) {
    at_arena *a = at_arena_new();
    at_cost_model *m = AT_NEW(a, at_cost_model);
    *m = (at_cost_model){
        .task = task, .arena = a, .scratch = at_arena_new(), .builds = at_builds_new(a, task)};
    return m;
}

static void set_options(at_cost_model *m, const at_estimate_options *o) {
    const at_task *task = m->task;
    at_arena *a = m->arena;
    at_estimate_options mine = *o;
    at_bsr bsr;
    if (at_task_bsr(task, &bsr)) mine.mean_dynamic = (double)bsr.nnz / (double)bsr.rows;
    int n = at_task_num_sketches(task);
    m->estimators = AT_NEW_ARRAY(a, at_estimator *, n + 1);
    for (int i = 0; i < n; i++)
        m->estimators[i] = at_estimator_new(a, at_task_compute(at_task_sketch(task, i)), &mine);
    if (!n) m->estimators[0] = at_estimator_new(a, at_task_compute(task), &mine);
}

at_cost_model *at_cost_model_of(const at_task *task, const at_estimate_options *o) {
    at_cost_model *m = new_model(task);
    set_options(m, o);
    return m;
}

at_cost_model *at_cost_model_late(const at_task *task, const at_engine_options *o) {
    at_cost_model *m = new_model(task);
    m->options = at_copy(m->arena, o, sizeof *o);
    return m;
}

void at_cost_model_set(at_cost_model *m, const at_speed_table *table) {
    const at_engine_options *o = m->options;
    const at_target *target = at_engine_target(o);
    at_speeds speeds;
    at_speeds_of(table, target, &speeds);
    set_options(m,
                &(at_estimate_options){.target = target,
                                       .speeds = &speeds,
                                       .cache_bytes = {table->cache_bytes[0], table->cache_bytes[1],
                                                       table->cache_bytes[2]},
                                       .threads = o->threads ? (int)o->threads : 1,
                                       .pack_inline = o->packing == AT_PACKING_INLINE});
}

static void set_known(at_cost_model *m) {
    at_speed_table table;
    at_speeds_known(&table);
    at_cost_model_set(m, &table);
}

at_cost_model *at_cost_model_new(const at_task *task, const at_engine_options *o) {
    at_cost_model *m = at_cost_model_late(task, o);
    set_known(m);
    return m;
}

/* The machine that the table which is built in was measured on. */
static const at_speed_table built_in = {.cache_bytes = {48 << 10, 2 << 20, 32 << 20}};

at_cost_model *at_cost_model_built_in(const at_task *task, const at_engine_options *o) {
    at_cost_model *m = at_cost_model_late(task, o);
    at_cost_model_set(m, &built_in);
    return m;
}

at_cost_model *at_cost_model_of_recorded(const at_recorded *r) {
    const at_context *c = &r->extra.context;
    const at_target *target = r->extra.present && c->isa ? at_target_find(c->isa) : NULL;
    const at_speed_table *t = r->machine ? r->machine : &built_in;
    at_speeds speeds;
    if (!r->task || !target) return NULL;
    at_speeds_of(t, target, &speeds);
    return at_cost_model_of(
        r->task,
        &(at_estimate_options){
            .target = target,
            .speeds = &speeds,
            .cache_bytes = {t->cache_bytes[0], t->cache_bytes[1], t->cache_bytes[2]},
            .threads = c->threads > 0 ? c->threads : 1,
            .pack_inline = c->packing && !strcmp(c->packing, at_packing_name(AT_PACKING_INLINE))});
}

void at_cost_model_free(at_cost_model *m) {
    if (!m) return;
    at_arena_free(m->scratch);
    at_arena_free(m->arena);
}

static at_estimator *estimator_of(const at_cost_model *m, const at_config *c) {
    at_config own;
    return m->estimators[at_task_num_sketches(m->task) ? at_config_part(c, &own) : 0];
}

bool at_cost_point(at_cost_model *m, int64_t index, at_estimate *out) {
    at_config config;
    at_program *p;
    if (!m->estimators) set_known(m);
    at_arena_reset(m->scratch);
    return at_config_at(m->scratch, at_task_space(m->task), index, &config, NULL) == AT_OK &&
           at_builds_program(m->builds, &config, &p, NULL) == AT_OK &&
           at_estimate_of(estimator_of(m, &config), p, out);
}

void at_cost_points(at_cost_model *m, const int64_t *index, int n, double *out_ns) {
    at_estimate e;
    for (int i = 0; i < n; i++) out_ns[i] = at_cost_point(m, index[i], &e) ? e.ns : INFINITY;
}

static void costs_of(void *ctx, const int64_t *indices, int n, double *ns) {
    at_cost_points(ctx, indices, n, ns);
}

at_costs at_costs_of(at_cost_model *m) { return (at_costs){costs_of, m}; }
