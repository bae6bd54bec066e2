/* codegen/partition_int.h: between partition.c, which cuts loops, and partition_plan.c, which says
 * where. Everything made lives in the arena of l. */
#ifndef AT_PARTITION_INT_H
#define AT_PARTITION_INT_H

#include "codegen/codegen_int.h"

#define AT_CUT_MAX_VALUES 4   /* of what is known outside of a tile that a condition cuts */
#define AT_CUT_MAX_COPIES 512 /* of a program; beyond that atoms are left to the inner loops */

typedef enum at_cut_action {
    AT_CUT_LEAVE,
    AT_CUT_AROUND,    /* an `if` around the loop */
    AT_CUT_IN_TWO,    /* where the atom changes */
    AT_CUT_PEEL,      /* iterations of their own, those before and those behind */
    AT_CUT_SET_APART, /* iterations in which it fails, changes, holds */
    AT_CUT_VERSIONS,  /* of the loop's body */
} at_cut_action;

typedef struct at_cut {
    at_cut_action action;
    const at_aff *atom;
    int64_t first, last; /* that are peeled */
} at_cut;

/* The first atom that keeps a condition in n undecided; NULL: there is none. */
const at_aff *at_cut_undecided(at_low *l, const at_ir *n, const at_fact *facts);
/* What is done about the first atom in loop n that it is to be cut for; AT_CUT_LEAVE: there is
 * none. copies: so many were made already. */
at_cut at_cut_of_loop(at_low *l, int copies, const at_ir *n, const at_fact *facts);
/* The first atom for which the body of loop n comes in versions; NULL: there is none. */
const at_aff *at_cut_versions(at_low *l, int copies, const at_ir *n, const at_fact *facts);

/* A value in which conditions on entries of index tensors that differ from lane to lane are masks,
 * where that can be (masks.c). lanes: the vector loops around it. */
const at_value *at_value_with_masks(at_low *l, const at_value *v, const at_fact *facts,
                                    at_mask lanes);

/* Whether masks decide all conditions in a list that are open; no guard is, unless tails: one may
 * be that reads no entries. lanes: vector loops around it. */
bool at_masks_serve(at_low *l, const at_ir *list, const at_fact *facts, at_mask lanes, bool tails);
/* Whether it may be worked out in vain: it reads nothing outside of a tensor. */
bool at_value_is_harmless(at_low *l, const at_value *v, const at_fact *facts);
/* A condition that is the same for all terms of a sum in list, which stands in loop n, is asked of
 * the sum where that is read, in place; false: there is no such, or it cannot be (ask_late.c). */
bool at_ask_late(at_low *l, const at_ir *n, at_ir *list, const at_fact *facts);

/* An atom seen from inside a loop n: its part that is known there (`outside`), and between which
 * values (lo, hi) lies what the loops below add to that. Where it holds in some of their iterations
 * only, `outside` has one of the few values from -hi to -lo - 1. If its terms are all multiples of
 * something, it takes few of those, or none, and partial sizes are known: a window reaches over the
 * border of a picture in the first tile or the last, or in a few where tiles are narrower. */
typedef struct at_cut_view {
    const at_aff *outside;
    int64_t lo, hi;
    int64_t value, step; /* the first of these values, and how far apart they are */
    int64_t values;      /* their number; -1: not known, or it is the view of several atoms */
} at_cut_view;
at_cut_view at_cut_view_of(at_low *l, const at_ir *n, const at_aff *atom);
/* What is below a diagonal and what is above it: undecided atoms of a tile in loop n that change
 * one element before `atom` does, or behind. `view`, which is atom's, takes them in. *facts: they
 * are mixed, and so is atom. */
void at_cut_together(at_low *l, const at_ir *n, const at_aff *atom, at_cut_view *view,
                     const at_fact **facts);

#endif
