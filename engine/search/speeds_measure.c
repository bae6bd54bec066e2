/* engine/search/speeds_measure.c: this machine's table: kernels of one register tile each, made as
 * those of candidates are and run in this process, which knows them to be right. */
#include "engine/search/machine_speeds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/lowered.h"
#include "codegen/tile/tile_parts.h"
#include "engine/version.h"
#include "runtime/runtime.h"

/* All of it is timed several times over, since a neighbour stays for longer than a few chunks. */
enum { CHUNK_NS = 60 * 1000, CHUNKS = 5, PASSES = 5, MOST_KERNELS = 1024 };

/* ---- one kernel ------------------------------------------------------------------------------ */

typedef struct size {
    const char *name;
    int64_t value;
} size;

typedef struct prober {
    const at_target *target;
    const volatile int *stop;
    double least_ns[MOST_KERNELS]; /* in any pass so far, of each kernel, in their order */
    int num_kernels;               /* timed in this pass */
} prober;

static at_status program(at_arena *a, const char *compute, const char *tree, const size *sizes,
                         int n, at_program **out, at_error *err) {
    at_symbols *symbols = AT_NEW(a, at_symbols);
    int64_t *values = AT_NEW_ARRAY(a, int64_t, n);
    at_compute *c;
    at_tree *t;
    for (int i = 0; i < n; i++) values[at_symbol_add(a, symbols, sizes[i].name)] = sizes[i].value;
    AT_TRY(at_compute_parse(a, symbols, compute, "computation", &c, err));
    AT_TRY(at_tree_parse(a, c, tree, "tree", &t, err));
    AT_TRY(at_program_build(a, t, values, out, err));
    return at_program_verify(a, *out, err);
}

static double least_ns(at_kernel_fn *entry, void **buf, void *workspace) {
    double best = INFINITY;
    for (int64_t n = 1, chunk = 0; chunk < CHUNKS;) {
        int64_t start = at_now_ns();
        for (int64_t i = 0; i < n; i++) entry(buf, workspace, NULL);
        int64_t ns = at_now_ns() - start;
        if (ns < CHUNK_NS) {
            n *= 2;
            continue;
        }
        chunk++;
        best = fmin(best, (double)ns / (double)n);
    }
    return best;
}

static void *room(int64_t bytes) {
    size_t n = (size_t)(bytes + 128) / 64 * 64;
    float *p = aligned_alloc(64, n);
    AT_NEED(p);
    for (size_t i = 0; i < n / 4; i++) p[i] = 0.5F; /* no operand is slow */
    return p;
}

/* What differences are made of: the least in all passes, so that none has a neighbour in one of its
 * two times only. */
static double least_so_far(prober *p, double ns) {
    AT_ASSERT(p->num_kernels < MOST_KERNELS);
    double *least = &p->least_ns[p->num_kernels++];
    if (*least <= 0 || ns < *least) *least = ns;
    return *least;
}

/* Time of one run of a kernel without parallel loops. */
static at_status time_kernel(prober *p, const char *compute, const char *tree, const size *sizes,
                             int n, double *ns, at_error *err) {
    const at_lower_options lo = {.dialect = AT_DIALECT_TCC,
                                 .target = p->target,
                                 .name = "probe",
                                 .prefetch_above = at_cpu_facts()->l2_bytes};
    at_arena *a = at_arena_new();
    at_program *built;
    at_kernel *k;
    at_resident *code = NULL;
    void *found[1] = {0};
    at_status s = program(a, compute, tree, sizes, n, &built, err);
    if (s == AT_OK) s = at_lower(a, built, &lo, &k, err);
    if (s == AT_OK) {
        at_blob *blobs = AT_NEW_ARRAY(a, at_blob, k->num_tiles);
        for (int i = 0; i < k->num_tiles; i++)
            blobs[i] = (at_blob){k->tiles[i].symbol, k->tiles[i].bytes, k->tiles[i].size_bytes};
        s = at_resident_new(&(at_unit){.source = k->source,
                                       .blobs = blobs,
                                       .num_blobs = k->num_tiles,
                                       .names = &k->entry,
                                       .num_names = 1},
                            found, &code, err);
    }
    if (s == AT_OK) {
        void *buf[AT_MAX_BUFS] = {0}, *workspace = room(k->workspace_bytes);
        at_kernel_fn *entry;
        memcpy(&entry, &found[0], sizeof entry);
        for (int i = 0; i < k->num_params; i++)
            buf[i] = room(k->params[i].elements * at_type_bytes(k->params[i].type));
        *ns = least_so_far(p, least_ns(entry, buf, workspace));
        for (int i = 0; i < k->num_params; i++) free(buf[i]);
        free(workspace);
    }
    at_resident_free(code);
    at_arena_free(a);
    if (s == AT_OK && at_is_stopped(p->stop)) return at_fail_stopped(err);
    return s;
}

