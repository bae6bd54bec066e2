/* sketch/facts.c: see facts.h. */
#include "sketch/facts.h"
#include "schedule/edit.h"

#include <string.h>

/* ---- indices at a point ---------------------------------------------------------------------- */

typedef struct point {
    const at_facts *facts;
    const int64_t *axis; /* of the stage whose expression it is */
    bool known;
} point;

static int64_t value_at(point *p, const at_expr *e) {
    int64_t x = e->nargs ? value_at(p, e->arg[0]) : 0,
            y = e->nargs > 1 ? value_at(p, e->arg[1]) : 0, value;
    switch (e->op) {
    case AT_X_INT: return e->integer;
    case AT_X_NAME:
        if (e->ref < AT_REF_SIZE) return p->axis[e->ref];
        if (p->facts->varies && p->facts->varies[e->ref - AT_REF_SIZE]) p->known = false;
        return p->facts->values[e->ref - AT_REF_SIZE];
    case AT_X_NEG: return -x;
    case AT_X_NOT: return !x;
    case AT_X_SELECT: return x ? y : value_at(p, e->arg[2]);
    default: break;
    }
    /* An element of an index tensor has no value here: the tensor comes at run time. */
    if (e->nargs == 2 && e->op != AT_X_INDEX && at_expr_binary(e->op, x, y, &value)) return value;
    p->known = false;
    return 0;
}

/* Which axes of the stage an index depends on, as bits; along which of them what comes at run time,
 * or varies, decides how far a step goes. Along which it is a step of one; along which it is one
 * from an entry of an index tensor to the next, and nothing else. */
typedef struct reach {
    uint32_t of, by_data, by_one, by_entry;
    bool has_data;
} reach;

/* Of an entry, or of a sum or product of two. */
static void reach_on(const at_facts *f, const at_expr *e, const reach *part, reach *out) {
    const reach *x = &part[0], *y = &part[1];
    if (e->op == AT_X_INDEX && f->compute->tensors[e->ref].role == AT_ROLE_INDEX) {
        out->by_entry = part[e->nargs - 1].by_one;
        for (int i = 0; i < e->nargs - 1; i++) out->by_entry &= ~part[i].of;
        for (int i = 0; i < e->nargs; i++) out->by_entry &= ~part[i].by_data;
    }
    if (e->op == AT_X_MUL) {
        if (!y->of && !y->has_data) out->by_entry = x->by_entry;
        if (!x->of && !x->has_data) out->by_entry = y->by_entry;
    }
    if (e->op != AT_X_ADD && e->op != AT_X_SUB) return;
    out->by_one = x->by_one & ~y->of;
    out->by_entry = x->by_entry & ~y->of;
    if (e->op == AT_X_SUB) return;
    out->by_one |= y->by_one & ~x->of;
    out->by_entry |= y->by_entry & ~x->of;
}

static reach reach_of(const at_facts *f, const at_expr *e, const reach *axis) {
    reach out = {.has_data = e->op == AT_X_INDEX};
    if (e->op == AT_X_NAME && e->ref < AT_REF_SIZE) return axis[e->ref];
    if (e->op == AT_X_NAME) out.has_data = f->varies && f->varies[e->ref - AT_REF_SIZE];
    reach part[AT_FACTS_MAX_AXES];
    for (int i = 0; i < e->nargs; i++) {
        const reach x = reach_of(f, e->arg[i], axis);
        if (i < AT_FACTS_MAX_AXES) part[i] = x;
        out.of |= x.of;
        out.by_data |= x.by_data;
        out.has_data |= x.has_data;
    }
    /* Only in a sum is a step along one term the same whatever the others are. */
    bool is_sum = e->op == AT_X_ADD || e->op == AT_X_SUB || e->op == AT_X_NEG;
    if (out.has_data && !is_sum) out.by_data = out.of;
    if (e->nargs && e->nargs <= AT_FACTS_MAX_AXES) reach_on(f, e, part, &out);
    return out;
}

/* ---- reads, through what is dissolved -------------------------------------------------------- */

