/* Stages of bytes in lanes of 8 and 16 bits: the tile interpreter, machine code and compiled C of
 * each instruction set that has them, over all pairs of bytes, against plain loops. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "codegen/lowered.h"
#include "codegen/tile/tile.h"
#include "tests/codegen/support.h"

enum { PAIRS = 256 * 256, SLOTS = 4 };

typedef struct subject {
    const char *name, *types[3], *value; /* of x and w, and of y; what y is */
    int (*plain)(int x, int w, int a);
    int bits;
} subject;

static int least(int x, int y) { return x < y ? x : y; }
static int most(int x, int y) { return x > y ? x : y; }

static int above(int x, int w, int a) { return (void)w, (void)a, x > 127 ? 255 : 0; }
static int from(int x, int w, int a) { return (void)a, x <= w ? x : 7; }
static int apart(int x, int w, int a) { return (void)a, x < w ? 1 : 0; }
static int same(int x, int w, int a) { return (void)a, x == w ? 200 : x; }
static int added(int x, int w, int a) { return (void)a, least(x + w, 255); }
static int added_less(int x, int w, int a) { return (void)a, least(x + w, 200); }
static int taken(int x, int w, int a) { return (void)a, most(x - w, 0); }
static int taken_more(int x, int w, int a) { return (void)a, most(9, x - w); }
static int extreme(int x, int w, int a) { return (void)a, least(most(x, w), 250); }
static int average(int x, int w, int a) { return (void)a, (x + w + 1) / 2; }
static int far(int x, int w, int a) { return (void)a, most(x - w, w - x); }
static int weighed(int x, int w, int a) { return (void)a, (77 * x + 150 * w + 29 * w) / 256; }
static int blended(int x, int w, int a) { return (x * a + w * (255 - a) + 128) / 256; }
static int beyond(int x, int w, int a) { return x > a ? w : 3; }
static int scaled(int x, int w, int a) { return (x * a + w) / 256; }
static int cut(int x, int w, int a) { return (void)a, most(least(x + w, 127), -128); }
static int times(int x, int w, int a) {
    return (void)a, least((x * w + 32768) / 128 - 256, 127); /* down, as a shift goes */
}

static const subject subjects[] = {
    {"above", {"u8", "u8", "u8"}, "x[i] > 127 ? 255 : 0", above, 8},
    {"from", {"u8", "u8", "u8"}, "x[i] <= w[i] ? x[i] : 7", from, 8},
    {"from_signed", {"s8", "s8", "s8"}, "x[i] <= w[i] ? x[i] : 7", from, 8},
    {"apart", {"u8", "u8", "u8"}, "x[i] < w[i] ? 1 : 0", apart, 8},
    {"apart_signed", {"s8", "s8", "s8"}, "x[i] < w[i] ? 1 : 0", apart, 8},
    {"apart_mixed", {"s8", "u8", "u8"}, "x[i] < w[i] ? 1 : 0", apart, 16},
    {"same", {"u8", "u8", "u8"}, "x[i] == w[i] ? 200 : x[i]", same, 8},
    {"added", {"u8", "u8", "u8"}, "min(x[i] + w[i], 255)", added, 8},
    {"added_less", {"u8", "u8", "u8"}, "min(200, x[i] + w[i])", added_less, 8},
    {"taken", {"u8", "u8", "u8"}, "max(x[i] - w[i], 0)", taken, 8},
    {"taken_more", {"u8", "u8", "u8"}, "max(9, x[i] - w[i])", taken_more, 8},
    {"extreme", {"u8", "u8", "u8"}, "min(max(x[i], w[i]), 250)", extreme, 8},
    {"average", {"u8", "u8", "u8"}, "(x[i] + w[i] + 1) >> 1", average, 16},
    {"far", {"u8", "u8", "u8"}, "max(x[i] - w[i], w[i] - x[i])", far, 16},
    {"weighed", {"u8", "u8", "u8"}, "(77*x[i] + 150*w[i] + 29*w[i]) >> 8", weighed, 16},
    {"blended", {"u8", "u8", "u8"}, "(x[i]*a[i] + w[i]*(255 - a[i]) + 128) >> 8", blended, 16},
    {"beyond", {"u8", "u8", "u8"}, "x[i] > a[0] ? w[i] : 3", beyond, 8},
    {"scaled", {"u8", "u8", "u8"}, "(x[i]*a[0] + w[i]) >> 8", scaled, 16},
    {"cut", {"s8", "s8", "s8"}, "min(max(x[i] + w[i], 0 - 128), 127)", cut, 16},
    {"times", {"s8", "s8", "s8"}, "min((x[i]*w[i]) >> 7, 127)", times, 16}};
enum { NUM_SUBJECTS = sizeof subjects / sizeof *subjects };

static uint8_t x[PAIRS], w[PAIRS], a[PAIRS], y[PAIRS];

static int value_of(const char *type, uint8_t byte) { return *type == 's' ? (int8_t)byte : byte; }

static bool reads_third(const subject *s) { return strstr(s->value, "a["); }

static const at_kernel *kernel_of(at_arena *arena, const subject *s, at_dialect dialect,
                                  const at_target *target) {
    const char *third = reads_third(s) ? "a[X] : input u8\n" : "";
    const program p = {
        s->name,
        at_format(arena, "X=65536 xo=%d xi=%d", PAIRS / 4 / target->lanes, 4 * target->lanes),
        at_format(arena, "x[X] : input %s\nw[X] : input %s\n%sy[i:X] : %s = %s\n", s->types[0],
                  s->types[1], third, s->types[2], s->value),
        "xo, xi:vec =>\n    @y = {xo, xi}/i\n"};
    const at_lower_options o = {
        .dialect = dialect, .target = target, .name = s->name, .verify = true};
    at_kernel *k;
    CALL(at_lower(arena, program_of(arena, &p), &o, &k, &err));
    return k;
}

