/* foreign/head_files.c: what a kernel's results depend on: its text, what it includes from beside
 * it, flags and compiler. */
#include <string.h>
#include <unistd.h>

#include "foreign/foreign_int.h"

enum { MOST_INCLUDED = 256, MOST_BYTES = 4 << 20 };

typedef struct reading {
    at_head *head;
    at_hash hash;
    AT_VEC(const char *) seen; /* paths */
    AT_VEC(at_foreign_file) files;
} reading;

static void read_includes(reading *r, const char *folder, const char *text);

/* "/k/a/./b/../x.h" in "/k" is "a/x.h"; what lies elsewhere stays as it is. */
static const char *below(at_arena *a, const char *folder, const char *path) {
    AT_VEC(const char *) parts = {0};
    const size_t n = strlen(folder);
    if (strncmp(path, folder, n) != 0 || path[n] != '/') return path;
    for (const char *p = path + n; *p; p += strcspn(p, "/")) {
        p += strspn(p, "/");
        const char *part = at_strndup(a, p, strcspn(p, "/"));
        if (!strcmp(part, "..") && !parts.len) return path;
        if (!strcmp(part, "..")) parts.len--;
        else if (*part && strcmp(part, ".") != 0) *at_push(a, &parts) = part;
    }
    const char *name = "";
    for (int i = 0; i < parts.len; i++)
        name = at_format(a, "%s%s%s", name, i ? "/" : "", parts.data[i]);
    return *name ? name : path;
}

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
    *at_push(a, &r->files) = (at_foreign_file){below(a, r->head->pub.folder, path), text};
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
        bool begins = p == text || !at_in_name(p[-1]);
        bool ends = !at_in_name(p[n]);
        /* VARIANT_rows, ORDER_0: its own macros, or parts of such a name. */
        if (begins && (ends || p[n] == '_')) return true;
    }
    return false;
}

static bool is_used(const reading *r, const at_head_knob *k, const char *behind_head) {
    const at_foreign *f = &r->head->pub;
    if (holds_word(behind_head, k->name)) return true;
    for (int i = 0; i < r->files.len; i++)
        if (holds_word(r->files.data[i].text, k->name)) return true;
    const char *in_flags = at_format(r->head->arena, "{%s", k->name);
    for (int i = 0; i < f->num_flags; i++)
        if (strstr(f->flags[i], in_flags)) return true;
    for (int i = 0; i < r->head->call.params.len; i++)
        if (!strncmp(r->head->call.params.data[i].name, k->name, strlen(k->name))) return true;
    return false;
}

/* A flag as it is on every machine: without the kernel's folder. */
static const char *anywhere(at_arena *a, const at_foreign *f, const char *flag) {
    const char *found = strstr(flag, f->folder);
    if (!found || f->metric) return flag;
    return at_format(a, "%.*s.%s", (int)(found - flag), flag, found + strlen(f->folder));
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
        at_hash_add_str(&r.hash, anywhere(h->arena, f, f->flags[i]));
        if (*f->flags[i] == '/' && !f->metric) take_file(&r, f->flags[i]);
    }
    read_includes(&r, f->folder, f->text);
    char hex[33];
    at_hash_hex(&r.hash, hex);
    f->hash = at_strdup(h->arena, hex);
    f->files = r.files.data;
    f->num_files = r.files.len;
    for (int i = 0; i < h->knobs.len && !f->unused; i++)
        if (!is_used(&r, &h->knobs.data[i], behind_head)) f->unused = h->knobs.data[i].name;
}

/* ---- to another machine ---------------------------------------------------------------------- */

enum { MOST_DATA_BYTES = 32 << 20 };

static at_status elsewhere(const at_foreign *f, const char *name, at_error *err) {
    return at_fail(err, AT_E_USAGE,
                   "%s: it takes in %s, which is not below its folder and so does not travel to "
                   "other machines",
                   f->path, name);
}

/* Is it the file of an earlier tensor, too? */
static bool is_there(const at_foreign *f, int data) {
    for (int i = 0; i < data; i++)
        if (f->data[i].file && !strcmp(f->data[i].file, f->data[data].file)) return true;
    return false;
}

/* The files that inputs are read from. */
static at_status add_data(at_arena *a, const at_foreign *f, at_text *json, at_error *err) {
    size_t left = MOST_DATA_BYTES, n;
    for (int i = 0; i < f->num_data; i++) {
        const char *file = f->data[i].file;
        char *bytes;
        if (!file || is_there(f, i)) continue;
        const char *path = *file == '/' ? file : at_format(a, "%s/%s", f->folder, file);
        const char *name = below(a, f->folder, path);
        if (*file == '/' || *name == '/') return elsewhere(f, file, err);
        if (at_read_file(a, path, left, &bytes, &n, err) != AT_OK)
            return at_fail_at(err, "%s: data %s (at most %d MB of data travel to other machines): ",
                              f->path, f->data[i].name, MOST_DATA_BYTES >> 20);
        left -= n;
        at_text_add(json, json->len ? ", " : "{");
        at_text_add_json_string(json, name);
        at_text_add(json, ": {\"base64\": \"");
        at_text_add_base64(json, bytes, n);
        at_text_add(json, "\"}");
    }
    return AT_OK;
}

at_status at_foreign_files(at_arena *a, const at_foreign *f, const char **out, at_error *err) {
    at_text json = {0};
    for (int i = 0; i < f->num_files; i++)
        if (*f->files[i].name == '/') return elsewhere(f, f->files[i].name, err);
    for (int i = 0; i < f->num_files; i++) {
        const at_foreign_file *x = &f->files[i];
        at_text_add(&json, i ? ", " : "{");
        at_text_add_json_string(&json, x->name);
        at_text_add(&json, ": ");
        at_text_add_json_string(&json, x->text);
    }
    at_status s = add_data(a, f, &json, err);
    if (json.len) at_text_add(&json, "}");
    *out = at_text_take(a, &json);
    return s;
}
