#include "tests/run/tile_mutant.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/lowered.h"
#include "codegen/tile/tile_text.h"

/* ---- operations of tiles --------------------------------------------------------------------- */

static bool has_memory(const at_tile_op *op) {
    return op->kind == AT_T_LOAD || op->kind == AT_T_BCAST || op->kind == AT_T_STORE ||
           op->kind == AT_T_GATHER || op->mem == AT_MEM_VECTOR || op->mem == AT_MEM_BCAST;
}

static const char *leave_out(at_tile_op *op, const char *what) {
    const int16_t dst = op->kind == AT_T_STORE ? op->a : op->dst;
    *op = (at_tile_op){
        .kind = AT_T_MOV, .dst = dst, .a = dst, .b = -1, .slot = -1, .base = -1, .trip_arg = -1};
    return what;
}

static const char *neighbour(at_tile_op *op, at_rng *rng) {
    if (!has_memory(op)) return NULL;
    op->off += at_rng_below(rng, 2) ? 1 : -1;
    return "a neighbour's element";
}

/* Lanes that are not moved, and turns that are not made. */
static const char *lost_part(at_tile *t, at_tile_op *op) {
    if ((op->kind == AT_T_STORE || op->kind == AT_T_LOAD || op->kind == AT_T_FIRST) &&
        op->lanes > 1 && op->lanes <= t->lanes) {
        op->lanes--;
        return "a lost part of a vector";
    }
    if (op->kind == AT_T_LOOP && op->trip_arg < 0 && op->trip > 1) {
        op->trip--;
        return "a lost turn of a loop";
    }
    return NULL;
}

static const char *without(at_tile_op *op) {
    if (op->kind == AT_T_STORE) return leave_out(op, "a store that is not made");
    if (op->kind == AT_T_CONST) return leave_out(op, "a missing initialisation");
    const bool may_join = op->kind == AT_T_ADD || op->kind == AT_T_MAX || op->kind == AT_T_MIN ||
                          op->kind == AT_T_INT_ADD || op->kind == AT_T_INT_SUB;
    const bool joins = op->kind == AT_T_FMA || op->kind == AT_T_FNMA || op->kind == AT_T_DOT ||
                       (may_join && (op->dst == op->a || op->dst == op->b));
    return joins ? leave_out(op, "a term that is not taken in") : NULL;
}

static const char *swapped(at_tile_op *op) {
    const int16_t a = op->a;
    const bool counts = op->kind == AT_T_SUB || op->kind == AT_T_DIV || op->kind == AT_T_LESS ||
                        op->kind == AT_T_AT_MOST || op->kind == AT_T_INT_SUB ||
                        (op->kind >= AT_T_ZIP_LOW && op->kind <= AT_T_ZIP_HIGH8);
    if (!counts || op->mem != AT_MEM_NONE || op->a == op->b) return NULL;
    op->a = op->b;
    op->b = a;
    return "swapped operands";
}

static const char *other_operation(at_tile_op *op) {
    static const uint8_t others[AT_T_KIND_COUNT] = {
        [AT_T_ADD] = AT_T_SUB,         [AT_T_SUB] = AT_T_ADD,         [AT_T_MAX] = AT_T_MIN,
        [AT_T_MIN] = AT_T_MAX,         [AT_T_FMA] = AT_T_FNMA,        [AT_T_FNMA] = AT_T_FMA,
        [AT_T_MUL] = AT_T_ADD,         [AT_T_LESS] = AT_T_AT_MOST,    [AT_T_AT_MOST] = AT_T_LESS,
        [AT_T_INT_ADD] = AT_T_INT_SUB, [AT_T_INT_SUB] = AT_T_INT_ADD, [AT_T_INT_MAX] = AT_T_INT_MIN,
        [AT_T_INT_MIN] = AT_T_INT_MAX};
    if (op->kind == AT_T_SHIFT_RIGHT && op->by == 4) { /* the other half of a byte */
        op->by = 8;
        return "another shift";
    }
    if (!others[op->kind]) return NULL;
    op->kind = others[op->kind];
    return "another operation";
}

static const char *other_register(const at_tile *t, at_tile_op *op, at_rng *rng) {
    if (op->kind < AT_T_FMA || op->kind > AT_T_MAX || op->mem != AT_MEM_NONE || t->num_regs < 2)
        return NULL;
    const int16_t b = (int16_t)at_rng_below(rng, (uint64_t)t->num_regs);
    if (b == op->b) return NULL;
    op->b = b;
    return "another register";
}

static const char *moved(at_tile_op *op, at_rng *rng) {
    if (op->kind != AT_T_BUMP || !op->bump) return NULL;
    op->bump += at_rng_below(rng, 2) ? 1 : -1;
    return "a pointer that moves too far or not enough";
}

