/* Ansor's records as trees of ours: what they compute is what the workload says, interpreted;
 * records whose print Ansor's documentation gives have that tree; a stage with a halo stays where
 * it is; steps that do not apply are refused in one line. AT_ANSOR: another file of records, made
 * with TVM's auto_scheduler, instead of tests/sketch/ansor/records.json. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sketch/sketch.h"
#include "tests/whole_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Inputs of small integers by name, room for stages. */
static at_data *data_for(at_arena *a, const at_compute *c, int64_t *const *extents) {
    at_data *d = AT_NEW_ARRAY(a, at_data, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) {
        const at_tensor *x = &c->tensors[t];
        int64_t n = at_tensor_elements(x, extents[t]);
        at_rng rng;
        at_rng_seed(&rng, strlen(x->name), (uint64_t)x->name[0]);
        d[t].f = AT_NEW_ARRAY(a, float, n);
        for (int64_t i = 0; i < n && x->role != AT_ROLE_STAGE; i++)
            d[t].f[i] = (float)at_rng_below(&rng, 7) - 2;
    }
    return d;
}

static void compare(at_arena *a, const at_ansor *x, int line) {
    at_task *task;
    at_config config;
    at_program *p;
    int64_t *values, **extents;
    at_error err;
    if (at_task_new(a, x->computation, at_task_args_text(x->program->task), &task, &err) != AT_OK ||
        at_task_default_config(a, x->program->task, 8, &config, &err) != AT_OK ||
        at_task_program(a, x->program->task, &config, &p, &err) != AT_OK ||
        at_task_plain_values(a, task, &values, &err) != AT_OK)
        fail_msg("line %d: %s", line, err.text);
    const at_compute *c = at_task_compute(task);
    assert_int_equal(at_compute_extents(a, c, values, &extents, &err), AT_OK);
    at_data *wanted = data_for(a, c, extents), *found = data_for(a, p->compute, p->extents);
    if (at_compute_interpret(a, c, values, wanted, &err) != AT_OK ||
        at_program_interpret(a, p, found, &err) != AT_OK)
        fail_msg("line %d: %s\n%s", line, err.text, x->program->tree_text);
    for (int t = 0; t < c->num_tensors; t++) {
        if (!c->tensors[t].is_output) continue;
        const float *out = found[at_compute_find(p->compute, c->tensors[t].name)].f;
        for (int64_t i = 0; i < at_tensor_elements(&c->tensors[t], extents[t]); i++)
            if (!(fabs((double)out[i] - (double)wanted[t].f[i]) <=
                  1e-5 * (1 + fabs((double)wanted[t].f[i]))))
                fail_msg("line %d: [%lld] is %g, not %g\n%s\n%s", line, (long long)i,
                         (double)out[i], (double)wanted[t].f[i], x->program->compute_text,
                         x->program->tree_text);
    }
}

static void records(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const char *path = getenv("AT_ANSOR");
    char *text;
    size_t size;
    at_error err;
    int line = 0;
    if (read_whole(a, path ? path : "tests/sketch/ansor/records.json", &text, &size, &err) != AT_OK)
        fail_msg("%s", err.text);
    for (char *p = text, *end; (end = strchr(p, '\n')); p = end + 1) {
        at_arena *own = at_arena_new();
        at_ansor x;
        line++;
        if (at_ansor_read(own, p, (size_t)(end - p), &x, &err) != AT_OK)
            fail_msg("line %d: %s", line, err.text);
        assert_true(x.cost_s > 0);
        compare(own, &x, line);
        at_arena_free(own);
    }
    print_message("%d records\n", line);
    assert_true(line > 0);
    at_arena_free(a);
}

/* ---- single ones ----------------------------------------------------------------------------- */

static at_status read_steps(at_arena *a, const char *key, const char *steps, at_ansor *x,
                            at_error *err) {
    const char *line = at_format(a,
                                 "{\"i\": [[\"%s\", \"llvm\"], [[], [%s]]], "
                                 "\"r\": [[0.5, 1.5], 0, 1, 1], \"v\": \"v0.6\"}",
                                 key, steps);
    return at_ansor_read(a, line, strlen(line), x, err);
}

#define PRODUCT "[\\\"matmul_add\\\", 512, 512, 512, \\\"float32\\\"]"

