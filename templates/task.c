/* templates/task.c: a task: a template with arguments, and what a configuration makes of it. */
#include "schedule/default_for.h"
#include "templates/template_int.h"

#include <string.h>

enum { KNOWN_READS = 256 };

struct at_task {
    at_template def;
    const at_json *args;
    const char *args_text;
    int64_t *values;   /* by slot, with entity 0; the constant ones are true for all */
    int64_t **extents; /* with these values */
    double flops;
    _Atomic uint64_t *right_reads; /* [KNOWN_READS], by its key: all that it reads is there */
    char hash[33];
    at_task **sketches; /* [def.sketches.len] */
};

/* Sizes that do not go with the arguments: known once there are numbers. */
static at_status check_numbers(at_task *t, at_error *err) {
    at_template *d = &t->def;
    t->values = AT_NEW_ARRAY(d->arena, int64_t, d->values.len);
    for (int i = 0; i < d->values.len; i++) t->values[i] = d->values.data[i].value;
    if (at_compute_extents(d->arena, d->compute, t->values, &t->extents, err) != AT_OK) {
        if (err) err->status = AT_E_USAGE;
        return AT_E_USAGE;
    }
    t->right_reads = AT_NEW_ARRAY(d->arena, _Atomic uint64_t, KNOWN_READS);
    t->flops = d->flops >= 0 ? d->flops : at_compute_flops(d->compute, t->values, NULL);
    return AT_OK;
}

static at_status print_args(at_task *t, at_error *err) {
    t->args_text = at_args_text(&t->def);
    return at_args_json(&t->def, &t->args, err);
}

/* Where it is the arguments' fault, they are named. */
static at_status name_args(const at_task *t, at_status s, at_error *err) {
    if (s == AT_E_USAGE && err)
        at_fail_at(err, "--args: %s with %s: ", t->def.row->name, t->args_text);
    return s;
}

/* Whether its default keeps the rules. */
static at_status try_sketch(const at_task *t, at_error *err) {
    enum { ANY_LANES = 8 };
    at_arena *a = at_arena_new();
    at_config c;
    at_program *p;
    at_status s = at_task_default_config(a, t, ANY_LANES, &c, err);
    if (s == AT_OK) s = at_task_build(a, t, &c, &p, err);
    if (s == AT_OK) s = at_program_verify(a, p, err);
    at_arena_free(a);
    return s;
}

/* The sketches as tasks of their own, and the sum of their spaces. One that is nothing with these
 * arguments is left out, as long as there are others. */
static at_status make_sketches(at_task *t, at_error *err) {
    at_template *d = &t->def;
    int n = 0;
    if (!d->sketches.len) return AT_OK;
    const char **names = AT_NEW_ARRAY(d->arena, const char *, d->sketches.len);
    at_space **spaces = AT_NEW_ARRAY(d->arena, at_space *, d->sketches.len);
    t->sketches = AT_NEW_ARRAY(d->arena, at_task *, d->sketches.len);
    for (int i = 0; i < d->sketches.len; i++) {
        const sketch_choice *s = &d->sketches.data[i];
        at_task **own = &t->sketches[n];
        at_status status = at_task_open(d->arena, s->row, t->args_text, "", own, err);
        if (status == AT_OK) status = at_task_finish(*own, err);
        if (status == AT_OK) status = try_sketch(t->sketches[n], err);
        if (status != AT_OK && n == 0 && i == d->sketches.len - 1) return status;
        if (status != AT_OK) continue;
        d->sketches.data[n] = *s;
        names[n] = s->name;
        spaces[n] = t->sketches[n]->def.space;
        at_hash_add_str(&d->hash, names[n]);
        at_hash_add_str(&d->hash, t->sketches[n]->hash);
        n++;
    }
    d->sketches.len = n;
    return at_space_sum(d->space, AT_SKETCH_KNOB, names, spaces, n, err);
}

