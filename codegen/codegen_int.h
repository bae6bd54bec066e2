/* codegen/codegen_int.h: the program between passes.
 *
 * A tree of loops, conditions and statements. Every index is an affine form over symbols: loop
 * variables, and opaque values (floor divisions, loads from index tensors, minima and maxima) that
 * are themselves defined over affine forms. Sibling copies of a subtree (partition) share their
 * loop symbols; what differs is the range a symbol has on the path, kept in sym.lo/hi while a pass
 * walks down. */
#ifndef AT_CODEGEN_INT_H
#define AT_CODEGEN_INT_H

#include "codegen/codegen.h"

/* ---- affine forms (affine.c) ----------------------------------------------------------------- */

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
    AT_SYM_MAX
} at_sym_kind;
typedef struct at_sym {
    at_sym_kind kind;
    const char *name;
    int64_t lo, hi;         /* loop: inclusive range on the current path */
    bool may_be_empty;      /* loop: its bounds on the current path are worked out at run time */
    const at_aff *of, *of2; /* div, load: operand; min, max: both */
    int64_t by;             /* div: the divisor, positive */
    int tensor;             /* load: the index tensor */
    at_mask deps;           /* loop symbols it depends on; a loop: itself */
} at_sym;

typedef struct at_low at_low;

const at_aff *at_aff_const(at_low *l, int64_t c);
const at_aff *at_aff_sym(at_low *l, int sym);
const at_aff *at_aff_add(at_low *l, const at_aff *x, const at_aff *y);
const at_aff *at_aff_scale(at_low *l, const at_aff *x, int64_t k);
const at_aff *at_aff_sub(at_low *l, const at_aff *x, const at_aff *y);
const at_aff *at_aff_shift(at_low *l, const at_aff *x, int64_t c);
const at_aff *at_aff_div(at_low *l, const at_aff *x, int64_t by); /* floor */
const at_aff *at_aff_mod(at_low *l, const at_aff *x, int64_t by); /* x - by*floor(x/by) */
const at_aff *at_aff_min(at_low *l, const at_aff *x, const at_aff *y);
const at_aff *at_aff_max(at_low *l, const at_aff *x, const at_aff *y);
const at_aff *at_aff_load(at_low *l, int tensor, const at_aff *address);
bool at_aff_equal(const at_aff *x, const at_aff *y);
int64_t at_aff_coef(const at_aff *x, int sym);
/* x with sym replaced by y, inside opaque symbols too. */
const at_aff *at_aff_subst(at_low *l, const at_aff *x, int sym, const at_aff *y);
/* Terms over the loops in `inside` (opaque symbols by what they depend on), without the constant;
 * the rest goes to *rest (may be NULL). */
const at_aff *at_aff_part(at_low *l, const at_aff *x, at_mask inside, const at_aff **rest);
at_mask at_aff_deps(const at_low *l, const at_aff *x);
/* Loops hidden in opaque symbols: x is affine in all others. */
at_mask at_aff_opaque_deps(const at_low *l, const at_aff *x);
/* Smallest and largest value under the current ranges. AT_AFF_INF where unknown. */
#define AT_AFF_INF ((int64_t)1 << 60)
void at_aff_range(at_low *l, const at_aff *x, int64_t *lo, int64_t *hi);
bool at_aff_reads(const at_low *l, const at_aff *x); /* depends on an index tensor's data */
/* x with reads of index tensors that stay inside them wherever the loops go, so that they may stand
 * above what guards them (a tail, a condition). buffers: [tensor] */
struct at_buffer;
const at_aff *at_aff_inside(at_low *l, const at_aff *x, const struct at_buffer *buffers);
/* Is x affine in the loops of `inside`, but for at most one entry of an index tensor at an address
 * that is, and quotients of it? *entry: that symbol, or -1; may be NULL. */
bool at_aff_indexed(const at_low *l, const at_aff *x, at_mask inside, int *entry);
/* x with the loops replaced whose current range is a single value, but for those in `keep`. Reads
 * of an index tensor keep a loop that may also run no time: they belong inside it. */
