/* Machine code of tiles, run between guard pages against the interpreter of tile programs. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/codegen/hand_made.h"
#include "tests/codegen/support.h"
#include "tests/kept_registers.h"

enum { PAGE = 4096, PATTERN = 255, MAX_ARGS = 64, MAX_SLOTS = MAX_ARGS - AT_TILE_MAX_TRIPS };

/* ---- calling --------------------------------------------------------------------------------- */

/* Calls code with 64 arguments and known values in the registers a function must keep, from 101 on;
 * what it left there goes to kept[]. In assembly since only there are those registers ours to fill.
 */
#ifdef __x86_64__
enum { NUM_KEPT = 6 };
void call_keeping(const void *code, const long args[MAX_ARGS], long kept[NUM_KEPT]);
__asm__(".pushsection .text\n"
        ".type call_keeping, @function\n"
        "call_keeping:\n" PUSH_KEPT "    push %rdx\n"
        "    mov %rdi, %rax\n"
        "    mov %rsi, %r10\n"
        "    mov $63, %ecx\n"
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
        "    add $464, %rsp\n"
        "    pop %rdx\n" STORE_KEPT POP_KEPT "    ret\n"
        ".size call_keeping, . - call_keeping\n"
        ".popsection\n");
#else
enum { NUM_KEPT = 18 }; /* x19 to x28, and the lower halves of v8 to v15 */
void call_keeping(const void *code, const long args[MAX_ARGS], long kept[NUM_KEPT]);
__asm__(".pushsection .text\n"
        ".type call_keeping, @function\n"
        "call_keeping:\n" PUSH_KEPT "    sub sp, sp, #448\n"
        "    mov x16, x0\n"
        "    mov x9, #63\n"
        "1:  ldr x10, [x1, x9, lsl #3]\n"
        "    sub x11, x9, #8\n"
        "    str x10, [sp, x11, lsl #3]\n"
        "    sub x9, x9, #1\n"
        "    cmp x9, #7\n"
        "    b.ne 1b\n" FILL_KEPT "    ldp x2, x3, [x1, #16]\n"
        "    ldp x4, x5, [x1, #32]\n"
        "    ldp x6, x7, [x1, #48]\n"
        "    ldp x0, x1, [x1]\n"
        "    blr x16\n"
        "    add sp, sp, #448\n" STORE_KEPT POP_KEPT "    ret\n"
        ".size call_keeping, . - call_keeping\n"
        ".popsection\n");
#endif
_Static_assert(MAX_ARGS == 64, "call_keeping passes 64");

static void skip_without(const at_target *target) {
    if (cpu_has(target)) return;
    print_message("this CPU has no %s\n", target->name);
    skip();
}

/* ---- operands -------------------------------------------------------------------------------- */

typedef struct {
    int64_t lo, hi; /* elements from the pointer at entry, hi exclusive; hi <= lo: none */
} extent;

/* What index lists hold, by the position from the pointer at entry. */
static bool entries_miss; /* every third of them */
static int32_t list_entry(int64_t at) {
    int64_t i = (at % 7 + 7) % 7;
    return (int32_t)(entries_miss && i % 3 == 1 ? -1 : i * 3);
}

static int64_t digit_of(const at_tile_op *op, int64_t entry) {
    return (op->times * entry + op->plus) / op->by;
}

static void reach(extent *e, int64_t from, int64_t n) {
    if (from < e->lo) e->lo = from;
    if (from + n > e->hi) e->hi = from + n;
}

/* The bits in a lane of a register before op, which entries of a list make: the list's own, or what
 * is worked out of them in integers or in floats. */
static float entry_in(const at_tile *t, const at_tile_op *op, int reg, int lane,
                      const int64_t *at) {
    const at_tile_op *made = op - 1;
    while (made->dst != reg) made--;
    if (made->kind == AT_T_CONST) return (float)made->number;
    if (made->kind == AT_T_LOAD)
        return at_of_bits((uint32_t)list_entry(at[made->slot] + made->off + lane));
    assert_true(made->mem == AT_MEM_NONE || made->mem == AT_MEM_CONST);
    const float x = entry_in(t, made, made->a, lane, at),
                y = made->mem == AT_MEM_CONST ? (float)made->number
                    : made->b >= 0            ? entry_in(t, made, made->b, lane, at)
                                              : 0;
    return at_tile_lane(t, made, 0, x, y);
}

