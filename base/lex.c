/* base/lex.c: tokens of the two notations and of expressions, of which # begins a comment, and
 * errors that show the place. */
#include "base/base.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool starts_name(char c) { return isalpha((unsigned char)c) || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

at_status at_lex_start(at_lex *l, const char *text, const char *what, at_error *err) {
    *l = (at_lex){.text = text, .pos = text, .what = what, .start = text, .line = 1, .col = 1};
    return at_lex_next(l, err);
}

/* A token is at l->start, line and col; this is where it turns out to be none. */
static at_status bad_token(const at_lex *l, at_error *err, const char *text) {
    return at_lex_fail_at(l, l->line, l->col, err, "%s", text);
}

static at_status number(at_lex *l, at_error *err) {
    const char *p = l->start;
    bool whole = true;
    while (is_digit(*p)) p++;
    if (p[0] == '.' && is_digit(p[1])) { /* "0..H" is a range, not a number */
        whole = false;
        p++;
        while (is_digit(*p)) p++;
    }
    if (*p == 'e' || *p == 'E') {
        const char *q = p + 1;
        if (*q == '+' || *q == '-') q++;
        if (is_digit(*q)) {
            whole = false;
            while (is_digit(*q)) q++;
            p = q;
        }
    }
    if (at_in_name(*p)) return bad_token(l, err, "a number runs into a name");
    l->pos = p;
    l->kind = whole ? AT_TOK_INT : AT_TOK_FLOAT;
    l->number = strtod(l->start, NULL);
    if (whole) {
        errno = 0;
        l->integer = strtoll(l->start, NULL, 10);
        if (errno) return bad_token(l, err, "an integer exceeds 2^63 - 1");
    } else if (isinf(l->number)) {
        return bad_token(l, err, "a number exceeds a double");
    }
    return AT_OK;
}

static int operator_length(const char *p) {
    static const char pairs[][3] = {"=>", "==", "!=", "<=", ">=", "<<",
                                    ">>", "&&", "||", "..", "//"};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (!strncmp(p, pairs[i], 2)) return 2;
    return 1;
}

at_status at_lex_next(at_lex *l, at_error *err) {
    const char *p = l->pos;
    /* Up to the previous token's end the columns are those of that token's line. */
    const bool has_last = p > l->text; /* a token before */
    const int last_line = l->line, last_col = l->col + (int)(p - l->start);
    int col = last_col;
    for (bool comment = false; *p && (comment || *p == '#' || isspace((unsigned char)*p)); p++) {
        comment = *p == '#' || (comment && *p != '\n');
        col++;
        if (*p == '\n') l->line++, col = 1;
    }
    l->start = l->pos = p;
    l->col = col;
    l->integer = 0;
    l->number = 0;
    if (!*p) {
        l->kind = AT_TOK_END;
        if (has_last) l->line = last_line, l->col = last_col; /* whatever blanks come behind */
    } else if (starts_name(*p)) {
        l->kind = AT_TOK_NAME;
        while (at_in_name(*l->pos)) l->pos++;
    } else if (is_digit(*p)) {
        AT_TRY(number(l, err));
    } else if (*p == '"') {
        l->kind = AT_TOK_STRING;
        l->pos += 1 + strcspn(p + 1, "\"\n");
        if (*l->pos != '"') return bad_token(l, err, "a string without its closing quote");
        l->pos++;
    } else if (isgraph((unsigned char)*p) && (unsigned char)*p < 0x80) {
        l->kind = AT_TOK_OP;
        l->pos += operator_length(p);
    } else {
        return bad_token(l, err, "a character that means nothing here");
    }
    l->length = (int)(l->pos - l->start);
    return AT_OK;
}

bool at_lex_is(const at_lex *l, const char *op_or_name) {
    return (l->kind == AT_TOK_NAME || l->kind == AT_TOK_OP) &&
           strlen(op_or_name) == (size_t)l->length &&
           !memcmp(l->start, op_or_name, (size_t)l->length);
}

