/* schedule/data/index_data.c: data for index tensors that nobody gives: entries spread as widely as
 * every read that hangs on them allows, so that a kernel that looks one up wrongly reads something
 * else. What allows how much is found by trying: reads are checked with the data (reads.c). */
#include "schedule/schedule_int.h"

#include <stdlib.h>
#include <string.h>

enum {
    LEAST_AS_VALUE = 8,     /* so far the range is cut, so that sums of entries are exact */
    LEAST_SPREAD = 4,       /* fewer entries are random ones alone */
    EVEN = 8,               /* of random ones each so-many-th is an even one */
    MOST_ELEMENTS = 1 << 22 /* of all index tensors; with more of them the search takes too long */
};

typedef struct tensor_asked {
    const at_compute *c;
    int tensor;
} tensor_asked;

/* Is an entry of the tensor a number that is calculated with? */
static at_walk find_number(const at_expr *e, void *ctx) {
    const tensor_asked *x = ctx;
    if (at_expr_is_read(e, &x->tensor)) return AT_WALK_END;
    const bool compares =
        at_op_compares(e->op) && !is_float_expr(x->c, e->arg[0]) && !is_float_expr(x->c, e->arg[1]);
    return e->op == AT_X_INDEX || compares ? AT_WALK_PAST : AT_WALK_ON;
}

static bool leads_somewhere(const at_expr *e, const void *tensor) {
    return at_expr_read_of(e, *(const int *)tensor) != NULL;
}

/* The side of a comparison that an entry of the tensor is compared with, where it has an axis; else
 * NULL. */
static const at_expr *beside_entry(const tensor_asked *x, const at_expr *e) {
    if (!at_op_orders(e->op)) return NULL;
    for (int i = 0; i < 2; i++)
        if (at_expr_read_of(e->arg[i], x->tensor) && !is_float_expr(x->c, e->arg[i]) &&
            !is_float_expr(x->c, e->arg[1 - i]) && at_expr_axes(e->arg[1 - i]))
            return e->arg[1 - i];
    return NULL;
}

static bool ends_axis(const at_expr *e, const void *asked) {
    return beside_entry(asked, e) != NULL;
}

static bool is_bounded_below(const at_expr *e) {
    bool is = false;
    for (int i = 0; i < 2 && e->op == AT_X_MAX; i++)
        is |= (e->arg[i]->op == AT_X_INT && e->arg[i]->integer > 0) ||
              (e->arg[i]->op == AT_X_FLOAT && e->arg[i]->number > 0);
    return is;
}

/* Is something divided by what may be an entry, or a logarithm or root of it taken? */
static bool needs_above_0(const at_expr *e, const void *compute) {
    if (e->op == AT_X_CALL) return e->integer == AT_FUNCTION_LOG || e->integer == AT_FUNCTION_RSQRT;
    return e->op == AT_X_DIV && (is_float_expr(compute, e) || at_expr_reads(e->arg[1])) &&
           e->arg[1]->op != AT_X_FLOAT && e->arg[1]->op != AT_X_INT && !is_bounded_below(e->arg[1]);
}

static bool any_needs_above_0(const at_compute *c) {
    bool any = false;
    for (int s = 0; s < c->num_tensors && !any; s++)
        any = c->tensors[s].role == AT_ROLE_STAGE &&
              at_expr_find(c->tensors[s].body, needs_above_0, c);
    return any;
}

/* The number that is added to an entry in an expression that reads it. */
static int64_t added_to(const at_expr *e, int tensor) {
    if (e->op == AT_X_INDEX || !at_expr_count_reads(e, tensor)) return 0;
    for (int i = 0; i < e->nargs; i++) {
        if (!at_expr_count_reads(e->arg[i], tensor)) continue;
        const at_expr *by = e->nargs == 2 ? e->arg[1 - i] : NULL;
        const bool adds = by && by->op == AT_X_INT && (e->op == AT_X_ADD || e->op == AT_X_SUB);
        const int64_t sign = e->op == AT_X_SUB ? -1 : 1;
        return added_to(e->arg[i], tensor) + (adds && !(i && sign < 0) ? sign * by->integer : 0);
    }
    return 0;
}

