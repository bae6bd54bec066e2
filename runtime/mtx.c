/* runtime/mtx.c: Matrix Market files (R. Boisvert, R. Pozo, K. Remington: The Matrix Market
 * Exchange Formats, NISTIR 5935): a banner, comments, sizes, then entries "row column value" from 1
 * on in any order (coordinate), or all values column by column (array). */
#include "runtime/runtime_int.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct reader {
    at_arena *arena;
    const char *what, *p, *end;
    int64_t line;
    char word[64]; /* the current one */
    bool coordinate, valued;
    int64_t rows, columns;
    at_error *err;
} reader;

static at_status fail(reader *r, const char *problem) {
    return at_fail(r->err, AT_E_INPUT, "%s:%lld: %s", r->what, (long long)r->line, problem);
}

static void skip_blanks(reader *r) {
    for (; r->p < r->end && isspace((unsigned char)*r->p); r->p++) r->line += *r->p == '\n';
}

static at_status next_word(reader *r, const char *wanted) {
    size_t n = 0;
    skip_blanks(r);
    while (r->p + n < r->end && r->p[n] && !isspace((unsigned char)r->p[n])) n++;
    if (!n) return fail(r, at_format(r->arena, "truncated: expected %s", wanted));
    if (n >= sizeof r->word)
        return fail(r, at_format(r->arena, "expected %s, got %zu characters", wanted, n));
    memcpy(r->word, r->p, n);
    r->word[n] = 0;
    r->p += n;
    return AT_OK;
}

static at_status not_one(reader *r, const char *wanted) {
    return fail(r, at_format(r->arena, "expected %s, got \"%s\"", wanted, r->word));
}

static at_status next_integer(reader *r, const char *wanted, int64_t least, int64_t most,
                              int64_t *out) {
    char *end;
    AT_TRY(next_word(r, wanted));
    errno = 0;
    *out = strtoll(r->word, &end, 10);
    if (*end || errno) return not_one(r, wanted);
    if (*out < least || *out > most)
        return fail(r, at_format(r->arena, "%s %s is not from %lld to %lld", wanted, r->word,
                                 (long long)least, (long long)most));
    return AT_OK;
}

static at_status next_value(reader *r, float *out) {
    char *end;
    AT_TRY(next_word(r, "a value"));
    *out = (float)strtod(r->word, &end);
    if (*end) return not_one(r, "a value");
    return isfinite(*out) ? AT_OK : not_one(r, "a value that float32 holds");
}

/* "%%MatrixMarket matrix coordinate real general" */
static at_status take_banner(reader *r) {
    if (next_word(r, "the banner") != AT_OK || strcasecmp(r->word, "%%MatrixMarket") != 0)
        return fail(r, "no Matrix Market file: it does not begin with %%MatrixMarket");
    AT_TRY(next_word(r, "matrix"));
    if (strcasecmp(r->word, "matrix") != 0) return not_one(r, "matrix");
    AT_TRY(next_word(r, "coordinate or array"));
    r->coordinate = !strcasecmp(r->word, "coordinate");
    if (!r->coordinate && strcasecmp(r->word, "array") != 0)
        return not_one(r, "coordinate or array");
    AT_TRY(next_word(r, "real, integer or pattern"));
    r->valued = strcasecmp(r->word, "pattern") != 0 || !r->coordinate;
    if (r->valued && strcasecmp(r->word, "real") != 0 && strcasecmp(r->word, "integer") != 0)
        return not_one(r, r->coordinate ? "real, integer or pattern" : "real or integer");
    AT_TRY(next_word(r, "general"));
    if (strcasecmp(r->word, "general") != 0) return not_one(r, "general");
    return AT_OK;
}

static void skip_comments(reader *r) {
    for (skip_blanks(r); r->p < r->end && *r->p == '%'; skip_blanks(r))
        while (r->p < r->end && *r->p != '\n') r->p++;
}

static at_status expect_end(reader *r) {
    skip_blanks(r);
    return r->p == r->end ? AT_OK : fail(r, "text behind the last entry");
}

/* Each thing takes at least that many bytes, with a blank behind it. */
static at_status expect_room(reader *r, int64_t things, int bytes) {
    int64_t there = r->end - r->p;
    if (things <= there / bytes + 1) return AT_OK;
    return fail(r, at_format(r->arena, "truncated: %lld bytes cannot hold %lld entries",
                             (long long)there, (long long)things));
}

static at_status take_entries(reader *r, at_input *out) {
    int64_t n, row, column;
    AT_TRY(next_integer(r, "number of entries", 0, INT32_MAX, &n));
    AT_TRY(expect_room(r, n, r->valued ? 6 : 4));
    at_entry *entries = AT_NEW_ARRAY(r->arena, at_entry, n);
    for (int64_t i = 0; i < n; i++) {
        AT_TRY(next_integer(r, "row", 1, r->rows, &row));
        AT_TRY(next_integer(r, "column", 1, r->columns, &column));
        entries[i] = (at_entry){(int32_t)(row - 1), (int32_t)(column - 1), 0};
        if (r->valued) AT_TRY(next_value(r, &entries[i].value));
    }
    AT_TRY(expect_end(r));
    return at_input_of_entries(r->arena, r->what, entries, n, r->valued, out, r->err);
}

static at_status take_array(reader *r, at_input *out) {
    AT_TRY(expect_room(r, r->rows * r->columns, 2));
    float *values = AT_NEW_ARRAY(r->arena, float, r->rows * r->columns);
    for (int64_t j = 0; j < r->columns; j++)
        for (int64_t i = 0; i < r->rows; i++) AT_TRY(next_value(r, &values[i * r->columns + j]));
    out->values = values;
    return expect_end(r);
}

at_status at_input_mtx(at_arena *a, const char *what, const char *text, size_t len, at_input *out,
                       at_error *err) {
    reader r = {.arena = a, .what = what, .p = text, .end = text + len, .line = 1, .err = err};
    AT_TRY(take_banner(&r));
    skip_comments(&r);
    AT_TRY(next_integer(&r, "number of rows", 1, INT32_MAX, &r.rows));
    AT_TRY(next_integer(&r, "number of columns", 1, INT32_MAX, &r.columns));
    *out = (at_input){.num_dims = 2, .dims = {r.rows, r.columns}};
    return r.coordinate ? take_entries(&r, out) : take_array(&r, out);
}
