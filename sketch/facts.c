/* sketch/facts.c: see facts.h. */
#include "sketch/facts.h"
#include "schedule/access.h"
#include "schedule/edit/edit_compute.h"
#include "sketch/limits.h"

#include <string.h>

/* ---- accesses -------------------------------------------------------------------------------- */

static bool is_bare(const at_expr *read) {
    uint32_t seen = 0;
    for (int i = 0; i < read->nargs; i++) {
        int axis = at_index_axis(read->arg[i]);
        if (axis < 0 || seen & (1u << axis)) return false;
        seen |= 1u << axis;
    }
    return true;
}

typedef struct axis_groups {
    const at_read_facts *f;
    at_stage_facts *s;
    int num_axes;
} axis_groups;

/* `f / D` and `f % D` of an axis whose groups are whole: the largest D of each. */
static at_walk find_group(const at_expr *e, void *ctx) {
    const at_read_facts *f = ((axis_groups *)ctx)->f;
    at_stage_facts *s = ((axis_groups *)ctx)->s;
    if ((e->op != AT_X_DIV && e->op != AT_X_MOD) || e->arg[0]->op != AT_X_NAME ||
        e->arg[0]->ref >= AT_REF_SIZE || !at_expr_is_size(e->arg[1]))
        return AT_WALK_ON;
    int axis = e->arg[0]->ref;
    int64_t by;
    if (!at_size_value(f, e->arg[1], &by) || by <= 1 || by >= s->extent[axis] ||
        s->extent[axis] % by)
        return AT_WALK_ON;
    if (s->divisor[axis] && by <= s->inner[axis]) return AT_WALK_ON;
    s->inner[axis] = by;
    s->divisor[axis] = e->arg[1];
    return AT_WALK_ON;
}

/* Where groups of the last axis are shorter than a register, lanes go from group to group: the
 * elements of a group are phases. */
static void take_short_groups(const at_tensor *t, at_stage_facts *s) {
    const int last = t->num_axes - 1;
    if (last < 0 || !t->num_reduce || !s->divisor[last] || s->inner[last] >= LEAST_LANES ||
        s->extent[last] < LEAST_LANES * s->inner[last])
        return;
    s->inner[last] = s->extent[last] / s->inner[last];
    s->is_phase[last] = true;
}

/* By what an axis is divided anywhere in an expression; NULL: by nothing, or by several. */
static const at_expr *divides(const at_expr *e, int axis) {
    const at_expr *by = NULL;
    if ((e->op == AT_X_DIV || e->op == AT_X_MOD) && at_expr_is_size(e->arg[1]) &&
        at_expr_uses(e->arg[0], axis))
        return e->arg[1];
    for (int i = 0; i < e->nargs; i++) {
        const at_expr *own = divides(e->arg[i], axis);
        if (own && by && !at_expr_equal(own, by)) return NULL;
        if (own) by = own;
    }
    return by;
}

/* Axes that a dissolved stage divides: (h + r - B)/S. */
static at_walk find_phase(const at_expr *e, void *ctx) {
    const at_read_facts *f = ((axis_groups *)ctx)->f;
    at_stage_facts *s = ((axis_groups *)ctx)->s;
    const int num_axes = ((axis_groups *)ctx)->num_axes;
    if (e->op != AT_X_INDEX || !f->dissolved[e->ref]) return AT_WALK_ON;
    for (int d = 0; d < e->nargs; d++) {
        const at_expr *by = divides(f->compute->tensors[e->ref].body, d);
        int64_t steps = 0;
        const bool known = !by || at_size_value(f, by, &steps);
        if (steps >= f->extents[e->ref][d]) continue; /* it goes round all of the axis */
        for (int k = 0; k < num_axes && steps > 1 && known; k++) {
            if (!at_expr_uses(e->arg[d], k) || s->divisor[k] || s->extent[k] % steps) continue;
            s->inner[k] = s->extent[k] / steps;
            s->divisor[k] = by;
            s->is_phase[k] = true;
        }
    }
    return AT_WALK_ON;
}

