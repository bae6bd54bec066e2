/* network/net_costs.c: what parts take, by estimates and by a log. */
#include "network/net_costs.h"

#include <math.h>
#include <string.h>

static at_status add_way(at_net_costs *c, const at_request *way, int number, bool estimates,
                         at_net_cost *out) {
    at_selection s = {0};
    AT_TRY(at_select_task(c->arena, way, &s, c->err));
    const double logged_s = at_net_logged_time(c->logged, way, number, s.task);
    if (logged_s > 0 && (!(out->logged_s > 0) || logged_s < out->logged_s))
        out->logged_s = logged_s;
    if (estimates) out->estimate_s = fmin(out->estimate_s, at_config_cost(c->engine, s.task));
    return AT_OK;
}

at_status at_net_cost_of(at_net_costs *c, const at_net_cut *cut, const at_net_part *p,
                         bool is_asked, at_net_cost *out) {
    at_request ways[AT_NET_MOST_WAYS];
    int num = 0;
    const int known = c->of.len, at = at_key_map_add(&c->known, p->text);
    const at_net_cost nothing = {.estimate_s = INFINITY};
    *out = at < known ? c->of.data[at] : nothing;
    if (at == known) *at_push(c->arena, &c->of) = nothing;
    if (p->is_whole || isfinite(out->estimate_s) || (at < known && !is_asked)) return AT_OK;
    AT_TRY(at_net_ways_of(c->arena, cut, p, ways, &num, c->err));
    for (int w = 0; w < num; w++) AT_TRY(add_way(c, &ways[w], w, false, out));
    for (int w = 0; w < num && (is_asked || out->logged_s > 0); w++)
        AT_TRY(add_way(c, &ways[w], w, true, out));
    c->of.data[at] = *out;
    return AT_OK;
}

double at_net_cost_seconds(const at_net_cost *c, double per_estimate) {
    return c->logged_s > 0 ? c->logged_s : c->estimate_s * per_estimate;
}

/* The time of the parts of a cut that the other cut does not have. */
static at_status cost_beside(at_net_costs *c, const at_net_cut *cut, const at_net_cut *other,
                             double per_estimate, double *out) {
    bool *used = AT_NEW_ARRAY(c->arena, bool, other->num_parts);
    *out = 0;
    for (int i = 0; i < cut->num_parts; i++) {
        at_net_cost cost;
        int k = 0;
        while (k < other->num_parts &&
               (used[k] || strcmp(cut->parts[i].text, other->parts[k].text) != 0))
            k++;
        if (k < other->num_parts) {
            used[k] = true;
            continue;
        }
        if (cut->parts[i].is_whole) continue;
        AT_TRY(at_net_cost_of(c, cut, &cut->parts[i], true, &cost));
        *out += at_net_cost_seconds(&cost, per_estimate);
    }
    return AT_OK;
}

at_status at_net_cost_take_less(at_net_costs *c, at_net_cut *cut, const at_net_cut *other,
                                double per_estimate, double enough, bool *is_less) {
    double before, after;
    AT_TRY(cost_beside(c, cut, other, per_estimate, &before));
    AT_TRY(cost_beside(c, other, cut, per_estimate, &after));
    *is_less = after < before * enough;
    if (*is_less) *cut = *other;
    return AT_OK;
}
