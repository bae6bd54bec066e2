/* tests/base/test_text.c: the text buffer, spellings of doubles and strings, nearest names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void buffer_grows_and_stays_terminated(void **state) {
    (void)state;
    at_text t = {0};
    assert_string_equal(at_text_str(&t), "");
    at_text_clear(&t);
    assert_string_equal(at_text_str(&t), "");
    at_text_addn(&t, NULL, 0);
    assert_string_equal(at_text_str(&t), "");
    for (int i = 0; i < 1000; i++) {
        at_text_add(&t, "ab");
        at_text_addf(&t, "%d", i % 10);
        assert_int_equal(strlen(t.data), t.len);
    }
    assert_int_equal(t.len, 3000);
    at_text_clear(&t);
    at_text_addf(&t, "%500d", 7);
    assert_int_equal(t.len, 500);
    assert_string_equal(t.data + 498, " 7");
    at_text_addn(&t, "x\0y", 3);
    assert_int_equal(t.len, 503);
    assert_int_equal(t.data[503], 0);
    at_text_free(&t);
    assert_null(t.data);
}

static const char *spelled(at_text *t, double x) {
    at_text_clear(t);
    at_text_add_double(t, x);
    return at_text_str(t);
}

/* What Python 3.11 prints. */
static void doubles_as_python_spells_them(void **state) {
    (void)state;
    static const struct {
        double x;
        const char *repr;
    } known[] = {
        {0x0.0p+0, "0.0"},
        {-0x0.0p+0, "-0.0"},
        {0x1.999999999999ap-4, "0.1"},
        {0x1.999999999999ap-2, "0.4"},
        {0x1.4f8b588e368f1p-17, "1e-05"},
        {0x1.a36e2eb1c432dp-14, "0.0001"},
        {0x1.02e4b6ce5dc68p-13, "0.00012345"},
        {0x1.dcd6500000000p+29, "1000000000.0"},
        {0x1.e240c9fbe76c9p+16, "123456.789"},
        {0x1.c6bf526340000p+49, "1000000000000000.0"},
        {0x1.1c37937e08000p+53, "1e+16"},
        {0x1.1c37937e07fffp+53, "9999999999999998.0"},
        {0x1.56a95319d63e1p+63, "1.2345678901234567e+19"},
        {0x1.0f0cf064dd592p+73, "1e+22"},
        {0x1.52d02c7e14af6p+76, "1e+23"},
        {0x0.0000000000001p-1022, "5e-324"},
        {0x1.0000000000000p-1022, "2.2250738585072014e-308"},
        {0x1.fffffffffffffp+1023, "1.7976931348623157e+308"},
        {0x1.0000000000000p-44, "5.684341886080802e-14"},
        {0x1.0000000000000p-1000, "9.332636185032189e-302"},
        {0x1.0000000000000p+53, "9007199254740992.0"},
        {0x1.3333333333334p-2, "0.30000000000000004"},
        {0x1.5555555555555p-2, "0.3333333333333333"},
        {0x1.9000000000000p+6, "100.0"},
        {-0x1.4000000000000p+1, "-2.5"},
        {0x1.c2ab3548a5f8ep-14, "0.000107447810601234"},
        {0x1.4d8399f767c45p+23, "10928588.983213553"},
        {0x1.8fbbcbde5c099p+445, "1.4186613525849614e+134"},
        {-0x1.11fdecb91ce37p-243, "-7.571968556055867e-74"},
        {-0x1.d4330f1446beap+375, "-1.4074705188261364e+113"},
        {-0x1.b8c9ebd69fe29p-401, "-3.3339745473042614e-121"},
        {-0x1.0b125ec1d7da0p-900, "-1.2342180766211395e-271"},
        {-0x1.10dff076ce2efp+371, "-5.126864004244935e+111"},
        {-0x1.5387777330bdbp+107, "-2.1520217579844227e+32"},
        {0x1.1ea36f17fd374p-3, "0.1399601630397701"},
        {0x1.64138a6233255p-811, "1.01853664031722e-244"},
        {0x1.7688de6a16a3bp-381, "2.9704598186234577e-115"},
        {0x1.dd97f1cfb10f6p+499, "3.0534183338726823e+150"},
        {-0x1.271007814e8a2p+486, "-2.3027782228163463e+146"},
        {0x1.959ce3f1f65a8p+536, "3.56409621163656e+161"},
        {0x1.afe878b33e968p-606, "6.352929017207453e-183"},
        {0x1.4235992edcf45p-2, "0.3146575865605324"},
        {-0x1.edb20035b7399p-77, "-1.2761724801771812e-23"},
        {0x1.c966c377b9aa2p+648, "2.0868668176225336e+195"},
        {0x1.c82b1478c281dp-278, "3.66898827745704e-84"},
        {-0x1.1cc9dea959c21p+482, "-1.389122273370197e+145"},
        {0x1.229f1c4069545p+572, "1.7548715433165102e+172"},
        {-0x1.d8b7628dbd25ep+49, "-1039514241563211.8"},
        {0x1.a1e48cc11d357p-729, "5.7804021771411506e-220"},
        {-0x1.0691c238642eap-540, "-2.8497478716107576e-163"},
        {0x1.0c07e9e115e4bp+799, "3.490691392124745e+240"},
        {0x1.a8978206f5c66p-482, "1.3282314387596086e-145"},
        {-0x1.b18b900745130p+911, "-2.9317061175715426e+274"},
        {0x1.c33b2df1461aap-1002, "4.1124768973349897e-302"},
        {-0x1.a3cab359eeefbp+97, "-2.5983853818656714e+29"},
        {-0x1.ae3bf3729c619p+861, "-2.5839922981649337e+259"},
        {0x1.59159fb7ff337p-344, "3.7615508677292285e-104"},
        {0x1.eba0cdf561d80p-342, "2.1435728770450893e-103"},
        {0x1.b74ba4a0fe75dp+261, "6.3583676891104784e+78"},
        {0x1.a6928f6236bf2p-209, "2.0062829023357212e-63"},
        {0x1.0000000000000p-1017, "7.120236347223045e-307"},
        {0x1.0000000000000p-1007, "7.291122019556398e-304"},
        {0x1.0000000000000p-957, "8.209073602596753e-289"},
        {0x1.0000000000000p-921, "5.641232424577593e-278"},
    };
    at_text t = {0};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_string_equal(spelled(&t, known[i].x), known[i].repr);
    assert_string_equal(spelled(&t, NAN), "nan");
    assert_string_equal(spelled(&t, INFINITY), "inf");
    assert_string_equal(spelled(&t, -INFINITY), "-inf");
    at_text_free(&t);
}

