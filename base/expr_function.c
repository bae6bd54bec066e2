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
} call;

static int parameter(const at_text_function *f, const at_expr *e) {
    for (int i = 0; e->op == AT_X_NAME && i < f->num_params; i++)
        if (!strcmp(f->params[i], e->name)) return i;
    return -1;
}

static int64_t nodes_of(const call *c, const at_expr *e) {
    const int p = parameter(c->of, e);
    int64_t n = 1;
    if (p >= 0) return at_expr_nodes(c->args[p]);
    for (int i = 0; i < e->nargs; i++) n += nodes_of(c, e->arg[i]);
    return n;
}

static at_expr *put_in(at_expr *copy, void *ctx) {
    const call *c = ctx;
    const int p = parameter(c->of, copy);
    return p < 0 ? copy : c->args[p];
}

at_expr *at_text_function_expand(at_arena *a, const at_text_function *f, at_expr *const *args) {
    call c = {f, args};
    return nodes_of(&c, f->body) > AT_MOST_EXPANDED ? NULL : at_expr_map(a, f->body, put_in, &c);
}
