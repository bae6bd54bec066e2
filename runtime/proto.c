/* runtime/proto.c: messages between parent and worker over a socket pair, whole or not at all. */
#include "runtime/runtime_int.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAGIC 0x61754b21u
#define MAX_JOB_BYTES (1u << 30)
#define MAX_REPLY_BYTES                                                                            \
    (1u << 16) /* a worker whose memory a kernel has overwritten may say anything */

typedef struct head {
    uint32_t magic, type;
    uint64_t size_bytes;
} head;

/* ---- transport ------------------------------------------------------------------------------ */

static at_io wait_for(const at_channel *c, short events) {
    for (;;) {
        if (at_is_stopped(c->stop)) return AT_IO_STOPPED;
        struct pollfd p = {.fd = c->fd, .events = events};
        int ready = at_wait(&p, 1, c->deadline_ns);
        if (ready == AT_WAIT_LATE) return AT_IO_TIMEOUT;
        if (ready == AT_WAIT_FAILED) return AT_IO_CLOSED;
        if (ready) return AT_IO_OK;
    }
}

/* Room for one descriptor beside a message's first bytes. */
typedef union passing {
    char room[CMSG_SPACE(sizeof(int))];
    struct cmsghdr aligned;
} passing;

static void pass_fd(struct msghdr *m, passing *p, int fd) {
    m->msg_control = p->room;
    m->msg_controllen = sizeof p->room;
    struct cmsghdr *c = CMSG_FIRSTHDR(m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
}

static int passed_fd(struct msghdr *m) {
    int fd = 0;
    struct cmsghdr *c = CMSG_FIRSTHDR(m);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(sizeof fd))
        memcpy(&fd, CMSG_DATA(c), sizeof fd);
    return fd;
}

at_io at_msg_send(const at_channel *c, at_msg_type type, const void *data, size_t size_bytes) {
    head h = {MAGIC, (uint32_t)type, size_bytes};
    size_t sent = 0, total = sizeof h + size_bytes;
    while (sent < total) {
        struct iovec part[2];
        struct msghdr m = {.msg_iov = part};
        passing with;
        if (!sent && c->pass_fd) pass_fd(&m, &with, c->pass_fd);
        if (sent < sizeof h) {
            part[m.msg_iovlen++] = (struct iovec){(char *)&h + sent, sizeof h - sent};
        }
        size_t done = sent > sizeof h ? sent - sizeof h : 0;
        if (size_bytes > done) {
            part[m.msg_iovlen++] = (struct iovec){(char *)data + done, size_bytes - done};
        }
        ssize_t n = sendmsg(c->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n >= 0) {
            sent += (size_t)n;
        } else if (errno == EAGAIN) {
            at_io io = wait_for(c, POLLOUT);
            if (io != AT_IO_OK) return io;
        } else if (errno != EINTR) {
            return AT_IO_CLOSED;
        }
    }
    return AT_IO_OK;
}

