/* codegen/tile/tile_zip.h: from where elements come that are put together in another order. */
#ifndef AT_CODEGEN_TILE_ZIP_H
#define AT_CODEGEN_TILE_ZIP_H

#include "codegen/tile/tile.h"

/* Bytes of an element. */
static inline int at_tile_zip_bytes(const at_tile_op *op) {
    if (op->kind >= AT_T_ZIP_LOW8) return 1;
    if (op->kind >= AT_T_ZIP_LOW16) return 2;
    return op->kind >= AT_T_ZIP_LOW2 ? 8 : 4;
}

/* The element of a, or of b where i is odd, that element i is. */
static inline int at_tile_zip_from(const at_tile_op *op, int i) {
    const int n = 16 / at_tile_zip_bytes(op), high = (op->kind - AT_T_ZIP_LOW) % 2;
    return i - i % n + high * n / 2 + i % n / 2;
}

/* A merge is of so many registers `apart` that are interleaved, and makes register `part` of what
 * comes of it. b is the one of a number from 1 on: it gives its lanes, and all others are as a has
 * them. With the first, a is that of number 0, and gives its own. Of number 0 it goes back: of
 * lanes of a and b, which follow each other, every so many from `part` on. As `by` says it: */
static inline int at_tile_merge(int apart, int number, int part) {
    return apart | number << 4 | part << 8;
}

/* Where lane i of a merge is from: a lane of a, or of b, whose lanes follow those of a. */
static inline int at_tile_merge_from(int merge, int lanes, int i) {
    const int apart = merge & 15, number = merge >> 4 & 15, at = (merge >> 8) * lanes + i;
    if (number == 0) return apart * i + (merge >> 8);
    if (at % apart == number) return lanes + at / apart;
    return number == 1 ? at / apart : i;
}

/* An operation that takes whole lanes of all registers takes them of a, and of a second register:
 * b, dst where some of its lanes stay, or a again. */
static inline int at_tile_shuffled_second(const at_tile_op *op) {
    return op->kind == AT_T_FIRST ? op->dst : op->b >= 0 ? op->b : op->a;
}
/* Where lane i is from: a lane of a, or of the second one, whose lanes follow those of a. */
static inline int at_tile_shuffled_from(const at_tile_op *op, int lanes, int i) {
    const int fours = lanes / 4;
    switch (op->kind) {
    case AT_T_SWAP: return i ^ op->by;
    case AT_T_QUARTERS: return i % fours * 4 + i / fours;
    case AT_T_FIRST: return i < op->lanes ? i : lanes + i;
    case AT_T_FOURS: return i - i % 4 + (op->by >> 2 * (i % 4) & 3) + i % 4 / 2 * lanes;
    case AT_T_HALVES: return (op->by >> i / 4 * 4 & 3) * 4 + i % 4;
    default: return at_tile_merge_from(op->by, lanes, i);
    }
}

#endif
