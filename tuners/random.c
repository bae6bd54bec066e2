/* tuners/random.c: valid indices in random order, none twice. */
#include "tuners/tuners_int.h"

#include <stdlib.h>

typedef struct random_order {
    at_space *space;
    int64_t first; /* place */
    at_rng rng;
    at_shuffle order;
    at_numbering given; /* where places are not points */
} random_order;

static void *create(at_space *space, const at_tuner_options *o) {
    random_order *r = calloc(1, sizeof *r);
    AT_NEED(r);
    int64_t begin, end;
    r->space = space;
    at_tuner_range(space, o, &begin, &end);
    r->first = at_space_place(space, begin);
    at_rng_seed(&r->rng, o->seed, AT_STREAM_RANDOM);
    at_shuffle_init(&r->order, at_tuner_places(space, begin, end));
    return r;
}

static bool is_new(random_order *r, int64_t index) {
    if (!at_space_mends(r->space)) return true;
    if (at_number_of(&r->given, index) >= 0) return false;
    at_number_add(&r->given, index);
    return true;
}

static int next(void *self, int64_t *indices, int n) {
    random_order *r = self;
    int made = 0;
    while (made < n && r->order.remaining > 0) {
        int64_t draw = (int64_t)at_rng_below(&r->rng, (uint64_t)r->order.remaining);
        int64_t index = at_space_at_place(r->space, r->first + at_shuffle_take(&r->order, draw));
        if (at_space_is_valid(r->space, index) && is_new(r, index)) indices[made++] = index;
    }
    return made;
}

static void destroy(void *self) {
    random_order *r = self;
    at_shuffle_free(&r->order);
    at_numbering_free(&r->given);
    free(r);
}

const at_tuner_class at_random_tuner = {
    .name = "random",
    .help = "configurations drawn at random, none twice",
    .create = create,
    .next = next,
    .destroy = destroy,
};
