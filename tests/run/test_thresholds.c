/* Numbers that values are compared with, cut at, or added to lest something is 0: on some set of
 * data a kernel with another one, or with the other side of it, gives something else. Each wrong
 * text differs from the right one in a few letters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "tests/run/text_subject.h"

enum { MOST_WRONG = 6, MOST_TEXT = 2000 };

typedef struct subject {
    const char *text;
    const char *wrong[MOST_WRONG][2]; /* letters, and others in place of the last such */
} subject;

static const char *last_of(const char *text, const char *letters) {
    const char *found = NULL;
    for (const char *at = text; (at = strstr(at, letters)); at++) found = at;
    return found;
}

static int missed_of(const subject *x) {
    text_subject s;
    int missed = 0;
    text_subject_open(&s, x->text, "");
    for (int i = 0; i < MOST_WRONG && x->wrong[i][0]; i++) {
        char text[MOST_TEXT];
        const char *was = x->wrong[i][0], *at = last_of(x->text, was);
        if (!at) fail_msg("no %s in:\n%s", was, x->text);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - x->text), x->text, x->wrong[i][1],
                 at + strlen(was));
        if (text_subject_tells_from(&s, text)) continue;
        print_message("%s for %s is right in:\n%s", x->wrong[i][1], was, x->text);
        missed++;
    }
    text_subject_close(&s);
    return missed;
}

static void expect_all(const subject *all, int n) {
    int missed = 0;
    for (int i = 0; i < n; i++) missed += missed_of(&all[i]);
    assert_int_equal(missed, 0);
}

#define ALL(x) expect_all(x, sizeof(x) / sizeof *(x))

#define NUMBER                                                                                     \
    {"0.5", "1.0"}, {"0.5", "0.51"}, { "0.5", "0.49" }

static void beside_integers(void **state) {
    (void)state;
    static const subject all[] = {
        {"args T=300\nx[T] : input\nn[t:T] : s32 = x[t] > 0.5 ? 1 : 0\n", {NUMBER, {">", ">="}}},
        {"args T=300\nx[T] : input\nn[t:T] : s32 = x[t] < 0.5 ? 1 : 0\n", {NUMBER, {"<", "<="}}},
        {"args T=300\nx[T] : input\nn[t:T] : s32 = x[t]*2 > 1.0 ? 1 : 0\n",
         {{"1.0", "1.01"}, {"1.0", "0.99"}, {">", ">="}}},
        {"args T=300, C=8\nx[T, C] : input\nb[C] : weight\n"
         "n[t:T, c:C] : s32 = x[t, c] >= b[c] ? 1 : 0\n",
         {{">=", ">"}, {"b[c] ", "b[c] + 0.01 "}, {"b[c] ", "b[c] - 0.01 "}}},
        {"args T=300\nx[T] : input\ny[T] : input\n"
         "n[t:T] : s32 = y[t] > 0 ? (x[t] < 0.25 ? 1 : 2) : 3\n",
         {{"0.25", "0.26"}, {"0.25", "0.24"}, {"<", "<="}, {"> 0", ">= 0"}}},
        {"args T=300, K=40\nx[T, K] : input\nn[t:T] : s32 = sum(k:K) (x[t, k] > 0.5 ? 1 : 0)\n",
         {NUMBER, {">", ">="}}},
        {"args T=300\nx[T] : input\na[t:T] = x[t]*0.125 + 0.0625\n"
         "n[t:T] : s32 = a[t] > 0.5 ? 1 : 0\n",
         {NUMBER, {">", ">="}}},
        {"args T=300\nx[T] : input\nn[t:T] : s32 = x[t] > 4.5 && x[t] < 4.625 ? 1 : 0\n",
         {{"4.625", "4.63"}, {"4.5", "4.51"}, {"<", "<="}, {">", ">="}}},
        {"args T=300\nx[T] : input s32\nn[t:T] : s32 = x[t] > 5 ? 1 : 0\n",
         {{"5", "6"}, {"5", "4"}, {">", ">="}}},
        {"args T=300\nx[T] : input s32\nn[t:T] : s32 = min(max(x[t], 0 - 5), 7)\n",
         {{"7", "6"}, {"7", "8"}, {"5", "6"}, {"5", "4"}}},
        {"args T=37\na[T] : input u8\nb[T] : input u8\nn[t:T] : s32 = min(a[t] + b[t], 255)\n",
         {{"255", "256"}, {"255", "254"}, {"min(a[t] + b[t], 255)", "a[t] + b[t]"}}},
        {"args T=300\nx[T] : input f16\nn[t:T] : s32 = x[t] > 0.5 ? 1 : 0\n",
         {NUMBER, {">", ">="}}},
        {"args T=300\nx[T] : input\nn[t:T] : s32 = abs(x[t]) > 0.5 ? 1 : 0\n",
         {NUMBER, {">", ">="}, {"abs(x[t])", "x[t]"}}},
        {"args T=300\nx[T] : input\nn[t:T] : u8 = max(x[t], 0.5) == 0.5 ? 200 : 100\n",
         {{"max(x[t], 0.5)", "max(x[t], 0.51)"}}},
        {"args T=300\nx[T] : input\nn[t:T] : s32 = x[t] > 0.001 ? 1 : x[t] < 0 - 0.003 ? 2 : 3\n",
         {{"0.003", "0.00302"}, {"0.003", "0.00298"}, {"0.001", "0.00101"}, {"<", "<="}}},
        {"args T=300\nx[T] : input\nb[T] : input\n"
         "n[t:T] : s32 = x[t]*3 - b[t] > 0.25*b[t] ? 1 : 0\n",
         {{"0.25", "0.26"}, {"0.25", "0.24"}, {"*3", "*3.01"}}},
    };
    ALL(all);
}

