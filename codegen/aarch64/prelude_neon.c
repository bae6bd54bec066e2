/* codegen/aarch64/prelude_neon.c: the types and macros of tiles in C for gcc and clang, once per
 * file. NEON is part of every AArch64, so that no function names it. */
#include "codegen/aarch64/aarch64.h"

/* Subtracting 0 leaves every number as it is, -0 included: the compilers make a broadcast of it. */
static const char types[] =
    "#define AT_TILE __attribute__((noinline))\n"
    "typedef float at_vector __attribute__((vector_size(16)));\n"
    "typedef int at_mask __attribute__((vector_size(16)));\n"
    "typedef float at_memory __attribute__((vector_size(16), may_alias, aligned(4)));\n"
    "typedef float at_memory2 __attribute__((vector_size(8), may_alias, aligned(4)));\n"
    "typedef at_memory at_memory4;\n"
    "#define at_load(p) (*(const at_memory *)(p))\n"
    "#define at_store(p, v) (*(at_memory *)(p) = (v))\n"
    "#define at_store2(p, v, i) \\\n"
    "    (*(at_memory2 *)(p) = __builtin_shufflevector(v, v, i, i + 1))\n"
    "#define at_all(x) ((x) - (at_vector){0})\n"
    "#define at_choose(m, a, b) ((at_vector)(((m) & (at_mask)(a)) | (~(m) & (at_mask)(b))))\n"
    "#define at_min(c, a, b) ((c) = at_choose((a) < (b), a, b))\n"
    "#define at_max(c, a, b) ((c) = at_choose((a) > (b), a, b))\n";

/* Left to themselves, the compilers share loads that the tile repeats for want of registers, move
 * others ahead, and spill. */
static const char hot[] =
    "#define at_broadcast(c, p) __asm__(\"ld1r {%0.4s}, %1\" : \"=w\"(c) : \"Q\"(*(p)))\n"
    "#define at_fma(c, a, b) \\\n"
    "    __asm__(\"fmla %0.4s, %1.4s, %2.4s\" : \"+w\"(c) : \"w\"(a), \"w\"(b))\n"
    "#define at_fma_lane(c, a, b, i) \\\n"
    "    __asm__(\"fmla %0.4s, %1.4s, %2.s[\" #i \"]\" : \"+w\"(c) : \"w\"(a), \"w\"(b))\n"
    "#define at_fnma_lane(c, a, b, i) \\\n"
    "    __asm__(\"fmls %0.4s, %1.4s, %2.s[\" #i \"]\" : \"+w\"(c) : \"w\"(a), \"w\"(b))\n"
    "#define at_mul_lane(c, a, b, i) \\\n"
    "    __asm__(\"fmul %0.4s, %1.4s, %2.s[\" #i \"]\" : \"=w\"(c) : \"w\"(a), \"w\"(b))\n"
    "\n";

void at_prelude_neon(const at_target *t, at_text *out) {
    (void)t;
    at_text_add(out, types);
    at_text_add(out, hot);
}
