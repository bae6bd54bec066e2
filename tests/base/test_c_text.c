/* Text of others in C: every byte, and pairs and triples of those that matter, in comments that
 * compilers accept; names that compile, whatever they are made of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/arena.h"

#include <string.h>

/* What a comment must not hold, said once more in another way than the function does. */
static void check_comment(const char *text) {
    at_text t = {0};
    at_text_add_c_comment(&t, text);
    const char *s = at_text_str(&t);
    assert_null(strstr(s, "*/"));
    assert_null(strstr(s, "/*"));
    assert_null(strstr(s, "??"));
    assert_null(strstr(s, "\\\n"));
    assert_null(strstr(s, "\\ \n"));
    for (; *s; s++) assert_true(*s == '\n' || ((unsigned char)*s >= 32 && *s != 127));
    if (t.len) assert_true(t.data[t.len - 1] != '\\');
    at_text_free(&t);
}

static void comments(void **state) {
    (void)state;
    static const char parts[] = "*/\\?\n \t\r\x1b\x7f\x80\xe2\xffx";
    for (int i = 1; i < 256; i++) check_comment((char[]){(char)i, 0});
    for (const char *a = parts; *a; a++)
        for (const char *b = parts; *b; b++)
            for (const char *c = parts; *c; c++)
                for (const char *d = parts; *d; d++) check_comment((char[]){*a, *b, *c, *d, 0});
    static const char *const spelled[][2] = {
        {"a*/b", "a* /b"},
        {"a/*b", "a/ *b"},
        {"\?\?/\?\?/", "? ?/? ?/"},
        {"a\\\nb\\  \nc\\", "a<5c>\nb<5c>  \nc<5c>"},
        {"\xe2\x80\xae"
         "a\xe2\x81\xa6",
         "<U+202E>a<U+2066>"},
        {"\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80", "\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80"},
        {"\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80", "<c0><af><ed><a0><80><f4><90><80><80>"},
        {"\xc2\x85\xc2\xad", "<85><ad>"},
        {"C:\\path\\x = 1", "C:\\path\\x = 1"},
    };
    for (size_t i = 0; i < sizeof spelled / sizeof *spelled; i++) {
        at_text t = {0};
        at_text_add_c_comment(&t, spelled[i][0]);
        assert_string_equal(at_text_str(&t), spelled[i][1]);
        at_text_free(&t);
    }
}

/* Text added in two pieces does not end a comment either. */
static void pieces(void **state) {
    (void)state;
    at_text t = {0};
    at_text_add_c_comment(&t, "a*");
    at_text_add_c_comment(&t, "/b?");
    at_text_add_c_comment(&t, "?/");
    assert_string_equal(at_text_str(&t), "a* /b? ?/");
    at_text_free(&t);
}

/* ---- names ----------------------------------------------------------------------------------- */

static void names(void **state) {
    (void)state;
    static const char *const made[][2] = {{"conv2d_M1", "conv2d_M1"},
                                          {"3d", "k3d"},
                                          {"int", "k_int"},
                                          {"main", "k_main"},
                                          {"class", "k_class"},
                                          {"printf", "k_printf"},
                                          {"at_par", "k_at_par"},
                                          {"omp_x", "k_omp_x"},
                                          {"_x", "k_x"},
                                          {"a__b--c_", "a_b_c"},
                                          {"", "k"},
                                          {"--", "k"},
                                          {"EOF", "k_EOF"},
                                          {"linux", "k_linux"},
                                          {"\xc3\xa9t\xc3\xa9", "k_t"},
                                          {"NCHW\"; int x", "NCHW_int_x"}};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        const char *name = at_c_name(arena, made[i][0]);
        assert_string_equal(name, made[i][1]);
        assert_null(at_c_name_fault(name));
    }
    for (int i = 1; i < 256; i++) {
        assert_null(at_c_name_fault(at_c_name(arena, (char[]){(char)i, 0})));
        assert_null(at_c_name_fault(at_c_name(arena, (char[]){'a', (char)i, 'b', 0})));
    }
    char lengthy[3000];
    memset(lengthy, 'x', sizeof lengthy);
    lengthy[sizeof lengthy - 1] = 0;
    const char *one = at_c_name(arena, lengthy);
    lengthy[sizeof lengthy - 2] = 'y';
    assert_true(strlen(one) <= AT_C_NAME_MAX);
    assert_string_not_equal(one, at_c_name(arena, lengthy));
    assert_null(at_c_name_fault(one));
}

static void faults(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",     "3x",       "a b",    "int",      "class",  "main",  "printf", "malloc",
        "read", "at_par",   "omp_go", "_x",       "a__b",   "EOF",   "linux",  "and",
        "y1",   "\xc3\xa9", "stdin",  "__func__", "size_t", "float", "exp",    "index"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_non_null(at_c_name_fault(bad[i]));
    static const char *const good[] = {"conv", "dense", "A", "layer_1x1", "prin", "rintf_of"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) assert_null(at_c_name_fault(good[i]));
    assert_false(at_c_is_reserved("y1")); /* a variable may hide a function */
    assert_true(at_c_is_reserved("EOF"));
}

static void constants(void **state) {
    (void)state;
    at_text t = {0};
    at_text_add_c_string(&t, "a\"b\\1\n?\?/\xc3\x9b 'x'.c");
    assert_string_equal(t.data, "\"a\\042b\\1341\\012\\077\\077/\\303\\233 'x'.c\"");
    at_text_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(comments), cmocka_unit_test(pieces),
                                       cmocka_unit_test(names), cmocka_unit_test(faults),
                                       cmocka_unit_test(constants)};
    return cmocka_run_group_tests_name("base/c_text", tests, make_arena, free_arena);
}
