/* sketch/nest_chain.c: computations of cheap stages and short sums that read windows of each other,
 * row by row: one more sketch. Stages that have axes in common go through these together, and of
 * what is between them as much is kept as one turn of these loops makes, near the core:
 *
 *     h, w, r => @a = h, w // r          h:para =>
 *     h, w, q => @out = h, w // q            a_w0, r:unroll, a_w1:vec =>
 *                                                @a = h, {a_w0, a_w1}/w // r
 *                                ->          w0, q:unroll, w1:vec => @out = h, {w0, w1}/w // q
 *
 * Where lanes go along such an axis, they go through blocks of columns:
 *
 *     h, w, r => @a = h, w // r          w0:para =>
 *     h, w, q => @out = h, w // q   ->       h, r:unroll, w1:vec => @a = h, {w0, w1}/w // r
 *                                            h, q:unroll, w1:vec => @out = h, {w0, w1}/w // q
 *
 * Several such rows are one turn where they are short, so that a stage's tile makes all of them,
 * one below the other or, where they read some of the same, beside each other. Where an index takes
 * the last axis in groups of a few elements, lanes are the same of each group (nest_lanes.c):
 *
 *     h0:para =>
 *         a_w0, h1:unroll, a_w1:vec => @a = {h0, h1}/h, {a_w0, a_w1}/w
 *         h1, w_g0, w_i:unroll, w_g1:vec => @out = {h0, h1}/h, {w_g0, w_g1, w_i}/w
 *
 * What has no axis in common with its readers, as where windows go along rows first and then across
 * them, ends a chain of its own before theirs. Stages of a chain that are as long and read some of
 * the same stand in the same loops, so that this is loaded once. */
#include "sketch/nests.h"

/* Stages in the same loops of a chain. */
typedef struct group {
    int first;         /* whose loops they are */
    bool *has;         /* [tensor] it is one of them */
    const char *inner; /* the innermost loop that is neither written out nor lanes; NULL: none */
    bool has_rows;     /* rows of a turn stand below that, written out */
} group;

typedef struct chain {
    sketch_state *s;
    int last, num;        /* the last stage; how many there are */
    nest_members in;      /* which ones */
    bool *is_shared;      /* [axis of the last] all stages go through it together */
    const char *loop;     /* the last one around all stages */
    int rows;             /* the axis of the last that this is of, whose rows a turn makes; -1 */
    AT_VEC(group) groups; /* the last of the tree first */
} chain;
typedef AT_VEC(chain) chains;

static const at_tensor *tensor_of(const chain *c, int t) {
    return &c->s->facts->compute->tensors[t];
}

/* ---- which stages ---------------------------------------------------------------------------- */

static bool is_shared(const chain *c, int t, int axis) {
    for (int k = 0; k < tensor_of(c, c->last)->num_axes; k++)
        if (c->is_shared[k] && c->in.axis_of[t][k] == axis) return true;
    return false;
}

/* Do lanes of all stages go along an axis of all, or those of each along one of its own? */
static bool has_lanes(const chain *c) {
    const int vec = tensor_of(c, c->last)->num_axes - 1;
    for (int t = 0; t < c->last; t++) {
        const int own = tensor_of(c, t)->num_axes - 1;
        if (c->in.is_member[t] &&
            (c->is_shared[vec] ? c->in.axis_of[t][vec] != own : is_shared(c, t, own)))
            return false;
    }
    return true;
}

/* How many elements of a stage does a turn of the loops around make? */
static double row_of(const chain *c, int t) {
    double own = c->is_shared[tensor_of(c, c->last)->num_axes - 1] ? TILE_COLUMNS : 1;
    for (int k = 0; k < tensor_of(c, t)->num_axes; k++)
        if (!is_shared(c, t, k)) own *= (double)c->s->facts->extents[t][k];
    return own;
}

