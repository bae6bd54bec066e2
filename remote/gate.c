/* remote/gate.c: see gate.h. */
#include "remote/gate.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "remote/drop_box.h"
#include "records/records.h"
#include "remote/own_folder.h"

enum { REMOVALS = 10 };
static const int64_t count_ns = 500000000, look_ns = 100000000;

struct at_gate {
    int top, searches, own;
    char name[32];
    uint64_t count;
    int64_t counted_ns, looked_ns;
    at_arena *arena;
    at_key_map known; /* workers that have come */
};

at_status at_gate_open(const char *path, bool make, at_gate **out, at_error *err) {
    at_gate *g = calloc(1, sizeof *g);
    AT_NEED(g);
    g->top = g->searches = g->own = -1;
    g->arena = at_arena_new();
    g->known.arena = g->arena;
    *out = g;
    AT_TRY(at_own_folder(AT_FDCWD, path, make, &g->top, err));
    AT_TRY(at_own_folder(g->top, "searches", true, &g->searches, err));
    AT_TRY(at_own_name('S', g->name, err));
    return at_own_folder(g->searches, g->name, true, &g->own, err);
}

void at_gate_close(at_gate *g) {
    if (!g) return;
    if (g->own >= 0) {
        close(g->own);
        /* A worker that does not know yet may write once more. */
        for (int i = 0; i < REMOVALS && !faccessat(g->searches, g->name, F_OK, 0); i++) {
            if (i) usleep(20000);
            at_own_folder_remove(g->searches, g->name);
        }
    }
    if (g->searches >= 0) close(g->searches);
    if (g->top >= 0) close(g->top);
    at_arena_free(g->arena);
    free(g);
}

static at_status enter(at_gate *g, const char *worker, at_link *l, at_error *err) {
    int fd;
    *l = at_link_none();
    AT_TRY(at_own_folder(g->own, worker, false, &fd, err));
    at_status s = at_drop_open(fd, "from", "to", &l->drop, err);
    close(fd);
    return s;
}

at_status at_gate_look(at_gate *g, at_arena *a, at_link *l, const char **name, bool *there,
                       at_error *err) {
    int64_t now_ns = at_now_ns();
    *there = false;
    if (now_ns - g->counted_ns >= count_ns) {
        char text[32];
        snprintf(text, sizeof text, "%llu\n", (unsigned long long)++g->count);
        if (at_own_file_put(g->own, "alive", text, strlen(text))) g->counted_ns = now_ns;
    }
    if (now_ns - g->looked_ns < look_ns) return AT_OK;
    g->looked_ns = now_ns;
    int fd = openat(g->own, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) return at_fail(err, AT_E_OUTPUT, "the search's folder is gone: %s", strerror(errno));
    at_status s = AT_OK;
    for (struct dirent *e; s == AT_OK && !*there && (e = readdir(d));) {
        if (strncmp(e->d_name, "W-", 2) || at_key_map_find(&g->known, e->d_name) >= 0) continue;
        at_key_map_add(&g->known, at_strdup(g->arena, e->d_name));
        s = enter(g, e->d_name, l, err);
        *there = s == AT_OK;
        *name = at_strdup(a, e->d_name);
    }
    closedir(d);
    return s;
}

bool at_gate_has(const at_gate *g, const char *name) {
    return faccessat(g->own, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

void at_gate_drop(at_gate *g, const char *name) { at_own_folder_remove(g->own, name); }
