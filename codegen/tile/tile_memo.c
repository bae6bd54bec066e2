/* codegen/tile/tile_memo.c: see tile_memo.h. Entries stay as long as the memo, since kernels use
 * what they hold. */
#include "codegen/tile/tile_memo.h"

#include <stdlib.h>

enum { PLACES = 1 << 13, MOST_KEPT = PLACES * 3 / 4, MOST_BYTES = 64 << 20 };

typedef struct at_tile_kept {
    at_hash key;
    at_arena *arena; /* the memo's */
    bool fits;       /* there is a tile */
    at_tile tile;
    int slot_tensor[AT_TILE_MAX_SLOTS];
    uint8_t slot_rest[AT_TILE_MAX_SLOTS], trip[AT_TILE_MAX_TRIPS]; /* numbers of the key */
} at_tile_kept;

struct at_tile_memo {
    at_arena *arena;
    at_tile_kept *kept[PLACES];
    int num_kept;
};

at_tile_memo *at_tile_memo_new(void) {
    at_tile_memo *m = calloc(1, sizeof *m);
    AT_NEED(m);
    m->arena = at_arena_new();
    return m;
}

void at_tile_memo_free(at_tile_memo *m) {
    if (m) at_arena_free(m->arena);
    free(m);
}

static at_tile_kept **place_of(at_tile_memo *m, const at_hash *key) {
    uint64_t i = key->lo;
    while (m->kept[i % PLACES] && memcmp(&m->kept[i % PLACES]->key, key, sizeof *key)) i++;
    return &m->kept[i % PLACES];
}

/* ---- what was built before ------------------------------------------------------------------- */

static at_tile_call *recall(at_low *l, const at_tile_kept *k, const at_list_key *key) {
    if (!k->fits) return NULL;
    at_tile_call *c = AT_NEW(l->arena, at_tile_call);
    c->tile = at_copy(l->arena, &k->tile, sizeof k->tile);
    const int slots = at_tile_all_slots(&k->tile);
    c->slot_tensor = AT_NEW_ARRAY(l->arena, int, slots);
    c->slot_at = AT_NEW_ARRAY(l->arena, const at_aff *, slots);
    c->tile->slot_name = AT_NEW_ARRAY(l->arena, const char *, slots);
    at_tile_name_frame(c);
    for (int i = 0; i < k->tile.num_slots; i++) {
        c->slot_tensor[i] = k->slot_tensor[i];
        c->slot_at[i] = key->rest[k->slot_rest[i]];
        c->tile->slot_name[i] = l->tensors[k->slot_tensor[i]].name;
    }
    for (int i = 0; i < k->tile.num_trips; i++) c->trip[i] = key->trip[k->trip[i]];
    return c;
}

/* The number of x in a list; -1: it is not there. */
static int number_of(const at_aff *const *list, int num, const at_aff *x) {
    for (int i = 0; i < num; i++)
        if (at_aff_equal(list[i], x)) return i;
    return -1;
}

/* By the numbers of the key; false: the call has something that they do not tell. */
static bool describe(const at_tile_call *c, const at_list_key *key, at_tile_kept *k) {
    const at_tile *t = c->tile;
    if (c->num_notes || t->num_pointers || t->num_slots > AT_TILE_MAX_SLOTS) return false;
    for (int i = 0; i < t->num_slots; i++) {
        int rest = number_of(key->rest, key->num_rests, c->slot_at[i]);
        if (rest < 0) return false;
        k->slot_rest[i] = (uint8_t)rest;
        k->slot_tensor[i] = c->slot_tensor[i];
    }
    for (int i = 0; i < t->num_trips; i++) {
        int trip = number_of(key->trip, key->num_trips, c->trip[i]);
        if (trip < 0) return false;
        k->trip[i] = (uint8_t)trip;
    }
    return true;
}

/* The copy holds nothing of the lowering. */
static void copy_tile(at_arena *a, at_tile_kept *k, at_tile *t) {
    t->kept = k;
    k->tile = *t;
    k->tile.name = k->tile.base_name = NULL;
    at_tile_op *ops = at_copy(a, t->ops, sizeof *ops * (size_t)t->num_ops);
    for (int i = 0; i < t->num_ops; i++)
        if (ops[i].name) ops[i].name = at_strdup(a, ops[i].name);
    k->tile.ops = ops;
    k->tile.prefix = at_strdup(a, t->prefix);
    k->tile.slot_name = NULL;
    k->tile.slot_type =
        at_copy(a, t->slot_type, sizeof *t->slot_type * (size_t)at_tile_all_slots(t));
    k->tile.slot_written =
        at_copy(a, t->slot_written, sizeof *t->slot_written * (size_t)at_tile_all_slots(t));
}

static void keep(at_tile_memo *m, at_tile_kept **place, const at_list_key *key,
                 const at_tile_call *c) {
    at_tile_kept k = {.key = key->hash, .arena = m->arena, .fits = c != NULL};
    if (m->num_kept == MOST_KEPT || at_arena_used(m->arena) > MOST_BYTES) return;
    if (c && !describe(c, key, &k)) return;
    *place = at_copy(m->arena, &k, sizeof k);
    m->num_kept++;
    if (c) copy_tile(m->arena, *place, c->tile);
}

at_tile_call *at_tile_build_once(at_low *l, const at_ir *list, const at_tile_regs *regs) {
    at_tile_memo *m = l->options->memo;
    at_list_key key;
    at_tile_kept **place = NULL;
    if (m && at_list_key_of(l, list, regs, &key)) {
        place = place_of(m, &key.hash);
        if (*place) return recall(l, *place, &key);
    }
    at_tile_call *c = at_tile_build(l, list, regs);
    if (c) c->tile->hash = at_tile_hash(c->tile);
    if (place) keep(m, place, &key, c);
    return c;
}

/* ---- machine code ---------------------------------------------------------------------------- */

bool at_tile_encode(at_arena *arena, at_tile *t) {
    at_tile_kept *k = t->kept;
    if (!k || !k->tile.code) {
        if (!t->target->encode(arena, t)) return false;
        if (!k) return true;
        k->tile.code = at_copy(k->arena, t->code, (size_t)t->code_bytes);
        k->tile.code_bytes = t->code_bytes;
    }
    t->code = k->tile.code;
    t->code_bytes = k->tile.code_bytes;
    return true;
}