static void of_floats(void **state) {
    (void)state;
    static const subject all[] = {
        {"args T=300\nx[T] : input\ny[t:T] = x[t] > 0.5 ? x[t] : 0\n", {NUMBER, {">", ">="}}},
        {"args T=300\nx[T] : input\ny[t:T] = x[t] > 0.3 ? 1 : 0\n",
         {{"0.3", "0.31"}, {"0.3", "0.29"}, {">", ">="}, {"0.3", "0.3000001"}}},
        {"args T=300\nx[T] : input\ny[t:T] = x[t] > 0.3 ? x[t] : 0\n",
         {{"0.3", "0.31"}, {"0.3", "0.29"}, {">", ">="}}},
        {"args T=300, K=20\nx[T, K] : input\ny[t:T] = sum(k:K) (x[t, k] <= 0.3 ? 1 : 0)\n",
         {{"0.3", "0.31"}, {"0.3", "0.29"}, {"<=", "<"}}},
        {"args T=300, K=20\nx[T, K] : input\na[t:T, k:K] = max(x[t, k], 0 - 0.1)\n"
         "y[t:T] = max(k:K) (a[t, k] < 0.7 ? a[t, k] : 0 - 1)\n",
         {{"0.7", "0.71"}, {"0.7", "0.69"}, {"<", "<="}}},
        {"args T=200\nx[T] : input\ny[t:T] = x[t] > 0.3 && x[t] <= 0.7 ? 1 : 0\n",
         {{"> 0.3", ">= 0.3"}, {"<= 0.7", "< 0.7"}, {"&&", "||"}}},
        {"args T=200, K=30\nx[T, K] : input\nz[K] : input\n"
         "y[t:T] = sum(k:K) (x[t, k] - z[k] > 0.3 ? 1 : 0)\n",
         {{"0.3", "0.301"}, {"0.3", "0.299"}}},
        {"args T=300\nx[T] : input\ny[t:T] = x[t]*2 > 0.7 ? x[t] : 0\n",
         {{"0.7", "0.71"}, {"0.7", "0.69"}, {">", ">="}}},
        {"args T=300\nx[T] : input\ny[t:T] = x[t] > 0.3 ? x[t] : x[t]*0.1\n",
         {{"0.3", "0.31"}, {"0.3", "0.29"}, {">", ">="}}},
        {"args T=703\nx[T] : input\ny[t:T] = x[t] > 0.3 ? x[t] : x[t]*0.1\n", /* up to 0.456 */
         {{"0.3", "0.31"}, {"0.3", "0.29"}, {">", ">="}}},
        {"args T=300\nx[T] : input\ny[t:T] = min(max(x[t], 0.1), 0.7)\n",
         {{"0.1", "0.11"}, {"0.1", "0.09"}, {"0.7", "0.71"}, {"0.7", "0.69"}}},
        {"args T=300, C=8\nx[T, C] : input\nb[C] : weight\n"
         "y[t:T, c:C] = x[t, c] >= b[c] ? x[t, c] : x[t, c] - b[c]\n",
         {{">=", ">"}}},
        {"args T=300, C=8\nx[T, C] : input\nb[C] : weight\n"
         "y[t:T, c:C] = x[t, c] >= b[c] ? 1 : 0\n",
         {{">=", ">"}, {"b[c] ", "b[c]*1.01 "}}},
        {"args T=300, K=100\nx[T, K] : input\ny[t:T] = sum(k:K) max(x[t, k] - 0.5, 0)\n", {NUMBER}},
        {"args T=300\nx[T] : input\ny[t:T] = exp(x[t]) > 3 ? 1 : 0\n",
         {{"3", "3.1"}, {"3", "2.9"}}},
    };
    ALL(all);
}

#define SHAPES(x, w)                                                                               \
    "args M=20, N=33, K=64\nx[M, K] : input " x "\nw[N, K] : weight " w "\nb[N] : weight s32\n"
#define SUM "s[m:M, n:N] : s32 = sum(k:K) x[m, k]*w[n, k]\n"

/* Of random numbers hardly any sum is just what it is compared with. */
static void of_sums(void **state) {
    (void)state;
    static const subject all[] = {
        {SHAPES("u8", "s8") SUM "y[m:M, n:N] : s32 = s[m, n] > 0 ? 1 : 0\n",
         {{">", ">="}, {"> 0", "> 1"}, {"> 0", "> 100"}}},
        {SHAPES("s8", "s8") SUM "y[m:M, n:N] : s8 = s[m, n] >= 1000 ? 1 : 0\n",
         {{">=", ">"}, {"1000", "1001"}}},
        {SHAPES("s8", "s8") SUM "y[m:M, n:N] : s8 = s[m, n] + b[n] < 0 ? 0 - 1 : 1\n",
         {{"< 0", "<= 0"}, {"< 0", "< 1"}}},
        {SHAPES("s8", "s8") SUM "a[m:M, n:N] = s[m, n]*0.0078125\n"
                                "y[m:M, n:N] : u8 = a[m, n] > 0 ? 255 : 0\n",
         {{">", ">="}}},
        {"args M=20, N=33, K=640\nx[M, K] : input u8\nw[N, K] : weight u8\nb[N] : weight s32\n"
         "s[m:M, n:N] : s32 = sum(k:K) (x[m, k] - 128)*(w[n, k] - 117)\n"
         "y[m:M, n:N] : s8 = s[m, n] + b[n] <= 300 ? 0 - 1 : 1\n",
         {{"<=", "<"}}},
        {"args M=20, N=33, K=64\nx[M, K] : input\nw[N, K] : weight\n"
         "s[m:M, n:N] = sum(k:K) x[m, k]*w[n, k]\ny[m:M, n:N] = s[m, n] > 0 ? 1 : 0\n",
         {{">", ">="}}},
        {"args M=20, N=33, K=64\nx[M, K] : input\nw[N, K] : weight\nb[N] : weight\n"
         "s[m:M, n:N] = sum(k:K) x[m, k]*w[n, k]\n"
         "y[m:M, n:N] = s[m, n] + b[n] > 0.75 ? 1 : 0\n",
         {{">", ">="}}},
        {"args M=200, K=64\nx[M, K] : input\ns[m:M] = sum(k:K) x[m, k]\n"
         "y[m:M] = s[m] > 0.5 ? 2 : s[m] == 0 ? 1 : 0\n",
         {{">", ">="}, {"== 0", "== 1"}, {"0.5", "0.6"}}},
        {"args M=50, K=64\nx[M, K] : input\ns[m:M] : s32 = sum(k:K) (x[m, k] > 0 ? 1 : 0)\n"
         "y[m:M] : u8 = s[m] > 0 ? 255 : 0\n",
         {{"s[m] > 0", "s[m] >= 0"}, {"s[m] > 0", "1 > 0"}}},
    };
    ALL(all);
}

