/* sketch/limits.h: the numbers that sketches are chosen by, in one place. What follows from a
 * register, a cache, a page or the width of an index says so; the others were chosen by what
 * searches found of examples (docs/notes/sketches.md). Changing one changes sketches, and so
 * tests/golden/derivations.txt. */
#ifndef AT_LIMITS_H
#define AT_LIMITS_H

enum sketch_limit {
    /* How many sketches: an edit of each takes as long as its tree. */
    SKETCH_MOST = 64,
    SKETCH_MOST_NESTS = 512, /* sketches times stages */
    MOST_STAGES = 64,        /* more would have more points than an index can count */
    FEW_SUMS = 3,            /* these are looked at each in its own way: more, and alike ones go
                                together */
    FEW_TILES = 3,           /* of more a copy is left out one at a time */

    /* Lanes. The shortest register has four. */
    LEAST_LANES = 4,          /* of an axis that lies side by side */
    LEAST_COPIED_LANES = 8,   /* of an axis for which something is copied or stored otherwise */
    LEAST_DOT_LANES = 8,      /* of a reduction */
    LEAST_ROW_LANES = 8,      /* of a row of a softmax */
    NARROW_FIRST_LANES = 8,   /* fewer leave half of an AVX register empty, and more */
    NARROW_LANES = 16,        /* of an AVX-512 register */
    NARROW_LEAST_TERMS = 256, /* joining lanes at the end is little beside them */
    MOST_LANE_STEP = 4,       /* elements from lane to lane that loads pick of whole registers */
    STRIP_MOST_APART = 32, /* every second element: longer rows have registers that nothing cuts */

    /* Register tiles. */
    TILE_MOST_ROWS = 28,  /* registers of AVX-512 beside the operands' */
    TILE_COLUMNS = 64,    /* four registers: tiles of a longer axis stand beside each other */
    TILE_SMALL_AXIS = 32, /* two levels are enough of it */
    ROWS_LEAD_MOST_SHARED = 4096, /* numbers in 16 KB, which stay in the first-level cache: for
                                     these alone rows leave the order of memory for nothing */
    COLUMNS_MOST_SHARED = 8192,   /* numbers in 32 KB, which stay there beside rows of a tile */
    TILE_FAR_APART = 512,         /* numbers in 2 KB: places of the first-level cache repeat */
    UNPACK_MOST_USES = 8,   /* sums that need the same number of a few bits: of more it is packed as
                               a float */
    TILE_FOURS = 4,         /* bytes in a lane */
    TILE_PAIR = 2,          /* elements of 16 bits in a lane */
    PARTS_LANES = 16,       /* that partial sums of few elements are to fill: AVX-512's */
    PARTS_SUMS = 24,        /* registers of a tile's */
    PARTS_MOST = 4,         /* of an element */
    PARTS_MOST_LANES = 96,  /* six registers of a row's sums */
    WIDENED_READS = 128,    /* eight vectors of sums that read the same float of 16 bits */
    SHORT_SUM_STEPS = 7,    /* the width of the widest usual window: it is written out */
    SHORT_SUM_TERMS = 25,   /* 5x5: all of it is written out */
    LONG_SUM = 512,         /* 2 KB of each row: a tile's exceed the first-level cache */
    LONG_PANEL = 2048,      /* 64 vectors of these exceed half of a second-level cache */
    POINTERS_LEAST_RUN = 8, /* products that an entry of a list of places is read for */

    /* Sums that threads share out. */
    SHARED_LEAST_STEPS = 16384,
    SHARED_MOST_SUMS = 16384,
    SHARED_PARTS = 16,
    SHARED_STEPS = 256,
    SCATTER_LEAST_SHARED = 16384,
    FACTOR_MOST_ELEMENTS = 8,
    FACTOR_LEAST_TERMS = 65536,
    FACTOR_PARTS = 16,
    FACTOR_LANES = 128,

