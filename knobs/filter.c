/* knobs/filter.c: conditions over one entity, and over all knobs together. Both are parsed once and
 * their names replaced by places to read from. */
#include "knobs/knobs_int.h"

#include <string.h>

typedef struct reader {
    at_lex lex; /* only for messages */
    at_error *err;
} reader;

static at_status fail(const reader *r, const at_expr *e, const char *text) {
    return at_lex_fail_at(&r->lex, e->line, e->col, r->err, "%s", text);
}

/* size[i], with i counted from the end if negative. */
static at_status constant_index(const reader *r, const at_expr *e, int parts, int *out) {
    const at_expr *i = e->nargs == 1 ? e->arg[0] : e;
    if (i->op != AT_X_INT) return fail(r, i, "one whole number must stand in the brackets");
    if (i->integer < -parts || i->integer >= parts) {
        char text[80];
        snprintf(text, sizeof text, "the entity has %d parts: 0 to %d, or -1 to %d", parts,
                 parts - 1, -parts);
        return fail(r, i, text);
    }
    *out = (int)(i->integer < 0 ? i->integer + parts : i->integer);
    return AT_OK;
}

/* ---- one entity
 * ------------------------------------------------------------------------------------ */

static at_status resolve_entity(const reader *r, at_expr *e, int parts) {
    if (e->op == AT_X_NAME && !strcmp(e->name, "first")) {
        e->ref = 0;
    } else if (e->op == AT_X_NAME && !strcmp(e->name, "last")) {
        e->ref = parts - 1;
    } else if (e->op == AT_X_INDEX && !strcmp(e->name, "size")) {
        return constant_index(r, e, parts, &e->ref);
    } else if (e->name || e->op == AT_X_FLOAT) {
        return fail(r, e, "a filter reads first, last and size[i], and whole numbers");
    }
    for (int i = 0; i < e->nargs; i++) AT_TRY(resolve_entity(r, e->arg[i], parts));
    return AT_OK;
}

at_status at_filter_entity(at_arena *a, const char *knob, const char *condition, int parts,
                           at_expr **out, at_error *err) {
    const char *what = at_format(a, "filter of knob %s", knob);
    reader r = {.lex = {.text = condition, .what = what}, .err = err};
    AT_TRY(at_expr_parse_text(a, condition, what, out, err));
    return resolve_entity(&r, *out, parts);
}

/* ---- all knobs
 * ------------------------------------------------------------------------------------- */

typedef struct knob_list {
    const at_knob *const *knobs;
    const char *const *names;
    const int64_t *strides;
    int len;
} knob_list;

static at_status unknown_knob(const reader *r, const at_expr *e, const knob_list *l) {
    at_text t = {0};
    at_names_list(&t, l->names, l->len);
    at_status s =
        at_lex_fail_at(&r->lex, e->line, e->col, r->err, "unknown knob \"%s\"; this space has %s",
                       e->name, at_text_str(&t));
    at_text_free(&t);
    return s;
}

static at_status find_leaf(const reader *r, const at_expr *e, const knob_list *l, at_leaf *out) {
    int n = 0;
    while (n < l->len && strcmp(l->names[n], e->name)) n++;
    if (n == l->len) return unknown_knob(r, e, l);
    const at_knob *k = l->knobs[n];
    *out = (at_leaf){n, 0, k->parts, l->strides[n], k->count, k->values};
    if (k->kind == AT_KNOB_OPTION) {
        if (e->op != AT_X_NAME) return fail(r, e, "an option is written as its name alone");
        if (!k->values) return fail(r, e, "the values of this option are not all whole numbers");
        return AT_OK;
    }
    const char *field = k->kind == AT_KNOB_SPLIT     ? "size"
                        : k->kind == AT_KNOB_REORDER ? "perm"
                                                     : NULL;
    if (!field) return fail(r, e, "an annotation has no number to compare");
    if (e->op != AT_X_FIELD || strcmp(e->field, field))
        return fail(r, e,
                    k->kind == AT_KNOB_SPLIT ? "a split is read as NAME.size[i]"
                                             : "a reorder is read as NAME.perm[i]");
    return constant_index(r, e, k->parts, &out->part);
}

static at_status resolve_joint(const reader *r, at_expr *e, const knob_list *l, at_joint *j) {
    if (e->op == AT_X_NAME || e->op == AT_X_FIELD) {
        at_leaf leaf;
        AT_TRY(find_leaf(r, e, l, &leaf));
        for (e->ref = 0; e->ref < j->num_leaves; e->ref++)
            if (j->leaves[e->ref].knob == leaf.knob && j->leaves[e->ref].part == leaf.part)
                return AT_OK;
        if (j->num_leaves == AT_MAX_LEAVES) return fail(r, e, "the condition reads too many sizes");
        j->leaves[j->num_leaves++] = leaf;
        return AT_OK;
    }
    if (e->name || e->op == AT_X_FLOAT)
        return fail(r, e, "a joint filter reads NAME.size[i], options by name, and whole numbers");
    for (int i = 0; i < e->nargs; i++) AT_TRY(resolve_joint(r, e->arg[i], l, j));
    return AT_OK;
}

at_status at_joint_new(at_arena *a, const char *condition, const at_knob *const *knobs,
                       const char *const *names, const int64_t *strides, int num_knobs,
                       const at_joint **out, at_error *err) {
    static const char what[] = "joint filter";
    reader r = {.lex = {.text = condition, .what = what}, .err = err};
    knob_list l = {knobs, names, strides, num_knobs};
    at_joint *j = AT_NEW(a, at_joint);
    at_expr *e;
    int64_t holds;
    j->condition = at_strdup(a, condition);
    AT_TRY(at_expr_parse_text(a, condition, what, &e, err));
    AT_TRY(resolve_joint(&r, e, &l, j));
    j->expr = e;
    int64_t values[AT_MAX_LEAVES];
    for (int i = 0; i < j->num_leaves; i++) values[i] = j->leaves[i].values[j->leaves[i].part];
    at_status s = at_expr_eval(e, values, &holds, err); /* shows what can never be worked out */
    if (s != AT_OK) {
        if (err) at_fail_at(err, "joint filter at index 0: ");
        return s;
    }
    *out = j;
    return AT_OK;
}

bool at_joint_holds(const at_joint *j, int64_t index) {
    int64_t values[AT_MAX_LEAVES], holds;
    for (int i = 0; i < j->num_leaves; i++) {
        const at_leaf *l = &j->leaves[i];
        values[i] = l->values[index / l->stride % l->count * l->parts + l->part];
    }
    return at_expr_eval(j->expr, values, &holds, NULL) == AT_OK && holds;
}

/* Steps through the digits of those knobs alone that the condition reads; whatever the others are,
 * the answer is the same. */
int64_t at_joint_count(const at_joint *j, int64_t range) {
    const at_leaf *knob[AT_MAX_LEAVES];
    int64_t digit[AT_MAX_LEAVES] = {0}, read = 1, index = 0, count = 0;
    int n = 0;
    for (int i = 0; i < j->num_leaves; i++) {
        bool seen = false;
        for (int k = 0; k < n; k++) seen |= knob[k]->knob == j->leaves[i].knob;
        if (seen) continue;
        knob[n++] = &j->leaves[i];
        read *= j->leaves[i].count;
    }
    for (int64_t left = read; left; left--) {
        count += at_joint_holds(j, index);
        for (int i = 0; i < n; i++) {
            index += knob[i]->stride;
            if (++digit[i] < knob[i]->count) break;
            index -= knob[i]->stride * knob[i]->count;
            digit[i] = 0;
        }
    }
    return count * (range / read);
}
