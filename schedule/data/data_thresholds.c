/* schedule/data/data_thresholds.c: elements at, just below and just above where results turn: what
 * comparisons, minima and maxima compare with, what is rounded, what 32 bits hold. Of random
 * numbers hardly any lies there, so that another number, or the other side of it, is right. An
 * element is moved until the result turns, or a sum of few terms (data_few.c); what else is read
 * there keeps its value. */
#include "schedule/data/data_place.h"

#include <math.h>
#include <string.h>

enum {
    MOST_DECISIONS = 64, /* of a computation */
    ALL_PLACES = 1024,   /* with an element, of all decisions in all rounds; of each its share, */
    LEAST_PLACES = 24,   /* but at least so many, */
    MOST_PLACES = 512,   /* and at most so many, */
    MANY_PLACES = 128,   /* of which those behind so many lie just beside the turn */
    FEW_PLACES = 4,      /* of each, that count; twice as many are tried, whatever the work */
    MOST_FAILED = 12,    /* places at which nothing turns, before one at which something does */
    MOST_ALL_WORK = 1 << 18 /* reads, where sums are read */
};

/* A comparison, minimum or maximum; what rounds; what becomes an integer, which may be beyond 32
 * bits. */
typedef enum kind { NO_DECISION, COMPARES, ROUNDS, STORES } kind;

/* What places of a decision choose: one that turns, one of several values, and so on. */
typedef enum choice {
    CHOOSE_ANEW,
    CHOOSE_TURN,
    CHOOSE_AWAY,
    CHOOSE_END,
    CHOOSE_SIMPLE,
    CHOOSE_HALF,
    CHOICES
} choice;

/* Two values beside each other between which a decision turns. */
typedef struct turn {
    double lo, hi;
} turn;
enum { MOST_TURNS = 4 };

typedef struct decision {
    const at_expr *e;
    kind kind;
    double level; /* above which it is on the one side */
    /* Where it turned at the place before, by an element of this tensor. */
    int tensor, num_turns;
    turn turns[MOST_TURNS];
} decision;

/* ---- where it turns -------------------------------------------------------------------------- */

/* false: it cannot be worked out. */
static bool difference(data_place *p, const decision *d, double *out) {
    double y;
    if (d->kind != COMPARES) return data_place_value(p, d->e, out) && (*out -= d->level, true);
    if (!data_place_value(p, d->e->arg[0], out) || !data_place_value(p, d->e->arg[1], &y))
        return false;
    return *out -= y, true;
}

/* On which side is it, with the element of this value? Equal operands lie on the side on which the
 * comparison has them. */
static bool is_above(data_place *p, const decision *d, data_element *x, double value, bool *above) {
    const bool from_equal = d->kind == COMPARES && (d->e->op == AT_X_GE || d->e->op == AT_X_LT);
    double by;
    x->value = value;
    const bool is_known = difference(p, d, &by);
    *above = is_known && (from_equal ? by >= 0 : by > 0);
    return is_known;
}

/* Only as near to 0 as `finest`. */
static bool narrow(data_place *p, const decision *d, data_element *x, double finest, turn *t) {
    bool at_lo, above;
    if (!is_above(p, d, x, t->lo, &at_lo)) return false;
    while (t->hi - t->lo > finest) {
        const double middle = data_place_nearest(p, x, t->lo + (t->hi - t->lo) / 2);
        if (middle <= t->lo || middle >= t->hi) return true;
        if (!is_above(p, d, x, middle, &above)) return false;
        if (above == at_lo) t->lo = middle;
        else t->hi = middle;
    }
    return true;
}

/* The k-th of values from -furthest, of k = -SCANNED, to furthest, closer the nearer they are to 0.
 */
enum { TIMES = 4, SCANNED = PLACE_FINEST / TIMES };
static double scan(int k, double furthest) {
    return k < 0 ? -scan(-k, furthest) : k ? ldexp(furthest, TIMES * (k - SCANNED)) : 0;
}