/* What each slot's pointer reaches, so that the guard pages can stand right beside it. */
static void find_extents(const at_tile *t, const long *trips, extent *of) {
    struct {
        int body;
        int64_t left;
    } nest[32];
    int64_t at[MAX_SLOTS] = {0};
    int depth = 0, operand[MAX_SLOTS]; /* a pointer made inside is into that of its base */
    for (int s = 0; s < MAX_SLOTS; s++) operand[s] = s;
    for (int s = 0; s < t->num_slots; s++) of[s] = (extent){INT64_MAX, INT64_MIN};
    for (int i = 0; i < t->num_ops; i++) {
        const at_tile_op *op = &t->ops[i];
        int64_t n = op->trip_arg >= 0 ? trips[op->trip_arg] : op->trip;
        if (op->kind == AT_T_LOOP && op->by > 1) n /= op->by;
        if (op->kind == AT_T_LOOP && op->most) n %= op->most;
        int64_t lanes = op->kind == AT_T_BCAST || op->mem == AT_MEM_BCAST ? 1 : op->lanes;
        bool moves = op->kind == AT_T_LOAD || op->kind == AT_T_STORE;
        if (moves && op->times > 0) lanes = (lanes - 1) * op->times + 1;
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
            bool missed = op->may_miss && list_entry(at[op->slot] + op->off) < 0;
            operand[op->dst] = missed ? -1 : operand[op->base];
        } else if (op->kind == AT_T_GATHER) {
            for (int j = 0; j < op->lanes; j++)
                reach(&of[op->slot],
                      at[op->slot] + op->off + (int32_t)at_bits_of(entry_in(t, op, op->a, j, at)),
                      1);
        } else if (op->kind == AT_T_LOAD || op->kind == AT_T_STORE || op->kind == AT_T_BCAST ||
                   op->mem == AT_MEM_VECTOR || op->mem == AT_MEM_BCAST) {
            const int64_t four = op->fours ? 4 : lanes; /* which lie in places of their own */
            for (int64_t j = 0; j < lanes; j += four)
                if (operand[op->slot] >= 0 && op->slot < at_tile_frame(t))
                    reach(&of[operand[op->slot]], at[op->slot] + op->off + j / 4 * op->fours, four);
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
    __builtin___clear_cache(p, (char *)p + *map_bytes);
    assert_int_equal(mprotect(p, *map_bytes, PROT_READ | PROT_EXEC), 0);
    return p;
}

/* One call on each of two equal memories; they must stay equal, what lies beside the operands too.
 */
static void compare_call(const at_tile *t, const void *code, const long *trips, where w,
                         const char *what) {
    extent of[MAX_SLOTS];
    operand mine[MAX_SLOTS], theirs[MAX_SLOTS];
    float *slots[MAX_SLOTS];
    long args[MAX_ARGS] = {0}, kept[NUM_KEPT];
    find_extents(t, trips, of);
    for (int s = 0; s < t->num_slots; s++) {
        mine[s] = operand_open(&of[s], w);
        theirs[s] = operand_open(&of[s], w);
        bool any = of[s].hi > of[s].lo;
        /* small integers: sums of products are exact, with one rounding or two */
        for (int64_t i = 0; any && i < of[s].hi - of[s].lo; i++) {
            float number = (float)((i * 7 + s * 3) % 11 - 5);
            int32_t entry = list_entry(of[s].lo + i);
            if (t->slot_type[s] == AT_S32) memcpy(&number, &entry, sizeof number);
            memcpy(&mine[s].data[i], &number, sizeof number);
            memcpy(&theirs[s].data[i], &number, sizeof number);
        }
        slots[s] = theirs[s].data - (any ? of[s].lo : 0);
        args[s] = (long)(mine[s].data - (any ? of[s].lo : 0));
    }
    for (int i = 0; i < t->num_trips; i++) args[t->num_slots + i] = trips[i];
    at_tile_interpret(t, slots, trips);
    call_keeping(code, args, kept);
    for (int i = 0; i < NUM_KEPT; i++)
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

static void compare_tile(at_arena *a, at_tile *t, const char *name) {
    /* none, one, many; and all different */
    static const long trips[][AT_TILE_MAX_TRIPS] = {{0, 0, 0, 0, 0, 0},
                                                    {1, 1, 1, 1, 1, 1},
                                                    {5, 5, 5, 5, 5, 5},
                                                    {2, 0, 3, 1, 4, 2},
                                                    {0, 3, 1, 2, 0, 5}};
    const char *fault = at_tile_verify(t, a);
    if (fault) fail_msg("%s: %s", name, fault);
    if (!t->target->encode(a, t)) fail_msg("%s, %s: not encoded", name, t->name);
    size_t map_bytes;
    const void *code = executable(t, &map_bytes);
    int num_trips = t->num_trips ? (int)(sizeof trips / sizeof *trips) : 1;
    for (int i = 0; i < num_trips * NUM_WHERE; i++)
        compare_call(t, code, trips[i / NUM_WHERE], i % NUM_WHERE,
                     at_format(a, "%s, %s for %s, trips %d, place %d", name, t->name,
                               t->target->name, i / NUM_WHERE, i % NUM_WHERE));
    munmap((void *)(uintptr_t)code, map_bytes);
}

/* ---- tiles of programs ----------------------------------------------------------------------- */

#define SPARSE_COMPUTE                                                                             \
    "data[Y, K]        : input\n"                                                                  \
    "blocks[nnz, R, C] : weight\n"                                                                 \
    "indices[nnz]      : index\n"                                                                  \
    "indptr[J + 1]     : index\n"                                                                  \
    "cc[y:Y, j:J, r:R, c:C] = sum(e : indptr[j] .. indptr[j+1])\n"                                 \
    "    data[y, indices[e]*C + c] * blocks[e, r, c]\n"                                            \
    "out[y:Y, x:X] = sum(c:C) cc[y, x/R, x%R, c]\n"

static const program programs[] = {
    {"conv3", CONV_SIZES(3, 1, 3), CONV_COMPUTE PLAIN, GEMM_TREE},
    {"conv6", CONV_SIZES(6, 1, 6), CONV_COMPUTE PLAIN, GEMM_TREE},
    {"conv17", CONV_SIZES(17, 1, 17), CONV_COMPUTE PLAIN, GEMM_TREE},
    {"conv31", CONV_SIZES(31, 1, 31), CONV_COMPUTE PLAIN, GEMM_TREE},
    {"conv31_by_13", CONV_SIZES(31, 3, 13), CONV_COMPUTE PLAIN, GEMM_TREE},
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
    /* terms at places that a list says, as many as it has, and a few */
    {"gathered", "E=31 V=3 M=9 K=13",
     "w[E] : weight\n"
     "list[E] : index\n"
     "ptr[V + 1] : index\n"
     "x[M] : input\n"
     "s[v:V] = sum(e : ptr[v] .. ptr[v+1]) w[e]*x[list[e]]\n"
     "o[k:K] = x[list[k]] - w[k]\n",
     "v, e:dyn(v) vec =>\n"
     "    @s = v // e\n"
     "k:vec =>\n"
     "    @o = k\n"},
    /* and where numbers bound what a list says */
    {"bounded", "N=45 T=41",
     "x[T] : input\n"
     "z[T, 3] : input\n"
     "i[N] : index\n"
     "o[n:N] = x[min(i[n] + 1, T - 1)]*0.5 + z[max(min(i[n] - 2, T - 5), 0), 1]\n"
     "u[n:N] = x[min(i[n] - 9, T - 5) + 9] + z[max(i[n] - 9, 0 - 7) + 7, 2]\n",
     "n:vec =>\n"
     "    @o = n\n"
     "n:vec =>\n"
     "    @u = n\n"},
    /* rows to columns, and what no square of four covers; either loop inside */
    {"turn", "Y=11 X=22", "a[Y, X] : input\nb[x:X, y:Y] = a[y, x]\n",
     "x, y:vec =>\n"
     "    @b = x, y\n"},
    {"turn_back", "Y=8 X=7 Z=3", "a[Z, Y, X] : input\nb[z:Z, x:X, y:Y] = a[z, y, x]\n",
     "z, y, x:vec =>\n"
     "    @b = z, x, y\n"},
    /* what is made of weights alone: registers of doubles */
    {"packed", "Y=5 X=21 K=7",
     "a[Y, K] : input\n"
     "w[K, X] : weight\n"
     "s[K]    : weight\n"
     "u[k:K, x:X] = (w[k, x]*0.3 - w[K - 1 - k, x]/3.0)*s[k] + max(w[k, x], min(w[0, x], 0.7))\n"
     "b[y:Y, x:X] = sum(k:K) a[y, k] * u[k, x]\n",
     "k, x:vec =>\n"
     "    @u = k, x\n"
     "y, k, x:vec =>\n"
     "    @b = y, x // k\n"},
    /* rows above and below the picture, of a number known at run time: zeros and copies */
    {"pad", "H=19 W=21 ho=4 hi=6 w=21 c=5 C=5 D=4",
     "data[H, W, C] : input\n"
     "out[h:H + 4, w:W, c:C] = inside ? data[h - 2, w, c] : 0\n"
     "    where inside = 2 <= h && h < H + 2\n",
     "ho, hi, w, c:vec =>\n"
     "    @out = {ho, hi}/h, w, c\n"},
};
enum { NUM_PROGRAMS = sizeof programs / sizeof *programs };

static at_low *lower(at_arena *a, const program *p, const at_target *target) {
    at_low *l;
    at_lower_options *o = AT_NEW(a, at_lower_options);
    *o = (at_lower_options){
        .dialect = AT_DIALECT_TCC, .target = target, .name = p->name, .verify = true};
    CALL(at_lower_until(a, program_of(a, p), o, "tiles", &l, &err));
    return l;
}

static int count_ops(const at_low *l, at_tile_kind kind) {
    int n = 0;
    for (int i = 0; i < l->tiles.len; i++)
        for (int j = 0; j < l->tiles.data[i]->num_ops; j++)
            n += l->tiles.data[i]->ops[j].kind == kind;
    return n;
}

/* Where the instructions have it, what lanes read at such places stays in vectors. */
static void bounded_places_are_gathered(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_target *targets[] = {at_target_find("avx2"), at_target_find("avx512")};
    int i = 0;
    while (strcmp(programs[i].name, "bounded") != 0) i++;
    for (int k = 0; k < 2; k++) {
        at_low *l = lower(a, &programs[i], targets[k]);
        assert_int_equal(count_ops(l, AT_T_GATHER),
                         4 * ((45 + targets[k]->lanes - 1) / targets[k]->lanes));
        assert_true(count_ops(l, AT_T_INT_MIN) > 0);
    }
    at_arena_free(a);
}

/* Of a tensor of nearly 2^31 elements, a place and what is added outside of lanes is more than
 * lanes hold. */
static void far_places_are_not_gathered(void **state) {
    (void)state;
    static const char body[] = "x[R, D] : input\n"
                               "e[N]    : index\n"
                               "y[d:D, n:N] = x[min(max(e[n] - 15000000, 0), R - 1), d]\n";
    const program sizes[] = {
        {"near", "R=1000 D=16 N=32", body, "d, n:vec =>\n    @y = d, n\n"},
        {"far", "R=134217720 D=16 N=32", body, "d, n:vec =>\n    @y = d, n\n"}};
    at_arena *a = at_arena_new();
    for (int far = 0; far < 2; far++) {
        at_low *l = lower(a, &sizes[far], at_target_find("avx512"));
        assert_true((count_ops(l, AT_T_GATHER) > 0) == !far);
    }
    at_arena_free(a);
}

static void programs_run(const at_target *target) {
    skip_without(target);
    at_arena *a = at_arena_new();
    int with_trips = 0, with_lists = 0, in_double = 0;
    for (int i = 0; i < NUM_PROGRAMS; i++) {
        at_low *l = lower(a, &programs[i], target);
        assert_true(l->tiles.len > 0);
        for (int j = 0; j < l->tiles.len; j++) {
            with_trips += l->tiles.data[j]->num_trips > 0;
            with_lists += l->tiles.data[j]->num_pointers > 0;
            in_double += l->tiles.data[j]->target->is_double;
            compare_tile(a, l->tiles.data[j], programs[i].name);
        }
    }
    assert_true(with_trips > 0 && with_lists > 0 &&
                in_double > 0); /* or the programs no longer test what they are for */
    at_arena_free(a);
}

static void programs_scalar(void **state) { (void)state, programs_run(at_target_find("scalar")); }
static void programs_sse2(void **state) { (void)state, programs_run(at_target_find("sse2")); }
static void programs_avx2(void **state) { (void)state, programs_run(at_target_find("avx2")); }
static void programs_avx512(void **state) { (void)state, programs_run(at_target_find("avx512")); }
static void programs_a64(void **state) { (void)state, programs_run(at_target_find("a64")); }
static void programs_neon(void **state) { (void)state, programs_run(at_target_find("neon")); }

/* ---- hand-made tiles ------------------------------------------------------------------------- */

/* As many pointers, trip counts and nested loops as no program has at once: some counters have to
 * live on the stack. */
static void most_arguments(at_arena *a, const at_target *target) {
    static const int trip_of[] = {0, 5, -1, 3, 4};
    enum { DEPTH = sizeof trip_of / sizeof *trip_of };
    maker m = start_tile(a, target, AT_TILE_MAX_SLOTS, AT_TILE_MAX_TRIPS);
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
    compare_tile(a, finish(&m), "most_arguments");
}

/* More pointers than registers hold, and registers that lie in memory: passed ones in loops of both
 * kinds, bumped by much and by little, and ones that lists make. */
static void more_pointers_than_registers(at_arena *a, const at_target *target) {
    static const int64_t strides[] = {1, 3, -2};
    for (int i = 0, num_slots = 13; num_slots < MAX_SLOTS; num_slots += 15, i++) {
        entries_miss = i % 2;
        maker m = start_tile(a, target, num_slots, AT_TILE_MAX_TRIPS);
        const int lanes = m.t.lanes, list = num_slots - 5, own = num_slots;
        m.t.num_slots -= 4;
        m.t.num_pointers = 4;
        m.t.num_spilled = 3;
        m.t.slot_type[list] = AT_S32;
        add_op(&m, AT_T_CONST)->dst = 3;
        add_loop(&m, 2, 3);
        add_loop(&m, 2, -1);
        for (int s = 0; s < list; s++) {
            add_move(&m, AT_T_LOAD, 0, s, s - 2, lanes);
            add_move(&m, AT_T_STORE, 0, own, s % 3 * lanes, lanes);
            add_move(&m, AT_T_BCAST, 1, (s + 1) % list, 3, 1);
            add_move(&m, AT_T_LOAD, 2, (s + 5) % list, 0, lanes);
            add_move(&m, AT_T_LOAD, 3, own, s % 3 * lanes, lanes);
            add_arithmetic(&m, AT_T_ADD, 2, 3, 2);
            add_move(&m, AT_T_STORE, 2, s, 0, lanes);
            add_bump(&m, s, s % 2 ? lanes : -lanes, -1);
        }
        for (int k = 0; k < 8; k++) {
            at_tile_op *op = add_index(&m, (k * 5) % list, k, strides[k % 3]);
            op->dst = (int16_t)(num_slots - 4 + k % 4);
            op->slot = (int16_t)list;
            op->may_miss = k % 2;
            const int made = op->dst;
            if (k == 2 && !entries_miss) add_digit(&m, 2, 1, 0, 6);
            add_move(&m, AT_T_BCAST, 1, made, 2, 1);
            add_move(&m, AT_T_STORE, 1, k % list, 9 + k, 1);
        }
        add_op(&m, AT_T_END);
        for (int s = 0; s < list; s++) add_bump(&m, s, s % 3 - 1, 4);
        add_op(&m, AT_T_END);
        for (int s = 0; s < list; s++) add_move(&m, AT_T_STORE, 3, s, 7, 1);
        compare_tile(a, finish(&m), at_format(a, "%d pointers", num_slots));
    }
    entries_miss = false;
}

/* Registers that lie in memory, and trip counts that come in registers, in a tile of few pointers.
 */
static void spilled_beside_passed(at_arena *a, const at_target *target) {
    if (target->is_double) return;
    for (int num_slots = 1; num_slots < 8; num_slots++) {
        maker m = start_tile(a, target, num_slots, AT_TILE_MAX_TRIPS);
        const int lanes = m.t.lanes, own = num_slots;
        m.t.num_spilled = 2;
        for (int trip = 0; trip < AT_TILE_MAX_TRIPS; trip++) {
            for (int r = 2; r <= 3; r++) add_op(&m, AT_T_CONST)->dst = (int16_t)r;
            add_move(&m, AT_T_STORE, 3, own, trip % 2 * lanes, lanes);
            add_loop(&m, 0, trip);
            add_move(&m, AT_T_LOAD, 1, own, trip % 2 * lanes, lanes);
            add_move(&m, AT_T_LOAD, 2, trip % num_slots, trip, lanes);
            add_arithmetic(&m, AT_T_ADD, 2, 1, 2);
            add_move(&m, AT_T_STORE, 2, own, trip % 2 * lanes, lanes);
            add_op(&m, AT_T_END);
            add_move(&m, AT_T_STORE, 2, trip % num_slots, trip, lanes);
        }
        compare_tile(a, finish(&m), at_format(a, "%d pointers, spilled", num_slots));
    }
}

/* Columns that a list names, of a number known at run time, at strides of one and more. */
static void listed_columns(at_arena *a, const at_target *target) {
    static const int64_t strides[] = {1, 3, -2, 37};
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        maker m = start_tile(a, target, 5, 2);
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
        compare_tile(a, finish(&m), at_format(a, "columns times %d", (int)strides[i]));
    }
}

/* Where an entry is below 0, its pointer leads to numbers, of one kind or another. */
static void entries_that_miss(at_arena *a, const at_target *target) {
    static const int64_t strides[] = {1, 3, -2, 37};
    entries_miss = true;
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        maker m = start_tile(a, target, 5, 2);
        int lanes = m.t.lanes;
        add_list(&m);
        add_op(&m, AT_T_CONST)->dst = 0;
        add_loop(&m, 0, 0);
        for (int k = 0; k < 3; k++) {
            at_tile_op *op = add_index(&m, k % 2, k - 1, strides[i]);
            op->may_miss = true;
            op->number = k - 0.5;
            add_move(&m, AT_T_LOAD, 1, 4, AT_TILE_NUMBERS - lanes, lanes);
            add_move(&m, AT_T_BCAST, 2, 4, k, 1);
            add_arithmetic(&m, AT_T_FMA, 0, 1, 2);
        }
        add_bump(&m, 3, 1, -1);
        add_bump(&m, 0, 5, -1);
        add_op(&m, AT_T_END);
        add_move(&m, AT_T_STORE, 0, 2, 0, lanes);
        compare_tile(a, finish(&m), at_format(a, "entries that miss, times %d", (int)strides[i]));
    }
    entries_miss = false;
}

