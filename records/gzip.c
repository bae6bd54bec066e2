/* records/gzip.c: logs that were compressed with gzip, read as they are; the only user of zlib.
 * Several gzip files in a row are one text, as gzip itself has it. */
#include "records/records_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum {
    BLOCK_BYTES = AT_GUNZIP_HEAD_MAX,
    GZIP_ONLY = 15 + 16, /* largest window; a gzip header, and no other */
    /* Logs shrink to a tenth. What is small does no harm: recorded spaces may be mostly empty. */
    MOST_EXPANSION = 200,
    ALWAYS_BYTES = 1 << 20,
};

struct at_gunzip {
    int fd;
    z_stream stream;
    bool at_end;  /* of the file */
    bool between; /* one member has ended and no other has begun */
    uint64_t in_bytes, out_bytes;
    unsigned char buf[BLOCK_BYTES];
};

bool at_is_gzip(const char *head, size_t len) { return len >= 2 && !memcmp(head, "\x1f\x8b", 2); }

at_gunzip *at_gunzip_new(int fd, const char *head, size_t len) {
    at_gunzip *z = calloc(1, sizeof *z);
    AT_ASSERT(z && len <= sizeof z->buf);
    z->fd = fd;
    if (len) memcpy(z->buf, head, len);
    z->stream.next_in = z->buf;
    z->stream.avail_in = (unsigned)len;
    AT_ASSERT(inflateInit2(&z->stream, GZIP_ONLY) == Z_OK);
    return z;
}

void at_gunzip_free(at_gunzip *z) {
    if (!z) return;
    inflateEnd(&z->stream);
    free(z);
}

/* More bytes of the file, if there are any. */
static at_status fill(at_gunzip *z, const char *path, at_error *err) {
    ssize_t got;
    do got = read(z->fd, z->buf, sizeof z->buf);
    while (got < 0 && errno == EINTR);
    if (got < 0) return at_fail(err, AT_E_INPUT, "cannot read %s: %s", path, strerror(errno));
    z->at_end = !got;
    z->stream.next_in = z->buf;
    z->stream.avail_in = (unsigned)got;
    return AT_OK;
}

at_status at_gunzip_read(at_gunzip *z, const char *path, char *out, size_t cap, size_t *got,
                         bool *torn, at_error *err) {
    *got = 0;
    *torn = false;
    z->stream.next_out = (unsigned char *)out;
    z->stream.avail_out = cap > 1u << 30 ? 1u << 30 : (unsigned)cap;
    unsigned room = z->stream.avail_out;
    while (z->stream.avail_out == room) {
        if (!z->stream.avail_in && !z->at_end) AT_TRY(fill(z, path, err));
        if (!z->stream.avail_in) {
            *torn = !z->between;
            return AT_OK;
        }
        if (z->between) {
            /* gzip, too, lets pass what tapes pad files with, and nothing else. */
            if (!*z->stream.next_in) {
                z->stream.next_in++, z->stream.avail_in--;
                continue;
            }
            inflateReset(&z->stream);
            z->between = false;
        }
        unsigned before = z->stream.avail_in;
        int code = inflate(&z->stream, Z_NO_FLUSH);
        z->in_bytes += before - z->stream.avail_in;
        if (code == Z_STREAM_END) z->between = true;
        /* What was whole is handed out first; the error comes again. */
        else if (code != Z_OK && code != Z_BUF_ERROR && z->stream.avail_out == room)
            return at_fail(err, AT_E_INPUT, "cannot read %s: its compressed data are damaged (%s)",
                           path, z->stream.msg ? z->stream.msg : "zlib");
    }
    *got = room - z->stream.avail_out;
    z->out_bytes += *got;
    if (z->out_bytes > ALWAYS_BYTES && z->out_bytes / MOST_EXPANSION > z->in_bytes) {
        *got = 0;
        return at_fail(err, AT_E_INPUT,
                       "cannot read %s: it expands to more than %d times its size; gunzip makes a "
                       "plain file of it, if you trust it",
                       path, MOST_EXPANSION);
    }
    return AT_OK;
}

static at_status gunzip_all(at_arena *a, int fd, const char *path, size_t most_bytes, char **text,
                            size_t *len, at_error *err) {
    static const size_t step = 1 << 20;
    at_gunzip *z = at_gunzip_new(fd, NULL, 0);
    at_text all = {0};
    char *block = at_alloc(a, step);
    size_t got;
    bool torn;
    at_status s;
    while ((s = at_gunzip_read(z, path, block, step, &got, &torn, err)) == AT_OK && got)
        if (at_text_addn(&all, block, got), all.len > most_bytes) break;
    if (s == AT_OK && all.len > most_bytes)
        s = at_fail(err, AT_E_INPUT, "cannot read %s: more than %zu bytes", path, most_bytes);
    if (s == AT_OK && torn)
        s = at_fail(err, AT_E_INPUT, "%s: its compressed data end too early", path);
    *len = all.len;
    *text = s == AT_OK ? at_copy(a, at_text_str(&all), all.len + 1) : NULL;
    at_text_free(&all);
    at_gunzip_free(z);
    return s;
}

at_status at_read_file_gunzip(at_arena *a, const char *path, size_t most_bytes, char **text,
                              size_t *len, at_error *err) {
    char head[2];
    int fd;
    AT_TRY(at_open_file(path, &fd, err));
    bool compressed =
        pread(fd, head, sizeof head, 0) == sizeof head && at_is_gzip(head, sizeof head);
    at_status s = compressed ? gunzip_all(a, fd, path, most_bytes, text, len, err)
                             : at_read_file(a, path, most_bytes, text, len, err);
    close(fd);
    return s;
}

at_status at_read_head_gunzip(at_arena *a, const char *path, size_t most_bytes, char **head,
                              size_t *len, at_error *err) {
    int fd;
    bool torn;
    AT_TRY(at_open_file(path, &fd, err));
    char *out = at_alloc(a, most_bytes + 1);
    at_status s = AT_OK;
    ssize_t got = pread(fd, out, most_bytes, 0);
    *len = got > 0 ? (size_t)got : 0;
    if (at_is_gzip(out, *len)) {
        at_gunzip *z = at_gunzip_new(fd, NULL, 0);
        *len = 0;
        for (size_t n = 1; s == AT_OK && n && *len < most_bytes; *len += n)
            s = at_gunzip_read(z, path, out + *len, most_bytes - *len, &n, &torn, err);
        at_gunzip_free(z);
    }
    close(fd);
    out[*len] = 0;
    *head = out;
    return s;
}

at_status at_refuse_gzip(int fd, const char *path, at_error *err) {
    char head[2];
    if (pread(fd, head, sizeof head, 0) != sizeof head || !at_is_gzip(head, sizeof head))
        return AT_OK;
    return at_fail(err, AT_E_OUTPUT, "%s is compressed; a log that is written to is plain text",
                   path);
}
