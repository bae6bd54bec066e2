/* schedule/data/data_place.c: see data_place.h. */
#include "schedule/data/data_place.h"

#include <math.h>

/* ---- what is placed -------------------------------------------------------------------------- */

typedef struct key {
    int tensor; /* -1: none */
    int64_t offset;
    int number; /* of the draw's extremes */
} key;

struct data_taken {
    at_arena *arena;
    at_draw *draw;
    int round;
    key *keys; /* of single elements, by their hash */
    int size, used;
    AT_VEC(int) runs;
};

static key *find_key(const data_taken *x, int tensor, int64_t offset) {
    const uint64_t hash = (uint64_t)offset * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)tensor * 7919;
    int i = (int)(hash >> 40) & (x->size - 1);
    while (x->keys[i].tensor >= 0 && (x->keys[i].tensor != tensor || x->keys[i].offset != offset))
        i = (i + 1) & (x->size - 1);
    return &x->keys[i];
}

static void grow(data_taken *x) {
    const key *before = x->keys;
    const int n = x->size;
    x->size = n ? 2 * n : 64;
    x->keys = AT_NEW_ARRAY(x->arena, key, x->size);
    for (int i = 0; i < x->size; i++) x->keys[i].tensor = -1;
    for (int i = 0; i < n; i++)
        if (before[i].tensor >= 0) *find_key(x, before[i].tensor, before[i].offset) = before[i];
}

static void note(data_taken *x, int number) {
    const at_placed *one = &x->draw->extremes.data[number];
    if (!at_is_placed(one, x->round)) return;
    if (one->more) *at_push(x->arena, &x->runs) = number;
    if (one->more) return;
    if (2 * x->used >= x->size) grow(x);
    key *at = find_key(x, one->tensor, one->offset);
    x->used += at->tensor < 0;
    *at = (key){one->tensor, one->offset, number};
}

data_taken *data_taken_new(const data_ruler *r, at_draw *draw, int round) {
    data_taken *x = AT_NEW(r->arena, data_taken);
    *x = (data_taken){.arena = r->arena, .draw = draw, .round = round};
    grow(x);
    for (int i = 0; i < draw->extremes.len; i++) note(x, i);
    return x;
}

void data_take(data_taken *x, at_placed one) {
    one.round = x->round;
    *at_push(x->arena, &x->draw->extremes) = one;
    note(x, x->draw->extremes.len - 1);
}

bool data_is_in(const at_placed *run, int64_t offset) {
    const int64_t from = offset - run->offset;
    return from >= 0 && from % run->step == 0 && from / run->step <= run->more;
}

/* The last value that is placed there; NULL: it has none. */
static const at_placed *find_placed(const data_taken *x, int tensor, int64_t offset) {
    const key *one = find_key(x, tensor, offset);
    int number = one->tensor < 0 ? -1 : one->number;
    for (int i = 0; i < x->runs.len; i++) {
        const int of = x->runs.data[i];
        const at_placed *run = &x->draw->extremes.data[of];
        if (run->tensor == tensor && of > number && data_is_in(run, offset)) number = of;
    }
    return number < 0 ? NULL : &x->draw->extremes.data[number];
}

/* Runs of other steps than each other are taken to meet where they lie among each other. */
static bool meet(const at_placed *x, const at_placed *y) {
    const int64_t x_step = x->more ? x->step : 1, y_step = y->more ? y->step : 1;
    if (x->tensor != y->tensor || x->offset > y->offset + y->more * y_step ||
        y->offset > x->offset + x->more * x_step)
        return false;
    if (!x->more) return !y->more || data_is_in(y, x->offset);
    if (!y->more) return data_is_in(x, y->offset);
    return x_step != y_step || (x->offset - y->offset) % x_step == 0;
}

