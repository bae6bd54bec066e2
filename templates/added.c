/* templates/added.c: the user's own templates, added while the program runs. */
#include "templates/template_int.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The user's, the last one first; any thread may add one. */
typedef struct added {
    const at_template_row *row;
    const char *file, *text;
    bool is_code;
    struct added *next;
} added;
static _Atomic(added *) first_added;

void at_template_add(const at_template_row *row, const char *file, const char *text, bool is_code) {
    added *x = malloc(sizeof *x);
    char *path = file ? strdup(file) : NULL;
    if (!x || (file && !path)) AT_BUG("no memory for a template");
    *x = (added){row, path, text, is_code, first_added};
    while (!atomic_compare_exchange_weak(&first_added, &x->next, x)) {
    }
}

static const added *find(const at_template_row *row) {
    row = at_template_base(row);
    for (const added *x = first_added; x; x = x->next)
        if (x->row == row) return x;
    return NULL;
}

const char *at_template_file(const at_template_row *row) {
    const added *x = find(row);
    return x ? x->file : NULL;
}

const char *at_template_own_text(const at_template_row *row) {
    const added *x = find(row);
    return x ? x->text : NULL;
}

bool at_template_has_no_file(const at_template_row *row) {
    const added *x = find(row);
    return x && x->text && (!x->file || !strcmp(x->file, "-"));
}

void at_template_add_words(at_text *out, const at_template_row *row, bool with_log) {
    const char *file = with_log && at_template_has_no_file(row) ? NULL : at_template_file(row);
    const char *stages = row->name + strlen(at_template_base(row)->name);
    at_text_add_word(out, file ? file : row->name);
    if (!file || !*stages) return;
    at_arena *a = at_arena_new();
    char *list = at_strdup(a, stages + 1);
    for (char *c = list; *c; c++)
        if (*c == '+') *c = ',';
    at_text_add(out, " --fuse");
    at_text_add_word(out, list);
    at_arena_free(a);
}

const char *at_template_code_file(const at_template_row *row) {
    const added *x = find(row);
    return x && x->is_code ? x->file : NULL;
}

bool at_template_is_named(const at_template_row *r, const char *name) {
    return !strcmp(r->name, name) || (r->record_name && !strcmp(r->record_name, name));
}

const at_template_row *at_template_added(const char *name) {
    for (const added *x = first_added; x; x = x->next)
        if (at_template_is_named(x->row, name)) return x->row;
    return NULL;
}
