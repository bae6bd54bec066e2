/* base/utf8.c: characters of a text. */
#include "base/base.h"

int32_t at_utf8_next(const char **s, const char *end) {
    static const int32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    const char *p = *s;
    unsigned char first = (unsigned char)*p;
    int n = first < 0x80 ? 1 : first < 0xc0 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    *s = p + 1;
    if (n == 1) return first;
    if (!n || first >= 0xf8 || end - p < n) return -1;
    int32_t c = first & (0x7f >> n);
    for (int i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) return -1;
        c = c << 6 | (p[i] & 0x3f);
    }
    if (c < smallest[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return -1;
    *s = p + n;
    return c;
}

size_t at_utf8_end(const char *text, size_t len) {
    for (const char *p = text, *end = text + len; p < end;) {
        const char *from = p;
        if (at_utf8_next(&p, end) < 0) return (size_t)(from - text);
    }
    return len;
}
