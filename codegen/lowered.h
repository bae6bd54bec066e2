/* codegen/lowered.h: a program between its passes and the printing of C, for those who reckon what
 * it needs (cost/): the tree of loops around tile calls, the tiles, and the symbols of both. To be
 * read only: what walks down the tree enters the range of a loop and leaves it again. */
#ifndef AT_CODEGEN_LOWERED_H
#define AT_CODEGEN_LOWERED_H

#include "codegen/codegen.h"
#include "codegen/ir.h"
#include "codegen/tile/tile_pick.h"

typedef struct at_lowered {
    at_low *low;        /* for what ir.h and affine.h declare */
    const at_sym *syms; /* by number; ranges change with at_range_enter */
    const at_ir *root;  /* of the kernel, without what is packed ahead */
    at_tile *const *tiles;
    int num_tiles;
    at_dialect dialect;
} at_lowered;

/* The program without its C: two fifths of the time of at_lower (measured on 100 configurations of
 * conv2d_3x3_gemm, tiles as machine code). Everything is owned by arena; errors
 * are those of at_lower. */
at_status at_lower_tiles(at_arena *a, const at_program *p, const at_lower_options *o,
                         const at_lowered **out, at_error *err);

/* Does a sum lie in memory between steps of its reduction? Names the loops, the
 * inner ones first, in *loops, which is empty before (sums.c). */
bool at_lowered_sum_waits(const at_lowered *l, int tensor, at_text *loops);

#endif
