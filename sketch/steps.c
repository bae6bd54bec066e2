/* sketch/steps.c: a sketch goes on by edits and by choices of its stages. Layers that repeat choose
 * the same: of a computation with many sums those that are alike, and their loops are split by the
 * same knobs, so that a network of twelve equal layers has the sketches and the space of one layer,
 * instead of the twelfth power. */
#include <string.h>

#include "sketch/nests.h"

/* ---- choices --------------------------------------------------------------------------------- */

nest_choice *nest_add(nest_choices *out, const char *of, int vec) {
    if (out->num == NEST_MOST_CHOICES) AT_BUG("more than %d choices of a row", out->num);
    nest_choice *c = &out->of[out->num++];
    *c = (nest_choice){.of = of,
                       .vec = vec,
                       .row = -1,
                       .second = -1,
                       .unrolled = -1,
                       .fours = -1,
                       .blocked = -1,
                       .beside = -1};
    return c;
}

nest_choice *nest_add_axis(nest_choices *out, const sketch_state *s, int stage, int vec) {
    return nest_add(out, s->facts->compute->tensors[stage].axes[vec].name, vec);
}

void nest_read(nest_choice *c, int access, read_kind how) {
    c->read[c->num_reads++] = (operand_read){access, how};
}

/* ---- stages that are alike ------------------------------------------------------------------- */

static bool is_same_access(const at_facts *f, const at_access *x, const at_access *y, int axes) {
    const at_tensor *a = &f->compute->tensors[x->tensor], *b = &f->compute->tensors[y->tensor];
    if (f->of[x->tensor].is_operand != f->of[y->tensor].is_operand || a->role != b->role ||
        a->type != b->type || a->num_axes != b->num_axes || x->known != y->known ||
        x->is_bare != y->is_bare || x->is_guarded != y->is_guarded)
        return false;
    for (int d = 0; d < a->num_axes; d++)
        if (f->extents[x->tensor][d] != f->extents[y->tensor][d]) return false;
    for (int k = 0; k < axes; k++)
        if (x->stride[k] != y->stride[k] || x->is_cut[k] != y->is_cut[k]) return false;
    return true;
}

/* Whatever rules ask of a stage has the same answer for both. */
static bool is_same_stage(const at_facts *f, int s, int t) {
    const at_tensor *a = &f->compute->tensors[s], *b = &f->compute->tensors[t];
    const at_stage_facts *x = &f->of[s], *y = &f->of[t];
    const int axes = a->num_axes + a->num_reduce;
    if (!x->is_stage || x->is_dissolved || x->is_written || y->is_dissolved || y->is_written ||
        a->role != b->role || a->num_axes != b->num_axes || a->num_reduce != b->num_reduce ||
        a->reduction != b->reduction || a->type != b->type || x->is_expensive != y->is_expensive ||
        x->num_readers != y->num_readers || x->has_matched_reader != y->has_matched_reader ||
        x->is_read_in_place != y->is_read_in_place || x->operations != y->operations ||
        x->num_accesses != y->num_accesses)
        return false;
    for (int k = 0; k < axes; k++)
        if (x->extent[k] != y->extent[k] || x->inner[k] != y->inner[k] ||
            x->is_phase[k] != y->is_phase[k])
            return false;
    for (int i = 0; i < x->num_accesses; i++)
        if (!is_same_access(f, &x->access[i], &y->access[i], axes)) return false;
    return true;
}

const int *sketch_find_twins(at_arena *a, const at_facts *f) {
    const int n = f->compute->num_tensors;
    int *like = AT_NEW_ARRAY(a, int, n), sums = 0;
    for (int t = 0; t < n; t++) {
        like[t] = t;
        sums += at_facts_has_leaf(f, t) && f->compute->tensors[t].num_reduce;
    }
    for (int t = n - 1; t >= 0 && sums > FEW_SUMS; t--)
        for (int s = n - 1; s > t && like[t] == t; s--)
            if (f->of[t].is_stage && like[s] == s && is_same_stage(f, s, t)) like[t] = s;
    return like;
}

/* ---- ways ------------------------------------------------------------------------------------ */

