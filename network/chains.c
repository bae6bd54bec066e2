/* network/chains.c: where chains of nodes are cut into parts. A chain is what could be one part: a
 * sum, what follows it element by element, windows of the result, another sum. It may be cut at a
 * handful of places; of all ways to cut it the one whose parts together take least is found by
 * dynamic programming over these places. What a log has measured counts before what is estimated.
 */
#include <math.h>
#include <string.h>

#include "network/net_costs.h"

enum { PLACES = AT_NET_MOST_BEGINS + 2 };
/* Parts of another cut are worth a search up to here. */
static const double worth_trying = 1.3;
enum { MOST_TRIES = 12 };
/* Kernels of several sums took up to twice their estimate: without measurements another cut of
 * such a chain is taken where it takes less than this share. */
static const double enough_of_sums = 0.6;

typedef struct path { /* a chain up to a place */
    double s;
    int from, rank; /* the place before, and which of its paths */
} path;

typedef struct cutting {
    at_net_costs *c;
    const at_net_cut *cut;
    at_net_cut now; /* by links that have changed since */
    at_net_cutting *how;
    at_net_tries *tries;
    const int *nodes;
    int at[PLACES], num;  /* places: numbers of nodes with which a part may begin */
    bool by_rule[PLACES]; /* where one begins without being asked to */
    bool has_sums;        /* parts could have several */
    at_net_part parts[PLACES][PLACES];
    at_net_cost costs[PLACES][PLACES]; /* [first place][place behind] */
    path best[PLACES][2];
} cutting;

/* Where the nodes between two places are one part and what follows is none of it. */
static void link_between(cutting *k, int first, int end) {
    for (int i = 1; i < k->num; i++)
        k->how->links[k->nodes[k->at[i]]] = i <= first || i == end ? AT_NET_ENDS
                                            : k->by_rule[i]        ? AT_NET_GOES_ON
                                                                   : AT_NET_BY_RULE;
}

/* A part takes at least as long as the longest of the parts that it joins. May it take less than
 * this share of their sum? */
static bool may_take(const cutting *k, int first, int end, double share) {
    double most_s = 0, sum_s = 0;
    for (int i = first; i < end; i++) {
        most_s = fmax(most_s, k->costs[i][i + 1].estimate_s);
        sum_s += k->costs[i][i + 1].estimate_s;
    }
    return most_s < share * sum_s;
}

static at_status find_cost(cutting *k, int first, int end) {
    at_net_cost *cost = &k->costs[first][end];
    at_net_part *p = &k->parts[first][end];
    int own;
    link_between(k, first, end);
    AT_TRY(
        at_net_part_from(k->c->arena, k->cut, k->how, k->nodes[k->at[first]], p, &own, k->c->err));
    *cost = (at_net_cost){.estimate_s = INFINITY};
    /* They are no part; behind the chain it may go on with what is computed beside. */
    const int size = k->at[end] - k->at[first];
    if (end == k->num ? own < size : own != size) return AT_OK;
    const double share = k->has_sums && !k->tries ? enough_of_sums : at_net_enough;
    const bool is_asked = end == first + 1 || !k->has_sums || may_take(k, first, end, share);
    return at_net_cost_of(k->c, k->cut, p, is_asked, cost);
}

/* A tail that no template of a sum takes can be a part of its own. */
static at_status add_tail(cutting *k) {
    at_request ways[AT_NET_MOST_WAYS];
    at_net_part whole;
    int head = 1, own, num;
    const int all = k->at[k->num];
    if (k->num > 1 || !at_net_suits_winograd(k->cut, &k->c->net->nodes.data[k->nodes[0]]))
        return AT_OK;
    while (head < all && !strcmp(k->c->net->nodes.data[k->nodes[head]].op, "Bias")) head++;
    if (head == all) return AT_OK;
    AT_TRY(at_net_part_from(k->c->arena, k->cut, k->how, k->nodes[0], &whole, &own, k->c->err));
    AT_TRY(at_net_ways_of(k->c->arena, k->cut, &whole, ways, &num, k->c->err));
    if (num > 1) return AT_OK;
    k->at[2] = all;
    k->at[1] = head;
    k->num = 2;
    return AT_OK;
}

