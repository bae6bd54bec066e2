/* schedule/index_sum.c: sums of axes and sizes, added up part by part. */
#include "schedule/index_sum.h"

bool index_part_is_like(const index_part *x, const index_part *y) {
    const bool sizes = x->size && y->size ? at_expr_equal(x->size, y->size) : x->size == y->size;
    return x->axis == y->axis && sizes;
}

bool index_sum_add_part(index_sum *s, index_part p) {
    for (int i = 0; i < s->num; i++)
        if (index_part_is_like(&s->of[i], &p)) {
            s->of[i].by += p.by;
            if (!s->of[i].by) s->of[i] = s->of[--s->num];
            return true;
        }
    if (s->num == MOST_PARTS) return false;
    s->of[s->num++] = p;
    return true;
}

static bool is_small(int64_t factor) {
    enum { MOST_FACTOR = 1 << 20 };
    return -MOST_FACTOR <= factor && factor <= MOST_FACTOR;
}

bool index_sum_add(index_sum *s, const at_expr *e, int64_t by, const at_expr *size) {
    if (e->op == AT_X_INT)
        return is_small(e->integer) &&
               (!e->integer || index_sum_add_part(s, (index_part){by * e->integer, size, NO_AXIS}));
    if (e->op == AT_X_NAME && e->ref < AT_REF_SIZE)
        return index_sum_add_part(s, (index_part){by, size, e->ref});
    if (e->op == AT_X_NEG) return index_sum_add(s, e->arg[0], -by, size);
    if (e->op == AT_X_ADD || e->op == AT_X_SUB)
        return index_sum_add(s, e->arg[0], by, size) &&
               index_sum_add(s, e->arg[1], e->op == AT_X_ADD ? by : -by, size);
    for (int i = 0; e->op == AT_X_MUL && i < 2; i++) {
        const at_expr *factor = e->arg[i];
        if (factor->op == AT_X_INT && factor->integer && is_small(by) && is_small(factor->integer))
            return index_sum_add(s, e->arg[1 - i], by * factor->integer, size);
        if (at_expr_is_size(factor) && !at_expr_is_size(e) && !size)
            return index_sum_add(s, e->arg[1 - i], by, factor);
    }
    return at_expr_is_size(e) && !size && index_sum_add_part(s, (index_part){by, e, NO_AXIS});
}

uint32_t index_sum_axes(const index_sum *s) {
    uint32_t axes = 0;
    for (int i = 0; i < s->num; i++)
        if (s->of[i].axis != NO_AXIS) axes |= 1u << s->of[i].axis;
    return axes;
}
