/* network/select.c: which configuration each kind of part has: the best of a log, or the default.
 */
#include <math.h>
#include <string.h>

#include "network/program.h"

/* ---- choices --------------------------------------------------------------------------------- */

/* Seconds that a kernel's weights take to come from memory, as they do in a network. */
static double weights_time(const at_selection *s) {
    static const double bytes_per_s = 20e9;
    const at_compute *c = at_task_compute(s->task);
    int64_t *values, **extents, bytes = 0;
    at_arena *a = at_arena_new();
    if (at_task_values(a, s->task, &s->config, &values, NULL) == AT_OK &&
        at_compute_extents(a, c, values, &extents, NULL) == AT_OK)
        for (int t = 0; t < c->num_tensors; t++) {
            bool prepared = c->tensors[t].is_packing || c->tensors[t].role == AT_ROLE_WEIGHT;
            int64_t elements = prepared ? 4 : 0;
            for (int k = 0; elements && k < c->tensors[t].num_axes; k++) elements *= extents[t][k];
            if (elements > bytes) bytes = elements;
        }
    at_arena_free(a);
    return (double)bytes / bytes_per_s;
}

/* In the record's trials weights came from beyond the second-level cache. */
static bool has_cold_weights(const at_selection *s) {
    at_cache cache;
    return s->record && s->record->extra.context.cache &&
           at_cache_from_name(s->record->extra.context.cache, &cache) &&
           cache == AT_CACHE_WEIGHTS_COLD;
}

static void add_choice(at_net_kernel *k, at_net_choice c) {
    int at = k->num_choices++;
    for (; at > 0 && c.time_s < k->choices[at - 1].time_s; at--)
        k->choices[at] = k->choices[at - 1];
    k->choices[at] = c;
}

/* Seconds in the network by how long it takes with hot caches. */
static double with_weights(const at_selection *s, double hot_s) {
    return hot_s + (has_cold_weights(s) ? 0 : weights_time(s));
}

/* Estimates are of kernels and weights as they are in the network, of rows where the first of its
 * parts has them. */
static at_engine_options in_network(const at_net_program *p, const at_net_build *b,
                                    const at_net_kernel *k, const at_task *task) {
    at_engine_options o = b->engine;
    o.row = k->forms.data[0].rows;
    o.cache = AT_CACHE_WEIGHTS_COLD;
    o.weights_bytes = p->read_bytes;
    o.isa = at_net_isa(b, task);
    return o;
}

/* The configuration of a way that estimates put first; per_estimate: seconds for a second that is
 * estimated. */
static at_status add_estimated(at_net_program *p, at_net_kernel *k, int way, double per_estimate,
                               const at_net_build *b, at_error *err) {
    at_net_choice c = {.way = way, .is_default = true};
    at_selection *s = &c.selection;
    AT_TRY(at_select_task(p->arena, &k->ways[way], s, err));
    const at_engine_options own = in_network(p, b, k, s->task);
    AT_TRY(at_config_pick(p->arena, &own, s->task, &s->config, &c.time_s, err));
    s->has_config = true;
    s->from = "no record: by estimates";
    c.time_s *= per_estimate;
    add_choice(k, c);
    return AT_OK;
}

/* Ways that the log does not have beside those that it has: their estimates count as far as that of
 * the fastest one is right; and as estimates are no measurements, one has to be ahead by this
 * share. */
static const double ahead = 0.9;

static at_status add_missing(at_net_program *p, at_net_kernel *k, const at_net_build *b,
                             at_error *err) {
    const at_net_choice fastest = k->choices[0];
    const at_selection *s = &fastest.selection;
    const at_engine_options own = in_network(p, b, k, s->task);
    const double estimate_s = at_config_seconds(&own, s->task, &s->config),
                 per_estimate = fastest.time_s / (ahead * estimate_s);
    for (int w = 0; w < k->num_ways; w++) {
        bool is_there = false;
        for (int c = 0; c < k->num_choices; c++) is_there |= k->choices[c].way == w;
        if (is_there) continue;
        AT_TRY(add_estimated(p, k, w, estimate_s > 0 ? per_estimate : INFINITY, b, err));
    }
    return AT_OK;
}

/* What the log says of parts, of one instruction set; lines of other templates are no concern of
 * theirs. */
