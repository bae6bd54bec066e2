/* records/records.h: the log. One AutoTVM 0.2 JSON line per trial, with one extra member of ours;
 * reading is tolerant, writing is exact. docs/records.md lists the fields. Source: TVM v0.12,
 * python/tvm/autotvm/record.py and task/dispatcher.py. */
#ifndef AT_RECORDS_H
#define AT_RECORDS_H

#include "base/base.h"
#include "knobs/knobs.h"

/* ---- states, spelled in records as words (words.c) --------------------------------------------
 */

typedef enum at_packing { AT_PACKING_AHEAD, AT_PACKING_INLINE, AT_PACKING_COUNT } at_packing;
typedef enum at_cache { AT_CACHE_HOT, AT_CACHE_COLD, AT_CACHE_COUNT } at_cache;
const char *at_packing_name(at_packing p); /* "ahead", "inline" */
bool at_packing_from_name(const char *name, at_packing *out);
const char *at_cache_name(at_cache c); /* "hot", "cold" */
bool at_cache_from_name(const char *name, at_cache *out);

/* What is known of a trial's output. */
typedef enum at_check {
    AT_CHECK_NONE,      /* not said */
    AT_CHECK_UNCHECKED, /* it came to none */
    AT_CHECK_FAILED,
    AT_CHECK_EXACT,     /* equal to the reference */
    AT_CHECK_TOLERANCE, /* within its tolerance */
    AT_CHECK_OTHER      /* a word of a later version */
} at_check;
/* How often it was timed. */
typedef enum at_samples {
    AT_SAMPLES_NONE,
    AT_SAMPLES_FULL,
    AT_SAMPLES_SINGLE, /* so slow that one sample does; versions before wrote it */
    /* so slow that the check run alone was timed: a bound, and no time */
    AT_SAMPLES_AT_LEAST,
    AT_SAMPLES_OTHER /* a word of a later version */
} at_samples;

/* Of at_state: base.h. */
const char *at_state_name(at_state s); /* "unknown", "alone", "company", "mixed" */
char at_state_letter(at_state s);      /* their first */
bool at_state_from_letter(char letter, at_state *out);

/* Which state counts where results are compared; typical: all but mixed, as they come. */
typedef enum at_objective {
    AT_OBJECTIVE_NONE, /* not said */
    AT_OBJECTIVE_ALONE,
    AT_OBJECTIVE_COMPANY,
    AT_OBJECTIVE_TYPICAL,
    AT_OBJECTIVE_COUNT
} at_objective;
const char *at_objective_name(at_objective o); /* "", "alone", "company", "typical" */
bool at_objective_from_name(const char *name, at_objective *out);
bool at_objective_counts(at_objective o, at_state s);
/* The median of the values whose state counts; of all where none does, or states are not known (""
 * or NULL). *counting: how many do; may be NULL. */
double at_median_that_counts(const double *values, const char *states, int n, at_objective o,
                             int *counting);

/* ---- records --------------------------------------------------------------------------------- */

/* What must agree for two results to be comparable. Texts are borrowed; "" where not known. */
typedef struct at_context {
    const char *cpu; /* brand string */
    int threads;
    const char *isa;           /* name of the instruction set */
    const char *compiler;      /* "tcc", "gcc", "clang" */
    const char *packing;       /* "ahead", "inline" */
    const char *cache;         /* "hot", "cold" */
    const char *pattern;       /* hash of a sparsity pattern, "" if dense */
    const char *template_hash; /* of the template's texts */
    const char *machine;       /* what tells CPUs of one name apart: at_cpu.machine */
} at_context;
void at_context_hash(const at_context *c, char out[33]);
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
    double first_error; /* of the log of that time: half of its 95 % interval; 0: not known */
    int error_no; /* it failed when it was timed again; what was timed before does not count */
    const char *error;
    double
        time_s; /* median of the rounds, where states are known of the samples; 0: there are none */
} at_turns;

/* What became of a trial: AutoTVM's numbers (words.c). */
typedef enum at_err_no {
    AT_ERR_NONE = 0,
    AT_ERR_INSTANTIATION = 1, /* the tree violates a rule */
    AT_ERR_COMPILE_HOST = 2,
    AT_ERR_COMPILE_DEVICE = 3,
    AT_ERR_RUNTIME = 4, /* crash, out of bounds, out of memory */
    AT_ERR_WRONG_ANSWER = 5,
    AT_ERR_BUILD_TIMEOUT = 6,
    AT_ERR_RUN_TIMEOUT = 7,
    AT_ERR_UNKNOWN = 8
} at_err_no;
/* A short word for the progress line: ok, invalid, compile, crash, wrong, compile-timeout, timeout,
 * unknown. */
