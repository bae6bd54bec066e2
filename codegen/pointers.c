/* codegen/pointers.c: what a stage reads under a condition over indices, such as padding, read by a
 * list of places instead: an indirect convolution, without a copy, and without a condition in the
 * kernel. The tree asks for it ([pointers data]).
 *
 * The list has an entry per element of the axes on which the condition hangs (of a padded picture:
 * a pixel): the number of the row that is read there, -1 where the choice reads none. A tile makes
 * a pointer of each entry; that of -1 points to numbers of the other side of the choice, which lie
 * behind the tile's code. Entries hang on sizes alone, so the list is made as packed weights are:
 * ahead, or first thing in the kernel. Source: M. Dukhan, arXiv 1907.02129. */
#include "codegen/dissolve.h"

#include <math.h>

enum { MOST_ENTRIES = 1 << 22, MOST_AXES = 32 };

/* ---- which axes and dimensions --------------------------------------------------------------- */

/* The dimensions that move with these axes, first to *last; axes: with all that move them. -1: they
 * are not neighbours. */
static int dimensions(const at_expr *read, uint32_t *axes, int *last) {
    uint32_t found = 0;
    for (bool more = true; more;) {
        more = false;
        for (int d = 0; d < read->nargs; d++) {
            uint32_t own = at_expr_axes(read->arg[d]);
            if (found >> d & 1 || !(own & *axes)) continue;
            found |= 1u << d;
            *axes |= own;
            more = true;
        }
    }
    int first = 0;
    while (first < read->nargs && !(found >> first & 1)) first++;
    for (*last = first; *last < read->nargs && found >> *last & 1;) ++*last;
    return found && !(found >> *last) ? first : -1;
}

/* ---- the list -------------------------------------------------------------------------------- */

static const at_place_list *known_list(const at_low *l, int stage, const at_expr *e) {
    for (int i = 0; i < l->lists.len; i++) {
        const at_place_list *p = &l->lists.data[i];
        if (p->stage == stage && p->line == e->line && p->col == e->col) return p;
    }
    return NULL;
}

static const char *fresh_name(at_low *l, int tensor) {
    const char *name = at_format(l->arena, "%s_rows", l->tensors[tensor].name);
    while (at_low_find_tensor(l, name) >= 0) name = at_format(l->arena, "%s_", name);
    return name;
}

/* NULL: there are too many entries, or rows. */
static at_place_list *make_list(at_low *l, int stage, const at_expr *e, uint32_t axes, int first,
                                int last) {
    const at_tensor *of = &l->program->compute->tensors[stage];
    const int64_t *extents = l->program->extents[stage];
    const at_expr *read = e->arg[1];
    const at_aff *value[MOST_AXES] = {0};
    int n = 0, *sym = AT_NEW_ARRAY(l->arena, int, MOST_AXES);
    int64_t *extent = AT_NEW_ARRAY(l->arena, int64_t, MOST_AXES), elements = 1, rows = 1;
    for (int k = 0; k < of->num_axes + of->num_reduce; k++) {
        value[k] = at_aff_const(l, 0);
        if (!(axes >> k & 1)) continue;
        if (extents[k] < 1 || !at_mul64(elements, extents[k], &elements) || elements > MOST_ENTRIES)
            return NULL;
        extent[n] = extents[k];
        sym[n] = at_sym_loop(l, of->axes[k].name, extents[k]);
        value[k] = at_aff_sym(l, sym[n++]);
    }
    const at_aff *place = at_aff_const(l, 0);
    for (int d = first; d < last; d++) {
        int64_t size = l->program->extents[read->ref][d];
        if (!at_mul64(rows, size, &rows) || rows > INT32_MAX) return NULL;
        place = at_aff_add(l, at_aff_scale(l, place, size), at_index_expr(l, read->arg[d], value));
    }
    const at_cond *present = at_cond_expr(l, e->arg[0], value);
    if (l->err->status != AT_OK) return NULL;
    at_low_tensor list = {.name = fresh_name(l, read->ref), .num_axes = 1, .type = AT_S32};
    at_place_list *p = at_push(l->arena, &l->lists);
    *p = (at_place_list){.tensor = at_low_add_tensor(l, list),
                         .stage = stage,
                         .line = e->line,
                         .col = e->col,
                         .num_axes = n,
                         .sym = sym,
                         .extent = extent,
                         .place = place,
                         .elements = elements};
    if (at_cond_decide(l, present, NULL) != AT_C_TRUE) p->present = present;
    return p;
}