bool data_taken_any(const data_taken *x, const at_placed *run) {
    bool any = false;
    for (int i = 0; i < x->draw->extremes.len && !any; i++)
        any = at_is_placed(&x->draw->extremes.data[i], x->round) &&
              meet(&x->draw->extremes.data[i], run);
    return any;
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool is_int(const data_ruler *r, int t) { return at_type_of(r->c->tensors[t].type)->is_int; }

static bool makes_halves(const data_ruler *r, int t) {
    bool any = false;
    for (int s = 0; s < r->c->num_tensors; s++) any |= at_data_upper_byte(r->c, s, t) >= 0;
    return any;
}

/* Are the tensor's elements multiples of its fill's unit? Of what is only compared and chosen no
 * sum is exact by that. */
static bool has_unit(const data_ruler *r, int t) {
    return r->is_exact && !r->c->in_steps && !r->chosen[t];
}

double data_place_grain(const data_place *p, const data_element *x) {
    if (x->few) return x->grain;
    if (is_int(p->r, x->tensor)) return 1;
    return has_unit(p->r, x->tensor) ? p->draw->fill[x->tensor].unit : 0;
}

double data_place_nearest(const data_place *p, const data_element *x, double value) {
    const double grain = data_place_grain(p, x);
    float stored[1];
    if (grain > 0) value = grain * rint(value / grain);
    if (x->few) return value;
    const at_type type = p->r->c->tensors[x->tensor].type;
    if (at_type_of(type)->is_int) return value;
    if (!at_type_is_half(type)) return (float)value;
    at_type_store(type, stored, 0, (float)value);
    return at_type_value(type, stored, 0);
}

void data_place_ends(const data_place *p, const data_element *x, double *lo, double *hi) {
    const data_ruler *r = p->r;
    if (x->few) {
        *lo = x->lo, *hi = x->hi;
        return;
    }
    const at_fill *f = &p->draw->fill[x->tensor];
    if (is_int(r, x->tensor)) {
        const at_wholes w = at_data_wholes(r->c->tensors[x->tensor].type, f);
        *lo = (double)(w.least + w.step * f->spared_least);
        *hi = (double)(w.most - w.step * f->spared_most);
    } else if ((r->c->in_steps || (r->is_exact && r->chosen[x->tensor])) && f->lo < 0)
        *lo = -0x1p20, *hi = 0x1p20;
    else
        *lo = data_place_nearest(p, x, f->unit * f->lo),
        *hi = data_place_nearest(p, x, f->unit * f->hi);
}

/* ---- working it out -------------------------------------------------------------------------- */

static data_element *find_element(data_place *p, int t, int64_t offset) {
    for (int i = 0; i < p->num; i++)
        if (p->elements[i].tensor == t && p->elements[i].offset == offset) return &p->elements[i];
    return NULL;
}

data_element data_place_element(const data_place *p, int t, int64_t offset) {
    const data_ruler *r = p->r;
    const at_fill *f = &p->draw->fill[t];
    const at_placed *placed = find_placed(p->taken, t, offset);
    data_element x = {.tensor = t, .offset = offset, .is_fixed = placed || !data_is_drawn(r, t)};
    x.value = placed ? (double)placed->value : data_look_element(r->look, f, t, offset);
    if (!placed && data_is_drawn(r, t) && !is_int(r, t)) x.value += data_away(f, offset);
    return x;
}

static double read_element(data_place *p, int t, int64_t offset) {
    const data_element *known = find_element(p, t, offset);
    if (known) return known->value;
    const data_element x = data_place_element(p, t, offset);
    if (p->num < PLACE_ELEMENTS && !makes_halves(p->r, t)) p->elements[p->num++] = x;
    else p->is_open = true;
    return x.value;
}

static bool read_sum(data_place *p, int stage, const int64_t *index, int64_t offset, double *out) {
    const data_element *known = find_element(p, stage, offset);
    if (known) return *out = known->value, true;
    data_element x = {.tensor = stage, .offset = offset};
    if (!p->read_sum || p->num == PLACE_ELEMENTS || !p->read_sum(p, stage, index, &x)) return false;
    p->elements[p->num++] = x;
    return *out = x.value, true;
}

static at_status read_any(eval_ctx *ctx, int tensor, const int64_t *index, int64_t offset,
                          double *out) {
    data_place *p = ctx->user;
    const at_tensor *t = &p->r->c->tensors[tensor];
    if (!p->reads--) return at_fail(ctx->err, AT_E_INPUT, "too many reads");
    if (t->role != AT_ROLE_STAGE) {
        *out = p->read_in ? p->read_in(p->of, tensor, offset) : read_element(p, tensor, offset);
        return AT_OK;
    }
    if (t->num_reduce || at_tensor_goes_in_steps(t) || !t->body) {
        if (read_sum(p, tensor, index, offset, out)) return AT_OK;
        p->is_open = true;
        return *out = 2 * data_random_unit(tensor, offset) - 1, AT_OK;
    }
    eval_ctx within = *ctx;
    within.stage = tensor;
    within.axis = index;
    AT_TRY(eval_float(&within, t->body, out));
    *out = stored_value(t, at_expr_is_whole(p->r->c, t->body), *out);
    return AT_OK;
}

static int64_t entry_of(eval_ctx *ctx, int tensor, int64_t offset) {
    const at_data_known *k = ((const data_place *)ctx->user)->r->known;
    if (k->indices && k->indices[tensor]) return k->indices[tensor][offset];
    return k->entries ? k->entries[tensor].lo : 0;
}

static bool is_float(double x) { return (float)x == x; }

/* Of what has a number that no float is, as 0.7, kernels make something else than this. */
static void see(eval_ctx *ctx, const at_expr *e, double value) {
    data_place *p = ctx->user;
    if (e->op == AT_X_FLOAT) return;
    p->is_rounded |= !is_float(value);
    p->largest = fmax(p->largest, fabs(value));
    p->operations++;
    p->calls |= e->op == AT_X_CALL;
    for (int i = 0; i < e->nargs && !at_op_compares(e->op); i++)
        p->is_rounded |= e->arg[i]->op == AT_X_FLOAT && !is_float(e->arg[i]->number);
}

bool data_place_value(data_place *p, const at_expr *e, double *out) {
    enum { MOST_READS = 256 };
    at_error unused;
    eval_ctx ctx = {.compute = p->r->c,
                    .values = p->r->values,
                    .extents = p->r->extents,
                    .stage = p->stage,
                    .axis = p->axis,
                    .err = &unused,
                    .read = read_any,
                    .entry = entry_of,
                    .has_floats = true,
                    .seen = p->sees_rounding ? see : NULL,
                    .user = p};
    p->reads = MOST_READS;
    const bool is_known = eval_float(&ctx, e, out) == AT_OK && isfinite(*out);
    p->work += MOST_READS - p->reads;
    return is_known;
}

bool data_place_may_move(const data_place *p, int tensor) {
    const int64_t share =
        data_elements_of(p->r, tensor) * (p->number + 1) / p->decisions / p->share;
    return p->moved[tensor] < (share > 1 ? share : 1);
}

void data_place_put_one(data_place *p, at_placed one) {
    one.stays = true;
    p->moved[one.tensor] += one.more + 1;
    data_take(p->taken, one);
}

void data_place_put(data_place *p) {
    for (int i = 0; i < p->num; i++) {
        const data_element *x = &p->elements[i];
        const int64_t moved = p->moved[x->tensor];
        if (x->is_fixed || x->few) continue;
        data_place_put_one(
            p, (at_placed){.tensor = x->tensor, .offset = x->offset, .value = (float)x->value});
        p->moved[x->tensor] = moved;
    }
}