int sketch_twin_choice(const sketch_state *s, int stage, int question, int num_ways) {
    for (int i = 0; i < s->ways.len; i++) {
        const sketch_choice *c = &s->ways.data[i];
        if (c->stage == s->like[stage] && c->stage != stage && c->question == question &&
            c->num_ways == num_ways)
            return c->way;
    }
    return -1;
}

void sketch_record_choice(sketch_state *s, int stage, int question, int num_ways, int way) {
    if (s->like[stage] == stage)
        *at_push(s->arena, &s->ways) = (sketch_choice){stage, question, num_ways, way};
}

/* ---- knobs ----------------------------------------------------------------------------------- */

static int splits_of(const sketch_state *s, int stage) {
    int n = 0;
    for (int i = 0; i < s->splits.len; i++) n += s->splits.data[i].stage == stage;
    return n;
}

/* How the stage that the visited one is like split the same loop, if in this way; else NULL. */
static const sketch_split_of *alike_split(const sketch_state *s, const sketch_split_of *asked) {
    const int like = s->visited < 0 ? -1 : s->like[s->visited];
    int skip = splits_of(s, s->visited);
    for (int i = 0; i < s->splits.len && like != s->visited; i++) {
        const sketch_split_of *x = &s->splits.data[i];
        if (x->stage != like || skip--) continue;
        bool is_same = x->n == asked->n && x->policy == asked->policy &&
                       at_same_text(x->filter, asked->filter) &&
                       at_same_text(x->listed, asked->listed) && at_same_text(x->axis, asked->axis);
        return is_same ? x : NULL;
    }
    return NULL;
}

/* ---- edits ----------------------------------------------------------------------------------- */

sketch_state *sketch_branch(const sketch_state *s, const char *word) {
    at_arena *a = s->arena;
    sketch_state *b = at_copy(a, s, sizeof *s);
    if (s->tree_users) ++*s->tree_users;
#define OWN(list)                                                                                  \
    b->list.data = at_copy(a, s->list.data, sizeof *s->list.data * (size_t)s->list.len),           \
    b->list.cap = s->list.len
    OWN(definitions);
    OWN(limits);
    OWN(tiles);
    OWN(marks);
    OWN(ways);
    OWN(splits);
    OWN(operands);
    OWN(kept);
#undef OWN
    if (*word) b->name = *s->name ? at_format(a, "%s+%s", s->name, word) : at_strdup(a, word);
    return b;
}

void sketch_leave(sketch_state *s) {
    if (s->tree_users && !--*s->tree_users) at_tree_drop(s->tree);
    s->tree_users = NULL;
}

/* A mark changes no name's meaning: a tree of this state alone takes it as it is. */
static bool mark_in_place(sketch_state *s, const at_edit *e) {
    return e->kind == AT_EDIT_MARK && s->tree_users && *s->tree_users == 1 &&
           at_edit_mark_in_place(s->tree, e->stage, e->loop, e->ann);
}

/* By a new tree. */
static at_status make_step(sketch_state *s, const at_edit *e) {
    at_definition knob;
    at_tree *tree;
    const at_compute *compute;
    at_error why;
    AT_TRY(
        at_edit_make(s->arena, s->symbols, s->compute, s->tree, e, &compute, &tree, &knob, &why));
    sketch_leave(s);
    s->compute = compute;
    s->tree = tree;
    s->tree_users = AT_NEW(s->arena, int);
    *s->tree_users = 1;
    if (knob.text[0]) *at_push(s->arena, &s->definitions) = knob;
    return AT_OK;
}

at_status sketch_step(sketch_state *s, const at_edit *e) {
    if (!mark_in_place(s, e)) AT_TRY(make_step(s, e));
    sketch_edit *last = AT_NEW(s->arena, sketch_edit);
    *last = (sketch_edit){*e, s->last};
    s->last = last;
    return AT_OK;
}

at_status sketch_step_of(sketch_state *s, at_edit_kind kind, const char *stage) {
    return sketch_step(s, &(at_edit){.kind = kind, .stage = stage});
}

at_status sketch_put(sketch_state *s, at_edit_kind kind, const char *stage, bool before,
                     const char *other, const char *loop) {
    const at_edit e = {
        .kind = kind, .stage = stage, .other = other, .loop = loop, .before = before};
    return sketch_step(s, &e);
}

