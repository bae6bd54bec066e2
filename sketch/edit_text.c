/* sketch/edit_text.c: an edit as a line of text, and back. */
#include "sketch/schedulable.h"

static const char *const anns[] = {"plain", "para", "vec", "unroll", "dot"};
static const char *const copies[] = {"write", "read", "layout"};
static const char *const words[AT_EDIT_KINDS] = {
    [AT_EDIT_SPLIT] = "split",         [AT_EDIT_ORDER] = "order",   [AT_EDIT_FUSE] = "fuse",
    [AT_EDIT_NEST] = "nest",           [AT_EDIT_JOIN] = "join",     [AT_EDIT_DISSOLVE] = "dissolve",
    [AT_EDIT_COPY] = "copy",           [AT_EDIT_FACTOR] = "factor", [AT_EDIT_MARK] = "mark",
    [AT_EDIT_DROP] = "drop",           [AT_EDIT_REPEAT] = "repeat", [AT_EDIT_INIT] = "init",
    [AT_EDIT_ATTRIBUTE] = "attribute", [AT_EDIT_SIZE] = "size",     [AT_EDIT_INLINE] = "inline",
    [AT_EDIT_RENAME] = "rename",       [AT_EDIT_WIDEN] = "widen",   [AT_EDIT_OPERAND] = "operand",
    [AT_EDIT_TURN] = "turn",           [AT_EDIT_ACROSS] = "across", [AT_EDIT_RUNNING] = "running",
    [AT_EDIT_FISSION] = "fission",     [AT_EDIT_SHIFT] = "shift",   [AT_EDIT_PHASES] = "phases",
};

int at_edit_num_names(const at_edit *e) {
    int n = 0;
    while (n < AT_EDIT_MAX_NAMES && e->names[n]) n++;
    return n;
}

/* ---- print ----------------------------------------------------------------------------------- */

static void add_names(at_text *out, const at_edit *e) {
    for (int i = 0; i < at_edit_num_names(e); i++) {
        at_text_addf(out, " %s", e->names[i]);
        if (e->sizes[i]) at_text_addf(out, ":%lld", (long long)e->sizes[i]);
    }
}

void at_edit_print(at_text *out, const at_edit *e) {
    at_text_add(out, words[e->kind]);
    switch (e->kind) {
    case AT_EDIT_SPLIT:
        at_text_addf(out, " %s %s into", e->stage, e->loop);
        add_names(out, e);
        if (e->knob || e->other)
            at_text_addf(out, e->knob ? " by %s" : " of %s", e->knob ? e->knob : e->other);
        return;
    case AT_EDIT_ORDER:
    case AT_EDIT_FUSE:
    case AT_EDIT_RENAME:
        at_text_addf(out, " %s:", e->stage);
        add_names(out, e);
        return;
    case AT_EDIT_NEST:
    case AT_EDIT_JOIN:
        at_text_addf(out, " %s %s %s", e->stage, e->before ? "before" : "behind", e->other);
        if (e->loop) at_text_addf(out, " in %s", e->loop);
        return;
    case AT_EDIT_DISSOLVE:
    case AT_EDIT_RUNNING:
    case AT_EDIT_FISSION:
    case AT_EDIT_INIT: at_text_addf(out, " %s", e->stage); return;
    case AT_EDIT_INLINE:
        at_text_addf(out, " %s%s", e->stage, e->names[0] ? " of" : "");
        add_names(out, e);
        return;
    case AT_EDIT_COPY:
        at_text_addf(out, " %s %s", copies[e->copy],
                     e->copy == AT_COPY_WRITE ? e->stage : e->other);
        if (e->copy != AT_COPY_WRITE) at_text_addf(out, " for %s", e->stage);
        at_text_addf(out, " as %s", e->names[0]);
        return;
    case AT_EDIT_SHIFT:
        at_text_addf(out, " %s for %s as", e->other, e->stage);
        add_names(out, e);
        return;
    case AT_EDIT_OPERAND:
    case AT_EDIT_TURN:
        at_text_addf(out, " %s", e->other);
        if (e->loop) at_text_addf(out, " along %s", e->loop);
        at_text_addf(out, " for %s as %s", e->stage, e->names[0]);
        return;
    case AT_EDIT_ACROSS:
    case AT_EDIT_PHASES:
    case AT_EDIT_FACTOR:
        at_text_addf(out, " %s %s as %s", e->stage, e->loop, e->names[0]);
        if (e->other) at_text_addf(out, e->kind == AT_EDIT_FACTOR ? " before %s" : " %s", e->other);
        return;
    case AT_EDIT_MARK: at_text_addf(out, " %s %s %s", e->stage, e->loop, anns[e->ann]); return;
    case AT_EDIT_DROP:
    case AT_EDIT_WIDEN: at_text_addf(out, " %s %s", e->stage, e->loop); return;
    case AT_EDIT_REPEAT:
        at_text_addf(out, " %s in", e->stage);
        add_names(out, e);
        if (e->loop) at_text_addf(out, " around %s", e->loop);
        return;
    case AT_EDIT_ATTRIBUTE: at_text_addf(out, " %s %s", e->stage, e->other); return;
    case AT_EDIT_SIZE: add_names(out, e); return;
    case AT_EDIT_KINDS: break;
    }
    AT_BUG("edit of kind %d", e->kind);
}

