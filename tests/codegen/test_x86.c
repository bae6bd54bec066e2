/* Machine code of tiles: run between guard pages against the interpreter of tile programs, and read
 * back by another project's disassembler. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codegen/tile.h"

#define CALL(call)                                                                                 \
    do {                                                                                           \
        at_error err = {.status = AT_OK};                                                          \
        if ((call) != AT_OK) fail_msg("%s", err.text);                                             \
    } while (0)

enum { PAGE = 4096, PATTERN = 255, MAX_ARGS = AT_TILE_MAX_SLOTS + AT_TILE_MAX_TRIPS };

/* ---- calling --------------------------------------------------------------------------------- */

/* Calls code with 18 arguments and known values in the registers a function must keep; what it left
 * there goes to kept[]. In assembly since only there are those registers ours to fill. */
void test_x86_call(const void *code, const long args[MAX_ARGS], long kept[6]);
__asm__(".pushsection .text\n"
        ".type test_x86_call, @function\n"
        "test_x86_call:\n"
        "    push %rbx\n"
        "    push %rbp\n"
        "    push %r12\n"
        "    push %r13\n"
        "    push %r14\n"
        "    push %r15\n"
        "    push %rdx\n"
        "    mov %rdi, %rax\n"
        "    mov %rsi, %r10\n"
        "    mov $17, %ecx\n"
        "1:  push (%r10,%rcx,8)\n"
        "    dec %ecx\n"
        "    cmp $5, %ecx\n"
        "    jne 1b\n"
        "    mov (%r10), %rdi\n"
        "    mov 8(%r10), %rsi\n"
        "    mov 16(%r10), %rdx\n"
        "    mov 24(%r10), %rcx\n"
        "    mov 32(%r10), %r8\n"
        "    mov 40(%r10), %r9\n"
        "    mov $101, %rbx\n"
        "    mov $102, %rbp\n"
        "    mov $103, %r12\n"
        "    mov $104, %r13\n"
        "    mov $105, %r14\n"
        "    mov $106, %r15\n"
        "    call *%rax\n"
        "    add $96, %rsp\n"
        "    pop %rdx\n"
        "    mov %rbx, (%rdx)\n"
        "    mov %rbp, 8(%rdx)\n"
        "    mov %r12, 16(%rdx)\n"
        "    mov %r13, 24(%rdx)\n"
        "    mov %r14, 32(%rdx)\n"
        "    mov %r15, 40(%rdx)\n"
        "    pop %r15\n"
        "    pop %r14\n"
        "    pop %r13\n"
        "    pop %r12\n"
        "    pop %rbp\n"
        "    pop %rbx\n"
        "    ret\n"
        ".size test_x86_call, . - test_x86_call\n"
        ".popsection\n");
_Static_assert(MAX_ARGS == 18, "test_x86_call passes 18");

static bool cpu_has(at_isa isa) {
    switch (isa) {
    case AT_ISA_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
    case AT_ISA_AVX2: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    default: return true;
    }
}

static void skip_without(at_isa isa) {
    if (cpu_has(isa)) return;
    print_message("this CPU has no %s\n", at_isa_name(isa));
    skip();
}

/* ---- operands -------------------------------------------------------------------------------- */

typedef struct {
    int64_t lo, hi; /* elements from the pointer at entry, hi exclusive; hi <= lo: none */
} extent;

/* What index lists hold, by the position from the pointer at entry. */
static int32_t list_entry(int64_t at) { return (int32_t)((at % 7 + 7) % 7 * 3); }

static int64_t digit_of(const at_tile_op *op, int64_t entry) {
    return (op->times * entry + op->plus) / op->by;
}

static void reach(extent *e, int64_t from, int64_t n) {
    if (from < e->lo) e->lo = from;
    if (from + n > e->hi) e->hi = from + n;
}

/* What each slot's pointer reaches, so that the guard pages can stand right beside it. */
static void find_extents(const at_tile *t, const long *trips, extent *of) {
    struct {
        int body;
        int64_t left;
    } nest[32];
    int64_t at[AT_TILE_MAX_SLOTS] = {0};
    int depth = 0, operand[AT_TILE_MAX_SLOTS]; /* a pointer made inside is into that of its base */
    for (int s = 0; s < AT_TILE_MAX_SLOTS; s++) operand[s] = s;
    for (int s = 0; s < t->num_slots; s++) of[s] = (extent){INT64_MAX, INT64_MIN};
    for (int i = 0; i < t->num_ops; i++) {
        const at_tile_op *op = &t->ops[i];
        int64_t n = op->trip_arg >= 0 ? trips[op->trip_arg] : op->trip;
        int64_t lanes = op->kind == AT_T_BCAST || op->mem == AT_MEM_BCAST ? 1 : op->lanes;
        if (op->kind == AT_T_LOOP && n > 0) {
            nest[depth].body = i;
            nest[depth++].left = n;
        } else if (op->kind == AT_T_LOOP) {
            for (int open = 1; open;) {
                i++;
                open += (t->ops[i].kind == AT_T_LOOP) - (t->ops[i].kind == AT_T_END);
            }
        } else if (op->kind == AT_T_END) {
            if (--nest[depth - 1].left > 0) i = nest[depth - 1].body;
            else depth--;
        } else if (op->kind == AT_T_BUMP) {
            at[op->slot] += op->bump * (op->trip_arg >= 0 ? trips[op->trip_arg] : 1);
        } else if (op->kind == AT_T_INDEX) {
            reach(&of[op->slot], at[op->slot] + op->off, 1);
            at[op->dst] =
                at[op->base] + digit_of(op, list_entry(at[op->slot] + op->off)) * op->bump;
            operand[op->dst] = operand[op->base];
        } else if (op->kind == AT_T_LOAD || op->kind == AT_T_STORE || op->kind == AT_T_BCAST ||
                   op->mem) {
            reach(&of[operand[op->slot]], at[op->slot] + op->off, lanes);
        }
    }
}

/* Where operands lie between the pages that fault. */
typedef enum { AT_UPPER_END, AT_LOWER_END, ODD_ADDRESS, NUM_WHERE } where;

typedef struct {
    char *map;
    size_t inner; /* bytes between the guard pages */
    float *data;  /* of element lo */
} operand;

