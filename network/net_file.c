/* network/net_file.c: files that are mapped: the model, and beside it those of external data. A
 * location leads into the model's folder and below: no absolute path, no "..", no link. */
#include "network/network_int.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Takes fd. */
static at_status map_open(int fd, const char *path, const void **bytes, size_t *size,
                          at_error *err) {
    struct stat st;
    const bool is_file = !fstat(fd, &st) && S_ISREG(st.st_mode);
    *bytes = NULL;
    *size = is_file ? (size_t)st.st_size : 0;
    if (*size) *bytes = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
    const int reason = errno;
    close(fd);
    if (!is_file) return at_fail(err, AT_E_INPUT, "%s is no file", path);
    if (!*size) return at_fail(err, AT_E_INPUT, "%s is empty", path);
    if (*bytes == MAP_FAILED) return at_fail(err, AT_E_INPUT, "%s: %s", path, strerror(reason));
    return AT_OK;
}

at_status net_map_file(const char *path, const void **bytes, size_t *size, at_error *err) {
    int fd;
    AT_TRY(at_open_file(path, &fd, err));
    return map_open(fd, path, bytes, size, err);
}

void net_unmap(const void *bytes, size_t size) {
    if (bytes) munmap((void *)bytes, size);
}

/* ---- external data --------------------------------------------------------------------------- */

typedef struct external_file {
    const char *location, *path;
    const void *bytes;
    size_t size;
} external_file;

struct net_external {
    at_arena *arena;
    const char *path; /* of the model */
    AT_VEC(external_file) files;
};

net_external *net_external_new(at_arena *a, const char *path) {
    net_external *x = AT_NEW(a, net_external);
    x->arena = a;
    x->path = path;
    return x;
}

static at_status file_at(net_external *x, const char *tensor, const char *location,
                         const external_file **out, at_error *err) {
    for (int i = 0; i < x->files.len; i++)
        if (!strcmp(x->files.data[i].location, location)) return *out = &x->files.data[i], AT_OK;
    const char *why, *folder = at_folder_of(x->arena, x->path);
    const int fd = at_open_below(folder, location, &why);
    if (fd < 0)
        return at_fail(err, AT_E_INPUT, "%s: \"%s\": external data \"%s\": %s", x->path, tensor,
                       location, why);
    external_file f = {.location = location,
                       .path = at_format(x->arena, "%s/%s", folder, location)};
    AT_TRY(map_open(fd, f.path, &f.bytes, &f.size, err));
    external_file *kept = at_push(x->arena, &x->files);
    *kept = f;
    *out = kept;
    return AT_OK;
}

at_status net_external_data(net_external *x, const char *tensor, const char *location,
                            int64_t offset, int64_t length, const void **data, int64_t *bytes,
                            at_error *err) {
    const external_file *f = NULL;
    if (!x->path) return at_fail(err, AT_E_INPUT, "\"%s\": its data are in another file", tensor);
    if (!location || !at_leads_below(location))
        return at_fail(
            err, AT_E_INPUT,
            "%s: \"%s\": external data \"%s\": a place in the model's folder is accepted, "
            "without \"..\"",
            x->path, tensor, location ? location : "");
    AT_TRY(file_at(x, tensor, location, &f, err));
    if (offset < 0 || (uint64_t)offset > f->size || length < -1 ||
        (length >= 0 && (uint64_t)length > f->size - (uint64_t)offset))
        return at_fail(err, AT_E_INPUT,
                       "%s: \"%s\": %lld bytes at %lld of \"%s\" lie beyond its end at %zu",
                       x->path, tensor, (long long)length, (long long)offset, location, f->size);
    *data = (const char *)f->bytes + offset;
    *bytes = length >= 0 ? length : (int64_t)(f->size - (uint64_t)offset);
    return AT_OK;
}

const char *net_external_path(const net_external *x, int i) {
    return i < x->files.len ? x->files.data[i].path : NULL;
}

void net_external_close(net_external *x) {
    for (int i = 0; i < x->files.len; i++) net_unmap(x->files.data[i].bytes, x->files.data[i].size);
}
