#include "tests/codegen/ir_run.h"

#include <stdlib.h>
#include <string.h>

typedef struct runner {
    at_low *l;
    const ir_memory *m;
    int64_t value[4096]; /* of loop symbols */
    bool bound[4096];    /* is the loop open? */
    int thread;
    const char *fault;
} runner;

static const char *tensor_name(const runner *r, int t) { return r->l->tensors[t].name; }

static void *base(const runner *r, int tensor) {
    const at_buffer *b = &r->l->buffers[tensor];
    if (b->place == AT_PLACE_PARAM) return r->m->buf[b->param];
    char *p = r->m->workspace + b->offset_bytes;
    if (b->place == AT_PLACE_THREAD) p += r->l->workspace_bytes + r->thread * r->l->thread_bytes;
    return p;
}

/* Is [at, at + n) inside the tensor? */
static bool inside(runner *r, int tensor, int64_t at, int64_t n) {
    if (at >= 0 && at + n <= r->l->buffers[tensor].elements) return true;
    if (!r->fault)
        r->fault = at_format(r->l->arena, "element %lld of %s, which has %lld", (long long)at,
                             tensor_name(r, tensor), (long long)r->l->buffers[tensor].elements);
    return false;
}

/* Products of entries that are multiplied out may leave 64 bits on their way: modulo 2^64, as
 * machines count. */
static int64_t value_of(runner *r, const at_aff *x) {
    uint64_t sum = (uint64_t)x->c;
    for (int i = 0; i < x->n; i++) {
        const at_sym s = r->l->syms.data[x->t[i].sym];
        if (s.kind == AT_SYM_LOOP && !r->bound[x->t[i].sym] && !r->fault)
            r->fault = at_format(r->l->arena, "%s is used outside its loop", s.name);
        int64_t a = s.kind == AT_SYM_LOOP ? r->value[x->t[i].sym] : value_of(r, s.of), b = 0;
        if (s.of2) b = value_of(r, s.of2);
        switch (s.kind) {
        case AT_SYM_LOOP: break;
        case AT_SYM_DIV: a = at_floordiv(a, s.by); break;
        case AT_SYM_LOAD:
            if (inside(r, s.tensor, a, 1)) a = ((const int32_t *)base(r, s.tensor))[a];
            break;
        case AT_SYM_MIN: a = a < b ? a : b; break;
        case AT_SYM_MAX: a = a > b ? a : b; break;
        case AT_SYM_MUL: a = (int64_t)((uint64_t)a * (uint64_t)b); break;
        }
        sum += (uint64_t)x->t[i].k * (uint64_t)a;
    }
    return (int64_t)sum;
}

static bool holds(runner *r, const at_cond *c) {
    switch (c->op) {
    case AT_C_FALSE: return false;
    case AT_C_TRUE: return true;
    case AT_C_ATOM: return value_of(r, c->atom) >= 0;
    case AT_C_AND: return holds(r, c->a) && holds(r, c->b);
    case AT_C_OR: return holds(r, c->a) || holds(r, c->b);
    case AT_C_NOT: return !holds(r, c->a);
    }
    return false;
}

/* Does a list say that there is nothing to read? */
static bool misses(runner *r, const at_value *v) {
    for (int i = 0; v->may_miss && i < v->at->n; i++) {
        const at_sym s = r->l->syms.data[v->at->t[i].sym];
        int64_t at = s.kind == AT_SYM_LOAD ? value_of(r, s.of) : 0;
        if (s.kind == AT_SYM_LOAD && inside(r, s.tensor, at, 1))
            return ((const int32_t *)base(r, s.tensor))[at] < 0;
    }
    return false;
}

static double element(const runner *r, int tensor, int64_t at) {
    if (at_low_tensor_type(r->l, tensor) == AT_S32) return ((const int32_t *)base(r, tensor))[at];
    return (double)((const float *)base(r, tensor))[at];
}

static float evaluate(runner *r, const at_value *v);

