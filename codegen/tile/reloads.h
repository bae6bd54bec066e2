/* codegen/tile/reloads.h: registers for pointers of a tile that lie in memory, where there are more
 * than registers: each of a few holds one of those that were asked for last (tile_encode.c). */
#ifndef AT_CODEGEN_RELOADS_H
#define AT_CODEGEN_RELOADS_H

#include <stdbool.h>

enum { AT_RELOADS = 3 };

typedef struct at_reloads {
    struct {
        int reg, slot, asked; /* the pointer that the register holds (-1: none), and since when */
    } of[AT_RELOADS];
    int asked;
} at_reloads;

/* They hold none of the pointers any more. */
void at_reloads_forget(at_reloads *r);
/* The register for a slot's pointer, good until two others are asked for. *is_there: it holds that
 * pointer already. */
int at_reloads_for(at_reloads *r, int slot, bool *is_there);

#endif
