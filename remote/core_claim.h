/* remote/core_claim.h: cores of this machine, each for one agent of this user at a time: a locked
 * file per core. Schedulers that bind nothing leave it to those whom they start. */
#ifndef AT_REMOTE_CORE_CLAIM_H
#define AT_REMOTE_CORE_CLAIM_H

#include "runtime/runtime.h"

typedef struct at_core_claim {
    int count;
    int cpus[AT_MAX_THREADS], fds[AT_MAX_THREADS];
} at_core_claim;

/* Claims so many cores, and has this thread, and the workers that it starts, run on them only.
 * AT_E_USAGE: there are not as many that nobody else has. */
at_status at_core_claim_take(at_core_claim *c, int cores, at_error *err);
/* Says what is being done there, to at_core_claims_read; one line. */
void at_core_claim_tell(const at_core_claim *c, const char *text);
void at_core_claim_give(at_core_claim *c); /* back; the thread runs where it did before */
/* Takes away the files of cores that nobody holds: of agents that were killed. */
void at_core_claims_clean(void);
/* What the agents of this user that hold cores say, a line each; cleans, too. */
void at_core_claims_read(at_text *out);

#endif
