/* cost/cost.h: what a lowered program needs of a core, reckoned without running it.
 *
 * Lower bounds on the cycles of one run, from real counts of tile calls and trips: what the
 * arithmetic units, load and store ports, dependency chains and the front end need, and how long
 * the bytes take that cannot have been in a nearer cache. docs/notes/why.md */
#ifndef AT_COST_H
#define AT_COST_H

#include "codegen/lowered.h"

/* ---- facts of cores (core.c; a file per architecture, cost/x86/cores.c) ---------------------- */

enum { AT_CORE_IN_ORDER = 8 }; /* the window of a core whose instructions wait for each other */
enum { AT_WIDE_LANES = 16 };   /* 512 bits: from there on, the second of two figures counts */

typedef struct at_speeds at_speeds;
typedef struct at_core { /* of a CPU, as LLVM names it */
    const char *names;   /* blanks between */
    /* Vector instructions per cycle, of up to 256 bits and of 512: multiplications and
     * multiply-adds; all arithmetic, these included; loads; stores. bcasts: loads of one float into
     * all lanes, of any length. */
    double fma[2], arithmetic[2], loads[2], stores[2], bcasts;
    int fma_latency, mul_latency, add_latency; /* cycles */
    double issue;                              /* instructions per cycle */
    double window;                             /* instructions under way at most */
    int64_t l1d_bytes, l2_bytes;               /* as usually sold; a CPU at hand knows its own */
    double from_l2, from_l3, from_memory;      /* bytes per cycle, at most */
    const char *speeds; /* measured on such a core or one like it: a file's text, which is a table;
                           NULL: none was, and they are worked out (at_speeds_guess) */
    const char *source; /* of these figures: manuals, tables, measurements */
} at_core;
const at_core *at_core_find(const char *llvm_name); /* NULL: not known */
const at_core *at_core_at(int i);                   /* all of them; NULL behind the last */
/* Floating-point operations per cycle at most; a multiply-add counts as two. */
double at_core_flops(const at_core *c, const at_target *t);

/* ---- speeds of a machine (speeds.c) ----------------------------------------------------------
 *
 * What estimates are made with: times of register tiles and of memory, measured on the machine, or
 * of a machine like it. They steer what is proposed, never code. docs/notes/measuring.md */

enum {
    AT_SPEED_ROWS = 32,
    AT_SPEED_VECTORS = 8,
    AT_SPEED_LEVELS = 4,
    AT_SPEED_SETS = 4,
    AT_SPEED_WIDTHS = 5,
    AT_SPEED_WAITS = 4
};
struct at_speeds { /* of one instruction set; ns */
    char isa[16];
    float peak_gflops; /* of multiply-adds; 0: not known */
    float dot_gops;    /* of dot products of bytes, a product and a sum each; 0: not known */
    float bf16_gops;   /* the same of bf16 */
    /* [vectors - 1][rows - 1], 0 where not measured. One step of the sum of a register tile, its
     * operands in L1; the same with the vectors from L2; what a call takes besides. */
    float step_ns[AT_SPEED_VECTORS][AT_SPEED_ROWS], far_ns[AT_SPEED_VECTORS][AT_SPEED_ROWS],
        call_ns[AT_SPEED_VECTORS][AT_SPEED_ROWS];
    /* [width][rows - 1] of a single vector of 1, 2, 4, 8 elements, or of another part of a
     * register: a step, and what a call takes besides */
    float narrow_ns[AT_SPEED_WIDTHS][AT_SPEED_ROWS], narrow_call_ns[AT_SPEED_WIDTHS][AT_SPEED_ROWS];
    float line_ns[AT_SPEED_LEVELS];   /* 64 bytes in a row, from L1, L2, L3, memory, beside sums */
    float stream_ns[AT_SPEED_LEVELS]; /* the same where hardly anything is done with them; 0: not
                                         known */
    float beside_ns; /* what a line from L3 still adds to sums that take as long as the lines do;
                        0: not known */
    float alone_ns;  /* how much longer a line from L2 takes whose neighbour is not read; 0: not
                        known */
    float piled_ns;  /* the same of lines a page apart, which push each other out of one place */
    float copy_ns;   /* a vector copied within L1 */
    float run_ns;    /* a run of them begun */
    float turn_ns;   /* a call of a small tile */
    /* Of sums that lie in memory: adding a vector to a sum; beginning a loop over such sums; the
     * time until the same sum can be added to again */
    float stored_ns[3];
    /* A multiply-add that waits for the one before; the time until a vector that was stored by a
     * mask can be added to again; a multiply-add for one element of a vector that is put together;
     * a load of one element where vectors, of few elements, are not. 0: not measured. */
    float waits_ns[AT_SPEED_WAITS];
};
typedef struct at_speed_table { /* of one machine */
    char cpu[64], flags[256], version[32];
    double measured_s;                 /* since the epoch; 0: the table is one that was built in */
    int64_t cache_bytes[3];            /* L1, L2, L3 */
    float latency_ns[AT_SPEED_LEVELS]; /* of a load from L1, L2, L3, memory */
    at_speeds sets[AT_SPEED_SETS];
    int num_sets;
} at_speed_table;