static bool is_cut(const at_reading *x) { return x->choice == AT_CUT || x->bound == AT_CUT; }

typedef struct cut_ends { /* of an access, [either end of each axis]: by which ends of reductions */
    unsigned char by[2 * AT_FACTS_MAX_AXES]; /* 1, 2, or both */
} cut_ends;

typedef struct cut_search {
    at_arena *arena;
    const at_read_facts *f;
    int stage;
    const at_stage_facts *s;
    int64_t axis[AT_FACTS_MAX_AXES];
    cut_ends *cut; /* [access] */
} cut_search;

static at_readings read_there(const cut_search *x) {
    return at_readings_at(x->arena, x->f, x->stage, x->axis, false);
}

/* What is taken at either end of each axis, and not at the place, with reductions at one end. */
static void find_cuts_at(cut_search *x, int end) {
    const at_readings inside = read_there(x);
    for (int k = 0; k < 2 * x->f->compute->tensors[x->stage].num_axes; k++) {
        const int64_t within = x->axis[k / 2];
        x->axis[k / 2] = k % 2 ? x->s->extent[k / 2] - 1 : 0;
        const at_readings moved = read_there(x);
        x->axis[k / 2] = within;
        for (int i = 0; i < x->s->num_accesses && i < moved.len && i < inside.len; i++)
            if (is_cut(&moved.data[i]) && !is_cut(&inside.data[i]))
                x->cut[i].by[k] |= (unsigned char)(1 << end);
    }
}

static bool divides_axis(const at_expr *e, const void *axis) {
    return (e->op == AT_X_DIV || e->op == AT_X_MOD) && at_expr_is_size(e->arg[1]) &&
           at_expr_uses(e->arg[0], *(const int *)axis);
}

/* The next place along axes that are phases: a sum's phases may take fewer terms than others, or
 * begin and end elsewhere. False: that is the first one again. */
static bool next_phase(cut_search *x, const int64_t *first) {
    enum { MOST_PHASES = 8 };
    const at_tensor *t = &x->f->compute->tensors[x->stage];
    for (int k = 0; k < t->num_axes; k++) {
        if (x->s->extent[k] > MOST_PHASES || !at_expr_find_index(t->body, divides_axis, &k))
            continue;
        x->axis[k] = (x->axis[k] + 1) % x->s->extent[k];
        if (x->axis[k] != first[k]) return true;
    }
    return false;
}

/* Which axes a choice such as padding cuts, or a bound: at one of an axis' ends it takes something
 * else than in its middle, with reductions at one of theirs. */
static void find_cuts(at_arena *a, const at_read_facts *f, int stage, const int64_t *middle,
                      at_stage_facts *s) {
    enum { MOST_PLACES = 64 };
    const at_tensor *t = &f->compute->tensors[stage];
    cut_search x = {.arena = a,
                    .f = f,
                    .stage = stage,
                    .s = s,
                    .cut = AT_NEW_ARRAY(a, cut_ends, s->num_accesses)};
    int places = 0;
    memcpy(x.axis, middle, sizeof x.axis);
    do {
        memset(x.cut, 0, sizeof *x.cut * (size_t)s->num_accesses);
        for (int end = 0; end < 2; end++) {
            for (int k = t->num_axes; k < t->num_axes + t->num_reduce; k++)
                x.axis[k] = end ? s->extent[k] - 1 : 0;
            find_cuts_at(&x, end);
        }
        for (int i = 0; i < s->num_accesses; i++)
            for (int k = 0; k < 2 * t->num_axes; k++) {
                s->access[i].is_cut[k / 2] |= x.cut[i].by[k] != 0;
                s->access[i].is_cut_unevenly[k / 2] |= x.cut[i].by[k] == 1 || x.cut[i].by[k] == 2;
            }
    } while (++places < MOST_PLACES && next_phase(&x, middle));
}