/* Elements off the grid that sums are exact on, as terms of a sum, or behind an operation that does
 * not round there. */
static void off_the_grid(void **state) {
    (void)state;
    static const subject all[] = {
        {"args T=30, K=20\nx[T, K] : input\ny[t:T] = sum(k:K) (x[t, k] > 0.3 ? x[t, k] : 0)\n",
         {{"0.3", "0.301"}, {"0.3", "0.299"}, {"0.3", "0.3000001"}, {">", ">="}}},
        {"args T=30, K=20, C=5\nx[T, K, C] : input\n"
         "y[t:T, c:C] = sum(k:K) (x[t, k, c] < 0.3 ? 0 : x[t, k, c]*2)\n",
         {{"0.3", "0.301"}, {"0.3", "0.299"}, {"<", "<="}}},
        {"args T=30, K=20\nx[T, K] : input\na[t:T, k:K] = x[t, k] > 0.3 ? x[t, k] : 0\n"
         "y[t:T] = sum(k:K) a[t, k]\n",
         {{"0.3", "0.301"}, {"0.3", "0.299"}, {">", ">="}}},
        {"args T=200, K=30\nx[T, K] : input\nz[K] : input\n"
         "y[t:T] = sum(k:K) (x[t, k] - z[k] > 0.3 ? 1 : 0)\n",
         {{"0.3", "0.30001"}, {"0.3", "0.29999"}, {">", ">="}}},
        {"args T=200\nx[T] : input\nz[T] : input\ny[t:T] = x[t] + z[t] <= 0.7 ? x[t] : z[t]\n",
         {{"0.7", "0.70001"}, {"0.7", "0.69999"}, {"<=", "<"}}},
        {"args T=200\nx[T] : input\nz[T] : input\ny[t:T] = x[t]*z[t] < 0.3 ? 1 : 0\n",
         {{"0.3", "0.30001"}, {"0.3", "0.29999"}, {"<", "<="}}},
    };
    ALL(all);
}

/* Few sums, of which hardly any is just what it is compared with, or half between two results. */
static void of_few_sums(void **state) {
    (void)state;
    static const subject all[] = {
        {"args M=1, N=8, K=64\nx[M, K] : input s8\nw[N, K] : weight s8\n" SUM
         "y[m:M, n:N] : s8 = s[m, n] >= 1000 ? 1 : 0\n",
         {{">=", ">"}, {"1000", "999"}, {"1000", "1001"}}},
        {SHAPES("u8", "s8") SUM "y[m:M, n:N] : s32 = s[m, n] > 999 ? 1 : 0\n",
         {{">", ">="}, {"999", "1000"}, {"999", "998"}}},
        {"args M=2, N=3, K=64\nx[M, K] : input u8\nw[N, K] : weight s8\nb[N] : weight s32\n" SUM
         "y[m:M, n:N] : u8 = (s[m, n] + b[n] + 64) >> 7\n",
         {{"64", "63"}, {"64", "65"}}},
        {"args M=2, N=3, K=64\nx[M, K] : input u8\nw[N, K] : weight s8\n" SUM
         "y[m:M, n:N] : u8 = (s[m, n]*77 + 16384) >> 15\n",
         {{"16384", "16383"}, {"16384", "16385"}}},
        {"args M=2, N=3, K=64\nx[M, K] : input u8\nw[N, K] : weight u8\n"
         "s[m:M, n:N] : s32 = sum(k:K) (x[m, k] - 128)*(w[n, k] - 117)\n"
         "y[m:M, n:N] : s8 = round(s[m, n]*0.0078125)\n",
         {{"round(s[m, n]*0.0078125)", "floor(s[m, n]*0.0078125 + 0.5)"}}},
        {"args M=3, H=6, W=6, C=3, O=4\nx[M, H, W, C] : input u8\nw[O, 3, 3, C] : weight s8\n"
         "s[m:M, h:H, v:W, o:O] : s32 = sum(i:3, j:3, c:C) (0 <= h + i - 1 && h + i - 1 < H && 0 "
         "<= "
         "v + j - 1 && v + j - 1 < W ? x[m, h + i - 1, v + j - 1, c] : 0)*w[o, i, j, c]\n"
         "y[m:M, h:H, v:W, o:O] : u8 = s[m, h, v, o] > 2500 ? 255 : 0\n",
         {{">", ">="}, {"2500", "2499"}, {"2500", "2501"}}},
        {"args M=2, N=4, K=64\nx[M, K] : input\nw[N, K] : weight\n"
         "s[m:M, n:N] = sum(k:K) x[m, k]*w[n, k]\ny[m:M, n:N] = s[m, n] > 40 ? 1 : 0\n",
         {{">", ">="}, {"40", "39"}, {"40", "41"}}},
        {"args M=12, K=16\nx[M, K] : input u8\nt[M] : input s32\n"
         "s[m:M] : s32 = sum(k:K, b:8) (x[m, k] >> b & 1)\n"
         "y[m:M] : s32 = s[m] > t[m] ? 1 : 0\n",
         {{"> t[m]", ">= t[m]"}, {"> t[m]", "> t[m] - 1"}}},
        {"args M=12, K=16\nx[M, K] : input u8\n"
         "s[m:M] : s32 = sum(k:K, b:8) (x[m, k] >> b & 1)\ny[m:M] : s32 = s[m] > 37 ? 1 : 0\n",
         {{">", ">="}, {"37", "38"}, {"37", "36"}}},
        {"args M=9, K=100\nx[M, K] : input\nt[M] : input\n"
         "s[m:M] : s32 = sum(k:K) (x[m, k] > 0 ? 1 : 0)\n"
         "y[m:M] : u8 = s[m] >= t[m] ? 255 : 0\n",
         {{">=", ">"}}},
        {"args M=6, N=5, K=64\nx[M, K] : input s8\nw[N, K] : weight s8\n" SUM
         "y[m:M, n:N] : s32 = s[m, n]*0.0078125 > 0.5 ? 1 : 0\n",
         {{">", ">="}, {"0.5", "0.5078125"}, {"0.5", "0.4921875"}}},
    };
    ALL(all);
}

