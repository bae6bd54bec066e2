/* bench/bench.h: what the parts of the bench share: the report, contests (several codes, and the
 * FMA peak of the core, timed in pairs with one of them), kernels loaded into this process, the
 * tool's own runs, and the peers.
 *
 * Everything runs on one thread, pinned to the core that the tool's worker uses. Machines drift by
 * several percent within minutes, so no figure is an absolute speed: each is a ratio of samples
 * taken next to each other, and the median over the rounds is reported. docs/notes/bench.md
 * explains the rows. */
#ifndef AT_BENCH_H
#define AT_BENCH_H

#include "base/base.h"
#include "codegen/codegen.h"
#include "cost/cost.h"
#include "runtime/runtime.h"
#include "schedule/schedule.h"
#include "templates/pattern.h"
#include "templates/task.h"

/* ---- report (report.c) ---------------------------------------------------------------------- */

/* Of a contest: of all pairs, of those alone, of those in company. */
enum { AT_BENCH_ANY, AT_BENCH_ALONE, AT_BENCH_COMPANY, AT_BENCH_KINDS };

typedef struct at_bench_spread { /* median and quartiles */
    double low, median, high;
    /* The median in each state, and how much of the pairs it had; 0: none, or it is not known. */
    double in[AT_BENCH_KINDS], share[AT_BENCH_KINDS];
} at_bench_spread;
at_bench_spread at_bench_spread_of(const double *values, int n); /* n >= 1 */
at_bench_spread at_bench_single(double value);

typedef enum at_bench_goal {
    AT_BENCH_GOAL_NONE,
    AT_BENCH_GOAL_LEAST,
    AT_BENCH_GOAL_MOST
} at_bench_goal;
/* Its rows have this unit and so many digits behind the point. */
void at_bench_report_section(const char *title, const char *unit, int num_digits);
/* "pass" or "short" by the median; AT_BENCH_GOAL_NONE: for orientation. */
void at_bench_report_row(const char *what, at_bench_spread value, at_bench_goal goal,
                         double target);
void at_bench_report_skip(const char *what, const char *why);
void at_bench_report_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Is it among the words of ROWS in the environment? Without it all are. */
bool at_bench_is_wanted(const char *name);
/* Calls run(a, i, err) with an arena of its own and at_bench_alloc's memory empty. AT_E_NO_VALID is
 * a row that is skipped. */
at_status at_bench_row(at_status (*run)(at_arena *a, int i, at_error *err), int i, const char *name,
                       at_error *err);

/* Spearman's (ranks.c). */
double at_bench_rank_correlation(const double *x, const double *y, int n);

/* ---- contests (contest.c) ------------------------------------------------------------------- */

typedef struct at_bench_contender {
    void (*run)(void *context);
    void *context;
    double flops; /* of one run */
} at_bench_contender;

#define AT_BENCH_CONTENDERS 6
#define AT_BENCH_ROUNDS 241
typedef struct at_bench_times {
    double of[AT_BENCH_CONTENDERS + 1]; /* a run's time over the first contender's */
} at_bench_times;
typedef struct at_bench_contest {
    int rounds, peak; /* peak: its number among the contenders, behind all others */
    double flops[AT_BENCH_CONTENDERS + 1];
    at_bench_times times[AT_BENCH_KINDS][AT_BENCH_ROUNDS]; /* 0: it was not in that state then */
    int64_t pairs[AT_BENCH_KINDS];
} at_bench_contest;
void at_bench_contest_run(at_bench_contest *c, const at_bench_contender *of, int n,
                          const at_target *target); /* whose peak counts */
/* What times of a round say of contenders i and j; not above 0: nothing, as one of them is missing.
 */
typedef double at_bench_value(const at_bench_contest *c, const double *times, int i, int j);
at_bench_spread at_bench_contest_of(const at_bench_contest *c, at_bench_value *f, int i, int j);
at_bench_spread at_bench_contest_of_peak(const at_bench_contest *c, int i);
at_bench_spread at_bench_contest_speed(const at_bench_contest *c, int i,
                                       int j); /* of i, as a multiple of j's */

/* ---- what comparisons found, in a file (counts.c) ------------------------------------------- */

typedef struct at_bench_counts {
    int comparisons, different, beyond; /* beyond 0.3 %; each no more than the one before */
} at_bench_counts;
/* All lines of the file together; of one that is not there nothing. AT_E_INPUT names the line. */
at_status at_bench_counts_read(const char *path, at_bench_counts *sum, at_error *err);
at_status at_bench_counts_append(const char *path, const at_bench_counts *c, at_error *err);

/* ---- memory (memory.c): 64-byte aligned, in large pages, zeroed; for us and the peers alike -- */

