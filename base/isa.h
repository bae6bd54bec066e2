/* base/isa.h: the instruction sets that there is code for, by number and name: a row each in
 * isa.def. What is known of them is codegen/target.h's; what this CPU has, runtime/runtime.h's. */
#ifndef AT_BASE_ISA_H
#define AT_BASE_ISA_H

#include <stdbool.h>

#define AT_ISA_ROW(id, name, lanes) AT_ISA_##id,
typedef enum at_isa {
#include "base/isa.def"
    AT_ISA_COUNT
} at_isa;
#undef AT_ISA_ROW

const char *at_isa_name(at_isa isa); /* "scalar", "sse2", "avx2", "avx512" */
bool at_isa_from_name(const char *name, at_isa *out);
/* Numbers of a vector, for defaults. */
int at_isa_lanes(at_isa isa);

#endif
