/* Tiles that are told by what they depend on: whatever a tile differs in, its hash is another; and
 * a program lowered with a memo of tiles, which thousands of others have filled, is the same code
 * as without one: points of all templates, sketches of examples/te and random programs, with every
 * instruction set. AT_COUNT: programs of each kind (more in a full run); AT_SEED chooses others. */
#include <stdlib.h>
#include <string.h>

#include "codegen/lowered.h"
#include "codegen/tile/tile_text.h"
#include "tests/codegen/hand_made.h"
#include "tests/codegen/points.h"
#include "tests/codegen/random_program.h"
#include "tests/codegen/support.h"

/* ---- hashes -----------------------------------------------------------------------------------
 */

/* A list's entry makes a pointer; a loop loads, computes and stores. */
static at_tile *make_tile(at_arena *a, const at_target *target) {
    maker m = start_tile(a, target, 4, 1);
    add_list(&m);
    add_index(&m, 1, 3, 2);
    add_digit(&m, 5, 2, 7, 3);
    add_op(&m, AT_T_CONST)->dst = 2;
    m.ops.data[m.ops.len - 1].number = 0.5;
    add_loop(&m, 9, -1);
    add_move(&m, AT_T_LOAD, 0, 0, 40, target->lanes);
    add_move(&m, AT_T_BCAST, 1, 3, 2, 1);
    add_arithmetic(&m, AT_T_ADD, 3, 0, 1);
    add_arithmetic(&m, AT_T_MUL, 3, 3, 2);
    add_move(&m, AT_T_STORE, 3, 1, 8, target->lanes);
    add_bump(&m, 0, 24, -1);
    add_op(&m, AT_T_END);
    add_bump(&m, 1, 3, 0);
    return at_copy(a, finish(&m), sizeof m.t);
}

enum { INDEX, DIGIT, NUMBER, LOOP, LOAD, SPREAD, ADD, MUL, STORE, BUMP, END, BUMP_BY_TRIPS };

/* One thing of the tile is another; false: there are no more. */
static bool change(at_tile *t, int what) {
    at_tile_op *op = t->ops;
    switch (what) {
    case 0: op[INDEX].off++; return true;
    case 1: op[INDEX].bump++; return true;
    case 2: op[INDEX].slot = 0; return true;
    case 3: op[INDEX].base = op[DIGIT].base = 0; return true;
    case 4: op[DIGIT].times++; return true;
    case 5: op[DIGIT].plus++; return true;
    case 6: op[DIGIT].by = 6; return true;
    case 7: op[DIGIT].most = 100; return true;
    case 8: op[NUMBER].number = 0.25; return true;
    case 9: op[NUMBER].dst = 4, op[MUL].b = 4; return true;
    case 10: op[LOOP].trip++; return true;
    case 11: op[LOOP].trip_arg = 0; return true;
    case 12: op[LOAD].off++; return true;
    case 13: op[LOAD].lanes = 1; return true;
    case 14: op[LOAD].slot = 1; return true;
    case 15: op[ADD].kind = AT_T_SUB; return true;
    case 16: op[ADD].a = 1, op[ADD].b = 0; return true;
    case 17: op[MUL].mem = AT_MEM_CONST, op[MUL].b = -1, op[MUL].number = 2; return true;
    case 18: op[STORE].lanes = 1; return true;
    case 19: op[BUMP].bump = 48; return true;
    case 20: op[BUMP_BY_TRIPS].trip_arg = -1; return true;
    case 21: t->num_trips = 2; return true;
    default: return false;
    }
}

static void tiles_differ(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_target *target = at_target_find("avx512");
    at_hash seen[64];
    int n = 0;
    for (int what = -1;; what++) {
        at_tile *t = make_tile(a, target), *same = make_tile(a, target);
        if (what >= 0 && !change(t, what)) break;
        if (what >= 0) change(same, what);
        same->name = "other"; /* names are no part of it */
        at_hash of_same = at_tile_hash(same);
        seen[n] = at_tile_hash(t);
        assert_memory_equal(&seen[n], &of_same, sizeof of_same);
        for (int i = 0; i < n; i++) assert_memory_not_equal(&seen[i], &seen[n], sizeof *seen);
        n++;
    }
    assert_true(n > 20);
    at_arena_free(a);
}

/* ---- programs ---------------------------------------------------------------------------------
 */

/* One for many programs and all instruction sets, so that keys that say too little are found; of
 * the second lowering of a program, how many tiles came of it. */
enum { MOST_PROGRAMS = 20 };
static at_tile_memo *memo;
static long recalled, lowered, compared;

static void forget(void) {
    at_tile_memo_free(memo);
    memo = at_tile_memo_new();
}

static const char *tiles_of(at_arena *a, const at_kernel *k) {
    at_text text = {0};
    for (int i = 0; i < k->lowered->num_tiles; i++) at_tile_print(&text, k->lowered->tiles[i]);
    for (int i = 0; i < k->num_notes; i++) at_text_addf(&text, "%s\n", k->notes[i]);
    const char *copy = at_strdup(a, at_text_str(&text));
    at_text_free(&text);
    return copy;
}

