/* remote/remote.h: workers on other machines. A search reaches `autotune agent` there, over pipes
 * to a local process, ssh or a Slurm step, or over files in a directory that both see; no daemon
 * and no port. The agent owns data, reference and cores on its node, and starts the workers of
 * runtime/ there. docs/cluster.md */
#ifndef AT_REMOTE_H
#define AT_REMOTE_H

#include "engine/engine.h"

/* What a lease may be, in seconds. An agent that hears nothing of its search for so long ends its
 * kernels and itself; a search gives such an agent up. */
enum { AT_LEASE_LEAST = 1, AT_LEASE_MOST = 3600 };
#define AT_LEASE_S 90.0

typedef struct at_fleet at_fleet;
/* The workers that these places name: "local:2", "ssh:user@host,host2", "slurm:nodes=4",
 * "dir:/path". Nothing is started before at_far.begin. AT_E_USAGE: what is no place. */
at_status at_fleet_new(const char *const *places, int n, double lease_s, at_fleet **out,
                       at_error *err);
void at_fleet_free(at_fleet *f);
const at_far *at_fleet_far(at_fleet *f); /* valid until at_fleet_free */

/* What is known of a worker; texts live in the arena given. */
typedef struct at_worker_state {
    const char *place; /* how it is reached, "" on this machine */
    const char *host, *cpu;
    int pid;
    const char *task;   /* that it measures; "": none */
    double peak_gflops; /* 0: not known */
    double last_gflops; /* of its last valid result; 0: none */
    double last_s;      /* seconds since then; -1: none */
    const char *error;  /* why the place could not be asked; else NULL */
} at_worker_state;
/* Those at work on the machines of these places; none: on this one. */
at_status at_workers_list(at_arena *a, const char *const *places, int n, const volatile int *stop,
                          at_worker_state **out, int *count, at_error *err);

/* `autotune agent`: serves the search that is heard on `in` and spoken to on `out`, until it ends.
 */
at_status at_agent_main(int in, int out, const volatile int *stop, at_error *err);
/* `autotune work PATH`: serves this user's searches that use the directory, one after the other,
 * until it is stopped, or nothing was asked of it for idle_s (0: for ever); once: or until it has
 * served some and none is left. waits: called once, when searches may come. *served: how many. */
at_status at_work_main(const char *path, double idle_s, bool once, const volatile int *stop,
                       void (*waits)(const char *path), void (*told)(const char *text), int *served,
                       at_error *err);

#endif
