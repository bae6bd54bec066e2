/* Floats of 16 bits in tiles: every one of them as it is loaded, and as it is stored, some lanes at
 * a time and one for all lanes, by the tile interpreter, in machine code and in C of each
 * instruction set; and rounding to them. Compared with base/type.c. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "codegen/lowered.h"
#include "codegen/tile/tile.h"
#include "tests/codegen/support.h"

enum { MOST = 1 << 16 };

static uint16_t bits[MOST];
static float numbers[MOST], ones[16];
static union {
    float f[MOST * 16];
    uint16_t h[MOST * 16];
} out;

typedef struct form {
    const char *text, *tree;
    bool stores, spreads;
} form;
static const form forms[] = {
    {"x[X] : input %s\ny[i:X] = x[i]\n", "xo, xi:vec =>\n    @y = {xo, xi}/i\n", false, false},
    {"x[X] : input\ny[i:X] : %s = x[i]\n", "xo, xi:vec =>\n    @y = {xo, xi}/i\n", true, false},
    {"x[X] : input %s\nw[16] : input\ny[i:X, j:16] = x[i]*w[j]\n",
     "xo, xi:unroll, j:vec =>\n    @y = {xo, xi}/i, j\n", false, true}};

static const at_kernel *kernel_of(at_arena *a, const form *f, at_type type, int n,
                                  at_dialect dialect, const at_target *target) {
    char text[200];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, f->text, at_type_of(type)->name);
#pragma GCC diagnostic pop
    const program p = {"halves", at_format(a, "X=%d xo=%d xi=%d j=16", MOST / n * n, MOST / n, n),
                       text, f->tree};
    const at_lower_options o = {.dialect = dialect, .target = target, .name = "k", .verify = true};
    at_kernel *k;
    CALL(at_lower(a, program_of(a, &p), &o, &k, &err));
    return k;
}

static void *slot_of(const at_tile *t, int i, const form *f) {
    if (t->slot_written[i]) return &out;
    if (f->stores) return numbers;
    return at_type_is_half(t->slot_type[i]) ? (void *)bits : (void *)ones;
}

/* By the tile alone, as code or interpreted. */
static void run_tile(const at_kernel *k, const form *f, bool interprets) {
    const at_tile *t = k->lowered->tiles[0];
    float *slots[AT_TILE_MAX_SLOTS] = {NULL};
    assert_int_equal(k->num_tiles, 1);
    for (int i = 0; i < t->num_slots; i++) slots[i] = slot_of(t, i, f);
    if (interprets) {
        at_tile_interpret(t, slots, NULL);
        return;
    }
    const size_t bytes = (size_t)k->tiles[0].size_bytes;
    void *code = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void (*tile)(void *, void *, void *);
    assert_true(code != MAP_FAILED);
    memcpy(code, k->tiles[0].bytes, bytes);
    assert_int_equal(mprotect(code, bytes, PROT_READ | PROT_EXEC), 0);
    *(void **)&tile = code;
    tile(slots[0], slots[1], slots[2]);
    munmap(code, bytes);
}

static void run_compiled(at_arena *a, const at_kernel *k, const form *f, const char *compiler) {
    static int number;
    const char *path = at_format(a, "%s/h%d", folder, number++);
    int (*entry)(void *const buf[], void *workspace, void *par);
    at_error err;
    assert_int_equal(at_write_file(at_format(a, "%s.c", path), k->source, strlen(k->source), &err),
                     AT_OK);
    assert_int_equal(system(at_format(a, "%s -O1 -Wall -Wextra -Werror -shared -fPIC -o %s.so %s.c",
                                      compiler, path, path)),
                     0);
    void *object = dlopen(at_format(a, "%s.so", path), RTLD_NOW);
    if (!object) fail_msg("%s", dlerror());
    *(void **)&entry = dlsym(object, "k_entry");
    void *const buf[] = {f->stores ? (void *)numbers : (void *)bits,
                         f->spreads ? (void *)ones : (void *)&out, &out};
    entry(buf, NULL, NULL);
    dlclose(object);
}

/* What should be number i of the outputs; NaN: any that is none. */
static bool is_right(const form *f, at_type type, int i) {
    if (f->stores) {
        uint16_t want[1];
        at_type_store(type, want, 0, numbers[i]);
        return isnan(numbers[i]) ? isnan(at_type_value(type, out.h, i)) : out.h[i] == *want;
    }
    const double want = at_type_value(type, bits, f->spreads ? i / 16 : i);
    const float got = out.f[i];
    if (isnan(want)) return isnan(got);
    return (double)got == want && !signbit(got) == !signbit(want);
}

static void check(const form *f, at_type type, int n, const char *what) {
    const int count = MOST / n * n * (f->spreads ? 16 : 1);
    for (int i = 0; i < count; i++)
        if (!is_right(f, type, i))
            fail_msg("%s, %d lanes of %s, %s: element %d is wrong: %a", what, n,
                     at_type_of(type)->name, f->stores ? "stored" : "loaded", i,
                     f->stores ? at_type_value(type, out.h, i) : (double)out.f[i]);
    memset(&out, 0x55, sizeof out);
}

