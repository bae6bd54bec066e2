/* tuners/rows.c: features, worked out once per index as long as there is room. */
#include "tuners/model.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FLOATS = 1 << 25 }; /* 128 MB */

static void forget(at_rows *r) {
    at_numbering_free(&r->numbers);
    at_arena_free(r->arena);
    free(r->rows);
    r->arena = NULL;
    r->rows = NULL;
    r->cap = 0;
}

void at_rows_free(at_rows *r) {
    forget(r);
    free(r->row);
    *r = (at_rows){0};
}

/* Features of an index in r->row; how many. */
static int work_out(at_rows *r, int64_t index) {
    int n = r->source.of(r->source.ctx, index, r->row, r->room);
    if (n <= r->room) return n;
    r->room = n;
    free(r->row);
    r->row = malloc(sizeof *r->row * (size_t)n);
    AT_NEED(r->row);
    return r->source.of(r->source.ctx, index, r->row, r->room);
}

/* A row of r->width. */
static float *padded(at_rows *r, const float *row, int n) {
    float *out = AT_NEW_ARRAY(r->arena, float, r->width + 1);
    if (n > 0) memcpy(out, row, sizeof *out * (size_t)n);
    return out;
}

static void widen(at_rows *r, int width) {
    int old = r->width;
    at_arena *narrow = r->arena;
    r->width = width;
    r->arena = at_arena_new();
    for (int i = 0; i < r->numbers.len; i++) r->rows[i] = padded(r, r->rows[i], old);
    at_arena_free(narrow);
}

static void add(at_rows *r, int64_t index) {
    int n = work_out(r, index);
    if (!r->arena) r->arena = at_arena_new();
    if (n > r->width) widen(r, n);
    int number = at_number_add(&r->numbers, index);
    if (number == r->cap) {
        r->cap = r->numbers.cap;
        r->rows = realloc(r->rows, sizeof *r->rows * (size_t)r->cap);
        AT_NEED(r->rows);
    }
    r->rows[number] = padded(r, r->row, n);
}

void at_rows_need(at_rows *r, const int64_t *indices, int n) {
    if (((int64_t)r->numbers.len + n) * r->width > MOST_FLOATS) forget(r);
    for (int i = 0; i < n; i++)
        if (at_number_of(&r->numbers, indices[i]) < 0) add(r, indices[i]);
}

const float *at_rows_of(const at_rows *r, int64_t index) {
    int number = at_number_of(&r->numbers, index);
    AT_ASSERT(number >= 0);
    return r->rows[number];
}
