/* schedule/general.c: the numbers of a computation from arguments that no task was made of. */
#include "schedule/schedule_int.h"

#include <string.h>

at_status at_general_values(at_arena *a, const at_general *g, const int64_t *args, int64_t **values,
                            at_error *err) {
    int n = g->compute->symbols->names.len;
    int64_t *v = AT_NEW_ARRAY(a, int64_t, n);
    memcpy(v, args, sizeof *v * (size_t)g->num_args);
    for (int i = 0; i < g->num_args; i++)
        if (v[i] < g->least[i])
            return at_fail(err, AT_E_INPUT, "%s is below %lld", g->compute->symbols->names.data[i],
                           (long long)g->least[i]);
    for (int i = 0; i < g->num_steps; i++) {
        const at_general_step *s = &g->steps[i];
        int64_t x = s->value;
        if (s->expr) AT_TRY(at_expr_eval(s->expr, v, &x, err));
        if (s->slot >= 0) v[s->slot] = x;
        else if (x != s->value)
            return at_fail(err, AT_E_INPUT,
                           "a shape of another form: a condition is %lld, not %lld", (long long)x,
                           (long long)s->value);
    }
    *values = v;
    return AT_OK;
}

static bool same_text(const at_compute *x, const at_compute *y) {
    at_text a = {0}, b = {0};
    at_compute_print(&a, x);
    at_compute_print(&b, y);
    bool same = !strcmp(at_text_str(&a), at_text_str(&b));
    at_text_free(&a);
    at_text_free(&b);
    return same;
}

bool at_general_equal(const at_general *x, const at_general *y) {
    if (x->num_args != y->num_args || x->num_steps != y->num_steps ||
        !same_text(x->compute, y->compute))
        return false;
    for (int i = 0; i < x->num_steps; i++) {
        const at_general_step *s = &x->steps[i], *r = &y->steps[i];
        if (s->slot != r->slot || !s->expr != !r->expr) return false;
        /* what a size was for one shape does not matter */
        if ((s->slot < 0 || !s->expr) && s->value != r->value) return false;
        if (s->expr && !at_expr_equal(s->expr, r->expr)) return false;
    }
    return true;
}
