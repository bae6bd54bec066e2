/* base/text.c: growing text, Python's spelling of doubles, JSON's and Python's of strings, the
 * shell's of words, integers, nearest name. */
#include "base/base.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- buffer ---------------------------------------------------------------------------------- */

static void reserve(at_text *t, size_t more) {
    size_t needed = t->len + more + 1;
    if (needed <= t->cap) return;
    size_t cap = t->cap ? 2 * t->cap : 128;
    if (cap < needed) cap = needed;
    char *data = realloc(t->data, cap);
    if (!data) at_out_of_memory(cap);
    t->data = data;
    t->cap = cap;
}

void at_text_free(at_text *t) {
    free(t->data);
    *t = (at_text){0};
}

void at_text_clear(at_text *t) {
    t->len = 0;
    if (t->data) t->data[0] = 0;
}

void at_text_addn(at_text *t, const char *s, size_t n) {
    reserve(t, n);
    if (n) memcpy(t->data + t->len, s, n);
    t->len += n;
    t->data[t->len] = 0;
}

void at_text_add(at_text *t, const char *s) { at_text_addn(t, s, strlen(s)); }

void at_text_addf(at_text *t, const char *fmt, ...) {
    va_list ap, again;
    reserve(t, 64);
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(t->data + t->len, t->cap - t->len, fmt, ap);
    va_end(ap);
    AT_ASSERT(n >= 0);
    if ((size_t)n >= t->cap - t->len) {
        reserve(t, (size_t)n);
        vsnprintf(t->data + t->len, t->cap - t->len, fmt, again);
    }
    va_end(again);
    t->len += (size_t)n;
}

void at_text_add_int(at_text *t, int64_t x) {
    char digits[20], *first = digits + sizeof digits;
    uint64_t rest = x < 0 ? -(uint64_t)x : (uint64_t)x;
    do *--first = (char)('0' + rest % 10);
    while (rest /= 10);
    if (x < 0) *--first = '-';
    at_text_addn(t, first, (size_t)(digits + sizeof digits - first));
}

void at_text_add_blanks(at_text *t, int n) {
    if (n <= 0) return;
    reserve(t, (size_t)n);
    memset(t->data + t->len, ' ', (size_t)n);
    t->len += (size_t)n;
    t->data[t->len] = 0;
}

const char *at_text_str(const at_text *t) { return t->data ? t->data : ""; }

char *at_text_take(at_arena *a, at_text *t) {
    char *copy = at_strdup(a, at_text_str(t));
    at_text_free(t);
    return copy;
}

/* ---- doubles --------------------------------------------------------------------------------- */

