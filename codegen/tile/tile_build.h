/* codegen/tile/tile_build.h: what the makers of a tile program share: the state, operations
 * (tile_ops.c), addresses (tile_place.c), values (tile_value.c), statements (tile_statement.c) and
 * loops (tile_loop.c). What does not fit a tile sets `failed`, and the caller of at_tile_build()
 * goes on without. */
#ifndef AT_CODEGEN_TILE_BUILD_H
#define AT_CODEGEN_TILE_BUILD_H

#include "codegen/tile/tile_make.h"

typedef struct { /* k * floor((times * entry + plus) / by) */
    int entry;   /* the symbol of an index list's entry, or of one that numbers bound */
    int list;    /* of a pointer: the list's slot, and where the entry is in it */
    int64_t list_off;
    int64_t k, times, plus, by;
    int64_t most; /* the dividend is from 0 to this; without division: not asked for */
} at_tile_digit;
#define MAX_DIGITS 4

typedef struct { /* an address: slot pointer + off elements; per counted loop a stride */
    int tensor;
    const at_aff *rest; /* what is known outside the tile */
    int64_t off;
    const at_term *stride; /* [num_strides] enclosing counted loops, outer first */
    int num_strides;
    int64_t lane;     /* stride along the current vector loop */
    int64_t by, plus; /* lane i is element (i + plus)/by; 0: lanes are a stride apart */
    int64_t cyclic;   /* it is cyclic*((i + plus)%by); 0: it is not */
    int64_t times;    /* it is times*((i + plus)/by); 0: it is not */
    at_tile_digit digits[MAX_DIGITS]; /* are added, of entries of index lists */
    int num_digits;
    bool may_miss; /* where the entry is below 0, what is read is */
    double number;
} at_tile_place;

typedef struct {             /* an address that was asked for under the counted loops of now */
    const at_aff *at;        /* NULL: none */
    const at_aff *in;        /* its part inside the tile, but for */
    const at_aff *quotients; /* those that add_quotient takes; NULL: there are none */
    at_tile_place place;     /* where it is with all unrolled loops and vectors at 0 */
    bool is_even;            /* else these loops need numbers before it is affine in the others */
} at_tile_form;
#define AT_TILE_FORMS 8

typedef struct { /* a pointer of the tile */
    int tensor;
    const at_aff *rest;
    const at_term *stride; /* [num_strides] */
    int num_strides;
    bool written;
    bool is_ahead; /* nothing is read there yet: what lies there is asked for */
    int made_in;   /* made of a list inside the straight-line body of that number; 0: an argument */
    int base;
    at_tile_digit digits[MAX_DIGITS];
    int num_digits;
    bool may_miss;
    double number;
} at_tile_slot;

typedef struct { /* an element vector that lives in a register */
    int tensor;
    int64_t off;
    int lanes;
    int64_t lane; /* stride of more than one lane, else 0 */
    int vreg;
    int slot;                  /* where it is loaded from and stored to; -1: nowhere */
    bool begins_neutral;       /* of one that is stored: what it begins with is, too */
    bool neutral;              /* all lanes hold the neutral element: no term was added yet */
    bool spread;               /* lanes are partial results, */
    bool mixed;                /* which the register did not begin as */
    bool in_four;              /* they are joined, and stored, with those of three others */
    int chain[AT_TILE_CHAINS]; /* partial results beside vreg, from 1 on */
    int num_chains, next;
    bool has_late; /* terms that join when its lanes are one have a register, */
    int late;      /* this one */
} at_tile_key;

#define AT_TILE_MOST_STEP (INT32_MAX / 64) /* from lane to lane beside an entry: within 32 bits */
typedef struct { /* lanes of a straight-line body that are 0, 1, 2, .. times a number */
    int body;
    int64_t times;
    int vreg;
} at_tile_numbered;

typedef struct { /* what this straight-line body has stored, and its virtual register has still */
    int slot, lanes, vreg;
    int64_t off;
} at_tile_stored;
#define MAX_STORED 8

typedef struct { /* what dot products made of an operand (tile_dot.c) */
    int of, made, how;
} at_build_moved;

typedef struct {        /* [tensor] a reduction under way */
    const at_ir *until; /* the last loop of it; NULL: none */
    int start;          /* it begins before this operation */
    bool held;          /* in registers, though the tensor lives in memory */
    bool across;        /* lanes may be partial results */
    int chains;         /* partial results per element, at most */
} at_tile_open;

