/* codegen/tile_zip.h: which elements a zip takes from where. */
#ifndef AT_CODEGEN_TILE_ZIP_H
#define AT_CODEGEN_TILE_ZIP_H

#include "codegen/tile.h"

/* Bytes of an element. */
static inline int at_tile_zip_bytes(const at_tile_op *op) {
    if (op->kind >= AT_T_ZIP_LOW16) return 2;
    return op->kind >= AT_T_ZIP_LOW2 ? 8 : 4;
}

/* The element of a, or of b where i is odd, that element i is. */
static inline int at_tile_zip_from(const at_tile_op *op, int i) {
    const int n = 16 / at_tile_zip_bytes(op), high = (op->kind - AT_T_ZIP_LOW) % 2;
    return i - i % n + high * n / 2 + i % n / 2;
}

#endif