enum { MOST_POWER = 22 }; /* of ten that a double holds exactly */
static const double powers[MOST_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* The power of ten that makes of x an integer of so many digits; -1: none that is exact. */
static int power_for(double x, int digits) {
    if (!(x >= 1e-7) || !(x < 1e15)) return -1;
    int k = digits - 1 - (int)floor(log10(x));
    return k >= 0 && k <= MOST_POWER ? k : -1;
}

double at_with_digits(double x, int digits) {
    int k = digits <= 15 ? power_for(x, digits) : -1;
    return k < 0 ? x : nearbyint(x * powers[k]) / powers[k];
}

/* A decimal of up to 15 digits that reads back as x is an integer over a power of ten, both exact
 * in a double, so that dividing them is reading. Most numbers of a log are such. */
static int few_digits(double x, char digits[20], int *point) {
    int k = power_for(x, 15);
    double n = k < 0 ? 0 : nearbyint(x * powers[k]);
    if (!(n >= 1 && n < 1e15) || n / powers[k] != x) return 0;
    char buf[20];
    int len = 0, trailing = 0;
    uint64_t rest = (uint64_t)n;
    for (; rest % 10 == 0; rest /= 10) trailing++;
    for (; rest; rest /= 10) buf[len++] = (char)('0' + rest % 10);
    for (int i = 0; i < len; i++) digits[i] = buf[len - 1 - i];
    digits[len] = 0;
    *point = len + trailing - k;
    return len;
}

/* Writes |x| as 0.DDD * 10^point with the fewest digits that read back as x, and among those the
 * nearest. For normal numbers 15 digits are never too many: a decimal of up to 15 survives the way
 * through a double, so trailing zeros are all there is to save. Below a power of two the doubles
 * are twice as dense as above it, so there the next decimal up may read back where the nearest does
 * not. */
static int shortest_digits(double x, char digits[20], int *point) {
    int exponent, few = few_digits(x, digits, point);
    if (few) return few;
    bool power_of_two = frexp(x, &exponent) == 0.5;
    for (int n = x < 0x1p-1022 ? 1 : 15;; n++) {
        char buf[32];
        snprintf(buf, sizeof buf, "%.*e", n - 1, x);
        bool same = strtod(buf, NULL) == x;
        char *last = n > 1 ? buf + n : buf; /* behind the first digit stands the point */
        if (!same && power_of_two && *last < '9') {
            ++*last;
            same = strtod(buf, NULL) == x;
        }
        if (!same && n < 17) continue;
        char *e = strchr(buf, 'e');
        *point = atoi(e + 1) + 1;
        int len = 0;
        for (char *p = buf; p < e; p++)
            if (*p != '.') digits[len++] = *p;
        while (len > 1 && digits[len - 1] == '0') len--;
        digits[len] = 0;
        return len;
    }
}

void at_text_add_double(at_text *t, double x) {
    if (isnan(x)) {
        at_text_add(t, "nan");
        return;
    }
    if (signbit(x)) at_text_add(t, "-");
    x = fabs(x);
    if (isinf(x)) {
        at_text_add(t, "inf");
        return;
    }
    if (x == 0) {
        at_text_add(t, "0.0");
        return;
    }
    char digits[20];
    int point, len = shortest_digits(x, digits, &point);
    if (point < -3 || point > 16) {
        at_text_addn(t, digits, 1);
        if (len > 1) at_text_addf(t, ".%s", digits + 1);
        at_text_addf(t, "e%+03d", point - 1);
    } else if (point <= 0) {
        at_text_addf(t, "0.%.*s%s", -point, "000", digits);
    } else if (point >= len) {
        at_text_addf(t, "%s%.*s.0", digits, point - len, "0000000000000000");
    } else {
        at_text_addf(t, "%.*s.%s", point, digits, digits + point);
    }
}

/* ---- JSON strings ---------------------------------------------------------------------------- */

void at_text_add_json_string(at_text *t, const char *utf8) {
    static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* character, its letter */
    at_text_add(t, "\"");
    for (const char *s = utf8, *end = s + strlen(s); s < end;) {
        const char *run = s; /* of what stays as it is */
        while (s < end && *s >= ' ' && *s < 0x7f && *s != '"' && *s != '\\') s++;
        if (s > run) {
            at_text_addn(t, run, (size_t)(s - run));
            continue;
        }
        int32_t c = at_utf8_next(&s, end);
        const char *n = named;
        if (c < 0) c = 0xfffd;
        while (*n && (unsigned char)*n != c) n += 2;
        if (*n) {
            at_text_addf(t, "\\%c", n[1]);
        } else if (c >= 0x10000) {
            at_text_addf(t, "\\u%04x\\u%04x", 0xd800u + ((unsigned)(c - 0x10000) >> 10),
                         0xdc00u + ((unsigned)(c - 0x10000) & 0x3ff));
        } else {
            at_text_addf(t, "\\u%04x", (unsigned)c);
        }
    }
    at_text_add(t, "\"");
}

/* ---- strings of Python ----------------------------------------------------------------------- */

void at_text_add_python_string(at_text *t, const char *s) {
    char quote = strchr(s, '\'') && !strchr(s, '"') ? '"' : '\'';
    at_text_addf(t, "%c", quote);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '\\' || c == (unsigned char)quote) at_text_addf(t, "\\%c", c);
        else if (c == '\n') at_text_add(t, "\\n");
        else if (c == '\r') at_text_add(t, "\\r");
        else if (c == '\t') at_text_add(t, "\\t");
        else if (c < 0x20 || c == 0x7f) at_text_addf(t, "\\x%02x", c);
        else at_text_addn(t, s, 1);
    }
    at_text_addf(t, "%c", quote);
}

