/* sketch/operand_reads.c: how what a tile reads is laid. A copy in blocks is read in the order of
 * use; it is made in the order in which its source lies, so that no row of that is left again after
 * a vector, and in vectors:
 *
 *     @mul = A[i, k] * B[k, j]    ->    k0, k1, j0, j1, j2:vec => @B_packed = j0, j1, k0, k1, j2
 *
 * pack: what a tile reads as vectors goes into such blocks: weights ahead, other tensors as part of
 * the kernel. copy: rows that lie a multiple of 4 KB apart, so that they take the cache's same
 * places from each other, go where they do not:
 *
 *     i, k => @A_copy = ..
 *
 * Rows from beyond the caches near the core are asked for while the rows before them are worked on,
 * by an option:
 *
 *     @out = {i0, i1}/i, j      ->      @out [prefetch out ahead_out] = {i0, i1}/i, j
 *
 * where ahead_out is 0, or the bytes of as many rows as are worked on together. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sketch/nests.h"

/* ---- copies in blocks ------------------------------------------------------------------------ */

/* The axis of a stage that an axis of its leaf is: of a sum in parts, whose last reduction these
 * are, several are that one. */
static int axis_of(const at_tensor *stage, const at_tensor *made, int axis) {
    int last = stage->num_axes + stage->num_reduce - 1;
    if (made->num_axes == stage->num_axes || axis < stage->num_axes) return axis;
    return axis == stage->num_axes || axis - 1 > last ? last : axis - 1;
}

/* How far a piece moves what is copied; pieces of axes of one step stand outermost. */
static int64_t step_of(const sketch_state *s, const char *leaf, int stage, const at_access *x,
                       const char *piece) {
    at_leaf_digit d[AT_TREE_MOST_DIGITS];
    int made = at_compute_find(s->compute, leaf);
    const at_tensor *t = &s->compute->tensors[made];
    for (int m = 0; m < t->num_axes + t->num_reduce; m++)
        for (int n = at_tree_digits(s->tree, made, m, d); n-- > 0;)
            if (!strcmp(d[n].piece, piece)) {
                int k = axis_of(&s->facts->compute->tensors[stage], t, m);
                bool moves = s->facts->of[stage].inner[k] > 1 && x->stride[k];
                return moves ? llabs(x->stride[k]) : INT64_MAX;
            }
    return INT64_MAX;
}

/* The loops of a copy as they stand, or, in_rows, those that move its source further outside.
 * *first: the outermost that runs more than once; NULL: none does. */
static at_status order(sketch_state *s, const char *name, const char *leaf, int stage,
                       const at_access *x, bool in_rows, const char **first) {
    at_edit e = {.kind = AT_EDIT_ORDER, .stage = name};
    int64_t step[AT_EDIT_MAX_NAMES];
    int copy = at_compute_find(s->compute, name), n = s->compute->tensors[copy].num_axes;
    *first = NULL;
    if (n >= AT_EDIT_MAX_NAMES) return AT_OK;
    for (int k = 0; k < n; k++) {
        at_leaf_digit d[AT_TREE_MOST_DIGITS];
        if (at_tree_digits(s->tree, copy, k, d) != 1) return AT_OK;
        int64_t own = step_of(s, leaf, stage, x, d[0].piece);
        int at = k;
        for (; in_rows && at > 0 && step[at - 1] < own; at--) {
            step[at] = step[at - 1];
            e.names[at] = e.names[at - 1];
        }
        step[at] = own;
        e.names[at] = d[0].piece;
    }
    for (int k = n - 1; k >= 0; k--)
        if (step[k] < INT64_MAX) *first = e.names[k];
    if (!in_rows) return AT_OK;
    AT_TRY(sketch_step(s, &e));
    if (step[n - 1] == 1) sketch_mark(s, name, e.names[n - 1], AT_ANN_VEC);
    return AT_OK;
}

/* Does the stage read the same tensor in another order, too? */
static bool is_read_otherwise(const at_facts *f, int stage, const at_access *x) {
    const at_tensor *t = &f->compute->tensors[stage];
    size_t size = sizeof *x->stride * (size_t)(t->num_axes + t->num_reduce);
    for (int i = 0; i < f->of[stage].num_accesses; i++) {
        const at_access *y = &f->of[stage].access[i];
        if (y->from == x->from && memcmp(y->stride, x->stride, size) != 0) return true;
    }
    return false;
}

