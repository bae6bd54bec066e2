/* base/arena.c: memory that is freed all at once, and the growth of vectors inside it.
 *
 * Chunks are bumped through in order. A reset replaces several chunks by one of their total size,
 * so an arena that is reset after every candidate soon lives in a single block. Under the address
 * sanitizer everything not handed out is poisoned, so use after reset and overruns are caught. */
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define POISON(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

enum { ALIGN = 16, FIRST_CHUNK_BYTES = 16 * 1024, LARGEST_STEP_BYTES = 8 * 1024 * 1024 };

typedef struct chunk chunk;
struct chunk {
    chunk *older;
    size_t size; /* of data */
    _Alignas(ALIGN) unsigned char data[];
};

struct at_arena {
    chunk *newest;
    size_t fill;       /* bytes handed out of the newest chunk */
    size_t older_used; /* bytes handed out of all others */
};

static void *need(void *p, size_t size_bytes) {
    if (!p) at_out_of_memory(size_bytes);
    return p;
}

static void add_chunk(at_arena *a, size_t size) {
    chunk *c = need(malloc(sizeof *c + size), size);
    c->older = a->newest;
    c->size = size;
    POISON(c->data, size);
    a->older_used += a->fill;
    a->newest = c;
    a->fill = 0;
}

static size_t free_chunks(at_arena *a) {
    size_t total = 0;
    for (chunk *c = a->newest, *older; c; c = older) {
        older = c->older;
        total += c->size;
        UNPOISON(c->data, c->size);
        free(c);
    }
    a->newest = NULL;
    return total;
}

at_arena *at_arena_new(void) {
    at_arena *a = need(calloc(1, sizeof *a), sizeof *a);
    return a;
}

void at_arena_free(at_arena *a) {
    if (!a) return;
    free_chunks(a);
    free(a);
}

void at_arena_reset(at_arena *a) {
    size_t total = 0;
    if (a->newest && a->newest->older) total = free_chunks(a);
    a->fill = a->older_used = 0;
    if (total) add_chunk(a, total);
    if (a->newest) POISON(a->newest->data, a->newest->size);
}

at_mark at_arena_mark(const at_arena *a) { return (at_mark){a->newest, a->fill, a->older_used}; }

void at_arena_rewind(at_arena *a, at_mark m) {
    while (a->newest != m.chunk) {
        chunk *c = a->newest;
        a->newest = c->older;
        UNPOISON(c->data, c->size);
        free(c);
    }
    a->fill = m.fill;
    a->older_used = m.older_used;
    if (a->newest) POISON(a->newest->data + a->fill, a->newest->size - a->fill);
}

size_t at_arena_used(const at_arena *a) { return a->older_used + a->fill; }

/* Distinct addresses, as malloc gives. */
static size_t rounded_up(size_t size_bytes) {
    return size_bytes ? (size_bytes + ALIGN - 1) / ALIGN * ALIGN : ALIGN;
}

/* What it holds is undefined. */
static void *take(at_arena *a, size_t size_bytes) {
    if (size_bytes > PTRDIFF_MAX / 2) need(NULL, size_bytes);
    size_t rounded = rounded_up(size_bytes);
    if (!a->newest || a->newest->size - a->fill < rounded) {
        size_t size = a->newest ? 2 * a->newest->size : FIRST_CHUNK_BYTES;
        if (size > LARGEST_STEP_BYTES) size = LARGEST_STEP_BYTES;
        add_chunk(a, size < rounded ? rounded : size);
    }
    void *p = a->newest->data + a->fill;
    a->fill += rounded;
    UNPOISON(p, size_bytes);
    return p;
}

/* Room behind what was handed out last, which is p. */
static bool take_more(at_arena *a, void *p, size_t size_bytes, size_t larger_bytes) {
    size_t was = rounded_up(size_bytes), now = rounded_up(larger_bytes);
    if (!p || a->fill < was || p != a->newest->data + (a->fill - was) ||
        a->newest->size - a->fill < now - was)
        return false;
    a->fill += now - was;
    UNPOISON(p, larger_bytes);
    return true;
}

void *at_alloc(at_arena *a, size_t size_bytes) {
    return memset(take(a, size_bytes), 0, size_bytes);
}

void *at_copy(at_arena *a, const void *p, size_t size_bytes) {
    void *copy = take(a, size_bytes);
    return size_bytes ? memcpy(copy, p, size_bytes) : copy;
}

char *at_strndup(at_arena *a, const char *s, size_t n) {
    n = strnlen(s, n);
    char *copy = at_alloc(a, n + 1);
    memcpy(copy, s, n);
    return copy;
}

char *at_strdup(at_arena *a, const char *s) { return at_copy(a, s, strlen(s) + 1); }

char *at_format(at_arena *a, const char *fmt, ...) {
    va_list ap, again;
    char text[256]; /* most are shorter, and printed once */
    AT_ASSERT(fmt);
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    AT_ASSERT(n >= 0);
    char *s = at_alloc(a, (size_t)n + 1);
    if ((size_t)n < sizeof text) memcpy(s, text, (size_t)n + 1);
    else vsnprintf(s, (size_t)n + 1, fmt, again);
    va_end(again);
    return s;
}

void *at_vec_grow(at_arena *a, void *data, int len, int *cap, size_t item_bytes) {
    AT_ASSERT(*cap <= INT32_MAX / 2);
    int larger = *cap ? 2 * *cap : 8;
    size_t used_bytes = (size_t)len * item_bytes, larger_bytes = (size_t)larger * item_bytes;
    char *to = data;
    if (larger_bytes > PTRDIFF_MAX / 2) need(NULL, larger_bytes);
    if (!take_more(a, data, (size_t)*cap * item_bytes, larger_bytes)) {
        to = take(a, larger_bytes);
        if (len) memcpy(to, data, used_bytes);
    }
    memset(to + used_bytes, 0, larger_bytes - used_bytes);
    *cap = larger;
    return to;
}