/* The same element at every point, by the same words. */
static bool is_same(const at_access *x, const at_reading *read, const at_access *y,
                    const at_reading *other) {
    return x->known && y->known && x->tensor == y->tensor && x->from == y->from &&
           x->is_bare == y->is_bare && x->is_guarded == y->is_guarded && x->origin == y->origin &&
           !memcmp(x->is_cut, y->is_cut, sizeof x->is_cut) &&
           !memcmp(x->stride, y->stride, sizeof x->stride) && read->depth == other->depth &&
           at_expr_equal(read->read, other->read);
}

/* What is read several times in the same way, such as in a square, is one access. */
static void merge_accesses(at_stage_facts *s, at_reading *reads) {
    int kept = 0;
    for (int i = 0; i < s->num_accesses; i++) {
        bool is_new = true;
        for (int k = 0; k < kept && is_new; k++)
            is_new = !is_same(&s->access[k], &reads[k], &s->access[i], &reads[i]);
        if (!is_new) continue;
        s->access[kept] = s->access[i];
        reads[kept++] = reads[i];
    }
    s->num_accesses = kept;
}

/* Where the indices of the stage are in the middle of a group in the middle. */
static void find_middle(const at_stage_facts *s, int n, int64_t *axis) {
    for (int i = 0; i < n; i++) {
        int64_t in = s->is_phase[i] ? s->extent[i] : s->inner[i],
                groups = in > 0 ? s->extent[i] / in : 0;
        axis[i] = in > 1 ? groups / 2 * in + in / 2 - (in > 2) : 0;
    }
}

static void find_accesses(at_arena *a, const at_read_facts *f, int stage, at_stage_facts *s) {
    const at_tensor *t = &f->compute->tensors[stage];
    int n = t->num_axes + t->num_reduce;
    int64_t axis[AT_FACTS_MAX_AXES] = {0};
    bool may_be_cut = false;
    s->inner = at_copy(a, s->extent, sizeof *s->inner * (size_t)n);
    s->divisor = AT_NEW_ARRAY(a, const at_expr *, n + 1);
    s->is_phase = AT_NEW_ARRAY(a, bool, n + 1);
    axis_groups groups = {f, s, n};
    at_expr_walk(t->body, find_group, &groups);
    take_short_groups(t, s);
    at_expr_walk(t->body, find_phase, &groups);
    find_middle(s, n, axis);
    const at_readings base = at_readings_at(a, f, stage, axis, true);
    s->num_accesses = base.len;
    s->access = AT_NEW_ARRAY(a, at_access, base.len + 1);
    for (int i = 0; i < base.len; i++)
        s->access[i] =
            (at_access){.tensor = base.data[i].tensor,
                        .from = base.data[i].from,
                        .known = base.data[i].known && base.is_whole,
                        .is_guarded = base.data[i].choice != AT_NO_GUARD,
                        .by_entry = base.data[i].by_entry,
                        .origin = base.data[i].at,
                        .is_bare = base.data[i].depth == 0 && is_bare(base.data[i].read)};
    for (int i = 0; i < base.len; i++)
        may_be_cut |= s->access[i].is_guarded || base.data[i].bound != AT_NO_GUARD;
    if (may_be_cut) find_cuts(a, f, stage, axis, s);
    for (int k = 0; k < n; k++) {
        if (s->inner[k] <= 1) continue;
        int64_t step = s->is_phase[k] ? s->extent[k] / s->inner[k] : 1;
        axis[k] += step;
        const at_readings moved = at_readings_at(a, f, stage, axis, false);
        axis[k] -= step;
        for (int i = 0; i < base.len && i < moved.len; i++) {
            uint64_t moves = (uint64_t)moved.data[i].at - (uint64_t)base.data[i].at;
            s->access[i].stride[k] = !base.is_whole || base.data[i].by_data >> k & 1
                                         ? AT_FACTS_ANYWHERE
                                         : (int64_t)moves;
            s->access[i].origin -= (int64_t)(moves * (uint64_t)(axis[k] / step));
        }
    }
    merge_accesses(s, base.data);
}

