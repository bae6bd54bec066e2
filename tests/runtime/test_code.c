/* What a job brings besides plain C: tiles as bytes, packing, host functions, static data, threads.
 */
#include "rig.h"

#include <string.h>

static void blob(rig *r, at_blob *b, int n) {
    r->job.blobs = b;
    r->job.num_blobs = n;
}

/* void tile(float *out, const float *a, const float *b): out[0] = a[0] + b[0] */
static const uint8_t add_bytes[] = {0xf3, 0x0f, 0x10, 0x06, /* movss (%rsi), %xmm0 */
                                    0xf3, 0x0f, 0x58, 0x02, /* addss (%rdx), %xmm0 */
                                    0xf3, 0x0f, 0x11, 0x07, /* movss %xmm0, (%rdi) */
                                    0xc3};                  /* ret */
static const uint8_t ret_bytes[] = {0xc3};
static const uint8_t trap_bytes[] = {0x90, 0x90, 0x0f, 0x0b}; /* nop; nop; ud2 */

static void tiles(void **state) {
    rig *r = *state;
    at_blob blobs[] = {{"tile_ret", ret_bytes, sizeof ret_bytes},
                       {"tile_add", add_bytes, sizeof add_bytes}};
    blob(r, blobs, 2);
    rig_expect(r,
               "void tile_ret(void), tile_add(float *, const float *, const float *);\n" KERNEL(
                   "if ((long)&tile_add % 64) return 1; tile_ret();"
                   "for (i = 0; i < n; i++) tile_add(out + i, a + i, b + i);"),
               AT_JOB_RAN, "");
}

static void tile_crashes(void **state) {
    rig *r = *state;
    at_blob blobs[] = {{"tile_ret", ret_bytes, sizeof ret_bytes},
                       {"tile_trap", trap_bytes, sizeof trap_bytes}};
    blob(r, blobs, 2);
    rig_expect(r, "void tile_trap(void);\n" KERNEL("tile_trap();"), AT_JOB_CRASHED,
               "SIGILL, illegal instruction, in tile_trap+0x2");
    blobs[1] = (at_blob){"tile_add", add_bytes, sizeof add_bytes};
    r->job.paranoid = true;
    rig_expect(r,
               "void tile_add(float *, const float *, const float *);\n" KERNEL(
                   ADD "tile_add(out + n, a, b);"),
               AT_JOB_CRASHED, "write right at the end of out, in tile_add+0x8");
}

static void many_tiles(void **state) {
    rig *r = *state;
    enum { N = 1000 };
    static at_blob blobs[N + 100];
    static char names[N + 100][16];
    for (int i = 0; i < N + 100; i++) {
        sprintf(names[i], "tile_%d", i);
        blobs[i] = (at_blob){names[i], ret_bytes, sizeof ret_bytes};
    }
    blob(r, blobs, N);
    rig_expect(r, "void tile_999(void);\n" KERNEL(ADD "tile_999();"), AT_JOB_RAN, "");
    blob(r, blobs, N + 100);
    rig_expect(r, KERNEL(ADD), AT_JOB_NOT_COMPILED, "tcc: the tiles exceed the code arena");
}

#define PACK(body)                                                                                 \
    "int k_pack(void *const buf[], void *workspace, at_par *par) {\n"                              \
    "  const float *b = buf[1]; float *p = buf[3]; long i; (void)workspace, (void)par;\n" body     \
    "  return 0;\n}\n"

static void packing(void **state) {
    rig *r = *state;
    at_buf packed = {
        .name = "packed", .role = AT_BUF_PACKED, .offset = -1, .size_bytes = RIG_N * 4};
    r->bufs[3] = packed;
    r->job.num_bufs = 4;
    r->job.pack = "k_pack";
    for (int paranoid = 0; paranoid < 2; paranoid++) {
        r->job.paranoid = paranoid;
        rig_expect(r,
                   KERNEL("const float *p = buf[3]; if ((long)p % 64) return 1;"
                          "for (i = 0; i < n; i++) out[i] = a[i] + p[n - 1 - i];")
                       PACK("for (i = 0; i < 1000; i++) p[999 - i] = b[i];"),
                   AT_JOB_RAN, "");
        rig_expect(r,
                   KERNEL("const float *p = buf[3]; for (i = 0; i < n; i++) out[i] = a[i] + p[i];")
                       PACK("for (i = 1; i < 1000; i++) p[i] = b[i];"),
                   AT_JOB_WRONG, "out[0]: got memory never written");
        rig_expect(r, KERNEL(ADD) PACK("return 3;"), AT_JOB_CRASHED,
                   "the pack function returned 3");
        rig_expect(r, KERNEL(ADD) PACK("*(volatile int *)0 = 0;"), AT_JOB_CRASHED,
                   "in the pack function");
        rig_expect(r, KERNEL(ADD) PACK("p[1000] = 1;"), AT_JOB_CRASHED, "");
    }
}

