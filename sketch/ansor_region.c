/* sketch/ansor_region.c: a stage at a loop of its reader of which more is read there than parts of
 * axes: windows with a halo, as of padding. It becomes a stage with an axis for each block of the
 * reader's axes that the loops around count, and in place of its own axes what is read in one
 * block:
 *
 *     pad[y] = ..;  s[h] = sum(r) pad[h*S + r]*..    at a loop that counts h in blocks of 4
 *     pad[h_block, y_part] = .. where y = h_block*4*S + y_part;
 *     s[h] = sum(r) pad[h/4, h%4*S + r]*..  */
#include <stdlib.h>
#include <string.h>

#include "sketch/ansor_int.h"

/* An index as what the block gives it and what is added inside of a block. */
typedef struct index_parts {
    at_expr *block;  /* over blocks; NULL: 0 */
    at_expr *inside; /* over the reader's axes */
    int64_t step;    /* every value of block is a multiple of it; 1 where there is none */
    int64_t lo, hi;  /* of inside */
    int64_t most;    /* of both together, which are from 0 on; -1: it may be below 0 */
} index_parts;

bool ansor_has_digit(const ansor_pieces *d, const ansor_piece *p) {
    for (int i = 0; i < d->n; i++)
        if (d->piece[i] == p) return true;
    return false;
}

bool ansor_is_named(const ansor_state *s, const at_compute *c, const char *name) {
    for (int i = 0; i < s->num_stages; i++) {
        const ansor_stage *x = s->stage[i];
        if (!strcmp(x->name, name)) return true;
        for (int k = 0; k < x->num_axes + x->num_reduce; k++)
            if (!strcmp(x->axis[k].name, name)) return true;
    }
    return at_symbol_find(c->symbols, name) >= 0;
}

static const char *fresh_name(const ansor_state *s, const at_compute *c, const char *like) {
    while (ansor_is_named(s, c, like)) like = at_format(s->arena, "%s_", like);
    return like;
}

int ansor_axis_of(const ansor_stage *x, int k) {
    for (int i = 0; i < ANSOR_AXES; i++)
        if (!x->axis[i].is_gone && k-- == 0) return i;
    AT_BUG("an axis too many");
}

typedef struct region_maker {
    at_arena *arena;
    const ansor_stage *reader;
    const at_tensor *tensor; /* the reader */
    const int64_t *values;
    int64_t length[ANSOR_AXES]; /* of a block, per axis of the reader's tensor */
    int64_t blocks[ANSOR_AXES]; /* how many; 1: no loop around counts the axis */
    const char *name[ANSOR_AXES];
    bool is_used[ANSOR_AXES];
} region_maker;

enum { MOST_INDEX = 1 << 30 }; /* products of two stay within 64 bits */

/* ---- expressions ----------------------------------------------------------------------------- */

static at_expr *by(const region_maker *m, at_op op, at_expr *x, int64_t n) {
    if (!x || n == 1) return x;
    return at_expr_pair(m->arena, op, x, at_expr_int(m->arena, n));
}

static bool is_zero(const at_expr *e) { return e->op == AT_X_INT && !e->integer; }

static at_expr *sum(const region_maker *m, at_expr *x, at_expr *y) {
    if (!x || is_zero(x)) return y;
    if (!y || is_zero(y)) return x;
    return at_expr_pair(m->arena, AT_X_ADD, x, y);
}

static index_parts number(const region_maker *m, int64_t value) {
    return (index_parts){NULL,  at_expr_int(m->arena, value), 1, value,
                         value, value < 0 ? -1 : value};
}

static index_parts axis(region_maker *m, int k) {
    const at_axis *of = &m->tensor->axes[k];
    int64_t length = m->length[k], blocks = m->blocks[k];
    at_expr *value = at_expr_name(m->arena, of->name);
    if (blocks == 1) return (index_parts){NULL, value, 1, 0, length - 1, length - 1};
    at_expr *inside = length == 1 ? at_expr_int(m->arena, 0) : by(m, AT_X_MOD, value, length);
    return (index_parts){by(m, AT_X_MUL, at_expr_name(m->arena, m->name[k]), length),
                         inside,
                         length,
                         0,
                         length - 1,
                         length * blocks - 1};
}

static bool is_number(const index_parts *x, int64_t *value) {
    *value = x->lo;
    return !x->block && x->lo == x->hi;
}

static index_parts added(const region_maker *m, index_parts x, index_parts y) {
    int64_t step = !x.block ? y.step : !y.block ? x.step : at_gcd(x.step, y.step);
    return (index_parts){sum(m, x.block, y.block),
                         sum(m, x.inside, y.inside),
                         step,
                         x.lo + y.lo,
                         x.hi + y.hi,
                         x.most < 0 || y.most < 0 ? -1 : x.most + y.most};
}

