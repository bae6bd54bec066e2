/* base/base64.c: bytes as letters, digits, + and /, for texts that hold what is no text. */
#include "base/base.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void at_text_add_base64(at_text *t, const char *bytes, size_t n) {
    const unsigned char *b = (const unsigned char *)bytes;
    for (size_t i = 0; i < n; i += 3) {
        const size_t num = n - i < 3 ? n - i : 3;
        unsigned group = (unsigned)b[i] << 16;
        if (num > 1) group |= (unsigned)b[i + 1] << 8;
        if (num > 2) group |= b[i + 2];
        char four[4] = "====";
        for (size_t k = 0; k <= num; k++) four[k] = digits[group >> (18 - 6 * k) & 63];
        at_text_addn(t, four, 4);
    }
}

static int digit_of(char c) {
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

bool at_base64_read(at_arena *a, const char *text, char **bytes, size_t *n) {
    const size_t length = strlen(text);
    *n = length / 4 * 3;
    *bytes = AT_NEW_ARRAY(a, char, *n + 1);
    if (length % 4) return false;
    for (size_t i = 0; i < length; i += 4) {
        const bool last = i + 4 == length;
        const size_t pads = last ? (text[i + 3] == '=') + (text[i + 2] == '=') : 0;
        unsigned group = 0;
        for (size_t k = 0; k < 4; k++) {
            const int value = k < 4 - pads ? digit_of(text[i + k]) : 0;
            if (value < 0) return false;
            group = group << 6 | (unsigned)value;
        }
        for (size_t k = 0; k < 3; k++) (*bytes)[i / 4 * 3 + k] = (char)(group >> (16 - 8 * k));
        *n -= pads;
    }
    return true;
}
