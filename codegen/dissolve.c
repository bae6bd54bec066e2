/* codegen/dissolve.c: the built tree becomes loops and statements with affine indices.
 *
 * Stages without a leaf are substituted into their readers. Loops of extent 1 go; fused loops
 * become nested ones (a fused parallel loop or vector stays one, its members are digits).
 * Needs:   a verified program.
 * Ensures: every index is an affine form; statements carry guards for tails. */
#include "codegen/dissolve.h"
#include "codegen/weight_blocks.h"
#include "codegen/tile/tile_parts.h"

#include <string.h>

/* How far ahead weights are asked for. Measured on 9 MB of them: 4 to 16 KB are alike, 1 KB helps
 * less. Of inputs, which may lie apart, so many steps at least. */
#define PREFETCH_BYTES 8192
#define PREFETCH_LEAST_STEPS 8
/* The machine's own prefetcher brings longer runs that a loop goes along. Of rows that dot products
 * go along four at a time, from memory and from the third-level cache, an asking made those of 1
 * and 2 KB 1.01 to 1.21 times as fast, those of 3 KB 0.93 to 0.97, and those of 4 and 64 KB 0.78 to
 * 0.96. */
#define PREFETCH_MOST_RUN 2048
/* Where a leaf goes along them, the machine's own prefetcher brings the lines between: of 9 MB of
 * weights from memory each line took 1.5 times as long as every fourth, in pages of 4 KB. Beside so
 * many operations on each line an asking is little, and the prefetcher begins anew in each page:
 * of 64 MB each line takes 0.70 of the time where 16 rows share it, 0.87 of 8, 0.95 of 5. */
#define PREFETCH_LINES_APART 4
#define PREFETCH_EACH_USES 5

/* Beside a loop that goes on elsewhere than where it ends, the machine's prefetcher brings what
 * the third-level cache has: the most of 14 to 512 rows, by 64 to 1024 B of each, takes 0.58 to 0.8
 * of the time without an asking, and of 1000 rows from memory 1.2 to 1.35 of it. So many times as
 * far as it asks such a loop must go at least. */
#define PREFETCH_LEAST_LOOP 4

typedef struct {
    at_low *l;
    const at_aff ***member; /* [loop id][piece]: value of a loop piece */
    int *sym; /* [loop id * 8 + piece]: its loop symbol, -1 for none; the whole of one that stays */
    int num_before; /* symbols of the nests before this one */
    int last;       /* of this one; -1: it has none so far */
} scope;

#define MAX_PIECES 64 /* of one path: the parser allows no more */

static const at_tensor *tensor_of(const at_low *l, int t) {
    return &l->program->compute->tensors[t];
}

/* ---- loops and leaves ------------------------------------------------------------------------ */

/* A loop's symbol: that of a loop of the same name and length in a nest before this one, if there
 * is one; a network of equal layers needs no more of them than one layer. In each nest they ascend,
 * so that forms have their terms in the order of its loops. */
static int loop_symbol(scope *s, const char *name, int64_t extent) {
    at_low *l = s->l;
    for (int i = s->last + 1; i < s->num_before; i++) {
        const at_sym *x = &l->syms.data[i];
        if (x->hi == extent - 1 && !strcmp(x->name, name)) return s->last = i;
    }
    return s->last = at_sym_loop(l, name, extent);
}

/* How many turns of a loop there can be whose bounds are data; 2 and more, since it may have none.
 */
static int64_t most_turns(at_low *l, const at_node *n) {
    int64_t lo, hi;
    at_compute_axis_range(l->program->compute, l->program->extents, n->dyn_tensor, n->dyn_axis, &lo,
                          &hi);
    return hi <= lo ? 2 : hi - lo < INT32_MAX ? hi - lo + 1 : INT32_MAX;
}

static bool stays_fused(const at_node *n) {
    return (n->ann == AT_ANN_PARA || n->ann == AT_ANN_VEC) && n->num_pieces > 1 && n->extent > 1;
}