void *at_bench_alloc(int64_t size_bytes);
/* What follows lies as a block of the worker's does: a line behind the beginning of a large page.
 * So inputs and outputs lie to each other as they did in the search. */
void at_bench_alloc_block(void);
void at_bench_alloc_reset(void); /* frees all of it */

/* ---- kernels in this process (kernel.c) ----------------------------------------------------- */

/* Inputs with exact data, and the expected outputs, by tensor; NULL: neither. */
typedef struct at_bench_data {
    const at_compute *compute;
    const int64_t *values;
    float **tensor;
    int64_t *elements;
    double flops;
    double within; /* of outputs that are not exact: how far an element may be off, in units of the
                      root of their mean square */
} at_bench_data;
at_status at_bench_data_new(at_arena *a, const at_compute *c, const int64_t *values,
                            at_bench_data *out, at_error *err);
/* Of a task with a block-sparse weight, whose blocks are where the pattern says. */
at_status at_bench_data_sparse(at_arena *a, const at_task *task, const at_program *p,
                               const at_pattern *pattern, at_bench_data *out, at_error *err);
/* The first difference is AT_E_DIFFERS. within: as in at_bench_data. */
at_status at_bench_check(const char *who, const float *got, const float *expected, int64_t n,
                         double within, at_error *err);

typedef struct at_bench_kernel {
    at_kernel_fn *entry, *pack; /* pack NULL: nothing is packed ahead */
    void **buf, *workspace;
    at_par par;
    double flops;
    at_resident *resident; /* TinyCC's code, or NULL */
    void *handle;          /* of a loaded object; TinyCC's: NULL */
    int object_fd;         /* its file, or 0 */
    const char *object;    /* of gcc and clang, removed by close */
} at_bench_kernel;
/* Compiles what is text, loads, and finds the functions; what TinyCC compiled before is
 * overwritten. */
at_status at_bench_load(const at_job *job, at_bench_kernel *out, at_error *err);
/* As the tool lowers a candidate for TinyCC. */
const at_target *at_bench_target(void); /* the best of this CPU */
at_lower_options at_bench_lower_options(const at_target *target);
/* Lowers, compiles, loads, packs, runs once and checks; any number of kernels beside each other.
 * flags: of gcc and clang. */
at_status at_bench_kernel_open(at_arena *a, const at_program *p, const at_lower_options *o,
                               at_compiler compiler, const char *flags, const at_bench_data *data,
                               at_bench_kernel *out, at_error *err);
void at_bench_kernel_close(at_bench_kernel *k);
/* Computation and tree written in the bench, with numbers; verified. */
typedef struct at_bench_size {
    const char *name;
    int64_t value;
} at_bench_size;
at_status at_bench_program(at_arena *a, const char *compute, const char *tree,
                           const at_bench_size *sizes, int num_sizes, at_program **out,
                           at_error *err);
/* tile.c: the register tile of AVX-512 on operands in L1, through gcc. */
at_status at_bench_tile_open(at_arena *a, at_bench_kernel *out, at_error *err);
at_bench_contender at_bench_kernel_contender(at_bench_kernel *k);

/* ---- layers and the tool's own runs (tuned.c) ------------------------------------------------ */

typedef struct at_bench_conv { /* forward convolution, NHWC data, OHWI weights */
    int n, ih, iw, ic, oc, kh, kw, stride, pad;
    int winograd; /* of oneDNN: that algorithm, with tiles of 2 or 4; 0: direct */
} at_bench_conv;
int at_bench_conv_oh(const at_bench_conv *s);
double at_bench_conv_flops(const at_bench_conv *s);
int at_bench_conv_ow(const at_bench_conv *s);
/* Below a share of the FMA peak: what it can be where products with padding are not computed. */
void at_bench_note_padding(const at_bench_conv *s);

typedef struct at_bench_layer {
    const char *name; /* "64@56" */
    at_bench_conv conv;
    double least_of_peak; /* issue's target for conv2d_3x3_gemm */
} at_bench_layer;
#define AT_BENCH_LAYERS 4
extern const at_bench_layer
    at_bench_layers[AT_BENCH_LAYERS]; /* the 3x3 layers of ResNet-50, batch 1 */
/* at_bench_row for every layer that is wanted, with its number. */
at_status at_bench_each_layer(at_status (*run)(at_arena *a, int i, at_error *err), at_error *err);

/* A run of the tool: `autotune TEMPLATE --args ARGS --trials N OPTIONS` on a fresh log, run once.
 */
typedef struct at_bench_search {
    const char *name; /* of the layer; names the log */
    const char *template_name, *args, *options;
    int trials;
    const at_target *target;
} at_bench_search;
/* 500 random trials of conv2d_3x3_gemm. */
at_bench_search at_bench_layer_search(at_arena *a, const at_bench_layer *l,
                                      const at_target *target);
