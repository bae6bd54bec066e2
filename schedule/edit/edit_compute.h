/* schedule/edit/edit_compute.h: edits of a computation and of its tree, in the terms of edit.h:
 * copies and sums in two steps (E6, E7), and what an operator's text could have been (E10 to E24).
 */
#ifndef AT_SCHEDULE_EDIT_COMPUTE_H
#define AT_SCHEDULE_EDIT_COMPUTE_H

#include "schedule/edit/edit.h"

typedef enum at_copy_kind {
    AT_COPY_WRITE,  /* the sum goes to a stage of its own, and what had its name copies it */
    AT_COPY_READ,   /* `reader` reads a copy of the tensor */
    AT_COPY_WIDE,   /* the same, in which floats of 16 bits are f32, bytes s16 */
    AT_COPY_LAYOUT, /* the same, in the order in which the reader's loops use it: an axis per piece
                     */
    AT_COPY_LANES   /* LAYOUT with all pieces of the reader's vector, also those that all elements
                       read alike: it is repeated for them */
} at_copy_kind;

/* E6: name is the new stage's. reader: of all but AT_COPY_WRITE. The copy stands in loops
 * of its own before (write: what copies it, behind). LAYOUT has an axis
 * for each loop of the reader that moves what it reads, in their order: a tensor that is read as it
 * lies goes into blocks, the windows of a convolution lie behind each other (im2col). */
at_status at_edit_copy(at_arena *a, const at_tree *t, at_copy_kind kind, const char *tensor,
                       const char *reader, const char *name, const at_compute **compute,
                       at_tree **out, at_error *err);
/* The axis of a resolved index of one axis and sizes, each step of which moves it by one: `k`,
 * `k + 1`, `K - 1 - k`. Or: */
enum { AT_INDEX_SIZE = -1 /* it has none */, AT_INDEX_OTHER = -2 };
int at_index_axis(const at_expr *e);
/* E7: the sum runs in two steps: stage `name` has the reduction loop as one more axis, and what had
 * its name sums over that.
 *     k0, k1 => @s = .. // {k0, k1}/k   ->   k0, k1 => @rf = .., k1 // k0;  k1 => @s = .. // k1
 * before: the axis of the sum before which the new one stands; NULL: it is the last one. */
at_status at_edit_factor(at_arena *a, const at_tree *t, const char *stage, const char *loop,
                         const char *name, const char *before, const at_compute **compute,
                         at_tree **out, at_error *err);

/* E10: the stage's expression stands wherever it was read, and the stage is none any more
 * (edit_inline.c).
 *     @d = x[i] - y[j];  @s = .. d[i, j]   ->   @s = .. (x[i] - y[j])
 * Of a sum its terms do, one behind the other: each of its n reductions, by name, is so long. */
enum { AT_INLINE_SUMS = 4, AT_INLINE_TERMS = 64 }; /* at most */
at_status at_edit_inline(at_arena *a, const at_tree *t, const char *stage, const char *const *names,
                         const int64_t *sizes, int n, const at_compute **compute, at_tree **out,
                         at_error *err);

/* E11: the stage's n axes, reductions behind, get these names, and so do loops that run whole axes
 * of it and nothing else (edit_rename.c).
 *     @q = d // m, y   ->   @q = c // n, h */
at_status at_edit_rename(at_arena *a, const at_tree *t, const char *stage, const char *const *names,
                         int n, const at_compute **compute, at_tree **out, at_error *err);

/* E12: a reduction of the stage whose range other axes give goes as far as that range may, and a
 * condition chooses its terms (edit_widen.c).
 *     @s = sum(k:0..i+1) x[k]   ->   @s = sum(k:I) (k < i+1 ? x[k] : 0) */
at_status at_edit_widen(at_arena *a, const at_tree *t, const char *stage, const char *loop,
                        const at_compute **compute, at_tree **out, at_error *err);

