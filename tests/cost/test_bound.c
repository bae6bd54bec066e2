/* Bounds against a program executed step by step: counts are those of what is executed, chains
 * those of every operation waited for in turn, and no cache, kept as well as a cache can be kept,
 * does with fewer bytes. Then a tile counted by hand. AT_SEED and AT_COUNT in the environment
 * choose others and more programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "codegen/codegen_int.h"
#include "cost/cost_int.h"
#include "tests/codegen/random_program.h"
#include "tests/codegen/support.h"
#include "tests/codegen/tile_walk.h"
#include "tests/setting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CACHES = 3, MAX_TOUCHES = 200000 };
static const int64_t cache_bytes[CACHES] = {96, 400, 4000}; /* small, so that they matter */

/* ---- execution step by step ------------------------------------------------------------------ */

typedef struct touch {
    int tensor;
    int64_t element;
    int64_t next; /* when it is touched again; INT64_MAX: never */
} touch;

typedef struct runner {
    walk walk; /* the first member: calls are given it */
    const at_core *core;
    at_work work; /* of everything */
    touch *touches;
    int64_t num_touches;
    double worst_chain; /* largest difference seen */
    int steps;
} runner;

static void touch_all(runner *r, int tensor, int64_t at, int lanes) {
    for (int i = 0; i < lanes && r->num_touches < MAX_TOUCHES; i++)
        r->touches[r->num_touches++] = (touch){tensor, at + i, INT64_MAX};
}

/* One call: every operation in turn. */
static void run_tile(walk *w, const at_tile_call *c) {
    runner *r = (runner *)w;
    const at_tile *t = c->tile;
    bool fused = t->lanes >= 8; /* avx2, avx512 */
    double ready[64] = {0}, chain = 0;
    walk_tile at = walk_begin(w, c);
    r->work.calls++;
    for (const at_tile_op *op; (op = walk_next(&at));) {
        w->is_over = ++r->steps >= MAX_TOUCHES;
        bool one = op->kind == AT_T_BCAST || op->kind == AT_T_INDEX || op->mem == AT_MEM_BCAST ||
                   op->kind == AT_T_PREFETCH;
        bool constant = op->mem == AT_MEM_CONST;
        bool gathers = op->kind == AT_T_GATHER; /* where from is in a register */
        if (op->kind != AT_T_STORE && (op->slot >= 0 || constant))
            r->work.loads += gathers ? op->lanes : 1;
        const int more = op->fours ? op->lanes / 4 - 1 : 0; /* fours, each put in or taken out */
        r->work.others += more;
        *(op->kind == AT_T_STORE ? &r->work.stores : &r->work.loads) += more;
        bool moves = op->kind == AT_T_LOAD || op->kind == AT_T_STORE;
        if (op->slot >= 0 && op->kind != AT_T_PREFETCH && !gathers)
            for (int j = 0, n = one ? 1 : op->lanes, apart = moves && op->times,
                     run = apart       ? 1
                           : op->fours ? 4
                                       : n;
                 j < n; j += run) {
                const int element = op->kind == AT_T_LOAD && op->by ? (j + op->plus) / op->by : j;
                touch_all(r, at.tensor[op->slot],
                          at.slot[op->slot] + op->off + j / 4 * op->fours +
                              (apart ? element * op->times : 0),
                          run);
            }
        if (op->kind == AT_T_INDEX) {
            int32_t entry = w->data[at.tensor[op->slot]].i[at.slot[op->slot] + op->off];
            int64_t digit = at_floordiv((int64_t)entry * op->times + op->plus, op->by);
            at.slot[op->dst] = at.slot[op->base] + digit * op->bump;
            at.tensor[op->dst] = at.tensor[op->base];
            continue;
        }
        bool apart = op->kind == AT_T_STORE && op->times;
        int first = apart ? (int)at_floormod(op->off, op->times) : 0;
        bool masked = apart && t->target->masked_stores && op->times <= 4;
        r->work.stores += op->kind == AT_T_STORE; /* and so many more registers, or lanes */
        if (masked) r->work.stores += (first + (op->lanes - 1) * op->times) / t->lanes;
        else if (apart) r->work.stores += op->lanes - 1;
        if (op->kind >= AT_T_FMA) {
            bool both = at_tile_multiplies_and_adds(op);
            bool bits = op->kind == AT_T_AND || op->kind == AT_T_OR || op->kind == AT_T_INT_ADD ||
                        op->kind == AT_T_INT_SUB || op->kind == AT_T_INT_MIN ||
                        op->kind == AT_T_INT_MAX || at_tile_compares(op);
            bool multiplies = op->kind == AT_T_MUL || op->kind == AT_T_INT_MUL;
            bool chooses = op->kind == AT_T_BLEND || op->kind == AT_T_FIRST;
            double in = fmax(ready[op->a], op->b >= 0 ? ready[op->b] : 0);
            bool twice = both || op->kind == AT_T_SCALE; /* which compares, too */
            r->work.fmas += both && fused;
            if (op->kind < AT_T_ZIP_LOW && !gathers) /* which is so many loads */
                r->work.others += both && fused ? 0 : twice ? 2 : 1;
            if (both && fused) in = fmax(in, ready[op->dst]) + r->core->fma_latency;
            else if (both)
                in = fmax(in + r->core->mul_latency, ready[op->dst]) + r->core->add_latency;
            else if (chooses) in = fmax(in, ready[op->dst]) + 1;
            else if (bits) in += 1;
            else in += multiplies ? r->core->mul_latency : r->core->add_latency;
            ready[op->dst] = in;
        } else if (op->kind == AT_T_MOV) ready[op->dst] = ready[op->a];
        else if (op->dst >= 0) ready[op->dst] = 0;
        for (int k = 0; k < 64; k++) chain = fmax(chain, ready[k]);
    }
    for (int k = 0; k < 64; k++) chain = k ? fmax(chain, ready[k]) : ready[k];
    at_arena *own = at_arena_new();
    at_tile_work work = at_tile_work_of(own, t, r->core, at.trips);
    at_arena_free(own);
    r->worst_chain = fmax(r->worst_chain, fabs(work.chain_cycles - chain));
}