/* Of a node and all below. */
static void make_symbols(scope *s, const at_node *n) {
    at_low *l = s->l;
    if (n->is_leaf) return;
    int *sym = s->sym + n->id * MAX_PIECES;
    const at_aff **member = AT_NEW_ARRAY(l->arena, const at_aff *, MAX_PIECES);
    s->member[n->id] = member;
    const at_aff *whole = NULL;
    if (stays_fused(n)) {
        sym[0] = loop_symbol(s, l->program->piece_names[n->piece[0]], n->extent);
        whole = at_aff_sym(l, sym[0]);
    }
    for (int i = n->num_pieces - 1; i >= 0; i--) {
        int64_t extent = n->extent < 0 ? most_turns(l, n) : n->piece_extent[i];
        if (whole) {
            member[i] = i ? at_aff_mod(l, whole, extent) : whole;
            whole = at_aff_div(l, whole, extent);
            if (i) sym[i] = -1;
        } else if (extent == 1) {
            sym[i] = -1;
            member[i] = at_aff_const(l, 0);
        } else {
            sym[i] = loop_symbol(s, l->program->piece_names[n->piece[i]], extent);
            member[i] = at_aff_sym(l, sym[i]);
        }
    }
    for (const at_node *c = n->child; c; c = c->next) make_symbols(s, c);
}

/* The value of each axis of a leaf, as a form of the loops around it; a data-dependent reduction
 * starts at its begin. Where the loops go beyond an axis (a tail), *guard says that the value is
 * within. Bounds of data-dependent loops are worked out before any guard is asked, in tails too. So
 * they use axes that stop at their last value; with guard NULL these are what is returned. */
static const at_aff **leaf_axes(scope *s, const at_node *leaf, const at_cond **guard) {
    at_low *l = s->l;
    const at_tensor *t = tensor_of(l, leaf->tensor);
    int n = t->num_axes + (leaf->is_init ? 0 : t->num_reduce);
    const at_aff **axes = AT_NEW_ARRAY(l->arena, const at_aff *, t->num_axes + t->num_reduce);
    const at_aff **inside = AT_NEW_ARRAY(l->arena, const at_aff *, t->num_axes + t->num_reduce);
    for (int i = 0; i < n; i++) {
        const at_digits *d = &leaf->axes[i];
        const at_aff *x = at_aff_const(l, 0);
        for (int j = 0; j < d->n; j++) {
            const at_aff *piece = s->member[d->loop[j]->id][d->member[j]];
            x = at_aff_add(l, at_aff_scale(l, x, d->extent[j] < 0 ? 1 : d->extent[j]), piece);
        }
        int64_t extent = l->program->extents[leaf->tensor][i], lo, hi;
        if (extent < 0 && leaf->is_running) {
            axes[i] = inside[i] = at_aff_shift(l, x, -at_running_lag(t));
            continue;
        }
        if (extent < 0) { /* data-dependent: spatial axes come first, so they are known */
            axes[i] = at_aff_add(l, at_index_expr(l, t->axes[i].begin, inside), x);
            continue;
        }
        axes[i] = inside[i] = x;
        at_aff_range(l, x, &lo, &hi);
        if (hi >= extent) inside[i] = at_aff_min(l, x, at_aff_const(l, extent - 1));
        if (hi >= extent && guard) {
            const at_cond *c =
                at_cond_not_negative(l, at_aff_sub(l, at_aff_const(l, extent - 1), x));
            *guard = *guard ? at_cond_new(l, AT_C_AND, NULL, *guard, c) : c;
        }
    }
    return guard ? axes : inside;
}

static int64_t elements_of(const at_low *l, int tensor) {
    return at_tensor_elements(tensor_of(l, tensor), l->program->extents[tensor]);
}

