/* The parts that need no worker: CPU facts, names, store, messages, check. */
#include "rig.h"
#include "runtime/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- CPU facts and names -------------------------------------------------------------------- */

static void cpu_facts(void **state) {
    (void)state;
    const at_cpu *c = at_cpu_facts();
    assert_ptr_equal(c, at_cpu_facts());
    assert_true(c->name[0] && c->llvm_name[0] && c->core[0]);
    assert_true(c->cores >= 1 && c->memory_bytes > 0);
}

static bool has(const char *set) { return at_cpu_has_set(at_vector_set(set)); }

static void vector_sets(void **state) {
    (void)state;
    int n = 0;
    for (; at_vector_set_name(n); n++) assert_int_equal(at_vector_set(at_vector_set_name(n)), n);
    assert_int_equal(at_vector_set("neon"), -1);
    assert_false(at_cpu_has_set(-1) || at_cpu_has_set(n));
    assert_null(at_vector_set_name(-1));
    assert_true(at_cpu_has_set(at_cpu_best_set()));
    /* Sets behind it that the CPU has are for integers, or for products of bf16. */
    for (int i = at_cpu_best_set() + 1; i < n; i++)
        assert_true(!at_cpu_has_set(i) || strstr(at_vector_set_name(i), "vnni") ||
                    strstr(at_vector_set_name(i), "bf16"));
    assert_true(has("scalar") && has("sse2"));
    assert_true(has("avx2") || !has("avx512"));
    /* The compiler that built this asks the CPU in its own way. */
    assert_int_equal(has("avx2"), __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
    assert_int_equal(has("avx512"), __builtin_cpu_supports("avx512bw") &&
                                        __builtin_cpu_supports("avx512dq") &&
                                        __builtin_cpu_supports("avx512vl"));
}

/* Linux lists what it found out for itself. */
static void cpu_flags(void **state) {
    (void)state;
    char line[8192] = "", mine[256], *rest;
    FILE *f = fopen("/proc/cpuinfo", "re");
    while (f && strncmp(line, "flags", 5) != 0)
        if (!fgets(line, sizeof line, f)) break;
    if (f) fclose(f);
    if (strncmp(line, "flags", 5) != 0) skip();
    line[strcspn(line, "\n")] = ' ';
    int known = 0;
    strcpy(mine, at_cpu_facts()->flags);
    for (char *flag = strtok_r(mine, " ", &rest); flag; flag = strtok_r(NULL, " ", &rest)) {
        char word[32];
        snprintf(word, sizeof word, " %s ", flag);
        if (!strstr(line, word)) fail_msg("Linux does not list %s", flag);
        known++;
    }
    assert_true(known > 0);
    /* And none is missing that decides the instruction set. */
    static const char *const decisive[] = {"avx2", "fma", "avx512f", "avx512bw"};
    for (size_t i = 0; i < sizeof decisive / sizeof *decisive; i++) {
        char word[32];
        snprintf(word, sizeof word, " %s ", decisive[i]);
        if (strstr(line, word)) assert_non_null(strstr(at_cpu_facts()->flags, decisive[i]));
    }
}

/* ---- store ---------------------------------------------------------------------------------- */

static void store(void **state) {
    (void)state;
    at_store *s;
    at_error err;
    int64_t offset, last = -1;
    assert_int_equal(at_store_new(&s, &err), AT_OK);
    for (int i = 0; i < 300; i++) {
        int64_t size = (int64_t)i * 1237;
        assert_int_equal(at_store_reserve(s, "t", size, &offset, &err), AT_OK);
        assert_true(offset % 64 == 0 && offset > last);
        unsigned char *p = at_store_at(s, offset);
        for (int64_t k = 0; k < size + 64; k++) assert_int_equal(p[k], 0);
        memset(p, i, (size_t)size);
        last = offset;
    }
    assert_int_equal(at_store_reserve(s, "data", 412LL << 40, &offset, &err), AT_E_USAGE);
    assert_non_null(strstr(err.text, "with tensor \"data\" the data need 421888."));
    assert_non_null(strstr(err.text, " GiB, this machine has "));
    assert_int_equal(at_store_reserve(s, "data", INT64_MAX, &offset, &err), AT_E_USAGE);
    assert_int_equal(at_store_reserve(s, "data", -4, &offset, &err), AT_E_USAGE);
    assert_int_equal(at_store_reserve(s, "again", 4, &offset, &err), AT_OK);
    at_store_free(s);
    at_store_free(NULL);
}

/* ---- messages ------------------------------------------------------------------------------- */

static void messages(void **state) {
    (void)state;
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    at_channel in = {.fd = pair[0]}, out = {.fd = pair[1]};
    at_msg m = {0};
    /* Larger than any socket's buffer: whole although both sides see pieces. */
    static char text[3000000];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)(i * 7 % 251);
    pid_t pid = fork();
    if (pid == 0) {
        bool sent = at_msg_send(&out, AT_MSG_COMPILED, NULL, 0) == AT_IO_OK &&
                    at_msg_send(&out, AT_MSG_JOB, text, sizeof text) == AT_IO_OK;
        _exit(!sent);
    }
    assert_int_equal(at_msg_receive(&in, &m), AT_IO_OK);
    assert_int_equal(m.type, AT_MSG_COMPILED);
    assert_int_equal(m.size_bytes, 0);
    assert_int_equal(at_msg_receive(&in, &m), AT_IO_OK);
    assert_int_equal(m.size_bytes, sizeof text);
    assert_memory_equal(m.data, text, sizeof text);
    waitpid(pid, NULL, 0);
    /* Byte by byte. */
    assert_int_equal(at_msg_send(&out, AT_MSG_READY, "x", 1), AT_IO_OK);
    char raw[64];
    ssize_t n = recv(pair[0], raw, sizeof raw, 0);
    assert_true(n > 1);
    pid = fork();
    if (pid == 0) {
        for (ssize_t i = 0; i < n; i++) {
            usleep(200);
            if (write(pair[1], raw + i, 1) != 1) _exit(1);
        }
        _exit(0);
    }
    assert_int_equal(at_msg_receive(&in, &m), AT_IO_OK);
    assert_int_equal(m.type, AT_MSG_READY);
    waitpid(pid, NULL, 0);
    /* Neither late, nor stopped, nor nonsense, nor gone is a message. */
    at_channel late = {.fd = pair[0], .deadline_ns = at_awake_ns() + 1000};
    assert_int_equal(at_msg_receive(&late, &m), AT_IO_TIMEOUT);
    volatile int stop = 1;
    at_channel stopped = {.fd = pair[0], .stop = &stop};
    assert_int_equal(at_msg_receive(&stopped, &m), AT_IO_STOPPED);
    memset(raw, 'z', sizeof raw);
    assert_int_equal(write(pair[1], raw, sizeof raw), sizeof raw);
    assert_int_equal(at_msg_receive(&in, &m), AT_IO_GARBLED);
    close(pair[1]);
    while (recv(pair[0], raw, sizeof raw, 0) > 0) {
    }
    assert_int_equal(at_msg_receive(&in, &m), AT_IO_CLOSED);
    assert_int_equal(at_msg_send(&in, AT_MSG_JOB, text, sizeof text), AT_IO_CLOSED);
    close(pair[0]);
    free(m.data);
}

