/* codegen/emit_address.c: names, integers and pointers of emitted C.
 *
 * TinyCC hoists nothing, so every pointer and every opaque index is worked out at the shallowest
 * loop where its operands are known, as a chain of sums shared by all that begin alike. */
#include "codegen/emit.h"

#include <ctype.h>
#include <string.h>

at_text *at_emit_body(at_emitter *e) { return &e->blocks[e->depth - 1].body; }
int at_emit_indent(const at_emitter *e) { return 4 * (e->depth - e->base); }

/* ---- names ----------------------------------------------------------------------------------- */

/* What emitted functions name themselves. */
static const char *const own_names[] = {"buf",     "workspace", "memory", "item", "par",
                                        "context", "thread",    "local",  "c",    "main"};

/* A word of C, a name that functions use themselves, or one of a function of this text. */
static bool is_reserved(const at_emitter *e, const char *name) {
    size_t n = strlen(e->l->options->name);
    for (size_t i = 0; i < sizeof own_names / sizeof own_names[0]; i++)
        if (!strcmp(name, own_names[i])) return true;
    return at_c_is_reserved(name) || (!strncmp(name, e->l->options->name, n) && name[n] == '_');
}

/* q7, data_7: what emission names itself. */
static bool is_numbered(const char *name, const char *stem) {
    size_t n = strlen(stem);
    if (strncmp(name, stem, n) || !isdigit((unsigned char)name[n])) return false;
    return name[n + strspn(name + n, "0123456789")] == 0;
}

static bool taken(const at_emitter *e, const char *name) {
    const at_low *l = e->l;
    if (is_numbered(name, "q")) return true;
    if (is_reserved(e, name)) return true;
    for (int t = 0; t < l->num_tensors; t++)
        if (!strcmp(name, l->tensors[t].name) ||
            is_numbered(name, at_format(l->arena, "%s_", l->tensors[t].name)))
            return true;
    for (int i = e->base; i < e->depth; i++)
        if (e->blocks[i].sym >= 0 && !strcmp(name, e->var[e->blocks[i].sym])) return true;
    return false;
}

static const char *numbered(at_emitter *e, const char *stem) {
    for (;;) {
        const char *name = at_format(e->l->arena, "%s%d", stem, e->num_names++);
        if (at_low_find_tensor(e->l, name) < 0) return name;
    }
}

const char *at_emit_variable(at_emitter *e, const char *name) {
    if (is_reserved(e, name)) name = at_format(e->l->arena, "v_%s", name);
    while (taken(e, name)) name = at_format(e->l->arena, "%s_", name);
    return name;
}

