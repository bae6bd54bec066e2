/* schedule/data/data_few.c: a sum at one place of its stage of which nearly all terms are 0, so
 * that the others make it any number: what it is compared with, or what lies half between two
 * results. The elements of one tensor are what makes terms 0, whatever the others are. */
#include "schedule/data/data_place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_TERMS = 1 << 16,
    MOST_READ = 4,   /* elements, by one term */
    MOST_RUNS = 64,  /* that the elements of the tensor are */
    FEW = 8,         /* elements of it that are chosen, */
    MANY = 48,       /* and at some places, as counts want */
    MOST_SHARING = 8 /* terms that read one of them */
};

typedef struct reads {
    int num;
    int tensor[MOST_READ];
    int64_t offset[MOST_READ];
} reads;

/* An element that makes terms 0, and one that these read beside it. */
typedef struct unit {
    int64_t term[MOST_SHARING];
    int num;
    data_element own, other;
    bool has_other;
} unit;

struct data_few {
    data_place *p, *in; /* in: a term of it */
    int stage;
    int64_t terms;
    reads *reads; /* [terms] */
    reads *into;  /* of the term that is looked at; NULL: they are known */
    int tensor;
    double quiet;
    AT_VEC(at_placed) runs;
    unit units[MANY];
    int num;
    double lo, hi, grain;
    double all_others; /* 0 to 1: elements of other tensors lie there between their ends; -1: they
                          have their own values */
};

static const at_tensor *tensor_of(const data_few *f, int t) { return &f->p->r->c->tensors[t]; }

/* ---- terms ----------------------------------------------------------------------------------- */

static double between_ends(const data_few *f, const data_element *x, double share) {
    double lo, hi;
    data_place_ends(f->p, x, &lo, &hi);
    return data_place_nearest(f->p, x, lo + (hi - lo) * share);
}

/* Is it one of the elements that make terms 0? */
static bool is_own(const data_few *f, int t, int64_t offset) {
    bool any = false;
    for (int i = 0; i < f->runs.len && t == f->tensor && !any; i++)
        any = data_is_in(&f->runs.data[i], offset);
    return any;
}

static double value_in(const data_few *f, int t, int64_t offset) {
    for (int i = 0; i < f->num; i++) {
        const unit *u = &f->units[i];
        if (u->own.tensor == t && u->own.offset == offset) return u->own.value;
        if (u->has_other && u->other.tensor == t && u->other.offset == offset)
            return u->other.value;
    }
    if (is_own(f, t, offset)) return f->quiet;
    const data_element x = data_place_element(f->p, t, offset);
    return x.is_fixed || f->all_others < 0 ? x.value : between_ends(f, &x, f->all_others);
}

static double read_in(const data_few *f, int t, int64_t offset) {
    reads *into = f->into;
    for (int i = 0; into && i < into->num && i < MOST_READ; i++)
        if (into->tensor[i] == t && into->offset[i] == offset) into = NULL;
    if (into && into->num < MOST_READ) {
        into->tensor[into->num] = t;
        into->offset[into->num] = offset;
    }
    if (into) into->num++;
    return value_in(f, t, offset);
}

/* false: it is not made of elements alone. */
static bool term(data_few *f, int64_t number, double *out) {
    data_place *p = f->p;
    const at_tensor *t = tensor_of(f, f->stage);
    data_place *in = f->in;
    at_unravel(number, t->num_reduce, &p->r->extents[f->stage][t->num_axes],
               &in->axis[t->num_axes]);
    in->work = 0;
    const bool is_known = data_place_value(in, t->body, out) && !in->is_open;
    p->work += in->work;
    return is_known;
}

static bool read_terms(data_few *f) {
    double unused;
    f->tensor = -1;
    f->all_others = -1;
    f->reads = AT_NEW_ARRAY(f->p->scratch, reads, f->terms);
    for (int64_t k = 0; k < f->terms; k++) {
        f->into = &f->reads[k];
        if (!term(f, k, &unused) || f->reads[k].num > MOST_READ) return false;
    }
    f->into = NULL;
    return true;
}

/* The first element of the tensor that a term reads; -1: none. */
static int64_t read_by(const data_few *f, int64_t k, int tensor) {
    int64_t at = -1;
    for (int i = 0; i < f->reads[k].num && at < 0; i++)
        if (f->reads[k].tensor[i] == tensor) at = f->reads[k].offset[i];
    return at;
}

