/* tests/codegen/random_tree.c: random loop trees of a random computation.
 *
 * Stages are placed from the last to the first. Each goes before its first reader, at a random
 * depth of the loops that enclose all of them; it shares those loops that run over pieces of its
 * own axes and brings the others, in random order. What is legal this way is likely, not certain:
 * the verifier decides. */
#include "tests/codegen/random_make.h"

#include <string.h>

static rp_node *node(maker *m, int i) { return &m->p->node[i]; }

static int add_node(maker *m, int parent, int before) {
    if (m->p->num_nodes == RP_NODES) {
        m->p->full = true;
        m->p->num_nodes--;
    }
    int i = m->p->num_nodes++, *link = &node(m, parent)->child;
    while (*link >= 0 && *link != before) link = &node(m, *link)->next;
    *node(m, i) = (rp_node){.parent = parent, .child = -1, .next = *link};
    *link = i;
    return i;
}

static bool has_piece(const rp_node *n, const char *piece) {
    for (int i = 0; i < n->num_pieces; i++)
        if (!strcmp(n->piece[i], piece)) return true;
    return false;
}

static bool on_path(maker *m, int at, const char *piece) {
    for (; at > 0; at = node(m, at)->parent)
        if (has_piece(node(m, at), piece)) return true;
    return false;
}

static bool encloses(maker *m, int outer, int inner) {
    while (inner > 0 && inner != outer) inner = node(m, inner)->parent;
    return inner == outer;
}

/* ---- where --------------------------------------------------------------------------------- */

static int leaf_node(maker *m, int tensor) {
    char head[RP_NAME + 4];
    size_t n = (size_t)snprintf(head, sizeof head, "@%s ", m->tensor[tensor].name);
    for (int i = 1; i < m->p->num_nodes; i++)
        if (node(m, i)->is_leaf && !strncmp(node(m, i)->leaf, head, n)) return i;
    return -1;
}

/* Leaves that read a tensor, through stages without leaf. */
static int readers(maker *m, int tensor, int *out, int n) {
    for (int s = tensor + 1; s < m->num_tensors; s++)
        for (int i = 0; i < m->tensor[s].num_reads; i++) {
            if (m->tensor[s].read[i].tensor != tensor) continue;
            if (!m->tensor[s].has_leaf) n = readers(m, s, out, n);
            else if (n < RP_NODES) out[n++] = leaf_node(m, s);
        }
    return n;
}

/* Is this class' axis of a tensor indexed by exactly that axis, wherever it is read? */
static bool read_plainly(maker *m, int tensor, int c) {
    const rp_tensor *t = &m->tensor[tensor];
    for (int s = tensor + 1; s < m->num_tensors; s++)
        for (int i = 0; i < m->tensor[s].num_reads; i++) {
            const rp_read *r = &m->tensor[s].read[i];
            if (r->tensor != tensor) continue;
            for (int d = 0; d < t->rank; d++)
                if (t->axis[d] == c && r->axis[d] != c) return false;
            if (!m->tensor[s].has_leaf && !read_plainly(m, s, c)) return false;
        }
    return true;
}

typedef struct spot {
    int parent, before;
} spot;

/* Does a place lie inside of all loops of the steps that the stage shares with its cycle's? */
static bool is_in_steps(maker *m, int tensor, int at) {
    const rp_tensor *t = &m->tensor[tensor];
    for (int d = 0; d < t->rank && t->stands_with; d++) {
        const rp_class *c = &m->cls[m->tensor[t->stands_with].axis[d]];
        for (int k = 0; k < c->num_pieces && (t->steps >> d & 1); k++)
            if (!on_path(m, at, c->piece[k])) return false;
    }
    return true;
}

