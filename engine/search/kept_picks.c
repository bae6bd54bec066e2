/* engine/search/kept_picks.c: a file of lines "KEY INDEX NS". Runs side by side add lines, each by
 * one write; a torn one is as none, and of several of one key the last counts. */
#include "engine/search/kept_picks.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/measure/target_here.h"
#include "engine/search/machine_speeds.h"
#include "runtime/kept_object.h"

enum { MOST_BYTES = 512 << 10 }; /* a larger file begins anew */

/* ---- what a pick depends on ------------------------------------------------------------------ */

/* The head of the program or library that this file is in, as the linker names it. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

static const ElfW(Nhdr) * next_note(const ElfW(Nhdr) * note) {
    enum { ALIGNED = 4 };
    const size_t name = (note->n_namesz + ALIGNED - 1) / ALIGNED * ALIGNED,
                 said = (note->n_descsz + ALIGNED - 1) / ALIGNED * ALIGNED;
    return (const void *)((const char *)(note + 1) + name + said);
}

/* Adds the hash that the linker made of everything; false: it made none. */
static bool add_build(at_hash *h) {
    const char *base = (const char *)&__ehdr_start;
    const ElfW(Phdr) *p = (const void *)(base + __ehdr_start.e_phoff);
    for (const ElfW(Phdr) *end = p + __ehdr_start.e_phnum; p < end; p++) {
        if (p->p_type != PT_NOTE || p->p_align > 4) continue;
        const char *notes = base + p->p_offset;
        for (const ElfW(Nhdr) *n = (const void *)notes;
             (const char *)(n + 1) <= notes + p->p_filesz; n = next_note(n)) {
            if (n->n_type != NT_GNU_BUILD_ID || n->n_namesz != 4) continue;
            at_hash_add(h, (const char *)(n + 1) + n->n_namesz, n->n_descsz);
            return true;
        }
    }
    return false;
}

static void add_config(at_hash *h, const at_config *c) {
    at_text text = {0};
    at_config_print_entity(&text, c);
    at_hash_add_str(h, at_text_str(&text));
    at_text_free(&text);
}

static void add_machine(at_hash *h) {
    at_speed_table table;
    at_text text = {0};
    at_speeds_known(&table);
    at_speed_table_print(&text, &table);
    at_hash_add_str(h, at_text_str(&text));
    at_text_free(&text);
}

bool at_pick_key(const at_engine_options *o, const at_task *task, const at_config *standard,
                 bool everywhere, char key[33]) {
    const at_compute *c = at_task_compute(task);
    at_hash h;
    at_hash_init(&h);
    if (!add_build(&h)) return false;
    at_hash_add_number(&h, everywhere);
    if (!everywhere) add_machine(&h);
    at_hash_add_str(&h, at_engine_target_for(o, c)->name);
    at_hash_add_number(&h, (uint64_t)o->threads);
    at_hash_add_number(&h, o->packing);
    at_hash_add_number(&h, o->cache);
    at_hash_add_number(&h, (uint64_t)o->weights_bytes);
    for (int t = 0, i = 0; o->row && t < c->num_tensors; t++)
        if (c->tensors[t].role != AT_ROLE_STAGE || c->tensors[t].is_output)
            at_hash_add_number(&h, (uint64_t)o->row[i++]);
    at_hash_add_str(&h, at_task_hash(task));
    at_hash_add_str(&h, at_task_args_text(task));
    add_config(&h, standard);
    at_hash_hex(&h, key);
    return true;
}

/* ---- the file -------------------------------------------------------------------------------- */

static const char *path_of(at_arena *a) {
    const char *folder = at_cache_folder(a);
    return folder ? at_format(a, "%s/picks-1", folder) : NULL;
}

static bool parse(const char *line, at_kept_pick *out) {
    char *end;
    out->index = strtoll(line, &end, 10);
    if (*end != ' ') return false;
    out->ns = strtod(end + 1, &end);
    return *end == '\n' && out->index >= -1 && out->ns >= 0;
}

bool at_pick_kept(const char *key, at_kept_pick *out) {
    at_arena *a = at_arena_new();
    const char *path = path_of(a);
    char *text;
    size_t len;
    bool found = false;
    if (path && at_kept_is_own(path) &&
        at_read_file(a, path, 2 * MOST_BYTES, &text, &len, NULL) == AT_OK) {
        const size_t chars = strlen(key);
        at_kept_pick read;
        for (const char *line = text, *end; (end = memchr(line, '\n', len - (size_t)(line - text)));
             line = end + 1)
            if (!strncmp(line, key, chars) && line[chars] == ' ' && parse(line + chars + 1, &read))
                *out = read, found = true;
    }
    at_arena_free(a);
    return found;
}

void at_pick_keep(const char *key, const at_kept_pick *p) {
    at_arena *a = at_arena_new();
    const char *path = path_of(a);
    char line[128];
    const int n = snprintf(line, sizeof line, "%s %lld %a\n", key, (long long)p->index, p->ns);
    const int flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    int fd = -1;
    if (path && at_make_folder(at_strdup(a, path), NULL) == AT_OK) fd = open(path, flags, 0600);
    if (fd >= 0 && at_kept_is_own(path)) {
        if (lseek(fd, 0, SEEK_END) > MOST_BYTES) (void)!ftruncate(fd, 0);
        (void)!write(fd, line, (size_t)n);
    }
    if (fd >= 0) close(fd);
    at_arena_free(a);
}
