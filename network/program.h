/* network/program.h: a network made ready to run: a kernel for each kind of part, the steps that
 * call them, where every value lies, and constants packed ahead. */
#ifndef AT_NETWORK_PROGRAM_H
#define AT_NETWORK_PROGRAM_H

#include "engine/engine.h"
#include "network/graph.h"

typedef AT_VEC(at_selection) at_net_logged; /* the best of each task in a log */
/* A part of another cut, which would take about as long. */
typedef struct at_net_try {
    at_net_part part;
    int count;
} at_net_try;
typedef AT_VEC(at_net_try) at_net_tries;

enum { AT_NET_MOST_WAYS = 4, AT_NET_MOST_CHOICES = 3 * AT_NET_MOST_WAYS };
/* How a kind of part can be computed: a way, and the best configuration of it. */
typedef struct at_net_choice {
    at_selection selection; /* template, task and configuration */
    int way;
    double time_s;       /* of a run in the network; 0: not known */
    double in_network_s; /* the same as measured there; 0: it was not */
    bool is_default;     /* the configuration without tuning: the log has none of the way */
} at_net_choice;
/* Plain C of a part in whole numbers. */
typedef struct at_net_whole {
    const at_compute *compute; /* NULL: it is none */
    const char *source;        /* of the function, which has the part's name in C */
    int (*call)(void *const *tensors, void *workspace, void *unused);
} at_net_whole;
/* The kernel of parts that lie in memory alike. */
typedef struct at_net_form {
    const int64_t *rows;    /* as those of at_net_part */
    at_session session;     /* of the kernel in memory */
    at_candidate candidate; /* its program */
    at_memory_kernel memory;
    at_resident *code;
    /* late: it prepares weights and indices at every call. */
    bool is_late;
    int (*call)(void *const *tensors, void *workspace);
    void (*fast)(void *const *tensors, void *packed, void *workspace);
    void (*pack)(void *const *tensors, void *packed);
    int64_t packed_bytes, scratch_bytes;
    uint64_t overwritten; /* bits: inputs whose memory its output may take */
} at_net_form;
/* What computes all parts of one text. */
typedef struct at_net_kernel {
    const at_net_part *part;           /* the first of them */
    int count;                         /* parts */
    at_request ways[AT_NET_MOST_WAYS]; /* of computing it: a template each */
    int num_ways;
    at_net_choice choices[AT_NET_MOST_CHOICES]; /* the fastest first */
    int num_choices;
    int way; /* of the chosen choice; above 0: a template, whose weight is [k, k, CI, CO] */
    at_selection chosen;
    AT_VEC(at_net_form) forms;
    at_net_whole
        whole; /* ways and choices have nothing then, the form its code and scratch_bytes */
} at_net_kernel;

typedef enum at_net_where {
    AT_NET_NOWHERE,
    AT_NET_INPUT,
    AT_NET_OUTPUT,
    AT_NET_WORKSPACE,
    AT_NET_WEIGHTS
} at_net_where;
typedef struct at_net_place {
    at_net_where where;
    int number;     /* of the input or output */
    int64_t offset; /* in workspace or weights, in bytes */
} at_net_place;

/* Elements in memory while the network runs. */
typedef struct at_net_storage {
    int value; /* the one whose memory it is; -1: a kernel's scratch */
    at_net_type type;
    int64_t elements, bytes;
    int first, last; /* the first and the last step that needs it */
    int over;        /* the storage whose memory it takes when that ends; -1: none */
    at_net_place place;
} at_net_storage;

typedef enum at_net_step_kind {
    AT_NET_CALL,   /* of a kernel */
    AT_NET_CONVERT /* elements of one type to another, or a copy */
} at_net_step_kind;
typedef struct at_net_step {
    at_net_step_kind kind;
    int kernel, form, part;
    const int *args; /* storages: of a call, parameters in order, -1 those that are packed; of a
                        conversion, from and to */
    int num_args;
    const int64_t *offsets; /* [num_args] of a call: bytes before what the argument has of each */
    at_net_place packed;    /* of a call: its weights */
    int scratch;            /* storage, or -1 */
    at_net_limits limits;   /* of a conversion: what the numbers may be */
} at_net_step;

typedef struct at_net_program {
    at_arena *arena;
    const at_net *net;  /* as read */
    int64_t read_bytes; /* of its constants, that every run reads */
    at_net_logged logged;
    at_net_cut cut;
    at_net_tries tries;
    at_net_kernel *kernels;
    int num_kernels;
    AT_VEC(at_net_storage) storages;
    AT_VEC(at_net_step) steps;
    int64_t workspace_bytes, least_bytes; /* least: the largest sum of what lives at once */
    char *weights; /* constants as the kernels want them, in the order of their first use */
    int64_t weights_bytes;
    int threads;          /* the most that a part runs on */
    bool without_weights; /* weights are counted, but not packed: the program is looked at, not run
                           */
    int num_tunable;      /* kernels that have ways */
    int num_tuned;        /* kernels whose configuration is from a log */
} at_net_program;

typedef struct at_net_build {
    at_engine_options engine;
    const char *log; /* the best records of parts; NULL: configurations that estimates put first */
    /* A program of the same net and options: what the log says, and the choices, are taken from it,
     * and the log is not read again. It lives longer. NULL: there is none. */
    const at_net_program *like;
    bool with_bounds;     /* kernels know what bounds them: at_candidate.bound */
    bool without_weights; /* the program is looked at and not run */
    bool is_exact;        /* at_net_make_exact follows */
    bool is_search;       /* parts of other cuts are wanted, too */
} at_net_build;

