/* codegen/tile_code.c: machine code of a tile, which is kept: a search makes some six tiles for
 * each kernel, and nine in ten of them for one before. They are told by a hash of 128 bits of all
 * that the code depends on. */
#include "codegen/tile_make.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { KEPT = 1024, MOST_BYTES = 16 * 1024 }; /* so at most 16 MB */

typedef struct kept {
    at_hash hash;
    uint8_t *code; /* NULL: there is none */
    int size_bytes;
} kept;

static kept memory[KEPT];
static atomic_flag in_use = ATOMIC_FLAG_INIT; /* another thread does without */

static uint64_t number_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t joined(int64_t a, int64_t b, int64_t c, int64_t d) {
    return (uint64_t)(uint16_t)a | (uint64_t)(uint16_t)b << 16 | (uint64_t)(uint16_t)c << 32 |
           (uint64_t)(uint16_t)d << 48;
}

at_hash at_tile_hash(const at_tile *t) {
    at_hash h;
    at_hash_init(&h);
    at_hash_add_number(&h, (uint64_t)(uintptr_t)t->target);
    at_hash_add_number(&h, joined(t->num_slots, t->num_pointers, t->num_trips, t->lanes));
    for (int i = 0; i < t->num_ops; i++) {
        const at_tile_op *op = &t->ops[i];
        at_hash_add_number(&h, joined(op->kind, op->mem, op->lanes, op->may_miss));
        at_hash_add_number(&h, joined(op->dst, op->a, op->b, op->slot));
        at_hash_add_number(&h, joined(op->base, op->trip_arg, 0, 0));
        at_hash_add_number(&h, (uint64_t)op->off);
        at_hash_add_number(&h, (uint64_t)op->trip);
        at_hash_add_number(&h, (uint64_t)op->bump);
        at_hash_add_number(&h, (uint64_t)(uint32_t)op->times << 32 | (uint32_t)op->plus);
        at_hash_add_number(&h, (uint64_t)(uint32_t)op->by << 32 | (uint32_t)op->most);
        at_hash_add_number(&h, number_of(op->number));
    }
    return h;
}

static void keep(kept *to, const at_tile *t) {
    if (t->code_bytes > MOST_BYTES) return;
    uint8_t *code = malloc((size_t)t->code_bytes);
    AT_NEED(code);
    memcpy(code, t->code, (size_t)t->code_bytes);
    free(to->code);
    *to = (kept){t->hash, code, t->code_bytes};
}

bool at_tile_encode(at_arena *arena, at_tile *t) {
    if (atomic_flag_test_and_set_explicit(&in_use, memory_order_acquire))
        return t->target->encode(arena, t);
    kept *place = &memory[t->hash.lo % KEPT];
    bool ok = true;
    if (place->code && !memcmp(&place->hash, &t->hash, sizeof t->hash)) {
        t->code = at_copy(arena, place->code, (size_t)place->size_bytes);
        t->code_bytes = place->size_bytes;
    } else {
        ok = t->target->encode(arena, t);
        if (ok) keep(place, t);
    }
    atomic_flag_clear_explicit(&in_use, memory_order_release);
    return ok;
}
