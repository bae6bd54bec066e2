/* Whole kernels, called as a program calls them: what belongs to the caller is as it was. TinyCC's
 * code with machine code of each instruction set of this CPU, random entities of every kind of
 * template; on a stack of its own, whose bytes above the call must stay and below which is no
 * memory, with known values in the registers that a function must keep, the modes of floating point
 * and the direction flag as they were, and each buffer between guard pages, at their end and at
 * their beginning. The outputs are right besides.
 *
 * AT_COUNT: entities per task and instruction set; AT_SEED chooses others. */
#include "tests/run/shape.h"
#include "tests/setting.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/engine.h"
#include "tests/kept_registers.h"

enum { PAGE = 4096, STACK_BYTES = 256 << 10, ABOVE_BYTES = 4096, KEPT = 6 };
enum { POISON = 0xa5 };

/* ---- the call -------------------------------------------------------------------------------- */

typedef struct left { /* by a kernel */
    long kept[KEPT];  /* rbx, rbp, r12 to r15 */
    unsigned mxcsr;
    unsigned short x87;
    long flags;
} left;

/* Calls a kernel with this stack, and tells what it left. In assembly since only there are those
 * registers ours to fill. */
int test_call_kernel(void *const *buf, void *workspace, at_par *par, at_kernel_fn *entry,
                     char *stack, left *after);
__asm__(".pushsection .text\n"
        ".type test_call_kernel, @function\n"
        "test_call_kernel:\n" PUSH_KEPT "    mov %rsp, -8(%r8)\n"
        "    mov %r9, -16(%r8)\n"
        "    lea -16(%r8), %rsp\n"
        "    mov $0x7ff8000000000b01, %rbx\n" /* no addresses, as no address begins so */
        "    mov $0x7ff8000000000b02, %rbp\n"
        "    mov $0x7ff8000000000b03, %r12\n"
        "    mov $0x7ff8000000000b04, %r13\n"
        "    mov $0x7ff8000000000b05, %r14\n"
        "    mov $0x7ff8000000000b06, %r15\n"
        "    call *%rcx\n"
        "    mov (%rsp), %rdx\n" STORE_KEPT "    stmxcsr 48(%rdx)\n"
        "    fnstcw 52(%rdx)\n"
        "    pushf\n"
        "    pop %rcx\n"
        "    cld\n"
        "    mov %rcx, 56(%rdx)\n"
        "    mov 8(%rsp), %rsp\n" POP_KEPT "    ret\n"
        ".size test_call_kernel, . - test_call_kernel\n"
        ".popsection\n");
_Static_assert(offsetof(left, mxcsr) == 48 && offsetof(left, x87) == 52 &&
                   offsetof(left, flags) == 56,
               "as the assembly has them");

#define MODES 0xffc0u /* of mxcsr: all but what has happened so far */
#define DIRECTION 0x400

static char *stack; /* its end: ABOVE_BYTES follow, and a page without memory, as before it */