static void job_round_trip(void **state) {
    (void)state;
    const uint8_t bytes[] = {1, 2, 3};
    at_blob blobs[] = {{"tile", bytes, 3}, {"empty", bytes, 0}};
    at_buf bufs[] = {
        {.name = "in", .role = AT_BUF_IN, .type = AT_S32, .offset = 64, .size_bytes = 128},
        {.name = "out", .role = AT_BUF_OUT, .offset = 256, .size_bytes = 4}};
    int64_t expected[] = {320};
    at_job job = {.source = "int x;",
                  .entry = "e",
                  .blobs = blobs,
                  .num_blobs = 2,
                  .bufs = bufs,
                  .num_bufs = 2,
                  .expected_offset = expected,
                  .workspace_bytes = 77,
                  .has_limits = true};
    at_text t = {0};
    at_encode_job(&job, 4096, &t);
    at_msg m = {.type = AT_MSG_JOB, .size_bytes = t.len, .data = t.data};
    at_job got;
    int64_t store_bytes = 0;
    assert_true(at_job_store_bytes(&m, &store_bytes));
    assert_true(at_decode_job(&m, &got));
    assert_int_equal(store_bytes, 4096);
    assert_string_equal(got.source, "int x;");
    assert_string_equal(got.entry, "e");
    assert_null(got.pack);
    assert_null(got.object);
    assert_string_equal(got.bufs[1].name, "out");
    assert_int_equal(got.bufs[1].offset, 256);
    assert_true(got.bufs[0].type == AT_S32);
    assert_int_equal(got.expected_offset[0], 320);
    assert_string_equal(got.blobs[0].symbol, "tile");
    assert_memory_equal(got.blobs[0].bytes, bytes, 3);
    assert_int_equal(got.blobs[1].size_bytes, 0);
    assert_int_equal(got.workspace_bytes, 77);
    assert_true(got.has_limits);
    /* Cut anywhere it is no job. Each length from its own copy, for decoding writes into it. */
    for (size_t n = 0; n < t.len; n++) {
        at_text cut = {0};
        at_encode_job(&job, 4096, &cut);
        m.data = cut.data;
        m.size_bytes = n;
        bool whole = at_decode_job(&m, &got);
        /* Only the last piece's padding may be missing. */
        if (whole) assert_true(n >= t.len - 16);
        at_text_free(&cut);
    }
    at_text_free(&t);
}