/* How many elements does such a turn make of all stages but the last? */
static double kept_of(const chain *c) {
    double kept = 0;
    for (int t = 0; t < c->last; t++)
        if (c->in.is_member[t]) kept += row_of(c, t);
    return kept;
}

static bool is_moved(const at_expr *e, const void *unused) {
    (void)unused;
    return e->op == AT_X_ADD || e->op == AT_X_SUB;
}

/* Does a stage, or what is computed there, read a tensor beside its own place? */
static bool reads_windows(const at_compute *c, int stage, int tensor) {
    int num;
    const at_expr *const *reads = at_compute_reads(c, stage, &num);
    for (int i = 0; i < num; i++)
        for (int d = 0; reads[i]->ref == tensor && d < reads[i]->nargs; d++)
            if (at_expr_find(reads[i]->arg[d], is_moved, NULL)) return true;
    return false;
}

/* Is a stage before the last read in windows? */
static bool has_windows(const chain *c) {
    const at_facts *f = c->s->facts;
    for (int t = 0; t < c->last; t++)
        for (int r = t + 1; c->in.is_member[t] && r <= c->last; r++)
            if (f->of[r].is_stage && reads_windows(f->compute, r, t)) return true;
    return false;
}

/* An output that nothing reads has the axes of the last in its own places. */
static bool is_beside(chain *c, int t) {
    const at_facts *f = c->s->facts;
    if (sketch_first_reader(c->s, t, NULL) >= 0) return false;
    for (int k = 0; k < tensor_of(c, c->last)->num_axes; k++) {
        const bool has =
            k < tensor_of(c, t)->num_axes && f->extents[t][k] == f->extents[c->last][k];
        c->in.axis_of[t][k] = has ? k : -1;
    }
    return true;
}

/* Whether a stage goes through axes of a chain, all readers in it, with what that leaves between
 * the stages near the core, windows of windows nearer. */
static bool joins(chain *c, int t, bool in_columns) {
    const int axes = tensor_of(c, c->last)->num_axes;
    const bool had_windows = has_windows(c);
    bool *before = at_copy(c->s->arena, c->is_shared, sizeof *before * (size_t)axes);
    bool any = false, fewer = false;
    if (!nest_is_read_within(&c->in, t) && !is_beside(c, t)) return false;
    c->in.is_member[t] = true;
    for (int k = 0; k < axes; k++) {
        c->is_shared[k] &= c->in.axis_of[t][k] >= 0;
        any |= c->is_shared[k];
        fewer |= before[k] && !c->is_shared[k];
    }
    const double most = had_windows && fewer ? COLUMNS_MOST_SHARED : FAR_ELEMENTS;
    c->num++;
    if (any && has_lanes(c) && kept_of(c) <= most &&
        (in_columns || !c->is_shared[axes - 1] || !has_windows(c)))
        return true;
    c->num--;
    c->in.is_member[t] = false;
    c->is_shared = before;
    return false;
}

static bool has_groups(const sketch_state *s, int t) {
    return !s->facts->compute->tensors[t].num_reduce && nest_has_groups(s, t);
}

/* Can lanes go along the last axis of a stage, whatever indices divide? */
static bool suits_lanes(const sketch_state *s, int t) {
    const at_tensor *x = &s->facts->compute->tensors[t];
    for (int k = x->num_axes - 1; k < x->num_axes + x->num_reduce; k++)
        if (s->facts->of[t].divisor[k] && !has_groups(s, t)) return false;
    return true;
}

/* Dot products are worth a tile of their own. */
static bool suits(const sketch_state *s, int t) {
    const at_compute *c = s->facts->compute;
    return nest_may_stand_beside(s, t) && suits_lanes(s, t) && tile_sums_are_short(s, t) &&
           !tile_dot_terms(c, &c->tensors[t]) && s->facts->of[t].num_accesses &&
           c->tensors[t].num_axes && !at_recurrence_of(c, t).steps;
}

