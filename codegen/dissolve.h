/* codegen/dissolve.h: what the makers of a program's first form share. */
#ifndef AT_CODEGEN_DISSOLVE_H
#define AT_CODEGEN_DISSOLVE_H

#include "codegen/codegen_int.h"

/* indices.c: an index, a condition over indices; axes: values of those of the expression's stage.
 */
const at_aff *at_index_expr(at_low *l, const at_expr *e, const at_aff *const *axes);
const at_cond *at_cond_expr(at_low *l, const at_expr *e, const at_aff *const *axes);

/* A choice somewhere in an index or a comparison of such: what decides, and the same with either
 * side in its place. False: there is none, or lowering has failed. */
typedef struct index_choice {
    at_expr *condition, *side[2];
} index_choice;
bool at_index_choice(at_low *l, const at_expr *e, index_choice *out);

const at_cond *at_cond_new(at_low *l, at_cond_op op, const at_aff *atom, const at_cond *a,
                           const at_cond *b);
const at_cond *at_cond_not_negative(at_low *l, const at_aff *x); /* x >= 0 */

/* indices.c: l->entries with what it says of entries that index x lies within 0 .. extent - 1. */
void at_index_bounds_entries(at_low *l, const at_aff *x, int64_t extent);
/* Those that n indices are made of, each the only one of its list there. */
const at_entry_bound *at_index_entries(at_low *l, const at_aff *const *ix, int n);

/* bodies.c: what stands in the body of a stage; axes: as above. */
const at_value *at_value_expr(at_low *l, const at_expr *e, const at_aff *const *axes);
/* The same as an element of a type. */
const at_value *at_value_stored(at_low *l, const at_expr *e, const at_aff *const *axes,
                                at_type type);

/* pointers.c: `stage` reads c ? tensor[..] : number; the read by a list of places. NULL: it is no
 * such read. */
const at_value *at_pointers_read(at_low *l, int stage, const at_expr *e, const at_aff *const *axes,
                                 int tensor, double number);

/* placed_terms.c: the value and the places of a leaf whose terms say where they belong. */
void at_scatter_statement(at_low *l, const at_node *leaf, const at_aff **axes, at_stmt *s);

#endif
