/* codegen/partition.c: nothing conditional is left inside a tile.
 *
 * A condition (padding, a tail) is a set of atoms `affine form >= 0`. At each loop, outside in:
 *   - an atom that no loop below changes becomes an `if` around the nest;
 *   - the innermost loop whose variable an atom has is cut where the atom changes: at a constant,
 * or, for loops that stay loops, at a bound worked out at run time (im2col: a run of zeros, a run
 * of data, a run of zeros);
 *   - where that innermost loop is unrolled or a vector, the outermost loop of the atom is cut
 * instead. The iterations in which the atom is the same throughout stay one loop, the few others
 * are peeled (left, middle and right tile), and the inner loops then see constants;
 *   - where that outermost loop is parallel, or a digit of a parallel one, it is not cut. Its body
 * comes in versions, and an `if` inside the loop chooses: the full tile, and the partial one, or
 * the few there are, each of a known size;
 *   - where an atom has a quotient of a loop's variable, and the loop stands around tiles, its
 * iterations are written out, if it is marked unroll or alone decides the atom: the quotient is a
 * number then.
 * Indices that wrap around or are bounded are conditions, too, where that helps (wrapped_index.c)
 * and is not too much.
 * Of a condition on an entry of an index tensor, which is another in each lane of a vector, both
 * sides are worked out where that can be (masks.c).
 * A term of a sum that a condition makes zero (of another reduction, the neutral element), and a
 * statement whose guard is false, vanish.
 * Needs:   addresses.
 * Ensures: statements have neither guards nor selects. */
#include "codegen/partition_int.h"

/* In all, loops and operations: each atom that says nothing of the others may double them. */
#define MOST_SIZE (1 << 18)
#define MOST_COPIES 1024 /* where some are made that need not be */

typedef struct {
    at_low *l;
    int copies, most;
    int64_t size;  /* of these: loops and what statements are made of */
    at_mask lanes; /* vector loops around */
} part;

static int64_t list_size(const at_ir *list);

static int64_t node_size(const at_ir *n) {
    if (n->kind == AT_IR_STMT) return at_value_size(n->stmt.val);
    return 1 + list_size(n->child) + list_size(n->other);
}

static int64_t list_size(const at_ir *list) {
    int64_t size = 0;
    for (; list; list = list->next) size += node_size(list);
    return size;
}

static int depth_of(const at_ir *list) {
    int deepest = 0;
    for (; list; list = list->next) {
        int below = depth_of(list->child), other = depth_of(list->other);
        if (other > below) below = other;
        if (list->kind != AT_IR_STMT && below + 1 > deepest) deepest = below + 1;
    }
    return deepest;
}

/* Leaves room for loops that later passes add. */
static bool is_too_deep(const at_ir *list) { return depth_of(list) > AT_MOST_DEPTH - 8; }

static bool is_too_much(const part *p) { return p->copies > p->most || p->size > MOST_SIZE; }

static void count_copy(part *p, int64_t size) {
    p->copies++;
    p->size += size;
}

static at_ir *copy_node(part *p, const at_ir *n) {
    count_copy(p, node_size(n));
    return at_ir_copy(p->l, n);
}

static at_ir *copy_list(part *p, const at_ir *list) {
    count_copy(p, list_size(list));
    return at_ir_copy_list(p->l, list);
}

static at_ir *part_list(part *p, at_ir *list, const at_fact *facts);
static at_ir *part_node(part *p, at_ir *n, const at_fact *facts);

/* ---- statements ------------------------------------------------------------------------------ */

static const at_fact *add_fact(at_low *l, const at_aff *atom, at_truth truth, const at_fact *next) {
    at_fact f = {atom, truth, false, next};
    return at_copy(l->arena, &f, sizeof f);
}

/* The same, of an atom that no loop below changes. */
static const at_fact *add_outside(at_low *l, const at_aff *atom, at_truth truth,
                                  const at_fact *next) {
    at_fact f = {atom, truth, true, next};
    return at_copy(l->arena, &f, sizeof f);
}

/* if (test >= 0) n else n, each made simpler by what is known in it: atom, which is how n writes
 * what is tested, holds or fails. */
static at_ir *make_if(part *p, at_ir *n, const at_aff *test, const at_aff *atom,
                      const at_fact *facts) {
    at_ir *branch = at_ir_new(p->l, AT_IR_IF);
    branch->test = test;
    at_ir *other = copy_node(p, n);
    n->next = NULL;
    branch->child = part_list(p, n, add_fact(p->l, atom, AT_HOLDS, facts));
    branch->other = part_list(p, other, add_fact(p->l, atom, AT_FAILS, facts));
    return branch->child || branch->other ? branch : NULL;
}

