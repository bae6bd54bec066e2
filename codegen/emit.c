/* codegen/emit.c: C for everything but the tiles: loops, conditions, calls.
 *
 * A parallel loop becomes a function of its own, called through at_par; it captures the enclosing
 * loop variables. */
#include "codegen/emit.h"
#include "codegen/tile/tile_text.h"

/* ---- nodes ----------------------------------------------------------------------------------- */

static void emit_list(at_emitter *e, const at_ir *list);

static void emit_call(at_emitter *e, const at_ir *n) {
    at_low *l = e->l;
    const at_tile_call *c = n->call;
    at_text args = {0};
    for (int i = 0; i < c->tile->num_slots; i++) {
        at_text_add(&args, i ? ", " : "");
        at_text_add(&args, at_emit_pointer(e, c->slot_tensor[i], c->slot_at[i]));
    }
    for (int i = 0; i < c->tile->num_trips; i++) {
        at_text_add(&args, i || c->tile->num_slots ? ", " : "");
        at_emit_affine(e, &args, at_aff_concrete(l, c->trip[i], 0));
    }
    at_text *body = at_emit_body(e);
    at_text_add_blanks(body, at_emit_indent(e));
    at_text_addf(body, "%s_%s(", l->options->name, c->tile->name);
    at_text_add(body, at_text_str(&args));
    at_text_add(body, ");\n");
    at_text_free(&args);
}

static void emit_bounds(at_emitter *e, const at_ir *n, at_text *lo, at_text *hi) {
    at_low *l = e->l;
    at_emit_affine(e, lo,
                   n->loop.lo_aff ? at_aff_concrete(l, n->loop.lo_aff, 0)
                                  : at_aff_const(l, n->loop.lo));
    at_emit_affine(e, hi,
                   n->loop.hi_aff ? at_aff_concrete(l, n->loop.hi_aff, 0)
                                  : at_aff_const(l, n->loop.hi));
}

static bool is_cut(const at_emitter *e, const at_ir *n) {
    for (int i = 0; i < e->cut.num; i++)
        if (n == e->cut.loop[i]) return true;
    return false;
}

/* The number of a turn that is called as this one: backwards in every second step of the innermost
 * loop around. */
static const char *turn_of(const at_emitter *e, const at_ir *n) {
    at_low *l = e->l;
    for (int i = e->depth - 1; i >= e->base; i--) {
        const int s = e->blocks[i].sym;
        if (s < 0 || l->syms.data[s].lo == l->syms.data[s].hi) continue;
        if (!at_goes_to_and_fro(l, n, s)) break;
        return at_format(l->arena, "(%s & 1 ? %lld - item : item)", e->var[s],
                         (long long)(n->loop.hi - n->loop.lo - 1));
    }
    return "item";
}

