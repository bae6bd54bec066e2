/* codegen/affine.h: indices between the passes: affine forms over symbols.
 *
 * A symbol is a loop's variable or an opaque value (a floor division, an entry of an index tensor,
 * a minimum or maximum, a product), which is itself defined over affine forms. A loop's symbol has
 * a range, kept in lo and hi while a pass walks down (at_range_enter): sibling copies of a subtree
 * share their loop symbols, and what differs is the range on the path. */
#ifndef AT_CODEGEN_AFFINE_H
#define AT_CODEGEN_AFFINE_H

#include "base/base.h"

typedef struct at_term {
    int sym;
    int64_t k;
} at_term;
typedef struct at_aff { /* c + sum k*sym, terms ascending by symbol, no zero k; immutable */
    int64_t c;
    int n;
    at_term t[];
} at_aff;

#define AT_MAX_LOOPS 128
typedef unsigned __int128 at_mask; /* set of loop symbols */

typedef enum at_sym_kind {
    AT_SYM_LOOP,
    AT_SYM_DIV,
    AT_SYM_LOAD,
    AT_SYM_MIN,
    AT_SYM_MAX,
    AT_SYM_MUL
} at_sym_kind;
typedef struct at_sym {
    at_sym_kind kind;
    const char *name;
    int64_t lo, hi;         /* loop: inclusive range on the current path */
    bool may_be_empty;      /* loop: its bounds on the current path are worked out at run time */
    const at_aff *of, *of2; /* div, load: operand; min, max, mul: both */
    int64_t by;             /* div: the divisor, positive */
    int tensor;             /* load: the index tensor */
    at_mask deps;           /* loop symbols it depends on; a loop: itself */
} at_sym;

typedef struct at_low at_low;

/* ---- sums (affine.c) ------------------------------------------------------------------------- */

const at_aff *at_aff_const(at_low *l, int64_t c);
const at_aff *at_aff_sym(at_low *l, int sym);
const at_aff *at_aff_add(at_low *l, const at_aff *x, const at_aff *y);
const at_aff *at_aff_sub(at_low *l, const at_aff *x, const at_aff *y);
const at_aff *at_aff_scale(at_low *l, const at_aff *x, int64_t k);
const at_aff *at_aff_shift(at_low *l, const at_aff *x, int64_t c);
const at_aff *at_aff_add_times(at_low *l, const at_aff *x, const at_aff *y,
                               int64_t k); /* x + k*y */
bool at_aff_equal(const at_aff *x, const at_aff *y);
bool at_aff_is_beside(const at_aff *x, const at_aff *y); /* is x - y a number? */
int64_t at_aff_coef(const at_aff *x, int sym);
/* Terms over the loops in `inside` (opaque symbols by what they depend on), without the constant;
 * the rest goes to *rest (may be NULL). */
const at_aff *at_aff_part(at_low *l, const at_aff *x, at_mask inside, const at_aff **rest);
at_mask at_aff_deps(const at_low *l, const at_aff *x);
/* Loops hidden in opaque symbols: x is affine in all others. */
at_mask at_aff_opaque_deps(const at_low *l, const at_aff *x);
bool at_aff_reads(const at_low *l, const at_aff *x); /* depends on an index tensor's data */
/* A minimum or maximum has two operands. If one is a number and the other a symbol plus a number,
 * this is the other; NULL: they are something else. */
const at_aff *at_aff_bounded(const at_sym *s);
/* The entry of an index tensor that a symbol is, or that minima and maxima with numbers are taken
 * of in it. Its address must be affine in the loops of `inside`. -1: there is none. */
int at_aff_entry(const at_low *l, int sym, at_mask inside);
/* The entry that a quotient is of, beside loops of `inside`, where nothing bounds it; -1: it is of
 * something else, or of several. */
int at_aff_digit_entry(const at_low *l, int sym, at_mask inside);
/* Is x affine in the loops of `inside`, but for quotients of them, for such entries and quotients
 * of one? */
bool at_aff_indexed(const at_low *l, const at_aff *x, at_mask inside);
/* The symbol floor((sym + c)/by) in x, through which alone x depends on sym; -1: it does otherwise.
 */
int at_aff_digit(const at_low *l, const at_aff *x, int sym);

/* ---- ranges (affine_range.c) ----------------------------------------------------------------- */

/* Smallest and largest value under the current ranges. AT_AFF_INF where unknown. */
#define AT_AFF_INF ((int64_t)1 << 60)
void at_aff_range(at_low *l, const at_aff *x, int64_t *lo, int64_t *hi);

/* ---- symbols (affine_symbols.c) -------------------------------------------------------------- */

#define AT_BIT(sym) ((at_mask)1 << (sym))
/* A new loop's, range 0 .. extent-1. */
int at_sym_loop(at_low *l, const char *name, int64_t extent);
/* The same of a loop around parts of `size` iterations of loop `of`: one for all its copies that
 * are cut alike, of which none stands in another. name is borrowed. */
int at_sym_parts(at_low *l, int of, int64_t size, int64_t trips, const char *name);
const at_aff *at_aff_div(at_low *l, const at_aff *x, int64_t by); /* floor */
const at_aff *at_aff_mod(at_low *l, const at_aff *x, int64_t by); /* x - by*floor(x/by) */
const at_aff *at_aff_min(at_low *l, const at_aff *x, const at_aff *y);
const at_aff *at_aff_max(at_low *l, const at_aff *x, const at_aff *y);
const at_aff *at_aff_mul(at_low *l, const at_aff *x, const at_aff *y);
const at_aff *at_aff_load(at_low *l, int tensor, const at_aff *address);
/* An opaque symbol's value of other operands. */
const at_aff *at_aff_remade(at_low *l, const at_sym *s, const at_aff *of, const at_aff *of2);
/* x with sym replaced by y, inside opaque symbols too. */
const at_aff *at_aff_subst(at_low *l, const at_aff *x, int sym, const at_aff *y);
/* x with reads of index tensors that stay inside them wherever the loops go, so that they may stand
 * above what guards them (a tail, a condition). buffers: [tensor] */
struct at_buffer;
const at_aff *at_aff_inside(at_low *l, const at_aff *x, const struct at_buffer *buffers);
/* x with the loops replaced whose current range is a single value, but for those in `keep`. Reads
 * of an index tensor keep a loop that may also run no time: they belong inside it. */
const at_aff *at_aff_concrete(at_low *l, const at_aff *x, at_mask keep);

#endif