static spot choose_spot(maker *m, int tensor) {
    int leaf[RP_NODES], n = readers(m, tensor, leaf, 0), path[RP_NODES], depth = 0;
    if (!n) return (spot){0, -1};
    for (int at = node(m, leaf[0])->parent;; at = node(m, at)->parent) {
        bool all = true, inside_vec = false;
        for (int i = 1; i < n; i++) all &= at == 0 || encloses(m, at, leaf[i]);
        for (int up = at; up > 0; up = node(m, up)->parent)
            inside_vec |= node(m, up)->ann == AT_ANN_VEC;
        if (all && !inside_vec && is_in_steps(m, tensor, at)) path[depth++] = at;
        if (at == 0) break;
    }
    if (!depth) path[depth++] = 0;
    spot s = {!m->tensor[tensor].stands_with && chance(m, m->tensor[tensor].packs ? 60 : 30)
                  ? 0
                  : path[below(m, depth)],
              -1};
    for (int c = node(m, s.parent)->child; c >= 0 && s.before < 0; c = node(m, c)->next)
        for (int i = 0; i < n; i++)
            if (encloses(m, c, leaf[i])) s.before = c;
    return s;
}

/* ---- loops of one stage -------------------------------------------------------------------- */

typedef struct own_loop {
    char piece[RP_NAME];
    bool reduce, dynamic, last; /* last: innermost piece of its axis */
    at_ann ann;
} own_loop;

typedef struct nest {
    int tensor;
    spot at;
    bool zero[2 * RANK]; /* axes of extent 1 written as 0 */
    bool running;        /* its sum goes on from step to step */
    int n;
    own_loop loop[40];
} nest;

static void collect_loops(maker *m, nest *x, bool clone) {
    rp_tensor *t = &m->tensor[x->tensor];
    for (int i = 0; i < t->rank + t->num_reduce; i++) {
        bool shared = false;
        const rp_class *c = &m->cls[t->axis[i]];
        for (int k = 0; k < c->num_pieces; k++) shared |= on_path(m, x->at.parent, c->piece[k]);
        if (x->running && i >= t->rank) {
            x->zero[i] = true;
            continue;
        }
        bool must = shared && (i >= t->rank || !read_plainly(m, x->tensor, t->axis[i]));
        const bool is_step = t->in_cycle && t->steps >> i & 1;
        if (must || (clone && !is_step && chance(m, 12))) {
            t->axis[i] = clone_class(m, t->axis[i]);
            c = &m->cls[t->axis[i]];
        }
        x->zero[i] = !shared && !strcmp(c->extent, "1") && chance(m, 50);
        for (int k = 0; k < c->num_pieces && !x->zero[i]; k++) {
            if (on_path(m, x->at.parent, c->piece[k]) || x->n == 40) continue;
            own_loop *o = &x->loop[x->n++];
            *o = (own_loop){.reduce = i >= t->rank, .dynamic = c->dynamic};
            o->last = k == c->num_pieces - 1;
            memcpy(o->piece, c->piece[k], RP_NAME);
        }
    }
}

static void swap(own_loop *a, own_loop *b) {
    own_loop o = *a;
    *a = *b;
    *b = o;
}

static int rank_of(const own_loop *o) { return o->reduce ? 1 : o->last ? 2 : 0; }

static void order_loops(maker *m, nest *x) {
    const rp_tensor *t = &m->tensor[x->tensor];
    for (int i = x->n - 1; i > 0; i--) swap(&x->loop[i], &x->loop[below(m, i + 1)]);
    if (chance(m, 60)) /* as a person would: outer parts, reductions, inner parts */
        for (int i = 1; i < x->n; i++)
            for (int k = i; k > 0 && rank_of(&x->loop[k - 1]) > rank_of(&x->loop[k]); k--)
                swap(&x->loop[k - 1], &x->loop[k]);
    for (int i = 0; i < t->rank; i++) { /* a dynamic loop inside what its bounds depend on */
        if (strcmp(t->axis_name[i], t->dyn)) continue;
        const rp_class *c = &m->cls[t->axis[i]];
        for (int d = 0; d < x->n; d++) {
            int last = d;
            for (int k = d + 1; x->loop[d].dynamic && k < x->n; k++)
                for (int p = 0; p < c->num_pieces; p++)
                    if (!strcmp(x->loop[k].piece, c->piece[p])) last = k;
            for (int k = d; k < last; k++) swap(&x->loop[k], &x->loop[k + 1]);
            if (last > d) break;
        }
    }
}

