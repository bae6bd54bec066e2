/* sketch/choices.c: choices of a stage; and layers that repeat: of a computation with many sums
 * those that are alike choose the same, and their loops are split by the same knobs, so that a
 * network of twelve equal layers has the sketches and the space of one layer, instead of the
 * twelfth power. */
#include "sketch/nests.h"

#include <string.h>

nest_choice *nest_add(nest_choices *out, const char *of, int vec) {
    if (out->num == NEST_MOST_CHOICES) AT_BUG("more than %d choices of a row", out->num);
    nest_choice *c = &out->of[out->num++];
    *c = (nest_choice){
        .of = of, .vec = vec, .row = -1, .second = -1, .unrolled = -1, .fours = -1, .blocked = -1};
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

const int *sketch_find_alike(at_arena *a, const at_facts *f) {
    const int n = f->compute->num_tensors;
    int *like = AT_NEW_ARRAY(a, int, n), sums = 0;
    for (int t = 0; t < n; t++) {
        like[t] = t;
        sums += f->of[t].is_stage && !f->of[t].is_dissolved && f->compute->tensors[t].num_reduce;
    }
    for (int t = n - 1; t >= 0 && sums > FEW_SUMS; t--)
        for (int s = n - 1; s > t && like[t] == t; s--)
            if (f->of[t].is_stage && like[s] == s && is_same_stage(f, s, t)) like[t] = s;
    return like;
}

/* ---- ways ------------------------------------------------------------------------------------ */

int sketch_way(const sketch_state *s, int stage, int question, int num_ways) {
    for (int i = 0; i < s->ways.len; i++) {
        const sketch_choice *c = &s->ways.data[i];
        if (c->stage == s->like[stage] && c->stage != stage && c->question == question &&
            c->num_ways == num_ways)
            return c->way;
    }
    return -1;
}

void sketch_went(sketch_state *s, int stage, int question, int num_ways, int way) {
    if (s->like[stage] == stage)
        *at_push(s->arena, &s->ways) = (sketch_choice){stage, question, num_ways, way};
}

/* ---- knobs ----------------------------------------------------------------------------------- */

static int splits_of(const sketch_state *s, int stage) {
    int n = 0;
    for (int i = 0; i < s->splits.len; i++) n += s->splits.data[i].stage == stage;
    return n;
}

static bool is_same_text(const char *a, const char *b) {
    return a == b || (a && b && !strcmp(a, b));
}

const sketch_split_of *sketch_alike_split(const sketch_state *s, const sketch_split_of *asked) {
    const int like = s->visited < 0 ? -1 : s->like[s->visited];
    int skip = splits_of(s, s->visited);
    for (int i = 0; i < s->splits.len && like != s->visited; i++) {
        const sketch_split_of *x = &s->splits.data[i];
        if (x->stage != like || skip--) continue;
        bool is_same = x->n == asked->n && x->policy == asked->policy &&
                       is_same_text(x->filter, asked->filter) &&
                       is_same_text(x->listed, asked->listed) && is_same_text(x->axis, asked->axis);
        return is_same ? x : NULL;
    }
    return NULL;
}
