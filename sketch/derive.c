/* sketch/derive.c: the way from a computation to its sketches: rewrites, a nest for each stage,
 * then how operands are read. */
#include <string.h>

#include "schedule/edit/edit.h"
#include "sketch/nests.h"
#include "sketch/sketch_int.h"

/* A knob whose loops an edit took away again is none. */
static void drop_unused(sketch_state *s) {
    int n = 0, limits = 0;
    for (int i = 0; i < s->definitions.len; i++) {
        const at_definition *d = &s->definitions.data[i];
        bool used = d->kind != AT_DEFINE_SPLIT || i < s->from->num_definitions;
        for (const char *p = d->text[2]; !used && p && *p; p += strspn(p, " ")) {
            size_t length = strcspn(p, " ");
            used = at_tree_has_piece(s->tree, at_strndup(s->arena, p, length));
            p += length;
        }
        if (used) s->definitions.data[n++] = *d;
        for (int k = 0; !used && k < s->limits.len; k++)
            if (!strcmp(s->limits.data[k].knob, d->text[0])) s->limits.data[k].num_parts = 0;
    }
    s->definitions.len = n;
    for (int k = 0; k < s->limits.len; k++)
        if (s->limits.data[k].num_parts) s->limits.data[limits++] = s->limits.data[k];
    s->limits.len = limits;
}

static at_sketch finish(sketch_state *s) {
    const sketch_derivation *d = s->from;
    drop_unused(s);
    const at_schedulable like = {
        .row = {.name = d->name, .args = d->args, .record_args = d->record_args},
        .definitions = s->definitions.data,
        .num_definitions = s->definitions.len,
        .limits = s->limits.data,
        .num_limits = s->limits.len,
        .compute = s->compute,
        .tree = s->tree,
        .written = s->written};
    at_sketch out = {.name = *s->name ? s->name : "plain",
                     .s = at_schedulable_untried(s->arena, &like),
                     .begun = s->begun,
                     .preference = s->preference,
                     .undotted = s->undotted};
    out.steps = sketch_edits(s, &out.num_steps);
    return out;
}

static bool is_named(const at_sketch *sketches, int n, const char *name) {
    for (int i = 0; i < n; i++)
        if (!strcmp(sketches[i].name, name)) return true;
    return false;
}

/* ---- rewrites -------------------------------------------------------------------------------- */

typedef struct rewrite_row {
    rewrite_stage *rewrite; /* a stage; NULL: */
    rewrite_all *all;       /* all of them at once */
    bool is_backwards;      /* from the last stage to the first */
    bool is_layout;         /* in sketches whose sums are stored in another layout */
} rewrite_row;
static const rewrite_row rewrites[] = {
    {.rewrite = rewrite_ranges},
    {.rewrite = rewrite_quotients},
    {.all = rewrite_inlined},
    {.rewrite = rewrite_bounded},
    {.rewrite = rewrite_spread},
    {.rewrite = rewrite_phases},
    {.rewrite = rewrite_padding},
    {.rewrite = rewrite_terms, .is_backwards = true},
    {.rewrite = rewrite_unpacked},
    {.rewrite = rewrite_operands},
    {.rewrite = rewrite_words},
    {.rewrite = rewrite_shifted},
    {.rewrite = rewrite_branches},
    {.rewrite = rewrite_search},
    {.rewrite = rewrite_places},
    {.rewrite = rewrite_apart},
    {.rewrite = rewrite_last, .is_layout = true},
    {.rewrite = rewrite_first},
    {.rewrite = rewrite_turned},
};
enum { NUM_REWRITES = sizeof rewrites / sizeof *rewrites };

static void rewrite_each(sketch_state *s, const rewrite_row *row, const at_facts_given *given) {
    const int step = row->is_backwards ? -1 : 1;
    for (int t = row->is_backwards ? s->compute->num_tensors - 1 : 0;
         t >= 0 && t < s->compute->num_tensors; t += step) {
        const int before = s->compute->num_tensors;
        if (!s->facts->of[t].is_stage || at_scatter_of(&s->compute->tensors[t]).axes)
            continue; /* terms have places */
        sketch_state *b = sketch_branch(s, "");
        if (!row->rewrite(b, t, given)) continue;
        *s = *b;
        if (!row->is_backwards) t += s->compute->num_tensors - before; /* new stages stand before */
    }
}

