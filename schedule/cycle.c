/* schedule/cycle.c: stages that read each other, and sums that read themselves.
 *
 *     s[t:T, j:H] = sum(k:H) (t > 0 ? u[j, k]*h[t - 1, k] : 0)
 *     h[t:T, j:H] = tanh(x[t, j] + s[t, j])
 *
 * Such stages are a cycle: all of one step, in the order of the text, is worked out before anything
 * of the next one. What a step is, their first axes say: as many as it takes for every read of a
 * stage that is not above to be of an earlier step. So the first index of such a read that is not
 * the axis itself is less, as t - 1, the k of sum(k:0..t), or k where k < t is asked. */
#include "schedule/schedule_int.h"

#include <string.h>

typedef struct finder {
    at_arena *arena;
    const at_lex *lex;
    compute_info *c;
    at_error *err;
    bool *from, *to; /* [tensor] what the stage in hand reads, through others, and is read by */
} finder;

#define FAIL_READ(f, read, ...)                                                                    \
    at_lex_fail_at((f)->lex, (read)->line, (read)->col, (f)->err, __VA_ARGS__)

const at_cycle *at_cycle_of(const at_compute *c, int stage) {
    const int number = c->tensors[stage].cycle;
    return number ? &c->cycles[number - 1] : NULL;
}

uint32_t at_cycle_steps(const at_compute *c, int stage) {
    const at_cycle *cycle = at_cycle_of(c, stage);
    uint32_t steps = 0;
    for (int i = cycle ? c->tensors[stage].step_loop : -1; i >= 0; i = cycle->loops[i].parent)
        steps |= 1u << cycle->loops[i].axis;
    return steps;
}

static bool is_in(const at_compute *c, int stage, const at_expr *read) {
    return c->tensors[stage].cycle && c->tensors[stage].cycle == c->tensors[read->ref].cycle;
}

/* How many indices from the first on are the axes themselves. */
static int num_same(const at_tensor *t, const at_expr *read) {
    int n = 0;
    while (n < read->nargs && n < t->num_axes && index_leads(t, read, n) == SAME) n++;
    return n;
}

int at_cycle_back(const at_compute *c, int stage, const at_expr *read) {
    const at_tensor *t = &c->tensors[stage];
    if (!is_in(c, stage, read) || (read->ref == stage && t->is_recurrence)) return -1;
    const int same = num_same(t, read);
    return same < at_cycle_of(c, stage)->depth ? same : -1;
}

bool at_cycle_reads_step(const at_compute *c, int stage, const at_expr *read) {
    const int back = at_cycle_back(c, stage, read);
    return back < 0 || index_leads(&c->tensors[stage], read, back) == UP_TO;
}

/* ---- finding them ---------------------------------------------------------------------------- */

static const at_tensor *tensor_of(const finder *f, int t) { return &f->c->pub.tensors[t]; }

/* All that a stage reads, itself or through others. */
static void mark_reads(const finder *f, int stage) {
    AT_VEC(int) open = {0};
    *at_push(f->arena, &open) = stage;
    while (open.len) {
        const tensor_info *info = &f->c->info[open.data[--open.len]];
        for (int i = 0; i < info->num_reads; i++) {
            const int read = info->reads[i]->ref;
            if (f->from[read]) continue;
            f->from[read] = true;
            *at_push(f->arena, &open) = read;
        }
    }
}

/* All that reads a stage, itself or through others. */
static void mark_readers(const finder *f, int stage) {
    bool changes = true;
    f->to[stage] = true;
    while (changes) {
        changes = false;
        for (int t = 0; t < f->c->pub.num_tensors; t++)
            for (int i = 0; i < f->c->info[t].num_reads && !f->to[t]; i++)
                if (f->to[f->c->info[t].reads[i]->ref]) f->to[t] = changes = true;
    }
}

/* Does a stage read one that is not above it, other than as a recurrence does? */
static bool reads_below(const finder *f, int stage) {
    const tensor_info *info = &f->c->info[stage];
    bool found = false;
    for (int i = 0; i < info->num_reads; i++)
        found |= info->reads[i]->ref > stage ||
                 (info->reads[i]->ref == stage && tensor_of(f, stage)->num_reduce);
    return found;
}

