/* foreign/head_tensors.c: tensors that no text computes: `c[N, M] : output`, `: inout`; and where
 * the values of inputs come from. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "foreign/foreign_int.h"

/* "NAME[...] : output" or inout, with a type behind it, and no "=": that is a stage with a mark. */
static bool is_output_line(const char *text, bool *inout) {
    at_lex l;
    int depth = 0;
    if (at_lex_start(&l, text, "", NULL) != AT_OK || l.kind != AT_TOK_NAME) return false;
    if (at_lex_next(&l, NULL) != AT_OK || !at_lex_is(&l, "[")) return false;
    do {
        depth += at_lex_is(&l, "[") - at_lex_is(&l, "]");
        if (l.kind == AT_TOK_END || at_lex_next(&l, NULL) != AT_OK) return false;
    } while (depth);
    if (!at_lex_is(&l, ":") || at_lex_next(&l, NULL) != AT_OK) return false;
    *inout = at_lex_is(&l, "inout");
    if (*inout) return true;
    if (!at_lex_is(&l, "output") || at_lex_next(&l, NULL) != AT_OK) return false;
    if (l.kind == AT_TOK_NAME && at_lex_next(&l, NULL) != AT_OK) return false;
    return !at_lex_is(&l, "=");
}

/* "NAME[i0:N, i1:M]" of "NAME[N, M]". */
static at_status add_axes(at_head *h, at_lex *l, at_text *axes, at_text *dims, at_text *indices,
                          at_error *err) {
    for (int i = 0;; i++) {
        at_expr *e;
        AT_TRY(at_expr_parse(h->arena, l, &e, err));
        at_text_addf(axes, "%sat_i%d:", i ? ", " : "", i);
        at_text_addf(indices, "%sat_i%d", i ? ", " : "", i);
        if (i) at_text_add(dims, ", ");
        at_expr_print(axes, e);
        at_expr_print(dims, e);
        if (!at_lex_is(l, ",")) return at_lex_expect(l, "]", err);
        AT_TRY(at_lex_next(l, err));
    }
}

/* The stage that has its shape, and of `inout` an input that holds what is in it before. */
static at_status add_output(at_head *h, const char *line, bool inout, at_text *out, at_error *err) {
    at_lex l;
    at_text axes = {0}, dims = {0}, indices = {0};
    const char *type = "";
    AT_TRY(at_lex_start(&l, line, h->pub.path, err));
    l.text = h->pub.text;
    const char *name = at_strndup(h->arena, l.start, (size_t)l.length);
    AT_TRY(at_lex_next(&l, err));
    AT_TRY(at_lex_next(&l, err));
    at_status s = add_axes(h, &l, &axes, &dims, &indices, err);
    if (s == AT_OK) s = at_lex_expect(&l, ":", err);
    if (s == AT_OK) s = at_lex_next(&l, err);
    if (s == AT_OK && l.kind == AT_TOK_NAME) {
        type = at_strndup(h->arena, l.start, (size_t)l.length);
        s = at_lex_next(&l, err);
    }
    if (s == AT_OK && l.kind != AT_TOK_END)
        s = at_lex_fail(&l, err, "expected the end of the line");
    at_foreign_output o = {name, inout ? at_format(h->arena, "%s_before", name) : NULL};
    if (inout) at_text_addf(out, "%s[%s] : input %s\n", o.before, at_text_str(&dims), type);
    at_text_addf(out, "%s[%s]%s%s = ", name, at_text_str(&axes), *type ? " : " : "", type);
    if (inout) at_text_addf(out, "%s[%s]\n", o.before, at_text_str(&indices));
    else at_text_add(out, "0\n");
    *at_push(h->arena, &h->outputs) = o;
    at_text_free(&axes);
    at_text_free(&dims);
    at_text_free(&indices);
    return s;
}

at_status at_head_tensors(at_head *h, const at_head_item *x, at_error *err) {
    at_text inputs = {0}, stages = {0};
    at_status s = AT_OK;
    for (const char *p = x->text; *p && s == AT_OK;) {
        size_t n = strcspn(p, "\n");
        bool inout;
        const char *line = at_head_part(h, x->text, p, p + n);
        if (is_output_line(line, &inout)) s = add_output(h, line, inout, &stages, err);
        else at_text_addn(&inputs, p, n);
        at_text_add(&inputs, p[n] ? "\n" : "");
        p += n + (p[n] != 0);
    }
    if (!h->outputs.len) {
        h->compute = h->compute_source = x->text;
    } else {
        at_text_add(&inputs, "\n");
        at_text_add(&inputs, at_text_str(&stages));
        h->compute = at_strdup(h->arena, at_text_str(&inputs));
    }
    at_text_free(&inputs);
    at_text_free(&stages);
    return s;
}

/* ---- data ------------------------------------------------------------------------------------ */

static at_status take_number(at_lex *l, double *out, at_error *err) {
    bool minus = at_lex_is(l, "-");
    if (minus) AT_TRY(at_lex_next(l, err));
    if (l->kind != AT_TOK_INT && l->kind != AT_TOK_FLOAT)
        return at_lex_fail(l, err,
                           "expected a number, as in -4..8, or the name of a file, \"a.npy\"");
    *out = minus ? -l->number : l->number;
    return at_lex_next(l, err);
}

at_status at_head_data_item(at_head *h, const at_head_item *x, at_error *err) {
    at_lex l;
    AT_TRY(at_head_start(h, x, &l, err));
    for (;;) {
        at_foreign_data d = {0};
        if (l.kind != AT_TOK_NAME) return at_lex_fail(&l, err, "expected a tensor: data a = -4..8");
        d.name = at_strndup(h->arena, l.start, (size_t)l.length);
        AT_TRY(at_lex_next(&l, err));
        AT_TRY(at_lex_expect(&l, "=", err));
        if (l.kind == AT_TOK_STRING) {
            d.file = at_strndup(h->arena, l.start + 1, (size_t)l.length - 2);
            AT_TRY(at_lex_next(&l, err));
        } else {
            AT_TRY(take_number(&l, &d.lo, err));
            AT_TRY(at_lex_expect(&l, "..", err));
            const at_lex at = l;
            AT_TRY(take_number(&l, &d.hi, err));
            if (!(d.hi > d.lo))
                return at_lex_fail(&at, err, "expected a larger number than the first");
        }
        *at_push(h->arena, &h->data) = d;
        if (l.kind == AT_TOK_END) return AT_OK;
        AT_TRY(at_lex_expect(&l, ",", err));
    }
}