at_status at_task_open(at_arena *a, const at_template_row *row, const char *args, const char *over,
                       at_task **out, at_error *err) {
    at_task *t = AT_NEW(a, at_task);
    t->def.arena = a;
    t->def.row = row;
    t->def.space = at_template_space(a);
    at_hash_init(&t->def.hash);
    AT_TRY(at_args_declare(&t->def, err));
    AT_TRY(at_args_read(&t->def, args, err));
    AT_TRY(at_args_read(&t->def, over, err));
    AT_TRY(at_args_check_texts(&t->def, err));
    AT_TRY(print_args(t, err));
    AT_TRY(name_args(t, at_template_define(&t->def, err), err));
    if (at_args_work_out(&t->def)) AT_TRY(print_args(t, err));
    *out = t;
    at_config unused; /* a wrong default is told now */
    return t->def.foreign ? at_task_default_config(a, t, 1, &unused, err) : AT_OK;
}

at_template *at_task_left_open(at_task *t) { return t->def.open ? &t->def : NULL; }

at_status at_task_finish(at_task *t, at_error *err) {
    at_status s = at_template_finish(&t->def, err);
    if (s == AT_OK) s = check_numbers(t, err);
    AT_TRY(name_args(t, s, err));
    AT_TRY(make_sketches(t, err));
    at_hash_hex(&t->def.hash, t->hash);
    return AT_OK;
}

const at_template_row *at_task_row(const at_task *t) { return t->def.row; }
const char *at_task_record_name(const at_task *t) {
    return t->def.row->record_name ? t->def.row->record_name : t->def.row->name;
}
const at_json *at_task_args(const at_task *t) { return t->args; }
const char *at_task_args_text(const at_task *t) { return t->args_text; }
const char *at_task_short_args(at_arena *a, at_task *t) {
    return at_template_short_args(a, &t->def);
}
const char *at_task_title(at_arena *a, at_task *t) { return at_template_title(a, &t->def); }
at_space *at_task_space(const at_task *t) { return t->def.space; }
const at_compute *at_task_compute(const at_task *t) { return t->def.compute; }
const char *at_task_hash(const at_task *t) { return t->hash; }
double at_task_flops(const at_task *t) { return t->flops; }

const void *at_task_foreign(const at_task *t) { return t->def.foreign; }

bool at_task_value(const at_task *t, const int64_t *values, const char *name, int64_t *out) {
    int slot = at_symbol_find(&t->def.symbols, name);
    if (slot >= 0) *out = values[slot];
    return slot >= 0;
}

int64_t at_task_arg(const at_task *t, const char *name) {
    int slot = at_symbol_find(&t->def.symbols, name);
    return slot >= 0 && slot < t->def.num_arg_slots ? t->values[slot] : -1;
}

bool at_task_varies(const at_task *t, int slot) { return t->def.values.data[slot].varies; }

int at_task_num_numbers(const at_task *t) { return t->def.num_arg_slots; }

int64_t at_task_number(const at_task *t, int i, const char **name) {
    AT_ASSERT(0 <= i && i < t->def.num_arg_slots);
    *name = t->def.symbols.names.data[i];
    return t->values[i];
}

int at_task_num_definitions(const at_task *t) { return t->def.definitions.len; }
const at_definition *at_task_definition(const at_task *t, int i) {
    return &t->def.definitions.data[i];
}

int at_task_num_sketches(const at_task *t) { return t->def.sketches.len; }
int at_task_default_sketch(const at_task *t, int lanes) {
    enum { OF_A_SET = 1 << 16 }; /* before all that always are preferred, however much */
    int best = 0, most = 0;
    for (int i = 0; i < t->def.sketches.len; i++) {
        const at_preference *p = &t->def.sketches.data[i].preference;
        const int rank = (p->sets & lanes ? OF_A_SET : 0) + p->general;
        if (rank > most) most = rank, best = i;
    }
    return best;
}

const char *at_task_sketch_name(const at_task *t, int i) { return t->def.sketches.data[i].name; }
const void *at_task_sketch_mark(const at_task *t, int i) { return t->def.sketches.data[i].mark; }
const at_task *at_task_sketch(const at_task *t, int i) { return t->sketches[i]; }

at_status at_task_find_sketch(const at_task *t, const char *name, int *out, at_error *err) {
    at_text list = {0};
    for (*out = 0; *out < at_task_num_sketches(t); ++*out)
        if (!strcmp(at_task_sketch_name(t, *out), name)) return AT_OK;
    if (!*out)
        return at_fail(err, AT_E_USAGE, "--sketch %s: %s has a tree of its own and no sketches",
                       name, at_task_row(t)->name);
    for (int i = 0; i < *out; i++)
        at_text_addf(&list, "%s%s", i ? ", " : "", at_task_sketch_name(t, i));
    at_status s =
        at_fail(err, AT_E_USAGE, "--sketch %s: there is no sketch of that name; there are %s", name,
                at_text_str(&list));
    at_text_free(&list);
    return s;
}

