/* engine/search/config_cost.c: from an index to numbers of the tree to its estimate. */
#include "engine/search/config_cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/search/machine_speeds.h"

typedef struct knob_order { /* of a space, or of a part of a sum */
    bool is_known;
    int *knob; /* [num] that with most to be worked out anew first */
    int num;
} knob_order;

struct at_cost_model {
    const at_task *task;
    at_arena *arena, *scratch;
    at_builds *builds;
    const at_engine_options *options; /* of one whose table may still be told */
    at_estimator **estimators;        /* [sketches of the task; else 1]; NULL: not told yet */
    knob_order *orders;               /* [parts of the space; else 1] */
};

static at_cost_model *new_model(const at_task *task) {
    at_arena *a = at_arena_new();
    at_cost_model *m = AT_NEW(a, at_cost_model);
    *m = (at_cost_model){
        .task = task, .arena = a, .scratch = at_arena_new(), .builds = at_builds_new(a, task)};
    int parts = at_space_num_parts(at_task_space(task));
    m->orders = AT_NEW_ARRAY(a, knob_order, parts ? parts : 1);
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
    const at_target *target = at_engine_target_for(o, at_task_compute(m->task));
    at_speeds speeds;
    at_speeds_of(table, target, &speeds);
    set_options(m,
                &(at_estimate_options){.target = target,
                                       .speeds = &speeds,
                                       .cache_bytes = {table->cache_bytes[0], table->cache_bytes[1],
                                                       table->cache_bytes[2]},
                                       .threads = o->threads ? (int)o->threads : 1,
                                       .pack_inline = o->packing == AT_PACKING_INLINE,
                                       .cold_weights = o->cache == AT_CACHE_WEIGHTS_COLD,
                                       .weights_bytes = (double)o->weights_bytes,
                                       .row = o->row});
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

bool at_cost_config(at_cost_model *m, const at_config *config, at_estimate *out) {
    at_program *p;
    if (!m->estimators) set_known(m);
    return at_builds_program(m->builds, config, &p, NULL) == AT_OK &&
           at_estimate_of(estimator_of(m, config), p, out);
}

bool at_cost_point(at_cost_model *m, int64_t index, at_estimate *out) {
    at_config config;
    at_arena_reset(m->scratch);
    return at_config_at(m->scratch, at_task_space(m->task), index, &config, NULL) == AT_OK &&
           at_cost_config(m, &config, out);
}

/* ---- many points ----------------------------------------------------------------------------- */

/* An estimate takes less where the one before was of a point that is alike, so a list is gone
 * through in an order: knobs that change most leaves take turns last. */
enum { FEW = 64 }; /* points of a list that are taken as they come */

typedef struct place {
    int64_t key;
    int part, number; /* in the list */
} place;

static int in_order(const void *x, const void *y) {
    const place *a = x, *b = y;
    if (a->part != b->part) return a->part < b->part ? -1 : 1;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return a->number - b->number;
}

/* How much has to be worked out anew where this knob alone has its next value. */
static int weight_of(at_cost_model *m, int64_t index, int64_t *digits, int knob) {
    const at_space *s = at_task_space(m->task);
    const int64_t own = digits[knob];
    at_estimate e;
    at_config config;
    digits[knob] = (own + 1) % at_space_knob_len(s, knob);
    int64_t other = at_space_index(s, digits);
    digits[knob] = own;
    if (!at_cost_point(m, index, &e) || !at_cost_point(m, other, &e)) return 0;
    if (at_config_at(m->scratch, s, other, &config, NULL) != AT_OK) return 0;
    return at_estimate_new_leaves(estimator_of(m, &config));
}

static const knob_order *order_of(at_cost_model *m, int64_t index, int part, int64_t *digits) {
    const at_space *s = at_task_space(m->task);
    knob_order *o = &m->orders[part];
    if (o->is_known) return o;
    const int n = at_space_num_knobs(s);
    int *weight = AT_NEW_ARRAY(m->arena, int, n);
    o->is_known = true;
    o->knob = AT_NEW_ARRAY(m->arena, int, n);
    at_space_digits(s, index, digits);
    for (int k = at_space_num_parts(s) > 0; k < n; k++) {
        if (!at_space_digit_counts(s, digits, k) || at_space_knob_len(s, k) < 2) continue;
        weight[k] = weight_of(m, index, digits, k);
        int at = o->num++;
        for (; at > 0 && weight[o->knob[at - 1]] < weight[k]; at--) o->knob[at] = o->knob[at - 1];
        o->knob[at] = k;
    }
    return o;
}

static place place_of(at_cost_model *m, int64_t index, int number, int64_t *digits) {
    const at_space *s = at_task_space(m->task);
    place p = {.part = at_space_num_parts(s) ? at_space_part_of(s, index) : 0, .number = number};
    const knob_order *o = order_of(m, index, p.part, digits);
    at_space_digits(s, index, digits);
    for (int i = 0; i < o->num; i++)
        p.key = p.key * at_space_knob_len(s, o->knob[i]) + digits[o->knob[i]];
    return p;
}

/* Who waits for costs as the search is to end does nothing more with them. */
static double cost_of(at_cost_model *m, int64_t index) {
    at_estimate e;
    return !at_halts() && at_cost_point(m, index, &e) ? e.ns : INFINITY;
}

void at_cost_points(at_cost_model *m, const int64_t *index, int n, double *out_ns) {
    if (n <= FEW) {
        for (int i = 0; i < n; i++) out_ns[i] = cost_of(m, index[i]);
        return;
    }
    place *places = malloc(sizeof *places * (size_t)n);
    int64_t *digits = malloc(sizeof *digits * (size_t)at_space_num_knobs(at_task_space(m->task)));
    AT_NEED(places && digits);
    for (int i = 0; i < n; i++) places[i] = place_of(m, index[i], i, digits);
    qsort(places, (size_t)n, sizeof *places, in_order);
    for (int i = 0; i < n; i++) out_ns[places[i].number] = cost_of(m, index[places[i].number]);
    free(places);
    free(digits);
}

static void costs_of(void *ctx, const int64_t *indices, int n, double *ns) {
    at_cost_points(ctx, indices, n, ns);
}

at_costs at_costs_of(at_cost_model *m) { return (at_costs){costs_of, m}; }