static void add_chain(sketch_state *s, int last, chains *all) {
    const int axes = s->facts->compute->tensors[last].num_axes;
    chain c = {.s = s,
               .last = last,
               .num = 1,
               .is_shared = AT_NEW_ARRAY(s->arena, bool, axes),
               .rows = -1};
    nest_open_members(&c.in, s, last);
    for (int k = 0; k < axes; k++) c.is_shared[k] = true;
    *at_push(s->arena, all) = c;
}

/* From the last stage to the first; false: some stages suit no chain, or none reads windows. */
static bool find_chains(sketch_state *s, bool in_columns, chains *all) {
    bool any = false;
    *all = (chains){0};
    for (int t = s->facts->compute->num_tensors - 1; t >= 0; t--) {
        if (!at_facts_has_leaf(s->facts, t) || s->facts->compute->tensors[t].is_packing) continue;
        if (!suits(s, t)) return false;
        bool has = false;
        for (int i = 0; i < all->len && !has; i++) has = joins(&all->data[i], t, in_columns);
        if (!has) add_chain(s, t, all);
    }
    for (int i = 0; i < all->len; i++) any |= has_windows(&all->data[i]);
    return any;
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* The loops that count an axis of a stage. */
static int loops_of(const chain *c, int t, int axis, at_leaf_digit *d) {
    const int stage = at_compute_find(c->s->compute, tensor_of(c, t)->name);
    return at_tree_digits(c->s->tree, stage, axis, d);
}

/* The loops of the last axis: over vectors, over the elements of a group, or NULL, and lanes. */
static at_status split_lanes(chain *c, int t, const char **parts) {
    at_leaf_digit d[AT_TREE_MOST_DIGITS];
    const at_tensor *x = tensor_of(c, t);
    const int n = loops_of(c, t, x->num_axes - 1, d);
    if (n == 1 && has_groups(c->s, t)) return nest_split_into_groups(c->s, t, parts);
    const char *two[] = {d[0].piece, d[n - 1].piece};
    if (n == 1) AT_TRY(sketch_split_lanes(c->s, x->name, d[0].piece, two));
    parts[0] = two[0], parts[1] = NULL, parts[2] = two[1];
    return AT_OK;
}

/* The loop of the rows that a turn of the loops around all makes; NULL: it makes one. */
static const char *rows_of(const chain *c, int t) {
    at_leaf_digit d[AT_TREE_MOST_DIGITS];
    if (c->rows < 0) return NULL;
    return d[loops_of(c, t, c->in.axis_of[t][c->rows], d) - 1].piece;
}

/* Below loops that stand already: reductions, what is left of the rows, or NULL, and the elements
 * of a group, all written out, and lanes. */
static at_status make_lanes(chain *c, int t, const char *const *parts, const char *rows,
                            at_edit *order, int n) {
    const at_tensor *x = tensor_of(c, t);
    const int all = x->num_axes + x->num_reduce, first = n;
    for (int k = x->num_axes; k < all; k++) order->names[n++] = x->axes[k].name;
    if (rows) order->names[n++] = rows;
    if (parts[1]) order->names[n++] = parts[1];
    order->names[n++] = parts[2];
    if (n > 1) AT_TRY(sketch_step(c->s, order));
    for (int k = first; k < n - 1; k++)
        AT_TRY(sketch_mark(c->s, x->name, order->names[k], AT_ANN_UNROLL));
    return sketch_mark(c->s, x->name, parts[2], AT_ANN_VEC);
}

/* Do sums of rows below each other read some of the same, or follow their terms from what an index
 * makes of a row's number? */
static bool has_rows_at_once(const chain *c, int t) {
    const at_stage_facts *f = &c->s->facts->of[t];
    const at_tensor *x = tensor_of(c, t);
    const int row = c->in.axis_of[t][c->rows];
    bool any = f->divisor[row];
    for (int i = 0; i < f->num_accesses; i++)
        for (int k = x->num_axes; k < x->num_axes + x->num_reduce; k++)
            any |= f->access[i].known && f->access[i].stride[row] &&
                   f->access[i].stride[row] == f->access[i].stride[k];
    return any;
}

/* Below the loops around all: the stage's other axes, then its lanes; a group of its own. */
static at_status make_own(chain *c, int t, const char *const *parts, at_edit *order, int n) {
    at_leaf_digit d[AT_TREE_MOST_DIGITS];
    const int last = tensor_of(c, t)->num_axes - 1;
    const char *const rows = rows_of(c, t);
    group g = {.first = t,
               .has = AT_NEW_ARRAY(c->s->arena, bool, c->s->facts->compute->num_tensors),
               .has_rows = rows && has_rows_at_once(c, t)};
    if (rows && !g.has_rows) g.inner = order->names[n++] = rows;
    for (int k = 0; k < last; k++)
        if (!is_shared(c, t, k) && loops_of(c, t, k, d)) g.inner = order->names[n++] = d[0].piece;
    if (!is_shared(c, t, last)) g.inner = order->names[n++] = parts[0];
    g.has[t] = true;
    *at_push(c->s->arena, &c->groups) = g;
    return make_lanes(c, t, parts, g.has_rows ? rows : NULL, order, n);
}

/* In turns of so many rows, or a multiple, each row's number has the same rest in every turn where
 * an index divides the number. */
static int whole_rows(const chain *c) {
    int64_t whole = 1;
    for (int t = 0; t <= c->last; t++) {
        const at_stage_facts *f = &c->s->facts->of[t];
        const int row = c->in.is_member[t] ? c->in.axis_of[t][c->rows] : -1;
        if (row >= 0 && f->divisor[row] && f->inner[row] > whole) whole = f->inner[row];
    }
    return whole < MOST_ROWS_APART ? (int)whole : 1;
}

/* How many terms has a row of all stages? */
static double terms_of(const chain *c) {
    double terms = 0;
    for (int t = 0; t <= c->last; t++) {
        const at_tensor *x = tensor_of(c, t);
        double own = c->in.is_member[t] ? row_of(c, t) : 0;
        for (int k = x->num_axes; k < x->num_axes + x->num_reduce; k++)
            own *= (double)c->s->facts->of[t].extent[k];
        terms += own;
    }
    return terms;
}

/* How many rows are one turn by default: as many as stay near the core, where rows are short or
 * have some of the same. */
static int turn_of(const chain *c, int whole) {
    enum { MOST = 4, LEAST_TURNS = 4 };
    const double near = ROWS_LEAD_MOST_SHARED / kept_of(c),
                 turns = (double)c->s->facts->of[c->last].extent[c->rows] / LEAST_TURNS;
    bool serves = terms_of(c) <= SHORT_CHAIN;
    for (int t = 0; t <= c->last && !serves; t++)
        serves = c->in.is_member[t] && has_rows_at_once(c, t);
    int n = serves ? whole : 1;
    while (serves && 2 * n <= MOST) n *= 2;
    while (n > 1 && (n > near || n > turns)) n = n > whole ? n / 2 : 1;
    return n;
}

/* Splits the innermost loop around all stages, where it goes over rows, into turns, whose loop is
 * *loop, and the rows of a turn. */
static at_status split_rows(chain *c, const char **loop) {
    const at_tensor *x = tensor_of(c, c->last);
    const char *parts[2];
    for (int k = 0; k < x->num_axes - 1; k++)
        if (c->is_shared[k] || c->s->facts->of[c->last].extent[k] > 1)
            c->rows = c->is_shared[k] ? k : -1;
    if (c->num == 1 || c->is_shared[x->num_axes - 1]) c->rows = -1;
    if (c->rows < 0) return AT_OK;
    const int whole = whole_rows(c), n = turn_of(c, whole);
    const int least = whole > 1 ? whole : 2;
    const char *sizes =
        at_format(c->s->arena, "1 %d %d %d %d", least, 2 * least, 4 * least, 8 * least);
    AT_TRY(sketch_split_by(c->s, x->name, x->axes[c->rows].name, sizes,
                           (at_part_limit){.wide = n, .narrow = n}, parts));
    *loop = parts[0];
    return AT_OK;
}

static at_status make_last(chain *c) {
    const at_tensor *x = tensor_of(c, c->last);
    const char *parts[3], *rows = NULL, *first = NULL;
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = x->name};
    int n = 0;
    AT_TRY(split_lanes(c, c->last, parts));
    AT_TRY(split_rows(c, &rows));
    for (int k = 0; k < x->num_axes; k++) {
        if (!c->is_shared[k]) continue;
        c->loop = k == c->rows ? rows : k < x->num_axes - 1 ? x->axes[k].name : parts[0];
        if (!first && c->s->facts->of[c->last].extent[k] > 1) first = c->loop;
        order.names[n++] = c->loop;
    }
    AT_TRY(make_own(c, c->last, parts, &order, n));
    return sketch_mark(c->s, x->name, first ? first : order.names[0], AT_ANN_PARA);
}

