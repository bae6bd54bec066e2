/* codegen/x86/targets.c: the instruction sets of x86-64. */
#include "codegen/x86/x86.h"
#include "schedule/default_for.h"

static const at_target of_doubles[4];

#define AVX512_PARTS "avx512f,avx512vl,avx512bw,avx512dq"
#define AVX512_MEMBERS                                                                             \
    .lanes = 16, .default_lanes = 16, .regs = 32, .gathers = true, .spreading_regs = 1,            \
    .picks_bytes = true, .most_step = 16, .most_stored_step = 16, .fold_vector = true,             \
    .fold_bcast = true, .fold_const = true, .fused = true, .picks_whole = true, .merges = true,    \
    .masked_loads = true, .masked_stores = true, .scales = true, .cuts = true, .narrows = true,    \
    .has_integers = true, .scatters = true, .integers = at_integers_avx512,                        \
    .halves = at_prelude_halves, .has_halves = true, .converts_halves = true,                      \
    .gnu_sqrt = "__asm__(\"vsqrtps %%1, %%0\" : \"=v\"(v%d) : \"v\"(v%d));\n",                     \
    .gnu_zip = "__asm__(\"v%s %%x2, %%x1, %%x0\" : \"=v\"(v%d) : \"v\"(v%d), \"v\"(v%d));\n",      \
    .gnu_insert = "__asm__(\"vinsertf32x4 %%2, %%1, %%0, %%0\" : \"+v\"(v%d) : "                   \
                  "\"m\"(*(const at_memory4 *)(p%d + %lld)), \"i\"(%d));",                         \
    .encode = at_encode_avx512, .in_double = &of_doubles[3], .prelude = at_prelude_avx512,         \
    .architecture = &at_x86_64

/* Masked stores are slow on some CPUs with avx2. */
#define AVX2_PARTS "avx2,fma"
#define AVX2_MEMBERS                                                                               \
    .lanes = 8, .regs = 15, .gathers = true, .picks_bytes = true, .most_step = 16,                 \
    .most_stored_step = 16, .joins_fours = true, .fold_vector = true, .fold_const = true,          \
    .gnu_insert = "__asm__(\"vinsertf128 %%2, %%1, %%0, %%0\" : \"+x\"(v%d) : "                    \
                  "\"m\"(*(const at_memory4 *)(p%d + %lld)), \"i\"(%d));",                         \
    .fused = true, .masked_loads = true,                                                           \
    .gnu_sqrt = "__asm__(\"vsqrtps %%1, %%0\" : \"=x\"(v%d) : \"x\"(v%d));\n",                     \
    .gnu_zip = "__asm__(\"v%s %%x2, %%x1, %%x0\" : \"=x\"(v%d) : \"x\"(v%d), \"x\"(v%d));\n",      \
    .scatters = true, .cuts = true, .narrows = true, .has_halves = true,                           \
    .halves = at_prelude_halves, .has_integers = true, .integers = at_integers_avx2,               \
    .dots = AT_DOT_US | AT_DOT_S16, .encode = at_encode_avx2, .in_double = &of_doubles[2],         \
    .prelude = at_prelude_avx2, .architecture = &at_x86_64

/* sse2 multiplies and adds in two steps and needs one register of 16 for the product; avx2 keeps
 * one for masks. Plain C has no registers; 15 keep its tiles of a size that a compiler can hold. */
