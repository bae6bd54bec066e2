/* cost/footprint.c: how many different elements a part of the program touches, at least.
 *
 * Per tensor, the addresses of a slot are sums of runs of elements and of strides: those of the
 * tile's own loops, then those of the loops around its call. What overlaps is counted once, what
 * cannot be told apart too; a loop whose trips are not known runs as often as it must. So the
 * result is never too high. */
#include "cost/cost_int.h"

#include <stdlib.h>
#include <string.h>

#define MAX_NEST 16
#define MAX_DIMS 64

typedef struct { /* a stride and how often it is taken */
    int64_t stride, count;
    const at_tile_op *loop; /* its passed trip count is the count; NULL: that is constant */
} dim;

typedef struct {                /* accesses of one slot in one loop body of a tile */
    int slot, loop;             /* the loop's operation; -1: none */
    int base;                   /* of a pointer made in the tile: the slot it is made of; else -1 */
    int64_t lo, span, elements; /* without any loop */
    int64_t run;                /* elements in a row; 0: not uniform */
    dim dims[MAX_NEST + 1];     /* the runs, where there are several, then the loops */
    int num_dims;
} group;

typedef struct {
    const at_tile *tile;
    group *groups;
    int num_groups;
} shape;

typedef struct { /* addresses relative to rest */
    int tensor;
    const at_aff *rest; /* NULL: an entry of an index list */
    int64_t lo, span;
    double elements;
    bool dense;
} set;

struct at_feet {
    at_arena *arena;
    at_low *l;
    const at_sym *syms;
    int threads;
    AT_VEC(shape) shapes;
    int64_t trips[AT_MAX_LOOPS]; /* of the loops open, at least */
    AT_VEC(set) sets;
};

at_feet *at_feet_new(at_arena *a, const at_lowered *p, int threads) {
    at_feet *f = AT_NEW(a, at_feet);
    f->arena = a;
    f->l = p->low;
    f->syms = p->syms;
    f->threads = threads;
    return f;
}

/* ---- sums of strides ------------------------------------------------------------------------- */

static int by_stride(const void *a, const void *b) {
    const dim *x = a, *y = b;
    return (x->stride > y->stride) - (x->stride < y->stride);
}

static int by_low(const void *a, const void *b) {
    const set *x = a, *y = b;
    return (x->lo > y->lo) - (x->lo < y->lo);
}

/* Adds strides to a set of s->elements. Where one stride is a multiple within the reach of another,
 * both are one. */
static void spread(set *s, dim *dims, int n) {
    for (int i = 0; i < n; i++) {
        if (dims[i].stride >= 0) continue;
        s->lo += dims[i].stride * (dims[i].count - 1);
        dims[i].stride = -dims[i].stride;
    }
    qsort(dims, (size_t)n, sizeof *dims, by_stride);
    for (int i = 0; i < n; i++) {
        dim *d = &dims[i];
        if (d->stride == 0 || d->count <= 1) continue;
        for (int j = i + 1; j < n; j++) {
            if (dims[j].stride % d->stride || dims[j].stride / d->stride > d->count) continue;
            d->count += dims[j].stride / d->stride * (dims[j].count - 1);
            dims[j].count = 1;
        }
        int64_t reach = d->stride * (d->count - 1);
        if (s->dense && d->stride <= s->span) s->elements = (double)(s->span + reach);
        else if (d->stride >= s->span) s->elements *= (double)d->count, s->dense = false;
        s->span += reach;
    }
}

/* Different elements in all sets of one tensor with one origin. */
static double unite(set *s, int n) {
    double sum = 0;
    qsort(s, (size_t)n, sizeof *s, by_low);
    for (int i = 0; i < n;) {
        set all = s[i++];
        for (; i < n && s[i].lo < all.lo + all.span; i++) {
            int64_t end = s[i].lo + s[i].span;
            bool longer = end > all.lo + all.span;
            if (longer) all.span = end - all.lo;
            all.dense &= s[i].dense;
            if (all.dense) all.elements = (double)all.span;
            else if (s[i].elements > all.elements) all.elements = s[i].elements;
        }
        sum += all.elements;
    }
    return sum;
}

