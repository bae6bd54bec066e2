/* base/rng.c: PCG32, the XSH-RR 64/32 generator.
 * Source: M. E. O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good
 * Algorithms for Random Number Generation", and the published sequence for seed 42, stream 54. */
#include "base/base.h"

static const uint64_t MULTIPLIER = 6364136223846793005u;

void at_rng_seed(at_rng *r, uint64_t seed, uint64_t stream) {
    r->state = 0;
    r->inc = stream << 1 | 1;
    at_rng_u32(r);
    r->state += seed;
    at_rng_u32(r);
}

uint32_t at_rng_u32(at_rng *r) {
    uint64_t old = r->state;
    r->state = old * MULTIPLIER + r->inc;
    uint32_t folded = (uint32_t)((old >> 18 ^ old) >> 27);
    unsigned turn = (unsigned)(old >> 59);
    return folded >> turn | folded << (-turn & 31);
}

static uint64_t u64(at_rng *r) {
    uint64_t high = at_rng_u32(r);
    return high << 32 | at_rng_u32(r);
}

/* The lowest draws, as many as the range exceeds a multiple of n, are drawn again. */
uint64_t at_rng_below(at_rng *r, uint64_t n) {
    AT_ASSERT(n);
    uint64_t x;
    if (n <= UINT32_MAX) {
        uint32_t surplus = -(uint32_t)n % (uint32_t)n;
        do x = at_rng_u32(r);
        while (x < surplus);
    } else {
        uint64_t surplus = -n % n;
        do x = u64(r);
        while (x < surplus);
    }
    return x % n;
}

double at_rng_unit(at_rng *r) { return (double)(u64(r) >> 11) * 0x1p-53; }
