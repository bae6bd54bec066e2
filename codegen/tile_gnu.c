/* codegen/tile_gnu.c: a tile program as C with vector types, for gcc and clang.
 *
 * One variable per register and every unrolled operation printed: with arrays the compilers keep
 * accumulators in memory. Each function names its instruction set, so that no -march is needed.
 * Vectors in memory have a type of their own, aligned like a float and free to alias. What concerns
 * only the first lanes of a vector touches nothing beyond them: masks on avx512; on avx2 a masked
 * load; elsewhere pieces of 4, 2 and 1. */
#include "codegen/tile.h"

/* ---- once per file
 * ----------------------------------------------------------------------------------------------- */

static const char prelude[] =
    "/* Multiply-adds become one instruction, in strict modes too. */\n"
    "#ifdef __clang__\n"
    "#pragma clang fp contract(fast)\n"
    "#elif defined __STRICT_ANSI__\n"
    "#pragma GCC optimize(\"fp-contract=fast\")\n"
    "#endif\n\n";