enum { LINE = 16 }; /* elements */

/* ---- register tiles -------------------------------------------------------------------------- */

static const char product[] = "a[Y, K] : input\n"
                              "w[P, K, B] : weight\n"
                              "acc[y:Y, x:X] = sum(k:K) a[y, k] * w[x/B, k, x%B]\n"
                              "out[y:Y, x:X] = acc[y, x]\n";
static const char product_tree[] = "yo, xo =>\n"
                                   "    ko, ki:unroll, yi:unroll, xi:vec =>\n"
                                   "        @acc = {yo, yi}/y, {xo, xi}/x  // {ko, ki}/k\n"
                                   "    yi:unroll, xi:vec =>\n"
                                   "        @out = {yo, yi}/y, {xo, xi}/x\n";

/* Calls of a tile of rows x b elements over so many steps: of each of yo rows of tiles, xo in a
 * row.
 */
static at_status time_tile(prober *p, int rows, int64_t b, int yo, int xo, int steps,
                           double *call_ns, at_error *err) {
    const size sizes[] = {{"Y", yo * rows}, {"X", xo * b},     {"K", steps}, {"P", xo},
                          {"B", b},         {"yo", yo},        {"yi", rows}, {"xo", xo},
                          {"xi", b},        {"ko", steps / 4}, {"ki", 4}};
    AT_TRY(
        time_kernel(p, product, product_tree, sizes, sizeof sizes / sizeof *sizes, call_ns, err));
    *call_ns /= (double)yo * xo;
    return AT_OK;
}

/* Would a tile be cut so that this is a part? Others do not occur. */
static bool occurs(const at_target *target, int rows, int64_t b) {
    at_part parts[] = {{.extent = rows}, {.vector = true, .extent = b}};
    at_tile_parts(target, parts, 2, 1, 0);
    return parts[0].size >= rows && parts[1].size >= b;
}

/* A step and a call, everything in L1: between a short sum and a long one. */
static at_status measure_near(prober *p, int rows, int64_t b, float *step_ns, float *call_ns,
                              at_error *err) {
    enum { SHORT = 8, LONG = 64 };
    double few, many;
    AT_TRY(time_tile(p, rows, b, 4, 1, SHORT, &few, err));
    AT_TRY(time_tile(p, rows, b, 4, 1, LONG, &many, err));
    double step = fmax((many - few) / (LONG - SHORT), 0.01);
    *step_ns = (float)step;
    *call_ns = (float)fmax(few - SHORT * step, 1);
    return AT_OK;
}

/* Bytes that come from L2, and stay there. */
static int64_t half_of_l2(void) {
    const int64_t l2 = at_cpu_facts()->l2_bytes;
    return (l2 ? l2 : 512 << 10) / 2;
}

