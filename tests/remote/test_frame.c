/* Messages between a search and an agent, byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/arena.h"

#include <string.h>

#include "remote/delta.h"
#include "remote/frame.h"

/* The bytes are the same on every machine. */
static void bytes(void **state) {
    (void)state;
    at_text out = {0};
    at_frame f = {.type = AT_FRAME_RESULT,
                  .search = 0x0102030405060708,
                  .epoch = 9,
                  .number = 10,
                  .attempt = 11,
                  .records = "ab"};
    static const unsigned char expected[] = {'a', 't', 'f', 'r', 1,   0,  0, 0, AT_FRAME_RESULT,
                                             0,   0,   0,   30,  0,   0,  0, /* head */
                                             8,   7,   6,   5,   4,   3,  2, 1, 9,
                                             0,   0,   0,   10,  0,   0,  0, 0, 0,
                                             0,   0,   11,  0,   0,   0, /* which */
                                             2,   0,   0,   0,   'a', 'b'};
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
    out.data[4] = 2;
    assert_int_equal(at_frame_get(arena, out.data, out.len, &taken, &f, &err), AT_E_INPUT);
    assert_string_equal(err.text, "messages of version 2; this program's are of version 1");
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

/* Two lines of a log: what differs is a small part. */
static void deltas(void **state) {
    (void)state;
    static const char
        base[] = "{\"input\": [\"c -keys=cpu\", \"dense\", [1, 2]], \"result\": [[0.25], 0]}",
        text[] = "{\"input\": [\"c -keys=cpu\", \"dense\", [1, 2]], \"result\": [[0.75], 4]}";
    at_text delta = {0}, again = {0};
    at_delta_put(&delta, base, text);
    assert_true(delta.len < 40);
    assert_true(at_delta_get(&again, base, at_text_str(&delta), 1000));
    assert_string_equal(again.data, text);
    static const char *const bad[] = {"\x01"
                                      "9999,1;",
                                      "\x01"
                                      "0,9999;",
                                      "\x01"
                                      "0,5",
                                      "\x01"
                                      ",5;",
                                      "\x01"
                                      "0;",
                                      "\x01",
                                      "\x01"
                                      "99999999999,1;"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(at_delta_get(&again, base, bad[i], 1000));
    at_text_clear(&again);
    assert_false(at_delta_get(&again, base, at_text_str(&delta), 20)); /* too long */
    at_text_free(&delta);
    at_text_free(&again);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes),     cmocka_unit_test(pieces),
                                       cmocka_unit_test(damage),    cmocka_unit_test(refusals),
                                       cmocka_unit_test(greetings), cmocka_unit_test(deltas)};
    return cmocka_run_group_tests_name("remote/frame", tests, make_arena, free_arena);
}