/* ---- operations ------------------------------------------------------------------------------ */

static bool is_value(const at_compute *c, const at_expr *e) {
    if (e->op == AT_X_FLOAT || e->op == AT_X_CALL) return true;
    if (e->op == AT_X_INDEX) return !at_tensor_has_entries(&c->tensors[e->ref]);
    if (e->op == AT_X_SELECT) return is_value(c, e->arg[1]) || is_value(c, e->arg[2]);
    for (int i = 0; i < e->nargs; i++)
        if (is_value(c, e->arg[i])) return true;
    return false;
}

/* Of one element's expression: arithmetic on values, not on indices. */
static double operations_of(const at_compute *c, const at_expr *e) {
    double n = e->op == AT_X_CALL;
    if (e->op == AT_X_INDEX || !is_value(c, e)) return 0;
    if (e->op >= AT_X_NEG && e->op <= AT_X_MOD) n = 1;
    if (e->op == AT_X_MIN || e->op == AT_X_MAX || e->op >= AT_X_BIT_AND) n = 1;
    for (int i = 0; i < e->nargs; i++) n += operations_of(c, e->arg[i]);
    return n;
}

bool at_facts_calls(const at_expr *e, const void *unused) {
    (void)unused;
    return e->op == AT_X_CALL && e->integer != AT_FUNCTION_ABS &&
           !at_function_rounds((at_function)e->integer) &&
           !at_function_narrows((at_function)e->integer);
}

/* Is an index chosen, or bounded and no sum of axes within? No vector can be loaded so. */
static bool clamps(const at_expr *e, const void *unused) {
    (void)unused;
    const bool bounds = e->op == AT_X_MIN || e->op == AT_X_MAX;
    return e->op == AT_X_SELECT ||
           (bounds && (at_expr_has(e, AT_X_DIV) || at_expr_has(e, AT_X_MOD) || at_expr_reads(e)));
}

/* ---- who reads whom -------------------------------------------------------------------------- */

double at_facts_elements(const at_facts *f, int tensor) {
    double n = 1;
    for (int d = 0; d < f->compute->tensors[tensor].num_axes; d++)
        n *= (double)f->extents[tensor][d];
    return n;
}

bool at_facts_reads(const at_facts *f, int stage, int tensor) {
    for (int i = 0; i < f->of[stage].num_accesses; i++)
        if (f->of[stage].access[i].tensor == tensor) return true;
    return false;
}

int at_facts_axis_of(at_arena *a, const at_facts *f, int stage, int tensor, int axis) {
    const int k = at_compute_read_axis(a, f->compute, f->dissolved, stage, tensor, axis);
    return k >= 0 && f->extents[tensor][axis] == f->extents[stage][k] ? k : -1;
}

/* Does each point of the reader take the element of the same place, by its own axes, and no other
 * of that tensor? */
static bool is_element_wise(at_arena *a, const at_facts *f, int reader, int tensor) {
    const at_tensor *r = &f->compute->tensors[reader], *t = &f->compute->tensors[tensor];
    int64_t stride = 1, wanted[AT_FACTS_MAX_AXES];
    if (r->num_reduce || r->num_axes != t->num_axes) return false;
    for (int k = t->num_axes - 1; k >= 0; k--) {
        if (f->extents[reader][k] != f->extents[tensor][k]) return false;
        wanted[k] = f->extents[tensor][k] > 1 ? stride : 0;
        stride *= f->extents[tensor][k];
    }
    for (int i = 0; i < f->of[reader].num_accesses; i++) {
        const at_access *x = &f->of[reader].access[i];
        if (x->tensor == tensor &&
            (!x->known || x->origin ||
             memcmp(x->stride, wanted, sizeof *wanted * (size_t)t->num_axes)))
            return false;
    }
    for (int k = 0; k < t->num_axes; k++) /* t - P is no axis, even where P is 0 */
        if (at_compute_read_axis(a, f->compute, f->dissolved, reader, tensor, k) != k) return false;
    return true;
}