at_status sketch_fuse(sketch_state *s, const char *stage, const char *const *loops, int n) {
    at_edit e = {.kind = AT_EDIT_FUSE, .stage = stage};
    for (int i = 0; i < n; i++) e.names[i] = loops[i];
    return n > 1 ? sketch_step(s, &e) : AT_OK;
}

at_status sketch_share_out(sketch_state *s, const char *stage, const char *const *loops, int n) {
    if (!n) return AT_OK;
    AT_TRY(sketch_mark(s, stage, loops[0], AT_ANN_PARA));
    return sketch_fuse(s, stage, loops, n);
}

at_status sketch_make(sketch_state *s, at_edit_kind kind, const char *stage, const char *other,
                      const char *loop, const char *name) {
    const at_edit e = {.kind = kind, .stage = stage, .other = other, .loop = loop, .names = {name}};
    return sketch_step(s, &e);
}

at_status sketch_attribute(sketch_state *s, const char *stage, const char *text) {
    const at_edit e = {.kind = AT_EDIT_ATTRIBUTE, .stage = stage, .other = text};
    return sketch_step(s, &e);
}

at_status sketch_copy_sum(sketch_state *s, const char *stage, const char *name) {
    const at_edit e = {
        .kind = AT_EDIT_COPY, .stage = stage, .copy = AT_COPY_WRITE, .names = {name}};
    return sketch_step(s, &e);
}

at_status sketch_drop_copy(sketch_state *s, const char *name) {
    const at_edit e = {.kind = AT_EDIT_INLINE, .stage = name};
    return s->compute->tensors[at_compute_find(s->compute, name)].is_output ? AT_OK
                                                                            : sketch_step(s, &e);
}

const bool *sketch_readers(const sketch_state *s, int tensor, const bool *leaves) {
    const at_compute *c = s->facts->compute;
    bool *passes = AT_NEW_ARRAY(s->arena, bool, c->num_tensors),
         *reads = AT_NEW_ARRAY(s->arena, bool, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++)
        passes[t] =
            s->facts->of[t].is_stage && !(leaves ? leaves[t] : at_facts_has_leaf(s->facts, t));
    at_compute_reach(c, passes, tensor, reads);
    for (int t = 0; t < c->num_tensors; t++) reads[t] &= s->facts->of[t].is_stage && !passes[t];
    return reads;
}

int sketch_first_reader(const sketch_state *s, int tensor, const bool *leaves) {
    const bool *reads = sketch_readers(s, tensor, leaves);
    for (int t = tensor + 1; t < s->facts->compute->num_tensors; t++)
        if (reads[t]) return t;
    return -1;
}

bool sketch_is_joined(const sketch_state *s, int stage) {
    const char *name = s->facts->compute->tensors[stage].name;
    for (const sketch_edit *e = s->last; e; e = e->before)
        if ((e->edit.kind == AT_EDIT_JOIN || e->edit.kind == AT_EDIT_NEST) &&
            !strcmp(e->edit.stage, name))
            return true;
    return false;
}

bool sketch_is_untouched(const sketch_state *s, int stage) {
    const char *name = s->facts->compute->tensors[stage].name;
    for (const sketch_edit *e = s->last; e; e = e->before)
        if (e->edit.kind != AT_EDIT_BRANCHES && /* which makes its loops anew */
            (!strcmp(e->edit.stage, name) || (e->edit.other && !strcmp(e->edit.other, name))))
            return false;
    return true;
}

at_status sketch_refresh_facts(sketch_state *s, const at_facts_given *given) {
    at_arena *a = s->arena;
    const at_compute *c = s->before->compute;
    at_facts *facts = AT_NEW(a, at_facts);
    at_error why;
    at_facts_given left = *given;
    bool *kept = AT_NEW_ARRAY(a, bool, s->compute->num_tensors);
    bool *operands = AT_NEW_ARRAY(a, bool, s->compute->num_tensors);
    for (int t = 0; t < c->num_tensors && given->kept; t++)
        if (given->kept[t]) kept[at_compute_find(s->compute, c->tensors[t].name)] = true;
    for (int i = 0; i < s->kept.len; i++) kept[at_compute_find(s->compute, s->kept.data[i])] = true;
    for (int i = 0; i < s->operands.len; i++)
        operands[at_compute_find(s->compute, s->operands.data[i])] = true;
    left.kept = kept;
    left.operands = operands;
    s->facts = facts;
    return at_facts_of(a, s->compute, &left, facts, &why);
}

