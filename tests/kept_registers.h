/* tests/kept_registers.h: lines of assembly about the registers that a function must keep, for
 * calls that look whether it does. */
#ifndef AT_TESTS_KEPT_REGISTERS_H
#define AT_TESTS_KEPT_REGISTERS_H

#define PUSH_KEPT                                                                                  \
    "    push %rbx\n"                                                                              \
    "    push %rbp\n"                                                                              \
    "    push %r12\n"                                                                              \
    "    push %r13\n"                                                                              \
    "    push %r14\n"                                                                              \
    "    push %r15\n"
/* From rdx on. */
#define STORE_KEPT                                                                                 \
    "    mov %rbx, (%rdx)\n"                                                                       \
    "    mov %rbp, 8(%rdx)\n"                                                                      \
    "    mov %r12, 16(%rdx)\n"                                                                     \
    "    mov %r13, 24(%rdx)\n"                                                                     \
    "    mov %r14, 32(%rdx)\n"                                                                     \
    "    mov %r15, 40(%rdx)\n"
#define POP_KEPT                                                                                   \
    "    pop %r15\n"                                                                               \
    "    pop %r14\n"                                                                               \
    "    pop %r13\n"                                                                               \
    "    pop %r12\n"                                                                               \
    "    pop %rbp\n"                                                                               \
    "    pop %rbx\n"

#endif