/* What y became; x and w go through all pairs, and a is one number. */
static void check(const subject *s, const at_target *target, const char *how, int third) {
    for (int i = 0; i < PAIRS; i++) {
        const int expected =
            s->plain(value_of(s->types[0], x[i]), value_of(s->types[1], w[i]), third);
        if (y[i] != (uint8_t)expected)
            fail_msg("%s, %s, %s: of %d and %d, %d", s->name, target->name, how, x[i], w[i], y[i]);
    }
}

static void fill(int third) {
    for (int i = 0; i < PAIRS; i++) x[i] = (uint8_t)(i / 256), w[i] = (uint8_t)i;
    memset(a, third, sizeof a);
    memset(y, 99, sizeof y);
}

static void slots_of(const at_tile *t, void *slot[SLOTS]) {
    for (int i = 0; i < t->num_slots; i++)
        slot[i] = *t->slot_name[i] == 'x'   ? x
                  : *t->slot_name[i] == 'w' ? w
                  : *t->slot_name[i] == 'a' ? a
                                            : y;
}

/* All that is done with bytes is done in lanes of so many bits. */
static void is_narrow(const subject *s, const at_tile *t) {
    int found = 0;
    for (int i = 0; i < t->num_ops; i++) {
        const at_tile_op *op = &t->ops[i];
        found |= op->bits;
        if ((op->kind == AT_T_LOAD || op->kind == AT_T_STORE) && !op->packed)
            fail_msg("%s, %s: bytes are widened", s->name, t->target->name);
    }
    assert_int_equal(found, s->bits);
}

static void tiles(at_arena *arena, const subject *s, const at_target *target) {
    const at_kernel *k = kernel_of(arena, s, AT_DIALECT_TCC, target);
    const at_tile *t = k->lowered->tiles[0];
    const size_t bytes = (size_t)k->tiles[0].size_bytes;
    void *slot[SLOTS] = {NULL}, (*tile)(void *, void *, void *, void *);
    assert_int_equal(k->num_tiles, 1);
    is_narrow(s, t);
    slots_of(t, slot);
    float *places[SLOTS];
    memcpy(places, slot, sizeof slot);
    fill(77);
    at_tile_interpret(t, places, NULL);
    check(s, target, "interpreted", 77);
    if (!cpu_has(target)) return;
    void *code = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(code != MAP_FAILED);
    memcpy(code, k->tiles[0].bytes, bytes);
    assert_int_equal(mprotect(code, bytes, PROT_READ | PROT_EXEC), 0);
    memcpy(&tile, &code, sizeof tile);
    for (int third = reads_third(s) ? 0 : 255; third < 256; third++) {
        fill(third);
        tile(slot[0], slot[1], slot[2], slot[3]);
        check(s, target, "machine code", third);
    }
    munmap(code, bytes);
}

static void machine_code(void **state) {
    (void)state;
    const at_target *target;
    for (int i = 0; (target = at_target_at(i)); i++)
        for (int k = 0; k < NUM_SUBJECTS && target->narrows; k++) {
            at_arena *arena = at_arena_new();
            tiles(arena, &subjects[k], target);
            at_arena_free(arena);
        }
}

static void compiled_for(at_arena *arena, const at_target *target) {
    at_text source = {0};
    at_error err;
    const char *path = at_format(arena, "%s/%s", folder, target->name);
    for (int k = 0; k < NUM_SUBJECTS; k++) {
        const at_kernel *of = kernel_of(arena, &subjects[k], AT_DIALECT_GNU, target);
        at_text_add(&source, k ? of->source + of->common_bytes : of->source);
    }
    assert_int_equal(
        at_write_file(at_format(arena, "%s.c", path), at_text_str(&source), source.len, &err),
        AT_OK);
    at_text_free(&source);
    const char *command = at_format(arena,
                                    "gcc -O2 -Wall -Wextra -Werror -fsanitize=undefined "
                                    "-fsanitize-undefined-trap-on-error -shared -fPIC "
                                    "-o %s.so %s.c 2>&1",
                                    path, path);
    assert_int_equal(system(command), 0);
    void *object = dlopen(at_format(arena, "%s.so", path), RTLD_NOW);
    if (!object) fail_msg("%s", dlerror());
    for (int k = 0; k < NUM_SUBJECTS; k++) {
        const subject *s = &subjects[k];
        void *const with_third[] = {x, w, a, y}, *const without[] = {x, w, y};
        int (*entry)(void *const buf[], void *workspace, void *par);
        *(void **)&entry = dlsym(object, at_format(arena, "%s_entry", s->name));
        assert_non_null(entry);
        fill(200);
        assert_int_equal(entry(reads_third(s) ? with_third : without, NULL, NULL), 0);
        check(s, target, "compiled", 200);
    }
    dlclose(object);
}

static void compiled(void **state) {
    (void)state;
    const at_target *target;
    int ran = 0;
    for (int i = 0; (target = at_target_at(i)); i++) {
        if (!target->narrows || !cpu_has(target)) continue;
        at_arena *arena = at_arena_new();
        compiled_for(arena, target);
        at_arena_free(arena);
        ran++;
    }
    if (!ran) skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(machine_code), cmocka_unit_test(compiled)};
    return cmocka_run_group_tests_name("codegen/bytes", tests, make_folder, remove_folder);
}