/* Decimals of up to 15 digits come back as they are, wherever their point is. */
static void few_digits(void **state) {
    (void)state;
    at_text t = {0};
    at_rng r;
    at_rng_seed(&r, 15, 0);
    for (int i = 0; i < 200000; i++) {
        int digits = 1 + (int)at_rng_below(&r, 15), shown = 0;
        int64_t most = 1, n;
        char decimal[40];
        for (int k = 0; k < digits; k++) most *= 10;
        do n = (int64_t)at_rng_below(&r, (uint64_t)most);
        while (n % 10 == 0);
        snprintf(decimal, sizeof decimal, "%llde%d", (long long)n, (int)at_rng_below(&r, 45) - 25);
        double x = strtod(decimal, NULL);
        const char *s = spelled(&t, x);
        assert_true(strtod(s, NULL) == x);
        const char *p = s;
        while (*p == '0' || *p == '.') p++;
        for (const char *end = p + strcspn(p, "e"); p < end; p++) shown += *p != '.';
        int64_t same = 0;
        for (p = s; *p && *p != 'e'; p++)
            if (*p != '.') same = 10 * same + *p - '0';
        while (same % 10 == 0 && same) same /= 10;
        if (same != n) fail_msg("%s is spelled %s", decimal, s);
        assert_true(shown <= 18);
        if (x >= 1e-6 && x < 1e8) {
            double nine = at_with_digits(x, 9);
            assert_true(fabs(nine / x - 1) < 1e-8);
            snprintf(decimal, sizeof decimal, "%.9g", x);
            assert_true(nine == strtod(decimal, NULL) ||
                        n % 10 == 5); /* half is rounded otherwise */
        }
    }
    at_text_free(&t);
}

static void doubles_read_back_equal(void **state) {
    (void)state;
    at_rng r;
    at_rng_seed(&r, 1, 1);
    at_text t = {0};
    for (int i = 0; i < 50000; i++) {
        union {
            uint64_t bits;
            double x;
        } u = {.bits = (uint64_t)at_rng_u32(&r) << 32 | at_rng_u32(&r)};
        double x = i % 2 ? u.x : at_rng_unit(&r) * 1e-3; /* any, and measured times */
        if (!isfinite(x)) continue;
        double back = strtod(spelled(&t, x), NULL);
        if (back != x) fail_msg("%a is spelled %s", x, t.data);
    }
    at_text_free(&t);
}

static void json_strings(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"", "\"\""},
        {"tile_x", "\"tile_x\""},
        {"a\"b\\c/", "\"a\\\"b\\\\c/\""},
        {"\b\f\n\r\t\x01\x1f\x7f", "\"\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\""},
        {"\xc3\xa9\xe2\x82\xac", "\"\\u00e9\\u20ac\""},
        {"\xf0\x9f\x98\x80", "\"\\ud83d\\ude00\""},
        /* cut short, a stray byte, overlong, a surrogate, beyond U+10FFFF */
        {"\xe2\x82", "\"\\ufffd\\ufffd\""},
        {"a\xff"
         "b",
         "\"a\\ufffdb\""},
        {"\xc0\x80", "\"\\ufffd\\ufffd\""},
        {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},
        {"\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""},
    };
    at_text t = {0};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        at_text_clear(&t);
        at_text_add_json_string(&t, pairs[i][0]);
        assert_string_equal(t.data, pairs[i][1]);
    }
    at_text_free(&t);
}