/* An integer of 32 bits. */
static int32_t whole(runner *r, const at_value *v) {
    if (v->op == AT_V_CONST) return (int32_t)v->number;
    if (v->op == AT_V_LOAD) {
        const int64_t at = value_of(r, v->at);
        return inside(r, v->tensor, at, 1) ? ((const int32_t *)base(r, v->tensor))[at] : 0;
    }
    if (v->op == AT_V_WHOLE && v->a->op == AT_V_INDEX) return (int32_t)value_of(r, v->a->at);
    if (v->op == AT_V_WHOLE) return (int32_t)rintf(evaluate(r, v->a));
    if (v->op == AT_V_SELECT) return whole(r, holds(r, v->cond) ? v->a : v->b);
    if (v->op == AT_V_CHOOSE) return whole(r, evaluate(r, v->a) != 0 ? v->b->a : v->b->b);
    const uint32_t a = (uint32_t)whole(r, v->a), b = (uint32_t)whole(r, v->b);
    switch (v->op) {
    case AT_V_ADD: return (int32_t)(a + b);
    case AT_V_SUB: return (int32_t)(a - b);
    case AT_V_MUL: return (int32_t)(a * b);
    case AT_V_MIN: return (int32_t)a < (int32_t)b ? (int32_t)a : (int32_t)b;
    case AT_V_MAX: return (int32_t)a > (int32_t)b ? (int32_t)a : (int32_t)b;
    case AT_V_BIT_AND: return (int32_t)(a & b);
    case AT_V_BIT_OR: return (int32_t)(a | b);
    case AT_V_SHIFT_RIGHT: return (int32_t)a >> b;
    default: abort(); /* an operator that this interpreter does not have */
    }
}

static float evaluate(runner *r, const at_value *v) {
    if (v->op == AT_V_CONST) return v->number;
    if (v->op == AT_V_LOAD) {
        if (misses(r, v)) return (float)v->number;
        int64_t at = value_of(r, v->at);
        return inside(r, v->tensor, at, 1) ? (float)element(r, v->tensor, at) : 0;
    }
    if (v->op == AT_V_NUMBER) return (float)whole(r, v->a);
    if (v->op == AT_V_WHOLE) return (float)whole(r, v);
    if (v->whole) return (float)whole(r, v);
    if (v->op == AT_V_SELECT) return evaluate(r, holds(r, v->cond) ? v->a : v->b);
    if (v->op == AT_V_INDEX) return (float)value_of(r, v->at);
    if (v->op == AT_V_TABLE) return (float)v->table[value_of(r, v->at)];
    float a = evaluate(r, v->a);
    if (v->op == AT_V_CALL) return (float)at_function_value(v->function, a);
    if (v->op == AT_V_CHOOSE) return evaluate(r, a != 0 ? v->b->a : v->b->b);
    float b = evaluate(r, v->b);
    uint32_t all = UINT32_MAX;
    float ones;
    memcpy(&ones, &all, sizeof ones);
    switch (v->op) {
    case AT_V_ADD: return a + b;
    case AT_V_SUB: return a - b;
    case AT_V_MUL: return a * b;
    case AT_V_DIV: return a / b;
    case AT_V_MIN: return a < b ? a : b;
    case AT_V_LESS: return a < b ? ones : 0;
    case AT_V_AT_MOST: return a <= b ? ones : 0;
    case AT_V_EQUAL: return a == b ? ones : 0;
    case AT_V_MAX: return a > b ? a : b;
    default: abort();
    }
}

/* A term joins the element at its place; a term whose place lies outside is left out. */
static void run_scatter(runner *r, const at_stmt *s, int64_t first) {
    const at_value *v = s->val;
    while (v->op == AT_V_SELECT) v = holds(r, v->cond) ? v->a : v->b;
    if (v->op != AT_V_PLACED) return;
    const float place = evaluate(r, v->b);
    if (!(place >= 0 && place < (float)s->num_places)) return;
    const int64_t at = first + (int64_t)place * s->place_stride;
    if (!inside(r, s->tensor, at, 1)) return;
    float *p = (float *)base(r, s->tensor) + at;
    *p = (float)at_reduction_join(s->reduction, evaluate(r, v->a), *p);
}

