/* base/text.h: texts that are put together, and texts for people. */
#ifndef AT_BASE_TEXT_H
#define AT_BASE_TEXT_H

#include <ctype.h>
#include <string.h>

#include "base/memory.h"

/* Are they equal, or both NULL? */
static inline bool at_same_text(const char *x, const char *y) {
    return x == y || (x && y && !strcmp(x, y));
}

/* ---- text buffer (text.c) -------------------------------------------------------------------- */

/* Start with {0}. data is always NUL-terminated once anything was added (NULL before that). */
typedef struct at_text {
    char *data;
    size_t len, cap;
} at_text;
void at_text_free(at_text *t);
void at_text_clear(at_text *t); /* keeps the memory */
void at_text_add(at_text *t, const char *s);
void at_text_addn(at_text *t, const char *s, size_t n);
void at_text_addf(at_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void at_text_add_int(at_text *t, int64_t x); /* as "%lld", in a fifth of its time */
void at_text_add_blanks(at_text *t, int n);
const char *at_text_str(const at_text *t);   /* "" when empty */
char *at_text_take(at_arena *a, at_text *t); /* a copy in a; t is freed */
/* May it stand in a name: of C, of a tensor, of a knob? */
static inline bool at_in_name(char c) { return isalnum((unsigned char)c) || c == '_'; }
/* The ending of a noun behind a number: "" of 1, else "s". */
static inline const char *at_plural(int64_t n) { return n == 1 ? "" : "s"; }
/* x > 0 with so many decimal digits, at most 15, where they are exact; else x. */
double at_with_digits(double x, int digits);
/* Python's shortest round-trip spelling: 0.4, 1e-05, 1000000000.0, nan, inf. */
void at_text_add_double(at_text *t, double x);
/* JSON string with quotes, escaped, non-ASCII as \uXXXX (as Python's json does). */
void at_text_add_json_string(at_text *t, const char *utf8);
/* Bytes as base64, and back; false: the text is none. */
void at_text_add_base64(at_text *t, const char *bytes, size_t n);
bool at_base64_read(at_arena *a, const char *text, char **bytes, size_t *n);
/* 'quoted', as Python's repr does. */
void at_text_add_python_string(at_text *t, const char *s);
/* The first n bytes of word as a shell reads them back, in '' where it would not else. */
void at_text_add_shell(at_text *t, const char *word, size_t n);
void at_text_add_word(at_text *t, const char *word); /* all of it, behind a blank */
const char *at_shell_word(at_arena *a, const char *word);
/* Text of others in C (c_text.c). A name is reserved where no variable can have it: words of C and
 * C++, macros of headers, and what emitted files keep for themselves (at_, omp_, a leading _). */
#define AT_C_NAME_MAX 120
bool at_c_is_reserved(const char *name);
/* Why it cannot name a function of C and C++; NULL: it can. */
const char *at_c_name_fault(const char *name);
/* Makes a name for a function of any text: what C does not allow becomes '_', never two in a row; a
 * long one is cut, with a hash of all of it behind. The same text gives the same name. */
char *at_c_name(at_arena *a, const char *text);
/* Text inside a comment of C: lines stay lines; what would end the comment, join lines, turn the
 * direction of writing or not be seen is taken apart or spelled <1b>, <U+202E>. */
void at_text_add_c_comment(at_text *t, const char *text);
/* "text" as a constant of C, whatever its bytes. */
void at_text_add_c_string(at_text *t, const char *text);
/* AT_E_USAGE unless text is an integer within [min, max]; what names it in the message. */
at_status at_parse_int(const char *text, const char *what, int64_t min, int64_t max, int64_t *out,
                       at_error *err);
/* The nearest of n names to s (edit distance, at most 2 or a third of its length), or NULL. */
const char *at_nearest(const char *s, const char *const *names, int n);
/* Appends "a, b, c", and "; did you mean b?" where one of them is near to s. */
void at_text_add_names(at_text *out, const char *s, const char *const *names, int n);

/* A file's text lies in the program as `const char name[]`, which is declared elsewhere. */
#define AT_TEXT_OF_FILE(name, path)                                                                \
    __asm__(".pushsection .rodata\n"                                                               \
            ".global " #name "\n"                                                                  \
            ".hidden " #name "\n" #name ":\n"                                                      \
            ".incbin \"" path "\"\n"                                                               \
            ".byte 0\n"                                                                            \
            ".popsection\n")

/* ---- text for people (visible.c, visible_text.c) --------------------------------------------- */

/* The character at *s, which is stepped over; -1: no UTF-8, one byte is stepped over. *s < end. */
int32_t at_utf8_next(const char **s, const char *end);
size_t at_utf8_end(const char *text, size_t len); /* where it stops being UTF-8; len: never */
/* What a terminal, a page or a reader of C would obey or not see: controls, order of writing,
 * joiners, tags. */
bool at_is_unseen(int32_t c);
/* Text of a file as one line that can be shown: what is unseen becomes \n, \x1b, \u202e, and a byte
 * that is no UTF-8 \xff. A backslash stays alone: this is to be looked at, not to be read back.
 * What has been made visible stays as it is when that is done again. */
void at_text_add_visible(at_text *out, const char *text);
const char *at_visible(at_arena *a, const char *text); /* one line */
/* Into size bytes, cut between characters where it is longer; the length. */
size_t at_visible_into(char *out, size_t size, const char *text, bool lines);
/* Character by character; the length of what is written to out, without NUL. */
enum { AT_VISIBLE_BYTES = 16 };
int at_visible_next(const char **s, const char *end, bool lines, char out[AT_VISIBLE_BYTES]);

#endif
