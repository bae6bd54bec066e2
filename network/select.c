/* network/select.c: which configuration each kind of part has: the best of a log, or the default.
 */
#include <string.h>

#include "network/program.h"

/* ---- configurations -------------------------------------------------------------------------- */

static at_status add_default(at_net_program *p, at_net_kernel *k, const at_net_build *b,
                             at_error *err) {
    at_request q = k->ways[0];
    at_net_choice *c = &k->choices[k->num_choices++];
    *c = (at_net_choice){.is_default = true};
    q.config = "default";
    return at_select_config(p->arena, &b->engine, &q, &c->selection, err);
}

/* What the log says of parts; lines of other templates are no concern of theirs. */
static at_status read_log(at_net_program *p, const at_net_build *b, at_selection **all, int *n,
                          at_error *err) {
    at_engine_options quiet = b->engine;
    at_request q = {.log = b->log, .isa = at_engine_target(&b->engine)->name};
    quiet.warn = NULL;
    at_status s = at_select_all(p->arena, &quiet, &q, all, n, err);
    if (s != AT_E_NO_VALID) return s;
    *n = 0;
    return AT_OK;
}

/* Is it of this way? A way without arguments is a text of its own. */
static bool is_of(const at_selection *s, const at_net_kernel *k, int way, const at_task *task) {
    if (s->row != k->ways[way].row) return false;
    return !way || !strcmp(at_task_args_text(s->task), at_task_args_text(task));
}

/* Seconds of a run in the network, where its weights are not in the caches as they are in a trial:
 * they come from memory, so many bytes a second. */
static double time_in_network(const at_selection *s) {
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
    return at_record_time(s->record) + (double)bytes / bytes_per_s;
}

/* The ways that the log has, the fastest first. */
static at_status add_logged(at_net_program *p, at_net_kernel *k, const at_selection *logged, int n,
                            at_error *err) {
    for (int w = 0; w < k->num_ways; w++) {
        at_selection way = {0};
        AT_TRY(at_select_task(p->arena, &k->ways[w], &way, err));
        for (int i = 0; i < n; i++) {
            if (!is_of(&logged[i], k, w, way.task)) continue;
            int at = k->num_choices++;
            const at_net_choice c = {logged[i], w, time_in_network(&logged[i]), false};
            for (; at > 0 && k->choices[at - 1].time_s > c.time_s; at--)
                k->choices[at] = k->choices[at - 1];
            k->choices[at] = c;
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
    k->is_default = c->is_default;
}

at_status at_net_select(at_net_program *p, const at_net_build *b, at_error *err) {
    at_selection *logged = NULL;
    int n = 0;
    if (b->log) AT_TRY(read_log(p, b, &logged, &n, err));
    for (int i = 0; i < p->num_kernels; i++) {
        at_net_kernel *k = &p->kernels[i];
        if (n) AT_TRY(add_logged(p, k, logged, n, err));
        p->num_tuned += k->num_choices > 0;
        if (!k->num_choices || (b->is_exact && !has_own_text(k))) AT_TRY(add_default(p, k, b, err));
        at_net_choose(k, 0);
    }
    return AT_OK;
}