typedef struct {
    at_low *l;
    const at_tile_regs *regs;
    at_mask inner;               /* loops of the list */
    int64_t bound[AT_MAX_LOOPS]; /* unrolled, vector: current value; counted: 0 */
    const at_ir *counted[16];    /* enclosing counted loops */
    int num_counted;
    at_tile_form forms[AT_TILE_FORMS];
    int next_form;
    int vec_sym, vec_lanes; /* current vector loop and how many of its iterations; -1: none */
    AT_VEC(at_tile_op) ops;
    AT_VEC(at_tile_vreg) vregs;
    AT_VEC(at_tile_key) keys;
    at_tile_stored stored[MAX_STORED];
    int num_stored;
    at_tile_open *open;   /* [tensor] */
    bool *wanted;         /* [tensor] in registers, and a vector reads one element of it */
    int trying;           /* a tensor that would be open across; -1 */
    bool late;            /* terms join when the lanes of those before are one */
    const at_ir *current; /* statement */
    int first_op;         /* of its value */
    bool looked_up;       /* it held elements of tables, which are numbers now */
    const at_ir *dot;     /* the loop whose terms one operation takes; NULL: none */
    bool all_lanes;       /* what it loads goes into all of them */
    int first_load;       /* loads of this straight-line body: virtual registers from here on */
    int *first_fresh;     /* [tensor] those that no store to it came behind: from here on */
    AT_VEC(int) loads;    /* all of them but constants, as virtual registers */
    AT_VEC(int) consts;   /* and constants of it, which no store changes */
    AT_VEC(at_build_moved) moved; /* and what dot products made of loads */
    at_tile_slot *slots;          /* [most_slots] */
    int num_slots, most_slots;
    int num_pointers; /* drop_slots: slots made inside, behind the others */
    int body;         /* number of the current straight-line body */
    at_tile_numbered numbered;
    const at_aff *trips[AT_TILE_MAX_TRIPS];
    int num_trips;
    AT_VEC(const char *) notes;
    bool turns_many;     /* rows of a square, and one more register, which some sets have not */
    bool failed, spends; /* registers that a sparing build has not */
} at_builder;

/* tile_ops.c */
at_tile_op *at_build_emit(at_builder *b, at_tile_kind kind); /* appended, without operands */
void at_build_start_body(at_builder *b); /* loads are shared within a straight-line body */
int at_build_vreg(at_builder *b, at_tile_vreg v);
/* A load or a constant, delayed by the allocator. */
int at_build_load(at_builder *b, at_tile_vreg v);
/* Asks for the lines that lie ahead of a vector load or store at `off` of slot `from`, as the
 * statement at hand says, each once. */
void at_build_prefetch(at_builder *b, int tensor, int from, int64_t off);
int at_build_const(at_builder *b, double number);
/* dst is what the operation updates; -1: a new register. x, y: -1: it has no such operand. */
int at_build_operation(at_builder *b, at_tile_kind kind, int dst, int x, int y);
/* The register of what this statement worked out already, as where it reads a stage twice that is
 * computed where it is read; -1: none. Accumulators change only behind its value. */
int at_build_had(at_builder *b, at_tile_kind kind, int x, int y);
static inline int at_build_lanes(const at_builder *b) { return b->vec_sym >= 0 ? b->vec_lanes : 1; }

/* tile_place.c: the address of an element of a tensor at the current iterations; its slot, which is
 * found or made; that of a load, of an index list's entry, too. */
at_tile_place at_build_locate(at_builder *b, int tensor, const at_aff *at);
at_tile_place at_build_locate_load(at_builder *b, const at_value *v);
/* Of an address in counted loops, whose parts in and outside the tile are given: what is known
 * outside, without the constant, which goes to *off. */
const at_aff *at_build_rest(at_low *l, const at_aff *in, const at_aff *rest,
                            const at_ir *const *counted, int num_counted, int64_t *off);
/* Where lanes are spread: how many numbers of memory that takes, and where they begin. */
void at_build_spread(at_tile_place *p, int *lanes);
int at_build_find_slot(at_builder *b, const at_tile_place *p, bool written);
int at_build_slot_of(at_builder *b, const at_tile_place *p);

/* tile_value.c */
int at_build_value(at_builder *b, const at_value *v);             /* its virtual register */
double at_build_constant(const at_builder *b, const at_value *v); /* as a register has it */
/* Does the tensor live in registers, or is it held in them here? */
bool at_build_is_register(const at_builder *b, int tensor);
/* The register of an element vector of such a tensor. What is used must have been defined: of a
 * tile that is cut, another part may do that. */