/* A parallel loop: its body as a function (i, thread, context), called through par. */
static void emit_parallel(at_emitter *e, const at_ir *n) {
    at_low *l = e->l;
    int id = e->num_bodies++, num_captured = 0;
    const char *name = l->options->name, *turn = turn_of(e, n);
    at_text call = {0}, decl = {0};
    at_text_addf(&decl, "static void %s_body%d(long item, int thread, void *context) {\n", name,
                 id);
    at_text_addf(
        &decl, "    const struct %s_context *c = context;\n    void *const *buf = c->buf;\n", name);
    at_text_add(&decl, "    char *workspace = c->workspace;\n");
    at_text_addf(&decl, "    char *local = workspace + %lld + thread * %lldL;\n",
                 (long long)l->workspace_bytes, (long long)l->thread_bytes);
    at_text_add(&decl, "    (void)buf, (void)workspace, (void)local;\n");
    if (is_cut(e, n)) at_text_add(&decl, "    if (c->par->turns <= 0) return;\n");
    for (int i = e->base; i < e->depth; i++) {
        int s = e->blocks[i].sym;
        if (s < 0 || l->syms.data[s].lo == l->syms.data[s].hi) continue;
        at_text_addf(&decl, "    const long %s = c->v[%d];\n    (void)%s;\n", e->var[s],
                     num_captured, e->var[s]);
        at_text_addf(&call, "%*scontext.v[%d] = %s;\n", at_emit_indent(e), "", num_captured++,
                     e->var[s]);
    }
    at_text lo = {0}, hi = {0};
    emit_bounds(e, n, &lo, &hi);
    at_text_addf(&call, "%*scontext.v[%d] = %s;\n", at_emit_indent(e), "", num_captured,
                 at_text_str(&lo));
    e->var[n->loop.sym] = at_emit_variable(e, l->syms.data[n->loop.sym].name);
    at_text_addf(&decl, "    const long %s = %s + c->v[%d];\n    (void)%s;\n", e->var[n->loop.sym],
                 turn, num_captured, e->var[n->loop.sym]);
    int base = e->base;
    const char *par = e->par;
    e->par = "c->par";
    e->base = e->depth;
    at_emit_open(e, n->loop.sym);
    at_sym old = at_range_enter(l, n);
    emit_list(e, n->child);
    at_range_leave(l, n, old);
    at_text inner = {0};
    at_emit_close(e, &inner);
    e->base = base;
    e->par = par;
    at_text_addf(&e->functions, "%s%s}\n\n", at_text_str(&decl), at_text_str(&inner));
    const char *most = at_format(l->arena, "%s - (%s)", at_text_str(&hi), at_text_str(&lo));
    if (is_cut(e, n)) most = at_format(l->arena, "par->turns < %s ? par->turns : %s", most, most);
    at_text_addf(at_emit_body(e), "%s%*spar->parallel_for(%s_body%d, %s, &context);\n",
                 at_text_str(&call), at_emit_indent(e), "", name, id, most);
    at_text_free(&lo);
    at_text_free(&hi);
    at_text_free(&inner);
    at_text_free(&decl);
    at_text_free(&call);
}

/* Behind the head of a loop or a branch. Long texts are copied, not printed. */
static void add_block(at_emitter *e, const at_text *inner) {
    at_text *out = at_emit_body(e);
    at_text_add(out, "{\n");
    at_text_addn(out, inner->data, inner->len);
    at_text_addf(out, "%*s}\n", at_emit_indent(e), "");
}

static void emit_loop(at_emitter *e, const at_ir *n) {
    at_low *l = e->l;
    if (n->loop.ann == AT_ANN_PARA) {
        emit_parallel(e, n);
        return;
    }
    at_sym old;
    if (at_loop_trips(n) == 1 &&
        at_loop_is_fixed(n)) { /* a peeled iteration: the variable is a constant */
        old = at_range_enter(l, n);
        emit_list(e, n->child);
        at_range_leave(l, n, old);
        return;
    }
    at_text lo = {0}, hi = {0}, inner = {0};
    emit_bounds(e, n, &lo, &hi);
    const char *v = e->var[n->loop.sym] = at_emit_variable(e, l->syms.data[n->loop.sym].name);
    const char *cut = is_cut(e, n) ? at_format(l->arena, " && %s->turns > 0", e->par) : "";
    bool counts = e->cut.num && n == e->cut.loop[e->cut.num - 1];
    const char *counted = counts ? at_format(l->arena, ", %s->turns--", e->par) : "";
    old = at_range_enter(l, n);
    at_emit_open(e, n->loop.sym);
    emit_list(e, n->child);
    at_emit_close(e, &inner);
    at_range_leave(l, n, old);
    at_text_addf(at_emit_body(e), "%*sfor (long %s = %s; %s < %s%s; %s++%s) ", at_emit_indent(e),
                 "", v, at_text_str(&lo), v, at_text_str(&hi), cut, v, counted);
    add_block(e, &inner);
    at_text_free(&lo);
    at_text_free(&hi);
    at_text_free(&inner);
}

static void emit_branch(at_emitter *e, const at_ir *list, const char *head) {
    at_text inner = {0};
    at_emit_open(e, -1);
    emit_list(e, list);
    at_emit_close(e, &inner);
    at_text_addf(at_emit_body(e), "%*s%s%s", at_emit_indent(e), "", head, *head ? " " : "");
    add_block(e, &inner);
    at_text_free(&inner);
}

