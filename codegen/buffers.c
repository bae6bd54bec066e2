/* codegen/buffers.c: where every stage is stored; indices become element addresses.
 *
 * Inputs, outputs and what is packed ahead are parameters of the kernel. Any other stage lives in
 * the workspace, just inside the deepest loop that encloses its leaf and all its readers, sized by
 * the loops below; one slice per thread where that loop lies in a parallel one. A row whose length
 * is a multiple of 4 KB thrashes the L1 cache (measured: 0.21 of peak instead of 0.95), so rows are
 * odd multiples of 64 bytes; of what is read down a column, every element for one multiply-add, odd
 * multiples of 16 bytes, so that the elements lie in different banks of that cache (measured: 0.94
 * instead of 0.87). A stage's [dense], [pad n] and [order ...] say otherwise.
 * What goes on from step to step and is read within a step alone is kept for one step: each takes
 * the place of the one before. Where steps are the outermost loop, and what is read behind it are
 * the last of them, as many are kept as a step looks back, and itself, in turn. What another stage
 * reads of earlier steps is kept for all of them.
 * Needs:   a tree with indices per dimension.   Ensures: every statement and load
 * has an address. */
#include "codegen/codegen_int.h"
#include "codegen/tile/tile.h"

#include <string.h>

#define MAX_DEPTH 128
#define WORKSPACE_LIMIT ((int64_t)1 << 40)

/* A read of what an earlier step of the same leaf stored: where that is, and what is stored now. */
typedef struct {
    const at_aff **from, **to;
    bool is_repeated;       /* a step is made several times, by a loop inside of the steps' */
    const at_ir *outermost; /* loop around it */
} step;

typedef struct {
    const at_aff **ix;
    const at_ir *outermost; /* loop around it; NULL: there is none */
} access;

typedef struct {
    int depth;                    /* -1: no access seen yet */
    const at_ir *path[MAX_DEPTH]; /* loops that enclose all accesses so far */
    AT_VEC(access) accesses;
    AT_VEC(step) steps;
    at_mask carries; /* loops whose earlier turns other stages of its cycle read */
    int in_place; /* along this dimension each step takes the place of the one before; -1: none */
    int rolls;    /* along this dimension `kept` steps are stored in turn; -1: all are */
    int64_t kept;
    bool dense;  /* places along several axes of it are counted as one */
    bool column; /* a sum reads elements of several rows at once, each for a single vector */
} usage;

typedef struct {
    at_low *l;
    usage *use; /* [tensor] */
    const at_ir *path[MAX_DEPTH];
    int depth;
} walk;

static void see(walk *w, int tensor, const at_aff **ix) {
    usage *u = &w->use[tensor];
    *at_push(w->l->arena, &u->accesses) = (access){ix, w->depth ? w->path[0] : NULL};
    if (u->depth < 0) {
        u->depth = w->depth;
        memcpy(u->path, w->path, sizeof(at_ir *) * (size_t)w->depth);
        return;
    }
    int n = 0;
    while (n < u->depth && n < w->depth && u->path[n] == w->path[n]) n++;
    u->depth = n;
}

/* What the tree says of a stage's storage; NULL: nothing. */
static const at_node *layout_of(const at_node *n, int tensor) {
    const at_node *found = NULL;
    for (; n && !found; n = n->next)
        if (!n->is_leaf) found = layout_of(n->child, tensor);
        else if (n->tensor == tensor && !n->is_init && (n->rows || n->order)) found = n;
    return found;
}

/* Does a sum that is one vector wide read this down a column, an element for every row? */
static bool reads_column(const walk *w, const at_value *v) {
    const at_low *l = w->l;
    int last = l->tensors[v->tensor].num_axes - 1;
    const at_node *layout = layout_of(l->program->root, v->tensor);
    if (layout && layout->order) last = layout->order[last];
    at_mask rows = 0, row = last >= 0 ? at_aff_deps(l, v->ix[last]) : 0;
    bool one_vector = false, column = false;
    for (int d = 0; d < l->tensors[v->tensor].num_axes; d++)
        if (d != last) rows |= at_aff_deps(l, v->ix[d]);
    for (int i = 0; i < w->depth; i++) {
        const at_ir *n = w->path[i];
        if (n->loop.ann == AT_ANN_UNROLL) column |= (rows & ~row & AT_BIT(n->loop.sym)) != 0;
        if (n->loop.ann != AT_ANN_VEC) continue;
        if ((rows | row) & AT_BIT(n->loop.sym)) return false;
        one_vector = at_loop_trips(n) <= l->target->lanes;
    }
    return one_vector && column;
}

