/* codegen/tile/tile_place.c: addresses of a tile, and the pointers they become.
 *
 * An address is a pointer, known outside the tile, a constant offset, and a stride per counted loop
 * around it, by which the pointer is bumped; or such a pointer moved on by an entry of an index
 * list, inside. Where an address has a product of loops, as in a triangle that is stored row behind
 * row (i*(i + 1)/2 + j), each turn of a loop that is written out has a pointer of its own. */
#include "codegen/tile/tile_build.h"

#include <string.h>

/* What the dividend of a digit can be, at most, is known where reads bound the entry. */
static bool find_most(const at_builder *b, const at_entry_bound *entries, at_tile_digit *d) {
    const int list = b->l->syms.data[d->entry].tensor;
    for (; entries; entries = entries->next) {
        if (entries->list != list || entries->lo < INT32_MIN || entries->hi > INT32_MAX) continue;
        d->most = d->times * entries->hi + d->plus;
        if (d->times * entries->lo + d->plus >= 0 && d->most < 1 << 30) return true;
    }
    return false;
}

static void add_digit(at_builder *b, at_tile_place *p, const at_entry_bound *entries, int sym,
                      int64_t k) {
    const at_sym *s = &b->l->syms.data[sym];
    at_tile_digit d = {.entry = sym, .k = k, .times = 1, .by = 1};
    if (s->kind == AT_SYM_DIV) {
        d.entry = at_aff_digit_entry(b->l, sym, b->inner);
        AT_ASSERT(d.entry >= 0);
        d.by = s->by;
        d.plus = s->of->c;
        for (int i = 0; i < s->of->n; i++) {
            const at_term *t = &s->of->t[i];
            if (t->sym == d.entry) d.times = t->k;
            else d.plus += t->k * b->bound[t->sym];
            for (int j = 0; j < b->num_counted; j++)
                if (b->counted[j]->loop.sym == t->sym)
                    b->failed = true; /* it changes with the loop */
        }
        const bool is_small =
            d.times > 0 && d.times < 1 << 20 && d.plus >= 0 && d.plus < 1 << 30 && d.by < 1 << 30;
        if (!is_small || !find_most(b, entries, &d)) b->failed = true;
    }
    if (b->failed || p->num_digits == MAX_DIGITS) {
        b->failed = true;
        return;
    }
    int at = p->num_digits++;
    for (; at > 0 && p->digits[at - 1].by > d.by; at--) p->digits[at] = p->digits[at - 1];
    p->digits[at] = d;
}

/* k * floor(of/by) of loops that are written out, which is a number, or differs from lane to lane.
 */
static void add_quotient(at_builder *b, at_tile_place *p, const at_sym *s, int64_t k) {
    int64_t of = s->of->c;
    for (int i = 0; i < s->of->n; i++) {
        int sym = s->of->t[i].sym;
        bool known = sym < AT_MAX_LOOPS && (b->inner & AT_BIT(sym));
        for (int j = 0; j < b->num_counted && known; j++) known = b->counted[j]->loop.sym != sym;
        if (!known) b->failed = true;
        else of += s->of->t[i].k * b->bound[sym];
    }
    p->off += k * at_floordiv(of, s->by);
    if (b->vec_sym < 0 || b->vec_lanes == 1 || !(s->deps & AT_BIT(b->vec_sym))) return;
    p->cyclic = k < 0 && k % s->by == 0 ? -k / s->by : 0;
    if ((k < 1 && !p->cyclic) || at_aff_coef(s->of, b->vec_sym) != 1 ||
        !at_target_spreads(b->l->target, s->by) || p->by)
        b->failed = true;
    p->by = s->by;
    p->times = k > 1 ? k : 0;
    p->plus = of - at_floordiv(of, s->by) * s->by;
}

/* Without the quotients that add_quotient takes, which go to *quotients. */
static const at_aff *without_quotients(at_builder *b, const at_aff *in, const at_aff **quotients) {
    at_low *l = b->l;
    const at_aff *rest = in;
    for (int i = 0; i < in->n; i++) {
        const at_sym *s = &l->syms.data[in->t[i].sym];
        if (s->kind != AT_SYM_DIV || (at_aff_opaque_deps(l, s->of) & b->inner)) continue;
        rest = at_aff_add_times(l, rest, at_aff_sym(l, in->t[i].sym), -in->t[i].k);
    }
    *quotients = rest == in ? NULL : at_aff_sub(l, in, rest);
    return rest;
}

const at_aff *at_build_rest(at_low *l, const at_aff *in, const at_aff *rest,
                            const at_ir *const *counted, int num_counted, int64_t *off) {
    *off = 0;
    for (int i = 0; i < num_counted; i++) {
        const at_loop *x = &counted[i]->loop;
        int64_t k = at_aff_coef(in, x->sym);
        if (!k) continue;
        if (x->lo_aff) rest = at_aff_add_times(l, rest, x->lo_aff, k);
        else *off += k * x->lo;
    }
    *off += rest->c;
    return at_aff_shift(l, rest, -rest->c);
}

