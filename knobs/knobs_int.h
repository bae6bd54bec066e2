/* knobs/knobs_int.h: what the files of this folder share.
 *
 * The entities of a knob are numbers or marks in one flat array, [count][parts]; the at_entity
 * table beside it only points into that. A knob never changes once it is in a space: declaring its
 * name again puts another in its place, so configurations taken earlier stay readable. */
#ifndef AT_KNOBS_INT_H
#define AT_KNOBS_INT_H

#include "knobs/knobs.h"

enum {
    AT_MAX_PARTS = 8,         /* of a split, and of rows in the option structs */
    AT_MAX_ENTITIES = 1 << 22 /* of one knob: 64 bytes and more each */
};

typedef struct at_knob {
    const char *name;
    at_knob_kind kind;
    const char *policy;       /* "" for options */
    int64_t length;           /* split: the axis */
    int axes;                 /* reorder, annotate: axes acted on */
    int parts;                /* numbers or marks of one entity */
    bool no_tail;             /* split: parts must divide the axis */
    bool listed;              /* split: policy candidate, nothing follows from the axis */
    bool rounds_up;           /* split: what a part leaves of the axis is rounded up */
    int64_t count;            /* entities, at least 1 */
    const int64_t *values;    /* [count][parts] sizes, positions; [count] options if all are whole
                                 numbers or booleans; else NULL */
    const char *const *marks; /* [count][parts] of annotate, else NULL */
    const at_json *const *options; /* [count] of options, else NULL */
    const at_entity *entities;     /* [count] */
    const struct at_knob *whole;   /* the knob with all of its list; NULL: this one */
    int64_t kept;                  /* which of all of its list stays however thin; -1: none */
} at_knob;

/* What one leaf of a joint filter reads: values[index / stride % count * parts + part]. */
typedef struct at_leaf {
    int knob, part, parts;
    int64_t stride, count;
    const int64_t *values;
} at_leaf;

enum { AT_MAX_LEAVES = 64 };

typedef struct at_joint {
    const char *condition; /* NULL: none */
    const at_expr *expr;   /* its refs number the leaves */
    at_leaf leaves[AT_MAX_LEAVES];
    int num_leaves;
} at_joint;

/* What a condition reads of a knob: values by digit, and between what they lie. */
typedef struct at_open_leaf {
    int knob, part;
    const double *values; /* [count] */
    double lo, hi;
    bool whole; /* all of them */
} at_open_leaf;

/* A condition of at_space_require. Of one that says when a knob counts, the knob has its first
 * value where it does not hold. */
typedef struct at_requirement {
    const at_expr *expr; /* its refs number the leaves */
    int active_knob;     /* -1: none */
    AT_VEC(at_open_leaf) leaves;
    AT_VEC(int) knobs; /* each once */
} at_requirement;

struct at_space {
    at_arena *arena;
    const at_knob **knobs; /* [num_knobs] */
    const char **names;    /* [num_knobs] */
    int64_t *strides;      /* [num_knobs] what one step of a digit adds to the index */
    int num_knobs;
    int64_t most;          /* points beyond which lists are thinned; 0: they are not */
    int64_t range;         /* product of the counts */
    int64_t len;           /* valid indices; -1: not counted yet */
    const at_joint *joint; /* NULL: none */
    AT_VEC(at_requirement) requires;
    bool **allowed;      /* [num_knobs] what conditions on one knob alone leave of its values, or
                            NULL: no condition asks for that knob alone. NULL: of no knob */
    bool is_estimated;   /* len is */
    const int64_t *only; /* [num_only] valid indices, ascending; NULL: not a list */
    int64_t num_only;
    /* A sum: knob 0 says which part, then all knobs of all parts, "PART.knob". */
    at_space *const *parts; /* [num_parts] NULL: no sum */
    int num_parts;
    int64_t *first; /* [num_parts + 1] where each part's indices begin */
    int *offset;    /* [num_parts + 1] and its digits */
};

/* split.c, factors.c, primes.c */
typedef struct at_factors {
    int64_t *data;
    int len;
} at_factors;
at_factors at_factor_list(at_arena *a, int64_t n, at_policy policy);
/* A prime factor of n, which is one prime or the product of two (primes.c). */
int64_t at_one_of_two_primes(int64_t n);