/* Does what was named move along the axes of this access? */
static bool is_named(const sketch_state *s, const char *name, const at_tensor *stage,
                     const at_access *x) {
    const at_tensor *t = &s->compute->tensors[at_compute_find(s->compute, name)];
    for (int k = 0; k < stage->num_axes + stage->num_reduce; k++) {
        bool has = false;
        for (int j = 0; j < t->num_axes; j++) has |= !strcmp(t->axes[j].name, stage->axes[k].name);
        if (has != (x->stride[k] != 0)) return false;
    }
    return true;
}

/* Gives one of several reads of a tensor another name of it. */
static at_status name_read(sketch_state *s, const char *leaf, int stage, const at_access *x,
                           const char **from) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    at_edit e = {.kind = AT_EDIT_OPERAND, .stage = leaf, .other = *from};
    if (!is_read_otherwise(s->facts, stage, x)) return AT_OK;
    for (int k = 0; k < t->num_axes + t->num_reduce; k++)
        if (x->stride[k] == 1) e.loop = t->axes[k].name;
    if (!e.loop) return AT_OK;
    *from = e.names[0] = sketch_fresh(s, at_format(s->arena, "%s_along_%s", *from, e.loop));
    AT_TRY(sketch_step(s, &e));
    if (!is_named(s, *from, t, x)) return AT_E_INPUT;
    return sketch_step_of(s, AT_EDIT_DISSOLVE, *from);
}

at_status sketch_copy_blocks(sketch_state *s, const char *leaf, int stage, int vec, int access,
                             const char **name, const char **first) {
    const at_access *x = &s->facts->of[stage].access[access];
    const char *from = s->facts->compute->tensors[x->from].name;
    AT_TRY(name_read(s, leaf, stage, x, &from));
    *name = sketch_fresh_of(s, from, "packed");
    at_edit e = {.kind = AT_EDIT_COPY,
                 .stage = leaf,
                 .other = from,
                 .copy = AT_COPY_LAYOUT,
                 .names = {*name}};
    AT_TRY(sketch_step(s, &e));
    return order(s, *name, leaf, stage, x, x->is_bare && x->stride[vec] == 1, first);
}

at_status sketch_copy_lanes(sketch_state *s, const char *leaf, int stage, int access) {
    const char *from = s->facts->compute->tensors[s->facts->of[stage].access[access].from].name;
    return sketch_step(s, &(at_edit){.kind = AT_EDIT_COPY,
                                     .stage = leaf,
                                     .other = from,
                                     .copy = AT_COPY_LANES,
                                     .names = {sketch_fresh_of(s, from, "packed")}});
}

/* ---- prefetches ------------------------------------------------------------------------------ */

/* The bytes of a row, one step of an axis, as an expression over sizes; NULL: no dimension goes
 * with that stride. */
static const char *row_bytes(const sketch_state *s, int tensor, int64_t stride) {
    const at_tensor *x = &s->facts->compute->tensors[tensor];
    int64_t whole = 1;
    for (int d = x->num_axes - 1; d > 0; d--) {
        whole *= s->facts->extents[tensor][d];
        if (whole != stride) continue;
        at_text text = {0};
        at_text_add(&text, "4");
        for (int k = d; k < x->num_axes; k++) {
            at_text_add(&text, "*(");
            at_expr_print(&text, x->axes[k].extent);
            at_text_add(&text, ")");
        }
        return at_text_take(s->arena, &text);
    }
    return NULL;
}

static const char *option_of(sketch_state *s) {
    for (int i = 0; i < s->definitions.len; i++)
        if (s->definitions.data[i].kind == AT_DEFINE_OPTION) return s->definitions.data[i].text[0];
    const char *knob = sketch_fresh(s, "prefetch");
    *at_push(s->arena, &s->definitions) =
        (at_definition){.kind = AT_DEFINE_OPTION, .text = {knob, "[0, 1]"}, .fallback = 1};
    at_symbol_add(s->arena, s->symbols, knob);
    return knob;
}

