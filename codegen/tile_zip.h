/* codegen/tile_zip.h: which elements a zip takes from where. */
#ifndef AT_CODEGEN_TILE_ZIP_H
#define AT_CODEGEN_TILE_ZIP_H

#include "codegen/tile.h"

/* Does it go by elements of 16 bits, not of 32? */
static inline bool at_tile_zips_16(const at_tile_op *op) {
    return op->kind == AT_T_ZIP_LOW16 || op->kind == AT_T_ZIP_HIGH16;
}

/* The element of a, or of b where i is odd, that element i is. */
static inline int at_tile_zip_from(const at_tile_op *op, int i) {
    const int n = at_tile_zips_16(op) ? 8 : 4;
    const bool high = op->kind == AT_T_ZIP_HIGH || op->kind == AT_T_ZIP_HIGH16;
    return i - i % n + (high ? n / 2 : 0) + i % n / 2;
}

#endif
