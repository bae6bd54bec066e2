/* codegen/emit.c: C for everything but the tiles: loops, conditions, addresses, calls.
 *
 * TinyCC hoists nothing, so every pointer and every opaque index is computed here at the shallowest
 * loop where its operands are known, as a chain of sums shared by all that begin alike. Each open
 * block has two texts: its declarations and its body; they are joined when it closes. A parallel
 * loop becomes a function of its own, called through at_par; it captures the enclosing loop
 * variables. */
#include "codegen/tile.h"

#include <ctype.h>
#include <string.h>

#define MAX_BLOCKS 128

typedef struct { /* a pointer (tensor >= 0) or an opaque symbol (tensor -1) declared in a block */
    int tensor;
    const at_aff *at;
    const char *name;
} declared;

typedef struct {
    int sym; /* loop variable the block binds; -1: none */
    at_text decl, body;
    AT_VEC(declared) known;
} block;

typedef struct {
    at_low *l;
    block blocks[MAX_BLOCKS];
    int depth;                     /* open blocks of the current function */
    int base;                      /* first block of the current function */
    at_text functions;             /* bodies of parallel loops, in order */
    const char *var[AT_MAX_LOOPS]; /* C name of a loop symbol in scope */
    bool packing;                  /* emitting the pack function */
    int num_names, num_bodies;
} emitter;

static at_text *body(emitter *e) { return &e->blocks[e->depth - 1].body; }
static int indent(const emitter *e) { return 4 * (e->depth - e->base); }

/* ---- names ----------------------------------------------------------------------------------- */

static const char *const reserved[] = {
    "auto",     "break",   "case",   "char",     "const",   "continue",  "default",  "do",
    "double",   "else",    "enum",   "extern",   "float",   "for",       "goto",     "if",
    "inline",   "int",     "long",   "register", "return",  "restrict",  "short",    "signed",
    "sizeof",   "static",  "struct", "switch",   "typedef", "union",     "unsigned", "void",
    "volatile", "while",   "asm",    "typeof",   "buf",     "workspace", "memory",   "item",
    "par",      "context", "thread", "local",    "c",       "main"};

/* q7, data_7: what emission names itself. */
static bool is_numbered(const char *name, const char *stem) {
    size_t n = strlen(stem);
    if (strncmp(name, stem, n) || !isdigit((unsigned char)name[n])) return false;
    return name[n + strspn(name + n, "0123456789")] == 0;
}

static bool taken(const emitter *e, const char *name) {
    const at_compute *c = e->l->program->compute;
    if (is_numbered(name, "q")) return true;
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (!strcmp(name, reserved[i])) return true;
    for (int t = 0; t < c->num_tensors; t++)
        if (!strcmp(name, c->tensors[t].name) ||
            is_numbered(name, at_format(e->l->arena, "%s_", c->tensors[t].name)))
            return true;
    for (int i = e->base; i < e->depth; i++)
        if (e->blocks[i].sym >= 0 && !strcmp(name, e->var[e->blocks[i].sym])) return true;
    return false;
}

static const char *numbered(emitter *e, const char *stem) {
    for (;;) {
        const char *name = at_format(e->l->arena, "%s%d", stem, e->num_names++);
        if (at_compute_find(e->l->program->compute, name) < 0) return name;
    }
}

static const char *variable(emitter *e, const char *name) {
    while (taken(e, name)) name = at_format(e->l->arena, "%s_", name);
    return name;
}