/* What the kernel works out of index lists, for walk_list. */
static void fill_tables(walk *w, at_data *data, at_arena *a, const at_ir *list) {
    for (const at_ir *n = list; n; n = n->next) {
        const at_ir *store = n->kind == AT_IR_LOOP ? n->child : NULL;
        if (!store || store->kind != AT_IR_STMT || !store->stmt.integer) continue;
        int32_t *table = AT_NEW_ARRAY(a, int32_t, n->loop.hi);
        for (int64_t i = 0; i < n->loop.hi; i++) {
            w->value[n->loop.sym] = i;
            table[i] = (int32_t)walk_value(w, store->stmt.integer);
        }
        data[store->stmt.tensor].i = table;
    }
}

/* Fewest elements that a cache fetches in the second of two runs: what is needed again last gives
 * way, as nobody can know in advance. */
static int64_t fewest_fetches(const runner *r, int64_t elements) {
    int64_t n = r->num_touches, fetched = 0, used = 0;
    touch *held = malloc(sizeof *held * (size_t)(elements + 1));
    assert_non_null(held);
    for (int64_t i = 0; i < 2 * n; i++) {
        const touch *t = &r->touches[i % n];
        int64_t next = t->next + (i >= n ? n : 0), at = 0, far = 0;
        while (at < used && (held[at].tensor != t->tensor || held[at].element != t->element)) at++;
        if (at == used) {
            fetched += i >= n;
            if (used < elements) used++;
            else {
                for (int64_t j = 0; j < used; j++)
                    if (held[j].next > held[far].next) far = j;
                at = far;
            }
        }
        held[at] = (touch){t->tensor, t->element, next};
    }
    free(held);
    return fetched;
}

/* When each element is touched next, the run being repeated. */
static int by_element(const void *a, const void *b) {
    const touch *x = *(touch *const *)a, *y = *(touch *const *)b;
    if (x->tensor != y->tensor) return x->tensor < y->tensor ? -1 : 1;
    if (x->element != y->element) return x->element < y->element ? -1 : 1;
    return (x > y) - (x < y);
}

static void find_next(runner *r) {
    int64_t n = r->num_touches;
    touch **order = malloc(sizeof *order * (size_t)(n + 1));
    assert_non_null(order);
    for (int64_t i = 0; i < n; i++) order[i] = &r->touches[i];
    qsort(order, (size_t)n, sizeof *order, by_element);
    for (int64_t i = 0, first = 0; i < n; i++) {
        bool last = i + 1 == n || order[i + 1]->tensor != order[i]->tensor ||
                    order[i + 1]->element != order[i]->element;
        order[i]->next = last ? order[first] - r->touches + n : order[i + 1] - r->touches;
        if (last) first = i + 1;
    }
    free(order);
}