bool sketch_rewrite_by(sketch_state *s, const at_edit *e, const at_facts_given *given) {
    return sketch_step(s, e) == AT_OK && sketch_refresh_facts(s, given) == AT_OK;
}

const at_edit *sketch_edits(const sketch_state *s, int *n) {
    int i = 0;
    for (const sketch_edit *e = s->last; e; e = e->before) i++;
    at_edit *edits = AT_NEW_ARRAY(s->arena, at_edit, i);
    *n = i;
    for (const sketch_edit *e = s->last; e; e = e->before) edits[--i] = e->edit;
    return edits;
}

int sketch_stages(const sketch_state *s) {
    int n = 0;
    for (int t = 0; t < s->facts->compute->num_tensors; t++) n += at_facts_has_leaf(s->facts, t);
    return n;
}

int sketch_most(const sketch_state *s) {
    int stages = sketch_stages(s);
    return stages * SKETCH_MOST > SKETCH_MOST_NESTS ? SKETCH_MOST_NESTS / stages + 1 : SKETCH_MOST;
}

bool sketch_has_word(const char *text, const char *word) {
    size_t n = strlen(word);
    for (const char *p = text; (p = strstr(p, word)); p++) {
        bool begins = p == text || !at_in_name(p[-1]);
        if (begins && !at_in_name(p[n])) return true;
    }
    return false;
}

bool sketch_is_taken(const sketch_state *s, const char *name) {
    const at_compute *c = s->compute;
    if (at_symbol_find(s->from->symbols, name) >= 0 || at_compute_find(c, name) >= 0) return true;
    for (int i = 0; i < s->definitions.len; i++) { /* of this sketch; others may have it, too */
        const at_definition *d = &s->definitions.data[i];
        if (sketch_has_word(d->text[d->kind == AT_DEFINE_SPLIT ? 2 : 0], name)) return true;
        if (d->kind == AT_DEFINE_ANNOTATE && sketch_has_word(d->text[1], name)) return true;
    }
    for (int t = 0; t < c->num_tensors; t++)
        for (int k = 0; k < c->tensors[t].num_axes + c->tensors[t].num_reduce; k++)
            if (c->tensors[t].axes[k].name && !strcmp(c->tensors[t].axes[k].name, name))
                return true;
    return false;
}

double sketch_elements(const sketch_state *s, int tensor) {
    return at_facts_elements(s->facts, tensor);
}

const char *sketch_first_loop(const sketch_state *s, int stage) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const char *first = NULL;
    for (int k = t->num_axes - 1; k >= 0; k--)
        if (!sketch_is_step(s, stage, k) && (!first || s->facts->of[stage].extent[k] > 1))
            first = t->axes[k].name;
    return first;
}

const char *sketch_first_before(const sketch_state *s, int stage, int end, const char *other) {
    for (int k = 0; k < end; k++)
        if (s->facts->of[stage].extent[k] > 1)
            return s->facts->compute->tensors[stage].axes[k].name;
    return other;
}

bool sketch_is_weight(const sketch_state *s, int tensor) {
    const at_tensor *t = &s->facts->compute->tensors[tensor];
    return t->role == AT_ROLE_WEIGHT || (s->facts->of[tensor].is_operand && t->is_packing);
}

bool sketch_is_far(const sketch_state *s, int tensor) {
    return sketch_elements(s, tensor) > FAR_ELEMENTS;
}

const char *sketch_fresh(const sketch_state *s, const char *like) {
    while (sketch_is_taken(s, like)) like = at_format(s->arena, "%s_", like);
    return like;
}

const char *sketch_fresh_of(const sketch_state *s, const char *from, const char *word) {
    return sketch_fresh(s, at_format(s->arena, "%s_%s", from, word));
}

static bool has_knob(const sketch_state *s, const char *knob) {
    for (int i = 0; i < s->definitions.len; i++)
        if (s->definitions.data[i].kind != AT_DEFINE_SIZES &&
            !strcmp(s->definitions.data[i].text[0], knob))
            return true;
    return false;
}