static int find_turns(data_place *p, const decision *d, data_element *x, turn *out) {
    enum { BEYOND = 20 };
    double lo, hi, before = 0;
    bool has_before = false, was_above = false, above = false;
    int n = 0;
    data_place_ends(p, x, &lo, &hi);
    if (d->kind == STORES && !(data_place_grain(p, x) > 0))
        lo = ldexp(lo, BEYOND), hi = ldexp(hi, BEYOND);
    const double furthest = fmax(fabs(lo), fabs(hi));
    for (int k = -SCANNED; k <= SCANNED && n < MOST_TURNS; k++) {
        const double within = fmax(lo, fmin(hi, scan(k, furthest))),
                     at = data_place_nearest(p, x, within);
        if (has_before && at <= before) continue;
        const bool is_known = is_above(p, d, x, at, &above);
        if (is_known && has_before && above != was_above) {
            out[n] = (turn){before, at};
            n += narrow(p, d, x, ldexp(furthest, -PLACE_FINEST), &out[n]);
        }
        has_before = is_known, was_above = above, before = at;
    }
    return n;
}

/* One of so many, of what the places of a decision choose apart from each other. */
static int choose(const data_place *p, choice of, int num) {
    return (int)(data_random_unit(p->number * CHOICES + of, p->count) * num);
}

/* Does it turn between all of these values at this place, too? */
static bool turns_there(data_place *p, decision *d, data_element *x) {
    bool below, above, all = d->num_turns > 0 && d->tensor == x->tensor && !x->few;
    for (int i = 0; i < d->num_turns && all; i++)
        all = is_above(p, d, x, d->turns[i].lo, &below) &&
              is_above(p, d, x, d->turns[i].hi, &above) && below != above;
    return all;
}

/* What is compared turns mostly where it did at the place before. */
static int find_turns_again(data_place *p, decision *d, data_element *x, turn *out) {
    enum { ANEW = 8 };
    if (d->kind != COMPARES || !choose(p, CHOOSE_ANEW, ANEW) || !turns_there(p, d, x)) {
        d->num_turns = find_turns(p, d, x, d->turns);
        d->tensor = x->tensor;
    }
    memcpy(out, d->turns, sizeof d->turns);
    return d->num_turns;
}

/* ---- elements there -------------------------------------------------------------------------- */

/* The kinds of elements: the two beside the turn, those beside them, and further away. Of each four
 * places two are just beside the turn. */
enum { BESIDE = 4, KINDS = 10, ALL_KINDS = 16 };
static int kind_of_next(const data_place *p) {
    static const int kinds[ALL_KINDS] = {0, 1, 2, 3, 0, 1, 4, 5, 0, 1, 6, 7, 0, 1, 8, 9};
    const int64_t n = p->placed[p->number];
    return n < MANY_PLACES ? kinds[n % ALL_KINDS] : (int)(n % 2);
}

static double value_at(const data_place *p, const data_element *x, const turn *at, int number) {
    static const double away[KINDS / 2] = {0, 0x1p-23, 0x1p-8, 0x1p-5, 0x1p-2};
    double lo, hi;
    data_place_ends(p, x, &lo, &hi);
    const double size = fmax(fabs(at->lo), fabs(at->hi)), grain = data_place_grain(p, x);
    const bool is_half = !x->few && at_type_is_half(p->r->c->tensors[x->tensor].type);
    const double least = grain > 0 ? grain
                         : is_half ? size * 0x1p-7
                                   : 0,
                 by = number / 2 ? fmax(least, size * away[number / 2]) : 0,
                 value = number % 2 ? at->lo - by : at->hi + by;
    lo = fmin(lo, at->lo), hi = fmax(hi, at->hi); /* of what is stored */
    return data_place_nearest(p, x, fmax(lo, fmin(hi, value)));
}

/* What the stage has at the place. */
static bool result(data_place *p, double *out) {
    const at_tensor *t = &p->r->c->tensors[p->stage];
    if (!data_place_value(p, t->body, out)) return false;
    if (!t->num_reduce) *out = stored_value(t, at_expr_is_whole(p->r->c, t->body), *out);
    return true;
}

/* Does it matter for the stage on which side the element lies? Of what is rounded next to it. */
static bool is_seen(data_place *p, const decision *d, data_element *x, const turn *at) {
    const int most = d->kind == ROUNDS ? BESIDE : KINDS;
    double first = 0, other;
    bool any = d->kind == STORES;
    for (int number = 0; number < most && !any; number++) {
        x->value = value_at(p, x, at, number);
        if (!result(p, &other)) return false;
        if (!number) first = other;
        any = other != first;
    }
    return any;
}

