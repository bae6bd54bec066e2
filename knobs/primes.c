/* knobs/primes.c: the last step of factoring, which division would take 2^31 steps for. */
#include "knobs/knobs_int.h"

static uint64_t times(uint64_t x, uint64_t y, uint64_t n) {
    return (uint64_t)((unsigned __int128)x * y % n);
}

static uint64_t power(uint64_t x, uint64_t exponent, uint64_t n) {
    uint64_t y = 1;
    for (; exponent; exponent >>= 1, x = times(x, x, n))
        if (exponent & 1) y = times(y, x, n);
    return y;
}

/* Miller and Rabin's test of an odd n; with these bases it is a proof below 3.3 * 10^24 (Sorenson
 * and Webster, 2015). */
static bool is_prime(uint64_t n) {
    static const uint64_t bases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41};
    int twos = __builtin_ctzll(n - 1);
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        if (n % bases[i] == 0) return n == bases[i];
        uint64_t x = power(bases[i], (n - 1) >> twos, n);
        int squared = 0;
        if (x == 1) continue;
        for (; x != n - 1 && squared + 1 < twos; squared++) x = times(x, x, n);
        if (x != n - 1) return false;
    }
    return true;
}

/* Pollard's rho: of a sequence that ends in a circle modulo each prime, two members a circle of one
 * of them apart. Some sequences end in both circles at once; the next will do. */
int64_t at_one_of_two_primes(int64_t n) {
    uint64_t of = (uint64_t)n;
    if (of % 2 == 0) return 2;
    if (is_prime(of)) return n;
    for (uint64_t constant = 1;; constant++) {
        uint64_t slow = 2, fast = 2, found = 1;
        while (found == 1) {
            slow = (times(slow, slow, of) + constant) % of;
            fast = (times(fast, fast, of) + constant) % of;
            fast = (times(fast, fast, of) + constant) % of;
            found = (uint64_t)at_gcd((int64_t)slow - (int64_t)fast, n);
        }
        if (found != of) return (int64_t)found;
    }
}
