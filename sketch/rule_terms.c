/* sketch/rule_terms.c: a sum of a few terms, of which a longer one needs each element once, becomes
 * part of that one's text by its terms, before all other rules: its elements are never stored.
 *
 *     r2[i, j] = sum(d:2) x[i, d]*x[j, d]; out[i] = sum(j) q[j]*exp(r2[i, j])
 *                 ->    out[i] = sum(j) q[j]*exp(x[i, 0]*x[j, 0] + x[i, 1]*x[j, 1])
 *
 * So does one over the few parts of a point, such as its colours, that only parts of points need:
 * lanes along points work it out once.
 *
 *     m[p] = max(c:3) x[p, c]; out[p, c] = x[p, c]/m[p]
 *                 ->    out[p, c] = x[p, c]/max(max(x[p, 0], x[p, 1]), x[p, 2])  */
#include "schedule/edit.h"
#include "sketch/limits.h"
#include "sketch/tile.h"

/* Is an extent a number that no knob decides? */
static bool is_fixed(const at_facts *f, const at_expr *e) {
    if (e->op == AT_X_NAME && f->varies && f->varies[e->ref]) return false;
    for (int i = 0; i < e->nargs; i++)
        if (!is_fixed(f, e->arg[i])) return false;
    return true;
}

/* How many terms its elements have; 0: too many, or not known. */
static int64_t terms_of(const at_facts *f, int stage) {
    const at_tensor *x = &f->compute->tensors[stage];
    int64_t terms = 1;
    if (!x->num_reduce || x->num_reduce > AT_INLINE_SUMS || x->is_output ||
        x->role == AT_ROLE_INDEX || x->is_carried || f->of[stage].is_written ||
        f->of[stage].is_kept)
        return 0;
    for (int k = x->num_axes; k < x->num_axes + x->num_reduce; k++) {
        int64_t n = f->of[stage].extent[k];
        if (x->axes[k].begin || !is_fixed(f, x->axes[k].extent) || n < 1 || n > TERMS_MOST)
            return 0;
        terms *= n;
    }
    return terms <= TERMS_MOST ? terms : 0;
}

/* The only stage that reads it, a longer sum whose points need each element once; -1: there is none
 * such. */
static int reader_of(const sketch_state *s, int stage) {
    const at_facts *f = s->facts;
    double points = 0;
    int found = -1;
    for (int r = stage + 1; r < f->compute->num_tensors; r++) {
        if (!f->of[r].is_stage || !at_expr_count_reads(f->compute->tensors[r].body, stage))
            continue;
        if (found >= 0) return -1;
        found = r;
    }
    const at_tensor *reader = found < 0 ? NULL : &f->compute->tensors[found];
    if (!reader || !reader->num_reduce || tile_sums_are_short(s, found)) return -1;
    for (int i = 0; i < f->of[found].num_accesses; i++)
        points += f->of[found].access[i].tensor == stage;
    for (int k = 0; k < reader->num_axes + reader->num_reduce; k++)
        points *= (double)f->of[found].extent[k];
    return points <= sketch_elements(s, stage) ? found : -1;
}

/* Does the reader need an element for each part of a point: the last axis of its own? */
static bool has_parts(const at_facts *f, int stage, int reader) {
    const at_tensor *x = &f->compute->tensors[stage], *r = &f->compute->tensors[reader];
    const int points = x->num_axes - 1;
    if (r->num_reduce || r->num_axes != x->num_axes + 1 ||
        f->of[reader].extent[points + 1] > MOST_LANE_STEP)
        return false;
    for (int i = 0; i < f->of[reader].num_accesses; i++) {
        const at_access *a = &f->of[reader].access[i];
        if (a->tensor != stage) continue;
        int64_t stride = 1;
        bool moves = !a->known || a->stride[points + 1] != 0;
        for (int k = points; k >= 0; stride *= f->of[stage].extent[k--])
            moves |= a->stride[k] != stride;
        if (moves) return false;
    }
    return true;
}

/* Is it a sum over the parts of a point that only parts of points need? */
static bool is_of_points(const sketch_state *s, int stage) {
    const at_facts *f = s->facts;
    const int points = f->compute->tensors[stage].num_axes - 1;
    int readers = 0;
    if (points < 0 || f->of[stage].extent[points] < TERMS_LEAST_POINTS ||
        terms_of(f, stage) > MOST_LANE_STEP)
        return false;
    for (int i = 0; i < f->of[stage].num_accesses; i++) {
        const int64_t stride = f->of[stage].access[i].stride[points];
        if (stride < 1 || stride > MOST_LANE_STEP) return false;
    }
    for (int r = stage + 1; r < f->compute->num_tensors; r++) {
        if (!f->of[r].is_stage || !at_expr_count_reads(f->compute->tensors[r].body, stage))
            continue;
        if (!has_parts(f, stage, r)) return false;
        readers++;
    }
    return readers > 0;
}

static bool has_lanes(const sketch_state *s, int stage) {
    return tile_vector_of(s, stage) >= 0 || tile_dot_of(s, stage) >= 0 ||
           tile_lanes_of(s, stage) >= 0;
}

/* The same with the terms in their reader; NULL: that is not to be, or does not go. */
static sketch_state *with_terms(const sketch_state *s, int stage, const at_facts_given *given) {
    const at_facts *f = s->facts;
    const at_tensor *x = &f->compute->tensors[stage];
    int64_t terms = terms_of(f, stage);
    const bool of_points = terms && is_of_points(s, stage);
    int reader = terms && !of_points ? reader_of(s, stage) : -1, reads = 0;
    at_error why;
    if ((reader < 0 && !of_points) || !sketch_is_arithmetic(x->body, &reads)) return NULL;
    for (int r = stage + 1; r < f->compute->num_tensors; r++)
        if (f->of[r].is_stage &&
            terms * reads * at_expr_count_reads(f->compute->tensors[r].body, stage) >
                TERMS_MOST_READS)
            return NULL;
    at_edit e = {.kind = AT_EDIT_INLINE, .stage = x->name};
    for (int k = 0; k < x->num_reduce; k++) {
        e.names[k] = x->axes[x->num_axes + k].name;
        e.sizes[k] = f->of[stage].extent[x->num_axes + k];
    }
    sketch_state *b = sketch_branch(s, "");
    if (sketch_step(b, &e, &why) != AT_OK || sketch_look_again(b, given, &why) != AT_OK)
        return NULL;
    /* Of what lies apart no vectors are read. */
    return of_points || has_lanes(b, at_compute_find(b->compute, f->compute->tensors[reader].name))
               ? b
               : NULL;
}

void sketch_inline_terms(sketch_state *s, const at_facts_given *given) {
    for (int t = s->compute->num_tensors - 1; t >= 0; t--) {
        const sketch_state *b = s->facts->of[t].is_stage ? with_terms(s, t, given) : NULL;
        if (b) *s = *b; /* of which the tensors before it are the same */
    }
}