/* Of several elements of the tensor in one term, does the first alone lie in the runs? */
static bool are_apart(const data_few *f) {
    for (int64_t k = 0; k < f->terms; k++) {
        int own = 0;
        for (int i = 0; i < f->reads[k].num; i++)
            own += is_own(f, f->reads[k].tensor[i], f->reads[k].offset[i]);
        if (own > 1) return false;
    }
    return true;
}

/* ---- what makes terms 0 ---------------------------------------------------------------------- */

/* The tensor's elements as runs that nothing else has; false: several of one term lie in them, or
 * they are too many runs. */
static bool find_runs(data_few *f) {
    int64_t *at = AT_NEW_ARRAY(f->p->scratch, int64_t, f->terms), n = 0;
    for (int64_t k = 0; k < f->terms; k++) {
        const int64_t offset = read_by(f, k, f->tensor);
        if (offset >= 0) at[n++] = offset;
    }
    qsort(at, (size_t)n, sizeof *at, at_compare_ints);
    f->runs.len = 0;
    at_placed *run = NULL;
    for (int64_t i = 0; i < n; i++) {
        if (i && at[i] == at[i - 1]) continue;
        if (run && !run->more) run->step = at[i] - run->offset;
        if (run && at[i] == run->offset + (run->more + 1) * run->step) run->more++;
        else if (f->runs.len == MOST_RUNS) return false;
        else {
            run = at_push(f->p->scratch, &f->runs);
            *run = (at_placed){.tensor = f->tensor, .offset = at[i], .step = 1, .stays = true};
        }
    }
    bool any = false;
    for (int i = 0; i < f->runs.len && !any; i++)
        any = data_taken_any(f->p->taken, &f->runs.data[i]);
    return n > 0 && !any && are_apart(f);
}

/* Are terms 0, the first, the last and some between, whatever the other elements are? */
static bool is_quiet(data_few *f) {
    enum { LOOKED_AT = 8 };
    bool is = true;
    for (int i = 0; i < LOOKED_AT && is; i++)
        for (int end = 0; end < 2 && is; end++) {
            double x;
            f->all_others = end;
            is = term(f, data_place_of(i, f->terms), &x) && x == 0;
        }
    f->all_others = -1;
    return is;
}

/* Where a straight line through two ends is what is wanted; lo: it is so nowhere, or everywhere. */
static double on_line(double lo, double of_lo, double hi, double of_hi, double wanted) {
    return of_lo == of_hi ? lo : lo + (wanted - of_lo) * (hi - lo) / (of_hi - of_lo);
}

/* Where a term would be 0 that is straight between the tensor's ends. */
static double root_of(data_few *f, int64_t k, double lo, double hi) {
    double of_lo, of_hi;
    f->quiet = lo;
    bool is_known = term(f, k, &of_lo);
    f->quiet = hi;
    is_known &= term(f, k, &of_hi);
    return is_known ? on_line(lo, of_lo, hi, of_hi, 0) : lo;
}

static bool find_quiet(data_few *f) {
    const data_element any = {.tensor = f->tensor};
    int64_t k = 0;
    double lo, hi;
    data_place_ends(f->p, &any, &lo, &hi);
    while (k < f->terms - 1 && read_by(f, k, f->tensor) < 0) k++;
    const double tried[] = {0, root_of(f, k, lo, hi), lo, hi};
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        f->quiet = data_place_nearest(f->p, &any, tried[i]);
        if (f->quiet >= lo && f->quiet <= hi && is_quiet(f)) return true;
    }
    return false;
}

/* The one of fewest runs, or of these the largest. */
static bool find_tensor(data_few *f, int only) {
    const data_ruler *r = f->p->r;
    data_few best = {.tensor = -1};
    for (int t = 0; t < r->c->num_tensors; t++) {
        f->tensor = t;
        if ((only >= 0 && t != only) || !data_is_drawn(r, t) || !data_place_may_move(f->p, t) ||
            !find_runs(f))
            continue;
        const bool is_better = best.tensor < 0 || f->runs.len < best.runs.len ||
                               (f->runs.len == best.runs.len &&
                                data_elements_of(r, t) > data_elements_of(r, best.tensor));
        if (!is_better || !find_quiet(f)) continue;
        best = *f;
        memset(&f->runs, 0, sizeof f->runs);
    }
    *f = best;
    return best.tensor >= 0;
}

