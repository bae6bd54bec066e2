/* schedule/function_c.c: functions of a value as C99 without a library, in double: for naive C and
 * for kernels of any shape. Slow and plain, to a few units of 2^-52, and written apart from the
 * vector code that they are compared with (codegen/tile/functions.c). */
#include "schedule/schedule_int.h"

/* Each uses those above it. %s: the entry. */
static const char exponential[] = /* 2^k times a Taylor series, k in two steps */
    "static double %1$s_exp_of(double x) {\n"
    "    union { double d; unsigned long long u; } power;\n"
    "    double sum = 1, term = 1;\n"
    "    if (!(x < 710)) return x * 1e308;\n"
    "    if (x < -760) return 0;\n"
    "    const long k = (long)(x * 1.4426950408889634 + (x < 0 ? -0.5 : 0.5));\n"
    "    x = x - (double)k * 0x1.62e42feep-1 - (double)k * 0x1.a39ef35793c76p-33;\n"
    "    for (int i = 1; i < 20; i++) term *= x / i, sum += term;\n"
    "    for (int i = 0; i < 2; i++) {\n"
    "        const long part = i ? k - k / 2 : k / 2;\n"
    "        power.u = (unsigned long long)(part + 1023) << 52;\n"
    "        sum *= power.d;\n"
    "    }\n"
    "    return sum;\n"
    "}\n";

static const char logarithm[] = /* k log(2) + 2 atanh((m - 1)/(m + 1)) */
    "static double %1$s_log_of(double x) {\n"
    "    union { double d; unsigned long long u; } m;\n"
    "    const double zero = 0;\n"
    "    long k = 0;\n"
    "    if (!(x > 0)) return x == 0 ? -1 / zero : zero / zero;\n"
    "    if (x > 1.7976931348623157e308) return x;\n"
    "    if (x < 1e-300) x *= 0x1p60, k = -60;\n"
    "    m.d = x;\n"
    "    k += (long)(m.u >> 52) - 1023;\n"
    "    m.u = (m.u & 0xfffffffffffffULL) | 0x3ff0000000000000ULL;\n"
    "    if (m.d > 1.4142135623730951) m.d *= 0.5, k++;\n"
    "    const double s = (m.d - 1) / (m.d + 1);\n"
    "    double sum = 0, power = s;\n"
    "    for (int i = 1; i < 40; i += 2) sum += power / i, power *= s * s;\n"
    "    return (double)k * 0.6931471805599453 + 2 * sum;\n"
    "}\n";

static const char root[] = /* Newton's */
    "static double %1$s_sqrt_of(double x) {\n"
    "    union { double d; unsigned long long u; } y;\n"
    "    const double zero = 0;\n"
    "    if (!(x > 0 && x < 1.7976931348623157e308)) return x < 0 ? zero / zero : x;\n"
    "    y.d = x;\n"
    "    y.u = (y.u >> 1) + (1023ULL << 51);\n"
    "    for (int i = 0; i < 5; i++) y.d = 0.5 * (y.d + x / y.d);\n"
    "    return y.d;\n"
    "}\n";

static const char reciprocal_root[] =
    "static double %1$s_rsqrt_of(double x) { return 1 / %1$s_sqrt_of(x); }\n";

static const char hyperbolic_tangent[] =
    "static double %1$s_tanh_of(double x) {\n"
    "    if (x < 0) return -%1$s_tanh_of(-x);\n"
    "    if (x < 0.02)\n"
    "        return x - x * x * x * (1 / 3.0 - x * x * (2 / 15.0 - x * x * (17 / 315.0)));\n"
    "    return x > 30 ? 1 : 1 - 2 / (%1$s_exp_of(2 * x) + 1);\n"
    "}\n";

static const char error_function[] = /* a series of positive terms, times exp(-x x) */
    "static double %1$s_erf_of(double x) {\n"
    "    double sum = 0, term = x;\n"
    "    if (x < 0) return -%1$s_erf_of(-x);\n"
    "    if (x > 6) return 1;\n"
    "    for (int i = 1; i < 160; i++) sum += term, term *= 2 * x * x / (2 * i + 1);\n"
    "    return x == 0 ? x : 1.1283791670955126 * %1$s_exp_of(-x * x) * sum;\n"
    "}\n";

static const char logistic[] =
    "static double %1$s_sigmoid_of(double x) { return 1 / (1 + %1$s_exp_of(-x)); }\n";