static const at_target targets[] = {
    {.name = "scalar",
     .parts = "",
     .lanes = 1,
     .default_lanes = 4,
     .regs = 15,
     .fold_vector = true,
     .fold_bcast = true,
     .fold_const = true,
     .scatters = true,
     .has_integers = true,
     .has_halves = true,
     .encode = at_encode_scalar,
     .in_double = &of_doubles[0],
     .architecture = &at_x86_64},
    {.name = "sse2",
     .parts = "sse2",
     .lanes = 4,
     .default_lanes = AT_ONLY_WORDS + 4,
     .regs = 15,
     .most_step = 16,
     .most_stored_step = 16,
     .joins_fours = true,
     .fold_const = true,
     .gnu_sqrt = "__asm__(\"sqrtps %%1, %%0\" : \"=x\"(v%d) : \"x\"(v%d));\n",
     .scatters = true,
     .has_integers = true,
     .integers = at_integers_sse2,
     .dots = AT_DOT_S16,
     .dot_terms = 1,
     .has_halves = true,
     .halves = at_prelude_halves,
     .encode = at_encode_sse2,
     .in_double = &of_doubles[1],
     .prelude = at_prelude_sse2,
     .architecture = &at_x86_64},
    {.name = "avx2",
     .parts = AVX2_PARTS,
     .default_lanes = AT_QUICK_WORDS + 8,
     .dot_regs = 1,
     .dot_terms = 3,
     AVX2_MEMBERS},
    /* The same with instructions for f16. */
    {.name = "avx2_f16c",
     .like = "avx2",
     .parts = AVX2_PARTS ",f16c",
     .default_lanes = AT_QUICK_WORDS + 8,
     .dot_regs = 1,
     .dot_terms = 3,
     .converts_halves = true,
     AVX2_MEMBERS},
    /* And with dot products of bytes by one instruction. */
    {.name = "avx2_vnni",
     .like = "avx2",
     .parts = AVX2_PARTS ",f16c,avxvnni",
     .converts_halves = true,
     .default_lanes = 8,
     .dot_terms = 1,
     AVX2_MEMBERS},
    {.name = "avx512", .parts = AVX512_PARTS, AVX512_MEMBERS},
    /* The same with dot products of bytes. */
    {.name = "avx512vnni",
     .like = "avx512",
     .parts = AVX512_PARTS ",avx512vnni",
     .dots = AT_DOT_US | AT_DOT_S16,
     .dot_terms = 1,
     .weaves = true,
     AVX512_MEMBERS},
    /* And of pairs of bf16. */
    {.name = "avx512bf16",
     .like = "avx512",
     .parts = AVX512_PARTS ",avx512vnni,avx512bf16",
     .dots = AT_DOT_US | AT_DOT_S16 | AT_DOT_BF16,
     .dot_terms = 1,
     .weaves = true,
     AVX512_MEMBERS},
};

/* Registers of doubles, of each set; avx512 keeps one for what is stored. */
static const at_target of_doubles[4] = {
    {.is_double = true,
     .name = "scalar",
     .parts = "",
     .lanes = 1,
     .default_lanes = 1,
     .regs = 15,
     .fold_const = true,
     .encode = at_encode_sse2_doubles,
     .architecture = &at_x86_64},
    {.is_double = true,
     .name = "sse2",
     .parts = "sse2",
     .lanes = 2,
     .default_lanes = 2,
     .regs = 15,
     .fold_const = true,
     .encode = at_encode_sse2_doubles,
     .prelude = at_prelude_sse2,
     .architecture = &at_x86_64},
    {.is_double = true,
     .name = "avx2",
     .parts = "avx2,fma",
     .lanes = 4,
     .default_lanes = 4,
     .regs = 15,
     .fold_const = true,
     .fused = true,
     .encode = at_encode_avx2_doubles,
     .prelude = at_prelude_avx2,
     .architecture = &at_x86_64},
    {.is_double = true,
     .name = "avx512",
     .parts = "avx512f,avx512vl,avx512bw,avx512dq",
     .lanes = 8,
     .default_lanes = 8,
     .regs = 31,
     .fold_const = true,
     .fused = true,
     .encode = at_encode_avx512_doubles,
     .prelude = at_prelude_avx512,
     .architecture = &at_x86_64},
};

const at_architecture at_x86_64 = {.name = "x86-64",
                                   .parts_as_they_stand = true,
                                   .targets = targets,
                                   .num_targets = sizeof targets / sizeof *targets,
                                   .align_code = ".align 64,0x90",
                                   .disassemble = at_x86_disassemble,
                                   .cpu_test = at_x86_cpu_test,
                                   .peak_loop = at_x86_peak_loop};