static const char *change(at_tile *t, at_tile_op *op, at_rng *rng) {
    switch (at_rng_below(rng, 7)) {
    case 0: return neighbour(op, rng);
    case 1: return lost_part(t, op);
    case 2: return without(op);
    case 3: return swapped(op);
    case 4: return other_operation(op);
    case 5: return other_register(t, op, rng);
    default: return moved(op, rng);
    }
}

/* The line of that number, from 0. */
static const char *line_of(at_arena *a, const char *text, int number) {
    for (int i = 0; i < number && *text; i++) text += strcspn(text, "\n") + (*text != 0);
    return at_strndup(a, text, strcspn(text, "\n"));
}

static bool mutate_tile(at_arena *a, const at_kernel *k, at_rng *rng, tile_mutant *out) {
    const int which = (int)at_rng_below(rng, (uint64_t)k->num_tiles);
    at_tile t = *k->lowered->tiles[which];
    t.ops = at_copy(a, t.ops, sizeof *t.ops * (size_t)t.num_ops);
    const int i = (int)at_rng_below(rng, (uint64_t)t.num_ops);
    out->what = change(&t, &t.ops[i], rng);
    if (!out->what || !k->target->encode(a, &t)) return false;
    at_tile_code *codes = at_copy(a, k->tiles, sizeof *codes * (size_t)k->num_tiles);
    codes[which].bytes = t.code;
    codes[which].size_bytes = t.code_bytes;
    at_text text = {0}, before = {0};
    at_tile_print(&before, k->lowered->tiles[which]);
    at_tile_print(&text, &t);
    out->where =
        at_format(a, "operation %d,%s ->%s, of\n%s", i, line_of(a, at_text_str(&before), i + 1),
                  line_of(a, at_text_str(&text), i + 1), at_text_str(&text));
    at_text_free(&before);
    at_text_free(&text);
    out->source = k->source;
    out->codes = codes;
    return true;
}

/* ---- statements ------------------------------------------------------------------------------ */

typedef struct line {
    const char *text;
    int len;
} line;

static bool has(const line *x, const char *part) {
    return memmem(x->text, (size_t)x->len, part, strlen(part)) != NULL;
}

/* Of functions of the kernel: calls of tiles, loops, counts and addresses; not how it finds its
 * buffers and memory of its own. */
static bool is_statement(const line *x) {
    static const char *const others[] = {"(void)", "buf[",   "context", "thread", "return",
                                         "memory", "static", "typedef", "struct", "workspace"};
    if (x->len < 6 || strncmp(x->text, "    ", 4) != 0 || has(x, "/*")) return false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (has(x, others[i])) return false;
    return true;
}

static line draw_line(at_arena *a, const char *source, at_rng *rng) {
    AT_VEC(line) all = {0};
    for (const char *at = source; *at;) {
        const line x = {at, (int)strcspn(at, "\n")};
        if (is_statement(&x)) *at_push(a, &all) = x;
        at += x.len + (at[x.len] == '\n');
    }
    return all.len ? all.data[at_rng_below(rng, (uint64_t)all.len)] : (line){0};
}

static const char *with_line(at_arena *a, const char *source, const line *x, const char *text) {
    return at_format(a, "%.*s%s%s", (int)(x->text - source), source, text, x->text + x->len);
}

/* One of its numbers is one more or less. */
static const char *other_number(at_arena *a, const line *x, at_rng *rng) {
    AT_VEC(int) at = {0};
    for (int i = 1; i < x->len; i++)
        if (isdigit((unsigned char)x->text[i]) && strchr(" (", x->text[i - 1]))
            *at_push(a, &at) = i;
    if (!at.len) return NULL;
    const int i = at.data[at_rng_below(rng, (uint64_t)at.len)];
    char *end;
    const long long number = strtoll(x->text + i, &end, 10),
                    other = number + (at_rng_below(rng, 2) || !number ? 1 : -1);
    if (isalnum((unsigned char)*end) && *end != 'L') return NULL;
    return at_format(a, "%.*s%lld%.*s", i, x->text, other, (int)(x->text + x->len - end), end);
}

static bool mutate_text(at_arena *a, const at_kernel *k, at_rng *rng, tile_mutant *out) {
    const line x = draw_line(a, k->source, rng);
    if (!x.len) return false;
    const bool calls = has(&x, ");") && !has(&x, "=");
    const char *text = calls && at_rng_below(rng, 2) ? "    ;" : other_number(a, &x, rng);
    if (!text) return false;
    out->what = text[4] == ';' ? "a call that is not made" : "another number";
    out->where = at_format(a, "%.*s -> %s", x.len, x.text, text);
    out->source = with_line(a, k->source, &x, text);
    out->codes = k->tiles;
    return true;
}

bool tile_mutate(at_arena *a, const at_kernel *k, at_rng *rng, tile_mutant *out) {
    return k->num_tiles && at_rng_below(rng, 4) ? mutate_tile(a, k, rng, out)
                                                : mutate_text(a, k, rng, out);
}
