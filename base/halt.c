/* base/halt.c: when what a thread does is to end: somebody asks for it, or its time is over. Loops
 * that may take more than a moment look at it, whatever folder they are in. */
#include "base/system.h"

/* Who has a deadline of his own and keeps it ends by himself, with a better message. */
static const int64_t grace_ns = 500000000;

static _Thread_local at_halt halt;

void at_halt_when(const at_halt *when) { halt = *when; }

at_halt at_halt_now(void) { return halt; }

static bool is_late(void) { return halt.end_ns && at_now_ns() >= halt.end_ns + grace_ns; }

bool at_is_stopped(const volatile int *flag) { return flag && (at_is_set(flag) || is_late()); }

bool at_halts(void) { return at_is_set(halt.stop) || is_late(); }

at_status at_fail_stopped(at_error *err) {
    if (!at_is_set(halt.stop) && is_late())
        return at_fail(err, AT_E_NO_VALID,
                       "the time ended first; give a longer --time, or smaller sizes");
    return at_fail(err, AT_E_INTERRUPTED, "interrupted");
}

bool at_is_end(at_status s) { return s == AT_E_INTERRUPTED || (s == AT_E_NO_VALID && is_late()); }