/* ---- random programs ------------------------------------------------------------------------- */

static bool same(double x, double y) { return fabs(x - y) <= 1e-9 * fmax(fabs(x), 1); }

static void check_counts(const runner *r, const at_bound *b, uint64_t seed) {
    at_work sum = {0};
    for (int i = 0; i < b->num_tiles; i++) {
        const at_work *w = &b->tiles[i].work;
        sum.calls += w->calls, sum.fmas += w->fmas, sum.others += w->others;
        sum.loads += w->loads, sum.stores += w->stores;
    }
    if (!same(sum.calls, r->work.calls) || !same(sum.fmas, r->work.fmas) ||
        !same(sum.others, r->work.others) || !same(sum.loads, r->work.loads) ||
        !same(sum.stores, r->work.stores))
        fail_msg("seed %llu: counted %g calls, %g fmas, %g others, %g loads, %g stores; executed "
                 "%g, %g, %g, %g, %g",
                 (unsigned long long)seed, sum.calls, sum.fmas, sum.others, sum.loads, sum.stores,
                 r->work.calls, r->work.fmas, r->work.others, r->work.loads, r->work.stores);
    if (r->worst_chain > 0.5)
        fail_msg("seed %llu: a chain is %g cycles off", (unsigned long long)seed, r->worst_chain);
}

/* true: the program was checked. */
static bool check_program(const random_program *p, touch *touches) {
    built b;
    bool checked = false;
    if (build_open(&b, p) != USE_OK) {
        build_close(&b);
        return false;
    }
    const int32_t **index = AT_NEW_ARRAY(b.arena, const int32_t *, b.compute->num_tensors);
    for (int t = 0; t < b.compute->num_tensors; t++)
        if (b.compute->tensors[t].role == AT_ROLE_INDEX) index[t] = b.data[t].i;
    at_machine m = {.core = at_core_find("znver4"), .threads = 1, .index = index};
    m.l1d_bytes = cache_bytes[0];
    m.l2_bytes = cache_bytes[1] - cache_bytes[0];
    m.l3_bytes = cache_bytes[2] - cache_bytes[1];
    at_lower_options o = {.dialect = AT_DIALECT_TCC,
                          .target = at_target_at((
                              int)(p->seed % (unsigned)at_target_at(0)->architecture->num_targets)),
                          .name = "k",
                          .pack_inline = p->pack_inline};
    const at_lowered *lowered;
    if (at_lower_tiles(b.arena, b.program, &o, &lowered, &b.err) == AT_OK) {
        at_low *l = lowered->low;
        const at_bound *bound = at_bound_of(b.arena, lowered, &m);
        at_data *data = AT_NEW_ARRAY(b.arena, at_data, l->num_tensors);
        runner r = {.walk = {.syms = l->syms.data, .data = data, .call = run_tile},
                    .core = m.core,
                    .touches = touches};
        for (int t = 0; t < b.compute->num_tensors; t++) data[t] = b.data[t];
        fill_tables(&r.walk, data, b.arena, l->pack_root);
        fill_tables(&r.walk, data, b.arena, l->root);
        walk_list(&r.walk, l->root);
        checked = r.steps < MAX_TOUCHES && r.num_touches < MAX_TOUCHES;
        if (checked) {
            assert_false(bound->partial);
            check_counts(&r, bound, p->seed);
            find_next(&r);
            for (int i = 0; i < CACHES && r.num_touches < 8000; i++) {
                double least = (double)fewest_fetches(&r, cache_bytes[i] / 4) * 4;
                if (bound->bytes[i] > least)
                    fail_msg("seed %llu: %g bytes from beyond %lld, but %g will do",
                             (unsigned long long)p->seed, bound->bytes[i],
                             (long long)cache_bytes[i], least);
            }
        }
    }
    build_close(&b);
    return checked;
}

static void random_programs(void **state) {
    (void)state;
    long count = how_many("AT_COUNT", 300), seed = setting("AT_SEED", 1), checked = 0;
    random_program *p = malloc(sizeof *p);
    touch *touches = malloc(sizeof *touches * MAX_TOUCHES);
    assert_true(p && touches);
    for (long i = 0; i < count; i++) {
        random_program_make((uint64_t)(seed + i), p);
        checked += check_program(p, touches);
    }
    random_program_make(562, p); /* its tiles gather */
    assert_true(check_program(p, touches));
    print_message("%ld of %ld programs checked\n", checked, count);
    assert_true(checked > count / 4);
    free(touches);
    free(p);
}

