/* templates/template_knobs.c: the knobs that define() declares: splits, options, orders,
 * annotations. Each gives sizes, whose values are a configuration's. */
#include "templates/template_int.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static at_status new_knob(at_template *t, const char *knob) {
    if (at_space_find_knob(t->space, knob) >= 0)
        return at_fail(&t->err, AT_E_INPUT, "%s: a second knob \"%s\"", t->row->name, knob);
    return AT_OK;
}

/* The names in "yt yo yi", each with the value that entity 0 gives it. */
static at_status take_parts(at_template *t, const char *knob, const char *parts, step *s) {
    at_lex l;
    parts = at_strdup(t->arena, parts);
    AT_TRY(at_lex_start(&l, parts, at_format(t->arena, "parts of %s of %s", knob, t->row->name),
                        &t->err));
    while (l.kind != AT_TOK_END || !s->num_slots) {
        char *name;
        if (s->num_slots == MAX_PARTS)
            return at_lex_fail(&l, &t->err, "a split has at most %d parts", MAX_PARTS);
        AT_TRY(at_template_new_name(t, &l, &name));
        s->slots[s->num_slots++] = at_template_symbol(t, name, 0, true);
    }
    return AT_OK;
}

static at_status add_split(at_template *t, const char *knob, const char *axis, const char *parts,
                           const at_split_spec *spec) {
    at_expr *e;
    bool varies = false;
    int64_t length;
    step s = {.kind = STEP_SPLIT, .name = at_strdup(t->arena, knob)};
    AT_TRY(new_knob(t, knob));
    const char *of = at_format(t->arena, "axis of %s", knob);
    AT_TRY(at_template_expr(t, at_strdup(t->arena, axis),
                            at_format(t->arena, "%s of %s", of, t->row->name), &e, &varies));
    AT_TRY(at_template_value(t, of, e, &length));
    if (length < 1) {
        size_t end = strlen(axis), begin = strspn(axis, " \n"); /* a head's text keeps its place */
        while (end > begin && strchr(" \n", axis[end - 1])) end--;
        return at_fail(&t->err, AT_E_USAGE, "%s: %.*s is %lld, which cannot be split", of,
                       (int)(end - begin), axis + begin, (long long)length);
    }
    s.length = length;
    if (varies) s.expr = e;
    AT_TRY(take_parts(t, knob, parts, &s));

    at_split_options o = {.policy = spec->policy,
                          .max_factor = spec->max_factor,
                          .no_tail = spec->no_tail,
                          .listed = spec->listed,
                          .filter = spec->filter};
    if (at_space_split(t->space, knob, length, s.num_slots, &o, &t->err) != AT_OK)
        return at_fail_at(&t->err, "%s: ", t->row->name);
    s.knob = at_space_find_knob(t->space, knob);
    const at_entity *first = at_space_entity(t->space, s.knob, 0);
    for (int i = 0; i < s.num_slots; i++) {
        t->values.data[s.slots[i]].value = at_split_part(first, length, i);
        at_template_note(t, s.slots[i], i ? NULL : e, 1);
    }
    *at_push(t->arena, &t->steps) = s;

    knob_default d = {0};
    bool limited = false;
    for (int i = 0; i < MAX_PARTS; i++) limited |= spec->fallback[i] != 0;
    for (int i = 0; i < MAX_PARTS; i++) d.limits[i] = limited ? spec->fallback[i] : -1;
    *at_push(t->arena, &t->defaults) = d;
    return AT_OK;
}

void at_split_(at_template *t, const char *knob, const char *axis, const char *parts,
               at_split_spec spec) {
    if (!at_template_defines(t, "at_split", knob) || !at_template_has_text(t, "at_split", axis) ||
        !at_template_has_text(t, "at_split", parts))
        return;
    const int64_t numbers[] = {spec.policy, spec.max_factor, spec.no_tail};
    at_template_keep_hashed(
        t, "split",
        (at_definition){.kind = AT_DEFINE_SPLIT, .text = {knob, axis, parts}, .spec = spec});
    at_hash_add_str(&t->hash, knob);
    at_hash_add_str(&t->hash, axis);
    at_hash_add_str(&t->hash, parts);
    at_hash_add_str(&t->hash, spec.filter ? spec.filter : "");
    if (spec.listed) at_hash_add_str(&t->hash, spec.listed);
    at_hash_add(&t->hash, numbers, sizeof numbers);
    add_split(t, knob, axis, parts, &spec);
}