/* The loops that make the two differ. */
static at_mask differ_by(const at_low *l, int tensor, const step *s) {
    at_mask loops = 0;
    for (int d = 0; d < l->tensors[tensor].num_axes; d++)
        if (!at_aff_equal(s->to[d], s->from[d])) loops |= at_aff_deps(l, s->to[d]);
    return loops;
}

/* Is there a loop inside of these that the statement does not use? */
static bool is_repeated(const walk *w, const at_stmt *s, at_mask steps) {
    at_mask used = 0;
    bool inside = false;
    for (int d = 0; d < w->l->tensors[s->tensor].num_axes; d++) used |= at_aff_deps(w->l, s->ix[d]);
    for (int i = 0; i < w->depth; i++) {
        const at_mask loop = AT_BIT(w->path[i]->loop.sym);
        inside |= (steps & loop) != 0;
        if (inside && !(used & loop)) return true;
    }
    return false;
}

/* A read of another stage of the cycle: the loops of the axis along which it goes back. */
static at_mask steps_back(const at_low *l, const at_stmt *s, const at_value *v) {
    const at_compute *c = l->program->compute;
    const at_cycle *cycle = s->tensor < c->num_tensors ? at_cycle_of(c, s->tensor) : NULL;
    if (!cycle || v->tensor >= c->num_tensors || at_cycle_of(c, v->tensor) != cycle) return 0;
    for (int d = 0; d < cycle->depth; d++)
        if (!at_aff_equal(s->ix[d], v->ix[d])) return at_aff_deps(l, s->ix[d]);
    return 0;
}

static void see_value(walk *w, const at_stmt *s, const at_value *v) {
    const bool sums = s->add;
    if (v->op == AT_V_LOAD && v->tensor == s->tensor) {
        step *x = at_push(w->l->arena, &w->use[s->tensor].steps);
        *x = (step){.from = v->ix, .to = s->ix, .outermost = w->depth ? w->path[0] : NULL};
        x->is_repeated = is_repeated(w, s, differ_by(w->l, s->tensor, x));
    } else if (v->op == AT_V_LOAD) {
        see(w, v->tensor, v->ix);
        w->use[v->tensor].carries |= steps_back(w->l, s, v);
        if (sums && reads_column(w, v)) w->use[v->tensor].column = true;
    }
    if (v->a) see_value(w, s, v->a);
    if (v->b) see_value(w, s, v->b);
}

