/* base/type.c: see type.def. */
#include <math.h>
#include <string.h>

#include "base/base.h"

static const at_type_facts types[AT_TYPE_COUNT] = {
#define AT_TYPE(id, name, bytes, is_int, least, most, c) {name, bytes, is_int, least, most, c},
#include "base/type.def"
#undef AT_TYPE
};

const at_type_facts *at_type_of(at_type t) { return &types[t]; }

int at_type_find(const char *name, int length) {
    for (int i = 0; i < AT_TYPE_COUNT; i++)
        if ((int)strlen(types[i].name) == length && !memcmp(types[i].name, name, (size_t)length))
            return i;
    return -1;
}

double at_type_value(at_type t, const void *elements, int64_t i) {
    const char *at = (const char *)elements + types[t].bytes * i;
    uint32_t bits = 0;
    float x;
    memcpy(&bits, at, (size_t)types[t].bytes);
    switch (t) {
    case AT_S32: return (int32_t)bits;
    case AT_S16: return (int16_t)bits;
    case AT_S8: return (int8_t)bits;
    case AT_U8:
    case AT_BOOL: return bits;
    case AT_F16: return at_function_value(AT_FUNCTION_HALF, bits);
    case AT_BF16: bits <<= 16;
    /* fallthrough */
    default: memcpy(&x, &bits, sizeof x); return (double)x;
    }
}

/* Of one that is a float of 16 bits. */
static uint32_t half_bits(double x) {
    const uint32_t sign = signbit(x) ? 0x8000 : 0;
    int exponent;
    if (isnan(x)) return 0x7e00;
    if (isinf(x)) return sign | 0x7c00;
    frexp(x, &exponent);
    if (exponent < -13 || x == 0) exponent = -13;
    return sign | ((uint32_t)(exponent + 13) * 1024 + (uint32_t)ldexp(fabs(x), 11 - exponent));
}

void at_type_store(at_type t, void *elements, int64_t i, float x) {
    char *at = (char *)elements + types[t].bytes * i;
    uint32_t bits;
    if (at_type_is_half(t)) x = (float)at_function_value(at_type_rounding(t), (double)x);
    memcpy(&bits, &x, sizeof bits);
    if (t == AT_F16) bits = half_bits((double)x);
    if (t == AT_BF16) bits >>= 16;
    memcpy(at, &bits, (size_t)types[t].bytes); /* the lowest come first */
}

double at_type_most_float(at_type t) { return t == AT_S32 ? 2147483520.0 : types[t].most; }
