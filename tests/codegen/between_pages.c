/* See between_pages.h. */
#include "tests/codegen/between_pages.h"

#include <string.h>
#include <sys/mman.h>

#include "tests/codegen/support.h"
#include "tests/kept_registers.h"

enum { PAGE = 4096, PATTERN = 255 };

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

void skip_without(const at_target *target) {
    if (cpu_has(target)) return;
    print_message("this CPU has no %s\n", target->name);
    skip();
}

/* ---- operands -------------------------------------------------------------------------------- */

typedef struct {
    int64_t lo, hi; /* elements from the pointer at entry, hi exclusive; hi <= lo: none */
} extent;

bool entries_miss;
/* What index lists hold, by the position from the pointer at entry. */
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

void compare_tile(at_arena *a, at_tile *t, const char *name) {
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
