/* codegen/x86/prelude.c: the types and macros of tiles in C for gcc and clang, once per file. */
#include "codegen/tile/tile_text.h"
#include "codegen/x86/x86.h"

/* Subtracting 0 leaves every number as it is, -0 included: the compilers make a broadcast of it. */
static const char everywhere[] =
    "typedef float at_vector __attribute__((vector_size(%d)));\n"
    "typedef int at_mask __attribute__((vector_size(%d)));\n"
    "typedef float at_memory __attribute__((vector_size(%d), may_alias, aligned(1)));\n"
    "#define at_load(p) (*(const at_memory *)(p))\n"
    "#define at_store(p, v) (*(at_memory *)(p) = (v))\n"
    "#define at_all(x) ((x) - (at_vector){0})\n"
    "#define at_choose(m, a, b) ((at_vector)(((m) & (at_mask)(a)) | (~(m) & (at_mask)(b))))\n";

/* c += the products of the elements of a lane. */
static const char dots[] =
    "#define at_%1$sdot(c, a, b) \\\n"
    "    __asm__(\"%2$s %%2, %%1, %%0\" : \"+v\"(c) : \"v\"(a), \"v\"(b))\n"
    "#define at_%1$sdot_load(c, a, p) \\\n"
    "    __asm__(\"%2$s %%2, %%1, %%0\" : \"+v\"(c) : \"v\"(a), \"m\"(*(const at_memory *)(p)))\n"
    "#define at_%1$sdot_broadcast(c, a, p) \\\n"
    "    __asm__(\"%2$s %%2%%{1to16%%}, %%1, %%0\" \\\n"
    "            : \"+v\"(c) : \"v\"(a), \"m\"(*(const int __attribute__((may_alias, aligned(1))) "
    "*)(p)))\n";

void at_x86_prelude_dots(const char *name, const char *instruction, at_text *out) {
    at_text_addf(out, dots, name, instruction);
}

/* The same in three: pairs of products are added in 16 bits, which they do not leave. */
static const char dots_avx2[] =
    "#define at_usdot(c, a, b) do { \\\n"
    "    at_vector at_x; \\\n"
    "    __asm__(\"vpmaddubsw %3, %2, %1\\n\\tvpmaddwd %4, %1, %1\\n\\tvpaddd %1, %0, %0\" \\\n"
    "            : \"+x\"(c), \"=&x\"(at_x) \\\n"
    "            : \"x\"(a), \"x\"(b), \"x\"((at_mask){0} + 0x00010001)); } while (0)\n"
    "#define at_usdot_load(c, a, p) at_usdot(c, a, at_load(p))\n"
    "#define at_s16dot(c, a, b) do { \\\n"
    "    at_vector at_x; \\\n"
    "    __asm__(\"vpmaddwd %3, %2, %1\\n\\tvpaddd %1, %0, %0\" \\\n"
    "            : \"+x\"(c), \"=&x\"(at_x) : \"x\"(a), \"x\"(b)); } while (0)\n"
    "#define at_s16dot_load(c, a, p) at_s16dot(c, a, at_load(p))\n";

static const char dots_avx_vnni[] =
    "#define at_usdot(c, a, b) \\\n"
    "    __asm__(\"%{vex%} vpdpbusd %2, %1, %0\" : \"+x\"(c) : \"x\"(a), \"x\"(b))\n"
    "#define at_usdot_load(c, a, p) at_usdot(c, a, at_load(p))\n"
    "#define at_s16dot(c, a, b) \\\n"
    "    __asm__(\"%{vex%} vpdpwssd %2, %1, %0\" : \"+x\"(c) : \"x\"(a), \"x\"(b))\n"
    "#define at_s16dot_load(c, a, p) at_s16dot(c, a, at_load(p))\n";

/* GCC makes a load of all lanes out of its own function for a masked one, where a permutation takes
 * lanes of the mask alone. */
