/* schedule/nest.c: from a program to loops and strided accesses. What the search learns from should
 * cost next to nothing: no text is made, and an index expression is evaluated at two points per
 * loop instead of being simplified. A stride is how far an access moves in its buffer when the loop
 * takes its first step, all others standing at 0; for affine indices that is the coefficient. */
#include "schedule/nest.h"

#include "schedule/access.h"
#include "schedule/schedule_int.h"

typedef struct builder {
    at_arena *arena;
    const at_program *p;
    nest *n;
    const at_node **scope; /* [tensor] the loop its buffer lives in, NULL: the root */
    int *accesses_of;      /* [tensor] so far */
    int *loop_number;      /* [node id], -1: left out */
} builder;

/* Loops around initialisations alone are no part of AutoTVM's programs. */
static bool does_work(const at_node *n) {
    if (n->is_leaf) return !n->is_init;
    for (const at_node *c = n->child; c; c = c->next)
        if (does_work(c)) return true;
    return false;
}

/* ---- operations ------------------------------------------------------------------------------ */

/* Adds the float operations of an expression to its loop; is the expression a float itself? */
static bool count_operations(const at_compute *c, const at_expr *e, nest_loop *l) {
    bool is_float =
        e->op == AT_X_FLOAT || (e->op == AT_X_INDEX && !at_tensor_has_entries(&c->tensors[e->ref]));
    if (e->op == AT_X_INDEX) return is_float;
    for (int i = 0; i < e->nargs; i++) is_float |= count_operations(c, e->arg[i], l);
    if (!is_float) return false;
    if (e->op == AT_X_ADD || e->op == AT_X_SUB) l->adds++;
    if (e->op == AT_X_MUL) l->muls++;
    if (e->op == AT_X_DIV || e->op == AT_X_MOD) l->divs++;
    return true;
}

/* ---- buffers --------------------------------------------------------------------------------- */

/* Elements between neighbours along each axis of a tensor's buffer: what one iteration of its scope
 * holds, row by row. */
static void buffer_strides(const builder *b, int tensor, const at_node *leaf, int64_t *out) {
    int n = b->p->compute->tensors[tensor].num_axes;
    const at_node *scope = b->scope[tensor];
    int64_t product = 1;
    for (int i = n - 1; i >= 0; i--) {
        out[i] = product;
        int64_t extent = 1;
        if (!leaf) extent = b->p->extents[tensor][i];
        for (int d = 0; leaf && d < leaf->axes[i].n; d++)
            if (!scope || leaf->axes[i].loop[d]->depth > scope->depth)
                extent *= leaf->axes[i].extent[d] > 0 ? leaf->axes[i].extent[d] : 1;
        product *= extent > 0 ? extent : 1;
    }
}

/* How far each axis of a leaf moves with the first step of a loop: a fused loop steps its innermost
 * member that has a second value. False: none moves. */
static bool axis_steps(const at_node *leaf, const at_node *loop, int64_t *out) {
    bool moves = false;
    int member = loop->num_pieces - 1;
    while (member > 0 && loop->piece_extent[member] == 1) member--;
    for (int i = 0; i < leaf->num_axes; i++) {
        const at_digits *x = &leaf->axes[i];
        int64_t inner = 1;
        out[i] = 0;
        for (int d = x->n - 1; d >= 0; d--) {
            if (x->loop[d] == loop && x->member[d] == member) out[i] = inner, moves = true;
            inner *= x->extent[d] > 0 ? x->extent[d] : 1;
        }
    }
    return moves;
}

/* ---- accesses -------------------------------------------------------------------------------- */

static nest_access *add_access(builder *b, const at_node *leaf, int tensor) {
    nest_access *x = &b->n->accesses[b->n->num_accesses++];
    *x = (nest_access){.buffer = b->p->compute->tensors[tensor].name,
                       .number = b->accesses_of[tensor]++,
                       .loop = leaf->parent ? b->loop_number[leaf->parent->id] : -1,
                       .depth = leaf->depth};
    x->touch = AT_NEW_ARRAY(b->arena, nest_touch, x->depth);
    return x;
}

static bool fits(const builder *b, const at_node *leaf) {
    int num_reads = info_of(b->p->compute)->info[leaf->tensor].num_reads;
    return b->n->num_accesses + 2 + num_reads <= NEST_MAX_ACCESSES;
}

