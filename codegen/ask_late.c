/* codegen/ask_late.c: a condition that is the same for all terms of a sum is asked of the sum.
 *
 *     s[i, j] += j <= i ? a[i, k]*b[k, j] : 0      s[i, j] += a[i, k]*b[k, j]
 *     c[i, j] = s[i, j]                       ->   c[i, j] = j <= i ? s[i, j] : 0
 *
 * for a tile that the condition cuts: its terms are worked out all, and the lanes that are left out
 * are chosen once for each sum. The sums are the tile's own, so that all that reads them is there,
 * and no term reads what lies outside of a tensor. */
#include "codegen/partition_int.h"

typedef struct {
    at_low *l;
    const at_fact *facts;
    int around;  /* symbol of the loop that all this stands in */
    bool change; /* else it is only looked */
    at_ir *sum;  /* the first of them, or NULL */
    const at_value *term, *neutral;
    bool holds; /* the term counts where the condition holds; else where it fails */
    int others; /* reads of it from elsewhere in its tensor */
} asker;

/* Loops in an atom that a sum's element does not tell apart, or what is no loop: it is another
 * condition in each term. */
static bool is_of_element(const asker *q, const at_cond *c, at_mask inside, const at_aff *at) {
    at_low *l = q->l;
    if (c->op != AT_C_ATOM)
        return (!c->a || is_of_element(q, c->a, inside, at)) &&
               (!c->b || is_of_element(q, c->b, inside, at));
    for (int i = 0; i < c->atom->n; i++)
        if (l->syms.data[c->atom->t[i].sym].kind != AT_SYM_LOOP) return false;
    return !(at_aff_deps(l, c->atom) & inside & ~at_aff_deps(l, at));
}

/* Does it change along the lanes, and where is known only outside of all this? A cut would lose the
 * vector. */
static bool cuts_vectors(const asker *q, const at_cond *c, at_mask inside, at_mask lanes) {
    if (c->op != AT_C_ATOM)
        return (c->a && cuts_vectors(q, c->a, inside, lanes)) ||
               (c->b && cuts_vectors(q, c->b, inside, lanes));
    const at_aff *atom = at_aff_concrete(q->l, at_atom_known(q->l, c->atom, q->facts), 0);
    const at_mask deps = at_aff_deps(q->l, atom);
    return deps & lanes && deps & ~inside;
}

static bool is_own(const asker *q, int tensor) {
    const at_buffer *b = &q->l->buffers[tensor];
    return (b->place == AT_PLACE_WORKSPACE || b->place == AT_PLACE_THREAD) &&
           b->outer & AT_BIT(q->around);
}

static bool fits(asker *q, const at_ir *n, at_mask inside, at_mask lanes) {
    const at_value *v = n->stmt.val;
    if (!n->stmt.add || n->stmt.guard || v->whole || v->op != AT_V_SELECT ||
        !is_own(q, n->stmt.tensor) || at_cond_decide(q->l, v->cond, q->facts) != AT_C_ATOM)
        return false;
    const bool holds = at_value_is_neutral(v->b, n->stmt.reduction, AT_F32);
    if (!holds && !at_value_is_neutral(v->a, n->stmt.reduction, AT_F32)) return false;
    const at_value *term = holds ? v->a : v->b;
    if (!is_of_element(q, v->cond, inside, n->stmt.at) ||
        !cuts_vectors(q, v->cond, inside, lanes) || !at_value_is_harmless(q->l, term, q->facts))
        return false;
    q->term = term;
    q->neutral = holds ? v->b : v->a;
    q->holds = holds;
    return true;
}

/* The first sum whose condition may be asked late. */
static void find(asker *q, at_ir *n, at_mask inside, at_mask lanes) {
    for (; n && !q->sum; n = n->next) {
        if (n->kind == AT_IR_STMT && fits(q, n, inside, lanes)) q->sum = n;
        if (n->kind != AT_IR_LOOP) continue;
        const at_mask self = AT_BIT(n->loop.sym);
        at_sym old = at_range_enter(q->l, n);
        find(q, n->child, inside | self, n->loop.ann == AT_ANN_VEC ? lanes | self : lanes);
        at_range_leave(q->l, n, old);
    }
}

static const at_value *asked(asker *q, const at_value *v, const at_cond *cond) {
    if (v->op == AT_V_LOAD && v->tensor == q->sum->stmt.tensor) {
        if (!at_aff_equal(v->at, q->sum->stmt.at)) q->others++;
        const at_value *a = q->holds ? v : q->neutral, *b = q->holds ? q->neutral : v;
        return at_value_new(q->l, (at_value){.op = AT_V_SELECT, .cond = cond, .a = a, .b = b});
    }
    if (!v->a) return v;
    const at_value *a = asked(q, v->a, cond);
    return at_value_of(q->l, v, a, v->b ? asked(q, v->b, cond) : NULL);
}

static void ask(asker *q, at_ir *n, const at_cond *cond) {
    for (; n; n = n->next) {
        if (n->kind == AT_IR_STMT && n != q->sum) {
            const at_value *v = asked(q, n->stmt.val, cond);
            q->others += n->stmt.add && n->stmt.tensor == q->sum->stmt.tensor;
            if (q->change) n->stmt.val = v;
        }
        ask(q, n->child, cond);
        ask(q, n->other, cond);
    }
}

bool at_ask_late(at_low *l, const at_ir *n, at_ir *list, const at_fact *facts) {
    asker q = {.l = l, .facts = facts, .around = n->loop.sym};
    find(&q, list, 0, 0);
    if (!q.sum) return false;
    const at_cond *cond = q.sum->stmt.val->cond;
    ask(&q, list, cond);
    if (q.others) return false;
    q.change = true;
    ask(&q, list, cond);
    q.sum->stmt.val = q.term;
    return true;
}