/* All floats of 16 bits, and floats: those themselves, what lies halfway, and beside that. */
static void fill(at_type type) {
    for (int i = 0; i < MOST; i++) {
        const float x = (float)at_type_value(type, (uint16_t[]){(uint16_t)i}, 0);
        const uint32_t half = at_bits_of(x) + (type == AT_F16 ? 0x1000 : 0x8000);
        bits[i] = (uint16_t)i;
        numbers[i] = i % 4 ? at_of_bits(half + (uint32_t)(i % 4) - 2) : x;
    }
    for (int i = 0; i < 16; i++) ones[i] = 1;
    memset(&out, 0x55, sizeof out);
}

static const int lanes[] = {1, 2, 3, 4, 5, 7, 8, 11, 16};
enum { NUM_LANES = sizeof lanes / sizeof *lanes };

static void everywhere(void (*try)(at_arena *a, const form *f, at_type type, int n)) {
    for (at_type type = AT_F16; type <= AT_BF16; type++) {
        fill(type);
        for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
            for (int n = 0; n < NUM_LANES; n++) {
                at_arena *a = at_arena_new();
                if (!forms[i].spreads || lanes[n] <= 4) try(a, &forms[i], type, lanes[n]);
                at_arena_free(a);
            }
    }
}

/* Are its instructions for these those of the target that it is like? */
static bool is_another(const at_target *t) {
    return t->like && t->converts_halves == at_target_find(t->like)->converts_halves;
}

static void try_tiles(at_arena *a, const form *f, at_type type, int n) {
    const at_target *target;
    for (int i = 0; (target = at_target_at(i)); i++) {
        if (!target->has_halves || is_another(target)) continue;
        const at_kernel *k = kernel_of(a, f, type, n, AT_DIALECT_TCC, target);
        run_tile(k, f, true);
        check(f, type, n, at_format(a, "%s, interpreted", target->name));
        if (!cpu_has(target)) continue;
        run_tile(k, f, false);
        check(f, type, n, target->name);
    }
}

static void tiles(void **state) {
    (void)state;
    everywhere(try_tiles);
}

static const char *compiler;

static void try_gnu(at_arena *a, const form *f, at_type type, int n) {
    const at_target *target;
    if (n != 3 && n != 16 && !f->spreads) return; /* some lanes, and all */
    if (f->spreads && n != 1) return;
    for (int i = 0; (target = at_target_at(i)); i++) {
        if (!target->has_halves || is_another(target) || !cpu_has(target)) continue;
        run_compiled(a, kernel_of(a, f, type, n, AT_DIALECT_GNU, target), f, compiler);
        check(f, type, n, at_format(a, "%s, %s", target->name, compiler));
    }
    run_compiled(a, kernel_of(a, f, type, n, AT_DIALECT_C, NULL), f, compiler);
    check(f, type, n, at_format(a, "plain C, %s", compiler));
}

static void compilers(void **state) {
    (void)state;
    static const char *const names[] = {"gcc", "clang"};
    for (int c = 0; c < 2; c++) {
        char command[60];
        snprintf(command, sizeof command, "%s --version >/dev/null 2>&1", names[c]);
        compiler = names[c];
        if (system(command)) print_message("there is no %s\n", compiler);
        else everywhere(try_gnu);
    }
}

/* Sums of products of two of them: vectors by numbers and by vectors, of some rows and terms. */
static const program products[] = {{"few", "M=3 N=8 K=2 k=2 yi=3 xi=8",
                                    "x[M, K] : input f16\nw[K, N] : input f16\n"
                                    "y[m:M, n:N] = sum(k:K) x[m, k]*w[k, n]\n",
                                    "k, yi:unroll, xi:vec =>\n    @y = yi, xi // k\n"},
                                   {"rest", "M=5 N=7 K=11 k=11 yi=5 xi=7",
                                    "x[M, K] : input f16\nw[K, N] : input f16\n"
                                    "y[m:M, n:N] = sum(k:K) x[m, k]*w[k, n]\n",
                                    "k:unroll, yi:unroll, xi:vec =>\n    @y = yi, xi // k\n"},
                                   {"numbers", "M=2 N=24 K=9 k=9 yi=2 xi=24",
                                    "x[M, K] : input f16\nw[K, N] : input f16\n"
                                    "y[m:M, n:N] = sum(k:K) w[k, n]*x[m, k]\n",
                                    "k:unroll, yi:unroll, xi:vec =>\n    @y = yi, xi // k\n"},
                                   {"lanes", "N=12 K=3 k=3 xi=12",
                                    "x[K, N] : input f16\nw[K, N] : input f16\n"
                                    "y[n:N] = sum(k:K) x[k, n]*w[k, n]\n",
                                    "k:unroll, xi:vec =>\n    @y = xi // k\n"},
                                   {"both", "N=12 K=3 k=3 xi=12",
                                    "x[K, N] : input f16\nw[K, N] : input f16\n"
                                    "y[n:N] = sum(k:K) (x[k, n]*w[k, n] + x[k, n])\n",
                                    "k:unroll, xi:vec =>\n    @y = xi // k\n"}};

