/* cost/estimate_work.c: operations of a stage's body, what they take, and the axes that they depend
 * on.
 */
#include "cost/estimate_work.h"

#include "base/expr.h"
#include "cost/cost.h"
#include "schedule/access.h"

/* Operations of a function of an element as codegen/tile/functions.c writes it, where one
 * instruction multiplies and adds and two scale by a power of two; how many multiply and add; what
 * scaling takes more in others, whose last product may be added at once; which of all divide or
 * take a root. */
static const struct {
    int all, joined, scaled, slow;
} functions[AT_FUNCTION_COUNT] = {
    [AT_FUNCTION_EXP] = {12, 9, 7, 0},     [AT_FUNCTION_LOG] = {32, 11, 0, 0},
    [AT_FUNCTION_SQRT] = {1, 0, 0, 1},     [AT_FUNCTION_RSQRT] = {2, 0, 0, 2},
    [AT_FUNCTION_TANH] = {28, 15, 1, 1},   [AT_FUNCTION_ERF] = {34, 24, 1, 0},
    [AT_FUNCTION_SIGMOID] = {17, 9, 2, 1}, [AT_FUNCTION_SIN] = {33, 18, 0, 0},
    [AT_FUNCTION_COS] = {32, 18, 0, 0},    [AT_FUNCTION_ABS] = {1, 0, 0, 0},
    [AT_FUNCTION_FLOOR] = {10, 0, 0, 0},   [AT_FUNCTION_CEIL] = {12, 0, 0, 0},
    [AT_FUNCTION_ROUND] = {7, 0, 0, 0},    [AT_FUNCTION_HALF] = {12, 0, 0, 0},
    [AT_FUNCTION_F16] = {11, 0, 0, 0},     [AT_FUNCTION_BF16] = {8, 0, 0, 0},
};

/* Multiply-adds in the time of a division or a root: of a vector of 512 bits, and of others. */
static const double slow_wide = 20, slow_narrow = 10;

void est_works_add(est_works *w, uint32_t axes, double time) {
    int i = 0;
    while (i < w->num && w->of[i].axes != axes) i++;
    if (i == EST_WORKS) { /* no room for other axes: wherever any of both is another */
        w->of[--i].axes |= axes;
    } else if (i == w->num) w->of[w->num++] = (est_work){.axes = axes};
    w->of[i].time += time;
}

static void join(est_works *w, const est_works *more) {
    for (int i = 0; i < more->num; i++) est_works_add(w, more->of[i].axes, more->of[i].time);
}

double est_works_time(const est_works *w) {
    double sum = 0;
    for (int i = 0; i < w->num; i++) sum += w->of[i].time;
    return sum;
}

typedef struct counted {
    double operations;
    est_works works;
} counted;

typedef struct counting {
    const at_compute *c;
    const at_target *target;
    bool has_product; /* a term's product that adding up makes was met */
} counting;

static int of_call(const at_target *target, const at_expr *e) {
    int n = functions[e->integer].all;
    if (!target->fused) n += functions[e->integer].joined;
    if (!target->scales) n += functions[e->integer].scaled;
    return n;
}

/* Is it a product, or a quotient that becomes one (at_value_fold)? */
static bool is_product(const at_expr *e) {
    if (e->op != AT_X_DIV) return e->op == AT_X_MUL;
    return at_exact_reciprocal(at_expr_number(e->arg[1])) != 0;
}

/* An operation on floats. in_sum: as of count(). */
static void add_operation(counting *k, const at_expr *e, bool in_sum, counted *out) {
    const double slow = k->target->lanes >= AT_WIDE_LANES ? slow_wide : slow_narrow;
    const int all = e->op == AT_X_CALL ? of_call(k->target, e) : 1;
    const int divides = e->op == AT_X_CALL                    ? functions[e->integer].slow
                        : e->op == AT_X_DIV && !is_product(e) ? 1
                                                              : 0;
    uint32_t axes = 0;
    bool unused = false;
    out->operations += all;
    if (in_sum && e->op == AT_X_MUL && (k->target->fused || !k->has_product)) {
        k->has_product = true;
        return;
    }
    at_index_look(e, &axes, &unused);
    est_works_add(&out->works, axes, all + divides * (slow - 1));
}

/* Counts operations on floats; is the expression a float itself? A product is added, or taken away,
 * or has something taken away, by the instruction that makes it. in_sum: the expression is a term
 * of a sum, whose products are counted with it, or terms that are added up. */
static bool count(counting *k, const at_expr *e, bool in_sum, counted *out) {
    bool is_float = e->op == AT_X_FLOAT || e->op == AT_X_CALL ||
                    (e->op == AT_X_INDEX && !at_tensor_has_entries(&k->c->tensors[e->ref]));
    bool adds = e->op == AT_X_ADD || e->op == AT_X_SUB, joins = false;
    if (e->op == AT_X_INDEX) return is_float;
    if (e->op == AT_X_SELECT) { /* one of its two values is worked out: the longer one counts */
        counted of[2] = {{.operations = 0}, {.operations = 0}};
        const bool before = k->has_product;
        bool has[2];
        for (int i = 0; i < 2; i++) {
            k->has_product = before;
            is_float |= count(k, e->arg[i + 1], in_sum, &of[i]);
            has[i] = k->has_product;
        }
        k->has_product = has[0] || has[1];
        const counted *longer = &of[est_works_time(&of[1].works) > est_works_time(&of[0].works)];
        out->operations += of[of[1].operations > of[0].operations].operations;
        join(&out->works, &longer->works);
        return is_float;
    }
    for (int i = 0; i < e->nargs; i++) {
        bool of_floats = count(k, e->arg[i], in_sum && adds, out);
        joins |= of_floats && is_product(e->arg[i]);
        is_float |= of_floats;
    }
    joins &= adds && !in_sum && k->target->fused;
    if (is_float && e->op != AT_X_FLOAT && !joins) add_operation(k, e, in_sum, out);
    return is_float;
}

double est_operations(const at_compute *c, const at_target *target, int tensor, est_works *works) {
    const at_tensor *t = &c->tensors[tensor];
    counting k = {.c = c, .target = target};
    counted all = {.operations = 0};
    count(&k, t->body, t->num_reduce && t->reduction == AT_REDUCE_SUM, &all);
    *works = all.works;
    return all.operations;
}
