/* sketch/rule_apart.c: a tensor that a sum reads in two ways, as a matrix times itself transposed:
 * what goes across the lanes of the sum becomes a stage of its own, another name of the tensor, so
 * that it can be packed while the other is read as it lies.
 *
 *     y[i, j] = sum(k) a[i, k] * a[j, k]    ->
 *         a_across[j, k] = a[j, k];  y[i, j] = sum(k) a[i, k] * a_across[j, k] */
#include "schedule/edit.h"
#include "sketch/limits.h"
#include "sketch/tile.h"

/* The tensor of the only access that goes across the lanes, if there is another of it; -1: none. */
static int across(const sketch_state *s, int stage, int vec) {
    const at_stage_facts *f = &s->facts->of[stage];
    int found = -1, reads = 0;
    for (int i = 0; i < f->num_accesses; i++) {
        const at_access *x = &f->access[i];
        if (x->stride[vec] == 0 || x->stride[vec] == 1) continue;
        if (found >= 0 || !x->is_bare || x->from != x->tensor) return -1;
        found = x->tensor;
    }
    for (int i = 0; i < f->num_accesses; i++) reads += f->access[i].tensor == found;
    return reads > 1 ? found : -1;
}

static bool read_apart(sketch_state *s, int stage, const at_facts_given *given) {
    const at_tensor *t = &s->compute->tensors[stage];
    const int vec = tile_vector_of(s, stage), of = vec >= 0 ? across(s, stage, vec) : -1;
    if (of < 0) return false;
    const char *from = s->compute->tensors[of].name;
    at_edit e = {.kind = AT_EDIT_OPERAND,
                 .stage = t->name,
                 .other = from,
                 .loop = t->axes[vec].name,
                 .names = {sketch_fresh(s, at_format(s->arena, "%s_across", from))}};
    at_error why;
    sketch_state *b = sketch_branch(s, "");
    *at_push(s->arena, &b->operands) = e.names[0];
    if (sketch_step(b, &e, &why) != AT_OK || sketch_look_again(b, given, &why) != AT_OK)
        return false;
    *s = *b;
    return true;
}

void sketch_read_apart(sketch_state *s, const at_facts_given *given) {
    for (int t = 0; t < s->compute->num_tensors; t++) {
        const at_stage_facts *f = &s->facts->of[t];
        if (f->is_written || f->is_kept || !f->is_stage || f->is_dissolved ||
            !s->compute->tensors[t].num_reduce || s->compute->tensors[t].cycle)
            continue;
        t += read_apart(s, t, given); /* the new stage stands before this one */
    }
}