/* Can the reader stand beside the stage? Not if it also reads a stage that is computed after it,
 * which of those in the text between stages of a cycle only these are. */
static bool is_last_read(const at_facts *f, int reader, int stage) {
    const at_tensor *all = f->compute->tensors;
    const bool in_cycle = all[stage].cycle && all[stage].cycle == all[reader].cycle;
    for (int t = stage + 1; t < reader; t++)
        if (f->of[t].is_stage && at_facts_reads(f, reader, t) &&
            (!in_cycle || all[t].cycle == all[stage].cycle))
            return false;
    return true;
}

/* A stage that holds indices shares no loop with its readers. One that goes from step to step has
 * loops of its own, because loops of others are cut,
 * written out and reordered. The stages of a cycle share the loop of its steps; one that goes on
 * within a step has its own there. */
static bool may_meet(const at_facts *f, int stage, int reader) {
    const at_tensor *t = f->compute->tensors;
    if (t[stage].is_places) return false;
    if (!t[stage].cycle && at_stage_steps(f->compute, stage)) return false;
    if (!t[reader].cycle) return !at_stage_steps(f->compute, reader);
    return t[reader].cycle == t[stage].cycle && !f->of[reader].inner_steps;
}

static void find_readers(at_arena *a, at_facts *f) {
    const at_compute *c = f->compute;
    bool *dissolved = AT_NEW_ARRAY(a, bool, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++)
        dissolved[t] = f->of[t].is_stage && f->of[t].is_dissolved;
    f->dissolved = dissolved;
    for (int t = 0; t < c->num_tensors; t++) {
        at_stage_facts *s = &f->of[t];
        for (int r = t + 1; r < c->num_tensors; r++)
            if (at_facts_has_leaf(f, r) && at_facts_reads(f, r, t)) s->num_readers++, s->reader = r;
        s->is_read_in_place = s->is_stage && s->num_readers == 1 && !f->of[s->reader].is_written &&
                              may_meet(f, t, s->reader) && is_element_wise(a, f, s->reader, t);
        s->has_matched_reader = s->is_read_in_place && is_last_read(f, s->reader, t);
    }
}

typedef struct of_stage {
    const at_facts *f;
    int stage;
} of_stage;

/* A sum of the stage's own shape, read at the stage's place. */
static bool is_sum_there(const at_expr *e, const void *ctx) {
    const at_facts *f = ((const of_stage *)ctx)->f;
    const int stage = ((const of_stage *)ctx)->stage;
    const at_tensor *t = &f->compute->tensors[stage];
    if (e->op != AT_X_INDEX || !f->compute->tensors[e->ref].num_reduce ||
        f->compute->tensors[e->ref].num_axes != t->num_axes || !at_expr_is_in_place(e))
        return false;
    for (int k = 0; k < t->num_axes; k++)
        if (f->extents[e->ref][k] != f->extents[stage][k]) return false;
    return true;
}

/* Computed where it is read: no sum, and either cheap or read in one place where each element is
 * needed once. A constant of no reads is cheap, an index that is bounded is not. What is calculated
 * of a sum, and needed again or in another order, is done once, beside the sum. */