static at_status read_isa(at_arena *a, const at_net_build *b, const char *isa, at_net_logged *out,
                          at_error *err) {
    at_engine_options quiet = b->engine;
    const at_request q = {.log = b->log};
    at_selection *found = NULL;
    int n = 0;
    quiet.warn = NULL;
    quiet.cache = AT_CACHE_WEIGHTS_COLD;
    quiet.isa = isa;
    quiet.set |= AT_SET_THREADS; /* that of the whole network */
    at_status s = at_select_all(a, &quiet, &q, &found, &n, err);
    if (s == AT_E_NO_VALID) return AT_OK;
    if (s != AT_OK) return s;
    for (int i = 0; i < n; i++)
        if (!strcmp(at_net_isa(b, found[i].task), isa)) *at_push(a, out) = found[i];
    return AT_OK;
}

at_status at_net_read_log(at_arena *a, const at_net_build *b, at_net_logged *out, at_error *err) {
    const at_target *all[AT_TARGETS_OF_TYPES];
    const int n = at_targets_of_types(at_engine_target(&b->engine), all);
    for (int i = 0; b->log && i < (b->engine.isa ? 1 : n); i++)
        AT_TRY(read_isa(a, b, all[i]->name, out, err));
    return AT_OK;
}

/* What the log has of a way, NULL: nothing. The first way of a part is a text of its own, without
 * arguments. */
static const at_selection *find_logged(const at_net_logged *logged, const at_request *q, int way,
                                       const at_task *task) {
    for (int i = 0; i < logged->len; i++) {
        const at_selection *s = &logged->data[i];
        if (s->row != q->row) continue;
        if (!way || !strcmp(at_task_args_text(s->task), at_task_args_text(task))) return s;
    }
    return NULL;
}

static double logged_time(const at_selection *s) {
    return with_weights(s, at_record_time(s->record));
}

double at_net_logged_time(const at_net_logged *logged, const at_request *q, int way,
                          const at_task *task) {
    const at_selection *s = find_logged(logged, q, way, task);
    return s ? logged_time(s) : 0;
}

/* The ways that the log has, the fastest first. */
static at_status add_logged(at_net_program *p, at_net_kernel *k, at_error *err) {
    for (int w = 0; w < k->num_ways; w++) {
        at_selection way = {0};
        AT_TRY(at_select_task(p->arena, &k->ways[w], &way, err));
        const at_selection *s = find_logged(&p->logged, &k->ways[w], w, way.task);
        if (!s) continue;
        add_choice(k, (at_net_choice){.selection = *s, .way = w, .time_s = logged_time(s)});
    }
    return AT_OK;
}

void at_net_choose(at_net_kernel *k, int choice) {
    const at_net_choice *c = &k->choices[choice];
    k->chosen = c->selection;
    k->way = c->way;
}

/* Of parts with records in two states of the caches. */
static void tell_caches(const at_net_program *p, const at_net_build *b) {
    int n = 0;
    for (int i = 0; i < p->num_kernels; i++) n += p->kernels[i].chosen.others.has_caches;
    if (!n) return;
    at_engine_warn(&b->engine,
                   at_format(p->arena,
                             "%s: of %d part%s, records with caches in two states, which do not "
                             "compete; the best with %s ones are taken",
                             b->log, n, at_plural(n), at_cache_name(AT_CACHE_WEIGHTS_COLD)));
}

static void take_choices(at_net_program *p, const at_net_program *like) {
    AT_ASSERT(p->num_kernels == like->num_kernels);
    for (int i = 0; i < p->num_kernels; i++) {
        memcpy(p->kernels[i].choices, like->kernels[i].choices, sizeof p->kernels[i].choices);
        p->kernels[i].num_choices = like->kernels[i].num_choices;
    }
}

static at_status find_choices(at_net_program *p, const at_net_build *b, at_error *err) {
    for (int i = 0; i < p->num_kernels; i++) {
        at_net_kernel *k = &p->kernels[i];
        if (k->part->is_whole) continue;
        AT_TRY(add_logged(p, k, err));
        const int estimated = k->num_choices ? 0 : k->num_ways;
        if (k->num_choices) AT_TRY(add_missing(p, k, b, err));
        for (int w = 0; w < estimated; w++) AT_TRY(add_estimated(p, k, w, 1, b, err));
    }
    return b->log ? at_net_read_in_network(p, b, err) : AT_OK;
}

at_status at_net_select(at_net_program *p, const at_net_build *b, at_error *err) {
    if (b->like) take_choices(p, b->like);
    else AT_TRY(find_choices(p, b, err));
    for (int i = 0; i < p->num_kernels; i++) {
        at_net_kernel *k = &p->kernels[i];
        if (k->part->is_whole) continue;
        at_net_choose(k, 0);
        p->num_tuned += !k->choices[0].is_default;
    }
    if (!b->like) tell_caches(p, b);
    return AT_OK;
}