/* Every number of lanes: what lies behind is not touched, unused lanes are zero. */
static void every_tail(at_arena *a, const at_target *target) {
    for (int n = 1; n <= target->lanes; n++) {
        maker m = start_tile(a, target, 4, 0);
        int kinds[] = {AT_T_ADD, AT_T_SUB, AT_T_MUL,  AT_T_DIV, AT_T_MIN,
                       AT_T_MAX, AT_T_FMA, AT_T_FNMA, AT_T_FMS};
        for (int r = 0; r < 5; r++) { /* what the loads have to clear */
            at_tile_op *op = add_op(&m, AT_T_CONST);
            op->dst = (int16_t)r;
            op->number = -0.75F;
        }
        add_move(&m, AT_T_LOAD, 0, 0, 0, n);
        add_move(&m, AT_T_LOAD, 1, 1, 0, n);
        add_arithmetic(&m, AT_T_ADD, 4, 4, 1);
        for (int i = 0; i < (int)(sizeof kinds / sizeof *kinds); i++) {
            add_arithmetic(&m, AT_T_MOV, 2, 1, -1);
            add_arithmetic(&m, kinds[i], 2, 0, kinds[i] == AT_T_DIV ? 4 : 1);
            add_move(&m, AT_T_STORE, 2, 2, i * n, n);
        }
        add_move(&m, AT_T_STORE, 0, 3, 0, m.t.lanes);
        compare_tile(a, finish(&m), at_format(a, "tail of %d", n));
    }
}

