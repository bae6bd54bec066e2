/* sketch/tile_int.h: a register tile while its loops are made. */
#ifndef AT_SKETCH_TILE_INT_H
#define AT_SKETCH_TILE_INT_H

#include "sketch/nests.h"

typedef struct tile_loop {
    const char *name;
    int axis;
} tile_loop;

typedef struct tiling {
    sketch_state *s;
    const char *name[AT_FACTS_MAX_AXES]; /* of the loop that is tiled: the axis', or its groups' */
    int stage;
    nest_choice choice;
    const char *leaf;
    const char *phase[AT_FACTS_MAX_AXES]; /* loop of an axis' phases; NULL: it has none */
    const char *part;    /* loop of the parts of a sum that is shared out, or NULL */
    const char *rest[3]; /* of such a sum: blocks, steps, those that are written out */
    /* outer: of axes that move what lanes read; shared: of others */
    AT_VEC(const char *) columns, outer, shared, phases, guarded, blocks, middle, sums, rows;
    AT_VEC(tile_loop) loops; /* which axis those outside of the tile run; others: groups, phases */
    const char *column;      /* the one of middle that runs over the columns of a block, or NULL */
    const char *vector;
    const char *group;       /* loop of the groups that lanes go through; NULL: there is none */
    const char *fours;       /* loop of the terms of a dot product; NULL: there is none */
    const char *lanes_outer; /* of lanes along a reduction: what is left of it */
    at_error *err;
} tiling;

static inline bool tile_is_dot(const tiling *t) {
    return t->choice.vec >= t->s->facts->compute->tensors[t->stage].num_axes;
}

/* ---- what stands beside the sum (tile_readers.c) --------------------------------------------- */

/* What reads the sums goes into `loop`. */
at_status tile_put_readers(tiling *t, const char *loop);
/* A tile of several sums, as packing knows it: that of the i-th other one, or its own for -1. */
void tile_keep(tiling *t, int i, const char *leaf, const char *inner);
/* Parts of a sum are added up in vectors, and what reads the sums stands beside that. */
at_status tile_join_parts(tiling *t);
/* What else the reader beside a tile takes from afar, such as an addend, is asked for while the
 * next rows are summed. */
at_status tile_ask_ahead(tiling *t);
/* What reads the sums of a block goes over its rows, as they lie in memory: tiles would read and
 * write a line here and there of all rows, which no prefetcher follows. What stands beside tiles of
 * late readers goes over them as the tiles did. */
at_status tile_order_reader(tiling *t);

#endif
