/* tuners/caller.c: a way to search that whoever calls the tuner has written: proposals come from a
 * function of theirs, and results go to another. */
#include "tuners/tuners_int.h"

#include <stdlib.h>

typedef struct caller_search {
    at_space *space;
    int64_t begin, end;
    at_tuner_caller of;
    at_numbering proposed;
} caller_search;

static void *create(at_space *space, const at_tuner_options *o) {
    caller_search *c = calloc(1, sizeof *c);
    AT_NEED(c);
    c->space = space;
    c->of = *o->caller;
    at_tuner_range(space, o, &c->begin, &c->end);
    return c;
}

/* What is no valid index, and what was proposed before, is left out. Who has nothing new for so
 * many times has no more. */
static int next(void *self, int64_t *indices, int n) {
    enum { MOST_TIMES = 100 };
    caller_search *c = self;
    int asked = 0, kept = 0;
    for (int times = 0; !kept && times < MOST_TIMES; times++) {
        asked = c->of.next(c->of.ctx, indices, n);
        if (asked <= 0) break;
        for (int i = 0; i < asked && i < n; i++) {
            int64_t index = indices[i];
            if (index < c->begin || index >= c->end || !at_space_is_valid(c->space, index) ||
                at_number_of(&c->proposed, index) >= 0)
                continue;
            at_number_add(&c->proposed, index);
            indices[kept++] = index;
        }
    }
    return kept;
}

static void update(void *self, const at_trial *trials, int n) {
    caller_search *c = self;
    if (c->of.update) c->of.update(c->of.ctx, trials, n);
}

static void destroy(void *self) {
    caller_search *c = self;
    at_numbering_free(&c->proposed);
    free(c);
}

const at_tuner_class at_caller_tuner = {
    .name = "caller",
    .help = "configurations that the calling program proposes",
    .create = create,
    .next = next,
    .update = update,
    .destroy = destroy,
};
