/* codegen/codegen.h: lowers a verified program to C and tiles, pass by pass.
 *
 * The passes, in order (lower.c): dissolve, digits, buffers, partition, tables, tiles, emit.
 * --dump=PASS prints the program after any of them. No operator's name occurs here.
 * docs/architecture.md shows one program after each pass. */
#ifndef AT_CODEGEN_H
#define AT_CODEGEN_H

#include "base/base.h"
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

/* ---- what bounds a kernel (bound.c; facts of cores: codegen/x86/cores.c)
 * ---------------------------------
 *
 * Lower bounds on the cycles of one run, from real counts of tile calls and trips: what the
 * arithmetic units, load and store ports, dependency chains and the front end need, and how long
 * the bytes take that cannot have been in a nearer cache. docs/why.md */

typedef struct at_core {          /* of a CPU, as LLVM names it */
    const char *names;            /* blanks between */
    double fma[2], arithmetic[2]; /* multiplications and multiply-adds, all of these: per cycle, of
                                     up to 256 bits and of 512 */
    double loads[2], bcasts;      /* whole vectors; one float */
    double stores[2];
    int fma_latency, mul_latency, add_latency; /* cycles */
    double issue;                              /* instructions per cycle */
    double window;                             /* instructions under way at most */
    int64_t l1d_bytes, l2_bytes;               /* as usually sold; a CPU at hand knows its own */
    double from_l2, from_l3, from_memory;      /* bytes per cycle, at most */
    const char *source;
} at_core;
const at_core *at_core_find(const char *llvm_name); /* NULL: not known */
const at_core *at_core_at(int i);                   /* all of them; NULL behind the last */

typedef enum at_need {
    AT_NEED_FMA, /* arithmetic units */
    AT_NEED_LOAD,
    AT_NEED_STORE,
    AT_NEED_CHAIN, /* one operation waiting for the result of another */
    AT_NEED_ISSUE,
    AT_NEED_L2, /* bytes that were not in the first-level cache */
    AT_NEED_L3,
    AT_NEED_MEMORY,
    AT_NEED_COUNT
} at_need;
const char *at_need_name(at_need n);

typedef struct at_machine { /* what a bound is for */
    const at_core *core;
    int64_t l1d_bytes, l2_bytes, l3_bytes; /* l3_bytes 0: none */
    int threads;
    const int32_t *const *index; /* [tensor] data of index tensors, where known; may be NULL */
} at_machine;

typedef struct at_work { /* counts of one run, all threads together */
    double calls, fmas, others, loads, stores, instructions;
} at_work;

typedef struct at_tile_bound {
    const char *tile;
    at_work work;
    double cycles[AT_NEED_L2]; /* of the busiest thread */
} at_tile_bound;

typedef struct at_bound {
    const at_tile_bound *tiles;
    int num_tiles;
    double cycles[AT_NEED_COUNT]; /* one need by itself, over the whole run */
    double bytes[3];              /* from L2, L3, memory; one thread's */
    double bound_cycles;          /* phases that cannot overlap added up: at least each of them */
    at_need largest;
    bool partial; /* some counts depend on data that was not given: those parts are left out */
} at_bound;

typedef struct at_lower_options {
    at_dialect dialect;
    at_isa isa;             /* dialect C is scalar whatever this says */
    bool pack_inline;       /* packing stages stay inside the kernel (and its time) */
    int64_t prefetch_above; /* weights of a sum larger than this many bytes (the second-level cache)
                               are prefetched, unless the tree says otherwise; 0: never */
    const char *name;       /* prefix of emitted functions; a C identifier */
    const char *dump;       /* pass to print into *dump_out, or NULL */
    at_text *dump_out;
    bool verify; /* check the program between passes (tests): a fault there is our bug */
    const at_machine *machine; /* work out what bounds the kernel there; NULL: not */
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
    bool is_int;
    int64_t elements;
    bool in_kernel, in_pack; /* which of the two functions touches it */
} at_param;

typedef struct at_kernel {
    const char
        *source; /* C text: tiles (dialects C and GNU), body functions, NAME_pack, NAME_entry */
    size_t common_bytes; /* its beginning, the same for all kernels of a dialect and isa */
    const at_tile_code *tiles;
    int num_tiles;
    const char *entry;      /* int NAME_entry(void *const buf[], void *workspace, at_par *par) */
    const char *pack;       /* same face: fills the PACKED buffers; NULL if there are none */
    const at_param *params; /* order of buf[]: inputs in text order, then packed, then outputs */
    int num_params;
    int64_t workspace_bytes; /* shared part */
    int64_t workspace_per_thread_bytes;
    at_dialect dialect;
    const at_target *target; /* of the tiles */
    const at_bound *bound;   /* NULL without at_lower_options.machine */
    /* Where the code is not as the tree says: a vec loop without vectors, leaves that could not be
     * one tile; each with line, loop or leaf, and the reason. */
    const char *const *notes;
    int num_notes;
    char code_hash[33]; /* over tile bytes, C without comments, parameter table and workspace */
} at_kernel;

/* Names of the passes for --dump, in order; NULL-terminated. */
extern const char *const at_pass_names[];

/* Lowers a built and verified program. Everything is owned by arena. AT_E_INPUT with a text where
 * the result would be beyond a limit (workspace above 2^40 bytes): error 1 of the candidate. */
at_status at_lower(at_arena *a, const at_program *p, const at_lower_options *o, at_kernel **out,
                   at_error *err);

/* What bounds the program on o->machine, without its code: a third of the time of at_lower. */
at_status at_lower_bound(at_arena *a, const at_program *p, const at_lower_options *o,
                         const at_bound **out, at_error *err);

#endif