static operand operand_open(const extent *e, where w) {
    size_t bytes = e->hi > e->lo ? (size_t)(e->hi - e->lo) * 4 : 0;
    operand o = {.inner = (bytes + 4 + PAGE - 1) / PAGE * PAGE};
    o.map = mmap(NULL, o.inner + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(o.map != MAP_FAILED);
    assert_int_equal(mprotect(o.map + PAGE, o.inner, PROT_READ | PROT_WRITE), 0);
    memset(o.map + PAGE, PATTERN, o.inner);
    o.data = (float *)(o.map + PAGE +
                       (w == AT_UPPER_END   ? o.inner - bytes
                        : w == AT_LOWER_END ? 0
                                            : 4)); /* aligned to an element and nothing more */
    return o;
}

static void operand_close(const operand *o) { munmap(o->map, o->inner + 2 * PAGE); }

static const void *executable(const at_tile *t, size_t *map_bytes) {
    *map_bytes = ((size_t)t->code_bytes + PAGE - 1) / PAGE * PAGE;
    void *p = mmap(NULL, *map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    memcpy(p, t->code, (size_t)t->code_bytes);
    assert_int_equal(mprotect(p, *map_bytes, PROT_READ | PROT_EXEC), 0);
    return p;
}

/* One call on each of two equal memories; they must stay equal, what lies beside the operands too.
 */
static void compare_call(const at_tile *t, const void *code, const long *trips, where w,
                         const char *what) {
    extent of[AT_TILE_MAX_SLOTS];
    operand mine[AT_TILE_MAX_SLOTS], theirs[AT_TILE_MAX_SLOTS];
    float *slots[AT_TILE_MAX_SLOTS];
    long args[MAX_ARGS] = {0}, kept[6];
    find_extents(t, trips, of);
    for (int s = 0; s < t->num_slots; s++) {
        mine[s] = operand_open(&of[s], w);
        theirs[s] = operand_open(&of[s], w);
        bool any = of[s].hi > of[s].lo;
        /* small integers: sums of products are exact, with one rounding or two */
        for (int64_t i = 0; any && i < of[s].hi - of[s].lo; i++) {
            float number = (float)((i * 7 + s * 3) % 11 - 5);
            int32_t entry = list_entry(of[s].lo + i);
            if (t->slot_is_list[s]) memcpy(&number, &entry, sizeof number);
            memcpy(&mine[s].data[i], &number, sizeof number);
            memcpy(&theirs[s].data[i], &number, sizeof number);
        }
        slots[s] = theirs[s].data - (any ? of[s].lo : 0);
        args[s] = (long)(mine[s].data - (any ? of[s].lo : 0));
    }
    for (int i = 0; i < t->num_trips; i++) args[t->num_slots + i] = trips[i];
    at_tile_interpret(t, slots, trips);
    test_x86_call(code, args, kept);
    for (int i = 0; i < 6; i++)
        if (kept[i] != 101 + i) fail_msg("%s: register %d is not kept", what, i);
    for (int s = 0; s < t->num_slots; s++) {
        const char *x = mine[s].map + PAGE, *y = theirs[s].map + PAGE;
        for (size_t i = 0; i < mine[s].inner; i++)
            if (x[i] != y[i])
                fail_msg("%s: slot %d differs at element %lld", what, s,
                         (long long)((const float *)(x + i / 4 * 4) - mine[s].data));
        operand_close(&mine[s]);
        operand_close(&theirs[s]);
    }
}

static void compare_tile(at_arena *a, at_tile *t, at_isa isa, const char *name) {
    /* none, one, many; and all different */
    static const long trips[][AT_TILE_MAX_TRIPS] = {{0, 0, 0, 0, 0, 0},
                                                    {1, 1, 1, 1, 1, 1},
                                                    {5, 5, 5, 5, 5, 5},
                                                    {2, 0, 3, 1, 4, 2},
                                                    {0, 3, 1, 2, 0, 5}};
    const char *fault = at_tile_verify(t, at_tile_isa_facts(isa), a);
    if (fault) fail_msg("%s: %s", name, fault);
    if (!at_tile_encode(a, t, isa)) fail_msg("%s, %s: not encoded", name, t->name);
    size_t map_bytes;
    const void *code = executable(t, &map_bytes);
    int num_trips = t->num_trips ? (int)(sizeof trips / sizeof *trips) : 1;
    for (int i = 0; i < num_trips * NUM_WHERE; i++)
        compare_call(t, code, trips[i / NUM_WHERE], i % NUM_WHERE,
                     at_format(a, "%s, %s for %s, trips %d, place %d", name, t->name,
                               at_isa_name(isa), i / NUM_WHERE, i % NUM_WHERE));
    munmap((void *)(uintptr_t)code, map_bytes);
}

/* ---- tiles of programs ----------------------------------------------------------------------- */

typedef struct program {
    const char *name, *sizes, *compute, *tree;
} program;

#define CONV_COMPUTE                                                                               \
    "data[N, H, W, CI] : input\n"                                                                  \
    "weight[X, K]      : weight\n"                                                                 \
    "im2col[y:Y, k:K]  = inside ? data[n, ih, iw, c] : 0\n"                                        \
    "    where {n, h:H, w:W} = y, {kh:3, kw:3, c:CI} = k,\n"                                       \
    "          ih = h + kh - 1, iw = w + kw - 1,\n"                                                \
    "          inside = 0 <= ih && ih < H && 0 <= iw && iw < W\n"                                  \
    "packw[p:(X + B - 1)/B, k:K, b:B] = x < X ? weight[x, k] : 0\n"                                \
    "    where x = p*B + b\n"                                                                      \
    "acc[y:Y, x:X]     = sum(k:K) im2col[y, k] * packw[x/B, k, x%B]\n"
#define PLAIN "out[y:Y, x:X] = acc[y, x]\n"
#define CONV_TREE                                                                                  \
    "p, b, k =>\n"                                                                                 \
    "    @packw = p, k, b\n"                                                                       \
    "yt, xt, yo =>\n"                                                                              \
    "    yi, k9, ci:vec =>\n"                                                                      \
    "        @im2col = {yt, yo, yi}/y, {k9, ci}/k\n"                                               \
    "    xo =>\n"                                                                                  \
    "        ko, ki:unroll, yi:unroll, xi:vec =>\n"                                                \
    "            @acc = {yt, yo, yi}/y, {xt, xo, xi}/x  // {ko, ki}/k\n"                           \
    "        yi:unroll, xi:vec =>\n"                                                               \
    "            @out = {yt, yo, yi}/y, {xt, xo, xi}/x\n"
#define CONV_SIZES(co, xo, xi)                                                                     \
    "N=1 H=5 W=7 CI=3 Y=35 K=27 k9=9 ci=3 yt=1 yo=5 yi=7 ko=9 ki=3 xt=1 X=" #co " xo=" #xo         \
    " xi=" #xi " B=" #xi

#define SPARSE_COMPUTE                                                                             \
    "data[Y, K]        : input\n"                                                                  \
    "blocks[nnz, R, C] : weight\n"                                                                 \
    "indices[nnz]      : index\n"                                                                  \
    "indptr[J + 1]     : index\n"                                                                  \
    "cc[y:Y, j:J, r:R, c:C] = sum(e : indptr[j] .. indptr[j+1])\n"                                 \
    "    data[y, indices[e]*C + c] * blocks[e, r, c]\n"                                            \
    "out[y:Y, x:X] = sum(c:C) cc[y, x/R, x%R, c]\n"

static const program programs[] = {
    {"conv3", CONV_SIZES(3, 1, 3), CONV_COMPUTE PLAIN, CONV_TREE},
    {"conv6", CONV_SIZES(6, 1, 6), CONV_COMPUTE PLAIN, CONV_TREE},
    {"conv17", CONV_SIZES(17, 1, 17), CONV_COMPUTE PLAIN, CONV_TREE},
    {"conv31", CONV_SIZES(31, 1, 31), CONV_COMPUTE PLAIN, CONV_TREE},
    {"conv31_by_13", CONV_SIZES(31, 3, 13), CONV_COMPUTE PLAIN, CONV_TREE},
    {"matmul", "Y=11 X=29 K=13 yo=3 yi=4 xo=2 xi=16 ko=4 ki=4",
     "a[Y, K] : input\n"
     "b[K, X] : weight\n"
     "bias[X] : input\n"
     "c[y:Y, x:X] = sum(k:K) a[y, k] * b[k, x]\n"
     "d[y:Y, x:X] = min(max(c[y, x]*0.5 + bias[x], 0 - 3), a[y, 0]) / 2.0\n",
     "yo, xo =>\n"
     "    ko, ki:unroll, yi:unroll, xi:vec =>\n"
     "        @c = {yo, yi}/y, {xo, xi}/x // {ko, ki}/k\n"
     "    yi:unroll, xi:vec =>\n"
     "        @d = {yo, yi}/y, {xo, xi}/x\n"},
    /* sums over as many blocks as a list has */
    {"sparse", "Y=35 X=48 K=27 R=16 C=1 J=3 nnz=31 yo=5 yi=7 r=16 c=1", SPARSE_COMPUTE,
     "yo, j =>\n"
     "    e:dyn(j), yi:unroll, r:vec, c:unroll =>\n"
     "        @cc = {yo, yi}/y, j, r, c // e\n"
     "    yi:unroll, r:vec, c:unroll =>\n"
     "        @out = {yo, yi}/y, {j, r}/x // c\n"},
    {"sparse_5x3", "Y=12 X=20 K=27 R=5 C=3 J=4 nnz=17 yo=3 yi=4 r=5 c=3", SPARSE_COMPUTE,
     "j, yo =>\n"
     "    e:dyn(j), yi, r:vec, c:unroll =>\n"
     "        @cc = {yo, yi}/y, j, r, c // e\n"
     "    yi, r:vec, c:unroll =>\n"
     "        @out = {yo, yi}/y, {j, r}/x // c\n"},
    /* rows to columns, and what no square of four covers; either loop inside */
    {"turn", "Y=11 X=22", "a[Y, X] : input\nb[x:X, y:Y] = a[y, x]\n",
     "x, y:vec =>\n"
     "    @b = x, y\n"},
    {"turn_back", "Y=8 X=7 Z=3", "a[Z, Y, X] : input\nb[z:Z, x:X, y:Y] = a[z, y, x]\n",
     "z, y, x:vec =>\n"
     "    @b = z, x, y\n"},
    /* rows above and below the picture, of a number known at run time: zeros and copies */
    {"pad", "H=19 W=21 ho=4 hi=6 w=21 c=5 C=5 D=4",
     "data[H, W, C] : input\n"
     "out[h:H + 4, w:W, c:C] = inside ? data[h - 2, w, c] : 0\n"
     "    where inside = 2 <= h && h < H + 2\n",
     "ho, hi, w, c:vec =>\n"
     "    @out = {ho, hi}/h, w, c\n"},
};
enum { NUM_PROGRAMS = sizeof programs / sizeof *programs };

/* "N=1 Y=35": the names become symbols. */
static void read_sizes(at_arena *a, at_symbols *symbols, int64_t *values, const char *text) {
    char name[16];
    long value;
    for (int n; sscanf(text, " %15[^=]=%ld%n", name, &value, &n) == 2; text += n)
        values[at_symbol_add(a, symbols, at_strdup(a, name))] = value;
}

static at_low *lower(at_arena *a, const program *p, at_isa isa) {
    at_symbols *symbols = AT_NEW(a, at_symbols);
    int64_t *values = AT_NEW_ARRAY(a, int64_t, 64);
    at_compute *compute;
    at_tree *tree;
    at_program *built;
    at_low *l;
    read_sizes(a, symbols, values, p->sizes);
    CALL(at_compute_parse(a, symbols, p->compute, p->name, &compute, &err));
    CALL(at_tree_parse(a, compute, p->tree, p->name, &tree, &err));
    CALL(at_program_build(a, tree, values, &built, &err));
    CALL(at_program_verify(a, built, &err));
    at_lower_options *o = AT_NEW(a, at_lower_options);
    *o = (at_lower_options){.dialect = AT_DIALECT_TCC, .isa = isa, .name = p->name, .verify = true};
    CALL(at_lower_until(a, built, o, "tiles", &l, &err));
    return l;
}

static void programs_run(at_isa isa) {
    skip_without(isa);
    at_arena *a = at_arena_new();
    int with_trips = 0, with_lists = 0;
    for (int i = 0; i < NUM_PROGRAMS; i++) {
        at_low *l = lower(a, &programs[i], isa);
        assert_true(l->tiles.len > 0);
        for (int j = 0; j < l->tiles.len; j++) {
            with_trips += l->tiles.data[j]->num_trips > 0;
            with_lists += l->tiles.data[j]->num_pointers > 0;
            compare_tile(a, l->tiles.data[j], isa, programs[i].name);
        }
    }
    assert_true(with_trips > 0 &&
                with_lists > 0); /* or the programs no longer test what they are for */
    at_arena_free(a);
}

static void programs_scalar(void **state) { (void)state, programs_run(AT_ISA_SCALAR); }
static void programs_sse2(void **state) { (void)state, programs_run(AT_ISA_SSE2); }
static void programs_avx2(void **state) { (void)state, programs_run(AT_ISA_AVX2); }
static void programs_avx512(void **state) { (void)state, programs_run(AT_ISA_AVX512); }

/* ---- hand-made tiles ------------------------------------------------------------------------- */

/* A tile being put together, and the instructions wanted for it. */
typedef struct {
    at_arena *arena;
    at_isa isa;
    at_tile t;
    AT_VEC(at_tile_op) ops;
    at_text want; /* a line each, as objdump writes them */
    int memory;   /* operands so far: each has another slot and offset */
    int mask[17]; /* avx512: register by lanes */
    int num_masks;
    int mask_now; /* avx2 */
} maker;

static maker start_tile(at_arena *a, at_isa isa, int num_slots, int num_trips) {
    maker m = {.arena = a, .isa = isa};
    m.t = (at_tile){.name = "hand_made",
                    .base_name = "hand_made",
                    .lanes = at_tile_isa_facts(isa)->lanes,
                    .num_regs = at_tile_isa_facts(isa)->regs,
                    .num_slots = num_slots,
                    .num_trips = num_trips};
    for (int s = 0; s < num_slots; s++) m.t.slot_name[s] = "x", m.t.slot_written[s] = true;
    return m;
}

static at_tile_op *add_op(maker *m, int kind) {
    at_tile_op *op = at_push(m->arena, &m->ops);
    *op = (at_tile_op){
        .kind = (uint8_t)kind, .dst = -1, .a = -1, .b = -1, .slot = -1, .base = -1, .trip_arg = -1};
    return op;
}

/* The last slot but one is then an index list, the last a pointer made of it. */
static void add_list(maker *m) {
    int list = m->t.num_slots - 2;
    m->t.num_slots--;
    m->t.num_pointers = 1;
    m->t.slot_is_list[list] = true;
    m->t.slot_written[list] = m->t.slot_written[list + 1] = false;
}

static at_tile_op *add_index(maker *m, int base, int64_t off, int64_t stride) {
    at_tile_op *op = add_op(m, AT_T_INDEX);
    op->dst = (int16_t)m->t.num_slots;
    op->slot = (int16_t)(m->t.num_slots - 1);
    op->base = (int16_t)base;
    op->off = off;
    op->bump = stride;
    op->times = op->by = 1;
    op->most = (1 << 30) - 1;
    return op;
}

/* A further digit of the same entry. */
static void add_digit(maker *m, int64_t stride, int times, int plus, int by) {
    const at_tile_op first = m->ops.data[m->ops.len - 1];
    at_tile_op *op = at_push(m->arena, &m->ops);
    *op = first;
    op->base = op->dst;
    op->bump = stride;
    op->times = times;
    op->plus = plus;
    op->by = by;
}

static void add_loop(maker *m, int64_t trip, int trip_arg) {
    at_tile_op *op = add_op(m, AT_T_LOOP);
    op->trip = trip;
    op->trip_arg = (int16_t)trip_arg;
    op->name = "i";
}

static void add_bump(maker *m, int slot, int64_t by, int trip_arg) {
    at_tile_op *op = add_op(m, AT_T_BUMP);
    op->slot = (int16_t)slot;
    op->bump = by;
    op->trip_arg = (int16_t)trip_arg;
}

static at_tile_op *add_move(maker *m, int kind, int reg, int slot, int64_t off, int lanes) {
    at_tile_op *op = add_op(m, kind);
    *(kind == AT_T_STORE ? &op->a : &op->dst) = (int16_t)reg;
    op->slot = (int16_t)slot;
    op->off = off;
    op->lanes = (uint8_t)lanes;
    return op;
}

static at_tile_op *add_arithmetic(maker *m, int kind, int dst, int a, int b) {
    at_tile_op *op = add_op(m, kind);
    op->dst = (int16_t)dst;
    op->a = (int16_t)a;
    op->b = (int16_t)b;
    op->lanes = (uint8_t)m->t.lanes;
    return op;
}

static at_tile *finish(maker *m) {
    m->t.ops = m->ops.data;
    m->t.num_ops = m->ops.len;
    return &m->t;
}

/* As many pointers, trip counts and nested loops as no program has at once: some counters have to
 * live on the stack. */
static void most_arguments(at_arena *a, at_isa isa) {
    static const int trip_of[] = {0, 5, -1, 3, 4};
    enum { DEPTH = sizeof trip_of / sizeof *trip_of };
    maker m = start_tile(a, isa, AT_TILE_MAX_SLOTS, AT_TILE_MAX_TRIPS);
    int lanes = m.t.lanes;
    for (int d = 0; d < DEPTH; d++) add_loop(&m, 2, trip_of[d]);
    for (int s = 0; s < 6; s++) {
        add_move(&m, AT_T_LOAD, 0, s, s - 2, lanes);
        add_move(&m, AT_T_BCAST, 1, (s + 1) % 6, 3, 1);
        add_move(&m, AT_T_LOAD, 2, s + 6, 0, lanes);
        add_arithmetic(&m, AT_T_FMA, 2, 0, 1);
        add_move(&m, AT_T_STORE, 2, s + 6, 0, lanes);
        add_bump(&m, s, 1, -1);
        add_bump(&m, s + 6, s % 2 ? lanes : -lanes, -1);
    }
    for (int d = DEPTH - 1; d >= 0; d--) {
        add_op(&m, AT_T_END);
        for (int s = 0; s < 6; s++) add_bump(&m, s, s - 3, trip_of[d]);
        add_bump(&m, 6 + d, 5, 1);
    }
    for (int s = 0; s < AT_TILE_MAX_SLOTS; s++) {
        add_move(&m, AT_T_BCAST, 3, s, 0, 1);
        add_move(&m, AT_T_STORE, 3, s, 7, 1);
    }
    compare_tile(a, finish(&m), isa, "most_arguments");
}

/* Columns that a list names, of a number known at run time, at strides of one and more. */
static void listed_columns(at_arena *a, at_isa isa) {
    static const int64_t strides[] = {1, 3, -2, 37};
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        maker m = start_tile(a, isa, 5, 2);
        int lanes = m.t.lanes;
        add_list(&m);
        add_op(&m, AT_T_CONST)->dst = 0;
        add_loop(&m, 0, 0);
        add_loop(&m, 0, 1);
        for (int k = 0; k < 2; k++) {
            add_index(&m, k, k - 1, strides[i]);
            if (i % 2) add_digit(&m, -5, 1, 0, 1 + 2 * k), add_digit(&m, 2, 1, 0, 6 + 12 * k);
            if (i > 1) add_digit(&m, 3, 2, 5, 7), add_digit(&m, 1, 2, 5, 4);
            add_move(&m, AT_T_LOAD, 1, 4, 2, lanes);
            add_move(&m, AT_T_BCAST, 2, 4, -3, 1);
            add_arithmetic(&m, AT_T_FMA, 0, 1, 2);
        }
        add_bump(&m, 3, 1, -1);
        add_op(&m, AT_T_END);
        add_bump(&m, 0, 5, -1);
        add_op(&m, AT_T_END);
        add_move(&m, AT_T_STORE, 0, 2, 0, lanes);
        compare_tile(a, finish(&m), isa, at_format(a, "columns times %d", (int)strides[i]));
    }
}

/* Every number of lanes: what lies behind is not touched, unused lanes are zero. */
static void every_tail(at_arena *a, at_isa isa) {
    for (int n = 1; n <= at_tile_isa_facts(isa)->lanes; n++) {
        maker m = start_tile(a, isa, 4, 0);
        int kinds[] = {AT_T_ADD, AT_T_SUB, AT_T_MUL, AT_T_DIV, AT_T_MIN, AT_T_MAX, AT_T_FMA};
        for (int r = 0; r < 5; r++) { /* what the loads have to clear */
            at_tile_op *op = add_op(&m, AT_T_CONST);
            op->dst = (int16_t)r;
            op->number = -0.75F;
        }
        add_move(&m, AT_T_LOAD, 0, 0, 0, n);
        add_move(&m, AT_T_LOAD, 1, 1, 0, n);
        add_arithmetic(&m, AT_T_ADD, 4, 4, 1);
        for (int i = 0; i < 7; i++) {
            add_arithmetic(&m, AT_T_MOV, 2, 1, -1);
            add_arithmetic(&m, kinds[i], 2, 0, kinds[i] == AT_T_DIV ? 4 : 1);
            add_move(&m, AT_T_STORE, 2, 2, i * n, n);
        }
        add_move(&m, AT_T_STORE, 0, 3, 0, m.t.lanes);
        compare_tile(a, finish(&m), isa, at_format(a, "tail of %d", n));
    }
}

static void hand_made_run(at_isa isa) {
    skip_without(isa);
    at_arena *a = at_arena_new();
    most_arguments(a, isa);
    every_tail(a, isa);
    listed_columns(a, isa);
    at_arena_free(a);
}

static void hand_made_scalar(void **state) { (void)state, hand_made_run(AT_ISA_SCALAR); }
static void hand_made_sse2(void **state) { (void)state, hand_made_run(AT_ISA_SSE2); }
static void hand_made_avx2(void **state) { (void)state, hand_made_run(AT_ISA_AVX2); }
static void hand_made_avx512(void **state) { (void)state, hand_made_run(AT_ISA_AVX512); }

/* ---- instructions wanted --------------------------------------------------------------------- */

static const char *const base_name[AT_TILE_MAX_SLOTS] = {"rdi", "rsi", "rdx", "rcx", "r8",  "r9",
                                                         "r10", "r11", "rbx", "rbp", "r12", "r13"};

#define WANT(m, ...) (at_text_addf(&(m)->want, __VA_ARGS__), at_text_add(&(m)->want, "\n"))

static const char *memory_text(const maker *m, const at_tile_op *op, int bytes, int64_t more) {
    const char *size = bytes == 1    ? "BYTE"
                       : bytes == 4  ? "DWORD"
                       : bytes == 8  ? "QWORD"
                       : bytes == 16 ? "XMMWORD"
                       : bytes == 32 ? "YMMWORD"
                                     : "ZMMWORD";
    long long at = (long long)(op->off * 4 + more);
    if (!at) return at_format(m->arena, "%s PTR [%s]", size, base_name[op->slot]);
    return at_format(m->arena, "%s PTR [%s%c0x%llx]", size, base_name[op->slot], at < 0 ? '-' : '+',
                     at < 0 ? -at : at);
}

static const char *vector_text(const maker *m, int r, int bytes) {
    return at_format(m->arena, "%cmm%d", bytes == 64 ? 'z' : bytes == 32 ? 'y' : 'x', r);
}

static void want_two(maker *m, bool store, const char *mnemonic, const char *reg, const char *mem) {
    WANT(m, "%s %s,%s", mnemonic, store ? mem : reg, store ? reg : mem);
}

static void want_move(maker *m, const at_tile_op *op) {
    bool store = op->kind == AT_T_STORE, v = m->isa >= AT_ISA_AVX2;
    int n = op->lanes, r = store ? op->a : op->dst;
    const char *x = vector_text(m, r, 16);
    if (n == 1) {
        want_two(m, store, v ? "vmovss" : "movss", x, memory_text(m, op, 4, 0));
    } else if (n == 4 || (n == 8 && v) || n == 16) {
        want_two(m, store, v ? "vmovups" : "movups", vector_text(m, r, 4 * n),
                 memory_text(m, op, 4 * n, 0));
    } else if (m->isa == AT_ISA_AVX512) {
        if (!m->mask[n]) m->mask[n] = ++m->num_masks;
        const char *z = vector_text(m, r, 64), *mem = memory_text(m, op, 64, 0);
        if (store) WANT(m, "vmovups %s{k%d},%s", mem, m->mask[n], z);
        else WANT(m, "vmovups %s{k%d}{z},%s", z, m->mask[n], mem);
    } else if (m->isa == AT_ISA_AVX2) {
        const char *y = vector_text(m, r, 32), *mem = memory_text(m, op, 32, 0);
        if (m->mask_now != n) WANT(m, "vmovups ymm15,mask of %d", n);
        m->mask_now = n;
        WANT(m, "vmaskmovps %s,ymm15,%s", store ? mem : y, store ? y : mem);
    } else {
        if (!store) WANT(m, "xorps %s,%s", x, x);
        want_two(m, store, "movlps", x, memory_text(m, op, 8, 0));
        if (n == 3 && store) WANT(m, "movhlps xmm15,%s", x);
        if (n == 3) want_two(m, store, "movss", "xmm15", memory_text(m, op, 4, 8));
        if (n == 3 && !store) WANT(m, "movlhps %s,xmm15", x);
    }
}

static void want_const(maker *m, const at_tile_op *op) {
    uint32_t bits;
    const char *x = vector_text(m, op->dst, 16);
    memcpy(&bits, &op->number, sizeof bits);
    if (!bits && m->isa == AT_ISA_AVX512) {
        WANT(m, "vpxord zmm%d,zmm%d,zmm%d", op->dst, op->dst, op->dst);
    } else if (!bits && m->isa == AT_ISA_AVX2) {
        WANT(m, "vxorps ymm%d,ymm%d,ymm%d", op->dst, op->dst, op->dst);
    } else if (!bits) {
        WANT(m, "xorps %s,%s", x, x);
    } else {
        WANT(m, "mov eax,0x%x", (unsigned)bits);
        if (m->isa == AT_ISA_AVX512) WANT(m, "vpbroadcastd zmm%d,eax", op->dst);
        if (m->isa == AT_ISA_AVX2)
            WANT(m, "vmovd %s,eax", x), WANT(m, "vbroadcastss ymm%d,%s", op->dst, x);
        if (m->isa < AT_ISA_AVX2) WANT(m, "movd %s,eax", x), WANT(m, "shufps %s,%s,0x0", x, x);
    }
}

static void want_arithmetic(maker *m, const at_tile_op *op) {
    static const char *const names[AT_T_KIND_COUNT] = {
        [AT_T_FMA] = "fmadd231", [AT_T_ADD] = "add", [AT_T_SUB] = "sub", [AT_T_MUL] = "mul",
        [AT_T_DIV] = "div",      [AT_T_MIN] = "min", [AT_T_MAX] = "max"};
    int bytes = m->isa == AT_ISA_AVX512 ? 64 : m->isa == AT_ISA_AVX2 ? 32 : 16;
    const char *d = vector_text(m, op->dst, bytes), *a = vector_text(m, op->a, bytes);
    const char *b = !op->mem ? vector_text(m, op->b, bytes)
                             : memory_text(m, op,
                                           m->isa == AT_ISA_SCALAR   ? 4
                                           : op->mem == AT_MEM_BCAST ? 4
                                                                     : bytes,
                                           0);
    if (m->isa >= AT_ISA_AVX2) {
        /* how a broadcast is written has changed between binutils: see normalize() */
        WANT(m, "v%sps %s,%s,%s%s", names[op->kind], d, a, op->mem == AT_MEM_BCAST ? "all " : "",
             b);
        return;
    }
    const char *how = m->isa == AT_ISA_SCALAR ? "ss" : "ps";
    if (op->kind != AT_T_FMA && op->dst == op->a) {
        WANT(m, "%s%s %s,%s", names[op->kind], how, d, b);
        return;
    }
    WANT(m, "movaps xmm15,%s", a);
    WANT(m, "%s%s xmm15,%s", names[op->kind == AT_T_FMA ? AT_T_MUL : op->kind], how, b);
    if (op->kind == AT_T_FMA) WANT(m, "add%s %s,xmm15", how, d);
    else WANT(m, "movaps %s,xmm15", d);
}

static void want_bump(maker *m, const at_tile_op *op) {
    int64_t by = op->bump * 4;
    if (by == (int32_t)by) {
        WANT(m, "add %s,0x%llx", base_name[op->slot], (unsigned long long)by);
        return;
    }
    WANT(m, "movabs rax,0x%llx", (unsigned long long)by);
    WANT(m, "add %s,rax", base_name[op->slot]);
}

static void want_index(maker *m, const at_tile_op *op) {
    WANT(m, "movsxd rax,%s", memory_text(m, op, 4, 0));
    if (op->times != 1) WANT(m, "imul rax,rax,0x%x", (unsigned)op->times);
    if (op->plus) WANT(m, "add rax,0x%x", (unsigned)op->plus);
    if (op->by % 2 == 0) WANT(m, "shr rax,%s", op->by == 2 ? "1" : op->by == 64 ? "0x6" : "0x3");
    if (op->by == 24) WANT(m, "imul rax,rax,0x2aaaaab\nshr rax,0x1b"); /* 2^27 / 3 */
    if (op->bump != 1) WANT(m, "imul rax,rax,0x%llx", (unsigned long long)op->bump);
    WANT(m, "lea %s,[%s+rax*4]", base_name[op->dst], base_name[op->base]);
}

/* The last operation added, of straight-line code. */
static void want(maker *m) {
    const at_tile_op *op = &m->ops.data[m->ops.len - 1];
    const char *x;
    switch (op->kind) {
    case AT_T_PREFETCH: WANT(m, "prefetcht0 %s", memory_text(m, op, 1, 0)); return;
    case AT_T_BUMP: want_bump(m, op); return;
    case AT_T_INDEX: want_index(m, op); return;
    case AT_T_CONST: want_const(m, op); return;
    case AT_T_LOAD:
    case AT_T_STORE: want_move(m, op); return;
    case AT_T_BCAST:
        x = vector_text(m, op->dst, 4 * m->t.lanes);
        if (m->isa >= AT_ISA_AVX2) {
            WANT(m, "vbroadcastss %s,%s", x, memory_text(m, op, 4, 0));
            return;
        }
        WANT(m, "movss %s,%s", x, memory_text(m, op, 4, 0));
        WANT(m, "shufps %s,%s,0x0", x, x);
        return;
    case AT_T_MOV:
        x = vector_text(m, op->dst, 4 * m->t.lanes);
        WANT(m, "%s %s,%s", m->isa >= AT_ISA_AVX2 ? "vmovaps" : "movaps", x,
             vector_text(m, op->a, 4 * m->t.lanes));
        return;
    default: want_arithmetic(m, op);
    }
}

/* ---- reading back ---------------------------------------------------------------------------- */

static char folder[] = "/tmp/autotune-x86-XXXXXX";

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* How many lanes the mask at this place lets through; -1: none there. */
static int mask_at(const at_tile *t, long at) {
    int32_t lane[8];
    int n = 0;
    if (at < 0 || at + (long)sizeof lane > t->code_bytes) return -1;
    memcpy(lane, t->code + at, sizeof lane);
    while (n < 8 && lane[n] == -1) n++;
    for (int i = n; i < 8; i++)
        if (lane[i]) return -1;
    return n;
}

static void replace(char *text, const char *from, const char *to) {
    char rest[256];
    char *at = strstr(text, from);
    if (!at) return;
    snprintf(rest, sizeof rest, "%s%s", to, at + strlen(from));
    strcpy(at, rest); /* never longer than a line */
}

/* One spelling where releases differ or the place of things in memory shows. */
static void normalize(char *s, const at_tile *t) {
    char *comment = strchr(s, '#');
    if (comment && strstr(s, "[rip")) {
        int n = mask_at(t, strtol(comment + 1, NULL, 16));
        char *mem = strchr(s, ',') + 1;
        sprintf(mem, "mask of %d", n);
    }
    char *to = s;
    for (char *from = s; *from; from++)
        if (*from != ' ' || (to > s && to[-1] != ' ')) *to++ = *from;
    while (to > s && to[-1] == ' ') to--;
    *to = 0;
    replace(s, "{evex} ", ""); /* what some releases say of an encoding, not of what it does */
    replace(s, "+0x0]", "]");
    replace(s, "DWORD BCST", "all DWORD PTR");
    char *repeated = strstr(s, "{1to");
    if (!repeated) return;
    *repeated = 0;
    replace(s, "DWORD PTR", "all DWORD PTR");
}

static bool is_padding(const char *s) {
    return !strncmp(s, "nop", 3) || !strcmp(s, "xchg ax,ax") || !strncmp(s, "data16", 6) ||
           !strncmp(s, "cs nop", 6);
}

/* What objdump reads up to the return: a line per instruction without padding, jumps by the number
 * of the instruction they go to. */
static void disassemble(at_arena *a, const at_tile *t, at_text *out) {
    enum { MOST = 8000 };
    char **lines = AT_NEW_ARRAY(a, char *, MOST), text[256];
    long *at = AT_NEW_ARRAY(a, long, MOST);
    int n = 0, used = 0;
    FILE *f = fopen(at_format(a, "%s/code", folder), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(t->code, 1, (size_t)t->code_bytes, f), t->code_bytes);
    assert_int_equal(fclose(f), 0);
    f = popen(at_format(a,
                        "objdump -D -b binary -m i386:x86-64 -M intel --no-show-raw-insn -z "
                        "%s/code",
                        folder),
              "r");
    assert_non_null(f);
    while (fgets(text, sizeof text, f)) {
        char *tab = strchr(text, '\t'), *end;
        long address = strtol(text, &end, 16);
        if (!tab || *end != ':') continue;
        text[strcspn(text, "\n")] = 0;
        normalize(tab + 1, t);
        if (n == MOST || is_padding(tab + 1)) continue;
        at[n] = address;
        lines[n++] = at_strdup(a, tab + 1);
    }
    assert_int_equal(pclose(f), 0);
    while (used < n && strcmp(lines[used++], "ret") != 0) {
    }
    for (int i = 0; i < used; i++) {
        char *target = strstr(lines[i], " 0x");
        int to = 0;
        if (lines[i][0] == 'j' && target) {
            while (to < n && at[to] != strtol(target, NULL, 16)) to++;
            at_text_addf(out, "%.*s %d\n", (int)(target - lines[i]), lines[i], to);
        } else at_text_addf(out, "%s\n", lines[i]);
    }
}

static void compare_text(const char *found, const char *wanted, const char *what) {
    for (int line = 0; *found || *wanted; line++) {
        size_t n = strcspn(found, "\n"), k = strcspn(wanted, "\n");
        if (n != k || strncmp(found, wanted, n) != 0)
            fail_msg("%s, instruction %d: \"%.*s\" instead of \"%.*s\"", what, line, (int)n, found,
                     (int)k, wanted);
        found += n + (found[n] == '\n');
        wanted += k + (wanted[k] == '\n');
    }
}

static void skip_without_objdump(void) {
    if (!system("command -v objdump >/dev/null")) return;
    print_message("objdump is not installed\n");
    skip();
}

/* To be found in every set with vectors, on registers only. */
static void want_zip(maker *m, const at_tile_op *op) {
    static const char *const names[] = {"unpcklps", "unpckhps", "unpcklpd", "unpckhpd"};
    const char *d = vector_text(m, op->dst, 16), *a = vector_text(m, op->a, 16),
               *b = vector_text(m, op->b, 16), *name = names[op->kind - AT_T_ZIP_LOW];
    if (m->isa >= AT_ISA_AVX2) WANT(m, "v%s %s,%s,%s", name, d, a, b);
    else WANT(m, "movaps xmm15,%s\n%s xmm15,%s\nmovaps %s,xmm15", a, name, b, d);
}

/* With the entry and return of a tile of twelve pointers, made inside or passed. */
static void compare_straight(maker *m, const char *what) {
    at_tile *t = finish(m);
    if (!at_tile_encode(m->arena, t, m->isa)) fail_msg("%s: not encoded", what);
    at_text wanted = {0}, found = {0};
    at_text_add(&wanted, "push rbx\npush rbp\npush r12\npush r13\n");
    for (int s = 6; s < t->num_slots; s++)
        at_text_addf(&wanted, "mov %s,QWORD PTR [rsp+0x%x]\n", base_name[s],
                     40 + 8 * (s - 6)); /* four registers and the return address below */
    for (int k = 1; k <= m->num_masks; k++)
        for (int n = 1; n <= 16; n++)
            if (m->mask[n] == k)
                at_text_addf(&wanted, "mov eax,0x%x\nkmovw k%d,eax\n", (1 << n) - 1, k);
    at_text_add(&wanted, at_text_str(&m->want));
    if (m->isa >= AT_ISA_AVX2) at_text_add(&wanted, "vzeroupper\n");
    at_text_add(&wanted, "pop r13\npop r12\npop rbp\npop rbx\nret\n");
    disassemble(m->arena, t, &found);
    compare_text(at_text_str(&found), at_text_str(&wanted), what);
    at_text_free(&wanted);
    at_text_free(&found);
    at_text_free(&m->want);
}

/* Another slot and offset each time: with none, one byte (scaled by the operand's size in EVEX) and
 * four bytes of displacement. */
static void next_memory(maker *m, at_tile_op *op) {
    static const int64_t offsets[] = {0,   1,   16,    31,    32,     -1,      -32, -33,
                                      508, 512, -2048, -2064, 100000, -300000, 17};
    enum { NUM = sizeof offsets / sizeof *offsets };
    /* 12 and 15 have 3 in common: shifted, so that all pairs occur */
    op->slot = (int16_t)((m->memory + m->memory / 60) % AT_TILE_MAX_SLOTS);
    op->off = offsets[m->memory++ % NUM];
}

/* Registers whose numbers are encoded in different places, but the one kept for the encoder. */
static int some_registers(at_isa isa, int out[6]) {
    static const int few[] = {0, 7, 8, 14}, many[] = {0, 7, 8, 15, 16, 31};
    memcpy(out, isa == AT_ISA_AVX512 ? many : few, isa == AT_ISA_AVX512 ? sizeof many : sizeof few);
    return isa == AT_ISA_AVX512 ? 6 : 4;
}

static void encode_moves(at_arena *a, at_isa isa) {
    static const float numbers[] = {0, 1.5F, -2, -0.0F, 1e-45F};
    int r[6], num_regs = some_registers(isa, r), lanes = at_tile_isa_facts(isa)->lanes;
    /* at most seven tails in a tile: as many as there are mask registers */
    for (int first = 1; first <= lanes; first += 8) {
        maker m = start_tile(a, isa, AT_TILE_MAX_SLOTS, 0);
        for (int n = first; n < first + 8 && n <= lanes; n++)
            for (int i = 0; i < 60; i++) {
                next_memory(&m, add_move(&m, i / num_regs % 2 ? AT_T_STORE : AT_T_LOAD,
                                         r[i % num_regs], 0, 0, n));
                want(&m);
            }
        compare_straight(&m, at_format(a, "%s, lanes from %d", at_isa_name(isa), first));
    }
    maker m = start_tile(a, isa, AT_TILE_MAX_SLOTS, 0);
    for (int i = 0; i < num_regs; i++) {
        for (int j = 0; j < 60; j++) {
            next_memory(&m, add_move(&m, AT_T_BCAST, r[i], 0, 0, 1)), want(&m);
            next_memory(&m, add_op(&m, AT_T_PREFETCH)), want(&m);
        }
        for (int j = 0; j < num_regs; j++) add_arithmetic(&m, AT_T_MOV, r[i], r[j], -1), want(&m);
        for (int j = 0; j < 5; j++) {
            at_tile_op *op = add_op(&m, AT_T_CONST);
            op->dst = (int16_t)r[i];
            op->number = numbers[j];
            want(&m);
        }
    }
    compare_straight(&m, at_format(a, "%s, moves", at_isa_name(isa)));
}

static void encode_arithmetic(at_arena *a, at_isa isa) {
    const at_tile_isa *facts = at_tile_isa_facts(isa);
    int r[6], num_regs = some_registers(isa, r);
    for (int kind = AT_T_FMA; kind <= AT_T_MAX; kind++) {
        maker m = start_tile(a, isa, AT_TILE_MAX_SLOTS, 0);
        for (int i = 0; i < num_regs * num_regs; i++) {
            int d = r[i / num_regs], x = r[i % num_regs];
            for (int j = 0; j < num_regs; j++) add_arithmetic(&m, kind, d, x, r[j]), want(&m);
            for (int mem = AT_MEM_VECTOR; mem <= AT_MEM_BCAST; mem++) {
                if (mem == AT_MEM_VECTOR ? !facts->fold_vector : !facts->fold_bcast) continue;
                for (int j = 0; j < 8; j++) {
                    at_tile_op *op = add_arithmetic(&m, kind, d, x, -1);
                    op->mem = (uint8_t)mem;
                    next_memory(&m, op);
                    want(&m);
                }
            }
        }
        compare_straight(&m, at_format(a, "%s, arithmetic %d", at_isa_name(isa), kind));
    }
}

static void encode_zips(at_arena *a, at_isa isa) {
    int r[6], n = some_registers(isa, r);
    maker m = start_tile(a, isa, AT_TILE_MAX_SLOTS, 0);
    for (int kind = AT_T_ZIP_LOW; kind <= AT_T_ZIP_HIGH2; kind++)
        for (int i = 0; i < n * n * n; i++) {
            at_tile_op *op = add_arithmetic(&m, kind, r[i / n / n], r[i / n % n], r[i % n]);
            want_zip(&m, op);
        }
    compare_straight(&m, at_format(a, "%s, zips", at_isa_name(isa)));
}

static void encode_bumps(at_arena *a, at_isa isa) {
    static const int64_t by[] = {1,
                                 -1,
                                 31,
                                 32,
                                 -32,
                                 -33,
                                 100000,
                                 (1 << 29) - 1,
                                 1 << 29,
                                 -(1 << 29),
                                 -(1 << 29) - 1,
                                 (int64_t)1 << 40,
                                 -((int64_t)1 << 40)};
    maker m = start_tile(a, isa, AT_TILE_MAX_SLOTS, 0);
    for (int s = 0; s < AT_TILE_MAX_SLOTS; s++)
        for (size_t i = 0; i < sizeof by / sizeof *by; i++) add_bump(&m, s, by[i], -1), want(&m);
    compare_straight(&m, at_format(a, "%s, bumps", at_isa_name(isa)));
}

static void encode_indices(at_arena *a, at_isa isa) {
    static const int64_t offsets[] = {0, 1, 31, 32, -32, -33, 100000},
                         strides[] = {1, 2, -1, 31, 127, 128, -129, INT32_MAX / 4};
    static const int32_t by[] = {1, 2, 64, 24, 8};
    for (int num_slots = 6; num_slots < AT_TILE_MAX_SLOTS; num_slots++) {
        maker m = start_tile(a, isa, AT_TILE_MAX_SLOTS, 0);
        m.t.num_slots = num_slots;
        m.t.num_pointers = AT_TILE_MAX_SLOTS - num_slots;
        for (int i = 0; i < 200; i++) {
            add_index(&m, i % num_slots, offsets[i % 7], strides[i % 8]);
            at_tile_op *op = &m.ops.data[m.ops.len - 1];
            op->dst = (int16_t)(num_slots + i % m.t.num_pointers);
            op->slot = (int16_t)((i + i / 60) % num_slots);
            op->times = i % 3 ? 1 : 3;
            op->plus = i % 4 ? 0 : 300;
            op->by = by[i % 5];
            want(&m);
        }
        compare_straight(&m, at_format(a, "%s, %d pointers", at_isa_name(isa), num_slots));
    }
}

/* Loops of both kinds, and trip counts that came in registers. */
static void encode_loops(at_arena *a, at_isa isa) {
    static const char wanted[] = "sub rsp,0x18\n"
                                 "mov QWORD PTR [rsp],rdx\n"
                                 "mov QWORD PTR [rsp+0x8],rcx\n"
                                 "mov QWORD PTR [rsp+0x10],r8\n"
                                 "mov rax,QWORD PTR [rsp+0x8]\n"
                                 "test rax,rax\n"
                                 "jle 22\n" /* behind the outer loop */
                                 "mov r11,rax\n"
                                 "mov rax,QWORD PTR [rsp+0x10]\n" /* 8: the outer loop's body */
                                 "test rax,rax\n"
                                 "jle 16\n"
                                 "mov r10,rax\n"
                                 "prefetcht0 BYTE PTR [rdi+0x20]\n" /* 12: the inner one's */
                                 "add rdi,0x4\n"
                                 "sub r10,0x1\n"
                                 "jne 12\n"
                                 "mov r10,0x7\n" /* 16 */
                                 "add rsi,0xffffffffffffffe0\n"
                                 "sub r10,0x1\n"
                                 "jne 17\n"
                                 "sub r11,0x1\n"
                                 "jne 8\n"
                                 "mov rax,QWORD PTR [rsp]\n"
                                 "imul rax,rax,0xfffffffffffffe70\n"
                                 "add rdi,rax\n";
    maker m = start_tile(a, isa, 2, 3);
    at_text text = {0}, found = {0};
    add_loop(&m, 0, 1);
    add_loop(&m, 0, 2);
    add_move(&m, AT_T_PREFETCH, -1, 0, 8, 1);
    add_bump(&m, 0, 1, -1);
    add_op(&m, AT_T_END);
    add_loop(&m, 7, -1);
    add_bump(&m, 1, -8, -1);
    add_op(&m, AT_T_END);
    add_op(&m, AT_T_END);
    add_bump(&m, 0, -100, 0);
    assert_true(at_tile_encode(a, finish(&m), isa));
    at_text_addf(&text, "%s%sadd rsp,0x18\nret\n", wanted,
                 isa >= AT_ISA_AVX2 ? "vzeroupper\n" : "");
    disassemble(a, &m.t, &found);
    compare_text(at_text_str(&found), at_text_str(&text),
                 at_format(a, "%s, loops", at_isa_name(isa)));
    at_text_free(&text);
    at_text_free(&found);
}

static void encoder(at_isa isa) {
    skip_without_objdump();
    at_arena *a = at_arena_new();
    encode_moves(a, isa);
    encode_arithmetic(a, isa);
    if (isa != AT_ISA_SCALAR) encode_zips(a, isa);
    encode_bumps(a, isa);
    encode_indices(a, isa);
    encode_loops(a, isa);
    at_arena_free(a);
}

static void encoder_scalar(void **state) { (void)state, encoder(AT_ISA_SCALAR); }
static void encoder_sse2(void **state) { (void)state, encoder(AT_ISA_SSE2); }
static void encoder_avx2(void **state) { (void)state, encoder(AT_ISA_AVX2); }
static void encoder_avx512(void **state) { (void)state, encoder(AT_ISA_AVX512); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_scalar),  cmocka_unit_test(programs_sse2),
        cmocka_unit_test(programs_avx2),    cmocka_unit_test(programs_avx512),
        cmocka_unit_test(hand_made_scalar), cmocka_unit_test(hand_made_sse2),
        cmocka_unit_test(hand_made_avx2),   cmocka_unit_test(hand_made_avx512),
        cmocka_unit_test(encoder_scalar),   cmocka_unit_test(encoder_sse2),
        cmocka_unit_test(encoder_avx2),     cmocka_unit_test(encoder_avx512),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
