/* A file of another tuner, or a log: refused, or its records can be written in every format, and
 * what is written can be read again. */
#include "tests/fuzz/fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "records/records.h"

static at_status read_text(const at_exchange *x, const void *data, size_t size,
                           const at_file_format **format, at_record **records, int *n,
                           at_error *err) {
    char path[40];
    int fd = memfd_create("file", MFD_CLOEXEC);
    AT_ASSERT(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    at_status s = at_exchange_read(x, path, format, records, n, err);
    close(fd);
    return s;
}

/* A cache merges what is measured again; the other formats keep every record. */
static void check(const at_exchange *x, const at_file_format *to, const at_record *records, int n) {
    at_text out = {0};
    at_error err;
    if (at_exchange_print(x, to, records, n, &out, &err) == AT_OK) {
        const at_file_format *format;
        at_record *again;
        int count;
        if (read_text(x, out.data, out.len, &format, &again, &count, &err) != AT_OK)
            AT_BUG("%s in: %s", err.text, out.data);
        bool merges = !strcmp(to->name, "kernel_tuner");
        if (format != to || count > n || (!merges && count != n))
            AT_BUG("%d records of %d, format %s of %s: %s", count, n, format->name, to->name,
                   out.data);
    } else AT_ASSERT(err.status == AT_E_INPUT);
    at_text_free(&out);
}

static void run(const uint8_t *data, size_t size) {
    at_exchange x = {.arena = at_arena_new()};
    const at_file_format *format;
    at_record *records;
    at_error err;
    int n;
    if (read_text(&x, data, size, &format, &records, &n, &err) == AT_OK) {
        for (int i = 0; at_file_format_at(i); i++) check(&x, at_file_format_at(i), records, n);
    } else AT_ASSERT(err.status == AT_E_INPUT);
    at_arena_free(x.arena);
}

static bool seed(int i, at_text *out) {
    static const char *const texts[] = {
        "{\"input\": [\"c\", \"conv\", [1], {}], \"config\": {\"index\": 3, \"code_hash\": null, "
        "\"entity\": [[\"t\", \"sp\", [-1, 4]], [\"r\", \"re\", [1, 0]], [\"a\", \"an\", "
        "[\"vec\"]], [\"o\", \"ot\", true]]}, \"result\": [[1.0], 0, 2.5, 3.5], \"version\": "
        "0.2, \"autotune\": {\"check\": \"exact\", \"samples_s\": [1.0, 2.0, 3.0], \"context\": "
        "{\"cpu\": \"x\"}}}\n",
        "{\"i\": [\"llvm\", \"topi_x86_conv2d\", [], {}, [\"conv2d\", [1, 3, 8, 8, \"float32\"], "
        "[4, 3, 3, 3, \"float32\"], [1, 1], [1, 1], [1, 1], \"NCHW\", \"float32\"], {\"i\": 1, "
        "\"c\": null, \"e\": [[\"t\", \"sp\", [2, 4]]], \"t\": \"direct\"}], \"r\": [[0.5], 0, "
        "1.0, 2.0], \"v\": 0.1}\n",
        "{\"schema_version\": \"1.0.0\", \"metadata\": {\"autotune\": {\"task\": \"t\", \"args\": "
        "[1], \"target\": \"c\", \"extra\": {\"context\": {\"cpu\": \"x\"}}}}, \"results\": "
        "[{\"timestamp\": \"2022-12-23 12:11:26.5+00:00\", \"configuration\": {\"t.0\": 1, "
        "\"t.1\": 4, \"o\": \"x\"}, \"times\": {\"compilation\": 1, \"runtimes\": [1, 2, 3]}, "
        "\"invalidity\": \"correct\", \"correctness\": 1, \"measurements\": [{\"name\": \"time\", "
        "\"value\": 2.0, \"unit\": \"ms\"}], \"objectives\": [\"time\"]}, {\"configuration\": "
        "{\"t.0\": 2, \"t.1\": 2, \"o\": \"y\"}, \"times\": {}, \"invalidity\": \"timeout\"}]}",
        "{\"device_name\": \"A b\", \"kernel_name\": \"k [1]\", \"problem_size\": 5, "
        "\"tune_params_keys\": [\"a\", \"b.0\"], \"tune_params\": {}, \"objective\": \"time\", "
        "\"cache\": {\"1,x\": {\"a\": 1, \"b.0\": \"x\", \"time\": 1.5, \"times\": [1.0, 2.0], "
        "\"timestamp\": \"2022-12-23T12:11:26Z\"}, \"2,y\": {\"a\": 2, \"b.0\": \"y\", \"time\": "
        "\"InvalidConfig\"},",
        NULL,
    };
    return fuzz_seed_of(texts, i, out);
}

const fuzz_target fuzz_convert = {"convert", run, seed, 1};
