/* tests/engine/crowd.h: workers elsewhere that are made up: what they answer is known, and when
 * they answer, answer twice, or are lost is decided here. */
#ifndef CROWD_H
#define CROWD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <unistd.h>

#include "engine/engine.h"

enum { CROWD_MOST = 64, CROWD_TRIALS = 60 };

typedef struct asked {
    at_trial_id id;
    char *entity;
    int worker;
} asked;

/* Workers that answer in an order drawn from a seed. */
typedef struct crowd {
    at_rng rng;
    int workers, joined, losses, duplicates, strangers;
    int kinds; /* of machines; 0: one */
    bool is_in[CROWD_MOST];
    asked of[4 * CROWD_MOST];
    int len, trials;
    int64_t numbers[8 * CROWD_MOST]; /* [trials] as they were asked */
    at_trial_id ids[CROWD_TRIALS];   /* of the log's records */
    int64_t same_as[CROWD_TRIALS];   /* the index of one with the same code; -1: none */
    asked last;                      /* answered, to be answered again */
    /* They time in pairs with an anchor, which takes so many times longer there, and is so far from
     * the second kernel. */
    bool is_paired;
    double slower[CROWD_MOST], second[CROWD_MOST];
    double at_first[CROWD_MOST]; /* what the first comparison is off */
    at_state state[CROWD_MOST];  /* in which the second kernel was timed; 0: alone */
    bool lies[CROWD_MOST];       /* what it compares again is of another task */
    int compared[CROWD_MOST], to_compare[CROWD_MOST], num_to_compare;
    double least_best_s[CROWD_MOST]; /* that each was told; 0: none */
    bool has_nodes;                  /* one each */
    char *finalists;                 /* lines that finals are to be held of */
    int finals[CROWD_MOST], num_finals;
    const at_far_task *task;
    int turned; /* how often they were told of a task */
    at_arena *arena;
    at_session s; /* of records */
} crowd;

/* What the crowd is to a search; as long as c. */
at_far crowd_far(crowd *c);
/* The time of a configuration is its index, scrambled. */
double crowd_time_of(int64_t index);

/* A small product, which all searches here are of. */
extern const at_request crowd_request;
extern char crowd_log[64];              /* the log of the search */
void crowd_begin_log(const char *name); /* a new one */

#endif