/* own: lowered without the memo. again: the memo has seen the program before. */
static void compare_with(at_arena *a, const at_program *p, const at_lower_options *o,
                         const at_kernel *own, const char *own_tiles, bool again,
                         const char *what) {
    at_lower_options with = *o;
    at_kernel *k;
    at_error err;
    with.memo = memo;
    if (at_lower(a, p, &with, &k, &err)) fail_msg("%s: only with a memo: %s", what, err.text);
    if (strcmp(k->source, own->source))
        fail_msg("%s, %s:\n%s\nis not\n%s", what, own->target->name, k->source, own->source);
    const char *tiles = tiles_of(a, k);
    if (strcmp(tiles, own_tiles))
        fail_msg("%s, %s:\n%s\nis not\n%s", what, own->target->name, tiles, own_tiles);
    assert_int_equal(k->num_tiles, own->num_tiles);
    for (int i = 0; i < k->num_tiles; i++) {
        assert_int_equal(k->tiles[i].size_bytes, own->tiles[i].size_bytes);
        assert_memory_equal(k->tiles[i].bytes, own->tiles[i].bytes,
                            (size_t)own->tiles[i].size_bytes);
    }
    for (int i = 0; i < k->num_tiles && again; i++, lowered++)
        recalled += k->lowered->tiles[i]->kept != NULL;
    assert_string_equal(k->code_hash, own->code_hash);
}

/* Twice: what is remembered of it the second time is its own. */
static void compare(const at_program *p, at_lower_options o, const char *what) {
    at_arena *a = at_arena_new();
    at_lower_options with = o;
    at_kernel *own, *k;
    at_error err;
    with.memo = memo;
    if (at_lower(a, p, &o, &own, &err)) {
        if (!at_lower(a, p, &with, &k, NULL)) fail_msg("%s: only without: %s", what, err.text);
    } else {
        const char *own_tiles = tiles_of(a, own);
        for (int again = 0; again < 2; again++) compare_with(a, p, &o, own, own_tiles, again, what);
    }
    at_arena_free(a);
}

/* Programs take turns with the instruction sets. */
static void compare_all(const at_program *p, bool inline_too, const char *what) {
    enum { TURNS = 3 };
    const at_target *target;
    for (int i = (int)(compared % TURNS); (target = at_target_at(i)); i += TURNS) {
        at_lower_options o = {.dialect = target->encode ? AT_DIALECT_TCC : AT_DIALECT_C,
                              .target = target,
                              .pack_inline = inline_too,
                              .prefetch_above = 1 << 16,
                              .prefetch_room = inline_too ? 0 : 1 << 20,
                              .name = "k"};
        if (!target->is_double) compare(p, o, what);
    }
    if (++compared % MOST_PROGRAMS == 0) forget();
}

static void look_at(at_arena *a, const at_task *t, const at_config *c, const at_program *p,
                    const char *what) {
    static bool inline_too;
    (void)a, (void)t, (void)c;
    compare_all(p, inline_too = !inline_too, what);
}

static void templates(void **state) {
    (void)state;
    points_of_templates(how_many("AT_COUNT", 2), look_at);
}

static void sketches(void **state) {
    (void)state;
    points_of_examples((how_many("AT_COUNT", 3) + 5) / 6, look_at, NULL);
}

static void random_programs(void **state) {
    (void)state;
    long count = 10 * how_many("AT_COUNT", 10), seed = setting("AT_SEED", 1);
    random_program *p = calloc(1, sizeof *p);
    assert_non_null(p);
    for (long done = 0; done < count; seed++) {
        built b;
        random_program_make((uint64_t)seed, p);
        if (build_open(&b, p) == USE_OK) {
            compare_all(b.program, p->pack_inline, at_format(b.arena, "seed %ld", seed));
            done++;
        }
        build_close(&b);
    }
    free(p);
}

/* Every second number, as one of a pair that all lanes take whole, and where an outer loop says
 * which one: what lies behind the last one is then no part of the tensor. */
static void parts_of_pairs(void **state) {
    (void)state;
    static const char tree[] = "b:para, n0, n1:vec => @out = b, {n0, n1}/n\n";
    static const program of[] = {{"one", "N=64 two=2 n0=4 n1=16",
                                  "x[two, N, two] : input\nout[b:two, n:N] = x[b, n, 0]*3\n", tree},
                                 {"either", "N=64 two=2 n0=4 n1=16",
                                  "x[N, two] : input\nout[b:two, n:N] = x[n, b]*3\n", tree}};
    at_arena *a = at_arena_new();
    for (int i = 0; i < 4; i++) {
        const at_lower_options o = {
            .dialect = AT_DIALECT_TCC, .target = at_target_find("avx512"), .name = "k"};
        if (i % 2 == 0) forget();
        compare(program_of(a, &of[(i + 1) / 2 % 2]), o, of[(i + 1) / 2 % 2].name);
    }
    forget();
    at_arena_free(a);
}

static void most_are_recalled(void **state) {
    (void)state;
    print_message("%ld tiles of %ld\n", recalled, lowered);
    assert_true(recalled > lowered * 3 / 4);
}

static int make_memo(void **state) {
    (void)state;
    memo = at_tile_memo_new();
    return 0;
}

static int free_memo(void **state) {
    (void)state;
    at_tile_memo_free(memo);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_differ),   cmocka_unit_test(templates),
        cmocka_unit_test(sketches),       cmocka_unit_test(random_programs),
        cmocka_unit_test(parts_of_pairs), cmocka_unit_test(most_are_recalled)};
    return cmocka_run_group_tests(tests, make_memo, free_memo);
}