static void see_list(walk *w, const at_ir *n) {
    for (; n; n = n->next) {
        if (n->kind == AT_IR_STMT) {
            see(w, n->stmt.tensor, n->stmt.ix);
            if (n->stmt.placed & (n->stmt.placed - 1)) w->use[n->stmt.tensor].dense = true;
            see_value(w, &n->stmt, n->stmt.val);
        } else if (n->kind == AT_IR_LOOP) {
            w->path[w->depth++] = n;
            see_list(w, n->child);
            w->depth--;
        }
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* The dimension along which it is the element of one step before, all else being the same; -1: it
 * is another one. */
static int one_before(at_low *l, int tensor, const step *s) {
    int found = -1;
    for (int d = 0; d < l->tensors[tensor].num_axes; d++) {
        if (at_aff_equal(s->to[d], s->from[d])) continue;
        if (found >= 0 || !at_aff_equal(at_aff_shift(l, s->to[d], -1), s->from[d])) return -1;
        found = d;
    }
    return found;
}

/* Whether all accesses are to what one step makes: they stand in all of its loops, none of which is
 * written out, as a tile may put what that makes in another order. */
static bool is_of_one_step(const usage *u, int dim, const at_aff *at, at_mask loops) {
    for (int i = 0; i < u->depth; i++) {
        const at_ir *n = u->path[i];
        if ((loops & AT_BIT(n->loop.sym)) && n->loop.ann != AT_ANN_NONE) return false;
        loops &= ~AT_BIT(n->loop.sym);
    }
    for (int i = 0; i < u->accesses.len; i++)
        if (!at_aff_equal(u->accesses.data[i].ix[dim], at)) return false;
    return !loops;
}

/* How many steps a step looks back along the outermost loop, which goes over that dimension step by
 * step; 0: it does otherwise. */
static int64_t looks_back(at_low *l, const step *s, int dim) {
    const at_aff *to = s->to[dim], *by = at_aff_sub(l, to, s->from[dim]);
    const bool goes = to->n == 1 && to->t[0].k == 1 && s->outermost &&
                      s->outermost->loop.sym == to->t[0].sym &&
                      s->outermost->loop.ann == AT_ANN_NONE;
    return goes && !by->n && by->c > 0 ? by->c : 0;
}

/* Is it one of the steps that are kept: of those at hand, within the loop, or, behind it, the last?
 */
static bool is_kept(at_low *l, const access *a, const step *s, int dim, int64_t kept,
                    int64_t last) {
    const at_aff *by = at_aff_sub(l, s->to[dim], a->ix[dim]);
    if (a->outermost == s->outermost) return !by->n && by->c >= 0 && by->c < kept;
    return !a->ix[dim]->n && a->ix[dim]->c > last - kept && a->ix[dim]->c <= last;
}

/* Are so many steps enough as all of them look back? Then they are stored in turn. */
static void find_rolls(at_low *l, int tensor, usage *u) {
    enum { MOST_KEPT = 8 };
    const at_tensor *t = &l->program->compute->tensors[tensor];
    int64_t kept = 0, lo, last;
    int dim = 0;
    if (!u->steps.len || u->carries || !t->is_recurrence || t->is_output) return;
    while (dim < t->num_axes && !looks_back(l, &u->steps.data[0], dim)) dim++;
    if (dim == t->num_axes) return;
    for (int i = 0; i < u->steps.len; i++) {
        const int64_t back = looks_back(l, &u->steps.data[i], dim);
        if (!back || u->steps.data[i].outermost != u->steps.data[0].outermost) return;
        kept = back >= kept ? back + 1 : kept;
    }
    at_aff_range(l, u->steps.data[0].to[dim], &lo, &last);
    if (kept > MOST_KEPT || lo != 0 || last != l->tensors[tensor].extents[dim] - 1 || last < kept)
        return;
    for (int i = 0; i < u->accesses.len; i++)
        if (!is_kept(l, &u->accesses.data[i], &u->steps.data[0], dim, kept, last)) return;
    u->rolls = dim;
    u->kept = kept;
}

/* Indices along that dimension become places of the steps that are kept. */
static void roll(at_low *l, usage *u) {
    AT_VEC(const at_aff **) done = {0};
    for (int i = 0; i < u->accesses.len; i++) {
        const at_aff **ix = u->accesses.data[i].ix;
        bool is_done = false;
        for (int k = 0; k < done.len; k++) is_done |= done.data[k] == ix;
        if (is_done) continue;
        *at_push(l->arena, &done) = ix;
        ix[u->rolls] = at_aff_mod(l, ix[u->rolls], u->kept);
    }
}

/* The storage of what goes from step to step lies outside of the loops of the steps. */
static void place_steps(at_low *l, int tensor, usage *u) {
    const step *s = u->steps.data;
    at_mask loops = u->carries;
    int dim = !u->steps.len || loops || l->program->compute->tensors[tensor].is_output
                  ? -1
                  : one_before(l, tensor, s);
    for (int i = 0; i < u->steps.len; i++) {
        loops |= differ_by(l, tensor, &s[i]);
        if (dim >= 0 && (s[i].is_repeated || one_before(l, tensor, &s[i]) != dim)) dim = -1;
    }
    if (dim >= 0 && is_of_one_step(u, dim, s->to[dim], loops)) u->in_place = dim;
    else find_rolls(l, tensor, u);
    for (int i = 0; i < u->steps.len && u->in_place < 0; i++)
        *at_push(l->arena, &u->accesses) = (access){s[i].from, s[i].outermost};
    if (u->rolls >= 0) roll(l, u);
    for (int i = 0; i < u->depth; i++)
        if (loops & AT_BIT(u->path[i]->loop.sym)) u->depth = i;
}

/* ---- placing --------------------------------------------------------------------------------- */

/* Elements from one row to the next, so that neither sets nor banks of the cache collide. */
static int64_t padded_row(int64_t row, bool column) {
    int64_t unit = column ? 4 : 16;
    row = (row + unit - 1) / unit;
    return (row % 2 ? row : row + 1) * unit;
}

/* Rows lie so many elements apart. false: more elements than there may be. */
static bool set_rows(at_buffer *b, int num_axes, int64_t row) {
    b->elements = 1;
    for (int i = num_axes - 1; i >= 0; i--) {
        const int64_t n = i == num_axes - 1 ? row : b->extent[i];
        b->stride[i] = b->elements;
        if (!at_mul64(b->elements, n, &b->elements)) return false;
    }
    return true;
}

/* Strides of the axes in their order; apart: rows lie as caches like it, where the tree does not
 * say otherwise. false: more elements than there may be. */
static bool set_strides(at_buffer *b, int num_axes, const at_node *layout, bool apart, bool column,
                        int64_t limit) {
    int last = num_axes - 1;
    const int *order = layout ? layout->order : NULL;
    at_rows rows = layout ? layout->rows : AT_ROWS_APART;
    while (last > 0 && b->extent[order ? order[last] : last] == 1) last--;
    b->elements = 1;
    for (int i = num_axes - 1; i >= 0; i--) {
        int d = order ? order[i] : i;
        int64_t row = b->extent[d];
        b->stride[d] = b->elements;
        if (i == last && i > 0 && rows == AT_ROWS_PADDED) row += layout->pad;
        if (i == last && i > 0 && rows == AT_ROWS_APART && apart && row >= 16)
            row = padded_row(row, column);
        if (!at_mul64(b->elements, row, &b->elements) || b->elements > limit) return false;
    }
    return true;
}

static void too_large(at_low *l, int tensor) {
    at_lower_fail(l, "the buffer of @%s exceeds 2^40 elements", l->tensors[tensor].name);
}

static void param(at_low *l, int tensor, at_param_role role) {
    const at_low_tensor *t = &l->tensors[tensor];
    at_buffer *b = &l->buffers[tensor];
    b->place = AT_PLACE_PARAM;
    b->param = l->num_params;
    for (int i = 0; i < t->num_axes; i++) {
        b->extent[i] = t->extents[i];
        b->base[i] = at_aff_const(l, 0);
    }
    const at_node *layout = role == AT_PARAM_PACKED ? layout_of(l->program->root, tensor) : NULL;
    if (t->row ? !set_rows(b, t->num_axes, t->row)
               : !set_strides(b, t->num_axes, layout, false, false,
                              role == AT_PARAM_PACKED ? WORKSPACE_LIMIT : INT64_MAX))
        too_large(l, tensor);
    const int held = at_compute_held(l->program->compute, tensor);
    l->params[l->num_params++] =
        (at_param){.name = t->name,
                   .role = role,
                   .tensor = tensor,
                   .type = t->type,
                   .elements = b->elements,
                   .before = 1 + held,
                   .stays = held >= 0 && !l->program->compute->tensors[tensor].is_updated};
}

/* What all accesses of a dimension share: the part made of loops outside the storage. NULL if they
 * differ. */
static const at_aff *common_base(at_low *l, const usage *u, int dim, at_mask inside) {
    const at_aff *base = NULL;
    for (int i = 0; i < u->accesses.len; i++) {
        const at_aff *rest;
        at_aff_part(l, u->accesses.data[i].ix[dim], inside, &rest);
        rest = at_aff_shift(l, rest, -rest->c);
        if (base && !at_aff_equal(base, rest)) return NULL;
        base = rest;
    }
    return base;
}

/* What holds indices lies as an index tensor does: whole, as indices of its elements count. */
static void keep_whole(at_low *l, int tensor, usage *u) {
    if (!at_low_holds_places(l, tensor)) return;
    u->depth = 0;
    if (layout_of(l->program->root, tensor))
        at_lower_fail(l, "@%s holds indices, which lie in order and without gaps",
                      l->tensors[tensor].name);
}

static void scratch(at_low *l, int tensor, const usage *u) {
    const at_low_tensor *t = &l->tensors[tensor];
    const bool is_places = at_low_holds_places(l, tensor);
    at_buffer *b = &l->buffers[tensor];
    b->place = AT_PLACE_WORKSPACE;
    b->line_sym = u->depth ? u->path[u->depth - 1]->loop.sym : -1;
    for (int i = 0; i < u->depth; i++) {
        b->outer |= AT_BIT(u->path[i]->loop.sym);
        if (u->path[i]->loop.ann == AT_ANN_PARA) b->place = AT_PLACE_THREAD;
    }
    for (int d = 0; d < t->num_axes; d++) {
        const at_aff *base =
            d == u->in_place ? u->accesses.data[0].ix[d] : common_base(l, u, d, ~b->outer);
        if (!base) base = at_aff_const(l, 0);
        int64_t lo = INT64_MAX, hi = INT64_MIN;
        for (int i = 0; i < u->accesses.len; i++) {
            int64_t alo, ahi;
            at_aff_range(l, at_aff_sub(l, u->accesses.data[i].ix[d], base), &alo, &ahi);
            if (alo < lo) lo = alo;
            if (ahi > hi) hi = ahi;
        }
        if (d == u->rolls) base = at_aff_const(l, lo = 0), hi = u->kept - 1;
        if (is_places || lo <= -AT_AFF_INF || hi >= AT_AFF_INF || hi - lo >= 2 * t->extents[d]) {
            /* data-dependent reads: the whole axis */
            base = at_aff_const(l, 0);
            lo = 0;
            hi = t->extents[d] - 1;
        }
        b->base[d] = at_aff_shift(l, base, lo);
        b->extent[d] = hi - lo + 1;
    }
    if (!set_strides(b, t->num_axes, layout_of(l->program->root, tensor), !u->dense && !is_places,
                     u->column, WORKSPACE_LIMIT)) {
        too_large(l, tensor);
        return;
    }
    int64_t *total = b->place == AT_PLACE_THREAD ? &l->thread_bytes : &l->workspace_bytes;
    b->offset_bytes = *total;
    /* 64 bytes of slack, so that a whole vector may be read at the end of a row */
    *total += (b->elements * at_type_bytes(t->type) + 64 + 63) / 64 * 64;
    if (*total > WORKSPACE_LIMIT) at_lower_fail(l, "the workspace exceeds 2^40 bytes");
}

/* ---- addresses ------------------------------------------------------------------------------- */

static const at_aff *address(at_low *l, int tensor, const at_aff *const *ix) {
    const at_buffer *b = &l->buffers[tensor];
    const at_aff *at = at_aff_const(l, 0);
    int n = l->tensors[tensor].num_axes;
    for (int d = 0; d < n; d++)
        at = at_aff_add(l, at, at_aff_scale(l, at_aff_sub(l, ix[d], b->base[d]), b->stride[d]));
    return at_aff_inside(l, at, l->buffers);
}

static const at_value *value_addresses(at_low *l, const usage *use, const at_stmt *s,
                                       const at_value *v) {
    if (v->op == AT_V_CONST || v->op == AT_V_TABLE || v->op == AT_V_INDEX) return v;
    at_value *n = at_copy(l->arena, v, sizeof *v);
    if (v->op == AT_V_LOAD) {
        const bool in_place = v->tensor == s->tensor && use[v->tensor].in_place >= 0;
        n->at = address(l, v->tensor, in_place ? s->ix : v->ix);
        n->ix = NULL;
    }
    if (v->a) n->a = value_addresses(l, use, s, v->a);
    if (v->b) n->b = value_addresses(l, use, s, v->b);
    return n;
}

/* Addresses of a scatter are those of the first places, from which places are counted. */
static void set_places(at_low *l, at_stmt *s) {
    const at_buffer *b = &l->buffers[s->tensor];
    const int num = l->tensors[s->tensor].num_axes;
    const at_aff **ix = at_copy(l->arena, s->ix, sizeof *ix * (size_t)num);
    for (int k = num - 1; k >= 0; k--) {
        if (!(s->placed >> k & 1)) continue;
        ix[k] = at_aff_const(l, 0);
        if (!s->place_stride) s->place_stride = b->stride[k];
        if (k + 1 < num && (s->placed >> (k + 1) & 1) &&
            b->stride[k] != b->stride[k + 1] * b->extent[k + 1])
            at_lower_fail(
                l, "rows of @%s, whose places are along several axes, are apart: write [dense]",
                s->label);
    }
    s->ix = ix;
}

static void set_addresses(at_low *l, const usage *use, at_ir *n) {
    for (; n; n = n->next) {
        if (n->kind == AT_IR_STMT) {
            if (n->stmt.num_places) set_places(l, &n->stmt);
            n->stmt.at = address(l, n->stmt.tensor, n->stmt.ix);
            n->stmt.val = value_addresses(l, use, &n->stmt, n->stmt.val);
            n->stmt.ix = NULL;
        }
        set_addresses(l, use, n->child);
    }
}

bool at_pass_buffers(at_low *l) {
    const at_compute *c = l->program->compute;
    int n = c->num_tensors;
    walk w = {.l = l, .use = AT_NEW_ARRAY(l->arena, usage, n)}, pack = {.l = l};
    pack.use = AT_NEW_ARRAY(l->arena, usage, n);
    for (int t = 0; t < n; t++)
        w.use[t] = pack.use[t] = (usage){.depth = -1, .in_place = -1, .rolls = -1};
    see_list(&w, l->root);
    see_list(&pack, l->pack_root);
    for (int t = 0; t < n; t++) place_steps(l, t, &w.use[t]);
    for (int t = 0; t < n; t++) keep_whole(l, t, &w.use[t]);
    l->buffers = AT_NEW_ARRAY(l->arena, at_buffer, l->num_tensors);
    for (int i = 0; i < l->lists.len; i++) {
        at_buffer *b = &l->buffers[l->lists.data[i].tensor];
        b->elements = l->lists.data[i].elements;
        b->has_all = true;
    }
    l->params = AT_NEW_ARRAY(l->arena, at_param, n);
    for (int t = 0; t < n; t++) {
        int axes = c->tensors[t].num_axes;
        l->buffers[t].stride = AT_NEW_ARRAY(l->arena, int64_t, axes);
        l->buffers[t].extent = AT_NEW_ARRAY(l->arena, int64_t, axes);
        l->buffers[t].base = AT_NEW_ARRAY(l->arena, const at_aff *, axes);
    }
    for (int t = 0; t < n; t++)
        if (c->tensors[t].role != AT_ROLE_STAGE && !c->tensors[t].is_held) param(l, t, AT_PARAM_IN);
    for (int t = 0; t < n; t++) {
        l->buffers[t].packed = c->tensors[t].role == AT_ROLE_STAGE && pack.use[t].depth >= 0;
        if (l->buffers[t].packed) param(l, t, AT_PARAM_PACKED);
    }
    for (int t = 0; t < n; t++)
        if (c->tensors[t].is_output && !l->buffers[t].packed) param(l, t, AT_PARAM_OUT);
    for (int t = 0; t < n && l->err->status == AT_OK; t++)
        if (l->buffers[t].place == AT_PLACE_NONE && w.use[t].depth >= 0) scratch(l, t, &w.use[t]);
    if (l->err->status != AT_OK) return false;
    set_addresses(l, w.use, l->root);
    set_addresses(l, pack.use, l->pack_root);
    if (l->err->status != AT_OK) return false;
    for (int i = 0; i < l->lists.len; i++) {
        at_low_place_table(l, l->lists.data[i].tensor);
        at_low_prepend(l, at_pointers_entries(l, i));
    }
    return true;
}