/* ---- words of a shell ------------------------------------------------------------------------ */

void at_text_add_shell(at_text *t, const char *word, size_t n) {
    bool plain = n > 0;
    for (size_t i = 0; i < n; i++)
        plain &= isalnum((unsigned char)word[i]) || (word[i] && strchr("_-+=.,:/@%", word[i]));
    if (plain) {
        at_text_addn(t, word, n);
        return;
    }
    at_text_add(t, "'");
    for (size_t i = 0; i < n; i++) {
        if (word[i] == '\'') at_text_add(t, "'\\''");
        else at_text_addn(t, word + i, 1);
    }
    at_text_add(t, "'");
}

void at_text_add_word(at_text *t, const char *word) {
    at_text_add(t, " ");
    at_text_add_shell(t, word, strlen(word));
}

const char *at_shell_word(at_arena *a, const char *word) {
    at_text t = {0};
    at_text_add_shell(&t, word, strlen(word));
    return at_text_take(a, &t);
}

/* ---- nearest name ---------------------------------------------------------------------------- */

enum { LONGEST_NAME = 127 };

/* Insertions, deletions, replacements and swaps of neighbours, each at cost 1. */
static int edit_distance(const char *x, const char *y) {
    int nx = (int)strlen(x), ny = (int)strlen(y);
    int rows[3][LONGEST_NAME + 1];
    int *before = rows[0], *above = rows[1], *row = rows[2];
    for (int j = 0; j <= ny; j++) above[j] = j;
    for (int i = 1; i <= nx; i++) {
        row[0] = i;
        for (int j = 1; j <= ny; j++) {
            int d = above[j - 1] + (x[i - 1] != y[j - 1]);
            if (above[j] + 1 < d) d = above[j] + 1;
            if (row[j - 1] + 1 < d) d = row[j - 1] + 1;
            if (i > 1 && j > 1 && x[i - 1] == y[j - 2] && x[i - 2] == y[j - 1] &&
                before[j - 2] + 1 < d)
                d = before[j - 2] + 1;
            row[j] = d;
        }
        int *reused = before;
        before = above, above = row, row = reused;
    }
    return above[ny];
}

const char *at_nearest(const char *s, const char *const *names, int n) {
    size_t len = strlen(s);
    if (len > LONGEST_NAME) return NULL;
    const char *best = NULL;
    /* Half of a short word is another word. */
    int limit = len < 5 ? 1 : len < 9 ? 2 : (int)len / 3;
    if (limit >= (int)len) limit = (int)len - 1; /* something must be left of it */
    for (int i = 0; i < n; i++) {
        if (strlen(names[i]) > LONGEST_NAME) continue;
        int d = edit_distance(s, names[i]);
        if (d > limit) continue;
        best = names[i];
        limit = d - 1; /* the first of the nearest */
    }
    return best;
}

void at_text_add_names(at_text *out, const char *s, const char *const *names, int n) {
    const char *near = at_nearest(s, names, n);
    for (int i = 0; i < n; i++) at_text_addf(out, "%s%s", i ? ", " : "", names[i]);
    if (near) at_text_addf(out, "; did you mean %s?", near);
}

at_status at_parse_int(const char *text, const char *what, int64_t min, int64_t max, int64_t *out,
                       at_error *err) {
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    bool is_integer = end != text && !*end && !isspace((unsigned char)*text);
    if (!is_integer || errno || v < min || v > max) {
        if (!*text) text = "\"\"";
        const char *wanted = is_integer ? "must be" : "not an integer";
        if (max == INT64_MAX && !errno)
            return at_fail(err, AT_E_USAGE, "%s %s: %s%s at least %lld", what, text, wanted,
                           is_integer ? "" : " of", (long long)min);
        return at_fail(err, AT_E_USAGE, "%s %s: %s from %lld to %lld", what, text, wanted,
                       (long long)min, (long long)max);
    }
    *out = v;
    return AT_OK;
}