static at_status measure_tile(prober *p, int rows, int vectors, at_speeds *s, at_error *err) {
    enum { FAR_STEPS = 256 };
    double far;
    int64_t b = (int64_t)vectors * p->target->lanes, panel = b * 4 * FAR_STEPS;
    float *step = &s->step_ns[vectors - 1][rows - 1], *call = &s->call_ns[vectors - 1][rows - 1];
    AT_TRY(measure_near(p, rows, b, step, call, err));
    AT_TRY(time_tile(p, rows, b, 1, (int)(half_of_l2() / panel), FAR_STEPS, &far, err));
    s->far_ns[vectors - 1][rows - 1] =
        (float)fmax((far - (double)*call) / FAR_STEPS, (double)*step);
    return AT_OK;
}

/* A step of a narrow tile. Of several rows it is taken to be no faster than a whole vector's, which
 * halves of registers may be: estimates have no time of its lines from further away, of which each
 * lane takes more. */
static at_status measure_narrow(prober *p, int rows, int width, int w, at_speeds *s,
                                at_error *err) {
    enum { SEVERAL = 4 };
    float *step = &s->narrow_ns[w][rows - 1];
    AT_TRY(measure_near(p, rows, width, step, &s->narrow_call_ns[w][rows - 1], err));
    if (rows >= SEVERAL) *step = fmaxf(*step, s->step_ns[0][rows - 1]);
    return AT_OK;
}