/* Operations of all parts of this kernel, 0 where they are not counted. */
double at_net_kernel_flops(const at_net_kernel *k);

/* _plan rewrites and cuts a network, and finds its kernels and their ways. _new also chooses a
 * configuration for each kernel and prepares all: the program is ready to run. Borrows the net,
 * which lives longer. Ended by at_net_program_free, on failure too. */
at_status at_net_program_plan(const at_net *net, const at_net_build *b, at_net_program *out,
                              at_error *err);
at_status at_net_program_new(const at_net *net, const at_net_build *b, at_net_program *out,
                             at_error *err);
void at_net_program_free(at_net_program *p);
/* Takes another of a kernel's choices. When all choices are made, at_net_prepare makes the program
 * ready to run again. */
at_status at_net_recompile(at_net_program *p, const at_net_build *b, int kernel, int choice,
                           at_error *err);
at_status at_net_prepare(at_net_program *p, at_error *err);

/* Tensors in the order of the file, in their own types; the workspace has workspace_bytes and is
 * aligned to AT_NET_ALIGNMENT. AT_E_INPUT: an index is outside of what it may be. */
at_status at_net_program_run(const at_net_program *p, const void *const *inputs,
                             void *const *outputs, void *workspace, at_error *err);

/* Seconds of this process's processor time, or, of a program on several threads, of a clock; times
 * of networks are differences of two such. */
double at_net_seconds(const at_net_program *p);
/* The same as at_net_program_run; steps_s[i], of each step, becomes the time that the step took
 * where that time is less. */
at_status at_net_program_time(const at_net_program *p, const void *const *inputs,
                              void *const *outputs, void *workspace, double *steps_s,
                              at_error *err);

/* ---- between the files of the program -------------------------------------------------------- */

/* net_cut.c: a cut by what its parts take in the log, which is read into *logged, or are
 * estimated to take. tries: NULL: they are not wanted. */
at_status at_net_cut_by_cost(at_arena *a, const at_net *rewritten, const at_net_build *b,
                             at_net_logged *logged, at_net_cut *out, at_net_tries *tries,
                             at_error *err);
/* ways.c: the template of a part's text, which lives as long as this program; the ways of the
 * kernels. */
at_status at_net_row_of(const at_net_part *part, const at_template_row **out, at_error *err);
/* tails.c: what the computation does with its only sum, x, as a stage of templates:
 * "+(x*sigmoid(x))",
 * "" where that is the output; NULL: it is no such stage, or takes operands in another order. */
const char *at_net_tail(at_arena *a, const at_compute *c);
/* Is it read where the stage's element stands? `first`: at its axes from there on. */
bool at_net_is_read_there(const at_tensor *stage, const at_expr *read, int first);
at_status at_net_find_ways(at_net_program *p, at_error *err);
at_status at_net_ways_of(at_arena *a, const at_net_cut *cut, const at_net_part *part,
                         at_request *ways, int *num, at_error *err);
/* A 3x3 convolution of stride 1 with a constant weight, whose padding is 1 on all sides, of values
 * with channels last. */
bool at_net_suits_winograd(const at_net_cut *cut, const at_net_node *n);
/* The instruction set of a part's kernel. */
const char *at_net_isa(const at_net_build *b, const at_task *task);
/* select.c: what the log of the build has of parts, if there is one; seconds that a way of a part
 * (0: the first) takes by that log, 0: it has no record of the way. */
at_status at_net_read_log(at_arena *a, const at_net_build *b, at_net_logged *out, at_error *err);
double at_net_logged_time(const at_net_logged *logged, const at_request *q, int way,
                          const at_task *task);
/* Fills the choices of all kernels, and takes the first of each. */
at_status at_net_select(at_net_program *p, const at_net_build *b, at_error *err);
void at_net_choose(at_net_kernel *k, int choice);
/* runners.c: behind the best configuration of a way that the log has the next best ones. */
at_status at_net_add_runners(at_net_program *p, const at_net_build *b, at_error *err);
/* in_network.c: times of choices in the network as lines of the log: they count before others. */
/* at_net_config_of: a configuration of the selection's task, as JSON, which can be built. */
at_status at_net_config_of(at_arena *a, const char *config, at_selection *s);
at_status at_net_read_in_network(at_net_program *p, const at_net_build *b, at_error *err);
void at_net_add_line(at_text *out, const at_net_build *b, const at_net_kernel *k, int choice);
/* kernels.c: kernels in memory; a form without its kernel. */
void at_net_form_free(at_net_form *f);
at_status at_net_compile(at_net_program *p, const at_net_build *b, at_error *err);
/* net_rows.c: which of a kernel's forms a part has, NULL: none yet; whether what lies between the
 * rows of its outputs stays as it is. */
at_net_form *at_net_form_of(at_net_kernel *k, const at_net_part *part);
at_status at_net_check_rows(const at_net_kernel *k, const at_net_form *f, at_error *err);
/* net_over.c: inputs whose memory the form's output may take, by what it does, or by_text: as its
 * text says, without weights in memory; storages that take others'. */
uint64_t at_net_find_overwritten(const at_net_kernel *k, const at_net_form *f, bool by_text);
void at_net_write_over(at_net_program *p);
/* net_steps.c: steps and memory; the type that a part's parameter has in memory. */
void at_net_make_steps(at_net_program *p);
at_net_type at_net_param_type(const at_net_program *p, const at_net_part *part,
                              const at_net_param *x);
void at_net_place_storages(at_net_program *p);
/* weights.c: constants as kernels want them. */
at_status at_net_pack_weights(at_net_program *p, at_error *err);

#endif