/* *used_as_value: it is calculated with. */
static void look_at_uses(const at_compute *c, int t, at_index_range *r, bool *used_as_value) {
    const tensor_asked asked = {c, t};
    bool leads = false;
    for (int s = t + 1; s < c->num_tensors; s++) {
        const at_tensor *x = &c->tensors[s];
        if (x->role != AT_ROLE_STAGE) continue;
        *used_as_value |= at_expr_walk(x->body, find_number, (void *)(uintptr_t)&asked) != NULL;
        leads |= at_expr_find_index(x->body, leads_somewhere, &t) != NULL;
        r->ends |= at_expr_find(x->body, ends_axis, &asked) != NULL;
        for (int i = x->num_axes; i < axes_of(x); i++) {
            const at_axis *axis = &x->axes[i];
            if (!axis->begin) continue;
            const bool ends = at_expr_count_reads(axis->end, t) > 0;
            r->ascends |= ends || at_expr_count_reads(axis->begin, t);
            if (ends) r->added = added_to(axis->end, t);
        }
    }
    r->ends &= !leads && !r->ascends;
    r->lo = *used_as_value && any_needs_above_0(c);
}

static int compare(const void *x, const void *y) {
    int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
    return (a > b) - (a < b);
}

static int64_t random_entry(const at_index_range *r, at_rng *rng) {
    return r->lo + (int64_t)at_rng_below(rng, (uint64_t)(r->hi - r->lo + 1));
}

/* The same, ending in so many zeros or ones as chance has it: a divisor that takes a packed number
 * out of an entry is known from its neighbours only where the entry is a multiple of it, or one
 * less. */
static int64_t even_entry(const at_index_range *r, bool in_ones, at_rng *rng) {
    enum { BITS = 31 };
    const int64_t any = random_entry(r, rng), end = (INT64_C(1) << at_rng_below(rng, BITS)) - 1,
                  x = in_ones ? any | end : any & ~end;
    return x < r->lo || x > r->hi ? any : x;
}

at_entry_spread at_entries_spread(const at_index_range *r, int draw, int64_t n) {
    enum { REPEAT = 8 };
    const int64_t range = r->hi - r->lo + 1, most = n - (n / REPEAT > 2 ? n / REPEAT : 2),
                  once = most < range ? most : range;
    if (n < LEAST_SPREAD || range < 1 || range > REPEAT * n) return (at_entry_spread){0};
    int64_t step = (int64_t)(0.6180339887498949 * (double)range) | 1;
    while (at_gcd(step, range) > 1) step += 2;
    if (!draw) return (at_entry_spread){once, 0, step};
    return (at_entry_spread){once == range ? (once + 1) / 2 : once, once, step};
}

static void spread(const at_index_range *r, int draw, int64_t n, at_rng *rng, int32_t *out) {
    const at_entry_spread s = at_entries_spread(r, draw, n);
    const int64_t range = r->hi - r->lo + 1;
    for (int64_t i = 0; i < n; i++) {
        const bool is_favourite = draw && i % 2;
        if (i < s.once) out[i] = (int32_t)(r->lo + (s.first + i) % range * s.step % range);
        else if (!s.once && i % EVEN == EVEN - 1)
            out[i] = (int32_t)even_entry(r, i / EVEN % 2, rng);
        else if (!s.once) out[i] = (int32_t)random_entry(r, rng);
        else out[i] = is_favourite ? out[0] : out[at_rng_below(rng, (uint64_t)s.once)];
    }
    if (n < LEAST_SPREAD) return;
    out[n - 2] = (int32_t)r->lo;
    out[n - 1] = (int32_t)r->hi;
    for (int64_t i = n; i > 1; i--) {
        const int64_t other = (int64_t)at_rng_below(rng, (uint64_t)i);
        const int32_t last = out[i - 1];
        out[i - 1] = out[other], out[other] = last;
    }
}

/* The greatest number of ones in binary digits, of eight at most, that is not beyond most: what a
 * loop leaves behind its whole tiles, and behind pieces of 2, 4 and so on, is there in each piece.
 */
static int64_t all_ones(int64_t most) {
    int64_t ones = 0;
    for (int i = 0; i < 8 && 2 * ones + 1 <= most; i++) ones = 2 * ones + 1;
    return ones;
}

int64_t at_entries_apart(const at_index_range *r, int draw, int64_t n) {
    enum { MANY = 32 };
    if (!draw || !(r->ascends || (r->ends && n == 1)) || n < 1 || n > MANY) return 0;
    return all_ones((r->hi + r->added) / (n > 1 ? n - 1 : 1) - (n == 1));
}

int64_t at_entries_begin(const at_index_range *r, int64_t n) {
    const int64_t terms = r->hi + r->added, ones = n == 1 ? at_entries_apart(r, 1, n) : 0;
    return -r->added + (ones ? (terms / (ones + 1)) * (ones + 1) - 1 : 0);
}

