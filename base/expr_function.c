/* base/expr_function.c: functions that a text defines by an expression. What calls one has its
 * body, with arguments in place of parameters, so that nothing else knows of them. */
#include "base/base.h"

#include <string.h>

const at_text_function *at_text_function_find(const at_text_functions *f, const char *name) {
    for (int i = 0; f && i < f->list.len; i++)
        if (!strcmp(f->list.data[i].name, name)) return &f->list.data[i];
    return NULL;
}

typedef struct call {
    const at_text_function *of;
    at_expr *const *args;
    int64_t nodes;
} call;

static int parameter(const at_text_function *f, const at_expr *e) {
    for (int i = 0; e->op == AT_X_NAME && i < f->num_params; i++)
        if (!strcmp(f->params[i], e->name)) return i;
    return -1;
}

static at_walk count_nodes(const at_expr *e, void *ctx) {
    call *c = ctx;
    const int p = parameter(c->of, e);
    c->nodes += p < 0 ? 1 : at_expr_nodes(c->args[p]);
    return AT_WALK_ON;
}

static at_expr *put_in(const at_expr *e, at_expr *copy, void *ctx) {
    const call *c = ctx;
    const int p = parameter(c->of, e);
    return p < 0 ? copy : c->args[p];
}

at_expr *at_text_function_expand(at_arena *a, const at_text_function *f, at_expr *const *args) {
    call c = {f, args, 0};
    at_expr_walk(f->body, count_nodes, &c);
    return c.nodes > AT_MOST_EXPANDED ? NULL : at_expr_map(a, f->body, put_in, &c);
}
