/* schedule/compute_table.c: a stage of given numbers, such as the matrices of a transform:
 *
 *   B[e:2, i:3] = {1, 0, -1,
 *                  0, 1, 1}
 *
 * Its expression is a choice by the axes, halved again and again, so that whatever reads
 * expressions reads it, too. */
#include "schedule/schedule_int.h"

enum { MOST_NUMBERS = 4096 };

typedef AT_VEC(at_expr *) number_list;

static at_status take_number(at_arena *a, at_lex *l, number_list *out, at_error *err) {
    bool negative = at_lex_is(l, "-");
    if (negative) AT_TRY(at_lex_next(l, err));
    if (l->kind != AT_TOK_INT && l->kind != AT_TOK_FLOAT)
        return at_lex_fail(l, err, "expected a number");
    if (out->len == MOST_NUMBERS)
        return at_lex_fail(l, err, "a table has at most %d numbers", MOST_NUMBERS);
    double x = l->kind == AT_TOK_INT ? (double)l->integer : l->number;
    at_expr *e = at_expr_new(a, AT_X_FLOAT, 0, NULL);
    e->number = negative ? -x : x;
    e->line = l->line;
    e->col = l->col;
    *at_push(a, out) = e;
    return at_lex_next(l, err);
}

static at_status take_numbers(at_arena *a, at_lex *l, number_list *out, at_error *err) {
    do {
        AT_TRY(at_lex_next(l, err)); /* "{" or the comma */
        AT_TRY(take_number(a, l, out, err));
    } while (at_lex_is(l, ","));
    if (!at_lex_is(l, "}")) return at_lex_fail(l, err, "expected ',' or '}'");
    return at_lex_next(l, err);
}

static at_expr *at_place(at_expr *e, const at_expr *of) {
    e->line = of->line;
    e->col = of->col;
    return e;
}

/* What axis and those behind it choose among these numbers, axis being in [lo, hi). */
static at_expr *choose(at_arena *a, const at_tensor *t, const at_axis *axes, int axis, int64_t lo,
                       int64_t hi, at_expr *const *numbers) {
    if (axis == t->num_axes) return numbers[0];
    int64_t inner = 1;
    for (int i = axis + 1; i < t->num_axes; i++) inner *= axes[i].extent->integer;
    if (hi - lo == 1)
        return axis + 1 == t->num_axes
                   ? numbers[0]
                   : choose(a, t, axes, axis + 1, 0, axes[axis + 1].extent->integer, numbers);
    int64_t middle = lo + (hi - lo) / 2;
    at_expr *below = choose(a, t, axes, axis, lo, middle, numbers);
    at_expr *above = choose(a, t, axes, axis, middle, hi, numbers + (middle - lo) * inner);
    if (at_expr_equal(below, above)) return below;
    at_expr *name = at_place(at_expr_name(a, axes[axis].name), numbers[0]);
    at_expr *limit = at_place(at_expr_int(a, middle), numbers[0]);
    at_expr *test = at_place(at_expr_pair(a, AT_X_LT, name, limit), numbers[0]);
    return at_place(at_expr_new(a, AT_X_SELECT, 3, (at_expr *[]){test, below, above}), numbers[0]);
}

at_status compute_parse_table(at_arena *a, at_lex *l, at_tensor *t, const at_axis *axes,
                              at_error *err) {
    int line = l->line, col = l->col;
    int64_t elements = 1;
    number_list numbers = {0};
    for (int i = 0; i < t->num_axes; i++) {
        const at_expr *extent = axes[i].extent;
        if (extent->op != AT_X_INT || extent->integer < 1)
            return at_lex_fail_at(l, line, col, err,
                                  "an axis of a table has a number for its extent, such as %s:4",
                                  axes[i].name);
        if (extent->integer > MOST_NUMBERS || elements * extent->integer > MOST_NUMBERS)
            return at_lex_fail_at(l, line, col, err, "a table has at most %d numbers",
                                  MOST_NUMBERS);
        elements *= extent->integer;
    }
    AT_TRY(take_numbers(a, l, &numbers, err));
    if (numbers.len != elements)
        return at_lex_fail_at(l, line, col, err,
                              "\"%s\" has %lld elements, but %d numbers stand here", t->name,
                              (long long)elements, numbers.len);
    t->is_table = true;
    t->written = choose(a, t, axes, 0, 0, axes[0].extent->integer, numbers.data);
    return AT_OK;
}