/* Finishes a knob whose values, marks or options are filled, and puts it into the space. space.c */
at_status at_space_put(at_space *s, at_knob *k, at_error *err);
at_knob *at_knob_new(at_space *s, at_knob_kind kind, const char *name, const char *policy,
                     int parts);
at_status at_knob_too_many(const char *name, at_error *err);
/* Fewer entities for the splits among knobs, if it takes that, so that there are at most so many
 * points; where even one of each is too many, they stay (thin.c). */
void at_knobs_thin(at_arena *a, const at_knob **knobs, int n, int64_t points);

/* annotate.c: position in the one-hot code of the flat features; -1 for an unknown word. */
enum { AT_NUM_MARKS = 11 };
int at_mark_number(const char *mark);

/* listed.c */
bool at_only_holds(const at_space *s, int64_t index);
int64_t at_only_next(const at_space *s, int64_t index, int64_t n, int64_t begin, int64_t end);

/* filter.c */
at_status at_filter_entity(at_arena *a, const char *knob, const char *condition, int parts,
                           at_expr **out, at_error *err);
/* The condition read against a list of knobs with their strides. */
at_status at_joint_new(at_arena *a, const char *condition, const at_knob *const *knobs,
                       const char *const *names, const int64_t *strides, int num_knobs,
                       const at_joint **out, at_error *err);
bool at_joint_holds(const at_joint *j, int64_t index);
int64_t at_joint_count(const at_joint *j, int64_t range);

/* conditions.c. digits: -1 of a knob that is open. */
bool at_requirement_can_hold(const at_requirement *q, const int64_t *digits);
bool at_requires_keep(const at_space *s, int64_t index); /* all of them hold */
/* lanes.c: where all knobs have values; for these values [n] of one knob, where all others have
 * one. work counts up by what it took. */
enum { AT_LANES = 64 };
bool at_requirement_holds(const at_requirement *q, const int64_t *digits);
void at_requirement_lanes(const at_requirement *q, const int64_t *digits, int open,
                          const int64_t *values, int n, bool *holds, int64_t *work);
/* domains.c: knobs that get their values one after the other, and which values are left of those
 * that have none yet. */
typedef struct at_domains {
    const at_space *space;
    int64_t *digits;  /* [num_knobs] -1: open */
    int64_t *left;    /* [num_knobs] how many values are */
    bool **live;      /* [num_knobs][count] which */
    int64_t *removed; /* a stack of knobs and values that were taken out */
    int64_t num_removed;
    int64_t work; /* what was worked out so far, in steps of some 5 ns */
} at_domains;
void at_domains_begin(at_domains *d, const at_space *s);
void at_domains_end(at_domains *d);
/* The knob gets a value; values of others, which no longer can be, are taken out. False: a
 * condition or a knob has nothing left. Either way at_domains_undo takes it back, to the depth of
 * before. */
bool at_domains_set(at_domains *d, int knob, int64_t digit);
void at_domains_undo(at_domains *d, int knob, int64_t num_removed);
/* prefixes.c: the first point from an index on, or -1; how many there are; all of them,
 * false: there are more, or it would take long. */
int64_t at_requires_next(const at_space *s, int64_t from);
int64_t at_requires_count(const at_space *s, bool *exact);
bool at_requires_list(const at_space *s, int64_t *list, int64_t most, int64_t *num);

/* entity.c */
const at_entity *at_knob_view(at_arena *a, const at_knob *k); /* [count] of its values */
bool at_entity_alike(const at_entity *x,
                     const at_entity *y);                    /* but for the first size of a split */
int64_t at_knob_digit(const at_knob *k, const at_entity *e); /* -1: not in the list */
void at_entity_print_json(at_text *out, const at_entity *e);
void at_entity_print_python(at_text *out, const at_entity *e, bool permutation_as_tuple);
void at_python_value(at_text *out, const at_json *v); /* as str() does: a bare string stays bare */
/* "tile_y, tile_x, tile_k", for messages. */
void at_names_list(at_text *out, const char *const *names, int n);

#endif