static void trees(void **state) {
    (void)state;
    static const struct {
        const char *key, *steps, *tree;
    } cases[] = {
        /* parallel (256), matmul inside k0 (64) i2 (8) j2 (2) k1 (8) i3 (4) vec j3 (16), out 32 x
           32 */
        {PRODUCT,
         "[\"SP\", 2, 0, 512, [2, 8, 4], 1], [\"SP\", 2, 4, 512, [4, 2, 16], 1],"
         "[\"SP\", 2, 8, 512, [8], 1], [\"RE\", 2, [0, 4, 1, 5, 8, 2, 6, 9, 3, 7]],"
         "[\"FSP\", 4, 0, 0, 2], [\"FSP\", 4, 3, 1, 2], [\"RE\", 4, [0, 3, 1, 4, 2, 5]],"
         "[\"CA\", 2, 4, 3], [\"FU\", 4, [0, 1, 2, 3]], [\"AN\", 4, 0, 3], [\"AN\", 2, 9, 2]",
         "{i0, j0, i1, j1}:para =>\n"
         "    k0, i2_, j2_, k1, i3, j3_:vec =>\n"
         "        @matmul = {i0, i1, i2_, i3}/i, {j0, j1, j2_, j3_}/j  // {k0, k1}/k\n"
         "    i2, j2, j3:vec =>\n"
         "        @out = {i0, i1, i2}/i, {j0, j1, j2, j3}/j\n"},
        /* fused loop (2048), k (512), j.1 (8), i.1 (16) */
        {PRODUCT,
         "[\"SP\", 2, 0, 512, [16], 1], [\"SP\", 2, 2, 512, [8], 1], [\"RE\", 2, [0, 2, 4, 3, 1]],"
         "[\"FU\", 2, [0, 1]], [\"PR\", 2, 0, \"auto_unroll_max_step$64\"]",
         "{i0_, j0_}, k0, j1_, i1:unroll =>\n"
         "    @matmul = {i0_, i1}/i, {j0_, j1_}/j  // k0\n"
         "i0, j0, j1:vec =>\n"
         "    @out = i0, {j0, j1}/j\n"},
        /* the first part is 1, of the outside 1 to 3: one loop */
        {"[\\\"norm_bmn\\\", 2, 6, 4]",
         "[\"FU\", 1, [1, 2]], [\"SP\", 1, 1, 24, [8], 1], [\"RF\", 1, 2, 1], [\"RE\", 1, [0, 2, "
         "1]],"
         "[\"CA\", 1, 2, 0], [\"AN\", 1, 2, 2], [\"SA\", 2, 0, 1, 1]",
         "b0_ =>\n"
         "    i_j_o0, i_j_i0_:vec =>\n"
         "        @C_rf = b0_, i_j_i0_  // i_j_o0\n"
         "    i_j_i0 =>\n"
         "        @C = b0_  // i_j_i0\n"
         "b0 =>\n"
         "    @D = b0\n"},
        /* GPU's way of naming parts: from the outside, and a length that is a product of others */
        {"[\\\"batch_matmul_nkkm\\\", 1, 32, 24, 8]",
         "[\"SP\", 2, 1, 32, [2, 4], 0], [\"SP\", 2, 4, 24, [3, 4], 1],"
         "[\"FU\", 2, []]",
         NULL},
        {"[\\\"batch_matmul_nkkm\\\", 1, 32, 24, 8]",
         "[\"SP\", 2, 1, 32, [2, 4], 0], [\"SP\", 2, 4, 24, [3, 4], 1],"
         "[\"FFSP\", 2, 7, [0, 1], 0, true]",
         "i0, i1, i2, j0, j1, j2, k0, k1 =>\n"
         "    @Z = 0, {i0, i1, i2}/i, {j0, j1, j2}/j  // {k0, k1}/k\n"},
        /* the same with a number of outer parts, and no loops of its own */
        {"[\\\"batch_matmul_nkkm\\\", 1, 32, 24, 8]",
         "[\"SP\", 2, 1, 32, [2, 4], 0], [\"SP\", 2, 4, 24, [3, 4], 1],"
         "[\"FFSP\", 2, 7, [0], 1, false]",
         "i0, i1, i2, j0, j1, j2, k0, k1 =>\n"
         "    @Z = 0, {i0, i1, i2}/i, {j0, j1, j2}/j  // {k0, k1}/k\n"},
        /* copies of inputs, in a loop of their reader */
        {"[\\\"batch_matmul_nkkm\\\", 2, 6, 5, 4]",
         "[\"CHR\", 1, \"shared\", [2]], [\"CHR\", 0, \"shared\", [3]], [\"CA\", 1, 4, 0], "
         "[\"CA\", 3, 4, 0]",
         "b0 =>\n"
         "    a10_, a20_ =>\n"
         "        @X_shared = b0, a10_, a20_\n"
         "    a10, a20 =>\n"
         "        @Y_shared = b0, a10, a20\n"
         "    i0, j0, k0 =>\n"
         "        @Z = b0, i0, j0  // k0\n"},
        /* a copy that readers have instead */
        {"[\\\"transpose_batch_matmul\\\", 1, 6, 2, 4]",
         "[\"CHR\", 1, \"shared\", [4]], [\"CI\", 1], [\"CA\", 2, 5, 1], [\"CR\", 4]",
         "h0_, d0, l0 =>\n"
         "    @value_T = 0, h0_, d0, l0\n"
         "h0 =>\n"
         "    l0_, d0_ =>\n"
         "        @query_T_shared = 0, h0, l0_, d0_\n"
         "    i0, j0, k0 =>\n"
         "        @C = 0, h0, i0, j0  // k0\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_arena *a = at_arena_new();
        at_ansor x;
        at_error err;
        at_status s = read_steps(a, cases[i].key, cases[i].steps, &x, &err);
        if (!cases[i].tree) assert_int_equal(s, AT_E_INPUT);
        else {
            if (s != AT_OK) fail_msg("%s", err.text);
            assert_string_equal(x.program->tree_text, cases[i].tree);
            assert_float_equal(x.cost_s, 1.0, 1e-9);
            if (strcmp(cases[i].key, PRODUCT)) compare(a, &x, (int)i);
        }
        at_arena_free(a);
    }
}

/* What is read of a picture in a block of its reader, padding included, and of channels. */
static void regions(void **state) {
    (void)state;
    static const struct {
        const char *key, *steps, *compute, *tree;
    } cases[] = {
        {"[\\\"conv1d_nlc\\\", 1, 12, 8, 8, 3, 2, 1]",
         "[\"SP\", 3, 1, 6, [3], 1], [\"CA\", 1, 3, 1]",
         "PadInput[l_block:2, i0:1, i1_part:7, i2:8] = inside ? inputs[i0, i1 - P, i2] : 0\n"
         "    where i1 = l_block*3*2 + i1_part,\n          inside = P <= i1 && i1 < L + P\n",
         "l0 =>\n"
         "    i1_part0, i20:vec =>\n"
         "        @PadInput = l0, 0, i1_part0, i20\n"
         "    l1, co0, rl0, rc0 =>\n"
         "        @conv1d_nlc = 0, {l0, l1}/l, co0  // rl0, rc0\n"},
        /* two groups: the channels that a block reads are half of them */
        {"[\\\"conv1d_nlc\\\", 1, 12, 4, 8, 3, 1, 1, 1, 2]",
         "[\"SP\", 3, 2, 8, [4], 1], [\"RE\", 3, [0, 2, 1, 3, 4, 5]], [\"CA\", 1, 3, 1]",
         "PadInput[co_block:2, i0:1, i1:14, i2_part:2] = inside ? inputs[i0, i1 - P, i2] : 0\n"
         "    where i2 = co_block*4/4*2 + i2_part,\n          inside = P <= i1 && i1 < L + P\n",
         "co0 =>\n"
         "    i10, i2_part0 =>\n"
         "        @PadInput = co0, 0, i10, i2_part0\n"
         "    l0, co1, rl0, rc0 =>\n"
         "        @conv1d_nlc = 0, l0, {co0, co1}/co  // rl0, rc0\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_arena *a = at_arena_new();
        at_ansor x;
        at_error err;
        if (read_steps(a, cases[i].key, cases[i].steps, &x, &err) != AT_OK)
            fail_msg("%s", err.text);
        const char *stage = strstr(x.program->compute_text, "PadInput[");
        assert_non_null(stage);
        const char *end = strstr(stage, "weight[");
        assert_non_null(end);
        assert_string_equal(at_strndup(a, stage, (size_t)(end - stage)), cases[i].compute);
        assert_string_equal(x.program->tree_text, cases[i].tree);
        assert_string_equal(x.notes, "");
        compare(a, &x, (int)i);
        at_arena_free(a);
    }
}

/* The sum's loops are laid out twice, before its padding becomes a stage of blocks and after. */
static void notes_stand_once(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_ansor x;
    at_error err;
    if (read_steps(a, "[\\\"conv2d_nhwc_bn_relu\\\", 1, 8, 8, 4, 8, 1, 1, 2, 2]",
                   "[\"CI\", 5], [\"CI\", 7], [\"CI\", 9], [\"SP\", 3, 2, 12, [3], 1],"
                   "[\"SP\", 10, 2, 12, [4], 1], [\"RE\", 10, [2, 1, 0, 3, 4]],"
                   "[\"CA\", 3, 10, 0], [\"CA\", 1, 3, 3]",
                   &x, &err) != AT_OK)
        fail_msg("%s", err.text);
    assert_non_null(strstr(x.program->compute_text, "xx_block"));
    assert_string_equal(x.notes,
                        "Conv2dOutput: parts of xx do not divide the 4 that are read there\n");
    compare(a, &x, 1);
    at_arena_free(a);
}

static void refused(void **state) {
    (void)state;
    static const struct {
        const char *key, *steps, *message;
    } cases[] = {
        {"[\\\"nothing\\\", 3]", "", "workload \"nothing\" is not known: there are matmul_add, "},
        {"[\\\"matmul_add\\\", 1, 2, 3, 4]", "", "expected the numbers of N=1, L=1, M=1"},
        {"[\\\"matmul_add\\\", 0, 2, 3]", "", "workload key: "},
        {"3", "", "workload key 3: no list that begins with a name"},
        {PRODUCT, "3", "step 0 is no list that begins with a text"},
        {PRODUCT, "[\"XX\", 2]", "step 0 (XX): there are SP, FSP"},
        {PRODUCT, "[\"SP\", 9, 0, 512, [2], 1]", "step 0 (SP): stage 9: there are 5"},
        {PRODUCT, "[\"SP\", 0, 0, 512, [2], 1]", "step 0 (SP): stage 0 is the input A"},
        {PRODUCT, "[\"SP\", 2, 3, 512, [2], 1]", "step 0 (SP): loop 3: matmul has 3"},
        {PRODUCT, "[\"SP\", 2, 0, 512, [0], 1]", "step 0 (SP): a part of 0"},
        {PRODUCT, "[\"SP\", 2, 0, 512, 7, 1]", "step 0 (SP): item 4 is no list"},
        {PRODUCT, "[\"SP\", 2, 0, 512, [\"x\"], 1]", "item 4 is no list of whole numbers"},
        {PRODUCT, "[\"FSP\", 4, 0, 0, 2]", "step 0 (FSP): step 0 is no split"},
        {PRODUCT, "[\"RE\", 2, [0, 1]]", "step 0 (RE): an order of 2 of 3 loops"},
        {PRODUCT, "[\"RE\", 2, [0, 1, 1]]", "step 0 (RE): loop 1 comes twice"},
        {PRODUCT, "[\"FU\", 2, [0, 2]]", "step 0 (FU): loops to fuse follow each other"},
        {PRODUCT, "[\"FU\", 2, [1, 2]]", "step 0 (FU): an axis and a reduction of matmul"},
        {PRODUCT, "[\"AN\", 2, 0, 4]", "step 0 (AN): annotation 4: 1 unroll"},
        {PRODUCT, "[\"AN\", 2, 0, 1], [\"AN\", 2, 0, 1]", "step 1 (AN): loop 0 is annotated"},
        {PRODUCT, "[\"CI\", 2]", "step 0 (CI): matmul is a sum, which cannot be inlined"},
        {PRODUCT, "[\"CI\", 4]", "rule 1 (leaf): @out has no leaf"},
        {PRODUCT, "[\"CA\", 4, 4, 0]", "out would be computed in loops of its own"},
        {PRODUCT, "[\"CA\", 4, 2, 0]", "out is computed in a loop of matmul, which it reads"},
        {PRODUCT, "[\"RF\", 2, 2, 2]", "step 0 (RF): loop 2 is no part of a split in two"},
        {PRODUCT, "[\"AN\", 2, 2, 3]", "rule 9 (para): "},
        {PRODUCT, "[\"CHW\", 2, \"a b\"]", "step 0 (CHW): scope \"a b\""},
        {PRODUCT, "[\"CHR\", 0, \"shared\", [1]]", "step 0 (CHR): stage 1 reads no A"},
        {PRODUCT, "[\"CHR\", 0, \"shared\", [4]]", "step 0 (CHR): stage 4 reads no A"},
        {PRODUCT, "[\"CHR\", 0, \"shared\", []]", "step 0 (CHR): a copy of A that nobody reads"},
        {PRODUCT, "[\"CHR\", 7, \"shared\", [2]]", "step 0 (CHR): stage 7: there are 5"},
        {PRODUCT, "[\"PR\", 2, 0, \"x\"]", "step 0 (PR): pragma x"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_arena *a = at_arena_new();
        at_ansor x;
        at_error err;
        assert_int_equal(read_steps(a, cases[i].key, cases[i].steps, &x, &err), AT_E_INPUT);
        if (!strstr(err.text, cases[i].message) || strchr(err.text, '\n'))
            fail_msg("\"%s\" lacks \"%s\"", err.text, cases[i].message);
        at_arena_free(a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records), cmocka_unit_test(trees), cmocka_unit_test(regions),
        cmocka_unit_test(notes_stand_once), cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
