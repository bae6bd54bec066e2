/* codegen/tile/tile_rows.c: copies that run on in both tensors along one loop.
 *
 * Elements may be copied in any order. So where no loop of such a copy has an annotation, the loop
 * that it runs on along stands innermost, and is a vector, though nobody asked; zeros that are
 * written go the same way. Packing by hand, copies of rows, windows and strips are such copies.
 * Where a loop around one statement runs as often as is known at run time, as where a border cuts a
 * row, it is vectors and a rest; it may read every so many elements then. So is a sum, over its
 * elements or its terms, along what was a vector before it was cut, as at a diagonal. */
#include "codegen/tile/tile_make.h"

enum { LEAST_RUN = 4 };

/* A nest of loops around one copy: each may stand in another's place. */
typedef struct {
    at_ir *loop[AT_MAX_LOOPS];
    int num;
    at_ir *copy;
} nest;

static bool is_free(const at_ir *n) {
    return n->kind == AT_IR_LOOP && n->loop.ann == AT_ANN_NONE && at_loop_is_fixed(n) &&
           !n->loop.is_reduce && !n->loop.transposes;
}

/* Of an element of memory, or a number. */
static bool is_copy(const at_ir *n, const at_tile_regs *regs) {
    const at_value *v = n->stmt.val;
    if (n->stmt.add || n->stmt.integer || n->stmt.num_places || regs->local[n->stmt.tensor])
        return false;
    if (v->op == AT_V_CONST) return true;
    return v->op == AT_V_LOAD && !v->may_miss && v->tensor != n->stmt.tensor &&
           !regs->local[v->tensor];
}

/* false: it is no nest of that kind. */
static bool find_nest(at_ir *n, const at_tile_regs *regs, nest *out) {
    out->num = 0;
    for (; n->kind == AT_IR_LOOP; n = n->child) {
        if (!is_free(n) || !n->child || n->child->next || out->num == AT_MAX_LOOPS) return false;
        out->loop[out->num++] = n;
    }
    out->copy = n;
    return n->kind == AT_IR_STMT && is_copy(n, regs);
}

/* Does the copy run on along this loop, on both sides? */
static bool runs_on(const at_low *l, const nest *x, const at_ir *loop) {
    const at_value *v = x->copy->stmt.val;
    int sym = loop->loop.sym;
    if (at_loop_trips(loop) < LEAST_RUN || at_aff_coef(x->copy->stmt.at, sym) != 1 ||
        (at_aff_opaque_deps(l, x->copy->stmt.at) & AT_BIT(sym)))
        return false;
    return v->op == AT_V_CONST ||
           (at_aff_coef(v->at, sym) == 1 && !(at_aff_opaque_deps(l, v->at) & AT_BIT(sym)));
}

/* Loop i goes innermost, those inside of it one further out. */
static void move_inside(nest *x, int i) {
    at_loop moved = x->loop[i]->loop;
    for (; i + 1 < x->num; i++) x->loop[i]->loop = x->loop[i + 1]->loop;
    x->loop[i]->loop = moved;
}

bool at_is_counted_sum(const at_low *l, const at_ir *n, const at_tile_regs *regs) {
    const at_ir *sum = n->child;
    if (at_loop_is_fixed(n) || !sum || sum->next || sum->kind != AT_IR_STMT || !sum->stmt.add ||
        sum->stmt.integer || sum->stmt.num_places ||
        at_value_reads(sum->stmt.val, sum->stmt.tensor) ||
        (at_aff_opaque_deps(l, sum->stmt.at) & AT_BIT(n->loop.sym)))
        return false;
    const int64_t step = at_aff_coef(sum->stmt.at, n->loop.sym);
    return n->loop.is_reduce ? !step : step == 1 && !regs->local[sum->stmt.tensor];
}

bool at_is_counted_copy(const at_low *l, const at_ir *n, const at_tile_regs *regs) {
    const at_ir *copy = n->child;
    const at_mask loop = AT_BIT(n->loop.sym);
    if (n->loop.is_reduce || at_loop_is_fixed(n) || !copy || copy->next ||
        copy->kind != AT_IR_STMT || !is_copy(copy, regs))
        return false;
    const at_value *v = copy->stmt.val;
    if (at_aff_coef(copy->stmt.at, n->loop.sym) != 1 ||
        (at_aff_opaque_deps(l, copy->stmt.at) & loop))
        return false;
    const int64_t step = v->op == AT_V_LOAD ? at_aff_coef(v->at, n->loop.sym) : 1;
    if (v->op == AT_V_LOAD && (at_aff_opaque_deps(l, v->at) & loop)) return false;
    return step == 1 || at_target_picks(l->target, at_type_bytes(l->tensors[v->tensor].type), step);
}

void at_widen_copies(at_low *l, at_ir *list, const at_tile_regs *regs) {
    if (l->target->lanes < LEAST_RUN) return;
    for (at_ir *n = list; n; n = n->next) {
        nest x;
        int i;
        if (n->kind != AT_IR_LOOP) continue;
        if (n->loop.ann == AT_ANN_NONE && (at_is_counted_copy(l, n, regs) ||
                                           (n->loop.was_vector && at_is_counted_sum(l, n, regs)))) {
            n->loop.ann = AT_ANN_VEC;
            continue;
        }
        if (!find_nest(n, regs, &x)) {
            if (n->loop.ann != AT_ANN_VEC) at_widen_copies(l, n->child, regs);
            continue;
        }
        for (i = x.num - 1; i >= 0 && !runs_on(l, &x, x.loop[i]);) i--;
        if (i < 0) continue;
        move_inside(&x, i);
        x.loop[x.num - 1]->loop.ann = AT_ANN_VEC;
    }
}