const at_aff *at_aff_concrete(at_low *l, const at_aff *x, at_mask keep);
int at_sym_loop(at_low *l, const char *name,
                int64_t extent); /* new loop symbol, range 0 .. extent-1 */
#define AT_BIT(sym) ((at_mask)1 << (sym))

/* ---- conditions and values ------------------------------------------------------------------- */

typedef enum at_cond_op {
    AT_C_FALSE,
    AT_C_TRUE,
    AT_C_ATOM,
    AT_C_AND,
    AT_C_OR,
    AT_C_NOT
} at_cond_op;
typedef struct at_cond at_cond;
struct at_cond {
    at_cond_op op;
    const at_aff *atom; /* atom: >= 0 */
    const at_cond *a, *b;
};

typedef enum at_val_op {
    AT_V_CONST,
    AT_V_LOAD,
    AT_V_ADD,
    AT_V_SUB,
    AT_V_MUL,
    AT_V_DIV,
    AT_V_MIN,
    AT_V_MAX,
    AT_V_SELECT /* cond ? a : b */
} at_val_op;
typedef struct at_value at_value;
struct at_value {
    at_val_op op;
    float number;
    int tensor;        /* load */
    const at_aff **ix; /* load: index per dimension, until `buffers` */
    const at_aff *at;  /* load: element address, from `buffers` on */
    const at_cond *cond;
    const at_value *a, *b;
};

/* ---- the tree -------------------------------------------------------------------------------- */

/* What is known of an atom on a path, where ranges do not show it. MIXED: it changes in there, and
 * its loop has already been cut around that. */
typedef enum at_truth { AT_FAILS, AT_HOLDS, AT_MIXED } at_truth;
typedef struct at_fact {
    const at_aff *atom;
    at_truth truth;
    const struct at_fact *next;
} at_fact;

typedef enum at_ir_kind { AT_IR_LOOP, AT_IR_IF, AT_IR_STMT, AT_IR_TILE } at_ir_kind;
typedef struct at_ir at_ir;
struct at_ir {
    at_ir_kind kind;
    at_ir *next, *child; /* child: loop body, then-branch */
    at_ir *other;        /* else-branch */
    int line;            /* of the tree's text; 0: of no leaf there */
    /* loop */
    int sym;
    int piece; /* names the same part in sibling nests; -1 none */
    at_ann ann;
    bool is_reduce;
    bool transposes; /* a square that is loaded along this loop, stored along the one inside */
    int64_t lo, hi;  /* constant bounds, hi exclusive; with runtime bounds: what contains them */
    const at_aff *lo_aff, *hi_aff; /* runtime bounds inside [lo, hi), or NULL */
    const at_fact *facts;          /* of a loop or an if's then-branch; else-branch: other_facts */
    const at_fact *other_facts;
    const at_aff *test; /* if: test >= 0 */
    /* statement */
    int tensor;        /* written */
    const at_aff **ix; /* until `buffers` */
    const at_aff *at;  /* element address, from `buffers` on */
    bool add;          /* += */
    const at_value *val;
    const at_aff *integer;  /* of a table, from `tables` on: the int stored instead of val */
    const at_cond *guard;   /* skipped where false; NULL: none */
    const char *label;      /* stage name, for comments */
    int prefetch_tensor;    /* reads of it ask for what lies prefetch_bytes ahead */
    int64_t prefetch_bytes; /* 0: not */
    /* tile call */
    struct at_tile_call *call;
};

typedef enum at_place {
    AT_PLACE_NONE,
    AT_PLACE_PARAM,
    AT_PLACE_WORKSPACE,
    AT_PLACE_THREAD
} at_place;
typedef struct at_buffer { /* [tensor] */
    at_place place;
    int param;            /* index of buf[] */
    int64_t offset_bytes; /* in the workspace part */
    int64_t elements;
    int64_t *stride;     /* [num_axes], elements */
    const at_aff **base; /* [num_axes] subtracted from an index: outer part and lowest constant */
    int64_t *extent;     /* [num_axes] stored */
    at_mask outer;       /* loops above the line the storage lives in */
    int line_sym;        /* the innermost of them; -1: the root */
    bool packed;         /* written by the pack function */
    bool in_register;    /* all of it lives in a tile's registers (tiles) */
} at_buffer;

