/* records/record.h: one line of the log in memory: an AutoTVM 0.2 record, with one extra member of
 * ours. Texts, arrays and JSON that a record points to live in the arena it was read into; who
 * makes one keeps them alive. docs/notes/records.md lists the fields. Source: TVM v0.12,
 * python/tvm/autotvm/record.py. */
#ifndef AT_RECORDS_RECORD_H
#define AT_RECORDS_RECORD_H

#include "knobs/knobs.h"
#include "records/words.h"

/* What must agree for two results to be comparable. Texts are borrowed; "" where not known. */
typedef struct at_context {
    const char *cpu; /* brand string */
    int threads;
    const char *isa;           /* name of the instruction set */
    const char *compiler;      /* "tcc", "gcc", "clang" */
    const char *packing;       /* "ahead", "inline" */
    const char *cache;         /* "hot", "cold", "weights-cold" */
    const char *pattern;       /* hash of a sparsity pattern, "" if dense */
    const char *template_hash; /* of the template's texts */
    const char *machine;       /* what tells CPUs of one name apart: at_cpu.machine */
} at_context;
void at_context_hash(const at_context *c, char out[33]);
/* Is it of another version of the template than that with this hash? One that does not say is not.
 */
bool at_context_is_of_other_template(const at_context *c, const char *template_hash);
at_context at_context_copy(at_arena *a, const at_context *c);

/* Which trial of a search over several workers it is. Each number is recorded once. */
typedef struct at_trial_id {
    uint64_t search; /* 0: of none */
    int epoch;       /* how often that search was begun, from 1 */
    int64_t number;  /* of the proposal, from 0 */
    int attempt;     /* from 1: workers were lost with those before */
    int64_t asked;   /* proposals made when this result came */
} at_trial_id;
/* Runs of a kernel, each beside one of its log's anchor (#anchor lines). */
typedef struct at_paired {
    double of_first; /* time over that of the log's first anchor, by the links; 0: timed alone */
    double of_first_error; /* how unsure these links are: half of a 95 % interval of their log */
    double ratio;      /* over that of the anchor: median of the pairs in the state that counts, of
                          all where none is in it */
    int anchor;        /* its number in the log */
    const char *first; /* code hash of the first anchor */
    const double *ratios; /* pair by pair, in measured order */
    int num_ratios;
    const char *states; /* [num_ratios] a letter of each pair's (at_state_letter); "": not known */
    bool is_bracketed;  /* approximate: much slower than the anchor */
} at_paired;

/* How far outputs are from those in double, for standard-normal inputs and weights: the largest
 * error and the root mean square of all, over the root mean square of the output. */
typedef struct at_accuracy {
    bool is_known;
    double max_error, rms_error;
} at_accuracy;

/* Our extra member "autotune"; present = false for foreign records. */
typedef struct at_extra {
    bool present;
    at_context context;
    char context_hash[33];
    const char *version; /* of this program */
    const char *compiler_version;
    const char *cpu_flags; /* instruction sets, as Linux names them */
    const char *sandbox;   /* why the kernel was not confined: "off", "none"; "": it was */
    const char *tuner;     /* "" where none */
    const char *part;      /* of the tuner, that proposed it; "" where it has none */
    uint64_t seed;
    const double *samples_s; /* raw, in measured order; AutoTVM's repeat is their number */
    int num_samples;
    int number;           /* runs per sample; 0 not known */
    double min_repeat_ms; /* as asked for; 0: not */
    at_paired pairs;
    at_samples sample_kind;
    const char *sample_word; /* of AT_SAMPLES_OTHER */
    bool in_bytes;           /* no multiply-adds: the next two are GB/s, the first the bandwidth */
    bool of_dots;            /* the peak is that of dot products */
    double peak_gflops;      /* FMA peak of the core beside it; 0 unknown */
    double gflops;           /* of this trial; 0 for failures */
    at_accuracy accuracy;
    const char *error; /* text; "" if none */
    at_check check;
    double of_limit; /* tolerance: the largest share of its limit that an element was off; 0 */
    const char *check_word; /* of AT_CHECK_OTHER */
    const char *code_hash;
    int64_t same_as; /* index whose measurement this is a copy of; -1 */
    at_trial_id trial;
} at_extra;

/* One round of a final: a finalist was timed once more. */
typedef struct at_round {
    const double *samples_s; /* raw, in measured order */
    int num_samples;
    const char *states; /* [num_samples] letters, of pairs; NULL or "": not known */
    double time_s;      /* out of these, as the cost of a trial; of pairs: of those that count */
    double peak_gflops; /* FMA peak of the moment; 0: not known */
} at_round;
/* What one final says of one finalist. */
typedef struct at_turns {
    double begun_s; /* when the final began, which tells one from another; 0: not said */
    const at_round *rounds;
    int num_rounds;
    /* Above 0: so many finalists were timed in pairs with one anchor; samples are ratios times the
     * anchor's time, of which that is the index. */
    int among;
    int64_t anchor;
    at_objective objective; /* by which time_s and the interval go */
    /* Code hash of the first anchor of the trials, and its time in this final, by a link measured
     * when it began; NULL: not known. Finals with the same one are comparable. */
    const char *first;
    double first_s;
    double first_error;  /* of the log of that time: half of its 95 % interval; 0: not known */
    const char *dialect; /* through gcc, of what is delivered; NULL: as trials are */
    int error_no; /* it failed when it was timed again; what was timed before does not count */
    const char *error;
    double
        time_s; /* median of the rounds, where states are known of the samples; 0: there are none */
} at_turns;

