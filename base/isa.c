/* base/isa.c: names of the instruction sets. */
#include "base/isa.h"

#include <string.h>

#define AT_ISA_ROW(id, name, lanes) {name, lanes},
static const struct {
    const char *name;
    int lanes;
} rows[] = {
#include "base/isa.def"
};
#undef AT_ISA_ROW

const char *at_isa_name(at_isa isa) { return rows[isa].name; }

int at_isa_lanes(at_isa isa) { return rows[isa].lanes; }

bool at_isa_from_name(const char *name, at_isa *out) {
    for (int i = 0; i < AT_ISA_COUNT; i++)
        if (!strcmp(rows[i].name, name)) return *out = (at_isa)i, true;
    return false;
}