const at_task *at_task_of_config(const at_task *t, const at_config *c, at_config *own) {
    AT_ASSERT(c->space == t->def.space);
    *own = *c;
    return t->sketches ? t->sketches[at_config_part(c, own)] : t;
}

const int *at_task_layout(const at_task *t, int tensor) {
    for (int i = 0; i < t->def.layouts.len; i++)
        if (t->def.layouts.data[i].tensor == tensor) return t->def.layouts.data[i].order;
    return NULL;
}

static void all_steps(at_arena *a, const at_task *t, at_general *out) {
    const at_template *d = &t->def;
    int64_t *least = AT_NEW_ARRAY(a, int64_t, d->num_arg_slots);
    for (int i = 0; i < d->args.len; i++)
        for (int j = 0; j < d->args.data[i].num_slots; j++) {
            const int slot = d->args.data[i].slot + j; /* -1: padding that nobody works out */
            least[slot] = t->values[slot] < 0 ? t->values[slot] : d->args.data[i].least;
        }
    *out = (at_general){.compute = d->compute,
                        .num_args = d->num_arg_slots,
                        .least = least,
                        .steps = d->general.data,
                        .num_steps = d->general.len};
}

void at_task_general(at_arena *a, const at_task *t, at_general *out) {
    const at_template *d = &t->def;
    AT_VEC(at_general_step) steps = {0};
    const bool *idle = at_idle_decisions(a, d, at_json_text(a, t->args));
    all_steps(a, t, out);
    for (int i = 0, decision = 0; i < out->num_steps; i++) {
        bool is_decision = decision < d->decisions.len && d->decisions.data[decision] == i;
        if (!is_decision || !idle[decision]) *at_push(a, &steps) = out->steps[i];
        decision += is_decision;
    }
    out->steps = steps.data;
    out->num_steps = steps.len;
}

at_status at_task_plain_values(at_arena *a, const at_task *t, int64_t **values, at_error *err) {
    at_general g;
    all_steps(a, t, &g);
    return at_general_values(a, &g, t->values, values, err);
}

/* ---- configurations -------------------------------------------------------------------------- */

static bool sparse_args(at_template *def, at_bsr *out) {
    const arg *nnz = at_args_find(def, "nnz", 3), *r = at_args_find(def, "R", 1),
              *c = at_args_find(def, "C", 1);
    if (!nnz || !r || !c) return false;
    *out = (at_bsr){.nnz = def->values.data[nnz->slot].value,
                    .r = def->values.data[r->slot].value,
                    .c = def->values.data[c->slot].value,
                    .nnz_given = nnz->given,
                    .r_given = r->given,
                    .c_given = c->given};
    return true;
}

at_status at_sparse_args(at_arena *a, const at_template_row *row, const char *args, at_bsr *out,
                         bool *has, at_error *err) {
    at_template def = {.arena = a, .row = row};
    AT_TRY(at_args_declare(&def, err));
    AT_TRY(at_args_read(&def, args, err));
    *has = sparse_args(&def, out);
    return AT_OK;
}

bool at_task_bsr(const at_task *t, at_bsr *out) {
    at_template def = t->def;
    const sparse_weight *s = &def.sparse;
    if (!s->blocks || !sparse_args(&def, out)) return false;
    out->blocks = at_compute_find(def.compute, s->blocks);
    out->indices = at_compute_find(def.compute, s->indices);
    out->indptr = at_compute_find(def.compute, s->indptr);
    out->columns = s->columns;
    out->rows = t->extents[out->indptr][0] - 1;
    return true;
}

at_status at_task_sketch_default(at_arena *a, const at_task *t, int sketch, int lanes,
                                 at_config *out, at_error *err) {
    at_config own;
    AT_TRY(at_task_default_config(a, t->sketches[sketch], lanes, &own, err));
    at_config_in_sum(a, t->def.space, sketch, &own, out);
    return AT_OK;
}

