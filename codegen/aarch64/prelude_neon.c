/* codegen/aarch64/prelude_neon.c: the types and macros of tiles in C for gcc and clang, once per
 * file. NEON is part of every AArch64, so that no function names it. */
#include "codegen/aarch64/aarch64.h"
#include "codegen/tile/tile_text.h"

/* Subtracting 0 leaves every number as it is, -0 included: the compilers make a broadcast of it. */
static const char types[] =
    "typedef float at_vector __attribute__((vector_size(16)));\n"
    "typedef int at_mask __attribute__((vector_size(16)));\n"
    "typedef float at_memory __attribute__((vector_size(16), may_alias, aligned(1)));\n"
    "typedef float at_memory2 __attribute__((vector_size(8), may_alias, aligned(1)));\n"
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

/* Floats of 16 bits: one, and four of them. Those of upper halves are stored as they were loaded.
 */
static const char halves[] =
    "typedef unsigned short at_half4 __attribute__((vector_size(8), may_alias, aligned(2)));\n"
    "static inline __attribute__((unused)) float at_of_f16(unsigned short x) {\n"
    "    float y;\n"
    "    __asm__(\"fmov %s0, %w1\\n\\tfcvt %s0, %h0\" : \"=w\"(y) : \"r\"((int)x));\n"
    "    return y;\n"
    "}\n"
    "static inline __attribute__((unused)) unsigned short at_to_f16(float x) {\n"
    "    int y;\n"
    "    __asm__(\"fcvt %h1, %s1\\n\\tfmov %w0, %s1\" : \"=r\"(y), \"+w\"(x));\n"
    "    return (unsigned short)y;\n"
    "}\n"
    "static inline __attribute__((unused)) float at_of_bf16(unsigned short x) {\n"
    "    const unsigned bits = (unsigned)x << 16;\n"
    "    float y;\n"
    "    __builtin_memcpy(&y, &bits, sizeof y);\n"
    "    return y;\n"
    "}\n"
    "static inline __attribute__((unused)) unsigned short at_to_bf16(float x) {\n"
    "    unsigned bits;\n"
    "    __builtin_memcpy(&bits, &x, sizeof bits);\n"
    "    return (unsigned short)(bits >> 16);\n"
    "}\n"
    "#define at_load_f16(c, p) \\\n"
    "    __asm__(\"fcvtl %0.4s, %1.4h\" : \"=w\"(c) : \"w\"(*(const at_half4 *)(p)))\n"
    "#define at_store_f16(p, v) do { \\\n"
    "    at_half4 at_cut; \\\n"
    "    __asm__(\"fcvtn %0.4h, %1.4s\" : \"=w\"(at_cut) : \"w\"(v)); \\\n"
    "    *(at_half4 *)(p) = at_cut; } while (0)\n"
    "#define at_load_bf16(c, p) \\\n"
    "    ((c) = (at_vector)(__builtin_convertvector(*(const at_half4 *)(p), at_mask) << 16))\n"
    "#define at_store_bf16(p, v) \\\n"
    "    (*(at_half4 *)(p) = __builtin_convertvector((at_mask)(v) >> 16, at_half4))\n";

/* Floats of 16 bits as they lie, up to 8 of them, and products of the first four or the others:
 * fp16fml. An element's register is one of the first 16. */
static const char products_of_halves[] =
    "typedef unsigned at_two_halves __attribute__((may_alias, aligned(2)));\n"
    "typedef float at_halves __attribute__((vector_size(16), may_alias, aligned(2)));\n"
    "#define at_halves8(c, p) ((c) = (at_vector)(*(const at_halves *)(p)))\n"
    "#define at_halves4(c, p) \\\n"
    "    __asm__(\"ldr %d0, %1\" : \"=w\"(c) : \"m\"(*(const at_half4 *)(p)))\n"
    "#define at_halves2(c, p) \\\n"
    "    __asm__(\"ldr %s0, %1\" : \"=w\"(c) : \"m\"(*(const at_two_halves *)(p)))\n"
    "#define at_halves1(c, p) __asm__(\"ldr %h0, %1\" : \"=w\"(c) : \"m\"(*(p)))\n"
    "#define at_half_into(c, p, i) \\\n"
    "    __asm__(\"ld1 {%0.h}[\" #i \"], %1\" : \"+w\"(c) : \"Q\"(*(p)))\n"
    "#define at_broadcast_half(c, p) __asm__(\"ld1r {%0.8h}, %1\" : \"=w\"(c) : \"Q\"(*(p)))\n"
    "#define at_by_halves(name, c, a, b) \\\n"
    "    __asm__(name \" %0.4s, %1.4h, %2.4h\" : \"+w\"(c) : \"w\"(a), \"w\"(b))\n"
    "#define at_by_half(name, c, a, b, i) \\\n"
    "    __asm__(name \" %0.4s, %1.4h, %2.h[\" #i \"]\" : \"+w\"(c) : \"w\"(a), \"x\"(b))\n"
    "#define at_half_fma(c, a, b) at_by_halves(\"fmlal\", c, a, b)\n"
    "#define at_half_fma2(c, a, b) at_by_halves(\"fmlal2\", c, a, b)\n"
    "#define at_half_fnma(c, a, b) at_by_halves(\"fmlsl\", c, a, b)\n"
    "#define at_half_fnma2(c, a, b) at_by_halves(\"fmlsl2\", c, a, b)\n"
    "#define at_half_fma_lane(c, a, b, i) at_by_half(\"fmlal\", c, a, b, i)\n"
    "#define at_half_fma2_lane(c, a, b, i) at_by_half(\"fmlal2\", c, a, b, i)\n"
    "#define at_half_fnma_lane(c, a, b, i) at_by_half(\"fmlsl\", c, a, b, i)\n"
    "#define at_half_fnma2_lane(c, a, b, i) at_by_half(\"fmlsl2\", c, a, b, i)\n";

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

static const char widening[] =
    "#define at_load_narrow(type, bytes, p) (__extension__({ \\\n"
    "    typedef type at_few __attribute__((vector_size(bytes), may_alias, aligned(1))); \\\n"
    "    (at_vector)__builtin_convertvector(*(const at_few *)(p), at_mask); }))\n"
    "#define at_store_narrow(type, bytes, p, v) do { \\\n"
    "    typedef type at_few __attribute__((vector_size(bytes), may_alias, aligned(1))); \\\n"
    "    *(at_few *)(p) = __builtin_convertvector((at_mask)(v), at_few); } while (0)\n";

void at_integers_neon(const at_target *t, at_text *out) {
    at_tile_integers(out, "fcvtns %0.4s, %1.4s", 'w');
    at_text_add(out, widening);
    if (t->dots) at_text_add(out, dots);
    if (t->dots & AT_DOT_US) at_text_add(out, mixed_dots);
    at_text_add(out, "\n");
}

void at_halves_neon(const at_target *t, at_text *out) {
    at_text_add(out, halves);
    if (t->multiplies_halves) at_text_add(out, products_of_halves);
    at_tile_two(out);
    at_text_add(out, "\n");
}