/* ---- by hand --------------------------------------------------------------------------------- */

/* A product, 4 rows of two avx2 vectors in registers, sums of 36 times 2 products. */
static const program product = {"product", "Y=8 X=32 K=72 yo=2 yi=4 xo=2 xi=16 ko=36 ki=2",
                                "a[Y, K] : input\n"
                                "b[K, X] : input\n"
                                "c[y:Y, x:X] = sum(k:K) a[y, k] * b[k, x]\n",
                                "yo, xo =>\n"
                                "    ko, ki:unroll, yi:unroll, xi:vec =>\n"
                                "        @c = {yo, yi}/y, {xo, xi}/x // {ko, ki}/k\n"};

static const at_bound *bound_of_product(at_arena *a, const at_machine *m, const at_target *target) {
    at_kernel *k;
    at_lower_options o = {.dialect = AT_DIALECT_TCC, .target = target, .name = "k"};
    CALL(at_lower(a, program_of(a, &product), &o, &k, &err));
    return at_bound_of(a, k->lowered, m);
}

static void by_hand(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_core *skx = at_core_find("skylake-avx512");
    at_machine m = {.core = skx, .l1d_bytes = 1 << 15, .l2_bytes = 1 << 20, .threads = 1};
    const at_bound *b = bound_of_product(a, &m, at_target_find("avx2"));
    assert_int_equal(b->num_tiles, 1);
    const at_work *w = &b->tiles[0].work;
    const double parts = 2 * 2, sums = 4 * 2; /* yo, xo; rows, vectors */
    assert_true(w->calls == 1);
    assert_true(w->fmas == parts * 36 * 2 * sums);
    /* broadcasts of a, vectors of b; the sums, which start at zero, are stored once */
    assert_true(w->loads == parts * 36 * 2 * (4 + 2));
    assert_true(w->stores == parts * sums);
    assert_true(b->cycles[AT_NEED_FMA] == w->fmas / 2);
    assert_true(b->cycles[AT_NEED_LOAD] == w->loads / 2);
    assert_true(b->cycles[AT_NEED_STORE] == w->stores);
    /* each sum waits 72 times for itself, four cycles each; parts do not wait for each other */
    double chain = 72 * 4 / (1 + 224 / w->instructions);
    assert_true(fabs(b->cycles[AT_NEED_CHAIN] - chain) < 1e-6 * chain);
    assert_true(b->cycles[AT_NEED_ISSUE] > (w->fmas + w->loads + w->stores) / 4);
    assert_int_equal(b->largest, AT_NEED_FMA);
    /* all of it fits into 32 KB; of what does not fit into 8 KB, the rest comes from beyond */
    for (int i = 0; i < 3; i++) assert_true(b->bytes[i] == 0);
    m.l1d_bytes = 8192;
    b = bound_of_product(a, &m, at_target_find("avx2"));
    assert_true(b->bytes[0] == (8 * 72 + 72 * 32 + 8 * 32) * 4 - 8192);
    /* two multiplications and additions each, in vectors of four */
    b = bound_of_product(a, &m, at_target_find("sse2"));
    double others = 0;
    for (int i = 0; i < b->num_tiles; i++) others += b->tiles[i].work.others;
    assert_true(others >= 2 * 8 * 32 * 72 / 4.0);
    at_arena_free(a);
}

/* Each core has speeds for the sets that some machine like it was measured with: of whole vectors,
 * a step takes longer the more rows it has. A set that it lacks is another core's. */
