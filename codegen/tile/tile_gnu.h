/* codegen/tile/tile_gnu.h: the parts of the printer of C with vector types (tile_gnu.c). */
#ifndef AT_CODEGEN_TILE_GNU_H
#define AT_CODEGEN_TILE_GNU_H

#include "codegen/tile/tile_text.h"

/* tile_gnu_memory.c. Where the operation's element lies, as an expression. */
void at_gnu_address(at_text *out, const at_tile_op *op);
/* Lanes of 32 bits from memory, as an expression. */
void at_gnu_lanes(at_text *out, const at_tile *t, const at_tile_op *op);
/* Statements: lanes of any type, or one element in all of them, into op->dst; op->a stored. */
void at_gnu_load(at_text *out, const at_tile *t, const at_tile_op *op);
void at_gnu_store(at_text *out, const at_tile *t, const at_tile_op *op);
/* tile_gnu_double.c: the function of a tile whose registers hold doubles. */
void at_gnu_doubles(at_text *out, const at_tile *t, const char *prefix);

#endif
