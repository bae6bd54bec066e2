/* tests/kept_registers.h: lines of assembly about the registers that a function must keep, for
 * calls that look whether it does. */
#ifndef AT_TESTS_KEPT_REGISTERS_H
#define AT_TESTS_KEPT_REGISTERS_H

#ifdef __x86_64__

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

#else

#define PUSH_KEPT                                                                                  \
    "    stp x29, x30, [sp, #-176]!\n"                                                             \
    "    stp x19, x20, [sp, #16]\n"                                                                \
    "    stp x21, x22, [sp, #32]\n"                                                                \
    "    stp x23, x24, [sp, #48]\n"                                                                \
    "    stp x25, x26, [sp, #64]\n"                                                                \
    "    stp x27, x28, [sp, #80]\n"                                                                \
    "    stp d8, d9, [sp, #96]\n"                                                                  \
    "    stp d10, d11, [sp, #112]\n"                                                               \
    "    stp d12, d13, [sp, #128]\n"                                                               \
    "    stp d14, d15, [sp, #144]\n"                                                               \
    "    str x2, [sp, #160]\n"
/* With 101, 102, ...; x9 changes. */
#define FILL_KEPT                                                                                  \
    "    mov x19, #101\n"                                                                          \
    "    mov x20, #102\n"                                                                          \
    "    mov x21, #103\n"                                                                          \
    "    mov x22, #104\n"                                                                          \
    "    mov x23, #105\n"                                                                          \
    "    mov x24, #106\n"                                                                          \
    "    mov x25, #107\n"                                                                          \
    "    mov x26, #108\n"                                                                          \
    "    mov x27, #109\n"                                                                          \
    "    mov x28, #110\n"                                                                          \
    "    mov x9, #111\n    fmov d8, x9\n"                                                          \
    "    mov x9, #112\n    fmov d9, x9\n"                                                          \
    "    mov x9, #113\n    fmov d10, x9\n"                                                         \
    "    mov x9, #114\n    fmov d11, x9\n"                                                         \
    "    mov x9, #115\n    fmov d12, x9\n"                                                         \
    "    mov x9, #116\n    fmov d13, x9\n"                                                         \
    "    mov x9, #117\n    fmov d14, x9\n"                                                         \
    "    mov x9, #118\n    fmov d15, x9\n"
/* To where the third argument led. */
#define STORE_KEPT                                                                                 \
    "    ldr x2, [sp, #160]\n"                                                                     \
    "    stp x19, x20, [x2]\n"                                                                     \
    "    stp x21, x22, [x2, #16]\n"                                                                \
    "    stp x23, x24, [x2, #32]\n"                                                                \
    "    stp x25, x26, [x2, #48]\n"                                                                \
    "    stp x27, x28, [x2, #64]\n"                                                                \
    "    stp d8, d9, [x2, #80]\n"                                                                  \
    "    stp d10, d11, [x2, #96]\n"                                                                \
    "    stp d12, d13, [x2, #112]\n"                                                               \
    "    stp d14, d15, [x2, #128]\n"
#define POP_KEPT                                                                                   \
    "    ldp x19, x20, [sp, #16]\n"                                                                \
    "    ldp x21, x22, [sp, #32]\n"                                                                \
    "    ldp x23, x24, [sp, #48]\n"                                                                \
    "    ldp x25, x26, [sp, #64]\n"                                                                \
    "    ldp x27, x28, [sp, #80]\n"                                                                \
    "    ldp d8, d9, [sp, #96]\n"                                                                  \
    "    ldp d10, d11, [sp, #112]\n"                                                               \
    "    ldp d12, d13, [sp, #128]\n"                                                               \
    "    ldp d14, d15, [sp, #144]\n"                                                               \
    "    ldp x29, x30, [sp], #176\n"

#endif

#endif
