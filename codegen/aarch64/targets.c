/* codegen/aarch64/targets.c: the instruction sets of AArch64. */
#include "codegen/aarch64/aarch64.h"
#include "schedule/default_for.h"

static const at_target of_doubles[2];

#define NEON_MEMBERS                                                                               \
    .lanes = 4, .default_lanes = AT_BY_ELEMENT + 4, .regs = 32, .spreading_regs = 1,               \
    .joining_regs = 1, .most_step = 16, .most_stored_step = 16, .joins_fours = true,               \
    .by_element = true, .fused = true, .has_integers = true, .scatters = true,                     \
    .integers = at_integers_neon, .halves = at_halves_neon, .has_halves = true,                    \
    .converts_halves = true,                                                                       \
    .gnu_sqrt = "__asm__(\"fsqrt %%0.4s, %%1.4s\" : \"=w\"(v%d) : \"w\"(v%d));\n",                 \
    .encode = at_encode_neon, .in_double = &of_doubles[1], .prelude = at_prelude_neon,             \
    .architecture = &at_aarch64

/* Nothing lies in memory but what is loaded. Where the encoder needs a register besides, a tile has
 * one to spare. */
static const at_target targets[] = {
    {.name = "a64",
     .parts = "",
     .lanes = 1,
     .default_lanes = 4,
     .regs = 32,
     .joining_regs = 1,
     .fused = true,
     .scatters = true,
     .has_integers = true,
     .has_halves = true,
     .converts_halves = true,
     .encode = at_encode_neon,
     .in_double = &of_doubles[0],
     .architecture = &at_aarch64},
    {.name = "neon", .parts = "", NEON_MEMBERS},
    /* The same with dot products of bytes: of one kind, and of two. */
    {.name = "neon_dotprod",
     .like = "neon",
     .parts = "dotprod",
     .dots = AT_DOT_SS | AT_DOT_UU,
     NEON_MEMBERS},
    {.name = "neon_i8mm",
     .like = "neon",
     .parts = "dotprod,i8mm",
     .dots = AT_DOT_SS | AT_DOT_UU | AT_DOT_US | AT_DOT_SU,
     NEON_MEMBERS},
    /* With products of floats of 16 bits that are added to floats. */
    {.name = "neon_fp16fml",
     .like = "neon",
     .parts = "fp16fml",
     .multiplies_halves = true,
     NEON_MEMBERS},
};

/* One is kept for what is stored. */
static const at_target of_doubles[2] = {
    {.is_double = true,
     .name = "a64",
     .parts = "",
     .lanes = 1,
     .default_lanes = 1,
     .regs = 31,
     .fused = true,
     .encode = at_encode_neon_doubles,
     .architecture = &at_aarch64},
    {.is_double = true,
     .name = "neon",
     .parts = "",
     .lanes = 2,
     .default_lanes = 2,
     .regs = 31,
     .fused = true,
     .encode = at_encode_neon_doubles,
     .prelude = at_prelude_neon,
     .architecture = &at_aarch64},
};

const at_architecture at_aarch64 = {.name = "AArch64",
                                    .targets = targets,
                                    .num_targets = sizeof targets / sizeof *targets,
                                    .align_code = ".balign 64",
                                    .disassemble = at_a64_disassemble,
                                    .cpu_test = at_aarch64_cpu_test,
                                    .peak_loop = at_aarch64_peak_loop};
