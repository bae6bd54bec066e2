/* foreign/head_lines.c: the comment that a kernel's file begins with, line by line. */
#include <ctype.h>
#include <string.h>

#include "foreign/foreign_int.h"

static const char *const words[HEAD_WORDS] = {
    "args",    "sizes",     "knob",  "split",     "order", "require",
    "default", "compiler",  "flags", "workspace", "call",  "operations",
    "data",    "reference", "limit", "unchecked", NULL};

/* ---- the comment ----------------------------------------------------------------------------- */

typedef struct comment {
    const char *begin, *end; /* what is in it, the word `autotune` aside */
    const char *mark;        /* that lines begin with: " *" lines, "//", "!" */
} comment;

static bool is_blank_char(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* Lines that begin with a mark, one after the other. */
static const char *end_of_lines(const char *p, const char *stop, const char *mark) {
    while (p < stop) {
        const char *line = p;
        while (line < stop && is_blank_char(*line)) line++;
        if ((size_t)(stop - line) < strlen(mark) || strncmp(line, mark, strlen(mark)) != 0)
            return p;
        const char *end = memchr(line, '\n', (size_t)(stop - line));
        if (!end) return stop;
        p = end + 1;
    }
    return p;
}

static bool find_comment(const char *text, size_t length, comment *out) {
    static const char word[] = "autotune";
    const char *p = text, *stop = text + length;
    if (length > 2 && !memcmp(text, "\xef\xbb\xbf", 3)) p += 3;
    while (p < stop && isspace((unsigned char)*p)) p++;
    const char *mark = stop - p > 1 && !memcmp(p, "/*", 2)   ? "*"
                       : stop - p > 1 && !memcmp(p, "//", 2) ? "//"
                       : p < stop && *p == '!'               ? "!"
                                                             : NULL;
    if (!mark) return false;
    const char *first = p;
    p += *mark == '!' ? 1 : 2;
    while (p < stop && (isspace((unsigned char)*p) || *p == '*')) p++;
    if ((size_t)(stop - p) < sizeof word || memcmp(p, word, sizeof word - 1) != 0 ||
        !isspace((unsigned char)p[sizeof word - 1]))
        return false;
    *out = (comment){.begin = p + sizeof word - 1, .mark = mark};
    if (*mark != '*') out->end = end_of_lines(first, stop, mark);
    else
        for (out->end = out->begin; out->end < stop; out->end++)
            if (stop - out->end > 1 && !memcmp(out->end, "*/", 2)) break;
    return true;
}

bool at_is_foreign(const char *text, size_t length) {
    comment c;
    return find_comment(text, length, &c);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static at_head_word word_of(const char *line, const char *end) {
    while (line < end && is_blank_char(*line)) line++;
    for (int i = 0; i < HEAD_COMPUTE; i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(end - line) < n || memcmp(line, words[i], n) != 0) continue;
        if (line + n == end || is_blank_char(line[n])) return (at_head_word)i;
    }
    return HEAD_COMPUTE;
}

static const char *trimmed(const char *line, const char *end) {
    while (end > line && isspace((unsigned char)end[-1])) end--;
    return end;
}

/* A line that ends in the middle of something. */
static bool goes_on(at_head_word word, const char *line, const char *end) {
    end = trimmed(line, end);
    return end > line && word != HEAD_FLAGS && strchr(",(&|", end[-1]);
}

/* A line with two words, of which the first is none of a head: no computation begins like this. */
static at_status check_word(const at_head *h, const char *from, const char *end, int line,
                            at_error *err) {
    size_t n = 0, gap = 0;
    while (from < end && is_blank_char(*from)) from++;
    while (from + n < end && at_in_name(from[n])) n++;
    while (from + n + gap < end && is_blank_char(from[n + gap])) gap++;
    const char *second = from + n + gap;
    const bool is_word = second < end && (isalnum((unsigned char)*second) || *second == '"');
    if (!n || isdigit((unsigned char)*from) || !gap || !is_word) return AT_OK;
    if (!strncmp(from, "where ", 6) || !strncmp(second, "where ", 6)) return AT_OK;
    const char *word = at_strndup(h->arena, from, n);
    const char *nearest = at_nearest(word, words, HEAD_COMPUTE);
    const char *begin = from;
    while (begin > h->pub.text && begin[-1] != '\n') begin--;
    const at_lex l = {.text = h->pub.text, .what = h->pub.path};
    const int col = (int)(from - begin) + 1;
    if (nearest)
        return at_lex_fail_at(&l, line, col, err,
                              "no line begins with \"%s\"; did you mean \"%s\"?", word, nearest);
    at_text all = {0};
    for (int i = 0; i < HEAD_COMPUTE; i++) at_text_addf(&all, "%s%s", i ? ", " : "", words[i]);
    at_status s = at_lex_fail_at(&l, line, col, err,
                                 "no line begins with \"%s\"; a line computes a tensor, as in "
                                 "c[n:N] = a[n], or begins with %s",
                                 word, at_text_str(&all));
    at_text_free(&all);
    return s;
}

typedef struct splitter {
    at_head *h;
    const char *text;
    size_t length; /* of the file up to the end of the head */
    char *compute; /* [length + 1] */
} splitter;

static char *blank(const splitter *s, size_t length) {
    char *out = at_alloc(s->h->arena, length + 1);
    for (size_t i = 0; i < length; i++) out[i] = s->text[i] == '\n' ? '\n' : ' ';
    out[length] = 0;
    return out;
}

/* from to end of the file are one more item, or more of the last one. */
static void add(splitter *s, at_head_word word, bool more, const char *from, const char *end,
                int line) {
    at_head *h = s->h;
    size_t at = (size_t)(from - s->text), upto = (size_t)(end - s->text);
    if (word == HEAD_COMPUTE) {
        memcpy(s->compute + at, from, upto - at);
        return;
    }
    char *text = blank(s, upto);
    if (more) {
        at_head_item *last = &h->items.data[h->items.len - 1];
        memcpy(text, last->text, strlen(last->text));
        last->text = text;
    } else *at_push(h->arena, &h->items) = (at_head_item){word, text, line};
    memcpy(text + at, from, upto - at);
}

at_status at_head_split(at_head *h, const char *text, size_t length, at_error *err) {
    comment c;
    bool more = false;
    at_head_word word = HEAD_COMPUTE;
    int line = 1;
    if (!find_comment(text, length, &c)) AT_BUG("%s has no head", h->pub.path);
    splitter s = {h, text, (size_t)(c.end - text), NULL};
    for (size_t i = 0; i < s.length; i++)
        if (((unsigned char)text[i] < ' ' && !isspace((unsigned char)text[i])) || text[i] == 127)
            return at_fail(err, AT_E_INPUT, "%s: byte %zu of its head is no text", h->pub.path, i);
    s.compute = blank(&s, s.length);
    for (const char *p = text; p < c.begin; p++) line += *p == '\n';
    for (const char *p = c.begin; p < c.end; line++) {
        const char *end = memchr(p, '\n', (size_t)(c.end - p));
        if (!end) end = c.end;
        const char *from = p;
        while (from < end && is_blank_char(*from)) from++;
        if (p != c.begin && end - from >= (long)strlen(c.mark) &&
            !strncmp(from, c.mark, strlen(c.mark)))
            from += strlen(c.mark);
        if (!more) {
            word = word_of(from, end);
            while (word != HEAD_COMPUTE && is_blank_char(*from)) from++;
            if (word != HEAD_COMPUTE) from += strlen(words[word]);
            else AT_TRY(check_word(h, from, end, line, err));
        }
        const char *stop = trimmed(from, end);
        if (stop > from || (word != HEAD_COMPUTE && !more)) add(&s, word, more, from, stop, line);
        if (stop > from) more = goes_on(word, from, stop);
        p = end + (end < c.end);
    }
    *at_push(h->arena, &h->items) = (at_head_item){HEAD_COMPUTE, s.compute, 1};
    return AT_OK;
}

at_status at_head_start(const at_head *h, const at_head_item *x, at_lex *l, at_error *err) {
    AT_TRY(at_lex_start(l, x->text, h->pub.path, err));
    l->text = h->pub.text;
    l->takes_texts = true;
    return AT_OK;
}

const char *at_head_part(const at_head *h, const char *text, const char *begin, const char *end) {
    char *out = at_strndup(h->arena, text, (size_t)(end - text));
    for (size_t i = 0; i < (size_t)(begin - text); i++)
        if (out[i] != '\n') out[i] = ' ';
    return out;
}

const char *at_head_rest(const at_head *h, const char *text, const at_lex *from, const at_lex *to) {
    return at_head_part(h, text, from->start, to ? to->start : text + strlen(text));
}
