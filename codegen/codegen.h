/* codegen/codegen.h: lowers a verified program to C and tiles, pass by pass.
 *
 * The passes, in order (lower.c): dissolve, digits, buffers, partition, tables, tiles, emit.
 * --dump=PASS prints the program after any of them. No operator's name occurs here.
 * docs/notes/architecture.md shows one program after each pass. */
#ifndef AT_CODEGEN_H
#define AT_CODEGEN_H

#include "base/base.h"
#include "codegen/weight_blocks.h"
#include "codegen/target.h"
#include "schedule/schedule.h"

/* How tiles are printed: plain scalar C for any compiler; C with vector types for gcc and clang;
 * machine code bound to the C that TinyCC compiles. */
typedef enum at_dialect {
    AT_DIALECT_C,
    AT_DIALECT_GNU,
    AT_DIALECT_TCC,
    AT_DIALECT_COUNT
} at_dialect;
const char *at_dialect_name(at_dialect d);

/* Tiles that were built before, for a run that lowers many programs of one task. Owned by who made
 * it; what is lowered with it lives no longer than it does. One thread at a time. */
typedef struct at_tile_memo at_tile_memo;
at_tile_memo *at_tile_memo_new(void);
void at_tile_memo_free(at_tile_memo *m); /* NULL is fine */

typedef struct at_lower_options {
    at_dialect dialect;
    const at_target *target; /* NULL: the plainest of all; dialect C takes its architecture's */
    bool pack_inline;        /* packing stages stay inside the kernel (and its time) */
    bool without_pack;       /* the function that packs is left out: somebody else has packed */
    int64_t prefetch_above;  /* weights of a sum, and inputs that it reads once, larger than this
                                many bytes (the second-level cache) are prefetched, unless the tree
                                says otherwise; 0: never */
    int64_t prefetch_apart_above; /* the same of inputs in pieces that lie apart (the last cache) */
    int64_t
        prefetch_room; /* of a cache that holds blocks of them which are asked for ahead; 0: none */
    const char *name;  /* prefix of emitted functions; a C identifier */
    /* [inputs in the text's order, then outputs] elements from one row of the last axis to the
     * next, of which the kernel reads or writes the first; 0: there are no others. NULL: of all. */
    const int64_t *row;
    bool can_stop; /* the kernel can be cut short, before it runs or meanwhile (at_kernel.turns) */
    at_tile_memo *memo; /* or NULL: every tile is built; the code is the same */
    const char *dump;   /* pass to print into *dump_out, or NULL */
    at_text *dump_out;
    bool verify; /* check the program between passes (tests): a fault there is our bug */
} at_lower_options;

/* A machine-code tile, for dialect TCC. */
typedef struct at_tile_code {
    const char *symbol;
    const uint8_t *bytes;
    int size_bytes;
} at_tile_code;

typedef enum at_param_role { AT_PARAM_IN, AT_PARAM_OUT, AT_PARAM_PACKED } at_param_role;
typedef struct at_param { /* one entry of buf[] */
    const char *name;
    at_param_role role;
    int tensor; /* of the computation; -1: a table that lowering made of an index tensor */
    at_type type;
    int64_t elements;
    int before; /* of an output that is also read: 1 + the input that holds what is in it before
                   each run; 0: none */
    bool stays; /* a run leaves what the next one needs: it lies in that input */
    bool in_kernel, in_pack; /* which of the two functions touches it */
} at_param;

typedef struct at_kernel {
    const char
        *source; /* C text: tiles (dialects C and GNU), body functions, NAME_pack, NAME_entry */
    size_t common_bytes; /* its beginning, as at_kernel_common has it */
    bool has_integers, has_halves;
    const at_tile_code *tiles;
    int num_tiles;
    const char *entry;      /* int NAME_entry(void *const buf[], void *workspace, at_par *par) */
    const char *pack;       /* same face: fills the PACKED buffers; NULL if there are none */
    const at_param *params; /* order of buf[]: inputs in text order, then packed, then outputs */
    int num_params;
    /* The outermost loops of its largest nest have so many turns together, and go on as long as the
     * member `turns` of at_par is above 0, which they count down; 0: it cannot be cut short. */
    int64_t turns;
    int64_t workspace_bytes; /* shared part */
    int64_t workspace_per_thread_bytes;
    at_dialect dialect;
    const at_target *target;          /* of the tiles */
    const struct at_lowered *lowered; /* what it was printed from: lowered.h */
    /* Where the code is not as the tree says: a vec loop without vectors, leaves that could not be
     * one tile; each with line, loop or leaf, and the reason. */
    const char *const *notes;
    int num_notes;
    char code_hash[33]; /* over tile bytes, C without comments, parameter table and workspace */
} at_kernel;
/* What kernels of a dialect and target begin with, some of which have integers or halves. */
void at_kernel_common(at_text *out, const at_target *t, at_dialect d, bool integers, bool halves);

/* Names of the passes for --dump, in order; NULL-terminated. */
extern const char *const at_pass_names[];

/* Lowers a built and verified program. Everything is owned by arena. AT_E_INPUT with a text where
 * the result would be beyond a limit (workspace above 2^40 bytes): error 1 of the candidate. */
at_status at_lower(at_arena *a, const at_program *p, const at_lower_options *o, at_kernel **out,
                   at_error *err);

#endif
