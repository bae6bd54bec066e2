/* knobs/factors.c: the factor lists of the split policies, in AutoTVM's order.
 * Source: AutoTVM, get_factors, get_pow2s; for policy verbose the order in which CPython walks a
 * set of integers, which its hash table decides (Objects/setobject.c, 3.7 and later). */
#include "knobs/knobs_int.h"

#include <stdlib.h>

/* ---- divisors and powers --------------------------------------------------------------------- */

static void add_prime(at_arena *a, at_factors *d, int64_t prime, int64_t *rest) {
    AT_VEC(int64_t) all = {d->data, d->len, d->len};
    int known = all.len;
    for (int64_t power = prime; *rest % prime == 0; power *= prime) {
        *rest /= prime;
        for (int i = 0; i < known; i++) {
            int64_t product = all.data[i] * power;
            *at_push(a, &all) = product;
        }
        if (*rest < prime) break; /* or power could pass 2^63 */
    }
    *d = (at_factors){all.data, all.len};
}

/* From the prime factors: by division as long as there may be three of them, then the rest is one
 * or two. */
static at_factors divisors(at_arena *a, int64_t n) {
    at_factors d = {AT_NEW_ARRAY(a, int64_t, 1), 1};
    int64_t rest = n;
    d.data[0] = 1;
    for (int64_t p = 2; p <= rest / p / p; p += p == 2 ? 1 : 2)
        if (rest % p == 0) add_prime(a, &d, p, &rest);
    if (rest > 1) add_prime(a, &d, at_one_of_two_primes(rest), &rest);
    if (rest > 1) add_prime(a, &d, rest, &rest);
    qsort(d.data, (size_t)d.len, sizeof *d.data, at_compare_ints);
    return d;
}

static at_factors powers_of_two(at_arena *a, int64_t n) {
    at_factors p = {AT_NEW_ARRAY(a, int64_t, 63), 0};
    for (int64_t x = 1; x > 0; x = x <= n / 2 ? 2 * x : 0) p.data[p.len++] = x;
    return p;
}

/* ---- CPython's set --------------------------------------------------------------------------- */

typedef struct set {
    uint64_t *slot; /* [mask + 1] 0: empty; no factor is 0 */
    uint64_t mask, used;
} set;

static set new_set(at_arena *a, uint64_t size) {
    return (set){AT_NEW_ARRAY(a, uint64_t, size), size - 1, 0};
}

/* The slot that holds key, or the empty one where it belongs. */
static uint64_t *find(const set *s, uint64_t key) {
    enum { NEIGHBOURS = 9, PERTURB_SHIFT = 5 };
    uint64_t hash = key % ((UINT64_C(1) << 61) - 1), perturb = hash, i = hash & s->mask;
    for (;;) {
        uint64_t near = i + NEIGHBOURS <= s->mask ? NEIGHBOURS : 0;
        for (uint64_t j = i; j <= i + near; j++)
            if (!s->slot[j] || s->slot[j] == key) return &s->slot[j];
        perturb >>= PERTURB_SHIFT;
        i = (i * 5 + 1 + perturb) & s->mask;
    }
}

static void insert(set *s, uint64_t key) {
    uint64_t *slot = find(s, key);
    s->used += !*slot;
    *slot = key;
}

static void insert_all(set *s, const set *from) {
    for (uint64_t i = 0; i <= from->mask; i++)
        if (from->slot[i]) insert(s, from->slot[i]);
}

static void resize(at_arena *a, set *s, uint64_t more_than) {
    uint64_t size = 8;
    while (size <= more_than) size *= 2;
    set larger = new_set(a, size);
    insert_all(&larger, s);
    *s = larger;
}

static bool crowded(const set *s, uint64_t used) { return used * 5 >= s->mask * 3; }

static void add(at_arena *a, set *s, uint64_t key) {
    uint64_t before = s->used;
    insert(s, key);
    if (s->used > before && crowded(s, s->used)) resize(a, s, s->used * (s->used > 50000 ? 2 : 4));
}

static void merge(at_arena *a, set *s, const set *from) {
    if (crowded(s, s->used + from->used)) resize(a, s, (s->used + from->used) * 2);
    bool empty = s->used == 0;
    if (empty && s->mask == from->mask) {
        for (uint64_t i = 0; i <= from->mask; i++) s->slot[i] = from->slot[i];
        s->used = from->used;
        return;
    }
    for (uint64_t i = 0; i <= from->mask; i++) {
        if (!from->slot[i]) continue;
        if (empty) insert(s, from->slot[i]);
        else add(a, s, from->slot[i]);
    }
}

/* list(set(x) | set(y)) */
static at_factors united(at_arena *a, at_factors x, at_factors y) {
    set sx = new_set(a, 8), sy = new_set(a, 8), both = new_set(a, 8);
    for (int i = 0; i < x.len; i++) add(a, &sx, (uint64_t)x.data[i]);
    for (int i = 0; i < y.len; i++) add(a, &sy, (uint64_t)y.data[i]);
    merge(a, &both, &sx);
    merge(a, &both, &sy);
    at_factors out = {AT_NEW_ARRAY(a, int64_t, both.used), 0};
    for (uint64_t i = 0; i <= both.mask; i++)
        if (both.slot[i]) out.data[out.len++] = (int64_t)both.slot[i];
    return out;
}

at_factors at_factor_list(at_arena *a, int64_t n, at_policy policy) {
    switch (policy) {
    case AT_FACTORS: return divisors(a, n);
    case AT_POWER2: return powers_of_two(a, n);
    case AT_VERBOSE: return united(a, divisors(a, n), powers_of_two(a, n));
    case AT_CANDIDATE:
    case AT_LISTED: break;
    }
    AT_BUG("policy %d has no factors", policy);
}
