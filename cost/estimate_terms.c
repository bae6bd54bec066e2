/* cost/estimate_terms.c: which terms of a sum count, by the conditions of what it reads: their
 * share, and where along its axes they are fewer. */
#include "cost/estimate_int.h"

#include <math.h>
#include <stdlib.h>

/* Conditions are looked at in groups: the conditions of a group share axes with each other, and no
 * axis with another group. of: for each axis of the stage at hand, bits of the leaf's that it
 * depends on. */
typedef struct groups {
    uint32_t axes[32];
    int num;
    bool are_apart;     /* no read depends on the failure of a condition */
    const uint32_t *of; /* [axis] of the expression that is looked at: axes of the leaf */
} groups;

static uint32_t axes_in(const at_expr *e, const uint32_t *of) {
    uint32_t axes = 0, all = 0;
    bool divides = false;
    at_index_look(e, &axes, &divides);
    for (int i = 0; i < 32; i++)
        if (axes >> i & 1) all |= of[i];
    return all;
}

static void add_group(groups *g, uint32_t axes) {
    int n = 0;
    for (int i = 0; i < g->num; i++)
        if (g->axes[i] & axes) axes |= g->axes[i];
        else g->axes[n++] = g->axes[i];
    g->num = n;
    if (axes) g->axes[g->num++] = axes; /* disjoint: no more than axes */
}

static at_walk add_condition(const at_expr *e, void *ctx) {
    groups *g = ctx;
    if (e->op == AT_X_AND) return AT_WALK_ON;
    add_group(g, axes_in(e, g->of));
    return AT_WALK_PAST;
}

static void find_groups(const at_program *p, const at_expr *e, const uint32_t *of, groups *g) {
    if (e->op == AT_X_SELECT) {
        g->of = of;
        at_expr_walk(e->arg[0], add_condition, g);
        g->are_apart &= at_expr_is_number(e->arg[2]);
        find_groups(p, e->arg[1], of, g);
    } else if (e->op == AT_X_INDEX && p->dissolved[e->ref]) {
        uint32_t inner[32] = {0};
        for (int i = 0; i < e->nargs && i < 32; i++) inner[i] = axes_in(e->arg[i], of);
        find_groups(p, p->compute->tensors[e->ref].body, inner, g);
    } else if (e->op == AT_X_MUL || e->op == AT_X_NEG) {
        for (int i = 0; i < e->nargs; i++) find_groups(p, e->arg[i], of, g);
    }
}

static const uint32_t ALL_GROUPS = ~(uint32_t)0;

/* Only conditions of the group are looked at. What data decide is taken to hold, but for a place
 * that data say, which is one of all. */
static bool condition_holds(const at_program *p, const at_expr *e, const int64_t *axis,
                            const uint32_t *of, uint32_t group) {
    if (e->op == AT_X_AND) {
        for (int i = 0; i < e->nargs; i++)
            if (!condition_holds(p, e->arg[i], axis, of, group)) return false;
        return true;
    }
    if (group != ALL_GROUPS && !(axes_in(e, of) & group)) return true;
    return (e->op != AT_X_EQ && at_expr_reads(e)) || at_program_index(p, e, axis);
}

/* Does every condition of the group that this read hangs on hold? Reads of dissolved stages are
 * followed. left: expressions that may still be looked at. */
static bool holds(const at_program *p, const at_expr *e, const int64_t *axis, const uint32_t *of,
                  uint32_t group, int *left) {
    if (--*left < 0) return true;
    if (e->op == AT_X_SELECT)
        return condition_holds(p, e->arg[0], axis, of, group)
                   ? holds(p, e->arg[1], axis, of, group, left)
                   : !at_expr_is_number(e->arg[2]);
    if (e->op == AT_X_INDEX && p->dissolved[e->ref]) {
        int64_t inner[32] = {0};
        uint32_t through[32] = {0};
        for (int i = 0; i < e->nargs && i < 32; i++) {
            inner[i] = at_program_index(p, e->arg[i], axis);
            if (group != ALL_GROUPS) through[i] = axes_in(e->arg[i], of);
        }
        return holds(p, p->compute->tensors[e->ref].body, inner, through, group, left);
    }
    if (e->op == AT_X_MUL || e->op == AT_X_NEG)
        for (int i = 0; i < e->nargs; i++)
            if (!holds(p, e->arg[i], axis, of, group, left)) return false;
    return true;
}