/* The cycle of a stage, if it is in one. */
static void add_cycle(finder *f, int stage, at_cycle *out) {
    const int n = f->c->pub.num_tensors;
    int *stages = AT_NEW_ARRAY(f->arena, int, n);
    for (int t = 0; t < n; t++) f->from[t] = f->to[t] = false;
    mark_reads(f, stage);
    mark_readers(f, stage);
    if (!f->from[stage]) return;
    *out = (at_cycle){.stages = stages};
    f->c->pub.num_cycles++;
    for (int t = 0; t < n; t++)
        if (f->from[t] && f->to[t]) {
            stages[out->num++] = t;
            f->c->pub.tensors[t].cycle = f->c->pub.num_cycles;
        }
}

/* All that it reads below is of its cycle. */
static at_status check_below(finder *f, int stage) {
    const tensor_info *info = &f->c->info[stage];
    for (int i = 0; i < info->num_reads; i++)
        if (info->reads[i]->ref > stage && !is_in(&f->c->pub, stage, info->reads[i]))
            return FAIL_READ(f, info->reads[i],
                             "\"%s\" is below: a stage reads only tensors above it, and stages "
                             "that read it",
                             info->reads[i]->name);
    return AT_OK;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Calls visit for each read of a stage of the cycle in one of its stages. */
typedef at_status visit_read(finder *f, at_cycle *cycle, int stage, const at_expr *read);
static at_status each_read(finder *f, at_cycle *cycle, visit_read *visit) {
    for (int i = 0; i < cycle->num; i++) {
        const int stage = cycle->stages[i];
        const tensor_info *info = &f->c->info[stage];
        for (int k = 0; k < info->num_reads; k++)
            if (is_in(&f->c->pub, stage, info->reads[k]))
                AT_TRY(visit(f, cycle, stage, info->reads[k]));
    }
    return AT_OK;
}

static at_status too_early(finder *f, int stage, const at_expr *read) {
    const at_tensor *t = tensor_of(f, stage);
    const char *stands = read->ref > stage ? at_format(f->arena, ", or \"%s\" stand above \"%s\"",
                                                       read->name, t->name)
                                           : "";
    return FAIL_READ(
        f, read,
        "\"%s\" reads \"%s\" where it is not computed yet: stages that read each other "
        "go from step to step along their first axes, and the first index that is not "
        "the axis itself must be less than the axis, as %s - 1%s",
        t->name, read->name, recurrence_axis(t, read), stands);
}

/* A read of a stage that is not above: its step is of so many axes. */
static at_status deepen(finder *f, at_cycle *cycle, int stage, const at_expr *read) {
    const at_tensor *t = tensor_of(f, stage);
    if (read->ref < stage || (read->ref == stage && t->is_recurrence)) return AT_OK;
    const int same = num_same(t, read);
    if (same == read->nargs || same == t->num_axes || index_leads(t, read, same) != BEFORE)
        return too_early(f, stage, read);
    if (same + 1 > cycle->depth) cycle->depth = same + 1;
    return AT_OK;
}

/* With the number of axes known: what goes back along which. */
static at_status find_steps(finder *f, at_cycle *cycle, int stage, const at_expr *read) {
    const at_tensor *t = tensor_of(f, stage);
    const int same = num_same(t, read);
    if (same >= cycle->depth) return AT_OK;
    const where leads =
        same < read->nargs && same < t->num_axes ? index_leads(t, read, same) : ELSEWHERE;
    if (leads != BEFORE && (leads != UP_TO || read->ref >= stage)) return too_early(f, stage, read);
    cycle->steps |= 1u << same;
    if (read->ref == stage && t->is_recurrence) return AT_OK;
    f->c->pub.tensors[stage].is_carried = f->c->pub.tensors[read->ref].is_carried = true;
    return AT_OK;
}

/* As it is written. */
static const char *axis_text(const finder *f, const at_axis *x) {
    return at_format(f->arena, "%s:%s", x->name, at_expr_text(f->arena, x->extent));
}

/* The axes of the steps are the same in all stages. */
static at_status check_axes(finder *f, const at_cycle *cycle) {
    const at_tensor *first = tensor_of(f, cycle->stages[0]);
    for (int i = 0; i < cycle->num; i++) {
        const at_tensor *t = tensor_of(f, cycle->stages[i]);
        for (int k = 0; k < cycle->depth; k++)
            if (k >= t->num_axes || strcmp(t->axes[k].name, first->axes[k].name) ||
                !at_expr_equal(t->axes[k].extent, first->axes[k].extent))
                return at_lex_fail_at(f->lex, t->line, 1, f->err,
                                      "\"%s\" and \"%s\" read each other step by step: axis %d of "
                                      "both must be %s",
                                      t->name, first->name, k + 1, axis_text(f, &first->axes[k]));
    }
    return AT_OK;
}

/* Read by no stage but those of its cycle, at later steps alone? */
static bool is_result(const finder *f, int stage) {
    const at_compute *c = &f->c->pub;
    for (int t = 0; t < c->num_tensors; t++)
        for (int i = 0; i < f->c->info[t].num_reads; i++) {
            const at_expr *read = f->c->info[t].reads[i];
            if (read->ref == stage && t != stage && at_cycle_reads_step(c, t, read)) return false;
        }
    return true;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* What stands between the stages of a cycle comes before them, so that it reads none of them. */
static at_status check_between(finder *f, const at_cycle *cycle) {
    const at_compute *c = &f->c->pub;
    const int number = c->tensors[cycle->stages[0]].cycle;
    bool *reads = f->from;
    for (int t = 0; t < c->num_tensors; t++) reads[t] = c->tensors[t].cycle == number;
    for (int t = cycle->stages[0]; t < cycle->stages[cycle->num - 1]; t++)
        for (int i = 0; i < f->c->info[t].num_reads && !reads[t]; i++) {
            const at_expr *read = f->c->info[t].reads[i];
            if (!reads[read->ref]) continue;
            return FAIL_READ(f, read,
                             "\"%s\" stands between stages that read each other, and reads \"%s\": "
                             "it stands behind all of them",
                             tensor_of(f, t)->name, read->name);
        }
    return AT_OK;
}

/* Places stages of a cycle in loops of steps. */
typedef struct nester {
    finder *f;
    at_cycle *cycle;
    at_step_loop *loops;
    int *order, num;
} nester;

/* Who reads whom of some stages, directly or through others of them, but for what is of an earlier
 * step along axes up to this one: [stage i][stage k]. */
static bool *reads_within(const nester *n, const int *stages, int num, int axis) {
    const at_compute *c = &n->f->c->pub;
    bool *reads = AT_NEW_ARRAY(n->f->arena, bool, num *num);
    int *place = AT_NEW_ARRAY(n->f->arena, int, c->num_tensors); /* from 1 */
    for (int i = 0; i < num; i++) place[stages[i]] = i + 1;
    for (int i = 0; i < num; i++)
        for (int r = 0; r < n->f->c->info[stages[i]].num_reads; r++) {
            const at_expr *read = n->f->c->info[stages[i]].reads[r];
            const int back = at_cycle_back(c, stages[i], read);
            if (!place[read->ref] || (read->ref == stages[i] && back < 0)) continue;
            if (back > axis || at_cycle_reads_step(c, stages[i], read))
                reads[i * num + place[read->ref] - 1] = true;
        }
    for (int m = 0; m < num; m++)
        for (int i = 0; i < num; i++)
            for (int k = 0; k < num && reads[i * num + m]; k++)
                reads[i * num + k] |= reads[m * num + k];
    return reads;
}

static void place_together(nester *n, const int *stages, int num, int from, int parent);

/* Those that read each other still, and each other one, behind what they read. */
static void place_apart(nester *n, const int *stages, int num, int axis, int loop) {
    const bool *reads = reads_within(n, stages, num, axis);
    bool *placed = AT_NEW_ARRAY(n->f->arena, bool, num);
    int *group = AT_NEW_ARRAY(n->f->arena, int, num);
    for (int i = 0; i < num; i++) {
        int size = 0;
        bool ready = !placed[i];
        for (int k = 0; k < num && ready; k++) {
            const bool mutual = k == i || (reads[i * num + k] && reads[k * num + i]);
            if (mutual) group[size++] = k;
            else ready = placed[k] || !reads[i * num + k];
        }
        if (!ready) continue;
        for (int k = 0; k < size; k++) placed[group[k]] = true, group[k] = stages[group[k]];
        if (size > 1 || reads[i * num + i]) place_together(n, group, size, axis + 1, loop);
        else n->order[n->num++] = stages[i];
        i = -1; /* others may be ready now */
    }
}

/* In a loop along the next axis along which one of them reads an earlier step. */
static void place_together(nester *n, const int *stages, int num, int from, int parent) {
    const at_compute *c = &n->f->c->pub;
    int *own = at_copy(n->f->arena, stages, sizeof *own * (size_t)num), axis = n->cycle->depth;
    bool *in = AT_NEW_ARRAY(n->f->arena, bool, c->num_tensors);
    for (int i = 0; i < num; i++) in[own[i]] = true;
    for (int i = 0; i < num; i++)
        for (int r = 0; r < n->f->c->info[own[i]].num_reads; r++) {
            const at_expr *read = n->f->c->info[own[i]].reads[r];
            const int back = in[read->ref] ? at_cycle_back(c, own[i], read) : -1;
            if (back >= from && back < axis) axis = back;
        }
    const int loop = n->cycle->num_loops++;
    n->loops[loop] = (at_step_loop){axis, parent};
    for (int i = 0; i < num; i++) n->f->c->pub.tensors[own[i]].step_loop = loop;
    place_apart(n, own, num, axis, loop);
}

static void set_order(finder *f, at_cycle *cycles) {
    at_compute *c = &f->c->pub;
    int *order = AT_NEW_ARRAY(f->arena, int, c->num_tensors), num = 0;
    for (int t = 0; t < c->num_tensors; t++) {
        at_cycle *cycle = c->tensors[t].cycle ? &cycles[c->tensors[t].cycle - 1] : NULL;
        if (!cycle) order[num++] = t;
        if (!cycle || t != cycle->stages[cycle->num - 1]) continue;
        nester n = {.f = f, .cycle = cycle, .order = order, .num = num};
        n.loops = AT_NEW_ARRAY(f->arena, at_step_loop, cycle->num * cycle->depth);
        cycle->loops = n.loops;
        place_together(&n, cycle->stages, cycle->num, 0, -1);
        num = n.num;
    }
    c->order = order;
}

at_status compute_find_cycles(at_arena *a, const at_lex *l, compute_info *c, at_error *err) {
    const int n = c->pub.num_tensors;
    finder f = {.arena = a, .lex = l, .c = c, .err = err};
    at_cycle *cycles = AT_NEW_ARRAY(a, at_cycle, n);
    f.from = AT_NEW_ARRAY(a, bool, n);
    f.to = AT_NEW_ARRAY(a, bool, n);
    c->pub.cycles = cycles;
    for (int t = 0; t < n; t++)
        if (!c->pub.tensors[t].cycle && reads_below(&f, t))
            add_cycle(&f, t, &cycles[c->pub.num_cycles]);
    for (int t = 0; t < n; t++) AT_TRY(check_below(&f, t));
    for (int i = 0; i < c->pub.num_cycles; i++) {
        AT_TRY(each_read(&f, &cycles[i], deepen));
        AT_TRY(each_read(&f, &cycles[i], find_steps));
        AT_TRY(check_axes(&f, &cycles[i]));
        AT_TRY(check_between(&f, &cycles[i]));
    }
    for (int t = 0; t < n; t++)
        if (c->pub.tensors[t].cycle)
            c->pub.tensors[t].is_output = is_result(&f, t) || c->pub.tensors[t].is_marked;
    set_order(&f, cycles);
    return AT_OK;
}
