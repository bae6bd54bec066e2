/* codegen/x86/targets.c: the instruction sets of x86-64. */
#include "codegen/x86/x86.h"

/* sse2 multiplies and adds in two steps and needs one register of 16 for the product; avx2 keeps
 * one for masks. Plain C has no registers; 15 keep its tiles of a size that a compiler can hold. */
static const at_target targets[] = {
    {.name = "scalar",
     .parts = "",
     .lanes = 1,
     .regs = 15,
     .fold_vector = true,
     .fold_bcast = true,
     .encode = at_encode_scalar,
     .architecture = &at_x86_64},
    {.name = "sse2",
     .parts = "sse2",
     .lanes = 4,
     .regs = 15,
     .encode = at_encode_sse2,
     .prelude = at_prelude_sse2,
     .architecture = &at_x86_64},
    /* Masked stores are slow on some CPUs with avx2. */
    {.name = "avx2",
     .parts = "avx2,fma",
     .lanes = 8,
     .regs = 15,
     .fold_vector = true,
     .fused = true,
     .masked_loads = true,
     .encode = at_encode_avx2,
     .prelude = at_prelude_avx2,
     .architecture = &at_x86_64},
    {.name = "avx512",
     .parts = "avx512f,avx512vl,avx512bw,avx512dq",
     .lanes = 16,
     .regs = 32,
     .fold_vector = true,
     .fold_bcast = true,
     .fused = true,
     .masked_loads = true,
     .masked_stores = true,
     .encode = at_encode_avx512,
     .prelude = at_prelude_avx512,
     .architecture = &at_x86_64},
};

const at_architecture at_x86_64 = {.name = "x86-64",
                                   .targets = targets,
                                   .num_targets = sizeof targets / sizeof *targets,
                                   .disassemble = at_x86_disassemble,
                                   .cpu_test = at_x86_cpu_test};
