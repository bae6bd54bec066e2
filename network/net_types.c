/* network/net_types.c: ONNX's element types: names, sizes, numbers in and out. */
#include "network/network_int.h"

#include <math.h>
#include <string.h>

typedef struct type_row {
    const char *name;
    int bytes, bits; /* bits of a whole number, below 0: signed */
    bool is_float;
} type_row;

static const type_row rows[] = {
    [AT_NET_UNDEFINED] = {"unknown", 0, 0, false}, [AT_NET_FLOAT] = {"float32", 4, 0, true},
    [AT_NET_UINT8] = {"uint8", 1, 8, false},       [AT_NET_INT8] = {"int8", 1, -8, false},
    [AT_NET_UINT16] = {"uint16", 2, 16, false},    [AT_NET_INT16] = {"int16", 2, -16, false},
    [AT_NET_INT32] = {"int32", 4, -32, false},     [AT_NET_INT64] = {"int64", 8, -64, false},
    [AT_NET_STRING] = {"string", 0, 0, false},     [AT_NET_BOOL] = {"bool", 1, 0, false},
    [AT_NET_FLOAT16] = {"float16", 2, 0, true},    [AT_NET_DOUBLE] = {"float64", 8, 0, true},
    [AT_NET_UINT32] = {"uint32", 4, 32, false},    [AT_NET_UINT64] = {"uint64", 8, 64, false},
    [AT_NET_BFLOAT16] = {"bfloat16", 2, 0, true},
};

static const type_row *row_of(at_net_type t) {
    const size_t i = (size_t)t;
    return i < sizeof rows / sizeof *rows && rows[i].name ? &rows[i] : &rows[AT_NET_UNDEFINED];
}

const char *at_net_type_name(at_net_type t) { return row_of(t)->name; }
int at_net_type_bytes(at_net_type t) { return row_of(t)->bytes; }
bool at_net_type_is_float(at_net_type t) { return row_of(t)->is_float; }
bool at_net_type_is_half(at_net_type t) { return row_of(t)->is_float && row_of(t)->bytes == 2; }
bool at_net_type_is_int(at_net_type t) { return row_of(t)->bits != 0; }

const char *at_net_c_type(at_net_type t) {
    switch (t) {
    case AT_NET_FLOAT: return "float";
    case AT_NET_DOUBLE: return "double";
    case AT_NET_INT64: return "long long";
    case AT_NET_INT32: return "int";
    case AT_NET_INT16: return "short";
    case AT_NET_INT8: return "signed char";
    case AT_NET_UINT8:
    case AT_NET_BOOL: return "unsigned char";
    case AT_NET_FLOAT16: /* their bits */
    case AT_NET_BFLOAT16:
    case AT_NET_UINT16: return "unsigned short";
    case AT_NET_UINT32: return "unsigned int";
    case AT_NET_UINT64: return "unsigned long long";
    default: return NULL;
    }
}

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float half_value(uint16_t h) {
    const uint32_t sign = (uint32_t)(h >> 15) << 31, rest = (uint32_t)(h & 0x7fff) << 13;
    if (rest >= 0x0f800000) return float_of(sign | 0x7f800000 | rest);
    if (rest >= 0x00800000) return float_of(sign | (rest + (112u << 23)));
    return float_of(sign | 0x3f800000) * (float)(h & 1023) * 0x1p-24f;
}

static uint16_t half_of(double x) {
    const uint16_t sign = signbit(x) ? 0x8000 : 0;
    int exponent;
    if (isnan(x)) return 0x7e00;
    x = fabs(x);
    if (x >= 65520) return sign | 0x7c00;
    if (x == 0) return sign;
    frexp(x, &exponent);
    if (exponent < -13) return sign | (uint16_t)nearbyint(ldexp(x, 24));
    const int steps = (int)nearbyint(ldexp(x, 11 - exponent)); /* 1024 to 2048 */
    return sign | (uint16_t)(((exponent + 14) << 10) + (steps - 1024));
}