static const char tails_avx512[] =
    "#define at_load_first(p, n) \\\n"
    "    __extension__({ \\\n"
    "        const unsigned short at_which = (unsigned short)((1 << (n)) - 1); \\\n"
    "        at_vector at_x; \\\n"
    "        __asm__(\"vmovups %1, %0%{%2%}%{z%}\" \\\n"
    "                : \"=v\"(at_x) : \"m\"(at_load(p)), \"Yk\"(at_which)); \\\n"
    "        at_x; \\\n"
    "    })\n"
    "#define at_store_lanes(p, v, m) __builtin_ia32_storeups512_mask((float *)(p), v, m)\n"
    "#define at_store_first(p, v, n) at_store_lanes(p, v, (1 << (n)) - 1)\n";

/* c = a times 2 to the power of b, but 0 where b is below `least`: lanes that a mask leaves out do
 * not underflow. */
static const char scale_avx512[] =
    "#define at_scale(c, a, b, least) \\\n"
    "    __asm__(\"vcmpps $0x15, %3, %2, %%k1\\n\\tvscalefps %2, %1, %0%{%%k1%}%{z%}\" \\\n"
    "            : \"=v\"(c) : \"v\"(a), \"v\"(b), \"v\"(least) : \"k1\")\n";

static const char tails_avx2[] =
    "#define at_first(n) \\\n"
    "    ((at_mask){-((n) > 0), -((n) > 1), -((n) > 2), -((n) > 3), \\\n"
    "               -((n) > 4), -((n) > 5), -((n) > 6), 0})\n"
    "#define at_load_first(p, n) \\\n"
    "    __builtin_ia32_maskloadps256((const at_vector *)(p), at_first(n))\n";

/* c = a < b ? a : b, and with >. The compilers make a comparison and a choice of such a text. */
static const char extremes[] =
    "#define at_min(c, a, b) __asm__(\"vminps %2, %1, %0\" : \"=v\"(c) : \"v\"(a), \"v\"(b))\n"
    "#define at_max(c, a, b) __asm__(\"vmaxps %2, %1, %0\" : \"=v\"(c) : \"v\"(a), \"v\"(b))\n";

static const char extremes_sse2[] =
    "#define at_min(c, a, b) __asm__(\"minps %2, %0\" : \"=x\"(c) : \"0\"(a), \"x\"(b))\n"
    "#define at_max(c, a, b) __asm__(\"maxps %2, %0\" : \"=x\"(c) : \"0\"(a), \"x\"(b))\n";

/* Left to themselves, the compilers share loads that the tile repeats for want of registers, move
 * others ahead, and spill: up to 10 % of the time. */
static const char hot_fma[] =
    "#define at_broadcast(c, p) \\\n"
    "    __asm__ volatile(\"vbroadcastss %1, %0\" : \"=v\"(c) : \"m\"(*(p)))\n"
    "#define at_fma(c, a, b) \\\n"
    "    __asm__(\"vfmadd231ps %2, %1, %0\" : \"+v\"(c) : \"v\"(a), \"v\"(b))\n"
    "#define at_fma_load(c, a, p) \\\n"
    "    __asm__(\"vfmadd231ps %2, %1, %0\" : \"+v\"(c) : \"v\"(a), \"m\"(at_load(p)))\n"
    "#define at_fma_broadcast(c, a, p) \\\n"
    "    __asm__(\"vfmadd231ps %2%{1to16%}, %1, %0\" : \"+v\"(c) : \"v\"(a), \"m\"(*(p)))\n";

/* The instructions clear their mask, and leave lanes without one as they are. */
static const char gather_avx2[] =
    "#define at_gather(c, p, i, n) \\\n"
    "    do { \\\n"
    "        at_mask at_which = (n) < 8 ? at_first(n) : ~(at_mask){0}; \\\n"
    "        (c) = (at_vector){0}; \\\n"
    "        __asm__(\"vgatherdps %1, (%2,%3,4), %0\" \\\n"
    "                : \"+&x\"(c), \"+&x\"(at_which) : \"r\"(p), \"x\"(i) : \"memory\"); \\\n"
    "    } while (0)\n";

