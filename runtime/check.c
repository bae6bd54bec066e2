/* runtime/check.c: is the output right? Exact where there are no limits: inputs are integers so
 * small that every order of summation gives the same bits. */
#include "runtime/inside.h"

#include <math.h>
#include <string.h>

#include "base/agree.h"

AT_AGREES

/* The bits of an element; narrow ones without their sign. */
static uint32_t bits_at(at_type type, const void *p, int64_t i) {
    const int64_t bytes = at_type_bytes(type);
    uint32_t bits = 0;
    memcpy(&bits, (const char *)p + bytes * i, (size_t)bytes);
    return bits;
}

static double value_of(at_type type, uint32_t bits) { return at_type_value(type, &bits, 0); }

/* Of narrow types every value is one that a kernel may give. */
static bool is_poison(at_type type, uint32_t bits) {
    return at_type_bytes(type) == 4 && (bits == AT_POISON_OUT || bits == AT_POISON_WORK);
}

static bool is_right(at_type type, uint32_t got, uint32_t expected, float limit) {
    if (is_poison(type, got)) return false;
    return got == expected ||
           (!at_type_of(type)->is_int &&
            at_agrees((float)value_of(type, got), (float)value_of(type, expected), limit));
}

static void value_text(char text[64], at_type type, uint32_t bits) {
    if (at_type_of(type)->is_int) snprintf(text, 64, "%.0f", value_of(type, bits));
    else snprintf(text, 64, "%.9g", value_of(type, bits));
}

/* The expected output is worked out in double. */
static const char beyond[] =
    "; where the computation itself goes beyond what a float32 holds on the way, as in inf/inf or "
    "inf - inf, every schedule does: it must be written so that it does not";

static bool left_floats(at_type type, uint32_t got, uint32_t expected) {
    if (is_poison(type, got)) return false;
    return !at_type_of(type)->is_int && !isfinite(value_of(type, got)) &&
           isfinite(value_of(type, expected));
}

static bool fail(const at_buf *b, int64_t first, const void *got, const void *expected,
                 const float *limits, int64_t differ, at_outcome *out) {
    char is[64], should[64] = "", by[64] = "";
    const uint32_t bits = bits_at(b->type, got, first);
    value_text(is, b->type, bits);
    if (expected) value_text(should, b->type, bits_at(b->type, expected, first));
    if (limits) snprintf(by, sizeof by, " +- %.3g", (double)limits[first]);
    char *text = out->error;
    size_t size = sizeof out->error;
    int n;
    const bool is_word = at_type_bytes(b->type) == 4;
    if (is_word && bits == AT_POISON_OUT)
        n = snprintf(text, size, "%s[%lld]: never written", b->name, (long long)first);
    else if (is_word && bits == AT_POISON_WORK) {
        n = snprintf(text, size, "%s[%lld]: got memory never written", b->name, (long long)first);
    } else n = snprintf(text, size, "%s[%lld]: got %s", b->name, (long long)first, is);
    if ((size_t)n < size)
        n += snprintf(text + n, size - (size_t)n, "%s%s%s; %lld of %lld elements %s",
                      expected ? ", expected " : "", should, by, (long long)differ,
                      (long long)at_buf_elements(b), expected ? "differ" : "have no value");
    if ((size_t)n < size && expected &&
        left_floats(b->type, bits, bits_at(b->type, expected, first)))
        snprintf(text + n, size - (size_t)n, "%s", beyond);
    out->end = AT_JOB_WRONG;
    return false;
}

/* How large differences are, of elements whose bits differ; what is not a number is left out. */
static void note_error(at_type type, uint32_t got, uint32_t expected, float limit,
                       at_outcome *out) {
    double error = fabs(value_of(type, got) - value_of(type, expected));
    if (error > out->max_error) out->max_error = error;
    if (error > 0 && error / (double)limit > out->of_limit) out->of_limit = error / (double)limit;
}

bool at_check_output(const at_buf *b, const void *got, const void *expected, const at_job *job,
                     at_outcome *out) {
    const int64_t n = at_buf_elements(b);
    const bool is_word = at_type_bytes(b->type) == 4;
    int64_t differ = 0, first = -1;
    const float *limits = NULL;
    if (expected && job->has_limits)
        limits =
            (const float *)(const void *)((const char *)expected + at_limits_at(b->size_bytes));
    /* The common case first, at the speed of memory. The expected values hold no poison: whoever
     * filled them went through the branch below. */
    if (expected && !memcmp(got, expected, (size_t)b->size_bytes)) return true;
    for (int64_t i = 0; i < n; i++) {
        uint32_t g = bits_at(b->type, got, i);
        if (!expected) {
            if (!is_poison(b->type, g)) continue;
        } else {
            uint32_t e = bits_at(b->type, expected, i);
            float limit = limits ? limits[i] : 0;
            if (g == e && (g != AT_POISON_OUT || !is_word)) continue;
            note_error(b->type, g, e, limit, out);
            if (is_right(b->type, g, e, limit)) continue;
        }
        if (differ++ == 0) first = i;
    }
    return differ ? fail(b, first, got, expected, limits, differ, out) : true;
}
