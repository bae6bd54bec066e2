/* schedule/compute_facts.h: what is true of a computation with numbers: extents of data, work,
 * exactness, and where stages go from step to step. */
#ifndef AT_SCHEDULE_COMPUTE_FACTS_H
#define AT_SCHEDULE_COMPUTE_FACTS_H

#include "schedule/compute.h"

/* Data of one tensor, row-major; f for floats, i for role index and, whatever their size, types of
 * integers. */
typedef struct at_data {
    float *f;
    int32_t *i;
} at_data;
/* Do all integers that are worked out fit 32 bits (inputs of s32 lie within 2^30)? Does every read
 * lie within its tensor, and every index within 64 bits, for all points at which it is evaluated?
 * Conditions over indices guard a read, those over values do not. data (may be
 * NULL): elements of index tensors; without it what hangs on them is not looked at. AT_E_INPUT with
 * stage, line, column, index, point and extent; also where neither a proof nor a point is found.
 * Nothing is run: a computation as templates have it takes microseconds, data take as long as it
 * takes to look through them. AT_E_INTERRUPTED once *stop (may be NULL) is set. */
at_status at_compute_check_reads(const at_compute *c, const int64_t *values, const at_data *data,
                                 const volatile int *stop, at_error *err);

/* The least and the largest value of a stage's axis: of one whose bounds are data, an int32 that
 * lies within all that is read there in any case. */
void at_compute_axis_range(const at_compute *c, int64_t *const *extents, int stage, int axis,
                           int64_t *lo, int64_t *hi);

/* The least and the largest place that a stage of them says, whatever entries are. */
void at_compute_place_range(const at_compute *c, const int64_t *values, int64_t *const *extents,
                            int stage, int64_t *lo, int64_t *hi);

/* What the entries of an index tensor may be, so that every read lies within its tensor: from lo to
 * hi; where they are bounds of a reduction, one not below that before it. */
typedef struct at_index_range {
    int64_t lo, hi;
    bool ascends;
    bool ends; /* compared with an axis, as the length of what is looked at along it: the greatest
                  in one of two draws, another one in the other */
    bool is_unknown; /* of more than 2^22 entries, which are 0 then */
    int64_t added;   /* to an entry where it is such a bound: 1 of pos + 1 */
} at_index_range;
/* The largest entry; -1 where some are negative. */
static inline double at_index_bound(const at_index_range *r) {
    return r->lo < 0 ? -1 : (double)r->hi;
}
/* out[tensor] of index tensors, as wide as can be, up to the largest extent; numbers that are
 * calculated with, where that makes sums exact, less; not 0 where something is divided by what is
 * computed. {0} where nothing is allowed, and with more than 2^22 entries. Reads are checked some
 * dozens of times with data. AT_E_INTERRUPTED once *stop (may be NULL) is set. */
at_status at_compute_index_ranges(at_arena *a, const at_compute *c, const int64_t *values,
                                  at_index_range *out, const volatile int *stop, at_error *err);
/* Of a kernel's callers: of index tensors, all entries that reads allow one by one, with those of
 * other tensors within their ranges; those that ascend as above. */
at_status at_compute_entry_ranges(at_arena *a, const at_compute *c, const int64_t *values,
                                  at_index_range *out, at_error *err);
/* out[tensor] of index tensors and of those that are checked (at_tensor_is_checked). */
at_status at_compute_given_ranges(at_arena *a, const at_compute *c, const int64_t *values,
                                  at_index_range *out, at_error *err);
/* entry_parts.c: does every read of an index tensor, or of a stage that copies its entries, take a
 * part of one entry alone, as of packed words? Then entries may be negative. */
bool at_index_is_packed(at_arena *a, const at_compute *c, int tensor);
/* n entries of such a range; where there are four and more, lo and hi are among them. Entries that
 * ascend begin with lo and end with hi; one that is alone is hi. In draw 1 a few that ascend are
 * at_entries_apart apart, from lo on. Others are in random order: `once` different ones, and some
 * of these again; 0: random ones, as where the range has more than eight times n. The i-th of the
 * different ones is lo + (first + i)*step modulo the range. Draw 0 has as many different ones as
 * there can be; draw 1 goes on where these end or, where they are all, has half of them, and one
 * often. Of those that end an axis every other one is hi, in draw 1 the ones between;
 * at_entries_below are left for entries from lo to hi - 1. */
void at_index_fill(const at_index_range *r, int draw, int64_t n, at_rng *rng, int32_t *out);
int64_t at_entries_below(int64_t n, int draw);
/* In draw 1 the i-th of n entries that ascend is max(lo, i*that + at_entries_begin); 0: they are
 * not such, as of many entries, whose differences are of all kinds. */
int64_t at_entries_apart(const at_index_range *r, int draw, int64_t n);
int64_t at_entries_begin(const at_index_range *r, int64_t n);
typedef struct at_entry_spread {
    int64_t once, first, step;
} at_entry_spread;
at_entry_spread at_entries_spread(const at_index_range *r, int draw, int64_t n);

