/* sketch/tile_fours.c: sums of products of bytes: four terms, which lie side by side in both
 * operands, are one dot product of a lane. The innermost loop of the terms is these four, inside
 * of the lanes, so that copies in the order of use have them side by side, too. */
#include "sketch/limits.h"
#include "sketch/tile.h"

/* ---- which products -------------------------------------------------------------------------- */

static at_type type_of(const at_compute *c, const at_expr *e) {
    return e->op == AT_X_INDEX ? c->tensors[e->ref].type : AT_F32;
}

bool tile_sums_bytes(const at_compute *c, const at_tensor *t) {
    return t->type == AT_S32 && t->num_reduce && t->reduction == AT_REDUCE_SUM &&
           t->body->op == AT_X_MUL && at_type_bytes(type_of(c, t->body->arg[0])) == 1 &&
           at_type_bytes(type_of(c, t->body->arg[1])) == 1;
}

/* ---- along which axis ------------------------------------------------------------------------ */

/* Do terms along the axis lie side by side in what an access reads, or will they in its copy? */
static bool lies_in_fours(const sketch_state *s, int stage, const at_access *x, int vec, int axis) {
    if (!x->known || x->stride[axis] == 0 || x->stride[axis] == AT_FACTS_ANYWHERE) return false;
    if (x->stride[axis] == 1 && (x->stride[vec] == 0 || x->stride[vec] == TILE_FOURS)) return true;
    return tile_may_pack(s, stage, x);
}

static const char *not_along(const sketch_state *s, int stage, int vec, int axis) {
    const at_stage_facts *f = &s->facts->of[stage];
    const at_compute *c = s->facts->compute;
    const char *name = c->tensors[stage].axes[axis].name;
    if (c->tensors[stage].axes[axis].begin)
        return at_format(s->arena, "data say where %s begins and ends", name);
    if (f->divisor[axis]) return at_format(s->arena, "an index divides %s", name);
    if (f->extent[axis] % TILE_FOURS)
        return at_format(s->arena, "%s has %lld steps, which is no multiple of 4", name,
                         (long long)f->extent[axis]);
    for (int i = 0; i < f->num_accesses; i++)
        if (!lies_in_fours(s, stage, &f->access[i], vec, axis))
            return at_format(s->arena,
                             "steps of %s do not lie side by side in %s, which no copy can change",
                             name, c->tensors[f->access[i].tensor].name);
    return NULL;
}

static const char *not_in_fours(const sketch_state *s, int stage, int vec, int *found) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const char *why = NULL;
    if (type_of(s->facts->compute, t->body->arg[0]) == type_of(s->facts->compute, t->body->arg[1]))
        return "one factor has to be u8, and the other s8";
    if (s->facts->of[stage].num_accesses != 2) return "its factors are read in several places";
    if (vec >= t->num_axes) return "lanes go along its terms";
    for (int k = t->num_axes + t->num_reduce - 1; k >= t->num_axes; k--) {
        const char *own = not_along(s, stage, vec, k);
        if (!own) {
            *found = k;
            return NULL;
        }
        if (!why) why = own;
    }
    return why;
}

int tile_fours_of(sketch_state *s, int stage, int vec) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    int found = -1;
    if (!tile_sums_bytes(s->facts->compute, t)) return -1;
    const char *why = not_in_fours(s, stage, vec, &found);
    if (why)
        s->undotted =
            at_format(s->arena, "%s%s%s makes no dot products: %s", s->undotted ? s->undotted : "",
                      s->undotted ? "; " : "", t->name, why);
    return found;
}

bool tile_packs_fours(const sketch_tile *tile, const at_access *x) {
    if (tile->fours < 0) return false;
    if (x->stride[tile->fours] != 1) return true;
    return x->stride[tile->vec] != 0 && x->stride[tile->vec] != TILE_FOURS;
}