/* One leaf's accesses: what it stores, its own sum read back, then its reads from left to right. */
static void add_leaf(builder *b, const at_node *leaf, const at_node *const *leaf_of) {
    const at_program *p = b->p;
    const at_tensor *t = &p->compute->tensors[leaf->tensor];
    const tensor_info *info = &info_of(p->compute)->info[leaf->tensor];
    int64_t zero[MAX_AXES] = {0}, step[MAX_AXES], strides[MAX_AXES], by[MAX_AXES];
    int stores = t->num_reduce ? 2 : 1, num = stores + info->num_reads;
    int64_t *origin = AT_NEW_ARRAY(b->arena, int64_t, info->num_reads * MAX_AXES);
    int64_t *read_strides = AT_NEW_ARRAY(b->arena, int64_t, info->num_reads * MAX_AXES);
    nest_access **x = AT_NEW_ARRAY(b->arena, nest_access *, num);
    if (leaf->parent) {
        nest_loop *l = &b->n->loops[b->loop_number[leaf->parent->id]];
        count_operations(p->compute, t->body, l);
        l->adds += t->num_reduce > 0;
    }
    for (int i = 0; i < stores; i++) x[i] = add_access(b, leaf, leaf->tensor);
    buffer_strides(b, leaf->tensor, leaf, strides);
    for (int r = 0; r < info->num_reads; r++) {
        const at_expr *e = info->reads[r];
        x[stores + r] = add_access(b, leaf, e->ref);
        buffer_strides(b, e->ref, leaf_of[e->ref], read_strides + r * MAX_AXES);
        at_chain_index(p, &(at_chain){{e}, 1}, zero, e->nargs, origin + r * MAX_AXES);
    }
    for (const at_node *l = leaf->parent; l; l = l->parent) {
        if (l->extent == 1 || !axis_steps(leaf, l, step)) continue;
        const at_node *scope = b->scope[leaf->tensor];
        if (!scope || l->depth > scope->depth)
            for (int i = 0; i < stores; i++)
                for (int k = 0; k < t->num_axes; k++)
                    x[i]->touch[l->depth].stride += (double)(step[k] * strides[k]);
        for (int r = 0; r < info->num_reads; r++) {
            const at_expr *e = info->reads[r];
            scope = b->scope[e->ref];
            if (scope && l->depth <= scope->depth) continue;
            x[stores + r]->touch[l->depth].stride =
                (double)at_chain_moved(p, &(at_chain){{e}, 1}, step, origin + r * MAX_AXES,
                                       read_strides + r * MAX_AXES, e->nargs, by);
        }
    }
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void collect(const at_node *n, const at_node **leaves, int *num, const at_node **leaf_of) {
    for (; n; n = n->next) {
        if (n->is_leaf) {
            leaves[(*num)++] = n;
            if (!n->is_init) leaf_of[n->tensor] = n;
        }
        collect(n->child, leaves, num, leaf_of);
    }
}

static void add_loops(builder *b, const at_node *n, int parent) {
    for (; n; n = n->next) {
        if (n->is_leaf || !does_work(n)) continue;
        int number = b->n->num_loops++;
        b->loop_number[n->id] = number;
        b->n->loops[number] = (nest_loop){
            .parent = parent, .extent = n->extent > 0 ? (double)n->extent : 1, .ann = n->ann};
        add_loops(b, n->child, number);
    }
}

void nest_of_program(at_arena *a, const at_program *p, nest *out) {
    const at_compute *c = p->compute;
    int pieces = 0, num_leaves = 0, most = 0;
    int count = count_leaves(p->root, &pieces);
    const at_node **leaves = AT_NEW_ARRAY(a, const at_node *, count);
    const at_node **leaf_of = AT_NEW_ARRAY(a, const at_node *, c->num_tensors);
    builder b = {.arena = a, .p = p, .n = out};
    b.scope = AT_NEW_ARRAY(a, const at_node *, c->num_tensors);
    b.accesses_of = AT_NEW_ARRAY(a, int, c->num_tensors);
    b.loop_number = AT_NEW_ARRAY(a, int, p->num_loops);
    collect(p->root, leaves, &num_leaves, leaf_of);
    stage_scopes(p, num_leaves, leaves, leaf_of, b.scope);
    for (int i = 0; i < num_leaves; i++)
        if (!leaves[i]->is_init) most += 2 + info_of(c)->info[leaves[i]->tensor].num_reads;
    *out = (nest){.loops = AT_NEW_ARRAY(a, nest_loop, p->num_loops),
                  .accesses = AT_NEW_ARRAY(a, nest_access, most)};
    add_loops(&b, p->root, -1);
    for (int i = 0; i < num_leaves; i++)
        if (!leaves[i]->is_init && fits(&b, leaves[i])) add_leaf(&b, leaves[i], leaf_of);
}
