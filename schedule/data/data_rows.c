/* schedule/data/data_rows.c: which elements of one input the terms of a reduction are made of,
 * whatever is done with them: found by working terms out with one element changed, not by the look
 * of their expressions. */
#include "schedule/data/data_int.h"

#include <math.h>

enum { SAMPLES = 24, MOST_READS = 256, NO_READ = -1, SEVERAL = -2 };

/* A term being worked out. */
typedef struct probe {
    const data_rows *of;
    bool is_set;  /* an element of the input that is asked for is `value` */
    bool is_late; /* entries are the greatest, else the least */
    double value;
    int64_t offset; /* of the element that was read; NO_READ, SEVERAL */
    bool is_beside; /* something else was read, too */
    int reads;      /* that are left: stages that read others twice double them */
} probe;

static const at_tensor *tensor_of(const data_rows *r, int t) { return &r->ruler->c->tensors[t]; }

static bool is_whole(const data_rows *r, int t) {
    return tensor_of(r, t)->role == AT_ROLE_INDEX || at_type_of(tensor_of(r, t)->type)->is_int;
}

at_wholes data_rows_wholes(const data_rows *r) {
    const at_index_range *all = r->ruler->known->entries;
    return at_data_wholes_of(tensor_of(r, r->tensor), all ? &all[r->tensor] : NULL,
                             &r->draw->fill[r->tensor]);
}

static double ordinary(const probe *p, int t, int64_t offset) {
    const data_rows *r = p->of;
    const at_type type = tensor_of(r, t)->type;
    const at_data_known *known = r->ruler->known;
    if (known->given && known->given[t]) return at_type_value(type, known->given[t], offset);
    const double x = data_random_unit(t, offset);
    if (is_whole(r, t)) {
        const at_wholes w = at_data_wholes(type, &r->draw->fill[t]);
        return (double)(w.lo + w.step * (int64_t)((double)(w.hi - w.lo) / (double)w.step * x));
    }
    const at_fill *f = &r->draw->fill[t];
    return f->unit * (f->lo + (f->hi - f->lo) * x);
}

static void note(probe *p, int64_t offset) {
    if (p->offset == NO_READ) p->offset = offset;
    else if (p->offset != offset) p->offset = SEVERAL;
}

/* Of a stage that adds up, chooses, or goes in steps, any number; others are worked out. */
static at_status read_stage(eval_ctx *ctx, int stage, const int64_t *index, int64_t offset,
                            double *out) {
    probe *p = ctx->user;
    const at_tensor *t = tensor_of(p->of, stage);
    if (!p->reads--) return at_fail(ctx->err, AT_E_INPUT, "too many reads");
    *out = 2 * data_random_unit(stage, offset) - 1;
    p->is_beside |= t->num_reduce || at_tensor_goes_in_steps(t);
    if (t->num_reduce || at_tensor_goes_in_steps(t) || !t->body) return AT_OK;
    eval_ctx within = *ctx;
    within.stage = stage;
    within.axis = index;
    return eval_float(&within, t->body, out);
}

static at_status read_any(eval_ctx *ctx, int tensor, const int64_t *index, int64_t offset,
                          double *out) {
    probe *p = ctx->user;
    if (tensor_of(p->of, tensor)->role == AT_ROLE_STAGE)
        return read_stage(ctx, tensor, index, offset, out);
    if (tensor == p->of->tensor) note(p, offset);
    else p->is_beside = true;
    *out = tensor == p->of->tensor && p->is_set ? p->value : ordinary(p, tensor, offset);
    return AT_OK;
}

static int64_t entry_of(eval_ctx *ctx, int tensor, int64_t offset) {
    probe *p = ctx->user;
    const at_data_known *k = p->of->ruler->known;
    if (k->indices && k->indices[tensor]) return k->indices[tensor][offset];
    const at_index_range *all = k->entries ? &k->entries[tensor] : &(at_index_range){0};
    if (tensor != p->of->tensor) return p->is_late ? all->hi : all->lo;
    note(p, offset);
    return p->is_set ? (int64_t)p->value : all->lo + (all->hi - all->lo) / 2;
}