static const char gather_avx512[] =
    "#define at_gather(c, p, i, n) \\\n"
    "    do { \\\n"
    "        unsigned short at_which = (unsigned short)((1 << (n)) - 1); \\\n"
    "        (c) = (at_vector){0}; \\\n"
    "        __asm__(\"vgatherdps (%2,%3,4), %0%{%1%}\" \\\n"
    "                : \"+&v\"(c), \"+&Yk\"(at_which) : \"r\"(p), \"v\"(i) : \"memory\"); \\\n"
    "    } while (0)\n";

static const char hot_sse2[] = "#define at_broadcast(c, p) ((c) = at_all(*(p)))\n"
                               "#define at_fma(c, a, b) ((c) += (a) * (b))\n";

static const char pieces[] =
    "typedef float at_memory2 __attribute__((vector_size(8), may_alias, aligned(1)));\n"
    "typedef float at_memory4 __attribute__((vector_size(16), may_alias, aligned(1)));\n"
    "#define at_store2(p, v, i) \\\n"
    "    (*(at_memory2 *)(p) = __builtin_shufflevector(v, v, i, i + 1))\n"
    "#define at_store4(p, v, i) \\\n"
    "    (*(at_memory4 *)(p) = __builtin_shufflevector(v, v, i, i + 1, i + 2, i + 3))\n";

/* Fewer lanes than a register has, as a smaller one; those behind are 0. */
static const char loads_of_4[] =
    "#define at_load4(c, p) \\\n"
    "    __asm__(\"vmovups %1, %x0\" : \"=v\"(c) : \"m\"(*(const at_memory4 *)(p)))\n";

static const char moves_of_8[] =
    "typedef float at_memory8 __attribute__((vector_size(32), may_alias, aligned(1)));\n"
    "#define at_load8(c, p) \\\n"
    "    __asm__(\"vmovups %1, %t0\" : \"=v\"(c) : \"m\"(*(const at_memory8 *)(p)))\n"
    "#define at_store8(p, v, i) \\\n"
    "    (*(at_memory8 *)(p) = __builtin_shufflevector(v, v, i, i + 1, i + 2, i + 3, i + 4, i + 5, "
    "\\\n"
    "                                                  i + 6, i + 7))\n"
    "#define at_fma8(c, a, b) \\\n"
    "    __asm__(\"vfmadd231ps %t2, %t1, %t0\" : \"+v\"(c) : \"v\"(a), \"v\"(b))\n"
    "#define at_fma8_load(c, a, p) \\\n"
    "    __asm__(\"vfmadd231ps %2, %t1, %t0\" \\\n"
    "            : \"+v\"(c) : \"v\"(a), \"m\"(*(const at_memory8 *)(p)))\n"
    "#define at_fma8_broadcast(c, a, p) \\\n"
    "    __asm__(\"vfmadd231ps %2%{1to8%}, %t1, %t0\" : \"+v\"(c) : \"v\"(a), \"m\"(*(p)))\n";

/* Tiles are functions of their own, so that the code around takes no registers. */
static const char tile_function[] = "#define AT_TILE __attribute__((noinline, target(\"%s\")))\n";

/* Without a minimal width clang cuts 512 bits in two for CPUs that clock down for them. */
static const char tile_function_clang[] =
    "#ifdef __clang__\n"
    "#define AT_TILE __attribute__((noinline, target(\"%s\"), min_vector_width(512)))\n"
    "#else\n";

static void add_types(const at_target *t, at_text *out) {
    int bytes = 4 * t->lanes;
    at_text_addf(out, everywhere, bytes, bytes, bytes);
}

void at_prelude_sse2(const at_target *t, at_text *out) {
    at_text_addf(out, tile_function, t->parts);
    add_types(t, out);
    at_text_add(out, extremes_sse2);
    at_text_add(out, hot_sse2);
    at_text_add(out, pieces);
    at_text_add(out, "\n");
}

