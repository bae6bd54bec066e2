/* codegen/tile/tile_integers.c: what tiles with integers, or with pairs of 16 bits, in C with
 * vector types take besides, of every target. */
#include "codegen/tile/tile_text.h"

/* What is apart is rounded by itself: the compilers make multiply-adds else. */
static const char integers[] =
    "#define at_to_int(c, a) __asm__(\"%1$s\" : \"=%2$c\"(c) : \"%2$c\"(a))\n"
    "#define at_int_min(a, b) at_choose((a) < (b), a, b)\n"
    "#define at_int_max(a, b) at_choose((a) > (b), a, b)\n"
    "#define at_narrow(type, c, a, by, b) do { \\\n"
    "    typedef type at_few __attribute__((vector_size(sizeof(at_vector)))); \\\n"
    "    (c) = (at_vector)((at_few)(a) by (at_few)(b)); } while (0)\n"
    "#define at_narrow_shift(type, c, a, by, bits) do { \\\n"
    "    typedef type at_few __attribute__((vector_size(sizeof(at_vector)))); \\\n"
    "    (c) = (at_vector)((at_few)(a) by (bits)); } while (0)\n"
    "#define at_narrow_choice(type, c, a, by, b) do { \\\n"
    "    typedef type at_few __attribute__((vector_size(sizeof(at_vector)))); \\\n"
    "    (c) = at_choose((at_mask)((at_few)(a) by (at_few)(b)), a, b); } while (0)\n"
    "#define at_apart(v) __asm__(\"\" : \"+%2$c\"(v))\n"
    "static inline __attribute__((unused)) int at_four(const void *p) {\n"
    "    int x;\n"
    "    __builtin_memcpy(&x, p, sizeof x);\n"
    "    return x;\n"
    "}\n";

void at_tile_integers(at_text *out, const char *to_int, char letter) {
    at_text_addf(out, integers, to_int, letter);
}

/* Two elements of 16 bits, as they lie. */
static const char two[] = "static inline __attribute__((unused)) int at_two(const void *p) {\n"
                          "    int x;\n"
                          "    __builtin_memcpy(&x, p, sizeof x);\n"
                          "    return x;\n"
                          "}\n";

void at_tile_two(at_text *out) { at_text_add(out, two); }
