/* codegen/aarch64/element_registers.c: products of floats of 16 bits by an element of a register
 * take that register from the first 16. Registers whose elements are used change places with
 * others, those used most first. The elements of a register that finds no place there are repeated
 * over the lanes of another one where they are used (neon.c). */
#include "codegen/aarch64/encode.h"

#include <string.h>

/* Scatters take the last of the first 16 besides. */
enum { REGISTERS = 32, FIRST = AT_A64_ELEMENT_REGISTERS - 1 };

/* The tile's register that one of the machine's is. */
static int tile_register(int vector) {
    int r = 0;
    while (at_a64_vector(r) != vector) r++;
    return r;
}

/* How often elements of each register are factors; false: never. */
static bool count_elements(const at_tile *t, int uses[REGISTERS]) {
    bool any = false;
    memset(uses, 0, sizeof *uses * REGISTERS);
    for (int i = 0; i < t->num_ops; i++) {
        const at_tile_op *op = &t->ops[i];
        if (!op->halves || !op->element) continue;
        uses[op->b]++;
        any = true;
    }
    return any;
}

/* The register used most of those with elements that lie behind the first; -1: there is none. */
static int most_used(const int uses[REGISTERS], const int place[REGISTERS]) {
    int most = -1;
    for (int r = 0; r < REGISTERS; r++)
        if (uses[r] && at_a64_vector(place[r]) >= FIRST && (most < 0 || uses[r] > uses[most]))
            most = r;
    return most;
}

/* The register whose place r is. */
static int at_place(const int place[REGISTERS], int r) {
    int other = 0;
    while (place[other] != r) other++;
    return other;
}

static int16_t moved(const int place[REGISTERS], int16_t r) {
    return r < 0 ? r : (int16_t)place[r];
}

bool at_a64_place_elements(at_arena *arena, const at_tile *t, at_tile *placed) {
    int uses[REGISTERS], place[REGISTERS];
    if (!count_elements(t, uses)) return false;
    for (int r = 0; r < REGISTERS; r++) place[r] = r;
    for (int v = 0; v < FIRST; v++) {
        const int there = tile_register(v), other = at_place(place, there),
                  r = most_used(uses, place);
        if (uses[other]) continue;
        if (r < 0) break;
        place[other] = place[r];
        place[r] = there;
    }
    *placed = *t;
    placed->ops = at_copy(arena, t->ops, sizeof *t->ops * (size_t)t->num_ops);
    for (int i = 0; i < t->num_ops; i++) {
        at_tile_op *op = &placed->ops[i];
        if (op->kind < AT_T_CONST) continue; /* its registers are pointers */
        op->dst = moved(place, op->dst);
        op->a = moved(place, op->a);
        op->b = moved(place, op->b);
        if (op->dst >= placed->num_regs) placed->num_regs = op->dst + 1;
    }
    return true;
}
