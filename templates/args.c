/* templates/args.c: the arguments that a template's row declares.
 *
 *   args  := arg ("," arg)*
 *   arg   := name "=" INTEGER ["from" INTEGER]               a whole number; from 1 on if not said
 *          | name "(" name ("," name)* ")" "=" INTEGER ["from" INTEGER]
 *          | name "=" STRING ("or" STRING)*                  one of these texts, the first if not
 *                                                            said; "" as the first is not shown
 *
 * "NCHW{ib}c" is a text with the value of the number ib in it, and none where that is 0.
 *
 * A tuple stands for one to six numbers that records hold in one place: one number for all, or an
 * array. Its members are names for sizes, it is not. Four or six members are the sides of a
 * padding, those before each axis first; they also take an array with one number for both sides of
 * each axis, "VALID" (0) and "SAME", which the template works out: -1. */
#include "templates/template_int.h"

#include <string.h>

/* Records are JSON: beyond this, numbers are no longer exact there. */
enum { MOST_MEMBERS = 6 };

static bool is_padding(const arg *a) { return a->num_slots == 4 || a->num_slots == 6; }

arg *at_args_find(at_template *t, const char *name, size_t length) {
    for (int i = 0; i < t->args.len; i++) {
        arg *a = &t->args.data[i];
        if (strlen(a->name) == length && !memcmp(a->name, name, length)) return a;
    }
    return NULL;
}

/* ---- declaring ------------------------------------------------------------------------------- */

static at_status take_name(at_template *t, at_lex *l, const char **out, at_error *err) {
    if (l->kind != AT_TOK_NAME) return at_lex_fail(l, err, "expected a name");
    char *name = at_strndup(t->arena, l->start, (size_t)l->length);
    if (at_symbol_find(&t->symbols, name) >= 0 || at_args_find(t, name, strlen(name)))
        return at_lex_fail_at(l, l->line, l->col, err, "\"%s\" is declared twice", name);
    *out = name;
    return at_lex_next(l, err);
}

static void add_slot(at_template *t, arg *a, const char *name) {
    at_template_symbol(t, name, 0, false);
    t->num_arg_slots++;
    a->num_slots++;
}

static at_status take_members(at_template *t, at_lex *l, arg *a, at_error *err) {
    a->kind = ARG_TUPLE;
    do {
        const char *member;
        AT_TRY(at_lex_next(l, err));
        AT_TRY(take_name(t, l, &member, err));
        add_slot(t, a, member);
    } while (at_lex_is(l, ","));
    if (a->num_slots == 5 || a->num_slots > MOST_MEMBERS)
        return at_lex_fail(l, err, "a tuple has 1, 2, 3, 4 or 6 members");
    return at_lex_expect(l, ")", err);
}

static at_status take_word(at_template *t, at_lex *l, arg *a, at_error *err) {
    const at_json *word;
    AT_TRY(at_json_parse(t->arena, l->start, (size_t)l->length, &word, err));
    *at_push(t->arena, &a->words) = word;
    return at_lex_next(l, err);
}

/* Behind the '='. */
static at_status take_default(at_template *t, at_lex *l, arg *a, at_error *err) {
    if (l->kind == AT_TOK_STRING && a->kind != ARG_TUPLE) {
        a->kind = ARG_TEXT;
        AT_TRY(take_word(t, l, a, err));
        a->form = a->words.data[0];
        while (at_lex_is(l, "or")) {
            AT_TRY(at_lex_next(l, err));
            if (l->kind != AT_TOK_STRING) return at_lex_fail(l, err, "expected a text");
            AT_TRY(take_word(t, l, a, err));
        }
        return AT_OK;
    }
    if (a->kind == ARG_NUMBER) add_slot(t, a, a->name);
    at_lex value = *l;
    if (l->kind != AT_TOK_INT) return at_lex_fail(l, err, "expected a whole number");
    AT_TRY(at_lex_next(l, err));
    if (at_lex_is(l, "from")) {
        AT_TRY(at_lex_next(l, err));
        if (l->kind != AT_TOK_INT) return at_lex_fail(l, err, "expected a whole number");
        a->least = l->integer;
        AT_TRY(at_lex_next(l, err));
    }
    if (value.integer < a->least || value.integer > AT_LARGEST_ARG)
        return at_lex_fail(&value, err, "expected a whole number from %lld to 2^53",
                           (long long)a->least);
    for (int i = 0; i < a->num_slots; i++) t->values.data[a->slot + i].value = value.integer;
    return AT_OK;
}