at_status at_task_default_config(at_arena *a, const at_task *t, int lanes, at_config *out,
                                 at_error *err) {
    if (t->sketches)
        return at_task_sketch_default(a, t, at_task_default_sketch(t, lanes), lanes, out, err);
    at_template def = t->def; /* its own defaults, which depend on the lanes */
    def.defaults.data =
        at_copy(a, def.defaults.data, sizeof *def.defaults.data * (size_t)def.defaults.len);
    def.by_element = lanes & AT_BY_ELEMENT;
    AT_TRY(at_call_defaults(&def, lanes & AT_JUST_LANES, err));
    AT_TRY(at_defaults_config(a, &def, out, err));
    if (!t->def.foreign || out->index >= 0) return AT_OK;
    if (t->def.row->defaults)
        return at_fail(err, AT_E_INPUT, "%s: its default is no valid point: a condition forbids it",
                       t->def.row->name);
    *out = t->def.first_valid;
    return AT_OK;
}

static at_status repeat(const step *s, const at_config *c, int64_t *values, at_error *err) {
    const at_entity *e = s->kind == STEP_SIZE ? NULL : &c->entities[s->knob];
    int64_t length = s->length;
    switch (s->kind) {
    case STEP_SIZE:
        if (at_expr_eval(s->expr, values, &values[s->slots[0]], err) == AT_OK) return AT_OK;
        return err ? at_fail_at(err, "size %s: ", s->name) : AT_E_INPUT;
    case STEP_OPTION:
        if (at_option_value(e, &values[s->slots[0]])) return AT_OK;
        return at_fail(err, AT_E_INPUT, "option %s is given a value that is no whole number",
                       s->name);
    case STEP_PLAIN: {
        int64_t own[MAX_PARTS];
        int n = at_knob_values(e, own);
        for (int i = 0; i < n && i < s->num_slots; i++) values[s->slots[i]] = own[i];
        return AT_OK;
    }
    case STEP_SPLIT:
        if (s->expr && at_expr_eval(s->expr, values, &length, err) != AT_OK)
            return err ? at_fail_at(err, "axis of %s: ", s->name) : AT_E_INPUT;
        if (length < 1)
            return at_fail(err, AT_E_INPUT, "axis of %s: %lld cannot be split", s->name,
                           (long long)length);
        values[s->slots[0]] = at_split_part(e, length, 0);
        for (int i = 1; i < s->num_slots; i++) values[s->slots[i]] = e->sizes[i];
        return AT_OK;
    }
    AT_BUG("step of kind %d", s->kind);
}

static at_status set_values(const at_task *t, const at_config *c, int64_t *values, at_error *err) {
    const at_template *d = &t->def;
    AT_ASSERT(c->space == d->space);
    memcpy(values, t->values, sizeof *values * (size_t)d->values.len);
    for (int i = 0; i < d->steps.len; i++) AT_TRY(repeat(&d->steps.data[i], c, values, err));
    return AT_OK;
}

at_status at_task_values(at_arena *a, const at_task *t, const at_config *c, int64_t **values,
                         at_error *err) {
    *values = AT_NEW_ARRAY(a, int64_t, t->def.values.len);
    return set_values(t, c, *values, err);
}

bool at_task_has_para(const at_task *t) {
    for (int i = 0; i < t->def.sketches.len; i++)
        if (at_task_has_para(t->sketches[i])) return true;
    for (int i = 0; i < t->def.trees.len; i++)
        if (at_tree_has_para(t->def.trees.data[i].tree)) return true;
    return false;
}

static at_status choose_tree(const at_template *d, const int64_t *values, const at_tree **out,
                             at_error *err) {
    for (int i = 0; i < d->trees.len; i++) {
        const tree_choice *c = &d->trees.data[i];
        int64_t holds = 1;
        if (c->condition && at_expr_eval(c->condition, values, &holds, err) != AT_OK)
            return err ? at_fail_at(err, "condition of schedule %d: ", i + 1) : AT_E_INPUT;
        if (!holds) continue;
        *out = c->tree;
        return AT_OK;
    }
    return at_fail(err, AT_E_INPUT, "no schedule is for this configuration: no condition holds");
}