/* Of many terms, or with two elements of one tensor in each. */
static void of_long_sums(void **state) {
    (void)state;
    static const subject all[] = {
        {"args M=4, N=8, K=10000\nx[M, K] : input s8\nw[N, K] : weight s8\n" SUM
         "y[m:M, n:N] : s8 = s[m, n] >= 1000 ? 1 : 0\n",
         {{">=", ">"}, {"1000", "999"}, {"1000", "1001"}}},
        {"args M=5, K=64\nx[M, K] : input s8\ns[m:M, n:M] : s32 = sum(k:K) x[m, k]*x[n, k]\n"
         "y[m:M, n:M] : s8 = s[m, n] >= 1000 ? 1 : 0\n",
         {{">=", ">"}, {"1000", "999"}, {"1000", "1001"}}},
        {"args M=2, N=3, K=20000\na[M, K] : input\nb[N, K] : input\n"
         "s[m:M, n:N] = sum(k:K) a[m, k]*b[n, k]\nout[m:M, n:N] = s[m, n] >= 1000 ? 1 : 0\n",
         {{"1000", "999"}, {"1000", "1001"}, {">=", ">"}}},
        {"args M=2, N=3, K=20000\na[M, K] : input\nb[N, K] : input\n"
         "s[m:M, n:N] = sum(k:K) a[m, k]*b[n, k]\nout[m:M, n:N] = s[m, n] < 1000 ? 1 : 0\n",
         {{"1000", "999"}, {"1000", "1001"}, {"<", "<="}}},
    };
    ALL(all);
}

/* Sums of terms that have one size each, of which it takes many. */
static void counted(void **state) {
    (void)state;
    static const subject all[] = {
        {"args M=9, K=200\nx[M, K] : input\n"
         "s[m:M] : s32 = sum(k:K) (x[m, k] > 0 ? 1 : 0)\ny[m:M] : u8 = s[m] > 37 ? 255 : 0\n",
         {{"> 37", ">= 37"}, {"> 37", "> 38"}}},
        {"args M=9, K=300\nx[M, K] : input u8\n"
         "s[m:M] : s32 = sum(k:K) (x[m, k] > 99 ? 1 : 0)\ny[m:M] : u8 = s[m] >= 41 ? 255 : 0\n",
         {{">= 41", "> 41"}, {">= 41", "> 39"}}},
    };
    ALL(all);
}

/* Behind operations that round, elements lie just so far from the turn that no order of operations
 * matters. */
static void beyond_rounding(void **state) {
    (void)state;
    static const subject all[] = {
        {"args T=300\nx[T] : input\nz[T] : input\ny[t:T] = x[t]*0.3 > z[t]*0.7 ? x[t] : z[t]\n",
         {{"0.7", "0.70002"}, {"0.7", "0.69998"}, {"0.3", "0.30001"}}},
        {"args T=300\nx[T] : input\nz[T] : input\n"
         "y[t:T] = x[t]*0.3 + z[t]*0.1 < 0.9 ? 1 : 0\n",
         {{"0.9", "0.90003"}, {"0.9", "0.89997"}}},
    };
    ALL(all);
}

/* What no integer of 32 bits holds: a conversion that does not saturate makes anything of it. */
static void beyond_32_bits(void **state) {
    (void)state;
    static const subject all[] = {
        {"args T=300\nx[T] : input\ny[t:T] : u8 = round(x[t]*16 + 128)\n",
         {{"round(x[t]*16 + 128)",
           "round(x[t]*16 + 128) > 2147483000.0 ? 0 : round(x[t]*16 + 128)"}}},
        {"args T=300\nx[T] : input\ny[t:T] : s8 = round(x[t]*16)\n",
         {{"round(x[t]*16)", "round(x[t]*16) < 0 - 2147483000.0 ? 0 : round(x[t]*16)"},
          {"round(x[t]*16)", "round(x[t]*16) > 2147483000.0 ? 0 - 128 : round(x[t]*16)"}}},
    };
    ALL(all);
}