/* What does not change from one iteration of unrolled loops and vectors to the next. */
static void find_form(at_builder *b, int tensor, const at_aff *at, at_tile_form *f) {
    at_low *l = b->l;
    at_tile_place *p = &f->place;
    at_term *strides = AT_NEW_ARRAY(l->arena, at_term, b->num_counted);
    *f = (at_tile_form){.at = at, .place = {.tensor = tensor, .stride = strides}};
    f->in = without_quotients(b, at_aff_part(l, at, b->inner, &p->rest), &f->quotients);
    f->is_even = at_aff_indexed(l, f->in, b->inner);
    for (int i = 0; i < b->num_counted; i++) {
        const at_ir *c = b->counted[i];
        int64_t k = at_aff_coef(f->in, c->loop.sym);
        if (!k) continue;
        strides[p->num_strides++] = (at_term){c->loop.sym, k};
    }
    p->rest = at_build_rest(l, f->in, p->rest, b->counted, b->num_counted, &p->off);
}

static const at_tile_form *form_of(at_builder *b, int tensor, const at_aff *at) {
    for (int i = 0; i < AT_TILE_FORMS; i++)
        if (b->forms[i].at == at && b->forms[i].place.tensor == tensor) return &b->forms[i];
    at_tile_form *f = &b->forms[b->next_form++ % AT_TILE_FORMS];
    find_form(b, tensor, at, f);
    return f;
}

/* In the turn at hand of loops that are written out. */
static const at_aff *in_this_turn(at_builder *b, const at_aff *at) {
    at_mask loops = at_aff_deps(b->l, at) & b->inner;
    for (int i = 0; i < b->num_counted; i++) loops &= ~AT_BIT(b->counted[i]->loop.sym);
    for (int sym = 0; sym < AT_MAX_LOOPS; sym++)
        if (loops & AT_BIT(sym) && sym != b->vec_sym)
            at = at_aff_subst(b->l, at, sym, at_aff_const(b->l, b->bound[sym]));
    return at;
}

/* What lies further from a pointer than instructions reach has another one; of a tensor that is in
 * registers meanwhile there is one only. */
static void point_near(at_builder *b, at_tile_place *p) {
    enum { REACH = 1 << 28 }; /* elements; half of what 32 bits hold of bytes */
    const int64_t far = at_floordiv(p->off + REACH, 2 * REACH) * 2 * REACH;
    if (!far || b->regs->local[p->tensor]) return;
    b->failed |= b->open[p->tensor].held;
    p->rest = at_aff_shift(b->l, p->rest, far);
    p->off -= far;
}

static at_tile_place locate(at_builder *b, int tensor, const at_aff *at,
                            const at_entry_bound *entries) {
    const at_tile_form *f = form_of(b, tensor, at);
    at_tile_form here;
    if (!f->is_even) {
        find_form(b, tensor, in_this_turn(b, at), &here);
        f = &here;
    }
    at_tile_place p = f->place;
    b->failed |= !f->is_even;
    if (b->failed) return p;
    for (int i = 0; f->quotients && i < f->quotients->n; i++) {
        const at_sym s = b->l->syms.data[f->quotients->t[i].sym];
        add_quotient(b, &p, &s, f->quotients->t[i].k);
    }
    for (int i = 0; i < f->in->n; i++) {
        const at_term *t = &f->in->t[i];
        if (t->sym >= AT_MAX_LOOPS) {
            add_digit(b, &p, entries, t->sym, t->k);
            continue;
        }
        p.off += t->k * b->bound[t->sym];
        if (t->sym == b->vec_sym) p.lane = t->k;
    }
    if (p.by && (p.lane != p.cyclic || p.num_digits)) b->failed = true;
    point_near(b, &p);
    return p;
}

at_tile_place at_build_locate(at_builder *b, int tensor, const at_aff *at) {
    return locate(b, tensor, at, NULL);
}

/* Where a list of places says that there may be nothing, its entry is looked at in the tile, also
 * where it is known outside. */
at_tile_place at_build_locate_load(at_builder *b, const at_value *v) {
    at_tile_place p = locate(b, v->tensor, v->at, v->entries);
    at_low *l = b->l;
    p.may_miss = v->may_miss;
    if (!p.may_miss) return p;
    p.number = v->number;
    for (int i = 0; i < p.rest->n && !p.num_digits; i++) {
        const at_term t = p.rest->t[i];
        if (l->syms.data[t.sym].kind != AT_SYM_LOAD) continue;
        p.rest = at_aff_add_times(l, p.rest, at_aff_sym(l, t.sym), -t.k);
        add_digit(b, &p, v->entries, t.sym, t.k);
    }
    if (!p.num_digits || !l->buffers[l->syms.data[p.digits[0].entry].tensor].has_all)
        b->failed = true;
    return p;
}

