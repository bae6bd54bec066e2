/* codegen/tables.c: what addresses make of an index list's entries is worked out once per entry.
 *
 * Where an address takes digits of an entry (a column as kh, kw, c), the digits, weighed and added
 * up, become entries of a table of the same length, which is read instead: a sum over a list then
 * neither divides nor multiplies. A table depends on the list alone, so it is packed like weights:
 * ahead, or first thing in the kernel. So does a table of the numbers that an index used as a value
 * can be, and one of given numbers that a loop reads which is not written out. Needs: addresses.
 * Ensures: what digits of entries remain depend on loops, too. */
#include "codegen/codegen_int.h"

#define MOST_NUMBERS (1 << 24)           /* of indices as values: a float has all of these */
#define MOST_ELEMENTS ((int64_t)1 << 30) /* of what is addressed: entries are int */

typedef struct {
    int list, tensor;
    const at_aff *of; /* a function of the list's entry at `sym` */
} table;

typedef struct { /* lo, lo + 1, .. */
    int64_t lo, hi;
    int tensor;
} numbers;

typedef struct { /* given numbers, in memory */
    const double *of;
    int tensor;
} given;

typedef struct {
    at_low *l;
    AT_VEC(table) tables;
    AT_VEC(numbers) numbers;
    AT_VEC(given) givens;
    int sym;           /* the loop over entries; -1: not made yet */
    const char *label; /* of the statement at hand */
} maker;

int at_entry_of(const at_low *l, int sym, bool any) {
    const at_sym *s = &l->syms.data[sym];
    if (s->kind == AT_SYM_LOAD)
        return (any || s->deps) && !at_low_holds_places(l, s->tensor) ? sym : -1;
    if (s->kind != AT_SYM_DIV) return -1;
    int entry = -1;
    for (int i = 0; i < s->of->n; i++) {
        int of = at_entry_of(l, s->of->t[i].sym, any);
        if (of < 0 || (entry >= 0 && of != entry)) return -1;
        entry = of;
    }
    return entry;
}

static int add_table(at_low *l, const char *name, int64_t elements, at_type type) {
    while (at_low_find_tensor(l, name) >= 0) name = at_format(l->arena, "%s_", name);
    int n = at_low_add_tensor(l, (at_low_tensor){.name = name, .num_axes = 1, .type = type});
    l->buffers[n].elements = elements;
    l->buffers[n].line_sym = -1;
    l->tensors[n].extents = at_copy(l->arena, &elements, sizeof elements);
    return n;
}

/* for sym: table[sym] = of. */
static void fill(maker *m, int tensor, const at_aff *of) {
    at_low *l = m->l;
    at_ir *loop = at_ir_new(l, AT_IR_LOOP), *store = at_ir_new(l, AT_IR_STMT);
    store->stmt.tensor = tensor;
    store->stmt.at = at_aff_sym(l, m->sym);
    store->stmt.integer = of;
    store->stmt.val = AT_NEW(l->arena, at_value);
    store->stmt.label = l->tensors[tensor].name;
    loop->loop.sym = m->sym;
    loop->loop.hi = l->buffers[tensor].elements;
    loop->child = store;
    at_low_prepend(l, loop);
}

static void make_symbol(maker *m) {
    if (m->sym < 0) m->sym = at_sym_loop(m->l, "entry", 1);
}

static int table_of(maker *m, int list, const at_aff *of) {
    at_low *l = m->l;
    for (int i = 0; i < m->tables.len; i++) {
        const table *t = &m->tables.data[i];
        if (t->list == list && at_aff_equal(t->of, of)) return t->tensor;
    }
    table *t = at_push(l->arena, &m->tables);
    const char *name = at_format(l->arena, "%s_at", l->tensors[list].name);
    *t = (table){list, add_table(l, name, l->buffers[list].elements, AT_S32), of};
    at_low_place_table(l, t->tensor);
    fill(m, t->tensor, of);
    return t->tensor;
}

/* Is what an address makes of an entry, such as read here, a number of 32 bits? */
static bool fits_table(maker *m, const at_aff *part, int entry, const at_entry_bound *entries) {
    at_low *l = m->l;
    const int list = l->syms.data[entry].tensor;
    const at_sym was = l->syms.data[m->sym];
    int64_t lo = INT32_MIN, hi = INT32_MAX;
    for (; entries; entries = entries->next)
        if (entries->list == list) {
            if (entries->lo > lo) lo = entries->lo;
            if (entries->hi < hi) hi = entries->hi;
        }
    l->syms.data[m->sym].lo = lo;
    l->syms.data[m->sym].hi = hi > lo ? hi : lo;
    at_aff_range(l, at_aff_subst(l, part, entry, at_aff_sym(l, m->sym)), &lo, &hi);
    l->syms.data[m->sym].lo = was.lo;
    l->syms.data[m->sym].hi = was.hi;
    return lo >= INT32_MIN && hi <= INT32_MAX;
}