/* Does it store an element that is in its place? */
static bool is_there(const at_stmt *s) {
    return s->val->op == AT_V_LOAD && s->val->tensor == s->tensor && !s->add && !s->num_places &&
           at_aff_equal(s->val->at, s->at);
}

static at_ir *part_statement(part *p, at_ir *n, const at_fact *facts) {
    const at_aff *atom = at_cut_undecided(p->l, n, facts);
    if (atom && p->lanes) {
        n->stmt.val = at_value_with_masks(p->l, n->stmt.val, facts, p->lanes);
        atom = at_cut_undecided(p->l, n, facts);
    }
    if (atom) return make_if(p, n, atom, atom, facts);
    if (n->stmt.guard && at_cond_decide(p->l, n->stmt.guard, facts) == AT_C_FALSE) return NULL;
    n->stmt.guard = NULL;
    n->stmt.val = at_value_fold(p->l, n->stmt.val, facts);
    const at_type type = at_low_tensor_type(p->l, n->stmt.tensor);
    if (is_there(&n->stmt)) return NULL;
    const bool joins = n->stmt.add || n->stmt.num_places;
    return joins && at_value_is_neutral(n->stmt.val, n->stmt.reduction, type) ? NULL : n;
}

/* ---- cutting loops --------------------------------------------------------------------------- */

/* A copy of loop n with its iterations below `cut`, or those from `cut` on; NULL: there are none.
 */
static at_ir *segment(part *p, const at_ir *n, const at_aff *cut, bool below) {
    at_low *l = p->l;
    int64_t lo, hi;
    cut = at_aff_concrete(l, cut, 0);
    at_aff_range(l, cut, &lo, &hi);
    at_ir *s = copy_node(p, n);
    bool constant = cut->n == 0;
    if (below) {
        if (hi < s->loop.hi) s->loop.hi = hi;
        if (!constant || s->loop.hi_aff) s->loop.hi_aff = at_aff_min(l, at_ir_hi(l, n), cut);
    } else {
        if (lo > s->loop.lo) s->loop.lo = lo;
        if (!constant || s->loop.lo_aff) s->loop.lo_aff = at_aff_max(l, at_ir_lo(l, n), cut);
    }
    at_aff_range(l, at_aff_sub(l, at_ir_hi(l, s), at_ir_lo(l, s)), &lo, &hi);
    return s->loop.lo < s->loop.hi && hi > 0 ? s : NULL;
}

/* Loop n cut in two where `atom` changes; no loop inside n changes it. */
static at_ir *cut_at_change(part *p, at_ir *n, const at_aff *atom, const at_fact *facts) {
    at_low *l = p->l;
    const at_aff *seen = at_aff_concrete(l, at_atom_known(l, atom, facts), AT_BIT(n->loop.sym));
    int64_t k = at_aff_coef(seen, n->loop.sym);
    const at_aff *rest = at_aff_sub(l, seen, at_aff_scale(l, at_aff_sym(l, n->loop.sym), k));
    const at_aff *cut; /* first iteration of the upper part */
    if (k > 0) cut = at_aff_div(l, at_aff_shift(l, at_aff_scale(l, rest, -1), k - 1), k);
    else cut = at_aff_shift(l, at_aff_div(l, rest, -k), 1);
    bool runtime = cut->n > 0;
    if (runtime && n->loop.ann != AT_ANN_PARA) { /* a trip count is not known */
        n->loop.was_vector |= n->loop.ann == AT_ANN_VEC;
        n->loop.ann = AT_ANN_NONE;
    }
    at_ir *head = NULL, **tail = &head;
    for (int upper = 0; upper < 2; upper++) {
        at_ir *s = segment(p, n, cut, !upper);
        if (!s) continue;
        const at_fact *f = facts;
        if (runtime) f = add_fact(l, atom, (k > 0) == upper ? AT_HOLDS : AT_FAILS, facts);
        at_ir_append(&tail, part_node(p, s, f));
    }
    return head;
}

/* Loop n cut into iterations in which an atom never, sometimes and always holds. Those in the
 * middle, `first` to `last`, are peeled: each becomes a loop of one iteration. */
static at_ir *peel(part *p, at_ir *n, int64_t first, int64_t last, const at_fact *facts) {
    at_ir *head = NULL, **tail = &head;
    for (int64_t lo = n->loop.lo, hi; lo < n->loop.hi; lo = hi) {
        hi = lo < first ? first : lo <= last ? lo + 1 : n->loop.hi;
        at_ir *s = copy_node(p, n);
        s->loop.lo = lo;
        s->loop.hi = hi;
        at_ir_append(&tail, part_node(p, s, facts));
    }
    return head;
}