static void emit_if(at_emitter *e, const at_ir *n) {
    at_text test = {0};
    at_emit_affine(e, &test, at_aff_concrete(e->l, n->test, 0));
    const char *head =
        at_format(e->l->arena, "if (%s %s 0)", at_text_str(&test), n->child ? ">=" : "<");
    at_text_free(&test);
    emit_branch(e, n->child ? n->child : n->other, head);
    if (n->child && n->other) emit_branch(e, n->other, "else");
}

/* Of a table: any other statement has become part of a tile. */
static void emit_entry(at_emitter *e, const at_ir *n) {
    if (!n->stmt.integer) AT_BUG("a statement outside a tile reached emission");
    at_text value = {0};
    at_emit_affine(e, &value, at_aff_concrete(e->l, n->stmt.integer, 0));
    at_text_addf(at_emit_body(e), "%*s*%s = (%s)(%s);\n", at_emit_indent(e), "",
                 at_emit_pointer(e, n->stmt.tensor, n->stmt.at),
                 at_type_of(e->l->tensors[n->stmt.tensor].type)->c, at_text_str(&value));
    at_text_free(&value);
}

/* Statements behind each other of which some make indices that others read: each in braces, as what
 * an index is made of is read as far outside as that may be. */
static bool makes_places(const at_emitter *e) {
    const at_compute *c = e->l->program->compute;
    bool any = false;
    for (int t = 0; t < c->num_tensors && !any && e->depth == 1; t++) any = c->tensors[t].is_places;
    return any && !e->packing;
}