struct at_tile_call;
struct at_tile;

struct at_low {
    at_arena *arena;
    const at_program *program;
    const at_lower_options *options;
    at_error *err;
    at_dialect dialect;
    const at_target *target;
    AT_VEC(at_sym) syms; /* the first AT_MAX_LOOPS are places for loops, num_loops of them taken */
    int num_loops;
    at_ir *root;        /* kernel */
    at_ir *pack_root;   /* packing nests, when ahead */
    at_buffer *buffers; /* [num_tensors] */
    at_param *params;
    int num_params;
    int64_t workspace_bytes, thread_bytes;
    AT_VEC(struct at_tile *) tiles;
    AT_VEC(const char *) notes; /* as at_kernel's */
    size_t common_bytes;        /* of source: its beginning that all kernels share */
    const at_bound *bound;      /* NULL: not asked for */
    const char *source, *entry,
        *pack; /* emitted text; function names, pack NULL if nothing is packed */
};

at_ir *at_ir_new(at_low *l, at_ir_kind kind);
at_ir *at_ir_copy(at_low *l, const at_ir *n); /* n and below, without n->next */
at_mask at_ir_loops(const at_ir *list);       /* loop symbols bound in a list and below */
/* Does anything in a list depend on this symbol, directly or inside another? */
bool at_ir_mentions(const at_low *l, const at_ir *list, int sym);
/* The bounds of a loop, constant or not. */
const at_aff *at_ir_lo(at_low *l, const at_ir *n);
const at_aff *at_ir_hi(at_low *l, const at_ir *n);
at_mask at_ir_loops_of(const at_ir *n); /* of one node, without its neighbours */
void at_ir_subst(at_low *l, at_ir *list, int sym,
                 const at_aff *y); /* in place, in a list and below */
at_cond_op at_cond_decide(at_low *l, const at_cond *c,
                          const at_fact *facts); /* TRUE, FALSE or ATOM: unknown */
const at_value *at_value_fold(at_low *l, const at_value *v,
                              const at_fact *facts); /* decided selects go */
bool at_value_is_zero(const at_value *v);
/* What was written and is not so in the code, each text once (ir.c). */
void at_lower_note(at_low *l, const char *text);
void at_lower_fail(at_low *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Enters the range of a loop's symbol; the old one is returned for at_range_leave. */
at_sym at_range_enter(at_low *l, const at_ir *loop);
void at_range_leave(at_low *l, const at_ir *loop, at_sym old);

/* ---- passes, in order ------------------------------------------------------------------------ */

bool at_pass_dissolve(
    at_low *l); /* dissolve.c: program -> tree; stages without leaf go into their readers */
bool at_pass_digits(at_low *l); /* digits.c: loops cut at the digits asked of them */
bool at_pass_buffers(
    at_low *l); /* buffers.c: where every stage is stored; indices become addresses */
bool at_pass_partition(at_low *l); /* partition.c: conditions and tails leave the inner loops */
bool at_pass_tables(at_low *l);    /* tables.c: digits of index lists' entries, looked up */
bool at_pass_tiles(at_low *l);     /* tiles.c: subtrees become tile programs and calls */
bool at_pass_emit(at_low *l);      /* emit.c: addresses hoisted, C printed */

/* The passes up to and including `last`, all where NULL: tests run the program between passes. */
at_status at_lower_until(at_arena *a, const at_program *p, const at_lower_options *o,
                         const char *last, at_low **out, at_error *err);

void at_ir_print(at_low *l, at_text *out, const at_ir *list, int indent); /* dump.c */
void at_aff_print(const at_low *l, at_text *out, const at_aff *x);

#endif
