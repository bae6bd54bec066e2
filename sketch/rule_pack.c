/* sketch/rule_pack.c: copies of what a tile reads. What it reads as vectors goes into blocks in the
 * order of use: weights ahead, other tensors as part of the kernel. Rows that lie a multiple of 4
 * KB apart, so that they take the cache's same places from each other, go where they do not.
 *
 *     @mul = A[i, k] * B[k, j]    ->    k0, k1, j0, j1, j2 => @B_packed = ..  before everything
 * else i, k => @A_copy = ..  */
#include "sketch/tile.h"

enum { MANY_READS = 64 };

static at_status pack(sketch_state *s, const sketch_tile *tile, int access, at_error *err) {
    const at_access *x = &s->facts->of[tile->stage].access[access];
    const char *name, *first;
    AT_TRY(sketch_copy_blocks(s, tile->leaf, tile->stage, tile->vec, access, &name, &first, err));
    if (sketch_is_weight(s, x->tensor) || !first) return AT_OK;
    return sketch_mark(s, name, first, AT_ANN_PARA, err);
}

typedef enum packing {
    PACK_NOT,   /* it cannot be, or lanes do not move along it */
    PACK_MUST,  /* lanes read it with a stride */
    PACK_FIRST, /* weights that lie well, or rows of weights: better packed ahead of the kernel, and
                   worse as a part of it; what comes from afar for many rows */
    PACK_MAY
} packing;

/* How many points of the sum read the same element. */
static int64_t reads_of(const sketch_state *s, int stage, const at_access *x) {
    const at_stage_facts *f = &s->facts->of[stage];
    int64_t n = 1;
    for (int k = 0; k < s->facts->compute->tensors[stage].num_axes; k++)
        if (!x->stride[k]) n *= f->inner[k];
    return n;
}

/* Sums of one tile read it together; each would have a copy of its own. */
static bool is_shared(const sketch_state *s, const sketch_tile *tile, int tensor) {
    for (int i = 0; i < tile->num_with; i++)
        if (at_facts_reads(s->facts, tile->with[i], tensor)) return true;
    return false;
}

static packing packing_of(const sketch_state *s, const sketch_tile *tile, const at_access *x) {
    const at_tensor *from = &s->facts->compute->tensors[x->tensor];
    bool is_weight = sketch_is_weight(s, x->tensor);
    if (!tile_may_pack(s, tile->stage, x) || !tile_reads_once(s, tile->stage, x->tensor) ||
        from->role == AT_ROLE_INDEX || is_shared(s, tile, x->tensor) ||
        tile_is_picked(s, tile->stage, x, tile->vec))
        return PACK_NOT;
    if (tile_packs_fours(tile, x)) return PACK_MUST;
    if (x->stride[tile->vec] == 0) {
        bool has_rows = x->is_bare && tile->row >= 0 && x->stride[tile->row] > 1;
        return has_rows && is_weight ? PACK_FIRST : PACK_NOT;
    }
    if (x->stride[tile->vec] != 1) return PACK_MUST;
    if ((from->role == AT_ROLE_STAGE && !is_weight) || !x->is_bare) return PACK_NOT;
    bool pays = sketch_is_far(s, x->tensor) && reads_of(s, tile->stage, x) >= MANY_READS;
    return is_weight || pays ? PACK_FIRST : PACK_MAY;
}

/* Rows beside each other in a tile that are a multiple of a page apart. */
static bool collides(const sketch_state *s, const sketch_tile *tile, const at_access *x) {
    enum { PAGE_ELEMENTS = 1024 };
    const at_tensor *from = &s->facts->compute->tensors[x->tensor];
    if (!x->is_bare || from->role != AT_ROLE_INPUT || x->stride[tile->vec] || tile->row < 0 ||
        is_shared(s, tile, x->tensor))
        return false;
    return x->stride[tile->row] >= PAGE_ELEMENTS && x->stride[tile->row] % PAGE_ELEMENTS == 0;
}