/* Estimates beside measured times count as far as those of the measured parts are right. */
static double seconds_per_estimate(const cutting *k) {
    double logged_s = 0, estimate_s = 0;
    for (int i = 0; i < k->num; i++)
        for (int j = i + 1; j <= k->num; j++) {
            const at_net_cost *x = &k->costs[i][j];
            if (x->logged_s > 0 && isfinite(x->estimate_s))
                logged_s += x->logged_s, estimate_s += x->estimate_s;
        }
    return estimate_s > 0 ? logged_s / (at_net_enough * estimate_s) : 1;
}

static double seconds_of(const cutting *k, int first, int end, double per_estimate) {
    return at_net_cost_seconds(&k->costs[first][end], per_estimate);
}

static void find_paths(cutting *k, double per_estimate) {
    for (int j = 0; j <= k->num; j++)
        for (int r = 0; r < 2; r++) k->best[j][r] = (path){j || r ? INFINITY : 0, 0, 0};
    for (int j = 1; j <= k->num; j++)
        for (int i = 0; i < j; i++)
            for (int r = 0; r < 2; r++) {
                const path p = {k->best[i][r].s + seconds_of(k, i, j, per_estimate), i, r};
                if (p.s < k->best[j][0].s) k->best[j][1] = k->best[j][0], k->best[j][0] = p;
                else if (p.s < k->best[j][1].s) k->best[j][1] = p;
            }
}

/* One way to cut the chain: where parts begin. */
typedef struct way {
    bool begins[PLACES];
    bool is_measured;
    double s;
} way;

static way with_time(const cutting *k, way w, double per_estimate) {
    w.is_measured = true;
    w.s = 0;
    for (int i = 0, j; i < k->num; i = j) {
        for (j = i + 1; j < k->num && !w.begins[j];) j++;
        w.s += seconds_of(k, i, j, per_estimate);
        w.is_measured &= k->costs[i][j].logged_s > 0;
    }
    return w;
}

static way of_path(const cutting *k, int rank, double per_estimate) {
    way w = {0};
    if (!isfinite(k->best[k->num][rank].s)) return w.s = INFINITY, w;
    for (int j = k->num; j > 0;) {
        const path *p = &k->best[j][rank];
        w.begins[p->from] = true;
        j = p->from, rank = p->rank;
    }
    return with_time(k, w, per_estimate);
}

static bool are_same(const cutting *k, const way *x, const way *y) {
    return !memcmp(x->begins, y->begins, sizeof *x->begins * (size_t)k->num);
}

static void take(cutting *k, const way *w) {
    for (int i = 1; i < k->num; i++)
        k->how->links[k->nodes[k->at[i]]] = w->begins[i] == k->by_rule[i] ? AT_NET_BY_RULE
                                            : w->begins[i]                ? AT_NET_ENDS
                                                                          : AT_NET_GOES_ON;
}

/* What is computed beside a chain may go into other parts then. */
static at_status take_if_less(cutting *k, const way *w, double per_estimate, bool *is_less) {
    at_net_cut other;
    take(k, w);
    AT_TRY(at_net_cut_parts(k->c->arena, k->c->net, k->how, &other, k->c->err));
    return at_net_cost_take_less(k->c, &k->now, &other, per_estimate, 1, is_less);
}

/* The parts of a way to cut that the one that was taken has not. */
static void add_tries(cutting *k, const way *taken, const way *other) {
    for (int i = 0, j; i < k->num; i = j) {
        int t = 0;
        for (j = i + 1; j < k->num && !other->begins[j];) j++;
        bool same = taken->begins[i] && (j == k->num || taken->begins[j]);
        for (int n = i + 1; n < j; n++) same &= !taken->begins[n];
        if (same) continue;
        at_net_tries *all = k->tries;
        while (t < all->len && strcmp(all->data[t].part.text, k->parts[i][j].text) != 0) t++;
        if (t < all->len) all->data[t].count++;
        else if (t < MOST_TRIES)
            *at_push(k->c->arena, all) = (at_net_try){.part = k->parts[i][j], .count = 1};
    }
}