/* The places of an axis, `most` at most: 3 or more. */
static est_places places_of(at_arena *a, int64_t extent, int most) {
    const bool all = extent <= most;
    const int ends = all ? 0 : most < 4 ? 1 : most / 4, between = most - 2 * ends;
    est_places p = {.num = all ? (int)extent : most};
    p.at = AT_NEW_ARRAY(a, int64_t, p.num);
    p.number = AT_NEW_ARRAY(a, double, p.num);
    for (int i = 0; i < p.num; i++) {
        const bool is_between = !all && i >= ends && i < most - ends;
        const int64_t middle = extent - 2 * ends, from = ends + middle * (i - ends) / between,
                      to = ends + middle * (i - ends + 1) / between;
        p.at[i] = all || i < ends ? i : is_between ? from + (to - from) / 2 : extent - most + i;
        p.number[i] = is_between ? (double)(to - from) : 1;
    }
    return p;
}

/* How many places of each axis in `axes` are asked, so that these are few points together; 0: there
 * are too many axes. */
static int most_places(const int64_t *extent, int n, uint32_t axes) {
    enum { POINTS = 4096, LEAST = 3 };
    for (int most = POINTS; most >= LEAST; most = most > 8 ? most * 7 / 8 : most - 1) {
        int64_t points = 1;
        for (int i = 0; i < n && points <= POINTS; i++)
            if (axes >> i & 1) points *= extent[i] < most ? extent[i] : most;
        if (points <= POINTS) return most;
    }
    return 0;
}

/* Room for what is asked along each axis of the stage's own, beside so many terms. */
static void begin_borders(at_arena *a, est_terms *s, uint32_t axes, int num_axes,
                          const int64_t *extent, const est_places *places, int terms,
                          double *number) {
    for (int i = 0; i < num_axes && s->num_borders < MAX_BORDERS; i++) {
        if (!(axes >> i & 1)) continue;
        est_border *b = &s->borders[s->num_borders++];
        *b = (est_border){.axis = i,
                          .asked = axes,
                          .num = extent[i],
                          .places = places[i],
                          .terms = terms,
                          .number = number};
        b->holds = AT_NEW_ARRAY(a, double, places[i].num *terms);
    }
}

static double terms_at(const est_border *b, int place) {
    double n = 0;
    for (int term = 0; term < b->terms; term++)
        n += b->holds[place * b->terms + term] * b->number[term];
    return n;
}

typedef struct counted { /* terms that count at a place */
    double terms, places;
} counted;

static int upwards(const void *x, const void *y) {
    double a = ((const counted *)x)->terms, b = ((const counted *)y)->terms;
    return (a > b) - (a < b);
}

/* Places where fewer terms count: the two numbers of them that most places have. */
static void find_fewer(at_arena *a, est_border *b) {
    const int n = b->places.num;
    counted *at = AT_NEW_ARRAY(a, counted, n);
    double places[EST_FEWER] = {0};
    for (int i = 0; i < n; i++) at[i] = (counted){terms_at(b, i), b->places.number[i]};
    qsort(at, (size_t)n, sizeof *at, upwards);
    const double most = at[n - 1].terms;
    for (int i = 0, end; i < n; i = end) {
        double here = 0;
        int k = EST_FEWER;
        for (end = i; end < n && at[end].terms == at[i].terms; end++) here += at[end].places;
        if (at[i].terms == 0 || at[i].terms == most) continue;
        while (k > 0 && places[k - 1] < here) k--;
        for (int m = EST_FEWER - 1; m > k; m--)
            places[m] = places[m - 1], b->fewer[m] = b->fewer[m - 1];
        if (k == EST_FEWER) continue;
        places[k] = here;
        b->fewer[k].number = here / (double)b->num;
        b->fewer[k].size = at[i].terms / most;
    }
}

/* Blocks have w places that are `step` apart: of the rows of one phase every so many. How many are
 * like the one of place i, and how many terms count in each; 0: an earlier place was of this block.
 * A block lies among w * step places, and no others are looked at. */
static double blocks_at(const est_border *b, int i, int64_t w, int64_t step, double *terms) {
    const int64_t *at = b->places.at, first = at[i] - at[i] % (w * step), beyond = first + w * step;
    double places = 0;
    int end = i;
    *terms = 0;
    for (int k = i; k-- > 0 && at[k] >= first;)
        if ((at[i] - at[k]) % step == 0) return 0;
    for (; end < b->places.num && at[end] < beyond; end++)
        if ((at[end] - at[i]) % step == 0) places += b->places.number[end];
    for (int term = 0; term < b->terms; term++) {
        bool any = false;
        for (int k = i; k < end && !any; k++)
            any = b->holds[k * b->terms + term] > 0 && (at[k] - at[i]) % step == 0;
        if (any) *terms += b->number[term];
    }
    return est_max(1, places / (double)w);
}

