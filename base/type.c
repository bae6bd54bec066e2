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
    case AT_U8: return bits;
    default: memcpy(&x, &bits, sizeof x); return (double)x;
    }
}

double at_type_most_float(at_type t) { return t == AT_S32 ? 2147483520.0 : types[t].most; }