/* fd: that comes along, 0: none; NULL: nobody takes one. */
static at_io receive_bytes(const at_channel *c, void *data, size_t size_bytes, int *fd) {
    size_t got = 0;
    while (got < size_bytes) {
        struct iovec part = {(char *)data + got, size_bytes - got};
        passing with;
        struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
        if (fd && !*fd) m.msg_control = with.room, m.msg_controllen = sizeof with.room;
        ssize_t n = recvmsg(c->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        if (n > 0) {
            if (m.msg_controllen) *fd = passed_fd(&m);
            got += (size_t)n;
        } else if (n == 0) {
            return AT_IO_CLOSED;
        } else if (errno == EAGAIN) {
            at_io io = wait_for(c, POLLIN);
            if (io != AT_IO_OK) return io;
        } else if (errno != EINTR) {
            return AT_IO_CLOSED;
        }
    }
    return AT_IO_OK;
}

static bool is_job(at_msg_type type) {
    return type == AT_MSG_JOB || type == AT_MSG_ANCHOR || type == AT_MSG_AHEAD;
}

static size_t most_bytes(at_msg_type type) {
    if (is_job(type)) return MAX_JOB_BYTES;
    return type == AT_MSG_OUTPUT ? sizeof(at_output_head) + AT_OUTPUT_BYTES : MAX_REPLY_BYTES;
}

at_io at_msg_receive(const at_channel *c, at_msg *m) {
    head h;
    if (m->fd) close(m->fd);
    m->fd = 0;
    at_io io = receive_bytes(c, &h, sizeof h, &m->fd);
    if (io != AT_IO_OK) return io;
    if (h.magic != MAGIC || h.type == 0 || h.type >= AT_MSG_END) return AT_IO_GARBLED;
    if (h.size_bytes > most_bytes((at_msg_type)h.type)) return AT_IO_GARBLED;
    m->type = (at_msg_type)h.type;
    m->size_bytes = (size_t)h.size_bytes;
    if (m->size_bytes > m->cap_bytes) {
        free(m->data);
        m->data = malloc(m->size_bytes);
        if (!m->data) at_out_of_memory(m->size_bytes);
        m->cap_bytes = m->size_bytes;
    }
    return receive_bytes(c, m->data, m->size_bytes, NULL);
}

/* ---- a job as bytes --------------------------------------------------------------------------
 *
 * A fixed part, then pieces in the order both functions below walk them in; each piece starts at a
 * multiple of 16 bytes, so that arrays can be used where they lie. */

#define PIECE 16
#define NO_PIECE UINT64_MAX /* NULL, as opposed to an empty piece */

typedef struct fixed_part {
    at_job job;
    int64_t store_bytes;
} fixed_part;

static void pad(at_text *t) {
    static const char zeros[PIECE];
    at_text_addn(t, zeros, (PIECE - t->len % PIECE) % PIECE);
}

static void put(at_text *t, const void *data, size_t size_bytes) {
    uint64_t length[PIECE / sizeof(uint64_t)] = {data ? size_bytes : NO_PIECE};
    at_text_addn(t, (const char *)length, sizeof length);
    if (data) at_text_addn(t, data, size_bytes);
    pad(t);
}

static void put_string(at_text *t, const char *s) { put(t, s, s ? strlen(s) + 1 : 0); }

static int count_outputs(const at_job *job) {
    int n = 0;
    for (int i = 0; i < job->num_bufs; i++) n += job->bufs[i].role == AT_BUF_OUT;
    return n;
}

void at_encode_job(const at_job *job, int64_t store_bytes, at_text *out) {
    fixed_part fixed = {*job, store_bytes};
    at_text_clear(out);
    at_text_addn(out, (const char *)&fixed, sizeof fixed);
    pad(out);
    put(out, job->bufs, sizeof *job->bufs * (size_t)job->num_bufs);
    put(out, job->blobs, sizeof *job->blobs * (size_t)job->num_blobs);
    put(out, job->expected_offset, sizeof *job->expected_offset * (size_t)count_outputs(job));
    put_string(out, job->source);
    put_string(out, job->object);
    put_string(out, job->entry);
    put_string(out, job->pack);
    for (int i = 0; i < job->num_bufs; i++) put_string(out, job->bufs[i].name);
    for (int i = 0; i < job->num_blobs; i++) {
        put_string(out, job->blobs[i].symbol);
        put(out, job->blobs[i].bytes, (size_t)job->blobs[i].size_bytes);
    }
}

typedef struct reader {
    char *data;
    size_t pos, size_bytes;
    bool bad;
} reader;

/* The next piece, of exactly this size; any size if -1. */
static void *get(reader *r, int64_t size_bytes) {
    uint64_t length;
    r->pos = (r->pos + PIECE - 1) / PIECE * PIECE;
    if (r->bad || r->pos + PIECE > r->size_bytes) return r->bad = true, NULL;
    memcpy(&length, r->data + r->pos, sizeof length);
    r->pos += PIECE;
    if (length == NO_PIECE) return NULL;
    if (length > r->size_bytes - r->pos || (size_bytes >= 0 && length != (uint64_t)size_bytes)) {
        return r->bad = true, NULL;
    }
    void *p = r->data + r->pos;
    r->pos += length;
    return p;
}

static char *get_string(reader *r) {
    char *s = get(r, -1);
    if (s && (s == r->data + r->pos || r->data[r->pos - 1])) r->bad = true; /* it has no end */
    return s;
}

bool at_job_store_bytes(const at_msg *m, int64_t *bytes) {
    fixed_part fixed;
    if (!is_job(m->type) || m->size_bytes < sizeof fixed) return false;
    memcpy(&fixed, m->data, sizeof fixed);
    *bytes = fixed.store_bytes;
    return true;
}

bool at_decode_job(at_msg *m, at_job *job) {
    fixed_part fixed;
    if (!is_job(m->type) || m->size_bytes < sizeof fixed) return false;
    memcpy(&fixed, m->data, sizeof fixed);
    *job = fixed.job;
    job->object_fd = m->fd;
    m->fd = 0;
    if (job->num_bufs < 0 || job->num_bufs > AT_MAX_BUFS || job->num_blobs < 0 ||
        !at_vector_set_name(job->vector_set))
        return false;
    reader r = {m->data, sizeof fixed, m->size_bytes, false};
    at_buf *bufs = get(&r, (int64_t)sizeof *bufs * job->num_bufs);
    at_blob *blobs = get(&r, (int64_t)sizeof *blobs * job->num_blobs);
    if (r.bad || (job->num_bufs && !bufs) || (job->num_blobs && !blobs)) return false;
    job->bufs = bufs;
    job->blobs = blobs;
    job->expected_offset = get(&r, (int64_t)sizeof *job->expected_offset * count_outputs(job));
    job->source = get_string(&r);
    job->object = get_string(&r);
    job->entry = get_string(&r);
    job->pack = get_string(&r);
    for (int i = 0; i < job->num_bufs; i++) bufs[i].name = get_string(&r);
    for (int i = 0; i < job->num_blobs; i++) {
        blobs[i].symbol = get_string(&r);
        if (blobs[i].size_bytes < 0) return false;
        blobs[i].bytes = get(&r, blobs[i].size_bytes);
        if (blobs[i].size_bytes && !blobs[i].bytes) return false;
    }
    return !r.bad;
}

/* ---- an outcome as bytes --------------------------------------------------------------------- */

void at_outcome_clear(at_outcome *o) { memset(o, 0, offsetof(at_outcome, pairs)); }

/* A kernel may have overwritten the number. */
size_t at_outcome_bytes(const at_outcome *o) {
    int n = o->num_pairs >= 0 && o->num_pairs <= AT_MAX_PAIRS ? o->num_pairs : 0;
    return offsetof(at_outcome, pairs) + (size_t)n * sizeof *o->pairs;
}

/* ---- versions ------------------------------------------------------------------------------- */

void at_protocol_text(char out[AT_PROTOCOL_BYTES]) {
    snprintf(out, AT_PROTOCOL_BYTES, "%d/%zu/%zu/%zu/%zu/%zu", AT_PROTOCOL, sizeof(at_job),
             sizeof(at_buf), sizeof(at_blob), sizeof(at_outcome), sizeof(at_crash));
}
