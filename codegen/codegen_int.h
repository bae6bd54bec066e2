/* codegen/codegen_int.h: what passes share: the program under way, and the passes. */
#ifndef AT_CODEGEN_INT_H
#define AT_CODEGEN_INT_H

#include "codegen/codegen.h"
#include "codegen/ir.h"

typedef enum at_place {
    AT_PLACE_NONE,
    AT_PLACE_PARAM,
    AT_PLACE_WORKSPACE,
    AT_PLACE_THREAD
} at_place;
enum { AT_MOST_DEPTH = 128 }; /* of loops and conditions that stand in each other */

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
    bool has_all;        /* a list: whatever entry is asked for lies in it */
    bool in_register;    /* all of it lives in a tile's registers (tiles) */
} at_buffer;

typedef struct at_low_tensor { /* of the computation, or a table that lowering adds (tables) */
    const char *name;
    int num_axes;
    const int64_t *extents; /* [num_axes] and reductions, as at_program's */
    int64_t row;            /* in memory, where it is longer than the last extent; else 0 */
    at_type type;
    bool has_numbers; /* a stage whose elements are all numbers, whatever it reads */
} at_low_tensor;

struct at_tile;

/* Places of rows that a stage reads by a list (pointers.c): an entry per element of some of the
 * axes of an expression; the row's number, -1 where the expression reads nothing. */
typedef struct at_place_list {
    int tensor;             /* its number among at_low's */
    int stage, line, col;   /* whose expression it is of, and where the choice stands */
    int num_axes;           /* that the list has, the slowest first */
    const int *sym;         /* [num_axes] a loop for each */
    const int64_t *extent;  /* [num_axes] */
    const at_aff *place;    /* over these loops */
    const at_cond *present; /* NULL: always */
    int64_t elements;       /* with what tails reach beyond the last */
} at_place_list;

typedef struct at_sym_part { /* a loop around parts of another: at_sym_parts */
    int of, sym;
    int64_t size, trips;
    const char *name;
} at_sym_part;

struct at_low {
    at_arena *arena;
    const at_program *const program; /* what is lowered; stays as it is */
    const at_lower_options *options;
    at_error *err;
    at_dialect dialect;
    const at_target *target;
    AT_VEC(at_sym) syms; /* the first AT_MAX_LOOPS are places for loops, num_loops of them taken */
    int num_loops;
    AT_VEC(at_sym_part) parts;
    at_ir *root;            /* kernel */
    at_ir *pack_root;       /* packing nests, when ahead */
    at_low_tensor *tensors; /* those of the computation first, by its numbers */
    int num_tensors;
    AT_VEC(at_place_list) lists;
    int num_listed;      /* reads that go by them */
    const at_node *leaf; /* dissolve: what is translated, and whose expression it is of */
    int reads_for;
    const at_entry_bound *entries; /* dissolve: what the reads around it say */
    const double **tables; /* [num_tensors] numbers of stages that are tables, once asked for */
    at_buffer *buffers;    /* [num_tensors], from `buffers` on */
    at_param *params;
    int num_params;
    int64_t workspace_bytes, thread_bytes;
    int64_t turns; /* as at_kernel's */
    AT_VEC(struct at_tile *) tiles;
    AT_VEC(const char *) notes; /* as at_kernel's */
    size_t common_bytes;        /* as at_kernel's, and the following */
    bool has_integers, has_halves;
    const char *source, *entry,
        *pack; /* emitted text; function names, pack NULL if nothing is packed */
};

at_aff *at_aff_alloc(at_low *l, int n); /* room for n terms, 0 */
/* affine_symbols.c: tiles that are tried go again: those made since, and the memory, unless loops
 * or symbols were made, which stay. Nothing else that was made since may be kept. */
typedef struct at_low_mark {
    at_mark memory;
    int tiles, tiles_room, loops, symbols, parts;
} at_low_mark;
at_low_mark at_low_mark_now(const at_low *l);
void at_low_go_back(at_low *l, const at_low_mark *to);
/* low_tensors.c */
void at_low_list_tensors(at_low *l);                       /* the computation's */
int at_low_find_tensor(const at_low *l, const char *name); /* -1: there is none */
bool at_low_holds_places(const at_low *l, int tensor);     /* at_tensor.is_places */
int at_low_add_tensor(at_low *l, at_low_tensor t);         /* its number; its buffer is empty */
/* A table whose buffer has its elements gets a place in memory; what makes it stands before
 * everything else, in the packing function or the kernel. */
void at_low_place_table(at_low *l, int tensor);
void at_low_prepend(at_low *l, at_ir *list);

/* note.c: what is to be said about the program: what was written and is not so in the code, each
 * text once; the first failure. */
void at_lower_note(at_low *l, const char *text);
/* "line 4, xi:vec makes no vectors: WHY" */
const char *at_note_no_vector(const at_low *l, const at_ir *loop, const char *why);
/* "line 4, k4:dot makes no dot products: WHY" */
const char *at_note_no_dot(const at_low *l, const at_ir *loop, const char *why);
void at_lower_fail(at_low *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Nothing has failed, and nobody wants this thread to end (at_halts). */
bool at_lower_goes_on(at_low *l);
/* ---- passes, in order ------------------------------------------------------------------------ */

bool at_pass_dissolve(
    at_low *l); /* dissolve.c: program -> tree; stages without leaf go into their readers */
bool at_pass_digits(at_low *l); /* digits.c: loops cut at the digits asked of them */
/* Can lanes along a loop be where an address leads to that has the loop k times and a quotient of
 * it so many times? They are spread, each float over several, or go round. */
bool at_lanes_spread(const at_low *l, int64_t k, int64_t of_digit, int digit);
bool at_pass_buffers(
    at_low *l); /* buffers.c: where every stage is stored; indices become addresses */
bool at_pass_partition(at_low *l); /* partition.c: conditions and tails leave the inner loops */
/* last_terms.c: terms that wait for the step before join their sum last. */
void at_take_last_terms(at_low *l, at_ir *list);
/* hidden_loops.c: an unrolled loop that a minimum or maximum in an index hides is written out. */
at_ir *at_write_out_hidden(at_low *l, at_ir *list);
/* wrapped_index.c: indices that wrap around or are bounded, along vectors and other loops of tiles,
 * as conditions, in place; lanes: such loops around the list. */
void at_bends_to_conditions(at_low *l, at_ir *list, at_mask lanes);
/* tile_transpose.c: marks the loops of copies whose rows are the other side's columns, so that
 * tails of their blocks have sizes that are known. */
void at_find_turned_copies(at_low *l, at_ir *list);
bool at_pass_tables(at_low *l); /* tables.c: digits of index lists' entries, looked up */
/* tables.c: the entry that a symbol is a function of, and of nothing else: its symbol. -1: none.
 * any: also one that is the same everywhere; addresses take its digits outside of all loops. */
int at_entry_of(const at_low *l, int sym, bool any);
at_ir *at_pointers_entries(at_low *l, int list); /* pointers.c: makes a list of places */
bool at_pass_tiles(at_low *l); /* tiles.c: subtrees become tile programs and calls */
bool at_becomes_tile(at_low *l, const at_ir *n); /* by itself, whatever is beside it */
bool at_pass_emit(at_low *l);                    /* emit.c: addresses hoisted, C printed */

/* The passes up to and including `last`, all where NULL: tests run the program between passes. */
at_status at_lower_until(at_arena *a, const at_program *p, const at_lower_options *o,
                         const char *last, at_low **out, at_error *err);

#endif
