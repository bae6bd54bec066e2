/* sketch/tile_dots.c: dot products of a register tile: which sums of products are some, and along
 * which axis lie the terms of one. */
#include "sketch/nests.h"

/* ---- which products -------------------------------------------------------------------------- */

static at_type type_of(const at_compute *c, const at_expr *e) {
    return e->op == AT_X_INDEX ? c->tensors[e->ref].type : AT_F32;
}

bool tile_sums_bytes(const at_compute *c, const at_tensor *t) {
    return t->type == AT_S32 && t->num_reduce && t->reduction == AT_REDUCE_SUM &&
           t->body->op == AT_X_MUL && at_type_bytes(type_of(c, t->body->arg[0])) == 1 &&
           at_type_bytes(type_of(c, t->body->arg[1])) == 1;
}

int tile_dot_terms(const at_compute *c, const at_tensor *t) {
    if (!t->num_reduce || t->reduction != AT_REDUCE_SUM || t->body->op != AT_X_MUL) return 0;
    const at_type x = type_of(c, t->body->arg[0]), y = type_of(c, t->body->arg[1]);
    if (tile_sums_bytes(c, t)) return TILE_FOURS;
    return x == y && x == (t->type == AT_S32 ? AT_S16 : AT_BF16) ? TILE_PAIR : 0;
}

/* ---- along which axis ------------------------------------------------------------------------ */

/* Does an operand lie in memory as it is, and is no element made of others when it is read? */
static bool is_stored(const sketch_state *s, const at_access *x) {
    const at_compute *c = s->facts->compute;
    return c->tensors[x->from].type == c->tensors[x->tensor].type;
}

/* Do terms along the axis lie side by side in what an access reads, or will they in its copy? */
static bool lies_in_fours(const sketch_state *s, int stage, const at_access *x, int vec, int axis) {
    if (!x->known || x->stride[axis] == 0 || x->stride[axis] == AT_FACTS_ANYWHERE) return false;
    const int terms = tile_dot_terms(s->facts->compute, &s->facts->compute->tensors[stage]);
    if (is_stored(s, x) && x->stride[axis] == 1 && (x->stride[vec] == 0 || x->stride[vec] == terms))
        return true;
    return tile_may_pack(s, stage, x);
}

static const char *not_along(const sketch_state *s, int stage, int vec, int axis) {
    const at_stage_facts *f = &s->facts->of[stage];
    const at_compute *c = s->facts->compute;
    const char *name = c->tensors[stage].axes[axis].name;
    if (c->tensors[stage].axes[axis].begin)
        return at_format(s->arena, "data say where %s begins and ends", name);
    if (f->divisor[axis]) return at_format(s->arena, "an index divides %s", name);
    const int terms = tile_dot_terms(c, &c->tensors[stage]);
    if (f->extent[axis] % terms)
        return at_format(s->arena, "%s has %lld steps, which is no multiple of %d", name,
                         (long long)f->extent[axis], terms);
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
    if (tile_sums_bytes(s->facts->compute, t) &&
        type_of(s->facts->compute, t->body->arg[0]) == type_of(s->facts->compute, t->body->arg[1]))
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

/* -1: none. *why: of products that could be, why they are not; else NULL. */
static int fours_of(const sketch_state *s, int stage, int vec, const char **why) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    int found = -1;
    *why = NULL;
    if (!tile_dot_terms(s->facts->compute, t) || (t->type == AT_F32 && !s->pairs)) return -1;
    *why = not_in_fours(s, stage, vec, &found);
    return found;
}

int tile_fours_of(sketch_state *s, int stage, int vec) {
    const char *why;
    const int found = fours_of(s, stage, vec, &why);
    if (why)
        s->undotted =
            at_format(s->arena, "%s%s%s makes no dot products: %s", s->undotted ? s->undotted : "",
                      s->undotted ? "; " : "", s->facts->compute->tensors[stage].name, why);
    return found;
}

int tile_narrow_of(const sketch_state *s, int stage, int from, int below) {
    const int vec = tile_vector_of(s, stage);
    const int64_t lanes = vec < 0 ? 0 : s->facts->of[stage].inner[vec];
    const char *unused;
    if (lanes < from || lanes >= below || tile_terms_of(s, stage) < NARROW_LEAST_TERMS) return -1;
    return vec < 0 || fours_of(s, stage, vec, &unused) < 0 ? tile_last_sum_of(s, stage) : -1;
}

/* Rows of its reader beside each other, and steps of the reduction, are whole groups of parts; what
 * all lanes of an element read lies as it is. */
static bool may_part(const sketch_state *s, int stage, int fours, int parts) {
    const at_stage_facts *f = &s->facts->of[stage];
    const int vec = s->facts->compute->tensors[stage].num_axes - 1;
    if (vec < 1 || f->extent[vec - 1] % parts || f->extent[fours] % (TILE_FOURS * parts))
        return false;
    for (int k = 0; k <= vec; k++)
        if (f->divisor[k] || sketch_is_step(s, stage, k) || tile_is_guarded(s, stage, k))
            return false;
    for (int i = 0; i < f->num_accesses; i++) {
        const at_access *x = &f->access[i];
        const bool is_shared = x->stride[vec] == 0;
        if (is_shared ? x->stride[fours] != 1 || !is_stored(s, x) : x->stride[vec - 1] != 0)
            return false;
    }
    return true;
}

int tile_parts_of(const sketch_state *s, int stage) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    const int vec = tile_vector_of(s, stage), last = t->num_axes + t->num_reduce - 1;
    const char *unused;
    if (!tile_sums_bytes(s->facts->compute, t) || vec < 0 || vec != t->num_axes - 1 ||
        !f->has_matched_reader || s->facts->of[f->reader].is_expensive ||
        fours_of(s, stage, vec, &unused) != last)
        return 0;
    for (int parts = 2; parts <= PARTS_MOST; parts *= 2) {
        const int64_t lanes = parts * f->extent[vec];
        if (lanes % PARTS_LANES == 0)
            return f->extent[vec] % PARTS_LANES && lanes <= PARTS_MOST_LANES &&
                           may_part(s, stage, last, parts)
                       ? parts
                       : 0;
    }
    return 0;
}

bool tile_packs_fours(const sketch_state *s, const sketch_tile *tile, const at_access *x) {
    const at_compute *c = s->facts->compute;
    if (tile->fours < 0) return false;
    if (x->stride[tile->fours] != 1 || !is_stored(s, x)) return true;
    return x->stride[tile->vec] != 0 &&
           x->stride[tile->vec] != tile_dot_terms(c, &c->tensors[tile->stage]);
}