/* E13: what the stage calculates of weights, of index tensors' entries and of packing stages alone,
 * as far as it goes, is a stage `name` of its own; the first such expression that reads `tensor`,
 * wherever the stage has it (edit_operand.c).
 *     @s = .. x[i, k]*(q[j, k] - z[j])   ->
 *         @q_value = q[j, k] - z[j];  @s = .. x[i, k]*q_value[j, k]
 * axis, NULL or one of the stage's: the first read of `tensor` that lies along it, else that moves
 * along it, at axes that go as far as the tensor does, whatever tensor that is.
 *     @s = .. x[i, k]*x[j, k]   ->   @x_across = x[j, k];  @s = .. x[i, k]*x_across[j, k]
 */
at_status at_edit_operand(at_arena *a, const at_tree *t, const char *stage, const char *tensor,
                          const char *axis, const char *name, const at_compute **compute,
                          at_tree **out, at_error *err);
/* E21: the first index of the stage's reads of `tensor` that entries and axes beside them give, not
 * by sums and products alone, is a stage `name` of s32, over the reductions and then the axes that
 * it is made of.
 *     @s = sum(k) x[min(first[q] + k, H - 1)]   ->
 *         @name = k, q: min(first[q] + k, H - 1);  @s = sum(k) x[name[k, q]] */
at_status at_edit_place(at_arena *a, const at_tree *t, const char *stage, const char *tensor,
                        const char *name, const at_compute **compute, at_tree **out, at_error *err);
/* NULL: none */
const at_expr *at_edit_place_of(const at_compute *c, int stage, int tensor, bool *is_guarded);
/* E23: the stage's first choice by indices that reads `tensor`, as padding is, or read of it within
 * bounds, on sums of axes, is a stage `name` over these sums; where it is a product or 0 that is
 * chosen, and other factors are not by these sums, a factor of it (edit_pad.c).
 *     @s = .. (h + r < H ? x[h + r] : 0)   ->   @name = y < H ? x[y] : 0;  @s = .. name[h + r]
 *     @s = h + r < H ? x[h + r]*k[r] : 0   ->   the same;  @s = name[h + r]*k[r] */
at_status at_edit_pad(at_arena *a, const at_tree *t, const char *stage, const char *tensor,
                      const char *name, const at_compute **compute, at_tree **out, at_error *err);
/* The choice, or the read, that would be that stage; NULL: there is none. *is_factor: it is of a
 * factor. */
const at_expr *at_edit_padded_of(at_arena *a, const at_compute *c, int stage, int tensor,
                                 bool *is_factor);
/* E14: the stage's reads of a tensor that move by one element of one dimension with each step of an
 * axis of the stage are of a copy `name`, whose last dimension that is; where they go backwards, it
 * is turned round (edit_turn.c). Where a stage above is such a copy, forwards, it may be that one.
 *     @s = .. r[D - d, c]   ->   @t = r[D - p, c];  @s = .. t[c, d]   (t: over c, p) */
at_status at_edit_turn(at_arena *a, const at_tree *t, const char *stage, const char *tensor,
                       const char *axis, const char *name, const at_compute **compute,
                       at_tree **out, at_error *err);
/* E15: the stage is stage `name`, whose last axis is this one; what had its name copies it, in
 * loops of its own behind.
 *     @s = m, r // k   ->   @name = r, m // k;  @s = name[r, m] */
at_status at_edit_across(at_arena *a, const at_tree *t, const char *stage, const char *axis,
                         const char *name, const at_compute **compute, at_tree **out,
                         at_error *err);
/* E16: the sum of products of two u8, or of two s8, reads one of them, `tensor`, moved by 128, as
 * the other type (stage `moved`), and is stage `dots` then; what had its name adds 128 times the
 * sums of the other operand (stage `sums`), or takes them away (edit_shift.c).
 *     @acc = a[y, k]*w[x, k]   ->   @a_u8 = a[i, j] + 128;  @w_sums = w[x, k] // k;
 *         @dots = a_u8[y, k]*w[x, k];  @acc = dots[y, x] - 128*w_sums[x] */
typedef struct at_edit_shift_names {
    const char *moved, *sums, *dots;
} at_edit_shift_names;
at_status at_edit_shift(at_arena *a, const at_tree *t, const char *stage, const char *tensor,
                        const at_edit_shift_names *names, const at_compute **compute, at_tree **out,
                        at_error *err);
