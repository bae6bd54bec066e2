/* Messages between parent and worker, as bytes on their socket. A kernel may overwrite the memory
 * of its worker, so nothing that arrives may harm the reader. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/runtime_int.h"

enum { MOST_BYTES = 65536 }; /* fit a socket's buffer */

static const at_buf bufs[] = {{.name = "data", .role = AT_BUF_IN, .offset = 0, .size_bytes = 64},
                              {.name = "out", .role = AT_BUF_OUT, .offset = 64, .size_bytes = 64}};
static const uint8_t code[] = {0xc3};
static const at_blob blobs[] = {{"tile", code, sizeof code}};
static const int64_t expected[] = {128};
static const at_job job = {.compiler = AT_TCC,
                           .source = "int k(void **b, void *w, void *p) { return 0; }",
                           .blobs = blobs,
                           .num_blobs = 1,
                           .entry = "k",
                           .pack = "p",
                           .bufs = bufs,
                           .num_bufs = 2,
                           .threads = 1,
                           .expected_offset = expected};

static volatile size_t sink; /* what is read must not be optimised away */

static size_t sum(const char *s) { return s ? strlen(s) : 0; }

/* Everything that the worker may look at. */
static size_t read_all(const at_job *j) {
    size_t n = sum(j->source) + sum(j->object) + sum(j->entry) + sum(j->pack);
    for (int i = 0; i < j->num_bufs; i++)
        n += sum(j->bufs[i].name) + (size_t)(j->bufs[i].size_bytes & 1);
    for (int i = 0; i < j->num_blobs; i++) {
        n += sum(j->blobs[i].symbol);
        for (int k = 0; k < j->blobs[i].size_bytes; k++) n += j->blobs[i].bytes[k];
    }
    for (int i = 0, k = 0; i < j->num_bufs && j->expected_offset; i++)
        if (j->bufs[i].role == AT_BUF_OUT) n += (size_t)(j->expected_offset[k++] & 1);
    return n;
}

static void receive(at_msg *m) {
    at_job decoded;
    at_crash crash;
    int64_t store_bytes;
    char text[1024];
    if (m->type == AT_MSG_JOB && at_job_store_bytes(m, &store_bytes) && at_decode_job(m, &decoded))
        sink = read_all(&decoded);
    if (m->type == AT_MSG_CRASH && m->size_bytes == sizeof crash) {
        memcpy(&crash, m->data, sizeof crash);
        at_crash_text(&crash, &job, text, sizeof text);
        sink = strlen(text);
    }
}

static void run(const uint8_t *data, size_t size) {
    int pair[2];
    at_msg m = {0};
    if (size > MOST_BYTES) return;
    AT_ASSERT(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
    AT_ASSERT(write(pair[0], data, size) == (ssize_t)size);
    close(pair[0]);
    at_channel c = {.fd = pair[1], .deadline_ns = at_awake_ns() + NS_PER_S};
    while (at_msg_receive(&c, &m) == AT_IO_OK) receive(&m);
    close(pair[1]);
    free(m.data);
}

/* One message of each sort, as it goes over the socket. */
static bool seed(int i, at_text *out) {
    at_crash crash = {.signal = SIGSEGV, .is_page_fault = true, .place = 1, .distance = 4};
    at_outcome outcome = {.num_costs = 1};
    at_text payload = {0};
    at_msg_type type;
    int pair[2];
    char bytes[MOST_BYTES];
    switch (i) {
    case 0:
        type = AT_MSG_JOB;
        at_encode_job(&job, 256, &payload);
        break;
    case 1:
        type = AT_MSG_CRASH;
        at_text_addn(&payload, (const char *)&crash, sizeof crash);
        break;
    case 2:
        type = AT_MSG_OUTCOME;
        at_text_addn(&payload, (const char *)&outcome, at_outcome_bytes(&outcome));
        break;
    case 3: type = AT_MSG_COMPILED; break;
    default: return false;
    }
    AT_ASSERT(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
    AT_ASSERT(at_msg_send(&(at_channel){.fd = pair[0]}, type, payload.data, payload.len) ==
              AT_IO_OK);
    close(pair[0]);
    for (ssize_t n; (n = read(pair[1], bytes, sizeof bytes)) > 0;)
        at_text_addn(out, bytes, (size_t)n);
    close(pair[1]);
    at_text_free(&payload);
    return true;
}

const fuzz_target fuzz_message = {"message", run, seed, 1};
