/* codegen/ir.h: the program between the passes: a tree of loops, conditions, statements and, from
 * `tiles` on, calls of tiles. Every index is an affine form. */
#ifndef AT_CODEGEN_IR_H
#define AT_CODEGEN_IR_H

#include "codegen/affine.h"
#include "schedule/schedule.h"

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
    AT_V_BIT_AND, /* of integers, as the following */
    AT_V_BIT_OR,
    AT_V_SHIFT_RIGHT, /* by b, a constant */
    AT_V_SELECT,      /* cond ? a : b */
    AT_V_CALL,        /* function of a */
    AT_V_NUMBER,      /* a, an integer or an entry of an index list, as a number */
    AT_V_WHOLE,       /* a, a number within 32 bits, as an integer: halves go to the even one */
    AT_V_TABLE,       /* table[at] */
    AT_V_INDEX,       /* at, as a number, until `tables` */
    AT_V_LESS,        /* all bits where a < b, else none */
    AT_V_AT_MOST,
    AT_V_EQUAL,
    AT_V_CHOOSE, /* b's a where a has all bits, b's b where it has none */
    AT_V_EITHER,
    AT_V_PLACED /* the term a of a scatter, which belongs to the place b, a whole number */
} at_val_op;
/* Of a read: what entries of an index list are whose places it depends on, since each index of it,
 * and of the stages it is read by, lies within its axis. */
typedef struct at_entry_bound {
    int list, sym; /* the entry as a symbol, until `buffers` */
    int64_t lo, hi;
    const struct at_entry_bound *next;
} at_entry_bound;

typedef struct at_value at_value;
struct at_value {
    at_val_op op;
    bool whole;    /* its value is a 32-bit integer: of const, load and arithmetic */
    double number; /* as written: what it becomes of it rounds; load: see may_miss */
    bool may_miss; /* load: at -1 of the list that its address has an entry of, it is `number` */
    at_function function; /* call */
    int tensor;           /* load; table: the stage of these numbers */
    const double *table;  /* [table_len] in the order of its elements */
    int table_len;
    const at_aff **ix;     /* load: index per dimension, until `buffers` */
    const at_aff *at;      /* load: element address, from `buffers` on; table: place in it; index */
    const int64_t *bounds; /* index: [2] least and largest; NULL: as loops and entries tell */
    const at_entry_bound *entries; /* load */
    const at_cond *cond;
    const at_value *a, *b;
};

/* ---- the tree -------------------------------------------------------------------------------- */

/* What is known of an atom on a path, where ranges do not show it. MIXED: it changes in there, and
 * its loop has already been cut around that. BETWEEN: there are versions for where it does not.
 * ZERO: its value is 0. */
typedef enum at_truth { AT_FAILS, AT_HOLDS, AT_MIXED, AT_BETWEEN, AT_ZERO } at_truth;
typedef struct at_fact {
    const at_aff *atom;
    at_truth truth;
    bool outside; /* all its loops stand around the path: it is asked about atoms of other loops,
                     too */
    const struct at_fact *next;
} at_fact;

typedef enum at_ir_kind { AT_IR_LOOP, AT_IR_IF, AT_IR_STMT, AT_IR_TILE } at_ir_kind;
typedef struct at_ir at_ir;
typedef struct at_loop {
    int sym;
    int piece; /* names the same part in sibling nests; -1 none */
    at_ann ann;
    bool is_reduce;
    bool is_step;    /* its turns are steps of a cycle: each is done before the next one */
    bool is_listed;  /* each turn reads where another entry of a list says: it is not written out */
    bool was_vector; /* before it was cut at a bound that is worked out at run time */
    bool is_turned;  /* of the two loops of a copy whose rows are the other side's columns */
    bool is_late;    /* its terms join those of others when the lanes of these are one */
    bool transposes; /* a square that is loaded along this loop, stored along the one inside */
    int64_t lo, hi;  /* constant bounds, hi exclusive; with runtime bounds: what contains them */
    const at_aff *lo_aff, *hi_aff; /* runtime bounds inside [lo, hi), or NULL */
} at_loop;

typedef struct at_stmt {
    int tensor;        /* written */
    const at_aff **ix; /* until `buffers` */
    const at_aff *at;  /* element address, from `buffers` on */
    bool add;          /* joins what is there: += of a sum */
    /* A scatter: its value, AT_V_PLACED or the neutral element, joins what is there, so many places
     * on; outside of 0 .. num_places - 1 nothing is joined. 0: it is none. */
    int64_t num_places;
    int64_t place_stride;   /* elements from one place to the next, from `buffers` on */
    uint32_t placed;        /* the axes that places are along; `ix` has a symbol of no loop there */
    at_reduction reduction; /* of the tensor */
    const at_value *val;
    const at_aff *integer; /* of a table or a list of places: the number stored instead of val */
    const at_cond *guard;  /* skipped where false; NULL: none */
    const char *label;     /* stage name, for comments */
    int num_prefetch;
    const at_prefetch *prefetch; /* [num_prefetch] */
    int lines_apart; /* of so many lines that these go along, one is asked for; 0: each is */
    /* The element of the first of these tensors that is asked for instead, once for all rows and
     * vectors of a step, with as many lines behind it; NULL: none */
    const at_aff *ahead;
    int ahead_lines;
} at_stmt;

struct at_ir {
    at_ir_kind kind;
    int line;     /* of the tree's text; 0: of no leaf there */
    at_ir *next;  /* its neighbour behind */
    at_ir *child; /* a loop's body, an if's then-branch; else NULL */
    at_ir *other; /* an if's else-branch; else NULL */
    union {       /* by kind */
        at_loop loop;
        const at_aff *test; /* if: test >= 0 */
        at_stmt stmt;
        struct at_tile_call *call;
    };
};