static at_status measure_tiles(prober *p, at_speeds *s, at_error *err) {
    static const int rows[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 30};
    for (int v = 1; v <= AT_SPEED_VECTORS; v++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            if (occurs(p->target, rows[i], (int64_t)v * p->target->lanes))
                AT_TRY(measure_tile(p, rows[i], v, s, err));
    static const int widths[AT_SPEED_WIDTHS] = {1, 2, 4, 8, 3};
    for (int w = 0; w < AT_SPEED_WIDTHS; w++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows && widths[w] < p->target->lanes; i++)
            if (occurs(p->target, rows[i], widths[w]))
                AT_TRY(measure_narrow(p, rows[i], widths[w], w, s, err));
    return AT_OK;
}

/* A line where each is for one multiply-add only: with a tile of one row. */
static at_status measure_stream(prober *p, int64_t bytes, float *stream_ns, at_error *err) {
    enum { STEPS = 256, VECTORS = 4 };
    const int lanes = p->target->lanes;
    const double lines = (double)STEPS * VECTORS * lanes / LINE;
    double ns;
    AT_TRY(time_tile(p, 1, VECTORS * lanes, 1, (int)(bytes / (STEPS * VECTORS * lanes * 4)), STEPS,
                     &ns, err));
    *stream_ns = (float)fmax(ns / lines, 0.01);
    return AT_OK;
}

static double lines_of_step(const prober *p) { return 2.0 * p->target->lanes / LINE; }

/* How much longer a step of a tile of two vectors takes than step_ns, for each line of these, where
 * they come from so many bytes. */
static at_status measure_longer(prober *p, const at_speeds *s, int rows, int64_t bytes,
                                double step_ns, float *line_ns, at_error *err) {
    enum { STEPS = 256 };
    const int64_t b = 2 * p->target->lanes, panel = b * 4 * STEPS;
    double ns;
    AT_TRY(time_tile(p, rows, b, 1, (int)(bytes / panel), STEPS, &ns, err));
    ns = ((ns - (double)s->call_ns[1][rows - 1]) / STEPS - step_ns) / lines_of_step(p);
    *line_ns = (float)fmax(ns, 0.01);
    return AT_OK;
}

/* What is left of the time of a line from L3 in the smallest tile of two vectors whose sums take as
 * long as lines of these alone. */
static at_status measure_beside(prober *p, int64_t bytes, at_speeds *s, at_error *err) {
    const float *step = s->step_ns[1];
    const double lines_ns = lines_of_step(p) * (double)s->stream_ns[2];
    int rows = 0;
    for (int r = 1; r <= AT_SPEED_ROWS; r++)
        if (step[r - 1] > 0 && (!rows || (double)step[rows - 1] < lines_ns)) rows = r;
    if (!rows) return AT_OK; /* no such tile occurs */
    return measure_longer(p, s, rows, bytes, (double)step[rows - 1], &s->beside_ns, err);
}

/* What a line of the vectors costs more where it comes from L3, or from memory: with the largest
 * tile of two vectors. */
static at_status measure_lines(prober *p, at_speeds *s, at_error *err) {
    const at_cpu *cpu = at_cpu_facts();
    int rows = AT_SPEED_ROWS;
    while (rows > 1 && s->step_ns[1][rows - 1] <= 0) rows--;
    double step = s->step_ns[1][rows - 1], far = s->far_ns[1][rows - 1];
    s->line_ns[1] = (float)fmax((far - step) / lines_of_step(p), 0.01);
    const int64_t bytes[] = {cpu->l2_bytes * 3, cpu->l3_bytes * 2};
    const int64_t most[] = {cpu->l3_bytes / 2, (int64_t)256 << 20};
    for (int i = 0; i < 2; i++) {
        if (!bytes[i] || bytes[i] > most[i]) continue; /* guessed */
        AT_TRY(measure_longer(p, s, rows, bytes[i], far, &s->line_ns[2 + i], err));
        AT_TRY(measure_stream(p, bytes[i], &s->stream_ns[2 + i], err));
        if (i == 0) AT_TRY(measure_beside(p, bytes[i], s, err));
    }
    return AT_OK;
}

/* A tile of one row of so many panels, that many steps each, whose lines lie so many elements
 * apart. */
static at_status time_spread(prober *p, int64_t panels, int64_t steps, int64_t apart, double *ns,
                             at_error *err) {
    static const char spread[] = "a[Y, K] : input\n"
                                 "w[P, K, D] : weight\n"
                                 "acc[y:Y, x:X] = sum(k:K) a[y, k] * w[x/B, k, x%B]\n"
                                 "out[y:Y, x:X] = acc[y, x]\n";
    const size sizes[] = {{"Y", 1},       {"X", panels * LINE}, {"K", steps},      {"P", panels},
                          {"B", LINE},    {"D", apart},         {"yo", 1},         {"yi", 1},
                          {"xo", panels}, {"xi", LINE},         {"ko", steps / 4}, {"ki", 4}};
    return time_kernel(p, spread, product_tree, sizes, sizeof sizes / sizeof *sizes, ns, err);
}

/* How much longer a line from L2 takes where a tile of one row reads every second one, and where
 * more lines than an associative cache has ways take one place of it, of rows a page apart. */
static at_status measure_alone(prober *p, at_speeds *s, at_error *err) {
    enum { STEPS = 256, ROWS = 64, PAGE = 1024 };
    const int64_t panels = half_of_l2() / (2 * LINE * 4 * STEPS);
    double next, second, spread, piled;
    AT_TRY(time_spread(p, panels, STEPS, LINE, &next, err));
    AT_TRY(time_spread(p, panels, STEPS, 2 * LINE, &second, err));
    AT_TRY(time_spread(p, 1, ROWS, PAGE + LINE, &spread, err));
    AT_TRY(time_spread(p, 1, ROWS, PAGE, &piled, err));
    s->alone_ns = (float)fmax((second - next) / (double)(panels * STEPS), 0.001);
    s->piled_ns = (float)fmax((piled - spread) / ROWS, 0.001);
    return AT_OK;
}

/* ---- sums in memory -------------------------------------------------------------------------- */

static const char stored_tree[] = "ko, yi, xi:vec =>\n"
                                  "    @acc = yi, xi  // ko\n"
                                  "yi, xi:vec =>\n"
                                  "    @out = yi, xi\n";

/* A step of a sum over so many rows of b elements each, in a loop that is not unrolled. */
static at_status time_stored(prober *p, int rows, int64_t b, double *step_ns, at_error *err) {
    enum { SHORT = 16, LONG = 80 };
    double ns[2];
    for (int i = 0; i < 2; i++) {
        int steps = i ? LONG : SHORT;
        const size sizes[] = {{"Y", rows}, {"X", b},     {"K", steps}, {"P", 1},
                              {"B", b},    {"yi", rows}, {"xi", b},    {"ko", steps}};
        AT_TRY(
            time_kernel(p, product, stored_tree, sizes, sizeof sizes / sizeof *sizes, &ns[i], err));
    }
    *step_ns = fmax((ns[1] - ns[0]) / (LONG - SHORT), 0);
    return AT_OK;
}

static at_status measure_stored(prober *p, at_speeds *s, at_error *err) {
    enum { FEW = 2, SOME = 8, MANY = 32 };
    double few, some, many, masked;
    const int64_t lanes = p->target->lanes;
    AT_TRY(time_stored(p, FEW, lanes, &few, err));
    AT_TRY(time_stored(p, SOME, lanes, &some, err));
    AT_TRY(time_stored(p, MANY, lanes, &many, err));
    AT_TRY(time_stored(p, SOME, lanes * 3 / 4, &masked, err));
    double one = (many - some) / (MANY - SOME);
    s->stored_ns[0] = (float)fmax(one, 0.05);
    s->stored_ns[1] = (float)fmax(some - SOME * one, 0.05);
    s->stored_ns[2] = (float)fmax(few, 0.05);
    s->waits_ns[1] = (float)fmax((masked - some) / SOME, 0.05);
    return AT_OK;
}

/* ---- vectors that are put together ----------------------------------------------------------- */

static const char apart[] = "a[Y, K] : input\n"
                            "w[X, K] : weight\n"
                            "acc[y:Y, x:X] = sum(k:K) a[y, k] * w[x, k]\n"
                            "out[y:Y, x:X] = acc[y, x]\n";

/* A step of a sum over so many rows of b such elements. */
static at_status time_apart(prober *p, int64_t rows, int64_t b, double *step_ns, at_error *err) {
    enum { SHORT = 8, LONG = 64 };
    double ns[2];
    for (int i = 0; i < 2; i++) {
        int steps = i ? LONG : SHORT;
        const size sizes[] = {{"Y", rows}, {"X", b},  {"K", steps},      {"yo", 1}, {"yi", rows},
                              {"xo", 1},   {"xi", b}, {"ko", steps / 4}, {"ki", 4}};
        AT_TRY(
            time_kernel(p, apart, product_tree, sizes, sizeof sizes / sizeof *sizes, &ns[i], err));
    }
    *step_ns = (ns[1] - ns[0]) / (LONG - SHORT);
    return AT_OK;
}

/* A multiply-add of one element, of rows that share a vector whose elements lie apart; and a load,
 * where these are so few that each is in a register of its own. */
static at_status measure_apart(prober *p, at_speeds *s, at_error *err) {
    enum { ELEMENTS = 64 };
    const int64_t b = p->target->lanes, most = p->target->regs / 2, rows = most > b ? most / b : 1;
    double many, few;
    AT_TRY(time_apart(p, ELEMENTS / b, b, &many, err));
    AT_TRY(time_apart(p, rows, b, &few, err));
    s->waits_ns[2] = (float)fmax(many / ELEMENTS, 0.001);
    s->waits_ns[3] = (float)fmax(few / (double)(rows + b), 0.001);
    return AT_OK;
}

/* ---- copies ---------------------------------------------------------------------------------- */

static const char copy[] = "a[Y, X] : input\n"
                           "b[y:Y, x:C] = a[y, x]\n";
static const char copy_tree[] = "yo =>\n"
                                "    yi, c:vec =>\n"
                                "        @b = {yo, yi}/y, c\n";

static at_status time_copy(prober *p, int yo, int yi, int vectors, double *ns, at_error *err) {
    int64_t c = (int64_t)vectors * p->target->lanes;
    const size sizes[] = {{"Y", yo * yi}, {"X", c + 32}, {"C", c},
                          {"yo", yo},     {"yi", yi},    {"c", c}};
    return time_kernel(p, copy, copy_tree, sizes, sizeof sizes / sizeof *sizes, ns, err);
}

static at_status measure_copies(prober *p, at_speeds *s, at_error *err) {
    enum { ROWS = 16 }; /* of eight registers of 64 bytes: 18 KB with what they are stored to */
    double one, eight, split;
    AT_TRY(time_copy(p, 1, ROWS, 1, &one, err));
    AT_TRY(time_copy(p, 1, ROWS, 8, &eight, err));
    AT_TRY(time_copy(p, ROWS, 1, 1, &split, err));
    double vector = (eight - one) / ROWS / 7, run = one / ROWS - vector;
    s->copy_ns = (float)fmax(vector, 0.05);
    s->run_ns = (float)fmax(run, 0.05);
    s->turn_ns = (float)fmax((split - one) / (ROWS - 1), 0.2);
    return AT_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

void at_speed_table_of_here(at_speed_table *t) {
    const at_cpu *cpu = at_cpu_facts();
    memset(t, 0, sizeof *t);
    strcpy(t->cpu, cpu->name);
    strcpy(t->flags, cpu->flags);
    strcpy(t->version, AT_VERSION);
    t->cache_bytes[0] = cpu->l1d_bytes;
    t->cache_bytes[1] = cpu->l2_bytes;
    t->cache_bytes[2] = cpu->l3_bytes;
}

static at_status measure_set(prober *p, int set, at_speeds *s, at_error *err) {
    p->num_kernels = 0;
    s->peak_gflops = fmaxf(s->peak_gflops, (float)at_peak_gflops(set, 1));
    for (int dots = 0; at_vector_set_name(dots); dots++) { /* of sets that are else like this one */
        const at_target *t = at_target_find(at_vector_set_name(dots));
        if (!t || !t->like || strcmp(t->like, s->isa) != 0 || !at_cpu_has_set(dots)) continue;
        float *gops = t->dots & AT_DOT_BF16 ? &s->bf16_gops : &s->dot_gops;
        *gops = fmaxf(*gops, (float)at_peak_dot_gops(dots, 1));
    }
    float chain = (float)at_chain_ns(set);
    if (s->waits_ns[0] <= 0 || chain < s->waits_ns[0]) s->waits_ns[0] = chain;
    AT_TRY(measure_tiles(p, s, err));
    AT_TRY(measure_lines(p, s, err));
    AT_TRY(measure_alone(p, s, err));
    AT_TRY(measure_stored(p, s, err));
    AT_TRY(measure_apart(p, s, err));
    return measure_copies(p, s, err);
}

static at_status measure_sets(prober *of, const volatile int *stop, at_speed_table *t,
                              at_error *err) {
    t->num_sets = 0;
    for (int set = 0; t->num_sets < AT_SPEED_SETS && at_vector_set_name(set); set++) {
        const at_target *target = at_target_find(at_vector_set_name(set));
        if (!at_cpu_has_set(set) || !target || !target->encode || target->lanes == 1) continue;
        if (target->like) continue; /* its tiles are measured as those of the set that it is like */
        prober *p = &of[t->num_sets];
        at_speeds *s = &t->sets[t->num_sets++];
        p->target = target, p->stop = stop;
        strncpy(s->isa, target->name, sizeof s->isa - 1);
        AT_TRY(measure_set(p, set, s, err));
    }
    return AT_OK;
}

at_status at_speeds_measure(const volatile int *stop, at_speed_table *t, at_error *err) {
    at_status status = AT_OK;
    at_speed_table_of_here(t);
    t->measured_s = at_wall_time_s();
    for (int i = 0; i < 3; i++)
        if (t->cache_bytes[i]) t->latency_ns[i] = (float)at_latency_ns(t->cache_bytes[i] / 2);
    prober *of = calloc(AT_SPEED_SETS, sizeof *of);
    AT_NEED(of);
    for (int pass = 0; pass < PASSES && status == AT_OK; pass++)
        status = measure_sets(of, stop, t, err);
    free(of);
    return status;
}
