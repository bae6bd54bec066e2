/* codegen/dump.c: affine forms and the tree between passes as text, for --dump=PASS. */
#include "codegen/codegen_int.h"
#include "codegen/tile/tile.h"

static void print_affine(const at_low *l, at_text *out, const at_aff *x) {
    bool first = true;
    for (int i = 0; i < x->n; i++) {
        const at_sym *s = &l->syms.data[x->t[i].sym];
        int64_t k = x->t[i].k;
        if (!first || k < 0) at_text_add(out, k < 0 ? (first ? "-" : " - ") : " + ");
        if (k != 1 && k != -1) at_text_addf(out, "%lld*", (long long)(k < 0 ? -k : k));
        first = false;
        switch (s->kind) {
        case AT_SYM_LOOP: at_text_add(out, s->name); break;
        case AT_SYM_DIV:
            at_text_add(out, "floor((");
            print_affine(l, out, s->of);
            at_text_addf(out, ")/%lld)", (long long)s->by);
            break;
        case AT_SYM_LOAD:
            at_text_addf(out, "%s[", l->tensors[s->tensor].name);
            print_affine(l, out, s->of);
            at_text_add(out, "]");
            break;
        case AT_SYM_MUL:
            at_text_add(out, "(");
            print_affine(l, out, s->of);
            at_text_add(out, ")*(");
            print_affine(l, out, s->of2);
            at_text_add(out, ")");
            break;
        default:
            at_text_add(out, s->kind == AT_SYM_MIN ? "min(" : "max(");
            print_affine(l, out, s->of);
            at_text_add(out, ", ");
            print_affine(l, out, s->of2);
            at_text_add(out, ")");
        }
    }
    if (first || x->c) {
        if (first) at_text_addf(out, "%lld", (long long)x->c);
        else
            at_text_addf(out, x->c < 0 ? " - %lld" : " + %lld",
                         (long long)(x->c < 0 ? -x->c : x->c));
    }
}

static void cond_print(const at_low *l, at_text *out, const at_cond *c) {
    switch (c->op) {
    case AT_C_FALSE: at_text_add(out, "false"); return;
    case AT_C_TRUE: at_text_add(out, "true"); return;
    case AT_C_ATOM:
        print_affine(l, out, c->atom);
        at_text_add(out, " >= 0");
        return;
    case AT_C_NOT: at_text_add(out, "!"); break;
    default: break;
    }
    at_text_add(out, "(");
    cond_print(l, out, c->a);
    if (c->b) {
        at_text_add(out, c->op == AT_C_AND ? " && " : " || ");
        cond_print(l, out, c->b);
    }
    at_text_add(out, ")");
}

static void indices(const at_low *l, at_text *out, int tensor, const at_aff *const *ix,
                    const at_aff *at) {
    const at_low_tensor *t = &l->tensors[tensor];
    at_text_addf(out, "%s[", t->name);
    if (at) print_affine(l, out, at);
    for (int i = 0; !at && i < t->num_axes; i++) {
        if (i) at_text_add(out, ", ");
        print_affine(l, out, ix[i]);
    }
    at_text_add(out, "]");
}