static bool fill_apart(const at_index_range *r, int draw, int64_t n, int32_t *out) {
    const int64_t apart = at_entries_apart(r, draw, n);
    for (int64_t i = 0; i < n && apart; i++) {
        const int64_t x = i * apart + at_entries_begin(r, n);
        out[i] = (int32_t)(x > r->lo ? x : r->lo);
    }
    return apart > 0;
}

int64_t at_entries_below(int64_t n, int draw) { return (n + draw % 2) / 2; }

void at_index_fill(const at_index_range *r, int draw, int64_t n, at_rng *rng, int32_t *out) {
    if (r->lo == r->hi) { /* of many entries the numbers would take longer than all else */
        for (int64_t i = 0; i < n; i++) out[i] = (int32_t)r->lo;
        return;
    }
    if (fill_apart(r, draw, n, out)) return;
    if (n == 1 && (r->ascends || r->ends)) {
        out[0] = (int32_t)r->hi;
        return;
    }
    if (!r->ascends) {
        const at_index_range below = {.lo = r->lo, .hi = r->hi - 1};
        const int64_t others = r->ends ? at_entries_below(n, draw) : n;
        spread(r->ends ? &below : r, draw, others, rng, out);
        for (int64_t i = n - 1, from = others; from < i + 1; i--)
            out[i] = i % 2 == draw % 2 ? (int32_t)r->hi : out[--from];
        return;
    }
    if (n < 2) return;
    for (int64_t i = 0; i < n; i++) out[i] = (int32_t)random_entry(r, rng);
    qsort(out, (size_t)n, sizeof *out, compare);
    out[0] = (int32_t)r->lo;
    out[n - 1] = (int32_t)r->hi;
}

typedef struct {
    const at_compute *c;
    const int64_t *values;
    at_data *data;
    const volatile int *stop;
    int tensor;                  /* whose range is looked for */
    const int64_t *elements;     /* [tensor] */
    const at_index_range *found; /* [tensor] */
    const bool *is_found;        /* [tensor] */
    bool *is_beside;             /* [tensor] found before, and of an index that reads this one */
    const bool *is_packed;       /* [tensor] as at_index_is_packed says */
} finder;

/* Entries that are the same, the smallest or the largest, and random ones. */
enum { SMALLEST, LARGEST, RANDOM, FILLINGS };

static void fill(const finder *f, int tensor, const at_index_range *r, int filling) {
    const int64_t same = filling == SMALLEST ? r->lo : r->hi;
    const at_index_range one = {.lo = same, .hi = same};
    at_rng rng;
    at_rng_seed(&rng, 0, (uint64_t)tensor);
    at_index_fill(filling == RANDOM ? r : &one, 0, f->elements[tensor], &rng, f->data[tensor].i);
}

static bool stay_inside(finder *f, const at_index_range *r) {
    for (int own = 0; own < FILLINGS; own++) {
        fill(f, f->tensor, r, own);
        if (at_compute_check_reads(f->c, f->values, f->data, f->stop, NULL) != AT_OK) return false;
    }
    return true;
}

/* Do all reads stay inside with all fillings, those that lead to a place together with others at
 * either end of what these have? Bounds of reductions stay random: where they are the same nothing
 * is read. Random ones are what is left in data. */
static bool allows(finder *f, at_index_range r) {
    enum { MOST_OTHERS = 3 }; /* each end of each; more of them share theirs */
    int n = 0;
    for (int t = 0; t < f->c->num_tensors; t++) n += f->is_beside[t];
    const int ways = n ? 1 << (n < MOST_OTHERS ? n : MOST_OTHERS) : 0;
    for (int way = 0; way < ways; way++) {
        for (int t = 0, i = 0; t < f->c->num_tensors; t++)
            if (f->is_beside[t])
                fill(f, t, &f->found[t], way >> i++ % MOST_OTHERS & 1 ? LARGEST : SMALLEST);
        if (!stay_inside(f, &r)) return false;
    }
    for (int t = 0; t < f->c->num_tensors; t++)
        if (f->is_beside[t]) fill(f, t, &f->found[t], RANDOM);
    return stay_inside(f, &r);
}

/* Does an index read both of two tensors? */
static bool reads_both(const at_expr *e, const void *two) {
    const int *tensor = two;
    return at_expr_read_of(e, tensor[0]) && at_expr_read_of(e, tensor[1]);
}

