/* codegen/x86/prelude_halves.c: floats of 16 bits in C for gcc and clang: one of them, and as many
 * as a register has lanes. What is stored has no more digits than they have. */
#include "codegen/tile/tile_text.h"
#include "codegen/x86/x86.h"

static const char upper_halves[] =
    "typedef unsigned short at_half_memory __attribute__((vector_size(%d), may_alias, "
    "aligned(2)));\n"
    "static inline __attribute__((unused)) float at_of_bits(unsigned bits) {\n"
    "    float y;\n"
    "    __builtin_memcpy(&y, &bits, sizeof y);\n"
    "    return y;\n"
    "}\n"
    "static inline __attribute__((unused)) unsigned at_bits_of(float x) {\n"
    "    unsigned bits;\n"
    "    __builtin_memcpy(&bits, &x, sizeof bits);\n"
    "    return bits;\n"
    "}\n"
    "static inline __attribute__((unused)) float at_of_bf16(unsigned short x) {\n"
    "    return at_of_bits((unsigned)x << 16);\n"
    "}\n"
    "static inline __attribute__((unused)) unsigned short at_to_bf16(float x) {\n"
    "    return (unsigned short)(at_bits_of(x) >> 16);\n"
    "}\n"
    "#define at_load_bf16(c, p) \\\n"
    "    ((c) = (at_vector)(__builtin_convertvector(*(const at_half_memory *)(p), at_mask) << "
    "16))\n"
    "#define at_store_bf16(p, v) \\\n"
    "    (*(at_half_memory *)(p) = __builtin_convertvector((at_mask)(v) >> 16, "
    "at_half_memory))\n";

static const char by_f16c[] =
    "static inline __attribute__((unused)) float at_of_f16(unsigned short x) {\n"
    "    float y;\n"
    "    __asm__(\"vmovd %1, %0\\n\\tvcvtph2ps %0, %0\" : \"=x\"(y) : \"r\"((int)x));\n"
    "    return y;\n"
    "}\n"
    "static inline __attribute__((unused)) unsigned short at_to_f16(float x) {\n"
    "    int y;\n"
    "    __asm__(\"vcvtps2ph $0, %1, %1\\n\\tvmovd %1, %0\" : \"=r\"(y), \"+x\"(x));\n"
    "    return (unsigned short)y;\n"
    "}\n"
    "#define at_load_f16(c, p) \\\n"
    "    __asm__(\"vcvtph2ps %1, %0\" : \"=v\"(c) : \"m\"(*(const at_half_memory *)(p)))\n"
    "#define at_store_f16(p, v) \\\n"
    "    __asm__(\"vcvtps2ph $0, %1, %0\" : \"=m\"(*(at_half_memory *)(p)) : \"v\"(v))\n";

static const char by_integers[] =
    "static inline __attribute__((unused)) float at_of_f16(unsigned short x) {\n"
    "    unsigned size = (unsigned)(x & 0x7fff) << 13;\n"
    "    unsigned value = at_bits_of(at_of_bits(size) * 0x1p112f);\n"
    "    if (size >= 0x0f800000) value |= 0x7f800000;\n"
    "    return at_of_bits(value | (unsigned)(x & 0x8000) << 16);\n"
    "}\n"
    "static inline __attribute__((unused)) unsigned short at_to_f16(float x) {\n"
    "    unsigned size = at_bits_of(at_of_bits(at_bits_of(x) & 0x7fffffff) * 0x1p-112f);\n"
    "    return (unsigned short)((size >> 13 & 0x7fff) | (at_bits_of(x) >> 16 & 0x8000));\n"
    "}\n"
    "#define at_load_f16(c, p) \\\n"
    "    do { \\\n"
    "        const at_mask at_bits = \\\n"
    "            __builtin_convertvector(*(const at_half_memory *)(p), at_mask); \\\n"
    "        const at_mask at_size = (at_bits & 0x7fff) << 13; \\\n"
    "        (c) = (at_vector)((at_mask)((at_vector)at_size * 0x1p112f) | \\\n"
    "                          ((at_size >= 0x0f800000) & 0x7f800000) | \\\n"
    "                          (at_bits & 0x8000) << 16); \\\n"
    "    } while (0)\n"
    "#define at_store_f16(p, v) \\\n"
    "    do { \\\n"
    "        const at_mask at_bits = (at_mask)(v); \\\n"
    "        const at_mask at_size = \\\n"
    "            (at_mask)((at_vector)(at_bits & 0x7fffffff) * 0x1p-112f); \\\n"
    "        *(at_half_memory *)(p) = __builtin_convertvector( \\\n"
    "            (at_size >> 13 & 0x7fff) | (at_bits >> 16 & 0x8000), at_half_memory); \\\n"
    "    } while (0)\n";

void at_prelude_halves(const at_target *t, at_text *out) {
    at_text_addf(out, upper_halves, 2 * t->lanes);
    at_text_add(out, t->converts_halves ? by_f16c : by_integers);
    at_tile_two(out);
    if (t->dots & AT_DOT_BF16) at_x86_prelude_dots("bf16", "vdpbf16ps", out);
    at_text_add(out, "\n");
}