static void speeds(void **state) {
    (void)state;
    const at_core *amd = at_core_find("znver3"), *intel = at_core_find("skylake-avx512");
    for (int i = 0; at_core_at(i); i++) {
        at_arena *a = at_arena_new();
        at_speed_table *t = AT_NEW(a, at_speed_table);
        const char *text = at_core_at(i)->speeds;
        const at_json *json;
        at_error err;
        if (!text) { /* worked out */
            at_arena_free(a);
            continue;
        }
        if (at_json_parse(a, text, strlen(text), &json, &err) != AT_OK ||
            at_speed_table_read(json, t, &err) != AT_OK)
            fail_msg("%s: %s", at_core_at(i)->names, err.text);
        for (const at_speeds *s = t->sets; s < t->sets + t->num_sets; s++) {
            assert_memory_equal(at_speeds_built_in(s->isa, at_core_at(i)), s, sizeof *s);
            assert_non_null(at_target_find(s->isa));
            assert_true(s->peak_gflops > 0 && s->copy_ns > 0);
            for (int v = 0; v < 4; v++)
                assert_true(s->step_ns[v][0] > 0 && s->step_ns[v][1] > s->step_ns[v][0]);
        }
        assert_true(t->num_sets > 0);
        at_arena_free(a);
    }
    assert_ptr_not_equal(at_speeds_built_in("avx2", amd), at_speeds_built_in("avx2", intel));
    assert_ptr_not_equal(at_speeds_built_in("avx2", amd),
                         at_speeds_built_in("avx2", at_core_find("znver5")));
    /* One multiply-add of 512 bits a cycle waits for less than two a cycle do, and is half as many.
     */
    const at_speeds *of_512 = at_speeds_built_in("avx512", at_core_find("znver4")),
                    *of_256 = at_speeds_built_in("avx2", at_core_find("znver4"));
    const float four = 4 * 2 * 16 / of_512->peak_gflops; /* of multiply-adds at the peak, in ns */
    assert_true(of_512->step_ns[0][3] < 1.1F * four);
    assert_true(of_512->peak_gflops < 1.1F * of_256->peak_gflops);
    assert_true(of_512->copy_ns < 2.2F * of_256->copy_ns); /* within the first-level cache */
    assert_string_equal(at_speeds_built_in("avx512", amd)->isa, "avx512");
    assert_string_equal(at_speeds_built_in("avx512", NULL)->isa, "avx512");
    assert_null(at_speeds_built_in("scalar", amd));
}

/* Of cores that nobody measured: more rows take longer, no tile is above the peak, large ones that
 * fit the registers are near it, and going in order costs what loads take. */
static void worked_out(void **state) {
    (void)state;
    static const char *const names[] = {"cortex-a53", "cortex-a55", "cortex-a72", "cortex-a76",
                                        "neoverse-n1"};
    const at_target *neon = at_target_find("neon");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const at_core *c = at_core_find(names[i]);
        at_speeds s;
        at_speeds_guess(c, neon, &s);
        const double best_ns = 8 / s.peak_gflops; /* of a multiply-add of four */
        for (int v = 1; v <= 4; v++)
            for (int r = 2; r <= 8; r++) {
                assert_true(s.step_ns[v - 1][r - 1] >= s.step_ns[v - 1][r - 2]);
                assert_true(s.step_ns[v - 1][r - 1] >= 0.999 * best_ns * r * v);
            }
        const double share = best_ns * 24 / s.step_ns[3][5]; /* 6x16 */
        const bool in_order = c->window == AT_CORE_IN_ORDER;
        assert_true(in_order ? share > 0.6 && share < 0.8 : share > 0.99);
    }
}

static void cores(void **state) {
    (void)state;
    const char *const wanted[] = {"znver4",         "znver5",         "skylake-avx512",
                                  "icelake-server", "sapphirerapids", "haswell"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_non_null(at_core_find(wanted[i]));
    assert_null(at_core_find("x86-64"));
    assert_null(at_core_find("skylake-avx"));
    assert_null(at_core_find(""));
    for (int i = 0; at_core_at(i); i++) {
        const at_core *c = at_core_at(i);
        assert_true(*c->names && *c->source);
        for (int w = 0; w < 2; w++) {
            assert_true(c->fma[w] > 0 && c->arithmetic[w] >= c->fma[w]);
            assert_true(c->loads[w] > 0 && c->stores[w] > 0);
        }
        assert_true(c->fma[0] >= c->fma[1] && c->loads[0] >= c->loads[1]);
        assert_true(c->fma_latency > 0 && c->add_latency > 0 && c->mul_latency > 0);
        if (c->speeds) assert_true(c->fma_latency >= c->add_latency && c->issue >= 4);
        assert_true(c->issue >= 2 && c->bcasts > 0);
        assert_true(c->window >= 100 || c->window == AT_CORE_IN_ORDER);
        assert_true(c->l1d_bytes < c->l2_bytes);
        assert_true(c->from_l2 >= c->from_l3 && c->from_l3 >= c->from_memory);
    }
    for (int i = 0; i < AT_NEED_COUNT; i++) assert_true(*at_need_name((at_need)i));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cores),   cmocka_unit_test(speeds),          cmocka_unit_test(worked_out),
        cmocka_unit_test(by_hand), cmocka_unit_test(random_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
