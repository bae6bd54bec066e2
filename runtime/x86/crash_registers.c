/* runtime/x86/crash_registers.c: what the registers at a signal tell. Source: Intel SDM volume 3,
 * chapter 6 (exception 14, page fault, and its error code, whose bit 1 is set for a write). */
#include "runtime/arch.h"

#include <signal.h>
#include <ucontext.h>

#define PAGE_FAULT 14

at_fault at_arch_fault(int signal, const void *context) {
    const greg_t *regs = ((const ucontext_t *)context)->uc_mcontext.gregs;
    bool is_page_fault = signal == SIGSEGV && regs[REG_TRAPNO] == PAGE_FAULT;
    return (at_fault){.instruction = (uint64_t)regs[REG_RIP],
                      .is_page_fault = is_page_fault,
                      .is_write = is_page_fault && (regs[REG_ERR] & 2)};
}

void at_arch_call_return(void *context, int64_t value) {
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = value;
}