/* false: the term cannot be worked out. */
static bool evaluate(probe *p, int64_t row, int64_t place, double *out) {
    const data_rows *r = p->of;
    const at_tensor *t = tensor_of(r, r->stage);
    const int64_t *extent = r->ruler->extents[r->stage];
    int64_t axis[MAX_AXES] = {0};
    at_error unused;
    eval_ctx ctx = {.compute = r->ruler->c,
                    .values = r->ruler->values,
                    .extents = r->ruler->extents,
                    .stage = r->stage,
                    .axis = axis,
                    .err = &unused,
                    .read = read_any,
                    .entry = entry_of,
                    .user = p};
    at_unravel(row, t->num_axes, extent, axis);
    at_unravel(place, t->num_reduce, extent + t->num_axes, axis + t->num_axes);
    p->offset = NO_READ;
    p->reads = MOST_READS;
    return eval_float(&ctx, t->body, out) == AT_OK;
}

/* Where entries decide whether it is read it may be; where they say which one is, none is. */
int64_t data_rows_at(const data_rows *r, int64_t row, int64_t place) {
    probe late = {.of = r, .is_late = true}, early = {.of = r};
    double x;
    const int64_t one = evaluate(&late, row, place, &x) ? late.offset : SEVERAL,
                  other = evaluate(&early, row, place, &x) ? early.offset : SEVERAL;
    if (one == SEVERAL || other == SEVERAL) return NO_READ;
    return one == other || other < 0 ? one : one < 0 ? other : NO_READ;
}

double data_rows_end(const data_rows *r, bool is_high, double above) {
    if (is_whole(r, r->tensor)) {
        const at_wholes w = data_rows_wholes(r);
        return (double)(is_high ? w.most : w.least);
    }
    const at_fill *f = &r->draw->fill[r->tensor];
    const double beyond = above > 0 ? above : f->unit * (f->hi - f->lo) / 2;
    return is_high ? f->unit * f->hi + beyond : f->unit * f->lo - beyond;
}

double data_rows_beyond(const data_rows *r) {
    enum { TIMES = 4 };
    const at_fill *f = &r->draw->fill[r->tensor];
    if (r->is_alone || r->ruler->c->in_steps ||
        (r->ruler->is_exact && data_ratio(r->ruler, TIMES) > DATA_EXACT_RATIO))
        return 0;
    return f->unit * (f->hi - f->lo) / 2 * (TIMES - 1);
}

bool data_rows_are_whole(const data_rows *r) { return is_whole(r, r->tensor); }

bool data_rows_may_change(const data_rows *r) {
    const at_index_range *all = r->ruler->known->entries;
    if (tensor_of(r, r->tensor)->role != AT_ROLE_INDEX) return true;
    return all && !all[r->tensor].ascends && !all[r->tensor].ends;
}

/* How often the element makes a term better when it is large, and when it is small; and worse. */
typedef struct counts {
    int seen, better[2], worse[2], either, beside;
    double slope; /* the sum of all */
} counts;

static void count(const data_rows *r, int64_t row, int64_t place, counts *n) {
    const bool is_max = tensor_of(r, r->stage)->reduction == AT_REDUCE_MAX;
    double before, x, last = 0;
    bool any = false;
    for (int late = 0; late < 2 && !any; late++) {
        probe p = {.of = r, .is_late = late};
        if (!evaluate(&p, row, place, &before) || p.offset < 0) continue;
        any = true;
        n->beside += p.is_beside;
        bool is_better = false;
        for (int high = 0; high < 2; high++) {
            p.is_set = true;
            p.value = data_rows_end(r, high, 0);
            if (!evaluate(&p, row, place, &x)) continue;
            const bool better = is_max ? x > before : x < before;
            n->better[high] += better;
            n->worse[high] += !better && x != before;
            is_better |= better;
            if (high) n->slope += fabs(x - last) / (p.value - data_rows_end(r, false, 0));
            last = x;
        }
        n->either += is_better;
        n->seen++;
    }
}

