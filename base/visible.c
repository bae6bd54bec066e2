/* base/visible.c: what of a text people see as it is, and how the rest is written. Texts come from
 * files that somebody else may have written: what a terminal or a page would obey instead of
 * showing must not reach it. */
#include "base/base.h"

#include <string.h>

/* ---- what is not shown ----------------------------------------------------------------------- */

bool at_is_unseen(int32_t c) {
    static const struct {
        int32_t from, to;
    } ranges[] = {
        {0, 0x1f},          /* C0: escape sequences, cursor, bell */
        {0x7f, 0x9f},       /* delete; C1: the same sequences in one character */
        {0xad, 0xad},       /* a hyphen that may not be there */
        {0x61c, 0x61c},     /* order of writing: mark, */
        {0x180e, 0x180e},   /* (a separator that is not there) */
        {0x200b, 0x200f},   /* joiners and their opposite; marks, */
        {0x2028, 0x202e},   /* ends of line and paragraph, embeddings and overrides, */
        {0x2060, 0x206f},   /* operators that are not there, isolates, shapes of digits */
        {0xfeff, 0xfeff},   /* byte order mark */
        {0xfff9, 0xfffb},   /* annotations */
        {0xe0000, 0xe007f}, /* tags: a text that nobody sees */
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i].from && c <= ranges[i].to) return true;
    return false;
}

/* The spelling of the character at *s, which is stepped over; its length. */
static int spell(const char **s, const char *end, const char *kept, char out[AT_VISIBLE_BYTES]) {
    const char *from = *s;
    int32_t c = at_utf8_next(s, end);
    if (c < 0) return snprintf(out, AT_VISIBLE_BYTES, "\\x%02x", (unsigned char)*from);
    if (!at_is_unseen(c) || (c && c < 0x20 && strchr(kept, c))) {
        memcpy(out, from, (size_t)(*s - from));
        return (int)(*s - from);
    }
    if (c == '\n' || c == '\r' || c == '\t')
        return snprintf(out, AT_VISIBLE_BYTES, "\\%c", c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
    const char *form = c < 0x80 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x";
    return snprintf(out, AT_VISIBLE_BYTES, form, (unsigned)c);
}

int at_visible_next(const char **s, const char *end, bool lines, char out[AT_VISIBLE_BYTES]) {
    return spell(s, end, lines ? "\n\t" : "", out);
}

size_t at_visible_into(char *out, size_t size, const char *text, bool lines) {
    const char *end = text + strlen(text);
    char spelled[AT_VISIBLE_BYTES];
    size_t n = 0;
    while (text < end) {
        size_t length = (size_t)spell(&text, end, lines ? "\n\t" : "", spelled);
        if (n + length >= size) break;
        memcpy(out + n, spelled, length);
        n += length;
    }
    out[n] = 0;
    return n;
}
