/* tests/base/test_visible.c: what people are shown of texts that others wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/base.h"

#include <string.h>

/* The character in UTF-8, whether or not there is one. */
static int encode(int32_t c, char out[5]) {
    int n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (int i = n - 1; i > 0; i--, c >>= 6) out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(n == 1 ? c : (0xf00 >> n & 0xff) | c);
    out[n] = 0;
    return n;
}

/* Every character: it stands there as it is, or as its number in ASCII. */
static void characters(void **state) {
    (void)state;
    at_text out = {0}, again = {0};
    int spelled = 0;
    for (int32_t c = 1; c <= 0x10ffff; c++) {
        char text[5], number[16];
        int n = encode(c, text);
        at_text_clear(&out);
        at_text_add_visible(&out, text);
        if (c >= 0xd800 && c < 0xe000) {
            assert_int_equal(out.len, 4 * n); /* no characters: byte by byte */
            continue;
        }
        const char *s = text;
        assert_int_equal(at_utf8_next(&s, text + n), c);
        assert_ptr_equal(s, text + n);
        if (!strcmp(out.data, text)) continue;
        spelled++;
        snprintf(number, sizeof number,
                 c < 0x80      ? "\\x%02x"
                 : c < 0x10000 ? "\\u%04x"
                               : "\\U%08x",
                 (unsigned)c);
        if (!strchr("\n\r\t", c)) assert_string_equal(out.data, number);
        for (size_t i = 0; i < out.len; i++) assert_in_range(out.data[i], ' ', '~');
        at_text_clear(&again);
        at_text_add_visible(&again, out.data);
        assert_string_equal(again.data, out.data);
    }
    /* C0 without NUL, delete, C1; then order of writing, and what is not seen. */
    assert_int_equal(spelled, 31 + 33 + 1 + 1 + 1 + 5 + 7 + 16 + 1 + 3 + 128);
    at_text_free(&out);
    at_text_free(&again);
}

static void named(void **state) {
    (void)state;
    static const char *const texts[][2] = {
        {"", ""},
        {"conv2d_3x3_gemm [1, 56]", "conv2d_3x3_gemm [1, 56]"},
        {"a\nb\tc\rd", "a\\nb\\tc\\rd"},
        {"\033[2J\007\b\177", "\\x1b[2J\\x07\\x08\\x7f"},
        {"\xc2\x9b"
         "31m",
         "\\u009b31m"},
        {"\x9b"
         "31m",
         "\\x9b31m"},
        {"gr\xc3\xb6\xc3\x9f \xe5\xbf\xab \xf0\x9f\x9a\x80", "gr\xc3\xb6\xc3\x9f \xe5\xbf\xab "
                                                             "\xf0\x9f\x9a\x80"},
        {"\xe2\x80\xaa\xe2\x80\xab\xe2\x80\xac\xe2\x80\xad\xe2\x80\xae",
         "\\u202a\\u202b\\u202c\\u202d\\u202e"},
        {"\xe2\x81\xa6\xe2\x81\xa7\xe2\x81\xa8\xe2\x81\xa9", "\\u2066\\u2067\\u2068\\u2069"},
        {"\xe2\x80\x8e\xe2\x80\x8f", "\\u200e\\u200f"},
        {"\xc0\xaf\xe0\x80\xaf\xf8\xff", "\\xc0\\xaf\\xe0\\x80\\xaf\\xf8\\xff"},
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
        {"\xe2\x80", "\\xe2\\x80"},
        {"\xf3\xa0\x81\x81", "\\U000e0041"},
    };
    at_arena *a = at_arena_new();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_string_equal(at_visible(a, texts[i][0]), texts[i][1]);
    char lines[32];
    at_visible_into(lines, sizeof lines, "a\n\tb\r\033", true);
    assert_string_equal(lines, "a\n\tb\\r\\x1b");
    at_arena_free(a);
}

/* An error is one line, whatever the names in it; cut, it ends between two characters. */
static void errors(void **state) {
    (void)state;
    at_error err;
    at_fail(&err, AT_E_INPUT, "%s: no \"%s\"", "a\nb.log", "\033[31m");
    assert_string_equal(err.text, "a\\nb.log: no \"\\x1b[31m\"");
    at_fail_at(&err, "%s: ", "\xc2\x9b");
    assert_string_equal(err.text, "\\u009b: a\\nb.log: no \"\\x1b[31m\"");
    at_fail_lines(&err, AT_E_INPUT, "x:1:2: no\n%s\n ^", "\033\t?");
    assert_string_equal(err.text, "x:1:2: no\n\\x1b\t?\n ^");
    char name[3000];
    for (int from = 0; from < 4; from++) {
        size_t n = 0;
        memset(name, 'x', (size_t)from);
        for (n = (size_t)from; n + 3 < sizeof name; n += 3) memcpy(name + n, "\xe5\xbf\xab", 3);
        name[n] = 0;
        at_fail(&err, AT_E_INPUT, "%s", name);
        n = strlen(err.text);
        assert_in_range(n, sizeof err.text - 5, sizeof err.text - 1);
        assert_memory_equal(err.text, name, n);
        assert_null(strchr(err.text, '\\'));
    }
}

/* The caret stands below the place, also behind characters that are spelled or take two bytes. */
static void caret(void **state) {
    (void)state;
    at_error err;
    at_lex l;
    assert_int_equal(at_lex_start(&l, "\"\xc3\xb6\xc2\x9b\" ?", "text", &err), AT_OK);
    while (l.kind != AT_TOK_OP) assert_int_equal(at_lex_next(&l, &err), AT_OK);
    at_lex_fail(&l, &err, "no");
    assert_string_equal(err.text, "text:1:8: no, got '?'\n\"\xc3\xb6\\u009b\" ?\n          ^");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(characters), cmocka_unit_test(named),
                                       cmocka_unit_test(errors), cmocka_unit_test(caret)};
    return cmocka_run_group_tests_name("base/visible", tests, NULL, NULL);
}
