/* engine/data/dataset_cover.h: further check runs of a worker: winners of few long rows go from
 * place to place (at_cover), or all numbers are others (at_data_rule.again). */
#ifndef AT_ENGINE_DATASET_COVER_H
#define AT_ENGINE_DATASET_COVER_H

#include "engine/data/dataset.h"

typedef struct at_moved {
    int64_t runs; /* 0: there are none */
    /* [tensor] in the store: of inputs what is moved (at_move, num of each run); what an output
     * should be in the first run, or what an input is there that has other numbers in each run, and
     * how many bytes further on its numbers of each next run lie. step 0: it has none. */
    int64_t *moves, *first, *step;
    int *num;
} at_moved;

/* Does the rule of these data ask for such runs, and do the tensors always lie as they do now? */
bool at_dataset_has_cover(const at_dataset *d);
/* From the next fill on d holds what the runs with winners begin with. */
void at_dataset_take_cover(at_dataset *d);
/* Room for the runs of such data, and what is moved in each, the most important runs first, or what
 * inputs are, by the seed. AT_E_USAGE where they cannot fit this machine. */
at_status at_dataset_move(at_arena *a, at_dataset *d, uint64_t seed, at_moved *out, at_error *err);

#endif