const char *sketch_fresh_knob(const sketch_state *s, const char *stage, const char *axis) {
    const char *knob = at_format(s->arena, "tile_%s", axis);
    if (has_knob(s, knob)) knob = at_format(s->arena, "tile_%s_%s", stage, axis);
    while (has_knob(s, knob)) knob = at_format(s->arena, "%s_", knob);
    return knob;
}

/* By a new knob. */
static at_status split_anew(sketch_state *s, at_edit *e, int n, const at_split_spec *spec,
                            const at_part_limit *limits) {
    e->knob = sketch_fresh_knob(s, e->stage, e->loop);
    e->spec = *spec;
    for (int i = 0; i < n; i++) {
        const char *name = at_format(s->arena, "%s%d", e->loop, i);
        if (sketch_is_taken(s, name)) name = at_format(s->arena, "%s_%s%d", e->stage, e->loop, i);
        e->names[i] = sketch_fresh(s, name);
    }
    AT_TRY(sketch_step(s, e));
    const at_definition *d = &s->definitions.data[s->definitions.len - 1];
    at_split_limits l = {
        .knob = e->knob, .axis = d->text[1], .num_parts = n, .tails = spec->policy != AT_FACTORS};
    for (int i = 0; i < n; i++) l.part[i] = limits[i];
    *at_push(s->arena, &s->limits) = l;
    return AT_OK;
}

at_status sketch_split(sketch_state *s, const char *stage, const char *axis, int n,
                       const at_split_spec *spec, const at_part_limit *limits, const char **parts) {
    at_edit e = {.kind = AT_EDIT_SPLIT, .stage = stage, .loop = axis};
    sketch_split_of split = {.stage = s->visited,
                             .n = n,
                             .policy = spec->policy,
                             .filter = spec->filter,
                             .listed = spec->listed,
                             .axis = at_axis_length(s->arena, s->compute, stage, axis)};
    const sketch_split_of *same = alike_split(s, &split);
    if (same) {
        memcpy(e.names, same->parts, sizeof *e.names * (size_t)n);
        AT_TRY(sketch_step(s, &e));
    } else AT_TRY(split_anew(s, &e, n, spec, limits));
    for (int i = 0; i < n; i++) split.parts[i] = parts[i] = e.names[i];
    *at_push(s->arena, &s->splits) = split;
    return AT_OK;
}

at_status sketch_split_by(sketch_state *s, const char *stage, const char *axis, const char *listed,
                          at_part_limit second, const char **parts) {
    const at_split_spec spec = {.policy = AT_LISTED, .listed = listed};
    const at_part_limit limits[] = {{0}, second};
    return sketch_split(s, stage, axis, 2, &spec, limits, parts);
}

at_status sketch_split_lanes(sketch_state *s, const char *stage, const char *axis,
                             const char **parts) {
    const at_part_limit four = {.vectors = 4};
    return sketch_split_by(s, stage, axis, "8 16 32 64 128 256", four, parts);
}

at_status sketch_split_terms(sketch_state *s, const char *stage, const char *axis,
                             const char **parts) {
    static const at_split_spec few = {.policy = AT_FACTORS, .filter = "last <= 16"};
    static const at_part_limit one[] = {{0}, {.wide = 1, .narrow = 1}};
    return sketch_split(s, stage, axis, 2, &few, one, parts);
}

at_status sketch_split_sized(sketch_state *s, const char *stage, const char *axis, const char *size,
                             const char **group, const char **within) {
    *group = sketch_fresh_of(s, axis, "g");
    *within = sketch_fresh_of(s, axis, "i");
    return sketch_step(s, &(at_edit){.kind = AT_EDIT_SPLIT,
                                     .stage = stage,
                                     .loop = axis,
                                     .other = size,
                                     .names = {*group, *within}});
}

at_status sketch_split_groups(sketch_state *s, int stage, int k, const char **group,
                              const char **within) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    return sketch_split_sized(s, t->name, t->axes[k].name,
                              at_expr_text(s->arena, s->facts->of[stage].divisor[k]), group,
                              within);
}

at_status sketch_mark(sketch_state *s, const char *stage, const char *loop, at_ann ann) {
    return sketch_step(s,
                       &(at_edit){.kind = AT_EDIT_MARK, .stage = stage, .loop = loop, .ann = ann});
}
