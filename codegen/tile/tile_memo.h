/* codegen/tile/tile_memo.h: tiles that were built before. A kernel of a search has some six tiles,
 * most of which an earlier kernel had, too. */
#ifndef AT_CODEGEN_TILE_MEMO_H
#define AT_CODEGEN_TILE_MEMO_H

#include "codegen/tile/tile_make.h"

#define AT_TILE_MOST_RESTS 24

/* A list that is to become a tile: the hash of all that the tile depends on. Of what is known
 * outside of the tile (parts of addresses, trip counts) it matters only which are equal to each
 * other: they are numbered in the order in which the list has them, and the hash has their numbers.
 */
typedef struct at_list_key {
    at_hash hash;
    const at_aff *rest[AT_TILE_MOST_RESTS];
    const at_aff *trip[AT_TILE_MAX_TRIPS];
    int num_rests, num_trips;
} at_list_key;

/* tile_key.c; false: the list has no key. Such are lists with places found by an index list, with
 * tables of numbers, or with too many addresses. */
bool at_list_key_of(at_low *l, const at_ir *list, const at_tile_regs *regs, at_list_key *out);

/* tile_memo.c: at_tile_build(), or what it gave before for the same key: the call's tile has its
 * hash, and belongs to the lowering; its operations and names belong to the memo. */
at_tile_call *at_tile_build_once(at_low *l, const at_ir *list, const at_tile_regs *regs);

/* tile_memo.c: of a tile with its hash: t->code, as the target encodes it, or as it did before. */
bool at_tile_encode(at_arena *arena, at_tile *t);

#endif
