/* runtime/aarch64/crash_registers.c: what the registers at a signal tell. Source: Linux,
 * arch/arm64/include/uapi/asm/sigcontext.h; Arm DDI 0487, ESR_EL1: exception class 0x24 is a data
 * abort of a program, whose bit 6 is set for a write. */
#include "runtime/arch.h"

#include <asm/sigcontext.h>
#include <signal.h>
#include <ucontext.h>

enum { DATA_ABORT = 0x24, IS_WRITE = 1 << 6 };

/* The syndrome, which stands in one of the records behind the registers; 0: in none. */
static uint64_t syndrome(const mcontext_t *m) {
    const char *at = (const char *)m->__reserved, *end = at + sizeof m->__reserved;
    while (at + sizeof(struct _aarch64_ctx) <= end) {
        const struct _aarch64_ctx *head = (const void *)at;
        if (!head->magic || head->size < sizeof *head) return 0;
        if (head->magic == ESR_MAGIC) return ((const struct esr_context *)(const void *)at)->esr;
        at += head->size;
    }
    return 0;
}

at_fault at_arch_fault(int signal, const void *context) {
    const mcontext_t *m = &((const ucontext_t *)context)->uc_mcontext;
    const uint64_t esr = syndrome(m);
    const bool is_page_fault = signal == SIGSEGV && esr >> 26 == DATA_ABORT;
    return (at_fault){.instruction = m->pc,
                      .is_page_fault = is_page_fault,
                      .is_write = is_page_fault && (esr & IS_WRITE)};
}

void at_arch_call_return(void *context, int64_t value) {
    ((ucontext_t *)context)->uc_mcontext.regs[0] = (unsigned long long)value;
}