/* What decides, and how it is worked out. */
static bool see_difference(data_place *p, const decision *d, double *by) {
    p->sees_rounding = true;
    p->is_rounded = p->calls = false;
    p->largest = p->operations = 0;
    const bool is_known = difference(p, d, by);
    p->sees_rounding = false;
    return is_known;
}

/* Is what decides worked out without rounding there? */
static bool is_exact_there(data_place *p, const decision *d) {
    double by;
    return p->r->is_exact && see_difference(p, d, &by) && !p->is_rounded;
}

/* Moves the element, on its side of the turn, so little away that no kernel's roundings make it
 * turn there. false: this is no less than the nearest of those further away. */
static bool move_beyond_rounding(data_place *p, const decision *d, data_element *x, const turn *at,
                                 int side) {
    const double from = side ? at->lo : at->hi, far = value_at(p, x, at, BESIDE + side);
    double by, of_from, of_far;
    x->value = from;
    if (!p->r->is_exact || !see_difference(p, d, &of_from) || p->calls) return false;
    const double apart = ldexp(p->largest * 4 * (p->operations + 4), -24);
    x->value = far;
    if (!difference(p, d, &of_far) || !(fabs(of_far) > apart) || of_far == of_from) return false;
    x->value = data_place_nearest(
        p, x, from + (far - from) * (2 * apart - fabs(of_from)) / (fabs(of_far) - fabs(of_from)));
    return difference(p, d, &by) && fabs(by) > apart && (by > 0) == (of_far > 0) &&
           fabs(x->value - from) < fabs(far - from);
}

/* Does the value make what is beside the turn? Where results are rounded within limits kernels may
 * differ there. */
static bool choose_value(data_place *p, const decision *d, data_element *x, const turn *at) {
    const int number = kind_of_next(p);
    const bool takes_all = p->r->c->in_steps || x->few || data_place_grain(p, x) > 0 ||
                           (d->kind == COMPARES && data_compares_unrounded(p->r, d->e));
    x->value = value_at(p, x, at, number);
    if (!takes_all && number < BESIDE && !is_exact_there(p, d) &&
        !(number < 2 && move_beyond_rounding(p, d, x, at, number % 2)))
        x->value = value_at(p, x, at, BESIDE + choose(p, CHOOSE_AWAY, KINDS - BESIDE));
    return !x->few || data_few_make(x->few, x->value);
}

/* ---- ties ------------------------------------------------------------------------------------ */

/* What is rounded, with the element of this value; NAN: it is not known. */
static double rounded_at(data_place *p, const decision *d, data_element *x, double value) {
    double of;
    x->value = value;
    return data_place_value(p, d->e->arg[0], &of) ? of : NAN;
}

static double lowest_bit(double x) { return x == 0 ? 0 : fabs(x) / data_odd_part(fabs(x)); }

/* Where what is shifted ends in zeros, or in ones: bit by bit. */
static bool find_end(data_place *p, const decision *d, data_element *x, bool in_ones, turn *out) {
    const int bits = (int)at_expr_number(d->e->arg[1]);
    const double all = ldexp(1, bits), end = in_ones ? all - 1 : 0,
                 by = lowest_bit(rounded_at(p, d, x, 1) - rounded_at(p, d, x, 0));
    double at = 0, lo, hi;
    data_place_ends(p, x, &lo, &hi);
    for (int i = 0; i < bits; i++) {
        const double rest = fmod(rounded_at(p, d, x, at) - end, all);
        if (rest == 0) break;
        const double step = lowest_bit(rest) / by;
        if (!(step >= 1)) return false;
        at += step;
    }
    if (at >= hi) at -= all / by;
    *out = in_ones ? (turn){at, at + 1} : (turn){at - 1, at};
    return out->lo > lo && out->hi < hi && fmod(rounded_at(p, d, x, at) - end, all) == 0;
}

static bool is_tie(data_place *p, const decision *d, data_element *x, double value) {
    const double of = rounded_at(p, d, x, value);
    return of - floor(of) == (d->e->integer == AT_FUNCTION_ROUND ? 0.5 : 0);
}

/* Of floats made of whole numbers, odd numbers times powers of two from 0 or from where what is
 * rounded is 0. */
