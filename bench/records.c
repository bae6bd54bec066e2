/* bench/records.c: how fast a log is read: each line parsed, its entity and its member of ours,
 * too. Beside it the same bytes only searched for line ends, which is what the memory allows. */
#include "bench/bench.h"

#include <string.h>
#include <unistd.h>

#include "records/records.h"

enum { LINES = 40000, ROUNDS = 7 };
static const char path[] = "build/bench/records.log";

static const char foreign[] =
    "{\"input\": [\"llvm -mcpu=skylake-avx512\", \"conv2d_NCHWc.x86\", [[\"TENSOR\", [1, 64, 56, "
    "56], \"float32\"], [\"TENSOR\", [64, 64, 3, 3], \"float32\"], [1, 1], [1, 1, 1, 1], [1, 1], "
    "\"NCHW\", \"NCHW\", \"float32\"], {}], \"config\": {\"index\": %d, \"code_hash\": null, "
    "\"entity\": [[\"tile_ic\", \"sp\", [-1, 16]], [\"tile_oc\", \"sp\", [-1, 16]], [\"tile_ow\", "
    "\"sp\", [-1, 28]], [\"unroll_kw\", \"ot\", true]]}, \"result\": [[0.00012345678901234567], 0, "
    "1.5, 1700000000.25], \"version\": 0.2, \"tvm_version\": \"0.12.0\"%s}\n";
static const char extra[] =
    ", \"autotune\": {\"version\": \"0.1.0\", \"compiler_version\": \"0.9.27\", \"cpu_flags\": "
    "\"avx f16c fma avx2 avx512f avx512dq avx512cd avx512bw avx512vl\", \"tuner\": \"xgb\", "
    "\"sample_kind\": \"full\", \"check\": \"exact\", \"code_hash\": "
    "\"0fd219d9499a505fb209ec2665bacde8\", \"seed\": 0, \"samples_s\": [7.320566666666667e-05, "
    "7.584133333333333e-05, 7.300400000000001e-05, 7.272600000000001e-05, 7.2774e-05], "
    "\"number\": 3, \"repeat\": 5, \"gflops\": 197.96939497770765, \"peak_gflops\": "
    "239.98344840718383, \"context\": {\"cpu\": \"Some CPU\", \"isa\": \"avx512\", \"compiler\": "
    "\"tcc\", \"packing\": \"ahead\", \"cache\": \"hot\", \"template\": "
    "\"93dd1fdec50828e5efee80f893085197\", \"threads\": 1}, \"context_hash\": "
    "\"7a64754f5153d95b4f598c1df7946143\"}";

static at_status read_all(int64_t *records, at_error *err) {
    at_log_reader *r;
    at_record record;
    AT_TRY(at_log_reader_open(path, NULL, NULL, &r, err));
    while (at_log_reader_next(r, &record)) {
    }
    *records = at_log_reader_stats(r)->records;
    at_status s = at_log_reader_status(r, err);
    at_log_reader_close(r);
    return s;
}

static int count_lines(const char *text, size_t len) {
    int n = 0;
    for (const char *p = text; (p = memchr(p, '\n', len - (size_t)(p - text))); p++) n++;
    return n;
}

static at_status measure(const char *what, const char *more, at_error *err) {
    at_arena *a = at_arena_new();
    at_text text = {0};
    double read[ROUNDS], search[ROUNDS];
    for (int i = 0; i < LINES; i++) at_text_addf(&text, foreign, i, more);
    at_status s = at_write_file(path, text.data, text.len, err);
    for (int i = 0; i < ROUNDS && s == AT_OK; i++) {
        int64_t records, begin_ns = at_now_ns();
        s = read_all(&records, err);
        int64_t read_ns = at_now_ns();
        if (s == AT_OK && (records != LINES || count_lines(text.data, text.len) != LINES))
            s = at_fail(err, AT_E_BUG, "%lld records were read", (long long)records);
        read[i] = (double)text.len / (double)(read_ns - begin_ns) * 1e3;
        search[i] = (double)text.len / (double)(at_now_ns() - read_ns) * 1e3;
    }
    if (s == AT_OK) {
        at_bench_report_row(what, at_bench_spread_of(read, ROUNDS), AT_BENCH_GOAL_LEAST, 50);
        at_bench_report_row("    line ends only", at_bench_spread_of(search, ROUNDS),
                            AT_BENCH_GOAL_NONE, 0);
    }
    unlink(path);
    at_text_free(&text);
    at_arena_free(a);
    return s;
}

at_status at_bench_records(at_error *err) {
    at_bench_report_section("Reading a log", "MB/s", 0);
    AT_TRY(measure("AutoTVM's records", "", err));
    return measure("ours", extra, err);
}
