/* base/visible_text.c: visible spellings in growing texts, and in an arena. */
#include "base/base.h"

#include <string.h>

static void add(at_text *out, const char *s, bool lines) {
    char spelled[AT_VISIBLE_BYTES];
    for (const char *end = s + strlen(s); s < end;) {
        int length = at_visible_next(&s, end, lines, spelled);
        at_text_addn(out, spelled, (size_t)length);
    }
}

void at_text_add_visible(at_text *out, const char *text) { add(out, text, false); }

void at_text_add_visible_lines(at_text *out, const char *text) { add(out, text, true); }

const char *at_visible(at_arena *a, const char *text) {
    at_text t = {0};
    at_text_add_visible(&t, text);
    return at_text_take(a, &t);
}