/* ---- the others ------------------------------------------------------------------------------ */

static bool unit_value(data_few *f, unit *u, double own, double other, double *out) {
    double x;
    *out = 0;
    u->own.value = own;
    if (u->has_other) u->other.value = other;
    for (int i = 0; i < u->num; i++) {
        if (!term(f, u->term[i], &x)) return false;
        *out += x;
    }
    return true;
}

/* The terms that read what term k reads of the tensor, and another element that may be moved. */
static bool add_unit(data_few *f, int64_t k) {
    const int64_t own = read_by(f, k, f->tensor);
    unit u = {0};
    if (own < 0) return false;
    for (int i = 0; i < f->num; i++)
        if (f->units[i].own.offset == own) return false;
    for (int64_t i = 0; i < f->terms; i++) {
        if (read_by(f, i, f->tensor) != own) continue;
        if (u.num == MOST_SHARING) return false;
        u.term[u.num++] = i;
    }
    u.own = (data_element){.tensor = f->tensor, .offset = own, .value = f->quiet};
    for (int i = 0; i < f->reads[k].num; i++) {
        const data_element x =
            data_place_element(f->p, f->reads[k].tensor[i], f->reads[k].offset[i]);
        if (is_own(f, x.tensor, x.offset) || x.is_fixed || u.has_other) continue;
        u.has_other = true;
        u.other = x;
    }
    for (int i = 0; i < f->num && u.has_other; i++)
        if (f->units[i].has_other && f->units[i].other.tensor == u.other.tensor &&
            f->units[i].other.offset == u.other.offset)
            return false;
    f->units[f->num++] = u;
    return true;
}

enum { OTHERS = 5 };

/* Values that the other element may have: its own, its ends, and those beside where terms would be
 * 0. */
static int others_of(data_few *f, unit *u, double *out) {
    double lo, hi, of_lo, of_hi, own_lo, own_hi;
    out[0] = u->other.value;
    if (!u->has_other) return 1;
    data_place_ends(f->p, &u->other, &lo, &hi);
    data_place_ends(f->p, &u->own, &own_lo, &own_hi);
    const double own = own_hi == f->quiet ? own_lo : own_hi,
                 grain = data_place_grain(f->p, &u->other);
    const bool is_known = unit_value(f, u, own, lo, &of_lo) && unit_value(f, u, own, hi, &of_hi);
    const double root =
        data_place_nearest(f->p, &u->other, is_known ? on_line(lo, of_lo, hi, of_hi, 0) : lo);
    out[1] = lo, out[2] = hi;
    out[3] = fmin(hi, fmax(lo, root + grain)), out[4] = fmin(hi, fmax(lo, root - grain));
    u->own.value = f->quiet;
    u->other.value = out[0];
    return OTHERS;
}

/* What is added to the sum's ends by the element, and the least that is not 0. */
static bool find_range(data_few *f, unit *u) {
    double lo, hi, others[OTHERS], x, least = 0, most = 0;
    const int n = others_of(f, u, others);
    const double before = u->other.value, grain = data_place_grain(f->p, &u->own);
    data_place_ends(f->p, &u->own, &lo, &hi);
    const double own[] = {lo, hi, f->quiet + grain, f->quiet - grain};
    for (int i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof own / sizeof *own; k++) {
            if (own[k] < lo || own[k] > hi) continue;
            if (!unit_value(f, u, own[k], others[i], &x)) return false;
            least = fmin(least, x), most = fmax(most, x);
            if (x != 0 && (!(f->grain > 0) || fabs(x) < f->grain)) f->grain = fabs(x);
        }
    u->own.value = f->quiet;
    u->other.value = before;
    f->lo += least, f->hi += most;
    return true;
}