/* Speeds that were measured on such a core or one like it (core.c, files of an architecture); where
 * that table lacks the instruction set, or core is NULL, those of the first core that has it; NULL:
 * there are none. */
const at_speeds *at_speeds_built_in(const char *isa, const at_core *core);
/* Speeds of a core that was never measured, from the facts of the core; core NULL: from the target
 * alone. */
void at_speeds_guess(const at_core *core, const at_target *target, at_speeds *out);
/* Fills the speeds that were not measured, between their neighbours or as at_speeds_guess does. */
void at_speeds_complete(at_speeds *s, const at_target *target);
/* The row of narrow_ns for vectors of so many elements; -1: they fill a register. */
int at_speeds_width(const at_target *target, int64_t elements);
const at_speeds *at_speed_table_find(const at_speed_table *t, const char *isa); /* NULL */
/* As one JSON object. AT_E_INPUT: the object is no such table; the text names the member. */
void at_speed_table_print(at_text *out, const at_speed_table *t);
at_status at_speed_table_read(const at_json *json, at_speed_table *out, at_error *err);

/* ---- bounds (bound.c) ------------------------------------------------------------------------ */

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
    double flops;                 /* of whole vectors; multiply-adds count as two, dot products of
                                     bytes as eight */
    double unit_flops;            /* dot products as two, which the units of multiply-adds take */
    double bound_cycles;          /* phases that cannot overlap added up: at least each of them */
    at_need largest;
    bool partial; /* some counts depend on data that was not given, or differ in too many turns:
                     those parts are left out */
} at_bound;

/* What bounds the program on m. In a; borrows both. */
const at_bound *at_bound_of(at_arena *a, const at_lowered *p, const at_machine *m);

/* ---- closed-form cost (estimate.c) ------------------------------------------------------------
 *
 * The time of a kernel from the numbers of its tree alone: nothing is verified or lowered, so that
 * many thousand configurations can be compared. docs/notes/cost.md */

typedef struct at_estimate {
    double ns; /* of one run, of the busiest thread: the sum of what follows */
    double sums_ns, copies_ns, memory_ns;
    double alone_ns;   /* of one thread that does all of it */
    double calls;      /* of tiles */
    double sum_calls;  /* of tiles that sum */
    double operations; /* multiply-adds and other arithmetic on vectors, as at_work counts them */
    double bytes[3];   /* brought from L2, L3, memory */
    bool waits;        /* a sum lies in memory after every few terms, where each rounds it */
} at_estimate;

typedef struct at_estimate_options {
    const at_target *target;
    const at_speeds *speeds; /* complete; copied */
    int64_t cache_bytes[3];  /* L1, L2, L3; 0: none */
    int threads;             /* of the program, which share parallel loops */
    bool pack_inline;
    double mean_dynamic;  /* turns of a data-dependent loop, on the average */
    bool cold_weights;    /* weights come from beyond the second-level cache in every run */
    double weights_bytes; /* of all weights that are read until they are read again; 0: unknown */
    const int64_t *row;   /* as at_lower_options.row */
} at_estimate_options;

typedef struct at_estimator at_estimator;
/* For programs of one computation, which is borrowed; lives in a. */
at_estimator *at_estimator_new(at_arena *a, const at_compute *c, const at_estimate_options *o);
/* p: built, not necessarily verified; a program at the same place as one before is that one filled
 * anew, as at_builds_program does. false: it is beyond what is estimated (loops too many). */
bool at_estimate_of(at_estimator *e, const at_program *p, at_estimate *out);
/* How many leaves of the last program were worked out, since no point before had the same numbers
 * and the same accesses of other leaves. */
int at_estimate_new_leaves(const at_estimator *e);

#endif
