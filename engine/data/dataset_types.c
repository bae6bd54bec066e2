/* engine/data/dataset_types.c: integers as data (at_data_wholes). */
#include "engine/data/dataset.h"

#include <string.h>

void at_dataset_put_whole(at_type type, void *to, int64_t i, int64_t v) {
    const uint32_t bits = (uint32_t)v;
    const size_t bytes = (size_t)at_type_bytes(type);
    memcpy((char *)to + (int64_t)bytes * i, &bits, bytes); /* the lowest come first */
}

void at_dataset_spare_ends(const at_dataset *d, int t) {
    const at_draw *draw = &d->rule.draw[d->draw];
    const at_fill *f = &draw->fill[t];
    if (!f->spared_least && !f->spared_most) return;
    const at_tensor *x = &d->compute->tensors[t];
    const at_wholes w = at_data_wholes_of(x, &d->entries[t], f);
    const int64_t lower = w.step * f->spared_least, upper = w.step * f->spared_most;
    char *to = at_store_at(d->store, d->offset[t]);
    for (int64_t i = at_dataset_elements(d, t) - 1; i >= 0; i--) {
        const int64_t v = (int64_t)at_type_value(x->type, to, i);
        if (v < w.least + lower) at_dataset_put_whole(x->type, to, i, v + lower);
        else if (v > w.most - upper) at_dataset_put_whole(x->type, to, i, v - upper);
    }
}

/* Floats of 16 bits that bytes make are from 1/32 to 1, of either sign: of others most would be
 * infinite, no number, or so large that nothing else is seen beside them. */
static void make_halves(const at_dataset *d, int t, unsigned char *to, at_rng *rng) {
    const at_tensor *x = &d->compute->tensors[t];
    const int64_t n = at_dataset_elements(d, t), row = d->extents[t][x->num_axes - 1];
    for (int s = 0; s < d->compute->num_tensors; s++) {
        const int64_t at = at_data_upper_byte(d->compute, s, t);
        for (int64_t i = at; at >= 0 && i < n; i += row)
            to[i] = (unsigned char)(at_rng_below(rng, 2) << 7 | (10 + at_rng_below(rng, 5)) << 2 |
                                    at_rng_below(rng, 4));
    }
}

void at_dataset_fill_whole(const at_dataset *d, int t, at_rng *rng) {
    const at_type type = d->compute->tensors[t].type;
    const at_draw *draw = &d->rule.draw[d->draw];
    const at_wholes w = at_data_wholes(type, &draw->fill[t]);
    const int64_t n = at_dataset_elements(d, t);
    char *to = at_store_at(d->store, d->offset[t]);
    for (int64_t i = 0; i < n; i++)
        at_dataset_put_whole(
            type, to, i,
            w.lo + w.step * (int64_t)at_rng_below(rng, (uint64_t)((w.hi - w.lo) / w.step + 1)) -
                (w.has_less && i % 2));
    if (n < 4) return;
    at_dataset_put_whole(type, to, (int64_t)at_rng_below(rng, (uint64_t)n), w.least);
    at_dataset_put_whole(type, to, (int64_t)at_rng_below(rng, (uint64_t)n), w.most);
    if (at_type_bytes(type) == 1) make_halves(d, t, (unsigned char *)to, rng);
}
