/* Messages between a search and an agent, byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/arena.h"

#include <math.h>

#include "remote/result.h"

/* The bytes are the same on every machine. */
static void bytes(void **state) {
    (void)state;
    at_text out = {0};
    at_frame f = {.type = AT_FRAME_TRIAL,
                  .search = 0x0102030405060708,
                  .epoch = 9,
                  .number = 10,
                  .attempt = 11,
                  .entity = "ab",
                  .best_s = 1};
    static const unsigned char expected[] = {'a', 't', 'f', 'r', 8, 0, 0,    0,   AT_FRAME_TRIAL,
                                             0,   0,   0,   38,  0, 0, 0, /* head */
                                             8,   7,   6,   5,   4, 3, 2,    1,   9,
                                             0,   0,   0,   10,  0, 0, 0,    0,   0,
                                             0,   0,   11, /* which */
                                             0,   0,   0,   2,   0, 0, 0,    'a', 'b',
                                             0,   0,   0,   0,   0, 0, 0xf0, 0x3f};
    assert_int_equal(at_frame_put(&out, &f, NULL), AT_OK);
    assert_int_equal(out.len, sizeof expected);
    assert_memory_equal(out.data, expected, sizeof expected);
    at_text_free(&out);
}

/* A frame that has not come whole is waited for, wherever it is cut. */
static void pieces(void **state) {
    (void)state;
    at_text out = {0};
    at_frame f;
    at_error err;
    size_t taken;
    at_frame_put(&out,
                 &(at_frame){.type = AT_FRAME_TRIAL, .number = 5, .entity = "e", .best_s = 0.25},
                 NULL);
    for (size_t n = 0; n < out.len; n++) {
        assert_int_equal(at_frame_get(arena, out.data, n, &taken, &f, &err), AT_OK);
        assert_int_equal(taken, 0);
    }
    at_text_add(&out, "more");
    assert_int_equal(at_frame_get(arena, out.data, out.len, &taken, &f, &err), AT_OK);
    assert_int_equal(taken, out.len - 4);
    assert_int_equal(f.number, 5);
    assert_string_equal(f.entity, "e");
    assert_true(f.best_s == 0.25);
    at_text_free(&out);
}

/* What is refused, with every byte of a good frame changed in turn: never more is taken than there
 * is, and texts end within it. */
static void damage(void **state) {
    (void)state;
    at_text out = {0};
    at_frame f;
    at_error err;
    size_t taken;
    at_frame_put(&out, &(at_frame){.type = AT_FRAME_HELLO, .version = "v", .node = "n", .cpu = "c"},
                 NULL);
    int refused = 0;
    for (size_t i = 0; i < out.len; i++) {
        char was = out.data[i];
        out.data[i] = (char)(was ^ 0x40);
        refused += at_frame_get(arena, out.data, out.len, &taken, &f, &err) != AT_OK;
        assert_true(taken <= out.len);
        out.data[i] = was;
    }
    assert_true(refused >= 16); /* all of the head, but what makes it longer */
    at_text_free(&out);
}

static void refusals(void **state) {
    (void)state;
    at_text out = {0}, text = {0};
    at_frame f;
    at_error err;
    size_t taken;
    for (int i = 0; i < AT_FRAME_MOST_BYTES / 1024 + 1; i++)
        for (int k = 0; k < 128; k++) at_text_add(&text, "12345678");
    assert_int_equal(
        at_frame_put(&out, &(at_frame){.type = AT_FRAME_TOLD, .text = text.data}, &err),
        AT_E_USAGE);
    assert_int_equal(out.len, 0);
    at_frame_put(&out, &(at_frame){.type = AT_FRAME_ALIVE}, NULL);
    out.data[4] = 1;
    assert_int_equal(at_frame_get(arena, out.data, out.len, &taken, &f, &err), AT_E_INPUT);
    assert_string_equal(err.text, "messages of version 1; this program's are of version 8");
    assert_int_equal(at_frame_get(arena, "Hello", 5, &taken, &f, &err), AT_E_INPUT);
    at_text_free(&out);
    at_text_free(&text);
}

static void greetings(void **state) {
    (void)state;
    at_error err;
    size_t taken;
    static const char banner[] = "Welcome to board\n\nLast login\n" AT_FRAME_MAGIC "\natfr";
    assert_int_equal(at_frame_greeting(banner, sizeof banner - 1, &taken, &err), AT_OK);
    assert_string_equal(banner + taken, "atfr");
    assert_int_equal(at_frame_greeting(banner, 20, &taken, &err), AT_OK);
    assert_int_equal(taken, 0);
    at_text noise = {0};
    while (noise.len <= AT_FRAME_MOST_GREETING + 64) at_text_add(&noise, "noise ");
    assert_int_equal(at_frame_greeting(noise.data, noise.len, &taken, &err), AT_E_INPUT);
    at_text_free(&noise);
}

static const double costs_s[] = {0.25}, samples_s[] = {0.2, 0.25, 0.5}, ratios[] = {2, 2.5, 5};

