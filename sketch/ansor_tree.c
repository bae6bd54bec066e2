/* sketch/ansor_tree.c: a state of Ansor's as a loop tree. A stage at a loop of another one computes
 * what is read of it there: its axes have the reader's digits down to that loop, and loops of its
 * own for the rest, which its splits divide from the inside out. Loops that run once are left out.
 */
#include <string.h>

#include "sketch/ansor_int.h"

typedef struct tree_writer {
    ansor_state *s;
    const at_compute *c;                         /* a tensor per stage */
    const int64_t *values;                       /* by slot */
    bool again;                                  /* a stage has changed */
    ansor_pieces axis[ANSOR_STAGES][ANSOR_AXES]; /* [stage][axis] */
    ansor_pieces around[ANSOR_STAGES];           /* the loops that a stage stands in */
    AT_VEC(const char *) names;                  /* of pieces */
    at_symbols *symbols;                         /* of c, which get these names */
    at_tree_maker *tree;
    at_text *sizes;
} tree_writer;

/* ---- regions --------------------------------------------------------------------------------- */

static void add(ansor_pieces *d, ansor_piece *p) {
    if (p->extent != 1 && d->n < ANSOR_LOOPS) d->piece[d->n++] = p;
}

static void add_all(ansor_pieces *d, const ansor_pieces *from) {
    for (int i = 0; i < from->n; i++) add(d, from->piece[i]);
}

static int64_t product(const ansor_pieces *d, int from) {
    int64_t all = 1;
    for (int i = from; i < d->n; i++)
        if (!at_mul64(all, d->piece[i]->extent, &all)) return INT64_MAX;
    return all;
}

/* a*c + b where b runs below c: the digits of a, then the digits of b. false: another index. */
static bool digits_of(const tree_writer *w, int reader, const at_expr *e, ansor_pieces *out) {
    const ansor_stage *x = w->s->stage[reader];
    if (e->op == AT_X_NAME && e->ref < AT_REF_SIZE) {
        add_all(out, &w->axis[reader][ansor_axis_of(x, e->ref)]);
        return true;
    }
    if (e->op != AT_X_ADD || e->arg[0]->op != AT_X_MUL || e->arg[0]->arg[1]->op != AT_X_INT ||
        e->arg[1]->op != AT_X_NAME || e->arg[1]->ref >= AT_REF_SIZE ||
        x->axis[ansor_axis_of(x, e->arg[1]->ref)].extent != e->arg[0]->arg[1]->integer)
        return false;
    return digits_of(w, reader, e->arg[0]->arg[0], out) && digits_of(w, reader, e->arg[1], out);
}

/* What is read of one axis of a stage in one iteration of the loops around it. */
typedef struct region {
    const tree_writer *w;
    int tensor, axis, reader;
    int64_t whole;
    const ansor_pieces *around;
    ansor_pieces base; /* the loops of `around` that count it */
    int64_t extent;
    bool known, halo; /* halo: it is nothing that digits count */
} region;

/* The digits down to the place, and how much the rest is; readers must agree. */
static void take(region *r, const ansor_pieces *d, int64_t extent) {
    ansor_pieces base = {0};
    int n = 0;
    while (n < d->n && ansor_has_digit(r->around, d->piece[n])) add(&base, d->piece[n++]);
    for (int i = n; i < d->n; i++) r->halo |= ansor_has_digit(r->around, d->piece[i]);
    if (!extent || base.n) extent = product(d, n);
    if (r->known && (r->extent != extent || r->base.n != base.n ||
                     memcmp(r->base.piece, base.piece, sizeof *base.piece * (size_t)base.n)))
        r->halo = true;
    r->base = base;
    r->extent = extent;
    r->known = true;
}

/* Does an axis of the reader move with a loop around? */
static bool moves(const at_expr *e, const void *ctx) {
    const region *r = ctx;
    if (e->op != AT_X_NAME || e->ref >= AT_REF_SIZE) return false;
    const int axis = ansor_axis_of(r->w->s->stage[r->reader], e->ref);
    const ansor_pieces *d = &r->w->axis[r->reader][axis];
    for (int i = 0; i < d->n; i++)
        if (ansor_has_digit(r->around, d->piece[i])) return true;
    return false;
}