/* Which part of its axis a loop is that a stage goes along step by step; -1: of another one. */
static int step_of(maker *m, const nest *x, const own_loop *o, int *axis) {
    const rp_tensor *t = &m->tensor[x->tensor];
    const unsigned steps = x->running ? 1 : t->steps;
    for (*axis = 0; *axis < t->rank; ++*axis) {
        const rp_class *c = &m->cls[t->axis[*axis]];
        for (int k = 0; k < c->num_pieces && (steps >> *axis & 1); k++)
            if (!strcmp(o->piece, c->piece[k])) return k;
    }
    return -1;
}

/* Parts of one axis in their order; often all of them outside of the others. */
static void order_steps(maker *m, nest *x) {
    int axis, other_axis, first = 0;
    for (int i = 0; i < x->n; i++)
        for (int k = i + 1; k < x->n; k++) {
            int one = step_of(m, x, &x->loop[i], &axis),
                other = step_of(m, x, &x->loop[k], &other_axis);
            if (other >= 0 && axis == other_axis && one > other) swap(&x->loop[i], &x->loop[k]);
        }
    if (!m->tensor[x->tensor].steps || chance(m, m->tensor[x->tensor].in_cycle ? 15 : 40)) return;
    for (int i = 0; i < x->n; i++) {
        if (step_of(m, x, &x->loop[i], &axis) < 0) continue;
        for (int k = i; k > first; k--) swap(&x->loop[k], &x->loop[k - 1]);
        first++;
    }
}

/* Those are seldom written out, as rules refuse that. */
static bool is_cycle_step(maker *m, const nest *x, int loop) {
    int axis;
    return m->tensor[x->tensor].in_cycle && step_of(m, x, &x->loop[loop], &axis) >= 0 &&
           chance(m, 95);
}

static void annotate(maker *m, nest *x) {
    int vec = -1, from = x->n, axis;
    for (int i = 0; i < x->n; i++)
        if ((!x->loop[i].reduce || chance(m, 35)) && (vec < 0 || chance(m, 80)) &&
            step_of(m, x, &x->loop[i], &axis) < 0)
            vec = i;
    for (int i = vec < 0 ? 0 : vec; vec >= 0 && i < x->n; i++)
        if ((x->loop[i].dynamic && i > vec) || (i > vec && x->n - vec > 3 && chance(m, 70)))
            vec = -1;
    if (vec >= 0 && chance(m, 65)) {
        x->loop[vec].ann = AT_ANN_VEC;
        for (int i = vec + 1; i < x->n; i++) x->loop[i].ann = AT_ANN_UNROLL;
        from = vec;
    }
    for (int i = from - 1; i >= 0 && chance(m, m->big ? 70 : 45); i--)
        if (!x->loop[i].dynamic && !is_cycle_step(m, x, i)) x->loop[i].ann = AT_ANN_UNROLL;
    for (int i = 0; i < from; i++)
        if (!x->loop[i].dynamic && chance(m, 4) && !is_cycle_step(m, x, i))
            x->loop[i].ann = AT_ANN_UNROLL;
}

static void add_index(maker *m, at_text *out, const char *axis, const rp_class *c) {
    if (c->num_pieces == 1 && chance(m, 85)) {
        at_text_add(out, c->piece[0]);
        return;
    }
    for (int k = 0; k < c->num_pieces; k++) at_text_addf(out, "%s%s", k ? ", " : "{", c->piece[k]);
    static const char *const ends[] = {"}/%s", "}/%s", "}%s", "}"};
    int end = below(m, 4);
    if (end < 3) at_text_addf(out, end < 2 ? "}/%s" : "}%s", axis);
    else at_text_add(out, ends[end]);
}

/* How a stage between lies: outputs lie as the task has them. */
static void add_layout(maker *m, const nest *x, at_text *out) {
    const rp_tensor *t = &m->tensor[x->tensor];
    int leaf[RP_NODES], order[RANK];
    if (!readers(m, x->tensor, leaf, 0)) return;
    if (chance(m, 10)) at_text_add(out, "[dense] ");
    else if (chance(m, 10)) at_text_addf(out, "[pad %d] ", below(m, 40));
    if (!chance(m, 15)) return;
    for (int i = 0; i < t->rank; i++) order[i] = i;
    for (int i = t->rank - 1; i > 0; i--) {
        int other = below(m, i + 1), old = order[i];
        order[i] = order[other];
        order[other] = old;
    }
    at_text_add(out, "[order");
    for (int i = 0; i < t->rank; i++) at_text_addf(out, " %s", t->axis_name[order[i]]);
    at_text_add(out, "] ");
}