static bool lead_together(const at_compute *c, int t, int u) {
    bool any = false;
    for (int s = 0; s < c->num_tensors && !any; s++)
        any = c->tensors[s].role == AT_ROLE_STAGE &&
              at_expr_find_index(c->tensors[s].body, reads_both, (const int[]){t, u});
    return any;
}

static void find_beside(const finder *f, int tensor) {
    for (int t = 0; t < f->c->num_tensors; t++)
        f->is_beside[t] =
            t != tensor && f->is_found[t] && !f->found[t].ascends && lead_together(f->c, tensor, t);
}

static bool has_partner(const finder *f, int tensor) {
    bool any = false;
    for (int t = 0; t < f->c->num_tensors && !any; t++)
        any = t != tensor && f->c->tensors[t].role == AT_ROLE_INDEX && !f->found[t].ascends &&
              lead_together(f->c, tensor, t);
    return any;
}

/* What entries are likely to count. */
static int64_t largest_extent(const at_compute *c, int64_t *const *extents) {
    int64_t largest = 1;
    for (int t = 0; t < c->num_tensors; t++)
        for (int i = 0; i < axes_of(&c->tensors[t]); i++)
            if (extents[t][i] > largest) largest = extents[t][i];
    return largest < INT32_MAX / 2 ? largest : INT32_MAX / 2;
}

/* The extent of an axis that an entry is compared with in the stage; -1: there is none. */
static int64_t compared_extent(const at_compute *c, int64_t *const *extents, int stage,
                               int tensor) {
    const tensor_asked asked = {c, tensor};
    const at_expr *e = at_expr_find(c->tensors[stage].body, ends_axis, &asked);
    const uint32_t axes = e ? at_expr_axes(beside_entry(&asked, e)) : 0;
    int64_t most = -1;
    for (int i = 0; axes >> i; i++)
        if ((axes >> i & 1) && extents[stage][i] > most) most = extents[stage][i];
    return most;
}

/* The largest entry of an index tensor that says along which axes terms belong: one place beyond
 * them, which is none; of one that ends an axis, its extent. */
static int64_t largest_place(const at_compute *c, int64_t *const *extents, int tensor, bool ends,
                             int64_t largest) {
    int64_t most = -1;
    for (int s = 0; s < c->num_tensors; s++) {
        if (ends && c->tensors[s].role == AT_ROLE_STAGE) {
            const int64_t extent = compared_extent(c, extents, s, tensor);
            most = extent > most ? extent : most;
        }
        const at_scatter x = at_scatter_of(&c->tensors[s]);
        for (int k = 0; x.axes >> k; k++)
            if ((x.axes >> k & 1) && x.place[k]->op == AT_X_INDEX && x.place[k]->ref == tensor &&
                extents[s][k] > most)
                most = extents[s][k];
    }
    return most >= 0 && most < largest ? most : largest;
}

/* The widest range that is allowed, up to the largest extent, or of whatever 32 bits hold where
 * parts of an entry alone are read; none: 0 alone, with which the reads will be refused where all
 * data are known. */
static void find(finder *f, int tensor, int64_t largest, at_index_range *r) {
    const int64_t begins[] = {INT32_MIN, r->lo, 0, 1};
    const bool any_sign = f->is_packed[tensor] && !r->lo;
    if (f->is_packed[tensor]) largest = INT32_MAX;
    f->tensor = tensor;
    find_beside(f, tensor);
    for (size_t i = !any_sign; i < sizeof begins / sizeof *begins; i++) {
        r->lo = r->hi = begins[i];
        if (!allows(f, *r)) continue;
        int64_t beyond = largest + 1, at = largest;
        for (; beyond - r->hi > 1; at = r->hi + (beyond - r->hi) / 2) {
            if (allows(f, (at_index_range){.lo = r->lo, .hi = at, .ascends = r->ascends}))
                r->hi = at;
            else beyond = at;
        }
        allows(f, *r); /* for the tensors behind it */
        return;
    }
    r->lo = r->hi = 0;
}

/* Of the index tensors that are left, one whose range is the least by itself; -1: none is. */
static int least_far(const at_compute *c, const bool *is_found, const at_index_range *alone) {
    int least = -1;
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].role == AT_ROLE_INDEX && !is_found[t] &&
            (least < 0 || alone[t].hi < alone[least].hi))
            least = t;
    return least;
}

static bool is_exact(at_arena *a, const at_compute *c, const int64_t *values,
                     const at_index_range *r, int64_t longest) {
    enum { LEAST_RANGE = 2 };
    double *bound = AT_NEW_ARRAY(a, double, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++)
        bound[t] = c->tensors[t].role == AT_ROLE_INDEX ? at_index_bound(&r[t]) : -1;
    return at_compute_exact_range(c, values, bound, longest) >= LEAST_RANGE;
}

