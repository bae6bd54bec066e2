/* tuners/rows.c: features, worked out once per index as long as there is room. */
#include "tuners/model.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FLOATS = 1 << 25 }; /* 128 MB */

void at_rows_free(at_rows *r) {
    at_numbering_free(&r->numbers);
    free(r->data);
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
    AT_ASSERT(r->row);
    return r->source.of(r->source.ctx, index, r->row, r->room);
}

static void resize(at_rows *r, int width, int cap) {
    float *data = calloc((size_t)cap * (size_t)width + 1, sizeof *data);
    AT_ASSERT(data);
    for (int i = 0; i < r->numbers.len && r->width; i++)
        memcpy(data + (size_t)i * (size_t)width, r->data + (size_t)i * (size_t)r->width,
               sizeof *data * (size_t)r->width);
    free(r->data);
    r->data = data;
    r->width = width;
    r->cap = cap;
}

static void add(at_rows *r, int64_t index) {
    int n = work_out(r, index);
    int width = n > r->width ? n : r->width;
    int number = at_number_add(&r->numbers, index);
    if (width > r->width || number >= r->cap) {
        r->numbers.len--; /* not filled yet */
        resize(r, width, number >= r->cap ? 2 * (number + 32) : r->cap);
        r->numbers.len++;
    }
    float *row = r->data + (size_t)number * (size_t)r->width;
    memset(row, 0, sizeof *row * (size_t)r->width);
    if (n > 0) memcpy(row, r->row, sizeof *row * (size_t)n);
}

void at_rows_need(at_rows *r, const int64_t *indices, int n) {
    if (((int64_t)r->numbers.len + n) * r->width > MOST_FLOATS) {
        at_numbering_free(&r->numbers);
        free(r->data);
        r->data = NULL;
        r->cap = 0;
    }
    for (int i = 0; i < n; i++)
        if (at_number_of(&r->numbers, indices[i]) < 0) add(r, indices[i]);
}

const float *at_rows_of(const at_rows *r, int64_t index) {
    int number = at_number_of(&r->numbers, index);
    AT_ASSERT(number >= 0);
    return r->data + (size_t)number * (size_t)r->width;
}