void at_prelude_avx2(const at_target *t, at_text *out) {
    at_text_addf(out, tile_function, t->parts);
    add_types(t, out);
    at_text_add(out, extremes);
    at_text_add(out, hot_fma);
    at_text_add(out, tails_avx2);
    at_text_add(out, gather_avx2);
    at_text_add(out, pieces);
    at_text_add(out, loads_of_4);
    at_text_add(out, "\n");
}

void at_prelude_avx512(const at_target *t, at_text *out) {
    at_text_addf(out, tile_function_clang, t->parts);
    at_text_addf(out, tile_function, t->parts);
    at_text_add(out, "#endif\n");
    add_types(t, out);
    at_text_add(out, extremes);
    at_text_add(out, hot_fma);
    at_text_add(out, tails_avx512);
    at_text_add(out, scale_avx512);
    at_text_add(out, gather_avx512);
    at_text_add(out, pieces);
    at_text_add(out, loads_of_4);
    at_text_add(out, moves_of_8);
    at_text_add(out, "\n");
}

/* gcc 12 converts vectors to and from narrow elements one by one. */
static const char widening[] =
    "#define at_widen(how, bytes_of, is_signed, type, p) \\\n"
    "    if (sizeof(type) == bytes_of && ((type)-1 < (type)1) == is_signed) \\\n"
    "        __asm__(how \" %%1, %%0\" : \"=%1$c\"(at_wide) : \"m\"(*(const at_few *)(p)))\n"
    "#define at_load_narrow(type, bytes, p) (__extension__({ \\\n"
    "    typedef type at_few __attribute__((vector_size(bytes), may_alias, aligned(1))); \\\n"
    "    at_mask at_wide = {0}; \\\n"
    "    at_widen(\"vpmovsxbd\", 1, 1, type, p); \\\n"
    "    at_widen(\"vpmovzxbd\", 1, 0, type, p); \\\n"
    "    at_widen(\"vpmovsxwd\", 2, 1, type, p); \\\n"
    "    at_widen(\"vpmovzxwd\", 2, 0, type, p); \\\n"
    "    (at_vector)at_wide; }))\n";

/* Two registers cut to half their bits. */
static const char cutting[] =
    "#define at_cut(how, c, a, b) \\\n"
    "    __asm__(how \" %%2, %%1, %%0\" : \"=%1$c\"(c) : \"%1$c\"(a), \"%1$c\"(b))\n"
    "#define at_cut_s16(c, a, b) at_cut(\"vpackssdw\", c, a, b)\n"
    "#define at_cut_s8(c, a, b) at_cut(\"vpacksswb\", c, a, b)\n"
    "#define at_cut_u8(c, a, b) at_cut(\"vpackuswb\", c, a, b)\n";

/* Elements lie within their type. */
static const char narrowing_avx2[] =
    "#define at_store_narrow(type, bytes, p, v) do { \\\n"
    "    typedef type at_few __attribute__((vector_size(bytes), may_alias, aligned(1))); \\\n"
    "    int __attribute__((vector_size(16))) at_cut; \\\n"
    "    __asm__(\"vextracti128 $1, %1, %0\\n\\tvpackssdw %0, %x1, %0\" : \"=&x\"(at_cut) : "
    "\"x\"(v)); \\\n"
    "    if (sizeof(type) == 2) \\\n"
    "        __asm__(\"vmovdqu %1, %0\" : \"=m\"(*(at_few *)(p)) : \"x\"(at_cut)); \\\n"
    "    else { \\\n"
    "        if ((type)-1 < (type)1) __asm__(\"vpacksswb %0, %0, %0\" : \"+x\"(at_cut)); \\\n"
    "        else __asm__(\"vpackuswb %0, %0, %0\" : \"+x\"(at_cut)); \\\n"
    "        __asm__(\"vmovq %1, %0\" : \"=m\"(*(at_few *)(p)) : \"x\"(at_cut)); \\\n"
    "    } } while (0)\n";

