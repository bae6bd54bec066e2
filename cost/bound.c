/* cost/bound.c: what bounds a kernel: counts of its tile calls, weighed with the facts of a
 * core.
 *
 * The tree is walked with real numbers: a loop whose turns differ (its variable is in a bound, a
 * condition or a passed trip count below it) is gone through, any other counted once and
 * multiplied. Each need alone is a lower bound of the whole. So is the sum over phases that follow
 * each other, but for what a core can have under way at once across their border. Bytes: a part
 * that touches more different bytes than the caches up to a level hold must bring the rest from
 * beyond it. docs/notes/why.md */
#include "cost/cost_int.h"

#include <math.h>
#include <string.h>

#define MOST_DECIDED 32
#define MOST_TURNS (1 << 22) /* that are gone through one by one, of all loops together */
#define KEPT 4               /* trips of a tile whose work is remembered */

typedef struct node node;
struct node { /* beside the tree */
    const at_ir *ir;
    node *child, *other, *next;
    AT_VEC(const at_aff *) decided; /* of a loop: what in here its variable decides about; */
    bool alone;                     /* together with loops around it only */
    double footprint;               /* bytes, of a tile, or of a loop and all of its turns */
    double body;                    /* bytes, of one turn */
    int tile;                       /* number */
    int threads;                    /* that share its turns */
};

typedef struct { /* of a part of one run, of one thread */
    double need[AT_NEED_L2], bytes[3];
    double cycles, instructions;
    double in_a_row; /* cycles of its phases, one after the other */
    int phases;      /* 0: what it does may all happen at once */
    bool mixed;      /* they differ */
    double rate;     /* cycles per instruction of the fastest of them */
} part;

typedef struct {
    at_arena *arena;
    const at_lowered *p;
    const at_machine *m;
    at_feet *feet;
    node *root;
    int64_t value[AT_MAX_LOOPS];
    at_tile_bound *tiles;
    struct {
        int64_t trips[AT_TILE_MAX_TRIPS];
        at_tile_work work;
        bool known;
    } * kept; /* [num_tiles][KEPT] */
    bool partial;
    double flops, unit_flops;
    int64_t turns_left; /* of MOST_TURNS; what comes after them is left out */
    double share;       /* of what is counted, one thread does this much */
} bounder;

/* ---- values ---------------------------------------------------------------------------------- */

static bool value_of(bounder *b, const at_aff *x, int64_t *out) {
    int64_t sum = x->c;
    for (int i = 0; i < x->n; i++) {
        const at_sym *s = &b->p->syms[x->t[i].sym];
        int64_t v = 0, v2 = 0;
        if (s->kind == AT_SYM_LOOP) v = b->value[x->t[i].sym];
        else if (!value_of(b, s->of, &v) || (s->of2 && !value_of(b, s->of2, &v2))) return false;
        switch (s->kind) {
        case AT_SYM_LOOP: break;
        case AT_SYM_DIV: v = at_floordiv(v, s->by); break;
        case AT_SYM_MIN: v = v < v2 ? v : v2; break;
        case AT_SYM_MAX: v = v > v2 ? v : v2; break;
        case AT_SYM_MUL: v *= v2; break;
        case AT_SYM_LOAD:
            if (!b->m->index || !b->m->index[s->tensor]) return false;
            v = b->m->index[s->tensor][v];
        }
        sum += x->t[i].k * v;
    }
    *out = sum;
    return true;
}

/* What depends on data that is not there counts as nothing. */
static int64_t count_of(bounder *b, const at_aff *x) {
    int64_t n;
    if (value_of(b, x, &n)) return n > 0 ? n : 0;
    b->partial = true;
    return 0;
}

/* ---- the tree, and who decides about what ---------------------------------------------------- */

static int tile_number(const at_lowered *p, const at_tile *t) {
    int i = 0;
    while (p->tiles[i] != t) i++;
    return i;
}

static void collect(bounder *b, const node *list, node *loop, at_mask around);

static void collect_one(bounder *b, const at_aff *x, node *loop, at_mask around) {
    at_mask deps = x ? at_aff_deps(b->p->low, x) : 0;
    if (!(deps >> loop->ir->loop.sym & 1)) return;
    loop->alone &= (deps & ~around) == 0;
    *at_push(b->arena, &loop->decided) = x;
}