void at_build_spread(at_tile_place *p, int *lanes) {
    if (p->cyclic && p->plus + *lanes <= p->by) p->by = p->plus = p->cyclic = 0;
    if (!p->by || p->times) return;
    *lanes = (int)(p->cyclic ? p->by : (p->plus + *lanes - 1) / p->by + 1);
    if (p->cyclic) p->off -= p->plus * p->cyclic;
}

int at_build_find_slot(at_builder *b, const at_tile_place *p, bool written) {
    for (int i = 0; i < b->num_slots; i++) {
        at_tile_slot *s = &b->slots[i];
        if (s->made_in || s->tensor != p->tensor || s->num_strides != p->num_strides ||
            !at_aff_equal(s->rest, p->rest) ||
            memcmp(s->stride, p->stride, sizeof(at_term) * (size_t)p->num_strides))
            continue;
        s->written |= written;
        return i;
    }
    if (b->num_slots == b->most_slots) {
        b->failed = true;
        return 0;
    }
    at_tile_slot *s = &b->slots[b->num_slots];
    *s = (at_tile_slot){.tensor = p->tensor,
                        .rest = p->rest,
                        .stride = p->stride,
                        .num_strides = p->num_strides,
                        .written = written};
    return b->num_slots++;
}

/* Where an entry is below 0 its pointer leads to AT_TILE_NUMBERS equal numbers: all that is read by
 * it must be among these. */
static bool may_point_to_numbers(const at_builder *b, const at_tile_place *p) {
    const at_tile_digit *d = p->digits;
    int64_t lanes = b->vec_sym >= 0 && p->lane ? b->vec_lanes : 1;
    return p->num_digits == 1 && d->times == 1 && d->by == 1 && !d->plus && p->off >= 0 &&
           p->lane <= 1 && p->off + lanes <= AT_TILE_NUMBERS;
}

/* Where the entry of a digit lies. */
static void find_list(at_builder *b, at_tile_digit *d) {
    const at_sym *s = &b->l->syms.data[d->entry];
    if (s->kind != AT_SYM_LOAD) { /* bounded: in lanes only */
        b->failed = true;
        return;
    }
    const at_tile_place entry = at_build_locate(b, s->tensor, s->of);
    const bool differs = entry.lane && b->vec_lanes > 1; /* from lane to lane */
    d->list = at_build_find_slot(b, &entry, false);
    d->list_off = entry.off;
    if (entry.num_digits || differs) b->failed = true;
}

/* The pointer that entries of index lists make of a slot, good for the straight-line body: a new
 * one, or one that was made in another body. */
static int indexed_slot(at_builder *b, at_tile_place *p, int base) {
    int found = -1;
    for (int i = 0; i < p->num_digits && !b->failed; i++) find_list(b, &p->digits[i]);
    if (p->may_miss && !may_point_to_numbers(b, p)) b->failed = true;
    for (int i = 0; i < b->num_slots; i++) {
        const at_tile_slot *o = &b->slots[i];
        if (!o->made_in) continue;
        if (o->made_in != b->body) found = i;
        else if (o->base == base && o->num_digits == p->num_digits && o->may_miss == p->may_miss &&
                 o->number == p->number &&
                 !memcmp(o->digits, p->digits, sizeof(at_tile_digit) * (size_t)p->num_digits))
            return i;
    }
    if (found < 0 && b->num_slots == b->most_slots) b->failed = true;
    if (b->failed) return 0;
    if (found < 0) found = b->num_slots++;
    b->slots[found] = (at_tile_slot){.tensor = p->tensor,
                                     .rest = at_aff_const(b->l, 0),
                                     .made_in = b->body,
                                     .base = base,
                                     .num_digits = p->num_digits,
                                     .may_miss = p->may_miss,
                                     .number = p->number};
    memcpy(b->slots[found].digits, p->digits, sizeof p->digits);
    for (int i = 0; i < p->num_digits; i++) {
        at_tile_op *op = at_build_emit(b, AT_T_INDEX);
        op->dst = (int16_t)found;
        op->base = (int16_t)(i ? found : base);
        op->slot = (int16_t)p->digits[i].list;
        op->off = p->digits[i].list_off;
        op->bump = p->digits[i].k;
        op->times = (int32_t)p->digits[i].times;
        op->plus = (int32_t)p->digits[i].plus;
        op->by = (int32_t)p->digits[i].by;
        op->most = (int32_t)p->digits[i].most;
        op->may_miss = p->may_miss;
        op->number = p->number;
    }
    return found;
}

/* The slot of a load. */
int at_build_slot_of(at_builder *b, const at_tile_place *p) {
    int s = at_build_find_slot(b, p, false);
    if (!p->num_digits || b->failed) return s;
    at_tile_place of = *p;
    return indexed_slot(b, &of, s);
}