/* #line 3 "sub/of.te" tells where the next line stands. */
static bool tells_place(const char *line, at_lex_place *out) {
    char *end;
    if (strncmp(line, "#line ", 6)) return false;
    const long from = strtol(line + 6, &end, 10);
    *out = (at_lex_place){.line = (int)(from & 0x3fffffff)};
    if (strncmp(end, " \"", 2)) return true;
    out->file = end + 2;
    out->file_length = (int)strcspn(out->file, "\"\n");
    return true;
}

at_lex_place at_lex_place_of(const at_lex *l, int line) {
    at_lex_place x = {.line = 1};
    const char *p = l->text;
    for (int at = 1; p && at < line; at++) {
        if (!tells_place(p, &x)) x.line++;
        p = strchr(p, '\n');
        if (p) p++;
        else x.line += line - at - 1;
    }
    return x;
}

const char *at_lex_path_of(at_arena *a, const at_lex *l, const at_lex_place *place) {
    const char *slash = strrchr(l->what, '/');
    if (!place->file) return l->what;
    return at_format(a, "%.*s%.*s", slash ? (int)(slash - l->what) + 1 : 0, l->what,
                     place->file_length, place->file);
}

/* "path:line:col: text", the source line, and a caret under the column. */
static at_status show_line(const char *path, int line, int col, const char *from, at_error *err,
                           const char *text) {
    if (!from || !*from) /* behind the text there is nothing to show */
        return at_fail(err, AT_E_INPUT, "%s:%d:%d: %s", path, line, col, text);
    /* Of a long line, a window around the place. */
    enum { WIDTH = 100 };
    int length = (int)strcspn(from, "\n"), skip = 0;
    if (col > length + 1) col = length + 1;
    if (length > WIDTH && col > WIDTH / 2) skip = col - WIDTH / 2;
    while ((from[skip] & 0xc0) == 0x80) skip++; /* not into the middle of a character */
    const char *p = from + skip, *place = from + col - 1, *end = from + length;
    if (end - p > WIDTH) end = p + WIDTH;
    at_text quoted = {0}, caret = {0};
    while (p < end) {
        char spelled[AT_VISIBLE_BYTES];
        bool before = p < place;
        int n = at_visible_next(&p, end, true, spelled);
        at_text_addn(&quoted, spelled, (size_t)n);
        for (int i = 0; before && i < n; i++)
            if ((spelled[i] & 0xc0) != 0x80) at_text_add(&caret, *spelled == '\t' ? "\t" : " ");
    }
    at_status s = at_fail_lines(err, AT_E_INPUT, "%s:%d:%d: %s\n%s\n%s^", path, line, col, text,
                                at_text_str(&quoted), at_text_str(&caret));
    at_text_free(&quoted);
    at_text_free(&caret);
    return s;
}

static at_status show(const at_lex *l, int line, int col, at_error *err, const char *text) {
    const char *from = l->text;
    const at_lex_place stands = at_lex_place_of(l, line);
    for (int i = 1; i < line && from; i++) {
        from = strchr(from, '\n');
        if (from) from++;
    }
    if (!l->text) return at_fail(err, AT_E_INPUT, "%s: %s", l->what, text);
    at_arena *a = at_arena_new();
    const char *path = at_lex_path_of(a, l, &stands);
    const at_status s = show_line(path, stands.line, col, from, err, text);
    at_arena_free(a);
    return s;
}

at_status at_lex_fail_at(const at_lex *l, int line, int col, at_error *err, const char *fmt, ...) {
    char text[600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return show(l, line, col, err, text);
}

at_status at_lex_fail(const at_lex *l, at_error *err, const char *fmt, ...) {
    char text[600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    size_t n = strlen(text);
    if (l->kind == AT_TOK_END) snprintf(text + n, sizeof text - n, ", got the end");
    else snprintf(text + n, sizeof text - n, ", got '%.*s'", l->length, l->start);
    return show(l, l->line, l->col, err, text);
}

at_status at_lex_expect(at_lex *l, const char *op_or_name, at_error *err) {
    if (!at_lex_is(l, op_or_name)) return at_lex_fail(l, err, "expected '%s'", op_or_name);
    return at_lex_next(l, err);
}
