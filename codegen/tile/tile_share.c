/* codegen/tile/tile_share.c: multiply-adds that read the same are done one behind the other, so
 * that what they read is loaded once: windows of a depthwise convolution or of a pooling, which
 * overlap.
 *
 * Only runs of terms of sums, maxima and the like change places, whose order is open. Those that
 * have nothing in common, such as vectors beside each other, come one group after the other; in a
 * group they follow the addresses of the operand that has more of them. */
#include "codegen/tile/tile_make.h"

#include <stdlib.h>

typedef struct term {
    at_tile_op op;
    int group;    /* what its group's members lead to */
    int slot, at; /* at: place in the run */
    int64_t off;
} term;

typedef struct sharer {
    const at_tile_vreg *vregs;
    int *group; /* [load of the run] leads to one of its group, which leads to itself */
    int *seen;  /* [virtual register] number of the run that counted it last */
    int run;
    bool in_groups;
    term *terms; /* of one run */
} sharer;

static bool is_load(const sharer *s, int v) { return v >= 0 && s->vregs[v].load; }

/* A term of an accumulator that is made of loads alone. */
static bool is_term(const sharer *s, const at_tile_op *op) {
    if (op->dst < 0 || !s->vregs[op->dst].acc) return false;
    if (at_tile_is_term(op)) return is_load(s, op->a) && is_load(s, op->b);
    if (op->kind != AT_T_ADD && op->kind != AT_T_MUL && op->kind != AT_T_MIN &&
        op->kind != AT_T_MAX)
        return false;
    return (op->a == op->dst && is_load(s, op->b)) || (op->b == op->dst && is_load(s, op->a));
}

static int group_of(const sharer *s, int v) {
    while (s->group[v] != v) v = s->group[v] = s->group[s->group[v]];
    return v;
}

/* How many different loads the run has as this operand. */
static int count(sharer *s, const at_tile_op *ops, int n, bool second) {
    int num = 0;
    s->run++;
    for (int i = 0; i < n; i++) {
        int v = second ? ops[i].b : ops[i].a;
        if (!is_load(s, v)) continue;
        num += s->seen[v] != s->run;
        s->seen[v] = s->run;
    }
    return num;
}

static void find_groups(const sharer *s, const at_tile_op *ops, int n) {
    for (int i = 0; i < n; i++) {
        if (is_load(s, ops[i].a)) s->group[ops[i].a] = ops[i].a;
        if (is_load(s, ops[i].b)) s->group[ops[i].b] = ops[i].b;
    }
    for (int i = 0; i < n; i++)
        if (is_load(s, ops[i].a) && is_load(s, ops[i].b))
            s->group[group_of(s, ops[i].b)] = group_of(s, ops[i].a);
}

static int by_address(const void *p, const void *q) {
    const term *x = p, *y = q;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->slot != y->slot) return x->slot < y->slot ? -1 : 1;
    if (x->off != y->off) return x->off < y->off ? -1 : 1;
    return x->at < y->at ? -1 : 1;
}

static int operand_of(const sharer *s, const at_tile_op *op, bool second) {
    int v = second ? op->b : op->a;
    return is_load(s, v) ? v : second ? op->a : op->b;
}

static void share(sharer *s, at_tile_op *ops, int n) {
    bool second = count(s, ops, n, true) > count(s, ops, n, false);
    find_groups(s, ops, n);
    for (int i = 0; i < n; i++) {
        int v = operand_of(s, &ops[i], second);
        const at_tile_vreg *r = &s->vregs[v];
        s->terms[i] = (term){ops[i], s->in_groups ? group_of(s, v) : 0, r->slot, i, r->off};
    }
    qsort(s->terms, (size_t)n, sizeof *s->terms, by_address);
    for (int i = 0; i < n; i++) ops[i] = s->terms[i].op;
}

at_tile_op *at_tile_share(at_low *l, const at_tile_op *ops, int num_ops, const at_tile_vreg *vregs,
                          int num_vregs, bool in_groups) {
    sharer s = {.vregs = vregs,
                .in_groups = in_groups,
                .group = AT_NEW_ARRAY(l->arena, int, num_vregs),
                .seen = AT_NEW_ARRAY(l->arena, int, num_vregs),
                .terms = AT_NEW_ARRAY(l->arena, term, num_ops)};
    at_tile_op *out = at_copy(l->arena, ops, sizeof *ops * (size_t)num_ops);
    for (int i = 0, from = 0; i <= num_ops; i++) {
        if (i < num_ops && is_term(&s, &ops[i])) continue;
        if (i > from + 1) share(&s, out + from, i - from);
        from = i + 1;
    }
    return out;
}