    /* Points of few parts. */
    LEAST_POINTS = 8,
    FLAT_MOST_PARTS = 15,     /* lanes go round in fewer than the widest register has */
    FLAT_LEAST_SUMMED = 1024, /* joining the partial sums is little beside them */
    FLAT_MOST_OF_MATRIX = 64,
    FLAT_MOST_SUMS = 64,   /* of all parts: their partial ones are in memory */
    POINT_MOST_PARTS = 16, /* elements from lane to lane that loads and stores have */
    POINT_MOST_TERMS = 16,
    POINT_MOST_WRITTEN = 64, /* of all parts together */
    POINT_MOST_AXES = 3,

    /* Plain loops, lists, blocks, steps. */
    LEAST_GROUPS = 8,
    GROUPS_MOST_VECTORS = 8, /* of all of a group's parts: they wait to be stored together */
    MOST_ROWS_APART = 8,     /* rows of a tile */
    SHORT_ROW = 128,         /* calls of a tile for each cost more than a tenth */
    SHORT_CHAIN = 384,       /* the same, of terms in a row of each stage */
    LONG_ROW = 1024,         /* four of the longest parts that are written out */
    LIST_MOST_WRITTEN = 8,
    BLOCK_LEAST_SIDE = 4,
    BLOCK_SMALL_AXIS = 64,
    RUNNING_LEAST_ROWS = 4,
    ROWS_OF_STEPS = 16384,  /* 64 KB of each tensor: more than the first-level cache */
    ACROSS_LEAST_ROWS = 32, /* lanes of rows beside each other, and loops around them */
    ACROSS_MOST_PARTS = 32, /* of a row: longer ones have lanes along them */
    ACROSS_FIRST_PARTS = 16,
    BOTH_PARTS = 8,            /* of rows, each with columns' sums of its own */
    BOTH_LEAST_SHARED = 256,   /* rows of these together */
    BOTH_LEAST_ROWS = 8,       /* of a tensor whose rows and columns are summed */
    BOTH_LEAST_CUT = 64,       /* the same, and columns, for each diagonal that cuts it */
    THROUGH_LEAST_ROWS = 16,   /* along which there are blocks */
    THROUGH_ROWS = 8,          /* of a tile, to tell how many are near */
    THROUGH_NARROW_ROWS = 4,   /* the same, with half as many registers */
    THROUGH_MOST_HEIGHT = 8,   /* tiles below each other */
    THROUGH_LEAST_TERMS = 256, /* of a row that is added up as it is made */

    /* Copies. */
    FAR_ELEMENTS = 65536,       /* 256 KB: beyond the caches near the core */
    PAGE_ELEMENTS = 1024,       /* 4 KB: rows so far apart take the same places of a cache */
    FEW_MOST_USES = 7,          /* of an element, for which a copy takes as long as its products */
    FEW_LEAST_TERMS = 64,       /* of a sum whose lanes are joined instead */
    PACK_LEAST_USES = 4,        /* of an element of a copy in blocks that is no weight */
    MANY_READS = 64,            /* of an element, for which it is copied into the order of use */
    WORDS_LEAST_USES = 2,       /* of a weight, which takes twice the room as s16 */
    WHOLE_MANY_USES = 16,       /* of an element by sums, for which it is worked out once */
    WHOLE_WINDOW = 4,           /* places where an element is needed, */
    WHOLE_LEAST_OPERATIONS = 4, /* which takes so many */

    /* Rewrites. */
    INLINE_MOST_READS = 8, /* in all places where it is read */
    TERMS_MOST = 8,        /* of a sum that becomes part of another */
    TERMS_MOST_READS = 64, /* in all places where it is read */
    TERMS_LEAST_POINTS = 64,
    BOUND_LONG = 256,              /* of axes that a diagonal cuts: in few tiles */
    RANGE_SHORT = 8,               /* steps of a running sum that is no running sum */
    OPERAND_MOST_PARTS = 32,       /* numbers of one bit in an integer */
    OPERAND_MOST_OF_FEW = 1 << 22, /* 16 MB made of few numbers, as a row of cosines */
    SHIFT_MOST_TERMS = 65536,      /* 255*128 of each are within 32 bits */
    TURN_LEAST_READS = 8,          /* of an element for which a copy is made */
    LAYOUT_LEAST_TERMS = 4,
    SEARCH_LEAST_TERMS = 512,
    SEARCH_BLOCK_SQUARED = 64 /* over the terms of a row */
};

#endif