static at_status declare_one(at_template *t, at_lex *l, at_error *err) {
    arg a = {.kind = ARG_NUMBER, .least = 1, .slot = t->values.len};
    AT_TRY(take_name(t, l, &a.name, err));
    if (at_lex_is(l, "(")) AT_TRY(take_members(t, l, &a, err));
    AT_TRY(at_lex_expect(l, "=", err));
    AT_TRY(take_default(t, l, &a, err));
    *at_push(t->arena, &t->args) = a;
    return AT_OK;
}

at_status at_args_declare(at_template *t, at_error *err) {
    at_lex l;
    AT_TRY(at_lex_start(&l, t->row->args, at_format(t->arena, "args of %s", t->row->name), err));
    while (l.kind != AT_TOK_END) {
        AT_TRY(declare_one(t, &l, err));
        if (l.kind == AT_TOK_END) return AT_OK;
        AT_TRY(at_lex_expect(&l, ",", err));
    }
    return AT_OK;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* The word with the values of the arguments that it names; NULL: one of them is 0, or there is no
 * such number. */
static const char *filled(at_template *t, const char *word) {
    at_text out = {0};
    bool is_there = true;
    while (is_there && *word) {
        size_t plain = strcspn(word, "{"), length;
        at_text_addn(&out, word, plain);
        word += plain;
        if (!*word) break;
        length = strcspn(word, "}");
        const arg *a = at_args_find(t, word + 1, length - 1);
        int64_t value = a && a->kind == ARG_NUMBER ? t->values.data[a->slot].value : 0;
        is_there = word[length] && value;
        at_text_addf(&out, "%lld", (long long)value);
        word += length + 1;
    }
    const char *text = is_there ? at_strdup(t->arena, at_text_str(&out)) : NULL;
    at_text_free(&out);
    return text;
}

static at_status check_text(at_template *t, const arg *a, at_error *err) {
    at_text list = {0};
    for (int i = 0; i < a->words.len; i++) {
        const char *word = filled(t, a->words.data[i]->string);
        if (!word) continue;
        if (!strcmp(word, a->form->string)) return at_text_free(&list), AT_OK;
        at_text_addf(&list, "%s\"%s\"", list.len ? " or " : "", word);
    }
    at_status s = at_fail(err, AT_E_USAGE, "--args: %s = %s; it is %s", a->name,
                          at_json_text(t->arena, a->form), at_text_str(&list));
    at_text_free(&list);
    return s;
}

at_status at_args_check_texts(at_template *t, at_error *err) {
    for (int i = 0; i < t->args.len; i++)
        if (t->args.data[i].kind == ARG_TEXT) AT_TRY(check_text(t, &t->args.data[i], err));
    return AT_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

static int64_t value_of(const at_template *t, const arg *a, int i) {
    return t->values.data[a->slot + i].value;
}

/* How many of its numbers say all of them: one, one for both sides of each axis, or all. */
static int shortest(const at_template *t, const arg *a) {
    const int axes = a->num_slots / 2;
    bool is_one = true, is_even = is_padding(a);
    for (int i = 0; i < a->num_slots; i++) {
        is_one &= value_of(t, a, i) == value_of(t, a, 0);
        is_even &= is_padding(a) && value_of(t, a, i) == value_of(t, a, i % axes);
    }
    return is_one ? 1 : is_even ? axes : a->num_slots;
}

void at_arg_print(const at_template *t, const arg *a, bool is_whole, at_text *out) {
    const int n = is_whole ? a->num_slots : a->kind == ARG_TUPLE ? shortest(t, a) : 1;
    const bool is_array = a->kind == ARG_TUPLE && (is_whole || n > 1);
    if (a->kind == ARG_TEXT) at_json_print(out, a->form);
    else if (value_of(t, a, 0) < 0) at_text_add(out, "\"SAME\"");
    else {
        if (is_array) at_text_add(out, "[");
        for (int i = 0; i < n; i++)
            at_text_addf(out, "%s%lld", i ? ", " : "", (long long)value_of(t, a, i));
        if (is_array) at_text_add(out, "]");
    }
}

/* Is it the text "", as it would be if nothing were said? */
static bool says_nothing(const arg *a) {
    return a->kind == ARG_TEXT && !*a->form->string && !*a->words.data[0]->string;
}

const char *at_args_text(const at_template *t) {
    at_text text = {0};
    for (int i = 0; i < t->args.len; i++) {
        const arg *a = &t->args.data[i];
        if (says_nothing(a)) continue;
        at_text_addf(&text, "%s%s=", text.len ? "," : "", a->name);
        at_arg_print(t, a, false, &text);
    }
    return at_text_take(t->arena, &text);
}

/* What a size makes of the number in this slot where that is below 0, as "pt = top < 0 ? eh/2 :
 * top"; else NULL. */
static const int64_t *worked_out(const at_template *t, int slot) {
    for (int i = 0; i < t->general.len; i++) {
        const at_general_step *s = &t->general.data[i];
        const at_expr *e = s->expr, *less = e && e->op == AT_X_SELECT ? e->arg[0] : NULL;
        if (!less || s->slot < 0 || less->op != AT_X_LT) continue;
        if (at_expr_is_name(less->arg[0], slot) && less->arg[1]->op == AT_X_INT &&
            !less->arg[1]->integer && at_expr_equal(e->arg[2], less->arg[0]))
            return &t->values.data[s->slot].value;
    }
    return NULL;
}

bool at_args_work_out(at_template *t) {
    bool any = false;
    for (int i = 0; i < t->args.len; i++) {
        const arg *a = &t->args.data[i];
        bool all = is_padding(a) && value_of(t, a, 0) < 0;
        for (int j = 0; j < a->num_slots && all; j++) all = worked_out(t, a->slot + j);
        for (int j = 0; j < a->num_slots && all; j++)
            t->values.data[a->slot + j].value = *worked_out(t, a->slot + j);
        any |= all;
    }
    return any;
}

static at_status is_no(at_template *t, const arg *a, const char *what, at_error *err) {
    const char *whole = at_format(t->arena, "a whole number from %lld on", (long long)a->least);
    if (a->kind == ARG_NUMBER)
        return at_fail(err, AT_E_USAGE, "--args: %s = %s; an argument is %s", a->name, what, whole);
    if (a->kind == ARG_TEXT)
        return at_fail(err, AT_E_USAGE, "--args: %s = %s; it is a text", a->name, what);
    at_text members = {0};
    for (int i = 0; i < a->num_slots; i++)
        at_text_addf(&members, "%s%s", i ? ", " : "", t->symbols.names.data[a->slot + i]);
    at_status s =
        at_fail(err, AT_E_USAGE, "--args: %s = %s; it is %s, or [%s]%s", a->name, what, whole,
                at_text_str(&members),
                !is_padding(a)      ? ""
                : a->num_slots == 4 ? ", or [vertical, horizontal], or \"SAME\" or \"VALID\""
                                    : ", or one number per axis, or \"SAME\" or \"VALID\"");
    at_text_free(&members);
    return s;
}

static bool is_whole(const arg *a, const at_json *v) {
    return v->kind == AT_JSON_NUMBER && v->is_int && v->number >= (double)a->least;
}

/* The number for member i, or NULL. */
static const at_json *member(const arg *a, const at_json *v, int i) {
    if (v->kind != AT_JSON_ARRAY) return v;
    if (v->count == a->num_slots) return at_json_at(v, i);
    int axes = a->num_slots / 2;
    return is_padding(a) && v->count == axes ? at_json_at(v, i % axes) : NULL;
}

static bool is_padding_word(const arg *a, const at_json *v, int64_t *value) {
    if (v->kind != AT_JSON_STRING || !is_padding(a)) return false;
    *value = strcmp(v->string, "SAME") ? 0 : -1;
    return !strcmp(v->string, "SAME") || !strcmp(v->string, "VALID");
}

at_status at_arg_take(at_template *t, arg *a, const at_json *v, const char *what, at_error *err) {
    int64_t word;
    if (a->kind == ARG_TEXT) {
        if (v->kind != AT_JSON_STRING) return is_no(t, a, what, err);
    } else if (a->kind == ARG_TUPLE && is_padding_word(a, v, &word)) {
        for (int i = 0; i < a->num_slots; i++) t->values.data[a->slot + i].value = word;
    } else {
        if (a->kind == ARG_NUMBER && v->kind == AT_JSON_ARRAY) return is_no(t, a, what, err);
        for (int i = 0; i < a->num_slots; i++) {
            const at_json *m = member(a, v, i);
            if (!m || !is_whole(a, m)) return is_no(t, a, what, err);
            if (m->integer > AT_LARGEST_ARG || m->number > (double)AT_LARGEST_ARG)
                return at_fail(err, AT_E_USAGE, "--args: %s = %s exceeds 2^53", a->name, what);
        }
        for (int i = 0; i < a->num_slots; i++)
            t->values.data[a->slot + i].value = member(a, v, i)->integer;
    }
    if (a->kind == ARG_TEXT) a->form = v;
    return AT_OK;
}
