/* A whole log, as it lies on the disk, plain or compressed: reading it ends, however it looks. */
#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include "records/records.h"

/* What the comments of ours say. */
static void read_comment(void *arena, const char *comment, int64_t line) {
    at_anchor_line anchor;
    at_objective_line objective;
    at_speeds_line speeds;
    at_final_line final;
    (void)line;
    at_anchor_line_read(arena, comment, &anchor);
    at_objective_line_read(arena, comment, &objective);
    at_speeds_line_read(arena, comment, &speeds);
    at_final_line_read(arena, comment, &final);
}

static void run(const uint8_t *data, size_t size) {
    char path[40];
    at_log_reader *reader;
    at_record r;
    at_error err;
    int fd = memfd_create("log", MFD_CLOEXEC);
    AT_ASSERT(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (at_log_reader_open(path, NULL, NULL, &reader, &err) == AT_OK) {
        at_arena *a = at_arena_new();
        at_log_reader_on_comment(reader, read_comment, a);
        while (at_log_reader_next(reader, &r)) {
        }
        at_arena_free(a);
        at_log_reader_status(reader, &err);
        at_log_reader_close(reader);
    }
    close(fd);
}

static bool seed(int i, at_text *out) {
#define RECORD                                                                                     \
    "{\"input\": [\"c\", \"conv\", [1], {}], \"config\": {\"index\": 3, \"code_hash\": null, "     \
    "\"entity\": []}, \"result\": [[1.0], 0, 2.5, 3.5], \"version\": 0.2}"
    static const char *const texts[] = {
        RECORD "\n" RECORD "\n",
        "# comment\n\n" RECORD "\r\n#final {\"task\": \"conv\", \"args\": [1], \"context_hash\": "
        "\"0123456789abcdef0123456789abcdef\", \"index\": 3, \"entity\": [], \"samples_s\": [0.5, "
        "1.5], \"gflops\": 2.0, \"timestamp\": 1.0}\n{\"input\": torn\n" RECORD,
        "#objective {\"task\": \"conv\", \"args\": [1], \"context_hash\": \"ab\", "
        "\"objective\": \"alone\", \"by\": \"probes\", \"seen\": {\"alone\": 0.9}}\n"
        "#anchor {\"task\": \"conv\", \"args\": [1], \"context_hash\": \"ab\", \"index\": 3, "
        "\"entity\": [], \"code_hash\": \"cd\", \"number\": 1, \"links\": 1, \"linked_to\": 0, "
        "\"pairs\": 200, \"link\": -0.5, \"link_error\": 0.01, \"of_first\": 0.6, \"first\": "
        "\"ef\", \"first_s\": 0.001, \"state\": \"alone\"}\n",
        NULL,
    };
    /* RECORD's first characters, compressed by gzip; the end is missing. */
    static const char zipped[] = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xab\x56\xca\xcc\x2b"
                                 "\x28\x2d\x51\xb2\x52\x88\x56\x4a\x56\xd2\x51";
    if (i < 3) return fuzz_seed_of(texts, i, out);
    if (i == 3) at_text_addn(out, zipped, sizeof zipped - 1);
    return i == 3;
}

const fuzz_target fuzz_log = {"log", run, seed, 1};
