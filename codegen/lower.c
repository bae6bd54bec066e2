/* codegen/lower.c: the pass list. */
#include "codegen/codegen_int.h"
#include "codegen/tile/tile_text.h"
#include "codegen/lowered.h"
#include "codegen/tile/tile_memo.h"

#include <string.h>

static const struct {
    const char *name;
    bool (*run)(at_low *l);
} passes[] = {
    {"dissolve", at_pass_dissolve},   {"digits", at_pass_digits}, {"buffers", at_pass_buffers},
    {"partition", at_pass_partition}, {"tables", at_pass_tables}, {"tiles", at_pass_tiles},
    {"emit", at_pass_emit},
};
#define NUM_PASSES (sizeof passes / sizeof passes[0])

/* "tile" is the tile programs that `tiles` made, "code" their machine code. */
const char *const at_pass_names[] = {"dissolve", "digits", "buffers", "partition", "tables",
                                     "tiles",    "tile",   "emit",    "code",      NULL};

static const char *const dialects[] = {"c", "gnu", "tcc"};
_Static_assert(sizeof dialects / sizeof dialects[0] == AT_DIALECT_COUNT, "one name per dialect");

const char *at_dialect_name(at_dialect d) { return dialects[d]; }

static void dump(at_low *l, const char *pass) {
    const at_lower_options *o = l->options;
    if (!o->dump || !o->dump_out) return;
    if (!strcmp(o->dump, "tile") && !strcmp(pass, "tiles")) {
        for (int i = 0; i < l->tiles.len; i++) at_tile_print(o->dump_out, l->tiles.data[i]);
        return;
    }
    if (strcmp(o->dump, pass)) return;
    if (!strcmp(pass, "emit")) {
        at_text_add(o->dump_out, l->source);
        return;
    }
    if (l->pack_root) {
        at_text_add(o->dump_out, "pack:\n");
        at_ir_print(l, o->dump_out, l->pack_root, 1);
        at_text_add(o->dump_out, "kernel:\n");
    }
    at_ir_print(l, o->dump_out, l->root, l->pack_root ? 1 : 0);
}

/* An instruction a line, up to the return: behind it lie constants. */
static void print_tile_code(at_text *out, const at_kernel *k, const at_tile_code *t) {
    char line[128] = "";
    at_text_addf(out, "%s:\n", t->symbol);
    for (int at = 0, n; at < t->size_bytes && strcmp(line, "ret") != 0; at += n) {
        n = k->target->architecture->disassemble(t->bytes + at, t->size_bytes - at, line,
                                                 sizeof line);
        if (!n) AT_BUG("%s+%d is no instruction", t->symbol, at);
        at_text_addf(out, "%6x  %s\n", (unsigned)at, line);
    }
}

static void dump_code(const at_lower_options *o, const at_kernel *k) {
    if (!o->dump || !o->dump_out || strcmp(o->dump, "code") != 0) return;
    for (int i = 0; i < k->num_tiles; i++) print_tile_code(o->dump_out, k, &k->tiles[i]);
    if (k->dialect != AT_DIALECT_TCC)
        at_text_add(o->dump_out, "The tiles are C, which a compiler makes code of.\n");
}

static void verify_tiles(at_low *l) {
    for (int i = 0; i < l->tiles.len; i++) {
        const char *fault = at_tile_verify(l->tiles.data[i], l->arena);
        if (fault) AT_BUG("%s", fault);
    }
}

/* An offset or bump that no instruction holds: the tensors are too large for tiles. Anything else
 * that cannot be encoded is our own bug. */
static bool out_of_reach(const at_tile *t) {
    for (int i = 0; i < t->num_ops; i++) {
        int64_t off = t->ops[i].off * 4, bump = t->ops[i].bump * 4;
        int64_t last = off + t->ops[i].fours * t->ops[i].lanes; /* its last four lanes */
        bool multiplied = t->ops[i].kind == AT_T_INDEX;
        if (off != (int32_t)off || last != (int32_t)last || (multiplied && bump != (int32_t)bump))
            return true;
    }
    return false;
}

/* Machine code of every tile, for dialect tcc. */
static bool encode_tiles(at_low *l, at_kernel *k) {
    at_tile_code *codes = AT_NEW_ARRAY(l->arena, at_tile_code, l->tiles.len);
    for (int i = 0; i < l->tiles.len; i++) {
        at_tile *t = l->tiles.data[i];
        if (!at_tile_encode(l->arena, t)) {
            if (!out_of_reach(t)) AT_BUG("tile %s cannot be encoded", t->name);
            at_lower_fail(l, "tile %s reaches further than 2 GB from a pointer", t->name);
            return false;
        }
        const char *symbol = at_format(l->arena, "%s_%s", l->options->name, t->name);
        codes[i] = (at_tile_code){symbol, t->code, t->code_bytes};
    }
    k->tiles = codes;
    k->num_tiles = l->tiles.len;
    return true;
}

