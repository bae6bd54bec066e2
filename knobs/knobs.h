/* knobs/knobs.h: knobs, the space they span, and its points, index by index as AutoTVM numbers
 * them.
 *
 * Source of behaviour: AutoTVM (TVM v0.12), python/tvm/autotvm/task/space.py. A space is an ordered
 * list of knobs; a point is one entity (value) per knob; its index is a mixed-radix number in which
 * the first declared knob is the least significant digit. */
#ifndef AT_KNOBS_H
#define AT_KNOBS_H

#include "base/base.h"
#include "knobs/policy.h"

typedef enum at_knob_kind {
    AT_KNOB_SPLIT,
    AT_KNOB_REORDER,
    AT_KNOB_ANNOTATE,
    AT_KNOB_OPTION
} at_knob_kind;

/* One value of one knob. Borrowed from the space or the arena of the config it belongs to. */
typedef struct at_entity {
    at_knob_kind kind;
    int n;                    /* sizes, permutation positions or marks */
    const int64_t *sizes;     /* split: [n] outermost first, sizes[0] is -1 or a real number;
                                 reorder: the permutation; annotate of locate_cache: positions */
    const char *const *marks; /* annotate: [n], else NULL */
    const at_json *option;    /* other option: the value itself */
} at_entity;

/* no_tail: 0 the policy's default (true for factors), 1 true, -1 false. filter: a condition over
 * `first`, `last`, `size[i]` of one entity, e.g. "last <= 64"; NULL: none. */
typedef struct at_split_options {
    int unused_;
    at_policy policy;
    int64_t max_factor; /* 0: 2^31 */
    int no_tail;
    const char *filter;
    const int64_t (*candidate)[8]; /* rows of num_outputs sizes */
    int num_candidates;
    /* listed: the sizes of each part but the first, outermost part first, "pow2 | 6 8 14": numbers
     * that ascend, or the powers of two up to what the parts behind it leave of the axis. A number
     * beyond that counts as just that. */
    const char *listed;
} at_split_options;

typedef struct at_space at_space;
at_space *at_space_new(at_arena *a); /* the space and all its entities live in a */
/* Before any knob: whatever is declared, there are at most so many points, since the lists of
 * splits are thinned evenly, the longest ones first. An entity that is left out counts as one that
 * the list does not name. Options, orders and given candidates stay as they are. */
void at_space_thin(at_space *s, int64_t points);
/* Where a split's list is thinned, now or by later knobs, it has the entity with these sizes,
 * [parts] of which the first does not count, if the whole list has it. */
void at_space_keep(at_space *s, int knob, const int64_t *sizes);

/* Declaring. A name declared again replaces the knob and keeps its place. Errors (AT_E_INPUT) name
 * knob and value; a knob left without entities is one. */
at_status at_space_split(at_space *s, const char *name, int64_t length, int num_outputs,
                         const at_split_options *o, at_error *err);
/* policy: identity, all, interval_all (positions begin..end-1), candidate (rows of num_axes
 * positions), interleave, interleave_cuda (chains: positions, `spatial` and `reduce` chains). */
enum { AT_REORDER_AXES = 16 }; /* of a candidate order, at most */
typedef struct at_reorder_options {
    int unused_;
    const char *policy;
    int begin, end;
    const int (*candidate)[AT_REORDER_AXES];
    int num_candidates;
    const int (*spatial)[8]; /* chains, each ended by -1 */
    int num_spatial;
    const int (*reduce)[8];
    int num_reduce;
} at_reorder_options;
at_status at_space_reorder(at_space *s, const char *name, int num_axes, const at_reorder_options *o,
                           at_error *err);
/* policy: words joined by '_' (try_unroll_vec, ...), locate_cache (num_anchor), bind_gpu,
 * bind_gpu_virtual. */
at_status at_space_annotate(at_space *s, const char *name, int num_axes, const char *policy,
                            int num_anchor, at_error *err);
/* json: an array of values, e.g. "[true, false]". */
at_status at_space_option(at_space *s, const char *name, const char *json, at_error *err);
/* A joint condition over knobs already declared, e.g. "32 <= tile_x.size[1]*tile_y.size[1] < 1024";
 * reorders are read as NAME.perm[i], an option is written as its name alone. A later condition
 * replaces the one before; a knob declared again keeps it. Indices are not renumbered. A point
 * where the condition cannot be worked out (division by zero) is not valid. */