/* What an address makes of an entry becomes an entry of a table; NULL: that has no room for it. */
static const at_aff *with_table(maker *m, const at_aff *at, int entry,
                                const at_entry_bound *entries, bool any) {
    at_low *l = m->l;
    const at_sym s = l->syms.data[entry];
    make_symbol(m);
    if (l->err->status != AT_OK) return NULL;
    const at_aff *part = at_aff_const(l, 0);
    for (int i = 0; i < at->n; i++)
        if (at_entry_of(l, at->t[i].sym, any) == entry)
            part = at_aff_add_times(l, part, at_aff_sym(l, at->t[i].sym), at->t[i].k);
    if (!fits_table(m, part, entry, entries)) return NULL;
    const at_aff *of =
        at_aff_subst(l, part, entry, at_aff_load(l, s.tensor, at_aff_sym(l, m->sym)));
    return at_aff_add(l, at_aff_sub(l, at, part), at_aff_load(l, table_of(m, s.tensor, of), s.of));
}

/* Digits of entries become entries of tables. */
static const at_aff *without_digits(maker *m, const at_aff *at, const at_entry_bound *entries,
                                    bool any) {
    const at_low *l = m->l;
    for (int i = 0; i < at->n; i++) {
        const int sym = at->t[i].sym;
        const int entry = l->syms.data[sym].kind == AT_SYM_DIV ? at_entry_of(l, sym, any) : -1;
        const at_aff *found = entry >= 0 ? with_table(m, at, entry, entries, any) : NULL;
        if (found) at = found, i = -1;
    }
    return at;
}

static const at_aff *look_up(maker *m, const at_value *v) {
    const bool is_small = m->l->buffers[v->tensor].elements < MOST_ELEMENTS;
    return is_small ? without_digits(m, v->at, v->entries, false) : v->at;
}

static bool are_few(int64_t lo, int64_t hi) {
    return lo >= -MOST_NUMBERS && hi <= MOST_NUMBERS && hi - lo < MOST_NUMBERS;
}

/* An index between lo and hi is read from a table of numbers, so that a vector of them can be. */
static const at_value *number_between(maker *m, const at_aff *x, int64_t lo, int64_t hi) {
    at_low *l = m->l;
    at_value *v = AT_NEW(l->arena, at_value);
    *v = (at_value){.op = AT_V_CONST};
    if (!are_few(lo, hi)) {
        at_lower_fail(l, "@%s uses an index that may be beyond %d as a value", m->label,
                      MOST_NUMBERS);
        return v;
    }
    make_symbol(m);
    const numbers *found = NULL;
    for (int i = 0; i < m->numbers.len; i++)
        if (m->numbers.data[i].lo <= lo && m->numbers.data[i].hi >= hi) found = &m->numbers.data[i];
    if (!found && l->err->status == AT_OK) {
        numbers *n = at_push(l->arena, &m->numbers);
        *n = (numbers){lo, hi, add_table(l, "numbers", hi - lo + 1, AT_F32)};
        at_low_place_table(l, n->tensor);
        fill(m, n->tensor, at_aff_shift(l, at_aff_sym(l, m->sym), lo));
        found = n;
    }
    if (found)
        *v = (at_value){
            .op = AT_V_LOAD, .tensor = found->tensor, .at = at_aff_shift(l, x, -found->lo)};
    return v;
}

/* Of an integer the last 32 bits. */
static const at_value *constant(at_low *l, int64_t x, bool whole) {
    return at_value_const(l, whole ? (double)(int32_t)(uint32_t)x : (double)(float)x, whole);
}

/* An entry of an index tensor: an integer in memory. */
static const at_value *entry(at_low *l, const at_sym *s, bool whole) {
    const at_value *v = at_value_new(
        l, (at_value){.op = AT_V_LOAD, .whole = whole, .tensor = s->tensor, .at = s->of});
    return whole ? v : at_value_binary(l, AT_V_NUMBER, v, NULL);
}

static const at_value *added(at_low *l, const at_value *sum, const at_value *v) {
    return sum ? at_value_binary(l, AT_V_ADD, sum, v) : v;
}

/* An index as a number, or the last 32 bits of it: entries one by one, and what hangs on loops
 * alone; as one where those alone go too far. bounds: as at_value's. */