at_status sketch_prefetch(sketch_state *s, const char *leaf, int tensor, int64_t stride,
                          const char *rows) {
    const char *bytes = row_bytes(s, tensor, stride),
               *name = s->facts->compute->tensors[tensor].name;
    if (!bytes) return AT_OK;
    const char *knob = option_of(s),
               *ahead = sketch_fresh(s, at_format(s->arena, "ahead_%s", name));
    const char *sizes = rows ? at_format(s->arena, "%s = %s*%s*|%s|", ahead, knob, bytes, rows)
                             : at_format(s->arena, "%s = %s*%s", ahead, knob, bytes);
    *at_push(s->arena, &s->definitions) = (at_definition){.kind = AT_DEFINE_SIZES, .text = {sizes}};
    at_symbol_add(s->arena, s->symbols, ahead);
    return sketch_attribute(s, leaf, at_format(s->arena, "[prefetch %s %s]", name, ahead));
}

/* ---- which are packed or copied -------------------------------------------------------------- */

static at_status pack(sketch_state *s, const sketch_tile *tile, int access) {
    const at_access *x = &s->facts->of[tile->stage].access[access];
    const char *name, *first;
    AT_TRY(sketch_copy_blocks(s, tile->leaf, tile->stage, tile->vec, access, &name, &first));
    if (sketch_is_weight(s, x->tensor) || !first) return AT_OK;
    return sketch_mark(s, name, first, AT_ANN_PARA);
}

typedef enum answer {
    COPY_NOT,   /* it cannot be, or there is no use in it */
    COPY_MUST,  /* lanes read it with a stride */
    COPY_FIRST, /* weights that lie well, or rows of weights: better packed ahead of the kernel, and
                   worse as a part of it; what comes from afar for many rows */
    COPY_MAY
} answer;

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

static answer asks_to_pack(const sketch_state *s, const sketch_tile *tile, const at_access *x) {
    const at_tensor *from = &s->facts->compute->tensors[x->tensor];
    bool is_weight = sketch_is_weight(s, x->tensor);
    if (!tile_may_pack(s, tile->stage, x) || !tile_reads_once(s, tile->stage, x->tensor) ||
        at_tensor_has_entries(from) || is_shared(s, tile, x->tensor) ||
        tile_is_picked(s, tile->stage, x, tile->vec))
        return COPY_NOT;
    if (tile_packs_fours(s, tile, x)) return COPY_MUST;
    if (x->stride[tile->vec] == 0) {
        bool has_rows = x->is_bare && tile->row >= 0 && x->stride[tile->row] > 1;
        return has_rows && is_weight ? COPY_FIRST : COPY_NOT;
    }
    if (x->stride[tile->vec] != 1) return COPY_MUST;
    if ((from->role == AT_ROLE_STAGE && !is_weight) || !x->is_bare) return COPY_NOT;
    const int64_t reads = reads_of(s, tile->stage, x);
    if (!is_weight && reads <= FEW_MOST_USES) return COPY_NOT;
    bool pays = sketch_is_far(s, x->tensor) && reads >= MANY_READS;
    return is_weight || pays ? COPY_FIRST : COPY_MAY;
}

/* A float of 16 bits that all lanes read, and many sums: it is widened once, and not for each. */
static bool is_widened(const sketch_state *s, const sketch_tile *tile, const at_access *x) {
    return at_type_is_half(s->facts->compute->tensors[x->tensor].type) && tile->fours < 0 &&
           !x->stride[tile->vec] && reads_of(s, tile->stage, x) >= WIDENED_READS;
}

/* Do rows beside each other in a tile lie a multiple of a page apart? */
static answer asks_to_copy(const sketch_state *s, const sketch_tile *tile, const at_access *x) {
    const at_tensor *from = &s->facts->compute->tensors[x->tensor];
    if (!x->is_bare || from->role != AT_ROLE_INPUT || x->stride[tile->vec] || tile->row < 0 ||
        is_shared(s, tile, x->tensor) || tile->num_near)
        return COPY_NOT;
    if (is_widened(s, tile, x)) return COPY_FIRST;
    const int64_t apart = x->stride[tile->row];
    return apart >= PAGE_ELEMENTS && apart % PAGE_ELEMENTS == 0 ? COPY_MAY : COPY_NOT;
}