/* The entry at these values of the axes, which are not negative. Tails go beyond the last one. */
static const at_aff *entry_at(at_low *l, at_place_list *p, uint32_t axes,
                              const at_aff *const *value) {
    const at_aff *at = at_aff_const(l, 0);
    int64_t last = 0;
    for (int k = 0, i = 0; i < p->num_axes; k++) {
        if (!(axes >> k & 1)) continue;
        int64_t lo, hi;
        at_aff_range(l, value[k], &lo, &hi);
        if (hi >= MOST_ENTRIES || !at_mul64(last, p->extent[i], &last)) return NULL;
        last += hi;
        at = at_aff_add(l, at_aff_scale(l, at, p->extent[i++]), value[k]);
    }
    if (last >= 2 * MOST_ENTRIES) return NULL;
    if (last >= p->elements) p->elements = last + 1;
    l->tensors[p->tensor].extents = at_copy(l->arena, &p->elements, sizeof p->elements);
    return at_aff_load(l, p->tensor, at);
}

/* Can an element of the type hold the number, which lies where there are no elements? */
static bool has_number(at_type type, double number) {
    const at_type_facts *of = at_type_of(type);
    const float x = (float)number;
    char element[sizeof x];
    if (of->is_int) return number >= of->least && number <= of->most && trunc(number) == number;
    at_type_store(type, element, 0, x);
    return isnan(number) || at_type_value(type, element, 0) == (double)x;
}

const at_value *at_pointers_read(at_low *l, int stage, const at_expr *e, const at_aff *const *axes,
                                 int tensor, double number) {
    const at_expr *read = e->arg[1];
    int last;
    uint32_t moved = at_expr_axes(e->arg[0]);
    if (read->op != AT_X_INDEX || read->ref != tensor || e->arg[2]->op == AT_X_INDEX) return NULL;
    if (!has_number(l->tensors[tensor].type, number)) return NULL;
    int first = dimensions(read, &moved, &last);
    if (first < 0) return NULL;
    at_place_list *p = (at_place_list *)known_list(l, stage, e);
    if (!p) p = make_list(l, stage, e, moved, first, last);
    const at_aff *entry = p ? entry_at(l, p, moved, axes) : NULL;
    if (!entry) return NULL;
    at_value v = {
        .op = AT_V_LOAD, .tensor = tensor, .may_miss = p->present != NULL, .number = number};
    v.ix = AT_NEW_ARRAY(l->arena, const at_aff *, read->nargs);
    for (int d = read->nargs - 1; d >= 0; d--) {
        bool listed = first <= d && d < last;
        int64_t size = l->program->extents[tensor][d];
        if (!listed) v.ix[d] = at_index_expr(l, read->arg[d], axes);
        else v.ix[d] = d > first ? at_aff_mod(l, entry, size) : entry;
        if (listed && d > first) entry = at_aff_div(l, entry, size);
    }
    l->num_listed++;
    return at_copy(l->arena, &v, sizeof v);
}

/* ---- its entries ----------------------------------------------------------------------------- */

static at_ir *store(at_low *l, const at_place_list *p, const at_aff *at, const at_aff *number) {
    at_ir *n = at_ir_new(l, AT_IR_STMT);
    n->stmt.tensor = p->tensor;
    n->stmt.at = at;
    n->stmt.integer = number;
    n->stmt.val = AT_NEW(l->arena, at_value);
    n->stmt.label = l->tensors[p->tensor].name;
    return n;
}

static at_ir *loop_around(at_low *l, int sym, int64_t trips, at_ir *body) {
    at_ir *n = at_ir_new(l, AT_IR_LOOP);
    n->loop.sym = sym;
    n->loop.hi = trips;
    n->child = body;
    return n;
}

at_ir *at_pointers_entries(at_low *l, int list) {
    const at_place_list *p = &l->lists.data[list];
    const at_aff *at = at_aff_const(l, 0);
    for (int i = 0; i < p->num_axes; i++)
        at = at_aff_add(l, at_aff_scale(l, at, p->extent[i]), at_aff_sym(l, p->sym[i]));
    at_ir *body = store(l, p, at, p->place);
    body->stmt.guard = p->present;
    for (int i = p->num_axes - 1; i >= 0; i--) body = loop_around(l, p->sym[i], p->extent[i], body);
    int sym = at_sym_loop(l, "entry", p->elements);
    at_ir *none = store(l, p, at_aff_sym(l, sym), at_aff_const(l, p->present ? -1 : 0));
    none = loop_around(l, sym, p->elements, none);
    none->next = body;
    return none;
}