/* ---- inside a tile --------------------------------------------------------------------------- */

typedef struct {
    int64_t lo, len;
} interval;

static int by_position(const void *a, const void *b) {
    const interval *x = a, *y = b;
    return (x->lo > y->lo) - (x->lo < y->lo);
}

/* The bytes of an operation's access; 0: it has none. */
static int64_t length_of(const at_tile_op *op) {
    if (op->kind == AT_T_BUMP || op->kind == AT_T_PREFETCH || op->slot < 0) return 0;
    if (op->kind == AT_T_INDEX || op->kind == AT_T_BCAST || op->mem == AT_MEM_BCAST) return 1;
    bool moves = op->kind == AT_T_LOAD || op->kind == AT_T_STORE || op->mem == AT_MEM_VECTOR;
    return moves ? at_tile_span(op) : 0;
}

/* How far a slot moves from one trip of the loop at `op` to the next. Loops in it with passed trip
 * counts go back all the way behind their end. */
static int64_t net_stride(const at_tile *t, int op, int slot) {
    int64_t sum = 0, times[MAX_NEST + 1] = {1}; /* trips of the loops in between; 0: passed */
    for (int i = op + 1, depth = 0;; i++) {
        const at_tile_op *o = &t->ops[i];
        if (o->kind == AT_T_END && depth == 0) return sum;
        if (o->kind == AT_T_END) depth--;
        if (o->kind == AT_T_LOOP && depth == MAX_NEST) return 0;
        if (o->kind == AT_T_LOOP) {
            times[depth + 1] = o->trip_arg >= 0 ? 0 : times[depth] * o->trip;
            depth++;
        }
        if (o->kind == AT_T_BUMP && o->slot == slot && o->trip_arg < 0)
            sum += o->bump * times[depth];
    }
}

/* What an operation touches: all at once, or, of every so many elements, each by itself, or each
 * four of them. How many parts. */
static int parts_of(const at_tile_op *op, interval *v) {
    const bool moves = op->kind == AT_T_LOAD || op->kind == AT_T_STORE;
    if (op->fours) {
        for (int i = 0; i < op->lanes / 4; i++) v[i] = (interval){op->off + i * op->fours, 4};
        return op->lanes / 4;
    }
    if (!moves || !op->times) {
        *v = (interval){op->off, length_of(op)};
        return 1;
    }
    for (int i = 0; i < op->lanes; i++) v[i] = (interval){op->off + at_tile_lane_from(op, i), 1};
    return op->lanes;
}

static int most_parts(const at_tile *t) {
    int n = 0;
    for (int i = 0; i < t->num_ops; i++) n += t->ops[i].times || t->ops[i].fours ? t->lanes : 1;
    return n;
}

/* Runs of the accesses of one loop body: uniform ones become a length and a stride. */
static void set_runs(at_arena *a, const at_tile *t, group *g, const int *body) {
    interval *v = AT_NEW_ARRAY(a, interval, most_parts(t));
    int n = 0, runs = 0;
    for (int i = 0; i < t->num_ops; i++)
        if (body[i] == g->loop && t->ops[i].slot == g->slot && length_of(&t->ops[i]))
            n += parts_of(&t->ops[i], &v[n]);
    qsort(v, (size_t)n, sizeof *v, by_position);
    for (int i = 0; i < n; i++) {
        interval *last = runs ? &v[runs - 1] : NULL;
        if (last && v[i].lo <= last->lo + last->len) {
            int64_t end = v[i].lo + v[i].len;
            if (end > last->lo + last->len) last->len = end - last->lo;
        } else v[runs++] = v[i];
    }
    bool uniform = true;
    for (int i = 0; i < runs; i++) {
        g->elements += v[i].len;
        uniform &=
            v[i].len == v[0].len && v[i].lo - v[0].lo == i * (runs > 1 ? v[1].lo - v[0].lo : 0);
    }
    g->lo = v[0].lo;
    g->span = v[runs - 1].lo + v[runs - 1].len - v[0].lo;
    if (!uniform) return;
    g->run = v[0].len;
    if (runs > 1) g->dims[g->num_dims++] = (dim){v[1].lo - v[0].lo, runs, NULL};
}