/* ---- check ---------------------------------------------------------------------------------- */

static bool check_all(const float *got, const float *expected, bool has_limits, at_outcome *out) {
    at_buf b = {.name = "out", .role = AT_BUF_OUT, .size_bytes = 4 * sizeof(float)};
    memset(out, 0, sizeof *out);
    return at_check_output(&b, got, expected, &(at_job){.has_limits = has_limits}, out);
}

static bool check(const float *got, const float *expected, at_outcome *out) {
    return check_all(got, expected, false, out);
}

/* Four values, then their limits. */
static bool check_limits(const float *got, const float *expected, at_outcome *out) {
    return check_all(got, expected, true, out);
}

static void check_exact(void **state) {
    (void)state;
    at_outcome o;
    float e[4] = {1, -2, 0, 16777216};
    assert_true(check(e, e, &o));
    assert_true(check((float[]){1, -2, -0.0f, 16777216}, e, &o));
    assert_true(o.max_error == 0);
    assert_false(check((float[]){1, -2, 0, 16777215}, e, &o));
    assert_string_equal(o.error, "out[3]: got 16777215, expected 16777216; 1 of 4 elements differ");
    assert_int_equal(o.end, AT_JOB_WRONG);
    assert_true(o.max_error == 1);
    assert_false(check((float[]){NAN, -2, 0, INFINITY}, e, &o));
    assert_non_null(
        strstr(o.error, "nan, expected 1; 2 of 4 elements differ; where the computation"));
    assert_true(isinf(o.max_error));
}