static bool find_half(data_place *p, const decision *d, data_element *x, turn *out) {
    enum { ODD = 8, POWERS = 22 };
    const double grain = data_place_grain(p, x);
    const decision sign = {.e = d->e->arg[0], .kind = STORES};
    turn zero[MOST_TURNS];
    double lo, hi;
    data_place_ends(p, x, &lo, &hi);
    const int n = find_turns(p, &sign, x, zero);
    const double from[] = {0, n ? zero[0].hi : 0, n ? zero[0].lo : 0};
    const int first = choose(p, CHOOSE_HALF, 2 * ODD);
    for (int k = 0; k < 3 * 2 * ODD * POWERS; k++) {
        const int i = (k + first) % (2 * ODD) - ODD, power = k / (2 * ODD) % POWERS;
        const double at = from[k / (2 * ODD * POWERS)] + ldexp(grain * (2 * i + 1), power);
        *out = (turn){at - grain, at};
        if (at - grain >= lo && at + grain <= hi && is_tie(p, d, x, at) && is_seen(p, d, x, out))
            return true;
    }
    return false;
}

/* Of whole numbers, as sums of integers are, few lie just between two results of a rounding. */
static bool find_tie(data_place *p, const decision *d, data_element *x, turn *out) {
    if (d->kind != ROUNDS || !(data_place_grain(p, x) > 0)) return false;
    if (d->e->op == AT_X_CALL) return find_half(p, d, x, out);
    return data_place_grain(p, x) == 1 && find_end(p, d, x, choose(p, CHOOSE_END, 2), out) &&
           is_seen(p, d, x, out);
}

/* What is rounded turns elsewhere at each place, by the value that the element has there. */
static int find_all_turns(data_place *p, decision *d, data_element *x, turn *out) {
    if (find_tie(p, d, x, out)) return 1;
    d->level = 0;
    if (d->kind == ROUNDS && !difference(p, d, &d->level)) return 0;
    if (d->kind == STORES) d->level = choose(p, CHOOSE_END, 2) ? -0x1p31 : 0x1p31;
    return find_turns_again(p, d, x, out);
}

/* ---- planting -------------------------------------------------------------------------------- */

/* Of an element off the grid that sums are exact on, the sum that it is a term of: the others are 0
 * there. false: it has others. */
static bool be_alone(data_place *p, const data_element *x) {
    const data_ruler *r = p->r;
    int64_t index[AT_RECURRENCE_AXES];
    const int stage = x->few ? -1 : r->summed[x->tensor];
    if (!p->read_sum || stage < 0) return true;
    if (!data_find_row(r, stage, p->stage, p->axis, index)) return false;
    data_few *few = data_few_new(p, stage, index, x->tensor);
    if (!few) return false;
    data_few_make(few, 0);
    data_few_put(few);
    return true;
}

static bool move_element(data_place *p, decision *d, data_element *x) {
    turn turns[MOST_TURNS];
    const double before = x->value;
    /* Where a sum is rounded the sum is moved: a scale that all sums of its column have stays. */
    const bool stays = x->is_fixed || (d->kind == ROUNDS && p->read_sum && !x->few),
               may = !stays && (x->few || data_place_may_move(p, x->tensor));
    const int n = may ? find_all_turns(p, d, x, turns) : 0;
    const turn *at = &turns[choose(p, CHOOSE_TURN, n)];
    if (!p->is_open && n && is_seen(p, d, x, at) && choose_value(p, d, x, at) && be_alone(p, x)) {
        for (int i = 0; i < p->num; i++)
            if (p->elements[i].few) data_few_put(p->elements[i].few);
        data_place_put(p);
        p->moved[x->tensor]++;
        return true;
    }
    x->value = before;
    return false;
}

/* Moves one of the elements that the decision reads; false: none makes it turn. What is beyond 32
 * bits is so by the tensor that has most of them: a number of a channel would move all of it. */
static bool move_one(data_place *p, decision *d) {
    const int read = d->kind == STORES ? 1 : p->num;
    bool any = false;
    for (int i = 0; i < read && !any; i++) any = move_element(p, d, &p->elements[i]);
    return any;
}

/* Of the elements that it reads, those of large tensors first. */
static void sort_elements(data_place *p) {
    for (int i = 1; i < p->num; i++)
        for (int k = i; k > 0; k--) {
            data_element *x = &p->elements[k - 1], one = *x;
            if (data_elements_of(p->r, x[0].tensor) >= data_elements_of(p->r, x[1].tensor)) break;
            x[0] = x[1], x[1] = one;
        }
}