/* All numbers of lanes in one tile, over and over, as along a diagonal: more than there are
 * registers for masks, of which a comparison takes one, and more than a few hundred masks. */
static void tails_at_once(at_arena *a, const at_target *target, bool compares) {
    maker m = start_tile(a, target, 3, 0);
    int64_t at = 0;
    for (int i = 0; i < 20; i++)
        for (int n = target->lanes; n > 0; n--, at++) {
            add_move(&m, AT_T_LOAD, 0, 0, at, n);
            if (compares) {
                add_move(&m, AT_T_LOAD, 1, 1, at, target->lanes);
                add_arithmetic(&m, AT_T_LESS, 1, 1, 0);
                add_arithmetic(&m, AT_T_AND, 0, 0, 1);
            }
            add_move(&m, AT_T_STORE, 0, 2, at * target->lanes, n);
        }
    compare_tile(a, finish(&m), compares ? "all tails, compared" : "all tails");
}

/* Every way to spread what is loaded over the lanes, in an order in which one follows another, in
 * and behind a loop. */
static void every_spread(at_arena *a, const at_target *target) {
    for (int by = 2; by < target->lanes; by++)
        for (int number = 0; number < 2 * by; number++) {
            int plus = number / 2, n = (plus + target->lanes - 1) / by + 1;
            maker m = start_tile(a, target, 4, 0);
            add_move(&m, AT_T_LOAD, 0, 0, 1, target->lanes);
            add_loop(&m, 2, -1);
            for (int i = 0; i < 4; i++) {
                at_tile_op *op = add_move(&m, AT_T_LOAD, 1 + i, 1, i, n);
                op->by = i == 2 && target->lanes > 4 ? 3 : by;
                op->plus = i == 2 && target->lanes > 4 ? 2 : i == 3 ? by - 1 : plus;
                op->cyclic = (number + i) % 2;
                op->lanes =
                    (uint8_t)(op->cyclic ? op->by : (op->plus + target->lanes - 1) / op->by + 1);
                add_arithmetic(&m, AT_T_FMA, 0, 1 + i, 1 + i);
                add_move(&m, AT_T_STORE, 1 + i, 2, i * target->lanes, target->lanes);
            }
            add_move(&m, AT_T_LOAD, 1, 3, 0, target->lanes - 1);
            add_move(&m, AT_T_STORE, 1, 3, 2 * target->lanes, target->lanes - 1);
            add_bump(&m, 1, 3, -1);
            add_op(&m, AT_T_END);
            add_move(&m, AT_T_STORE, 0, 3, 0, target->lanes);
            compare_tile(a, finish(&m),
                         at_format(a, "lanes (i + %d)/%d, or what is left", plus, by));
        }
}

