/* tuners/book.c: what was proposed and what came of it, for tuners that learn. */
#include "tuners/tuners_int.h"

#include <math.h>
#include <stdlib.h>

/* ---- numbering ------------------------------------------------------------------------------ */

static int *slot_of(const at_numbering *m, int64_t index) {
    /* Fibonacci hashing: the high bits of a product with 2^64 / golden ratio. */
    uint64_t i = (uint64_t)index * UINT64_C(0x9e3779b97f4a7c15) >> 20;
    for (;; i++) {
        int *slot = &m->slots[i & (uint64_t)(m->size - 1)];
        if (!*slot || m->indices[*slot - 1] == index) return slot;
    }
}

int at_number_of(const at_numbering *m, int64_t index) {
    return m->size ? *slot_of(m, index) - 1 : -1;
}

int at_number_add(at_numbering *m, int64_t index) {
    if (m->len == m->cap) {
        m->cap = m->cap ? 2 * m->cap : 64;
        m->size = 4 * m->cap;
        m->indices = realloc(m->indices, (size_t)m->cap * sizeof *m->indices);
        free(m->slots);
        m->slots = calloc((size_t)m->size, sizeof *m->slots);
        AT_NEED(m->indices && m->slots);
        for (int i = 0; i < m->len; i++) *slot_of(m, m->indices[i]) = i + 1;
    }
    int *slot = slot_of(m, index);
    AT_ASSERT(!*slot);
    m->indices[m->len] = index;
    *slot = ++m->len;
    return m->len - 1;
}

void at_numbering_free(at_numbering *m) {
    free(m->slots);
    free(m->indices);
    *m = (at_numbering){0};
}

/* ---- book ----------------------------------------------------------------------------------- */

void at_book_init(at_book *b, at_space *space, const at_tuner_options *o, uint64_t stream) {
    *b = (at_book){.space = space, .asynchronous = o->asynchronous};
    at_tuner_range(space, o, &b->begin, &b->end);
    at_rng_seed(&b->rng, o->seed, stream);
    at_shuffle_init(&b->order, at_tuner_places(space, b->begin, b->end));
}

void at_book_free(at_book *b) {
    at_shuffle_free(&b->order);
    at_numbering_free(&b->entered);
    free(b->score);
    free(b->known);
    free(b->is_bound);
    free(b->part);
}

bool at_book_allows(const at_book *b, int64_t index) {
    return index >= b->begin && index < b->end && at_space_is_valid(b->space, index) &&
           at_number_of(&b->entered, index) < 0;
}

void at_book_enter(at_book *b, int64_t index, const char *part) {
    int number = at_number_add(&b->entered, index);
    if (b->cap < b->entered.cap) {
        b->cap = b->entered.cap;
        b->score = realloc(b->score, (size_t)b->cap * sizeof *b->score);
        b->known = realloc(b->known, (size_t)b->cap * sizeof *b->known);
        b->is_bound = realloc(b->is_bound, (size_t)b->cap * sizeof *b->is_bound);
        b->part = realloc(b->part, (size_t)b->cap * sizeof *b->part);
        AT_NEED(b->score && b->known && b->is_bound && b->part);
    }
    b->score[number] = 0;
    b->known[number] = false;
    b->is_bound[number] = false;
    b->part[number] = part;
}

bool at_book_is_timed(const at_book *b, int number) {
    return b->score[number] > 0 && !b->is_bound[number];
}

const char *at_book_part(const at_book *b, int64_t index) {
    int number = at_number_of(&b->entered, index);
    return number < 0 ? "" : b->part[number];
}

enum { MOST_DRAWS = 1 << 20 /* to find valid ones */ };
bool at_book_sample(const at_book *b, int64_t begin, int64_t end, int most, at_rng *rng,
                    at_numbering *out) {
    int64_t first = at_space_place(b->space, begin);
    int enough = out->len + most;
    /* Where points are found from places, a place takes long, and two may have one point. */
    const int draws = at_space_mends(b->space) ? most : MOST_DRAWS;
    at_shuffle order;
    at_shuffle_init(&order, at_tuner_places(b->space, begin, end));
    for (int i = 0; out->len < enough && i < draws && order.remaining > 0; i++) {
        int64_t draw = (int64_t)at_rng_below(rng, (uint64_t)order.remaining);
        int64_t index = at_space_at_place(b->space, first + at_shuffle_take(&order, draw));
        if (at_book_allows(b, index) && at_number_of(out, index) < 0) at_number_add(out, index);
    }
    bool all = order.remaining == 0;
    at_shuffle_free(&order);
    return all;
}

/* What the shuffle takes is never offered again, so all random picks together cost one pass. */
void at_book_enter_random(at_book *b, int n) {
    while (n > 0 && b->order.remaining > 0) {
        int64_t draw = (int64_t)at_rng_below(&b->rng, (uint64_t)b->order.remaining);
        int64_t place = at_space_place(b->space, b->begin) + at_shuffle_take(&b->order, draw);
        int64_t index = at_space_at_place(b->space, place);
        if (!at_book_allows(b, index)) continue;
        at_book_enter(b, index, "random");
        n--;
    }
}

int at_book_next(at_book *b, void (*round)(void *self), void *self, int64_t *indices, int n) {
    int made = 0;
    while (made < n) {
        if (b->given == b->entered.len) {
            if (b->num_known < b->entered.len && !b->asynchronous) break;
            round(self);
            if (b->given == b->entered.len) break;
        }
        indices[made++] = b->entered.indices[b->given++];
    }
    return made;
}

void at_book_update(at_book *b, const at_trial *trials, int n) {
    for (int i = 0; i < n; i++) {
        int number = at_number_of(&b->entered, trials[i].index);
        if (number < 0 || number >= b->given || b->known[number]) continue;
        b->known[number] = true;
        b->num_known++;
        if (!trials[i].valid || !isfinite(trials[i].score) || trials[i].score < 0) continue;
        b->score[number] = trials[i].score;
        b->is_bound[number] = trials[i].is_bound;
        if (!trials[i].is_bound && trials[i].score > b->best) b->best = trials[i].score;
    }
}
