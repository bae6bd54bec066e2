/* schedule/features.c: a loop nest as a vector of numbers. Source of behaviour: TVM v0.12,
 * src/autotvm/touch_extractor.cc and feature_visitor.cc. Differences: products are doubles and
 * cannot overflow; of several accesses that could stand for a buffer in the curves, the first by
 * name does. */
#include "schedule/nest.h"

#include <math.h>
#include <string.h>

/* ---- touch patterns ------------------------------------------------------------------------- */

enum { NAME_SIZE = 64 }; /* longer ones are cut */

/* "acc_2" as text, which is how names are ordered: "acc_10" before "acc_2". */
static void access_name(const nest_access *x, char out[NAME_SIZE]) {
    char digits[12], *d = digits + sizeof digits;
    size_t len = strlen(x->buffer);
    unsigned n = (unsigned)x->number;
    *--d = 0;
    do *--d = (char)('0' + n % 10);
    while (n /= 10);
    if (len > NAME_SIZE - sizeof digits - 1) len = NAME_SIZE - sizeof digits - 1;
    memcpy(out, x->buffer, len);
    out[len] = '_';
    strcpy(out + len + 1, d);
}

static void sort_accesses(nest *n) {
    char names[NEST_MAX_ACCESSES][NAME_SIZE], name[NAME_SIZE];
    for (int i = 0; i < n->num_accesses; i++) {
        nest_access x = n->accesses[i];
        int at = i;
        access_name(&x, name);
        for (; at > 0 && strcmp(names[at - 1], name) > 0; at--) {
            n->accesses[at] = n->accesses[at - 1];
            memcpy(names[at], names[at - 1], NAME_SIZE);
        }
        n->accesses[at] = x;
        memcpy(names[at], name, NAME_SIZE);
    }
}

static int parallel_level(const nest_loop *l) { return l->ann == AT_ANN_PARA; }

/* From the innermost loop outwards: a loop whose index moves the access multiplies what is touched,
 * another one how often. What one turn of a parallel loop touches is the base of its shares. */
static void finish_access(nest *n, nest_access *x) {
    double count = 1, reuse = 1, base_count[NEST_MAX_DEPTH], base_reuse[NEST_MAX_DEPTH] = {0};
    int path[NEST_MAX_DEPTH];
    for (int d = x->depth - 1, l = x->loop; d >= 0; d--, l = n->loops[l].parent) path[d] = l;
    for (int d = x->depth - 1; d >= 0; d--) {
        nest_loop *l = &n->loops[path[d]];
        nest_touch *t = &x->touch[d];
        if (t->stride != 0) count *= l->extent;
        else reuse *= l->extent;
        t->count = count;
        t->reuse = reuse;
        l->bottom_up = fmax(l->bottom_up, count * reuse);
        t->thread_count = base_reuse[d] > 0 ? floor(count / base_count[d]) : 0;
        t->thread_reuse = base_reuse[d] > 0 ? floor(reuse / base_reuse[d]) : 0;
        if (d == 0) break;
        int outer = parallel_level(&n->loops[path[d - 1]]);
        if (outer != parallel_level(l) + 1) continue;
        for (int k = 0; k < d; k++)
            if (parallel_level(&n->loops[path[k]]) == outer)
                base_count[k] = count, base_reuse[k] = reuse;
    }
}

void nest_finish(nest *n) {
    for (int i = 0; i < n->num_loops; i++) {
        nest_loop *l = &n->loops[i];
        const nest_loop *outer = l->parent < 0 ? NULL : &n->loops[l->parent];
        l->level = outer ? outer->level + 1 : 1;
        l->top_down = (outer ? outer->top_down : 1) * l->extent;
        l->bottom_up = -1;
    }
    sort_accesses(n);
    for (int i = 0; i < n->num_accesses; i++) finish_access(n, &n->accesses[i]);
}

/* The access within this loop, or NULL. */
static const nest_touch *touch_in(const nest *n, const nest_access *x, int loop) {
    int d = n->loops[loop].level - 1, l = x->loop;
    if (d >= x->depth) return NULL;
    for (int i = x->depth - 1; i > d; i--) l = n->loops[l].parent;
    return l == loop ? &x->touch[d] : NULL;
}

/* ---- itervar -------------------------------------------------------------------------------- */

/* Counts what does not fit. */
typedef struct sink {
    float *out;
    int len, max;
} sink;

