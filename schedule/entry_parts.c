/* schedule/entry_parts.c: index tensors whose entries hold several numbers each: every read takes
 * one of them, as a remainder, `v/16%16`, as bits, `v >> 4 & 15`, or as what is left above,
 * `v/65536`. Such an entry may be any integer, however short the axes are. */
#include "schedule/schedule_int.h"

enum { LEAST_SHIFT = 16 }; /* what a shift by so many bits leaves is as small as a part */

typedef struct packed {
    const at_compute *c;
    bool *keeps; /* [tensor] the index tensor, and stages whose elements are its entries */
    bool found;
} packed;

static bool reads_kept(const at_expr *e, const void *ctx) {
    return e->op == AT_X_INDEX && ((const packed *)ctx)->keeps[e->ref];
}

static bool is_free(const packed *p, const at_expr *e) { return !at_expr_find(e, reads_kept, p); }

/* An entry, at a place that no other entry says. */
static bool is_kept(const packed *p, const at_expr *e) {
    bool is = reads_kept(e, p);
    for (int k = 0; k < e->nargs && is; k++) is = is_free(p, e->arg[k]);
    return is;
}

/* One entry as it lies, or what numbers divide it by or shift it, or another one where something
 * else decides: nothing is added to it. */
static bool is_one_entry(const packed *p, const at_expr *e) {
    switch (e->op) {
    case AT_X_INDEX: return is_kept(p, e);
    case AT_X_DIV:
        if (is_float_expr(p->c, e)) return false; /* fall through */
    case AT_X_SHIFT_RIGHT: return is_one_entry(p, e->arg[0]) && !at_expr_reads(e->arg[1]);
    case AT_X_SELECT:
        return is_free(p, e->arg[0]) && is_one_entry(p, e->arg[1]) && is_one_entry(p, e->arg[2]);
    default: return false;
    }
}

/* Copied or packed as it lies; elsewhere a number stands. */
static bool is_kept_entry(const packed *p, const at_expr *e) {
    if (e->op != AT_X_SELECT) return is_kept(p, e);
    if (!is_free(p, e->arg[0])) return false;
    const bool first = is_kept_entry(p, e->arg[1]), second = is_kept_entry(p, e->arg[2]);
    return first ? second || e->arg[2]->op == AT_X_INT : second && e->arg[1]->op == AT_X_INT;
}

static bool is_upper(const at_expr *e) {
    if ((e->op != AT_X_DIV && e->op != AT_X_SHIFT_RIGHT) || e->arg[1]->op != AT_X_INT) return false;
    return e->arg[1]->integer >= (e->op == AT_X_DIV ? 1 << LEAST_SHIFT : LEAST_SHIFT);
}

/* A remainder, or bits. */
static bool is_bits(const packed *p, const at_expr *e) {
    if (e->op == AT_X_MOD) return at_expr_is_size(e->arg[1]) && is_one_entry(p, e->arg[0]);
    for (int k = 0; k < 2 && e->op == AT_X_BIT_AND; k++)
        if (e->arg[k]->op == AT_X_INT && e->arg[k]->integer > 0 && is_one_entry(p, e->arg[!k]))
            return true;
    return false;
}

static at_walk find_whole(const at_expr *e, void *ctx) {
    packed *p = ctx;
    const bool is_part = (is_upper(e) && is_one_entry(p, e)) || is_bits(p, e);
    if (!is_part) return reads_kept(e, p) ? AT_WALK_END : AT_WALK_ON;
    p->found = true;
    return AT_WALK_PAST;
}

static bool is_whole_in(packed *p, const at_tensor *t) {
    bool is_whole = at_expr_walk(t->body, find_whole, p);
    for (int k = t->num_axes; k < axes_of(t) && !is_whole; k++)
        is_whole = t->axes[k].begin && (at_expr_walk(t->axes[k].begin, find_whole, p) ||
                                        at_expr_walk(t->axes[k].end, find_whole, p));
    return is_whole;
}

bool at_index_is_packed(at_arena *a, const at_compute *c, int tensor) {
    packed p = {.c = c, .keeps = AT_NEW_ARRAY(a, bool, c->num_tensors)};
    p.keeps[tensor] = true;
    for (int s = tensor + 1; s < c->num_tensors; s++) {
        const at_tensor *t = &c->tensors[s];
        if (t->role != AT_ROLE_STAGE) continue;
        if (t->type == AT_S32 && !t->num_reduce && is_kept_entry(&p, t->body)) p.keeps[s] = true;
        else if (is_whole_in(&p, t)) return false;
    }
    return p.found;
}
