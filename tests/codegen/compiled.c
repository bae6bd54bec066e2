/* tests/codegen/compiled.c: programs as C, compiled many at a time and called.
 *
 * Kernels of one dialect and instruction set share a file, so that the compiler starts rarely. */
#include "tests/codegen/phases.h"
#include "tests/whole_file.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static const char letters[] = "cgt"; /* of files and names: per dialect */

static const char *name_of(const built *b, phase f, int i) {
    return at_format(b->arena, "%c%d", letters[f - PHASE_C], i);
}

/* ---- source -------------------------------------------------------------------------------- */

/* Machine code as data of the assembler. */
static void add_code(at_text *out, const at_kernel *k) {
    for (int i = 0; i < k->num_tiles; i++) {
        const at_tile_code *t = &k->tiles[i];
        at_text_addf(out, "__asm__(\".pushsection .text\\n.balign 64\\n%s:\\n\"", t->symbol);
        for (int j = 0; j < t->size_bytes; j++)
            at_text_addf(out, j % 16 ? ",%d%s" : "\n    \".byte %d%s", t->bytes[j],
                         j % 16 == 15 || j == t->size_bytes - 1 ? "\\n\"" : "");
        at_text_add(out, "\n    \".popsection\");\n");
    }
}

const char *write_source(built *b, const random_program *p, phase f, const char *dir, int i) {
    const char *name = name_of(b, f, i);
    at_lower_options o = options_of(p, f, name);
    at_kernel *k;
    if (at_lower(b->arena, b->program, &o, &k, &b->err) != AT_OK) return b->err.text;
    at_text text = {0};
    /* every kernel declares the type for itself, and a function of integers */
    at_text_addf(&text,
                 "#define at_par %1$s_par\n#define at_four %1$s_four\n%2$s\n#undef at_par\n"
                 "#undef at_four\n",
                 name, k->source);
    add_code(&text, k);
    const char *path = at_format(b->arena, "%s/%s.c", dir, name);
    at_status s = at_write_file(path, at_text_str(&text), text.len, &b->err);
    at_text_free(&text);
    return s == AT_OK ? NULL : b->err.text;
}

/* ---- compiler ------------------------------------------------------------------------------ */

typedef struct files { /* what one run of the compiler takes */
    char dir[80], object[20], sources[100];
} files;

static bool run_compiler(const files *x) {
    char command[600];
    snprintf(command, sizeof command,
             "cd %s && gcc -O1 -shared -fPIC -Wall -Wextra -Werror -Wl,-Bsymbolic $AT_CFLAGS "
             "-o %s %s 2>log",
             x->dir, x->object, x->sources);
    return system(command) == 0;
}

static void write_list(const files *x, const char *name, const at_text *text) {
    char path[120];
    at_error err;
    snprintf(path, sizeof path, "%s/%s", x->dir, name);
    AT_ASSERT(at_write_file(path, at_text_str(text), text->len, &err) == AT_OK);
}

/* One file per target for vector types, one for everything else. */
static int group_of(const random_program *p, phase f) {
    int group = 0;
    if (f == PHASE_GNU)
        while (phase_target(group++) != options_of(p, f, "").target) continue;
    return group;
}

static bool all_together(const random_program *const *p, int n, phase first, phase last, files *x,
                         const outcome *out) {
    strcpy(x->object, "all.so");
    *x->sources = 0;
    for (int group = 0; group <= NUM_TARGETS; group++) {
        at_text list = {0};
        char name[20];
        snprintf(name, sizeof name, "all%d.c", group);
        for (int i = 0; i < n; i++)
            for (int f = first < PHASE_C ? PHASE_C : first; f <= (int)last; f++)
                if (out[i].verdict == VERDICT_RIGHT && group_of(p[i], (phase)f) == group)
                    at_text_addf(&list, "#include \"%c%d.c\"\n", letters[f - PHASE_C], i);
        if (list.len) {
            write_list(x, name, &list);
            strcat(strcat(x->sources, " "), name);
        }
        at_text_free(&list);
    }
    return !*x->sources || run_compiler(x);
}

static void each_alone(int n, phase first, phase last, files *x, outcome *out) {
    at_arena *a = at_arena_new();
    for (int i = 0; i < n; i++)
        for (int f = first < PHASE_C ? PHASE_C : first; f <= (int)last; f++) {
            if (out[i].verdict != VERDICT_RIGHT) continue;
            char *text;
            size_t length;
            at_error err;
            snprintf(x->object, sizeof x->object, "one.so");
            snprintf(x->sources, sizeof x->sources, "%c%d.c", letters[f - PHASE_C], i);
            if (run_compiler(x)) continue;
            const char *path = at_format(a, "%s/log", x->dir);
            AT_ASSERT(read_whole(a, path, &text, &length, &err) == AT_OK);
            out[i].phase = (phase)f;
            set_fault(&out[i], text);
        }
    at_arena_free(a);
}

bool compile_all(const random_program *const *p, int n, phase first, phase last, const char *dir,
                 outcome *out) {
    files x;
    snprintf(x.dir, sizeof x.dir, "%s", dir);
    if (!all_together(p, n, first, last, &x, out)) {
        each_alone(n, first, last, &x, out);
        if (!all_together(p, n, first, last, &x, out)) AT_BUG("kernels compile alone only");
    }
    return *x.sources;
}

/* ---- call ---------------------------------------------------------------------------------- */

/* As emitted C declares it. */
typedef struct par {
    void (*parallel_for)(void (*body)(long i, int thread, void *context), long n, void *context);
    int threads;
    volatile long turns; /* where the kernel can be cut short */
} par;
typedef int kernel_function(void *const buf[], void *workspace, par *p);

static char *slices; /* of the threads: poisoned before every iteration */
static size_t slice_bytes;

static void parallel_for(void (*body)(long i, int thread, void *context), long n, void *context) {
    for (long i = n - 1; i >= 0; i--) {
        int thread = (int)(i % THREADS);
        memset(slices + (size_t)thread * slice_bytes, 255, slice_bytes);
        body(i, thread, context);
    }
}

const char *run_compiled(built *b, const random_program *p, phase f, int i, void *object,
                         const at_data *expected) {
    at_lower_options o = options_of(p, f, name_of(b, f, i));
    at_kernel *k;
    if (at_lower(b->arena, b->program, &o, &k, &b->err) != AT_OK) return b->err.text;
    operands mem;
    operands_open(&mem, b, k->params, k->num_params, k->workspace_bytes,
                  k->workspace_per_thread_bytes, p->seed);
    slices = mem.workspace.data + k->workspace_bytes;
    slice_bytes = (size_t)k->workspace_per_thread_bytes;
    /* Cut short at first, by some of its turns; then as many are enough as it says. */
    long turns[] = {0, (long)(p->seed % 3 * (uint64_t)k->turns / 4), (long)k->turns};
    par threads = {parallel_for, THREADS, 0};
    const char *const entries[] = {k->pack, k->entry, k->entry};
    for (int e = 0; e < 3; e++) {
        if (!entries[e]) continue;
        kernel_function *call;
        *(void **)&call = dlsym(object, entries[e]);
        if (!call) return at_format(b->arena, "%s is not in the object", entries[e]);
        threads.turns = turns[e];
        if (e == 1 && !k->turns) continue;
        operands_begin_again(&mem);
        call(mem.buf, mem.workspace.data, &threads);
        if (threads.turns < 0) return "it has counted more turns than there are";
    }
    const char *fault = operands_check(&mem, expected);
    operands_close(&mem);
    return fault;
}