static int64_t bytes_of(const at_low *l, int tensor) {
    return elements_of(l, tensor) * at_type_bytes(tensor_of(l, tensor)->type);
}

/* Of a tensor that is too large for the second-level cache, so that it comes from beyond in each
 * run. */
static bool is_far(const at_low *l, int tensor) {
    return bytes_of(l, tensor) > l->options->prefetch_above;
}

static bool is_far_weight(const at_expr *e, const void *low) {
    const at_tensor *t = e->op == AT_X_INDEX ? tensor_of(low, e->ref) : NULL;
    return t && (t->role == AT_ROLE_WEIGHT || t->is_packing) && is_far(low, e->ref);
}

/* Where a value reads the tensor: its element, if rows of it lie one behind the other; NULL: it
 * does not. */
static const at_aff *element_read(at_low *l, const at_value *v, int tensor) {
    const at_aff *of = NULL;
    if (v->op == AT_V_LOAD && v->tensor == tensor) {
        of = at_aff_const(l, 0);
        for (int i = 0; i < tensor_of(l, tensor)->num_axes; i++)
            of = at_aff_add(l, at_aff_scale(l, of, l->program->extents[tensor][i]), v->ix[i]);
    }
    if (!of && v->a) of = element_read(l, v->a, tensor);
    if (!of && v->b) of = element_read(l, v->b, tensor);
    return of;
}

static bool is_written_out(const at_node *loop) {
    return loop->ann == AT_ANN_UNROLL || loop->ann == AT_ANN_VEC ||
           (loop->extent >= 0 && loop->extent <= AT_THIN_STEPS);
}

/* Is the innermost loop of a sum's leaf that is not written out one of its terms? Else what it
 * reads as it goes along lies side by side, and comes without being asked for. */
static bool goes_over_terms(const at_low *l, const at_node *leaf) {
    const at_tensor *t = tensor_of(l, leaf->tensor);
    const at_node *loop = leaf->parent;
    while (loop && is_written_out(loop)) loop = loop->parent;
    for (int i = t->num_axes; i < leaf->num_axes; i++)
        for (int d = 0; d < leaf->axes[i].n; d++)
            if (!loop || leaf->axes[i].loop[d] == loop) return true;
    return false;
}

typedef struct piece {    /* of a loop around a read of weights */
    int sym;              /* symbol, which is */
    int64_t by;           /* so much in the piece's second turn */
    const at_aff *member; /* its value */
} piece;
typedef struct around {
    piece piece[MAX_PIECES];
    at_weights_loop turns[MAX_PIECES];
    int num; /* the outermost first */
} around;

/* Adds the loop's pieces behind those of the loops around it. */
static void add_around(scope *s, const at_node *loop, around *a) {
    if (!loop) return;
    add_around(s, loop->parent, a);
    int64_t by = 1;
    const int *sym = s->sym + loop->id * MAX_PIECES, begin = a->num;
    const bool fused = stays_fused(loop);
    for (int i = 0; i < loop->num_pieces && loop->extent != 1; i++) {
        const int64_t extent = loop->extent < 0 ? most_turns(s->l, loop) : loop->piece_extent[i];
        if (extent == 1 || a->num == MAX_PIECES) continue;
        a->piece[a->num] = (piece){sym[fused ? 0 : i], 1, s->member[loop->id][i]};
        a->turns[a->num++] =
            (at_weights_loop){.extent = extent,
                              .is_reduce = loop->is_reduce,
                              .is_written_out = loop->ann == AT_ANN_VEC ||
                                                (loop->ann == AT_ANN_UNROLL && !loop->is_reduce)};
    }
    for (int i = a->num - 1; fused && i >= begin; i--)
        a->piece[i].by = by, by *= a->turns[i].extent;
}