static void store(runner *r, int tensor, int64_t at, double x) {
    if (at_low_tensor_type(r->l, tensor) == AT_S32)
        ((int32_t *)base(r, tensor))[at] = x >= 0x1p31   ? INT32_MAX
                                           : x < -0x1p31 ? INT32_MIN
                                                         : (int32_t)x;
    else ((float *)base(r, tensor))[at] = (float)x;
}

static void run_statement(runner *r, const at_ir *n) {
    if (n->stmt.guard && !holds(r, n->stmt.guard)) return;
    int64_t at = value_of(r, n->stmt.at);
    if (!inside(r, n->stmt.tensor, at, 1)) return;
    if (n->stmt.num_places) {
        run_scatter(r, &n->stmt, at);
        return;
    }
    if (n->stmt.integer) {
        store(r, n->stmt.tensor, at, (double)value_of(r, n->stmt.integer));
        return;
    }
    const bool is_whole = n->stmt.val->whole;
    const double v = is_whole ? whole(r, n->stmt.val) : (double)evaluate(r, n->stmt.val),
                 had = element(r, n->stmt.tensor, at);
    store(r, n->stmt.tensor, at, n->stmt.add ? at_reduction_join(n->stmt.reduction, v, had) : v);
}

static void run_tile(runner *r, const at_tile_call *c) {
    float *slots[c->tile->num_slots + 1];
    long trips[AT_TILE_MAX_TRIPS];
    for (int i = 0; i < c->tile->num_slots; i++)
        slots[i] = (float *)base(r, c->slot_tensor[i]) + value_of(r, c->slot_at[i]);
    for (int i = 0; i < c->tile->num_trips; i++) {
        trips[i] = value_of(r, c->trip[i]);
        if (trips[i] < 0) r->fault = at_format(r->l->arena, "a trip count is %ld", trips[i]);
    }
    if (!r->fault) at_tile_interpret(c->tile, slots, trips);
}

static void run_list(runner *r, const at_ir *n);

static void run_loop(runner *r, const at_ir *n) {
    int64_t lo = n->loop.lo_aff ? value_of(r, n->loop.lo_aff) : n->loop.lo;
    int64_t hi = n->loop.hi_aff ? value_of(r, n->loop.hi_aff) : n->loop.hi;
    if (hi - lo > 1 << 24) r->fault = at_format(r->l->arena, "a loop runs too far");
    if (lo < hi && (lo < n->loop.lo || hi > n->loop.hi))
        r->fault = at_format(r->l->arena, "loop %s runs outside its constant bounds",
                             r->l->syms.data[n->loop.sym].name);
    r->bound[n->loop.sym] = true;
    for (int64_t i = lo; i < hi && !r->fault; i++) {
        r->value[n->loop.sym] = i;
        if (n->loop.ann == AT_ANN_PARA) {
            r->value[n->loop.sym] = hi - 1 - (i - lo);
            r->thread = (int)(i % r->m->threads);
            memset(r->m->workspace + r->l->workspace_bytes + r->thread * r->l->thread_bytes, 255,
                   (size_t)r->l->thread_bytes);
        }
        run_list(r, n->child);
    }
    r->bound[n->loop.sym] = false;
    if (n->loop.ann == AT_ANN_PARA) r->thread = 0;
}

static void run_list(runner *r, const at_ir *n) {
    for (; n && !r->fault; n = n->next) switch (n->kind) {
        case AT_IR_LOOP: run_loop(r, n); break;
        case AT_IR_IF: run_list(r, value_of(r, n->test) >= 0 ? n->child : n->other); break;
        case AT_IR_STMT: run_statement(r, n); break;
        case AT_IR_TILE: run_tile(r, n->call); break;
        }
}

const char *ir_run(at_low *l, bool pack, const ir_memory *memory) {
    runner *r = AT_NEW(l->arena, runner);
    r->l = l;
    r->m = memory;
    run_list(r, pack ? l->pack_root : l->root);
    return r->fault;
}
