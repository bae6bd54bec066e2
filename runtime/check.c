/* runtime/check.c: is the output right? Exact where there are no limits: inputs are integers so
 * small that every order of summation gives the same bits. */
#include "runtime/runtime_int.h"

#include <math.h>
#include <string.h>

#include "base/agree.h"

AT_AGREES

static uint32_t bits_at(const void *p, int64_t i) {
    uint32_t bits;
    memcpy(&bits, (const char *)p + 4 * i, 4);
    return bits;
}

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

static bool is_right(bool is_int, uint32_t got, uint32_t expected, float limit) {
    if (got == AT_POISON_OUT || got == AT_POISON_WORK) return false;
    return got == expected || (!is_int && at_agrees(float_of(got), float_of(expected), limit));
}

static void value_text(char text[64], bool is_int, uint32_t bits) {
    if (is_int) snprintf(text, 64, "%ld", (long)(int32_t)bits);
    else snprintf(text, 64, "%.9g", (double)float_of(bits));
}

/* The expected output is worked out in double. */
static const char beyond[] =
    "; where the computation itself goes beyond what a float32 holds on the way, as in inf/inf or "
    "inf - inf, every schedule does: it must be written so that it does not";

static bool left_floats(bool is_int, uint32_t got, uint32_t expected) {
    if (got == AT_POISON_OUT || got == AT_POISON_WORK) return false;
    return !is_int && !isfinite(float_of(got)) && isfinite(float_of(expected));
}

static bool fail(const at_buf *b, int64_t first, const void *got, const void *expected,
                 const float *limits, int64_t differ, at_outcome *out) {
    char is[64], should[64] = "", by[64] = "";
    uint32_t bits = bits_at(got, first);
    value_text(is, b->is_int, bits);
    if (expected) value_text(should, b->is_int, bits_at(expected, first));
    if (limits) snprintf(by, sizeof by, " +- %.3g", (double)limits[first]);
    char *text = out->error;
    size_t size = sizeof out->error;
    int n;
    if (bits == AT_POISON_OUT)
        n = snprintf(text, size, "%s[%lld]: never written", b->name, (long long)first);
    else if (bits == AT_POISON_WORK) {
        n = snprintf(text, size, "%s[%lld]: got memory never written", b->name, (long long)first);
    } else n = snprintf(text, size, "%s[%lld]: got %s", b->name, (long long)first, is);
    if ((size_t)n < size)
        n += snprintf(text + n, size - (size_t)n, "%s%s%s; %lld of %lld elements %s",
                      expected ? ", expected " : "", should, by, (long long)differ,
                      (long long)(b->size_bytes / 4), expected ? "differ" : "have no value");
    if ((size_t)n < size && expected && left_floats(b->is_int, bits, bits_at(expected, first)))
        snprintf(text + n, size - (size_t)n, "%s", beyond);
    out->end = AT_JOB_WRONG;
    return false;
}

/* How large differences are, of elements whose bits differ; what is not a number is left out. */
static void note_error(bool is_int, uint32_t got, uint32_t expected, float limit, at_outcome *out) {
    double error = is_int ? fabs((double)(int32_t)got - (double)(int32_t)expected)
                          : fabs((double)float_of(got) - (double)float_of(expected));
    if (error > out->max_error) out->max_error = error;
    if (error > 0 && error / (double)limit > out->of_limit) out->of_limit = error / (double)limit;
}

bool at_check_output(const at_buf *b, const void *got, const void *expected, const at_job *job,
                     at_outcome *out) {
    const int64_t n = b->size_bytes / 4;
    int64_t differ = 0, first = -1;
    const float *limits = NULL;
    if (expected && job->has_limits)
        limits = (const float *)(const void *)((const char *)expected + b->size_bytes);
    /* The common case first, at the speed of memory. The expected values hold no poison: whoever
     * filled them went through the branch below. */
    if (expected && !memcmp(got, expected, (size_t)b->size_bytes)) return true;
    for (int64_t i = 0; i < n; i++) {
        uint32_t g = bits_at(got, i);
        if (!expected) {
            if (g != AT_POISON_OUT && g != AT_POISON_WORK) continue;
        } else {
            uint32_t e = bits_at(expected, i);
            float limit = limits ? limits[i] : 0;
            if (g == e && g != AT_POISON_OUT) continue;
            note_error(b->is_int, g, e, limit, out);
            if (is_right(b->is_int, g, e, limit)) continue;
        }
        if (differ++ == 0) first = i;
    }
    return differ ? fail(b, first, got, expected, limits, differ, out) : true;
}