static const shape *shape_of(at_feet *f, const at_tile *t) {
    for (int i = 0; i < f->shapes.len; i++)
        if (f->shapes.data[i].tile == t) return &f->shapes.data[i];
    int *body = AT_NEW_ARRAY(f->arena, int, t->num_ops + 1); /* the loop each operation is in */
    AT_VEC(group) groups = {0};
    int path[MAX_NEST], depth = 0;
    for (int i = 0; i < t->num_ops; i++) {
        const at_tile_op *op = &t->ops[i];
        body[i] = depth ? path[depth - 1] : -1;
        if (op->kind == AT_T_LOOP && depth < MAX_NEST) path[depth++] = i;
        if (op->kind == AT_T_END) depth--;
        if (!length_of(op) || op->slot >= at_tile_frame(t)) continue;
        bool known = false;
        for (int g = 0; g < groups.len; g++)
            known |= groups.data[g].slot == op->slot && groups.data[g].loop == body[i];
        if (known) continue;
        group *g = at_push(f->arena, &groups);
        *g = (group){.slot = op->slot, .loop = body[i], .base = -1};
    }
    for (int i = 0; i < groups.len; i++) {
        group *g = &groups.data[i];
        set_runs(f->arena, t, g, body);
        for (int op = 0; g->slot >= t->num_slots && op < t->num_ops; op++)
            if (t->ops[op].kind == AT_T_INDEX && t->ops[op].dst == g->slot &&
                t->ops[op].base < t->num_slots)
                g->base = t->ops[op].base;
        for (int op = g->loop; op >= 0; op = body[op])
            g->dims[g->num_dims++] = (dim){net_stride(t, op, g->slot), t->ops[op].trip,
                                           t->ops[op].trip_arg >= 0 ? &t->ops[op] : NULL};
    }
    shape *s = at_push(f->arena, &f->shapes);
    *s = (shape){t, groups.data, groups.len};
    return s;
}

/* ---- around a tile --------------------------------------------------------------------------- */

/* The least value of an affine form; 0 where that is unknown or less. */
static int64_t least(at_low *l, const at_aff *x) {
    int64_t lo, hi;
    at_aff_range(l, x, &lo, &hi);
    return lo > 0 ? lo : 0;
}

static int64_t least_turns(at_low *l, const at_tile_call *c, const at_tile_op *loop) {
    const int64_t n = least(l, c->trip[loop->trip_arg]);
    return loop->most ? 0 : at_tile_turns(loop, n);
}

