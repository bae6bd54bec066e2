/* base/type.h: types of elements. */
#ifndef AT_BASE_TYPE_H
#define AT_BASE_TYPE_H

#include "base/error.h"

/* ---- types of elements (type.def, type.c) ------------------------------------------------------
 */

typedef enum at_type {
#define AT_TYPE(id, name, bytes, is_int, least, most, c) AT_##id,
#include "base/type.def"
#undef AT_TYPE
    AT_TYPE_COUNT
} at_type;
typedef struct at_type_facts {
    const char *name;
    int bytes;
    bool is_int;
    double least, most;
    const char *c; /* its type in C */
} at_type_facts;
const at_type_facts *at_type_of(at_type t);
int at_type_find(const char *name, int length); /* -1: there is none */
/* The largest float32 that a type of integers holds. */
double at_type_most_float(at_type t);
double at_type_value(at_type t, const void *elements, int64_t i);
/* Of a type of floats, the nearest that it has. */
void at_type_store(at_type t, void *elements, int64_t i, float x);
static inline bool at_type_is_half(at_type t) { return t == AT_F16 || t == AT_BF16; }
static inline int64_t at_type_bytes(at_type t) { return at_type_of(t)->bytes; }
/* How many of them a lane of 32 bits holds. */
static inline int at_type_per_lane(at_type t) { return 4 / at_type_of(t)->bytes; }

#endif
