/* network/net_costs.h: what parts take, by estimates and by a log, and how a graph is cut by these
 * costs. */
#ifndef AT_NETWORK_COSTS_H
#define AT_NETWORK_COSTS_H

#include "network/program.h"

typedef struct at_net_cost {
    double estimate_s; /* by speeds that are built in: the same wherever it is asked for */
    double logged_s;   /* of the best way that the log has; 0: it has none */
} at_net_cost;

/* Costs of parts, each worked out once. */
typedef struct at_net_costs {
    at_arena *arena;
    const at_net *net; /* rewritten */
    const at_engine_options *engine;
    const at_net_logged *logged; /* nothing while moves and layouts are chosen */
    at_key_map known;            /* texts of parts */
    AT_VEC(at_net_cost) of;
    at_error *err;
} at_net_costs;
/* The costs of a part. is_asked: they are estimated also where the log has no record of the part;
 * else the estimate is infinite then. */
at_status at_net_cost_of(at_net_costs *c, const at_net_cut *cut, const at_net_part *p,
                         bool is_asked, at_net_cost *out);
/* The logged time; where there is none the estimate, times per_estimate: measured seconds for an
 * estimated one. */
double at_net_cost_seconds(const at_net_cost *c, double per_estimate);
/* *cut becomes the other cut where the parts that this one alone has take less than the share
 * `enough` of those that *cut alone has. */
at_status at_net_cost_take_less(at_net_costs *c, at_net_cut *cut, const at_net_cut *other,
                                double per_estimate, double enough, bool *is_less);
/* That share, where a cut is not to change for little: estimates are no measurements. */
static const double at_net_enough = 0.9;

/* chains.c: links of *how, by which each chain of nodes that could be one part is cut where that
 * takes least; and the parts of the best cuts that were not taken (NULL: they are not wanted). */
at_status at_net_cut_chains(at_net_costs *c, const at_net_cut *cut, at_net_cutting *how,
                            at_net_tries *tries);
/* Templates of all parts into which chains may be cut are known from then on, so that a log's
 * records of these parts are found. */
at_status at_net_name_chains(at_net_costs *c, const at_net_cut *cut, at_net_cutting *how);

#endif