static at_status copy(sketch_state *s, const sketch_tile *tile, int access, at_error *err) {
    const at_access *x = &s->facts->of[tile->stage].access[access];
    const at_tensor *from = &s->facts->compute->tensors[x->tensor];
    const char *name = sketch_fresh(s, at_format(s->arena, "%s_copy", from->name));
    at_edit e = {.kind = AT_EDIT_COPY,
                 .stage = tile->leaf,
                 .other = from->name,
                 .copy = AT_COPY_READ,
                 .names = {name}};
    AT_TRY(sketch_step(s, &e, err));
    const at_tensor *made = &s->compute->tensors[at_compute_find(s->compute, name)];
    int first = 0;
    while (first < made->num_axes - 1 && s->facts->extents[x->tensor][first] == 1) first++;
    return sketch_mark(s, name, made->axes[first].name, AT_ANN_PARA, err);
}

typedef at_status make_copy(sketch_state *s, const sketch_tile *tile, int access, at_error *err);

/* Whether a copy may be left out of every sketch, or of the first alone: of many tiles all choices
 * together would be too many, and they say little about each other. */
static bool has_few_choices(const sketch_state *s) {
    enum { FEW_TILES = 3 };
    int n = 0;
    for (int i = 0; i < s->tiles.len; i++)
        n += s->like[s->tiles.data[i].stage] == s->tiles.data[i].stage;
    return n <= FEW_TILES;
}

/* Adds to each sketch the same one with this copy: in its place, right before it or behind all;
 * where the tile of a stage like this one made the choice, it is made. */
static void add_copies(const sketch_state *s, const sketch_tile *tile, int access, packing how,
                       make_copy *make, sketch_states *all, at_error *err) {
    enum { NO, YES, WAYS };
    int most = sketch_most(s), choosing = has_few_choices(s) ? all->len : 1,
        question = (make == pack ? SKETCH_ASK_PACKED : SKETCH_ASK_COPIED) + access;
    const at_access *x = &s->facts->of[tile->stage].access[access];
    const char *word = at_format(s->arena, "%s_%s", make == pack ? "pack" : "copy",
                                 s->facts->compute->tensors[x->tensor].name);
    for (int b = 0, n = all->len; b < n; b++) {
        sketch_state *old = all->data[b];
        int way = how == PACK_MUST ? YES : sketch_way(old, tile->stage, question, WAYS);
        bool is_told = way == YES && how != PACK_MUST;
        if (way < 0 && (b >= choosing || (how == PACK_MAY && all->len >= most)))
            way = how == PACK_MAY ? NO : YES;
        if (way == NO) continue;
        sketch_state *copied = sketch_branch(old, is_told ? "" : word);
        if (make(copied, tile, access, err) != AT_OK) continue;
        if (way == YES || how == PACK_FIRST) all->data[b] = copied;
        sketch_went(copied, tile->stage, question, WAYS, YES);
        if (way == YES) continue;
        *at_push(s->arena, all) = how == PACK_MAY ? copied : old;
        sketch_went(old, tile->stage, question, WAYS, NO);
    }
    if (all->len > most) all->len = most; /* each copy doubles them */
}

/* It is copied already. */
static bool is_near(const sketch_tile *tile, int access) {
    for (int i = 0; i < tile->num_near; i++)
        if (tile->near[i] == access) return true;
    return false;
}

void sketch_pack(const sketch_state *s, sketch_states *out, at_error *err) {
    sketch_states all = {0};
    *at_push(s->arena, &all) = sketch_branch(s, "");
    for (int i = 0; i < s->tiles.len; i++) {
        const sketch_tile *tile = &s->tiles.data[i];
        const at_stage_facts *f = &s->facts->of[tile->stage];
        for (int k = 0; k < f->num_accesses; k++) {
            packing how = packing_of(s, tile, &f->access[k]);
            if (is_near(tile, k)) continue;
            if (how != PACK_NOT) add_copies(s, tile, k, how, pack, &all, err);
        }
        for (int k = 0; k < f->num_accesses; k++)
            if (!tile->num_near && collides(s, tile, &f->access[k]))
                add_copies(s, tile, k, PACK_MAY, copy, &all, err);
    }
    for (int b = 0; b < all.len; b++) *at_push(s->arena, out) = all.data[b];
}
