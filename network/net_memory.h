/* network/net_memory.h: where blocks of memory lie that are needed for a while each. */
#ifndef AT_NETWORK_MEMORY_H
#define AT_NETWORK_MEMORY_H

#include "base/base.h"

enum { AT_NET_ALIGNMENT = 64 };

/* A block of memory that the steps from first to last need. */
typedef struct at_net_block {
    int64_t bytes;
    int first, last;
    int64_t offset; /* set by at_net_place_blocks: a multiple of AT_NET_ALIGNMENT */
} at_net_block;

/* Gives each block an offset, so that no two that are needed at the same step overlap, and returns
 * how many bytes all of them take. Blocks of no bytes lie anywhere. */
int64_t at_net_place_blocks(at_net_block *blocks, int n);
/* The largest sum of what one step needs, each block rounded up: no plan takes less. */
int64_t at_net_least_bytes(const at_net_block *blocks, int n);
int64_t at_net_rounded(int64_t bytes); /* up to a multiple of AT_NET_ALIGNMENT */
/* Memory for weights or a workspace, in large pages where the system has them; ended by free. */
void *at_net_room(int64_t bytes);

#endif