static void value_print(const at_low *l, at_text *out, const at_value *v) {
    static const char *const op[] = {
        [AT_V_ADD] = " + ",    [AT_V_SUB] = " - ",          [AT_V_MUL] = " * ",
        [AT_V_DIV] = " / ",    [AT_V_MIN] = ", ",           [AT_V_MAX] = ", ",
        [AT_V_LESS] = " < ",   [AT_V_AT_MOST] = " <= ",     [AT_V_EQUAL] = " == ",
        [AT_V_CHOOSE] = " ? ", [AT_V_EITHER] = " : ",       [AT_V_BIT_AND] = " & ",
        [AT_V_BIT_OR] = " | ", [AT_V_SHIFT_RIGHT] = " >> ", [AT_V_PLACED] = " at "};
    if (v->op == AT_V_CONST) {
        at_text_addf(out, "%.9g", v->number);
        return;
    }
    if (v->op == AT_V_LOAD) {
        indices(l, out, v->tensor, v->ix, v->at);
        if (v->may_miss) at_text_addf(out, " or %.9g", v->number);
        return;
    }
    if (v->op == AT_V_TABLE) {
        at_text_addf(out, "%s[", l->tensors[v->tensor].name);
        print_affine(l, out, v->at);
        at_text_add(out, "]");
        return;
    }
    if (v->op == AT_V_INDEX) {
        bool is_sum = v->at->n + (v->at->c != 0) > 1;
        at_text_add(out, is_sum ? "(" : "");
        print_affine(l, out, v->at);
        at_text_add(out, is_sum ? ")" : "");
        return;
    }
    if (v->op == AT_V_SELECT) {
        at_text_add(out, "(");
        cond_print(l, out, v->cond);
        at_text_add(out, " ? ");
        value_print(l, out, v->a);
        at_text_add(out, " : ");
        value_print(l, out, v->b);
        at_text_add(out, ")");
        return;
    }
    if (v->op == AT_V_CALL || v->op == AT_V_NUMBER || v->op == AT_V_WHOLE) {
        at_text_addf(out, "%s(",
                     v->op == AT_V_CALL     ? at_function_name(v->function)
                     : v->op == AT_V_NUMBER ? "float"
                                            : "int");
        value_print(l, out, v->a);
        at_text_add(out, ")");
        return;
    }
    at_text_add(out, v->op == AT_V_MIN ? "min(" : v->op == AT_V_MAX ? "max(" : "(");
    value_print(l, out, v->a);
    at_text_add(out, op[v->op]);
    value_print(l, out, v->b);
    at_text_add(out, ")");
}

static void loop_print(const at_low *l, at_text *out, const at_ir *n) {
    at_text_addf(out, "for %s in ", l->syms.data[n->loop.sym].name);
    if (n->loop.lo_aff) print_affine(l, out, n->loop.lo_aff);
    else at_text_addf(out, "%lld", (long long)n->loop.lo);
    at_text_add(out, " .. ");
    if (n->loop.hi_aff) print_affine(l, out, n->loop.hi_aff);
    else at_text_addf(out, "%lld", (long long)n->loop.hi);
    at_text_addf(out, "%s%s\n", n->loop.ann != AT_ANN_NONE ? " " : "", at_ann_name(n->loop.ann));
}

void at_ir_print(at_low *l, at_text *out, const at_ir *list, int indent) {
    for (const at_ir *n = list; n; n = n->next) {
        at_text_addf(out, "%*s", 4 * indent, "");
        switch (n->kind) {
        case AT_IR_LOOP: loop_print(l, out, n); break;
        case AT_IR_IF:
            at_text_add(out, "if ");
            print_affine(l, out, n->test);
            at_text_add(out, " >= 0\n");
            break;
        case AT_IR_STMT:
            if (n->stmt.guard) {
                at_text_add(out, "where ");
                cond_print(l, out, n->stmt.guard);
                at_text_add(out, ": ");
            }
            indices(l, out, n->stmt.tensor, n->stmt.ix, n->stmt.at);
            static const char *const joins[AT_REDUCE_COUNT] = {" += ", " max= ", " min= ", " *= "};
            at_text_add(out, n->stmt.add || n->stmt.num_places ? joins[n->stmt.reduction] : " = ");
            if (n->stmt.integer) print_affine(l, out, n->stmt.integer);
            else value_print(l, out, n->stmt.val);
            at_text_add(out, "\n");
            break;
        case AT_IR_TILE:
            at_text_addf(out, "%s(", n->call->tile->name);
            for (int i = 0; i < n->call->tile->num_slots; i++) {
                at_text_addf(out, "%s%s + ", i ? ", " : "", n->call->tile->slot_name[i]);
                print_affine(l, out, n->call->slot_at[i]);
            }
            for (int i = 0; i < n->call->tile->num_trips; i++) {
                at_text_add(out, "; ");
                print_affine(l, out, n->call->trip[i]);
            }
            at_text_add(out, ")\n");
            break;
        }
        at_ir_print(l, out, n->child, indent + 1);
        if (n->other) {
            at_text_addf(out, "%*selse\n", 4 * indent, "");
            at_ir_print(l, out, n->other, indent + 1);
        }
    }
}