/* What is left of k times half of pi, by a series; of the n-th quarter. */
static const char quarter[] = /* of sine and cosine */
    "static double %1$s_quarter_of(double x, long n) {\n"
    "    const double zero = 0, size = x < 0 ? -x : x;\n"
    "    if (!(size <= 131072)) return zero / zero;\n"
    "    const long k = (long)(size * 0.63661977236758134 + 0.5);\n"
    "    const double r = size - (double)k * 0x1.921fb544p0 - (double)k * 0x1.0b4611a6p-34 - "
    "(double)k * 0x1.3198a2e037073p-69;\n"
    "    const int odd = (int)((k + n) %% 2);\n"
    "    double sum = 0, term = odd ? 1 : r;\n"
    "    for (int i = odd ? 1 : 2; i < 26; i += 2) sum += term, term *= -r * r / (i * (i + 1));\n"
    "    return (k + n) / 2 %% 2 ? -sum : sum;\n"
    "}\n";

static const char sine[] =
    "static double %1$s_sin_of(double x) {\n"
    "    return x < 0 ? -%1$s_quarter_of(x, 0) : x == 0 ? x : %1$s_quarter_of(x, 0);\n"
    "}\n";

static const char cosine[] =
    "static double %1$s_cos_of(double x) { return %1$s_quarter_of(x, 1); }\n";

static const char magnitude[] =
    "static double %1$s_abs_of(double x) { return x < 0 ? -x : x + 0.0; }\n";

static const char rounded_down[] = /* the sign of a zero stays */
    "static double %1$s_floor_of(double x) {\n"
    "    if (!(x < 0x1p52 && x > -0x1p52) || x == 0) return x;\n"
    "    const double whole = (double)(long)x;\n"
    "    return whole > x ? whole - 1 : whole;\n"
    "}\n";

static const char rounded_up[] =
    "static double %1$s_ceil_of(double x) {\n"
    "    if (!(x < 0x1p52 && x > -0x1p52) || x == 0) return x;\n"
    "    const double whole = (double)(long)x;\n"
    "    return whole < x ? whole + 1 : x < 0 && whole == 0 ? -0.0 : whole;\n"
    "}\n";

static const char rounded_even[] = /* halves to the even one */
    "static double %1$s_round_of(double x) {\n"
    "    if (!(x < 0x1p52 && x > -0x1p52) || x == 0) return x;\n"
    "    const double by = x < 0 ? -0x1p52 : 0x1p52;\n"
    "    volatile double far = x + by;\n"
    "    const double whole = far - by;\n"
    "    return x < 0 && whole == 0 ? -0.0 : whole;\n"
    "}\n";

static const char half[] = /* of 16 bits, an integer */
    "static double %1$s_half_of(double x) {\n"
    "    const long bits = x > 0 ? x < 65535 ? (long)x : 65535 : 0;\n"
    "    const double rest = x > 0 && x < 65535 ? x - (double)bits : 0, zero = 0;\n"
    "    const long near = bits + (rest > 0.5 || (rest == 0.5 && bits % 2));\n"
    "    const long exponent = near / 1024 % 32, fraction = near % 1024;\n"
    "    double value = exponent ? 1024 + fraction : fraction;\n"
    "    if (exponent == 31) value = fraction ? zero / zero : 1 / zero;\n"
    "    else for (long i = exponent ? exponent : 1; i < 25; i++) value *= 0.5;\n"
    "    for (long i = 25; i < exponent; i++) value *= 2;\n"
    "    return near / 32768 ? -value : value;\n"
    "}\n";

/* To a float of 16 bits, halves to the even one: so many digits behind the first, the least
 * exponent and the least value that becomes infinite. */
#define NEAREST(name, digits, least, beyond)                                                       \
    "static double %1$s_" name "_of(double x) {\n"                                                 \
    "    const double size = x < 0 ? -x : x, zero = 0;\n"                                          \
    "    union { double d; unsigned long long u; } unit;\n"                                        \
    "    if (!(size < " beyond ")) return size > 0 ? (x < 0 ? -1 / zero : 1 / zero) : x;\n"        \
    "    unit.d = size < " least " ? " least " : size;\n"                                          \
    "    unit.u = ((unit.u >> 52) - " digits ") << 52;\n"                                          \
    "    volatile double far = size / unit.d + 0x1p52;\n"                                          \
    "    const double whole = (far - 0x1p52) * unit.d;\n"                                          \
    "    return x < 0 ? -whole : whole;\n"                                                         \
    "}\n"
