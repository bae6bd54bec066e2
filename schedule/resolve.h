/* schedule/resolve.h: how the expressions of a computation get their names and types: what they may
 * use, and what they are (compute_resolve.c, resolve_expr.c, resolve_bits.c). */
#ifndef AT_SCHEDULE_RESOLVE_H
#define AT_SCHEDULE_RESOLVE_H

#include "schedule/schedule_int.h"

/* What a definition stands for. */
typedef struct resolve_meaning {
    const char *name;
    at_expr *expr;
    bool is_float, is_bool;
    int size; /* nodes once substituted */
} resolve_meaning;

typedef struct resolve_scope {
    at_arena *arena;
    const at_lex *lex;
    at_error *err;
    compute_info *c;
    int tensor;       /* being resolved */
    int visible_axes; /* the first so many of it */
    bool in_index;    /* of a read */
    bool takes_defs;  /* else sizes and axes only: bounds of a reduction */
    AT_VEC(resolve_meaning) defs;
    int size; /* nodes of the expression at hand */
} resolve_scope;

/* Of an expression: integer unless one of these. */
typedef struct resolve_kind {
    bool is_float, is_bool;
} resolve_kind;

#define FAIL_AT(s, e, ...) at_lex_fail_at((s)->lex, (e)->line, (e)->col, (s)->err, __VA_ARGS__)

static inline const at_tensor *resolve_current(const resolve_scope *s) {
    return &s->c->pub.tensors[s->tensor];
}

static inline at_expr *resolve_pair(resolve_scope *s, at_op op, at_expr *x, at_expr *y) {
    at_expr *e = at_expr_pair(s->arena, op, x, y);
    e->line = x->line;
    e->col = x->col;
    return e;
}

/* So many nodes more of the expression at hand. */
static inline at_status resolve_grow(resolve_scope *s, const at_expr *e, int nodes) {
    s->size += nodes;
    if (s->size <= MAX_NODES_OF) return AT_OK;
    return FAIL_AT(s, e, "the expression exceeds %d terms", MAX_NODES_OF);
}

/* Of an extent: fills refs with slots, in place. */
at_status resolve_size(resolve_scope *s, at_expr *e);
/* The expression with its definitions substituted, and its type. */
at_status resolve_expression(resolve_scope *s, const at_expr *e, at_expr **out, resolve_kind *k);
/* A where-definition, which the expressions behind it may use. */
at_status resolve_definition(resolve_scope *s, const at_def *d);
/* e is an operator on bits, *out its copy with its operands resolved, which is replaced by what it
 * stands for. is_value: of integers that are read, not of an index. */
at_status resolve_bits(resolve_scope *s, const at_expr *e, bool is_value, at_expr **out);

#endif
