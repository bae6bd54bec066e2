/* schedule/resolve_bits.c: operators on bits. Those of an index become quotients, rests and
 * products by powers of two; those of integers that are read stay, shifted by numbers. */
#include "schedule/resolve.h"

enum { MOST_SHIFT = 30, MOST_PLACE = 63 };

/* What an operator makes of each two of these numbers; 0: of some none of them. */
static uint64_t shifts_of_pair(at_op op, uint64_t x, uint64_t y) {
    uint64_t all = 0;
    for (int i = 0; i <= MOST_PLACE; i++)
        for (int k = 0; k <= MOST_PLACE && x >> i & 1; k++) {
            int64_t value;
            if (!(y >> k & 1)) continue;
            if (!at_expr_binary(op, i, k, &value) || value < 0 || value > MOST_PLACE) return 0;
            all |= (uint64_t)1 << value;
        }
    return all;
}

/* The numbers that an index may be, as bits, by what its text says alone; 0: it does not. */
static uint64_t shifts_of(const resolve_scope *s, const at_expr *e) {
    const uint64_t up_to_most = ~(uint64_t)0;
    uint64_t x, y;
    int64_t n = 0;
    switch (e->op) {
    case AT_X_INT:
        return 0 <= e->integer && e->integer <= MOST_PLACE ? (uint64_t)1 << e->integer : 0;
    case AT_X_NAME:
        if (e->ref >= AT_REF_SIZE || resolve_current(s)->axes[e->ref].begin) return 0;
        n = resolve_current(s)->axes[e->ref].extent->op == AT_X_INT
                ? resolve_current(s)->axes[e->ref].extent->integer
                : 0;
        break;
    case AT_X_SELECT:
        x = shifts_of(s, e->arg[1]);
        y = shifts_of(s, e->arg[2]);
        return x && y ? x | y : 0;
    case AT_X_MOD:
        n = e->arg[1]->op == AT_X_INT ? e->arg[1]->integer : 0;
        x = shifts_of(s, e->arg[0]);
        if (x && n > 0) return shifts_of_pair(AT_X_MOD, x, shifts_of(s, e->arg[1]));
        break;
    case AT_X_ADD:
    case AT_X_SUB:
    case AT_X_MUL:
    case AT_X_DIV:
    case AT_X_MIN:
    case AT_X_MAX:
        x = shifts_of(s, e->arg[0]);
        y = shifts_of(s, e->arg[1]);
        return x && y ? shifts_of_pair(e->op, x, y) : 0;
    default: return 0;
    }
    return n < 1 || n > MOST_PLACE + 1 ? 0 : up_to_most >> (MOST_PLACE + 1 - n);
}

typedef at_expr *by_number(resolve_scope *s, at_expr *x, int n);

/* Shifts by all numbers that an index may be, of which it chooses one: k == 0 ? x : k == 4 ? .. */
static at_status shift_by_place(resolve_scope *s, const at_expr *e, at_expr *x, at_expr *y,
                                by_number *shifted, at_expr **out) {
    const uint64_t all = shifts_of(s, y);
    at_expr *chain = NULL;
    if (!all || all >> (MOST_SHIFT + 1))
        return FAIL_AT(s, e->arg[1],
                       "integers are shifted by 0 to 30: by a number, or by an index of which "
                       "numbers say so, as in x >> k%%8*4");
    for (int n = MOST_SHIFT; n >= 0; n--) {
        if (!(all >> n & 1)) continue;
        at_expr *one = shifted(s, x, n);
        if (chain) {
            at_expr *arg[] = {resolve_pair(s, AT_X_EQ, y, at_expr_int(s->arena, n)), one, chain};
            AT_TRY(resolve_grow(s, e, at_expr_nodes(x) + at_expr_nodes(y) + 4));
            one = at_expr_new(s->arena, AT_X_SELECT, 3, arg);
        }
        chain = one;
    }
    *out = chain;
    return AT_OK;
}

static at_expr *index_to_right(resolve_scope *s, at_expr *x, int n) {
    return resolve_pair(s, AT_X_DIV, x, at_expr_int(s->arena, (int64_t)1 << n));
}

static at_expr *to_left(resolve_scope *s, at_expr *x, int n) {
    return n ? resolve_pair(s, AT_X_MUL, x, at_expr_int(s->arena, (int64_t)1 << n)) : x;
}

static at_expr *to_right(resolve_scope *s, at_expr *x, int n) {
    return n ? resolve_pair(s, AT_X_SHIFT_RIGHT, x, at_expr_int(s->arena, n)) : x;
}

/* Bits of an index are its quotient, rest or product by a power of two, which all that asks about
 * indices knows. */
static at_status resolve_index_bits(resolve_scope *s, const at_expr *e, at_expr **out) {
    at_expr *x = (*out)->arg[0], *y = (*out)->arg[1];
    if (e->op == AT_X_BIT_AND && x->op == AT_X_INT) x = y, y = (*out)->arg[0];
    const int64_t n = y->op == AT_X_INT ? y->integer : -1;
    if (e->op == AT_X_BIT_AND && n >= 0 && n < INT32_MAX && !(n & (n + 1))) {
        *out = resolve_pair(s, AT_X_MOD, x, at_expr_int(s->arena, n + 1));
        return AT_OK;
    }
    if (e->op == AT_X_BIT_AND || e->op == AT_X_BIT_OR || (y->op == AT_X_INT && (n < 0 || n > 30)))
        return FAIL_AT(s, e,
                       "of an index there are i & 15, i >> 4 and i << 4, with numbers: & with one "
                       "less than a power of two, shifts from 0 to 30");
    return shift_by_place(s, e, x, y, e->op == AT_X_SHIFT_LEFT ? to_left : index_to_right, out);
}

/* Of integers that are read; a shift to the left is a product, whose range is proved like that of
 * any other. */
at_status resolve_bits(resolve_scope *s, const at_expr *e, bool is_value, at_expr **out) {
    at_expr *const *arg = (*out)->arg;
    if (!is_value) return resolve_index_bits(s, e, out);
    for (int i = 0; i < 2; i++) {
        if (!at_expr_is_whole(&s->c->pub, arg[i]))
            return FAIL_AT(s, e->arg[i], "only integers have bits, and this is f32");
        if (arg[i]->op == AT_X_INT && arg[i]->integer != (int32_t)arg[i]->integer)
            return FAIL_AT(s, e->arg[i], "integers among values have 32 bits");
    }
    if (e->op == AT_X_BIT_AND || e->op == AT_X_BIT_OR) return AT_OK;
    return shift_by_place(s, e, arg[0], arg[1], e->op == AT_X_SHIFT_LEFT ? to_left : to_right, out);
}