/* Where a set multiplies them as they lie, each sum has the bits that it has where they are widened
 * first. */
static void products_are_exact(void **state) {
    (void)state;
    enum { MOST_SUMS = 64, DRAWS = 20 };
    const at_target *sets[] = {at_target_find("neon"), at_target_find("neon_fp16fml")};
    uint16_t x[128], w[256];
    float sums[3][MOST_SUMS];
    at_rng rng;
    at_rng_seed(&rng, 16, 1);
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        at_arena *a = at_arena_new();
        const at_kernel *k[2];
        for (int s = 0; s < 2; s++) {
            const at_lower_options o = {
                .dialect = AT_DIALECT_TCC, .target = sets[s], .name = "k", .verify = true};
            at_kernel *made;
            CALL(at_lower(a, program_of(a, &products[i]), &o, &made, &err));
            assert_int_equal(made->num_tiles, 1);
            k[s] = made;
        }
        const at_tile *of[2] = {k[0]->lowered->tiles[0], k[1]->lowered->tiles[0]};
        int by_halves = 0;
        for (int j = 0; j < of[1]->num_ops; j++)
            by_halves += of[1]->ops[j].halves && of[1]->ops[j].kind == AT_T_FMA;
        assert_int_equal(by_halves > 0, strcmp(products[i].name, "both") != 0);
        for (int draw = 0; draw < DRAWS; draw++) {
            for (int j = 0; j < 128; j++) x[j] = (uint16_t)at_rng_below(&rng, 1 << 16) & 0xbfff;
            for (int j = 0; j < 256; j++) w[j] = (uint16_t)at_rng_below(&rng, 1 << 16) & 0xbfff;
            memset(sums, 0, sizeof sums);
            for (int s = 0; s < 2; s++) {
                float *slots[AT_TILE_MAX_SLOTS] = {NULL};
                for (int j = 0; j < of[s]->num_slots; j++)
                    slots[j] = of[s]->slot_written[j]              ? sums[s]
                               : !strcmp(of[s]->slot_name[j], "x") ? (float *)(void *)x
                                                                   : (float *)(void *)w;
                at_tile_interpret(of[s], slots, NULL);
            }
            assert_memory_equal(sums[0], sums[1], sizeof sums[0]);
        }
        at_arena_free(a);
    }
}

/* A set without them says so, and what does without. */
static void refused(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const program p = {"halves", "X=64", "x[X] : input f16\ny[i:X] = x[i]\n",
                       "i:vec =>\n    @y = i\n"};
    at_target without = *at_target_find("a64");
    without.has_halves = false;
    const at_lower_options o = {.dialect = AT_DIALECT_GNU, .target = &without, .name = "k"};
    at_kernel *k;
    at_error err;
    assert_int_equal(at_lower(a, program_of(a, &p), &o, &k, &err), AT_E_INPUT);
    assert_string_equal(err.text, "tiles for a64 know no floats of 16 bits so far; dialect c does");
    at_arena_free(a);
}

/* Does the code of a tile have the instruction? */
static bool has_instruction(const at_kernel *k, const at_target *target, const char *name) {
    const uint8_t *code = k->tiles[0].bytes;
    const int size = (int)k->tiles[0].size_bytes;
    char text[200] = "";
    for (int at = 0, n = 1; at < size && n > 0 && strcmp(text, "ret") != 0; at += n) {
        n = target->architecture->disassemble(code + at, size - at, text, sizeof text);
        if (n > 0 && strstr(text, name)) return true;
    }
    return false;
}

/* Instructions of F16C stand just where the target has that part. */
static void where_there_are(void **state) {
    (void)state;
    static const char *const names[] = {"vcvtph2ps", "vcvtps2ph"};
    const at_target *target;
    int with = 0, without = 0;
    for (int i = 0; (target = at_target_at(i)); i++) {
        at_arena *a = at_arena_new();
        const bool is_x86 = !strcmp(target->architecture->name, "x86-64");
        for (int f = 0; f < 2 && is_x86 && target->lanes > 1; f++) {
            const at_kernel *k = kernel_of(a, &forms[f], AT_F16, 8, AT_DIALECT_TCC, target),
                            *c = kernel_of(a, &forms[f], AT_F16, 8, AT_DIALECT_GNU, target);
            assert_int_equal(has_instruction(k, target, names[f]), target->converts_halves);
            assert_int_equal(strstr(c->source, names[f]) != NULL, target->converts_halves);
            *(target->converts_halves ? &with : &without) += 1;
        }
        at_arena_free(a);
    }
    assert_true(with > 0 && without > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles), cmocka_unit_test(compilers), cmocka_unit_test(products_are_exact),
        cmocka_unit_test(refused), cmocka_unit_test(where_there_are)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