/* A result of a trial in pairs, and the record that its agent sent before. */
static at_record make_result(void) {
    at_record r = {.config.index = 77,
                   .costs_s = costs_s,
                   .num_costs = 1,
                   .all_cost_s = 0.5,
                   .timestamp_s = 1e9};
    r.extra = (at_extra){.samples_s = samples_s,
                         .num_samples = 3,
                         .number = 4,
                         .sample_kind = AT_SAMPLES_FULL,
                         .peak_gflops = 100,
                         .gflops = 50,
                         .error = "",
                         .check = AT_CHECK_EXACT,
                         .code_hash = "0123456789abcdef0123456789abcdef",
                         .same_as = -1};
    r.extra.pairs = (at_paired){.of_first = 2.5,
                                .of_first_error = 0.01,
                                .ratio = 2.5,
                                .first = "fedcba9876543210fedcba9876543210",
                                .ratios = ratios,
                                .num_ratios = 3,
                                .is_bracketed = true};
    return r;
}

static bool send(const at_record *r, at_record *out, at_trial_id *id) {
    static const at_record ready = {.task = "t", .extra = {.present = true, .version = "v"}};
    at_text bytes = {0};
    at_frame f;
    at_error err;
    size_t taken;
    f = at_result_frame(&(at_trial_id){.search = 1, .epoch = 2, .number = 3, .attempt = 4}, r);
    assert_int_equal(at_frame_put(&bytes, &f, &err), AT_OK);
    assert_int_equal(at_frame_get(arena, bytes.data, bytes.len, &taken, &f, &err), AT_OK);
    assert_int_equal(taken, bytes.len);
    at_text_free(&bytes);
    return at_result_read(&f, &ready, out, id);
}

/* What a trial found arrives, the rest is as the agent said when it was ready. */
static void results(void **state) {
    (void)state;
    at_record sent = make_result(), r;
    at_trial_id id;
    assert_true(send(&sent, &r, &id));
    assert_true(id.search == 1 && id.epoch == 2 && id.number == 3 && id.attempt == 4);
    assert_string_equal(r.task, "t");
    assert_string_equal(r.extra.version, "v");
    assert_int_equal(r.config.index, 77);
    assert_true(r.num_costs == 1 && r.costs_s[0] == 0.25 && r.all_cost_s == 0.5);
    assert_true(r.extra.num_samples == 3 && r.extra.samples_s[2] == 0.5 && r.extra.number == 4);
    assert_true(r.extra.pairs.num_ratios == 3 && r.extra.pairs.ratios[2] == 5);
    assert_true(r.extra.pairs.is_bracketed && r.extra.pairs.of_first == 2.5);
    assert_true(r.extra.pairs.of_first_error == 0.01);
    assert_string_equal(r.extra.pairs.first, sent.extra.pairs.first);
    assert_string_equal(r.extra.code_hash, sent.extra.code_hash);
    assert_int_equal(r.extra.same_as, -1);
    assert_int_equal(r.extra.check, AT_CHECK_EXACT);
    assert_true(r.extra.gflops == 50 && r.extra.peak_gflops == 100 && r.timestamp_s == 1e9);
}

/* An agent that lies: what no measurement is, is none. */
static void lies(void **state) {
    (void)state;
    static const double zero[] = {0}, infinite[] = {INFINITY}, none[] = {NAN}, less[] = {-1};
    const double *const bad[] = {zero, infinite, none, less};
    at_record r;
    at_trial_id id;
    for (int i = 0; i < 4; i++) {
        at_record x = make_result();
        x.costs_s = bad[i];
        assert_false(send(&x, &r, &id));
        x = make_result();
        x.extra.samples_s = bad[i], x.extra.num_samples = 1;
        assert_false(send(&x, &r, &id));
        x = make_result();
        x.extra.pairs.ratios = bad[i], x.extra.pairs.num_ratios = 1;
        assert_false(send(&x, &r, &id));
        x = make_result();
        x.extra.pairs.ratio = *bad[i];
        assert_false(send(&x, &r, &id));
        if (!i) continue; /* 0 is as good as any */
        x = make_result();
        x.extra.gflops = *bad[i];
        assert_false(send(&x, &r, &id));
        x = make_result();
        x.extra.pairs.of_first_error = *bad[i];
        assert_false(send(&x, &r, &id));
        x = make_result();
        x.timestamp_s = *bad[i];
        assert_false(send(&x, &r, &id));
    }
    at_record x = make_result();
    x.num_costs = 0;
    assert_false(send(&x, &r, &id));
    x = make_result();
    x.error_no = 9;
    assert_false(send(&x, &r, &id));
    x = make_result();
    x.error_no = -1;
    assert_false(send(&x, &r, &id));
    x = make_result();
    x.extra.check = AT_CHECK_OTHER; /* its word would be NULL */
    assert_false(send(&x, &r, &id));
    x = make_result();
    x.extra.sample_kind = (at_samples)77;
    assert_false(send(&x, &r, &id));
    x = make_result();
    x.extra.accuracy = (at_accuracy){.is_known = true, .max_error = 1e-6, .rms_error = 2e-6};
    assert_false(send(&x, &r, &id));
    x = make_result();
    x.extra.code_hash = "../../etc/passwd";
    assert_false(send(&x, &r, &id));
    x = make_result();
    x.extra.pairs.first = "\n#final {}";
    assert_false(send(&x, &r, &id));
    x = make_result();
    x.extra.same_as = -2;
    assert_false(send(&x, &r, &id));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes),     cmocka_unit_test(pieces),
                                       cmocka_unit_test(damage),    cmocka_unit_test(refusals),
                                       cmocka_unit_test(greetings), cmocka_unit_test(results),
                                       cmocka_unit_test(lies)};
    return cmocka_run_group_tests_name("remote/frame", tests, make_arena, free_arena);
}
