/* codegen/tile_build.c: a list of nests becomes a tile program.
 *
 * Unrolled loops and vectors are expanded, other loops stay counted loops whose pointers are
 * bumped. Each statement becomes operations on virtual registers; equal loads of one straight-line
 * body are shared. A tensor that lives in registers has one register per vector of its elements.
 * Needs:   no conditions; addresses affine in the loops of the list, but for an entry of an index
 * list each; loop bounds known before it.
 */
#include "codegen/tile.h"

#include <string.h>

#define MAX_CHAINS 8 /* multiply-adds under way at once: latency 4 on 2 units */

typedef struct { /* k * floor((times * entry + plus) / by) */
    int64_t k, times, plus, by;
} digit;
#define MAX_DIGITS 4

typedef struct { /* an address: slot pointer + off elements; per counted loop a stride */
    int tensor;
    const at_aff *rest; /* what is known outside the tile */
    int64_t off;
    int num_strides;
    at_term stride[16]; /* enclosing counted loops, outer first */
    int64_t lane;       /* stride along the current vector loop */
    int entry;          /* symbol of an index list's entry that digits are added of; -1: none */
    digit digits[MAX_DIGITS];
    int num_digits;
} place;

typedef struct { /* a pointer of the tile */
    int tensor;
    const at_aff *rest;
    int num_strides;
    at_term stride[16];
    bool written;
    int made_in; /* made of a list inside the straight-line body of that number; 0: an argument */
    int base, list;
    int64_t list_off;
    digit digits[MAX_DIGITS];
    int num_digits;
} slot;

typedef struct { /* an element vector that lives in a register */
    int tensor;
    int64_t off;
    int lanes;
    int64_t lane; /* stride of more than one lane, else 0 */
    int vreg;
    int slot;              /* where it is loaded from and stored to; -1: nowhere */
    int chain[MAX_CHAINS]; /* partial sums beside vreg, from 1 on */
    int num_chains, next;
} key;

typedef struct {
    at_low *l;
    const at_tile_regs *regs;
    at_mask inner;               /* loops of the list */
    int64_t bound[AT_MAX_LOOPS]; /* unrolled, vector: current value; counted: 0 */
    const at_ir *counted[16];    /* enclosing counted loops */
    int num_counted;
    int vec_sym, vec_lanes; /* current vector loop and how many of its iterations; -1: none */
    AT_VEC(at_tile_op) ops;
    AT_VEC(at_tile_vreg) vregs;
    AT_VEC(key) keys;
    int max_chains;       /* partial sums per register in the current nest */
    const at_ir *current; /* statement */
    int held;             /* tensor whose sums stay in registers during the current loop; -1 */
    int first_load;       /* loads of this straight-line body: virtual registers from here on */
    int first_const;      /* and constants, which no store changes */
    slot slots[AT_TILE_MAX_SLOTS];
    int num_slots;
    int num_pointers; /* drop_slots: slots made inside, behind the others */
    int body;         /* number of the current straight-line body */
    const at_aff *trips[AT_TILE_MAX_TRIPS];
    int num_trips;
    bool failed;
} build;

#define LINE_FLOATS 16 /* of a cache line */
#define MAX_VREGS 16000
#define SHORT_BODY 16 /* statements of a copy that is written out though nobody asked for it */