/* Floating-point work: 2 x the multiply-adds of all sums, one for each product that a term is or
 * adds up, but for those that are 0 since an index leaves a remainder; where there are none, 2 x
 * the terms of all sums. data (may be NULL) serves data-dependent bounds; -1 where they are needed
 * and absent. */
double at_compute_flops(const at_compute *c, const int64_t *values, const at_data *data);
/* Largest |value| and largest sum of |terms| any stage can have when every float input lies within
 * -b .. b (interval arithmetic over the expressions); data-dependent lengths are at most
 * max_dynamic. given (may be NULL): [tensor] the bound of an input that has its own, or of an index
 * tensor's entries, which are not negative then; else -1.
 * *ratio: the largest of these sums in units of its grain, the power of two that all values of the
 * stage are multiples of where inputs are whole numbers. INFINITY, both, if unbounded. */
double at_compute_bound(const at_compute *c, const int64_t *values, double b, const double *given,
                        int64_t max_dynamic, double *ratio);
/* That ratio where inputs and weights have bounds of their own, `most`, and whole multiples of
 * `unit` as values ([tensor], both). At most 2^24: any order of summation is exact in float. */
double at_compute_ratio(const at_compute *c, const int64_t *values, const double *most,
                        const double *unit, const double *given, int64_t max_dynamic);
/* The largest b <= 8 (integer, at least 1) for which any order of summation is exact in float:
 * every value is a multiple of a power of two, and no sum exceeds 2^24 of them. 0 if none, or where
 * a value need not be such a multiple. */
int at_compute_exact_range(const at_compute *c, const int64_t *values, const double *given,
                           int64_t max_dynamic);
/* Where tensors have types of integers, floats are rounded at each operation, as written: is every
 * stage the same bits in any order of summation? Sums and products of floats are not, nor functions
 * that round, nor what is made of these. The first stage of integers that is not, or -1. */
bool at_compute_is_steady(const at_compute *c);
int at_compute_unsteady_integers(const at_compute *c);
/* Is there such a multiple for all stages, however large they may become? */
bool at_compute_is_whole(const at_compute *c, const int64_t *values);

/* Of a running sum, `s[t:T] = sum(k:0..t + 1) ..` or `sum(k:0..t) ..`, whose terms say nothing of
 * t, the axis t: an element is that of t - 1 and one more term. -1: it is none. Then, the term is
 * that of t less this: 0 or 1. */
int at_running_axis(const at_tensor *t);
int at_running_lag(const at_tensor *t);
/* Of a reduction of which each term counts for one place alone along some axes, `h[b:B] = sum(n:N)
 * i[n] == b ? v[n] : 0` (scatter.c): these axes, as a set, and the place along each, an index or a
 * value of all but these axes. A place outside is none, and its term is left out. */
#define AT_SCATTER_AXES 32
typedef struct at_scatter {
    uint32_t axes;
    const at_expr *place[AT_SCATTER_AXES];
} at_scatter;
at_scatter at_scatter_of(const at_tensor *t);
/* What has to hold so that the place along an axis may be worked out, in a; NULL: nothing has. */
const at_expr *at_scatter_guard(at_arena *a, const at_tensor *t, const at_scatter *x, int axis);
/* Is it the equation that says the place along one of the axes? -1: it is none. */
int at_scatter_equation(const at_scatter *x, const at_expr *e);
/* Where a stage that reads itself does so; axes as sets. */
#define AT_RECURRENCE_AXES 32
typedef struct at_recurrence {
    uint32_t steps;  /* the first axes along which reads go back: their loops go step by step */
    uint32_t beyond; /* others along which reads lead away */
    /* Of the reads that first go back along this axis: along which others they go back, or lead
     * elsewhere. */
    uint32_t back[AT_RECURRENCE_AXES], across[AT_RECURRENCE_AXES];
} at_recurrence;
at_recurrence at_recurrence_of(const at_compute *c, int stage);
/* The axes along which a stage goes on from step to step: of what reads itself its steps, of a
 * running sum its axis, along which a tree may let it do so. */
uint32_t at_stage_steps(const at_compute *c, int stage);
bool at_compute_has_recurrence(const at_compute *c); /* or a cycle */
/* The cycle of a stage; NULL: it is in none. */
const at_cycle *at_cycle_of(const at_compute *c, int stage);
/* The axes of a stage whose loops of steps it shares, as bits; 0: it is in no cycle. */
uint32_t at_cycle_steps(const at_compute *c, int stage);
/* The axis of its cycle along which a stage's read of a stage goes back to an earlier step; -1: it
 * does not, or is what makes the stage a recurrence. Then, whether it may be of the same step, too.
 */
int at_cycle_back(const at_compute *c, int stage, const at_expr *read);
bool at_cycle_reads_step(const at_compute *c, int stage, const at_expr *read);

#endif