/* By how much x grows from a piece's first turn to the second; false: other pieces decide it. */
static bool find_growth(at_low *l, const at_aff *x, const piece *p, int64_t *out) {
    const at_aff *there = at_aff_subst(l, x, p->sym, at_aff_const(l, p->by)),
                 *here = at_aff_subst(l, x, p->sym, at_aff_const(l, 0)),
                 *apart = at_aff_sub(l, there, here);
    *out = apart->c;
    return !apart->n;
}

enum { MOST_AHEAD_LINES = 64, MOST_STREAMS = 4 };

/* The loops around a leaf that reads a tensor, and how they move it; false: something else decides
 * where that is. */
static bool find_around(scope *s, const at_node *leaf, const at_value *v, int tensor, around *a) {
    const at_aff *at = element_read(s->l, v, tensor);
    a->num = 0;
    add_around(s, leaf->parent, a);
    for (int i = 0; i < a->num && at; i++)
        if (!find_growth(s->l, at, &a->piece[i], &a->turns[i].growth)) at = NULL;
    return at;
}

/* A statement that streams weights asks for the next block of them, where there are blocks. */
static void ask_ahead(at_low *l, const around *a, int weights, at_stmt *n) {
    const at_lower_options *o = l->options;
    const int64_t bytes = at_type_bytes(tensor_of(l, weights)->type), line = AT_LINE_BYTES / bytes;
    if (!o->prefetch_room || o->dialect == AT_DIALECT_C) return;
    const int b = at_ahead_loop(a->turns, a->num, o->prefetch_room / bytes);
    if (b < 0) return;
    const int64_t turns = at_ahead_turns(a->turns, a->num, b);
    int64_t elements = (a->turns[b].growth + turns - 1) / turns;
    if (elements > MOST_AHEAD_LINES * line) return; /* it would have little else to do */
    n->ahead_lines = (int)((elements + line - 1) / line);
    n->ahead = at_aff_const(l, a->turns[b].growth);
    for (int i = a->num - 1; i >= 0; i--) {
        if (a->turns[i].is_written_out) continue;
        n->ahead = at_aff_add_times(l, n->ahead, a->piece[i].member,
                                    i > b ? elements : a->turns[i].growth);
        if (i > b) elements *= a->turns[i].extent;
    }
}

/* How many elements of a tensor lie side by side that the innermost loop goes along by itself. */
static int64_t run_of(const around *a, int64_t step, int64_t turns) {
    int64_t side = 1;
    for (int i = a->num - 1; i >= 0; i--)
        if (a->turns[i].is_written_out && a->turns[i].growth == side) side *= a->turns[i].extent;
    return step == side ? step * turns : side;
}

/* The innermost loop that is not written out, by which an input is asked for. */
typedef struct ahead_loop {
    int64_t step, turns; /* elements from turn to turn, */
    int64_t covers;      /* and how many all of its turns read; */
    int64_t around;      /* elements from turn to turn of the loop around it; 0: there is none */
} ahead_loop;

/* false: some loop goes backwards, or reads the same again. */
static bool find_ahead_loop(const around *a, ahead_loop *out) {
    *out = (ahead_loop){.turns = 1, .covers = 1};
    for (int i = 0; i < a->num; i++) {
        const at_weights_loop *turn = &a->turns[i];
        if (!turn->is_written_out) {
            *out = (ahead_loop){turn->growth, turn->extent, 1, out->step};
            if (turn->growth <= 0) return false;
        }
        if (turn->growth) out->covers *= turn->extent;
    }
    return true;
}

/* Is most of what the loop asks for, so many steps ahead, read soon, and does asking pay? */
static bool pays(const at_low *l, const ahead_loop *x, int64_t steps, int input) {
    if (!x->around || x->around == x->covers) return true;
    return x->turns >= PREFETCH_LEAST_LOOP * steps &&
           bytes_of(l, input) > l->options->prefetch_apart_above;
}

/* So many bytes ahead of what it reads a leaf asks for an input of which it reads each element
 * once: whole steps of the innermost loop. 0: it reads some of it again, or in long runs, or it
 * does not pay. */
