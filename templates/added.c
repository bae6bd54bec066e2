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