at_status at_task_tree(at_arena *a, const at_task *t, const at_config *c, const at_tree **out,
                       at_error *err) {
    int64_t *values;
    at_config own;
    t = at_task_of_config(t, c, &own);
    AT_TRY(at_task_values(a, t, &own, &values, err));
    return choose_tree(&t->def, values, out, err);
}

/* A computation with its numbers, and no tree. */
static at_status plain_program(at_arena *a, const at_task *t, int64_t *values, at_program **out,
                               at_error *err) {
    at_program *p = AT_NEW(a, at_program);
    *p = (at_program){.compute = t->def.compute, .values = values};
    *out = p;
    return at_compute_extents(a, t->def.compute, values, &p->extents, err);
}

at_status at_task_written(at_arena *a, const at_task *t, const at_compute *lowered,
                          at_program **out, at_error *err) {
    int64_t *values;
    *out = NULL;
    if (lowered == t->def.compute) return AT_OK;
    AT_TRY(at_task_plain_values(a, t, &values, err));
    return plain_program(a, t, values, out, err);
}

at_status at_task_build(at_arena *a, const at_task *t, const at_config *c, at_program **out,
                        at_error *err) {
    int64_t *values;
    const at_tree *tree = NULL;
    at_config own;
    t = at_task_of_config(t, c, &own);
    AT_TRY(at_task_values(a, t, &own, &values, err));
    if (t->def.foreign) return plain_program(a, t, values, out, err);
    AT_TRY(choose_tree(&t->def, values, &tree, err));
    return at_program_build(a, tree, values, out, err);
}

/* ---- many of one task ------------------------------------------------------------------------ */

typedef struct part_builds { /* of the task, or of one of its sketches */
    int64_t *values;
    at_program **of_tree; /* [def.trees.len]; NULL: none yet */
} part_builds;

struct at_builds {
    at_arena *arena;
    const at_task *task;
    part_builds *part; /* [sketches; else 1] */
};

at_builds *at_builds_new(at_arena *a, const at_task *t) {
    at_builds *b = AT_NEW(a, at_builds);
    int n = t->def.sketches.len;
    *b = (at_builds){a, t, AT_NEW_ARRAY(a, part_builds, n ? n : 1)};
    return b;
}

at_status at_builds_program(at_builds *b, const at_config *c, at_program **out, at_error *err) {
    at_config own;
    const at_tree *tree = NULL;
    part_builds *part = &b->part[b->task->sketches ? at_config_part(c, &own) : 0];
    const at_task *t = at_task_of_config(b->task, c, &own);
    const at_template *d = &t->def;
    if (!part->values) {
        part->values = AT_NEW_ARRAY(b->arena, int64_t, d->values.len);
        part->of_tree = AT_NEW_ARRAY(b->arena, at_program *, d->trees.len);
    }
    AT_TRY(set_values(t, &own, part->values, err));
    AT_TRY(choose_tree(d, part->values, &tree, err));
    int k = 0;
    while (d->trees.data[k].tree != tree) k++;
    if (!part->of_tree[k]) part->of_tree[k] = at_program_empty(b->arena, tree);
    *out = part->of_tree[k];
    return at_program_fill(tree, part->values, *out, err);
}

/* ---- checked --------------------------------------------------------------------------------- */

/* Checked once for each computation with its numbers, of which a task has few: most knobs are the
 * tree's alone. */
static at_status check_reads(const at_task *t, const at_program *p, at_error *err) {
    at_key key = at_compute_key(p->compute, p->values, p->extents);
    _Atomic uint64_t *known = &t->right_reads[key.lo % KNOWN_READS];
    if (*known == (key.hi | 1)) return AT_OK;
    AT_TRY(at_compute_check_reads(p->compute, p->values, NULL, NULL, err));
    *known = key.hi | 1; /* 0: none yet */
    return AT_OK;
}

at_status at_task_program(at_arena *a, const at_task *t, const at_config *c, at_program **out,
                          at_error *err) {
    at_program *p;
    at_config own;
    AT_TRY(at_task_build(a, t, c, &p, err));
    AT_TRY(check_reads(at_task_of_config(t, c, &own), p, err));
    if (!t->def.foreign) AT_TRY(at_program_verify(a, p, err));
    *out = p;
    return AT_OK;
}