at_status at_space_filter(at_space *s, const char *condition, at_error *err);
/* Conditions over knobs of all kinds, any number of them, when all knobs are declared: options by
 * name (texts are compared with "..."), NAME_0 for a part of a split or an order, constants, true,
 * false; quotients of whole numbers are rounded down. active_knob: the condition says when that
 * knob counts, and it has its first value elsewhere; -1: none. what: of the condition's text, for
 * errors (AT_E_INPUT). Indices are not renumbered. */
typedef struct at_constant {
    const char *name;
    int64_t value;
} at_constant;
at_status at_space_require(at_space *s, int active_knob, const char *condition, const char *what,
                           const at_constant *constants, int num_constants, at_error *err);
/* When all conditions are there: lists the valid points, if there are few. AT_E_INPUT: there is
 * none. */
at_status at_space_settle(at_space *s, at_error *err);
/* Does the knob count where digits are these? */
bool at_space_is_active(const at_space *s, int knob, const int64_t *digits);
/* A valid point near one that conditions forbid, its first digits as far as can be; the index
 * itself where it is valid, or no other is found soon. But: with this knob's value kept. */
int64_t at_space_mend(const at_space *s, int64_t index);
int64_t at_space_mend_but(const at_space *s, int64_t index, int kept);
/* at_space_at_place may give one point for two places. */
bool at_space_mends(const at_space *s);
bool at_space_len_is_estimated(at_space *s);

/* A knob whose values are these, all of one kind and number of parts, in this order; what they
 * refer to is borrowed from the space's arena. Nothing else is known of it: a split's axis is 0. */
at_status at_space_values(at_space *s, const char *name, const at_entity *values, int64_t n,
                          at_error *err);
/* These indices of the space as declared, in any order, and no others are valid; n >= 1. */
void at_space_only(at_space *s, const int64_t *indices, int64_t n);

/* A sum of spaces (sum.c): its points are those of its parts, one part after the other, each with
 * the option `knob` before it, which names the part: ["sketch", "ot", "tiled"]. Its knobs are that
 * one, then every part's, "tiled.tile_x"; the digits of the other parts are 0. Borrows parts. */
at_status at_space_sum(at_space *s, const char *knob, const char *const *names,
                       at_space *const *parts, int num_parts, at_error *err);
int at_space_num_parts(const at_space *s); /* 0: no sum */
/* The index of its first point; of the number of parts: how many indices there are. */
int64_t at_space_part_begin(const at_space *s, int part);
/* The part of a sum that an index lies in (space.c). */
int at_space_part_of(const at_space *s, int64_t index);
const char *at_space_part_name(const at_space *s, int part);
const at_space *at_space_part(const at_space *s, int part);
/* Whether a digit says anything where the others are these: not of another part. */
bool at_space_digit_counts(const at_space *s, const int64_t *digits, int knob);
/* Sets a digit. Of a sum's first, which says the part: knobs of that part take the values that
 * knobs of their name had, as far as they list them. */
void at_space_set_digit(const at_space *s, int64_t *digits, int knob, int64_t value);

/* Asking. */
int at_space_num_knobs(const at_space *s);
const char *at_space_knob_name(const at_space *s, int knob);
at_knob_kind at_space_knob_kind(const at_space *s, int knob);
int64_t at_space_knob_len(const at_space *s, int knob);
const char *at_space_knob_policy(const at_space *s,
                                 int knob); /* "factors", "all", "try_unroll", "" for options */
int64_t at_space_knob_length(const at_space *s, int knob);   /* split: the axis; else 0 */
int at_space_find_knob(const at_space *s, const char *name); /* -1 if absent */
const at_entity *at_space_entity(const at_space *s, int knob, int64_t digit);
int64_t at_space_range_length(
    const at_space *s);            /* product of all lengths; INT64_MAX is refused at declaring */
int64_t at_space_len(at_space *s); /* valid indices; counts once under a joint filter */
bool at_space_is_valid(const at_space *s, int64_t index); /* in range and past the joint filter */
int64_t at_space_subrange_length(at_space *s, int64_t begin, int64_t end);
/* The n-th valid index after (n < 0: before) index inside [begin, end), or -1. begin = end = 0
 * means all. */