/* Every way to pick what is loaded from every so many floats, or to turn what lies there, in and
 * behind a loop, each in one lane and in several; the lanes behind are 0. */
static void every_pick(at_arena *a, const at_target *target) {
    for (int step = -1; step <= target->most_step; step += step < 0 ? 3 : 1)
        for (int n = 2; n <= target->lanes && target->most_step; n++) {
            maker m = start_tile(a, target, 4, 0);
            add_move(&m, AT_T_LOAD, 0, 0, 1, target->lanes);
            add_loop(&m, 2, -1);
            for (int i = 0; i < 4; i++) {
                at_tile_op *op = add_move(&m, AT_T_LOAD, 1 + i, 1, i, i % 2 ? target->lanes : n);
                op->times = i == 2 ? 2 : step;
                const bool is_plain = i == 3 || n == 2 || op->times < 0;
                op->by = is_plain ? 0 : 2 + (n + step * i) % (target->lanes - 2);
                op->plus = op->by ? (n + i) % op->by : 0;
                add_arithmetic(&m, AT_T_FMA, 0, 1 + i, 1 + i);
                add_move(&m, AT_T_STORE, 1 + i, 2, i * target->lanes, target->lanes);
            }
            add_bump(&m, 1, 3, -1);
            add_op(&m, AT_T_END);
            add_move(&m, AT_T_STORE, 0, 3, 0, target->lanes);
            compare_tile(a, finish(&m), at_format(a, "%d lanes, %d*i", n, step));
        }
}

