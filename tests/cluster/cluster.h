/* tests/cluster/cluster.h: what tests on real engines share: the engines, what a search left in its
 * log, and what is left of it on the machine. */
#ifndef AT_TESTS_CLUSTER_H
#define AT_TESTS_CLUSTER_H

#include <limits.h>
#include <sys/types.h>

#include "tests/cli/cli_test.h"

extern char sources[PATH_MAX], self[PATH_MAX];
extern bool has_ssh, has_slurm;

/* Before what uses the engines. */
#define ENV ". cluster/env.sh; "
#define TASK "dense --args M=64,N=64,K=64 --tuner random -q "

int cluster_setup(void **state);
int cluster_teardown(void **state);
/* Whether the program shall be a relay instead (relay.h), which then gives *status. Else a further
 * argument is the name of the one test to run. */
bool cluster_is_relay(int argc, char **argv, int *status);

/* Processes of this program, agents, workers and searches, by the file that they run; the first
 * ones in pids. */
int count_processes(bool agents_alone, int *pids, int most);
void expect_nothing_left(const char *after);
/* Each context in the log, at most two, has that many trials, each once: numbers from 0 on, no
 * index twice. */
void expect_trials(const char *log, int trials);

#endif
