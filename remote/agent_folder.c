/* remote/agent_folder.c: the folder of files that came with a task. Its agent holds a lock on it,
 * by which the next one knows the folder of an agent that was killed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/json_value.h"
#include "remote/agent_state.h"

typedef at_agent agent;

static const char prefix[] = "autotune-agent-";

static const char *place(void) {
    const char *tmp = getenv("TMPDIR");
    return tmp && *tmp ? tmp : "/tmp";
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at) {
    (void)info, (void)kind, (void)at;
    return remove(path);
}

static int open_locked(const char *path) {
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || !flock(fd, LOCK_EX | LOCK_NB)) return fd;
    close(fd);
    return -1;
}

/* One that is younger may have no lock yet. */
static bool is_left_behind(int fd) {
    enum { MADE_WITHIN_S = 10 };
    struct stat st;
    return !fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & 077) &&
           st.st_mtime + MADE_WITHIN_S < time(NULL);
}

static void remove_left_behind(at_arena *a) {
    DIR *d = opendir(place());
    if (!d) return;
    for (struct dirent *e; (e = readdir(d));) {
        if (strncmp(e->d_name, prefix, sizeof prefix - 1) != 0) continue;
        const char *path = at_format(a, "%s/%s", place(), e->d_name);
        int fd = open_locked(path);
        if (fd < 0) continue;
        if (is_left_behind(fd)) nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
        close(fd);
    }
    closedir(d);
}

static at_status make_folder(agent *g, at_arena *a, at_error *err) {
    remove_left_behind(a);
    g->folder = strdup(at_format(a, "%s/%sXXXXXX", place(), prefix));
    AT_NEED(g->folder);
    if (mkdtemp(g->folder)) {
        g->folder_lock = open_locked(g->folder);
        return AT_OK;
    }
    free(g->folder);
    g->folder = NULL;
    return at_fail(err, AT_E_OUTPUT, "no folder for the task's files: %s", strerror(errno));
}

void at_agent_drop_folder(agent *g) {
    if (!g->folder) return;
    nftw(g->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    if (g->folder_lock >= 0) close(g->folder_lock);
    free(g->folder);
    g->folder = NULL;
}

at_status at_agent_put_file(agent *g, at_arena *a, const char *name, const char *bytes, size_t len,
                            const char **path, at_error *err) {
    name = at_base_name(name);
    if (!*name || *name == '.')
        return at_fail(err, AT_E_USAGE, "\"%s\" is no name of a file", name);
    if (!g->folder) AT_TRY(make_folder(g, a, err));
    *path = at_format(a, "%s/%s", g->folder, name);
    return at_write_file(*path, bytes, len, err);
}

/* A file below the folder, and the folders on its way. */
static at_status put_below(agent *g, at_arena *a, const char *name, const char *bytes, size_t len,
                           at_error *err) {
    for (const char *p = name; *p; p += strcspn(p, "/"), p += *p == '/') {
        size_t n = strcspn(p, "/");
        if (!n || *p == '.' || n > 200)
            return at_fail(err, AT_E_USAGE, "\"%s\" is no name of a file", name);
    }
    char *path = at_format(a, "%s/%s", g->folder, name);
    AT_TRY(at_make_folder(path, err));
    return at_write_file(path, bytes, len, err);
}

static at_status put_data(agent *g, at_arena *a, const char *name, const char *text,
                          at_error *err) {
    char *bytes;
    size_t len;
    if (!at_base64_read(a, text, &bytes, &len))
        return at_fail(err, AT_E_INPUT, "the bytes of %s are no base64", name);
    return put_below(g, a, name, bytes, len, err);
}

at_status at_agent_put_files(agent *g, at_arena *a, const char *json, at_error *err) {
    const at_json *files;
    if (!*json) return AT_OK;
    AT_TRY(at_json_parse(a, json, strlen(json), &files, err));
    if (files->kind != AT_JSON_OBJECT)
        return at_fail(err, AT_E_INPUT, "the task's files are no object");
    for (const at_json *f = files->child; f; f = f->next) {
        const char *data = at_json_string_in(f, "base64");
        if (f->kind == AT_JSON_STRING)
            AT_TRY(put_below(g, a, f->key, f->string, strlen(f->string), err));
        else if (data) AT_TRY(put_data(g, a, f->key, data, err));
    }
    return AT_OK;
}
