/* tests/arena.h: an arena as long as a group of tests. */
#ifndef AT_TESTS_ARENA_H
#define AT_TESTS_ARENA_H

#include "base/base.h"

static at_arena *arena;

static inline int make_arena(void **state) {
    (void)state;
    arena = at_arena_new();
    return 0;
}

static inline int free_arena(void **state) {
    (void)state;
    at_arena_free(arena);
    return 0;
}

#endif
