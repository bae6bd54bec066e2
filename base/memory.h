/* base/memory.h: arenas, and vectors that grow. */
#ifndef AT_BASE_MEMORY_H
#define AT_BASE_MEMORY_H

#include "base/error.h"

/* ---- arena (arena.c) ----------------------------------------------------------------------- */

typedef struct at_arena at_arena;
at_arena *at_arena_new(void);     /* returns owned */
void at_arena_free(at_arena *a);  /* NULL is fine */
void at_arena_reset(at_arena *a); /* frees what was allocated, keeps the memory for reuse */
size_t at_arena_used(const at_arena *a);
/* A moment, and back to it: what was allocated since is freed. */
typedef struct at_mark {
    const void *chunk;
    size_t fill, older_used;
} at_mark;
at_mark at_arena_mark(const at_arena *a);
void at_arena_rewind(at_arena *a, at_mark m);
void *at_alloc(at_arena *a, size_t size_bytes); /* zeroed, 16-byte aligned, never NULL */
void *at_copy(at_arena *a, const void *p, size_t size_bytes);
char *at_strdup(at_arena *a, const char *s);
char *at_strndup(at_arena *a, const char *s, size_t n);
char *at_format(at_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define AT_NEW(arena, type) ((type *)at_alloc((arena), sizeof(type)))
#define AT_NEW_ARRAY(arena, type, n) ((type *)at_alloc((arena), sizeof(type) * (size_t)(n)))

/* ---- growable vector ------------------------------------------------------------------------
 * AT_VEC(int) v = {0}; *at_push(arena, &v) = 7;  v.data[i], v.len. Old storage stays in the arena
 * until its reset, so element pointers taken before a push stay readable but may go stale. */
#define AT_VEC(type)                                                                               \
    struct {                                                                                       \
        type *data;                                                                                \
        int len, cap;                                                                              \
    }
#define at_push(arena, v)                                                                          \
    ((v)->len == (v)->cap ? (void)((v)->data = at_vec_grow((arena), (v)->data, (v)->len,           \
                                                           &(v)->cap, sizeof *(v)->data))          \
                          : (void)0,                                                               \
     &(v)->data[(v)->len++])
void *at_vec_grow(at_arena *a, void *data, int len, int *cap, size_t item_bytes);

#endif