static void collect(bounder *b, const node *list, node *loop, at_mask around) {
    for (const node *d = list; d; d = d->next) {
        const at_ir *n = d->ir;
        if (n->kind == AT_IR_TILE)
            for (int i = 0; i < n->call->tile->num_trips; i++)
                collect_one(b, n->call->trip[i], loop, around);
        collect_one(b, n->kind == AT_IR_IF ? n->test : NULL, loop, around);
        if (n->kind == AT_IR_LOOP) {
            collect_one(b, n->loop.lo_aff, loop, around);
            collect_one(b, n->loop.hi_aff, loop, around);
        }
        collect(b, d->child, loop, around);
        collect(b, d->other, loop, around);
    }
}

/* around: the loops that are open. */
static node *annotate(bounder *b, const at_ir *list, at_mask around, bool parallel) {
    at_low *l = b->p->low;
    node *head = NULL, **tail = &head;
    for (const at_ir *n = list; n; n = n->next, tail = &(*tail)->next) {
        node *d = *tail = AT_NEW(b->arena, node);
        *d = (node){.ir = n, .threads = 1};
        at_ir one = *n;
        one.next = NULL;
        d->footprint = at_footprint(b->feet, &one, at_ir_loops_of(n));
        if (n->kind == AT_IR_TILE) {
            d->tile = tile_number(b->p, n->call->tile);
            continue;
        }
        bool para = n->kind == AT_IR_LOOP && n->loop.ann == AT_ANN_PARA && !parallel;
        if (para) d->threads = b->m->threads;
        at_sym old = {0};
        if (n->kind == AT_IR_LOOP) {
            old = at_range_enter(l, n);
            if (n->child && n->child->next)
                d->body = at_footprint(b->feet, n->child, at_ir_loops(n->child));
        }
        at_mask inside = n->kind == AT_IR_LOOP ? around | AT_BIT(n->loop.sym) : around;
        d->child = annotate(b, n->child, inside, parallel || para);
        d->other = annotate(b, n->other, inside, parallel);
        if (n->kind == AT_IR_LOOP) {
            at_range_leave(l, n, old);
            d->alone = true;
            collect(b, d->child, d, inside);
        }
    }
    return head;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static void add_needs(part *sum, const part *p, double times) {
    for (int i = 0; i < AT_NEED_L2; i++) sum->need[i] += p->need[i] * times;
    for (int i = 0; i < 3; i++) sum->bytes[i] += p->bytes[i] * times;
    sum->instructions += p->instructions * times;
}

/* Then follows p, `times` in a row. What a core can have under way at once overlaps where two
 * phases meet: at most so many instructions of the faster one. Parts of fewer instructions are no
 * phases.
 */
static void add(const bounder *b, part *sum, const part *p, double times) {
    const double window = b->m->core->window;
    add_needs(sum, p, times);
    if (p->instructions < window) return;
    double meet = p->mixed ? times - 1 : 0;
    sum->in_a_row += p->cycles * times - fmax(0, meet) * window * p->rate;
    if (sum->phases) {
        sum->in_a_row -= window * fmin(sum->rate, p->rate);
        sum->mixed = true;
    }
    sum->rate = sum->phases ? fmin(sum->rate, p->rate) : p->rate;
    sum->mixed |= p->mixed;
    sum->phases++;
}

static double byte_cycles(const bounder *b, const part *p, int level) {
    const at_core *c = b->m->core;
    const double speed[] = {c->from_l2, c->from_l3, c->from_memory};
    return p->bytes[level] / speed[level];
}

static void close_part(const bounder *b, part *p) {
    p->cycles = p->in_a_row;
    for (int i = 0; i < AT_NEED_L2; i++) p->cycles = fmax(p->cycles, p->need[i]);
    for (int i = 0; i < 3; i++) p->cycles = fmax(p->cycles, byte_cycles(b, p, i));
    if (!p->phases && p->instructions > 0) p->rate = p->cycles / p->instructions;
}

/* What a part must bring from beyond each cache, having found them full of what it needs. */
static void add_misses(const bounder *b, part *p, double footprint) {
    const at_machine *m = b->m;
    double held = 0;
    const int64_t size[] = {m->l1d_bytes, m->l2_bytes, m->l3_bytes};
    for (int i = 0; i < 3; i++) {
        held += (double)size[i];
        if (size[i]) p->bytes[i] = fmax(p->bytes[i], footprint - held);
    }
}

static const at_tile_work *work_of(bounder *b, const node *d, const int64_t *trips) {
    const at_tile *t = d->ir->call->tile;
    size_t bytes = sizeof *trips * (size_t)t->num_trips;
    for (int i = 0; i < KEPT; i++) {
        if (!b->kept[d->tile * KEPT + i].known) {
            memcpy(b->kept[d->tile * KEPT + i].trips, trips, bytes);
            b->kept[d->tile * KEPT + i].work = at_tile_work_of(b->arena, t, b->m->core, trips);
            b->kept[d->tile * KEPT + i].known = true;
        }
        if (!memcmp(b->kept[d->tile * KEPT + i].trips, trips, bytes))
            return &b->kept[d->tile * KEPT + i].work;
    }
    b->kept[d->tile * KEPT].known = false;
    return work_of(b, d, trips);
}

/* TinyCC keeps nothing in registers: each argument is loaded, the call made and left again, and
 * every turn of a loop counts, compares and jumps. gcc and clang may do with less. */
static double call_instructions(const bounder *b, const at_tile *t) {
    return b->p->dialect == AT_DIALECT_TCC ? t->num_slots + t->num_trips + 3 : 0;
}
static double turn_instructions(const bounder *b) {
    return b->p->dialect == AT_DIALECT_TCC ? 4 : 1;
}

static part call(bounder *b, const node *d, double times) {
    const at_tile_call *c = d->ir->call;
    const at_core *core = b->m->core;
    int64_t trips[AT_TILE_MAX_TRIPS];
    for (int i = 0; i < c->tile->num_trips; i++) trips[i] = count_of(b, c->trip[i]);
    const at_tile_work *w = work_of(b, d, trips);
    int wide = c->tile->lanes >= AT_WIDE_LANES;
    part p = {.instructions = w->instructions + call_instructions(b, c->tile)};
    const double fmas = w->fmas + w->muls - w->half_fmas, halves = w->half_fmas + w->half_adds;
    p.need[AT_NEED_FMA] = fmax(fmas / core->fma[wide] + w->half_fmas / core->fma[0],
                               (w->fmas + w->muls + w->adds - halves) / core->arithmetic[wide] +
                                   halves / core->arithmetic[0]);
    p.need[AT_NEED_LOAD] = w->loads / core->loads[wide] + w->bcasts / core->bcasts;
    p.need[AT_NEED_STORE] = w->stores / core->stores[wide];
    p.need[AT_NEED_ISSUE] = p.instructions / core->issue;
    p.need[AT_NEED_CHAIN] = w->chain_cycles / (1 + core->window / p.instructions);
    add_misses(b, &p, d->footprint);
    close_part(b, &p);
    at_tile_bound *sum = &b->tiles[d->tile];
    const double unit_flops = (2 * w->fmas + w->muls + w->adds) * c->tile->lanes * times;
    b->unit_flops += unit_flops;
    b->flops += unit_flops + 2 * w->more_terms * c->tile->lanes * times;
    sum->work.calls += times;
    sum->work.fmas += w->fmas * times;
    sum->work.others += (w->muls + w->adds) * times;
    sum->work.loads += (w->loads + w->bcasts) * times;
    sum->work.stores += w->stores * times;
    sum->work.instructions += p.instructions * times;
    for (int i = 0; i < AT_NEED_L2; i++) sum->cycles[i] += p.need[i] * times * b->share;
    return p;
}

static part list(bounder *b, const node *d, double footprint, double times);

/* The first turn from i on that is not like i, or hi. */
static int64_t same_until(bounder *b, const node *d, int64_t i, int64_t hi) {
    int64_t first[MOST_DECIDED], v;
    int n = d->decided.len;
    if (!n) return hi;
    if (!d->alone || n > MOST_DECIDED) return i + 1;
    for (int64_t at = i; at < hi && b->turns_left > 0; at++, b->turns_left--) {
        b->value[d->ir->loop.sym] = at;
        for (int k = 0; k < n; k++) {
            if (!value_of(b, d->decided.data[k], &v)) return i + 1;
            if (at == i) first[k] = v;
            else if (first[k] != v) return at;
        }
    }
    return hi;
}

/* times: how often this happens in one run, all threads together. */
static part loop(bounder *b, const node *d, double times) {
    const at_ir *n = d->ir;
    part sum = {.cycles = 0}, turn = {.instructions = turn_instructions(b)};
    turn.need[AT_NEED_ISSUE] = turn.instructions / b->m->core->issue;
    int64_t lo = n->loop.lo, hi = n->loop.hi;
    if (!at_loop_is_fixed(n)) {
        at_low *l = b->p->low;
        bool known = value_of(b, at_ir_lo(l, n), &lo) && value_of(b, at_ir_hi(l, n), &hi);
        if (!known) b->partial = true, hi = lo;
    }
    if (hi <= lo) return sum;
    double turns = (double)(hi - lo), mine = ceil(turns / d->threads), outer = b->share;
    b->share *= mine / turns;
    for (int64_t i = lo, next; i < hi; i = next, b->turns_left--) {
        next = same_until(b, d, i, hi);
        if (b->turns_left <= 0) {
            b->partial = true;
            break;
        }
        b->value[n->loop.sym] = i;
        part body = list(b, d->child, d->body, times * (double)(next - i));
        add(b, &sum, &body, next - i == hi - lo ? mine : (double)(next - i) / d->threads);
    }
    b->share = outer;
    add_needs(&sum, &turn, mine);
    add_misses(b, &sum, d->footprint);
    close_part(b, &sum);
    return sum;
}

static part list(bounder *b, const node *d, double footprint, double times) {
    part sum = {.cycles = 0};
    for (; d; d = d->next) {
        part p = {.cycles = 0};
        int64_t test = 0;
        switch (d->ir->kind) {
        case AT_IR_TILE: p = call(b, d, times); break;
        case AT_IR_LOOP: p = loop(b, d, times); break;
        case AT_IR_IF:
            if (value_of(b, d->ir->test, &test))
                p = list(b, test >= 0 ? d->child : d->other, 0, times);
            else b->partial = true;
            break;
        case AT_IR_STMT: break; /* of a table: once per entry, which is next to nothing */
        }
        add(b, &sum, &p, 1);
    }
    add_misses(b, &sum, footprint);
    close_part(b, &sum);
    return sum;
}

/* ---- all of it ------------------------------------------------------------------------------- */

const at_bound *at_bound_of(at_arena *a, const at_lowered *p, const at_machine *m) {
    bounder b = {.arena = a, .p = p, .m = m, .share = 1, .turns_left = MOST_TURNS};
    at_bound *out = AT_NEW(a, at_bound);
    b.feet = at_feet_new(a, p, m->threads);
    b.tiles = AT_NEW_ARRAY(a, at_tile_bound, p->num_tiles + 1);
    b.kept = at_alloc(a, sizeof *b.kept * KEPT * (size_t)(p->num_tiles + 1));
    for (int i = 0; i < p->num_tiles; i++) b.tiles[i].tile = p->tiles[i]->name;
    node *root = annotate(&b, p->root, 0, false);
    part all = list(&b, root, at_footprint(b.feet, p->root, at_ir_loops(p->root)), 1);
    for (int i = 0; i < p->num_tiles; i++)
        if (b.tiles[i].work.calls > 0) b.tiles[out->num_tiles++] = b.tiles[i];
    out->tiles = b.tiles;
    for (int i = 0; i < AT_NEED_COUNT; i++) {
        out->cycles[i] = i < AT_NEED_L2 ? all.need[i] : byte_cycles(&b, &all, i - AT_NEED_L2);
        if (out->cycles[i] > out->cycles[out->largest]) out->largest = (at_need)i;
    }
    for (int i = 0; i < 3; i++) out->bytes[i] = all.bytes[i];
    out->flops = b.flops;
    out->unit_flops = b.unit_flops;
    out->bound_cycles = all.cycles;
    out->partial = b.partial;
    return out;
}

static const char *const needs[] = {"FMA ports", "load ports", "store ports", "chains",
                                    "issue",     "L2",         "L3",          "memory"};
_Static_assert(sizeof needs / sizeof *needs == AT_NEED_COUNT, "a name per need");

const char *at_need_name(at_need n) { return needs[n]; }