static bool times(const region_maker *m, index_parts x, int64_t n, index_parts *out) {
    if (n < 1) return false;
    *out = (index_parts){by(m, AT_X_MUL, x.block, n),
                         is_zero(x.inside) ? x.inside : by(m, AT_X_MUL, x.inside, n),
                         x.step * n,
                         x.lo * n,
                         x.hi * n,
                         x.most < 0 ? -1 : x.most * n};
    return true;
}

/* By n, or what is left of it: of both parts alone, where one of them is whole parts of n. */
static bool divided(const region_maker *m, at_op op, index_parts x, int64_t n, index_parts *out) {
    bool quotient = op == AT_X_DIV;
    int64_t value;
    if (n < 1 || x.lo < 0 || x.most < 0) return false;
    if (is_number(&x, &value)) return *out = number(m, quotient ? value / n : value % n), true;
    if (x.most < n) return *out = quotient ? number(m, 0) : x, true;
    int64_t most = quotient ? x.most / n : n - 1;
    if (!x.block || x.step % n == 0) {
        at_expr *block = quotient ? by(m, AT_X_DIV, x.block, n) : NULL;
        bool small = x.hi < n;
        at_expr *inside = !small     ? by(m, op, x.inside, n)
                          : quotient ? at_expr_int(m->arena, 0)
                                     : x.inside;
        int64_t hi = small ? (quotient ? 0 : x.hi) : quotient ? x.hi / n : n - 1;
        *out = (index_parts){block, inside, quotient && block ? x.step / n : 1, 0, hi, most};
        return true;
    }
    if (n % x.step || x.hi >= x.step) return false;
    *out = (index_parts){by(m, op, x.block, n), quotient ? at_expr_int(m->arena, 0) : x.inside,
                         quotient ? 1 : x.step, 0,
                         quotient ? 0 : x.hi,   most};
    return true;
}

static bool parts_of(region_maker *m, const at_expr *e, index_parts *out) {
    index_parts arg[2];
    int64_t n;
    if (e->op == AT_X_INT) return *out = number(m, e->integer), true;
    if (e->op == AT_X_NAME && e->ref < AT_REF_SIZE) return *out = axis(m, e->ref), true;
    if (e->op == AT_X_NAME) return *out = number(m, m->values[e->ref - AT_REF_SIZE]), true;
    if (e->nargs != 2 || e->op < AT_X_ADD || e->op > AT_X_MOD) return false;
    for (int i = 0; i < 2; i++)
        if (!parts_of(m, e->arg[i], &arg[i]) || arg[i].hi > MOST_INDEX || arg[i].lo < -MOST_INDEX ||
            arg[i].most > MOST_INDEX || arg[i].step > MOST_INDEX)
            return false;
    bool constant = is_number(&arg[1], &n);
    if (e->op == AT_X_ADD) return *out = added(m, arg[0], arg[1]), true;
    if (e->op == AT_X_SUB) return constant && (*out = added(m, arg[0], number(m, -n)), true);
    if (e->op == AT_X_MUL) {
        if (constant) return times(m, arg[0], n, out);
        return is_number(&arg[0], &n) && times(m, arg[1], n, out);
    }
    return constant && divided(m, e->op, arg[0], n, out);
}

/* ---- the stage and its reader ---------------------------------------------------------------- */

typedef struct one_read {
    int tensor;
    const at_expr *read; /* the one index list by which the tensor is read */
} one_read;

/* Ends where there are several. */
static at_walk find_read(const at_expr *e, void *ctx) {
    one_read *x = ctx;
    if (!at_expr_is_read(e, &x->tensor)) return AT_WALK_ON;
    if (x->read && !at_expr_equal(x->read, e)) return AT_WALK_END;
    x->read = e;
    return AT_WALK_ON;
}

/* Blocks of the reader's axes: an axis's digits that stand around, which are its outer digits. */
static bool find_blocks(region_maker *m, const ansor_pieces *digits, const ansor_pieces *around) {
    for (int k = 0; k < m->tensor->num_axes + m->tensor->num_reduce; k++) {
        const ansor_pieces *d = &digits[ansor_axis_of(m->reader, k)];
        bool is_outer = true;
        m->blocks[k] = m->length[k] = 1;
        for (int i = 0; i < d->n; i++) {
            bool stands_around = ansor_has_digit(around, d->piece[i]);
            int64_t *n = stands_around ? &m->blocks[k] : &m->length[k];
            if ((stands_around && !is_outer) || !at_mul64(*n, d->piece[i]->extent, n)) return false;
            is_outer = stands_around;
        }
        if (m->blocks[k] > MOST_INDEX || m->length[k] > MOST_INDEX) return false;
    }
    return true;
}