static void look(region *r, int tensor, int axis);

static at_walk look_at(const at_expr *e, void *ctx) {
    region *r = ctx;
    const tree_writer *w = r->w;
    ansor_pieces d = {0};
    if (!at_expr_is_read(e, &r->tensor)) return AT_WALK_ON;
    const at_expr *index = e->arg[r->axis];
    if (w->s->stage[r->reader]->is_inlined) { /* what reads that reads this */
        bool bare = index->op == AT_X_NAME && index->ref < w->c->tensors[r->reader].num_axes;
        if (bare) look(r, r->reader, index->ref);
        else r->halo |= r->around->n > 0;
    } else if (digits_of(w, r->reader, index, &d)) take(r, &d, r->whole);
    else if (at_expr_find(index, moves, r)) r->halo = true;
    else take(r, &(ansor_pieces){0}, r->whole);
    return AT_WALK_ON;
}

/* At all that reads an axis of a tensor. */
static void look(region *r, int tensor, int axis) {
    const region before = *r;
    r->tensor = tensor;
    r->axis = axis;
    for (r->reader = tensor + 1; r->reader < r->w->c->num_tensors; r->reader++)
        if (r->w->c->tensors[r->reader].role == AT_ROLE_STAGE)
            at_expr_walk(r->w->c->tensors[r->reader].body, look_at, r);
    r->tensor = before.tensor, r->axis = before.axis, r->reader = before.reader;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static bool is_piece(const tree_writer *w, const char *name) {
    for (int i = 0; i < w->names.len; i++)
        if (!strcmp(w->names.data[i], name)) return true;
    return false;
}

static void name_piece(tree_writer *w, const ansor_axis *axis, ansor_piece *p, int number) {
    if (p->extent == 1) return;
    p->name = at_format(w->s->arena, "%s%d", axis->name, number);
    while (is_piece(w, p->name) || ansor_is_named(w->s, w->c, p->name))
        p->name = at_format(w->s->arena, "%s_", p->name);
    *at_push(w->s->arena, &w->names) = p->name;
    at_symbol_add(w->s->arena, w->symbols, p->name);
    at_text_addf(w->sizes, "%s%s = %lld", w->sizes->len ? ", " : "", p->name, (long long)p->extent);
}

/* Stages are laid out again once one of them has changed; what was said then is not said again. */
static void note(tree_writer *w, const char *line) {
    if (!strstr(at_text_str(&w->s->notes), line)) at_text_add(&w->s->notes, line);
}

/* Splits divide what is left from the inside out; the last one takes it all. Inside of other loops
 * parts must divide: else there is one loop. */
static void set_extents(tree_writer *w, ansor_stage *x, int k, int64_t extent, bool may_have_tail) {
    ansor_piece *of[ANSOR_PIECES];
    int n = 0;
    for (int i = 0; i < x->num_pieces; i++)
        if (x->piece[i]->axis == k) of[n++] = x->piece[i];
    int64_t rest = extent;
    bool divides = true;
    for (int i = n - 1; i >= 0; i--) {
        int64_t length = i && of[i]->length < rest ? of[i]->length : rest;
        of[i]->extent = length;
        divides &= rest % length == 0;
        rest = (rest + length - 1) / length;
    }
    if (!divides && !may_have_tail) {
        for (int i = 0; i < n; i++) of[i]->extent = i == n - 1 ? extent : 1;
        note(w,
             at_format(w->s->arena, "%s: parts of %s do not divide the %lld that are read there\n",
                       x->name, x->axis[k].name, (long long)extent));
    }
    for (int i = 0; i < n; i++) {
        name_piece(w, &x->axis[k], of[i], i);
        add(&w->axis[x->id][k], of[i]);
    }
}

/* Does the index go on by one with the axis? */
static bool steps_with(const at_expr *e, int axis) {
    if (e->op == AT_X_NAME) return e->ref == axis;
    if (e->op != AT_X_ADD && e->op != AT_X_SUB) return false;
    if (at_expr_uses(e->arg[1], axis))
        return e->op == AT_X_ADD && !at_expr_uses(e->arg[0], axis) && steps_with(e->arg[1], axis);
    return steps_with(e->arg[0], axis);
}

/* A read of elements that are neither side by side along the axis nor the same. */
static bool is_scattered(const at_expr *e, const void *ctx) {
    const int axis = *(const int *)ctx;
    for (int i = 0; i < e->nargs && e->op == AT_X_INDEX; i++)
        if (at_expr_uses(e->arg[i], axis) && !(i == e->nargs - 1 && steps_with(e->arg[i], axis)))
            return true;
    return false;
}

/* What Ansor leaves to its compiler: the inmost loop of a stage that sums nothing is one of vectors
 * where it goes along rows. extent: of the last axis. */
static at_status add_vectors(tree_writer *w, ansor_stage *x, int64_t extent) {
    enum { MOST = 16, LEAST = 8 };
    int last = x->num_axes - 1;
    int64_t length = MOST;
    ansor_loop *l = x->num_loops ? x->loop[x->num_loops - 1] : NULL;
    if (!w->s->adds || !l || l->of.n != 1 || l->of.piece[0]->axis != last || l->ann ||
        ansor_is_place(w->s, l) || x->num_reduce ||
        at_expr_find_value(w->c->tensors[x->id].body, is_scattered, &last))
        return AT_OK;
    const ansor_piece *p = l->of.piece[0];
    if (p->length && p->length < extent) extent = p->length;
    while (length >= LEAST && extent % length) length /= 2;
    if (length < LEAST) return AT_OK;
    if (extent > length) AT_TRY(ansor_split_loop(w->s, x, x->num_loops - 1, length));
    x->loop[x->num_loops - 1]->ann = AT_ANN_VEC;
    return AT_OK;
}

static at_status find_around(tree_writer *w, const ansor_stage *x) {
    ansor_pieces *d = &w->around[x->id];
    if (!x->at) return AT_OK;
    if (x->at->id <= x->id)
        return ANSOR_REFUSE(w->s, "%s is computed in a loop of %s, which it reads", x->name,
                            x->at->name);
    if (x->at->is_inlined)
        return ANSOR_REFUSE(w->s, "%s is computed in a loop of %s, which is inlined", x->name,
                            x->at->name);
    *d = w->around[x->at->id];
    for (int i = 0; i < x->at->num_loops; i++) {
        add_all(d, &x->at->loop[i]->of);
        if (x->at->loop[i] == x->at_loop) break;
    }
    return AT_OK;
}

static at_status lay_out_region(tree_writer *w, ansor_stage *x) {
    AT_TRY(add_vectors(w, x, x->axis[x->num_axes - 1].extent));
    for (int k = 0; k < x->num_axes; k++) {
        if (k < x->num_blocks) w->axis[x->id][k] = x->block[k];
        else set_extents(w, x, k, x->axis[k].extent, false);
    }
    return AT_OK;
}

static at_status lay_out(tree_writer *w, ansor_stage *x) {
    AT_TRY(find_around(w, x));
    const ansor_pieces *around = &w->around[x->id];
    region regions[ANSOR_AXES] = {0};
    if (x->num_blocks) return lay_out_region(w, x);
    for (int k = 0; k < x->num_axes; k++) {
        regions[k] = (region){.w = w, .around = around, .whole = x->axis[k].extent};
        if (around->n) look(&regions[k], x->id, k);
        if (!regions[k].halo) continue;
        if (x->num_reduce || ansor_has_attached(w->s, x) || w->c->tensors[x->id].is_output)
            return ANSOR_REFUSE(w->s,
                                "%s: what is read of %s in its place is no whole number of parts",
                                x->name, x->axis[k].name);
        w->again = w->s->adds && ansor_make_region(w->s, w->c, w->values, x, w->axis, around);
        if (w->again) return AT_OK;
        note(w, at_format(w->s->arena, "%s is computed where it is read: trees have no halo\n",
                          x->name));
        x->is_inlined = true;
        return AT_OK;
    }
    for (int k = 0; k < x->num_axes + x->num_reduce; k++) {
        if (x->axis[k].is_gone) continue;
        const region *r = &regions[k];
        bool part = k < x->num_axes && r->known && r->base.n;
        if (part) add_all(&w->axis[x->id][k], &r->base);
        int64_t extent = part ? r->extent : x->axis[k].extent;
        if (k == x->num_axes - 1) AT_TRY(add_vectors(w, x, extent));
        set_extents(w, x, k, extent, !part);
    }
    return AT_OK;
}

/* ---- the tree -------------------------------------------------------------------------------- */

static at_status add_leaf(tree_writer *w, const ansor_stage *x, at_tree_node *parent) {
    at_tree_node *leaf;
    at_tree_new_line(w->tree);
    AT_TRY(at_tree_add_leaf(w->tree, parent, x->name, false, &leaf));
    for (int k = 0; k < x->num_axes + x->num_reduce; k++) {
        if (x->axis[k].is_gone) continue;
        const ansor_pieces *d = &w->axis[x->id][k];
        at_tree_add_index(w->tree, leaf);
        for (int i = 0; i < d->n; i++) AT_TRY(at_tree_add_digit(w->tree, leaf, d->piece[i]->name));
    }
    return AT_OK;
}

/* What Ansor leaves to its compiler: loops inside all others, as long as they run few steps. */
static void unroll_inside(const ansor_state *s, ansor_stage *x) {
    int64_t steps = 1;
    for (int i = x->num_loops - 1; i >= 0; i--) {
        ansor_loop *l = x->loop[i];
        int64_t extent = product(&l->of, 0);
        if (l->ann == AT_ANN_PARA || ansor_is_place(s, l)) return;
        if (l->ann || extent == 1) continue;
        if (!at_mul64(steps, extent, &steps) || steps > x->unroll_max) return;
        l->ann = AT_ANN_UNROLL;
    }
}

/* Goes on to the loop inside of *at, if the loop runs more than once; goes_on: in the same line. */
static at_status add_loop(tree_writer *w, const ansor_loop *l, bool *goes_on, at_tree_node **at) {
    at_tree_node *loop = NULL;
    for (int i = 0; i < l->of.n; i++) {
        if (l->of.piece[i]->extent == 1) continue;
        if (!loop) {
            if (!*goes_on) at_tree_new_line(w->tree);
            loop = at_tree_add_loop(w->tree, *at, l->ann);
        }
        AT_TRY(at_tree_add_piece(w->tree, loop, l->of.piece[i]->name));
    }
    if (!loop) return AT_OK;
    *at = loop;
    *goes_on = true;
    return AT_OK;
}

static at_status add_stage(tree_writer *w, ansor_stage *x, at_tree_node *at) {
    bool goes_on = false;
    unroll_inside(w->s, x);
    for (int i = 0; i < x->num_loops; i++) {
        ansor_loop *l = x->loop[i];
        AT_TRY(add_loop(w, l, &goes_on, &at));
        for (int t = 0; t < w->s->num_stages; t++) { /* producers first */
            if (w->s->stage[t]->at_loop != l || w->s->stage[t]->is_inlined) continue;
            AT_TRY(add_stage(w, w->s->stage[t], at));
            goes_on = false;
        }
    }
    return add_leaf(w, x, at);
}

at_status ansor_make_tree(ansor_state *s, const at_compute *c, at_symbols *symbols,
                          const int64_t *values, at_tree **tree, at_text *sizes, bool *again) {
    tree_writer *w = AT_NEW(s->arena, tree_writer);
    *w = (tree_writer){.s = s, .c = c, .symbols = symbols, .values = values, .sizes = sizes};
    for (int i = 0; i < s->num_stages; i++) s->stage[i]->id = i;
    for (int i = s->num_stages - 1; i >= 0 && !w->again; i--)
        if (!s->stage[i]->declared && !s->stage[i]->is_inlined) AT_TRY(lay_out(w, s->stage[i]));
    *again = w->again;
    if (w->again) return AT_OK;
    w->tree = at_tree_begin(s->arena, c, "tree of the record", s->err);
    for (int i = 0; i < s->num_stages; i++)
        if (!s->stage[i]->declared && !s->stage[i]->is_inlined && !s->stage[i]->at)
            AT_TRY(add_stage(w, s->stage[i], NULL));
    return at_tree_finish(w->tree, tree);
}
