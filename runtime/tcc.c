/* runtime/tcc.c: C text and finished machine code to something that can be called, in an executable
 * arena of our own that each job overwrites. The only user of libtcc.
 * Every rule here was a crash once: one relocate per state, the state deleted at once, no jump out
 * of the message callback while the compiler runs (its lock would stay held), none of its run-time
 * files. */
#include "runtime/inside.h"

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
#define LARGE_PAGE (2 << 20)

typedef struct code_arena {
    char *base;
    size_t used;
    const at_blob *blobs; /* of its job, for the crash report */
    char *blob_start[1024];
    int num_blobs;
    size_t text_bytes; /* behind the tiles */
} code_arena;

static code_arena arenas[AT_ARENA_COUNT];

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
    FN(at_products),
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

/* In large pages, so that the same code lies in the same sets of every cache wherever it is: of two
 * copies in small pages one was faster, by some tenths of a percent, another one in each process.
 */
static bool map_arena(code_arena *arena, char *error, size_t error_size) {
    if (arena->base) return true;
    void *p = mmap(NULL, ARENA_BYTES + LARGE_PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        snprintf(error, error_size, "this system grants no executable memory: %s", strerror(errno));
        return false;
    }
    arena->base = (char *)p + (LARGE_PAGE - (uintptr_t)p % LARGE_PAGE) % LARGE_PAGE;
    madvise(arena->base, ARENA_BYTES, MADV_HUGEPAGE);
    return true;
}

/* Code that was written becomes what is fetched: no memory is run from that has not come by here
 * since. Some architectures fetch what was there before else. */
static void make_visible(char *code, size_t size_bytes) {
    __builtin___clear_cache(code, code + size_bytes);
}

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

static bool place_blobs(code_arena *arena, const at_job *job) {
    arena->used = 0;
    arena->num_blobs = 0;
    arena->blobs = job->blobs;
    if (job->num_blobs > (int)(sizeof arena->blob_start / sizeof arena->blob_start[0]))
        return false;
    for (int i = 0; i < job->num_blobs; i++) {
        const at_blob *b = &job->blobs[i];
        if (b->size_bytes < 0 || (size_t)b->size_bytes > ARENA_BYTES - arena->used) return false;
        char *start = arena->base + arena->used;
        if (b->size_bytes) memcpy(start, b->bytes, (size_t)b->size_bytes);
        arena->blob_start[arena->num_blobs++] = start;
        arena->used += round_up((size_t)b->size_bytes, 64);
        if (arena->used > ARENA_BYTES) return false;
    }
    /* The C text's static data lies behind its code: on pages of their own, away from the tiles. */
    arena->used = round_up(arena->used, PAGE);
    return arena->used < ARENA_BYTES;
}