static int64_t bytes_ahead(const at_low *l, const around *a, int input) {
    ahead_loop x;
    int64_t read = 1;
    const int64_t size = at_type_bytes(tensor_of(l, input)->type);
    for (int i = 0; i < a->num; i++)
        if (a->turns[i].growth) read *= a->turns[i].extent;
    if (!find_ahead_loop(a, &x) || read > elements_of(l, input)) return 0;
    if (run_of(a, x.step, x.turns) * size > PREFETCH_MOST_RUN) return 0;
    const int64_t most = x.step ? PREFETCH_BYTES / (x.step * size) : 0,
                  steps = most < PREFETCH_LEAST_STEPS ? PREFETCH_LEAST_STEPS : most;
    return pays(l, &x, steps, input) ? size * x.step * steps : 0;
}

/* How far apart the lines are that a leaf asks for, in lines; 0: it asks for each, since it leaves
 * some of them out or computes long on each. */
static int lines_apart(const around *a) {
    int64_t written = 1, uses = 1, step = 0;
    for (int i = 0; i < a->num; i++)
        if (!a->turns[i].is_written_out) step = a->turns[i].growth;
        else if (a->turns[i].growth) written *= a->turns[i].extent;
        else uses *= a->turns[i].extent;
    return step == written && uses < PREFETCH_EACH_USES ? PREFETCH_LINES_APART : 0;
}

/* A statement asks for inputs that its sum reads once, from afar; where it asks for several, for
 * each line. */
static void ask_inputs(scope *s, const at_node *leaf, at_prefetch *out, at_stmt *n) {
    const at_low *l = s->l;
    int num;
    const at_expr *const *reads = at_compute_reads(l->program->compute, leaf->tensor, &num);
    for (int i = 0; i < num && n->num_prefetch < MOST_STREAMS; i++) {
        around a;
        const int input = reads[i]->ref;
        bool is_other = tensor_of(l, input)->role == AT_ROLE_INPUT && is_far(l, input);
        for (int k = 0; k < n->num_prefetch; k++) is_other &= out[k].tensor != input;
        if (!is_other || !find_around(s, leaf, n->val, input, &a)) continue;
        const int64_t bytes = bytes_ahead(l, &a, input);
        if (bytes <= 0) continue;
        n->lines_apart = n->num_prefetch ? 0 : lines_apart(&a);
        out[n->num_prefetch++] = (at_prefetch){input, bytes};
    }
}

/* What a sum reads from afar is asked for ahead, unless the tree says what is. */
static void stream(scope *s, const at_node *leaf, at_stmt *n) {
    at_low *l = s->l;
    at_prefetch own[MOST_STREAMS];
    if (!n->add || leaf->num_prefetch || l->options->prefetch_above <= 0) return;
    const at_expr *weights = at_expr_find_value(tensor_of(l, leaf->tensor)->body, is_far_weight, l);
    if (weights) {
        around a;
        if (!goes_over_terms(l, leaf)) return;
        own[n->num_prefetch++] = (at_prefetch){weights->ref, PREFETCH_BYTES};
        if (find_around(s, leaf, n->val, weights->ref, &a)) {
            ask_ahead(l, &a, weights->ref, n);
            n->lines_apart = lines_apart(&a);
        }
    } else ask_inputs(s, leaf, own, n);
    n->prefetch = at_copy(l->arena, own, sizeof *own * (size_t)n->num_prefetch);
}

static void no_pointers(at_low *l, const at_node *leaf) {
    const char *name = l->tensors[leaf->pointers].name;
    at_lower_fail(l,
                  "line %d: [pointers %s]: @%s reads no rows of it under a condition that decides "
                  "which, such as inside ? %s[h + r - 1, c] : 0, with at most 2^22 of them",
                  leaf->line, name, l->tensors[leaf->tensor].name, name);
}