/* ---- parse ----------------------------------------------------------------------------------- */

typedef struct line_reader {
    at_arena *arena;
    at_lex *lex;
    at_error *err;
    int line;
} line_reader;

static bool at_end(const line_reader *r) {
    return r->lex->kind == AT_TOK_END || r->lex->line != r->line;
}

static at_status word(line_reader *r, const char *expected, const char **out) {
    if (at_end(r)) return at_lex_fail(r->lex, r->err, "line %d ends before %s", r->line, expected);
    if (r->lex->kind != AT_TOK_NAME) return at_lex_fail(r->lex, r->err, "expected %s", expected);
    *out = at_strndup(r->arena, r->lex->start, (size_t)r->lex->length);
    return at_lex_next(r->lex, r->err);
}

/* acc, acc.init */
static at_status stage(line_reader *r, const char **out) {
    AT_TRY(word(r, "a stage", out));
    if (at_end(r) || !at_lex_is(r->lex, ".")) return AT_OK;
    AT_TRY(at_lex_next(r->lex, r->err));
    if (at_end(r) || !at_lex_is(r->lex, "init"))
        return at_lex_fail(r->lex, r->err, "expected init");
    *out = at_format(r->arena, "%s.init", *out);
    return at_lex_next(r->lex, r->err);
}

static at_status expect(line_reader *r, const char *token) {
    if (at_end(r)) return at_lex_fail(r->lex, r->err, "line %d ends before %s", r->line, token);
    return at_lex_expect(r->lex, token, r->err);
}

/* Which of n words; they are told where it is none. */
static at_status choice(line_reader *r, const char *const *of, int n, int *out) {
    at_text list = {0};
    for (*out = 0; *out < n; ++*out)
        if (!at_end(r) && at_lex_is(r->lex, of[*out])) return at_lex_next(r->lex, r->err);
    for (int i = 0; i < n; i++) at_text_addf(&list, "%s%s", i ? ", " : "", of[i]);
    at_lex_fail(r->lex, r->err, "expected one of %s", at_text_str(&list));
    at_text_free(&list);
    return AT_E_INPUT;
}

static at_status name(line_reader *r, at_edit *e, int i, bool sized) {
    AT_TRY(word(r, "a name", &e->names[i]));
    if (!sized || at_end(r) || !at_lex_is(r->lex, ":")) return AT_OK;
    AT_TRY(at_lex_next(r->lex, r->err));
    if (at_end(r) || r->lex->kind != AT_TOK_INT || r->lex->integer < 1)
        return at_lex_fail(r->lex, r->err, "expected a whole number from 1 on");
    e->sizes[i] = r->lex->integer;
    return at_lex_next(r->lex, r->err);
}

/* Up to the end of the line. */
static at_status names(line_reader *r, at_edit *e, bool sized) {
    for (int i = 0; !at_end(r) || i == 0; i++) {
        if (i == AT_EDIT_MAX_NAMES)
            return at_lex_fail(r->lex, r->err, "more than %d names", AT_EDIT_MAX_NAMES);
        AT_TRY(name(r, e, i, sized));
        if (sized && !e->sizes[i])
            return at_lex_fail(r->lex, r->err, "%s lacks its size, as in %s:8", e->names[i],
                               e->names[i]);
    }
    return AT_OK;
}

static at_status place(line_reader *r, at_edit *e) {
    static const char *const sides[] = {"behind", "before"};
    int side;
    AT_TRY(stage(r, &e->stage));
    AT_TRY(choice(r, sides, 2, &side));
    e->before = side == 1;
    AT_TRY(stage(r, &e->other));
    if (e->kind == AT_EDIT_JOIN && at_end(r)) return AT_OK;
    AT_TRY(expect(r, "in"));
    return word(r, "a loop", &e->loop);
}

static at_status copy(line_reader *r, at_edit *e) {
    int kind;
    AT_TRY(choice(r, copies, 3, &kind));
    e->copy = (at_copy_kind)kind;
    AT_TRY(word(r, "a tensor", e->copy == AT_COPY_WRITE ? &e->stage : &e->other));
    if (e->copy != AT_COPY_WRITE) {
        AT_TRY(expect(r, "for"));
        AT_TRY(stage(r, &e->stage));
    }
    AT_TRY(expect(r, "as"));
    return name(r, e, 0, false);
}