static const at_value *number_of(maker *m, const at_aff *x, const int64_t *bounds, bool whole) {
    at_low *l = m->l;
    const at_value *sum = NULL;
    int64_t lo, hi;
    x = without_digits(m, x, NULL, true);
    for (int i = 0; i < x->n && l->err->status == AT_OK; i++) {
        const at_term t = x->t[i];
        const at_sym s = l->syms.data[t.sym];
        if (s.kind != AT_SYM_LOAD) continue;
        const at_value *v = entry(l, &s, whole);
        if (t.k != 1) v = at_value_binary(l, AT_V_MUL, constant(l, t.k, whole), v);
        sum = added(l, sum, v);
    }
    const at_aff *rest = at_aff_const(l, x->c);
    for (int i = 0; i < x->n; i++)
        if (l->syms.data[x->t[i].sym].kind != AT_SYM_LOAD)
            rest = at_aff_add(l, rest, at_aff_scale(l, at_aff_sym(l, x->t[i].sym), x->t[i].k));
    if (sum && !rest->n) return rest->c ? added(l, sum, constant(l, rest->c, whole)) : sum;
    at_aff_range(l, rest, &lo, &hi);
    const bool at_once = bounds && !are_few(lo, hi);
    const at_value *v =
        at_once ? number_between(m, x, bounds[0], bounds[1]) : number_between(m, rest, lo, hi);
    if (whole) v = at_value_as_whole(l, v);
    return at_once ? v : added(l, sum, v);
}

/* ---- given numbers --------------------------------------------------------------------------- */

/* table[0] = .., table[1] = .., .. */
static void fill_given(maker *m, int tensor, const at_value *v) {
    at_low *l = m->l;
    at_ir *list = NULL, **tail = &list;
    for (int i = 0; i < v->table_len; i++) {
        at_ir *store = at_ir_new(l, AT_IR_STMT);
        store->stmt.tensor = tensor;
        store->stmt.at = at_aff_const(l, i);
        store->stmt.val = at_value_new(l, (at_value){.op = AT_V_CONST, .number = v->table[i]});
        store->stmt.label = l->tensors[tensor].name;
        at_ir_append(&tail, store);
    }
    at_low_prepend(l, list);
}

static const at_value *element_of(maker *m, const at_value *v) {
    at_low *l = m->l;
    const given *found = NULL;
    for (int i = 0; i < m->givens.len; i++)
        if (m->givens.data[i].of == v->table) found = &m->givens.data[i];
    if (!found) {
        given *g = at_push(l->arena, &m->givens);
        *g = (given){v->table, add_table(l, l->tensors[v->tensor].name, v->table_len, AT_F32)};
        at_low_place_table(l, g->tensor);
        fill_given(m, g->tensor, v);
        found = g;
    }
    return at_value_new(l, (at_value){.op = AT_V_LOAD, .tensor = found->tensor, .at = v->at});
}

/* ---- the walk -------------------------------------------------------------------------------- */

static const at_value *value_look_up(maker *m, const at_value *v) {
    if (v->op == AT_V_CONST || v->op == AT_V_TABLE) return v;
    if (v->op == AT_V_INDEX) return number_of(m, v->at, v->bounds, false);
    if (v->op == AT_V_WHOLE && v->a->op == AT_V_INDEX)
        return number_of(m, v->a->at, v->a->bounds, true);
    at_value *n = at_copy(m->l->arena, v, sizeof *v);
    if (v->op == AT_V_LOAD && !v->may_miss) n->at = look_up(m, v);
    if (v->a) n->a = value_look_up(m, v->a);
    if (v->b) n->b = value_look_up(m, v->b);
    return n;
}

static void list_look_up(maker *m, at_ir *n) {
    for (; n; n = n->next) {
        if (n->kind == AT_IR_STMT) {
            m->label = n->stmt.label;
            n->stmt.val = value_look_up(m, n->stmt.val);
        }
        list_look_up(m, n->child);
        list_look_up(m, n->other);
    }
}

static const at_value *value_elements(maker *m, const at_value *v) {
    if (v->op == AT_V_TABLE) return element_of(m, v);
    const at_value *a = v->a ? value_elements(m, v->a) : NULL;
    return at_value_of(m->l, v, a, v->b ? value_elements(m, v->b) : NULL);
}

static bool value_holds_given(const at_value *v) {
    return v->op == AT_V_TABLE || (v->a && value_holds_given(v->a)) ||
           (v->b && value_holds_given(v->b));
}

static bool holds_given(const at_ir *n) {
    if (n->kind == AT_IR_STMT) return value_holds_given(n->stmt.val);
    for (const at_ir *c = n->child; c; c = c->next)
        if (holds_given(c)) return true;
    for (const at_ir *c = n->other; c; c = c->next)
        if (holds_given(c)) return true;
    return false;
}

/* Only where a tile writes its loops out does each place know its element. */
static void list_elements(maker *m, at_ir *n) {
    for (; n; n = n->next) {
        if (!holds_given(n) || at_becomes_tile(m->l, n)) continue;
        if (n->kind == AT_IR_STMT) n->stmt.val = value_elements(m, n->stmt.val);
        list_elements(m, n->child);
        list_elements(m, n->other);
    }
}

bool at_pass_tables(at_low *l) {
    maker m = {.l = l, .sym = -1};
    at_ir *const lists[] = {l->pack_root, l->root}; /* as they are before tables are filled */
    for (int i = 0; i < 2; i++) {
        list_look_up(&m, lists[i]);
        list_elements(&m, lists[i]);
    }
    return l->err->status == AT_OK;
}
