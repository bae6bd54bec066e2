/* runtime/arch.h: what an architecture gives (runtime/x86/, runtime/aarch64/). */
#ifndef AT_RUNTIME_ARCH_H
#define AT_RUNTIME_ARCH_H

#include "runtime/runtime_int.h"

void at_arch_cpu(at_cpu *out); /* names, flags, caches (cpuid.c) */

typedef struct at_spin {                 /* loops in registers (spin.c) */
    void (*multiply_add)(int64_t trips); /* independent: the peak */
    int flops;                           /* of a trip */
    void (*chain)(int64_t steps);        /* each waits for the one before: the clock */
    int64_t chain_steps;                 /* take some 5 microseconds */
    bool is_chain_of_vectors;            /* of multiply-adds */
    void (*dot)(int64_t trips);          /* independent dot products; NULL: none */
    int dot_ops;                         /* of a trip, products and sums */
} at_spin;

typedef struct at_arch_set { /* a vector set (spin.c) */
    const char *name;
    bool (*has)(void); /* this CPU */
    at_spin spin;
    bool for_types;        /* what it has beside others is for elements of some types alone */
    bool (*is_slow)(void); /* it takes longer than multiply-adds for as much; NULL: no */
} at_arch_set;
extern const at_arch_set at_arch_sets[];
extern const int at_arch_num_sets;

/* What a core's state shows in (x86/probe_loops.c). */
typedef enum at_probe_loop {
    AT_PROBE_CHAIN,         /* multiply-adds (or multiplications), each waits for the one before */
    AT_PROBE_MULTIPLY_ADDS, /* which do not wait */
    AT_PROBE_NEAR,          /* loads from the first-level cache, */
    AT_PROBE_FAR,           /* and from the second */
    AT_PROBE_LOOPS
} at_probe_loop;
typedef struct at_arch_loop {
    void (*run)(int64_t trips, const char *at);
    const char *at; /* what it reads */
    int trips;
    int per_trip; /* operations */
} at_arch_loop;
const at_arch_loop *at_arch_probe_loops(void); /* [AT_PROBE_LOOPS] of this CPU */

/* Vector registers that a call does not keep hold that word (x86/vector_registers.c). */
void at_arch_fill_registers(uint32_t word);

/* How floats are rounded, and whether those below the normal ones count as 0, which a call must
 * leave as it was (x86/vector_registers.c). */
uint64_t at_arch_float_mode(void);
void at_arch_set_float_mode(uint64_t mode);

/* Of the registers at a signal (x86/crash_registers.c). context: the handler's third argument. */
typedef struct at_fault {
    uint64_t instruction;         /* its address */
    bool is_page_fault, is_write; /* is_write: of a page fault */
} at_fault;
at_fault at_arch_fault(int signal, const void *context);
/* What a system call that the filter has refused gives back. */
void at_arch_call_return(void *context, int64_t value);

#endif
