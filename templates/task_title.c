/* templates/task_title.c: what a task is, in few signs: for names of kernels and for tables. */
#include "templates/template_int.h"

#include <string.h>

/* ---- arguments ------------------------------------------------------------------------------- */

/* "2x1" of [2, 1], without brackets, quotes and blanks. */
static void add_value(at_text *out, const at_template *t, const arg *a) {
    at_text value = {0};
    at_arg_print(t, a, false, &value);
    for (const char *s = at_text_str(&value); *s; s++) {
        if (*s == ',') at_text_add(out, "x");
        else if (!strchr("[] \"", *s)) at_text_addn(out, s, 1);
    }
    at_text_free(&value);
}

/* Where its default stands in the row's text: behind "NAME=" or "NAME(a, b)=". */
static const char *default_of(const at_template *t, const arg *a) {
    const size_t n = strlen(a->name);
    for (const char *s = t->row->args; s && (s = strstr(s, a->name)); s += n) {
        bool begins = s == t->row->args || strchr(" ,", s[-1]);
        const char *end = s + n;
        if (*end == '(') end = strchr(end, ')') ? strchr(end, ')') + 1 : end;
        if (begins && *end == '=') return end + 1;
    }
    return "";
}

static bool is_default(const at_template *t, const arg *a) {
    at_text value = {0};
    const char *initial = default_of(t, a);
    at_arg_print(t, a, false, &value);
    const size_t n = strcspn(initial, ", ");
    const bool same = value.len == n && !memcmp(at_text_str(&value), initial, n);
    at_text_free(&value);
    return same;
}

static bool is_mentioned(const char *form, const arg *a) {
    const size_t n = strlen(a->name);
    for (const char *s = form; (s = strstr(s, a->name)); s += n)
        if (s > form && s[-1] == '{' && s[n] == '}') return true;
    return false;
}

/* The form with values for "{NAME}"; behind '@' equal ones with an 'x' between become one. */
static void fill_form(at_text *out, at_template *t, const char *form) {
    const arg *last = NULL;
    for (const char *s = form; *s;) {
        if (*s != '{') {
            at_text_addn(out, s++, 1);
            continue;
        }
        const size_t n = strcspn(s + 1, "}");
        const arg *a = at_args_find(t, s + 1, n);
        const bool pairs = last && out->len && out->data[out->len - 1] == 'x' &&
                           strchr(form, '@') && strchr(form, '@') < s;
        if (a && pairs && t->values.data[a->slot].value == t->values.data[last->slot].value)
            out->data[--out->len] = 0;
        else if (a) add_value(out, t, a);
        last = a;
        s += n + 1 + (s[n + 1] == '}');
    }
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Numbers in their order, arrays set apart; a text only where it is not the default. */
static void add_all(at_text *out, const at_template *t) {
    const char *before = "";
    for (int i = 0; i < t->args.len; i++) {
        const arg *a = &t->args.data[i];
        at_text value = {0};
        add_value(&value, t, a);
        const bool is_one = !strpbrk(at_text_str(&value), "x") && a->kind != ARG_TEXT;
        if (a->kind != ARG_TEXT || !is_default(t, a)) {
            at_text_addf(out, "%s%s", *before && !is_one ? "_" : before, at_text_str(&value));
            before = is_one ? "x" : "_";
        }
        at_text_free(&value);
    }
}

/* A padding with which the output is as large as the input: nobody needs to be told. */
static bool is_natural(at_template *t, const arg *a) {
    const arg *kernel = at_args_find(t, "KH", 2);
    if (strcmp(a->name, "padding") != 0 || !kernel) return false;
    for (int i = 0; i < a->num_slots; i++)
        if (2 * t->values.data[a->slot + i].value != t->values.data[kernel->slot].value - 1)
            return false;
    return true;
}

static void add_others(at_text *out, at_template *t, const char *form, const char *before,
                       const char *between) {
    for (int i = 0; i < t->args.len; i++) {
        const arg *a = &t->args.data[i];
        if (is_mentioned(form, a) || is_default(t, a)) continue;
        if (form == t->row->title && is_natural(t, a)) continue;
        at_text_addf(out, "%s%s%s", before, a->name, between);
        add_value(out, t, a);
    }
}

const char *at_template_short_args(at_arena *a, at_template *t) {
    at_text out = {0};
    if (t->row->sizes) {
        fill_form(&out, t, t->row->sizes);
        add_others(&out, t, t->row->sizes, "_", "");
    } else add_all(&out, t);
    return at_text_take(a, &out);
}

const char *at_template_title(at_arena *a, at_template *t) {
    at_text out = {0};
    if (!t->row->title) {
        at_text_addf(&out, "%s %s", t->row->name, at_template_short_args(a, t));
        return at_text_take(a, &out);
    }
    fill_form(&out, t, t->row->title);
    add_others(&out, t, t->row->title, ", ", " ");
    for (const char *s = strchr(t->row->name, '+'); s; s = strchr(s, '+')) {
        const size_t n = strcspn(++s, "+");
        at_text_addf(&out, ", %.*s", (int)n, s);
    }
    return at_text_take(a, &out);
}
