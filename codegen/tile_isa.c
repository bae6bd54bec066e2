/* codegen/tile_isa.c: what each instruction set offers a tile. */
#include "codegen/tile.h"

/* sse2 multiplies and adds in two steps and needs one register of 16 for the product. Plain C has
 * no registers; 16 keep its tiles of a size that a compiler can hold. */
static const at_tile_isa facts[AT_ISA_COUNT] = {
    [AT_ISA_SCALAR] = {1, 15, true, true, ""},
    [AT_ISA_SSE2] = {4, 15, false, false, "sse2"},
    [AT_ISA_AVX2] = {8, 15, true, false, "avx2,fma"},
    [AT_ISA_AVX512] = {16, 32, true, true, "avx512f,avx512vl,avx512bw,avx512dq"},
};

const at_tile_isa *at_tile_isa_facts(at_isa isa) { return &facts[isa]; }
const char *at_isa_parts(at_isa isa) { return facts[isa].target; }
