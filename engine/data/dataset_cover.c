/* engine/data/dataset_cover.c: see dataset_cover.h. */
#include "engine/data/dataset_cover.h"

#include <string.h>

static const int64_t most_bytes = 32 << 20; /* of what outputs should be, in all runs */
enum {
    APART = 64,
    LARGER = 512 /* integers that no bound says anything of: rarely two sums of them are equal */
};

/* Is it others in each run, where no winners move? */
static bool is_drawn(const at_dataset *d, int t) {
    const at_role role = d->compute->tensors[t].role;
    return d->rule.again && role != AT_ROLE_STAGE && !d->given[t] && !d->indices[t];
}

/* Bytes of the tensor that each run has in the store; 0: none. */
static int64_t step_of(const at_dataset *d, int t) {
    const int64_t bytes = d->compute->tensors[t].is_output ? at_dataset_expected_bytes(d, t)
                          : is_drawn(d, t)                 ? d->size_bytes[t]
                                                           : 0;
    return (bytes + APART - 1) / APART * APART;
}

static int64_t runs_of(const at_dataset *d) {
    const int64_t runs = d->rule.again ? d->rule.again : at_cover_runs(&d->rule.cover);
    int64_t step = 1;
    for (int t = 0; t < d->compute->num_tensors; t++) step += step_of(d, t);
    return runs < most_bytes / step ? runs : most_bytes / step;
}

bool at_dataset_has_cover(const at_dataset *d) {
    for (int t = 0; t < d->compute->num_tensors; t++)
        if (d->layouts[t] || d->compute->tensors[t].is_held) return false;
    return runs_of(d) > 0 && !(d->is_whole && !d->rule.again) && !d->pattern;
}

void at_dataset_take_cover(at_dataset *d) {
    if (d->rule.again) return;
    d->rule.draw[0] = d->rule.cover;
    d->draw = 0;
}

static uint32_t bits_of(const at_dataset *d, const at_cover *x, int64_t row) {
    const at_type type = d->compute->tensors[x->tensor].type;
    const double value = at_cover_value(x, row);
    uint32_t bits = 0;
    if (at_type_of(type)->is_int) at_dataset_put_whole(type, &bits, 0, (int64_t)value);
    else at_type_store(type, &bits, 0, (float)(value * (d->is_exact ? 1 : d->scale)));
    return bits;
}

/* Of one tensor. */
static void put_moves(const at_dataset *d, int t, const int64_t *order, const at_moved *m) {
    const at_draw *draw = &d->rule.cover;
    at_move *to = at_store_at(d->store, m->moves[t]);
    const int64_t bytes = at_type_bytes(d->compute->tensors[t].type);
    for (int64_t n = 0; n < m->runs; n++)
        for (int k = 0; k < draw->covers.len; k++) {
            const at_cover *x = &draw->covers.data[k];
            for (int64_t row = 0; x->tensor == t && row < x->rows; row++)
                *to++ = (at_move){bytes * at_cover_offset(x, order[n], row), bits_of(d, x, row)};
        }
}

/* Winners of one tensor. */
static at_status take_moves(const at_dataset *d, int t, const int64_t *order, at_moved *m,
                            at_error *err) {
    const int64_t bytes = m->runs * m->num[t] * (int64_t)sizeof(at_move);
    if (!m->num[t]) return AT_OK;
    AT_TRY(at_store_reserve(d->store, d->compute->tensors[t].name, bytes, &m->moves[t], err));
    put_moves(d, t, order, m);
    return AT_OK;
}

/* Numbers of all runs; fewer where a time limit comes. Every other time elements that have values
 * of their own are drawn, too; integers that no bound says anything of are small and large in turn.
 */
static void draw_again(at_dataset *d, uint64_t seed, at_moved *m) {
    const at_draw *draw = d->rule.draw;
    const double scale = d->scale;
    for (int64_t n = 0; n < m->runs; n++) {
        d->draw = (int)(n % d->rule.num_draws);
        d->scale = draw[d->draw].fill == draw[0].fill ? scale : 1;
        d->times_whole = n % 2 ? LARGER : 1;
        d->is_bare = n / d->rule.num_draws % 2;
        d->round = at_data_round(&d->rule, n / d->rule.num_draws);
        if (!at_dataset_fill(d, seed + (uint64_t)n + 1)) m->runs = n;
        for (int t = 0; t < d->compute->num_tensors && n < m->runs; t++)
            if (m->step[t] && is_drawn(d, t))
                memcpy(at_store_at(d->store, m->first[t] + n * m->step[t]),
                       at_store_at(d->store, d->offset[t]), (size_t)d->size_bytes[t]);
    }
}

at_status at_dataset_move(at_arena *a, at_dataset *d, uint64_t seed, at_moved *out, at_error *err) {
    const at_draw *draw = &d->rule.cover;
    const int n = d->compute->num_tensors;
    const int64_t *order = at_cover_order(a, at_cover_runs(draw));
    at_moved m = {.runs = runs_of(d),
                  .moves = AT_NEW_ARRAY(a, int64_t, n),
                  .first = AT_NEW_ARRAY(a, int64_t, n),
                  .step = AT_NEW_ARRAY(a, int64_t, n),
                  .num = AT_NEW_ARRAY(a, int, n)};
    for (int k = 0; k < draw->covers.len; k++)
        m.num[draw->covers.data[k].tensor] += (int)draw->covers.data[k].rows;
    for (int t = 0; t < n; t++) {
        const at_tensor *x = &d->compute->tensors[t];
        AT_TRY(take_moves(d, t, order, &m, err));
        m.step[t] = step_of(d, t);
        if (!m.step[t]) continue;
        AT_TRY(at_store_reserve(d->store, x->name, m.runs * m.step[t], &m.first[t], err));
    }
    if (d->rule.again) draw_again(d, seed, &m);
    *out = m;
    return AT_OK;
}