/* Have two stages the axes in common in the same places? */
static bool are_parallel(const chain *c, int t, int u) {
    for (int k = 0; k < tensor_of(c, c->last)->num_axes; k++)
        if (c->is_shared[k] && c->in.axis_of[t][k] != c->in.axis_of[u][k]) return false;
    return true;
}

/* Have two stages the axes in common in the same places, and all axes as long? */
static bool are_as_long(const chain *c, int t, int u) {
    const at_facts *f = c->s->facts;
    const int axes = tensor_of(c, t)->num_axes;
    if (tensor_of(c, u)->num_axes != axes || !are_parallel(c, t, u)) return false;
    for (int k = 0; k < axes; k++)
        if (f->extents[t][k] != f->extents[u][k]) return false;
    return true;
}

/* Does a stage read a tensor that all of a group read? */
static bool reads_same(const chain *c, int t, const group *g) {
    const at_facts *f = c->s->facts;
    bool any = false;
    for (int i = 0; i < f->of[t].num_accesses && !any; i++) {
        any = true;
        for (int u = t + 1; u <= c->last; u++)
            any &= !g->has[u] || at_facts_reads(f, u, f->of[t].access[i].tensor);
    }
    return any;
}

/* A stage goes beside stages that are alike, else before all stages that stand in the loops around
 * all, where the first of these goes through them alike, else before the stages that read it. */