bool at_option_value(const at_entity *e, int64_t *out) {
    const at_json *v = e->option;
    *out = v->kind == AT_JSON_BOOL ? v->boolean : v->integer;
    return v->kind == AT_JSON_BOOL || (v->kind == AT_JSON_NUMBER && v->is_int);
}

static at_status add_option(at_template *t, const char *knob, const char *values, int fallback) {
    AT_TRY(new_knob(t, knob));
    if (at_space_option(t->space, knob, values, &t->err) != AT_OK)
        return at_fail_at(&t->err, "%s: ", t->row->name);
    int k = at_space_find_knob(t->space, knob);
    int64_t n = at_space_knob_len(t->space, k);
    if (fallback < 0 || fallback >= n)
        return at_fail(&t->err, AT_E_INPUT,
                       "%s: default %d of option \"%s\", which has %lld values", t->row->name,
                       fallback, knob, (long long)n);
    *at_push(t->arena, &t->defaults) = (knob_default){.option = fallback};

    int64_t value;
    for (int64_t i = n - 1; i >= 0; i--)
        if (!at_option_value(at_space_entity(t->space, k, i), &value)) return AT_OK;
    if (at_symbol_find(&t->symbols, knob) >= 0)
        return at_fail(&t->err, AT_E_INPUT, "%s: option \"%s\": the name is defined already",
                       t->row->name, knob);
    int slot = at_template_symbol(t, knob, value, true);
    at_template_note(t, slot, NULL, value);
    *at_push(t->arena, &t->steps) = (step){.kind = STEP_OPTION,
                                           .name = t->symbols.names.data[slot],
                                           .knob = k,
                                           .num_slots = 1,
                                           .slots = {slot}};
    return AT_OK;
}

void at_option(at_template *t, const char *knob, const char *values, int fallback) {
    if (!at_template_defines(t, "at_option", knob) || !at_template_has_text(t, "at_option", values))
        return;
    at_template_keep_hashed(
        t, "option",
        (at_definition){.kind = AT_DEFINE_OPTION, .text = {knob, values}, .fallback = fallback});
    at_hash_add_str(&t->hash, knob);
    at_hash_add_str(&t->hash, values);
    add_option(t, knob, values, fallback);
}

/* A knob whose values are not written in the template: its entity 0 is the default. */
static at_status add_plain(at_template *t, const char *knob, const char *names, int num_names) {
    at_lex l;
    step s = {.kind = STEP_PLAIN, .name = at_strdup(t->arena, knob)};
    s.knob = at_space_find_knob(t->space, knob);
    names = at_strdup(t->arena, names);
    AT_TRY(at_lex_start(&l, names, at_format(t->arena, "names of %s of %s", knob, t->row->name),
                        &t->err));
    while (l.kind != AT_TOK_END) {
        char *name;
        if (s.num_slots == num_names)
            return at_lex_fail(&l, &t->err, "expected %d name%s", num_names, at_plural(num_names));
        AT_TRY(at_template_new_name(t, &l, &name));
        s.slots[s.num_slots] = at_template_symbol(t, name, 0, true);
        at_template_note(t, s.slots[s.num_slots++], NULL, 0);
    }
    if (s.num_slots < num_names) return at_lex_fail(&l, &t->err, "expected a name");
    int64_t first[MAX_PARTS];
    at_knob_values(at_space_entity(t->space, s.knob, 0), first);
    for (int i = 0; i < s.num_slots; i++) t->values.data[s.slots[i]].value = first[i];
    *at_push(t->arena, &t->steps) = s;
    *at_push(t->arena, &t->defaults) = (knob_default){0};
    return AT_OK;
}

/* Positions in the lexicographic list of all orders of so many. */
static int64_t rank_of(const int64_t *order, int n) {
    int64_t rank = 0;
    for (int i = 0; i < n; i++) {
        int smaller = 0;
        for (int k = i + 1; k < n; k++) smaller += order[k] < order[i];
        rank = rank * (n - i) + smaller;
    }
    return rank;
}

int at_knob_values(const at_entity *e, int64_t *out) {
    if (e->kind == AT_KNOB_REORDER) {
        out[0] = rank_of(e->sizes, e->n);
        return 1;
    }
    for (int i = 0; i < e->n; i++)
        out[i] = !strcmp(e->marks[i], "unroll") ? 1 : !strcmp(e->marks[i], "vec") ? 2 : 0;
    return e->n;
}

