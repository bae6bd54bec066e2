/* Stages without a leaf. Those that only say where elements come from (transpose, reshape, slice,
 * concat, pad) take no memory and no pass of their own; what is read twice is worked out once. */
#include "codegen/tile/tile_make.h"
#include "tests/codegen/support.h"

static const char sizes[] = "A=4 B=6 C=5";
static const char compute[] = "x[A, B] : input\n"
                              "y[C] : input\n"
                              "turned[b:B, a:A] = x[a, b]\n"
                              "flat[k:A*B] = turned[k/A, k%A]\n"
                              "every[k:10] = flat[k*2 + 3]\n"
                              "both[k:10+C] = k < 10 ? every[k] : y[k - 10]\n"
                              "padded[k:12+C] = 1 <= k && k < 11 + C ? both[k - 1] : 0\n"
                              "out[k:12+C] = padded[k]*2\n";

/* By hand: what stands at a place of the output. */
static float element(int k, const float *x, const float *y) {
    enum { A = 4, B = 6, C = 5 };
    if (k < 1 || k >= 11 + C) return 0;
    if (--k >= 10) return 2 * y[k - 10];
    int from = k * 2 + 3;
    return 2 * x[from % A * B + from / A];
}

static void costs_nothing(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_program *p =
        program_of(a, &(program){"shapes", sizes, compute, "k:vec =>\n    @out = k\n"});
    const at_target *targets[] = {NULL, at_target_find("avx512"), at_target_find("sse2")};
    for (int i = 0; i < 3; i++) {
        const at_lower_options o = {.dialect = i ? AT_DIALECT_TCC : AT_DIALECT_C,
                                    .name = "k",
                                    .verify = true,
                                    .target = targets[i]};
        at_low *l;
        at_kernel *k;
        at_error err;
        if (at_lower_until(a, p, &o, "buffers", &l, &err) != AT_OK) fail_msg("%s", err.text);
        assert_int_equal(l->workspace_bytes + l->thread_bytes, 0);
        for (int t = 2; t < p->compute->num_tensors - 1; t++)
            assert_int_equal(l->buffers[t].place, AT_PLACE_NONE);
        if (at_lower(a, p, &o, &k, &err) != AT_OK) fail_msg("%s", err.text);
    }
    at_arena_free(a);
}

static void is_right(void **state) {
    (void)state;
    enum { X = 24, Y = 5, OUT = 17 };
    float x[X], y[Y];
    at_arena *a = at_arena_new();
    at_error err;
    const at_program *p =
        program_of(a, &(program){"shapes", sizes, compute, "k:vec =>\n    @out = k\n"});
    for (int i = 0; i < X; i++) x[i] = (float)(i + 1);
    for (int i = 0; i < Y; i++) y[i] = (float)(100 + i);
    at_data *data = AT_NEW_ARRAY(a, at_data, p->compute->num_tensors);
    data[0].f = x;
    data[1].f = y;
    if (at_program_interpret(a, p, data, &err) != AT_OK) fail_msg("%s", err.text);
    const float *out = data[at_compute_find(p->compute, "out")].f;
    for (int k = 0; k < OUT; k++) assert_true(out[k] == element(k, x, y));
    at_arena_free(a);
}

static void worked_out_once(void **state) {
    (void)state;
    enum { STAGES = 7 };
    at_arena *a = at_arena_new();
    at_text text = {0};
    const at_target *t;
    at_text_add(&text, "s0[X] : input\n");
    for (int i = 1; i <= STAGES; i++)
        at_text_addf(&text, "s%d[x:X] = s%d[x] + s%d[x]*s%d[x]\n", i, i - 1, i - 1, i - 1);
    for (int i = 0; (t = at_target_at(i)); i++) {
        const at_program *p = program_of(
            a, &(program){"powers", at_format(a, "X=%d", 2 * t->lanes), at_text_str(&text),
                          at_format(a, "x:vec =>\n    @s%d = x\n", STAGES)});
        const at_lower_options o = {
            .dialect = AT_DIALECT_TCC, .name = "k", .verify = true, .target = t};
        at_low *l;
        at_error err;
        int n = 0;
        if (at_lower_until(a, p, &o, "tiles", &l, &err) != AT_OK) fail_msg("%s", err.text);
        assert_int_equal(l->tiles.len, 1);
        for (int k = 0; k < l->tiles.data[0]->num_ops; k++) {
            const at_tile_op *op = &l->tiles.data[0]->ops[k];
            n += at_tile_is_term(op) ? 2 : op->kind == AT_T_ADD || op->kind == AT_T_MUL;
        }
        assert_int_equal(n, 2 * 2 * STAGES);
    }
    at_text_free(&text);
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(costs_nothing), cmocka_unit_test(is_right),
                                       cmocka_unit_test(worked_out_once)};
    return cmocka_run_group_tests_name("codegen/shape_only", tests, NULL, NULL);
}