static at_status copy(sketch_state *s, const sketch_tile *tile, int access) {
    const at_access *x = &s->facts->of[tile->stage].access[access];
    const at_tensor *from = &s->facts->compute->tensors[x->tensor];
    const bool widens = is_widened(s, tile, x);
    const char *name = sketch_fresh_of(s, from->name, widens ? "wide" : "copy");
    at_edit e = {.kind = AT_EDIT_COPY,
                 .stage = tile->leaf,
                 .other = from->name,
                 .copy = widens ? AT_COPY_WIDE : AT_COPY_READ,
                 .names = {name}};
    AT_TRY(sketch_step(s, &e));
    const at_tensor *made = &s->compute->tensors[at_compute_find(s->compute, name)];
    int first = 0, last = made->num_axes - 1;
    while (first < last && s->facts->extents[x->tensor][first] == 1) first++;
    if (widens && last > first) {
        const char *parts[2];
        AT_TRY(sketch_split_lanes(s, name, made->axes[last].name, parts));
        AT_TRY(sketch_mark(s, name, parts[1], AT_ANN_VEC));
    }
    return sketch_mark(s, name, made->axes[first].name, AT_ANN_PARA);
}

/* A way to read an operand of a tile. */
typedef struct read_row {
    const char *word; /* "pack", as in pack_B */
    int question;     /* of the first access */
    answer (*asks)(const sketch_state *s, const sketch_tile *tile, const at_access *x);
    at_status (*make)(sketch_state *s, const sketch_tile *tile, int access);
} read_row;
static const read_row reads[] = {{"pack", SKETCH_ASK_PACKED, asks_to_pack, pack},
                                 {"copy", SKETCH_ASK_COPIED, asks_to_copy, copy}};
enum { NUM_READS = sizeof reads / sizeof *reads };

/* Whether a copy may be left out of every sketch, or of the first alone: of many tiles all choices
 * together would be too many, and they say little about each other. */
static bool has_few_choices(const sketch_state *s) {
    int n = 0;
    for (int i = 0; i < s->tiles.len; i++)
        n += s->like[s->tiles.data[i].stage] == s->tiles.data[i].stage;
    return n <= FEW_TILES;
}

/* Adds to each sketch the same one with this copy: in its place, right before it or behind all;
 * where the tile of a stage like this one made the choice, it is made. */
static void add_copies(const sketch_state *s, const sketch_tile *tile, int access,
                       const read_row *row, sketch_states *all) {
    enum { NO, YES, WAYS };
    const at_access *x = &s->facts->of[tile->stage].access[access];
    const answer how = row->asks(s, tile, x);
    if (how == COPY_NOT) return;
    const int most = sketch_most(s), choosing = has_few_choices(s) ? all->len : 1,
              question = row->question + access;
    const char *word =
        at_format(s->arena, "%s_%s", row->word, s->facts->compute->tensors[x->tensor].name);
    for (int b = 0, n = all->len; b < n; b++) {
        sketch_state *old = all->data[b];
        int way = how == COPY_MUST ? YES : sketch_twin_choice(old, tile->stage, question, WAYS);
        bool is_told = way == YES && how != COPY_MUST;
        if (way < 0 && (b >= choosing || (how == COPY_MAY && all->len >= most)))
            way = how == COPY_MAY ? NO : YES;
        if (way == NO) continue;
        sketch_state *copied = sketch_branch(old, is_told ? "" : word);
        if (row->make(copied, tile, access) != AT_OK) {
            sketch_leave(copied);
            continue;
        }
        if (way == YES || how == COPY_FIRST) all->data[b] = copied;
        sketch_record_choice(copied, tile->stage, question, WAYS, YES);
        if (way == YES) {
            sketch_leave(old);
            continue;
        }
        *at_push(s->arena, all) = how == COPY_MAY ? copied : old;
        sketch_record_choice(old, tile->stage, question, WAYS, NO);
    }
    if (all->len > most) all->len = most; /* each copy doubles them */
}

/* It is copied already. */
static bool is_near(const sketch_tile *tile, int access) {
    for (int i = 0; i < tile->num_near; i++)
        if (tile->near[i] == access) return true;
    return false;
}

void sketch_pack(const sketch_state *s, sketch_states *out) {
    sketch_states all = {0};
    *at_push(s->arena, &all) = sketch_branch(s, "");
    for (int i = 0; i < s->tiles.len; i++) {
        const sketch_tile *tile = &s->tiles.data[i];
        for (const read_row *row = reads; row < reads + NUM_READS; row++)
            for (int k = 0; k < s->facts->of[tile->stage].num_accesses; k++)
                if (!is_near(tile, k)) add_copies(s, tile, k, row, &all);
    }
    for (int b = 0; b < all.len; b++) *at_push(s->arena, out) = all.data[b];
}
