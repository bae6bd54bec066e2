/* runtime/kept_object.c: see kept_object.h. */
#include "runtime/kept_object.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/runtime.h"

const char *at_kept_path(at_arena *a, const char *kind, const char *flags, const char *source) {
    at_hash h;
    char hex[33];
    const char *folder = at_cache_folder(a);
    if (!folder) return NULL;
    at_hash_init(&h);
    at_hash_add_str(&h, at_cpu_facts()->name);
    at_hash_add_str(&h, at_cpu_facts()->flags);
    at_hash_add_str(&h, flags);
    at_hash_add_str(&h, source);
    at_hash_hex(&h, hex);
    return at_format(a, "%s/%s-%s.so", folder, kind, hex);
}

bool at_kept_is_own(const char *path) {
    struct stat st;
    return !lstat(path, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
           !(st.st_mode & (S_IWGRP | S_IWOTH));
}

enum { MOST_BYTES = 256 << 20, HASH_BYTES = 32 };

static void hash_of(const char *bytes, size_t size, char hex[HASH_BYTES + 1]) {
    at_hash h;
    at_hash_init(&h);
    at_hash_add(&h, bytes, size);
    at_hash_hex(&h, hex);
}

bool at_kept_read(at_arena *a, const char *path, char **bytes, size_t *size) {
    char hex[HASH_BYTES + 1];
    if (!at_kept_is_own(path) || at_read_file(a, path, MOST_BYTES, bytes, size, NULL) != AT_OK ||
        *size < HASH_BYTES)
        return false;
    *size -= HASH_BYTES;
    hash_of(*bytes, *size, hex);
    return !memcmp(*bytes + *size, hex, HASH_BYTES);
}

void at_kept_add(at_arena *a, const char *path, const char *object) {
    char *bytes, hex[HASH_BYTES + 1];
    size_t size;
    if (!path || at_make_folder(at_strdup(a, path), NULL) != AT_OK ||
        at_read_file(a, object, MOST_BYTES, &bytes, &size, NULL) != AT_OK)
        return;
    char *all = at_alloc(a, size + HASH_BYTES);
    memcpy(all, bytes, size);
    hash_of(bytes, size, hex);
    memcpy(all + size, hex, HASH_BYTES);
    at_write_output(path, &(at_output_rules){.is_derived = true}, all, size + HASH_BYTES, NULL);
}