static const char narrowing_avx512[] =
    "#define at_store_narrow(type, bytes, p, v) do { \\\n"
    "    typedef type at_few __attribute__((vector_size(bytes), may_alias, aligned(1))); \\\n"
    "    if (sizeof(type) == 2) \\\n"
    "        __asm__(\"vpmovdw %1, %0\" : \"=m\"(*(at_few *)(p)) : \"v\"(v)); \\\n"
    "    else __asm__(\"vpmovdb %1, %0\" : \"=m\"(*(at_few *)(p)) : \"v\"(v)); } while (0)\n";

/* The compilers' own conversions; two products of s16 and their sum. */
static const char integers_sse2[] =
    "#define at_load_narrow(type, bytes, p) (__extension__({ \\\n"
    "    typedef type at_few __attribute__((vector_size(bytes), may_alias, aligned(1))); \\\n"
    "    (at_vector)__builtin_convertvector(*(const at_few *)(p), at_mask); }))\n"
    "#define at_store_narrow(type, bytes, p, v) do { \\\n"
    "    typedef type at_few __attribute__((vector_size(bytes), may_alias, aligned(1))); \\\n"
    "    *(at_few *)(p) = __builtin_convertvector((at_mask)(v), at_few); } while (0)\n"
    "#define at_s16dot(c, a, b) do { \\\n"
    "    at_vector at_x = (a); \\\n"
    "    __asm__(\"pmaddwd %2, %1\\n\\tpaddd %1, %0\" : \"+x\"(c), \"+x\"(at_x) : \"x\"(b)); } "
    "while (0)\n"
    "#define at_s16dot_load(c, a, p) at_s16dot(c, a, at_load(p))\n\n";

void at_integers_sse2(const at_target *t, at_text *out) {
    (void)t;
    at_tile_integers(out, "cvtps2dq %1, %0", 'x');
    at_text_add(out, integers_sse2);
}

void at_integers_avx2(const at_target *t, at_text *out) {
    at_tile_integers(out, "vcvtps2dq %1, %0", 'x');
    at_text_addf(out, widening, 'x');
    at_text_addf(out, cutting, 'x');
    at_text_add(out, narrowing_avx2);
    at_text_add(out, t->dot_regs ? dots_avx2 : dots_avx_vnni);
    at_text_add(out, "\n");
}

/* Four by four lanes turned round, then bytes of each four. */
static void weaving(at_text *out) {
    static const char *const heads[] = {
        "#define at_weave(c, a) do { \\\n"
        "    typedef char at_bytes __attribute__((vector_size(64))); \\\n"
        "    const at_mask at_rows = __builtin_shufflevector((at_mask)(a), (at_mask)(a)",
        "); \\\n    (c) = (at_vector)__builtin_shufflevector((at_bytes)at_rows, (at_bytes)at_rows"};
    for (int bytes = 0; bytes < 2; bytes++) {
        at_text_add(out, heads[bytes]);
        for (int i = 0; i < (bytes ? 64 : 16); i++)
            at_text_addf(out, ", %d", i / 16 * 16 + i % 4 * 4 + i % 16 / 4);
    }
    at_text_add(out, "); } while (0)\n");
}

void at_integers_avx512(const at_target *t, at_text *out) {
    at_tile_integers(out, "vcvtps2dq %1, %0", 'v');
    at_text_addf(out, widening, 'v');
    at_text_addf(out, cutting, 'v');
    at_text_add(out, narrowing_avx512);
    if (t->weaves) weaving(out);
    if (t->dots & AT_DOT_US) at_x86_prelude_dots("us", "vpdpbusd", out);
    if (t->dots & AT_DOT_S16) at_x86_prelude_dots("s16", "vpdpwssd", out);
    at_text_add(out, "\n");
}