/* A running sum is the one before and another term; the first is the term itself, or none. */
static const at_value *run_on(at_low *l, const at_node *leaf, const at_aff **axes,
                              const at_value *term) {
    static const at_val_op joins[] = {[AT_REDUCE_SUM] = AT_V_ADD,
                                      [AT_REDUCE_MAX] = AT_V_MAX,
                                      [AT_REDUCE_MIN] = AT_V_MIN,
                                      [AT_REDUCE_PROD] = AT_V_MUL};
    const at_tensor *t = tensor_of(l, leaf->tensor);
    const int along = at_running_axis(t);
    const at_aff **before = at_copy(l->arena, axes, sizeof *axes * (size_t)t->num_axes);
    before[along] = at_aff_shift(l, axes[along], -1);
    const bool is_int = at_type_of(t->type)->is_int;
    const at_value *sum = at_value_new(
        l, (at_value){.op = AT_V_LOAD, .whole = is_int, .tensor = leaf->tensor, .ix = before});
    const at_value *first =
        at_value_const(l, at_reduction_neutral_of(t->reduction, t->type), is_int);
    const bool is_extreme = at_reduction_is_extreme(t->reduction);
    /* what is not a number stays out: the second operand of an extreme never is */
    const at_value *begun =
        is_extreme ? at_value_binary(l, joins[t->reduction], term, first) : term;
    const at_value *next = is_extreme ? at_value_binary(l, joins[t->reduction], term, sum)
                                      : at_value_binary(l, joins[t->reduction], sum, term);
    return at_value_new(l, (at_value){.op = AT_V_SELECT,
                                      .whole = is_int,
                                      .cond = at_cond_not_negative(l, before[along]),
                                      .a = next,
                                      .b = at_running_lag(t) ? first : begun});
}

static at_ir *leaf_statement(scope *s, const at_node *leaf) {
    at_low *l = s->l;
    const at_tensor *t = tensor_of(l, leaf->tensor);
    at_ir *n = at_ir_new(l, AT_IR_STMT);
    const at_aff **axes = leaf_axes(s, leaf, &n->stmt.guard);
    n->stmt.tensor = leaf->tensor;
    n->stmt.label = t->name;
    n->line = leaf->line;
    n->stmt.ix = axes;
    n->stmt.reduction = t->reduction;
    if (leaf->is_scatter) {
        l->leaf = leaf;
        l->reads_for = leaf->tensor;
        at_scatter_statement(l, leaf, axes, &n->stmt);
    } else if (leaf->is_init)
        n->stmt.val = at_value_const(l, at_reduction_neutral_of(t->reduction, t->type),
                                     at_type_of(t->type)->is_int);
    else {
        int lists = l->num_listed;
        l->leaf = leaf;
        l->reads_for = leaf->tensor;
        n->stmt.val = at_value_stored(l, t->body, axes, t->type);
        if (leaf->is_running) n->stmt.val = run_on(l, leaf, axes, n->stmt.val);
        if (leaf->has_pointers && l->num_listed == lists) no_pointers(l, leaf);
    }
    n->stmt.add = t->num_reduce > 0 && !leaf->is_init && !leaf->is_running && !leaf->is_scatter;
    n->stmt.prefetch = leaf->prefetch;
    n->stmt.num_prefetch = leaf->num_prefetch;
    stream(s, leaf, &n->stmt);
    return n;
}

static const at_node *find_leaf(const at_node *n, int tensor) {
    for (; n; n = n->next) {
        if (n->is_leaf && n->tensor == tensor && !n->is_init) return n;
        const at_node *found = n->is_leaf ? NULL : find_leaf(n->child, tensor);
        if (found) return found;
    }
    return NULL;
}