/* "0 1 2, 0 2 1": orders as they are written. */
static at_status read_orders(at_template *t, const char *knob, int num_loops, const char *text,
                             at_reorder_options *o) {
    typedef int axes[AT_REORDER_AXES];
    struct {
        axes *data;
        int len, cap;
    } rows = {0};
    o->policy = "candidate";
    for (const char *p = text; *p;) {
        int *row = *at_push(t->arena, &rows), n = 0;
        for (char *end; *p && *p != ','; p = end) {
            const long axis = strtol(p, &end, 10);
            if (end == p || n == AT_REORDER_AXES) break;
            row[n++] = (int)axis;
        }
        if (n != num_loops || (*p && *p != ','))
            return at_fail(&t->err, AT_E_INPUT,
                           "%s: knob %s: \"%s\"; orders are %d numbers each, with commas between",
                           t->row->name, knob, text, num_loops);
        p += *p == ',';
    }
    o->candidate = (const int(*)[AT_REORDER_AXES])rows.data;
    o->num_candidates = rows.len;
    return AT_OK;
}

static at_status add_reorder(at_template *t, const char *knob, const char *name, int num_loops,
                             const char *policy) {
    at_reorder_options o = {.policy = policy};
    AT_TRY(new_knob(t, knob));
    if (isdigit((unsigned char)*policy)) AT_TRY(read_orders(t, knob, num_loops, policy, &o));
    if (at_space_reorder(t->space, knob, num_loops, &o, &t->err) != AT_OK)
        return at_fail_at(&t->err, "%s: ", t->row->name);
    return add_plain(t, knob, name, 1);
}

void at_reorder(at_template *t, const char *knob, const char *name, int num_loops,
                const char *policy) {
    if (!at_template_defines(t, "at_reorder", knob) ||
        !at_template_has_text(t, "at_reorder", name) ||
        !at_template_has_text(t, "at_reorder", policy))
        return;
    at_template_keep_hashed(t, "reorder",
                            (at_definition){.kind = AT_DEFINE_REORDER,
                                            .text = {knob, name, policy},
                                            .fallback = num_loops});
    at_hash_add_str(&t->hash, knob);
    at_hash_add_str(&t->hash, name);
    at_hash_add_str(&t->hash, policy);
    at_hash_add(&t->hash, &num_loops, sizeof num_loops);
    add_reorder(t, knob, name, num_loops, policy);
}

static at_status add_annotate(at_template *t, const char *knob, const char *names,
                              const char *policy) {
    int n = 0;
    for (const char *p = names; *p; p++) n += *p != ' ' && (p == names || p[-1] == ' ');
    AT_TRY(new_knob(t, knob));
    if (!strcmp(policy, "locate_cache") || !strncmp(policy, "bind_gpu", 8))
        return at_fail(
            &t->err, AT_E_INPUT,
            "%s: knob %s: policy \"%s\"; write try_unroll, try_vec or try_unroll_vec, or "
            "marks, the default first: vec_none",
            t->row->name, knob, policy);
    if (n < 1 || n > MAX_PARTS)
        return at_fail(&t->err, AT_E_INPUT, "%s: knob %s: annotates 1 to %d loops", t->row->name,
                       knob, MAX_PARTS);
    if (at_space_annotate(t->space, knob, n, policy, 0, &t->err) != AT_OK)
        return at_fail_at(&t->err, "%s: ", t->row->name);
    return add_plain(t, knob, names, n);
}

void at_annotate(at_template *t, const char *knob, const char *names, const char *policy) {
    if (!at_template_defines(t, "at_annotate", knob) ||
        !at_template_has_text(t, "at_annotate", names) ||
        !at_template_has_text(t, "at_annotate", policy))
        return;
    at_template_keep_hashed(
        t, "annotate", (at_definition){.kind = AT_DEFINE_ANNOTATE, .text = {knob, names, policy}});
    at_hash_add_str(&t->hash, knob);
    at_hash_add_str(&t->hash, names);
    at_hash_add_str(&t->hash, policy);
    add_annotate(t, knob, names, policy);
}

void at_joint_filter(at_template *t, const char *condition) {
    if (!at_template_defines(t, "at_joint_filter", condition)) return;
    at_template_keep_hashed(t, "filter",
                            (at_definition){.kind = AT_DEFINE_FILTER, .text = {condition}});
    at_hash_add_str(&t->hash, condition);
    if (t->filter)
        at_fail(&t->err, AT_E_INPUT, "%s: a second joint filter; \"&&\" joins conditions",
                t->row->name);
    else t->filter = at_strdup(t->arena, condition);
}