/* At some places the others are 0 or 1: what is made of them and of a number with many digits does
 * not round. */
static void make_simple(data_place *p) {
    enum { EACH = 4 };
    const int number = choose(p, CHOOSE_SIMPLE, 2 * EACH);
    for (int i = 1; i < p->num && p->r->is_exact && number < 2; i++) {
        data_element *x = &p->elements[i];
        if (!x->is_fixed && !x->few && !(data_place_grain(p, x) > 0)) x->value = number;
    }
}

static bool reads_sums(const data_place *p) {
    bool any = false;
    for (int i = 0; i < p->num; i++)
        any |= p->elements[i].few || p->r->summed[p->elements[i].tensor] >= 0;
    return any;
}

/* The m-th place of a sequence along an axis. Of a short axis each in turn; of a long one each of
 * so many lanes at its begin, at its end and twice anywhere. Other sequences begin elsewhere, and
 * so does each turn of one, so that axes meet otherwise. */
static int64_t place_along(int64_t m, int axis, int sequence, int64_t extent) {
    enum { LANES = 64, STEP = 37, PARTS = 4 };
    const double golden = 0.6180339887498949, begin = 0.4142135623730951 * sequence * (axis + 1);
    if (extent <= 2 * LANES) {
        int64_t step = (int64_t)(golden / (1 + axis / 4.0) * (double)extent) | 1;
        while (at_gcd(step, extent) > 1) step++;
        return ((int64_t)(begin * (double)extent) + m * step + m / extent * (axis + 1)) % extent;
    }
    const int64_t number = m / PARTS, part = (m + axis + sequence) % PARTS,
                  lane = ((int64_t)(begin * LANES) + number * (STEP + 8 * axis) +
                          number / LANES * (axis + 1)) %
                         LANES;
    if (!part) return lane;
    if (part == 1) return extent - 1 - lane;
    const double block = golden * (double)(m * (axis + 1)) + begin;
    return (int64_t)((block - floor(block)) * (double)(extent / LANES)) * LANES + lane;
}

static bool plant_at(data_place *p, decision *d, int64_t m, int sequence) {
    const at_tensor *t = &p->r->c->tensors[p->stage];
    double x;
    at_arena_reset(p->scratch);
    for (int i = axes_of(t), k = 0; i-- > 0; k++)
        p->axis[i] = place_along(m, k, sequence, p->r->extents[p->stage][i]);
    p->num = 0;
    p->is_open = false;
    p->count++;
    if (!difference(p, d, &x) || p->is_open || !p->num) return false;
    if (p->read_sum && !reads_sums(p)) return false;
    sort_elements(p);
    make_simple(p);
    return move_one(p, d);
}

/* The next place of each kind of the decision's elements is another one. What has none, as where
 * all of a row is taken, may have one in the next round. */
static bool plant_next(data_place *p, decision *d) {
    const int sequence = p->number * KINDS + kind_of_next(p);
    data_next *next = &p->next[sequence];
    const int64_t m = next->again < next->end ? next->failed.data[next->again++] : next->number++;
    const bool is_planted = plant_at(p, d, m, sequence);
    if (!is_planted) *at_push(p->r->arena, &next->failed) = m;
    return is_planted;
}

/* Which the decision may still have in this round. */
static int64_t most_places(const data_place *p) {
    const at_tensor *t = &p->r->c->tensors[p->stage];
    const int share = ALL_PLACES / p->decisions;
    const int most = share < LEAST_PLACES  ? LEAST_PLACES
                     : share > MOST_PLACES ? MOST_PLACES
                                           : share;
    int64_t points = 1;
    for (int i = 0; i < axes_of(t); i++) points *= p->r->extents[p->stage][i];
    const int64_t some = p->read_sum ? points : points / 2, left = most - p->placed[p->number];
    return some < left ? some : left;
}

static void plant(data_place *p, decision d) {
    const int most_work = !p->read_sum                  ? PLACE_WORK
                          : p->all_work < MOST_ALL_WORK ? PLACE_OF_SUMS
                                                        : 0;
    const int64_t most = most_places(p), before = p->placed[p->number];
    int64_t done = 0;
    p->work = 0;
    for (int k = 0; k < KINDS; k++) {
        data_next *next = &p->next[p->number * KINDS + k];
        next->end = next->failed.len;
    }
    for (int64_t n = 0; done < most && n < 2 * most + LEAST_PLACES &&
                        (p->work < most_work || (most_work && n < 2 * FEW_PLACES));
         n++) {
        done += plant_next(p, &d);
        p->placed[p->number] = before + done;
        if (n > MOST_FAILED && !done) break;
    }
    p->all_work += p->work;
    if (p->round == 1) p->served += (int)(done < FEW_PLACES ? done : FEW_PLACES);
}

