/* engine/measure/anchor_scale.h: what pairs with the anchor say of its time and of links, state by
 * state.
 */
#ifndef AT_ENGINE_ANCHOR_SCALE_H
#define AT_ENGINE_ANCHOR_SCALE_H

#include "engine/measure/session.h"

/* A link, or a time: of the pairs in the state that counts, of all where none is in it. */
typedef struct at_linked {
    at_state state; /* UNKNOWN: of any */
    int pairs;
    double link,
        error;       /* log of the ratio of the kernel to the anchor, half of its 95 % interval */
    double anchor_s; /* median of the anchor's times */
    bool disturbed;  /* other threads took more than a few pairs' time */
    at_scale by[AT_STATE_COUNT]; /* of the anchor that the kernel becomes */
} at_linked;
/* What a job's pairs say; they count as time of the session's states. */
at_linked at_linked_of(at_session *s, const at_outcome *o);

#endif