at_tile_key *at_build_key(at_builder *b, const at_tile_place *p, bool defines);
/* Elements of a group along the last axis of what is loaded, where all that moves the address goes
 * over whole groups, and all of these lie in memory; 0: they do not. */
int at_build_group(const at_low *l, const at_value *load);
/* tile_statement.c. Does an operation, a store aside, read this tensor? */
bool at_build_reads(const at_builder *b, const at_tile_op *op, int tensor);
void at_build_statement(at_builder *b, const at_ir *n);
/* tile_dot.c: why terms along a loop that is marked so are no dot product, in this vector (sym; -1:
 * none); NULL: they are. Their sum is added to acc. */
const char *at_build_not_dot(const at_builder *b, const at_ir *loop, int sym);
/* Of terms that are one, why it takes several instructions; NULL: it takes one. */
const char *at_build_not_one_dot(const at_builder *b, const at_ir *loop);
void at_build_dot(at_builder *b, int acc, const at_value *product);
/* The register of what is loaded with as many elements to a lane as it holds. */
int at_build_packed(at_builder *b, const at_value *load);
/* Is it a product of integers of 16 bits that one instruction adds? */
bool at_build_is_word_product(const at_low *l, const at_value *v);
/* Says of a sum whose products of bytes are added one by one that they are, where the target could
 * add four at once. */
void at_build_note_undotted(at_builder *b, const at_ir *sum);
/* A constant's number: of an integer the float of these bits. */
double at_build_bits(const at_value *v);

/* tile_gather.c: do entries of lists say where each lane of a load is, and its register then. */
bool at_build_is_gathered(const at_builder *b, const at_tile_place *p);
int at_build_gathered(at_builder *b, const at_value *load, const at_tile_place *p);

/* functions.c: a function of what is in a virtual register, which stays; the float of an integer.
 */
int at_build_function(at_builder *b, at_function f, int x);
int at_build_number(at_builder *b, int x);
int at_build_whole(at_builder *b, int x); /* the integer of a float */

/* tile_partial.c: before and behind a loop of a list: partial results of what it only adds to.
 * into = partial joined with a term. The partial result of a key that is next to take one. */
void at_open_reductions(at_builder *b, const at_ir *n);
void at_close_reductions(at_builder *b, const at_ir *n);
void at_build_join(at_builder *b, int tensor, int into, int partial, int term);
int at_build_partial(at_builder *b, at_tile_key *k);

/* tile_group.c: stores to every so many floats that fill all of them are stores of whole registers.
 */
void at_build_group_stores(at_builder *b);
/* An operation that puts lanes of two registers together, `by` saying how; its register. */
int at_build_together(at_builder *b, at_tile_kind kind, int x, int y, int by);
/* In every four lanes: out[i] is the i-th four of those of v[0], v[1], .. in turn; n: 2 to 4. */
void at_build_interleave(at_builder *b, const int *v, int n, int *out);

/* tile_group_loads.c: loads of every so many floats that lie beside each other are loads of four
 * elements of each row. */
void at_build_group_loads(at_builder *b);

/* tile_weave_rows.c: products of bytes that are added one by one are added four at a time, where
 * they lie so. */
void at_build_weave_rows(at_builder *b);
/* tile_bytes.c: stores of vectors of bytes side by side become one, where the target has it. */
void at_build_pack_stores(at_builder *b);
/* tile_narrow.c: the register of bytes that four vectors side by side are, which are stored as the
 * type has them, worked out in 8 or 16 bits; -1: they do not fit, or the target has none. */
int at_build_narrow(at_builder *b, const at_tile_op *ops, const int stores[4], at_type type);

/* tile_vector.c: why a loop that is to be a vector cannot be; NULL: it can. Does it run over the
 * terms of a sum as often as data say, or over a copy as often as is known at run time, so that it
 * may be vectors, and a rest? */
const char *at_build_not_vector(at_builder *b, const at_ir *n);
bool at_build_has_parts(const at_builder *b, const at_ir *n);

/* tile_loop.c: nests in order. Does a loop stay one? How often does it run then? */
void at_build_list(at_builder *b, const at_ir *list);
bool at_build_is_counted(const at_ir *n);
const at_aff *at_build_trips(at_low *l, const at_ir *n);

#endif
