/* What maxima, minima and conditions hide in computations that go from step to step, or are written
 * out as stages behind each other: a kernel that takes the other operand, or a neighbour's element,
 * in one element of one step is noticed on some of the data that kernels are checked with. Each
 * change is in one element of one stage alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "tests/run/text_subject.h"

static at_expr *node(at_arena *a, at_op op, at_expr *x, at_expr *y) {
    at_expr *args[] = {x, y};
    return at_expr_new(a, op, 2, args);
}

static at_expr *axis_is(at_arena *a, const at_tensor *t, int axis, int64_t at) {
    at_expr *e = at_expr_name(a, t->axes[axis].name);
    e->ref = axis;
    return node(a, AT_X_EQ, e, at_expr_int(a, at));
}

static at_expr *copy(at_arena *a, const at_expr *e) {
    at_expr *x = at_copy(a, e, sizeof *e);
    x->arg = AT_NEW_ARRAY(a, at_expr *, e->nargs + 1);
    for (int i = 0; i < e->nargs; i++) x->arg[i] = copy(a, e->arg[i]);
    return x;
}

typedef AT_VEC(at_expr **) spots;

static void collect(at_arena *a, at_expr **at, spots *out) {
    *at_push(a, out) = at;
    for (int i = 0; i < (*at)->nargs && (*at)->op != AT_X_INDEX; i++)
        collect(a, &(*at)->arg[i], out);
}

/* What stands at a spot becomes its k-th operand, or reads the neighbour of an element; NULL: there
 * is no such change. */
static at_expr *change(at_arena *a, const text_subject *s, at_expr *e, int k) {
    if (e->op == AT_X_MIN || e->op == AT_X_MAX) return k < 2 ? e->arg[k] : NULL;
    if (e->op == AT_X_SELECT) return k < 2 ? e->arg[k + 1] : NULL;
    if (e->op != AT_X_INDEX || k >= e->nargs) return NULL;
    const int64_t extent = s->extents[e->ref][k];
    if (extent < 2 || (k == 0 && s->compute->tensors[e->ref].role == AT_ROLE_STAGE)) return NULL;
    at_expr *x = copy(a, e), *next = node(a, AT_X_ADD, x->arg[k], at_expr_int(a, 1));
    x->arg[k] = node(a, AT_X_MOD, next, at_expr_int(a, extent));
    return x;
}

/* Only in one element. */
static at_expr *in_element(const text_subject *s, int stage, at_expr *changed, char *text,
                           size_t size, at_rng *rng) {
    const at_tensor *t = &s->compute->tensors[stage];
    at_expr *where = NULL;
    for (int i = 0; i < t->num_axes; i++) {
        const int64_t at = (int64_t)at_rng_below(rng, (uint64_t)s->extents[stage][i]);
        at_expr *one = axis_is(s->arena, t, i, at);
        where = where ? node(s->arena, AT_X_AND, where, one) : one;
        const size_t n = strlen(text);
        snprintf(text + n, size - n, " %lld", (long long)at);
    }
    at_expr *args[] = {where, changed, t->body};
    return at_expr_new(s->arena, AT_X_SELECT, 3, args);
}

/* One change that is drawn; false: there is none. */
static bool try_one(text_subject *s, at_rng *rng, int *missed) {
    const int stage = (int)at_rng_below(rng, (uint64_t)s->compute->num_tensors);
    at_tensor *t = &s->compute->tensors[stage];
    spots all = {0};
    char text[200] = "";
    if (t->role != AT_ROLE_STAGE || t->is_table || !t->num_axes || t->num_reduce) return false;
    at_expr *whole = copy(s->arena, t->body), **spot;
    collect(s->arena, &whole, &all);
    spot = all.data[at_rng_below(rng, (uint64_t)all.len)];
    at_expr *before = *spot, *other = change(s->arena, s, before, (int)at_rng_below(rng, 4));
    if (!other) return false;
    *spot = other;
    text_mutant m = {.stage = stage, .axis = -1, .slot = &t->body, .before = t->body};
    t->body = in_element(s, stage, whole, text, sizeof text, rng);
    const bool is_missed = text_subject_judge(s, &m) == TEXT_NOT_NOTICED;
    text_restore(&m);
    if (!is_missed) return true;
    at_text was = {0}, is = {0};
    at_expr_print(&was, before), at_expr_print(&is, other);
    print_message("  %s at%s: %s as %s\n", t->name, text, at_text_str(&was), at_text_str(&is));
    at_text_free(&was), at_text_free(&is);
    ++*missed;
    return true;
}

static int missed_of(const char *name, const char *args, int wanted) {
    text_subject s;
    at_rng rng;
    int missed = 0, tried = 0;
    text_subject_open(&s, name, args);
    at_rng_seed(&rng, 5, 5);
    for (int k = 0; k < 50 * wanted && tried < wanted; k++) tried += try_one(&s, &rng, &missed);
    print_message("%s %s: %d of %d missed\n", name, args, missed, tried);
    text_subject_close(&s);
    return missed;
}

static const char fires[] = "args T=12, H=5\n"
                            "c[T, H] : input\n"
                            "v[t:T, h:H] = (t > 0 ? (v[t - 1, h] > 1 ? 0 : v[t - 1, h]*0.5) : 0) + "
                            "c[t, h]\n"
                            "out[h:H] = v[T - 1, h]\n";

/* The last step alone is seen. */
static void conditions(void **state) {
    (void)state;
    assert_int_equal(missed_of(fires, "", 40), 0);
}

static void sums_behind(void **state) {
    (void)state;
    assert_int_equal(missed_of("tests/te/gated_steps.te", "", 25), 0);
}

static const char middle[] = "args H=4, W=3\n"
                             "x[9, H, W] : input\n"
                             "a[h:H, w:W] = min(x[0, h, w], x[1, h, w])\n"
                             "b[h:H, w:W] = max(x[0, h, w], x[1, h, w])\n"
                             "c[h:H, w:W] = max(a[h, w], min(b[h, w], x[2, h, w]))\n"
                             "d[h:H, w:W] = max(c[h, w] - x[3, h, w], x[4, h, w])\n"
                             "e[h:H, w:W] = min(d[h, w] + x[5, h, w], max(x[6, h, w], x[7, h, w] - "
                             "2))\n"
                             "f[h:H, w:W] = e[h, w] > x[8, h, w] ? e[h, w] : c[h, w]\n";

static void written_out(void **state) {
    (void)state;
    assert_int_equal(missed_of(middle, "", 25), 0);
}

/* Integers that no bound says anything of. */
static void shortest_paths(void **state) {
    (void)state;
    assert_int_equal(missed_of("bench/modern/shortest_paths.te", "N=7", 25), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(conditions), cmocka_unit_test(sums_behind),
                                       cmocka_unit_test(written_out),
                                       cmocka_unit_test(shortest_paths)};
    return cmocka_run_group_tests_name("run/decided_steps", tests, NULL, NULL);
}