/* No two tensors share a name, so a longer one than all of them is free. */
static const char *tensor_variable(emitter *e, int tensor) {
    const char *name = e->l->program->compute->tensors[tensor].name;
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (!strcmp(name, reserved[i])) return at_format(e->l->arena, "%s_t%d_", name, tensor);
    return name;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void open_block(emitter *e, int sym) {
    if (e->depth == MAX_BLOCKS) {
        at_lower_fail(e->l, "the tree nests more than %d deep", MAX_BLOCKS);
        e->depth--;
    }
    e->blocks[e->depth++] = (block){.sym = sym};
}

/* Appends declarations and body to `out`. */
static void close_block(emitter *e, at_text *out) {
    block *b = &e->blocks[--e->depth];
    at_text_add(out, at_text_str(&b->decl));
    at_text_add(out, at_text_str(&b->body));
    at_text_free(&b->decl);
    at_text_free(&b->body);
}

/* The innermost block that binds one of these loops; the function's own where none does. */
static int block_of(const emitter *e, at_mask deps) {
    for (int i = e->depth - 1; i > e->base; i--)
        if (e->blocks[i].sym >= 0 && (deps & AT_BIT(e->blocks[i].sym))) return i;
    return e->base;
}

/* The block a symbol is declared in. What reads an index tensor stays inside the loops and
 * conditions around it: they may guard the read. */
static int place_of(const emitter *e, const at_aff *x) {
    int where = block_of(e, at_aff_deps(e->l, at_aff_concrete(e->l, x, 0)));
    if (at_aff_reads(e->l, x))
        for (int i = e->depth - 1; i > where; i--)
            if (e->blocks[i].sym < 0) return i;
    return where;
}

/* ---- integers -------------------------------------------------------------------------------- */

static const char *symbol(emitter *e, int sym);

static void affine(emitter *e, at_text *out, const at_aff *x) {
    bool first = true;
    for (int i = 0; i < x->n; i++) {
        int64_t k = x->t[i].k;
        const char *s = symbol(e, x->t[i].sym);
        at_text_add(out, first ? (k < 0 ? "-" : "") : k < 0 ? " - " : " + ");
        if (k != 1 && k != -1) at_text_addf(out, "%lld * ", (long long)(k < 0 ? -k : k));
        at_text_add(out, s);
        first = false;
    }
    if (first) at_text_addf(out, "%lld", (long long)x->c);
    else if (x->c)
        at_text_addf(out, " %c %lld", x->c < 0 ? '-' : '+', (long long)(x->c < 0 ? -x->c : x->c));
}

static const char *find(const block *b, int tensor, const at_aff *at) {
    for (int i = 0; i < b->known.len; i++)
        if (b->known.data[i].tensor == tensor && at_aff_equal(b->known.data[i].at, at))
            return b->known.data[i].name;
    return NULL;
}

static const char *declare(emitter *e, int at_block, int tensor, const at_aff *at,
                           const char *name) {
    *at_push(e->l->arena, &e->blocks[at_block].known) = (declared){tensor, at, name};
    return name;
}

static void write_opaque(emitter *e, at_text *t, const at_sym *s) {
    at_low *l = e->l;
    const at_aff *of = at_aff_concrete(l, s->of, 0);
    int64_t lo, hi;
    switch (s->kind) {
    case AT_SYM_DIV:
        at_aff_range(l, of, &lo, &hi);
        at_text_add(t, "(");
        if (lo < 0) { /* C rounds towards zero: shift the operand up by a multiple of the divisor */
            int64_t up = at_floordiv(-lo + s->by - 1, s->by);
            if (lo <= -AT_AFF_INF || up > ((int64_t)1 << 40)) up = (int64_t)1 << 32;
            affine(e, t, at_aff_shift(l, of, up * s->by));
            at_text_addf(t, ") / %lld - %lld", (long long)s->by, (long long)up);
            return;
        }
        affine(e, t, of);
        at_text_addf(t, ") / %lld", (long long)s->by);
        return;
    case AT_SYM_LOAD:
        at_text_addf(t, "%s[", tensor_variable(e, s->tensor));
        affine(e, t, of);
        at_text_add(t, "]");
        return;
    default: {
        at_text a = {0}, b = {0};
        affine(e, &a, of);
        affine(e, &b, at_aff_concrete(l, s->of2, 0));
        at_text_addf(t, "%s %s %s ? %s : %s", at_text_str(&a), s->kind == AT_SYM_MIN ? "<" : ">",
                     at_text_str(&b), at_text_str(&a), at_text_str(&b));
        at_text_free(&a);
        at_text_free(&b);
    }
    }
}

static const char *base_pointer(emitter *e, int tensor);

/* A symbol's C name, declared where its operands are known. */
static const char *symbol(emitter *e, int sym) {
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

static bool writable(const emitter *e, int tensor) {
    const at_buffer *b = &e->l->buffers[tensor];
    if (b->place != AT_PLACE_PARAM) return true;
    at_param_role role = e->l->params[b->param].role;
    return role == AT_PARAM_OUT || (role == AT_PARAM_PACKED && e->packing);
}

static const char *element_type(const emitter *e, int tensor) {
    bool is_int = e->l->program->compute->tensors[tensor].is_int;
    if (writable(e, tensor)) return is_int ? "int *" : "float *";
    return is_int ? "const int *" : "const float *";
}

static const char *base_pointer(emitter *e, int tensor) {
    at_low *l = e->l;
    const at_buffer *b = &l->buffers[tensor];
    const at_aff *zero = at_aff_const(l, 0);
    block *f = &e->blocks[e->base];
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
static const char *pointer(emitter *e, int tensor, const at_aff *at) {
    at_low *l = e->l;
    at = at_aff_concrete(l, at, 0);
    const char *name = base_pointer(e, tensor);
    const at_aff *done = at_aff_const(l, 0);
    for (int where = e->base; where < e->depth; where++) {
        const at_aff *add = at_aff_const(l, where == e->base ? at->c : 0);
        for (int i = 0; i < at->n; i++)
            if (place_of(e, at_aff_sym(l, at->t[i].sym)) == where)
                add = at_aff_add(l, add, at_aff_scale(l, at_aff_sym(l, at->t[i].sym), at->t[i].k));
        if (!add->n && !add->c) continue;
        done = at_aff_add(l, done, add);
        const char *known = find(&e->blocks[where], tensor, done);
        if (!known) {
            at_text value = {0};
            affine(e, &value, add);
            known = numbered(e, at_format(l->arena, "%s_", tensor_variable(e, tensor)));
            const char *text = at_text_str(&value);
            at_text_addf(&e->blocks[where].decl, "%*s%s%s = %s %c %s;\n", 4 * (where + 1 - e->base),
                         "", element_type(e, tensor), known, name,
                         *text == '-' && add->n + (add->c != 0) == 1 ? '-' : '+',
                         *text == '-' && add->n + (add->c != 0) == 1 ? text + 1 : text);
            at_text_free(&value);
            declare(e, where, tensor, done, known);
        }
        name = known;
    }
    return name;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void emit_list(emitter *e, const at_ir *list);

static void emit_call(emitter *e, const at_ir *n) {
    at_low *l = e->l;
    const at_tile_call *c = n->call;
    at_text args = {0};
    for (int i = 0; i < c->tile->num_slots; i++)
        at_text_addf(&args, "%s%s", i ? ", " : "", pointer(e, c->slot_tensor[i], c->slot_at[i]));
    for (int i = 0; i < c->tile->num_trips; i++) {
        at_text_add(&args, i || c->tile->num_slots ? ", " : "");
        affine(e, &args, at_aff_concrete(l, c->trip[i], 0));
    }
    at_text_addf(body(e), "%*s%s_%s(%s);\n", indent(e), "", l->options->name, c->tile->name,
                 at_text_str(&args));
    at_text_free(&args);
}

static void emit_bounds(emitter *e, const at_ir *n, at_text *lo, at_text *hi) {
    at_low *l = e->l;
    affine(e, lo, n->lo_aff ? at_aff_concrete(l, n->lo_aff, 0) : at_aff_const(l, n->lo));
    affine(e, hi, n->hi_aff ? at_aff_concrete(l, n->hi_aff, 0) : at_aff_const(l, n->hi));
}

/* A parallel loop: its body as a function (i, thread, context), called through par. */
static void emit_parallel(emitter *e, const at_ir *n) {
    at_low *l = e->l;
    int id = e->num_bodies++, num_captured = 0;
    const char *name = l->options->name;
    at_text call = {0}, decl = {0};
    at_text_addf(&decl, "static void %s_body%d(long item, int thread, void *context) {\n", name,
                 id);
    at_text_addf(
        &decl, "    const struct %s_context *c = context;\n    void *const *buf = c->buf;\n", name);
    at_text_add(&decl, "    char *workspace = c->workspace;\n");
    at_text_addf(&decl, "    char *local = workspace + %lld + thread * %lldL;\n",
                 (long long)l->workspace_bytes, (long long)l->thread_bytes);
    at_text_add(&decl, "    (void)buf, (void)workspace, (void)local;\n");
    for (int i = e->base; i < e->depth; i++) {
        int s = e->blocks[i].sym;
        if (s < 0 || l->syms.data[s].lo == l->syms.data[s].hi) continue;
        at_text_addf(&decl, "    const long %s = c->v[%d];\n    (void)%s;\n", e->var[s],
                     num_captured, e->var[s]);
        at_text_addf(&call, "%*scontext.v[%d] = %s;\n", indent(e), "", num_captured++, e->var[s]);
    }
    at_text lo = {0}, hi = {0};
    emit_bounds(e, n, &lo, &hi);
    at_text_addf(&call, "%*scontext.v[%d] = %s;\n", indent(e), "", num_captured, at_text_str(&lo));
    e->var[n->sym] = variable(e, l->syms.data[n->sym].name);
    at_text_addf(&decl, "    const long %s = item + c->v[%d];\n    (void)%s;\n", e->var[n->sym],
                 num_captured, e->var[n->sym]);
    int base = e->base;
    e->base = e->depth;
    open_block(e, n->sym);
    at_sym old = at_range_enter(l, n);
    emit_list(e, n->child);
    at_range_leave(l, n, old);
    at_text_add(&decl, "");
    at_text inner = {0};
    close_block(e, &inner);
    e->base = base;
    at_text_addf(&e->functions, "%s%s}\n\n", at_text_str(&decl), at_text_str(&inner));
    at_text_addf(body(e), "%s%*spar->parallel_for(%s_body%d, %s - (%s), &context);\n",
                 at_text_str(&call), indent(e), "", name, id, at_text_str(&hi), at_text_str(&lo));
    at_text_free(&lo);
    at_text_free(&hi);
    at_text_free(&inner);
    at_text_free(&decl);
    at_text_free(&call);
}

static void emit_loop(emitter *e, const at_ir *n) {
    at_low *l = e->l;
    if (n->ann == AT_ANN_PARA) {
        emit_parallel(e, n);
        return;
    }
    at_sym old;
    if (n->hi - n->lo == 1 && !n->lo_aff &&
        !n->hi_aff) { /* a peeled iteration: the variable is a constant */
        old = at_range_enter(l, n);
        emit_list(e, n->child);
        at_range_leave(l, n, old);
        return;
    }
    at_text lo = {0}, hi = {0}, inner = {0};
    emit_bounds(e, n, &lo, &hi);
    const char *v = e->var[n->sym] = variable(e, l->syms.data[n->sym].name);
    old = at_range_enter(l, n);
    open_block(e, n->sym);
    emit_list(e, n->child);
    close_block(e, &inner);
    at_range_leave(l, n, old);
    at_text_addf(body(e), "%*sfor (long %s = %s; %s < %s; %s++) {\n%s%*s}\n", indent(e), "", v,
                 at_text_str(&lo), v, at_text_str(&hi), v, at_text_str(&inner), indent(e), "");
    at_text_free(&lo);
    at_text_free(&hi);
    at_text_free(&inner);
}

static void emit_branch(emitter *e, const at_ir *list, const char *head) {
    at_text inner = {0};
    open_block(e, -1);
    emit_list(e, list);
    close_block(e, &inner);
    at_text_addf(body(e), "%*s%s {\n%s%*s}\n", indent(e), "", head, at_text_str(&inner), indent(e),
                 "");
    at_text_free(&inner);
}

static void emit_if(emitter *e, const at_ir *n) {
    at_text test = {0};
    affine(e, &test, at_aff_concrete(e->l, n->test, 0));
    const char *head =
        at_format(e->l->arena, "if (%s %s 0)", at_text_str(&test), n->child ? ">=" : "<");
    at_text_free(&test);
    emit_branch(e, n->child ? n->child : n->other, head);
    if (n->child && n->other) emit_branch(e, n->other, "else");
}

/* Of a table: any other statement has become part of a tile. */
static void emit_entry(emitter *e, const at_ir *n) {
    if (!n->integer) AT_BUG("a statement outside a tile reached emission");
    at_text value = {0};
    affine(e, &value, at_aff_concrete(e->l, n->integer, 0));
    at_text_addf(body(e), "%*s*%s = (int)(%s);\n", indent(e), "", pointer(e, n->tensor, n->at),
                 at_text_str(&value));
    at_text_free(&value);
}

static void emit_list(emitter *e, const at_ir *list) {
    for (; list && e->l->err->status == AT_OK; list = list->next) {
        switch (list->kind) {
        case AT_IR_LOOP: emit_loop(e, list); break;
        case AT_IR_IF: emit_if(e, list); break;
        case AT_IR_TILE: emit_call(e, list); break;
        case AT_IR_STMT: emit_entry(e, list); break;
        }
    }
}

/* ---- functions ------------------------------------------------------------------------------- */

static bool has_parallel(const at_ir *n) {
    for (; n; n = n->next)
        if ((n->kind == AT_IR_LOOP && n->ann == AT_ANN_PARA) || has_parallel(n->child) ||
            has_parallel(n->other))
            return true;
    return false;
}

/* int NAME(void *const buf[], void *memory, at_par *par) */
static void emit_function(emitter *e, at_text *out, const char *name, const at_ir *list) {
    at_text code = {0};
    e->base = e->depth = 0;
    open_block(e, -1);
    if (has_parallel(list)) {
        at_text_addf(body(e), "    struct %s_context context;\n", e->l->options->name);
        at_text_add(body(e), "    context.buf = buf;\n    context.workspace = workspace;\n");
    }
    emit_list(e, list);
    close_block(e, &code);
    at_text_add(out, at_text_str(&e->functions));
    at_text_clear(&e->functions);
    at_text_addf(out, "int %s(void *const buf[], void *memory, at_par *par) {\n", name);
    at_text_add(out, "    char *workspace = memory;\n    (void)buf, (void)workspace, (void)par;\n");
    at_text_addf(out, "%s    return 0;\n}\n", at_text_str(&code));
    at_text_free(&code);
}

static const char par_type[] =
    "typedef struct at_par { /* who runs body(i, thread, context) for i = 0 .. n-1 */\n"
    "    void (*parallel_for)(void (*body)(long i, int thread, void *context), long n, void "
    "*context);\n"
    "    int threads;\n"
    "} at_par;\n\n";

/* The tiles as functions of this text, or, where they are machine code, their declarations. */
static void emit_tiles(at_low *l, at_text *out) {
    const char *prefix = at_format(l->arena, "%s_", l->options->name);
    for (int i = 0; i < l->tiles.len; i++) {
        at_tile *t = l->tiles.data[i];
        if (l->dialect == AT_DIALECT_TCC) at_tile_declare(out, t, prefix);
        else if (l->dialect == AT_DIALECT_GNU) at_tile_print_gnu(out, t, l->isa, prefix);
        else at_tile_print_c(out, t, prefix);
    }
}

bool at_pass_emit(at_low *l) {
    emitter *e = AT_NEW(l->arena, emitter);
    at_text out = {0};
    e->l = l;
    at_text_add(&out, par_type);
    if (l->dialect == AT_DIALECT_GNU) at_tile_gnu_types(&out, l->isa);
    l->common_bytes = out.len;
    emit_tiles(l, &out);
    if (has_parallel(l->root) || has_parallel(l->pack_root))
        at_text_addf(&out,
                     "struct %s_context {\n    void *const *buf;\n    char *workspace;\n    long "
                     "v[32];\n};\n\n",
                     l->options->name);
    l->entry = at_format(l->arena, "%s_entry", l->options->name);
    if (l->pack_root) {
        l->pack = at_format(l->arena, "%s_pack_entry", l->options->name);
        e->packing = true;
        emit_function(e, &out, l->pack, l->pack_root);
        at_text_add(&out, "\n");
        e->packing = false;
    }
    emit_function(e, &out, l->entry, l->root);
    l->source = at_strndup(l->arena, at_text_str(&out), out.len);
    at_text_free(&out);
    at_text_free(&e->functions);
    return l->err->status == AT_OK;
}