/* Loop n cut in three: iterations in which the atom fails throughout, changes, and holds
 * throughout. The bounds are worked out at run time, from what is known outside of n. */
static at_ir *set_apart(part *p, at_ir *n, const at_aff *atom, const at_fact *facts) {
    at_low *l = p->l;
    const at_fact *mixed = facts;
    at_cut_view v;
    at_cut_together(l, n, atom, &v, &mixed);
    const at_aff *seen = at_aff_concrete(l, v.outside, AT_BIT(n->loop.sym)), *cuts[2];
    const int64_t k = at_aff_coef(seen, n->loop.sym);
    const at_aff *outside = at_aff_sub(l, seen, at_aff_scale(l, at_aff_sym(l, n->loop.sym), k));
    for (int i = 0; i < 2;
         i++) { /* k > 0: holds from ceil((-outside - lo) / k) on, fails below ceil(... - hi) */
        int64_t inner = (i == 0) == (k > 0) ? v.hi : v.lo;
        if (k > 0)
            cuts[i] =
                at_aff_div(l, at_aff_shift(l, at_aff_scale(l, outside, -1), k - 1 - inner), k);
        else cuts[i] = at_aff_shift(l, at_aff_div(l, at_aff_shift(l, outside, inner), -k), 1);
    }
    const at_truth truth[3] = {k > 0 ? AT_FAILS : AT_HOLDS, AT_MIXED, k > 0 ? AT_HOLDS : AT_FAILS};
    at_ir *head = NULL, **tail = &head;
    for (int i = 0; i < 3; i++) {
        at_ir *s = i > 0 ? segment(p, n, cuts[i - 1], false) : n;
        if (s && i < 2) s = segment(p, s, cuts[i], true);
        if (!s || (truth[i] == AT_MIXED && v.values == 0)) continue;
        const at_fact *f = truth[i] == AT_MIXED ? mixed : add_fact(l, atom, truth[i], facts);
        if (truth[i] != AT_MIXED)
            f = add_outside(l, at_aff_shift(l, v.outside, truth[i] == AT_HOLDS ? v.lo : v.hi),
                            truth[i], f);
        else if (v.values == 1)
            f = add_outside(l, at_aff_shift(l, v.outside, -v.value), AT_ZERO, f);
        at_ir_append(&tail, part_node(p, s, f));
    }
    return head;
}

static at_ir *part_body(part *p, const at_ir *n, at_ir *list, const at_fact *facts);

/* Versions of list, which stands in n, from that of the partial size number i on downwards; i =
 * v->values: full, -1: where the atom fails throughout, which it does nowhere if least >= 0. */
static at_ir *part_versions(part *p, const at_ir *n, at_ir *list, const at_fact *facts,
                            const at_cut_view *v, int64_t i, int64_t least) {
    at_low *l = p->l;
    if (i < 0) {
        const at_aff *some = at_aff_shift(l, v->outside, v->hi);
        return part_body(p, n, list, add_outside(l, some, AT_FAILS, facts));
    }
    const bool full = i == v->values;
    const at_aff *from = at_aff_shift(l, v->outside, full ? v->lo : -(v->value + i * v->step));
    const at_fact *f = add_outside(l, from, full ? AT_HOLDS : AT_ZERO, facts);
    if (i == 0 && least >= 0) return part_body(p, n, list, f);
    at_ir *other = copy_list(p, list), *branch = at_ir_new(l, AT_IR_IF);
    branch->test = at_aff_concrete(l, from, 0);
    branch->child = part_body(p, n, list, f);
    branch->other = part_versions(p, n, other, facts, v, i - 1, least);
    return branch->child || branch->other ? branch : NULL;
}

/* The same where partial sizes are too many or not known: one version for all of them. */
static at_ir *part_mixed(part *p, const at_ir *n, at_ir *list, const at_fact *facts,
                         const at_aff *atom, const at_cut_view *v) {
    at_low *l = p->l;
    const at_aff *all = at_aff_shift(l, v->outside, v->lo),
                 *some = at_aff_shift(l, v->outside, v->hi);
    int64_t least, ignored;
    at_ir *mixed = copy_list(p, list), *full = at_ir_new(l, AT_IR_IF), *some_if = NULL;
    full->test = at_aff_concrete(l, all, 0);
    at_aff_range(l, some, &least, &ignored);
    if (least < 0) { /* it fails throughout somewhere */
        at_ir *none = copy_list(p, list);
        some_if = at_ir_new(l, AT_IR_IF);
        some_if->test = at_aff_concrete(l, some, 0);
        some_if->other = part_body(p, n, none, add_outside(l, some, AT_FAILS, facts));
    }
    full->other = part_body(p, n, mixed, add_fact(l, atom, AT_BETWEEN, facts));
    if (some_if && (full->other || some_if->other)) {
        some_if->child = full->other;
        full->other = some_if;
    }
    full->child = part_body(p, n, list, add_outside(l, all, AT_HOLDS, facts));
    return full->child || full->other ? full : NULL;
}