/* Of a computation without a schedule, examples/te/FILE.te, on this CPU. */
at_bench_search at_bench_te_search(at_arena *a, const char *name, const char *file,
                                   const char *args, int trials);

typedef struct at_bench_tuned {
    bool ok;
    char why[1024];              /* not ok: the tool's message */
    int64_t index;               /* of the best */
    int trials;                  /* done; fewer than asked for where time or space was up */
    double total_s, cpu_s;       /* of the whole run: by the clock; of the processor */
    at_bench_spread per_trial_s; /* all_cost of the log's records */
} at_bench_tuned;
extern int at_bench_cores; /* that this process was given, before it took one */
/* Where NEIGHBOUR is set: starts tools/neighbour beside this CPU, and says where. */
void at_bench_invite(int cpu);
extern int at_bench_trials; /* of every search; 0: each its own number */
const at_bench_tuned *at_bench_tune(const at_bench_search *s);
/* The folder of this program: logs go here, the tool is one above. */
const char *at_bench_folder(at_arena *a);
/* A task of a template or of a file. */
at_status at_bench_task(at_arena *a, const char *template_name, const char *args, at_task **out,
                        at_error *err);
/* A configuration of the search's task. */
at_status at_bench_program_at(at_arena *a, const at_bench_search *s, int64_t index,
                              at_program **out, at_error *err);
/* The best configuration of that run, as a verified program of its task. AT_E_NO_VALID with the
 * tool's message. */
at_status at_bench_best(at_arena *a, const at_bench_search *s, at_program **out, at_error *err);
extern const char at_bench_pack_inline[]; /* options of a search: weights packed when timed */
/* And with it its data, and its kernel for TinyCC, packed as the search had it. */
at_status at_bench_best_open(at_arena *a, const at_bench_search *s, at_program **program,
                             at_bench_data *data, at_bench_kernel *kernel, at_error *err);
/* Holds the best of a search against its row's peers. */
typedef at_status at_bench_meet(at_arena *a, const void *row, const at_program *program,
                                at_bench_kernel *kernel, const at_bench_data *data, at_error *err);
/* The best, for this machine's widest set, opened for that and closed again. */
at_status at_bench_best_meets(at_arena *a, const at_bench_search *s, at_bench_meet *peers,
                              const void *row, at_error *err);

/* A weight in blocks of 16x1, of which 0.8 are pruned (sparse.c): the best kernel of a template
 * with a sparse weight. */
typedef struct at_bench_pruned {
    const char *name, *template_name, *sizes; /* arguments without the blocks */
    const char *options;                      /* of the search */
    int trials;
} at_bench_pruned;
at_status at_bench_open_pruned(at_arena *a, const at_bench_pruned *l, at_bench_kernel *out,
                               at_error *err);
/* Of a layer: of spconv2d_3x3_gemm, the best of 500 trials. */
at_status at_bench_open_sparse(at_arena *a, const at_bench_layer *l, at_bench_kernel *out,
                               at_error *err);

/* ---- TVM's te_workload (workload.c) ---------------------------------------------------------- */

typedef struct at_bench_te_row {
    const char *name, *file, *args; /* "C2D-3"; examples/te/FILE.te */
} at_bench_te_row;
const at_bench_te_row *at_bench_te_rows(int *n);

/* ---- parts ----------------------------------------------------------------------------------- */

at_status at_bench_lowering(at_error *err);
at_status at_bench_conv3x3(at_error *err);
at_status at_bench_nchwc(at_error *err);
at_status at_bench_fused(at_error *err);
at_status at_bench_ragged(at_error *err);
at_status at_bench_recurrent(at_error *err);
at_status at_bench_algorithms(at_error *err);
at_status at_bench_layers_of_networks(at_error *err);
at_status at_bench_templates(at_error *err);
at_status at_bench_derived(at_error *err);
at_status at_bench_lowp(at_error *err);
at_status at_bench_derived_libraries(at_error *err); /* the second half of it */
at_status at_bench_workload(at_error *err);
at_status at_bench_sketches(at_error *err);
at_status at_bench_operators(at_error *err);
at_status at_bench_functions(at_error *err); /* rows of operators' */
at_status at_bench_sparse(at_error *err);
at_status at_bench_dialects(at_error *err);
at_status at_bench_avx2(at_error *err);
at_status at_bench_trial_time(at_error *err);
at_status at_bench_threads(at_error *err);
at_status at_bench_records(at_error *err);
at_status at_bench_why(at_error *err);
at_status at_bench_cost(at_error *err);
at_status at_bench_pairs(at_error *err);

#endif
