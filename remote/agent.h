/* remote/agent.h: the agent's side of a link: what a search asks for is done on this machine. */
#ifndef AT_REMOTE_AGENT_H
#define AT_REMOTE_AGENT_H

#include "remote/link.h"

typedef enum at_agent_end {
    AT_AGENT_DONE,   /* the search said so, or is gone */
    AT_AGENT_SILENT, /* it was not heard of for a lease */
    AT_AGENT_STOPPED,
    AT_AGENT_GARBLED
} at_agent_end;

/* Told what the agent does, as of `autotune workers`: a line of JSON, at most once a second. */
typedef struct at_agent_told {
    void (*tell)(void *ctx, const char *line);
    void *ctx;
} at_agent_told;

/* Serves one search, takes the link. The lease is AT_LEASE_S until the search says another. *stop,
 * told may be NULL. */
at_agent_end at_agent_serve(at_link *l, const volatile int *stop, const at_agent_told *told);

/* The begin of a line that says which worker it is, {"host": .., "pid": .., "cpu": .., and goes on
 * with a comma or ends (agent_task.c). */
void at_add_worker(at_text *line);

#endif
