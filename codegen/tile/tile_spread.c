/* codegen/tile/tile_spread.c: what the end of a tile asks for, for the tile behind it, is asked for
 * while the tile's sums go on, row by row: all at once the core would wait for it.
 *
 *     loop 64 .. end; prefetch [p+0], [p+16], [p+256], [p+272], ..    ->
 *         loop 14
 *             loop 4 .. end
 *             prefetch [p+0], [p+16]; bump p +256
 *         end
 *         loop 8 .. end; bump p -3584 */
#include "codegen/tile/tile_make.h"

enum { MOST_LINES = 64, MOST_GROUPS = 4, MOST_NEST = 12, LEAST_ROWS = 2 };

typedef struct group {              /* lines of one pointer */
    int slot, num, lines;           /* lines: of a row */
    int64_t off[MOST_LINES], apart; /* apart: rows are so many elements */
} group;

typedef struct spreading {
    at_low *l;
    const at_tile *t;
    int loop, tail; /* operations: where the loop begins, and behind its end */
    group groups[MOST_GROUPS];
    int num, rows;
    AT_VEC(at_tile_op) out;
} spreading;

/* The last of the outermost loops, if it runs a fixed number of times. */
static bool find_loop(spreading *x) {
    const at_tile *t = x->t;
    x->loop = -1;
    for (int i = 0; i < t->num_ops; i++) {
        if (t->ops[i].kind != AT_T_LOOP) continue;
        x->loop = i;
        x->tail = i = at_tile_loop_end(t, i);
        i--;
    }
    return x->loop >= 0 && t->ops[x->loop].trip_arg < 0;
}

static bool is_used(const spreading *x, int slot) {
    for (int i = x->loop; i < x->tail; i++)
        if (x->t->ops[i].slot == slot || x->t->ops[i].base == slot) return true;
    return false;
}

static group *group_of(spreading *x, int slot) {
    for (int i = 0; i < x->num; i++)
        if (x->groups[i].slot == slot) return &x->groups[i];
    if (x->num == MOST_GROUPS || slot >= x->t->num_slots || is_used(x, slot)) return NULL;
    x->groups[x->num] = (group){.slot = slot};
    return &x->groups[x->num++];
}

/* How many rows of lines a group is, each as far behind the one before; 0: it is none. */
static int rows_of(group *g) {
    for (g->lines = 1; g->lines * LEAST_ROWS <= g->num; g->lines++) {
        bool is_even = g->num % g->lines == 0;
        g->apart = g->off[g->lines] - g->off[0];
        for (int i = g->lines; i < g->num && is_even; i++)
            is_even = g->off[i] - g->off[i - g->lines] == g->apart;
        if (is_even) return g->num / g->lines;
    }
    return 0;
}

/* Of what stands behind the loop, groups of as many rows as the first has. */
static bool find_groups(spreading *x) {
    for (int i = x->tail; i < x->t->num_ops; i++) {
        const at_tile_op *op = &x->t->ops[i];
        group *g = op->kind == AT_T_PREFETCH ? group_of(x, op->slot) : NULL;
        if (g && g->num < MOST_LINES) g->off[g->num] = op->off;
        if (g) g->num++; /* one with more is none */
    }
    int kept = 0;
    for (int i = 0; i < x->num; i++) {
        group *g = &x->groups[i];
        const int rows = g->num <= MOST_LINES ? rows_of(g) : 0;
        if (!rows || rows > x->t->ops[x->loop].trip || (kept && rows != x->rows)) continue;
        x->rows = rows;
        x->groups[kept++] = *g;
    }
    x->num = kept;
    return kept > 0;
}

static void copy(spreading *x, int from, int to) {
    for (; from < to; from++) *at_push(x->l->arena, &x->out) = x->t->ops[from];
}

/* The loop's body so many times. */
static void turns(spreading *x, int64_t trips) {
    if (trips > 1) {
        at_tile_op loop = x->t->ops[x->loop];
        loop.trip = trips;
        *at_push(x->l->arena, &x->out) = loop;
    }
    if (trips > 0) copy(x, x->loop + 1, trips > 1 ? x->tail : x->tail - 1);
}

static void bump(spreading *x, const group *g, int64_t by) {
    at_tile_op *op = at_push(x->l->arena, &x->out);
    *op = at_tile_on_registers(AT_T_BUMP, -1, -1);
    op->slot = (int16_t)g->slot;
    op->bump = by;
}

static void ask(spreading *x, const group *g) {
    for (int i = 0; i < g->lines; i++) {
        at_tile_op *op = at_push(x->l->arena, &x->out);
        *op = at_tile_on_registers(AT_T_PREFETCH, -1, -1);
        op->slot = (int16_t)g->slot;
        op->off = g->off[i];
    }
    bump(x, g, g->apart);
}

static bool is_spread(const spreading *x, const at_tile_op *op) {
    bool found = false;
    for (int i = 0; i < x->num; i++) found |= x->groups[i].slot == op->slot;
    return found && op->kind == AT_T_PREFETCH;
}

void at_tile_spread_asking(at_low *l, at_tile *t) {
    spreading x = {.l = l, .t = t};
    if (t->target->is_double || at_tile_nest_depth(t) >= MOST_NEST || !find_loop(&x) ||
        !find_groups(&x))
        return;
    at_tile_op loop = t->ops[x.loop];
    const int64_t trips = loop.trip, each = trips / x.rows;
    copy(&x, 0, x.loop);
    loop.trip = x.rows;
    *at_push(l->arena, &x.out) = loop;
    turns(&x, each);
    for (int i = 0; i < x.num; i++) ask(&x, &x.groups[i]);
    *at_push(l->arena, &x.out) = t->ops[x.tail - 1];
    turns(&x, trips - each * x.rows);
    for (int i = 0; i < x.num; i++) bump(&x, &x.groups[i], -x.groups[i].apart * x.rows);
    for (int i = x.tail; i < t->num_ops; i++)
        if (!is_spread(&x, &t->ops[i])) copy(&x, i, i + 1);
    t->ops = x.out.data;
    t->num_ops = x.out.len;
}
