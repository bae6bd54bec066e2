/* Elements narrower than a lane, integers of 32 bits and dot products: machine code of
 * each instruction set that knows them, against the interpreter of tiles. */
#include <sys/mman.h>

#include "tests/codegen/hand_made.h"
#include "tests/codegen/support.h"

#include <math.h>
#include <string.h>

enum { BYTES = 2048, BEGIN = 64 }; /* of a tensor, whose pointer leads to the middle of it */
enum { LEFT, RIGHT, OUT, TENSORS };
enum { HALF = 128 };

typedef struct memory {
    _Alignas(64) uint8_t of[TENSORS][BYTES];
} memory;

static const at_type types[] = {AT_U8, AT_S8, AT_S16};
enum { NUM_TYPES = sizeof types / sizeof *types };

static bool runs(const at_target *t) { return t->has_integers && t->encode && cpu_has(t); }

/* All bytes, the extremes among them. */
static void fill(memory *m) {
    at_rng rng;
    at_rng_seed(&rng, 11, 1);
    for (int t = 0; t < TENSORS; t++)
        for (int i = 0; i < BYTES; i++) {
            const uint8_t extremes[] = {0, 127, 128, 255};
            const uint64_t x = at_rng_below(&rng, 512);
            m->of[t][i] = x < 256 ? (uint8_t)x : extremes[x % 4];
        }
}

static void run(const at_tile *t, memory *m) {
    const size_t bytes = (size_t)t->code_bytes;
    void (*tile)(void *, void *, void *);
    void *code = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(code != MAP_FAILED);
    memcpy(code, t->code, bytes);
    assert_int_equal(mprotect(code, bytes, PROT_READ | PROT_EXEC), 0);
    memcpy(&tile, &code, sizeof tile);
    tile(m->of[LEFT] + BEGIN, m->of[RIGHT] + BEGIN, m->of[OUT] + BEGIN);
    munmap(code, bytes);
}

static void interpret(const at_tile *t, memory *x) {
    float *slots[TENSORS];
    for (int i = 0; i < TENSORS; i++) {
        void *begin = x->of[i] + BEGIN;
        slots[i] = begin;
    }
    at_tile_interpret(t, slots, NULL);
}

static void compare(maker *m, const char *what, int lanes) {
    memory found, expected;
    at_tile *t = finish(m);
    if (!t->target->encode(m->arena, t)) fail_msg("%s: %s is not encoded", t->target->name, what);
    fill(&found);
    fill(&expected);
    run(t, &found);
    interpret(t, &expected);
    if (memcmp(&found, &expected, sizeof found))
        fail_msg("%s: %s of %d lanes", t->target->name, what, lanes);
}

static maker start(at_arena *a, const at_target *target, at_type in, at_type out) {
    maker m = start_tile(a, target, TENSORS, 0);
    m.t.slot_type[LEFT] = m.t.slot_type[RIGHT] = in;
    m.t.slot_type[OUT] = out;
    return m;
}

/* As many lanes as are loaded, and the zeros behind them, stored once and twice. */
static void moves(at_arena *a, const at_target *target) {
    for (int i = 0; i < NUM_TYPES; i++)
        for (int n = 1; n <= target->lanes; n++)
            for (int way = 0; way < 4; way++) {
                const bool widens = way % 2, again = way / 2;
                maker m = start(a, target, types[i], widens ? AT_S32 : types[i]);
                add_move(&m, AT_T_LOAD, 1, LEFT, 3, n);
                add_move(&m, AT_T_STORE, 1, OUT, 5, widens ? target->lanes : n);
                if (again) add_move(&m, AT_T_STORE, 1, OUT, 64, target->lanes);
                compare(&m, at_type_of(types[i])->name, n);
            }
}

/* Four lanes as they lie, which squares are turned round with. */
static void packed_moves(at_arena *a, const at_target *target) {
    for (int i = 0; i < NUM_TYPES; i++) {
        maker m = start(a, target, types[i], types[i]);
        add_move(&m, AT_T_LOAD, 1, LEFT, 3, 4)->packed = true;
        add_move(&m, AT_T_STORE, 1, OUT, -5, 4)->packed = true;
        compare(&m, at_format(a, "packed %s", at_type_of(types[i])->name), 4);
    }
}

/* Squares beside each other: fours of lanes from places of their own, before or behind the first,
 * turned round together, and stored to such places. */
