/* engine/measure/bench.h: what a session measures with: the data, the worker, the kernel that
 * trials are timed against, the states of the machine. For files of measure/ alone. */
#ifndef AT_ENGINE_BENCH_H
#define AT_ENGINE_BENCH_H

#include "engine/data/dataset_cover.h"
#include "engine/measure/session.h"

/* What trials are timed against (anchors.h). */
typedef struct at_anchors {
    bool is_ready;                            /* it was looked for */
    struct at_candidate *kernel;              /* the worker's; NULL: trials are timed alone */
    const char *object;                       /* of it, where there is one */
    int number, links;                        /* as in its line of the log */
    double of_first, of_first_error, first_s; /* of_first 0: ratios to it say nothing of these */
    const char *first;
    double peak_gflops; /* FMA peak when first_s was measured; 0: not known */
    double wasted_s; /* by the pairs of trials since the last link: with a faster anchor they would
                     have taken that much less */
    at_state state;  /* in which these times were measured */
    at_scale by[AT_STATE_COUNT];
    at_dataset twin; /* data of its own, where layouts change; its store is NULL as long as it is
                        not needed */
} at_anchors;

/* Of the machine (states.h). */
enum { AT_DIFFERENCES = 256 };
typedef struct at_states {
    bool is_begun, seen_alone;
    at_reach reach;
    at_objective objective;
    double time_s[AT_STATE_COUNT]; /* of pairs, each so many seconds of a run of both */
    double waited_s;               /* for the state that counts; in the other one's time */
    int core, cores;               /* measured on, and of how many it was chosen; 0: it was not */
    double differences[AT_DIFFERENCES]; /* of the first two pairs that count, in each of the last
                                           trials: logarithms */
    int num_differences;                /* so far */
} at_states;

typedef struct at_known_accuracy {
    at_key sums; /* at_program_sums_key */
    at_accuracy of;
} at_known_accuracy;
/* How accurate kernels are (accuracy.h). */
typedef struct at_accuracies {
    bool is_decided, matters; /* is_decided: the latter is known */
    at_dataset normal;        /* its store is NULL as long as it is not needed */
    at_dataset limited;       /* the same inputs; its expected outputs have limits */
    AT_VEC(at_known_accuracy) known;
} at_accuracies;

_Static_assert(AT_MOST_OTHERS >= AT_MOST_DRAWS - 1, "every draw has its room");
struct at_bench {
    at_dataset data, others[AT_MOST_OTHERS]; /* others: of further check runs, and of the second of
                                                paranoid's */
    int num_others;
    at_dataset cover; /* of check runs whose winners go from place to place; its store is NULL where
                         there are none */
    at_moved moved;
    bool is_projected; /* the expected outputs are a candidate's: see reference.h */
    at_worker *worker;
    at_anchors anchors;
    at_states states;
    at_accuracies accuracy;
    int64_t flush_bytes;            /* before each sample; 0: caches stay as they are */
    int64_t ring_bytes;             /* at_job.ring_bytes */
    double peak_gflops;             /* FMA peak of the core, as last measured */
    double peak;                    /* that speeds are shares of: this one, that of dot
                                       products, or the bandwidth */
    int64_t peak_ns;                /* when that was, on the clock of at_now_ns */
    struct at_reference *reference; /* being made (reference.h); NULL: it is not */
    int64_t disturbed;              /* samples thrown away, or kept where there were no others */
};

#endif