static void rewrite(sketch_state *s, const at_facts_given *given, bool puts_last) {
    for (const rewrite_row *row = rewrites; row < rewrites + NUM_REWRITES; row++) {
        if (row->is_layout && !puts_last) continue;
        sketch_state *b = row->all ? sketch_branch(s, "") : NULL;
        if (!b) rewrite_each(s, row, given);
        else if (row->all(b, given)) *s = *b;
    }
}

/* ---- starts ---------------------------------------------------------------------------------- */

/* Names that edits make are added to the names of arguments and sizes. */
static at_status take_names(at_arena *a, sketch_derivation *d, at_error *err) {
    at_compute *c;
    d->names = AT_NEW(a, at_symbols);
    for (int i = 0; i < d->symbols->names.len; i++)
        at_symbol_add(a, d->names, d->symbols->names.data[i]);
    AT_TRY(at_compute_over(a, d->compute, d->names, d->compute->what, &c, err));
    d->compute = c;
    return AT_OK;
}

/* A state from which to derive. */
static at_status start(at_arena *a, const sketch_derivation *d, const sketch_start *o,
                       sketch_state *s, at_error *err) {
    const at_compute *c = d->compute;
    const at_tree *tree = NULL;
    bool *written = NULL;
    at_facts *facts = AT_NEW(a, at_facts);
    if (d->tree) AT_TRY(sketch_open_written(a, c, d, &tree, &written, err));
    const at_facts_given given = {
        .values = d->values, .varies = d->varies, .written = written, .kept = o->kept};
    AT_TRY(at_facts_of(a, c, &given, facts, err));
    *s = (sketch_state){.arena = a,
                        .from = d,
                        .before = facts,
                        .facts = facts,
                        .symbols = d->names,
                        .compute = c,
                        .keeps_weights = o->keeps_weights,
                        .pairs = o->pairs,
                        .words = o->words,
                        .strips = o->strips,
                        .bounds = o->bounds,
                        .preference = {.general = o->is_preferred},
                        .name = o->name,
                        .visited = -1};
    for (int i = 0; i < d->num_definitions; i++) *at_push(a, &s->definitions) = d->definitions[i];
    if (!d->tree) {
        AT_TRY(at_edit_plain(a, c, &s->tree, err));
        rewrite(s, &given, o->puts_last);
        return AT_OK;
    }
    s->written = tree;
    AT_TRY(sketch_start_written(s, tree, err));
    s->begun = s->tree;
    return AT_OK;
}

/* What rules make of a computation: as many sketches as there are ways to place its stages. */
static void derive(at_arena *a, sketch_state *first, sketch_states *out) {
    sketch_states states = {0}, factored = {0}, chains = {0};
    const bool has_wholes = !first->begun && !first->compute->num_cycles;
    first->like = sketch_find_twins(a, first->facts);
    first->trials = at_arena_new();
    *at_push(a, &states) = sketch_branch(first, ""); /* others go on from the first, too */
    for (int t = first->compute->num_tensors - 1; t >= 0; t--)
        if (first->facts->of[t].is_stage && !first->facts->of[t].is_written && !at_halts())
            sketch_visit(t, &states);
    sketch_place_left(&states);
    if (has_wholes) sketch_rows(first, out);
    const bool leads = has_wholes && sketch_chain(first, &chains);
    if (leads) *at_push(a, out) = chains.data[0];
    for (int i = 0; i < states.len && !at_halts(); i++) {
        sketch_factor(states.data[i], &factored);
        sketch_leave(states.data[i]);
    }
    for (int i = 0; i < factored.len && !at_halts(); i++) {
        sketch_pack(factored.data[i], out);
        sketch_leave(factored.data[i]);
    }
    if (chains.len && !leads) *at_push(a, out) = chains.data[0];
    at_arena_free(first->trials);
}

/* Sketches of more would have more points than an index can count. */
static at_status check_length(const sketch_state *s, at_error *err) {
    int n = sketch_stages(s);
    if (n <= MOST_STAGES) return AT_OK;
    return at_fail(err, AT_E_INPUT,
                   "%s: rules place at most %d stages that need loops, here are %d; a computation "
                   "may be given in parts",
                   s->from->compute->what, MOST_STAGES, n);
}

/* Sketches of all starts, in their order. Where they are too many, those of the first keep three
 * quarters at most, and the other starts share the rest evenly: none loses all of its own. */
