/* network/select.c: which configuration each kind of part has: the best of a log, or the default.
 */
#include <string.h>

#include "network/program.h"

const char *at_net_isa(const at_net_build *b, const at_task *task) {
    const at_target *t = at_engine_target(&b->engine);
    const bool integers = !b->engine.isa && at_task_compute(task)->in_steps;
    return integers ? at_target_of_integers(t)->name : t->name;
}

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

static bool comes_before(const at_net_choice *x, const at_net_choice *y) {
    return x->is_default != y->is_default ? y->is_default : x->time_s < y->time_s;
}

/* Choices of a log come first, then the fastest; time_s: with hot caches. */
static void add_choice(at_net_kernel *k, at_net_choice c) {
    int at = k->num_choices++;
    if (!has_cold_weights(&c.selection)) c.time_s += weights_time(&c.selection);
    for (; at > 0 && comes_before(&c, &k->choices[at - 1]); at--)
        k->choices[at] = k->choices[at - 1];
    k->choices[at] = c;
}

/* The configuration of a way that estimates put first. */
static at_status add_estimated(at_net_program *p, at_net_kernel *k, int way, const at_net_build *b,
                               at_error *err) {
    at_net_choice c = {.way = way, .is_default = true};
    at_selection *s = &c.selection;
    AT_TRY(at_select_task(p->arena, &k->ways[way], s, err));
    AT_TRY(at_config_pick(p->arena, &b->engine, s->task, &s->config, &c.time_s, err));
    s->has_config = true;
    s->from = "no record: by estimates";
    add_choice(k, c);
    return AT_OK;
}

typedef AT_VEC(at_selection) selections;

/* What the log says of parts, of one instruction set; lines of other templates are no concern of
 * theirs. */
static at_status read_isa(at_net_program *p, const at_net_build *b, const char *isa,
                          selections *out, at_error *err) {
    at_engine_options quiet = b->engine;
    at_request q = {.log = b->log, .isa = isa};
    at_selection *found = NULL;
    int n = 0;
    quiet.warn = NULL;
    at_status s = at_select_all(p->arena, &quiet, &q, &found, &n, err);
    if (s == AT_E_NO_VALID) return AT_OK;
    if (s != AT_OK) return s;
    for (int i = 0; i < n; i++)
        if (!strcmp(at_net_isa(b, found[i].task), isa)) *at_push(p->arena, out) = found[i];
    return AT_OK;
}

static at_status read_log(at_net_program *p, const at_net_build *b, selections *out,
                          at_error *err) {
    const at_target *t = at_engine_target(&b->engine), *integers = at_target_of_integers(t);
    AT_TRY(read_isa(p, b, t->name, out, err));
    return integers == t || b->engine.isa ? AT_OK : read_isa(p, b, integers->name, out, err);
}

/* Is it of this way? A way without arguments is a text of its own. */
static bool is_of(const at_selection *s, const at_net_kernel *k, int way, const at_task *task) {
    if (s->row != k->ways[way].row) return false;
    return !way || !strcmp(at_task_args_text(s->task), at_task_args_text(task));
}

/* The ways that the log has, the fastest first. */
static at_status add_logged(at_net_program *p, at_net_kernel *k, const at_selection *logged, int n,
                            at_error *err) {
    for (int w = 0; w < k->num_ways; w++) {
        at_selection way = {0};
        AT_TRY(at_select_task(p->arena, &k->ways[w], &way, err));
        for (int i = 0; i < n; i++) {
            if (!is_of(&logged[i], k, w, way.task)) continue;
            add_choice(k, (at_net_choice){logged[i], w, at_record_time(logged[i].record), false});
            break;
        }
    }
    return AT_OK;
}

static bool has_own_text(const at_net_kernel *k) {
    for (int c = 0; c < k->num_choices; c++)
        if (!k->choices[c].way) return true;
    return false;
}

void at_net_choose(at_net_kernel *k, int choice) {
    const at_net_choice *c = &k->choices[choice];
    k->chosen = c->selection;
    k->way = c->way;
}

at_status at_net_select(at_net_program *p, const at_net_build *b, at_error *err) {
    selections logged = {0};
    if (b->log) AT_TRY(read_log(p, b, &logged, err));
    for (int i = 0; i < p->num_kernels; i++) {
        at_net_kernel *k = &p->kernels[i];
        if (k->part->is_whole) continue;
        AT_TRY(add_logged(p, k, logged.data, logged.len, err));
        p->num_tuned += k->num_choices > 0;
        const bool exact = b->is_exact && !has_own_text(k);
        const int estimated = k->num_choices ? exact : k->num_ways;
        for (int w = 0; w < estimated; w++) AT_TRY(add_estimated(p, k, w, b, err));
        at_net_choose(k, 0);
    }
    return AT_OK;
}