/* No two tensors share a name, so a longer one than all of them is free. */
static const char *tensor_variable(at_emitter *e, int tensor) {
    const char *name = e->l->tensors[tensor].name;
    if (is_reserved(e, name)) return at_format(e->l->arena, "t%d_%s_", tensor, name);
    return name;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

void at_emit_open(at_emitter *e, int sym) {
    if (e->depth == AT_EMIT_BLOCKS) {
        at_lower_fail(e->l, "the tree nests more than %d deep", AT_EMIT_BLOCKS);
        e->depth--;
    }
    e->blocks[e->depth++] = (at_emit_block){.sym = sym};
}

/* Appends declarations and body to `out`. */
void at_emit_close(at_emitter *e, at_text *out) {
    at_emit_block *b = &e->blocks[--e->depth];
    at_text_add(out, at_text_str(&b->decl));
    at_text_add(out, at_text_str(&b->body));
    at_text_free(&b->decl);
    at_text_free(&b->body);
}

/* The innermost block that binds one of these loops; the function's own where none does. */
static int block_of(const at_emitter *e, at_mask deps) {
    for (int i = e->depth - 1; i > e->base; i--)
        if (e->blocks[i].sym >= 0 && (deps & AT_BIT(e->blocks[i].sym))) return i;
    return e->base;
}

/* The block a symbol is declared in. What reads an index tensor stays inside the loops and
 * conditions around it: they may guard the read. */
static int place_of(const at_emitter *e, const at_aff *x) {
    int where = block_of(e, at_aff_deps(e->l, at_aff_concrete(e->l, x, 0)));
    if (at_aff_reads(e->l, x))
        for (int i = e->depth - 1; i > where; i--)
            if (e->blocks[i].sym < 0) return i;
    return where;
}

/* ---- integers -------------------------------------------------------------------------------- */

static const char *symbol(at_emitter *e, int sym);

/* " + 3", or "-3" at the beginning. C has no literal of -2^63. */
static void add_sign(at_text *out, int64_t x, bool is_first) {
    const bool minus = x < 0 && x != INT64_MIN;
    at_text_add(out, is_first ? (minus ? "-" : "") : minus ? " - " : " + ");
}

static void add_magnitude(at_text *out, int64_t x) {
    if (x == INT64_MIN) at_text_add(out, "(-9223372036854775807 - 1)");
    else at_text_add_int(out, x < 0 ? -x : x);
}

void at_emit_affine(at_emitter *e, at_text *out, const at_aff *x) {
    for (int i = 0; i < x->n; i++) {
        int64_t k = x->t[i].k;
        const char *s = symbol(e, x->t[i].sym);
        add_sign(out, k, !i);
        if (k != 1 && k != -1) {
            add_magnitude(out, k);
            at_text_add(out, " * ");
        }
        at_text_add(out, s);
    }
    if (x->n && !x->c) return;
    add_sign(out, x->c, !x->n);
    add_magnitude(out, x->c);
}

static const char *find(const at_emit_block *b, int tensor, const at_aff *at) {
    for (int i = 0; i < b->known.len; i++)
        if (b->known.data[i].tensor == tensor && at_aff_equal(b->known.data[i].at, at))
            return b->known.data[i].name;
    return NULL;
}

static const char *declare(at_emitter *e, int at_block, int tensor, const at_aff *at,
                           const char *name) {
    *at_push(e->l->arena, &e->blocks[at_block].known) = (at_emit_declared){tensor, at, name};
    return name;
}

/* C rounds towards zero. What may be below it is moved up by a multiple of the divisor where no sum
 * of the two can leave 64 bits, or turned around: for x < 0, floor(x / by) = ~(~x / by). */
static void write_quotient(at_emitter *e, at_text *t, const at_aff *of, int64_t by) {
    int64_t lo, hi, up = 0;
    at_text dividend = {0};
    at_aff_range(e->l, of, &lo, &hi);
    const bool moves = lo > -AT_AFF_INF && hi < AT_AFF_INF && by < AT_AFF_INF;
    if (lo < 0 && moves) up = at_floordiv(-lo + by - 1, by);
    if (lo < 0 && !moves) {
        at_emit_affine(e, &dividend, of);
        const char *x = at_text_str(&dividend);
        at_text_addf(t, "%s < 0 ? ~(~(%s) / %lld) : (%s) / %lld", x, x, (long long)by, x,
                     (long long)by);
    } else {
        at_emit_affine(e, &dividend, up ? at_aff_shift(e->l, of, up * by) : of);
        at_text_addf(t, "(%s) / %lld", at_text_str(&dividend), (long long)by);
        if (up) at_text_addf(t, " - %lld", (long long)up);
    }
    at_text_free(&dividend);
}

static void write_opaque(at_emitter *e, at_text *t, const at_sym *s) {
    at_low *l = e->l;
    const at_aff *of = at_aff_concrete(l, s->of, 0);
    switch (s->kind) {
    case AT_SYM_DIV: write_quotient(e, t, of, s->by); return;
    case AT_SYM_LOAD:
        at_text_addf(t, "%s[", tensor_variable(e, s->tensor));
        at_emit_affine(e, t, of);
        at_text_add(t, "]");
        return;
    case AT_SYM_MUL:
        at_text_add(t, "(");
        at_emit_affine(e, t, of);
        at_text_add(t, ") * (");
        at_emit_affine(e, t, at_aff_concrete(l, s->of2, 0));
        at_text_add(t, ")");
        return;
    default: {
        at_text a = {0}, b = {0};
        at_emit_affine(e, &a, of);
        at_emit_affine(e, &b, at_aff_concrete(l, s->of2, 0));
        at_text_addf(t, "%s %s %s ? %s : %s", at_text_str(&a), s->kind == AT_SYM_MIN ? "<" : ">",
                     at_text_str(&b), at_text_str(&a), at_text_str(&b));
        at_text_free(&a);
        at_text_free(&b);
    }
    }
}

static const char *base_pointer(at_emitter *e, int tensor);

/* A symbol's C name, declared where its operands are known. */
static const char *symbol(at_emitter *e, int sym) {
    at_low *l = e->l;
    const at_sym s = l->syms.data[sym];
    if (s.kind == AT_SYM_LOOP) return e->var[sym];
    int where = place_of(e, at_aff_sym(l, sym));
    const at_aff *key = at_aff_sym(l, sym);
    const char *name = find(&e->blocks[where], -1, key);
    if (name) return name;
    if (s.kind == AT_SYM_LOAD) base_pointer(e, s.tensor);
    at_text value = {0};
    write_opaque(e, &value, &s);
    name = numbered(e, "q");
    at_text_addf(&e->blocks[where].decl, "%*sconst long %s = %s;\n", 4 * (where + 1 - e->base), "",
                 name, at_text_str(&value));
    at_text_free(&value);
    return declare(e, where, -1, key, name);
}

/* ---- pointers -------------------------------------------------------------------------------- */

static bool writable(const at_emitter *e, int tensor) {
    const at_buffer *b = &e->l->buffers[tensor];
    if (b->place != AT_PLACE_PARAM) return true;
    at_param_role role = e->l->params[b->param].role;
    return role == AT_PARAM_OUT || (role == AT_PARAM_PACKED && e->packing);
}

static const char *element_type(const at_emitter *e, int tensor) {
    const char *type = at_type_of(e->l->tensors[tensor].type)->c;
    return at_format(e->l->arena, "%s%s *", writable(e, tensor) ? "" : "const ", type);
}

static const char *base_pointer(at_emitter *e, int tensor) {
    at_low *l = e->l;
    const at_buffer *b = &l->buffers[tensor];
    const at_aff *zero = at_aff_const(l, 0);
    at_emit_block *f = &e->blocks[e->base];
    const char *name = find(f, tensor, zero);
    if (name) return name;
    name = tensor_variable(e, tensor);
    const char *type = element_type(e, tensor);
    at_text_addf(&f->decl, "    %s%s = ", type, name);
    if (b->place == AT_PLACE_PARAM) {
        at_param *p = &l->params[b->param];
        *(e->packing ? &p->in_pack : &p->in_kernel) = true;
        at_text_addf(&f->decl, "buf[%d];\n", b->param);
    } else
        at_text_addf(&f->decl, "(%s)(%s + %lld);\n", type,
                     b->place == AT_PLACE_THREAD ? "local" : "workspace",
                     (long long)b->offset_bytes);
    return declare(e, e->base, tensor, zero, name);
}

/* Pointer to element `at` of a tensor: the terms of outer loops first, each sum declared once. */
const char *at_emit_pointer(at_emitter *e, int tensor, const at_aff *at) {
    at_low *l = e->l;
    at = at_aff_concrete(l, at, 0);
    const char *name = base_pointer(e, tensor);
    const at_aff *done = at_aff_const(l, 0);
    int *places = AT_NEW_ARRAY(l->arena, int, at->n);
    for (int i = 0; i < at->n; i++) places[i] = place_of(e, at_aff_sym(l, at->t[i].sym));
    for (int where = e->base; where < e->depth; where++) {
        const at_aff *add = at_aff_const(l, where == e->base ? at->c : 0);
        for (int i = 0; i < at->n; i++)
            if (places[i] == where)
                add = at_aff_add(l, add, at_aff_scale(l, at_aff_sym(l, at->t[i].sym), at->t[i].k));
        if (!add->n && !add->c) continue;
        done = at_aff_add(l, done, add);
        const char *known = find(&e->blocks[where], tensor, done);
        if (!known) {
            at_text value = {0};
            at_emit_affine(e, &value, add);
            known = numbered(e, at_format(l->arena, "%s_", tensor_variable(e, tensor)));
            const char *text = at_text_str(&value);
            const int terms = add->n + (add->c != 0);
            const bool is_less = *text == '-' && terms == 1;
            /* what entries make may leave the tensor before the last of it is added */
            const bool is_whole = terms > 1 && at_aff_reads(l, add);
            at_text *decl = &e->blocks[where].decl;
            at_text_add_blanks(decl, 4 * (where + 1 - e->base));
            at_text_add(decl, element_type(e, tensor));
            at_text_add(decl, known);
            at_text_add(decl, " = ");
            at_text_add(decl, name);
            at_text_add(decl, is_less ? " - " : is_whole ? " + (" : " + ");
            at_text_add(decl, is_less ? text + 1 : text);
            at_text_add(decl, is_whole ? ");\n" : ";\n");
            at_text_free(&value);
            declare(e, where, tensor, done, known);
        }
        name = known;
    }
    return name;
}