double est_share_along(est_border *b, double width, int64_t step) {
    int64_t w = width < (double)b->num ? (int64_t)width : b->num;
    if (w < 1) w = 1;
    const int place = (int)((w + step - 1) % EST_WIDTHS);
    if (b->kept[place].width == w && b->kept[place].step == step) return b->kept[place].share;
    double some = 0, blocks = 0, all = 0;
    for (int i = 0; i < b->places.num; i++) {
        double terms, n = blocks_at(b, i, w, step, &terms);
        blocks += n;
        some += n * terms;
    }
    for (int term = 0; term < b->terms; term++) all += b->number[term];
    b->kept[place].width = w;
    b->kept[place].step = step;
    return b->kept[place].share = (double)((float)est_max(some, 1) / (float)(blocks * all));
}

/* Points that are gone through, the first axis first. */
typedef struct points {
    int n; /* axes */
    uint32_t axes;
    const est_places *places;
    int at[32];
    int64_t axis[32];
} points;

static double number_at(const points *x, int from, int to) {
    double n = 1;
    for (int i = from; i < to; i++)
        if (x->axes >> i & 1) n *= x->places[i].number[x->at[i]];
    return n;
}

/* false: that was the last. */
static bool next_point(points *x) {
    for (int i = 0; i < x->n; i++) {
        if (!(x->axes >> i & 1)) continue;
        x->at[i] = x->at[i] + 1 < x->places[i].num ? x->at[i] + 1 : 0;
        x->axis[i] = x->places[i].at[x->at[i]];
        if (x->at[i]) return true;
    }
    return false;
}

/* Share of terms that count at one of the two places in the middle of an axis alone, where the
 * conditions along it are of one axis that is summed over. */
static double terms_apart(const at_program *p, const est_leaf *x, const est_border *b,
                          const uint32_t *of, int *left) {
    enum { MOST_TERMS = 4096 }; /* of more nothing is known */
    const int own = x->stage->num_axes;
    const int64_t *extent = p->extents[x->node->tensor];
    const uint32_t sums = b->asked >> own << own;
    int64_t axis[32] = {0};
    int sum = own, n = 0;
    if (!sums || sums & (sums - 1) || b->num < 2) return 0;
    while (!(sums >> sum & 1)) sum++;
    if (extent[sum] > MOST_TERMS) return 0;
    for (int i = 0; i < own; i++)
        if (b->asked >> i & 1) axis[i] = extent[i] / 2;
    for (int64_t k = 0; k < extent[sum] && *left >= 0; k++) {
        axis[sum] = k;
        const bool here = holds(p, x->stage->body, axis, of, b->asked, left);
        axis[b->axis]--;
        n += here != holds(p, x->stage->body, axis, of, b->asked, left);
        axis[b->axis]++;
    }
    return n / (double)extent[sum];
}

/* The share of one group's terms that count, and where. false: that takes too long. */
static bool find_share(at_arena *arena, const at_program *p, const est_leaf *x, uint32_t axes,
                       bool is_only, const uint32_t *of, int *left, est_terms *s) {
    const int own = x->stage->num_axes, n = own + x->stage->num_reduce, first = s->num_borders;
    const int64_t *extent = p->extents[x->node->tensor];
    const int most = most_places(extent, n, axes);
    est_places places[32] = {{0}};
    int terms = 1;
    double all = 0, good = 0;
    if (!most) return true;
    for (int i = 0; i < n; i++) {
        if (!(axes >> i & 1)) continue;
        if (extent[i] < 1) return true;
        places[i] = places_of(arena, extent[i], most);
        if (i >= own) terms *= places[i].num;
    }
    double *number = AT_NEW_ARRAY(arena, double, terms);
    begin_borders(arena, s, axes, own, extent, places, terms, number);
    points at = {.n = n, .axes = axes, .places = places};
    do {
        if (*left < 0) return false;
        const bool holds_here =
            holds(p, x->stage->body, at.axis, of, is_only ? ALL_GROUPS : axes, left);
        const double of_term = number_at(&at, own, n), of_place = number_at(&at, 0, own),
                     here = of_term * of_place;
        int term = 0;
        for (int k = own; k < n; k++)
            if (axes >> k & 1) term = term * places[k].num + at.at[k];
        number[term] = of_term;
        all += here;
        if (!holds_here) continue;
        good += here;
        for (est_border *b = s->borders + first; b < s->borders + s->num_borders; b++)
            b->holds[at.at[b->axis] * b->terms + term] +=
                of_place / places[b->axis].number[at.at[b->axis]];
    } while (next_point(&at));
    s->share *= good / all;
    for (est_border *b = s->borders + first; b < s->borders + s->num_borders; b++) {
        find_fewer(arena, b);
        b->apart = terms_apart(p, x, b, of, left);
    }
    return true;
}