/* Are there places of a row with elements of their own, which decide? */
static bool try_input(data_rows *r) {
    counts n = {0};
    at_rng rng;
    at_rng_seed(&rng, 0, 0);
    for (int i = 0; i < SAMPLES; i++) {
        const int64_t row = (int64_t)at_rng_below(&rng, (uint64_t)r->num),
                      place = (int64_t)at_rng_below(&rng, (uint64_t)r->terms),
                      next = (place + 1) % r->terms, at = data_rows_at(r, row, place);
        if (at >= 0 && at == data_rows_at(r, row, next)) return false;
        if (at >= 0) count(r, row, place, &n);
    }
    r->winner = !n.worse[1] && 2 * n.better[1] >= n.seen   ? DATA_HIGH
                : !n.worse[0] && 2 * n.better[0] >= n.seen ? DATA_LOW
                                                           : DATA_EITHER;
    r->is_alone = !n.beside;
    r->slope = n.seen ? n.slope / n.seen : 0;
    return n.seen && (r->winner != DATA_EITHER || n.either == n.seen);
}

static bool may_have_winners(const data_ruler *r, int t) {
    const at_data_known *k = r->known;
    const bool is_given = (k->given && k->given[t]) || (k->indices && k->indices[t]);
    return r->c->tensors[t].role != AT_ROLE_STAGE && !is_given && data_elements_of(r, t) > 0;
}

static bool count_rows(data_rows *r) {
    const at_tensor *t = tensor_of(r, r->stage);
    const int64_t *extent = r->ruler->extents[r->stage];
    if (t->role != AT_ROLE_STAGE || !t->num_reduce || at_tensor_goes_in_steps(t)) return false;
    r->num = r->terms = 1;
    for (int i = 0; i < axes_of(t); i++) {
        if (t->axes[i].begin) return false;
        *(i < t->num_axes ? &r->num : &r->terms) *= extent[i];
    }
    return r->num > 0 && r->terms >= 2;
}

bool data_rows_find(data_rows *r, const data_ruler *ruler, int stage, const at_draw *draw) {
    const at_tensor *t = &ruler->c->tensors[stage];
    *r = (data_rows){.ruler = ruler, .stage = stage, .draw = draw};
    if (!count_rows(r) || !at_reduction_is_extreme(t->reduction)) return false;
    int64_t most = 0;
    data_rows found = {0};
    for (r->tensor = 0; r->tensor < ruler->c->num_tensors; r->tensor++) {
        const bool is_larger =
            may_have_winners(ruler, r->tensor) && data_elements_of(ruler, r->tensor) > most;
        if (!is_larger || !try_input(r)) continue;
        found = *r;
        most = data_elements_of(ruler, r->tensor);
    }
    *r = found;
    return most > 0;
}

/* A read of the tensor that is the term, or one of two of which one is chosen. */
static const at_expr *read_of(const at_expr *e, int tensor) {
    if (e->op != AT_X_SELECT) return e->op == AT_X_INDEX && e->ref == tensor ? e : NULL;
    const at_expr *first = read_of(e->arg[1], tensor);
    return first ? first : read_of(e->arg[2], tensor);
}

/* Elements behind each other that the stage's reduction goes over by this read. */
static int64_t row_of_read(const data_ruler *r, int stage, const at_expr *read) {
    const at_tensor *t = &r->c->tensors[stage];
    int64_t n = 1;
    for (int i = read->nargs; i-- > 0; n *= r->extents[read->ref][i]) {
        const at_expr *x = read->arg[i];
        const bool is_term = x->op == AT_X_NAME && x->ref >= t->num_axes && x->ref < axes_of(t) &&
                             r->extents[stage][x->ref] == r->extents[read->ref][i];
        if (!is_term) break;
    }
    return n;
}

int64_t data_row_of(const data_ruler *r, int tensor, bool also_within) {
    for (int s = 0; s < r->c->num_tensors; s++) {
        const at_tensor *t = &r->c->tensors[s];
        if (t->role != AT_ROLE_STAGE || !t->num_reduce) continue;
        const at_expr *read = also_within ? at_expr_find(t->body, at_expr_is_read, &tensor)
                                          : read_of(t->body, tensor);
        const int64_t n = read ? row_of_read(r, s, read) : 1;
        if (n > 1) return n;
    }
    return 0;
}