static at_status attributes(line_reader *r, at_edit *e) {
    AT_TRY(stage(r, &e->stage));
    if (at_end(r) || !at_lex_is(r->lex, "[")) return at_lex_fail(r->lex, r->err, "expected '['");
    const char *from = r->lex->start, *to = from;
    while (!at_end(r)) {
        to = r->lex->start + r->lex->length;
        AT_TRY(at_lex_next(r->lex, r->err));
    }
    e->other = at_strndup(r->arena, from, (size_t)(to - from));
    return AT_OK;
}

static at_status split(line_reader *r, at_edit *e) {
    AT_TRY(stage(r, &e->stage));
    AT_TRY(word(r, "a loop", &e->loop));
    AT_TRY(expect(r, "into"));
    return names(r, e, true);
}

static at_status repeat(line_reader *r, at_edit *e) {
    AT_TRY(stage(r, &e->stage));
    AT_TRY(expect(r, "in"));
    AT_TRY(name(r, e, 0, true));
    if (at_end(r)) return AT_OK;
    AT_TRY(expect(r, "around"));
    return word(r, "a loop", &e->loop);
}

static at_status mark(line_reader *r, at_edit *e) {
    int ann;
    AT_TRY(stage(r, &e->stage));
    AT_TRY(word(r, "a loop", &e->loop));
    AT_TRY(choice(r, anns, sizeof anns / sizeof *anns, &ann));
    e->ann = (at_ann)ann;
    return AT_OK;
}

static at_status rest(line_reader *r, at_edit *e) {
    switch (e->kind) {
    case AT_EDIT_SPLIT: return split(r, e);
    case AT_EDIT_ORDER:
    case AT_EDIT_FUSE:
    case AT_EDIT_RENAME:
        AT_TRY(stage(r, &e->stage));
        AT_TRY(expect(r, ":"));
        return names(r, e, false);
    case AT_EDIT_NEST:
    case AT_EDIT_JOIN: return place(r, e);
    case AT_EDIT_DISSOLVE:
    case AT_EDIT_RUNNING:
    case AT_EDIT_FISSION:
    case AT_EDIT_INIT: return stage(r, &e->stage);
    case AT_EDIT_INLINE:
        AT_TRY(stage(r, &e->stage));
        if (at_end(r)) return AT_OK;
        AT_TRY(expect(r, "of"));
        return names(r, e, true);
    case AT_EDIT_COPY: return copy(r, e);
    case AT_EDIT_SHIFT:
        AT_TRY(word(r, "a tensor", &e->other));
        AT_TRY(expect(r, "for"));
        AT_TRY(stage(r, &e->stage));
        AT_TRY(expect(r, "as"));
        for (int i = 0; i < 3; i++) AT_TRY(name(r, e, i, false));
        return AT_OK;
    case AT_EDIT_OPERAND:
    case AT_EDIT_TURN:
        AT_TRY(word(r, "a tensor", &e->other));
        if (e->kind == AT_EDIT_TURN || (!at_end(r) && at_lex_is(r->lex, "along"))) {
            AT_TRY(expect(r, "along"));
            AT_TRY(word(r, "an axis", &e->loop));
        }
        AT_TRY(expect(r, "for"));
        AT_TRY(stage(r, &e->stage));
        AT_TRY(expect(r, "as"));
        return name(r, e, 0, false);
    case AT_EDIT_ACROSS:
    case AT_EDIT_PHASES:
    case AT_EDIT_FACTOR:
        AT_TRY(stage(r, &e->stage));
        AT_TRY(word(r, "a loop", &e->loop));
        AT_TRY(expect(r, "as"));
        AT_TRY(name(r, e, 0, false));
        if (e->kind == AT_EDIT_ACROSS || at_end(r)) return AT_OK;
        if (e->kind == AT_EDIT_PHASES) return e->other = "whole", expect(r, "whole");
        AT_TRY(expect(r, "before"));
        return word(r, "an axis", &e->other);
    case AT_EDIT_MARK: return mark(r, e);
    case AT_EDIT_DROP:
    case AT_EDIT_WIDEN: AT_TRY(stage(r, &e->stage)); return word(r, "a loop", &e->loop);
    case AT_EDIT_REPEAT: return repeat(r, e);
    case AT_EDIT_ATTRIBUTE: return attributes(r, e);
    case AT_EDIT_SIZE: return names(r, e, true);
    case AT_EDIT_KINDS: break;
    }
    AT_BUG("edit of kind %d", e->kind);
}

at_status at_edit_parse(at_arena *a, at_lex *l, at_edit *out, at_error *err) {
    line_reader r = {a, l, err, l->line};
    int kind;
    *out = (at_edit){0};
    AT_TRY(choice(&r, words, AT_EDIT_KINDS, &kind));
    out->kind = (at_edit_kind)kind;
    AT_TRY(rest(&r, out));
    return at_end(&r) ? AT_OK : at_lex_fail(l, err, "expected the end of the line");
}