/* Every way to store to every so many floats, beside each other in a loop, and more of them than
 * there are masks; what lies between stays. */
static void every_store_apart(at_arena *a, const at_target *target) {
    for (int step = 2; step <= target->most_stored_step; step++)
        for (int n = 2; n <= target->lanes; n++) {
            maker m = start_tile(a, target, 4, 0);
            for (int i = 0; i < 4; i++) add_move(&m, AT_T_LOAD, i, 1, 3 * i, target->lanes);
            add_loop(&m, 2, -1);
            for (int i = 0; i < 4; i++) {
                at_tile_op *op = add_move(&m, AT_T_STORE, i, 2, i, i % 2 ? target->lanes : n);
                op->times = i == 2 ? 2 : step;
                op = add_move(&m, AT_T_STORE, i, 3, i * step, n);
                op->times = step;
            }
            add_bump(&m, 2, step * target->lanes, -1);
            add_op(&m, AT_T_END);
            compare_tile(a, finish(&m), at_format(a, "%d lanes stored to %d*i", n, step));
        }
}

/* Two and three registers interleaved, into others and in place, with where lanes are from in
 * registers that are left over and without. */
static void every_merge(at_arena *a, const at_target *target) {
    static const int to[][3] = {{3, 0, 1}, {0, 0, 1}, {1, 0, 1}, {0, 0, 0}, {4, 0, 0}};
    for (int i = 0; i < 5 * 6 * 2; i++) {
        static const int of[][3] = {{2, 1, 0}, {2, 1, 1}, {3, 1, 0},
                                    {3, 2, 1}, {3, 1, 2}, {2, 0, 1}};
        const int *registers = to[i % 5], *which = of[i / 5 % 6];
        maker m = start_tile(a, target, 3, 0);
        if (i / 30) m.t.num_regs = 6;
        for (int k = 0; k < 3; k++) add_move(&m, AT_T_LOAD, k, 1, k * target->lanes, target->lanes);
        at_tile_op *op = add_arithmetic(&m, AT_T_MERGE, registers[0], registers[1], registers[2]);
        op->lanes = (uint8_t)target->lanes;
        op->by = which[0] | which[1] << 4 | which[2] << 8;
        add_move(&m, AT_T_STORE, registers[0], 2, 0, target->lanes);
        compare_tile(a, finish(&m), at_format(a, "merge %x, %d", (unsigned)op->by, i));
    }
}