static bool dissolves(const at_facts *f, int stage) {
    const at_compute *c = f->compute;
    const at_tensor *t = &c->tensors[stage];
    int places = 0;
    bool again = false, /* an element is needed several times */
        turns = false;  /* what reads it does nothing but store it in another order */
    if (at_stage_needs_leaf(t) || t->is_packing || f->of[stage].is_written || f->of[stage].is_kept)
        return false;
    for (int r = stage + 1; r < c->num_tensors; r++) {
        const at_tensor *reader = &c->tensors[r];
        int n = reader->role == AT_ROLE_STAGE ? at_expr_count_reads(reader->body, stage) : 0;
        places += n;
        if (!n) continue;
        double elements = 1, points = 1;
        for (int k = 0; k < t->num_axes; k++) elements *= (double)f->extents[stage][k];
        for (int k = 0; k < reader->num_axes + reader->num_reduce; k++)
            points *= (double)f->extents[r][k];
        again |= points > elements;
        turns |= reader->body->op == AT_X_INDEX && !at_expr_is_in_place(reader->body);
    }
    if ((again || turns) && f->of[stage].operations > 0 &&
        at_expr_find(t->body, is_sum_there, &(of_stage){f, stage}))
        return false;
    bool is_dear = f->of[stage].is_expensive || at_expr_find_index(t->body, clamps, NULL);
    return !is_dear || (places == 1 && !again);
}

/* Stages that are dissolved into each other multiply: one whose text has become too long that way
 * gets a leaf. */
static void find_dissolved(at_arena *a, at_facts *f) {
    enum { MOST_DISSOLVED = 32 };
    const at_compute *c = f->compute;
    bool *passes = AT_NEW_ARRAY(a, bool, c->num_tensors);
    int64_t *counts = AT_NEW_ARRAY(a, int64_t, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) {
        counts[t] = at_compute_count_reads(c, t, passes, counts);
        passes[t] = f->of[t].is_operand ||
                    (f->of[t].is_stage && counts[t] <= MOST_DISSOLVED && dissolves(f, t));
        f->of[t].is_dissolved = passes[t];
    }
}

at_status at_facts_of(at_arena *a, const at_compute *c, const at_facts_given *given, at_facts *out,
                      at_error *err) {
    at_facts f = {.compute = c,
                  .values = given->values,
                  .varies = given->varies,
                  .of = AT_NEW_ARRAY(a, at_stage_facts, c->num_tensors)};
    AT_TRY(at_compute_extents(a, c, given->values, &f.extents, err));
    for (int t = 0; t < c->num_tensors; t++) {
        const at_tensor *x = &c->tensors[t];
        at_stage_facts *s = &f.of[t];
        s->extent = f.extents[t];
        s->reader = -1;
        s->is_stage = x->role == AT_ROLE_STAGE;
        s->steps = at_cycle_steps(c, t);
        if (x->cycle) {
            const at_recurrence own = at_recurrence_of(c, t);
            s->inner_steps = (own.steps | own.beyond) & ~s->steps;
        }
        s->is_written = given->written && given->written[t];
        s->is_kept = given->kept && given->kept[t];
        if (!s->is_stage) continue;
        s->is_operand = given->operands && given->operands[t];
        s->is_expensive = at_expr_find(x->body, at_facts_calls, NULL);
        s->operations = operations_of(c, x->body) + (x->num_reduce > 0);
        const unsigned placed = at_scatter_of(x).axes; /* a term goes to one place along these */
        for (int k = 0; k < x->num_axes + x->num_reduce; k++)
            if (!(placed >> k & 1) && s->extent[k] > 0) s->operations *= (double)s->extent[k];
    }
    find_dissolved(a, &f);
    bool *passed = AT_NEW_ARRAY(a, bool, c->num_tensors); /* operands lie in memory */
    for (int t = 0; t < c->num_tensors; t++)
        passed[t] = f.of[t].is_dissolved && !f.of[t].is_operand;
    const at_read_facts reads = {c, f.values, f.varies, f.extents, passed};
    for (int t = 0; t < c->num_tensors; t++)
        if (at_facts_has_leaf(&f, t)) find_accesses(a, &reads, t, &f.of[t]);
    find_readers(a, &f);
    *out = f;
    return AT_OK;
}