static bool in_register(const build *b, int tensor) {
    return b->regs->local[tensor] || b->held == tensor;
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* The longest axis of any tensor: entries count along one. */
static int64_t longest_axis(const at_low *l) {
    const at_compute *c = l->program->compute;
    int64_t most = 0;
    for (int t = 0; t < c->num_tensors; t++)
        for (int d = 0; d < c->tensors[t].num_axes; d++)
            if (l->program->extents[t][d] > most) most = l->program->extents[t][d];
    return most;
}

static void add_digit(build *b, place *p, int sym, int64_t k) {
    const at_sym *s = &b->l->syms.data[sym];
    digit d = {k, 1, 0, 1};
    if (s->kind == AT_SYM_DIV) {
        d.by = s->by;
        d.plus = s->of->c;
        for (int i = 0; i < s->of->n; i++) {
            const at_term *t = &s->of->t[i];
            if (t->sym == p->entry) d.times = t->k;
            else d.plus += t->k * b->bound[t->sym];
            for (int j = 0; j < b->num_counted; j++)
                if (b->counted[j]->sym == t->sym) b->failed = true; /* it changes with the loop */
        }
    }
    bool small = d.times > 0 && d.times < 1 << 20 && d.plus >= 0 && d.plus < 1 << 30 &&
                 d.by < 1 << 30 && longest_axis(b->l) < 1 << 30;
    if (!small || p->num_digits == MAX_DIGITS) {
        b->failed = true;
        return;
    }
    int at = p->num_digits++;
    for (; at > 0 && p->digits[at - 1].by > d.by; at--) p->digits[at] = p->digits[at - 1];
    p->digits[at] = d;
}

static place locate(build *b, int tensor, const at_aff *at) {
    at_low *l = b->l;
    place p = {.tensor = tensor};
    const at_aff *in = at_aff_part(l, at, b->inner, &p.rest);
    if (!at_aff_indexed(l, in, b->inner, &p.entry)) b->failed = true;
    p.off = p.rest->c;
    p.rest = at_aff_shift(l, p.rest, -p.rest->c);
    for (int i = 0; i < in->n; i++) {
        int s = in->t[i].sym;
        if (s >= AT_MAX_LOOPS) {
            add_digit(b, &p, s, in->t[i].k);
            continue;
        }
        p.off += in->t[i].k * b->bound[s];
        if (s == b->vec_sym) p.lane = in->t[i].k;
    }
    for (int i = 0; i < b->num_counted; i++) {
        const at_ir *c = b->counted[i];
        int64_t k = at_aff_coef(in, c->sym);
        if (!k) continue;
        p.stride[p.num_strides++] = (at_term){c->sym, k};
        if (c->lo_aff) p.rest = at_aff_add(l, p.rest, at_aff_scale(l, c->lo_aff, k));
        else p.off += k * c->lo;
    }
    if (p.rest->c) p.off += p.rest->c, p.rest = at_aff_shift(l, p.rest, -p.rest->c);
    return p;
}

static int find_slot(build *b, const place *p, bool written) {
    for (int i = 0; i < b->num_slots; i++) {
        slot *s = &b->slots[i];
        if (s->made_in || s->tensor != p->tensor || s->num_strides != p->num_strides ||
            !at_aff_equal(s->rest, p->rest) ||
            memcmp(s->stride, p->stride, sizeof(at_term) * (size_t)p->num_strides))
            continue;
        s->written |= written;
        return i;
    }
    if (b->num_slots == AT_TILE_MAX_SLOTS) {
        b->failed = true;
        return 0;
    }
    slot *s = &b->slots[b->num_slots];
    *s = (slot){
        .tensor = p->tensor, .rest = p->rest, .num_strides = p->num_strides, .written = written};
    memcpy(s->stride, p->stride, sizeof p->stride);
    return b->num_slots++;
}

/* ---- operations ------------------------------------------------------------------------------ */

static at_tile_op *emit(build *b, at_tile_kind kind) {
    at_tile_op *op = at_push(b->l->arena, &b->ops);
    *op = (at_tile_op){
        .kind = (uint8_t)kind, .dst = -1, .a = -1, .b = -1, .slot = -1, .base = -1, .trip_arg = -1};
    return op;
}

static void start_body(build *b) {
    b->first_load = b->first_const = b->vregs.len;
    b->body++;
}

/* The pointer an entry of an index list makes of a slot, good for the straight-line body: a new
 * one, or one that was made in another body. */
static int indexed_slot(build *b, const place *p, int base) {
    const at_sym *s = &b->l->syms.data[p->entry];
    place entry = locate(b, s->tensor, s->of);
    int list = find_slot(b, &entry, false), found = -1;
    if (b->failed || entry.entry >= 0 || entry.lane) b->failed = true;
    for (int i = 0; i < b->num_slots; i++) {
        const slot *o = &b->slots[i];
        if (!o->made_in) continue;
        if (o->made_in != b->body) found = i;
        else if (o->base == base && o->list == list && o->list_off == entry.off &&
                 o->num_digits == p->num_digits &&
                 !memcmp(o->digits, p->digits, sizeof(digit) * (size_t)p->num_digits))
            return i;
    }
    if (found < 0 && b->num_slots == AT_TILE_MAX_SLOTS) b->failed = true;
    if (b->failed) return 0;
    if (found < 0) found = b->num_slots++;
    b->slots[found] = (slot){.tensor = p->tensor,
                             .rest = at_aff_const(b->l, 0),
                             .made_in = b->body,
                             .base = base,
                             .list = list,
                             .list_off = entry.off,
                             .num_digits = p->num_digits};
    memcpy(b->slots[found].digits, p->digits, sizeof p->digits);
    for (int i = 0; i < p->num_digits; i++) {
        at_tile_op *op = emit(b, AT_T_INDEX);
        op->dst = (int16_t)found;
        op->base = (int16_t)(i ? found : base);
        op->slot = (int16_t)list;
        op->off = entry.off;
        op->bump = p->digits[i].k;
        op->times = (int32_t)p->digits[i].times;
        op->plus = (int32_t)p->digits[i].plus;
        op->by = (int32_t)p->digits[i].by;
        op->most = (int32_t)longest_axis(b->l);
    }
    return found;
}

/* The slot of a load. */
static int slot_of(build *b, const place *p) {
    int s = find_slot(b, p, false);
    return p->entry >= 0 && !b->failed ? indexed_slot(b, p, s) : s;
}

static int new_vreg(build *b, at_tile_vreg v) {
    if (b->vregs.len >= MAX_VREGS) {
        b->failed = true;
        return 0;
    }
    *at_push(b->l->arena, &b->vregs) = v;
    return b->vregs.len - 1;
}

/* A load (delayed by the allocator), shared within the straight-line body. */
static int load(build *b, at_tile_vreg v) {
    int first = v.load == AT_T_CONST ? b->first_const : b->first_load;
    for (int i = b->vregs.len - 1; i >= first; i--) {
        const at_tile_vreg *w = &b->vregs.data[i];
        if (w->load == v.load && w->lanes == v.lanes && w->slot == v.slot && w->off == v.off &&
            memcmp(&w->number, &v.number, sizeof v.number) == 0)
            return i;
    }
    return new_vreg(b, v);
}

static int lanes_now(const build *b) { return b->vec_sym >= 0 ? b->vec_lanes : 1; }

/* Have two element vectors, off + lane*(0 .. lanes-1), an element in common? */
static bool meet(const key *x, const key *y) {
    int64_t apart = y->off - x->off, lane = x->lanes > 1 ? x->lane : y->lane;
    if (x->lanes == 1 && y->lanes == 1) return !apart;
    if (x->lanes == 1 || y->lanes == 1 || x->lane == y->lane)
        return apart % lane == 0 && apart / lane > -y->lanes && apart / lane < x->lanes;
    int64_t x_end = x->off + x->lane * (x->lanes - 1), y_end = y->off + y->lane * (y->lanes - 1);
    return !((x->off < y->off && x->off < y_end && x_end < y->off && x_end < y_end) ||
             (y->off < x->off && y->off < x_end && y_end < x->off && y_end < x_end));
}

/* The register of an element vector of a tensor that lives in registers. What is used must have
 * been defined: of a tile that is cut, another part may do that. */
static key *key_of(build *b, const place *p, bool defines) {
    int lanes = p->lane ? lanes_now(b) : 1;
    const key mine = {.off = p->off, .lanes = lanes, .lane = lanes > 1 ? p->lane : 0};
    for (int i = 0; i < b->keys.len; i++) {
        key *k = &b->keys.data[i];
        if (k->tensor != p->tensor || !meet(k, &mine)) continue;
        if (k->off != mine.off || k->lanes != mine.lanes || k->lane != mine.lane)
            b->failed = true; /* part of a register */
        return k;
    }
    if (!defines && b->regs->local[p->tensor]) b->failed = true;
    int v = new_vreg(b, (at_tile_vreg){.acc = true});
    int s = b->held == p->tensor ? find_slot(b, p, true) : -1;
    key *k = at_push(b->l->arena, &b->keys);
    *k = (key){.tensor = p->tensor,
               .off = p->off,
               .lanes = lanes,
               .lane = mine.lane,
               .vreg = v,
               .slot = s,
               .num_chains = 1};
    return k;
}

/* The partial sum of a key that comes next. */
static int chain_of(build *b, key *k) {
    if (k->next == k->num_chains && k->num_chains < b->max_chains)
        k->chain[k->num_chains++] = new_vreg(b, (at_tile_vreg){.acc = true});
    if (k->next >= k->num_chains) k->next = 0;
    int c = k->next++;
    return c ? k->chain[c] : k->vreg;
}

/* Asks for the line that lies ahead of a vector load, once per line. */
static void prefetch(build *b, int tensor, int from, int64_t off) {
    const at_ir *n = b->current;
    if (!n || n->prefetch_bytes <= 0 || n->prefetch_tensor != tensor || off % LINE_FLOATS) return;
    at_tile_op *op = emit(b, AT_T_PREFETCH);
    op->slot = (int16_t)from;
    op->off = off + n->prefetch_bytes / 4;
}

static int value(build *b, const at_value *v) {
    if (v->op == AT_V_CONST)
        return load(b, (at_tile_vreg){.load = AT_T_CONST, .number = v->number, .slot = -1});
    if (v->op == AT_V_LOAD) {
        place p = locate(b, v->tensor, v->at);
        int lanes = lanes_now(b);
        if (in_register(b, v->tensor)) {
            if (p.entry >= 0) b->failed = true; /* which one is not known */
            if (lanes > 1 && !p.lane)
                b->failed = true; /* a register holds no broadcast of one lane */
            return key_of(b, &p, false)->vreg;
        }
        bool bcast = lanes > 1 && p.lane == 0;
        int s = slot_of(b, &p), loads = b->vregs.len;
        int r = load(b, (at_tile_vreg){.load = bcast ? AT_T_BCAST : AT_T_LOAD,
                                       .lanes = (uint8_t)(bcast ? 1 : lanes),
                                       .slot = (int16_t)s,
                                       .off = p.off});
        if (b->vregs.len > loads && !bcast) prefetch(b, v->tensor, s, p.off);
        return r;
    }
    static const uint8_t kinds[] = {
        [AT_V_ADD] = AT_T_ADD, [AT_V_SUB] = AT_T_SUB, [AT_V_MUL] = AT_T_MUL,
        [AT_V_DIV] = AT_T_DIV, [AT_V_MIN] = AT_T_MIN, [AT_V_MAX] = AT_T_MAX};
    int x = value(b, v->a), y = value(b, v->b);
    int d = new_vreg(b, (at_tile_vreg){0});
    at_tile_op *op = emit(b, kinds[v->op]);
    op->dst = (int16_t)d;
    op->a = (int16_t)x;
    op->b = (int16_t)y;
    return d;
}

/* acc += v, as a multiply-add where v is a product. */
static void accumulate(build *b, int acc, const at_value *v) {
    int x = v->op == AT_V_MUL ? value(b, v->a) : acc;
    int y = v->op == AT_V_MUL ? value(b, v->b) : value(b, v);
    at_tile_op *op = emit(b, v->op == AT_V_MUL ? AT_T_FMA : AT_T_ADD);
    op->dst = (int16_t)acc;
    op->a = (int16_t)x;
    op->b = (int16_t)y;
}

static void define(build *b, int acc, const at_value *v) {
    int x = v->op == AT_V_CONST ? -1 : value(b, v);
    at_tile_op *op = emit(b, x < 0 ? AT_T_CONST : AT_T_MOV);
    op->dst = (int16_t)acc;
    op->a = (int16_t)x;
    op->number = v->number;
}

/* Does operation i, a store aside, read this tensor? */
static bool reads(const build *b, int i, int tensor) {
    const at_tile_op *op = &b->ops.data[i];
    const int regs[] = {op->a, op->b};
    for (int j = 0; j < 2; j++) {
        const at_tile_vreg *v = regs[j] >= 0 ? &b->vregs.data[regs[j]] : NULL;
        if (v && v->load && v->slot >= 0 && b->slots[v->slot].tensor == tensor) return true;
    }
    return op->kind == AT_T_LOAD && b->slots[op->slot].tensor == tensor;
}

/* The store in this straight-line body of what is about to be stored again; -1: none, or it is read
 * in between. */
static int last_store(const build *b, int s, int64_t off, int lanes) {
    int tensor = b->slots[s].tensor;
    for (int i = b->ops.len - 1; i >= 0; i--) {
        const at_tile_op *op = &b->ops.data[i];
        if (op->kind == AT_T_LOOP || op->kind == AT_T_END || op->kind == AT_T_BUMP) return -1;
        bool same = op->slot == s && (op->kind == AT_T_STORE || op->kind == AT_T_LOAD);
        if (same && (op->off >= off + lanes || off >= op->off + op->lanes)) continue;
        if (op->kind == AT_T_STORE && same && op->off == off && op->lanes == lanes) return i;
        if (reads(b, i, tensor)) return -1;
        if (op->kind == AT_T_STORE && b->slots[op->slot].tensor == tensor) return -1;
    }
    return -1;
}

static bool is_key(const build *b, int v) {
    for (int i = 0; i < b->keys.len; i++)
        if (b->keys.data[i].vreg == v) return true;
    return false;
}

/* A register with what memory holds there. Where it was stored just before, that store goes: a sum
 * of a few terms is stored once. */
static int sum_so_far(build *b, int s, int64_t off, int lanes) {
    int stored = last_store(b, s, off, lanes), v;
    at_tile_op old = {0}, *op;
    if (stored >= 0) {
        old = b->ops.data[stored];
        b->ops.len--;
        memmove(&b->ops.data[stored], &b->ops.data[stored + 1],
                sizeof old * (size_t)(b->ops.len - stored));
        if (b->vregs.data[old.a].acc && !is_key(b, old.a)) return old.a;
    }
    v = new_vreg(b, (at_tile_vreg){.acc = true});
    bool number = stored >= 0 && b->vregs.data[old.a].load == AT_T_CONST;
    op = emit(b, stored < 0 ? AT_T_LOAD : number ? AT_T_CONST : AT_T_MOV);
    op->dst = (int16_t)v;
    if (number) op->number = b->vregs.data[old.a].number;
    else if (stored >= 0) op->a = old.a;
    else op->slot = (int16_t)s, op->off = off, op->lanes = (uint8_t)lanes;
    return v;
}

static void statement(build *b, const at_ir *n) {
    b->current = n;
    place p = locate(b, n->tensor, n->at);
    if (in_register(b, n->tensor)) {
        key *k = key_of(b, &p, !n->add);
        if (n->add) accumulate(b, chain_of(b, k), n->val);
        else define(b, k->vreg, n->val);
        return;
    }
    int lanes = lanes_now(b);
    if (lanes > 1 && p.lane != 1) b->failed = true; /* all lanes into one element: not a vector */
    int s = find_slot(b, &p, true), v;
    if (n->add) {
        v = sum_so_far(b, s, p.off, lanes);
        accumulate(b, v, n->val);
    } else v = value(b, n->val);
    at_tile_op *op = emit(b, AT_T_STORE);
    op->slot = (int16_t)s;
    op->off = p.off;
    op->a = (int16_t)v;
    op->lanes = (uint8_t)lanes;
    b->first_load = b->vregs.len; /* what was loaded before may have been overwritten */
}

/* ---- loops ----------------------------------------------------------------------------------- */

static void expand(build *b, const at_ir *list);

static int trip_argument(build *b, const at_ir *n) {
    at_low *l = b->l;
    const at_aff *hi = n->hi_aff ? n->hi_aff : at_aff_const(l, n->hi);
    const at_aff *count = at_aff_sub(l, hi, n->lo_aff ? n->lo_aff : at_aff_const(l, n->lo));
    count = at_aff_max(
        l, count, at_aff_const(l, 0)); /* what a clipped loop leaves may be less than nothing */
    for (int i = 0; i < b->num_trips; i++)
        if (at_aff_equal(b->trips[i], count)) return i;
    if (b->num_trips == AT_TILE_MAX_TRIPS) {
        b->failed = true;
        return 0;
    }
    b->trips[b->num_trips] = count;
    return b->num_trips++;
}

/* What the statements of a nest do, for deciding whether its sums may stay in registers. */
typedef struct {
    int written;    /* the one tensor all statements add to; -1 none yet, -2 several or no sum */
    bool invariant; /* its addresses do not change in the counted loops */
    bool loaded;
} summary;

static void summarize_value(const at_value *v, summary *s) {
    if (v->op == AT_V_LOAD && v->tensor == s->written) s->loaded = true;
    if (v->a) summarize_value(v->a, s);
    if (v->b) summarize_value(v->b, s);
}

static bool is_unrolled(const at_ir *n) { return n->ann == AT_ANN_UNROLL || n->ann == AT_ANN_VEC; }
static bool is_counted(const at_ir *n) {
    return n->lo_aff || n->hi_aff || (!is_unrolled(n) && n->hi - n->lo > 1);
}

static void summarize(const at_ir *list, at_mask counted, const at_low *l, summary *s) {
    for (; list; list = list->next) {
        if (list->kind == AT_IR_LOOP) {
            summarize(list->child, is_counted(list) ? counted | AT_BIT(list->sym) : counted, l, s);
            continue;
        }
        if (!list->add || (s->written != -1 && s->written != list->tensor)) s->written = -2;
        if (s->written == -2) return;
        s->written = list->tensor;
        if (at_aff_deps(l, list->at) & counted) s->invariant = false;
        summarize_value(list->val, s);
    }
}

/* The tensor whose sums can be held in registers throughout a counted loop; -1 if none. */
static int promotable(const build *b, const at_ir *loop) {
    summary s = {-1, true, false};
    summarize(loop->child, AT_BIT(loop->sym), b->l, &s);
    return s.written >= 0 && s.invariant && !s.loaded ? s.written : -1;
}

/* Operations for n registers before operation `start`: room, filled in by the caller. */
static at_tile_op *insert(build *b, int start, int n) {
    for (int i = 0; i < n; i++) emit(b, AT_T_CONST);
    at_tile_op *ops = b->ops.data;
    memmove(ops + start + n, ops + start, sizeof *ops * (size_t)(b->ops.len - n - start));
    return ops + start;
}

/* Registers the sums of a nest need: iterations of unrolled and vector loops that index them. */
static int64_t count_sums(const build *b, const at_ir *n, int64_t registers) {
    if (n->kind == AT_IR_STMT) return n->add ? registers : 0;
    int64_t most = 0, lanes = n->ann == AT_ANN_VEC ? at_tile_isa_facts(b->l->isa)->lanes : 1;
    bool counts = is_unrolled(n) && !n->is_reduce;
    if (counts) registers *= (n->hi - n->lo + lanes - 1) / lanes;
    for (const at_ir *c = n->child; c; c = c->next) {
        int64_t m = count_sums(b, c, registers);
        if (m > most) most = m;
    }
    return most;
}

static bool only_sums(const at_ir *n) {
    if (n->kind == AT_IR_STMT) return n->add;
    for (const at_ir *c = n->child; c; c = c->next)
        if (!only_sums(c)) return false;
    return true;
}

/* Too few sums to keep the multiply-add units busy are kept as several partial ones each: the order
 * of summation is open. Those made since operation `start` begin at zero there and are added up
 * now. */
static void start_chains(build *b, const at_ir *n) {
    /* a nest that starts or reads its sums in between needs them whole */
    int64_t sums = only_sums(n) ? count_sums(b, n, 1) : 0,
            regs = at_tile_isa_facts(b->l->isa)->regs;
    int64_t chains = sums ? (MAX_CHAINS + sums - 1) / sums : 1;
    while (chains > 1 && sums * chains > regs - 4) chains--;
    b->max_chains = (int)chains;
}

static void join_chains(build *b, int start) {
    int n = 0;
    for (int i = 0; i < b->keys.len; i++) n += b->keys.data[i].num_chains - 1;
    if (!n) return;
    at_tile_op *zero = insert(b, start, n);
    for (int i = 0; i < b->keys.len; i++)
        for (int j = 1; j < b->keys.data[i].num_chains; j++)
            *zero++ = (at_tile_op){.kind = AT_T_CONST,
                                   .dst = (int16_t)b->keys.data[i].chain[j],
                                   .a = -1,
                                   .b = -1,
                                   .slot = -1,
                                   .trip_arg = -1};
    for (int i = 0; i < b->keys.len; i++) {
        key *k = &b->keys.data[i];
        for (int j = 1; j < k->num_chains; j++) {
            at_tile_op *op = emit(b, AT_T_ADD);
            op->dst = op->a = (int16_t)k->vreg;
            op->b = (int16_t)k->chain[j];
        }
        k->num_chains = 1;
        k->next = 0;
    }
}

/* Loads before operation `start`, stores behind: the registers made since `first_key`. */
static void load_and_store_around(build *b, int start, int first_key) {
    int n = b->keys.len - first_key;
    insert(b, start, n);
    for (int i = 0; i < n; i++) {
        const key *k = &b->keys.data[first_key + i];
        at_tile_op op = {.kind = AT_T_LOAD,
                         .lanes = (uint8_t)k->lanes,
                         .dst = (int16_t)k->vreg,
                         .a = -1,
                         .b = -1,
                         .slot = (int16_t)k->slot,
                         .off = k->off,
                         .trip_arg = -1};
        b->ops.data[start + i] = op;
        op.kind = AT_T_STORE;
        op.a = op.dst;
        op.dst = -1;
        *at_push(b->l->arena, &b->ops) = op;
    }
    b->keys.len = first_key;
}

/* Slots used since operation `op` and virtual register `vreg`: moved on with each iteration of loop
 * n, and back behind it. */
static void bump_slots(build *b, const at_ir *n, int first_op, int first_vreg, int trip_arg) {
    bool used[AT_TILE_MAX_SLOTS] = {false};
    for (int i = first_op; i < b->ops.len; i++) {
        const at_tile_op *op = &b->ops.data[i];
        if (op->slot >= 0) used[op->slot] = true;
        if (op->base >= 0) used[op->base] = true;
    }
    for (int v = first_vreg; v < b->vregs.len;
         v++) /* delayed loads name their slot in the register */
        if (b->vregs.data[v].load && b->vregs.data[v].slot >= 0) used[b->vregs.data[v].slot] = true;
    for (int after = 0; after < 2; after++) {
        for (int s = 0; s < b->num_slots; s++) {
            int64_t k = 0;
            for (int j = 0; j < b->slots[s].num_strides; j++)
                if (b->slots[s].stride[j].sym == n->sym) k = b->slots[s].stride[j].k;
            if (!k || !used[s]) continue;
            at_tile_op *op = emit(b, AT_T_BUMP);
            op->slot = (int16_t)s;
            op->bump = !after ? k : trip_arg >= 0 ? -k : -k * (n->hi - n->lo);
            op->trip_arg = (int16_t)(after ? trip_arg : -1);
        }
        if (!after) emit(b, AT_T_END);
    }
}

static void counted_loop(build *b, const at_ir *n) {
    int trip_arg = n->lo_aff || n->hi_aff ? trip_argument(b, n) : -1;
    if (b->num_counted == 16) b->failed = true;
    if (b->failed) return;
    int start = b->ops.len, first_vreg = b->vregs.len, first_key = b->keys.len;
    int held = b->regs->promote && b->held < 0 ? promotable(b, n) : -1;
    if (held >= 0 && !b->regs->local[held]) {
        b->held = held;
        start_chains(b, n);
    } else held = -1;
    at_tile_op *op = emit(b, AT_T_LOOP);
    op->trip_arg = (int16_t)trip_arg;
    op->trip = n->hi - n->lo;
    op->name = b->l->syms.data[n->sym].name;
    b->counted[b->num_counted++] = n;
    b->bound[n->sym] = 0;
    start_body(b);
    expand(b, n->child);
    b->num_counted--;
    start_body(b);
    bump_slots(b, n, start, first_vreg, trip_arg);
    if (held >= 0) {
        join_chains(b, start);
        load_and_store_around(b, start, first_key);
        b->held = -1;
    }
}

/* Does every statement below treat this loop as a vector: stored with stride 1 or in registers,
 * loaded with stride 1 or the same for all? */
static bool is_vector(const build *b, const at_ir *list, int sym) {
    for (; list; list = list->next) {
        if (list->kind == AT_IR_LOOP && (!is_unrolled(list) || !is_vector(b, list->child, sym)))
            return false;
        if (list->kind != AT_IR_STMT) continue;
        int64_t k = at_aff_coef(list->at, sym);
        if (k == 0 || (k != 1 && !b->regs->local[list->tensor])) return false;
        const at_value *stack[64] = {list->val};
        for (int n = 1; n > 0;) {
            const at_value *v = stack[--n];
            if (v->op == AT_V_LOAD) {
                k = at_aff_coef(v->at, sym);
                if (at_aff_opaque_deps(b->l, v->at) & AT_BIT(sym)) return false;
                if (b->regs->local[v->tensor] ? k == 0 : k != 0 && k != 1) return false;
            }
            if (n > 60) return false;
            if (v->a) stack[n++] = v->a;
            if (v->b) stack[n++] = v->b;
        }
    }
    return true;
}

/* Statements of a nest when all of it is expanded; -1 where a sum or an unknown trip count forbids
 * that. */
static int64_t straight(const at_ir *list) {
    int64_t n = 0;
    for (; list; list = list->next) {
        if (list->kind == AT_IR_STMT && list->add) return -1;
        int64_t inner = list->kind == AT_IR_STMT ? 1 : straight(list->child);
        if (inner < 0 || list->lo_aff || list->hi_aff) return -1;
        if (list->kind == AT_IR_LOOP)
            inner *=
                list->ann == AT_ANN_VEC ? (list->hi - list->lo + 15) / 16 : list->hi - list->lo;
        if (inner > SHORT_BODY) return -1;
        n += inner;
    }
    return n;
}

/* Four vectors along loop n become four along the loop inside it. */
static void transpose(build *b, const at_ir *n) {
    enum { SIDE = AT_TILE_SQUARE };
    static const uint8_t zips[] = {AT_T_ZIP_LOW, AT_T_ZIP_HIGH, AT_T_ZIP_LOW2, AT_T_ZIP_HIGH2};
    const at_ir *inner = n->child, *copy = inner->child;
    int v[SIDE], pairs[SIDE];
    if (b->vec_sym >= 0) b->failed = true;
    if (b->failed) return;
    b->current = NULL;
    b->vec_lanes = SIDE;
    b->vec_sym = n->sym;
    b->bound[n->sym] = 0;
    for (int i = 0; i < SIDE; i++) {
        b->bound[inner->sym] = i;
        v[i] = value(b, copy->val);
    }
    for (int step = 0; step < 2; step++)
        for (int i = 0; i < SIDE; i++) {
            at_tile_op *op = emit(b, zips[2 * step + i % 2]);
            int *out = step ? v : pairs;
            op->a = (int16_t)(step ? pairs[i / 2] : v[i / 2 * 2]);
            op->b = (int16_t)(step ? pairs[i / 2 + 2] : v[i / 2 * 2 + 1]);
            op->lanes = SIDE;
            out[i] = op->dst = (int16_t)new_vreg(b, (at_tile_vreg){0});
        }
    b->vec_sym = inner->sym;
    b->bound[inner->sym] = 0;
    for (int i = 0; i < SIDE; i++) {
        b->bound[n->sym] = i;
        place p = locate(b, copy->tensor, copy->at);
        int s = find_slot(b, &p, true);
        at_tile_op *op = emit(b, AT_T_STORE);
        op->slot = (int16_t)s;
        op->off = p.off;
        op->a = (int16_t)v[i];
        op->lanes = SIDE;
    }
    b->vec_sym = -1;
    b->first_load = b->vregs.len;
}

static void expand_loop(build *b, const at_ir *n) {
    if (n->transposes) {
        transpose(b, n);
        return;
    }
    at_ir one = *n;
    one.next = NULL;
    if (is_counted(n) && straight(&one) < 0) {
        counted_loop(b, n);
        return;
    }
    int lanes = at_tile_isa_facts(b->l->isa)->lanes;
    bool vector =
        n->ann == AT_ANN_VEC && lanes > 1 && b->vec_sym < 0 && is_vector(b, n->child, n->sym);
    for (int64_t i = n->lo; i < n->hi && !b->failed; i += vector ? lanes : 1) {
        b->bound[n->sym] = i;
        if (vector) {
            b->vec_sym = n->sym;
            b->vec_lanes = (int)(n->hi - i < lanes ? n->hi - i : lanes);
        }
        expand(b, n->child);
        if (vector) b->vec_sym = -1;
    }
}

static void expand(build *b, const at_ir *list) {
    for (; list && !b->failed; list = list->next) {
        if (list->kind == AT_IR_STMT) statement(b, list);
        else expand_loop(b, list);
    }
}

/* Operations that only make or move a pointer. */
static bool is_aside(const at_tile_op *op) {
    return op->kind == AT_T_BUMP || op->kind == AT_T_PREFETCH || op->kind == AT_T_INDEX;
}

/* Slots that nothing is read from or written to any more go, with what prefetches them. Those made
 * inside come last. */
static void drop_slots(build *b) {
    bool used[AT_TILE_MAX_SLOTS] = {false};
    int number[AT_TILE_MAX_SLOTS], n = 0;
    slot old[AT_TILE_MAX_SLOTS];
    for (int i = 0; i < b->ops.len; i++) {
        const at_tile_op *op = &b->ops.data[i];
        const int regs[] = {op->a, op->b};
        if (op->slot >= 0 && !is_aside(op)) used[op->slot] = true;
        for (int j = 0; j < 2; j++)
            if (regs[j] >= 0 && b->vregs.data[regs[j]].load && b->vregs.data[regs[j]].slot >= 0)
                used[b->vregs.data[regs[j]].slot] = true;
    }
    for (int i = 0; i < b->ops.len; i++) {
        const at_tile_op *op = &b->ops.data[i];
        if (op->kind == AT_T_INDEX && used[op->dst]) used[op->slot] = used[op->base] = true;
    }
    memcpy(old, b->slots, sizeof old);
    b->num_pointers = 0;
    for (int inside = 0; inside < 2; inside++)
        for (int i = 0; i < b->num_slots; i++) {
            if ((old[i].made_in > 0) != inside) continue;
            number[i] = used[i] ? n : -1;
            if (!used[i]) continue;
            b->slots[n++] = old[i];
            b->num_pointers += inside;
        }
    b->num_slots = n - b->num_pointers;
    int kept = 0;
    for (int i = 0; i < b->ops.len; i++) {
        at_tile_op op = b->ops.data[i];
        if (op.kind == AT_T_INDEX && number[op.dst] < 0) continue;
        if (op.kind == AT_T_INDEX) op.dst = (int16_t)number[op.dst];
        if (op.base >= 0) op.base = (int16_t)number[op.base];
        if (op.slot >= 0) op.slot = (int16_t)number[op.slot];
        if (!is_aside(&op) || op.slot >= 0) b->ops.data[kept++] = op;
    }
    b->ops.len = kept;
    for (int v = 0; v < b->vregs.len; v++)
        if (b->vregs.data[v].slot >= 0 && b->vregs.data[v].load)
            b->vregs.data[v].slot = (int16_t)number[b->vregs.data[v].slot];
}

/* Drops operations whose result nothing reads (of a tensor in registers, what a tail leaves
 * unused). */
static void drop_unused(build *b) {
    int *uses = AT_NEW_ARRAY(b->l->arena, int, b->vregs.len + 1);
    for (bool again = true; again;) {
        again = false;
        memset(uses, 0, sizeof *uses * (size_t)b->vregs.len);
        for (int i = 0; i < b->ops.len; i++) {
            const at_tile_op *op = &b->ops.data[i];
            if (op->a >= 0) uses[op->a]++;
            if (op->b >= 0) uses[op->b]++;
        }
        int kept = 0;
        for (int i = 0; i < b->ops.len; i++) {
            const at_tile_op *op = &b->ops.data[i];
            if (op->kind >= AT_T_CONST && op->kind != AT_T_STORE && !uses[op->dst]) again = true;
            else b->ops.data[kept++] = *op;
        }
        b->ops.len = kept;
    }
    drop_slots(b);
}

at_tile_call *at_tile_build(at_low *l, const at_ir *list, const at_tile_regs *regs) {
    build b = {
        .l = l, .regs = regs, .inner = at_ir_loops(list), .vec_sym = -1, .held = -1, .body = 1};
    for (const at_ir *n = list; n && !b.failed; n = n->next) {
        at_ir one = *n;
        one.next = NULL;
        int start = b.ops.len;
        start_chains(&b, n);
        expand(&b, &one);
        join_chains(&b, start);
    }
    if (b.failed) return NULL;
    drop_unused(&b);
    at_tile *t = AT_NEW(l->arena, at_tile);
    t->lanes = at_tile_isa_facts(l->isa)->lanes;
    if (!at_tile_alloc(l, b.ops.data, b.ops.len, b.vregs.data, b.vregs.len, t)) return NULL;
    at_tile_call *c = AT_NEW(l->arena, at_tile_call);
    c->tile = t;
    t->num_slots = b.num_slots;
    t->num_pointers = b.num_pointers;
    t->num_trips = b.num_trips;
    for (int i = 0; i < b.num_slots + b.num_pointers; i++) {
        const at_tensor *tensor = &l->program->compute->tensors[b.slots[i].tensor];
        c->slot_tensor[i] = b.slots[i].tensor;
        c->slot_at[i] = b.slots[i].rest;
        t->slot_name[i] = tensor->name;
        t->slot_written[i] = b.slots[i].written;
        t->slot_is_list[i] = tensor->is_int;
    }
    for (int i = 0; i < b.num_trips; i++) c->trip[i] = b.trips[i];
    return c;
}