static void fours_apart(at_arena *a, const at_target *target) {
    static const int distances[] = {-8, 4, 24, 56};
    for (int i = 0; i < 4 * NUM_TYPES && target->gnu_insert; i++) {
        const at_type type = types[i % NUM_TYPES];
        const int lanes = target->lanes;
        const bool packed = at_type_bytes(type) < 4;
        maker m = start(a, target, type, type);
        for (int v = 0; v < 2; v++) {
            at_tile_op *op = add_move(&m, AT_T_LOAD, v, v ? RIGHT : LEFT, 3, lanes);
            op->packed = packed;
            op->fours = distances[i / NUM_TYPES];
        }
        for (int k = 0; k < 8; k++) {
            add_arithmetic(&m, AT_T_ZIP_LOW + k, 2 + k, 0, 1)->lanes = (uint8_t)lanes;
            add_move(&m, AT_T_STORE, 2 + k, OUT, 64 * k, lanes)->packed = packed;
        }
        if (!packed) add_move(&m, AT_T_STORE, 2, OUT, 3, lanes)->fours = distances[i / NUM_TYPES];
        compare(&m, at_format(a, "fours of %s", at_type_of(type)->name), lanes);
    }
}

/* Also what lies behind the rows that are loaded: zeros. */
static void weaves(at_arena *a, const at_target *target) {
    for (int rows = 1; rows <= 4 && target->weaves; rows++) {
        maker m = start(a, target, AT_U8, AT_S32);
        add_move(&m, AT_T_LOAD, 1, LEFT, 3, target->lanes / 4 * rows)->packed = true;
        add_arithmetic(&m, AT_T_WEAVE, rows, 1, -1);
        add_move(&m, AT_T_STORE, rows, OUT, 0, target->lanes);
        compare(&m, "rows woven", rows);
    }
}

/* Two to four vectors, cut to bytes that lie in order. */
static void cuts(at_arena *a, const at_target *target) {
    static const at_type bytes[] = {AT_U8, AT_S8};
    for (int i = 0; i < 6 && target->cuts; i++) {
        const at_type type = bytes[i % 2];
        const int lanes = target->lanes, num = 2 + i / 2;
        if (num == 3 && !target->masked_stores) continue;
        maker m = start(a, target, AT_S16, type);
        for (int v = 0; v < num; v++) add_move(&m, AT_T_LOAD, v, LEFT, 3 + v * lanes, lanes);
        for (int v = 0; v < num; v += 2)
            add_arithmetic(&m, AT_T_CUT, v, v, v + 1 < num ? v + 1 : v)->by = AT_S16;
        add_arithmetic(&m, AT_T_CUT, 1, 0, num > 2 ? 2 : 0)->by = (int)type;
        add_arithmetic(&m, AT_T_QUARTERS, 2, 1, -1);
        add_move(&m, AT_T_STORE, 2, OUT, 5, num * lanes / 4)->packed = true;
        compare(&m, at_format(a, "%d cut to %s", num, at_type_of(type)->name), lanes);
        memory found;
        fill(&found);
        interpret(&m.t, &found);
        for (int k = 0; k < num * lanes; k++) {
            const uint8_t *from = &found.of[LEFT][BEGIN + 2 * (3 + k)];
            const int x = (int16_t)(from[0] | from[1] << 8), least = i % 2 ? -128 : 0,
                      most = least + 255,
                      cut = x < least  ? least
                            : x > most ? most
                                       : x;
            assert_int_equal(found.of[OUT][BEGIN + 5 + k], (uint8_t)cut);
        }
    }
}

static void broadcasts(at_arena *a, const at_target *target) {
    for (int i = 0; i < NUM_TYPES; i++) {
        maker m = start(a, target, types[i], AT_S32);
        add_move(&m, AT_T_BCAST, 0, LEFT, -7, 1);
        add_move(&m, AT_T_STORE, 0, OUT, 0, target->lanes);
        compare(&m, "a broadcast", target->lanes);
    }
}

static void arithmetic(at_arena *a, const at_target *target) {
    static const at_tile_kind kinds[] = {AT_T_INT_ADD, AT_T_INT_SUB, AT_T_INT_MUL, AT_T_INT_MIN,
                                         AT_T_INT_MAX};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        maker m = start(a, target, AT_S16, AT_S32);
        add_move(&m, AT_T_LOAD, 0, LEFT, 0, target->lanes);
        add_move(&m, AT_T_LOAD, 1, RIGHT, 0, target->lanes);
        add_arithmetic(&m, (int)kinds[k], 2, 0, 1);
        add_move(&m, AT_T_STORE, 2, OUT, 0, target->lanes);
        compare(&m, "arithmetic", target->lanes);
    }
}