static void set_dynamic_bounds(scope *s, at_ir *loop, const at_node *n) {
    at_low *l = s->l;
    const at_node *leaf = find_leaf(n->child, n->dyn_tensor);
    const at_axis *axis = &tensor_of(l, n->dyn_tensor)->axes[n->dyn_axis];
    const at_aff **axes = leaf_axes(s, leaf, NULL);
    loop->loop.hi_aff =
        at_aff_sub(l, at_index_expr(l, axis->end, axes), at_index_expr(l, axis->begin, axes));
}

/* Does a leaf in a list count steps of its cycle by the loop? */
static bool counts_steps(const at_low *l, const at_node *loop, const at_node *list) {
    for (const at_node *n = list; n; n = n->next) {
        if (counts_steps(l, loop, n->child)) return true;
        const uint32_t steps = n->is_leaf ? at_cycle_steps(l->program->compute, n->tensor) : 0;
        for (int k = 0; steps >> k; k++)
            for (int d = 0; (steps >> k & 1) && d < n->axes[k].n; d++)
                if (n->axes[k].loop[d] == loop) return true;
    }
    return false;
}

static at_ir *translate(scope *s, const at_node *n);

/* One node of the built tree; loops of extent 1 vanish, so the result is a list. */
static at_ir *translate_node(scope *s, const at_node *n) {
    at_low *l = s->l;
    if (n->is_leaf) return leaf_statement(s, n);
    at_ir *body = translate(s, n->child);
    bool whole = stays_fused(n);
    for (int i = whole ? 0 : n->num_pieces - 1; i >= 0; i--) { /* innermost piece first */
        int sym = s->sym[n->id * MAX_PIECES + i];
        if (n->extent == 1 || sym < 0) continue;
        at_ir *loop = at_ir_new(l, AT_IR_LOOP);
        loop->loop.sym = sym;
        loop->line = n->line;
        loop->loop.piece = n->piece[i];
        loop->loop.is_reduce = n->is_reduce;
        loop->loop.is_step = counts_steps(l, n, n->child);
        loop->loop.ann = n->ann;
        loop->loop.hi = n->extent < 0 ? INT32_MAX : whole ? n->extent : n->piece_extent[i];
        loop->child = body;
        if (n->extent < 0) set_dynamic_bounds(s, loop, n);
        body = loop;
    }
    return body;
}

static at_ir *translate(scope *s, const at_node *n) {
    at_ir *head = NULL, **tail = &head;
    for (; n; n = n->next) {
        *tail = translate_node(s, n);
        while (*tail) tail = &(*tail)->next;
    }
    return head;
}

/* ---- the pass -------------------------------------------------------------------------------- */

static bool only_packing(const at_low *l, const at_node *n) {
    if (n->is_leaf) return tensor_of(l, n->tensor)->is_packing;
    for (const at_node *c = n->child; c; c = c->next)
        if (!only_packing(l, c)) return false;
    return true;
}

bool at_pass_dissolve(at_low *l) {
    const at_program *p = l->program;
    scope s = {.l = l,
               .member = AT_NEW_ARRAY(l->arena, const at_aff **, p->num_loops + 1),
               .sym = AT_NEW_ARRAY(l->arena, int, (p->num_loops + 1) * MAX_PIECES)};
    l->tables = AT_NEW_ARRAY(l->arena, const double *, l->num_tensors);
    /* Of all loops first: bounds of data-dependent ones ask for the axes of a leaf further down. */
    for (const at_node *n = p->root; n; n = n->next) {
        s.num_before = l->num_loops;
        s.last = -1;
        make_symbols(&s, n);
    }
    if (l->err->status != AT_OK) return false;
    at_ir **to = &l->root, **pack_to = &l->pack_root;
    for (const at_node *n = p->root; n; n = n->next) {
        at_ir ***where = !l->options->pack_inline && only_packing(l, n) ? &pack_to : &to;
        **where = translate_node(&s, n);
        while (**where) *where = &(**where)->next;
    }
    return l->err->status == AT_OK;
}