int64_t at_space_next(const at_space *s, int64_t index, int64_t n, int64_t begin, int64_t end);
/* Indices numbered for tables and for chance: of at_space_only the valid ones, else all. place of a
 * valid index; of another, that of the next valid one. Where conditions leave too many points for a
 * list, a place that is not valid stands for one near it, which has a place of its own. */
int64_t at_space_num_places(const at_space *s);
int64_t at_space_place(const at_space *s, int64_t index);
int64_t at_space_at_place(const at_space *s, int64_t place);
void at_space_digits(const at_space *s, int64_t index, int64_t *digits);
int64_t at_space_index(const at_space *s, const int64_t *digits);
/* Repeatedly sets a random knob to a random value until the point is valid and another one.
 * Returns index itself where the space holds no other valid point within 10,000 steps. */
int64_t at_space_random_walk(const at_space *s, int64_t index, at_rng *rng);
void at_space_print_knob(at_text *out, const at_space *s,
                         int knob); /* "Split(policy=...) len=21" */

/* Points. */
typedef struct at_config {
    const at_space *space;  /* NULL for one read without its space */
    int64_t index;          /* in the space; -1 where the entity is no point of it */
    int64_t recorded_index; /* as read from JSON; else = index. Differs: worth a warning */
    int num_knobs;
    const char *const *names;  /* [num_knobs], in knob order */
    const at_entity *entities; /* [num_knobs] */
} at_config;

/* AT_E_USAGE "index 9 is beyond the space: 0 to 8" or "... not valid under the joint filter". */
at_status at_config_at(at_arena *a, const at_space *s, int64_t index, at_config *out,
                       at_error *err);
/* Of a point of a sum: its part, and the point of that part. */
int at_config_part(const at_config *c, at_config *of_part);
/* And the other way round. */
void at_config_in_sum(at_arena *a, const at_space *sum, int part, const at_config *c,
                      at_config *out);
/* From a record's config object {"index", "code_hash", "entity"}; a bare {"entity": ...} is taken
 * too. With a space: every knob present once (any order), right kind and number of parts, parts
 * positive and dividing the axis where the knob's policy has no tails, options one of the list; a
 * message names knob, value and what would do. Well-formed values that the space does not list are
 * taken, with index -1: sizes behind a filter, other permutations or marks, and numbers for an
 * option whose list holds numbers (defaults make such). space NULL: form only, index -1.
 * AT_E_INPUT. */
at_status at_config_from_json(at_arena *a, const at_space *s, const at_json *config, at_config *out,
                              at_error *err);
/* Whether a configuration read without its space is one of this one, as at_config_from_json takes
 * it. a is for the work alone. AT_E_INPUT. */
at_status at_config_fits(at_arena *a, const at_space *space, const at_config *read, at_error *err);
/* A configuration read without its space, as a point of this one. AT_E_INPUT. */
at_status at_config_rebind(at_arena *a, const at_space *space, const at_config *read,
                           at_config *out, at_error *err);
void at_config_print_json(
    at_text *out, const at_config *c); /* {"index": 5, "code_hash": null, "entity": [...]} */
void at_config_print_entity(at_text *out, const at_config *c); /* the [...] alone */
void at_config_print_str(at_text *out, const at_config *c); /* AutoTVM's text form, reference 3.3 */
const at_entity *at_config_get(const at_config *c, const char *knob); /* NULL if absent */
/* Flat knob features, 32-bit floats. Returns how many; -1 where flattening has no meaning
 * (locate_cache, text options). out may be NULL to count. */
int at_config_features(const at_config *c, float *out);
/* Size of part i of a split: sizes[i], part 0 worked out as ceil(length / product of the others).
 */
int64_t at_split_part(const at_entity *e, int64_t length, int i);

/* AutoTVM's fallback_split: limits per part, -1 none; writes num_outputs sizes. AT_E_INPUT where a
 * limit is 0. */
at_status at_fallback_split(int64_t length, int num_outputs, const int64_t *limits, int64_t *sizes,
                            const char *knob, at_error *err);

#endif