static void add_states(const sketch_states *of, int most, sketch_states *all) {
    int take[1 + SKETCH_STARTS] = {of->len < most - most / 4 ? of->len : most - most / 4};
    int left = most - take[0];
    for (bool grows = true; grows;) {
        grows = false;
        for (int i = 1; i <= SKETCH_STARTS && left; i++)
            if (take[i] < of[i].len) take[i]++, left--, grows = true;
    }
    take[0] = of->len < take[0] + left ? of->len : take[0] + left;
    for (int i = 0; i <= SKETCH_STARTS; i++)
        for (int k = 0; k < take[i]; k++) *at_push(of[i].data[k]->arena, all) = of[i].data[k];
}

/* Has any stage been bounded? Rules that come first may have left none that can be. */
static bool is_bounded_at_all(const sketch_state *s) {
    for (const sketch_edit *e = s->last; e; e = e->before)
        if (e->edit.kind == AT_EDIT_BOUND) return true;
    return false;
}

/* The sketches in the order of their names' rules, the basic one first; in a. AT_E_INPUT: the text
 * is wrong, or no rule can place it. */
static at_status derive_all(at_arena *a, sketch_derivation *d, const at_sketch **out, int *n,
                            at_error *err) {
    sketch_state first, other;
    sketch_states of[1 + SKETCH_STARTS] = {0}, all = {0};
    sketch_start o = {.name = ""};
    at_error why;
    AT_TRY(take_names(a, d, err));
    AT_TRY(start(a, d, &o, &first, err));
    AT_TRY(check_length(&first, err));
    derive(a, &first, of);
    for (int i = 0; i < SKETCH_STARTS && !d->tree && !at_halts(); i++) {
        if (!sketch_further_start(&first, i, &o) || start(a, d, &o, &other, &why) != AT_OK ||
            (o.bounds && !is_bounded_at_all(&other)))
            continue;
        if (o.only_chain) (void)sketch_chain(&other, &of[1 + i]);
        else derive(a, &other, &of[1 + i]);
    }
    add_states(of, sketch_most(&first), &all);
    if (at_halts()) {
        (void)at_fail_stopped(err);
        return at_fail_at(err, "%s: its loop trees were not derived yet: ", d->compute->what);
    }
    at_sketch *sketches = AT_NEW_ARRAY(a, at_sketch, all.len);
    *n = 0;
    for (int i = 0; i < all.len && *n < sketch_most(&first); i++) {
        at_sketch sketch = finish(all.data[i]);
        if (!is_named(sketches, *n, sketch.name)) sketches[(*n)++] = sketch;
    }
    *out = sketches;
    return AT_OK;
}

/* ---- templates without a schedule, or with a part of one ------------------------------------- */

static void derive_template(at_template *t) {
    const at_template_row *row = at_template_row_of(t);
    at_arena *a = at_template_arena(t);
    at_symbols *names = AT_NEW(a, at_symbols);
    sketch_derivation *d = AT_NEW(a, sketch_derivation);
    const at_sketch *sketches;
    int64_t *values;
    bool *varies;
    at_error err = {0};
    int n = 0;
    at_template_numbers(t, a, names, &values, &varies);
    *d = (sketch_derivation){.name = row->name,
                             .args = row->args,
                             .record_args = row->record_args,
                             .compute = at_template_computation(t),
                             .tree = at_template_begun(t),
                             .symbols = names,
                             .values = values,
                             .varies = varies};
    d->definitions = at_template_definitions(t, &d->num_definitions);
    if (derive_all(a, d, &sketches, &n, &err) != AT_OK) at_template_refuse(t, &err);
    for (int i = 0; i < n; i++)
        at_sketch_add(t, sketches[i].name, &sketches[i].s->row, sketches[i].preference,
                      &sketches[i]);
}

const at_sketch *at_sketch_of_task(const at_task *t, int i) {
    return i < at_task_num_sketches(t) ? at_task_sketch_mark(t, i) : NULL;
}

/* ---- tasks ----------------------------------------------------------------------------------- */

at_status at_task_new(at_arena *a, const at_template_row *row, const char *args, at_task **out,
                      at_error *err) {
    return at_task_new_over(a, row, args, "", out, err);
}

at_status at_task_new_over(at_arena *a, const at_template_row *row, const char *args,
                           const char *over, at_task **out, at_error *err) {
    at_task *t;
    AT_TRY(at_task_open(a, row, args, over, &t, err));
    at_template *open = at_task_left_open(t);
    if (open) derive_template(open);
    AT_TRY(at_task_finish(t, err));
    *out = t;
    return AT_OK;
}

at_status at_task_of_record(at_arena *a, const char *task, const at_json *args, at_task **out,
                            at_error *err) {
    const at_template_row *row;
    AT_TRY(at_template_find(task, &row, err));
    return at_task_new(a, row, at_json_text(a, args), out, err);
}