static at_status put(chain *c, int t) {
    const bool *reads = sketch_readers(c->s, t, NULL);
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = tensor_of(c, t)->name};
    const char *parts[3];
    int at = -1, before = c->last;
    group *beside = NULL;
    for (int i = 0; i < c->groups.len; i++)
        for (int u = t + 1; u <= c->last; u++)
            if (c->groups.data[i].has[u] && reads[u]) at = i, before = u;
    for (int i = at + 1; i < c->groups.len; i++) {
        group *g = &c->groups.data[i];
        if (g->inner && are_as_long(c, t, g->first) && reads_same(c, t, g) &&
            !has_groups(c->s, t) && !has_groups(c->s, g->first))
            beside = g;
    }
    const int last = c->groups.len - 1;
    if (at < last && are_parallel(c, t, c->groups.data[last].first))
        at = last, before = c->groups.data[last].first;
    AT_TRY(sketch_put(c->s, AT_EDIT_NEST, order.stage, true,
                      tensor_of(c, beside ? beside->first : before)->name,
                      beside ? beside->inner : c->loop));
    AT_TRY(split_lanes(c, t, parts));
    if (beside) {
        beside->has[t] = true;
        return make_lanes(c, t, parts, beside->has_rows ? rows_of(c, t) : NULL, &order, 0);
    }
    AT_TRY(make_own(c, t, parts, &order, 0));
    const group own = c->groups.data[last + 1];
    for (int i = last + 1; i > at + 1; i--) c->groups.data[i] = c->groups.data[i - 1];
    c->groups.data[at + 1] = own;
    return AT_OK;
}