typedef struct at_record {
    const char *target;  /* canonical when read */
    const char *task;    /* record name of the template */
    const at_json *args; /* array; true and false have become 1 and 0 when read; of several forms
                            that a task's arguments have, the template's own */
    const at_json *args_written; /* as they stood in the file; NULL: args */
    at_config config;            /* read without its space: form only */
    const char *code_hash;       /* of AutoTVM's config; NULL: null */
    const double *costs_s;
    int num_costs;
    int error_no; /* at_err_no, or a number of others */
    double all_cost_s, timestamp_s;
    bool all_cost_is_int;    /* written without a point, as AutoTVM's time limits are */
    const char *tvm_version; /* as read; NULL or "": "0.12.0" */
    at_extra extra;
    int64_t line;           /* in its file, from 1 */
    const at_turns *finals; /* it was in, ascending by when they began; none: not looked for */
    int num_finals;
} at_record;

/* Part of what nobody proposed: the default configuration, which trials are timed against. */
extern const char *const at_part_anchor;
bool at_record_is_trial(const at_record *r);   /* of any other part */
const char *at_extra_check(const at_extra *e); /* the word; "" where it is not said */
extern const char *const at_pruned_text;       /* error of what was not measured, since its bound */
bool at_record_is_pruned(const at_record *r);  /* alone is too far from the best */
bool at_record_is_at_least(const at_record *r); /* valid, but its time is a bound from below */
double at_record_mean(const at_record *r);      /* of costs */
/* Seconds of a run: what is 10^9 and more, or below 10^-12, is nobody's measurement. */
bool at_can_be_time(double seconds);
/* Time and rounds as they are for an objective, of which samples in a state count. Returns how many
 * of these there are; 0: it is as it was, of all. rounds: room for as many. */
int at_turns_for(at_turns *t, at_objective o, at_round *rounds);
/* The median of the rounds, or the mean of the middle half of the samples that count, in pairs; 0:
 * there are none. */
double at_turns_time(const at_turns *t);
/* How many samples the interval is of. */
int at_turns_counting(const at_turns *t);
/* Are too few of its samples in a state that counts for its time to be more than luck? Not where
 * states are not told. */
enum { AT_FEW_SAMPLES = 5 };
bool at_turns_are_few(const at_turns *t);
/* Of a final in pairs: the median of the samples that count, and an interval that holds the truth
 * of all its finalists, so of the winner, too, with 95 %; without ends as long as samples are too
 * few. */
at_interval at_turns_interval(const at_turns *t);
/* In it, x takes certainly more than 0.3 % longer than y; both of one final in pairs. */
bool at_turns_behind(const at_turns *x, const at_turns *y);
/* The last final it was timed in; NULL: none. */
const at_turns *at_record_final(const at_record *r);
/* Time, speed and share of the peak are those of one measurement: of that final (medians of its
 * rounds), else of the trial. 0: not known. */
double at_record_time(const at_record *r);
double at_record_gflops(const at_record *r);
double at_record_peak(const at_record *r); /* GFLOP/s */
double at_record_of_peak(const at_record *r);
/* Costs of ours out of raw samples: of more than two the extremes are left out, the rest sorted. */
const double *at_costs_of_samples(at_arena *a, const double *samples, int n, int *num_costs);
/* One line with '\n': members and spelling as TVM writes them, then the extra member if present. */
void at_record_print(at_text *out, const at_record *r);
/* One line without '\n'. Everything is owned by arena. AT_E_INPUT says what is wrong with it. */
at_status at_record_parse(at_arena *a, const char *line, size_t len, at_record *out, at_error *err);
/* Target text in canonical form; -link-params dropped. */
void at_tvm_target_canonical(at_text *out, const char *target);
void at_workload_key(at_text *out, const at_record *r);
void at_measurement_key(at_text *out, const at_record *r);
/* What tells one workload from another, as AutoTVM's dictionaries do: task and arguments, where 1,
 * 1.0 and true are the same. */
void at_workload_identity(at_text *out, const at_record *r);
/* Whether a line, of whatever kind, is of a task: its name in records and its arguments. */
bool at_same_task(const char *name, const at_json *args, const char *other,
                  const at_json *other_args);
/* Structure and values; 1, 1.0 and true are the same. */
bool at_args_equal(const at_json *x, const at_json *y);

#endif