static const char nearest_half[] = NEAREST("f16", "10", "0x1p-14", "65520");
static const char nearest_upper[] = NEAREST("bf16", "7", "0x1p-126", "0x1.ffp127");

static const char half_bits[] = /* of one that is a float of 16 bits */
    "static unsigned short %1$s_f16_bits(double x) {\n"
    "    const double size = x < 0 ? -x : x;\n"
    "    const unsigned sign = x < 0 ? 0x8000 : 0;\n"
    "    union { double d; unsigned long long u; } all;\n"
    "    if (!(size < 65520)) return (unsigned short)(sign | (size > 0 ? 0x7c00 : 0x7e00));\n"
    "    if (size < 0x1p-14) return (unsigned short)(sign | (unsigned)(size * 0x1p24));\n"
    "    all.d = size;\n"
    "    return (unsigned short)(sign | (unsigned)((all.u >> 42) - 1008 * 1024));\n"
    "}\n";

static const char upper_bits[] = "static unsigned short %1$s_bf16_bits(double x) {\n"
                                 "    union { float f; unsigned u; } whole;\n"
                                 "    whole.f = (float)x;\n"
                                 "    return (unsigned short)(whole.u >> 16);\n"
                                 "}\n";

static const char upper[] = /* of a float32, its upper 16 bits */
    "static double %1$s_upper_of(unsigned x) {\n"
    "    union { float f; unsigned u; } whole;\n"
    "    whole.u = x << 16;\n"
    "    return whole.f;\n"
    "}\n";

static const struct {
    const char *text;
    int needs; /* another function, or -1 */
} texts[AT_FUNCTION_COUNT] = {
    [AT_FUNCTION_EXP] = {exponential, -1},
    [AT_FUNCTION_LOG] = {logarithm, -1},
    [AT_FUNCTION_SQRT] = {root, -1},
    [AT_FUNCTION_RSQRT] = {reciprocal_root, AT_FUNCTION_SQRT},
    [AT_FUNCTION_TANH] = {hyperbolic_tangent, AT_FUNCTION_EXP},
    [AT_FUNCTION_ERF] = {error_function, AT_FUNCTION_EXP},
    [AT_FUNCTION_SIGMOID] = {logistic, AT_FUNCTION_EXP},
    [AT_FUNCTION_SIN] = {sine, -1},
    [AT_FUNCTION_COS] = {cosine, -1},
    [AT_FUNCTION_ABS] = {magnitude, -1},
    [AT_FUNCTION_FLOOR] = {rounded_down, -1},
    [AT_FUNCTION_CEIL] = {rounded_up, -1},
    [AT_FUNCTION_ROUND] = {rounded_even, -1},
    [AT_FUNCTION_HALF] = {half, -1},
    [AT_FUNCTION_F16] = {nearest_half, -1},
    [AT_FUNCTION_BF16] = {nearest_upper, -1},
};

static at_walk see(const at_expr *e, void *ctx) {
    bool *used = ctx;
    if (e->op != AT_X_CALL) return AT_WALK_ON;
    used[e->integer] = true;
    if (texts[e->integer].needs >= 0) used[texts[e->integer].needs] = true;
    return AT_WALK_ON;
}

void function_texts(const at_compute *c, const char *entry, at_text *out) {
    bool used[AT_FUNCTION_COUNT] = {false}, reads[AT_TYPE_COUNT] = {false},
         stores[AT_TYPE_COUNT] = {false};
    for (int t = 0; t < c->num_tensors; t++) {
        const at_tensor *x = &c->tensors[t];
        reads[x->type] |= x->role != AT_ROLE_STAGE || x->is_output;
        stores[x->type] |= x->is_output;
        if (x->body) at_expr_walk(x->body, see, used);
    }
    used[AT_FUNCTION_HALF] |= reads[AT_F16];
    if (used[AT_FUNCTION_SIN] || used[AT_FUNCTION_COS]) at_text_addf(out, quarter, entry);
    for (int f = 0; f < AT_FUNCTION_COUNT; f++)
        if (used[f]) at_text_addf(out, texts[f].text, entry);
    if (reads[AT_BF16]) at_text_addf(out, upper, entry);
    if (stores[AT_F16]) at_text_addf(out, half_bits, entry);
    if (stores[AT_BF16]) at_text_addf(out, upper_bits, entry);
}
