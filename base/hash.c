/* base/hash.c: FNV-1a with 128 bits. Source: Fowler, Noll, Vo; prime 2^88 + 2^8 + 0x3b. A byte at a
 * time, so the parts a text is added in do not matter. Numbers are added whole. */
#include "base/base.h"

#include <string.h>

typedef unsigned __int128 u128;

static const u128 PRIME = (u128)0x1000000 << 64 | 0x13b;

void at_hash_init(at_hash *h) {
    h->hi = 0x6c62272e07bb0142;
    h->lo = 0x62b821756295c58d;
}

void at_hash_add(at_hash *h, const void *p, size_t n) {
    u128 x = (u128)h->hi << 64 | h->lo;
    for (const unsigned char *byte = p, *end = byte + n; byte < end; byte++)
        x = (x ^ *byte) * PRIME;
    h->hi = (uint64_t)(x >> 64);
    h->lo = (uint64_t)x;
}

void at_hash_add_str(at_hash *h, const char *s) {
    size_t n = strlen(s);
    unsigned char length[8]; /* little-endian on every machine */
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)((uint64_t)n >> 8 * i);
    at_hash_add(h, length, sizeof length);
    at_hash_add(h, s, n);
}

/* All 128 bits change with x: a product with an odd number that has ones and zeros everywhere (of
 * O'Neill's PCG), whose low half depends on low bits only and therefore takes in the high one. */
void at_hash_add_number(at_hash *h, uint64_t number) {
    const u128 multiplier = (u128)0x2360ed051fc65da4 << 64 | 0x4385df649fccf645;
    u128 x = ((u128)h->hi << 64 | (h->lo ^ number)) * multiplier;
    h->hi = (uint64_t)(x >> 64);
    h->lo = (uint64_t)x ^ h->hi;
}

void at_hash_hex(const at_hash *h, char out[33]) {
    snprintf(out, 33, "%016llx%016llx", (unsigned long long)h->hi, (unsigned long long)h->lo);
}