/* How a read stands in choices such as padding's: in none; in one that takes it at this point; in
 * one that takes something else here. How an index stands to a bound: there is none; it is within;
 * the bound decides here. */
typedef enum guard { NO_GUARD, GUARDED, CUT } guard;
typedef struct guards {
    guard choice, bound;
} guards;

typedef struct offset {
    int tensor, from, depth; /* from: read by the stage; depth: stages dissolved on the way */
    int64_t at;
    bool known;
    uint32_t by_data, by_entry;
    guards guards;
    const at_expr *read;
} offset;
typedef struct offsets {
    offset *data;
    int len, cap;
    int left; /* expressions that are still looked at: dissolved stages may multiply */
} offsets;

enum { MOST_READS = 256, MOST_DEPTH = 32, MOST_NODES = 20000 };

/* Of an index that min and max bound by sizes. */
static guard bound_at(point *p, const at_expr *e) {
    guard found = NO_GUARD;
    if (e->op == AT_X_INDEX) return NO_GUARD;
    for (int i = 0; i < e->nargs; i++) {
        const guard inside = bound_at(p, e->arg[i]);
        found = found > inside ? found : inside;
    }
    if ((e->op != AT_X_MIN && e->op != AT_X_MAX) ||
        at_expr_is_size(e->arg[0]) == at_expr_is_size(e->arg[1]))
        return found;
    const int moves = at_expr_is_size(e->arg[0]);
    const bool decides = value_at(p, e) != value_at(p, e->arg[moves]);
    return decides ? CUT : found > GUARDED ? found : GUARDED;
}

/* from: what the stage itself reads, where depth is over 0. reaches: of the axes; NULL: nobody
 * wants to know. */
static void collect(at_arena *a, const at_facts *f, const at_expr *e, const int64_t *axis,
                    const reach *reaches, int from, int depth, guards g, offsets *out) {
    if (e->op == AT_X_SELECT && g.choice != CUT)
        g.choice = value_at(&(point){f, axis, true}, e->arg[0]) ? GUARDED : CUT;
    if (--out->left < 0) return;
    if (e->op != AT_X_INDEX || depth > MOST_DEPTH) {
        for (int i = 0; i < e->nargs && depth <= MOST_DEPTH; i++)
            collect(a, f, e->arg[i], axis, reaches, from, depth, g, out);
        return;
    }
    const at_stage_facts *t = &f->of[e->ref];
    int direct = depth ? from : e->ref;
    int64_t *index = AT_NEW_ARRAY(a, int64_t, e->nargs + 1), at = 0;
    reach *index_reach = reaches ? AT_NEW_ARRAY(a, reach, e->nargs + 1) : NULL, all = {0};
    point p = {f, axis, true};
    guards inside = g;
    for (int i = 0; i < e->nargs; i++) {
        const guard bound = bound_at(&p, e->arg[i]);
        inside.bound = inside.bound > bound ? inside.bound : bound;
        index[i] = value_at(&p, e->arg[i]);
        if (!reaches) continue;
        index_reach[i] = reach_of(f, e->arg[i], reaches);
        all.by_data |= index_reach[i].by_data;
        all.has_data |= index_reach[i].has_data;
    }
    for (int i = 0; i < e->nargs && reaches; i++) {
        uint32_t alone = index_reach[i].by_entry;
        for (int k = 0; k < e->nargs; k++)
            if (k != i) alone &= ~index_reach[k].of;
        all.by_entry |= alone;
    }
    for (int i = 0; i < e->nargs; i++)
        at = (int64_t)((uint64_t)at * (uint64_t)f->extents[e->ref][i] + (uint64_t)index[i]);
    if (t->is_dissolved && !t->is_operand) {
        collect(a, f, f->compute->tensors[e->ref].body, index, index_reach, direct, depth + 1,
                inside, out);
        return;
    }
    if (!p.known && !all.has_data) all.by_data = UINT32_MAX; /* a division by 0 */
    if (out->len < MOST_READS)
        *at_push(a, out) = (offset){e->ref,      direct,       depth,  at, p.known && !all.has_data,
                                    all.by_data, all.by_entry, inside, e};
    for (int i = 0; i < e->nargs; i++) collect(a, f, e->arg[i], axis, reaches, from, depth, g, out);
}

