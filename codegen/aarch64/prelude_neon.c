/* codegen/aarch64/prelude_neon.c: the types and macros of tiles in C for gcc and clang, once per
 * file. NEON is part of every AArch64, so that no function names it. */
#include "codegen/aarch64/aarch64.h"
#include "codegen/tile.h"

/* Subtracting 0 leaves every number as it is, -0 included: the compilers make a broadcast of it. */
static const char types[] =
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

/* c += the products of four bytes to a lane; a letter to an operand: s, it has a sign, u, none. */
static const char dots[] =
    "#define at_by_bytes(name, c, a, b, bytes) \\\n"
    "    __asm__(name \" %0.4s, %1.16b, %2.\" bytes : \"+w\"(c) : \"w\"(a), \"w\"(b))\n"
    "#define at_sdot(c, a, b) at_by_bytes(\"sdot\", c, a, b, \"16b\")\n"
    "#define at_udot(c, a, b) at_by_bytes(\"udot\", c, a, b, \"16b\")\n"
    "#define at_sdot_lane(c, a, b, i) at_by_bytes(\"sdot\", c, a, b, \"4b[\" #i \"]\")\n"
    "#define at_udot_lane(c, a, b, i) at_by_bytes(\"udot\", c, a, b, \"4b[\" #i \"]\")\n";

static const char mixed_dots[] =
    "#define at_usdot(c, a, b) at_by_bytes(\"usdot\", c, a, b, \"16b\")\n"
    "#define at_usdot_lane(c, a, b, i) at_by_bytes(\"usdot\", c, a, b, \"4b[\" #i \"]\")\n"
    "#define at_sudot_lane(c, a, b, i) at_by_bytes(\"sudot\", c, a, b, \"4b[\" #i \"]\")\n";

/* Tiles are functions of their own, so that the code around takes no registers. */
static void tile_function(const at_target *t, at_text *out) {
    if (!*t->parts) {
        at_text_add(out, "#define AT_TILE __attribute__((noinline))\n");
        return;
    }
    at_text_addf(out,
                 "#ifdef __clang__\n"
                 "#define AT_TILE __attribute__((noinline, target(\"%s\")))\n"
                 "#else\n"
                 "#define AT_TILE __attribute__((noinline, target(\"arch=armv8.2-a+",
                 t->parts);
    for (const char *s = t->parts; *s; s++) at_text_addf(out, "%c", *s == ',' ? '+' : *s);
    at_text_add(out, "\")))\n#endif\n");
}

void at_prelude_neon(const at_target *t, at_text *out) {
    tile_function(t, out);
    at_text_add(out, types);
    at_text_add(out, hot);
}

void at_integers_neon(const at_target *t, at_text *out) {
    at_tile_integers(out, "fcvtns %0.4s, %1.4s", 'w');
    if (t->dots) at_text_add(out, dots);
    if (t->dots & AT_DOT_US) at_text_add(out, mixed_dots);
    at_text_add(out, "\n");
}