static void write_leaf(maker *m, const nest *x, bool init, char out[2 * RP_EXPR]) {
    const rp_tensor *t = &m->tensor[x->tensor];
    at_text s = {0};
    at_text_addf(&s, "@%s%s ", t->name, init ? ".init" : "");
    if (!init && t->num_reads && chance(m, 10)) {
        const char *read = m->tensor[t->read[below(m, t->num_reads)].tensor].name;
        at_text_addf(&s, "[prefetch %s %d] ", read, 64 * below(m, 40));
    }
    if (!init && x->running) at_text_add(&s, "[running] ");
    if (!init) add_layout(m, x, &s);
    at_text_add(&s, "= ");
    for (int i = 0; i < t->rank + (init ? 0 : t->num_reduce); i++) {
        at_text_add(&s, i == t->rank ? "  // " : i ? ", " : "");
        if (x->zero[i]) at_text_add(&s, "0");
        else add_index(m, &s, t->axis_name[i], &m->cls[t->axis[i]]);
    }
    if (s.len >= 2 * RP_EXPR) m->p->full = true;
    else memcpy(out, s.data, s.len + 1);
    at_text_free(&s);
}

static int insert_nest(maker *m, const nest *x, bool init) {
    int at = x->at.parent, before = x->at.before;
    for (int i = 0; i < x->n; i++) {
        const own_loop *o = &x->loop[i];
        at = add_node(m, at, before);
        before = -1;
        rp_node *n = node(m, at);
        n->num_pieces = 1;
        memcpy(n->piece[0], o->piece, RP_NAME);
        n->ann = o->ann;
        n->reduce = o->reduce;
        n->own_line = chance(m, 20);
        if (o->dynamic) snprintf(n->dyn, sizeof n->dyn, "%s", m->tensor[x->tensor].dyn);
    }
    int leaf = add_node(m, at, before);
    node(m, leaf)->is_leaf = true;
    node(m, leaf)->own_line = chance(m, 80);
    write_leaf(m, x, init, node(m, leaf)->leaf);
    return leaf;
}

/* An init written out: somewhere between the stage's place and its first reduction loop. */
static void insert_init(maker *m, const nest *sum, int leaf) {
    int path[RP_NODES], depth = 0;
    for (int at = leaf; at != sum->at.parent; at = node(m, at)->parent) path[depth++] = at;
    int outermost = depth - 1; /* of the reductions */
    while (outermost > 0 && !node(m, path[outermost])->reduce) outermost--;
    int i = outermost + below(m, depth - outermost);
    nest x = *sum;
    x.n = 0;
    x.at = (spot){node(m, path[i])->parent, path[i]};
    for (int k = 0; k < sum->n; k++) {
        if (sum->loop[k].reduce || on_path(m, x.at.parent, sum->loop[k].piece)) continue;
        x.loop[x.n] = sum->loop[k];
        x.loop[x.n++].ann = AT_ANN_NONE;
    }
    for (int k = x.n - 1; k > 0; k--) swap(&x.loop[k], &x.loop[below(m, k + 1)]);
    annotate(m, &x);
    insert_nest(m, &x, true);
}

static void place(maker *m, int tensor) {
    nest x = {.tensor = tensor, .at = choose_spot(m, tensor)};
    x.running = m->tensor[tensor].runs && chance(m, 60);
    collect_loops(m, &x, true);
    order_loops(m, &x);
    order_steps(m, &x);
    annotate(m, &x);
    int leaf = insert_nest(m, &x, false);
    if (m->tensor[tensor].num_reduce && !x.running && chance(m, 25)) insert_init(m, &x, leaf);
}

/* ---- afterwards ---------------------------------------------------------------------------- */

