/* runtime/tcc.c: C text and finished machine code to something that can be called, in an executable
 * arena of our own that each job overwrites. The only user of libtcc.
 * Every rule here was a crash once: one relocate per state, the state deleted at once, no jump out
 * of the message callback while the compiler runs (its lock would stay held), none of its run-time
 * files. */
#include "runtime/runtime_int.h"

#include <libtcc.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ARENA_BYTES (64 << 20) /* code and static data of one job; touched only as far as used */
#define PAGE 4096

static struct {
    char *base;
    size_t used;
    const at_blob *blobs; /* of the current job, for the crash report */
    char *blob_start[1024];
    int num_blobs;
} arena;

static struct {
    jmp_buf out;
    bool may_jump;
    char text[768];
} report;

/* ---- what compiled code may call ------------------------------------------------------------ */

/* TinyCC calls these four for unsigned 64-bit integers and floating point, and brings them in a
 * library that is not loaded. */
static float u64_to_float(uint64_t x) { return (float)x; }
static double u64_to_double(uint64_t x) { return (double)x; }
static uint64_t float_to_u64(float x) { return (uint64_t)x; }
static uint64_t double_to_u64(double x) { return (uint64_t)x; }

#define FN(f)                                                                                      \
    { #f, (at_any_fn *)(f) }
static const at_symbol_fn host[] = {
    FN(memset),
    FN(memmove),
    FN(memcpy), /* the first two also behind initialisers and struct copies */
    FN(fmaf),
    FN(sqrtf),
    FN(fabsf),
    FN(fminf),
    FN(fmaxf),
    FN(floorf),
    FN(ceilf),
    FN(roundf),
    FN(expf),
    FN(logf),
    FN(powf),
    FN(tanhf),
    FN(erff),
    {"__floatundisf", (at_any_fn *)u64_to_float},
    {"__floatundidf", (at_any_fn *)u64_to_double},
    {"__fixunssfdi", (at_any_fn *)float_to_u64},
    {"__fixunsdfdi", (at_any_fn *)double_to_u64},
};

/* ---- messages ------------------------------------------------------------------------------- */

static void on_message(void *opaque, const char *message) {
    (void)opaque;
    if (!report.text[0]) { /* the first is the cause, the rest its consequences */
        /* The lines before say which file includes which. */
        const char *m = strrchr(message, '\n') ? strrchr(message, '\n') + 1 : message;
        bool of_text = !strncmp(m, "<string>", 8);
        if (of_text) m += 8;
        if (!strncmp(m, "tcc: ", 5)) m += 5;
        snprintf(report.text, sizeof report.text, "%s%s", of_text ? "kernel.c" : "", m);
    }
    /* After an error outside the compiler proper libtcc may call exit(1) next. */
    if (report.may_jump && !strstr(message, "warning:")) longjmp(report.out, 1);
}

/* ---- arena ---------------------------------------------------------------------------------- */

bool at_tcc_init(char *error, size_t error_size) {
    void *p = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        snprintf(error, error_size, "this system grants no executable memory: %s", strerror(errno));
        return false;
    }
    arena.base = p;
    return true;
}

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

static bool place_blobs(const at_job *job) {
    arena.used = 0;
    arena.num_blobs = 0;
    arena.blobs = job->blobs;
    if (job->num_blobs > (int)(sizeof arena.blob_start / sizeof arena.blob_start[0])) return false;
    for (int i = 0; i < job->num_blobs; i++) {
        const at_blob *b = &job->blobs[i];
        if (b->size_bytes < 0 || (size_t)b->size_bytes > ARENA_BYTES - arena.used) return false;
        char *start = arena.base + arena.used;
        if (b->size_bytes) memcpy(start, b->bytes, (size_t)b->size_bytes);
        arena.blob_start[arena.num_blobs++] = start;
        arena.used += round_up((size_t)b->size_bytes, 64);
        if (arena.used > ARENA_BYTES) return false;
    }
    /* The C text's static data lies behind its code: on pages of their own, away from the tiles. */
    arena.used = round_up(arena.used, PAGE);
    return arena.used < ARENA_BYTES;
}

int at_tcc_blob_at(uint64_t address, int64_t *offset) {
    for (int i = 0; i < arena.num_blobs; i++) {
        uint64_t start = (uint64_t)(uintptr_t)arena.blob_start[i];
        if (address >= start && address < start + (uint64_t)arena.blobs[i].size_bytes) {
            *offset = (int64_t)(address - start);
            return i;
        }
    }
    return -1;
}

/* ---- loading -------------------------------------------------------------------------------- */