/* Entries that are calculated with are so small that sums are exact, where that makes them so. */
static void cut_values(at_arena *a, const finder *f, const bool *used_as_value, int64_t largest,
                       at_index_range *out) {
    const int n = f->c->num_tensors;
    const size_t bytes = sizeof *out * (size_t)n;
    at_index_range *r = at_copy(a, out, bytes);
    for (bool cut = true; !is_exact(a, f->c, f->values, r, largest);) {
        if (!cut) return;
        cut = false;
        for (int t = 0; t < n; t++) {
            if (!used_as_value[t] || r[t].ascends || r[t].hi <= LEAST_AS_VALUE) continue;
            r[t].hi = r[t].hi / 2 > LEAST_AS_VALUE ? r[t].hi / 2 : LEAST_AS_VALUE;
            if (r[t].lo < 0) r[t].lo = 0;
            cut = true;
        }
    }
    memcpy(out, r, bytes);
}

at_status at_compute_index_ranges(at_arena *a, const at_compute *c, const int64_t *values,
                                  at_index_range *out, const volatile int *stop, at_error *err) {
    int64_t **extents;
    AT_TRY(at_compute_extents(a, c, values, &extents, err));
    const int64_t largest = largest_extent(c, extents);
    int64_t elements = 0, *of_tensor = AT_NEW_ARRAY(a, int64_t, c->num_tensors);
    bool *is_found = AT_NEW_ARRAY(a, bool, c->num_tensors);
    bool *is_packed = AT_NEW_ARRAY(a, bool, c->num_tensors);
    finder f = {.c = c,
                .values = values,
                .stop = stop,
                .elements = of_tensor,
                .found = out,
                .is_found = is_found,
                .is_beside = AT_NEW_ARRAY(a, bool, c->num_tensors),
                .is_packed = is_packed,
                .data = AT_NEW_ARRAY(a, at_data, c->num_tensors)};
    for (int t = 0; t < c->num_tensors; t++) {
        out[t] = (at_index_range){0};
        of_tensor[t] = at_tensor_elements(&c->tensors[t], extents[t]);
        if (c->tensors[t].role != AT_ROLE_INDEX) continue;
        is_packed[t] = at_index_is_packed(a, c, t);
        elements += of_tensor[t];
        if (elements < 0 || elements > MOST_ELEMENTS) elements = MOST_ELEMENTS + 1;
    }
    if (elements > MOST_ELEMENTS) {
        for (int t = 0; t < c->num_tensors; t++)
            out[t].is_unknown = c->tensors[t].role == AT_ROLE_INDEX;
        return AT_OK;
    }
    for (int t = 0; t < c->num_tensors; t++) {
        if (c->tensors[t].role == AT_ROLE_INDEX)
            f.data[t].i = AT_NEW_ARRAY(a, int32_t, of_tensor[t]);
    }
    /* Bounds of reductions, and lengths that an axis is compared with, first: what is read below
     * them hangs on how far they go. Then those that may go least far where the others are 0: of
     * x[i[n]*W + j[n]] i, which j can go beside. */
    at_index_range *alone = AT_NEW_ARRAY(a, at_index_range, c->num_tensors);
    bool *used_as_value = AT_NEW_ARRAY(a, bool, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].role == AT_ROLE_INDEX) look_at_uses(c, t, &out[t], &used_as_value[t]);
    memcpy(alone, out, sizeof *out * (size_t)c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].role == AT_ROLE_INDEX && (out[t].ascends || out[t].ends)) {
            find(&f, t, largest_place(c, extents, t, out[t].ends, largest), &out[t]);
            is_found[t] = true;
        }
    for (int t = 0; t < c->num_tensors; t++) {
        if (c->tensors[t].role != AT_ROLE_INDEX || is_found[t] || !has_partner(&f, t)) continue;
        find(&f, t, largest_place(c, extents, t, out[t].ends, largest), &alone[t]);
        memset(f.data[t].i, 0, sizeof *f.data[t].i * (size_t)of_tensor[t]);
    }
    for (int t; (t = least_far(c, is_found, alone)) >= 0; is_found[t] = true)
        find(&f, t, largest_place(c, extents, t, out[t].ends, largest), &out[t]);
    cut_values(a, &f, used_as_value, largest, out);
    return at_is_stopped(stop) ? at_fail_stopped(err) : AT_OK;
}
