/* base/isa.c: names of the instruction sets that tiles are made for. */
#include "base/base.h"

#include <string.h>

static const char *const names[] = {"scalar", "sse2", "avx2", "avx512"};
_Static_assert(sizeof names / sizeof names[0] == AT_ISA_COUNT, "one name per instruction set");

const char *at_isa_name(at_isa isa) { return names[isa]; }

bool at_isa_from_name(const char *name, at_isa *out) {
    for (int i = 0; i < AT_ISA_COUNT; i++)
        if (!strcmp(names[i], name)) return *out = (at_isa)i, true;
    return false;
}