/* mask: bits that are left of bytes without sign. */
static void bytes(at_arena *a, const at_target *target, int mask, bool folds) {
    maker m = start(a, target, AT_U8, AT_S32);
    m.t.slot_type[RIGHT] = AT_S8;
    add_move(&m, AT_T_LOAD, 0, LEFT, 4, target->lanes)->packed = true;
    add_op(&m, AT_T_CONST)->dst = 1;
    m.ops.data[m.ops.len - 1].number = at_number_of_bits((uint32_t)mask * 0x01010101u);
    add_arithmetic(&m, AT_T_AND, 0, 0, 1);
    if (!folds) add_move(&m, AT_T_LOAD, 2, RIGHT, 8, target->lanes)->packed = true;
    add_move(&m, AT_T_LOAD, 3, OUT, 0, target->lanes);
    at_tile_op *op = add_arithmetic(&m, AT_T_DOT, 3, 0, folds ? -1 : 2);
    op->by = AT_DOT_US;
    op->packed = true;
    if (folds) {
        op->mem = AT_MEM_VECTOR;
        op->lanes = (uint8_t)target->lanes;
        op->slot = RIGHT;
        op->off = 8;
    }
    add_move(&m, AT_T_STORE, 3, OUT, 0, target->lanes);
    compare(&m, "a dot product", mask);
}

/* What a dot product adds to the lanes of OUT; the second operand in a register or in memory. */
static void add_dot(maker *m, const at_target *target, int kind, at_tile_mem mem) {
    const int lanes = target->lanes;
    add_move(m, AT_T_LOAD, 0, LEFT, 4, lanes)->packed = true;
    if (mem == AT_MEM_NONE) add_move(m, AT_T_LOAD, 2, RIGHT, 8, lanes)->packed = true;
    add_move(m, AT_T_LOAD, 3, OUT, 0, lanes);
    at_tile_op *op = add_arithmetic(m, AT_T_DOT, 3, 0, mem == AT_MEM_NONE ? 2 : -1);
    op->by = kind;
    op->packed = true;
    if (mem != AT_MEM_NONE) {
        op->mem = (uint8_t)mem;
        op->lanes = (uint8_t)lanes;
        op->slot = RIGHT;
        op->off = 8;
    }
    add_move(m, AT_T_STORE, 3, OUT, 0, lanes);
}

static void words(at_arena *a, const at_target *target, at_tile_mem mem) {
    maker m = start(a, target, AT_S16, AT_S32);
    add_dot(&m, target, AT_DOT_S16, mem);
    compare(&m, "a dot product of s16", mem);
}

/* ---- dot products of bf16: in which order a CPU adds, and what it rounds, is its own ----------
 */

/* Exponents: all about 1; all below that; denormal ones, and the largest beside them. */
enum { NEAR_ONE, SMALL, DENORMAL, DRAWS };

static uint16_t upper_half(at_rng *rng, int draw) {
    const uint16_t x = (uint16_t)at_rng_below(rng, 65536);
    if (draw == NEAR_ONE) return (uint16_t)((x & 0x80ff) | 0x3f00);
    if (draw == SMALL) return x & 0xbfff;
    return x & 0x100 ? x & 0x807f : (uint16_t)((x & 0x80ff) | 0x5d00);
}

static void fill_halves(memory *m, int draw) {
    at_rng rng;
    at_rng_seed(&rng, 12, (uint64_t)draw);
    for (int t = 0; t < TENSORS; t++)
        for (int i = 0; i < BYTES; i += 2) {
            const uint16_t x = upper_half(&rng, draw);
            memcpy(&m->of[t][i], &x, sizeof x);
        }
}

static double half_of(const memory *m, int tensor, int64_t element) {
    return at_type_value(AT_BF16, m->of[tensor] + BEGIN, element);
}

static double lane_of(const memory *m, int lane) {
    float x;
    memcpy(&x, m->of[OUT] + BEGIN + 4 * lane, sizeof x);
    return (double)x;
}