static void hand_made_run(const at_target *target) {
    skip_without(target);
    at_arena *a = at_arena_new();
    most_arguments(a, target);
    every_tail(a, target);
    tails_at_once(a, target, false);
    tails_at_once(a, target, true);
    every_spread(a, target);
    every_pick(a, target);
    every_store_apart(a, target);
    if (target->merges) every_merge(a, target);
    more_pointers_than_registers(a, target);
    spilled_beside_passed(a, target);
    listed_columns(a, target);
    entries_that_miss(a, target);
    if (target->in_double) every_tail(a, target->in_double);
    if (target->in_double) tails_at_once(a, target->in_double, false);
    if (target->in_double) most_arguments(a, target->in_double);
    at_arena_free(a);
}

static void hand_made_scalar(void **state) { (void)state, hand_made_run(at_target_find("scalar")); }
static void hand_made_sse2(void **state) { (void)state, hand_made_run(at_target_find("sse2")); }
static void hand_made_avx2(void **state) { (void)state, hand_made_run(at_target_find("avx2")); }
static void hand_made_avx512(void **state) { (void)state, hand_made_run(at_target_find("avx512")); }
static void hand_made_a64(void **state) { (void)state, hand_made_run(at_target_find("a64")); }
static void hand_made_neon(void **state) { (void)state, hand_made_run(at_target_find("neon")); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounded_places_are_gathered),
        cmocka_unit_test(far_places_are_not_gathered),
        cmocka_unit_test(programs_scalar),
        cmocka_unit_test(programs_sse2),
        cmocka_unit_test(programs_avx2),
        cmocka_unit_test(programs_avx512),
        cmocka_unit_test(programs_a64),
        cmocka_unit_test(programs_neon),
        cmocka_unit_test(hand_made_scalar),
        cmocka_unit_test(hand_made_sse2),
        cmocka_unit_test(hand_made_avx2),
        cmocka_unit_test(hand_made_avx512),
        cmocka_unit_test(hand_made_a64),
        cmocka_unit_test(hand_made_neon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