const char *at_err_no_name(int error_no);

typedef struct at_record {
    const char *target;  /* canonical when read */
    const char *task;    /* record name of the template */
    const at_json *args; /* array; true and false have become 1 and 0 when read; of several forms
                            that a task's arguments have, the one of at_record_args_by */
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

const char *at_extra_check(const at_extra *e); /* the word; "" where it is not said */
extern const char *const at_pruned_text;       /* error of what was not measured, since its bound */
bool at_record_is_pruned(const at_record *r);  /* alone is too far from the best */
bool at_record_is_at_least(const at_record *r); /* valid, but its time is a bound from below */
double at_record_mean(const at_record *r);      /* of costs */
/* Time and rounds as they are for an objective, of which samples in a state count. Returns how many
 * of these there are; 0: it is as it was, of all. rounds: room for as many. */
int at_turns_for(at_turns *t, at_objective o, at_round *rounds);
/* The median of the rounds, or of the samples that count; 0: there are none. */
double at_turns_time(const at_turns *t);
/* How many samples the interval is of. */
int at_turns_counting(const at_turns *t);
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
/* Whom readers ask for the form in which a task's own records have its arguments, so that records
 * of other forms are of the same task. It returns args where it knows no other, else what lives in
 * a. NULL, as at first: nobody. For the whole process. */
typedef const at_json *at_args_fn(at_arena *a, const char *task, const at_json *args);
void at_record_args_by(at_args_fn *f);
/* Whom at_pick_best asks which operator a record's task is a way of: false: of none. name and args
 * live in a. For the whole process. */
typedef bool at_operator_fn(at_arena *a, const at_record *r, const char **name,
                            const at_json **args);
void at_record_operator_by(at_operator_fn *f);
/* What tells one workload from another, as AutoTVM's dictionaries do: task and arguments, where 1,
 * 1.0 and true are the same. */
void at_workload_identity(at_text *out, const at_record *r);
/* Structure and values; 1, 1.0 and true are the same. */
bool at_args_equal(const at_json *x, const at_json *y);

/* Told one line of text, without '\n'. */
typedef void at_warn_fn(void *ctx, const char *text);

/* ---- reading (log_read.c) ------------------------------------------------------------------- */

typedef struct at_log_reader at_log_reader;
typedef struct at_log_stats {
    int64_t lines, records, comments, blank, bad;
    int64_t old_version; /* of version 0.1; those that are well-formed are records, too */
} at_log_stats;
/* Line by line in constant memory. warn (may be NULL) gets one text per blank, torn or bad line,
 * which is then skipped ("conv.log:12: not a record: ...; skipped"), up to a limit; one for all
 * records of version 0.1. AT_E_INPUT: missing, unreadable, empty, binary ("conv.log looks like no
 * log: byte 0 is 0x7f"). */
at_status at_log_reader_open(const char *path, at_warn_fn *warn, void *ctx, at_log_reader **out,
                             at_error *err);
/* The next record into *out, its memory valid until the next call; false at the end. */
bool at_log_reader_next(at_log_reader *r, at_record *out);
/* Told each comment line from now on, without '#'. */
void at_log_reader_on_comment(at_log_reader *r,
                              void (*comment)(void *ctx, const char *text, int64_t line),
                              void *ctx);
const at_log_stats *at_log_reader_stats(const at_log_reader *r);
/* After the end: AT_OK, or what cut the reading short. */
at_status at_log_reader_status(const at_log_reader *r, at_error *err);
void at_log_reader_close(at_log_reader *r);
/* What a comment line about a task begins with: NAME, and of an object what task and context they
 * are about (comment_line.c). */
void at_comment_begin(at_text *out, const char *name, const char *task, const at_json *args,
                      const char *context_hash);
/* A comment line about a finalist (final.c): all its rounds; before 0.9 there was one line a round.
 */
typedef struct at_final_line {
    const char *task, *context_hash;
    const at_json *args, *entity;
    int64_t index; /* -1: not said */
    at_turns turns;
    bool in_bytes;           /* peaks are GB/s */
    const at_config *config; /* to be printed: its entity */
} at_final_line;
/* false: it is another comment, or torn. Owned by arena. */
bool at_final_line_read(at_arena *a, const char *comment, at_final_line *out);
/* "search {json}": a search over several workers was begun, for the epoch-th time with this log;
 * false: it is another comment. */
bool at_search_line_read(const char *comment, int *epoch);
void at_search_line_print(at_text *out, uint64_t search, int epoch); /* without '#' and '\n' */
/* "#final {json}\n" */
void at_final_line_print(at_text *out, const at_final_line *l);
/* How far an anchor is from the first of its chain in one state. */
typedef struct at_scale {
    int pairs; /* 0: it was not seen in that state */
    double link, link_error;
    double of_first, first_s;
} at_scale;
/* A comment line about an anchor (anchor_line.c), "#anchor {json}": what trials behind it are timed
 * against. What lines say is never changed by later ones. */
typedef struct at_anchor_line {
    const char *task, *context_hash, *code_hash;
    const at_json *args, *entity;
    int64_t index;               /* -1: not said */
    int number;                  /* 0, 1, 2, ... within its task and context */
    int linked_to;               /* the anchor it was timed against; -1: it begins a chain */
    int links;                   /* from it to the first of its chain */
    int pairs;                   /* of the link */
    double link, link_error;     /* log(its time / the other's), and half of its 95 % interval */
    double of_first;             /* its time over that of the first of its chain, by the links, */
    double of_first_error;       /* and how unsure these are: link_error, of all of them together */
    const char *first;           /* code hash of that one */
    double first_s;              /* time of that one: what records' ratios are made times with */
    at_state state;              /* in which that and the link were measured; UNKNOWN: in any */
    at_scale by[AT_STATE_COUNT]; /* of each state by itself; of its pairs, link, ... as above */
    const char
        *second_code; /* of a second kernel, the same for all workers of a search; "": none */
    double second, second_error; /* as link and link_error, of that one to the first of its chain */
    const at_config *config;     /* to be printed: its entity */
} at_anchor_line;
/* false: it is another comment, or torn. Owned by arena. */
bool at_anchor_line_read(at_arena *a, const char *comment, at_anchor_line *out);
void at_anchor_line_print(at_text *out, const at_anchor_line *l); /* without '#' and '\n' */

/* A comment line about what a search estimates with (speeds_line.c), "#speeds {json}": the first
 * one of a task and context, when its log begins. */
typedef struct at_speeds_line {
    const char *task, *context_hash;
    const at_json *args, *machine; /* machine: as a table of speeds is printed */
} at_speeds_line;
/* false: it is another comment, or torn. Owned by arena. */
bool at_speeds_line_read(at_arena *a, const char *comment, at_speeds_line *out);

/* A comment line about which state counts (objective.c), "#objective {json}": the first one of a
 * task and context, when its log begins. */
typedef struct at_objective_line {
    const char *task, *context_hash;
    const at_json *args;
    at_objective objective;
    bool by_probes;               /* nobody said which */
    double share[AT_STATE_COUNT]; /* of the time: of the states that were seen then */
} at_objective_line;
/* false: it is another comment, or torn. Owned by arena. */
bool at_objective_line_read(at_arena *a, const char *comment, at_objective_line *out);
void at_objective_line_print(at_text *out, const at_objective_line *l); /* without '#' and '\n' */

/* Numbers strings 0, 1, 2, ... in order of first appearance (keys.c). */
typedef struct at_key_map {
    at_arena *arena;
    AT_VEC(const char *) keys;
    int *slots; /* [cap], open addressing: number + 1, or 0 */
    int cap;
} at_key_map;
int at_key_map_find(const at_key_map *m, const char *key); /* -1 if absent */
int at_key_map_add(at_key_map *m, const char *key);

/* What finals say, by context, workload and entity (final.c). */
typedef struct at_finals {
    at_key_map keys, comments;
    AT_VEC(struct at_finalist_lines) of; /* [keys] */
} at_finals;
void at_finals_init(at_finals *f, at_arena *a);
/* Told each comment line (at_log_reader_on_comment); comments that are no finals are ignored. */
void at_finals_add(void *finals, const char *comment, int64_t line);
/* How r is named there; of ours only. */
void at_finals_key(at_text *out, const at_record *r);
/* The number of the finalist that r is, below finals.of.len; -1: none. */
int at_finals_find(const at_finals *f, const at_record *r);
/* Sets r's finals, which live as long as f's arena. */
void at_finals_apply(const at_finals *f, at_record *r);
/* Finalist number i, by one of its lines, and its finals, ascending by when they began. */
const at_turns *at_finals_get(const at_finals *f, int i, at_final_line *who, int *num_finals);
/* The comment lines that are about r, as they were. */
void at_finals_print(at_text *out, const at_finals *f, const at_record *r);

/* From now on, reading ends with AT_E_INPUT where this arena (of two: these together) has become
 * too large: for what is kept of each task. */
void at_log_reader_watch(at_log_reader *r, const at_arena *a);
/* As at_log_read_all below, of the records that are wanted; what is not takes no memory. */
at_status at_log_read_wanted(at_arena *a, const char *path,
                             bool (*wants)(void *ctx, const at_record *r), void *wants_ctx,
                             at_warn_fn *warn, void *ctx, at_record **out, int *count,
                             at_error *err);
/* All records of a log with their finals, owned by arena. */
at_status at_log_read_all(at_arena *a, const char *path, at_warn_fn *warn, void *ctx,
                          at_record **out, int *count, at_error *err);

/* ---- writing (log_write.c) ------------------------------------------------------------------ */

typedef struct at_log at_log;
/* Opens for appending, creates if absent, locks. AT_E_LOCKED names the owner's pid; AT_E_USAGE: the
 * file is there and no log; AT_E_OUTPUT. A
 * last line without '\n' (torn by a crash) gets one before the first append, so that nothing is
 * lost. */
at_status at_log_open(const char *path, at_log **out, at_error *err);
at_status at_log_append(at_log *l, const at_record *r, at_error *err); /* one write() */
at_status at_log_comment(at_log *l, const char *text, at_error *err);  /* "#text" */
/* Whole lines at the end of the log, in place of those that the call before wrote, if these were
 * not the last and nothing was appended since. A kill at any moment leaves the lines of this call
 * or of the one before. What is no file, but a pipe or a device, is written the last ones only. */
at_status at_log_put_tail(at_log *l, const at_text *lines, bool is_last, at_error *err);
at_status at_log_close(at_log *l, at_error *err); /* NULL is fine; flush errors are reported */

/* Whether a file that begins so is a log; for at_output_rules. An empty one may become one. */
bool at_is_log_head(const char *head, size_t len);
/* AT_E_USAGE: path is a log of more records than these, which are to replace it. */
at_status at_refuse_larger_log(const char *path, int64_t records, at_error *err);

/* ---- choosing (winner.c, best.c) ------------------------------------------------------------- */

/* A record of ours counts when it is valid, checked and has a time; a foreign one when error_no is
 * 0. */
bool at_record_is_candidate(const at_record *r);
/* A valid result of one task and context, and the finals it was in. */
typedef struct at_contender {
    double mean_s; /* of its trial */
    const at_turns *finals;
    int num_finals;
} at_contender;
/* Which of them wins, wherever a winner is told: -1, none. The least time counts.
 * - One that failed in the last final it was in is out.
 * - The lowest mean of a trial wins if it was in no final: it came after them.
 * - Else finals decide, one after the other. In each the lowest median wins if the winner so far
 * was in it; if not, the lower of both times does, though their moments were not the same. Ties:
 * the lower mean, then the earlier. */
int at_winner(const at_contender *c, int n);
/* The winner among the candidates of one task: of each context, then by time; ties to the earlier.
 * NULL: no candidate. */
const at_record *at_record_best(const at_record *const *records, int n);
/* Which records are the best of their task. */
void at_mark_winners(const at_record *records, int n, bool *wins);
/* What competes with what. Beyond contexts, the best of each with those of the others, by the time
 * in its final, else its mean. */
typedef enum at_per {
    AT_PER_CONTEXT,  /* task and context; foreign records, which tell none: task and target text */
    AT_PER_TASK,     /* task */
    AT_PER_MCPU,     /* task and the -mcpu of the target */
    AT_PER_KEY,      /* task and each key of the target, as in AutoTVM */
    AT_PER_OPERATOR, /* what templates compute, as at_record_operator_by's function tells */
    AT_PER_COMPAT, /* AutoTVM's own pick_best, byte for byte in the lines it chooses, and as little
                      tolerant of bad lines */
} at_per;
typedef struct at_pick {
    at_record record;
    const char *finals; /* comment lines: its samples in finals */
    const char *source; /* path */
    int64_t considered; /* valid records it was chosen from */
    double time_s;      /* by the objective that was asked for */
    bool is_in_state;   /* there were results for that objective; else it was chosen without */
    bool is_by_time; /* those it was chosen from were not all compared in pairs with one anchor */
} at_pick;
/* The record and its finals, as they stand in a log. */
void at_pick_print(at_text *out, const at_pick *p);
/* The best records of the inputs and, if it exists, of output_path: the record that really was
 * best, ties to the earlier; in order of first appearance, each with its finals. Writes output_path
 * (NULL: nothing) atomically, and keeps its lock from the reading on; a log that a run is writing
 * is AT_E_LOCKED. AT_E_USAGE: the output is one of the inputs, a tuning log or, without force, no
 * log. AT_E_NO_VALID when all are failures, and then the output stays as it is; AT_PER_COMPAT
 * empties it. */
at_status at_pick_best(at_arena *a, const char *const *inputs, int num_inputs,
                       const char *output_path, bool force, at_per per, at_warn_fn *warn, void *ctx,
                       at_pick **picks, int *num_picks, at_error *err);
/* The same of those records alone for which use says true (NULL: all); not with AT_PER_COMPAT.
 * objective: the best for that; NONE: for that of their log. */
typedef bool at_pick_fn(void *ctx, const at_record *r);
at_status at_pick_best_of(at_arena *a, const char *const *inputs, int num_inputs, at_pick_fn *use,
                          void *use_ctx, at_objective objective, const char *output_path,
                          bool force, at_per per, at_warn_fn *warn, void *ctx, at_pick **picks,
                          int *num_picks, at_error *err);

/* ---- looking (summary.c, log_split.c, spread.c) ---------------------------------------------- */

/* The middle half of the samples, all of them if they are fewer than four: those of finals, else
 * the raw ones, else the costs. Two results differ where these do not overlap. */
typedef struct at_spread {
    double median_s, low_s, high_s;
    int samples;
} at_spread;
at_spread at_record_spread(const at_record *r);
/* How long it takes beside the first anchor of its log: of its last final, or of its trial's pairs.
 */
typedef struct at_ratios {
    const char *first;      /* code hash of that anchor */
    at_objective objective; /* of which state these pairs are */
    int samples;
    double ratio, low, high;
    bool is_interval; /* low to high holds the truth with 95 %; else they are as far apart as pairs
                         are */
} at_ratios;
bool at_record_ratios(const at_record *r, at_ratios *out); /* false: it was timed alone */
/* Of pairs in that state, or of all where none is, beside the first anchor: an interval that misses
 * the median with at most that level, however often one looks, wider by what is not known of the
 * anchor's links. */
at_interval at_ratio_interval(const at_paired *p, at_objective o, double level);
bool at_ratios_comparable(const at_ratios *x, const at_ratios *y); /* one anchor, one state */

enum { AT_NUM_FAILURES = AT_ERR_UNKNOWN + 2 };
typedef struct at_log_failures {
    int64_t count, line; /* line: of the text */
    const char *text;    /* the first that says something; "" */
} at_log_failures;
/* A trial that was better than all before it. */
typedef struct at_log_step {
    int64_t trial, line; /* from 1 */
    double mean_s;
} at_log_step;
/* The records of one task and context; foreign ones: of one task and target. */
typedef struct at_log_group {
    const char *task, *target;
    const at_json *args;
    bool ours;
    at_context context; /* of ours */
    char context_hash[33];
    int64_t trials, valid;
    int64_t copies;                            /* not measured: same code as another */
    int64_t at_least;                          /* valid, and so slow that they have no time */
    at_log_failures failures[AT_NUM_FAILURES]; /* by error number; [0]: valid but not checked; the
                                                  last: any other number */
    double first_s, last_s;                    /* timestamps */
    double spent_s;                            /* sum of all_cost_s */
    AT_VEC(at_log_step) steps;
    at_pick *best; /* NULL: none */
} at_log_group;
typedef struct at_log_summary {
    at_log_group *groups; /* in order of appearance */
    int num_groups;
    at_log_stats stats;
    double first_s, last_s;
} at_log_summary;
at_status at_log_summarise(at_arena *a, const char *path, at_warn_fn *warn, void *ctx,
                           at_log_summary *out, at_error *err);

/* One log per target, task and arguments, as AutoTVM's split: path.000.wkl, path.001.wkl, ...
 * Comments other than finals are dropped. Without force no other file is replaced, nor a log by a
 * smaller one. AT_E_USAGE, AT_E_OUTPUT */
typedef struct at_log_part {
    const char *path, *workload; /* workload: its key */
    int64_t records;
} at_log_part;
at_status at_log_split(at_arena *a, const char *path, bool force, at_warn_fn *warn, void *ctx,
                       at_log_part **parts, int *num_parts, at_error *err);

/* ---- other tuners' files (formats.c, convert.c; exchange.h, t4_format.c, kernel_tuner.c)
 * ------------ */

typedef struct at_exchange {
    at_arena *arena; /* of everything read */
    /* The first part of knob number `knob`, which the record leaves open (-1); 0 or less: not
     * known. May be NULL. */
    int64_t (*split_part)(void *ctx, const at_record *r, int knob);
    at_warn_fn *loss; /* told each field that is dropped: "lost: tvm_version (3 records)" */
    at_warn_fn *warn; /* of log readers */
    void *ctx;
} at_exchange;
/* A format: a file of records/ and a row of formats.c. A file of another tuner is one JSON object;
 * the log, row 0, has NULL for what only such a file needs. docs/how-to/add-a-record-format.md */
typedef struct at_file_format {
    const char *name; /* "t4", as --to takes it */
    const char *help; /* "results, schema 1.0.0" */
    const char *kind; /* "T4 file", in messages */
    bool (*begins)(const char *head,
                   size_t len); /* whether it is such a file; for at_output_rules */
    bool (*is)(const at_json *file);
    const char *const *taken; /* names that no parameter may have; NULL-terminated. NULL: none */
    /* The text of a file that its run left unfinished, in an arena. NULL: none is read. */
    at_status (*parse_torn)(at_arena *a, const char *text, size_t len, const at_json **out);
    /* task: its name, where the file tells none. AT_E_INPUT */
    at_status (*read)(const at_exchange *x, const at_json *file, const char *task,
                      at_record **records, int *n, at_error *err);
    /* At least one record; all are of one task and have the parameters of the first one. */
    void (*print)(const at_exchange *x, const at_record *records, int n, at_text *out);
} at_file_format;
const at_file_format *at_file_format_at(int i);              /* NULL behind the last */
const at_file_format *at_file_format_find(const char *name); /* NULL: there is none */
/* Whether a file may be one object, not a log: of that the first line is looked at. A file that
 * cannot be read twice is told to be a log. AT_E_INPUT: it cannot be read. */
at_status at_is_exchange_file(const char *path, bool *may, at_error *err);
/* Everything in a file of any of them; compressed or not. AT_E_INPUT. */
at_status at_exchange_read(const at_exchange *x, const char *path, const at_file_format **format,
                           at_record **records, int *n, at_error *err);
/* AT_E_INPUT: results of no or of several tasks, which only a log can hold. */
at_status at_exchange_print(const at_exchange *x, const at_file_format *format,
                            const at_record *records, int n, at_text *out, at_error *err);

/* ---- recorded spaces (space_file.c) --------------------------------------------------------- */

/* Every point of a space with its time, in a few bytes each. docs/spaces.md */
typedef struct at_space_file {
    const char *task; /* as in records */
    const at_json *args, *knobs;
    at_extra extra;         /* version and context; not present: of another program */
    double first_s, last_s; /* timestamps of the records; 0: not known */
    int64_t range;          /* indices */
    double *time_s;         /* [range] mean; 0: not recorded; -n: failed with error number n */
    const at_json *machine; /* the table of the machine that recorded it; NULL: none is told */
} at_space_file;
/* The knobs with their values, for at_space_file.knobs; of a sum, the parts with theirs. */
const at_json *at_space_knobs(at_arena *a, const at_space *s);
void at_space_file_print(at_text *out, const at_space_file *f);
/* Whether a plain file that begins so is one; for at_output_rules. */
bool at_is_space_head(const char *head, size_t len);
/* Whether it begins like one, compressed or not; false if it cannot be read. */
bool at_is_space_file(const char *path);
/* Compressed or not; everything is owned by a. AT_E_INPUT names path and line. */
at_status at_space_file_read(at_arena *a, const char *path, at_space_file *out, at_error *err);

#endif
