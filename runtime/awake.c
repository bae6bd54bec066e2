/* runtime/awake.c: a clock for time limits. It stands still while this process does not run:
 * stopped by a signal, frozen with its group, or on a machine that sleeps. A process learns of that
 * when a wait comes back much later than it was told to. */
#include "runtime/runtime_int.h"

#include <errno.h>
#include <time.h>

#define SLICE_MS 50              /* of a wait: how late a stop is seen at most */
#define LATE_NS (NS_PER_S / 2)   /* more than a busy machine takes to go on with a process */
#define DRIFT_NS (NS_PER_S / 20) /* of two clocks read one after the other */

static int64_t stopped_ns; /* so far */

/* A sleeping machine's monotonic clock stands still by itself; this one goes on. */
static int64_t slept_ns(void) {
    struct timespec t;
    if (clock_gettime(CLOCK_BOOTTIME, &t)) return 0;
    return t.tv_sec * NS_PER_S + t.tv_nsec - at_now_ns();
}

int64_t at_awake_ns(void) { return at_now_ns() - stopped_ns; }

at_nap at_nap_begin(void) { return (at_nap){stopped_ns, slept_ns()}; }

bool at_napped(const at_nap *since) {
    return stopped_ns > since->stopped_ns || slept_ns() - since->slept_ns > DRIFT_NS;
}

int at_wait(struct pollfd *p, int n, int64_t deadline_ns) {
    int64_t left_ns = deadline_ns ? deadline_ns - at_awake_ns() : INT64_MAX;
    bool is_late = left_ns <= 0; /* this process may be; what has come has come in time */
    int ms = left_ns / 1000000 < SLICE_MS ? (int)(left_ns / 1000000) + 1 : SLICE_MS;
    if (is_late) ms = 0;
    int64_t begin_ns = at_now_ns();
    int ready = poll(p, (nfds_t)n, ms);
    int why = errno;
    int64_t late_ns = at_now_ns() - begin_ns - ms * 1000000LL;
    if (late_ns > LATE_NS) stopped_ns += late_ns;
    if (ready < 0 && why != EINTR) return AT_WAIT_FAILED;
    return ready > 0 ? 1 : is_late ? AT_WAIT_LATE : 0;
}
