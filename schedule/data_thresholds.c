/* schedule/data_thresholds.c: elements at, just below and just above what comparisons, minima and
 * maxima of elements compare with: a number, another element, what stages make of either. Of random
 * numbers hardly any lies there, so that another number, or the other side of it, is right. An
 * element is moved until the comparison turns; what it is compared with keeps its value. */
#include "schedule/data_int.h"

#include <math.h>

enum {
    MOST_COMPARISONS = 64, /* of a computation */
    MOST_PLACES = 24,      /* of each, with an element there */
    MOST_FAILED = 12,      /* places at which nothing turns, before one at which something does */
    MOST_ELEMENTS = 12,    /* that a comparison and what chooses it read */
    MOST_READS = 256,
    MOST_WORK = 1 << 12, /* reads for one comparison */
    BEHIND = 7,
    FINEST = 64 /* of the furthest element 2^-FINEST: nearer to 0 none is */
};

typedef struct element {
    int tensor;
    int64_t offset;
    double value;
    bool is_fixed; /* it has a value of its own already, or is given */
} element;

/* A comparison at one place of its stage. */
typedef struct place {
    data_ruler *r;
    const at_draw *draw;
    const at_expr *comparison;
    int number;      /* of the comparison: each begins at another place */
    int comparisons; /* of the computation */
    int64_t *moved;  /* [tensor] elements */
    int stage;
    int64_t axis[MAX_AXES];
    element elements[MOST_ELEMENTS];
    int num, reads, work;
    bool is_open; /* it reads a sum, or more than may keep their values */
} place;

/* ---- values ---------------------------------------------------------------------------------- */

static bool is_int(const data_ruler *r, int t) { return at_type_of(r->c->tensors[t].type)->is_int; }

static bool makes_halves(const data_ruler *r, int t) {
    bool any = false;
    for (int s = 0; s < r->c->num_tensors; s++) any |= at_data_upper_byte(r->c, s, t) >= 0;
    return any;
}

static const at_placed *find_placed(const at_draw *draw, int t, int64_t offset) {
    for (int i = 0; i < draw->extremes.len; i++) {
        const at_placed *x = &draw->extremes.data[i];
        const int64_t from = offset - x->offset;
        if (x->tensor != t || from < 0) continue;
        if (from == 0 || (x->step && from % x->step == 0 && from / x->step <= x->more)) return x;
    }
    return NULL;
}

static element new_element(const place *p, int t, int64_t offset) {
    const data_ruler *r = p->r;
    const at_fill *f = &p->draw->fill[t];
    const at_placed *placed = find_placed(p->draw, t, offset);
    element x = {.tensor = t, .offset = offset, .is_fixed = placed || !data_is_drawn(r, t)};
    x.value = placed ? (double)placed->value : data_look_element(r->look, f, t, offset);
    if (!placed && data_is_drawn(r, t) && !is_int(r, t)) x.value += data_away(f, offset);
    return x;
}

/* Are the tensor's elements multiples of its fill's unit? Of what is only compared and chosen no
 * sum is exact by that. */
static bool has_unit(const data_ruler *r, int t) {
    return r->is_exact && !r->c->in_steps && !r->chosen[t];
}

/* The nearest value that the tensor's elements may have. */
static double nearest(const data_ruler *r, const at_draw *draw, int t, double x) {
    const double unit = draw->fill[t].unit;
    const at_type type = r->c->tensors[t].type;
    float stored[1];
    if (is_int(r, t)) return rint(x);
    if (has_unit(r, t)) x = unit * rint(x / unit);
    if (!at_type_is_half(type)) return (float)x;
    at_type_store(type, stored, 0, (float)x);
    return at_type_value(type, stored, 0);
}

/* Between which values an element may be moved: ends that it may have (the float nearest to 0.456
 * may lie beyond it). */
static void ends_of(const data_ruler *r, const at_draw *draw, int t, double *lo, double *hi) {
    const at_fill *f = &draw->fill[t];
    if (is_int(r, t)) {
        const at_wholes w = at_data_wholes(r->c->tensors[t].type, f);
        *lo = (double)(w.least + w.step * f->spared_least);
        *hi = (double)(w.most - w.step * f->spared_most);
    } else if ((r->c->in_steps || (r->is_exact && r->chosen[t])) && f->lo < 0)
        *lo = -0x1p20, *hi = 0x1p20;
    else *lo = nearest(r, draw, t, f->unit * f->lo), *hi = nearest(r, draw, t, f->unit * f->hi);
}

/* ---- working it out -------------------------------------------------------------------------- */

static double value_of(place *p, int t, int64_t offset) {
    for (int i = 0; i < p->num; i++)
        if (p->elements[i].tensor == t && p->elements[i].offset == offset)
            return p->elements[i].value;
    const element x = new_element(p, t, offset);
    if (p->num < MOST_ELEMENTS && !makes_halves(p->r, t)) p->elements[p->num++] = x;
    else p->is_open = true;
    return x.value;
}