static at_status cut_chain(cutting *k) {
    way rule = {.begins = {true}};
    for (int size = 1; size <= k->num; size++)
        for (int i = 0; i + size <= k->num; i++) AT_TRY(find_cost(k, i, i + size));
    const double per_estimate = seconds_per_estimate(k);
    memcpy(rule.begins, k->by_rule, sizeof rule.begins);
    rule = with_time(k, rule, per_estimate);
    find_paths(k, per_estimate);
    way best = of_path(k, 0, per_estimate);
    if (are_same(k, &best, &rule)) best = of_path(k, 1, per_estimate);
    const bool are_measured = rule.is_measured && best.is_measured;
    const double enough = are_measured ? 1 : k->has_sums ? enough_of_sums : at_net_enough;
    bool is_better = isfinite(rule.s) && best.s < rule.s * enough;
    if (is_better) AT_TRY(take_if_less(k, &best, per_estimate, &is_better));
    if (!is_better) take(k, &rule);
    const way *taken = is_better ? &best : &rule, *other = is_better ? &rule : &best;
    if (k->tries && other->s < taken->s * worth_trying) add_tries(k, taken, other);
    return AT_OK;
}

/* The chain that begins with the node; it may be cut at one place alone, which is its begin. */
static at_status begin_chain(cutting *k, int node) {
    const at_net_chain chain = at_net_chain_from(k->c->arena, k->cut, k->how, node);
    k->nodes = chain.nodes;
    k->num = chain.num_begins;
    k->has_sums = chain.has_sums;
    for (int i = 0; i < k->num; i++) k->at[i] = chain.begins[i], k->by_rule[i] = true;
    for (int i = k->num; i < PLACES; i++) k->by_rule[i] = false;
    k->at[k->num] = chain.num_nodes;
    return add_tail(k);
}

/* `each` of all chains that may be cut. */
static at_status for_chains(cutting *k, at_status (*each)(cutting *)) {
    bool *covered = AT_NEW_ARRAY(k->c->arena, bool, k->c->net->nodes.len);
    for (int node = 0; node < k->c->net->nodes.len; node++) {
        if (k->cut->first_of[node] != node || covered[node] || k->c->net->nodes.data[node].is_whole)
            continue;
        AT_TRY(begin_chain(k, node));
        for (int i = 0; i < k->at[k->num]; i++) covered[k->nodes[i]] = true;
        if (k->num > 1) AT_TRY(each(k));
    }
    return AT_OK;
}

at_status at_net_cut_chains(at_net_costs *c, const at_net_cut *cut, at_net_cutting *how,
                            at_net_tries *tries) {
    cutting *k = AT_NEW(c->arena, cutting);
    *k = (cutting){.c = c, .cut = cut, .now = *cut, .how = how, .tries = tries};
    return for_chains(k, cut_chain);
}

static at_status name_parts(cutting *k) {
    at_request ways[AT_NET_MOST_WAYS];
    int own, num;
    for (int i = 0; i < k->num; i++)
        for (int j = i + 1; j <= k->num; j++) {
            at_net_part p;
            link_between(k, i, j);
            AT_TRY(at_net_part_from(k->c->arena, k->cut, k->how, k->nodes[k->at[i]], &p, &own,
                                    k->c->err));
            AT_TRY(at_net_ways_of(k->c->arena, k->cut, &p, ways, &num, k->c->err));
        }
    for (int i = 1; i < k->num; i++) k->how->links[k->nodes[k->at[i]]] = AT_NET_BY_RULE;
    return AT_OK;
}

at_status at_net_name_chains(at_net_costs *c, const at_net_cut *cut, at_net_cutting *how) {
    cutting *k = AT_NEW(c->arena, cutting);
    *k = (cutting){.c = c, .cut = cut, .how = how};
    return for_chains(k, name_parts);
}