/* Of a loop. */
static inline bool at_loop_is_fixed(const at_ir *n) { return !n->loop.lo_aff && !n->loop.hi_aff; }
static inline bool at_loop_is_unrolled(const at_ir *n) {
    return n->loop.ann == AT_ANN_UNROLL || n->loop.ann == AT_ANN_VEC || n->loop.ann == AT_ANN_DOT;
}
static inline int64_t at_loop_trips(const at_ir *n) {
    return n->loop.hi - n->loop.lo;
} /* at most */

/* Neither written out nor a vector: its iterations are not told apart in registers. */
static inline bool at_loop_is_counted(const at_ir *n) {
    return !at_loop_is_fixed(n) || (!at_loop_is_unrolled(n) && at_loop_trips(n) > 1);
}

at_ir *at_ir_new(at_low *l, at_ir_kind kind);
at_ir *at_ir_copy(at_low *l, const at_ir *n); /* n and below, without n->next */
at_ir *at_ir_copy_list(at_low *l, const at_ir *list);
/* Behind the end of another list, of which *tail is where the next node goes. */
void at_ir_append(at_ir ***tail, at_ir *list);
bool at_ir_has_sum(const at_ir *list);       /* does a statement in it join what is there? */
at_mask at_ir_loops(const at_ir *list);      /* loop symbols bound in a list and below */
at_mask at_counted_loops(const at_ir *list); /* those of them that are counted */
/* Does anything in a list depend on this symbol, directly or inside another? */
bool at_ir_mentions(const at_low *l, const at_ir *list, int sym);
/* The bounds of a loop, constant or not. */
const at_aff *at_ir_lo(at_low *l, const at_ir *n);
const at_aff *at_ir_hi(at_low *l, const at_ir *n);
at_mask at_ir_loops_of(const at_ir *n); /* of one node, without its neighbours */
void at_ir_subst(at_low *l, at_ir *list, int sym,
                 const at_aff *y); /* in place, in a list and below */
/* Every atom of the conditions of statements, in place, in a list and below, becomes another. */
typedef const at_aff *at_atom_change(at_low *l, const at_aff *atom, const void *context);
void at_ir_change_atoms(at_low *l, at_ir *list, at_atom_change *change, const void *context);
at_cond_op at_cond_decide(at_low *l, const at_cond *c,
                          const at_fact *facts); /* TRUE, FALSE or ATOM: unknown */
/* Whether x >= 0, by ranges and by what facts say of loops that x depends on. */
bool at_aff_is_sure(at_low *l, const at_aff *x, const at_fact *facts);
/* The atom without what facts say of the value of a part of it. */
const at_aff *at_atom_known(at_low *l, const at_aff *atom, const at_fact *facts);
const at_value *at_value_fold(at_low *l, const at_value *v,
                              const at_fact *facts); /* decided selects go */
const at_value *at_value_new(at_low *l, at_value v); /* a copy in l's arena */
/* The same of other operands; v itself where they are its own. */
const at_value *at_value_of(at_low *l, const at_value *v, const at_value *a, const at_value *b);
const at_value *at_value_const(at_low *l, double number, bool whole);
const at_value *at_value_binary(at_low *l, at_val_op op, const at_value *a, const at_value *b);
const at_value *at_value_bits(at_low *l, bool all);  /* a mask of all lanes, or of none */
bool at_value_has_bits(const at_value *v, bool all); /* is it one, or 0? */
/* x where the mask's lane is set, else y; all three are worked out. */
const at_value *at_value_choose(at_low *l, const at_value *mask, const at_value *x,
                                const at_value *y);
/* The larger or smaller: what is not a number is ignored; of nothing else it is -inf or inf. Its
 * operation has a second operand that is always a number. */
const at_value *at_value_extreme(at_low *l, at_val_op op, const at_value *x, const at_value *y);
bool at_value_is_zero(const at_value *v);
bool at_value_is_neutral(const at_value *v, at_reduction r, at_type type);
at_type at_low_tensor_type(const at_low *l, int tensor);
/* The same value as a number, and as an integer, if it is none. */
const at_value *at_value_as_number(at_low *l, const at_value *v);
const at_value *at_value_as_whole(at_low *l, const at_value *v);
/* wholes.c: an index that is known to fit 32 bits, in integers of these where floats may not hold
 * it. */
const at_value *at_value_of_index(at_low *l, const at_value *v);
/* Of indices a/b, rounded down, or the rest that it leaves. */
const at_value *at_value_index_quotient(at_low *l, const at_value *a, const at_value *b, bool rest);
/* Are two integers less than 2^31 apart, as far as their ranges are known? */
bool at_value_are_near(const at_low *l, const at_value *x, const at_value *y);
/* As an element of a type has it: saturated. */
const at_value *at_value_as_stored(at_low *l, const at_value *v, at_type type);
int64_t at_value_size(const at_value *v); /* values in it */
bool at_value_reads(const at_value *v, int tensor);
int at_value_calls(const at_value *v);                         /* of functions in it */
at_mask at_ir_table_loops(const at_low *l, const at_ir *list); /* that places in tables hang on */
/* Enters the range of a loop's symbol; the old one is returned for at_range_leave. */
at_sym at_range_enter(at_low *l, const at_ir *loop);
void at_range_leave(at_low *l, const at_ir *loop, at_sym old);
void at_ir_print(at_low *l, at_text *out, const at_ir *list, int indent); /* dump.c */

#endif