static uint16_t brain_of(double x) {
    const float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    if (isnan(x)) return 0x7fc0;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Whole numbers wrap, what is none is cut off. */
static uint64_t whole(at_net_type t, double x) {
    if (isnan(x)) return 0;
    if (t == AT_NET_UINT64 && x >= 0) return x >= 0x1p64 ? UINT64_MAX : (uint64_t)x;
    if (x >= 0x1p63) return INT64_MAX;
    if (x < -0x1p63) return (uint64_t)INT64_MIN;
    return (uint64_t)(int64_t)x;
}

int64_t at_net_element_int(at_net_type t, const void *data, int64_t i) {
    const type_row *r = row_of(t);
    const char *at = (const char *)data + i * r->bytes;
    uint64_t bits = 0;
    if (r->is_float) return (int64_t)whole(AT_NET_INT64, at_net_element(t, data, i));
    memcpy(&bits, at, (size_t)r->bytes);
    if (t == AT_NET_BOOL) return bits != 0;
    if (r->bits >= 0) return (int64_t)bits;
    const int unused = 64 + r->bits;
    return (int64_t)(bits << unused) >> unused;
}

const char *at_net_element_name(at_arena *a, const at_net_value *v, int64_t i) {
    int64_t place[AT_NET_MAX_RANK];
    const char *list = "";
    at_unravel(i, v->rank, v->dims, place);
    for (int k = 0; k < v->rank; k++)
        list = at_format(a, "%s%s%lld", list, k ? ", " : "", (long long)place[k]);
    return v->rank ? at_format(a, "%s[%s]", v->name, list) : v->name;
}

double at_net_element(at_net_type t, const void *data, int64_t i) {
    const char *at = (const char *)data + i * row_of(t)->bytes;
    uint16_t half;
    switch (t) {
    case AT_NET_FLOAT: {
        float x;
        memcpy(&x, at, sizeof x);
        return x;
    }
    case AT_NET_DOUBLE: {
        double x;
        memcpy(&x, at, sizeof x);
        return x;
    }
    case AT_NET_FLOAT16: memcpy(&half, at, sizeof half); return half_value(half);
    case AT_NET_BFLOAT16: {
        memcpy(&half, at, sizeof half);
        return float_of((uint32_t)half << 16);
    }
    case AT_NET_UINT64: return (double)(uint64_t)at_net_element_int(t, data, i);
    default: return (double)at_net_element_int(t, data, i);
    }
}

void at_net_store(at_net_type t, void *data, int64_t i, double x) {
    const type_row *r = row_of(t);
    char *at = (char *)data + i * r->bytes;
    uint64_t bits = 0;
    float f;
    uint16_t half;
    switch (t) {
    case AT_NET_FLOAT: f = (float)x, memcpy(at, &f, sizeof f); return;
    case AT_NET_DOUBLE: memcpy(at, &x, sizeof x); return;
    case AT_NET_FLOAT16: half = half_of(x), memcpy(at, &half, sizeof half); return;
    case AT_NET_BFLOAT16: half = brain_of(x), memcpy(at, &half, sizeof half); return;
    case AT_NET_BOOL: bits = x != 0; break;
    default: bits = whole(t, x);
    }
    memcpy(at, &bits, (size_t)r->bytes);
}

double at_net_type_rounds(at_net_type t, double x) {
    if (t == AT_NET_FLOAT16) return fabs(x) * 0x1p-11 + 0x1p-25;
    return t == AT_NET_BFLOAT16 ? fabs(x) * 0x1p-8 : 0;
}

/* As half_of and brain_of, of what float32 has, in steps that compilers make vectors of. */
static uint16_t half_of_float(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint32_t sign = bits >> 16 & 0x8000;
    bits &= 0x7fffffff;
    uint32_t small;
    const float shifted = float_of(bits) + 0.5f; /* rounds to multiples of 2^-24 */
    memcpy(&small, &shifted, sizeof small);
    const uint32_t rounded = (bits + 0xfff + (bits >> 13 & 1) - (112u << 23)) >> 13;
    const uint32_t near = bits < 0x38800000 ? small - 0x3f000000 : rounded;
    const uint32_t large = bits > 0x7f800000 ? 0x7e00 : 0x7c00;
    return (uint16_t)((bits > 0x7f800000 ? 0 : sign) | (bits >= 0x477ff000 ? large : near));
}

bool at_net_widen(at_net_type from, const void *x, at_net_type to, void *y, int64_t elements) {
    const bool widens = to == AT_NET_FLOAT;
    const at_net_type narrow = widens ? from : to;
    if ((widens ? to : from) != AT_NET_FLOAT) return false;
    if (!at_net_type_is_half(narrow)) return false;
    const uint16_t *halves = widens ? x : y;
    const float *floats = widens ? y : x;
    for (int64_t i = 0; i < elements; i++) {
        if (narrow == AT_NET_FLOAT16 && widens) ((float *)y)[i] = half_value(halves[i]);
        else if (narrow == AT_NET_FLOAT16) ((uint16_t *)y)[i] = half_of_float(floats[i]);
        else if (widens) ((float *)y)[i] = float_of((uint32_t)halves[i] << 16);
        else ((uint16_t *)y)[i] = brain_of((double)floats[i]);
    }
    return true;
}
