/* tests/codegen/objdump.c: see objdump.h. */
#include "tests/codegen/objdump.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many lanes the mask at this place lets through; -1: none there. */
static int mask_at(const at_tile *t, long at) {
    int32_t lane[8];
    int n = 0;
    if (at < 0 || at + (long)sizeof lane > t->code_bytes) return -1;
    memcpy(lane, t->code + at, sizeof lane);
    while (n < 8 && lane[n] == -1) n++;
    for (int i = n; i < 8; i++)
        if (lane[i]) return -1;
    return n;
}

/* The bytes at this place, one for each lane. */
static void spread_at(char *out, const at_tile *t, long at) {
    out += sprintf(out, "lanes");
    for (int i = 0; i < t->lanes && at >= 0 && at + i < t->code_bytes; i++)
        out += sprintf(out, " %d", t->code[at + i]);
}

/* How many equal numbers stand at this place. */
static void numbers_at(char *out, const at_tile *t, long at) {
    float first = 0, next;
    int n = 0;
    if (at < 0 || at + 4L * AT_TILE_NUMBERS > t->code_bytes) return;
    memcpy(&first, t->code + at, sizeof first);
    for (; n < AT_TILE_NUMBERS; n++) {
        memcpy(&next, t->code + at + 4L * n, sizeof next);
        if (memcmp(&next, &first, sizeof next) != 0) break;
    }
    sprintf(out, "%d times %g", n, (double)first);
}

static void replace(char *text, const char *from, const char *to) {
    char rest[256];
    char *at = strstr(text, from);
    if (!at) return;
    snprintf(rest, sizeof rest, "%s%s", to, at + strlen(from));
    strcpy(at, rest); /* never longer than a line */
}

/* One spelling where releases differ or the place of things in memory shows. */
static void normalize(char *s, const at_tile *t) {
    char *comment = strchr(s, '#');
    if (comment && strstr(s, "[rip")) {
        int n = mask_at(t, strtol(comment + 1, NULL, 16));
        char *mem = strchr(s, ',') + 1;
        if (!strncmp(s, "vpmovzxbd", 9)) spread_at(mem, t, strtol(comment + 1, NULL, 16));
        else if (!strncmp(s, "lea", 3)) numbers_at(mem, t, strtol(comment + 1, NULL, 16));
        else sprintf(mem, "mask of %d", n);
    }
    char *to = s;
    for (char *from = s; *from; from++)
        if (*from != ' ' || (to > s && to[-1] != ' ')) *to++ = *from;
    while (to > s && to[-1] == ' ') to--;
    *to = 0;
    replace(s, "{evex} ", ""); /* what some releases say of an encoding, not of what it does */
    replace(s, "+0x0]", "]");
    replace(s, "DWORD BCST", "all DWORD PTR");
    char *repeated = strstr(s, "{1to");
    if (!repeated) return;
    *repeated = 0;
    replace(s, "DWORD PTR", "all DWORD PTR");
}

static bool is_padding(const char *s) {
    return !strncmp(s, "nop", 3) || !strcmp(s, "xchg ax,ax") || !strncmp(s, "data16", 6) ||
           !strncmp(s, "cs nop", 6);
}

void disassemble(at_arena *a, const at_tile *t, const char *file, at_text *out) {
    enum { MOST = 8000 };
    char **lines = AT_NEW_ARRAY(a, char *, MOST), text[256];
    long *at = AT_NEW_ARRAY(a, long, MOST);
    int n = 0, used = 0;
    FILE *f = fopen(file, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(t->code, 1, (size_t)t->code_bytes, f), t->code_bytes);
    assert_int_equal(fclose(f), 0);
    f = popen(at_format(a,
                        "objdump -D -b binary -m i386:x86-64 -M intel --no-show-raw-insn -z "
                        "%s",
                        file),
              "r");
    assert_non_null(f);
    while (fgets(text, sizeof text, f)) {
        char *tab = strchr(text, '\t'), *end;
        long address = strtol(text, &end, 16);
        if (!tab || *end != ':') continue;
        text[strcspn(text, "\n")] = 0;
        normalize(tab + 1, t);
        if (n == MOST || is_padding(tab + 1)) continue;
        at[n] = address;
        lines[n++] = at_strdup(a, tab + 1);
    }
    assert_int_equal(pclose(f), 0);
    while (used < n && strcmp(lines[used++], "ret") != 0) {
    }
    for (int i = 0; i < used; i++) {
        char *target = strstr(lines[i], " 0x");
        int to = 0;
        if (lines[i][0] == 'j' && target) {
            while (to < n && at[to] != strtol(target, NULL, 16)) to++;
            at_text_addf(out, "%.*s %d\n", (int)(target - lines[i]), lines[i], to);
        } else at_text_addf(out, "%s\n", lines[i]);
    }
}

void compare_lines(const char *found, const char *wanted, const char *what) {
    for (int line = 0; *found || *wanted; line++) {
        size_t n = strcspn(found, "\n"), k = strcspn(wanted, "\n");
        if (n != k || strncmp(found, wanted, n) != 0)
            fail_msg("%s, instruction %d: \"%.*s\" instead of \"%.*s\"", what, line, (int)n, found,
                     (int)k, wanted);
        found += n + (found[n] == '\n');
        wanted += k + (wanted[k] == '\n');
    }
}

void skip_without_objdump(void) {
    if (!system("command -v objdump >/dev/null")) return;
    print_message("objdump is not installed\n");
    skip();
}
