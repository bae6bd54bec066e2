/* foreign/head_files.c: what a kernel's results depend on: its text, what it includes from beside
 * it, flags and compiler. */
#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "foreign/foreign_int.h"

enum { MOST_INCLUDED = 256, MOST_BYTES = 4 << 20 };

typedef struct reading {
    at_head *head;
    at_hash hash;
    AT_VEC(const char *) seen; /* paths */
    AT_VEC(const char *) texts;
} reading;

static void read_includes(reading *r, const char *folder, const char *text);

static void take_file(reading *r, const char *path) {
    at_arena *a = r->head->arena;
    char *text;
    size_t n;
    for (int i = 0; i < r->seen.len; i++)
        if (!strcmp(r->seen.data[i], path)) return;
    if (r->seen.len == MOST_INCLUDED || access(path, R_OK)) return;
    *at_push(a, &r->seen) = at_strdup(a, path);
    if (at_read_file(a, path, MOST_BYTES, &text, &n, NULL) != AT_OK) return;
    at_hash_add(&r->hash, text, n);
    *at_push(a, &r->texts) = text;
    const char *slash = strrchr(path, '/');
    read_includes(r, at_strndup(a, path, (size_t)(slash - path)), text);
}

/* The file of one #include: beside the one that includes it, or in a folder of -I. */
static void take_include(reading *r, const char *folder, const char *name) {
    at_arena *a = r->head->arena;
    const at_foreign *f = &r->head->pub;
    const char *path = *name == '/' ? name : at_format(a, "%s/%s", folder, name);
    for (int i = 0; access(path, R_OK) && i < f->num_flags; i++)
        if (!strncmp(f->flags[i], "-I", 2) && f->flags[i][2])
            path = at_format(a, "%s/%s", f->flags[i] + 2, name);
    if (access(path, R_OK)) path = at_format(a, "%s/%s", f->folder, name);
    take_file(r, path);
}

static void read_includes(reading *r, const char *folder, const char *text) {
    for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        const char *q = p + strspn(p, " \t");
        if (*q != '#') continue;
        q += 1 + strspn(q + 1, " \t");
        if (strncmp(q, "include", 7)) continue;
        q += 7 + strspn(q + 7, " \t");
        if (*q != '"' && *q != '<') continue;
        size_t n = strcspn(q + 1, *q == '"' ? "\"\n" : ">\n");
        take_include(r, folder, at_strndup(r->head->arena, q + 1, n));
    }
}

/* ---- knobs that nothing uses ----------------------------------------------------------------- */

static bool holds_word(const char *text, const char *word) {
    size_t n = strlen(word);
    for (const char *p = text; (p = strstr(p, word)); p += n) {
        bool begins = p == text || (!isalnum((unsigned char)p[-1]) && p[-1] != '_');
        bool ends = !isalnum((unsigned char)p[n]) && p[n] != '_';
        /* VARIANT_rows, ORDER_0: its own macros, or parts of such a name. */
        if (begins && (ends || p[n] == '_')) return true;
    }
    return false;
}

static bool is_used(const reading *r, const at_head_knob *k, const char *behind_head) {
    const at_foreign *f = &r->head->pub;
    if (holds_word(behind_head, k->name)) return true;
    for (int i = 0; i < r->texts.len; i++)
        if (holds_word(r->texts.data[i], k->name)) return true;
    const char *in_flags = at_format(r->head->arena, "{%s", k->name);
    for (int i = 0; i < f->num_flags; i++)
        if (strstr(f->flags[i], in_flags)) return true;
    for (int i = 0; i < r->head->call.params.len; i++)
        if (!strncmp(r->head->call.params.data[i].name, k->name, strlen(k->name))) return true;
    return false;
}

void at_head_hash(at_head *h) {
    reading r = {.head = h};
    at_foreign *f = &h->pub;
    const char *behind_head = f->text;
    for (int i = 0; i < h->items.len; i++) {
        size_t n = strlen(h->items.data[i].text);
        if (f->text + n > behind_head) behind_head = f->text + n;
    }
    at_hash_init(&r.hash);
    at_hash_add_str(&r.hash, f->text);
    at_hash_add_str(&r.hash, f->compiler ? f->compiler : "");
    if (f->metric) {
        at_hash_add_str(&r.hash, f->metric);
        at_hash_add_number(&r.hash, f->higher);
    }
    for (int i = 0; i < f->num_flags; i++) {
        at_hash_add_str(&r.hash, f->flags[i]);
        if (*f->flags[i] == '/' && !f->metric) take_file(&r, f->flags[i]);
    }
    read_includes(&r, f->folder, f->text);
    char hex[33];
    at_hash_hex(&r.hash, hex);
    f->hash = at_strdup(h->arena, hex);
    for (int i = 0; i < h->knobs.len && !f->unused; i++)
        if (!is_used(&r, &h->knobs.data[i], behind_head)) f->unused = h->knobs.data[i].name;
}