/* A bound leaves on either side what is nearly the same: many sums lie near enough. */
static kind kind_of(const data_place *p, const at_expr *e) {
    const at_compute *c = p->r->c;
    if (!at_expr_reads(e)) return NO_DECISION;
    if (e->op == AT_X_MIN || e->op == AT_X_MAX) return p->read_sum ? NO_DECISION : COMPARES;
    if (at_op_compares(e->op)) return COMPARES;
    if (e->op == AT_X_CALL && at_function_rounds((at_function)e->integer)) return ROUNDS;
    const bool is_shift = e->op == AT_X_SHIFT_RIGHT && at_expr_is_number(e->arg[1]);
    return is_shift && !data_is_element(c, e->arg[0]) ? ROUNDS : NO_DECISION;
}

static void add(data_place *p, decision d, bool counts) {
    if (d.kind == NO_DECISION || p->number >= MOST_DECISIONS) return;
    if (!counts) plant(p, d);
    p->number++;
}

/* counts: they are counted alone. */
static void plant_in(data_place *p, const at_expr *e, bool counts) {
    if (e->op == AT_X_INDEX) return;
    for (int i = 0; i < e->nargs; i++) plant_in(p, e->arg[i], counts);
    add(p, (decision){.e = e, .kind = kind_of(p, e)}, counts);
}

static void plant_all(data_place *p, bool counts) {
    const at_compute *c = p->r->c;
    p->number = 0;
    for (p->stage = 0; p->stage < c->num_tensors; p->stage++) {
        const at_tensor *t = &c->tensors[p->stage];
        bool has_bounds = t->role != AT_ROLE_STAGE || !t->body;
        for (int i = 0; i < axes_of(t); i++) has_bounds |= t->axes[i].begin != NULL;
        if (has_bounds) continue;
        plant_in(p, t->body, counts);
        const bool stores = at_type_of(t->type)->is_int && !at_expr_is_whole(c, t->body);
        if (stores && !t->num_reduce && !p->read_sum)
            add(p, (decision){.e = t->body, .kind = STORES}, counts);
    }
}

/* How many places that count there are then, in the first of so many rounds. */
static int plant_on(data_ruler *r, at_draw *draw, bool has_sums, int share, int rounds) {
    data_place p = {.r = r,
                    .draw = draw,
                    .moved = AT_NEW_ARRAY(r->arena, int64_t, r->c->num_tensors),
                    .next = AT_NEW_ARRAY(r->arena, data_next, MOST_DECISIONS * KINDS),
                    .placed = AT_NEW_ARRAY(r->arena, int64_t, MOST_DECISIONS),
                    .scratch = at_arena_new(),
                    .read_sum = has_sums ? data_few_read : NULL,
                    .share = share};
    data_find_chosen(r, has_sums);
    plant_all(&p, true);
    p.decisions = p.number;
    for (p.round = 1; p.round <= rounds; p.round++) {
        p.taken = data_taken_new(r, draw, p.round);
        memset(p.moved, 0, sizeof *p.moved * (size_t)r->c->num_tensors);
        plant_all(&p, false);
    }
    at_arena_free(p.scratch);
    return p.served;
}

void data_plant_thresholds(data_ruler *r, at_data_rule *out) {
    plant_on(r, &out->draw[0], false, 2, at_data_rounds(out));
}

/* Where they are few on the draws that there are, there is another one for them. */
void data_plant_sums(data_ruler *r, at_data_rule *out) {
    enum { SOME = 8 };
    at_draw draw = {.fill = out->draw[0].fill};
    const int rounds = at_data_rounds(out);
    if (!out->is_exact) return;
    const int served = plant_on(r, &out->draw[out->num_draws - 1], true, SOME, rounds);
    if (out->num_draws < AT_MOST_DRAWS - 1 && plant_on(r, &draw, true, 1, rounds) > served)
        out->draw[out->num_draws++] = draw;
}