static bool is_bare(const at_expr *read) {
    uint32_t seen = 0;
    for (int i = 0; i < read->nargs; i++) {
        int axis = at_index_axis(read->arg[i]);
        if (axis < 0 || seen & (1u << axis)) return false;
        seen |= 1u << axis;
    }
    return true;
}

/* `f / D` and `f % D` of an axis whose groups are whole: the largest D of each. */
static void find_groups(const at_facts *f, const at_expr *e, at_stage_facts *s) {
    for (int i = 0; i < e->nargs; i++) find_groups(f, e->arg[i], s);
    if ((e->op != AT_X_DIV && e->op != AT_X_MOD) || e->arg[0]->op != AT_X_NAME ||
        e->arg[0]->ref >= AT_REF_SIZE || !at_expr_is_size(e->arg[1]))
        return;
    int axis = e->arg[0]->ref;
    point p = {f, NULL, true};
    int64_t by = value_at(&p, e->arg[1]);
    if (!p.known || by <= 1 || by >= s->extent[axis] || s->extent[axis] % by) return;
    if (s->divisor[axis] && by <= s->inner[axis]) return;
    s->inner[axis] = by;
    s->divisor[axis] = e->arg[1];
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
static void find_phases(const at_facts *f, const at_expr *e, at_stage_facts *s, int num_axes) {
    for (int i = 0; i < e->nargs; i++) find_phases(f, e->arg[i], s, num_axes);
    if (e->op != AT_X_INDEX || !f->of[e->ref].is_dissolved || f->of[e->ref].is_operand) return;
    for (int d = 0; d < e->nargs; d++) {
        const at_expr *by = divides(f->compute->tensors[e->ref].body, d);
        point p = {f, NULL, true};
        int64_t steps = by ? value_at(&p, by) : 0;
        if (steps >= f->extents[e->ref][d]) continue; /* it goes round all of the axis */
        for (int k = 0; k < num_axes && steps > 1 && p.known; k++) {
            if (!at_expr_uses(e->arg[d], k) || s->divisor[k] || s->extent[k] % steps) continue;
            s->inner[k] = s->extent[k] / steps;
            s->divisor[k] = by;
            s->is_phase[k] = true;
        }
    }
}

static bool is_cut(const offset *x) { return x->guards.choice == CUT || x->guards.bound == CUT; }

typedef struct cut_ends { /* of an access, [either end of each axis]: by which ends of reductions */
    unsigned char by[2 * AT_FACTS_MAX_AXES]; /* 1, 2, or both */
} cut_ends;

/* Which axes a choice such as padding cuts, or a bound: at one of an axis' ends it takes something
 * else than in its middle, with reductions at one of theirs. */
static void find_cuts(at_arena *a, const at_facts *f, int stage, const int64_t *middle) {
    const at_tensor *t = &f->compute->tensors[stage];
    at_stage_facts *s = &f->of[stage];
    int64_t axis[AT_FACTS_MAX_AXES];
    cut_ends *cut = AT_NEW_ARRAY(a, cut_ends, s->num_accesses);
    memcpy(axis, middle, sizeof axis);
    for (int end = 0; end < 2; end++) {
        offsets inside = {.left = MOST_NODES};
        for (int k = t->num_axes; k < t->num_axes + t->num_reduce; k++)
            axis[k] = end ? s->extent[k] - 1 : 0;
        collect(a, f, t->body, axis, NULL, -1, 0, (guards){0}, &inside);
        for (int k = 0; k < 2 * t->num_axes; k++) {
            offsets moved = {.left = MOST_NODES};
            axis[k / 2] = k % 2 ? s->extent[k / 2] - 1 : 0;
            collect(a, f, t->body, axis, NULL, -1, 0, (guards){0}, &moved);
            axis[k / 2] = middle[k / 2];
            for (int i = 0; i < s->num_accesses && i < moved.len && i < inside.len; i++)
                if (is_cut(&moved.data[i]) && !is_cut(&inside.data[i]))
                    cut[i].by[k] |= (unsigned char)(1 << end);
        }
    }
    for (int i = 0; i < s->num_accesses; i++)
        for (int k = 0; k < 2 * t->num_axes; k++) {
            s->access[i].is_cut[k / 2] |= cut[i].by[k] != 0;
            s->access[i].is_cut_unevenly[k / 2] |= cut[i].by[k] == 1 || cut[i].by[k] == 2;
        }
}

/* The same element at every point, by the same words. */
static bool is_same(const at_access *x, const offset *read, const at_access *y,
                    const offset *other) {
    return x->known && y->known && x->tensor == y->tensor && x->from == y->from &&
           x->is_bare == y->is_bare && x->is_guarded == y->is_guarded && x->origin == y->origin &&
           !memcmp(x->is_cut, y->is_cut, sizeof x->is_cut) &&
           !memcmp(x->stride, y->stride, sizeof x->stride) && read->depth == other->depth &&
           at_expr_equal(read->read, other->read);
}

/* What is read several times in the same way, such as in a square, is one access. */
static void merge_accesses(at_stage_facts *s, offset *reads) {
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

static void find_accesses(at_arena *a, const at_facts *f, int stage) {
    const at_tensor *t = &f->compute->tensors[stage];
    at_stage_facts *s = &f->of[stage];
    int n = t->num_axes + t->num_reduce;
    int64_t axis[AT_FACTS_MAX_AXES] = {0};
    reach reaches[AT_FACTS_MAX_AXES];
    offsets base = {.left = MOST_NODES};
    bool may_be_cut = false;
    s->inner = at_copy(a, s->extent, sizeof *s->inner * (size_t)n);
    s->divisor = AT_NEW_ARRAY(a, const at_expr *, n + 1);
    s->is_phase = AT_NEW_ARRAY(a, bool, n + 1);
    find_groups(f, t->body, s);
    find_phases(f, t->body, s, n);
    for (int i = 0; i < n; i++) { /* in the middle of a group in the middle */
        int64_t in = s->is_phase[i] ? s->extent[i] : s->inner[i],
                groups = in > 0 ? s->extent[i] / in : 0;
        axis[i] = in > 1 ? groups / 2 * in + in / 2 - (in > 2) : 0;
    }
    for (int i = 0; i < n; i++)
        reaches[i] = (reach){.of = (uint32_t)1 << i, .by_one = (uint32_t)1 << i};
    collect(a, f, t->body, axis, reaches, -1, 0, (guards){0}, &base);
    s->num_accesses = base.len;
    s->access = AT_NEW_ARRAY(a, at_access, base.len + 1);
    for (int i = 0; i < base.len; i++)
        s->access[i] =
            (at_access){.tensor = base.data[i].tensor,
                        .from = base.data[i].from,
                        .known = base.data[i].known && base.left > 0,
                        .is_guarded = base.data[i].guards.choice != NO_GUARD,
                        .by_entry = base.data[i].by_entry,
                        .origin = base.data[i].at,
                        .is_bare = base.data[i].depth == 0 && is_bare(base.data[i].read)};
    for (int i = 0; i < base.len; i++)
        may_be_cut |= s->access[i].is_guarded || base.data[i].guards.bound != NO_GUARD;
    if (may_be_cut) find_cuts(a, f, stage, axis);
    for (int k = 0; k < n; k++) {
        offsets moved = {.left = MOST_NODES};
        if (s->inner[k] <= 1) continue;
        int64_t step = s->is_phase[k] ? s->extent[k] / s->inner[k] : 1;
        axis[k] += step;
        collect(a, f, t->body, axis, NULL, -1, 0, (guards){0}, &moved);
        axis[k] -= step;
        for (int i = 0; i < base.len && i < moved.len; i++) {
            uint64_t moves = (uint64_t)moved.data[i].at - (uint64_t)base.data[i].at;
            s->access[i].stride[k] = base.left <= 0 || base.data[i].by_data >> k & 1
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
    if (e->op == AT_X_INDEX) return c->tensors[e->ref].role != AT_ROLE_INDEX;
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

static bool calls(const at_expr *e) {
    if (e->op == AT_X_CALL && e->integer != AT_FUNCTION_ABS &&
        !at_function_rounds((at_function)e->integer) &&
        !at_function_narrows((at_function)e->integer))
        return true;
    for (int i = 0; i < e->nargs; i++)
        if (calls(e->arg[i])) return true;
    return false;
}

static bool divides_or_reads(const at_expr *e) {
    if (e->op == AT_X_DIV || e->op == AT_X_MOD || e->op == AT_X_INDEX) return true;
    for (int i = 0; i < e->nargs; i++)
        if (divides_or_reads(e->arg[i])) return true;
    return false;
}

/* Does it read by an index that is chosen, or bounded and no sum of axes within? No vector can be
 * loaded so. */
static bool clamps(const at_expr *e, bool in_index) {
    const bool bounds = e->op == AT_X_MIN || e->op == AT_X_MAX;
    if (in_index && (e->op == AT_X_SELECT || (bounds && divides_or_reads(e)))) return true;
    for (int i = 0; i < e->nargs; i++)
        if (clamps(e->arg[i], in_index || e->op == AT_X_INDEX)) return true;
    return false;
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

/* A stage that goes from step to step has loops of its own, because loops of others are cut,
 * written out and reordered. The stages of a cycle share the loop of its steps; one that goes on
 * within a step has its own there. */
static bool may_meet(const at_facts *f, int stage, int reader) {
    const at_tensor *t = f->compute->tensors;
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
            if (f->of[r].is_stage && !f->of[r].is_dissolved && at_facts_reads(f, r, t))
                s->num_readers++, s->reader = r;
        s->is_read_in_place = s->is_stage && s->num_readers == 1 && !f->of[s->reader].is_written &&
                              may_meet(f, t, s->reader) && is_element_wise(a, f, s->reader, t);
        s->has_matched_reader = s->is_read_in_place && is_last_read(f, s->reader, t);
    }
}

/* Does an expression take sums of a stage's own shape, each element the one of its place? */
static bool takes_sums(const at_facts *f, int stage, const at_expr *e) {
    const at_tensor *t = &f->compute->tensors[stage];
    for (int i = 0; i < e->nargs; i++)
        if (takes_sums(f, stage, e->arg[i])) return true;
    if (e->op != AT_X_INDEX || !f->compute->tensors[e->ref].num_reduce ||
        f->compute->tensors[e->ref].num_axes != t->num_axes || !at_expr_is_in_place(e))
        return false;
    for (int k = 0; k < t->num_axes; k++)
        if (f->extents[e->ref][k] != f->extents[stage][k]) return false;
    return true;
}

/* Computed where it is read: no sum, and either cheap or read in one place where each element is
 * needed once. A constant of no reads is cheap, an index that is bounded is not. What is calculated
 * of a sum, and needed again, is done once, beside the sum. */
static bool dissolves(const at_facts *f, int stage) {
    const at_compute *c = f->compute;
    const at_tensor *t = &c->tensors[stage];
    int places = 0;
    bool again = false; /* an element is needed several times */
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
    }
    if (again && f->of[stage].operations > 0 && takes_sums(f, stage, t->body)) return false;
    bool is_dear = f->of[stage].is_expensive || clamps(t->body, false);
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
        s->is_expensive = calls(x->body);
        s->operations = operations_of(c, x->body) + (x->num_reduce > 0);
        const unsigned placed = at_scatter_of(x).axes; /* a term goes to one place along these */
        for (int k = 0; k < x->num_axes + x->num_reduce; k++)
            if (!(placed >> k & 1) && s->extent[k] > 0) s->operations *= (double)s->extent[k];
    }
    find_dissolved(a, &f);
    for (int t = 0; t < c->num_tensors; t++)
        if (f.of[t].is_stage && !f.of[t].is_dissolved) find_accesses(a, &f, t);
    find_readers(a, &f);
    *out = f;
    return AT_OK;
}