/* Its axes: blocks, then parts of the old ones, which are defined by both. */
static void change_axes(ansor_state *s, const at_compute *c, ansor_stage *x, const region_maker *m,
                        const ansor_pieces *digits, const index_parts *parts) {
    ansor_axis old[ANSOR_AXES];
    int n = 0, axes = x->num_axes;
    memcpy(old, x->axis, sizeof old);
    for (int k = 0; k < m->tensor->num_axes + m->tensor->num_reduce; k++) {
        if (!m->is_used[k]) continue;
        const ansor_pieces *d = &digits[ansor_axis_of(m->reader, k)];
        x->block[n].n = 0;
        for (int64_t counted = 1; counted < m->blocks[k]; x->block[n].n++) {
            x->block[n].piece[x->block[n].n] = d->piece[x->block[n].n];
            counted *= d->piece[x->block[n].n]->extent;
        }
        x->axis[n++] = (ansor_axis){m->name[k], m->blocks[k], false};
    }
    for (int k = axes - 1; k >= 0; k--) { /* the last one is defined first */
        const index_parts *p = &parts[k];
        x->axis[n + k] = old[k];
        if (!p->block) continue;
        x->axis[n + k].name = fresh_name(s, c, at_format(s->arena, "%s_part", old[k].name));
        x->axis[n + k].extent = p->hi - p->lo + 1;
        at_expr *whole =
            at_expr_pair(s->arena, AT_X_ADD, p->block, at_expr_name(s->arena, x->axis[n + k].name));
        if (p->lo)
            whole = at_expr_pair(s->arena, p->lo < 0 ? AT_X_SUB : AT_X_ADD, whole,
                                 at_expr_int(s->arena, llabs(p->lo)));
        ansor_define(s, x, 1, &old[k].name, NULL, whole);
    }
    x->num_blocks = n;
    x->num_axes += n;
    for (int i = 0; i < x->num_pieces; i++) x->piece[i]->axis += n;
}

static void take_read(at_expr *read, void *as) { *read = *(const at_expr *)as; }

bool ansor_make_region(ansor_state *s, const at_compute *c, const int64_t *values, ansor_stage *x,
                       const ansor_pieces digits[][ANSOR_AXES], const ansor_pieces *around) {
    one_read of = {.tensor = x->id};
    index_parts parts[ANSOR_AXES];
    int reader = -1;
    for (int t = x->id + 1; t < c->num_tensors; t++) {
        const at_expr *before = of.read;
        if (c->tensors[t].role != AT_ROLE_STAGE) continue;
        if (at_expr_walk(c->tensors[t].body, find_read, &of)) return false;
        if (of.read == before) continue;
        if (before || s->stage[t]->is_inlined) return false;
        reader = t;
    }
    if (!of.read || x->num_blocks) return false;
    region_maker m = {.arena = s->arena,
                      .reader = s->stage[reader],
                      .tensor = &c->tensors[reader],
                      .values = values};
    int axes = m.tensor->num_axes + m.tensor->num_reduce;
    if (axes + x->num_axes > ANSOR_AXES || !find_blocks(&m, digits[reader], around)) return false;
    for (int k = 0; k < axes; k++)
        m.name[k] = fresh_name(s, c, at_format(s->arena, "%s_block", m.tensor->axes[k].name));
    for (int k = 0; k < x->num_axes; k++)
        if (!parts_of(&m, of.read->arg[k], &parts[k])) return false;
    for (int k = 0; k < axes; k++)
        for (int i = 0; i < x->num_axes; i++)
            m.is_used[k] |= parts[i].block && at_expr_mentions(parts[i].block, m.name[k]);

    at_expr *index[2 * ANSOR_AXES];
    int n = 0;
    for (int k = 0; k < axes; k++)
        if (m.is_used[k])
            index[n++] =
                by(&m, AT_X_DIV, at_expr_name(s->arena, m.tensor->axes[k].name), m.length[k]);
    for (int k = 0; k < x->num_axes; k++) {
        index_parts p = added(&m, parts[k], number(&m, parts[k].block ? -parts[k].lo : 0));
        index[n++] = p.inside ? p.inside : at_expr_int(s->arena, 0);
    }
    at_expr *as = at_expr_read(s->arena, x->name, n, index);
    at_tensor_change_reads(&s->stage[reader]->text, x->name, take_read, as);
    change_axes(s, c, x, &m, digits[reader], parts);
    return true;
}
