/* remote/delta.c: see delta.h. Greedy: at each place the longest piece of the base that begins like
 * this, among those with the same first eight bytes. */
#include "remote/delta.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 8, LEAST = 16, SLOTS = 4096, MOST_BASE = 1 << 16, MOST_LOOKS = 32 };
#define MARK '\x01'

static unsigned slot_of(const char *p) {
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return (unsigned)(x * UINT64_C(0x9e3779b97f4a7c15) >> 52);
}

/* Places of the base by their first bytes: the last one of a slot, and the one before each. */
typedef struct places {
    int last[SLOTS];
    int *before;
} places;

static void find_places(const char *base, size_t len, places *p) {
    for (int i = 0; i < SLOTS; i++) p->last[i] = -1;
    p->before = malloc(sizeof *p->before * (len + 1));
    AT_NEED(p->before);
    for (size_t i = 0; i + PIECE <= len; i++) {
        unsigned s = slot_of(base + i);
        p->before[i] = p->last[s];
        p->last[s] = (int)i;
    }
}

static size_t longest(const places *p, const char *base, const char *text, size_t left, int *at) {
    size_t best = 0;
    if (left < PIECE) return 0;
    int i = p->last[slot_of(text)];
    for (int looks = 0; i >= 0 && looks < MOST_LOOKS; i = p->before[i], looks++) {
        size_t n = 0;
        while (n < left && base[i + (int)n] == text[n]) n++; /* the base ends with NUL */
        if (n > best) best = n, *at = i;
    }
    return best;
}

void at_delta_put(at_text *out, const char *base, const char *text) {
    size_t base_len = strlen(base), len = strlen(text);
    if (base_len > MOST_BASE) {
        at_text_add(out, text);
        return;
    }
    places p;
    find_places(base, base_len, &p);
    for (size_t i = 0; i < len;) {
        int at = 0;
        size_t n = longest(&p, base, text + i, len - i, &at);
        if (n >= LEAST) {
            at_text_addf(out, "%c%d,%zu;", MARK, at, n);
            i += n;
        } else at_text_addn(out, text + i++, 1);
    }
    free(p.before);
}

static const char *take_number(const char *p, char end, size_t *out) {
    size_t x = 0;
    int digits = 0;
    for (; isdigit((unsigned char)*p) && digits < 8; p++, digits++) x = 10 * x + (size_t)(*p - '0');
    *out = x;
    return digits && *p == end ? p + 1 : NULL;
}

bool at_delta_get(at_text *out, const char *base, const char *delta, size_t most_bytes) {
    size_t base_len = strlen(base), begin = out->len, at, n;
    for (const char *p = delta; *p;) {
        if (*p != MARK) {
            n = strcspn(p, "\x01");
            at_text_addn(out, p, n);
            p += n;
        } else {
            p = take_number(p + 1, ',', &at);
            if (p) p = take_number(p, ';', &n);
            if (!p || at > base_len || n > base_len - at) return false;
            at_text_addn(out, base + at, n);
        }
        if (out->len - begin > most_bytes) return false;
    }
    return true;
}
