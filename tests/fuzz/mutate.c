/* Small changes to an input: bytes and pieces of text that mean something somewhere, words and
 * lines exchanged for others, parts of seeds. Words and lines matter: what differs from a valid
 * tree in random bytes is hardly ever a tree. */
#include "tests/fuzz/fuzz.h"

#include <ctype.h>
#include <string.h>

typedef struct span {
    size_t at, n;
} span;

typedef struct input {
    uint8_t *data;
    size_t size, most;
    at_rng *rng;
} input;

static size_t below(input *in, size_t n) { return (size_t)at_rng_below(in->rng, n ? n : 1); }

/* Puts n bytes in the place of a span. */
static void replace(input *in, span gone, const void *bytes, size_t n) {
    if (gone.n > in->size - gone.at) gone.n = in->size - gone.at;
    if (in->size - gone.n + n > in->most) return;
    uint8_t *p = in->data + gone.at;
    memmove(p + n, p + gone.n, in->size - gone.at - gone.n);
    if (n) memcpy(p, bytes, n);
    in->size += n - gone.n;
}

static bool in_word(uint8_t c) { return isalnum(c) || c == '_'; }

/* The word at or behind a random place; n = 0: none. */
static span any_word(input *in, const uint8_t *data, size_t size) {
    span s = {below(in, size), 0};
    while (s.at > 0 && in_word(data[s.at - 1])) s.at--;
    while (s.at < size && !in_word(data[s.at])) s.at++;
    while (s.at + s.n < size && in_word(data[s.at + s.n])) s.n++;
    return s;
}

/* The line around a random place, its end with it. */
static span any_line(input *in, const uint8_t *data, size_t size) {
    span s = {below(in, size), 0};
    while (s.at > 0 && data[s.at - 1] != '\n') s.at--;
    while (s.at + s.n < size && data[s.at + s.n] != '\n') s.n++;
    if (s.at + s.n < size) s.n++;
    return s;
}

enum { LONGEST_COPY = 512 };

/* Puts a span of `from`, which may be the input itself, in the place of another. */
static void put(input *in, span gone, const uint8_t *from, span s) {
    uint8_t copy[LONGEST_COPY];
    if (s.n > sizeof copy) s.n = sizeof copy;
    if (s.n) memcpy(copy, from + s.at, s.n);
    replace(in, gone, copy, s.n);
}

static void change(input *in, const at_text *seed) {
    static const char *const pieces[] = {"0",
                                         "-1",
                                         "1",
                                         "9223372036854775807",
                                         "1e308",
                                         "(",
                                         ")",
                                         "[",
                                         "]",
                                         "{",
                                         "}",
                                         ",",
                                         ":",
                                         "/",
                                         "//",
                                         "\"",
                                         "\n",
                                         "=>",
                                         "..",
                                         "|",
                                         "#",
                                         "%",
                                         "&&",
                                         "? 1 :",
                                         "-",
                                         "\xff",
                                         "    ",
                                         "\\u",
                                         "null,",
                                         "*",
                                         "@",
                                         "<",
                                         "!",
                                         ":vec",
                                         ":2",
                                         ".init",
                                         "`c`",
                                         "'",
                                         "''",
                                         "\\\"",
                                         "system('c')",
                                         "\\n!c\\n",
                                         "|c",
                                         "*/",
                                         "/*",
                                         "?"
                                         "?/",
                                         "\\u001b[",
                                         "\\u202e",
                                         "\\u009b",
                                         "&lt;",
                                         "<c>",
                                         "=1+",
                                         ";",
                                         "%n"};
    const char *piece = pieces[below(in, sizeof pieces / sizeof *pieces)];
    const uint8_t *other = (const uint8_t *)at_text_str(seed);
    span here = {below(in, in->size + 1), below(in, 8)}, from;
    uint8_t byte = (uint8_t)at_rng_u32(in->rng);
    switch (below(in, 9)) {
    case 0: replace(in, (span){here.at, 1}, &byte, 1); break;
    case 1: replace(in, here, NULL, 0); break;
    case 2: replace(in, (span){here.at, here.n % 2}, piece, strlen(piece)); break;
    case 3: put(in, any_word(in, in->data, in->size), other, any_word(in, other, seed->len)); break;
    case 4:
        here = any_word(in, in->data, in->size);
        put(in, here, in->data, any_word(in, in->data, in->size));
        break;
    case 5: put(in, any_line(in, in->data, in->size), other, any_line(in, other, seed->len)); break;
    case 6: /* a line to another place */
        from = any_line(in, in->data, in->size);
        here = any_line(in, in->data, in->size);
        put(in, (span){here.at, 0}, in->data, from);
        if (below(in, 2))
            replace(in, (span){from.at + (from.at >= here.at ? from.n : 0), from.n}, NULL, 0);
        break;
    case 7: /* a part of a seed */
        from.at = below(in, seed->len + 1);
        from.n = below(in, seed->len - from.at + 1);
        put(in, (span){here.at, below(in, from.n + 1)}, other, from);
        break;
    default: /* a part of itself again */
        from.at = below(in, in->size + 1);
        from.n = below(in, in->size - from.at + 1);
        put(in, (span){here.at, 0}, in->data, (span){from.at, from.n % 64});
    }
}

size_t fuzz_mutate(const fuzz_target *t, at_rng *rng, uint8_t *data, size_t size, size_t most) {
    input in = {data, size, most, rng};
    at_text seed = {0};
    int num_seeds = 0;
    while (t->seed(num_seeds, &seed)) num_seeds++;
    for (size_t n = 1 + below(&in, 4); n > 0; n--) {
        at_text_clear(&seed);
        t->seed((int)below(&in, (size_t)num_seeds), &seed);
        change(&in, &seed);
    }
    at_text_free(&seed);
    return in.size;
}
