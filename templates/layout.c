/* templates/layout.c: tensors whose shape depends on the configuration.
 *
 *   layout := tensor "[" name ("," name)* "]" "=" name ("," name)*      each name once on each side
 *
 * Reading the axes in the order on the right gives the elements of the plain tensor, row by row. */
#include "templates/template_int.h"

#include <string.h>

/* The position of the token among n names; -1 if it is none of them. */
static int find(const at_lex *l, const char *const *names, int n) {
    for (int i = 0; i < n; i++)
        if (l->kind == AT_TOK_NAME && (int)strlen(names[i]) == l->length &&
            !memcmp(names[i], l->start, (size_t)l->length))
            return i;
    return -1;
}

static at_status take_axes(at_template *t, at_lex *l, int n, const char **names) {
    for (int i = 0; i < n; i++) {
        if (l->kind != AT_TOK_NAME || find(l, names, i) >= 0)
            return at_lex_fail(l, &t->err, "expected a name for axis %d of %d", i + 1, n);
        names[i] = at_strndup(t->arena, l->start, (size_t)l->length);
        AT_TRY(at_lex_next(l, &t->err));
        AT_TRY(at_lex_expect(l, i + 1 < n ? "," : "]", &t->err));
    }
    return AT_OK;
}

static at_status take_order(at_template *t, at_lex *l, int n, const char *const *names,
                            int *order) {
    bool *seen = AT_NEW_ARRAY(t->arena, bool, n);
    for (int i = 0; i < n; i++) {
        if (i) AT_TRY(at_lex_expect(l, ",", &t->err));
        int axis = find(l, names, n);
        if (axis < 0 || seen[axis])
            return at_lex_fail(l, &t->err, "expected another one of the %d axes", n);
        seen[axis] = true;
        order[i] = axis;
        AT_TRY(at_lex_next(l, &t->err));
    }
    if (l->kind != AT_TOK_END) return at_lex_fail(l, &t->err, "expected the end");
    return AT_OK;
}

at_status at_layout_parse(at_template *t, layout *out) {
    at_lex l;
    AT_TRY(at_lex_start(&l, out->text, at_format(t->arena, "layout of %s", t->row->name), &t->err));
    char *name = at_strndup(t->arena, l.start, (size_t)l.length);
    out->tensor = at_compute_find(t->compute, name);
    if (out->tensor < 0) return at_lex_fail(&l, &t->err, "expected a tensor");
    int n = t->compute->tensors[out->tensor].num_axes;
    const char **names = AT_NEW_ARRAY(t->arena, const char *, n);
    int *order = AT_NEW_ARRAY(t->arena, int, n);
    AT_TRY(at_lex_next(&l, &t->err));
    AT_TRY(at_lex_expect(&l, "[", &t->err));
    AT_TRY(take_axes(t, &l, n, names));
    AT_TRY(at_lex_expect(&l, "=", &t->err));
    AT_TRY(take_order(t, &l, n, names, order));
    out->order = order;
    return AT_OK;
}