/* Right texts that add up, or compare, in another way. */
static void otherwise(void **state) {
    (void)state;
    static const char *const all[][2] = {
        {"args T=30, K=20\nx[T, K] : input\ny[t:T] = sum(k:K) (x[t, k] > 0.3 ? x[t, k] : 0)\n",
         "args T=30, K=20\nx[T, K] : input\n"
         "a[t:T, l:4] = sum(k:5) (x[t, k*4 + l] > 0.3 ? x[t, k*4 + l] : 0)\n"
         "y[t:T] = sum(l:4) a[t, l]\n"},
        {"args T=200, K=30\nx[T, K] : input\nz[K] : input\n"
         "y[t:T] = sum(k:K) (x[t, k] - z[k] > 0.3 ? 1 : 0)\n",
         "args T=200, K=30\nx[T, K] : input\nz[K] : input\n"
         "a[t:T] = sum(k:K) (0.3 >= x[t, k] - z[k] ? 1 : 0)\ny[t:T] = 30 - a[t]\n"},
        {"args T=200\nx[T] : input\nz[T] : input\ny[t:T] = x[t]*0.7 < z[t] ? 1 : 0\n",
         "args T=200\nx[T] : input\nz[T] : input\ny[t:T] = x[t]*0.7 - z[t] < 0 ? 1 : 0\n"},
        {"args T=300\nx[T] : input\nz[T] : input\n"
         "y[t:T] = x[t]*0.3 + z[t]*0.1 < 0.9 ? 1 : 0\n",
         "args T=300\nx[T] : input\nz[T] : input\n"
         "y[t:T] = (x[t]*3.0 + z[t])*0.1 - 0.9 < 0 ? 1 : 0\n"},
        {"args M=2, N=3, K=64\nx[M, K] : input u8\nw[N, K] : weight u8\n"
         "s[m:M, n:N] : s32 = sum(k:K) (x[m, k] - 128)*(w[n, k] - 117)\n"
         "y[m:M, n:N] : s8 = round(s[m, n]*0.0078125)\n",
         "args M=2, N=3, K=64\nx[M, K] : input u8\nw[N, K] : weight u8\n"
         "a[m:M, n:N] : s32 = sum(k:K) x[m, k]*w[n, k]\nb[m:M] : s32 = sum(k:K) x[m, k]*117\n"
         "c[n:N] : s32 = sum(k:K) (w[n, k] - 117)*128\n"
         "y[m:M, n:N] : s8 = round((a[m, n] - b[m] - c[n])*0.0078125)\n"},
        {"args T=300\nx[T] : input\ny[t:T] : u8 = round(x[t]*16 + 128)\n",
         "args T=300\nx[T] : input\ny[t:T] : u8 = min(max(round(x[t]*16 + 128), 0), 255)\n"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        text_subject s;
        text_subject_open(&s, all[i][0], "");
        if (text_subject_tells_from(&s, all[i][1])) fail_msg("refused:\n%s", all[i][1]);
        text_subject_close(&s);
    }
}

/* Halves, and what lies just below them, are rarer the more bits are dropped. */
static void rounded(void **state) {
    (void)state;
    static const subject all[] = {
        {SHAPES("u8", "s8") SUM "y[m:M, n:N] : u8 = (s[m, n] + 64) >> 7\n",
         {{"64", "63"}, {"64", "65"}}},
        {"args M=8, N=16, K=512\nx[M, K] : input u8\nw[N, K] : weight s8\nb[N] : weight s32\n" SUM
         "y[m:M, n:N] : u8 = (s[m, n] + b[n] + 128) >> 8\n",
         {{"128", "127"}, {"128", "129"}}},
        {"args M=8, N=16, K=512\nx[M, K] : input s8\nw[N, K] : weight s8\nb[N] : weight s32\n" SUM
         "y[m:M, n:N] : s8 = min(max((s[m, n] + b[n] + 16) >> 5, 0 - 128), 127)\n",
         {{"16", "15"}, {"16", "17"}}},
        {"args T=300\nx[T] : input u8\ny[t:T] : u8 = (x[t]*77 + 128) >> 8\n",
         {{"128", "127"}, {"128", "129"}, {"77", "78"}}},
    };
    ALL(all);
}

/* Of random numbers few are the largest of all so far. */
static void so_far(void **state) {
    (void)state;
    static const subject all[] = {
        {"args T=400\nx[T] : input\ny[t:T] = max(k:0..t + 1) x[k]*0.3\n",
         {{"t + 1", "t + 1 - t/399"}, {"0..t", "(t > 64 ? 64 : 0)..t"}}},
        {"args T=300, C=7\nx[T, C] : input\ny[t:T, c:C] = min(k:0..t + 1) exp(x[k, c]*0.1)\n",
         {{"t + 1", "t + 1 - t/299"}, {"0..t", "(t > 64 ? 64 : 0)..t"}}},
        {"args T=400\nx[T] : input\nh[t:T] = t == 0 ? x[0]*0.1 : max(h[t - 1], x[t]*0.1)\n",
         {{"h[t - 1]", "(t == 2 ? 0 : h[t - 1])"},
          {"h[t - 1]", "(t == 200 ? 0 : h[t - 1])"},
          {"x[t]*0.1", "(t == 200 ? 0 : x[t]*0.1)"},
          {"x[t]*0.1", "(t == 390 ? 0 : x[t]*0.1)"}}},
        /* Below 0 a logarithm is no number. */
        {"args T=400\nx[T] : input\ny[t:T] = max(k:0..t + 1) log(x[k])\n",
         {{"t + 1", "t + 1 - t/399"}, {"0..t", "(t > 64 ? 64 : 0)..t"}}},
        {"args T=400\nx[T] : input\n"
         "h[t:T] = t == 0 ? log(x[0]) : max(h[t - 1], log(x[t]))\n",
         {{"h[t - 1]", "(t == 200 ? 0 : h[t - 1])"}, {"x[t]", "(t == 390 ? 1 : x[t])"}}},
    };
    ALL(all);
}

/* Squares of what is far from 0 have twice the bits: a sum of few such is exact in any order. */
static void in_any_order(void **state) {
    (void)state;
    enum { MOST = 400 };
    static const char shape[] = "args M=700, K=64\nx[M, K] : input\n",
                      in_blocks[] = "a[m:M, n:M, l:8] = sum(k:8) x[m, l*8 + k]*x[n, l*8 + k]\n"
                                    "s[m:M, n:M] = sum(l:8) a[m, n, l]\n",
                      in_one[] = "s[m:M, n:M] = sum(k:K) x[m, k]*x[n, k]\n",
                      out[] = "y[m:M, n:M] = s[m, n] > 999 ? s[m, n] : s[m, n]*2\n";
    char one[MOST], blocks[MOST];
    text_subject s;
    snprintf(one, sizeof one, "%s%s%s", shape, in_one, out);
    snprintf(blocks, sizeof blocks, "%s%s%s", shape, in_blocks, out);
    text_subject_open(&s, one, "");
    assert_true(s.draw[0].is_exact);
    assert_true(s.num_draws > 1);
    assert_false(text_subject_tells_from(&s, blocks));
    text_subject_close(&s);
}

/* Where values are equal but for rounding, kernels may see any of them the other way round, and all
 * of a sum so: the second text is right. */
static void turned(void **state) {
    (void)state;
    static const char *const all[][2] = {
        {"args T=40, K=4096\nx[T, K] : input bf16\ny[T, K] : input bf16\n"
         "out[t:T] = sum(k:K) (x[t, k]*0.1 > y[t, k]*0.1 ? 0.3 : 0)\n",
         "args T=40, K=4096\nx[T, K] : input bf16\ny[T, K] : input bf16\n"
         "out[t:T] = sum(k:K) (x[t, k]*0.1*1.0000001 > y[t, k]*0.1 ? 0.3 : 0)\n"},
        {"args T=40, K=4096\nx[T, K] : input bf16\ny[T, K] : input bf16\n"
         "is[t:T, k:K] = x[t, k]*0.1 > y[t, k]*0.1 ? 1 : 0\n"
         "out[t:T] = sum(k:K) is[t, k]*0.3\n",
         "args T=40, K=4096\nx[T, K] : input bf16\ny[T, K] : input bf16\n"
         "is[t:T, k:K] = x[t, k]*0.1*1.0000001 > y[t, k]*0.1 ? 1 : 0\n"
         "out[t:T] = sum(k:K) is[t, k]*0.3\n"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        text_subject s;
        text_subject_open(&s, all[i][0], "");
        assert_false(s.draw[0].is_exact);
        if (text_subject_tells_from(&s, all[i][1])) fail_msg("refused:\n%s", all[i][1]);
        text_subject_close(&s);
    }
}

/* Few elements, and several comparisons with 0: half of them lie elsewhere. */
static void elsewhere(void **state) {
    (void)state;
    static const subject all[] = {
        {"args T=20\nx[T] : input\na[t:T] = max(x[t], 0)\nb[t:T] = min(x[t], 0)\n"
         "y[t:T] = exp(a[t]*1.0) + b[t]*0.3\n",
         {{"*1.0", "*1.5"}, {"0.3", "0.5"}}},
        {"args T=20\nx[T] : input\n"
         "y[t:T] = x[t] > 0 ? exp(x[t]*1.0) : x[t] < 0 ? x[t] : x[t]*x[t] + 7\n",
         {{"*1.0", "*1.5"}}},
    };
    ALL(all);
}

/* A number that is right in all columns, or rows, but one: AXIS is its place there. */
typedef struct laned {
    const char *text, *right, *wrong;
    const char *axis;
    int extent, each;
    bool is_number; /* else a condition */
} laned;

static int missed_in_lanes(const laned *x) {
    text_subject s;
    int missed = 0;
    const char *at = strstr(x->text, x->right);
    assert_non_null(at);
    text_subject_open(&s, x->text, "");
    for (int lane = 0; lane < x->extent; lane += x->each) {
        char text[MOST_TEXT];
        snprintf(text, sizeof text,
                 x->is_number ? "%.*s(%s == %d ? %s : %s != %d ? %s : 0)%s"
                              : "%.*s(%s == %d && (%s) || %s != %d && %s)%s",
                 (int)(at - x->text), x->text, x->axis, lane, x->wrong, x->axis, lane, x->right,
                 at + strlen(x->right));
        if (text_subject_tells_from(&s, text)) continue;
        print_message("right is:\n%s", text);
        missed++;
    }
    text_subject_close(&s);
    return missed;
}

static void in_one_lane(void **state) {
    (void)state;
    static const char few[] = "args T=30, K=20\nx[T, K] : input\n"
                              "y[t:T] = sum(k:K) ((x[t, k] > 0.3) ? x[t, k] : 0)\n",
                      alone[] = "args T=30, K=37\nx[T, K] : input\n"
                                "y[t:T, k:K] = (x[t, k] > 0.3) ? x[t, k]*2 : 0 - x[t, k]\n",
                      sides[] = "args T=40, K=33\nx[T, K] : input\n"
                                "y[t:T] = sum(k:K) ((abs(x[t, k]) > 0.5) ? 1 : 0)\n",
                      many[] = "args T=100, K=50\nx[T, K] : input s32\n"
                               "y[t:T, k:K] : s32 = (x[t, k] > 5) ? 1 : 0\n",
                      bytes[] = "args T=12, K=129\nx[T, K] : input u8\n"
                                "y[t:T, k:K] : u8 = (x[t, k] >= 100) ? 1 : 0\n",
                      places[] = "args T=19, H=11\nx[H] : input\n"
                                 "i[T] : index\ny[t:T] = x[min(i[t] + 5, H - 1)]\n",
                      rows[] = "args T=19, H=11, C=5\nx[H, C] : input\n"
                               "i[T] : index\ny[t:T, c:C] = x[i[t], c]\n";
    static const laned all[] = {
        {places, "i[t]", "i[t] + 1", "t", 19, 1, true},
        {places, "i[t]", "0", "t", 19, 1, true},
        {rows, "i[t]", "0", "t", 19, 1, true},
        {few, "(x[t, k] > 0.3)", "x[t, k] >= 0.3", "k", 20, 1, false},
        {few, "(x[t, k] > 0.3)", "x[t, k] > 0.30000003", "k", 20, 1, false},
        {few, "(x[t, k] > 0.3)", "x[t, k] >= 0.3", "t%16", 16, 5, false},
        {few, "(x[t, k] > 0.3)", "x[t, k] >= 0.3", "(t%3*20 + k)", 60, 7, false},
        {alone, "(x[t, k] > 0.3)", "x[t, k] >= 0.3", "k", 37, 3, false},
        {alone, "(x[t, k] > 0.3)", "x[t, k] > 0.30000003", "t", 30, 7, false},
        {sides, "(abs(x[t, k]) > 0.5)", "x[t, k] > 0.5 || x[t, k] <= 0 - 0.5", "k", 33, 5, false},
        {many, "(x[t, k] > 5)", "x[t, k] > 6", "k", 50, 7, false},
        {many, "(x[t, k] > 5)", "x[t, k] >= 5", "t", 100, 13, false},
        {bytes, "(x[t, k] >= 100)", "x[t, k] > 100", "k", 129, 16, false},
        {bytes, "(x[t, k] >= 100)", "x[t, k] > 98", "k%64", 64, 9, false},
    };
    int missed = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) missed += missed_in_lanes(&all[i]);
    assert_int_equal(missed, 0);
}

static void added(void **state) {
    (void)state;
    static const subject all[] = {
        {"args N=1, H=14, W=14, C=16, G=4\nsizes K = C/G\ndata[N, H, W, C] : input\n"
         "gamma[C] : weight\nbeta[C] : weight\n"
         "channel[n:N, c:C] = sum(y:H, x:W) data[n, y, x, c]\n"
         "total[n:N, g:G] = sum(k:K) channel[n, g*K + k]\n"
         "mean[n:N, g:G] = total[n, g]/(H*W*K)\n"
         "spread[n:N, c:C] = sum(y:H, x:W) (data[n, y, x, c] - mean[n, c/K])*(data[n, y, x, c] - "
         "mean[n, c/K])\n"
         "squares[n:N, g:G] = sum(k:K) spread[n, g*K + k]\n"
         "scale[n:N, g:G] = rsqrt(squares[n, g]/(H*W*K) + 1e-5)\n"
         "out[n:N, y:H, x:W, c:C] = (data[n, y, x, c] - mean[n, c/K])*scale[n, c/K]*gamma[c] + "
         "beta[c]\n",
         {{"1e-5", "0.0"}, {"1e-5", "1.2e-5"}, {"1e-5", "1e-6"}}},
        {"args M=40, N=96\ndata[M, N] : input\ngamma[N] : weight\nbeta[N] : weight\n"
         "total[y:M] = sum(k:N) data[y, k]\nmean[y:M] = total[y]/N\n"
         "squares[y:M] = sum(k:N) (data[y, k] - mean[y])*(data[y, k] - mean[y])\n"
         "scale[y:M] = rsqrt(squares[y]/N + 1e-5)\n"
         "out[y:M, x:N] = (data[y, x] - mean[y])*scale[y]*gamma[x] + beta[x]\n",
         {{"1e-5", "0.0"}, {"1e-5", "1.2e-5"}, {"1e-5", "1e-6"}}},
        {"args M=40, N=96\ndata[M, N] : input\ngamma[N] : weight\n"
         "squares[y:M] = sum(k:N) data[y, k]*data[y, k]\n"
         "scale[y:M] = rsqrt(squares[y]/N + 1e-6)\n"
         "out[y:M, x:N] = data[y, x]*scale[y]*gamma[x]\n",
         {{"1e-6", "0.0"}, {"1e-6", "1.2e-6"}, {"1e-6", "1e-5"}}},
        {"args M=40, N=96\ndata[M, N] : input\ngamma[N] : weight\n"
         "squares[y:M] = sum(k:N) data[y, k]*data[y, k]\n"
         "out[y:M, x:N] = data[y, x]/sqrt(1e-6 + squares[y]/N)*gamma[x]\n",
         {{"1e-6", "0.0"}, {"1e-6", "1.2e-6"}, {"1e-6", "1e-5"}}},
        {"args M=40, N=96\ndata[M, N] : input\neps[1] : input\n"
         "squares[y:M] = sum(k:N) data[y, k]*data[y, k]\n"
         "out[y:M, x:N] = data[y, x]/(sqrt(squares[y]) + 1e-4)\n",
         {{"1e-4", "0.0"}, {"1e-4", "1.2e-4"}, {"1e-4", "1e-5"}}},
        {"args M=40, N=96\ndata[M, N] : input\n"
         "squares[y:M] = sum(k:N) data[y, k]*data[y, k]\n"
         "out[y:M, x:N] = data[y, x]/max(sqrt(squares[y]), 1e-4)\n",
         {{"1e-4", "0.0"}, {"1e-4", "1.2e-4"}, {"1e-4", "1e-5"}}},
        {"args M=40, N=96\ndata[M, N] : input\nrest[M, N] : input\ngamma[N] : weight\n"
         "h[y:M, x:N] : output = data[y, x] + rest[y, x]\n"
         "squares[y:M] = sum(k:N) h[y, k]*h[y, k]\n"
         "scale[y:M] = rsqrt(squares[y]/N + 1e-6)\n"
         "out[y:M, x:N] = h[y, x]*scale[y]*gamma[x]\n",
         {{"1e-6", "0.0"}, {"1e-6", "1.2e-6"}, {"1e-6", "1e-5"}}},
        {"args N=2, H=7, W=7, C=16\ndata[N, C, H, W] : input\nmean[C] : input\nvar[C] : input\n"
         "gamma[C] : weight\nbeta[C] : weight\n"
         "out[n:N, c:C, y:H, x:W] = (data[n, c, y, x] - mean[c])*rsqrt(var[c] + "
         "1e-5)*gamma[c] + beta[c]\n",
         {{"1e-5", "0.0"}, {"1e-5", "1.2e-5"}, {"1e-5", "1e-6"}}},
        {"args M=40, N=96\nx[M, N] : input s8\nunit[1] : input\n"
         "f[y:M, k:N] = x[y, k]*unit[0]\nsquares[y:M] = sum(k:N) f[y, k]*f[y, k]\n"
         "out[y:M, k:N] = f[y, k]*rsqrt(squares[y]/N + 1e-5)\n",
         {{"1e-5", "0.0"}, {"1e-5", "1.2e-5"}, {"1e-5", "1e-6"}}},
        {"args T=300\nx[T] : input\ny[T] : input\nout[t:T] = x[t]/(abs(y[t]) + 0.00001)\n",
         {{"0.00001", "0.0"}, {"0.00001", "0.000012"}}},
    };
    ALL(all);
}

/* The largest of another row is nearly as good where no exponential overflows, whatever the axis.
 */
static void of_another_row(void **state) {
    (void)state;
    static const subject all[] = {
        {"args N=2, C=5, P=40\nx[N, C, P] : input\nmost[n:N, p:P] = max(c:C) x[n, c, p]\n"
         "e[n:N, c:C, p:P] = exp(x[n, c, p] - most[n, p])\n"
         "total[n:N, p:P] = sum(c:C) e[n, c, p]\n"
         "out[n:N, c:C, p:P] = e[n, c, p]/total[n, p]\n",
         {{"most[n, p])", "most[n, max(p - 1, 0)])"},
          {"most[n, p])", "most[n, min(p + 8, P - 1)])"},
          {"most[n, p])", "most[n, p == 21 ? 22 : p])"},
          {"most[n, p])", "most[0, p])"}}},
    };
    ALL(all);
}

/* Of centres with many terms few are the nearest to any of random rows. */
static void nearest(void **state) {
    (void)state;
    static const subject all[] = {
        {"args N=24, M=40, D=48\nx[N, D] : input\nc[M, D] : weight\n"
         "s[i:N, j:M] = sum(k:D) (x[i, k] - c[j, k])*(x[i, k] - c[j, k])\n"
         "out[i:N] = min(j:M) s[i, j] + 0*0 + 0\n",
         {{"+ 0*0 + 0", "+ (j == 0 ? 1000000 : 0)"},
          {"+ 0*0 + 0", "+ (j == 39 ? 1000000 : 0)"},
          {"+ 0*0 + 0", "+ (j > 31 ? 1000000 : 0)"},
          {"+ 0*0 + 0", "+ (j == 33 ? 1000000 : 0)"},
          {"+ 0*0 + 0", "+ (j >= 16 && j < 24 ? 1000000 : 0)"}}},
        {"args N=24, M=40, D=24\nx[D, N] : input\nc[D, M] : input\n"
         "s[i:N, j:M] = sum(k:D) (c[k, j] - x[k, i])*(c[k, j] - x[k, i])\n"
         "d[i:N, j:M] = sqrt(s[i, j] + 0)\n"
         "l[i:N] = min(j:M) d[i, j]\n"
         "out[i:N] = min(j:M) d[i, j] == l[i] ? j : inf\n",
         {{"+ 0", "+ (j == 0 ? 1000000 : 0)"},
          {"+ 0", "+ (j == 39 ? 1000000 : 0)"},
          {"+ 0", "+ (j == 33 ? 1000000 : 0)"},
          {"+ 0", "+ (j >= 16 && j < 24 ? 1000000 : 0)"}}},
        {"args N=3, M=40, D=2048\nx[N, D] : input\nc[M, D] : weight\n"
         "s[i:N, j:M] = sum(k:D) (x[i, k] - c[j, k])*(x[i, k] - c[j, k])\n"
         "out[i:N] = min(j:M) s[i, j] + 0*0 + 0\n",
         {{"+ 0*0 + 0", "+ (j == 0 ? 1000000 : 0)"},
          {"+ 0*0 + 0", "+ (j == 39 ? 1000000 : 0)"},
          {"+ 0*0 + 0", "+ (j == 37 ? 1000000 : 0)"}}},
        {"args N=24, M=40, D=300\nx[N, D] : input\nc[D, M] : weight\n"
         "s[i:N, j:M] = sum(k:D) (x[i, k] - c[k, j])*(x[i, k] - c[k, j])\n"
         "out[i:N] = min(j:M) s[i, j] + 0*0 + 0\n",
         {{"+ 0*0 + 0", "+ (j == 33 ? 1000000 : 0)"},
          {"+ 0*0 + 0", "+ (j == 9 ? 1000000 : 0)"},
          {"+ 0*0 + 0", "+ (j == 25 ? 1000000 : 0)"},
          {"+ 0*0 + 0", "+ (j == 37 ? 1000000 : 0)"}}},
        {"args N=24, M=40, D=8\nx[N, D] : input\nc[M, D] : weight\n"
         "s[i:N, j:M] = sum(k:D) (x[i, k] - c[j, k])*(x[i, k] - c[j, k])\n"
         "l[i:N] = min(j:M) s[i, j]\nout[i:N] = sqrt(l[i])*1.0\n",
         {{"*1.0", "*1.5"}}},
    };
    ALL(all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beside_integers), cmocka_unit_test(of_floats),
        cmocka_unit_test(of_sums),         cmocka_unit_test(off_the_grid),
        cmocka_unit_test(of_few_sums),     cmocka_unit_test(beyond_32_bits),
        cmocka_unit_test(otherwise),       cmocka_unit_test(rounded),
        cmocka_unit_test(so_far),          cmocka_unit_test(in_any_order),
        cmocka_unit_test(turned),          cmocka_unit_test(elsewhere),
        cmocka_unit_test(in_one_lane),     cmocka_unit_test(of_long_sums),
        cmocka_unit_test(counted),         cmocka_unit_test(beyond_rounding),
        cmocka_unit_test(added),           cmocka_unit_test(of_another_row),
        cmocka_unit_test(nearest)};
    return cmocka_run_group_tests_name("run/thresholds", tests, NULL, NULL);
}