int at_tcc_blob_at(uint64_t address, int64_t *offset) {
    const code_arena *arena = &arenas[AT_ARENA_JOB];
    for (int i = 0; i < arena->num_blobs; i++) {
        uint64_t start = (uint64_t)(uintptr_t)arena->blob_start[i];
        if (address >= start && address < start + (uint64_t)arena->blobs[i].size_bytes) {
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

static bool skips_own_text;

/* Before every text TinyCC reads one of its own, declarations that no kernel uses, which takes as
 * long as a kernel does. It stands behind what is defined, and before what is included, on the
 * command line, and so in between here. Where another version has it elsewhere it is read. */
static void skip_own_text(TCCState *s) {
    tcc_define_symbol(s, "at_kernel", "\n#if 0");
    tcc_set_options(s, "-include \"\\\"\n#endif\n//\"");
}

at_job_end at_tcc_load(const at_job *job, at_arena_no number, at_code *code, char *error,
                       size_t error_size) {
    code_arena *arena = &arenas[number];
    *code = (at_code){0};
    report.text[0] = 0;
    volatile bool loaded = false;
    if (!map_arena(arena, error, error_size)) return AT_JOB_NOT_COMPILED;
    if (!place_blobs(arena, job)) {
        snprintf(error, error_size, "tcc: the tiles exceed the code arena");
        return AT_JOB_NOT_COMPILED;
    }
    TCCState *volatile s = tcc_new();
    if (!s) {
        snprintf(error, error_size, "tcc: out of memory");
        return AT_JOB_NOT_COMPILED;
    }
    tcc_set_error_func(s, NULL, on_message);
    report.may_jump = true;
    if (!setjmp(report.out)) {
        tcc_set_options(s, "-nostdlib -nostdinc -Werror");
        if (skips_own_text) skip_own_text(s);
        tcc_set_output_type(s, TCC_OUTPUT_MEMORY);
        for (size_t i = 0; i < sizeof host / sizeof host[0]; i++) {
            tcc_add_symbol(s, host[i].name, (const void *)host[i].fn);
        }
        for (int i = 0; i < job->num_blobs; i++) {
            tcc_add_symbol(s, job->blobs[i].symbol, arena->blob_start[i]);
        }
        report.may_jump = false;
        int failed = tcc_compile_string(s, job->source);
        report.may_jump = true;
        int size = failed ? -1 : tcc_relocate(s, NULL);
        if (size >= 0 && (size_t)size > ARENA_BYTES - arena->used) {
            snprintf(report.text, sizeof report.text,
                     "code and static data take %d MiB, the arena has %d", size >> 20,
                     ARENA_BYTES >> 20);
        } else if (size >= 0 && !tcc_relocate(s, arena->base + arena->used)) {
            arena->text_bytes = (size_t)size;
            make_visible(arena->base, arena->used + arena->text_bytes);
            code->entry = symbol(s, job->entry);
            code->pack = job->pack ? symbol(s, job->pack) : NULL;
            loaded = code->entry && (code->pack || !job->pack);
        }
    }
    report.may_jump = false;
    tcc_delete(s);
    if (loaded) return AT_JOB_RAN;
    snprintf(error, error_size, "tcc: %s", report.text[0] ? report.text : "no code and no message");
    return AT_JOB_NOT_COMPILED;
}

const void *at_tcc_text(size_t *size_bytes) {
    const code_arena *arena = &arenas[AT_ARENA_JOB];
    *size_bytes = arena->text_bytes;
    return arena->base + arena->used;
}

bool at_tcc_put(const at_job *job, const void *text, size_t size_bytes) {
    code_arena *arena = &arenas[AT_ARENA_JOB];
    if (!arena->base || !place_blobs(arena, job) || size_bytes > ARENA_BYTES - arena->used)
        return false;
    memcpy(arena->base + arena->used, text, size_bytes);
    make_visible(arena->base, arena->used + size_bytes);
    return true;
}

/* The first compilation in a process takes a millisecond longer than the others, too. */
bool at_tcc_init(char *error, size_t error_size) {
    at_job job = {.source = "int f(void **b, void *w, void *p) { return b == w || p != w; }",
                  .entry = "f"};
    at_code code;
    for (int skip = 1; skip >= 0; skip--) {
        skips_own_text = skip;
        error[0] = 0;
        if (at_tcc_load(&job, AT_ARENA_JOB, &code, error, error_size) == AT_JOB_RAN) return true;
    }
    return false;
}

/* ---- code that stays ------------------------------------------------------------------------- */

/* libtcc and `report` are one for the whole process; a child that is forked while another thread
 * compiles finds the lock free. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void take_lock(void) { pthread_mutex_lock(&lock); }
static void give_lock(void) { pthread_mutex_unlock(&lock); }
static void watch_forks(void) { pthread_atfork(take_lock, give_lock, give_lock); }

struct at_resident {
    char *base;
    size_t size_bytes, used;
};

/* The blobs come first, near what calls them; addresses are given out before the size of the text's
 * code is known, so that more is mapped than is kept. */
static bool map_resident(at_resident *r, const at_unit *u) {
    void *p = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        snprintf(report.text, sizeof report.text, "no memory for code: %s", strerror(errno));
        return false;
    }
    *r = (at_resident){.base = p, .size_bytes = ARENA_BYTES};
    for (int i = 0; i < u->num_blobs; i++) r->used += round_up((size_t)u->blobs[i].size_bytes, 64);
    r->used = round_up(r->used, PAGE);
    if (r->used < ARENA_BYTES) return true;
    snprintf(report.text, sizeof report.text, "the tiles take %zu MiB, %d are accepted",
             r->used >> 20, ARENA_BYTES >> 20);
    return false;
}

static void place_resident(TCCState *s, const at_resident *r, const at_unit *u) {
    char *at = r->base;
    for (int i = 0; i < u->num_blobs; i++) {
        memcpy(at, u->blobs[i].bytes, (size_t)u->blobs[i].size_bytes);
        tcc_add_symbol(s, u->blobs[i].symbol, at);
        at += round_up((size_t)u->blobs[i].size_bytes, 64);
    }
}

/* What was mapped beyond the code is given back. */
static bool relocate_resident(TCCState *s, at_resident *r, const at_unit *u) {
    int size = tcc_relocate(s, NULL);
    if (size < 0) return false;
    if ((size_t)size > ARENA_BYTES - r->used) {
        snprintf(report.text, sizeof report.text,
                 "code and static data take %d MiB, %d are accepted", size >> 20,
                 ARENA_BYTES >> 20);
        return false;
    }
    if (tcc_relocate(s, r->base + r->used)) return false;
    make_visible(r->base, r->used + (size_t)size);
    r->used = round_up(r->used + (size_t)size, PAGE);
    if (r->used < ARENA_BYTES) munmap(r->base + r->used, ARENA_BYTES - r->used);
    r->size_bytes = r->used;
    int may = PROT_READ | PROT_EXEC | (u->is_written ? PROT_WRITE : 0);
    if (!mprotect(r->base, r->size_bytes, may)) return true;
    snprintf(report.text, sizeof report.text, "this system grants no executable memory: %s",
             strerror(errno));
    return false;
}

static bool find_symbols(TCCState *s, const at_unit *u, void **found) {
    for (int i = 0; i < u->num_names; i++) {
        found[i] = tcc_get_symbol(s, u->names[i]);
        if (found[i]) continue;
        if (!report.text[0])
            snprintf(report.text, sizeof report.text, "defines no '%s'", u->names[i]);
        return false;
    }
    return true;
}

static at_status compile_resident(const at_unit *u, void **found, at_resident *r, at_error *err) {
    volatile bool done = false;
    TCCState *volatile s = tcc_new();
    report.text[0] = 0;
    if (!s) return at_fail(err, AT_E_BUG, "tcc: out of memory");
    tcc_set_error_func(s, NULL, on_message);
    report.may_jump = true;
    if (!setjmp(report.out) && map_resident(r, u)) {
        tcc_set_options(s, "-nostdlib -nostdinc -Werror");
        tcc_set_output_type(s, TCC_OUTPUT_MEMORY);
        for (size_t i = 0; i < sizeof host / sizeof host[0]; i++)
            tcc_add_symbol(s, host[i].name, (const void *)host[i].fn);
        for (int i = 0; i < u->num_functions; i++)
            tcc_add_symbol(s, u->functions[i].name, (const void *)u->functions[i].fn);
        place_resident(s, r, u);
        report.may_jump = false;
        int failed = tcc_compile_string(s, u->source);
        report.may_jump = true;
        if (!failed) done = relocate_resident(s, r, u) && find_symbols(s, u, found);
    }
    report.may_jump = false;
    tcc_delete(s);
    if (done) return AT_OK;
    return at_fail(err, AT_E_INPUT, "%s",
                   report.text[0] ? report.text : "tcc: no code and no message");
}

at_status at_resident_new(const at_unit *u, void **found, at_resident **out, at_error *err) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    at_resident *r = calloc(1, sizeof *r);
    AT_NEED(r);
    pthread_once(&once, watch_forks);
    take_lock();
    at_status s = compile_resident(u, found, r, err);
    give_lock();
    if (s == AT_OK) *out = r;
    else at_resident_free(r);
    return s;
}

void at_resident_free(at_resident *r) {
    if (r && r->base) munmap(r->base, r->size_bytes);
    free(r);
}

at_status at_compile_data(const char *source, const at_symbol_fn *functions, int num_functions,
                          const char *name, void **out, at_error *err) {
    at_resident *r;
    at_status s = at_resident_new(&(at_unit){.source = source,
                                             .functions = functions,
                                             .num_functions = num_functions,
                                             .names = &name,
                                             .num_names = 1,
                                             .is_written = true},
                                  out, &r, err);
    if (s == AT_OK) free(r); /* what it holds stays */
    return s;
}
