/* cli/cache_folder.c: see cache_folder.h. The tables of this machine's speeds lie there, too; they
 * take a minute to be measured again, and stay. */
#include "cli/cache_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_ours(const char *name) {
    static const char *const beginnings[] = {"agent-", "network-", "picks-", "reference-"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (!strncmp(name, beginnings[i], strlen(beginnings[i]))) return true;
    return false;
}

at_status at_cache_look(at_arena *a, bool clean, at_cache_state *out, at_error *err) {
    *out = (at_cache_state){.path = at_cache_folder(a)};
    DIR *folder = out->path ? opendir(out->path) : NULL;
    at_status status = AT_OK;
    if (!folder) return AT_OK;
    for (struct dirent *e; status == AT_OK && (e = readdir(folder));) {
        struct stat st;
        if (!is_ours(e->d_name) || fstatat(dirfd(folder), e->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
            !S_ISREG(st.st_mode))
            continue;
        out->files++;
        out->bytes += st.st_size;
        if (clean && unlinkat(dirfd(folder), e->d_name, 0) && errno != ENOENT)
            status = at_fail(err, AT_E_OUTPUT, "--clean: cannot remove %s/%s: %s", out->path,
                             e->d_name, strerror(errno));
    }
    closedir(folder);
    return status;
}
