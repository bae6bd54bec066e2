/* engine/far/far_state.h: a search over workers elsewhere, for the files that are parts of it
 * (far_*.c). */
#ifndef AT_ENGINE_FAR_STATE_H
#define AT_ENGINE_FAR_STATE_H

#include "engine/far/far.h"
#include "engine/far/far_search.h"

/* Workers that are told of at once; others wait for a place. */
enum { AT_FAR_WORKERS = 4096 };
enum { AT_FAR_KEYS = 1 << 16 };

/* Where a trial is: with the worker of that number, or */
enum {
    AT_FLIGHT_UNSENT = -1,
    AT_FLIGHT_WITH_ANOTHER = -2 /* its program is under way as another trial */
};

/* The number of what is no trial: the default configuration, measured since it is the anchor. */
enum { AT_FLIGHT_OF_ANCHOR = -1 };

typedef struct at_flight {
    at_trial_id id;
    int worker;
    int64_t index;
    at_key key;
    bool is_built;           /* it has a key, and is found by it */
    struct at_flight *other; /* whose key is in the same slot */
} at_flight;

/* Trials that have begun, by number, ascending. */
typedef struct at_flights {
    at_flight **of; /* [len] */
    int len, cap;
    int num_unsent, num_with_another; /* of these */
    at_flight *by_key[AT_FAR_KEYS];   /* by a part of their key; NULL: none */
    at_flight **spare;                /* [num_spare] of those that are over */
    int num_spare;
} at_flights;

/* Not sent yet; no other has its number. */
at_flight *at_flight_new(at_flights *f, const at_trial_id *id, int64_t index);
void at_flight_move(at_flights *f, at_flight *x, int worker);
/* Its program is known from now on. */
void at_flight_built(at_flights *f, at_flight *x, at_key key);
void at_flight_end(at_flights *f, at_flight *x);
at_flight *at_flight_find(const at_flights *f, int64_t number); /* NULL: it is not under way */
at_flight *at_flight_unsent(const at_flights *f);               /* NULL: all are sent */
/* Another one has the same program, and waits for nobody's. */
bool at_flight_has_twin(const at_flights *f, const at_flight *x);
/* Some flight may have a program of this key. */
bool at_flights_may_have(const at_flights *f, at_key key);
void at_flights_free(at_flights *f);

typedef struct at_place {
    bool is_in, is_coming; /* coming: it was in before this search rested */
    int under_way;
    const char *node;
    double scale;   /* its times over those of the log, by the anchor's; 1: not known */
    double trial_s; /* that its trials take, the late ones counting most; 0: not known */
} at_place;

/* A worker that seems to be apart from the others of its context. */
typedef struct at_doubt {
    int asked;     /* to compare again, so often; 0: there is no doubt */
    bool is_above; /* the ratio of its kernels, over the others' */
} at_doubt;

struct at_far_search {
    const at_far *far;
    const at_far_task *task;
    uint64_t search;
    int epoch;
    int64_t asked; /* proposals so far */
    bool begun;
    at_flights flights;
    int *free; /* workers with room, from first_free on; may be out of date */
    int num_free, first_free, cap_free;
    at_place places[AT_FAR_WORKERS];
    int num_places;
    bool is_first, is_enough;
    at_request request;
    /* Of the first search: whose each worker is; NULL: nobody's. */
    at_tuning *owners[AT_FAR_WORKERS];
    at_doubt doubts[AT_FAR_WORKERS]; /* likewise */
    int num_doubts;
    at_arena *scratch; /* of one event */
    at_arena *build;   /* of one program */
    /* What its workers say of themselves: far_anchor.h. */
    char said_hash[33];    /* of their context */
    at_far_event first;    /* the worker that it began with; in kept */
    at_arena *kept;        /* NULL: it is not kept */
    at_anchor_line anchor; /* of the log, which records refer to */
    bool has_anchor;
    /* A worker of this search compared again, for the sake of one that seems to be apart. */
    at_anchor_line again;
    bool has_again, asked_again;
};

/* ---- trials (far_trials.c); *enough: as at_trial_learn says --------------------------------- */

/* The tuner's next; false: it has none. */
bool at_far_propose(at_tuning *t, int64_t *index);
at_flight *at_far_enter(at_tuning *t, int64_t number, int64_t index); /* it is under way */
/* What all trials are timed against is a result, too, as it is of a search here: unless it is known
 * or the first trial, it is under way. */
at_status at_far_begin_default(at_tuning *t, at_error *err);
/* A trial that is new, until it is known, fails to be made, or is to be sent. */
at_status at_far_begin_trial(at_tuning *t, at_flight *x, bool *enough, at_error *err);
/* Every free worker gets a trial. */
at_status at_far_fill(at_tuning *t, int64_t until, bool *enough, at_error *err);
void at_far_add_free(struct at_far_search *f, int worker); /* there is room at it */
/* Its program, in f->build; *made false: *r says why there is none. */
at_status at_far_build(at_tuning *t, const at_flight *x, at_record *r, at_key *key, bool *made,
                       at_error *err);
/* A line of the log, for good. */
at_status at_far_take(at_tuning *t, at_flight *x, at_record *r, const at_key *key, bool *enough,
                      at_error *err);
/* Those that waited for the program of another: it is known, or lost. */
at_status at_far_take_waiting(at_tuning *t, bool *enough, at_error *err);

/* ---- what comes (far_events.c) -------------------------------------------------------------- */

/* Waits for the next event, at most wait_s; it lives until the next one. */
at_status at_far_next_event(at_tuning *t, double wait_s, at_far_event *e, at_error *err);
#define AT_FAR_WAIT_S 0.1
/* The next event, for whichever search it is of, after at most wait_s; *some: there was one. */
at_status at_far_take_event(at_tuning *first, double wait_s, bool *some, at_error *err);
at_status at_far_join(at_tuning *first, const at_far_event *e, at_error *err);

/* ---- how it begins (far_begin.c); also at_far_begin ------------------------------------------ */

struct at_far_search *at_far_new(at_tuning *t, const at_far *far, const at_request *q);
/* What the worker's records say of its machine is what this session's say. */
at_status at_far_adopt(at_tuning *t, const at_far_event *e, const at_context *c, at_error *err);
/* Brings the search back to where the log ends; what was under way then is begun again. */
at_status at_far_resume(at_tuning *t, int64_t until, bool *enough, at_error *err);
/* The search of another context: with the same log, and what is known so far to learn from. */
at_status at_far_begin_beside(at_tuning *first, const at_far_event *e, const at_context *c,
                              at_error *err);

#endif
