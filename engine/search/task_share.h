/* engine/search/task_share.h: which of several tasks gets the next round of trials, so that the
 * weighted sum of their best times falls fastest. It sees best times only: same results, same order
 * of tasks. After Ansor's task scheduler (alpha 0.2, beta 2, a backward window of 3 rounds), but
 * for tasks without a valid result, see at_shares_gain. */
#ifndef AT_ENGINE_TASK_SHARE_H
#define AT_ENGINE_TASK_SHARE_H

#include "base/base.h"

typedef struct at_share_task {
    double weight;     /* how often it runs: its share of the sum is weight times time */
    double work;       /* of a run: flops, or bytes; above 0 */
    const char *group; /* tasks of one group whose work is of like size should come to like speeds;
                          NULL: it is like no other. Borrowed */
    int problem;       /* tasks of one number, from 1, are ways of doing one thing, whose least time
                          counts; 0: it is alone */
} at_share_task;

typedef struct at_shares at_shares;
/* Lives in a. The seed decides between tasks that promise the same. */
at_shares *at_shares_new(at_arena *a, const at_share_task *tasks, int n, uint64_t seed);
/* Results of the task are there already: its first round comes behind those of tasks without any.
 */
void at_shares_put_off(at_shares *s, int task);
/* The task whose round is next: one round for each, where the first ways of all come before any
 * second one, then the one of the largest gain. -1: all have ended. */
int at_shares_next(at_shares *s);
/* A piece of the task's first round is over: others that have fewer pieces come before its next. */
void at_shares_add_piece(at_shares *s, int task);
/* A round of the task is over. best_s: of all its rounds so far; 0: none was valid. */
void at_shares_add(at_shares *s, int task, double best_s);
/* It gets no more rounds: nothing is left to try in it. */
void at_shares_end(at_shares *s, int task);
/* By how many seconds one more round of the task may lower what is to fall, at least 0; after its
 * first round. One without a valid result counts as if it took as much of the sum as the largest:
 * it comes early, and does not take the trials of all the others. */
double at_shares_gain(const at_shares *s, int task);

#endif