/* The text without comments and blanks at line ends: what makes two candidates the same code. */
static void hash_code(const at_low *l, at_kernel *k) {
    at_hash h;
    at_hash_init(&h);
    const char *s = l->source, *from = s;
    while (*s) {
        if (s[0] != '/' || s[1] != '*') {
            s++;
            continue;
        }
        at_hash_add(&h, from, (size_t)(s - from));
        s = strstr(s, "*/") + 2;
        from = s;
    }
    at_hash_add(&h, from, (size_t)(s - from));
    for (int i = 0; i < k->num_tiles; i++) {
        at_hash_add_str(&h, k->tiles[i].symbol);
        at_hash_add(&h, k->tiles[i].bytes, (size_t)k->tiles[i].size_bytes);
    }
    for (int i = 0; i < k->num_params; i++) {
        at_hash_add(&h, &k->params[i].role, sizeof k->params[i].role);
        at_hash_add(&h, &k->params[i].elements, sizeof k->params[i].elements);
        if (at_type_bytes(k->params[i].type) != 4) at_hash_add_number(&h, k->params[i].type);
    }
    at_hash_add(&h, &k->workspace_bytes, sizeof k->workspace_bytes);
    at_hash_add(&h, &k->workspace_per_thread_bytes, sizeof k->workspace_per_thread_bytes);
    at_hash_hex(&h, k->code_hash);
}

at_status at_lower_until(at_arena *a, const at_program *p, const at_lower_options *o,
                         const char *last, at_low **out, at_error *err) {
    const at_low new = {
        .arena = a, .program = p, .options = o, .dialect = o->dialect, .err = AT_NEW(a, at_error)};
    at_low *l = at_copy(a, &new, sizeof new);
    while (l->syms.len < AT_MAX_LOOPS) *at_push(a, &l->syms) = (at_sym){.kind = AT_SYM_LOOP};
    l->target = o->target ? o->target : at_target_at(0);
    if (o->dialect == AT_DIALECT_C) l->target = at_target_plainest(l->target);
    if (o->dialect == AT_DIALECT_TCC && !l->target->encode)
        return at_fail(err, AT_E_INPUT,
                       "tiles for %s have no machine code; dialects gnu and c do without",
                       l->target->name);
    if (o->dialect != AT_DIALECT_C && p->compute->has_halves && !l->target->has_halves)
        return at_fail(err, AT_E_INPUT,
                       "tiles for %s know no floats of 16 bits so far; dialect c does",
                       l->target->name);
    at_low_list_tensors(l);
    for (size_t i = 0; i < NUM_PASSES; i++) {
        if (o->without_pack && !strcmp(passes[i].name, "tiles")) l->pack_root = NULL;
        if (!passes[i].run(l) || !at_lower_goes_on(l))
            return at_fail_lines(err, l->err->status, "%s: %s", passes[i].name, l->err->text);
        if (o->verify && !strcmp(passes[i].name, "tiles")) verify_tiles(l);
        dump(l, passes[i].name);
        if (last && !strcmp(passes[i].name, last)) break;
    }
    *out = l;
    return AT_OK;
}

static const at_lowered *lowered(at_low *l) {
    at_lowered *view = AT_NEW(l->arena, at_lowered);
    *view = (at_lowered){.low = l,
                         .syms = l->syms.data,
                         .root = l->root,
                         .tiles = l->tiles.data,
                         .num_tiles = l->tiles.len,
                         .dialect = l->dialect};
    return view;
}

at_status at_lower_tiles(at_arena *a, const at_program *p, const at_lower_options *o,
                         const at_lowered **out, at_error *err) {
    at_low *l;
    AT_TRY(at_lower_until(a, p, o, "tiles", &l, err));
    *out = lowered(l);
    return AT_OK;
}

static bool has_scatter(const at_node *n) {
    bool any = false;
    for (; n && !any; n = n->next) any = n->is_leaf ? n->is_scatter : has_scatter(n->child);
    return any;
}

at_status at_lower(at_arena *a, const at_program *p, const at_lower_options *o, at_kernel **out,
                   at_error *err) {
    at_low *l;
    AT_TRY(at_lower_until(a, p, o, NULL, &l, err));
    if (l->dialect == AT_DIALECT_TCC && !l->target->scatters && has_scatter(p->root))
        return at_fail(err, AT_E_INPUT,
                       "tiles for %s have no machine code of a scatter; dialects gnu and c do",
                       l->target->name);
    at_kernel *k = AT_NEW(a, at_kernel);
    k->source = l->source;
    k->common_bytes = l->common_bytes;
    k->has_integers = l->has_integers;
    k->has_halves = l->has_halves;
    k->dialect = l->dialect;
    k->target = l->target;
    k->entry = l->entry;
    k->pack = l->pack;
    k->params = l->params;
    k->num_params = l->num_params;
    k->turns = l->turns;
    k->workspace_bytes = l->workspace_bytes;
    k->workspace_per_thread_bytes = l->thread_bytes;
    k->lowered = lowered(l);
    k->notes = l->notes.data;
    k->num_notes = l->notes.len;
    if (l->dialect == AT_DIALECT_TCC && !encode_tiles(l, k))
        return at_fail_lines(err, l->err->status, "encode: %s", l->err->text);
    dump_code(o, k);
    hash_code(l, k);
    *out = k;
    return AT_OK;
}