/* A loop that nothing inside uses: its nests run again and again. */
static void add_ignored(maker *m) {
    int i = 1 + below(m, m->p->num_nodes - 1), parent = node(m, i)->parent, next = node(m, i)->next;
    int loop = add_node(m, parent, i);
    rp_node *n = node(m, loop);
    n->num_pieces = 1;
    fresh_name(m, "rep", n->piece[0]);
    if (chance(m, 50)) n->fixed = 1 + below(m, 3);
    else add_size(m, n->piece[0], 1 + below(m, 3), "");
    n->next = next;
    n->child = i;
    node(m, i)->parent = loop;
    node(m, i)->next = -1;
    if (!n->fixed && chance(m, 50)) n->ann = AT_ANN_UNROLL;
}

/* A loop and the only one inside become one. */
static void fuse(maker *m, int i) {
    rp_node *n = node(m, i);
    if (n->child < 0) return;
    const rp_node *c = node(m, n->child);
    if (c->is_leaf || c->next >= 0 || c->ann != n->ann || c->reduce != n->reduce) return;
    if (*c->dyn || *n->dyn || c->fixed || n->fixed ||
        n->num_pieces + c->num_pieces > (chance(m, 20) ? RP_FUSED : 4))
        return;
    for (int k = 0; k < c->num_pieces; k++) memcpy(n->piece[n->num_pieces++], c->piece[k], RP_NAME);
    n->child = c->child;
    for (int k = n->child; k >= 0; k = node(m, k)->next) node(m, k)->parent = i;
}

/* A loop around a vector becomes a part of it. */
static void widen(maker *m, int i) {
    rp_node *n = node(m, i);
    const int child = n->child, before = n->num_pieces;
    const at_ann ann = n->ann;
    if (child < 0 || node(m, child)->is_leaf || node(m, child)->ann != AT_ANN_VEC) return;
    n->ann = AT_ANN_VEC;
    fuse(m, i);
    if (n->num_pieces == before) n->ann = ann;
}

static void make_parallel(maker *m) {
    for (int i = node(m, 0)->child; i >= 0; i = node(m, i)->next) {
        int at = i;
        while (chance(m, 25) && !node(m, at)->is_leaf && node(m, at)->ann == AT_ANN_NONE)
            at = node(m, at)->child;
        rp_node *n = node(m, at);
        if (!n->is_leaf && !n->reduce && n->ann == AT_ANN_NONE && chance(m, 30))
            n->ann = AT_ANN_PARA;
    }
}

void make_tree(maker *m) {
    m->p->num_nodes = 1;
    m->p->node[0] = (rp_node){.parent = -1, .child = -1, .next = -1};
    for (int t = 0; t < m->num_tensors; t++) {
        rp_tensor *s = &m->tensor[t];
        s->has_leaf = s->is_stage &&
                      (s->num_reduce || !s->is_read || s->steps || chance(m, s->packs ? 90 : 60));
    }
    for (int t = m->num_tensors - 1; t >= 0; t--)
        if (m->tensor[t].has_leaf && !m->p->full) place(m, t);
    if (chance(m, 15) && !m->p->full) add_ignored(m);
    for (int i = 1; i < m->p->num_nodes; i++)
        if (chance(m, 12)) fuse(m, i);
    make_parallel(m);
    for (int i = 1; i < m->p->num_nodes; i++) /* a parallel loop is often a fused one */
        if (node(m, i)->ann == AT_ANN_PARA && chance(m, 50) && node(m, i)->child >= 0 &&
            node(m, node(m, i)->child)->ann == AT_ANN_NONE) {
            node(m, i)->ann = AT_ANN_NONE;
            fuse(m, i);
            node(m, i)->ann = AT_ANN_PARA;
        }
    for (int i = 1; i < m->p->num_nodes; i++)
        if (node(m, i)->ann != AT_ANN_PARA && chance(m, 15)) widen(m, i);
}

void random_program_make(uint64_t seed, random_program *p) {
    maker m = {.p = p};
    memset(p, 0, sizeof *p);
    p->seed = seed;
    at_rng_seed(&m.rng, seed, 11);
    m.nasty = chance(&m, 12);
    m.big = chance(&m, 12);
    p->pack_inline = chance(&m, 40);
    make_compute(&m);
    make_tree(&m);
}
