/* base/visible_text.c: visible spellings in growing texts, and in an arena. */
#include "base/base.h"

#include <string.h>

void at_text_add_visible(at_text *out, const char *text) {
    char spelled[AT_VISIBLE_BYTES];
    for (const char *end = text + strlen(text); text < end;) {
        int length = at_visible_next(&text, end, false, spelled);
        at_text_addn(out, spelled, (size_t)length);
    }
}

const char *at_visible(at_arena *a, const char *text) {
    at_text t = {0};
    at_text_add_visible(&t, text);
    return at_text_take(a, &t);
}