/* E17: edit_phases.h */
/* E18: where the terms of a sum choose by indices between two reads, it becomes two sums, stages
 * `names`, of the terms with one of them each; what had its name adds them (edit_branches.c).
 *     @s = sum(j) (j >= i ? a[i, j] : a[j, i])*x[j]   ->   @s = names[0][i] + names[1][i];
 *         @names[0] = .. (j >= i ? a[i, j]*x[j] : 0);  @names[1] = .. (j >= i ? 0 : ..) */
at_status at_edit_branches(at_arena *a, const at_tree *t, const char *stage,
                           const char *const *names, const at_compute **compute, at_tree **out,
                           at_error *err);
bool at_edit_has_branches(const at_tensor *sum);
/* E24: a stage is nothing where readers, or what it reads, say so by conditions (edit_bound.c).
 *     @m = max(j) s[i, j];  @e = exp(s[i, j] - m[i])   ->   @e = j <= i ? exp(..) : 0
 * needs: what sizes must be for that; NULL: anything. at_edit_is_mask: it chooses 0 or -inf so. */
at_status at_edit_bound(at_arena *a, const at_tree *t, const char *stage, const at_expr **needs,
                        const at_compute **compute, at_tree **out, at_error *err);
bool at_edit_has_bound(at_arena *a, const at_compute *c, int stage, const at_expr **needs);
bool at_edit_is_mask(at_arena *a, const at_compute *c, int stage);
/* E20: where the terms of a sum of floats are divided by what no reduction changes, what is divided
 * is summed up by stage `name`; what had its name divides the sum (edit_quotient.c).
 *     @s = sum(k) e[i, k]/z[i]*x[k]   ->   @name = sum(k) e[i, k]*x[k];  @s = name[i]/z[i] */
at_status at_edit_quotient(at_arena *a, const at_tree *t, const char *stage, const char *name,
                           const at_compute **compute, at_tree **out, at_error *err);
bool at_edit_has_quotient(const at_compute *c, const at_tensor *sum);
/* E22: where a stage looks for the first place of an extreme, a stage above that rounds no term, or
 * for the last one, the extreme is one of blocks of `length` terms, which are stage names[0], and
 * stage names[1], of s32, says where the block begins that the place is in; the last block ends
 * where the terms do, of which there are `length` at least (edit_search.c).
 *     @m = max(k:K) x[k];  @s = min(k:K) x[k] == m ? k : inf   ->
 *         @names[0] = b: max(k:B) x[min(b*B, K - B) + k];  @m = max(b) names[0][b];
 *         @names[1] = min(b) names[0][b] == m ? min(b*B, K - B) : K - B;
 *         @s = min(k:B) x[names[1] + k] == m ? names[1] + k : inf */
at_status at_edit_search(at_arena *a, const at_tree *t, const char *stage, const char *const *names,
                         int64_t length, const at_compute **compute, at_tree **out, at_error *err);
int at_edit_search_of(const at_compute *c, int stage); /* the extreme; -1: none */
/* E19: where a sum of floats takes bits out of entries of an index tensor, read at a quotient of
 * one of its reductions, the entries are stage `name`, of integers; the reduction goes by entries,
 * and by what else divides it, and the numbers of an entry are terms beside each other, times what
 * they have in common (edit_unpack.c).
 *     @s = sum(k:K) x[k]*(k%2 == 0 ? w[n, k/2]%16 : w[n, k/2]/16)*a[k/32]   ->
 *         @name = w[i, j];  @s = sum(k:K/32, k_1:16) (x[32*k + 2*k_1]*(name[n, 16*k + k_1] & 15) +
 *             x[32*k + 2*k_1 + 1]*(name[n, 16*k + k_1] >> 4))*a[k] */
at_status at_edit_unpack(at_arena *a, const at_tree *t, const char *stage, const char *axis,
                         const char *name, const at_compute **compute, at_tree **out,
                         at_error *err);
/* How many numbers an entry of *tensor holds, along the axis; *whole: what has to divide the axis.
 * 0: none. */
int64_t at_edit_unpacks(const at_compute *c, const at_tensor *sum, int axis, int *tensor,
                        int64_t *whole);
/* Of E13: that expression within e; NULL: there is none. */
const at_expr *at_edit_operand_of(const at_compute *c, const at_expr *e, int tensor);

#endif