/* A symbol of the unit; the text says which one is missing. */
static at_kernel_fn *symbol(TCCState *s, const char *name) {
    void *p = tcc_get_symbol(s, name);
    if (!p && !report.text[0]) {
        snprintf(report.text, sizeof report.text, "the code defines no function '%s'", name);
    }
    return (at_kernel_fn *)p;
}

int at_tcc_load(const at_job *job, at_code *code, char *error, size_t error_size) {
    *code = (at_code){0};
    report.text[0] = 0;
    volatile bool loaded = false;
    if (!place_blobs(job)) {
        snprintf(error, error_size, "tcc: the tiles exceed the code arena");
        return AT_ERR_COMPILE_HOST;
    }
    TCCState *volatile s = tcc_new();
    if (!s) {
        snprintf(error, error_size, "tcc: out of memory");
        return AT_ERR_COMPILE_HOST;
    }
    tcc_set_error_func(s, NULL, on_message);
    report.may_jump = true;
    if (!setjmp(report.out)) {
        tcc_set_options(s, "-nostdlib -nostdinc -Werror");
        tcc_set_output_type(s, TCC_OUTPUT_MEMORY);
        for (size_t i = 0; i < sizeof host / sizeof host[0]; i++) {
            tcc_add_symbol(s, host[i].name, (const void *)host[i].fn);
        }
        for (int i = 0; i < job->num_blobs; i++) {
            tcc_add_symbol(s, job->blobs[i].symbol, arena.blob_start[i]);
        }
        report.may_jump = false;
        int failed = tcc_compile_string(s, job->source);
        report.may_jump = true;
        int size = failed ? -1 : tcc_relocate(s, NULL);
        if (size >= 0 && (size_t)size > ARENA_BYTES - arena.used) {
            snprintf(report.text, sizeof report.text,
                     "code and static data take %d MiB, the arena has %d", size >> 20,
                     ARENA_BYTES >> 20);
        } else if (size >= 0 && !tcc_relocate(s, arena.base + arena.used)) {
            code->entry = symbol(s, job->entry);
            code->pack = job->pack ? symbol(s, job->pack) : NULL;
            loaded = code->entry && (code->pack || !job->pack);
        }
    }
    report.may_jump = false;
    tcc_delete(s);
    if (loaded) return AT_ERR_NONE;
    snprintf(error, error_size, "tcc: %s", report.text[0] ? report.text : "no code and no message");
    return AT_ERR_COMPILE_HOST;
}

/* ---- data that stays ------------------------------------------------------------------------- */

/* Relocates into memory of its own, which is never given back. */
static void *relocate_to_stay(TCCState *s, const char *name) {
    int size = tcc_relocate(s, NULL);
    if (size < 0) return NULL;
    void *p = mmap(NULL, round_up((size_t)size, PAGE), PROT_READ | PROT_WRITE | PROT_EXEC,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        snprintf(report.text, sizeof report.text, "this system grants no executable memory: %s",
                 strerror(errno));
        return NULL;
    }
    if (tcc_relocate(s, p)) return NULL;
    void *found = tcc_get_symbol(s, name);
    if (!found && !report.text[0])
        snprintf(report.text, sizeof report.text, "defines no '%s'", name);
    return found;
}

static at_status compile_data(const char *source, const at_symbol_fn *functions, int num_functions,
                              const char *name, void **out, at_error *err) {
    void *volatile found = NULL;
    TCCState *volatile s = tcc_new();
    report.text[0] = 0;
    if (!s) return at_fail(err, AT_E_BUG, "tcc: out of memory");
    tcc_set_error_func(s, NULL, on_message);
    report.may_jump = true;
    if (!setjmp(report.out)) {
        tcc_set_options(s, "-nostdlib -nostdinc -Werror");
        tcc_set_output_type(s, TCC_OUTPUT_MEMORY);
        for (size_t i = 0; i < sizeof host / sizeof host[0]; i++)
            tcc_add_symbol(s, host[i].name, (const void *)host[i].fn);
        for (int i = 0; i < num_functions; i++)
            tcc_add_symbol(s, functions[i].name, (const void *)functions[i].fn);
        report.may_jump = false;
        int failed = tcc_compile_string(s, source);
        report.may_jump = true;
        if (!failed) found = relocate_to_stay(s, name);
    }
    report.may_jump = false;
    tcc_delete(s);
    if (!found)
        return at_fail(err, AT_E_INPUT, "%s",
                       report.text[0] ? report.text : "tcc: no code and no message");
    *out = found;
    return AT_OK;
}

at_status at_compile_data(const char *source, const at_symbol_fn *functions, int num_functions,
                          const char *name, void **out, at_error *err) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of `report` */
    pthread_mutex_lock(&lock);
    at_status s = compile_data(source, functions, num_functions, name, out, err);
    pthread_mutex_unlock(&lock);
    return s;
}