data_few *data_few_new(data_place *p, int stage, const int64_t *index, int tensor) {
    enum { TRIED = 4, EACH = 4 };
    const at_tensor *t = &p->r->c->tensors[stage];
    const int most = p->count % EACH ? FEW : MANY;
    data_few *f = AT_NEW(p->scratch, data_few);
    f->p = p, f->stage = stage, f->terms = 1;
    f->in = AT_NEW(p->scratch, data_place);
    *f->in = (data_place){.r = p->r, .draw = p->draw, .stage = stage, .read_in = read_in, .of = f};
    f->all_others = -1;
    if (!t->body || !t->num_reduce || t->reduction != AT_REDUCE_SUM || at_tensor_goes_in_steps(t))
        return NULL;
    for (int i = 0; i < axes_of(t); i++) {
        if (t->axes[i].begin) return NULL;
        if (i < t->num_axes) f->in->axis[i] = index[i];
        else f->terms *= p->r->extents[stage][i];
    }
    if (f->terms < 1 || f->terms > MOST_TERMS || !read_terms(f) || !find_tensor(f, tensor))
        return NULL;
    for (int i = 0; i < TRIED * most && f->num < most; i++)
        add_unit(f, data_place_of(i + p->number + p->count, f->terms));
    for (int i = 0; i < f->num; i++)
        if (!find_range(f, &f->units[i])) return NULL;
    return f->grain > 0 ? f : NULL;
}

/* ---- making it ------------------------------------------------------------------------------- */

enum { OWN = 16 };

/* Values of the element that bring its terms near to what is wanted. */
static int owns_of(data_few *f, unit *u, double other, double wanted, double *out) {
    enum { BITS = 7 };
    double lo, hi, of_lo, of_hi;
    int n = 0;
    data_place_ends(f->p, &u->own, &lo, &hi);
    out[n++] = f->quiet, out[n++] = lo, out[n++] = hi;
    if (!unit_value(f, u, lo, other, &of_lo) || !unit_value(f, u, hi, other, &of_hi)) return n;
    const double grain = data_place_grain(f->p, &u->own),
                 near = on_line(lo, of_lo, hi, of_hi, wanted),
                 x = data_place_nearest(f->p, &u->own, fmin(hi, fmax(lo, near)));
    out[n++] = x, out[n++] = fmin(hi, x + grain), out[n++] = fmax(lo, x - grain);
    if (at_type_of(tensor_of(f, f->tensor)->type)->is_int)
        for (int bits = 1; bits <= BITS; bits++) /* as many ones */
            if (f->quiet + (1 << bits) - 1 <= hi) out[n++] = f->quiet + (1 << bits) - 1;
    return n;
}

/* Chooses values that bring the terms nearest to the wanted sum; gives what the sum lacks then. */
static double take_nearest(data_few *f, unit *u, double wanted) {
    double others[OTHERS], owns[OWN], least = fabs(wanted), left = wanted, own = f->quiet,
                                      other = u->other.value, x;
    const int n = others_of(f, u, others);
    for (int i = 0; i < n && least > 0; i++) {
        const int m = owns_of(f, u, others[i], wanted, owns);
        for (int k = 0; k < m && least > 0; k++) {
            if (!unit_value(f, u, owns[k], others[i], &x) || !(fabs(wanted - x) < least)) continue;
            least = fabs(wanted - x), left = wanted - x;
            own = owns[k], other = others[i];
        }
    }
    u->own.value = own;
    u->other.value = other;
    return left;
}

bool data_few_make(data_few *f, double sum) {
    double left = sum;
    for (int i = 0; i < f->num; i++) f->units[i].own.value = f->quiet;
    for (int i = 0; i < f->num; i++) left = take_nearest(f, &f->units[i], left);
    return left == 0;
}

bool data_few_read(data_place *p, int stage, const int64_t *index, data_element *out) {
    enum { SIZES = 5, LESS = 3 };
    data_few *f = data_few_new(p, stage, index, -1);
    if (!f) return false;
    out->few = f;
    out->lo = f->lo, out->hi = f->hi, out->grain = f->grain;
    const double share = data_random_unit(stage, out->offset),
                 sum = ldexp(f->lo + (f->hi - f->lo) * share, -LESS * (p->count % SIZES));
    out->value = data_place_nearest(p, out, sum);
    if (!data_few_make(f, out->value)) data_few_make(f, out->value = 0);
    return true;
}

void data_few_put(data_few *f) {
    for (int i = 0; i < f->runs.len; i++) {
        at_placed run = f->runs.data[i];
        run.value = (float)f->quiet;
        data_place_put_one(f->p, run);
    }
    for (int i = 0; i < f->num; i++) {
        const unit *u = &f->units[i];
        for (int k = 0; k < 1 + u->has_other && u->own.value != f->quiet; k++) {
            const data_element *x = k ? &u->other : &u->own;
            data_take(f->p->taken, (at_placed){.tensor = x->tensor,
                                               .offset = x->offset,
                                               .value = (float)x->value,
                                               .stays = true});
        }
    }
}
