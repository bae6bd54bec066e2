/* tuners/grid.c: all valid indices in ascending order. */
#include "tuners/tuners_int.h"

#include <stdlib.h>

typedef struct grid {
    at_space *space;
    int64_t begin, end;
    int64_t at; /* the next one to propose, -1 when there is none */
} grid;

static void *create(at_space *space, const at_tuner_options *o) {
    grid *g = calloc(1, sizeof *g);
    AT_NEED(g);
    g->space = space;
    at_tuner_range(space, o, &g->begin, &g->end);
    g->at = at_space_is_valid(space, g->begin)
                ? g->begin
                : at_space_next(space, g->begin, 1, g->begin, g->end);
    return g;
}

static int next(void *self, int64_t *indices, int n) {
    grid *g = self;
    int made = 0;
    while (made < n && g->at >= 0) {
        indices[made++] = g->at;
        g->at = at_space_next(g->space, g->at, 1, g->begin, g->end);
    }
    return made;
}

const at_tuner_class at_grid_tuner = {
    .name = "grid",
    .help = "every configuration, in the order of its index",
    .create = create,
    .next = next,
    .destroy = free,
};
