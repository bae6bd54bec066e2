/* runtime/check.c: is the output right? Exact where the tolerance is 0: inputs are integers so
 * small that every order of summation gives the same bits. */
#include "runtime/runtime_int.h"

#include <math.h>
#include <string.h>

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

static bool equal(bool is_int, uint32_t got, uint32_t expected, const at_job *job) {
    if (got == AT_POISON_OUT || got == AT_POISON_WORK) return false;
    if (got == expected) return true;
    if (is_int) return false;
    double x = (double)float_of(got), e = (double)float_of(expected);
    if (job->tolerance == 0) return x == e; /* -0 and 0 */
    return fabs(x - e) <= job->tolerance * fmax(job->magnitude > 0 ? job->magnitude : 1, fabs(e));
}

static void value_text(char text[64], bool is_int, uint32_t bits) {
    if (is_int) snprintf(text, 64, "%ld", (long)(int32_t)bits);
    else snprintf(text, 64, "%.9g", (double)float_of(bits));
}

static bool fail(const at_buf *b, int64_t first, const void *got, const void *expected,
                 int64_t differ, at_outcome *out) {
    char is[64], should[64] = "";
    uint32_t bits = bits_at(got, first);
    value_text(is, b->is_int, bits);
    if (expected) value_text(should, b->is_int, bits_at(expected, first));
    char *text = out->error;
    size_t size = sizeof out->error;
    int n;
    if (bits == AT_POISON_OUT)
        n = snprintf(text, size, "%s[%lld]: never written", b->name, (long long)first);
    else if (bits == AT_POISON_WORK) {
        n = snprintf(text, size, "%s[%lld]: got memory never written", b->name, (long long)first);
    } else n = snprintf(text, size, "%s[%lld]: got %s", b->name, (long long)first, is);
    if ((size_t)n < size) {
        snprintf(text + n, size - (size_t)n, "%s%s; %lld of %lld elements %s",
                 expected ? ", expected " : "", should, (long long)differ,
                 (long long)(b->size_bytes / 4), expected ? "differ" : "have no value");
    }
    out->error_no = AT_ERR_WRONG_ANSWER;
    return false;
}

bool at_check_output(const at_buf *b, const void *got, const void *expected, const at_job *job,
                     at_outcome *out) {
    const int64_t n = b->size_bytes / 4;
    int64_t differ = 0, first = -1;
    /* The common case first, at the speed of memory. The expected values hold no poison: whoever
     * filled them went through the branch below. */
    if (expected && !memcmp(got, expected, (size_t)b->size_bytes)) return true;
    for (int64_t i = 0; i < n; i++) {
        uint32_t g = bits_at(got, i);
        if (!expected) {
            if (g != AT_POISON_OUT && g != AT_POISON_WORK) continue;
        } else {
            uint32_t e = bits_at(expected, i);
            if (g == e && g != AT_POISON_OUT) continue;
            double error = b->is_int ? fabs((double)(int32_t)g - (double)(int32_t)e)
                                     : fabs((double)float_of(g) - (double)float_of(e));
            if (error > out->max_error) out->max_error = error; /* never NaN */
            if (equal(b->is_int, g, e, job)) continue;
        }
        if (differ++ == 0) first = i;
    }
    return differ ? fail(b, first, got, expected, differ, out) : true;
}
