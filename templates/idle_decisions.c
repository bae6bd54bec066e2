/* templates/idle_decisions.c: which decisions of a template matter to what is computed.
 *
 * define() asks at_evaluate and goes on accordingly: another computation, or other knobs and trees
 * alone. define() is run again with answers turned round; where the computation, the sizes it needs
 * and the questions that are asked stay the same, whatever is answered to all such questions, the
 * answers do not matter, and a shape of other ones has the same computation. */
#include "templates/template_int.h"

#include <string.h>

enum { MOST_IDLE = 6 }; /* 64 runs */

static void add_definition(at_arena *a, at_text *out, const at_template *t, const char *name);

/* The definitions of all names in the text, each once. */
static void add_definitions(at_arena *a, at_text *out, const at_template *t, const char *text) {
    while (*text) {
        size_t n = 0;
        while (at_in_name(text[n])) n++;
        if (n) add_definition(a, out, t, at_strndup(a, text, n));
        text += n ? n : 1;
    }
}

static void add_definition(at_arena *a, at_text *out, const at_template *t, const char *name) {
    int slot = at_symbol_find(&t->symbols, name);
    const char *begin = at_format(a, "\n%s = ", name);
    if (slot < t->num_arg_slots || (out->len && strstr(out->data, begin))) return;
    for (int i = 0; i < t->general.len; i++) {
        const at_general_step *s = &t->general.data[i];
        at_text value = {0};
        if (s->slot != slot) continue;
        if (s->expr) at_expr_print(&value, s->expr);
        else at_text_addf(&value, "%lld", (long long)s->value);
        at_text_addf(out, "%s%s\n", begin, at_text_str(&value));
        add_definitions(a, out, t, at_text_str(&value));
        at_text_free(&value);
    }
}

/* The computation with its sizes, and the questions: what must stay. */
static const char *picture(at_arena *a, const at_template *t) {
    at_text out = {0}, compute = {0};
    at_compute_print(&compute, t->compute);
    for (int i = 0; i < t->layouts.len; i++) at_text_addf(&out, "%s\n", t->layouts.data[i].text);
    at_text_add(&out, at_text_str(&compute));
    add_definitions(a, &out, t, at_text_str(&compute));
    for (int i = 0; i < t->decisions.len; i++) {
        at_text_add(&out, "\n? ");
        at_expr_print(&out, t->general.data[t->decisions.data[i]].expr);
    }
    const char *text = at_text_take(a, &out);
    at_text_free(&compute);
    return text;
}

/* NULL: it cannot be defined so. */
static const char *picture_with(at_arena *a, const at_template *t, const char *args,
                                const signed char *forced) {
    at_template again = {.arena = a,
                         .row = t->row,
                         .space = at_template_space(a),
                         .forced = forced,
                         .num_forced = t->decisions.len};
    at_error err;
    at_hash_init(&again.hash);
    if (at_args_declare(&again, &err) != AT_OK || at_args_read(&again, args, &err) != AT_OK ||
        at_template_define(&again, &err) != AT_OK)
        return NULL;
    return picture(a, &again);
}

/* Is it a truth value, so that there is one other answer? */
static bool is_truth(const at_expr *e) {
    switch (e->op) {
    case AT_X_LT:
    case AT_X_LE:
    case AT_X_GT:
    case AT_X_GE:
    case AT_X_EQ:
    case AT_X_NE:
    case AT_X_AND:
    case AT_X_OR:
    case AT_X_NOT: return true;
    default: return false;
    }
}

bool *at_idle_decisions(at_arena *a, const at_template *t, const char *args) {
    int n = t->decisions.len, found[MOST_IDLE], count = 0;
    bool *idle = AT_NEW_ARRAY(a, bool, n);
    signed char *forced = AT_NEW_ARRAY(a, signed char, n);
    const char *own = picture(a, t);
    memset(forced, -1, (size_t)n);
    for (int i = 0; i < n && count < MOST_IDLE; i++) {
        const at_general_step *s = &t->general.data[t->decisions.data[i]];
        if (!is_truth(s->expr)) continue;
        forced[i] = !s->value;
        const char *other = picture_with(a, t, args, forced);
        if (other && !strcmp(own, other)) found[count++] = i;
        forced[i] = -1;
    }
    for (int answers = 0; answers < 1 << count; answers++) {
        for (int i = 0; i < count; i++) forced[found[i]] = (signed char)(answers >> i & 1);
        const char *other = picture_with(a, t, args, forced);
        if (!other || strcmp(own, other) != 0) return idle; /* none */
    }
    for (int i = 0; i < count; i++) idle[found[i]] = true;
    return idle;
}