static void emit_list(at_emitter *e, const at_ir *list) {
    const bool apart = makes_places(e);
    for (; list && e->l->err->status == AT_OK; list = list->next) {
        if (apart) {
            at_ir one = *list;
            one.next = NULL;
            emit_branch(e, &one, "");
            continue;
        }
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
        if ((n->kind == AT_IR_LOOP && n->loop.ann == AT_ANN_PARA) || has_parallel(n->child) ||
            has_parallel(n->other))
            return true;
    return false;
}

static bool fills_table(const at_ir *n) {
    while (n && n->kind == AT_IR_LOOP) n = n->child;
    return n && n->kind == AT_IR_STMT && n->stmt.integer;
}

/* Tables that the function fills for itself, which come first: their entries are read at the
 * shallowest place, and that is behind them. What is left. */
static const at_ir *emit_tables(at_emitter *e, const at_ir *list) {
    at_emit_block *f = &e->blocks[e->base];
    if (!fills_table(list)) return list;
    for (; list && fills_table(list); list = list->next) {
        at_ir one = *list;
        one.next = NULL;
        emit_list(e, &one);
    }
    at_text_add(&f->decl, at_text_str(&f->body));
    at_text_clear(&f->body);
    return list;
}

/* int NAME(void *const buf[], void *memory, at_par *par) */
static void emit_function(at_emitter *e, at_text *out, const char *name, const at_ir *list) {
    at_text code = {0};
    e->base = e->depth = 0;
    at_emit_open(e, -1);
    e->par = "par";
    if (has_parallel(list)) {
        at_text_addf(at_emit_body(e), "    struct %s_context context;\n", e->l->options->name);
        at_text_add(at_emit_body(e),
                    "    context.buf = buf;\n    context.workspace = workspace;\n");
        if (e->cut.num) at_text_add(at_emit_body(e), "    context.par = par;\n");
    }
    emit_list(e, emit_tables(e, list));
    at_emit_close(e, &code);
    at_text_add(out, at_text_str(&e->functions));
    at_text_clear(&e->functions);
    at_text_addf(out, "int %s(void *const buf[], void *memory, at_par *par) {\n", name);
    at_text_add(out, "    char *workspace = memory;\n    (void)buf, (void)workspace, (void)par;\n");
    at_text_add(out, at_text_str(&code));
    at_text_add(out, "    return 0;\n}\n");
    at_text_free(&code);
}

static const char par_type[] =
    "typedef struct at_par { /* who runs body(i, thread, context) for i = 0 .. n-1 */\n"
    "    void (*parallel_for)(void (*body)(long i, int thread, void *context), long n, void "
    "*context);\n"
    "    int threads;\n";
static const char par_turns[] =
    "    volatile long turns; /* of its outermost loops, at most; 0: no more */\n";
static const char par_end[] = "} at_par;\n\n";

/* The tiles as functions of this text, or, where they are machine code, their declarations. */
static void emit_tiles(at_low *l, at_text *out) {
    const char *prefix = at_format(l->arena, "%s_", l->options->name);
    bool plain =
        l->dialect == AT_DIALECT_C || (l->dialect == AT_DIALECT_GNU && !l->target->prelude);
    if (plain) at_tile_helpers_c(out, l->tiles.data, l->tiles.len, prefix);
    for (int i = 0; i < l->tiles.len; i++) {
        at_tile *t = l->tiles.data[i];
        if (l->dialect == AT_DIALECT_TCC) at_tile_declare(out, t, prefix);
        else if (l->dialect == AT_DIALECT_GNU) at_tile_print_gnu(out, t, prefix);
        else at_tile_print_c(out, t, prefix);
    }
}

/* Indices are integers, too, where floats do not hold them, and places that numbers bound. */
static bool works_in_integers(const at_low *l) {
    bool any = l->program->compute->has_integers;
    for (int i = 0; i < l->tiles.len; i++)
        for (int j = 0; j < l->tiles.data[i]->num_ops; j++) {
            const at_tile_kind kind = l->tiles.data[i]->ops[j].kind;
            any |= kind == AT_T_TO_INT || kind == AT_T_INT_MUL || kind == AT_T_INT_MIN ||
                   kind == AT_T_INT_MAX;
        }
    return any;
}

static void common(at_text *out, const at_target *t, at_dialect d, bool integers, bool halves,
                   bool has_turns) {
    at_text_addf(out, "%s%s%s", par_type, has_turns ? par_turns : "", par_end);
    if (d != AT_DIALECT_GNU) return;
    if (t->prelude) t->prelude(t, out);
    if (t->integers && integers) t->integers(t, out);
    if (t->halves && halves) t->halves(t, out);
}

void at_kernel_common(at_text *out, const at_target *t, at_dialect d, bool integers, bool halves) {
    common(out, t, d, integers, halves, false);
}

bool at_pass_emit(at_low *l) {
    at_emitter *e = AT_NEW(l->arena, at_emitter);
    at_text out = {0};
    e->l = l;
    at_turns cut = {0};
    if (l->options->can_stop) cut = at_turns_of(l, l->root);
    l->turns = cut.num ? cut.total : 0;
    l->has_integers = works_in_integers(l);
    l->has_halves = l->program->compute->has_halves;
    common(&out, l->target, l->dialect, l->has_integers, l->has_halves, cut.num > 0);
    l->common_bytes = out.len;
    emit_tiles(l, &out);
    if (has_parallel(l->root) || has_parallel(l->pack_root))
        at_text_addf(&out,
                     "struct %s_context {\n    void *const *buf;\n    char *workspace;\n%s    long "
                     "v[32];\n};\n\n",
                     l->options->name, cut.num ? "    at_par *par;\n" : "");
    l->entry = at_format(l->arena, "%s_entry", l->options->name);
    if (l->pack_root) {
        l->pack = at_format(l->arena, "%s_pack_entry", l->options->name);
        e->packing = true;
        emit_function(e, &out, l->pack, l->pack_root);
        at_text_add(&out, "\n");
        e->packing = false;
    }
    e->cut = cut;
    emit_function(e, &out, l->entry, l->root);
    l->source = at_strndup(l->arena, at_text_str(&out), out.len);
    at_text_free(&out);
    at_text_free(&e->functions);
    return l->err->status == AT_OK;
}