/* Sizes of all that is added up to a lane; and what is lost where denormal factors count as 0. */
static double size_of(const memory *m, int lane, bool is_broadcast, double *lost) {
    double size = fabs(lane_of(m, lane));
    *lost = 4 * 0x1p-126;
    for (int j = 0; j < 2; j++) {
        const double x = fabs(half_of(m, LEFT, 4 + 2 * lane + j)),
                     y = fabs(half_of(m, RIGHT, 8 + 2 * (is_broadcast ? 0 : lane) + j));
        size += x * y;
        if (x < 0x1p-126 || y < 0x1p-126) *lost += x * y;
    }
    return size;
}

/* Against the interpreter, and against sums in double: three roundings of what is added up. */
static void halves(at_arena *a, const at_target *target, at_tile_mem mem, int draw) {
    const bool is_broadcast = mem == AT_MEM_BCAST;
    maker m = start(a, target, AT_BF16, AT_F32);
    memory before, found, expected;
    add_dot(&m, target, AT_DOT_BF16, mem);
    at_tile *t = finish(&m);
    if (!target->encode(a, t)) fail_msg("%s: a dot product of bf16 is not encoded", target->name);
    fill_halves(&before, draw);
    found = expected = before;
    run(t, &found);
    interpret(t, &expected);
    for (int i = 0; i < target->lanes; i++) {
        double lost, sum = lane_of(&before, i);
        const double size = size_of(&before, i, is_broadcast, &lost), near = 3 * 0x1p-24 * size;
        for (int j = 0; j < 2; j++)
            sum += half_of(&before, LEFT, 4 + 2 * i + j) *
                   half_of(&before, RIGHT, 8 + 2 * (is_broadcast ? 0 : i) + j);
        if (fabs(lane_of(&found, i) - sum) > near + lost ||
            fabs(lane_of(&expected, i) - sum) > near + lost)
            fail_msg("%s, draw %d, lane %d: %g, interpreted %g, in double %g", target->name, draw,
                     i, lane_of(&found, i), lane_of(&expected, i), sum);
    }
}

/* Terms that go where integers that lie side by side say, whether their type has others or not, and
 * rows of terms. */
static void places(at_arena *a, const at_target *target) {
    for (int i = 0; i < NUM_TYPES; i++)
        for (int n = 1; n <= target->lanes; n++)
            for (int k = 0; k < 4; k++) {
                maker m = start(a, target, types[i], AT_S32);
                at_tile_op *op = add_op(&m, AT_T_CONST);
                op->dst = 0;
                op->number = 1;
                m.t.num_regs = 1;
                op = add_op(&m, AT_T_SCATTER);
                op->b = 0;
                op->base = LEFT;
                op->trip = 3;
                op->slot = OUT;
                op->lanes = (uint8_t)n;
                op->bump = 1;
                op->most = k % 2 ? 255 : 200;
                op->by = AT_T_INT_ADD;
                op->plus = true;
                op->cyclic = k / 2 && n > 1;
                compare(&m, k / 2 ? "a row's place" : "places", n);
            }
}

static void machine_code(void **state) {
    (void)state;
    static const int masks[] = {15, 127, HALF, 255};
    const at_target *target;
    int ran = 0;
    for (int i = 0; (target = at_target_at(i)); i++) {
        if (!runs(target)) continue;
        at_arena *a = at_arena_new();
        moves(a, target);
        packed_moves(a, target);
        fours_apart(a, target);
        weaves(a, target);
        cuts(a, target);
        broadcasts(a, target);
        places(a, target);
        arithmetic(a, target);
        for (size_t k = 0; k < sizeof masks / sizeof *masks && target->dots & AT_DOT_US; k++)
            for (int folds = 0; folds <= target->fold_vector; folds++)
                if (masks[k] <= HALF || !target->dot_regs) bytes(a, target, masks[k], folds);
        for (int k = 0; k <= target->fold_vector && target->dots & AT_DOT_S16; k++)
            words(a, target, k ? AT_MEM_VECTOR : AT_MEM_NONE);
        for (int k = 0; k < 3 * DRAWS && target->dots & AT_DOT_BF16; k++)
            halves(a, target, (at_tile_mem[]){AT_MEM_NONE, AT_MEM_VECTOR, AT_MEM_BCAST}[k % 3],
                   k / 3);
        at_arena_free(a);
        ran++;
    }
    if (!ran) skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(machine_code)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