static void count_terms(at_arena *arena, const at_program *p, const est_leaf *x, est_terms *s) {
    int left = 1 << 24;
    uint32_t of[32], all = 0;
    groups g = {.are_apart = true};
    for (int i = 0; i < 32; i++) of[i] = 1u << i;
    find_groups(p, x->stage->body, of, &g);
    for (int i = 0; i < g.num; i++) all |= g.axes[i];
    if (!g.are_apart && g.num) g = (groups){.axes = {all}, .num = 1};
    s->share = 1;
    s->num_borders = 0;
    s->borders = AT_NEW_ARRAY(arena, est_border, MAX_BORDERS);
    for (int i = 0; i < g.num; i++)
        if (!find_share(arena, p, x, g.axes[i], g.num == 1, of, &left, s)) {
            s->share = 1;
            s->num_borders = 0;
            return;
        }
}

/* ---- kept ------------------------------------------------------------------------------------ */

bool est_is_conditional(const est_stage *stages, const at_program *p, int tensor) {
    const est_stage *s = &stages[tensor];
    if (s->selects || !s->is_conditional) return s->selects;
    for (int r = 0; r < s->num_reads; r++) {
        const int read = s->read[r]->ref;
        if (p->dissolved[read] && est_is_conditional(stages, p, read)) return true;
    }
    return false;
}

/* Of all that the terms which count depend on, in the tree and the numbers of this program. */
static uint64_t hash_of(const at_program *p, const int64_t *extent, int axes, const est_stage *of) {
    uint64_t hash = (uint64_t)(uintptr_t)p->dissolved;
    for (int i = 0; i < axes; i++) hash = est_mixed(hash ^ hash >> 32, (uint64_t)extent[i]);
    for (int i = 0; i < of->num_sizes_asked; i++)
        hash = est_mixed(hash ^ hash >> 32, (uint64_t)p->values[of->sizes_asked[i]]);
    return hash ^ hash >> 32;
}

/* Is all of that the same? */
static bool is_of(const est_terms *s, const at_program *p, const int64_t *extent, int axes,
                  const est_stage *of) {
    bool same = s->dissolved == p->dissolved;
    for (int i = 0; i < axes && same; i++) same = s->extent[i] == extent[i];
    for (int i = 0; i < of->num_sizes_asked && same; i++)
        same = s->sizes[i] == p->values[of->sizes_asked[i]];
    return same;
}

/* Sizes that the terms which count may hang on in this tree: of conditions, and of what leads to
 * such. */
static void find_sizes_asked(const at_program *p, const at_expr *e, est_stage *of) {
    if (e->op == AT_X_SELECT) {
        at_index_sizes(e->arg[0], MOST_SIZES_ASKED, of->sizes_asked, &of->num_sizes_asked);
        find_sizes_asked(p, e->arg[1], of);
    } else if (e->op == AT_X_INDEX && p->dissolved[e->ref]) {
        for (int i = 0; i < e->nargs; i++)
            at_index_sizes(e->arg[i], MOST_SIZES_ASKED, of->sizes_asked, &of->num_sizes_asked);
        find_sizes_asked(p, p->compute->tensors[e->ref].body, of);
    } else if (e->op == AT_X_MUL || e->op == AT_X_NEG) {
        for (int i = 0; i < e->nargs; i++) find_sizes_asked(p, e->arg[i], of);
    }
}

const est_terms *est_terms_of(at_estimator *e, const at_program *p, const est_leaf *x) {
    static const est_terms all = {.share = 1};
    const int tensor = x->node->tensor, axes = x->stage->num_axes + x->stage->num_reduce;
    est_stage *of = &e->stages[tensor];
    if (!x->is_conditional) return &all;
    if (of->asked_in != p->dissolved) {
        of->num_sizes_asked = 0;
        find_sizes_asked(p, x->stage->body, of);
        of->asked_in = p->dissolved;
    }
    if (of->num_sizes_asked < 0) return &all;
    const int64_t *extent = p->extents[tensor];
    const uint64_t hash = hash_of(p, extent, axes, of);
    const est_terms **place = &of->kept[hash & (KEPT_TERMS - 1)];
    for (const est_terms *s = *place; s; s = s->next)
        if (s->hash == hash && is_of(s, p, extent, axes, of)) return s;
    est_terms *s = AT_NEW(e->arena, est_terms);
    s->hash = hash;
    s->dissolved = p->dissolved;
    s->extent = at_copy(e->arena, extent, sizeof *s->extent * (size_t)axes);
    s->sizes = AT_NEW_ARRAY(e->arena, int64_t, of->num_sizes_asked);
    for (int i = 0; i < of->num_sizes_asked; i++) s->sizes[i] = p->values[of->sizes_asked[i]];
    count_terms(e->arena, p, x, s);
    s->next = *place;
    return *place = s;
}