static void nearest_names(void **state) {
    (void)state;
    static const char *const names[] = {"tile_y", "tile_x", "tile_k", "reorder",
                                        "auto_unroll_max_step"};
    assert_string_equal(at_nearest("tile_x", names, 5), "tile_x");
    assert_string_equal(at_nearest("tilex", names, 5), "tile_x");
    assert_string_equal(at_nearest("tile_z", names, 5), "tile_y"); /* the first of equals */
    assert_string_equal(at_nearest("roerder", names, 5), "reorder");
    assert_string_equal(at_nearest("auto_unrol_maxstep", names, 5), "auto_unroll_max_step");
    assert_null(at_nearest("threads", names, 5));
    assert_null(at_nearest("", names, 5));
    assert_null(at_nearest("x", names, 5));
    assert_null(at_nearest("tile", names, 0));
    char longer[300];
    memset(longer, 'a', sizeof longer);
    longer[299] = 0;
    assert_null(at_nearest(longer, names, 5));
    const char *const long_names[] = {longer, "abc"};
    assert_string_equal(at_nearest("abd", long_names, 2), "abc");
}

/* The shell itself says what it reads. */
static void shell_words(void **state) {
    (void)state;
    static const char *const words[] = {
        "plain",      "a/b.c",    "N=1,H=56", "",     " ",          "my file", "it's",
        "'",          "''",       "$HOME",    "`ls`", "\"x\"",      "a\\b",    "*",
        "[1, \"x\"]", "a;exit 1", "#final",   "~",    "two\nlines", "\xc3\xa9"};
    enum { NUM = sizeof words / sizeof *words };
    char got[256];
    for (int i = 0; i < NUM; i++) {
        at_text t = {0};
        at_text_add(&t, "printf '%s.' ");
        at_text_add_shell(&t, words[i], strlen(words[i]));
        FILE *shell = popen(at_text_str(&t), "r");
        assert_non_null(shell);
        size_t n = fread(got, 1, sizeof got - 1, shell);
        assert_int_equal(pclose(shell), 0);
        assert_int_equal(n, strlen(words[i]) + 1);
        assert_memory_equal(got, words[i], n - 1);
        at_text_free(&t);
    }
    at_text t = {0};
    at_text_add_shell(&t, "kernel.c", 6);
    assert_string_equal(at_text_str(&t), "kernel"); /* no quotes where none are needed */
    at_text_free(&t);
}

static void test_integers(void **state) {
    (void)state;
    const int64_t numbers[] = {
        0, 1, -1, 9, 10, -10, 4096, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN + 1, INT64_MIN};
    at_text t = {0};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "x %lld", (long long)numbers[i]);
        at_text_clear(&t);
        at_text_add(&t, "x ");
        at_text_add_int(&t, numbers[i]);
        assert_string_equal(at_text_str(&t), expected);
    }
    at_text_free(&t);
}

static void test_blanks(void **state) {
    (void)state;
    at_text t = {0};
    at_text_add_blanks(&t, 0);
    assert_string_equal(at_text_str(&t), "");
    for (int n = 1; n < 300; n += 98) {
        char expected[300];
        snprintf(expected, sizeof expected, "%*s|", n, "");
        at_text_clear(&t);
        at_text_add_blanks(&t, n);
        at_text_add_blanks(&t, -1);
        at_text_add(&t, "|");
        assert_string_equal(at_text_str(&t), expected);
    }
    at_text_free(&t);
}

/* RFC 4648, section 10. */
static void base64(void **state) {
    (void)state;
    static const char *const pairs[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};
    at_arena *a = at_arena_new();
    char *bytes;
    size_t n;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        at_text t = {0};
        at_text_add_base64(&t, pairs[i][0], strlen(pairs[i][0]));
        assert_string_equal(at_text_str(&t), pairs[i][1]);
        assert_true(at_base64_read(a, pairs[i][1], &bytes, &n));
        assert_int_equal(n, strlen(pairs[i][0]));
        assert_memory_equal(bytes, pairs[i][0], n);
        at_text_free(&t);
    }
    static const char *const wrong[] = {"Zg=", "Zg", "Z===", "Zm9v!g==", "Zg==Zm9v", "Zm=v"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(at_base64_read(a, wrong[i], &bytes, &n));
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_blanks),
        cmocka_unit_test(buffer_grows_and_stays_terminated),
        cmocka_unit_test(doubles_as_python_spells_them),
        cmocka_unit_test(few_digits),
        cmocka_unit_test(doubles_read_back_equal),
        cmocka_unit_test(json_strings),
        cmocka_unit_test(nearest_names),
        cmocka_unit_test(shell_words),
        cmocka_unit_test(base64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