static char *guarded(size_t bytes) {
    size_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
    char *p = mmap(NULL, whole + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    AT_ASSERT(p != MAP_FAILED && !mprotect(p + PAGE, whole, PROT_READ | PROT_WRITE));
    memset(p + PAGE, POISON, whole);
    return p + PAGE;
}

static void in_turn(void (*body)(long i, int thread, void *context), long n, void *context) {
    for (long i = 0; i < n; i++) body(i, 0, context);
}

static const char *call(at_arena *a, at_kernel_fn *entry, void *const *buf, void *workspace) {
    static const char *const names[] = {"rbx", "rbp", "r12", "r13", "r14", "r15"};
    at_par par = {.parallel_for = in_turn, .threads = 1};
    left before = {.flags = 0}, after;
    memset(stack - STACK_BYTES, POISON, STACK_BYTES + ABOVE_BYTES);
    __asm__("stmxcsr %0\n\tfnstcw %1" : "=m"(before.mxcsr), "=m"(before.x87));
    int failed = test_call_kernel(buf, workspace, &par, entry, stack, &after);
    __asm__("ldmxcsr %0" : : "m"(before.mxcsr));
    if (failed) return at_format(a, "it returned %d", failed);
    for (int i = 0; i < KEPT; i++)
        if (after.kept[i] != 0x7ff8000000000b01 + i)
            return at_format(a, "%s is %lx afterwards", names[i], after.kept[i]);
    if ((after.mxcsr ^ before.mxcsr) & MODES)
        return at_format(a, "mxcsr is %x, it was %x", after.mxcsr, before.mxcsr);
    if (after.x87 != before.x87) return at_format(a, "the x87's control word is %x", after.x87);
    if (after.flags & DIRECTION) return "the direction flag is set";
    for (int i = 0; i < ABOVE_BYTES; i++)
        if ((unsigned char)stack[i] != POISON)
            return at_format(a, "it wrote into its caller's frame, %d bytes above its own", i);
    return NULL;
}

/* ---- its memory ------------------------------------------------------------------------------ */

typedef struct memory {
    int num; /* buffers, then the workspace */
    char *map[AT_MAX_BUFS + 1], *at[AT_MAX_BUFS + 1];
    size_t bytes[AT_MAX_BUFS + 1], map_bytes[AT_MAX_BUFS + 1];
} memory;

/* Tensors are aligned to their elements only, what is given beside them to lines. */
static char *place_in(char *map, size_t map_bytes, size_t bytes, bool is_tensor, bool at_end) {
    size_t taken = is_tensor ? bytes : (bytes + 63) / 64 * 64;
    return at_end ? map + map_bytes - taken : map;
}

static void place(memory *m, const at_job *job, at_store *store, bool at_end) {
    *m = (memory){.num = job->num_bufs + 1};
    for (int i = 0; i < m->num; i++) {
        const at_buf *b = i < job->num_bufs ? &job->bufs[i] : NULL;
        m->bytes[i] = (size_t)(b ? b->size_bytes : job->workspace_bytes);
        m->map_bytes[i] = (m->bytes[i] + PAGE) / PAGE * PAGE;
        m->map[i] = guarded(m->map_bytes[i]);
        m->at[i] = place_in(m->map[i], m->map_bytes[i], m->bytes[i], b && b->role != AT_BUF_PACKED,
                            at_end);
        if (b && b->role == AT_BUF_IN) memcpy(m->at[i], at_store_at(store, b->offset), m->bytes[i]);
        if (b && b->role == AT_BUF_IN) mprotect(m->map[i], m->map_bytes[i], PROT_READ);
    }
}

static const char *written_beside(at_arena *a, const memory *m, const at_job *job) {
    for (int i = 0; i < m->num; i++) {
        size_t before = (size_t)(m->at[i] - m->map[i]), end = before + m->bytes[i];
        for (size_t k = 0; k < m->map_bytes[i]; k++)
            if ((k < before || k >= end) && (unsigned char)m->map[i][k] != POISON)
                return at_format(a, "it wrote beside %s",
                                 i < job->num_bufs ? job->bufs[i].name : "its workspace");
    }
    return NULL;
}

static const char *difference(at_arena *a, const memory *m, const at_job *job, at_store *store) {
    for (int i = 0, out = 0; i < job->num_bufs; i++) {
        if (job->bufs[i].role != AT_BUF_OUT) continue;
        const float *got = (const float *)(const void *)m->at[i];
        const float *expected = at_store_at(store, job->expected_offset[out++]);
        for (size_t k = 0; k < m->bytes[i] / 4; k++)
            if (!(got[k] == expected[k]))
                return at_format(a, "%s[%zu] is %g instead of %g", job->bufs[i].name, k,
                                 (double)got[k], (double)expected[k]);
    }
    return NULL;
}

static void release(memory *m) {
    for (int i = 0; i < m->num; i++) munmap(m->map[i] - PAGE, m->map_bytes[i] + 2 * PAGE);
}

/* ---- entities -------------------------------------------------------------------------------- */

static char what[400]; /* is being called */

static void tell(int number) {
    static const char message[] = "a signal in ";
    (void)number;
    (void)!write(2, message, sizeof message - 1);
    (void)!write(2, what, strlen(what));
    (void)!write(2, "\n", 1);
    _exit(1);
}

/* On a stack of their own, in place of the test library's. */
static void hear_signals(void) {
    static char for_signals[1 << 16];
    struct sigaction act = {.sa_handler = tell, .sa_flags = SA_ONSTACK};
    sigaltstack(&(stack_t){.ss_sp = for_signals, .ss_size = sizeof for_signals}, NULL);
    sigaction(SIGSEGV, &act, NULL);
    sigaction(SIGBUS, &act, NULL);
    sigaction(SIGILL, &act, NULL);
}

static const char *call_both(at_arena *a, const shape *s, const at_job *job,
                             at_kernel_fn *const found[2]) {
    const char *fault = NULL;
    for (int at_end = 0; at_end < 2 && !fault; at_end++) {
        memory m;
        void *buf[AT_MAX_BUFS];
        place(&m, job, s->store, at_end);
        for (int i = 0; i < job->num_bufs; i++) buf[i] = m.at[i];
        if (found[1]) fault = call(a, found[1], buf, m.at[job->num_bufs]);
        if (!fault) fault = call(a, found[0], buf, m.at[job->num_bufs]);
        if (!fault) fault = written_beside(a, &m, job);
        if (!fault && !s->values) fault = difference(a, &m, job, s->store);
        release(&m);
    }
    return fault;
}

static const char *check(shape *s, at_arena *a, int64_t index, const way *w) {
    at_error err = {0};
    at_config c;
    candidate made;
    at_resident *code;
    if (at_config_at(a, at_task_space(s->task), index, &c, &err) != AT_OK)
        return at_strdup(a, err.text);
    const char *fault = shape_lower(s, a, &c, w, "kernel", &made);
    if (fault) return fault;
    shape_refill(s, made.program);
    at_job job =
        at_kernel_job(a, made.kernel, 1, &(at_places){.at = s->offset, .expected = s->expected});
    const char *names[] = {job.entry, job.pack};
    void *found[2] = {NULL};
    const at_unit unit = {.source = job.source,
                          .blobs = job.blobs,
                          .num_blobs = job.num_blobs,
                          .names = names,
                          .num_names = job.pack ? 2 : 1,
                          .is_written = true};
    if (at_resident_new(&unit, found, &code, &err) != AT_OK) return at_strdup(a, err.text);
    fault = call_both(a, s, &job,
                      (at_kernel_fn *[]){(at_kernel_fn *)found[0], (at_kernel_fn *)found[1]});
    at_resident_free(code);
    return fault;
}

static const struct {
    const char *template_name, *args;
} tasks[] = {
    {"conv2d_3x3_gemm", "H=7,W=9,CI=8,CO=20"},
    {"conv2d_3x3_gemm+bias+relu", "H=6,W=8,CI=4,CO=16"},
    {"conv2d_nhwc", "N=2,H=9,W=7,CI=5,CO=12,strides=2"},
    {"conv2d_NCHWc", "IC=16,H=7,W=7,OC=32"},
    {"conv2d_NCHWc+bias+add+relu", "IC=32,H=9,W=8,OC=64,KH=1,KW=1,padding=0"},
    {"conv2d_winograd_nhwc", "H=9,W=7,CI=6,CO=20,m=2"},
    {"conv2d_winograd_NCHWc", "H=9,W=7,CI=6,CO=20,m=2"},
    {"indirect_conv2d_nhwc", "H=9,W=7,CI=6,CO=20"},
    {"group_conv2d_nhwc", "H=9,W=7,CI=6,CO=10,G=2,strides=1"},
    {"depthwise_conv2d_NCHWc", "H=9,W=7,IC=6"},
    {"depthwise_conv2d_nhwc", "H=14,W=14,C=36,strides=2,M=2"},
    {"conv2d_transpose_nhwc", "CI=6,CO=32"},
    {"conv2d_capsule_nhwijc", "H=6,W=7,CI=3,CO=8"},
    {"conv1d_nwc", "W=37,CI=5,CO=12"},
    {"conv3d_ndhwc", "D=4,H=6,W=5,CI=4,CO=12"},
    {"max_pool2d_nhwc", "H=9,W=7,C=5"},
    {"avg_pool2d_nhwc", "H=9,W=7,C=5"},
    {"layer_norm", "M=5,N=96"},
    {"softmax", "Y=5,X=96"},
    {"norm", "B=3,M=7,N=48"},
    {"dense", "M=9,N=34,K=21,bias=1"},
    {"matmul_add", "N=20,L=18,M=36"},
    {"batch_matmul", "B=3,M=17,N=36,K=23,tb=0"},
    {"spconv2d_3x3_gemm", "H=6,W=8,CI=8,CO=32,nnz=60"},
    {"spconv2d_nhwc", "H=9,W=7,CI=5,CO=32,nnz=30"},
    {"sparse_dense", "M=24,N=48,K=36,nnz=40"},
};

static void keep_what_is_the_callers(void **state) {
    const char *name = *state;
    way w = {AT_TCC, at_vector_set(name), false, false};
    if (!at_cpu_has_set(w.set)) {
        print_message("this CPU has no %s: skipped\n", name);
        skip();
    }
    long count = how_many("AT_COUNT", 8);
    hear_signals();
    for (size_t t = 0; t < sizeof tasks / sizeof *tasks; t++) {
        shape s;
        at_rng rng;
        at_arena *a = at_arena_new();
        shape_open(&s, tasks[t].template_name, tasks[t].args);
        at_space *space = at_task_space(s.task);
        at_rng_seed(&rng, (uint64_t)setting("AT_SEED", 1), t);
        for (long n = 0; n < count; n++) {
            int64_t index = (int64_t)at_rng_below(&rng, (uint64_t)at_space_range_length(space));
            if (!at_space_is_valid(space, index)) continue;
            w.pack_inline = n % 4 == 3;
            snprintf(what, sizeof what, "%s --args %s --index %lld --isa %s%s",
                     tasks[t].template_name, tasks[t].args, (long long)index, name,
                     w.pack_inline ? " --pack inline" : "");
            const char *fault = check(&s, a, index, &w);
            if (fault) fail_msg("%s: %s", what, fault);
            at_arena_reset(a);
        }
        shape_close(&s);
        at_arena_free(a);
    }
}

/* ---- does the check see it? ------------------------------------------------------------------ */

static const char *call_text(at_arena *a, const char *source) {
    static const char *const name = "f";
    const at_unit unit = {.source = source, .names = &name, .num_names = 1};
    void *found[1] = {NULL};
    at_resident *code;
    at_error err;
    if (at_resident_new(&unit, found, &code, &err) != AT_OK) fail_msg("%s", err.text);
    const char *fault = call(a, (at_kernel_fn *)found[0], NULL, NULL);
    at_resident_free(code);
    return fault;
}

#define BAD(text) "int f(void **b, void *w, void *p) { " text " return 0; }"

static void what_is_not_kept_is_seen(void **state) {
    (void)state;
    static const struct {
        const char *text, *fault;
    } bad[] = {
        {BAD(""), NULL},
        {BAD("asm(\"mov $1, %rbx\");"), "rbx is 1 afterwards"},
        {BAD("asm(\"mov $2, %r12\");"), "r12 is 2 afterwards"},
        {BAD("asm(\"add $1, %r15\");"), "r15 is 7ff8000000000b07 afterwards"},
        {BAD("asm(\"std\");"), "the direction flag is set"},
        {BAD("asm(\".byte 0x68; .long 0x9f80; .byte 0x0f, 0xae, 0x14, 0x24; pop %rax\");"),
         "mxcsr is 9f80"},
        {BAD("char c[8]; c[100] = 1;"), "it wrote into its caller's frame"},
        {BAD("if (1) return 7;"), "it returned 7"},
    };
    at_arena *a = at_arena_new();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *fault = call_text(a, bad[i].text);
        if (!bad[i].fault) assert_null(fault);
        else if (!fault || strncmp(fault, bad[i].fault, strlen(bad[i].fault)))
            fail_msg("%s: %s", bad[i].text, fault ? fault : "not seen");
    }
    at_arena_free(a);
}

int main(int argc, char **argv) {
    at_worker_main_if_asked(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_kept_is_seen),
        {"avx512", keep_what_is_the_callers, NULL, NULL, "avx512"},
        {"avx2", keep_what_is_the_callers, NULL, NULL, "avx2"},
        {"sse2", keep_what_is_the_callers, NULL, NULL, "sse2"},
        {"scalar", keep_what_is_the_callers, NULL, NULL, "scalar"},
    };
    stack = guarded(STACK_BYTES + ABOVE_BYTES) + STACK_BYTES;
    return cmocka_run_group_tests_name("run/calling", tests, NULL, NULL);
}