static void each_its_limit(void **state) {
    (void)state;
    at_outcome o;
    const float e[8] = {1e9f, 0.5f, 0, -1, 640, 0.01f, 0.001f, 0};
    assert_true(check_limits((float[]){1e9f + 640, 0.509f, -0.001f, -1}, e, &o));
    assert_true(o.max_error == 640 && o.of_limit == 1);
    assert_true(check_limits((float[]){1e9f - 320, 0.505f, 0, -1}, e, &o));
    assert_true(o.max_error == 320 && o.of_limit > 0.49 && o.of_limit < 0.51);
    assert_false(check_limits((float[]){1e9f + 704, 0.5f, 0, -1}, e, &o));
    assert_string_equal(o.error, "out[0]: got 1.0000007e+09, expected 1e+09 +- 640; 1 of 4 "
                                 "elements differ");
    assert_false(check_limits((float[]){1e9f, 0.511f, 0, -1}, e, &o));
    assert_false(check_limits((float[]){1e9f, 0.5f, 0.0011f, -1}, e, &o));
    assert_false(check_limits((float[]){1e9f, 0.5f, 0, -1.0000001f}, e, &o));
    assert_true(isinf(o.of_limit));
    assert_false(check_limits((float[]){1e9f, NAN, 0, -1}, e, &o));
    assert_false(check_limits((float[]){INFINITY, 0.5f, 0, -1}, e, &o));
}

/* What no float holds is compared as what it is. */
static void not_finite(void **state) {
    (void)state;
    at_outcome o;
    const float e[8] = {INFINITY, -INFINITY, NAN, 1, 0, 0, 0, 0};
    assert_true(check_limits((float[]){INFINITY, -INFINITY, -NAN, 1}, e, &o));
    assert_false(check_limits((float[]){3e38f, -INFINITY, NAN, 1}, e, &o));
    assert_false(check_limits((float[]){INFINITY, INFINITY, NAN, 1}, e, &o));
    assert_false(check_limits((float[]){INFINITY, -INFINITY, 0, 1}, e, &o));
    assert_false(check_limits((float[]){INFINITY, -INFINITY, NAN, NAN}, e, &o));
    assert_false(check_limits((float[]){NAN, -INFINITY, NAN, 1}, e, &o));
}

static void check_poison(void **state) {
    (void)state;
    at_outcome o;
    float got[4], e[4] = {1, 2, 3, 4};
    at_poison(got, 16, AT_POISON_OUT);
    assert_false(check(got, e, &o));
    assert_string_equal(o.error, "out[0]: never written, expected 1; 4 of 4 elements differ");
    const float wide[8] = {1, 2, 3, 4, INFINITY, INFINITY, INFINITY, INFINITY};
    assert_false(check_limits(got, wide, &o));
    /* What is computed from a poison can be told from any other NaN. */
    at_poison(got, 16, AT_POISON_WORK);
    volatile float sum = got[0];
    for (int i = 0; i < 4; i++) got[i] = (sum * 0.25f + 3) - 2;
    assert_false(check(got, e, &o));
    assert_string_equal(o.error,
                        "out[0]: got memory never written, expected 1; 4 of 4 elements differ");
}

/* Something is moved, whatever is asked for, in bounded memory. */
static void bandwidth(void **state) {
    (void)state;
    static const int64_t bytes[][2] = {
        {4, 4}, {1 << 20, 0}, {0, 1 << 20}, {4096, 12288}, {(int64_t)1 << 40, (int64_t)1 << 40}};
    int cpu;
    at_cpu_cores(&cpu, 1);
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        double gbytes = at_bandwidth_gbytes(bytes[i][0], bytes[i][1], 1);
        if (!(gbytes > 0.01 && gbytes < 1e5))
            fail_msg("%g GB/s of %lld and %lld bytes", gbytes, (long long)bytes[i][0],
                     (long long)bytes[i][1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bandwidth),      cmocka_unit_test(cpu_facts),
        cmocka_unit_test(vector_sets),    cmocka_unit_test(cpu_flags),
        cmocka_unit_test(store),          cmocka_unit_test(messages),
        cmocka_unit_test(job_round_trip), cmocka_unit_test(check_exact),
        cmocka_unit_test(each_its_limit), cmocka_unit_test(not_finite),
        cmocka_unit_test(check_poison),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