static void add_call(at_feet *f, const at_tile_call *c, at_mask inside) {
    at_low *l = f->l;
    const shape *sh = shape_of(f, c->tile);
    for (int i = 0; i < sh->num_groups; i++) {
        const group *g = &sh->groups[i];
        int from = g->base >= 0 ? g->base : g->slot;
        const at_aff *at = c->slot_at[from];
        at_mask moving = g->base >= 0 ? 0 : inside & ~at_aff_opaque_deps(l, at);
        dim dims[MAX_DIMS];
        int n = 0;
        bool never = false;
        for (int d = 0; d < g->num_dims; d++) {
            dims[n] = g->dims[d];
            if (dims[n].loop) dims[n].count = least_turns(l, c, dims[n].loop);
            never |= dims[n++].count == 0;
        }
        if (g->base >= 0) n = g->run && g->span > g->run; /* where entries lead is not known */
        const at_aff *rest = at_aff_const(l, 0);
        for (int t = 0; t < at->n; t++) {
            int s = at->t[t].sym;
            bool moves = f->syms[s].kind == AT_SYM_LOOP && (moving & AT_BIT(s));
            if (moves && n < MAX_DIMS) dims[n++] = (dim){at->t[t].k, f->trips[s], NULL};
            else rest = at_aff_add(l, rest, at_aff_scale(l, at_aff_sym(l, s), at->t[t].k));
        }
        if (never) continue;
        set *s = at_push(f->arena, &f->sets);
        *s = (set){.tensor = c->slot_tensor[from],
                   .rest = g->base >= 0 ? NULL : rest,
                   .lo = at->c + g->lo,
                   .span = g->run ? g->run : g->span,
                   .elements = (double)(g->run ? g->run : g->elements),
                   .dense = g->run > 0};
        /* where the loops begin */
        for (int t = 0; t < at->n; t++) {
            int y = at->t[t].sym;
            if (f->syms[y].kind == AT_SYM_LOOP && (moving & AT_BIT(y)))
                s->lo += at->t[t].k * f->syms[y].lo;
        }
        spread(s, dims, n);
    }
}

static double total(at_feet *f, int from);

static void add_list(at_feet *f, const at_ir *list, at_mask inside) {
    at_low *l = f->l;
    for (const at_ir *n = list; n; n = n->next) {
        if (n->kind == AT_IR_TILE) add_call(f, n->call, inside);
        if (n->kind == AT_IR_LOOP) {
            int64_t trips = least(l, at_aff_sub(l, at_ir_hi(l, n), at_ir_lo(l, n)));
            if (!trips) continue;
            if (n->loop.ann == AT_ANN_PARA) trips = (trips + f->threads - 1) / f->threads;
            at_sym old = at_range_enter(l, n);
            f->trips[n->loop.sym] = trips;
            /* a loop that begins somewhere stands still: its place is not known */
            add_list(f, n->child, n->loop.lo_aff ? inside & ~AT_BIT(n->loop.sym) : inside);
            at_range_leave(l, n, old);
        }
        if (n->kind == AT_IR_IF) { /* one of the two, once */
            int from = f->sets.len;
            at_mask fixed = inside & ~at_aff_deps(l, n->test);
            add_list(f, n->child, fixed);
            int middle = f->sets.len;
            double one = total(f, from);
            add_list(f, n->other, fixed);
            if (total(f, middle) < one) {
                memmove(f->sets.data + from, f->sets.data + middle,
                        sizeof(set) * (size_t)(f->sets.len - middle));
                f->sets.len -= middle - from;
            } else f->sets.len = middle;
        }
    }
}

/* Different elements of all sets from one on; they stay. */
static double total(at_feet *f, int from) {
    double sum = 0;
    int n = f->sets.len - from;
    set *of = at_copy(f->arena, f->sets.data + from, sizeof(set) * (size_t)n);
    for (int i = 0; i < n;) {
        double most = 0;
        int tensor = of[i].tensor, end = i;
        for (int j = i; j < n; j++) /* this tensor's to the front */
            if (of[j].tensor == tensor) {
                set s = of[j];
                of[j] = of[end];
                of[end++] = s;
            }
        for (int j = i; j < end;) { /* and of those, one origin's */
            int same = j;
            for (int k = j; k < end; k++)
                if (k == j || (of[j].rest && of[k].rest && at_aff_equal(of[k].rest, of[j].rest))) {
                    set s = of[k];
                    of[k] = of[same];
                    of[same++] = s;
                }
            double elements = unite(of + j, same - j);
            if (elements > most) most = elements;
            j = same;
        }
        sum += most;
        i = end;
    }
    return sum;
}

double at_footprint(at_feet *f, const at_ir *list, at_mask inside) {
    f->sets.len = 0;
    add_list(f, list, inside);
    return total(f, 0) * 4;
}