static at_status read_any(eval_ctx *ctx, int tensor, const int64_t *index, int64_t offset,
                          double *out) {
    place *p = ctx->user;
    const at_tensor *t = &p->r->c->tensors[tensor];
    if (!p->reads--) return at_fail(ctx->err, AT_E_INPUT, "too many reads");
    if (t->role != AT_ROLE_STAGE) return *out = value_of(p, tensor, offset), AT_OK;
    if (t->num_reduce || at_tensor_goes_in_steps(t) || !t->body) {
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
    const at_data_known *k = ((const place *)ctx->user)->r->known;
    if (k->indices && k->indices[tensor]) return k->indices[tensor][offset];
    return k->entries ? k->entries[tensor].lo : 0;
}

/* false: it cannot be worked out. */
static bool evaluate(place *p, const at_expr *e, double *out) {
    at_error unused;
    eval_ctx ctx = {.compute = p->r->c,
                    .values = p->r->values,
                    .extents = p->r->extents,
                    .stage = p->stage,
                    .axis = p->axis,
                    .err = &unused,
                    .read = read_any,
                    .entry = entry_of,
                    .user = p};
    p->reads = MOST_READS;
    const bool is_known = eval_float(&ctx, e, out) == AT_OK && isfinite(*out);
    p->work += MOST_READS - p->reads;
    return is_known;
}

/* Is the first side above the second one, with the element of this value? */
static bool is_above(place *p, element *x, double value, bool *above) {
    double of[2];
    x->value = value;
    for (int i = 0; i < 2; i++)
        if (!evaluate(p, p->comparison->arg[i], &of[i])) return false;
    *above = of[0] > of[1];
    return true;
}

/* ---- where it turns -------------------------------------------------------------------------- */

/* Two values beside each other between which a comparison turns. */
typedef struct turn {
    double lo, hi;
} turn;
enum { MOST_TURNS = 4 };

/* Only as near to 0 as `finest`. */
static bool narrow(place *p, element *x, double finest, turn *t) {
    bool at_lo, above;
    if (!is_above(p, x, t->lo, &at_lo)) return false;
    while (t->hi - t->lo > finest) {
        const double middle = nearest(p->r, p->draw, x->tensor, t->lo + (t->hi - t->lo) / 2);
        if (middle <= t->lo || middle >= t->hi) return true;
        if (!is_above(p, x, middle, &above)) return false;
        if (above == at_lo) t->lo = middle;
        else t->hi = middle;
    }
    return true;
}

/* The k-th of values from -furthest, of k = -SCANNED, to furthest, closer the nearer they are to 0.
 */
enum { TIMES = 4, SCANNED = FINEST / TIMES };
static double scan(int k, double furthest) {
    return k < 0 ? -scan(-k, furthest) : k ? ldexp(furthest, TIMES * (k - SCANNED)) : 0;
}

static int find_turns(place *p, element *x, turn *out) {
    double lo, hi, before = 0;
    bool has_before = false, was_above = false, above = false;
    int n = 0;
    ends_of(p->r, p->draw, x->tensor, &lo, &hi);
    const double furthest = fmax(fabs(lo), fabs(hi));
    for (int k = -SCANNED; k <= SCANNED && n < MOST_TURNS; k++) {
        const double within = fmax(lo, fmin(hi, scan(k, furthest))),
                     at = nearest(p->r, p->draw, x->tensor, within);
        if (has_before && at <= before) continue;
        const bool is_known = is_above(p, x, at, &above);
        if (is_known && has_before && above != was_above) {
            out[n] = (turn){before, at};
            n += narrow(p, x, ldexp(furthest, -FINEST), &out[n]);
        }
        has_before = is_known, was_above = above, before = at;
    }
    return n;
}

/* ---- elements there -------------------------------------------------------------------------- */

/* The kinds of elements: the two beside the turn, those beside them, and further away. */
enum { BESIDE = 4, KINDS = 10 };

static double value_at(const place *p, int t, const turn *at, int kind) {
    static const double away[KINDS / 2] = {0, 0x1p-23, 0x1p-8, 0x1p-5, 0x1p-2};
    const bool is_half = at_type_is_half(p->r->c->tensors[t].type);
    double lo, hi;
    ends_of(p->r, p->draw, t, &lo, &hi);
    const double size = fmax(fabs(at->lo), fabs(at->hi)), unit = p->draw->fill[t].unit,
                 least = is_int(p->r, t)     ? 1
                         : has_unit(p->r, t) ? unit
                         : is_half           ? size * 0x1p-7
                                             : 0,
                 by = kind / 2 ? fmax(least, size * away[kind / 2]) : 0,
                 x = kind % 2 ? at->lo - by : at->hi + by;
    return nearest(p->r, p->draw, t, fmax(lo, fmin(hi, x)));
}

/* Does it matter for the stage on which side the element lies? */
static bool is_seen(place *p, element *x, const turn *at) {
    double first, other;
    bool any = false;
    for (int kind = 0; kind < KINDS && !any; kind++) {
        x->value = value_at(p, x->tensor, at, kind);
        if (!evaluate(p, p->r->c->tensors[p->stage].body, &other)) return false;
        if (!kind) first = other;
        any = other != first;
    }
    return any;
}

static void put(place *p, at_draw *draw) {
    for (int i = 0; i < p->num; i++) {
        const element *x = &p->elements[i];
        if (x->is_fixed) continue;
        *at_push(p->r->arena, &draw->extremes) = (at_placed){
            .tensor = x->tensor, .offset = x->offset, .value = (float)x->value, .stays = true};
    }
}

/* Half of a tensor's elements stay as they are: what else a kernel makes of them is seen there. The
 * comparisons share the other half. */
static bool may_move(const place *p, const element *x) {
    const int64_t share = data_elements_of(p->r, x->tensor) * (p->number + 1) / p->comparisons / 2;
    return !x->is_fixed && p->moved[x->tensor] < (share > 1 ? share : 1);
}

/* Moves one of the elements that the comparison reads; false: none makes it turn. */
static bool move_one(place *p, int number, at_draw *draw) {
    const bool is_unrounded = p->r->c->in_steps || data_compares_unrounded(p->r, p->comparison);
    const int read = p->num;
    for (int i = 0; i < read; i++) {
        element *x = &p->elements[i];
        turn turns[MOST_TURNS];
        const double before = x->value;
        const int n = may_move(p, x) ? find_turns(p, x, turns) : 0;
        const turn *at = &turns[n ? number % n : 0];
        if (!p->is_open && n && is_seen(p, x, at)) {
            const bool takes_all = is_unrounded || has_unit(p->r, x->tensor);
            const int kind = takes_all ? number % KINDS : BESIDE + number % (KINDS - BESIDE);
            x->value = value_at(p, x->tensor, at, kind);
            put(p, draw);
            p->moved[x->tensor]++;
            return true;
        }
        x->value = before;
    }
    return false;
}

/* Of the elements that it reads, those of large tensors first. */
static void sort_elements(place *p) {
    for (int i = 1; i < p->num; i++)
        for (int k = i; k > 0; k--) {
            element *x = &p->elements[k - 1], one = *x;
            if (data_elements_of(p->r, x[0].tensor) >= data_elements_of(p->r, x[1].tensor)) break;
            x[0] = x[1], x[1] = one;
        }
}

static bool plant_at(place *p, int64_t point, int number, at_draw *draw) {
    const at_tensor *t = &p->r->c->tensors[p->stage];
    const int64_t *extent = p->r->extents[p->stage];
    double x;
    for (int i = axes_of(t); i-- > 0; point /= extent[i]) p->axis[i] = point % extent[i];
    p->num = 0;
    p->is_open = false;
    for (int i = 0; i < 2; i++)
        if (!evaluate(p, p->comparison->arg[i], &x)) return false;
    if (p->is_open || !p->num) return false;
    sort_elements(p);
    return move_one(p, number, draw);
}

static void plant(place *p, at_draw *draw) {
    const at_tensor *t = &p->r->c->tensors[p->stage];
    int64_t points = 1;
    for (int i = 0; i < axes_of(t); i++) points *= p->r->extents[p->stage][i];
    const int64_t most = points / 2 < MOST_PLACES ? points / 2 : MOST_PLACES;
    p->work = 0;
    for (int64_t n = 0, done = 0; done < most && n < 2 * MOST_PLACES && p->work < MOST_WORK; n++) {
        const int64_t point = (data_place_of(n, points) + p->number * BEHIND) % points;
        done += plant_at(p, point, (int)done, draw);
        if (n > MOST_FAILED && !done) break;
    }
}

static bool compares(const at_expr *e) {
    return at_op_compares(e->op) || e->op == AT_X_MIN || e->op == AT_X_MAX;
}

/* Elements for the comparisons of an expression; no draw: they are counted alone. */
static void plant_in(place *p, const at_expr *e, at_draw *draw) {
    if (e->op == AT_X_INDEX) return;
    for (int i = 0; i < e->nargs; i++) plant_in(p, e->arg[i], draw);
    if (!compares(e) || !at_expr_reads(e) || p->number >= MOST_COMPARISONS) return;
    p->comparison = e;
    if (draw) plant(p, draw);
    p->number++;
}

static void plant_all(place *p, at_draw *draw) {
    const at_compute *c = p->r->c;
    p->number = 0;
    for (p->stage = 0; p->stage < c->num_tensors; p->stage++) {
        const at_tensor *t = &c->tensors[p->stage];
        bool has_bounds = t->role != AT_ROLE_STAGE || !t->body;
        for (int i = 0; i < axes_of(t); i++) has_bounds |= t->axes[i].begin != NULL;
        if (!has_bounds) plant_in(p, t->body, draw);
    }
}

void data_plant_thresholds(data_ruler *r, at_draw *draw) {
    place p = {.r = r, .draw = draw, .moved = AT_NEW_ARRAY(r->arena, int64_t, r->c->num_tensors)};
    r->chosen = data_find_chosen(r);
    plant_all(&p, NULL);
    p.comparisons = p.number;
    plant_all(&p, draw);
}