static void put(sink *s, double x) {
    if (s->len < s->max) s->out[s->len] = (float)x;
    s->len++;
}

/* Most are 0 or 1, and the logarithm is what this file takes longest over. */
static void put_log(sink *s, double x) {
    if (x == 0 || x == 1) put(s, x);
    else put(s, x > 0 ? log2(x + 1) : -log2(1 - x));
}

/* Place in the one-hot code of 11. */
static int ann_place(at_ann a) {
    switch (a) {
    case AT_ANN_DOT:
    case AT_ANN_UNROLL: return 6;
    case AT_ANN_VEC: return 7;
    case AT_ANN_PARA: return 8;
    case AT_ANN_NONE: break;
    }
    return 9;
}

int nest_itervar(const nest *n, float *out, int max) {
    sink s = {.out = out, .max = max};
    for (int i = 0; i < n->num_loops; i++) {
        const nest_loop *l = &n->loops[i];
        put_log(&s, l->extent);
        put(&s, l->level);
        put_log(&s, l->top_down);
        put_log(&s, l->bottom_up);
        for (int k = 0; k < 11; k++) put(&s, k == ann_place(l->ann));
        put_log(&s, l->adds);
        put_log(&s, l->muls);
        put_log(&s, l->divs);
        for (int k = 0; k < n->num_accesses; k++) {
            const nest_touch *t = touch_in(n, &n->accesses[k], i);
            if (!t) continue;
            put_log(&s, t->stride);
            put(&s, -1); /* AutoTVM's `mod`, which it never works out */
            put_log(&s, t->count);
            put_log(&s, t->reuse);
            put_log(&s, t->thread_count);
            put_log(&s, t->thread_reuse);
        }
    }
    return s.len;
}

/* ---- curve ---------------------------------------------------------------------------------- */

enum { SAMPLES = 20 };

typedef struct curve {
    double at[NEST_MAX_DEPTH + 1];
    int len;
} curve;

static void add_sorted(curve *c, double x) {
    int at = c->len++;
    for (; at > 0 && c->at[at - 1] > x; at--) c->at[at] = c->at[at - 1];
    c->at[at] = x;
}

static void sample(sink *s, const curve *y, const curve *x) {
    for (int i = 0; i < SAMPLES; i++) {
        int j = x->len - 1;
        while (j > 0 && !(i > x->at[j] - 1e-6)) j--;
        put(s, y->at[j]);
        put(s, i - x->at[j]);
    }
}

static void put_curves(sink *s, const nest *n, const nest_access *x) {
    curve count = {.len = 1}, reuse = {.len = 1}, top_down = {.len = 1};
    for (int d = x->depth - 1, l = x->loop; d >= 0; d--, l = n->loops[l].parent) {
        add_sorted(&count, log2(x->touch[d].count));
        add_sorted(&reuse, log2(x->touch[d].reuse));
        add_sorted(&top_down, log2(n->loops[l].top_down));
    }
    sample(s, &reuse, &count);
    sample(s, &count, &reuse);
    sample(s, &top_down, &count);
    sample(s, &count, &top_down);
}

/* Names up to a dot are those of one buffer and its copies. */
static bool same_base(const nest_access *x, const nest_access *y) {
    size_t n = strcspn(x->buffer, ".");
    return n == strcspn(y->buffer, ".") && !memcmp(x->buffer, y->buffer, n);
}

int nest_curve(const nest *n, float *out, int max) {
    sink s = {.out = out, .max = max};
    int deepest = 0;
    for (int i = 0; i < n->num_loops; i++)
        if (n->loops[i].level > deepest) deepest = n->loops[i].level;
    for (int i = 0; i < n->num_accesses; i++) {
        const nest_access *x = &n->accesses[i], *chosen = NULL;
        bool seen = false;
        if (x->depth != deepest) continue;
        for (int k = 0; k < n->num_accesses; k++) {
            const nest_access *y = &n->accesses[k];
            if (y->depth != deepest || !same_base(x, y)) continue;
            seen |= k < i;
            if (!chosen || y->loop > chosen->loop) chosen = y;
        }
        if (!seen) put_curves(&s, n, chosen);
    }
    return s.len;
}

int at_program_features(at_arena *a, const at_program *p, at_feature_kind kind, float *out,
                        int max) {
    nest n;
    nest_of_program(a, p, &n);
    nest_finish(&n);
    return kind == AT_FEATURE_CURVE ? nest_curve(&n, out, max) : nest_itervar(&n, out, max);
}