/* Timed runs find what was packed in another place than the run before, and as it was packed. */
static void packing_in_turn(void **state) {
    static const char text[] = KERNEL("static const float *before; const float *p = buf[3];"
                                      "if (p == before) return 5; before = p;"
                                      "for (i = 0; i < n; i++) out[i] = a[i] + p[n - 1 - i];")
        PACK("for (i = 0; i < 1000; i++) p[999 - i] = b[i];");
    rig *r = *state;
    r->bufs[3] =
        (at_buf){.name = "packed", .role = AT_BUF_PACKED, .offset = -1, .size_bytes = RIG_N * 4};
    r->job.num_bufs = 4;
    r->job.pack = "k_pack";
    rig_expect(r, text, AT_JOB_CRASHED, "the kernel returned 5 when run again");
    r->job.ring_bytes = 1 << 20;
    rig_expect(r, text, AT_JOB_RAN, "");
    r->job.ring_bytes = RIG_N * 4; /* as large as what is packed: there is one copy */
    rig_expect(r, text, AT_JOB_CRASHED, "the kernel returned 5 when run again");
}

static void host_functions(void **state) {
    rig_expect(
        *state,
        "float sqrtf(float), fabsf(float); void *memcpy(void *, const void *, unsigned long);\n"
        "struct big { long x[20]; };\n"
        "static long sum(struct big s) { long i, t = 0; for (i = 0; i < 20; i++) t += s.x[i]; "
        "return t; }\n" KERNEL(
            "struct big s = {{0}}, t; unsigned long u = 1UL << 63; float line[16];\n"
            "s.x[3] = 5; t = s; if (sum(t) != 5) return 1;\n"
            "if (sqrtf(16) != 4 || fabsf(-2) != 2) return 2;\n"
            "if ((float)u != 0x1p63f || (double)u != 0x1p63 || (unsigned long)0x1p63 != u) return "
            "3;\n"
            "memcpy(line, a, 64); if (line[3] != a[3]) return 4;" ADD),
        AT_JOB_RAN, "");
}

static void static_data(void **state) {
    /* Zeroed afresh in every job, although the arena is the last job's. */
    for (int i = 0; i < 3; i++) {
        rig_expect(*state,
                   "static int zero[1000], one = 1; static float line[64] "
                   "__attribute__((aligned(64)));\n" KERNEL(
                       "if ((long)line % 64) return 2;"
                       "for (i = 0; i < 1000; i++) if (zero[i] != one - 1) return 3; else zero[i] "
                       "= one - 1;" ADD),
                   AT_JOB_RAN, "");
        rig_expect(
            *state,
            "static int junk[1000];\n" KERNEL("for (i = 0; i < 1000; i++) junk[i] = -1;" ADD),
            AT_JOB_RAN, "");
    }
}

static void parallel(void **state) {
    rig *r = *state;
    r->job.threads = 3;
    r->job.workspace_bytes = 3 * 64;
    rig_expect(
        r,
        "struct args { const float *a, *b; float *out; char *slices; };\n"
        "static void body(long i, int thread, void *context) {\n"
        "  struct args *x = context; float *mine = (float *)(x->slices + 64 * thread); long k;\n"
        "  for (k = 100 * i; k < 100 * i + 100; k++) { *mine = x->a[k] + x->b[k]; x->out[k] = "
        "*mine; }\n"
        "}\n" KERNEL("struct args x; x.a = a; x.b = b; x.out = out; x.slices = workspace;\n"
                     "if (par->threads != 3) return 1; par->parallel_for(body, 10, &x);"),
        AT_JOB_RAN, "");
    /* A crash in whichever thread. */
    rig_expect(
        r,
        "static void body(long i, int thread, void *context) { *(volatile int *)0 = 1; }\n" KERNEL(
            "par->parallel_for(body, 10, out);"),
        AT_JOB_CRASHED, "SIGSEGV at 0x0");
}

/* Two turns that share scratch, a sum, or a result are found each time, whether or not threads met.
 */