/* What stands in n: for each atom with versions, if (full) .. else if (partial) .. else what is
 * done where it fails throughout, if anything is. */
static at_ir *part_body(part *p, const at_ir *n, at_ir *list, const at_fact *facts) {
    at_low *l = p->l;
    at_ir here = *n;
    here.child = list;
    const at_aff *atom = at_cut_versions(l, p->copies, &here, facts);
    if (!atom) {
        at_ask_late(l, n, list, facts);
        return part_list(p, list, facts);
    }
    const at_cut_view v = at_cut_view_of(l, &here, at_atom_known(l, atom, facts));
    int64_t least, ignored;
    if (v.values < 0 || v.values > AT_CUT_MAX_VALUES)
        return part_mixed(p, n, list, facts, atom, &v);
    at_aff_range(l, at_aff_shift(l, v.outside, v.hi), &least, &ignored);
    return part_versions(p, n, list, facts, &v, v.values, least);
}

static at_ir *part_loop(part *p, at_ir *n, const at_fact *facts) {
    at_low *l = p->l;
    at_sym old = at_range_enter(l, n);
    const at_cut cut = at_cut_of_loop(l, p->copies, n, facts);
    at_ir *result = n;
    switch (cut.action) {
    case AT_CUT_AROUND: {
        /* n's variable is not known outside, unless as what others make of it */
        const at_aff *test = at_aff_concrete(l, at_atom_known(l, cut.atom, facts), 0);
        at_range_leave(l, n, old);
        return make_if(p, n, test, cut.atom, facts);
    }
    case AT_CUT_IN_TWO: result = cut_at_change(p, n, cut.atom, facts); break;
    case AT_CUT_PEEL: result = peel(p, n, cut.first, cut.last, facts); break;
    case AT_CUT_SET_APART: result = set_apart(p, n, cut.atom, facts); break;
    case AT_CUT_LEAVE:
    case AT_CUT_VERSIONS: {
        const at_mask lanes = p->lanes;
        if (n->loop.ann == AT_ANN_VEC && l->target->lanes > 1) p->lanes |= AT_BIT(n->loop.sym);
        n->child = part_body(p, n, n->child, facts);
        p->lanes = lanes;
        if (!n->child) result = NULL;
    }
    }
    at_range_leave(l, n, old);
    return result;
}

static at_ir *part_node(part *p, at_ir *n, const at_fact *facts) {
    n->next = NULL;
    if (!at_lower_goes_on(p->l) || is_too_much(p)) return n;
    if (n->kind == AT_IR_STMT) return part_statement(p, n, facts);
    return part_loop(p, n, facts);
}

static at_ir *part_list(part *p, at_ir *list, const at_fact *facts) {
    at_ir *head = NULL, **tail = &head;
    while (list) {
        at_ir *next = list->next;
        at_ir_append(&tail, part_node(p, list, facts));
        list = next;
    }
    return head;
}

/* copies: so many count as made already; most: of these and others; bends: of indices are
 * conditions, too. false: it is too much. */
static bool try_partition(at_low *l, int copies, int most, bool bends) {
    part p = {.l = l, .copies = copies, .most = most};
    at_ir *root = at_ir_copy_list(l, l->root), *pack_root = at_ir_copy_list(l, l->pack_root);
    if (bends) {
        root = at_write_out_hidden(l, root);
        pack_root = at_write_out_hidden(l, pack_root);
        at_bends_to_conditions(l, root, 0);
        at_bends_to_conditions(l, pack_root, 0);
    }
    at_find_turned_copies(l, root);
    at_find_turned_copies(l, pack_root);
    root = part_list(&p, root, NULL);
    pack_root = part_list(&p, pack_root, NULL);
    const bool is_last = copies >= AT_CUT_MAX_COPIES; /* tiles says what is too deep */
    if (is_too_much(&p) || (!is_last && (is_too_deep(root) || is_too_deep(pack_root))))
        return false;
    l->root = root;
    l->pack_root = pack_root;
    return true;
}

bool at_pass_partition(at_low *l) {
    /* At third only where there is no other way. */
    if (!try_partition(l, 0, MOST_COPIES, true) && !try_partition(l, 0, MOST_COPIES, false) &&
        !try_partition(l, AT_CUT_MAX_COPIES, MOST_SIZE, false))
        at_lower_fail(l, "conditions cut the loops into too many parts");
    return l->err->status == AT_OK;
}