static at_status make_chain(chain *c) {
    const nest_choice lanes = {.vec = tensor_of(c, c->last)->num_axes - 1};
    if (c->num == 1 && has_groups(c->s, c->last)) return nest_make_groups(c->s, c->last, &lanes);
    if (c->num == 1 && !tensor_of(c, c->last)->num_reduce)
        return nest_make_plain(c->s, c->last, NULL);
    if (c->num == 1) c->is_shared[tensor_of(c, c->last)->num_axes - 1] = false;
    AT_TRY(make_last(c));
    for (int t = c->last - 1; t >= 0; t--)
        if (c->in.is_member[t]) AT_TRY(put(c, t));
    return AT_OK;
}

/* ---- the sketch ------------------------------------------------------------------------------ */

/* Do several sums read the same, or would whole stages that go through columns be far? */
static bool pays(const chain *c) {
    const int vec = tensor_of(c, c->last)->num_axes - 1;
    double whole = 0;
    bool several = false;
    for (int i = 0; i < c->groups.len; i++) {
        int sums = 0;
        for (int t = 0; t < c->last; t++)
            sums += c->groups.data[i].has[t] && tensor_of(c, t)->num_reduce;
        several |= sums > 1;
    }
    for (int t = 0; t < c->last; t++)
        if (c->in.is_member[t]) whole += at_facts_elements(c->s->facts, t);
    return several || (c->is_shared[vec] && has_windows(c) && whole > FAR_ELEMENTS);
}

/* Would a sum of a chain of its own have a tile of several rows? */
static bool is_alone(const chain *c) { return c->num == 1 && tensor_of(c, c->last)->num_reduce; }

/* Would a stage's lanes, which go along its last axis, fill no register, as the parts of points? */
static bool has_few_lanes(const chain *c) {
    for (int t = 0; t <= c->last; t++)
        if (c->in.is_member[t] &&
            c->s->facts->extents[t][tensor_of(c, t)->num_axes - 1] < NARROW_FIRST_LANES)
            return true;
    return false;
}

/* Does the sketch stand before others? */
static bool leads(sketch_state *s, const chains *all) {
    bool is_near = true, is_better = false;
    for (int i = 0; i < all->len; i++) {
        const bool is_slow = is_alone(&all->data[i]) || has_few_lanes(&all->data[i]);
        if (is_slow) s->preference.general = 0;
        if (is_slow) return false;
        is_near &= kept_of(&all->data[i]) <= ROWS_LEAD_MOST_SHARED;
        is_better |= pays(&all->data[i]);
    }
    const chain *last = &all->data[0];
    if (!is_near) s->preference.general = 0;
    s->preference.general += is_better;
    return is_better ||
           (all->len == 1 && !last->is_shared[tensor_of(last, last->last)->num_axes - 1]);
}

bool sketch_chain(const sketch_state *s, sketch_states *out) {
    const at_facts *f = s->facts;
    sketch_state *b = sketch_branch(s, "row_by_row");
    chains all;
    bool is_made = find_chains(b, false, &all) || find_chains(b, true, &all);
    for (int t = f->compute->num_tensors - 1; t >= 0 && is_made; t--)
        if (f->of[t].is_stage && f->of[t].is_dissolved && !f->compute->tensors[t].is_packing)
            is_made = sketch_step_of(b, AT_EDIT_DISSOLVE, f->compute->tensors[t].name) == AT_OK;
    for (int i = 0; i < all.len && is_made; i++) is_made = make_chain(&all.data[i]) == AT_OK;
    if (is_made) *at_push(s->arena, out) = b;
    else sketch_leave(b);
    return is_made && leads(b, &all);
}