static void shared_by_turns(void **state) {
    static const char *const turns[] = {
        /* one scratch for all threads */
        "float *mine = (float *)x->slices; for (k = 100 * i; k < 100 * i + 100; k++) { *mine = "
        "x->a[k] + x->b[k]; x->out[k] = *mine; }",
        /* partial sums, joined without a lock */
        "if (i < 5) for (k = 200 * i; k < 200 * i + 200; k++) x->out[k] += x->a[k]; else for (k = "
        "200 * (i - 5); k < 200 * (i - 4); k++) x->out[k] += x->b[k];",
        /* what the turn before has left */
        "float *sum = (float *)x->slices; for (k = 100 * i; k < 100 * i + 100; k++) x->out[k] = "
        "x->a[k] + x->b[k] + (i ? sum[i - 1] : 0); sum[i] = 0;",
        /* a band that overlaps the next one, with other values */
        "for (k = 100 * i; k < 100 * i + 100; k++) x->out[k] = x->a[k] + x->b[k]; if (i < 9) "
        "x->out[k] = x->a[k];"};
    rig *r = *state;
    r->job.threads = 2;
    r->job.workspace_bytes = 2 * 64;
    for (int again = 0; again < 10; again++)
        for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
            char text[2048];
            snprintf(text, sizeof text,
                     "struct args { const float *a, *b; float *out; char *slices; };\n"
                     "static void body(long i, int thread, void *context) {\n"
                     "  struct args *x = context; long k;\n %s\n}\n%s",
                     turns[i],
                     KERNEL("struct args x; x.a = a; x.b = b; x.out = out; x.slices = workspace;\n"
                            "for (i = 0; i < n; i++) out[i] = 0;\n"
                            "for (i = 0; i < 32; i++) ((float *)workspace)[i] = 1;\n"
                            "par->parallel_for(body, 10, &x);"));
            rig_expect(r, text, AT_JOB_WRONG, "");
        }
}

static void integers(void **state) {
    rig *r = *state;
    at_buf saved = r->bufs[2];
    r->bufs[2].type = AT_S32;
    int32_t *expected = (int32_t *)(void *)r->expected;
    float floats[RIG_N];
    memcpy(floats, r->expected, sizeof floats);
    for (int i = 0; i < RIG_N; i++) expected[i] = 1000000007 + i;
    rig_expect(r, KERNEL("for (i = 0; i < n; i++) ((int *)out)[i] = 1000000007 + i;"), AT_JOB_RAN,
               "");
    rig_expect(r, KERNEL("for (i = 0; i < n; i++) ((int *)out)[i] = 1000000006 + i;"), AT_JOB_WRONG,
               "out[0]: got 1000000006, expected 1000000007; 1000 of 1000 elements differ");
    assert_true(r->outcome.max_error == 1);
    memcpy(r->expected, floats, sizeof floats);
    r->bufs[2] = saved;
}

static void without_expected(void **state) {
    rig *r = *state;
    r->job.expected_offset = NULL;
    r->job.run_only = true;
    memset(r->out, 0, RIG_N * 4);
    rig_expect(r, KERNEL(ADD), AT_JOB_RAN, "");
    assert_int_equal(r->outcome.num_costs, 0);
    assert_memory_equal(r->out, r->expected, RIG_N * 4);
    rig_expect(r, KERNEL("for (i = 0; i < n; i++) if (i != 77) out[i] = 1;"), AT_JOB_WRONG,
               "out[77]: never written; 1 of 1000 elements have no value");
    r->job.run_only = false;
    rig_expect(r, KERNEL(ADD), AT_JOB_RAN, "");
    assert_true(r->outcome.num_costs > 0);
    /* With expected values the store stays as it is. */
    memset(r->out, 0, RIG_N * 4);
    r->job.expected_offset = r->expected_offset;
    rig_expect(r, KERNEL(ADD), AT_JOB_RAN, "");
    assert_true(r->out[0] == 0);
}

static void store_grows(void **state) {
    rig *r = *state;
    at_error err;
    for (int64_t mib = 1; mib <= 64; mib *= 4) {
        int64_t offset = -1;
        assert_int_equal(at_store_reserve(r->store, "more", mib << 20, &offset, &err), AT_OK);
        r->a = at_store_at(r->store, offset + (mib << 20) - RIG_N * 4);
        r->bufs[0].offset = offset + (mib << 20) - RIG_N * 4;
        r->b = at_store_at(r->store, r->bufs[1].offset);
        r->out = at_store_at(r->store, r->bufs[2].offset);
        r->expected = at_store_at(r->store, r->expected_offset[0]);
        for (int i = 0; i < RIG_N; i++) {
            r->a[i] = (float)(i % 7 - (int)mib);
            r->expected[i] = r->a[i] + r->b[i];
        }
        rig_expect(r, KERNEL(ADD), AT_JOB_RAN, "");
    }
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
#define TEST(f) cmocka_unit_test_setup(f, rig_reset)
    const struct CMUnitTest tests[] = {
        TEST(tiles),           TEST(tile_crashes),   TEST(many_tiles),       TEST(packing),
        TEST(packing_in_turn), TEST(host_functions), TEST(static_data),      TEST(parallel),
        TEST(shared_by_turns), TEST(integers),       TEST(without_expected), TEST(store_grows),
    };
    return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
